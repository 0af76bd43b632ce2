// SPDX-License-Identifier: Apache-2.0
//
// Nodes that run as steps compute the bits that they compute one by one: random graphs, with
// several readers, outputs in the middle and delegates, run with DEPUTY_PLAN=steps and without.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

#include "c_api/include/deputy.h"
#include "c_api/include/telemetry_profiler.h"
#include "tests/delegate_support.h"
#include "tests/model_builder.h"
#include "tests/test_interpreter.h"

namespace deputy {
namespace {

using Shape = std::vector<int32_t>;

// RAII guard: whether interpreters that are created meanwhile run nodes as steps. Guards may nest.
class InSteps {
 public:
  explicit InSteps(bool on) : was_on_(getenv("DEPUTY_PLAN") != nullptr) { Set(on); }
  ~InSteps() { Set(was_on_); }

 private:
  static void Set(bool on) { on ? setenv("DEPUTY_PLAN", "steps", 1) : unsetenv("DEPUTY_PLAN"); }

  const bool was_on_;
};

class Steps : public testing::Test {
 private:
  const InSteps guard_{true};
};

// Writes a graph of layers and of nodes that work element by element.
class GraphWriter {
 public:
  GraphWriter(uint32_t seed, TfLiteType type) : random_(seed), type_(type) {}

  struct Value {
    int tensor;
    Shape shape;
  };

  std::vector<uint8_t> Write(int nodes) {
    Value value = {Tensor({1, Pick(2, 21), Pick(2, 21), Channels()}), {}};
    value.shape = shape_;
    std::vector<int32_t> inputs = {value.tensor}, outputs;
    values_.push_back(value);
    for (int n = 0; n < nodes; ++n) {
      AddNode();
      if (Pick(0, 9) == 0) outputs.push_back(values_.back().tensor);
    }
    // The last, if it is none yet.
    if (outputs.empty() || outputs.back() != values_.back().tensor) {
      outputs.push_back(values_.back().tensor);
    }
    m_.SetInputs(inputs);
    m_.SetOutputs(outputs);
    return m_.Finish();
  }

  // Nodes that the scripted delegate can compute.
  const std::set<int>& sums() const { return sums_; }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  int Channels() {
    static constexpr int kChannels[] = {1, 2, 3, 8, 16, 24, 33, 130};
    return kChannels[Pick(0, 7)];
  }
  bool is_float() const { return type_ == kTfLiteFloat32; }
  static int Count(const Shape& shape) {
    int count = 1;
    for (int extent : shape) count *= extent;
    return count;
  }

  int Tensor(const Shape& shape) {
    shape_ = shape;
    return m_.AddTensor(type_, shape, "", Scale(0.05f, 3));
  }
  TensorExtras Scale(float scale, int64_t zero) const {
    if (is_float()) return {};
    return {.scale = {scale}, .zero_point = {zero}};
  }
  std::vector<float> Floats(int count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(Pick(-1000, 1000)) / 1000;
    return values;
  }
  int Constant(const Shape& shape, float scale = 0.02f, int64_t zero = 0) {
    if (is_float()) return m_.AddConstant<float>(type_, shape, Floats(Count(shape)));
    std::vector<int8_t> values(static_cast<size_t>(Count(shape)));
    for (int8_t& value : values) value = static_cast<int8_t>(Pick(-127, 127));
    return m_.AddConstant<int8_t>(type_, shape, values, "", Scale(scale, zero));
  }
  int Bias(int channels) {
    if (is_float()) return Constant({channels});
    std::vector<int32_t> values(static_cast<size_t>(channels));
    for (int32_t& value : values) value = Pick(-5000, 5000);
    return m_.AddConstant<int32_t>(kTfLiteInt32, {channels}, values, "", Scale(0.001f, 0));
  }

  // Mostly the newest value, so that there are chains.
  const Value& Source() {
    const int last = static_cast<int>(values_.size()) - 1;
    return values_[static_cast<size_t>(Pick(0, 3) > 0 ? last : Pick(0, last))];
  }
  void Made(const Shape& shape, int tensor) {
    values_.push_back({tensor, shape});
    ++node_;
  }

  void AddConv(const Value& from, int filter, int channels) {
    Shape shape = from.shape;
    const int weights = Constant({channels, filter, filter, shape[3]}), bias = Bias(channels);
    shape[3] = channels;
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinConv2d, {from.tensor, weights, bias}, {out},
             schema::CreateConv2DOptions(m_.fbb(), schema::Padding::SAME, 1, 1,
                                         schema::ActivationFunctionType::RELU6),
             is_float() ? 1 : 3);
    Made(shape, out);
  }
  void AddDepthwise(const Value& from) {
    const Shape shape = from.shape;
    const int weights = Constant({1, 3, 3, shape[3]}), bias = Bias(shape[3]);
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinDepthwiseConv2d, {from.tensor, weights, bias}, {out},
             schema::CreateDepthwiseConv2DOptions(m_.fbb(), schema::Padding::SAME, 1, 1, 1),
             is_float() ? 1 : 3);
    Made(shape, out);
  }
  void AddTransposed(const Value& from) {
    if (Count(from.shape) > 20000) return AddDepthwise(from);
    const int channels = Pick(1, 5);
    const Shape shape = {1, from.shape[1] * 2, from.shape[2] * 2, channels};
    const int weights = Constant({channels, 2, 2, from.shape[3]}), bias = Bias(channels);
    const int sizes = m_.AddConstant<int32_t>(kTfLiteInt32, {4}, shape);
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinTransposeConv, {sizes, weights, from.tensor, bias}, {out},
             schema::CreateTransposeConvOptions(m_.fbb(), schema::Padding::SAME, 2, 2), 3);
    Made(shape, out);
  }

  void AddMap(const Value& from) {
    static constexpr TfLiteBuiltinOperator kMaps[] = {
        kTfLiteBuiltinRelu, kTfLiteBuiltinRelu6, kTfLiteBuiltinHardSwish, kTfLiteBuiltinReluN1To1,
        kTfLiteBuiltinElu,  kTfLiteBuiltinTanh,  kTfLiteBuiltinLogistic};
    const Shape shape = from.shape;
    // The scales of TANH and LOGISTIC of int8 are fixed.
    const TfLiteBuiltinOperator code = kMaps[Pick(0, is_float() ? 6 : 4)];
    const int out = Tensor(shape);
    m_.AddOp(code, {from.tensor}, {out});
    Made(shape, out);
  }
  // float16 slopes are unpacked by a node that stands between the layer and its PRELU.
  void AddPrelu(const Value& from) {
    const Shape shape = from.shape;
    const Shape slopes =
        Pick(0, 2) > 0 ? Shape{1, 1, shape[3]} : Shape{shape[1], shape[2], shape[3]};
    int alpha = Constant(slopes);
    if (is_float() && Pick(0, 1) > 0) {
      std::vector<uint16_t> halves(static_cast<size_t>(Count(slopes)));
      for (uint16_t& half : halves) half = static_cast<uint16_t>(Pick(0x3000, 0x3bff));
      const int packed = m_.AddConstant<uint16_t>(kTfLiteFloat16, slopes, halves);
      alpha = m_.AddTensor(kTfLiteFloat32, slopes);
      m_.AddOp(kTfLiteBuiltinDequantize, {packed}, {alpha});
      ++node_;
    }
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinPrelu, {from.tensor, alpha}, {out});
    Made(shape, out);
  }
  void AddArithmetic(const Value& from) {
    const Shape shape = from.shape;
    std::vector<int> alike;
    for (const Value& value : values_) {
      if (value.shape == shape) alike.push_back(value.tensor);
    }
    const int kind = Pick(0, 5), code = Pick(0, 2);
    int other = alike[static_cast<size_t>(Pick(0, static_cast<int>(alike.size()) - 1))];
    if (kind == 0) other = Constant({shape[3]}, 0.05f, 3);
    if (kind == 1) other = Constant({1}, 0.05f, 3);
    if (kind == 2) other = Constant({1, shape[1], shape[2], 1}, 0.05f, 3);
    const bool swapped = Pick(0, 3) == 0;
    const std::vector<int32_t> inputs = {swapped ? other : from.tensor,
                                         swapped ? from.tensor : other};
    const int out = Tensor(shape);
    const auto none = schema::ActivationFunctionType::NONE;
    if (code == 0) {
      m_.AddOp(kTfLiteBuiltinAdd, inputs, {out}, schema::CreateAddOptions(m_.fbb(), none));
      if (kind > 2) sums_.insert(node_);
    } else if (code == 1) {
      m_.AddOp(kTfLiteBuiltinMul, inputs, {out}, schema::CreateMulOptions(m_.fbb(), none));
    } else {
      m_.AddOp(kTfLiteBuiltinSub, inputs, {out},
               schema::CreateSubOptions(m_.fbb(), schema::ActivationFunctionType::RELU6));
    }
    Made(shape, out);
  }

  void AddNode() {
    const Value from = Source();
    switch (Pick(0, 9)) {
      case 0:
        return AddConv(from, 1, Channels());
      case 1:
        return AddConv(from, 3, Channels());
      case 2:
        return AddDepthwise(from);
      case 3:
        return AddTransposed(from);
      case 4:
      case 5:
        return AddPrelu(from);
      case 6:
        return AddMap(from);
      default:
        return AddArithmetic(from);
    }
  }

  std::mt19937 random_;
  const TfLiteType type_;
  ModelBuilder m_;
  std::vector<Value> values_;
  std::set<int> sums_;
  Shape shape_;
  int node_ = 0;
};

void FillInput(TfLiteInterpreter* interpreter, TfLiteType type, uint32_t seed) {
  std::mt19937 random(seed);
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, 0);
  for (size_t i = 0; i < TfLiteTensorByteSize(input) / (type == kTfLiteFloat32 ? 4 : 1); ++i) {
    const int number = std::uniform_int_distribution<int>(-100, 100)(random);
    if (type == kTfLiteFloat32) {
      static_cast<float*>(TfLiteTensorData(input))[i] = static_cast<float>(number) / 40;
    } else {
      static_cast<int8_t*>(TfLiteTensorData(input))[i] = static_cast<int8_t>(number);
    }
  }
}

std::vector<std::string> Outputs(TfLiteInterpreter* interpreter) {
  std::vector<std::string> outputs;
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter, i);
    outputs.emplace_back(static_cast<const char*>(TfLiteTensorData(output)),
                         TfLiteTensorByteSize(output));
  }
  return outputs;
}

// Nodes that follow others.
int Followers(const TfLiteInterpreter* interpreter) {
  int followers = 0;
  for (int node = 0;; ++node) {
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    if (DeputyInterpreterGetNodeRun(interpreter, 0, node, &run) != kTfLiteOk) return followers;
    followers += run.step_head >= 0 && run.step_head != node;
  }
}

struct Way {
  bool node_by_node = false;
  int threads = 1;
  // The scripted delegate takes these, before or after tensors are allocated.
  std::set<int> claims = {};
  bool late = false;
};

struct Found {
  std::vector<std::vector<std::string>> outputs;  // of each inference
  int followers = 0;
};

Found RunGraph(const std::vector<uint8_t>& model, TfLiteType type, const Way& way) {
  const InSteps guard(!way.node_by_node);
  Scripted delegate(way.claims);
  Found found;
  TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, way.threads);
    if (!way.claims.empty() && !way.late) {
      TfLiteInterpreterOptionsAddDelegate(options, delegate.get());
    }
  });
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return found;
  }
  for (uint32_t inference = 0; inference < 3; ++inference) {
    if (inference == 2 && way.late && !way.claims.empty()) {
      EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
      EXPECT_EQ(t.Allocate(), kTfLiteOk);
    }
    FillInput(t.get(), type, inference);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    found.outputs.push_back(Outputs(t.get()));
  }
  found.followers = Followers(t.get());
  return found;
}

void CompareGraphs(TfLiteType type, uint32_t first_seed, uint32_t count, int fewest_followers) {
  int followers = 0;
  for (uint32_t seed = first_seed; seed < first_seed + count; ++seed) {
    GraphWriter writer(seed, type);
    const std::vector<uint8_t> model = writer.Write(4 + static_cast<int>(seed % 20));
    const Found expected = RunGraph(model, type, {.node_by_node = true});
    EXPECT_EQ(expected.followers, 0);
    for (int threads = 1; threads <= 3; ++threads) {
      const Found found = RunGraph(model, type, {.threads = threads});
      EXPECT_TRUE(found.outputs == expected.outputs) << "seed " << seed << ", threads " << threads;
      followers += found.followers;
    }
  }
  EXPECT_GE(followers, fewest_followers);
  std::printf("%d followers\n", followers);
}

TEST_F(Steps, float_graphs_have_the_bits_of_single_nodes) {
  CompareGraphs(kTfLiteFloat32, 0, 150, 900);
}

TEST_F(Steps, int8_graphs_have_the_bits_of_single_nodes) {
  CompareGraphs(kTfLiteInt8, 1000, 150, 900);
}

TEST_F(Steps, delegates_may_come_before_and_after) {
  int computed = 0;
  for (uint32_t seed = 2000; seed < 2100; ++seed) {
    GraphWriter writer(seed, kTfLiteFloat32);
    const std::vector<uint8_t> model = writer.Write(16);
    if (writer.sums().empty()) continue;
    for (const bool late : {false, true}) {
      Way way = {.node_by_node = true, .claims = writer.sums(), .late = late};
      const Found expected = RunGraph(model, kTfLiteFloat32, way);
      way.node_by_node = false;
      way.threads = 2;
      const Found found = RunGraph(model, kTfLiteFloat32, way);
      EXPECT_TRUE(found.outputs == expected.outputs) << "seed " << seed << (late ? ", late" : "");
      computed += found.followers;
    }
  }
  EXPECT_GT(computed, 100);
}

// CONV_2D, RELU, ADD over a picture of 3x4 pixels with 2 channels.
std::vector<uint8_t> SmallModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 3, 4, 2});
  const int w = m.AddConstant<float>(kTfLiteFloat32, {2, 1, 1, 2}, {1, -1, 0.5f, 2});
  const int b = m.AddConstant<float>(kTfLiteFloat32, {2}, {0, -3});
  const int c = m.AddTensor(kTfLiteFloat32, {1, 3, 4, 2}),
            r = m.AddTensor(kTfLiteFloat32, {1, 3, 4, 2});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 3, 4, 2});
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {c},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.AddOp(kTfLiteBuiltinRelu, {c}, {r});
  m.AddOp(kTfLiteBuiltinAdd, {r, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> Counted() {
  std::vector<float> values(24);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST_F(Steps, node_run_says_who_runs_with_whom) {
  TestInterpreter t(SmallModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  for (int node = 0; node < 3; ++node) {
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    ASSERT_EQ(DeputyInterpreterGetNodeRun(t.get(), 0, node, &run), kTfLiteOk);
    EXPECT_EQ(run.step_head, 0);
    EXPECT_EQ(run.step_nodes, 3);
    EXPECT_EQ(run.runner, node);
  }
}

TEST_F(Steps, reference_arithmetic_and_validation_know_none) {
  TestInterpreter exact(SmallModel(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  });
  ASSERT_EQ(exact.Allocate(), kTfLiteOk);
  EXPECT_EQ(Followers(exact.get()), 0);
  setenv("DEPUTY_VALIDATION", "1", 1);
  TestInterpreter observed(SmallModel());
  unsetenv("DEPUTY_VALIDATION");
  ASSERT_EQ(observed.Allocate(), kTfLiteOk);
  EXPECT_EQ(Followers(observed.get()), 0);
}

// The client has put input and output into the same memory, which is fine node by node.
TEST_F(Steps, memory_of_the_clients_is_looked_at) {
  TestInterpreter t(SmallModel());
  alignas(64) static float memory[24];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  for (int tensor : {TfLiteInterpreterInputTensorIndices(t.get())[0],
                     TfLiteInterpreterOutputTensorIndices(t.get())[0]}) {
    ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), tensor, &allocation, 0),
              kTfLiteOk);
  }
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(Followers(t.get()), 2);
  const std::vector<float> input = Counted();
  std::copy(input.begin(), input.end(), memory);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  for (size_t i = 0; i < 24; i += 2) {
    const float a = input[i], b = input[i + 1];
    EXPECT_EQ(memory[i], std::max(0.0f, a - b) + a);
    EXPECT_EQ(memory[i + 1], std::max(0.0f, 0.5f * a + 2 * b - 3) + b);
  }
}

// A profile has the head only, and what it took is the step's.
TEST_F(Steps, a_profile_counts_the_head) {
  TestInterpreter t(SmallModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(
                t.get(), [](void*, const DeputyOpEvent*) {}, nullptr),
            kTfLiteOk);
  t.Set(0, Counted());
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  for (int node = 0; node < 3; ++node) {
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    ASSERT_EQ(DeputyInterpreterGetNodeRun(t.get(), 0, node, &run), kTfLiteOk);
    EXPECT_EQ(run.runs, node == 0 ? 1 : 0);
  }
}

// The events of the telemetry profiler are those of TensorFlow Lite: one for each node.
TEST_F(Steps, telemetry_has_each_node) {
  static int events;
  events = 0;
  TfLiteTelemetryProfilerStruct profiler = {};
  profiler.ReportBeginOpInvokeEvent = [](TfLiteTelemetryProfilerStruct*, const char*, int64_t node,
                                         int64_t) {
    ++events;
    return static_cast<uint32_t>(node);
  };
  TestInterpreter t(SmallModel(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetTelemetryProfiler(options, &profiler);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Set(0, Counted());
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(events, 3);
}

TEST_F(Steps, another_shape_makes_other_steps) {
  TestInterpreter t(SmallModel());
  for (int height : {3, 5, 1}) {
    ASSERT_EQ(t.Resize(0, {1, height, 4, 2}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(Followers(t.get()), 2);
    std::vector<float> input(static_cast<size_t>(height) * 8, 1.0f);
    t.Set(0, input);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    for (size_t i = 0; i < input.size(); i += 2) {
      EXPECT_EQ(t.Get<float>(0)[i], 1.0f);
      EXPECT_EQ(t.Get<float>(0)[i + 1], 1.0f);
    }
  }
}

}  // namespace
}  // namespace deputy
