// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of LSH_PROJECTION (options: the type) and HASHTABLE_LOOKUP, and refusals of
// SKIP_GRAM, whose results on texts are tested by golden rows only.
#include "tests/cases/node.h"

namespace deputy {
namespace {

NodeRow Project(const Shape& hash, const NodeTensor& input, int32_t type,
                const char* refusal = "") {
  return {kTfLiteBuiltinLshProjection,
          "LSH_PROJECTION",
          {{kTfLiteFloat32, hash}, input},
          {kTfLiteInt32},
          refusal,
          false,
          {type}};
}

const NodeRow kProjectRows[] = {
    Project({4, 5}, {kTfLiteInt8, {3, 7}}, 1),
    Project({3, 31}, {kTfLiteFloat32, {2, 40}}, 2),
    Project({0, 3}, {kTfLiteFloat32, {2}}, 2),
    Project({4, 33}, {kTfLiteInt8, {3}}, 1, "expected at most 32 bits, found 33"),
    Project({4, 5}, {kTfLiteInt8, {0, 3}}, 1, "expected 1 item or more"),
    Project({4, 5}, {kTfLiteInt8, {3}}, 0, "type: expected SPARSE or DENSE"),
    Project({4}, {kTfLiteInt8, {3}}, 1, "expected 2 dimensions"),
};

void AddProject(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                const std::vector<int32_t>& outputs) {
  builder->AddOp(row.code, inputs, outputs,
                 schema::CreateLSHProjectionOptions(
                     builder->fbb(), static_cast<schema::LSHProjectionType>(row.options[0])));
}

NodeRow Lookup(const std::vector<double>& at, const std::vector<double>& keys, const Shape& values,
               const char* refusal = "", TfLiteType type = kTfLiteFloat32) {
  return {kTfLiteBuiltinHashtableLookup,
          "HASHTABLE_LOOKUP",
          {{kTfLiteInt32, {static_cast<int32_t>(at.size())}, at},
           {kTfLiteInt32, {static_cast<int32_t>(keys.size())}, keys},
           {type, values}},
          {type, kTfLiteUInt8},
          refusal};
}

const NodeRow kOtherTextRows[] = {
    Lookup({3, 7, -5, 3}, {-5, 3, 4, 9}, {4, 2}),
    Lookup({INT32_MIN, INT32_MAX, 0}, {INT32_MIN, 0, INT32_MAX}, {3}),
    Lookup({1, 2}, {9, 1, 5}, {3, 0}),
    Lookup({1, 5, 7}, {1, 5, 9}, {3, 2}, "", kTfLiteBFloat16),
    Lookup({1, 5, 7}, {1, 5, 9}, {3, 2}, "", kTfLiteComplex64),
    Lookup({1}, {1, 2}, {3, 2}, "expected dimension 0 to be 3, found 2"),
    Lookup({1}, {1}, {}, "expected 1 row or more"),
    {kTfLiteBuiltinSkipGram,
     "SKIP_GRAM",
     {{kTfLiteInt32, {1}}},
     {kTfLiteString},
     "expected type STRING"},
};

}  // namespace

std::vector<OpCase> TextCases() {
  std::vector<OpCase> cases = NodeCases(kProjectRows, AddProject);
  for (OpCase& one : NodeCases(kOtherTextRows)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
