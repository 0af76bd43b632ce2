// SPDX-License-Identifier: Apache-2.0
//
// REDUCE_WINDOW, which combines the elements of each position of a window, and DILATE, which puts
// copies of one element between those of another tensor. Integers wrap. The window's extents,
// strides and dilations are constants, as upstream wants them.
#include <functional>
#include <vector>

#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/strided_copy.h"

namespace deputy {
namespace {

// ---- REDUCE_WINDOW ----------------------------------------------------------------------------

constexpr OptionsKind kReduceWindow = {2, 20};
constexpr uint32_t kReduceTypes = kFloat32Bit | TypeBit(kTfLiteFloat64) | kInt8Bit | kUInt8Bit |
                                  kInt16Bit | kInt32Bit | kInt64Bit | kBoolBit;
constexpr int kMaxWindowRank = 6;

// A window function that the schema does not know is refused, as upstream refuses it.
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

// What the third to fifth inputs say of one axis.
struct WindowExtent {
  int64_t extent, stride, dilation;
};
WindowExtent WindowOf(TfLiteContext* context, const TfLiteNode* node, int axis) {
  return {IntegerAt(Input(context, node, 2), axis), IntegerAt(Input(context, node, 3), axis),
          IntegerAt(Input(context, node, 4), axis)};
}

// The positions of the window along each axis; none where it reaches past the input.
TfLiteStatus ResizeWindows(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  int dims[kMaxWindowRank];
  for (int axis = 0; axis < Rank(input); ++axis) {
    const WindowExtent window = WindowOf(context, node, axis);
    if (window.extent < 1 || window.stride < 1 || window.dilation < 1) {
      return KernelError(context,
                         "expected windows, strides and dilations of 1 or more, found %lld, %lld "
                         "and %lld in dimension %d",
                         static_cast<long long>(window.extent),
                         static_cast<long long>(window.stride),
                         static_cast<long long>(window.dilation), axis);
    }
    // How far the window could still go; the reach of hostile windows does not fit.
    int64_t reach = 0;
    const bool fits = !__builtin_mul_overflow(window.extent - 1, window.dilation, &reach) &&
                      reach < Dim(input, axis);
    dims[axis] = fits ? static_cast<int>((Dim(input, axis) - 1 - reach) / window.stride) + 1 : 0;
  }
  return ResizeTo(context, Output(context, node, 0), {dims, static_cast<size_t>(Rank(input))});
}

TfLiteStatus PrepareReduceWindow(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 5, 5, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kReduceTypes));
  DEPUTY_TRY(CheckSameType(context, Input(context, node, 1), input));
  DEPUTY_TRY(CheckElementCount(context, Input(context, node, 1), 1));
  DEPUTY_TRY(CheckSameType(context, Output(context, node, 0), input));
  if (Rank(input) < 1 || Rank(input) > kMaxWindowRank) {
    return TensorError(context, input, "expected 1 to %d dimensions, found %d", kMaxWindowRank,
                       Rank(input));
  }
  for (int i = 2; i < 5; ++i) {
    const TfLiteTensor* numbers = Input(context, node, i);
    DEPUTY_TRY(CheckType(context, numbers, kInt64Bit));
    DEPUTY_TRY(CheckElementCount(context, numbers, Rank(input)));
    if (!IsReadableConstant(numbers)) {
      return TensorError(context, numbers, "expected a constant, found none");
    }
  }
  if (ParamsOf<TfLiteReduceWindowParams>(node).reduce_function ==
      TfLiteReduceWindowFunctionUnsupported) {
    return KernelError(context, "expected a window function, found none");
  }
  return ResizeWindows(context, node);
}

// Offsets of all combinations of `extents` steps along the axes, the last moving fastest.
void AddOffsets(std::span<const int64_t> extents, std::span<const int64_t> steps, int64_t offset,
                std::vector<int64_t>* out) {
  if (extents.empty()) return out->push_back(offset);
  for (int64_t i = 0; i < extents[0]; ++i) {
    AddOffsets(extents.subspan(1), steps.subspan(1), offset + i * steps[0], out);
  }
}

// Where windows begin in the input, and where their elements are from there.
struct WindowOffsets {
  std::vector<int64_t> windows, elements;
};

TfLiteStatus FindOffsets(TfLiteContext* context, const TfLiteNode* node, WindowOffsets* out) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  const auto rank = static_cast<size_t>(Rank(input));
  const auto steps = DenseSteps(Dims(input));
  int64_t counts[kMaxWindowRank], window_steps[kMaxWindowRank];
  int64_t extents[kMaxWindowRank], element_steps[kMaxWindowRank];
  int64_t elements = 1;
  for (int axis = 0; axis < Rank(input); ++axis) {
    const WindowExtent window = WindowOf(context, node, axis);
    counts[axis] = Dim(output, axis);
    window_steps[axis] = counts[axis] < 2 ? 0 : window.stride * steps[axis];
    extents[axis] = window.extent;
    element_steps[axis] = window.extent < 2 ? 0 : window.dilation * steps[axis];
    elements *= window.extent;
  }
  DEPUTY_TRY(CheckRoom(context, output, elements, sizeof(int64_t), "offsets"));
  DEPUTY_TRY(CheckRoom(context, output, ElementCount(output), sizeof(int64_t), "offsets"));
  AddOffsets({counts, rank}, {window_steps, rank}, 0, &out->windows);
  AddOffsets({extents, rank}, {element_steps, rank}, 0, &out->elements);
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

// Sums and products of integers wrap.
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
  DEPUTY_TRY(FindOffsets(context, node, &offsets));
  return DispatchType<kReduceTypes>(context, input, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ReduceBy<T>(ParamsOf<TfLiteReduceWindowParams>(node).reduce_function, offsets, Data<T>(input),
                *Data<T>(Input(context, node, 1)), Data<T>(output));
    return kTfLiteOk;
  });
}

// ---- DILATE -----------------------------------------------------------------------------------

constexpr uint32_t kDilateTypes = kNumberBits | TypeBit(kTfLiteUInt16) | TypeBit(kTfLiteUInt64) |
                                  TypeBit(kTfLiteFloat64) | TypeBit(kTfLiteComplex64);

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

constexpr OpDef kTable[] = {
    ReduceWindowRow(),
    KernelRow<void>("DILATE", kTfLiteBuiltinDilate, 1, kDilateTypes, &Guarded<&PrepareDilate>,
                    &Guarded<&EvalDilate>),
};

}  // namespace

constexpr std::span<const OpDef> kWindowOps = kTable;

}  // namespace deputy
