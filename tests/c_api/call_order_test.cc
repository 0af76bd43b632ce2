// SPDX-License-Identifier: Apache-2.0
//
// Calls functions of the C API in random order, also in states of an interpreter in which they
// fail. Every call may return an error; none may crash. Every seed is a sequence of calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "c_api/include/c_api_opaque.h"
#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/fuzz/random.h"
#include "tests/support/delegate_support.h"
#include "tests/support/owners.h"
#include "tests/support/test_interpreter.h"

namespace deputy::call_order_test {
namespace {

using fuzz::Random;

constexpr int kNodes = 6;

// A chain of nodes with a signature, and a subgraph that nothing calls.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  AddChain(&m, kNodes);
  m.AddSignature("main", {{"x", 0}}, {{"y", kNodes + 1}}, 0);
  m.AddSubgraph("other");
  AddChain(&m, 2);
  return m.Finish();
}

// An interpreter and what a client uses with it.
class Client {
 public:
  Client(const std::vector<uint8_t>& model, uint64_t seed)
      : random_(seed), delegates_(MakeDelegates()), t_(model, [this](auto* o) { Configure(o); }) {}

  void CallAny();
  int accepted() const { return accepted_; }
  int refused() const { return refused_; }

 private:
  static constexpr size_t kDelegates = 2;
  using Delegates = std::array<std::unique_ptr<Scripted>, kDelegates>;

  Delegates MakeDelegates() {
    Delegates delegates;
    for (auto& delegate : delegates) {
      std::set<int> claims;
      for (int node = 0; node < kNodes; ++node) {
        if (random_.OneIn(2)) claims.insert(node);
      }
      const int64_t flags =
          random_.OneIn(2) ? kTfLiteDelegateFlagsAllowDynamicTensors : kTfLiteDelegateFlagsNone;
      delegate = std::make_unique<Scripted>(claims, flags);
      (*delegate)->outputs_on_device = random_.OneIn(3);
    }
    return delegates;
  }
  void Configure(TfLiteInterpreterOptions* options);
  void Note(TfLiteStatus status) { ++(status == kTfLiteOk ? accepted_ : refused_); }

  TfLiteInterpreter* get() { return t_.get(); }
  int AnySubgraph() { return random_.OneIn(4) ? 1 : 0; }
  std::vector<int> AnyDims() { return {random_.Between(0, 3), random_.OneIn(4) ? 1 : 4}; }

  void Resize();
  void Invoke();
  void ApplyDelegate();
  void UseRunner();
  void UseOwnMemory();
  void ChangeGraph();
  void Query();

  Random random_;
  Delegates delegates_;
  TestInterpreter t_;
  Owned<TfLiteSignatureRunner> runner_;
  int accepted_ = 0, refused_ = 0;  // number of calls that returned Ok, and another status
  alignas(64) char memory_[3][4096] = {};
};

void Client::Configure(TfLiteInterpreterOptions* options) {
  TfLiteInterpreterOptionsEnableCancellation(options, random_.OneIn(2));
  DeputyInterpreterOptionsSetDelegatePolicy(
      options, random_.OneIn(2) ? kDeputyPolicyHot : kDeputyPolicyTfLite);
  DeputyInterpreterOptionsSetPreparedShapes(options, random_.Between(1, 3));
  TfLiteInterpreterOptionsSetNumThreads(options, random_.Between(-1, 3));
  for (auto& delegate : delegates_) {
    if (!random_.OneIn(6)) continue;
    TfLiteInterpreterOptionsAddDelegate(options,
                                        reinterpret_cast<TfLiteOpaqueDelegate*>(delegate->get()));
  }
}

void Client::Resize() {
  const std::vector<int> dims = AnyDims();
  const int subgraph = AnySubgraph();
  Note(DeputyInterpreterResizeInput(get(), subgraph, 0, dims.data(), 2, random_.OneIn(8)));
}

void Client::Invoke() {
  TfLiteTensor* const input = TfLiteInterpreterGetInputTensor(get(), 0);
  if (input != nullptr && input->data.raw != nullptr && random_.OneIn(2)) {
    std::fill_n(input->data.raw, input->bytes, char{0});
  }
  const TfLiteStatus status = TfLiteInterpreterInvoke(get());
  Note(status);
  if (status != kTfLiteOk) return;
  const TfLiteTensor* const output = TfLiteInterpreterGetOutputTensor(get(), 0);
  if (output == nullptr || output->data.raw == nullptr) return;
  volatile char last = 0;
  for (size_t i = 0; i < output->bytes; ++i) last = output->data.raw[i];
  static_cast<void>(last);
}

void Client::ApplyDelegate() {
  Scripted& delegate = *random_.Pick(delegates_);
  if (random_.OneIn(3)) {
    const int callback = random_.Between(0, kScriptedCallbackCount - 1);
    delegate->failure = random_.OneIn(2) ? kScriptedErrorStatus : kScriptedWrongShape;
    delegate->failing_callback = static_cast<ScriptedCallback>(callback);
    delegate->failing_call = delegate->calls[callback] + random_.Between(0, 2);
  }
  const int32_t subgraph = AnySubgraph();
  const TfLiteStatus status =
      random_.OneIn(2) ? TfLiteInterpreterModifyGraphWithDelegate(get(), delegate.get())
                       : DeputyInterpreterModifySubgraphs(get(), delegate.get(), &subgraph, 1);
  Note(status);
}

void Client::UseRunner() {
  if (runner_ == nullptr || random_.OneIn(6)) {
    runner_.reset(TfLiteInterpreterGetSignatureRunner(get(), "main"));
    return Note(runner_ == nullptr ? kTfLiteError : kTfLiteOk);
  }
  const std::vector<int> dims = AnyDims();
  switch (random_.Below(5)) {
    case 0:
      return Note(TfLiteSignatureRunnerResizeInputTensor(runner_.get(), "x", dims.data(), 2));
    case 1:
      return Note(TfLiteSignatureRunnerCancel(runner_.get()));
    case 2:
      runner_.reset();
      return Note(kTfLiteOk);
    case 3:
      return Note(TfLiteSignatureRunnerAllocateTensors(runner_.get()));
    default:
      return Note(TfLiteSignatureRunnerInvoke(runner_.get()));
  }
}

void Client::UseOwnMemory() {
  const int number = random_.Between(0, 2);
  const int tensors[] = {0, 3, kNodes + 1};
  const TfLiteCustomAllocation memory = {memory_[number], random_.OneIn(4) ? 8u : 4096u};
  const int subgraph = AnySubgraph();
  if (random_.OneIn(2)) {
    return Note(DeputyInterpreterClearCustomAllocations(get(), subgraph));
  }
  Note(TfLiteInterpreterSetCustomAllocationForTensor(get(), tensors[number], &memory, 0));
}

void Client::ChangeGraph() {
  const int subgraph = AnySubgraph();
  const int32_t tensor = random_.Between(0, kNodes + 1);
  std::vector<int32_t> plan;
  for (int node = 0; node < kNodes; ++node) {
    if (!random_.OneIn(8)) plan.push_back(node);
  }
  if (random_.OneIn(2)) std::reverse(plan.begin(), plan.end());
  switch (random_.Below(5)) {
    case 0:
      return Note(DeputyInterpreterSetInputs(get(), subgraph, &tensor, 1));
    case 1:
      return Note(DeputyInterpreterSetOutputs(get(), subgraph, &tensor, 1));
    case 2:
      return Note(DeputyInterpreterSetVariables(get(), subgraph, &tensor, 1));
    case 3:
      return Note(DeputyInterpreterAddTensors(get(), subgraph, 3, nullptr));
    default:
      return Note(DeputyInterpreterSetExecutionPlan(get(), subgraph, plan.data(),
                                                    static_cast<int32_t>(plan.size())));
  }
}

void Client::Query() {
  const int subgraph = AnySubgraph(), node = random_.Between(-1, kNodes + 3);
  DeputyNodeRun run{};
  run.struct_size = sizeof run;
  DeputyPartition partition{};
  partition.struct_size = sizeof partition;
  DeputyMemoryMap map{};
  map.struct_size = sizeof map;
  DeputyTensorMemory memory{};
  memory.struct_size = sizeof memory;
  DeputyInterpreterGetNodeRun(get(), subgraph, node, &run);
  DeputyInterpreterGetPartition(get(), subgraph, node, &partition);
  DeputyInterpreterGetMemoryMap(get(), subgraph, &map);
  DeputyInterpreterGetTensorMemory(get(), subgraph, random_.Below(10), &memory);
  DeputyInterpreterGetGraphDigest(get());
  Note(DeputyInterpreterEnsureReadable(get(), subgraph, node));
}

void Client::CallAny() {
  switch (random_.Below(16)) {
    case 0:
    case 1:
      return Note(TfLiteInterpreterAllocateTensors(get()));
    case 2:
    case 3:
    case 4:
      return Invoke();
    case 5:
      return Resize();
    case 6:
      return Note(DeputyInterpreterSetNumThreads(get(), random_.Between(-2, 3)));
    case 7:
      return ApplyDelegate();
    case 8:
      return Note(DeputyInterpreterRemoveDelegates(get()));
    case 9:
      return Note(TfLiteInterpreterCancel(get()));
    case 10:
      return UseRunner();
    case 11:
      return UseOwnMemory();
    case 12:
      return ChangeGraph();
    case 13:
      return Query();
    case 14:
      return Note(TfLiteInterpreterResetVariableTensors(get()));
    default:
      if (random_.OneIn(2)) {
        return Note(DeputyInterpreterReleaseNonPersistentMemory(get()));
      }
      const int subgraph = AnySubgraph();
      Note(DeputyInterpreterAllocateSubgraph(get(), subgraph));
      Note(DeputyInterpreterInvokeSubgraph(get(), subgraph));
  }
}

TEST(CallOrder, no_order_of_calls_crashes) {
  const std::vector<uint8_t> model = Model();
  int accepted = 0, refused = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Client client(model, seed);
    for (int call = 0; call < 60; ++call) client.CallAny();
    accepted += client.accepted();
    refused += client.refused();
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(refused, 2'000);
}

}  // namespace
}  // namespace deputy::call_order_test
