// SPDX-License-Identifier: Apache-2.0
#include "tests/doubles/hexagon/operations.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace hexagon_double {
namespace {

using namespace deputy::hexagon;

constexpr double kInt32Steps = 2147483648.0;  // 2^31: int32 steps from zero to the maximum

struct Interval {
  double min, max;
};

using Shape = std::array<int, 4>;

size_t CountOf(const Shape& dims) {
  size_t count = 1;
  for (const int dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

size_t At(const Shape& dims, int b, int y, int x, int c) {
  return static_cast<size_t>(((b * dims[1] + y) * dims[2] + x) * dims[3] + c);
}

// The dimensions of a tensor and its elements as real values.
struct Values {
  Shape dims;
  std::vector<double> at;
  double operator()(int b, int y, int x, int c) const {
    // Dimensions of one are broadcast.
    return at[At(dims, dims[0] == 1 ? 0 : b, dims[1] == 1 ? 0 : y, dims[2] == 1 ? 0 : x,
                 dims[3] == 1 ? 0 : c)];
  }
};

// The inputs and outputs of one node.
class Work {
 public:
  Work(NnPadding padding, const std::vector<const Tensor*>& inputs, std::vector<Tensor>* outputs)
      : padding_(padding), inputs_(inputs), outputs_(outputs) {}

  NnPadding padding() const { return padding_; }
  size_t count() const { return inputs_.size(); }
  const Shape& dims(size_t i) const { return inputs_.at(i)->dims; }

  template <typename T>
  std::vector<T> Raw(size_t i) const {
    const std::vector<uint8_t>& bytes = inputs_.at(i)->bytes;
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  double Float(size_t i) const { return Raw<float>(i).at(0); }
  int Int(size_t i) const { return Raw<int32_t>(i).at(0); }
  Interval Range(size_t min, size_t max) const { return {Float(min), Float(max)}; }

  Values Bytes(size_t i, const Interval& range) const {
    Values values{dims(i), {}};
    for (const uint8_t q : inputs_.at(i)->bytes) {
      values.at.push_back(range.min + q * (range.max - range.min) / 255);
    }
    return values;
  }
  // Returns the values of input `i`, an int32 tensor whose full range corresponds to -max to max.
  Values Ints(size_t i, double max) const {
    Values values{dims(i), {}};
    for (const int32_t v : Raw<int32_t>(i)) values.at.push_back(v * max / kInt32Steps);
    return values;
  }

  void SetOutput(const Values& values, const Interval& range) {
    Tensor made{values.dims, {}};
    const double step = (range.max - range.min) / 255;
    for (const double v : values.at) {
      const double q = step == 0 ? 0 : std::round((v - range.min) / step);
      made.bytes.push_back(static_cast<uint8_t>(std::clamp(q, 0.0, 255.0)));
    }
    SetOutputWithRange(std::move(made), range);
  }
  void SetIntOutput(const Values& values, double step) {
    Tensor made{values.dims, {}};
    for (const double v : values.at) {
      const auto q =
          static_cast<int32_t>(std::clamp(std::round(v / step), -kInt32Steps, kInt32Steps - 1));
      const auto* bytes = reinterpret_cast<const uint8_t*>(&q);
      made.bytes.insert(made.bytes.end(), bytes, bytes + sizeof q);
    }
    SetOutputWithRange(std::move(made), {-step * kInt32Steps, step * kInt32Steps});
  }
  void SetOnlyOutput(Tensor made) { outputs_->push_back(std::move(made)); }

 private:
  void SetOutputWithRange(Tensor made, const Interval& range) {
    outputs_->push_back(std::move(made));
    for (const double bound : {range.min, range.max}) {
      const auto value = static_cast<float>(bound);
      Tensor scalar{{1, 1, 1, 1}, std::vector<uint8_t>(sizeof value)};
      std::memcpy(scalar.bytes.data(), &value, sizeof value);
      outputs_->push_back(std::move(scalar));
    }
  }

  const NnPadding padding_;
  const std::vector<const Tensor*>& inputs_;
  std::vector<Tensor>* const outputs_;
};

template <typename Body>
Values Fill(const Shape& dims, const Body& body) {
  Values made{dims, std::vector<double>(CountOf(dims))};
  for (int b = 0; b < dims[0]; ++b) {
    for (int y = 0; y < dims[1]; ++y) {
      for (int x = 0; x < dims[2]; ++x) {
        for (int c = 0; c < dims[3]; ++c) made.at[At(dims, b, y, x, c)] = body(b, y, x, c);
      }
    }
  }
  return made;
}

// ---- Windows ------------------------------------------------------------------------------------

struct Axis {
  int in, window, stride, out, before;
};

Axis AxisOf(NnPadding padding, int in, int window, int stride) {
  Axis axis{in, window, stride, 0, 0};
  if (padding == kNnPadSame) {
    axis.out = (in + stride - 1) / stride;
    axis.before = std::max((axis.out - 1) * stride + window - in, 0) / 2;
  } else {
    axis.out = (in - window) / stride + 1;
  }
  return axis;
}

// Calls `visit` for each element of a window that is inside the image.
void ForWindow(const Axis& rows, const Axis& columns, int y, int x,
               const std::function<void(int, int, int, int)>& visit) {
  for (int i = 0; i < rows.window; ++i) {
    for (int j = 0; j < columns.window; ++j) {
      const int from_y = y * rows.stride - rows.before + i;
      const int from_x = x * columns.stride - columns.before + j;
      if (from_y < 0 || from_x < 0 || from_y >= rows.in || from_x >= columns.in) continue;
      visit(from_y, from_x, i, j);
    }
  }
}

// Computes a convolution. Inputs: data, filter, ranges of both, stride, bias, its range, the
// output's range[, scales of channels].
bool Convolve(Work* work, bool depthwise) {
  if (work->count() != 12 && work->count() != 13) return false;
  const Values data = work->Bytes(0, work->Range(2, 3));
  const Values filter = work->Bytes(1, work->Range(4, 5));
  const Shape stride = work->dims(6);
  const Values bias = work->Ints(7, work->Float(9));
  const std::vector<float> scales =
      work->count() == 13 ? work->Raw<float>(12) : std::vector<float>();
  const Axis rows = AxisOf(work->padding(), data.dims[1], filter.dims[0], stride[1]);
  const Axis columns = AxisOf(work->padding(), data.dims[2], filter.dims[1], stride[2]);
  const int multiplier = filter.dims[3];
  const int channels = depthwise ? filter.dims[2] * multiplier : filter.dims[3];
  if (filter.dims[2] != data.dims[3] || bias.at.size() != static_cast<size_t>(channels)) {
    return false;
  }
  const Shape dims = {data.dims[0], rows.out, columns.out, channels};
  const Values made = Fill(dims, [&](int b, int y, int x, int o) {
    double sum = 0;
    ForWindow(rows, columns, y, x, [&](int from_y, int from_x, int i, int j) {
      if (depthwise) {
        sum += data.at[At(data.dims, b, from_y, from_x, o / multiplier)] *
               filter.at[At(filter.dims, i, j, o / multiplier, o % multiplier)];
        return;
      }
      for (int c = 0; c < data.dims[3]; ++c) {
        sum +=
            data.at[At(data.dims, b, from_y, from_x, c)] * filter.at[At(filter.dims, i, j, c, o)];
      }
    });
    const double scale = scales.empty() ? 1 : scales.at(static_cast<size_t>(o));
    return sum * scale + bias.at[static_cast<size_t>(o)];
  });
  work->SetOutput(made, work->Range(10, 11));
  return true;
}

// Computes a pooling. Inputs: data, its range, window, stride.
bool Pool(Work* work, bool largest) {
  if (work->count() != 5) return false;
  const Interval range = work->Range(1, 2);
  const Values data = work->Bytes(0, range);
  const Axis rows = AxisOf(work->padding(), data.dims[1], work->dims(3)[1], work->dims(4)[1]);
  const Axis columns = AxisOf(work->padding(), data.dims[2], work->dims(3)[2], work->dims(4)[2]);
  const Shape dims = {data.dims[0], rows.out, columns.out, data.dims[3]};
  work->SetOutput(Fill(dims,
                       [&](int b, int y, int x, int c) {
                         double sum = 0, most = range.min;
                         int count = 0;
                         ForWindow(rows, columns, y, x, [&](int from_y, int from_x, int, int) {
                           const double v = data.at[At(data.dims, b, from_y, from_x, c)];
                           sum += v;
                           most = std::max(most, v);
                           ++count;
                         });
                         return largest ? most : sum / count;
                       }),
                  range);
  return true;
}

// ---- Products -----------------------------------------------------------------------------------

double StepOf(const Interval& range) { return (range.max - range.min) / 255; }

bool MatMul(Work* work) {
  if (work->count() != 6) return false;
  const Interval a_range = work->Range(2, 3), b_range = work->Range(4, 5);
  const Values a = work->Bytes(0, a_range), b = work->Bytes(1, b_range);
  if (a.dims[3] != b.dims[2]) return false;
  const Shape dims = {a.dims[0], a.dims[1], a.dims[2], b.dims[3]};
  work->SetIntOutput(Fill(dims,
                          [&](int n, int y, int x, int o) {
                            double sum = 0;
                            for (int c = 0; c < a.dims[3]; ++c) {
                              sum += a.at[At(a.dims, n, y, x, c)] * b.at[At(b.dims, 0, 0, c, o)];
                            }
                            return sum;
                          }),
                     StepOf(a_range) * StepOf(b_range));
  return true;
}

bool BiasAdd(Work* work) {
  if (work->count() != 6) return false;
  const Values a = work->Ints(0, work->Float(3)), bias = work->Ints(1, work->Float(5));
  work->SetIntOutput(Fill(a.dims,
                          [&](int b, int y, int x, int c) {
                            return a.at[At(a.dims, b, y, x, c)] +
                                   bias.at.at(static_cast<size_t>(c));
                          }),
                     work->Float(3) / kInt32Steps);
  return true;
}

// ---- Element by element -------------------------------------------------------------------------

using Binary = double (*)(double, double);
using Unary = double (*)(double);

// Applies a function of two operands to all elements. Inputs: a, b, their ranges, and the output's
// range if the operation has one.
Values Combine(const Work& work, Binary function) {
  const Values a = work.Bytes(0, work.Range(2, 3)), b = work.Bytes(1, work.Range(4, 5));
  Shape dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = std::max(a.dims[i], b.dims[i]);
  return Fill(dims,
              [&](int n, int y, int x, int c) { return function(a(n, y, x, c), b(n, y, x, c)); });
}

bool SetCombinedOutput(Work* work, Binary function) {
  if (work->count() != 8) return false;
  work->SetOutput(Combine(*work, function), work->Range(6, 7));
  return true;
}

bool Subtract(Work* work) {
  if (work->count() != 6) return false;
  const Interval a = work->Range(2, 3), b = work->Range(4, 5);
  work->SetOutput(Combine(*work, [](double x, double y) { return x - y; }),
                  {a.min - b.max, a.max - b.min});
  return true;
}

bool Multiply(Work* work) {
  if (work->count() != 6) return false;
  work->SetIntOutput(Combine(*work, [](double x, double y) { return x * y; }),
                     StepOf(work->Range(2, 3)) * StepOf(work->Range(4, 5)));
  return true;
}

bool Map(Work* work, Unary function, const Interval& range) {
  if (work->count() < 3) return false;
  Values values = work->Bytes(0, work->Range(1, 2));
  for (double& v : values.at) v = function(v);
  work->SetOutput(values, range);
  return true;
}

bool Softmax(Work* work) {
  if (work->count() != 4) return false;
  Values values = work->Bytes(0, work->Range(1, 2));
  const double beta = work->Float(3);
  const auto depth = static_cast<size_t>(values.dims[3]);
  for (size_t row = 0; row < values.at.size(); row += depth) {
    double* const at = values.at.data() + row;
    const double most = *std::max_element(at, at + depth);
    double sum = 0;
    for (size_t i = 0; i < depth; ++i) sum += at[i] = std::exp(beta * (at[i] - most));
    for (size_t i = 0; i < depth; ++i) at[i] /= sum;
  }
  work->SetOutput(values, {0, 1});
  return true;
}

bool Requantize(Work* work, bool from_ints) {
  if (work->count() != 5) return false;
  work->SetOutput(from_ints ? work->Ints(0, work->Float(2)) : work->Bytes(0, work->Range(1, 2)),
                  work->Range(3, 4));
  return true;
}

// ---- Shapes -------------------------------------------------------------------------------------

bool Reshape(Work* work) {
  const std::vector<int32_t> shape =
      work->count() == 2 ? work->Raw<int32_t>(1) : std::vector<int32_t>();
  if (shape.size() != 4) return false;
  Tensor made{{shape[0], shape[1], shape[2], shape[3]}, work->Raw<uint8_t>(0)};
  if (CountOf(made.dims) != CountOf(work->dims(0))) return false;
  work->SetOnlyOutput(std::move(made));
  return true;
}

// Concatenates tensors. Inputs: axis, tensors, their minima, their maxima.
bool Concat(Work* work) {
  const size_t count = (work->count() - 1) / 3;
  const auto axis = static_cast<size_t>(work->Int(0));
  if (work->count() != 1 + 3 * count || axis > 3) return false;
  std::vector<Values> parts;
  Interval range = work->Range(1 + count, 1 + 2 * count);
  Shape dims = work->dims(1);
  dims[axis] = 0;
  for (size_t i = 0; i < count; ++i) {
    const Interval each = work->Range(1 + count + i, 1 + 2 * count + i);
    range = {std::min(range.min, each.min), std::max(range.max, each.max)};
    parts.push_back(work->Bytes(1 + i, each));
    dims[axis] += parts.back().dims[axis];
  }
  work->SetOutput(Fill(dims,
                       [&](int b, int y, int x, int c) {
                         Shape at = {b, y, x, c};
                         size_t part = 0;
                         for (; at[axis] >= parts[part].dims[axis]; ++part) {
                           at[axis] -= parts[part].dims[axis];
                         }
                         return parts[part].at[At(parts[part].dims, at[0], at[1], at[2], at[3])];
                       }),
                  range);
  return true;
}

// Pads a tensor with the real value zero.
bool Pad(Work* work) {
  const std::vector<int32_t> amounts =
      work->count() == 4 ? work->Raw<int32_t>(3) : std::vector<int32_t>();
  if (amounts.size() != 8) return false;
  const Interval range = work->Range(1, 2);
  const Values data = work->Bytes(0, range);
  Shape dims;
  for (size_t i = 0; i < 4; ++i) dims[i] = data.dims[i] + amounts[2 * i] + amounts[2 * i + 1];
  work->SetOutput(Fill(dims,
                       [&](int b, int y, int x, int c) {
                         Shape at = {b, y, x, c};
                         for (size_t i = 0; i < 4; ++i) {
                           at[i] -= amounts[2 * i];
                           if (at[i] < 0 || at[i] >= data.dims[i]) return 0.0;
                         }
                         return data.at[At(data.dims, at[0], at[1], at[2], at[3])];
                       }),
                  range);
  return true;
}

bool ResizeBilinear(Work* work) {
  if (work->count() != 5) return false;
  const std::vector<int32_t> size = work->Raw<int32_t>(1);
  const Interval range = work->Range(2, 3);
  const Values data = work->Bytes(0, range);
  const bool corners = work->Int(4) != 0;
  const auto place = [&](int at, int in, int out) {
    return corners && out > 1 ? at * (in - 1.0) / (out - 1.0) : at * static_cast<double>(in) / out;
  };
  const Shape dims = {data.dims[0], size.at(0), size.at(1), data.dims[3]};
  work->SetOutput(Fill(dims,
                       [&](int b, int y, int x, int c) {
                         const double v = place(y, data.dims[1], dims[1]);
                         const double h = place(x, data.dims[2], dims[2]);
                         const int y0 = static_cast<int>(v), x0 = static_cast<int>(h);
                         const int y1 = std::min(y0 + 1, data.dims[1] - 1);
                         const int x1 = std::min(x0 + 1, data.dims[2] - 1);
                         const auto at = [&](int i, int j) {
                           return data.at[At(data.dims, b, i, j, c)];
                         };
                         const double top = at(y0, x0) + (h - x0) * (at(y0, x1) - at(y0, x0));
                         const double bottom = at(y1, x0) + (h - x0) * (at(y1, x1) - at(y1, x0));
                         return top + (v - y0) * (bottom - top);
                       }),
                  range);
  return true;
}

bool Mean(Work* work) {
  if (work->count() != 6) return false;
  const Interval range = work->Range(1, 2);
  const Values data = work->Bytes(0, range);
  Shape dims = data.dims;
  for (const int32_t axis : work->Raw<int32_t>(3)) dims.at(static_cast<size_t>(axis)) = 1;
  Values sums{dims, std::vector<double>(CountOf(dims), 0)};
  Fill(data.dims, [&](int b, int y, int x, int c) {
    const double v = data.at[At(data.dims, b, y, x, c)];
    sums.at[At(dims, dims[0] == 1 ? 0 : b, dims[1] == 1 ? 0 : y, dims[2] == 1 ? 0 : x,
               dims[3] == 1 ? 0 : c)] += v;
    return v;
  });
  const double each = static_cast<double>(CountOf(data.dims)) / static_cast<double>(CountOf(dims));
  for (double& v : sums.at) v /= each;
  work->SetOutput(sums, range);
  return true;
}

bool Transpose(Work* work) {
  const std::vector<int32_t> order =
      work->count() == 4 ? work->Raw<int32_t>(1) : std::vector<int32_t>();
  if (order.size() != 4) return false;
  const Interval range = work->Range(2, 3);
  const Values data = work->Bytes(0, range);
  Shape dims;
  for (size_t i = 0; i < 4; ++i) dims[i] = data.dims.at(static_cast<size_t>(order[i]));
  work->SetOutput(Fill(dims,
                       [&](int b, int y, int x, int c) {
                         const Shape to = {b, y, x, c};
                         Shape at{};
                         for (size_t i = 0; i < 4; ++i) at[static_cast<size_t>(order[i])] = to[i];
                         return data.at[At(data.dims, at[0], at[1], at[2], at[3])];
                       }),
                  range);
  return true;
}

}  // namespace

bool Compute(NnOperation operation, NnPadding padding, const std::vector<const Tensor*>& inputs,
             std::vector<Tensor>* outputs) {
  Work work(padding, inputs, outputs);
  const auto relu = [](double v) { return std::max(v, 0.0); };
  switch (operation) {
    case kNnSupernode8x8p32to8:
      return Convolve(&work, false);
    case kNnDepthwiseSupernode8x8p32to8:
      return Convolve(&work, true);
    case kNnMaxPool8:
      return Pool(&work, true);
    case kNnAvgPool8:
      return Pool(&work, false);
    case kNnMatMul8x8to32:
      return MatMul(&work);
    case kNnBiasAdd32p32to32:
      return BiasAdd(&work);
    case kNnRequantize32to8:
      return Requantize(&work, true);
    case kNnRequantize8to8:
      return Requantize(&work, false);
    case kNnAdd8p8to8:
      return SetCombinedOutput(&work, [](double a, double b) { return a + b; });
    case kNnMaximum8:
      return SetCombinedOutput(&work, [](double a, double b) { return std::max(a, b); });
    case kNnMinimum8:
      return SetCombinedOutput(&work, [](double a, double b) { return std::min(a, b); });
    case kNnSub8p8to8:
      return Subtract(&work);
    case kNnMul8x8to32:
      return Multiply(&work);
    case kNnRelu8:
      return Map(&work, relu, {0, std::max(work.Float(2), 1e-6)});
    case kNnReluX8:
      return Map(&work, relu, {0, work.Float(3)});
    case kNnSigmoid8:
      return Map(&work, [](double v) { return 1 / (1 + std::exp(-v)); }, {0, 1});
    case kNnTanh8:
      return Map(&work, [](double v) { return std::tanh(v); }, {-1, 1});
    case kNnSoftmax8:
      return Softmax(&work);
    case kNnReshape:
      return Reshape(&work);
    case kNnConcat8:
      return Concat(&work);
    case kNnPad8:
      return Pad(&work);
    case kNnResizeBilinear8:
      return ResizeBilinear(&work);
    case kNnMean8:
      return Mean(&work);
    case kNnTranspose8:
      return Transpose(&work);
    case kNnInput:
    case kNnOutput:
    case kNnConst:
      break;
  }
  return false;
}

}  // namespace hexagon_double
