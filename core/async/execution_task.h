// SPDX-License-Identifier: Apache-2.0
//
// Definition of the opaque TfLiteExecutionTask: buffers and synchronisation objects of tensors, the
// state of the execution, and its latest status.
#ifndef DEPUTY_CORE_ASYNC_EXECUTION_TASK_H_
#define DEPUTY_CORE_ASYNC_EXECUTION_TASK_H_

#include <cstdint>
#include <map>
#include <mutex>

#include "c_api/include/async_types.h"
#include "c_api/include/common.h"
#include "c_api/include/interop_types.h"
#include "core/exec/signature_runner.h"

// The state and the status are thread-safe, all else must be used by one thread at a time.
struct TfLiteExecutionTask final {
 public:
  // Values of one tensor.
  struct TensorData {
    TfLiteBufferHandle buffer = kTfLiteNullBufferHandle;
    TfLiteSynchronization* sync = nullptr;  // borrowed
  };

  // Creates the task of a signature for the kernel that `binding` identifies.
  TfLiteExecutionTask(const deputy::SignatureRunner* signature, uint64_t binding)
      : signature_(signature), binding_(binding) {}

  const deputy::SignatureRunner* signature() const { return signature_; }
  uint64_t binding() const { return binding_; }

  // Returns the index of the input or output with this name; null for an unknown or null name. A
  // type other than input means an output, as upstream.
  const int* Find(TfLiteIoType io_type, const char* name) const;
  // Returns the tensor's values; the defaults if none was set.
  TensorData At(int tensor_index) const;
  // Returns the tensor's values for writing. Throws bad_alloc.
  TensorData* ValuesOf(int tensor_index) { return &tensors_[tensor_index]; }

  TfLiteStatus status() const;
  void SetStatus(TfLiteStatus status);

  // Begins an execution. Returns false if one was begun and not ended.
  bool Begin();
  // Returns the number of the execution that was begun and not ended; 0: there is none.
  uint64_t running() const;
  // Ends the execution with this number and sets the status. Has no effect if another thread has
  // ended it.
  void End(uint64_t execution, TfLiteStatus status);

  void* delegate_data = nullptr;  // the delegate's pointer

 private:
  const deputy::SignatureRunner* const signature_;
  const uint64_t binding_;
  std::map<int, TensorData> tensors_;  // by tensor index
  mutable std::mutex mutex_;           // protects the following members
  TfLiteStatus status_ = kTfLiteOk;
  bool is_running_ = false;
  uint64_t executions_ = 0;  // number of executions that were begun
};

#endif  // DEPUTY_CORE_ASYNC_EXECUTION_TASK_H_
