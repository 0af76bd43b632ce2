// SPDX-License-Identifier: Apache-2.0
//
// Products of pairs of matrices that are both data, either of which may come transposed: the
// left rows and the right columns are brought into [rows][depth] and [columns][depth]. A right
// operand that is constant stays packed from one inference to the next.
//
// Only float32 and int8 have a fast path; int16 takes the reference code everywhere.
#include "kernels/linalg/batch_matmul.h"

#include <cstring>

#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/dot.h"
#include "kernels/linalg/gemm.h"
#include "kernels/linalg/hybrid.h"

namespace deputy {
namespace {

// ---- Prepare ----------------------------------------------------------------------------------

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

// ---- Operands ---------------------------------------------------------------------------------

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

// ---- Reference --------------------------------------------------------------------------------

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

// ---- Fast path --------------------------------------------------------------------------------

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
  const GemmPlan plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_f32.rows,
                                 cpu.gemm_f32.columns, depth * sizeof(float), ThreadCount(context));
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
  const int32_t left_zero = lhs_zero + cpu.gemm_s8.left_offset();
  int32_t* bias = reinterpret_cast<int32_t*>(data.bias.data());
  for (int m = 0; m < shape.rhs_batches; ++m) {
    for (int c = 0; c < shape.columns; ++c) {
      bias[int64_t{m} * padded + c] =
          static_cast<int32_t>(0u - static_cast<uint32_t>(left_zero) *
                                        static_cast<uint32_t>(data.packed_int8.ColumnSum(m, c)));
    }
  }
  const size_t row_bytes =
      static_cast<size_t>(std::max(data.packed_int8.padded_depth(), 1)) * cpu.gemm_s8.left_bytes();
  const size_t used_bytes = static_cast<size_t>(shape.depth) * cpu.gemm_s8.left_bytes();
  const GemmPlan plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_s8.rows,
                                 cpu.gemm_s8.columns, row_bytes, ThreadCount(context));
  const size_t block_bytes =
      (static_cast<size_t>(plan.block_rows) * row_bytes / kTensorAlignment + 1) * kTensorAlignment;
  if (!data.scratch.Reserve(block_bytes * static_cast<size_t>(ThreadCount(context)), 0,
                            LimitsOf(context))) {
    return TensorError(context, Input(context, node, 0), "out of memory for its rows");
  }
  ForEachBatchTask(context, shape, plan, [&](int batch, int task, int worker) {
    int left = 0, right = 0;
    shape.Pair(batch, &left, &right);
    const int8_t* rows = lhs_rows + int64_t{left} * shape.rows * shape.depth;
    const GemmSums job = {
        &cpu,      &data.packed_int8, right, shape.depth, bias + int64_t{right} * padded,
        left_zero, rhs_zero};
    const auto fill = [&](int64_t first, int count) -> RowBlock<uint8_t> {
      auto* block = reinterpret_cast<uint8_t*>(data.scratch.data() +
                                               static_cast<size_t>(worker) * block_bytes);
      for (int r = 0; r < count; ++r) {
        uint8_t* row = block + static_cast<size_t>(r) * row_bytes;
        cpu.gemm_s8.left_from_s8(rows + (first + r) * shape.depth, static_cast<size_t>(shape.depth),
                                 row);
        std::fill(row + used_bytes, row + row_bytes, uint8_t{0});
      }
      return {block, row_bytes};
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

}  // namespace

// ---- The operator -----------------------------------------------------------------------------

void* NewBatchMatMul(TfLiteContext* context, const char* buffer, size_t length) {
  return NewData<BatchMatMulData>(context, buffer, length);
}

void DeleteBatchMatMul(TfLiteContext* context, void* user_data) {
  DeleteData<BatchMatMulData>(context, user_data);
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
  if (cpu.gemm_f32.tile == nullptr || lhs->type == kTfLiteInt16) {
    return PlainBatchMatMul(context, node, lhs_rows);
  }
  if (hybrid) return FastHybrid(context, node, cpu);
  if (lhs->type == kTfLiteInt8) {
    return FastInt8(context, node, cpu, static_cast<const int8_t*>(lhs_rows));
  }
  return FastFloat(context, node, cpu, static_cast<const float*>(lhs_rows));
}

}  // namespace deputy
