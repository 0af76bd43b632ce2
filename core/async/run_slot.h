// SPDX-License-Identifier: Apache-2.0
//
// A slot of asynchronous runs: memory for the inputs and outputs of one inference. While the slot
// is computed, tensors of the arena use its memory instead of their own, so that nothing is copied;
// contents of other tensors are copied between tensor and slot.
#ifndef DEPUTY_CORE_ASYNC_RUN_SLOT_H_
#define DEPUTY_CORE_ASYNC_RUN_SLOT_H_

#include <functional>
#include <memory>
#include <vector>

#include "core/async/async_run.h"
#include "core/base/memory.h"
#include "core/exec/subgraph.h"

namespace deputy {

// An input or output of the slots.
struct SlotTensor {
  int index = -1;             // index of the tensor; -1: absent
  size_t bytes = 0;           // its size when the runs were started
  bool has_size = true;       // false: the size depends on the contents
  bool may_use_slot = false;  // the tensor may use the slot's memory
};

// Inputs and outputs of a subgraph that is ready, which all its slots share.
struct SlotTensors {
  // Throws bad_alloc.
  explicit SlotTensors(Subgraph* subgraph);

  std::vector<SlotTensor> inputs, outputs;
};

// One stage at a time uses a slot. Functions of stages return the run's status and do not throw.
class RunSlot {
 public:
  // Provides memory for the tensors. Returns false if memory is exhausted or the limits, which must
  // outlive the slot, are exceeded; then it must be called again before the next stage. May throw
  // bad_alloc.
  bool Fit(const SlotTensors& tensors, const Limits& limits);

  TfLiteStatus CopyIn(const SlotTensors& tensors);
  // Computes the run by calling `invoke`. Outputs have results if it returns kTfLiteOk, or
  // kTfLiteDelegateError after a fallback to the CPU.
  TfLiteStatus Compute(const SlotTensors& tensors, Subgraph* subgraph,
                       const std::function<TfLiteStatus()>& invoke);
  TfLiteStatus CopyOut(const SlotTensors& tensors);

  std::shared_ptr<AsyncRun> run;  // run that uses the slot; null: none

 private:
  struct Contents {
    Block memory;
    size_t bytes = 0;
    bool is_bound = false;    // the tensor uses `memory`
    char* planned = nullptr;  // the tensor's own memory while it is bound
  };
  using List = std::vector<Contents>;

  static void Bind(const std::vector<SlotTensor>& tensors, Graph* graph, List* contents);
  static void Unbind(const std::vector<SlotTensor>& tensors, Graph* graph, List* contents);
  TfLiteStatus ComputeBound(const SlotTensors& tensors, Subgraph* subgraph,
                            const std::function<TfLiteStatus()>& invoke);
  TfLiteStatus WriteInput(const Contents& from, int position, TfLiteTensor* input);
  TfLiteStatus ReadOutput(const TfLiteTensor& output, int position, Contents* into);

  const Limits* limits_ = nullptr;
  List inputs_, outputs_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_ASYNC_RUN_SLOT_H_
