// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of RANDOM_UNIFORM, RANDOM_STANDARD_NORMAL and MULTINOMIAL with seeds, for which
// every executor must generate the same sequence of numbers over all inferences;
// STABLEHLO_RNG_BIT_GENERATOR.
#include "tests/cases/node.h"

namespace deputy {
namespace {

NodeRow Numbers(TfLiteBuiltinOperator code, const char* name, const std::vector<double>& shape,
                const char* refusal = "", TfLiteType output = kTfLiteFloat32) {
  return {
      code, name, {{kTfLiteInt32, {static_cast<int32_t>(shape.size())}, shape}}, {output}, refusal};
}

NodeRow Samples(const Shape& logits, double count, TfLiteType output, const char* refusal = "") {
  return {kTfLiteBuiltinMultinomial,
          "MULTINOMIAL",
          {{kTfLiteFloat32, logits}, {kTfLiteInt32, {}, {count}}},
          {output},
          refusal};
}

const NodeRow kSampleRows[] = {
    Samples({3, 7}, 9, kTfLiteInt32),
    Samples({1, 1}, 0, kTfLiteInt64),
    Samples({0, 4}, 3, kTfLiteInt64),
    Samples({3, 7}, -1, kTfLiteInt32, "expected 0 samples or more, found -1"),
    Samples({3, 7}, INT32_MIN, kTfLiteInt32, "expected 0 samples or more"),
    Samples({3, 0}, 2, kTfLiteInt32, "expected dimension 1 to be 1 or more"),
    Samples({7}, 2, kTfLiteInt32, "expected 2 dimensions, found 1"),
    Samples({3, 7}, 2, kTfLiteFloat32, "expected type INT32 or INT64"),
};

void AddRandom(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
               const std::vector<int32_t>& outputs) {
  builder->AddOp(row.code, inputs, outputs, schema::CreateRandomOptions(builder->fbb(), 12, -34));
}

struct BitsRow {
  Shape state, bits;
  TfLiteType type = kTfLiteUInt32;
  int algorithm = 1;
  const char* refusal = "";
  TfLiteType state_type = kTfLiteUInt64;
  TfLiteType next_type = kTfLiteNoType;  // type of the new state; kTfLiteNoType: that of the state
};

const BitsRow kBitsRows[] = {
    {{2}, {3, 7}},
    {{3}, {3, 7}, kTfLiteInt64, 0},
    {{2}, {5}, kTfLiteUInt64, 2},
    {{2}, {}, kTfLiteInt32, 2},
    {{2}, {0, 4}, kTfLiteUInt64, 1},
    {{1}, {5}, kTfLiteUInt32, 1, "expected 2 or 3 elements, found 1"},
    {{4}, {5}, kTfLiteUInt32, 0, "expected 2 or 3 elements, found 4"},
    {{0}, {5}, kTfLiteUInt32, 0, "expected 2 or 3 elements, found 0"},
    {{3}, {5}, kTfLiteUInt32, 2, "expected dimension 0 to be 2, found 3"},
    {{}, {5}, kTfLiteUInt32, 1, "expected 1 dimensions, found 0"},
    {{2, 2}, {5}, kTfLiteUInt32, 1, "expected 1 dimensions, found 2"},
    {{2}, {5}, kTfLiteUInt32, 9, "expected the algorithm DEFAULT, PHILOX or THREEFRY"},
    {{2}, {5}, kTfLiteUInt32, 127, "expected the algorithm DEFAULT, PHILOX or THREEFRY"},
    {{2}, {5}, kTfLiteFloat32, 1, "expected type INT32"},
    {{2}, {5}, kTfLiteUInt32, 1, "expected type UINT64", kTfLiteInt64},
    {{2},
     {5},
     kTfLiteUInt32,
     1,
     "tensor 1 'next': expected type UINT64 like tensor 0, found INT64",
     kTfLiteUInt64,
     kTfLiteInt64},
};

OpCase MakeBits(const BitsRow& row) {
  ModelBuilder m;
  const int state = m.AddTensor(row.state_type, row.state, "state");
  const TfLiteType next_type = row.next_type == kTfLiteNoType ? row.state_type : row.next_type;
  const int next = m.AddTensor(next_type, row.state, "next");
  const int bits = m.AddTensor(row.type, row.bits, "bits");
  m.AddOp(kTfLiteBuiltinStablehloRngBitGenerator, {state}, {next, bits},
          schema::CreateStablehloRngBitGeneratorOptions(
              m.fbb(), static_cast<schema::RngAlgorithm>(row.algorithm)));
  m.SetInputs({state});
  m.SetOutputs({next, bits});
  return {std::string("STABLEHLO_RNG_BIT_GENERATOR ") + TfLiteTypeGetName(row.state_type) +
              Text(row.state) + " to " + TfLiteTypeGetName(row.type) + Text(row.bits) +
              " algorithm " + std::to_string(row.algorithm),
          Rule::kEqual, m.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> RandomCases() {
  std::vector<NodeRow> rows(std::begin(kSampleRows), std::end(kSampleRows));
  for (const auto& [code, name] :
       {std::pair{kTfLiteBuiltinRandomUniform, "RANDOM_UNIFORM"},
        std::pair{kTfLiteBuiltinRandomStandardNormal, "RANDOM_STANDARD_NORMAL"}}) {
    rows.push_back(Numbers(code, name, {3, 7}));
    rows.push_back(Numbers(code, name, {1}));
    rows.push_back(Numbers(code, name, {0, 5}));
    rows.push_back(Numbers(code, name, {2, -3}, "its dimension 1 would be -3"));
    rows.push_back(Numbers(code, name, {INT32_MAX, INT32_MAX, INT32_MAX}, "overflow"));
    rows.push_back(Numbers(code, name, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "at most 8 elements, found 9"));
    rows.push_back(Numbers(code, name, {3}, "expected type FLOAT32", kTfLiteFloat16));
  }
  std::vector<OpCase> cases = NodeCases(rows, AddRandom);
  for (const BitsRow& row : kBitsRows) cases.push_back(MakeBits(row));
  return cases;
}

}  // namespace deputy
