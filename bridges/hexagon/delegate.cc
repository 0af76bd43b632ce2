// SPDX-License-Identifier: Apache-2.0
#include "bridges/hexagon/delegate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bridges/hexagon/operators.h"
#include "bridges/hexagon/partition.h"
#include "deputy/delegate_helper.h"

namespace deputy::hexagon {
namespace {

struct HexagonDelegate {
  TfLiteDelegate base{};
  Options options;
  std::shared_ptr<const Library> library;
  std::atomic<int64_t> compile_ns = 0;  // sum over all partitions
  std::mutex mutex;                     // guards `partitions`
  std::vector<const Partition*> partitions;
};

HexagonDelegate& Of(const TfLiteDelegate* delegate) {
  return *static_cast<HexagonDelegate*>(delegate->data_);
}

// RAII guard: adds the duration of its scope to a sum in nanoseconds.
class ScopedTime {
 public:
  explicit ScopedTime(std::atomic<int64_t>* sum) : sum_(sum) {}
  ~ScopedTime() {
    const auto took = std::chrono::steady_clock::now() - start_;
    *sum_ += std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
  }
  ScopedTime(const ScopedTime&) = delete;
  ScopedTime& operator=(const ScopedTime&) = delete;

 private:
  std::atomic<int64_t>* sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Runs `body` and converts exceptions to an error status: none may leave the library.
template <typename Body>
TfLiteStatus CatchExceptions(TfLiteContext* context, const Body& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    context->ReportError(context, "Hexagon: %s", exception.what());
    return kTfLiteError;
  }
}

// ---- The delegate's nodes -----------------------------------------------------------------------

struct Kernel {
  HexagonDelegate* delegate;
  std::unique_ptr<Partition> partition;
};

// Returns the kernel of a node; null if init failed, in which case the node's prepare returns an
// error.
Kernel* KernelOf(void* data) { return static_cast<Kernel*>(data); }

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  Kernel* created = nullptr;
  (void)CatchExceptions(context, [&] {
    const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    HexagonDelegate& delegate = Of(params.delegate);
    const ScopedTime time(&delegate.compile_ns);
    auto kernel = std::make_unique<Kernel>();
    kernel->delegate = &delegate;
    kernel->partition = Partition::Create(context, params, delegate.library, delegate.options);
    if (kernel->partition == nullptr) return kTfLiteError;
    const std::lock_guard lock(delegate.mutex);
    delegate.partitions.push_back(kernel->partition.get());
    created = kernel.release();
    return kTfLiteOk;
  });
  return created;
}

void Free(TfLiteContext*, void* data) {
  const std::unique_ptr<Kernel> kernel(KernelOf(data));
  if (kernel == nullptr) return;
  const std::lock_guard lock(kernel->delegate->mutex);
  std::erase(kernel->delegate->partitions, kernel->partition.get());
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  Kernel* const kernel = KernelOf(node->user_data);
  if (kernel == nullptr) return kTfLiteError;
  const ScopedTime time(&kernel->delegate->compile_ns);
  return CatchExceptions(context, [&] { return kernel->partition->Prepare(context); });
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  Kernel* const kernel = KernelOf(node->user_data);
  if (kernel == nullptr) return kTfLiteError;
  return CatchExceptions(context, [&] { return kernel->partition->Invoke(context); });
}

TfLiteRegistration PartitionRegistration() {
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &Prepare;
  registration.invoke = &Invoke;
  registration.custom_name = "DeputyHexagon";
  registration.version = 1;
  return registration;
}

// ---- Choosing nodes -----------------------------------------------------------------------------

bool IsSupported(TfLiteContext* context, TfLiteNode* node, const TfLiteRegistration* registration,
                 void*, char* reason, size_t reason_size) {
  const Refusal refusal = CheckNode({context, node, registration});
  if (refusal.reason == 0) return true;
  std::snprintf(reason, reason_size, "%s", refusal.text.c_str());
  return false;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  DeputyPartitionHelper helper;
  DeputyPartitionHelperInit(&helper, context);
  const TfLiteStatus status = CatchExceptions(context, [&] {
    TfLiteStatus done = DeputyPartitionHelperPartition(&helper, &IsSupported, nullptr, 0, INT_MAX);
    if (done != kTfLiteOk || helper.partition_count == 0) return done;
    const Options& options = Of(delegate).options;
    TfLiteIntArray* nodes = DeputyPartitionHelperLargest(&helper, options.max_delegated_partitions,
                                                         options.min_nodes_per_partition);
    if (nodes == nullptr) return kTfLiteError;
    if (nodes->size > 0) {
      done = context->ReplaceNodeSubsetsWithDelegateKernels(context, PartitionRegistration(), nodes,
                                                            delegate);
    }
    DeputyIntArrayFree(nodes);
    return done;
  });
  DeputyPartitionHelperFree(&helper);
  return status;
}

}  // namespace

TfLiteDelegate* CreateDelegate(const Options& options, std::shared_ptr<const Library> library) {
  auto created = std::make_unique<HexagonDelegate>();
  created->options = options;
  created->library = std::move(library);
  created->base.data_ = created.get();
  created->base.Prepare = &Apply;
  // A graph of the DSP has fixed shapes, so that a resize rebuilds it.
  created->base.flags = kTfLiteDelegateFlagsNone;
  return &created.release()->base;
}

void DestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete &Of(delegate);
}

TfLiteStatus GetSupport(TfLiteDelegate*, TfLiteContext* context, DeputySupportResult* result) {
  return CatchExceptions(context, [&] {
    // The refusals are per thread, because several threads may query one delegate.
    thread_local std::vector<Refusal> refusals;
    refusals.assign(result->node_count, {});
    for (size_t i = 0; i < result->node_count; ++i) {
      TfLiteNode* node = nullptr;
      TfLiteRegistration* registration = nullptr;
      if (context->GetNodeAndRegistration(context, result->nodes[i], &node, &registration) !=
          kTfLiteOk) {
        return kTfLiteError;
      }
      refusals[i] = CheckNode({context, node, registration});
      result->supported[i] = refusals[i].reason == 0 ? 1 : 0;
      result->reason_of_node[i] = refusals[i].reason;
      if (result->supported[i] == 0) result->text_of_node[i] = refusals[i].text.c_str();
    }
    return kTfLiteOk;
  });
}

TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data) {
  HexagonDelegate& hexagon = Of(delegate);
  const std::lock_guard lock(hexagon.mutex);
  for (const Partition* partition : hexagon.partitions) {
    if (partition->text().empty()) continue;
    callback(user_data, partition->first_node(), "graph", partition->text().c_str());
  }
  return kTfLiteOk;
}

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback, void*) {
  report->device = "Hexagon DSP";
  report->precision = "8 bits, as in the model";
  report->compile_ns = Of(delegate).compile_ns;
  return kTfLiteOk;
}

}  // namespace deputy::hexagon
