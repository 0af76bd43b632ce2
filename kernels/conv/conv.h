// SPDX-License-Identifier: Apache-2.0
//
// Data shared by the implementations of CONV_2D and DEPTHWISE_CONV_2D: the sizes of a convolution
// and the data of a node. The lists of implementations are in conv.cc.
#ifndef DEPUTY_KERNELS_CONV_CONV_H_
#define DEPUTY_KERNELS_CONV_CONV_H_

#include <algorithm>

#include "core/kernel_api/fusion.h"
#include "core/support/int_math.h"
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

// Sizes of a convolution. CONV_2D and DEPTHWISE_CONV_2D are the same computation: an output channel
// of a group sums over the group's `depth` input channels. In a depthwise convolution groups =
// input channels and depth = 1.
struct ConvShape {
  WindowAxis y, x;
  int batches = 0;
  int input_channels = 0, output_channels = 0;
  int groups = 1, depth = 0;
  // Number of int8 filters whose sum is a depthwise filter; see depthwise_uint8.cc.
  int filter_parts = 1;

  // Returns true if each output pixel depends only on the input pixel at the same position.
  bool IsPointwise() const {
    return y.filter == 1 && x.filter == 1 && y.stride == 1 && x.stride == 1;
  }
  int64_t output_pixels() const { return int64_t{batches} * y.output * x.output; }
  const auto* Pixel(const auto* input, int64_t batch, int64_t iy, int64_t ix) const {
    return input + ((batch * y.input + iy) * x.input + ix) * input_channels;
  }
};

// Range [first, last) of output columns whose windows lie inside the input.
struct Interior {
  int first = 0, last = 0;

  explicit Interior(const WindowAxis& x) {
    while (first < x.output && x.FirstTap(first) > 0) ++first;
    last = x.output;
    while (last > first && x.LastTap(last - 1) < x.filter) --last;
  }
  int columns() const { return last - first; }
};

// Addend of an int8 output, added before the store as ADD does it (QuantizedSum of the
// convolution's result and the addend). It has the output's shape and may alias it.
struct AddendS8 {
  const int8_t* values;
  QuantizedSum sum;

  // Computes out[i] = the quantised sum of steps[i] and values[offset + i].
  void AddTo(const CpuKernels& cpu, const int8_t* steps, int64_t offset, int64_t count,
             int8_t* out) const {
    AddSteps(cpu, {steps, values + offset, out, count, true, true}, sum);
  }
  // Returns the addend in the form used by kernels that add it themselves; `offset` is the index of
  // the first value of the rows.
  RowsAddendS8 RowsFrom(int64_t offset) const {
    return {.values = values + offset,
            .result_factor = sum.factor_a,
            .addend_factor = sum.factor_b,
            .offset = sum.offset,
            .low = sum.bounds.low,
            .high = sum.bounds.high,
            .zero_point = sum.zero_point};
  }
};

// Tensors and parameters of one run of a convolution. Input and output are
// [batches][height][width][channels]; the filter of CONV_2D is [out channels][filter height][filter
// width][channels of a group], that of DEPTHWISE_CONV_2D [1][filter height][filter width][out
// channels]; the bias is [out channels].
struct ConvTensors {
  const TfLiteTensor* input;
  const TfLiteTensor* filter;
  const TfLiteTensor* bias;
  TfLiteTensor* output;
  // Sizes of the convolution and range of its outputs. In a fusion group they differ from those of
  // the node.
  ConvShape shape;
  FloatRange float_range;
  // Epilogue of all pixels, for implementations with `fuses`; null if there is none.
  const EpilogueF32* epilogue = nullptr;
  const AddendS8* addend = nullptr;
  // Factors of the input's channels, applied before the convolution; null if there are none.
  const float* factors = nullptr;
};

// Rounds a size up so that the next object in scratch memory is aligned as tensors are.
constexpr size_t AlignedBytes(size_t bytes) { return RoundUp(bytes, kTensorAlignment); }

struct ConvData;
using ConvImplementation = Implementation<ConvData, ConvTensors>;

struct ConvData {
  ConvShape shape;
  WeightsForm form = WeightsForm::kFloat;
  FloatRange float_range;
  ChannelScaling scaling;
  bool wide_sums = false;       // true if sums have 64 bits (int16 only)
  WeightScales weight_scales;   // scales of int8 weights of a hybrid layer
  bool asymmetric_rows = true;  // true if a hybrid layer quantises its input with zero points
  int repeats = 1;              // number of times that a depthwise layer repeats each input channel
  DenseWeights dense_filter;
  MatrixLayer matrix;
  bool allows_winograd = false;
  bool allows_bf16 = false;  // true if a float32 layer may use 16-bit factors
  Bf16Layer bf16;            // 16-bit weights of a pointwise convolution
  Bf16Weights bf16_filter;   // 16-bit weights of any other convolution
  // Filter of a uint8 depthwise layer as ConvShape::filter_parts int8 filters.
  PackedConstant int8_parts;
  // Filter of an int8 depthwise layer in the kernel's order, or of an int16 CONV_2D widened to
  // int16.
  PackedConstant packed_filter;
  PackedConstant flat_filter;  // packed_filter, repeated for vectors that span pixels
  // Bias and factors of an int8 depthwise layer in the kernel's order, and a row of zero points.
  PackedConstant columns;
  // Filter, bias and factors of an int8 depthwise layer for kernels that compute several rows at
  // once.
  PackedConstant lines;
  Choice<ConvData, ConvTensors> choice;

  // Quantises the input of a hybrid layer with a scale and, if it is asymmetric, a zero point for
  // each batch.
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
  ConvData& data = DataOf<ConvData>(node);
  return {.input = Input(context, node, 0),
          .filter = data.dense_filter.Of(Input(context, node, 1)),
          .bias = Input(context, node, 2),
          .output = Output(context, node, 0),
          .shape = data.shape,
          .float_range = data.float_range};
}

// Rows of one image in memory: all of them, or a ring buffer of the last `kept` rows.
template <typename T>
struct RowRing {
  T* data = nullptr;
  int64_t kept = 1;
  int64_t row_values = 0;

  // Returns row y. For whole images the division is avoided, which would be noticeable in small
  // ones.
  T* Row(int64_t y) const { return data + (y < kept ? y : y % kept) * row_values; }
  // Returns the number of rows from y on that are contiguous in memory.
  int64_t RunFrom(int64_t y) const { return kept - y % kept; }
};

// The convolution that a fusion group computes: the node's tensors, sizes and range with the
// changes of the group, and its epilogue. Implemented in fused_conv.cc.
class FusedConv {
 public:
  FusedConv(const TfLiteContext* context, const LayerRun& group, const ConvData& data,
            const ConvTensors& tensors);
  // `tensors` points to members of this object.
  FusedConv(const FusedConv&) = delete;
  FusedConv& operator=(const FusedConv&) = delete;

  const ConvTensors& tensors() const { return tensors_; }

 private:
  template <typename T>
  void Gather(const LayerRun& group, const T** addend) const;

  ConvTensors tensors_;
  EpilogueF32 epilogue_;
  AddendS8 addend_ = {};
};

// Distributes output rows to threads in portions large enough to hide the cost of a task. Calls
// function(first, last row of all batches, worker); with several threads most portions are
// multiples of `together` rows, if there are enough rows for all threads.
template <typename Function>
void ForEachOutputRun(TfLiteContext* context, const ConvShape& shape, int64_t together,
                      const Function& function) {
  const int64_t rows = int64_t{shape.batches} * shape.y.output;
  const double operations = static_cast<double>(shape.x.output) * shape.output_channels *
                            shape.depth * shape.y.filter * shape.x.filter;
  const auto rows_for = [&](double min_operations) {
    return 1 + static_cast<int64_t>(min_operations / std::max(operations, 1.0));
  };
  const EvenCut cut =
      EvenCut::ForThreads(rows, together, rows_for(30e3), rows_for(100e3), ThreadCount(context));
  if (rows == 0) return;
  ParallelFor(context, static_cast<int>(cut.parts()),
              [&](int task, int worker) { function(cut.Begin(task), cut.End(task), worker); });
}

// Calls function(row, worker) for each output row of all batches, on all threads.
template <typename Function>
void ForEachOutputRow(TfLiteContext* context, const ConvShape& shape, const Function& function) {
  ForEachOutputRun(context, shape, 1, [&](int64_t first, int64_t last, int worker) {
    for (int64_t row = first; row < last; ++row) function(row, worker);
  });
}

// Computes the bias of an int8 convolution including the contribution of the input's zero point,
// padded to whole panels and kMaxTileColumns more. Wraps as the sums do.
void FoldBias(const PackedWeights<int8_t>& weights, const int32_t* bias, int columns,
              int32_t zero_point, int32_t* out);

// Implemented in conv_reference.cc as plain loops for all forms of weights.
extern const ConvImplementation kReferenceConv, kReferenceDepthwise;
// Implemented in conv_int16.cc with dot products of int16.
extern const ConvImplementation kDotsInt16Conv;
// Implemented in conv_rows.cc and conv_rows_int8.cc with matrix products that read the input in
// place.
extern const ConvImplementation kFewColumnsRowsConv, kRowsConv, kRowsInt8Conv;
// Implemented in conv_winograd.cc and conv_winograd_int8.cc with Winograd's algorithm.
extern const ConvImplementation kWinogradConv, kWinogradInt8Conv;
// Implemented in conv_bf16.cc for float32 with factors rounded to bfloat16 or float16.
extern const ConvImplementation kPointwiseBf16Conv, kRowsBf16Conv;
// Implemented in conv_gemm.cc with matrix products of im2col patches.
extern const ConvImplementation kFewColumnsConv, kGemmFloatConv, kGemmInt8Conv, kGemmHybridConv;
// Returns true if the convolution can multiply its input by ConvTensors::factors in a fusion group.
bool SupportsFactors(const ConvData& data);
// Declares the scratch memory of such a group, in prepare.
void DeclareFactorScratch(TfLiteContext* context, const LayerRun& group);
// Returns the offer to compute a layer strip by strip (core/fusion/strips.h) of a node that has
// selected its implementation. Implemented in strip.cc.
StripOffer StripOfferOf(const ConvData& data);
// Runs all layers of a group strip by strip; called for the head of the group.
TfLiteStatus RunStrips(TfLiteContext* context, const StripRun& group);
// Declares the scratch memory of RunStrips, in prepare.
void DeclareStripScratch(TfLiteContext* context, const StripRun& group);

// A copy of a convolution's input in which each channel is repeated `repeats` times (repeat.cc).
class RepeatedChannels {
 public:
  // Returns the bytes of scratch memory that the copy takes.
  static size_t ScratchBytes(const ConvData& data, const TfLiteTensor* input);
  // Replaces the input in `tensors` by a copy with repeated channels, which this object owns.
  TfLiteStatus Replace(TfLiteContext* context, const ConvData& data, ConvTensors* tensors);

 private:
  Scratch scratch_;
  TfLiteTensor copy_ = {};
};

// Implementations of DEPTHWISE_CONV_2D: depthwise.cc computes one or several rows at once,
// depthwise_int8.cc one row, depthwise_lines_int8.cc several; depthwise_uint8.cc converts to int8.
extern const ConvImplementation kDepthwiseFloat, kDepthwiseInt8, kDepthwiseLinesInt8,
    kDepthwiseUInt8;
// Returns ConvShape::filter_parts for a uint8 filter with that zero point.
int FilterPartsOf(int32_t zero_point);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_CONV_H_
