// SPDX-License-Identifier: Apache-2.0
//
// GATHER, EMBEDDING_LOOKUP and ONE_HOT: results that depend on indices.
#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

bool FinishGather(NodeImport* node, Gather gather, int values, int indices) {
  const ValueId from = node->Input(values), places = node->Input(indices);
  const Shape shape = node->shape(from), index_shape = node->shape(places);
  Shape to(shape.begin(), shape.begin() + gather.axis);
  to.insert(to.end(), index_shape.begin() + gather.batch_axes, index_shape.end());
  to.insert(to.end(), shape.begin() + gather.axis + 1, shape.end());
  return node->SetOutput(0, node->Add(gather, {from, places}, node->value(from).type, to));
}

bool ImportGather(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckType(1, {kTfLiteInt32, kTfLiteInt64})) return false;
  const auto& params = node->params<TfLiteGatherParams>();
  const Shape shape = node->shape(node->Input(0)), indices = node->shape(node->Input(1));
  Gather gather;
  if (!node->ReadAxis(params.axis, shape.size(), &gather.axis)) return false;
  if (shape[static_cast<size_t>(gather.axis)] == 0) {
    return node->RefuseInput(0, kDeputyReasonShape, "it has nothing along the axis");
  }
  gather.batch_axes = params.batch_dims;
  if (gather.batch_axes < 0) gather.batch_axes += static_cast<int>(indices.size());
  const auto batches = static_cast<size_t>(gather.batch_axes);
  if (gather.batch_axes < 0 || batches > indices.size() || gather.batch_axes > gather.axis ||
      !std::equal(shape.begin(), shape.begin() + gather.batch_axes, indices.begin())) {
    return node->Refuse(kDeputyReasonParameter, "%d batch axes", params.batch_dims);
  }
  return FinishGather(node, gather, 0, 1);
}

bool ImportEmbeddingLookup(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckType(0, {kTfLiteInt32}) ||
      !node->CheckRank(0, 1, 1) || !node->CheckRank(1, 2, 8) ||
      !node->CheckType(1, {node->output_tensor(0).type})) {
    return false;
  }
  return FinishGather(node, {}, 1, 0);
}

bool ImportOneHot(NodeImport* node) {
  std::vector<int> depth;
  if (!node->CheckInputs(4, 4) || !node->CheckType(0, {kTfLiteInt32, kTfLiteInt64}) ||
      !node->ReadInts(1, &depth)) {
    return false;
  }
  if (depth.size() != 1 || depth[0] < 0)
    return node->RefuseInput(1, kDeputyReasonShape, "no depth");
  for (int n : {2, 3}) {
    if (!node->CheckType(n, {node->output_tensor(0).type})) return false;
    if (ElementCount(node->shape(node->Input(n))) != 1) {
      return node->RefuseInput(n, kDeputyReasonShape, "not one value");
    }
  }
  Shape shape = node->shape(node->Input(0));
  OneHot one_hot;
  if (!node->ReadAxis(node->params<TfLiteOneHotParams>().axis, shape.size() + 1, &one_hot.axis)) {
    return false;
  }
  shape.insert(shape.begin() + one_hot.axis, depth[0]);
  return node->SetOutput(0, node->Add(one_hot, {node->Input(0), node->Input(2), node->Input(3)},
                                      node->output_tensor(0).type, std::move(shape)));
}

constexpr ImportRow kRows[] = {
    {"EMBEDDING_LOOKUP", kTfLiteBuiltinEmbeddingLookup, 4, &ImportEmbeddingLookup},
    {"GATHER", kTfLiteBuiltinGather, 7, &ImportGather},
    {"ONE_HOT", kTfLiteBuiltinOneHot, 1, &ImportOneHot},
};

}  // namespace

std::span<const ImportRow> LookupRows() { return kRows; }

}  // namespace deputy::compiler
