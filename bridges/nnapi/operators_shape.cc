// SPDX-License-Identifier: Apache-2.0
//
// Reductions along axes and operators that move data.
#include <algorithm>

#include "bridges/nnapi/operators.h"

namespace deputy::nnapi {
namespace {

// Checks that input and output have one type and one quantisation.
bool ExpectDataMove(const Operation& op, int min, int max) {
  return op.ExpectInputs(min, max) && op.ExpectSameQuantization(op.in(0), op.out(0));
}

bool ExpectCount(const Operation& op, const std::vector<int32_t>& values, size_t count,
                 const char* what) {
  return values.size() == count ||
         op.definition->Refuse(kDeputyReasonShape, std::string(what) + ": expected " +
                                                       std::to_string(count) + " numbers, found " +
                                                       std::to_string(values.size()));
}

size_t RankOf(const TfLiteTensor& tensor) { return static_cast<size_t>(tensor.dims->size); }

// Reads the paddings of PAD and PADV2, a pair per dimension.
bool ReadPaddings(const Operation& op, std::vector<int32_t>* paddings) {
  const size_t rank = RankOf(op.in(0));
  if (!op.ReadInts(1, paddings) || !ExpectCount(op, *paddings, rank * 2, "paddings")) return false;
  const bool is_negative =
      std::any_of(paddings->begin(), paddings->end(), [](int32_t value) { return value < 0; });
  return !is_negative || op.definition->Refuse(kDeputyReasonParameter, "a negative padding");
}

void FinishBlock(const Operation& op, int block) {
  if (!ExpectDataMove(op, 1, 1) || !op.ExpectRank(op.in(0), 4)) return;
  op.definition->Input(op.In(0));
  op.definition->Int(block);
  op.Finish();
}

// Reads the height and width of a block.
bool ReadBlock(const Operation& op, std::vector<int32_t>* block) {
  return ExpectDataMove(op, 3, 3) && op.ExpectRank(op.in(0), 4) && op.ReadInts(1, block) &&
         ExpectCount(op, *block, 2, "block");
}

}  // namespace

void DefineReduce(const Operation& op) {
  std::vector<int32_t> given, axes;
  const int rank = op.in(0).dims->size;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadInts(1, &given)) return;
  for (const int32_t value : given) {
    int32_t axis = 0;
    if (!op.ToAxis(value, rank, &axis)) return;
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  const bool keep_dims = op.params<TfLiteReducerParams>().keep_dims;
  op.definition->Input(op.In(0));
  op.definition->Ints(axes);
  if (op.code == kMean) {
    op.definition->Int(keep_dims ? 1 : 0);
  } else {
    op.definition->Bool(keep_dims);
  }
  op.Finish();
}

void DefineArgument(const Operation& op) {
  int32_t axis = 0;
  if (!op.ExpectInputs(2, 2) || !op.ExpectType(op.out(0), kTfLiteInt32) ||
      !op.ReadAxis(1, op.in(0).dims->size, &axis)) {
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Int(axis);
  op.Finish();
}

// Defines RESHAPE. The shape is taken from the output tensor, which is known, instead of the shape
// input.
void DefineReshape(const Operation& op) {
  if (!ExpectDataMove(op, 1, 2)) return;
  op.definition->Input(op.In(0));
  op.definition->Ints({op.out(0).dims->data, op.out(0).dims->data + op.out(0).dims->size});
  op.Finish();
}

void DefineSqueeze(const Operation& op) {
  if (!ExpectDataMove(op, 1, 1)) return;
  const TfLiteIntArray& dims = *op.in(0).dims;
  std::vector<int32_t> axes;
  const TfLiteSqueezeParams every_axis{};
  const auto* given = static_cast<const TfLiteSqueezeParams*>(op.node->builtin_data);
  const TfLiteSqueezeParams& params = given == nullptr ? every_axis : *given;
  const int count = params.num_squeeze_dims;
  for (int i = 0; i < std::min(count, 8); ++i) {
    int32_t axis = 0;
    if (!op.ToAxis(params.squeeze_dims[i], dims.size, &axis)) return;
    axes.push_back(axis);
  }
  for (int i = 0; i < dims.size && count == 0; ++i) {
    if (dims.data[i] == 1) axes.push_back(i);
  }
  op.definition->Input(op.In(0));
  op.definition->Ints(axes);
  op.Finish();
}

void DefineExpandDims(const Operation& op) {
  int32_t axis = 0;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadAxis(1, op.out(0).dims->size, &axis)) return;
  op.definition->Input(op.In(0));
  op.definition->Int(axis);
  op.Finish();
}

void DefineTranspose(const Operation& op) {
  std::vector<int32_t> order;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadInts(1, &order) ||
      !ExpectCount(op, order, RankOf(op.in(0)), "permutation")) {
    return;
  }
  for (int32_t& axis : order) {
    if (!op.ToAxis(axis, op.in(0).dims->size, &axis)) return;
  }
  op.definition->Input(op.In(0));
  op.definition->Ints(order);
  op.Finish();
}

void DefinePad(const Operation& op) {
  std::vector<int32_t> paddings;
  if (!ExpectDataMove(op, 2, 2) || !ReadPaddings(op, &paddings)) return;
  op.definition->Input(op.In(0));
  op.definition->Ints(paddings, {static_cast<uint32_t>(op.in(0).dims->size), 2});
  op.Finish();
}

void DefinePadV2(const Operation& op) {
  std::vector<int32_t> paddings;
  if (!ExpectDataMove(op, 3, 3) || !ReadPaddings(op, &paddings) ||
      !op.ExpectSameQuantization(op.in(0), op.in(2)) || !op.ExpectConstant(op.in(2))) {
    return;
  }
  const TfLiteTensor& value = op.in(2);
  op.definition->Input(op.In(0));
  op.definition->Ints(paddings, {static_cast<uint32_t>(op.in(0).dims->size), 2});
  if (CountOf(value) != 1 || value.bytes == 0) {
    op.definition->Refuse(kDeputyReasonShape, NameOf(value) + ": expected one number");
  } else if (value.type == kTfLiteFloat32) {
    op.definition->Float(value.data.f[0]);
  } else {
    // NNAPI expects the stored value, not the real value that it represents.
    op.definition->Int(value.type == kTfLiteUInt8 ? value.data.uint8[0] : value.data.int8[0]);
  }
  op.Finish();
}

void DefineConcatenation(const Operation& op) {
  const auto& params = op.params<TfLiteConcatenationParams>();
  int32_t axis = 0;
  if (!op.ToAxis(params.axis, op.in(0).dims->size, &axis)) return;
  if (params.activation != kTfLiteActNone) {
    op.definition->Refuse(kDeputyReasonParameter, "fused activation: expected none");
    return;
  }
  for (int i = 0; i < op.inputs(); ++i) {
    if (op.In(i) < 0 || !op.ExpectRank(op.in(i), op.out(0).dims->size)) return;
    const bool is_fine = op.level() < kFeatureLevel3
                             ? op.ExpectSameQuantization(op.out(0), op.in(i))
                             : op.ExpectSameType(op.out(0), op.in(i));
    if (!is_fine) return;
    op.definition->Input(op.In(i));
  }
  op.definition->Int(axis);
  op.Finish();
}

// Defines SPLIT, whose axis is input 0 and whose data is input 1.
void DefineSplit(const Operation& op) {
  int32_t axis = 0;
  if (!op.ExpectInputs(2, 2) || !op.ReadAxis(0, op.in(1).dims->size, &axis)) return;
  for (int i = 0; i < op.outputs(); ++i) {
    if (!op.ExpectSameQuantization(op.in(1), op.out(i))) return;
  }
  op.definition->Input(op.In(1));
  op.definition->Int(axis);
  op.definition->Int(op.outputs());
  op.Finish();
}

void DefineSlice(const Operation& op) {
  std::vector<int32_t> begin;
  if (!ExpectDataMove(op, 3, 3) || !op.ReadInts(1, &begin) || !op.ExpectConstant(op.in(2)) ||
      !ExpectCount(op, begin, RankOf(op.in(0)), "begin") ||
      !op.ExpectRank(op.out(0), op.in(0).dims->size)) {
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Ints(begin);
  op.definition->Ints({op.out(0).dims->data, op.out(0).dims->data + op.out(0).dims->size});
  op.Finish();
}

void DefineStridedSlice(const Operation& op) {
  const auto& params = op.params<TfLiteStridedSliceParams>();
  if (!ExpectDataMove(op, 4, 4)) return;
  if (params.ellipsis_mask != 0 || params.new_axis_mask != 0 || params.offset) {
    op.definition->Refuse(kDeputyReasonParameter,
                          "ellipses, new axes and offsets are not supported");
    return;
  }
  op.definition->Input(op.In(0));
  for (int i = 1; i < 4; ++i) {
    std::vector<int32_t> values;
    if (!op.ReadInts(i, &values) || !ExpectCount(op, values, RankOf(op.in(0)), "slice")) return;
    op.definition->Ints(values);
  }
  op.definition->Int(params.begin_mask);
  op.definition->Int(params.end_mask);
  op.definition->Int(params.shrink_axis_mask);
  op.Finish();
}

// Checks that all indices are constant and below `extent`. NNAPI does not define the result of an
// index out of range, which depends on the driver.
bool ExpectIndices(const Operation& op, int input, int extent) {
  std::vector<int32_t> indices;
  if (!op.ReadInts(input, &indices)) return false;
  if (std::all_of(indices.begin(), indices.end(),
                  [extent](int32_t index) { return index >= 0 && index < extent; })) {
    return true;
  }
  op.definition->Refuse(kDeputyReasonParameter,
                        "indices: expected all of them from 0 to " + std::to_string(extent - 1));
  return false;
}

void DefineGather(const Operation& op) {
  const auto& params = op.params<TfLiteGatherParams>();
  int32_t axis = 0;
  if (!ExpectDataMove(op, 2, 2) || !op.ExpectType(op.in(1), kTfLiteInt32) ||
      !op.ToAxis(params.axis, op.in(0).dims->size, &axis)) {
    return;
  }
  if (params.batch_dims != 0 || op.in(1).dims->size == 0) {
    op.definition->Refuse(kDeputyReasonParameter,
                          "batch dimensions and scalar indices are not supported");
    return;
  }
  if (!ExpectIndices(op, 1, op.in(0).dims->data[axis])) return;
  op.definition->Input(op.In(0));
  op.definition->Int(axis);
  op.definition->Input(op.In(1));
  op.Finish();
}

void DefineTile(const Operation& op) {
  std::vector<int32_t> multiples;
  if (!ExpectDataMove(op, 2, 2) || !op.ReadInts(1, &multiples) ||
      !ExpectCount(op, multiples, RankOf(op.in(0)), "multiples")) {
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Ints(multiples);
  op.Finish();
}

void DefineSpaceToDepth(const Operation& op) {
  FinishBlock(op, op.params<TfLiteSpaceToDepthParams>().block_size);
}

void DefineDepthToSpace(const Operation& op) {
  FinishBlock(op, op.params<TfLiteDepthToSpaceParams>().block_size);
}

void DefineSpaceToBatch(const Operation& op) {
  std::vector<int32_t> block, paddings;
  if (!ReadBlock(op, &block) || !op.ReadInts(2, &paddings) ||
      !ExpectCount(op, paddings, 4, "paddings")) {
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Ints(block);
  op.definition->Ints(paddings, {2, 2});
  op.Finish();
}

void DefineBatchToSpace(const Operation& op) {
  std::vector<int32_t> block, crops;
  if (!ReadBlock(op, &block) || !op.ReadInts(2, &crops)) return;
  if (std::any_of(crops.begin(), crops.end(), [](int32_t value) { return value != 0; })) {
    op.definition->Refuse(kDeputyReasonParameter, "crops: expected 0");
    return;
  }
  op.definition->Input(op.In(0));
  op.definition->Ints(block);
  op.Finish();
}

void DefineEmbeddingLookup(const Operation& op) {
  if (!op.ExpectInputs(2, 2) || !op.ExpectType(op.in(0), kTfLiteInt32) ||
      !op.ExpectRank(op.in(0), 1) || !op.ExpectSameQuantization(op.in(1), op.out(0))) {
    return;
  }
  if (op.in(1).dims->size < 2) {
    op.definition->Refuse(kDeputyReasonShape, "values: expected at least 2 dimensions");
    return;
  }
  if (!ExpectIndices(op, 0, op.in(1).dims->data[0])) return;
  op.FinishWith(2);
}

}  // namespace deputy::nnapi
