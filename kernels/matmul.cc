// SPDX-License-Identifier: Apache-2.0
//
// FULLY_CONNECTED in all the forms of weights_form.h: [batches][depth] times [units][depth]
// transposed. The input may have any rank; it is cut into rows of `depth`. And BATCH_MATMUL, where
// both factors are data: pairs of matrices, either of which may come transposed.
//
// int8 weights may have a zero point when they have one scale; with a scale per unit the zero
// points are ignored, as upstream does.
#include <cmath>
#include <cstring>

#include "kernels/activation_range.h"
#include "kernels/channel_scaling.h"
#include "kernels/cpu.h"
#include "kernels/dot.h"
#include "kernels/kernel.h"
#include "kernels/matrix_layer.h"
#include "kernels/registry.h"
#include "kernels/weights_form.h"

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

bool FillBatchMatMul(const OpOptions& options, TfLiteBatchMatMulParams* params) {
  params->adj_x = options.Bool(0);
  params->adj_y = options.Bool(1);
  params->asymmetric_quantize_inputs = options.Bool(2);
  return true;
}

// ---- FULLY_CONNECTED, prepare -----------------------------------------------------------------

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

// ---- FULLY_CONNECTED, reference ---------------------------------------------------------------

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

// ---- FULLY_CONNECTED, eval --------------------------------------------------------------------

struct ByteRows {
  const void* input;
  size_t depth;
  void (*widen)(const int8_t* values, size_t count, int16_t* out);
};

void FillInt8Row(const void* source, int64_t row, int, int16_t* out) {
  const ByteRows& rows = *static_cast<const ByteRows*>(source);
  rows.widen(static_cast<const int8_t*>(rows.input) + row * static_cast<int64_t>(rows.depth),
             rows.depth, out);
}

void FillUInt8Row(const void* source, int64_t row, int, int16_t* out) {
  const ByteRows& rows = *static_cast<const ByteRows*>(source);
  const auto depth = static_cast<int64_t>(rows.depth);
  WidenUInt8(static_cast<const uint8_t*>(rows.input) + row * depth, depth, out);
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
  ByteRows source = {input->data.data, static_cast<size_t>(data.shape.depth), cpu.widen_s8};
  MatrixLayer::Rows<int16_t> rows;
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
    // Zeros and not the bias, also as int8: what upstream answers to an input without elements.
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
  const bool plain = cpu.gemm_f32 == nullptr || output->type == kTfLiteInt16;
  DEPUTY_TRY(plain ? Plain(context, node) : FastFullyConnected(context, node, cpu));
  if (hybrid && params.activation > kTfLiteActRelu6) ApplyActivation(params.activation, output);
  return kTfLiteOk;
}

// ---- BATCH_MATMUL, prepare --------------------------------------------------------------------

constexpr int kMaxBatchMatMulRank = 5;

// A product of `batches` pairs of matrices, [rows][depth] times [columns][depth] transposed.
// Batches broadcast: `lhs_strides` and `rhs_strides` are in matrices.
struct BatchShape {
  int rows = 0, columns = 0, depth = 0;
  int batch_rank = 0;
  int batch_dims[kMaxBatchMatMulRank - 2] = {};
  int lhs_strides[kMaxBatchMatMulRank - 2] = {}, rhs_strides[kMaxBatchMatMulRank - 2] = {};
  int batches = 1, lhs_batches = 1, rhs_batches = 1;

  // The matrices of one product.
  void Pair(int batch, int* lhs, int* rhs) const {
    *lhs = *rhs = 0;
    for (int axis = batch_rank - 1; axis >= 0; --axis) {
      const int at = batch % batch_dims[axis];
      batch /= batch_dims[axis];
      *lhs += at * lhs_strides[axis];
      *rhs += at * rhs_strides[axis];
    }
  }
};

struct BatchMatMulData {
  BatchShape shape;
  ChannelScaling scaling;
  WeightScales weight_scales;  // hybrid
  HybridRows hybrid;
  Block lhs_rows, rhs_rows;  // transposed copies
  PackedWeights<float> packed_float;
  PackedWeights<int8_t> packed_int8;
  Block bias, scratch;
};

// int8 and int16 outputs.
bool IsRequantized(const TfLiteTensor* lhs, const TfLiteTensor* output) {
  return (lhs->type == kTfLiteInt8 && output->type == kTfLiteInt8) || lhs->type == kTfLiteInt16;
}

TfLiteStatus CheckBatchMatMulTypes(TfLiteContext* context, TfLiteNode* node) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const bool adj_y = ParamsOf<TfLiteBatchMatMulParams>(node).adj_y;
  const TfLiteTensor* lhs = Input(context, node, 0);
  const TfLiteTensor* rhs = Input(context, node, 1);
  const TfLiteTensor* output = Output(context, node, 0);
  const int column_axis = Rank(rhs) - (adj_y ? 2 : 1);
  DEPUTY_TRY(CheckType(context, lhs, kFloat32Bit | kInt8Bit | kInt16Bit));
  if (rhs->type != kTfLiteInt8) DEPUTY_TRY(CheckSameType(context, rhs, lhs));
  if (rhs->sparsity != nullptr) {
    return TensorError(context, rhs, "expected a dense tensor, found a sparse one");
  }
  if (lhs->type == kTfLiteInt8) {
    DEPUTY_TRY(CheckType(context, output, kInt8Bit | kInt32Bit));
  } else {
    DEPUTY_TRY(CheckSameType(context, output, lhs));
  }
  if (lhs->type == kTfLiteFloat32 && rhs->type == kTfLiteInt8) {
    return data.weight_scales.Prepare(context, rhs, column_axis);
  }
  if (!IsRequantized(lhs, output)) return kTfLiteOk;
  if (lhs->type == kTfLiteInt16) {
    for (const TfLiteTensor* tensor : {lhs, rhs, output}) {
      DEPUTY_TRY(CheckNoZeroPoint(context, tensor));
    }
  }
  DEPUTY_TRY(CheckQuantized(context, rhs));
  DEPUTY_TRY(data.scaling.Prepare(context, lhs, rhs, column_axis, output, kTfLiteActNone,
                                  ExactRounding::kTwice));
  if (!data.scaling.per_channel()) return kTfLiteOk;
  return TensorError(context, rhs, "expected one scale, found several");
}

// The batch dimensions of both, aligned at their ends.
TfLiteStatus BroadcastBatches(TfLiteContext* context, const TfLiteTensor* lhs,
                              const TfLiteTensor* rhs, BatchShape* shape) {
  *shape = {};
  shape->batch_rank = std::max(Rank(lhs), Rank(rhs)) - 2;
  for (int axis = shape->batch_rank - 1; axis >= 0; --axis) {
    const auto extent = [&](const TfLiteTensor* tensor) {
      const int own = axis - (shape->batch_rank + 2 - Rank(tensor));
      return own < 0 ? 1 : Dim(tensor, own);
    };
    const int left = extent(lhs), right = extent(rhs);
    if (left != right && left != 1 && right != 1) {
      return TensorError(context, rhs, "batches: expected %d or 1, found %d", left, right);
    }
    shape->batch_dims[axis] = left == 1 ? right : left;
    shape->lhs_strides[axis] = left == 1 ? 0 : shape->lhs_batches;
    shape->rhs_strides[axis] = right == 1 ? 0 : shape->rhs_batches;
    int64_t batches = 0;
    for (const auto& [total, factor] :
         {std::pair(&shape->lhs_batches, left), std::pair(&shape->rhs_batches, right),
          std::pair(&shape->batches, shape->batch_dims[axis])}) {
      batches = int64_t{*total} * factor;
      if (batches > std::numeric_limits<int>::max()) {
        return KernelError(context, "batches: expected fewer than 2^31, found more");
      }
      *total = static_cast<int>(batches);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareBatchMatMul(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const auto& params = ParamsOf<TfLiteBatchMatMulParams>(node);
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const TfLiteTensor* lhs = Input(context, node, 0);
  const TfLiteTensor* rhs = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  for (const TfLiteTensor* tensor : {lhs, rhs}) {
    if (Rank(tensor) < 2 || Rank(tensor) > kMaxBatchMatMulRank) {
      return TensorError(context, tensor, "expected 2 to %d dimensions, found %d",
                         kMaxBatchMatMulRank, Rank(tensor));
    }
  }
  DEPUTY_TRY(CheckBatchMatMulTypes(context, node));
  BatchShape& shape = data.shape;
  DEPUTY_TRY(BroadcastBatches(context, lhs, rhs, &shape));
  const int row_axis = Rank(lhs) - (params.adj_x ? 1 : 2);
  const int column_axis = Rank(rhs) - (params.adj_y ? 2 : 1);
  const int lhs_depth_axis = Rank(lhs) - (params.adj_x ? 2 : 1);
  const int rhs_depth_axis = Rank(rhs) - (params.adj_y ? 1 : 2);
  shape.rows = Dim(lhs, row_axis);
  shape.columns = Dim(rhs, column_axis);
  shape.depth = Dim(lhs, lhs_depth_axis);
  DEPUTY_TRY(CheckDim(context, rhs, rhs_depth_axis, shape.depth));
  if (shape.depth > (1 << 30)) return TensorError(context, lhs, "expected a depth up to 2^30");
  data.packed_float.Invalidate();
  data.packed_int8.Invalidate();
  int dims[kMaxBatchMatMulRank];
  std::copy_n(shape.batch_dims, shape.batch_rank, dims);
  dims[shape.batch_rank] = shape.rows;
  dims[shape.batch_rank + 1] = shape.columns;
  return ResizeTo(context, output, {dims, static_cast<size_t>(shape.batch_rank) + 2});
}

// ---- BATCH_MATMUL, operands -------------------------------------------------------------------

template <typename T>
void TransposeMatrices(const T* in, int64_t matrices, int64_t rows, int64_t columns, T* out) {
  for (int64_t m = 0; m < matrices; ++m, in += rows * columns, out += rows * columns) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) out[c * rows + r] = in[r * columns + c];
    }
  }
}

// The matrices of `tensor`, each [rows][depth]: its own memory, or a copy if they lie transposed.
TfLiteStatus MatrixRows(TfLiteContext* context, const TfLiteTensor* tensor, bool transposed,
                        int matrices, int rows, int depth, Block* copy, const void** out) {
  *out = tensor->data.data;
  if (!transposed) return kTfLiteOk;
  if (!copy->Reserve(tensor->bytes, 0, LimitsOf(context))) {
    return TensorError(context, tensor, "out of memory for its transposed copy");
  }
  *out = copy->data();
  switch (tensor->type) {
    case kTfLiteFloat32:
      TransposeMatrices(Data<float>(tensor), matrices, depth, rows,
                        reinterpret_cast<float*>(copy->data()));
      return kTfLiteOk;
    case kTfLiteInt16:
      TransposeMatrices(Data<int16_t>(tensor), matrices, depth, rows,
                        reinterpret_cast<int16_t*>(copy->data()));
      return kTfLiteOk;
    default:
      TransposeMatrices(Data<int8_t>(tensor), matrices, depth, rows,
                        reinterpret_cast<int8_t*>(copy->data()));
      return kTfLiteOk;
  }
}

// ---- BATCH_MATMUL, reference ------------------------------------------------------------------

// finish(sum, row of the output, column, row of the left operand).
template <typename In, typename Weight, typename Zero, typename Finish>
void PlainBatches(TfLiteContext* context, const BatchShape& shape, const void* lhs_rows,
                  const Zero* zeros, int zero_stride, const void* rhs_rows, Zero rhs_zero,
                  const Finish& finish) {
  const In* lhs = static_cast<const In*>(lhs_rows);
  const Weight* rhs = static_cast<const Weight*>(rhs_rows);
  const int64_t rows = int64_t{shape.batches} * shape.rows;
  const int64_t portion =
      std::max<int64_t>(
          static_cast<int64_t>(50e3 / std::max(1.0, double{1} * shape.columns * shape.depth)),
          rows >> 20) +
      1;
  const int tasks = static_cast<int>((rows + portion - 1) / portion);
  ParallelFor(context, tasks, [&](int task, int) {
    const int64_t last = std::min(rows, (task + 1) * portion);
    for (int64_t row = task * portion; row < last; ++row) {
      int left = 0, right = 0;
      shape.Pair(static_cast<int>(row / shape.rows), &left, &right);
      const int64_t lhs_row = int64_t{left} * shape.rows + row % shape.rows;
      for (int c = 0; c < shape.columns; ++c) {
        const int64_t rhs_row = int64_t{right} * shape.columns + c;
        finish(Dot(lhs + lhs_row * shape.depth, rhs + rhs_row * shape.depth, shape.depth,
                   zeros[lhs_row * zero_stride], rhs_zero),
               row, c, lhs_row);
      }
    }
  });
}

// `lhs` is what MatrixRows gave, or the quantised rows of a hybrid product.
TfLiteStatus PlainBatchMatMul(TfLiteContext* context, TfLiteNode* node, const void* lhs_rows) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const BatchShape& shape = data.shape;
  const TfLiteTensor* lhs = Input(context, node, 0);
  const TfLiteTensor* rhs = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  const void* rhs_rows = nullptr;
  DEPUTY_TRY(MatrixRows(context, rhs, !ParamsOf<TfLiteBatchMatMulParams>(node).adj_y,
                        shape.rhs_batches, shape.columns, shape.depth, &data.rhs_rows, &rhs_rows));
  const int64_t width = shape.columns;
  const int32_t no_zero = 0;
  if (lhs->type == kTfLiteInt16) {
    const auto finish = [&](int64_t sum, int64_t row, int c, int64_t) {
      Data<int16_t>(output)[row * width + c] = data.scaling.RequantizeInt16(sum, true, c);
    };
    if (rhs->type == kTfLiteInt16) {
      PlainBatches<int16_t, int16_t>(context, shape, lhs_rows, &no_zero, 0, rhs_rows, 0, finish);
    } else {
      PlainBatches<int16_t, int8_t>(context, shape, lhs_rows, &no_zero, 0, rhs_rows, 0, finish);
    }
  } else if (lhs->type == kTfLiteInt8 && output->type == kTfLiteInt32) {
    PlainBatches<int8_t, int8_t>(context, shape, lhs_rows, &no_zero, 0, rhs_rows, 0,
                                 [&](int32_t sum, int64_t row, int c, int64_t) {
                                   Data<int32_t>(output)[row * width + c] = sum;
                                 });
  } else if (lhs->type == kTfLiteInt8) {
    const Arithmetic arithmetic = ArithmeticOf(context);
    PlainBatches<int8_t, int8_t>(
        context, shape, lhs_rows, &lhs->params.zero_point, 0, rhs_rows, rhs->params.zero_point,
        [&](int32_t sum, int64_t row, int c, int64_t) {
          Data<int8_t>(output)[row * width + c] =
              static_cast<int8_t>(data.scaling.Requantize(arithmetic, sum, c));
        });
  } else if (rhs->type == kTfLiteInt8) {
    PlainBatches<int8_t, int8_t>(context, shape, lhs_rows, data.hybrid.zero_points(), 1, rhs_rows,
                                 0, [&](int32_t sum, int64_t row, int c, int64_t lhs_row) {
                                   Data<float>(output)[row * width + c] =
                                       static_cast<float>(sum) *
                                       (data.weight_scales[c] * data.hybrid.scales()[lhs_row]);
                                 });
  } else {
    const float zero = 0.0f;
    PlainBatches<float, float>(context, shape, lhs_rows, &zero, 0, rhs_rows, 0.0f,
                               [&](float sum, int64_t row, int c, int64_t) {
                                 Data<float>(output)[row * width + c] = sum;
                               });
  }
  return kTfLiteOk;
}

// ---- BATCH_MATMUL, fast path ------------------------------------------------------------------

// Packs the right operand, all of its matrices, unless it is constant and packed already; and makes
// room for a bias of every matrix, zeroed.
template <typename T>
TfLiteStatus PackRhs(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu,
                     PackedWeights<T>* packed) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const BatchShape& shape = data.shape;
  const TfLiteTensor* rhs = Input(context, node, 1);
  WeightsLayout layout = WeightsLayout::Rows(shape.rhs_batches, shape.columns, shape.depth);
  if (!ParamsOf<TfLiteBatchMatMulParams>(node).adj_y) {
    layout.column_stride = 1;
    layout.depth_stride = shape.columns;
  }
  if (!IsConstant(rhs)) packed->Invalidate();
  if (!packed->IsCurrent(cpu, Data<T>(rhs), layout) &&
      !packed->Pack(cpu, Data<T>(rhs), layout, LimitsOf(context))) {
    return TensorError(context, rhs, "out of memory for its packed copy");
  }
  size_t bytes = 0;
  if (!MultiplySizes(static_cast<size_t>(packed->padded_columns()) * sizeof(int32_t),
                     static_cast<size_t>(shape.rhs_batches), &bytes) ||
      !data.bias.Reserve(bytes, 0, LimitsOf(context))) {
    return TensorError(context, rhs, "out of memory for its sums");
  }
  std::memset(data.bias.data(), 0, bytes);
  return kTfLiteOk;
}

// function(batch, task of the plan, worker) for every pair of matrices and every task of its plan.
template <typename Function>
void ForEachBatchTask(TfLiteContext* context, const BatchShape& shape, const GemmPlan& plan,
                      const Function& function) {
  const int64_t total = int64_t{shape.batches} * plan.tasks;
  const int64_t portion = (total >> 20) + 1;
  ParallelFor(
      context, static_cast<int>((total + portion - 1) / portion), [&](int task, int worker) {
        const int64_t last = std::min(total, (task + 1) * portion);
        for (int64_t i = task * portion; i < last; ++i) {
          function(static_cast<int>(i / plan.tasks), static_cast<int>(i % plan.tasks), worker);
        }
      });
}

TfLiteStatus FastFloat(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu,
                       const float* lhs_rows) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const BatchShape& shape = data.shape;
  DEPUTY_TRY(PackRhs(context, node, cpu, &data.packed_float));
  float* out = Data<float>(Output(context, node, 0));
  const auto depth = static_cast<size_t>(shape.depth);
  const GemmPlan plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.f32_rows,
                                 cpu.f32_columns, depth * sizeof(float), ThreadCount(context));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ForEachBatchTask(context, shape, plan, [&](int batch, int task, int) {
    int left = 0, right = 0;
    shape.Pair(batch, &left, &right);
    const float* rows = lhs_rows + int64_t{left} * shape.rows * shape.depth;
    const GemmF32 job = {&cpu,
                         &data.packed_float,
                         right,
                         shape.depth,
                         reinterpret_cast<const float*>(data.bias.data()),
                         -kInfinity,
                         kInfinity,
                         out + int64_t{batch} * shape.rows * shape.columns,
                         static_cast<size_t>(shape.columns)};
    RunGemmF32(job, plan, task, [&](int64_t first, int) -> RowBlock<float> {
      return {rows + first * shape.depth, depth};
    });
  });
  return kTfLiteOk;
}

// finish(batch, row of the left operand's matrix `left`, ... ) see the callers: tiles of sums with
// both zero points taken off.
template <typename Finish>
TfLiteStatus RunSums(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu,
                     const int8_t* lhs_rows, int32_t lhs_zero, int32_t rhs_zero,
                     const Finish& finish) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const BatchShape& shape = data.shape;
  DEPUTY_TRY(PackRhs(context, node, cpu, &data.packed_int8));
  const int padded = data.packed_int8.padded_columns();
  int32_t* bias = reinterpret_cast<int32_t*>(data.bias.data());
  for (int m = 0; m < shape.rhs_batches; ++m) {
    for (int c = 0; c < shape.columns; ++c) {
      bias[int64_t{m} * padded + c] =
          static_cast<int32_t>(0u - static_cast<uint32_t>(lhs_zero) *
                                        static_cast<uint32_t>(data.packed_int8.ColumnSum(m, c)));
    }
  }
  const auto row_values = static_cast<size_t>(std::max(data.packed_int8.padded_depth(), 1));
  const GemmPlan plan =
      PlanGemm(shape.rows, shape.columns, shape.depth, cpu.s8_rows, cpu.s8_columns,
               row_values * sizeof(int16_t), ThreadCount(context));
  const size_t block_values = static_cast<size_t>(plan.block_rows) * row_values;
  const size_t block_bytes =
      (block_values * sizeof(int16_t) / kTensorAlignment + 1) * kTensorAlignment;
  if (!data.scratch.Reserve(block_bytes * static_cast<size_t>(ThreadCount(context)), 0,
                            LimitsOf(context))) {
    return TensorError(context, Input(context, node, 0), "out of memory for its rows");
  }
  ForEachBatchTask(context, shape, plan, [&](int batch, int task, int worker) {
    int left = 0, right = 0;
    shape.Pair(batch, &left, &right);
    const int8_t* rows = lhs_rows + int64_t{left} * shape.rows * shape.depth;
    const GemmSums job = {
        &cpu,     &data.packed_int8, right, shape.depth, bias + int64_t{right} * padded,
        lhs_zero, rhs_zero};
    const auto fill = [&](int64_t first, int count) -> RowBlock<int16_t> {
      auto* block = reinterpret_cast<int16_t*>(data.scratch.data() +
                                               static_cast<size_t>(worker) * block_bytes);
      for (int r = 0; r < count; ++r) {
        int16_t* row = block + static_cast<size_t>(r) * row_values;
        cpu.widen_s8(rows + (first + r) * shape.depth, static_cast<size_t>(shape.depth), row);
        std::fill(row + shape.depth, row + row_values, int16_t{0});
      }
      return {block, row_values};
    };
    RunGemmSums(
        job, plan, task, fill,
        [&](int64_t row, int count, int column, int columns, const int32_t* sums, size_t stride) {
          for (int r = 0; r < count; ++r, sums += stride) {
            finish(int64_t{batch} * shape.rows + row + r, int64_t{left} * shape.rows + row + r,
                   right, column, columns, sums);
          }
        });
  });
  return kTfLiteOk;
}

TfLiteStatus FastInt8(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu,
                      const int8_t* lhs_rows) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const int64_t width = data.shape.columns;
  const TfLiteTensor* lhs = Input(context, node, 0);
  const TfLiteTensor* rhs = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  if (output->type == kTfLiteInt32) {
    // Upstream's sums are of the steps themselves: no zero points.
    return RunSums(context, node, cpu, lhs_rows, 0, 0,
                   [&](int64_t row, int64_t, int, int column, int columns, const int32_t* sums) {
                     std::copy_n(sums, columns, Data<int32_t>(output) + row * width + column);
                   });
  }
  const auto requantize = data.scaling.TileFunctionOf(cpu, ArithmeticOf(context));
  return RunSums(context, node, cpu, lhs_rows, lhs->params.zero_point, rhs->params.zero_point,
                 [&](int64_t row, int64_t, int, int column, int columns, const int32_t* sums) {
                   RequantizeTile tile = data.scaling.Tile(column);
                   tile.rows = 1;
                   tile.columns = columns;
                   tile.sums = sums;
                   tile.out = Data<int8_t>(output) + row * width + column;
                   requantize(tile);
                 });
}

TfLiteStatus FastHybrid(TfLiteContext* context, TfLiteNode* node, const CpuKernels& cpu) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const int64_t width = data.shape.columns;
  float* out = Data<float>(Output(context, node, 0));
  return RunSums(
      context, node, cpu, data.hybrid.values(), 0, 0,
      [&](int64_t row, int64_t lhs_row, int right, int column, int columns, const int32_t* sums) {
        const float scale = data.hybrid.scales()[lhs_row];
        const auto zero = static_cast<uint32_t>(data.hybrid.zero_points()[lhs_row]);
        for (int c = 0; c < columns; ++c) {
          const auto excess =
              zero * static_cast<uint32_t>(data.packed_int8.ColumnSum(right, column + c));
          const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) - excess);
          out[row * width + column + c] =
              static_cast<float>(sum) * (data.weight_scales[column + c] * scale);
        }
      });
}

TfLiteStatus EvalBatchMatMul(TfLiteContext* context, TfLiteNode* node) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const BatchShape& shape = data.shape;
  const auto& params = ParamsOf<TfLiteBatchMatMulParams>(node);
  const TfLiteTensor* lhs = Input(context, node, 0);
  const TfLiteTensor* rhs = Input(context, node, 1);
  if (ElementCount(Output(context, node, 0)) == 0) return kTfLiteOk;
  const void* lhs_rows = nullptr;
  DEPUTY_TRY(MatrixRows(context, lhs, params.adj_x, shape.lhs_batches, shape.rows, shape.depth,
                        &data.lhs_rows, &lhs_rows));
  const bool hybrid = lhs->type == kTfLiteFloat32 && rhs->type == kTfLiteInt8;
  if (hybrid) {
    DEPUTY_TRY(data.hybrid.Quantize(context, lhs, static_cast<const float*>(lhs_rows),
                                    int64_t{shape.lhs_batches} * shape.rows, shape.depth,
                                    params.asymmetric_quantize_inputs));
    lhs_rows = data.hybrid.values();
  }
  const CpuKernels& cpu = Cpu();
  if (cpu.gemm_f32 == nullptr || lhs->type == kTfLiteInt16) {
    return PlainBatchMatMul(context, node, lhs_rows);
  }
  if (hybrid) return FastHybrid(context, node, cpu);
  if (lhs->type == kTfLiteInt8) {
    return FastInt8(context, node, cpu, static_cast<const int8_t*>(lhs_rows));
  }
  return FastFloat(context, node, cpu, static_cast<const float*>(lhs_rows));
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "FULLY_CONNECTED",
     .code = kTfLiteBuiltinFullyConnected,
     .min_version = 1,
     .max_version = 14,
     .types = kWeightsFormInputs,
     .options = {1, 8},
     .params_size = sizeof(TfLiteFullyConnectedParams),
     .parse = &ParseOptions<8, TfLiteFullyConnectedParams, &FillFullyConnected>,
     .init = &GuardedInit<&NewData<FullyConnectedData>>,
     .free = &DeleteData<FullyConnectedData>,
     .prepare = &Guarded<&PrepareFullyConnected>,
     .invoke = &Guarded<&EvalFullyConnected>,
     .inplace = kTfLiteInplaceOpNone},
    {.name = "BATCH_MATMUL",
     .code = kTfLiteBuiltinBatchMatmul,
     .min_version = 1,
     .max_version = 4,
     .types = kFloat32Bit | kInt8Bit | kInt16Bit,
     .options = {1, 101},
     .params_size = sizeof(TfLiteBatchMatMulParams),
     .parse = &ParseOptions<101, TfLiteBatchMatMulParams, &FillBatchMatMul>,
     .init = &GuardedInit<&NewData<BatchMatMulData>>,
     .free = &DeleteData<BatchMatMulData>,
     .prepare = &Guarded<&PrepareBatchMatMul>,
     .invoke = &Guarded<&EvalBatchMatMul>,
     .inplace = kTfLiteInplaceOpNone},
};

}  // namespace

constexpr std::span<const OpDef> kMatmulOps = kTable;

}  // namespace deputy
