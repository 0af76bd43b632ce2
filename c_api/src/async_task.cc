// SPDX-License-Identifier: Apache-2.0
#include "c_api/include/async_task.h"

#include "core/async/execution_task.h"
#include "core/base/guard.h"

namespace {

using deputy::Guard;

const int* FindTensor(const TfLiteExecutionTask* task, TfLiteIoType io_type, const char* name) {
  return task == nullptr ? nullptr : task->Find(io_type, name);
}

}  // namespace

TfLiteStatus TfLiteExecutionTaskSetBuffer(TfLiteExecutionTask* task, TfLiteIoType io_type,
                                          const char* tensor_signature_name,
                                          TfLiteBufferHandle handle) {
  const int* const index = FindTensor(task, io_type, tensor_signature_name);
  return index == nullptr ? kTfLiteError
                          : TfLiteExecutionTaskSetBufferByIndex(task, *index, handle);
}

TfLiteStatus TfLiteExecutionTaskSetBufferByIndex(TfLiteExecutionTask* task, int tensor_index,
                                                 TfLiteBufferHandle handle) {
  if (task == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    task->ValuesOf(tensor_index)->buffer = handle;
    return kTfLiteOk;
  });
}

TfLiteBufferHandle TfLiteExecutionTaskGetBufferByName(const TfLiteExecutionTask* task,
                                                      TfLiteIoType io_type,
                                                      const char* tensor_signature_name) {
  const int* const index = FindTensor(task, io_type, tensor_signature_name);
  return index == nullptr ? kTfLiteNullBufferHandle : task->At(*index).buffer;
}

TfLiteBufferHandle TfLiteExecutionTaskGetBufferByIndex(const TfLiteExecutionTask* task,
                                                       int tensor_index) {
  return task == nullptr ? kTfLiteNullBufferHandle : task->At(tensor_index).buffer;
}

TfLiteStatus TfLiteExecutionTaskSetSync(TfLiteExecutionTask* task, TfLiteIoType io_type,
                                        const char* tensor_signature_name,
                                        TfLiteSynchronization* sync) {
  const int* const index = FindTensor(task, io_type, tensor_signature_name);
  return index == nullptr ? kTfLiteError : TfLiteExecutionTaskSetSyncByIndex(task, *index, sync);
}

TfLiteStatus TfLiteExecutionTaskSetSyncByIndex(TfLiteExecutionTask* task, int tensor_index,
                                               TfLiteSynchronization* sync) {
  if (task == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    task->ValuesOf(tensor_index)->sync = sync;
    return kTfLiteOk;
  });
}

TfLiteSynchronization* TfLiteExecutionTaskGetSyncByName(const TfLiteExecutionTask* task,
                                                        TfLiteIoType io_type,
                                                        const char* tensor_signature_name) {
  const int* const index = FindTensor(task, io_type, tensor_signature_name);
  return index == nullptr ? nullptr : task->At(*index).sync;
}

TfLiteSynchronization* TfLiteExecutionTaskGetSyncByIndex(const TfLiteExecutionTask* task,
                                                         int tensor_index) {
  return task == nullptr ? nullptr : task->At(tensor_index).sync;
}

void* TfLiteExecutionTaskGetDelegateExecutionData(const TfLiteExecutionTask* task,
                                                  TfLiteAsyncKernel* /*kernel*/) {
  return task == nullptr ? nullptr : task->delegate_data;
}

void TfLiteExecutionTaskSetDelegateExecutionData(TfLiteExecutionTask* task,
                                                 TfLiteAsyncKernel* /*kernel*/, void* data) {
  if (task != nullptr) task->delegate_data = data;
}

TfLiteStatus TfLiteExecutionTaskGetStatus(const TfLiteExecutionTask* task) {
  return task == nullptr ? kTfLiteError : task->status();
}

void TfLiteExecutionTaskSetStatus(TfLiteExecutionTask* task, TfLiteStatus status) {
  if (task != nullptr) task->SetStatus(status);
}
