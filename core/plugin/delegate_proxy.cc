// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/delegate_proxy.h"

#include <map>
#include <mutex>
#include <shared_mutex>

#include "core/base/delegate_call.h"

namespace deputy {
namespace {

// The proxies of this library by their handles.
class Registry {
 public:
  static Registry& Get() {
    // The registry is never destroyed: delegates may be deleted while the process ends.
    static auto* const registry = new Registry;
    return *registry;
  }
  void Add(const TfLiteDelegate* handle, DelegateProxy* proxy) {
    const std::unique_lock lock(mutex_);
    proxies_[handle] = proxy;
  }
  void Remove(const TfLiteDelegate* handle) {
    const std::unique_lock lock(mutex_);
    proxies_.erase(handle);
  }
  DelegateProxy* Find(const TfLiteDelegate* handle) const {
    const std::shared_lock lock(mutex_);
    const auto found = proxies_.find(handle);
    return found == proxies_.end() ? nullptr : found->second;
  }
  // `data` is the data pointer of any delegate's table.
  DelegateProxy* FindByData(const void* data) const {
    const std::shared_lock lock(mutex_);
    for (const auto& [handle, proxy] : proxies_) {
      if (proxy == data) return proxy;
    }
    return nullptr;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<const TfLiteDelegate*, DelegateProxy*> proxies_;
};

// ---- Functions of the tables --------------------------------------------------------------------
// The callbacks find their proxy by the table's data, without the registry: a client may copy the
// table.

DelegateProxy* ProxyOf(void* data) { return static_cast<DelegateProxy*>(data); }
TfLiteContext* Plain(TfLiteOpaqueContext* context) {
  return reinterpret_cast<TfLiteContext*>(context);
}
TfLiteTensor* Plain(TfLiteOpaqueTensor* tensor) { return reinterpret_cast<TfLiteTensor*>(tensor); }

TfLiteStatus Prepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  return ProxyOf(delegate->data_)->Prepare(context);
}
TfLiteStatus CopyFrom(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                      TfLiteTensor* tensor) {
  return ProxyOf(delegate->data_)->CopyFromBufferHandle(context, handle, tensor);
}
TfLiteStatus CopyTo(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle handle,
                    TfLiteTensor* tensor) {
  return ProxyOf(delegate->data_)->CopyToBufferHandle(context, handle, tensor);
}
void FreeHandle(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle* handle) {
  ProxyOf(delegate->data_)->FreeBufferHandle(context, handle);
}

TfLiteStatus OpaquePrepare(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*, void* data) {
  return ProxyOf(data)->Prepare(Plain(context));
}
TfLiteStatus OpaqueCopyFrom(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*, void* data,
                            TfLiteBufferHandle handle, TfLiteOpaqueTensor* tensor) {
  return ProxyOf(data)->CopyFromBufferHandle(Plain(context), handle, Plain(tensor));
}
TfLiteStatus OpaqueCopyTo(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*, void* data,
                          TfLiteBufferHandle handle, TfLiteOpaqueTensor* tensor) {
  return ProxyOf(data)->CopyToBufferHandle(Plain(context), handle, Plain(tensor));
}
void OpaqueFreeHandle(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*, void* data,
                      TfLiteBufferHandle* handle) {
  ProxyOf(data)->FreeBufferHandle(Plain(context), handle);
}

}  // namespace

DelegateProxy::DelegateProxy(int64_t flags, const Functions& functions, bool is_opaque) {
  table_.data_ = this;
  if (is_opaque) {
    builder_.data = this;
    builder_.flags = flags;
    builder_.Prepare = &OpaquePrepare;
    if (functions.copy_from) builder_.CopyFromBufferHandle = &OpaqueCopyFrom;
    if (functions.copy_to) builder_.CopyToBufferHandle = &OpaqueCopyTo;
    if (functions.free_handle) builder_.FreeBufferHandle = &OpaqueFreeHandle;
    table_.opaque_delegate_builder = &builder_;
  } else {
    table_.flags = flags;
    table_.Prepare = &deputy::Prepare;
    if (functions.copy_from) table_.CopyFromBufferHandle = &CopyFrom;
    if (functions.copy_to) table_.CopyToBufferHandle = &CopyTo;
    if (functions.free_handle) table_.FreeBufferHandle = &FreeHandle;
  }
  Registry::Get().Add(&table_, this);
}

DelegateProxy::~DelegateProxy() { Registry::Get().Remove(&table_); }

DelegateProxy* DelegateProxy::Of(const TfLiteDelegate* delegate) {
  return Registry::Get().Find(delegate);
}

DelegateProxy* DelegateProxy::Behind(const TfLiteDelegate& delegate) {
  const TfLiteOpaqueDelegateBuilder* const builder = BuilderOf(&delegate);
  return Registry::Get().FindByData(builder != nullptr ? builder->data : delegate.data_);
}

}  // namespace deputy
