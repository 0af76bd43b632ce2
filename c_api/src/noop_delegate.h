// SPDX-License-Identifier: Apache-2.0
//
// Delegates that programs expect to exist and that claim no node here: XNNPACK, because the CPU
// kernels do not need it, and NNAPI, where it does not exist.
#ifndef DEPUTY_C_API_SRC_NOOP_DELEGATE_H_
#define DEPUTY_C_API_SRC_NOOP_DELEGATE_H_

#include "c_api/include/common.h"

namespace deputy {

// Prepare of a delegate that claims no node.
inline TfLiteStatus NoOpPrepare(TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; }

}  // namespace deputy

#endif  // DEPUTY_C_API_SRC_NOOP_DELEGATE_H_
