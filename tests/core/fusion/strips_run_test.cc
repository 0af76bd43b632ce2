// SPDX-License-Identifier: Apache-2.0
//
// Tests that layers computed strip by strip compute the same bits as single layers: random chains,
// with several consumers, intermediate outputs, PADs and following nodes, for caches of different
// sizes, run with and without DEPUTY_PLAN=off.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <random>

#include "c_api/include/deputy.h"
#include "core/base/processors.h"
#include "kernels/cpu/cpu.h"
#include "tests/core/fusion/run_support.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::strips_run_test {
namespace {

using Shape = std::vector<int32_t>;

// RAII guard: sets the assumed size of the second-level cache in bytes; with 0 the nodes run one by
// one.
class WithCache {
 public:
  explicit WithCache(size_t bytes) : fusion_(bytes != 0) { OverrideSecondLevelCache(bytes); }
  ~WithCache() { OverrideSecondLevelCache(0); }
  WithCache(const WithCache&) = delete;
  WithCache& operator=(const WithCache&) = delete;

 private:
  const ScopedFusion fusion_;
};

// Writes chains of layers over tall images, whose tensors are large in comparison to their rows.
class ChainWriter {
 public:
  explicit ChainWriter(uint32_t seed) : random_(seed) {}

  std::vector<uint8_t> Write(int layers) {
    value_ = {Tensor({Pick(1, 2), Pick(30, 90), Pick(1, 20), Channels()}), shape_};
    m_.SetInputs({value_.tensor});
    for (int n = 0; n < layers; ++n) {
      const Value before = value_;
      if (Pick(0, 4) == 0) AddPad();
      const int kind = Pick(0, 4);
      kind < 2 ? AddPointwise() : kind < 4 ? AddDepthwise() : AddConv();
      AddFollowers(before);
      if (Pick(0, 9) == 0) outputs_.push_back(value_.tensor);
    }
    if (outputs_.empty() || outputs_.back() != value_.tensor) outputs_.push_back(value_.tensor);
    m_.SetOutputs(outputs_);
    return m_.Finish();
  }

 private:
  struct Value {
    int tensor = -1;
    Shape shape;
  };

  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  int Channels() {
    static constexpr int kChannels[] = {3, 4, 8, 16, 20, 24, 33};
    return kChannels[Pick(0, 6)];
  }
  int Tensor(const Shape& shape) {
    shape_ = shape;
    return m_.AddTensor(kTfLiteFloat32, shape);
  }
  // Adds a constant, sometimes unpacked from float16 by a separate node.
  int Constant(const Shape& shape) {
    size_t count = 1;
    for (int extent : shape) count *= static_cast<size_t>(extent);
    if (Pick(0, 9) == 0) {
      std::vector<uint16_t> halves(count);
      for (uint16_t& half : halves) half = static_cast<uint16_t>(Pick(0x3000, 0x3bff));
      const int packed = m_.AddConstant<uint16_t>(kTfLiteFloat16, shape, halves);
      const int unpacked = m_.AddTensor(kTfLiteFloat32, shape);
      m_.AddOp(kTfLiteBuiltinDequantize, {packed}, {unpacked});
      return unpacked;
    }
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(Pick(-1000, 1000)) / 1000;
    return m_.AddConstant<float>(kTfLiteFloat32, shape, values);
  }
  schema::ActivationFunctionType Activation() {
    static constexpr schema::ActivationFunctionType kTypes[] = {
        schema::ActivationFunctionType::NONE, schema::ActivationFunctionType::RELU,
        schema::ActivationFunctionType::RELU6};
    return kTypes[Pick(0, 2)];
  }
  void Made(int tensor) { value_ = {tensor, shape_}; }

  void AddPad() {
    Shape shape = value_.shape;
    const std::array<int, 4> around = {Pick(0, 2), Pick(0, 2), Pick(0, 2), Pick(0, 2)};
    shape[1] += around[0] + around[1];
    shape[2] += around[2] + around[3];
    const int margins = m_.AddConstant<int32_t>(
        kTfLiteInt32, {4, 2}, {0, 0, around[0], around[1], around[2], around[3], 0, 0});
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinPad, {value_.tensor, margins}, {out});
    Made(out);
  }
  void AddPointwise() {
    Shape shape = value_.shape;
    if (Pick(0, 1) == 0) shape[3] = Channels();
    const int weights = Constant({shape[3], 1, 1, value_.shape[3]}), bias = Constant({shape[3]});
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinConv2d, {value_.tensor, weights, bias}, {out},
             schema::CreateConv2DOptions(m_.fbb(), schema::Padding::SAME, 1, 1, Activation()));
    Made(out);
  }
  // The window of a layer. AddWindow chooses one and changes the shape to that of the layer's
  // output.
  struct Window {
    int filter, stride, dilation;
    schema::Padding padding;
  };
  Window AddWindow(Shape* shape) {
    Window w = {};
    w.dilation = Pick(0, 5) == 0 ? 2 : 1;
    // Strides greater than the filter skip rows.
    w.stride = w.dilation > 1 ? 1 : std::array{1, 1, 1, 2, 2, 4}[static_cast<size_t>(Pick(0, 5))];
    w.filter = std::array{1, 3, 3, 5}[static_cast<size_t>(Pick(0, 3))];
    const int reach = (w.filter - 1) * w.dilation + 1;
    const bool same = Pick(0, 2) > 0 || (*shape)[1] < reach || (*shape)[2] < reach;
    w.padding = same ? schema::Padding::SAME : schema::Padding::VALID;
    for (size_t axis : {1u, 2u}) {
      (*shape)[axis] = ((*shape)[axis] - (same ? 1 : reach)) / w.stride + 1;
    }
    return w;
  }
  void AddDepthwise() {
    Shape shape = value_.shape;
    const Window w = AddWindow(&shape);
    const int weights = Constant({1, w.filter, w.filter, shape[3]}), bias = Constant({shape[3]});
    const int out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinDepthwiseConv2d, {value_.tensor, weights, bias}, {out},
             schema::CreateDepthwiseConv2DOptions(m_.fbb(), w.padding, w.stride, w.stride, 1,
                                                  Activation(), w.dilation, w.dilation));
    Made(out);
  }
  void AddConv() {
    Shape shape = value_.shape;
    const Window w = AddWindow(&shape);
    shape[3] = Channels();
    const int weights = Constant({shape[3], w.filter, w.filter, value_.shape[3]});
    const int bias = Constant({shape[3]}), out = Tensor(shape);
    m_.AddOp(kTfLiteBuiltinConv2d, {value_.tensor, weights, bias}, {out},
             schema::CreateConv2DOptions(m_.fbb(), w.padding, w.stride, w.stride, Activation(),
                                         w.dilation, w.dilation));
    Made(out);
  }
  // Adds nodes after a layer. `before` is the layer's input, which may get a second consumer.
  void AddFollowers(const Value& before) {
    const Shape shape = value_.shape;
    if (Pick(0, 3) == 0) {
      const int out = Tensor(shape);
      m_.AddOp(kTfLiteBuiltinRelu6, {value_.tensor}, {out});
      Made(out);
    }
    if (Pick(0, 2) == 0) {
      const bool residual = before.shape == shape;
      const int other = residual ? before.tensor : early_.shape == shape ? early_.tensor : -1;
      if (other >= 0) {
        const int out = Tensor(shape);
        m_.AddOp(kTfLiteBuiltinAdd, {value_.tensor, other}, {out},
                 schema::CreateAddOptions(m_.fbb(), Activation()));
        Made(out);
      }
    }
    const int curve = Pick(0, 5);
    if (curve < 2) {
      std::vector<int32_t> inputs = {value_.tensor};
      if (curve == 0) inputs.push_back(Constant({1, 1, shape[3]}));
      const int out = Tensor(shape);
      m_.AddOp(curve == 0 ? kTfLiteBuiltinPrelu : kTfLiteBuiltinHardSwish, inputs, {out});
      Made(out);
    }
    if (Pick(0, 2) == 0) early_ = before;
  }

  std::mt19937 random_;
  ModelBuilder m_;
  Value value_, early_;
  std::vector<int32_t> outputs_;
  Shape shape_;
};

// Returns the bytes of all outputs of three inferences.
std::vector<std::string> RunThrice(TestInterpreter* t) {
  std::vector<std::string> outputs;
  for (uint32_t inference = 0; inference < 3; ++inference) {
    std::mt19937 random(inference);
    TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t->get(), 0);
    for (size_t i = 0; i < TfLiteTensorByteSize(input) / sizeof(float); ++i) {
      const int number = std::uniform_int_distribution<int>(-100, 100)(random);
      static_cast<float*>(TfLiteTensorData(input))[i] = static_cast<float>(number) / 40;
    }
    EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    for (std::string& bytes : OutputBytes(t->get())) outputs.push_back(std::move(bytes));
  }
  return outputs;
}

// Returns the number of layers that run in the group of another layer.
int JoinedLayers(const TfLiteInterpreter* interpreter) {
  int joined = 0;
  for (int node = 0;; ++node) {
    DeputyNodeRun run{};
    run.struct_size = sizeof run;
    if (DeputyInterpreterGetNodeRun(interpreter, 0, node, &run) != kTfLiteOk) return joined;
    const DeputyNodeInfo info = NodeInfoOf(interpreter, node);
    if (run.group_head >= 0 && run.group_head != node &&
        std::string(info.operator_name).ends_with("CONV_2D")) {
      ++joined;
    }
  }
}

size_t ScratchBytes(const TfLiteInterpreter* interpreter) {
  const DeputyMemoryMap map = MemoryMapOf(interpreter);
  return map.scratch_bytes;
}

// Number of models in strips whose first inference had to allocate scratch memory.
int models_with_growing_scratch;

std::vector<std::string> RunModel(const std::vector<uint8_t>& model, int threads, int* out_joined) {
  TestInterpreter t(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return {};
  }
  const int joined = JoinedLayers(t.get());
  *out_joined += joined;
  const size_t scratch = ScratchBytes(t.get());
  std::vector<std::string> outputs = RunThrice(&t);
  if (joined > 0 && ScratchBytes(t.get()) > scratch) ++models_with_growing_scratch;
  return outputs;
}

constexpr uint32_t kChains = 60;

// Returns true if a chain computes the same bits in strips as node by node. Winograd's transforms
// are disabled, because groups with subsampled layers use direct convolution.
bool HasSameBits(const std::vector<uint8_t>& model, size_t cache, int threads) {
  CpuKernels without = Cpu();
  without.winograd_f32 = {};
  const ScopedCpu cpu(&without);
  int joined = 0;
  std::vector<std::string> expected;
  {
    const WithCache node_by_node(0);
    expected = RunModel(model, 1, &joined);
  }
  const WithCache with(cache);
  return RunModel(model, threads, &joined) == expected;
}

TEST(Strips, chains_have_the_bits_of_single_nodes) {
  for (const CpuKernels* kernels : CpuTables()) {
    const ScopedCpu cpu(kernels);
    models_with_growing_scratch = 0;
    int joined = 0;
    for (uint32_t seed = 0; seed < RandomGraphCount(kChains); ++seed) {
      const std::vector<uint8_t> model = ChainWriter(seed).Write(2 + static_cast<int>(seed % 9));
      int none = 0;
      std::vector<std::string> expected;
      {
        const WithCache node_by_node(0);
        expected = RunModel(model, 1, &none);
      }
      EXPECT_EQ(none, 0);
      for (const size_t cache : {1500, 4000, 12000}) {
        const WithCache with(cache);
        for (int threads : {1, 2, 4}) {
          EXPECT_TRUE(RunModel(model, threads, &joined) == expected ||
                      HasSameBits(model, cache, threads))
              << kernels->name << ", seed " << seed << ", cache " << cache << ", threads "
              << threads;
        }
      }
    }
    std::printf("%s: %d layers joined, scratch memory grew in %d models\n", kernels->name, joined,
                models_with_growing_scratch);
    EXPECT_GT(joined, 4 * static_cast<int>(RandomGraphCount(kChains))) << kernels->name;
    // The scratch memory of groups is reserved in advance, except for layers that are subsampled at
    // the end of a chain.
    EXPECT_LT(models_with_growing_scratch, 2 + static_cast<int>(RandomGraphCount(kChains) / 20))
        << kernels->name;
  }
}

// A model of a 1x1 layer, a DEPTHWISE_CONV_2D of 3x3 and a 1x1 layer over 40x6 pixels of 4
// channels, and an ADD of the input.
struct BlockModel {
  std::vector<uint8_t> bytes;
  int input, output;
  std::vector<int> between;
};
BlockModel Block(bool also_output) {
  ModelBuilder m;
  const Shape shape = {1, 40, 6, 4};
  const auto some = [](int count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i % 7) - 3;
    return values;
  };
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, shape); };
  const int x = tensor(), expanded = tensor(), middle = tensor(), end = tensor(), y = tensor();
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {4}, some(4));
  const int first = m.AddConstant<float>(kTfLiteFloat32, {4, 1, 1, 4}, some(16));
  const int taps = m.AddConstant<float>(kTfLiteFloat32, {1, 3, 3, 4}, some(36));
  const auto same = schema::Padding::SAME;
  m.AddOp(kTfLiteBuiltinConv2d, {x, first, bias}, {expanded},
          schema::CreateConv2DOptions(m.fbb(), same, 1, 1, schema::ActivationFunctionType::RELU6));
  m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {expanded, taps, bias}, {middle},
          schema::CreateDepthwiseConv2DOptions(m.fbb(), same, 1, 1, 1));
  m.AddOp(kTfLiteBuiltinConv2d, {middle, first, bias}, {end},
          schema::CreateConv2DOptions(m.fbb(), same, 1, 1));
  m.AddOp(kTfLiteBuiltinAdd, {end, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs(also_output ? std::vector<int32_t>{y, expanded} : std::vector<int32_t>{y});
  return {m.Finish(), x, y, {expanded, middle, end}};
}
constexpr size_t kBlockBytes = size_t{40} * 6 * 4 * sizeof(float);
// Cache size in bytes that holds the strips of BlockModel, but not its tensors.
constexpr size_t kBlockCache = 1000;

TEST(Strips, graph_outputs_are_stored) {
  for (const bool also_output : {false, true}) {
    const BlockModel model = Block(also_output);
    int none = 0, joined = 0;
    std::vector<std::string> expected;
    {
      const WithCache node_by_node(0);
      expected = RunModel(model.bytes, 1, &none);
    }
    const WithCache with(kBlockCache);
    EXPECT_TRUE(RunModel(model.bytes, 1, &joined) == expected);
    EXPECT_EQ(joined, also_output ? 1 : 2);
  }
}

// Internal tensors are not written, and no other tensor uses their memory.
TEST(Strips, intermediate_tensors_are_not_stored) {
  const BlockModel model = Block(false);
  const WithCache with(kBlockCache);
  TestInterpreter t(model.bytes);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  for (int tensor : model.between) memset(t.Tensor(tensor)->data.raw, 0x5a, kBlockBytes);
  RunThrice(&t);
  for (int tensor : model.between) {
    const char* const bytes = t.Tensor(tensor)->data.raw_const;
    EXPECT_EQ(std::count(bytes, bytes + kBlockBytes, 0x5a), static_cast<int>(kBlockBytes))
        << tensor;
  }
}

// If a client has put the output into the input's memory, or provides memory for an internal
// tensor, the nodes run one by one.
TEST(Strips, memory_of_the_clients_is_checked_for_aliases) {
  const BlockModel model = Block(false);
  std::vector<std::string> expected;
  int none = 0;
  {
    const WithCache node_by_node(0);
    expected = RunModel(model.bytes, 1, &none);
  }
  const WithCache with(kBlockCache);
  alignas(64) static char memory[kBlockBytes];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  for (const std::vector<int>& tensors :
       {std::vector<int>{model.input, model.output}, std::vector<int>{model.between[0]}}) {
    TestInterpreter t(model.bytes);
    for (int tensor : tensors) {
      ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), tensor, &allocation, 0),
                kTfLiteOk);
    }
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_EQ(JoinedLayers(t.get()), tensors.size() == 2 ? 2 : 1);
    EXPECT_TRUE(RunThrice(&t) == expected);
  }
}

}  // namespace
}  // namespace deputy::strips_run_test
