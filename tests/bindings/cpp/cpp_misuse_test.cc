// SPDX-License-Identifier: Apache-2.0
//
// Tests wrong uses of the C++ API: null names, invalid models, memory that the program withdraws,
// and calls from callbacks. Each has a defined result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensorflow/lite/allocation.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"
#include "tensorflow/lite/mutable_op_resolver.h"
#include "tensorflow/lite/optional_debug_tools.h"
#include "tensorflow/lite/profiling/root_profiler.h"
#include "tests/bindings/cpp/support/sum_model.h"

namespace deputy::cpp_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using tflite::FlatBufferModel;
using tflite::Interpreter;
using tflite::InterpreterBuilder;
using tflite::InterpreterOptions;
using tflite::ops::builtin::BuiltinOpResolver;

// An interpreter of SumModel(), or of the bytes.
class MisuseTest : public testing::Test {
 protected:
  void SetUp() override { Build(SumModel()); }

  void Build(const std::string& bytes, const InterpreterOptions& options = {}) {
    interpreter_.reset();
    bytes_ = bytes;
    model_ = FlatBufferModel::BuildFromBuffer(bytes_.data(), bytes_.size(), &messages_);
    ASSERT_NE(model_, nullptr);
    ASSERT_EQ(InterpreterBuilder(*model_, resolver_, &options)(&interpreter_), kTfLiteOk);
  }

  Messages messages_;
  std::string bytes_;
  BuiltinOpResolver resolver_;
  std::unique_ptr<FlatBufferModel> model_;
  std::unique_ptr<Interpreter> interpreter_;
};

// ---- Arguments ----------------------------------------------------------------------------------

TEST_F(MisuseTest, a_null_name_is_unknown) {
  const std::string key = *interpreter_->signature_keys()[0];
  EXPECT_EQ(interpreter_->input_tensor_by_signature(nullptr, key.c_str()), nullptr);
  EXPECT_EQ(interpreter_->output_tensor_by_signature(nullptr, key.c_str()), nullptr);
  tflite::SignatureRunner* const runner = interpreter_->GetSignatureRunner(key.c_str());
  ASSERT_NE(runner, nullptr);
  EXPECT_EQ(runner->input_tensor(nullptr), nullptr);
  EXPECT_EQ(runner->output_tensor(nullptr), nullptr);
  EXPECT_EQ(runner->ResizeInputTensor(nullptr, {1}), kTfLiteError);
  EXPECT_THAT(messages_.text(), HasSubstr("Input name null was not found\n"
                                          "Output name null was not found\n"));
}

TEST_F(MisuseTest, an_index_out_of_range_has_no_node) {
  EXPECT_EQ(interpreter_->node_and_registration(2, 0), nullptr);
  EXPECT_EQ(interpreter_->node_and_registration(-1, 0), nullptr);
  EXPECT_EQ(interpreter_->node_and_registration(0, 1), nullptr);
}

TEST_F(MisuseTest, options_may_be_those_of_the_interpreter) {
  InterpreterOptions options;
  options.SetEnsureDynamicTensorsAreReleased(true);
  ASSERT_EQ(interpreter_->ApplyOptions(&options), kTfLiteOk);
  auto* const own = const_cast<InterpreterOptions*>(interpreter_->primary_subgraph().GetOptions());
  ASSERT_EQ(interpreter_->ApplyOptions(own), kTfLiteOk);
  EXPECT_TRUE(interpreter_->primary_subgraph().GetOptions()->GetEnsureDynamicTensorsAreReleased());
}

TEST(ResolverMisuseTest, a_custom_operator_without_name_or_kernel_is_ignored) {
  tflite::MutableOpResolver resolver;
  TfLiteRegistration kernel{};
  resolver.AddCustom(nullptr, &kernel);
  resolver.AddCustom("Custom", nullptr);
  EXPECT_EQ(resolver.FindOp("Custom", 1), nullptr);
  EXPECT_EQ(resolver.FindOp(static_cast<const char*>(nullptr), 1), nullptr);
}

TEST(AllocationMisuseTest, a_null_path_is_reported) {
  Messages messages;
  EXPECT_EQ(FlatBufferModel::BuildFromFile(nullptr, &messages), nullptr);
  EXPECT_FALSE(tflite::FileCopyAllocation(nullptr, &messages).valid());
  EXPECT_EQ(messages.text(),
            "Could not open ''.\nThe model allocation is null/empty\nCould not open ''.\n");
}

TEST(BuiltGraphMisuseTest, a_rank_that_is_no_int32_is_rejected) {
  Interpreter interpreter;
  ASSERT_EQ(interpreter.AddTensors(1), kTfLiteOk);
  const int dim = 3;
  const size_t rank = (size_t{1} << 32) + 1;
  EXPECT_EQ(interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "t", rank, &dim,
                                                     TfLiteQuantizationParams{}),
            kTfLiteError);
  EXPECT_EQ(interpreter.SetTensorParametersReadWrite(0, kTfLiteFloat32, "t", 1, &dim,
                                                     TfLiteQuantizationParams{}, false, rank, &dim),
            kTfLiteError);
}

// ---- Invalid models -----------------------------------------------------------------------------

// The lists of a subgraph may have -1 for an absent tensor, which is invalid for outputs.
TEST_F(MisuseTest, an_invalid_subgraph_can_be_described) {
  const std::unique_ptr<tflite::ModelT> edited(tflite::GetModel(bytes_.data())->UnPack());
  edited->subgraphs[0]->inputs = {0, -1};
  edited->subgraphs[0]->outputs = {-1};
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(tflite::CreateModel(builder, edited.get()), tflite::ModelIdentifier());
  InterpreterOptions options;
  options.SetEnsureDynamicTensorsAreReleased(true);
  Build({reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()}, options);
  ASSERT_THAT(interpreter_->outputs(), ElementsAre(-1));
  EXPECT_EQ(interpreter_->GetOutputName(0), nullptr);
  EXPECT_EQ(interpreter_->output_tensor(0), nullptr);
  EXPECT_EQ(interpreter_->GetInputName(1), nullptr);
  EXPECT_STREQ(interpreter_->GetInputName(0), "a");
  EXPECT_EQ(interpreter_->input_tensor(1), nullptr);
  EXPECT_EQ(interpreter_->primary_subgraph().GetInputTensorsCount().size(), 3u);
  EXPECT_EQ(interpreter_->AllocateTensors(), kTfLiteError);
  EXPECT_EQ(interpreter_->Invoke(), kTfLiteError);
  tflite::PrintInterpreterState(interpreter_.get());
}

// ---- Memory of the program ----------------------------------------------------------------------

TEST_F(MisuseTest, memory_that_was_cleared_is_not_used_again) {
  InterpreterOptions options;
  options.SetPreserveAllTensors();
  ASSERT_EQ(interpreter_->ApplyOptions(&options), kTfLiteOk);
  alignas(64) float memory[2] = {7, 7};
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(interpreter_->SetCustomAllocationForTensor(0, allocation), kTfLiteOk);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(interpreter_->typed_input_tensor<float>(0), memory);
  ASSERT_EQ(interpreter_->primary_subgraph().ClearCustomAllocations(), kTfLiteOk);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_NE(interpreter_->typed_input_tensor<float>(0), memory);
}

TEST_F(MisuseTest, memory_set_by_a_runner_is_preserved) {
  InterpreterOptions options;
  options.SetPreserveAllTensors();
  ASSERT_EQ(interpreter_->ApplyOptions(&options), kTfLiteOk);
  tflite::SignatureRunner* const runner =
      interpreter_->GetSignatureRunner(interpreter_->signature_keys()[0]->c_str());
  ASSERT_NE(runner, nullptr);
  alignas(64) float memory[2] = {1, 2};
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  const char* const name = runner->input_names()[0];
  ASSERT_EQ(runner->SetCustomAllocationForInputTensor(name, allocation), kTfLiteOk);
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(runner->input_tensor(name)->data.f, memory);
}

TEST(BuiltGraphMisuseTest, memory_of_a_tensor_that_was_described_again_is_not_used) {
  Interpreter interpreter;
  InterpreterOptions options;
  options.SetPreserveAllTensors();
  ASSERT_EQ(interpreter.ApplyOptions(&options), kTfLiteOk);
  ASSERT_EQ(interpreter.AddTensors(2), kTfLiteOk);
  const auto describe = [&](int tensor) {
    return interpreter.SetTensorParametersReadWrite(tensor, kTfLiteFloat32, "t", {2},
                                                    TfLiteQuantizationParams{});
  };
  ASSERT_EQ(describe(0), kTfLiteOk);
  ASSERT_EQ(describe(1), kTfLiteOk);
  interpreter.AddNodeWithParameters({0}, {1}, nullptr, 0, nullptr,
                                    tflite::ops::builtin::Register_NEG());
  interpreter.SetInputs({0});
  interpreter.SetOutputs({1});
  alignas(64) float memory[2] = {};
  ASSERT_EQ(interpreter.SetCustomAllocationForTensor(1, {memory, sizeof memory}), kTfLiteOk);
  ASSERT_EQ(describe(1), kTfLiteOk);
  ASSERT_EQ(interpreter.AllocateTensors(), kTfLiteOk);
  interpreter.typed_input_tensor<float>(0)[0] = 3;
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.typed_output_tensor<float>(0)[0], -3.0f);
  EXPECT_EQ(memory[0], 0.0f);
}

// ---- Callbacks ----------------------------------------------------------------------------------

// A profiler whose BeginEvent calls a function.
class CallingProfiler : public tflite::Profiler {
 public:
  explicit CallingProfiler(std::function<void()> call) : call_(std::move(call)) {}
  uint32_t BeginEvent(const char*, EventType, int64_t, int64_t) override {
    ++events_;
    call_();
    return 0;
  }
  void EndEvent(uint32_t) override {}
  int events() const { return events_; }

 private:
  std::function<void()> call_;
  int events_ = 0;
};

// Passes the begin of operators to another profiler.
class OperatorsOnly : public tflite::Profiler {
 public:
  explicit OperatorsOnly(tflite::Profiler* next) : next_(next) {}
  uint32_t BeginEvent(const char* tag, EventType type, int64_t metadata1,
                      int64_t metadata2) override {
    if (type != EventType::OPERATOR_INVOKE_EVENT) return 0;
    return next_->BeginEvent(tag, type, metadata1, metadata2);
  }
  void EndEvent(uint32_t) override {}

 private:
  tflite::Profiler* next_;
};

TEST_F(MisuseTest, a_profiler_may_add_profilers) {
  std::vector<std::unique_ptr<CallingProfiler>> added;
  tflite::profiling::RootProfiler root;
  CallingProfiler adding([&] {
    for (int i = 0; i < 50; ++i) {
      added.push_back(std::make_unique<CallingProfiler>([] {}));
      root.AddProfiler(added.back().get());
    }
  });
  CallingProfiler last([] {});
  root.AddProfiler(&adding);
  root.AddProfiler(&last);
  root.EndEvent(root.BeginEvent("event", tflite::Profiler::EventType::DEFAULT, 0, 0));
  EXPECT_EQ(last.events(), 1);
  EXPECT_EQ(added[0]->events(), 0);
  root.BeginEvent("event", tflite::Profiler::EventType::DEFAULT, 0, 0);
  EXPECT_EQ(added[0]->events(), 1);
}

TEST_F(MisuseTest, a_callback_cannot_change_the_graph) {
  ASSERT_EQ(interpreter_->AllocateTensors(), kTfLiteOk);
  alignas(64) float memory[2] = {};
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.Prepare = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
  CallingProfiler profiler([&] {
    EXPECT_EQ(interpreter_->AddTensors(100), kTfLiteError);
    EXPECT_EQ(interpreter_->SetInputs({1}), kTfLiteError);
    EXPECT_EQ(interpreter_->ResizeInputTensor(0, {64}), kTfLiteError);
    EXPECT_EQ(interpreter_->AllocateTensors(), kTfLiteError);
    EXPECT_EQ(interpreter_->ModifyGraphWithDelegate(&delegate), kTfLiteError);
    EXPECT_EQ(interpreter_->SetCustomAllocationForTensor(0, {memory, sizeof memory}), kTfLiteError);
    EXPECT_EQ(interpreter_->SetNumThreads(2), kTfLiteError);
    EXPECT_EQ(interpreter_->ReleaseNonPersistentMemory(), kTfLiteError);
    EXPECT_EQ(interpreter_->ResetVariableTensors(), kTfLiteError);
  });
  OperatorsOnly operators(&profiler);
  interpreter_->SetProfiler(&operators);
  for (int i = 0; i < 2; ++i) {
    interpreter_->typed_input_tensor<float>(0)[i] = 1;
    interpreter_->typed_input_tensor<float>(1)[i] = 2;
  }
  ASSERT_EQ(interpreter_->Invoke(), kTfLiteOk);
  EXPECT_EQ(profiler.events(), 1);
  EXPECT_EQ(interpreter_->typed_output_tensor<float>(0)[1], 3.0f);
  interpreter_->SetProfiler(nullptr);
  EXPECT_EQ(interpreter_->tensors_size(), 3u);
}

}  // namespace
}  // namespace deputy::cpp_test
