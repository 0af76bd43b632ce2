// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of TRANSPOSE, TILE, BROADCAST_TO, REVERSE_V2, REVERSE_SEQUENCE and the operators
// that move blocks between space, depth and batch.
#include "tests/cases/movement.h"
#include "tests/cases/node.h"

namespace deputy {
namespace {

constexpr auto kTranspose = kTfLiteBuiltinTranspose;
constexpr auto kTile = kTfLiteBuiltinTile;
constexpr auto kBroadcast = kTfLiteBuiltinBroadcastTo;
constexpr auto kReverse = kTfLiteBuiltinReverseV2;
constexpr auto kToSpace = kTfLiteBuiltinDepthToSpace;
constexpr auto kToDepth = kTfLiteBuiltinSpaceToDepth;
constexpr auto kBatchToSpace = kTfLiteBuiltinBatchToSpaceNd;
constexpr auto kSpaceToBatch = kTfLiteBuiltinSpaceToBatchNd;

const MoveRow kRearrangeRows[] = {
    {kTranspose, "TRANSPOSE", {{2, 3, 4}}, {Vector({2, 0, 1})}, {}},
    {kTranspose, "TRANSPOSE", {{37, 19}}, {Vector({1, 0})}, {}},
    {kTranspose, "TRANSPOSE", {{2, 0, 4}}, {Vector({2, 0, 1})}, {}},
    {kTranspose, "TRANSPOSE", {{2, 3}}, {Vector({0, 2})}, {}, "expected an axis of -2 to 1"},
    {kTranspose, "TRANSPOSE", {{2, 3}}, {Vector({1, -1})}, {}, "expected every axis once"},
    {kTranspose, "TRANSPOSE", {{2, 3}}, {Vector({0})}, {}, "expected 2 elements"},
    {kTile, "TILE", {{2, 1, 3}}, {Vector({2, 3, 1})}, {}},
    {kTile, "TILE", {{2, 3}}, {Vector({-1, 1})}, {}, "expected multiples from 0"},
    {kTile, "TILE", {{2, 3}}, {Vector({1 << 30, 1 << 30})}, {}, "its dimension 0 would be"},
    {kBroadcast, "BROADCAST_TO", {{3, 1}}, {Vector({2, 3, 4})}, {}},
    {kBroadcast, "BROADCAST_TO", {{3, 2}}, {Vector({3, 4})}, {}, "expected dimension 1 to be 2"},
    {kTile, "TILE", {{1, 1, 1}}, {Vector({INT32_MAX, INT32_MAX, INT32_MAX})}, {}, "overflow"},
    {kTile, "TILE", {{2, 3}}, {Vector({1})}, {}, "expected 2 elements"},
    {kTranspose,
     "TRANSPOSE",
     {{2, 3}},
     {Vector({INT32_MIN, 0})},
     {},
     "expected an axis of -2 to 1"},
    {kBroadcast,
     "BROADCAST_TO",
     {{1}},
     {Vector({INT32_MAX, INT32_MAX, INT32_MAX})},
     {},
     "overflow"},
    {kBroadcast, "BROADCAST_TO", {{3}}, {Vector({-1, 3})}, {}, "its dimension 0 would be -1"},
    {kToSpace, "DEPTH_TO_SPACE", {{1, 2, 3, 8}}, {}, {2}},
    {kToSpace, "DEPTH_TO_SPACE", {{1, 2, 3, 6}}, {}, {2}, "that blocks of 2 divide"},
    {kToSpace, "DEPTH_TO_SPACE", {{1, 2, 3, 8}}, {}, {-1}, "expected a block_size of 1 or more"},
    {kToSpace, "DEPTH_TO_SPACE", {{1, 2, 3, 8}}, {}, {INT32_MAX}, "blocks of 2147483647 divide"},
    {kToDepth, "SPACE_TO_DEPTH", {{1, 4, 6, 2}}, {}, {2}},
    {kToDepth, "SPACE_TO_DEPTH", {{1, 4, 5, 2}}, {}, {2}, "that blocks of 2 divide"},
    {kToDepth, "SPACE_TO_DEPTH", {{4, 5, 2}}, {}, {2}, "expected 4 dimensions"},
    {kSpaceToBatch, "SPACE_TO_BATCH_ND", {{1, 3, 4, 2}}, {Vector({2, 2}), Pairs({1, 0, 0, 0})}, {}},
    {kSpaceToBatch,
     "SPACE_TO_BATCH_ND",
     {{1, 3, 4, 2}},
     {Vector({2, 2}), Pairs({0, 0, 0, 0})},
     {},
     "to divide the padded extent 3"},
    {kSpaceToBatch,
     "SPACE_TO_BATCH_ND",
     {{1, 3, 4, 2}},
     {Vector({0, 2}), Pairs({0, 0, 0, 0})},
     {},
     "expected blocks of 1 or more"},
    {kSpaceToBatch,
     "SPACE_TO_BATCH_ND",
     {{2, 3, 4, 2}},
     {Vector({1, INT32_MAX}), Pairs({0, 0, INT32_MAX - 4, 0})},
     {},
     "its dimension 0 would be 4294967294"},
    {kSpaceToBatch,
     "SPACE_TO_BATCH_ND",
     {{1, 3, 4, 2}},
     {Vector({3, 2}), Pairs({0, 0, -2, 0})},
     {},
     "expected 0 or more"},
    {kBatchToSpace, "BATCH_TO_SPACE_ND", {{4, 3, 4, 2}}, {Vector({2, 2}), Pairs({1, 0, 0, 3})}, {}},
    {kBatchToSpace, "BATCH_TO_SPACE_ND", {{4, 3, 4, 2}}, {Vector({2, 2}), Pairs({0, 0, 0, 0})}, {}},
    {kBatchToSpace,
     "BATCH_TO_SPACE_ND",
     {{4, 3, 4, 2}},
     {Vector({2, -2}), Pairs({0, 0, 0, 0})},
     {},
     "expected blocks of 1 or more"},
    {kBatchToSpace,
     "BATCH_TO_SPACE_ND",
     {{4, 3, 4, 2}},
     {Vector({2, 2}), Pairs({9, 0, 0, 0})},
     {},
     "its dimension 1 would be -3"},
    {kBatchToSpace,
     "BATCH_TO_SPACE_ND",
     {{3, 3, 4, 2}},
     {Vector({2, 2}), Pairs({0, 0, 0, 0})},
     {},
     "to divide the batch 3"},
    {kReverse, "REVERSE_V2", {{2, 3, 4}}, {Vector({1})}, {}},
    {kReverse, "REVERSE_V2", {{2, 3, 4}}, {Vector({-1, 1})}, {}},
    {kReverse, "REVERSE_V2", {{2, 0, 4}}, {Vector({0})}, {}},
    {kReverse, "REVERSE_V2", {{2, 3}}, {Vector({2})}, {}, "an axis of -2 to 1", 1, false, true},
    {kReverse, "REVERSE_V2", {{2, 3}}, {Vector({INT32_MIN})}, {}, "an axis of", 1, false, true},
    {kReverse, "REVERSE_V2", {{2, 3}}, {Vector({1, 1})}, {}, "found 1 and 1", 1, false, true},
    {kReverse, "REVERSE_V2", {{2, 3, 4}}, {Vector({0, 2})}, {}, "found 0 and 2", 1, false, true},
    {kReverse, "REVERSE_V2", {{2}}, {Vector({0, 0})}, {}, "expected at most 1 axes, found 2"},
    {kReverse, "REVERSE_V2", {{2}}, {Scalar(0)}, {}, "expected 1 dimensions"},
};

// A row of REVERSE_SEQUENCE. Its options are the axis of the sequences and that of the batch.
NodeRow Sequence(const Shape& shape, const std::vector<double>& lengths, int32_t sequence,
                 int32_t batch, const char* refusal = "", bool late = false) {
  return {
      kTfLiteBuiltinReverseSequence,
      "REVERSE_SEQUENCE",
      {{kTfLiteFloat32, shape}, {kTfLiteInt64, {static_cast<int32_t>(lengths.size())}, lengths}},
      {kTfLiteFloat32},
      refusal,
      late,
      {sequence, batch}};
}

const NodeRow kSequenceRows[] = {
    Sequence({2, 5, 3}, {5, 2}, 1, 0),
    Sequence({5, 2, 3}, {0, 4, 5}, 0, 2),
    Sequence({2, 3}, {-1, -9e18}, 1, 0),
    Sequence({2, 3}, {3, 4}, 1, 0, "expected lengths of at most 3, found 4", true),
    Sequence({2, 3}, {9e18, 1}, 1, 0, "expected lengths of at most 3", true),
    Sequence({2, 3}, {1}, 1, 0, "expected dimension 0 to be 2, found 1"),
    Sequence({2, 3}, {1, 1}, 0, 0, "expected two axes from 0 to 1"),
    Sequence({2, 3}, {1, 1}, -1, 0, "expected two axes from 0 to 1"),
    Sequence({2, 3}, {1, 1}, 1, INT32_MAX, "expected two axes from 0 to 1"),
};

void AddSequence(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                 const std::vector<int32_t>& outputs) {
  builder->AddOp(
      row.code, inputs, outputs,
      schema::CreateReverseSequenceOptions(builder->fbb(), row.options[0], row.options[1]));
}

void AddRearrangeOperator(ModelBuilder* builder, const MoveRow& row,
                          const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  if (row.code == kToSpace) {
    builder->AddOp(row.code, inputs, outputs,
                   schema::CreateDepthToSpaceOptions(builder->fbb(), row.options[0]));
  } else if (row.code == kToDepth) {
    builder->AddOp(row.code, inputs, outputs,
                   schema::CreateSpaceToDepthOptions(builder->fbb(), row.options[0]));
  } else {
    builder->AddOp(row.code, inputs, outputs, row.code == kBroadcast ? 2 : 1);
  }
}

const MoveTypes kFurtherRearrangeTypes[] = {
    {kTranspose, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteFloat64, kTfLiteInt4, kTfLiteUInt4}},
    {kTile, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteUInt64, kTfLiteUInt16}},
    {kBroadcast, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteFloat64, kTfLiteUInt16}},
    {kReverse, {kTfLiteBFloat16}},
    {kBatchToSpace, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteUInt16}},
    {kSpaceToBatch, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteFloat64}},
};

}  // namespace

std::vector<OpCase> RearrangeCases() {
  std::vector<OpCase> cases =
      MoveCases(kRearrangeRows, AddRearrangeOperator, kFurtherRearrangeTypes);
  for (OpCase& one : NodeCases(kSequenceRows, AddSequence)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
