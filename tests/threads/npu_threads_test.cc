// SPDX-License-Identifier: Apache-2.0
//
// Tests one NPU delegate with interpreters that are created and deleted on several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"

namespace deputy::npu_threads_test {
namespace {

void ShareADelegate(const NpuTestDelegate& npu) {
  const std::vector<uint8_t> models[] = {ConvModel(), MixedChain(7, {0, 2, 3, 6})};
  const std::vector<std::vector<float>> expected[] = {OnCpu(models[0]), OnCpu(models[1])};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int life = 0; life < 5; ++life) {
        TestInterpreter t(models[i % 2]);
        EXPECT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
        EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
        FillInputs(&t);
        EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
        EXPECT_EQ(Compare(expected[i % 2], Outputs(&t)), "");
        EXPECT_EQ(DelegateNodes(t).size(), i % 2 == 0 ? 1u : 3u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(npu.counters().bytes, 0u);
  EXPECT_EQ(npu.counters().clients, 0u);
}

TEST(NpuThreads, share_a_delegate) { ShareADelegate(NpuTestDelegate()); }

TEST(NpuThreads, share_a_delegate_with_device_threads) {
  ShareADelegate(NpuTestDelegate({{"watchdog", "true"}, {"time_limit_ms", "600000"}}));
}

// Runs of several threads hang at once and return while the interpreters are being deleted.
TEST(NpuThreads, abandon_hanging_runs) {
  for (int life = 0; life < 3; ++life) {
    NpuSetHangEnabled(1);
    std::vector<std::thread> threads;
    {
      const NpuTestDelegate npu({{"faults", "hang"}, {"time_limit_ms", "1"}});
      std::vector<std::unique_ptr<TestInterpreter>> interpreters;
      for (int i = 0; i < 4; ++i) {
        interpreters.push_back(std::make_unique<TestInterpreter>(MixedChain(7, {0, 2, 3, 6})));
        ASSERT_EQ(Apply(interpreters.back().get(), npu), kTfLiteOk);
        ASSERT_EQ(interpreters.back()->Allocate(), kTfLiteOk);
        FillInputs(interpreters.back().get());
      }
      for (auto& t : interpreters) {
        threads.emplace_back([&t] {
          EXPECT_EQ(t->Invoke(), kTfLiteError);
          EXPECT_EQ(t->Invoke(), kTfLiteError);
          t.reset();
        });
      }
      for (std::thread& thread : threads) thread.join();
      threads.clear();
      threads.emplace_back([] { NpuSetHangEnabled(0); });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace deputy::npu_threads_test
