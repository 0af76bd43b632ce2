// SPDX-License-Identifier: Apache-2.0
//
// Conversion between the batch and one or two spatial axes. Element (b, y, x) of the spatial form
// is element (b + (y mod by * bx + x mod bx) * batches, y / by, x / bx) of the batch form, where y
// and x count from `before` elements before the tensor: padding in SPACE_TO_BATCH_ND, which is
// filled with the zero point, cropping in BATCH_TO_SPACE_ND. The block sizes and the margins may be
// known only at run time.
#include "kernels/space_batch.h"

#include <algorithm>

#include "kernels/common/copy_runs.h"
#include "kernels/common/elements.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

// Extents of a tensor [batch, y, x, depth]; x is 1 if the model's tensor has three dimensions.
struct Extents {
  int64_t batch, y, x, depth;
};

Extents ExtentsOf(const TfLiteTensor* tensor) {
  const bool flat = Rank(tensor) == 3;
  return {Dim(tensor, 0), Dim(tensor, 1), flat ? 1 : Dim(tensor, 2), Dim(tensor, flat ? 2 : 3)};
}

struct Blocks {
  int spatial = 0;  // number of spatial axes
  int64_t size[2] = {1, 1};
  int64_t before[2] = {0, 0}, after[2] = {0, 0};
};

TfLiteStatus ReadBlocks(TfLiteContext* context, const TfLiteNode* node, Blocks* blocks) {
  const TfLiteTensor* size = Input(context, node, 1);
  const TfLiteTensor* margins = Input(context, node, 2);
  blocks->spatial = Rank(Input(context, node, 0)) - 2;
  for (int i = 0; i < blocks->spatial; ++i) {
    blocks->size[i] = IntegerAt(size, i);
    blocks->before[i] = IntegerAt(margins, 2 * i);
    blocks->after[i] = IntegerAt(margins, 2 * i + 1);
    if (blocks->size[i] < 1) {
      return TensorError(context, size, "expected blocks of 1 or more, found %lld",
                         static_cast<long long>(blocks->size[i]));
    }
    if (blocks->before[i] < 0 || blocks->after[i] < 0) {
      return TensorError(context, margins, "expected 0 or more, found %lld and %lld",
                         static_cast<long long>(blocks->before[i]),
                         static_cast<long long>(blocks->after[i]));
    }
  }
  return kTfLiteOk;
}

TfLiteStatus ResizeToBatch(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  Blocks blocks;
  DEPUTY_TRY(ReadBlocks(context, node, &blocks));
  int dims[4] = {};
  for (int axis = 0; axis < Rank(input); ++axis) dims[axis] = Dim(input, axis);
  for (int i = 0; i < blocks.spatial; ++i) {
    const int64_t padded = dims[i + 1] + blocks.before[i] + blocks.after[i];
    if (padded % blocks.size[i] != 0) {
      return TensorError(context, input, "expected blocks of %lld to divide the padded extent %lld",
                         static_cast<long long>(blocks.size[i]), static_cast<long long>(padded));
    }
    DEPUTY_TRY(SetExtent(context, output, i + 1, padded / blocks.size[i], &dims[i + 1]));
    DEPUTY_TRY(SetExtent(context, output, 0, dims[0] * blocks.size[i], &dims[0]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(input))});
}

TfLiteStatus ResizeToSpace(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  Blocks blocks;
  DEPUTY_TRY(ReadBlocks(context, node, &blocks));
  int dims[4] = {};
  for (int axis = 0; axis < Rank(input); ++axis) dims[axis] = Dim(input, axis);
  for (int i = 0; i < blocks.spatial; ++i) {
    if (dims[0] % blocks.size[i] != 0) {
      return TensorError(context, input, "expected blocks of %lld to divide the batch %d",
                         static_cast<long long>(blocks.size[i]), dims[0]);
    }
    dims[0] = static_cast<int>(dims[0] / blocks.size[i]);
    const int64_t cropped = dims[i + 1] * blocks.size[i] - blocks.before[i] - blocks.after[i];
    DEPUTY_TRY(SetExtent(context, output, i + 1, cropped, &dims[i + 1]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(input))});
}

bool AreBlocksKnown(TfLiteContext* context, const TfLiteNode* node) {
  return IsKnown(Input(context, node, 1)) && IsKnown(Input(context, node, 2));
}

template <TfLiteStatus (*resize)(TfLiteContext*, TfLiteNode*)>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* size = Input(context, node, 1);
  const TfLiteTensor* margins = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kMovedNumberBits));
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (Rank(input) != 3 && Rank(input) != 4) {
    return TensorError(context, input, "expected 3 or 4 dimensions, found %d", Rank(input));
  }
  DEPUTY_TRY(CheckType(context, size, kInt32Bit));
  DEPUTY_TRY(CheckType(context, margins, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, size, 1));
  DEPUTY_TRY(CheckRank(context, margins, 2));
  DEPUTY_TRY(CheckDim(context, size, 0, Rank(input) - 2));
  DEPUTY_TRY(CheckDim(context, margins, 0, Rank(input) - 2));
  DEPUTY_TRY(CheckDim(context, margins, 1, 2));
  if (AreBlocksKnown(context, node)) return resize(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// A row of the batch form. Columns from `first` to `last` have a position in the spatial form, all
// other columns have none.
struct ColumnRow {
  int64_t batch;  // offset of the row in the batch form
  int64_t first, last;
  // Offset of column `first` in the spatial form, and the stride between columns.
  int64_t space, step;
};

// Calls visit(row) for every row of the batch form.
template <typename Visit>
void ForEachRow(const Extents& space, const Extents& batch, const Blocks& blocks,
                const Visit& visit) {
  const int64_t size_y = blocks.size[0], size_x = blocks.size[1];
  // Number of a row's columns before a position of the spatial form.
  const auto columns_before = [&](int64_t position) {
    return std::clamp<int64_t>((position + size_x - 1) / size_x, 0, batch.x);
  };
  for (int64_t b = 0; b < batch.batch; ++b) {
    const int64_t position = b / space.batch;
    const int64_t shift_y = position / size_x - blocks.before[0];
    const int64_t shift_x = position % size_x - blocks.before[1];
    const int64_t first = columns_before(-shift_x);
    const int64_t last = std::max(first, columns_before(space.x - shift_x));
    for (int64_t y = 0; y < batch.y; ++y) {
      const int64_t space_y = y * size_y + shift_y;
      ColumnRow row = {(b * batch.y + y) * batch.x * batch.depth, first, first, 0,
                       size_x * space.depth};
      if (space_y >= 0 && space_y < space.y) {
        const int64_t line = b % space.batch * space.y + space_y;
        row.last = last;
        row.space = (line * space.x + first * size_x + shift_x) * space.depth;
      }
      visit(row);
    }
  }
}

// Returns the padding value: the bits of the zero point if the type has one.
template <typename T>
T PaddingOf(const TfLiteTensor* tensor) {
  if constexpr (sizeof(T) <= 2 && std::is_integral_v<T>) {
    int32_t low, high;
    if (QuantizedLimits(tensor->type, &low, &high)) {
      return static_cast<T>(tensor->params.zero_point);
    }
  }
  return T{};
}

}  // namespace

TfLiteStatus PrepareSpaceToBatch(TfLiteContext* context, TfLiteNode* node) {
  return Prepare<&ResizeToBatch>(context, node);
}

TfLiteStatus PrepareBatchToSpace(TfLiteContext* context, TfLiteNode* node) {
  return Prepare<&ResizeToSpace>(context, node);
}

TfLiteStatus EvalSpaceToBatch(TfLiteContext* context, TfLiteNode* node) {
  if (!AreBlocksKnown(context, node)) DEPUTY_TRY(ResizeToBatch(context, node));
  Blocks blocks;
  DEPUTY_TRY(ReadBlocks(context, node, &blocks));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const Extents space = ExtentsOf(input), batch = ExtentsOf(output);
  return MoveElements(context, input, output, [&]<typename T>(const T* in, T* out) {
    const T padding = PaddingOf<T>(output);
    const int64_t depth = space.depth;
    ForEachRow(space, batch, blocks, [&](const ColumnRow& row) {
      T* const to = out + row.batch;
      std::fill_n(to, row.first * depth, padding);
      if (row.last > row.first) {
        CopyRuns(row.last - row.first, depth, in + row.space, row.step, to + row.first * depth,
                 depth);
      }
      std::fill_n(to + row.last * depth, (batch.x - row.last) * depth, padding);
    });
  });
}

TfLiteStatus EvalBatchToSpace(TfLiteContext* context, TfLiteNode* node) {
  if (!AreBlocksKnown(context, node)) DEPUTY_TRY(ResizeToSpace(context, node));
  Blocks blocks;
  DEPUTY_TRY(ReadBlocks(context, node, &blocks));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const Extents space = ExtentsOf(output), batch = ExtentsOf(input);
  return MoveElements(context, input, output, [&]<typename T>(const T* in, T* out) {
    const int64_t depth = space.depth;
    ForEachRow(space, batch, blocks, [&](const ColumnRow& row) {
      if (row.last == row.first) return;
      CopyRuns(row.last - row.first, depth, in + row.batch + row.first * depth, depth,
               out + row.space, row.step);
    });
  });
}

}  // namespace deputy
