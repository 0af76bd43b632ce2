// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of CONCATENATION, PACK, UNPACK, SPLIT and SPLIT_V. The options of a row are the
// axis and the number of parts.
#include <cstdint>

#include "tests/cases/movement.h"

namespace deputy {
namespace {

constexpr auto kConcat = kTfLiteBuiltinConcatenation;
constexpr auto kPack = kTfLiteBuiltinPack;
constexpr auto kUnpack = kTfLiteBuiltinUnpack;
constexpr auto kSplit = kTfLiteBuiltinSplit;
constexpr auto kSplitV = kTfLiteBuiltinSplitV;

const MoveRow kConcatRows[] = {
    {kConcat, "CONCATENATION", {{2, 3}, {2, 5}, {2, 1}}, {}, {1}},
    {kConcat, "CONCATENATION", {{2, 3}, {4, 3}}, {}, {-2}},
    {kConcat, "CONCATENATION", {{2, 3}, {0, 3}}, {}, {0}},
    {kConcat, "CONCATENATION", {{2, 3}, {4, 3}}, {}, {1}, "expected dimension 0 to be 2"},
    {kConcat, "CONCATENATION", {{2, 3}, {2, 3, 1}}, {}, {0}, "expected 2 dimensions"},
    {kConcat, "CONCATENATION", {{2, 3}, {2, 3}}, {}, {2}, "expected an axis of -2 to 1"},
#if SIZE_MAX > UINT32_MAX  // else the size of a tensor overflows
    {kConcat, "CONCATENATION", {{INT32_MAX, 0}, {1, 0}}, {}, {0}, "would be 2147483648"},
#endif
    {kPack, "PACK", {{2, 3}, {2, 3}}, {}, {-1, 2}},
    {kPack, "PACK", {{2, 3}, {2, 3}}, {}, {0, 3}, "inputs: expected 3 to 3, found 2"},
    {kPack, "PACK", {{2, 3}, {3, 2}}, {}, {0, 2}, "expected dimension 0 to be 2"},
    {kPack, "PACK", {{2, 3}, {2, 3}}, {}, {3, 2}, "expected an axis of -3 to 2"},
    {kUnpack, "UNPACK", {{2, 3}}, {}, {0, 2}, "", 2},
    {kUnpack, "UNPACK", {{2, 3}}, {}, {1, 2}, "expected dimension 1 to be 2", 2},
    {kUnpack, "UNPACK", {{2, 3}}, {}, {0, -1}, "expected num of 0 or more", 2},
    {kSplit, "SPLIT", {{4, 6}}, {Scalar(1)}, {0, 2}, "", 2, true},
    {kSplit, "SPLIT", {{4, 6}}, {Scalar(1)}, {0, 4}, "expected an extent that 4 divides", 4, true},
    {kSplit, "SPLIT", {{4, 6}}, {Scalar(5)}, {0, 2}, "expected an axis of -2 to 1", 2, true},
    {kSplit, "SPLIT", {{4, 6}}, {Scalar(1)}, {0, 0}, "expected num_splits of 1 or more", 2, true},
    {kSplit, "SPLIT", {{4, 6}}, {Scalar(INT32_MIN)}, {0, 2}, "an axis of -2 to 1", 2, true},
    {kSplitV, "SPLIT_V", {{4, 6}}, {Vector({2, 4}), Scalar(2)}, {0, 2}, "an axis of -2 to 1", 2},
    {kSplitV, "SPLIT_V", {{4, 6}}, {Vector({8, -2}), Scalar(1)}, {0, 2}, "expected parts of 6", 2},
    {kSplitV, "SPLIT_V", {{4, 6}}, {Vector({2, -1}), Scalar(1)}, {0, 2}, "", 2},
    {kSplitV, "SPLIT_V", {{4, 6}}, {Vector({2, 3}), Scalar(1)}, {0, 2}, "expected parts of 6", 2},
    {kSplitV,
     "SPLIT_V",
     {{4, 6}},
     {Vector({INT32_MAX, INT32_MAX}), Scalar(1)},
     {0, 2},
     "expected parts of 6",
     2},
    {kSplitV, "SPLIT_V", {{4, 6}}, {Vector({-1, -1}), Scalar(1)}, {0, 2}, "at most one -1", 2},
};

void AddConcatOperator(ModelBuilder* builder, const MoveRow& row,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  auto& fbb = builder->fbb();
  const int axis = row.options[0], count = row.options.size() > 1 ? row.options[1] : 0;
  switch (row.code) {
    case kConcat:
      builder->AddOp(row.code, inputs, outputs, schema::CreateConcatenationOptions(fbb, axis));
      break;
    case kPack:
      builder->AddOp(row.code, inputs, outputs, schema::CreatePackOptions(fbb, count, axis));
      break;
    case kUnpack:
      builder->AddOp(row.code, inputs, outputs, schema::CreateUnpackOptions(fbb, count, axis));
      break;
    case kSplit:
      builder->AddOp(row.code, inputs, outputs, schema::CreateSplitOptions(fbb, count));
      break;
    default:
      builder->AddOp(row.code, inputs, outputs, schema::CreateSplitVOptions(fbb, count));
  }
}

const MoveTypes kFurtherConcatTypes[] = {
    {kConcat, {kTfLiteBFloat16, kTfLiteInt4}},
    {kUnpack, {kTfLiteBFloat16}},
};

}  // namespace

std::vector<OpCase> ConcatCases() {
  return MoveCases(kConcatRows, AddConcatOperator, kFurtherConcatTypes);
}

}  // namespace deputy
