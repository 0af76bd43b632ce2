// SPDX-License-Identifier: Apache-2.0
//
// Tests behaviour that programs for TensorFlow Lite depend on when several delegates, resizing,
// several subgraphs and errors are combined: one test each, with the status code (abi.md 4 and 5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_semantics_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kStatic = kTfLiteDelegateFlagsNone;
constexpr int64_t kDynamic = kTfLiteDelegateFlagsAllowDynamicTensors;

// Adds `length` nodes y = y + y to the current subgraph.
void AddDoublings(ModelBuilder* m, int length) {
  int last = m->AddTensor(kTfLiteFloat32, {1, 4}, "x");
  m->SetInputs({last});
  for (int i = 0; i < length; ++i) {
    const int next = m->AddTensor(kTfLiteFloat32, {1, 4}, "y" + std::to_string(i));
    m->AddOp(kTfLiteBuiltinAdd, {last, last}, {next}, schema::CreateAddOptions(m->fbb()));
    last = next;
  }
  m->SetOutputs({last});
}

std::vector<uint8_t> Doublings(int length) {
  ModelBuilder m;
  AddDoublings(&m, length);
  return m.Finish();
}

int DelegateNodes(TestInterpreter* t, int subgraph = 0) {
  return DeputyInterpreterGetPartitionCount(t->get(), subgraph);
}

std::vector<float> Infer(TestInterpreter* t) {
  t->Set<float>(0, {1, -2, 3, 0.5f});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

// ---- Several delegates --------------------------------------------------------------------------

TEST(SeveralDelegates, null_is_a_delegate_error_and_removes_the_others) {
  Scripted first({0});
  TestInterpreter t(Doublings(2));
  ASSERT_EQ(Apply(&t, first.get()), kTfLiteOk);
  EXPECT_EQ(Apply(&t, nullptr), kTfLiteDelegateError);
  EXPECT_THAT(t.log(), HasSubstr("Null delegate."));
  EXPECT_EQ(DelegateNodes(&t), 0);
  EXPECT_THAT(Infer(&t), ElementsAre(4, -8, 12, 2));
}

TEST(SeveralDelegates, missing_prepare_is_a_delegate_error) {
  TfLiteDelegate empty = TfLiteDelegateCreate();
  TestInterpreter t(Doublings(2));
  EXPECT_EQ(Apply(&t, &empty), kTfLiteDelegateError);
  EXPECT_THAT(Infer(&t), ElementsAre(4, -8, 12, 2));
}

TEST(SeveralDelegates, are_redone_in_their_order) {
  std::string order;
  const auto note = [&](char name) {
    return [&order, name](TfLiteContext*, TfLiteDelegate*) {
      order += name;
      return kTfLiteOk;
    };
  };
  Programmed a(note('a')), b(note('b'), kDynamic), c(note('c'));
  TestInterpreter t(Doublings(2));
  for (Programmed* each : {&a, &b, &c}) ASSERT_EQ(Apply(&t, &each->base), kTfLiteOk) << t.log();
  EXPECT_EQ(order, "abc");
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  EXPECT_EQ(order, "abc");
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(order, "abcabc");
}

TEST(SeveralDelegates, a_failing_redo_removes_later_delegates) {
  Scripted first({0}), second({1}), third({2});
  TestInterpreter t(Doublings(3));
  for (Scripted* each : {&first, &second, &third}) ASSERT_EQ(Apply(&t, each->get()), kTfLiteOk);
  second->failing_callback = kScriptedPrepareDelegate;
  second->failing_call = 1;
  second->failure = kScriptedErrorStatus;
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteDelegateError);
  EXPECT_EQ(third->calls[kScriptedPrepareDelegate], 1);
  EXPECT_EQ(DelegateNodes(&t), 0);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(third->calls[kScriptedPrepareDelegate], 1);
}

TEST(SeveralDelegates, a_pending_redo_precedes_the_next_delegate) {
  Scripted first({0}), second({1});
  TestInterpreter t(Doublings(2));
  ASSERT_EQ(Apply(&t, first.get()), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {3, 4}), kTfLiteOk);
  EXPECT_EQ(first->calls[kScriptedPrepareDelegate], 1);
  ASSERT_EQ(Apply(&t, second.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(first->calls[kScriptedPrepareDelegate], 2);
  EXPECT_EQ(DelegateNodes(&t), 2);
}

// Upstream keeps `tensor->delegate` after a delegate is removed, and then refuses the output of the
// next delegate.
TEST(SeveralDelegates, tensors_of_a_removed_delegate_may_be_claimed) {
  Scripted removed({0, 1}), next({0, 1});
  removed->failing_callback = kScriptedPrepareKernel;
  removed->failure = kScriptedErrorStatus;
  TestInterpreter t(Doublings(2));
  ASSERT_EQ(Apply(&t, removed.get()), kTfLiteDelegateError);
  ASSERT_EQ(Apply(&t, next.get()), kTfLiteOk) << t.log();
  EXPECT_THAT(Infer(&t), ElementsAre(4, -8, 12, 2));
  EXPECT_EQ(next->nodes_computed, 2);
}

// A delegate that allows dynamic tensors, applied after a static one, creates dynamic tensors.
TEST(SeveralDelegates, dynamic_tensors_after_a_static_one_are_an_application_error) {
  Scripted first({0});
  Programmed second(
      [](TfLiteContext* context, TfLiteDelegate* delegate) {
        TfLiteRegistration kernel{};
        kernel.prepare = [](TfLiteContext* prepared, TfLiteNode* node) {
          TfLiteTensor* output = &prepared->tensors[node->outputs->data[0]];
          output->allocation_type = kTfLiteDynamic;
          output->data.raw = nullptr;
          return kTfLiteOk;
        };
        kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
        TfLiteIntArray* nodes = TfLiteIntArrayCreate(1);
        nodes->data[0] = 1;
        const TfLiteStatus status =
            context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, nodes, delegate);
        TfLiteIntArrayFree(nodes);
        return status;
      },
      kDynamic);
  TestInterpreter t(Doublings(3));
  ASSERT_EQ(Apply(&t, first.get()), kTfLiteOk);
  EXPECT_EQ(Apply(&t, &second.base), kTfLiteApplicationError);
  EXPECT_THAT(t.log(), HasSubstr("Cannot allow dynamic tensors due to previous delegation"));
  EXPECT_EQ(DelegateNodes(&t), 0);
}

// ---- Shapes in Prepare --------------------------------------------------------------------------

// A model whose file contains the shape of its input only: the outputs of CONV_2D, MAX_POOL_2D,
// RESHAPE, FULLY_CONNECTED and CONCATENATION have the shape [1] in the file.
std::vector<uint8_t> ModelWithoutShapes() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 8, 8, 3}, "x");
  const int filter = m.AddConstant<float>(kTfLiteFloat32, {4, 3, 3, 3}, std::vector<float>(108, 1));
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4});
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {-1, 16});
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {5, 16}, std::vector<float>(80, 1));
  std::vector<int> made;
  for (const char* name : {"conv", "pool", "rows", "product", "both"}) {
    made.push_back(m.AddTensor(kTfLiteFloat32, {1}, name));
  }
  m.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {made[0]},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 2, 2));
  m.AddOp(kTfLiteBuiltinMaxPool2d, {made[0]}, {made[1]},
          schema::CreatePool2DOptions(m.fbb(), schema::Padding::VALID, 2, 2, 2, 2));
  m.AddOp(kTfLiteBuiltinReshape, {made[1], shape}, {made[2]},
          schema::CreateReshapeOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinFullyConnected, {made[2], weights, -1}, {made[3]},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinConcatenation, {made[3], made[2]}, {made[4]},
          schema::CreateConcatenationOptions(m.fbb(), 1));
  m.SetInputs({x});
  m.SetOutputs({made[4]});
  return m.Finish();
}

// Operators are prepared before the delegate, so that it reads the shapes that the CPU would
// compute.
TEST(Shapes, of_static_tensors_are_known_in_prepare) {
  using Dims = std::vector<std::vector<int>>;
  std::vector<Dims> seen;  // for each Prepare, the output shape of each node
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    seen.emplace_back();
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    for (int i = 0; i < plan->size; ++i) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      if (context->GetNodeAndRegistration(context, plan->data[i], &node, &registration) !=
          kTfLiteOk) {
        return kTfLiteError;
      }
      const TfLiteIntArray* dims = context->tensors[node->outputs->data[0]].dims;
      seen.back().emplace_back(dims->data, dims->data + dims->size);
    }
    return kTfLiteOk;
  });
  TestInterpreter t(ModelWithoutShapes());
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  // The new shape undoes a static delegate, and its Prepare is called again.
  ASSERT_EQ(t.Resize(0, {3, 8, 8, 3}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_THAT(seen, ElementsAre(Dims{{1, 4, 4, 4}, {1, 2, 2, 4}, {1, 16}, {1, 5}, {1, 21}},
                                Dims{{3, 4, 4, 4}, {3, 2, 2, 4}, {3, 16}, {3, 5}, {3, 21}}));
}

// ---- Flags --------------------------------------------------------------------------------------

TEST(Flags, incomplete_full_delegation_is_an_application_error) {
  Scripted delegate({0}, kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate);
  TestInterpreter t(Doublings(2));
  EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteApplicationError);
  EXPECT_THAT(t.log(), HasSubstr("node 1 ADD"));
}

// Upstream keeps the delegate's nodes in the plan, although it does not record the delegate.
TEST(Flags, incomplete_full_delegation_removes_the_nodes_of_the_delegate) {
  for (const bool allocated : {false, true}) {
    Scripted next({0, 1});  // outlives the interpreter
    TestInterpreter t(Doublings(2));
    if (allocated) {
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    }
    {
      Scripted delegate({0}, kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate);
      EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteApplicationError);
      EXPECT_EQ(delegate->frees, 1);
    }
    EXPECT_EQ(DelegateNodes(&t), 0);
    EXPECT_THAT(Infer(&t), ElementsAre(4, -8, 12, 2)) << t.log();
    ASSERT_EQ(Apply(&t, next.get()), kTfLiteOk) << t.log();
    EXPECT_THAT(Infer(&t), ElementsAre(4, -8, 12, 2)) << t.log();
    EXPECT_EQ(next->nodes_computed, 2);
  }
}

TEST(Flags, full_delegation_skips_allocation) {
  for (const bool promised : {false, true}) {
    constexpr int64_t kHint = kTfLiteDelegateFlagsHintFullyDelegatedToSingleDelegate;
    Scripted delegate({0, 1}, promised ? kHint : kStatic);
    TestInterpreter t(Doublings(2));
    ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
    EXPECT_EQ(delegate->calls[kScriptedPrepareKernel], promised ? 0 : 1);
  }
}

// The kernels of a static delegate are prepared when it is applied, and made again after a resize;
// those of a dynamic delegate are prepared when tensors are allocated, and kept.
TEST(Flags, dynamic_tensors_keep_a_delegate_through_a_resize) {
  for (const bool dynamic : {false, true}) {
    Scripted delegate({0, 1}, dynamic ? kDynamic : kStatic);
    TestInterpreter t(Doublings(2));
    ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
    EXPECT_EQ(delegate->calls[kScriptedPrepareKernel], dynamic ? 0 : 1);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
    EXPECT_EQ(delegate->frees, dynamic ? 0 : 1);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(delegate->calls[kScriptedPrepareDelegate], dynamic ? 1 : 2);
    EXPECT_EQ(delegate->calls[kScriptedInit], dynamic ? 1 : 2);
  }
}

TEST(Flags, propagated_shapes_include_tensors_inside_a_delegate_node) {
  for (bool wanted : {false, true}) {
    const int64_t flags =
        kDynamic | (wanted ? int64_t{kTfLiteDelegateFlagsRequirePropagatedShapes} : 0);
    std::vector<int> rows_inside;
    static std::vector<int>* seen;
    seen = &rows_inside;
    Programmed delegate(
        [](TfLiteContext* context, TfLiteDelegate* self) {
          TfLiteRegistration kernel{};
          // Records the rows of tensor 1, which is between the two claimed nodes.
          kernel.prepare = [](TfLiteContext* prepared, TfLiteNode* node) {
            seen->push_back(prepared->tensors[1].dims->data[0]);
            const TfLiteTensor& input = prepared->tensors[node->inputs->data[0]];
            return prepared->ResizeTensor(prepared, &prepared->tensors[node->outputs->data[0]],
                                          TfLiteIntArrayCopy(input.dims));
          };
          kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
          TfLiteIntArray* plan = nullptr;
          if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
          return context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, plan, self);
        },
        flags);
    TestInterpreter t(Doublings(2));
    ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Resize(0, {5, 4}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(rows_inside.back(), wanted ? 5 : 1);
  }
}

TEST(Flags, a_dynamic_delegate_may_claim_unclaimed_nodes) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  TensorExtras variable;
  variable.is_variable = true;
  const int state = m.AddTensor(kTfLiteFloat32, {1, 4}, "state", variable);
  m.AddCustomOp("UnregisteredOp", {x, state}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> model = m.Finish();
  TestInterpreter without(model);
  EXPECT_EQ(without.Allocate(), kTfLiteUnresolvedOps);
  Scripted delegate({0}, kDynamic);
  TestInterpreter t(model);
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_THAT(Infer(&t), ElementsAre(1, -2, 3, 0.5f));
  EXPECT_THAT(Infer(&t), ElementsAre(2, -4, 6, 1));
}

// ---- Several subgraphs --------------------------------------------------------------------------

std::vector<uint8_t> ThreeSubgraphs() {
  ModelBuilder m;
  AddDoublings(&m, 2);
  m.AddSubgraph("VALIDATION:check");
  AddDoublings(&m, 2);
  m.AddSubgraph("last");
  AddDoublings(&m, 2);
  return m.Finish();
}

TEST(Subgraphs, all_are_offered_but_those_for_validation) {
  Scripted delegate({0});
  TestInterpreter t(ThreeSubgraphs());
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
  EXPECT_EQ(delegate->calls[kScriptedPrepareDelegate], 2);
  EXPECT_EQ(DelegateNodes(&t, 0), 1);
  EXPECT_EQ(DelegateNodes(&t, 1), 0);
  EXPECT_EQ(DelegateNodes(&t, 2), 1);
}

TEST(Subgraphs, a_delegate_error_on_one_removes_delegates_from_all) {
  Scripted delegate({0});
  delegate->failing_callback = kScriptedPrepareDelegate;
  delegate->failing_call = 1;
  delegate->failure = kScriptedErrorStatus;
  TestInterpreter t(ThreeSubgraphs());
  EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteDelegateError);
  EXPECT_EQ(DelegateNodes(&t, 0), 0);
  EXPECT_EQ(DelegateNodes(&t, 2), 0);
  EXPECT_EQ(delegate->frees, delegate->calls[kScriptedInit]);
}

TEST(Subgraphs, any_other_status_leaves_the_earlier_ones_delegated) {
  ModelBuilder m;
  AddDoublings(&m, 2);
  m.AddSubgraph("of unknown shape");
  const int x = m.AddTensor(kTfLiteFloat32, {4}), shape = m.AddTensor(kTfLiteInt32, {1});
  const int y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {y});
  m.SetInputs({x, shape});
  m.SetOutputs({y});
  Scripted delegate({0});
  TestInterpreter t(m.Finish());
  EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteApplicationError);
  EXPECT_EQ(DelegateNodes(&t, 0), 1);
  EXPECT_THAT(Infer(&t), ElementsAre(4, -8, 12, 2));
  EXPECT_EQ(delegate->nodes_computed, 1);
}

TEST(Subgraphs, the_context_of_another_subgraph_works_while_acquired) {
  int visited_nodes = -1;
  TfLiteStatus too_far = kTfLiteOk, after = kTfLiteOk;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    if (visited_nodes >= 0) return kTfLiteOk;
    TfLiteContext* other = nullptr;
    if (context->AcquireSubgraphContext(context, 2, &other) != kTfLiteOk) return kTfLiteError;
    TfLiteIntArray* plan = nullptr;
    if (other->GetExecutionPlan(other, &plan) != kTfLiteOk) return kTfLiteError;
    visited_nodes = plan->size;
    too_far = context->AcquireSubgraphContext(context, 3, &other);
    if (context->ReleaseSubgraphContext(context, 2) != kTfLiteOk) return kTfLiteError;
    after = other->GetExecutionPlan(other, &plan);
    return kTfLiteOk;
  });
  TestInterpreter t(ThreeSubgraphs());
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  EXPECT_EQ(visited_nodes, 2);
  EXPECT_EQ(too_far, kTfLiteError);
  EXPECT_EQ(after, kTfLiteError);
}

TEST(Subgraphs, a_skippable_subgraph_is_skipped_until_an_undo) {
  Scripted later({0});
  int calls = 0;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    if (calls++ > 0) return kTfLiteOk;
    return TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(
        reinterpret_cast<TfLiteOpaqueContext*>(context), 2);
  });
  TestInterpreter t(ThreeSubgraphs());
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(calls, 2);
  ASSERT_EQ(Apply(&t, later.get()), kTfLiteOk);
  EXPECT_EQ(later->calls[kScriptedPrepareDelegate], 2);
}

// ---- Replacing and previewing -------------------------------------------------------------------

TEST(Replacing, returns_errors_for_invalid_nodes_and_ok_for_none) {
  std::vector<TfLiteStatus> statuses;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
    TfLiteRegistration kernel{};
    TfLiteIntArray* nodes = TfLiteIntArrayCreate(1);
    nodes->data[0] = 99;
    const auto replace = [&](const TfLiteIntArray* list) {
      statuses.push_back(
          context->ReplaceNodeSubsetsWithDelegateKernels(context, kernel, list, self));
    };
    replace(nullptr);
    replace(nodes);
    nodes->size = 0;
    replace(nodes);
    TfLiteIntArrayFree(nodes);
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    for (int index : {-1, 2, 0}) {
      statuses.push_back(context->GetNodeAndRegistration(context, index, &node, &registration));
    }
    statuses.push_back(context->GetExecutionPlan(context, nullptr));
    return kTfLiteOk;
  });
  TestInterpreter t(Doublings(2));
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk);
  EXPECT_THAT(statuses, ElementsAre(kTfLiteError, kTfLiteError, kTfLiteOk, kTfLiteError,
                                    kTfLiteError, kTfLiteOk, kTfLiteError));
  EXPECT_THAT(Infer(&t), ElementsAre(4, -8, 12, 2));
}

TEST(Replacing, equals_the_preview_and_restores_the_plan) {
  std::vector<int> preview, plan_after_preview;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    TfLiteIntArray* nodes = TfLiteIntArrayCreate(3);
    nodes->data[0] = 0;
    nodes->data[1] = 1;
    nodes->data[2] = 3;
    TfLiteDelegateParams* partitions = nullptr;
    int count = 0;
    for (int repeat = 0; repeat < 2; ++repeat) {
      const TfLiteStatus status =
          context->PreviewDelegatePartitioning(context, nodes, &partitions, &count);
      if (status != kTfLiteOk) return status;
    }
    for (int i = 0; i < count; ++i) preview.push_back(partitions[i].nodes_to_replace->size);
    TfLiteIntArrayFree(nodes);
    TfLiteIntArray* plan = nullptr;
    if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
    plan_after_preview.assign(plan->data, plan->data + plan->size);
    return kTfLiteOk;
  });
  Scripted real({0, 1, 3});
  TestInterpreter t(Doublings(5));
  ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk);
  EXPECT_THAT(preview, ElementsAre(2, 1));
  EXPECT_THAT(plan_after_preview, ElementsAre(0, 1, 2, 3, 4));
  ASSERT_EQ(Apply(&t, real.get()), kTfLiteOk);
  EXPECT_THAT(std::vector<int>(real->partition_sizes, real->partition_sizes + 2),
              ElementsAre(2, 1));
}

// ---- Invalid nodes of kernels and delegates ----------------------------------------------------

TEST(InvalidGraphs, absent_temporaries_of_a_replaced_node_are_ignored) {
  TfLiteRegistration kernel{};
  kernel.prepare = [](TfLiteContext*, TfLiteNode* node) {
    TfLiteIntArrayFree(node->temporaries);
    node->temporaries = TfLiteIntArrayCreate(2);
    node->temporaries->data[0] = node->temporaries->data[1] = kTfLiteOptionalTensor;
    return kTfLiteOk;
  };
  kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddCustomOp("Absent", {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  Scripted delegate({0}, kDynamic);
  TestInterpreter t(m.Finish(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddCustomOp(options, "Absent", &kernel, 1, 1);
  });
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
}

TEST(InvalidGraphs, invalid_indices_of_a_failing_delegate_are_ignored) {
  for (bool null : {false, true}) {
    Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      if (context->GetNodeAndRegistration(context, 0, &node, &registration) == kTfLiteOk) {
        node->inputs->data[0] = 1000000;
        if (null) {
          TfLiteIntArrayFree(node->inputs);
          node->inputs = nullptr;
        }
      }
      return kTfLiteError;
    });
    TestInterpreter t(Doublings(2));
    EXPECT_NE(Apply(&t, &delegate.base), kTfLiteOk);
    EXPECT_NE(t.Allocate(), kTfLiteOk);
  }
}

// The 200 invalid nodes are not in the graph's table, so the table has no nodes with the indices of
// the control edge.
TEST(InvalidGraphs, an_inconsistent_subgraph_is_not_shown_to_delegates) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  for (int i = 0; i < 200; ++i) {
    m.AddOp(kTfLiteBuiltinAdd, {x, 999}, {y}, schema::CreateAddOptions(m.fbb()));
  }
  m.SetInputs({x});
  m.SetOutputs({y});
  // Control dependencies of version 1 for one subgraph with one edge, 200 before 199, as signed
  // varints.
  m.AddMetadata("model_control_dependencies", {1, 1, 1, 0x90, 0x03, 0x8e, 0x03});
  const std::vector<uint8_t> model = m.Finish();
  const struct {
    int64_t flags;
    TfLiteStatus status;  // status that TensorFlow Lite returns
  } rows[] = {{kStatic, kTfLiteError}, {kDynamic, kTfLiteOk}};
  for (const auto& row : rows) {
    Scripted delegate({0}, row.flags);
    TestInterpreter t(model);
    ASSERT_NE(t.get(), nullptr) << t.log();
    EXPECT_EQ(Apply(&t, delegate.get()), row.status);
    EXPECT_EQ(delegate->calls[kScriptedPrepareDelegate], 0);
    EXPECT_EQ(DelegateNodes(&t), 0);
    EXPECT_EQ(t.Allocate(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("inconsistent model"));
  }
}

// ---- Buffer handles of clients ------------------------------------------------------------------

TEST(Handles, a_replaced_handle_is_freed_and_one_of_another_delegate_refused) {
  Scripted delegate({0, 1}), unrelated({});
  {
    TestInterpreter t(Doublings(2));
    ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
    TfLiteTensor* output = t.Tensor(TfLiteInterpreterGetOutputTensorIndex(t.get(), 0));
    EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), output, 3, delegate.get()), kTfLiteOk);
    EXPECT_EQ(delegate->handles_freed, 0);
    EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), output, 4, delegate.get()), kTfLiteOk);
    EXPECT_EQ(delegate->handles_freed, 1);
    EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), output, 5, unrelated.get()), kTfLiteError);
    TfLiteBufferHandle handle = kTfLiteNullBufferHandle;
    TfLiteDelegate* owner = nullptr;
    ASSERT_EQ(TfLiteInterpreterGetBufferHandle(
                  t.get(), TfLiteInterpreterGetOutputTensorIndex(t.get(), 0), &handle, &owner),
              kTfLiteOk);
    EXPECT_EQ(handle, 4);
    EXPECT_EQ(owner, delegate.get());
  }
  EXPECT_EQ(delegate->handles_freed, 2);
}

TEST(Handles, may_be_of_tensors_of_every_subgraph) {
  ModelBuilder m;
  AddDoublings(&m, 2);
  m.AddSubgraph("second");
  AddDoublings(&m, 2);
  m.AddSignature("serve", {{"x", 0}}, {{"y", 2}}, 1);
  Scripted delegate({});
  {
    TestInterpreter t(m.Finish());
    TfLiteSignatureRunner* runner = TfLiteInterpreterGetSignatureRunner(t.get(), "serve");
    ASSERT_NE(runner, nullptr) << t.log();
    TfLiteTensor* x = TfLiteSignatureRunnerGetInputTensor(runner, "x");
    EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), x, 3, delegate.get()), kTfLiteOk);
    EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), x, 4, delegate.get()), kTfLiteOk);
    EXPECT_EQ(delegate->handles_freed, 1);
    EXPECT_EQ(x->buffer_handle, 4);
    TfLiteSignatureRunnerDelete(runner);
  }
  EXPECT_EQ(delegate->handles_freed, 2);
}

TEST(Handles, are_refused_for_tensors_of_no_or_another_interpreter) {
  Scripted delegate({});
  TestInterpreter t(Doublings(2)), other(Doublings(2));
  TfLiteTensor own = *t.Tensor(0);
  for (TfLiteTensor* tensor : {&own, other.Tensor(0)}) {
    EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), tensor, 3, delegate.get()), kTfLiteError);
    EXPECT_EQ(tensor->buffer_handle, kTfLiteNullBufferHandle);
    EXPECT_EQ(tensor->delegate, nullptr);
  }
  EXPECT_THAT(t.log(), HasSubstr("expected a tensor of this interpreter"));
}

TEST(Handles, are_unchanged_after_a_failed_replacement) {
  Scripted delegate({});
  delegate->base.FreeBufferHandle = nullptr;
  TestInterpreter t(Doublings(2));
  TfLiteTensor* x = t.Tensor(0);
  x->buffer_handle = 7;  // a handle without a delegate
  EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), x, 3, delegate.get()), kTfLiteError);
  EXPECT_EQ(x->buffer_handle, 7);
  EXPECT_EQ(x->delegate, nullptr);
  x->buffer_handle = kTfLiteNullBufferHandle;
}

TEST(Handles, a_stale_tensor_of_a_delegate_that_cannot_copy_is_an_error) {
  Scripted delegate({0, 1});
  delegate->outputs_on_device = true;
  delegate->base.CopyFromBufferHandle = nullptr;
  TestInterpreter t(Doublings(2));
  ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("could not copy buffer handle"));
}

}  // namespace
}  // namespace deputy::delegate_semantics_test
