// SPDX-License-Identifier: Apache-2.0
//
// Tests section 3.2 of docs/abi_contract.md: the options of an interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "c_api/include/c_api_experimental.h"
#include "tests/c_api/abi_case.h"
#include "tests/support/delegate_support.h"
#include "tests/support/programmed.h"
#include "tests/support/recording_kernels.h"
#include "tests/support/test_interpreter.h"

namespace deputy::abi_options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kDynamic = kTfLiteDelegateFlagsAllowDynamicTensors;

TestInterpreter::Configure Threads(int count) {
  return [count](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetNumThreads(options, count);
  };
}

// Stores the number of threads that the context recommends.
Programmed::Body NoteThreads(int* out_threads) {
  return [out_threads](TfLiteContext* context, TfLiteDelegate*) {
    *out_threads = context->recommended_num_threads;
    return kTfLiteOk;
  };
}

int ThreadsRecommendedToDelegate(const TestInterpreter::Configure& configure) {
  int seen = -99;
  ProgrammedDelegate delegate(NoteThreads(&seen), kDynamic);
  TestInterpreter t(Chain(1), configure);
  EXPECT_EQ(Apply(&t, &delegate.base), kTfLiteOk) << t.log();
  return seen;
}

// A custom operator with the builtin code of ADD; adds 0 to its input.
TfLiteOperator* OperatorWithAWrongCode() {
  TfLiteOperator* op = TfLiteOperatorCreate(kTfLiteBuiltinAdd, "Mine", 3, nullptr);
  TfLiteOperatorSetInit(op, &RecordOpaqueInit);
  TfLiteOperatorSetFree(op, &RecordOpaqueFree);
  TfLiteOperatorSetPrepare(op, &RecordOpaquePrepare);
  TfLiteOperatorSetInvoke(op, &RecordOpaqueInvoke);
  return op;
}

const AbiCase kCases[] = {
    {"3.2g", "threads below -1 are reported and ignored",
     [] {
       TestInterpreter t(Chain(1), Threads(-5));
       EXPECT_NE(t.get(), nullptr);
       EXPECT_EQ(std::count(t.log().begin(), t.log().end(), '\n'), 1) << t.log();
       EXPECT_EQ(ThreadsRecommendedToDelegate(Threads(-5)), -1);
     }},
    {"3.2h", "no threads mean one thread",
     [] { EXPECT_EQ(ThreadsRecommendedToDelegate(Threads(0)), 1); }},
    {"3.2i", "the context recommends -1 threads if none were set",
     [] { EXPECT_EQ(ThreadsRecommendedToDelegate({}), -1); }},
    {"3.2j", "a null delegate is accepted and makes creation fail",
     [] {
       TestInterpreter t(Chain(1), [](TfLiteInterpreterOptions* options) {
         TfLiteInterpreterOptionsAddDelegate(options, nullptr);
       });
       EXPECT_EQ(t.get(), nullptr);
       EXPECT_THAT(t.log(), HasSubstr("Null delegate."));
     }},
    {"3.2k", "a delegate added twice is applied twice",
     [] {
       int prepares = 0;
       ProgrammedDelegate delegate([&](TfLiteContext*, TfLiteDelegate*) {
         ++prepares;
         return kTfLiteOk;
       });
       TestInterpreter t(Chain(1), [&](TfLiteInterpreterOptions* options) {
         TfLiteInterpreterOptionsAddDelegate(options, &delegate.base);
         TfLiteInterpreterOptionsAddDelegate(options, &delegate.base);
       });
       EXPECT_NE(t.get(), nullptr) << t.log();
       EXPECT_EQ(prepares, 2);
     }},
    {"3.2l", "a copy of options is independent and borrows the same delegates",
     [] {
       int seen = -99;
       ProgrammedDelegate delegate(NoteThreads(&seen));
       TfLiteInterpreterOptions* original = TfLiteInterpreterOptionsCreate();
       TfLiteInterpreterOptionsSetNumThreads(original, 3);
       TfLiteInterpreterOptionsAddDelegate(original, &delegate.base);
       TfLiteInterpreterOptions* copy = TfLiteInterpreterOptionsCopy(original);
       TfLiteInterpreterOptionsSetNumThreads(original, 5);
       TfLiteInterpreterOptionsDelete(original);
       const std::vector<uint8_t> bytes = Chain(1);
       TfLiteModel* model = TfLiteModelCreate(bytes.data(), bytes.size());
       TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, copy);
       EXPECT_EQ(seen, 3);
       TfLiteInterpreterDelete(interpreter);
       TfLiteInterpreterOptionsDelete(copy);
       TfLiteModelDelete(model);
     }},
    {"3.2m", "an added operator is a custom one for any builtin code",
     [] {
       TfLiteOperator* op = OperatorWithAWrongCode();
       {
         TestInterpreter t(CustomNode("Mine", 3), [op](TfLiteInterpreterOptions* options) {
           TfLiteInterpreterOptionsAddOperator(options, op);
         });
         ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
         t.Set<float>(0, {1, 2, 3, 4});
         ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
         EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 2, 3, 4));
       }
       TfLiteOperatorDelete(op);
     }},
    {"3.2n", "an added operator is ignored if a resolver callback is set",
     [] {
       TfLiteOperator* op = OperatorWithAWrongCode();
       TestInterpreter t(CustomNode("Mine", 3), [op](TfLiteInterpreterOptions* options) {
         TfLiteInterpreterOptionsAddOperator(options, op);
         TfLiteInterpreterOptionsSetOpResolver(
             options, nullptr,
             [](void*, const char*, int) -> const TfLiteRegistration* { return nullptr; }, nullptr);
       });
       ASSERT_NE(t.get(), nullptr) << t.log();
       EXPECT_EQ(t.Allocate(), kTfLiteUnresolvedOps);
       TfLiteOperatorDelete(op);
     }},
};

using AbiOptions = AbiContract;
TEST_P(AbiOptions, holds) { GetParam().check(); }
INSTANTIATE_TEST_SUITE_P(Contract, AbiOptions, testing::ValuesIn(kCases), AbiCaseName);

}  // namespace
}  // namespace deputy::abi_options_test
