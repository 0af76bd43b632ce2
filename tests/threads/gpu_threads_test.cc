// SPDX-License-Identifier: Apache-2.0
//
// Tests resources that several OpenCL delegates share: contexts, and the cache of programs. There
// is no driver, because a sanitizer cannot observe a driver's threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gpu_cl/device/device.h"
#include "gpu_cl/device/program_cache.h"
#include "gpu_cl/device/sha256.h"
#include "tests/gpu_cl/gpu_fake_cl.h"
#include "tests/gpu_cl/gpu_spy.h"

namespace deputy::gpu_cl::gpu_threads_test {
namespace {

template <typename Work>
void RunThreads(int count, const Work& work) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST(GpuThreadsTest, all_threads_share_one_context) {
  SetFakePlatforms({{"One", {{"H200", "NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0x10de}}}});
  const ClSpy spy(*FakeCl());
  std::vector<Device> devices;
  ASSERT_TRUE(ListDevices(*spy.api(), &devices).ok());
  ContextRegistry registry;
  std::vector<std::shared_ptr<SharedContext>> contexts(8);
  RunThreads(8, [&](int i) {
    ClStatus status;
    contexts[i] = registry.Acquire(spy.api(), devices[0], &status);
  });
  for (const auto& context : contexts) EXPECT_EQ(context, contexts[0]);
  EXPECT_EQ(spy.calls().at("CreateContext"), 1);
  contexts.clear();
  EXPECT_EQ(spy.Unbalanced(), "");
}

// Several threads request and release the context; one of them marks it as lost.
TEST(GpuThreadsTest, contexts_are_created_and_released_in_balance) {
  SetFakePlatforms({{"One", {{"H200", "NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0x10de}}}});
  const ClSpy spy(*FakeCl());
  std::vector<Device> devices;
  ASSERT_TRUE(ListDevices(*spy.api(), &devices).ok());
  ContextRegistry registry;
  RunThreads(4, [&](int i) {
    for (int round = 0; round < 200; ++round) {
      ClStatus status;
      const auto context = registry.Acquire(spy.api(), devices[0], &status);
      ASSERT_NE(context, nullptr);
      if (i == 0 && round % 3 == 0) context->Poison();
    }
  });
  EXPECT_EQ(spy.Unbalanced(), "");
}

// Entries that are loaded must be complete, whatever is written at the same time.
TEST(GpuThreadsTest, cache_is_written_and_read_concurrently) {
  char name[] = "/tmp/deputy_threads_test.XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  std::string opening;
  const auto cache = ProgramCache::Open(name, 1 << 20, &opening);
  ASSERT_NE(cache, nullptr) << opening;
  const Digest key = Sha256Of("one");
  RunThreads(4, [&](int i) {
    const std::string binary(2000 + i, static_cast<char>('a' + i));
    for (int round = 0; round < 50; ++round) {
      std::string problem;
      EXPECT_EQ(cache->Store(key, binary, ""), "");
      const auto program = cache->Load(key, &problem);
      ASSERT_TRUE(program) << problem;
      const char first = program->binary[0];
      EXPECT_EQ(program->binary, std::string(2000 + (first - 'a'), first));
    }
  });
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_threads_test
