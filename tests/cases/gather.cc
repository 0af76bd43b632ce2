// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of GATHER (options: axis, batch dimensions), GATHER_ND, EMBEDDING_LOOKUP,
// SCATTER_ND and EMBEDDING_LOOKUP_SPARSE. Invoke refuses indices out of range, because it checks
// them one by one.
#include "tests/cases/movement.h"
#include "tests/cases/node.h"

namespace deputy {
namespace {

constexpr auto kGather = kTfLiteBuiltinGather;
constexpr auto kGatherNd = kTfLiteBuiltinGatherNd;
constexpr auto kLookup = kTfLiteBuiltinEmbeddingLookup;

const MoveRow kGatherRows[] = {
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

NodeRow Scatter(const NodeTensor& indices, const Shape& updates, const std::vector<double>& shape,
                const char* refusal = "", bool late = false) {
  return {kTfLiteBuiltinScatterNd,
          "SCATTER_ND",
          {indices,
           {kTfLiteFloat32, updates},
           {kTfLiteInt32, {static_cast<int32_t>(shape.size())}, shape}},
          {kTfLiteFloat32},
          refusal,
          late};
}

const NodeRow kScatterRows[] = {
    Scatter({kTfLiteInt32, {3, 1}, {2, 0, 2}}, {3, 5}, {4, 5}),
    Scatter({kTfLiteInt32, {2, 2}, {1, 0, 0, 2}}, {2}, {4, 3}),
    Scatter({kTfLiteInt32, {1, 1}, {4}}, {1, 3}, {4, 3}, "indices from 0 to 3, found 4", true),
    Scatter({kTfLiteInt32, {1, 1}, {-1}}, {1, 3}, {4, 3}, "indices from 0 to 3, found -1", true),
    Scatter({kTfLiteInt32, {1, 2}, {INT32_MAX, INT32_MIN}}, {1}, {4, 3}, "from 0 to 3", true),
    Scatter({kTfLiteInt32, {1, 1}, {0}}, {1, 3}, {-4, 3}, "its dimension 0 would be -4"),
    Scatter({kTfLiteInt32, {1, 1}, {0}}, {1, 3}, {INT32_MAX, INT32_MAX}, "dimension 1 to be 2147"),
    Scatter({kTfLiteInt32, {1, 1}, {0}}, {1, 3}, {4, 2}, "expected dimension 1 to be 2, found 3"),
    Scatter({kTfLiteInt32, {1, 3}, {0, 0, 0}}, {1}, {4, 2}, "expected 3 to 8 dimensions"),
    Scatter({kTfLiteInt32, {2, 1}, {0, 0}}, {1, 3}, {4, 3}, "expected dimension 0 to be 2"),
};

// A row of EMBEDDING_LOOKUP_SPARSE: three lookups in a table of four rows.
NodeRow LookupSparse(const std::vector<double>& ids, const std::vector<double>& indices,
                     const std::vector<double>& shape, int32_t combiner, const char* refusal = "",
                     bool late = false) {
  return {kTfLiteBuiltinEmbeddingLookupSparse,
          "EMBEDDING_LOOKUP_SPARSE",
          {{kTfLiteInt32, {static_cast<int32_t>(ids.size())}, ids},
           {kTfLiteInt32, {3, 2}, indices},
           {kTfLiteInt32, {static_cast<int32_t>(shape.size())}, shape},
           {kTfLiteFloat32, {3}, {1, 2, 4}},
           {kTfLiteFloat32, {4, 5}}},
          {kTfLiteFloat32},
          refusal,
          late,
          {combiner}};
}

const NodeRow kLookupSparseRows[] = {
    LookupSparse({1, 3, 0}, {0, 0, 2, 0, 2, 1}, {3, 2}, 0),
    LookupSparse({1, 3, 0}, {0, 0, 2, 0, 2, 1}, {3, 2}, 1),
    LookupSparse({1, 3, 0}, {0, 0, 2, 0, 0, 1}, {3, 2}, 2),
    LookupSparse({1, 4, 0}, {0, 0, 2, 0, 2, 1}, {3, 2}, 0, "indices from 0 to 3, found 4", true),
    LookupSparse({1, -1, 0}, {0, 0, 2, 0, 2, 1}, {3, 2}, 0, "indices from 0 to 3", true),
    LookupSparse({1, 3, 0}, {0, 0, 3, 0, 2, 1}, {3, 2}, 1, "indices from 0 to 2, found 3", true),
    LookupSparse({1, 3, 0}, {-1, 0, 2, 0, 2, 1}, {3, 2}, 1, "indices from 0 to 2", true),
    LookupSparse({1, 3, 0}, {0, 0, 2, 0, 2, 1}, {-3, 2}, 1, "its dimension 0 would be -3"),
    LookupSparse({1, 3, 0}, {0, 0, 2, 0, 2, 1}, {3, 2, 1}, 1, "expected dimension 1 to be 3"),
    LookupSparse({1, 3}, {0, 0, 2, 0, 2, 1}, {3, 2}, 1, "expected dimension 0 to be 2"),
};

void AddLookupSparse(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                     const std::vector<int32_t>& outputs) {
  builder->AddOp(row.code, inputs, outputs,
                 schema::CreateEmbeddingLookupSparseOptions(
                     builder->fbb(), static_cast<schema::CombinerType>(row.options[0])));
}

void AddGatherOperator(ModelBuilder* builder, const MoveRow& row,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs) {
  if (row.code == kGather) {
    builder->AddOp(row.code, inputs, outputs,
                   schema::CreateGatherOptions(builder->fbb(), row.options[0], row.options[1]));
  } else {
    builder->AddOp(row.code, inputs, outputs);
  }
}

const MoveTypes kFurtherGatherTypes[] = {
    {kGather, {kTfLiteBFloat16, kTfLiteInt4}},
    {kGatherNd, {kTfLiteBFloat16}},
    {kLookup,
     {kTfLiteBFloat16, kTfLiteComplex64, kTfLiteFloat64, kTfLiteUInt64, kTfLiteUInt16, kTfLiteInt4,
      kTfLiteInt2, kTfLiteUInt4}},
};

}  // namespace

std::vector<OpCase> GatherCases() {
  std::vector<OpCase> cases = MoveCases(kGatherRows, AddGatherOperator, kFurtherGatherTypes);
  for (OpCase& one : NodeCases(kScatterRows)) cases.push_back(std::move(one));
  for (OpCase& one : NodeCases(kLookupSparseRows, AddLookupSparse)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
