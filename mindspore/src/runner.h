// SPDX-License-Identifier: Apache-2.0
//
// Implementation of DeputyMSRunner: models over one LoadedModel, and the queue of the requests that
// wait for one of them.
#ifndef DEPUTY_MINDSPORE_SRC_RUNNER_H_
#define DEPUTY_MINDSPORE_SRC_RUNNER_H_

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mindspore/include/model_parallel_runner_c.h"
#include "mindspore/src/model.h"
#include "mindspore/src/tensor.h"

struct DeputyMSRunner {
 public:
  // Model to load: bytes, or a path.
  struct Source {
    const void* data = nullptr;
    size_t size = 0;
    const char* path = nullptr;
  };

  DeputyMSRunner() = default;
  DeputyMSRunner(const DeputyMSRunner&) = delete;
  DeputyMSRunner& operator=(const DeputyMSRunner&) = delete;
  // Fails the waiting requests and waits until no request is running.
  ~DeputyMSRunner();

  MSStatus Init(const Source& source, MSContextHandle context, int32_t worker_count);
  MSStatus Predict(const MSTensorHandleArray& inputs, std::span<MSTensorHandle> outputs,
                   const deputy::ms_api::Callbacks& callbacks);

  void SetConfig(const deputy::ms_api::Config& config);

  size_t worker_count() const;
  size_t input_count() const;
  size_t output_count() const;
  // Return a tensor that the caller owns; null if the index is out of range.
  MSTensorHandle CreateInput(size_t index) const;
  MSTensorHandle CreateOutput(size_t index) const;

 private:
  using Worker = deputy::ms_api::Model;
  // Properties of an input or output.
  struct TensorInfo {
    std::string name;
    MSDataType type;
    MSFormat format;
    std::vector<int64_t> shape;
    std::vector<DeputyMSQuantParam> quantization;
  };
  // A request that waits for a worker, on the stack of its thread.
  struct Waiter {
    std::condition_variable ready;
    Worker* worker = nullptr;
  };
  // RAII guard of a request: has a worker, or a failure in `status`.
  class Lease;

  static std::vector<TensorInfo> InfosOf(const std::vector<MSTensorHandle>& tensors);
  static MSTensorHandle CreateTensor(const std::vector<TensorInfo>& infos, size_t index);

  MSStatus BuildWorkers(const Source& source, int32_t count);
  MSStatus Acquire(Worker** out_worker);
  void Release(Worker* worker);

  std::mutex init_mutex_;  // serialises Init
  deputy::ms_api::Config config_;
  std::unique_ptr<deputy::ms_api::Context, deputy::ms_api::ModelDeleter> context_;
  mutable std::mutex mutex_;                      // guards the members below
  std::vector<std::unique_ptr<Worker>> workers_;  // constant once `initialized_`
  std::vector<TensorInfo> inputs_, outputs_;      // constant once `initialized_`
  bool initialized_ = false;
  bool closing_ = false;
  size_t calls_ = 0;  // requests between Acquire and Release, waiting ones included
  std::condition_variable no_calls_;
  std::vector<Worker*> idle_;
  std::deque<Waiter*> waiting_;
};

#endif  // DEPUTY_MINDSPORE_SRC_RUNNER_H_
