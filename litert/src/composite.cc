// SPDX-License-Identifier: Apache-2.0
#include "litert/src/composite.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "litert/c/litert_op_options.h"
#include "litert/src/builder.h"
#include "litert/src/layout.h"
#include "litert/src/log.h"

namespace deputy::litert {
namespace {

// Upper bound on the operators that replace composites, so that a hostile model does not multiply.
constexpr size_t kMaxAddedOps = size_t{1} << 20;

bool HasSameType(const LiteRtTensorT* a, const LiteRtTensorT* b) {
  const LiteRtLayout &x = a->type.layout, &y = b->type.layout;
  return a->type.element_type == b->type.element_type && x.rank == y.rank &&
         std::equal(x.dimensions, x.dimensions + x.rank, y.dimensions);
}

bool HaveSameTypes(const std::vector<LiteRtTensor>& a, const std::vector<LiteRtTensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), HasSameType);
}

// Returns the index of a composite's body; -1 for other operators.
int32_t BodyOf(LiteRtOp op) {
  int32_t body = -1;
  if (op->code != kLiteRtOpCodeShloComposite ||
      LiteRtGetSHLOCompositeOpDecompositionSubgraphIndex(op, &body) != kLiteRtStatusOk) {
    return -1;
  }
  return body;
}

// Returns true for operators that run a subgraph and are not composites.
bool HasOtherBody(const LiteRtOpT& op) {
  return op.code == kLiteRtOpCodeTflIf || op.code == kLiteRtOpCodeTflWhile ||
         op.code == kLiteRtOpCodeTflCallOnce ||
         (op.code >= kLiteRtOpCodeShloLogistic && op.code != kLiteRtOpCodeShloComposite);
}

// Adds the operators of a body at the position of a composite.
LiteRtStatus Inline(LiteRtOp composite, const LiteRtSubgraphT& body, LiteRtBuilderT* builder) {
  std::unordered_map<const LiteRtTensorT*, LiteRtTensor> copy_of;
  for (size_t i = 0; i < body.inputs.size(); ++i) copy_of[body.inputs[i]] = composite->inputs[i];
  for (size_t i = 0; i < body.outputs.size(); ++i) copy_of[body.outputs[i]] = composite->outputs[i];
  for (const auto& tensor : body.tensors) {
    if (copy_of.count(tensor.get()) > 0) continue;
    auto copy = std::make_unique<LiteRtTensorT>(*tensor);
    copy->producer = nullptr;
    copy->uses.clear();
    copy->per_channel.scales = copy->scales.data();
    copy->per_channel.zero_points = copy->zero_points.data();
    copy_of[tensor.get()] = builder->AddTensor(std::move(copy));
  }
  for (const auto& tensor : body.tensors) {
    LiteRtQuantizationBlockWise& blocks = copy_of[tensor.get()]->block_wise;
    if (!builder->Owns(copy_of[tensor.get()]) || blocks.scales == nullptr) continue;
    blocks.scales = copy_of[blocks.scales];
    if (blocks.zero_points != nullptr) blocks.zero_points = copy_of[blocks.zero_points];
  }
  const auto copies = [&](std::vector<LiteRtTensor> tensors) {
    for (LiteRtTensor& tensor : tensors) tensor = copy_of[tensor];
    return tensors;
  };
  for (const auto& op : body.ops) {
    LiteRtOp added = nullptr;
    LITERT_TRY(builder->AddOp(op->code, copies(op->inputs), copies(op->outputs), &added));
    added->CopyOptions(*op);
    builder->PlaceAt(added, composite);
  }
  builder->EraseOp(composite);
  return kLiteRtStatusOk;
}

}  // namespace

bool ReadComposite(const LiteRtModelT& model, LiteRtOp op, Composite* out_composite) {
  const int32_t index = BodyOf(op);
  const char* name = nullptr;
  if (index < 0 || static_cast<size_t>(index) >= model.subgraphs.size() ||
      LiteRtGetSHLOCompositeOpName(op, &name) != kLiteRtStatusOk || name == nullptr) {
    return false;
  }
  LiteRtSubgraphT* const body = model.subgraphs[static_cast<size_t>(index)].get();
  if (!HaveSameTypes(op->inputs, body->inputs) || !HaveSameTypes(op->outputs, body->outputs)) {
    return false;
  }
  *out_composite = {.name = name, .body = body};
  return true;
}

bool IsPureBody(const LiteRtSubgraphT& body) {
  std::unordered_set<const LiteRtTensorT*> seen(body.inputs.begin(), body.inputs.end());
  if (seen.size() != body.inputs.size()) return false;
  return std::none_of(body.tensors.begin(), body.tensors.end(),
                      [](const auto& tensor) { return tensor->is_variable; }) &&
         std::all_of(body.outputs.begin(), body.outputs.end(), [&](const LiteRtTensorT* output) {
           return output->producer != nullptr && seen.insert(output).second;
         });
}

LiteRtStatus InlineComposites(const std::vector<LiteRtOp>& ops, LiteRtModelT* model,
                              LiteRtSubgraphT* subgraph, bool* out_changes) {
  LiteRtBuilderT builder(model, subgraph);
  size_t added = 0;
  *out_changes = false;
  for (const LiteRtOp op : ops) {
    Composite composite;
    if (!ReadComposite(*model, op, &composite) || composite.body == subgraph ||
        !IsPureBody(*composite.body)) {
      continue;
    }
    added += composite.body->ops.size() + composite.body->tensors.size();
    if (added > kMaxAddedOps) break;
    LITERT_TRY(Inline(op, *composite.body, &builder));
    *out_changes = true;
  }
  return builder.Apply();
}

std::vector<bool> FindBodies(const LiteRtModelT& model) {
  std::vector<bool> is_body(model.subgraphs.size());
  for (const auto& subgraph : model.subgraphs) {
    for (const auto& op : subgraph->ops) {
      const int32_t body = BodyOf(op.get());
      if (body >= 0 && static_cast<size_t>(body) < is_body.size()) {
        is_body[static_cast<size_t>(body)] = true;
      }
    }
  }
  return is_body;
}

void ClearUnusedBodies(const std::vector<bool>& bodies, LiteRtModelT* model) {
  for (const auto& subgraph : model->subgraphs) {
    const bool has_other_body = std::any_of(subgraph->ops.begin(), subgraph->ops.end(),
                                            [](const auto& op) { return HasOtherBody(*op); });
    if (has_other_body) return;  // it may have the same body
  }
  const std::vector<bool> used = FindBodies(*model);
  for (size_t i = 0; i < model->subgraphs.size(); ++i) {
    LiteRtSubgraphT* const subgraph = model->subgraphs[i].get();
    const bool has_signature =
        std::any_of(model->signatures.begin(), model->signatures.end(),
                    [&](const auto& signature) { return signature->subgraph == subgraph; });
    if (!bodies[i] || used[i] || has_signature) continue;
    subgraph->inputs.clear();
    subgraph->outputs.clear();
    subgraph->ops.clear();
    subgraph->tensors.clear();
  }
}

}  // namespace deputy::litert
