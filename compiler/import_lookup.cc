// SPDX-License-Identifier: Apache-2.0
//
// Imports GATHER, GATHER_ND, EMBEDDING_LOOKUP and ONE_HOT, whose results depend on indices.
#include <algorithm>

#include "compiler/copy.h"
#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

bool FinishGather(NodeImport* node, Gather gather, int values, int indices) {
  const ValueId from = node->Input(values);
  ValueId index_value = node->Input(indices);
  if (node->value(index_value).type == kTfLiteInt16)
    index_value = node->AddCast(index_value, kTfLiteInt32);
  const Shape shape = node->shape(from), index_shape = node->shape(index_value);
  Shape to(shape.begin(), shape.begin() + gather.axis);
  to.insert(to.end(), index_shape.begin() + gather.batch_axes, index_shape.end());
  to.insert(to.end(), shape.begin() + gather.axis + 1, shape.end());
  return node->SetOutput(0, node->Add(gather, {from, index_value}, node->value(from).type, to));
}

bool ImportGather(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckType(1, {kTfLiteInt16, kTfLiteInt32, kTfLiteInt64})) {
    return false;
  }
  const auto& params = node->params<TfLiteGatherParams>();
  const Shape shape = node->shape(node->Input(0)), indices = node->shape(node->Input(1));
  Gather gather;
  if (!node->ReadAxis(params.axis, shape.size(), &gather.axis)) return false;
  if (shape[static_cast<size_t>(gather.axis)] == 0) {
    return node->RefuseInput(0, kDeputyReasonShape, "the axis has no elements");
  }
  gather.batch_axes = params.batch_dims;
  if (gather.batch_axes < 0) gather.batch_axes += static_cast<int>(indices.size());
  const auto batches = static_cast<size_t>(gather.batch_axes);
  if (gather.batch_axes < 0 || batches > indices.size() || gather.batch_axes > gather.axis ||
      !std::equal(shape.begin(), shape.begin() + gather.batch_axes, indices.begin())) {
    return node->Refuse(kDeputyReasonParameter, "invalid number of batch axes: %d",
                        params.batch_dims);
  }
  return FinishGather(node, gather, 0, 1);
}

// ---- GATHER_ND ----------------------------------------------------------------------------------

// Returns component `column` of each tuple in `tuples`, which has the shape [..., depth].
ValueId TupleColumn(NodeImport* node, ValueId tuples, int column) {
  const Shape from = node->shape(tuples);
  Shape to = from;
  to.back() = 1;
  std::vector<int> start(from.size(), 0);
  const std::vector<int> zeros = start;
  start.back() = column;
  const CopyRegion region = RegionOf({0, to, start, zeros, {}, {}}, from, to);
  const TfLiteType type = node->value(tuples).type;
  const ValueId part = node->Add(Copy{{region}, {}}, {tuples}, type, to);
  to.pop_back();
  const ValueId indices = node->AddView(part, to);
  return type == kTfLiteInt16 ? node->AddCast(indices, kTfLiteInt32) : indices;
}

// Converts tuples of indices to indices into the flattened `axes`. Each component is multiplied by
// its stride through a lookup table, so that an index out of range is detected per axis.
ValueId FlatIndices(NodeImport* node, ValueId tuples, const Shape& axes) {
  if (axes.size() == 1) return TupleColumn(node, tuples, 0);
  const std::vector<int64_t> strides = Strides(axes);
  ValueId sum = kNoValue;
  for (size_t n = 0; n < axes.size(); ++n) {
    std::vector<double> steps(static_cast<size_t>(axes[n]));
    for (size_t i = 0; i < steps.size(); ++i) {
      steps[i] = static_cast<double>(static_cast<int64_t>(i) * strides[n]);
    }
    const ValueId table = node->Constant(kTfLiteInt32, {axes[n]}, steps);
    const ValueId column = TupleColumn(node, tuples, static_cast<int>(n));
    const ValueId step = node->Add(Gather{}, {table, column}, kTfLiteInt32, node->shape(column));
    sum = n == 0 ? step : node->AddBinary(ScalarOp::kAdd, sum, step);
  }
  return sum;
}

// Imports GATHER_ND as a Gather along the indexed axes, which are flattened into one.
bool ImportGatherNd(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !node->CheckType(1, {kTfLiteInt16, kTfLiteInt32, kTfLiteInt64})) {
    return false;
  }
  const ValueId values = node->Input(0), tuples = node->Input(1);
  const Shape shape = node->shape(values), index_shape = node->shape(tuples);
  if (index_shape.empty() || index_shape.back() < 1 ||
      static_cast<size_t>(index_shape.back()) > shape.size()) {
    return node->RefuseInput(1, kDeputyReasonShape, "expected tuples of 1 to %zu indices",
                             shape.size());
  }
  const auto depth = static_cast<ptrdiff_t>(index_shape.back());
  const Shape axes(shape.begin(), shape.begin() + depth);
  const int64_t count = ElementCount(axes);
  if (ElementCount(shape) == 0)
    return node->RefuseInput(0, kDeputyReasonShape, "expected a tensor that is not empty");
  // Upper bound on the length of the tables of FlatIndices.
  constexpr int kMaxTableSize = 1 << 20;
  if (depth > 1 && *std::max_element(axes.begin(), axes.end()) > kMaxTableSize) {
    return node->RefuseInput(0, kDeputyReasonShape, "expected axes of at most %d elements",
                             kMaxTableSize);
  }
  Shape flat = {static_cast<int>(count)}, to(index_shape.begin(), index_shape.end() - 1);
  flat.insert(flat.end(), shape.begin() + depth, shape.end());
  to.insert(to.end(), shape.begin() + depth, shape.end());
  const ValueId index_value = FlatIndices(node, tuples, axes);
  return node->SetOutput(0, node->Add(Gather{}, {node->AddView(values, flat), index_value},
                                      node->value(values).type, to));
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
    return node->RefuseInput(1, kDeputyReasonShape, "expected a constant depth of one element");
  for (int n : {2, 3}) {
    if (!node->CheckType(n, {node->output_tensor(0).type})) return false;
    if (ElementCount(node->shape(node->Input(n))) != 1) {
      return node->RefuseInput(n, kDeputyReasonShape, "expected one element");
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

constexpr ImportRow kLookupRows[] = {
    {"EMBEDDING_LOOKUP", kTfLiteBuiltinEmbeddingLookup, 5, &ImportEmbeddingLookup, true},
    {"GATHER", kTfLiteBuiltinGather, 8, &ImportGather, true},
    {"GATHER_ND", kTfLiteBuiltinGatherNd, 6, &ImportGatherNd, true},
    {"ONE_HOT", kTfLiteBuiltinOneHot, 1, &ImportOneHot, true},
};

}  // namespace

std::span<const ImportRow> LookupRows() { return kLookupRows; }

}  // namespace deputy::compiler
