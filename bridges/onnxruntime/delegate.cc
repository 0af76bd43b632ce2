// SPDX-License-Identifier: Apache-2.0
#include "bridges/onnxruntime/delegate.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bridges/onnxruntime/definition.h"
#include "bridges/onnxruntime/library.h"
#include "bridges/onnxruntime/operators.h"
#include "bridges/onnxruntime/partition.h"
#include "core/support/node_array.h"

namespace deputy::onnxruntime {
namespace {

struct OrtDelegate {
  TfLiteDelegate base{};
  Engine engine;
  std::string device;
};

const Engine& EngineOf(const TfLiteDelegate* delegate) {
  return static_cast<const OrtDelegate*>(delegate->data_)->engine;
}

// Runs `body` and converts exceptions to an error status: none may leave the library.
template <typename Body>
TfLiteStatus CatchExceptions(TfLiteContext* context, const Body& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    context->ReportError(context, "deputy_onnxruntime: %s", exception.what());
    return kTfLiteError;
  }
}

// ---- Support of nodes ---------------------------------------------------------------------------

// Returns for each node the reason why it is not supported, or an empty refusal.
TfLiteStatus CheckNodes(TfLiteContext* context, const Engine& engine, std::span<const int> nodes,
                        std::vector<Refusal>* out_refusals) {
  const int last_node = nodes.empty() ? -1 : *std::max_element(nodes.begin(), nodes.end());
  const HalfConstants halves = FindHalfConstants(context, last_node);
  for (const int index : nodes) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    const TfLiteStatus status =
        context->GetNodeAndRegistration(context, index, &node, &registration);
    if (status != kTfLiteOk) return status;
    if (engine.library == nullptr) {
      out_refusals->push_back({kDeputyReasonOther, engine.problem});
      continue;
    }
    Definition definition(context, &halves, true);
    AddNode(&definition, *node, *registration);
    out_refusals->push_back(definition.refusal());
  }
  return kTfLiteOk;
}

// Removes the nodes of partitions of fewer than `min_count` nodes.
TfLiteStatus RemoveSmall(TfLiteContext* context, int min_count, std::vector<int>* nodes) {
  std::span<const TfLiteDelegateParams> partitions;
  const TfLiteStatus status = PreviewPartitions(context, *nodes, &partitions);
  if (status != kTfLiteOk) return status;
  nodes->clear();
  for (const TfLiteDelegateParams& each : partitions) {
    const TfLiteIntArray& replaced = *each.nodes_to_replace;
    if (replaced.size < min_count) continue;
    nodes->insert(nodes->end(), replaced.data, replaced.data + replaced.size);
  }
  std::sort(nodes->begin(), nodes->end());
  return kTfLiteOk;
}

// ---- The delegate's nodes -----------------------------------------------------------------------

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  Partition* created = nullptr;
  CatchExceptions(context, [&] {
    const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    auto partition = std::make_unique<Partition>(EngineOf(params.delegate), params);
    // The partition is prepared in init, because nodes are accessible only while the delegate is
    // applied.
    const TfLiteStatus status = partition->Prepare(context);
    if (status == kTfLiteOk) created = partition.release();
    return status;
  });
  return created;  // null makes the node's prepare fail
}

void Free(TfLiteContext*, void* data) { delete static_cast<Partition*>(data); }

template <TfLiteStatus (Partition::*function)(TfLiteContext*)>
TfLiteStatus Call(TfLiteContext* context, TfLiteNode* node) {
  auto* const partition = static_cast<Partition*>(node->user_data);
  if (partition == nullptr) return kTfLiteError;
  return CatchExceptions(context, [&] { return (partition->*function)(context); });
}

TfLiteRegistration PartitionRegistration() {
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &Call<&Partition::Prepare>;
  registration.invoke = &Call<&Partition::Invoke>;
  registration.custom_name = "DeputyOnnxRuntime";
  registration.version = 1;
  return registration;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  return CatchExceptions(context, [&]() -> TfLiteStatus {
    TfLiteIntArray* host_plan = nullptr;
    TfLiteStatus status = context->GetExecutionPlan(context, &host_plan);
    if (status != kTfLiteOk) return status;
    const Engine& engine = EngineOf(delegate);
    const std::vector<int> plan(host_plan->data, host_plan->data + host_plan->size);
    std::vector<Refusal> refusals;
    status = CheckNodes(context, engine, plan, &refusals);
    if (status != kTfLiteOk) return status;
    std::vector<int> claimed;
    for (size_t i = 0; i < plan.size(); ++i) {
      if (!refusals[i]) claimed.push_back(plan[i]);
    }
    if (engine.options.min_nodes > 1 && !claimed.empty()) {
      status = RemoveSmall(context, engine.options.min_nodes, &claimed);
      if (status != kTfLiteOk) return status;
    }
    if (claimed.empty()) return kTfLiteOk;
    const NodeArray nodes = MakeNodeArray(claimed);
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, PartitionRegistration(),
                                                          nodes.get(), delegate);
  });
}

}  // namespace

// ---- The delegate -------------------------------------------------------------------------------

TfLiteDelegate* CreateDelegate(const Options& options) {
  auto delegate = std::make_unique<OrtDelegate>();
  Engine& engine = delegate->engine;
  engine.options = options;
  engine.library = OpenLibrary(options.library, &engine.problem);
  delegate->device = engine.library == nullptr ? "none: " + engine.problem
                                               : "CPU, ONNX Runtime " + engine.library->version;
  delegate->base.data_ = delegate.get();
  delegate->base.Prepare = &Apply;
  // Sessions are created for fixed shapes; after a resize the runtime applies the delegate again.
  delegate->base.flags = kTfLiteDelegateFlagsNone;
  return &delegate.release()->base;
}

void DestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete static_cast<OrtDelegate*>(delegate->data_);
}

TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result) {
  return CatchExceptions(context, [&] {
    // The refusals are per thread, because several threads may query one delegate.
    thread_local std::vector<Refusal> refusals;
    refusals.clear();
    const TfLiteStatus status =
        CheckNodes(context, EngineOf(delegate), {result->nodes, result->node_count}, &refusals);
    if (status != kTfLiteOk) return status;
    for (size_t i = 0; i < refusals.size(); ++i) {
      result->supported[i] = refusals[i] ? 0 : 1;
      result->reason_of_node[i] = refusals[i].reason;
      if (refusals[i]) result->text_of_node[i] = refusals[i].text.c_str();
    }
    return kTfLiteOk;
  });
}

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback, void*) {
  const auto& ort = *static_cast<const OrtDelegate*>(delegate->data_);
  report->device = ort.device.c_str();
  report->precision = "as in the model";
  report->compile_ns = ort.engine.compile_ns;
  return kTfLiteOk;
}

}  // namespace deputy::onnxruntime
