// SPDX-License-Identifier: Apache-2.0
//
// StableHLO operators that TensorFlow Lite computes, except those in other files: control.cc has
// the operators that call subgraphs, window.cc STABLEHLO_REDUCE_WINDOW, random.cc
// STABLEHLO_RNG_BIT_GENERATOR. Operators that TensorFlow Lite does not compute are listed here,
// too, for a client's kernel or a delegate. Lists longer than the struct's arrays are rejected, and
// so are operators without options that upstream requires.
#include <algorithm>
#include <bit>
#include <iterator>

#include "kernels/common/element_type.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/padded_copy.h"
#include "kernels/common/refused_options.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/strided_copy.h"

namespace deputy {
namespace {

// ---- Lists ------------------------------------------------------------------------------------

// Copies a list of the options into an array of the params; returns false if it is too long.
template <typename T, size_t size>
bool CopyList(std::span<const T> list, T (&array)[size]) {
  if (list.size() > size) return false;
  std::ranges::copy(list, array);
  return true;
}

template <size_t size>
bool CopyLongs(const OpOptions& options, int field, int64_t (&array)[size]) {
  return CopyList<int64_t>(options.Longs(field), array);
}

// Copies a list of longs into an array and sets `out_count` to its length; returns false if it is
// too long.
template <size_t size>
bool CopyLongs(const OpOptions& options, int field, int64_t (&array)[size], int* out_count) {
  *out_count = static_cast<int>(options.Longs(field).size());
  return CopyLongs(options, field, array);
}

// ---- Parameters -------------------------------------------------------------------------------

// OpDef::parse of operators whose options are in the second union. If `needed`, missing options are
// an error.
template <uint8_t member, typename Params, bool (*fill)(const OpOptions&, Params*), bool needed>
bool Parse(const OpOptions& options, void* params) {
  if (!options.As({2, member}).present()) return !needed;
  return fill(options, static_cast<Params*>(params));
}

bool FillScatter(const OpOptions& options, TfLiteStablehloScatterParams* params) {
  params->indices_are_sorted = options.Bool(0);
  params->index_vector_dim = options.Long(4);
  params->unique_indices = options.Bool(5);
  params->update_computation_subgraph_index = options.Int(6);
  return CopyLongs(options, 1, params->update_window_dims, &params->num_update_window_dims) &&
         CopyLongs(options, 2, params->inserted_window_dims, &params->num_inserted_window_dims) &&
         CopyLongs(options, 3, params->scatter_dims_to_operand_dims,
                   &params->num_scatter_dims_to_operand_dims);
}

bool FillGather(const OpOptions& options, TfLiteStablehloGatherParams* params) {
  params->index_vector_dim = options.Long(3);
  params->indices_are_sorted = options.Bool(5);
  return CopyLongs(options, 0, params->offset_dims, &params->num_offset_dims) &&
         CopyLongs(options, 1, params->collapsed_slice_dims, &params->num_collapsed_slice_dims) &&
         CopyLongs(options, 2, params->start_index_map, &params->num_start_index_map) &&
         CopyLongs(options, 4, params->slice_sizes, &params->num_slice_sizes);
}

bool FillPad(const OpOptions& options, TfLiteStablehloPadParams* params) {
  const size_t rank = options.Longs(0).size();
  return rank > 0 && options.Longs(1).size() == rank && options.Longs(2).size() == rank &&
         CopyLongs(options, 0, params->edge_padding_low) &&
         CopyLongs(options, 1, params->edge_padding_high) &&
         CopyLongs(options, 2, params->interior_padding);
}

// ---- Elements of two inputs -------------------------------------------------------------------

// Combination of an element with the one it replaces in STABLEHLO_SCATTER; the first four are also
// separate operators.
enum class Combination { kSum, kProduct, kMaximum, kMinimum, kReplacement };

// Combines two elements. Integers wrap; the maximum and minimum of unordered values are the first.
template <Combination combination, typename T>
T Combine(T a, T b) {
  if constexpr (combination == Combination::kReplacement) {
    return b;
  } else if constexpr (combination == Combination::kMaximum) {
    return a < b ? b : a;
  } else if constexpr (combination == Combination::kMinimum) {
    return b < a ? b : a;
  } else if constexpr (std::is_integral_v<T>) {
    const auto left = static_cast<uint64_t>(a), right = static_cast<uint64_t>(b);
    return static_cast<T>(combination == Combination::kSum ? left + right : left * right);
  } else {
    return T(combination == Combination::kSum ? a + b : a * b);
  }
}

// Combines two bools: sum and maximum are "or", product and minimum "and". Clients may write any
// byte.
template <Combination combination>
uint8_t CombineBools(uint8_t a, uint8_t b) {
  return Combine<combination, bool>(a != 0, b != 0) ? 1 : 0;
}

// Returns true if signed and unsigned integers are combined in the same way.
constexpr bool IgnoresSign(Combination combination) {
  return combination != Combination::kMaximum && combination != Combination::kMinimum;
}

// Type whose loop is used for elements of type T: unsigned integers if the sign does not matter.
template <bool ignores_sign, typename T, bool = std::is_integral_v<T>>
struct LoopType {
  using type = T;
};
template <typename T>
struct LoopType<true, T, true> {
  using type = std::make_unsigned_t<T>;
};

constexpr uint32_t kNumbers = kFloat32Bit | kFloat16Bit | TypeBit(kTfLiteFloat64) | kInt8Bit |
                              kUInt8Bit | kInt16Bit | TypeBit(kTfLiteUInt16) | kInt32Bit |
                              kUInt32Bit | kInt64Bit | TypeBit(kTfLiteUInt64);
constexpr uint32_t kCombinedTypes = kNumbers | kBoolBit;
constexpr uint32_t kAndTypes = kInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit | kUInt8Bit |
                               TypeBit(kTfLiteUInt16) | kUInt32Bit | TypeBit(kTfLiteUInt64) |
                               kBoolBit;
constexpr uint32_t kShiftTypes = kInt8Bit | kInt16Bit | kInt32Bit;

template <uint32_t types>
TfLiteStatus PrepareElements(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, a, types));
  DEPUTY_TRY(CheckSameType(context, b, a));
  DEPUTY_TRY(CheckSameType(context, output, a));
  if (TfLiteIntArrayEqual(a->dims, b->dims) == 0) {
    return TensorError(context, b, "expected the shape of the other input");
  }
  return ResizeLike(context, output, a);
}

template <typename T, typename Function>
void MapTyped(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  const T* left = Data<T>(Input(context, node, 0));
  const T* right = Data<T>(Input(context, node, 1));
  TfLiteTensor* output = Output(context, node, 0);
  T* out = Data<T>(output);
  ParallelRanges(context, ElementCount(output), kElementsPerTask, [&](int64_t first, int64_t last) {
    const T *a = left + first, *b = right + first;
    T* const to = out + first;
    for (int64_t i = 0; i < last - first; ++i) to[i] = function(a[i], b[i]);
  });
}

// Computes out = function(a, b) for every element, on all threads.
template <uint32_t types, bool ignores_sign, typename Function>
TfLiteStatus MapPairs(TfLiteContext* context, TfLiteNode* node, const Function& function) {
  return DispatchType<types>(context, Input(context, node, 0), [&](auto tag) {
    using T = typename LoopType<ignores_sign, typename decltype(tag)::type>::type;
    MapTyped<T>(context, node, function);
    return kTfLiteOk;
  });
}

template <Combination combination>
TfLiteStatus EvalElements(TfLiteContext* context, TfLiteNode* node) {
  if (Output(context, node, 0)->type == kTfLiteBool) {
    MapTyped<uint8_t>(context, node, &CombineBools<combination>);
    return kTfLiteOk;
  }
  return MapPairs<kNumbers, IgnoresSign(combination)>(
      context, node, [](auto a, auto b) { return Combine<combination>(a, b); });
}

TfLiteStatus EvalAnd(TfLiteContext* context, TfLiteNode* node) {
  return MapPairs<kAndTypes, true>(context, node,
                                   [](auto a, auto b) { return static_cast<decltype(a)>(a & b); });
}

// Computes STABLEHLO_SHIFT_LEFT. Shifts by at least the number of bits give 0, as StableHLO
// requires; they are undefined in upstream.
TfLiteStatus EvalShiftLeft(TfLiteContext* context, TfLiteNode* node) {
  return MapPairs<kShiftTypes, false>(context, node, [](auto value, auto bits) {
    using T = decltype(value);
    const bool all = bits < 0 || bits >= static_cast<T>(8 * sizeof(T));
    return static_cast<T>(all ? 0 : static_cast<uint32_t>(value) << bits);
  });
}

// ---- STABLEHLO_PAD ----------------------------------------------------------------------------

constexpr uint32_t kMovedTypes = kNumbers | kBoolBit | kBFloat16Bit | TypeBit(kTfLiteComplex64);

TfLiteStatus PlanPad(TfLiteContext* context, TfLiteNode* node, PaddedAxis (&axes)[kMaxRank]) {
  const auto& params = ParamsOf<TfLiteStablehloPadParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  for (int i = 0; i < Rank(input); ++i) {
    const int64_t low = params.edge_padding_low[i], high = params.edge_padding_high[i];
    const int64_t between = params.interior_padding[i];
    if (PadAxis(Dim(input, i), low, high, between, &axes[i])) continue;
    return TensorError(context, input, "dimension %d cannot be padded by %lld, %lld and %lld", i,
                       static_cast<long long>(low), static_cast<long long>(high),
                       static_cast<long long>(between));
  }
  return kTfLiteOk;
}

// Prepares STABLEHLO_PAD. If any extent would be negative or 0, all are 0, as in TensorFlow Lite.
TfLiteStatus PreparePad(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* value = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kMovedTypes));
  DEPUTY_TRY(CheckSameType(context, value, input));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckElementCount(context, value, 1));
  const int rank = Rank(input);
  if (rank == 0 || rank > TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT) {
    return TensorError(context, input, "expected 1 to %d dimensions, found %d",
                       TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT, rank);
  }
  PaddedAxis axes[kMaxRank];
  DEPUTY_TRY(PlanPad(context, node, axes));
  int dims[kMaxRank] = {};
  if (std::all_of(axes, axes + rank, [](const PaddedAxis& a) { return a.extent > 0; })) {
    for (int i = 0; i < rank; ++i) dims[i] = static_cast<int>(axes[i].extent);
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus EvalPad(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  PaddedAxis axes[kMaxRank];
  DEPUTY_TRY(PlanPad(context, node, axes));
  if (ElementCount(output) == 0) return kTfLiteOk;
  const PaddedCopy copy(Dims(input), Dims(output), axes);
  return MoveElements(context, input, output, [&](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    std::fill_n(out, ElementCount(output), *Data<T>(Input(context, node, 1)));
    copy.Run(in, out);
  });
}

// ---- Windows at indices -----------------------------------------------------------------------

// Checks that axes are below `rank` and distinct, and returns them as a set.
TfLiteStatus CheckAxes(TfLiteContext* context, std::span<const int64_t> axes, int rank,
                       const char* what, uint32_t* out_set) {
  *out_set = 0;
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= rank || (*out_set >> axis & 1) != 0) {
      return KernelError(context, "%s: expected different axes of %d, found %lld", what, rank,
                         static_cast<long long>(axis));
    }
    *out_set |= uint32_t{1} << axis;
  }
  return kTfLiteOk;
}

bool Has(uint32_t set, int axis) { return (set >> axis & 1) != 0; }

// Mapping of a tensor of windows: each of its axes is an axis of a window or of the indices.
struct Windows {
  int operand_axis[kMaxRank];    // operand axis of each axis that belongs to windows; else -1
  int64_t index_step[kMaxRank];  // stride in the indices of each axis of the indices; else 0
  int index_size = 0;            // number of components of an index
  int64_t component_step = 0;
  std::span<const int64_t> component_axis;  // operand axis of each component of an index
};

// Checks the tensor of indices, one axis of which has the components of an index, and sets the
// members that describe these components.
TfLiteStatus PlanIndices(TfLiteContext* context, const TfLiteTensor* indices, int64_t vector_axis,
                         std::span<const int64_t> component_axis, int operand_rank,
                         Windows* windows) {
  DEPUTY_TRY(CheckType(context, indices, kInt32Bit | kInt64Bit));
  if (vector_axis < 0 || vector_axis >= Rank(indices)) {
    return TensorError(context, indices, "expected more than %lld dimensions, found %d",
                       static_cast<long long>(vector_axis), Rank(indices));
  }
  const int axis = static_cast<int>(vector_axis);
  uint32_t set;
  DEPUTY_TRY(CheckAxes(context, component_axis, operand_rank, "components of an index", &set));
  DEPUTY_TRY(CheckDim(context, indices, axis, static_cast<int>(component_axis.size())));
  windows->index_size = Dim(indices, axis);
  windows->component_step = DenseSteps(Dims(indices))[axis];
  windows->component_axis = component_axis;
  return kTfLiteOk;
}

// Maps the axes of a tensor of windows. The axes in `window_axes` are the operand's axes that are
// not in `fixed`, in order; all other axes are those of the indices without the axis of components.
TfLiteStatus PlanAxes(TfLiteContext* context, int rank, uint32_t window_axes, int operand_rank,
                      uint32_t fixed, const TfLiteTensor* indices, int vector_axis,
                      Windows* windows) {
  const int window_rank = std::popcount(window_axes);
  if (window_rank != operand_rank - std::popcount(fixed) ||
      rank - window_rank != Rank(indices) - 1) {
    return KernelError(context, "expected %d axes of windows and %d of indices, found %d and %d",
                       operand_rank - std::popcount(fixed), Rank(indices) - 1, window_rank,
                       rank - window_rank);
  }
  const DenseSteps steps(Dims(indices));
  int operand_axis = 0, index_axis = 0;
  for (int i = 0; i < rank; ++i) {
    windows->operand_axis[i] = -1;
    windows->index_step[i] = 0;
    if (Has(window_axes, i)) {
      while (Has(fixed, operand_axis)) ++operand_axis;
      windows->operand_axis[i] = operand_axis++;
    } else {
      if (index_axis == vector_axis) ++index_axis;
      windows->index_step[i] = steps[index_axis++];
    }
  }
  return kTfLiteOk;
}

// Reads the index at `at` in the tensor of indices, as a start position per operand axis.
void ReadIndex(const TfLiteTensor* indices, const Windows& windows, int64_t at,
               int64_t (&start)[kMaxRank]) {
  std::fill(std::begin(start), std::end(start), 0);
  for (int i = 0; i < windows.index_size; ++i, at += windows.component_step) {
    start[windows.component_axis[static_cast<size_t>(i)]] = IntegerAt(indices, at);
  }
}

// Advances `position` to the next position in row-major order; returns false after the last
// position.
bool Advance(std::span<const int> dims, int64_t (&position)[kMaxRank]) {
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (++position[axis] < dims[axis]) return true;
    position[axis] = 0;
  }
  return false;
}

// ---- STABLEHLO_GATHER -------------------------------------------------------------------------

TfLiteStatus CheckSlices(TfLiteContext* context, const TfLiteTensor* operand,
                         std::span<const int64_t> sizes) {
  if (sizes.size() != static_cast<size_t>(Rank(operand))) {
    return TensorError(context, operand,
                       "expected as many dimensions as slice sizes, %zu, found %d", sizes.size(),
                       Rank(operand));
  }
  for (int i = 0; i < Rank(operand); ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    if (size >= 0 && size <= Dim(operand, i)) continue;
    return TensorError(context, operand, "expected dimension %d to hold a slice of %lld, found %d",
                       i, static_cast<long long>(size), Dim(operand, i));
  }
  return kTfLiteOk;
}

TfLiteStatus PlanGather(TfLiteContext* context, TfLiteNode* node, Windows* windows) {
  const auto& params = ParamsOf<TfLiteStablehloGatherParams>(node);
  const TfLiteTensor* operand = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  const TfLiteTensor* output = Output(context, node, 0);
  const int rank = Rank(output);
  // The rank of outputs is checked here, because CheckNode checks only inputs.
  if (rank > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %d", kMaxRank, rank);
  }
  const auto list = [](const int64_t* values, int count) {
    return std::span(values, static_cast<size_t>(count));
  };
  DEPUTY_TRY(CheckSlices(context, operand, list(params.slice_sizes, params.num_slice_sizes)));
  uint32_t offset_axes, collapsed;
  DEPUTY_TRY(CheckAxes(context, list(params.offset_dims, params.num_offset_dims), rank,
                       "offset dimensions", &offset_axes));
  DEPUTY_TRY(CheckAxes(context, list(params.collapsed_slice_dims, params.num_collapsed_slice_dims),
                       Rank(operand), "collapsed dimensions", &collapsed));
  DEPUTY_TRY(PlanIndices(context, indices, params.index_vector_dim,
                         list(params.start_index_map, params.num_start_index_map), Rank(operand),
                         windows));
  for (int i = 0; i < Rank(operand); ++i) {
    if (Has(collapsed, i) && params.slice_sizes[i] != 1) {
      return KernelError(context, "collapsed dimension %d: expected a slice of 1, found %lld", i,
                         static_cast<long long>(params.slice_sizes[i]));
    }
  }
  return PlanAxes(context, rank, offset_axes, Rank(operand), collapsed, indices,
                  static_cast<int>(params.index_vector_dim), windows);
}

TfLiteStatus PrepareGather(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* operand = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, operand, kMovedTypes));
  DEPUTY_TRY(CheckSameType(context, output, operand));
  Windows windows;
  DEPUTY_TRY(PlanGather(context, node, &windows));
  const auto& params = ParamsOf<TfLiteStablehloGatherParams>(node);
  int dims[kMaxRank], index_axis = 0;
  for (int i = 0; i < Rank(output); ++i) {
    if (windows.operand_axis[i] >= 0) {
      dims[i] = static_cast<int>(params.slice_sizes[windows.operand_axis[i]]);
    } else {
      if (index_axis == params.index_vector_dim) ++index_axis;
      dims[i] = Dim(indices, index_axis++);
    }
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(output))});
}

// Returns the offset of a slice. One that extends beyond the operand is moved inside, as StableHLO
// defines.
int64_t SliceStart(const TfLiteTensor* operand, const int64_t* sizes,
                   const int64_t (&start)[kMaxRank]) {
  const DenseSteps steps(Dims(operand));
  int64_t at = 0;
  for (int i = 0; i < Rank(operand); ++i) {
    at += std::clamp<int64_t>(start[i], 0, Dim(operand, i) - sizes[i]) * steps[i];
  }
  return at;
}

TfLiteStatus EvalGather(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* operand = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  Windows windows;
  DEPUTY_TRY(PlanGather(context, node, &windows));
  const DenseSteps steps_in(Dims(operand)), steps_out(Dims(output));
  StridedCopy copy;
  int index_dims[kMaxRank];
  for (int i = 0; i < Rank(output); ++i) {
    const int axis = windows.operand_axis[i];
    index_dims[i] = axis < 0 ? Dim(output, i) : 1;
    if (axis >= 0) copy.Add(Dim(output, i), steps_in[axis], steps_out[i]);
  }
  copy.Finish();
  const std::span<const int> dims(index_dims, static_cast<size_t>(Rank(output)));
  const int64_t* sizes = ParamsOf<TfLiteStablehloGatherParams>(node).slice_sizes;
  return MoveElements(context, operand, output, [&](const auto* in, auto* out) {
    int64_t position[kMaxRank] = {}, start[kMaxRank];
    do {
      int64_t index_at = 0, to = 0;
      for (int i = 0; i < Rank(output); ++i) {
        index_at += position[i] * windows.index_step[i];
        to += position[i] * steps_out[i];
      }
      ReadIndex(indices, windows, index_at, start);
      copy.Run(in + SliceStart(operand, sizes, start), out + to);
    } while (Advance(dims, position));
  });
}

// ---- STABLEHLO_SCATTER ------------------------------------------------------------------------

TfLiteStatus PlanScatter(TfLiteContext* context, TfLiteNode* node, Windows* windows) {
  const auto& params = ParamsOf<TfLiteStablehloScatterParams>(node);
  const int operand_rank = Rank(Input(context, node, 0));
  const TfLiteTensor* indices = Input(context, node, 1);
  const int rank = Rank(Input(context, node, 2));
  const auto list = [](const int64_t* values, int count) {
    return std::span(values, static_cast<size_t>(count));
  };
  uint32_t window_axes, inserted;
  DEPUTY_TRY(CheckAxes(context, list(params.update_window_dims, params.num_update_window_dims),
                       rank, "window dimensions", &window_axes));
  DEPUTY_TRY(CheckAxes(context, list(params.inserted_window_dims, params.num_inserted_window_dims),
                       operand_rank, "inserted dimensions", &inserted));
  DEPUTY_TRY(PlanIndices(
      context, indices, params.index_vector_dim,
      list(params.scatter_dims_to_operand_dims, params.num_scatter_dims_to_operand_dims),
      operand_rank, windows));
  return PlanAxes(context, rank, window_axes, operand_rank, inserted, indices,
                  static_cast<int>(params.index_vector_dim), windows);
}

// Determines the combination from the subgraph's only operator, which must combine two elements;
// without an operator the second element is returned.
TfLiteStatus FindCombination(TfLiteContext* context, int subgraph, Combination* out_combination) {
  Runtime* const runtime = RuntimeOf(context);
  const CallableSubgraph* body = runtime == nullptr ? nullptr : runtime->FindSubgraph(subgraph);
  if (body == nullptr) return KernelError(context, "subgraph %d does not exist", subgraph);
  if (body->operator_count() > 1) {
    return KernelError(context, "subgraph %d: expected at most 1 operator, found %zu", subgraph,
                       body->operator_count());
  }
  *out_combination = Combination::kReplacement;
  if (body->operator_count() == 0) return kTfLiteOk;
  switch (body->operator_code(0)) {
    case kTfLiteBuiltinStablehloAdd:
      *out_combination = Combination::kSum;
      return kTfLiteOk;
    case kTfLiteBuiltinStablehloMultiply:
      *out_combination = Combination::kProduct;
      return kTfLiteOk;
    case kTfLiteBuiltinStablehloMaximum:
      *out_combination = Combination::kMaximum;
      return kTfLiteOk;
    case kTfLiteBuiltinStablehloMinimum:
      *out_combination = Combination::kMinimum;
      return kTfLiteOk;
    default:
      return KernelError(context, "subgraph %d: expected a sum, a product, a maximum or a minimum",
                         subgraph);
  }
}

TfLiteStatus PrepareScatter(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* operand = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  const TfLiteTensor* updates = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, operand, kCombinedTypes));
  DEPUTY_TRY(CheckSameType(context, updates, operand));
  DEPUTY_TRY(CheckSameType(context, output, operand));
  const auto& params = ParamsOf<TfLiteStablehloScatterParams>(node);
  Combination combination;
  DEPUTY_TRY(FindCombination(context, params.update_computation_subgraph_index, &combination));
  Windows windows;
  DEPUTY_TRY(PlanScatter(context, node, &windows));
  int index_axis = 0;
  for (int i = 0; i < Rank(updates); ++i) {
    if (windows.operand_axis[i] >= 0) continue;
    if (index_axis == params.index_vector_dim) ++index_axis;
    DEPUTY_TRY(CheckDim(context, updates, i, Dim(indices, index_axis++)));
  }
  return ResizeLike(context, output, operand);
}

// Iterates over the updates, of which there is at least one, and returns the target of each.
class ScatterTargets {
 public:
  ScatterTargets(const TfLiteTensor* indices, const TfLiteTensor* updates, const Windows& windows,
                 const TfLiteTensor* output)
      : indices_(indices),
        updates_(updates),
        windows_(windows),
        output_(output),
        steps_(Dims(output)) {}

  // Returns the output offset of the current update, or -1 if it is outside the operand: such
  // updates are ignored, as in StableHLO's reference. Not inlined, so that it is compiled only once
  // instead of in the loop for every type.
  [[gnu::noinline]] int64_t Target() const {
    int64_t index_at = 0, to = 0, target[kMaxRank];
    for (int i = 0; i < Rank(updates_); ++i) index_at += position_[i] * windows_.index_step[i];
    ReadIndex(indices_, windows_, index_at, target);
    for (int i = 0; i < Rank(updates_); ++i) {
      const int axis = windows_.operand_axis[i];
      if (axis < 0) continue;
      if (__builtin_add_overflow(target[axis], position_[i], &target[axis])) return -1;
    }
    for (int i = 0; i < Rank(output_); ++i) {
      if (target[i] < 0 || target[i] >= Dim(output_, i)) return -1;
      to += target[i] * steps_[i];
    }
    return to;
  }
  // Moves to the next update; returns false after the last one.
  [[gnu::noinline]] bool Next() { return Advance(Dims(updates_), position_); }

 private:
  const TfLiteTensor *indices_, *updates_;
  const Windows& windows_;
  const TfLiteTensor* output_;
  DenseSteps steps_;
  int64_t position_[kMaxRank] = {};
};

template <typename T, typename Function>
void Scatter(ScatterTargets targets, const T* update, T* out, const Function& combine) {
  do {
    const int64_t to = targets.Target();
    if (to >= 0) out[to] = combine(out[to], *update);
    ++update;
  } while (targets.Next());
}

template <Combination combination>
TfLiteStatus ScatterAll(TfLiteContext* context, TfLiteNode* node, const Windows& windows) {
  TfLiteTensor* output = Output(context, node, 0);
  const TfLiteTensor* updates = Input(context, node, 2);
  DEPUTY_TRY(CopyTensor(context, Input(context, node, 0), output));
  if (ElementCount(updates) == 0) return kTfLiteOk;
  const ScatterTargets targets = {Input(context, node, 1), updates, windows, output};
  if (output->type == kTfLiteBool) {
    Scatter(targets, Data<const uint8_t>(updates), Data<uint8_t>(output),
            &CombineBools<combination>);
    return kTfLiteOk;
  }
  return DispatchType<kNumbers>(context, output, [&](auto tag) {
    using T = typename LoopType<IgnoresSign(combination), typename decltype(tag)::type>::type;
    Scatter(targets, Data<const T>(updates), Data<T>(output),
            [](T a, T b) { return Combine<combination>(a, b); });
    return kTfLiteOk;
  });
}

TfLiteStatus EvalScatter(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteStablehloScatterParams>(node);
  Combination combination;
  DEPUTY_TRY(FindCombination(context, params.update_computation_subgraph_index, &combination));
  Windows windows;
  DEPUTY_TRY(PlanScatter(context, node, &windows));
  switch (combination) {
    case Combination::kSum:
      return ScatterAll<Combination::kSum>(context, node, windows);
    case Combination::kProduct:
      return ScatterAll<Combination::kProduct>(context, node, windows);
    case Combination::kMaximum:
      return ScatterAll<Combination::kMaximum>(context, node, windows);
    case Combination::kMinimum:
      return ScatterAll<Combination::kMinimum>(context, node, windows);
    case Combination::kReplacement:
      return ScatterAll<Combination::kReplacement>(context, node, windows);
  }
  return kTfLiteError;
}

// ---- Table ------------------------------------------------------------------------------------

// Adds options to the row of an operator with a kernel; `member` is the union member of its
// options.
template <uint8_t member, bool needed, typename Params, bool (*fill)(const OpOptions&, Params*)>
constexpr OpDef With(OpDef row) {
  row.options = {2, member};
  row.params_size = sizeof(Params);
  row.parse = &Parse<member, Params, fill, needed>;
  return row;
}

template <Combination combination>
constexpr OpDef Elements(const char* name, TfLiteBuiltinOperator code) {
  return KernelRow<void>(name, code, 1, kCombinedTypes, &Guarded<&PrepareElements<kCombinedTypes>>,
                         &Guarded<&EvalElements<combination>>);
}

constexpr OpDef kTable[] = {
    Elements<Combination::kSum>("STABLEHLO_ADD", kTfLiteBuiltinStablehloAdd),
    Elements<Combination::kProduct>("STABLEHLO_MULTIPLY", kTfLiteBuiltinStablehloMultiply),
    Elements<Combination::kMaximum>("STABLEHLO_MAXIMUM", kTfLiteBuiltinStablehloMaximum),
    Elements<Combination::kMinimum>("STABLEHLO_MINIMUM", kTfLiteBuiltinStablehloMinimum),
    KernelRow<void>("STABLEHLO_AND", kTfLiteBuiltinStablehloAnd, 1, kAndTypes,
                    &Guarded<&PrepareElements<kAndTypes>>, &Guarded<&EvalAnd>),
    KernelRow<void>("STABLEHLO_SHIFT_LEFT", kTfLiteBuiltinStablehloShiftLeft, 1, kShiftTypes,
                    &Guarded<&PrepareElements<kShiftTypes>>, &Guarded<&EvalShiftLeft>),
    With<7, false, TfLiteStablehloScatterParams, &FillScatter>(
        KernelRow<void>("STABLEHLO_SCATTER", kTfLiteBuiltinStablehloScatter, 1, kCombinedTypes,
                        &Guarded<&PrepareScatter>, &Guarded<&EvalScatter>)),
    With<16, false, TfLiteStablehloGatherParams, &FillGather>(
        KernelRow<void>("STABLEHLO_GATHER", kTfLiteBuiltinStablehloGather, 1, kMovedTypes,
                        &Guarded<&PrepareGather>, &Guarded<&EvalGather>)),
    WithRefusal(With<10, true, TfLiteStablehloPadParams, &FillPad>(
                    KernelRow<void>("STABLEHLO_PAD", kTfLiteBuiltinStablehloPad, 1, kMovedTypes,
                                    &Guarded<&PreparePad>, &Guarded<&EvalPad>)),
                &RefusedStablehloPad),
    ParserRow("STABLEHLO_LOGISTIC", kTfLiteBuiltinStablehloLogistic),
    ParserRow("STABLEHLO_DIVIDE", kTfLiteBuiltinStablehloDivide),
    ParserRow("STABLEHLO_RESHAPE", kTfLiteBuiltinStablehloReshape),
    ParserRow("STABLEHLO_CLAMP", kTfLiteBuiltinStablehloClamp),
    ParserRow("STABLEHLO_CONCATENATE", kTfLiteBuiltinStablehloConcatenate),
    ParserRow("STABLEHLO_BROADCAST_IN_DIM", kTfLiteBuiltinStablehloBroadcastInDim),
    ParserRow("STABLEHLO_CONVOLUTION", kTfLiteBuiltinStablehloConvolution),
    ParserRow("STABLEHLO_SLICE", kTfLiteBuiltinStablehloSlice),
    ParserRow("STABLEHLO_CUSTOM_CALL", kTfLiteBuiltinStablehloCustomCall),
    ParserRow("STABLEHLO_REDUCE", kTfLiteBuiltinStablehloReduce),
    ParserRow("STABLEHLO_ABS", kTfLiteBuiltinStablehloAbs),
    ParserRow("STABLEHLO_COSINE", kTfLiteBuiltinStablehloCosine),
    ParserRow("STABLEHLO_EXPONENTIAL", kTfLiteBuiltinStablehloExponential),
    ParserRow("STABLEHLO_FLOOR", kTfLiteBuiltinStablehloFloor),
    ParserRow("STABLEHLO_LOG", kTfLiteBuiltinStablehloLog),
    ParserRow("STABLEHLO_NEGATE", kTfLiteBuiltinStablehloNegate),
    ParserRow("STABLEHLO_OR", kTfLiteBuiltinStablehloOr),
    ParserRow("STABLEHLO_POWER", kTfLiteBuiltinStablehloPower),
    ParserRow("STABLEHLO_REMAINDER", kTfLiteBuiltinStablehloRemainder),
    ParserRow("STABLEHLO_RSQRT", kTfLiteBuiltinStablehloRsqrt),
    ParserRow("STABLEHLO_SELECT", kTfLiteBuiltinStablehloSelect),
    ParserRow("STABLEHLO_SUBTRACT", kTfLiteBuiltinStablehloSubtract),
    ParserRow("STABLEHLO_TANH", kTfLiteBuiltinStablehloTanh),
    ParserRow("STABLEHLO_COMPARE", kTfLiteBuiltinStablehloCompare),
    ParserRow("STABLEHLO_CONVERT", kTfLiteBuiltinStablehloConvert),
    ParserRow("STABLEHLO_DYNAMIC_SLICE", kTfLiteBuiltinStablehloDynamicSlice),
    ParserRow("STABLEHLO_DYNAMIC_UPDATE_SLICE", kTfLiteBuiltinStablehloDynamicUpdateSlice),
    ParserRow("STABLEHLO_IOTA", kTfLiteBuiltinStablehloIota),
    ParserRow("STABLEHLO_DOT_GENERAL", kTfLiteBuiltinStablehloDotGeneral),
    ParserRow("STABLEHLO_SORT", kTfLiteBuiltinStablehloSort),
    ParserRow("STABLEHLO_WHILE", kTfLiteBuiltinStablehloWhile),
    ParserRow("STABLEHLO_TRANSPOSE", kTfLiteBuiltinStablehloTranspose),
    ParserRow("STABLEHLO_CBRT", kTfLiteBuiltinStablehloCbrt),
};

}  // namespace

constexpr std::span<const OpDef> kStablehloOps = kTable;

}  // namespace deputy
