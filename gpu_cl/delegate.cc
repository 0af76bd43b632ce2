// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/delegate.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "gpu_cl/choose.h"
#include "gpu_cl/device/client_objects.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/device/program_cache.h"
#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/handles.h"
#include "gpu_cl/partition.h"
#include "gpu_cl/tune.h"

namespace deputy::gpu_cl {

// Returns an array that the runtime frees with free(); null if out of memory.
TfLiteIntArray* MakeArray(const std::vector<int>& values) {
  auto* array =
      static_cast<TfLiteIntArray*>(malloc(sizeof(TfLiteIntArray) + values.size() * sizeof(int)));
  if (array == nullptr) return nullptr;
  array->size = static_cast<int>(values.size());
  if (!values.empty()) memcpy(array->data, values.data(), values.size() * sizeof(int));
  return array;
}

DeviceClass ClassOf(const GpuDelegate& gpu) {
  switch (gpu.options.device_class) {
    case ClassChoice::kCpu:
      return DeviceClass::kCpu;
    case ClassChoice::kDesktop:
      return DeviceClass::kDesktop;
    case ClassChoice::kMobile:
      return DeviceClass::kMobile;
    default:
      return gpu.context->device().profile.device_class;
  }
}

bool StoresHalf(const GpuDelegate& gpu) {
  const Precision precision = gpu.options.precision;
  return precision == Precision::kFp16 ||
         (precision == Precision::kAutomatic && ClassOf(gpu) != DeviceClass::kCpu);
}

size_t OverlappedTasks(const GpuDelegate& gpu) {
  // One task is uploaded, one is computed, and one is downloaded.
  constexpr size_t kStages = 3;
  if (gpu.queue) return 0;
  if (gpu.options.overlapped_tasks >= 0) return static_cast<size_t>(gpu.options.overlapped_tasks);
  return gpu.context->device().profile.kind == DeviceKind::kDiscreteGpu ? kStages : 0;
}

namespace {

// Determines which outputs of `nodes` stay on the device: those that `nodes` and no other nodes
// read; with `outputs_too` also those without consumers, which are outputs of the graph. The
// runtime copies an output of the graph to the host at the end, unless the client allows buffer
// handles of outputs.
TensorRoles FindRoles(TfLiteContext* context, const std::vector<int>& plan,
                      const std::vector<int>& nodes, bool outputs_too) {
  const std::set<int> claimed(nodes.begin(), nodes.end());
  TensorRoles roles;
  std::set<int> claimed_outputs, read, read_by_others;
  for (int index : plan) {
    TfLiteNode* node;
    TfLiteRegistration* registration;
    if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
      continue;
    }
    const bool is_claimed = claimed.count(index) != 0;
    const int* const inputs = node->inputs->data;
    (is_claimed ? read : read_by_others).insert(inputs, inputs + node->inputs->size);
    const int* const outputs = node->outputs->data;
    roles.produced.insert(outputs, outputs + node->outputs->size);
    if (is_claimed) claimed_outputs.insert(outputs, outputs + node->outputs->size);
  }
  for (int tensor : claimed_outputs) {
    if (read_by_others.count(tensor) != 0) continue;
    if (outputs_too || read.count(tensor) != 0) roles.kept.insert(tensor);
  }
  return roles;
}

// Records graphs. A graph to which the delegate is applied again was resized or reallocated, so the
// executors that it releases next are worth keeping. Entries are not removed one by one: if another
// graph later has the same address, that only costs memory.
void RecordGraph(const TfLiteContext* context, GpuDelegate* gpu) {
  constexpr size_t kMaxRecords = 1000;
  const std::lock_guard lock(gpu->mutex);
  if (gpu->graphs.size() > kMaxRecords) gpu->graphs.clear();
  if (gpu->resized.size() > kMaxRecords) gpu->resized.clear();
  if (!gpu->graphs.insert(context).second) gpu->resized.insert(context);
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  GpuDelegate& gpu = Of(delegate);
  return GuardedOn(gpu, context, [&]() -> TfLiteStatus {
    if (gpu.context == nullptr) return Fail(context, kTfLiteDelegateError, gpu.failure);
    RecordGraph(context, &gpu);
    TfLiteIntArray* given;
    TfLiteStatus status = context->GetExecutionPlan(context, &given);
    if (status != kTfLiteOk) return status;
    const std::vector<int> plan(given->data, given->data + given->size);
    std::vector<NodeChoice> choices;
    status = ChooseNodes(gpu, context, plan, &choices);
    if (status != kTfLiteOk) return status;
    std::vector<int> nodes;
    for (const NodeChoice& choice : choices) {
      if (!choice.refusal) nodes.push_back(choice.node);
    }
    status = KeepBest(gpu, context, &nodes);
    if (status != kTfLiteOk) return status;
    const TensorRoles roles = FindRoles(context, plan, nodes, gpu.options.keep_outputs);
    const ScopedTensorRoles in_force(&roles);
    TfLiteIntArray* claimed = MakeArray(nodes);
    if (claimed == nullptr) return Fail(context, kTfLiteError, "out of memory");
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, PartitionRegistration(),
                                                            claimed, delegate);
    free(claimed);
    return status;
  });
}

}  // namespace

// ---- Creation and destruction -------------------------------------------------------------------

namespace {

// Finds or creates the context, and adopts the client's queue if there is one.
ClStatus Open(const std::shared_ptr<const ClApi>& api, const Options& options, GpuDelegate* gpu) {
  const std::string forked = StartDrivers();
  if (!forked.empty()) return {CL_DEVICE_NOT_AVAILABLE, forked};
  const ClientObjects client = {static_cast<cl_context>(options.context),
                                static_cast<cl_command_queue>(options.queue)};
  if (client.any()) {
    return AdoptClientObjects(api, client, options.device, options.profiling, &gpu->context,
                              &gpu->queue);
  }
  std::vector<Device> devices;
  ClStatus status = ListDevices(*api, &devices);
  Device device;
  if (status.ok()) status = ChooseDevice(devices, options.device, &device);
  if (status.ok()) gpu->context = ContextRegistry::Process().Acquire(api, device, &status);
  return status;
}

}  // namespace

TfLiteDelegate* CreateDelegateOn(std::shared_ptr<const ClApi> api, const Options& options,
                                 std::string* out_error) {
  auto gpu = std::make_unique<GpuDelegate>();
  const ClStatus status = Open(api, options, gpu.get());
  if (!status.ok()) {
    *out_error = status.text;
    return nullptr;
  }
  gpu->options = options;
  if (!options.cache_dir.empty()) {
    // The cache is optional: a failure to open it is only reported.
    const auto bytes = static_cast<uint64_t>(options.cache_max_mb) << 20;
    gpu->cache = ProgramCache::Open(options.cache_dir, bytes, &gpu->cache_problem);
  }
  std::string tried;  // ignored: CLBlast is optional
  if (TuningLevel(options) != Tuning::kNone &&
      IsInClblastDatabase(gpu->context->device().profile)) {
    gpu->clblast = LoadClblast(&tried);
  }
  gpu->delegate.data_ = gpu.get();
  gpu->delegate.Prepare = &Apply;
  SetHandleFunctions(&gpu->delegate);
  gpu->delegate.flags =
      options.profiling ? kTfLiteDelegateFlagsPerOperatorProfiling : kTfLiteDelegateFlagsNone;
  return &gpu.release()->delegate;
}

TfLiteDelegate* CreateDelegate(const Options& options, std::string* out_error) {
  const LoadedCl loaded = LoadCl();
  if (loaded.api == nullptr) {
    *out_error = "no OpenCL: " + loaded.tried;
    return nullptr;
  }
  return CreateDelegateOn(loaded.api, options, out_error);
}

TfLiteDelegate* CreateFailingDelegate(const std::string& failure) {
  auto gpu = std::make_unique<GpuDelegate>();
  gpu->failure = failure;
  gpu->delegate.data_ = gpu.get();
  gpu->delegate.Prepare = &Apply;
  gpu->delegate.flags = kTfLiteDelegateFlagsNone;
  return &gpu.release()->delegate;
}

void DestroyDelegate(TfLiteDelegate* delegate) {
  if (delegate == nullptr || Of(delegate).process.IsForked()) return;
  delete &Of(delegate);
}

// ---- Reports ------------------------------------------------------------------------------------

TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result) {
  const GpuDelegate& gpu = Of(delegate);
  return GuardedOn(gpu, context, [&] {
    // The texts are per thread, because several threads may query one delegate.
    thread_local std::vector<std::string> texts;
    texts.assign(result->node_count, "");
    std::vector<NodeChoice> choices;
    const TfLiteStatus status =
        ChooseNodes(gpu, context, {result->nodes, result->node_count}, &choices);
    if (status != kTfLiteOk) return status;
    for (size_t i = 0; i < result->node_count; ++i) {
      result->supported[i] = choices[i].refusal ? 0 : 1;
      result->cost_ns_of_node[i] = choices[i].device_ns;
      if (!choices[i].refusal) continue;
      result->reason_of_node[i] = choices[i].refusal->reason;
      texts[i] = std::move(choices[i].refusal->text);
      result->text_of_node[i] = texts[i].c_str();
    }
    return kTfLiteOk;
  });
}

size_t DeviceBytes(TfLiteDelegate* delegate) { return Of(delegate).device_bytes; }

TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data) {
  GpuDelegate& gpu = Of(delegate);
  if (gpu.process.IsForked()) return kTfLiteDelegateError;
  const std::lock_guard lock(gpu.mutex);
  for (const Partition* partition : gpu.partitions) {
    for (const auto& [stage, text] : partition->texts) {
      callback(user_data, partition->first_node, stage, text.c_str());
    }
  }
  return kTfLiteOk;
}

TfLiteStatus TakeEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                        void* user_data) {
  GpuDelegate& gpu = Of(delegate);
  if (gpu.process.IsForked()) return kTfLiteDelegateError;
  // Commands of all partitions, each with the index of its partition's first node.
  std::vector<std::pair<int, TimedCommand>> commands;
  {
    const std::lock_guard lock(gpu.mutex);
    for (Partition* partition : gpu.partitions) {
      if (partition->executor == nullptr) continue;
      const std::lock_guard run_lock(partition->run_mutex);
      for (TimedCommand& command : partition->executor->TakeTimes()) {
        commands.emplace_back(partition->first_node, std::move(command));
      }
    }
  }
  std::stable_sort(commands.begin(), commands.end(), [](const auto& a, const auto& b) {
    return a.second.queued_ns < b.second.queued_ns;
  });
  for (const auto& [first_node, command] : commands) {
    DeputyDeviceEvent event{};
    event.struct_size = sizeof event;
    event.first_node = first_node;
    event.node = command.node;
    event.name = command.name.c_str();
    event.kernel = command.kernel.c_str();
    event.queued_ns = command.queued_ns;
    event.begin_ns = command.begin_ns;
    event.duration_ns = command.duration_ns;
    callback(user_data, &event);
  }
  return kTfLiteOk;
}

// Copies between host and device are reported for the partition as a whole (node -1), as in
// TakeEvents.
TfLiteStatus ReportNodeEvents(const TfLiteNode* node, DeputyNodeEventCallback callback,
                              void* user_data) {
  auto* partition = static_cast<Partition*>(node->user_data);
  if (partition == nullptr || partition->owner->process.IsForked()) return kTfLiteDelegateError;
  if (partition->executor == nullptr) return kTfLiteOk;
  std::vector<TimedCommand> commands;
  {
    const std::lock_guard lock(partition->run_mutex);
    commands = partition->executor->NewestTimes();
  }
  for (const TimedCommand& command : commands) {
    DeputyNodeEvent event{};
    event.struct_size = sizeof event;
    event.node = command.node;
    event.name = command.name.c_str();
    event.begin_ns = command.begin_ns;
    event.duration_ns = command.duration_ns;
    callback(user_data, &event);
  }
  return kTfLiteOk;
}

}  // namespace deputy::gpu_cl
