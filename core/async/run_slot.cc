// SPDX-License-Identifier: Apache-2.0
#include "core/async/run_slot.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "c_api/abi/borrowed_data.h"
#include "core/exec/interpreter_state.h"

namespace deputy {
namespace {

bool Contains(const std::vector<SlotTensor>& tensors, int index) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [index](const SlotTensor& tensor) { return tensor.index == index; });
}

// Returns true if each inference has the same shapes. A plan with dynamic tensors is complete after
// an inference, for the shapes of that inference.
bool HasFixedShapes(Subgraph* subgraph) {
  const std::span<const TfLiteTensor> tensors = std::as_const(subgraph->graph()).tensors();
  return subgraph->execution_plan().is_complete() &&
         std::none_of(tensors.begin(), tensors.end(), [](const TfLiteTensor& tensor) {
           return tensor.allocation_type == kTfLiteDynamic;
         });
}

// Returns true if no tensor gets other memory during an inference and no observer compares contents
// with the planned memory.
bool KeepsAddresses(Subgraph* subgraph) {
  return HasFixedShapes(subgraph) && !subgraph->interpreter()->needs_exact_tensors();
}

}  // namespace

// A tensor that is listed twice is copied.
SlotTensors::SlotTensors(Subgraph* subgraph) {
  const bool is_fixed = HasFixedShapes(subgraph);
  const auto add = [&](int index, std::vector<SlotTensor>* list) {
    SlotTensor added;
    if (const TfLiteTensor* const tensor = subgraph->graph().tensor(index)) {
      added.index = index;
      added.bytes = tensor->bytes;
      added.has_size = tensor->allocation_type != kTfLiteDynamic && (list == &inputs || is_fixed);
      added.may_use_slot = tensor->allocation_type == kTfLiteArenaRw && !Contains(inputs, index) &&
                           !Contains(*list, index);
    }
    list->push_back(added);
  };
  for (const int index : subgraph->graph().inputs()) add(index, &inputs);
  for (const int index : subgraph->graph().outputs()) add(index, &outputs);
}

bool RunSlot::Fit(const SlotTensors& tensors, const Limits& limits) {
  limits_ = &limits;
  const auto fit = [&](const std::vector<SlotTensor>& list, List* contents) {
    contents->resize(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      (*contents)[i].bytes = list[i].bytes;
      // Tensors without elements have an address, too.
      if (!(*contents)[i].memory.Reserve(std::max<size_t>(list[i].bytes, 1), 0, limits)) {
        return false;
      }
    }
    return true;
  };
  return fit(tensors.inputs, &inputs_) && fit(tensors.outputs, &outputs_);
}

TfLiteStatus RunSlot::CopyIn(const SlotTensors& tensors) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Contents& input = inputs_[i];
    if (tensors.inputs[i].index < 0) continue;
    if (!tensors.inputs[i].has_size && run->request.copy_in == nullptr) {
      input.bytes = run->inputs[i].size;
      if (!input.memory.Reserve(std::max<size_t>(input.bytes, 1), 0, *limits_)) {
        return run->Fail(kTfLiteError, "input %zu: out of memory for %zu bytes", i, input.bytes);
      }
    }
    TF_LITE_ENSURE_STATUS(run->CopyIn(static_cast<int>(i), input.memory.data(), input.bytes));
  }
  return kTfLiteOk;
}

void RunSlot::Bind(const std::vector<SlotTensor>& tensors, Graph* graph, List* contents) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].may_use_slot) continue;
    Contents& slot = (*contents)[i];
    char*& data = graph->tensor(tensors[i].index)->data.raw;
    slot.is_bound = true;
    slot.planned = data;
    data = slot.memory.data();
  }
}

// A tensor whose memory was planned again during the inference keeps the new memory.
void RunSlot::Unbind(const std::vector<SlotTensor>& tensors, Graph* graph, List* contents) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    Contents& slot = (*contents)[i];
    if (!slot.is_bound) continue;
    char*& data = graph->tensor(tensors[i].index)->data.raw;
    if (data == slot.memory.data()) data = slot.planned;
    slot.is_bound = false;
  }
}

TfLiteStatus RunSlot::Compute(const SlotTensors& tensors, Subgraph* subgraph,
                              const std::function<TfLiteStatus()>& invoke) {
  if (KeepsAddresses(subgraph)) {
    Bind(tensors.inputs, &subgraph->graph(), &inputs_);
    Bind(tensors.outputs, &subgraph->graph(), &outputs_);
  }
  const TfLiteStatus status = ComputeBound(tensors, subgraph, invoke);
  Unbind(tensors.outputs, &subgraph->graph(), &outputs_);
  Unbind(tensors.inputs, &subgraph->graph(), &inputs_);
  return status;
}

TfLiteStatus RunSlot::ComputeBound(const SlotTensors& tensors, Subgraph* subgraph,
                                   const std::function<TfLiteStatus()>& invoke) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    TfLiteTensor* const input = subgraph->graph().tensor(tensors.inputs[i].index);
    if (input == nullptr) continue;
    TF_LITE_ENSURE_STATUS(WriteInput(inputs_[i], static_cast<int>(i), input));
  }
  const ErrorReporter& reporter = *subgraph->interpreter()->reporter();
  const size_t reports = reporter.count();
  const TfLiteStatus status = invoke();
  if (status != kTfLiteOk && reporter.count() > reports) {
    run->Fail(status, "%s", reporter.last_error());
  }
  if (status != kTfLiteOk && status != kTfLiteDelegateError) return status;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const TfLiteTensor* const output = subgraph->graph().tensor(tensors.outputs[i].index);
    if (output == nullptr) continue;
    TF_LITE_ENSURE_STATUS(ReadOutput(*output, static_cast<int>(i), &outputs_[i]));
  }
  return status;
}

TfLiteStatus RunSlot::WriteInput(const Contents& from, int position, TfLiteTensor* input) {
  input->data_is_stale = false;
  if (from.is_bound) return kTfLiteOk;
  if (input->allocation_type == kTfLiteDynamic) TfLiteTensorRealloc(from.bytes, input);
  if (from.bytes == 0) return kTfLiteOk;
  if (input->allocation_type == kTfLiteMmapRo || OwnData(input) != kTfLiteOk ||
      input->data.raw == nullptr || input->bytes != from.bytes) {
    return run->Fail(kTfLiteError, "input %d: expected a tensor with writable memory for %zu bytes",
                     position, from.bytes);
  }
  memcpy(input->data.raw, from.memory.data(), from.bytes);
  return kTfLiteOk;
}

TfLiteStatus RunSlot::ReadOutput(const TfLiteTensor& output, int position, Contents* into) {
  into->bytes = output.bytes;
  if (output.bytes == 0 || output.data.raw == into->memory.data()) return kTfLiteOk;
  if (output.data.raw == nullptr || !into->memory.Reserve(output.bytes, 0, *limits_)) {
    return run->Fail(kTfLiteError, "output %d: expected %zu bytes of memory", position,
                     output.bytes);
  }
  memcpy(into->memory.data(), output.data.raw, output.bytes);
  return kTfLiteOk;
}

TfLiteStatus RunSlot::CopyOut(const SlotTensors& tensors) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (tensors.outputs[i].index < 0) continue;
    TF_LITE_ENSURE_STATUS(
        run->CopyOut(static_cast<int>(i), outputs_[i].memory.data(), outputs_[i].bytes));
  }
  return kTfLiteOk;
}

}  // namespace deputy
