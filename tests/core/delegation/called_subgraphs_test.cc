// SPDX-License-Identifier: Apache-2.0
//
// Tests subgraphs that operators run or reference: which of them are offered to a delegate, and the
// delegate's view of the state that subgraphs and signatures share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::called_subgraphs_test {
namespace {

using testing::ElementsAre;

// A kernel for one float32 tensor: its first output is `factor` times its first input.
KernelFunction Scaling(float factor) {
  return [factor](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor& in = context->tensors[node->inputs->data[0]];
    const TfLiteTensor& out = context->tensors[node->outputs->data[0]];
    for (size_t i = 0; i < out.bytes / sizeof(float); ++i) out.data.f[i] = factor * in.data.f[i];
    return kTfLiteOk;
  };
}

std::vector<int> CodesOf(TfLiteContext* context) {
  std::vector<int> codes;
  for (const int index : PlanOf(context)) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) break;
    codes.push_back(registration->builtin_code);
  }
  return codes;
}

// ---- Bodies that are never run ------------------------------------------------------------------

// A model of x -> NEG -> STABLEHLO_REDUCE_WINDOW -> y, where y contains the sums of the first two
// and of the last two elements. `type` is the type of the tensors in the body that adds.
std::vector<uint8_t> NeighbourSums(TfLiteType type, bool has_signature) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}), n = m.AddTensor(kTfLiteFloat32, {4});
  const int start = m.AddConstant<float>(kTfLiteFloat32, {}, {0});
  const int y = m.AddTensor(kTfLiteFloat32, {2});
  m.AddOp(kTfLiteBuiltinNeg, {x}, {n});
  const std::vector<int64_t> two = {2}, one = {1}, none = {0, 0};
  m.AddOp(
      kTfLiteBuiltinStablehloReduceWindow, {n, start}, {y},
      schema::CreateStablehloReduceWindowOptionsDirect(m.fbb(), &two, &two, &one, &one, &none, 1));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("body");
  const int a = m.AddTensor(type, {}), b = m.AddTensor(type, {}), c = m.AddTensor(type, {});
  m.AddOp(kTfLiteBuiltinAdd, {a, b}, {c}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({a, b});
  m.SetOutputs({c});
  if (has_signature) {
    m.AddSignature("sum", {{"a", static_cast<uint32_t>(a)}, {"b", static_cast<uint32_t>(b)}},
                   {{"c", static_cast<uint32_t>(c)}}, 1);
  }
  return m.Finish();
}

// An ADD of strings cannot be prepared, so a static delegate that is offered such a body would
// fail.
TEST(Bodies, that_are_never_called_are_offered_to_no_delegate) {
  for (const TfLiteType type : {kTfLiteFloat32, kTfLiteString}) {
    for (const bool dynamic : {false, true}) {
      std::vector<std::vector<int>> offered;
      ProgrammedDelegate delegate(
          [&](TfLiteContext* context, TfLiteDelegate* self) {
            offered.push_back(CodesOf(context));
            return ClaimNodes(context, self, {0});
          },
          dynamic ? kTfLiteDelegateFlagsAllowDynamicTensors : kTfLiteDelegateFlagsNone);
      delegate.invoke = Scaling(-10);
      TestInterpreter t(NeighbourSums(type, false));
      ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
      EXPECT_THAT(offered,
                  ElementsAre(ElementsAre(kTfLiteBuiltinNeg, kTfLiteBuiltinStablehloReduceWindow)));
      int32_t delegated = 0, total = 0;
      EXPECT_EQ(
          DeputyInterpreterCheckDelegation(t.get(), kDeputyRequirePartial, &delegated, &total),
          kTfLiteOk);
      EXPECT_EQ(delegated, 1);
      EXPECT_EQ(total, 2);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      t.Set<float>(0, {1, 2, 3, 4});
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_THAT(t.Get<float>(0), ElementsAre(-30, -70));
    }
  }
}

TEST(Bodies, that_a_client_may_run_are_offered) {
  std::vector<std::vector<int>> offered;
  ProgrammedDelegate delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    offered.push_back(CodesOf(context));
    return kTfLiteOk;
  });
  TestInterpreter t(NeighbourSums(kTfLiteFloat32, true));
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  ASSERT_EQ(offered.size(), 2u);
  EXPECT_THAT(offered[1], ElementsAre(kTfLiteBuiltinAdd));
}

// ---- Composites ---------------------------------------------------------------------------------

// A model of y = "twice"(x); its decomposition is x + x.
std::vector<uint8_t> Composite() {
  ModelBuilder m;
  for (const bool whole : {true, false}) {
    if (!whole) m.AddSubgraph("twice.impl");
    const int x = m.AddTensor(kTfLiteFloat32, {3}), y = m.AddTensor(kTfLiteFloat32, {3});
    if (whole) {
      m.AddOp(kTfLiteBuiltinStablehloComposite, {x}, {y},
              schema::CreateStableHLOCompositeOptionsDirect(m.fbb(), "twice", 1));
    } else {
      m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
    }
    m.SetInputs({x});
    m.SetOutputs({y});
  }
  return m.Finish();
}

std::vector<float> Infer(TestInterpreter* t) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, {1, -2, 3});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

// A delegate marks the decomposition as absorbed; it is then neither offered to a delegate nor run.
TEST(Composites, may_be_claimed_by_name) {
  int offered = 0;
  ProgrammedDelegate delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    ++offered;
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    if (context->GetNodeAndRegistration(context, 0, &node, &registration) != kTfLiteOk ||
        registration->builtin_code != kTfLiteBuiltinStablehloComposite) {
      return kTfLiteError;
    }
    const auto* params = static_cast<const TfLiteStablehloCompositeParams*>(node->builtin_data);
    EXPECT_STREQ(params->name, "twice");
    if (ClaimNodes(context, self, {0}) != kTfLiteOk) return kTfLiteError;
    return TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
        reinterpret_cast<TfLiteOpaqueContext*>(context), params->subgraph_index);
  });
  delegate.invoke = Scaling(20);
  TestInterpreter t(Composite()), plain(Composite());
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  EXPECT_EQ(offered, 1);
  EXPECT_THAT(Infer(&t), ElementsAre(20, -40, 60));
  EXPECT_THAT(Infer(&plain), ElementsAre(2, -4, 6));
}

TEST(Composites, run_a_partly_delegated_decomposition) {
  std::vector<std::vector<int>> offered;
  ProgrammedDelegate delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    offered.push_back(CodesOf(context));
    return offered.size() == 2 ? ClaimNodes(context, self, {0}) : kTfLiteOk;
  });
  delegate.invoke = Scaling(20);
  TestInterpreter t(Composite());
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  EXPECT_THAT(offered, ElementsAre(ElementsAre(kTfLiteBuiltinStablehloComposite),
                                   ElementsAre(kTfLiteBuiltinAdd)));
  EXPECT_THAT(Infer(&t), ElementsAre(20, -40, 60));
}

// ---- State --------------------------------------------------------------------------------------

// Returns a model with a variable v: v += x; y = 10 * v in subgraph 0 ("add"), y = v in subgraph 1
// ("get"), v = 100 once before the first sum. A delegate may claim the product and the sum.
std::vector<uint8_t> SharedState() {
  ModelBuilder m;
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, {1}); };
  const auto handle = [&] {
    const int v = m.AddTensor(kTfLiteResource, {});
    m.AddOp(kTfLiteBuiltinVarHandle, {}, {v},
            schema::CreateVarHandleOptionsDirect(m.fbb(), "", "v"));
    return v;
  };
  const int x = tensor(), before = tensor(), sum = tensor(), after = tensor(), y = tensor();
  const int ten = m.AddConstant<float>(kTfLiteFloat32, {1}, {10});
  m.AddOp(kTfLiteBuiltinCallOnce, {}, {}, schema::CreateCallOnceOptions(m.fbb(), 2));
  const int v = handle();
  m.AddOp(kTfLiteBuiltinReadVariable, {v}, {before});
  m.AddOp(kTfLiteBuiltinAdd, {x, before}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAssignVariable, {v, sum}, {});
  m.AddOp(kTfLiteBuiltinReadVariable, {v}, {after});
  m.AddOp(kTfLiteBuiltinMul, {after, ten}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("get");
  const int got = tensor();
  m.AddOp(kTfLiteBuiltinReadVariable, {handle()}, {got});
  m.SetOutputs({got});
  m.AddSubgraph("once");
  const int hundred = m.AddConstant<float>(kTfLiteFloat32, {1}, {100});
  m.AddOp(kTfLiteBuiltinAssignVariable, {handle(), hundred}, {});
  m.AddSignature("add", {{"x", static_cast<uint32_t>(x)}}, {{"y", static_cast<uint32_t>(y)}}, 0);
  m.AddSignature("get", {}, {{"y", static_cast<uint32_t>(got)}}, 1);
  return m.Finish();
}

float RunSignature(TestInterpreter* t, const char* signature, float x) {
  TfLiteSignatureRunner* runner = TfLiteInterpreterGetSignatureRunner(t->get(), signature);
  EXPECT_EQ(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteOk) << t->log();
  if (TfLiteSignatureRunnerGetInputCount(runner) > 0) {
    TfLiteTensorCopyFromBuffer(TfLiteSignatureRunnerGetInputTensor(runner, "x"), &x, sizeof x);
  }
  EXPECT_EQ(TfLiteSignatureRunnerInvoke(runner), kTfLiteOk) << t->log();
  float y = -1;
  TfLiteTensorCopyToBuffer(TfLiteSignatureRunnerGetOutputTensor(runner, "y"), &y, sizeof y);
  TfLiteSignatureRunnerDelete(runner);
  return y;
}

TEST(State, is_shared_by_signatures_and_set_once) {
  TestInterpreter t(SharedState());
  EXPECT_EQ(RunSignature(&t, "add", 1), 1010);
  EXPECT_EQ(RunSignature(&t, "get", 0), 101);
  EXPECT_EQ(RunSignature(&t, "add", 2), 1030);
  ASSERT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteOk);
  EXPECT_EQ(RunSignature(&t, "get", 0), 103);
}

// The second read depends on the first sum only through the variable: sum and product must not be
// in one partition.
TEST(State, stays_ordered_between_delegate_nodes) {
  std::vector<int> seen;
  ProgrammedDelegate delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    const std::vector<int> codes = CodesOf(context);
    if (codes.size() < 7) return kTfLiteOk;
    seen = codes;
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    context->GetNodeAndRegistration(context, 1, &node, &registration);
    EXPECT_EQ(context->tensors[node->outputs->data[0]].type, kTfLiteResource);
    return ClaimNodes(context, self, {3, 6});
  });
  int partitions = 0;
  delegate.init = [&](TfLiteContext*, const TfLiteDelegateParams* params, size_t) {
    ++partitions;
    EXPECT_EQ(params->nodes_to_replace->size, 1);
  };
  // The product is the node whose second input is a constant.
  delegate.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor& a = context->tensors[node->inputs->data[0]];
    const TfLiteTensor& b = context->tensors[node->inputs->data[1]];
    const bool is_product = b.allocation_type == kTfLiteMmapRo;
    context->tensors[node->outputs->data[0]].data.f[0] =
        is_product ? a.data.f[0] * b.data.f[0] : a.data.f[0] + b.data.f[0];
    return kTfLiteOk;
  };
  TestInterpreter t(SharedState());
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  EXPECT_THAT(
      seen, ElementsAre(kTfLiteBuiltinCallOnce, kTfLiteBuiltinVarHandle, kTfLiteBuiltinReadVariable,
                        kTfLiteBuiltinAdd, kTfLiteBuiltinAssignVariable, kTfLiteBuiltinReadVariable,
                        kTfLiteBuiltinMul));
  EXPECT_EQ(partitions, 2);
  EXPECT_EQ(RunSignature(&t, "add", 1), 1010);
  EXPECT_EQ(RunSignature(&t, "add", 2), 1030);
  EXPECT_EQ(RunSignature(&t, "get", 0), 103);
}

TEST(State, survives_a_failed_apply) {
  ProgrammedDelegate delegate([](TfLiteContext*, TfLiteDelegate*) { return kTfLiteDelegateError; });
  TestInterpreter t(SharedState());
  EXPECT_EQ(RunSignature(&t, "add", 1), 1010);
  EXPECT_EQ(Apply(&t, &delegate.base), kTfLiteDelegateError);
  EXPECT_EQ(RunSignature(&t, "add", 2), 1030);
}

}  // namespace
}  // namespace deputy::called_subgraphs_test
