// SPDX-License-Identifier: Apache-2.0
//
// Parts of a tensor: SLICE and STRIDED_SLICE, which read one, and DYNAMIC_UPDATE_SLICE, which
// writes one. Positions are tensors and may be known only at run time.
#include <algorithm>
#include <functional>

#include "core/kernel_api/fusion.h"
#include "core/support/int_math.h"
#include "kernels/common/copy_runs.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/strided_copy.h"
#include "kernels/common/views.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillStridedSlice(const OpOptions& options, TfLiteStridedSliceParams* params) {
  params->begin_mask = options.Int(0);
  params->end_mask = options.Int(1);
  params->ellipsis_mask = options.Int(2);
  params->new_axis_mask = options.Int(3);
  params->shrink_axis_mask = options.Int(4);
  params->offset = options.Bool(5);
  return true;
}

constexpr uint32_t kSliceTypes = kMovedBits | kInt4Bit;
constexpr uint32_t kUpdateTypes = kMovedNumberBits | kInt4Bit;

// ---- SLICE ------------------------------------------------------------------------------------

// Computes the extents of the slice, one per dimension of the input.
TfLiteStatus SliceDims(TfLiteContext* context, const TfLiteNode* node, int* dims) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* begin = Input(context, node, 1);
  const TfLiteTensor* size = Input(context, node, 2);
  for (int axis = 0; axis < Rank(input); ++axis) {
    const int64_t extent = Dim(input, axis);
    const int64_t from = IntegerAt(begin, axis);
    if (from < 0 || from > extent) {
      return TensorError(context, begin,
                         "expected a start from 0 to %lld in dimension %d, found "
                         "%lld",
                         static_cast<long long>(extent), axis, static_cast<long long>(from));
    }
    int64_t count = IntegerAt(size, axis);
    if (count == -1) count = extent - from;
    if (count < 0 || count > extent - from) {
      return TensorError(context, size,
                         "expected a size from 0 to %lld in dimension %d or -1, "
                         "found %lld",
                         static_cast<long long>(extent - from), axis,
                         static_cast<long long>(count));
    }
    dims[axis] = static_cast<int>(count);
  }
  return kTfLiteOk;
}

// Resizes the output of SLICE.
TfLiteStatus ResizeSlice(TfLiteContext* context, TfLiteNode* node) {
  int dims[kMaxRank];
  DEPUTY_TRY(SliceDims(context, node, dims));
  return ResizeTo(context, Output(context, node, 0), {dims, Dims(Input(context, node, 0)).size()});
}

// Resizes the output of a slice whose position is known only in invoke. If the model declares
// another shape, for which memory is planned, the output becomes dynamic.
TfLiteStatus ResizeSliceInInvoke(TfLiteContext* context, TfLiteNode* node) {
  int dims[kMaxRank];
  DEPUTY_TRY(SliceDims(context, node, dims));
  TfLiteTensor* output = Output(context, node, 0);
  const std::span<const int> wanted(dims, Dims(Input(context, node, 0)).size());
  if (output->allocation_type == kTfLiteArenaRw && !std::ranges::equal(Dims(output), wanted)) {
    MakeDynamic(output);
  }
  return ResizeTo(context, output, wanted);
}

// Offers a view if the slice is one contiguous run of the input.
void OfferAsView(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (!HasBytes(input) || ElementCount(output) == 0) return;
  const auto steps = DenseSteps(Dims(input));
  int64_t offset = 0;
  bool is_whole = true;  // the slice covers all axes inside this one completely
  for (int axis = Rank(input) - 1; axis >= 0; --axis) {
    if (!is_whole && Dim(output, axis) != 1) return;
    is_whole = is_whole && Dim(output, axis) == Dim(input, axis);
    offset += IntegerAt(Input(context, node, 1), axis) * steps[static_cast<size_t>(axis)];
  }
  OfferViews(context, node,
             {.kind = ViewOffer::Kind::kOutputsInInput,
              .offset = static_cast<size_t>(offset) *
                        (output->bytes / static_cast<size_t>(ElementCount(output)))});
}

TfLiteStatus EvalSlice(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* begin = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  if (!IsKnown(begin) || !IsKnown(Input(context, node, 2))) {
    DEPUTY_TRY(ResizeSliceInInvoke(context, node));
  }
  const auto in = DenseSteps(Dims(input));
  const auto out = DenseSteps(Dims(output));
  int64_t offset = 0;
  StridedCopy copy;
  for (int axis = 0; axis < Rank(input); ++axis) {
    offset += IntegerAt(begin, axis) * in[axis];
    copy.Add(Dim(output, axis), in[axis], out[axis]);
  }
  return MoveElements(context, input, output, [&](const auto* from, auto* to) {
    // If the output is a view of the input, there is nothing to copy.
    if (from + offset != to) copy.Run(context, from + offset, to);
  });
}

// Row function of SLICE in a row-wise fusion group: copies the same columns of each row.
void PartsOfRows(TfLiteContext*, TfLiteNode*, const GroupRows& rows) {
  CopyRuns(rows.count, rows.columns,
           reinterpret_cast<const uint32_t*>(rows.computed[0] + rows.op->part_begin),
           rows.computed_columns[0], reinterpret_cast<uint32_t*>(rows.out), rows.columns);
}

constexpr RowKernel kRowParts = {.rows = &PartsOfRows};

// Offers row-wise fusion of a slice along one axis, which may select columns of a group's rows.
void OfferPartsOfRows(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (output->type != kTfLiteFloat32) return;
  int part_axis = -1;
  for (int axis = 0; axis < Rank(input); ++axis) {
    if (Dim(output, axis) == Dim(input, axis)) continue;
    if (part_axis >= 0) return;
    part_axis = axis;
  }
  if (part_axis < 0) return;
  OfferFusion(
      context, node,
      {.invoke = kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalSlice>>,
       .by_rows = {.kernel = &kRowParts,
                   .kind = RowKind::kColumnSlice,
                   .computed_inputs = 1,
                   .part_axis = part_axis,
                   .part_begin = static_cast<int>(IntegerAt(Input(context, node, 1), part_axis))}});
}

// Returns true if the model declares the shape of a slice whose position is known only in invoke;
// upstream trusts that shape.
bool HasDeclaredSlice(TfLiteContext* context, const TfLiteNode* node) {
  const Runtime* runtime = RuntimeOf(context);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  if (runtime == nullptr || output->allocation_type != kTfLiteArenaRw ||
      Rank(output) != Rank(input) || !runtime->HasDeclaredShape(node->inputs->data[0]) ||
      !runtime->HasDeclaredShape(node->outputs->data[0])) {
    return false;
  }
  return std::ranges::equal(Dims(output), Dims(input), std::less_equal<>());
}

TfLiteStatus PrepareSlice(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* begin = Input(context, node, 1);
  const TfLiteTensor* size = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kSliceTypes));
  DEPUTY_TRY(CheckSameType(context, output, input));
  for (const TfLiteTensor* tensor : {begin, size}) {
    DEPUTY_TRY(CheckType(context, tensor, kInt32Bit | kInt64Bit));
    DEPUTY_TRY(CheckRank(context, tensor, 1));
    DEPUTY_TRY(CheckDim(context, tensor, 0, Rank(input)));
  }
  const bool known = IsKnown(begin) && IsKnown(size);
  if (!known && HasDeclaredSlice(context, node)) return ResizeLike(context, output, output);
  if (!known || input->type == kTfLiteString) MakeDynamic(output);
  if (!known) return kTfLiteOk;
  DEPUTY_TRY(ResizeSlice(context, node));
  OfferAsView(context, node);
  OfferPartsOfRows(context, node);
  return kTfLiteOk;
}

// ---- STRIDED_SLICE ----------------------------------------------------------------------------

// Range of a slice along one axis of the input.
struct AxisRange {
  int64_t begin = 0, stride = 1, count = 1;
};

// A strided slice in terms of the input's axes, and the output's shape.
struct StridedPlan {
  AxisRange ranges[kMaxRank];
  int dims[kMaxRank];
  int rank = 0;
};

// Reads entry `i` of the vectors begin, end and strides, as the masks require, for an axis of
// `extent` elements.
TfLiteStatus ReadRange(TfLiteContext* context, const TfLiteNode* node, int i, int64_t extent,
                       bool shrink, AxisRange* range) {
  const auto& params = ParamsOf<TfLiteStridedSliceParams>(node);
  const TfLiteTensor* strides = Input(context, node, 3);
  const int64_t stride = IntegerAt(strides, i);
  if (stride == 0) return TensorError(context, strides, "expected strides other than 0");
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? extent : extent - 1;
  const auto clamped = [&](int64_t at) { return std::clamp(at < 0 ? at + extent : at, low, high); };
  const int64_t raw_begin = IntegerAt(Input(context, node, 1), i);
  const bool begin_masked = (params.begin_mask >> i & 1) != 0;
  const int64_t begin = begin_masked ? (stride > 0 ? low : high) : clamped(raw_begin);
  if (shrink) {
    // An index before the first element is treated as the first one, as in upstream.
    if (extent == 0 || (!begin_masked && raw_begin >= extent)) {
      return TensorError(context, Input(context, node, 1),
                         "expected an index below %lld, found "
                         "%lld",
                         static_cast<long long>(extent), static_cast<long long>(raw_begin));
    }
    *range = {std::max<int64_t>(begin, 0), 1, 1};
    return kTfLiteOk;
  }
  const int64_t raw_end = IntegerAt(Input(context, node, 2), i);
  const bool end_masked = (params.end_mask >> i & 1) != 0;
  const int64_t end =
      end_masked ? (stride > 0 ? high : low) : clamped(params.offset ? begin + raw_end : raw_end);
  const int64_t length = stride > 0 ? end - begin : begin - end;
  const int64_t step = std::abs(stride);
  const int64_t count = length <= 0 ? 0 : CeilDiv(length, step);
  // A range of at most one element gets stride 1: its stride is irrelevant, and a stride larger
  // than the axis could overflow when it is multiplied.
  *range = {begin, count > 1 ? stride : 1, count};
  return kTfLiteOk;
}

TfLiteStatus PlanStrides(TfLiteContext* context, const TfLiteNode* node, StridedPlan* plan) {
  const auto& params = ParamsOf<TfLiteStridedSliceParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const int entries = Dim(Input(context, node, 1), 0);
  int axis = 0;
  bool ellipsis = false;  // set after the first ellipsis; a second one is an ordinary entry
  const auto keep = [&] {
    plan->ranges[axis] = {0, 1, Dim(input, axis)};
    plan->dims[plan->rank++] = Dim(input, axis++);
  };
  for (int i = 0; i < entries; ++i) {
    if (!ellipsis && (params.ellipsis_mask >> i & 1) != 0) {
      ellipsis = true;
      // An ellipsis keeps all axes that are not covered by later entries.
      int later = 0;
      for (int j = i + 1; j < entries; ++j) later += (params.new_axis_mask >> j & 1) == 0 ? 1 : 0;
      while (axis < Rank(input) - later) keep();
    } else if ((params.new_axis_mask >> i & 1) != 0) {
      plan->dims[plan->rank++] = 1;
    } else if (axis < Rank(input)) {
      const bool shrink = (params.shrink_axis_mask >> i & 1) != 0;
      AxisRange& range = plan->ranges[axis];
      DEPUTY_TRY(ReadRange(context, node, i, Dim(input, axis), shrink, &range));
      if (!shrink) plan->dims[plan->rank++] = static_cast<int>(range.count);
      ++axis;
    } else {
      return TensorError(context, input, "expected at least %d dimensions", axis + 1);
    }
  }
  while (axis < Rank(input)) keep();
  return kTfLiteOk;
}

TfLiteStatus ResizeStrided(TfLiteContext* context, TfLiteNode* node) {
  StridedPlan plan;
  DEPUTY_TRY(PlanStrides(context, node, &plan));
  return ResizeTo(context, Output(context, node, 0), {plan.dims, static_cast<size_t>(plan.rank)});
}

bool AreStridesKnown(TfLiteContext* context, const TfLiteNode* node) {
  return IsKnown(Input(context, node, 1)) && IsKnown(Input(context, node, 2)) &&
         IsKnown(Input(context, node, 3));
}

TfLiteStatus PrepareStridedSlice(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 4, 4, 1));
  const auto& params = ParamsOf<TfLiteStridedSliceParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* begin = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kMovedBits));
  DEPUTY_TRY(CheckSameType(context, output, input));
  for (int i = 1; i <= 3; ++i) {
    const TfLiteTensor* tensor = Input(context, node, i);
    DEPUTY_TRY(CheckType(context, tensor, kInt32Bit));
    DEPUTY_TRY(CheckRank(context, tensor, 1));
    DEPUTY_TRY(CheckDim(context, tensor, 0, Dim(begin, 0)));
  }
  int new_axes = 0;
  for (int i = 0; i < Dim(begin, 0) && i < 31; ++i) new_axes += params.new_axis_mask >> i & 1;
  if (Dim(begin, 0) > kMaxRank || Rank(input) + new_axes > kMaxRank) {
    return TensorError(context, input,
                       "expected at most %d dimensions, new ones among them, found "
                       "%d and %d in the slice",
                       kMaxRank, Rank(input), Dim(begin, 0));
  }
  const bool known = AreStridesKnown(context, node);
  if (!known || input->type == kTfLiteString) MakeDynamic(output);
  return known ? ResizeStrided(context, node) : kTfLiteOk;
}

TfLiteStatus EvalStridedSlice(TfLiteContext* context, TfLiteNode* node) {
  if (!AreStridesKnown(context, node)) DEPUTY_TRY(ResizeStrided(context, node));
  StridedPlan plan;
  DEPUTY_TRY(PlanStrides(context, node, &plan));
  const TfLiteTensor* input = Input(context, node, 0);
  const auto in = DenseSteps(Dims(input));
  int64_t offset = 0, written = ElementCount(Output(context, node, 0));
  StridedCopy copy;
  for (int axis = 0; axis < Rank(input); ++axis) {
    const AxisRange& range = plan.ranges[axis];
    if (range.count > 0) written /= range.count;
    offset += range.begin * in[axis];
    copy.Add(range.count, in[axis] * range.stride, written);
  }
  return MoveElements(context, input, Output(context, node, 0),
                      [&](const auto* from, auto* to) { copy.Run(context, from + offset, to); });
}

// ---- DYNAMIC_UPDATE_SLICE ---------------------------------------------------------------------

TfLiteStatus PrepareUpdate(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* operand = Input(context, node, 0);
  const TfLiteTensor* update = Input(context, node, 1);
  const TfLiteTensor* start = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, operand, kUpdateTypes));
  DEPUTY_TRY(CheckSameType(context, update, operand));
  DEPUTY_TRY(CheckType(context, start, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckRank(context, start, 1));
  DEPUTY_TRY(CheckDim(context, start, 0, Rank(operand)));
  DEPUTY_TRY(CheckRank(context, update, Rank(operand)));
  for (int axis = 0; axis < Rank(operand); ++axis) {
    if (Dim(update, axis) > Dim(operand, axis)) {
      return TensorError(context, update, "expected dimension %d to be at most %d, found %d", axis,
                         Dim(operand, axis), Dim(update, axis));
    }
  }
  output->type = operand->type;
  return ResizeLike(context, output, operand);
}

TfLiteStatus EvalUpdate(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* operand = Input(context, node, 0);
  const TfLiteTensor* update = Input(context, node, 1);
  const TfLiteTensor* start = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CopyTensor(context, operand, output));
  const auto in = DenseSteps(Dims(update));
  const auto out = DenseSteps(Dims(output));
  int64_t offset = 0;
  StridedCopy copy;
  for (int axis = 0; axis < Rank(update); ++axis) {
    const int64_t last = Dim(operand, axis) - Dim(update, axis);
    offset += std::clamp<int64_t>(IntegerAt(start, axis), 0, last) * out[axis];
    copy.Add(Dim(update, axis), in[axis], out[axis]);
  }
  return MoveElements(context, update, output,
                      [&](const auto* from, auto* to) { copy.Run(context, from, to + offset); });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    KernelRow<void>("SLICE", kTfLiteBuiltinSlice, 8, kSliceTypes,
                    kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareSlice>,
                                    &EvalMove<RescaleOutputs(), &EvalSlice>>,
                    kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalSlice>>),
    WithOptions<32, TfLiteStridedSliceParams, &FillStridedSlice>(
        KernelRow<void>("STRIDED_SLICE", kTfLiteBuiltinStridedSlice, 8, kMovedBits,
                        kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareStridedSlice>,
                                        &EvalMove<RescaleOutputs(), &EvalStridedSlice>>,
                        kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalStridedSlice>>)),
    KernelRow<void>("DYNAMIC_UPDATE_SLICE", kTfLiteBuiltinDynamicUpdateSlice, 6, kUpdateTypes,
                    kFoldingPrepare<&PrepareMove<RescaleInputs(3), &PrepareUpdate>,
                                    &EvalMove<RescaleInputs(3), &EvalUpdate>>,
                    kFoldedInvoke<&EvalMove<RescaleInputs(3), &EvalUpdate>>,
                    kTfLiteInplaceOpInput0Shared),
};

}  // namespace

constexpr std::span<const OpDef> kSliceOps = kTable;

}  // namespace deputy
