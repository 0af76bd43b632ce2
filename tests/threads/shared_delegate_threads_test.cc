// SPDX-License-Identifier: Apache-2.0
//
// Tests one delegate object of a library that is applied to interpreters of several threads at the
// same time, with nodes that it claims and nodes that it refuses.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::shared_delegate_threads_test {
namespace {

constexpr int kThreads = 4;

template <typename Work>
void OnThreads(const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}

// A model of `pairs` pairs of Backwards and x + x on [1, 1, 1, 4]; delegates support ADD but not
// Backwards.
std::vector<uint8_t> Model(int pairs) {
  ModelBuilder m;
  const std::vector<int> shape = {1, 1, 1, 4};
  int last = m.AddTensor(kTfLiteFloat32, shape, "x");
  m.SetInputs({last});
  for (int i = 0; i < pairs; ++i) {
    const int turned = m.AddTensor(kTfLiteFloat32, shape, "turned" + std::to_string(i));
    const int sum = m.AddTensor(kTfLiteFloat32, shape, "sum" + std::to_string(i));
    m.AddCustomOp("Backwards", {last}, {turned});
    m.AddOp(kTfLiteBuiltinAdd, {turned, turned}, {sum}, schema::CreateAddOptions(m.fbb()));
    last = sum;
  }
  m.SetOutputs({last});
  return m.Finish();
}

// Returns the first delegate's recorded reasons for the nodes of the model.
std::vector<std::string> ReasonsOf(const TestInterpreter& t, int nodes) {
  std::vector<std::string> reasons;
  for (int node = 0; node < nodes; ++node) {
    DeputyNodeSupport support{};
    support.struct_size = sizeof support;
    const bool is_known =
        DeputyInterpreterGetNodeSupport(t.get(), 0, node, 0, &support) == kTfLiteOk;
    reasons.emplace_back(is_known ? support.text : "no support");
  }
  return reasons;
}

// Returns a delegate's reasons for the nodes of the model in a query without applying.
std::vector<std::string> QueryReasons(TestInterpreter* t, TfLiteDelegate* delegate) {
  std::vector<std::string> reasons;
  const auto add = [](void* all, int32_t, int32_t, const DeputyNodeSupport* support) {
    static_cast<std::vector<std::string>*>(all)->emplace_back(support->text);
  };
  EXPECT_EQ(DeputyInterpreterCheckDelegate(t->get(), delegate, add, &reasons), kTfLiteOk)
      << t->log();
  return reasons;
}

// ---- Third-party plug-ins -----------------------------------------------------------------------

class SharedDelegateThreads : public QuietTest {};

TEST_F(SharedDelegateThreads, plug_in_queries_are_serialized_until_their_texts_are_copied) {
  const Handle delegate = External("shared_texts");
  ASSERT_NE(delegate, nullptr);
  const std::vector<uint8_t> model = Model(3);
  OnThreads([&] {
    for (int life = 0; life < 20; ++life) {
      TestInterpreter t(model);
      EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
      const std::vector<std::string> reasons = ReasonsOf(t, 6);
      // All reasons must come from one call of get_support, which did not overlap with another
      // call: the contexts of other calls differ.
      EXPECT_EQ(reasons[0].rfind("alone ", 0), 0U) << reasons[0];
      for (const std::string& reason : reasons) EXPECT_EQ(reason, reasons[0]);
    }
  });
}

TEST_F(SharedDelegateThreads, a_check_is_serialized_like_a_query) {
  const Handle delegate = External("shared_texts");
  ASSERT_NE(delegate, nullptr);
  const std::vector<uint8_t> model = Model(3);
  OnThreads([&] {
    TestInterpreter t(model);
    for (int life = 0; life < 20; ++life) {
      const std::vector<std::string> reasons = QueryReasons(&t, delegate.get());
      ASSERT_EQ(reasons.size(), 6U);
      EXPECT_EQ(reasons[0].rfind("alone ", 0), 0U) << reasons[0];
      for (const std::string& reason : reasons) EXPECT_EQ(reason, reasons[0]);
    }
  });
}

// ---- Deputy's delegates -------------------------------------------------------------------------

struct Row {
  const char* name;
  std::string library;
  Options options;
};

void PrintTo(const Row& row, std::ostream* os) { *os << row.name; }

std::vector<Row> Rows() {
  const std::string doubles = BuildPath("tests/doubles");
  return {
      {"npu_stub", BuildPath("libdeputy_npu_stub.so"), {}},
      {"cpu", BuildPath("libdeputy_cpu.so"), {}},
      {"nnapi", BuildPath("libdeputy_nnapi.so"), {{"library", doubles + "/libneuralnetworks.so"}}},
      {"onnxruntime",
       BuildPath("libdeputy_onnxruntime.so"),
       {{"library", doubles + "/libonnxruntime.so"}}},
      {"mindspore_plugin", BuildPath("examples/libmindspore_plugin.so"), {}},
      {"xnnpack", BuildPath("libdeputy_xnnpack.so"), {}},
#ifndef __SANITIZE_THREAD__  // ThreadSanitizer does not know the driver's threads
      {"gpu", BuildPath("libdeputy_gpu.so"), {{"optimize", "false"}, {"precision", "fp32"}}},
#endif
  };
}

class SharedIncludedDelegateThreads : public testing::TestWithParam<Row> {};

TEST_P(SharedIncludedDelegateThreads, is_applied_run_and_deleted_on_all_threads) {
  constexpr int kPairs = 4;
  if (!std::filesystem::exists(GetParam().library)) GTEST_SKIP() << "not built here";
  const Handle delegate(CreateExternal(GetParam().library, GetParam().options),
                        &TfLiteExternalDelegateDelete);
  if (delegate == nullptr) GTEST_SKIP() << DeputyLastError();
  const std::vector<uint8_t> model = Model(kPairs);
  std::vector<std::string> expected;
  {
    TestInterpreter t(model);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
        << t.log();
    expected = ReasonsOf(t, 2 * kPairs);
    EXPECT_NE(expected[0], "");
  }
  OnThreads([&] {
    for (int life = 0; life < 100; ++life) {
      TestInterpreter t(model);
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk)
          << t.log();
      EXPECT_EQ(ReasonsOf(t, 2 * kPairs), expected);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      t.Set<float>(0, {1, -2, 3, 0.25f});
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_EQ(t.Get<float>(0), (std::vector<float>{16, -32, 48, 4}));
    }
    TestInterpreter unapplied(model);
    for (int query = 0; query < 200; ++query) {
      EXPECT_EQ(QueryReasons(&unapplied, delegate.get()), expected);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Each, SharedIncludedDelegateThreads, testing::ValuesIn(Rows()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace deputy::shared_delegate_threads_test
