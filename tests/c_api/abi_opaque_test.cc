// SPDX-License-Identifier: Apache-2.0
//
// Tests section 3.10 of docs/abi_contract.md: an opaque delegate's view of a graph, and opaque
// tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
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

namespace deputy::abi_opaque_test {
namespace {

using testing::ElementsAre;

// A chain of three nodes (ADD, MUL, ADD), a second subgraph with two nodes, and metadata.
std::vector<uint8_t> TwoSubgraphs() {
  ModelBuilder m;
  AddChain(&m, 3);
  m.AddSubgraph("second");
  AddChain(&m, 2);
  m.AddMetadata("greeting", {'h', 'i'});
  return m.Finish();
}

// Runs `look` in the Prepare of an opaque delegate for subgraph 0. `earlier`, if not null, is a
// delegate that is applied first.
void InPrepare(const std::vector<uint8_t>& model,
               const std::function<void(TfLiteOpaqueContext*)>& look,
               TfLiteDelegate* earlier = nullptr) {
  int calls = 0;
  ProgrammedOpaque opaque(
      [&](TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*) {
        if (calls++ == 0) look(context);
        return kTfLiteOk;
      },
      kTfLiteDelegateFlagsAllowDynamicTensors);
  TestInterpreter t(model);
  if (earlier != nullptr) {
    EXPECT_EQ(Apply(&t, earlier), kTfLiteOk) << t.log();
  }
  EXPECT_EQ(Apply(&t, opaque.delegate), kTfLiteOk) << t.log();
  EXPECT_GE(calls, 1);
}

const TfLiteOpaqueTensor* Opaque(const TfLiteTensor* tensor) {
  return reinterpret_cast<const TfLiteOpaqueTensor*>(tensor);
}

// Returns code, name and version of a node's operator; "none" if there is no such node.
std::string OperatorAt(TfLiteOpaqueContext* context, int node_index) {
  TfLiteOpaqueNode* node = nullptr;
  TfLiteOperator* op = nullptr;
  if (TfLiteOpaqueContextGetNodeAndRegistration(context, node_index, &node, &op) != kTfLiteOk) {
    return "none";
  }
  const char* name = TfLiteOperatorGetCustomName(op);
  return std::to_string(TfLiteOperatorGetBuiltInCode(op)) + (name == nullptr ? "" : name) + "." +
         std::to_string(TfLiteOperatorGetVersion(op));
}

const AbiCase kCases[] = {
    {"3.10c", "the plan is readable in Prepare and afterwards an error",
     [] {
       TfLiteOpaqueContext* kept = nullptr;
       TfLiteIntArray* plan = nullptr;
       ProgrammedOpaque opaque([&](TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*) {
         kept = context;
         EXPECT_EQ(TfLiteOpaqueContextGetExecutionPlan(context, &plan), kTfLiteOk);
         EXPECT_THAT(ToVector(plan), ElementsAre(0, 1, 2));
         return kTfLiteOk;
       });
       TestInterpreter t(Chain(3));
       ASSERT_EQ(Apply(&t, opaque.delegate), kTfLiteOk) << t.log();
       EXPECT_EQ(TfLiteOpaqueContextGetExecutionPlan(kept, &plan), kTfLiteError);
     }},
    {"3.10d", "every node has an operator with code, name and version",
     [] {
       InPrepare(TwoSubgraphs(), [](TfLiteOpaqueContext* context) {
         EXPECT_EQ(OperatorAt(context, 0), "0.1");   // ADD
         EXPECT_EQ(OperatorAt(context, 1), "18.1");  // MUL
         EXPECT_EQ(OperatorAt(context, 2), "0.1");
         EXPECT_EQ(OperatorAt(context, 3), "none");
         EXPECT_EQ(OperatorAt(context, -1), "none");
       });
       InPrepare(CustomNode("Custom", 4), [](TfLiteOpaqueContext* context) {
         EXPECT_EQ(OperatorAt(context, 0), "32Custom.4");
       });
     }},
    {"3.10e", "nodes of earlier delegates count, a subgraph without a name has an empty one",
     [] {
       ProgrammedDelegate earlier(ClaimingBody({1}));
       InPrepare(
           TwoSubgraphs(),
           [](TfLiteOpaqueContext* context) {
             EXPECT_EQ(TfLiteOpaqueContextGetNumNodes(context), 4u);
             EXPECT_EQ(TfLiteOpaqueContextGetNumTensors(context), 5u);
             EXPECT_STREQ(TfLiteOpaqueContextGetName(context), "");
           },
           &earlier.base);
     }},
    {"3.10f", "inputs, outputs and variables are those of the subgraph",
     [] {
       InPrepare(TwoSubgraphs(), [](TfLiteOpaqueContext* context) {
         const int* indices = nullptr;
         int count = -1;
         EXPECT_EQ(TfLiteOpaqueContextGetInputs(context, &indices, &count), kTfLiteOk);
         EXPECT_THAT(std::vector<int>(indices, indices + count), ElementsAre(0));
         EXPECT_EQ(TfLiteOpaqueContextGetOutputs(context, &indices, &count), kTfLiteOk);
         EXPECT_THAT(std::vector<int>(indices, indices + count), ElementsAre(4));
         EXPECT_EQ(TfLiteOpaqueContextGetVariables(context, &indices, &count), kTfLiteOk);
         EXPECT_EQ(count, 0);
       });
     }},
    {"3.10g", "another subgraph can be acquired and released, a missing one cannot",
     [] {
       InPrepare(TwoSubgraphs(), [](TfLiteOpaqueContext* context) {
         TfLiteOpaqueContext* other = nullptr;
         ASSERT_EQ(TfLiteOpaqueContextAcquireSubgraphContext(context, 1, &other), kTfLiteOk);
         EXPECT_STREQ(TfLiteOpaqueContextGetName(other), "second");
         EXPECT_EQ(TfLiteOpaqueContextGetNumNodes(other), 2u);
         EXPECT_EQ(TfLiteOpaqueContextReleaseSubgraphContext(context, 1), kTfLiteOk);
         for (int index : {-1, 2}) {
           EXPECT_EQ(TfLiteOpaqueContextAcquireSubgraphContext(context, index, &other),
                     kTfLiteError);
         }
       });
     }},
    {"3.10h", "every subgraph but the first may be marked as skippable",
     [] {
       InPrepare(TwoSubgraphs(), [](TfLiteOpaqueContext* context) {
         const auto mark = TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable;
         EXPECT_EQ(mark(context, 0), kTfLiteError);
         EXPECT_EQ(mark(context, -1), kTfLiteError);
         EXPECT_EQ(mark(context, 2), kTfLiteError);
         EXPECT_EQ(mark(context, 1), kTfLiteOk);
       });
     }},
    {"3.10i", "the file offset of a node's options is an error for a model in memory",
     [] {
       InPrepare(CustomNode("Custom"), [](TfLiteOpaqueContext* context) {
         TfLiteOpaqueNode* node = nullptr;
         TfLiteOperator* op = nullptr;
         ASSERT_EQ(TfLiteOpaqueContextGetNodeAndRegistration(context, 0, &node, &op), kTfLiteOk);
         int descriptor = -1;
         int64_t offset = -1, size = -1;
         EXPECT_EQ(
             TfLiteOpaqueContextGetNodeInitDataMmapInfo(context, node, &descriptor, &offset, &size),
             kTfLiteError);
       });
     }},
    {"3.10l", "metadata is found by its name",
     [] {
       InPrepare(TwoSubgraphs(), [](TfLiteOpaqueContext* context) {
         const char* bytes = nullptr;
         size_t size = 0;
         EXPECT_EQ(TfLiteOpaqueContextGetMetadata(context, "greeting", &bytes, &size), kTfLiteOk);
         EXPECT_EQ(std::string(bytes, size), "hi");
         EXPECT_EQ(TfLiteOpaqueContextGetMetadata(context, "other", &bytes, &size), kTfLiteError);
       });
     }},
    {"3.10n", "an external context that was not set is null",
     [] {
       InPrepare(TwoSubgraphs(), [](TfLiteOpaqueContext* context) {
         void* external = &external;
         EXPECT_EQ(
             TfLiteOpaqueContextGetExternalContext(context, &external, kTfLiteGemmLowpContext),
             kTfLiteOk);
         EXPECT_EQ(external, nullptr);
       });
     }},
    {"3.10o", "a tensor without a signature has an empty one and its dims are returned",
     [] {
       TestInterpreter t(Chain(1));
       int32_t count = -9, length = -9;
       const TfLiteOpaqueTensor* x = Opaque(t.Tensor(0));
       EXPECT_EQ(TfLiteOpaqueTensorGetNumDimsSignature(x, &count), kTfLiteOk);
       EXPECT_EQ(count, 0);
       EXPECT_EQ(TfLiteOpaqueTensorGetDimSignature(x, 1, &length), kTfLiteOk);
       EXPECT_EQ(length, 4);
     }},
    {"3.10p", "a constant has no signature at all",
     [] {
       TestInterpreter t(Chain(1));
       int32_t count = -9;
       EXPECT_EQ(TfLiteOpaqueTensorGetNumDimsSignature(Opaque(t.Tensor(1)), &count), kTfLiteOk);
       EXPECT_EQ(count, -1);
       EXPECT_EQ(t.Tensor(1)->dims_signature, nullptr);
     }},
    {"3.10r", "an empty list of strings is a count of 0 and an offset of 8",
     [] {
       TfLiteTensor tensor{};
       tensor.type = kTfLiteString;
       auto* opaque = reinterpret_cast<TfLiteOpaqueTensor*>(&tensor);
       EXPECT_EQ(TfLiteOpaqueTensorWriteStrings(opaque, nullptr, 0, nullptr), kTfLiteOk);
       EXPECT_EQ(tensor.allocation_type, kTfLiteDynamic);
       EXPECT_THAT(TestInterpreter::Shape(&tensor), ElementsAre(0));
       EXPECT_THAT(TestInterpreter::Values<int32_t>(&tensor), ElementsAre(0, 8));
       TfLiteTensorFree(&tensor);
     }},
};

using AbiOpaque = AbiContract;
TEST_P(AbiOpaque, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiOpaque, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_opaque_test
