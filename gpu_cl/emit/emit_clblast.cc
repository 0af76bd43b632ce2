// SPDX-License-Identifier: Apache-2.0
//
// Products computed by CLBlast.
#include <algorithm>

#include "gpu_cl/emit/emit.h"

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Operation;
using compiler::Shape;

namespace {

bool AreFloats(const Graph& graph, const Operation& operation) {
  return graph.value(operation.inputs[0]).type == kTfLiteFloat32 &&
         graph.value(operation.inputs[1]).type == kTfLiteFloat32 &&
         graph.value(operation.output()).type == kTfLiteFloat32;
}

}  // namespace

std::optional<ClblastProduct> FindClblastProduct(const Graph& graph, const Operation& operation) {
  const auto* kind = std::get_if<compiler::MatMul>(&operation.kind);
  if (kind == nullptr || !operation.epilogue.empty() || !AreFloats(graph, operation)) {
    return std::nullopt;
  }
  if (operation.inputs.size() > 2 && operation.inputs[2] != compiler::kNoValue) {
    return std::nullopt;
  }
  const Shape &a = graph.value(operation.inputs[0]).shape,
              &b = graph.value(operation.inputs[1]).shape,
              &out = graph.value(operation.output()).shape;
  const int64_t n = out.back(), k = kind->transpose_b ? b.back() : b[b.size() - 2];
  const int64_t m = compiler::ElementCount(out) / std::max<int64_t>(n, 1);
  // CLBlast requires that each side is a single matrix. Batches on the left side are further rows,
  // unless it is transposed.
  if (compiler::ElementCount(a) != m * k || compiler::ElementCount(b) != k * n ||
      (kind->transpose_a && out[out.size() - 2] != m)) {
    return std::nullopt;
  }
  constexpr int64_t kMinExtent = 512;
  if (m < kMinExtent || n < kMinExtent || k < kMinExtent) return std::nullopt;
  return ClblastProduct{static_cast<int32_t>(m), static_cast<int32_t>(n), static_cast<int32_t>(k),
                        kind->transpose_a, kind->transpose_b};
}

bool EmitClblast(const compiler::MatMul&, StepWriter* steps) {
  const KernelChoice* chosen = steps->choice();
  if (chosen == nullptr || !chosen->clblast) return false;
  const KernelBuilder info = steps->NewKernel();
  const std::optional<ClblastProduct> product = FindClblastProduct(info.graph(), info.operation());
  if (product) steps->AddClblast(*product);
  return product.has_value();
}

}  // namespace deputy::gpu_cl
