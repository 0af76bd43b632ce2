// SPDX-License-Identifier: Apache-2.0
#include "c_api/include/async_kernel.h"

#include <new>

#include "core/async/async_kernel.h"

namespace {

// Sets a function of the kernel, which may be null.
template <typename Function>
void SetFunction(TfLiteAsyncKernel* kernel, Function TfLiteAsyncKernel::*member,
                 Function function) {
  if (kernel != nullptr) kernel->*member = function;
}

}  // namespace

TfLiteAsyncKernel* TfLiteAsyncKernelCreate(void* kernel_data) {
  auto* const kernel = new (std::nothrow) TfLiteAsyncKernel();
  if (kernel != nullptr) kernel->kernel_data = kernel_data;
  return kernel;
}

void* TfLiteAsyncKernelGetKernelData(const TfLiteAsyncKernel* async_kernel) {
  return async_kernel == nullptr ? nullptr : async_kernel->kernel_data;
}

void TfLiteAsyncKernelSetRegisterBuffer(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*register_buffer)(TfLiteAsyncKernel*, TfLiteOpaqueContext*, TfLiteIoType,
                                    const TfLiteBackendBuffer*, const TfLiteAttributeMap*,
                                    TfLiteBufferHandle)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::register_buffer, register_buffer);
}

void TfLiteAsyncKernelSetRegisterBufferSlice(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*register_buffer_slice)(TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                                          TfLiteBufferHandle, const TfLiteAttributeMap*,
                                          TfLiteBufferHandle)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::register_buffer_slice, register_buffer_slice);
}

void TfLiteAsyncKernelSetUnregisterBuffer(TfLiteAsyncKernel* async_kernel,
                                          TfLiteStatus (*unregister_buffer)(TfLiteAsyncKernel*,
                                                                            TfLiteOpaqueContext*,
                                                                            TfLiteBufferHandle)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::unregister_buffer, unregister_buffer);
}

void TfLiteAsyncKernelSetSupportedBufferTypes(
    TfLiteAsyncKernel* async_kernel,
    void (*supported_buffer_types)(const TfLiteAsyncKernel*, TfLiteIoType, const char* const**,
                                   size_t*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::supported_buffer_types, supported_buffer_types);
}

void TfLiteAsyncKernelSetSupportedSynchronizations(
    TfLiteAsyncKernel* async_kernel,
    void (*supported_synchronizations)(const TfLiteAsyncKernel*, TfLiteIoType, const char* const**,
                                       size_t*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::supported_synchronizations,
              supported_synchronizations);
}

void TfLiteAsyncKernelSetReconcileRestrictions(
    TfLiteAsyncKernel* async_kernel,
    bool (*reconcile_restrictions)(const TfLiteAsyncKernel*, const TfLiteOpaqueContext*,
                                   const TfLiteOpaqueNode*, int, const TfLiteAttributeMap*,
                                   TfLiteAttributeMap*, TfLiteAttributeMap*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::reconcile_restrictions, reconcile_restrictions);
}

void TfLiteAsyncKernelSetSetAttributes(TfLiteAsyncKernel* async_kernel,
                                       TfLiteStatus (*set_attributes)(TfLiteAsyncKernel*,
                                                                      TfLiteOpaqueContext*,
                                                                      TfLiteOpaqueNode*, int,
                                                                      const TfLiteAttributeMap*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::set_attributes, set_attributes);
}

void TfLiteAsyncKernelSetSetBufferAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*set_buffer_attributes)(TfLiteAsyncKernel*, const TfLiteBackendBuffer*,
                                          const TfLiteAttributeMap*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::set_buffer_attributes, set_buffer_attributes);
}

void TfLiteAsyncKernelSetGetBufferAttributes(
    TfLiteAsyncKernel* async_kernel,
    TfLiteStatus (*get_buffer_attributes)(TfLiteAsyncKernel*, const TfLiteBackendBuffer*,
                                          TfLiteAttributeMap*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::get_buffer_attributes, get_buffer_attributes);
}

void TfLiteAsyncKernelSetPrepare(TfLiteAsyncKernel* async_kernel,
                                 TfLiteStatus (*prepare)(TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                                                         TfLiteOpaqueNode*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::prepare, prepare);
}

void TfLiteAsyncKernelSetEval(TfLiteAsyncKernel* async_kernel,
                              TfLiteStatus (*eval)(TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                                                   TfLiteOpaqueNode*, TfLiteExecutionTask*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::eval, eval);
}

void TfLiteAsyncKernelSetWait(TfLiteAsyncKernel* async_kernel,
                              TfLiteStatus (*wait)(TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                                                   TfLiteExecutionTask*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::wait, wait);
}

void TfLiteAsyncKernelSetFinish(TfLiteAsyncKernel* async_kernel,
                                TfLiteStatus (*finish)(TfLiteAsyncKernel*, TfLiteOpaqueContext*,
                                                       TfLiteExecutionTask*)) {
  SetFunction(async_kernel, &TfLiteAsyncKernel::finish, finish);
}

void TfLiteAsyncKernelDelete(TfLiteAsyncKernel* kernel) { delete kernel; }
