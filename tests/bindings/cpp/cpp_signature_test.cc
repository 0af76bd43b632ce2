// SPDX-License-Identifier: Apache-2.0
//
// Tests tflite::SignatureRunner and the signature functions of tflite::Interpreter.
#include "tensorflow/lite/signature_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"
#include "tests/bindings/cpp/support/sum_model.h"

namespace deputy::cpp_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointee;
using testing::StrEq;
using tflite::FlatBufferModel;
using tflite::Interpreter;
using tflite::SignatureRunner;

class SignatureTest : public testing::Test {
 protected:
  void Build(bool has_signatures) {
    SumModelOptions options;
    options.has_signatures = has_signatures;
    bytes_ = SumModel(options);
    model_ = FlatBufferModel::BuildFromBuffer(bytes_.data(), bytes_.size(), &messages_);
    ASSERT_NE(model_, nullptr);
    ASSERT_EQ(tflite::InterpreterBuilder(*model_,
                                         tflite::ops::builtin::BuiltinOpResolver{})(&interpreter_),
              kTfLiteOk);
  }

  Messages messages_;
  std::string bytes_;
  std::unique_ptr<FlatBufferModel> model_;
  std::unique_ptr<Interpreter> interpreter_;
};

TEST_F(SignatureTest, lists_signatures_and_tensors) {
  Build(/*has_signatures=*/true);
  EXPECT_THAT(interpreter_->signature_keys(),
              ElementsAre(Pointee(StrEq("add")), Pointee(StrEq("square"))));
  EXPECT_EQ(interpreter_->GetSubgraphIndexFromSignature("square"), 1);
  EXPECT_EQ(interpreter_->GetSubgraphIndexFromSignature("none"), -1);
  EXPECT_EQ(interpreter_->signature_outputs("add").at("total"), 2u);
  EXPECT_TRUE(interpreter_->signature_inputs("none").empty());
  EXPECT_EQ(interpreter_->input_tensor_by_signature("right", "add"), interpreter_->tensor(1));
  EXPECT_EQ(interpreter_->output_tensor_by_signature("result", "square"),
            interpreter_->subgraph(1)->tensor(1));
  EXPECT_EQ(interpreter_->input_tensor_by_signature("none", "add"), nullptr);
}

TEST_F(SignatureTest, runs_another_subgraph) {
  Build(/*has_signatures=*/true);
  SignatureRunner* const runner = interpreter_->GetSignatureRunner("square");
  ASSERT_NE(runner, nullptr);
  EXPECT_EQ(interpreter_->GetSignatureRunner("square"), runner);
  EXPECT_EQ(interpreter_->GetSignatureRunner("none"), nullptr);
  EXPECT_EQ(runner->signature_key(), "square");
  EXPECT_THAT(runner->input_names(), ElementsAre(StrEq("value")));
  EXPECT_EQ(runner->output_size(), 1u);
  ASSERT_EQ(runner->ResizeInputTensor("value", {3}), kTfLiteOk);
  EXPECT_EQ(runner->ResizeInputTensor("none", {3}), kTfLiteError);
  ASSERT_EQ(runner->AllocateTensors(), kTfLiteOk);
  runner->input_tensor("value")->data.f[2] = 5.0f;
  ASSERT_EQ(runner->Invoke(), kTfLiteOk);
  EXPECT_EQ(runner->output_tensor("result")->data.f[2], 25.0f);
  EXPECT_EQ(runner->output_tensor("none"), nullptr);
  EXPECT_THAT(messages_.text(), HasSubstr("Output name none was not found"));
}

TEST_F(SignatureTest, chooses_a_default) {
  Build(/*has_signatures=*/true);
  EXPECT_EQ(interpreter_->GetSignatureRunner(nullptr)->signature_key(), "add");
  Build(/*has_signatures=*/false);
  SignatureRunner* const runner = interpreter_->GetSignatureRunner(nullptr);
  ASSERT_NE(runner, nullptr);
  EXPECT_EQ(runner->signature_key(), "<placeholder signature>");
  EXPECT_THAT(runner->subgraph_input_names(), ElementsAre(StrEq("a"), StrEq("b")));
  EXPECT_THAT(runner->output_names(), ElementsAre(StrEq("sum")));
}

TEST_F(SignatureTest, uses_memory_of_the_program) {
  Build(/*has_signatures=*/true);
  SignatureRunner* const runner = interpreter_->GetSignatureRunner("square");
  alignas(64) float input[16] = {3.0f, 4.0f};
  ASSERT_EQ(runner->SetCustomAllocationForInputTensor("value", {input, sizeof input}), kTfLiteOk);
  ASSERT_EQ(runner->AllocateTensors(), kTfLiteOk);
  ASSERT_EQ(runner->Invoke(), kTfLiteOk);
  EXPECT_EQ(runner->output_tensor("result")->data.f[1], 16.0f);
  ASSERT_EQ(runner->ClearCustomAllocations(), kTfLiteOk);
  ASSERT_EQ(runner->AllocateTensors(), kTfLiteOk);
  EXPECT_NE(runner->input_tensor("value")->data.f, input);
}

TEST_F(SignatureTest, names_tensors_like_the_signature_on_demand) {
  Build(/*has_signatures=*/true);
  tflite::InterpreterOptions options;
  options.SetUseSignatureTensorNames(true);
  ASSERT_EQ(tflite::InterpreterBuilder(*model_, tflite::ops::builtin::BuiltinOpResolver{},
                                       &options)(&interpreter_),
            kTfLiteOk);
  EXPECT_STREQ(interpreter_->GetInputName(0), "left");
  EXPECT_STREQ(interpreter_->GetOutputName(0), "total");
}

}  // namespace
}  // namespace deputy::cpp_test
