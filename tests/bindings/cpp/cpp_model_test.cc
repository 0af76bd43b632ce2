// SPDX-License-Identifier: Apache-2.0
//
// Tests tflite::FlatBufferModel, Allocation and Verify.
#include "tensorflow/lite/model.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/mutable_op_resolver.h"
#include "tensorflow/lite/tools/verifier.h"
#include "tests/bindings/cpp/support/sum_model.h"

namespace deputy::cpp_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using tflite::FlatBufferModel;
using tflite::Interpreter;
using tflite::InterpreterBuilder;
using tflite::ops::builtin::BuiltinOpResolver;

// A file that is removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) {
    const int fd = mkstemp(path_);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    close(fd);
  }
  ~TemporaryFile() { std::remove(path_); }
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/deputy_model_XXXXXX";
};

bool Builds(const FlatBufferModel& model) {
  std::unique_ptr<Interpreter> interpreter;
  return InterpreterBuilder(model, BuiltinOpResolver{})(&interpreter) == kTfLiteOk &&
         interpreter->AllocateTensors() == kTfLiteOk;
}

TEST(FlatBufferModelTest, loads_files_descriptors_and_allocations) {
  const std::string bytes = SumModel();
  const TemporaryFile file(bytes);
  const auto from_file = FlatBufferModel::BuildFromFile(file.path());
  ASSERT_NE(from_file, nullptr);
  EXPECT_EQ(from_file->allocation()->type(), tflite::Allocation::Type::kMMap);
  EXPECT_EQ(from_file->allocation()->bytes(), bytes.size());
  EXPECT_TRUE(Builds(*from_file));

  const int fd = open(file.path(), O_RDONLY);
  const auto from_descriptor = FlatBufferModel::VerifyAndBuildFromFileDescriptor(fd);
  close(fd);
  ASSERT_NE(from_descriptor, nullptr);
  EXPECT_TRUE(Builds(*from_descriptor));

  auto copy =
      std::make_unique<tflite::FileCopyAllocation>(file.path(), tflite::DefaultErrorReporter());
  ASSERT_TRUE(copy->valid());
  const auto from_copy = FlatBufferModel::BuildFromAllocation(std::move(copy));
  ASSERT_NE(from_copy, nullptr);
  EXPECT_TRUE(Builds(*from_copy));
}

TEST(FlatBufferModelTest, copies_a_model_whose_size_is_not_known) {
  const std::string bytes = SumModel();
  const auto model = FlatBufferModel::BuildFromModel(tflite::GetModel(bytes.data()));
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->allocation(), nullptr);
  EXPECT_TRUE(Builds(*model));
  std::unique_ptr<Interpreter> interpreter;
  ASSERT_EQ(InterpreterBuilder(tflite::GetModel(bytes.data()), BuiltinOpResolver{})(&interpreter),
            kTfLiteOk);
  EXPECT_THAT(interpreter->signature_inputs("add"), ElementsAre(Pair("left", 0), Pair("right", 1)));
}

// An empty buffer makes a tensor without elements constant; another tensor stays writable.
TEST(FlatBufferModelTest, keeps_constants_without_elements) {
  flatbuffers::FlatBufferBuilder out;
  const std::vector<int32_t> none = {0}, two = {2};
  const std::vector<flatbuffers::Offset<tflite::Operator>> nodes;
  const std::vector<flatbuffers::Offset<tflite::Tensor>> tensors = {
      tflite::CreateTensorDirect(out, &none, tflite::TensorType_INT32, 1, "constant"),
      tflite::CreateTensorDirect(out, &two, tflite::TensorType_INT32, 1, "input")};
  const std::vector<flatbuffers::Offset<tflite::SubGraph>> subgraphs = {
      tflite::CreateSubGraphDirect(out, &tensors, nullptr, nullptr, &nodes)};
  const std::vector<uint8_t> no_bytes;
  const std::vector<flatbuffers::Offset<tflite::Buffer>> buffers = {
      tflite::CreateBuffer(out), tflite::CreateBuffer(out, out.CreateVector(no_bytes))};
  tflite::FinishModelBuffer(
      out, tflite::CreateModelDirect(out, 3, nullptr, &subgraphs, nullptr, &buffers));
  const auto* const bytes = reinterpret_cast<const char*>(out.GetBufferPointer());
  const auto borrowed = FlatBufferModel::BuildFromBuffer(bytes, out.GetSize());
  const auto copied = FlatBufferModel::BuildFromModel(tflite::GetModel(bytes));
  for (const FlatBufferModel* model : {borrowed.get(), copied.get()}) {
    std::unique_ptr<Interpreter> interpreter;
    ASSERT_EQ(InterpreterBuilder(*model, BuiltinOpResolver{})(&interpreter), kTfLiteOk);
    EXPECT_EQ(interpreter->tensor(0)->allocation_type, kTfLiteMmapRo);
    EXPECT_EQ(interpreter->tensor(1)->allocation_type, kTfLiteArenaRw);
  }
}

TEST(FlatBufferModelTest, reads_tables_and_metadata) {
  const std::string bytes = SumModel();
  const auto model = FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ((*model)->subgraphs()->size(), 2u);
  EXPECT_EQ(model->GetModel()->version(), 3u);
  EXPECT_THAT(model->ReadAllMetadata(), ElementsAre(Pair("note", "hello")));
  EXPECT_EQ(model->GetMinimumRuntime(), "");
  EXPECT_TRUE(model->CheckModelIdentifier());
}

TEST(FlatBufferModelTest, rejects_what_is_no_model) {
  Messages messages;
  EXPECT_EQ(FlatBufferModel::BuildFromFile("/nowhere/model.tflite", &messages), nullptr);
  EXPECT_THAT(messages.text(), HasSubstr("Could not open '/nowhere/model.tflite'."));
  const std::string text = "this is not a model";
  EXPECT_EQ(FlatBufferModel::BuildFromBuffer(text.data(), text.size(), &messages), nullptr);
  EXPECT_THAT(messages.text(), HasSubstr("should be 'TFL3'"));
  EXPECT_EQ(FlatBufferModel::BuildFromBuffer(nullptr, 0, &messages), nullptr);
  EXPECT_THAT(messages.text(), HasSubstr("The model allocation is null/empty"));
}

// The bytes have the identifier of a model, but the root table or its vtable is beyond the end.
TEST(FlatBufferModelTest, rejects_a_root_table_beyond_the_end) {
  Messages messages;
  for (const std::string& bytes :
       {std::string("\xff\0\0\0TFL3\0\0", 10), std::string("\x08\0\0\0TFL3\xff\xff\xff\x7f", 12)}) {
    EXPECT_EQ(FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size(), &messages), nullptr);
  }
  EXPECT_EQ(messages.text(),
            "The model is not a valid Flatbuffer buffer\n"
            "The model is not a valid Flatbuffer buffer\n");
}

TEST(FlatBufferModelTest, finds_damage_when_it_verifies_or_builds) {
  std::string bytes = SumModel();
  bytes.resize(bytes.size() / 2);
  Messages messages;
  EXPECT_EQ(
      FlatBufferModel::VerifyAndBuildFromBuffer(bytes.data(), bytes.size(), nullptr, &messages),
      nullptr);
  EXPECT_THAT(messages.text(), HasSubstr("not a valid Flatbuffer buffer"));
  EXPECT_FALSE(tflite::Verify(bytes.data(), bytes.size(), &messages));
  const auto model = FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size(), &messages);
  EXPECT_TRUE(model == nullptr || !Builds(*model));
}

class Refuser : public tflite::TfLiteVerifier {
 public:
  bool Verify(const char*, int length, tflite::ErrorReporter*) override {
    length_ = length;
    return false;
  }
  int length_ = 0;
};

TEST(FlatBufferModelTest, calls_the_programs_verifier) {
  const std::string bytes = SumModel();
  Refuser refuser;
  EXPECT_EQ(FlatBufferModel::VerifyAndBuildFromBuffer(bytes.data(), bytes.size(), &refuser),
            nullptr);
  EXPECT_EQ(refuser.length_, static_cast<int>(bytes.size()));
}

TEST(VerifyTest, requires_kernels_only_with_a_resolver) {
  const std::string bytes = SumModel();
  Messages messages;
  EXPECT_TRUE(tflite::Verify(bytes.data(), bytes.size(), &messages));
  EXPECT_TRUE(tflite::Verify(bytes.data(), bytes.size(), BuiltinOpResolver{}, &messages));
  EXPECT_TRUE(tflite::Verify(bytes.data(), bytes.size(), tflite::AlwaysTrueResolver{}, &messages));
  EXPECT_EQ(messages.text(), "");
  EXPECT_FALSE(tflite::Verify(bytes.data(), bytes.size(), tflite::MutableOpResolver{}, &messages));
  EXPECT_THAT(messages.text(), HasSubstr("Didn't find op for builtin opcode 'ADD' version '1'"));
}

TEST(MMAPAllocationTest, maps_a_part_of_a_file) {
  const TemporaryFile file(std::string(5000, 'x') + "end");
  Messages messages;
  const tflite::MMAPAllocation part(file.path(), 5000, 3, &messages);
  ASSERT_TRUE(part.valid());
  EXPECT_EQ(std::string(static_cast<const char*>(part.base()), part.bytes()), "end");
  EXPECT_EQ(part.mmapped_buffer_offset_in_file() % 4096, 0u);
  const tflite::MMAPAllocation beyond(file.path(), 5000, 4, &messages);
  EXPECT_FALSE(beyond.valid());
  EXPECT_THAT(messages.text(), HasSubstr("5003"));
  tflite::MMAPAllocation writable(file.path(), &messages, /*map_private=*/true);
  static_cast<char*>(const_cast<void*>(writable.base()))[0] = 'y';
  EXPECT_EQ(static_cast<const char*>(writable.base())[0], 'y');
}

}  // namespace
}  // namespace deputy::cpp_test
