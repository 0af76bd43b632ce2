// SPDX-License-Identifier: Apache-2.0
//
// Tensors that lie on the device: their handles, and copies between them and the host.
//
// A tensor with a handle of ours that is stale in host memory is the device's: a partition takes it
// from there, and whoever else reads it has the runtime copy it. One that is not stale is the
// host's, whatever its handle stands for: somebody has written it meanwhile.
#ifndef DEPUTY_GPU_CL_HANDLES_H_
#define DEPUTY_GPU_CL_HANDLES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "gpu_cl/exec.h"
#include "gpu_cl/gpu_delegate.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// Fills in the delegate's functions for handles. One that has them is one of ours.
void SetHandleFunctions(TfLiteDelegate* delegate);
bool IsOurs(const TfLiteDelegate* delegate);

// Where a tensor that a partition reads is. Returns "" or why it is nowhere. One `from_client` that
// is bound is in the client's buffer even if it was copied to the host meanwhile, and whoever reads
// it there next has it copied anew.
std::string FindInput(const GpuDelegate& gpu, size_t bytes, bool from_client, TfLiteTensor* tensor,
                      InputPlace* out_place);

// The client's buffer in which a tensor that a partition writes has to end up; null if there is
// none.
std::shared_ptr<const DeviceBuffer> FindClientBuffer(const GpuDelegate& gpu,
                                                     const TfLiteTensor& tensor);

// Makes the device's copy of a tensor the valid one. False if there are no handles left.
bool MarkOnDevice(GpuDelegate* gpu, std::shared_ptr<const DeviceBuffer> buffer,
                  TfLiteTensor* tensor);
// Makes the host's copy the valid one.
void MarkOnHost(const GpuDelegate& gpu, TfLiteTensor* tensor);

// See DeputyGpuBindBuffer and DeputyGpuUnbindBuffer. Each returns "" or what is wrong.
std::string BindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor, cl_mem memory,
                       size_t offset);
std::string UnbindBuffer(TfLiteDelegate* delegate, TfLiteTensor* tensor);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_HANDLES_H_
