// SPDX-License-Identifier: Apache-2.0
//
// FILL, ZEROS_LIKE, RANGE, ONE_HOT and SPARSE_TO_DENSE: outputs computed from few numbers, with
// shapes given by the contents of inputs (ZEROS_LIKE: by the input's shape); if these are known
// only at run time, the outputs are dynamic. MATRIX_DIAG and MATRIX_SET_DIAG, which put a diagonal
// into zeros or into a matrix.
//
// RANGE accumulates its step, as upstream does, instead of multiplying: the last bits of long float
// ranges are those of the sums. SPARSE_TO_DENSE checks its indices whatever validate_indices says,
// as upstream does.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

constexpr uint32_t kZerosLikeTypes = kFloat32Bit | kInt32Bit | kInt64Bit;
constexpr uint32_t kRangeTypes = kFloat32Bit | kInt32Bit | kInt64Bit;
constexpr uint32_t kOneHotTypes =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt32Bit | kInt64Bit | kBoolBit;

// ---- Parameters -------------------------------------------------------------------------------

bool FillOneHot(const OpOptions& options, TfLiteOneHotParams* params) {
  params->axis = options.Int(0);
  return true;
}

bool FillSparseToDense(const OpOptions& options, TfLiteSparseToDenseParams* params) {
  params->validate_indices = options.Bool(0);
  return true;
}

// ---- FILL -------------------------------------------------------------------------------------

TfLiteStatus ResizeFill(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* shape = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const int rank = Dim(shape, 0);
  if (rank > kMaxRank) {
    return TensorError(context, shape, "expected at most %d elements, found %d", kMaxRank, rank);
  }
  int dims[kMaxRank];
  for (int i = 0; i < rank; ++i) {
    DEPUTY_TRY(SetExtent(context, output, i, IntegerAt(shape, i), &dims[i]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PrepareFill(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* shape = Input(context, node, 0);
  const TfLiteTensor* value = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, shape, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckRank(context, shape, 1));
  DEPUTY_TRY(CheckType(context, value, kMovedBits));
  DEPUTY_TRY(CheckRank(context, value, 0));
  output->type = value->type;
  if (!NeedsRescaling(context, value, output)) {
    DEPUTY_TRY(CheckSameQuantization(context, output, value));
  }
  DEPUTY_TRY(CheckSymmetric(context, value));
  if (value->type != kTfLiteString && IsKnown(shape)) return ResizeFill(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Writes the value `count` times. Long outputs are copied from their beginning, because memcpy uses
// wider vectors than the loops of this file.
template <typename T>
void FillAll(T value, int64_t count, T* out) {
  if (sizeof(T) == 1) return static_cast<void>(std::fill_n(out, count, value));
  constexpr int64_t kChunk = 4096 / static_cast<int64_t>(sizeof(T));
  const int64_t first = std::min(count, kChunk);
  std::fill_n(out, first, value);
  for (int64_t done = first; done < count; done += kChunk) {
    std::copy_n(out, std::min(count - done, kChunk), out + done);
  }
}

TfLiteStatus EvalFill(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeFill(context, node));
  return MoveElements(
      context, Input(context, node, 1), output,
      [output](const auto* in, auto* out) { FillAll(*in, ElementCount(output), out); });
}

// ---- ZEROS_LIKE -------------------------------------------------------------------------------

TfLiteStatus PrepareZerosLike(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kZerosLikeTypes));
  output->type = input->type;
  return ResizeLike(context, output, input);
}

TfLiteStatus EvalZerosLike(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  if (output->bytes > 0) std::memset(output->data.data, 0, output->bytes);
  return kTfLiteOk;
}

// ---- RANGE ------------------------------------------------------------------------------------

// Returns the number of elements from start to limit, excluding limit; negative if there are too
// many.
template <typename T>
int64_t RangeLength(T start, T limit, T step) {
  if constexpr (std::is_floating_point_v<T>) {
    const T length = std::ceil(std::abs((limit - start) / step));
    return length < static_cast<T>(INT32_MAX) ? static_cast<int64_t>(length) : -1;
  } else {
    const auto from = static_cast<uint64_t>(static_cast<int64_t>(start));
    const auto to = static_cast<uint64_t>(static_cast<int64_t>(limit));
    const auto by = static_cast<uint64_t>(static_cast<int64_t>(step));
    const uint64_t distance = step > 0 ? to - from : from - to;
    const uint64_t stride = step > 0 ? by : uint64_t{0} - by;
    const uint64_t length = distance / stride + (distance % stride != 0 ? 1 : 0);
    return length <= INT32_MAX ? static_cast<int64_t>(length) : -1;
  }
}

template <typename T>
TfLiteStatus ResizeRange(TfLiteContext* context, TfLiteNode* node) {
  const T start = *Data<T>(Input(context, node, 0));
  const T limit = *Data<T>(Input(context, node, 1));
  const T step = *Data<T>(Input(context, node, 2));
  TfLiteTensor* output = Output(context, node, 0);
  if (!((start >= limit && step < 0) || (start <= limit && step > 0))) {
    return TensorError(context, Input(context, node, 2), "expected a step from %g to %g, found %g",
                       static_cast<double>(start), static_cast<double>(limit),
                       static_cast<double>(step));
  }
  const int64_t length = RangeLength(start, limit, step);
  if (length < 0) {
    return TensorError(context, output, "it would have more than %d elements", INT32_MAX);
  }
  const int extent = static_cast<int>(length);
  return ResizeTo(context, output, {&extent, 1});
}

template <typename T>
void FillRange(T value, T step, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = value;
    if constexpr (std::is_floating_point_v<T>) {
      value += step;
    } else {  // unsigned, because the value after the last one may overflow
      value = static_cast<T>(static_cast<uint64_t>(value) + static_cast<uint64_t>(step));
    }
  }
}

TfLiteStatus PrepareRange(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* start = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, start, kRangeTypes));
  bool known = true;
  for (int i = 0; i < 3; ++i) {
    const TfLiteTensor* input = Input(context, node, i);
    DEPUTY_TRY(CheckSameType(context, input, start));
    DEPUTY_TRY(CheckRank(context, input, 0));
    known = known && IsKnown(input);
  }
  output->type = start->type;
  if (!known) {
    MakeDynamic(output);
    return kTfLiteOk;
  }
  return DispatchType<kRangeTypes>(context, start, [&](auto tag) {
    return ResizeRange<typename decltype(tag)::type>(context, node);
  });
}

TfLiteStatus EvalRange(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  return DispatchType<kRangeTypes>(context, output, [&](auto tag) -> TfLiteStatus {
    using T = typename decltype(tag)::type;
    if (IsDynamic(output)) DEPUTY_TRY(ResizeRange<T>(context, node));
    FillRange(*Data<T>(Input(context, node, 0)), *Data<T>(Input(context, node, 2)),
              ElementCount(output), Data<T>(output));
    return kTfLiteOk;
  });
}

// ---- ONE_HOT ----------------------------------------------------------------------------------

// Returns the position of the new dimension; the option -1 means the last position.
TfLiteStatus OneHotAxis(TfLiteContext* context, const TfLiteNode* node, int* out_axis) {
  const int axis = ParamsOf<TfLiteOneHotParams>(node).axis;
  const TfLiteTensor* indices = Input(context, node, 0);
  if (axis < -1 || axis > Rank(indices)) {
    return TensorError(context, indices, "expected an axis of -1 to %d, found %d", Rank(indices),
                       axis);
  }
  *out_axis = axis == -1 ? Rank(indices) : axis;
  return kTfLiteOk;
}

TfLiteStatus ResizeOneHot(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* indices = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  int dims[kMaxRank];
  int axis = 0;
  DEPUTY_TRY(OneHotAxis(context, node, &axis));
  const int rank = Rank(indices) + 1;
  for (int i = 0; i < rank; ++i) {
    if (i != axis) dims[i] = Dim(indices, i < axis ? i : i - 1);
  }
  DEPUTY_TRY(SetExtent(context, output, axis, IntegerAt(Input(context, node, 1), 0), &dims[axis]));
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PrepareOneHot(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 4, 4, 1));
  const TfLiteTensor* indices = Input(context, node, 0);
  const TfLiteTensor* depth = Input(context, node, 1);
  const TfLiteTensor* on = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, indices, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckType(context, depth, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckType(context, on, kOneHotTypes));
  DEPUTY_TRY(CheckSameType(context, Input(context, node, 3), on));
  for (int i = 1; i < 4; ++i) DEPUTY_TRY(CheckElementCount(context, Input(context, node, i), 1));
  if (Rank(indices) >= kMaxRank) {
    return TensorError(context, indices, "expected at most %d dimensions, found %d", kMaxRank - 1,
                       Rank(indices));
  }
  int axis = 0;
  DEPUTY_TRY(OneHotAxis(context, node, &axis));
  output->type = on->type;
  if (IsKnown(depth)) return ResizeOneHot(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Writes `on` to the elements that the indices select; indices outside [0, depth) select none.
template <typename T>
void PlaceOnes(const TfLiteTensor* indices, const AxisSplit& split, T on, T* out) {
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t inner = 0; inner < split.inner; ++inner) {
      const int64_t index = IntegerAt(indices, outer * split.inner + inner);
      if (index < 0 || index >= split.extent) continue;
      out[(outer * split.extent + index) * split.inner + inner] = on;
    }
  }
}

TfLiteStatus EvalOneHot(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeOneHot(context, node));
  int axis = 0;
  DEPUTY_TRY(OneHotAxis(context, node, &axis));
  const AxisSplit split = SplitAt(Dims(output), axis);
  const TfLiteTensor* off = Input(context, node, 3);
  return MoveElements(context, Input(context, node, 2), output, [&](const auto* on, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    std::fill_n(out, ElementCount(output), *Data<T>(off));
    PlaceOnes(Input(context, node, 0), split, *on, out);
  });
}

// ---- MATRIX_DIAG and MATRIX_SET_DIAG ----------------------------------------------------------

constexpr uint32_t kDiagonalTypes =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit | kUInt32Bit;

TfLiteStatus PrepareMatrixDiag(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kDiagonalTypes));
  const int rank = Rank(input);
  if (rank < 1 || rank >= kMaxRank) {
    return TensorError(context, input, "expected 1 to %d dimensions, found %d", kMaxRank - 1, rank);
  }
  output->type = input->type;
  int dims[kMaxRank];
  std::copy_n(Dims(input).data(), rank, dims);
  dims[rank] = dims[rank - 1];
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank) + 1});
}

TfLiteStatus PrepareMatrixSetDiag(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* diagonal = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kDiagonalTypes));
  DEPUTY_TRY(CheckSameType(context, diagonal, input));
  const int rank = Rank(input);
  if (rank < 2) return TensorError(context, input, "expected 2 dimensions or more, found %d", rank);
  DEPUTY_TRY(CheckRank(context, diagonal, rank - 1));
  for (int d = 0; d < rank - 2; ++d) DEPUTY_TRY(CheckDim(context, diagonal, d, Dim(input, d)));
  const int length = std::min(Dim(input, rank - 2), Dim(input, rank - 1));
  DEPUTY_TRY(CheckDim(context, diagonal, rank - 2, length));
  output->type = input->type;
  return ResizeLike(context, output, input);
}

// Copies consecutive diagonals into the matrices of `output`.
template <typename T>
void PlaceDiagonals(const T* diagonals, const TfLiteTensor* output, T* out) {
  const std::span<const int> dims = Dims(output);
  const size_t rank = dims.size();
  if (rank < 2) return;  // Excluded by Prepare; without this line g++ 14 warns of negative indices.
  const int64_t rows = dims[rank - 2], columns = dims[rank - 1];
  const int64_t matrices = ElementCount(dims.first(rank - 2));
  for (int64_t m = 0; m < matrices; ++m, out += rows * columns) {
    for (int64_t i = 0; i < std::min(rows, columns); ++i) out[i * columns + i] = *diagonals++;
  }
}

TfLiteStatus EvalMatrixDiag(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  return MoveElements(context, Input(context, node, 0), output, [&](const auto* in, auto* out) {
    std::memset(output->data.data, 0, output->bytes);
    PlaceDiagonals(in, output, out);
  });
}

TfLiteStatus EvalMatrixSetDiag(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  return MoveElements(context, Input(context, node, 0), output, [&](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    std::copy_n(in, ElementCount(output), out);
    PlaceDiagonals(Data<T>(static_cast<const TfLiteTensor*>(Input(context, node, 1))), output, out);
  });
}

// ---- SPARSE_TO_DENSE --------------------------------------------------------------------------

constexpr uint32_t kSparseTypes = kFloat32Bit | kInt8Bit | kUInt8Bit | kInt32Bit | kInt64Bit;
// Maximum rank of the output, that of upstream's kernel.
constexpr int kMaxSparseRank = 4;

TfLiteStatus ResizeDense(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* shape = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  int dims[kMaxSparseRank];
  for (int i = 0; i < Dim(shape, 0); ++i) {
    DEPUTY_TRY(SetExtent(context, output, i, IntegerAt(shape, i), &dims[i]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(Dim(shape, 0))});
}

// Returns the number of index tuples; each has as many components as the output has dimensions.
int64_t IndexCount(const TfLiteTensor* indices) {
  return Rank(indices) < 2 ? ElementCount(indices) : Dim(indices, 0);
}

TfLiteStatus CheckSparse(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* indices = Input(context, node, 0);
  const TfLiteTensor* shape = Input(context, node, 1);
  const TfLiteTensor* values = Input(context, node, 2);
  DEPUTY_TRY(CheckType(context, indices, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckType(context, shape, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckType(context, values, kSparseTypes));
  DEPUTY_TRY(CheckRank(context, shape, 1));
  if (Rank(indices) > 2) DEPUTY_TRY(CheckRank(context, indices, 2));
  if (Rank(values) > 1) DEPUTY_TRY(CheckRank(context, values, 1));
  DEPUTY_TRY(CheckDim(context, shape, 0, Rank(indices) < 2 ? 1 : Dim(indices, 1)));
  if (Dim(shape, 0) > kMaxSparseRank) {
    return TensorError(context, shape, "expected at most %d dimensions, found %d", kMaxSparseRank,
                       Dim(shape, 0));
  }
  return Rank(values) == 0 ? kTfLiteOk : CheckElementCount(context, values, IndexCount(indices));
}

TfLiteStatus PrepareSparseToDense(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 4, 4, 1));
  DEPUTY_TRY(CheckSparse(context, node));
  const TfLiteTensor* values = Input(context, node, 2);
  const TfLiteTensor* otherwise = Input(context, node, 3);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckSameType(context, otherwise, values));
  DEPUTY_TRY(CheckElementCount(context, otherwise, 1));
  output->type = values->type;
  if (IsKnown(Input(context, node, 1))) return ResizeDense(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Computes the output offset of index tuple `i` after checking its range.
TfLiteStatus FindElement(TfLiteContext* context, const TfLiteTensor* indices,
                         const TfLiteTensor* output, int64_t i, int64_t* out_offset) {
  int64_t offset = 0;
  for (int d = 0; d < Rank(output); ++d) {
    const int64_t index = IntegerAt(indices, i * Rank(output) + d);
    if (index < 0 || index >= Dim(output, d)) {
      return TensorError(context, indices, "expected indices from 0 to %d, found %lld",
                         Dim(output, d) - 1, static_cast<long long>(index));
    }
    offset = offset * Dim(output, d) + index;
  }
  *out_offset = offset;
  return kTfLiteOk;
}

TfLiteStatus EvalSparseToDense(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* indices = Input(context, node, 0);
  const TfLiteTensor* values = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeDense(context, node));
  return DispatchType<kSparseTypes>(context, values, [&](auto tag) -> TfLiteStatus {
    using T = typename decltype(tag)::type;
    T* out = Data<T>(output);
    std::fill_n(out, ElementCount(output), *Data<T>(Input(context, node, 3)));
    const int64_t count = IndexCount(indices);
    for (int64_t i = 0; i < count; ++i) {
      int64_t offset = 0;
      DEPUTY_TRY(FindElement(context, indices, output, i, &offset));
      out[offset] = Data<T>(values)[Rank(values) == 0 ? 0 : i];
    }
    return kTfLiteOk;
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "FILL",
     .code = kTfLiteBuiltinFill,
     .min_version = 1,
     .max_version = 5,
     .types = kMovedBits,
     .options = {},
     .params_size = 0,
     .parse = nullptr,
     .init = nullptr,
     .free = nullptr,
     .prepare = kFoldingPrepare<&PrepareMove<RescaleInputs(2), &PrepareFill>,
                                &EvalMove<RescaleInputs(2), &EvalFill>>,
     .invoke = kFoldedInvoke<&EvalMove<RescaleInputs(2), &EvalFill>>,
     .inplace = kTfLiteInplaceOpNone},
    {.name = "ZEROS_LIKE",
     .code = kTfLiteBuiltinZerosLike,
     .min_version = 1,
     .max_version = 1,
     .types = kZerosLikeTypes,
     .options = {},
     .params_size = 0,
     .parse = nullptr,
     .init = nullptr,
     .free = nullptr,
     .prepare = kFoldingPrepare<&PrepareZerosLike, &EvalZerosLike>,
     .invoke = kFoldedInvoke<&EvalZerosLike>,
     .inplace = kTfLiteInplaceOpNone},
    {.name = "RANGE",
     .code = kTfLiteBuiltinRange,
     .min_version = 1,
     .max_version = 2,
     .types = kRangeTypes,
     .options = {},
     .params_size = 0,
     .parse = nullptr,
     .init = nullptr,
     .free = nullptr,
     .prepare = kFoldingPrepare<&PrepareRange, &EvalRange>,
     .invoke = kFoldedInvoke<&EvalRange>,
     .inplace = kTfLiteInplaceOpNone},
    {.name = "ONE_HOT",
     .code = kTfLiteBuiltinOneHot,
     .min_version = 1,
     .max_version = 1,
     .types = kOneHotTypes,
     .options = {1, 61},
     .params_size = sizeof(TfLiteOneHotParams),
     .parse = &ParseOptions<61, TfLiteOneHotParams, &FillOneHot>,
     .init = nullptr,
     .free = nullptr,
     .prepare = kFoldingPrepare<&PrepareMove<RescaleInputs(12), &PrepareOneHot>,
                                &EvalMove<RescaleInputs(12), &EvalOneHot>>,
     .invoke = kFoldedInvoke<&EvalMove<RescaleInputs(12), &EvalOneHot>>,
     .inplace = kTfLiteInplaceOpNone},
    KernelRow<void>("MATRIX_DIAG", kTfLiteBuiltinMatrixDiag, 1, kDiagonalTypes,
                    &Guarded<&PrepareMove<RescaleInputs(1), &PrepareMatrixDiag>>,
                    &Guarded<&EvalMove<RescaleInputs(1), &EvalMatrixDiag>>),
    KernelRow<void>("MATRIX_SET_DIAG", kTfLiteBuiltinMatrixSetDiag, 1, kDiagonalTypes,
                    &Guarded<&PrepareMove<RescaleInputs(3), &PrepareMatrixSetDiag>>,
                    &Guarded<&EvalMove<RescaleInputs(3), &EvalMatrixSetDiag>>),
    WithOptions<50, TfLiteSparseToDenseParams, &FillSparseToDense>(
        KernelRow<void>("SPARSE_TO_DENSE", kTfLiteBuiltinSparseToDense, 3, kSparseTypes,
                        &Guarded<&PrepareMove<RescaleInputs(12), &PrepareSparseToDense>>,
                        &Guarded<&EvalMove<RescaleInputs(12), &EvalSparseToDense>>)),
};

}  // namespace

constexpr std::span<const OpDef> kFillOps = kTable;

}  // namespace deputy
