// SPDX-License-Identifier: Apache-2.0
//
// GATHER (options: axis, batch dimensions), GATHER_ND and EMBEDDING_LOOKUP. Indices outside of
// their axis are refused by Invoke, because they are looked at one by one.
#include "tests/cases/movement.h"

namespace deputy {
namespace {

constexpr auto kGather = kTfLiteBuiltinGather;
constexpr auto kGatherNd = kTfLiteBuiltinGatherNd;
constexpr auto kLookup = kTfLiteBuiltinEmbeddingLookup;

const MoveRow kRows[] = {
    {kGather, "GATHER", {{4, 3}}, {Vector({2, 0, 0})}, {0, 0}},
    {kGather, "GATHER", {{4, 3}}, {{{2, 2}, {2, 0, 1, 1}}}, {-1, 0}},
    {kGather, "GATHER", {{2, 3, 4}}, {{{2, 2}, {2, 0, 1, 1}}}, {1, 1}},
    {kGather, "GATHER", {{4, 3}}, {Vector({0})}, {2, 0}, "expected an axis of -2 to 1"},
    {kGather, "GATHER", {{4, 3}}, {Vector({0})}, {0, 1}, "expected batch_dims"},
    {kGather, "GATHER", {{4, 3}}, {{{2, 1}, {0, 0}}}, {1, 1}, "expected dimension 0 to be 4"},
    {kGather, "GATHER", {{4, 3}}, {Vector({4})}, {0, 0}, "indices from 0 to 3", 1, false, true},
    {kGather, "GATHER", {{4, 3}}, {Vector({0, -1})}, {1, 0}, "from 0 to 2", 1, false, true},
    {kGather, "GATHER", {{4, 3}}, {Vector({INT32_MIN})}, {0, 0}, "from 0 to 3", 1, false, true},
    {kGather, "GATHER", {{0, 3}}, {Vector({0})}, {0, 0}, "found 0", 1, false, true},
    {kGatherNd, "GATHER_ND", {{4, 3}}, {{{2, 1}, {3, 0}}}, {}},
    {kGatherNd, "GATHER_ND", {{4, 3}}, {{{1, 2}, {3, 3}}}, {}, "from 0 to 2", 1, false, true},
    {kGatherNd, "GATHER_ND", {{4, 3}}, {{{1, 1}, {-1}}}, {}, "from 0 to 3", 1, false, true},
    {kGatherNd, "GATHER_ND", {{4, 3}}, {{{1, 1}, {INT32_MAX}}}, {}, "from 0 to 3", 1, false, true},
    {kGatherNd, "GATHER_ND", {{4, 3}}, {{{2, 2}, {3, 0, 1, 1}}}, {}},
    {kGatherNd, "GATHER_ND", {{4, 3}}, {{{1, 3}, {0, 0, 0}}}, {}, "expected at most 2"},
    {kLookup, "EMBEDDING_LOOKUP", {{4, 3}}, {Vector({2, 0, 0})}, {}, "", 1, true},
    {kLookup, "EMBEDDING_LOOKUP", {{4, 3}}, {Vector({4})}, {}, "from 0 to 3", 1, true, true},
    {kLookup, "EMBEDDING_LOOKUP", {{4, 3}}, {Vector({-1})}, {}, "from 0 to 3", 1, true, true},
    {kLookup,
     "EMBEDDING_LOOKUP",
     {{4}},
     {Vector({2})},
     {},
     "expected at least 2 dimensions",
     1,
     true},
    {kLookup, "EMBEDDING_LOOKUP", {{4, 3}}, {{{1, 1}, {2}}}, {}, "expected 1 dimensions", 1, true},
};

void AddOperator(ModelBuilder* builder, const MoveRow& row, const std::vector<int32_t>& inputs,
                 const std::vector<int32_t>& outputs) {
  if (row.code == kGather) {
    builder->AddOp(row.code, inputs, outputs,
                   schema::CreateGatherOptions(builder->fbb(), row.options[0], row.options[1]));
  } else {
    builder->AddOp(row.code, inputs, outputs);
  }
}

}  // namespace

std::vector<OpCase> GatherCases() { return MoveCases(kRows, AddOperator); }

}  // namespace deputy
