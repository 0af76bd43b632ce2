// SPDX-License-Identifier: Apache-2.0
#include "core/exec/subgraph_callee.h"

#include <algorithm>
#include <cstring>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"

namespace deputy {

size_t SubgraphCallee::input_count() const { return subgraph_->graph().inputs().size(); }
size_t SubgraphCallee::output_count() const { return subgraph_->graph().outputs().size(); }
size_t SubgraphCallee::operator_count() const {
  return IsBuiltInCode() ? static_cast<size_t>(subgraph_->parts().built->node_count())
                         : subgraph_->desc().operators.size();
}

TfLiteBuiltinOperator SubgraphCallee::operator_code(size_t n) const {
  if (IsBuiltInCode()) {
    const TfLiteRegistration& kernel = *subgraph_->graph().registration(static_cast<int>(n));
    return static_cast<TfLiteBuiltinOperator>(kernel.builtin_code);
  }
  const ModelDesc& model = subgraph_->interpreter()->model().desc();
  return model.operator_codes[subgraph_->desc().operators[n].code_index].code;
}

const TfLiteTensor* SubgraphCallee::output(size_t n) {
  return subgraph_->graph().tensor(subgraph_->graph().outputs()[n]);
}

// Copies a value to an input. A dynamic input is resized to the value.
TfLiteStatus SubgraphCallee::CopyInput(const CallInput& from, TfLiteTensor* input) {
  const int index = static_cast<int>(input - subgraph_->graph().tensors().data());
  const char* const name = NameOf(*input);
  // A delegate's copy of the input belongs to an earlier call.
  input->data_is_stale = false;
  if (input->allocation_type == kTfLiteDynamic &&
      TfLiteTensorRealloc(from.bytes, input) != kTfLiteOk) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': no memory for %zu bytes", subgraph_->index(), index,
                name, from.bytes);
  }
  if (input->bytes != from.bytes) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': expected %zu bytes, found %zu", subgraph_->index(),
                index, name, input->bytes, from.bytes);
  }
  if (from.bytes == 0) return kTfLiteOk;
  if (from.data == nullptr || input->data.raw == nullptr) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: tensor %d '%s': no data to copy", subgraph_->index(), index, name);
  }
  memcpy(input->data.raw, from.data, from.bytes);
  return kTfLiteOk;
}

TfLiteStatus SubgraphCallee::DescribeOutputs(bool shapes_known,
                                             std::vector<CallOutput>* out_outputs) {
  out_outputs->clear();
  for (size_t n = 0; n < subgraph_->graph().outputs().size(); ++n) {
    const TfLiteTensor* from = output(n);
    if (from == nullptr) {
      return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                  "subgraph %d: output %zu: expected a tensor, found none", subgraph_->index(), n);
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

bool SubgraphCallee::IsBuiltInCode() const { return subgraph_->parts().built != nullptr; }

// Graphs that are built in code may call each other in a cycle; models with a cycle are
// inconsistent.
TfLiteStatus SubgraphCallee::CheckCallable() const {
  if (subgraph_->parts().has_shared_states) {
    return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
                "subgraph %d: expected no shared states in a subgraph that a node calls",
                subgraph_->index());
  }
  if (subgraph_->parts().runs == 0) return kTfLiteOk;
  return Fail(subgraph_->interpreter()->reporter(), kTfLiteError,
              "subgraph %d: expected no call of itself, found one", subgraph_->index());
}

TfLiteStatus SubgraphCallee::InferOutputs(std::span<const CallInput> inputs,
                                          std::vector<CallOutput>* out_outputs) {
  if (const auto* outputs = shapes_.Find(subgraph_->interpreter()->allocation_pass(), inputs)) {
    *out_outputs = *outputs;
    return kTfLiteOk;
  }
  if (const TfLiteStatus status = CheckCallable(); status != kTfLiteOk) return status;
  if (shapes_.full()) return DescribeOutputs(false, out_outputs);
  subgraph_->interpreter()->SaveVariablesOf(subgraph_);
  TfLiteStatus status = subgraph_->ShapeInputs(inputs);
  if (status == kTfLiteOk) status = subgraph_->AllocateTensors();
  if (status == kTfLiteOk) status = DescribeOutputs(true, out_outputs);
  if (status == kTfLiteOk) shapes_.Add(inputs, *out_outputs);
  return status;
}

TfLiteStatus SubgraphCallee::Call(std::span<const CallInput> inputs) {
  if (const TfLiteStatus status = CheckCallable(); status != kTfLiteOk) return status;
  subgraph_->interpreter()->SaveVariablesOf(subgraph_);
  if (const TfLiteStatus status = subgraph_->ShapeInputs(inputs); status != kTfLiteOk)
    return status;
  if (const TfLiteStatus status = subgraph_->AllocateTensors(); status != kTfLiteOk) return status;
  for (size_t n = 0; n < inputs.size(); ++n) {
    if (subgraph_->graph().inputs()[n] < 0 || inputs[n].type == kTfLiteNoType) continue;
    const TfLiteStatus status =
        CopyInput(inputs[n], &subgraph_->graph().tensors()[subgraph_->graph().inputs()[n]]);
    if (status != kTfLiteOk) return status;
  }
  return subgraph_->Invoke(false);
}

}  // namespace deputy
