// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of layers that multiply and add, compared with plain loops in float64.
#include <algorithm>
#include <cmath>

#include "tests/kernels/quantized_accuracy.h"

namespace deputy {
namespace {

constexpr auto kNone = schema::ActivationFunctionType::NONE;

struct Image {
  int height, width, channels;
};

size_t At(const Image& image, int batch, int y, int x, int c) {
  return static_cast<size_t>(
      ((int64_t{batch} * image.height + y) * image.width + x) * image.channels + c);
}

bool IsInside(const Image& image, int y, int x) {
  return y >= 0 && y < image.height && x >= 0 && x < image.width;
}

// Returns the number of zeros before an axis with SAME padding.
int Before(int in, int out, int stride, int window) {
  return std::max((out - 1) * stride + window - in, 0) / 2;
}

float WeightScale(TfLiteType type) { return type == kTfLiteUInt8 ? 0.01f : 0.008f; }

Steps Weights(AccuracyModel* a, TfLiteType input_type, const Dims4& shape, int axis) {
  if (input_type == kTfLiteUInt8) {
    return a->Constant(kTfLiteUInt8, shape, a->RandomAffine(kTfLiteUInt8, 0.01f));
  }
  return a->PerChannelConstant(kTfLiteInt8, shape, WeightScale(input_type), axis, -127, 127);
}

TfLiteType BiasType(TfLiteType type) { return type == kTfLiteInt16 ? kTfLiteInt64 : kTfLiteInt32; }

Affine LayerInput(AccuracyModel* a, TfLiteType type) {
  return a->RandomAffine(type, type == kTfLiteInt16 ? 0.0001f : 0.02f);
}

AccuracyCase ConvCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Image in = {9, 11, seed == 2 ? 3 : 16}, out = {5, 6, 21};
  const int window = seed == 3 ? 1 : 3;
  const Steps x = a.Input(type, {1, in.height, in.width, in.channels}, LayerInput(&a, type));
  const Steps w = Weights(&a, type, {out.channels, window, window, in.channels}, 0);
  const Steps b = a.Bias(BiasType(type), out.channels, x, w);
  const Reals xs = x.real(), ws = w.real(), bs = b.real();
  Reals truth(static_cast<size_t>(out.height * out.width * out.channels));
  const int top = Before(in.height, out.height, 2, window);
  const int left = Before(in.width, out.width, 2, window);
  for (int oy = 0; oy < out.height; ++oy) {
    for (int ox = 0; ox < out.width; ++ox) {
      for (int oc = 0; oc < out.channels; ++oc) {
        double sum = bs[static_cast<size_t>(oc)];
        for (int ky = 0; ky < window; ++ky) {
          for (int kx = 0; kx < window; ++kx) {
            const int iy = oy * 2 + ky - top, ix = ox * 2 + kx - left;
            if (!IsInside(in, iy, ix)) continue;
            for (int c = 0; c < in.channels; ++c) {
              sum +=
                  xs[At(in, 0, iy, ix, c)] * ws[At({window, window, in.channels}, oc, ky, kx, c)];
            }
          }
        }
        truth[At(out, 0, oy, ox, oc)] = sum;
      }
    }
  }
  const int y = a.OutputFor(type, {1, out.height, out.width, out.channels}, truth);
  a.m().AddOp(kTfLiteBuiltinConv2d, {x.tensor, w.tensor, b.tensor}, {y},
              schema::CreateConv2DOptions(a.m().fbb(), schema::Padding::SAME, 2, 2, kNone), 5);
  return a.Finish("CONV_2D", type, seed);
}

AccuracyCase DepthwiseCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Image in = {9, 11, 13}, out = {9, 11, 13};
  const Steps x = a.Input(type, {1, in.height, in.width, in.channels}, LayerInput(&a, type));
  const Steps w = Weights(&a, type, {1, 3, 3, out.channels}, 3);
  const Steps b = a.Bias(BiasType(type), out.channels, x, w);
  const Reals xs = x.real(), ws = w.real(), bs = b.real();
  Reals truth(static_cast<size_t>(out.height * out.width * out.channels));
  for (int oy = 0; oy < out.height; ++oy) {
    for (int ox = 0; ox < out.width; ++ox) {
      for (int c = 0; c < out.channels; ++c) {
        double sum = bs[static_cast<size_t>(c)];
        for (int k = 0; k < 9; ++k) {
          const int iy = oy + k / 3 - 1, ix = ox + k % 3 - 1;
          if (!IsInside(in, iy, ix)) continue;
          sum += xs[At(in, 0, iy, ix, c)] * ws[static_cast<size_t>(k * out.channels + c)];
        }
        truth[At(out, 0, oy, ox, c)] = sum;
      }
    }
  }
  const int y = a.OutputFor(type, {1, out.height, out.width, out.channels}, truth);
  a.m().AddOp(
      kTfLiteBuiltinDepthwiseConv2d, {x.tensor, w.tensor, b.tensor}, {y},
      schema::CreateDepthwiseConv2DOptions(a.m().fbb(), schema::Padding::SAME, 1, 1, 1, kNone), 5);
  return a.Finish("DEPTHWISE_CONV_2D", type, seed);
}

AccuracyCase TransposeConvCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Image in = {4, 5, 11}, out = {9, 11, 7};  // VALID padding, window of 3, strides of 2
  const int shape = a.Numbers({4}, {1, out.height, out.width, out.channels});
  const Steps x = a.Input(type, {1, in.height, in.width, in.channels}, LayerInput(&a, type));
  const Steps w = Weights(&a, type, {out.channels, 3, 3, in.channels}, 0);
  const Steps b = a.Bias(BiasType(type), out.channels, x, w);
  const Reals xs = x.real(), ws = w.real(), bs = b.real();
  Reals truth(static_cast<size_t>(out.height * out.width * out.channels));
  for (size_t i = 0; i < truth.size(); ++i) truth[i] = bs[i % bs.size()];
  for (int iy = 0; iy < in.height; ++iy) {
    for (int ix = 0; ix < in.width; ++ix) {
      for (int k = 0; k < 9; ++k) {
        for (int oc = 0; oc < out.channels; ++oc) {
          double sum = 0;
          for (int c = 0; c < in.channels; ++c) {
            sum += xs[At(in, 0, iy, ix, c)] * ws[At({3, 3, in.channels}, oc, k / 3, k % 3, c)];
          }
          truth[At(out, 0, iy * 2 + k / 3, ix * 2 + k % 3, oc)] += sum;
        }
      }
    }
  }
  const int y = a.OutputFor(type, {1, out.height, out.width, out.channels}, truth);
  a.m().AddOp(kTfLiteBuiltinTransposeConv, {shape, w.tensor, x.tensor, b.tensor}, {y},
              schema::CreateTransposeConvOptions(a.m().fbb(), schema::Padding::VALID, 2, 2, kNone),
              4);
  return a.Finish("TRANSPOSE_CONV", type, seed);
}

// Multiplies rows x depth by columns x depth, both stored in row-major order.
Reals Product(const Reals& left, const Reals& right, int rows, int columns, int depth) {
  Reals product(static_cast<size_t>(rows * columns));
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      double sum = 0;
      for (int d = 0; d < depth; ++d) {
        sum += left[static_cast<size_t>(r * depth + d)] * right[static_cast<size_t>(c * depth + d)];
      }
      product[static_cast<size_t>(r * columns + c)] = sum;
    }
  }
  return product;
}

AccuracyCase FullyConnectedCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int rows = seed == 2 ? 1 : 17, columns = 33, depth = 50;
  const Steps x = a.Input(type, {rows, depth}, LayerInput(&a, type));
  const Steps w = Weights(&a, type, {columns, depth}, 0);
  const Steps b = a.Bias(BiasType(type), columns, x, w);
  const Reals bs = b.real();
  Reals truth = Product(x.real(), w.real(), rows, columns, depth);
  for (size_t i = 0; i < truth.size(); ++i) truth[i] += bs[i % bs.size()];
  const int y = a.OutputFor(type, {rows, columns}, truth);
  a.m().AddOp(kTfLiteBuiltinFullyConnected, {x.tensor, w.tensor, b.tensor}, {y},
              schema::CreateFullyConnectedOptions(a.m().fbb(), kNone), 7);
  return a.Finish("FULLY_CONNECTED", type, seed);
}

AccuracyCase BatchMatmulCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int rows = 17, columns = 33, depth = seed == 2 ? 5 : 50;
  const Steps x = a.Input(type, {rows, depth}, LayerInput(&a, type));
  const Steps w = a.Input(type, {columns, depth}, LayerInput(&a, type));
  const Reals truth = Product(x.real(), w.real(), rows, columns, depth);
  const int y = a.OutputFor(type, {rows, columns}, truth);
  a.m().AddOp(kTfLiteBuiltinBatchMatmul, {x.tensor, w.tensor}, {y},
              schema::CreateBatchMatMulOptions(a.m().fbb(), false, true, false), 4);
  return a.Finish("BATCH_MATMUL", type, seed);
}

}  // namespace

std::vector<AccuracyCase> LayerAccuracy() {
  std::vector<AccuracyCase> cases;
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    for (TfLiteType type : {kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16}) {
      cases.push_back(ConvCase(type, seed));
      cases.push_back(DepthwiseCase(type, seed));
      cases.push_back(TransposeConvCase(type, seed));
      cases.push_back(FullyConnectedCase(type, seed));
      if (type != kTfLiteUInt8) cases.push_back(BatchMatmulCase(type, seed));
    }
  }
  return cases;
}

}  // namespace deputy
