// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous kernels of a delegate within layers. The start of a task and the wait for its end
// pass through the layers; the kernel's other functions are called directly.
#ifndef DEPUTY_BRIDGES_LAYERS_ASYNC_KERNEL_H_
#define DEPUTY_BRIDGES_LAYERS_ASYNC_KERNEL_H_

#include "bridges/layers/graph_calls.h"
#include "bridges/layers/layer.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin_async.h"

namespace deputy::layers {

// The kernel that the runtime gets instead of the delegate's kernel `inner`. It has the functions
// that `inner` has, and the same thread safety.
class AsyncKernel {
 public:
  // `call` describes the node's kernel, and `node` is the node that the inner delegate gets.
  // `runner` and `inner` must outlive the object.
  AsyncKernel(const CallRunner* runner, const LayerCall& call, const TfLiteNode& node,
              TfLiteAsyncKernel* inner);
  AsyncKernel(const AsyncKernel&) = delete;
  AsyncKernel& operator=(const AsyncKernel&) = delete;

  TfLiteAsyncKernel* table() { return reinterpret_cast<TfLiteAsyncKernel*>(&functions_); }

 private:
  struct Functions;

  DeputyAsyncKernel functions_{};
  const CallRunner* const runner_;
  const LayerCall call_;
  TfLiteNode node_;
  TfLiteAsyncKernel* const inner_;
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_ASYNC_KERNEL_H_
