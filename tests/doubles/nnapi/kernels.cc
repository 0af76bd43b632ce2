// SPDX-License-Identifier: Apache-2.0
//
// The operations of NNAPI's test double, computed on real numbers in double precision.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>

#include "tests/doubles/nnapi/double.h"

namespace nnapi_double {
namespace {

using namespace deputy::nnapi;  // NOLINT: for the constants of the ABI

using Index = std::vector<int64_t>;

int64_t CountOf(const Index& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Calls body(index) for each element of a tensor of these dimensions, in order.
template <typename Body>
void ForEach(const Index& dims, const Body& body) {
  Index at(dims.size(), 0);
  for (int64_t n = CountOf(dims); n > 0; --n) {
    body(at);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
}

size_t Offset(const Index& dims, const Index& at) {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d) offset = offset * dims[d] + at[d];
  return static_cast<size_t>(offset);
}

double& At(Value& value, const Index& at) { return value.data[Offset(value.dims, at)]; }
double At(const Value& value, const Index& at) { return value.data[Offset(value.dims, at)]; }

// Returns the element of `value` that is broadcast to the position `at` of a result.
double Broadcast(const Value& value, const Index& at) {
  Index own(value.dims.size());
  const size_t skipped = at.size() - own.size();
  for (size_t d = 0; d < own.size(); ++d) own[d] = value.dims[d] == 1 ? 0 : at[d + skipped];
  return At(value, own);
}

int64_t IntAt(const Value& value, size_t i = 0) { return static_cast<int64_t>(value.data.at(i)); }

Index ToIndex(const Value& value) {
  Index index;
  for (const double number : value.data) index.push_back(static_cast<int64_t>(number));
  return index;
}

// Applies a fused activation. A NaN passes through the bounds unchanged.
double Fuse(double x, int64_t fuse) {
  if (fuse == kFusedRelu) return x < 0 ? 0 : x;
  if (fuse == kFusedRelu1) return x < -1 ? -1 : x > 1 ? 1 : x;
  if (fuse == kFusedRelu6) return x < 0 ? 0 : x > 6 ? 6 : x;
  return x;
}

template <typename Function>
void Map(const Value& in, Value* out, const Function& function) {
  std::transform(in.data.begin(), in.data.end(), out->data.begin(), function);
}

template <typename Function>
void Pairs(const std::vector<Value>& in, Value* out, const Function& function) {
  ForEach(out->dims, [&](const Index& at) {
    At(*out, at) = function(Broadcast(in[0], at), Broadcast(in[1], at));
  });
}

// ---- Windows ------------------------------------------------------------------------------------

struct Window {
  int64_t stride, size, dilation, before;
  int64_t reach() const { return (size - 1) * dilation + 1; }
};

Window MakeWindow(int64_t padding, int64_t in, int64_t out, int64_t stride, int64_t size,
                  int64_t dilation) {
  Window window = {stride, size, dilation, 0};
  const int64_t total = (out - 1) * stride + window.reach() - in;
  if (padding == kPaddingSame) window.before = std::max<int64_t>(total, 0) / 2;
  return window;
}

// Calls body(y, x, window y, window x) for each element of a window that is inside the image.
template <typename Body>
void ForWindow(const Value& in, const Window& high, const Window& wide, int64_t oy, int64_t ox,
               const Body& body) {
  for (int64_t fy = 0; fy < high.size; ++fy) {
    const int64_t y = oy * high.stride - high.before + fy * high.dilation;
    if (y < 0 || y >= in.dims[1]) continue;
    for (int64_t fx = 0; fx < wide.size; ++fx) {
      const int64_t x = ox * wide.stride - wide.before + fx * wide.dilation;
      if (x >= 0 && x < in.dims[2]) body(y, x, fy, fx);
    }
  }
}

void Convolve(const std::vector<Value>& in, bool is_depthwise, Value* out) {
  const Value &image = in[0], &filter = in[1], &bias = in[2];
  const size_t fuse = is_depthwise ? 7 : 6;
  const int64_t multiplier = is_depthwise ? IntAt(in[6]) : 0;
  const int64_t dilation_w = in.size() > fuse + 2 ? IntAt(in[fuse + 2]) : 1;
  const int64_t dilation_h = in.size() > fuse + 3 ? IntAt(in[fuse + 3]) : 1;
  const Window wide = MakeWindow(IntAt(in[3]), image.dims[2], out->dims[2], IntAt(in[4]),
                                 filter.dims[2], dilation_w);
  const Window high = MakeWindow(IntAt(in[3]), image.dims[1], out->dims[1], IntAt(in[5]),
                                 filter.dims[1], dilation_h);
  ForEach(out->dims, [&](const Index& at) {
    double sum = bias.data[static_cast<size_t>(at[3])];
    ForWindow(image, high, wide, at[1], at[2], [&](int64_t y, int64_t x, int64_t fy, int64_t fx) {
      if (is_depthwise) {
        sum += At(image, {at[0], y, x, at[3] / multiplier}) * At(filter, {0, fy, fx, at[3]});
        return;
      }
      for (int64_t c = 0; c < image.dims[3]; ++c) {
        sum += At(image, {at[0], y, x, c}) * At(filter, {at[3], fy, fx, c});
      }
    });
    At(*out, at) = Fuse(sum, IntAt(in[fuse]));
  });
}

// Computes a transposed convolution. `in` holds data, filter, bias, shape, padding, strides, fuse,
// layout.
void ConvolveTransposed(const std::vector<Value>& in, Value* out) {
  const Value &image = in[0], &filter = in[1];
  // The padding is that of the convolution that this operation inverts.
  const Window wide =
      MakeWindow(IntAt(in[4]), out->dims[2], image.dims[2], IntAt(in[5]), filter.dims[2], 1);
  const Window high =
      MakeWindow(IntAt(in[4]), out->dims[1], image.dims[1], IntAt(in[6]), filter.dims[1], 1);
  ForEach(out->dims,
          [&](const Index& at) { At(*out, at) = in[2].data[static_cast<size_t>(at[3])]; });
  ForEach({image.dims[0], image.dims[1], image.dims[2]}, [&](const Index& from) {
    ForWindow(*out, high, wide, from[1], from[2],
              [&](int64_t y, int64_t x, int64_t fy, int64_t fx) {
                for (int64_t o = 0; o < out->dims[3]; ++o) {
                  for (int64_t c = 0; c < image.dims[3]; ++c) {
                    At(*out, {from[0], y, x, o}) +=
                        At(image, {from[0], from[1], from[2], c}) * At(filter, {o, fy, fx, c});
                  }
                }
              });
  });
  for (double& x : out->data) x = Fuse(x, IntAt(in[7]));
}

void Pool(int32_t code, const std::vector<Value>& in, Value* out) {
  const Value& image = in[0];
  const Window wide =
      MakeWindow(IntAt(in[1]), image.dims[2], out->dims[2], IntAt(in[2]), IntAt(in[4]), 1);
  const Window high =
      MakeWindow(IntAt(in[1]), image.dims[1], out->dims[1], IntAt(in[3]), IntAt(in[5]), 1);
  ForEach(out->dims, [&](const Index& at) {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    int64_t count = 0;
    ForWindow(image, high, wide, at[1], at[2], [&](int64_t y, int64_t x, int64_t, int64_t) {
      const double value = At(image, {at[0], y, x, at[3]});
      sum += code == kL2Pool2d ? value * value : value;
      most = value > most ? value : most;
      ++count;
    });
    double result = code == kMaxPool2d ? most : sum / static_cast<double>(count);
    if (code == kL2Pool2d) result = std::sqrt(result);
    At(*out, at) = Fuse(result, IntAt(in[6]));
  });
}

void FullyConnect(const std::vector<Value>& in, Value* out) {
  const int64_t units = in[1].dims[0], size = in[1].dims[1];
  for (int64_t b = 0; b < out->dims[0]; ++b) {
    for (int64_t u = 0; u < units; ++u) {
      double sum = in[2].data[static_cast<size_t>(u)];
      for (int64_t i = 0; i < size; ++i) {
        sum += in[0].data[static_cast<size_t>(b * size + i)] *
               in[1].data[static_cast<size_t>(u * size + i)];
      }
      At(*out, {b, u}) = Fuse(sum, IntAt(in[3]));
    }
  }
}

// ---- Images -------------------------------------------------------------------------------------

struct Resize {
  bool align = false, half = false;

  float Scale(int64_t in, int64_t out) const {
    return align && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                            : static_cast<float>(in) / static_cast<float>(out);
  }
  int64_t Nearest(int64_t at, int64_t in, int64_t out) const {
    const float place = (static_cast<float>(at) + (half ? 0.5F : 0.0F)) * Scale(in, out);
    const float rounded = align ? std::round(place) : std::floor(place);
    return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, in - 1);
  }
  // Finds the two input positions next to output position `at`; returns its distance from the first
  // one.
  double Between(int64_t at, int64_t in, int64_t out, int64_t* low, int64_t* high) const {
    const float scale = Scale(in, out);
    const float place =
        half ? (static_cast<float>(at) + 0.5F) * scale - 0.5F : static_cast<float>(at) * scale;
    const float floor = std::floor(place);
    *low = std::max<int64_t>(static_cast<int64_t>(floor), 0);
    *high = std::min<int64_t>(static_cast<int64_t>(std::ceil(place)), in - 1);
    return static_cast<double>(place - static_cast<float>(*low));
  }
};

void ResizeImage(int32_t code, const std::vector<Value>& in, Value* out) {
  Resize how;
  how.align = in.size() > 4 && in[4].data[0] != 0;
  how.half = in.size() > 5 && in[5].data[0] != 0;
  const Value& image = in[0];
  ForEach(out->dims, [&](const Index& at) {
    if (code == kResizeNearestNeighbor) {
      At(*out, at) = At(image, {at[0], how.Nearest(at[1], image.dims[1], out->dims[1]),
                                how.Nearest(at[2], image.dims[2], out->dims[2]), at[3]});
      return;
    }
    int64_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
    const double dy = how.Between(at[1], image.dims[1], out->dims[1], &y0, &y1);
    const double dx = how.Between(at[2], image.dims[2], out->dims[2], &x0, &x1);
    const auto pixel = [&](int64_t y, int64_t x) { return At(image, {at[0], y, x, at[3]}); };
    At(*out, at) = pixel(y0, x0) * (1 - dy) * (1 - dx) + pixel(y1, x0) * dy * (1 - dx) +
                   pixel(y0, x1) * (1 - dy) * dx + pixel(y1, x1) * dy * dx;
  });
}

void MoveBlocks(int32_t code, const std::vector<Value>& in, Value* out) {
  const int64_t block = IntAt(in[1]);
  const bool to_depth = code == kSpaceToDepth;
  const Value& from = in[0];
  const int64_t depth = to_depth ? from.dims[3] : out->dims[3];
  // Iterates over the tensor with the greater depth.
  ForEach(to_depth ? out->dims : from.dims, [&](const Index& at) {
    const int64_t part = at[3] / depth;
    const Index wide = {at[0], at[1] * block + part / block, at[2] * block + part % block,
                        at[3] % depth};
    if (to_depth) {
      At(*out, at) = At(from, wide);
    } else {
      At(*out, wide) = At(from, at);
    }
  });
}

void MoveBatches(int32_t code, const std::vector<Value>& in, Value* out) {
  const int64_t high = IntAt(in[1], 0), wide = IntAt(in[1], 1);
  const bool to_batch = code == kSpaceToBatchNd;
  const int64_t top = to_batch ? IntAt(in[2], 0) : 0, left = to_batch ? IntAt(in[2], 2) : 0;
  const Value& from = in[0];
  const int64_t batches = to_batch ? from.dims[0] : out->dims[0];
  ForEach(to_batch ? out->dims : from.dims, [&](const Index& at) {
    const int64_t part = at[0] / batches;
    const Index place = {at[0] % batches, at[1] * high + part / wide - top,
                         at[2] * wide + part % wide - left, at[3]};
    if (!to_batch) {
      At(*out, place) = At(from, at);
      return;
    }
    const bool is_inside =
        place[1] >= 0 && place[1] < from.dims[1] && place[2] >= 0 && place[2] < from.dims[2];
    At(*out, at) = is_inside ? At(from, place) : 0;
  });
}

// ---- Along axes ---------------------------------------------------------------------------------

// Calls body(index of the first element, step, length) for each row along the axis.
template <typename Body>
void ForRows(const Index& dims, int64_t axis, const Body& body) {
  int64_t step = 1, outer = 1;
  for (auto d = static_cast<size_t>(axis) + 1; d < dims.size(); ++d) step *= dims[d];
  for (size_t d = 0; d < static_cast<size_t>(axis); ++d) outer *= dims[d];
  const int64_t length = dims[static_cast<size_t>(axis)];
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t s = 0; s < step; ++s) body(o * length * step + s, step, length);
  }
}

void Softmax(const std::vector<Value>& in, bool is_log, Value* out) {
  const double beta = in[1].data[0];
  ForRows(in[0].dims, in[0].rank() - 1, [&](int64_t first, int64_t, int64_t length) {
    const double* x = in[0].data.data() + first;
    double most = x[0], sum = 0;
    for (int64_t i = 0; i < length; ++i) most = std::max(most, x[i]);
    for (int64_t i = 0; i < length; ++i) sum += std::exp((x[i] - most) * beta);
    for (int64_t i = 0; i < length; ++i) {
      const double power = (x[i] - most) * beta;
      out->data[static_cast<size_t>(first + i)] =
          is_log ? power - std::log(sum) : std::exp(power) / sum;
    }
  });
}

void Normalize(int32_t code, const std::vector<Value>& in, Value* out) {
  const int64_t radius = code == kL2Normalization ? 0 : IntAt(in[1]);
  ForRows(in[0].dims, in[0].rank() - 1, [&](int64_t first, int64_t, int64_t length) {
    const double* x = in[0].data.data() + first;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t low = code == kL2Normalization ? 0 : std::max<int64_t>(0, i - radius);
      const int64_t high = code == kL2Normalization ? length - 1 : std::min(length - 1, i + radius);
      double sum = 0;
      for (int64_t k = low; k <= high; ++k) sum += x[k] * x[k];
      out->data[static_cast<size_t>(first + i)] =
          code == kL2Normalization
              ? x[i] / std::max(std::sqrt(sum), 1e-6)
              : x[i] / std::pow(in[2].data[0] + in[3].data[0] * sum, in[4].data[0]);
    }
  });
}

double StartOf(int32_t code) {
  if (code == kReduceProd) return 1;
  if (code == kReduceMax) return -std::numeric_limits<double>::infinity();
  return code == kReduceMin ? std::numeric_limits<double>::infinity() : 0;
}

double Join(int32_t code, double a, double b) {
  switch (code) {
    case kReduceProd:
      return a * b;
    case kReduceMax:
      return std::max(a, b);
    case kReduceMin:
      return std::min(a, b);
    case kReduceAny:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return a + b;
  }
}

void Reduce(int32_t code, const std::vector<Value>& in, Value* out) {
  const Value& from = in[0];
  std::vector<bool> is_reduced(from.dims.size());
  for (const int64_t axis : ToIndex(in[1])) {
    is_reduced[static_cast<size_t>(axis < 0 ? axis + from.rank() : axis)] = true;
  }
  Index kept;
  for (size_t d = 0; d < from.dims.size(); ++d) {
    if (!is_reduced[d]) kept.push_back(from.dims[d]);
  }
  std::fill(out->data.begin(), out->data.end(), StartOf(code));
  ForEach(from.dims, [&](const Index& at) {
    Index to;
    for (size_t d = 0; d < at.size(); ++d) {
      if (!is_reduced[d]) to.push_back(at[d]);
    }
    double& result = out->data[Offset(kept, to)];
    result = Join(code, result, At(from, at));
  });
  if (code != kMean) return;
  const double count =
      static_cast<double>(from.data.size()) / static_cast<double>(out->data.size());
  for (double& x : out->data) x /= count;
}

void Argument(int32_t code, const std::vector<Value>& in, Value* out) {
  size_t next = 0;
  ForRows(in[0].dims, IntAt(in[1]), [&](int64_t first, int64_t step, int64_t length) {
    int64_t best = 0;
    for (int64_t i = 1; i < length; ++i) {
      const double a = in[0].data[static_cast<size_t>(first + i * step)];
      const double b = in[0].data[static_cast<size_t>(first + best * step)];
      if (code == kArgmax ? a > b : a < b) best = i;
    }
    out->data[next++] = static_cast<double>(best);
  });
}

// ---- Moving -------------------------------------------------------------------------------------

void Transpose(const std::vector<Value>& in, Value* out) {
  const Index order = ToIndex(in[1]);
  ForEach(out->dims, [&](const Index& at) {
    Index from(at.size());
    for (size_t d = 0; d < at.size(); ++d) from[static_cast<size_t>(order[d])] = at[d];
    At(*out, at) = At(in[0], from);
  });
}

void Pad(const std::vector<Value>& in, double with, Value* out) {
  ForEach(out->dims, [&](const Index& at) {
    Index from(at.size());
    bool is_inside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      from[d] = at[d] - IntAt(in[1], 2 * d);
      is_inside = is_inside && from[d] >= 0 && from[d] < in[0].dims[d];
    }
    At(*out, at) = is_inside ? At(in[0], from) : with;
  });
}

void Concatenate(const std::vector<Value>& in, Value* out) {
  const auto axis = static_cast<size_t>(IntAt(in.back()));
  int64_t begin = 0;
  for (size_t i = 0; i + 1 < in.size(); ++i) {
    ForEach(in[i].dims, [&](const Index& at) {
      Index to = at;
      to[axis] += begin;
      At(*out, to) = At(in[i], at);
    });
    begin += in[i].dims[axis];
  }
}

void Split(const std::vector<Value>& in, std::vector<Value>* out) {
  const auto axis = static_cast<size_t>(IntAt(in[1]));
  int64_t begin = 0;
  for (Value& part : *out) {
    ForEach(part.dims, [&](const Index& at) {
      Index from = at;
      from[axis] += begin;
      At(part, at) = At(in[0], from);
    });
    begin += part.dims[axis];
  }
}

void StridedSlice(const std::vector<Value>& in, Value* out) {
  const Index &dims = in[0].dims, stride = ToIndex(in[3]);
  const int64_t begin_mask = IntAt(in[4]), shrink = IntAt(in[6]);
  Index begin = ToIndex(in[1]), grown;
  size_t next = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool is_masked = (begin_mask >> d & 1) != 0;
    if (begin[d] < 0) begin[d] += dims[d];
    begin[d] = stride[d] > 0 ? std::clamp<int64_t>(begin[d], 0, dims[d])
                             : std::clamp<int64_t>(begin[d], -1, dims[d] - 1);
    if (is_masked) begin[d] = stride[d] > 0 ? 0 : dims[d] - 1;
    grown.push_back((shrink >> d & 1) != 0 ? 1 : out->dims[next++]);
  }
  next = 0;
  ForEach(grown, [&](const Index& at) {
    Index from(at.size());
    for (size_t d = 0; d < at.size(); ++d) from[d] = begin[d] + at[d] * stride[d];
    out->data[next++] = At(in[0], from);
  });
}

// Computes GATHER along `axis` of `data`.
std::string Gather(const Value& data, int64_t axis, const Value& indices, Value* out) {
  const auto split = static_cast<size_t>(axis);
  std::string problem;
  ForEach(out->dims, [&](const Index& at) {
    const Index which(at.begin() + axis, at.begin() + axis + indices.rank());
    Index from(at.begin(), at.begin() + axis);
    from.push_back(static_cast<int64_t>(At(indices, which)));
    from.insert(from.end(), at.begin() + axis + indices.rank(), at.end());
    if (from[split] < 0 || from[split] >= data.dims[split]) {
      problem = "an index out of bounds";
      return;
    }
    At(*out, at) = At(data, from);
  });
  return problem;
}

// ---- By code ------------------------------------------------------------------------------------

double Unary(int32_t code, double x) {
  switch (code) {
    case kAbs:
      return std::abs(x);
    case kExp:
      return std::exp(x);
    case kFloor:
      return std::floor(x);
    case kHardSwish:
      return x * std::clamp(x + 3, 0.0, 6.0) / 6;
    case kLog:
      return std::log(x);
    case kLogicalNot:
      return x == 0 ? 1 : 0;
    case kLogistic:
      return 1 / (1 + std::exp(-x));
    case kNeg:
      return -x;
    case kRelu:
      return Fuse(x, kFusedRelu);
    case kRelu1:
      return Fuse(x, kFusedRelu1);
    case kRelu6:
      return Fuse(x, kFusedRelu6);
    case kRsqrt:
      return 1 / std::sqrt(x);
    case kSin:
      return std::sin(x);
    case kSqrt:
      return std::sqrt(x);
    case kTanh:
      return std::tanh(x);
    default:
      return x;
  }
}

// Computes an operation of two int32 numbers, which wraps around on overflow, as in NNAPI.
double BinaryOfInts(int32_t code, double a, double b) {
  const auto x = static_cast<uint32_t>(static_cast<int32_t>(a));
  const auto y = static_cast<uint32_t>(static_cast<int32_t>(b));
  return static_cast<int32_t>(code == kAdd ? x + y : code == kSub ? x - y : x * y);
}

double Binary(int32_t code, double a, double b) {
  switch (code) {
    case kAdd:
      return a + b;
    case kSub:
      return a - b;
    case kMul:
      return a * b;
    case kDiv:
      return a / b;
    case kMaximum:
      return a > b ? a : b;
    case kMinimum:
      return a < b ? a : b;
    case kPow:
      return std::pow(a, b);
    case kPrelu:
      return a >= 0 ? a : a * b;
    case kEqual:
      return a == b ? 1 : 0;
    case kNotEqual:
      return a != b ? 1 : 0;
    case kLess:
      return a < b ? 1 : 0;
    case kLessEqual:
      return a <= b ? 1 : 0;
    case kGreater:
      return a > b ? 1 : 0;
    case kGreaterEqual:
      return a >= b ? 1 : 0;
    case kLogicalAnd:
      return a != 0 && b != 0 ? 1 : 0;
    default:
      return a != 0 || b != 0 ? 1 : 0;
  }
}

}  // namespace

std::string Compute(int32_t code, const std::vector<Value>& in,
                    const std::vector<const Operand*>& types, std::vector<Value>* outs) {
  Value* const out = outs->data();
  switch (code) {
    case kAdd:
    case kSub:
    case kMul:
    case kDiv:
      if (types[0]->type == kTensorInt32) {
        Pairs(in, out, [&](double a, double b) { return BinaryOfInts(code, a, b); });
        return "";
      }
      Pairs(in, out, [&](double a, double b) { return Fuse(Binary(code, a, b), IntAt(in[2])); });
      return "";
    case kMaximum:
    case kMinimum:
    case kPow:
    case kPrelu:
    case kEqual:
    case kNotEqual:
    case kLess:
    case kLessEqual:
    case kGreater:
    case kGreaterEqual:
    case kLogicalAnd:
    case kLogicalOr:
      Pairs(in, out, [&](double a, double b) { return Binary(code, a, b); });
      return "";
    case kElu:
      Map(in[0], out, [&](double x) { return x < 0 ? std::expm1(x) * in[1].data[0] : x; });
      return "";
    case kSelect:
      for (size_t i = 0; i < out->data.size(); ++i) {
        out->data[i] = in[in[0].data[i] != 0 ? 1 : 2].data[i];
      }
      return "";
    case kCast:
      out->data = in[0].data;
      return "";
    case kConv2d:
    case kDepthwiseConv2d:
      Convolve(in, code == kDepthwiseConv2d, out);
      return "";
    case kTransposeConv:
      ConvolveTransposed(in, out);
      return "";
    case kFullyConnected:
      FullyConnect(in, out);
      return "";
    case kAveragePool2d:
    case kMaxPool2d:
    case kL2Pool2d:
      Pool(code, in, out);
      return "";
    case kResizeBilinear:
    case kResizeNearestNeighbor:
      ResizeImage(code, in, out);
      return "";
    case kSpaceToDepth:
    case kDepthToSpace:
      MoveBlocks(code, in, out);
      return "";
    case kSpaceToBatchNd:
    case kBatchToSpaceNd:
      MoveBatches(code, in, out);
      return "";
    case kSoftmax:
    case kLogSoftmax:
      Softmax(in, code == kLogSoftmax, out);
      return "";
    case kL2Normalization:
    case kLocalResponseNormalization:
      Normalize(code, in, out);
      return "";
    case kMean:
    case kReduceSum:
    case kReduceProd:
    case kReduceMax:
    case kReduceMin:
    case kReduceAny:
      Reduce(code, in, out);
      return "";
    case kArgmax:
    case kArgmin:
      Argument(code, in, out);
      return "";
    case kReshape:
    case kSqueeze:
    case kExpandDims:
      out->data = in[0].data;
      return "";
    case kTranspose:
      Transpose(in, out);
      return "";
    case kPad:
      Pad(in, 0, out);
      return "";
    case kPadV2: {
      const bool is_stored = types[2]->type == kInt32;
      Pad(in, is_stored ? (in[2].data[0] - types[0]->zero_point) * types[0]->scale : in[2].data[0],
          out);
      return "";
    }
    case kConcatenation:
      Concatenate(in, out);
      return "";
    case kSplit:
      Split(in, outs);
      return "";
    case kSlice:
      ForEach(out->dims, [&](const Index& at) {
        Index from = at;
        for (size_t d = 0; d < at.size(); ++d) from[d] += IntAt(in[1], d);
        At(*out, at) = At(in[0], from);
      });
      return "";
    case kStridedSlice:
      StridedSlice(in, out);
      return "";
    case kGather:
      return Gather(in[0], IntAt(in[1]), in[2], out);
    case kEmbeddingLookup:
      return Gather(in[1], 0, in[0], out);
    case kTile:
      ForEach(out->dims, [&](const Index& at) {
        Index from = at;
        for (size_t d = 0; d < at.size(); ++d) from[d] %= in[0].dims[d];
        At(*out, at) = At(in[0], from);
      });
      return "";
    default:
      Map(in[0], out, [&](double x) {
        const double y = Unary(code, x);
        // Negating the minimum of int32 returns the minimum.
        return types[0]->type == kTensorInt32 && y > INT32_MAX ? INT32_MIN : y;
      });
      return "";
  }
}

}  // namespace nnapi_double
