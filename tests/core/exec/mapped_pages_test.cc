// SPDX-License-Identifier: Apache-2.0
//
// Tests that the pages of a model file's mapping are released after the weights have been packed
// for the kernels; otherwise the weights would be in memory twice. The test reads the resident size
// from the system's statistics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "tests/support/model_builder.h"

namespace deputy::mapped_pages_test {
namespace {

constexpr int kColumns = 512, kDepth = 2048;

// y = W x, with 4 MiB of weights.
std::vector<uint8_t> LayerModel() {
  ModelBuilder m;
  std::vector<float> weights(size_t{kColumns} * kDepth);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
  const int x = m.AddTensor(kTfLiteFloat32, {4, kDepth}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kColumns, kDepth}, weights, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {4, kColumns}, "y");
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Returns the resident kilobytes of this process's mappings of `path`.
long ResidentKilobytes(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  long sum = 0;
  while (std::getline(maps, line)) {
    long resident = 0;
    if (line.find('-') < line.find(' ')) {
      inside = line.find(path) != std::string::npos;
    } else if (inside && std::sscanf(line.c_str(), "Rss: %ld kB", &resident) == 1) {
      sum += resident;
    }
  }
  return sum;
}

class MappedPages : public testing::Test {
 protected:
  MappedPages() {
    const int descriptor = mkstemp(path_.data());
    EXPECT_GE(descriptor, 0);
    const std::vector<uint8_t> bytes = LayerModel();
    FILE* const file = fdopen(descriptor, "wb");
    EXPECT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), file), bytes.size());
    EXPECT_EQ(std::fclose(file), 0);
    model_.reset(TfLiteModelCreateFromFile(path_.c_str()));
  }
  ~MappedPages() override { std::remove(path_.c_str()); }

  // Returns the layer's results for the inputs 0, 1, 2, ….
  std::vector<float> Run() {
    const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter(
        TfLiteInterpreterCreate(model_.get(), nullptr), TfLiteInterpreterDelete);
    EXPECT_EQ(TfLiteInterpreterAllocateTensors(interpreter.get()), kTfLiteOk);
    after_allocation_ = ResidentKilobytes(path_);
    std::vector<float> x(4 * kDepth), y(4 * kColumns);
    std::iota(x.begin(), x.end(), 0.0f);
    EXPECT_EQ(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter.get(), 0),
                                         x.data(), x.size() * sizeof(float)),
              kTfLiteOk);
    EXPECT_EQ(TfLiteInterpreterInvoke(interpreter.get()), kTfLiteOk);
    EXPECT_EQ(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0),
                                       y.data(), y.size() * sizeof(float)),
              kTfLiteOk);
    return y;
  }

  std::string path_ = testing::TempDir() + "mapped_pages_XXXXXX";
  std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model_{nullptr, TfLiteModelDelete};
  long after_allocation_ = 0;
};

TEST_F(MappedPages, are_released_when_constants_are_packed) {
  ASSERT_NE(model_, nullptr);
  const std::vector<float> first = Run();
  EXPECT_LT(after_allocation_, 1024) << "of 4096 kB of weights";
  EXPECT_LT(ResidentKilobytes(path_), 1024);
  // The first element of the result: the sum over d of the input d times the weight d % 7 - 3.
  double expected = 0;
  for (int d = 0; d < kDepth; ++d) expected += d * (d % 7 - 3.0);
  EXPECT_FLOAT_EQ(first[0], static_cast<float>(expected));
  EXPECT_EQ(Run(), first) << "another interpreter of the model";
}

}  // namespace
}  // namespace deputy::mapped_pages_test
