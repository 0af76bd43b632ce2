// SPDX-License-Identifier: Apache-2.0
//
// GATHER, GATHER_ND and EMBEDDING_LOOKUP select slices by indices that may be known only in invoke;
// SCATTER_ND and EMBEDDING_LOOKUP_SPARSE add slices at indices. Indices that are negative or out of
// range are errors.
#include <cmath>
#include <vector>

#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/kernel.h"
#include "kernels/common/rescale.h"
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

constexpr uint32_t kGatherTypes = kFloat32Bit | kFloat16Bit | kBFloat16Bit | kInt8Bit | kUInt8Bit |
                                  kInt16Bit | kInt32Bit | kInt64Bit | kBoolBit | kStringBit;
constexpr uint32_t kLookupTypes = kMovedNumberBits | kPackedBits;
constexpr uint32_t kIndexTypes = kInt16Bit | kInt32Bit | kInt64Bit;

TfLiteStatus IndexError(TfLiteContext* context, const TfLiteTensor* indices, int64_t index,
                        int64_t extent) {
  return TensorError(context, indices, "expected indices from 0 to %lld, found %lld",
                     static_cast<long long>(extent - 1), static_cast<long long>(index));
}

// ---- GATHER -----------------------------------------------------------------------------------

struct GatherAxes {
  int axis = 0, batch_dims = 0;
};

TfLiteStatus FindAxes(TfLiteContext* context, const TfLiteNode* node, GatherAxes* axes) {
  const auto& params = ParamsOf<TfLiteGatherParams>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  DEPUTY_TRY(ResolveAxis(context, input, params.axis, Rank(input), &axes->axis));
  axes->batch_dims = params.batch_dims < 0 ? params.batch_dims + Rank(indices) : params.batch_dims;
  if (axes->batch_dims < 0 || axes->batch_dims > axes->axis || axes->batch_dims > Rank(indices)) {
    return KernelError(context,
                       "expected batch_dims from 0 to the axis %d and the indices' %d "
                       "dimensions, found %d",
                       axes->axis, Rank(indices), params.batch_dims);
  }
  for (int d = 0; d < axes->batch_dims; ++d) {
    DEPUTY_TRY(CheckDim(context, indices, d, Dim(input, d)));
  }
  return kTfLiteOk;
}

TfLiteStatus PrepareGather(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* indices = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kGatherTypes | kInt4Bit));
  DEPUTY_TRY(CheckType(context, indices, kIndexTypes));
  if (input->type == kTfLiteString) DEPUTY_TRY(CheckRank(context, input, 1));
  output->type = input->type;
  GatherAxes axes;
  DEPUTY_TRY(FindAxes(context, node, &axes));
  const int rank = Rank(input) + Rank(indices) - 1 - axes.batch_dims;
  if (rank > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %d", kMaxRank, rank);
  }
  int dims[kMaxRank];
  size_t at = 0;
  for (int d = 0; d < axes.axis; ++d) dims[at++] = Dim(input, d);
  for (int d = axes.batch_dims; d < Rank(indices); ++d) dims[at++] = Dim(indices, d);
  for (int d = axes.axis + 1; d < Rank(input); ++d) dims[at++] = Dim(input, d);
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

// Copies `run` elements for every index, in every batch and every outer element.
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
  GatherAxes axes;
  DEPUTY_TRY(FindAxes(context, node, &axes));
  const AxisSplit split = SplitAt(Dims(input), axes.axis);
  DEPUTY_TRY(CheckIndices(context, indices, split.extent));
  const auto batch_dims = static_cast<size_t>(axes.batch_dims);
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

// Computes the offset of the slice that each index tuple selects, in elements.
TfLiteStatus SliceOffsets(TfLiteContext* context, const TfLiteTensor* input,
                          const TfLiteTensor* indices, std::vector<int64_t>* offsets) {
  const auto steps = DenseSteps(Dims(input));
  const int depth = LastDim(indices);
  const int64_t count = ElementCount(Dims(indices).first(static_cast<size_t>(Rank(indices) - 1)));
  DEPUTY_TRY(CheckContainerSize(context, indices, count, sizeof(int64_t), "offsets"));
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
    return TensorError(context, input, "expected 1 element or more, found none");
  }
  // If the output is empty, the offsets are not needed and may be arbitrarily many; an empty string
  // tensor still needs its header.
  const bool nothing = ElementCount(Output(context, node, 0)) == 0;
  std::vector<int64_t> offsets;
  if (!nothing) DEPUTY_TRY(SliceOffsets(context, input, indices, &offsets));
  const int64_t run = ElementCount(Dims(input).subspan(static_cast<size_t>(depth)));
  return MoveElements(context, input, Output(context, node, 0), [&](const auto* in, auto* out) {
    for (const int64_t offset : offsets) out = std::copy_n(in + offset, run, out);
  });
}

// ---- EMBEDDING_LOOKUP -------------------------------------------------------------------------

// Checks the table's scales: one, or one per row. All zero points must be 0.
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

// Returns true if the table is quantised and the output float32.
bool IsHybrid(const TfLiteTensor* table, const TfLiteTensor* output) {
  constexpr uint32_t kScaledTypes = kInt8Bit | kUInt8Bit | kInt4Bit | TypeBit(kTfLiteInt2);
  return (kScaledTypes & TypeBit(table->type)) != 0 && output->type == kTfLiteFloat32;
}

TfLiteStatus PrepareLookup(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 2, 2, 1));
  const TfLiteTensor* lookup = Input(context, node, 0);
  const TfLiteTensor* table = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, lookup, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, lookup, 1));
  DEPUTY_TRY(CheckType(context, table, kLookupTypes));
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

// Looks up rows of a quantised table and dequantises them. Bytes are signed whatever the type: old
// converters wrote int8 tables as uint8. A row with elements smaller than a byte begins at the byte
// with its first element, even if this byte also has elements of the previous row, as in TensorFlow
// Lite.
void LookupScaled(const TfLiteTensor* lookup, const TfLiteTensor* table, int64_t run, float* out) {
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(table->quantization.params);
  const int bits = PackedBits(table->type);
  for (int64_t i = 0; i < Dim(lookup, 0); ++i) {
    const int64_t row = Data<int32_t>(lookup)[i];
    const float scale = affine->scale->data[affine->scale->size == 1 ? 0 : row];
    const int64_t first = bits == 0 ? row * run : row * run * bits / 8 * (8 / bits);
    for (int64_t k = first; k < first + run; ++k) {
      const int8_t value =
          bits == 0 ? Data<int8_t>(table)[k] : UnpackedAt(table->type, Data<uint8_t>(table), k);
      *out++ = static_cast<float>(value) * scale;
    }
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

// ---- SCATTER_ND -------------------------------------------------------------------------------

constexpr uint32_t kScatterTypes =
    kFloat32Bit | kInt8Bit | kUInt8Bit | kInt32Bit | kInt64Bit | kBoolBit;

// Resizes the output to the shape in the third input and checks that the updates are slices of it.
TfLiteStatus ResizeScattered(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* indices = Input(context, node, 0);
  const TfLiteTensor* updates = Input(context, node, 1);
  const TfLiteTensor* shape = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  const int outer = Rank(indices) - 1, depth = LastDim(indices), rank = Dim(shape, 0);
  if (rank > kMaxRank || rank < depth || Rank(updates) != outer + rank - depth) {
    return TensorError(context, shape,
                       "expected %d to %d dimensions, so that the updates have %d, found %d", depth,
                       kMaxRank, Rank(updates), rank);
  }
  int dims[kMaxRank];
  for (int i = 0; i < rank; ++i) {
    DEPUTY_TRY(SetExtent(context, output, i, IntegerAt(shape, i), &dims[i]));
  }
  for (int i = 0; i < outer; ++i) DEPUTY_TRY(CheckDim(context, updates, i, Dim(indices, i)));
  for (int i = depth; i < rank; ++i) {
    DEPUTY_TRY(CheckDim(context, updates, outer + i - depth, dims[i]));
  }
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PrepareScatterNd(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  const TfLiteTensor* updates = Input(context, node, 1);
  const TfLiteTensor* shape = Input(context, node, 2);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, Input(context, node, 0), kInt32Bit));
  DEPUTY_TRY(CheckType(context, updates, kScatterTypes));
  DEPUTY_TRY(CheckType(context, shape, kInt32Bit));
  DEPUTY_TRY(CheckRank(context, shape, 1));
  for (int i = 0; i < 2; ++i) {
    if (Rank(Input(context, node, i)) < 1) {
      return TensorError(context, Input(context, node, i),
                         "expected at least 1 dimension, found 0");
    }
  }
  output->type = updates->type;
  if (IsKnown(shape)) return ResizeScattered(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Adds a slice of SCATTER_ND's updates to the output; integers wrap, and bools are or-ed.
template <typename T>
void AddSlice(bool is_bool, const T* in, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      out[i] += in[i];
    } else if (is_bool) {
      out[i] = static_cast<T>(out[i] != 0 || in[i] != 0);
    } else {
      out[i] = static_cast<T>(static_cast<uint64_t>(out[i]) + static_cast<uint64_t>(in[i]));
    }
  }
}

TfLiteStatus EvalScatterNd(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* indices = Input(context, node, 0);
  const TfLiteTensor* updates = Input(context, node, 1);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeScattered(context, node));
  std::vector<int64_t> offsets;
  DEPUTY_TRY(SliceOffsets(context, output, indices, &offsets));
  const auto depth = static_cast<size_t>(LastDim(indices));
  const int64_t run = ElementCount(Dims(output).subspan(depth));
  return DispatchType<kScatterTypes>(context, updates, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (ElementCount(output) == 0) return kTfLiteOk;
    const T* in = Data<T>(updates);
    T* out = Data<T>(output);
    std::fill_n(out, ElementCount(output), T{0});
    for (size_t i = 0; i < offsets.size(); ++i, in += run) {
      AddSlice(updates->type == kTfLiteBool, in, run, out + offsets[i]);
    }
    return kTfLiteOk;
  });
}

// ---- EMBEDDING_LOOKUP_SPARSE ------------------------------------------------------------------

// Indices of the inputs of EMBEDDING_LOOKUP_SPARSE.
constexpr int kIds = 0, kSparseIndices = 1, kDenseShape = 2, kWeights = 3, kTableInput = 4;

bool FillLookupSparse(const OpOptions& options, TfLiteEmbeddingLookupSparseParams* params) {
  const int8_t combiner = options.Byte(0);
  const bool known = combiner == kTfLiteCombinerTypeMean || combiner == kTfLiteCombinerTypeSqrtn;
  params->combiner = known ? static_cast<TfLiteCombinerType>(combiner) : kTfLiteCombinerTypeSum;
  return true;
}

// Resizes the output of EMBEDDING_LOOKUP_SPARSE to the dense shape without its last dimension,
// followed by the shape of a row of the table.
TfLiteStatus ResizeLookupSparse(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* shape = Input(context, node, kDenseShape);
  const TfLiteTensor* table = Input(context, node, kTableInput);
  TfLiteTensor* output = Output(context, node, 0);
  const int buckets = Dim(shape, 0) - 1, rank = buckets + Rank(table) - 1;
  if (rank > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %d", kMaxRank, rank);
  }
  int dims[kMaxRank];
  for (int i = 0; i < buckets; ++i) {
    DEPUTY_TRY(SetExtent(context, output, i, IntegerAt(shape, i), &dims[i]));
  }
  for (int i = 1; i < Rank(table); ++i) dims[buckets + i - 1] = Dim(table, i);
  return ResizeTo(context, output, {dims, static_cast<size_t>(rank)});
}

TfLiteStatus PrepareLookupSparse(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 5, 5, 1));
  constexpr struct {
    uint32_t type;
    int rank;
  } kExpected[] = {{kInt32Bit, 1}, {kInt32Bit, 2}, {kInt32Bit, 1}, {kFloat32Bit, 1}};
  for (int i = 0; i < kTableInput; ++i) {
    DEPUTY_TRY(CheckType(context, Input(context, node, i), kExpected[i].type));
    DEPUTY_TRY(CheckRank(context, Input(context, node, i), kExpected[i].rank));
  }
  const TfLiteTensor* indices = Input(context, node, kSparseIndices);
  const TfLiteTensor* shape = Input(context, node, kDenseShape);
  const TfLiteTensor* table = Input(context, node, kTableInput);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, table, kFloat32Bit));
  DEPUTY_TRY(CheckType(context, output, kFloat32Bit));
  if (Rank(table) < 2 || Dim(shape, 0) < 1) {
    return TensorError(context, Rank(table) < 2 ? table : shape, "expected at least %d, found %d",
                       Rank(table) < 2 ? 2 : 1, Rank(table) < 2 ? Rank(table) : Dim(shape, 0));
  }
  DEPUTY_TRY(CheckDim(context, indices, 1, Dim(shape, 0)));
  DEPUTY_TRY(CheckDim(context, indices, 0, Dim(Input(context, node, kIds), 0)));
  DEPUTY_TRY(CheckDim(context, indices, 0, Dim(Input(context, node, kWeights), 0)));
  if (IsKnown(shape)) return ResizeLookupSparse(context, node);
  MakeDynamic(output);
  return kTfLiteOk;
}

// Computes the output bucket of lookup `i` after checking its indices.
TfLiteStatus FindBucket(TfLiteContext* context, const TfLiteTensor* indices,
                        const TfLiteTensor* output, int64_t i, int64_t* out_bucket) {
  const int depth = Dim(indices, 1);
  int64_t bucket = 0;
  for (int d = 0; d + 1 < depth; ++d) {
    const int64_t index = IntegerAt(indices, i * depth + d);
    if (index < 0 || index >= Dim(output, d)) {
      return IndexError(context, indices, index, Dim(output, d));
    }
    bucket = bucket * Dim(output, d) + index;
  }
  *out_bucket = bucket;
  return kTfLiteOk;
}

// Accumulates the weighted sum of the table's rows for one bucket.
class Combination {
 public:
  Combination(TfLiteCombinerType combiner, int64_t run) : combiner_(combiner), run_(run) {}

  void Add(const float* row, float weight, float* out) {
    weight_ += weight;
    squares_ += weight * weight;
    ++count_;
    for (int64_t k = 0; k < run_; ++k) out[k] += row[k] * weight;
  }
  // Divides the sum as the combiner requires and resets the weights for the next bucket.
  void Finish(float* out) {
    const float divisor = combiner_ == kTfLiteCombinerTypeMean ? weight_ : std::sqrt(squares_);
    for (int64_t k = 0; k < run_ && count_ > 0 && combiner_ != kTfLiteCombinerTypeSum; ++k) {
      out[k] /= divisor;
    }
    weight_ = squares_ = 0.0f;
    count_ = 0;
  }

 private:
  TfLiteCombinerType combiner_;
  int64_t run_;
  float weight_ = 0.0f, squares_ = 0.0f;
  int64_t count_ = 0;
};

// Computes EMBEDDING_LOOKUP_SPARSE. A bucket whose lookups are not adjacent is divided several
// times, as in upstream.
TfLiteStatus EvalLookupSparse(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* ids = Input(context, node, kIds);
  const TfLiteTensor* table = Input(context, node, kTableInput);
  TfLiteTensor* output = Output(context, node, 0);
  if (IsDynamic(output)) DEPUTY_TRY(ResizeLookupSparse(context, node));
  DEPUTY_TRY(CheckIndices(context, ids, Dim(table, 0)));
  if (ElementCount(output) == 0) return kTfLiteOk;
  const int64_t run = SplitAt(Dims(table), 0).inner;
  float* out = Data<float>(output);
  std::fill_n(out, ElementCount(output), 0.0f);
  Combination combination(ParamsOf<TfLiteEmbeddingLookupSparseParams>(node).combiner, run);
  int64_t current = 0;
  for (int64_t i = 0; i < Dim(ids, 0); ++i) {
    int64_t bucket = 0;
    DEPUTY_TRY(FindBucket(context, Input(context, node, kSparseIndices), output, i, &bucket));
    if (bucket != current) combination.Finish(out + current * run);
    current = bucket;
    combination.Add(Data<float>(table) + IntegerAt(ids, i) * run,
                    Data<float>(Input(context, node, kWeights))[i], out + current * run);
  }
  combination.Finish(out + current * run);
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    WithOptions<23, TfLiteGatherParams, &FillGather>(
        KernelRow<void>("GATHER", kTfLiteBuiltinGather, 8, kGatherTypes | kInt4Bit,
                        kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareGather>,
                                        &EvalMove<RescaleOutputs(), &EvalGather>>,
                        kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalGather>>)),
    KernelRow<void>("GATHER_ND", kTfLiteBuiltinGatherNd, 6, kGatherTypes,
                    kFoldingPrepare<&PrepareMove<RescaleOutputs(), &PrepareGatherNd>,
                                    &EvalMove<RescaleOutputs(), &EvalGatherNd>>,
                    kFoldedInvoke<&EvalMove<RescaleOutputs(), &EvalGatherNd>>),
    KernelRow<void>("EMBEDDING_LOOKUP", kTfLiteBuiltinEmbeddingLookup, 5, kLookupTypes,
                    &Guarded<&PrepareMove<RescaleOutputs(1), &PrepareLookup>>,
                    &Guarded<&EvalMove<RescaleOutputs(1), &EvalLookup>>),
    KernelRow<void>("SCATTER_ND", kTfLiteBuiltinScatterNd, 1, kScatterTypes,
                    kFoldingPrepare<&PrepareMove<RescaleInputs(2), &PrepareScatterNd>,
                                    &EvalMove<RescaleInputs(2), &EvalScatterNd>>,
                    kFoldedInvoke<&EvalMove<RescaleInputs(2), &EvalScatterNd>>),
    WithOptions<20, TfLiteEmbeddingLookupSparseParams, &FillLookupSparse>(
        KernelRow<void>("EMBEDDING_LOOKUP_SPARSE", kTfLiteBuiltinEmbeddingLookupSparse, 1,
                        kFloat32Bit, &Guarded<&PrepareLookupSparse>, &Guarded<&EvalLookupSparse>)),
};

}  // namespace

constexpr std::span<const OpDef> kGatherOps = kTable;

}  // namespace deputy
