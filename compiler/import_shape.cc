// SPDX-License-Identifier: Apache-2.0
//
// Imports operators that change the shape of their input, or compute shapes and constants.
#include <algorithm>
#include <cmath>

#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

// Resolves a requested shape, in which one extent may be -1: it becomes the remaining factor of the
// element count.
bool ResolveShape(NodeImport* node, std::vector<int> requested, Shape* out_shape) {
  const int64_t count = ElementCount(node->shape(node->Input(0)));
  const auto open = std::find(requested.begin(), requested.end(), -1);
  if (open != requested.end()) *open = 1;
  for (const int extent : requested) {
    if (extent < 0) return node->Refuse(kDeputyReasonParameter, "invalid extent %d", extent);
  }
  const int64_t known = ElementCount(requested);
  if (open != requested.end() && known > 0) *open = static_cast<int>(count / known);
  if ((open != requested.end() && known == 0) || ElementCount(requested) != count) {
    return node->Refuse(kDeputyReasonShape, "the element count differs from the input's");
  }
  *out_shape = std::move(requested);
  return true;
}

// Imports RESHAPE. The shape is the second input or, if there is none, a parameter, where [0]
// denotes a scalar.
bool ImportReshape(NodeImport* node) {
  if (!node->CheckInputs(1, 2)) return false;
  std::vector<int> requested;
  if (node->has_input(1)) {
    if (!node->ReadInts(1, &requested)) return false;
  } else {
    const auto& params = node->params<TfLiteReshapeParams>();
    const int rank = std::clamp(params.num_dimensions, 0, 8);
    requested.assign(params.shape, params.shape + rank);
    if (requested == std::vector<int>{0}) requested.clear();
  }
  // The runtime replaces the batch of a constant shape by a resized batch.
  const Shape prepared = node->OutputShape(0);
  if (!prepared.empty() && prepared.size() == requested.size() && requested[0] > 0 &&
      ElementCount(prepared) == ElementCount(node->shape(node->Input(0))) &&
      std::equal(prepared.begin() + 1, prepared.end(), requested.begin() + 1)) {
    requested[0] = prepared[0];
  }
  Shape shape;
  if (!ResolveShape(node, std::move(requested), &shape)) return false;
  return node->SetOutput(0, node->AddView(node->Input(0), std::move(shape)));
}

bool ImportSqueeze(NodeImport* node) {
  if (!node->CheckInputs(1, 1)) return false;
  const Shape from = node->shape(node->Input(0));
  const auto& params = node->params<TfLiteSqueezeParams>();
  std::vector<bool> is_listed(from.size(), false);
  for (int i = 0; i < std::clamp(params.num_squeeze_dims, 0, 8); ++i) {
    int axis = 0;
    if (!node->ReadAxis(params.squeeze_dims[i], from.size(), &axis)) return false;
    if (from[static_cast<size_t>(axis)] != 1) {
      return node->Refuse(kDeputyReasonParameter, "expected extent 1 of axis %d", axis);
    }
    is_listed[static_cast<size_t>(axis)] = true;
  }
  Shape shape;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const bool is_removed = params.num_squeeze_dims == 0 ? from[axis] == 1 : is_listed[axis];
    if (!is_removed) shape.push_back(from[axis]);
  }
  return node->SetOutput(0, node->AddView(node->Input(0), std::move(shape)));
}

bool ImportExpandDims(NodeImport* node) {
  std::vector<int> requested;
  if (!node->CheckInputs(2, 2) || !node->ReadInts(1, &requested)) return false;
  Shape shape = node->shape(node->Input(0));
  int axis = 0;
  if (requested.size() != 1 || !node->ReadAxis(requested[0], shape.size() + 1, &axis)) return false;
  shape.insert(shape.begin() + axis, 1);
  return node->SetOutput(0, node->AddView(node->Input(0), std::move(shape)));
}

// ---- Constants ----------------------------------------------------------------------------------

bool SetConstant(NodeImport* node, Shape shape, const std::vector<double>& numbers) {
  return node->SetOutput(0, node->Constant(node->output_tensor(0).type, std::move(shape), numbers));
}

bool ImportShape(NodeImport* node) {
  if (!node->CheckInputs(1, 1)) return false;
  const Shape& from = node->shape(node->Input(0));
  return SetConstant(node, {static_cast<int>(from.size())}, {from.begin(), from.end()});
}

bool ImportRank(NodeImport* node) {
  if (!node->CheckInputs(1, 1)) return false;
  return SetConstant(node, {}, {static_cast<double>(node->shape(node->Input(0)).size())});
}

bool ImportZerosLike(NodeImport* node) {
  if (!node->CheckInputs(1, 1) ||
      !node->CheckType(0, {kTfLiteFloat32, kTfLiteInt32, kTfLiteInt64})) {
    return false;
  }
  const ValueId zero = node->Constant(node->output_tensor(0).type, {}, std::vector<double>{0});
  return node->SetOutput(0, node->AddBroadcast(zero, node->shape(node->Input(0))));
}

bool ImportFill(NodeImport* node) {
  std::vector<int> requested;
  if (!node->CheckInputs(2, 2) || !node->ReadInts(0, &requested)) return false;
  if (std::any_of(requested.begin(), requested.end(), [](int extent) { return extent < 0; })) {
    return node->RefuseInput(0, kDeputyReasonParameter, "expected extents of at least 0");
  }
  if (!node->shape(node->Input(1)).empty()) {
    return node->RefuseInput(1, kDeputyReasonShape, "expected a scalar");
  }
  return node->SetOutput(0, node->AddBroadcast(node->Input(1), requested));
}

bool ImportBroadcastTo(NodeImport* node) {
  std::vector<int> requested;
  if (!node->CheckInputs(2, 2) || !node->ReadInts(1, &requested)) return false;
  const Shape& from = node->shape(node->Input(0));
  Shape result;
  if (from.size() > requested.size() || !BroadcastShapes(from, requested, &result) ||
      result != requested) {
    return node->RefuseInput(0, kDeputyReasonShape, "cannot be broadcast to the requested shape");
  }
  return node->SetOutput(0, node->AddBroadcast(node->Input(0), requested));
}

// Imports RANGE: numbers from start in steps of delta, up to the limit, which is excluded.
bool ImportRange(NodeImport* node) {
  if (!node->CheckInputs(3, 3)) return false;
  const TfLiteType type = node->input_tensor(0).type;
  double numbers[3];
  for (int n = 0; n < 3; ++n) {
    if (!node->CheckType(n, {kTfLiteFloat32, kTfLiteInt32}) || !node->CheckType(n, {type})) {
      return false;
    }
    const Value& value = node->value(node->Input(n));
    if (!value.constant() || ElementCount(value.shape) != 1) {
      return node->RefuseInput(n, kDeputyReasonNotConstant, "expected a constant");
    }
    const Number number = value.At(0);
    numbers[n] = IsFloat(type) ? number.real : static_cast<double>(number.integer);
  }
  const auto [start, limit, step] = numbers;
  const double count = std::ceil((limit - start) / step);
  if (!(step != 0) || !(count >= 0) || count > 1e6) {
    return node->Refuse(kDeputyReasonParameter,
                        "expected a finite range within the limit on elements");
  }
  std::vector<double> values;
  values.reserve(static_cast<size_t>(count));
  for (int i = 0; i < static_cast<int>(count); ++i) values.push_back(start + i * step);
  return SetConstant(node, {static_cast<int>(count)}, values);
}

constexpr ImportRow kShapeRows[] = {
    {"BROADCAST_TO", kTfLiteBuiltinBroadcastTo, 4, &ImportBroadcastTo, true},
    {"EXPAND_DIMS", kTfLiteBuiltinExpandDims, 1, &ImportExpandDims, true},
    {"FILL", kTfLiteBuiltinFill, 5, &ImportFill, true},
    {"RANGE", kTfLiteBuiltinRange, 2, &ImportRange},
    {"RANK", kTfLiteBuiltinRank, 1, &ImportRank},
    {"RESHAPE", kTfLiteBuiltinReshape, 1, &ImportReshape, true},
    {"SHAPE", kTfLiteBuiltinShape, 1, &ImportShape},
    {"SQUEEZE", kTfLiteBuiltinSqueeze, 2, &ImportSqueeze, true},
    {"ZEROS_LIKE", kTfLiteBuiltinZerosLike, 1, &ImportZerosLike},
};

}  // namespace

std::span<const ImportRow> ShapeRows() { return kShapeRows; }

}  // namespace deputy::compiler
