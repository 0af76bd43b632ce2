// SPDX-License-Identifier: Apache-2.0
//
// Tests section 3.3 of docs/abi_contract.md: interpreters and their tensors, from creation to
// deletion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "tests/c_api/abi_case.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::abi_interpreter_test {
namespace {

using testing::ElementsAre;

// Two subgraphs, each with three "Log" nodes in sequence, whose options are "a0" to "a2" and "b0"
// to "b2".
std::vector<uint8_t> SixLogNodes() {
  ModelBuilder m;
  for (uint8_t subgraph : {'a', 'b'}) {
    if (subgraph == 'b') m.AddSubgraph("second");
    int last = m.AddTensor(kTfLiteFloat32, {4});
    m.SetInputs({last});
    for (uint8_t node : {'0', '1', '2'}) {
      const int next = m.AddTensor(kTfLiteFloat32, {4});
      m.AddCustomOp("Log", {last}, {next}, {subgraph, node});
      last = next;
    }
    m.SetOutputs({last});
  }
  return m.Finish();
}

// y = x + x, where `inputs` are the graph's inputs; x is a constant if `constant`.
std::vector<uint8_t> Doubling(const std::vector<int>& inputs, bool constant) {
  ModelBuilder m;
  const int x = constant ? m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4})
                         : m.AddTensor(kTfLiteFloat32, {4});
  const int y = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs(inputs);
  m.SetOutputs({y});
  return m.Finish();
}

const AbiCase kCases[] = {
    {"3.3-5", "init runs in node order, subgraph by subgraph, with the custom options",
     [] {
       std::string inits;
       ProgrammedOperator log("Log");
       log.init = [&](TfLiteContext*, const char* options, size_t length) -> void* {
         inits += std::string(options, length) + " ";
         return nullptr;
       };
       TestInterpreter t(SixLogNodes(), log.Configure());
       EXPECT_EQ(inits, "a0 a1 a2 b0 b1 b2 ");
     }},
    {"3.3-del", "deletion frees user data in node order, also of delegated nodes",
     [] {
       std::string frees;
       ProgrammedOperator log("Log");
       log.init = [](TfLiteContext*, const char* options, size_t length) -> void* {
         return new std::string(options, length);
       };
       log.free = [&](TfLiteContext*, void* user_data) {
         frees += *static_cast<std::string*>(user_data) + " ";
         delete static_cast<std::string*>(user_data);
       };
       ProgrammedDelegate delegate(ClaimingBody({1}));
       delegate.free = [&] { frees += "delegate "; };
       {
         TestInterpreter t(SixLogNodes(), log.Configure());
         ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
       }
       EXPECT_EQ(frees, "a0 a1 a2 delegate b0 b1 b2 delegate ");
     }},
    {"3.3-idx", "the arrays of tensor indices keep their addresses until deletion",
     [] {
       Scripted delegate({0});
       TestInterpreter t(Chain(2));
       const int* inputs = TfLiteInterpreterInputTensorIndices(t.get());
       const int* outputs = TfLiteInterpreterOutputTensorIndices(t.get());
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       ASSERT_EQ(t.Resize(0, {5, 4}), kTfLiteOk);
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_EQ(TfLiteInterpreterInputTensorIndices(t.get()), inputs);
       EXPECT_EQ(TfLiteInterpreterOutputTensorIndices(t.get()), outputs);
       EXPECT_EQ(inputs[0], 0);
       EXPECT_EQ(outputs[0], 3);
     }},
    {"3.3-rs3", "null dims make a scalar",
     [] {
       TestInterpreter t(Chain(1));
       EXPECT_EQ(TfLiteInterpreterResizeInputTensor(t.get(), 0, nullptr, 0), kTfLiteOk);
       EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       const TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t.get(), 0);
       EXPECT_EQ(TfLiteTensorNumDims(input), 0);
       EXPECT_EQ(TfLiteTensorByteSize(input), 4u);
       t.Set<float>(0, {1});
       EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
       EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 3, 0, 1.5f));
     }},
    {"3.3-rs4", "a constant input cannot be resized",
     [] {
       TestInterpreter t(Doubling({0}, true));
       ASSERT_NE(t.get(), nullptr) << t.log();
       EXPECT_EQ(t.Resize(0, {8}), kTfLiteError);
       EXPECT_THAT(t.Shape(t.Tensor(0)), ElementsAre(4));
     }},
    {"3.3-1in", "a graph input may be absent",
     [] {
       TestInterpreter t(Doubling({0, -1}, false));
       ASSERT_NE(t.get(), nullptr) << t.log();
       EXPECT_EQ(TfLiteInterpreterGetInputTensorCount(t.get()), 2);
       EXPECT_EQ(TfLiteInterpreterInputTensorIndices(t.get())[1], -1);
       EXPECT_EQ(TfLiteInterpreterGetInputTensor(t.get(), 1), nullptr);
       EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       t.Set<float>(0, {1, 2, 3, 4});
       EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
       EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 4, 6, 8));
     }},
    {"3.3-cp2", "copies into and out of a tensor without memory are errors",
     [] {
       TestInterpreter t(Chain(1));
       TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t.get(), 0);
       float values[4] = {7, 7, 7, 7};
       EXPECT_EQ(TfLiteTensorCopyFromBuffer(input, values, sizeof values), kTfLiteError);
       EXPECT_EQ(TfLiteTensorCopyToBuffer(input, values, sizeof values), kTfLiteError);
       EXPECT_THAT(values, ElementsAre(7, 7, 7, 7));
     }},
    {"3.3-cp3", "a copy into a tensor keeps its stale bit and its buffer handle",
     [] {
       TestInterpreter t(Chain(1));
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t.get(), 0);
       input->data_is_stale = true;
       input->buffer_handle = 6;
       const float values[4] = {1, 2, 3, 4};
       EXPECT_EQ(TfLiteTensorCopyFromBuffer(input, values, sizeof values), kTfLiteOk);
       EXPECT_TRUE(input->data_is_stale);
       EXPECT_EQ(input->buffer_handle, 6);
     }},
};

using AbiInterpreters = AbiContract;
TEST_P(AbiInterpreters, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiInterpreters, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_interpreter_test
