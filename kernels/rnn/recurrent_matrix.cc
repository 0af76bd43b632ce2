// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/recurrent_matrix.h"

#include <algorithm>

#include "kernels/linalg/dot.h"

namespace deputy {
namespace {

// Quantised vectors as rows of an integer product.
struct QuantizedRows {
  const int8_t* values;
  int depth;
  const CpuKernels* cpu;
};

void FillRow(const void* source, int64_t row, int, uint8_t* out) {
  const QuantizedRows& rows = *static_cast<const QuantizedRows*>(source);
  rows.cpu->gemm_s8.left_from_s8(rows.values + row * rows.depth, static_cast<size_t>(rows.depth),
                                 out);
}

bool IsEmpty(const MatrixShape& shape) { return shape.columns == 0 || shape.depth == 0; }

}  // namespace

bool AreZeros(const float* values, int64_t count) {
  return std::all_of(values, values + count, [](float x) { return x == 0.0f; });
}

TfLiteStatus MakeStepVectors(TfLiteContext* context, const TfLiteTensor* what, const float* values,
                             int rows, int depth, bool hybrid, bool asymmetric,
                             HybridRows* quantized, StepVectors* out) {
  *out = {values, rows, depth, nullptr, false};
  if (!hybrid) return kTfLiteOk;
  out->all_zero = AreZeros(values, int64_t{rows} * depth);
  if (out->all_zero) return kTfLiteOk;
  out->quantized = quantized;
  return quantized->Quantize(context, what, values, rows, depth, asymmetric);
}

TfLiteStatus RecurrentMatrix::Prepare(TfLiteContext* context, const TfLiteTensor* weights,
                                      int rows) {
  shape_ = {.rows = rows, .groups = 1, .columns = Dim(weights, 0), .depth = Dim(weights, 1)};
  hybrid_ = IsHybridWeight(weights);
  cpu_ = &CpuOf(context);
  layer_.Reset();
  dense_.Invalidate();
  if (!hybrid_) return kTfLiteOk;
  DEPUTY_TRY(scales_.Prepare(context, weights, 0));
  if (!scales_.per_channel()) return kTfLiteOk;
  return TensorError(context, weights, "expected one scale, found several");
}

TfLiteStatus RecurrentMatrix::Pack(TfLiteContext* context, const TfLiteTensor* weights) {
  if (IsEmpty(shape_)) return kTfLiteOk;
  if (weights->sparsity != nullptr) {
    DEPUTY_TRY(dense_.Ensure(context, weights));
    weights = dense_.Of(weights);
  }
  if (hybrid_) {
    return cpu_->gemm_s8.tile == nullptr
               ? kTfLiteOk
               : layer_.PackInt8(context, *cpu_, shape_, {weights, false, 0});
  }
  return cpu_->gemm_f32.tile == nullptr ? kTfLiteOk
                                        : layer_.PackFloat(context, *cpu_, shape_, weights);
}

size_t RecurrentMatrix::ScratchBytes(int workers) const {
  if (IsEmpty(shape_) || shape_.rows == 0) return 0;
  if (hybrid_) {
    return cpu_->gemm_s8.tile == nullptr ? 0 : MatrixLayer::Int8Scratch(*cpu_, shape_, workers);
  }
  return cpu_->gemm_f32.tile == nullptr ? 0
                                        : MatrixLayer::FloatScratch(*cpu_, shape_, false, workers);
}

void RecurrentMatrix::MultiplyPlainly(const TfLiteTensor* weights, const StepVectors& vectors,
                                      float* product) const {
  const int depth = shape_.depth;
  for (int64_t r = 0; r < vectors.rows; ++r) {
    for (int u = 0; u < shape_.columns; ++u) {
      const int64_t at = int64_t{u} * depth;
      if (hybrid_) {
        const HybridRows& rows = *vectors.quantized;
        const int32_t sum = Dot(rows.values() + r * depth, Data<int8_t>(weights) + at, depth,
                                rows.zero_points()[r], 0);
        *product++ = static_cast<float>(sum) * (scales_[u] * rows.scales()[r]);
      } else {
        *product++ = Dot(vectors.values + r * depth, Data<float>(weights) + at, depth, 0.0f, 0.0f);
      }
    }
  }
}

TfLiteStatus RecurrentMatrix::Multiply(TfLiteContext* context, const TfLiteTensor* weights,
                                       const StepVectors& vectors, float* product) {
  MatrixShape shape = shape_;
  shape.rows = vectors.rows;
  const FloatRange unbounded;
  if (hybrid_ && cpu_->gemm_s8.tile != nullptr) {
    const QuantizedRows source = {vectors.quantized->values(), shape.depth, cpu_};
    MatrixLayer::Rows<uint8_t> rows;
    rows.fill = &FillRow;
    rows.source = &source;
    return layer_.RunHybrid(context, *cpu_, shape, rows, weights, nullptr,
                            {vectors.quantized, 1, &scales_, unbounded}, product);
  }
  if (!hybrid_ && cpu_->gemm_f32.tile != nullptr) {
    MatrixLayer::Rows<float> rows;
    rows.direct = vectors.values;
    rows.stride = static_cast<size_t>(shape.depth);
    return layer_.RunFloat(context, *cpu_, shape, rows, weights, nullptr, unbounded, product);
  }
  MultiplyPlainly(weights, vectors, product);
  return kTfLiteOk;
}

TfLiteStatus RecurrentMatrix::AddTo(TfLiteContext* context, const TfLiteTensor* weights,
                                    const StepVectors& vectors, float* product, float* sums) {
  if (IsEmpty(shape_) || vectors.rows == 0 || vectors.all_zero) return kTfLiteOk;
  if (weights->sparsity != nullptr) {
    DEPUTY_TRY(dense_.Ensure(context, weights));
    weights = dense_.Of(weights);
  }
  DEPUTY_TRY(Multiply(context, weights, vectors, product));
  const int64_t count = int64_t{vectors.rows} * shape_.columns;
  for (int64_t i = 0; i < count; ++i) sums[i] += product[i];
  return kTfLiteOk;
}

}  // namespace deputy
