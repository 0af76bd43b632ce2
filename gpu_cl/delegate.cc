// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/delegate.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/import.h"
#include "compiler/passes.h"
#include "gpu_cl/device.h"
#include "gpu_cl/exec.h"
#include "gpu_cl/program_cache.h"
#include "tensorflow/lite/builtin_ops.h"

namespace deputy::gpu_cl {
namespace {

using compiler::Graph;
using compiler::Refusal;

// What `data_` of the delegate points to.
struct GpuDelegate {
  TfLiteDelegate delegate{};
  Options options;
  std::shared_ptr<SharedContext> context;     // null: it cannot work
  std::string failure;                        // and why
  std::shared_ptr<const ProgramCache> cache;  // null: none
  std::atomic<size_t> device_bytes = 0;
  std::vector<std::string> texts;  // of the last support answer
};

GpuDelegate& Of(TfLiteDelegate* delegate) { return *static_cast<GpuDelegate*>(delegate->data_); }

// A delegate node. It is made even if its partition cannot be compiled: prepare then says why.
struct Kernel {
  GpuDelegate* owner = nullptr;
  std::unique_ptr<Executor> executor;
  std::string failure;
};

// No exception leaves the library: function() or, if it throws, an error that is reported.
template <typename Function>
TfLiteStatus Guarded(TfLiteContext* context, const Function& function) {
  try {
    return function();
  } catch (const std::exception& error) {
    context->ReportError(context, "GPU delegate: %s", error.what());
  } catch (...) {
    context->ReportError(context, "GPU delegate: an unknown exception");
  }
  return kTfLiteError;
}

TfLiteStatus Fail(TfLiteContext* context, TfLiteStatus status, const std::string& text) {
  context->ReportError(context, "GPU delegate: %s", text.c_str());
  return status;
}

// The runtime frees arrays that it is given with free(); null if memory is short.
TfLiteIntArray* MakeArray(const std::vector<int>& values) {
  auto* array =
      static_cast<TfLiteIntArray*>(malloc(sizeof(TfLiteIntArray) + values.size() * sizeof(int)));
  if (array == nullptr) return nullptr;
  array->size = static_cast<int>(values.size());
  if (!values.empty()) memcpy(array->data, values.data(), values.size() * sizeof(int));
  return array;
}

// ---- Delegate nodes -----------------------------------------------------------------------------

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

std::string Compile(TfLiteContext* context, const TfLiteDelegateParams& params, Kernel* kernel) {
  Graph graph;
  const std::optional<Refusal> refusal = compiler::Import(context, params, &graph);
  if (refusal) return refusal->text;
  compiler::RunPasses(&graph, {});
  ClStatus status;
  GpuDelegate& owner = *kernel->owner;
  kernel->executor = Executor::Create(owner.context, std::move(graph), ClassOf(owner),
                                      owner.options.cache_token, owner.cache, &status);
  if (kernel->executor == nullptr) return status.text;
  owner.device_bytes += kernel->executor->device_bytes();
  return "";
}

void* Init(TfLiteContext* context, const char* buffer, size_t) {
  Kernel* result = nullptr;
  const TfLiteStatus status = Guarded(context, [&] {
    const auto* params = reinterpret_cast<const TfLiteDelegateParams*>(buffer);
    auto kernel = std::make_unique<Kernel>();
    kernel->owner = &Of(params->delegate);
    kernel->failure = Compile(context, *params, kernel.get());
    result = kernel.release();
    return kTfLiteOk;
  });
  return status == kTfLiteOk ? result : nullptr;
}

void Free(TfLiteContext*, void* buffer) {
  auto* kernel = static_cast<Kernel*>(buffer);
  if (kernel != nullptr && kernel->executor != nullptr) {
    kernel->owner->device_bytes -= kernel->executor->device_bytes();
  }
  delete kernel;
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(context, [&]() -> TfLiteStatus {
    const auto* kernel = static_cast<const Kernel*>(node->user_data);
    if (kernel == nullptr) return Fail(context, kTfLiteError, "a partition was not compiled");
    if (!kernel->failure.empty()) return Fail(context, kTfLiteError, kernel->failure);
    const Graph& graph = kernel->executor->graph();
    for (compiler::ValueId id : graph.outputs) {
      TfLiteIntArray* dims = MakeArray(graph.value(id).shape);
      if (dims == nullptr) return Fail(context, kTfLiteError, "memory is short");
      const TfLiteStatus status =
          context->ResizeTensor(context, &context->tensors[graph.value(id).tensor], dims);
      if (status != kTfLiteOk) return status;
    }
    return kTfLiteOk;
  });
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node) {
  return Guarded(context, [&]() -> TfLiteStatus {
    Executor& executor = *static_cast<Kernel*>(node->user_data)->executor;
    const Graph& graph = executor.graph();
    std::vector<const void*> inputs;
    for (compiler::ValueId id : graph.inputs) {
      inputs.push_back(context->tensors[graph.value(id).tensor].data.raw);
    }
    std::vector<void*> outputs;
    for (compiler::ValueId id : graph.outputs) {
      outputs.push_back(context->tensors[graph.value(id).tensor].data.raw);
    }
    const ClStatus status = executor.Run(inputs, outputs);
    return status.ok() ? kTfLiteOk : Fail(context, kTfLiteError, status.text);
  });
}

TfLiteRegistration NodeRegistration() {
  TfLiteRegistration registration{};
  registration.init = &Init;
  registration.free = &Free;
  registration.prepare = &Prepare;
  registration.invoke = &Invoke;
  registration.custom_name = "TfLiteGpuDelegateV2";
  registration.version = 1;
  return registration;
}

// ---- Choosing nodes -----------------------------------------------------------------------------

bool HasType(const TfLiteContext* context, const TfLiteNode& node,
             std::initializer_list<TfLiteType> types) {
  for (const TfLiteIntArray* indices : {node.inputs, node.outputs}) {
    for (int i = 0; i < indices->size; ++i) {
      if (indices->data[i] < 0) continue;
      const TfLiteTensor& tensor = context->tensors[indices->data[i]];
      if (std::find(types.begin(), types.end(), tensor.type) != types.end()) return true;
    }
  }
  return false;
}

// Why the delegate leaves a node to the CPU.
std::optional<Refusal> Refuse(const GpuDelegate& gpu, TfLiteContext* context, int index) {
  TfLiteNode* node;
  TfLiteRegistration* registration;
  if (context->GetNodeAndRegistration(context, index, &node, &registration) != kTfLiteOk) {
    return Refusal{kDeputyReasonOther, "the node is not there"};
  }
  if (!gpu.options.quantized && HasType(context, *node, {kTfLiteInt8, kTfLiteUInt8})) {
    return Refusal{kDeputyReasonQuantization, "quantised models are switched off"};
  }
  // Within one step of 65536 float32 is no longer exact enough for sums.
  const bool product = registration->builtin_code == kTfLiteBuiltinBatchMatmul ||
                       registration->builtin_code == kTfLiteBuiltinFullyConnected ||
                       registration->builtin_code == kTfLiteBuiltinConv2d;
  if (product && HasType(context, *node, {kTfLiteInt16})) {
    return Refusal{kDeputyReasonType, "INT16, whose sums are more exact than float32"};
  }
  return compiler::CheckNode(context, index, *node, *registration);
}

// The nodes of the largest partitions, as many as the options allow.
TfLiteStatus Largest(const GpuDelegate& gpu, TfLiteContext* context, std::vector<int>* nodes) {
  if (gpu.options.max_partitions == 0 || nodes->empty()) return kTfLiteOk;
  TfLiteIntArray* wanted = MakeArray(*nodes);
  if (wanted == nullptr) return Fail(context, kTfLiteError, "memory is short");
  TfLiteDelegateParams* partitions;
  int count;
  const TfLiteStatus status =
      context->PreviewDelegatePartitioning(context, wanted, &partitions, &count);
  free(wanted);
  if (status != kTfLiteOk) return status;
  std::vector<int> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return partitions[a].nodes_to_replace->size > partitions[b].nodes_to_replace->size;
  });
  const auto kept = std::min(order.size(), static_cast<size_t>(gpu.options.max_partitions));
  nodes->clear();
  for (size_t i = 0; i < kept; ++i) {
    const TfLiteIntArray& part = *partitions[order[i]].nodes_to_replace;
    nodes->insert(nodes->end(), part.data, part.data + part.size);
  }
  std::sort(nodes->begin(), nodes->end());
  return kTfLiteOk;
}

TfLiteStatus Apply(TfLiteContext* context, TfLiteDelegate* delegate) {
  return Guarded(context, [&]() -> TfLiteStatus {
    GpuDelegate& gpu = Of(delegate);
    if (gpu.context == nullptr) return Fail(context, kTfLiteDelegateError, gpu.failure);
    TfLiteIntArray* plan;
    TfLiteStatus status = context->GetExecutionPlan(context, &plan);
    if (status != kTfLiteOk) return status;
    std::vector<int> nodes;
    for (int i = 0; i < plan->size; ++i) {
      if (!Refuse(gpu, context, plan->data[i])) nodes.push_back(plan->data[i]);
    }
    status = Largest(gpu, context, &nodes);
    if (status != kTfLiteOk) return status;
    TfLiteIntArray* taken = MakeArray(nodes);
    if (taken == nullptr) return Fail(context, kTfLiteError, "memory is short");
    status = context->ReplaceNodeSubsetsWithDelegateKernels(context, NodeRegistration(), taken,
                                                            delegate);
    free(taken);
    return status;
  });
}

}  // namespace

// ---- Life ---------------------------------------------------------------------------------------

TfLiteDelegate* CreateDelegateOn(std::shared_ptr<const ClApi> api, const Options& options,
                                 std::string* out_error) {
  std::vector<Device> devices;
  ClStatus status = ListDevices(*api, &devices);
  Device device;
  if (status.ok()) status = ChooseDevice(devices, options.device, &device);
  auto gpu = std::make_unique<GpuDelegate>();
  if (status.ok()) gpu->context = ContextRegistry::Process().Acquire(api, device, &status);
  if (!status.ok()) {
    *out_error = status.text;
    return nullptr;
  }
  gpu->options = options;
  if (!options.cache_dir.empty()) {
    // Without its folder the delegate works all the same.
    std::string problem;
    const auto bytes = static_cast<uint64_t>(options.cache_max_mb) << 20;
    gpu->cache = ProgramCache::Open(options.cache_dir, bytes, &problem);
  }
  gpu->delegate.data_ = gpu.get();
  gpu->delegate.Prepare = &Apply;
  gpu->delegate.flags = kTfLiteDelegateFlagsNone;
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
  if (delegate != nullptr) delete &Of(delegate);
}

// ---- Reports ------------------------------------------------------------------------------------

TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportAnswer* answer) {
  return Guarded(context, [&] {
    GpuDelegate& gpu = Of(delegate);
    gpu.texts.assign(answer->node_count, "");
    for (size_t i = 0; i < answer->node_count; ++i) {
      std::optional<Refusal> refusal = Refuse(gpu, context, answer->nodes[i]);
      answer->supported[i] = refusal ? 0 : 1;
      if (!refusal) continue;
      answer->reason_of_node[i] = refusal->reason;
      gpu.texts[i] = std::move(refusal->text);
      answer->text_of_node[i] = gpu.texts[i].c_str();
    }
    return kTfLiteOk;
  });
}

size_t DeviceBytes(TfLiteDelegate* delegate) { return Of(delegate).device_bytes; }

}  // namespace deputy::gpu_cl
