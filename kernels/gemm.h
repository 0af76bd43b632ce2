// SPDX-License-Identifier: Apache-2.0
//
// Matrix products for convolutions and fully connected layers: rows of input against packed
// weights. The caller says where rows come from; this file packs, cuts the work into tasks and
// runs one task. It knows neither tensors nor threads: the caller spreads the tasks.
//
// Results do not depend on the cut: every output is one sum in ascending order of depth.
#ifndef DEPUTY_KERNELS_GEMM_H_
#define DEPUTY_KERNELS_GEMM_H_

#include <algorithm>
#include <cstdint>

#include "core/memory.h"
#include "kernels/cpu.h"

namespace deputy {

// ---- Packed weights ---------------------------------------------------------------------------

// Weights [columns][depth], as the model holds them, in the panels of a CpuKernels table; several
// groups of the same size one after the other. T is float or int8_t. Remembers what was packed,
// so that constant weights are packed once: see IsCurrent.
template <typename T>
class PackedWeights {
 public:
  // Packs columns * groups rows of `depth` values. False when memory is refused; nothing is then
  // packed.
  bool Pack(const CpuKernels& cpu, const T* weights, int groups, int columns, int depth,
            const Limits& limits);
  // Whether the last Pack was of these weights, by address and shape.
  bool IsCurrent(const CpuKernels& cpu, const T* weights, int groups, int columns,
                 int depth) const {
    return source_ == weights && cpu_ == &cpu && groups_ == groups && columns_ == columns &&
           depth_ == depth;
  }
  void Invalidate() { source_ = nullptr; }

  const T* Panel(int group, int panel) const {
    return reinterpret_cast<const T*>(block_.data()) + group * group_stride_ +
           panel * panel_stride_;
  }
  // Sum over depth of the weights of one column; int8 only.
  int32_t ColumnSum(int group, int column) const { return column_sums()[group * padded_columns_ + column]; }
  // Columns of a group, padded to whole panels.
  int padded_columns() const { return padded_columns_; }
  // Depth padded to what a panel holds.
  int padded_depth() const { return padded_depth_; }

 private:
  int32_t* column_sums() const {
    return reinterpret_cast<int32_t*>(block_.data() + sums_offset_);
  }

  Block block_;
  const CpuKernels* cpu_ = nullptr;
  const T* source_ = nullptr;
  int groups_ = 0, columns_ = 0, depth_ = 0;
  int padded_columns_ = 0, padded_depth_ = 0;
  int64_t group_stride_ = 0, panel_stride_ = 0;  // in values
  size_t sums_offset_ = 0;
};

extern template class PackedWeights<float>;
extern template class PackedWeights<int8_t>;

// ---- The cut ----------------------------------------------------------------------------------

// How a product of `rows` x `columns` is cut into tasks.
struct GemmPlan {
  int64_t rows = 0;
  int columns = 0;
  int64_t block_rows = 0;  // rows of a task
  int block_columns = 0;   // columns of a task, whole panels
  int64_t row_tasks = 0;
  int column_tasks = 0;
  int tasks = 0;

  struct Cut {
    int64_t first_row, last_row;
    int first_column, last_column;
  };
  Cut TaskCut(int task) const;
};

// `tile_*` are the table's, `row_bytes` is what a row occupies, `threads` how many will share.
GemmPlan PlanGemm(int64_t rows, int columns, int depth, int tile_rows, int tile_columns,
                  size_t row_bytes, int threads);

// ---- One task ---------------------------------------------------------------------------------

template <typename T>
struct RowBlock {
  const T* data;
  size_t stride;
};

struct GemmF32 {
  const CpuKernels* cpu;
  const PackedWeights<float>* weights;
  int group, depth;
  const float* bias;  // of the group, padded to whole panels
  float low, high;
  float* out;  // of the group's first column in row 0
  size_t out_stride;
};

// get_rows(first, count) answers a RowBlock<float>. Called once per task.
template <typename GetRows>
void RunGemmF32(const GemmF32& job, const GemmPlan& plan, int task, GetRows&& get_rows) {
  const GemmPlan::Cut cut = plan.TaskCut(task);
  const int tile_rows = job.cpu->f32_rows, panel_columns = job.cpu->f32_columns;
  const int64_t rows = cut.last_row - cut.first_row;
  const RowBlock<float> block = get_rows(cut.first_row, static_cast<int>(rows));
  // A panel stays in the cache while all row tiles pass it; a single row tile takes many at once.
  const int step = rows <= tile_rows ? kMaxTileColumns : panel_columns;
  for (int column = cut.first_column; column < cut.last_column; column += step) {
    GemmTileF32 tile;
    tile.columns = std::min(step, cut.last_column - column);
    tile.depth = job.depth;
    tile.a_stride = block.stride;
    tile.b = job.weights->Panel(job.group, column / panel_columns);
    tile.bias = job.bias + column;
    tile.low = job.low;
    tile.high = job.high;
    tile.out_stride = job.out_stride;
    for (int64_t row = 0; row < rows; row += tile_rows) {
      tile.rows = static_cast<int>(std::min<int64_t>(tile_rows, rows - row));
      tile.a = block.data + row * static_cast<int64_t>(block.stride);
      tile.out = job.out + (cut.first_row + row) * static_cast<int64_t>(job.out_stride) + column;
      job.cpu->gemm_f32(tile);
    }
  }
}

struct GemmS8 {
  const CpuKernels* cpu;
  const PackedWeights<int8_t>* weights;
  int group, depth;
  const int32_t* bias;       // of the group, padded; the input's zero point is already in it
  void (*requantize)(const RequantizeRow& row);
  RequantizeRow scaling;  // of the group: factors, mantissas, shifts, zero point, range
  int8_t* out;
  size_t out_stride;
};

// get_rows as above, of int16_t, each row padded to an even number of values.
template <typename GetRows>
void RunGemmS8(const GemmS8& job, const GemmPlan& plan, int task, GetRows&& get_rows) {
  const GemmPlan::Cut cut = plan.TaskCut(task);
  const int tile_rows = job.cpu->s8_rows, panel_columns = job.cpu->s8_columns;
  const int64_t rows = cut.last_row - cut.first_row;
  const RowBlock<int16_t> block = get_rows(cut.first_row, static_cast<int>(rows));
  alignas(kTensorAlignment) int32_t sums[kMaxTileRows * kMaxTileColumns];
  const int step = rows <= tile_rows ? kMaxTileColumns : panel_columns;
  for (int column = cut.first_column; column < cut.last_column; column += step) {
    GemmTileS8 tile;
    tile.columns = std::min(step, cut.last_column - column);
    tile.pairs = (job.depth + 1) / 2;
    tile.a_stride = block.stride;
    tile.b = job.weights->Panel(job.group, column / panel_columns);
    tile.bias = job.bias + column;
    tile.sums = sums;
    tile.sums_stride = static_cast<size_t>(step);
    RequantizeRow scale = job.scaling;
    scale.count = tile.columns;
    scale.factors += column;
    scale.mantissas += column;
    scale.shifts += column;
    for (int64_t row = 0; row < rows; row += tile_rows) {
      tile.rows = static_cast<int>(std::min<int64_t>(tile_rows, rows - row));
      tile.a = block.data + row * static_cast<int64_t>(block.stride);
      job.cpu->gemm_s8(tile);
      for (int r = 0; r < tile.rows; ++r) {
        scale.sums = sums + r * step;
        scale.out = job.out +
                    (cut.first_row + row + r) * static_cast<int64_t>(job.out_stride) + column;
        job.requantize(scale);
      }
    }
  }
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_GEMM_H_
