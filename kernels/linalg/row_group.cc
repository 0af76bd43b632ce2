// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/row_group.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/kernel_api/scratch.h"
#include "core/support/int_math.h"
#include "kernels/common/kernel.h"
#include "kernels/linalg/attention.h"

namespace deputy {
namespace {

// Cache sizes in bytes: share of the second-level cache for a block of rows (the remainder is for
// weights and other inputs), and share of the first-level cache for the nodes between two products.
constexpr int64_t kBlockBytes = 128 * 1024, kPartBytes = 12 * 1024;
constexpr int64_t kMaxBlockRows = 192;

// RAII guard: calls the `begin` functions of the group's nodes, and at the end of the scope their
// `end` functions.
class RowKernelScope {
 public:
  RowKernelScope(TfLiteContext* context, Runtime* runtime, const RowProgram& program)
      : context_(context), runtime_(runtime), ops_(program.ops) {}
  ~RowKernelScope() {
    while (count_ > 0) {
      const RowOp& op = ops_[--count_];
      if (op.kernel->end != nullptr) op.kernel->end(context_, runtime_->group_node(op.node));
    }
  }
  RowKernelScope(const RowKernelScope&) = delete;
  RowKernelScope& operator=(const RowKernelScope&) = delete;

  TfLiteStatus Begin() {
    for (; count_ < ops_.size(); ++count_) {
      const RowOp& op = ops_[count_];
      if (op.kernel->begin == nullptr) continue;
      DEPUTY_TRY(op.kernel->begin(context_, runtime_->group_node(op.node), op));
    }
    return kTfLiteOk;
  }

 private:
  TfLiteContext* const context_;
  Runtime* const runtime_;
  const std::span<const RowOp> ops_;
  size_t count_ = 0;
};

// Partition of the rows into blocks: parts of a matrix, or several whole matrices.
struct BlockPlan {
  int64_t rows = 0, unit_rows = 0, block_rows = 0, unit_blocks = 0;
  int tasks = 0;

  BlockPlan(int64_t all_rows, const RowCut& cut, int64_t row_bytes, int threads) : rows(all_rows) {
    const int64_t fitting = std::clamp(kBlockBytes / std::max<int64_t>(row_bytes, 1),
                                       int64_t{cut.tile_rows}, kMaxBlockRows);
    const int64_t matrices = CeilDiv(rows, cut.rows_of_matrix);
    // Four tasks per thread, for load balancing.
    const int64_t wanted = threads <= 1 ? 1 : int64_t{threads} * 4;
    unit_rows = cut.rows_of_matrix *
                std::max<int64_t>(1, std::min(fitting / cut.rows_of_matrix, matrices / wanted));
    const int64_t units = CeilDiv(rows, unit_rows);
    const int64_t parts = std::max(CeilDiv(unit_rows, fitting), CeilDiv(wanted, units));
    block_rows = RoundUp(CeilDiv(unit_rows, parts), cut.tile_rows);
    unit_blocks = CeilDiv(unit_rows, block_rows);
    // The number of tasks is limited, because task numbers are ints.
    tasks = static_cast<int>(std::min<int64_t>(blocks(), 1 << 20));
  }

  int64_t blocks() const { return CeilDiv(rows, unit_rows) * unit_blocks; }
  void Block(int64_t number, int64_t* out_first, int* out_count) const {
    const int64_t unit = number / unit_blocks, block = number % unit_blocks;
    *out_first = unit * unit_rows + block * block_rows;
    const int64_t end = std::min(rows, (unit + 1) * unit_rows);
    *out_count = static_cast<int>(std::clamp<int64_t>(end - *out_first, 0, block_rows));
  }
};

// Computes all nodes of a group for one block of rows, with intermediate values in a worker's
// memory.
class BlockRun {
 public:
  BlockRun(TfLiteContext* context, Runtime* runtime, const RowRun& group,
           const Attention* attention, int64_t block_rows, float* memory)
      : context_(context),
        runtime_(runtime),
        cpu_(CpuOf(context)),
        program_(group.program),
        attention_(attention),
        output_(Data<float>(&context->tensors[group.output])),
        block_rows_(block_rows),
        memory_(memory) {}

  void Run(int64_t first, int count) {
    first_ = first;
    const std::vector<RowOp>& ops = program_.ops;
    for (size_t begin = 0; begin < ops.size();) {
      size_t end = begin + 1;
      if (attention_ != nullptr && begin == attention_->first()) {
        end = attention_->last() + 1;
        attention_->Run(RowsOf(ops[begin], first, count), RowsOf(ops[end - 1], first, count),
                        memory_ + SlotFloats());
      } else if (ops[begin].is_product) {
        RunOp(ops[begin], first, count);
      } else {
        while (end < ops.size() && !ops[end].is_product) ++end;
        RunInParts({&ops[begin], end - begin}, count);
      }
      begin = end;
    }
  }

 private:
  // Runs consecutive nodes on a few rows at a time.
  void RunInParts(std::span<const RowOp> ops, int count) {
    if (ops.size() == 1) return RunOp(ops[0], first_, count);
    int64_t columns = 1;
    for (const RowOp& op : ops) columns = std::max<int64_t>(columns, op.out_columns);
    const auto row_bytes = columns * int64_t{sizeof(float)};
    const int part = static_cast<int>(std::clamp<int64_t>(kPartBytes / row_bytes, 1, count));
    for (int done = 0; done < count; done += part) {
      for (const RowOp& op : ops) RunOp(op, first_ + done, std::min(part, count - done));
    }
  }

  // Runs the nodes of a chain on all rows at once: their intermediate values stay in registers or
  // in the first-level cache.
  void RunChain(const RowOp& op, int64_t first, int count) const {
    std::array<ElementOp, kMaxChainedOps> ops;
    int length = 0;
    for (const ChainedNode& chained : op.chain) {
      TfLiteNode* const node = runtime_->group_node(chained.node);
      ops[static_cast<size_t>(length++)] = chained.kernel->element(context_, node, chained);
    }
    float* const out =
        op.out >= 0 ? At(op.out, op.out_columns, first) : output_ + first * op.out_columns;
    cpu_.vector.chain(At(op.computed[0], op.computed_columns[0], first),
                      int64_t{count} * op.out_columns, ops.data(), length, out);
  }

  // Returns the address of row `row` of the value in slot `slot`.
  float* At(int slot, int columns, int64_t row) const {
    float* values = memory_;
    for (int before = 0; before < slot; ++before) {
      values += block_rows_ * program_.slot_columns[static_cast<size_t>(before)];
    }
    return values + (row - first_) * columns;
  }

  // Returns the number of floats of all slots, padded to whole cache lines.
  int64_t SlotFloats() const {
    int64_t columns = 0;
    for (int each : program_.slot_columns) columns += each;
    return RoundUp(columns * block_rows_, int64_t{16});
  }

  void RunOp(const RowOp& op, int64_t first, int count) const {
    if (!op.chain.empty()) return RunChain(op, first, count);
    op.kernel->rows(context_, runtime_->group_node(op.node), RowsOf(op, first, count));
  }

  GroupRows RowsOf(const RowOp& op, int64_t first, int count) const {
    GroupRows block = {
        .first = first, .count = count, .columns = op.out_columns, .op = &op, .cpu = &cpu_};
    for (int i = 0; i < kMaxComputedInputs; ++i) {
      if (op.computed[i] < 0) continue;
      block.computed[i] = At(op.computed[i], op.computed_columns[i], first);
      block.computed_columns[i] = op.computed_columns[i];
    }
    if (op.out >= 0) {
      block.out = At(op.out, op.out_columns, first);
    } else {
      block.out = op.scattered.rank > 0 ? output_ : output_ + first * op.out_columns;
    }
    return block;
  }

  TfLiteContext* const context_;
  Runtime* const runtime_;
  const CpuKernels& cpu_;
  const RowProgram& program_;
  const Attention* const attention_;  // null: the group has none
  float* const output_;
  const int64_t block_rows_;
  float* const memory_;
  int64_t first_ = 0;
};

}  // namespace

TfLiteStatus RunRowGroup(TfLiteContext* context, const RowRun& group, const RowCut& cut) {
  Runtime* const runtime = RuntimeOf(context);
  RowKernelScope scope(context, runtime, group.program);
  DEPUTY_TRY(scope.Begin());
  int64_t row_bytes = 0;
  for (int columns : group.program.slot_columns) row_bytes += columns * int64_t{sizeof(float)};
  const int threads = ThreadCount(context);
  const std::optional<Attention> attention =
      Attention::Find(context, runtime, group.program, cut.rows_of_matrix);
  RowCut tiles = cut;
  if (attention) tiles.tile_rows = attention->lanes();
  const BlockPlan plan(group.program.rows, tiles, row_bytes, threads);
  Scratch memory;
  const auto slot_bytes =
      static_cast<size_t>(RoundUp(plan.block_rows * row_bytes, int64_t{kTensorAlignment}));
  const size_t attention_bytes = attention ? attention->floats() * sizeof(float) : 0;
  if (!memory.AcquireForWorkers(context, slot_bytes + attention_bytes, threads)) {
    return TensorError(context, &context->tensors[group.output],
                       "out of memory for intermediate rows");
  }
  const int64_t blocks = plan.blocks();
  ParallelFor(context, plan.tasks, [&](int task, int worker) {
    BlockRun run(context, runtime, group, attention ? &*attention : nullptr, plan.block_rows,
                 reinterpret_cast<float*>(memory.worker(worker)));
    const int64_t end = (task + int64_t{1}) * blocks / plan.tasks;
    for (int64_t number = task * blocks / plan.tasks; number < end; ++number) {
      int64_t first = 0;
      int count = 0;
      plan.Block(number, &first, &count);
      if (count > 0) run.Run(first, count);
    }
  });
  return kTfLiteOk;
}

bool SuitsRowSteps(const TfLiteContext* context, const CpuKernels& cpu, int64_t rows, int columns,
                   int depth) {
  // Number of weights above which PlanGemm treats them as large.
  constexpr double kLargeWeights = 128 * 1024;
  return rows >= int64_t{2} * cpu.gemm_f32.rows * ThreadCount(context) && columns > 0 &&
         depth > 0 && static_cast<double>(depth) * columns <= kLargeWeights;
}

}  // namespace deputy
