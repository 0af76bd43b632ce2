// SPDX-License-Identifier: Apache-2.0
//
// Tests that kernels pack constants in AllocateTensors, not in the first inference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/cases/case.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::packing_test {
namespace {

size_t PackedBytes(const TfLiteInterpreter* interpreter) {
  const DeputyMemoryMap map = MemoryMapOf(interpreter);
  return map.packed_bytes;
}

class Packing : public QuietTest {};

// Returns the cases of operators that pack weights.
std::vector<OpCase> CasesWithWeights() {
  std::vector<OpCase> all;
  for (auto* family : {&ConvCases, &ConvTransposeCases, &Conv3dCases, &LstmCases, &MatmulCases,
                       &QuantizeCases, &RnnCases}) {
    for (OpCase& one : family()) {
      if (one.refusal.empty() && one.feeds.empty()) all.push_back(std::move(one));
    }
  }
  return all;
}

TEST_F(Packing, precedes_the_first_inference) {
  std::set<std::string> packed;  // names of the operators that pack
  for (const OpCase& one : CasesWithWeights()) {
    TestInterpreter t(one.model);
    if (t.get() == nullptr || t.Allocate() != kTfLiteOk) continue;
    const size_t before = PackedBytes(t.get());
    if (t.Invoke() != kTfLiteOk) continue;
    EXPECT_EQ(PackedBytes(t.get()), before) << one.name;
    if (before > 0) packed.insert(one.name.substr(0, one.name.find(' ')));
  }
  EXPECT_THAT(packed, testing::IsSupersetOf(
                          {"BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "CONV_2D",
                           "DENSIFY", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "LSTM", "RNN", "SVDF",
                           "TRANSPOSE_CONV", "UNIDIRECTIONAL_SEQUENCE_LSTM",
                           "UNIDIRECTIONAL_SEQUENCE_RNN"}));
}

TEST_F(Packing, of_a_constant_matrix_precedes_the_first_inference) {
  constexpr int kSize = 64;
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, kSize, kSize});
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {kSize, kSize},
                                           std::vector<float>(size_t{kSize} * kSize, 0.5f));
  const int y = m.AddTensor(kTfLiteFloat32, {2, kSize, kSize});
  m.AddOp(kTfLiteBuiltinBatchMatmul, {x, weights}, {y}, schema::CreateBatchMatMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const size_t before = PackedBytes(t.get());
  EXPECT_GE(before, size_t{kSize} * kSize * sizeof(float));
  t.Set<float>(0, std::vector<float>(size_t{2} * kSize * kSize, 1.0f));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(PackedBytes(t.get()), before);
  EXPECT_EQ(t.Get<float>(0), std::vector<float>(size_t{2} * kSize * kSize, 32.0f));
}

}  // namespace
}  // namespace deputy::packing_test
