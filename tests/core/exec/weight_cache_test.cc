// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyInterpreterOptionsSetWeightCache: a second process packs nothing, computes the same
// bits and shares the memory of the first one; a file that cannot be used or written has no effect
// on results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "core/base/packed_constants.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::weight_cache_test {
namespace {

using testing::HasSubstr;

constexpr int kRows = 512, kDepth = 512;

// y = W x + V x, where W is float32 and V is dequantised from int8, with `salt` in the weights.
std::vector<uint8_t> Model(int salt = 0) {
  ModelBuilder m;
  std::vector<float> floats(size_t{kRows} * kDepth);
  std::vector<int8_t> bytes(floats.size());
  for (size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>((i + static_cast<size_t>(salt)) % 11) - 5;
    bytes[i] = static_cast<int8_t>(i * 7 % 251);
  }
  const int x = m.AddTensor(kTfLiteFloat32, {1, kDepth}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kRows, kDepth}, floats, "w");
  const int q = m.AddConstant<int8_t>(kTfLiteInt8, {kRows, kDepth}, bytes, "q",
                                      {.scale = {0.25f}, .zero_point = {3}});
  const int v = m.AddTensor(kTfLiteFloat32, {kRows, kDepth}, "v");
  const int s = m.AddTensor(kTfLiteFloat32, {1, kRows}, "s");
  const int t = m.AddTensor(kTfLiteFloat32, {1, kRows}, "t");
  const int y = m.AddTensor(kTfLiteFloat32, {1, kRows}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {q}, {v});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {s},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, v, -1}, {t},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {s, t}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TestInterpreter::Configure WithCache(const std::string& path) {
  return [path](TfLiteInterpreterOptions* options) {
    ASSERT_EQ(DeputyInterpreterOptionsSetWeightCache(options, path.c_str()), kTfLiteOk);
  };
}

DeputyWeightCache UseOf(const TestInterpreter& t) {
  DeputyWeightCache use = {};
  use.struct_size = sizeof use;
  EXPECT_EQ(DeputyInterpreterGetWeightCache(t.get(), &use), kTfLiteOk);
  return use;
}

std::vector<float> RunOnce(TestInterpreter* t) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  std::vector<float> x(kDepth);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5) - 2;
  t->Set<float>(0, x);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

class WeightCache : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    char name[] = "/tmp/deputy_weight_cache.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/weights";
    TestInterpreter plain(Model());
    expected_ = RunOnce(&plain);
    packed_bytes_ = MemoryMapOf(plain.get()).packed_bytes;
    EXPECT_EQ(UseOf(plain).packed, 0);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    QuietTest::TearDown();
  }

  std::string folder_, path_;
  std::vector<float> expected_;
  size_t packed_bytes_ = 0;
};

TEST_F(WeightCache, a_second_interpreter_packs_nothing) {
  int64_t packed = 0;
  {
    TestInterpreter t(Model(), WithCache(path_));
    EXPECT_EQ(RunOnce(&t), expected_);
    EXPECT_EQ(UseOf(t).state, kDeputyWeightCacheAbsent);
    EXPECT_EQ(UseOf(t).reused, 0);
    packed = UseOf(t).packed;
    EXPECT_GE(packed, 2);  // at least the result of DEQUANTIZE and the other weights
    EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed_bytes_);
  }
  TestInterpreter t(Model(), WithCache(path_));
  EXPECT_EQ(RunOnce(&t), expected_);
  EXPECT_EQ(UseOf(t).state, kDeputyWeightCacheUsable);
  EXPECT_EQ(UseOf(t).reused, packed);
  EXPECT_EQ(UseOf(t).packed, 0);
  EXPECT_EQ(UseOf(t).mapped_bytes, packed_bytes_);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed_bytes_);
}

TEST_F(WeightCache, files_of_other_models_are_replaced) {
  TestInterpreter(Model(1), WithCache(path_)).Allocate();
  for (const DeputyWeightCacheState state :
       {kDeputyWeightCacheOtherModel, kDeputyWeightCacheUsable}) {
    TestInterpreter t(Model(), WithCache(path_));
    EXPECT_EQ(RunOnce(&t), expected_);
    EXPECT_EQ(UseOf(t).state, state);
    EXPECT_EQ(UseOf(t).packed == 0, state == kDeputyWeightCacheUsable);
  }
}

TEST_F(WeightCache, files_for_other_kernels_are_replaced) {
  {
    const ScopedCpu generic(FindCpu("generic"));
    TestInterpreter t(Model(), WithCache(path_));
    RunOnce(&t);
  }
  TestInterpreter t(Model(), WithCache(path_));
  EXPECT_EQ(RunOnce(&t), expected_);
  EXPECT_EQ(UseOf(t).state, std::string(DeputyCpuTable()) == "generic"
                                ? kDeputyWeightCacheUsable
                                : kDeputyWeightCacheOtherBuild);
}

TEST_F(WeightCache, a_file_that_cannot_be_written_is_reported) {
  TestInterpreter t(Model(), WithCache(folder_ + "/absent/weights"));
  EXPECT_EQ(RunOnce(&t), expected_);
  EXPECT_EQ(UseOf(t).state, kDeputyWeightCacheAbsent);
  EXPECT_THAT(t.log(), HasSubstr("weight cache '" + folder_ +
                                 "/absent/weights': cannot be written: No such file or directory"));
  EXPECT_EQ(RunOnce(&t), expected_);
}

TEST_F(WeightCache, released_memory_is_read_from_the_file_again) {
  PackedConstants::OverwriteDiscarded(true);
  for (int i = 0; i < 2; ++i) {
    TestInterpreter t(Model(), WithCache(path_));
    EXPECT_EQ(RunOnce(&t), expected_);
    const int64_t packed = UseOf(t).packed;
    ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
    EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), expected_);
    EXPECT_EQ(UseOf(t).packed, packed);
  }
  PackedConstants::OverwriteDiscarded(false);
}

TEST_F(WeightCache, invalid_arguments_are_refused) {
  EXPECT_EQ(DeputyInterpreterOptionsSetWeightCache(nullptr, "x"), kTfLiteError);
  TestInterpreter t(Model(), [](TfLiteInterpreterOptions* options) {
    EXPECT_EQ(DeputyInterpreterOptionsSetWeightCache(options, "/proc/x"), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterOptionsSetWeightCache(options, nullptr), kTfLiteOk);
  });
  EXPECT_EQ(RunOnce(&t), expected_);
  EXPECT_EQ(t.log(), "");
  DeputyWeightCache use = {};
  EXPECT_EQ(DeputyInterpreterGetWeightCache(t.get(), &use), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetWeightCache(t.get(), nullptr), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetWeightCache(nullptr, &use), kTfLiteError);
}

// Memory of the pages of a file in this process, in kilobytes.
struct FileMemory {
  long resident = 0, proportional = 0, anonymous = 0;
};
FileMemory MemoryOf(const std::string& path) {
  FileMemory sum;
  bool is_file = false;
  std::ifstream maps("/proc/self/smaps");
  for (std::string line; std::getline(maps, line);) {
    long kilobytes;
    if (line.find('-') < line.find(' ')) is_file = line.find(path) != std::string::npos;
    if (!is_file) continue;
    if (std::sscanf(line.c_str(), "Rss: %ld", &kilobytes) == 1) sum.resident += kilobytes;
    if (std::sscanf(line.c_str(), "Pss: %ld", &kilobytes) == 1) sum.proportional += kilobytes;
    if (std::sscanf(line.c_str(), "Anonymous: %ld", &kilobytes) == 1) sum.anonymous += kilobytes;
  }
  return sum;
}

// Runs the model in a child process. For each byte that it receives, the child reports the memory
// of the file's pages, until it is killed.
struct Child {
  int to[2], from[2];
  pid_t id = -1;

  void Start(const std::string& path, const std::vector<float>& expected, bool packs) {
    ASSERT_EQ(pipe(to), 0);
    ASSERT_EQ(pipe(from), 0);
    id = fork();
    if (id != 0) return;
    TestInterpreter t(Model(), WithCache(path));
    char byte = RunOnce(&t) == expected && (UseOf(t).packed > 0) == packs ? 'y' : 'n';
    if (write(from[1], &byte, 1) != 1) _exit(1);
    while (read(to[0], &byte, 1) == 1) {
      const FileMemory memory = MemoryOf(path);
      if (write(from[1], &memory, sizeof memory) != sizeof memory) _exit(1);
    }
    _exit(0);
  }
  template <typename T>
  T Read() {
    T value = {};
    EXPECT_EQ(read(from[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
    return value;
  }
  ~Child() {
    if (id > 0 && kill(id, SIGKILL) == 0) waitpid(id, nullptr, 0);
    for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
  }
};

// The process that packed the constants and a process that maps them share one copy.
TEST_F(WeightCache, processes_share_the_memory) {
  Child first, second;
  first.Start(path_, expected_, true);
  EXPECT_EQ(first.Read<char>(), 'y');
  second.Start(path_, expected_, false);
  EXPECT_EQ(second.Read<char>(), 'y');
  for (Child* const child : {&first, &second}) {
    ASSERT_EQ(write(child->to[1], "m", 1), 1);
    const auto memory = child->Read<FileMemory>();
    // Inferences read the two packed matrices, not the result of DEQUANTIZE.
    EXPECT_GE(memory.resident, 2 * kRows * kDepth * 4 / 1024);
    EXPECT_LE(memory.proportional, memory.resident * 6 / 10);
    EXPECT_EQ(memory.anonymous, 0);
  }
}

}  // namespace
}  // namespace deputy::weight_cache_test
