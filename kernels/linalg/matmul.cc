// SPDX-License-Identifier: Apache-2.0
//
// FULLY_CONNECTED for all forms of weights_form.h: [batches][depth] times the transpose of
// [units][depth]. The input may have any rank; it is divided into rows of `depth`. BATCH_MATMUL,
// where both operands are data, is in batch_matmul.cc; the operator table is here.
//
// With quantised inputs, dense int8 and uint8 weights may have a zero point if they have one scale.
// With a scale per unit, and with float inputs, zero points are ignored, as upstream does. Sparse
// int8 weights and 4-bit and 2-bit weights must have zero point 0. With float inputs, 4-bit weights
// may also have a scale for each block of a row; then inputs are always quantised with a zero
// point. Sparse float32 and int8 weights are expanded to dense ones once, whatever their blocks.
#include <cmath>
#include <cstring>
#include <optional>

#include "core/kernel_api/fusion.h"
#include "core/support/int_math.h"
#include "kernels/common/activation_range.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/refused_options.h"
#include "kernels/cpu/implementation.h"
#include "kernels/linalg/batch_matmul.h"
#include "kernels/linalg/bf16_layer.h"
#include "kernels/linalg/blockwise.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/dense_weights.h"
#include "kernels/linalg/dot.h"
#include "kernels/linalg/matrix_layer.h"
#include "kernels/linalg/row_group.h"
#include "kernels/linalg/row_product.h"
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

// Tensors of a layer: input [rows][depth], weights [columns][depth], bias [columns] or null, output
// [rows][columns].
struct LayerTensors {
  const TfLiteTensor* input;
  const TfLiteTensor* weights;
  const TfLiteTensor* bias;
  TfLiteTensor* output;
};

// State of a float layer while a row-wise fusion group runs.
struct LayerInGroup {
  Scratch bias;
  RowProduct product;
};

struct FullyConnectedData {
  MatrixShape shape;
  WeightsForm form = WeightsForm::kFloat;
  int32_t weights_zero_point = 0;
  FloatRange float_range;
  ChannelScaling scaling;
  bool wide_sums = false;        // true if sums have 64 bits (int16 only)
  WeightScales weight_scales;    // scales of int8 weights of a hybrid layer
  bool asymmetric_rows = false;  // true if a hybrid layer quantises its input with zero points
  bool in_blocks = false;        // true if a hybrid layer uses block_scales, not weight_scales
  BlockScales block_scales;
  TfLiteFusedActivation activation = kTfLiteActNone;
  DenseWeights dense_weights;
  MatrixLayer matrix;
  bool allows_bf16 = false;  // true if a float32 layer may use 16-bit factors
  Bf16Layer bf16;
  std::optional<LayerInGroup> in_group;
  Choice<FullyConnectedData, LayerTensors> choice;
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
  if (PackedBits(weights->type) != 0) DEPUTY_TRY(CheckNoZeroPoints(context, weights));
  data.in_blocks = data.form == WeightsForm::kHybrid && BlockScales::Has(weights);
  if (data.in_blocks) return data.block_scales.Prepare(context, weights);
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

// Computes the number of the input's rows of `depth` values. With depth 0 the leading dimensions
// determine it.
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

// Checks that only weights are sparse, and that sparse weights are constants of a type for which
// TensorFlow Lite supports sparsity.
TfLiteStatus CheckSparsity(TfLiteContext* context, const LayerTensors& tensors) {
  for (const TfLiteTensor* dense : {tensors.input, tensors.bias}) {
    if (dense != nullptr && dense->sparsity != nullptr) {
      return TensorError(context, dense, "expected a dense tensor, found a sparse one");
    }
  }
  const TfLiteTensor* weights = tensors.weights;
  if (weights->sparsity == nullptr) return kTfLiteOk;
  DEPUTY_TRY(CheckType(context, weights, kFloat32Bit | kInt8Bit));
  if (tensors.input->type == kTfLiteInt16 || !IsReadableConstant(weights)) {
    return TensorError(context, weights, "expected a dense tensor, found a sparse one");
  }
  return weights->type == kTfLiteInt8 ? CheckNoZeroPoints(context, weights) : kTfLiteOk;
}

TfLiteStatus ReadFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 3, 1, Sparse::kAllowed));
  const auto& params = ParamsOf<TfLiteFullyConnectedParams>(node);
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* weights = Input(context, node, 1);
  const TfLiteTensor* bias = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckSparsity(context, {input, weights, bias, output}));
  // uint8 input with int16 output is the only combination of different types of input and output.
  const bool widens = input->type == kTfLiteUInt8 && output->type == kTfLiteInt16;
  DEPUTY_TRY(FindWeightsForm(context, input, weights, widens ? input : output, kPackedWeightBits,
                             &data.form));
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
  data.activation = params.activation;
  data.asymmetric_rows = params.asymmetric_quantize_inputs;
  DEPUTY_TRY(PrepareQuantization(context, node, params.activation));
  data.dense_weights.Invalidate();
  data.allows_bf16 = PrecisionOf(context) != Precision::kFloat32;
  data.matrix.Reset();
  data.bf16.Reset();
  return ResizeOutput(context, input, params.keep_num_dims, data.shape, output);
}

// ---- Reference --------------------------------------------------------------------------------

// Quantises the input of a hybrid layer with a scale and, if it is asymmetric, a zero point for
// each row.
TfLiteStatus QuantizeInput(TfLiteContext* context, const FullyConnectedData& data,
                           const LayerTensors& tensors, HybridRows* out) {
  return out->Quantize(context, tensors.input, Data<float>(tensors.input), data.shape.rows,
                       data.shape.depth, data.asymmetric_rows);
}

// Applies an activation that is not a clamp, such as TANH; only hybrid layers have such
// activations.
void ApplyActivation(TfLiteFusedActivation activation, TfLiteTensor* output) {
  if (activation <= kTfLiteActRelu6) return;
  float* values = Data<float>(output);
  const int64_t count = ElementCount(output);
  for (int64_t i = 0; i < count; ++i) {
    if (activation == kTfLiteActTanh) values[i] = std::tanh(values[i]);
    if (activation == kTfLiteActSigmoid) values[i] = 1.0f / (1.0f + std::exp(-values[i]));
    if (activation == kTfLiteActSignBit) values[i] = std::signbit(values[i]) ? 1.0f : 0.0f;
  }
}

// Calls finish(sum over d of (input[r][d] - zero of r) * (weights[c][d] - weights_zero), r, c) for
// all rows r and columns c, on the interpreter's threads. `zeros` are `zero_stride` apart.
template <typename In, typename Weight, typename Zero, typename Finish>
void PlainProduct(TfLiteContext* context, const MatrixShape& shape, const In* input,
                  const Zero* zeros, int zero_stride, const Weight* weights, Zero weights_zero,
                  const Finish& finish) {
  const int64_t outputs = shape.rows * shape.columns;
  const int64_t portion = std::max<int64_t>(50'000 / std::max(shape.depth, 1), outputs >> 20) + 1;
  const int tasks = static_cast<int>(CeilDiv(outputs, portion));
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

// Computes int8 layers, and uint8 layers with uint8 or int16 output, with plain loops.
template <typename T, typename Out>
void PlainQuantized(TfLiteContext* context, const FullyConnectedData& data,
                    const LayerTensors& tensors) {
  const TfLiteTensor* bias = tensors.bias;
  Out* out = Data<Out>(tensors.output);
  const Arithmetic arithmetic = ArithmeticOf(context);
  const int32_t zero = data.scaling.input_zero_point();
  PlainProduct(context, data.shape, Data<T>(tensors.input), &zero, 0, Data<T>(tensors.weights),
               data.weights_zero_point, [&](int32_t sum, int64_t row, int c) {
                 if (bias != nullptr) Accumulate(&sum, Data<int32_t>(bias)[c]);
                 out[row * data.shape.columns + c] =
                     static_cast<Out>(data.scaling.Requantize(arithmetic, sum, c));
               });
}

void PlainFloat(TfLiteContext* context, const FullyConnectedData& data,
                const LayerTensors& tensors) {
  const TfLiteTensor* bias = tensors.bias;
  float* out = Data<float>(tensors.output);
  const float zero = 0.0f;
  PlainProduct(context, data.shape, Data<float>(tensors.input), &zero, 0,
               Data<float>(tensors.weights), 0.0f, [&](float sum, int64_t row, int c) {
                 if (bias != nullptr) sum += Data<float>(bias)[c];
                 out[row * data.shape.columns + c] = Clamp(sum, data.float_range);
               });
}

void PlainInt16(TfLiteContext* context, const FullyConnectedData& data,
                const LayerTensors& tensors) {
  const TfLiteTensor* bias = tensors.bias;
  int16_t* out = Data<int16_t>(tensors.output);
  const int32_t zero = 0;
  PlainProduct(context, data.shape, Data<int16_t>(tensors.input), &zero, 0,
               Data<int8_t>(tensors.weights), data.weights_zero_point,
               [&](int64_t sum, int64_t row, int c) {
                 out[row * data.shape.columns + c] =
                     data.scaling.RequantizeInt16(AddInt16Bias(sum, bias, c), data.wide_sums, c);
               });
}

TfLiteStatus PlainHybrid(TfLiteContext* context, const FullyConnectedData& data,
                         const LayerTensors& tensors) {
  const TfLiteTensor* bias = tensors.bias;
  HybridRows hybrid;
  DEPUTY_TRY(QuantizeInput(context, data, tensors, &hybrid));
  float* out = Data<float>(tensors.output);
  PlainProduct(context, data.shape, hybrid.values(), hybrid.zero_points(), 1,
               Data<int8_t>(tensors.weights), 0, [&](int32_t sum, int64_t row, int c) {
                 float value =
                     static_cast<float>(sum) * (data.weight_scales[c] * hybrid.scales()[row]);
                 if (bias != nullptr) value += Data<float>(bias)[c];
                 out[row * data.shape.columns + c] = Clamp(value, data.float_range);
               });
  ApplyActivation(data.activation, tensors.output);
  return kTfLiteOk;
}

// Computes a layer with blockwise scales. Like TensorFlow Lite's kernel, it ignores the fused
// activation.
TfLiteStatus PlainBlocks(TfLiteContext* context, const FullyConnectedData& data,
                         const LayerTensors& tensors) {
  const MatrixShape& shape = data.shape;
  HybridRows hybrid;
  DEPUTY_TRY(hybrid.Quantize(context, tensors.input, Data<float>(tensors.input), shape.rows,
                             shape.depth, true));
  float* out = Data<float>(tensors.output);
  const int64_t outputs = shape.rows * shape.columns;
  ParallelRanges(context, outputs, 50'000 / shape.depth + 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = i / shape.columns;
      const int unit = static_cast<int>(i % shape.columns);
      const int8_t* weights = Data<int8_t>(tensors.weights) + int64_t{unit} * shape.depth;
      const int8_t* input = hybrid.values() + row * shape.depth;
      const float product =
          data.block_scales.Product(unit, weights, input, hybrid.zero_points()[row]);
      const float bias = tensors.bias == nullptr ? 0.0f : Data<float>(tensors.bias)[unit];
      out[i] = product * hybrid.scales()[row] + bias;
    }
  });
  return kTfLiteOk;
}

TfLiteStatus RunPlain(TfLiteContext* context, FullyConnectedData* data, const LayerTensors& tensors,
                      const CpuKernels&) {
  switch (data->form) {
    case WeightsForm::kFloat:
      PlainFloat(context, *data, tensors);
      break;
    case WeightsForm::kInt8:
      PlainQuantized<int8_t, int8_t>(context, *data, tensors);
      break;
    case WeightsForm::kUInt8:
      tensors.output->type == kTfLiteInt16
          ? PlainQuantized<uint8_t, int16_t>(context, *data, tensors)
          : PlainQuantized<uint8_t, uint8_t>(context, *data, tensors);
      break;
    case WeightsForm::kInt16:
      PlainInt16(context, *data, tensors);
      break;
    case WeightsForm::kHybrid:
      return data->in_blocks ? PlainBlocks(context, *data, tensors)
                             : PlainHybrid(context, *data, tensors);
  }
  return kTfLiteOk;
}

// ---- Fast paths -------------------------------------------------------------------------------

bool IsFloat(const FullyConnectedData& data, const LayerTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kFloat && cpu.gemm_f32.tile != nullptr;
}

bool IsFloatOfFewColumns(const FullyConnectedData& data, const LayerTensors& tensors,
                         const CpuKernels& cpu) {
  return IsFloat(data, tensors, cpu) && HasFewColumns(data.shape);
}

size_t FloatScratch(const FullyConnectedData& data, const LayerTensors&, const CpuKernels& cpu,
                    int workers) {
  return MatrixLayer::FloatScratch(cpu, data.shape, false, workers);
}

TfLiteStatus PackFloat(TfLiteContext* context, FullyConnectedData* data,
                       const LayerTensors& tensors, const CpuKernels& cpu) {
  return data->matrix.PackFloat(context, cpu, data->shape, tensors.weights);
}

MatrixLayer::Rows<float> FloatRows(const FullyConnectedData& data, const LayerTensors& tensors) {
  MatrixLayer::Rows<float> rows;
  rows.direct = Data<float>(tensors.input);
  rows.stride = static_cast<size_t>(data.shape.depth);
  return rows;
}

TfLiteStatus RunFewColumns(TfLiteContext* context, FullyConnectedData* data,
                           const LayerTensors& tensors, const CpuKernels& cpu) {
  return MatrixLayer::RunFewColumns(context, cpu, data->shape, FloatRows(*data, tensors),
                                    tensors.weights, tensors.bias, data->float_range,
                                    Data<float>(tensors.output));
}

TfLiteStatus RunFloat(TfLiteContext* context, FullyConnectedData* data, const LayerTensors& tensors,
                      const CpuKernels& cpu) {
  return data->matrix.RunFloat(context, cpu, data->shape, FloatRows(*data, tensors),
                               tensors.weights, tensors.bias, data->float_range,
                               Data<float>(tensors.output));
}

bool IsBf16(const FullyConnectedData& data, const LayerTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kFloat && data.allows_bf16 && SuitsBf16(data.shape, cpu);
}

size_t Bf16Scratch(const FullyConnectedData& data, const LayerTensors&, const CpuKernels& cpu,
                   int workers) {
  return Bf16Layer::ScratchBytes(cpu, data.shape, workers);
}

TfLiteStatus PackBf16(TfLiteContext* context, FullyConnectedData* data, const LayerTensors& tensors,
                      const CpuKernels& cpu) {
  return data->bf16.Pack(context, cpu, data->shape, tensors.weights);
}

TfLiteStatus RunBf16(TfLiteContext* context, FullyConnectedData* data, const LayerTensors& tensors,
                     const CpuKernels& cpu) {
  return data->bf16.Run(context, cpu, data->shape, Data<float>(tensors.input),
                        static_cast<size_t>(data->shape.depth), tensors.weights, tensors.bias,
                        data->float_range, Data<float>(tensors.output));
}

bool IsInt8(const FullyConnectedData& data, const LayerTensors& tensors, const CpuKernels& cpu) {
  return (data.form == WeightsForm::kInt8 || data.form == WeightsForm::kUInt8) &&
         tensors.output->type != kTfLiteInt16 && cpu.gemm_s8.tile != nullptr;
}

bool IsHybrid(const FullyConnectedData& data, const LayerTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kHybrid && !data.in_blocks && cpu.gemm_s8.tile != nullptr;
}

size_t IntScratch(const FullyConnectedData& data, const LayerTensors&, const CpuKernels& cpu,
                  int workers) {
  const size_t hybrid = data.form == WeightsForm::kHybrid
                            ? HybridRows::ScratchBytes(data.shape.rows, data.shape.depth)
                            : 0;
  return hybrid + kTensorAlignment + MatrixLayer::Int8Scratch(cpu, data.shape, workers);
}

MatrixLayer::IntWeights WeightsOf(const FullyConnectedData& data, const LayerTensors& tensors) {
  if (data.form == WeightsForm::kHybrid) return {tensors.weights, false, 0};
  const bool is_unsigned = data.form == WeightsForm::kUInt8;
  return {tensors.weights, is_unsigned, data.weights_zero_point - (is_unsigned ? 128 : 0)};
}

TfLiteStatus PackInt8(TfLiteContext* context, FullyConnectedData* data, const LayerTensors& tensors,
                      const CpuKernels& cpu) {
  return data->matrix.PackInt8(context, cpu, data->shape, WeightsOf(*data, tensors));
}

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

TfLiteStatus RunInt8(TfLiteContext* context, FullyConnectedData* data, const LayerTensors& tensors,
                     const CpuKernels& cpu) {
  const ByteRows source = {tensors.input->data.data, static_cast<size_t>(data->shape.depth), &cpu};
  MatrixLayer::Rows<uint8_t> rows;
  rows.fill = data->form == WeightsForm::kUInt8 ? &FillUInt8Row : &FillInt8Row;
  rows.source = &source;
  return data->matrix.RunInt8(context, cpu, data->shape, rows, WeightsOf(*data, tensors),
                              tensors.bias, data->scaling, tensors.output->data.data);
}

TfLiteStatus RunHybrid(TfLiteContext* context, FullyConnectedData* data,
                       const LayerTensors& tensors, const CpuKernels& cpu) {
  HybridRows hybrid;
  DEPUTY_TRY(QuantizeInput(context, *data, tensors, &hybrid));
  const ByteRows source = {hybrid.values(), static_cast<size_t>(data->shape.depth), &cpu};
  MatrixLayer::Rows<uint8_t> rows;
  rows.fill = &FillInt8Row;
  rows.source = &source;
  DEPUTY_TRY(data->matrix.RunHybrid(context, cpu, data->shape, rows, tensors.weights, tensors.bias,
                                    {&hybrid, 1, &data->weight_scales, data->float_range},
                                    Data<float>(tensors.output)));
  ApplyActivation(data->activation, tensors.output);
  return kTfLiteOk;
}

// ---- Implementations --------------------------------------------------------------------------

using LayerImplementation = Implementation<FullyConnectedData, LayerTensors>;

constexpr LayerImplementation kGemmBf16 = {.name = "gemm_bf16",
                                           .accepts = &IsBf16,
                                           .pack = &PackBf16,
                                           .scratch = &Bf16Scratch,
                                           .run = &RunBf16,
                                           .float16_name = "gemm_fp16"};
constexpr LayerImplementation kFewColumns = {"few_columns", &IsFloatOfFewColumns, nullptr,
                                             &FloatScratch, &RunFewColumns};
constexpr LayerImplementation kGemmFloat = {"gemm_float",  &IsFloat,  &PackFloat,
                                            &FloatScratch, &RunFloat, true};
constexpr LayerImplementation kGemmInt8 = {"gemm_int8", &IsInt8, &PackInt8, &IntScratch, &RunInt8};
constexpr LayerImplementation kGemmHybrid = {"gemm_hybrid", &IsHybrid, &PackInt8, &IntScratch,
                                             &RunHybrid};
constexpr LayerImplementation kReference = {
    "reference", &AcceptsAll<FullyConnectedData, LayerTensors>, nullptr, nullptr, &RunPlain};
constexpr const LayerImplementation* kImplementations[] = {&kGemmBf16, &kFewColumns, &kGemmFloat,
                                                           &kGemmInt8, &kGemmHybrid, &kReference};

LayerTensors TensorsOf(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* weights = Input(context, node, 1);
  return {Input(context, node, 0), DataOf<FullyConnectedData>(node).dense_weights.Of(weights),
          Input(context, node, 2), Output(context, node, 0)};
}

bool IsEmpty(const MatrixShape& shape) {
  return shape.rows == 0 || shape.columns == 0 || shape.depth == 0;
}

// ---- Row-wise fusion groups -------------------------------------------------------------------

TfLiteStatus EvalFullyConnected(TfLiteContext* context, TfLiteNode* node);

TfLiteStatus BeginLayer(TfLiteContext* context, const LayerTensors& tensors,
                        FullyConnectedData* data) {
  LayerInGroup& layer = data->in_group.emplace();
  const CpuKernels& cpu = data->choice.cpu();
  layer.product = {.cpu = &cpu,
                   .columns = data->shape.columns,
                   .depth = data->shape.depth,
                   .range = data->float_range};
  layer.product.weights = data->matrix.FloatWeights(context, cpu, data->shape, tensors.weights);
  if (layer.product.weights == nullptr) return kTfLiteError;
  const auto padded = static_cast<size_t>(layer.product.weights->padded_columns());
  if (!layer.bias.Acquire(context, padded * sizeof(float))) {
    return TensorError(context, tensors.weights, "out of memory for its bias");
  }
  PadBias(tensors.bias, data->shape, static_cast<int>(padded), layer.bias.as<float>());
  layer.product.bias = layer.bias.as<float>();
  return kTfLiteOk;
}

TfLiteStatus BeginLayerRows(TfLiteContext* context, TfLiteNode* node, const RowOp&) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  DEPUTY_TRY(data.dense_weights.Ensure(context, Input(context, node, 1)));
  const TfLiteStatus status = BeginLayer(context, TensorsOf(context, node), &data);
  if (status != kTfLiteOk) data.in_group.reset();
  return status;
}

void EndLayerRows(TfLiteContext*, TfLiteNode* node) {
  DataOf<FullyConnectedData>(node).in_group.reset();
}

void ComputeLayerRows(TfLiteContext* context, TfLiteNode* node, const GroupRows& rows) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const float* const values = rows.computed[0] != nullptr ? rows.computed[0]
                                                          : Data<float>(Input(context, node, 0)) +
                                                                rows.first * data.shape.depth;
  data.in_group->product.Multiply(0, values, rows.count, rows.out, data.shape.columns);
}

constexpr RowKernel kLayerRows = {&BeginLayerRows, &EndLayerRows, &ComputeLayerRows};

TfLiteStatus EvalLayerGroup(TfLiteContext* context, TfLiteNode* node, const GroupRun& group) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  return RunRowGroup(context, std::get<RowRun>(group),
                     {data.shape.rows, data.choice.cpu().gemm_f32.rows});
}

void OfferLayerRows(TfLiteContext* context, TfLiteNode* node) {
  const FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  const MatrixShape& shape = data.shape;
  const TfLiteTensor* const input = Input(context, node, 0);
  if (!data.choice.fuses() || !IsConstant(Input(context, node, 1)) ||
      !SuitsRowSteps(context, data.choice.cpu(), shape.rows, shape.columns, shape.depth)) {
    return;
  }
  const bool by_rows = Rank(input) > 0 && Dim(input, Rank(input) - 1) == shape.depth;
  OfferFusion(context, node,
              {.invoke = &Guarded<&EvalFullyConnected>,
               .run = &GuardedGroup<&EvalLayerGroup>,
               .by_rows = {&kLayerRows, RowKind::kProduct, by_rows ? 1u : 0u}});
}

TfLiteStatus PackFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  if (IsEmpty(data.shape)) return kTfLiteOk;
  const TfLiteTensor* weights = Input(context, node, 1);
  if (IsReadableConstant(weights)) DEPUTY_TRY(data.dense_weights.Ensure(context, weights));
  return data.choice.Pack(context, &data, TensorsOf(context, node));
}

TfLiteStatus PrepareFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(ReadFullyConnected(context, node));
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  data.choice.Make(context, CpuOf(context), kImplementations, data, TensorsOf(context, node));
  RequestPacking(context, node, &Guarded<&PackFullyConnected>);
  OfferLayerRows(context, node);
  return kTfLiteOk;
}

TfLiteStatus EvalFullyConnected(TfLiteContext* context, TfLiteNode* node) {
  FullyConnectedData& data = DataOf<FullyConnectedData>(node);
  TfLiteTensor* output = Output(context, node, 0);
  if (!IsEmpty(data.shape)) {
    DEPUTY_TRY(data.dense_weights.Ensure(context, Input(context, node, 1)));
    return data.choice.Run(context, &data, TensorsOf(context, node));
  }
  if (data.shape.depth == 0 && output->bytes > 0) {
    // For an input without elements upstream's result is 0, not the bias, also for int8.
    std::memset(output->data.raw, 0, output->bytes);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithRefusal(WithOptions<8, TfLiteFullyConnectedParams, &FillFullyConnected>(
                    KernelRow<FullyConnectedData>(
                        "FULLY_CONNECTED", kTfLiteBuiltinFullyConnected, 14, kWeightsFormInputs,
                        &Guarded<&PrepareFullyConnected>, &Guarded<&EvalFullyConnected>)),
                &RefusedFullyConnected),
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
