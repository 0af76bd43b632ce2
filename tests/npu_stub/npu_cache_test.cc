// SPDX-License-Identifier: Apache-2.0
//
// Tests the compiled models that the NPU stub caches: a second build finds them; every property on
// which a model depends changes the key; files are not trusted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "deputy/delegate_serialization.h"
#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/plugin_support.h"

namespace deputy::npu_cache_test {
namespace {

class NpuCache : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/deputy_npu_cache.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  struct Lookups {
    uint64_t hits, misses, compiles;
    bool operator==(const Lookups&) const = default;
  };

  // Builds and runs a model with a new delegate; the result must be the CPU's.
  Lookups Build(const std::vector<uint8_t>& model, NpuOptionTexts options = {}) {
    options.emplace_back("cache_dir", folder_);
    const NpuTestDelegate npu(options);
    TestInterpreter t(model);
    EXPECT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    FillInputs(&t);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(Compare(OnCpu(model), Outputs(&t)), "");
    return {npu.hits(), npu.misses(), npu.counters().compiles};
  }

  std::string OnlyFile() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      files.push_back(entry.path().string());
    }
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : files[0];
  }

  static constexpr Lookups kMiss = {0, 1, 1}, kHit = {1, 0, 0};
  std::string folder_;
};

TEST_F(NpuCache, a_second_build_compiles_nothing) {
  EXPECT_EQ(Build(ConvModel()), kMiss);
  EXPECT_EQ(Build(ConvModel()), kHit);
  // The model's three equal partitions share one entry.
  EXPECT_EQ(Build(MixedChain(5, {0, 2, 4})), (Lookups{2, 1, 1}));
}

TEST_F(NpuCache, key_depends_on_every_property_of_a_model) {
  EXPECT_EQ(Build(ConvModel()), kMiss);
  EXPECT_EQ(Build(ConvModel({.weight = 0.2500001f})), kMiss);
  EXPECT_EQ(Build(ConvModel({.stride = 2})), kMiss);
  EXPECT_EQ(Build(ConvModel({.size = 10})), kMiss);
  EXPECT_EQ(Build(ConvModel(), {{"frequency", "4"}}), kMiss);
  EXPECT_EQ(Build(ConvModel()), kHit);
}

TEST_F(NpuCache, damaged_files_are_rewritten) {
  ASSERT_EQ(Build(ConvModel()), kMiss);
  const std::vector<uint8_t> good = ReadBytes(OnlyFile());
  std::vector<std::vector<uint8_t>> damaged = {{}, {good.begin(), good.end() - 1}};
  for (const size_t at : {size_t{0}, size_t{9}, size_t{25}, size_t{33}, size_t{40}, good.size() / 2,
                          good.size() - 1}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 4;
  }
  damaged.push_back(good);
  damaged.back().push_back(0);
  for (const std::vector<uint8_t>& bytes : damaged) {
    WriteBytes(OnlyFile(), bytes);
    EXPECT_EQ(Build(ConvModel()), kMiss);
    EXPECT_EQ(ReadBytes(OnlyFile()), good);
  }
}

// The file is valid, but the device refuses its contents.
TEST_F(NpuCache, blobs_refused_by_the_device_are_recompiled) {
  constexpr size_t kHeader = sizeof(DeputySerializationHeader);
  ASSERT_EQ(Build(ConvModel()), kMiss);
  const std::vector<uint8_t> good = ReadBytes(OnlyFile());
  std::vector<uint8_t> hostile = good;
  hostile[kHeader] ^= 1;  // changes the blob's magic number
  DeputySerializationHeader header;
  std::memcpy(&header, hostile.data(), kHeader);
  DeputyFingerprintInit(&header.checksum);
  DeputyFingerprintAdd(&header.checksum, hostile.data() + kHeader, hostile.size() - kHeader);
  std::memcpy(hostile.data(), &header, kHeader);
  WriteBytes(OnlyFile(), hostile);
  EXPECT_EQ(Build(ConvModel()), (Lookups{1, 1, 1}));
  EXPECT_EQ(ReadBytes(OnlyFile()), good);
}

TEST_F(NpuCache, failure_to_create_the_folder_is_no_error) {
  folder_ += "/absent/deeper";
  EXPECT_EQ(Build(ConvModel()), kMiss);
  EXPECT_EQ(Build(ConvModel()), kMiss);
  folder_ = std::filesystem::path(folder_).parent_path().parent_path();
}

}  // namespace
}  // namespace deputy::npu_cache_test
