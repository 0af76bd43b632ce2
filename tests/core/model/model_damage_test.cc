// SPDX-License-Identifier: Apache-2.0
//
// Tests that damaged files and failing allocations cause no crash. Damaged files are loaded from
// blocks of exactly their size, so that a sanitizer detects the first byte read beyond the end, and
// every file that loads is read completely.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "core/model/model.h"
#include "schema_generated.h"
#include "tests/support/load_result.h"
#include "tests/support/sample_model.h"

// Countdown of allocations: the one that decrements it to zero fails, and no other. The allocation
// functions below are not inlined, because g++ would warn about `free` of memory from `new`.
static std::atomic<int> allocations_until_refusal{0};

__attribute__((noinline)) void* operator new(size_t size) {
  if (allocations_until_refusal > 0 && --allocations_until_refusal == 0) throw std::bad_alloc();
  void* block = std::malloc(size == 0 ? 1 : size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
__attribute__((noinline)) void operator delete(void* block) noexcept { std::free(block); }
__attribute__((noinline)) void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace deputy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Returns true if the file loads; a refusal must have exactly one report.
bool LoadsSafely(const std::vector<uint8_t>& bytes) {
  const LoadResult result = LoadBytes(bytes);
  if (result.model == nullptr) {
    EXPECT_EQ(result.reports.size(), 1u);
    return false;
  }
  EXPECT_THAT(result.reports, IsEmpty());
  volatile uint64_t sum = ReadAll(result.model->desc());
  static_cast<void>(sum);
  return true;
}

TEST(Damage, empty_files_are_refused) {
  ReportLog log;
  const std::vector<uint8_t> bytes = SampleModel();
  EXPECT_EQ(Model::FromBuffer(nullptr, 100, log.reporter()), nullptr);
  EXPECT_EQ(Model::FromBuffer(bytes.data(), 0, log.reporter()), nullptr);
  ASSERT_EQ(log.texts().size(), 2u);
  EXPECT_EQ(log.texts()[0], "The model allocation is null/empty");
}

TEST(Damage, another_identifier_is_refused) {
  std::vector<uint8_t> bytes = SampleModel();
  bytes[7] = '4';
  const LoadResult result = LoadBytes(bytes);
  EXPECT_EQ(result.model, nullptr);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_EQ(result.reports[0], "The model is not a valid Flatbuffer buffer");
  EXPECT_STREQ(
      ThreadLastError(),
      "The model is not a valid Flatbuffer buffer; expected the identifier TFL3 at byte 4; this is "
      "a FlatBuffer with the identifier 'TFL4'");
}

TEST(Damage, other_formats_are_named) {
  using namespace std::string_literals;
  const std::string page = "<!DOCTYPE html><html>";
  const std::pair<std::string, const char*> files[] = {
      {"version https://git-lfs.github.com/spec/v1\nsize 12\n", "a Git LFS pointer"},
      {page, "an HTML page"},
      {"PK\3\4"s + std::string(40, '\0'), "a ZIP archive or .task bundle"},
      {"PK\3\4", "a ZIP archive or .task bundle"},
      {"\x1f\x8b\x08", "gzip data"},
      {"\x08\x07\x12\x07pytorch", "an ONNX model"},
      {"\x08\x80", ""},
      {"\x0a\x10\x0a\x04name", "a TensorFlow graph"},
      {"\x10\0\0\0MSL2"s, "a MindSpore Lite model"},
      {"\x89HDF\r\n\x1a\n", "an HDF5 file"},
      {std::string(300, '\x01'), ""},
  };
  for (const auto& [file, kind] : files) {
    EXPECT_EQ(LoadBytes({file.begin(), file.end()}).model, nullptr);
    const std::string text = ThreadLastError();
    EXPECT_THAT(text, StartsWith("The model is not a valid Flatbuffer buffer; expected the "
                                 "identifier TFL3 at byte 4"));
    EXPECT_THAT(text, HasSubstr(kind)) << file;
    EXPECT_EQ(text.find("this is") == std::string::npos, *kind == '\0') << text;
  }
}

TEST(Damage, every_truncation_is_harmless) {
  const std::vector<uint8_t> original = SampleModel();
  for (size_t n = 1; n < original.size(); ++n) {
    EXPECT_FALSE(LoadsSafely({original.begin(), original.begin() + static_cast<long>(n)}) &&
                 n < original.size() / 2)
        << n;
  }
}

TEST(Damage, every_changed_byte_is_harmless) {
  const std::vector<uint8_t> original = SampleModel();
  int refused = 0;
  for (size_t i = 0; i < original.size(); ++i) {
    for (const int change : {0x01, 0x04, 0x80, 0xFF}) {
      std::vector<uint8_t> bytes = original;
      bytes[i] = static_cast<uint8_t>(bytes[i] ^ change);
      if (!LoadsSafely(bytes)) ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

// Repeated references to one large vector must not make a small file large in memory.
TEST(Damage, shared_data_does_not_multiply) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto shape = fbb.CreateVector(std::vector<int32_t>(100000, 1));
  const auto tensor = schema::CreateTensor(fbb, shape);
  const auto tensors =
      fbb.CreateVector(std::vector<flatbuffers::Offset<schema::Tensor>>(10000, tensor));
  const auto operators = fbb.CreateVector(std::vector<flatbuffers::Offset<schema::Operator>>());
  const std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs = {
      schema::CreateSubGraph(fbb, tensors, 0, 0, operators)};
  schema::FinishModelBuffer(fbb, schema::CreateModelDirect(fbb, 3, nullptr, &subgraphs));
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  const LoadResult result = LoadBytes(bytes);
  EXPECT_EQ(result.model, nullptr);
  EXPECT_THAT(result.reports.at(0), HasSubstr("the same data is referenced too often"));
}

TEST(Damage, tensors_beyond_the_limit_are_refused_before_allocation) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto tensor = schema::CreateTensor(fbb);
  const auto tensors =
      fbb.CreateVector(std::vector<flatbuffers::Offset<schema::Tensor>>(1000001, tensor));
  const std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs = {
      schema::CreateSubGraph(fbb, tensors)};
  schema::FinishModelBuffer(fbb, schema::CreateModelDirect(fbb, 3, nullptr, &subgraphs));
  const std::vector<uint8_t> bytes(fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize());
  const LoadResult result = LoadBytes(bytes);
  EXPECT_EQ(result.model, nullptr);
  EXPECT_THAT(result.reports.at(0), HasSubstr("tensors: expected at most 1000000, found 1000001"));
}

TEST(Damage, failed_allocations_are_reported_and_a_retry_works) {
  const std::vector<uint8_t> bytes = SampleModel();
  int n = 1;
  for (;; ++n) {
    ASSERT_LT(n, 10000);
    int reports = 0;
    ErrorReporter reporter([](void* count, const char*, va_list) { ++*static_cast<int*>(count); },
                           &reports);
    allocations_until_refusal = n;
    const auto model = Model::FromBuffer(bytes.data(), bytes.size(), &reporter);
    const bool refused = allocations_until_refusal.exchange(0) == 0;
    ASSERT_EQ(model == nullptr, refused) << n;
    ASSERT_EQ(reports, refused ? 1 : 0) << n;
    if (!refused) break;
  }
  EXPECT_GT(n, 20);
}

}  // namespace
}  // namespace deputy
