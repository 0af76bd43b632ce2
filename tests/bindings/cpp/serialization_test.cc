// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates/serialization.h.
#include "tensorflow/lite/delegates/serialization.h"

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tensorflow/lite/array.h"

namespace tflite::delegates {
namespace {

void IgnoreReport(TfLiteContext* /*context*/, const char* /*format*/, ...) {}

// An empty directory that is removed with its files.
class SerializationTest : public testing::Test {
 protected:
  SerializationTest() {
    std::string pattern = testing::TempDir() + "deputy_serialization_XXXXXX";
    const char* made = mkdtemp(pattern.data());
    folder_ = made == nullptr ? "" : made;
    context_.ReportError = &IgnoreReport;
    context_.tensors = tensors_;
    context_.tensors_size = 3;
  }
  ~SerializationTest() override {
    for (const std::string& file : Files()) std::remove(file.c_str());
    std::remove(folder_.c_str());
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    DIR* folder = opendir(folder_.c_str());
    while (const dirent* entry = folder == nullptr ? nullptr : readdir(folder)) {
      if (entry->d_name[0] != '.') files.push_back(folder_ + "/" + entry->d_name);
    }
    if (folder != nullptr) closedir(folder);
    return files;
  }

  std::string folder_;
  TfLiteContext context_{};
  TfLiteTensor tensors_[3] = {};
};

TEST_F(SerializationTest, data_is_read_back_by_an_equal_entry_only) {
  Serialization serialization({"model", folder_.c_str()});
  const SerializationEntry entry = serialization.GetEntryForDelegate("key", &context_);
  std::string data = "old";
  EXPECT_EQ(entry.GetData(&context_, &data), kTfLiteDelegateDataNotFound);
  EXPECT_EQ(data, "");
  ASSERT_EQ(entry.SetData(&context_, "a\0b", 3), kTfLiteOk);
  Serialization other({"model", folder_.c_str()});
  EXPECT_EQ(other.GetEntryForDelegate("key", &context_).GetData(&context_, &data), kTfLiteOk);
  EXPECT_EQ(data, std::string("a\0b", 3));
  EXPECT_EQ(other.GetEntryForDelegate("other", &context_).GetData(&context_, &data),
            kTfLiteDelegateDataNotFound);
  tensors_[1].bytes = 4;
  EXPECT_EQ(other.GetEntryForDelegate("key", &context_).GetData(&context_, &data),
            kTfLiteDelegateDataNotFound);
}

TEST_F(SerializationTest, a_damaged_entry_counts_as_absent) {
  Serialization serialization({"model", folder_.c_str()});
  const SerializationEntry entry = serialization.GetEntryForDelegate("key", &context_);
  ASSERT_EQ(entry.SetData(&context_, "contents", 8), kTfLiteOk);
  const std::vector<std::string> files = Files();
  ASSERT_EQ(files.size(), 1U);
  std::fstream(files[0], std::ios::in | std::ios::out | std::ios::ate).seekp(-1, std::ios::end)
      << 'X';
  std::string data;
  EXPECT_EQ(entry.GetData(&context_, &data), kTfLiteDelegateDataNotFound);
}

TEST_F(SerializationTest, partitions_have_fingerprints_of_their_own) {
  const IntArrayUniquePtr nodes = BuildTfLiteArray({0, 1});
  const IntArrayUniquePtr inputs = BuildTfLiteArray({0});
  const IntArrayUniquePtr outputs = BuildTfLiteArray({2});
  TfLiteDelegateParams params = {nullptr, nodes.get(), inputs.get(), outputs.get()};
  const auto fingerprint = Serialization::GetFingerprint("m", "k", &context_, &params);
  EXPECT_EQ(Serialization::GetFingerprint("m", "k", &context_, &params), fingerprint);
  EXPECT_NE(Serialization::GetFingerprint("m", "k", &context_), fingerprint);
  nodes->data[1] = 2;
  EXPECT_NE(Serialization::GetFingerprint("m", "k", &context_, &params), fingerprint);
}

TEST_F(SerializationTest, nodes_are_saved) {
  Serialization serialization({"model", folder_.c_str()});
  const IntArrayUniquePtr nodes = BuildTfLiteArray({2, 3, 7});
  TfLiteIntArray* read = nullptr;
  EXPECT_EQ(GetDelegatedNodes(&context_, &serialization, "id", &read), kTfLiteDelegateDataNotFound);
  ASSERT_EQ(SaveDelegatedNodes(&context_, &serialization, "id", nodes.get()), kTfLiteOk);
  ASSERT_EQ(GetDelegatedNodes(&context_, &serialization, "id", &read), kTfLiteOk);
  EXPECT_TRUE(TfLiteIntArrayEqual(read, nodes.get()));
  std::free(read);
  EXPECT_EQ(SaveDelegatedNodes(&context_, &serialization, "id", nullptr), kTfLiteError);
}

TEST_F(SerializationTest, a_directory_that_cannot_be_written_is_an_error) {
  Serialization serialization({"model", "/proc/no/such"});
  const SerializationEntry entry = serialization.GetEntryForDelegate("key", &context_);
  EXPECT_EQ(entry.SetData(&context_, "x", 1), kTfLiteDelegateDataWriteError);
}

}  // namespace
}  // namespace tflite::delegates
