// SPDX-License-Identifier: Apache-2.0
//
// Tensors on the device: their buffer handles, and copies between device and host.
//
// If a tensor with our handle is stale in host memory, the device's copy is valid: a partition
// reads it there, and for other consumers the runtime copies it. If it is not stale, the host's
// copy is valid, whatever the handle refers to, because the tensor has been written on the host
// since.
#ifndef DEPUTY_GPU_CL_HANDLES_H_
#define DEPUTY_GPU_CL_HANDLES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/run/exec.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// Sets the delegate's functions for handles, by which IsOurs recognises delegates of this library.
void SetHandleFunctions(TfLiteDelegate* delegate);
bool IsOurs(const TfLiteDelegate* delegate);

// Finds the location of a partition's input. Returns "" or the reason of a failure. If
// `from_client`, a tensor that is bound to a client's buffer is read from this buffer even if it
// was copied to the host meanwhile, and is copied again for the next consumer on the host.
std::string FindInput(const GpuDelegate& gpu, size_t bytes, bool from_client, TfLiteTensor* tensor,
                      InputLocation* out_location);

// Returns the client's buffer that must receive a tensor written by a partition; null if there is
// none.
std::shared_ptr<const DeviceBuffer> FindClientBuffer(const GpuDelegate& gpu,
                                                     const TfLiteTensor& tensor);

// Makes the device's copy of a tensor the valid one. Returns false if no handle is available.
bool MarkOnDevice(GpuDelegate* gpu, std::shared_ptr<const DeviceBuffer> buffer,
                  TfLiteTensor* tensor);
// Makes the host's copy the valid one.
void MarkOnHost(const GpuDelegate& gpu, TfLiteTensor* tensor);

// Makes `buffer`, whose offset and size are set, refer to the OpenCL buffer `memory`, and retains
// the latter. Returns "" or the reason why it cannot be used.
std::string Adopt(const SharedContext& context, cl_mem memory, DeviceBuffer* buffer);

// Implementations of DeputyGpuBindBuffer and DeputyGpuUnbindBuffer. Both return "" or an error
// message.
std::string BindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor, cl_mem memory,
                       size_t offset);
std::string UnbindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_HANDLES_H_
