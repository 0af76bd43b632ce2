// SPDX-License-Identifier: Apache-2.0
//
// Tests state that signatures share: values equal those of a program that copies the state; memory,
// delegates, failures and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_async.h"
#include "c_api/include/deputy_graph.h"
#include "c_api/include/deputy_state.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/programmed.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::shared_state_test {
namespace {

using testing::HasSubstr;
using Floats = std::vector<float>;

constexpr int kRows = 6, kColumns = 2;

uint32_t Index(int tensor) { return static_cast<uint32_t>(tensor); }

// Adds the signature `key` over a subgraph in which x of `rows` rows replaces rows of the cache
// from `at` on: cache_out = update(cache_in, x, at), y = cache_out + cache_out. With `late_reader`
// a later node reads cache_in, so that y = cache_out + cache_in.
void AddUpdate(ModelBuilder* m, const std::string& key, int subgraph, int rows,
               bool late_reader = false) {
  m->SelectSubgraph(subgraph);
  const int cache = m->AddTensor(kTfLiteFloat32, {kRows, kColumns}, "cache_in");
  const int x = m->AddTensor(kTfLiteFloat32, {rows, kColumns}, "x");
  const int at = m->AddTensor(kTfLiteInt32, {2}, "at");
  const int out = m->AddTensor(kTfLiteFloat32, {kRows, kColumns}, "cache_out");
  const int y = m->AddTensor(kTfLiteFloat32, {kRows, kColumns}, "y");
  m->AddOp(kTfLiteBuiltinDynamicUpdateSlice, {cache, x, at}, {out});
  m->AddOp(kTfLiteBuiltinAdd, {out, late_reader ? cache : out}, {y},
           schema::CreateAddOptions(m->fbb()));
  m->SetInputs({x, at, cache});
  m->SetOutputs({y, out});
  m->AddSignature(key, {{"x", Index(x)}, {"at", Index(at)}, {"cache_in", Index(cache)}},
                  {{"y", Index(y)}, {"cache_out", Index(out)}}, Index(subgraph));
}

std::vector<uint8_t> CacheModel(bool late_reader = false) {
  ModelBuilder m;
  AddUpdate(&m, "prefill", 0, 3);
  m.AddSubgraph("decode");
  AddUpdate(&m, "decode", 1, 1, late_reader);
  return m.Finish();
}

// total_out = total_in + x in both of two signatures.
std::vector<uint8_t> SumModel() {
  ModelBuilder m;
  for (int subgraph = 0; subgraph < 2; ++subgraph) {
    if (subgraph == 1) m.AddSubgraph("second");
    m.SelectSubgraph(subgraph);
    const int total = m.AddTensor(kTfLiteFloat32, {1, 4}, "total_in");
    const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
    const int out = m.AddTensor(kTfLiteFloat32, {1, 4}, "total_out");
    m.AddOp(kTfLiteBuiltinAdd, {total, x}, {out}, schema::CreateAddOptions(m.fbb()));
    m.SetInputs({x, total});
    m.SetOutputs({out});
    m.AddSignature(subgraph == 0 ? "first" : "second", {{"x", Index(x)}, {"total", Index(total)}},
                   {{"total", Index(out)}}, Index(subgraph));
  }
  return m.Finish();
}

// A signature of an interpreter.
class Signature {
 public:
  Signature(const TestInterpreter& t, const char* key)
      : t_(t), runner_(TfLiteInterpreterGetSignatureRunner(t.get(), key)) {}
  ~Signature() { TfLiteSignatureRunnerDelete(runner_); }
  Signature(const Signature&) = delete;
  Signature& operator=(const Signature&) = delete;

  TfLiteStatus Allocate() { return TfLiteSignatureRunnerAllocateTensors(runner_); }
  template <typename T>
  void Set(const char* input, const std::vector<T>& values) {
    ASSERT_EQ(TfLiteTensorCopyFromBuffer(TfLiteSignatureRunnerGetInputTensor(runner_, input),
                                         values.data(), values.size() * sizeof(T)),
              kTfLiteOk);
  }
  TfLiteStatus Invoke() { return TfLiteSignatureRunnerInvoke(runner_); }
  const void* InputData(const char* name) {
    return TfLiteTensorData(TfLiteSignatureRunnerGetInputTensor(runner_, name));
  }
  const void* OutputData(const char* name) {
    return TfLiteTensorData(TfLiteSignatureRunnerGetOutputTensor(runner_, name));
  }
  Floats Get(const char* output) {
    return TestInterpreter::Values<float>(TfLiteSignatureRunnerGetOutputTensor(runner_, output));
  }
  // Runs with the rows `x` from row `at` on; returns y.
  Floats Update(const Floats& x, int at) {
    Set<float>("x", x);
    Set<int32_t>("at", {at, 0});
    EXPECT_EQ(Invoke(), kTfLiteOk) << t_.log();
    return Get("y");
  }

 private:
  const TestInterpreter& t_;
  TfLiteSignatureRunner* const runner_;
};

DeputySharedState StateOf(const TestInterpreter& t, int index = 0) {
  DeputySharedState state = {};
  state.struct_size = sizeof state;
  EXPECT_EQ(DeputyInterpreterGetSharedState(t.get(), index, &state), kTfLiteOk);
  return state;
}

Floats ValuesOf(const DeputySharedState& state) {
  Floats values(state.bytes / sizeof(float));
  std::memcpy(values.data(), state.data, state.bytes);
  return values;
}

void Share(const TestInterpreter& t, const char* input, const char* output) {
  ASSERT_EQ(DeputyInterpreterShareState(t.get(), input, output), kTfLiteOk) << t.log();
}

class SharedStates : public QuietTest {};

TEST_F(SharedStates, a_cache_is_updated_in_place_by_both_signatures) {
  TestInterpreter t(CacheModel());
  Share(t, "cache_in", "cache_out");
  Signature prefill(t, "prefill"), decode(t, "decode");
  ASSERT_EQ(prefill.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(decode.Allocate(), kTfLiteOk) << t.log();
  const void* const memory = StateOf(t).data;
  EXPECT_EQ(prefill.Update({1, 2, 3, 4, 5, 6}, 0), (Floats{2, 4, 6, 8, 10, 12, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(decode.Update({7, 8}, 3), (Floats{2, 4, 6, 8, 10, 12, 14, 16, 0, 0, 0, 0}));
  EXPECT_EQ(decode.Update({9, 9}, 4), (Floats{2, 4, 6, 8, 10, 12, 14, 16, 18, 18, 0, 0}));
  const DeputySharedState state = StateOf(t);
  EXPECT_STREQ(state.input_name, "cache_in");
  EXPECT_STREQ(state.output_name, "cache_out");
  EXPECT_EQ(state.bytes, kRows * kColumns * sizeof(float));
  EXPECT_EQ(state.memory_bytes, state.bytes);
  EXPECT_EQ(state.subgraph_count, 2);
  EXPECT_EQ(state.in_place, 1);
  EXPECT_EQ(state.data, memory);
  for (Signature* const each : {&prefill, &decode}) {
    EXPECT_EQ(each->InputData("cache_in"), memory);
    EXPECT_EQ(each->OutputData("cache_out"), memory);
  }
  EXPECT_EQ(ValuesOf(state), (Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 0, 0}));
  ASSERT_EQ(DeputyInterpreterResetSharedStates(t.get()), kTfLiteOk);
  EXPECT_EQ(decode.Update({1, 1}, 5), (Floats{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2}));
}

TEST_F(SharedStates, an_input_that_is_read_later_is_not_overwritten) {
  TestInterpreter t(CacheModel(true));
  Share(t, "cache_in", "cache_out");
  Signature prefill(t, "prefill"), decode(t, "decode");
  ASSERT_EQ(prefill.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(decode.Allocate(), kTfLiteOk) << t.log();
  (void)prefill.Update({1, 2, 3, 4, 5, 6}, 0);
  EXPECT_EQ(StateOf(t).in_place, 1);
  EXPECT_EQ(decode.Update({7, 8}, 0), (Floats{8, 10, 6, 8, 10, 12, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(StateOf(t).in_place, 0);
  EXPECT_EQ(StateOf(t).memory_bytes, 2 * StateOf(t).bytes);
  // The output of a run is the input of the next one, without a copy.
  EXPECT_EQ(StateOf(t).data, decode.OutputData("cache_out"));
  EXPECT_EQ(prefill.InputData("cache_in"), decode.OutputData("cache_out"));
  (void)prefill.Update({0, 0, 0, 0, 0, 0}, 3);
  EXPECT_EQ(decode.Update({1, 1}, 5), (Floats{14, 16, 6, 8, 10, 12, 0, 0, 0, 0, 1, 1}));
}

// If the state were updated in place, the fallback of the policy Hot would read a changed input.
TEST_F(SharedStates, subgraphs_with_delegates_use_two_blocks) {
  ProgrammedDelegate delegate(ClaimingBody({1}));
  delegate.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
  TestInterpreter t(CacheModel());
  Share(t, "cache_in", "cache_out");
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
  Signature decode(t, "decode");
  ASSERT_EQ(decode.Allocate(), kTfLiteOk) << t.log();
  (void)decode.Update({7, 8}, 1);
  EXPECT_EQ(StateOf(t).in_place, 0);
  EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(SharedStates, a_program_reads_and_writes_the_state_between_runs) {
  TestInterpreter t(SumModel());
  Share(t, "total", "total");
  Signature first(t, "first"), second(t, "second");
  ASSERT_EQ(first.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(second.Allocate(), kTfLiteOk) << t.log();
  first.Set<float>("total", {10, 20, 30, 40});
  second.Set<float>("x", {1, 1, 1, 1});
  ASSERT_EQ(second.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{11, 21, 31, 41}));
}

// Each delegate computes the sum of both signatures.
TEST_F(SharedStates, delegates_swap_two_blocks) {
  for (const char* name : {"npu_stub", "xnnpack", "gpu", "cpu"}) {
    SCOPED_TRACE(name);
    const std::string library = BuildPath("libdeputy_" + std::string(name) + ".so");
    TfLiteDelegate* const delegate = CreateExternal(library, {});
    ASSERT_NE(delegate, nullptr);
    {
      TestInterpreter t(SumModel());
      Share(t, "total", "total");
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate), kTfLiteOk) << t.log();
      EXPECT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 1) << t.log();
      Signature first(t, "first"), second(t, "second");
      ASSERT_EQ(first.Allocate(), kTfLiteOk) << t.log();
      ASSERT_EQ(second.Allocate(), kTfLiteOk) << t.log();
      for (int i = 0; i < 3; ++i) {
        for (Signature* const each : {&first, &second}) {
          each->Set<float>("x", {1, 2, 3, 4});
          ASSERT_EQ(each->Invoke(), kTfLiteOk) << t.log();
        }
      }
      EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{6, 12, 18, 24}));
      EXPECT_EQ(second.Get("total"), (Floats{6, 12, 18, 24}));
      EXPECT_EQ(StateOf(t).in_place, 0);
      // The CPU continues with the delegate's state, in place.
      ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk) << t.log();
      ASSERT_EQ(first.Allocate(), kTfLiteOk) << t.log();
      first.Set<float>("x", {1, 2, 3, 4});
      ASSERT_EQ(first.Invoke(), kTfLiteOk) << t.log();
      EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{7, 14, 21, 28}));
      EXPECT_EQ(StateOf(t).in_place, 1);
    }
    DeputyPluginDeleteDelegate(delegate);
  }
}

TEST_F(SharedStates, a_failed_run_of_a_delegate_changes_nothing) {
  bool fails = false;
  ProgrammedDelegate delegate(ClaimingBody({0}));
  delegate.invoke = [&](TfLiteContext* context, TfLiteNode* node) {
    const TfLiteTensor& output = context->tensors[node->outputs->data[0]];
    for (int i = 0; i < 4; ++i) {
      output.data.f[i] = 0;
      for (int input : {0, 1}) {
        output.data.f[i] += context->tensors[node->inputs->data[input]].data.f[i];
      }
    }
    return fails ? kTfLiteError : kTfLiteOk;
  };
  for (const bool hot : {false, true}) {
    TestInterpreter t(SumModel(), [hot](TfLiteInterpreterOptions* options) {
      if (hot) DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    });
    Share(t, "total", "total");
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
    Signature first(t, "first");
    ASSERT_EQ(first.Allocate(), kTfLiteOk) << t.log();
    first.Set<float>("x", {1, 2, 3, 4});
    ASSERT_EQ(first.Invoke(), kTfLiteOk) << t.log();
    fails = true;
    EXPECT_EQ(first.Invoke(), hot ? kTfLiteOk : kTfLiteError);
    const float runs = hot ? 2 : 1;
    EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{runs, 2 * runs, 3 * runs, 4 * runs}));
    fails = false;
  }
}

TEST_F(SharedStates, tensors_that_cannot_share_memory_are_refused) {
  const auto expect_refused = [](std::vector<uint8_t> model, const char* input, const char* output,
                                 const std::string& text) {
    TestInterpreter t(std::move(model));
    EXPECT_EQ(DeputyInterpreterShareState(t.get(), input, output), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr(text));
    EXPECT_EQ(DeputyInterpreterGetSharedStateCount(t.get()), 0);
    EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  };
  expect_refused(CacheModel(), "cache_in", "none",
                 "state 'cache_in': expected a signature with this input and output");
  expect_refused(CacheModel(), "none", "cache_out", "state 'none': expected a signature");
  expect_refused(CacheModel(), "x", "y",
                 "subgraph 0: tensor 4 'y': expected the type and shape of the first input");
  expect_refused(CacheModel(), "x", "cache_out", "tensor 3 'cache_out': expected the type");
  expect_refused(CacheModel(), nullptr, "y", "expected two names, found NULL");
  ModelBuilder passing;
  const int in = passing.AddTensor(kTfLiteFloat32, {1}, "in");
  const int out = passing.AddTensor(kTfLiteFloat32, {1}, "out");
  passing.AddOp(kTfLiteBuiltinNeg, {in}, {out});
  passing.SetInputs({in});
  passing.SetOutputs({out, in});
  passing.AddSignature("s", {{"in", Index(in)}}, {{"out", Index(out)}, {"same", Index(in)}});
  expect_refused(passing.Finish(), "in", "out",
                 "expected an input that is no output of subgraph 0");
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteString, {1}, "x");
  const int y = m.AddTensor(kTfLiteString, {1}, "y");
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1}, "shape");
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSignature("s", {{"x", Index(x)}}, {{"y", Index(y)}});
  expect_refused(m.Finish(), "x", "y", "tensor 0 'x': expected memory of a fixed size");
  EXPECT_EQ(DeputyInterpreterShareState(nullptr, "x", "y"), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetSharedStateCount(nullptr), 0);
  EXPECT_EQ(DeputyInterpreterResetSharedStates(nullptr), kTfLiteError);
}

TEST_F(SharedStates, two_states_have_no_common_tensors) {
  TestInterpreter t(CacheModel());
  Share(t, "cache_in", "cache_out");
  EXPECT_EQ(DeputyInterpreterShareState(t.get(), "cache_in", "y"), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("expected tensors of no other state, found those of 'cache_in'"));
  EXPECT_EQ(DeputyInterpreterGetSharedStateCount(t.get()), 1);
  DeputySharedState state = {};
  state.struct_size = sizeof state;
  EXPECT_EQ(DeputyInterpreterGetSharedState(t.get(), 1, &state), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterGetSharedState(t.get(), -1, &state), kTfLiteError);
}

TEST_F(SharedStates, a_node_cannot_call_their_subgraph) {
  ModelBuilder m;
  const int condition = m.AddTensor(kTfLiteBool, {1}, "condition");
  const int x = m.AddTensor(kTfLiteFloat32, {1}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinIf, {condition, x}, {y}, schema::CreateIfOptions(m.fbb(), 1, 1));
  m.SetInputs({condition, x});
  m.SetOutputs({y});
  m.SelectSubgraph(m.AddSubgraph("branch"));
  const int in = m.AddTensor(kTfLiteFloat32, {1}, "in");
  const int out = m.AddTensor(kTfLiteFloat32, {1}, "out");
  m.AddOp(kTfLiteBuiltinNeg, {in}, {out});
  m.SetInputs({in});
  m.SetOutputs({out});
  m.AddSignature("s", {{"in", Index(in)}}, {{"out", Index(out)}}, 1);
  TestInterpreter t(m.Finish());
  Share(t, "in", "out");
  EXPECT_NE(t.Allocate() == kTfLiteOk ? t.Invoke() : kTfLiteError, kTfLiteOk);
  EXPECT_THAT(t.log(), HasSubstr("expected no shared states in a subgraph that a node calls"));
}

TEST_F(SharedStates, keep_their_memory_when_custom_allocations_change) {
  TestInterpreter t(SumModel());
  Share(t, "total", "total");
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  alignas(64) float own[4] = {};
  const TfLiteCustomAllocation allocation = {own, sizeof own};
  EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 0, &allocation, 0),
            kTfLiteError);
  EXPECT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 0, 2, &allocation, 0), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterSetCustomAllocation(t.get(), 0, 1, &allocation, 0), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterClearCustomAllocations(t.get(), 0), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2, 3, 4});
  t.Set<float>(1, {10, 20, 30, 40});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{11, 22, 33, 44}));
}

TEST_F(SharedStates, a_single_node_of_a_delegate_does_not_change_them) {
  ProgrammedDelegate delegate(ClaimingBody({0}));
  delegate.invoke = [](TfLiteContext* context, TfLiteNode* node) {
    const float* const in = context->tensors[node->inputs->data[0]].data.f;
    float* const out = context->tensors[node->outputs->data[0]].data.f;
    for (int i = 0; i < 4; ++i) out[i] = in[i] + 1;
    return kTfLiteOk;
  };
  TestInterpreter t(SumModel());
  Share(t, "total", "total");
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &delegate.base), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  int32_t count = 0;
  const int32_t* const plan = DeputyInterpreterGetExecutionPlan(t.get(), 0, &count);
  ASSERT_EQ(count, 1);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(DeputyInterpreterInvokeNode(t.get(), 0, plan[0]), kTfLiteOk) << t.log();
    EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{0, 0, 0, 0}));
  }
}

TEST_F(SharedStates, count_in_the_memory_budget) {
  constexpr int kFloats = 200;
  ModelBuilder m;
  std::vector<int> inputs, outputs;
  for (const char* name : {"a", "b"}) {
    inputs.push_back(m.AddTensor(kTfLiteFloat32, {kFloats}, name));
    outputs.push_back(m.AddTensor(kTfLiteFloat32, {kFloats}));
    m.AddOp(kTfLiteBuiltinNeg, {inputs.back()}, {outputs.back()});
  }
  m.SetInputs(inputs);
  m.SetOutputs(outputs);
  m.AddSignature("s", {{"a", Index(inputs[0])}, {"b", Index(inputs[1])}},
                 {{"a", Index(outputs[0])}, {"b", Index(outputs[1])}});
  TestInterpreter t(m.Finish(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetMemoryBudget(options, kFloats * sizeof(float) * 3 / 2);
  });
  Share(t, "a", "a");
  EXPECT_EQ(DeputyInterpreterShareState(t.get(), "b", "b"), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("state 'b': no memory for 800 bytes"));
}

TEST_F(SharedStates, a_run_after_a_resize_fails_with_both_sizes) {
  TestInterpreter t(SumModel());
  Share(t, "total", "total");
  for (const int input : {0, 1}) ASSERT_EQ(t.Resize(input, {2, 4}), kTfLiteOk);
  // The memory of the input is too small for the new shape.
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_EQ(TfLiteTensorData(t.Tensor(0)), nullptr);
  for (const int input : {0, 1}) ASSERT_EQ(t.Resize(input, {1, 2}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(),
              HasSubstr("state 'total': subgraph 0: tensor 0: expected 16 bytes, found 8"));
  for (const int input : {0, 1}) ASSERT_EQ(t.Resize(input, {1, 4}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 2, 3, 4});
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(ValuesOf(StateOf(t)), (Floats{1, 2, 3, 4}));
}

TEST_F(SharedStates, asynchronous_runs_and_the_background_are_refused) {
  TestInterpreter t(SumModel());
  Share(t, "total", "total");
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  run_case::TestRun run({{1, 2, 3, 4}, {0, 0, 0, 0}}, {4});
  EXPECT_EQ(run.Start(t.get()), kTfLiteError);
  EXPECT_THAT(DeputyLastError(), HasSubstr("expected an interpreter without shared states"));
  ProgrammedDelegate delegate(ClaimingBody({0}));
  TfLiteDelegate* const list[] = {&delegate.base};
  EXPECT_NE(DeputyInterpreterApplyInBackground(t.get(), list, 1, nullptr), kTfLiteOk);
  EXPECT_THAT(t.log(), HasSubstr("expected no shared states"));
}

// ---- Random graphs ------------------------------------------------------------------------------

// Adds a signature with random elementwise nodes. s_in is read by random nodes; s_out is one of the
// results.
void AddRandom(ModelBuilder* m, int subgraph, std::mt19937* random) {
  const auto below = [random](size_t n) { return (*random)() % n; };
  m->SelectSubgraph(subgraph);
  std::vector<int> known = {m->AddTensor(kTfLiteFloat32, {8}, "s_in"),
                            m->AddTensor(kTfLiteFloat32, {8}, "x")};
  const size_t count = 2 + below(6);
  for (size_t i = 0; i < count; ++i) {
    const int a = known[below(known.size())], b = known[below(known.size())];
    const int out = m->AddTensor(kTfLiteFloat32, {8}, "t" + std::to_string(i));
    switch (below(4)) {
      case 0:
        m->AddOp(kTfLiteBuiltinSub, {a, b}, {out}, schema::CreateSubOptions(m->fbb()));
        break;
      case 1:
        m->AddOp(kTfLiteBuiltinNeg, {a}, {out});
        break;
      case 2:
        m->AddOp(kTfLiteBuiltinMaximum, {a, b}, {out});
        break;
      default:
        m->AddOp(kTfLiteBuiltinAdd, {a, b}, {out}, schema::CreateAddOptions(m->fbb()));
        break;
    }
    known.push_back(out);
  }
  const int state = known[2 + below(count)], last = known.back();
  m->SetInputs({known[1], known[0]});
  m->SetOutputs(state == last ? std::vector<int32_t>{last} : std::vector<int32_t>{last, state});
  m->AddSignature("s" + std::to_string(subgraph), {{"x", Index(known[1])}, {"s", Index(known[0])}},
                  {{"y", Index(last)}, {"s", Index(state)}}, Index(subgraph));
}

TEST_F(SharedStates, random_graphs_equal_a_program_that_copies_the_state) {
  int in_place = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    ModelBuilder m;
    AddRandom(&m, 0, &random);
    m.AddSubgraph("second");
    AddRandom(&m, 1, &random);
    const std::vector<uint8_t> model = m.Finish();
    TestInterpreter shared(model), copied(model);
    Share(shared, "s", "s");
    Floats state(8, 0);
    for (int run = 0; run < 6; ++run) {
      const std::string key = "s" + std::to_string(random() % 2);
      Signature a(shared, key.c_str()), b(copied, key.c_str());
      ASSERT_EQ(a.Allocate(), kTfLiteOk) << shared.log();
      ASSERT_EQ(b.Allocate(), kTfLiteOk) << copied.log();
      Floats x(8);
      for (float& value : x) value = static_cast<float>(random() % 16) - 8;
      a.Set<float>("x", x);
      b.Set<float>("x", x);
      b.Set<float>("s", state);
      ASSERT_EQ(a.Invoke(), kTfLiteOk) << shared.log();
      ASSERT_EQ(b.Invoke(), kTfLiteOk) << copied.log();
      ASSERT_EQ(a.Get("y"), b.Get("y"));
      state = b.Get("s");
      ASSERT_EQ(ValuesOf(StateOf(shared)), state);
      in_place += StateOf(shared).in_place;
    }
  }
  EXPECT_GT(in_place, 100);
}

}  // namespace
}  // namespace deputy::shared_state_test
