// SPDX-License-Identifier: Apache-2.0
//
// Every operator case on every CPU table, against the plain reference code of the operators, in
// both arithmetic modes and with 1, 2 and 4 threads. What the reference code itself answers is held
// against TensorFlow Lite by the golden tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "c_api/include/deputy.h"
#include "kernels/cpu/cpu.h"
#include "tests/cases/case.h"
#include "tests/test_interpreter.h"

namespace deputy {
namespace {

class ForcedCpu {
 public:
  explicit ForcedCpu(const CpuKernels* cpu) { OverrideCpu(cpu); }
  ~ForcedCpu() { OverrideCpu(nullptr); }
};

std::vector<const CpuKernels*> Tables() {
  std::vector<const CpuKernels*> tables;
  for (const char* name : {"generic", "avx2", "avx512"}) {
    if (const CpuKernels* table = FindCpu(name)) tables.push_back(table);
  }
  return tables;
}

std::vector<uint8_t> InputBytes(const TfLiteTensor* tensor, uint32_t seed) {
  std::vector<uint8_t> bytes(TfLiteTensorByteSize(tensor));
  if (TfLiteTensorType(tensor) == kTfLiteFloat32) {
    const std::vector<float> values = RandomFloats(bytes.size() / sizeof(float), seed);
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  } else {
    const std::vector<int8_t> values = RandomInt8(bytes.size(), seed);
    std::copy(values.begin(), values.end(), bytes.begin());
  }
  return bytes;
}

// Fills every input, with what the case says where it says something.
void Feed(const OpCase& op_case, uint32_t seed, TestInterpreter* interpreter) {
  const int inputs = TfLiteInterpreterGetInputTensorCount(interpreter->get());
  for (int i = 0; i < inputs; ++i) {
    const auto n = static_cast<size_t>(i);
    const bool is_said = n < op_case.feeds.size() && !op_case.feeds[n].empty();
    interpreter->Set(i, is_said ? op_case.feeds[n]
                                : InputBytes(TfLiteInterpreterGetInputTensor(interpreter->get(), i),
                                             seed + static_cast<uint32_t>(i)));
  }
}

struct Answer {
  TfLiteType type = kTfLiteNoType;
  std::vector<int> dims;
  std::vector<uint8_t> bytes;
  template <typename T>
  std::vector<T> As() const {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

// Runs a case twice on one interpreter: packed weights must serve the second time as well.
Answer RunCase(const OpCase& op_case, const CpuKernels* cpu, DeputyArithmetic arithmetic,
               int threads) {
  const ForcedCpu forced(cpu);
  TestInterpreter interpreter(op_case.model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    DeputyInterpreterOptionsSetArithmetic(options, arithmetic);
  });
  Answer answer;
  EXPECT_NE(interpreter.get(), nullptr) << interpreter.log();
  if (interpreter.get() == nullptr || interpreter.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << interpreter.log();
    return answer;
  }
  for (int pass = 0; pass < 2; ++pass) {
    Feed(op_case, static_cast<uint32_t>(10 * pass), &interpreter);
    EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  }
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
  answer.type = TfLiteTensorType(output);
  answer.dims = TestInterpreter::Shape(output);
  answer.bytes = TestInterpreter::Values<uint8_t>(output);
  return answer;
}

void ExpectClose(Closeness closeness, const std::vector<float>& expected,
                 const std::vector<float>& found) {
  ASSERT_EQ(expected.size(), found.size());
  float greatest = 0.0f;
  for (float value : expected) {
    if (std::isfinite(value)) greatest = std::max(greatest, std::fabs(value));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(expected[i]) || closeness == Closeness::kEqual) {
      ASSERT_TRUE(expected[i] == found[i] || (std::isnan(expected[i]) && std::isnan(found[i])))
          << "element " << i << ": " << expected[i] << " " << found[i];
      continue;
    }
    const float size = closeness == Closeness::kSum ? greatest : std::fabs(expected[i]);
    ASSERT_NEAR(expected[i], found[i], 1e-5f * size + 1e-6f) << "element " << i;
  }
}

TEST(OperatorCases, have_names_of_their_own) {
  std::set<std::string> names;
  for (const OpCase& op_case : AllCases()) {
    EXPECT_TRUE(names.insert(op_case.name).second) << op_case.name;
  }
}

TEST(OperatorCases, every_table_agrees_with_the_reference_code) {
  for (const OpCase& op_case : AllCases()) {
    if (!op_case.refusal.empty()) continue;
    SCOPED_TRACE(op_case.name);
    for (DeputyArithmetic arithmetic : {kDeputyArithmeticDefault, kDeputyArithmeticReference}) {
      const Answer expected = RunCase(op_case, FindCpu("reference"), arithmetic, 1);
      for (const CpuKernels* table : Tables()) {
        SCOPED_TRACE(table->name);
        const Answer found = RunCase(op_case, table, arithmetic, 1);
        EXPECT_EQ(expected.type, found.type);
        EXPECT_EQ(expected.dims, found.dims);
        if (expected.type == kTfLiteFloat32) {
          ExpectClose(op_case.closeness, expected.As<float>(), found.As<float>());
        } else {
          // Integer sums and one way of rounding: nothing is left to differ.
          EXPECT_EQ(expected.bytes, found.bytes);
        }
      }
      if (HasFailure()) return;
    }
  }
}

TEST(OperatorCases, answers_are_bit_equal_for_every_number_of_threads) {
  for (const OpCase& op_case : AllCases()) {
    if (!op_case.refusal.empty()) continue;
    SCOPED_TRACE(op_case.name);
    for (const CpuKernels* table : Tables()) {
      SCOPED_TRACE(table->name);
      const Answer one = RunCase(op_case, table, kDeputyArithmeticDefault, 1);
      for (int threads : {2, 4}) {
        EXPECT_EQ(one.bytes, RunCase(op_case, table, kDeputyArithmeticDefault, threads).bytes)
            << threads << " threads";
      }
      if (HasFailure()) return;
    }
  }
}

TEST(OperatorCases, what_is_impossible_is_refused_with_the_reason) {
  for (const OpCase& op_case : AllCases()) {
    if (op_case.refusal.empty()) continue;
    SCOPED_TRACE(op_case.name);
    TestInterpreter interpreter(op_case.model);
    ASSERT_NE(interpreter.get(), nullptr) << interpreter.log();
    const bool may_be_late = op_case.late || !op_case.feeds.empty();
    TfLiteStatus status = interpreter.Allocate();
    if (status == kTfLiteOk && may_be_late) {
      Feed(op_case, 1, &interpreter);
      status = interpreter.Invoke();
    }
    EXPECT_EQ(status, kTfLiteError);
    const std::string op_name = op_case.name.substr(0, op_case.name.find(' '));
    for (const std::string& part : {op_name, op_case.refusal}) {
      EXPECT_NE(interpreter.log().find(part), std::string::npos)
          << "expected '" << part << "' in: " << interpreter.log();
    }
  }
}

}  // namespace
}  // namespace deputy
