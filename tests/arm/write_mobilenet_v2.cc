// SPDX-License-Identifier: Apache-2.0
//
// Writes a MobileNetV2 (width 1.0, images of 224 x 224 pixels) with random weights, whose executed
// instructions `make check-arm` counts: they depend on the shapes, not on the weights.
//
//     write_mobilenet_v2 float32|int8 FILE
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/model_builder.h"

namespace deputy {
namespace {

// Scale and zero point of int8 activations: the range of RELU6 and a similar one without
// activation.
constexpr float kActivationScale = 0.0235f;
constexpr int64_t kActivationZeroPoint = -128;
constexpr float kLinearScale = 0.05f;

// A value of the network: its tensor, the side of its square image, and its channels.
struct Value {
  int tensor, side, channels;
  float scale;
};

class Network {
 public:
  explicit Network(bool quantized) : quantized_(quantized) {}

  Value Input() { return New(224, 3, /*relu6=*/false); }
  Value Conv(const Value& x, int channels, int kernel, int stride, bool relu6);
  Value Depthwise(const Value& x, int stride);
  Value Add(const Value& a, const Value& b);
  Value Block(const Value& x, int expansion, int channels, int stride);
  // Adds the mean over the image, a layer with 1000 outputs, and SOFTMAX.
  void Finish(const Value& input, const Value& last);
  std::vector<uint8_t> File() { return builder_.Finish(); }

 private:
  [[nodiscard]] TfLiteType type() const { return quantized_ ? kTfLiteInt8 : kTfLiteFloat32; }
  // Returns the name of the next tensor. OpenVINO requires different names.
  std::string Name() { return "tensor_" + std::to_string(tensors_++); }
  Value New(int side, int channels, bool relu6);
  int Activation(const std::vector<int32_t>& shape, float scale, int64_t zero_point);
  // Adds weights with `fan_in` products per output, quantized along dimension `axis`, and a bias of
  // zeros.
  std::array<int, 2> Weights(const std::vector<int32_t>& shape, int fan_in, int axis,
                             float input_scale);

  const bool quantized_;
  ModelBuilder builder_;
  int tensors_ = 0;
  std::mt19937 random_{20260311};
};

int Network::Activation(const std::vector<int32_t>& shape, float scale, int64_t zero_point) {
  if (!quantized_) return builder_.AddTensor(type(), shape, Name());
  return builder_.AddTensor(type(), shape, Name(), {.scale = {scale}, .zero_point = {zero_point}});
}

Value Network::New(int side, int channels, bool relu6) {
  const float scale = relu6 ? kActivationScale : kLinearScale;
  const int64_t zero_point = relu6 ? kActivationZeroPoint : 0;
  return {Activation({1, side, side, channels}, scale, zero_point), side, channels, scale};
}

std::array<int, 2> Network::Weights(const std::vector<int32_t>& shape, int fan_in, int axis,
                                    float input_scale) {
  size_t count = 1;
  for (const int32_t size : shape) count *= static_cast<size_t>(size);
  const int32_t outputs = shape[static_cast<size_t>(axis)];
  const std::vector<int32_t> zeros(static_cast<size_t>(outputs));
  const float limit = std::sqrt(6.0f / static_cast<float>(fan_in));
  if (!quantized_) {
    std::uniform_real_distribution<float> uniform(-limit, limit);
    std::vector<float> weights(count);
    for (float& weight : weights) weight = uniform(random_);
    return {builder_.AddConstant(kTfLiteFloat32, shape, weights, Name()),
            builder_.AddConstant(kTfLiteFloat32, {outputs}, zeros, Name())};
  }
  std::uniform_int_distribution<int> uniform(-127, 127);
  std::vector<int8_t> weights(count);
  for (int8_t& weight : weights) weight = static_cast<int8_t>(uniform(random_));
  const std::vector<float> scales(static_cast<size_t>(outputs), limit / 127);
  const std::vector<float> bias_scales(static_cast<size_t>(outputs), limit / 127 * input_scale);
  return {builder_.AddConstant(kTfLiteInt8, shape, weights, Name(),
                               {.scale = scales, .quantized_dimension = axis}),
          builder_.AddConstant(kTfLiteInt32, {outputs}, zeros, Name(), {.scale = bias_scales})};
}

Value Network::Conv(const Value& x, int channels, int kernel, int stride, bool relu6) {
  const auto [weights, bias] =
      Weights({channels, kernel, kernel, x.channels}, kernel * kernel * x.channels, 0, x.scale);
  const Value y = New(x.side / stride, channels, relu6);
  const auto activation =
      relu6 ? schema::ActivationFunctionType::RELU6 : schema::ActivationFunctionType::NONE;
  builder_.AddOp(kTfLiteBuiltinConv2d, {x.tensor, weights, bias}, {y.tensor},
                 schema::CreateConv2DOptions(builder_.fbb(), schema::Padding::SAME, stride, stride,
                                             activation),
                 3);
  return y;
}

Value Network::Depthwise(const Value& x, int stride) {
  const auto [weights, bias] = Weights({1, 3, 3, x.channels}, 9, 3, x.scale);
  const Value y = New(x.side / stride, x.channels, /*relu6=*/true);
  builder_.AddOp(
      kTfLiteBuiltinDepthwiseConv2d, {x.tensor, weights, bias}, {y.tensor},
      schema::CreateDepthwiseConv2DOptions(builder_.fbb(), schema::Padding::SAME, stride, stride, 1,
                                           schema::ActivationFunctionType::RELU6),
      3);
  return y;
}

Value Network::Add(const Value& a, const Value& b) {
  const Value y = New(a.side, a.channels, /*relu6=*/false);
  builder_.AddOp(kTfLiteBuiltinAdd, {a.tensor, b.tensor}, {y.tensor},
                 schema::CreateAddOptions(builder_.fbb()), 2);
  return y;
}

Value Network::Block(const Value& x, int expansion, int channels, int stride) {
  const Value expanded = expansion == 1 ? x : Conv(x, expansion * x.channels, 1, 1, /*relu6=*/true);
  const Value projected = Conv(Depthwise(expanded, stride), channels, 1, 1, /*relu6=*/false);
  return stride == 1 && channels == x.channels ? Add(x, projected) : projected;
}

void Network::Finish(const Value& input, const Value& last) {
  const int mean = Activation({1, last.channels}, kActivationScale, kActivationZeroPoint);
  const int axes = builder_.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2}, Name());
  builder_.AddOp(kTfLiteBuiltinMean, {last.tensor, axes}, {mean},
                 schema::CreateReducerOptions(builder_.fbb()), 2);
  const auto [weights, bias] = Weights({1000, last.channels}, last.channels, 0, kActivationScale);
  const int logits = Activation({1, 1000}, kLinearScale, 0);
  builder_.AddOp(kTfLiteBuiltinFullyConnected, {mean, weights, bias}, {logits},
                 schema::CreateFullyConnectedOptions(builder_.fbb()), 4);
  const int output = Activation({1, 1000}, 1.0f / 256, -128);
  builder_.AddOp(kTfLiteBuiltinSoftmax, {logits}, {output},
                 schema::CreateSoftmaxOptions(builder_.fbb(), 1.0f), 2);
  builder_.SetInputs({input.tensor});
  builder_.SetOutputs({output});
}

std::vector<uint8_t> MobileNetV2(bool quantized) {
  // Expansion, output channels, blocks, and the stride of the first block.
  constexpr int kStages[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  Network network(quantized);
  const Value input = network.Input();
  Value x = network.Conv(input, 32, 3, 2, /*relu6=*/true);
  for (const auto& [expansion, channels, blocks, stride] : kStages) {
    for (int block = 0; block < blocks; ++block)
      x = network.Block(x, expansion, channels, block == 0 ? stride : 1);
  }
  network.Finish(input, network.Conv(x, 1280, 1, 1, /*relu6=*/true));
  return network.File();
}

}  // namespace
}  // namespace deputy

int main(int argc, char** argv) {
  const std::string_view type = argc == 3 ? argv[1] : "";
  if (type != "float32" && type != "int8") {
    std::fprintf(stderr, "usage: write_mobilenet_v2 float32|int8 FILE\n");
    return 2;
  }
  const std::vector<uint8_t> bytes = deputy::MobileNetV2(type == "int8");
  std::ofstream file(argv[2], std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) {
    std::fprintf(stderr, "write_mobilenet_v2: cannot write %s\n", argv[2]);
    return 1;
  }
  return 0;
}
