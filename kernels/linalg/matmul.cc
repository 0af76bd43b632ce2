// SPDX-License-Identifier: Apache-2.0
//
// FULLY_CONNECTED in all the forms of weights_form.h: [batches][depth] times [units][depth]
// transposed. The input may have any rank; it is cut into rows of `depth`. kernels/batch_matmul.cc
// has BATCH_MATMUL, where both factors are data.
//
// int8 weights may have a zero point when they have one scale; with a scale per unit the zero
// points are ignored, as upstream does.
#include <cmath>
#include <cstring>

#include "kernels/common/activation_range.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"
#include "kernels/linalg/batch_matmul.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/dot.h"
#include "kernels/linalg/matrix_layer.h"
#include "kernels/linalg/weights_form.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillFullyConnected(const OpOptions& options, TfLiteFullyConnectedParams* params) {
  params->activation = options.Activation(0);
  const int8_t format = options.Byte(1);
  if (format != kTfLiteFullyConnectedWeightsFormatDefault &&
      format != kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8) {
    return false;
  }
  params->weights_format = static_cast<TfLiteFullyConnectedWeightsFormat>(format);
  params->keep_num_dims = options.Bool(2);
  params->asymmetric_quantize_inputs = options.Bool(3);
  params->quantized_bias_type = options.Type(4);
  return true;
}

bool FillBatchMatMul(const OpOptions& options, TfLiteBatchMatMulParams* params) {
  params->adj_x = options.Bool(0);
  params->adj_y = options.Bool(1);
  params->asymmetric_quantize_inputs = options.Bool(2);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

struct FullyConnectedData {
  MatrixShape shape;
  WeightsForm form = WeightsForm::kFloat;
  int32_t weights_zero_point = 0;
  FloatRange float_range;
  ChannelScaling scaling;
  bool wide_sums = false;      // int16
  WeightScales weight_scales;  // hybrid
  HybridRows hybrid;
  MatrixLayer matrix;
};

TfLiteStatus PrepareQuantization(TfLiteContext* context, TfLiteNode* node,
                                 TfLiteFusedActivation activation) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* weights = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  const TfLiteTensor* output = Output(context, node, 0);
  data.weights_zero_point = 0;
  if (data.form == WeightsForm::kFloat) return kTfLiteOk;
  if (data.form == WeightsForm::kHybrid) return data.weight_scales.Prepare(context, weights, 0);
  DEPUTY_TRY(
      data.scaling.Prepare(context, input, weights, 0, output, activation, ExactRounding::kOnce));
  if (data.form == WeightsForm::kInt16) {
    DEPUTY_TRY(CheckNoZeroPoint(context, input));
    DEPUTY_TRY(CheckNoZeroPoint(context, output));
  }
  if (!data.scaling.per_channel()) {
    data.weights_zero_point = weights->params.zero_point;
    DEPUTY_TRY(CheckQuantized(context, weights));
    if (bias != nullptr) DEPUTY_TRY(CheckBiasScale(context, input, weights, bias, output));
  } else if (data.form == WeightsForm::kUInt8) {
    return TensorError(context, weights, "expected one scale for uint8, found several");
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
  // The one pair of different types: uint8 into int16.
  const bool widens = input->type == kTfLiteUInt8 && output->type == kTfLiteInt16;
  DEPUTY_TRY(FindWeightsForm(context, input, weights, widens ? input : output, &data.form));
  DEPUTY_TRY(CheckRank(context, weights, 2));
  if (params.weights_format != kTfLiteFullyConnectedWeightsFormatDefault) {
    return TensorError(context, weights, "expected weights in the default format, found %d",
                       static_cast<int>(params.weights_format));
  }
  if (data.form != WeightsForm::kHybrid &&
      (params.activation == kTfLiteActTanh || params.activation == kTfLiteActSignBit ||
       params.activation == kTfLiteActSigmoid)) {
    return KernelError(context, "fused activation: expected none or a RELU, found %d",
                       static_cast<int>(params.activation));
  }
  data.shape.columns = Dim(weights, 0);
  data.shape.depth = Dim(weights, 1);
  DEPUTY_TRY(CountRows(context, input, &data.shape));
  DEPUTY_TRY(CheckBias(context, data.form, bias, params.quantized_bias_type, data.shape.columns));
  data.wide_sums = HasWideSums(bias, params.quantized_bias_type);
  data.float_range = ActivationRange(params.activation);
  DEPUTY_TRY(PrepareQuantization(context, node, params.activation));
  data.matrix.Reset();
  return ResizeOutput(context, input, params.keep_num_dims, data.shape, output);
}

// ---- Reference --------------------------------------------------------------------------------

// finish(sum over d of (input[r][d] - zero of r) * (weights[c][d] - weights_zero), r, c), on the
// interpreter's threads. `zeros` are `zero_stride` apart.
template <typename In, typename Weight, typename Zero, typename Finish>
void PlainProduct(TfLiteContext* context, const MatrixShape& shape, const In* input,
                  const Zero* zeros, int zero_stride, const Weight* weights, Zero weights_zero,
                  const Finish& finish) {
  const int64_t outputs = shape.rows * shape.columns;
  const int64_t portion = std::max<int64_t>(50'000 / std::max(shape.depth, 1), outputs >> 20) + 1;
  const int tasks = static_cast<int>((outputs + portion - 1) / portion);
  ParallelFor(context, tasks, [&](int task, int) {
    const int64_t last = std::min(outputs, (task + 1) * portion);
    for (int64_t i = task * portion; i < last; ++i) {
      const int64_t row = i / shape.columns;
      const int c = static_cast<int>(i % shape.columns);
      finish(Dot(input + row * shape.depth, weights + int64_t{c} * shape.depth, shape.depth,
                 zeros[row * zero_stride], weights_zero),
             row, c);
    }
  });
}

// int8 and uint8, the latter also into int16.
template <typename T, typename Out>
void PlainQuantized(TfLiteContext* context, TfLiteNode* node) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* bias = Input(context, node, 2);
  Out* out = Data<Out>(Output(context, node, 0));
  const Arithmetic arithmetic = ArithmeticOf(context);
  const int32_t zero = data.scaling.input_zero_point();
  PlainProduct(context, data.shape, Data<T>(Input(context, node, 0)), &zero, 0,
               Data<T>(Input(context, node, 1)), data.weights_zero_point,
               [&](int32_t sum, int64_t row, int c) {
                 if (bias != nullptr) Accumulate(&sum, Data<int32_t>(bias)[c]);
                 out[row * data.shape.columns + c] =
                     static_cast<Out>(data.scaling.Requantize(arithmetic, sum, c));
               });
}

void PlainFloat(TfLiteContext* context, TfLiteNode* node) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* bias = Input(context, node, 2);
  float* out = Data<float>(Output(context, node, 0));
  const float zero = 0.0f;
  PlainProduct(context, data.shape, Data<float>(Input(context, node, 0)), &zero, 0,
               Data<float>(Input(context, node, 1)), 0.0f, [&](float sum, int64_t row, int c) {
                 if (bias != nullptr) sum += Data<float>(bias)[c];
                 out[row * data.shape.columns + c] = Clamp(sum, data.float_range);
               });
}

void PlainInt16(TfLiteContext* context, TfLiteNode* node) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* bias = Input(context, node, 2);
  int16_t* out = Data<int16_t>(Output(context, node, 0));
  const int32_t zero = 0;
  PlainProduct(context, data.shape, Data<int16_t>(Input(context, node, 0)), &zero, 0,
               Data<int8_t>(Input(context, node, 1)), data.weights_zero_point,
               [&](int64_t sum, int64_t row, int c) {
                 out[row * data.shape.columns + c] =
                     data.scaling.RequantizeInt16(AddInt16Bias(sum, bias, c), data.wide_sums, c);
               });
}

// After the input has been quantised.
void PlainHybrid(TfLiteContext* context, TfLiteNode* node) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* bias = Input(context, node, 2);
  float* out = Data<float>(Output(context, node, 0));
  PlainProduct(context, data.shape, data.hybrid.values(), data.hybrid.zero_points(), 1,
               Data<int8_t>(Input(context, node, 1)), 0, [&](int32_t sum, int64_t row, int c) {
                 float value =
                     static_cast<float>(sum) * (data.weight_scales[c] * data.hybrid.scales()[row]);
                 if (bias != nullptr) value += Data<float>(bias)[c];
                 out[row * data.shape.columns + c] = Clamp(value, data.float_range);
               });
}

TfLiteStatus Plain(TfLiteContext* context, TfLiteNode* node) {
  switch (DataOf<FullyConnectedData>(node).form) {
    case WeightsForm::kFloat:
      PlainFloat(context, node);
      break;
    case WeightsForm::kInt8:
      PlainQuantized<int8_t, int8_t>(context, node);
      break;
    case WeightsForm::kUInt8:
      Output(context, node, 0)->type == kTfLiteInt16
          ? PlainQuantized<uint8_t, int16_t>(context, node)
          : PlainQuantized<uint8_t, uint8_t>(context, node);
      break;
    case WeightsForm::kInt16:
      PlainInt16(context, node);
      break;
    case WeightsForm::kHybrid:
      PlainHybrid(context, node);
      break;
  }
  return kTfLiteOk;
}

// ---- Eval -------------------------------------------------------------------------------------

struct ByteRows {
  const void* input;
  size_t depth;
  const CpuKernels* cpu;
};

void FillInt8Row(const void* source, int64_t row, int, uint8_t* out) {
  const ByteRows& rows = *static_cast<const ByteRows*>(source);
  const auto* input = static_cast<const int8_t*>(rows.input);
  rows.cpu->gemm_s8.left_from_s8(input + row * static_cast<int64_t>(rows.depth), rows.depth, out);
}

void FillUInt8Row(const void* source, int64_t row, int, uint8_t* out) {
  const ByteRows& rows = *static_cast<const ByteRows*>(source);
  const auto* input = static_cast<const uint8_t*>(rows.input);
  rows.cpu->gemm_s8.left_from_u8(input + row * static_cast<int64_t>(rows.depth), rows.depth, out);
}

TfLiteStatus FastFullyConnected(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* weights = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  if (data.form == WeightsForm::kFloat) {
    MatrixLayer::Rows<float> rows;
    rows.direct = Data<float>(input);
    rows.stride = static_cast<size_t>(data.shape.depth);
    return data.matrix.RunFloat(context, cpu, data.shape, rows, weights, bias, data.float_range,
                                Data<float>(output));
  }
  ByteRows source = {input->data.data, static_cast<size_t>(data.shape.depth), &cpu};
  MatrixLayer::Rows<uint8_t> rows;
  rows.fill = &FillInt8Row;
  rows.source = &source;
  if (data.form == WeightsForm::kHybrid) {
    source.input = data.hybrid.values();
    return data.matrix.RunHybrid(context, cpu, data.shape, rows, weights, bias,
                                 {&data.hybrid, 1, &data.weight_scales, data.float_range},
                                 Data<float>(output));
  }
  const bool is_unsigned = data.form == WeightsForm::kUInt8;
  if (is_unsigned) rows.fill = &FillUInt8Row;
  const int32_t weights_zero = data.weights_zero_point - (is_unsigned ? 128 : 0);
  return data.matrix.RunInt8(context, cpu, data.shape, rows, {weights, is_unsigned, weights_zero},
                             bias, data.scaling, output->data.data);
}

// The activations that are no ranges; only hybrid layers have them.
void ApplyActivation(TfLiteFusedActivation activation, TfLiteTensor* output) {
  float* values = Data<float>(output);
  const int64_t count = ElementCount(output);
  for (int64_t i = 0; i < count; ++i) {
    if (activation == kTfLiteActTanh) values[i] = std::tanh(values[i]);
    if (activation == kTfLiteActSigmoid) values[i] = 1.0f / (1.0f + std::exp(-values[i]));
    if (activation == kTfLiteActSignBit) values[i] = std::signbit(values[i]) ? 1.0f : 0.0f;
  }
}

TfLiteStatus EvalFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (data.shape.rows == 0 || data.shape.columns == 0) return kTfLiteOk;
  if (data.shape.depth == 0) {
    // Zeros and not the bias, also as int8: what upstream returns to an input without elements.
    std::memset(output->data.raw, 0, output->bytes);
    return kTfLiteOk;
  }
  const auto& params = ParamsOf<TfLiteFullyConnectedParams>(node);
  const bool hybrid = data.form == WeightsForm::kHybrid;
  if (hybrid) {
    DEPUTY_TRY(data.hybrid.Quantize(context, input, Data<float>(input), data.shape.rows,
                                    data.shape.depth, params.asymmetric_quantize_inputs));
  }
  const CpuKernels& cpu = Cpu();
  const bool plain = cpu.gemm_f32.tile == nullptr || output->type == kTfLiteInt16;
  DEPUTY_TRY(plain ? Plain(context, node) : FastFullyConnected(context, node, cpu));
  if (hybrid && params.activation > kTfLiteActRelu6) ApplyActivation(params.activation, output);
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<8, TfLiteFullyConnectedParams, &FillFullyConnected>(KernelRow<FullyConnectedData>(
        "FULLY_CONNECTED", kTfLiteBuiltinFullyConnected, 14, kWeightsFormInputs,
        &Guarded<&PrepareFullyConnected>, &Guarded<&EvalFullyConnected>)),
    {.name = "BATCH_MATMUL",
     .code = kTfLiteBuiltinBatchMatmul,
     .min_version = 1,
     .max_version = 4,
     .types = kFloat32Bit | kInt8Bit | kInt16Bit,
     .options = {1, 101},
     .params_size = sizeof(TfLiteBatchMatMulParams),
     .parse = &ParseOptions<101, TfLiteBatchMatMulParams, &FillBatchMatMul>,
     .init = &GuardedInit<&NewBatchMatMul>,
     .free = &DeleteBatchMatMul,
     .prepare = &Guarded<&PrepareBatchMatMul>,
     .invoke = &Guarded<&EvalBatchMatMul>,
     .inplace = kTfLiteInplaceOpNone},
};

}  // namespace

constexpr std::span<const OpDef> kMatmulOps = kTable;

}  // namespace deputy
