// SPDX-License-Identifier: Apache-2.0
#include "c_api/include/async_signature_runner.h"

#include <cstddef>

#include "c_api/include/async_task.h"
#include "c_api/include/deputy_plugin_async.h"
#include "c_api/include/interop_attribute_map.h"
#include "c_api/src/objects.h"
#include "core/async/async_signature_runner.h"
#include "core/plugin/plugin_delegate.h"

struct TfLiteAsyncSignatureRunner {
  deputy::AsyncSignatureRunner* impl;  // runner that the interpreter owns
};

namespace {

using deputy::AsyncSignatureRunner;
using deputy::Guard;

const TfLiteOpaqueTensor* AsOpaque(const TfLiteTensor* tensor) {
  return reinterpret_cast<const TfLiteOpaqueTensor*>(tensor);
}

const DeputyAsyncRuntime kRuntime = {
    .struct_size = sizeof kRuntime,
    .buffer_ptr = &TfLiteBackendBufferGetPtr,
    .sync_ptr = &TfLiteSynchronizationGetPtr,
    .set_sync_ptr = &TfLiteSynchronizationSetPtr,
    .is_buffer_map = &TfLiteAttributeMapIsBufferAttributeMap,
    .copy_map = &TfLiteAttributeMapCopy,
    .get_size = &TfLiteAttributeMapGetSizeTBufferAttr,
    .set_size = &TfLiteAttributeMapSetSizeTBufferAttr,
    .get_string = &TfLiteAttributeMapGetStringBufferAttr,
    .set_string = &TfLiteAttributeMapSetStringBufferAttr,
    .get_sync_string = &TfLiteAttributeMapGetStringSyncAttr,
    .set_sync_string = &TfLiteAttributeMapSetStringSyncAttr,
    .task_buffer = &TfLiteExecutionTaskGetBufferByIndex,
    .task_sync = &TfLiteExecutionTaskGetSyncByIndex,
    .task_data = &TfLiteExecutionTaskGetDelegateExecutionData,
    .set_task_data = &TfLiteExecutionTaskSetDelegateExecutionData,
};

// Returns the kernel that the plug-in of the node's delegate has for it; null: none.
TfLiteAsyncKernel* FindPluginKernel(deputy::Subgraph* subgraph, TfLiteNode* node) {
  for (TfLiteDelegate* const delegate : subgraph->delegation().applied()) {
    const deputy::PluginDelegate parts = deputy::Unwrap(delegate);
    const DeputyDelegatePlugin* const plugin =
        parts.library == nullptr ? nullptr : parts.library->plugin();
    if (plugin == nullptr || plugin->async_kernel == nullptr || parts.inner != node->delegate) {
      continue;
    }
    return plugin->async_kernel(parts.inner, subgraph->context(), node, &kRuntime);
  }
  return nullptr;
}

// The kernel of a plug-in is a DeputyAsyncKernel.
static_assert(sizeof(DeputyAsyncKernel) == sizeof(TfLiteAsyncKernel) &&
              offsetof(DeputyAsyncKernel, register_buffer) ==
                  offsetof(TfLiteAsyncKernel, register_buffer) &&
              offsetof(DeputyAsyncKernel, prepare) == offsetof(TfLiteAsyncKernel, prepare) &&
              offsetof(DeputyAsyncKernel, finish) == offsetof(TfLiteAsyncKernel, finish));

TfLiteStatus ReturnTypes(const AsyncSignatureRunner::Types* found, const char* const** types,
                         size_t* num_types) {
  if (found == nullptr) return kTfLiteError;
  *types = found->data();
  *num_types = found->size();
  return kTfLiteOk;
}

}  // namespace

TfLiteAsyncSignatureRunner* TfLiteInterpreterGetAsyncSignatureRunner(
    const TfLiteInterpreter* interpreter, const char* signature_key) {
  if (interpreter == nullptr) return nullptr;
  return Guard(nullptr, [&]() -> TfLiteAsyncSignatureRunner* {
    deputy::SignatureRunner* const signature = interpreter->impl->GetSignatureRunner(signature_key);
    if (signature == nullptr) return nullptr;
    AsyncSignatureRunner& runner =
        interpreter->async_runners.try_emplace(signature, signature, &FindPluginKernel)
            .first->second;
    runner.Bind();
    return new TfLiteAsyncSignatureRunner{&runner};
  });
}

TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBuffer(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const TfLiteBackendBuffer* buffer, const TfLiteAttributeMap* attrs,
    TfLiteBufferHandle* handle) {
  return async_signature_runner == nullptr
             ? kTfLiteError
             : async_signature_runner->impl->RegisterBuffer(io_type, buffer, attrs, handle);
}

TfLiteStatus TfLiteAsyncSignatureRunnerRegisterBufferSlice(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteBufferHandle buffer_pool,
    const TfLiteAttributeMap* attrs, TfLiteBufferHandle* handle) {
  return async_signature_runner == nullptr
             ? kTfLiteError
             : async_signature_runner->impl->RegisterBufferSlice(buffer_pool, attrs, handle);
}

TfLiteStatus TfLiteAsyncSignatureRunnerUnregisterBuffer(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteBufferHandle handle) {
  return async_signature_runner == nullptr ? kTfLiteError
                                           : async_signature_runner->impl->UnregisterBuffer(handle);
}

TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedBufferTypes(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* const** types, size_t* num_types) {
  if (async_signature_runner == nullptr || types == nullptr || num_types == nullptr) {
    return kTfLiteError;
  }
  return ReturnTypes(async_signature_runner->impl->SupportedBufferTypes(io_type), types, num_types);
}

TfLiteStatus TfLiteAsyncSignatureRunnerGetSupportedSynchronizationTypes(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* const** types, size_t* num_types) {
  if (async_signature_runner == nullptr || types == nullptr || num_types == nullptr) {
    return kTfLiteError;
  }
  return ReturnTypes(async_signature_runner->impl->SupportedSynchronizations(io_type), types,
                     num_types);
}

bool TfLiteAsyncSignatureRunnerReconcileRestrictions(
    const TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type,
    const char* name, const TfLiteAttributeMap* user_provided_attributes,
    TfLiteAttributeMap* merged, TfLiteAttributeMap* conflict) {
  return async_signature_runner != nullptr &&
         async_signature_runner->impl->ReconcileRestrictions(
             async_signature_runner->impl->FindTensor(io_type, name), user_provided_attributes,
             merged, conflict);
}

bool TfLiteAsyncSignatureRunnerReconcileRestrictionsByIndex(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int tensor_index,
    const TfLiteAttributeMap* user_provided_attributes, TfLiteAttributeMap* merged,
    TfLiteAttributeMap* conflict) {
  return async_signature_runner != nullptr &&
         async_signature_runner->impl->ReconcileRestrictions(tensor_index, user_provided_attributes,
                                                             merged, conflict);
}

TfLiteStatus TfLiteAsyncSignatureRunnerSetAttributes(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteIoType io_type, const char* name,
    const TfLiteAttributeMap* attrs) {
  return async_signature_runner == nullptr
             ? kTfLiteError
             : async_signature_runner->impl->SetAttributes(
                   async_signature_runner->impl->FindTensor(io_type, name), attrs);
}

TfLiteStatus TfLiteAsyncSignatureRunnerSetAttributesByIndex(
    TfLiteAsyncSignatureRunner* async_signature_runner, int tensor_index,
    const TfLiteAttributeMap* attrs) {
  return async_signature_runner == nullptr
             ? kTfLiteError
             : async_signature_runner->impl->SetAttributes(tensor_index, attrs);
}

TfLiteStatus TfLiteAsyncSignatureRunnerPrepareBackends(
    TfLiteAsyncSignatureRunner* async_signature_runner) {
  return async_signature_runner == nullptr ? kTfLiteError
                                           : async_signature_runner->impl->PrepareBackends();
}

TfLiteExecutionTask* TfLiteAsyncSignatureRunnerCreateTask(
    TfLiteAsyncSignatureRunner* async_signature_runner) {
  if (async_signature_runner == nullptr) return nullptr;
  return Guard(nullptr, [&] { return async_signature_runner->impl->CreateTask(); });
}

TfLiteStatus TfLiteAsyncSignatureRunnerInvokeAsync(
    TfLiteAsyncSignatureRunner* async_signature_runner, TfLiteExecutionTask* task) {
  return async_signature_runner == nullptr ? kTfLiteError
                                           : async_signature_runner->impl->InvokeAsync(task);
}

TfLiteStatus TfLiteAsyncSignatureRunnerWait(TfLiteAsyncSignatureRunner* async_signature_runner,
                                            TfLiteExecutionTask* task) {
  return async_signature_runner == nullptr ? kTfLiteError
                                           : async_signature_runner->impl->Wait(task);
}

TfLiteStatus TfLiteAsyncSignatureRunnerFinish(TfLiteAsyncSignatureRunner* async_signature_runner,
                                              TfLiteExecutionTask* task) {
  return async_signature_runner == nullptr ? kTfLiteError
                                           : async_signature_runner->impl->Finish(task);
}

size_t TfLiteAsyncSignatureRunnerGetInputCount(
    const TfLiteAsyncSignatureRunner* async_signature_runner) {
  return async_signature_runner == nullptr
             ? 0
             : async_signature_runner->impl->signature().input_count();
}

const char* TfLiteAsyncSignatureRunnerGetInputName(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int32_t input_index) {
  return async_signature_runner == nullptr
             ? nullptr
             : async_signature_runner->impl->signature().InputName(input_index);
}

size_t TfLiteAsyncSignatureRunnerGetOutputCount(
    const TfLiteAsyncSignatureRunner* async_signature_runner) {
  return async_signature_runner == nullptr
             ? 0
             : async_signature_runner->impl->signature().output_count();
}

const char* TfLiteAsyncSignatureRunnerGetOutputName(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int32_t output_index) {
  return async_signature_runner == nullptr
             ? nullptr
             : async_signature_runner->impl->signature().OutputName(output_index);
}

const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetInputTensor(
    TfLiteAsyncSignatureRunner* async_signature_runner, const char* input_name) {
  return async_signature_runner == nullptr
             ? nullptr
             : AsOpaque(async_signature_runner->impl->InputTensor(input_name));
}

const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetOutputTensor(
    const TfLiteAsyncSignatureRunner* async_signature_runner, const char* output_name) {
  return async_signature_runner == nullptr
             ? nullptr
             : AsOpaque(async_signature_runner->impl->OutputTensor(output_name));
}

void TfLiteAsyncSignatureRunnerDelete(TfLiteAsyncSignatureRunner* signature_runner) {
  delete signature_runner;
}

const int* TfLiteAsyncSignatureRunnerInputTensorIndices(
    const TfLiteAsyncSignatureRunner* async_signature_runner) {
  return async_signature_runner == nullptr
             ? nullptr
             : async_signature_runner->impl->subgraph()->graph().inputs().data();
}

const int* TfLiteAsyncSignatureRunnerOutputTensorIndices(
    const TfLiteAsyncSignatureRunner* async_signature_runner) {
  return async_signature_runner == nullptr
             ? nullptr
             : async_signature_runner->impl->subgraph()->graph().outputs().data();
}

const TfLiteOpaqueTensor* TfLiteAsyncSignatureRunnerGetTensor(
    const TfLiteAsyncSignatureRunner* async_signature_runner, int index) {
  return async_signature_runner == nullptr
             ? nullptr
             : AsOpaque(async_signature_runner->impl->subgraph()->graph().tensor(index));
}
