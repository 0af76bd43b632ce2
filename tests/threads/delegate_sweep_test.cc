// SPDX-License-Identifier: Apache-2.0
//
// Tests failures of delegates in their callbacks: a scripted delegate fails once, with each failure
// of kFailures at each call of its callback, on the 12 rows of Rows (a graph and the nodes that are
// claimed), as a plain and as an opaque delegate, with both policies. One scenario (apply,
// allocate, three inferences, delete; without state and dynamic shapes also a resize to another
// shape and back, and a fourth inference) runs each time; it must never crash, its statuses must be
// those of the policy, and its results, with the exceptions in FailOnce, the CPU's.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_sweep_test {
namespace {

// ---- A custom operator with state: y = x + state, state = y -------------------------------------

TfLiteStatus PrepareAccumulate(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor& x = context->tensors[node->inputs->data[0]];
  return context->ResizeTensor(context, &context->tensors[node->outputs->data[0]],
                               TfLiteIntArrayCopy(x.dims));
}

TfLiteStatus InvokeAccumulate(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor& x = context->tensors[node->inputs->data[0]];
  TfLiteTensor& state = context->tensors[node->inputs->data[1]];
  TfLiteTensor& y = context->tensors[node->outputs->data[0]];
  for (size_t i = 0; i < state.bytes / sizeof(float); ++i) {
    y.data.f[i] = state.data.f[i] = x.data.f[i] + state.data.f[i];
  }
  return kTfLiteOk;
}

TfLiteRegistration Accumulate() {
  TfLiteRegistration registration{};
  registration.prepare = PrepareAccumulate;
  registration.invoke = InvokeAccumulate;
  return registration;
}
const TfLiteRegistration kAccumulate = Accumulate();

// ---- Graphs -------------------------------------------------------------------------------------

class Graph {
 public:
  int Input() { return inputs_.emplace_back(Tensor()); }
  int Tensor() { return m.AddTensor(kTfLiteFloat32, {1, 4}); }
  int Constant() { return m.AddConstant<float>(kTfLiteFloat32, {1, 4}, {0.5f, -1, 0.25f, 1.5f}); }
  int Add(int a, int b) {
    const int out = Tensor();
    m.AddOp(kTfLiteBuiltinAdd, {a, b}, {out}, schema::CreateAddOptions(m.fbb()));
    return out;
  }
  int Mul(int a, int b) {
    const int out = Tensor();
    m.AddOp(kTfLiteBuiltinMul, {a, b}, {out}, schema::CreateMulOptions(m.fbb()));
    return out;
  }
  int Accumulate(int x) {
    TensorExtras variable;
    variable.is_variable = true;
    const int state = m.AddTensor(kTfLiteFloat32, {1, 4}, "state", variable);
    const int out = Tensor();
    m.AddCustomOp("Accumulate", {x, state}, {out});
    return out;
  }
  std::vector<uint8_t> Finish(const std::vector<int>& outputs) {
    m.SetInputs(inputs_);
    m.SetOutputs(outputs);
    return m.Finish();
  }

  ModelBuilder m;

 private:
  std::vector<int> inputs_;
};

struct Row {
  const char* name;
  std::vector<uint8_t> model;
  std::vector<int> claims = {};          // nodes claimed by the delegate that fails
  std::vector<int> earlier_claims = {};  // nodes of a delegate that is applied before
  bool dynamic = false;                  // has kTfLiteDelegateFlagsAllowDynamicTensors
  bool on_device = false;                // outputs stay in buffer handles
  bool keep_outputs = false;             // the client allows handles of graph outputs
  bool stateful = false;
  // Index of an output that does not depend on claimed nodes; -1: there is none.
  int independent_output = -1;
};

std::vector<uint8_t> ChainOf(int length) {
  Graph g;
  const int c = g.Constant();
  int last = g.Input();
  for (int i = 0; i < length; ++i) last = i % 2 == 0 ? g.Add(last, c) : g.Mul(last, c);
  return g.Finish({last});
}

std::vector<uint8_t> Diamond() {
  Graph g;
  const int x = g.Input(), c = g.Constant();
  const int a = g.Add(x, c), left = g.Mul(a, c), right = g.Add(a, a);
  return g.Finish({g.Mul(left, right)});
}

std::vector<uint8_t> Islands() {
  Graph g;
  const int x = g.Input(), c = g.Constant();
  return g.Finish({g.Mul(g.Add(x, c), c), g.Add(g.Mul(x, x), c)});
}

std::vector<uint8_t> Stateful() {
  Graph g;
  const int x = g.Input(), c = g.Constant();
  return g.Finish({g.Mul(g.Accumulate(g.Add(x, c)), c)});
}

std::vector<uint8_t> ManyOutputs() {
  Graph g;
  const int x = g.Input(), c = g.Constant();
  const int a = g.Add(x, c), b = g.Mul(a, c), d = g.Add(b, a);
  return g.Finish({a, b, d});
}

// A model whose shapes are known only while it runs.
std::vector<uint8_t> DataDependent() {
  Graph g;
  const int x = g.Input(), c = g.Constant();
  const int shape = g.m.AddTensor(kTfLiteInt32, {2}, "shape");
  const int constant = g.m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 4});
  const int zero = g.m.AddConstant<int32_t>(kTfLiteInt32, {2}, {0, 0});
  g.m.AddOp(kTfLiteBuiltinAdd, {constant, zero}, {shape}, schema::CreateAddOptions(g.m.fbb()));
  const int a = g.Add(x, c), y = g.Tensor();
  g.m.AddOp(kTfLiteBuiltinReshape, {a, shape}, {y});
  return g.Finish({g.Add(g.Mul(y, c), y)});
}

std::vector<Row> Rows() {
  return {
      {.name = "whole_chain", .model = ChainOf(4), .claims = {0, 1, 2, 3}},
      {.name = "two_partitions", .model = ChainOf(6), .claims = {0, 1, 3, 4}},
      {.name = "three_single_nodes", .model = ChainOf(6), .claims = {0, 2, 4}},
      {.name = "dynamic_delegate", .model = ChainOf(5), .claims = {1, 3}, .dynamic = true},
      {.name = "on_the_device", .model = ChainOf(6), .claims = {0, 1, 3, 4}, .on_device = true},
      {.name = "outputs_on_the_device",
       .model = ManyOutputs(),
       .claims = {0, 2},
       .on_device = true,
       .keep_outputs = true},
      {.name = "diamond", .model = Diamond(), .claims = {1, 2}},
      {.name = "islands", .model = Islands(), .claims = {0, 1}, .independent_output = 1},
      {.name = "state_inside", .model = Stateful(), .claims = {1}, .stateful = true},
      {.name = "state_and_neighbours",
       .model = Stateful(),
       .claims = {0, 1, 2},
       .on_device = true,
       .stateful = true},
      {.name = "after_another_delegate",
       .model = ChainOf(6),
       .claims = {3, 4},
       .earlier_claims = {0, 1}},
      {.name = "shapes_of_data", .model = DataDependent(), .claims = {1, 3, 4}, .dynamic = true},
  };
}

// ---- One life -----------------------------------------------------------------------------------

struct Failure {
  const char* name;
  ScriptedCallback callback;
  ScriptedFailure kind;
};

const Failure kFailures[] = {
    {"prepare returns an error", kScriptedPrepareDelegate, kScriptedErrorStatus},
    {"prepare replaces a node that is not there", kScriptedPrepareDelegate, kScriptedBadIndex},
    {"prepare throws", kScriptedPrepareDelegate, kScriptedThrow},
    {"init returns NULL", kScriptedInit, kScriptedNullInit},
    {"init returns -1", kScriptedInit, kScriptedInitSentinel},
    {"init throws", kScriptedInit, kScriptedThrow},
    {"kernel's prepare returns an error", kScriptedPrepareKernel, kScriptedErrorStatus},
    {"kernel's prepare gives a wrong shape", kScriptedPrepareKernel, kScriptedWrongShape},
    {"kernel's prepare gives a wrong index", kScriptedPrepareKernel, kScriptedBadTemporary},
    {"kernel's prepare throws", kScriptedPrepareKernel, kScriptedThrow},
    {"invoke returns an error", kScriptedInvoke, kScriptedErrorStatus},
    {"invoke changes a shape", kScriptedInvoke, kScriptedWrongShape},
    {"invoke writes nothing", kScriptedInvoke, kScriptedNoOutput},
    {"invoke works and then returns an error", kScriptedInvoke, kScriptedLateError},
    {"invoke throws", kScriptedInvoke, kScriptedThrow},
    {"the copy returns an error", kScriptedCopyFrom, kScriptedErrorStatus},
    {"the copy writes nothing", kScriptedCopyFrom, kScriptedNoOutput},
    {"the copy throws", kScriptedCopyFrom, kScriptedThrow},
    {"freeing a handle throws", kScriptedFreeHandle, kScriptedThrow},
    {"freeing a kernel throws", kScriptedFreeKernel, kScriptedThrow},
};

void ThrowNow() { throw std::runtime_error("from a delegate"); }

using Outputs = std::vector<std::vector<float>>;

// Runs a model's inferences, with or without delegates.
class LifeCycle {
 public:
  LifeCycle(const Row& row, DeputyDelegatePolicy policy)
      : row_(row), hot_(policy == kDeputyPolicyHot), t_(row.model, [&](auto* options) {
          TfLiteInterpreterOptionsAddCustomOp(options, "Accumulate", &kAccumulate, 1, 1);
          DeputyInterpreterOptionsSetDelegatePolicy(options, policy);
        }) {}

  TestInterpreter& t() { return t_; }

  void Apply(TfLiteDelegate* delegate) {
    const uint64_t digest = DeputyInterpreterGetGraphDigest(t_.get());
    const TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(t_.get(), delegate);
    if (status == kTfLiteOk) return;
    EXPECT_EQ(status, kTfLiteDelegateError) << t_.log();
    if (hot_) {
      EXPECT_EQ(DeputyInterpreterGetGraphDigest(t_.get()), digest) << t_.log();
    }
    ++failed_steps;
    apply_failed = true;
  }

  // Runs the scenario, which ends early if a step fails twice. `check` receives the outputs of each
  // inference.
  using Check = std::function<void(const Outputs&)>;
  void Run(const Check& check) {
    TfLiteSetAllowBufferHandleOutput(t_.get(), row_.keep_outputs);
    if (!Allocate()) return;
    for (int i = 0; i < 3 && !stuck; ++i) Infer(i, check);
    if (row_.stateful || row_.dynamic || stuck) return;
    for (int rows : {2, 1}) {
      ASSERT_EQ(t_.Resize(0, {rows, 4}), kTfLiteOk) << t_.log();
      if (!Allocate()) return;
    }
    Infer(3, check);
  }

  bool stuck = false;  // true if a step failed twice
  bool apply_failed = false;
  int failed_steps = 0;

 private:
  bool Allocate() {
    if (t_.Allocate() == kTfLiteOk) return true;
    ++failed_steps;
    if (t_.Allocate() == kTfLiteOk) return true;
    stuck = true;
    return false;
  }

  void Infer(int round, const Check& check) {
    const float r = static_cast<float>(round);
    t_.Set<float>(0, {1 + r, -2, 3 - r, 0.5f});
    if (!InvokeAndRead()) {
      ++failed_steps;
      t_.Set<float>(0, {1 + r, -2, 3 - r, 0.5f});
      stuck = !InvokeAndRead();
      if (stuck) return;
    }
    Outputs outputs;
    for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(t_.get()); ++i) {
      outputs.push_back(t_.Get<float>(i));
    }
    check(outputs);
  }

  bool InvokeAndRead() {
    if (t_.Invoke() != kTfLiteOk) return false;
    for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(t_.get()); ++i) {
      const int index = TfLiteInterpreterGetOutputTensorIndex(t_.get(), i);
      if (TfLiteInterpreterEnsureTensorDataIsReadable(t_.get(), index) != kTfLiteOk) return false;
    }
    return true;
  }

  const Row& row_;
  const bool hot_;
  TestInterpreter t_;
};

struct Delegate {
  Delegate(const Row& row, const std::vector<int>& claims, bool opaque) : script(new Script) {
    ScriptedDelegateInit(&script->d, row.dynamic ? kTfLiteDelegateFlagsAllowDynamicTensors
                                                 : kTfLiteDelegateFlagsNone);
    for (int node : claims) script->d.claims[node] = true;
    script->d.outputs_on_device = row.on_device;
    script->d.throw_now = &ThrowNow;
    if (opaque) script->opaque = ScriptedOpaqueDelegate(&script->d);
  }
  TfLiteDelegate* get() { return script->d.self; }
  ScriptedDelegate* operator->() { return &script->d; }

  struct Script {
    ~Script() { TfLiteOpaqueDelegateDelete(opaque); }
    ScriptedDelegate d;
    TfLiteOpaqueDelegate* opaque = nullptr;
  };
  std::unique_ptr<Script> script;
};

std::vector<Outputs> OnTheCpu(const Row& row) {
  std::vector<Outputs> expected;
  LifeCycle cpu(row, kDeputyPolicyTfLite);
  cpu.Run([&](const Outputs& outputs) { expected.push_back(outputs); });
  return expected;
}

// ---- The sweep ----------------------------------------------------------------------------------

class DelegateSweep : public testing::TestWithParam<std::tuple<int, bool, bool>> {
 protected:
  const std::vector<Row> rows_ = Rows();
  const Row& row() const { return rows_[static_cast<size_t>(std::get<0>(GetParam()))]; }
  bool opaque() const { return std::get<1>(GetParam()); }
  DeputyDelegatePolicy policy() const {
    return std::get<2>(GetParam()) ? kDeputyPolicyHot : kDeputyPolicyTfLite;
  }

  // Returns the number of calls of each callback without failures; checks that results are right,
  // and computed by the delegate.
  std::vector<int> CountCalls(const std::vector<Outputs>& expected) {
    Delegate earlier(row(), row().earlier_claims, opaque()),
        delegate(row(), row().claims, opaque());
    {
      LifeCycle life(row(), policy());
      if (!row().earlier_claims.empty()) life.Apply(earlier.get());
      life.Apply(delegate.get());
      size_t round = 0;
      life.Run([&](const Outputs& outputs) { EXPECT_EQ(outputs, expected[round++]); });
      EXPECT_EQ(round, expected.size());
      EXPECT_EQ(life.failed_steps, 0) << life.t().log();
    }
    EXPECT_EQ(delegate->nodes_computed, static_cast<int>(expected.size() * row().claims.size()));
    EXPECT_EQ(delegate->frees, delegate->calls[kScriptedInit]);
    return {delegate->calls, delegate->calls + kScriptedCallbackCount};
  }

  void FailOnce(const Failure& failure, int call, const std::vector<Outputs>& expected) {
    SCOPED_TRACE(std::string(failure.name) + ", call " + std::to_string(call));
    Delegate earlier(row(), row().earlier_claims, opaque()),
        delegate(row(), row().claims, opaque());
    delegate->failing_callback = failure.callback;
    delegate->failing_call = call;
    delegate->failure = failure.kind;
    // The default policy behaves as upstream: it does not check a delegate's shapes, keeps a node
    // that cannot be prepared, and does not prevent that a repeated inference advances a state
    // twice.
    const bool upstream = policy() == kDeputyPolicyTfLite;
    const bool believed =
        upstream && (row().stateful || (failure.kind == kScriptedWrongShape &&
                                        failure.callback == kScriptedPrepareKernel));
    const bool may_be_stuck =
        upstream && row().dynamic && (believed || failure.kind == kScriptedNullInit);
    bool unwritten = false;
    {
      LifeCycle life(row(), policy());
      if (!row().earlier_claims.empty()) life.Apply(earlier.get());
      life.Apply(delegate.get());
      size_t round = 0;
      life.Run([&](const Outputs& outputs) {
        const Outputs& right = expected[round++];
        unwritten |= delegate->failure_reached && (failure.kind == kScriptedNoOutput || believed);
        const int independent = row().independent_output;
        if (!unwritten) {
          EXPECT_EQ(outputs, right) << "inference " << round << "\n" << life.t().log();
        } else if (independent >= 0) {
          EXPECT_EQ(outputs[static_cast<size_t>(independent)],
                    right[static_cast<size_t>(independent)]);
        }
      });
      EXPECT_TRUE(!life.stuck || may_be_stuck) << life.t().log();
      if (!life.stuck) {
        EXPECT_EQ(round, expected.size());
      }
      // One failure fails at most one step. With the policy Hot that can only be the apply, or a
      // copy that the client requests after the inference.
      const bool may_fail = upstream || life.apply_failed ||
                            (row().keep_outputs && failure.callback == kScriptedCopyFrom);
      EXPECT_LE(life.failed_steps, may_fail ? 1 + may_be_stuck : 0) << life.t().log();
    }
    EXPECT_TRUE(delegate->failure_reached);
  }
};

TEST_P(DelegateSweep, every_callback_fails_at_every_call_with_every_failure) {
  const std::vector<Outputs> expected = OnTheCpu(row());
  const std::vector<int> calls = CountCalls(expected);
  int life_cycles = 0;
  for (const Failure& failure : kFailures) {
    const bool plain_only =
        failure.kind == kScriptedBadTemporary || failure.kind == kScriptedBadIndex;
    if (opaque() && plain_only) continue;
    for (int call = 0; call < calls[failure.callback]; ++call, ++life_cycles) {
      FailOnce(failure, call, expected);
      if (HasFailure()) return;
    }
  }
  RecordProperty("lives", life_cycles);
  EXPECT_GT(life_cycles, 20);
}

INSTANTIATE_TEST_SUITE_P(Graphs, DelegateSweep,
                         testing::Combine(testing::Range(0, 12), testing::Bool(), testing::Bool()),
                         [](const auto& param_info) {
                           static const std::vector<Row> rows = Rows();
                           return std::string(rows[std::get<0>(param_info.param)].name) +
                                  (std::get<1>(param_info.param) ? "_opaque" : "_plain") +
                                  (std::get<2>(param_info.param) ? "_hot" : "_tflite");
                         });

}  // namespace
}  // namespace deputy::delegate_sweep_test
