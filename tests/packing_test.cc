// SPDX-License-Identifier: Apache-2.0
//
// Kernels pack constants in AllocateTensors, not in the first inference.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/cases/case.h"
#include "tests/plugin_support.h"
#include "tests/test_interpreter.h"

namespace deputy::packing_test {
namespace {

size_t PackedBytes(const TfLiteInterpreter* interpreter) {
  DeputyMemoryMap map{};
  map.struct_size = sizeof map;
  EXPECT_EQ(DeputyInterpreterGetMemoryMap(interpreter, 0, &map), kTfLiteOk);
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
  int packed = 0;
  for (const OpCase& one : CasesWithWeights()) {
    TestInterpreter t(one.model);
    if (t.get() == nullptr || t.Allocate() != kTfLiteOk) continue;
    const size_t before = PackedBytes(t.get());
    if (t.Invoke() != kTfLiteOk) continue;
    EXPECT_EQ(PackedBytes(t.get()), before) << one.name;
    packed += before > 0 ? 1 : 0;
  }
  EXPECT_GT(packed, 100);
}

}  // namespace
}  // namespace deputy::packing_test
