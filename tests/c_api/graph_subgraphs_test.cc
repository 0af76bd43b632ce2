// SPDX-License-Identifier: Apache-2.0
//
// Tests subgraphs, settings, delegates and signatures of deputy_graph.h, on graphs that are built
// in code and on models. Expected values are literals; the rules are upstream's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "c_api/include/telemetry_profiler.h"
#include "tests/support/built_interpreter.h"
#include "tests/support/delegate_support.h"

namespace deputy::graph_subgraphs_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TfLiteRegistration* AddKernel() { return DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1); }

// Builds t1 = t0 + t0, t2 = t1 + t1, t3 = t2 + t2 over one row of four.
void BuildChain(BuiltInterpreter* t, int subgraph = 0) {
  t->AddFloats(4, {1, 4}, subgraph);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(t->AddNode({i, i}, {i + 1}, AddKernel(), nullptr, subgraph), kTfLiteOk);
  }
  t->SetInputs({0}, subgraph);
  t->SetOutputs({3}, subgraph);
}

// Runs the chain and returns its result for the input 1, 2, 3, 4.
std::vector<float> RunChain(BuiltInterpreter* t, int subgraph = 0) {
  if (DeputyInterpreterAllocateSubgraph(t->get(), subgraph) != kTfLiteOk) return {};
  t->Write(0, {1, 2, 3, 4}, subgraph);
  if (DeputyInterpreterInvokeSubgraph(t->get(), subgraph) != kTfLiteOk) return {};
  return t->Read(3, subgraph);
}

// ---- Subgraphs ----------------------------------------------------------------------------------

TEST(GraphSubgraphs, AddedSubgraphsAreBuiltAndRun) {
  BuiltInterpreter t;
  BuildChain(&t);
  int first = -1;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 2, &first), kTfLiteOk);
  EXPECT_EQ(first, 1);
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 3, &first), kTfLiteOk);
  EXPECT_EQ(first, 3);
  EXPECT_EQ(DeputyInterpreterGetSubgraphCount(t.get()), 6);
  BuildChain(&t, 5);
  EXPECT_THAT(RunChain(&t, 5), ElementsAre(8, 16, 24, 32));
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32));
  EXPECT_NE(DeputyInterpreterGetContext(t.get(), 5), DeputyInterpreterGetContext(t.get(), 0));
  EXPECT_EQ(DeputyInterpreterGetContext(t.get(), 6), nullptr);
  EXPECT_EQ(DeputyInterpreterGetContext(t.get(), -1), nullptr);
  EXPECT_EQ(DeputyInterpreterGetContext(nullptr, 0), nullptr);
  for (const int subgraph : {0, 5}) {
    EXPECT_EQ(DeputyInterpreterGetSubgraphOutputCount(t.get(), subgraph), 1);
    EXPECT_EQ(DeputyInterpreterGetSubgraphOutput(t.get(), subgraph, 0), 3);
  }
  EXPECT_EQ(DeputyInterpreterGetSubgraphOutput(t.get(), 5, 1), -1);
  EXPECT_EQ(DeputyInterpreterGetSubgraphOutput(t.get(), 5, -1), -1);
  EXPECT_EQ(DeputyInterpreterGetSubgraphOutputCount(t.get(), 1), 0) << "empty";
  for (const int subgraph : {6, -1}) {
    EXPECT_EQ(DeputyInterpreterGetSubgraphOutputCount(t.get(), subgraph), 0);
    EXPECT_EQ(DeputyInterpreterGetSubgraphOutput(t.get(), subgraph, 0), -1);
  }
  EXPECT_EQ(DeputyInterpreterGetSubgraphOutputCount(nullptr, 0), 0);
  EXPECT_EQ(DeputyInterpreterAllocateSubgraph(t.get(), 6), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterInvokeSubgraph(t.get(), 1), kTfLiteError) << "not allocated";
  EXPECT_EQ(DeputyInterpreterEnsureReadable(t.get(), 5, 3), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterEnsureReadable(t.get(), 5, 4), kTfLiteError);
}

void* WhileOptions(int condition, int body) {
  auto* const options = static_cast<TfLiteWhileParams*>(calloc(1, sizeof(TfLiteWhileParams)));
  options->cond_subgraph_index = condition;
  options->body_subgraph_index = body;
  return options;
}

// x is doubled while it is less than 100.
TEST(GraphSubgraphs, ControlFlowCallsBuiltSubgraphs) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 2, nullptr), kTfLiteOk);
  t.AddFloats(2, {1});
  t.SetInputs({0});
  t.SetOutputs({1});
  ASSERT_EQ(
      t.AddNode({0}, {1}, DeputyFindBuiltinKernel(kTfLiteBuiltinWhile, 1), WhileOptions(1, 2)),
      kTfLiteOk);
  t.AddFloats(3, {1}, 1);
  const std::vector<int> dims = {1};
  DeputyTensorParameters parameters = BuiltInterpreter::Floats(dims);
  const float hundred = 100;
  parameters.data = &hundred;
  parameters.bytes = 4;
  ASSERT_EQ(t.Set(1, parameters, 1), kTfLiteOk);
  parameters = BuiltInterpreter::Floats(dims);
  parameters.type = kTfLiteBool;
  ASSERT_EQ(t.Set(2, parameters, 1), kTfLiteOk);
  ASSERT_EQ(t.AddNode({0, 1}, {2}, DeputyFindBuiltinKernel(kTfLiteBuiltinLess, 1), nullptr, 1),
            kTfLiteOk);
  t.SetInputs({0}, 1);
  t.SetOutputs({2}, 1);
  t.AddFloats(2, {1}, 2);
  ASSERT_EQ(t.AddNode({0, 0}, {1}, AddKernel(), nullptr, 2), kTfLiteOk);
  t.SetInputs({0}, 2);
  t.SetOutputs({1}, 2);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Write(0, {3});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(1), ElementsAre(192));
}

TEST(GraphSubgraphs, SubgraphThatCallsItselfIsRefused) {
  for (int condition : {0, 1}) {
    BuiltInterpreter t;
    ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
    for (int subgraph : {0, 1}) {
      t.AddFloats(2, {1}, subgraph);
      ASSERT_EQ(t.AddNode({0}, {1}, DeputyFindBuiltinKernel(kTfLiteBuiltinWhile, 1),
                          WhileOptions(condition, 1 - condition), subgraph),
                kTfLiteOk);
      t.SetInputs({0}, subgraph);
      t.SetOutputs({1}, subgraph);
    }
    EXPECT_EQ(t.Allocate(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("expected no call of itself, found one"));
    EXPECT_EQ(t.Invoke(), kTfLiteError);
  }
}

TEST(GraphSubgraphs, CustomAllocationBelongsToItsSubgraph) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
  BuildChain(&t);
  BuildChain(&t, 1);
  alignas(64) float memory[4] = {1, 1, 1, 1};
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 1, 0, &allocation, 0), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 1, 9, &allocation, 0), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 1, 0, nullptr, 0), kTfLiteError);
  ASSERT_EQ(DeputyInterpreterAllocateSubgraph(t.get(), 1), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterInvokeSubgraph(t.get(), 1), kTfLiteOk);
  EXPECT_THAT(t.Read(3, 1), ElementsAre(8, 8, 8, 8));
  EXPECT_NE(t.Tensor(0, 0)->allocation_type, kTfLiteCustom);
  ASSERT_EQ(DeputyInterpreterClearCustomAllocations(t.get(), 1), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterClearCustomAllocations(t.get(), 2), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterInvokeSubgraph(t.get(), 1), kTfLiteError);
  EXPECT_THAT(RunChain(&t, 1), ElementsAre(8, 16, 24, 32));
  EXPECT_THAT(memory, ElementsAre(1, 1, 1, 1));
}

TEST(GraphSubgraphs, ReleasedMemoryIsAllocatedAgain) {
  BuiltInterpreter t;
  BuildChain(&t);
  EXPECT_EQ(DeputyInterpreterReleaseNonPersistentMemory(t.get()), kTfLiteOk);
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32));
  ASSERT_EQ(DeputyInterpreterReleaseNonPersistentMemory(t.get()), kTfLiteOk);
  EXPECT_EQ(t.Tensor(0)->data.raw, nullptr);
  DeputyMemoryMap map{};
  map.struct_size = sizeof map;
  ASSERT_EQ(DeputyInterpreterGetMemoryMap(t.get(), 0, &map), kTfLiteOk);
  EXPECT_EQ(map.arena_bytes, 0u);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32));
  ASSERT_EQ(DeputyInterpreterReleaseNonPersistentMemory(t.get()), kTfLiteOk);
  const int dims[] = {1, 2};
  ASSERT_EQ(DeputyInterpreterResizeInput(t.get(), 0, 0, dims, 2, false), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Write(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Read(3), ElementsAre(8, 16));
}

// A client may point impl_ to an object of its own, as the C++ API does.
TEST(GraphSubgraphs, ContextMayPointToAClientsObject) {
  struct Owner {
    void* runtime;
    int number;
  } owner{};
  static int number;
  TfLiteRegistration registration = Doubler::Registration();
  registration.invoke = [](TfLiteContext* context, TfLiteNode*) {
    number = static_cast<const Owner*>(context->impl_)->number;
    TfLiteContext copy = *context;
    copy.ReportError(&copy, "from a copy: %d", 5);
    return kTfLiteOk;
  };
  BuiltInterpreter t;
  BuildChain(&t);
  t.AddFloats(1, {1, 4});
  ASSERT_EQ(t.AddNode({3}, {4}, &registration), kTfLiteOk);
  TfLiteContext* const context = DeputyInterpreterGetContext(t.get(), 0);
  void* const before = context->impl_;
  owner = {*static_cast<void**>(before), 17};
  context->impl_ = &owner;
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32)) << t.log();
  EXPECT_EQ(number, 17);
  EXPECT_EQ(t.log(), "from a copy: 5\n");
  context->impl_ = before;
}

// ---- Delegates ----------------------------------------------------------------------------------

TEST(GraphSubgraphs, DelegateIsAppliedToABuiltGraphAndRemoved) {
  Scripted delegate({0, 1});
  BuiltInterpreter t;
  BuildChain(&t);
  const uint64_t digest = DeputyInterpreterGetGraphDigest(t.get());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_THAT(t.Plan(), ElementsAre(3, 2));
  EXPECT_NE(DeputyInterpreterGetGraphDigest(t.get()), digest);
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32));
  EXPECT_EQ(delegate->nodes_computed, 2);
  DeputyNodeRun run{};
  run.struct_size = sizeof run;
  ASSERT_EQ(DeputyInterpreterGetNodeRun(t.get(), 0, 1, &run), kTfLiteOk);
  EXPECT_EQ(run.runner, 3);
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
  EXPECT_THAT(t.Plan(), ElementsAre(0, 1, 2));
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 3);
  EXPECT_EQ(delegate->frees, 1);
  t.Write(0, {1, 2, 3, 4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << "removal allocates tensors";
  EXPECT_THAT(t.Read(3), ElementsAre(8, 16, 24, 32));
  EXPECT_EQ(delegate->nodes_computed, 2);
}

// A node outside of the plan survives the removal of a delegate.
TEST(GraphSubgraphs, RemovalKeepsNodesOutsideThePlan) {
  Scripted delegate({0});
  BuiltInterpreter t;
  BuildChain(&t);
  t.SetOutputs({1});
  const int plan[] = {0};
  ASSERT_EQ(DeputyInterpreterSetExecutionPlan(t.get(), 0, plan, 1), kTfLiteOk);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_THAT(t.Plan(), ElementsAre(3));
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk);
  EXPECT_THAT(t.Plan(), ElementsAre(0));
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 3);
  const int all[] = {0, 1, 2};
  t.SetOutputs({3});
  ASSERT_EQ(DeputyInterpreterSetExecutionPlan(t.get(), 0, all, 3), kTfLiteOk);
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32));
}

TEST(GraphSubgraphs, StaticDelegateMakesTheGraphImmutable) {
  Scripted delegate({0, 1, 2});
  BuiltInterpreter t;
  BuildChain(&t);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  const std::vector<int> dims = {1, 4};
  DeputyTensorParameters parameters = BuiltInterpreter::Floats(dims);
  EXPECT_EQ(t.Set(0, parameters), kTfLiteError);
  const float data[4] = {};
  parameters.data = data;
  parameters.bytes = sizeof data;
  EXPECT_EQ(t.Set(0, parameters), kTfLiteError);
  EXPECT_EQ(t.AddNode({0, 0}, {1}, AddKernel(), malloc(8)), kTfLiteError);
  const int plan[] = {0};
  EXPECT_EQ(DeputyInterpreterSetExecutionPlan(t.get(), 0, plan, 1), kTfLiteError);
  EXPECT_THAT(t.log(),
              HasSubstr("SetTensorParametersReadWrite is disallowed when graph is immutable.\n"
                        "SetTensorParametersReadOnly is disallowed when graph is immutable.\n"
                        "AddNodeWithParameters is disallowed when graph is immutable.\n"));
  // The graph stays immutable after its memory has been released.
  ASSERT_EQ(DeputyInterpreterReleaseNonPersistentMemory(t.get()), kTfLiteOk);
  EXPECT_EQ(t.Set(0, BuiltInterpreter::Floats(dims)), kTfLiteError);
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32));
  EXPECT_EQ(delegate->nodes_computed, 3);
  EXPECT_EQ(t.Set(0, BuiltInterpreter::Floats(dims)), kTfLiteError);
  // A change of the outputs undoes the delegate until the next allocation.
  const int output = 2;
  ASSERT_EQ(DeputyInterpreterSetOutputs(t.get(), 0, &output, 1), kTfLiteOk);
  EXPECT_THAT(t.Plan(), ElementsAre(0, 1, 2));
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_THAT(t.Plan(), ElementsAre(3));
  t.Write(0, {1, 1, 1, 1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Read(2), ElementsAre(4, 4, 4, 4));
}

TEST(GraphSubgraphs, DelegateIsAppliedToListedSubgraphs) {
  std::vector<const TfLiteContext*> prepared;
  Programmed delegate([&](TfLiteContext* context, TfLiteDelegate*) {
    prepared.push_back(context);
    return kTfLiteOk;
  });
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 2, nullptr), kTfLiteOk);
  const auto apply = [&](const std::vector<int>& subgraphs) {
    return DeputyInterpreterModifySubgraphs(t.get(), &delegate.base, subgraphs.data(),
                                            static_cast<int32_t>(subgraphs.size()));
  };
  EXPECT_EQ(apply({0, 3}), kTfLiteApplicationError);
  EXPECT_EQ(apply({}), kTfLiteApplicationError);
  EXPECT_EQ(DeputyInterpreterModifySubgraphs(t.get(), &delegate.base, nullptr, 1), kTfLiteError);
  EXPECT_EQ(apply({0}), kTfLiteOk);
  EXPECT_THAT(t.log(), HasSubstr("Active subgraph index 3 is out of range.\n"
                                 "Active subgraph indices must not be empty.\n"));
  prepared.clear();
  EXPECT_EQ(apply({2, 0, 2}), kTfLiteOk);
  EXPECT_THAT(prepared, ElementsAre(DeputyInterpreterGetContext(t.get(), 0),
                                    DeputyInterpreterGetContext(t.get(), 2)));
}

TEST(GraphSubgraphs, ValidationSubgraphsAreNotDelegated) {
  Scripted delegate({0, 1, 2});
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
  BuildChain(&t);
  BuildChain(&t, 1);
  ASSERT_EQ(DeputyInterpreterSetSubgraphName(t.get(), 1, "VALIDATION:x"), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterSetSubgraphName(t.get(), 1, nullptr), kTfLiteError);
  EXPECT_STREQ(DeputyInterpreterGetSubgraphName(t.get(), 1), "VALIDATION:x");
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  EXPECT_EQ(t.Plan(0).size(), 1u);
  EXPECT_EQ(t.Plan(1).size(), 3u);
}

// The model's control edges are those of its own subgraphs.
TEST(GraphSubgraphs, SubgraphIsAddedToAModelWithControlEdges) {
  Scripted delegate({0, 1, 2});
  ModelBuilder m;
  AddChain(&m, 2);
  m.AddMetadata("model_control_dependencies", {1, 1, 1, 0, 2});
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  int added = -1;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, &added), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterAddTensors(t.get(), added, 4, nullptr), kTfLiteOk);
  const std::vector<int> dims = {1, 4};
  const DeputyTensorParameters floats = BuiltInterpreter::Floats(dims);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(DeputyInterpreterSetTensor(t.get(), added, i, &floats), kTfLiteOk);
  }
  for (int i = 0; i < 3; ++i) {
    const int inputs[] = {i, i}, output = i + 1;
    DeputyNodeParameters node{};
    node.struct_size = sizeof node;
    node.inputs = inputs;
    node.input_count = 2;
    node.outputs = &output;
    node.output_count = 1;
    node.registration = AddKernel();
    ASSERT_EQ(DeputyInterpreterAddNode(t.get(), added, &node, nullptr), kTfLiteOk) << t.log();
  }
  const int input = 0, output = 3;
  ASSERT_EQ(DeputyInterpreterSetInputs(t.get(), added, &input, 1), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterSetOutputs(t.get(), added, &output, 1), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterModifySubgraphs(t.get(), delegate.get(), &added, 1), kTfLiteOk);
  int32_t count = 0;
  EXPECT_EQ(DeputyInterpreterGetExecutionPlan(t.get(), added, &count)[0], 3);
  EXPECT_EQ(count, 1);
  DeputyInterpreterGetExecutionPlan(t.get(), 0, &count);
  EXPECT_EQ(count, 2);
}

// ---- Settings -----------------------------------------------------------------------------------

TEST(GraphSubgraphs, NumberOfThreadsChangesWhileReady) {
  BuiltInterpreter t;
  BuildChain(&t);
  const int state = t.AddFloats(1, {2});
  const std::vector<int> dims = {2};
  DeputyTensorParameters variable = BuiltInterpreter::Floats(dims);
  variable.is_variable = 1;
  ASSERT_EQ(t.Set(state, variable), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Write(0, {1, 2, 3, 4});
  t.Write(state, {5, 6});
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 2), kTfLiteOk);
  EXPECT_THAT(t.Read(state), ElementsAre(5, 6)) << "variables keep their contents";
  EXPECT_EQ(DeputyInterpreterGetContext(t.get(), 0)->recommended_num_threads, 2);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Read(3), ElementsAre(8, 16, 24, 32));
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 0), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterGetContext(t.get(), 0)->recommended_num_threads, 1);
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), -1), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterSetNumThreads(t.get(), -2), kTfLiteError);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterSetNumThreads(nullptr, 1), kTfLiteError);
}

TEST(GraphSubgraphs, NumberOfThreadsChangesAfterResize) {
  BuiltInterpreter t;
  BuildChain(&t);
  EXPECT_THAT(RunChain(&t), ElementsAre(8, 16, 24, 32));
  const int dims[] = {1, 2};
  ASSERT_EQ(DeputyInterpreterResizeInput(t.get(), 0, 0, dims, 2, false), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 2), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("Invoke called on model that is not ready."));
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  t.Write(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_THAT(t.Read(3), ElementsAre(8, 16));
}

TEST(GraphSubgraphs, NumberOfThreadsRefreshesExternalContexts) {
  static int refreshes;
  refreshes = 0;
  TfLiteExternalContext external{};
  external.type = kTfLiteGemmLowpContext;
  external.Refresh = [](TfLiteContext*) {
    ++refreshes;
    return kTfLiteOk;
  };
  BuiltInterpreter t;
  TfLiteContext* const context = DeputyInterpreterGetContext(t.get(), 0);
  context->SetExternalContext(context, kTfLiteGemmLowpContext, &external);
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 4), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterSetNumThreads(t.get(), -2), kTfLiteError);
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 4), kTfLiteOk);
  EXPECT_EQ(refreshes, 2);
}

// A kernel that counts its invocations and calls `action`, if it is set, in each.
struct Acting {
  static TfLiteRegistration Registration() {
    TfLiteRegistration registration = Doubler::Registration();
    registration.invoke = [](TfLiteContext*, TfLiteNode*) {
      ++invoked;
      return action == nullptr ? kTfLiteOk : action();
    };
    invoked = 0;
    action = nullptr;
    return registration;
  }
  static inline TfLiteStatus (*action)();
  static inline int invoked;
};

TEST(GraphSubgraphs, CancellationFunctionEndsInvoke) {
  static bool cancelled;
  cancelled = false;
  const TfLiteRegistration acting = Acting::Registration();
  BuiltInterpreter t;
  t.AddFloats(3, {1});
  ASSERT_EQ(t.AddNode({0}, {1}, &acting), kTfLiteOk);
  ASSERT_EQ(t.AddNode({1}, {2}, &acting), kTfLiteOk);
  t.SetInputs({0});
  t.SetOutputs({2});
  const auto poll = [](void* data) { return *static_cast<bool*>(data); };
  ASSERT_EQ(DeputyInterpreterSetCancellationFunction(t.get(), &cancelled, poll), kTfLiteOk);
  cancelled = true;
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << "only Invoke polls, as upstream";
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(t.log(), "Client requested cancel during Invoke()\n");
  EXPECT_EQ(Acting::invoked, 0);
  cancelled = false;
  Acting::action = [] {
    cancelled = true;
    return kTfLiteOk;
  };
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(Acting::invoked, 1);
  EXPECT_EQ(TfLiteInterpreterCancel(t.get()), kTfLiteError) << "Cancel needs to be enabled";
  ASSERT_EQ(DeputyInterpreterSetCancellationFunction(t.get(), nullptr, nullptr), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

// A kernel cancels the inference and runs another subgraph, which must end, too.
TEST(GraphSubgraphs, CancelEndsSubgraphsThatKernelsRun) {
  static TfLiteInterpreter* interpreter;
  static TfLiteStatus nested;
  const TfLiteRegistration acting = Acting::Registration();
  const TfLiteRegistration doubler = Doubler::Registration();
  BuiltInterpreter t;
  interpreter = t.get();
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
  for (int subgraph : {0, 1}) {
    t.AddFloats(2, {1}, subgraph);
    ASSERT_EQ(t.AddNode({0}, {1}, subgraph == 0 ? &acting : &doubler, nullptr, subgraph),
              kTfLiteOk);
    t.SetInputs({0}, subgraph);
    t.SetOutputs({1}, subgraph);
    ASSERT_EQ(DeputyInterpreterAllocateSubgraph(t.get(), subgraph), kTfLiteOk);
  }
  Acting::action = [] { return nested = DeputyInterpreterInvokeSubgraph(interpreter, 1); };
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(Doubler::invoked, 1);
  ASSERT_EQ(DeputyInterpreterEnableCancellation(t.get()), kTfLiteOk);
  Acting::action = [] {
    EXPECT_EQ(TfLiteInterpreterCancel(interpreter), kTfLiteOk);
    return nested = DeputyInterpreterInvokeSubgraph(interpreter, 1);
  };
  EXPECT_EQ(t.Invoke(), kTfLiteCancelled);
  EXPECT_EQ(nested, kTfLiteCancelled);
  EXPECT_EQ(Doubler::invoked, 1);
  // The running subgraph cannot be run or allocated, and no subgraph can be changed.
  Acting::action = [] {
    const int zero = 0;
    const TfLiteRegistration again = Doubler::Registration();
    DeputyNodeParameters node{};
    node.struct_size = sizeof node;
    node.registration = &again;
    EXPECT_EQ(DeputyInterpreterInvokeSubgraph(interpreter, 0), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterAllocateSubgraph(interpreter, 0), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterSetNumThreads(interpreter, 2), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterSetInputs(interpreter, 1, &zero, 1), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterAddNode(interpreter, 0, &node, nullptr), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterAddSubgraphs(interpreter, 1, nullptr), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterReleaseNonPersistentMemory(interpreter), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterReleaseMemory(interpreter), kTfLiteError);
    EXPECT_EQ(DeputyInterpreterRemoveDelegates(interpreter), kTfLiteError);
    return kTfLiteOk;
  };
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
  interpreter = nullptr;
}

// Counts the events of a telemetry profiler.
struct Counter {
  Counter() {
    profiler.data = this;
    profiler.ReportTelemetryEvent = [](TfLiteTelemetryProfilerStruct* p, const char*, uint64_t) {
      ++static_cast<Counter*>(p->data)->events;
    };
    profiler.ReportBeginOpInvokeEvent = [](TfLiteTelemetryProfilerStruct* p, const char*, int64_t,
                                           int64_t) {
      auto* const counter = static_cast<Counter*>(p->data);
      ++counter->begun;
      if (counter->leaves_at_begin != nullptr) {
        DeputyInterpreterSetTelemetryProfiler(counter->leaves_at_begin, nullptr);
      }
      return static_cast<uint32_t>(counter->begun);
    };
    profiler.ReportEndOpInvokeEvent = [](TfLiteTelemetryProfilerStruct* p, uint32_t) {
      auto* const counter = static_cast<Counter*>(p->data);
      ++counter->ended;
      if (counter->leaves == nullptr) return;
      DeputyInterpreterSetTelemetryProfiler(counter->leaves, nullptr);
    };
  }
  TfLiteTelemetryProfilerStruct profiler{};
  // Interpreters from which the profiler removes itself at the end or the begin of an operator.
  TfLiteInterpreter *leaves = nullptr, *leaves_at_begin = nullptr;
  int events = 0, begun = 0, ended = 0;
};

TEST(GraphSubgraphs, TelemetryIsSetAndRemovedAtRunTime) {
  Counter first, second;
  BuiltInterpreter t;
  BuildChain(&t);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterSetTelemetryProfiler(t.get(), &first.profiler), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(first.events, 1);
  EXPECT_EQ(first.begun, 3);
  EXPECT_EQ(first.ended, 3);
  ASSERT_EQ(DeputyInterpreterSetTelemetryProfiler(t.get(), &second.profiler), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(first.begun, 3);
  EXPECT_EQ(second.begun, 3);
  second.leaves = t.get();
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(second.begun, 4);
  EXPECT_EQ(second.ended, 4);
  EXPECT_EQ(second.events, 1);
  ASSERT_EQ(DeputyInterpreterSetTelemetryProfiler(t.get(), nullptr), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(second.begun, 4);
  first.leaves_at_begin = t.get();
  ASSERT_EQ(DeputyInterpreterSetTelemetryProfiler(t.get(), &first.profiler), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(first.begun, 4);
  EXPECT_EQ(first.ended, 3);
}

// ---- Signatures ---------------------------------------------------------------------------------

TEST(GraphSubgraphs, AddedSignatureRuns) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
  const char* const inputs[] = {"from"};
  const char* const outputs[] = {"to"};
  const int input = 0, output = 3;
  DeputySignature signature{};
  signature.struct_size = sizeof signature;
  signature.key = "eight";
  signature.subgraph_index = 1;
  signature.input_names = inputs;
  signature.output_names = outputs;
  signature.input_tensors = &input;
  signature.output_tensors = &output;
  signature.input_count = signature.output_count = 1;
  ASSERT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteOk) << t.log();
  BuildChain(&t, 1);
  EXPECT_EQ(TfLiteInterpreterGetSignatureCount(t.get()), 1);
  EXPECT_STREQ(TfLiteInterpreterGetSignatureKey(t.get(), 0), "eight");
  EXPECT_EQ(DeputyInterpreterGetSignatureSubgraph(t.get(), 0), 1);
  EXPECT_EQ(DeputyInterpreterGetSignatureInputCount(t.get(), 0), 1);
  EXPECT_EQ(DeputyInterpreterGetSignatureOutputCount(t.get(), 0), 1);
  const char* name = nullptr;
  int tensor = -1;
  ASSERT_EQ(DeputyInterpreterGetSignatureInput(t.get(), 0, 0, &name, &tensor), kTfLiteOk);
  EXPECT_STREQ(name, "from");
  EXPECT_NE(name, inputs[0]);
  EXPECT_EQ(tensor, 0);
  ASSERT_EQ(DeputyInterpreterGetSignatureOutput(t.get(), 0, 0, &name, &tensor), kTfLiteOk);
  EXPECT_STREQ(name, "to");
  EXPECT_EQ(tensor, 3);
  TfLiteSignatureRunner* const runner = TfLiteInterpreterGetSignatureRunner(t.get(), "eight");
  ASSERT_NE(runner, nullptr);
  ASSERT_EQ(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteOk) << t.log();
  const float values[] = {1, 2, 3, 4};
  ASSERT_EQ(TfLiteTensorCopyFromBuffer(TfLiteSignatureRunnerGetInputTensor(runner, "from"), values,
                                       sizeof values),
            kTfLiteOk);
  ASSERT_EQ(TfLiteSignatureRunnerInvoke(runner), kTfLiteOk);
  float result[4];
  ASSERT_EQ(TfLiteTensorCopyToBuffer(TfLiteSignatureRunnerGetOutputTensor(runner, "to"), result,
                                     sizeof result),
            kTfLiteOk);
  EXPECT_THAT(result, ElementsAre(8, 16, 24, 32));
  TfLiteSignatureRunnerDelete(runner);
}

TEST(GraphSubgraphs, InvalidSignaturesAreRefused) {
  BuiltInterpreter t;
  const char* names[] = {"x"};
  int tensors[] = {0};
  DeputySignature signature{};
  signature.struct_size = sizeof signature;
  signature.key = "key";
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteOk) << "without tensors";
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteError) << "the key exists";
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), nullptr), kTfLiteError);
  signature.key = nullptr;
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteError);
  signature.key = "other";
  signature.subgraph_index = 1;
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteError);
  signature.subgraph_index = 0;
  signature.input_count = 1;
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteError);
  signature.input_names = names;
  signature.input_tensors = tensors;
  tensors[0] = -1;
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteError);
  tensors[0] = 0;
  names[0] = nullptr;
  EXPECT_EQ(DeputyInterpreterAddSignature(t.get(), &signature), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetSignatureSubgraph(t.get(), 1), -1);
  EXPECT_EQ(DeputyInterpreterGetSignatureInputCount(t.get(), -1), 0);
  EXPECT_EQ(DeputyInterpreterGetSignatureOutputCount(nullptr, 0), 0);
  const char* name = nullptr;
  int tensor = 0;
  EXPECT_EQ(DeputyInterpreterGetSignatureInput(t.get(), 0, 0, &name, &tensor), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetSignatureOutput(t.get(), 5, 0, &name, &tensor), kTfLiteError);
}

TEST(GraphSubgraphs, SkippableSubgraphsAreKnown) {
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
  auto* const context =
      reinterpret_cast<TfLiteOpaqueContext*>(DeputyInterpreterGetContext(t.get(), 0));
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(t.get(), 1), 0);
  ASSERT_EQ(TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(context, 1), kTfLiteOk);
  // Subgraphs that are added later are not marked.
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(t.get(), 0), 0);
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(t.get(), 1), 1);
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(t.get(), 2), 0);
  ASSERT_EQ(TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable(context, 2), kTfLiteOk);
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(t.get(), 2), 1);
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(t.get(), 3), 0);
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(t.get(), -1), 0);
  EXPECT_EQ(DeputyInterpreterIsDelegationSkippable(nullptr, 0), 0);
}

TEST(GraphSubgraphs, SignaturesOfAModelAreListed) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2});
  const int y = m.AddTensor(kTfLiteFloat32, {2});
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSignature("negate", {{"a", x}}, {{"b", y}});
  TestInterpreter t(m.Finish());
  ASSERT_NE(t.get(), nullptr) << t.log();
  const char* name = nullptr;
  int tensor = -1;
  ASSERT_EQ(DeputyInterpreterGetSignatureOutput(t.get(), 0, 0, &name, &tensor), kTfLiteOk);
  EXPECT_STREQ(name, "b");
  EXPECT_EQ(tensor, y);
  EXPECT_EQ(DeputyInterpreterGetSignatureSubgraph(t.get(), 0), 0);
}

}  // namespace
}  // namespace deputy::graph_subgraphs_test
