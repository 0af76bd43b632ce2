// SPDX-License-Identifier: Apache-2.0
//
// Tests large graphs, most of them in small files. Times are not measured: the sizes are such that
// quadratic work would take minutes or run out of memory.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_placement.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/large_models.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::large_graph_test {
namespace {

DeputyNodeSupport SupportOf(const TfLiteInterpreter* interpreter, int node) {
  DeputyNodeSupport support{};
  support.struct_size = sizeof support;
  EXPECT_EQ(DeputyInterpreterGetNodeSupport(interpreter, 0, node, 0, &support), kTfLiteOk);
  return support;
}

TEST(LargeGraph, of_600000_nodes_is_created) {
  TestInterpreter t(IdleNodes(600000), AddIdleOperator);
  ASSERT_NE(t.get(), nullptr) << t.log();
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 600000);
}

TEST(LargeGraph, is_delegated_in_one_partition_per_node) {
  constexpr int kNodes = 40000;
  Halving half;
  TestInterpreter t(IdleChain(kNodes), AddIdleOperator);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), half.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(half.inits, kNodes / 2);
  ASSERT_EQ(t.Resize(0, {2}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(half.inits, kNodes);
  ASSERT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), kNodes * 3 / 2);
  for (int node = 0; node < kNodes; ++node) {
    const bool taken = node % 2 == 0;
    ASSERT_EQ(NodeRunOf(t.get(), node).runner, taken ? kNodes + node / 2 : node);
    ASSERT_EQ(NodeInfoOf(t.get(), node).plan_position, taken ? -1 : node);
    ASSERT_EQ(SupportOf(t.get(), node).reason, taken ? kDeputyReasonNone : kDeputyReasonNotClaimed);
  }
  ASSERT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), kNodes / 2);
  for (int i = 0; i < kNodes / 2; ++i) {
    DeputyPartition part{};
    part.struct_size = sizeof part;
    ASSERT_EQ(DeputyInterpreterGetPartition(t.get(), 0, i, &part), kTfLiteOk);
    ASSERT_EQ(part.node_index, kNodes + i);
    ASSERT_EQ(part.plan_position, 2 * i);
  }
}

TEST(LargeGraph, is_placed_by_measured_times) {
  constexpr int kNodes = 100000;
  const std::vector<uint8_t> bytes = IdleChain(kNodes);
  Halving half;
  TfLiteModel* const model = TfLiteModelCreate(bytes.data(), bytes.size());
  TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
  AddIdleOperator(options);
  TfLiteInterpreterOptionsAddDelegate(options, reinterpret_cast<TfLiteOpaqueDelegate*>(half.get()));
  DeputyPlacementSettings settings{};
  settings.struct_size = sizeof settings;
  settings.budget_ms = 1;
  settings.runs = 1;
  DeputyPlacementPlan* const plan = DeputyPlacementPlanCreate(model, options, &settings);
  ASSERT_NE(plan, nullptr) << DeputyLastError();
  ASSERT_EQ(DeputyInterpreterOptionsSetPlacementPlan(options, plan), kTfLiteOk);
  TfLiteInterpreter* const interpreter = TfLiteInterpreterCreate(model, options);
  ASSERT_NE(interpreter, nullptr) << DeputyLastError();
  int delegated = 0;
  for (int node = 0; node < kNodes; ++node) {
    delegated += DeputyPlacementPlanGetOwner(plan, node) == 0 ? 1 : 0;
  }
  EXPECT_EQ(DeputyInterpreterGetPartitionCount(interpreter, 0), delegated);
  TfLiteInterpreterDelete(interpreter);
  DeputyPlacementPlanDelete(plan);
  TfLiteInterpreterOptionsDelete(options);
  TfLiteModelDelete(model);
}

TEST(LargeGraph, of_many_partitions_is_recomputed_under_hot) {
  constexpr int kNodes = 40000;
  Halving half;
  TestInterpreter t(IdleChain(kNodes), [](TfLiteInterpreterOptions* options) {
    AddIdleOperator(options);
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), half.get()), kTfLiteOk) << t.log();
  half.invoke_status = kTfLiteError;
  ASSERT_EQ(TfLiteInterpreterInvoke(t.get()), kTfLiteOk);
  DeputyDelegationStatus status{};
  status.struct_size = sizeof status;
  ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  EXPECT_EQ(status.recomputed_nodes, kNodes / 2);
  EXPECT_EQ(status.degraded, 1);
}

// A graph of 8 000 nodes with the same 2 000 inputs, a list that the file stores once.
TEST(LargeGraph, of_nodes_with_many_inputs_is_delegated) {
  Halving half;
  TestInterpreter t(NodesOverSharedInputs(8000, 2000), AddIdleOperator);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), half.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(half.inits, 1);
  EXPECT_EQ(SupportOf(t.get(), 0).reason, kDeputyReasonNone);
  EXPECT_EQ(SupportOf(t.get(), 1).reason, kDeputyReasonNotClaimed);
  EXPECT_STREQ(SupportOf(t.get(), 1).text,
               "not claimed, no reason given; other nodes of this operator were");
}

TEST(LargeGraph, of_many_inputs_is_allocated) {
  constexpr int kInputs = 200000;
  TestInterpreter t(ManyInputs(kInputs));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const DeputyMemoryMap map = MemoryMapOf(t.get());
  EXPECT_EQ(map.arena_bytes, size_t{kInputs} * 64);
  ASSERT_EQ(map.tensor_count, size_t{kInputs});
  for (int i = 0; i < kInputs; ++i) {
    DeputyTensorMemory memory{};
    memory.struct_size = sizeof memory;
    ASSERT_EQ(DeputyInterpreterGetTensorMemory(t.get(), 0, static_cast<size_t>(i), &memory),
              kTfLiteOk);
    ASSERT_EQ(memory.tensor_index, i);
    ASSERT_EQ(memory.offset, size_t{64} * static_cast<size_t>(i));
  }
}

// The search for TRANSPOSE nodes that cancel each other is limited to the size of a fusion group.
TEST(LargeGraph, of_transposes_is_computed) {
  constexpr int kNodes = 100000;
  ModelBuilder m;
  const int turn = m.AddConstant<int32_t>(kTfLiteInt32, {3}, {1, 2, 0});
  const int one = m.AddConstant<float>(kTfLiteFloat32, {1}, {1});
  const int input = m.AddTensor(kTfLiteFloat32, {2, 3, 8});
  int x = input;
  for (int i = 0; i < kNodes; ++i) {
    const int y = m.AddTensor(kTfLiteFloat32, {1});
    if (i % 2 == 0) {
      m.AddOp(kTfLiteBuiltinTranspose, {x, turn}, {y});
    } else {
      m.AddOp(kTfLiteBuiltinMul, {x, one}, {y}, schema::CreateMulOptions(m.fbb()));
    }
    x = y;
  }
  m.SetInputs({input});
  m.SetOutputs({x});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  // 50 000 rotations of three axes are equivalent to two.
  EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)),
            (std::vector<int>{8, 2, 3}));
}

TEST(LargeGraph, of_60000_subgraphs_is_delegated_and_restored_under_hot) {
  constexpr int kSubgraphs = 60000;
  TestInterpreter t(OneSubgraphOften(kSubgraphs), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ASSERT_NE(t.get(), nullptr) << t.log();
  Halving half;
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), half.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(half.inits, kSubgraphs);
  // A resize of the first subgraph applies the delegate again.
  ASSERT_EQ(t.Resize(0, {2}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(half.inits, kSubgraphs + 1);
  // Number of Prepare calls. The delegate fails at the last subgraph, so that all are rolled back.
  static int calls;
  calls = 0;
  TfLiteDelegate failing = TfLiteDelegateCreate();
  failing.Prepare = [](TfLiteContext*, TfLiteDelegate*) {
    return ++calls == kSubgraphs ? kTfLiteError : kTfLiteOk;
  };
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &failing), kTfLiteDelegateError);
  EXPECT_EQ(calls, kSubgraphs);
  EXPECT_EQ(NodeRunOf(t.get(), 0).runner, 1);
}

TEST(LargeGraph, of_60000_subgraphs_is_delegated_and_restored_by_the_tflite_policy) {
  constexpr int kSubgraphs = 60000;
  TestInterpreter t(OneSubgraphOften(kSubgraphs));
  ASSERT_NE(t.get(), nullptr) << t.log();
  Halving half;
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), half.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), nullptr), kTfLiteDelegateError);
  EXPECT_EQ(NodeRunOf(t.get(), 0).runner, 0);
}

// The model has 30 000 signatures whose tensors share a name of a million bytes in the file.
TEST(LargeGraph, of_signatures_that_share_a_long_name_copies_no_name) {
  constexpr int kSignatures = 30000;
  TestInterpreter t(SignaturesOfOneName(kSignatures, 1000000));
  ASSERT_NE(t.get(), nullptr) << t.log();
  const char* first = nullptr;
  for (int i = 0; i < kSignatures; ++i) {
    TfLiteSignatureRunner* runner =
        TfLiteInterpreterGetSignatureRunner(t.get(), ("k" + std::to_string(i)).c_str());
    ASSERT_NE(runner, nullptr) << t.log();
    if (i == 0) first = TfLiteSignatureRunnerGetInputName(runner, 0);
    ASSERT_EQ(TfLiteSignatureRunnerGetInputName(runner, 0), first);
    ASSERT_EQ(TfLiteSignatureRunnerGetOutputName(runner, 0), first);
    TfLiteSignatureRunnerDelete(runner);
  }
}

// Delegates may keep pointers to nodes during several replacements, as with upstream's reserved
// capacity.
TEST(NodePointers, stay_valid_while_a_delegate_claims_nodes_one_by_one) {
  struct OneByOne {
    TfLiteDelegate base = TfLiteDelegateCreate();
    std::vector<TfLiteNode*> before, after;
  } one_by_one;
  one_by_one.base.data_ = &one_by_one;
  one_by_one.base.Prepare = [](TfLiteContext* context, TfLiteDelegate* delegate) {
    auto* self = static_cast<OneByOne*>(delegate->data_);
    const auto collect_nodes = [&](std::vector<TfLiteNode*>* out) {
      for (int node = 0; node < 60; ++node) {
        TfLiteNode* pointer = nullptr;
        TfLiteRegistration* registration = nullptr;
        context->GetNodeAndRegistration(context, node, &pointer, &registration);
        out->push_back(pointer);
      }
    };
    collect_nodes(&self->before);
    TfLiteRegistration kernel{};
    kernel.custom_name = "One";
    kernel.prepare = kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
    for (int node = 0; node < 60; ++node) {
      TfLiteIntArray* one = TfLiteIntArrayCreate(1);
      one->data[0] = node;
      const TfLiteStatus status =
          context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, one, delegate);
      TfLiteIntArrayFree(one);
      if (status != kTfLiteOk) return status;
    }
    collect_nodes(&self->after);
    return kTfLiteOk;
  };
  TestInterpreter t(Chain(60));
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &one_by_one.base), kTfLiteOk)
      << t.log();
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 120);
  EXPECT_EQ(one_by_one.before, one_by_one.after);
}

}  // namespace
}  // namespace deputy::large_graph_test
