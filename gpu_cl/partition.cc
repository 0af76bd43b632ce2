// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/partition.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>

#include "compiler/dump.h"
#include "compiler/import.h"
#include "compiler/passes.h"
#include "gpu_cl/emit/adapt.h"
#include "gpu_cl/emit/traffic.h"
#include "gpu_cl/handles.h"
#include "gpu_cl/tune.h"

namespace deputy::gpu_cl {
namespace {

using compiler::Graph;

Storage StorageOf(const GpuDelegate& owner) {
  switch (owner.options.storage) {
    case StorageChoice::kImageBuffer:
      return Storage::kImageBuffer;
    case StorageChoice::kImage2d:
      return Storage::kImage2d;
    case StorageChoice::kImage2dArray:
      return Storage::kImage2dArray;
    case StorageChoice::kImage3d:
      return Storage::kImage3d;
    case StorageChoice::kAutomatic:
      return PreferredStorage(owner.context->device().profile, ClassOf(owner));
    default:
      return Storage::kBuffer;
  }
}

// Returns how products of quantised values are computed: by default with integers on processors and
// on devices with instructions for dot products.
compiler::Products ProductsFor(const GpuDelegate& owner) {
  const QuantizedArithmetic wanted = owner.options.quantized_arithmetic;
  const bool is_faster =
      ClassOf(owner) == DeviceClass::kCpu || owner.context->device().profile.dot_products;
  return wanted == QuantizedArithmetic::kInt8 ||
                 (wanted == QuantizedArithmetic::kAutomatic && is_faster)
             ? compiler::Products::kIntegers
             : compiler::Products::kReals;
}

// Adds the duration of its scope to a sum of nanoseconds.
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

// Roles of tensors for partitions that the calling thread creates; set by ScopedTensorRoles.
thread_local const TensorRoles* current_roles = nullptr;

// Determines which outputs stay on the device. Returns "" or an error message.
std::string ApplyRoles(const TensorRoles& roles, Partition* partition) {
  const Graph& graph = partition->executor->graph();
  for (compiler::ValueId id : graph.inputs) {
    partition->from_client.push_back(roles.produced.count(graph.value(id).tensor) == 0);
  }
  partition->kept.resize(graph.outputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const compiler::Value& value = graph.value(graph.outputs[i]);
    if (value.bytes() == 0) continue;
    if (roles.kept.count(value.tensor) == 0) continue;
    ClStatus status;
    partition->kept[i] = partition->executor->OutputBuffer(i, &status);
    if (!status.ok()) return status.text;
  }
  return "";
}

// Releases the cached executors. Returns false if there were none.
bool ReleaseKept(GpuDelegate* owner) {
  const size_t bytes = owner->kept.Clear();
  owner->device_bytes -= bytes;
  return bytes > 0;
}

// Returns an executor with a plan, fingerprinted if the options keep plans, so that it can be
// cached later.
std::unique_ptr<Executor> Planned(const GpuDelegate& owner, Graph graph,
                                  const ExecutorOptions& options) {
  std::unique_ptr<Executor> executor = Executor::Planned(owner.context, std::move(graph), options);
  if (owner.options.kept_plans > 0) executor->FingerprintConstants();
  return executor;
}

// Starts a new executor, or reuses a cached one.
ClStatus StartOrReuse(GpuDelegate* owner, Graph graph, const ExecutorOptions& options,
                      std::unique_ptr<Executor>* out_executor) {
  std::unique_ptr<Executor> executor = Planned(*owner, std::move(graph), options);
  if (owner->options.kept_plans > 0 && !owner->context->lost()) {
    if ((*out_executor = owner->kept.Take(*executor)) != nullptr) {
      (*out_executor)->TakeGraph(executor.get());
      return {};
    }
  }
  ClStatus status = executor->Start(options);
  if (IsOutOfMemory(status.code) && ReleaseKept(owner)) {
    graph = executor->graph();
    executor.reset();
    executor = Planned(*owner, std::move(graph), options);
    status = executor->Start(options);
  }
  if (!status.ok()) return status;
  if (owner->cache != nullptr) {
    ++(executor->is_from_cache() ? owner->costs.cache_hits : owner->costs.cache_misses);
  }
  owner->device_bytes += executor->device_bytes();
  *out_executor = std::move(executor);
  return status;
}

std::string Compile(TfLiteContext* context, const TfLiteDelegateParams& params,
                    Partition* partition) {
  Graph graph;
  const std::optional<Refusal> refusal =
      compiler::Import(context, params, &graph, ProductsFor(*partition->owner));
  if (refusal) return refusal->text;
  GpuDelegate& owner = *partition->owner;
  if (owner.options.describe) partition->texts.emplace_back("imported", compiler::ToText(graph));
  const bool stores_half = StoresHalf(owner);
  if (stores_half) graph.real_storage = kTfLiteFloat16;
  compiler::RunPasses(&graph, {});
  if (stores_half) compiler::UseHalfStorage(&graph);
  if (owner.options.describe) partition->texts.emplace_back("optimised", compiler::ToText(graph));
  ExecutorOptions options;
  options.device_class = ClassOf(owner);
  options.cache_token = owner.options.cache_token;
  options.cache = owner.cache;
  options.queue = owner.queue.get();
  options.profiling = owner.options.profiling;
  options.optimize = owner.options.optimize;
  options.source_dir = owner.options.source_dir;
  options.clblast = owner.clblast;
  options.storage = StorageOf(owner);
  options.overlapped_runs = OverlappedTasks(owner);
  if (const Tuning level = TuningLevel(owner.options); level != Tuning::kNone) {
    const ScopedTime time(&owner.costs.tune_ns);
    const DeviceProfile& profile = owner.context->device().profile;
    graph = AdaptGraph(std::move(graph), PlanOptionsFor(profile, options.device_class));
    options.choices = Tune(owner.context, graph, options, {level, owner.cache, {}});
  }
  const ScopedTime time(&owner.costs.compile_ns);
  const ClStatus status = StartOrReuse(&owner, std::move(graph), options, &partition->executor);
  if (!status.ok()) return status.text;
  if (owner.options.describe) {
    const Executor& executor = *partition->executor;
    partition->texts.emplace_back("kernels", TrafficText(executor.graph(), executor.plan()));
  }
  return ApplyRoles(current_roles == nullptr ? TensorRoles() : *current_roles, partition);
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  Partition* result = nullptr;
  const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
  GpuDelegate& owner = Of(params->delegate);
  const TfLiteStatus status = GuardedOn(owner, context, [&] {
    auto partition = std::make_unique<Partition>();
    partition->owner = &owner;
    const TfLiteIntArray& nodes = *params->nodes_to_replace;
    if (nodes.size > 0) partition->first_node = nodes.data[0];
    partition->failure = Compile(context, *params, partition.get());
    const std::lock_guard lock(owner.mutex);
    owner.partitions.push_back(partition.get());
    owner.peak_partitions = std::max(owner.peak_partitions, owner.partitions.size());
    result = partition.release();
    return kTfLiteOk;
  });
  return status == kTfLiteOk ? result : nullptr;
}

// Returns the capacity of the cache of executors when a partition of the graph is released; 0 if
// its executor is not to be kept.
size_t KeptPlans(const GpuDelegate& owner, const TfLiteContext* context) {
  if (owner.context->lost() || owner.resized.count(context) == 0) return 0;
  return static_cast<size_t>(owner.options.kept_plans) * owner.peak_partitions;
}

void Free(TfLiteContext* context, void* user_data) {
  auto* partition = static_cast<Partition*>(user_data);
  if (partition == nullptr || partition->owner->process.IsForked()) return;
  GpuDelegate& owner = *partition->owner;
  size_t kept_plans = 0;
  {
    const std::lock_guard lock(owner.mutex);
    std::erase(owner.partitions, partition);
    kept_plans = KeptPlans(owner, context);
  }
  partition->async_kernels.clear();
  for (const auto& buffer : partition->kept) {
    if (buffer != nullptr) owner.buffers.Forget(buffer.get());
  }
  if (partition->executor != nullptr && kept_plans > 0) {
    owner.device_bytes -= owner.kept.Keep(std::move(partition->executor), kept_plans);
  } else if (partition->executor != nullptr) {
    owner.device_bytes -= partition->executor->device_bytes();
  }
  delete partition;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(context, [&]() -> TfLiteStatus {
    const auto* partition = static_cast<const Partition*>(node->user_data);
    if (partition == nullptr) return Fail(context, kTfLiteError, "the partition was not compiled");
    if (!partition->failure.empty()) return Fail(context, kTfLiteError, partition->failure);
    const std::string forked = partition->owner->process.ForkError();
    if (!forked.empty()) return Fail(context, kTfLiteDelegateError, forked);
    const Graph& graph = partition->executor->graph();
    for (compiler::ValueId id : graph.outputs) {
      TfLiteIntArray* dims = MakeArray(graph.value(id).shape);
      if (dims == nullptr) return Fail(context, kTfLiteError, "out of memory");
      const TfLiteStatus status =
          context->ResizeTensor(context, &context->tensors[graph.value(id).tensor], dims);
      if (status != kTfLiteOk) return status;
    }
    return kTfLiteOk;
  });
}

// Determines the locations of inputs and outputs. Returns "" or an error message.
std::string FindLocations(TfLiteContext* context, const Partition& partition,
                          std::vector<InputLocation>* inputs,
                          std::vector<OutputLocation>* outputs) {
  const Graph& graph = partition.executor->graph();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const compiler::Value& value = graph.value(graph.inputs[i]);
    std::string problem = FindInput(*partition.owner, value.bytes(), partition.from_client[i],
                                    &context->tensors[value.tensor], &inputs->emplace_back());
    if (!problem.empty()) return problem;
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const TfLiteTensor& tensor = context->tensors[graph.value(graph.outputs[i]).tensor];
    OutputLocation& location = outputs->emplace_back();
    location.device = FindClientBuffer(*partition.owner, tensor);
    if (location.device == nullptr && partition.kept[i] == nullptr) location.host = tensor.data.raw;
  }
  return "";
}

// Returns run(executor). Retries after releasing cached executors if out of memory, then with
// fallback kernels.
template <typename Function>
ClStatus RunPartition(Partition* partition, const Function& run) {
  const std::lock_guard lock(partition->run_mutex);
  GpuDelegate* owner = partition->owner;
  Executor& executor = *partition->executor;
  const size_t before = executor.device_bytes();
  ClStatus status = run(&executor);
  if (IsOutOfMemory(status.code) && ReleaseKept(owner)) status = run(&executor);
  while (!status.ok() && executor.RetryWithFallbackKernels(&status)) status = run(&executor);
  owner->device_bytes += executor.device_bytes() - before;
  return status;
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  Partition& partition = *static_cast<Partition*>(node->user_data);
  return GuardedOn(*partition.owner, context, [&]() -> TfLiteStatus {
    std::vector<InputLocation> inputs;
    std::vector<OutputLocation> outputs;
    const std::string problem = FindLocations(context, partition, &inputs, &outputs);
    if (!problem.empty()) return Fail(context, kTfLiteError, problem);
    const ClStatus status = RunPartition(
        &partition, [&](Executor* executor) { return executor->Run(inputs, outputs); });
    if (!status.ok()) return Fail(context, kTfLiteError, status.text);
    const Graph& graph = partition.executor->graph();
    for (size_t i = 0; i < outputs.size(); ++i) {
      TfLiteTensor* tensor = &context->tensors[graph.value(graph.outputs[i]).tensor];
      const auto& buffer = outputs[i].device == nullptr ? partition.kept[i] : outputs[i].device;
      if (buffer == nullptr) {
        MarkOnHost(*partition.owner, tensor);
      } else if (!MarkOnDevice(partition.owner, buffer, tensor)) {
        return Fail(context, kTfLiteError, "no free buffer handle (65536 are in use)");
      }
    }
    return kTfLiteOk;
  });
}

}  // namespace

ClStatus SubmitRun(Partition* partition, std::span<const InputLocation> inputs,
                   std::span<const OutputLocation> outputs, std::span<const cl_event> waits,
                   Submission* submission) {
  return RunPartition(partition, [&](Executor* executor) {
    return executor->Submit(inputs, outputs, waits, submission);
  });
}

bool UsesOnDevice(const TfLiteNode& node, int tensor) {
  const auto* const partition = static_cast<const Partition*>(node.user_data);
  if (partition == nullptr || partition->executor == nullptr) return false;
  const Graph& graph = partition->executor->graph();
  const auto is_tensor = [&](compiler::ValueId id) {
    return graph.value(id).tensor == tensor && graph.value(id).bytes() > 0;
  };
  return std::any_of(graph.inputs.begin(), graph.inputs.end(), is_tensor) ||
         std::any_of(graph.outputs.begin(), graph.outputs.end(), is_tensor);
}

std::string ShareOutput(const TfLiteNode& node, int tensor, bool share) {
  auto* const partition = static_cast<Partition*>(node.user_data);
  if (!UsesOnDevice(node, tensor)) return "the partition does not write the tensor";
  const Graph& graph = partition->executor->graph();
  partition->shared.resize(graph.outputs.size());
  partition->kept.resize(graph.outputs.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (graph.value(graph.outputs[i]).tensor != tensor) continue;
    if (!share && partition->shared[i]) {
      if (partition->kept[i] != nullptr) partition->owner->buffers.Forget(partition->kept[i].get());
      partition->kept[i] = nullptr;
      partition->shared[i] = false;
    }
    if (!share || partition->kept[i] != nullptr) continue;
    ClStatus status;
    partition->kept[i] = partition->executor->OutputBuffer(i, &status);
    if (!status.ok()) return status.text;
    partition->shared[i] = true;
  }
  return "";
}

ScopedTensorRoles::ScopedTensorRoles(const TensorRoles* roles) { current_roles = roles; }

ScopedTensorRoles::~ScopedTensorRoles() { current_roles = nullptr; }

TfLiteRegistration PartitionRegistration() {
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &Prepare;
  registration.invoke = &Invoke;
  registration.custom_name = "TfLiteGpuDelegateV2";
  registration.version = 1;
  return registration;
}

}  // namespace deputy::gpu_cl
