// SPDX-License-Identifier: Apache-2.0
#include "bridges/cpu/delegate.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "bridges/cpu/choose.h"
#include "bridges/cpu/partition.h"
#include "core/base/guard.h"
#include "core/base/processors.h"
#include "core/base/thread_pool.h"

namespace deputy::cpu {
namespace {

struct CpuDelegate {
  TfLiteDelegate base{};
  Options options;
  std::mutex mutex;  // guards the members below
  // Thread pools by their number of threads; interpreters with the same number share one.
  std::map<int, std::shared_ptr<ThreadPool>> pools;
};

CpuDelegate& Of(const TfLiteDelegate* delegate) {
  return *static_cast<CpuDelegate*>(delegate->data_);
}

// Runs `body` and converts exceptions to an error status: none may leave the library.
template <typename Body>
TfLiteStatus CatchExceptions(TfLiteContext* context, Body&& body) {
  const auto out_of_memory = [&] {
    context->ReportError(context, "deputy_cpu: out of memory");
    return kTfLiteError;
  };
  return Guard(out_of_memory, std::forward<Body>(body));
}

std::shared_ptr<ThreadPool> PoolFor(const TfLiteContext& context, CpuDelegate* cpu) {
  const int requested =
      cpu->options.num_threads > 0 ? cpu->options.num_threads : context.recommended_num_threads;
  const int threads = std::clamp(requested, 1, MaxUsefulThreads());
  const std::lock_guard lock(cpu->mutex);
  std::shared_ptr<ThreadPool>& pool = cpu->pools[threads];
  if (pool == nullptr) pool = std::make_shared<ThreadPool>(threads);
  return pool;
}

// ---- The delegate's nodes -----------------------------------------------------------------------

// Returns the partition of a node; null if init failed. A host that does not recognise
// TfLiteKernelInitFailed() passes it on as node data.
Partition* PartitionOf(void* data) {
  return data == TfLiteKernelInitFailed() ? nullptr : static_cast<Partition*>(data);
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  Partition* created = nullptr;
  CatchExceptions(context, [&] {
    const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    CpuDelegate& cpu = Of(params.delegate);
    created = Partition::Create(context, params, cpu.options, PoolFor(*context, &cpu)).release();
    return kTfLiteOk;
  });
  return created == nullptr ? TfLiteKernelInitFailed() : created;
}

void Free(TfLiteContext*, void* data) { delete PartitionOf(data); }

template <TfLiteStatus (Partition::*function)(TfLiteContext*)>
TfLiteStatus Call(TfLiteContext* context, TfLiteNode* node) {
  Partition* const partition = PartitionOf(node->user_data);
  if (partition == nullptr) return kTfLiteError;
  return CatchExceptions(context, [&] { return (partition->*function)(context); });
}

TfLiteRegistration PartitionRegistration() {
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &Call<&Partition::Prepare>;
  registration.invoke = &Call<&Partition::Invoke>;
  registration.custom_name = "DeputyCpu";
  registration.version = 1;
  return registration;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  return CatchExceptions(context, [&]() -> TfLiteStatus {
    TfLiteIntArray* host_plan = nullptr;
    TfLiteStatus status = context->GetExecutionPlan(context, &host_plan);
    if (status != kTfLiteOk) return status;
    const std::vector<int> plan(host_plan->data, host_plan->data + host_plan->size);
    std::vector<NodeChoice> choices;
    status = ChooseNodes(context, plan, Of(delegate).options, &choices);
    if (status != kTfLiteOk) return status;
    std::vector<int> claimed;
    for (const NodeChoice& choice : choices) {
      if (choice.reason == kDeputyReasonNone) claimed.push_back(choice.node);
    }
    if (claimed.empty()) return kTfLiteOk;
    TfLiteIntArray* nodes = TfLiteIntArrayCreate(static_cast<int>(claimed.size()));
    if (nodes == nullptr) return kTfLiteError;
    std::copy(claimed.begin(), claimed.end(), nodes->data);
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, PartitionRegistration(), nodes,
                                                            delegate);
    TfLiteIntArrayFree(nodes);
    return status;
  });
}

}  // namespace

TfLiteDelegate* CreateDelegate(const Options& options) {
  auto cpu = std::make_unique<CpuDelegate>();
  cpu->options = options;
  cpu->base.data_ = cpu.get();
  cpu->base.Prepare = &Apply;
  // The partitions infer shapes themselves, so that a resize keeps what was built and packed.
  cpu->base.flags = kTfLiteDelegateFlagsAllowDynamicTensors;
  return &cpu.release()->base;
}

void DestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete &Of(delegate);
}

TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result) {
  return CatchExceptions(context, [&] {
    // The choices are per thread, because several threads may query one delegate.
    thread_local std::vector<NodeChoice> choices;
    choices.clear();
    const TfLiteStatus status =
        ChooseNodes(context, {result->nodes, result->node_count}, Of(delegate).options, &choices);
    if (status != kTfLiteOk) return status;
    for (size_t i = 0; i < choices.size(); ++i) {
      result->supported[i] = choices[i].reason == kDeputyReasonNone ? 1 : 0;
      result->reason_of_node[i] = choices[i].reason;
      if (result->supported[i] == 0) result->text_of_node[i] = choices[i].text.c_str();
    }
    return kTfLiteOk;
  });
}

}  // namespace deputy::cpu
