// SPDX-License-Identifier: Apache-2.0
//
// Operator objects, under the current names and under those before TensorFlow 2.17.
//
// The old names are defined here as functions, for programs compiled with old headers. This file
// must not include registration_external.h, which defines the same names as constants for new
// sources.
#include "c_api/include/operator.h"

#include <new>

#include "core/base/operator_object.h"

extern "C" {

TfLiteOperator* TfLiteOperatorCreate(TfLiteBuiltinOperator builtin_code, const char* custom_name,
                                     int version, void* user_data) {
  auto* op = new (std::nothrow) TfLiteOperator();
  if (op == nullptr) return nullptr;
  op->builtin_code = builtin_code;
  op->custom_name = custom_name;
  op->version = version;
  op->user_data = user_data;
  return op;
}

void TfLiteOperatorDelete(TfLiteOperator* registration) { delete registration; }

TfLiteBuiltinOperator TfLiteOperatorGetBuiltInCode(const TfLiteOperator* registration) {
  if (registration == nullptr) return kTfLiteBuiltinCustom;
  return static_cast<TfLiteBuiltinOperator>(registration->builtin_code);
}

const char* TfLiteOperatorGetCustomName(const TfLiteOperator* registration) {
  return registration == nullptr ? nullptr : registration->custom_name;
}

int TfLiteOperatorGetVersion(const TfLiteOperator* registration) {
  return registration == nullptr ? -1 : registration->version;
}

void* TfLiteOperatorGetUserData(const TfLiteOperator* registration) {
  return registration == nullptr ? nullptr : registration->user_data;
}

void TfLiteOperatorSetInit(TfLiteOperator* registration,
                           void* (*init)(TfLiteOpaqueContext*, const char*, size_t)) {
  if (registration != nullptr) registration->init = init;
}

TfLiteStatus TfLiteOperatorSetInitWithData(TfLiteOperator* registration,
                                           void* (*init)(void*, TfLiteOpaqueContext*, const char*,
                                                         size_t)) {
  if (registration == nullptr) return kTfLiteError;
  registration->init_with_data = init;
  return kTfLiteOk;
}

void TfLiteOperatorSetFree(TfLiteOperator* registration,
                           void (*free)(TfLiteOpaqueContext*, void*)) {
  if (registration != nullptr) registration->free = free;
}

TfLiteStatus TfLiteOperatorSetFreeWithData(TfLiteOperator* registration,
                                           void (*free)(void*, TfLiteOpaqueContext*, void*)) {
  if (registration == nullptr) return kTfLiteError;
  registration->free_with_data = free;
  return kTfLiteOk;
}

void TfLiteOperatorSetPrepare(TfLiteOperator* registration,
                              TfLiteStatus (*prepare)(TfLiteOpaqueContext*, TfLiteOpaqueNode*)) {
  if (registration != nullptr) registration->prepare = prepare;
}

TfLiteStatus TfLiteOperatorSetPrepareWithData(TfLiteOperator* registration,
                                              TfLiteStatus (*prepare)(void*, TfLiteOpaqueContext*,
                                                                      TfLiteOpaqueNode*)) {
  if (registration == nullptr) return kTfLiteError;
  registration->prepare_with_data = prepare;
  return kTfLiteOk;
}

void TfLiteOperatorSetInvoke(TfLiteOperator* registration,
                             TfLiteStatus (*invoke)(TfLiteOpaqueContext*, TfLiteOpaqueNode*)) {
  if (registration != nullptr) registration->invoke = invoke;
}

TfLiteStatus TfLiteOperatorSetInvokeWithData(TfLiteOperator* registration,
                                             TfLiteStatus (*invoke)(void*, TfLiteOpaqueContext*,
                                                                    TfLiteOpaqueNode*)) {
  if (registration == nullptr) return kTfLiteError;
  registration->invoke_with_data = invoke;
  return kTfLiteOk;
}

void TfLiteOperatorSetAsyncKernel(TfLiteOperator* registration,
                                  struct TfLiteAsyncKernel* (*async_kernel)(TfLiteOpaqueContext*,
                                                                            TfLiteOpaqueNode*)) {
  if (registration != nullptr) registration->async_kernel = async_kernel;
}

TfLiteStatus TfLiteOperatorSetAsyncKernelWithData(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(void*, TfLiteOpaqueContext*, TfLiteOpaqueNode*)) {
  if (registration == nullptr) return kTfLiteError;
  registration->async_kernel_with_data = async_kernel;
  return kTfLiteOk;
}

void TfLiteOperatorSetInplaceOperator(TfLiteOperator* registration, uint64_t inplace_operator) {
  if (registration != nullptr) registration->inplace_operator = inplace_operator;
}

// ---- Names of TensorFlow 2.17 and older ----

// Creates an operator with user data. In TensorFlow 2.17 and 2.18 only this function had user data;
// their TfLiteOperatorCreate had three parameters. A program that calls it through such a
// declaration passes an undefined `user_data`, which only callbacks with data receive.
TFL_CAPI_EXPORT TfLiteOperator* TfLiteOperatorCreateWithData(TfLiteBuiltinOperator builtin_code,
                                                             const char* custom_name, int version,
                                                             void* user_data) {
  return TfLiteOperatorCreate(builtin_code, custom_name, version, user_data);
}

TFL_CAPI_EXPORT TfLiteOperator* TfLiteRegistrationExternalCreate(TfLiteBuiltinOperator builtin_code,
                                                                 const char* custom_name,
                                                                 int version) {
  return TfLiteOperatorCreate(builtin_code, custom_name, version, nullptr);
}

TFL_CAPI_EXPORT void TfLiteRegistrationExternalDelete(TfLiteOperator* registration) {
  TfLiteOperatorDelete(registration);
}

TFL_CAPI_EXPORT TfLiteBuiltinOperator
TfLiteRegistrationExternalGetBuiltInCode(const TfLiteOperator* registration) {
  return TfLiteOperatorGetBuiltInCode(registration);
}

TFL_CAPI_EXPORT const char* TfLiteRegistrationExternalGetCustomName(
    const TfLiteOperator* registration) {
  return TfLiteOperatorGetCustomName(registration);
}

TFL_CAPI_EXPORT int TfLiteRegistrationExternalGetVersion(const TfLiteOperator* registration) {
  return TfLiteOperatorGetVersion(registration);
}

TFL_CAPI_EXPORT void TfLiteRegistrationExternalSetInit(TfLiteOperator* registration,
                                                       void* (*init)(TfLiteOpaqueContext*,
                                                                     const char*, size_t)) {
  TfLiteOperatorSetInit(registration, init);
}

TFL_CAPI_EXPORT void TfLiteRegistrationExternalSetFree(TfLiteOperator* registration,
                                                       void (*free)(TfLiteOpaqueContext*, void*)) {
  TfLiteOperatorSetFree(registration, free);
}

TFL_CAPI_EXPORT void TfLiteRegistrationExternalSetPrepare(
    TfLiteOperator* registration,
    TfLiteStatus (*prepare)(TfLiteOpaqueContext*, TfLiteOpaqueNode*)) {
  TfLiteOperatorSetPrepare(registration, prepare);
}

TFL_CAPI_EXPORT void TfLiteRegistrationExternalSetInvoke(
    TfLiteOperator* registration, TfLiteStatus (*invoke)(TfLiteOpaqueContext*, TfLiteOpaqueNode*)) {
  TfLiteOperatorSetInvoke(registration, invoke);
}

TFL_CAPI_EXPORT void TfLiteRegistrationExternalSetAsyncKernel(
    TfLiteOperator* registration,
    struct TfLiteAsyncKernel* (*async_kernel)(TfLiteOpaqueContext*, TfLiteOpaqueNode*)) {
  TfLiteOperatorSetAsyncKernel(registration, async_kernel);
}

TFL_CAPI_EXPORT void TfLiteRegistrationExternalSetInplaceOperator(TfLiteOperator* registration,
                                                                  uint64_t inplace_operator) {
  TfLiteOperatorSetInplaceOperator(registration, inplace_operator);
}

}  // extern "C"
