// SPDX-License-Identifier: Apache-2.0
//
// Passes the calls by which a delegate changes the tensors of a graph through layers.
#ifndef DEPUTY_BRIDGES_LAYERS_GRAPH_CALLS_H_
#define DEPUTY_BRIDGES_LAYERS_GRAPH_CALLS_H_

#include <functional>

#include "bridges/layers/layer.h"
#include "deputy/common.h"

namespace deputy::layers {

// Passes calls through layers.
class CallRunner {
 public:
  virtual ~CallRunner() = default;
  // `call_inner` makes the call itself.
  virtual TfLiteStatus Run(const LayerCall& call,
                           const std::function<TfLiteStatus()>& call_inner) const = 0;
};

// RAII guard: exchanges ResizeTensor and AddTensors of a context while a function of a delegate or
// of its kernel runs.
class GraphCalls {
 public:
  // `caller` is the call during which the functions are exchanged.
  GraphCalls(const LayerCall& caller, const CallRunner* runner);
  ~GraphCalls();
  GraphCalls(const GraphCalls&) = delete;
  GraphCalls& operator=(const GraphCalls&) = delete;

  // RAII guard: the context has the functions of the runtime, or of layers outside of all objects.
  class Suspended {
   public:
    explicit Suspended(TfLiteContext* context);
    ~Suspended();
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;

   private:
    TfLiteContext* const context_;
    const decltype(TfLiteContext::ResizeTensor) resize_tensor_;
    const decltype(TfLiteContext::AddTensors) add_tensors_;
  };

 private:
  static TfLiteStatus ResizeEntry(TfLiteContext* context, TfLiteTensor* tensor,
                                  TfLiteIntArray* dims);
  static TfLiteStatus AddEntry(TfLiteContext* context, int count, int* first_tensor);
  // Returns the innermost object of the context; null if there is none.
  static GraphCalls* InnermostOf(const TfLiteContext* context);

  TfLiteStatus Resize(TfLiteTensor* tensor, TfLiteIntArray* dims) const;
  TfLiteStatus Add(int count, int* first_tensor) const;

  const LayerCall caller_;
  const CallRunner& runner_;
  // The previous functions of the context, which are those of `outer_` unless it is null.
  const decltype(TfLiteContext::ResizeTensor) resize_tensor_;
  const decltype(TfLiteContext::AddTensors) add_tensors_;
  const GraphCalls* const outer_;
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_GRAPH_CALLS_H_
