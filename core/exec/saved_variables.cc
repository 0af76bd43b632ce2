// SPDX-License-Identifier: Apache-2.0
#include "core/exec/saved_variables.h"

#include "core/exec/subgraph.h"

namespace deputy {

void SavedVariables::Save(Subgraph* subgraph) {
  if (subgraph->graph().variables().empty()) return;
  Entry& entry = entries_[subgraph->index()];
  if (entry.round == round_) return;
  entry.subgraph = subgraph;
  entry.ready = subgraph->ready();
  const std::vector<int>& inputs = subgraph->graph().inputs();
  entry.inputs.resize(inputs.size());
  for (size_t n = 0; n < inputs.size(); ++n) {
    const TfLiteTensor* tensor = subgraph->graph().tensor(inputs[n]);
    const bool shaped = tensor != nullptr && tensor->dims != nullptr;
    entry.inputs[n].type = shaped ? tensor->type : kTfLiteNoType;
    entry.inputs[n].dims.clear();
    if (!shaped) continue;
    entry.inputs[n].dims.assign(tensor->dims->data, tensor->dims->data + tensor->dims->size);
  }
  entry.variables.Clear();
  for (int variable : subgraph->graph().variables()) {
    entry.variables.Save(variable, *subgraph->graph().tensor(variable));
  }
  entry.round = round_;
}

TfLiteStatus SavedVariables::Restore() {
  for (const auto& [index, entry] : entries_) {
    if (entry.round != round_) continue;
    if (!entry.ready) {
      entry.subgraph->RequireAllocation();
      continue;
    }
    std::vector<CallInput> shapes;
    for (const Shape& shape : entry.inputs) shapes.push_back({shape.type, shape.dims});
    TfLiteStatus status = entry.subgraph->ShapeInputs(shapes);
    if (status == kTfLiteOk && !entry.subgraph->ready()) {
      status = entry.subgraph->AllocateTensors();
    }
    if (status != kTfLiteOk) return status;
  }
  // Contents are restored last, because allocating a subgraph may allocate, and so reset, subgraphs
  // that it calls.
  for (const auto& [index, entry] : entries_) {
    if (entry.round == round_ && entry.ready) entry.subgraph->Restore(entry.variables);
  }
  return kTfLiteOk;
}

}  // namespace deputy
