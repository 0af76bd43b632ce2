// SPDX-License-Identifier: Apache-2.0
//
// Tests how layers are divided into tasks for 2 to 16 threads. Nothing is timed: a job's tasks
// count as equally long, so that the longest thread has the share CeilDiv(tasks, threads) / tasks
// of a job. The numbers do not depend on the number of processors of the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/src/objects.h"
#include "core/base/processors.h"
#include "core/exec/interpreter.h"
#include "core/exec/op_listener.h"
#include "tests/support/model_builder.h"
#include "tests/support/owners.h"

namespace deputy::balance_test {
namespace {

// Writes the model of one case: an input, and a chain of nodes.
class Network {
 public:
  Network(TfLiteType type, const std::vector<int32_t>& shape) : type_(type) {
    first_ = last_ = Tensor(shape);
  }

  Network& Conv(int channels, int filter, int stride, schema::Padding padding) {
    const std::vector<int32_t> from = shape_;
    const int weights = Constant({channels, filter, filter, from[3]});
    const int bias = Bias(channels);
    Windows(filter, stride, padding, channels);
    return Node(kTfLiteBuiltinConv2d, {weights, bias},
                schema::CreateConv2DOptions(m_.fbb(), padding, stride, stride));
  }
  Network& Depthwise(int filter, int stride, schema::Padding padding) {
    const int channels = shape_[3];
    const int weights = Constant({1, filter, filter, channels});
    const int bias = Bias(channels);
    Windows(filter, stride, padding, channels);
    return Node(kTfLiteBuiltinDepthwiseConv2d, {weights, bias},
                schema::CreateDepthwiseConv2DOptions(m_.fbb(), padding, stride, stride, 1));
  }
  Network& GlobalAverage() {
    const int height = shape_[1], width = shape_[2];
    shape_[1] = shape_[2] = 1;
    return Node(kTfLiteBuiltinAveragePool2d, {},
                schema::CreatePool2DOptions(m_.fbb(), schema::Padding::VALID, 1, 1, width, height));
  }
  Network& FullyConnected(int columns) {
    const int weights = Constant({columns, shape_[1]});
    const int bias = Bias(columns);
    shape_[1] = columns;
    return Node(kTfLiteBuiltinFullyConnected, {weights, bias},
                schema::CreateFullyConnectedOptions(m_.fbb()));
  }
  Network& Transpose(const std::vector<int32_t>& order) {
    const int axes = m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(order.size())}, order);
    const std::vector<int32_t> from = shape_;
    for (size_t i = 0; i < order.size(); ++i) shape_[i] = from[static_cast<size_t>(order[i])];
    return Node(kTfLiteBuiltinTranspose, {axes}, schema::CreateTransposeOptions(m_.fbb()));
  }
  Network& Reshape(const std::vector<int32_t>& shape) {
    const int dims = m_.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(shape.size())}, shape);
    shape_ = shape;
    return Node(kTfLiteBuiltinReshape, {dims}, schema::CreateReshapeOptions(m_.fbb()));
  }
  Network& Logistic() {
    last_ = m_.AddTensor(type_, shape_);
    m_.AddOp(kTfLiteBuiltinLogistic, {first_}, {last_});
    return *this;
  }
  Network& Resize(int side) {
    const int sides = m_.AddConstant<int32_t>(kTfLiteInt32, {2}, {side, side});
    shape_[1] = shape_[2] = side;
    return Node(kTfLiteBuiltinResizeBilinear, {sides},
                schema::CreateResizeBilinearOptions(m_.fbb(), false, true));
  }
  Network& Softmax() {
    return Node(kTfLiteBuiltinSoftmax, {}, schema::CreateSoftmaxOptions(m_.fbb(), 1.0f));
  }

  std::vector<uint8_t> Finish() {
    m_.SetInputs({first_});
    m_.SetOutputs({last_});
    return m_.Finish();
  }

 private:
  static size_t CountOf(const std::vector<int32_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), size_t{1}, [](size_t product, int32_t dim) {
      return product * static_cast<size_t>(dim);
    });
  }
  int Tensor(const std::vector<int32_t>& shape) {
    shape_ = shape;
    return m_.AddTensor(type_, shape, "", type_ == kTfLiteInt8 ? Quantized(0.1f) : TensorExtras{});
  }
  static TensorExtras Quantized(float scale) { return {.scale = {scale}, .zero_point = {0}}; }
  int Constant(const std::vector<int32_t>& shape) {
    if (type_ == kTfLiteInt8) {
      std::vector<int8_t> values(CountOf(shape));
      for (int8_t& value : values) value = static_cast<int8_t>(random_());
      return m_.AddConstant<int8_t>(kTfLiteInt8, shape, values, "", Quantized(0.01f));
    }
    std::vector<float> values(CountOf(shape));
    std::normal_distribution<float> normal(0, 0.1f);
    for (float& value : values) value = normal(random_);
    return m_.AddConstant<float>(kTfLiteFloat32, shape, values);
  }
  int Bias(int count) {
    const auto size = static_cast<size_t>(count);
    if (type_ == kTfLiteInt8) {
      return m_.AddConstant<int32_t>(kTfLiteInt32, {count}, std::vector<int32_t>(size, 1), "",
                                     Quantized(0.001f));
    }
    return m_.AddConstant<float>(kTfLiteFloat32, {count}, std::vector<float>(size, 1.0f));
  }
  void Windows(int filter, int stride, schema::Padding padding, int channels) {
    const int lost = padding == schema::Padding::VALID ? filter - 1 : 0;
    for (size_t axis : {1, 2}) shape_[axis] = (shape_[axis] - lost + stride - 1) / stride;
    shape_[3] = channels;
  }
  template <typename Options>
  Network& Node(TfLiteBuiltinOperator code, const std::vector<int>& others,
                flatbuffers::Offset<Options> options) {
    std::vector<int> inputs = {last_};
    inputs.insert(inputs.end(), others.begin(), others.end());
    last_ = Tensor(shape_);
    m_.AddOp(code, inputs, {last_}, options, code == kTfLiteBuiltinConv2d ? 3 : 1);
    return *this;
  }

  ModelBuilder m_;
  std::mt19937 random_{3};
  const TfLiteType type_;
  std::vector<int32_t> shape_;
  int first_ = 0, last_ = 0;
};

// Remembers the number of tasks of each job of an inference.
class Jobs final : public OpListener {
 public:
  void BeginOp(int, int, const char*) override {}
  void EndOp(const OpEvent&) override {}
  uint32_t needs() const override { return kNeedsTiles; }
  void TilesDone(int, int, std::span<const TileWork> work) override {
    int tasks = 0;
    for (const TileWork& one : work) tasks += one.tiles;
    tasks_.push_back(tasks);
  }
  const std::vector<int>& tasks() const { return tasks_; }

 private:
  std::vector<int> tasks_;
};

// An inference of random input values: the tasks of its jobs, and the bytes of the output.
struct Inference {
  std::vector<int> jobs;
  std::vector<uint8_t> output;
};

Inference RunModel(const std::vector<uint8_t>& bytes, int threads) {
  const Owned<TfLiteModel> model(TfLiteModelCreate(bytes.data(), bytes.size()));
  const std::unique_ptr<DeputyThreadPool, decltype(&DeputyThreadPoolDelete)> pool(
      DeputyThreadPoolCreate(threads), &DeputyThreadPoolDelete);
  const Owned<TfLiteInterpreterOptions> options(TfLiteInterpreterOptionsCreate());
  DeputyInterpreterOptionsSetThreadPool(options.get(), pool.get());
  const Owned<TfLiteInterpreter> interpreter(TfLiteInterpreterCreate(model.get(), options.get()));
  if (interpreter == nullptr || TfLiteInterpreterAllocateTensors(interpreter.get()) != kTfLiteOk) {
    ADD_FAILURE() << "the model was not prepared";
    return {};
  }
  Jobs jobs;
  interpreter->impl->AddOpListener(&jobs);
  TfLiteTensor* const input = TfLiteInterpreterGetInputTensor(interpreter.get(), 0);
  std::mt19937 random(7);
  if (TfLiteTensorType(input) == kTfLiteInt8) {
    for (size_t i = 0; i < TfLiteTensorByteSize(input); ++i) {
      input->data.int8[i] = static_cast<int8_t>(random());
    }
  } else {
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < TfLiteTensorByteSize(input) / sizeof(float); ++i) {
      input->data.f[i] = normal(random);
    }
  }
  EXPECT_EQ(TfLiteInterpreterInvoke(interpreter.get()), kTfLiteOk);
  interpreter->impl->RemoveOpListener(&jobs);
  const TfLiteTensor* const output = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
  const auto* const first = static_cast<const uint8_t*>(TfLiteTensorData(output));
  return {jobs.tasks(), {first, first + TfLiteTensorByteSize(output)}};
}

struct Case {
  const char* name;
  std::function<std::vector<uint8_t>()> make;
  // Number of jobs before the layer's own that are too short to be divided: copies of the input.
  size_t short_jobs = 0;
};

constexpr schema::Padding kSame = schema::Padding::SAME, kValid = schema::Padding::VALID;

const Case kCases[] = {
    // MobileNetV2, EfficientNet, ResNet-50.
    {"strip_of_three_layers",
     [] {
       return Network(kTfLiteFloat32, {1, 112, 112, 16})
           .Conv(96, 1, 1, kSame)
           .Depthwise(3, 2, kSame)
           .Conv(24, 1, 1, kSame)
           .Finish();
     }},
    {"pointwise",
     [] {
       return Network(kTfLiteFloat32, {1, 28, 28, 192}).Conv(64, 1, 1, kSame).Finish();
     }},
    {"pointwise_of_few_pixels",
     [] {
       return Network(kTfLiteFloat32, {1, 7, 7, 320}).Conv(1280, 1, 1, kSame).Finish();
     }},
    {"windows",
     [] {
       return Network(kTfLiteFloat32, {1, 28, 28, 128}).Conv(128, 3, 2, kSame).Finish();
     }},
    {"winograd",
     [] {
       return Network(kTfLiteFloat32, {1, 56, 56, 64}).Conv(64, 3, 1, kSame).Finish();
     }},
    {"depthwise",
     [] {
       return Network(kTfLiteFloat32, {1, 28, 28, 192}).Depthwise(3, 1, kSame).Finish();
     }},
    {"depthwise_of_few_rows",
     [] {
       return Network(kTfLiteFloat32, {1, 7, 7, 960}).Depthwise(3, 1, kSame).Finish();
     }},
    {"depthwise_of_few_rows_with_stride",
     [] {
       return Network(kTfLiteFloat32, {1, 14, 14, 576}).Depthwise(5, 2, kSame).Finish();
     }},
    {"fully_connected",
     [] {
       return Network(kTfLiteFloat32, {1, 1280}).FullyConnected(1001).Finish();
     }},
    // Segmentation and landmarks, a conformer.
    {"windows_of_one_pixel",
     [] {
       return Network(kTfLiteFloat32, {1, 2, 2, 192}).Conv(1024, 2, 1, kValid).Finish();
     }},
    {"global_average",
     [] {
       return Network(kTfLiteFloat32, {1, 128, 128, 16}).GlobalAverage().Finish();
     }},
    {"transpose_with_a_short_first_axis",
     [] {
       return Network(kTfLiteFloat32, {1, 335, 10, 3, 80}).Transpose({3, 1, 2, 0, 4}).Finish();
     }},
    {"reshape_of_an_input",
     [] {
       return Network(kTfLiteFloat32, {335, 10, 80}).Reshape({1, 3350, 80}).Finish();
     }},
    {"softmax",
     [] {
       return Network(kTfLiteFloat32, {1, 512, 128}).Softmax().Finish();
     }},
    {"element_wise",
     [] {
       return Network(kTfLiteFloat32, {1, 112, 112, 24}).Logistic().Finish();
     }},
    {"resize",
     [] {
       return Network(kTfLiteFloat32, {1, 32, 32, 64}).Resize(64).Finish();
     }},
    // int8.
    {"pointwise_int8",
     [] {
       return Network(kTfLiteInt8, {1, 28, 28, 192}).Conv(64, 1, 1, kSame).Finish();
     }},
    {"windows_int8",
     [] {
       return Network(kTfLiteInt8, {1, 28, 28, 128}).Conv(128, 3, 1, kSame).Finish();
     },
     1},
    {"depthwise_int8",
     [] {
       return Network(kTfLiteInt8, {1, 28, 28, 192}).Depthwise(3, 1, kSame).Finish();
     }},
};

class Balance : public testing::TestWithParam<Case> {
 protected:
  // A fixed size of the cache, because it decides which layers are computed in strips.
  void SetUp() override { OverrideSecondLevelCache(1 << 20); }
  void TearDown() override { OverrideSecondLevelCache(0); }
};

TEST_P(Balance, no_thread_has_much_more_than_its_share) {
  const std::vector<uint8_t> bytes = GetParam().make();
  for (int threads : {2, 4, 8, 16}) {
    const std::vector<int> jobs = RunModel(bytes, threads).jobs;
    ASSERT_GT(jobs.size(), GetParam().short_jobs) << threads << " threads";
    for (size_t i = GetParam().short_jobs; i < jobs.size(); ++i) {
      const int tasks = jobs[i];
      const double longest = static_cast<double>((tasks + threads - 1) / threads) / tasks;
      // 1.0 is ideal: all threads have the same work.
      EXPECT_LE(longest * threads, 1.25) << threads << " threads, " << tasks << " tasks";
    }
  }
}

TEST_P(Balance, the_number_of_threads_changes_no_bit) {
  const std::vector<uint8_t> bytes = GetParam().make();
  const Inference alone = RunModel(bytes, 1);
  EXPECT_THAT(alone.output, testing::Contains(testing::Ne(0)));
  for (int threads : {2, 3, 4, 7, 8, 16}) {
    EXPECT_TRUE(RunModel(bytes, threads).output == alone.output) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, Balance, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace deputy::balance_test
