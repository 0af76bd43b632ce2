// SPDX-License-Identifier: Apache-2.0
//
// Code shared by the Winograd convolutions: output tiles, which depend on input tiles that are two
// pixels larger, and the partition of the work. Tiles are processed in groups. The inputs of a
// group are transformed first; then tasks transform a panel of weights, multiply planes, and
// transform the products into outputs.
#ifndef DEPUTY_KERNELS_CONV_WINOGRAD_H_
#define DEPUTY_KERNELS_CONV_WINOGRAD_H_

#include "core/support/int_math.h"
#include "kernels/conv/conv.h"

namespace deputy {

constexpr int kWinogradTaps = 9;
constexpr int kMaxWinogradPixels = 36;  // number of pixels of the largest input tile, 6x6

constexpr int TilesOf(int pixels, int size) { return static_cast<int>(CeilDiv(pixels, size)); }

inline MatrixShape WinogradMatrix(const ConvShape& shape) {
  return {shape.output_pixels(), 1, shape.output_channels, kWinogradTaps * shape.depth};
}

// Returns true if the transforms support the windows, the output is not empty, and the sizes keep
// their products in ints within 32 bits.
inline bool HasWinogradWindows(const ConvShape& shape) {
  const auto fits = [](const WindowAxis& axis) {
    return axis.filter == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  return fits(shape.y) && fits(shape.x) && shape.groups == 1 && shape.depth <= 1 << 11 &&
         shape.output_channels <= 1 << 13 && shape.output_pixels() > 0 &&
         shape.output_pixels() <= 1 << 26;
}

// The tiles of an output, `size` pixels along each side.
struct WinogradTiles {
  int size, rows, columns;
  int64_t count;  // number of tiles in all batches

  WinogradTiles(const ConvShape& shape, int tile_size)
      : size(tile_size),
        rows(TilesOf(shape.y.output, size)),
        columns(TilesOf(shape.x.output, size)),
        count(int64_t{shape.batches} * rows * columns) {}
  int points() const { return size + 2; }
  int planes() const { return points() * points(); }

  // Position of a tile's first output pixel, and the number of output pixels that exist.
  struct TilePosition {
    int batch, y, x, rows, columns;

    int64_t Position(const ConvShape& shape, int row = 0, int column = 0) const {
      return (int64_t{batch} * shape.y.output + y + row) * shape.x.output + x + column;
    }
  };
  TilePosition PositionOf(const ConvShape& shape, int64_t tile) const {
    const int64_t row = tile / columns;
    const int y = static_cast<int>(row % rows) * size;
    const int x = static_cast<int>(tile % columns) * size;
    return {static_cast<int>(row / rows), y, x, std::min(size, shape.y.output - y),
            std::min(size, shape.x.output - x)};
  }
  // Writes the addresses of the input pixels that a tile depends on, in row-major order; pixels in
  // the padding get the address `outside`.
  template <typename T>
  void FindPixels(const ConvShape& shape, const TilePosition& position, const T* input,
                  const T* outside, const T** out) const {
    for (int y = 0; y < points(); ++y) {
      const int64_t iy = shape.y.Start(position.y) + y;
      const bool is_row = iy >= 0 && iy < shape.y.input;
      for (int x = 0; x < points(); ++x) {
        const int64_t ix = shape.x.Start(position.x) + x;
        const bool is_inside = is_row && ix >= 0 && ix < shape.x.input;
        *out++ = is_inside ? shape.Pixel(input, position.batch, iy, ix) : outside;
      }
    }
  }
};

// ---- Partition --------------------------------------------------------------------------------

struct WinogradPlan {
  WinogradTiles tiles;
  int group_tiles = 0;
  int panel_columns = 0, panels = 0;
  int block_tiles = 0;  // number of tiles per task that multiplies
  int input_tasks = 1;  // number of tasks that transform the inputs of a group

  // `tile_rows` is the number of rows that the product's kernel processes at once.
  WinogradPlan(const ConvShape& shape, int tile_size, int tile_rows, int columns, int threads)
      : tiles(shape, tile_size),
        panel_columns(columns),
        panels(TilesOf(shape.output_channels, columns)) {
    const int64_t max_tiles = MaxTiles(shape, tiles);
    const int64_t groups = std::max<int64_t>(CeilDiv(tiles.count, max_tiles), 1);
    group_tiles = static_cast<int>(CeilDiv(tiles.count, groups));
    // Four tasks per thread, for load balancing; more would make blocks small, and a small block
    // transforms weights for few products.
    const int wanted = threads <= 1 ? 1 : TilesOf(4 * threads, panels);
    const int min_tiles = std::min(group_tiles, 4 * tile_rows);
    const int blocks = std::clamp(group_tiles / std::max(min_tiles, 1), 1, wanted);
    block_tiles = std::max(TilesOf(group_tiles, blocks), 1);
    if (threads > 1 && panels * TilesOf(group_tiles, block_tiles) < 2 * threads) {
      block_tiles = BlockOfFewTiles(tile_rows, threads);
    }
    if (threads > 1) input_tasks = 4 * threads;
  }

  // Returns the number of tiles per block, at most block_tiles, with which `threads` threads take
  // the least time.
  int BlockOfFewTiles(int tile_rows, int threads) const {
    // Cost of a block in addition to its tiles, as a number of tiles: it transforms the weights.
    constexpr int kCost = 6;
    int best = block_tiles, least = std::numeric_limits<int>::max();
    for (int size = block_tiles; size >= std::min(tile_rows, block_tiles); --size) {
      const int rounds = TilesOf(panels * TilesOf(group_tiles, size), threads);
      const int time = rounds * (size + kCost);
      if (time < least) best = size, least = time;
    }
    return best;
  }

  // Returns the maximum number of tiles of a group, such that the group's planes stay in the cache
  // while they are multiplied by all panels.
  static int64_t MaxTiles(const ConvShape& shape, const WinogradTiles& tiles) {
    constexpr int64_t kValues = 256 * 1024;
    return std::max<int64_t>(kValues / (int64_t{tiles.planes()} * shape.depth), 24);
  }
};

// ---- Cost model -------------------------------------------------------------------------------

// Costs of Winograd's algorithm, in multiplications: transforming one channel of a tile's input and
// of its output, and the 9 taps of one input and output channel, which the estimate counts once per
// group. `extra_tiles` is the fixed cost of a group's product as a number of tiles.
struct WinogradCost {
  double input, output, weight, extra_tiles;
};

// Estimates the time of Winograd's algorithm as a fraction of that of direct convolution.
inline double RelativeWinogradCost(const ConvShape& shape, int tile_size,
                                   const WinogradCost& cost) {
  const WinogradTiles tiles(shape, tile_size);
  const double in = shape.depth, out = shape.output_channels;
  const auto count = static_cast<double>(tiles.count);
  const double groups =
      std::ceil(count / static_cast<double>(WinogradPlan::MaxTiles(shape, tiles)));
  const double products = (count + groups * cost.extra_tiles) * tiles.planes() * in * out;
  const double others =
      count * (cost.input * in + cost.output * out) + groups * cost.weight * in * out;
  const double windows = static_cast<double>(shape.output_pixels()) * kWinogradTaps * in * out;
  return (products + others) / windows;
}

// Maximum relative cost (RelativeWinogradCost) at which Winograd's algorithm is used.
constexpr double kMaxWinogradCost = 0.88;

// ---- Execution --------------------------------------------------------------------------------

// Calls transform(group, first, last) for the inputs of tiles [first, last) of the group that
// begins at tile `group`, and multiply(group, first, last, panel, worker) for their outputs in a
// panel's columns.
template <typename Transform, typename Multiply>
void RunWinograd(TfLiteContext* context, const WinogradPlan& plan, const Transform& transform,
                 const Multiply& multiply) {
  for (int64_t group = 0; group < plan.tiles.count; group += plan.group_tiles) {
    const int tiles =
        static_cast<int>(std::min<int64_t>(plan.group_tiles, plan.tiles.count - group));
    const EvenCut inputs(tiles, 1, plan.input_tasks, 1);
    ParallelFor(context, static_cast<int>(inputs.parts()), [&](int task, int) {
      transform(group, static_cast<int>(inputs.Begin(task)), static_cast<int>(inputs.End(task)));
    });
    const int blocks = TilesOf(tiles, plan.block_tiles);
    // Adjacent tasks multiply the same inputs, most of which their thread has transformed itself.
    ParallelFor(context, plan.panels * blocks, [&](int task, int worker) {
      const int first = task / plan.panels * plan.block_tiles;
      multiply(group, first, std::min(first + plan.block_tiles, tiles), task % plan.panels, worker);
    });
  }
}

// Returns how many of the remaining `left` rows the next product call processes. If there are more
// than `tile_rows` rows, the last call has about half as many or more, because a call with fewer
// rows takes as long.
inline int WinogradRowsAtOnce(int left, int tile_rows, int depth) {
  constexpr int kWantedDepth = 512;  // rows times depth of a call that hides the call's overhead
  if (left <= tile_rows) return left;
  if (left < 2 * tile_rows) return (left + 1) / 2;
  const int few = left % tile_rows;
  const bool splits = few > 0 && few <= tile_rows / 2;
  return std::min(TilesOf(kWantedDepth, depth) * tile_rows, left - few - (splits ? tile_rows : 0));
}

// Prefetches a memory range, a few cache lines (kLines) at a time, between products.
class Prefetcher {
 public:
  Prefetcher(const void* first, size_t bytes)
      : next_(static_cast<const char*>(first)), end_(next_ + bytes) {}
  void Next() {
    constexpr int kLines = 24;  // maximum number of outstanding cache misses
    constexpr int kLineBytes = 64;
    for (int i = 0; i < kLines && next_ < end_; ++i, next_ += kLineBytes) __builtin_prefetch(next_);
  }

 private:
  const char* next_;
  const char* end_;
};

// Calls transform(pixels, tile) with the addresses of the input pixels of tiles [first, last) of
// the group that begins at tile `group`; pixels in the padding are `zeros`.
template <typename T, typename Transform>
inline void TransformWinogradTiles(const ConvShape& shape, const WinogradTiles& tiles,
                                   int64_t group, int first, int last, const T* input,
                                   const T* zeros, const Transform& transform) {
  const T* pixels[kMaxWinogradPixels];
  for (int tile = first; tile < last; ++tile) {
    tiles.FindPixels(shape, tiles.PositionOf(shape, group + tile), input, zeros, pixels);
    transform(pixels, tile);
  }
}

// Calls multiply(plane, row, count) for all planes and all of their `rows` rows, `tile_rows` rows
// being processed at once; prefetches between the calls.
template <typename Multiply>
inline void MultiplyWinogradPlanes(int planes, int rows, int tile_rows, int depth,
                                   Prefetcher prefetcher, const Multiply& multiply) {
  for (int plane = 0; plane < planes; ++plane) {
    for (int row = 0; row < rows;) {
      const int count = WinogradRowsAtOnce(rows - row, tile_rows, depth);
      prefetcher.Next();
      multiply(static_cast<size_t>(plane), int64_t{row}, count);
      row += count;
    }
  }
}

// Runs the tasks of a convolution. Job and Layout are those of the element type; Task(job, panel,
// scratch).Run(group, first, last) computes tiles for a panel.
template <typename Task, typename Job, typename Layout>
void RunWinogradTasks(TfLiteContext* context, const Job& job, const Layout& layout, char* scratch) {
  RunWinograd(
      context, job.plan,
      [&](int64_t group, int first, int last) { job.TransformInputs(group, first, last); },
      [&](int64_t group, int first, int last, int panel, int worker) {
        char* const own =
            scratch + layout.workers + static_cast<size_t>(worker) * layout.worker_bytes;
        Task(job, panel, own).Run(group, first, last);
      });
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_WINOGRAD_H_
