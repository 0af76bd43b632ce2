// SPDX-License-Identifier: Apache-2.0
//
// SEGMENT_SUM and the UNSORTED_SEGMENT operators: combine slices of a tensor by segment, given by
// an index for each slice. Integers wrap. Segments of SEGMENT_SUM begin at 0 and increase by at
// most 1. The UNSORTED_SEGMENT operators accept segments in any order and ignore slices with a
// negative index.
#include <algorithm>
#include <limits>

#include "kernels/common/element_type.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

constexpr uint32_t kSegmentTypes = kFloat32Bit | kInt32Bit;

// ---- Combination of two elements --------------------------------------------------------------

struct Sum {
  template <typename T>
  static constexpr T kNothing = 0;
  static float Combine(float a, float b) { return a + b; }
  static int32_t Combine(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};

struct Product {
  template <typename T>
  static constexpr T kNothing = 1;
  static float Combine(float a, float b) { return a * b; }
  static int32_t Combine(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
  }
};

struct Maximum {
  template <typename T>
  static constexpr T kNothing = std::numeric_limits<T>::lowest();
  template <typename T>
  static T Combine(T a, T b) {
    return std::max(a, b);
  }
};

struct Minimum {
  template <typename T>
  static constexpr T kNothing = std::numeric_limits<T>::max();
  template <typename T>
  static T Combine(T a, T b) {
    return std::min(a, b);
  }
};

// ---- Shapes -----------------------------------------------------------------------------------

TfLiteStatus SegmentError(TfLiteContext* context, const TfLiteTensor* ids, int64_t low,
                          int64_t high, int64_t position) {
  return TensorError(
      context, ids, "expected segments from %lld to %lld, found %lld in element %lld",
      static_cast<long long>(low), static_cast<long long>(high),
      static_cast<long long>(IntegerAt(ids, position)), static_cast<long long>(position));
}

// Resizes the output to `segments`, followed by the dimensions of the data after those of the ids.
TfLiteStatus ResizeSegments(TfLiteContext* context, TfLiteNode* node, int segments) {
  const TfLiteTensor* data = Input(context, node, 0);
  int dims[kMaxRank + 1] = {segments};
  size_t rank = 1;
  for (int d = Rank(Input(context, node, 1)); d < Rank(data); ++d) dims[rank++] = Dim(data, d);
  TfLiteTensor* output = Output(context, node, 0);
  if (rank > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %zu", kMaxRank,
                       rank);
  }
  return ResizeTo(context, output, {dims, rank});
}

TfLiteStatus ResizeSorted(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* ids = Input(context, node, 1);
  int32_t last = -1;
  for (int64_t i = 0; i < ElementCount(ids); ++i) {
    const int64_t id = IntegerAt(ids, i);
    const int64_t low = std::max(last, 0), high = int64_t{last} + 1;
    if (id < low || id > high) return SegmentError(context, ids, low, high, i);
    last = static_cast<int32_t>(id);
  }
  // The sum cannot overflow: each id adds at most 1, and there are fewer than 2^31 ids.
  return ResizeSegments(context, node, last + 1);
}

TfLiteStatus ResizeUnsorted(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* ids = Input(context, node, 1);
  const TfLiteTensor* number = Input(context, node, 2);
  const int64_t segments = IntegerAt(number, 0);
  if (segments < 0) {
    return TensorError(context, number, "expected 0 segments or more, found %lld",
                       static_cast<long long>(segments));
  }
  for (int64_t i = 0; i < ElementCount(ids); ++i) {
    if (IntegerAt(ids, i) >= segments) return SegmentError(context, ids, 0, segments - 1, i);
  }
  return ResizeSegments(context, node, static_cast<int>(segments));
}

// ---- Prepare and invoke -----------------------------------------------------------------------

TfLiteStatus PrepareIds(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* data = Input(context, node, 0);
  const TfLiteTensor* ids = Input(context, node, 1);
  DEPUTY_TRY(CheckType(context, data, kSegmentTypes));
  DEPUTY_TRY(CheckType(context, ids, kInt32Bit));
  if (Rank(ids) > Rank(data)) {
    return TensorError(context, ids, "expected at most %d dimensions, found %d", Rank(data),
                       Rank(ids));
  }
  for (int d = 0; d < Rank(ids); ++d) DEPUTY_TRY(CheckDim(context, ids, d, Dim(data, d)));
  Output(context, node, 0)->type = data->type;
  return kTfLiteOk;
}

TfLiteStatus PrepareSegmentSum(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  DEPUTY_TRY(CheckRank(context, Input(context, node, 1), 1));
  DEPUTY_TRY(PrepareIds(context, node));
  if (IsKnown(Input(context, node, 1))) return ResizeSorted(context, node);
  MakeDynamic(Output(context, node, 0));
  return kTfLiteOk;
}

TfLiteStatus PrepareUnsorted(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* number = Input(context, node, 2);
  DEPUTY_TRY(PrepareIds(context, node));
  DEPUTY_TRY(CheckType(context, number, kInt32Bit));
  if (Rank(number) > 1) DEPUTY_TRY(CheckRank(context, number, 1));
  DEPUTY_TRY(CheckElementCount(context, number, 1));
  if (IsKnown(Input(context, node, 1)) && IsKnown(number)) return ResizeUnsorted(context, node);
  MakeDynamic(Output(context, node, 0));
  return kTfLiteOk;
}

template <typename Operator, typename T>
void Combine(const T* data, const TfLiteTensor* ids, int64_t run, T* out) {
  const int64_t count = ElementCount(ids);
  for (int64_t i = 0; i < count; ++i, data += run) {
    const int64_t id = IntegerAt(ids, i);
    if (id < 0) continue;
    T* segment = out + id * run;
    for (int64_t k = 0; k < run; ++k) segment[k] = Operator::Combine(segment[k], data[k]);
  }
}

template <typename Operator, TfLiteStatus (*resize)(TfLiteContext*, TfLiteNode*)>
TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* data = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(resize(context, node));
  if (ElementCount(output) == 0) return kTfLiteOk;
  return DispatchType<kSegmentTypes>(context, data, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(Data<T>(output), ElementCount(output), Operator::template kNothing<T>);
    Combine<Operator>(Data<T>(data), Input(context, node, 1), ElementCount(Dims(output).subspan(1)),
                      Data<T>(output));
    return kTfLiteOk;
  });
}

// ---- Table ------------------------------------------------------------------------------------

template <typename Operator>
constexpr OpDef Unsorted(const char* name, TfLiteBuiltinOperator code) {
  return KernelRow<void>(name, code, 1, kSegmentTypes, &Guarded<&PrepareUnsorted>,
                         &Guarded<&Eval<Operator, &ResizeUnsorted>>);
}

constexpr OpDef kTable[] = {
    KernelRow<void>("SEGMENT_SUM", kTfLiteBuiltinSegmentSum, 1, kSegmentTypes,
                    &Guarded<&PrepareSegmentSum>, &Guarded<&Eval<Sum, &ResizeSorted>>),
    Unsorted<Maximum>("UNSORTED_SEGMENT_MAX", kTfLiteBuiltinUnsortedSegmentMax),
    Unsorted<Minimum>("UNSORTED_SEGMENT_MIN", kTfLiteBuiltinUnsortedSegmentMin),
    Unsorted<Product>("UNSORTED_SEGMENT_PROD", kTfLiteBuiltinUnsortedSegmentProd),
    Unsorted<Sum>("UNSORTED_SEGMENT_SUM", kTfLiteBuiltinUnsortedSegmentSum),
};

}  // namespace

constexpr std::span<const OpDef> kSegmentOps = kTable;

}  // namespace deputy
