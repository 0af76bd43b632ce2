// SPDX-License-Identifier: Apache-2.0
//
// Which nodes of a graph the delegate takes.
#ifndef DEPUTY_GPU_CL_CHOOSE_H_
#define DEPUTY_GPU_CL_CHOOSE_H_

#include <optional>
#include <span>
#include <vector>

#include "compiler/refusal.h"
#include "gpu_cl/gpu_delegate.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

struct NodeChoice {
  int node = -1;
  std::optional<compiler::Refusal> refusal;  // why it is left to the CPU; nothing: it is not
  double device_ns = -1;                     // how long it is expected to take on the device
};

// Looks at every node of a plan: whether it can be compiled, and where the options set a least
// gain, whether its partition has it. `context` is in delegate mode.
TfLiteStatus ChooseNodes(const GpuDelegate& gpu, TfLiteContext* context, std::span<const int> plan,
                         std::vector<NodeChoice>* out_choices);

// Leaves those of the partitions that are expected to gain most, as many as the options allow; of
// the largest ones where that cannot be told.
TfLiteStatus KeepBest(const GpuDelegate& gpu, TfLiteContext* context, std::vector<int>* nodes);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_CHOOSE_H_
