// SPDX-License-Identifier: Apache-2.0
//
// BATCH_MATMUL: products of pairs of matrices, both of which are data. Either operand may be
// transposed: the left rows and the right columns are brought into [rows][depth] and
// [columns][depth]. A constant right operand is packed once. If 16-bit factors are allowed,
// products with one constant matrix may use them; for others, rounding both sides in every
// inference costs too much. In row-wise fusion groups a float right operand may be a strided view
// of another tensor, and the output's rows may be strided.
//
// int16 products are 64-bit sums, which all implementations compute exactly: their results are
// bit-identical.
#include "kernels/linalg/batch_matmul.h"

#include <cstring>
#include <optional>

#include "core/kernel_api/fusion.h"
#include "core/support/int_math.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/implementation.h"
#include "kernels/linalg/bf16_layer.h"
#include "kernels/linalg/channel_scaling.h"
#include "kernels/linalg/dot.h"
#include "kernels/linalg/dots_int16.h"
#include "kernels/linalg/hybrid.h"
#include "kernels/linalg/int8_product.h"
#include "kernels/linalg/row_group.h"
#include "kernels/linalg/row_product.h"

namespace deputy {
namespace {

// ---- Prepare ----------------------------------------------------------------------------------

constexpr int kMaxBatchMatMulRank = 5;

// A product of `batches` pairs of matrices, [rows][depth] times the transpose of [columns][depth].
// Batches broadcast: `lhs_strides` and `rhs_strides` count matrices.
struct BatchShape {
  int rows = 0, columns = 0, depth = 0;
  int batch_rank = 0;
  int batch_dims[kMaxBatchMatMulRank - 2] = {};
  int lhs_strides[kMaxBatchMatMulRank - 2] = {}, rhs_strides[kMaxBatchMatMulRank - 2] = {};
  int batches = 1, lhs_batches = 1, rhs_batches = 1;

  // Computes the indices of the two matrices that are multiplied for output batch `batch`.
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

struct BatchTensors {
  const TfLiteTensor* lhs;
  const TfLiteTensor* rhs;
  TfLiteTensor* output;
};

struct BatchMatMulData;

// Operands of a float product, for one invoke: the rows of the left operand, and the packed right
// operand.
class FloatFactors {
 public:
  // Prepares both operands; `rhs` replaces the node's right operand if `rhs` has a tensor.
  TfLiteStatus Make(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                    const CpuKernels& cpu, const StridedInput& rhs);
  const float* lhs() const { return static_cast<const float*>(lhs_); }
  const RowProduct& product() const { return product_; }

 private:
  Scratch copy_, packed_, no_bias_;
  const void* lhs_ = nullptr;
  RowProduct product_;
};

struct BatchMatMulData {
  BatchShape shape;
  TfLiteBatchMatMulParams params{};
  ChannelScaling scaling;
  WeightScales weight_scales;  // scales of int8 weights of a hybrid product
  PackedWeights<float> packed_float;
  PackedWeights<int8_t> packed_int8;
  bool allows_bf16 = false;  // true if a float32 product may use 16-bit factors
  Bf16Layer bf16;
  std::optional<FloatFactors> in_group;  // operands of a row-wise fusion group, set while it runs
  Choice<BatchMatMulData, BatchTensors> choice;

  // Returns the layout of the right operand's matrices in memory.
  WeightsLayout RhsLayout() const {
    WeightsLayout layout = WeightsLayout::Rows(shape.rhs_batches, shape.columns, shape.depth);
    if (!params.adj_y) {
      layout.column_stride = 1;
      layout.depth_stride = shape.columns;
    }
    return layout;
  }
};

// Returns true for a hybrid product: a float left operand and an int8 right operand.
bool IsHybrid(const BatchTensors& tensors) {
  return tensors.lhs->type == kTfLiteFloat32 && tensors.rhs->type == kTfLiteInt8;
}

// Returns true if the output is quantised (int8 or int16) and its sums are requantised.
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

// Broadcasts the batch dimensions of both operands, which are aligned at their ends.
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

// Returns the matrices of `tensor`, each [rows][depth]: the tensor's own memory, or a copy if the
// matrices are transposed.
TfLiteStatus MatrixRows(TfLiteContext* context, const TfLiteTensor* tensor, bool transposed,
                        int matrices, int rows, int depth, Scratch* copy, const void** out) {
  *out = tensor->data.data;
  if (!transposed) return kTfLiteOk;
  if (!copy->Acquire(context, tensor->bytes)) {
    return TensorError(context, tensor, "out of memory for its transposed copy");
  }
  *out = copy->data();
  switch (tensor->type) {
    case kTfLiteFloat32:
      TransposeMatrices(Data<float>(tensor), matrices, depth, rows, copy->as<float>());
      return kTfLiteOk;
    case kTfLiteInt16:
      TransposeMatrices(Data<int16_t>(tensor), matrices, depth, rows, copy->as<int16_t>());
      return kTfLiteOk;
    default:
      TransposeMatrices(Data<int8_t>(tensor), matrices, depth, rows, copy->as<int8_t>());
      return kTfLiteOk;
  }
}

// Left operand of one invoke as rows of `depth` values, quantised if the product is hybrid.
class LeftRows {
 public:
  TfLiteStatus Make(TfLiteContext* context, const BatchMatMulData& data,
                    const BatchTensors& tensors) {
    const BatchShape& shape = data.shape;
    DEPUTY_TRY(MatrixRows(context, tensors.lhs, data.params.adj_x, shape.lhs_batches, shape.rows,
                          shape.depth, &copy_, &rows_));
    if (!IsHybrid(tensors)) return kTfLiteOk;
    DEPUTY_TRY(hybrid_.Quantize(context, tensors.lhs, static_cast<const float*>(rows_),
                                int64_t{shape.lhs_batches} * shape.rows, shape.depth,
                                data.params.asymmetric_quantize_inputs));
    rows_ = hybrid_.values();
    return kTfLiteOk;
  }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(rows_);
  }
  const HybridRows& hybrid() const { return hybrid_; }

  static size_t ScratchBytes(const BatchMatMulData& data, const BatchTensors& tensors) {
    const BatchShape& shape = data.shape;
    const int64_t rows = int64_t{shape.lhs_batches} * shape.rows;
    const size_t copy = data.params.adj_x ? tensors.lhs->bytes : 0;
    const size_t hybrid = IsHybrid(tensors) ? HybridRows::ScratchBytes(rows, shape.depth) : 0;
    return copy + hybrid + 2 * kTensorAlignment;
  }

 private:
  Scratch copy_;  // declared first, to be released after memory acquired later
  HybridRows hybrid_;
  const void* rows_ = nullptr;
};

// ---- Reference --------------------------------------------------------------------------------

// Number of output rows in a task that is large enough for a thread.
int64_t RowsOfTask(const BatchShape& shape) {
  const int64_t rows = int64_t{shape.batches} * shape.rows;
  return std::max<int64_t>(
             static_cast<int64_t>(50e3 / std::max(1.0, double{1} * shape.columns * shape.depth)),
             rows >> 20) +
         1;
}

// Computes products with plain loops and calls finish(sum, row of the output, column, row of the
// left operand) for each.
template <typename In, typename Weight, typename Zero, typename Finish>
void PlainBatches(TfLiteContext* context, const BatchShape& shape, const void* lhs_rows,
                  const Zero* zeros, int zero_stride, const void* rhs_rows, Zero rhs_zero,
                  const Finish& finish) {
  const In* lhs = static_cast<const In*>(lhs_rows);
  const Weight* rhs = static_cast<const Weight*>(rhs_rows);
  const int64_t rows = int64_t{shape.batches} * shape.rows;
  const int64_t portion = RowsOfTask(shape);
  const int tasks = static_cast<int>(CeilDiv(rows, portion));
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

TfLiteStatus RunPlain(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                      const CpuKernels&) {
  const TfLiteTensor* const lhs = tensors.lhs;
  const TfLiteTensor* const rhs = tensors.rhs;
  TfLiteTensor* const output = tensors.output;
  const BatchShape& shape = data->shape;
  LeftRows left;
  DEPUTY_TRY(left.Make(context, *data, tensors));
  const void* const lhs_rows = left.as<void>();
  Scratch copy;
  const void* rhs_rows = nullptr;
  DEPUTY_TRY(MatrixRows(context, rhs, !data->params.adj_y, shape.rhs_batches, shape.columns,
                        shape.depth, &copy, &rhs_rows));
  const int64_t width = shape.columns;
  const int32_t no_zero = 0;
  const HybridRows& hybrid = left.hybrid();
  if (lhs->type == kTfLiteInt16) {
    const auto finish = [&](int64_t sum, int64_t row, int c, int64_t) {
      Data<int16_t>(output)[row * width + c] = data->scaling.RequantizeInt16(sum, true, c);
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
              static_cast<int8_t>(data->scaling.Requantize(arithmetic, sum, c));
        });
  } else if (rhs->type == kTfLiteInt8) {
    PlainBatches<int8_t, int8_t>(context, shape, lhs_rows, hybrid.zero_points(), 1, rhs_rows, 0,
                                 [&](int32_t sum, int64_t row, int c, int64_t lhs_row) {
                                   Data<float>(output)[row * width + c] =
                                       static_cast<float>(sum) *
                                       (data->weight_scales[c] * hybrid.scales()[lhs_row]);
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

// ---- Fast paths -------------------------------------------------------------------------------

// Packs all matrices of the right operand: a constant operand once, any other into scratch memory.
template <typename T>
TfLiteStatus PackRhs(TfLiteContext* context, const BatchMatMulData& data, const TfLiteTensor* rhs,
                     const CpuKernels& cpu, PackedWeights<T>* packed, Scratch* scratch) {
  const bool done = IsConstant(rhs)
                        ? packed->Pack(context, cpu, Data<T>(rhs), true, data.RhsLayout())
                        : packed->PackInto(context, cpu, Data<T>(rhs), data.RhsLayout(), scratch);
  return done ? kTfLiteOk : TensorError(context, rhs, "out of memory for its packed copy");
}

template <typename T>
size_t RhsScratch(const BatchMatMulData& data, const BatchTensors& tensors, const CpuKernels& cpu) {
  return IsConstant(tensors.rhs) ? 0 : PackedWeights<T>::Bytes(cpu, data.RhsLayout());
}

// Calls function(batch, task of the plan, worker) for every pair of matrices and every task of its
// plan.
template <typename Function>
void ForEachBatchTask(TfLiteContext* context, const BatchShape& shape, const GemmPlan& plan,
                      const Function& function) {
  const int64_t total = int64_t{shape.batches} * plan.tasks;
  const int64_t portion = (total >> 20) + 1;
  ParallelFor(context, static_cast<int>(CeilDiv(total, portion)), [&](int task, int worker) {
    const int64_t last = std::min(total, (task + 1) * portion);
    for (int64_t i = task * portion; i < last; ++i) {
      function(static_cast<int>(i / plan.tasks), static_cast<int>(i % plan.tasks), worker);
    }
  });
}

bool IsFloat(const BatchMatMulData&, const BatchTensors& tensors, const CpuKernels& cpu) {
  return tensors.lhs->type == kTfLiteFloat32 && !IsHybrid(tensors) && cpu.gemm_f32.tile != nullptr;
}

size_t BiasBytes(const BatchShape& shape) {
  return (static_cast<size_t>(shape.columns) + kMaxTileColumns) * sizeof(float);
}

size_t FloatScratch(const BatchMatMulData& data, const BatchTensors& tensors, const CpuKernels& cpu,
                    int) {
  return LeftRows::ScratchBytes(data, tensors) + BiasBytes(data.shape) +
         RhsScratch<float>(data, tensors, cpu) + 2 * kTensorAlignment;
}

TfLiteStatus PackFloat(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                       const CpuKernels& cpu) {
  if (!IsReadableConstant(tensors.rhs)) return kTfLiteOk;
  return PackRhs(context, *data, tensors.rhs, cpu, &data->packed_float, nullptr);
}

// Packs a right operand that is a strided view of another tensor.
TfLiteStatus PackStridedRhs(TfLiteContext* context, BatchMatMulData* data, const StridedInput& rhs,
                            const CpuKernels& cpu, Scratch* scratch) {
  const StridedShape& view = rhs.shape;
  const StridedShape groups = view.FirstAxes(view.rank - 2);
  WeightsLayout layout = data->RhsLayout();
  layout.group_axes = &groups;
  layout.column_stride = view.strides[view.rank - (data->params.adj_y ? 2 : 1)];
  layout.depth_stride = view.strides[view.rank - (data->params.adj_y ? 1 : 2)];
  const TfLiteTensor* const tensor = &context->tensors[rhs.tensor];
  return data->packed_float.PackInto(context, cpu, Data<float>(tensor), layout, scratch)
             ? kTfLiteOk
             : TensorError(context, tensor, "out of memory for its packed copy");
}

TfLiteStatus FloatFactors::Make(TfLiteContext* context, BatchMatMulData* data,
                                const BatchTensors& tensors, const CpuKernels& cpu,
                                const StridedInput& rhs) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const BatchShape& shape = data->shape;
  DEPUTY_TRY(MatrixRows(context, tensors.lhs, data->params.adj_x, shape.lhs_batches, shape.rows,
                        shape.depth, &copy_, &lhs_));
  DEPUTY_TRY(rhs.tensor >= 0
                 ? PackStridedRhs(context, data, rhs, cpu, &packed_)
                 : PackRhs(context, *data, tensors.rhs, cpu, &data->packed_float, &packed_));
  if (!no_bias_.Acquire(context, BiasBytes(shape))) {
    return TensorError(context, tensors.rhs, "out of memory for its sums");
  }
  std::memset(no_bias_.data(), 0, BiasBytes(shape));
  product_ = {.cpu = &cpu,
              .weights = &data->packed_float,
              .columns = shape.columns,
              .depth = shape.depth,
              .bias = no_bias_.as<float>(),
              .range = {-kInfinity, kInfinity}};
  return kTfLiteOk;
}

TfLiteStatus RunFloat(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                      const CpuKernels& cpu) {
  const BatchShape& shape = data->shape;
  FloatFactors factors;
  DEPUTY_TRY(factors.Make(context, data, tensors, cpu, {}));
  float* out = Data<float>(tensors.output);
  const auto depth = static_cast<size_t>(shape.depth);
  const GemmPlan plan = PlanGemm(shape.rows, shape.columns, shape.depth, cpu.gemm_f32.rows,
                                 cpu.gemm_f32.columns, depth * sizeof(float), ThreadCount(context));
  ForEachBatchTask(context, shape, plan, [&](int batch, int task, int) {
    int left = 0, right = 0;
    shape.Pair(batch, &left, &right);
    const float* rows = factors.lhs() + int64_t{left} * shape.rows * shape.depth;
    const GemmF32 job =
        factors.product().Job(right, out + int64_t{batch} * shape.rows * shape.columns);
    RunGemmF32(job, plan, task, [&](int64_t first, int) -> RowBlock<float> {
      return {rows + first * shape.depth, depth};
    });
  });
  return kTfLiteOk;
}

// ---- Row-wise fusion groups -------------------------------------------------------------------

BatchTensors TensorsOf(TfLiteContext* context, const TfLiteNode* node) {
  return {Input(context, node, 0), Input(context, node, 1), Output(context, node, 0)};
}

TfLiteStatus BeginRows(TfLiteContext* context, TfLiteNode* node, const RowOp& op) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const TfLiteStatus status = data.in_group.emplace().Make(context, &data, TensorsOf(context, node),
                                                           data.choice.cpu(), op.strided[1]);
  if (status != kTfLiteOk) data.in_group.reset();
  return status;
}

void EndRows(TfLiteContext*, TfLiteNode* node) { DataOf<BatchMatMulData>(node).in_group.reset(); }

void DescribeRows(TfLiteNode* node, const GroupRows& rows, ProductRows* part) {
  const BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const BatchShape& shape = data.shape;
  const int64_t within = rows.first % shape.rows;
  part->product = &data.in_group->product();
  part->count = static_cast<int>(std::min<int64_t>(rows.count, shape.rows - within));
  int left = 0;
  shape.Pair(static_cast<int>(rows.first / shape.rows), &left, &part->group);
  part->left = rows.computed[0] != nullptr
                   ? rows.computed[0]
                   : data.in_group->lhs() + (int64_t{left} * shape.rows + within) * shape.depth;
  // The scattered output rows of a matrix are equidistant.
  const StridedShape& scattered = rows.op->scattered;
  const int rank = scattered.rank;
  part->out =
      rows.out + (rank > 0 ? scattered.FirstAxes(rank - 1).OffsetOf(rows.first) : int64_t{0});
  part->out_step = rank > 0 ? scattered.strides[rank - 2] : shape.columns;
}

void MultiplyRows(TfLiteContext*, TfLiteNode* node, const GroupRows& rows) {
  GroupRows left = rows;
  while (left.count > 0) {
    ProductRows part;
    DescribeRows(node, left, &part);
    part.product->Multiply(part.group, part.left, part.count, part.out, part.out_step);
    left.first += part.count;
    left.count -= part.count;
    if (left.computed[0] != nullptr) left.computed[0] += int64_t{part.count} * part.product->depth;
    if (rows.op->scattered.rank == 0) left.out += int64_t{part.count} * part.product->columns;
  }
}

constexpr RowKernel kBatchRows = {
    .begin = &BeginRows, .end = &EndRows, .rows = &MultiplyRows, .product = &DescribeRows};

TfLiteStatus EvalRowGroup(TfLiteContext* context, TfLiteNode* node, const GroupRun& group) {
  const BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  return RunRowGroup(context, std::get<RowRun>(group),
                     {data.shape.rows, data.choice.cpu().gemm_f32.rows});
}

void OfferRows(TfLiteContext* context, TfLiteNode* node) {
  const BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  const BatchShape& shape = data.shape;
  if (!data.choice.fuses() ||
      !SuitsRowSteps(context, data.choice.cpu(), int64_t{shape.batches} * shape.rows, shape.columns,
                     shape.depth)) {
    return;
  }
  const bool by_rows = !data.params.adj_x && shape.lhs_batches == shape.batches;
  OfferFusion(context, node,
              {.invoke = &Guarded<&EvalBatchMatMul>,
               .run = &GuardedGroup<&EvalRowGroup>,
               .by_rows = {.kernel = &kBatchRows,
                           .kind = RowKind::kProduct,
                           .computed_inputs = by_rows ? 1u : 0u,
                           .strided_inputs = 2,
                           .scatters = true}});
}

bool IsInt8(const BatchMatMulData&, const BatchTensors& tensors, const CpuKernels& cpu) {
  return tensors.lhs->type == kTfLiteInt8 && cpu.gemm_s8.tile != nullptr;
}

bool IsHybridInt8(const BatchMatMulData&, const BatchTensors& tensors, const CpuKernels& cpu) {
  return IsHybrid(tensors) && cpu.gemm_s8.tile != nullptr;
}

Int8Product ProductOf(const BatchMatMulData& data, const CpuKernels& cpu) {
  return {.cpu = &cpu,
          .weights = &data.packed_int8,
          .rows = data.shape.rows,
          .groups = data.shape.rhs_batches,
          .columns = data.shape.columns,
          .depth = data.shape.depth};
}

size_t IntScratch(const BatchMatMulData& data, const BatchTensors& tensors, const CpuKernels& cpu,
                  int workers) {
  return LeftRows::ScratchBytes(data, tensors) + RhsScratch<int8_t>(data, tensors, cpu) +
         2 * kTensorAlignment + ProductOf(data, cpu).ScratchBytes(workers);
}

TfLiteStatus PackInt8(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                      const CpuKernels& cpu) {
  if (!IsReadableConstant(tensors.rhs)) return kTfLiteOk;
  return PackRhs(context, *data, tensors.rhs, cpu, &data->packed_int8, nullptr);
}

// Row of a product: the rows and the matrix that it is computed from.
struct BatchRow {
  int64_t row;      // index of the output row
  int64_t lhs_row;  // index of the left operand's row
  int right;        // index of the right operand's matrix
};

// Computes integer products and calls finish(BatchRow, first column, columns, sums); the
// contributions of both zero points are subtracted from the sums.
template <typename Finish>
TfLiteStatus RunSums(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                     const CpuKernels& cpu, const int8_t* lhs_rows, int32_t lhs_zero,
                     int32_t rhs_zero, const Finish& finish) {
  const BatchShape& shape = data->shape;
  Scratch packed;
  DEPUTY_TRY(PackRhs(context, *data, tensors.rhs, cpu, &data->packed_int8, &packed));
  Int8Product product = ProductOf(*data, cpu);
  product.input_zero_point = lhs_zero;
  product.weights_zero_point = rhs_zero;
  const auto left_of = [&](int batch) {
    int left = 0, right = 0;
    shape.Pair(batch, &left, &right);
    return left;
  };
  const auto right_of = [&](int batch) {
    int left = 0, right = 0;
    shape.Pair(batch, &left, &right);
    return right;
  };
  const auto fill = [&](int batch, int64_t row, uint8_t* out) {
    const int64_t lhs_row = int64_t{left_of(batch)} * shape.rows + row;
    cpu.gemm_s8.left_from_s8(lhs_rows + lhs_row * shape.depth, static_cast<size_t>(shape.depth),
                             out);
  };
  return product.Run(context, shape.batches, right_of, fill,
                     [&](int batch, int64_t row, int count, int column, int columns,
                         const int32_t* sums, size_t stride) {
                       const int left = left_of(batch), right = right_of(batch);
                       for (int r = 0; r < count; ++r, sums += stride) {
                         const BatchRow at = {int64_t{batch} * shape.rows + row + r,
                                              int64_t{left} * shape.rows + row + r, right};
                         finish(at, column, columns, sums);
                       }
                     });
}

TfLiteStatus RunInt8(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                     const CpuKernels& cpu) {
  const int64_t width = data->shape.columns;
  TfLiteTensor* const output = tensors.output;
  LeftRows lhs;
  DEPUTY_TRY(lhs.Make(context, *data, tensors));
  if (output->type == kTfLiteInt32) {
    // Passes zero points of 0, because upstream's sums ignore them in this case.
    return RunSums(context, data, tensors, cpu, lhs.as<int8_t>(), 0, 0,
                   [&](const BatchRow& at, int column, int columns, const int32_t* sums) {
                     std::copy_n(sums, columns, Data<int32_t>(output) + at.row * width + column);
                   });
  }
  const auto requantize = data->scaling.TileFunctionOf(cpu, ArithmeticOf(context));
  return RunSums(context, data, tensors, cpu, lhs.as<int8_t>(), tensors.lhs->params.zero_point,
                 tensors.rhs->params.zero_point,
                 [&](const BatchRow& at, int column, int columns, const int32_t* sums) {
                   RequantizeTile tile = data->scaling.Tile(column);
                   tile.rows = 1;
                   tile.columns = columns;
                   tile.sums = sums;
                   tile.out = Data<int8_t>(output) + at.row * width + column;
                   requantize(tile);
                 });
}

TfLiteStatus RunHybrid(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                       const CpuKernels& cpu) {
  const int64_t width = data->shape.columns;
  float* out = Data<float>(tensors.output);
  LeftRows lhs;
  DEPUTY_TRY(lhs.Make(context, *data, tensors));
  return RunSums(context, data, tensors, cpu, lhs.as<int8_t>(), 0, 0,
                 [&](const BatchRow& at, int column, int columns, const int32_t* sums) {
                   const float scale = lhs.hybrid().scales()[at.lhs_row];
                   const auto zero = static_cast<uint32_t>(lhs.hybrid().zero_points()[at.lhs_row]);
                   for (int c = 0; c < columns; ++c) {
                     const int32_t weights = data->packed_int8.ColumnSum(at.right, column + c);
                     const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) -
                                                           zero * static_cast<uint32_t>(weights));
                     out[at.row * width + column + c] =
                         static_cast<float>(sum) * (data->weight_scales[column + c] * scale);
                   }
                 });
}

// ---- int16 ------------------------------------------------------------------------------------

bool IsInt16(const BatchMatMulData&, const BatchTensors& tensors, const CpuKernels& cpu) {
  return tensors.lhs->type == kTfLiteInt16 && cpu.dots_s16.of_columns != nullptr;
}

// Bytes of a copy of an int8 right operand widened to int16.
size_t WidenedBytes(const TfLiteTensor* rhs) {
  return rhs->type == kTfLiteInt8 ? rhs->bytes * sizeof(int16_t) : 0;
}

size_t Int16Scratch(const BatchMatMulData& data, const BatchTensors& tensors, const CpuKernels&,
                    int) {
  return LeftRows::ScratchBytes(data, tensors) + WidenedBytes(tensors.rhs) + kTensorAlignment;
}

// Computes rows [row, row + count) of the output, which belong to one matrix.
void MultiplyInt16(const BatchMatMulData& data, const CpuKernels& cpu, const int16_t* lhs,
                   const int16_t* rhs, int64_t row, int count, int16_t* out) {
  const BatchShape& shape = data.shape;
  int left = 0, right = 0;
  shape.Pair(static_cast<int>(row / shape.rows), &left, &right);
  lhs += (int64_t{left} * shape.rows + row % shape.rows) * shape.depth;
  rhs += int64_t{right} * shape.columns * shape.depth;
  out += row * shape.columns;
  const DotBlockInt16 block = {lhs, count, rhs, data.params.adj_y, shape.columns, shape.depth};
  block.ForEachSum(cpu, [&](int64_t sum, int r, int c) {
    out[int64_t{r} * shape.columns + c] = data.scaling.RequantizeInt16(sum, true, c);
  });
}

TfLiteStatus RunInt16(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                      const CpuKernels& cpu) {
  const BatchShape& shape = data->shape;
  LeftRows left;
  DEPUTY_TRY(left.Make(context, *data, tensors));
  Scratch widened;
  const int16_t* rhs = Data<int16_t>(tensors.rhs);
  if (tensors.rhs->type == kTfLiteInt8) {
    if (!widened.Acquire(context, WidenedBytes(tensors.rhs))) {
      return TensorError(context, tensors.rhs, "out of memory for a copy in int16");
    }
    std::copy_n(Data<int8_t>(tensors.rhs), tensors.rhs->bytes, widened.as<int16_t>());
    rhs = widened.as<int16_t>();
  }
  int16_t* const out = Data<int16_t>(tensors.output);
  const int64_t rows = int64_t{shape.batches} * shape.rows;
  const int64_t portion = std::max<int64_t>(kDotRowsAtOnce, RowsOfTask(shape));
  ParallelFor(context, static_cast<int>(CeilDiv(rows, portion)), [&](int task, int) {
    const int64_t last = std::min(rows, (task + 1) * portion);
    for (int64_t row = task * portion, count; row < last; row += count) {
      count = std::min({int64_t{kDotRowsAtOnce}, last - row, shape.rows - row % shape.rows});
      MultiplyInt16(*data, cpu, left.as<int16_t>(), rhs, row, static_cast<int>(count), out);
    }
  });
  return kTfLiteOk;
}

// ---- 16-bit factors ---------------------------------------------------------------------------

// Returns the shape of the product of all left rows and the single right matrix.
MatrixShape OneMatrix(const BatchShape& shape) {
  return {int64_t{shape.batches} * shape.rows, 1, shape.columns, shape.depth};
}

bool IsBf16(const BatchMatMulData& data, const BatchTensors& tensors, const CpuKernels& cpu) {
  const BatchShape& shape = data.shape;
  return data.allows_bf16 && IsFloat(data, tensors, cpu) && !data.params.adj_x &&
         shape.rhs_batches == 1 && IsConstant(tensors.rhs) && SuitsBf16(OneMatrix(shape), cpu);
}

size_t Bf16Scratch(const BatchMatMulData& data, const BatchTensors&, const CpuKernels& cpu,
                   int workers) {
  return Bf16Layer::ScratchBytes(cpu, OneMatrix(data.shape), workers);
}

TfLiteStatus PackBf16(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                      const CpuKernels& cpu) {
  return data->bf16.Pack(context, cpu, OneMatrix(data->shape), tensors.rhs);
}

TfLiteStatus RunBf16(TfLiteContext* context, BatchMatMulData* data, const BatchTensors& tensors,
                     const CpuKernels& cpu) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return data->bf16.Run(context, cpu, OneMatrix(data->shape), Data<float>(tensors.lhs),
                        static_cast<size_t>(data->shape.depth), tensors.rhs, nullptr,
                        FloatRange{-kInfinity, kInfinity}, Data<float>(tensors.output));
}

// ---- Implementations --------------------------------------------------------------------------

using BatchImplementation = Implementation<BatchMatMulData, BatchTensors>;

constexpr BatchImplementation kGemmBf16 = {.name = "gemm_bf16",
                                           .accepts = &IsBf16,
                                           .pack = &PackBf16,
                                           .scratch = &Bf16Scratch,
                                           .run = &RunBf16,
                                           .float16_name = "gemm_fp16"};

constexpr BatchImplementation kGemmFloat = {"gemm_float",  &IsFloat,  &PackFloat,
                                            &FloatScratch, &RunFloat, true};
constexpr BatchImplementation kGemmInt8 = {"gemm_int8", &IsInt8, &PackInt8, &IntScratch, &RunInt8};
constexpr BatchImplementation kGemmHybrid = {"gemm_hybrid", &IsHybridInt8, &PackInt8, &IntScratch,
                                             &RunHybrid};
constexpr BatchImplementation kDotsInt16 = {"dots_int16", &IsInt16, nullptr, &Int16Scratch,
                                            &RunInt16};
constexpr BatchImplementation kReference = {"reference", &AcceptsAll<BatchMatMulData, BatchTensors>,
                                            nullptr, nullptr, &RunPlain};
constexpr const BatchImplementation* kImplementations[] = {&kGemmBf16,   &kGemmFloat, &kGemmInt8,
                                                           &kGemmHybrid, &kDotsInt16, &kReference};

TfLiteStatus Pack(TfLiteContext* context, TfLiteNode* node) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  return data.choice.Pack(context, &data, TensorsOf(context, node));
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
  data.allows_bf16 = PrecisionOf(context) != Precision::kFloat32;
  data.bf16.Reset(!params.adj_y);
  int dims[kMaxBatchMatMulRank];
  std::copy_n(shape.batch_dims, shape.batch_rank, dims);
  dims[shape.batch_rank] = shape.rows;
  dims[shape.batch_rank + 1] = shape.columns;
  DEPUTY_TRY(ResizeTo(context, output, {dims, static_cast<size_t>(shape.batch_rank) + 2}));
  data.params = params;
  data.choice.Make(context, CpuOf(context), kImplementations, data, TensorsOf(context, node));
  RequestPacking(context, node, &Guarded<&Pack>);
  OfferRows(context, node);
  return kTfLiteOk;
}

TfLiteStatus EvalBatchMatMul(TfLiteContext* context, TfLiteNode* node) {
  BatchMatMulData& data = DataOf<BatchMatMulData>(node);
  if (ElementCount(Output(context, node, 0)) == 0) return kTfLiteOk;
  return data.choice.Run(context, &data, TensorsOf(context, node));
}

}  // namespace deputy
