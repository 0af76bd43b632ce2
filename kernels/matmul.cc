// SPDX-License-Identifier: Apache-2.0
//
// FULLY_CONNECTED on float32 and int8: [batches][depth] times [units][depth] transposed. The input
// may have any rank; it is cut into rows of `depth`.
//
// int8 weights may have a zero point when they have one scale (the fast path wants 0 and leaves
// the rest to the reference); with a scale per unit the zero points are ignored, as upstream does.
#include <cmath>
#include <cstring>

#include "kernels/activation_range.h"
#include "kernels/channel_scaling.h"
#include "kernels/cpu.h"
#include "kernels/kernel.h"
#include "kernels/matrix_layer.h"
#include "kernels/registry.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillFullyConnected(const OpOptions& options, TfLiteFullyConnectedParams* params) {
  params->activation = options.Activation(0);
  params->weights_format =
      static_cast<TfLiteFullyConnectedWeightsFormat>(static_cast<uint8_t>(options.Byte(1)));
  params->keep_num_dims = options.Bool(2);
  params->asymmetric_quantize_inputs = options.Bool(3);
  params->quantized_bias_type = options.Type(4);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

struct FullyConnectedData {
  MatrixShape shape;
  int32_t weights_zero_point = 0;
  FloatRange float_range;
  ChannelScaling scaling;
  MatrixLayer matrix;
};

// With one scale for all, the bias must have been quantised with input scale times weight scale.
TfLiteStatus CheckBiasScale(TfLiteContext* context, const TfLiteTensor* input,
                            const TfLiteTensor* weights, const TfLiteTensor* bias,
                            const TfLiteTensor* output) {
  const double product = static_cast<double>(input->params.scale) *
                         static_cast<double>(weights->params.scale);
  const double bias_scale = static_cast<double>(bias->params.scale);
  if (std::fabs(product - bias_scale) / static_cast<double>(output->params.scale) <= 0.02) {
    return kTfLiteOk;
  }
  return TensorError(context, bias, "expected scale %g (input times weights), found %g", product,
                     bias_scale);
}

TfLiteStatus PrepareInt8(TfLiteContext* context, TfLiteNode* node,
                         TfLiteFusedActivation activation) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* weights = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  const TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(data.scaling.Prepare(context, input, weights, 0, output, activation,
                                  ExactRounding::kOnce));
  data.weights_zero_point = data.scaling.per_channel() ? 0 : weights->params.zero_point;
  if (data.weights_zero_point < -128 || data.weights_zero_point > 127) {
    return TensorError(context, weights, "expected a zero point from -128 to 127, found %d",
                       data.weights_zero_point);
  }
  if (bias != nullptr && !data.scaling.per_channel()) {
    return CheckBiasScale(context, input, weights, bias, output);
  }
  return kTfLiteOk;
}

TfLiteStatus ResizeOutput(TfLiteContext* context, const TfLiteTensor* input, bool keep_num_dims,
                          const MatrixShape& shape, TfLiteTensor* output) {
  if (!keep_num_dims) {
    const int dims[] = {static_cast<int>(shape.rows), shape.columns};
    return ResizeTo(context, output, dims);
  }
  const int rank = Rank(input);
  if (rank == 0 || Dim(input, rank - 1) != shape.depth) {
    return TensorError(context, input, "expected the last dimension to be %d, found %d",
                       shape.depth, rank == 0 ? 0 : Dim(input, rank - 1));
  }
  int dims[kMaxRank];
  std::copy_n(input->dims->data, rank, dims);
  dims[rank - 1] = shape.columns;
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

// Rows of `depth` values in the input. Rows of no values are counted by the leading dimensions.
TfLiteStatus CountRows(TfLiteContext* context, const TfLiteTensor* input, MatrixShape* shape) {
  const int64_t values = ElementCount(input);
  const bool cut_well = shape->depth > 0 ? values % shape->depth == 0
                                         : Rank(input) > 0 && Dim(input, Rank(input) - 1) == 0;
  if (!cut_well || shape->depth > (1 << 30)) {
    return TensorError(context, input, "expected rows of %d values, found %lld values in all",
                       shape->depth, static_cast<long long>(values));
  }
  shape->rows = shape->depth > 0 ? values / shape->depth
                                 : ElementCount(Dims(input).first(Dims(input).size() - 1));
  if (shape->rows > std::numeric_limits<int>::max()) {
    return TensorError(context, input, "expected at most 2^31 - 1 rows, found more");
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 3, 1));
  const auto& params = ParamsOf<TfLiteFullyConnectedParams>(node);
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* weights = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kInt8Bit));
  DEPUTY_TRY(CheckSameType(context, weights, input));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckRank(context, weights, 2));
  if (params.weights_format != kTfLiteFullyConnectedWeightsFormatDefault) {
    return TensorError(context, weights, "expected weights in the default format, found %d",
                       static_cast<int>(params.weights_format));
  }
  if (params.activation == kTfLiteActTanh || params.activation == kTfLiteActSignBit ||
      params.activation == kTfLiteActSigmoid) {
    return KernelError(context, "fused activation: expected none or a RELU, found %d",
                       static_cast<int>(params.activation));
  }
  data.shape.columns = Dim(weights, 0);
  data.shape.depth = Dim(weights, 1);
  DEPUTY_TRY(CountRows(context, input, &data.shape));
  if (bias != nullptr) {
    DEPUTY_TRY(CheckType(context, bias, input->type == kTfLiteInt8 ? kInt32Bit : kFloat32Bit));
    DEPUTY_TRY(CheckElementCount(context, bias, data.shape.columns));
  }
  data.float_range = ActivationRange(params.activation);
  if (input->type == kTfLiteInt8) DEPUTY_TRY(PrepareInt8(context, node, params.activation));
  data.matrix.Reset();
  return ResizeOutput(context, input, params.keep_num_dims, data.shape, output);
}

// ---- Reference --------------------------------------------------------------------------------

// out[r][c] = finish(sum over d of (input[r][d] - zi) * (weights[c][d] - zw), c).
template <typename T, typename Sum, typename Finish>
void ReferenceProduct(const MatrixShape& shape, const T* input, Sum input_zero,
                      const T* weights, Sum weights_zero, T* out, const Finish& finish) {
  for (int64_t row = 0; row < shape.rows; ++row, input += shape.depth) {
    const T* weight = weights;
    for (int c = 0; c < shape.columns; ++c, weight += shape.depth) {
      Sum sum = 0;
      for (int d = 0; d < shape.depth; ++d) {
        Accumulate(&sum, (static_cast<Sum>(input[d]) - input_zero) *
                             (static_cast<Sum>(weight[d]) - weights_zero));
      }
      *out++ = finish(sum, c);
    }
  }
}

void Reference(TfLiteContext* context, TfLiteNode* node) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* weights = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) {
    ReferenceProduct(data.shape, Data<float>(input), 0.0f, Data<float>(weights), 0.0f,
                     Data<float>(output), [&](float sum, int c) {
                       if (bias != nullptr) sum += Data<float>(bias)[c];
                       return Clamp(sum, data.float_range);
                     });
  } else {
    const Arithmetic arithmetic = ArithmeticOf(context);
    ReferenceProduct(data.shape, Data<int8_t>(input), data.scaling.input_zero_point(),
                     Data<int8_t>(weights), data.weights_zero_point, Data<int8_t>(output),
                     [&](int32_t sum, int c) {
                       if (bias != nullptr) Accumulate(&sum, Data<int32_t>(bias)[c]);
                       return data.scaling.Requantize(arithmetic, sum, c);
                     });
  }
}

// ---- Eval -------------------------------------------------------------------------------------

struct Int8Rows {
  const int8_t* input;
  size_t depth;
  void (*widen)(const int8_t* values, size_t count, int16_t* out);
};

void FillInt8Row(const void* source, int64_t row, int, int16_t* out) {
  const Int8Rows& rows = *static_cast<const Int8Rows*>(source);
  rows.widen(rows.input + row * static_cast<int64_t>(rows.depth), rows.depth, out);
}

TfLiteStatus EvalFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  if (data.shape.rows == 0 || data.shape.columns == 0) return kTfLiteOk;
  if (data.shape.depth == 0) {
    // Zeros and not the bias, also as int8: what upstream answers to an input without elements.
    TfLiteTensor* output = Output(context, node, 0);
    std::memset(output->data.raw, 0, output->bytes);
    return kTfLiteOk;
  }
  const CpuKernels& cpu = Cpu();
  if (cpu.gemm_f32 == nullptr || data.weights_zero_point != 0) {
    Reference(context, node);
    return kTfLiteOk;
  }
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* weights = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) {
    MatrixLayer::Rows<float> rows;
    rows.direct = Data<float>(input);
    rows.stride = static_cast<size_t>(data.shape.depth);
    return data.matrix.RunFloat(context, cpu, data.shape, rows, weights, bias, data.float_range,
                                Data<float>(output));
  }
  const Int8Rows source = {Data<int8_t>(input), static_cast<size_t>(data.shape.depth),
                           cpu.widen_s8};
  MatrixLayer::Rows<int16_t> rows;
  rows.fill = &FillInt8Row;
  rows.source = &source;
  return data.matrix.RunInt8(context, cpu, data.shape, rows, weights, bias, data.scaling,
                             Data<int8_t>(output));
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "FULLY_CONNECTED",
     .code = kTfLiteBuiltinFullyConnected,
     .min_version = 1,
     .max_version = 14,
     .types = kFloat32Bit | kInt8Bit,
     .options = {1, 8},
     .params_size = sizeof(TfLiteFullyConnectedParams),
     .parse = &ParseOptions<8, TfLiteFullyConnectedParams, &FillFullyConnected>,
     .init = &GuardedInit<&NewData<FullyConnectedData>>,
     .free = &DeleteData<FullyConnectedData>,
     .prepare = &Guarded<&PrepareFullyConnected>,
     .invoke = &Guarded<&EvalFullyConnected>,
     .inplace = kTfLiteInplaceOpNone},
};

}  // namespace

constexpr std::span<const OpDef> kMatmulOps = kTable;

}  // namespace deputy
