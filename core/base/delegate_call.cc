// SPDX-License-Identifier: Apache-2.0
#include "core/base/delegate_call.h"

#include "core/validation/validation.h"

namespace deputy {
namespace {

TfLiteOpaqueContext* Opaque(TfLiteContext* context) {
  return reinterpret_cast<TfLiteOpaqueContext*>(context);
}

void NoteException(TfLiteContext* context, const char* what) {
  if (Validation* validation = ValidationOf(context)) validation->Exception(what);
}

}  // namespace

const TfLiteOpaqueDelegateBuilder* BuilderOf(const TfLiteDelegate* delegate) {
  const bool opaque = delegate->Prepare == nullptr && delegate->CopyFromBufferHandle == nullptr &&
                      delegate->FreeBufferHandle == nullptr;
  return opaque ? delegate->opaque_delegate_builder : nullptr;
}

TfLiteStatus CallDelegatePrepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  try {
    if (const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate)) {
      if (builder->Prepare == nullptr) return kTfLiteError;
      return builder->Prepare(Opaque(context), reinterpret_cast<TfLiteOpaqueDelegate*>(delegate),
                              builder->data);
    }
    return delegate->Prepare == nullptr ? kTfLiteError : delegate->Prepare(context, delegate);
  } catch (...) {
    NoteException(context, "Prepare threw an exception");
    return kTfLiteError;
  }
}

TfLiteStatus CallCopyFromBufferHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                                      TfLiteTensor* tensor) {
  try {
    if (const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate)) {
      if (builder->CopyFromBufferHandle == nullptr) return kTfLiteError;
      return builder->CopyFromBufferHandle(
          Opaque(context), reinterpret_cast<TfLiteOpaqueDelegate*>(delegate), builder->data,
          tensor->buffer_handle, reinterpret_cast<TfLiteOpaqueTensor*>(tensor));
    }
    if (delegate->CopyFromBufferHandle == nullptr) return kTfLiteError;
    return delegate->CopyFromBufferHandle(context, delegate, tensor->buffer_handle, tensor);
  } catch (...) {
    NoteException(context, "CopyFromBufferHandle threw an exception");
    return kTfLiteError;
  }
}

bool CallFreeBufferHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                          TfLiteBufferHandle* handle) {
  try {
    if (const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate)) {
      if (builder->FreeBufferHandle == nullptr) return false;
      builder->FreeBufferHandle(Opaque(context), reinterpret_cast<TfLiteOpaqueDelegate*>(delegate),
                                builder->data, handle);
      return true;
    }
    if (delegate->FreeBufferHandle == nullptr) return false;
    delegate->FreeBufferHandle(context, delegate, handle);
  } catch (...) {
    NoteException(context, "FreeBufferHandle threw an exception");
    // The handle is gone for us either way.
  }
  return true;
}

}  // namespace deputy
