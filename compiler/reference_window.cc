// SPDX-License-Identifier: Apache-2.0
//
// Operations on images [batch, height, width, channels]. The images are float32, except for
// convolutions of integers, and for nearest-neighbour resizing, which moves elements of any type.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/reference.h"

namespace deputy::compiler {
namespace {

struct Extents {
  explicit Extents(const Contents& contents)
      : batches(contents.extent(0)),
        height(contents.extent(1)),
        width(contents.extent(2)),
        channels(contents.extent(3)) {}

  int64_t index(int b, int y, int x, int c) const {
    return ((static_cast<int64_t>(b) * height + y) * width + x) * channels + c;
  }
  bool has(int y, int x) const { return y >= 0 && y < height && x >= 0 && x < width; }

  int batches, height, width, channels;
};

// An image with access to its elements.
struct Image : Extents {
  explicit Image(const Contents& contents) : Extents(contents), data(contents.floats()) {}

  float& at(int b, int y, int x, int c) const { return data[index(b, y, x, c)]; }

  float* data;
};

// Integers less a zero point.
struct IntegerImage : Extents {
  IntegerImage(const Contents& elements, int zero)
      : Extents(elements), contents(elements), zero_point(zero) {}

  int64_t at(int b, int y, int x, int c) const {
    return contents.At(index(b, y, x, c)).integer - zero_point;
  }

  const Contents contents;
  const int zero_point;
};

// Calls function(batch, y, x) for every pixel.
template <typename Function>
void ForPixels(const Extents& image, const Function& function) {
  for (int b = 0; b < image.batches; ++b) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) function(b, y, x);
    }
  }
}

// Calls function(input y, input x, window y, window x) for the pixels of the image that the window
// of an output pixel covers.
template <typename Function>
void ForWindow(const Window& window, const Extents& image, int y, int x, const Function& function) {
  for (int wy = 0; wy < window.height; ++wy) {
    for (int wx = 0; wx < window.width; ++wx) {
      const int from_y = y * window.stride_y - window.top + wy * window.dilation_y;
      const int from_x = x * window.stride_x - window.left + wx * window.dilation_x;
      if (image.has(from_y, from_x)) function(from_y, from_x, wy, wx);
    }
  }
}

double BiasOf(const Operands& operands, int channel) {
  const bool present = operands.inputs.size() > 2 && operands.inputs[2].present();
  if (!present) return 0;
  const Contents& bias = operands.inputs[2];
  const Number number = bias.At(channel);
  return IsFloat(bias.type()) ? number.real : static_cast<double>(number.integer);
}

// Stores a sum, a real or an integer that double represents exactly.
void StoreSum(const Contents& output, int64_t index, double sum) {
  output.Set(index, IsFloat(output.type()) ? Number{sum, 0} : Number{0, static_cast<int64_t>(sum)});
}

template <typename Source>
void Convolve(const Conv2d& kind, const Source& in, const Source& filter,
              const Operands& operands) {
  const Extents out(operands.outputs[0]);
  const int group_in = filter.channels, group_out = out.channels / kind.groups;
  ForPixels(out, [&](int b, int y, int x) {
    for (int c = 0; c < out.channels; ++c) {
      const int first = c / group_out * group_in;
      double sum = BiasOf(operands, c);
      ForWindow(kind.window, in, y, x, [&](int from_y, int from_x, int wy, int wx) {
        for (int k = 0; k < group_in; ++k) {
          sum += static_cast<double>(in.at(b, from_y, from_x, first + k)) *
                 static_cast<double>(filter.at(c, wy, wx, k));
        }
      });
      StoreSum(operands.outputs[0], out.index(b, y, x, c), sum);
    }
  });
}

template <typename Source>
void Convolve(const DepthwiseConv2d& kind, const Source& in, const Source& filter,
              const Operands& operands) {
  const Extents out(operands.outputs[0]);
  ForPixels(out, [&](int b, int y, int x) {
    for (int c = 0; c < out.channels; ++c) {
      double sum = BiasOf(operands, c);
      ForWindow(kind.window, in, y, x, [&](int from_y, int from_x, int wy, int wx) {
        sum += static_cast<double>(in.at(b, from_y, from_x, c / kind.multiplier)) *
               static_cast<double>(filter.at(0, wy, wx, c));
      });
      StoreSum(operands.outputs[0], out.index(b, y, x, c), sum);
    }
  });
}

template <typename Kind>
bool ConvolveAny(const Kind& kind, const Operands& operands) {
  const Contents &in = operands.inputs[0], &filter = operands.inputs[1];
  if (IsFloat(in.type())) {
    Convolve(kind, Image(in), Image(filter), operands);
  } else {
    Convolve(kind, IntegerImage(in, kind.zero_point), IntegerImage(filter, 0), operands);
  }
  return true;
}

}  // namespace

bool Compute(const Conv2d& kind, const Operands& operands, std::string*) {
  return ConvolveAny(kind, operands);
}

bool Compute(const DepthwiseConv2d& kind, const Operands& operands, std::string*) {
  return ConvolveAny(kind, operands);
}

// Computes a transposed convolution: each input pixel is added to the outputs that its window
// covers.
bool Compute(const TransposedConv2d& kind, const Operands& operands, std::string*) {
  const Image in(operands.inputs[0]), filter(operands.inputs[1]), out(operands.outputs[0]);
  std::vector<double> sums(static_cast<size_t>(operands.outputs[0].count()));
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = BiasOf(operands, static_cast<int>(i % static_cast<size_t>(out.channels)));
  }
  ForPixels(in, [&](int b, int y, int x) {
    ForWindow(kind.window, out, y, x, [&](int to_y, int to_x, int wy, int wx) {
      for (int c = 0; c < out.channels; ++c) {
        double& sum = sums[static_cast<size_t>(&out.at(b, to_y, to_x, c) - out.data)];
        for (int k = 0; k < in.channels; ++k) {
          sum += static_cast<double>(in.at(b, y, x, k)) * filter.at(c, wy, wx, k);
        }
      }
    });
  });
  for (size_t i = 0; i < sums.size(); ++i) out.data[i] = static_cast<float>(sums[i]);
  return true;
}

bool Compute(const Pool2d& kind, const Operands& operands, std::string*) {
  const Image in(operands.inputs[0]), out(operands.outputs[0]);
  ForPixels(out, [&](int b, int y, int x) {
    for (int c = 0; c < out.channels; ++c) {
      double sum = 0, squares = 0;
      float largest = -std::numeric_limits<float>::infinity();
      int count = 0;
      ForWindow(kind.window, in, y, x, [&](int from_y, int from_x, int, int) {
        const float value = in.at(b, from_y, from_x, c);
        sum += value;
        squares += static_cast<double>(value) * value;
        largest = std::max(largest, value);
        ++count;
      });
      const double n = std::max(count, 1);
      out.at(b, y, x, c) = kind.kind == PoolKind::kMax ? largest
                           : kind.kind == PoolKind::kAverage
                               ? static_cast<float>(sum / n)
                               : static_cast<float>(std::sqrt(squares / n));
    }
  });
  return true;
}

namespace {

// Returns the coordinate in the input, along one axis, of output pixel `index`.
float SourceCoordinate(const Resize& kind, int index, int in, int out) {
  const bool corners = kind.align_corners && out > 1;
  const float scale = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                              : static_cast<float>(in) / static_cast<float>(out);
  if (!kind.half_pixel_centers) return static_cast<float>(index) * scale;
  const float middle = (static_cast<float>(index) + 0.5f) * scale;
  return kind.bilinear ? middle - 0.5f : middle;
}

int NearestPixel(const Resize& kind, int index, int in, int out) {
  const float source = SourceCoordinate(kind, index, in, out);
  const float rounded = kind.align_corners ? std::round(source) : std::floor(source);
  return std::clamp(static_cast<int>(rounded), 0, in - 1);
}

// The two neighbouring pixels of a coordinate, and its distance from the lower one.
struct Between {
  Between(const Resize& kind, int index, int in, int out) {
    const float source = SourceCoordinate(kind, index, in, out);
    const auto below = static_cast<int>(std::floor(source));
    first = std::clamp(below, 0, in - 1);
    second = std::clamp(below + 1, 0, in - 1);
    fraction = source - static_cast<float>(below);
  }
  int first, second;
  float fraction;
};

void Interpolate(const Resize& kind, const Image& in, const Image& out) {
  ForPixels(out, [&](int b, int y, int x) {
    const Between rows(kind, y, in.height, out.height), columns(kind, x, in.width, out.width);
    for (int c = 0; c < out.channels; ++c) {
      const float top = in.at(b, rows.first, columns.first, c) * (1 - columns.fraction) +
                        in.at(b, rows.first, columns.second, c) * columns.fraction;
      const float bottom = in.at(b, rows.second, columns.first, c) * (1 - columns.fraction) +
                           in.at(b, rows.second, columns.second, c) * columns.fraction;
      out.at(b, y, x, c) = top * (1 - rows.fraction) + bottom * rows.fraction;
    }
  });
}

}  // namespace

bool Compute(const Resize& kind, const Operands& operands, std::string*) {
  const Contents& from = operands.inputs[0];
  const Contents& to = operands.outputs[0];
  const Image in(from), out(to);
  if (kind.bilinear) {
    Interpolate(kind, in, out);
    return true;
  }
  ForPixels(out, [&](int b, int y, int x) {
    const int from_y = NearestPixel(kind, y, in.height, out.height);
    const int from_x = NearestPixel(kind, x, in.width, out.width);
    for (int c = 0; c < out.channels; ++c) {
      to.Set(&out.at(b, y, x, c) - out.data, from.At(&in.at(b, from_y, from_x, c) - in.data));
    }
  });
  return true;
}

}  // namespace deputy::compiler
