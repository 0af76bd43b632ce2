// SPDX-License-Identifier: Apache-2.0
//
// What the implementations of CONV_2D and DEPTHWISE_CONV_2D share: the sizes of a convolution and
// what a node keeps. The lists of implementations are in conv.cc.
#ifndef DEPUTY_KERNELS_CONV_CONV_H_
#define DEPUTY_KERNELS_CONV_CONV_H_

#include <algorithm>

#include "core/kernel_api/step.h"
#include "kernels/common/activation_range.h"
#include "kernels/common/even_cut.h"
#include "kernels/common/padding.h"
#include "kernels/cpu/implementation.h"
#include "kernels/linalg/bf16_layer.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/dense_weights.h"
#include "kernels/linalg/hybrid.h"
#include "kernels/linalg/matrix_layer.h"
#include "kernels/linalg/weights_form.h"

namespace deputy {

// The sizes of a convolution. Both operators are one: out channel c of group g sums over `depth`
// input channels; in a depthwise convolution groups = input channels and depth = 1.
struct ConvShape {
  WindowAxis y, x;
  int batches = 0;
  int input_channels = 0, output_channels = 0;
  int groups = 1, depth = 0;
  int filter_parts = 1;  // depthwise: int8 filters whose sum is the filter

  // Each pixel of the output reads the one of the input in its place.
  bool IsPointwise() const {
    return y.filter == 1 && x.filter == 1 && y.stride == 1 && x.stride == 1;
  }
  int64_t output_pixels() const { return int64_t{batches} * y.output * x.output; }
  const auto* Pixel(const auto* input, int64_t batch, int64_t iy, int64_t ix) const {
    return input + ((batch * y.input + iy) * x.input + ix) * input_channels;
  }
};

// Output columns [first, last) of a row whose windows lie inside the input.
struct Interior {
  int first = 0, last = 0;

  explicit Interior(const WindowAxis& x) {
    while (first < x.output && x.FirstTap(first) > 0) ++first;
    last = x.output;
    while (last > first && x.LastTap(last - 1) < x.filter) --last;
  }
  int columns() const { return last - first; }
};

// What is added to an int8 output before it is stored, as ADD does it: QuantizedSum of what is made
// and the addend, which has its shape and may lie where the output does.
struct AddendS8 {
  const int8_t* values;
  QuantizedSum sum;

  // out[i] = the sum of steps[i] and values[place + i].
  void AddTo(const CpuKernels& cpu, const int8_t* steps, int64_t place, int64_t count,
             int8_t* out) const {
    AddSteps(cpu, {steps, values + place, out, count, true, true}, sum);
  }
  // The same for a function that adds by itself, to rows whose first value is at `place`.
  RowsAddendS8 RowsFrom(int64_t place) const {
    return {.values = values + place,
            .factor_made = sum.factor_a,
            .factor_value = sum.factor_b,
            .offset = sum.offset,
            .low = sum.bounds.low,
            .high = sum.bounds.high,
            .zero_point = sum.zero_point};
  }
};

// Input and output [batches][height][width][channels]; the filter of CONV_2D [out channels][filter
// height][filter width][channels of a group], that of DEPTHWISE_CONV_2D [1][filter height][filter
// width][out channels]; the bias [out channels].
struct ConvTensors {
  const TfLiteTensor* input;
  const TfLiteTensor* filter;
  const TfLiteTensor* bias;
  TfLiteTensor* output;
  // Of all pixels, for implementations that fuse; null: none.
  const EpilogueF32* epilogue = nullptr;
  const AddendS8* addend = nullptr;
  // By which the input's channels are multiplied first; null: none.
  const float* factors = nullptr;
};

// Sizes in scratch that keep what follows aligned for tensors.
constexpr size_t AlignedBytes(size_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

struct ConvData;
using ConvImplementation = Implementation<ConvData, ConvTensors>;

struct ConvData {
  ConvShape shape;
  WeightsForm form = WeightsForm::kFloat;
  FloatRange float_range;
  ChannelScaling scaling;
  bool wide_sums = false;       // int16
  WeightScales weight_scales;   // hybrid
  bool asymmetric_rows = true;  // hybrid
  int repeats = 1;              // depthwise: times that the shape has each channel of the input
  DenseWeights dense_filter;
  MatrixLayer matrix;
  bool allows_winograd = false;
  bool allows_bf16 = false;      // of float32
  Bf16Layer bf16;                // pointwise
  Bf16Weights bf16_filter;       // what is not
  PackedConstant int8_parts;     // depthwise uint8: ConvShape::filter_parts filters of int8
  PackedConstant packed_filter;  // depthwise int8: in the table's order; int16: widened
  PackedConstant flat_filter;    // the same, repeated for vectors that span pixels
  PackedConstant columns;        // depthwise int8: bias and factors in that order
  PackedConstant lines;          // depthwise int8: all of them, for several rows at once
  Choice<ConvData, ConvTensors> choice;

  // Hybrid: quantises the input, with a scale and a zero point for every batch.
  TfLiteStatus QuantizeInput(TfLiteContext* context, const ConvTensors& tensors,
                             HybridRows* out) const {
    return out->Quantize(context, tensors.input, Data<float>(tensors.input), shape.batches,
                         InputValues(), asymmetric_rows);
  }
  size_t HybridScratch() const {
    return form == WeightsForm::kHybrid ? HybridRows::ScratchBytes(shape.batches, InputValues())
                                        : 0;
  }

 private:
  int64_t InputValues() const {
    return int64_t{shape.y.input} * shape.x.input * shape.input_channels;
  }
};

inline ConvTensors TensorsOf(TfLiteContext* context, const TfLiteNode* node) {
  return {Input(context, node, 0), DataOf<ConvData>(node).dense_filter.Of(Input(context, node, 1)),
          Input(context, node, 2), Output(context, node, 0)};
}

// Rows of one image: all of them, or the last `kept`, each in the place of the one `kept` before.
template <typename T>
struct RowRing {
  T* data = nullptr;
  int64_t kept = 1;
  int64_t row_values = 0;

  // Whole images need no division, which would count for small ones.
  T* Row(int64_t y) const { return data + (y < kept ? y : y % kept) * row_values; }
  // Rows from y on that lie one behind the other.
  int64_t RunFrom(int64_t y) const { return kept - y % kept; }
};

// RAII guard: the node's data and tensors are those of its step. In in_step.cc.
class InStep {
 public:
  InStep(const TfLiteContext* context, const StepRun& step, ConvData* data, ConvTensors* tensors);
  ~InStep();
  InStep(const InStep&) = delete;
  InStep& operator=(const InStep&) = delete;

 private:
  template <typename T>
  void Gather(const StepRun& step, TfLiteTensor* output, const T** addend) const;

  ConvData* const data_;
  const WindowAxis y_, x_;
  const FloatRange range_;
  EpilogueF32 epilogue_;
  AddendS8 addend_ = {};
};

// Rows of output are handed out in portions: a hand-over must not cost more than the work.
// function(first, last row of all batches, worker); with several threads most portions are
// multiples of `together` rows, where there are enough for all.
template <typename Function>
void ForEachOutputRun(TfLiteContext* context, const ConvShape& shape, int64_t together,
                      const Function& function) {
  const int64_t rows = int64_t{shape.batches} * shape.y.output;
  const double operations = static_cast<double>(shape.x.output) * shape.output_channels *
                            shape.depth * shape.y.filter * shape.x.filter;
  const auto rows_for = [&](double least) {
    return 1 + static_cast<int64_t>(least / std::max(operations, 1.0));
  };
  const EvenCut cut =
      EvenCut::ForThreads(rows, together, rows_for(30e3), rows_for(100e3), ThreadCount(context));
  if (rows == 0) return;
  ParallelFor(context, static_cast<int>(cut.parts()),
              [&](int task, int worker) { function(cut.Begin(task), cut.End(task), worker); });
}

// The same row by row: function(row, worker).
template <typename Function>
void ForEachOutputRow(TfLiteContext* context, const ConvShape& shape, const Function& function) {
  ForEachOutputRun(context, shape, 1, [&](int64_t first, int64_t last, int worker) {
    for (int64_t row = first; row < last; ++row) function(row, worker);
  });
}

// Of int8 convolutions: the bias with the inputs' zero point in it, for whole panels and
// kMaxTileColumns more. Wraps as sums do.
void FoldBias(const PackedWeights<int8_t>& weights, const int32_t* bias, int columns,
              int32_t zero_point, int32_t* out);

// conv_reference.cc: plain loops for every form.
extern const ConvImplementation kReferenceConv, kReferenceDepthwise;
// conv_int16.cc.
extern const ConvImplementation kDotsInt16Conv;
// conv_rows.cc and conv_rows_int8.cc: products that read the input where it lies.
extern const ConvImplementation kFewColumnsRowsConv, kRowsConv, kRowsInt8Conv;
// conv_winograd.cc and conv_winograd_int8.cc: products of transformed tiles.
extern const ConvImplementation kWinogradConv, kWinogradInt8Conv;
// conv_bf16.cc: float32 with factors in bfloat16.
extern const ConvImplementation kPointwiseBf16Conv, kRowsBf16Conv;
// conv_gemm.cc: products of the patches under the filter with packed weights.
extern const ConvImplementation kFewColumnsConv, kGemmFloatConv, kGemmInt8Conv, kGemmHybridConv;
// Whether that is so of a convolution in a step whose input is multiplied by factors before it is
// read (ConvTensors::factors), and the scratch of that, for prepare.
bool TakesFactors(const ConvData& data);
void AnnounceFactors(TfLiteContext* context, const StepRun& step);
// strip.cc: layers that are computed strip by strip (core/exec/strips.h). What a node that has
// chosen its implementation can be there, and the layers of a step, for the node that is its head.
StripOffer StripOfferOf(const ConvData& data);
TfLiteStatus RunStrips(TfLiteContext* context, const StepRun& step);
// For prepare.
void AnnounceStrips(TfLiteContext* context, const StepRun& step);

// repeat.cc: a tensor whose channels come `repeats` times each, side by side.
class RepeatedChannels {
 public:
  // Bytes of scratch.
  static size_t ScratchBytes(const ConvData& data, const TfLiteTensor* input);
  // Puts such a copy of their input into `tensors`, until this is destroyed.
  TfLiteStatus Replace(TfLiteContext* context, const ConvData& data, ConvTensors* tensors);

 private:
  Scratch scratch_;
  TfLiteTensor copy_ = {};
};

// depthwise.cc and depthwise_int8.cc: row by row; depthwise_lines_int8.cc: several rows at once;
// depthwise_uint8.cc: as int8.
extern const ConvImplementation kDepthwiseFloat, kDepthwiseInt8, kDepthwiseLinesInt8,
    kDepthwiseUInt8;
// The value of ConvShape::filter_parts for a uint8 filter with that zero point.
int FilterPartsOf(int32_t zero_point);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_CONV_H_
