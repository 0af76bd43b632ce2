// SPDX-License-Identifier: Apache-2.0
//
// The nodes that the delegate puts into a graph, one for each partition.
#ifndef DEPUTY_GPU_CL_PARTITION_H_
#define DEPUTY_GPU_CL_PARTITION_H_

#include <memory>
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
  // By output: whether it stays on the device, and what it is there; null if it does not.
  std::vector<std::shared_ptr<const DeviceBuffer>> kept;
  std::vector<std::pair<const char*, std::string>> texts;  // by stage, if the delegate keeps them
};

// The functions of such nodes.
TfLiteRegistration PartitionRegistration();

// While it lives, partitions that are made on this thread leave the tensors on the device that are
// their outputs and among `tensors`: those that no other delegate and no kernel of the CPU reads.
class KeptTensors {
 public:
  explicit KeptTensors(std::vector<int> tensors);
  ~KeptTensors();
  KeptTensors(const KeptTensors&) = delete;
  KeptTensors& operator=(const KeptTensors&) = delete;

 private:
  std::vector<int> tensors_;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PARTITION_H_
