// SPDX-License-Identifier: Apache-2.0
//
// Operators that reorder or repeat the elements of one tensor: TRANSPOSE, TILE, BROADCAST_TO,
// DEPTH_TO_SPACE, SPACE_TO_DEPTH, REVERSE_V2 and REVERSE_SEQUENCE. Each is one strided copy, except
// REVERSE_SEQUENCE. Operators between space and batch, which also drop or add elements, are in
// kernels/space_batch.cc.
#include <algorithm>

#include "core/kernel_api/fusion.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/strided_copy.h"
#include "kernels/common/views.h"
#include "kernels/linalg/row_group.h"
#include "kernels/space_batch.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

template <typename Params>
bool FillBlockSize(const OpOptions& options, Params* params) {
  params->block_size = options.Int(0);
  return true;
}

// ---- Common parts -----------------------------------------------------------------------------

TfLiteStatus RunCopy(TfLiteContext* context, TfLiteNode* node, StridedCopy* copy) {
  copy->Finish();
  return MoveElements(context, Input(context, node, 0), Output(context, node, 0),
                      [context, copy](const auto* in, auto* out) { copy->Run(context, in, out); });
}

// Prepare function of an operator whose second input determines the output's shape.
template <TfLiteStatus (*resize)(TfLiteContext*, TfLiteNode*)>
TfLiteStatus PrepareShaped(TfLiteContext* context, TfLiteNode* node, uint32_t types,
                           uint32_t shape_types) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* shape = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, types));
  DEPUTY_TRY(CheckType(context, shape, shape_types));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckRank(context, shape, 1));
  if (!IsKnown(shape) || input->type == kTfLiteString) MakeDynamic(output);
  return IsKnown(shape) ? resize(context, node) : kTfLiteOk;
}

template <TfLiteStatus (*resize)(TfLiteContext*, TfLiteNode*)>
TfLiteStatus ResizeIfDynamic(TfLiteContext* context, TfLiteNode* node) {
  return IsKnown(Input(context, node, 1)) ? kTfLiteOk : resize(context, node);
}

constexpr uint32_t kTransposeTypes = kMovedNumberBits | kInt4Bit | TypeBit(kTfLiteUInt4);

// ---- TRANSPOSE --------------------------------------------------------------------------------

TfLiteStatus ReadPermutation(TfLiteContext* context, const TfLiteNode* node, int* order) {
  const TfLiteTensor* permutation = Input(context, node, 1);
  const int rank = Rank(Input(context, node, 0));
  bool used[kMaxRank] = {};
  for (int i = 0; i < rank; ++i) {
    const int64_t axis = IntegerAt(permutation, i);
    if (axis < -rank || axis >= rank) {
      return TensorError(context, permutation,
                         "Transpose op permutations array is out of bounds.; expected an axis of "
                         "%d to %d, found %lld",
                         -rank, rank - 1, static_cast<long long>(axis));
    }
    DEPUTY_TRY(ResolveAxis(context, permutation, axis, rank, &order[i]));
    if (used[order[i]]) {
      return TensorError(context, permutation, "expected every axis once, found %d twice",
                         order[i]);
    }
    used[order[i]] = true;
  }
  return kTfLiteOk;
}

TfLiteStatus ResizeTransposed(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  int order[kMaxRank] = {}, dims[kMaxRank];
  DEPUTY_TRY(ReadPermutation(context, node, order));
  for (int i = 0; i < Rank(input); ++i) dims[i] = Dim(input, order[i]);
  return ResizeTo(context, Output(context, node, 0), {dims, static_cast<size_t>(Rank(input))});
}

// Returns true if the transposition keeps the order of elements: it only moves dimensions of size
// one.
bool MovesNothing(const TfLiteTensor* input, const int* order) {
  int last = -1;
  for (int i = 0; i < Rank(input); ++i) {
    if (Dim(input, order[i]) == 1) continue;
    if (order[i] < last) return false;
    last = order[i];
  }
  return true;
}

TfLiteStatus EvalTranspose(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(ResizeIfDynamic<&ResizeTransposed>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  int order[kMaxRank] = {};
  DEPUTY_TRY(ReadPermutation(context, node, order));
  // The output needs no copy if it is a view of the input.
  if (MovesNothing(input, order) && input->data.data == output->data.data) return kTfLiteOk;
  const auto in = DenseSteps(Dims(input));
  const auto out = DenseSteps(Dims(output));
  StridedCopy copy;
  for (int i = 0; i < Rank(input); ++i) copy.Add(Dim(input, order[i]), in[order[i]], out[i]);
  return RunCopy(context, node, &copy);
}

// Row function of TRANSPOSE in a row-wise fusion group: gathers rows from a strided view.
void GatherRows(TfLiteContext* context, TfLiteNode*, const GroupRows& rows) {
  const StridedShape& view = rows.op->strided[0].shape;
  const float* const in = Data<float>(&context->tensors[rows.op->strided[0].tensor]);
  const int outer = view.AxesBeforeRows(rows.columns);
  const DenseSteps within({view.dims + outer, static_cast<size_t>(view.rank - outer)});
  // `extent` is the number of equidistant rows: those along the last outer axis, and along the axes
  // before it that continue with the same stride.
  const StridedShape firsts = view.FirstAxes(outer);
  const int64_t row_step = outer == 0 ? 0 : view.strides[outer - 1];
  int64_t extent = 1;
  for (int axis = outer - 1; axis >= 0; --axis) {
    if (view.dims[axis] > 1 && view.strides[axis] != extent * row_step) break;
    extent *= view.dims[axis];
  }
  for (int64_t done = 0, count; done < rows.count; done += count) {
    const int64_t row = rows.first + done;
    count = std::min(rows.count - done, extent - row % extent);
    StridedCopy copy;
    copy.Add(count, row_step, rows.columns);
    for (int axis = outer; axis < view.rank; ++axis) {
      copy.Add(view.dims[axis], view.strides[axis], within[axis - outer]);
    }
    copy.Finish();
    copy.Run(reinterpret_cast<const uint32_t*>(in + firsts.OffsetOf(row)),
             reinterpret_cast<uint32_t*>(rows.out + done * rows.columns));
  }
}

constexpr RowKernel kGatheredRows = {.rows = &GatherRows};

TfLiteStatus EvalGatherGroup(TfLiteContext* context, TfLiteNode*, const GroupRun& group) {
  const auto& rows = std::get<RowRun>(group);
  return RunRowGroup(context, rows, {rows.program.rows, 1});
}

TfLiteStatus OfferTranspose(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  int order[kMaxRank] = {};
  DEPUTY_TRY(ReadPermutation(context, node, order));
  if (MovesNothing(input, order) && HasBytes(input)) {
    OfferViews(context, node, {.kind = ViewOffer::Kind::kOutputsInInput});
  }
  if (output->type != kTfLiteFloat32) return kTfLiteOk;
  FusionOffer offer = {.invoke = kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalTranspose>>,
                       .run = &GuardedGroup<&EvalGatherGroup>,
                       .by_rows = {&kGatheredRows, RowKind::kTranspose, 1}};
  std::copy_n(order, Rank(input), offer.by_rows.axes);
  OfferFusion(context, node, offer);
  return kTfLiteOk;
}

TfLiteStatus PrepareTranspose(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckElementCount(context, Input(context, node, 1), Rank(input)));
  DEPUTY_TRY(PrepareShaped<&ResizeTransposed>(context, node, kTransposeTypes, kInt32Bit));
  return IsDynamic(Output(context, node, 0)) ? kTfLiteOk : OfferTranspose(context, node);
}

// ---- TILE -------------------------------------------------------------------------------------

TfLiteStatus ResizeTiled(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* multiples = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckElementCount(context, multiples, Rank(input)));
  int dims[kMaxRank];
  for (int axis = 0; axis < Rank(input); ++axis) {
    const int64_t times = IntegerAt(multiples, axis);
    if (times < 0 || times > INT32_MAX) {
      return TensorError(context, multiples, "expected multiples from 0 to %d, found %lld",
                         INT32_MAX, static_cast<long long>(times));
    }
    DEPUTY_TRY(SetExtent(context, output, axis, Dim(input, axis) * times, &dims[axis]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(input))});
}

TfLiteStatus PrepareTile(TfLiteContext* context, TfLiteNode* node) {
  return PrepareShaped<&ResizeTiled>(context, node, kMovedBits, kInt32Bit | kInt64Bit);
}

TfLiteStatus EvalTile(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(ResizeIfDynamic<&ResizeTiled>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  const auto in = DenseSteps(Dims(input));
  const auto out = DenseSteps(Dims(output));
  StridedCopy copy;
  for (int axis = 0; axis < Rank(input); ++axis) {
    const int extent = Dim(input, axis);
    copy.Add(extent == 0 ? 0 : Dim(output, axis) / extent, 0, out[axis] * extent);
    copy.Add(extent, in[axis], out[axis]);
  }
  return RunCopy(context, node, &copy);
}

// ---- BROADCAST_TO -----------------------------------------------------------------------------

// The message is upstream's, which clients may compare.
constexpr char kNotBroadcastable[] = "Output shape must be broadcastable from input shape.; ";

TfLiteStatus ResizeBroadcast(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* shape = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  const int rank = Dim(shape, 0);
  if (rank > kMaxRank || rank < Rank(input)) {
    return TensorError(context, shape, "%sexpected %d to %d dimensions, found %d",
                       rank > kMaxRank ? "" : kNotBroadcastable, Rank(input), kMaxRank, rank);
  }
  int dims[kMaxRank];
  for (int axis = 0; axis < rank; ++axis) {
    const int from = axis - (rank - Rank(input));
    const int64_t extent = IntegerAt(shape, axis);
    if (from >= 0 && Dim(input, from) != 1 && Dim(input, from) != extent) {
      return TensorError(context, shape,
                         "%sexpected dimension %d to be %d like the input's, found %lld",
                         kNotBroadcastable, axis, Dim(input, from), static_cast<long long>(extent));
    }
    DEPUTY_TRY(SetExtent(context, output, axis, extent, &dims[axis]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PrepareBroadcastTo(TfLiteContext* context, TfLiteNode* node) {
  return PrepareShaped<&ResizeBroadcast>(context, node, kMovedNumberBits, kInt32Bit | kInt64Bit);
}

TfLiteStatus EvalBroadcastTo(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(ResizeIfDynamic<&ResizeBroadcast>(context, node));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  const auto in = DenseSteps(Dims(input));
  const auto out = DenseSteps(Dims(output));
  StridedCopy copy;
  for (int axis = 0; axis < Rank(output); ++axis) {
    const int from = axis - (Rank(output) - Rank(input));
    const bool repeated = from < 0 || Dim(input, from) == 1;
    copy.Add(Dim(output, axis), repeated ? 0 : in[from], out[axis]);
  }
  return RunCopy(context, node, &copy);
}

// ---- DEPTH_TO_SPACE and SPACE_TO_DEPTH --------------------------------------------------------

// Sets `deep` to the tensor with the larger depth and `wide` to the one with the larger width; the
// operator determines which of them is the input.
template <bool to_space>
void DeepAndWide(TfLiteContext* context, const TfLiteNode* node, const TfLiteTensor** deep,
                 const TfLiteTensor** wide) {
  *deep = to_space ? Input(context, node, 0) : Output(context, node, 0);
  *wide = to_space ? Output(context, node, 0) : Input(context, node, 0);
}

template <bool to_space>
TfLiteStatus ResizeBlocks(TfLiteContext* context, TfLiteNode* node, int block) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const int64_t area = int64_t{block} * block;
  const int height = Dim(input, 1), width = Dim(input, 2), depth = Dim(input, 3);
  if (to_space ? depth % area != 0 : height % block != 0 || width % block != 0) {
    return TensorError(context, input,
                       "expected dimensions that blocks of %d divide, found "
                       "[%d,%d,%d,%d]",
                       block, Dim(input, 0), height, width, depth);
  }
  int dims[4] = {Dim(input, 0)};
  DEPUTY_TRY(
      SetExtent(context, output, 1, to_space ? int64_t{height} * block : height / block, &dims[1]));
  DEPUTY_TRY(
      SetExtent(context, output, 2, to_space ? int64_t{width} * block : width / block, &dims[2]));
  const bool fits = to_space || depth == 0 || area <= INT32_MAX / depth;
  DEPUTY_TRY(SetExtent(context, output, 3,
                       to_space ? depth / area
                       : fits   ? depth * area
                                : -1,
                       &dims[3]));
  return ResizeTo(context, output, dims);
}

template <bool to_space, typename Params>
TfLiteStatus PrepareBlocks(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kInt8Bit | kUInt8Bit | kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckSameType(context, output, input));
  DEPUTY_TRY(CheckRank(context, input, 4));
  const int block = ParamsOf<Params>(node).block_size;
  if (block < 1) return KernelError(context, "expected a block_size of 1 or more, found %d", block);
  return ResizeBlocks<to_space>(context, node, block);
}

template <bool to_space, typename Params>
TfLiteStatus EvalBlocks(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor *deep, *wide;
  DeepAndWide<to_space>(context, node, &deep, &wide);
  const int block = ParamsOf<Params>(node).block_size;
  const auto in = DenseSteps(Dims(deep));
  const auto out = DenseSteps(Dims(wide));
  const int channels = Dim(wide, 3);
  StridedCopy copy;
  const auto add = [&copy](int64_t extent, int64_t step_deep, int64_t step_wide) {
    copy.Add(extent, to_space ? step_deep : step_wide, to_space ? step_wide : step_deep);
  };
  add(Dim(deep, 0), in[0], out[0]);
  add(Dim(deep, 1), in[1], out[1] * block);
  add(block, int64_t{block} * channels, out[1]);
  add(Dim(deep, 2), in[2], out[2] * block);
  add(block, channels, out[2]);
  add(channels, 1, 1);
  return RunCopy(context, node, &copy);
}

// ---- REVERSE_V2 -------------------------------------------------------------------------------

constexpr uint32_t kReverseTypes = kBFloat16Bit | kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit |
                                   kInt16Bit | kInt32Bit | kInt64Bit | kBoolBit;

TfLiteStatus PrepareReverse(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* axes = Input(context, node, 1);
  DEPUTY_TRY(CheckType(context, input, kReverseTypes));
  DEPUTY_TRY(CheckType(context, axes, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, axes, 1));
  if (Dim(axes, 0) > Rank(input)) {
    return TensorError(context, axes, "expected at most %d axes, found %d", Rank(input),
                       Dim(axes, 0));
  }
  DEPUTY_TRY(CheckSameType(context, Output(context, node, 0), input));
  return ResizeLike(context, Output(context, node, 0), input);
}

// Finds the first of the reversed axes, which may be listed in any order. Like upstream, fails
// unless they are adjacent.
TfLiteStatus ReversedAxes(TfLiteContext* context, const TfLiteNode* node, int* out_first) {
  const TfLiteTensor* axes = Input(context, node, 1);
  const int rank = Rank(Input(context, node, 0));
  const int count = std::min(Dim(axes, 0), kMaxRank);  // prepare allows at most `rank` axes
  int sorted[kMaxRank];
  for (int i = 0; i < count; ++i) {
    DEPUTY_TRY(ResolveAxis(context, axes, IntegerAt(axes, i), rank, &sorted[i]));
  }
  std::sort(sorted, sorted + count);
  for (int i = 1; i < count; ++i) {
    if (sorted[i] != sorted[i - 1] + 1) {
      return TensorError(context, axes, "expected axes next to each other, found %d and %d",
                         sorted[i - 1], sorted[i]);
    }
  }
  *out_first = count == 0 ? 0 : sorted[0];
  return kTfLiteOk;
}

TfLiteStatus EvalReverse(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  int first = 0;
  DEPUTY_TRY(ReversedAxes(context, node, &first));
  const auto at = static_cast<size_t>(first);
  const auto count = static_cast<size_t>(Dim(Input(context, node, 1), 0));
  const int64_t outer = ElementCount(Dims(input).first(at));
  const int64_t middle = ElementCount(Dims(input).subspan(at, count));
  const int64_t inner = ElementCount(Dims(input).subspan(at + count));
  StridedCopy copy;
  copy.Add(outer, middle * inner, middle * inner);
  copy.Add(middle, -inner, inner);
  copy.Add(inner, 1, 1);
  copy.Finish();
  return MoveElements(context, input, Output(context, node, 0), [&](const auto* in, auto* out) {
    copy.Run(context, in + (middle - 1) * inner, out);
  });
}

// ---- REVERSE_SEQUENCE -------------------------------------------------------------------------

constexpr uint32_t kReverseSequenceTypes =
    kFloat32Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;

bool FillReverseSequence(const OpOptions& options, TfLiteReverseSequenceParams* params) {
  params->seq_dim = options.Int(0);
  params->batch_dim = options.Int(1);
  return true;
}

TfLiteStatus PrepareReverseSequence(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const auto& params = ParamsOf<TfLiteReverseSequenceParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* lengths = Input(context, node, 1);
  DEPUTY_TRY(CheckType(context, input, kReverseSequenceTypes));
  DEPUTY_TRY(CheckType(context, lengths, kInt32Bit | kInt64Bit));
  DEPUTY_TRY(CheckRank(context, lengths, 1));
  const int rank = Rank(input);
  if (params.seq_dim < 0 || params.seq_dim >= rank || params.batch_dim < 0 ||
      params.batch_dim >= rank || params.seq_dim == params.batch_dim) {
    return KernelError(context, "expected two axes from 0 to %d, found seq_dim %d and batch_dim %d",
                       rank - 1, params.seq_dim, params.batch_dim);
  }
  DEPUTY_TRY(CheckDim(context, lengths, 0, Dim(input, params.batch_dim)));
  DEPUTY_TRY(CheckSameType(context, Output(context, node, 0), input));
  return ResizeLike(context, Output(context, node, 0), input);
}

// Extents of a tensor whose axes are merged to five; the second and the fourth are the sequence and
// the batch, in either order.
struct SequenceAxes {
  bool sequence_first;
  int64_t outer, first, middle, second, inner;
};

SequenceAxes SplitSequence(const TfLiteReverseSequenceParams& params, std::span<const int> dims) {
  const auto low = static_cast<size_t>(std::min(params.seq_dim, params.batch_dim));
  const auto high = static_cast<size_t>(std::max(params.seq_dim, params.batch_dim));
  return {params.seq_dim < params.batch_dim,
          ElementCount(dims.first(low)),
          dims[low],
          ElementCount(dims.subspan(low + 1, high - low - 1)),
          dims[high],
          ElementCount(dims.subspan(high + 1))};
}

// Computes REVERSE_SEQUENCE. Elements after a sequence's length stay in place; if the length is
// negative, all elements do.
template <typename T>
void ReverseSequences(const SequenceAxes& axes, const TfLiteTensor* lengths, const T* in, T* out) {
  for (int64_t i = 0; i < axes.outer * axes.first; ++i) {
    for (int64_t m = 0; m < axes.middle; ++m) {
      for (int64_t k = 0; k < axes.second; ++k, out += axes.inner) {
        int64_t first = i % axes.first, second = k;
        int64_t& step = axes.sequence_first ? first : second;
        const int64_t length = IntegerAt(lengths, axes.sequence_first ? second : first);
        if (step < length) step = length - 1 - step;
        const int64_t row = (i / axes.first * axes.first + first) * axes.middle + m;
        std::copy_n(in + (row * axes.second + second) * axes.inner, axes.inner, out);
      }
    }
  }
}

TfLiteStatus EvalReverseSequence(TfLiteContext* context, TfLiteNode* node) {
  const auto& params = ParamsOf<TfLiteReverseSequenceParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* lengths = Input(context, node, 1);
  const int longest = Dim(input, params.seq_dim);
  for (int64_t i = 0; i < Dim(lengths, 0); ++i) {
    if (IntegerAt(lengths, i) > longest) {
      return TensorError(context, lengths, "expected lengths of at most %d, found %lld", longest,
                         static_cast<long long>(IntegerAt(lengths, i)));
    }
  }
  const SequenceAxes axes = SplitSequence(params, Dims(input));
  return MoveElements(context, input, Output(context, node, 0),
                      [&](const auto* in, auto* out) { ReverseSequences(axes, lengths, in, out); });
}

// ---- Table ------------------------------------------------------------------------------------

constexpr uint32_t kBlockTypes = kFloat32Bit | kInt8Bit | kUInt8Bit | kInt32Bit | kInt64Bit;

using Kernel = TfLiteStatus (*)(TfLiteContext*, TfLiteNode*);

// Row of an operator without options.
constexpr OpDef Plain(const char* name, TfLiteBuiltinOperator code, int min_version,
                      int max_version, uint32_t types, Kernel prepare, Kernel invoke) {
  OpDef op = KernelRow<void>(name, code, max_version, types, prepare, invoke);
  op.min_version = min_version;
  return op;
}

template <bool to_space, uint8_t member, typename Params>
constexpr OpDef Blocks(const char* name, TfLiteBuiltinOperator code) {
  return WithOptions<member, Params, &FillBlockSize<Params>>(
      Plain(name, code, 1, 2, kBlockTypes,
            &Guarded<&PrepareMove<RescaleOutputs(), &PrepareBlocks<to_space, Params>>>,
            &Guarded<&EvalMove<RescaleOutputs(), &EvalBlocks<to_space, Params>>>));
}

constexpr OpDef kTable[] = {
    Plain("TRANSPOSE", kTfLiteBuiltinTranspose, 1, 9, kTransposeTypes,
          kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareTranspose>,
                          &EvalMove<RescaleOutputs(), &EvalTranspose>>,
          kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalTranspose>>),
    Blocks<true, 94, TfLiteDepthToSpaceParams>("DEPTH_TO_SPACE", kTfLiteBuiltinDepthToSpace),
    Blocks<false, 19, TfLiteSpaceToDepthParams>("SPACE_TO_DEPTH", kTfLiteBuiltinSpaceToDepth),
    Plain("BATCH_TO_SPACE_ND", kTfLiteBuiltinBatchToSpaceNd, 1, 4, kMovedNumberBits,
          &Guarded<&PrepareMove<RescaleOutputs(), &PrepareBatchToSpace>>,
          &Guarded<&EvalMove<RescaleOutputs(), &EvalBatchToSpace>>),
    Plain("SPACE_TO_BATCH_ND", kTfLiteBuiltinSpaceToBatchNd, 1, 4, kMovedNumberBits,
          &Guarded<&PrepareMove<RescaleInputs(1), &PrepareSpaceToBatch>>,
          &Guarded<&EvalMove<RescaleInputs(1), &EvalSpaceToBatch>>),
    Plain("TILE", kTfLiteBuiltinTile, 1, 3, kMovedBits,
          kFoldingPrepare<&PrepareMove<RescaleInputs(1), &PrepareTile>,
                          &EvalMove<RescaleInputs(1), &EvalTile>>,
          kFoldedInvoke<&EvalMove<RescaleInputs(1), &EvalTile>>),
    Plain("BROADCAST_TO", kTfLiteBuiltinBroadcastTo, 2, 4, kMovedNumberBits,
          kFoldingPrepare<&PrepareMove<RescaleInputs(1), &PrepareBroadcastTo>,
                          &EvalMove<RescaleInputs(1), &EvalBroadcastTo>>,
          kFoldedInvoke<&EvalMove<RescaleInputs(1), &EvalBroadcastTo>>),
    Plain("REVERSE_V2", kTfLiteBuiltinReverseV2, 1, 4, kReverseTypes,
          kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareReverse>,
                          &EvalMove<RescaleOutputs(), &EvalReverse>>,
          kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalReverse>>),
    WithOptions<87, TfLiteReverseSequenceParams, &FillReverseSequence>(
        Plain("REVERSE_SEQUENCE", kTfLiteBuiltinReverseSequence, 1, 1, kReverseSequenceTypes,
              &Guarded<&PrepareMove<RescaleOutputs(), &PrepareReverseSequence>>,
              &Guarded<&EvalMove<RescaleOutputs(), &EvalReverseSequence>>)),
};

}  // namespace

constexpr std::span<const OpDef> kRearrangeOps = kTable;

}  // namespace deputy
