// SPDX-License-Identifier: Apache-2.0
//
// RESHAPE, SQUEEZE and EXPAND_DIMS change the shape of the same elements; SHAPE and RANK return the
// shape itself, BROADCAST_ARGS the shape to which two shapes broadcast.
//
// RESHAPE's new shape comes from the second input if that is a vector of int32, otherwise from the
// options (like upstream, a second input of any other form is ignored). If the shape is known only
// at run time, the output is dynamic. SHAPE, RANK and, for known shapes, BROADCAST_ARGS are
// computed in prepare, so that values computed from shapes stay static.
#include <algorithm>

#include "core/kernel_api/fusion.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/refused_options.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillReshape(const OpOptions& options, TfLiteReshapeParams* params) {
  const std::span<const int32_t> shape = options.Ints(0);
  if (shape.size() > std::size(params->shape)) return false;
  std::copy(shape.begin(), shape.end(), params->shape);
  params->num_dimensions = static_cast<int>(shape.size());
  return true;
}

bool FillSqueeze(const OpOptions& options, TfLiteSqueezeParams* params) {
  const std::span<const int32_t> dims = options.Ints(0);
  if (dims.size() > std::size(params->squeeze_dims)) return false;
  std::copy(dims.begin(), dims.end(), params->squeeze_dims);
  params->num_squeeze_dims = static_cast<int>(dims.size());
  return true;
}

bool FillShape(const OpOptions& options, TfLiteShapeParams* params) {
  params->out_type = options.Type(0);
  return true;
}

// Types that RESHAPE and the other operators of this file copy as bytes, or do not access at all.
constexpr uint32_t kCopiedTypes = kMovedBits | kPackedBits | TypeBit(kTfLiteComplex128);

// ---- RESHAPE ----------------------------------------------------------------------------------

// Returns the second input of RESHAPE if it determines the shape, otherwise null.
const TfLiteTensor* ShapeTensor(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* shape = Input(context, node, 1);
  return shape != nullptr && shape->type == kTfLiteInt32 && Rank(shape) == 1 ? shape : nullptr;
}

std::span<const int32_t> WantedShape(TfLiteContext* context, const TfLiteNode* node) {
  if (const TfLiteTensor* shape = ShapeTensor(context, node)) {
    return {Data<int32_t>(shape), static_cast<size_t>(Dim(shape, 0))};
  }
  const auto& params = ParamsOf<TfLiteReshapeParams>(node);
  // Old models encode a scalar as [0].
  if (params.num_dimensions == 1 && params.shape[0] == 0) return {};
  return {params.shape, static_cast<size_t>(params.num_dimensions)};
}

// Returns true if the output's batch, dimension 0, is that of the input, although the wanted shape,
// a constant of the model, has the declared batch: the client has resized only the batch of inputs,
// and an image of the wanted shape has as many elements as one of the input.
bool FollowsBatch(TfLiteContext* context, const TfLiteNode* node, std::span<const int32_t> wanted) {
  const Runtime* const runtime = RuntimeOf(context);
  const TfLiteTensor* const shape = ShapeTensor(context, node);
  if (runtime == nullptr || wanted.empty() ||
      (shape != nullptr && shape->allocation_type != kTfLiteMmapRo)) {
    return false;
  }
  const std::span<const int> declared = runtime->DeclaredShape(node->inputs->data[0]);
  const std::span<const int> now = Dims(Input(context, node, 0));
  if (declared.empty() || declared.size() != now.size() || declared[0] != wanted[0] ||
      declared[0] < 1 || !std::ranges::equal(declared.subspan(1), now.subspan(1))) {
    return false;
  }
  const auto elements = [](std::span<const int32_t> dims) {
    int64_t count = 1;
    for (const int32_t extent : dims.subspan(1)) {
      if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return int64_t{-1};
    }
    return count;
  };
  return elements(wanted) >= 0 && elements(wanted) == elements(declared);
}

// Resizes the output to the wanted shape; one -1 is replaced by the remaining number of elements.
TfLiteStatus ResizeOutput(TfLiteContext* context, TfLiteNode* node) {
  const std::span<const int32_t> wanted = WantedShape(context, node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (wanted.size() > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %zu", kMaxRank,
                       wanted.size());
  }
  int dims[kMaxRank];
  int stretched = -1;
  size_t product = 1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    dims[i] = wanted[i];
    if (wanted[i] == -1 && stretched < 0) {
      stretched = static_cast<int>(i);
    } else if (wanted[i] < 0) {
      return TensorError(context, output,
                         "stretch_dim != -1; expected dimensions of 0 or more and at most one -1, "
                         "found %d in dimension %zu",
                         wanted[i], i);
    } else if (!MultiplySizes(product, static_cast<size_t>(wanted[i]), &product)) {
      return TensorError(context, output, "its new size would overflow");
    }
  }
  const size_t count = static_cast<size_t>(ElementCount(input));
  if (stretched >= 0) {
    const size_t left_over = product == 0 ? 0 : count / product;
    if (left_over > static_cast<size_t>(INT32_MAX)) {
      return TensorError(context, output, "its dimension %d would overflow", stretched);
    }
    dims[stretched] = static_cast<int>(left_over);
    product *= left_over;
  }
  if (product != count && FollowsBatch(context, node, wanted)) {
    dims[0] = Dim(Input(context, node, 0), 0);
    product = count;
  }
  if (product != count) {
    return TensorError(context, output,
                       "num_input_elements != num_output_elements; expected a shape of %zu "
                       "elements like tensor %d, found one of %zu",
                       count, static_cast<int>(input - context->tensors), product);
  }
  return ResizeTo(context, output, {dims, wanted.size()});
}

TfLiteStatus PrepareReshape(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* shape = ShapeTensor(context, node);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (input->type == kTfLiteString || (shape != nullptr && !IsKnown(shape))) {
    MakeDynamic(output);
    return kTfLiteOk;
  }
  return ResizeOutput(context, node);
}

TfLiteStatus EvalReshape(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeOutput(context, node));
  return CopyTensor(context, Input(context, node, 0), output);
}

// Row function table of RESHAPE, without functions: if rows are unchanged, a row-wise fusion group
// has nothing to compute.
constexpr RowKernel kRowsStay = {};

TfLiteStatus PrepareAndOfferReshape(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(PrepareReshape(context, node));
  const TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output) || output->type != kTfLiteFloat32) return kTfLiteOk;
  OfferFusion(context, node,
              {.invoke = kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalReshape>>,
               .by_rows = {&kRowsStay, RowKind::kElementwise, 1}});
  return kTfLiteOk;
}

// ---- SQUEEZE ----------------------------------------------------------------------------------

// Sets squeezed[axis] for the axes that SQUEEZE removes: those listed in the options or, if none
// are listed, all with extent 1.
TfLiteStatus SqueezedAxes(TfLiteContext* context, const TfLiteNode* node, bool* squeezed) {
  const TfLiteTensor* input = Input(context, node, 0);
  const auto& params = ParamsOf<TfLiteSqueezeParams>(node);
  for (int axis = 0; axis < Rank(input); ++axis) {
    squeezed[axis] = params.num_squeeze_dims == 0 && Dim(input, axis) == 1;
  }
  for (int i = 0; i < params.num_squeeze_dims; ++i) {
    int axis = 0;
    DEPUTY_TRY(ResolveAxis(context, input, params.squeeze_dims[i], Rank(input), &axis));
    DEPUTY_TRY(CheckDim(context, input, axis, 1));
    squeezed[axis] = true;
  }
  return kTfLiteOk;
}

TfLiteStatus ResizeSqueezed(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  bool squeezed[kMaxRank] = {};
  DEPUTY_TRY(SqueezedAxes(context, node, squeezed));
  int dims[kMaxRank];
  size_t rank = 0;
  for (int axis = 0; axis < Rank(input); ++axis) {
    if (!squeezed[axis]) dims[rank++] = Dim(input, axis);
  }
  return ResizeTo(context, Output(context, node, 0), {dims, rank});
}

TfLiteStatus PrepareSqueeze(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kCopiedTypes));
  DEPUTY_TRY(CheckSameType(context, output, input));
  if (input->type == kTfLiteString) MakeDynamic(output);
  return ResizeSqueezed(context, node);
}

TfLiteStatus EvalCopy(TfLiteContext* context, TfLiteNode* node) {
  return CopyTensor(context, Input(context, node, 0), Output(context, node, 0));
}

// ---- EXPAND_DIMS ------------------------------------------------------------------------------

TfLiteStatus ResizeExpanded(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* axis_input = Input(context, node, 1);
  int axis = 0;
  DEPUTY_TRY(ResolveAxis(context, axis_input, IntegerAt(axis_input, 0), Rank(input) + 1, &axis));
  if (Rank(input) == kMaxRank) {
    return TensorError(context, input, "expected fewer than %d dimensions", kMaxRank);
  }
  int dims[kMaxRank];
  for (int from = 0, to = 0; to <= Rank(input); ++to) {
    dims[to] = to == axis ? 1 : Dim(input, from++);
  }
  return ResizeTo(context, Output(context, node, 0), {dims, static_cast<size_t>(Rank(input) + 1)});
}

TfLiteStatus PrepareExpandDims(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* axis = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kCopiedTypes));
  DEPUTY_TRY(CheckType(context, axis, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckElementCount(context, axis, 1));
  DEPUTY_TRY(CheckExactQuantization(context, output, input));
  output->type = input->type;
  if (input->type == kTfLiteString || !IsKnown(axis)) MakeDynamic(output);
  return IsKnown(axis) ? ResizeExpanded(context, node) : kTfLiteOk;
}

TfLiteStatus EvalExpandDims(TfLiteContext* context, TfLiteNode* node) {
  if (!IsKnown(Input(context, node, 1))) DEPUTY_TRY(ResizeExpanded(context, node));
  return EvalCopy(context, node);
}

// ---- SHAPE and RANK ---------------------------------------------------------------------------

// Sets the output's type, shape and contents, which stay constant until the next prepare.
TfLiteStatus SetConstantOutput(TfLiteContext* context, TfLiteTensor* output, TfLiteType type,
                               std::span<const int> dims, std::span<const int> values) {
  DEPUTY_TRY(MakePersistent(context, output));
  output->type = type;
  DEPUTY_TRY(ResizeTo(context, output, dims));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == kTfLiteInt64) {
      Data<int64_t>(output)[i] = values[i];
    } else {
      Data<int32_t>(output)[i] = values[i];
    }
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareShape(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const TfLiteType type = ParamsOf<TfLiteShapeParams>(node).out_type;
  if (type != kTfLiteInt32 && type != kTfLiteInt64) {
    return TensorError(context, output, "expected the option out_type INT32 or INT64, found %s",
                       TfLiteTypeGetName(type));
  }
  const int rank = Rank(input);
  return SetConstantOutput(context, output, type, {&rank, 1}, Dims(input));
}

TfLiteStatus PrepareRank(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const int rank = Rank(Input(context, node, 0));
  return SetConstantOutput(context, Output(context, node, 0), kTfLiteInt32, {}, {&rank, 1});
}

TfLiteStatus EvalNothing(TfLiteContext*, TfLiteNode*) { return kTfLiteOk; }

// ---- BROADCAST_ARGS ---------------------------------------------------------------------------

// Returns the extent of an axis counted from the end; missing axes have extent 1.
int64_t ExtentFromBack(const TfLiteTensor* shape, int back) {
  return back < Dim(shape, 0) ? IntegerAt(shape, Dim(shape, 0) - 1 - back) : 1;
}

TfLiteStatus BroadcastShapes(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  const int rank = Dim(output, 0);
  for (int back = 0; back < rank; ++back) {
    const int64_t extent_a = ExtentFromBack(a, back), extent_b = ExtentFromBack(b, back);
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1) {
      return TensorError(context, b, "expected a shape that broadcasts, found %lld against %lld",
                         static_cast<long long>(extent_b), static_cast<long long>(extent_a));
    }
    const int64_t extent = extent_a == 1 ? extent_b : extent_a;
    if (output->type == kTfLiteInt64) {
      Data<int64_t>(output)[rank - 1 - back] = extent;
    } else {
      Data<int32_t>(output)[rank - 1 - back] = static_cast<int32_t>(extent);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareBroadcastArgs(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* a = Input(context, node, 0);
  const TfLiteTensor* b = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, a, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckSameType(context, b, a));
  DEPUTY_TRY(CheckSameType(context, output, a));
  DEPUTY_TRY(CheckRank(context, a, 1));
  DEPUTY_TRY(CheckRank(context, b, 1));
  const int rank = std::max(Dim(a, 0), Dim(b, 0));
  const bool known = IsKnown(a) && IsKnown(b);
  if (known) DEPUTY_TRY(MakePersistent(context, output));
  DEPUTY_TRY(ResizeTo(context, output, {&rank, 1}));
  return known ? BroadcastShapes(context, node) : kTfLiteOk;
}

TfLiteStatus EvalBroadcastArgs(TfLiteContext* context, TfLiteNode* node) {
  const bool done = Output(context, node, 0)->allocation_type == kTfLitePersistentRo;
  return done ? kTfLiteOk : BroadcastShapes(context, node);
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithRefusal(WithOptions<17, TfLiteReshapeParams, &FillReshape>(KernelRow<void>(
                    "RESHAPE", kTfLiteBuiltinReshape, 1, kCopiedTypes,
                    kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareAndOfferReshape>,
                                    &EvalMove<RescaleOutputs(), &EvalReshape>>,
                    kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalReshape>>,
                    kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpDataUnmodified)),
                &RefusedReshape),
    WithRefusal(WithOptions<30, TfLiteSqueezeParams, &FillSqueeze>(
                    KernelRow<void>("SQUEEZE", kTfLiteBuiltinSqueeze, 2, kCopiedTypes,
                                    kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareSqueeze>,
                                                    &EvalMove<RescaleOutputs(), &EvalCopy>>,
                                    kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalCopy>>,
                                    kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpDataUnmodified)),
                &RefusedSqueeze),
    KernelRow<void>("EXPAND_DIMS", kTfLiteBuiltinExpandDims, 1, kCopiedTypes,
                    kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareExpandDims>,
                                    &EvalMove<RescaleOutputs(), &EvalExpandDims>>,
                    kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalExpandDims>>,
                    kTfLiteInplaceOpInput0Shared | kTfLiteInplaceOpDataUnmodified),
    WithOptions<55, TfLiteShapeParams, &FillShape>(
        KernelRow<void>("SHAPE", kTfLiteBuiltinShape, 1, kCopiedTypes, &Guarded<&PrepareShape>,
                        &Guarded<&EvalNothing>)),
    KernelRow<void>("RANK", kTfLiteBuiltinRank, 1, kCopiedTypes, &Guarded<&PrepareRank>,
                    &Guarded<&EvalNothing>),
    KernelRow<void>("BROADCAST_ARGS", kTfLiteBuiltinBroadcastArgs, 1, kInt32Bit | kInt64Bit,
                    &Guarded<&PrepareBroadcastArgs>, &Guarded<&EvalBroadcastArgs>),
};

}  // namespace

constexpr std::span<const OpDef> kShapeOps = kTable;

}  // namespace deputy
