// SPDX-License-Identifier: Apache-2.0
//
// Tests section 5 of docs/abi_contract.md: a delegate is applied, undone and redone, and its graph
// is allocated, run and deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "tests/c_api/abi_case.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::abi_lifecycle_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kDynamic = kTfLiteDelegateFlagsAllowDynamicTensors;

// Runs one inference of Chain(3) with inputs of 1, whose result is {3, 8, -1, 1.25}.
std::vector<float> InferOnes(TestInterpreter* t) {
  t->Set<float>(0, {1, 1, 1, 1});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

// y = RESHAPE(x, shape) with a shape that is known only at run time.
std::vector<uint8_t> DynamicShapes() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}), shape = m.AddTensor(kTfLiteInt32, {1});
  const int y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {y});
  m.SetInputs({x, shape});
  m.SetOutputs({y});
  return m.Finish();
}

// Subgraph 0 is a chain; subgraph 1 has an operator without a kernel.
std::vector<uint8_t> ChainAndUnresolved() {
  ModelBuilder m;
  AddChain(&m, 2);
  m.AddSubgraph("second");
  const int x = m.AddTensor(kTfLiteFloat32, {4}), y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddCustomOp("UnregisteredOp", {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const AbiCase kCases[] = {
    // ---- Applying ----
    {"5.1-F", "a graph with a static delegate runs without AllocateTensors",
     [] {
       Scripted delegate({1});
       TestInterpreter t(Chain(3));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       EXPECT_THAT(InferOnes(&t), ElementsAre(3, 8, -1, 1.25f));
       EXPECT_EQ(delegate->nodes_computed, 1);
     }},
    {"5.3-3c", "a static delegate on dynamic shapes is warned of once",
     [] {
       Scripted delegate({0});
       TestInterpreter t(DynamicShapes());
       EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteApplicationError);
       EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteApplicationError);
       EXPECT_EQ(Count(t.log(), "static-sized tensors"), 1) << t.log();
     }},
    {"5.3-6b", "if the CPU cannot run a subgraph either, its status is returned and others stay",
     [] {
       int calls = 0, frees = 0;
       ProgrammedDelegate delegate(
           [&](TfLiteContext* context, TfLiteDelegate* self) {
             return calls++ == 0 ? ClaimNodes(context, self, {0}) : kTfLiteError;
           },
           kDynamic);
       delegate.free = [&] { ++frees; };
       TestInterpreter t(ChainAndUnresolved());
       EXPECT_EQ(Apply(&t, &delegate.base), kTfLiteUnresolvedOps);
       EXPECT_EQ(calls, 2);
       EXPECT_EQ(frees, 0);
     }},
    {"5.3-10", "a dynamic delegate is prepared at once on an allocated graph and may fail there",
     [] {
       Scripted delegate({1}, kDynamic);
       delegate.FailAt(kScriptedPrepareKernel, 0);
       TestInterpreter t(Chain(3));
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_EQ(Apply(&t, delegate.get()), kTfLiteDelegateError);
       EXPECT_EQ(delegate->frees, 1);
       EXPECT_THAT(InferOnes(&t), ElementsAre(3, 8, -1, 1.25f));
     }},

    // ---- Allocation ----
    {"5.5-3", "tensors are aligned to 64 bytes",
     [] {
       Scripted delegate({1});
       TestInterpreter t(Chain(3));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       for (int tensor : {0, 2, 3, 4}) {
         ASSERT_NE(t.Tensor(tensor)->data.raw, nullptr);
         EXPECT_EQ(reinterpret_cast<uintptr_t>(t.Tensor(tensor)->data.raw) % 64, 0u) << tensor;
       }
     }},
    {"5.5-n", "AllocateTensors of an allocated graph does nothing",
     [] {
       int prepares = 0;
       ProgrammedOperator op("Counts");
       op.prepare = [&](TfLiteContext*, TfLiteNode*) {
         ++prepares;
         return kTfLiteOk;
       };
       TestInterpreter t(CustomNode("Counts"), op.Configure());
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       t.Set<float>(0, {5, 6, 7, 8});
       const char* memory = t.Tensor(0)->data.raw;
       EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_EQ(prepares, 1);
       EXPECT_EQ(t.Tensor(0)->data.raw, memory);
       EXPECT_THAT(t.Values<float>(t.Tensor(0)), ElementsAre(5, 6, 7, 8));
     }},

    // ---- Undo and redo ----
    {"5.6-d", "a dynamic delegate persists over a resize and is prepared again",
     [] {
       Scripted delegate({1}, kDynamic);
       TestInterpreter t(Chain(3));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       const int prepares = delegate->calls[kScriptedPrepareKernel];
       ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_GT(delegate->calls[kScriptedPrepareKernel], prepares);
       EXPECT_EQ(delegate->calls[kScriptedPrepareDelegate], 1);
       EXPECT_EQ(delegate->frees, 0);
       EXPECT_THAT(t.Shape(t.Tensor(4)), ElementsAre(2, 4));
     }},
    {"5.6-f2", "after a redo that failed the CPU runs the graph",
     [] {
       Scripted delegate({1});
       delegate.FailAt(kScriptedPrepareDelegate, 1);
       TestInterpreter t(Chain(3));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       ASSERT_EQ(t.Resize(0, {4}), kTfLiteOk);
       EXPECT_EQ(t.Allocate(), kTfLiteDelegateError);
       EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_THAT(InferOnes(&t), ElementsAre(3, 8, -1, 1.25f));
       EXPECT_EQ(delegate->nodes_computed, 0);
     }},

    // ---- Invoke and deletion ----
    {"5.7-2", "an input without memory is an error, for a delegate's node too",
     [] {
       Scripted delegate({0});
       TestInterpreter t(Chain(3));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       t.Tensor(0)->data.raw = nullptr;
       EXPECT_EQ(t.Invoke(), kTfLiteError);
       EXPECT_THAT(t.log(), HasSubstr("Input tensor 0 lacks data"));
       EXPECT_EQ(delegate->calls[kScriptedInvoke], 0);
     }},
    {"5.8-b",
     "handles are freed once and after all kernels, whether or not the delegate resets them",
     [] {
       static std::string frees;
       frees = "";
       ProgrammedDelegate delegate(ClaimingBody({0}));
       delegate.free = [] { frees += "kernel "; };
       delegate.base.FreeBufferHandle = [](TfLiteContext*, TfLiteDelegate*, TfLiteBufferHandle*) {
         frees += "handle ";  // this callback does not reset the handle
       };
       {
         TestInterpreter t(Chain(3));
         ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
         t.Tensor(2)->buffer_handle = 2;
       }
       EXPECT_EQ(frees, "kernel handle ");
     }},
    {"5.9", "every callback runs on the thread that called the interpreter",
     [] {
       std::set<std::thread::id> threads;
       const auto note = [&] { threads.insert(std::this_thread::get_id()); };
       ProgrammedDelegate delegate([&](TfLiteContext* context, TfLiteDelegate* self) {
         note();
         return ClaimNodes(context, self, {1});
       });
       delegate.init = [&](TfLiteContext*, const TfLiteDelegateParams*, size_t) { note(); };
       delegate.prepare = delegate.invoke = [&](TfLiteContext*, TfLiteNode*) {
         note();
         return kTfLiteOk;
       };
       delegate.free = note;
       const auto four_threads = [](TfLiteInterpreterOptions* options) {
         TfLiteInterpreterOptionsSetNumThreads(options, 4);
       };
       {
         TestInterpreter t(Chain(3), four_threads);
         ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
         ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
       }
       EXPECT_THAT(threads, ElementsAre(std::this_thread::get_id()));
     }},
};

using AbiLifecycle = AbiContract;
TEST_P(AbiLifecycle, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiLifecycle, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_lifecycle_test
