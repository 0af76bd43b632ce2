// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of data movement operators between tensors of different scales: the real values
// are the same before and after, so that the quantised values differ.
#include <algorithm>
#include <cmath>

#include "tests/kernels/quantized_accuracy.h"

namespace deputy {
namespace {

const std::vector<TfLiteType> kAll = {kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16};
const std::vector<TfLiteType> kBytes = {kTfLiteInt8, kTfLiteUInt8};

float MinScale(TfLiteType type) { return type == kTfLiteInt16 ? 0.0001f : 0.02f; }

// The index in the input of each element of the output; kFilled for an element that is filled with
// zero.
using Indices = std::vector<int>;
constexpr int kFilled = -1;

// Returns for each output element of `shape` the index that `index_of` computes from its
// coordinates.
Indices IndicesOf(const Dims4& shape, const std::function<int(const std::vector<int>&)>& index_of) {
  Indices indices;
  std::vector<int> at(shape.size());
  for (int64_t i = 0, count = CountOfDims(shape); i < count; ++i) {
    int64_t left = i;
    for (size_t axis = shape.size(); axis-- > 0;) {
      at[axis] = static_cast<int>(left % shape[axis]);
      left /= shape[axis];
    }
    indices.push_back(index_of(at));
  }
  return indices;
}

// Returns the index of coordinates in a tensor of [1, 4, 6, 4].
int In4(int y, int x, int c) { return (y * 6 + x) * 4 + c; }

struct Move {
  const char* name;
  TfLiteBuiltinOperator code;
  std::vector<TfLiteType> types;
  Dims4 out;
  std::function<int(const std::vector<int>&)> index_of;
  // Adds the operator; `x` has the shape `in`.
  std::function<void(AccuracyModel* a, int x, int y)> add;
  Dims4 in = {1, 4, 6, 4};
};

template <typename Options>
void AddMove(AccuracyModel* a, TfLiteBuiltinOperator code, std::vector<int32_t> inputs, int y,
             flatbuffers::Offset<Options> options, int version = 2) {
  a->m().AddOp(code, inputs, {y}, options, version);
}

std::vector<Move> Moves() {
  const auto same = [](const std::vector<int>& at) { return In4(at[1], at[2], at[3]); };
  return {
      {"TRANSPOSE",
       kTfLiteBuiltinTranspose,
       kAll,
       {1, 6, 4, 4},
       [](const auto& at) { return In4(at[2], at[1], at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int order = a->Numbers({4}, {0, 2, 1, 3});
         AddMove(a, kTfLiteBuiltinTranspose, {x, order}, y,
                 schema::CreateTransposeOptions(a->m().fbb()));
       }},
      {"TRANSPOSE of nothing",
       kTfLiteBuiltinTranspose,
       kAll,
       {1, 4, 6, 4},
       same,
       [](AccuracyModel* a, int x, int y) {
         const int order = a->Numbers({4}, {0, 1, 2, 3});
         AddMove(a, kTfLiteBuiltinTranspose, {x, order}, y,
                 schema::CreateTransposeOptions(a->m().fbb()));
       }},
      {"RESHAPE",
       kTfLiteBuiltinReshape,
       kAll,
       {8, 12},
       [](const auto& at) { return at[0] * 12 + at[1]; },
       [](AccuracyModel* a, int x, int y) {
         const int shape = a->Numbers({2}, {8, 12});
         AddMove(a, kTfLiteBuiltinReshape, {x, shape}, y,
                 schema::CreateReshapeOptions(a->m().fbb()), 1);
       }},
      {"SQUEEZE",
       kTfLiteBuiltinSqueeze,
       kAll,
       {4, 6, 4},
       [](const auto& at) { return In4(at[0], at[1], at[2]); },
       [](AccuracyModel* a, int x, int y) {
         AddMove(a, kTfLiteBuiltinSqueeze, {x}, y, schema::CreateSqueezeOptions(a->m().fbb()));
       }},
      {"EXPAND_DIMS",
       kTfLiteBuiltinExpandDims,
       kAll,
       {1, 1, 4, 6, 4},
       [](const auto& at) { return In4(at[2], at[3], at[4]); },
       [](AccuracyModel* a, int x, int y) {
         const int axis = a->Numbers({}, {0});
         AddMove(a, kTfLiteBuiltinExpandDims, {x, axis}, y,
                 schema::CreateExpandDimsOptions(a->m().fbb()), 1);
       }},
      {"SLICE",
       kTfLiteBuiltinSlice,
       kAll,
       {1, 2, 6, 4},
       [](const auto& at) { return In4(at[1] + 1, at[2], at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int begin = a->Numbers({4}, {0, 1, 0, 0}), size = a->Numbers({4}, {1, 2, 6, 4});
         AddMove(a, kTfLiteBuiltinSlice, {x, begin, size}, y,
                 schema::CreateSliceOptions(a->m().fbb()));
       }},
      {"STRIDED_SLICE",
       kTfLiteBuiltinStridedSlice,
       kAll,
       {1, 2, 6, 4},
       [](const auto& at) { return In4(at[1] * 2, at[2], at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int begin = a->Numbers({4}, {0, 0, 0, 0}), end = a->Numbers({4}, {1, 4, 6, 4}),
                   stride = a->Numbers({4}, {1, 2, 1, 1});
         AddMove(a, kTfLiteBuiltinStridedSlice, {x, begin, end, stride}, y,
                 schema::CreateStridedSliceOptions(a->m().fbb()));
       }},
      {"GATHER",
       kTfLiteBuiltinGather,
       kAll,
       {1, 4, 6, 3},
       [](const auto& at) { return In4(at[1], at[2], 3 - at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int indices = a->Numbers({3}, {3, 2, 1});
         AddMove(a, kTfLiteBuiltinGather, {x, indices}, y,
                 schema::CreateGatherOptions(a->m().fbb(), 3));
       }},
      {"GATHER_ND",
       kTfLiteBuiltinGatherNd,
       kAll,
       {3, 6, 4},
       [](const auto& at) { return In4(3 - at[0], at[1], at[2]); },
       [](AccuracyModel* a, int x, int y) {
         const int indices = a->Numbers({3, 2}, {0, 3, 0, 2, 0, 1});
         AddMove(a, kTfLiteBuiltinGatherNd, {x, indices}, y,
                 schema::CreateGatherNdOptions(a->m().fbb()));
       }},
      {"PAD",
       kTfLiteBuiltinPad,
       kAll,
       {1, 6, 6, 4},
       [](const auto& at) {
         return at[1] == 0 || at[1] == 5 ? kFilled : In4(at[1] - 1, at[2], at[3]);
       },
       [](AccuracyModel* a, int x, int y) {
         const int margins = a->Numbers({4, 2}, {0, 0, 1, 1, 0, 0, 0, 0});
         AddMove(a, kTfLiteBuiltinPad, {x, margins}, y, schema::CreatePadOptions(a->m().fbb()));
       }},
      {"MIRROR_PAD",
       kTfLiteBuiltinMirrorPad,
       kAll,
       {1, 6, 6, 4},
       [](const auto& at) {
         return In4(at[1] == 0 ? 1 : at[1] == 5 ? 2 : at[1] - 1, at[2], at[3]);
       },
       [](AccuracyModel* a, int x, int y) {
         const int margins = a->Numbers({4, 2}, {0, 0, 1, 1, 0, 0, 0, 0});
         AddMove(a, kTfLiteBuiltinMirrorPad, {x, margins}, y,
                 schema::CreateMirrorPadOptions(a->m().fbb(), schema::MirrorPadMode::REFLECT));
       }},
      {"TILE",
       kTfLiteBuiltinTile,
       kAll,
       {1, 8, 6, 4},
       [](const auto& at) { return In4(at[1] % 4, at[2], at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int times = a->Numbers({4}, {1, 2, 1, 1});
         AddMove(a, kTfLiteBuiltinTile, {x, times}, y, schema::CreateTileOptions(a->m().fbb()));
       }},
      {"BROADCAST_TO",
       kTfLiteBuiltinBroadcastTo,
       kAll,
       {3, 4, 6, 4},
       same,
       [](AccuracyModel* a, int x, int y) {
         const int shape = a->Numbers({4}, {3, 4, 6, 4});
         AddMove(a, kTfLiteBuiltinBroadcastTo, {x, shape}, y,
                 schema::CreateBroadcastToOptions(a->m().fbb()));
       }},
      {"REVERSE_V2",
       kTfLiteBuiltinReverseV2,
       kAll,
       {1, 4, 6, 4},
       [](const auto& at) { return In4(3 - at[1], at[2], at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int axis = a->Numbers({1}, {1});
         AddMove(a, kTfLiteBuiltinReverseV2, {x, axis}, y,
                 schema::CreateReverseV2Options(a->m().fbb()));
       }},
      {"REVERSE_SEQUENCE",
       kTfLiteBuiltinReverseSequence,
       {kTfLiteUInt8, kTfLiteInt16},
       {1, 4, 6, 4},
       [](const auto& at) { return In4(at[1] < 3 ? 2 - at[1] : 3, at[2], at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int lengths = a->Numbers({1}, {3});
         AddMove(a, kTfLiteBuiltinReverseSequence, {x, lengths}, y,
                 schema::CreateReverseSequenceOptions(a->m().fbb(), 1, 0), 1);
       }},
      {"DEPTH_TO_SPACE",
       kTfLiteBuiltinDepthToSpace,
       kBytes,
       {1, 8, 12, 1},
       [](const auto& at) { return In4(at[1] / 2, at[2] / 2, at[1] % 2 * 2 + at[2] % 2); },
       [](AccuracyModel* a, int x, int y) {
         AddMove(a, kTfLiteBuiltinDepthToSpace, {x}, y,
                 schema::CreateDepthToSpaceOptions(a->m().fbb(), 2), 1);
       }},
      {"SPACE_TO_DEPTH",
       kTfLiteBuiltinSpaceToDepth,
       kBytes,
       {1, 2, 3, 16},
       [](const auto& at) {
         return In4(at[1] * 2 + at[3] / 8, at[2] * 2 + at[3] / 4 % 2, at[3] % 4);
       },
       [](AccuracyModel* a, int x, int y) {
         AddMove(a, kTfLiteBuiltinSpaceToDepth, {x}, y,
                 schema::CreateSpaceToDepthOptions(a->m().fbb(), 2), 1);
       }},
      {"SPACE_TO_BATCH_ND",
       kTfLiteBuiltinSpaceToBatchNd,
       kAll,
       {4, 3, 3, 4},
       [](const auto& at) {
         const int y = at[1] * 2 + at[0] / 2 - 2, x = at[2] * 2 + at[0] % 2;
         return y < 0 ? kFilled : In4(y, x, at[3]);
       },
       [](AccuracyModel* a, int x, int y) {
         const int block = a->Numbers({2}, {2, 2}), margins = a->Numbers({2, 2}, {2, 0, 0, 0});
         AddMove(a, kTfLiteBuiltinSpaceToBatchNd, {x, block, margins}, y,
                 schema::CreateSpaceToBatchNDOptions(a->m().fbb()));
       }},
      {"BATCH_TO_SPACE_ND",
       kTfLiteBuiltinBatchToSpaceNd,
       kAll,
       {1, 4, 6, 1},
       [](const auto& at) { return ((at[1] % 2 * 2 + at[2] % 2) * 2 + at[1] / 2) * 3 + at[2] / 2; },
       [](AccuracyModel* a, int x, int y) {
         const int block = a->Numbers({2}, {2, 2}), crops = a->Numbers({2, 2}, {0, 0, 0, 0});
         AddMove(a, kTfLiteBuiltinBatchToSpaceNd, {x, block, crops}, y,
                 schema::CreateBatchToSpaceNDOptions(a->m().fbb()));
       },
       {4, 2, 3, 1}},
      {"RESIZE_NEAREST_NEIGHBOR",
       kTfLiteBuiltinResizeNearestNeighbor,
       kAll,
       {1, 8, 12, 4},
       [](const auto& at) { return In4(at[1] / 2, at[2] / 2, at[3]); },
       [](AccuracyModel* a, int x, int y) {
         const int size = a->Numbers({2}, {8, 12});
         AddMove(a, kTfLiteBuiltinResizeNearestNeighbor, {x, size}, y,
                 schema::CreateResizeNearestNeighborOptions(a->m().fbb(), false, false));
       }},
      {"SCATTER_ND",
       kTfLiteBuiltinScatterNd,
       kBytes,
       {8, 4},
       [](const auto& at) { return at[0] % 2 == 1 ? kFilled : (at[0] / 2) * 4 + at[1]; },
       [](AccuracyModel* a, int x, int y) {
         const int indices = a->Numbers({4, 1}, {0, 2, 4, 6}), shape = a->Numbers({2}, {8, 4});
         AddMove(a, kTfLiteBuiltinScatterNd, {indices, x, shape}, y,
                 schema::CreateScatterNdOptions(a->m().fbb()), 1);
       },
       {4, 4}},
      {"MATRIX_DIAG",
       kTfLiteBuiltinMatrixDiag,
       kAll,
       {4, 4},
       [](const auto& at) { return at[0] == at[1] ? at[0] : kFilled; },
       [](AccuracyModel* a, int x, int y) {
         AddMove(a, kTfLiteBuiltinMatrixDiag, {x}, y, schema::CreateMatrixDiagOptions(a->m().fbb()),
                 1);
       },
       {4}},
  };
}

AccuracyCase MoveCase(const Move& move, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const float least = MinScale(type);
  const Steps x = a.Input(type, move.in, a.RandomAffine(type, least));
  const Reals real = x.real();
  Reals truth;
  for (int index : IndicesOf(move.out, move.index_of)) {
    truth.push_back(index == kFilled ? 0.0 : real[static_cast<size_t>(index)]);
  }
  Affine affine = a.RandomAffine(type, least * 1.5f);
  // SCATTER_ND and MATRIX_DIAG fill with the quantised value 0, as TensorFlow Lite does.
  if (move.code == kTfLiteBuiltinScatterNd || move.code == kTfLiteBuiltinMatrixDiag)
    affine.zero = 0;
  const int y = a.Output(type, move.out, affine, truth);
  move.add(&a, x.tensor, y);
  return a.Finish(move.name, type, seed);
}

// ---- Several inputs ---------------------------------------------------------------------------

// An operator that joins two inputs of [3, 5]; the elements of the second input are numbered after
// those of the first.
struct Join {
  const char* name;
  std::vector<TfLiteType> types;
  Dims4 out;
  std::function<int(const std::vector<int>&)> index_of;
  std::function<void(AccuracyModel* a, int x, int y, int out)> add;
};

std::vector<Join> Joins() {
  return {
      {"CONCATENATION",
       kAll,
       {6, 5},
       [](const auto& at) { return at[0] * 5 + at[1]; },
       [](AccuracyModel* a, int x, int y, int out) {
         AddMove(a, kTfLiteBuiltinConcatenation, {x, y}, out,
                 schema::CreateConcatenationOptions(a->m().fbb(), 0));
       }},
      {"CONCATENATION of columns",
       kAll,
       {3, 10},
       [](const auto& at) { return at[1] / 5 * 15 + at[0] * 5 + at[1] % 5; },
       [](AccuracyModel* a, int x, int y, int out) {
         AddMove(a, kTfLiteBuiltinConcatenation, {x, y}, out,
                 schema::CreateConcatenationOptions(a->m().fbb(), 1));
       }},
      {"PACK",
       kAll,
       {2, 3, 5},
       [](const auto& at) { return (at[0] * 3 + at[1]) * 5 + at[2]; },
       [](AccuracyModel* a, int x, int y, int out) {
         AddMove(a, kTfLiteBuiltinPack, {x, y}, out, schema::CreatePackOptions(a->m().fbb(), 2, 0));
       }},
      {"SELECT_V2",
       kAll,
       {3, 5},
       [](const auto& at) { return (at[1] % 2 == 0 ? 0 : 15) + at[0] * 5 + at[1]; },
       [](AccuracyModel* a, int x, int y, int out) {
         const int condition =
             a->m().AddConstant<uint8_t>(kTfLiteBool, {5}, {1, 0, 1, 0, 1}, "condition");
         AddMove(a, kTfLiteBuiltinSelectV2, {condition, x, y}, out,
                 schema::CreateSelectV2Options(a->m().fbb()), 1);
       }},
      {"SELECT",
       kAll,
       {3, 5},
       [](const auto& at) { return (at[0] == 1 ? 0 : 15) + at[0] * 5 + at[1]; },
       [](AccuracyModel* a, int x, int y, int out) {
         const int condition =
             a->m().AddConstant<uint8_t>(kTfLiteBool, {3}, {0, 1, 0}, "condition");
         AddMove(a, kTfLiteBuiltinSelect, {condition, x, y}, out,
                 schema::CreateSelectOptions(a->m().fbb()), 1);
       }},
  };
}

AccuracyCase JoinCase(const Join& join, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const float least = MinScale(type);
  const Steps x = a.Input(type, {3, 5}, a.RandomAffine(type, least));
  const Steps y = a.Input(type, {3, 5}, a.RandomAffine(type, least * 0.6f));
  Reals real = x.real();
  const Reals second = y.real();
  real.insert(real.end(), second.begin(), second.end());
  Reals truth;
  for (int index : IndicesOf(join.out, join.index_of))
    truth.push_back(real[static_cast<size_t>(index)]);
  const int output = a.Output(type, join.out, a.RandomAffine(type, least * 1.5f), truth);
  join.add(&a, x.tensor, y.tensor, output);
  return a.Finish(join.name, type, seed);
}

// A case of PADV2, whose fill value has its own scale. Delegates accept the fill value only as a
// constant.
AccuracyCase PadV2Case(TfLiteType type, uint32_t seed, bool constant) {
  AccuracyModel a(seed);
  const float least = MinScale(type);
  const Steps x = a.Input(type, {3, 5}, a.RandomAffine(type, least));
  const Affine affine = a.RandomAffine(type, least);
  const Steps value = constant ? a.Constant(type, {1}, affine) : a.Input(type, {1}, affine);
  const Reals real = x.real(), filler = value.real();
  Reals truth;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 5; ++column) {
      truth.push_back(row == 3 ? filler[0] : real[static_cast<size_t>(row * 5 + column)]);
    }
  }
  const int margins = a.Numbers({2, 2}, {0, 1, 0, 0});
  const int y = a.Output(type, {4, 5}, a.RandomAffine(type, least * 1.5f), truth);
  a.m().AddOp(kTfLiteBuiltinPadv2, {x.tensor, margins, value.tensor}, {y},
              schema::CreatePadV2Options(a.m().fbb()), 2);
  return a.Finish("PADV2", type, seed);
}

AccuracyCase UpdateCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const float least = MinScale(type);
  const Steps x = a.Input(type, {3, 5}, a.RandomAffine(type, least));
  const Steps update = a.Input(type, {1, 5}, a.RandomAffine(type, least * 0.6f));
  Reals truth = x.real();
  const Reals real = update.real();
  std::copy(real.begin(), real.end(), truth.begin() + 5);
  const int start = a.Numbers({2}, {1, 0});
  const int y = a.Output(type, {3, 5}, a.RandomAffine(type, least * 1.5f), truth);
  a.m().AddOp(kTfLiteBuiltinDynamicUpdateSlice, {x.tensor, update.tensor, start}, {y},
              schema::CreateDynamicUpdateSliceOptions(a.m().fbb()), 1);
  return a.Finish("DYNAMIC_UPDATE_SLICE", type, seed);
}

// ---- Other operators --------------------------------------------------------------------------

AccuracyCase TopCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Steps x = a.Input(type, {3, 20}, a.RandomAffine(type, MinScale(type)));
  const Reals real = x.real();
  Reals truth;
  for (int row = 0; row < 3; ++row) {
    Reals sorted(real.begin() + row * 20, real.begin() + row * 20 + 20);
    std::sort(sorted.rbegin(), sorted.rend());
    truth.insert(truth.end(), sorted.begin(), sorted.begin() + 4);
  }
  const int count = a.Numbers({}, {4});
  const int y = a.Output(type, {3, 4}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  const int indices = a.UncomparedOutput({3, 4});
  a.m().AddOp(kTfLiteBuiltinTopkV2, {x.tensor, count}, {y, indices},
              schema::CreateTopKV2Options(a.m().fbb()), 2);
  return a.Finish("TOPK_V2", type, seed);
}

AccuracyCase UniqueCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Steps x = a.Input(type, {40}, a.RandomAffine(type, MinScale(type)), 1, 9);
  Reals truth;
  for (double value : x.real()) {
    if (std::find(truth.begin(), truth.end(), value) == truth.end()) truth.push_back(value);
  }
  const int y = a.Output(type, {1}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  const int indices = a.UncomparedOutput({40});
  a.m().AddOp(kTfLiteBuiltinUnique, {x.tensor}, {y, indices},
              schema::CreateUniqueOptions(a.m().fbb(), schema::TensorType::INT32), 1);
  return a.Finish("UNIQUE", type, seed);
}

AccuracyCase OneHotCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int indices = a.Numbers({3}, {2, 0, 4}), depth = a.Numbers({}, {5});
  const Steps on = a.Input(type, {}, a.RandomAffine(type, MinScale(type)));
  const Steps off = a.Input(type, {}, a.RandomAffine(type, MinScale(type)));
  Reals truth(15, off.real()[0]);
  for (int index : {2, 5, 14}) truth[static_cast<size_t>(index)] = on.real()[0];
  const int y = a.Output(type, {3, 5}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  a.m().AddOp(kTfLiteBuiltinOneHot, {indices, depth, on.tensor, off.tensor}, {y},
              schema::CreateOneHotOptions(a.m().fbb(), -1), 1);
  return a.Finish("ONE_HOT", type, seed);
}

AccuracyCase FillCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int shape = a.Numbers({2}, {2, 3});
  const Steps value = a.Input(type, {}, a.RandomAffine(type, MinScale(type)));
  const int y = a.Output(type, {2, 3}, a.RandomAffine(type, MinScale(type) * 1.5f),
                         Reals(6, value.real()[0]));
  a.m().AddOp(kTfLiteBuiltinFill, {shape, value.tensor}, {y},
              schema::CreateFillOptions(a.m().fbb()), 3);
  return a.Finish("FILL", type, seed);
}

AccuracyCase SparseToDenseCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int indices = a.Numbers({3}, {1, 2, 6}), shape = a.Numbers({1}, {9});
  const Steps values = a.Input(type, {3}, a.RandomAffine(type, MinScale(type)));
  const Steps otherwise = a.Input(type, {}, a.RandomAffine(type, MinScale(type)));
  Reals truth(9, otherwise.real()[0]);
  truth[1] = values.real()[0];
  truth[2] = values.real()[1];
  truth[6] = values.real()[2];
  const int y = a.Output(type, {9}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  a.m().AddOp(kTfLiteBuiltinSparseToDense, {indices, shape, values.tensor, otherwise.tensor}, {y},
              schema::CreateSparseToDenseOptions(a.m().fbb(), false), 3);
  return a.Finish("SPARSE_TO_DENSE", type, seed);
}

AccuracyCase DilateCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Steps x = a.Input(type, {4}, a.RandomAffine(type, MinScale(type)));
  const Steps between = a.Input(type, {}, a.RandomAffine(type, MinScale(type)));
  const int dilations = a.Numbers({1}, {3});
  Reals truth(10, between.real()[0]);
  for (size_t i = 0; i < 4; ++i) truth[3 * i] = x.real()[i];
  const int y = a.Output(type, {10}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  a.m().AddOp(kTfLiteBuiltinDilate, {x.tensor, dilations, between.tensor}, {y},
              schema::CreateDilateOptions(a.m().fbb()), 1);
  return a.Finish("DILATE", type, seed);
}

AccuracyCase SetDiagonalCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Steps x = a.Input(type, {4, 4}, a.RandomAffine(type, MinScale(type)));
  const Steps diagonal = a.Input(type, {4}, a.RandomAffine(type, MinScale(type)));
  Reals truth = x.real();
  for (size_t i = 0; i < 4; ++i) truth[5 * i] = diagonal.real()[i];
  const int y = a.Output(type, {4, 4}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  a.m().AddOp(kTfLiteBuiltinMatrixSetDiag, {x.tensor, diagonal.tensor}, {y},
              schema::CreateMatrixSetDiagOptions(a.m().fbb()), 1);
  return a.Finish("MATRIX_SET_DIAG", type, seed);
}

AccuracyCase LookupCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int rows = a.Numbers({2}, {3, 1});
  const Steps table = a.Constant(type, {4, 6}, {0.02f, 0});
  const Reals real = table.real();
  Reals truth(real.begin() + 18, real.end());
  truth.insert(truth.end(), real.begin() + 6, real.begin() + 12);
  const int y = a.Output(type, {2, 6}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  a.m().AddOp(kTfLiteBuiltinEmbeddingLookup, {rows, table.tensor}, {y}, 3);
  return a.Finish("EMBEDDING_LOOKUP", type, seed);
}

AccuracyCase HashtableCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int wanted = a.Numbers({2}, {30, 10}), keys = a.Numbers({3}, {10, 20, 30});
  const Steps table = a.Constant(type, {3, 4}, {MinScale(type), 0});
  const Reals real = table.real();
  Reals truth(real.begin() + 8, real.end());
  truth.insert(truth.end(), real.begin(), real.begin() + 4);
  const int y = a.Output(type, {2, 4}, a.RandomAffine(type, MinScale(type) * 1.5f), truth);
  const int hits = a.UncomparedOutput({2}, kTfLiteUInt8);
  a.m().AddOp(kTfLiteBuiltinHashtableLookup, {wanted, keys, table.tensor}, {y, hits}, 1);
  return a.Finish("HASHTABLE_LOOKUP", type, seed);
}

// ---- Several outputs --------------------------------------------------------------------------

enum class Cut { kSplit, kSplitV, kUnpack };

// Splits [2, 3, 5] into its two halves, each with its own scale.
AccuracyCase CutCase(Cut cut, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const float least = MinScale(type);
  const Steps x = a.Input(type, {2, 3, 5}, a.RandomAffine(type, least));
  const Reals real = x.real();
  const Dims4 shape = cut == Cut::kUnpack ? Dims4{3, 5} : Dims4{1, 3, 5};
  std::vector<int32_t> outputs;
  for (int half = 0; half < 2; ++half) {
    outputs.push_back(a.Output(type, shape, a.RandomAffine(type, least * (half == 0 ? 0.8f : 1.5f)),
                               Reals(real.begin() + half * 15, real.begin() + half * 15 + 15)));
  }
  ModelBuilder& m = a.m();
  const char* name = "UNPACK";
  if (cut == Cut::kUnpack) {
    m.AddOp(kTfLiteBuiltinUnpack, {x.tensor}, outputs, schema::CreateUnpackOptions(m.fbb(), 2, 0),
            2);
  } else if (cut == Cut::kSplit) {
    name = "SPLIT";
    const int axis = a.Numbers({}, {0});
    m.AddOp(kTfLiteBuiltinSplit, {axis, x.tensor}, outputs, schema::CreateSplitOptions(m.fbb(), 2),
            2);
  } else {
    name = "SPLIT_V";
    const int sizes = a.Numbers({2}, {1, 1}), axis = a.Numbers({}, {0});
    m.AddOp(kTfLiteBuiltinSplitV, {x.tensor, sizes, axis}, outputs,
            schema::CreateSplitVOptions(m.fbb(), 2), 2);
  }
  return a.Finish(name, type, seed);
}

}  // namespace

std::vector<AccuracyCase> MoveAccuracy() {
  std::vector<AccuracyCase> cases;
  for (uint32_t seed = 1; seed <= 2; ++seed) {
    for (const Move& move : Moves()) {
      for (TfLiteType type : move.types) cases.push_back(MoveCase(move, type, seed));
    }
    for (const Join& join : Joins()) {
      for (TfLiteType type : join.types) cases.push_back(JoinCase(join, type, seed));
    }
    for (TfLiteType type : kAll) {
      for (const bool constant : {false, true}) cases.push_back(PadV2Case(type, seed, constant));
      cases.push_back(CutCase(Cut::kSplit, type, seed));
      cases.push_back(CutCase(Cut::kSplitV, type, seed));
      cases.push_back(CutCase(Cut::kUnpack, type, seed));
    }
    for (TfLiteType type : {kTfLiteInt8, kTfLiteInt16}) {
      cases.push_back(UpdateCase(type, seed));
      cases.push_back(FillCase(type, seed));
    }
    for (TfLiteType type : kBytes) {
      cases.push_back(OneHotCase(type, seed));
      cases.push_back(SparseToDenseCase(type, seed));
      cases.push_back(LookupCase(type, seed));
    }
    for (TfLiteType type : kAll) {
      cases.push_back(TopCase(type, seed));
      cases.push_back(HashtableCase(type, seed));
      cases.push_back(UniqueCase(type, seed));
      cases.push_back(DilateCase(type, seed));
      cases.push_back(SetDiagonalCase(type, seed));
    }
  }
  return cases;
}

}  // namespace deputy
