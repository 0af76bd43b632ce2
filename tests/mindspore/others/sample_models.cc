// SPDX-License-Identifier: Apache-2.0
//
// Writes the .ms models that public programs for MindSpore Lite expect, with the names and shapes
// of their inputs, outputs and nodes:
//
//     mindspore_sample_models FOLDER
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/mindspore/ms/ms_writer.h"

namespace deputy::ms {
namespace {

std::vector<float> Weights(size_t count) {
  std::vector<float> weights(count);
  for (size_t i = 0; i < count; ++i) weights[i] = static_cast<float>(i % 7) * 0.25F - 0.75F;
  return weights;
}

// Means over the image, a fully connected layer and a softmax.
std::vector<uint8_t> MobileNet() {
  constexpr int kClasses = 1001;
  MsWriter w;
  const uint32_t x = w.Input({1, 224, 224, 3});
  w.tensors[x].name = "graph_input-173";
  const uint32_t means = w.Tensor({1, 3});
  w.Node(file::PrimitiveType_ReduceFusion, {x, w.Ints({1, 2})}, {means},
         file::CreateReduceFusion(w.fbb(), false, file::ReduceMode_ReduceMean));
  const uint32_t logits = w.Tensor({1, kClasses});
  const uint32_t weights = w.Constant<float>({kClasses, 3}, Weights(3 * kClasses));
  w.Node(file::PrimitiveType_FullConnection, {means, weights}, {logits},
         file::CreateFullConnection(w.fbb(), false, true, 1));
  const uint32_t y = w.Output({1, kClasses});
  w.tensors[y].name = "Softmax-65";
  w.node_name = "Softmax-65";
  w.Node(file::PrimitiveType_Softmax, {logits}, {y}, file::CreateSoftmax(w.fbb(), w.Longs({-1})));
  return w.Finish();
}

// One fully connected layer.
std::vector<uint8_t> LeNet() {
  const std::string prefix = "Default/network-WithLossCell/_backbone-LeNet5/fc3-Dense/";
  MsWriter w;
  const uint32_t x = w.Input({2, 32, 32, 1});
  const uint32_t rows = w.Tensor({2, 1024});
  w.Node(file::PrimitiveType_Reshape, {x, w.Ints({-1, 1024})}, {rows});
  const uint32_t y = w.Output({2, 10});
  w.tensors[y].name = prefix + "BiasAdd-op121";
  w.node_name = prefix + "MatMul-op118";
  w.Node(file::PrimitiveType_FullConnection, {rows, w.Constant<float>({10, 1024}, Weights(10240))},
         {y}, file::CreateFullConnection(w.fbb(), false, true, 1));
  return w.Finish();
}

// An activation, a transpose from NHWC to NCHW and back around an addition.
std::vector<uint8_t> Transposes() {
  MsWriter w;
  const uint32_t x = w.Input({1, 2, 2, 3}), a = w.Tensor({1, 2, 2, 3}), b = w.Tensor({1, 3, 2, 2});
  const uint32_t c = w.Tensor({1, 3, 2, 2}), y = w.Output({1, 2, 2, 3});
  w.Node(file::PrimitiveType_Activation, {x}, {a},
         file::CreateActivation(w.fbb(), file::ActivationType_RELU));
  w.Node(file::PrimitiveType_Transpose, {a, w.Ints({0, 3, 1, 2})}, {b});
  w.Node(file::PrimitiveType_AddFusion, {b, b}, {c});
  w.Node(file::PrimitiveType_Transpose, {c, w.Ints({0, 2, 3, 1})}, {y});
  return w.Finish();
}

// One operator of a vendor, with two inputs.
std::vector<uint8_t> CustomAdd(const char* type) {
  MsWriter w;
  const uint32_t a = w.Input({1, 28, 28, 3}), b = w.Input({1, 28, 28, 3});
  const auto key = w.fbb().CreateString("test_key");
  const std::string text = "test_data";
  const auto value = w.fbb().CreateVector(std::vector<uint8_t>(text.begin(), text.end()));
  const auto attribute = file::CreateAttribute(w.fbb(), key, value);
  const auto attributes = w.fbb().CreateVector(std::vector{attribute});
  const auto name = w.fbb().CreateString(type);
  w.Node(file::PrimitiveType_Custom, {a, b}, {w.Output({1, 28, 28, 3})},
         file::CreateCustom(w.fbb(), name, attributes));
  return w.Finish();
}

bool Write(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

}  // namespace
}  // namespace deputy::ms

int main(int argc, char** argv) {
  using namespace deputy::ms;  // NOLINT(google-build-using-namespace)
  if (argc != 2) {
    std::fprintf(stderr, "usage: mindspore_sample_models FOLDER\n");
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  const bool written = Write(folder + "mobilenetv2.ms", MobileNet()) &&
                       Write(folder + "lenet_tod_infer.ms", LeNet()) &&
                       Write(folder + "lenet_train.ms", LeNet()) &&
                       Write(folder + "transposes.ms", Transposes()) &&
                       Write(folder + "custom_add.ms", CustomAdd("Custom_Add")) &&
                       Write(folder + "add.ms", CustomAdd("Add"));
  if (!written) std::perror(argv[1]);
  return written ? 0 : 1;
}
