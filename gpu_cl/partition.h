// SPDX-License-Identifier: Apache-2.0
//
// Delegate nodes: one node per partition.
#ifndef DEPUTY_GPU_CL_PARTITION_H_
#define DEPUTY_GPU_CL_PARTITION_H_

#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/run/exec.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::gpu_cl {

// Target of a node's `user_data`. It exists even if the partition cannot be compiled: prepare then
// reports the failure.
struct Partition {
  GpuDelegate* owner = nullptr;
  int first_node = -1;  // index of the first node that it replaces
  // Held while the executor enqueues, ends or describes runs. Acquired after the delegate's mutex.
  std::mutex run_mutex;
  std::unique_ptr<Executor> executor;
  std::string failure;
  // True for each input of the partition that is an input of the model, which the client provides.
  std::vector<bool> from_client;
  // Buffer of each output of the partition if it stays on the device, else null.
  std::vector<std::shared_ptr<const DeviceBuffer>> kept;
  std::vector<bool> shared;  // true for outputs that ShareOutput has added to `kept`
  // Descriptions by stage, if the delegate keeps them.
  std::vector<std::pair<const char*, std::string>> texts;
  std::vector<std::shared_ptr<void>> async_kernels;  // destroyed before the executor
};

// Submits a run to the executor (Executor::Submit). Retries after releasing cached executors if out
// of memory, then with fallback kernels. Acquires run_mutex.
ClStatus SubmitRun(Partition* partition, std::span<const InputLocation> inputs,
                   std::span<const OutputLocation> outputs, std::span<const cl_event> waits,
                   Submission* submission);

// Returns the functions of delegate nodes.
TfLiteRegistration PartitionRegistration();

// Returns true if the tensor is a nonempty input or output of the node in device memory.
bool UsesOnDevice(const TfLiteNode& node, int tensor);
// If `share` is true, the output stays on the device, so that another delegate can read it; else it
// is copied to host memory again. Returns "" or an error message.
std::string ShareOutput(const TfLiteNode& node, int tensor, bool share);

// Roles of a graph's tensors with respect to the nodes that a delegate claims.
struct TensorRoles {
  // Outputs of any node; all other tensors are the model's inputs and constants.
  std::set<int> produced;
  std::set<int> kept;  // outputs of partitions that stay on the device
};

// RAII guard: sets the roles that apply to partitions created on this thread.
class ScopedTensorRoles {
 public:
  explicit ScopedTensorRoles(const TensorRoles* roles);
  ~ScopedTensorRoles();
  ScopedTensorRoles(const ScopedTensorRoles&) = delete;
  ScopedTensorRoles& operator=(const ScopedTensorRoles&) = delete;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_PARTITION_H_
