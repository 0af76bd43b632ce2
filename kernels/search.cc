// SPDX-License-Identifier: Apache-2.0
//
// Searches in a tensor: ARG_MAX, ARG_MIN, TOPK_V2, WHERE, UNIQUE; and BUCKETIZE, which locates
// numbers among boundaries. Of equal values the one with the smaller index is selected.
//
// NaN is unordered. ARG_MAX and ARG_MIN keep the current value until a better one is found, as
// upstream does. The position of NaN in the output of TOPK_V2 is unspecified; TOPK_V2 uses a heap,
// because std::sort is undefined for an inconsistent order. UNIQUE treats all NaN as equal.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/common/distinct.h"
#include "kernels/common/element_type.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/refused_options.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/cpu/cpu.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

template <typename Params>
bool FillArg(const OpOptions& options, Params* params) {
  params->output_type = options.Type(0, kTfLiteFloat32);
  return true;
}

// ---- ARG_MAX and ARG_MIN ----------------------------------------------------------------------

constexpr uint32_t kArgBits = kFloat32Bit | kInt8Bit | kUInt8Bit | kInt32Bit | kBoolBit;

TfLiteStatus ArgAxis(TfLiteContext* context, TfLiteNode* node, int* out_axis) {
  const TfLiteTensor* axis = Input(context, node, 1);
  return ResolveAxis(context, axis, IntegerAt(axis, 0), Rank(Input(context, node, 0)), out_axis);
}

// Resizes the output to the input's shape without the axis.
TfLiteStatus ResizeArg(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  int axis = 0;
  DEPUTY_TRY(ArgAxis(context, node, &axis));
  int dims[kMaxRank];
  size_t rank = 0;
  for (int i = 0; i < Rank(input); ++i) {
    if (i != axis) dims[rank++] = Dim(input, i);
  }
  return ResizeTo(context, Output(context, node, 0), {dims, rank});
}

template <typename Params>
TfLiteStatus PrepareArg(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* axis = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckElementCount(context, axis, 1));
  DEPUTY_TRY(CheckType(context, axis, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckType(context, input, kArgBits));
  output->type = ParamsOf<Params>(node).output_type;
  DEPUTY_TRY(CheckType(context, output, kInt32Bit | kInt64Bit));
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  if (IsKnown(axis)) return ResizeArg(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Order of a search for the maximum, and its vector loops. NaN neither beats another value nor is
// beaten.
struct Greater {
  static constexpr auto kIndexLoop = &VectorKernels::index_of_max;
  static constexpr auto kKeep = &VectorKernels::keep_max;
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct Less {
  static constexpr auto kIndexLoop = &VectorKernels::index_of_min;
  static constexpr auto kKeep = &VectorKernels::keep_min;
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

// Output of indices, which are computed as int32 and stored as int32 or int64.
struct IndicesOut {
  void* data;
  bool wide;  // true if the output is int64

  void Put(int64_t first, const int32_t* best_indices, int64_t count) const {
    if (wide) {
      std::copy_n(best_indices, count, static_cast<int64_t*>(data) + first);
    } else {
      std::copy_n(best_indices, count, static_cast<int32_t*>(data) + first);
    }
  }
};

// Computes the index of the best value of each row.
template <typename Better, typename T>
void SearchRows(const VectorKernels& vector, const T* in, int64_t rows, int64_t count,
                int32_t* best_indices) {
  if (const auto find = (vector.*Better::kIndexLoop).template of<T>()) {
    return find(in, rows, count, best_indices);
  }
  for (int64_t r = 0; r < rows; ++r, in += count) {
    int64_t best = 0;
    for (int64_t i = 1; i < count; ++i) best = Better()(in[i], in[best]) ? i : best;
    best_indices[r] = static_cast<int32_t>(best);
  }
}

// Compares a row with the best values of each column so far: sets best[c] = row[c] and
// best_indices[c] = index if row[c] is better.
template <typename Better, typename T>
void KeepBetter(const VectorKernels& vector, const T* row, int64_t count, int32_t index, T* best,
                int32_t* best_indices) {
  if (const auto keep = (vector.*Better::kKeep).template of<T>()) {
    return keep(row, count, index, best, best_indices);
  }
  for (int64_t c = 0; c < count; ++c) {
    if (!Better()(row[c], best[c])) continue;
    best[c] = row[c];
    best_indices[c] = index;
  }
}

// Finds the best of each of `count` columns, row by row, so that memory is read in order.
template <typename Better, typename T>
void SearchColumns(const VectorKernels& vector, const T* in, const AxisSplit& split, int64_t count,
                   T* best, int32_t* best_indices) {
  std::copy_n(in, count, best);
  std::fill_n(best_indices, count, 0);
  for (int64_t i = 1; i < split.extent; ++i) {
    KeepBetter<Better>(vector, in + i * split.inner, count, static_cast<int32_t>(i), best,
                       best_indices);
  }
}

template <typename Better, typename T>
void SearchAxis(TfLiteContext* context, const T* in, const AxisSplit& split,
                const IndicesOut& out) {
  const VectorKernels& vector = CpuOf(context).vector;
  const int64_t slice = split.extent * split.inner;
  ParallelRanges(
      context, split.outer, kElementsPerTask / slice + 1, [&](int64_t begin, int64_t end) {
        constexpr int64_t kRows = 64, kColumns = 256;
        int32_t best_indices[kColumns];
        if (split.inner == 1) {
          for (int64_t row = begin; row < end; row += kRows) {
            const int64_t rows = std::min(kRows, end - row);
            SearchRows<Better>(vector, in + row * slice, rows, split.extent, best_indices);
            out.Put(row, best_indices, rows);
          }
          return;
        }
        T best[kColumns];
        for (int64_t o = begin; o < end; ++o) {
          for (int64_t first = 0; first < split.inner; first += kColumns) {
            const int64_t columns = std::min(kColumns, split.inner - first);
            SearchColumns<Better>(vector, in + o * slice + first, split, columns, best,
                                  best_indices);
            out.Put(o * split.inner + first, best_indices, columns);
          }
        }
      });
}

template <typename Better>
TfLiteStatus EvalArg(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeArg(context, node));
  int axis = 0;
  DEPUTY_TRY(ArgAxis(context, node, &axis));
  const AxisSplit split = SplitAt(Dims(input), axis);
  if (split.outer * split.inner == 0) return kTfLiteOk;
  if (split.extent == 0) {
    return TensorError(context, input, "expected dimension %d to be 1 or more, found 0", axis);
  }
  return DispatchType<kArgBits>(context, input, [&](auto tag) {
    SearchAxis<Better>(context, Data<typename decltype(tag)::type>(input), split,
                       {output->data.data, output->type == kTfLiteInt64});
    return kTfLiteOk;
  });
}

// ---- TOPK_V2 ----------------------------------------------------------------------------------

constexpr uint32_t kTopBits =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;

// Resizes both outputs of TOPK_V2 to the input's shape with k as the last dimension; a negative k
// is treated as 0.
TfLiteStatus ResizeTop(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* count = Input(context, node, 1);
  const int64_t k = std::max<int64_t>(IntegerAt(count, 0), 0);
  const int last = Rank(input) - 1;
  if (k > LastDim(input)) {
    return TensorError(context, count, "expected at most %d, found %lld", LastDim(input),
                       static_cast<long long>(k));
  }
  int dims[kMaxRank];
  std::copy_n(input->dims->data, last, dims);
  dims[last] = static_cast<int>(k);
  const std::span<const int> shape(dims, static_cast<size_t>(Rank(input)));
  DEPUTY_TRY(ResizeTo(context, Output(context, node, 0), shape));
  return ResizeTo(context, Output(context, node, 1), shape);
}

TfLiteStatus PrepareTop(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 2));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* count = Input(context, node, 1);
  TfLiteTensor* indices = Output(context, node, 1);
  DEPUTY_TRY(CheckType(context, input, kTopBits));
  DEPUTY_TRY(CheckSameType(context, Output(context, node, 0), input));
  DEPUTY_TRY(CheckType(context, count, kInt32Bit | kInt16Bit));
  DEPUTY_TRY(CheckElementCount(context, count, 1));
  DEPUTY_TRY(CheckType(context, indices, kInt32Bit | kInt16Bit));
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  if (indices->type == kTfLiteInt16 && LastDim(input) > 32768) {
    return TensorError(context, indices, "int16 indices cannot address %d elements",
                       LastDim(input));
  }
  if (IsKnown(count)) return ResizeTop(context, node);
  MakeDynamic(Output(context, node, 0));
  MakeDynamic(indices);
  return kTfLiteOk;
}

// Returns the index of the first of `count` values above the bound, or `count` if there is none.
template <typename T>
int64_t FindAbove(FindLoop<T> find, const T* in, int64_t count, T bound) {
  if (find != nullptr) return find(in, count, bound);
  return std::find_if(in, in + count, [bound](T x) { return x > bound; }) - in;
}

// Writes the k best values of a row, best first. The output row itself is the heap; its front is
// the worst of the best so far.
template <typename T>
void TopOfRow(FindLoop<T> find, const T* row, int64_t size, int64_t k, T* values,
              int32_t* indices) {
  const auto before = [row](int32_t a, int32_t b) {
    return row[a] > row[b] || (!(row[a] < row[b]) && a < b);
  };
  int32_t* end = indices + k;
  for (int64_t i = 0; i < k; ++i) indices[i] = static_cast<int32_t>(i);
  std::make_heap(indices, end, before);
  // A later value replaces the worst of the best values only if it is larger.
  for (int64_t i = k;; ++i) {
    i += FindAbove(find, row + i, size - i, row[*indices]);
    if (i >= size) break;
    std::pop_heap(indices, end, before);
    end[-1] = static_cast<int32_t>(i);
    std::push_heap(indices, end, before);
  }
  std::sort_heap(indices, end, before);
  for (int64_t i = 0; i < k; ++i) values[i] = row[indices[i]];
}

TfLiteStatus EvalTop(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* values = Output(context, node, 0);
  TfLiteTensor* indices = Output(context, node, 1);
  if (IsDynamic(values)) DEPUTY_TRY(ResizeTop(context, node));
  const int64_t size = LastDim(input), k = LastDim(values), count = ElementCount(values);
  if (k == 0) return kTfLiteOk;
  // int16 indices are rare, so they are computed as int32 and converted.
  const bool is_short = indices->type == kTfLiteInt16;
  std::vector<int32_t> wide;
  if (is_short) {
    DEPUTY_TRY(CheckContainerSize(context, indices, count, sizeof(int32_t), "indices"));
    wide.resize(static_cast<size_t>(count));
  }
  int32_t* const best_indices = is_short ? wide.data() : Data<int32_t>(indices);
  DEPUTY_TRY(DispatchType<kTopBits>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto find = CpuOf(context).vector.find_above.of<T>();
    ParallelRanges(context, count / k, kElementsPerTask / size + 1,
                   [&](int64_t first, int64_t last) {
                     for (int64_t r = first; r < last; ++r) {
                       TopOfRow(find, Data<T>(input) + r * size, size, k, Data<T>(values) + r * k,
                                best_indices + r * k);
                     }
                   });
    return kTfLiteOk;
  }));
  if (is_short) std::copy_n(best_indices, count, Data<int16_t>(indices));
  return kTfLiteOk;
}

// ---- WHERE ------------------------------------------------------------------------------------

constexpr uint32_t kWhereBits =
    kBoolBit | kFloat32Bit | kInt8Bit | kUInt8Bit | kInt32Bit | kUInt32Bit | kInt64Bit;

TfLiteStatus ResizeWhere(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  return DispatchType<kWhereBits>(context, input, [&](auto tag) -> TfLiteStatus {
    using T = typename decltype(tag)::type;
    const T* values = Data<T>(input);
    const int64_t count = ElementCount(input);
    int64_t hits = 0;
    for (int64_t i = 0; i < count; ++i) hits += values[i] != T{0} ? 1 : 0;
    int dims[2] = {0, Rank(input)};
    DEPUTY_TRY(SetExtent(context, Output(context, node, 0), 0, hits, &dims[0]));
    return ResizeTo(context, Output(context, node, 0), dims);
  });
}

TfLiteStatus PrepareWhere(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kWhereBits));
  if (Rank(input) == 0) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  output->type = kTfLiteInt64;
  if (IsReadableConstant(input)) return ResizeWhere(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Writes the coordinates of every nonzero element, `hits` in all. The position is updated row by
// row. As long as there are at most kFew axes and at least kFew elements left to write, coordinates
// of zero elements are written, too, and then overwritten, so that no branch depends on the values.
template <typename T>
void WriteCoordinates(const T* values, std::span<const int> dims, int64_t hits, int64_t* out) {
  constexpr size_t kFew = 4;  // number of coordinates written at once while there is space
  const size_t rank = dims.size();
  const int64_t enough = rank <= kFew ? kFew : std::numeric_limits<int64_t>::max();
  const int row = dims[rank - 1];
  const int64_t rows = row == 0 ? 0 : ElementCount(dims) / row;
  int64_t position[kMaxRank] = {};
  for (int64_t r = 0; r < rows; ++r, values += row) {
    for (int i = 0; i < row; ++i) {
      const auto hit = static_cast<int64_t>(values[i] != T{0});
      if (hits >= enough) {
        std::memcpy(out, position, kFew * sizeof(int64_t));
        out[rank - 1] = i;
        out += -hit & static_cast<int64_t>(rank);
      } else if (hit != 0) {
        out = std::copy_n(position, rank - 1, out);
        *out++ = i;
      }
      hits -= hit;
    }
    for (size_t axis = rank - 1; axis-- > 0;) {
      if (++position[axis] < dims[axis]) break;
      position[axis] = 0;
    }
  }
}

TfLiteStatus EvalWhere(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeWhere(context, node));
  return DispatchType<kWhereBits>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    WriteCoordinates(Data<T>(input), Dims(input), Dim(output, 0), Data<int64_t>(output));
    return kTfLiteOk;
  });
}

// ---- UNIQUE -----------------------------------------------------------------------------------

constexpr uint32_t kUniqueBits =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;

bool FillUnique(const OpOptions& options, TfLiteUniqueParams* params) {
  const TfLiteType type = options.Type(0, kTfLiteInt32);
  params->index_out_type = type == kTfLiteInt64 ? kTfLiteInt64 : kTfLiteInt32;
  return true;
}

TfLiteStatus PrepareUnique(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 2));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* values = Output(context, node, 0);
  TfLiteTensor* positions = Output(context, node, 1);
  const TfLiteType type = ParamsOf<TfLiteUniqueParams>(node).index_out_type;
  DEPUTY_TRY(CheckType(context, input, kUniqueBits));
  DEPUTY_TRY(CheckRank(context, input, 1));
  DEPUTY_TRY(CheckSameType(context, values, input));
  if (type != kTfLiteInt32 && type != kTfLiteInt64) {
    return TensorError(context, positions, "expected the option idx_out_type INT32 or INT64");
  }
  DEPUTY_TRY(CheckType(context, positions, TypeBit(type)));
  MakeDynamic(values);
  return ResizeLike(context, positions, input);
}

// Returns a key that is the same for equal numbers, and for no others.
template <typename T>
int64_t KeyOf(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return std::numeric_limits<int64_t>::max();
    return x == T{0} ? 0 : std::bit_cast<int32_t>(x);
  } else {
    return static_cast<int64_t>(x);
  }
}

TfLiteStatus EvalUnique(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor *values = Output(context, node, 0), *positions = Output(context, node, 1);
  const int64_t count = ElementCount(input);
  DEPUTY_TRY(CheckContainerSize(context, input, count, 8 * sizeof(int64_t), "positions"));
  std::vector<int64_t> keys(static_cast<size_t>(count));
  DEPUTY_TRY(DispatchType<kUniqueBits>(context, input, [&](auto tag) {
    const auto* in = Data<typename decltype(tag)::type>(input);
    for (int64_t i = 0; i < count; ++i) keys[static_cast<size_t>(i)] = KeyOf(in[i]);
    return kTfLiteOk;
  }));
  const bool wide = positions->type == kTfLiteInt64;
  std::vector<int32_t> numbers(wide ? keys.size() : 0), firsts;
  NumberDistinct(keys, wide ? numbers.data() : Data<int32_t>(positions), &firsts);
  if (wide) std::copy(numbers.begin(), numbers.end(), Data<int64_t>(positions));
  const auto found = static_cast<int>(firsts.size());
  DEPUTY_TRY(ResizeTo(context, values, {&found, 1}));
  return DispatchType<kUniqueBits>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = Data<T>(values);
    for (const int32_t first : firsts) *out++ = Data<T>(input)[first];
    return kTfLiteOk;
  });
}

// ---- BUCKETIZE --------------------------------------------------------------------------------

constexpr uint32_t kBucketizeBits = kFloat32Bit | kInt32Bit | kInt64Bit | TypeBit(kTfLiteFloat64);

bool FillBucketize(const OpOptions& options, TfLiteBucketizeParams* params) {
  const std::span<const float> boundaries = options.Floats(0);
  params->boundaries = boundaries.data();
  params->num_boundaries = static_cast<int>(boundaries.size());
  return !boundaries.empty();
}

std::span<const float> Boundaries(const TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteBucketizeParams>(node);
  return {params.boundaries, static_cast<size_t>(params.num_boundaries)};
}

TfLiteStatus PrepareBucketize(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const std::span<const float> boundaries = Boundaries(node);
  DEPUTY_TRY(CheckType(context, input, kBucketizeBits));
  if (!std::is_sorted(boundaries.begin(), boundaries.end())) {
    return KernelError(context, "boundaries: expected ascending values");
  }
  Output(context, node, 0)->type = kTfLiteInt32;
  return ResizeLike(context, Output(context, node, 0), input);
}

TfLiteStatus EvalBucketize(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const std::span<const float> boundaries = Boundaries(node);
  int32_t* out = Data<int32_t>(Output(context, node, 0));
  return DispatchType<kBucketizeBits>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Compared = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const int64_t count = ElementCount(input);
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<Compared>(Data<T>(input)[i]);
      const auto bucket = std::upper_bound(boundaries.begin(), boundaries.end(), value);
      out[i] = static_cast<int32_t>(bucket - boundaries.begin());
    }
    return kTfLiteOk;
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<40, TfLiteArgMaxParams, &FillArg<TfLiteArgMaxParams>>(
        KernelRow<void>("ARG_MAX", kTfLiteBuiltinArgMax, 3, kArgBits,
                        &Guarded<&PrepareArg<TfLiteArgMaxParams>>, &Guarded<&EvalArg<Greater>>)),
    WithOptions<57, TfLiteArgMinParams, &FillArg<TfLiteArgMinParams>>(
        KernelRow<void>("ARG_MIN", kTfLiteBuiltinArgMin, 3, kArgBits,
                        &Guarded<&PrepareArg<TfLiteArgMinParams>>, &Guarded<&EvalArg<Less>>)),
    KernelRow<void>("TOPK_V2", kTfLiteBuiltinTopkV2, 3, kTopBits,
                    &Guarded<&PrepareMove<RescaleOutputs(), &PrepareTop>>,
                    &Guarded<&EvalMove<RescaleOutputs(), &EvalTop>>),
    KernelRow<void>("WHERE", kTfLiteBuiltinWhere, 2, kWhereBits, &Guarded<&PrepareWhere>,
                    &Guarded<&EvalWhere>),
    WithOptions<80, TfLiteUniqueParams, &FillUnique>(
        KernelRow<void>("UNIQUE", kTfLiteBuiltinUnique, 1, kUniqueBits,
                        &Guarded<&PrepareMove<RescaleOutputs(), &PrepareUnique>>,
                        &Guarded<&EvalMove<RescaleOutputs(), &EvalUnique>>)),
    WithRefusal(WithOptions<115, TfLiteBucketizeParams, &FillBucketize>(
                    KernelRow<void>("BUCKETIZE", kTfLiteBuiltinBucketize, 1, kBucketizeBits,
                                    &Guarded<&PrepareBucketize>, &Guarded<&EvalBucketize>)),
                &RefusedBucketize),
};

}  // namespace

constexpr std::span<const OpDef> kSearchOps = kTable;

}  // namespace deputy
