// SPDX-License-Identifier: Apache-2.0
#include "core/async/async_signature_runner.h"

#include <cstdarg>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/operator_object.h"
#include "core/exec/interpreter_state.h"

namespace deputy {

// ---- Binding ------------------------------------------------------------------------------------

void AsyncSignatureRunner::Bind() {
  const uint64_t version = subgraph()->plan_version();
  if (binding_ == version) return;
  binding_ = 0;
  inputs_ = Supported();
  outputs_ = Supported();
  kernel_ = FindKernel();
  if (kernel_ != nullptr) {
    ReadSupported(kTfLiteIoTypeInput, &inputs_);
    ReadSupported(kTfLiteIoTypeOutput, &outputs_);
  }
  binding_ = version;
}

// Returns the kernel of the subgraph's only node, null after a report if there is none.
TfLiteAsyncKernel* AsyncSignatureRunner::FindKernel() const {
  Graph& graph = subgraph()->graph();
  if (graph.plan().size() != 1 || graph.node(graph.plan()[0])->delegate == nullptr) {
    Report("Model is not fully delegated by 1 backend.");
    return nullptr;
  }
  const TfLiteRegistration& registration = *graph.registration(graph.plan()[0]);
  const TfLiteOperator* const op = registration.registration_external;
  TfLiteAsyncKernel* found = nullptr;
  try {
    if (op != nullptr && op->async_kernel_with_data != nullptr) {
      found = op->async_kernel_with_data(op->user_data, context(), node());
    } else if (op != nullptr && op->async_kernel != nullptr) {
      found = op->async_kernel(context(), node());
    } else if (registration.async_kernel != nullptr) {
      found = registration.async_kernel(subgraph()->context(), graph.node(graph.plan()[0]));
    } else {
      found = find_kernel_(subgraph(), graph.node(graph.plan()[0]));
    }
  } catch (...) {
    ReportException("async_kernel");
  }
  if (found == nullptr) Report("Backend does not support asynchronous execution.");
  return found;
}

void AsyncSignatureRunner::ReadSupported(TfLiteIoType io_type, Supported* supported) const {
  const auto read = [&](const char* name, auto* function, Types* types) {
    const char* const* names = nullptr;
    size_t count = 0;
    Call(name, function, false, kernel_, io_type, &names, &count);
    if (names != nullptr) types->assign(names, names + count);
  };
  read("supported_buffer_types", kernel_->supported_buffer_types, &supported->buffers);
  read("supported_synchronizations", kernel_->supported_synchronizations,
       &supported->synchronizations);
}

TfLiteAsyncKernel* AsyncSignatureRunner::kernel() const {
  if (binding_ == subgraph()->plan_version()) return kernel_;
  Report("The signature runner's delegate has been applied again or removed: get a new runner.");
  return nullptr;
}

TfLiteAsyncKernel* AsyncSignatureRunner::KernelOf(const TfLiteExecutionTask* task) const {
  if (task == nullptr) return nullptr;
  if (task->signature() != signature_) {
    Report("The task belongs to another signature runner.");
    return nullptr;
  }
  TfLiteAsyncKernel* const found = kernel();
  if (found == nullptr || task->binding() == binding_) return found;
  Report("The task was created before the delegate was applied again.");
  return nullptr;
}

// ---- Calls of the kernel ------------------------------------------------------------------------

TfLiteOpaqueContext* AsyncSignatureRunner::context() const {
  return reinterpret_cast<TfLiteOpaqueContext*>(subgraph()->context());
}

TfLiteOpaqueNode* AsyncSignatureRunner::node() const {
  Graph& graph = subgraph()->graph();
  return reinterpret_cast<TfLiteOpaqueNode*>(graph.node(graph.plan()[0]));
}

void AsyncSignatureRunner::Report(const char* format, ...) const {
  // Recursive, because the client's function may call a function that fails.
  static std::recursive_mutex mutex;
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  va_list arguments;
  va_start(arguments, format);
  subgraph()->interpreter()->reporter()->ReportV(format, arguments);
  va_end(arguments);
}

// Reports the exception that is being handled.
void AsyncSignatureRunner::ReportException(const char* function) const {
  try {
    throw;
  } catch (const std::exception& exception) {
    Report("asynchronous kernel: '%s' threw an exception: %s", function, exception.what());
  } catch (...) {
    Report("asynchronous kernel: '%s' threw an exception", function);
  }
}

template <typename Function, typename Result, typename... Arguments>
Result AsyncSignatureRunner::Call(const char* name, Function* function, Result failure,
                                  Arguments... arguments) const {
  if (function == nullptr) {
    Report("asynchronous kernel: the function '%s' is missing", name);
    return failure;
  }
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Function, Arguments...>>) {
      function(arguments...);
      return failure;
    } else {
      return function(arguments...);
    }
  } catch (...) {
    ReportException(name);
    return failure;
  }
}

// ---- Buffers ------------------------------------------------------------------------------------

TfLiteStatus AsyncSignatureRunner::RegisterBuffer(TfLiteIoType io_type,
                                                  const TfLiteBackendBuffer* buffer,
                                                  const TfLiteAttributeMap* attrs,
                                                  TfLiteBufferHandle* handle) {
  if (buffer == nullptr || attrs == nullptr || handle == nullptr) return kTfLiteError;
  TfLiteAsyncKernel* const to = kernel();
  if (to == nullptr) return kTfLiteError;
  *handle = next_handle_.fetch_add(1, std::memory_order_relaxed);
  return Call("register_buffer", to->register_buffer, kTfLiteError, to, context(), io_type, buffer,
              attrs, *handle);
}

TfLiteStatus AsyncSignatureRunner::RegisterBufferSlice(TfLiteBufferHandle pool,
                                                       const TfLiteAttributeMap* attrs,
                                                       TfLiteBufferHandle* handle) {
  if (attrs == nullptr || handle == nullptr) return kTfLiteError;
  TfLiteAsyncKernel* const to = kernel();
  if (to == nullptr) return kTfLiteError;
  *handle = next_handle_.fetch_add(1, std::memory_order_relaxed);
  return Call("register_buffer_slice", to->register_buffer_slice, kTfLiteError, to, context(), pool,
              attrs, *handle);
}

TfLiteStatus AsyncSignatureRunner::UnregisterBuffer(TfLiteBufferHandle handle) {
  TfLiteAsyncKernel* const from = kernel();
  if (from == nullptr) return kTfLiteError;
  return Call("unregister_buffer", from->unregister_buffer, kTfLiteError, from, context(), handle);
}

// ---- Attributes ---------------------------------------------------------------------------------

const AsyncSignatureRunner::Supported* AsyncSignatureRunner::SupportedOf(
    TfLiteIoType io_type) const {
  if (kernel() == nullptr) return nullptr;
  return io_type == kTfLiteIoTypeInput    ? &inputs_
         : io_type == kTfLiteIoTypeOutput ? &outputs_
                                          : nullptr;
}

const AsyncSignatureRunner::Types* AsyncSignatureRunner::SupportedBufferTypes(
    TfLiteIoType io_type) const {
  const Supported* const supported = SupportedOf(io_type);
  return supported == nullptr ? nullptr : &supported->buffers;
}

const AsyncSignatureRunner::Types* AsyncSignatureRunner::SupportedSynchronizations(
    TfLiteIoType io_type) const {
  const Supported* const supported = SupportedOf(io_type);
  return supported == nullptr ? nullptr : &supported->synchronizations;
}

int AsyncSignatureRunner::FindTensor(TfLiteIoType io_type, const char* name) const {
  const int* const index = io_type == kTfLiteIoTypeInput    ? signature_->FindInput(name)
                           : io_type == kTfLiteIoTypeOutput ? signature_->FindOutput(name)
                                                            : nullptr;
  if (index != nullptr) return *index;
  Report("Signature tensor name %s was not found", name == nullptr ? "(null)" : name);
  return -1;
}

bool AsyncSignatureRunner::HasTensor(int tensor_index) const {
  return subgraph()->graph().tensor(tensor_index) != nullptr;
}

bool AsyncSignatureRunner::ReconcileRestrictions(int tensor_index,
                                                 const TfLiteAttributeMap* user_provided_attributes,
                                                 TfLiteAttributeMap* merged,
                                                 TfLiteAttributeMap* conflict) const {
  if (user_provided_attributes == nullptr || merged == nullptr || !HasTensor(tensor_index)) {
    return false;
  }
  const TfLiteAsyncKernel* const with = kernel();
  if (with == nullptr) return false;
  return Call("reconcile_restrictions", with->reconcile_restrictions, false, with, context(),
              node(), tensor_index, user_provided_attributes, merged, conflict);
}

TfLiteStatus AsyncSignatureRunner::SetAttributes(int tensor_index,
                                                 const TfLiteAttributeMap* attrs) {
  if (attrs == nullptr || !HasTensor(tensor_index)) return kTfLiteError;
  TfLiteAsyncKernel* const of = kernel();
  if (of == nullptr) return kTfLiteError;
  return Call("set_attributes", of->set_attributes, kTfLiteError, of, context(), node(),
              tensor_index, attrs);
}

TfLiteStatus AsyncSignatureRunner::PrepareBackends() {
  TfLiteAsyncKernel* const of = kernel();
  if (of == nullptr) return kTfLiteError;
  return Call("prepare", of->prepare, kTfLiteError, of, context(), node());
}

// ---- Execution ----------------------------------------------------------------------------------

TfLiteExecutionTask* AsyncSignatureRunner::CreateTask() const {
  return new TfLiteExecutionTask(signature_, binding_);
}

TfLiteStatus AsyncSignatureRunner::InvokeAsync(TfLiteExecutionTask* task) {
  TfLiteAsyncKernel* const by = KernelOf(task);
  if (by == nullptr) return kTfLiteError;
  if (!task->Begin()) {
    Report("The task has already been scheduled for execution.");
    return kTfLiteError;
  }
  const TfLiteStatus status = Call("eval", by->eval, kTfLiteError, by, context(), node(), task);
  task->SetStatus(status);
  return status;
}

TfLiteStatus AsyncSignatureRunner::Wait(TfLiteExecutionTask* task) {
  TfLiteAsyncKernel* const by = KernelOf(task);
  if (by == nullptr) return kTfLiteError;
  const uint64_t execution = task->running();
  if (execution == 0) return task->status();
  const TfLiteStatus status = Call("wait", by->wait, kTfLiteError, by, context(), task);
  task->End(execution, status);
  return status;
}

TfLiteStatus AsyncSignatureRunner::Finish(TfLiteExecutionTask* task) {
  TfLiteAsyncKernel* const by = KernelOf(task);
  if (task == nullptr || task->signature() != signature_) return kTfLiteError;
  const std::unique_ptr<TfLiteExecutionTask> owned(task);
  const TfLiteStatus status =
      by == nullptr ? kTfLiteError : Call("finish", by->finish, kTfLiteError, by, context(), task);
  if (status != kTfLiteOk) Report("Failed to finish task.");
  return status;
}

// ---- Tensors ------------------------------------------------------------------------------------

const TfLiteTensor* AsyncSignatureRunner::InputTensor(const char* name) const {
  const int index = FindTensor(kTfLiteIoTypeInput, name);
  if (index < 0) Report("Input name %s was not found", name == nullptr ? "(null)" : name);
  return subgraph()->graph().tensor(index);
}

const TfLiteTensor* AsyncSignatureRunner::OutputTensor(const char* name) const {
  const int index = FindTensor(kTfLiteIoTypeOutput, name);
  if (index < 0) Report("Output name %s was not found", name == nullptr ? "(null)" : name);
  return subgraph()->graph().tensor(index);
}

}  // namespace deputy
