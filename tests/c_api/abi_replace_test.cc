// SPDX-License-Identifier: Apache-2.0
//
// Tests sections 4.2, 4.3, 4.6, 4.8 and 4.9 of docs/abi_contract.md: insertion of a delegate's
// nodes into a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_opaque.h"
#include "c_api/include/operator.h"
#include "tests/c_api/abi_case.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::abi_replace_test {
namespace {

using testing::ElementsAre;

struct NodeOf {
  NodeOf(TfLiteContext* context, int index) {
    EXPECT_EQ(context->GetNodeAndRegistration(context, index, &node, &registration), kTfLiteOk);
  }
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
};

// Applies a delegate that claims nodes 0 and 1 of three and then calls `check_claim` for the
// delegate's node: node 3, whose output is tensor 3.
void AfterClaiming(void (*check_claim)(TfLiteContext*, TfLiteDelegate*, const NodeOf&)) {
  ProgrammedDelegate delegate([check_claim](TfLiteContext* context, TfLiteDelegate* self) {
    const TfLiteStatus status = ClaimNodes(context, self, {0, 1});
    check_claim(context, self, NodeOf(context, 3));
    return status;
  });
  TestInterpreter t(Chain(3));
  EXPECT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
}

// Replaces `nodes` by an operator "Counter" that counts its invocations in `data`.
TfLiteStatus ReplaceByCounter(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* delegate,
                              const std::vector<int>& nodes, int* data) {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinDelegate, "Counter", 1, data);
  TfLiteOperatorSetInvokeWithData(op, [](void* count, TfLiteOpaqueContext*, TfLiteOpaqueNode*) {
    ++*static_cast<int*>(count);
    return kTfLiteOk;
  });
  TfLiteIntArray* array = NewIntArray(nodes);
  const TfLiteStatus status =
      TfLiteOpaqueContextReplaceNodeSubsetsWithDelegateKernels(context, op, array, delegate);
  TfLiteIntArrayFree(array);
  return status;
}

// Applies a delegate that claims node 1 of a chain whose model has these control edges, and returns
// the status.
TfLiteStatus ApplyWithControlEdges(const std::vector<uint8_t>& metadata) {
  ModelBuilder m;
  AddChain(&m, 4);
  m.AddMetadata("model_control_dependencies", metadata);
  ProgrammedDelegate delegate(ClaimingBody({1}));
  TestInterpreter t(m.Finish());
  return Apply(&t, &delegate.base);
}

const AbiCase kCases[] = {
    {"4.2", "in the init of a delegate's kernel the plan holds only what precedes it",
     [] {
       std::vector<std::vector<int>> plans;
       ProgrammedDelegate delegate(ClaimingBody({1, 3}));
       delegate.init = [&](TfLiteContext* context, const TfLiteDelegateParams*, size_t) {
         plans.push_back(PlanOf(context));
       };
       TestInterpreter t(Chain(5));
       ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
       EXPECT_THAT(plans, ElementsAre(ElementsAre(0), ElementsAre(0, 5, 2)));
     }},
    {"4.3b", "nodes of earlier delegates have code 51 and nodes they claimed can be fetched",
     [] {
       ProgrammedDelegate earlier(ClaimingBody({0}));
       ProgrammedDelegate later([](TfLiteContext* context, TfLiteDelegate*) {
         EXPECT_THAT(PlanOf(context), ElementsAre(2, 1));
         EXPECT_EQ(NodeOf(context, 2).registration->builtin_code, 51);
         EXPECT_EQ(NodeOf(context, 0).registration->builtin_code, kTfLiteBuiltinAdd);
         return kTfLiteOk;
       });
       TestInterpreter t(Chain(2));
       ASSERT_EQ(Apply(&t, &earlier.base), kTfLiteOk) << t.log();
       ASSERT_EQ(Apply(&t, &later.base), kTfLiteOk) << t.log();
     }},
    {"4.3c", "pointers to nodes survive replacements within 128 nodes",
     [] {
       ProgrammedDelegate delegate([](TfLiteContext* context, TfLiteDelegate* self) {
         const NodeOf before(context, 0);
         for (int node = 1; node < 80; node += 2) {
           EXPECT_EQ(ClaimNodes(context, self, {node}), kTfLiteOk);
         }
         const NodeOf after(context, 0);
         EXPECT_EQ(after.node, before.node);
         EXPECT_EQ(after.registration, before.registration);
         return kTfLiteOk;
       });
       TestInterpreter t(Chain(80));
       ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
     }},
    {"4.6a", "a delegate's node has code 51 and the delegate's name",
     [] {
       AfterClaiming([](TfLiteContext*, TfLiteDelegate*, const NodeOf& made) {
         EXPECT_EQ(made.registration->builtin_code, 51);
         EXPECT_STREQ(made.registration->custom_name, "Programmed");
       });
     }},
    {"4.6b", "a delegate's node and its outputs have the delegate and no handle",
     [] {
       AfterClaiming([](TfLiteContext* context, TfLiteDelegate* self, const NodeOf& made) {
         EXPECT_EQ(made.node->delegate, self);
         EXPECT_EQ(context->tensors[3].delegate, self);
         EXPECT_EQ(context->tensors[3].buffer_handle, -1);
         EXPECT_EQ(context->tensors[2].delegate, nullptr);  // a tensor inside the partition
         EXPECT_EQ(context->tensors[4].delegate, nullptr);  // a tensor after the partition
       });
     }},
    {"4.6c", "a delegate's node has its tensors and nothing else of an operator",
     [] {
       AfterClaiming([](TfLiteContext*, TfLiteDelegate*, const NodeOf& made) {
         EXPECT_THAT(ToVector(made.node->inputs), ElementsAre(0, 1));
         EXPECT_THAT(ToVector(made.node->outputs), ElementsAre(3));
         EXPECT_EQ(made.node->intermediates->size, 0);
         EXPECT_EQ(made.node->temporaries->size, 0);
         EXPECT_EQ(made.node->custom_initial_data, nullptr);
         EXPECT_EQ(made.node->custom_initial_data_size, 0);
       });
     }},
    {"4.6d", "an opaque delegate that replaces nodes without an operator is a delegate error",
     [] {
       TfLiteStatus replaced = kTfLiteOk;
       ProgrammedOpaque opaque([&](TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* self) {
         return replaced = ClaimNodes(reinterpret_cast<TfLiteContext*>(context), self, {0});
       });
       TestInterpreter t(Chain(2));
       EXPECT_EQ(Apply(&t, opaque.delegate), kTfLiteDelegateError);
       EXPECT_EQ(replaced, kTfLiteDelegateError);
     }},
    {"4.6e", "the first operator of a name and version is used for all nodes of an opaque delegate",
     [] {
       int first = 0, second = 0, unused = 0;
       ProgrammedOpaque opaque([&](TfLiteOpaqueContext* context, TfLiteOpaqueDelegate* self) {
         EXPECT_EQ(ReplaceByCounter(context, self, {0}, &first), kTfLiteOk);
         EXPECT_EQ(ReplaceByCounter(context, self, {2}, &second), kTfLiteOk);
         // Replaces no node; the runtime deletes the operator nevertheless.
         EXPECT_EQ(ReplaceByCounter(context, self, {}, &unused), kTfLiteOk);
         return kTfLiteOk;
       });
       TestInterpreter t(Chain(4));
       ASSERT_EQ(Apply(&t, opaque.delegate), kTfLiteOk) << t.log();
       t.Set<float>(0, {1, 1, 1, 1});
       ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
       EXPECT_EQ(first, 2);
       EXPECT_EQ(second, 0);
     }},
    {"4.8-len", "the init of a delegate's kernel gets its params and a length of 0",
     [] {
       ProgrammedDelegate delegate(ClaimingBody({1}));
       delegate.init = [&](TfLiteContext*, const TfLiteDelegateParams* params, size_t length) {
         EXPECT_EQ(length, 0u);
         EXPECT_EQ(params->delegate, &delegate.base);
         EXPECT_THAT(ToVector(params->nodes_to_replace), ElementsAre(1));
         EXPECT_THAT(ToVector(params->input_tensors), ElementsAre(1, 2));
         EXPECT_THAT(ToVector(params->output_tensors), ElementsAre(3));
       };
       TestInterpreter t(Chain(3));
       ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
     }},
    // Version 1, one subgraph, one edge from position 0 to position 50 (zig-zag 100), which does
    // not exist in the graph.
    {"4.9b", "control edges for another number of subgraphs are ignored",
     [] {
       EXPECT_EQ(ApplyWithControlEdges({1, 1, 1, 0, 100}), kTfLiteDelegateError);
       EXPECT_EQ(ApplyWithControlEdges({1, 2, 1, 0, 100, 0}), kTfLiteOk);
     }},
    {"4.9c", "control edges with trailing bytes or of another version are ignored",
     [] {
       EXPECT_EQ(ApplyWithControlEdges({1, 1, 1, 0, 100, 9}), kTfLiteOk);
       EXPECT_EQ(ApplyWithControlEdges({2, 1, 1, 0, 100}), kTfLiteOk);
       EXPECT_EQ(ApplyWithControlEdges({1, 1, 1, 0}), kTfLiteOk);
     }},
};

using AbiReplacing = AbiContract;
TEST_P(AbiReplacing, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiReplacing, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_replace_test
