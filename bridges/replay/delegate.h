// SPDX-License-Identifier: Apache-2.0
//
// A delegate without a device: it claims the nodes that a recorded delegate has claimed, and
// returns the recorded results. Arguments that differ from the recorded ones are errors.
#ifndef DEPUTY_BRIDGES_REPLAY_DELEGATE_H_
#define DEPUTY_BRIDGES_REPLAY_DELEGATE_H_

#include "bridges/layers/record/record_file.h"
#include "deputy/common.h"

namespace deputy::replay {

// Creates the delegate. If `crashes`, a call that has not returned in the record raises SIGSEGV;
// otherwise it is an error.
TfLiteDelegate* CreateDelegate(record::Record record, bool crashes);
void DestroyDelegate(TfLiteDelegate* delegate);

}  // namespace deputy::replay

#endif  // DEPUTY_BRIDGES_REPLAY_DELEGATE_H_
