// SPDX-License-Identifier: Apache-2.0
//
// Products, reductions, and operations along an axis.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/reference.h"

namespace deputy::compiler {
namespace {

// An axis of a value: `outer` * `inner` rows of `extent` elements at a distance of `inner`.
struct Axis {
  Axis(const Shape& shape, int axis) {
    for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
      (i < axis ? outer : i == axis ? extent : inner) *= shape[static_cast<size_t>(i)];
    }
  }
  int64_t outer = 1, extent = 1, inner = 1;
};

// Calls function(index of first element, distance of elements, row number) for every row along the
// axis.
template <typename Function>
void ForRows(const Axis& axis, const Function& function) {
  for (int64_t o = 0; o < axis.outer; ++o) {
    for (int64_t i = 0; i < axis.inner; ++i) {
      function(o * axis.extent * axis.inner + i, axis.inner, o * axis.inner + i);
    }
  }
}

bool Less(TfLiteType type, Number a, Number b) {
  return IsFloat(type) ? a.real < b.real : a.integer < b.integer;
}

Shape Leading(const Shape& shape) { return {shape.begin(), shape.end() - 2}; }

// Returns an element as a real number, which represents integers of products exactly.
double RealAt(const Contents& contents, int64_t index) {
  const Number number = contents.At(index);
  return IsFloat(contents.type()) ? number.real : static_cast<double>(number.integer);
}

}  // namespace

bool Compute(const MatMul& kind, const Operands& operands, std::string*) {
  const Contents &a = operands.inputs[0], &b = operands.inputs[1], &out = operands.outputs[0];
  const size_t a_rank = a.shape().size(), rank = out.shape().size();
  const int64_t m = out.extent(rank - 2), n = out.extent(rank - 1);
  const int64_t k = a.extent(kind.transpose_a ? a_rank - 2 : a_rank - 1);
  const Shape batches = Leading(out.shape());
  const bool has_bias = operands.inputs.size() > 2 && operands.inputs[2].present();
  for (int64_t batch = 0; batch < ElementCount(batches); ++batch) {
    const int64_t left = m * k * BroadcastIndex(Leading(a.shape()), batches, batch);
    const int64_t right = n * k * BroadcastIndex(Leading(b.shape()), batches, batch);
    for (int64_t i = 0; i < m * n; ++i) {
      const int64_t row = i / n, column = i % n;
      double sum = has_bias ? RealAt(operands.inputs[2], column) : 0.0;
      for (int64_t p = 0; p < k; ++p) {
        sum +=
            (RealAt(a, left + (kind.transpose_a ? p * m + row : row * k + p)) - kind.zero_point) *
            RealAt(b, right + (kind.transpose_b ? column * k + p : p * n + column));
      }
      out.Set(batch * m * n + i, {sum, IsFloat(out.type()) ? 0 : static_cast<int64_t>(sum)});
    }
  }
  return true;
}

namespace {

Number StartOf(ReduceKind kind, TfLiteType type) {
  switch (kind) {
    case ReduceKind::kProd:
      return {1, 1};
    case ReduceKind::kAll:
      return {0, 1};
    case ReduceKind::kMax:
      return {-INFINITY, SmallestOf(type)};
    case ReduceKind::kMin:
      return {INFINITY, LargestOf(type)};
    default:
      return {};
  }
}

Number Combine(ReduceKind kind, TfLiteType type, Number a, Number b) {
  switch (kind) {
    case ReduceKind::kProd:
      return {a.real * b.real, static_cast<int64_t>(static_cast<uint64_t>(a.integer) *
                                                    static_cast<uint64_t>(b.integer))};
    case ReduceKind::kMax:
      return Less(type, a, b) ? b : a;
    case ReduceKind::kMin:
      return Less(type, b, a) ? b : a;
    case ReduceKind::kAny:
      return {0, a.integer | b.integer};
    case ReduceKind::kAll:
      return {0, a.integer & b.integer};
    default:
      return {a.real + b.real, static_cast<int64_t>(static_cast<uint64_t>(a.integer) +
                                                    static_cast<uint64_t>(b.integer))};
  }
}

}  // namespace

bool Compute(const Reduce& kind, const Operands& operands, std::string*) {
  const Contents &in = operands.inputs[0], &out = operands.outputs[0];
  std::vector<Number> results(static_cast<size_t>(out.count()), StartOf(kind.kind, in.type()));
  const std::vector<int64_t> in_strides = Strides(in.shape()), out_strides = Strides(out.shape());
  for (int64_t i = 0; i < in.count(); ++i) {
    int64_t to = 0;
    for (size_t axis = 0; axis < in_strides.size(); ++axis) {
      if ((kind.axes >> axis & 1) != 0) continue;
      to += i / in_strides[axis] % in.extent(axis) * out_strides[axis];
    }
    Number& result = results[static_cast<size_t>(to)];
    result = Combine(kind.kind, in.type(), result, in.At(i));
  }
  const int64_t count = out.count() == 0 ? 1 : in.count() / out.count();
  for (int64_t i = 0; i < out.count(); ++i) {
    Number result = results[static_cast<size_t>(i)];
    if (kind.kind == ReduceKind::kMean) result.real /= static_cast<double>(count);
    out.Set(i, result);
  }
  return true;
}

bool Compute(const Softmax& kind, const Operands& operands, std::string*) {
  const Contents& in = operands.inputs[0];
  const Axis axis(in.shape(), static_cast<int>(in.shape().size()) - 1);
  ForRows(axis, [&](int64_t first, int64_t, int64_t) {
    const float* row = in.floats() + first;
    float* out = operands.outputs[0].floats() + first;
    if (axis.extent == 0) return;
    const double largest = *std::max_element(row, row + axis.extent);
    const auto power = [&](int64_t i) { return kind.beta * (row[i] - largest); };
    double sum = 0;
    for (int64_t i = 0; i < axis.extent; ++i) sum += std::exp(power(i));
    for (int64_t i = 0; i < axis.extent; ++i) {
      out[i] = static_cast<float>(kind.log ? power(i) - std::log(sum) : std::exp(power(i)) / sum);
    }
  });
  return true;
}

bool Compute(const ArgReduce& kind, const Operands& operands, std::string*) {
  const Contents& in = operands.inputs[0];
  const Axis axis(in.shape(), kind.axis);
  ForRows(axis, [&](int64_t first, int64_t step, int64_t row) {
    int64_t best = 0;
    for (int64_t i = 1; i < axis.extent; ++i) {
      const Number before = in.At(first + best * step), now = in.At(first + i * step);
      if (kind.largest ? Less(in.type(), before, now) : Less(in.type(), now, before)) best = i;
    }
    operands.outputs[0].Set(row, {0, best});
  });
  return true;
}

bool Compute(const CumulativeSum& kind, const Operands& operands, std::string*) {
  const Contents &in = operands.inputs[0], &out = operands.outputs[0];
  const Axis axis(in.shape(), kind.axis);
  ForRows(axis, [&](int64_t first, int64_t step, int64_t) {
    Number sum;
    for (int64_t i = 0; i < axis.extent; ++i) {
      const int64_t at = first + (kind.reverse ? axis.extent - 1 - i : i) * step;
      const Number before = sum;
      sum = Combine(ReduceKind::kSum, in.type(), sum, in.At(at));
      out.Set(at, kind.exclusive ? before : sum);
    }
  });
  return true;
}

bool Compute(const TopK&, const Operands& operands, std::string*) {
  const Contents &in = operands.inputs[0], &values = operands.outputs[0];
  const int last = static_cast<int>(in.shape().size()) - 1;
  const int64_t k = values.extent(static_cast<size_t>(last));
  const Axis axis(in.shape(), last);
  ForRows(axis, [&](int64_t first, int64_t, int64_t row) {
    std::vector<int64_t> order(static_cast<size_t>(axis.extent));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return Less(in.type(), in.At(first + b), in.At(first + a));
    });
    for (int64_t i = 0; i < k; ++i) {
      values.Set(row * k + i, in.At(first + order[static_cast<size_t>(i)]));
      operands.outputs[1].Set(row * k + i, {0, order[static_cast<size_t>(i)]});
    }
  });
  return true;
}

bool Compute(const Gather& kind, const Operands& operands, std::string* out_error) {
  const Contents &in = operands.inputs[0], &indices = operands.inputs[1];
  const Axis axis(in.shape(), kind.axis);
  int64_t batches = 1;
  for (int i = 0; i < kind.batch_axes; ++i) batches *= in.extent(static_cast<size_t>(i));
  if (batches == 0) return true;
  const int64_t per_batch = indices.count() / batches, outer = axis.outer / batches;
  for (int64_t row = 0; row < axis.outer * per_batch; ++row) {
    const int64_t batch = row / per_batch / std::max<int64_t>(outer, 1);
    const int64_t index = indices.At(batch * per_batch + row % per_batch).integer;
    if (index < 0 || index >= axis.extent) {
      *out_error = "expected indices from 0 to " + std::to_string(axis.extent - 1) + ", found " +
                   std::to_string(index);
      return false;
    }
    for (int64_t i = 0; i < axis.inner; ++i) {
      const int64_t from = (row / per_batch * axis.extent + index) * axis.inner + i;
      operands.outputs[0].Set(row * axis.inner + i, in.At(from));
    }
  }
  return true;
}

bool Compute(const OneHot& kind, const Operands& operands, std::string*) {
  const Contents& out = operands.outputs[0];
  const Axis axis(out.shape(), kind.axis);
  ForRows(axis, [&](int64_t first, int64_t step, int64_t row) {
    const int64_t index = operands.inputs[0].At(row).integer;
    for (int64_t i = 0; i < axis.extent; ++i) {
      out.Set(first + i * step, operands.inputs[i == index ? 1 : 2].At(0));
    }
  });
  return true;
}

}  // namespace deputy::compiler
