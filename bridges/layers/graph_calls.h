// SPDX-License-Identifier: Apache-2.0
//
// Passes ResizeTensor and AddTensors, by which a delegate changes the tensors of a graph, through
// layers.
#ifndef DEPUTY_BRIDGES_LAYERS_GRAPH_CALLS_H_
#define DEPUTY_BRIDGES_LAYERS_GRAPH_CALLS_H_

#include <functional>

#include "bridges/layers/layer.h"
#include "deputy/common.h"

namespace deputy::layers {

class CallRunner {
 public:
  virtual ~CallRunner() = default;
  // Passes a call through the layers; `call_inner` makes it.
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

  // RAII guard: restores the functions that the context had before its first object, while the
  // runtime runs.
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
  // The functions of the context before this object. With an `outer_` they are ResizeEntry and
  // AddEntry, so that the calls are passed to `outer_` itself.
  const decltype(TfLiteContext::ResizeTensor) resize_tensor_;
  const decltype(TfLiteContext::AddTensors) add_tensors_;
  const GraphCalls* const outer_;
};

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_GRAPH_CALLS_H_
