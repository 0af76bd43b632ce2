// SPDX-License-Identifier: Apache-2.0
//
// Tests float16 weights that a DEQUANTIZE widens: a delegate that reads float16 connects its nodes
// directly to them, and the runtime restores the original inputs of each node (abi.md 5.6, 6.3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::fp16_weights_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Tensor indices of the model of TwiceWidened, and its node indices.
enum { kX, kFp16, kFirst, kSecond, kY, kZ, kW };
enum { kDequantizeFirst, kDequantizeSecond, kAdd, kMul, kTake };

// z = (x + w) * w, where two DEQUANTIZE nodes widen w, and the float16 values of w as a second
// output.
std::vector<uint8_t> TwiceWidened() {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  m.AddConstant<uint16_t>(kTfLiteFloat16, {1, 4}, {0x3c00, 0x4000, 0xbc00, 0x3800}, "fp16");
  m.AddTensor(kTfLiteFloat32, {1, 4}, "first");
  m.AddTensor(kTfLiteFloat32, {1, 4}, "second");
  m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddTensor(kTfLiteFloat32, {1, 4}, "z");
  m.AddTensor(kTfLiteFloat16, {1, 4}, "w");
  m.AddOp(kTfLiteBuiltinDequantize, {kFp16}, {kFirst});
  m.AddOp(kTfLiteBuiltinDequantize, {kFp16}, {kSecond});
  m.AddOp(kTfLiteBuiltinAdd, {kX, kFirst}, {kY}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {kY, kSecond}, {kZ}, schema::CreateMulOptions(m.fbb()));
  // RESHAPE reads the float16 values themselves.
  m.AddOp(kTfLiteBuiltinReshape, {kFp16}, {kW},
          schema::CreateReshapeOptions(m.fbb(), m.fbb().CreateVector<int32_t>({1, 4})));
  m.SetInputs({kX});
  m.SetOutputs({kZ, kW});
  return m.Finish();
}

// The input tensors of each node, by node index.
using Inputs = std::map<int, std::vector<int>>;

TfLiteNode* NodeOf(TfLiteContext* context, int index) {
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  EXPECT_EQ(context->GetNodeAndRegistration(context, index, &node, &registration), kTfLiteOk);
  return node;
}

// A delegate that connects ADD and MUL to the float16 constant and claims `nodes`; its kernels
// fail.
Programmed::Body Remap(std::vector<int> nodes, TfLiteStatus status = kTfLiteOk) {
  return [=](TfLiteContext* context, TfLiteDelegate* self) {
    NodeOf(context, kAdd)->inputs->data[1] = kFp16;
    NodeOf(context, kMul)->inputs->data[1] = kFp16;
    TfLiteRegistration kernel{};
    kernel.custom_name = "ReadsFp16";
    kernel.version = 1;
    kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
    TfLiteIntArray* list = TfLiteIntArrayCreate(static_cast<int>(nodes.size()));
    std::copy(nodes.begin(), nodes.end(), list->data);
    const TfLiteStatus replaced =
        context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, list, self);
    TfLiteIntArrayFree(list);
    return replaced == kTfLiteOk ? status : replaced;
  };
}

TfLiteStatus Apply(TestInterpreter* t, Programmed* delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), &delegate->base);
}

std::vector<float> Infer(TestInterpreter* t) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, {1, 1, 1, 1});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  EXPECT_THAT(t->Get<uint16_t>(1), ElementsAre(0x3c00, 0x4000, 0xbc00, 0x3800));
  return t->Get<float>(0);
}

Inputs ReadNow(TestInterpreter* t) {
  Inputs inputs;
  Programmed inspector([&](TfLiteContext* context, TfLiteDelegate*) {
    for (int index = kDequantizeFirst; index <= kTake; ++index) {
      const TfLiteIntArray* list = NodeOf(context, index)->inputs;
      inputs[index].assign(list->data, list->data + list->size);
    }
    return kTfLiteOk;
  });
  EXPECT_EQ(Apply(t, &inspector), kTfLiteOk) << t->log();
  return inputs;
}

const Inputs kOriginal = {{kDequantizeFirst, {kFp16}},
                          {kDequantizeSecond, {kFp16}},
                          {kAdd, {kX, kFirst}},
                          {kMul, {kY, kSecond}},
                          {kTake, {kFp16}}};

TEST(Fp16Weights, nodes_read_their_original_inputs_after_removal) {
  TestInterpreter t(TwiceWidened());
  EXPECT_THAT(Infer(&t), ElementsAre(2, 6, 0, 0.75f));
  Programmed fails(Remap({kAdd, kMul}, kTfLiteError));
  EXPECT_EQ(Apply(&t, &fails), kTfLiteDelegateError);
  EXPECT_EQ(ReadNow(&t), kOriginal);
  EXPECT_THAT(Infer(&t), ElementsAre(2, 6, 0, 0.75f));
}

TEST(Fp16Weights, are_widened_by_several_nodes_and_a_resize_undoes_the_delegate) {
  Programmed delegate(Remap({kAdd, kMul}));
  TestInterpreter t(TwiceWidened());
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  delegate.body = [](TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; };
  ASSERT_EQ(t.Resize(0, {1, 4}), kTfLiteOk);
  EXPECT_THAT(Infer(&t), ElementsAre(2, 6, 0, 0.75f));
  EXPECT_EQ(ReadNow(&t), kOriginal);
}

TEST(Fp16Weights, are_read_widened_by_the_cpu_fallback) {
  for (const std::vector<int>& claims :
       {std::vector<int>{kAdd, kMul}, {kDequantizeFirst, kDequantizeSecond, kAdd, kMul}}) {
    Programmed delegate(Remap(claims));
    TestInterpreter t(TwiceWidened(), [](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    });
    ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk) << t.log();
    EXPECT_THAT(Infer(&t), ElementsAre(2, 6, 0, 0.75f));
  }
}

TEST(Fp16Weights, a_dequantize_without_outputs_widens_nothing) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int fp16 = m.AddConstant<uint16_t>(kTfLiteFloat16, {1, 4}, {0, 0, 0, 0}, "fp16");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {fp16}, {});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  Programmed delegate([](TfLiteContext* context, TfLiteDelegate* self) {
    TfLiteRegistration kernel{};
    kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, self);
  });
  delegate.base.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  TestInterpreter t(m.Finish(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteError);  // the CPU's DEQUANTIZE cannot run without an output
}

TEST(Fp16Weights, other_changes_of_inputs_are_findings) {
  const auto validated = [](TfLiteInterpreterOptions* options) {
    DeputyValidationOptions validation{};
    validation.struct_size = sizeof validation;
    validation.enabled = 1;
    EXPECT_EQ(DeputyInterpreterOptionsSetValidation(options, &validation), kTfLiteOk);
  };
  {
    Programmed delegate(Remap({kAdd, kMul}));
    TestInterpreter t(TwiceWidened(), validated);
    ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
    EXPECT_THAT(t.log(), Not(HasSubstr("changes the field inputs")));
  }
  {
    // MUL must not read the result of the other DEQUANTIZE: the change is a finding.
    Programmed delegate([](TfLiteContext* context, TfLiteDelegate*) {
      NodeOf(context, kMul)->inputs->data[1] = kFirst;
      return kTfLiteOk;
    });
    TestInterpreter t(TwiceWidened(), validated);
    ASSERT_EQ(Apply(&t, &delegate), kTfLiteOk);
    EXPECT_THAT(t.log(), HasSubstr("changes the field inputs of node 3"));
  }
}

}  // namespace
}  // namespace deputy::fp16_weights_test
