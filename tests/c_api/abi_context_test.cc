// SPDX-License-Identifier: Apache-2.0
//
// Tests sections 4.1, 4.5 and 4.7 of docs/abi_contract.md: a context's functions, called from
// kernels and delegates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <functional>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/common.h"
#include "tests/c_api/abi_case.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::abi_context_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kDynamic = kTfLiteDelegateFlagsAllowDynamicTensors;

// y = Probe(x, c) with a constant c; the model has metadata.
std::vector<uint8_t> ProbeModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4}, "c");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  m.AddCustomOp("Probe", {x, c}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddMetadata("greeting", {'h', 'i'});
  return m.Finish();
}

std::vector<uint8_t> TwoChains() {
  ModelBuilder m;
  AddChain(&m, 2);
  m.AddSubgraph("second");
  AddChain(&m, 2);
  return m.Finish();
}

// Runs `look` in the prepare of a kernel whose tensors are already allocated.
void InKernelPrepare(const std::function<void(TfLiteContext*, TfLiteNode*)>& look) {
  int calls = 0;
  ProgrammedOperator probe("Probe");
  probe.prepare = [&](TfLiteContext* context, TfLiteNode* node) {
    if (calls++ == 1) look(context, node);
    return kTfLiteOk;
  };
  TestInterpreter t(ProbeModel(), probe.Configure());
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Resize(0, {5}), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(calls, 2);
}

TfLiteTensor* AddedTensor(TfLiteContext* context, TfLiteType type, TfLiteAllocationType memory) {
  int index = -1;
  EXPECT_EQ(context->AddTensors(context, 1, &index), kTfLiteOk);
  context->tensors[index].type = type;
  context->tensors[index].allocation_type = memory;
  return &context->tensors[index];
}

TfLiteStatus Resize(TfLiteContext* context, TfLiteTensor* tensor, const std::vector<int>& dims) {
  return context->ResizeTensor(context, tensor, NewIntArray(dims));
}

// Returns how many of the six context functions for delegates are refused; -1 if any of them
// changes its arguments.
int CountRefusedFunctions(TfLiteContext* context) {
  TfLiteIntArray* plan = nullptr;
  TfLiteNode* node = nullptr;
  TfLiteRegistration* registration = nullptr;
  TfLiteDelegateParams* params = nullptr;
  TfLiteContext* acquired = nullptr;
  int count = 7;
  TfLiteIntArray* nodes = NewIntArray({0});
  const TfLiteStatus statuses[] = {
      context->GetExecutionPlan(context, &plan),
      context->GetNodeAndRegistration(context, 0, &node, &registration),
      context->ReplaceNodeSubsetsWithDelegateKernels(context, TfLiteRegistration{}, nodes, nullptr),
      context->PreviewDelegatePartitioning(context, nodes, &params, &count),
      context->AcquireSubgraphContext(context, 0, &acquired),
      context->ReleaseSubgraphContext(context, 0)};
  TfLiteIntArrayFree(nodes);
  const bool touched = plan != nullptr || node != nullptr || registration != nullptr ||
                       params != nullptr || acquired != nullptr || count != 7;
  int refused = 0;
  for (TfLiteStatus status : statuses) refused += status == kTfLiteError;
  return touched ? -1 : refused;
}

const AbiCase kCases[] = {
    // ---- Two modes ----
    {"4.1c", "functions for delegates are refused in init, prepare, invoke and free of a kernel",
     [] {
       std::vector<int> refused;
       ProgrammedOperator probe("Probe");
       const KernelFunction note = [&](TfLiteContext* context, TfLiteNode*) {
         refused.push_back(CountRefusedFunctions(context));
         return kTfLiteOk;
       };
       probe.init = [&](TfLiteContext* context, const char*, size_t) -> void* {
         note(context, nullptr);
         return &probe;
       };
       probe.prepare = probe.invoke = note;
       probe.free = [&](TfLiteContext* context, void*) { note(context, nullptr); };
       {
         TestInterpreter t(ProbeModel(), probe.Configure());
         ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
         t.ClearLog();
         ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
         EXPECT_THAT(t.log(), HasSubstr("The function is forbidden if not calling in delegate.\n"));
       }
       EXPECT_THAT(refused, ElementsAre(6, 6, 6, 6));
     }},
    {"4.1e", "a kernel's prepare finds metadata by name, or an error and null",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode*) {
         const char* bytes = "";
         size_t size = 9;
         EXPECT_EQ(context->GetModelMetadata(context, "other", &bytes, &size), kTfLiteError);
         EXPECT_EQ(bytes, nullptr);
         EXPECT_EQ(size, 0u);
         EXPECT_EQ(context->GetModelMetadata(context, "greeting", &bytes, &size), kTfLiteOk);
         EXPECT_EQ(std::string(bytes, size), "hi");
       });
     }},
    {"4.1h", "a release without an acquire is reported and changes nothing",
     [] {
       std::vector<std::vector<int>> plans;
       ProgrammedDelegate delegate(
           [&](TfLiteContext* context, TfLiteDelegate*) {
             if (plans.empty()) context->ReleaseSubgraphContext(context, 1);
             plans.push_back(PlanOf(context));
             return kTfLiteOk;
           },
           kDynamic);
       TestInterpreter t(TwoChains());
       EXPECT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
       EXPECT_NE(t.log(), "");
       EXPECT_THAT(plans, ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1)));
     }},

    // ---- ResizeTensor ----
    {"4.5a", "the array passed to ResizeTensor becomes the tensor's dims, equal or not",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode* node) {
         TfLiteTensor* y = &context->tensors[node->outputs->data[0]];
         TfLiteTensor* added = AddedTensor(context, kTfLiteFloat32, kTfLiteDynamic);
         for (int repeat = 0; repeat < 2; ++repeat) {
           for (TfLiteTensor* tensor : {y, added}) {
             TfLiteIntArray* dims = NewIntArray({3, 2});
             EXPECT_EQ(context->ResizeTensor(context, tensor, dims), kTfLiteOk);
             EXPECT_EQ(tensor->dims, dims);
             EXPECT_EQ(tensor->bytes, 24u);
           }
         }
       });
     }},
    {"4.5b", "a tensor may be resized to its own dims",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode* node) {
         TfLiteTensor* y = &context->tensors[node->outputs->data[0]];
         EXPECT_EQ(context->ResizeTensor(context, y, y->dims), kTfLiteOk);
         EXPECT_THAT(ToVector(y->dims), ElementsAre(4));
       });
     }},
    {"4.5c", "a constant cannot be resized",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode* node) {
         TfLiteTensor* c = &context->tensors[node->inputs->data[1]];
         EXPECT_EQ(Resize(context, c, {2}), kTfLiteError);
         EXPECT_THAT(ToVector(c->dims), ElementsAre(4));
         EXPECT_EQ(c->bytes, 16u);
       });
     }},
    {"4.5d", "a tensor without any kind of memory cannot be resized",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode*) {
         TfLiteTensor* added = AddedTensor(context, kTfLiteFloat32, kTfLiteMemNone);
         EXPECT_EQ(Resize(context, added, {2}), kTfLiteError);
         EXPECT_EQ(added->dims, nullptr);
       });
     }},
    {"4.5e", "a dynamic tensor has its new memory at once, an arena tensor loses its own",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode* node) {
         TfLiteTensor* added = AddedTensor(context, kTfLiteFloat32, kTfLiteDynamic);
         EXPECT_EQ(Resize(context, added, {3}), kTfLiteOk);
         EXPECT_NE(added->data.raw, nullptr);
         EXPECT_EQ(added->bytes, 12u);
         TfLiteTensor* y = &context->tensors[node->outputs->data[0]];
         EXPECT_NE(y->data.raw, nullptr);
         EXPECT_EQ(Resize(context, y, {3}), kTfLiteOk);
         EXPECT_EQ(y->data.raw, nullptr);
         EXPECT_EQ(y->bytes, 12u);
       });
     }},
    {"4.5f", "a negative or overflowing shape is an error and the old one stays",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode*) {
         TfLiteTensor* added = AddedTensor(context, kTfLiteFloat32, kTfLiteDynamic);
         EXPECT_EQ(Resize(context, added, {3}), kTfLiteOk);
         EXPECT_EQ(Resize(context, added, {-1}), kTfLiteError);
         EXPECT_EQ(Resize(context, added, {INT_MAX, INT_MAX, INT_MAX}), kTfLiteError);
         EXPECT_THAT(ToVector(added->dims), ElementsAre(3));
         EXPECT_EQ(added->bytes, 12u);
       });
     }},
    {"4.5g", "a string tensor gets a shape but no size",
     [] {
       InKernelPrepare([](TfLiteContext* context, TfLiteNode*) {
         TfLiteTensor* added = AddedTensor(context, kTfLiteString, kTfLiteDynamic);
         EXPECT_EQ(Resize(context, added, {9}), kTfLiteOk);
         EXPECT_THAT(ToVector(added->dims), ElementsAre(9));
         EXPECT_EQ(added->bytes, 0u);
       });
     }},

    // ---- External contexts ----
    {"4.7b", "external contexts are shared by subgraphs and the CPU's slot stays empty",
     [] {
       TfLiteExternalContext ours{kTfLiteEdgeTpuContext, nullptr};
       int calls = 0;
       ProgrammedDelegate delegate(
           [&](TfLiteContext* context, TfLiteDelegate*) {
             const auto beyond = static_cast<TfLiteExternalContextType>(kTfLiteMaxExternalContexts);
             if (calls++ == 0) {
               context->SetExternalContext(context, kTfLiteEdgeTpuContext, &ours);
               context->SetExternalContext(context, beyond, &ours);
             }
             EXPECT_EQ(context->GetExternalContext(context, kTfLiteEdgeTpuContext), &ours);
             EXPECT_EQ(context->GetExternalContext(context, beyond), nullptr);
             EXPECT_EQ(context->GetExternalContext(context, kTfLiteCpuBackendContext), nullptr);
             return kTfLiteOk;
           },
           kDynamic);
       TestInterpreter t(TwoChains());
       EXPECT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
       EXPECT_EQ(calls, 2);
     }},
};

using AbiContexts = AbiContract;
TEST_P(AbiContexts, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiContexts, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_context_test
