// SPDX-License-Identifier: Apache-2.0
//
// Tests of original models in compiled files.
#include "litert/src/original_model.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "core/support/compiled_model.h"
#include "litert/src/log.h"
#include "schema_generated.h"
#include "tests/support/model_builder.h"

namespace deputy::litert::original_model_test {
namespace {

struct Properties {
  TfLiteType type = kTfLiteFloat32;
  std::vector<int32_t> shape = {1, 4};
  std::string input = "x";
  int outputs = 1;
};

// Returns a model that computes `outputs` sums of its input with itself.
std::string ModelOf(const Properties& properties) {
  ModelBuilder m;
  const int x = m.AddTensor(properties.type, properties.shape, properties.input);
  std::vector<int> outputs;
  for (int i = 0; i < properties.outputs; ++i) {
    outputs.push_back(m.AddTensor(properties.type, properties.shape, "y" + std::to_string(i)));
    m.AddOp(kTfLiteBuiltinAdd, {x, x}, {outputs.back()}, schema::CreateAddOptions(m.fbb()));
  }
  m.SetInputs({x});
  m.SetOutputs(outputs);
  const std::vector<uint8_t> bytes = m.Finish();
  return {bytes.begin(), bytes.end()};
}

// Returns a compiled file with a section.
std::string FileOf(const std::string& original, const std::string& owner = kOriginalOwner) {
  std::string file = ModelOf({});
  CompiledModel description;
  description.model_bytes = file.size();
  AppendSection(owner, "model.tflite", original, &description, &file);
  FinishCompiledModel(description, &file);
  return file;
}

LiteRtStatus Load(const std::string& file) {
  SetMinSeverity(kLiteRtLogSeveritySilent);
  LiteRtModelT compiled;
  const Bytes bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  EXPECT_EQ(compiled.Load(bytes), kLiteRtStatusOk);
  std::unique_ptr<LiteRtModelT> original;
  const LiteRtStatus status = LoadOriginal(compiled, &original);
  EXPECT_EQ(status == kLiteRtStatusOk, original != nullptr);
  EXPECT_EQ(HasOriginal(compiled), status != kLiteRtStatusErrorNotFound);
  if (original != nullptr) {
    EXPECT_EQ(original->subgraphs.front()->ops.size(), 1U);
  }
  return status;
}

TEST(OriginalModel, IsLoaded) { EXPECT_EQ(Load(FileOf(ModelOf({}))), kLiteRtStatusOk); }

TEST(OriginalModel, IsAbsentInOtherFiles) {
  EXPECT_EQ(Load(ModelOf({})), kLiteRtStatusErrorNotFound);
  EXPECT_EQ(Load(FileOf(ModelOf({}), "other")), kLiteRtStatusErrorNotFound);
}

// Buffers of the program would not fit.
TEST(OriginalModel, WithOtherSignaturesIsRefused) {
  const Properties others[] = {
      {.type = kTfLiteInt32}, {.shape = {1, 5}}, {.shape = {4}}, {.input = "z"}, {.outputs = 2}};
  for (const Properties& other : others) {
    EXPECT_EQ(Load(FileOf(ModelOf(other))), kLiteRtStatusErrorInvalidFlatbuffer);
  }
}

TEST(OriginalModel, WithChangedBytesIsRefused) {
  const std::string original = ModelOf({});
  const std::string file = FileOf(original);
  const size_t begin = file.rfind(original);
  ASSERT_NE(begin, std::string::npos);
  for (size_t i = 0; i < original.size(); ++i) {
    std::string changed = file;
    changed[begin + i] = static_cast<char>(~changed[begin + i]);
    ASSERT_EQ(Load(changed), kLiteRtStatusErrorInvalidFlatbuffer) << i;
  }
}

TEST(OriginalModel, ThatIsNoModelIsRefused) {
  EXPECT_EQ(Load(FileOf("text")), kLiteRtStatusErrorInvalidFlatbuffer);
  EXPECT_EQ(Load(FileOf("")), kLiteRtStatusErrorInvalidFlatbuffer);
}

}  // namespace
}  // namespace deputy::litert::original_model_test
