// SPDX-License-Identifier: Apache-2.0
//
// RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR on [batch, height, width, depth]. The source position
// of each output row and column is computed once per invoke, not per element.
//
// In the default arithmetic quantised images are interpolated in float, with correctly rounded
// weights, and rounded once. In the reference arithmetic, as in upstream's kernels, uint8 is
// converted to float, and signed integers use weights with 10 fraction bits, from a scale rounded
// to the same precision: far from the first pixel positions are off by whole pixels.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/common/blend.h"
#include "kernels/common/copy_runs.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/cpu/cpu.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillBilinear(const OpOptions& options, TfLiteResizeBilinearParams* params) {
  params->align_corners = options.Bool(2);
  params->half_pixel_centers = options.Bool(3);
  return true;
}

bool FillNearest(const OpOptions& options, TfLiteResizeNearestNeighborParams* params) {
  params->align_corners = options.Bool(0);
  params->half_pixel_centers = options.Bool(1);
  return true;
}

// ---- Prepare ----------------------------------------------------------------------------------

constexpr uint32_t kBilinearTypes = kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit;
constexpr uint32_t kNearestTypes = kFloat32Bit | kFloat16Bit | kBFloat16Bit | kInt8Bit | kUInt8Bit |
                                   kInt16Bit | TypeBit(kTfLiteUInt16) | kInt32Bit | kUInt32Bit |
                                   kBoolBit;

// Sets the output's shape. Bilinear interpolation does not allow an extent of 0, nearest neighbour
// does.
template <int min_extent>
TfLiteStatus ResizeImage(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* size = Input(context, node, 1);
  const int32_t* wanted = Data<int32_t>(size);
  if (wanted[0] < min_extent || wanted[1] < min_extent) {
    return TensorError(context, size,
                       "expected a height and width of %d or more, found %d and "
                       "%d",
                       min_extent, wanted[0], wanted[1]);
  }
  const int dims[] = {Dim(input, 0), wanted[0], wanted[1], Dim(input, 3)};
  return ResizeTo(context, Output(context, node, 0), dims);
}

template <uint32_t types, int min_extent>
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* size = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, types));
  DEPUTY_TRY(CheckRank(context, input, 4));
  DEPUTY_TRY(CheckType(context, size, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, size, 1));
  DEPUTY_TRY(CheckDim(context, size, 0, 2));
  output->type = input->type;
  if (IsKnown(size)) return ResizeImage<min_extent>(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

TfLiteStatus PrepareBilinear(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteResizeBilinearParams>(node);
  // Both options together are an error only in the reference arithmetic, as in upstream's kernel;
  // XNNPACK, which most of TensorFlow Lite's clients use, aligns the corners.
  if (params.align_corners && params.half_pixel_centers &&
      ArithmeticOf(context) == Arithmetic::kReference) {
    return KernelError(context, "expected align_corners or half_pixel_centers, found both");
  }
  return Prepare<kBilinearTypes, 1>(context, node);
}

// Makes the first checks of invoke and resizes a dynamic output. Fails if the output has elements
// but the input has none.
template <int min_extent>
TfLiteStatus Begin(TfLiteContext* context, TfLiteNode* node) {
  if (!IsKnown(Input(context, node, 1))) DEPUTY_TRY(ResizeImage<min_extent>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  if (ElementCount(Output(context, node, 0)) > 0 && ElementCount(input) == 0) {
    return TensorError(context, input, "expected elements, found none");
  }
  return kTfLiteOk;
}

// Checks the memory for one Position per row and column of the output against the limits.
template <typename Position>
TfLiteStatus CheckPositions(TfLiteContext* context, const TfLiteTensor* output) {
  DEPUTY_TRY(CheckContainerSize(context, output, Dim(output, 1), sizeof(Position), "rows"));
  return CheckContainerSize(context, output, Dim(output, 2), sizeof(Position), "columns");
}

// Calls run(row) for every output row of all images, on all threads.
template <typename RunFunction>
void ForEachRow(TfLiteContext* context, const TfLiteTensor* output, const RunFunction& run) {
  const int64_t rows = int64_t{Dim(output, 0)} * Dim(output, 1);
  const int64_t width = std::max<int64_t>(1, int64_t{Dim(output, 2)} * Dim(output, 3));
  ParallelRanges(context, rows, kElementsPerTask / width + 1, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) run(row);
  });
}

// ---- Bilinear ---------------------------------------------------------------------------------

using BilinearParams = TfLiteResizeBilinearParams;

// Positions of the output's rows or columns between those of the input, which are `step` elements
// apart.
template <typename Weight>
using Positions = std::vector<Interpolation<Weight>>;

Positions<float> FloatPositions(const BilinearParams& params, int from, int to, int64_t step) {
  const float scale = params.align_corners && to > 1
                          ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                          : static_cast<float>(from) / static_cast<float>(to);
  const bool centers = params.half_pixel_centers && !params.align_corners;
  Positions<float> positions(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const float at =
        centers ? (static_cast<float>(i) + 0.5f) * scale - 0.5f : static_cast<float>(i) * scale;
    // Positions have 64 bits, because for the largest images rounding gives positions beyond 32
    // bits.
    const int64_t last = from - 1;
    const int64_t low = std::max<int64_t>(static_cast<int64_t>(std::floor(at)), 0);
    const int64_t high = std::min(static_cast<int64_t>(std::ceil(at)), last);
    const float weight = at - static_cast<float>(low);
    positions[static_cast<size_t>(i)] = {std::min(low, last) * step, high * step, 1.0f - weight,
                                         weight};
  }
  return positions;
}

// Computes positions as integer fractions, so that weights are correctly rounded floats.
Positions<float> ExactPositions(const BilinearParams& params, int from, int to, int64_t step) {
  const bool aligned = params.align_corners && to > 1;
  const bool centers = params.half_pixel_centers && !params.align_corners;
  const int64_t extent = aligned ? from - 1 : from, spans = aligned ? to - 1 : to;
  const int64_t last = from - 1, denominator = 2 * spans;
  Positions<float> positions(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const int64_t numerator = centers ? (2 * i + 1) * extent - spans : 2 * i * extent;
    // Positions before the first pixel are clamped to it.
    const int64_t low = numerator < 0 ? 0 : numerator / denominator;
    const int64_t beyond = std::max<int64_t>(numerator - low * denominator, 0);
    const double weight = static_cast<double>(beyond) / static_cast<double>(denominator);
    positions[static_cast<size_t>(i)] = {std::min(low, last) * step, std::min(low + 1, last) * step,
                                         static_cast<float>(1.0 - weight),
                                         static_cast<float>(weight)};
  }
  return positions;
}

Positions<int32_t> FixedPositions(const BilinearParams& params, int from, int to, int64_t step) {
  constexpr int64_t kOne = 1 << 10;
  const bool aligned = params.align_corners && to > 1;
  const int64_t spans = aligned ? to - 1 : to;
  const int64_t scale = (kOne * (aligned ? from - 1 : from) + spans / 2) / spans;
  Positions<int32_t> positions(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const int64_t at = i * scale + (params.half_pixel_centers ? scale / 2 - kOne / 2 : 0);
    const int64_t low = std::max<int64_t>(at / kOne, 0);
    const int64_t high = std::min<int64_t>((at + kOne - 1) / kOne, from - 1);
    const auto weight = static_cast<int32_t>(at - low * kOne);  // range: -512 to 1023
    positions[static_cast<size_t>(i)] = {std::min<int64_t>(low, from - 1) * step, high * step,
                                         static_cast<int32_t>(kOne) - weight, weight};
  }
  return positions;
}

// Positions of all rows and columns of the output.
template <typename Weight>
struct Grid {
  Positions<Weight> rows, columns;
};

template <typename Weight>
[[gnu::noinline]] Grid<Weight> GridOf(Positions<Weight> (*positions)(const BilinearParams&, int,
                                                                     int, int64_t),
                                      const BilinearParams& params, const TfLiteTensor* input,
                                      const TfLiteTensor* output) {
  const int64_t depth = Dim(input, 3), row = depth * Dim(input, 2);
  return {positions(params, Dim(input, 1), Dim(output, 1), row),
          positions(params, Dim(input, 2), Dim(output, 2), depth)};
}

// Interpolates a row of pixels if the CPU table has no loop, or if it is rescaled before rounding.
template <typename T, typename Weight>
void BlendPlainly(const BlendedRow<T, Weight>& row, const Rescaler* rescaler) {
  const T* const low = row.in + row.y.low;
  const T* const high = row.in + row.y.high;
  T* out = row.out;
  for (int64_t i = 0; i < row.count; ++i) {
    const Interpolation<Weight> x = row.x[i];
    for (int64_t c = 0; c < row.depth; ++c, ++out) {
      const Corners<T> in = {low[x.low + c], high[x.low + c], low[x.high + c], high[x.high + c]};
      const auto sum = Blend(in, row.y, x);
      if (rescaler != nullptr) {
        *out = rescaler->Steps<T>(static_cast<double>(sum));
      } else {
        RoundBlend(sum, out);
      }
    }
  }
}

// Interpolates all output rows, on all threads. Rescales if `rescaler` is not null.
template <typename T, typename Weight>
void Interpolate(TfLiteContext* context, const Grid<Weight>& grid, const TfLiteTensor* input,
                 const Rescaler* rescaler, TfLiteTensor* output) {
  const int64_t depth = Dim(input, 3), image = depth * Dim(input, 2) * Dim(input, 1);
  const int64_t height = Dim(output, 1), width = Dim(output, 2);
  const auto loop =
      rescaler == nullptr ? CpuOf(context).vector.blend.of<FromTo<T, Weight>>() : nullptr;
  ForEachRow(context, output, [&](int64_t at) {
    const BlendedRow<T, Weight> blended = {Data<T>(input) + at / height * image,
                                           grid.rows[static_cast<size_t>(at % height)],
                                           grid.columns.data(),
                                           width,
                                           depth,
                                           Data<T>(output) + at * width * depth};
    loop != nullptr ? loop(blended) : BlendPlainly(blended, rescaler);
  });
}

// Interpolates signed integers in the reference arithmetic.
void InterpolateFixed(TfLiteContext* context, const BilinearParams& params,
                      const TfLiteTensor* input, TfLiteTensor* output) {
  const Grid<int32_t> grid = GridOf(&FixedPositions, params, input, output);
  if (input->type == kTfLiteInt8) {
    Interpolate<int8_t>(context, grid, input, nullptr, output);
  } else {
    Interpolate<int16_t>(context, grid, input, nullptr, output);
  }
}

TfLiteStatus EvalBilinear(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Begin<1>(context, node));
  const auto& params = ParamsOf<BilinearParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (ElementCount(output) == 0) return kTfLiteOk;
  DEPUTY_TRY(CheckPositions<Interpolation<float>>(context, output));
  const bool exact = ArithmeticOf(context) == Arithmetic::kDefault;
  const bool is_signed = input->type == kTfLiteInt8 || input->type == kTfLiteInt16;
  if (is_signed && !exact) {
    InterpolateFixed(context, params, input, output);
    return kTfLiteOk;
  }
  const bool is_float = input->type == kTfLiteFloat32;
  const auto positions = exact && !is_float ? &ExactPositions : &FloatPositions;
  const Grid<float> grid = GridOf(positions, params, input, output);
  const Rescaler between(input, output);
  const Rescaler* rescaler = NeedsRescaling(context, input, output) ? &between : nullptr;
  switch (input->type) {
    case kTfLiteFloat32:
      Interpolate<float>(context, grid, input, nullptr, output);
      return kTfLiteOk;
    case kTfLiteUInt8:
      Interpolate<uint8_t>(context, grid, input, rescaler, output);
      return kTfLiteOk;
    case kTfLiteInt8:
      Interpolate<int8_t>(context, grid, input, rescaler, output);
      return kTfLiteOk;
    case kTfLiteInt16:
      Interpolate<int16_t>(context, grid, input, rescaler, output);
      return kTfLiteOk;
    default:
      return UnexpectedType(context, input);
  }
}

// ---- Nearest neighbour ------------------------------------------------------------------------

std::vector<int64_t> NearestAlong(const TfLiteResizeNearestNeighborParams& params, int from, int to,
                                  int64_t step) {
  const float scale = params.align_corners && to > 1
                          ? static_cast<float>(from - 1) / static_cast<float>(to - 1)
                          : static_cast<float>(from) / static_cast<float>(to);
  const float shift = params.half_pixel_centers ? 0.5f : 0.0f;
  std::vector<int64_t> positions(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const float at = (static_cast<float>(i) + shift) * scale;
    const float whole = params.align_corners ? std::round(at) : std::floor(at);
    positions[static_cast<size_t>(i)] =
        std::clamp<int64_t>(static_cast<int64_t>(whole), 0, from - 1) * step;
  }
  return positions;
}

TfLiteStatus EvalNearest(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(Begin<0>(context, node));
  const auto& params = ParamsOf<TfLiteResizeNearestNeighborParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (ElementCount(output) == 0) return kTfLiteOk;
  DEPUTY_TRY(CheckPositions<int64_t>(context, output));
  const int64_t depth = Dim(input, 3), row = depth * Dim(input, 2), image = row * Dim(input, 1);
  const auto rows = NearestAlong(params, Dim(input, 1), Dim(output, 1), row);
  const auto columns = NearestAlong(params, Dim(input, 2), Dim(output, 2), depth);
  const int64_t height = Dim(output, 1), width = Dim(output, 2) * depth;
  return MoveElements(context, input, output, [&](const auto* in, auto* out) {
    ParallelRanges(context, Dim(output, 0) * height, kElementsPerTask / width + 1,
                   [&](int64_t first, int64_t last) {
                     const auto* before = in;  // source row of the previous output row
                     for (int64_t at = first; at < last; ++at) {
                       const auto* from =
                           in + at / height * image + rows[static_cast<size_t>(at % height)];
                       auto* to = out + at * width;
                       if (at > first && from == before) {
                         std::copy_n(to - width, width, to);
                       } else {
                         PickRuns(from, row, columns, depth, to);
                       }
                       before = from;
                     }
                   });
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<15, TfLiteResizeBilinearParams, &FillBilinear>(
        KernelRow<void>("RESIZE_BILINEAR", kTfLiteBuiltinResizeBilinear, 4, kBilinearTypes,
                        &Guarded<&PrepareBilinear>, &Guarded<&EvalBilinear>)),
    WithOptions<74, TfLiteResizeNearestNeighborParams, &FillNearest>(KernelRow<void>(
        "RESIZE_NEAREST_NEIGHBOR", kTfLiteBuiltinResizeNearestNeighbor, 4, kNearestTypes,
        &Guarded<&PrepareMove<RescaleInputs(1), &Prepare<kNearestTypes, 0>>>,
        &Guarded<&EvalMove<RescaleInputs(1), &EvalNearest>>)),
};

}  // namespace

constexpr std::span<const OpDef> kResizeOps = kTable;

}  // namespace deputy
