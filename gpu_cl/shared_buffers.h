// SPDX-License-Identifier: Apache-2.0
//
// Buffers that the delegate shares with other delegates and with clients.
#ifndef DEPUTY_GPU_CL_SHARED_BUFFERS_H_
#define DEPUTY_GPU_CL_SHARED_BUFFERS_H_

#include <cstddef>
#include <cstdint>

#include "deputy/deputy_plugin.h"

namespace deputy::gpu_cl {

// Implementations of the functions for shared buffers in DeputyDelegatePlugin. All buffers belong
// to the delegate's OpenCL context.
TfLiteStatus MemoryTypes(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                         int32_t tensor, DeputyMemoryTypeCallback callback, void* user_data);
TfLiteStatus ShareOutputOf(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                           int32_t tensor, const DeputyMemoryRequirements* requirements);
TfLiteStatus ExportBuffer(TfLiteDelegate* delegate, TfLiteContext* context,
                          TfLiteBufferHandle handle, const DeputyMemoryRequirements* requirements,
                          DeputyBuffer* buffer);
TfLiteStatus ImportBuffer(TfLiteDelegate* delegate, TfLiteContext* context,
                          const DeputyBuffer* buffer, TfLiteBufferHandle* handle);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_SHARED_BUFFERS_H_
