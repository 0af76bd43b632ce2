// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_LITERT_SRC_BUFFER_HANDLERS_H_
#define DEPUTY_LITERT_SRC_BUFFER_HANDLERS_H_

#include "litert/c/litert_custom_tensor_buffer.h"
#include "litert/c/litert_environment_options.h"

namespace deputy::litert {

// Functions of a vendor for one type of buffers (LiteRtRegisterTensorBufferHandlers).
struct BufferHandlers {
  CreateCustomTensorBuffer create = nullptr;
  DestroyCustomTensorBuffer destroy = nullptr;
  LockCustomTensorBuffer lock = nullptr;
  UnlockCustomTensorBuffer unlock = nullptr;
  ClearCustomTensorBuffer clear = nullptr;
  ImportCustomTensorBuffer import = nullptr;
  LiteRtEnvOptionTag device_tag = kLiteRtEnvOptionTagNull;
  LiteRtEnvOptionTag queue_tag = kLiteRtEnvOptionTagNull;

  friend bool operator==(const BufferHandlers&, const BufferHandlers&) = default;
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_BUFFER_HANDLERS_H_
