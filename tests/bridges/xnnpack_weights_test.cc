// SPDX-License-Identifier: Apache-2.0
//
// Tests the option cache_dir of libdeputy_xnnpack.so, which exists if XNNPACK permits it: packed
// weights are read from files, give the same results, and damaged or forged files do no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/delegate_serialization.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_plugin.h"
#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::xnnpack_weights_test {
namespace {

using Bytes = std::vector<uint8_t>;

// Results of a run, and the delegate's numbers of partitions whose weights were stored and packed.
struct Result {
  std::vector<std::vector<float>> outputs;
  int64_t hits = 0, misses = 0;
};

class XnnpackWeights : public testing::Test {
 protected:
  void SetUp() override {
    const std::string path = BuildPath("libdeputy_xnnpack.so");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "Deputy is built without XNNPACK";
    folder_ = ScratchFile("xnnpack_weights");
    std::filesystem::remove_all(folder_);
    if (Create({{"cache_dir", folder_}}) != nullptr) return;
    EXPECT_THAT(DeputyLastError(), testing::HasSubstr("unknown option 'cache_dir'"));
    GTEST_SKIP() << "this version of XNNPACK cannot store weights";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static Handle Create(const Options& options) {
    return {CreateExternal(BuildPath("libdeputy_xnnpack.so"), options),
            TfLiteExternalDelegateDelete};
  }

  static Result Run(const Bytes& model, const Options& options) {
    Result result;
    const Handle delegate = Create(options);
    TestInterpreter t(model);
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    FillInputs(&t);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    result.outputs = Outputs(&t);
    DeputyDelegateReport report = {};
    report.struct_size = sizeof report;
    EXPECT_EQ(DeputyPluginReportDelegate(delegate.get(), &report, nullptr, nullptr), kTfLiteOk);
    result.hits = report.cache_hits;
    result.misses = report.cache_misses;
    return result;
  }
  Result RunWithFiles(const Bytes& model) const { return Run(model, {{"cache_dir", folder_}}); }

  std::vector<std::string> Files() const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      paths.push_back(entry.path().string());
    }
    return paths;
  }
  // Returns the only file.
  std::string File() const {
    const std::vector<std::string> paths = Files();
    EXPECT_EQ(paths.size(), 1u);
    return paths.at(0);
  }

  const Bytes digits_ = ReadBytes(SourcePath("examples/digits/digits_float.tflite"));
  std::string folder_;
};

// Sets the checksum of a file's contents.
Bytes WithChecksum(Bytes file) {
  DeputySerializationHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  header.bytes = file.size() - sizeof header;
  DeputyFingerprintInit(&header.checksum);
  DeputyFingerprintAdd(&header.checksum, file.data() + sizeof header, header.bytes);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

constexpr size_t kIndex = sizeof(DeputySerializationHeader);

uint64_t WordAt(const Bytes& file, size_t offset) {
  uint64_t word = 0;
  std::memcpy(&word, file.data() + offset, sizeof word);
  return word;
}

TEST_F(XnnpackWeights, stored_weights_give_the_same_results) {
  std::vector<Bytes> models = {digits_,
                               ReadBytes(SourcePath("examples/digits/digits_int8.tflite"))};
  constexpr uint32_t kGraphs = 60;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) models.push_back(RandomModel(seed));
  int64_t partitions = 0;
  for (size_t i = 0; i < models.size(); ++i) {
    const Result packed = Run(models[i], {});
    EXPECT_EQ(packed.hits, -1);
    EXPECT_EQ(packed.misses, -1);
    const Result first = RunWithFiles(models[i]), second = RunWithFiles(models[i]);
    EXPECT_EQ(first.outputs, packed.outputs) << i;
    EXPECT_EQ(second.outputs, packed.outputs) << i;
    EXPECT_EQ(second.hits, first.misses + first.hits) << i;
    EXPECT_EQ(second.misses, 0) << i;
    partitions += first.misses;
  }
  EXPECT_GT(partitions, int64_t{kGraphs} / 2);
}

TEST_F(XnnpackWeights, each_model_has_files_of_its_own) {
  ASSERT_EQ(RunWithFiles(digits_).misses, 1);
  const auto model = [](float weight, int stride) {
    ModelBuilder b;
    const int x = b.AddTensor(kTfLiteFloat32, {1, 4, 4, 1}, "x");
    const int filter = b.AddConstant<float>(kTfLiteFloat32, {1, 2, 2, 1}, {1, 2, 3, weight});
    const int bias = b.AddConstant<float>(kTfLiteFloat32, {1}, {1});
    const int extent = 4 / stride;
    const int y = b.AddTensor(kTfLiteFloat32, {1, extent, extent, 1}, "y");
    b.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {y},
            schema::CreateConv2DOptions(b.fbb(), schema::Padding::SAME, stride, stride));
    b.SetInputs({x});
    b.SetOutputs({y});
    return b.Finish();
  };
  EXPECT_EQ(RunWithFiles(model(4, 1)).misses, 1);
  EXPECT_EQ(RunWithFiles(model(5, 1)).misses, 1);
  EXPECT_EQ(RunWithFiles(model(5, 2)).misses, 1);
  EXPECT_EQ(RunWithFiles(model(5, 2)).hits, 1);
  EXPECT_EQ(Files().size(), 4u);
}

// If the weights in the file are zero, the scores do not depend on the image.
TEST_F(XnnpackWeights, results_are_computed_from_the_file) {
  const Result packed = RunWithFiles(digits_);
  Bytes file = ReadBytes(File());
  const uint64_t count = WordAt(file, kIndex);
  ASSERT_GT(count, 1u);
  const uint64_t first = WordAt(file, kIndex + 16);
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(first), file.end(), uint8_t{0});
  WriteBytes(File(), WithChecksum(file));
  const Result changed = RunWithFiles(digits_);
  EXPECT_EQ(changed.hits, 1);
  EXPECT_NE(changed.outputs, packed.outputs);
}

TEST_F(XnnpackWeights, damaged_files_are_replaced) {
  const Result packed = RunWithFiles(digits_);
  const std::string path = File();
  const Bytes good = ReadBytes(path);
  const auto expect_replaced = [&](const Bytes& damaged, size_t at) {
    WriteBytes(path, damaged);
    const Result found = RunWithFiles(digits_);
    EXPECT_EQ(found.misses, 1) << at;
    EXPECT_EQ(found.outputs, packed.outputs) << at;
    EXPECT_EQ(ReadBytes(path), good) << at;
  };
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / 40) {
    Bytes damaged = good;
    damaged[at] ^= 4;
    expect_replaced(damaged, at);
    expect_replaced(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at)), at);
  }
}

// The checksum of these files is right. Where XNNPACK reads beyond the weights, it must find
// mapped memory; the results may be wrong then.
TEST_F(XnnpackWeights, forged_files_do_no_harm) {
  const Result packed = RunWithFiles(digits_);
  const std::string path = File();
  const Bytes good = ReadBytes(path);
  const uint64_t count = WordAt(good, kIndex);
  const auto run_with = [&](size_t offset, uint64_t word) {
    Bytes forged = good;
    std::memcpy(forged.data() + offset, &word, sizeof word);
    WriteBytes(path, WithChecksum(forged));
    return RunWithFiles(digits_);
  };
  for (const uint64_t wrong :
       {uint64_t{0}, count - 1, count + 1, uint64_t{1} << 40, ~uint64_t{0}}) {
    const Result found = run_with(kIndex, wrong);
    EXPECT_EQ(found.misses, 1) << wrong;
    EXPECT_EQ(found.outputs, packed.outputs) << wrong;
  }
  std::mt19937 random(1);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = kIndex + 8 + i * 24;
    const Result found = run_with(at, WordAt(good, at) ^ (random() | 1));  // the seed
    EXPECT_EQ(found.misses, 1) << i;
    EXPECT_EQ(found.outputs, packed.outputs) << i;
    const uint64_t offset = WordAt(good, at + 8);
    for (const uint64_t wrong : {offset + 1, uint64_t{1} << 62, ~uint64_t{63}}) {
      EXPECT_EQ(run_with(at + 8, wrong).outputs, packed.outputs) << i;
    }
    EXPECT_EQ(run_with(at + 16, ~uint64_t{0}).outputs, packed.outputs) << i;
    run_with(at + 16, 0);
    run_with(at + 8, good.size() / 64 * 64);
  }
  // A file with more weights than the subgraph.
  const size_t end = kIndex + 8 + count * 24;
  Bytes longer = good;
  const uint64_t added[] = {count + 1};
  std::memcpy(longer.data() + kIndex, added, sizeof added);
  ASSERT_GE(WordAt(good, kIndex + 16), end + 24) << "the index ends before the first weights";
  const uint64_t entry[] = {1, WordAt(good, kIndex + 16), 64};
  std::memcpy(longer.data() + end, entry, sizeof entry);
  WriteBytes(path, WithChecksum(longer));
  EXPECT_EQ(RunWithFiles(digits_).misses, 1);
  EXPECT_EQ(ReadBytes(path), good);
  EXPECT_EQ(RunWithFiles(digits_).hits, 1);
}

TEST_F(XnnpackWeights, a_directory_that_cannot_be_written_is_ignored) {
  const Options options = {{"cache_dir", "/proc/none/xnnpack"}};
  const Result packed = Run(digits_, {});
  for (int run = 0; run < 2; ++run) {
    const Result found = Run(digits_, options);
    EXPECT_EQ(found.outputs, packed.outputs);
    EXPECT_EQ(found.misses, 1);
  }
}

}  // namespace
}  // namespace deputy::xnnpack_weights_test
