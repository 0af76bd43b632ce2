// SPDX-License-Identifier: Apache-2.0
//
// Calls of a subgraph by others of the same model. All values are passed through InferOutputs and
// Call.
#include <algorithm>
#include <cstring>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {

// A dynamic input is resized to its value.
TfLiteStatus Subgraph::CopyInput(const CallInput& from, TfLiteTensor* input) {
  const int index = static_cast<int>(input - graph_.tensors().data());
  const char* const name = input->name == nullptr ? "" : input->name;
  // A delegate's copy of the input belongs to an earlier call.
  input->data_is_stale = false;
  if (input->allocation_type == kTfLiteDynamic &&
      TfLiteTensorRealloc(from.bytes, input) != kTfLiteOk) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': no memory for %zu bytes", index_, index, name,
                from.bytes);
  }
  if (input->bytes != from.bytes) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': expected %zu bytes, found %zu", index_, index, name,
                input->bytes, from.bytes);
  }
  if (from.bytes == 0) return kTfLiteOk;
  if (from.data == nullptr || input->data.raw == nullptr) {
    return Fail(interpreter_->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': no data to copy", index_, index, name);
  }
  memcpy(input->data.raw, from.data, from.bytes);
  return kTfLiteOk;
}

TfLiteStatus Subgraph::ShapeInputs(std::span<const CallInput> inputs) {
  for (size_t n = 0; n < inputs.size(); ++n) {
    const CallInput& from = inputs[n];
    if (graph_.inputs()[n] < 0 || from.type == kTfLiteNoType) continue;
    TfLiteTensor& input = graph_.tensors()[graph_.inputs()[n]];
    const bool same_type = input.type == from.type;
    if (same_type && TfLiteIntArrayEqualsArray(input.dims, static_cast<int>(from.dims.size()),
                                               from.dims.data()) != 0) {
      continue;
    }
    if (!same_type) {
      input.type = from.type;
      RequireAllocation();
      // The input's memory was planned for the old type.
      if (input.allocation_type != kTfLiteDynamic) input.data.raw = nullptr;
    }
    const TfLiteStatus status = ResizeInputTensor(graph_.inputs()[n], from.dims);
    if (status != kTfLiteOk) return status;
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::DescribeOutputs(bool shapes_known, std::vector<CallOutput>* out_outputs) {
  out_outputs->clear();
  for (size_t n = 0; n < graph_.outputs().size(); ++n) {
    const TfLiteTensor* from = output(n);
    if (from == nullptr) {
      return Fail(interpreter_->reporter(), kTfLiteError,
                  "subgraph %d: output %zu: expected a tensor, found none", index_, n);
    }
    CallOutput described;
    described.type = from->type;
    described.known = shapes_known && from->allocation_type != kTfLiteDynamic;
    if (described.known && from->dims != nullptr) {
      described.dims.assign(from->dims->data, from->dims->data + from->dims->size);
    }
    out_outputs->push_back(std::move(described));
  }
  return kTfLiteOk;
}

TfLiteStatus Subgraph::InferOutputs(std::span<const CallInput> inputs,
                                    std::vector<CallOutput>* out_outputs) {
  if (const auto* outputs = call_shapes_.Find(interpreter_->allocation_pass(), inputs)) {
    *out_outputs = *outputs;
    return kTfLiteOk;
  }
  if (call_shapes_.full()) return DescribeOutputs(false, out_outputs);
  interpreter_->SaveVariablesOf(this);
  TfLiteStatus status = ShapeInputs(inputs);
  if (status == kTfLiteOk) status = AllocateTensors();
  if (status == kTfLiteOk) status = DescribeOutputs(true, out_outputs);
  if (status == kTfLiteOk) call_shapes_.Add(inputs, *out_outputs);
  return status;
}

TfLiteStatus Subgraph::Call(std::span<const CallInput> inputs) {
  interpreter_->SaveVariablesOf(this);
  if (const TfLiteStatus status = ShapeInputs(inputs); status != kTfLiteOk) return status;
  if (const TfLiteStatus status = AllocateTensors(); status != kTfLiteOk) return status;
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (graph_.inputs()[n] < 0 || inputs[n].type == kTfLiteNoType) continue;
    const TfLiteStatus status = CopyInput(inputs[n], &graph_.tensors()[graph_.inputs()[n]]);
    if (status != kTfLiteOk) return status;
  }
  return Invoke(false);
}

}  // namespace deputy
