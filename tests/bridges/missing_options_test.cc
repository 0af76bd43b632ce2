// SPDX-License-Identifier: Apache-2.0
//
// Passes nodes without their options, which no runtime should do, to the delegates of the NPU stub,
// the CPU, NNAPI, ONNX Runtime and Hexagon: they must refuse the nodes with a reason.
// compiler_hostile_test covers the compiler, and with it the OpenCL delegate; the bridge to XNNPACK
// is a MindSpore delegate and receives attributes.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy_plugin.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::missing_options_test {
namespace {

using testing::HasSubstr;

// Returns a model of operators that have options; each reads the model's input.
std::vector<uint8_t> Model(TfLiteType type) {
  ModelBuilder m;
  const TensorExtras numbers = {.scale = {0.05f}, .zero_point = {0}};
  const TensorExtras shares = {.scale = {1.0f / 256}, .zero_point = {-128}};
  const auto tensor = [&](std::vector<int32_t> shape, const TensorExtras& extras) {
    return m.AddTensor(type, shape, "", type == kTfLiteFloat32 ? TensorExtras() : extras);
  };
  const int x = tensor({1, 4, 4, 2}, numbers);
  const std::vector<int32_t> outputs = {
      tensor({1, 4, 4, 2}, numbers), tensor({1, 4, 4, 2}, numbers), tensor({1, 2, 2, 2}, numbers),
      tensor({1, 4, 4, 2}, shares), tensor({1, 4, 4, 4}, numbers)};
  flatbuffers::FlatBufferBuilder& b = m.fbb();
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {outputs[0]}, schema::CreateAddOptions(b));
  m.AddOp(kTfLiteBuiltinMul, {x, x}, {outputs[1]}, schema::CreateMulOptions(b));
  m.AddOp(kTfLiteBuiltinMaxPool2d, {x}, {outputs[2]},
          schema::CreatePool2DOptions(b, schema::Padding::VALID, 2, 2, 2, 2));
  m.AddOp(kTfLiteBuiltinSoftmax, {x}, {outputs[3]}, schema::CreateSoftmaxOptions(b, 1));
  m.AddOp(kTfLiteBuiltinConcatenation, {x, x}, {outputs[4]},
          schema::CreateConcatenationOptions(b, 3));
  m.SetInputs({x});
  m.SetOutputs(outputs);
  return m.Finish();
}

struct QueriedDelegate {
  std::string library;  // path of the library
  Options options;
  TfLiteType type;
};

// Returns the result for each node: "supported", or the reason.
std::vector<std::string> ResultsOf(const DeputySupportResult& result) {
  std::vector<std::string> results;
  for (size_t i = 0; i < result.node_count; ++i) {
    const char* text = result.text_of_node[i];
    results.emplace_back(result.supported[i] != 0 ? "supported" : text == nullptr ? "" : text);
  }
  return results;
}

std::vector<std::string> QuerySupport(TfLiteContext* context, void* library,
                                      TfLiteDelegate* delegate) {
  const auto plugin =
      reinterpret_cast<const DeputyDelegatePlugin* (*)()>(dlsym(library, "deputy_plugin"))();
  TfLiteIntArray* plan = nullptr;
  EXPECT_EQ(context->GetExecutionPlan(context, &plan), kTfLiteOk);
  const std::vector<int32_t> nodes(plan->data, plan->data + plan->size);
  std::vector<uint8_t> supported(nodes.size());
  std::vector<int32_t> reasons(nodes.size()), groups(nodes.size(), -1);
  std::vector<const char*> texts(nodes.size());
  std::vector<double> costs(nodes.size(), -1);
  DeputySupportResult result = {
      sizeof result,  nodes.size(), nodes.data(),  supported.data(),
      reasons.data(), texts.data(), groups.data(), costs.data(),
  };
  EXPECT_EQ(plugin->get_support(delegate, context, &result), kTfLiteOk);
  return ResultsOf(result);
}

// Returns the library's result for the model's nodes, with or without their options.
std::vector<std::string> SupportTexts(const QueriedDelegate& queried, bool with_options) {
  void* const library = dlopen(queried.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {dlerror()};
  std::vector<std::string> results;
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : queried.options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const auto create = reinterpret_cast<TfLiteDelegate* (*)(const char**, const char**, size_t,
                                                           void (*)(const char*))>(
      dlsym(library, "tflite_plugin_create_delegate"));
  const auto destroy =
      reinterpret_cast<void (*)(TfLiteDelegate*)>(dlsym(library, "tflite_plugin_destroy_delegate"));
  TfLiteDelegate* const delegate = create(keys.data(), values.data(), keys.size(), nullptr);
  if (delegate == nullptr) return {"no delegate"};
  Programmed runtime([&](TfLiteContext* context, TfLiteDelegate*) {
    std::vector<std::pair<TfLiteNode*, void*>> taken;
    TfLiteIntArray* plan = nullptr;
    EXPECT_EQ(context->GetExecutionPlan(context, &plan), kTfLiteOk);
    for (int i = 0; i < plan->size && !with_options; ++i) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      EXPECT_EQ(context->GetNodeAndRegistration(context, plan->data[i], &node, &registration),
                kTfLiteOk);
      taken.emplace_back(node, std::exchange(node->builtin_data, nullptr));
    }
    results = QuerySupport(context, library, delegate);
    for (const auto& [node, options] : taken) node->builtin_data = options;
    return kTfLiteOk;
  });
  {
    TestInterpreter t(Model(queried.type));
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &runtime.base), kTfLiteOk);
  }
  destroy(delegate);
  return results;
}

std::vector<QueriedDelegate> OurDelegates() {
  const std::string doubles = BuildPath("tests/doubles");
  return {
      {BuildPath("libdeputy_npu_stub.so"), {}, kTfLiteFloat32},
      {BuildPath("libdeputy_cpu.so"), {}, kTfLiteFloat32},
      {BuildPath("libdeputy_nnapi.so"),
       {{"library", doubles + "/libneuralnetworks.so"}},
       kTfLiteFloat32},
      {BuildPath("libdeputy_onnxruntime.so"),
       {{"library", doubles + "/libonnxruntime.so"}},
       kTfLiteFloat32},
      {BuildPath("libdeputy_hexagon.so"),
       {{"interface_library", doubles + "/hexagon/libhexagon_interface.so"}},
       kTfLiteInt8},
  };
}

class MissingOptions : public QuietTest {};

TEST_F(MissingOptions, leave_the_node_on_the_cpu_with_a_reason) {
  for (const QueriedDelegate& queried : OurDelegates()) {
    SCOPED_TRACE(queried.library);
    EXPECT_THAT(SupportTexts(queried, true), testing::Contains("supported").Times(testing::Ge(4)));
    const std::vector<std::string> results = SupportTexts(queried, false);
    EXPECT_EQ(results.size(), 5u);
    EXPECT_THAT(results, testing::Each(HasSubstr("expected options, found none")));
  }
}

}  // namespace
}  // namespace deputy::missing_options_test
