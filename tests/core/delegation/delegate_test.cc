// SPDX-License-Identifier: Apache-2.0
//
// Tests delegates through the C API: the nodes they claim run in them, results equal the CPU's, and
// every refusal results in the status and state specified in abi.md 5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/nnapi_delegate_c_api.h"
#include "c_api/include/xnnpack_delegate.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/scripted_delegate.h"
#include "tests/support/test_interpreter.h"

namespace deputy::delegate_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kStatic = kTfLiteDelegateFlagsNone;
constexpr int64_t kDynamic = kTfLiteDelegateFlagsAllowDynamicTensors;

struct LongLivedScripted {
  explicit LongLivedScripted(int64_t flags = kStatic) : delegate(new ScriptedDelegate) {
    static std::vector<std::shared_ptr<ScriptedDelegate>> kept;
    kept.push_back(delegate);
    ScriptedDelegateInit(delegate.get(), flags);
  }
  TfLiteDelegate* base() { return &delegate->base; }
  ScriptedDelegate* operator->() { return delegate.get(); }
  // The delegate is never deleted, because it must outlive every interpreter to which it was
  // applied.
  std::shared_ptr<ScriptedDelegate> delegate;
};

TfLiteStatus Modify(TestInterpreter* t, TfLiteDelegate* delegate) {
  return TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate);
}

std::vector<float> RunOnce(TestInterpreter* t, const std::vector<float>& x) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, x);
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

const std::vector<float> kInput = {1, -2, 3, 4};

int DelegateNodes(TestInterpreter* t) {
  int count = 0;
  for (int i = 0; i < DeputyInterpreterGetNodeCount(t->get(), 0); ++i) {
    DeputyNodeInfo info{};
    info.struct_size = sizeof info;
    if (DeputyInterpreterGetNodeInfo(t->get(), 0, i, &info) != kTfLiteOk) return -1;
    count += info.plan_position >= 0 && info.builtin_code == kTfLiteBuiltinDelegate;
  }
  return count;
}

// ---- Partitions ---------------------------------------------------------------------------------

TEST(Delegate, every_mask_of_a_chain_equals_the_cpu_and_runs_in_the_delegate) {
  const std::vector<uint8_t> model = Chain(8);
  TestInterpreter cpu(model);
  const std::vector<float> expected = RunOnce(&cpu, kInput);
  for (int mask = 0; mask < 256; ++mask) {
    LongLivedScripted scripted;
    int runs = 0, taken = 0;
    for (int i = 0; i < 8; ++i) {
      scripted->claims[i] = (mask >> i & 1) != 0;
      taken += scripted->claims[i];
      runs += scripted->claims[i] && (i == 0 || !scripted->claims[i - 1]);
    }
    TestInterpreter t(model);
    ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk) << t.log();
    EXPECT_EQ(RunOnce(&t, kInput), expected) << "mask " << mask;
    EXPECT_EQ(scripted->partition_count, runs) << "mask " << mask;
    EXPECT_EQ(DelegateNodes(&t), runs) << "mask " << mask;
    EXPECT_EQ(scripted->nodes_computed, taken) << "mask " << mask;
  }
}

// A graph of random ADD and MUL nodes over earlier tensors, with two outputs.
std::vector<uint8_t> RandomGraph(std::mt19937* random, int* out_nodes) {
  const auto up_to = [&](size_t n) { return static_cast<int>((*random)() % n); };
  ModelBuilder m;
  std::vector<int> tensors;
  for (int i = 0; i < 2; ++i) tensors.push_back(m.AddTensor(kTfLiteFloat32, {1, 4}));
  tensors.push_back(m.AddConstant<float>(kTfLiteFloat32, {1, 4}, {0.5f, -1, 0.25f, 1}));
  *out_nodes = 1 + up_to(30);
  for (int n = 0; n < *out_nodes; ++n) {
    const int a = tensors[up_to(tensors.size())], b = tensors[up_to(tensors.size())];
    const int out = m.AddTensor(kTfLiteFloat32, {1, 4});
    const auto relu =
        up_to(3) == 0 ? schema::ActivationFunctionType::RELU : schema::ActivationFunctionType::NONE;
    if (up_to(2) == 0) {
      m.AddOp(kTfLiteBuiltinAdd, {a, b}, {out}, schema::CreateAddOptions(m.fbb(), relu));
    } else {
      m.AddOp(kTfLiteBuiltinMul, {a, b}, {out}, schema::CreateMulOptions(m.fbb(), relu));
    }
    tensors.push_back(out);
  }
  m.SetInputs({0, 1});
  m.SetOutputs({tensors.back(), tensors[3 + static_cast<size_t>(up_to(tensors.size() - 3))]});
  return m.Finish();
}

std::vector<std::vector<float>> RunTwoInputs(TestInterpreter* t) {
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  t->Set<float>(0, {0.5f, -0.25f, 1, 2});
  t->Set<float>(1, {-1, 0.75f, 0.5f, 0.125f});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return {t->Get<float>(0), t->Get<float>(1)};
}

TEST(Delegate, random_graphs_and_masks_equal_the_cpu) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    int nodes = 0;
    const std::vector<uint8_t> model = RandomGraph(&random, &nodes);
    TestInterpreter cpu(model);
    const auto expected = RunTwoInputs(&cpu);
    LongLivedScripted scripted(round % 2 == 0 ? kStatic : kDynamic);
    int taken = 0;
    for (int i = 0; i < nodes; ++i) taken += scripted->claims[i] = random() % 2 == 0;
    TestInterpreter t(model);
    ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk) << t.log();
    ASSERT_EQ(RunTwoInputs(&t), expected) << "round " << round;
    ASSERT_EQ(scripted->nodes_computed, taken) << "round " << round;
  }
}

TEST(Delegate, opaque_delegates_equal_the_cpu) {
  const std::vector<uint8_t> model = Chain(8);
  TestInterpreter cpu(model);
  const std::vector<float> expected = RunOnce(&cpu, kInput);
  for (int mask : {0, 1, 0x55, 0xf0, 0xff}) {
    LongLivedScripted scripted;
    int taken = 0;
    for (int i = 0; i < 8; ++i) taken += scripted->claims[i] = (mask >> i & 1) != 0;
    TfLiteOpaqueDelegate* opaque = ScriptedOpaqueDelegate(scripted.delegate.get());
    {
      TestInterpreter t(model);
      ASSERT_EQ(Modify(&t, reinterpret_cast<TfLiteDelegate*>(opaque)), kTfLiteOk) << t.log();
      EXPECT_EQ(RunOnce(&t, kInput), expected);
      EXPECT_EQ(scripted->nodes_computed, taken);
    }
    EXPECT_EQ(scripted->frees, scripted->calls[kScriptedInit]);
    TfLiteOpaqueDelegateDelete(opaque);
  }
}

TEST(Delegate, two_delegates_share_the_graph) {
  LongLivedScripted first, second;
  first->claims[0] = first->claims[1] = true;
  second->claim_all = true;
  TestInterpreter cpu(Chain(6)), t(Chain(6));
  ASSERT_EQ(Modify(&t, first.base()), kTfLiteOk);
  ASSERT_EQ(Modify(&t, second.base()), kTfLiteOk) << t.log();
  EXPECT_EQ(RunOnce(&t, kInput), RunOnce(&cpu, kInput));
  EXPECT_EQ(first->nodes_computed, 2);
  EXPECT_EQ(second->nodes_computed, 4);
}

TEST(Delegate, options_apply_in_order_and_a_failure_refuses_creation) {
  LongLivedScripted good, bad;
  good->claims[0] = true;
  bad->claim_all = true;
  bad->failure = kScriptedErrorStatus;
  const auto with = [&](std::vector<TfLiteDelegate*> delegates) {
    return [=](TfLiteInterpreterOptions* options) {
      for (TfLiteDelegate* delegate : delegates) {
        TfLiteInterpreterOptionsAddDelegate(options, delegate);
      }
    };
  };
  TestInterpreter t(Chain(4), with({good.base()}));
  ASSERT_NE(t.get(), nullptr) << t.log();
  RunOnce(&t, kInput);
  EXPECT_EQ(good->nodes_computed, 1);
  TestInterpreter refused(Chain(4), with({good.base(), bad.base()}));
  EXPECT_EQ(refused.get(), nullptr);
  EXPECT_TRUE(bad->failure_reached);
}

TEST(Delegate, delegates_that_claim_nothing_are_accepted) {
  TestInterpreter t(Chain(4));
  TfLiteDelegate* xnnpack = TfLiteXNNPackDelegateCreate(nullptr);
  TfLiteNnapiDelegateOptions options = TfLiteNnapiDelegateOptionsDefault();
  TfLiteDelegate* nnapi = TfLiteNnapiDelegateCreate(&options);
  EXPECT_EQ(Modify(&t, xnnpack), kTfLiteOk);
  EXPECT_EQ(Modify(&t, nnapi), kTfLiteOk);
  EXPECT_EQ(RunOnce(&t, {0, 0, 0, 0}).size(), 4u);
  TfLiteXNNPackDelegateDelete(xnnpack);
  TfLiteNnapiDelegateDelete(nnapi);
}

// ---- Failures: status, state, and what still runs -----------------------------------------------

struct FailureRow {
  const char* name;
  ScriptedCallback callback;
  ScriptedFailure failure;
};

class DelegateFailure : public testing::TestWithParam<FailureRow> {};

TEST_P(DelegateFailure, returns_delegate_error_and_the_cpu_continues) {
  for (int call = 0; call < 2; ++call) {
    TestInterpreter cpu(Chain(6)), t(Chain(6));
    const std::vector<float> expected = RunOnce(&cpu, kInput);
    LongLivedScripted scripted;
    scripted->claims[0] = scripted->claims[3] = true;  // the claimed nodes form two partitions
    scripted->failing_callback = GetParam().callback;
    scripted->failing_call = GetParam().callback == kScriptedPrepareDelegate ? 0 : call;
    scripted->failure = GetParam().failure;
    EXPECT_EQ(Modify(&t, scripted.base()), kTfLiteDelegateError);
    EXPECT_TRUE(scripted->failure_reached);
    EXPECT_THAT(t.log(), HasSubstr("Restored original execution plan after delegate application "
                                   "failure."));
    EXPECT_EQ(DelegateNodes(&t), 0);
    EXPECT_EQ(RunOnce(&t, kInput), expected);
    EXPECT_EQ(scripted->nodes_computed, 0);
    // The delegate can be applied to the graph once it no longer fails.
    scripted->failure = kScriptedNoFailure;
    ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk) << t.log();
    EXPECT_EQ(RunOnce(&t, kInput), expected);
    EXPECT_EQ(scripted->nodes_computed, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DelegateFailure,
    testing::Values(FailureRow{"prepare_returns_error", kScriptedPrepareDelegate,
                               kScriptedErrorStatus},
                    FailureRow{"bad_index", kScriptedPrepareDelegate, kScriptedBadIndex},
                    FailureRow{"init_sentinel", kScriptedInit, kScriptedInitSentinel},
                    FailureRow{"null_init", kScriptedInit, kScriptedNullInit},
                    FailureRow{"kernel_prepare", kScriptedPrepareKernel, kScriptedErrorStatus}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(DelegateErrors, a_failing_delegate_removes_earlier_ones) {
  LongLivedScripted first, second;
  first->claims[0] = true;
  second->claims[3] = true;
  second->failure = kScriptedErrorStatus;
  TestInterpreter t(Chain(6));
  ASSERT_EQ(Modify(&t, first.base()), kTfLiteOk);
  EXPECT_EQ(Modify(&t, second.base()), kTfLiteDelegateError);
  EXPECT_EQ(DelegateNodes(&t), 0);
  EXPECT_EQ(first->frees, first->calls[kScriptedInit]);
}

TEST(DelegateErrors, ignored_replace_failure_loses_no_node) {
  LongLivedScripted scripted;
  scripted->claims[0] = scripted->claims[3] = true;
  scripted->swallow_replace_error = true;
  scripted->failing_callback = kScriptedInit;
  scripted->failing_call = 1;
  scripted->failure = kScriptedInitSentinel;
  TestInterpreter cpu(Chain(6)), t(Chain(6));
  EXPECT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  EXPECT_EQ(scripted->replace_status, kTfLiteError);
  EXPECT_EQ(RunOnce(&t, kInput), RunOnce(&cpu, kInput));
}

TEST(DelegateErrors, dynamic_delegate_fails_at_allocate_with_the_kernels_status) {
  LongLivedScripted scripted(kDynamic);
  scripted->claim_all = true;
  scripted->failing_callback = kScriptedPrepareKernel;
  scripted->failure = kScriptedErrorStatus;
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_EQ(DelegateNodes(&t), 1);
  EXPECT_EQ(t.Allocate(), kTfLiteOk);
}

TEST(DelegateErrors, failing_invoke_is_an_error_and_the_graph_stays_delegated) {
  LongLivedScripted scripted;
  scripted->claim_all = true;
  scripted->failing_callback = kScriptedInvoke;
  scripted->failure = kScriptedErrorStatus;
  TestInterpreter cpu(Chain(4)), t(Chain(4));
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  t.Set<float>(0, kInput);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("(Scripted) failed to invoke."));
  EXPECT_EQ(DelegateNodes(&t), 1);
  EXPECT_EQ(RunOnce(&t, kInput), RunOnce(&cpu, kInput));
}

TEST(DelegateErrors, fallback_computes_on_the_cpu_and_returns_delegate_error) {
  LongLivedScripted scripted;
  scripted->claim_all = true;
  scripted->failing_callback = kScriptedInvoke;
  scripted->failing_call = 1;
  scripted->failure = kScriptedErrorStatus;
  TestInterpreter cpu(Chain(4));
  const std::vector<float> expected = RunOnce(&cpu, kInput);
  TestInterpreter t(Chain(4), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  EXPECT_EQ(RunOnce(&t, kInput), expected);
  t.Set<float>(0, kInput);
  EXPECT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_EQ(t.Get<float>(0), expected);
  EXPECT_EQ(DelegateNodes(&t), 0);
  EXPECT_EQ(t.Invoke(), kTfLiteOk);
}

TEST(DelegateErrors, without_fallback_a_failing_kernel_fails_the_inference) {
  LongLivedScripted scripted;
  scripted->claim_all = true;
  scripted->failing_callback = kScriptedInvoke;
  scripted->failing_call = 1;
  scripted->failure = kScriptedErrorStatus;
  TestInterpreter t(Chain(4), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, false);
  });
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  RunOnce(&t, kInput);
  t.Set<float>(0, kInput);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(DelegateNodes(&t), 1);
}

TEST(DelegateErrors, static_delegate_on_unresolved_operators_changes_nothing) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}), y = m.AddTensor(kTfLiteFloat32, {1, 4});
  const int z = m.AddTensor(kTfLiteFloat32, {1, 4});
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.AddCustomOp("Unknown", {y}, {z});
  m.SetInputs({x});
  m.SetOutputs({z});
  TestInterpreter t(m.Finish());
  LongLivedScripted scripted;
  scripted->claims[0] = true;
  EXPECT_EQ(Modify(&t, scripted.base()), kTfLiteUnresolvedOps);
  EXPECT_EQ(scripted->calls[kScriptedPrepareDelegate], 0);
}

TEST(DelegateErrors, static_delegate_on_dynamic_shapes_is_an_application_error) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {1}, "shape");
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {4}, "z");
  m.AddOp(kTfLiteBuiltinReshape, {x, shape}, {y});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x, shape});
  m.SetOutputs({z});
  const std::vector<uint8_t> model = m.Finish();
  LongLivedScripted scripted;
  scripted->claim_all = true;
  TestInterpreter t(model);
  EXPECT_EQ(Modify(&t, scripted.base()), kTfLiteApplicationError);
  EXPECT_EQ(scripted->calls[kScriptedPrepareDelegate], 0);
  t.Set<float>(0, kInput);
  t.Set<int>(1, {4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(2, -4, 6, 8));
  // A delegate with kTfLiteDelegateFlagsAllowDynamicTensors is applied, and prepared when the shape
  // is known.
  LongLivedScripted willing(kDynamic);
  willing->claim_all = true;
  TestInterpreter d(model);
  ASSERT_EQ(Modify(&d, willing.base()), kTfLiteOk) << d.log();
  ASSERT_EQ(d.Allocate(), kTfLiteOk) << d.log();
  d.Set<float>(0, kInput);
  d.Set<int>(1, {4});
  ASSERT_EQ(d.Invoke(), kTfLiteOk) << d.log();
  EXPECT_THAT(d.Get<float>(0), ElementsAre(2, -4, 6, 8));
  EXPECT_EQ(willing->nodes_computed, 1);
}

// ---- Undo and redo ------------------------------------------------------------------------------

TEST(DelegateLifetime, resize_undoes_and_allocate_redoes_without_growth) {
  LongLivedScripted scripted;
  scripted->claims[1] = scripted->claims[2] = true;
  TestInterpreter cpu(Chain(6)), t(Chain(6));
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  const int nodes_at_first = DeputyInterpreterGetNodeCount(t.get(), 0);
  for (int round = 0; round < 100; ++round) {
    const std::vector<int> dims = {1 + round % 2, 4};
    ASSERT_EQ(t.Resize(0, dims), kTfLiteOk);
    ASSERT_EQ(cpu.Resize(0, dims), kTfLiteOk);
    const std::vector<float> x(4 * static_cast<size_t>(dims[0]), 1.5f);
    // The constant has one row; ADD and MUL broadcast it, but the script's kernels do not.
    if (dims[0] == 1) {
      ASSERT_EQ(RunOnce(&t, x), RunOnce(&cpu, x));
    } else {
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    }
    ASSERT_EQ(DeputyInterpreterGetNodeCount(t.get(), 0), nodes_at_first);
    ASSERT_EQ(DelegateNodes(&t), 1);
  }
  EXPECT_EQ(scripted->calls[kScriptedPrepareDelegate], 100);
  EXPECT_EQ(scripted->frees, scripted->calls[kScriptedInit] - 1);
}

TEST(DelegateLifetime, resize_to_the_same_shape_keeps_the_delegate) {
  LongLivedScripted scripted;
  scripted->claim_all = true;
  TestInterpreter t(Chain(4));
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {1, 4}), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(scripted->calls[kScriptedPrepareDelegate], 1);
  EXPECT_EQ(scripted->frees, 0);
}

TEST(DelegateLifetime, every_kernel_is_freed_once) {
  LongLivedScripted scripted;
  scripted->claims[0] = scripted->claims[2] = scripted->claims[4] = true;
  {
    TestInterpreter t(Chain(6));
    ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
    RunOnce(&t, kInput);
  }
  EXPECT_EQ(scripted->calls[kScriptedInit], 3);
  EXPECT_EQ(scripted->frees, 3);
}

// ---- Buffer handles -----------------------------------------------------------------------------

TEST(DelegateHandles, stale_tensors_are_copied_once_where_the_cpu_reads_them) {
  LongLivedScripted scripted;
  scripted->claims[0] = scripted->claims[1] = true;  // four nodes on the CPU follow
  scripted->outputs_on_device = true;
  TestInterpreter cpu(Chain(6));
  const std::vector<float> expected = RunOnce(&cpu, kInput);
  {
    TestInterpreter t(Chain(6));
    ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk) << t.log();
    EXPECT_EQ(RunOnce(&t, kInput), expected);
    EXPECT_EQ(scripted->copies_from_handle, 1);
    EXPECT_EQ(scripted->handles_freed, 0);
  }
  EXPECT_EQ(scripted->handles_freed, 1);
}

TEST(DelegateHandles, outputs_stay_on_the_device_if_the_client_allows_it) {
  LongLivedScripted scripted;
  scripted->claim_all = true;
  scripted->outputs_on_device = true;
  TestInterpreter cpu(Chain(4)), t(Chain(4));
  const std::vector<float> expected = RunOnce(&cpu, kInput);
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  TfLiteSetAllowBufferHandleOutput(t.get(), true);
  t.Set<float>(0, kInput);
  ASSERT_EQ(t.Invoke(), kTfLiteOk);
  EXPECT_EQ(scripted->copies_from_handle, 0);
  EXPECT_NE(t.Get<float>(0), expected);
  const int output = TfLiteInterpreterGetOutputTensorIndex(t.get(), 0);
  ASSERT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), output), kTfLiteOk);
  EXPECT_EQ(t.Get<float>(0), expected);
  ASSERT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), output), kTfLiteOk);
  EXPECT_EQ(scripted->copies_from_handle, 1);
}

TEST(DelegateHandles, removal_clears_stale_flags) {
  // Upstream keeps the buffer handle of a removed delegate, and later overwrites a CPU result with
  // old device data (abi.md F).
  LongLivedScripted scripted;
  scripted->claim_all = true;
  scripted->outputs_on_device = true;
  scripted->failing_callback = kScriptedInvoke;
  scripted->failing_call = 1;
  scripted->failure = kScriptedErrorStatus;
  TestInterpreter cpu(Chain(4));
  TestInterpreter t(Chain(4), [](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsSetEnableDelegateFallback(options, true);
  });
  ASSERT_EQ(Modify(&t, scripted.base()), kTfLiteOk);
  TfLiteSetAllowBufferHandleOutput(t.get(), true);
  t.Set<float>(0, {9, 9, 9, 9});
  ASSERT_EQ(t.Invoke(), kTfLiteOk);  // the output's host data is stale
  t.Set<float>(0, kInput);
  ASSERT_EQ(t.Invoke(), kTfLiteDelegateError);
  EXPECT_EQ(t.Get<float>(0), RunOnce(&cpu, kInput));
  EXPECT_EQ(scripted->copies_from_handle, 0);
}

}  // namespace
}  // namespace deputy::delegate_test
