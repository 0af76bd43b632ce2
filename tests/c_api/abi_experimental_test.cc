// SPDX-License-Identifier: Apache-2.0
//
// Tests section 3.5 of docs/abi_contract.md: variables, delegate fallback, buffer handles and
// custom allocations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "tests/c_api/abi_case.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/programmed.h"
#include "tests/support/test_interpreter.h"

namespace deputy::abi_experimental_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// y = Stateful(x, v): tensor 1 is a variable with zero point 7.
std::vector<uint8_t> ModelWithVariable(TfLiteType type) {
  ModelBuilder m;
  TensorExtras extras;
  extras.scale = {0.5f};
  extras.zero_point = {7};
  const int x = m.AddTensor(type, {4}, "x", extras);
  extras.is_variable = true;
  const int v = m.AddTensor(type, {4}, "v", extras);
  const int y = m.AddTensor(type, {4}, "y");
  m.AddCustomOp("Stateful", {x, v}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TestInterpreter::Configure Fallback() {
  return [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
    TfLiteInterpreterOptionsEnableCancellation(options, true);
  };
}

// Memory of the client that is aligned to 64 bytes; Unaligned begins 4 bytes after the start.
struct ClientMemory {
  TfLiteCustomAllocation Aligned(size_t offset, size_t size) { return {bytes + offset, size}; }
  TfLiteCustomAllocation Unaligned(size_t size) { return {bytes + 4, size}; }
  float* Floats(size_t offset) { return reinterpret_cast<float*>(bytes + offset); }
  alignas(64) unsigned char bytes[512] = {};
};

TfLiteStatus SetMemory(TestInterpreter* t, int tensor, TfLiteCustomAllocation memory,
                       int64_t flags = kTfLiteCustomAllocationFlagsNone) {
  return TfLiteInterpreterSetCustomAllocationForTensor(t->get(), tensor, &memory, flags);
}

const AbiCase kCases[] = {
    // ---- Variables ----
    {"3.5a", "resetting a variable without memory is an error",
     [] {
       ProgrammedOperator op("Stateful");
       TestInterpreter t(ModelWithVariable(kTfLiteFloat32), op.Configure());
       EXPECT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteError);
     }},
    {"3.5c", "a reset fills an int8 variable with its zero point and others with zero",
     [] {
       for (TfLiteType type : {kTfLiteInt8, kTfLiteInt32}) {
         ProgrammedOperator op("Stateful");
         TestInterpreter t(ModelWithVariable(type), op.Configure());
         ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
         TfLiteTensor* variable = TfLiteInterpreterGetVariableTensor(t.get(), 0);
         memset(variable->data.raw, 1, variable->bytes);
         EXPECT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteOk);
         EXPECT_THAT(t.Values<int8_t>(variable), Each(type == kTfLiteInt8 ? 7 : 0));
       }
     }},
    {"3.5d", "a reset does not write a variable in client memory",
     [] {
       ClientMemory memory;
       memset(memory.bytes, 0x11, sizeof memory.bytes);
       ProgrammedOperator op("Stateful");
       TestInterpreter t(ModelWithVariable(kTfLiteFloat32), op.Configure());
       ASSERT_EQ(SetMemory(&t, 1, memory.Aligned(0, 64)), kTfLiteOk) << t.log();
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteOk);
       EXPECT_THAT(memory.bytes, Each(0x11));
     }},

    // ---- Fallback to the CPU ----
    {"3.5g2", "fallback allocates the memory again and keeps the client's inputs",
     [] {
       ProgrammedDelegate delegate(ClaimingBody({0, 1, 2}));
       delegate.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteError; };
       TestInterpreter t(Chain(3), Fallback());
       ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
       t.Set<float>(0, {1, 1, 1, 1});
       EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
       EXPECT_THAT(t.Values<float>(t.Tensor(0)), ElementsAre(1, 1, 1, 1));
       EXPECT_THAT(t.Get<float>(0), ElementsAre(3, 8, -1, 1.25f));
     }},
    {"3.5h", "fallback repeats a cancelled inference on the CPU",
     [] {
       TfLiteInterpreter* running = nullptr;
       ProgrammedDelegate delegate(ClaimingBody({0}));
       delegate.invoke = [&](TfLiteContext*, TfLiteNode*) {
         return TfLiteInterpreterCancel(running);
       };
       TestInterpreter t(Chain(2), Fallback());
       running = t.get();
       ASSERT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
       t.Set<float>(0, {1, 1, 1, 1});
       EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
       EXPECT_THAT(t.log(), HasSubstr("Client requested cancel during Invoke()"));
       EXPECT_THAT(t.Get<float>(0), ElementsAre(2, 6, 0, 0.75f));
     }},
    {"3.5i", "fallback without delegates returns the original error and repeats nothing",
     [] {
       int runs = 0;
       ProgrammedOperator op("Fails");
       op.invoke = [&](TfLiteContext*, TfLiteNode*) {
         ++runs;
         return kTfLiteError;
       };
       TestInterpreter t(CustomNode("Fails"), [&](TfLiteInterpreterOptions* options) {
         op.Configure()(options);
         Fallback()(options);
       });
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_EQ(t.Invoke(), kTfLiteError);
       EXPECT_EQ(runs, 1);
     }},

    // ---- Buffer handles ----
    {"3.5m", "a handle stays if its delegate has no function to free it",
     [] {
       Scripted delegate({0});
       delegate->base.FreeBufferHandle = nullptr;
       TestInterpreter t(Chain(2));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       TfLiteTensor* x = t.Tensor(0);
       EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), x, 6, delegate.get()), kTfLiteOk);
       EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), x, 7, delegate.get()), kTfLiteError);
       EXPECT_EQ(x->buffer_handle, 6);
     }},
    {"3.5n", "handles of no tensor and of indices out of range are errors",
     [] {
       Scripted delegate({});
       TestInterpreter t(Chain(2));
       EXPECT_EQ(TfLiteInterpreterSetBufferHandle(t.get(), nullptr, 7, delegate.get()),
                 kTfLiteError);
       TfLiteBufferHandle handle = 99;
       TfLiteOpaqueDelegate* owner = nullptr;
       for (int index : {-1, 4, 1000}) {
         EXPECT_EQ(TfLiteInterpreterGetBufferHandle(t.get(), index, &handle, &owner), kTfLiteError);
       }
       EXPECT_EQ(handle, 99);
     }},
    {"3.5o", "a tensor without a handle has -1 and no delegate",
     [] {
       Scripted other_delegate({});
       TestInterpreter t(Chain(2));
       TfLiteBufferHandle handle = 99;
       TfLiteOpaqueDelegate* owner = other_delegate.get();
       EXPECT_EQ(TfLiteInterpreterGetBufferHandle(t.get(), 0, &handle, &owner), kTfLiteOk);
       EXPECT_EQ(handle, -1);
       EXPECT_EQ(owner, nullptr);
     }},

    // ---- Custom allocations ----
    {"3.5q", "a flag allows unaligned memory",
     [] {
       ClientMemory memory;
       TestInterpreter t(Chain(2));
       EXPECT_EQ(SetMemory(&t, 0, memory.Unaligned(64)), kTfLiteError);
       EXPECT_EQ(SetMemory(&t, 0, memory.Unaligned(64), kTfLiteCustomAllocationFlagsSkipAlignCheck),
                 kTfLiteOk);
       EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       EXPECT_EQ(TfLiteTensorData(t.Tensor(0)), memory.bytes + 4);
     }},
    {"3.5t", "memory may change between inferences",
     [] {
       ClientMemory memory;
       TestInterpreter t(Chain(1));
       for (size_t offset : {0, 128, 256}) {
         ASSERT_EQ(SetMemory(&t, 0, memory.Aligned(offset, 64)), kTfLiteOk) << t.log();
         ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
         const float first = static_cast<float>(offset);
         memory.Floats(offset)[0] = first;
         ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
         EXPECT_EQ(t.Get<float>(0)[0], first + 1);
       }
     }},
    {"3.5u", "any tensor may have client memory, also intermediate ones and outputs",
     [] {
       ClientMemory memory;
       TestInterpreter t(Chain(2));
       ASSERT_EQ(SetMemory(&t, 2, memory.Aligned(0, 64)), kTfLiteOk) << t.log();
       ASSERT_EQ(SetMemory(&t, 3, memory.Aligned(128, 64)), kTfLiteOk) << t.log();
       ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
       t.Set<float>(0, {1, 1, 1, 1});
       ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
       EXPECT_EQ(memory.Floats(0)[1], 3);
       EXPECT_EQ(memory.Floats(128)[1], 6);
     }},

    // ---- Stale tensors ----
    {"3.5v", "a stale tensor without delegate or without handle cannot be made readable",
     [] {
       Scripted delegate({0, 1});
       TestInterpreter t(Chain(2));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       for (int tensor : {0, 3}) {
         ASSERT_EQ(t.Tensor(tensor)->delegate, tensor == 0 ? nullptr : delegate.get());
         t.Tensor(tensor)->data_is_stale = true;
         EXPECT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), tensor), kTfLiteError);
       }
       EXPECT_EQ(delegate->copies_from_handle, 0);
     }},
    {"3.5x", "a tensor that is not stale is readable and nothing is copied",
     [] {
       Scripted delegate({0, 1});
       TestInterpreter t(Chain(2));
       ASSERT_EQ(Apply(&t, delegate.get()), kTfLiteOk) << t.log();
       t.Tensor(3)->buffer_handle = 5;
       EXPECT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), 3), kTfLiteOk);
       EXPECT_EQ(delegate->copies_from_handle, 0);
     }},
};

using AbiExperimental = AbiContract;
TEST_P(AbiExperimental, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiExperimental, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_experimental_test
