// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions, shared by TRANSPOSE_CONV and a custom operator, which differ in their
// tensors and in how the output's size is determined.
#ifndef DEPUTY_KERNELS_CONV_CONV_TRANSPOSE_H_
#define DEPUTY_KERNELS_CONV_CONV_TRANSPOSE_H_

#include "kernels/common/activation_range.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/implementation.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/hybrid.h"
#include "kernels/linalg/matrix_layer.h"
#include "kernels/linalg/weights_form.h"

namespace deputy {

// Sizes of a transposed convolution. Input and output are [batches][height][width][channels];
// weights are [out channels][filter height][filter width][in channels].
struct TransposeShape {
  // One axis: input position i contributes to output positions i * stride - before + k for k in [0,
  // filter).
  struct Axis {
    int input = 0, output = 0, filter = 0, stride = 0, before = 0;
    // Returns the first input position that contributes to output position `o`.
    int First(int o) const;
    // Returns the position after the last input position that contributes to output position `o`.
    int Last(int o) const;
    // Returns the tap with which input position `i` contributes to output position `o`.
    int Tap(int o, int i) const {
      return static_cast<int>(int64_t{o} + before - int64_t{i} * stride);
    }
  };
  Axis y, x;
  int batches = 0, input_channels = 0, output_channels = 0;

  int64_t taps() const { return int64_t{y.filter} * x.filter; }
};

class TransposeConv {
 public:
  struct Tensors {
    const TfLiteTensor* input;
    const TfLiteTensor* weights;
    const TfLiteTensor* bias;  // null if there is none
    TfLiteTensor* output;
  };

  // Checks everything except the output's shape and computes the parameters, in prepare.
  TfLiteStatus Prepare(TfLiteContext* context, const Tensors& tensors,
                       const TfLiteTransposeConvParams& params);
  // Checks the output's shape against the other sizes, resizes the output and selects the
  // implementation.
  TfLiteStatus SetOutput(TfLiteContext* context, const Tensors& tensors,
                         const TfLiteTransposeConvParams& params, std::span<const int> dims);
  // Packs the constants that are already available; called after prepare.
  TfLiteStatus Pack(TfLiteContext* context, const Tensors& tensors) {
    return choice_.Pack(context, this, tensors);
  }
  TfLiteStatus Run(TfLiteContext* context, const Tensors& tensors);

 private:
  using TransposeImplementation = Implementation<TransposeConv, Tensors>;
  static const TransposeImplementation kSeparateFloat, kGemmFloat, kGemmInt8, kReference;

  template <typename In, typename Weight, typename Zero, typename Finish>
  void Plain(TfLiteContext* context, const In* input, const Zero* zeros, int zero_stride,
             const Weight* weights, Zero weights_zero, const Finish& finish) const;
  TfLiteStatus PlainHybrid(TfLiteContext* context, const Tensors& tensors) const;
  TfLiteStatus RunPlain(TfLiteContext* context, const Tensors& tensors) const;
  template <typename T>
  void PlainQuantized(TfLiteContext* context, const Tensors& tensors) const;
  template <typename Sum, typename Finish>
  void GatherBatch(TfLiteContext* context, int batch, const Sum* products,
                   const Finish& finish) const;
  // Returns the shape of the matrix product of one batch element: every input pixel times all
  // weights.
  MatrixShape ProductShape() const;
  size_t ProductBytes() const;
  MatrixLayer::IntWeights WeightsOf(const Tensors& tensors) const;
  TfLiteStatus QuantizeInput(TfLiteContext* context, const Tensors& tensors, HybridRows* out) const;
  // Returns true if every output depends on one input pixel and one tap.
  bool IsSeparate() const;
  bool PackTaps(TfLiteContext* context, const CpuKernels& cpu, const Tensors& tensors);
  TfLiteStatus SeparateFloat(TfLiteContext* context, const CpuKernels& cpu, const Tensors& tensors);
  TfLiteStatus FastFloat(TfLiteContext* context, const CpuKernels& cpu, const Tensors& tensors);
  TfLiteStatus FastSums(TfLiteContext* context, const CpuKernels& cpu, const Tensors& tensors);

  TransposeShape shape_;
  WeightsForm form_ = WeightsForm::kFloat;
  FloatRange range_;
  ChannelScaling scaling_;
  bool wide_sums_ = false;
  WeightScales weight_scales_;
  MatrixLayer matrix_;
  PackedWeights<float> tap_weights_;  // packed weights of SeparateFloat, one group per tap
  Choice<TransposeConv, Tensors> choice_;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_CONV_TRANSPOSE_H_
