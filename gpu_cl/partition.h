// SPDX-License-Identifier: Apache-2.0
//
// The nodes that the delegate puts into a graph, one for each partition.
#ifndef DEPUTY_GPU_CL_PARTITION_H_
#define DEPUTY_GPU_CL_PARTITION_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gpu_cl/exec.h"
#include "gpu_cl/gpu_delegate.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// What `user_data` of a node points to. It is made even if its nodes cannot be compiled: prepare
// then says why.
struct Partition {
  GpuDelegate* owner = nullptr;
  int first_node = -1;  // of those that it replaces
  std::unique_ptr<Executor> executor;
  std::string failure;
  // By input: whether it is one of the model's.
  std::vector<bool> from_client;
  // By output: whether it stays on the device, and what it is there; null if it does not.
  std::vector<std::shared_ptr<const DeviceBuffer>> kept;
  std::vector<std::pair<const char*, std::string>> texts;  // by stage, if the delegate keeps them
};

// The functions of such nodes.
TfLiteRegistration PartitionRegistration();

// What tensors of a graph are to the nodes that a delegate takes.
struct TensorRoles {
  std::set<int> made;  // by any node; the others are the model's inputs and constants
  std::set<int> kept;  // outputs of partitions that stay on the device
};

// While it lives, partitions that are made on this thread are of a graph with these roles.
class RolesInForce {
 public:
  explicit RolesInForce(const TensorRoles* roles);
  ~RolesInForce();
  RolesInForce(const RolesInForce&) = delete;
  RolesInForce& operator=(const RolesInForce&) = delete;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PARTITION_H_
