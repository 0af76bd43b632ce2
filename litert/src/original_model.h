// SPDX-License-Identifier: Apache-2.0
//
// Original models in files that `deputy compile --plugin --keep-original` writes.
#ifndef DEPUTY_LITERT_SRC_ORIGINAL_MODEL_H_
#define DEPUTY_LITERT_SRC_ORIGINAL_MODEL_H_

#include <memory>

#include "litert/src/model.h"

namespace deputy::litert {

// Returns true if the file of a compiled model contains the original one.
bool HasOriginal(const LiteRtModelT& compiled);

// Loads the original model, which uses the bytes of the compiled one. Fails after a log line if it
// is damaged or its signatures differ from those of the compiled model.
LiteRtStatus LoadOriginal(const LiteRtModelT& compiled,
                          std::unique_ptr<LiteRtModelT>* out_original);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_ORIGINAL_MODEL_H_
