// SPDX-License-Identifier: Apache-2.0
//
// A delegate whose table of callbacks forwards to virtual functions, so that a wrapper can be used
// in place of a delegate. The library recognises its own proxies by a query.
#ifndef DEPUTY_CORE_PLUGIN_DELEGATE_PROXY_H_
#define DEPUTY_CORE_PLUGIN_DELEGATE_PROXY_H_

#include <cstdint>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/common.h"

namespace deputy {

class DelegateProxy {
 public:
  // Optional functions: true if the delegate, and therefore the table, has one. Prepare always
  // exists.
  struct Functions {
    bool copy_from = false, copy_to = false, free_handle = false;
  };

  // Fills the table: that of an opaque delegate if `is_opaque`. May throw bad_alloc.
  DelegateProxy(int64_t flags, const Functions& functions, bool is_opaque);
  virtual ~DelegateProxy();
  DelegateProxy(const DelegateProxy&) = delete;
  DelegateProxy& operator=(const DelegateProxy&) = delete;

  // Returns the delegate that clients pass to interpreters. It lives as long as this object.
  TfLiteDelegate* handle() { return &table_; }

  // Returns the proxy with this handle; null for any other delegate. Accepts any pointer.
  // Thread-safe.
  static DelegateProxy* Of(const TfLiteDelegate* delegate);
  // Returns the proxy whose functions the delegate's table calls: also for a copy that a client has
  // made of a handle's struct. Null for other delegates; `delegate` must be valid. Thread-safe.
  static DelegateProxy* Behind(const TfLiteDelegate& delegate);

  // ---- Functions of the delegate. Called like those of a TfLiteDelegate; may throw. -------------
  virtual TfLiteStatus Prepare(TfLiteContext* context) = 0;
  virtual TfLiteStatus CopyFromBufferHandle(TfLiteContext* context, TfLiteBufferHandle handle,
                                            TfLiteTensor* tensor) = 0;
  virtual TfLiteStatus CopyToBufferHandle(TfLiteContext* context, TfLiteBufferHandle handle,
                                          TfLiteTensor* tensor) = 0;
  virtual void FreeBufferHandle(TfLiteContext* context, TfLiteBufferHandle* handle) = 0;

 private:
  TfLiteDelegate table_ = {};
  TfLiteOpaqueDelegateBuilder builder_ = {};  // callbacks of an opaque table
};

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_DELEGATE_PROXY_H_
