// SPDX-License-Identifier: Apache-2.0
//
// REDUCE_WINDOW and STABLEHLO_REDUCE_WINDOW, which combine the elements of each position of a
// window, and DILATE, which inserts copies of one element between those of another tensor. Integers
// wrap. REDUCE_WINDOW has its window in constants, as upstream requires; StableHLO's operator has
// it in its options, with margins around and gaps between the elements, and the function as a
// subgraph with one operator.
#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/padded_copy.h"
#include "kernels/common/refused_options.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/strided_copy.h"

namespace deputy {
namespace {

// ---- REDUCE_WINDOW ----------------------------------------------------------------------------

constexpr OptionsKind kReduceWindow = {2, 20};
constexpr uint32_t kReduceTypes = kFloat32Bit | TypeBit(kTfLiteFloat64) | kInt8Bit | kUInt8Bit |
                                  kInt16Bit | kInt32Bit | kInt64Bit | kBoolBit;
constexpr int kMaxWindowRank = 6;

// Parses REDUCE_WINDOW's options. Like upstream, rejects UNSUPPORTED and window functions that the
// schema does not define.
bool ParseReduceWindow(const OpOptions& options, void* out) {
  if (!options.As(kReduceWindow).present()) return true;
  const int32_t function = options.Int(0);
  if (function < TfLiteReduceWindowFunctionAdd || function > TfLiteReduceWindowFunctionAny) {
    return false;
  }
  static_cast<TfLiteReduceWindowParams*>(out)->reduce_function =
      static_cast<TfLiteReduceWindowFunction>(function);
  return true;
}

// Extent, stride and dilation of the window along one axis.
struct WindowExtent {
  int64_t extent, stride, dilation;
};
using Window = std::array<WindowExtent, kMaxWindowRank>;

// Reads the window from the inputs 2 to 4: extents, strides and dilations.
Window WindowOfInputs(TfLiteContext* context, const TfLiteNode* node) {
  Window window = {};
  for (int axis = 0; axis < Rank(Input(context, node, 0)); ++axis) {
    window[static_cast<size_t>(axis)] = {IntegerAt(Input(context, node, 2), axis),
                                         IntegerAt(Input(context, node, 3), axis),
                                         IntegerAt(Input(context, node, 4), axis)};
  }
  return window;
}

TfLiteStatus CheckWindowRank(TfLiteContext* context, const TfLiteTensor* input) {
  if (Rank(input) >= 1 && Rank(input) <= kMaxWindowRank) return kTfLiteOk;
  return TensorError(context, input, "expected 1 to %d dimensions, found %d", kMaxWindowRank,
                     Rank(input));
}

// Sets the output to the number of window positions along each axis of `input`; zero if the window
// is too large.
TfLiteStatus ResizeWindows(TfLiteContext* context, std::span<const int> input,
                           const Window& extents, TfLiteTensor* output) {
  int dims[kMaxWindowRank];
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const WindowExtent& window = extents[axis];
    if (window.extent < 1 || window.stride < 1 || window.dilation < 1) {
      return KernelError(context,
                         "expected windows, strides and dilations of 1 or more, found %lld, %lld "
                         "and %lld in dimension %d",
                         static_cast<long long>(window.extent),
                         static_cast<long long>(window.stride),
                         static_cast<long long>(window.dilation), static_cast<int>(axis));
    }
    // Distance from the first to the last element of the window; overflows for hostile windows.
    int64_t reach = 0;
    const bool fits =
        !__builtin_mul_overflow(window.extent - 1, window.dilation, &reach) && reach < input[axis];
    dims[axis] = fits ? static_cast<int>((input[axis] - 1 - reach) / window.stride) + 1 : 0;
  }
  return ResizeTo(context, output, {dims, input.size()});
}

TfLiteStatus PrepareReduceWindow(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 5, 5, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kReduceTypes));
  DEPUTY_TRY(CheckSameType(context, Input(context, node, 1), input));
  DEPUTY_TRY(CheckElementCount(context, Input(context, node, 1), 1));
  DEPUTY_TRY(CheckSameType(context, Output(context, node, 0), input));
  DEPUTY_TRY(CheckWindowRank(context, input));
  for (int i = 2; i < 5; ++i) {
    const TfLiteTensor* numbers = Input(context, node, i);
    DEPUTY_TRY(CheckType(context, numbers, kInt64Bit));
    DEPUTY_TRY(CheckElementCount(context, numbers, Rank(input)));
    if (!IsKnown(numbers)) {
      return TensorError(context, numbers, "expected a constant, found none");
    }
  }
  if (ParamsOf<TfLiteReduceWindowParams>(node).reduce_function ==
      TfLiteReduceWindowFunctionUnsupported) {
    return KernelError(context, "expected a window function, found none");
  }
  return ResizeWindows(context, Dims(input), WindowOfInputs(context, node),
                       Output(context, node, 0));
}

// Adds the offsets of all combinations of `extents` steps along the axes, in row-major order.
void AddOffsets(std::span<const int64_t> extents, std::span<const int64_t> steps, int64_t offset,
                std::vector<int64_t>* out) {
  if (extents.empty()) return out->push_back(offset);
  for (int64_t i = 0; i < extents[0]; ++i) {
    AddOffsets(extents.subspan(1), steps.subspan(1), offset + i * steps[0], out);
  }
}

// Offsets of the windows in the input, and offsets of the elements in a window, in elements.
struct WindowOffsets {
  std::vector<int64_t> windows, elements;
};

TfLiteStatus FindOffsets(TfLiteContext* context, std::span<const int> input, const Window& extents,
                         const TfLiteTensor* output, WindowOffsets* out) {
  const DenseSteps steps(input);
  int64_t counts[kMaxWindowRank], window_steps[kMaxWindowRank];
  int64_t element_counts[kMaxWindowRank], element_steps[kMaxWindowRank];
  int64_t elements = 1;
  for (size_t i = 0; i < input.size(); ++i) {
    const int axis = static_cast<int>(i);
    const WindowExtent& window = extents[i];
    counts[i] = Dim(output, axis);
    window_steps[i] = counts[i] < 2 ? 0 : window.stride * steps[axis];
    element_counts[i] = window.extent;
    element_steps[i] = window.extent < 2 ? 0 : window.dilation * steps[axis];
    elements *= window.extent;
  }
  DEPUTY_TRY(CheckContainerSize(context, output, elements, sizeof(int64_t), "offsets"));
  DEPUTY_TRY(CheckContainerSize(context, output, ElementCount(output), sizeof(int64_t), "offsets"));
  AddOffsets({counts, input.size()}, {window_steps, input.size()}, 0, &out->windows);
  AddOffsets({element_counts, input.size()}, {element_steps, input.size()}, 0, &out->elements);
  return kTfLiteOk;
}

template <typename T, typename Function>
void Reduce(const WindowOffsets& offsets, const T* in, T first, const Function& function, T* out) {
  for (const int64_t window : offsets.windows) {
    T value = first;
    for (const int64_t element : offsets.elements) value = function(value, in[window + element]);
    *out++ = value;
  }
}

// Combines two elements with `function` in a type in which integers wrap.
template <typename T, typename Function>
T Wrap(T a, T b, const Function& function) {
  if constexpr (std::is_floating_point_v<T>) {
    return function(a, b);
  } else {
    return static_cast<T>(function(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  }
}

template <typename T>
void ReduceBy(TfLiteReduceWindowFunction name, const WindowOffsets& offsets, const T* in, T first,
              T* out) {
  const auto run = [&](const auto& function) { Reduce(offsets, in, first, function, out); };
  switch (name) {
    case TfLiteReduceWindowFunctionAdd:
      return run([](T a, T b) { return Wrap(a, b, std::plus<>()); });
    case TfLiteReduceWindowFunctionMul:
      return run([](T a, T b) { return Wrap(a, b, std::multiplies<>()); });
    case TfLiteReduceWindowFunctionMin:
      return run([](T a, T b) { return a <= b ? a : b; });
    case TfLiteReduceWindowFunctionMax:
      return run([](T a, T b) { return a >= b ? a : b; });
    case TfLiteReduceWindowFunctionAll:
      return run([](T a, T b) { return static_cast<T>(a != 0 && b != 0); });
    default:
      return run([](T a, T b) { return static_cast<T>(a != 0 || b != 0); });
  }
}

TfLiteStatus EvalReduceWindow(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (ElementCount(output) == 0) return kTfLiteOk;
  WindowOffsets offsets;
  DEPUTY_TRY(FindOffsets(context, Dims(input), WindowOfInputs(context, node), output, &offsets));
  return DispatchType<kReduceTypes>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ReduceBy<T>(ParamsOf<TfLiteReduceWindowParams>(node).reduce_function, offsets, Data<T>(input),
                *Data<T>(Input(context, node, 1)), Data<T>(output));
    return kTfLiteOk;
  });
}

// ---- STABLEHLO_REDUCE_WINDOW ------------------------------------------------------------------

constexpr OptionsKind kStablehloReduceWindow = {2, 13};

// Copies an optional list that must have `count` elements if present; returns false if it has a
// different number or does not fit in the array.
template <size_t size>
bool CopyLongs(const OpOptions& options, int field, size_t count, int64_t value_if_absent,
               int64_t (&array)[size]) {
  const std::vector<int64_t> list = options.Longs(field);
  if (list.empty()) {
    std::fill(std::begin(array), std::end(array), value_if_absent);
    return true;
  }
  if (list.size() != count || count > size) return false;
  std::ranges::copy(list, array);
  return true;
}

bool ParseStablehloReduceWindow(const OpOptions& options, void* out) {
  if (!options.As(kStablehloReduceWindow).present()) return false;
  auto* params = static_cast<TfLiteStablehloReduceWindowParams*>(out);
  const size_t rank = options.Longs(0).size();
  params->body_subgraph_index = options.Int(5);
  return rank > 0 && CopyLongs(options, 0, rank, 0, params->window_dimensions) &&
         CopyLongs(options, 1, rank, 1, params->window_strides) &&
         CopyLongs(options, 2, rank, 1, params->base_dilations) &&
         CopyLongs(options, 3, rank, 1, params->window_dilations) &&
         CopyLongs(options, 4, 2 * rank, 0, params->padding);
}

// Determines the reduction function from the body's only operator.
TfLiteStatus FindFunction(TfLiteContext* context, int subgraph, TfLiteReduceWindowFunction* out) {
  Runtime* const runtime = RuntimeOf(context);
  const CallableSubgraph* body = runtime == nullptr ? nullptr : runtime->FindSubgraph(subgraph);
  if (body == nullptr) return KernelError(context, "subgraph %d does not exist", subgraph);
  if (body->operator_count() != 1) {
    return KernelError(context, "subgraph %d: expected 1 operator, found %zu", subgraph,
                       body->operator_count());
  }
  static constexpr struct {
    TfLiteBuiltinOperator code, stablehlo_code;
    TfLiteReduceWindowFunction function;
  } kFunctions[] = {
      {kTfLiteBuiltinAdd, kTfLiteBuiltinStablehloAdd, TfLiteReduceWindowFunctionAdd},
      {kTfLiteBuiltinMul, kTfLiteBuiltinStablehloMultiply, TfLiteReduceWindowFunctionMul},
      {kTfLiteBuiltinMinimum, kTfLiteBuiltinStablehloMinimum, TfLiteReduceWindowFunctionMin},
      {kTfLiteBuiltinMaximum, kTfLiteBuiltinStablehloMaximum, TfLiteReduceWindowFunctionMax},
      {kTfLiteBuiltinLogicalAnd, kTfLiteBuiltinStablehloAnd, TfLiteReduceWindowFunctionAll},
      {kTfLiteBuiltinLogicalOr, kTfLiteBuiltinStablehloOr, TfLiteReduceWindowFunctionAny},
  };
  const int found = body->operator_code(0);
  for (const auto& [code, stablehlo_code, function] : kFunctions) {
    *out = function;
    if (found == code || found == stablehlo_code) return kTfLiteOk;
  }
  return KernelError(context,
                     "subgraph %d: expected a sum, a product, a maximum, a minimum, AND or OR, "
                     "found operator %d",
                     subgraph, found);
}

// Shape of the input with margins and gaps, and the window that moves over it.
struct PaddedInput {
  PaddedAxis axes[kMaxWindowRank];
  int extents[kMaxWindowRank] = {};
  int rank = 0;
  bool is_plain = true;  // the input has neither margins nor gaps
  Window window = {};

  std::span<const int> dims() const { return {extents, static_cast<size_t>(rank)}; }
};

// Plans the padded input. Padding may add elements to an empty axis, but must not remove all
// elements of an axis.
TfLiteStatus PlanPaddedInput(TfLiteContext* context, const TfLiteNode* node, PaddedInput* out) {
  const auto& params = ParamsOf<TfLiteStablehloReduceWindowParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  out->rank = Rank(input);
  bool is_padded = false;
  for (int i = 0; i < out->rank; ++i) {
    const int64_t low = params.padding[2 * i], high = params.padding[2 * i + 1];
    const int64_t dilation = params.base_dilations[i];
    if (dilation < 1 || !PadAxis(Dim(input, i), low, high, dilation - 1, &out->axes[i])) {
      return TensorError(context, input,
                         "dimension %d cannot be dilated by %lld and padded by %lld and %lld", i,
                         static_cast<long long>(dilation), static_cast<long long>(low),
                         static_cast<long long>(high));
    }
    out->extents[i] = static_cast<int>(std::max<int64_t>(out->axes[i].extent, 0));
    is_padded |= low != 0 || high != 0;
    out->is_plain &= low == 0 && high == 0 && (dilation == 1 || Dim(input, i) == 1);
    out->window[static_cast<size_t>(i)] = {params.window_dimensions[i], params.window_strides[i],
                                           params.window_dilations[i]};
  }
  if (is_padded && std::ranges::count(out->dims(), 0) > 0) {
    return TensorError(context, input, "expected a padding that leaves at least one element");
  }
  return kTfLiteOk;
}

// Computes the number of elements of the padded input and checks it against the limits.
TfLiteStatus CountPadded(TfLiteContext* context, const TfLiteTensor* input,
                         std::span<const int> dims, int64_t* out_count) {
  *out_count = 1;
  for (const int extent : dims) {
    if (__builtin_mul_overflow(*out_count, int64_t{extent}, out_count)) *out_count = INT64_MAX;
  }
  return CheckContainerSize(context, input, *out_count, sizeof(int64_t), "padded elements");
}

TfLiteStatus PrepareStablehloReduceWindow(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* first = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kReduceTypes));
  DEPUTY_TRY(CheckSameType(context, first, input));
  DEPUTY_TRY(CheckElementCount(context, first, 1));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckWindowRank(context, input));
  const auto& params = ParamsOf<TfLiteStablehloReduceWindowParams>(node);
  TfLiteReduceWindowFunction function;
  DEPUTY_TRY(FindFunction(context, params.body_subgraph_index, &function));
  PaddedInput padded;
  DEPUTY_TRY(PlanPaddedInput(context, node, &padded));
  return ResizeWindows(context, padded.dims(), padded.window, output);
}

template <typename T>
using UnsignedOf =
    std::conditional_t<sizeof(T) == 1, uint8_t,
                       std::conditional_t<sizeof(T) == 2, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

TfLiteStatus EvalStablehloReduceWindow(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (ElementCount(output) == 0) return kTfLiteOk;
  TfLiteReduceWindowFunction function;
  DEPUTY_TRY(FindFunction(
      context, ParamsOf<TfLiteStablehloReduceWindowParams>(node).body_subgraph_index, &function));
  PaddedInput padded;
  DEPUTY_TRY(PlanPaddedInput(context, node, &padded));
  int64_t count = 0;
  DEPUTY_TRY(CountPadded(context, input, padded.dims(), &count));
  WindowOffsets offsets;
  DEPUTY_TRY(FindOffsets(context, padded.dims(), padded.window, output, &offsets));
  return DispatchType<kReduceTypes>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T first = *Data<T>(Input(context, node, 1));
    const T* in = Data<T>(input);
    std::vector<T> elements;
    if (!padded.is_plain) {
      elements.assign(static_cast<size_t>(count), first);
      // Moved is an unsigned type, because the copy only moves values and so is instantiated less
      // often.
      using Moved = UnsignedOf<T>;
      PaddedCopy(Dims(input), padded.dims(), padded.axes)
          .Run(reinterpret_cast<const Moved*>(in), reinterpret_cast<Moved*>(elements.data()));
      in = elements.data();
    }
    ReduceBy<T>(function, offsets, in, first, Data<T>(output));
    return kTfLiteOk;
  });
}

// ---- DILATE -----------------------------------------------------------------------------------

constexpr uint32_t kDilateTypes = kMovedNumberBits;

TfLiteStatus ResizeDilated(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* dilations = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  int dims[kMaxRank];
  for (int axis = 0; axis < Rank(input); ++axis) {
    const int64_t dilation = IntegerAt(dilations, axis);
    if (dilation < 1) {
      return TensorError(context, dilations, "expected dilations of 1 or more, found %lld",
                         static_cast<long long>(dilation));
    }
    const int extent = Dim(input, axis);
    const int64_t dilated = extent == 0 ? 0 : (extent - 1) * dilation + 1;
    DEPUTY_TRY(SetExtent(context, output, axis, dilated, &dims[axis]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(input))});
}

TfLiteStatus PrepareDilate(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* dilations = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kDilateTypes));
  DEPUTY_TRY(CheckType(context, dilations, kInt32Bit));
  DEPUTY_TRY(CheckSameType(context, Input(context, node, 2), input));
  DEPUTY_TRY(CheckElementCount(context, Input(context, node, 2), 1));
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (Rank(input) < 1) {
    return TensorError(context, input, "expected 1 dimension or more, found 0");
  }
  DEPUTY_TRY(CheckRank(context, dilations, 1));
  DEPUTY_TRY(CheckDim(context, dilations, 0, Rank(input)));
  if (IsKnown(dilations)) return ResizeDilated(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

TfLiteStatus EvalDilate(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* dilations = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeDilated(context, node));
  const auto in = DenseSteps(Dims(input));
  const auto out = DenseSteps(Dims(output));
  StridedCopy copy;
  for (int axis = 0; axis < Rank(input); ++axis) {
    const int64_t dilation = Dim(input, axis) < 2 ? 1 : IntegerAt(dilations, axis);
    copy.Add(Dim(input, axis), in[axis], out[axis] * dilation);
  }
  copy.Finish();
  return MoveElements(context, input, output, [&](const auto* from, auto* to) {
    using T = std::remove_pointer_t<decltype(to)>;
    const TfLiteTensor* between = Input(context, node, 2);
    std::fill_n(to, ElementCount(output), *Data<T>(between));
    copy.Run(from, to);
  });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef ReduceWindowRow() {
  OpDef op = KernelRow<void>("REDUCE_WINDOW", kTfLiteBuiltinReduceWindow, 1, kReduceTypes,
                             &Guarded<&PrepareReduceWindow>, &Guarded<&EvalReduceWindow>);
  op.options = kReduceWindow;
  op.params_size = sizeof(TfLiteReduceWindowParams);
  op.parse = &ParseReduceWindow;
  return op;
}

constexpr OpDef StablehloReduceWindowRow() {
  OpDef op = KernelRow<void>("STABLEHLO_REDUCE_WINDOW", kTfLiteBuiltinStablehloReduceWindow, 1,
                             kReduceTypes, &Guarded<&PrepareStablehloReduceWindow>,
                             &Guarded<&EvalStablehloReduceWindow>);
  op.options = kStablehloReduceWindow;
  op.params_size = sizeof(TfLiteStablehloReduceWindowParams);
  op.parse = &ParseStablehloReduceWindow;
  op.refusal = &RefusedStablehloReduceWindow;
  return op;
}

constexpr OpDef kTable[] = {
    ReduceWindowRow(),
    StablehloReduceWindowRow(),
    KernelRow<void>("DILATE", kTfLiteBuiltinDilate, 1, kDilateTypes,
                    &Guarded<&PrepareMove<RescaleInputs(5), &PrepareDilate>>,
                    &Guarded<&EvalMove<RescaleInputs(5), &EvalDilate>>),
};

}  // namespace

constexpr std::span<const OpDef> kWindowOps = kTable;

}  // namespace deputy
