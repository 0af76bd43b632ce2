// SPDX-License-Identifier: Apache-2.0
//
// Tests the resolvers: kernels of the library, of the program, and both together.
#include "tensorflow/lite/kernels/register.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tensorflow/lite/create_op_resolver.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/kernels/custom_ops_register.h"
#include "tensorflow/lite/kernels/register_ref.h"
#include "tensorflow/lite/model.h"
#include "tests/bindings/cpp/support/sum_model.h"

namespace deputy::cpp_test {
namespace {

using testing::HasSubstr;
using tflite::BuiltinOperator_ADD;
using tflite::BuiltinOperator_MUL;
using tflite::FlatBufferModel;
using tflite::Interpreter;
using tflite::InterpreterBuilder;
using tflite::MutableOpResolver;
using tflite::ops::builtin::BuiltinOpResolver;

// A kernel that writes 42 to its output.
TfLiteRegistration FortyTwo() {
  TfLiteRegistration kernel{};
  kernel.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    TfLiteTensor& output = context->tensors[node->outputs->data[0]];
    for (size_t i = 0; i < output.bytes / sizeof(float); ++i) output.data.f[i] = 42.0f;
    return kTfLiteOk;
  };
  return kernel;
}

// Returns the first element of subgraph 0's output; -1 if a call fails.
float RunSum(const std::string& bytes, const tflite::OpResolver& resolver) {
  const auto model = FlatBufferModel::BuildFromBuffer(bytes.data(), bytes.size());
  std::unique_ptr<Interpreter> interpreter;
  if (model == nullptr || InterpreterBuilder(*model, resolver)(&interpreter) != kTfLiteOk ||
      interpreter->AllocateTensors() != kTfLiteOk) {
    return -1;
  }
  for (int input = 0; input < 2; ++input) {
    for (int i = 0; i < 2; ++i) interpreter->typed_input_tensor<float>(input)[i] = 1.0f;
  }
  return interpreter->Invoke() == kTfLiteOk ? interpreter->typed_output_tensor<float>(0)[0] : -1;
}

TEST(ResolverTest, finds_the_librarys_kernels) {
  const BuiltinOpResolver resolver;
  const TfLiteRegistration* const add = resolver.FindOp(BuiltinOperator_ADD, 1);
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->invoke, tflite::ops::builtin::Register_ADD()->invoke);
  EXPECT_EQ(resolver.FindOp(BuiltinOperator_ADD, 1000), nullptr);
  EXPECT_NE(resolver.FindOp("TFLite_Detection_PostProcess", 1), nullptr);
  EXPECT_NE(tflite::ops::custom::Register_MFCC(), nullptr);
  EXPECT_EQ(resolver.FindOp("unknown", 1), nullptr);
  EXPECT_EQ(RunSum(SumModel(), resolver), 2.0f);
  EXPECT_EQ(RunSum(SumModel(), *tflite::CreateOpResolver()), 2.0f);
  EXPECT_EQ(RunSum(SumModel(), tflite::ops::builtin::BuiltinRefOpResolver()), 2.0f);
}

TEST(ResolverTest, prefers_the_programs_kernels) {
  const TfLiteRegistration kernel = FortyTwo();
  BuiltinOpResolver resolver;
  resolver.AddBuiltin(BuiltinOperator_ADD, &kernel);
  EXPECT_EQ(RunSum(SumModel(), resolver), 42.0f);
}

// A program passes derived resolvers by value.
TEST(ResolverTest, keeps_kernels_in_copies_of_the_base_class) {
  const TfLiteRegistration kernel = FortyTwo();
  BuiltinOpResolver resolver;
  resolver.AddBuiltin(BuiltinOperator_MUL, &kernel);
  const MutableOpResolver copy = resolver;
  EXPECT_EQ(copy.FindOp(BuiltinOperator_MUL, 1)->invoke, kernel.invoke);
  EXPECT_NE(copy.FindOp(BuiltinOperator_ADD, 1), nullptr);
}

TEST(ResolverTest, replaces_kernels_by_those_of_another_resolver) {
  const TfLiteRegistration kernel = FortyTwo();
  MutableOpResolver resolver;
  resolver.AddBuiltin(BuiltinOperator_ADD, &kernel);
  resolver.AddBuiltin(BuiltinOperator_ADD, &kernel, 1000);
  resolver.AddAll(BuiltinOpResolver());
  EXPECT_NE(resolver.FindOp(BuiltinOperator_ADD, 1)->invoke, kernel.invoke);
  EXPECT_EQ(resolver.FindOp(BuiltinOperator_ADD, 1000)->invoke, kernel.invoke);
  MutableOpResolver own;
  own.AddBuiltin(BuiltinOperator_ADD, &kernel);
  resolver.AddAll(own);
  EXPECT_EQ(resolver.FindOp(BuiltinOperator_ADD, 1)->invoke, kernel.invoke);
}

TEST(ResolverTest, runs_custom_operators) {
  SumModelOptions options;
  options.op = tflite::BuiltinOperator_CUSTOM;
  options.custom_name = "FortyTwo";
  const std::string bytes = SumModel(options);
  EXPECT_EQ(RunSum(bytes, BuiltinOpResolver()), -1);
  const TfLiteRegistration kernel = FortyTwo();
  BuiltinOpResolver resolver;
  resolver.AddCustom("FortyTwo", &kernel);
  EXPECT_EQ(RunSum(bytes, resolver), 42.0f);
}

// A custom operator without a kernel is found late, because a delegate may run it.
TEST(ResolverTest, reports_operators_without_kernels) {
  SumModelOptions options;
  options.op = tflite::BuiltinOperator_CUSTOM;
  options.custom_name = "Missing";
  const std::string custom = SumModel(options), builtin = SumModel();
  Messages messages;
  std::unique_ptr<Interpreter> interpreter;
  auto model = FlatBufferModel::BuildFromBuffer(custom.data(), custom.size(), &messages);
  ASSERT_EQ(InterpreterBuilder(*model, BuiltinOpResolver{})(&interpreter), kTfLiteOk);
  EXPECT_EQ(interpreter->AllocateTensors(), kTfLiteUnresolvedOps);
  EXPECT_THAT(messages.text(), HasSubstr("Missing"));
  interpreter.reset();
  model = FlatBufferModel::BuildFromBuffer(builtin.data(), builtin.size(), &messages);
  EXPECT_EQ(InterpreterBuilder(*model, MutableOpResolver{})(&interpreter), kTfLiteError);
  EXPECT_EQ(interpreter, nullptr);
  EXPECT_THAT(messages.text(), HasSubstr("Didn't find op for builtin opcode 'ADD'"));
}

int g_deleted_delegates = 0;

class ResolverWithDelegate : public BuiltinOpResolver {
 public:
  ResolverWithDelegate() {
    delegate_creators_.push_back([](TfLiteContext*) {
      auto* const delegate = new TfLiteDelegate(TfLiteDelegateCreate());
      delegate->Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
      return Interpreter::TfLiteDelegatePtr(delegate, [](TfLiteDelegate* owned) {
        delete owned;
        ++g_deleted_delegates;
      });
    });
  }
};

TEST(ResolverTest, applies_its_delegates_before_the_first_allocation) {
  EXPECT_EQ(RunSum(SumModel(), ResolverWithDelegate()), 2.0f);
  EXPECT_EQ(g_deleted_delegates, 1);
}

}  // namespace
}  // namespace deputy::cpp_test
