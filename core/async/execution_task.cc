// SPDX-License-Identifier: Apache-2.0
#include "core/async/execution_task.h"

const int* TfLiteExecutionTask::Find(TfLiteIoType io_type, const char* name) const {
  return io_type == kTfLiteIoTypeInput ? signature_->FindInput(name) : signature_->FindOutput(name);
}

TfLiteExecutionTask::TensorData TfLiteExecutionTask::At(int tensor_index) const {
  const auto found = tensors_.find(tensor_index);
  return found == tensors_.end() ? TensorData() : found->second;
}

TfLiteStatus TfLiteExecutionTask::status() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

void TfLiteExecutionTask::SetStatus(TfLiteStatus status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  status_ = status;
}

bool TfLiteExecutionTask::Begin() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_running_) return false;
  is_running_ = true;
  ++executions_;
  return true;
}

uint64_t TfLiteExecutionTask::running() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_running_ ? executions_ : 0;
}

void TfLiteExecutionTask::End(uint64_t execution, TfLiteStatus status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!is_running_ || executions_ != execution) return;
  is_running_ = false;
  status_ = status;
}
