// SPDX-License-Identifier: Apache-2.0
//
// Tests deputy/delegate_serialization.h: an entry is either complete or absent, also if the process
// is killed between two steps; damaged files are ignored; every property of a partition changes its
// fingerprint. `fsync` and `rename` below replace those of the C library, so that the test can kill
// a child process in either.
#include "deputy/delegate_serialization.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/delegate_support.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace {

enum class KillAt { kNever, kFsync, kRename };
// The call in which the process kills itself; set in child processes only.
KillAt kill_at = KillAt::kNever;

}  // namespace

extern "C" int fsync(int file) {
  if (kill_at == KillAt::kFsync) raise(SIGKILL);
  return static_cast<int>(syscall(SYS_fsync, file));
}

// glibc declares it noexcept, musl does not.
extern "C" int rename(const char* from, const char* to) noexcept(noexcept(rename("", ""))) {
  if (kill_at == KillAt::kRename) raise(SIGKILL);
  // AArch64 has renameat, but no system call without the folder arguments.
  return static_cast<int>(syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

namespace deputy::delegate_serialization_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

DeputyFingerprint FingerprintOf(const std::string& text) {
  DeputyFingerprint fingerprint;
  DeputyFingerprintInit(&fingerprint);
  DeputyFingerprintAddText(&fingerprint, text.c_str());
  return fingerprint;
}

bool Equal(const DeputyFingerprint& a, const DeputyFingerprint& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

class Serialization : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/deputy_serialization.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = std::string(name) + "/entries";
  }
  void TearDown() override {
    std::filesystem::remove_all(std::filesystem::path(folder_).parent_path());
  }

  DeputySerialization Store(const char* token = "model") const { return {folder_.c_str(), token}; }

  TfLiteStatus Write(const std::string& contents, const std::string& key = "key",
                     const char* token = "model") const {
    const DeputySerialization store = Store(token);
    const DeputyFingerprint fingerprint = FingerprintOf(key);
    return DeputySerializationWrite(&store, &fingerprint, contents.data(), contents.size());
  }

  // Returns the entry's contents, or "status <number>".
  std::string Read(const std::string& key = "key", const char* token = "model") const {
    const DeputySerialization store = Store(token);
    const DeputyFingerprint fingerprint = FingerprintOf(key);
    void* data = nullptr;
    size_t bytes = 0;
    const TfLiteStatus status = DeputySerializationRead(&store, &fingerprint, &data, &bytes);
    if (status != kTfLiteOk) {
      EXPECT_EQ(data, nullptr);
      return "status " + std::to_string(status);
    }
    std::string contents(static_cast<const char*>(data), bytes);
    free(data);
    return contents;
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      files.push_back(entry.path().filename().string());
    }
    return files;
  }

  std::string OnlyFile() const {
    const std::vector<std::string> files = Files();
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : folder_ + "/" + files[0];
  }

  // Writes an entry in a child process that is killed at a step; returns true if it was killed.
  bool WriteAndCrash(KillAt step, const std::string& contents) const {
    const pid_t child = fork();
    if (child == 0) {
      kill_at = step;
      (void)Write(contents);
      _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
  }

  std::string folder_;
  const std::string kMiss = "status " + std::to_string(kTfLiteDelegateDataNotFound);
};

TEST_F(Serialization, written_data_is_read_back) {
  EXPECT_EQ(Read(), kMiss);
  ASSERT_EQ(Write("blob"), kTfLiteOk);
  EXPECT_EQ(Read(), "blob");
  ASSERT_EQ(Write("another"), kTfLiteOk);
  EXPECT_EQ(Read(), "another");
  ASSERT_EQ(Write(""), kTfLiteOk);
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(Files().size(), 1u);
  const DeputySerialization store = Store();
  const DeputyFingerprint fingerprint = FingerprintOf("key");
  DeputySerializationRemove(&store, &fingerprint);
  EXPECT_EQ(Read(), kMiss);
}

TEST_F(Serialization, another_fingerprint_or_token_is_a_miss) {
  ASSERT_EQ(Write("blob"), kTfLiteOk);
  EXPECT_EQ(Read("yek"), kMiss);
  EXPECT_EQ(Read("key", "another model"), kMiss);
  EXPECT_EQ(Read("key", nullptr), kMiss);
  // The file contains its key, so a file renamed by hand is detected.
  const std::string file = OnlyFile();
  ASSERT_EQ(Write("other", "yek"), kTfLiteOk);
  for (const std::string& name : Files()) {
    const std::string path = folder_ + "/" + name;
    if (path == file) continue;
    std::filesystem::copy_file(file, path, std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_EQ(Read("yek"), kMiss);
  EXPECT_EQ(Read(), "blob");
}

// The token is a text of the user: it must neither leave the folder nor hide the file.
TEST_F(Serialization, tokens_are_not_used_as_paths) {
  ASSERT_EQ(Write("blob", "key", "../a/b c"), kTfLiteOk);
  EXPECT_THAT(OnlyFile(), StartsWith(folder_ + "/_._a_b_c_"));
  EXPECT_EQ(Read("key", "../a/b c"), "blob");
  EXPECT_EQ(Read("key", "../a/b_c"), kMiss);
  const std::string tail(500, 'x');
  ASSERT_EQ(Write("long", "key", (tail + "1").c_str()), kTfLiteOk);
  EXPECT_EQ(Read("key", (tail + "1").c_str()), "long");
  EXPECT_EQ(Read("key", (tail + "2").c_str()), kMiss);
}

TEST_F(Serialization, process_killed_before_rename_leaves_a_miss) {
  for (const KillAt step : {KillAt::kFsync, KillAt::kRename}) {
    ASSERT_TRUE(WriteAndCrash(step, "never seen"));
    EXPECT_EQ(Read(), kMiss);
    EXPECT_THAT(Files().back(), HasSubstr(".tmp"));
  }
  ASSERT_EQ(Write("blob"), kTfLiteOk);
  EXPECT_EQ(Read(), "blob");
  // A write that is killed leaves an existing entry unchanged.
  for (const KillAt step : {KillAt::kFsync, KillAt::kRename}) {
    ASSERT_TRUE(WriteAndCrash(step, "never seen"));
    EXPECT_EQ(Read(), "blob");
  }
  EXPECT_FALSE(WriteAndCrash(KillAt::kNever, "by a child"));
  EXPECT_EQ(Read(), "by a child");
}

TEST_F(Serialization, damaged_files_are_misses_and_rewritten) {
  ASSERT_EQ(Write("some contents"), kTfLiteOk);
  const std::string path = OnlyFile();
  const std::vector<uint8_t> good = ReadBytes(path);
  for (size_t length = 0; length < good.size(); ++length) {
    WriteBytes(path, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)});
    EXPECT_EQ(Read(), kMiss) << length;
  }
  std::vector<uint8_t> longer = good;
  longer.push_back(0);
  WriteBytes(path, longer);
  EXPECT_EQ(Read(), kMiss);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::vector<uint8_t> damaged = good;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    WriteBytes(path, damaged);
    EXPECT_EQ(Read(), kMiss) << bit;
  }
  ASSERT_EQ(Write("some contents"), kTfLiteOk);
  EXPECT_EQ(ReadBytes(OnlyFile()), good);
}

TEST_F(Serialization, write_failures_return_a_status) {
  ASSERT_EQ(Write("blob"), kTfLiteOk);
  const std::string path = OnlyFile();
  ASSERT_TRUE(std::filesystem::remove(path));
  ASSERT_TRUE(std::filesystem::create_directory(path));
  EXPECT_EQ(Write("blob"), kTfLiteDelegateDataWriteError);
  EXPECT_EQ(Read(), kMiss);
  EXPECT_EQ(Files().size(), 1u);  // no temporary file is left
  folder_ += "/absent/deeper";
  EXPECT_EQ(Write("blob"), kTfLiteDelegateDataWriteError);
  EXPECT_EQ(Read(), kMiss);
  const DeputySerialization nowhere = {nullptr, nullptr};
  const DeputyFingerprint fingerprint = FingerprintOf("key");
  EXPECT_EQ(DeputySerializationWrite(&nowhere, &fingerprint, "x", 1),
            kTfLiteDelegateDataWriteError);
  folder_ = std::filesystem::path(folder_).parent_path().parent_path();
}

TEST_F(Serialization, threads_write_and_read_complete_entries) {
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'e'; ++c) {
    threads.emplace_back([this, c] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(Write(std::string(3000, c)), kTfLiteOk);
        const std::string found = Read();
        EXPECT_EQ(found, std::string(3000, found[0]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Files().size(), 1u);
}

// ---- Fingerprints of partitions ----------------------------------------------------------------

struct Facts {
  float constant = 1;
  int32_t length = 4;
  float scale = 0.5f;
  int64_t zero_point = 3;
  TfLiteBuiltinOperator code = kTfLiteBuiltinMaximum;
  int version = 1;
  bool swapped = false;
};

// Returns the fingerprint of a model with one node, as computed in a delegate's Prepare.
DeputyFingerprint OfModel(const Facts& facts) {
  const TensorExtras quantized = {.scale = {facts.scale}, .zero_point = {facts.zero_point}};
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {1, facts.length}, "x", quantized);
  const std::vector<int8_t> values(static_cast<size_t>(facts.length),
                                   static_cast<int8_t>(facts.constant));
  const int c = m.AddConstant<int8_t>(kTfLiteInt8, {1, facts.length}, values, "c", quantized);
  const int y = m.AddTensor(kTfLiteInt8, {1, facts.length}, "y", quantized);
  m.AddOp(facts.code, facts.swapped ? std::vector<int32_t>{c, x} : std::vector<int32_t>{x, c}, {y},
          schema::CreateMaximumMinimumOptions(m.fbb()), facts.version);
  m.SetInputs({x});
  m.SetOutputs({y});
  DeputyFingerprint fingerprint;
  DeputyFingerprintInit(&fingerprint);
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    EXPECT_EQ(plan->size, 1);
    return DeputyFingerprintAddNodes(&fingerprint, context, plan);
  });
  TestInterpreter t(m.Finish());
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk)
      << t.log();
  return fingerprint;
}

TEST(Fingerprint, depends_on_every_property_of_a_partition) {
  const std::vector<Facts> different = {
      {},
      {.constant = 2},
      {.length = 5},
      {.scale = 0.25f},
      {.zero_point = 4},
      {.code = kTfLiteBuiltinMinimum},
      {.version = 2},
      {.swapped = true},
  };
  std::vector<DeputyFingerprint> found;
  for (const Facts& facts : different) {
    found.push_back(OfModel(facts));
    EXPECT_TRUE(Equal(found.back(), OfModel(facts)));
    for (size_t i = 0; i + 1 < found.size(); ++i) {
      EXPECT_FALSE(Equal(found[i], found.back())) << i << " and " << found.size() - 1;
    }
  }
}

TEST(Fingerprint, delimits_concatenated_parts) {
  const auto of = [](const std::vector<std::string>& parts) {
    DeputyFingerprint fingerprint;
    DeputyFingerprintInit(&fingerprint);
    for (const std::string& part : parts) DeputyFingerprintAddText(&fingerprint, part.c_str());
    return fingerprint;
  };
  EXPECT_FALSE(Equal(of({"ab", "c"}), of({"a", "bc"})));
  EXPECT_FALSE(Equal(of({"ab"}), of({"ab", ""})));
  EXPECT_FALSE(Equal(of({"ab"}), of({"ba"})));
  EXPECT_TRUE(Equal(of({"ab", "c"}), of({"ab", "c"})));
}

}  // namespace
}  // namespace deputy::delegate_serialization_test
