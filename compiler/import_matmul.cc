// SPDX-License-Identifier: Apache-2.0
//
// Imports FULLY_CONNECTED and BATCH_MATMUL.
#include <algorithm>

#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

// Checks that both factors are real and not empty. Refuses a product of float and quantised values:
// TensorFlow Lite quantises the float ones at run time, with different results.
bool CheckFactors(NodeImport* node) {
  for (int n : {0, 1}) {
    if (!node->CheckReal(n)) return false;
    if (ElementCount(node->shape(node->Input(n))) == 0) {
      return node->RefuseInput(n, kDeputyReasonShape, "expected a tensor that is not empty");
    }
  }
  const auto is_float = [&](int n) { return IsFloat(node->input_tensor(n).type); };
  if (is_float(0) == is_float(1)) return true;
  return node->RefuseInput(
      1, kDeputyReasonType,
      "a product of float and quantised values (hybrid operator) is not supported");
}

bool ImportFullyConnected(NodeImport* node) {
  if (!node->CheckInputs(2, 3) || !CheckFactors(node) || !node->CheckRank(1, 2, 2) ||
      !node->CheckScaleAxis(0, -1) || !node->CheckScaleAxis(1, 0)) {
    return false;
  }
  const auto& params = node->params<TfLiteFullyConnectedParams>();
  if (params.weights_format != kTfLiteFullyConnectedWeightsFormatDefault) {
    return node->Refuse(kDeputyReasonParameter, "unsupported weights format %d",
                        params.weights_format);
  }
  const Shape from = node->shape(node->Input(0)), weights = node->shape(node->Input(1));
  const int64_t count = ElementCount(from);
  if (count % weights[1] != 0) {
    return node->RefuseInput(0, kDeputyReasonShape,
                             "the element count is not a multiple of the depth %d", weights[1]);
  }
  const int rows = static_cast<int>(count / weights[1]);
  if (!node->CheckBias(2, !IsFloat(node->input_tensor(0).type), weights[0])) return false;
  Shape to = {rows, weights[0]};
  if (params.keep_num_dims) {
    to = from;
    if (to.empty() || to.back() != weights[1]) {
      return node->RefuseInput(0, kDeputyReasonShape, "expected %d values per row", weights[1]);
    }
    to.back() = weights[0];
  }
  const ProductInputs inputs = {0, 1, 2, 0};
  if (auto integers = node->IntegerInputs(inputs, params.activation); !integers.empty()) {
    integers[0] = node->AddView(integers[0], {rows, weights[1]});
    const MatMul product = {false, true, node->InputQuantization(0).zero_point};
    const ValueId sums = node->Add(product, std::move(integers), kTfLiteInt32, {rows, weights[0]});
    const ValueId result = node->AddRequantize(sums, inputs, params.activation);
    return node->SetOutput(0, node->AddView(result, to));
  }
  ValueId bias = kNoValue;
  if (node->has_input(2)) {
    int axis = 0;
    std::vector<double> scales = node->Scales(1, &axis);
    for (double& scale : scales) scale *= node->Scales(0, &axis)[0];
    bias = node->AddView(node->RealBias(2, scales), {weights[0]});
  }
  const ValueId x = node->AddView(node->Real(0), {rows, weights[1]});
  const ValueId product =
      node->Add(MatMul{false, true}, {x, node->Real(1), bias}, kTfLiteFloat32, {rows, weights[0]});
  const ValueId result = node->AddActivation(product, params.activation);
  return result != kNoValue && node->SetRealOutput(0, node->AddView(result, to));
}

bool ImportBatchMatmul(NodeImport* node) {
  if (!node->CheckInputs(2, 2) || !CheckFactors(node) || !node->CheckRank(0, 2, 8) ||
      !node->CheckRank(1, 2, 8)) {
    return false;
  }
  const auto& params = node->params<TfLiteBatchMatMulParams>();
  Shape a = node->shape(node->Input(0)), b = node->shape(node->Input(1));
  const auto take_matrix = [](Shape* shape, bool transposed) {
    std::pair<int, int> matrix = {(*shape)[shape->size() - 2], shape->back()};
    shape->resize(shape->size() - 2);
    if (transposed) std::swap(matrix.first, matrix.second);
    return matrix;
  };
  const auto [m, k] = take_matrix(&a, params.adj_x);
  const auto [b_k, n] = take_matrix(&b, params.adj_y);
  Shape to;
  if (k != b_k || !BroadcastShapes(a, b, &to)) {
    return node->Refuse(kDeputyReasonShape, "the shapes of the factors do not match");
  }
  to.insert(to.end(), {m, n});
  return node->SetRealOutput(0, node->Add(MatMul{params.adj_x, params.adj_y},
                                          {node->Real(0), node->Real(1)}, kTfLiteFloat32, to));
}

constexpr ImportRow kMatmulRows[] = {
    {"BATCH_MATMUL", kTfLiteBuiltinBatchMatmul, 4, &ImportBatchMatmul},
    {"FULLY_CONNECTED", kTfLiteBuiltinFullyConnected, 14, &ImportFullyConnected},
};

}  // namespace

std::span<const ImportRow> MatmulRows() { return kMatmulRows; }

}  // namespace deputy::compiler
