// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates/utils/simple_opaque_delegate.h on chains of nodes whose results show where each
// node ran: a NEG of the library negates, one of the opaque delegate doubles, and an ABS of a plain
// delegate adds 10.
#include "tensorflow/lite/delegates/utils/simple_opaque_delegate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/delegates/utils/simple_delegate.h"
#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/builtin_op_kernels.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"

namespace deputy::simple_opaque_delegate_test {
namespace {

using tflite::Interpreter;
using tflite::SimpleDelegateInterface;
using tflite::SimpleDelegateKernelInterface;
using tflite::SimpleOpaqueDelegateInterface;
using tflite::SimpleOpaqueDelegateKernelInterface;

enum class Failure { kNone, kInitialize, kNoKernel, kInit, kPrepare, kEval };

// Behaviour of a delegate, and counts of its kernels and of calls.
struct Script {
  unsigned supported = ~0U;  // bit i: the node whose output is named "i"
  Failure failure = Failure::kNone;
  int kernels = 0;
  int alive = 0;
  int prepares = 0;
  int evals = 0;
};

// Doubles its input once per node of the partition, which is a part of a chain.
class DoublingKernel : public SimpleOpaqueDelegateKernelInterface {
 public:
  explicit DoublingKernel(Script* script) : script_(script) {
    ++script_->kernels;
    ++script_->alive;
  }
  ~DoublingKernel() override { --script_->alive; }

  TfLiteStatus Init(TfLiteOpaqueContext* /*context*/,
                    const TfLiteOpaqueDelegateParams* params) override {
    nodes_ = params->nodes_to_replace->size;
    return script_->failure == Failure::kInit ? kTfLiteError : kTfLiteOk;
  }

  TfLiteStatus Prepare(TfLiteOpaqueContext* /*context*/, TfLiteOpaqueNode* node) override {
    ++script_->prepares;
    EXPECT_EQ(TfLiteOpaqueNodeNumberOfInputs(node), 1);
    EXPECT_EQ(TfLiteOpaqueNodeNumberOfOutputs(node), 1);
    return script_->failure == Failure::kPrepare ? kTfLiteError : kTfLiteOk;
  }

  TfLiteStatus Eval(TfLiteOpaqueContext* context, TfLiteOpaqueNode* node) override {
    ++script_->evals;
    if (script_->failure == Failure::kEval) return kTfLiteError;
    const TfLiteOpaqueTensor* input = TfLiteOpaqueNodeGetInput(context, node, 0);
    TfLiteOpaqueTensor* output = TfLiteOpaqueNodeGetOutput(context, node, 0);
    const auto* x = static_cast<const float*>(TfLiteOpaqueTensorData(input));
    static_cast<float*>(TfLiteOpaqueTensorData(output))[0] = std::ldexp(x[0], nodes_);
    return kTfLiteOk;
  }

 private:
  Script* const script_;
  int nodes_ = 0;
};

class DoublingDelegate : public SimpleOpaqueDelegateInterface {
 public:
  explicit DoublingDelegate(Script* script) : script_(script) {}

  bool IsNodeSupportedByDelegate(const TfLiteOperator* op, const TfLiteOpaqueNode* node,
                                 TfLiteOpaqueContext* context) const override {
    if (TfLiteOperatorGetBuiltInCode(op) != kTfLiteBuiltinNeg) return false;
    const char* name = TfLiteOpaqueTensorName(TfLiteOpaqueNodeGetOutput(context, node, 0));
    return (script_->supported >> std::stoi(name) & 1) != 0;
  }
  TfLiteStatus Initialize(TfLiteOpaqueContext* /*context*/) override {
    return script_->failure == Failure::kInitialize ? kTfLiteError : kTfLiteOk;
  }
  const char* Name() const override { return "doubling"; }
  std::unique_ptr<SimpleOpaqueDelegateKernelInterface> CreateDelegateKernelInterface() override {
    if (script_->failure == Failure::kNoKernel) return nullptr;
    return std::make_unique<DoublingKernel>(script_);
  }

 private:
  Script* const script_;
};

// Adds 10 for each ABS.
class AddingKernel : public SimpleDelegateKernelInterface {
 public:
  TfLiteStatus Init(TfLiteContext* /*context*/, const TfLiteDelegateParams* params) override {
    nodes_ = params->nodes_to_replace->size;
    return kTfLiteOk;
  }
  TfLiteStatus Prepare(TfLiteContext* /*context*/, TfLiteNode* /*node*/) override {
    return kTfLiteOk;
  }
  TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) override {
    const TfLiteTensor* input = &context->tensors[node->inputs->data[0]];
    TfLiteTensor* output = &context->tensors[node->outputs->data[0]];
    *tflite::GetTensorData<float>(output) =
        *tflite::GetTensorData<float>(input) + 10.0F * static_cast<float>(nodes_);
    return kTfLiteOk;
  }

 private:
  int nodes_ = 0;
};

class AddingDelegate : public SimpleDelegateInterface {
 public:
  bool IsNodeSupportedByDelegate(const TfLiteRegistration* registration, const TfLiteNode* /*node*/,
                                 TfLiteContext* /*context*/) const override {
    return registration->builtin_code == kTfLiteBuiltinAbs;
  }
  TfLiteStatus Initialize(TfLiteContext* /*context*/) override { return kTfLiteOk; }
  const char* Name() const override { return "adding"; }
  std::unique_ptr<SimpleDelegateKernelInterface> CreateDelegateKernelInterface() override {
    return std::make_unique<AddingKernel>();
  }
  Options DelegateOptions() const override { return {}; }
};

// A chain of up to 5 NEG and ABS nodes, 'n' and 'a', on one float. The output of node i is named
// "i".
std::unique_ptr<Interpreter> Chain(const std::string& nodes) {
  static const char* const kNames[] = {"input", "0", "1", "2", "3", "4"};
  auto interpreter = std::make_unique<Interpreter>();
  const int count = static_cast<int>(nodes.size());
  interpreter->AddTensors(count + 1);
  for (int i = 0; i <= count; ++i) {
    interpreter->SetTensorParametersReadWrite(i, kTfLiteFloat32, kNames[i], {1},
                                              TfLiteQuantizationParams{});
  }
  interpreter->SetInputs({0});
  interpreter->SetOutputs({count});
  for (int i = 0; i < count; ++i) {
    interpreter->AddNodeWithParameters({i}, {i + 1}, nullptr, 0, nullptr,
                                       nodes[static_cast<size_t>(i)] == 'n'
                                           ? tflite::ops::builtin::Register_NEG()
                                           : tflite::ops::builtin::Register_ABS());
  }
  return interpreter;
}

// The result for the input 1, or 0 after an error.
float ResultOf(Interpreter* interpreter) {
  if (interpreter->AllocateTensors() != kTfLiteOk) return 0;
  *interpreter->typed_input_tensor<float>(0) = 1.0F;
  if (interpreter->Invoke() != kTfLiteOk) return 0;
  return *interpreter->typed_output_tensor<float>(0);
}

tflite::TfLiteOpaqueDelegateUniquePtr Create(Script* script) {
  return tflite::TfLiteOpaqueDelegateFactory::Create(std::make_unique<DoublingDelegate>(script));
}

TEST(SimpleOpaqueDelegate, runs_the_nodes_that_it_supports) {
  constexpr int kNodes = 5;
  for (unsigned mask = 0; mask < 1U << kNodes; ++mask) {
    SCOPED_TRACE(mask);
    Script script;
    script.supported = mask;
    auto delegate = Create(&script);
    auto interpreter = Chain("nnnnn");
    ASSERT_EQ(interpreter->ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
    float expected = 1;
    int partitions = 0;
    for (int i = 0; i < kNodes; ++i) {
      const bool supported = (mask >> i & 1) != 0;
      expected *= supported ? 2.0F : -1.0F;
      if (supported && (i == 0 || (mask >> (i - 1) & 1) == 0)) ++partitions;
    }
    EXPECT_EQ(ResultOf(interpreter.get()), expected);
    EXPECT_EQ(ResultOf(interpreter.get()), expected);
    EXPECT_EQ(script.kernels, partitions);
    EXPECT_EQ(script.evals, 2 * partitions);
    EXPECT_GE(script.prepares, partitions);
    interpreter.reset();
    EXPECT_EQ(script.alive, 0);
  }
}

TEST(SimpleOpaqueDelegate, the_library_runs_the_graph_after_a_failed_application) {
  for (const auto& [failure, kernels] :
       {std::pair(Failure::kInitialize, 0), std::pair(Failure::kNoKernel, 0),
        std::pair(Failure::kInit, 1), std::pair(Failure::kPrepare, 1)}) {
    SCOPED_TRACE(static_cast<int>(failure));
    Script script;
    script.failure = failure;
    auto delegate = Create(&script);
    auto interpreter = Chain("nnn");
    EXPECT_NE(interpreter->ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
    EXPECT_EQ(ResultOf(interpreter.get()), -1.0F);
    EXPECT_EQ(interpreter->execution_plan().size(), 3U);
    EXPECT_EQ(script.kernels, kernels);
    EXPECT_EQ(script.evals, 0);
    EXPECT_EQ(script.alive, 0);
  }
}

TEST(SimpleOpaqueDelegate, a_failed_evaluation_fails_the_inference) {
  Script script;
  script.failure = Failure::kEval;
  auto delegate = Create(&script);
  auto interpreter = Chain("nnn");
  ASSERT_EQ(interpreter->ModifyGraphWithDelegate(delegate.get()), kTfLiteOk);
  ASSERT_EQ(interpreter->AllocateTensors(), kTfLiteOk);
  EXPECT_EQ(interpreter->Invoke(), kTfLiteError);
  EXPECT_EQ(script.evals, 1);
  script.failure = Failure::kNone;
  EXPECT_EQ(ResultOf(interpreter.get()), 8.0F);
}

TEST(SimpleOpaqueDelegate, runs_beside_a_plain_delegate) {
  for (const bool opaque_first : {true, false}) {
    Script script;
    auto opaque = Create(&script);
    auto plain = tflite::TfLiteDelegateFactory::Create(std::make_unique<AddingDelegate>());
    auto interpreter = Chain("nanna");
    TfLiteDelegate* const first = opaque_first ? opaque.get() : plain.get();
    TfLiteDelegate* const second = opaque_first ? plain.get() : opaque.get();
    ASSERT_EQ(interpreter->ModifyGraphWithDelegate(first), kTfLiteOk);
    ASSERT_EQ(interpreter->ModifyGraphWithDelegate(second), kTfLiteOk);
    EXPECT_EQ(ResultOf(interpreter.get()), ((1.0F * 2 + 10) * 2 * 2) + 10);
    EXPECT_EQ(interpreter->execution_plan().size(), 4U);
    EXPECT_EQ(script.kernels, 2);
  }
}

TEST(SimpleOpaqueDelegate, the_interpreter_can_own_it) {
  Script script;
  auto interpreter = Chain("nn");
  ASSERT_EQ(interpreter->ModifyGraphWithDelegate(Create(&script)), kTfLiteOk);
  EXPECT_EQ(ResultOf(interpreter.get()), 4.0F);
  interpreter.reset();
  EXPECT_EQ(script.alive, 0);
}

TEST(SimpleOpaqueDelegate, the_factory_accepts_null) {
  EXPECT_EQ(tflite::TfLiteOpaqueDelegateFactory::CreateSimpleDelegate(nullptr), nullptr);
  tflite::TfLiteOpaqueDelegateFactory::DeleteSimpleDelegate(nullptr);
}

}  // namespace
}  // namespace deputy::simple_opaque_delegate_test
