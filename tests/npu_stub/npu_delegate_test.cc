// SPDX-License-Identifier: Apache-2.0
//
// Tests the NPU stub's delegate: the nodes it claims and their names, one load step, clients in
// batches, positions of inputs and outputs, resizing, simulated failures, and that all resources
// are released.
#include "npu_stub/delegate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "npu_stub/graph.h"
#include "npu_stub/partition.h"
#include "tests/conformance/trial.h"
#include "tests/npu_stub/npu_delegate_support.h"
#include "tests/npu_stub/npu_models.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"

namespace deputy::npu_delegate_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

const NpuOptionTexts kRefuse = {{"resize", "refuse"}};

TestInterpreter::Configure Hot() {
  return [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  };
}

DeputyDelegationStatus StatusOf(const TestInterpreter& t) {
  DeputyDelegationStatus status = {};
  status.struct_size = sizeof status;
  EXPECT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  return status;
}

void ExpectRuns(TestInterpreter* t, const std::vector<std::vector<float>>& expected) {
  FillInputs(t);
  ASSERT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  EXPECT_EQ(Compare(expected, Outputs(t)), "");
}

TEST(NpuDelegate, runs_a_whole_model) {
  const NpuTestDelegate npu;
  TestInterpreter t(ConvModel());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0"));
  ExpectRuns(&t, OnCpu(ConvModel()));
}

// ---- Partitions ---------------------------------------------------------------------------------

TEST(NpuDelegate, names_count_from_zero_in_every_build) {
  const NpuTestDelegate npu;
  TestInterpreter t(MixedChain(5, {0, 2, 4}));
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
  EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0", "NpuGraph1", "NpuGraph2"));
  ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0", "NpuGraph1", "NpuGraph2"));
  EXPECT_EQ(npu.counters().models, 3u);
}

// Partitions of one node, and those at either end of the chain, are claimed like any other.
TEST(NpuDelegate, every_mask_of_a_chain_is_partitioned_into_runs) {
  const int kLength = 8;
  for (int mask = 0; mask < 1 << kLength; ++mask) {
    std::set<int> taken;
    size_t runs = 0;
    for (int i = 0; i < kLength; ++i) {
      if ((mask >> i & 1) == 0) continue;
      if (i == 0 || (mask >> (i - 1) & 1) == 0) ++runs;
      taken.insert(i);
    }
    const NpuTestDelegate npu;
    const std::vector<uint8_t> model = MixedChain(kLength, taken);
    TestInterpreter t(model);
    ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    std::vector<std::string> names;
    for (size_t i = 0; i < runs; ++i) names.push_back("NpuGraph" + std::to_string(i));
    ASSERT_EQ(DelegateNodes(t), names) << mask;
    ExpectRuns(&t, OnCpu(model));
    ASSERT_EQ(npu.counters().loads, runs == 0 ? 0u : 1u) << mask;
  }
}

TEST(NpuDelegate, loads_45_models_with_three_clients_at_once) {
  std::set<int> taken;
  for (int i = 0; i < 90; i += 2) taken.insert(i);
  const NpuTestDelegate npu;
  TestInterpreter t(MixedChain(90, taken));
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
  const NpuCounters counters = npu.counters();
  EXPECT_EQ(counters.compiles, 45u);
  EXPECT_EQ(counters.models, 45u);
  EXPECT_EQ(counters.loads, 3u);
  EXPECT_EQ(counters.clients, 3u);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ExpectRuns(&t, OnCpu(MixedChain(90, taken)));
}

TEST(NpuDelegate, options_limit_number_and_size_of_partitions) {
  const NpuTestDelegate largest(NpuOptionTexts{{"max_partitions", "1"}});
  TestInterpreter t(MixedChain(6, {0, 2, 3, 5}));
  ASSERT_EQ(Apply(&t, largest), kTfLiteOk);
  EXPECT_EQ(DelegateNodes(t).size(), 1u);
  const NpuTestDelegate large(NpuOptionTexts{{"min_nodes", "3"}});
  TestInterpreter u(MixedChain(6, {0, 2, 3, 5}));
  ASSERT_EQ(Apply(&u, large), kTfLiteOk);
  EXPECT_THAT(DelegateNodes(u), IsEmpty());
}

TEST(NpuDelegate, reads_float16_weights) {
  const NpuTestDelegate npu;
  TestInterpreter t(HalfModel());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0"));
  ExpectRuns(&t, OnCpu(HalfModel()));
  t.Set<float>(0, {0.25f, 0.5f});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  // The results are tanh(0.25 * 1 - 0.5 * 2) and tanh(0.25 * 0.5 + 0.5 * 4).
  EXPECT_NEAR(t.Get<float>(0)[0], std::tanh(-0.75), 1e-6);
  EXPECT_NEAR(t.Get<float>(0)[1], std::tanh(2.125), 1e-6);
}

// The graph of a partition has the model's edges: the same tensors between the same operations.
TEST(NpuDelegate, partitions_are_connected_as_in_the_model) {
  const NpuTestDelegate npu(NpuOptionTexts{{"describe", "true"}});
  TestInterpreter t(TwoInputsModel());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
  std::vector<std::string> texts;
  NpuDescribe(
      NpuStateOf(npu.get()),
      [](void* list, int32_t first_node, const char* stage, const char* text) {
        static_cast<std::vector<std::string>*>(list)->push_back(std::to_string(first_node) + " " +
                                                                stage + "\n" + text);
      },
      &texts);
  // In the texts, 0 is b, 1 the constant, 2 their product, 3 is a, 4 is c.
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[0],
            "0 imported\n"
            "input %3 f32[1,4]\n"
            "input %0 f32[3,4]\n"
            "%2 f32[3,4] = BINARY MUL (%0 f32[3,4], %1 f32[] constant) 0 0 0 0 0 0 0 0\n"
            "%4 f32[3,4] = BINARY ADD (%3 f32[1,4], %2 f32[3,4]) 0 0 0 0 0 0 0 0\n"
            "output %4\n");
  EXPECT_THAT(texts[1], HasSubstr("0 laid out\n"));
}

TEST(NpuDelegate, functions_have_names) {
  EXPECT_STREQ(NpuFunctionName(kNpuUnary, kNpuAbs), "ABS");
  EXPECT_STREQ(NpuFunctionName(kNpuUnary, kNpuSquare), "SQUARE");
  EXPECT_STREQ(NpuFunctionName(kNpuUnary, kNpuRelu0To1), "RELU_0_TO_1");
  EXPECT_STREQ(NpuFunctionName(kNpuBinary, kNpuMinimum), "MINIMUM");
  EXPECT_STREQ(NpuFunctionName(kNpuBinary, kNpuLogicalOr), "LOGICAL_OR");
  EXPECT_STREQ(NpuFunctionName(kNpuPool, kNpuPoolAverage), "AVERAGE");
  EXPECT_STREQ(NpuFunctionName(kNpuResize, kNpuResizeNearest), "NEAREST");
  EXPECT_STREQ(NpuFunctionName(kNpuReduce, kNpuReduceProd), "PROD");
  EXPECT_STREQ(NpuFunctionName(kNpuConv, 0), "");
  for (const int32_t wrong : {-1, 0, static_cast<int32_t>(kNpuUnaryEnd), INT32_MAX}) {
    EXPECT_STREQ(NpuFunctionName(kNpuUnary, wrong), "?");
  }
}

// ---- The device ---------------------------------------------------------------------------------

TEST(NpuDelegate, an_absent_device_claims_nothing_without_a_report) {
  const NpuTestDelegate npu(NpuOptionTexts{{"faults", "absent"}});
  ASSERT_NE(npu.get(), nullptr);
  TestInterpreter t(ConvModel());
  EXPECT_EQ(Apply(&t, npu), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_THAT(DelegateNodes(t), IsEmpty());
  ExpectRuns(&t, OnCpu(ConvModel()));
  EXPECT_EQ(t.log(), "");
}

// The environment is read when a delegate is created: later changes have no effect on it.
TEST(NpuDelegate, the_environment_hides_the_device_of_new_delegates) {
  const NpuTestDelegate before;
  setenv("DEPUTY_NPU", "absent", 1);
  const NpuTestDelegate meanwhile;
  TestInterpreter t(ConvModel()), u(ConvModel());
  EXPECT_EQ(Apply(&t, before), kTfLiteOk);
  EXPECT_EQ(Apply(&u, meanwhile), kTfLiteOk);
  unsetenv("DEPUTY_NPU");
  EXPECT_EQ(DelegateNodes(t).size(), 1u);
  EXPECT_THAT(DelegateNodes(u), IsEmpty());
}

TEST(NpuDelegate, the_frequency_reaches_the_device) {
  for (const auto& [option, expected] : std::vector<std::pair<NpuOptionTexts, int>>{
           {{}, 3}, {{{"frequency", "1"}}, 1}, {{{"frequency", "4"}}, 4}}) {
    const NpuTestDelegate npu(option);
    TestInterpreter t(ConvModel());
    ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
    EXPECT_EQ(npu.counters().frequency, expected);
  }
}

TEST(NpuDelegate, wrong_options_are_refused) {
  const std::vector<std::pair<NpuOptionTexts, std::string>> kCases = {
      {{{"frequency", "0"}}, "option 'frequency': expected a whole number from 1 to 4, found '0'"},
      {{{"frequency", "5"}}, "option 'frequency': expected a whole number from 1 to 4, found '5'"},
      {{{"frequency", "fast"}},
       "option 'frequency': expected a whole number from 1 to 4, found 'fast'"},
      {{{"time_limit_ms", "0"}},
       "option 'time_limit_ms': expected a whole number from 1 to 3600000, found '0'"},
      {{{"resize", "never"}}, "option 'resize': expected one of redelegate|refuse, found 'never'"},
      {{{"describe", "yes"}}, "option 'describe': expected true, false, 1 or 0, found 'yes'"},
      {{{"speed", "4"}}, "unknown option 'speed'"},
      {{{"faults", "fire"}},
       "faults: expected absent, compile, load, swapped, run, slow, hang, wrong or crash, "
       "separated "
       "by '+'"},
      {{{"watchdog", "yes"}}, "option 'watchdog': expected one of auto|true|false, found 'yes'"},
  };
  for (const auto& [options, error] : kCases) {
    const NpuTestDelegate npu(options);
    EXPECT_EQ(npu.get(), nullptr);
    EXPECT_EQ(npu.error(), error);
  }
}

TEST(NpuDelegate, uses_the_device_of_a_library) {
  const NpuTestDelegate npu(NpuOptionTexts{{"device_library", BuildPath("libnpu_device.so")}});
  ASSERT_NE(npu.get(), nullptr) << npu.error();
  TestInterpreter t(ConvModel());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ExpectRuns(&t, OnCpu(ConvModel()));
  EXPECT_EQ(npu.counters().runs, 1u);
  const NpuTestDelegate absent(NpuOptionTexts{{"device_library", "/nowhere/libnpu.so"}});
  EXPECT_EQ(absent.get(), nullptr);
  EXPECT_THAT(absent.error(), HasSubstr("device_library: /nowhere/libnpu.so"));
}

TEST(NpuDelegate, copies_inputs_and_outputs_and_releases_all_objects) {
  const NpuTestDelegate npu;
  {
    TestInterpreter t(ConvModel());
    ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    EXPECT_GT(NpuDeviceBytes(npu.get()), 0u);
    ExpectRuns(&t, OnCpu(ConvModel()));
    EXPECT_EQ(npu.counters().bytes_in, 8u * 8 * 2 * sizeof(float));
    EXPECT_EQ(npu.counters().bytes_out, 3u * sizeof(float));
  }
  const NpuCounters counters = npu.counters();
  EXPECT_EQ(counters.bytes, 0u);
  EXPECT_EQ(counters.models, 0u);
  EXPECT_EQ(counters.clients, 0u);
}

// The work runs on new threads, because the allocator counts the cache of a thread as in use until
// the thread ends.
TEST(NpuDelegate, applying_leaks_no_memory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's allocator keeps freed memory";
  const auto apply = [](int count) {
    std::thread([count] {
      for (int i = 0; i < count; ++i) {
        const NpuTestDelegate npu;
        TestInterpreter t(MixedChain(5, {0, 2, 4}));
        ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
      }
    }).join();
  };
  apply(20);
  const size_t bytes = conformance::MeasureUsage().heap_bytes;
  apply(200);
  // The smallest block of the allocator has more than 24 bytes, so a leak per apply exceeds this.
  EXPECT_LT(conformance::MeasureUsage().heap_bytes, bytes + size_t{200} * 24);
}

TEST(NpuDelegate, one_delegate_serves_several_interpreters) {
  const NpuTestDelegate npu;
  TestInterpreter t(ConvModel()), u(MixedChain(3, {0, 2}));
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
  ASSERT_EQ(Apply(&u, npu), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(u.Allocate(), kTfLiteOk);
  ExpectRuns(&u, OnCpu(MixedChain(3, {0, 2})));
  ExpectRuns(&t, OnCpu(ConvModel()));
  EXPECT_EQ(npu.counters().models, 3u);
}

// A client must not delete a delegate before its interpreters; sanitizer builds detect whether an
// object is freed too early, or not at all.
TEST(NpuDelegate, a_deleted_delegate_works_until_its_interpreters_are_deleted) {
  TfLiteDelegate* const npu = NpuCreateDelegate(nullptr, nullptr, 0, nullptr);
  {
    TestInterpreter t(ConvModel()), u(MixedChain(3, {0, 2}));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), npu), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(u.get(), npu), kTfLiteOk);
    NpuDestroyDelegate(npu);
    NpuCounters counters;
    NpuGetCounters(npu, &counters);
    EXPECT_EQ(counters.models, 3u);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    ASSERT_EQ(u.Allocate(), kTfLiteOk);
    ExpectRuns(&t, OnCpu(ConvModel()));
    ExpectRuns(&u, OnCpu(MixedChain(3, {0, 2})));
  }
}

// ---- Resizing -----------------------------------------------------------------------------------

TEST(NpuDelegate, a_resize_is_refused_and_the_old_shape_still_works) {
  const NpuTestDelegate npu(kRefuse);
  TestInterpreter t(ResizableModel());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {1, 5, 5, 2}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("NpuGraph0: input 0: expected [1,8,8,2], found [1,5,5,2]; the "
                                 "NPU's models cannot be resized"));
  ASSERT_EQ(t.Resize(0, {1, 8, 8, 2}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0"));
  ExpectRuns(&t, OnCpu(ResizableModel()));
  EXPECT_EQ(npu.counters().compiles, 1u);
}

TEST(NpuDelegate, a_resize_rebuilds) {
  const NpuTestDelegate npu;
  TestInterpreter t(ResizableModel());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  const uint64_t bytes = npu.counters().bytes;
  for (const int size : {5, 9, 8}) {
    ASSERT_EQ(t.Resize(0, {1, size, size, 2}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0"));
    ExpectRuns(&t, OnCpu(ResizableModel(), {1, size, size, 2}));
  }
  EXPECT_EQ(npu.counters().compiles, 4u);
  EXPECT_EQ(npu.counters().bytes, bytes);
}

TEST(NpuDelegate, a_resize_before_the_apply_is_compiled) {
  for (const NpuOptionTexts& options : {NpuOptionTexts{}, kRefuse}) {
    const NpuTestDelegate npu(options);
    TestInterpreter t(ResizableModel());
    ASSERT_EQ(t.Resize(0, {1, 5, 5, 2}), kTfLiteOk);
    ASSERT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0"));
    ExpectRuns(&t, OnCpu(ResizableModel(), {1, 5, 5, 2}));
  }
}

// An extent of 1 in the file may be a placeholder, which converters write for an unknown extent.
TEST(NpuDelegate, placeholders_in_the_file_are_not_compiled) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 8, 8, 2}, "x");
  const int positive = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 2}, "positive");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 2}, "y");
  m.AddOp(kTfLiteBuiltinRelu, {x}, {positive});
  m.AddOp(kTfLiteBuiltinTanh, {positive}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> model = m.Finish();
  const NpuTestDelegate npu(kRefuse);
  TestInterpreter t(model);
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_THAT(DelegateNodes(t), ElementsAre("NpuGraph0"));
  EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)),
            (std::vector<int>{1, 8, 8, 2}));
  ExpectRuns(&t, OnCpu(model));
}

// ---- Failures -----------------------------------------------------------------------------------

// Faults while the delegate is applied, with the expected message.
const std::vector<std::pair<std::string, std::string>> kBuildFaults = {
    {"compile", "NpuGraph0: compile: compiling failed (simulated fault) (status 1)"},
    {"load", "load: loading failed (simulated fault)"},
};

TEST(NpuDelegate, a_failing_build_leaves_the_cpu_graph) {
  for (const auto& [fault, text] : kBuildFaults) {
    const NpuTestDelegate npu(NpuOptionTexts{{"faults", fault}});
    TestInterpreter t(ConvModel());
    EXPECT_EQ(Apply(&t, npu), kTfLiteDelegateError);
    EXPECT_THAT(t.log(), HasSubstr("NPU delegate: " + text));
    EXPECT_THAT(DelegateNodes(t), IsEmpty());
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    ExpectRuns(&t, OnCpu(ConvModel()));
    EXPECT_EQ(npu.counters().bytes, 0u) << fault;
    EXPECT_EQ(npu.counters().clients, 0u) << fault;
  }
}

TEST(NpuDelegate, hot_skips_a_failing_delegate) {
  for (const auto& [fault, text] : kBuildFaults) {
    const NpuTestDelegate npu(NpuOptionTexts{{"faults", fault}});
    TestInterpreter t(ConvModel(), Hot());
    const uint64_t digest = DeputyInterpreterGetGraphDigest(t.get());
    EXPECT_EQ(Apply(&t, npu), kTfLiteDelegateError);
    EXPECT_EQ(DeputyInterpreterGetGraphDigest(t.get()), digest);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    ExpectRuns(&t, OnCpu(ConvModel()));
    EXPECT_EQ(StatusOf(t).delegates_skipped, 1);
  }
}

TEST(NpuDelegate, inputs_in_another_order_are_detected_by_their_shapes) {
  const NpuTestDelegate npu(NpuOptionTexts{{"faults", "swapped"}, {"resize", "refuse"}});
  TestInterpreter t(TwoInputsModel());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("NpuGraph0: input 0: expected [1,4], found [3,4] on the device"));
}

// With the policy Hot the CPU runs partitions that cannot be prepared, also after a resize.
TEST(NpuDelegate, hot_falls_back_to_the_cpu_if_prepare_fails) {
  const NpuTestDelegate swapped(NpuOptionTexts{{"faults", "swapped"}, {"resize", "refuse"}});
  const NpuTestDelegate npu(kRefuse);
  TestInterpreter t(TwoInputsModel(), Hot()), u(ResizableModel(), Hot());
  ASSERT_EQ(Apply(&t, swapped), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ExpectRuns(&t, OnCpu(TwoInputsModel()));
  EXPECT_NE(StatusOf(t).degraded, 0);
  ASSERT_EQ(Apply(&u, npu), kTfLiteOk);
  ASSERT_EQ(u.Allocate(), kTfLiteOk);
  ExpectRuns(&u, OnCpu(ResizableModel()));
  EXPECT_EQ(StatusOf(u).degraded, 0);
  ASSERT_EQ(u.Resize(0, {1, 5, 5, 2}), kTfLiteOk);
  ASSERT_EQ(u.Allocate(), kTfLiteOk) << u.log();
  ExpectRuns(&u, OnCpu(ResizableModel(), {1, 5, 5, 2}));
  EXPECT_NE(StatusOf(u).degraded, 0);
  EXPECT_EQ(npu.counters().runs, 1u);
}

TEST(NpuDelegate, a_failing_run_fails_invoke) {
  for (const auto& [fault, text] : std::vector<std::pair<std::string, std::string>>{
           {"run", "the run failed (simulated fault)"},
           {"slow", "the run exceeded the time limit"}}) {
    const NpuTestDelegate npu(NpuOptionTexts{{"faults", fault}, {"time_limit_ms", "10"}});
    TestInterpreter t(ConvModel());
    ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    FillInputs(&t);
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("NPU delegate: NpuGraph0: " + text));
  }
}

TEST(NpuDelegate, hot_computes_a_failing_run_on_the_cpu) {
  for (const char* fault : {"run", "slow"}) {
    const NpuTestDelegate npu(NpuOptionTexts{{"faults", fault}, {"time_limit_ms", "10"}});
    const std::vector<uint8_t> model = MixedChain(5, {0, 2, 4});
    TestInterpreter t(model, Hot());
    ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    ExpectRuns(&t, OnCpu(model));
    EXPECT_EQ(StatusOf(t).recomputed_nodes, 3);
    EXPECT_NE(StatusOf(t).degraded, 0);
  }
}

// The NPU's partition precedes the node that widens its weights for the CPU, so the fallback needs
// these weights early.
TEST(NpuDelegate, hot_widens_weights_that_a_failing_run_needs_early) {
  const NpuTestDelegate npu(NpuOptionTexts{{"faults", "run"}});
  TestInterpreter t(EarlyHalfModel(), Hot());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ExpectRuns(&t, OnCpu(EarlyHalfModel()));
  EXPECT_EQ(StatusOf(t).recomputed_nodes, 1);
}

// Policies cannot detect a wrong result; only a comparison with the CPU does, as in the conformance
// kit.
TEST(NpuDelegate, wrong_results_are_detected_by_comparison) {
  const NpuTestDelegate npu(NpuOptionTexts{{"faults", "wrong"}});
  TestInterpreter t(ConvModel(), Hot());
  ASSERT_EQ(Apply(&t, npu), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  FillInputs(&t);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(StatusOf(t).degraded, 0);
  EXPECT_THAT(Compare(OnCpu(ConvModel()), Outputs(&t)), HasSubstr("output 0 element 0"));
}

TEST(NpuDelegate, a_crash_ends_the_process) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    const NpuTestDelegate npu(NpuOptionTexts{{"faults", "crash"}});
    TestInterpreter t(ConvModel(), Hot());
    const bool ready = Apply(&t, npu) == kTfLiteOk && t.Allocate() == kTfLiteOk;
    if (ready) t.Invoke();
    _exit(ready ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}

}  // namespace
}  // namespace deputy::npu_delegate_test
