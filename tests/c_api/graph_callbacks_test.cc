// SPDX-License-Identifier: Apache-2.0
//
// Tests calls that callbacks of kernels, delegates and profilers make on their own interpreter:
// changes are refused with a report, and the inference continues with right results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "c_api/include/telemetry_profiler.h"
#include "tests/support/built_interpreter.h"

namespace deputy::graph_callbacks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The callback of the running test; the kernels and profilers below call it.
std::function<void()> callback;

void CallBack() {
  if (callback != nullptr) callback();
}

// Functions of a doubling kernel that call `callback`.
struct CallsAt {
  bool init = false, prepare = false, invoke = false, free = false;
};

TfLiteRegistration Calling(CallsAt at) {
  TfLiteRegistration registration = Doubler::Registration();
  if (at.init) {
    registration.init = [](TfLiteContext*, const char*, size_t) -> void* {
      CallBack();
      return &callback;
    };
  }
  if (at.free) registration.free = [](TfLiteContext*, void*) { CallBack(); };
  if (at.prepare) {
    registration.prepare = [](TfLiteContext* context, TfLiteNode* node) {
      CallBack();
      return Doubler::Registration().prepare(context, node);
    };
  }
  if (at.invoke) {
    registration.invoke = [](TfLiteContext* context, TfLiteNode* node) {
      CallBack();
      return Doubler::Registration().invoke(context, node);
    };
  }
  return registration;
}

// Builds t1 = 2 * t0, t2 = t1 + t1 over a row of four, where a client's kernel doubles.
void Build(BuiltInterpreter* t, const TfLiteRegistration& doubler) {
  t->AddFloats(3, {1, 4});
  t->SetInputs({0});
  t->SetOutputs({2});
  ASSERT_EQ(t->AddNode({0}, {1}, &doubler), kTfLiteOk);
  ASSERT_EQ(t->AddNode({1, 1}, {2}, DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1)), kTfLiteOk);
}

void ExpectRightResults(BuiltInterpreter* t) {
  t->Write(0, {1, 2, 3, 4});
  ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  EXPECT_THAT(t->Read(2), ElementsAre(4, 8, 12, 16));
}

TfLiteStatus ReplaceAllNodes(TfLiteContext* context, TfLiteDelegate* delegate,
                             const TfLiteRegistration& registration) {
  TfLiteIntArray* plan = nullptr;
  if (context->GetExecutionPlan(context, &plan) != kTfLiteOk) return kTfLiteError;
  TfLiteIntArray* const nodes = TfLiteIntArrayCopy(plan);
  const TfLiteStatus status =
      context->ReplaceNodeSubsetsWithDelegateKernels(context, registration, nodes, delegate);
  TfLiteIntArrayFree(nodes);
  return status;
}

TfLiteDelegate* ClaimingDelegate() {
  static TfLiteDelegate delegate = [] {
    TfLiteDelegate created = TfLiteDelegateCreate();
    created.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
    created.Prepare = [](TfLiteContext* context, TfLiteDelegate* self) {
      TfLiteRegistration kernel{};
      kernel.custom_name = "Claimed";
      kernel.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
      return ReplaceAllNodes(context, self, kernel);
    };
    return created;
  }();
  return &delegate;
}

// A call of a client, with the name that begins its report.
struct Call {
  const char* name;
  std::function<TfLiteStatus(TfLiteInterpreter*)> call;
};

alignas(64) float memory[4] = {9, 9, 9, 9};
const TfLiteCustomAllocation kMemory = {memory, sizeof memory};
const int kZero = 0;

// Functions that need a subgraph which does not run.
std::vector<Call> CallsOnSubgraph() {
  return {
      {"DeputyInterpreterResizeInput",
       [](TfLiteInterpreter* t) {
         const int dims[] = {1, 99};
         return DeputyInterpreterResizeInput(t, 0, 0, dims, 2, false);
       }},
      {"DeputyInterpreterAllocateSubgraph",
       [](TfLiteInterpreter* t) { return DeputyInterpreterAllocateSubgraph(t, 0); }},
      {"DeputyInterpreterInvokeSubgraph",
       [](TfLiteInterpreter* t) { return DeputyInterpreterInvokeSubgraph(t, 0); }},
      {"DeputyInterpreterResetVariables",
       [](TfLiteInterpreter* t) { return DeputyInterpreterResetVariables(t, 0); }},
      {"DeputyInterpreterSetCustomAllocation",
       [](TfLiteInterpreter* t) {
         return DeputyInterpreterSetCustomAllocation(t, 0, 1, &kMemory, 0);
       }},
      {"ResizeInputTensor",
       [](TfLiteInterpreter* t) {
         const int dims[] = {1, 99};
         return TfLiteInterpreterResizeInputTensor(t, 0, dims, 2);
       }},
      {"AllocateTensors", &TfLiteInterpreterAllocateTensors},
      {"Invoke", &TfLiteInterpreterInvoke},
      {"SetCustomAllocationForTensor",
       [](TfLiteInterpreter* t) {
         return TfLiteInterpreterSetCustomAllocationForTensor(t, 1, &kMemory, 0);
       }},
      {"ResizeInputTensor",
       [](TfLiteInterpreter* t) {
         TfLiteSignatureRunner* const runner = TfLiteInterpreterGetSignatureRunner(t, nullptr);
         const int dims[] = {1, 99};
         const TfLiteStatus status = TfLiteSignatureRunnerResizeInputTensor(
             runner, TfLiteSignatureRunnerGetInputName(runner, 0), dims, 2);
         TfLiteSignatureRunnerDelete(runner);
         return status;
       }},
  };
}

// Functions that need an interpreter which does not run.
std::vector<Call> CallsOnInterpreter() {
  return {
      {"DeputyInterpreterSetSubgraphName",
       [](TfLiteInterpreter* t) { return DeputyInterpreterSetSubgraphName(t, 0, "name"); }},
      {"DeputyInterpreterClearCustomAllocations",
       [](TfLiteInterpreter* t) { return DeputyInterpreterClearCustomAllocations(t, 0); }},
      {"DeputyInterpreterReleaseNonPersistentMemory", &DeputyInterpreterReleaseNonPersistentMemory},
      {"DeputyInterpreterReleaseMemory", &DeputyInterpreterReleaseMemory},
      {"DeputyInterpreterSetNumThreads",
       [](TfLiteInterpreter* t) { return DeputyInterpreterSetNumThreads(t, 2); }},
      {"DeputyInterpreterModifySubgraphs",
       [](TfLiteInterpreter* t) {
         return DeputyInterpreterModifySubgraphs(t, ClaimingDelegate(), &kZero, 1);
       }},
      {"DeputyInterpreterRemoveDelegates", &DeputyInterpreterRemoveDelegates},
      {"DeputyInterpreterReplaceDelegate",
       [](TfLiteInterpreter* t) {
         return DeputyInterpreterReplaceDelegate(t, ClaimingDelegate(), ClaimingDelegate());
       }},
      {"DeputyInterpreterAddSubgraphs",
       [](TfLiteInterpreter* t) { return DeputyInterpreterAddSubgraphs(t, 1, nullptr); }},
      {"DeputyInterpreterAddTensors",
       [](TfLiteInterpreter* t) { return DeputyInterpreterAddTensors(t, 0, 1000, nullptr); }},
      {"DeputyInterpreterSetTensor",
       [](TfLiteInterpreter* t) {
         const std::vector<int> dims = {99};
         const DeputyTensorParameters floats = BuiltInterpreter::Floats(dims);
         return DeputyInterpreterSetTensor(t, 0, 1, &floats);
       }},
      {"DeputyInterpreterAddNode",
       [](TfLiteInterpreter* t) {
         static const TfLiteRegistration kernel = Doubler::Registration();
         const int input = 1, output = 2;
         DeputyNodeParameters node{};
         node.struct_size = sizeof node;
         node.inputs = &input;
         node.outputs = &output;
         node.input_count = node.output_count = 1;
         node.registration = &kernel;
         return DeputyInterpreterAddNode(t, 0, &node, nullptr);
       }},
      {"DeputyInterpreterSetInputs",
       [](TfLiteInterpreter* t) { return DeputyInterpreterSetInputs(t, 0, &kZero, 0); }},
      {"DeputyInterpreterSetOutputs",
       [](TfLiteInterpreter* t) { return DeputyInterpreterSetOutputs(t, 0, &kZero, 0); }},
      {"DeputyInterpreterSetVariables",
       [](TfLiteInterpreter* t) { return DeputyInterpreterSetVariables(t, 0, &kZero, 1); }},
      {"DeputyInterpreterSetExecutionPlan",
       [](TfLiteInterpreter* t) { return DeputyInterpreterSetExecutionPlan(t, 0, &kZero, 1); }},
      {"DeputyInterpreterAddSignature",
       [](TfLiteInterpreter* t) {
         DeputySignature signature{};
         signature.struct_size = sizeof signature;
         signature.key = "key";
         return DeputyInterpreterAddSignature(t, &signature);
       }},
      {"ModifyGraphWithDelegate",
       [](TfLiteInterpreter* t) {
         return TfLiteInterpreterModifyGraphWithDelegate(t, ClaimingDelegate());
       }},
  };
}

std::vector<Call> AllCalls() {
  std::vector<Call> calls = CallsOnSubgraph();
  for (const Call& call : CallsOnInterpreter()) calls.push_back(call);
  return calls;
}

// Lets the next callback make the call, which must be refused, and set `called`.
void ExpectRefusal(BuiltInterpreter* t, const Call& call, bool* called) {
  *called = false;
  callback = [t, call, called] {
    if (std::exchange(*called, true)) return;
    t->ClearLog();
    EXPECT_EQ(call.call(t->get()), kTfLiteError) << call.name;
    EXPECT_THAT(t->log(), testing::StartsWith(std::string(call.name) + ": expected "));
    EXPECT_THAT(t->log(), HasSubstr("that does not run"));
    t->ClearLog();
  };
}

TEST(GraphCallbacks, KernelsInvokeCannotChangeTheGraph) {
  const TfLiteRegistration kernel = Calling({.invoke = true});
  for (const Call& call : AllCalls()) {
    BuiltInterpreter t;
    Build(&t, kernel);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    bool called = false;
    ExpectRefusal(&t, call, &called);
    ExpectRightResults(&t);
    EXPECT_TRUE(called);
    EXPECT_THAT(t.log(), IsEmpty());
    ExpectRightResults(&t);
    EXPECT_THAT(memory, ElementsAre(9, 9, 9, 9));
    callback = nullptr;
  }
}

TEST(GraphCallbacks, KernelsPrepareCannotChangeTheGraph) {
  const TfLiteRegistration kernel = Calling({.prepare = true});
  for (const Call& call : AllCalls()) {
    BuiltInterpreter t;
    Build(&t, kernel);
    bool called = false;
    ExpectRefusal(&t, call, &called);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << call.name << t.log();
    EXPECT_TRUE(called);
    ExpectRightResults(&t);
    callback = nullptr;
  }
}

TEST(GraphCallbacks, KernelsInitAndFreeCannotChangeTheGraph) {
  for (const CallsAt at : {CallsAt{.init = true}, CallsAt{.free = true}}) {
    const TfLiteRegistration kernel = Calling(at);
    for (const Call& call : AllCalls()) {
      bool called = false;
      {
        BuiltInterpreter t;
        ExpectRefusal(&t, call, &called);
        Build(&t, kernel);
        ASSERT_EQ(t.Allocate(), kTfLiteOk) << call.name << t.log();
        ExpectRightResults(&t);
      }
      EXPECT_TRUE(called);
      callback = nullptr;
    }
  }
}

TEST(GraphCallbacks, DelegatesKernelCannotChangeTheGraph) {
  TfLiteDelegate delegate = TfLiteDelegateCreate();
  delegate.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  delegate.Prepare = [](TfLiteContext* context, TfLiteDelegate* self) {
    TfLiteRegistration kernel{};
    kernel.custom_name = "Quadrupler";
    kernel.invoke = [](TfLiteContext* kernel_context, TfLiteNode* node) {
      CallBack();
      const float* const in = kernel_context->tensors[node->inputs->data[0]].data.f;
      float* const out = kernel_context->tensors[node->outputs->data[0]].data.f;
      for (int i = 0; i < 4; ++i) out[i] = 4 * in[i];
      return kTfLiteOk;
    };
    return ReplaceAllNodes(context, self, kernel);
  };
  const TfLiteRegistration kernel = Doubler::Registration();
  for (const Call& call : AllCalls()) {
    BuiltInterpreter t;
    Build(&t, kernel);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    bool called = false;
    ExpectRefusal(&t, call, &called);
    ExpectRightResults(&t);
    EXPECT_TRUE(called);
    ExpectRightResults(&t);
    EXPECT_EQ(t.Plan().size(), 1u);
    callback = nullptr;
  }
}

TEST(GraphCallbacks, ProfilerCannotChangeTheGraph) {
  TfLiteTelemetryProfilerStruct profiler{};
  profiler.ReportBeginOpInvokeEvent = [](TfLiteTelemetryProfilerStruct*, const char*, int64_t,
                                         int64_t) -> uint32_t {
    CallBack();
    return 0;
  };
  profiler.ReportEndOpInvokeEvent = [](TfLiteTelemetryProfilerStruct*, uint32_t) {};
  const TfLiteRegistration kernel = Doubler::Registration();
  for (const Call& call : AllCalls()) {
    BuiltInterpreter t;
    Build(&t, kernel);
    ASSERT_EQ(DeputyInterpreterSetTelemetryProfiler(t.get(), &profiler), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    bool called = false;
    ExpectRefusal(&t, call, &called);
    ExpectRightResults(&t);
    EXPECT_TRUE(called);
    callback = nullptr;
  }
}

TEST(GraphCallbacks, OtherSubgraphsAndCancellationArePermitted) {
  const TfLiteRegistration kernel = Calling({.invoke = true});
  BuiltInterpreter t;
  ASSERT_EQ(DeputyInterpreterAddSubgraphs(t.get(), 1, nullptr), kTfLiteOk);
  Build(&t, kernel);
  t.AddFloats(2, {1, 4}, 1);
  ASSERT_EQ(t.AddNode({0, 0}, {1}, DeputyFindBuiltinKernel(kTfLiteBuiltinAdd, 1), nullptr, 1),
            kTfLiteOk);
  t.SetInputs({0}, 1);
  t.SetOutputs({1}, 1);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  callback = [&] {
    const int dims[] = {1, 2};
    EXPECT_EQ(DeputyInterpreterResizeInput(t.get(), 1, 0, dims, 2, false), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterAllocateSubgraph(t.get(), 1), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterResetVariables(t.get(), 1), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 1, 1, &kMemory, 0), kTfLiteOk);
    t.Write(0, {7, 8}, 1);
    EXPECT_EQ(DeputyInterpreterInvokeSubgraph(t.get(), 1), kTfLiteOk) << t.log();
    EXPECT_EQ(memory[1], 16);
    EXPECT_EQ(DeputyInterpreterEnsureReadable(t.get(), 0, 0), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterSetCancellationFunction(t.get(), nullptr, nullptr), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterSetTelemetryProfiler(t.get(), nullptr), kTfLiteOk);
    EXPECT_EQ(DeputyInterpreterEnableCancellation(t.get()), kTfLiteOk);
  };
  ExpectRightResults(&t);
  callback = [&] { EXPECT_EQ(TfLiteInterpreterCancel(t.get()), kTfLiteOk); };
  EXPECT_EQ(t.Invoke(), kTfLiteCancelled);
  callback = nullptr;
  ExpectRightResults(&t);
}

// An init that adds a node and fails must not leave an index of that node in the plan.
TEST(GraphCallbacks, FailedInitLeavesTheGraphUnchanged) {
  static TfLiteRegistration kernel;
  kernel = Doubler::Registration();
  TfLiteRegistration failing = kernel;
  failing.init = [](TfLiteContext*, const char*, size_t) -> void* {
    CallBack();
    return TfLiteKernelInitFailed();
  };
  BuiltInterpreter t;
  t.AddFloats(3, {1, 4});
  callback = [&] { EXPECT_EQ(t.AddNode({1}, {2}, &kernel), kTfLiteError); };
  EXPECT_EQ(t.AddNode({0}, {1}, &failing), kTfLiteError);
  callback = nullptr;
  EXPECT_THAT(t.Plan(), IsEmpty());
  EXPECT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), 0);
}

// ---- Memory of the client -----------------------------------------------------------------------

TEST(GraphCallbacks, InvokeRefusesMemoryThatIsTooSmall) {
  BuiltInterpreter t;
  Build(&t, Doubler::Registration());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  alignas(64) float small[2] = {};
  const TfLiteCustomAllocation allocation = {small, sizeof small};
  ASSERT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 0, 0, &allocation, 0), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("Custom allocation is too small for tensor idx: 0"));
  const int dims[] = {1, 2};
  ASSERT_EQ(DeputyInterpreterResizeInput(t.get(), 0, 0, dims, 2, false), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Write(0, {1, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Read(2), ElementsAre(4, 8));
}

}  // namespace
}  // namespace deputy::graph_callbacks_test
