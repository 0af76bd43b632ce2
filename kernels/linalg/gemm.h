// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of input rows and packed weights, for convolutions and fully connected layers.
// The caller provides the rows; this file packs weights, on the context's threads, partitions the
// work into tasks and runs one task. The caller distributes the tasks over threads.
//
// Results do not depend on the partition: every output is one sum in ascending order of depth.
#ifndef DEPUTY_KERNELS_LINALG_GEMM_H_
#define DEPUTY_KERNELS_LINALG_GEMM_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "core/kernel_api/packed_constant.h"
#include "core/kernel_api/scratch.h"
#include "core/kernel_api/strided_shape.h"
#include "kernels/common/even_cut.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// ---- Packed weights ---------------------------------------------------------------------------

// Memory layout of the weight of (group, column, depth), in values. For int8 the depth may be
// divided into parts, each of which is padded to whole runs.
struct WeightsLayout {
  int groups = 0, columns = 0, depth = 0;
  int64_t group_stride = 0, column_stride = 0, depth_stride = 0;
  int parts = 1;
  // Axes of groups that are not equidistant, for PackInto; if null, groups are group_stride apart.
  const StridedShape* group_axes = nullptr;
  // If run_columns is 0, columns are column_stride apart. Otherwise that is their distance within
  // runs of run_columns columns, and runs are run_stride apart; `first_column` is the index of the
  // first column.
  int run_columns = 0, first_column = 0;
  int64_t run_stride = 0;

  int64_t ColumnOffset(int column) const {
    if (run_columns == 0) return column * column_stride;
    column += first_column;
    return column % run_columns * column_stride + column / run_columns * run_stride;
  }
  int64_t GroupOffset(int64_t group) const {
    return group_axes == nullptr ? group * group_stride : group_axes->OffsetOf(group);
  }

  // Returns the layout of weights in models: [groups][columns][depth].
  static WeightsLayout Rows(int groups, int columns, int depth) {
    return {groups, columns, depth, int64_t{columns} * depth, depth, 1};
  }
  friend bool operator==(const WeightsLayout&, const WeightsLayout&) = default;
};

// Returns the kernel group that multiplies by weights of type T.
template <typename T>
const auto& GemmKernelsOf(const CpuKernels& cpu) {
  if constexpr (std::is_same_v<T, float>) {
    return cpu.gemm_f32;
  } else {
    return cpu.gemm_s8;
  }
}

// Weights packed in a kernel group's panels; groups of columns follow each other. T is float or
// int8_t.
template <typename T>
class PackedWeights {
 public:
  // Packs the weights unless they are already packed. Weights that are `fixed` never change at
  // their address; those of the model are shared by all its interpreters. `flip` is XORed with int8
  // weights: 0x80 converts uint8 to int8 by subtracting 128. Returns false if out of memory or if
  // the size overflows; then nothing is packed. `context` may be null.
  bool Pack(const TfLiteContext* context, const CpuKernels& cpu, const T* weights, bool fixed,
            const WeightsLayout& layout, uint8_t flip = 0);
  // Packs weights that are not constant into scratch memory; they are valid while `scratch` lives.
  bool PackInto(const TfLiteContext* context, const CpuKernels& cpu, const T* weights,
                const WeightsLayout& layout, Scratch* scratch);
  // Returns the bytes of the packed form; 0 on overflow.
  static size_t Bytes(const CpuKernels& cpu, const WeightsLayout& layout) {
    PackedWeights measured;
    size_t bytes = 0;
    return measured.Measure(cpu, layout, &bytes) ? bytes : 0;
  }
  // Forces the next Pack to pack again; called in prepare.
  void Invalidate() { constant_.Invalidate(); }

  const T* Panel(int group, int panel) const {
    return reinterpret_cast<const T*>(constant_.data()) + group * group_stride_ +
           panel * panel_stride_;
  }
  // Returns the sum over depth of the weights of one column; for int8 only.
  int32_t ColumnSum(int group, int column) const {
    return reinterpret_cast<const int32_t*>(constant_.data() +
                                            sums_offset_)[group * padded_columns_ + column];
  }
  // Returns the number of columns of a group, padded to whole panels.
  int padded_columns() const { return padded_columns_; }
  // Returns the distance between panels, in values.
  size_t panel_stride() const { return static_cast<size_t>(panel_stride_); }
  // Returns the depth, padded as in a panel.
  int padded_depth() const { return padded_depth_; }

 private:
  // Computes the members that describe sizes, and the total bytes; returns false on overflow.
  bool Measure(const CpuKernels& cpu, const WeightsLayout& layout, size_t* out_bytes);
  // Packs all panels on the context's threads.
  void Fill(const TfLiteContext* context, const CpuKernels& cpu, const T* weights, bool fixed,
            const WeightsLayout& layout, uint8_t flip, char* out) const;
  // Packs a panel from column `first` of `layout` on; `source` points to the weights of `layout`.
  void FillPanel(const CpuKernels& cpu, const T* source, const WeightsLayout& layout, uint8_t flip,
                 int first, T* panel) const;

  PackedConstant constant_;
  int padded_columns_ = 0, padded_depth_ = 0;
  // Distances between groups and between panels, in values.
  int64_t group_stride_ = 0, panel_stride_ = 0;
  size_t sums_offset_ = 0;  // offset of the column sums in the packed data, in bytes; int8 only
};

extern template class PackedWeights<float>;
extern template class PackedWeights<int8_t>;

// ---- Partition --------------------------------------------------------------------------------

// Partition of a product of `rows` x `columns` into tasks: blocks of rows, and blocks of whole
// panels.
struct GemmPlan {
  int64_t rows = 0;
  int columns = 0, panel_columns = 1;
  EvenCut row_cut, panel_cut;
  int column_tasks = 0;  // number of tasks per block of rows
  int tasks = 0;
  bool is_parallel = false;  // several threads run the tasks

  struct Cut {
    int64_t first_row, last_row;
    int first_column, last_column;
    // False if the same thread has probably read the weights in an earlier task.
    bool reads_first = true;
  };
  Cut TaskCut(int task) const;
  // Returns the maximum number of rows of a task.
  int64_t block_rows() const { return row_cut.MaxPart(); }

  static GemmPlan Of(int64_t rows, int columns, int panel_columns, const EvenCut& row_cut,
                     const EvenCut& panel_cut);
};

// Description of a product to be partitioned. `block_rows` is the maximum number of rows of a task,
// a multiple of `tile_rows`. If `weights_are_large` and there are enough panels, the rows are cut
// into as few blocks as `block_rows` allows, and the columns only if there are too few tasks.
// Otherwise the rows are divided among the threads first.
struct GemmCut {
  int64_t rows;
  int columns, depth;
  int tile_rows, panel_columns;
  int64_t block_rows;
  bool weights_are_large;
};
GemmPlan CutForThreads(const GemmCut& cut, int threads);

// Partitions a product. `tile_rows` and `tile_columns` are the kernel's sizes, `row_bytes` is the
// size of an input row.
GemmPlan PlanGemm(int64_t rows, int columns, int depth, int tile_rows, int tile_columns,
                  size_t row_bytes, int threads);

// ---- One task ---------------------------------------------------------------------------------

// Returns the part of an epilogue for every row_step-th row from `row` on and columns from `column`
// on.
inline std::optional<EpilogueF32> PartOf(const EpilogueF32* whole, int64_t row, int column,
                                         int row_step = 1) {
  if (whole == nullptr) return std::nullopt;
  EpilogueF32 part = *whole;
  if (part.addend != nullptr) {
    part.addend += row * static_cast<int64_t>(part.addend_stride) + column;
    part.addend_stride *= static_cast<size_t>(row_step);
    part.addend_columns = std::max(0, part.addend_columns - column);
  }
  if (part.slopes != nullptr) part.slopes += column;
  return part;
}

// Returns the number of columns of the next kernel call, at most `left`. With many rows one panel
// is kept in the cache, at the end together with a following half panel, for which kernels may have
// a tile. With few rows several panels are processed at once.
inline int ColumnsPerCall(const GemmF32Kernels& kernels, int64_t rows, int left) {
  if (rows <= kernels.rows) return std::min(kMaxTileColumns, left);
  return left <= kernels.columns + kernels.columns / 2 ? left : kernels.columns;
}

template <typename T>
struct RowBlock {
  const T* data;
  size_t stride;
};

struct GemmF32 {
  const CpuKernels* cpu;
  const PackedWeights<float>* weights;
  int group, depth;
  const float* bias;  // the group's bias, padded to whole panels
  float low, high;
  float* out;  // first column of the group in row 0
  size_t out_stride;
  // Epilogue from the group's first column on; null if there is none.
  const EpilogueF32* epilogue = nullptr;
};

// Returns true if a task should prefetch the next panel while it multiplies one. Weights that fit
// in the second-level cache remain there after the first rows, so they need no prefetch.
inline bool ShouldPrefetch(const GemmF32& job, const GemmPlan::Cut& cut) {
  const int64_t values = int64_t{job.depth} * (cut.last_column - cut.first_column);
  return cut.last_row - cut.first_row > job.cpu->gemm_f32.rows &&
         values > (cut.reads_first ? 32 : 128) * 1024;
}

// Computes a task of a float product. get_rows(first, count) returns a RowBlock<float> and is
// called once.
template <typename GetRows>
void RunGemmF32(const GemmF32& job, const GemmPlan::Cut& cut, GetRows&& get_rows) {
  const int panel_columns = job.cpu->gemm_f32.columns;
  const int64_t rows = cut.last_row - cut.first_row;
  const RowBlock<float> block = get_rows(cut.first_row, static_cast<int>(rows));
  const bool fetches = ShouldPrefetch(job, cut);
  for (int column = cut.first_column; column < cut.last_column;) {
    GemmTileF32 tile;
    tile.columns = ColumnsPerCall(job.cpu->gemm_f32, rows, cut.last_column - column);
    tile.parts = 1;
    tile.depth = job.depth;
    tile.a_stride = block.stride;
    tile.b = job.weights->Panel(job.group, column / panel_columns);
    tile.bias = job.bias + column;
    tile.low = job.low;
    tile.high = job.high;
    tile.out_stride = job.out_stride;
    tile.rows = static_cast<int>(rows);
    tile.a = &block.data;
    tile.out = job.out + cut.first_row * static_cast<int64_t>(job.out_stride) + column;
    const auto epilogue = PartOf(job.epilogue, cut.first_row, column);
    tile.epilogue = epilogue ? &*epilogue : nullptr;
    const int next = column + tile.columns;
    if (fetches && next < cut.last_column) {
      tile.prefetch = job.weights->Panel(job.group, next / panel_columns);
    }
    job.cpu->gemm_f32.tile(tile);
    column = next;
  }
}

template <typename GetRows>
void RunGemmF32(const GemmF32& job, const GemmPlan& plan, int task, GetRows&& get_rows) {
  RunGemmF32(job, plan.TaskCut(task), get_rows);
}

struct GemmSums {
  const CpuKernels* cpu;
  const PackedWeights<int8_t>* weights;
  int group, depth;
  const int32_t* bias;  // bias of the group, padded to whole panels
  // Zero point of every input (in its LhsEncoding), whose contribution the bias includes, and zero
  // point of every weight.
  int32_t input_zero_point, weights_zero_point;
};

// Subtracts weights_zero_point times the sum of (input - input_zero_point) from the sums of a tile.
void SubtractWeightsZeroPoint(const GemmSums& job, const GemmTileS8& tile);

// Computes a task of an int8 product. get_rows(first, count) returns bytes: rows in the kernel's
// LhsEncoding, each padded to the weights' padded_depth(). Calls finish(first_row, rows,
// first_column, columns, sums, stride) for tiles of sums, sums[r * stride + c].
template <typename GetRows, typename Finish>
void RunGemmSums(const GemmSums& job, const GemmPlan& plan, int task, GetRows&& get_rows,
                 Finish&& finish) {
  const GemmPlan::Cut cut = plan.TaskCut(task);
  const int tile_rows = job.cpu->gemm_s8.rows, panel_columns = job.cpu->gemm_s8.columns;
  const int64_t rows = cut.last_row - cut.first_row;
  const RowBlock<uint8_t> block = get_rows(cut.first_row, static_cast<int>(rows));
  alignas(kTensorAlignment) int32_t sums[kMaxTileRows * kMaxTileColumns];
  const int step = rows <= tile_rows ? kMaxTileColumns : panel_columns;
  for (int column = cut.first_column; column < cut.last_column; column += step) {
    GemmTileS8 tile;
    tile.columns = std::min(step, cut.last_column - column);
    tile.depth = job.weights->padded_depth();
    tile.a_stride = block.stride;
    tile.b = job.weights->Panel(job.group, column / panel_columns);
    tile.bias = job.bias + column;
    tile.sums = sums;
    tile.sums_stride = static_cast<size_t>(step);
    for (int64_t row = 0; row < rows; row += tile_rows) {
      tile.rows = static_cast<int>(std::min<int64_t>(tile_rows, rows - row));
      tile.a = block.data + row * static_cast<int64_t>(block.stride);
      job.cpu->gemm_s8.tile(tile);
      if (job.weights_zero_point != 0) SubtractWeightsZeroPoint(job, tile);
      finish(cut.first_row + row, tile.rows, column, tile.columns, sums, tile.sums_stride);
    }
  }
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_GEMM_H_
