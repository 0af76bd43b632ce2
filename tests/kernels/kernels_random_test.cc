// SPDX-License-Identifier: Apache-2.0
//
// Compares convolutions and matrix products of random shapes, strides, dilations and types on every
// CPU table and several numbers of threads with the plain code: int8 exactly, float32 within a
// tolerance. Inputs and outputs are memory of the client that ends at an inaccessible page.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "kernels/cpu/cpu.h"
#include "tests/cases/case.h"
#include "tests/kernels/cpu/tiles_in_memory.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::kernels_random_test {
namespace {

using Bytes = std::vector<uint8_t>;

// Memory of the given size that ends directly before an inaccessible page.
class FencedMemory {
 public:
  explicit FencedMemory(size_t bytes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inside = (bytes + page - 1) / page * page;
    total_ = inside + page;
    base_ = static_cast<char*>(
        mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + inside, page, PROT_NONE);
    allocation_ = {base_ + inside - bytes, bytes};
  }
  ~FencedMemory() { munmap(base_, total_); }
  FencedMemory(const FencedMemory&) = delete;
  FencedMemory& operator=(const FencedMemory&) = delete;

  void* data() const { return allocation_.data; }
  void SetAsMemoryOf(const TestInterpreter& t, int tensor) const {
    EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(
                  t.get(), tensor, &allocation_, kTfLiteCustomAllocationFlagsSkipAlignCheck),
              kTfLiteOk)
        << t.log();
  }

 private:
  char* base_;
  size_t total_;
  TfLiteCustomAllocation allocation_;
};

// A model of one operator, with the contents of its inputs.
struct Example {
  std::string name;
  Bytes model;
  bool is_float = true;
  int output = 0;
  std::vector<std::pair<int, Bytes>> feeds = {};  // indices of inputs, and their contents
};

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  Example Write() {
    example_.is_float = Chance(2);
    switch (Pick(0, 5)) {
      case 0:
      case 1:
        WriteConv();
        break;
      case 2:
      case 3:
        WriteDepthwise();
        break;
      case 4:
        WriteProduct();
        break;
      default:
        WriteTransposed();
    }
    example_.model = builder_.Finish();
    return std::move(example_);
  }

 private:
  int Pick(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<uint32_t>(most - least + 1));
  }
  bool Chance(uint32_t one_in) { return random_() % one_in == 0; }
  // Returns a random number of channels around the sizes of tiles and vectors.
  int Channels() { return Chance(3) ? Pick(1, 10) : std::max(1, 8 * Pick(0, 9) + Pick(-1, 1)); }
  schema::ActivationFunctionType Activation() {
    using Type = schema::ActivationFunctionType;
    constexpr Type kTypes[] = {Type::NONE, Type::RELU, Type::RELU6, Type::RELU_N1_TO_1};
    return kTypes[Pick(0, 3)];
  }

  TfLiteType type() const { return example_.is_float ? kTfLiteFloat32 : kTfLiteInt8; }
  TensorExtras Steps(float scale) {
    return example_.is_float ? TensorExtras() : PerTensor(scale, Pick(-128, 127));
  }
  // Adds a tensor of the type, or of int32 for a bias of int8: a constant or an input.
  int Add(const Shape& shape, const TensorExtras& extras, bool constant, bool is_bias = false) {
    const size_t count = CountOf(shape);
    const TfLiteType own = is_bias && !example_.is_float ? kTfLiteInt32 : type();
    Bytes contents(count * (own == kTfLiteInt8 ? 1 : 4));
    if (own == kTfLiteFloat32) {
      const std::vector<float> values = RandomFloats(count, random_());
      if (count > 0) std::memcpy(contents.data(), values.data(), contents.size());
    } else {
      for (uint8_t& byte : contents) byte = static_cast<uint8_t>(random_());
      // Limits 32-bit numbers to a magnitude at which the sums still affect the result.
      for (size_t i = 3; own == kTfLiteInt32 && i < contents.size(); i += 4) {
        contents[i] = contents[i - 1] = contents[i - 2] >= 128 ? 255 : 0;
      }
    }
    if (constant) return builder_.AddConstant<uint8_t>(own, shape, contents, "c", extras);
    const int tensor = builder_.AddTensor(own, shape, "x", extras);
    example_.feeds.emplace_back(tensor, std::move(contents));
    return tensor;
  }
  // Adds input, weights and output of a layer, and its bias.
  std::vector<int32_t> AddLayer(const Shape& input, const Shape& weights, int channels, int axis) {
    const float terms = static_cast<float>(CountOf(weights)) / static_cast<float>(channels);
    const int x = Add(input, Steps(0.03f), false);
    TensorExtras scales, bias_scales;
    if (!example_.is_float) {
      scales = Chance(2) ? PerTensor(0.01f, 0) : PerChannel(0.01f, channels, axis);
      bias_scales = scales;
      for (float& scale : bias_scales.scale) scale *= 0.03f;
      bias_scales.quantized_dimension = 0;
    }
    const int w = Add(weights, scales, !Chance(4));
    const int b = Add({channels}, bias_scales, !Chance(4), true);
    AddOutput(terms);
    example_.name += Text(input) + " " + Text(weights);
    return {x, w, b};
  }
  void AddOutput(float terms) {
    const float scale = 0.02f * std::sqrt(terms) * (Chance(6) ? 0.01f : 1.0f);
    example_.output = builder_.AddTensor(type(), {1}, "y", Steps(scale));
  }
  template <typename Options>
  void Finish(TfLiteBuiltinOperator code, const std::vector<int32_t>& inputs,
              flatbuffers::Offset<Options> options) {
    builder_.AddOp(code, inputs, {example_.output}, options);
    std::vector<int32_t> fed;
    for (const auto& [tensor, contents] : example_.feeds) fed.push_back(tensor);
    builder_.SetInputs(fed);
    builder_.SetOutputs({example_.output});
  }

  struct Windows {
    int height, width, stride_y, stride_x, dilation_y = 1, dilation_x = 1;
    schema::Padding padding;
  };
  Windows PickWindows() {
    Windows w = {Pick(1, 5), Pick(1, 5), 1, 1, 1, 1, Chance(2) ? kSame : kValid};
    if (Chance(2)) w.height = w.width = Chance(2) ? 3 : 2 * Pick(0, 2) + 1;
    if (Chance(2)) w.stride_y = w.stride_x = Pick(1, 3);
    if (Chance(5)) w.stride_x = Pick(1, 7);
    if (Chance(4)) w.dilation_y = w.dilation_x = Pick(1, 3);
    if (Chance(8)) w.dilation_x = Pick(1, 4);
    example_.name += std::to_string(w.height) + "x" + std::to_string(w.width) + " stride " +
                     Text({w.stride_y, w.stride_x}) + " dilation " +
                     Text({w.dilation_y, w.dilation_x}) + " " + schema::EnumNamePadding(w.padding) +
                     " ";
    return w;
  }
  Shape PickImage(const Windows& w, int channels) {
    const int height = (w.height - 1) * w.dilation_y + Pick(1, 12);
    const int width = (w.width - 1) * w.dilation_x + Pick(1, Chance(4) ? 90 : 20);
    return {Chance(4) ? Pick(1, 9) : 1, height, width, channels};
  }

  void WriteConv() {
    example_.name = "CONV_2D ";
    const Windows w = PickWindows();
    const int groups = Chance(8) ? Pick(2, 4) : 1, depth = Channels(), out = groups * Channels();
    const auto inputs =
        AddLayer(PickImage(w, groups * depth), {out, w.height, w.width, depth}, out, 0);
    Finish(kTfLiteBuiltinConv2d, inputs,
           schema::CreateConv2DOptions(builder_.fbb(), w.padding, w.stride_x, w.stride_y,
                                       Activation(), w.dilation_x, w.dilation_y));
  }
  void WriteDepthwise() {
    example_.name = "DEPTHWISE_CONV_2D ";
    const Windows w = PickWindows();
    const int in = Channels(), out = in * (Chance(6) ? Pick(2, 4) : 1);
    const auto inputs = AddLayer(PickImage(w, in), {1, w.height, w.width, out}, out, 3);
    Finish(
        kTfLiteBuiltinDepthwiseConv2d, inputs,
        schema::CreateDepthwiseConv2DOptions(builder_.fbb(), w.padding, w.stride_x, w.stride_y,
                                             out / in, Activation(), w.dilation_x, w.dilation_y));
  }
  void WriteProduct() {
    const int rows = Pick(1, 60), depth = Chance(3) ? Pick(1, 500) : Channels(), out = Channels();
    if (Chance(2)) {
      example_.name = "FULLY_CONNECTED ";
      const auto inputs = AddLayer({rows, depth}, {out, depth}, out, 0);
      Finish(kTfLiteBuiltinFullyConnected, inputs,
             schema::CreateFullyConnectedOptions(builder_.fbb(), Activation()));
      return;
    }
    const bool left = Chance(2), right = Chance(2);
    const int batches = Pick(1, 3);
    const Shape a = {batches, left ? depth : rows, left ? rows : depth};
    const Shape b = {Chance(2) ? 1 : batches, right ? out : depth, right ? depth : out};
    example_.name = "BATCH_MATMUL " + Text(a) + " " + Text(b);
    const int x = Add(a, Steps(0.03f), false), y = Add(b, Steps(0.01f), Chance(2));
    AddOutput(static_cast<float>(depth));
    Finish(kTfLiteBuiltinBatchMatmul, {x, y},
           schema::CreateBatchMatMulOptions(builder_.fbb(), left, right));
  }
  void WriteTransposed() {
    example_.name = "TRANSPOSE_CONV ";
    Windows w = PickWindows();
    if (Chance(2)) w.stride_y = w.height, w.stride_x = w.width;
    const int height = Pick(1, 6), width = Pick(1, 9), in = Channels(), out = Channels();
    const bool same = w.padding == kSame;
    const Shape made = {1, same ? height * w.stride_y : (height - 1) * w.stride_y + w.height,
                        same ? width * w.stride_x : (width - 1) * w.stride_x + w.width, out};
    const int shape = builder_.AddConstant<int32_t>(kTfLiteInt32, {4}, made);
    const auto inputs = AddLayer({1, height, width, in}, {out, w.height, w.width, in}, out, 0);
    Finish(kTfLiteBuiltinTransposeConv, {shape, inputs[1], inputs[0], inputs[2]},
           schema::CreateTransposeConvOptions(builder_.fbb(), w.padding, w.stride_x, w.stride_y,
                                              Activation()));
  }

  std::mt19937 random_;
  ModelBuilder builder_;
  Example example_;
};

Bytes ResultOf(const Example& example, const char* table, int threads) {
  const ScopedCpu guard(FindTestCpu(table));
  std::vector<std::unique_ptr<FencedMemory>> memory;  // must outlive the interpreter
  TestInterpreter t(example.model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
  });
  if (t.get() == nullptr || t.Allocate() != kTfLiteOk) {
    ADD_FAILURE() << t.log();
    return {};
  }
  for (const auto& [tensor, contents] : example.feeds) {
    memory.push_back(std::make_unique<FencedMemory>(contents.size()));
    std::memcpy(memory.back()->data(), contents.data(), contents.size());
    memory.back()->SetAsMemoryOf(t, tensor);
  }
  const size_t bytes = TfLiteTensorByteSize(t.Tensor(example.output));
  memory.push_back(std::make_unique<FencedMemory>(bytes));
  memory.back()->SetAsMemoryOf(t, example.output);
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  Bytes made(bytes);
  std::memcpy(made.data(), memory.back()->data(), bytes);
  return made;
}

void ExpectClose(const Bytes& made, const Bytes& plain) {
  ASSERT_EQ(made.size(), plain.size());
  std::vector<float> a(made.size() / sizeof(float)), b(a.size());
  std::memcpy(a.data(), made.data(), made.size());
  std::memcpy(b.data(), plain.data(), plain.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3f) << "at " << i;
}

TEST(RandomLayers, every_table_agrees_with_the_reference) {
  constexpr uint32_t kExamples = 400;
  for (uint32_t seed = 1; seed <= kExamples; ++seed) {
    const Example example = Writer(seed).Write();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + example.name);
    const Bytes plain = ResultOf(example, "reference", 1);
    for (const CpuKernels* table : CpuTablesAndTiles()) {
      const int threads = 1 + static_cast<int>(seed % 5);
      SCOPED_TRACE(std::string(table->name) + ", threads: " + std::to_string(threads));
      const Bytes made = ResultOf(example, table->name, threads);
      if (example.is_float) {
        ExpectClose(made, plain);
      } else {
        EXPECT_EQ(made, plain);
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace deputy::kernels_random_test
