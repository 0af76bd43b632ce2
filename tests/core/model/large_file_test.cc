// SPDX-License-Identifier: Apache-2.0
//
// Tests models whose data follows the FlatBuffer, in files of 3 GiB, or in other files. The large
// files are sparse: only the pages that a test writes occupy memory.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "core/model/model.h"
#include "tests/support/load_result.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"

namespace deputy::large_file_test {
namespace {

using testing::HasSubstr;

constexpr uint64_t kFar = uint64_t{3} << 30, kOptions = (uint64_t{5} << 29) + 4096;
constexpr int kSize = 4;
const std::vector<float> kWeights = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr uint64_t kWeightBytes = kSize * kSize * sizeof(float);

class LargeFile : public QuietTest {
 protected:
  void SetUp() override {
    QuietTest::SetUp();
    char name[] = "/tmp/deputy_large.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/model.tflite";
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    QuietTest::TearDown();
  }

  // Writes `bytes` at `offset` of a file, which is created if necessary.
  static void WriteAt(const std::string& path, const void* bytes, size_t size, uint64_t offset) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(file, 0);
    if (pwrite(file, bytes, size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size)) {
      close(file);
      GTEST_SKIP() << "the file system refuses a sparse file of " << offset << " bytes";
    }
    close(file);
  }
  void WriteModel(const std::vector<uint8_t>& bytes) const {
    WriteAt(path_, bytes.data(), bytes.size(), 0);
  }
  std::string ReasonOfRefusal() const {
    ReportLog log;
    EXPECT_EQ(Model::FromFile(path_.c_str(), log.reporter()), nullptr);
    EXPECT_EQ(log.texts().size(), 1u);
    return log.all();
  }
  // Runs the model with the input 1, 0, 0, 0 and returns the first output.
  std::vector<float> Outputs() const {
    const std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model(
        TfLiteModelCreateFromFile(path_.c_str()), &TfLiteModelDelete);
    EXPECT_NE(model, nullptr) << DeputyLastError();
    if (model == nullptr) return {};
    const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter(
        TfLiteInterpreterCreate(model.get(), nullptr), &TfLiteInterpreterDelete);
    EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter.get()), kTfLiteOk);
    const std::vector<float> x = {1, 0, 0, 0};
    std::vector<float> y(kSize);
    TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter.get(), 0), x.data(),
                               x.size() * sizeof(float));
    EXPECT_EQ(TfLiteInterpreterInvoke(interpreter.get()), kTfLiteOk);
    TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0), y.data(),
                             y.size() * sizeof(float));
    return y;
  }

  std::string folder_, path_;
};

// Adds y = W x. `weights` is the tensor W.
std::vector<uint8_t> Finish(ModelBuilder* m, int weights) {
  const int x = m->AddTensor(kTfLiteFloat32, {1, kSize}, "x");
  const int y = m->AddTensor(kTfLiteFloat32, {1, kSize}, "y");
  m->AddOp(kTfLiteBuiltinFullyConnected, {x, weights, -1}, {y},
           schema::CreateFullyConnectedOptions(m->fbb()));
  m->SetInputs({x});
  m->SetOutputs({y});
  return m->Finish();
}

// A model whose weights are at an offset of its file.
std::vector<uint8_t> ModelWithOffset(uint64_t offset, uint64_t size = kWeightBytes) {
  ModelBuilder m;
  const uint32_t buffer = m.AddRawBuffer(schema::CreateBuffer(m.fbb(), 0, offset, size));
  return Finish(&m, m.AddTensorOfBuffer(kTfLiteFloat32, {kSize, kSize}, buffer, "w"));
}

long ResidentKilobytes() {
  long resident = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (std::sscanf(line.c_str(), "VmRSS: %ld kB", &resident) == 1) break;
  }
  return resident;
}

TEST_F(LargeFile, weights_beyond_three_gibibytes_are_used_in_place) {
  WriteModel(ModelWithOffset(kFar));
  WriteAt(path_, kWeights.data(), kWeightBytes, kFar);
  if (IsSkipped()) return;
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  ASSERT_EQ(static_cast<uint64_t>(status.st_size), kFar + kWeightBytes);
  const long before = ResidentKilobytes();
  EXPECT_EQ(Outputs(), (std::vector<float>{1, 5, 9, 13}));
  EXPECT_LT(ResidentKilobytes(), before + (256 << 10));

  ReportLog log;
  const std::shared_ptr<const Model> model = Model::FromFile(path_.c_str(), log.reporter());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->desc().subgraphs[0].tensors[0].data, model->bytes().data() + kFar);
}

TEST_F(LargeFile, custom_options_beyond_two_gibibytes_are_found) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x"), y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddRawOperatorCode(schema::CreateOperatorCodeDirect(m.fbb(), 32, "Custom", 1));
  const std::vector<int32_t> inputs = {x}, outputs = {y};
  const auto input_vector = m.fbb().CreateVector(inputs);
  const auto output_vector = m.fbb().CreateVector(outputs);
  schema::OperatorBuilder op(m.fbb());
  op.add_inputs(input_vector);
  op.add_outputs(output_vector);
  op.add_large_custom_options_offset(kOptions);
  op.add_large_custom_options_size(5);
  m.AddRawOperator(op.Finish());
  m.SetInputs({x});
  m.SetOutputs({y});
  WriteModel(m.Finish());
  WriteAt(path_, "hello", 5, kOptions);
  if (IsSkipped()) return;
  ReportLog log;
  const std::shared_ptr<const Model> model = Model::FromFile(path_.c_str(), log.reporter());
  ASSERT_NE(model, nullptr) << log.all();
  const std::span<const uint8_t> options = model->desc().subgraphs[0].operators[0].custom_options;
  EXPECT_EQ(std::string(options.begin(), options.end()), "hello");
  ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(kOptions + 4)), 0);
  EXPECT_THAT(ReasonOfRefusal(),
              HasSubstr("node 0: custom options: expected to end within the file's 2684358660 "
                        "bytes, found offset 2684358656 size 5"));
}

TEST_F(LargeFile, damaged_offsets_are_refused) {
  const struct {
    uint64_t offset, size;
  } kRows[] = {{kFar + 1, kWeightBytes}, {kFar + kWeightBytes + 1, 0},
               {kFar, kWeightBytes + 1}, {UINT64_MAX - 8, 16},
               {16, UINT64_MAX},         {UINT64_MAX, UINT64_MAX}};
  for (const auto& row : kRows) {
    WriteModel(ModelWithOffset(row.offset, row.size));
    WriteAt(path_, kWeights.data(), kWeightBytes, kFar);
    if (IsSkipped()) return;
    EXPECT_THAT(ReasonOfRefusal(),
                HasSubstr("tensor 0 'w': buffer: expected to end within the file's 3221225536 "
                          "bytes, found offset " +
                          std::to_string(row.offset) + " size " + std::to_string(row.size)));
  }
}

// ---- Weights in other files ---------------------------------------------------------------------

// A model whose weights are the external buffer 7.
std::vector<uint8_t> ModelWithFile(const std::string& file, uint64_t offset,
                                   uint64_t length = kWeightBytes, const char* packing = nullptr,
                                   uint32_t id = 7) {
  ModelBuilder m;
  m.AddExternalBuffer(id, file, offset, length, packing);
  const std::vector<int32_t> shape = {kSize, kSize};
  const auto shape_vector = m.fbb().CreateVector(shape);
  const auto name = m.fbb().CreateString("w");
  schema::TensorBuilder tensor(m.fbb());
  tensor.add_shape(shape_vector);
  tensor.add_type(schema::TensorType::FLOAT32);
  tensor.add_name(name);
  tensor.add_external_buffer(7);
  return Finish(&m, m.AddRawTensor(tensor.Finish()));
}

TEST_F(LargeFile, weights_in_other_files_are_mapped_or_read) {
  std::filesystem::create_directory(folder_ + "/parts");
  for (const uint64_t offset : {uint64_t{0}, uint64_t{64}, uint64_t{3}, kFar}) {
    const std::string name = offset == 0 ? "weights.bin" : "parts/w" + std::to_string(offset);
    WriteModel(ModelWithFile(name, offset, kWeightBytes, offset == 0 ? "unpacked" : nullptr));
    WriteAt(folder_ + "/" + name, kWeights.data(), kWeightBytes, offset);
    if (IsSkipped()) return;
    EXPECT_EQ(Outputs(), (std::vector<float>{1, 5, 9, 13})) << offset;
    if (offset == kFar) continue;
    ReportLog log;
    const std::shared_ptr<const Model> copy = Model::FromFileByCopy(path_.c_str(), log.reporter());
    ASSERT_NE(copy, nullptr) << log.all();
    std::filesystem::resize_file(folder_ + "/" + name, 0);
    EXPECT_EQ(*reinterpret_cast<const float*>(copy->desc().subgraphs[0].tensors[0].data), 1.0f);
  }
}

TEST_F(LargeFile, invalid_external_buffers_are_refused) {
  WriteAt(folder_ + "/w", kWeights.data(), kWeightBytes, 0);
  const struct {
    std::vector<uint8_t> model;
    std::string reason;
  } kRows[] = {
      {ModelWithFile("w", 1),
       "external buffer 7: expected to end within the file's 64 bytes, found "
       "offset 1 size 64"},
      {ModelWithFile("w", UINT64_MAX, UINT64_MAX), "expected to end within the file's 64 bytes"},
      {ModelWithFile("absent", 0), "external buffer 7: Could not open '" + folder_ + "/absent'"},
      {ModelWithFile("", 0), "expected a relative path without '..', found ''"},
      {ModelWithFile("/etc/hostname", 0), "found '/etc/hostname'"},
      {ModelWithFile("../w", 0), "found '../w'"},
      {ModelWithFile("a/../../w", 0), "found 'a/../../w'"},
      {ModelWithFile(std::string("w\0x", 3), 0), "expected a relative path"},
      {ModelWithFile("w", 0, kWeightBytes, "int4"), "packing: expected 'unpacked', found 'int4'"},
      {ModelWithFile("w", 0, kWeightBytes, nullptr, 8),
       "tensor 0 'w': external buffer: expected one of 1 buffers, found id 7"},
  };
  for (const auto& row : kRows) {
    std::filesystem::remove(path_);
    WriteModel(row.model);
    EXPECT_THAT(ReasonOfRefusal(), HasSubstr(row.reason));
  }
  const LoadResult result = LoadBytes(ModelWithFile("w", 0));
  EXPECT_EQ(result.model, nullptr);
  ASSERT_EQ(result.reports.size(), 1u);
  EXPECT_THAT(result.reports[0], HasSubstr("tensor 0 'w': external buffer 7: expected a model that "
                                           "is loaded from a file, found a buffer"));
}

}  // namespace
}  // namespace deputy::large_file_test
