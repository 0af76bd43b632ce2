// SPDX-License-Identifier: Apache-2.0
//
// Selection of the nodes that the delegate claims.
#ifndef DEPUTY_GPU_CL_CHOOSE_H_
#define DEPUTY_GPU_CL_CHOOSE_H_

#include <optional>
#include <span>
#include <vector>

#include "core/support/refusal.h"
#include "gpu_cl/gpu_delegate.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

struct NodeChoice {
  int node = -1;
  std::optional<Refusal> refusal;  // set if the node stays on the CPU
  double device_ns = -1;           // estimated time on the device; -1: unknown
};

// Checks for every node of a plan whether it can be compiled and, if the options set a minimum
// gain, whether its partition reaches it. `context` must be in delegate mode.
TfLiteStatus ChooseNodes(const GpuDelegate& gpu, TfLiteContext* context, std::span<const int> plan,
                         std::vector<NodeChoice>* out_choices);

// Keeps the nodes of the partitions with the largest estimated gain, up to the number that the
// options allow; where no gain can be estimated, of the partitions with most nodes.
TfLiteStatus KeepBest(const GpuDelegate& gpu, TfLiteContext* context, std::vector<int>* nodes);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_CHOOSE_H_
