// SPDX-License-Identifier: Apache-2.0
#include "bridges/nnapi/delegate.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bridges/nnapi/definition.h"
#include "bridges/nnapi/library.h"
#include "bridges/nnapi/operators.h"
#include "bridges/nnapi/partition.h"
#include "core/support/node_array.h"

namespace deputy::nnapi {
namespace {

struct NnapiDelegate {
  TfLiteDelegate base{};
  Engine engine;
  std::string device_names;
};

const Engine& EngineOf(const TfLiteDelegate* delegate) {
  return static_cast<const NnapiDelegate*>(delegate->data_)->engine;
}

// Runs `body` and converts exceptions to an error status: none may leave the library.
template <typename Body>
TfLiteStatus CatchExceptions(TfLiteContext* context, const Body& body) {
  try {
    return body();
  } catch (const std::exception& exception) {
    context->ReportError(context, "deputy_nnapi: %s", exception.what());
    return kTfLiteError;
  }
}

// ---- Support of nodes ---------------------------------------------------------------------------

// Returns for each node the reason why it is not supported, or an empty refusal.
TfLiteStatus CheckNodes(TfLiteContext* context, const Engine& engine, std::span<const int> nodes,
                        std::vector<Refusal>* out_refusals) {
  for (const int index : nodes) {
    TfLiteNode* node = nullptr;
    TfLiteRegistration* registration = nullptr;
    const TfLiteStatus status =
        context->GetNodeAndRegistration(context, index, &node, &registration);
    if (status != kTfLiteOk) return status;
    Definition definition(context, engine.devices.feature_level);
    AddNode(&definition, *node, *registration);
    out_refusals->push_back(definition.refusal());
  }
  return kTfLiteOk;
}

// Removes the nodes of all partitions except the `max_count` largest.
TfLiteStatus KeepLargest(TfLiteContext* context, size_t max_count, std::vector<int>* nodes) {
  std::span<const TfLiteDelegateParams> partitions;
  const TfLiteStatus status = PreviewPartitions(context, *nodes, &partitions);
  if (status != kTfLiteOk) return status;
  std::vector<const TfLiteIntArray*> replaced;
  replaced.reserve(partitions.size());
  for (const TfLiteDelegateParams& each : partitions) replaced.push_back(each.nodes_to_replace);
  std::stable_sort(replaced.begin(), replaced.end(),
                   [](const auto* a, const auto* b) { return a->size > b->size; });
  if (replaced.size() <= max_count) return kTfLiteOk;
  std::vector<int> kept;
  for (size_t i = 0; i < max_count; ++i) {
    kept.insert(kept.end(), replaced[i]->data, replaced[i]->data + replaced[i]->size);
  }
  std::sort(kept.begin(), kept.end());
  *nodes = std::move(kept);
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
  registration.custom_name = "DeputyNnapi";
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
    if (engine.options.max_partitions > 0 && !claimed.empty()) {
      status = KeepLargest(context, static_cast<size_t>(engine.options.max_partitions), &claimed);
      if (status != kTfLiteOk) return status;
    }
    if (claimed.empty()) return kTfLiteOk;
    const NodeArray nodes = MakeNodeArray(claimed);
    return context->ReplaceNodeSubsetsWithDelegateKernels(context, PartitionRegistration(),
                                                          nodes.get(), delegate);
  });
}

// ---- Reports ------------------------------------------------------------------------------------

std::string NamesOf(const Engine& engine) {
  std::string names;
  for (const ANeuralNetworksDevice* device : engine.devices.chosen) {
    const char* name = nullptr;
    const bool known =
        engine.library->functions.Device_getName(device, &name) == 0 && name != nullptr;
    names += (names.empty() ? "" : ", ") + std::string(known ? name : "an unnamed device");
  }
  return names.empty() ? "chosen by NNAPI" : names;
}

// Returns options that have no effect with this library and the other options, and why. disable_cpu
// is not among them.
std::vector<std::pair<const char*, const char*>> IgnoredOptions(const Engine& engine) {
  const Options& options = engine.options;
  const Functions& has = engine.library->functions;
  constexpr const char* kMissing = "this NNAPI library has no function for it";
  std::vector<std::pair<const char*, const char*>> ignored;
  const auto add = [&](bool condition, const char* name, const char* why) {
    if (condition) ignored.emplace_back(name, why);
  };
  add(has.Compilation_setPriority == nullptr, "execution_priority", kMissing);
  add(has.Model_relaxComputationFloat32toFloat16 == nullptr, "allow_fp16", kMissing);
  add(has.Burst_create == nullptr || has.Execution_burstCompute == nullptr, "use_burst_mode",
      kMissing);
  add(has.Compilation_setCaching == nullptr, "cache_dir", kMissing);
  add(options.cache_dir.empty(), "model_token", "it needs cache_dir");
  const bool one_device = engine.devices.chosen.size() == 1;
  constexpr const char* kOneDevice =
      "NNAPI supports time limits with a single device only: see accelerator_name";
  add(!one_device, "compilation_timeout_us", kOneDevice);
  add(!one_device, "execution_timeout_us", kOneDevice);
  add(one_device && has.Compilation_setTimeout == nullptr, "compilation_timeout_us", kMissing);
  add(one_device && has.Execution_setTimeout == nullptr, "execution_timeout_us", kMissing);
  add(true, "allow_dynamic_dimensions", "models are always compiled for each shape");
  add(true, "support_library_path", "drivers in separate libraries are not supported");
  return ignored;
}

}  // namespace

TfLiteStatus ReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                            DeputyOptionUseCallback callback, void* user_data) try {
  const auto& nnapi = *static_cast<const NnapiDelegate*>(delegate->data_);
  report->device = nnapi.device_names.c_str();
  report->precision =
      nnapi.engine.options.allow_fp16 ? "as in the model, fp16 allowed" : "as in the model";
  report->compile_ns = nnapi.engine.compile_ns;
  for (const auto& [name, why] : IgnoredOptions(nnapi.engine)) {
    const DeputyOptionUse use = {sizeof use, name, nullptr, kDeputyOptionIgnored, 0, why};
    callback(user_data, &use);
  }
  return kTfLiteOk;
} catch (const std::exception&) {
  return kTfLiteError;
}

TfLiteDelegate* CreateDelegate(const Options& options, std::string* out_error) {
  auto nnapi = std::make_unique<NnapiDelegate>();
  Engine& engine = nnapi->engine;
  engine.options = options;
  engine.library = OpenLibrary(options.library, out_error);
  if (engine.library == nullptr) return nullptr;
  *out_error = ChooseDevices(*engine.library, options.accelerator_name, options.disable_cpu,
                             &engine.devices);
  if (!out_error->empty()) return nullptr;
  nnapi->device_names = NamesOf(engine);
  nnapi->base.data_ = nnapi.get();
  nnapi->base.Prepare = &Apply;
  // Models are compiled for fixed shapes; after a resize the runtime applies the delegate again.
  nnapi->base.flags = kTfLiteDelegateFlagsNone;
  return &nnapi.release()->base;
}

void DestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete static_cast<NnapiDelegate*>(delegate->data_);
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

}  // namespace deputy::nnapi
