// SPDX-License-Identifier: Apache-2.0
//
// Tests the file of a record: every field survives, a file that is cut is read up to the cut, and
// damaged files are refused or read without a fault.
#include "bridges/layers/record/record_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bridges/layers/record/record_chunks.h"
#include "tests/bridges/record_damage.h"
#include "tests/support/plugin_support.h"

namespace deputy::record_file_test {
namespace {

using record::CallBegin;
using record::CallEnd;
using record::ChunkKind;
using record::Contents;
using record::Function;
using record::Model;
using record::Note;
using record::ReadRecord;
using record::Record;
using record::Session;
using record::TensorValue;
using record::Writer;
using Ints = std::vector<int32_t>;

constexpr uint64_t kUnlimited = uint64_t{1} << 40;

std::string Contents8() { return {1, 2, 3, 4, 5, 6, 7, '\0'}; }

TensorValue SampleTensor(const std::string& data) {
  TensorValue tensor;
  tensor.index = 5;
  tensor.name = "input:0";
  tensor.type = 9;
  tensor.allocation = 2;
  tensor.dims = {1, 8};
  tensor.scale = 0.5f;
  tensor.zero_point = -128;
  tensor.bytes = data.size();
  tensor.buffer_handle = 7;
  tensor.data_is_stale = true;
  tensor.contents = Contents::kData;
  tensor.digest = record::DigestOf(data);
  tensor.data = data;
  return tensor;
}

CallBegin SampleBegin(const std::string& data) {
  CallBegin begin;
  begin.call = 1;
  begin.function = Function::kInvoke;
  begin.subgraph = 2;
  begin.kernel = 3;
  begin.tensor = 4;
  begin.buffer_handle = 5;
  begin.nodes = {6, 7};
  begin.inputs = {8, -1};
  begin.outputs = {9};
  begin.name = "Kernel";
  begin.version = 10;
  begin.tensors = {SampleTensor(data), {}};
  begin.tensors[1].contents = Contents::kDigest;
  begin.tensors[1].digest = 0xfedcba9876543210u;
  begin.tensors[1].bytes = uint64_t{1} << 40;
  return begin;
}

CallEnd SampleEnd(const std::string& data) {
  CallEnd end;
  end.call = 1;
  end.status = 2;
  end.duration_ns = 123456789012;
  end.buffer_handle = 11;
  end.errors = "one\ntwo";
  end.tensors = {SampleTensor(data)};
  return end;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A file that is removed at the end of the test.
class RecordFile : public testing::Test {
 protected:
  ~RecordFile() override { std::filesystem::remove(path_); }

  std::unique_ptr<Writer> Open(uint64_t max_bytes = kUnlimited) {
    std::string problem;
    auto writer = Writer::Open(path_, max_bytes, &problem);
    EXPECT_NE(writer, nullptr) << problem;
    return writer;
  }

  // Returns the bytes of a record with all kinds of chunks.
  std::string Sample() {
    const std::string data = Contents8(), model = "TFL3";
    const auto writer = Open();
    EXPECT_TRUE(writer->Write(
        Session{"deputy 1", "Linux", "/lib/x.so", {{"threads", "2"}, {"empty", ""}}}));
    EXPECT_TRUE(writer->Write(Model{record::DigestOf(model), model.size(), true, model}));
    EXPECT_TRUE(writer->Write(SampleBegin(data)));
    EXPECT_TRUE(writer->Write(SampleEnd(data)));
    CallBegin second;
    second.call = 2;
    second.function = Function::kDelegatePrepare;
    EXPECT_TRUE(writer->Write(second));
    return ReadAll(path_);
  }

  const std::string path_ = ScratchFile("record.rec");
};

void ExpectSampleTensor(const TensorValue& tensor) {
  EXPECT_EQ(tensor.index, 5);
  EXPECT_EQ(tensor.name, "input:0");
  EXPECT_EQ(tensor.type, 9);
  EXPECT_EQ(tensor.allocation, 2);
  EXPECT_EQ(tensor.dims, (Ints{1, 8}));
  EXPECT_EQ(tensor.scale, 0.5f);
  EXPECT_EQ(tensor.zero_point, -128);
  EXPECT_EQ(tensor.bytes, 8u);
  EXPECT_EQ(tensor.buffer_handle, 7);
  EXPECT_TRUE(tensor.data_is_stale);
  EXPECT_EQ(tensor.contents, Contents::kData);
  EXPECT_EQ(tensor.data, Contents8());
}

void ExpectSampleBegin(const CallBegin& begin) {
  EXPECT_EQ(begin.call, 1u);
  EXPECT_EQ(begin.function, Function::kInvoke);
  EXPECT_EQ(begin.subgraph, 2);
  EXPECT_EQ(begin.kernel, 3);
  EXPECT_EQ(begin.tensor, 4);
  EXPECT_EQ(begin.buffer_handle, 5);
  EXPECT_EQ(begin.nodes, (Ints{6, 7}));
  EXPECT_EQ(begin.inputs, (Ints{8, -1}));
  EXPECT_EQ(begin.outputs, (Ints{9}));
  EXPECT_EQ(begin.name, "Kernel");
  EXPECT_EQ(begin.version, 10);
  ASSERT_EQ(begin.tensors.size(), 2u);
  ExpectSampleTensor(begin.tensors[0]);
  EXPECT_EQ(begin.tensors[1].index, -1);
  EXPECT_EQ(begin.tensors[1].contents, Contents::kDigest);
  EXPECT_EQ(begin.tensors[1].digest, 0xfedcba9876543210u);
  EXPECT_EQ(begin.tensors[1].bytes, uint64_t{1} << 40);
  EXPECT_FALSE(begin.tensors[1].data_is_stale);
}

TEST_F(RecordFile, keeps_every_field) {
  Sample();
  Record record;
  ASSERT_EQ(record::ReadRecordFile(path_, &record), "");
  EXPECT_EQ(record.cut, "");
  EXPECT_FALSE(record.limit_reached);
  ASSERT_TRUE(record.session && record.model);
  EXPECT_EQ(record.session->host, "deputy 1");
  EXPECT_EQ(record.session->machine, "Linux");
  EXPECT_EQ(record.session->library, "/lib/x.so");
  ASSERT_EQ(record.session->options.size(), 2u);
  EXPECT_EQ(record.session->options[0], std::pair(std::string("threads"), std::string("2")));
  EXPECT_EQ(record.session->options[1], std::pair(std::string("empty"), std::string()));
  EXPECT_EQ(record.model->bytes, 4u);
  EXPECT_EQ(record.model->data, "TFL3");
  ASSERT_EQ(record.calls.size(), 2u);
  ExpectSampleBegin(record.calls[0].begin);
  ASSERT_TRUE(record.calls[0].end);
  const CallEnd& end = *record.calls[0].end;
  EXPECT_EQ(end.status, 2);
  EXPECT_EQ(end.duration_ns, 123456789012u);
  EXPECT_EQ(end.buffer_handle, 11);
  EXPECT_EQ(end.errors, "one\ntwo");
  ASSERT_EQ(end.tensors.size(), 1u);
  ExpectSampleTensor(end.tensors[0]);
  EXPECT_EQ(record.calls[1].begin.function, Function::kDelegatePrepare);
  EXPECT_EQ(record.calls[1].begin.kernel, -1);
  EXPECT_FALSE(record.calls[1].end);
}

// The format is fixed: these bytes were computed by hand, except for the digests.
TEST_F(RecordFile, has_a_fixed_format) {
  const std::string bytes = Sample();
  EXPECT_EQ(bytes.substr(0, 16), std::string("DPTYREC\n\2\0\0\0\1\0\0\0", 16));
  EXPECT_EQ(bytes.substr(16, 4), std::string("\1\0\0\0", 4));            // a session
  EXPECT_EQ(bytes.substr(24, 8), std::string("\x63\0\0\0\0\0\0\0", 8));  // of 99 bytes
  EXPECT_EQ(bytes.substr(40, 16), std::string("\x8\0\0\0\0\0\0\0deputy 1", 16));
}

TEST_F(RecordFile, digests_differ_for_each_word_and_size) {
  EXPECT_NE(record::DigestOf("a"), record::DigestOf("b"));
  EXPECT_NE(record::DigestOf(""), record::DigestOf(std::string(1, '\0')));
  EXPECT_NE(record::DigestOf("abcdefgh1"), record::DigestOf("abcdefgh2"));
  EXPECT_NE(record::DigestOf("x", 1), record::DigestOf("x", 2));
}

TEST_F(RecordFile, is_read_up_to_a_cut_at_any_byte) {
  const std::string bytes = Sample();
  std::vector<size_t> ends = {record::kHeaderBytes};  // of the header and of the chunks
  while (ends.back() < bytes.size()) {
    record::ChunkInfo info;
    const std::string_view rest = std::string_view(bytes).substr(ends.back());
    ASSERT_TRUE(record::DecodeHead(rest.substr(0, record::kChunkHeadBytes), &info));
    ends.push_back(ends.back() + record::kChunkHeadBytes + static_cast<size_t>(info.bytes));
  }
  ASSERT_EQ(ends.size(), 6u);
  size_t chunks = 0;  // complete ones
  for (size_t size = 0; size < bytes.size(); ++size) {
    Record record;
    const std::string problem = ReadRecord(bytes.substr(0, size), &record);
    ASSERT_EQ(problem.empty(), size >= record::kHeaderBytes) << size;
    if (!problem.empty()) continue;
    if (size == ends[chunks + 1]) ++chunks;
    const std::string expected = size == ends[chunks]
                                     ? ""
                                     : "chunk " + std::to_string(chunks) + " at offset " +
                                           std::to_string(ends[chunks]) + " is cut";
    ASSERT_EQ(record.cut.substr(0, expected.size()), expected) << size;
    ASSERT_EQ(record.cut.empty(), size == ends[chunks]);
    ASSERT_EQ(record.session.has_value(), chunks >= 1);
    ASSERT_EQ(record.model.has_value(), chunks >= 2);
    ASSERT_EQ(record.calls.size(), chunks >= 3 ? 1u : 0u);
    if (chunks >= 3) {
      ASSERT_EQ(record.calls[0].end.has_value(), chunks >= 4);
    }
  }
}

TEST_F(RecordFile, refuses_each_changed_byte) {
  const std::string bytes = Sample();
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] + 1);
    Record record;
    ASSERT_NE(ReadRecord(damaged, &record), "") << i;
  }
}

TEST_F(RecordFile, names_the_damaged_chunk) {
  std::string bytes = Sample();
  bytes[16 + 24 + 99 + 24] = 'X';
  Record record;
  EXPECT_EQ(ReadRecord(bytes, &record), "chunk 1 at offset 139 has a wrong checksum");
  bytes = Sample();
  bytes[16 + 24 + 99 + 8] = 'X';
  EXPECT_EQ(ReadRecord(bytes, &record), "chunk 1 at offset 139 has a damaged head");
  bytes = Sample();
  for (const char version : {0, 3}) {
    bytes[8] = version;
    EXPECT_EQ(ReadRecord(bytes, &record),
              "expected a record of version 1 to 2, found version " + std::to_string(version));
  }
  bytes[8] = 1;
  EXPECT_EQ(ReadRecord(bytes, &record), "");
  EXPECT_EQ(record.version, 1u);
  bytes[12] = 2;
  EXPECT_EQ(ReadRecord(bytes, &record), "the record is of a machine with another byte order");
  EXPECT_EQ(ReadRecord("TFL3", &record), "this is no record of a delegate's calls");
}

TEST_F(RecordFile, refuses_calls_that_do_not_match) {
  const std::string data = Contents8();
  const std::string begin = record::Encode(SampleBegin(data)),
                    end = record::Encode(SampleEnd(data));
  const auto read = [](const std::vector<std::pair<ChunkKind, std::string>>& chunks) {
    std::string bytes = record::Header();
    for (const auto& [kind, payload] : chunks) bytes += record::ChunkHead(kind, payload) + payload;
    Record record;
    return ReadRecord(bytes, &record);
  };
  using enum ChunkKind;
  EXPECT_EQ(read({{kCallBegin, begin}, {kCallEnd, end}}), "");
  EXPECT_NE(read({{kCallEnd, end}}), "");
  EXPECT_NE(read({{kCallBegin, begin}, {kCallBegin, begin}}), "");
  EXPECT_NE(read({{kCallBegin, begin}, {kCallEnd, end}, {kCallEnd, end}}), "");
  EXPECT_NE(read({{kLimit, ""}, {kCallBegin, begin}}), "");
  EXPECT_EQ(read({{kCallBegin, begin}, {kLimit, ""}}), "");
  EXPECT_EQ(read({{kLimit, ""}, {kNote, record::Encode(Note{"title", "text"})}}), "");
  EXPECT_NE(read({{static_cast<ChunkKind>(7), ""}}), "");
}

TEST_F(RecordFile, refuses_data_that_do_not_match) {
  const std::string data = Contents8(), model = "TFL3";
  CallBegin decoded;
  EXPECT_TRUE(record::Decode(record::Encode(SampleBegin(data)), &decoded));
  CallBegin begin = SampleBegin(data);
  begin.tensors[0].digest += 1;
  EXPECT_FALSE(record::Decode(record::Encode(begin), &decoded));
  begin = SampleBegin(data);
  begin.tensors[0].bytes = 7;
  EXPECT_FALSE(record::Decode(record::Encode(begin), &decoded));
  begin = SampleBegin(data);
  begin.tensors[0].contents = Contents::kDigest;
  EXPECT_FALSE(record::Decode(record::Encode(begin), &decoded));
  Model read;
  EXPECT_TRUE(
      record::Decode(record::Encode(Model{record::DigestOf(model), 4, true, model}), &read));
  EXPECT_FALSE(record::Decode(record::Encode(Model{0, 4, true, model}), &read));
  EXPECT_FALSE(record::Decode(record::Encode(Model{0, 4, false, model}), &read));
}

TEST_F(RecordFile, ends_at_its_limit) {
  const std::string data = Contents8();
  const size_t chunk = record::kChunkHeadBytes + record::Encode(SampleBegin(data)).size();
  // Two calls and the chunk kLimit fit.
  const size_t limit = record::kHeaderBytes + 2 * chunk + record::kChunkHeadBytes;
  for (const size_t less : {0u, 1u}) {
    const auto writer = Open(limit - less);
    CallBegin begin = SampleBegin(data);
    EXPECT_TRUE(writer->Write(begin));
    begin.call = 2;
    EXPECT_EQ(writer->Write(begin), less == 0);
    EXPECT_EQ(writer->problem().empty(), less == 0);
    begin.call = 3;
    EXPECT_FALSE(writer->Write(begin));
    EXPECT_FALSE(writer->Write(Session{}));
    EXPECT_EQ(writer->problem(),
              "the record has reached its limit of " + std::to_string(limit - less) + " bytes");
    EXPECT_LE(std::filesystem::file_size(path_), limit - less);
    Record record;
    EXPECT_EQ(record::ReadRecordFile(path_, &record), "");
    EXPECT_EQ(record.calls.size(), 2u - less);
    EXPECT_TRUE(record.limit_reached);
  }
}

TEST_F(RecordFile, each_chunk_is_in_the_file_when_write_returns) {
  const std::string data = Contents8();
  const auto writer = Open();
  EXPECT_TRUE(writer->Write(SampleBegin(data)));
  Record record;
  ASSERT_EQ(record::ReadRecordFile(path_, &record), "");
  ASSERT_EQ(record.calls.size(), 1u);
  ExpectSampleBegin(record.calls[0].begin);
}

TEST_F(RecordFile, takes_notes_after_its_end) {
  const std::string before = Sample();
  std::string problem;
  auto writer = Writer::OpenToAppend(path_, kUnlimited, &problem);
  ASSERT_NE(writer, nullptr) << problem;
  EXPECT_TRUE(writer->Write(Note{"title", "text"}));
  EXPECT_EQ(ReadAll(path_).substr(0, before.size()), before);
  Record record;
  ASSERT_EQ(record::ReadRecordFile(path_, &record), "");
  EXPECT_EQ(record.calls.size(), 2u);
  ASSERT_EQ(record.notes.size(), 1u);
  EXPECT_EQ(record.notes[0].title, "title");
  EXPECT_EQ(record.notes[0].text, "text");
  // A new file gets a header.
  std::filesystem::remove(path_);
  writer = Writer::OpenToAppend(path_, kUnlimited, &problem);
  ASSERT_NE(writer, nullptr) << problem;
  EXPECT_TRUE(writer->Write(Note{"only", ""}));
  ASSERT_EQ(record::ReadRecordFile(path_, &record), "");
  EXPECT_EQ(record.notes.size(), 1u);
}

TEST_F(RecordFile, takes_calls_of_several_threads) {
  constexpr int kThreads = 4, kCalls = 250;
  const auto writer = Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const std::string data = Contents8();
      for (int k = 0; k < kCalls; ++k) {
        CallBegin begin = SampleBegin(data);
        CallEnd end = SampleEnd(data);
        begin.call = end.call = writer->NextCall();
        EXPECT_TRUE(writer->Write(begin));
        EXPECT_TRUE(writer->Write(end));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Record record;
  ASSERT_EQ(record::ReadRecordFile(path_, &record), "");
  EXPECT_EQ(record.calls.size(), size_t{kThreads * kCalls});
  for (const record::Call& call : record.calls) EXPECT_TRUE(call.end);
}

TEST_F(RecordFile, reports_files_that_cannot_be_used) {
  std::string problem;
  EXPECT_EQ(Writer::Open("/nowhere/x.rec", kUnlimited, &problem), nullptr);
  EXPECT_EQ(problem, "cannot open '/nowhere/x.rec' for writing: No such file or directory");
  EXPECT_EQ(Writer::Open(path_, 39, &problem), nullptr);
  EXPECT_EQ(problem, "expected a limit of at least 40 bytes, found 39");
  Record record;
  EXPECT_EQ(record::ReadRecordFile("/nowhere/x.rec", &record), "No such file or directory");
  EXPECT_EQ(record::ReadRecordFile("/", &record), "it is no regular file");
}

TEST_F(RecordFile, stops_when_the_disk_is_full) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP();
  std::string problem;
  EXPECT_EQ(Writer::Open("/dev/full", kUnlimited, &problem), nullptr);
  EXPECT_EQ(problem, "cannot write '/dev/full': No space left on device");
}

// ---- Damage -------------------------------------------------------------------------------------

// Sanitizers report a fault of the decoders.
TEST_F(RecordFile, survives_damage_behind_right_checksums) {
  std::mt19937 random(43);
  const RecordChunks original = SplitRecord(Sample());
  constexpr int kRecords = 100000;
  int accepted = 0;
  for (int i = 0; i < kRecords; ++i) {
    Record record;
    accepted += ReadRecord(DamagedRecord(original, &random), &record).empty() ? 1 : 0;
  }
  // A changed letter or number is not noticed; most other changes are.
  EXPECT_LT(accepted, kRecords / 2);
  EXPECT_GT(accepted, kRecords / 100);
}

}  // namespace
}  // namespace deputy::record_file_test
