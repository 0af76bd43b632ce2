// SPDX-License-Identifier: Apache-2.0
//
// A delegate that wraps another one, the inner delegate, and passes every call through layers. The
// inner delegate may be plain or opaque; the wrapper is plain. While the inner delegate prepares,
// the context's function that replaces nodes is exchanged, so that the runtime gets kernels of the
// wrapper. In the runtime, nodes and tensors refer to the wrapper; while a function of the inner
// delegate runs, its node and the node's tensors refer to the inner delegate.
#ifndef DEPUTY_BRIDGES_LAYERS_INTERPOSER_H_
#define DEPUTY_BRIDGES_LAYERS_INTERPOSER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "bridges/layers/graph_calls.h"
#include "bridges/layers/layer.h"
#include "deputy/common.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_async.h"

namespace deputy::layers {

struct Kernel;

class Interposer : public CallRunner {
 public:
  // `inner` must be valid until this object is destroyed. The first layer is the outermost one.
  Interposer(TfLiteDelegate* inner, bool reports_events,
             std::vector<std::unique_ptr<Layer>> layers);
  ~Interposer() override = default;
  Interposer(const Interposer&) = delete;
  Interposer& operator=(const Interposer&) = delete;

  TfLiteDelegate* table() { return &table_; }
  TfLiteDelegate* inner() const { return inner_; }
  // Returns the object of a table.
  static Interposer& Of(const TfLiteDelegate* table) {
    return *static_cast<Interposer*>(table->data_);
  }

  TfLiteStatus Run(const LayerCall& call,
                   const std::function<TfLiteStatus()>& call_inner) const override;

  // Passes the model to all layers.
  void SetModel(const void* data, size_t size) const;

  // Calls node_events of the inner delegate's plug-in.
  TfLiteStatus NodeEvents(const DeputyDelegatePlugin& plugin, TfLiteContext* context,
                          TfLiteNode* node, DeputyNodeEventCallback callback,
                          void* user_data) const;

  // Returns the asynchronous kernel of the inner delegate's node within the layers. Returns null if
  // there is none, or after a report if a layer does not support it. The node owns the kernel. May
  // throw bad_alloc.
  TfLiteAsyncKernel* NewAsyncKernel(const DeputyDelegatePlugin& plugin, TfLiteContext* context,
                                    TfLiteNode* node, const DeputyAsyncRuntime* runtime) const;

  // Returns the number of a new kernel, from 0.
  int CountKernel();
  // Sets the delegate that the inner delegate passes to the runtime when it replaces nodes: itself,
  // or another one to which it forwards its calls. Thread-safe.
  void SetOwner(TfLiteDelegate* owner);
  // Takes ownership of an operator that the inner delegate has passed to the runtime. The operator
  // is deleted with the last copy of the results of all calls with it. Returns null for null.
  std::shared_ptr<TfLiteOperator> Adopt(TfLiteOperator* op);
  TfLiteDelegate* owner() const;

 private:
  TfLiteDelegate table_{};
  TfLiteDelegate* const inner_;
  const std::vector<std::unique_ptr<Layer>> layers_;
  mutable std::mutex mutex_;  // guards the following members
  TfLiteDelegate* owner_;
  int kernels_ = 0;
  std::map<const TfLiteOperator*, std::weak_ptr<TfLiteOperator>> operators_;
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_INTERPOSER_H_
