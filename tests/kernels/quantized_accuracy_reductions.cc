// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of reductions and pooling of quantised tensors to another scale, and of resized
// images.
#include <algorithm>
#include <cmath>

#include "tests/kernels/quantized_accuracy.h"

namespace deputy {
namespace {

const std::vector<TfLiteType> kAll = {kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16};

Affine Any(AccuracyModel* a, TfLiteType type) {
  return a->RandomAffine(type, type == kTfLiteInt16 ? 0.0001f : 0.02f);
}

// ---- Reductions -------------------------------------------------------------------------------

using Fold = double (*)(const Reals& values);

double SumOf(const Reals& values) {
  double sum = 0;
  for (double x : values) sum += x;
  return sum;
}
double MeanOf(const Reals& values) { return SumOf(values) / static_cast<double>(values.size()); }
double MaxOf(const Reals& values) { return *std::max_element(values.begin(), values.end()); }
double MinOf(const Reals& values) { return *std::min_element(values.begin(), values.end()); }

struct FoldRow {
  const char* name;
  TfLiteBuiltinOperator code;
  Fold fold;
  std::vector<TfLiteType> types;
};

const FoldRow kFolds[] = {
    {"MEAN", kTfLiteBuiltinMean, &MeanOf, kAll},
    {"SUM", kTfLiteBuiltinSum, &SumOf, kAll},
    {"REDUCE_MAX", kTfLiteBuiltinReduceMax, &MaxOf, kAll},
    {"REDUCE_MIN", kTfLiteBuiltinReduceMin, &MinOf, kAll},
};

// A case of a reduction of [outer, middle, inner] along the middle or the inner axis.
AccuracyCase FoldCase(const FoldRow& row, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int outer = 6, middle = seed == 3 ? 3 : 49, inner = seed == 4 ? 5 : 24;
  const bool is_inner = seed % 2 == 0;
  const Steps x = a.Input(type, {outer, middle, inner}, Any(&a, type));
  const Reals real = x.real();
  Reals truth;
  for (int o = 0; o < outer; ++o) {
    for (int k = 0; k < (is_inner ? middle : inner); ++k) {
      Reals values;
      for (int r = 0; r < (is_inner ? inner : middle); ++r) {
        values.push_back(real[static_cast<size_t>(is_inner ? (o * middle + k) * inner + r
                                                           : (o * middle + r) * inner + k)]);
      }
      truth.push_back(row.fold(values));
    }
  }
  const int axes = a.Numbers({1}, {is_inner ? 2 : 1});
  const int y = a.OutputFor(type, {outer, is_inner ? middle : inner}, truth);
  a.m().AddOp(row.code, {x.tensor, axes}, {y}, schema::CreateReducerOptions(a.m().fbb(), false), 2);
  return a.Finish(row.name, type, seed);
}

// A case of means of whole images, as at the end of networks.
AccuracyCase ImageMeanCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int pixels = seed == 1 ? 49 : seed == 2 ? 12544 : 100, channels = 40;
  const Steps x = a.Input(type, {1, pixels, 1, channels}, Any(&a, type));
  const Reals real = x.real();
  Reals truth(channels);
  for (size_t i = 0; i < real.size(); ++i) truth[i % channels] += real[i] / pixels;
  const int axes = a.Numbers({2}, {1, 2});
  const int y = a.OutputFor(type, {1, channels}, truth);
  a.m().AddOp(kTfLiteBuiltinMean, {x.tensor, axes}, {y},
              schema::CreateReducerOptions(a.m().fbb(), false), 2);
  return a.Finish("MEAN of images", type, seed);
}

// A case of MEAN whose sum exceeds the range of int32.
AccuracyCase LongMeanCase() {
  AccuracyModel a(1);
  const int count = 80000;
  const Steps x = a.Input(kTfLiteInt16, {count}, {0.0001f, 0}, 30000, 32767);
  const Reals truth = {MeanOf(x.real())};
  const int axes = a.Numbers({1}, {0});
  const int y = a.OutputFor(kTfLiteInt16, {}, truth);
  a.m().AddOp(kTfLiteBuiltinMean, {x.tensor, axes}, {y},
              schema::CreateReducerOptions(a.m().fbb(), false), 2);
  return a.Finish("MEAN of many", kTfLiteInt16, 1);
}

// A case of a product of a few factors. Rounding each partial product would cost one step each.
AccuracyCase ProductCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int rows = 60, factors = seed == 1 ? 2 : seed == 2 ? 4 : 7;
  const Steps x = a.Input(type, {rows, factors}, Any(&a, type));
  const Reals real = x.real();
  Reals truth(rows, 1.0);
  for (size_t i = 0; i < real.size(); ++i) truth[i / static_cast<size_t>(factors)] *= real[i];
  const int axes = a.Numbers({1}, {1});
  const int y = a.OutputFor(type, {rows}, truth);
  a.m().AddOp(kTfLiteBuiltinReduceProd, {x.tensor, axes}, {y},
              schema::CreateReducerOptions(a.m().fbb(), false), 2);
  return a.Finish("REDUCE_PROD", type, seed);
}

// ---- Pooling ----------------------------------------------------------------------------------

AccuracyCase PoolCase(bool average, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int height = 9, width = 11, channels = seed == 1 ? 5 : 32, window = seed == 2 ? 7 : 3;
  const int out_height = (height - window) / 2 + 1, out_width = (width - window) / 2 + 1;
  const Affine affine = Any(&a, type);
  const Steps x = a.Input(type, {1, height, width, channels}, affine);
  const Reals real = x.real();
  Reals truth;
  for (int oy = 0; oy < out_height; ++oy) {
    for (int ox = 0; ox < out_width; ++ox) {
      for (int c = 0; c < channels; ++c) {
        Reals values;
        for (int k = 0; k < window * window; ++k) {
          const int iy = oy * 2 + k / window, ix = ox * 2 + k % window;
          values.push_back(real[static_cast<size_t>((iy * width + ix) * channels + c)]);
        }
        truth.push_back(average ? MeanOf(values) : MaxOf(values));
      }
    }
  }
  const Dims4 shape = {1, out_height, out_width, channels};
  // Converters write the same scale for input and output; other models have two.
  const int y = seed == 1 ? a.OutputFor(type, shape, truth) : a.Output(type, shape, affine, truth);
  a.m().AddOp(average ? kTfLiteBuiltinAveragePool2d : kTfLiteBuiltinMaxPool2d, {x.tensor}, {y},
              schema::CreatePool2DOptions(a.m().fbb(), schema::Padding::VALID, 2, 2, window, window,
                                          schema::ActivationFunctionType::NONE),
              3);
  return a.Finish(average ? "AVERAGE_POOL_2D" : "MAX_POOL_2D", type, seed);
}

// ---- Resizing ---------------------------------------------------------------------------------

struct ResizeRow {
  int from, to;
  bool corners, centers;
};

const ResizeRow kResizes[] = {
    {20, 300, false, true},  {20, 301, false, false},  {120, 360, false, true},
    {64, 480, true, false},  {360, 1080, false, true}, {97, 31, false, true},
    {5, 5, false, true},     {7, 3, true, false},      {1, 9, false, true},
    {360, 1080, true, true}, {50, 77, true, true},     {300, 1, false, false},
};

// The two neighbours of each element of an axis, in exact arithmetic: a position is numerator /
// denominator.
struct Neighbours {
  int low, high;
  double weight;
};

std::vector<Neighbours> AxisOf(const ResizeRow& row) {
  const bool corners = row.corners && row.to > 1;
  const int64_t to = corners ? row.to - 1 : row.to, from = corners ? row.from - 1 : row.from;
  std::vector<Neighbours> axis;
  for (int64_t i = 0; i < row.to; ++i) {
    // With both options TensorFlow Lite aligns the corners.
    const bool centers = row.centers && !row.corners;
    const int64_t numerator = centers ? (2 * i + 1) * from - to : 2 * i * from;
    const double at = static_cast<double>(numerator) / static_cast<double>(2 * to);
    const double low = std::floor(at);
    const auto last = static_cast<double>(row.from - 1);
    axis.push_back({static_cast<int>(std::clamp(low, 0.0, last)),
                    static_cast<int>(std::clamp(low + 1, 0.0, last)), at - low});
  }
  return axis;
}

AccuracyCase BilinearCase(const ResizeRow& row, TfLiteType type, bool rescaled) {
  AccuracyModel a(7);
  const int channels = row.from == 64 ? 17 : 1, width = 3, out_width = 5;
  const Affine affine = Any(&a, type);
  const Steps x = a.Input(type, {1, row.from, width, channels}, affine);
  const Reals real = x.real();
  const auto rows = AxisOf(row), columns = AxisOf({width, out_width, row.corners, row.centers});
  const auto pixel = [&](int y, int column, int c) {
    return real[static_cast<size_t>((y * width + column) * channels + c)];
  };
  Reals truth;
  for (const Neighbours& y : rows) {
    for (const Neighbours& at : columns) {
      for (int c = 0; c < channels; ++c) {
        const double low =
            pixel(y.low, at.low, c) * (1 - at.weight) + pixel(y.low, at.high, c) * at.weight;
        const double high =
            pixel(y.high, at.low, c) * (1 - at.weight) + pixel(y.high, at.high, c) * at.weight;
        truth.push_back(low * (1 - y.weight) + high * y.weight);
      }
    }
  }
  const Dims4 shape = {1, row.to, out_width, channels};
  const int size = a.Numbers({2}, {row.to, out_width});
  const int y = rescaled ? a.OutputFor(type, shape, truth) : a.Output(type, shape, affine, truth);
  a.m().AddOp(kTfLiteBuiltinResizeBilinear, {x.tensor, size}, {y},
              schema::CreateResizeBilinearOptions(a.m().fbb(), row.corners, row.centers), 3);
  const std::string name = "RESIZE_BILINEAR " + std::to_string(row.from) + " to " +
                           std::to_string(row.to) + (row.corners ? " corners" : "") +
                           (row.centers ? " centers" : "") + (rescaled ? " rescaled" : "");
  return a.Finish(name, type, 7);
}

}  // namespace

std::vector<AccuracyCase> ReductionAccuracy() {
  std::vector<AccuracyCase> cases = {LongMeanCase()};
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    for (const FoldRow& row : kFolds) {
      for (TfLiteType type : row.types) cases.push_back(FoldCase(row, type, seed));
    }
    if (seed == 4) continue;
    for (TfLiteType type : kAll) {
      cases.push_back(ImageMeanCase(type, seed));
      if (type != kTfLiteUInt8) cases.push_back(ProductCase(type, seed));
      cases.push_back(PoolCase(true, type, seed));
      cases.push_back(PoolCase(false, type, seed));
    }
  }
  return cases;
}

std::vector<AccuracyCase> ResizeAccuracy() {
  std::vector<AccuracyCase> cases;
  for (const ResizeRow& row : kResizes) {
    for (TfLiteType type : kAll) {
      cases.push_back(BilinearCase(row, type, false));
      if (row.to <= 77) cases.push_back(BilinearCase(row, type, true));
    }
  }
  return cases;
}

}  // namespace deputy
