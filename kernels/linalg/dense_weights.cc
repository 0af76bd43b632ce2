// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/dense_weights.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/sparse.h"

namespace deputy {
namespace {

// Object whose address distinguishes this kind of packed data in PackedKey.
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
  PackedKey shared_key = {weights->data.data, &kForm, {weights->type, count}};
  std::copy(Dims(weights).begin(), Dims(weights).end(), shared_key.layout.begin() + 2);
  // The sparsity is part of the key: two tensors may have the same values with different sparsity.
  PackedKey key = shared_key;
  if (weights->sparsity != nullptr) key.constant = weights->sparsity;
  const auto parameters = [&] {
    return weights->sparsity == nullptr ? std::string() : SparsityBytes(*weights->sparsity);
  };
  size_t bytes;
  if (MultiplySizes(static_cast<size_t>(count), element, &bytes) &&
      values_.Ensure(context, key, shared_key, IsConstant(weights), bytes, parameters,
                     [&](char* out) { Fill(weights, bytes, out); })) {
    return kTfLiteOk;
  }
  return TensorError(context, weights, "out of memory for its %lld values",
                     static_cast<long long>(count));
}

}  // namespace deputy
