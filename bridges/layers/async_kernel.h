// SPDX-License-Identifier: Apache-2.0
//
// Asynchronous kernels of a delegate within layers. The start of a task and waiting for it pass the
// layers; calls for buffers, attributes and the end of a task do not.
#ifndef DEPUTY_BRIDGES_LAYERS_ASYNC_KERNEL_H_
#define DEPUTY_BRIDGES_LAYERS_ASYNC_KERNEL_H_

#include "bridges/layers/graph_calls.h"
#include "bridges/layers/layer.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin_async.h"

namespace deputy::layers {

// Thread-safe as the inner kernel.
class AsyncKernel {
 public:
  // `call` describes the node's kernel, and `node` is the node as the inner delegate has to see it.
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
