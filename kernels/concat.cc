// SPDX-License-Identifier: Apache-2.0
//
// Joining tensors along an axis and splitting them: CONCATENATION and PACK; SPLIT, SPLIT_V and
// UNPACK. In both directions each part is one contiguous run per element of the outer axes.
//
// The default arithmetic rescales quantised parts (common/rescale.h); the reference arithmetic,
// like upstream, only those of uint8 CONCATENATION. The axis of SPLIT and the axis and sizes of
// SPLIT_V may be known only at run time.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/common/copy_runs.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/views.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillConcatenation(const OpOptions& options, TfLiteConcatenationParams* params) {
  params->axis = options.Int(0);
  params->activation = options.Activation(1);
  return true;
}

bool FillPack(const OpOptions& options, TfLitePackParams* params) {
  params->values_count = options.Int(0);
  params->axis = options.Int(1);
  return true;
}

bool FillUnpack(const OpOptions& options, TfLiteUnpackParams* params) {
  params->num = options.Int(0);
  params->axis = options.Int(1);
  return true;
}

template <typename Params>
bool FillSplit(const OpOptions& options, Params* params) {
  params->num_splits = options.Int(0);
  return true;
}

// ---- Common parts -----------------------------------------------------------------------------

// One of the tensors to be joined: `run` contiguous elements of it for each of the outer elements.
template <typename T>
struct Part {
  const T* data;
  int64_t run;
};

template <typename T>
void Join(TfLiteContext* context, const std::vector<Part<T>>& parts, int64_t outer, T* out) {
  int64_t each = 0;
  for (const Part<T>& part : parts) each += part.run;
  if (each == 0) return;
  ParallelRanges(context, outer, kElementsPerTask / each + 1, [&](int64_t first, int64_t last) {
    T* to = out + first * each;
    for (const Part<T>& part : parts) {
      if (part.run == 0) continue;
      // The part is a view of the output, so it is in place already.
      if (part.data + first * part.run == to) {
        to += part.run;
        continue;
      }
      CopyRuns(last - first, part.run, part.data + first * part.run, part.run, to, each);
      to += part.run;
    }
  });
}

// Number of elements of a tensor from `axis` on, i.e. the product of `axis` and inner extents.
int64_t RunOf(const TfLiteTensor* tensor, int axis) {
  return ElementCount(Dims(tensor).subspan(static_cast<size_t>(axis)));
}

// Joins all inputs of the node, `run(part)` elements of each at a time.
template <typename Run>
TfLiteStatus JoinInputs(TfLiteContext* context, TfLiteNode* node, int64_t outer, const Run& run) {
  TfLiteTensor* output = Output(context, node, 0);
  return WithElements(context, output, [&](auto& access) -> TfLiteStatus {
    using T = typename std::remove_reference_t<decltype(access)>::Element;
    std::vector<Part<T>> parts(static_cast<size_t>(node->inputs->size));
    for (int i = 0; i < node->inputs->size; ++i) {
      Part<T>& part = parts[static_cast<size_t>(i)];
      part.run = run(Input(context, node, i));
      DEPUTY_TRY(access.Read(Input(context, node, i), &part.data));
    }
    T* out = nullptr;
    DEPUTY_TRY(access.Write(output, &out));
    Join(context, parts, outer, out);
    return kTfLiteOk;
  });
}

// Splits `input` into the node's outputs along `axis`.
TfLiteStatus SplitInput(TfLiteContext* context, TfLiteNode* node, const TfLiteTensor* input,
                        int axis) {
  const AxisSplit split = SplitAt(Dims(input), axis);
  return WithElements(context, input, [&](auto& access) -> TfLiteStatus {
    using T = typename std::remove_reference_t<decltype(access)>::Element;
    const T* in = nullptr;
    DEPUTY_TRY(access.Read(input, &in));
    for (int o = 0; o < node->outputs->size; ++o) {
      TfLiteTensor* output = Output(context, node, o);
      T* out = nullptr;
      DEPUTY_TRY(access.Write(output, &out));
      const int64_t run = split.outer == 0 ? 0 : ElementCount(output) / split.outer;
      if (run == 0) continue;
      // The output is a view of the input, so it needs no copy.
      if (in == out) {
        in += run;
        continue;
      }
      const int64_t whole = split.extent * split.inner;
      ParallelRanges(
          context, split.outer, kElementsPerTask / run + 1, [&](int64_t first, int64_t last) {
            CopyRuns(last - first, run, in + first * whole, whole, out + first * run, run);
          });
      in += run;
    }
    return kTfLiteOk;
  });
}

// Returns true if parts are contiguous bytes: `axis` is the first with more than one element.
bool AreContiguous(const TfLiteTensor* whole, int axis) {
  return HasBytes(whole) && SplitAt(Dims(whole), axis).outer == 1;
}

// Offers, in prepare, to make the inputs views of the output.
void OfferToJoin(TfLiteContext* context, const TfLiteNode* node, int axis) {
  if (!AreContiguous(Output(context, node, 0), axis)) return;
  OfferViews(context, node, {.kind = ViewOffer::Kind::kInputsInOutput});
}

// Offers, in prepare, to make the outputs views of the input.
void OfferToSplit(TfLiteContext* context, const TfLiteNode* node, int input, int axis) {
  if (!AreContiguous(Input(context, node, input), axis)) return;
  OfferViews(context, node, {.kind = ViewOffer::Kind::kOutputsInInput, .whole = input});
}

// ---- CONCATENATION ----------------------------------------------------------------------------

constexpr uint32_t kConcatenationTypes = kNumberBits | kBFloat16Bit | kInt4Bit;

// Checks the quantisation of a part for the types in which it matters (int8, uint8, int16).
TfLiteStatus CheckPartQuantization(TfLiteContext* context, const TfLiteTensor* part,
                                   const TfLiteTensor* output) {
  if (output->type == kTfLiteInt8) return CheckExactQuantization(context, part, output);
  if (output->type == kTfLiteUInt8) return CheckZeroPoint(context, part);
  return output->type == kTfLiteInt16 ? CheckNoZeroPoint(context, part) : kTfLiteOk;
}

bool HasOtherParts(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* output = Output(context, node, 0);
  if (output->type != kTfLiteUInt8) return false;
  for (int i = 0; i < node->inputs->size; ++i) {
    const TfLiteTensor* part = Input(context, node, i);
    if (part->params.scale != output->params.scale ||
        part->params.zero_point != output->params.zero_point) {
      return true;
    }
  }
  return false;
}

TfLiteStatus PrepareConcatenation(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, INT32_MAX, 1));
  const auto& params = ParamsOf<TfLiteConcatenationParams>(node);
  const TfLiteTensor* first = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  int axis = 0;
  DEPUTY_TRY(ResolveAxis(context, first, params.axis, Rank(first), &axis));
  if (params.activation != kTfLiteActNone) {
    return KernelError(context, "expected no fused activation, found %d", params.activation);
  }
  DEPUTY_TRY(CheckType(context, first, kConcatenationTypes));
  DEPUTY_TRY(CheckSameType(context, output, first));
  int dims[kMaxRank];
  std::copy_n(first->dims->data, Rank(first), dims);
  int64_t extent = 0;
  for (int i = 0; i < node->inputs->size; ++i) {
    const TfLiteTensor* part = Input(context, node, i);
    if (part == nullptr) return KernelError(context, "input %d: expected a tensor, found none", i);
    DEPUTY_TRY(CheckSameType(context, part, first));
    DEPUTY_TRY(CheckRank(context, part, Rank(first)));
    for (int d = 0; d < Rank(first); ++d) {
      if (d != axis) DEPUTY_TRY(CheckDim(context, part, d, dims[d]));
    }
    DEPUTY_TRY(CheckPartQuantization(context, part, output));
    extent += Dim(part, axis);
  }
  DEPUTY_TRY(CheckPartQuantization(context, output, output));
  DEPUTY_TRY(SetExtent(context, output, axis, extent, &dims[axis]));
  DEPUTY_TRY(ResizeTo(context, output, {dims, static_cast<size_t>(Rank(first))}));
  if (!HasOtherParts(context, node)) OfferToJoin(context, node, axis);
  return kTfLiteOk;
}

// Table of rescaled values, indexed by a part's uint8 value.
using StepTable = std::array<uint8_t, 256>;

StepTable RescaledSteps(const TfLiteTensor* part, const TfLiteTensor* output) {
  const float scale = part->params.scale * (1.0f / output->params.scale);
  const float bias = static_cast<float>(-part->params.zero_point) * scale;
  StepTable table;
  for (size_t step = 0; step < table.size(); ++step) {
    const float steps = std::round(static_cast<float>(step) * scale + bias);
    const float placed = steps + static_cast<float>(output->params.zero_point);
    table[step] = placed >= 255.0f ? 255 : placed > 0.0f ? static_cast<uint8_t>(placed) : 0;
  }
  return table;
}

void JoinRescaled(TfLiteContext* context, TfLiteNode* node, int64_t outer, int axis) {
  TfLiteTensor* output = Output(context, node, 0);
  const int64_t outer_step = RunOf(output, axis);
  uint8_t* out = Data<uint8_t>(output);
  for (int p = 0; p < node->inputs->size; ++p) {
    const TfLiteTensor* part = Input(context, node, p);
    const bool same = part->params.scale == output->params.scale &&
                      part->params.zero_point == output->params.zero_point;
    StepTable table{};
    if (!same) table = RescaledSteps(part, output);
    const int64_t run = RunOf(part, axis);
    for (int64_t i = 0; i < outer; ++i) {
      const uint8_t* in = Data<uint8_t>(part) + i * run;
      uint8_t* to = out + i * outer_step;
      if (same) {
        std::copy_n(in, run, to);
      } else {
        for (int64_t k = 0; k < run; ++k) to[k] = table[in[k]];
      }
    }
    out += run;
  }
}

TfLiteStatus EvalConcatenation(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* output = Output(context, node, 0);
  int axis = 0;
  DEPUTY_TRY(ResolveAxis(context, output, ParamsOf<TfLiteConcatenationParams>(node).axis,
                         Rank(output), &axis));
  const int64_t outer = SplitAt(Dims(output), axis).outer;
  if (ElementCount(output) == 0) return kTfLiteOk;
  if (HasOtherParts(context, node)) {
    JoinRescaled(context, node, outer, axis);
    return kTfLiteOk;
  }
  return JoinInputs(context, node, outer, [axis](const TfLiteTensor* t) { return RunOf(t, axis); });
}

// ---- PACK and UNPACK --------------------------------------------------------------------------

constexpr uint32_t kPackTypes =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit | kUInt32Bit;
constexpr uint32_t kUnpackTypes = kBFloat16Bit | kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit |
                                  kInt16Bit | kInt32Bit | kBoolBit;

TfLiteStatus PackAxis(TfLiteContext* context, const TfLiteNode* node, int* axis) {
  const TfLiteTensor* first = Input(context, node, 0);
  return ResolveAxis(context, first, ParamsOf<TfLitePackParams>(node).axis, Rank(first) + 1, axis);
}

TfLiteStatus PreparePack(TfLiteContext* context, TfLiteNode* node) {
  const int count = ParamsOf<TfLitePackParams>(node).values_count;
  if (count < 1) return KernelError(context, "expected values_count of 1 or more, found %d", count);
  DEPUTY_TRY(CheckNode(context, node, count, count, 1));
  const TfLiteTensor* first = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  int axis = 0;
  DEPUTY_TRY(PackAxis(context, node, &axis));
  DEPUTY_TRY(CheckType(context, first, kPackTypes));
  if (Rank(first) == kMaxRank) {
    return TensorError(context, first, "expected fewer than %d dimensions", kMaxRank);
  }
  for (int i = 1; i < count; ++i) {
    const TfLiteTensor* part = Input(context, node, i);
    DEPUTY_TRY(CheckSameType(context, part, first));
    DEPUTY_TRY(CheckRank(context, part, Rank(first)));
    for (int d = 0; d < Rank(first); ++d) DEPUTY_TRY(CheckDim(context, part, d, Dim(first, d)));
  }
  DEPUTY_TRY(CheckSameType(context, output, first));
  for (int i = 0; i < count; ++i) {
    DEPUTY_TRY(CheckExactQuantization(context, Input(context, node, i), output));
  }
  int dims[kMaxRank];
  for (int from = 0, to = 0; to <= Rank(first); ++to) {
    dims[to] = to == axis ? count : Dim(first, from++);
  }
  DEPUTY_TRY(ResizeTo(context, output, {dims, static_cast<size_t>(Rank(first) + 1)}));
  OfferToJoin(context, node, axis);
  return kTfLiteOk;
}

TfLiteStatus EvalPack(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* output = Output(context, node, 0);
  int axis = 0;
  DEPUTY_TRY(PackAxis(context, node, &axis));
  if (ElementCount(output) == 0) return kTfLiteOk;
  return JoinInputs(context, node, SplitAt(Dims(output), axis).outer,
                    [axis](const TfLiteTensor* t) { return RunOf(t, axis); });
}

TfLiteStatus UnpackAxis(TfLiteContext* context, const TfLiteNode* node, int* axis) {
  const TfLiteTensor* input = Input(context, node, 0);
  return ResolveAxis(context, input, ParamsOf<TfLiteUnpackParams>(node).axis, Rank(input), axis);
}

TfLiteStatus PrepareUnpack(TfLiteContext* context, TfLiteNode* node) {
  const int count = ParamsOf<TfLiteUnpackParams>(node).num;
  if (count < 0) return KernelError(context, "expected num of 0 or more, found %d", count);
  DEPUTY_TRY(CheckNode(context, node, 1, 1, count));
  const TfLiteTensor* input = Input(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kUnpackTypes));
  int axis = 0;
  DEPUTY_TRY(UnpackAxis(context, node, &axis));
  DEPUTY_TRY(CheckDim(context, input, axis, count));
  if (ElementCount(input) == 0) {
    return TensorError(context, input, "expected elements, found none");
  }
  int dims[kMaxRank];
  for (int from = 0, to = 0; from < Rank(input); ++from) {
    if (from != axis) dims[to++] = Dim(input, from);
  }
  for (int o = 0; o < count; ++o) {
    TfLiteTensor* output = Output(context, node, o);
    DEPUTY_TRY(CheckSameType(context, output, input));
    DEPUTY_TRY(CheckExactQuantization(context, output, input));
    DEPUTY_TRY(ResizeTo(context, output, {dims, static_cast<size_t>(Rank(input) - 1)}));
  }
  OfferToSplit(context, node, 0, axis);
  return kTfLiteOk;
}

TfLiteStatus EvalUnpack(TfLiteContext* context, TfLiteNode* node) {
  int axis = 0;
  DEPUTY_TRY(UnpackAxis(context, node, &axis));
  return SplitInput(context, node, Input(context, node, 0), axis);
}

// ---- SPLIT and SPLIT_V ------------------------------------------------------------------------

constexpr uint32_t kSplitTypes =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt16Bit | kInt32Bit | kInt64Bit;

// Indices of the inputs of SPLIT or SPLIT_V; `sizes` is -1 for SPLIT, whose parts are equal.
struct SplitInputs {
  int input, axis, sizes;
};
constexpr SplitInputs kSplit = {1, 0, -1};
constexpr SplitInputs kSplitV = {0, 2, 1};

TfLiteStatus SplitAxis(TfLiteContext* context, const TfLiteNode* node, const SplitInputs& at,
                       int* axis) {
  const TfLiteTensor* tensor = Input(context, node, at.axis);
  return ResolveAxis(context, tensor, IntegerAt(tensor, 0), Rank(Input(context, node, at.input)),
                     axis);
}

// Returns the outputs' extents along the axis; in SPLIT_V one size may be -1, which means the
// remainder.
TfLiteStatus PartSizes(TfLiteContext* context, const TfLiteNode* node, const SplitInputs& at,
                       int extent, std::vector<int>* parts) {
  const int count = node->outputs->size;
  const TfLiteTensor* input = Input(context, node, at.input);
  if (at.sizes < 0) {
    if (extent % count != 0) {
      return TensorError(context, input, "expected an extent that %d divides, found %d", count,
                         extent);
    }
    parts->assign(static_cast<size_t>(count), extent / count);
    return kTfLiteOk;
  }
  const TfLiteTensor* sizes = Input(context, node, at.sizes);
  int64_t sum = 0;
  int inferred = -1;
  parts->resize(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const int64_t size = IntegerAt(sizes, i);
    if (size == -1 && inferred < 0) {
      inferred = i;
    } else if (size < 0 || size > extent - sum) {
      return TensorError(context, sizes,
                         "expected parts of %d elements with at most one -1, found "
                         "%lld after %lld",
                         extent, static_cast<long long>(size), static_cast<long long>(sum));
    } else {
      sum += size;
      (*parts)[static_cast<size_t>(i)] = static_cast<int>(size);
    }
  }
  if (inferred >= 0) {
    (*parts)[static_cast<size_t>(inferred)] = static_cast<int>(extent - sum);
  } else if (sum != extent) {
    return TensorError(context, sizes, "expected parts of %d elements, found %lld", extent,
                       static_cast<long long>(sum));
  }
  return kTfLiteOk;
}

TfLiteStatus ResizeParts(TfLiteContext* context, TfLiteNode* node, const SplitInputs& at) {
  const TfLiteTensor* input = Input(context, node, at.input);
  int axis = 0;
  DEPUTY_TRY(SplitAxis(context, node, at, &axis));
  std::vector<int> parts;
  DEPUTY_TRY(PartSizes(context, node, at, Dim(input, axis), &parts));
  int dims[kMaxRank];
  std::copy_n(input->dims->data, Rank(input), dims);
  for (int o = 0; o < node->outputs->size; ++o) {
    dims[axis] = parts[static_cast<size_t>(o)];
    DEPUTY_TRY(
        ResizeTo(context, Output(context, node, o), {dims, static_cast<size_t>(Rank(input))}));
  }
  return kTfLiteOk;
}

bool AreSizesKnown(TfLiteContext* context, const TfLiteNode* node, const SplitInputs& at) {
  return IsKnown(Input(context, node, at.axis)) &&
         (at.sizes < 0 || IsKnown(Input(context, node, at.sizes)));
}

template <const SplitInputs& at, typename Params>
TfLiteStatus PrepareSplit(TfLiteContext* context, TfLiteNode* node) {
  const int count = ParamsOf<Params>(node).num_splits;
  const int inputs = at.sizes < 0 ? 2 : 3;
  if (count < 1) return KernelError(context, "expected num_splits of 1 or more, found %d", count);
  DEPUTY_TRY(CheckNode(context, node, inputs, inputs, count));
  const TfLiteTensor* input = Input(context, node, at.input);
  const TfLiteTensor* axis = Input(context, node, at.axis);
  DEPUTY_TRY(CheckType(context, input, kSplitTypes));
  DEPUTY_TRY(CheckType(context, axis, kInt32Bit));
  DEPUTY_TRY(CheckElementCount(context, axis, 1));
  if (at.sizes >= 0) {
    const TfLiteTensor* sizes = Input(context, node, at.sizes);
    DEPUTY_TRY(CheckType(context, sizes, kInt32Bit | kInt64Bit));
    DEPUTY_TRY(CheckRank(context, sizes, 1));
    DEPUTY_TRY(CheckDim(context, sizes, 0, count));
  }
  const bool known = AreSizesKnown(context, node, at);
  for (int o = 0; o < count; ++o) {
    TfLiteTensor* output = Output(context, node, o);
    output->type = input->type;
    if (!known) MakeDynamic(output);
  }
  if (!known) return kTfLiteOk;
  DEPUTY_TRY(ResizeParts(context, node, at));
  int number = 0;
  DEPUTY_TRY(SplitAxis(context, node, at, &number));
  OfferToSplit(context, node, at.input, number);
  return kTfLiteOk;
}

template <const SplitInputs& at>
TfLiteStatus EvalSplit(TfLiteContext* context, TfLiteNode* node) {
  if (!AreSizesKnown(context, node, at)) DEPUTY_TRY(ResizeParts(context, node, at));
  int axis = 0;
  DEPUTY_TRY(SplitAxis(context, node, at, &axis));
  return SplitInput(context, node, Input(context, node, at.input), axis);
}

// ---- Table ------------------------------------------------------------------------------------

template <uint8_t member, typename Params, bool (*fill)(const OpOptions&, Params*)>
constexpr OpDef Row(const char* name, TfLiteBuiltinOperator code, int max_version, uint32_t types,
                    TfLiteStatus (*prepare)(TfLiteContext*, TfLiteNode*),
                    TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*)) {
  return WithOptions<member, Params, fill>(
      KernelRow<void>(name, code, max_version, types, prepare, invoke));
}

constexpr OpDef kTable[] = {
    Row<10, TfLiteConcatenationParams, &FillConcatenation>(
        "CONCATENATION", kTfLiteBuiltinConcatenation, 7, kConcatenationTypes,
        kFoldingPrepare<&PrepareMove<RescaleInputs(kAllInputs), &PrepareConcatenation>,
                        &EvalMove<RescaleInputs(kAllInputs), &EvalConcatenation>>,
        kFoldedInvoke<&EvalMove<RescaleInputs(kAllInputs), &EvalConcatenation>>),
    Row<59, TfLitePackParams, &FillPack>(
        "PACK", kTfLiteBuiltinPack, 5, kPackTypes,
        kFoldingPrepare<&PrepareMove<RescaleInputs(kAllInputs), &PreparePack>,
                        &EvalMove<RescaleInputs(kAllInputs), &EvalPack>>,
        kFoldedInvoke<&EvalMove<RescaleInputs(kAllInputs), &EvalPack>>),
    Row<64, TfLiteUnpackParams, &FillUnpack>(
        "UNPACK", kTfLiteBuiltinUnpack, 6, kUnpackTypes,
        kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareUnpack>,
                        &EvalMove<RescaleOutputs(), &EvalUnpack>>,
        kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalUnpack>>),
    Row<35, TfLiteSplitParams, &FillSplit<TfLiteSplitParams>>(
        "SPLIT", kTfLiteBuiltinSplit, 5, kSplitTypes,
        kFoldingPrepare<&PrepareMove<RescaleOutputs(1), &PrepareSplit<kSplit, TfLiteSplitParams>>,
                        &EvalMove<RescaleOutputs(1), &EvalSplit<kSplit>>>,
        kFoldedInvoke<&EvalMove<RescaleOutputs(1), &EvalSplit<kSplit>>>),
    Row<79, TfLiteSplitVParams, &FillSplit<TfLiteSplitVParams>>(
        "SPLIT_V", kTfLiteBuiltinSplitV, 3, kSplitTypes,
        kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareSplit<kSplitV, TfLiteSplitVParams>>,
                        &EvalMove<RescaleOutputs(), &EvalSplit<kSplitV>>>,
        kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalSplit<kSplitV>>>),
};

}  // namespace

constexpr std::span<const OpDef> kConcatOps = kTable;

}  // namespace deputy
