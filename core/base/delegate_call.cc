// SPDX-License-Identifier: Apache-2.0
#include "core/base/delegate_call.h"

namespace deputy {
namespace {

TfLiteOpaqueContext* Opaque(TfLiteContext* context) {
  return reinterpret_cast<TfLiteOpaqueContext*>(context);
}
TfLiteOpaqueDelegate* Opaque(TfLiteDelegate* delegate) {
  return reinterpret_cast<TfLiteOpaqueDelegate*>(delegate);
}

}  // namespace

const TfLiteOpaqueDelegateBuilder* BuilderOf(const TfLiteDelegate* delegate) {
  const bool opaque = delegate->Prepare == nullptr && delegate->CopyFromBufferHandle == nullptr &&
                      delegate->FreeBufferHandle == nullptr;
  return opaque ? delegate->opaque_delegate_builder : nullptr;
}

TfLiteStatus ForwardDelegatePrepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  if (const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate)) {
    if (builder->Prepare == nullptr) return kTfLiteError;
    return builder->Prepare(Opaque(context), Opaque(delegate), builder->data);
  }
  return delegate->Prepare == nullptr ? kTfLiteError : delegate->Prepare(context, delegate);
}

bool ForwardFreeBufferHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                             TfLiteBufferHandle* handle) {
  if (const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate)) {
    if (builder->FreeBufferHandle == nullptr) return false;
    builder->FreeBufferHandle(Opaque(context), Opaque(delegate), builder->data, handle);
    return true;
  }
  if (delegate->FreeBufferHandle == nullptr) return false;
  delegate->FreeBufferHandle(context, delegate, handle);
  return true;
}

CallResult CallDelegatePrepare(CallObserver* observer, const ForeignCall& call) {
  return CallForeign(observer, call, [&](CallResult* out) {
    out->status = ForwardDelegatePrepare(call.context, call.delegate);
  });
}

CallResult CallCopyFromBufferHandle(CallObserver* observer, const ForeignCall& call,
                                    TfLiteTensor* tensor) {
  return CallForeign(observer, call, [&](CallResult* out) {
    TfLiteDelegate* const delegate = call.delegate;
    const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate);
    out->status = kTfLiteError;
    if (builder != nullptr && builder->CopyFromBufferHandle != nullptr) {
      out->status = builder->CopyFromBufferHandle(Opaque(call.context), Opaque(delegate),
                                                  builder->data, tensor->buffer_handle,
                                                  reinterpret_cast<TfLiteOpaqueTensor*>(tensor));
    } else if (builder == nullptr && delegate->CopyFromBufferHandle != nullptr) {
      out->status =
          delegate->CopyFromBufferHandle(call.context, delegate, tensor->buffer_handle, tensor);
    }
  });
}

bool CallFreeBufferHandle(CallObserver* observer, const ForeignCall& call,
                          TfLiteBufferHandle* handle) {
  bool has_function = true;  // true if the callback throws, too: the handle counts as freed
  CallForeign(observer, call, [&](CallResult*) {
    has_function = ForwardFreeBufferHandle(call.context, call.delegate, handle);
  });
  return has_function;
}

}  // namespace deputy
