// SPDX-License-Identifier: Apache-2.0
//
// Tests tflite::Interpreter and InterpreterBuilder on a model and on graphs that are built in code.
#include "tensorflow/lite/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/optional_debug_tools.h"
#include "tests/bindings/cpp/support/sum_model.h"

namespace deputy::cpp_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tflite::FlatBufferModel;
using tflite::Interpreter;
using tflite::InterpreterBuilder;
using tflite::ops::builtin::BuiltinOpResolver;

// Builds an interpreter of SumModel().
class InterpreterOfModel : public testing::Test {
 protected:
  void SetUp() override {
    model_ = FlatBufferModel::BuildFromBuffer(bytes_.data(), bytes_.size(), &messages_);
    ASSERT_NE(model_, nullptr);
    ASSERT_EQ(InterpreterBuilder(*model_, resolver_)(&interpreter_), kTfLiteOk);
  }

  Messages messages_;
  const std::string bytes_ = SumModel();
  BuiltinOpResolver resolver_;
  std::unique_ptr<FlatBufferModel> model_;
  std::unique_ptr<Interpreter> interpreter_;
};

TEST_F(InterpreterOfModel, runs_and_describes_the_model) {
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_THAT(interpreter_->inputs(), ElementsAre(0, 1));
  EXPECT_THAT(interpreter_->outputs(), ElementsAre(2));
  EXPECT_THAT(interpreter_->execution_plan(), ElementsAre(0));
  EXPECT_STREQ(interpreter_->GetInputName(1), "b");
  EXPECT_STREQ(interpreter_->GetOutputName(0), "sum");
  EXPECT_EQ(interpreter_->tensors_size(), 3u);
  EXPECT_EQ(interpreter_->nodes_size(), 1u);
  EXPECT_EQ(interpreter_->subgraphs_size(), 2u);
  EXPECT_EQ(interpreter_->subgraph(0)->GetName(), "main");
  EXPECT_EQ(interpreter_->subgraph(2), nullptr);
  EXPECT_EQ(interpreter_->tensor(3), nullptr);
  EXPECT_EQ(interpreter_->node_and_registration(0)->first.inputs->data[1], 1);
  EXPECT_EQ(interpreter_->node_and_registration(1, 0)->first.outputs->data[0], 1);

  for (int i = 0; i < 2; ++i) {
    interpreter_->typed_input_tensor<float>(0)[i] = static_cast<float>(i + 1);
    interpreter_->typed_input_tensor<float>(1)[i] = 10.0f;
  }
  EXPECT_EQ(interpreter_->typed_input_tensor<int>(0), nullptr);
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter_->typed_output_tensor<float>(0)[0], 11.0f);
  EXPECT_EQ(interpreter_->typed_output_tensor<float>(0)[1], 12.0f);
  EXPECT_EQ(messages_.text(), "");
}

TEST_F(InterpreterOfModel, follows_a_resize) {
  ASSERT_EQ(interpreter_->ResizeInputTensor(0, {3}), kTfLiteOk);
  ASSERT_EQ(interpreter_->ResizeInputTensor(1, {3}), kTfLiteOk);
  EXPECT_EQ(interpreter_->ResizeInputTensorStrict(0, {4}), kTfLiteError);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(interpreter_->output_tensor(0)->bytes, 3 * sizeof(float));
}

TEST_F(InterpreterOfModel, uses_memory_of_the_program) {
  alignas(64) float sum[16] = {};
  ASSERT_EQ(interpreter_->SetCustomAllocationForTensor(2, {sum, sizeof sum}), kTfLiteOk);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  for (int i = 0; i < 2; ++i) {
    interpreter_->typed_input_tensor<float>(0)[i] = 1.5f;
    interpreter_->typed_input_tensor<float>(1)[i] = 2.0f;
  }
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_EQ(sum[1], 3.5f);
}

TEST_F(InterpreterOfModel, frees_its_memory_on_demand) {
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  ASSERT_EQ(interpreter_->ReleaseNonPersistentMemory(), kTfLiteOk);
  EXPECT_NE(interpreter_->Invoke(), kTfLiteOk);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(interpreter_->Invoke(), kTfLiteOk);
}

TEST_F(InterpreterOfModel, prints_its_state) {
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  testing::internal::CaptureStdout();
  tflite::PrintInterpreterState(interpreter_.get());
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("Interpreter has 2 subgraphs."));
  EXPECT_THAT(text, HasSubstr("Node   0 ADD\n  Inputs: [0,1]\n  Outputs: [2]"));
}

// Third-party code casts impl_ of a context to the subgraph.
TEST_F(InterpreterOfModel, has_its_subgraphs_in_the_contexts) {
  for (int i = 0; i < 2; ++i) {
    tflite::Subgraph* const subgraph = interpreter_->subgraph(i);
    EXPECT_EQ(static_cast<tflite::Subgraph*>(subgraph->context()->impl_), subgraph);
    EXPECT_EQ((*subgraph->GetSubgraphs())[static_cast<size_t>(i)].get(), subgraph);
  }
}

// A delegate that claims no node and counts its deletion.
struct IdleDelegate : TfLiteDelegate {
  explicit IdleDelegate(int* deleted) : TfLiteDelegate(TfLiteDelegateCreate()), deletions(deleted) {
    Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
  }
  ~IdleDelegate() { ++*deletions; }
  int* deletions;
};

TEST_F(InterpreterOfModel, owns_delegates_until_it_is_deleted) {
  int deletions = 0;
  ASSERT_EQ(interpreter_->ModifyGraphWithDelegate(std::make_unique<IdleDelegate>(&deletions)),
            kTfLiteOk);
  Interpreter::TfLiteDelegatePtr second(new IdleDelegate(&deletions), [](TfLiteDelegate* delegate) {
    delete static_cast<IdleDelegate*>(delegate);
  });
  ASSERT_EQ(interpreter_->ModifyGraphWithDelegate(std::move(second)), kTfLiteOk);
  EXPECT_EQ(deletions, 0);
  interpreter_.reset();
  EXPECT_EQ(deletions, 2);
}

// A delegate whose buffers contain their own number.
TfLiteDelegate NumberingDelegate(std::vector<int>* freed) {
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.data_ = freed;
  delegate.Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
  delegate.CopyFromBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle buffer,
                                     TfLiteTensor* tensor) {
    for (int i = 0; i < 2; ++i) tensor->data.f[i] = static_cast<float>(buffer);
    return kTfLiteOk;
  };
  delegate.FreeBufferHandle = [](TfLiteContext*, TfLiteDelegate* self, TfLiteBufferHandle* buffer) {
    static_cast<std::vector<int>*>(self->data_)->push_back(*buffer);
    *buffer = kTfLiteNullBufferHandle;
  };
  return delegate;
}

TEST_F(InterpreterOfModel, attaches_buffers_of_delegates) {
  std::vector<int> freed;
  TfLiteDelegate delegate = NumberingDelegate(&freed);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  TfLiteBufferHandle buffer = 0;
  TfLiteDelegate* owner = &delegate;
  ASSERT_EQ(interpreter_->GetBufferHandle(0, &buffer, &owner), kTfLiteOk);
  EXPECT_EQ(buffer, kTfLiteNullBufferHandle);
  EXPECT_EQ(owner, nullptr);
  EXPECT_EQ(interpreter_->GetBufferHandle(9, &buffer, &owner), kTfLiteError);

  ASSERT_EQ(interpreter_->SetBufferHandle(0, 5, &delegate), kTfLiteOk);
  ASSERT_EQ(interpreter_->SetBufferHandle(interpreter_->tensor(0), 6, &delegate), kTfLiteOk);
  EXPECT_THAT(freed, ElementsAre(5));
  ASSERT_EQ(interpreter_->GetBufferHandle(0, &buffer, &owner), kTfLiteOk);
  EXPECT_EQ(buffer, 6);
  EXPECT_EQ(owner, &delegate);
  interpreter_->tensor(0)->data_is_stale = true;
  ASSERT_EQ(interpreter_->EnsureTensorDataIsReadable(0), kTfLiteOk);
  EXPECT_EQ(interpreter_->typed_tensor<float>(0)[1], 6.0f);
  interpreter_.reset();
  EXPECT_THAT(freed, ElementsAre(5, 6));
}

TEST_F(InterpreterOfModel, rejects_a_failing_delegate_and_runs_without_it) {
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteError; };
  EXPECT_EQ(interpreter_->ModifyGraphWithDelegate(&delegate), kTfLiteDelegateError);
  EXPECT_EQ(interpreter_->ModifyGraphWithDelegate(static_cast<TfLiteDelegate*>(nullptr)),
            kTfLiteDelegateError);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(interpreter_->Invoke(), kTfLiteOk);
}

TEST_F(InterpreterOfModel, returns_the_delegates_status_from_the_builder) {
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteError; };
  InterpreterBuilder builder(*model_, resolver_);
  builder.AddDelegate(static_cast<TfLiteDelegate*>(nullptr));
  builder.AddDelegate(&delegate);
  EXPECT_EQ(builder(&interpreter_), kTfLiteDelegateError);
  EXPECT_EQ(interpreter_, nullptr);
  EXPECT_THAT(messages_.text(), HasSubstr("Null delegate."));
  EXPECT_THAT(messages_.text(), HasSubstr("Failed to apply delegates."));
}

TEST_F(InterpreterOfModel, sets_threads) {
  EXPECT_EQ(interpreter_->SetNumThreads(-2), kTfLiteError);
  ASSERT_EQ(interpreter_->SetNumThreads(3), kTfLiteOk);
  EXPECT_EQ(interpreter_->subgraph(1)->context()->recommended_num_threads, 3);
  InterpreterBuilder builder(*model_, resolver_);
  EXPECT_EQ(builder(&interpreter_, -2), kTfLiteError);
  EXPECT_EQ(interpreter_, nullptr);
  ASSERT_EQ(builder(&interpreter_, 2), kTfLiteOk);
  EXPECT_EQ(interpreter_->subgraph(0)->context()->recommended_num_threads, 2);
}

TEST_F(InterpreterOfModel, cancels) {
  EXPECT_EQ(interpreter_->Cancel(), kTfLiteError);
  ASSERT_EQ(interpreter_->EnableCancellation(), kTfLiteOk);
  EXPECT_EQ(interpreter_->Cancel(), kTfLiteOk);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(interpreter_->Invoke(), kTfLiteOk);
  bool is_cancelled = true;
  interpreter_->SetCancellationFunction(&is_cancelled,
                                        [](void* data) { return *static_cast<bool*>(data); });
  EXPECT_EQ(interpreter_->Invoke(), kTfLiteError);
  is_cancelled = false;
  EXPECT_EQ(interpreter_->Invoke(), kTfLiteOk);
}

// Builds the graph t2 = t0 + t1 of float tensors of two elements.
void BuildSum(Interpreter* interpreter) {
  ASSERT_EQ(interpreter->AddTensors(3), kTfLiteOk);
  ASSERT_EQ(interpreter->SetInputs({0, 1}), kTfLiteOk);
  ASSERT_EQ(interpreter->SetOutputs({2}), kTfLiteOk);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(interpreter->SetTensorParametersReadWrite(i, kTfLiteFloat32, "t", {2},
                                                        TfLiteQuantizationParams{}),
              kTfLiteOk);
  }
  auto* const options = static_cast<TfLiteAddParams*>(calloc(1, sizeof(TfLiteAddParams)));
  int node = -1;
  ASSERT_EQ(interpreter->AddNodeWithParameters({0, 1}, {2}, nullptr, 0, options,
                                               tflite::ops::builtin::Register_ADD(), &node),
            kTfLiteOk);
  EXPECT_EQ(node, 0);
}

TEST(BuiltInterpreter, runs_a_graph_built_in_code) {
  Interpreter interpreter;
  BuildSum(&interpreter);
  ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
  interpreter.typed_tensor<float>(0)[1] = 4.0f;
  interpreter.typed_tensor<float>(1)[1] = 0.5f;
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.typed_tensor<float>(2)[1], 4.5f);
}

TEST(BuiltInterpreter, keeps_constants_and_variables) {
  const float constant[] = {7.0f, 8.0f};
  Interpreter interpreter;
  BuildSum(&interpreter);
  ASSERT_EQ(interpreter.SetTensorParametersReadOnly(
                0, kTfLiteFloat32, "constant", {2}, TfLiteQuantizationParams{},
                reinterpret_cast<const char*>(constant), sizeof constant),
            kTfLiteOk);
  ASSERT_EQ(interpreter.SetTensorParametersReadWrite(1, kTfLiteFloat32, "variable", {2},
                                                     TfLiteQuantizationParams{},
                                                     /*is_variable=*/true),
            kTfLiteOk);
  ASSERT_EQ(interpreter.SetInputs({}), kTfLiteOk);
  ASSERT_EQ(interpreter.SetVariables({1}), kTfLiteOk);
  ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(interpreter.tensor(0)->allocation_type, kTfLiteMmapRo);
  interpreter.typed_tensor<float>(1)[0] = 1.0f;
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.typed_tensor<float>(2)[0], 8.0f);
  ASSERT_EQ(interpreter.ResetVariableTensors(), kTfLiteOk);
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.typed_tensor<float>(2)[0], 7.0f);
}

// The sum is an intermediate result. Without the option, a later tensor would reuse its memory.
TEST(BuiltInterpreter, preserves_all_tensors_on_demand) {
  Interpreter interpreter;
  BuildSum(&interpreter);
  ASSERT_EQ(interpreter.AddTensors(2), kTfLiteOk);
  for (int i = 3; i < 5; ++i) {
    interpreter.SetTensorParametersReadWrite(i, kTfLiteFloat32, "t", {2},
                                             TfLiteQuantizationParams{});
    interpreter.AddNodeWithParameters({i - 1}, {i}, nullptr, 0, nullptr,
                                      tflite::ops::builtin::Register_NEG());
  }
  ASSERT_EQ(interpreter.SetOutputs({4}), kTfLiteOk);
  tflite::InterpreterOptions options;
  options.SetPreserveAllTensors();
  ASSERT_EQ(interpreter.ApplyOptions(&options), kTfLiteOk);
  for (const int size : {2, 5}) {
    ASSERT_EQ(interpreter.ResizeInputTensor(0, {size}), kTfLiteOk);
    ASSERT_EQ(interpreter.ResizeInputTensor(1, {size}), kTfLiteOk);
    ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
    interpreter.typed_tensor<float>(0)[size - 1] = 2.0f;
    interpreter.typed_tensor<float>(1)[size - 1] = 1.0f;
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
    const float expected[] = {2.0f, 1.0f, 3.0f, -3.0f, 3.0f};
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(interpreter.typed_tensor<float>(i)[size - 1], expected[i]);
  }
}

// Nodes after a dynamic tensor are prepared while the graph runs, so that memory of the program for
// their outputs is checked then.
TEST(BuiltInterpreter, checks_memory_of_outputs_when_their_shapes_are_known) {
  Interpreter interpreter;
  ASSERT_EQ(interpreter.AddTensors(4), kTfLiteOk);
  ASSERT_EQ(interpreter.SetInputs({0, 2}), kTfLiteOk);
  ASSERT_EQ(interpreter.SetOutputs({1, 3}), kTfLiteOk);
  for (int i = 0; i < 4; ++i) {
    interpreter.SetTensorParametersReadWrite(i, kTfLiteFloat32, "t", {3},
                                             TfLiteQuantizationParams{});
  }
  TfLiteRegistration* const neg = tflite::ops::builtin::Register_NEG();
  interpreter.AddNodeWithParameters({0}, {1}, nullptr, 0, nullptr, neg);
  interpreter.AddNodeWithParameters({2}, {3}, nullptr, 0, nullptr, neg);
  interpreter.tensor(1)->allocation_type = kTfLiteDynamic;
  ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
  for (const int size : {1, 2}) {
    alignas(64) float output[16] = {};
    ASSERT_EQ(interpreter.ResizeInputTensor(0, {size}), kTfLiteOk);
    ASSERT_EQ(interpreter.ResizeInputTensor(2, {size}), kTfLiteOk);
    ASSERT_EQ(interpreter.SetCustomAllocationForTensor(3, {output, sizeof(float)}), kTfLiteOk);
    ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
    interpreter.typed_tensor<float>(2)[0] = 5.0f;
    EXPECT_EQ(interpreter.Invoke(), size == 1 ? kTfLiteOk : kTfLiteError);
    EXPECT_EQ(output[0], size == 1 ? -5.0f : 0.0f);
  }
}

// PADV2 without its value pads with zeros, as in TensorFlow Lite.
TEST(BuiltInterpreter, pads_with_zeros_if_padv2_has_no_value) {
  const int32_t margins[] = {1, 2};
  Interpreter interpreter;
  ASSERT_EQ(interpreter.AddTensors(3), kTfLiteOk);
  ASSERT_EQ(interpreter.SetInputs({0}), kTfLiteOk);
  ASSERT_EQ(interpreter.SetOutputs({2}), kTfLiteOk);
  const TfLiteQuantizationParams none{};
  interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "input", {2}, none);
  interpreter.SetTensorParametersReadOnly(1, kTfLiteInt32, "margins", {1, 2}, none,
                                          reinterpret_cast<const char*>(margins), sizeof margins);
  interpreter.SetTensorParametersReadWrite(2, kTfLiteFloat32, "output", {}, none);
  ASSERT_EQ(interpreter.AddNodeWithParameters({0, 1}, {2}, nullptr, 0, nullptr,
                                              tflite::ops::builtin::Register_PADV2()),
            kTfLiteOk);
  ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
  interpreter.typed_tensor<float>(0)[0] = 3.0f;
  interpreter.typed_tensor<float>(0)[1] = 4.0f;
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  const float* const output = interpreter.typed_tensor<float>(2);
  EXPECT_THAT(std::vector<float>(output, output + 5), ElementsAre(0, 3, 4, 0, 0));
}

TEST(BuiltInterpreter, rejects_tensors_that_do_not_exist) {
  Messages messages;
  Interpreter interpreter(&messages);
  EXPECT_EQ(interpreter.SetInputs({5}), kTfLiteError);
  EXPECT_TRUE(interpreter.inputs().empty());
  EXPECT_EQ(interpreter.AllocateTensors(), kTfLiteError);
  EXPECT_NE(messages.text(), "");
}

}  // namespace
}  // namespace deputy::cpp_test
