// SPDX-License-Identifier: Apache-2.0
//
// Writes the objects of a model as a .tflite file.
#ifndef DEPUTY_LITERT_SRC_MODEL_SERIALIZE_H_
#define DEPUTY_LITERT_SRC_MODEL_SERIALIZE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "litert/src/model.h"

namespace deputy::litert {

// A file and the block, allocated with malloc, that contains it.
struct SerializedModel {
  uint8_t* block = nullptr;
  size_t size = 0;
};

// Writes a model and additional signatures. Byte code begins at multiples of `alignment`; 0 and 1
// add no padding. The model does not change.
LiteRtStatus SerializeModel(const LiteRtModelT& model,
                            const std::vector<std::unique_ptr<LiteRtSignatureT>>& signatures,
                            size_t alignment, SerializedModel* out_file);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_MODEL_SERIALIZE_H_
