// SPDX-License-Identifier: Apache-2.0
#include "kernels/linalg/gemm.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "core/kernel_api/constant_reader.h"
#include "core/support/int_math.h"

namespace deputy {
namespace {

float Flipped(float value, uint8_t) { return value; }
int8_t Flipped(int8_t value, uint8_t flip) { return static_cast<int8_t>(value ^ flip); }

// Packs one panel: columns [first, first + panel_columns) of the group, each part of the depth in
// contiguous runs of `run` values. Padding outside the matrix is zero.
template <typename T, typename Weight>
void PackPanel(const Weight& weight, const WeightsLayout& layout, int first, int panel_columns,
               int run, T* out) {
  const int part_depth = layout.depth / layout.parts;
  for (int part = 0; part < layout.depth; part += part_depth) {
    for (int d = part; d < part + part_depth; d += run) {
      for (int c = first; c < first + panel_columns; ++c) {
        for (int i = d; i < d + run; ++i) {
          *out++ = c < layout.columns && i < part + part_depth ? weight(c, i) : T{0};
        }
      }
    }
  }
}

// Vector of four 32-bit words.
using WordVector = uint32_t __attribute__((vector_size(16)));

// Transposes the square of 4 x 4 words at `from` to `to` and XORs each word with `flip`.
// `from_bytes` and `to_bytes` are the row distances.
inline void TransposeSquare(const void* from, int64_t from_bytes, void* to, int64_t to_bytes,
                            uint32_t flip) {
  const char* const in = static_cast<const char*>(from);
  char* const out = static_cast<char*>(to);
  WordVector a, b, c, d;
  memcpy(&a, in, sizeof(a));
  memcpy(&b, in + from_bytes, sizeof(b));
  memcpy(&c, in + 2 * from_bytes, sizeof(c));
  memcpy(&d, in + 3 * from_bytes, sizeof(d));
  const WordVector ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5) ^ flip;
  const WordVector ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7) ^ flip;
  const WordVector cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5) ^ flip;
  const WordVector cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7) ^ flip;
  a = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  c = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  d = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
  memcpy(out, &a, sizeof(a));
  memcpy(out + to_bytes, &b, sizeof(b));
  memcpy(out + 2 * to_bytes, &c, sizeof(c));
  memcpy(out + 3 * to_bytes, &d, sizeof(d));
}

// Packs a panel of int8 columns that are contiguous along depth, in runs of kRun. Reads kBlock
// bytes of each column at a time, so that the output stays in the first-level cache. Every value is
// XORed with `flip`.
template <int kRun>
void PackDeepPanel(const int8_t* weights, const WeightsLayout& layout, int first, int panel_columns,
                   uint8_t flip, int8_t* out) {
  constexpr int kBlock = 256;
  // Side of the squares that are transposed, in words; a run of four values is one word.
  constexpr int kSquare = 4, kSquareDepth = kSquare * kRun;
  const int part_depth = layout.depth / layout.parts;
  const int padded_depth = static_cast<int>(CeilDiv(part_depth, kRun)) * kRun;
  const int columns = std::min(panel_columns, layout.columns - first);
  const int squares = columns - columns % kSquare;
  const auto squares_end = [](int begin, int end) { return end - (end - begin) % kSquareDepth; };
  if (columns < panel_columns || part_depth < padded_depth) {
    std::fill_n(out, int64_t{padded_depth} * layout.parts * panel_columns, 0);
  }
  for (int part = 0; part < layout.parts; ++part, out += int64_t{padded_depth} * panel_columns) {
    for (int begin = 0; begin < part_depth; begin += kBlock) {
      const int end = std::min(begin + kBlock, part_depth);
      for (int c = 0; c < columns; ++c) {
        const int8_t* const column =
            weights + (first + int64_t{c}) * layout.column_stride + part * part_depth;
        int8_t* const to = out + c * kRun;
        int d = begin;
        if (kRun == 4 && c < squares) {
          d = squares_end(begin, end);
          for (int s = begin; s < d && c % kSquare == 0; s += kSquareDepth) {
            TransposeSquare(column + s, layout.column_stride, to + int64_t{s} * panel_columns,
                            int64_t{kRun} * panel_columns, flip * 0x01010101u);
          }
        }
        for (; d + kRun <= end; d += kRun) {
          for (int i = 0; i < kRun; ++i) {
            to[int64_t{d} * panel_columns + i] = Flipped(column[d + i], flip);
          }
        }
        for (int i = 0; d + i < end; ++i) {
          to[int64_t{d} * panel_columns + i] = Flipped(column[d + i], flip);
        }
      }
    }
  }
}

// Packs int8 columns that are adjacent in memory, in runs of four. XORs every value with `flip`.
void PackWidePanel(const int8_t* weights, const WeightsLayout& layout, int first, int panel_columns,
                   uint8_t flip, int8_t* out) {
  constexpr int kRun = 4;
  const int columns = std::min(panel_columns, layout.columns - first);
  std::fill_n(out, RoundUp(layout.depth, kRun) * panel_columns, 0);
  for (int d = 0; d < layout.depth; d += kRun, out += kRun * panel_columns) {
    const int rows = std::min(kRun, layout.depth - d);
    for (int r = 0; r < rows; ++r) {
      const int8_t* const from = weights + first + (d + r) * layout.depth_stride;
      for (int c = 0; c < columns; ++c) out[c * kRun + r] = Flipped(from[c], flip);
    }
  }
}

using FloatVector = float __attribute__((vector_size(16)));
constexpr int kVector = 4;

// Packs panels of weights whose columns are adjacent in memory, with runs of one value. The weights
// are read in the order of their addresses.
void CopyPanels(const float* weights, const WeightsLayout& layout, int panel_columns,
                int64_t panel_stride, float* out) {
  const bool in_vectors = layout.columns % kVector == 0 && panel_columns % kVector == 0;
  for (int d = 0; d < layout.depth; ++d, weights += layout.depth_stride, out += panel_columns) {
    float* to = out;
    for (int first = 0; first < layout.columns; first += panel_columns, to += panel_stride) {
      const float* const from = weights + first;
      const int count = std::min(panel_columns, layout.columns - first);
      if (!in_vectors) {
        std::fill(std::copy_n(from, count, to), to + panel_columns, 0.0f);
        continue;
      }
      // The loop copies vectors, because runs are short: a memcpy call for each would take longer.
      for (int c = 0; c < panel_columns; c += kVector) {
        FloatVector values = {};
        if (c < count) memcpy(&values, from + c, sizeof(values));
        memcpy(to + c, &values, sizeof(values));
      }
    }
  }
}

// Packs a panel of columns that are contiguous along depth, by transposing squares. The lines of a
// block stay in the first-level cache until all of them are written; the next columns are
// prefetched.
void TransposePanel(const float* weights, const WeightsLayout& layout, int first, int panel_columns,
                    float* out) {
  constexpr int kBlock = 256;
  constexpr int64_t kFloat = sizeof(float);
  const int columns = std::min(panel_columns, layout.columns - first);
  const int whole = columns - columns % kVector;
  for (int begin = 0; begin < layout.depth; begin += kBlock) {
    const int end = std::min(begin + kBlock, layout.depth);
    const int squares_end = end - (end - begin) % kVector;
    for (int c = 0; c < columns; ++c) {
      const float* const from = weights + (first + int64_t{c}) * layout.column_stride;
      float* const to = out + c;
      // A square of kVector columns is transposed when its first column is reached.
      if (c < whole && c % kVector == 0) {
        const float* const next =
            c + 2 * kVector <= columns ? from + kVector * layout.column_stride : from;
        for (int d = begin; d < squares_end; d += kVector) {
          __builtin_prefetch(next + d / kVector % kVector * layout.column_stride + d);
          TransposeSquare(from + d, layout.column_stride * kFloat, to + int64_t{d} * panel_columns,
                          panel_columns * kFloat, 0);
        }
      }
      for (int d = c < whole ? squares_end : begin; d < end; ++d) {
        to[int64_t{d} * panel_columns] = from[d];
      }
    }
    for (int d = begin; d < end; ++d) {
      float* const row = out + int64_t{d} * panel_columns;
      std::fill(row + columns, row + panel_columns, 0.0f);
    }
  }
}

// Returns the sum of `count` adjacent weights, each XORed with `flip`.
uint32_t SumOf(const int8_t* weights, int count, uint8_t flip) {
  using Bytes = uint16_t __attribute__((vector_size(16)));
  // A value plus 128 is an unsigned byte. 16-bit lanes hold the sums of kMaxSteps pairs of them.
  constexpr int kBytes = sizeof(Bytes), kMaxSteps = 128;
  const auto mask = static_cast<uint16_t>((flip ^ 0x80u) * 0x0101u);
  uint32_t sum = 0;
  int i = 0;
  while (i + kBytes <= count) {
    Bytes sums = {};
    for (int steps = std::min((count - i) / kBytes, kMaxSteps); steps > 0; --steps, i += kBytes) {
      Bytes values;
      memcpy(&values, weights + i, kBytes);
      values ^= mask;
      sums += (values & 0xff) + (values >> 8);
    }
    for (int lane = 0; lane < kBytes / 2; ++lane) sum += sums[lane];
  }
  sum -= static_cast<uint32_t>(i) * 128;
  for (; i < count; ++i) sum += static_cast<uint32_t>(Flipped(weights[i], flip));
  return sum;
}

// Computes each column's sum over depth.
void SumColumns(const int8_t* weights, const WeightsLayout& layout, uint8_t flip, int32_t* sums) {
  if (layout.column_stride == 1 && layout.run_columns == 0) {
    std::fill_n(sums, layout.columns, 0);
    for (int d = 0; d < layout.depth; ++d, weights += layout.depth_stride) {
      for (int c = 0; c < layout.columns; ++c) Accumulate(&sums[c], Flipped(weights[c], flip));
    }
    return;
  }
  for (int c = 0; c < layout.columns; ++c) {
    const int8_t* const column = weights + layout.ColumnOffset(c);
    if (layout.depth_stride == 1) {
      sums[c] = static_cast<int32_t>(SumOf(column, layout.depth, flip));
      continue;
    }
    uint32_t sum = 0;
    for (int d = 0; d < layout.depth; ++d) {
      sum += static_cast<uint32_t>(Flipped(column[d * layout.depth_stride], flip));
    }
    sums[c] = static_cast<int32_t>(sum);
  }
}

// Reads weights: if their columns are contiguous and in order and a panel is not too large, by
// copies of one or more panels at a time; otherwise in place, one panel at a time.
class PanelReader {
 public:
  // If `context` is null, the weights are read in place.
  PanelReader(const TfLiteContext* context, const void* weights, size_t value_bytes,
              const WeightsLayout& layout, int panel_columns) {
    // Limits in bytes: minimum size of a read that is worth a system call; maximum per worker, set
    // by the second-level cache; maximum for all workers together.
    constexpr int64_t kAtOnce = 64 << 10, kMaxOfWorker = 1 << 20, kMaxOfAll = 8 << 20;
    if (context == nullptr || layout.depth_stride != 1 || layout.column_stride != layout.depth ||
        layout.run_columns != 0) {
      return;
    }
    column_bytes_ = static_cast<size_t>(layout.depth) * value_bytes;
    const int64_t panel_bytes = static_cast<int64_t>(column_bytes_) * panel_columns;
    if (panel_bytes > kMaxOfWorker || panel_bytes * ThreadCount(context) > kMaxOfAll) return;
    panels_at_once_ = std::max<int64_t>(kAtOnce / std::max<int64_t>(panel_bytes, 1), 1);
    const int64_t columns = std::min<int64_t>(panels_at_once_ * panel_columns, layout.columns);
    reader_.emplace(context, weights, static_cast<size_t>(columns) * column_bytes_);
  }

  int64_t panels_at_once() const { return panels_at_once_; }
  // Returns `columns` columns of weights from `from` on, in place or in the worker's buffer.
  const void* Read(const void* from, int columns, int worker) const {
    if (!reader_) return from;
    return reader_->Read(from, static_cast<size_t>(columns) * column_bytes_, worker);
  }

 private:
  std::optional<ConstantReader> reader_;
  int64_t panels_at_once_ = 1;
  size_t column_bytes_ = 0;
};

// Returns the sum of a row's inputs, each less the zero point.
template <typename T>
uint32_t SumLess(const uint8_t* row, const GemmSums& job) {
  const T* const values = reinterpret_cast<const T*>(row);
  uint32_t sum = 0;
  for (int d = 0; d < job.depth; ++d) {
    sum += static_cast<uint32_t>(values[d] - job.input_zero_point);
  }
  return sum;
}

uint32_t SumLess(LhsEncoding form, const uint8_t* row, const GemmSums& job) {
  switch (form) {
    case LhsEncoding::kInt16:
      return SumLess<int16_t>(row, job);
    case LhsEncoding::kInt8:
      return SumLess<int8_t>(row, job);
    case LhsEncoding::kBiasedUInt8:
      break;
  }
  return SumLess<uint8_t>(row, job);
}

}  // namespace

template <typename T>
bool PackedWeights<T>::Measure(const CpuKernels& cpu, const WeightsLayout& layout,
                               size_t* out_bytes) {
  constexpr bool is_float = std::is_same_v<T, float>;
  const int panel_columns = GemmKernelsOf<T>(cpu).columns;
  const int run = is_float ? 1 : cpu.gemm_s8.run;
  const int64_t padded_depth = RoundUp(layout.depth / layout.parts, run) * layout.parts;
  const int64_t padded_columns = RoundUp(layout.columns, panel_columns);
  if (padded_depth > INT32_MAX - 8 || padded_columns > INT32_MAX - kMaxTileColumns) return false;
  const auto groups = static_cast<size_t>(layout.groups);
  size_t group_values, values, bytes, sums_bytes;
  if (!MultiplySizes(static_cast<size_t>(padded_columns), static_cast<size_t>(padded_depth),
                     &group_values) ||
      !MultiplySizes(group_values, groups, &values) || !MultiplySizes(values, sizeof(T), &bytes) ||
      !AddSizes(bytes, kTensorAlignment - bytes % kTensorAlignment, &bytes) ||
      !MultiplySizes(static_cast<size_t>(padded_columns) * sizeof(int32_t), groups, &sums_bytes) ||
      !AddSizes(bytes, is_float ? 0 : sums_bytes, out_bytes)) {
    return false;
  }
  padded_depth_ = static_cast<int>(padded_depth);
  padded_columns_ = static_cast<int>(padded_columns);
  group_stride_ = static_cast<int64_t>(group_values);
  panel_stride_ = padded_depth * panel_columns;
  sums_offset_ = bytes;
  return true;
}

template <typename T>
void PackedWeights<T>::FillPanel(const CpuKernels& cpu, const T* source,
                                 const WeightsLayout& layout, uint8_t flip, int first,
                                 T* panel) const {
  const int panel_columns = GemmKernelsOf<T>(cpu).columns;
  const bool in_runs = layout.run_columns != 0;
  if constexpr (std::is_same_v<T, float>) {
    if (layout.depth_stride == 1 && !in_runs) {
      return TransposePanel(source, layout, first, panel_columns, panel);
    }
  }
  const int run = std::is_same_v<T, float> ? 1 : cpu.gemm_s8.run;
  if constexpr (!std::is_same_v<T, float>) {
    if (layout.depth_stride == 1 && !in_runs && (run == 2 || run == 4)) {
      const auto pack = run == 2 ? &PackDeepPanel<2> : &PackDeepPanel<4>;
      return pack(source, layout, first, panel_columns, flip, panel);
    }
    if (layout.column_stride == 1 && !in_runs && run == 4 && layout.parts == 1) {
      return PackWidePanel(source, layout, first, panel_columns, flip, panel);
    }
  }
  const auto weight = [&](int c, int d) -> T {
    return Flipped(source[layout.ColumnOffset(c) + d * layout.depth_stride], flip);
  };
  PackPanel(weight, layout, first, panel_columns, run, panel);
}

template <typename T>
void PackedWeights<T>::Fill(const TfLiteContext* context, const CpuKernels& cpu, const T* weights,
                            bool fixed, const WeightsLayout& layout, uint8_t flip,
                            char* out) const {
  const int panel_columns = GemmKernelsOf<T>(cpu).columns;
  const int64_t panels = padded_columns_ / panel_columns;
  const PanelReader reader(fixed ? context : nullptr, weights, sizeof(T), layout, panel_columns);
  const bool in_order =
      std::is_same_v<T, float> && layout.column_stride == 1 && layout.run_columns == 0;
  const int64_t panels_at_once = in_order ? panels : reader.panels_at_once();
  const auto fill = [&](int64_t begin, int64_t end, int worker) {
    for (int64_t i = begin, count; i < end; i += count) {
      const int64_t group = i / panels, panel = i % panels;
      count = std::min({end - i, panels - panel, panels_at_once});
      // `part` is the layout of the columns of `count` panels from `panel` on.
      const auto first = static_cast<int>(panel) * panel_columns;
      WeightsLayout part = layout;
      part.columns = std::min(static_cast<int>(count) * panel_columns, layout.columns - first);
      part.first_column = first;
      const int64_t before = layout.run_columns == 0 ? first * layout.column_stride : 0;
      const T* const source = static_cast<const T*>(
          reader.Read(weights + layout.GroupOffset(group) + before, part.columns, worker));
      T* to = reinterpret_cast<T*>(out) + group * group_stride_ + panel * panel_stride_;
      if constexpr (std::is_same_v<T, float>) {
        if (in_order) {
          CopyPanels(source, part, panel_columns, panel_stride_, to);
          continue;
        }
      }
      for (int column = 0; column < part.columns; column += panel_columns, to += panel_stride_) {
        FillPanel(cpu, source, part, flip, column, to);
      }
      if constexpr (!std::is_same_v<T, float>) {
        SumColumns(
            source, part, flip,
            reinterpret_cast<int32_t*>(out + sums_offset_) + group * padded_columns_ + first);
      }
    }
  };
  // Minimum number of values per task; a smaller task costs more in dispatch than parallelism
  // saves.
  constexpr int64_t kGrain = 8 << 10;
  ParallelRanges(context, layout.groups * panels, kGrain / std::max<int64_t>(panel_stride_, 1) + 1,
                 fill);
}

template <typename T>
bool PackedWeights<T>::Pack(const TfLiteContext* context, const CpuKernels& cpu, const T* weights,
                            bool fixed, const WeightsLayout& layout, uint8_t flip) {
  const PackedKey key = {
      weights,
      reinterpret_cast<const void*>(GemmKernelsOf<T>(cpu).tile),
      {layout.groups, layout.columns, layout.depth, layout.group_stride, layout.column_stride,
       layout.depth_stride, layout.parts, flip, layout.run_columns, layout.run_stride}};
  if (constant_.Holds(key, fixed)) return true;
  size_t bytes = 0;
  if (!Measure(cpu, layout, &bytes)) {
    Invalidate();
    return false;
  }
  return constant_.Ensure(context, key, fixed, bytes, [&](char* out) {
    Fill(context, cpu, weights, fixed, layout, flip, out);
  });
}

template <typename T>
bool PackedWeights<T>::PackInto(const TfLiteContext* context, const CpuKernels& cpu,
                                const T* weights, const WeightsLayout& layout, Scratch* scratch) {
  Invalidate();
  size_t bytes = 0;
  if (!Measure(cpu, layout, &bytes) || !scratch->Acquire(context, bytes)) return false;
  Fill(context, cpu, weights, false, layout, 0, scratch->data());
  constant_.Borrow(scratch->data());
  return true;
}

template class PackedWeights<float>;
template class PackedWeights<int8_t>;

void SubtractWeightsZeroPoint(const GemmSums& job, const GemmTileS8& tile) {
  for (int r = 0; r < tile.rows; ++r) {
    const uint8_t* a = tile.a + static_cast<size_t>(r) * tile.a_stride;
    const uint32_t sum = SumLess(job.cpu->gemm_s8.left, a, job);
    const uint32_t excess = sum * static_cast<uint32_t>(job.weights_zero_point);
    int32_t* sums = tile.sums + static_cast<size_t>(r) * tile.sums_stride;
    for (int c = 0; c < tile.columns; ++c) {
      sums[c] = static_cast<int32_t>(static_cast<uint32_t>(sums[c]) - excess);
    }
  }
}

GemmPlan GemmPlan::Of(int64_t rows, int columns, int panel_columns, const EvenCut& row_cut,
                      const EvenCut& panel_cut) {
  GemmPlan plan;
  if (rows == 0 || columns == 0) return plan;
  plan.rows = rows;
  plan.columns = columns;
  plan.panel_columns = panel_columns;
  plan.row_cut = row_cut;
  plan.panel_cut = panel_cut;
  plan.column_tasks = static_cast<int>(panel_cut.parts());
  plan.tasks = static_cast<int>(row_cut.parts() * plan.column_tasks);
  return plan;
}

GemmPlan::Cut GemmPlan::TaskCut(int task) const {
  // The fast path for a single task avoids divisions, which would be noticeable in small products.
  if (tasks == 1) return {0, rows, 0, columns};
  const int row_task = task / column_tasks, column_task = task % column_tasks;
  const auto column = [&](int number) {
    return static_cast<int>(std::min<int64_t>(columns, panel_cut.Begin(number) * panel_columns));
  };
  const int64_t first_row = row_cut.Begin(row_task), last_row = row_cut.End(row_task);
  const bool reads_first = is_parallel || first_row == 0;
  if (column_tasks == 1) return {first_row, last_row, 0, columns, reads_first};
  return {first_row, last_row, column(column_task), column(column_task + 1), reads_first};
}

namespace {

// Number of rows of a block. A block is read once per panel of weights, so it should stay in the
// first-level cache; but weights larger than the second-level cache should be multiplied by many
// rows each time they are read.
class BlockRows {
 public:
  BlockRows(int columns, int tile_rows, size_t row_bytes) : tile_rows_(tile_rows) {
    // Output rows that are long and share cache lines should stay in the cache from panel to panel,
    // too.
    const bool shares = columns > 128 && columns % 16 != 0;
    const size_t out_bytes = shares ? static_cast<size_t>(columns) * sizeof(float) : 0;
    bytes_ = std::max<size_t>(row_bytes + out_bytes, 1);
  }
  int64_t ForFewWeights() const { return Fitting(24 * 1024, 192); }
  int64_t ForLargeWeights() const { return std::max(ForFewWeights(), Fitting(384 * 1024, 96)); }

 private:
  int64_t Fitting(size_t bytes, int64_t max_rows) const {
    const auto tiles = static_cast<int64_t>(bytes / bytes_) / tile_rows_;
    return std::clamp<int64_t>(tiles, 1, max_rows / tile_rows_) * tile_rows_;
  }

  int tile_rows_;
  size_t bytes_;
};

// Minimum number of operations per task; smaller tasks cost more in dispatch than parallelism
// saves.
constexpr double kMinTaskOperations = 100e3;

// Number of units of `operations` operations in the smallest useful task.
int64_t UnitsPerTask(double operations) {
  return static_cast<int64_t>(kMinTaskOperations / std::max(operations, 1.0)) + 1;
}

// Maximum number of tasks by rows: task numbers are ints, and more tasks have no benefit.
constexpr int64_t kMaxRowTasks = 1 << 20;

// Cuts all rows into blocks of one size: a small last block would read all weights for few rows.
EvenCut CutRows(const GemmCut& cut) {
  return {cut.rows, cut.tile_rows, 1, std::min(CeilDiv(cut.rows, cut.block_rows), kMaxRowTasks)};
}

// Divides the rows among at most `threads` threads.
EvenCut ShareRows(const GemmCut& cut, int64_t threads) {
  // Minimum number of rows that amortises reading the weights.
  const int64_t min_rows = std::max<int64_t>(
      2 * cut.tile_rows, UnitsPerTask(static_cast<double>(cut.columns) * std::max(cut.depth, 1)));
  const int64_t shares = std::clamp<int64_t>(cut.rows / min_rows, 1, threads);
  if (shares == 1) return CutRows(cut);
  const EvenCut halving = EvenCut::Halving(cut.rows, cut.tile_rows, shares, min_rows);
  if (halving.MaxPart() <= cut.block_rows) return halving;
  constexpr int64_t kMinBlocks = 4;
  const int64_t blocks = CeilDiv(CeilDiv(cut.rows, shares), cut.block_rows);
  return {cut.rows, cut.tile_rows, shares, std::clamp(blocks, kMinBlocks, kMaxRowTasks / shares)};
}

}  // namespace

GemmPlan CutForThreads(const GemmCut& cut, int threads) {
  const int64_t panels = CeilDiv(cut.columns, cut.panel_columns);
  // Number of operations. Fewer rows than a tile has take as long as a whole tile.
  const double operations = static_cast<double>(cut.columns) * std::max(cut.depth, 1) *
                            static_cast<double>(std::max<int64_t>(cut.rows, cut.tile_rows));
  const auto useful = static_cast<int64_t>(std::min(operations / kMinTaskOperations, 1e6));
  // Four tasks per thread, for load balancing.
  const int64_t wanted = threads <= 1 ? 1 : std::clamp<int64_t>(useful, 1, int64_t{threads} * 4);
  const int64_t sharing = std::min<int64_t>(wanted, std::max(threads, 1));
  const bool own_columns = cut.weights_are_large && panels >= wanted;
  const EvenCut rows = own_columns || sharing == 1 ? CutRows(cut) : ShareRows(cut, sharing);
  const int64_t row_tasks = rows.parts();
  EvenCut columns(panels, 1, 1, 1);
  if (row_tasks == 1 && sharing > 1) {
    // If there are too few rows (one image, a fully connected layer), the columns are divided
    // instead.
    columns = EvenCut::Halving(
        panels, 1, sharing,
        UnitsPerTask(operations / static_cast<double>(cut.columns) * cut.panel_columns));
  } else if (row_tasks < (own_columns ? wanted : sharing)) {
    int64_t tasks = std::min(panels, CeilDiv(wanted, row_tasks));
    while (tasks < panels && row_tasks * tasks % threads != 0) ++tasks;
    columns = EvenCut(panels, 1, tasks, 1);
  }
  GemmPlan plan = GemmPlan::Of(cut.rows, cut.columns, cut.panel_columns, rows, columns);
  plan.is_parallel = threads > 1;
  return plan;
}

GemmPlan PlanGemm(int64_t rows, int columns, int depth, int tile_rows, int tile_columns,
                  size_t row_bytes, int threads) {
  constexpr double kLargeWeights = 128 * 1024;
  const bool is_large = static_cast<double>(depth) * columns > kLargeWeights;
  const BlockRows block(columns, tile_rows, row_bytes);
  return CutForThreads({.rows = rows,
                        .columns = columns,
                        .depth = depth,
                        .tile_rows = tile_rows,
                        .panel_columns = tile_columns,
                        .block_rows = is_large ? block.ForLargeWeights() : block.ForFewWeights(),
                        .weights_are_large = is_large},
                       threads);
}

}  // namespace deputy
