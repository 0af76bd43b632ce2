// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/dense_weights.h"

#include <cstring>

#include "kernels/common/sparse.h"

namespace deputy {
namespace {

// What the keys of values in memory are told apart by.
constexpr char kForm = 0;

void Fill(const TfLiteTensor* weights, size_t bytes, char* out) {
  if (weights->sparsity == nullptr) {
    return Unpack(weights->type, Data<uint8_t>(weights), ElementCount(weights),
                  reinterpret_cast<int8_t*>(out));
  }
  std::memset(out, 0, bytes);
  if (weights->type == kTfLiteFloat32) {
    SparseExpansion(weights, reinterpret_cast<float*>(out)).Write();
  } else {
    SparseExpansion(weights, reinterpret_cast<int8_t*>(out)).Write();
  }
}

}  // namespace

TfLiteStatus DenseWeights::Ensure(TfLiteContext* context, const TfLiteTensor* weights) {
  if (!IsNeededFor(weights)) return kTfLiteOk;
  const size_t element = weights->type == kTfLiteFloat32 ? sizeof(float) : 1;
  const int64_t count = ElementCount(weights);
  // Tensors may share values of which each has its own idea: those of sparse ones stay the node's.
  const void* constant = weights->sparsity;
  if (constant == nullptr) constant = weights->data.data;
  const PackedKey key = {constant, &kForm, {weights->type, count}};
  size_t bytes;
  if (MultiplySizes(static_cast<size_t>(count), element, &bytes) &&
      values_.Ensure(context, key, IsConstant(weights), bytes,
                     [&](char* out) { Fill(weights, bytes, out); })) {
    return kTfLiteOk;
  }
  return TensorError(context, weights, "out of memory for its %lld values",
                     static_cast<long long>(count));
}

}  // namespace deputy
