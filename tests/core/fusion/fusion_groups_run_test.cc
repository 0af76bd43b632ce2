// SPDX-License-Identifier: Apache-2.0
//
// Tests that nodes in fusion groups compute the same bits as single nodes: random graphs, with
// several consumers, intermediate outputs and delegates, run with and without DEPUTY_PLAN=off.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "c_api/include/deputy.h"
#include "c_api/include/telemetry_profiler.h"
#include "kernels/cpu/cpu.h"
#include "tests/core/fusion/run_support.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/kernels/cpu/tiles_in_memory.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::fusion_groups_run_test {
namespace {

using Shape = std::vector<int32_t>;

class FusedGraphs : public testing::Test {
 private:
  const ScopedFusion guard_{true};
};

// Writes a graph of layers and following nodes, in float32 or int8.
class GraphWriter {
 public:
  explicit GraphWriter(uint32_t seed, TfLiteType type = kTfLiteFloat32)
      : random_(seed), type_(type) {}

  struct Value {
    int tensor;
    Shape shape;
  };

  std::vector<uint8_t> Write(int nodes) {
    Value value = {Tensor({Pick(1, 2), Pick(3, 21), Pick(3, 21), Channels()}), {}};
    value.shape = shape_;
    std::vector<int32_t> inputs = {value.tensor}, outputs;
    values_.push_back(value);
    for (int n = 0; n < nodes; ++n) {
      AddNode();
      if (Pick(0, 9) == 0) outputs.push_back(values_.back().tensor);
    }
    // The last value is always an output.
    if (outputs.empty() || outputs.back() != values_.back().tensor) {
      outputs.push_back(values_.back().tensor);
    }
    m_.SetInputs(inputs);
    m_.SetOutputs(outputs);
    return m_.Finish();
  }

  // Returns the nodes that the scripted delegate can compute.
  const std::set<int>& sums() const { return sums_; }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  int Channels() {
    static constexpr int kChannels[] = {1, 3, 8, 16, 20, 24, 33, 64, 70, 130};
    return kChannels[Pick(0, 9)];
  }
  static int Count(const Shape& shape) {
    int count = 1;
    for (int extent : shape) count *= extent;
    return count;
  }

  int Tensor(const Shape& shape) {
    shape_ = shape;
    if (!is_int8()) return m_.AddTensor(kTfLiteFloat32, shape);
    const float scale = 0.01f * static_cast<float>(Pick(3, 9));
    const int tensor = m_.AddTensor(kTfLiteInt8, shape, "", Quantized(scale, Pick(-20, 20)));
    scales_[tensor] = scale;
    return tensor;
  }
  static TensorExtras Quantized(float scale, int zero_point) {
    TensorExtras extras;
    extras.scale = {scale};
    extras.zero_point = {zero_point};
    return extras;
  }
  bool is_int8() const { return type_ == kTfLiteInt8; }
  template <typename T>
  std::vector<T> Numbers(const Shape& shape, int most, T unit) {
    std::vector<T> values(static_cast<size_t>(Count(shape)));
    for (T& value : values) value = static_cast<T>(static_cast<T>(Pick(-most, most)) / unit);
    return values;
  }
  int Constant(const Shape& shape) {
    if (!is_int8()) {
      return m_.AddConstant<float>(kTfLiteFloat32, shape, Numbers(shape, 1000, 1000.0f));
    }
    return m_.AddConstant<int8_t>(kTfLiteInt8, shape, Numbers<int8_t>(shape, 127, 1), "",
                                  Quantized(kWeightScale, 0));
  }
  // Adds the bias of a layer that reads `from`.
  int Bias(const Value& from, int channels) {
    if (!is_int8()) return Constant({channels});
    return m_.AddConstant<int32_t>(kTfLiteInt32, {channels}, Numbers<int32_t>({channels}, 9999, 1),
                                   "", Quantized(scales_[from.tensor] * kWeightScale, 0));
  }
  schema::ActivationFunctionType Activation() {
    static constexpr schema::ActivationFunctionType kTypes[] = {
        schema::ActivationFunctionType::NONE, schema::ActivationFunctionType::NONE,
        schema::ActivationFunctionType::RELU, schema::ActivationFunctionType::RELU6,
        schema::ActivationFunctionType::RELU_N1_TO_1};
    return kTypes[Pick(0, 4)];
  }

  // Returns a random value: mostly the newest one, so that chains occur.
  const Value& Source() {
    const int last = static_cast<int>(values_.size()) - 1;
    return values_[static_cast<size_t>(Pick(0, 3) > 0 ? last : Pick(0, last))];
  }
  void Made(const Shape& shape, int tensor) {
    values_.push_back({tensor, shape});
    ++node_;
  }

  // Adds a layer, sometimes after a PAD or a MUL.
  void AddLayer(Value from) {
    if (!is_int8() && Pick(0, 5) == 0) from = AddScale(from);
    if (Pick(0, 3) == 0) {
      from = AddPad(from, {Pick(0, 2), Pick(0, 2), Pick(0, 2), Pick(0, 2)}, 0);
      // A node between the PAD and the layer; its output needs memory at that position.
      if (Pick(0, 1) == 0) AddMap(Source());
    }
    const bool depthwise = Pick(0, 1) == 0;
    const int stride = Pick(0, 3) == 0 ? 2 : 1;
    int filter = std::array{1, 1, 3, 5}[static_cast<size_t>(Pick(0, 3))];
    if (std::min(from.shape[1], from.shape[2]) < filter) filter = 1;
    const bool same = Pick(0, 1) == 0;
    Shape shape = from.shape;
    for (size_t axis : {1u, 2u}) {
      shape[axis] = (shape[axis] - (same ? 1 : filter)) / stride + 1;
    }
    if (!depthwise) shape[3] = Channels();
    const int bias = Bias(from, shape[3]);
    const auto padding = same ? schema::Padding::SAME : schema::Padding::VALID;
    if (depthwise) {
      const int weights = Constant({1, filter, filter, shape[3]});
      const int out = Tensor(shape);
      m_.AddOp(
          kTfLiteBuiltinDepthwiseConv2d, {from.tensor, weights, bias}, {out},
          schema::CreateDepthwiseConv2DOptions(m_.fbb(), padding, stride, stride, 1, Activation()));
      return Made(shape, out);
    }
    const int weights = Constant({shape[3], filter, filter, from.shape[3]});
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinConv2d, {from.tensor, weights, bias}, {out},
             schema::CreateConv2DOptions(m_.fbb(), padding, stride, stride, Activation()));
    Made(shape, out);
  }

  // Adds strided pointwise layers, mostly after a layer, or after the ADD or MUL that follows it.
  void AddStrided(Value from) {
    if (Pick(0, 3) > 0) {
      AddLayer(from);
      if (Pick(0, 1) == 0) {
        const Value made = values_.back();
        is_int8() ? AddResidual(made) : AddArithmetic(made);
      }
      from = values_.back();
    }
    const int stride = Pick(2, 3);
    Shape shape = from.shape;
    for (size_t axis : {1u, 2u}) shape[axis] = (shape[axis] - 1) / stride + 1;
    for (int layers = Pick(1, 2); layers > 0; --layers) {
      shape[3] = Channels();
      const int weights = Constant({shape[3], 1, 1, from.shape[3]}), bias = Bias(from, shape[3]);
      const int out = Tensor(shape);
      m_.AddOp(kTfLiteBuiltinConv2d, {from.tensor, weights, bias}, {out},
               schema::CreateConv2DOptions(m_.fbb(), schema::Padding::VALID, stride, stride,
                                           Activation()));
      Made(shape, out);
    }
  }

  // Multiplies the channels of `from` by factors, which are constants or computed from all pixels.
  Value AddScale(const Value& from) {
    const Shape shape = from.shape;
    int factors = -1;
    if (shape[0] == 1 && Pick(0, 2) > 0) {
      factors = m_.AddTensor(kTfLiteFloat32, {1, 1, 1, shape[3]});
      const int axes = m_.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2});
      m_.AddOp(kTfLiteBuiltinMean, {from.tensor, axes}, {factors},
               schema::CreateReducerOptions(m_.fbb(), true));
      ++node_;
    } else {
      factors = Constant(Pick(0, 1) == 0 ? Shape{shape[3]} : Shape{1, 1, 1, shape[3]});
    }
    const bool swapped = Pick(0, 1) == 0;
    const std::vector<int32_t> inputs = {swapped ? factors : from.tensor,
                                         swapped ? from.tensor : factors};
    const int out = Tensor(shape);
    const auto activation = Pick(0, 3) > 0 ? schema::ActivationFunctionType::NONE : Activation();
    m_.AddOp(kTfLiteBuiltinMul, inputs, {out}, schema::CreateMulOptions(m_.fbb(), activation));
    Made(shape, out);
    return values_.back();
  }

  // Adds a PAD. `around` is the padding above, below, left and right.
  Value AddPad(const Value& from, const std::array<int, 4>& around, int channels) {
    Shape shape = from.shape;
    shape[1] += around[0] + around[1];
    shape[2] += around[2] + around[3];
    shape[3] += channels;
    const int margins = m_.AddConstant<int32_t>(
        kTfLiteInt32, {4, 2}, {0, 0, around[0], around[1], around[2], around[3], 0, channels});
    int out = 0;
    if (is_int8()) {
      // PAD copies the quantised values, so its output has the scale of its input.
      shape_ = shape;
      out = m_.AddTensor(kTfLiteInt8, shape, "", Quantized(scales_[from.tensor], 0));
      scales_[out] = scales_[from.tensor];
    } else {
      out = Tensor(shape);
    }
    m_.AddOp(kTfLiteBuiltinPad, {from.tensor, margins}, {out});
    Made(shape, out);
    return values_.back();
  }

  void AddMap(const Value& from) {
    static constexpr TfLiteBuiltinOperator kMaps[] = {
        kTfLiteBuiltinRelu,      kTfLiteBuiltinRelu6,     kTfLiteBuiltinHardSwish,
        kTfLiteBuiltinHardSwish, kTfLiteBuiltinReluN1To1, kTfLiteBuiltinLogistic};
    const Shape shape = from.shape;
    const int out = Tensor(shape);
    m_.AddOp(kMaps[Pick(0, is_int8() ? 1 : 5)], {from.tensor}, {out});
    Made(shape, out);
  }
  // Adds a PRELU. Half of the time its slopes are float16 and a node between the layer and the
  // PRELU unpacks them.
  void AddPrelu(const Value& from) {
    const Shape shape = from.shape;
    const Shape slopes =
        Pick(0, 3) > 0 ? Shape{1, 1, shape[3]} : Shape{shape[1], shape[2], shape[3]};
    int alpha = Constant(slopes);
    if (Pick(0, 1) > 0) {
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
  // Returns a tensor that can be added to `from`: a constant per channel or per pixel, a value of
  // the same shape, or a PAD of a value with fewer channels.
  int Summand(const Value& from) {
    const Shape shape = from.shape;
    std::vector<Value> alike, narrow;
    for (const Value& value : values_) {
      if (value.shape == shape) alike.push_back(value);
      const bool same = std::equal(shape.begin(), shape.begin() + 3, value.shape.begin());
      if (same && value.shape[3] < shape[3]) narrow.push_back(value);
    }
    const auto any = [this](const std::vector<Value>& values) {
      return values[static_cast<size_t>(Pick(0, static_cast<int>(values.size()) - 1))];
    };
    const int kind = Pick(0, 7);
    if (kind == 0) return Constant({shape[3]});
    if (kind == 1) return Constant({1, shape[1], shape[2], 1});
    if (kind <= 4 && !narrow.empty()) {
      const Value value = any(narrow);
      return AddPad(value, {}, shape[3] - value.shape[3]).tensor;
    }
    return any(alike).tensor;
  }
  void AddArithmetic(Value from) {
    const Shape shape = from.shape;
    const int other = Summand(from);
    const bool swapped = Pick(0, 1) == 0;
    const std::vector<int32_t> inputs = {swapped ? other : from.tensor,
                                         swapped ? from.tensor : other};
    const int out = Tensor(shape);
    if (Pick(0, 4) > 0) {
      const auto activation = Activation();
      m_.AddOp(kTfLiteBuiltinAdd, inputs, {out}, schema::CreateAddOptions(m_.fbb(), activation));
      const bool alike = std::any_of(values_.begin(), values_.end(), [&](const Value& value) {
        return value.tensor == other && value.shape == shape;
      });
      if (alike && activation == schema::ActivationFunctionType::NONE) sums_.insert(node_);
    } else {
      m_.AddOp(kTfLiteBuiltinMul, inputs, {out}, schema::CreateMulOptions(m_.fbb(), Activation()));
    }
    Made(shape, out);
  }

  // Adds the end of a block of ResNet: a layer, and an ADD of the layer's input.
  void AddResidual(const Value& from) {
    const Shape shape = from.shape;
    const int filter = Pick(0, 1) == 0 ? 1 : 3;
    const int weights = Constant({shape[3], filter, filter, shape[3]}), bias = Bias(from, shape[3]);
    const int layer = Tensor(shape), out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinConv2d, {from.tensor, weights, bias}, {layer},
             schema::CreateConv2DOptions(m_.fbb(), schema::Padding::SAME, 1, 1));
    Made(shape, layer);
    const bool swapped = Pick(0, 1) == 0;
    const std::vector<int32_t> inputs = {swapped ? from.tensor : layer,
                                         swapped ? layer : from.tensor};
    m_.AddOp(kTfLiteBuiltinAdd, inputs, {out}, schema::CreateAddOptions(m_.fbb()));
    Made(shape, out);
  }

  void AddNode() {
    const Value from = Source();
    if (is_int8() && Pick(0, 3) == 0) return AddResidual(from);
    switch (Pick(0, 10)) {
      case 10:
        return AddStrided(from);
      case 0:
      case 1:
      case 2:
      case 3:
        return AddLayer(from);
      case 4:
        return is_int8() ? AddArithmetic(from) : AddPrelu(from);
      case 5:
      case 6:
        return AddMap(from);
      default:
        return AddArithmetic(from);
    }
  }

  static constexpr float kWeightScale = 0.002f;

  std::mt19937 random_;
  const TfLiteType type_;
  ModelBuilder m_;
  std::map<int, float> scales_;  // scales of int8 tensors, by tensor index
  std::vector<Value> values_;
  std::set<int> sums_;
  Shape shape_;
  int node_ = 0;
};

void FillInput(TfLiteInterpreter* interpreter, uint32_t seed) {
  std::mt19937 random(seed);
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, 0);
  if (TfLiteTensorType(input) == kTfLiteInt8) {
    for (size_t i = 0; i < TfLiteTensorByteSize(input); ++i) {
      static_cast<int8_t*>(TfLiteTensorData(input))[i] = static_cast<int8_t>(random());
    }
    return;
  }
  for (size_t i = 0; i < TfLiteTensorByteSize(input) / sizeof(float); ++i) {
    const int number = std::uniform_int_distribution<int>(-100, 100)(random);
    static_cast<float*>(TfLiteTensorData(input))[i] = static_cast<float>(number) / 40;
  }
}

struct Followers {
  std::map<std::string, int> by_operator;
  int all = 0;
  int subsampled = 0;
};

// Counts the nodes that run with another node as the head of their group, and those whose output
// rows are subsampled.
void CountFollowers(const TfLiteInterpreter* interpreter, Followers* out) {
  for (int node = 0;; ++node) {
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    if (DeputyInterpreterGetNodeRun(interpreter, 0, node, &run) != kTfLiteOk) return;
    if (run.row_stride > 1) ++out->subsampled;
    if (run.group_head < 0 || run.group_head == node) continue;
    const DeputyNodeInfo info = NodeInfoOf(interpreter, node);
    ++out->by_operator[info.operator_name];
    ++out->all;
  }
}

struct RunSettings {
  bool node_by_node = false;
  int threads = 1;
  // Nodes that the scripted delegate claims, before or (if `late`) after tensors are allocated.
  std::set<int> claims = {};
  bool late = false;
  DeputyPrecision precision = kDeputyPrecisionFloat32;
};

struct Found {
  std::vector<std::vector<std::string>> outputs;  // output bytes of each inference
  Followers followers;
};

Found RunGraph(const std::vector<uint8_t>& model, const RunSettings& settings) {
  const ScopedFusion guard(!settings.node_by_node);
  Scripted delegate(settings.claims);
  Found found;
  TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, settings.threads);
    DeputyInterpreterOptionsSetPrecision(options, settings.precision);
    if (!settings.claims.empty() && !settings.late) {
      TfLiteInterpreterOptionsAddDelegate(options, delegate.get());
    }
  });
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return found;
  }
  for (uint32_t inference = 0; inference < 3; ++inference) {
    if (inference == 2 && settings.late && !settings.claims.empty()) {
      EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
      EXPECT_EQ(t.Allocate(), kTfLiteOk);
    }
    FillInput(t.get(), inference);
    EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    found.outputs.push_back(OutputBytes(t.get()));
  }
  CountFollowers(t.get(), &found.followers);
  return found;
}

// Returns true if a graph computes the same bits as its nodes run one by one. If a group subsamples
// a layer that Winograd's transforms would compute, compares on the same CPU without these
// transforms, because the group uses direct convolution for that layer.
bool HasSameBits(const std::vector<uint8_t>& model, const RunSettings& settings, const Found& found,
                 const Found& expected) {
  if (found.outputs == expected.outputs) return true;
  const CpuKernels* const with = &Cpu();
  if (with->winograd_f32.finish == nullptr || found.followers.subsampled == 0) return false;
  CpuKernels without = *with;
  without.winograd_f32 = {};
  const ScopedCpu cpu(&without);
  RunSettings node_by_node = settings;
  node_by_node.node_by_node = true;
  return RunGraph(model, settings).outputs == RunGraph(model, node_by_node).outputs;
}

constexpr uint32_t kGraphs = 100;

// Compares random graphs of the type with their nodes run one by one.
Followers CompareGraphs(const char* level, TfLiteType type,
                        DeputyPrecision precision = kDeputyPrecisionFloat32) {
  Followers followers;
  // The emulated tiles are slow, so they run an eighth of the graphs.
  const uint32_t graphs =
      level == kTilesInMemory ? (RandomGraphCount(kGraphs) + 7) / 8 : RandomGraphCount(kGraphs);
  for (uint32_t seed = 0; seed < graphs; ++seed) {
    GraphWriter writer(seed, type);
    const std::vector<uint8_t> model = writer.Write(4 + static_cast<int>(seed % 20));
    const Found expected = RunGraph(model, {.node_by_node = true, .precision = precision});
    EXPECT_EQ(expected.followers.all, 0);
    for (int threads : {1, 3}) {
      const RunSettings settings = {.threads = threads, .precision = precision};
      const Found found = RunGraph(model, settings);
      EXPECT_TRUE(HasSameBits(model, settings, found, expected))
          << level << ", seed " << seed << ", threads " << threads;
      for (const auto& [name, count] : found.followers.by_operator) {
        followers.by_operator[name] += count;
      }
      followers.subsampled += found.followers.subsampled;
    }
  }
  for (const auto& [name, count] : followers.by_operator) {
    std::printf("%s: %d %s\n", level, count, name.c_str());
  }
  std::printf("%s: %d subsampled\n", level, followers.subsampled);
  return followers;
}

TEST_F(FusedGraphs, int8_graphs_have_the_bits_of_single_nodes) {
  int levels = 0;
  for (const CpuKernels* kernels : CpuTables()) {
    const ScopedCpu cpu(kernels);
    Followers followers = CompareGraphs(kernels->name, kTfLiteInt8);
    if (kernels->gemm_s8.requantized == nullptr) {
      EXPECT_EQ(followers.all + followers.subsampled, 0) << kernels->name;
      continue;
    }
    ++levels;
    EXPECT_GE(followers.subsampled, 6) << kernels->name;
    EXPECT_GE(followers.by_operator["ADD"], 6) << kernels->name;
  }
  if (levels == 0) GTEST_SKIP() << "no CPU table of this machine fuses int8";
}

TEST_F(FusedGraphs, graphs_have_the_bits_of_single_nodes) {
  for (const CpuKernels* kernels : CpuTables()) {
    CpuKernels over_windows = *kernels;
    over_windows.winograd_f32 = {};
    {
      const ScopedCpu cpu(&over_windows);
      CompareGraphs(kernels->name, kTfLiteFloat32);
    }
    const ScopedCpu cpu(kernels);
    Followers followers = CompareGraphs(kernels->name, kTfLiteFloat32);
    EXPECT_GE(followers.subsampled, 6) << kernels->name;
    for (const char* name :
         {"ADD", "MUL", "PRELU", "HARD_SWISH", "PAD", "RELU", "RELU6", "RELU_N1_TO_1"}) {
      EXPECT_GE(followers.by_operator[name], 6) << kernels->name << ' ' << name;
    }
  }
}

TEST_F(FusedGraphs, bfloat16_graphs_have_the_bits_of_single_nodes) {
  int levels = 0;
  for (const CpuKernels* kernels : CpuTablesAndTiles()) {
    const char* const level = kernels->name;
    if (kernels->gemm_bf16.tile == nullptr) continue;
    ++levels;
    const ScopedCpu cpu(kernels);
    Followers followers = CompareGraphs(level, kTfLiteFloat32, kDeputyPrecisionBfloat16);
    for (const char* name : {"ADD", "PRELU", "PAD"}) {
      EXPECT_GE(followers.by_operator[name], 2) << level << ' ' << name;
    }
  }
  if (levels == 0) GTEST_SKIP() << "this machine has no products of bfloat16";
}

TEST_F(FusedGraphs, delegates_may_be_applied_before_and_after) {
  int computed = 0;
  for (uint32_t seed = 0; seed < RandomGraphCount(kGraphs); ++seed) {
    GraphWriter writer(1000000 + seed);
    const std::vector<uint8_t> model = writer.Write(16);
    std::mt19937 random(seed);
    std::set<int> claims = writer.sums();
    if (seed % 2 == 1) std::erase_if(claims, [&random](int) { return random() % 2 == 0; });
    if (claims.empty()) continue;
    for (const bool late : {false, true}) {
      RunSettings settings = {.node_by_node = true, .claims = claims, .late = late};
      const Found expected = RunGraph(model, settings);
      settings.node_by_node = false;
      settings.threads = 2;
      const Found found = RunGraph(model, settings);
      EXPECT_TRUE(HasSameBits(model, settings, found, expected))
          << "seed " << seed << (late ? ", late" : "");
      computed += found.followers.all;
    }
  }
  EXPECT_GT(computed, 50);
}

// The end of a stage of ResNet-50 and the beginning of the next, over 5x6 pixels of 4 channels:
// layers of 1x1, 3x3 and 1x1, an ADD of the first layer's output, two 1x1 layers with stride 2 that
// read the sum, and a HARD_SWISH of the first of these. `also_read`: another node reads all pixels
// of the sum.
std::vector<uint8_t> EndOfStage(bool also_read) {
  ModelBuilder m;
  const Shape all = {1, 5, 6, 4}, half = {1, 3, 3, 4};
  const auto layer = [&m](int input, int filter, int stride, const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(16 * filter * filter));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 5) - 2;
    const int weights = m.AddConstant<float>(kTfLiteFloat32, {4, filter, filter, 4}, values);
    const int bias = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 0, -1, 2});
    const int output = m.AddTensor(kTfLiteFloat32, shape);
    m.AddOp(kTfLiteBuiltinConv2d, {input, weights, bias}, {output},
            schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, stride, stride,
                                        schema::ActivationFunctionType::RELU));
    return output;
  };
  const int x = m.AddTensor(kTfLiteFloat32, all), start = layer(x, 1, 1, all);
  const int product = layer(layer(start, 3, 1, all), 1, 1, all);
  const int sum = m.AddTensor(kTfLiteFloat32, all);
  m.AddOp(kTfLiteBuiltinAdd, {product, start}, {sum},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::RELU));
  const int first = layer(sum, 1, 2, half), second = layer(sum, 1, 2, half);
  std::vector<int32_t> outputs = {m.AddTensor(kTfLiteFloat32, half), second};
  m.AddOp(kTfLiteBuiltinHardSwish, {first}, {outputs[0]});
  if (also_read) {
    outputs.push_back(m.AddTensor(kTfLiteFloat32, all));
    m.AddOp(kTfLiteBuiltinLogistic, {sum}, {outputs.back()});
  }
  m.SetInputs({x});
  m.SetOutputs(outputs);
  return m.Finish();
}

int RowStrideOf(const TfLiteInterpreter* interpreter, int node) {
  const DeputyNodeRun run = NodeRunOf(interpreter, node);
  EXPECT_EQ(run.row_stride, run.column_stride);
  return run.row_stride;
}

TEST_F(FusedGraphs, pixels_without_consumers_are_not_computed) {
  for (const bool also_read : {false, true}) {
    const std::vector<uint8_t> model = EndOfStage(also_read);
    TestInterpreter t(model);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    const int left = also_read ? 1 : 2;
    const std::vector<int> expected = {1, left, left, left, 1, 1, 1};
    for (int node = 0; node < 7; ++node) {
      EXPECT_EQ(RowStrideOf(t.get(), node), expected[static_cast<size_t>(node)]) << node;
    }
    EXPECT_TRUE(RunGraph(model, {}).outputs == RunGraph(model, {.node_by_node = true}).outputs);
  }
}

// A 3x3 layer, followed by 1x1 layers whose strides are far larger than the image.
TEST_F(FusedGraphs, huge_strides_are_harmless) {
  for (const int stride : {64, 1 << 16, std::numeric_limits<int>::max()}) {
    ModelBuilder m;
    int value = m.AddTensor(kTfLiteFloat32, {1, 5, 6, 3});
    m.SetInputs({value});
    for (int n = 0; n < 8; ++n) {
      const int filter = n == 0 ? 3 : 1, step = n == 0 ? 1 : stride;
      std::vector<float> weights(static_cast<size_t>(9 * filter * filter));
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 4) - 1;
      const int w = m.AddConstant<float>(kTfLiteFloat32, {3, filter, filter, 3}, weights);
      const int b = m.AddConstant<float>(kTfLiteFloat32, {3}, {0, -3, 1});
      const int out = m.AddTensor(kTfLiteFloat32, n == 0 ? Shape{1, 5, 6, 3} : Shape{1, 1, 1, 3});
      m.AddOp(kTfLiteBuiltinConv2d, {value, w, b}, {out},
              schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, step, step));
      value = out;
    }
    m.SetOutputs({value});
    const std::vector<uint8_t> model = m.Finish();
    EXPECT_TRUE(RunGraph(model, {}).outputs == RunGraph(model, {.node_by_node = true}).outputs)
        << stride;
  }
}

// A layer and its HARD_SWISH, with another layer in between, run one by one if client memory
// requires it; then they access the strided positions of all pixels.
TEST_F(FusedGraphs, consumers_may_run_unfused) {
  const std::vector<uint8_t> model = EndOfStage(false);
  const Found expected = RunGraph(model, {.node_by_node = true});
  TestInterpreter t(model);
  alignas(64) static float memory[36];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  const int output = TfLiteInterpreterOutputTensorIndices(t.get())[0];
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), output, &allocation, 0),
            kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(RowStrideOf(t.get(), 3), 2);
  for (uint32_t inference = 0; inference < 3; ++inference) {
    FillInput(t.get(), inference);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_TRUE(OutputBytes(t.get()) == expected.outputs[inference]) << inference;
  }
}

// A model of CONV_2D, RELU and ADD over an image of 3x4 pixels with 3 channels.
std::vector<uint8_t> SmallModel() {
  ModelBuilder m;
  const Shape shape = {1, 3, 4, 3};
  const int x = m.AddTensor(kTfLiteFloat32, shape);
  const int w = m.AddConstant<float>(kTfLiteFloat32, {3, 1, 1, 3}, {1, -1, 0, 0.5f, 2, 0, 0, 0, 1});
  const int b = m.AddConstant<float>(kTfLiteFloat32, {3}, {0, -3, 1});
  const int c = m.AddTensor(kTfLiteFloat32, shape), r = m.AddTensor(kTfLiteFloat32, shape);
  const int y = m.AddTensor(kTfLiteFloat32, shape);
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {c},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.AddOp(kTfLiteBuiltinRelu, {c}, {r});
  m.AddOp(kTfLiteBuiltinAdd, {r, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A client may read every tensor in its memory, also if it provides the memory after the
// allocation. This test covers internal tensors of a group, which have no other consumers.
TEST_F(FusedGraphs, tensors_that_clients_provide_later_are_stored) {
  for (const std::vector<uint8_t>& model : {EndOfStage(false), SmallModel()}) {
    alignas(64) static float memory[2][128];
    int moved = 0;
    for (int tensor = 0; tensor < 24; ++tensor) {
      for (const bool fused : {false, true}) {
        const ScopedFusion guard(fused);
        TestInterpreter t(model);
        ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
        FillInput(t.get(), 1);
        ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
        std::fill_n(memory[fused], 128, -1.0f);
        const TfLiteCustomAllocation allocation = {memory[fused], sizeof memory[0]};
        const bool moves = TfLiteInterpreterSetCustomAllocationForTensor(
                               t.get(), tensor, &allocation, 0) == kTfLiteOk;
        if (!moves) continue;
        ++moved;
        ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
        FillInput(t.get(), 2);
        ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      }
      EXPECT_EQ(memcmp(memory[0], memory[1], sizeof memory[0]), 0) << "tensor " << tensor;
    }
    EXPECT_GE(moved, 8);
  }
}

// Returns the result of SmallModel for an image, computed by plain code.
std::vector<float> SmallResult(const std::vector<float>& input) {
  std::vector<float> result;
  for (size_t i = 0; i < input.size(); i += 3) {
    const float a = input[i], b = input[i + 1], c = input[i + 2];
    result.push_back(std::max(0.0f, a - b) + a);
    result.push_back(std::max(0.0f, 0.5f * a + 2 * b - 3) + b);
    result.push_back(std::max(0.0f, c + 1) + c);
  }
  return result;
}

std::vector<float> Counted() {
  std::vector<float> values(36);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

TEST_F(FusedGraphs, node_run_names_the_head_of_each_node) {
  TestInterpreter t(SmallModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  for (int node = 0; node < 3; ++node) {
    const DeputyNodeRun run = NodeRunOf(t.get(), node);
    EXPECT_EQ(run.group_head, 0);
    EXPECT_EQ(run.group_size, 3);
    EXPECT_EQ(run.runner, node);
  }
}

TEST_F(FusedGraphs, reference_arithmetic_and_validation_disable_fusion) {
  TestInterpreter exact(SmallModel(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  });
  ASSERT_EQ(exact.Allocate(), kTfLiteOk);
  EXPECT_EQ(FollowersOf(exact.get()), 0);
  const ScopedEnvironment validation("DEPUTY_VALIDATION", "1");
  TestInterpreter observed(SmallModel());
  ASSERT_EQ(observed.Allocate(), kTfLiteOk);
  EXPECT_EQ(FollowersOf(observed.get()), 0);
}

// The client has put input and output into the same memory, which is valid if the nodes run one by
// one.
TEST_F(FusedGraphs, memory_of_the_clients_is_checked_for_aliases) {
  TestInterpreter t(SmallModel());
  alignas(64) static float memory[36];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  for (int tensor : {TfLiteInterpreterInputTensorIndices(t.get())[0],
                     TfLiteInterpreterOutputTensorIndices(t.get())[0]}) {
    ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), tensor, &allocation, 0),
              kTfLiteOk);
  }
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(FollowersOf(t.get()), 2);
  const std::vector<float> input = Counted();
  std::copy(input.begin(), input.end(), memory);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(std::vector<float>(memory, memory + 36), SmallResult(input));
}

// Input and output are in the same memory, and the layer reads neighbours of the elements that it
// writes.
TEST_F(FusedGraphs, a_layer_does_not_overwrite_its_input) {
  constexpr int kPixels = 40, kChannels = 20;
  const Shape shape = {1, kPixels, 3, kChannels};
  constexpr size_t kCount = size_t{kPixels} * 3 * kChannels;
  ModelBuilder m;
  const auto some = [](int count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i % 7) - 3;
    return values;
  };
  const int x = m.AddTensor(kTfLiteFloat32, shape);
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kChannels, 3, 3, kChannels},
                                     some(9 * kChannels * kChannels));
  const int b = m.AddConstant<float>(kTfLiteFloat32, {kChannels}, some(kChannels));
  const int c = m.AddTensor(kTfLiteFloat32, shape), y = m.AddTensor(kTfLiteFloat32, shape);
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {c},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.AddOp(kTfLiteBuiltinRelu, {c}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> model = m.Finish();
  const std::vector<float> input = some(static_cast<int>(kCount));
  std::vector<float> expected;
  for (const bool in_shared_memory : {false, true}) {
    TestInterpreter t(model);
    alignas(64) static float memory[kCount];
    const TfLiteCustomAllocation allocation = {memory, sizeof memory};
    for (int tensor : {x, y}) {
      if (!in_shared_memory) break;
      ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), tensor, &allocation, 0),
                kTfLiteOk);
    }
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(FollowersOf(t.get()), 1);
    t.Set(0, input);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    if (in_shared_memory) {
      EXPECT_EQ(t.Get<float>(0), expected);
    } else {
      expected = t.Get<float>(0);
    }
  }
}

// The output of the ADD uses the memory of its other operand, for any width of the layer into which
// the ADD is fused.
TEST_F(FusedGraphs, a_sum_may_reuse_the_memory_of_its_addend) {
  for (int width = 3; width < 24; ++width) {
    const Shape shape = {1, 5, width, 16};
    std::vector<std::string> outputs[2];
    for (const bool fused : {false, true}) {
      const ScopedFusion guard(fused);
      ModelBuilder m;
      const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, shape); };
      const int x = tensor(), a = tensor(), d = tensor(), s = tensor(), y = tensor();
      std::vector<float> weights(9 * 16);
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 11) - 5;
      const int w = m.AddConstant<float>(kTfLiteFloat32, {1, 3, 3, 16}, weights);
      const int b = m.AddConstant<float>(kTfLiteFloat32, {16}, std::vector<float>(16, 0.5f));
      m.AddOp(kTfLiteBuiltinTanh, {x}, {a});
      m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {x, w, b}, {d},
              schema::CreateDepthwiseConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 1));
      m.AddOp(kTfLiteBuiltinAdd, {a, d}, {s}, schema::CreateAddOptions(m.fbb()));
      m.AddOp(kTfLiteBuiltinTanh, {s}, {y});
      m.SetInputs({x});
      m.SetOutputs({y});
      TestInterpreter t(m.Finish());
      ASSERT_EQ(t.Allocate(), kTfLiteOk);
      EXPECT_EQ(FollowersOf(t.get()), fused ? 1 : 0);
      EXPECT_EQ(DeputyInterpreterGetTensor(t.get(), 0, a)->data.raw,
                DeputyInterpreterGetTensor(t.get(), 0, s)->data.raw);
      FillInput(t.get(), 1);
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      outputs[fused] = OutputBytes(t.get());
    }
    EXPECT_TRUE(outputs[0] == outputs[1]) << width;
  }
}

// A model of x -> TANH -> CONV_2D, LOGISTIC(x), an ADD of the results of both, and PRELU, in this
// order.
std::vector<uint8_t> WaitingModel() {
  ModelBuilder m;
  const Shape shape = {1, 9, 7, 16};
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, shape); };
  const int x = tensor(), t = tensor(), c = tensor(), l = tensor(), s = tensor(), y = tensor();
  std::vector<float> weights(16 * 16);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 11) / 8 - 0.5f;
  const int w = m.AddConstant<float>(kTfLiteFloat32, {16, 1, 1, 16}, weights);
  const int b = m.AddConstant<float>(kTfLiteFloat32, {16}, std::vector<float>(16, 0.5f));
  m.AddOp(kTfLiteBuiltinTanh, {x}, {t});
  m.AddOp(kTfLiteBuiltinConv2d, {t, w, b}, {c},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.AddOp(kTfLiteBuiltinLogistic, {x}, {l});
  m.AddOp(kTfLiteBuiltinAdd, {l, c}, {s}, schema::CreateAddOptions(m.fbb()));
  const int slopes = m.AddConstant<float>(kTfLiteFloat32, {16}, std::vector<float>(16, 0.2f));
  m.AddOp(kTfLiteBuiltinPrelu, {s, slopes}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// The layer runs after LOGISTIC, and the layer's input is still available then. A profiler is
// notified of each node in plan order.
TEST_F(FusedGraphs, a_layer_is_delayed_until_the_addend_is_computed) {
  static std::vector<int64_t> nodes;
  TfLiteTelemetryProfilerStruct profiler = {};
  const auto begin = [](TfLiteTelemetryProfilerStruct*, const char*, int64_t node, int64_t) {
    nodes.push_back(node);
    return static_cast<uint32_t>(node);
  };
  std::vector<std::string> outputs[2];
  for (const bool fused : {false, true}) {
    const ScopedFusion guard(fused);
    TestInterpreter t(WaitingModel(), [&](TfLiteInterpreterOptions* options) {
      TfLiteInterpreterOptionsSetTelemetryProfiler(options, &profiler);
    });
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(FollowersOf(t.get()), fused ? 2 : 0);
    for (const bool watched : {false, true, false}) {
      profiler.ReportBeginOpInvokeEvent = watched ? +begin : nullptr;
      nodes.clear();
      FillInput(t.get(), 1);
      ASSERT_EQ(t.Invoke(), kTfLiteOk);
      const std::vector<std::string> now = OutputBytes(t.get());
      outputs[fused].insert(outputs[fused].end(), now.begin(), now.end());
      EXPECT_EQ(nodes, watched ? (std::vector<int64_t>{0, 1, 2, 3, 4}) : std::vector<int64_t>());
    }
  }
  EXPECT_TRUE(outputs[0] == outputs[1]);
}

// The client's memory prevents the delay: nodes run one by one, in plan order.
TEST_F(FusedGraphs, no_layer_is_delayed_if_clients_read_its_output) {
  std::vector<std::string> outputs[2];
  for (const bool fused : {false, true}) {
    const ScopedFusion guard(fused);
    TestInterpreter t(WaitingModel());
    alignas(64) static float memory[9 * 7 * 16];
    const TfLiteCustomAllocation allocation = {memory, sizeof memory};
    // The client gives the outputs of LOGISTIC and TANH the same memory.
    for (int tensor : {1, 3}) {
      ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), tensor, &allocation, 0),
                kTfLiteOk);
    }
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(FollowersOf(t.get()), fused ? 2 : 0);
    FillInput(t.get(), 1);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    outputs[fused] = OutputBytes(t.get());
  }
  EXPECT_TRUE(outputs[0] == outputs[1]);
}

// The profile contains the head only, with the time of the whole group.
TEST_F(FusedGraphs, a_profile_counts_the_head) {
  TestInterpreter t(SmallModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterSetProfileCallback(
                t.get(), [](void*, const DeputyOpEvent*) {}, nullptr),
            kTfLiteOk);
  t.Set(0, Counted());
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  for (int node = 0; node < 3; ++node) {
    const DeputyNodeRun run = NodeRunOf(t.get(), node);
    EXPECT_EQ(run.runs, node == 0 ? 1 : 0);
  }
}

// The installed callbacks do not need every node, and are installed before the allocation.
TEST_F(FusedGraphs, profilers_change_neither_groups_nor_bits) {
  std::vector<std::string> outputs[2];
  static int operators, jobs;
  operators = jobs = 0;
  for (const bool profiled : {false, true}) {
    TestInterpreter t(WaitingModel());
    if (profiled) {
      ASSERT_EQ(DeputyInterpreterSetProfileCallback(
                    t.get(), [](void*, const DeputyOpEvent*) { ++operators; }, nullptr),
                kTfLiteOk);
      ASSERT_EQ(DeputyInterpreterSetWorkerCallback(
                    t.get(), [](void*, const DeputyWorkerEvent*) { ++jobs; }, nullptr),
                kTfLiteOk);
    }
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(FollowersOf(t.get()), 2);
    FillInput(t.get(), 1);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    outputs[profiled] = OutputBytes(t.get());
  }
  EXPECT_TRUE(outputs[0] == outputs[1]);
  EXPECT_EQ(operators, 3);  // TANH, LOGISTIC and the fusion group
  EXPECT_GT(jobs, 0);
}

// The events of the telemetry profiler are those of TensorFlow Lite: one for each node.
TEST_F(FusedGraphs, telemetry_has_each_node) {
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

TEST_F(FusedGraphs, another_shape_changes_the_groups) {
  TestInterpreter t(SmallModel());
  for (int height : {3, 5, 1}) {
    ASSERT_EQ(t.Resize(0, {1, height, 4, 3}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(FollowersOf(t.get()), 2);
    std::vector<float> input(static_cast<size_t>(height) * 12);
    for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i % 7) - 3;
    t.Set(0, input);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(t.Get<float>(0), SmallResult(input));
  }
}

// A model of PAD and CONV_2D with a filter of 3x3 ones. If `reads_twice`, the padded image is also
// an output.
std::vector<uint8_t> PaddedModel(bool reads_twice) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2, 3, 1});
  const int margins = m.AddConstant<int32_t>(kTfLiteInt32, {4, 2}, {0, 0, 1, 0, 2, 1, 0, 0});
  const int padded = m.AddTensor(kTfLiteFloat32, {1, 3, 6, 1});
  const int w = m.AddConstant<float>(kTfLiteFloat32, {3, 3, 3, 1}, std::vector<float>(27, 1.0f));
  const int b = m.AddConstant<float>(kTfLiteFloat32, {3}, {0, 10, 20});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 1, 4, 3});
  m.AddOp(kTfLiteBuiltinPad, {x, margins}, {padded});
  m.AddOp(kTfLiteBuiltinConv2d, {padded, w, b}, {y},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::VALID, 1, 1));
  m.SetInputs({x});
  m.SetOutputs(reads_twice ? std::vector<int32_t>{y, padded} : std::vector<int32_t>{y});
  return m.Finish();
}

const std::vector<float> kSums = {5, 15, 25, 12, 22, 32, 21, 31, 41, 16, 26, 36};

TEST_F(FusedGraphs, a_pad_runs_with_the_following_layer) {
  for (const bool reads_twice : {false, true}) {
    TestInterpreter t(PaddedModel(reads_twice));
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    for (int node = 0; node < 2; ++node) {
      const DeputyNodeRun run = NodeRunOf(t.get(), node);
      EXPECT_EQ(run.group_head, reads_twice ? -1 : 1);
      EXPECT_EQ(run.group_size, reads_twice ? 0 : 2);
    }
    t.Set<float>(0, {1, 2, 3, 4, 5, 6});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(t.Get<float>(0), kSums);
    if (!reads_twice) continue;
    EXPECT_EQ(t.Get<float>(1), (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0,  // rows 0, 1
                                                   0, 0, 4, 5, 6, 0}));
  }
}

// A telemetry profiler is installed and removed, so the nodes run one by one, fused, and one by one
// again.
TEST_F(FusedGraphs, a_pad_runs_unfused_for_a_profiler) {
  static std::vector<int64_t> nodes;
  nodes.clear();
  TfLiteTelemetryProfilerStruct profiler = {};
  profiler.ReportBeginOpInvokeEvent = [](TfLiteTelemetryProfilerStruct*, const char*, int64_t node,
                                         int64_t) {
    nodes.push_back(node);
    return static_cast<uint32_t>(node);
  };
  TestInterpreter t(PaddedModel(false), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetTelemetryProfiler(options, &profiler);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const auto begin = profiler.ReportBeginOpInvokeEvent;
  for (const bool watched : {true, false, true}) {
    profiler.ReportBeginOpInvokeEvent = watched ? begin : nullptr;
    nodes.clear();
    t.Set<float>(0, {1, 2, 3, 4, 5, 6});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(t.Get<float>(0), kSums);
    EXPECT_EQ(nodes, watched ? (std::vector<int64_t>{0, 1}) : std::vector<int64_t>{});
  }
}

// A model of DEPTHWISE_CONV_2D with the identity, followed by `activation`, HARD_SWISH or PRELU.
std::vector<uint8_t> ActivationModel(TfLiteBuiltinOperator activation, int pixels, int channels) {
  ModelBuilder m;
  const Shape shape = {1, 1, pixels, channels};
  const auto count = static_cast<size_t>(channels);
  const int x = m.AddTensor(kTfLiteFloat32, shape);
  const int w =
      m.AddConstant<float>(kTfLiteFloat32, {1, 1, 1, channels}, std::vector<float>(count, 1.0f));
  const int b = m.AddConstant<float>(kTfLiteFloat32, {channels}, std::vector<float>(count, -0.0f));
  const int c = m.AddTensor(kTfLiteFloat32, shape), y = m.AddTensor(kTfLiteFloat32, shape);
  m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {x, w, b}, {c},
          schema::CreateDepthwiseConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 1));
  std::vector<int32_t> inputs = {c};
  if (activation == kTfLiteBuiltinPrelu) {
    inputs.push_back(
        m.AddConstant<float>(kTfLiteFloat32, {channels}, std::vector<float>(count, 0.3f)));
  }
  m.AddOp(activation, inputs, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Returns `count` random numbers of all magnitudes, including NaN and infinities.
std::vector<float> AllSizes(size_t count) {
  std::mt19937 random(1);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    const int exponent = std::uniform_int_distribution<int>(-148, 127)(random);
    const int mantissa = std::uniform_int_distribution<int>(-(1 << 24), 1 << 24)(random);
    // The first half of the numbers has magnitudes up to 16: HARD_SWISH is not linear from -3 to 3.
    const int bits = i < count / 2 ? std::uniform_int_distribution<int>(-6, 4)(random) : exponent;
    values[i] = std::ldexp(static_cast<float>(mantissa), bits - 24);
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,
                           -0.0f,
                           kInfinity,
                           -kInfinity,
                           std::nanf(""),
                           3.0f,
                           -3.0f,
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::lowest(),
                           std::numeric_limits<float>::min(),
                           6.0f,
                           -6.0f};
  std::copy(std::begin(special), std::end(special), values.end() - 100);
  return values;
}

TEST_F(FusedGraphs, activations_have_the_same_bits_for_all_numbers) {
  constexpr int kPixels = 2000, kChannels = 48;
  const std::vector<float> input = AllSizes(static_cast<size_t>(kPixels) * kChannels);
  for (const CpuKernels* kernels : CpuTables()) {
    const ScopedCpu cpu(kernels);
    for (const TfLiteBuiltinOperator activation : {kTfLiteBuiltinHardSwish, kTfLiteBuiltinPrelu}) {
      std::vector<std::string> outputs[2];
      for (const bool fused : {false, true}) {
        const ScopedFusion guard(fused);
        TestInterpreter t(ActivationModel(activation, kPixels, kChannels));
        ASSERT_EQ(t.Allocate(), kTfLiteOk);
        EXPECT_EQ(FollowersOf(t.get()), fused ? 1 : 0);
        t.Set(0, input);
        ASSERT_EQ(t.Invoke(), kTfLiteOk);
        outputs[fused] = OutputBytes(t.get());
      }
      EXPECT_TRUE(outputs[0] == outputs[1]) << kernels->name << ' ' << activation;
    }
  }
}

}  // namespace
}  // namespace deputy::fusion_groups_run_test
