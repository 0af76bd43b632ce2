// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of SLICE, STRIDED_SLICE (options: its five masks) and DYNAMIC_UPDATE_SLICE.
#include "tests/cases/movement.h"

namespace deputy {
namespace {

constexpr auto kSlice = kTfLiteBuiltinSlice;
constexpr auto kStrided = kTfLiteBuiltinStridedSlice;
constexpr auto kUpdate = kTfLiteBuiltinDynamicUpdateSlice;

const MoveRow kSliceRows[] = {
    {kSlice, "SLICE", {{4, 5}}, {Vector({1, 2}), Vector({2, -1})}, {}},
    {kSlice, "SLICE", {{4, 5}}, {Vector({4, 2}), Vector({0, 3})}, {}},
    {kSlice,
     "SLICE",
     {{4, 5}},
     {Vector({5, 0}), Vector({-1, 1})},
     {},
     "expected a start from 0 to 4"},
    {kSlice,
     "SLICE",
     {{4, 5}},
     {Vector({-1, 0}), Vector({1, 1})},
     {},
     "expected a start from 0 to 4"},
    {kSlice, "SLICE", {{4, 5}}, {Vector({1, 0}), Vector({INT32_MAX, 1})}, {}, "a size from 0 to 3"},
    {kSlice, "SLICE", {{4, 5}}, {Vector({1}), Vector({1})}, {}, "expected dimension 0 to be 2"},
    {kStrided,
     "STRIDED_SLICE",
     {{4, 5}},
     {Vector({1, 0}), Vector({4, 5}), Vector({2, 3})},
     {0, 0, 0, 0, 0}},
    {kStrided,
     "STRIDED_SLICE",
     {{4, 5}},
     {Vector({3, 4}), Vector({0, 0}), Vector({-1, -2})},
     {0, 3, 0, 0, 0}},
    {kStrided,
     "STRIDED_SLICE",
     {{2, 3, 4}},
     {Vector({0, 0, 1}), Vector({0, 0, 3}), Vector({1, 1, 1})},
     {0, 0, 1, 2, 0}},
    {kStrided,
     "STRIDED_SLICE",
     {{4, 5}},
     {Vector({1, 0}), Vector({2, 5}), Vector({1, 1})},
     {0, 0, 0, 0, 1}},
    {kStrided,
     "STRIDED_SLICE",
     {{4, 5}},
     {Vector({1, 0}), Vector({4, 5}), Vector({0, 1})},
     {0, 0, 0, 0, 0},
     "expected strides other than 0"},
    {kStrided,
     "STRIDED_SLICE",
     {{4, 5}},
     {Vector({4, 0}), Vector({5, 5}), Vector({1, 1})},
     {0, 0, 0, 0, 1},
     "expected an index below 4"},
    {kStrided,
     "STRIDED_SLICE",
     {{4}},
     {Vector({0, 0}), Vector({1, 1}), Vector({1, 1})},
     {0, 0, 0, 0, 0},
     "expected at least 2 dimensions"},
    {kStrided,
     "STRIDED_SLICE",
     {{4, 5}},
     {Vector({INT32_MIN, INT32_MAX}), Vector({INT32_MAX, INT32_MIN}), Vector({1, INT32_MIN})},
     {0, 0, 0, 0, 0}},
    {kUpdate, "DYNAMIC_UPDATE_SLICE", {{4, 5}, {2, 3}}, {Vector({1, 9})}, {}},
    {kUpdate,
     "DYNAMIC_UPDATE_SLICE",
     {{4, 5}, {5, 3}},
     {Vector({0, 0})},
     {},
     "expected dimension 0 to be at most 4"},
    {kUpdate,
     "DYNAMIC_UPDATE_SLICE",
     {{4, 5}, {2, 3}},
     {Vector({0})},
     {},
     "expected dimension 0 to be 2"},
};

void AddSliceOperator(ModelBuilder* builder, const MoveRow& row, const std::vector<int32_t>& inputs,
                      const std::vector<int32_t>& outputs) {
  const std::vector<int32_t>& masks = row.options;
  if (row.code == kStrided) {
    builder->AddOp(row.code, inputs, outputs,
                   schema::CreateStridedSliceOptions(builder->fbb(), masks[0], masks[1], masks[2],
                                                     masks[3], masks[4]));
  } else {
    builder->AddOp(row.code, inputs, outputs);
  }
}

const MoveTypes kFurtherSliceTypes[] = {
    {kSlice, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteUInt16, kTfLiteInt4}},
    {kStrided, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteFloat64}},
    {kUpdate, {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteUInt64, kTfLiteInt4}},
};

}  // namespace

std::vector<OpCase> SliceCases() {
  return MoveCases(kSliceRows, AddSliceOperator, kFurtherSliceTypes);
}

}  // namespace deputy
