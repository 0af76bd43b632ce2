// SPDX-License-Identifier: Apache-2.0
//
// Creates the NPU stub's delegate for tests, and queries an interpreter that uses it.
#ifndef DEPUTY_TESTS_NPU_STUB_NPU_DELEGATE_SUPPORT_H_
#define DEPUTY_TESTS_NPU_STUB_NPU_DELEGATE_SUPPORT_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "npu_stub/delegate.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/test_interpreter.h"

namespace deputy {

// Forces float32 on the CPU, independent of the environment: the NPU computes in float32, and the
// results are compared.
inline const int kWithoutPrecision = unsetenv("DEPUTY_PRECISION");

using NpuOptionTexts = std::vector<std::pair<std::string, std::string>>;

// The NPU stub's delegate. Declare it before the interpreters that use it.
class NpuTestDelegate {
 public:
  explicit NpuTestDelegate(const NpuOptionTexts& options = {}) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    Error() = "";
    delegate_ = NpuCreateDelegate(keys.data(), values.data(), keys.size(),
                                  [](const char* text) { Error() = text; });
    error_ = Error();
  }
  ~NpuTestDelegate() { NpuDestroyDelegate(delegate_); }
  NpuTestDelegate(const NpuTestDelegate&) = delete;
  NpuTestDelegate& operator=(const NpuTestDelegate&) = delete;

  // Returns the delegate; null if creation failed, with the reason in `error`.
  TfLiteDelegate* get() const { return delegate_; }
  const std::string& error() const { return error_; }
  NpuCounters counters() const {
    NpuCounters counters;
    NpuGetCounters(delegate_, &counters);
    return counters;
  }
  uint64_t hits() const { return Cache().first; }
  uint64_t misses() const { return Cache().second; }

 private:
  static std::string& Error() {
    thread_local std::string error;
    return error;
  }
  std::pair<uint64_t, uint64_t> Cache() const {
    std::pair<uint64_t, uint64_t> counts;
    NpuGetCacheCounters(delegate_, &counts.first, &counts.second);
    return counts;
  }
  std::string error_;
  TfLiteDelegate* delegate_;
};

inline TfLiteStatus Apply(TestInterpreter* t, const NpuTestDelegate& delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get());
}

// Returns the names of the delegates' nodes in the order of the plan.
inline std::vector<std::string> DelegateNodes(const TestInterpreter& t) {
  std::vector<std::pair<int, std::string>> found;
  for (int32_t i = 0; i < DeputyInterpreterGetNodeCount(t.get(), 0); ++i) {
    const DeputyNodeInfo info = NodeInfoOf(t.get(), i);
    if (info.builtin_code == 51 && info.plan_position >= 0) {
      found.emplace_back(info.plan_position, info.operator_name);
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (const auto& [position, name] : found) names.push_back(name);
  return names;
}

// Fills the inputs with numbers between -1 and 1, the same in every run.
inline void FillInputs(TestInterpreter* t, uint32_t seed = 1) {
  std::mt19937 random(seed);
  for (int32_t i = 0; i < TfLiteInterpreterGetInputTensorCount(t->get()); ++i) {
    const TfLiteTensor* tensor = TfLiteInterpreterGetInputTensor(t->get(), i);
    std::vector<float> values(TfLiteTensorByteSize(tensor) / sizeof(float));
    for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    t->Set(i, values);
  }
}

inline std::vector<std::vector<float>> Outputs(TestInterpreter* t) {
  std::vector<std::vector<float>> outputs;
  for (int32_t i = 0; i < TfLiteInterpreterGetOutputTensorCount(t->get()); ++i) {
    outputs.push_back(t->Get<float>(i));
  }
  return outputs;
}

// Returns the model's results on the CPU for the inputs of FillInputs, after an optional resize.
inline std::vector<std::vector<float>> OnCpu(const std::vector<uint8_t>& model,
                                             const std::vector<int>& dims = {}) {
  TestInterpreter t(model);
  if (!dims.empty()) {
    EXPECT_EQ(t.Resize(0, dims), kTfLiteOk);
  }
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  FillInputs(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  return Outputs(&t);
}

// Compares outputs; returns "" or the first difference.
inline std::string Compare(const std::vector<std::vector<float>>& expected,
                           const std::vector<std::vector<float>>& found) {
  if (expected.size() != found.size()) return "another number of outputs";
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].size() != found[i].size()) return "another size";
    for (size_t j = 0; j < expected[i].size(); ++j) {
      const double bound = 1e-5 * (1 + std::abs(expected[i][j]));
      if (!(std::abs(expected[i][j] - found[i][j]) <= bound)) {
        return "output " + std::to_string(i) + " element " + std::to_string(j) + ": " +
               std::to_string(found[i][j]) + ", expected " + std::to_string(expected[i][j]);
      }
    }
  }
  return "";
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_NPU_STUB_NPU_DELEGATE_SUPPORT_H_
