// SPDX-License-Identifier: Apache-2.0
//
// Runs tasks of an OpenCL delegate that calls OpenCL through a spy, with the runtime's signature
// runner.
#ifndef DEPUTY_TESTS_GPU_CL_GPU_ASYNC_SUPPORT_H_
#define DEPUTY_TESTS_GPU_CL_GPU_ASYNC_SUPPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "c_api/include/deputy_graph.h"
#include "core/async/async_signature_runner.h"
#include "gpu_cl/device/cl_api.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/support/async_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl {

using Bytes = std::vector<uint8_t>;

async_case::Attributes BufferOf(const char* type, size_t bytes, size_t offset = 0);
async_case::Attributes SyncOf(const char* type);
// Convert a descriptor to the pointer of a synchronisation object, and back.
void* PointerOf(int descriptor);
int DescriptorOf(const TfLiteSynchronization* sync);
bool IsReadable(int descriptor, int timeout_ms = 0);

// Returns values for the tensor that depend on `seed`; integers are from 0 to 2.
Bytes ValuesFor(const TfLiteTensor* tensor, int seed);

// The memory of a task: one entry per input and output.
struct AsyncTask {
  std::vector<Bytes> inputs, outputs;
  TfLiteExecutionTask* task = nullptr;
};

// A delegate, an interpreter to which it is applied, and a runner of the model without a signature.
class AsyncCase {
 public:
  // The policy is Hot. `problem()` is "" if the model is one partition with an asynchronous kernel.
  AsyncCase(const std::shared_ptr<const ClApi>& api, const std::vector<uint8_t>& model,
            const OptionTexts& options = {});
  ~AsyncCase();
  AsyncCase(const AsyncCase&) = delete;
  AsyncCase& operator=(const AsyncCase&) = delete;

  const std::string& problem() const { return problem_; }
  TestInterpreter& t() { return *t_; }
  TfLiteDelegate* delegate() const { return gpu_.get(); }
  AsyncSignatureRunner& runner() { return *runner_; }
  int input(size_t i) const { return TfLiteInterpreterInputTensorIndices(t_->get())[i]; }
  int output(size_t i) const { return TfLiteInterpreterOutputTensorIndices(t_->get())[i]; }

  // Returns the handle of a buffer; -1 if it is refused.
  TfLiteBufferHandle Register(void* pointer, const async_case::Attributes& attributes);
  // Creates a task on host memory. Its inputs depend on `seed`.
  std::unique_ptr<AsyncTask> NewTask(int seed = 0);
  TfLiteStatus Start(const AsyncTask& task) { return runner_->InvokeAsync(task.task); }
  TfLiteStatus Wait(const AsyncTask& task) { return runner_->Wait(task.task); }
  TfLiteStatus Finish(const AsyncTask& task) { return runner_->Finish(task.task); }
  TfLiteStatus UseSync(int tensor, const char* type) {
    return runner_->SetAttributes(tensor, SyncOf(type).get());
  }
  // Returns the outputs of a blocking run with the task's inputs.
  std::vector<Bytes> Blocking(const AsyncTask& task);
  // Deletes the interpreter.
  void DeleteInterpreter();

 private:
  const TestDelegate gpu_;
  std::unique_ptr<TestInterpreter> t_;
  std::optional<SignatureRunner> signature_;
  std::optional<AsyncSignatureRunner> runner_;
  std::string problem_;
};

// An event that the client completes, of the OpenCL library that the spy calls.
class UserEvent {
 public:
  explicit UserEvent(cl_context context);
  ~UserEvent();
  UserEvent(const UserEvent&) = delete;
  UserEvent& operator=(const UserEvent&) = delete;

  cl_event get() const { return event_; }
  void Complete(cl_int status = CL_COMPLETE);

 private:
  cl_event event_ = nullptr;
};

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_TESTS_GPU_CL_GPU_ASYNC_SUPPORT_H_
