// SPDX-License-Identifier: Apache-2.0
//
// GATHER, GATHER_ND and EMBEDDING_LOOKUP: slices picked by indices that only invoke sees. An index
// outside of its axis is an error, and so is a negative one.
#include <vector>

#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/common/shape_input.h"
#include "kernels/common/strided_copy.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillGather(const OpOptions& options, TfLiteGatherParams* params) {
  params->axis = options.Int(0);
  params->batch_dims = options.Int(1);
  return true;
}

// ---- Common parts -----------------------------------------------------------------------------

constexpr uint32_t kGatherTypes = kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit | kInt16Bit |
                                  kInt32Bit | kInt64Bit | kBoolBit | kStringBit;
constexpr uint32_t kIndexTypes = kInt16Bit | kInt32Bit | kInt64Bit;

TfLiteStatus IndexError(TfLiteContext* context, const TfLiteTensor* indices, int64_t index,
                        int64_t extent) {
  return TensorError(context, indices, "expected indices from 0 to %lld, found %lld",
                     static_cast<long long>(extent - 1), static_cast<long long>(index));
}

// ---- GATHER -----------------------------------------------------------------------------------

struct GatherPlace {
  int axis = 0, batch_dims = 0;
};

TfLiteStatus FindPlace(TfLiteContext* context, const TfLiteNode* node, GatherPlace* place) {
  const auto& params = ParamsOf<TfLiteGatherParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  DEPUTY_TRY(ResolveAxis(context, input, params.axis, Rank(input), &place->axis));
  place->batch_dims = params.batch_dims < 0 ? params.batch_dims + Rank(indices) : params.batch_dims;
  if (place->batch_dims < 0 || place->batch_dims > place->axis ||
      place->batch_dims > Rank(indices)) {
    return KernelError(context,
                       "expected batch_dims from 0 to the axis %d and the indices' %d "
                       "dimensions, found %d",
                       place->axis, Rank(indices), params.batch_dims);
  }
  for (int d = 0; d < place->batch_dims; ++d) {
    DEPUTY_TRY(CheckDim(context, indices, d, Dim(input, d)));
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareGather(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kGatherTypes));
  DEPUTY_TRY(CheckType(context, indices, kIndexTypes));
  if (input->type == kTfLiteString) DEPUTY_TRY(CheckRank(context, input, 1));
  output->type = input->type;
  GatherPlace place;
  DEPUTY_TRY(FindPlace(context, node, &place));
  const int rank = Rank(input) + Rank(indices) - 1 - place.batch_dims;
  if (rank > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %d", kMaxRank, rank);
  }
  int dims[kMaxRank];
  size_t at = 0;
  for (int d = 0; d < place.axis; ++d) dims[at++] = Dim(input, d);
  for (int d = place.batch_dims; d < Rank(indices); ++d) dims[at++] = Dim(indices, d);
  for (int d = place.axis + 1; d < Rank(input); ++d) dims[at++] = Dim(input, d);
  if (input->type == kTfLiteString) MakeDynamic(output);
  return ResizeTo(context, output, {dims, at});
}

TfLiteStatus CheckIndices(TfLiteContext* context, const TfLiteTensor* indices, int64_t extent) {
  const int64_t count = ElementCount(indices);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = IntegerAt(indices, i);
    if (index < 0 || index >= extent) return IndexError(context, indices, index, extent);
  }
  return kTfLiteOk;
}

// Copies `run` elements for every index of every batch and outer element.
template <typename T, typename Index>
void Gather(const T* in, const Index* indices, int64_t batches, int64_t outer, int64_t extent,
            int64_t count, int64_t run, T* out) {
  for (int64_t b = 0; b < batches; ++b, indices += count) {
    for (int64_t o = 0; o < outer; ++o, in += extent * run) {
      for (int64_t i = 0; i < count; ++i) {
        out = std::copy_n(in + static_cast<int64_t>(indices[i]) * run, run, out);
      }
    }
  }
}

TfLiteStatus EvalGather(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  GatherPlace place;
  DEPUTY_TRY(FindPlace(context, node, &place));
  const AxisSplit split = SplitAt(Dims(input), place.axis);
  DEPUTY_TRY(CheckIndices(context, indices, split.extent));
  const auto batch_dims = static_cast<size_t>(place.batch_dims);
  const int64_t batches = ElementCount(Dims(input).first(batch_dims));
  const int64_t count = ElementCount(Dims(indices).subspan(batch_dims));
  return MoveElements(context, input, Output(context, node, 0), [&](const auto* in, auto* out) {
    const auto run = [&](const auto* at) {
      Gather(in, at, batches, split.outer / batches, split.extent, count, split.inner, out);
    };
    if (indices->type == kTfLiteInt16) {
      run(Data<int16_t>(indices));
    } else if (indices->type == kTfLiteInt64) {
      run(Data<int64_t>(indices));
    } else {
      run(Data<int32_t>(indices));
    }
  });
}

// ---- GATHER_ND --------------------------------------------------------------------------------

TfLiteStatus PrepareGatherNd(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kGatherTypes));
  DEPUTY_TRY(CheckType(context, indices, kIndexTypes));
  if (Rank(input) < 1 || Rank(indices) < 1) {
    return TensorError(context, Rank(input) < 1 ? input : indices,
                       "expected at least 1 dimension, found 0");
  }
  const int depth = LastDim(indices);
  if (depth > Rank(input)) {
    return TensorError(context, indices, "expected at most %d in the last dimension, found %d",
                       Rank(input), depth);
  }
  output->type = input->type;
  const int rank = Rank(indices) - 1 + Rank(input) - depth;
  if (rank > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %d", kMaxRank, rank);
  }
  int dims[kMaxRank];
  size_t at = 0;
  for (int d = 0; d + 1 < Rank(indices); ++d) dims[at++] = Dim(indices, d);
  for (int d = depth; d < Rank(input); ++d) dims[at++] = Dim(input, d);
  if (input->type == kTfLiteString) MakeDynamic(output);
  return ResizeTo(context, output, {dims, at});
}

// Where the slice of every index tuple begins, in elements.
TfLiteStatus SliceOffsets(TfLiteContext* context, const TfLiteTensor* input,
                          const TfLiteTensor* indices, std::vector<int64_t>* offsets) {
  const auto steps = DenseSteps(Dims(input));
  const int depth = LastDim(indices);
  const int64_t count = ElementCount(Dims(indices).first(static_cast<size_t>(Rank(indices) - 1)));
  DEPUTY_TRY(CheckRoom(context, indices, count, sizeof(int64_t), "offsets"));
  offsets->assign(static_cast<size_t>(count), 0);
  for (int64_t i = 0; i < count; ++i) {
    for (int d = 0; d < depth; ++d) {
      const int64_t index = IntegerAt(indices, i * depth + d);
      if (index < 0 || index >= Dim(input, d)) {
        return IndexError(context, indices, index, Dim(input, d));
      }
      (*offsets)[static_cast<size_t>(i)] += index * steps[d];
    }
  }
  return kTfLiteOk;
}

TfLiteStatus EvalGatherNd(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  const int depth = LastDim(indices);
  if (ElementCount(input) == 0 && ElementCount(indices) > 0) {
    return TensorError(context, input, "expected elements to pick from, found none");
  }
  // However many slices of nothing there are; an output of strings wants its header all the same.
  const bool nothing = ElementCount(Output(context, node, 0)) == 0;
  std::vector<int64_t> offsets;
  if (!nothing) DEPUTY_TRY(SliceOffsets(context, input, indices, &offsets));
  const int64_t run = ElementCount(Dims(input).subspan(static_cast<size_t>(depth)));
  return MoveElements(context, input, Output(context, node, 0), [&](const auto* in, auto* out) {
    for (const int64_t offset : offsets) out = std::copy_n(in + offset, run, out);
  });
}

// ---- EMBEDDING_LOOKUP -------------------------------------------------------------------------

// The table's scales: one, or one per row. All zero points must be 0.
TfLiteStatus CheckTableScales(TfLiteContext* context, const TfLiteTensor* table) {
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(table->quantization.params);
  if (table->quantization.type != kTfLiteAffineQuantization || affine == nullptr ||
      affine->scale == nullptr || affine->scale->size == 0) {
    return TensorError(context, table, "expected scales, found none");
  }
  const int count = affine->scale->size;
  if (count != 1 && (count != Dim(table, 0) || affine->quantized_dimension != 0)) {
    return TensorError(context, table,
                       "expected 1 scale or one per row of %d, found %d along "
                       "dimension %d",
                       Dim(table, 0), count, affine->quantized_dimension);
  }
  for (int i = 0; affine->zero_point != nullptr && i < affine->zero_point->size; ++i) {
    if (affine->zero_point->data[i] != 0) {
      return TensorError(context, table, "expected zero points of 0, found %d",
                         affine->zero_point->data[i]);
    }
  }
  return kTfLiteOk;
}

// Whether rows come out in float32 although they are kept as quantised bytes.
bool IsHybrid(const TfLiteTensor* table, const TfLiteTensor* output) {
  return (table->type == kTfLiteInt8 || table->type == kTfLiteUInt8) &&
         output->type == kTfLiteFloat32;
}

TfLiteStatus PrepareLookup(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* lookup = Input(context, node, 0);
  const TfLiteTensor* table = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, lookup, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, lookup, 1));
  DEPUTY_TRY(CheckType(context, table, kNumberBits));
  if (Rank(table) < 2) {
    return TensorError(context, table, "expected at least 2 dimensions, found %d", Rank(table));
  }
  if (IsHybrid(table, output)) {
    DEPUTY_TRY(CheckTableScales(context, table));
  } else {
    DEPUTY_TRY(CheckSameType(context, output, table));
  }
  int dims[kMaxRank];
  std::copy_n(table->dims->data, Rank(table), dims);
  dims[0] = Dim(lookup, 0);
  return ResizeTo(context, output, {dims, static_cast<size_t>(Rank(table))});
}

// The bytes count as signed whatever their type: old converters wrote int8 tables as uint8.
void LookupScaled(const TfLiteTensor* lookup, const TfLiteTensor* table, int64_t run, float* out) {
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(table->quantization.params);
  for (int64_t i = 0; i < Dim(lookup, 0); ++i) {
    const int64_t row = Data<int32_t>(lookup)[i];
    const float scale = affine->scale->data[affine->scale->size == 1 ? 0 : row];
    const int8_t* in = Data<int8_t>(table) + row * run;
    for (int64_t k = 0; k < run; ++k) *out++ = static_cast<float>(in[k]) * scale;
  }
}

TfLiteStatus EvalLookup(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* lookup = Input(context, node, 0);
  const TfLiteTensor* table = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckIndices(context, lookup, Dim(table, 0)));
  const int64_t run = SplitAt(Dims(table), 0).inner;
  if (!IsHybrid(table, output)) {
    return MoveElements(context, table, output, [&](const auto* in, auto* out) {
      Gather(in, Data<int32_t>(lookup), 1, 1, Dim(table, 0), Dim(lookup, 0), run, out);
    });
  }
  if (ElementCount(output) > 0) LookupScaled(lookup, table, run, Data<float>(output));
  return kTfLiteOk;
}

// SCATTER_ND and EMBEDDING_LOOKUP_SPARSE have no kernels here yet.
bool FillLookupSparse(const OpOptions& options, TfLiteEmbeddingLookupSparseParams* params) {
  const int8_t combiner = options.Byte(0);
  const bool known = combiner == kTfLiteCombinerTypeMean || combiner == kTfLiteCombinerTypeSqrtn;
  params->combiner = known ? static_cast<TfLiteCombinerType>(combiner) : kTfLiteCombinerTypeSum;
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<23, TfLiteGatherParams, &FillGather>(
        KernelRow<void>("GATHER", kTfLiteBuiltinGather, 8, kGatherTypes, &Guarded<&PrepareGather>,
                        &Guarded<&EvalGather>)),
    KernelRow<void>("GATHER_ND", kTfLiteBuiltinGatherNd, 6, kGatherTypes,
                    &Guarded<&PrepareGatherNd>, &Guarded<&EvalGatherNd>),
    KernelRow<void>("EMBEDDING_LOOKUP", kTfLiteBuiltinEmbeddingLookup, 5, kNumberBits,
                    &Guarded<&PrepareLookup>, &Guarded<&EvalLookup>),
    ParserRow("SCATTER_ND", kTfLiteBuiltinScatterNd),
    ParserRow("EMBEDDING_LOOKUP_SPARSE", kTfLiteBuiltinEmbeddingLookupSparse, {1, 20},
              sizeof(TfLiteEmbeddingLookupSparseParams),
              &ParseOptions<20, TfLiteEmbeddingLookupSparseParams, &FillLookupSparse>),
};

}  // namespace

constexpr std::span<const OpDef> kGatherOps = kTable;

}  // namespace deputy
