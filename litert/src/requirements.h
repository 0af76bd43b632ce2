// SPDX-License-Identifier: Apache-2.0
//
// Requirements of a consumer or producer on the buffer of a tensor.
#ifndef DEPUTY_LITERT_SRC_REQUIREMENTS_H_
#define DEPUTY_LITERT_SRC_REQUIREMENTS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "litert/c/litert_tensor_buffer_requirements.h"

class LiteRtTensorBufferRequirementsT {
 public:
  std::vector<LiteRtTensorBufferType> types;  // supported types, the preferred one first
  size_t bytes = 0;
  std::vector<uint32_t> strides;  // empty: dense
  size_t alignment = 0;           // of host memory, in bytes
};

namespace deputy::litert {

// Takes requirements that were created by a function of the C API and not destroyed. Returns false
// for other pointers, which are not read; otherwise the caller owns the object.
bool TakeRequirements(LiteRtTensorBufferRequirements requirements);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_REQUIREMENTS_H_
