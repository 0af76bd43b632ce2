// SPDX-License-Identifier: Apache-2.0
//
// Tests precision fp16 with values near both ends of float16's range: sums, squares and products
// that float16 could not store, between inputs and outputs that are ordinary.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_half_test {
namespace {

constexpr TfLiteType kFloat = kTfLiteFloat32;
using Shape = std::vector<int32_t>;

// A model over two images x and z of [1, 4, 4, 8]; each Add function adds one output.
class RangeModel {
 public:
  RangeModel() : x_(Image("x")), z_(Image("z")) {}

  std::vector<uint8_t> Finish() {
    AddScaledSum();
    AddRootMeanSquare();
    AddScaledProduct();
    AddNorm();
    AddRunningSum();
    AddPools();
    AddDotProduct();
    AddDistance();
    m_.SetInputs({x_, z_});
    m_.SetOutputs(outputs_);
    return m_.Finish();
  }

 private:
  int Image(const std::string& name = "") { return m_.AddTensor(kFloat, {1, 4, 4, 8}, name); }
  int Constant(const Shape& shape, float value) {
    int count = 1;
    for (int extent : shape) count *= extent;
    return m_.AddConstant<float>(kFloat, shape,
                                 std::vector<float>(static_cast<size_t>(count), value));
  }
  int Ints(const std::vector<int32_t>& values) {
    return m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int32_t>(values.size())}, values);
  }
  int Mul(int a, int b, const Shape& shape) {
    const int y = m_.AddTensor(kFloat, shape);
    m_.AddOp(kTfLiteBuiltinMul, {a, b}, {y}, schema::CreateMulOptions(m_.fbb()));
    return y;
  }
  int Conv(int image, float weight, const Shape& shape) {
    const int y = m_.AddTensor(kFloat, shape);
    m_.AddOp(kTfLiteBuiltinConv2d,
             {image, Constant({shape[3], 1, 1, 8}, weight), Constant({shape[3]}, 0)}, {y},
             schema::CreateConv2DOptions(m_.fbb(), schema::Padding::VALID, 1, 1));
    return y;
  }
  int Reduce(TfLiteBuiltinOperator code, int from, const std::vector<int32_t>& axes,
             const Shape& shape) {
    const int y = m_.AddTensor(kFloat, shape);
    m_.AddOp(code, {from, Ints(axes)}, {y}, schema::CreateReducerOptions(m_.fbb(), true));
    return y;
  }
  int Unary(TfLiteBuiltinOperator code, int from, const Shape& shape) {
    const int y = m_.AddTensor(kFloat, shape);
    m_.AddOp(code, {from}, {y});
    return y;
  }
  void Output(int tensor) { outputs_.push_back(tensor); }

  void AddScaledSum() {
    const int sum = Reduce(kTfLiteBuiltinSum, x_, {1, 2}, {1, 1, 1, 8});
    Output(Conv(Mul(sum, Constant({}, 1.0F / 16), {1, 1, 1, 8}), 0.125F, {1, 1, 1, 4}));
  }
  void AddRootMeanSquare() {
    const Shape shape = {1, 4, 4, 1};
    const int mean = Reduce(kTfLiteBuiltinMean, Mul(x_, x_, {1, 4, 4, 8}), {3}, shape);
    const int sum = m_.AddTensor(kFloat, shape);
    m_.AddOp(kTfLiteBuiltinAdd, {mean, Constant({}, 1e-12F)}, {sum},
             schema::CreateAddOptions(m_.fbb()));
    Output(Mul(x_, Unary(kTfLiteBuiltinRsqrt, sum, shape), {1, 4, 4, 8}));
  }
  void AddScaledProduct() {
    const int product = Mul(x_, z_, {1, 4, 4, 8});
    Output(Conv(Mul(product, Constant({}, 1e-8F), {1, 4, 4, 8}), 0.5F, {1, 4, 4, 4}));
  }
  void AddNorm() {
    const int y = Image();
    m_.AddOp(kTfLiteBuiltinL2Normalization, {x_}, {y}, schema::CreateL2NormOptions(m_.fbb()));
    Output(Unary(kTfLiteBuiltinNeg, y, {1, 4, 4, 8}));
  }
  void AddRunningSum() {
    const int sums = Image();
    m_.AddOp(kTfLiteBuiltinCumsum, {x_, m_.AddConstant<int32_t>(kTfLiteInt32, {}, {1})}, {sums},
             schema::CreateCumsumOptions(m_.fbb()));
    Output(Mul(sums, Constant({}, 1e-5F), {1, 4, 4, 8}));
  }
  int Pool(TfLiteBuiltinOperator code, int from, int size, const Shape& shape) {
    const int y = m_.AddTensor(kFloat, shape);
    m_.AddOp(code, {from}, {y},
             schema::CreatePool2DOptions(m_.fbb(), schema::Padding::VALID, 1, 1, size, size));
    return y;
  }
  void AddPools() {
    const int largest = Pool(kTfLiteBuiltinMaxPool2d, x_, 1, {1, 4, 4, 8});
    const int mean = Pool(kTfLiteBuiltinAveragePool2d, largest, 4, {1, 1, 1, 8});
    Output(Unary(kTfLiteBuiltinNeg, mean, {1, 1, 1, 8}));
  }
  void AddDotProduct() {
    const int row = m_.AddTensor(kFloat, {1, 128}), y = m_.AddTensor(kFloat, {1, 4});
    m_.AddOp(kTfLiteBuiltinReshape, {Unary(kTfLiteBuiltinAbs, x_, {1, 4, 4, 8}), Ints({1, 128})},
             {row}, schema::CreateReshapeOptions(m_.fbb()));
    m_.AddOp(kTfLiteBuiltinFullyConnected, {row, Constant({4, 128}, 0.01F), -1}, {y},
             schema::CreateFullyConnectedOptions(m_.fbb()));
    Output(Mul(y, Constant({}, 1e-3F), {1, 4}));
  }
  void AddDistance() {
    const int squares = Image();
    m_.AddOp(kTfLiteBuiltinSquaredDifference, {x_, z_}, {squares},
             schema::CreateSquaredDifferenceOptions(m_.fbb()));
    const int sum = Reduce(kTfLiteBuiltinSum, squares, {3}, {1, 4, 4, 1});
    Output(Unary(kTfLiteBuiltinSqrt, sum, {1, 4, 4, 1}));
  }

  ModelBuilder m_;
  const int x_, z_;
  std::vector<int32_t> outputs_;
};

// Returns the expected first element of each output of RangeModel, for images whose elements all
// equal x or z. Other elements equal the first, except those of the running sum, which grow from
// row to row.
std::vector<double> Expected(double x, double z) {
  return {x,
          x / std::sqrt(x * x + 1e-12),
          8 * 0.5 * x * z * 1e-8,
          -1 / std::sqrt(8.0),
          x * 1e-5,
          -x,
          128 * x * 0.01 * 1e-3,
          std::sqrt(8 * (x - z) * (x - z))};
}

constexpr int kRunningSum = 4;

class GpuHalfTest : public SpiedDeviceTest {
 protected:
  void ExpectResults(const OptionTexts& options, double tolerance) {
    const TestDelegate gpu(spy_->api(), options);
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(RangeModel().Finish());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).partition_count, 1) << "all nodes are the delegate's";
    for (const float x : {20000.0F, 2e-4F}) {
      t.Set<float>(0, std::vector<float>(128, x));
      t.Set<float>(1, std::vector<float>(128, x / 2));
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      const std::vector<double> expected = Expected(x, x / 2);
      for (int i = 0; i < static_cast<int>(expected.size()); ++i) {
        CompareOutput(t.Get<float>(i), expected[static_cast<size_t>(i)], i == kRunningSum,
                      tolerance, "output " + std::to_string(i) + " of " + std::to_string(x));
      }
    }
  }

  static void CompareOutput(const std::vector<float>& found, double expected, bool rows_grow,
                            double tolerance, const std::string& text) {
    constexpr size_t kRow = 32;
    for (size_t i = 0; i < found.size(); ++i) {
      const double value = expected * (rows_grow ? static_cast<double>(i / kRow + 1) : 1);
      ASSERT_NEAR(found[i], value, tolerance * std::fabs(value)) << text << ", element " << i;
    }
  }
};

TEST_F(GpuHalfTest, values_that_float16_cannot_store_on_processors) {
  ExpectResults({{"precision", "fp16"}, {"device_class", "cpu"}}, 4e-3);
}

TEST_F(GpuHalfTest, values_that_float16_cannot_store_on_desktop_gpus) {
  ExpectResults({{"precision", "fp16"}, {"device_class", "desktop"}}, 4e-3);
}

TEST_F(GpuHalfTest, values_that_float16_cannot_store_on_mobile_gpus) {
  ExpectResults({{"precision", "fp16"}, {"device_class", "mobile"}}, 4e-3);
}

TEST_F(GpuHalfTest, the_same_model_in_float32) { ExpectResults({{"precision", "fp32"}}, 1e-5); }

}  // namespace
}  // namespace deputy::gpu_cl::gpu_half_test
