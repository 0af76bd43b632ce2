// SPDX-License-Identifier: Apache-2.0
//
// Deputy's own C API. Structs that callers pass are read and written only up to the caller's
// struct_size.
#include "c_api/include/deputy.h"

#include <deputy_version.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "c_api/src/struct_io.h"
#include "core/base/environment.h"
#include "core/model/op_names.h"
#include "kernels/cpu/cpu.h"

using deputy::ErrorReporter;
using deputy::FindRunning;
using deputy::FindSubgraph;
using deputy::Guard;
using deputy::Ignore;
using deputy::ReadStruct;
using deputy::WriteStruct;

struct DeputyThreadPool {
  std::shared_ptr<deputy::ThreadPool> impl;
};

namespace {

// Converts a client's limits. Returns false, with nothing written, for invalid limits.
bool ReadLimits(const DeputyLimits* limits, deputy::Limits* out_limits) {
  DeputyLimits given;
  if (!ReadStruct(limits, &given) || given.max_tensors < 0 || given.max_nodes < 0 ||
      given.max_call_depth < 0 || given.max_subgraphs < 0) {
    return false;
  }
  deputy::Limits chosen;
  if (given.max_block_bytes != 0) chosen.max_block_bytes = given.max_block_bytes;
  if (given.max_tensors != 0) chosen.max_tensors = given.max_tensors;
  if (given.max_nodes != 0) chosen.max_nodes = given.max_nodes;
  if (given.max_call_depth != 0) chosen.max_call_depth = given.max_call_depth;
  if (given.max_subgraphs != 0) chosen.max_subgraphs = given.max_subgraphs;
  *out_limits = chosen;
  return true;
}

// Calls `load` with the default reporter and these limits, and wraps the model that it returns.
template <typename Load>
TfLiteModel* CreateModel(const DeputyLimits* given, Load&& load) {
  return Guard(nullptr, [&]() -> TfLiteModel* {
    ErrorReporter reporter;
    deputy::Limits limits;
    if (!ReadLimits(given, &limits)) {
      reporter.Report(
          "The model could not be loaded: expected a DeputyLimits with its size in struct_size and "
          "limits of 0 or more");
      return nullptr;
    }
    auto model = load(&reporter, limits);
    return model == nullptr ? nullptr : new TfLiteModel{std::move(model)};
  });
}

}  // namespace

// ---- The library --------------------------------------------------------------------------------

const char* DeputyVersion(void) { return DEPUTY_VERSION; }

const char* DeputyCpuTable(void) { return deputy::Cpu().name; }

// ---- Failures -----------------------------------------------------------------------------------

const char* DeputyLastError(void) { return deputy::ThreadLastError(); }

const char* DeputyInterpreterLastError(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr ? "" : interpreter->impl->reporter()->last_error();
}

void DeputySetDefaultReporter(void (*reporter)(void* user_data, const char* format, va_list args),
                              void* user_data) {
  deputy::SetDefaultReporter(reporter, user_data);
}

void DeputyCheckEnvironment(void) {
  Guard(Ignore, [] { deputy::ReportMisspeltVariables(); });
}

// ---- Models and options -------------------------------------------------------------------------

TfLiteModel* DeputyModelCreateFromFileByCopy(const char* model_path) {
  return Guard(nullptr, [&]() -> TfLiteModel* {
    ErrorReporter reporter;
    auto model = deputy::Model::FromFileByCopy(model_path, &reporter);
    return model == nullptr ? nullptr : new TfLiteModel{std::move(model)};
  });
}

TfLiteModel* DeputyModelCreateWithLimits(const void* model_data, size_t model_size,
                                         const DeputyLimits* limits) {
  return CreateModel(limits, [=](ErrorReporter* reporter, const deputy::Limits& chosen) {
    return deputy::Model::FromBuffer(model_data, model_size, reporter, chosen);
  });
}

TfLiteModel* DeputyModelCreateFromFileWithLimits(const char* model_path,
                                                 const DeputyLimits* limits) {
  return CreateModel(limits, [=](ErrorReporter* reporter, const deputy::Limits& chosen) {
    return deputy::Model::FromFile(model_path, reporter, chosen);
  });
}

TfLiteStatus DeputyInterpreterOptionsSetArithmetic(TfLiteInterpreterOptions* options,
                                                   DeputyArithmetic arithmetic) {
  if (options == nullptr) return kTfLiteError;
  switch (arithmetic) {
    case kDeputyArithmeticDefault:
      options->config.arithmetic = deputy::Arithmetic::kDefault;
      break;
    case kDeputyArithmeticReference:
      options->config.arithmetic = deputy::Arithmetic::kReference;
      break;
    default:
      return kTfLiteError;
  }
  options->arithmetic_set = true;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterOptionsSetPreparedShapes(TfLiteInterpreterOptions* options,
                                                       int32_t shapes) {
  if (options == nullptr || shapes < 1) return kTfLiteError;
  options->config.max_plans = shapes;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterOptionsSetPrecision(TfLiteInterpreterOptions* options,
                                                  DeputyPrecision precision) {
  if (options == nullptr) return kTfLiteError;
  switch (precision) {
    case kDeputyPrecisionFloat32:
      options->config.precision = deputy::Precision::kFloat32;
      break;
    case kDeputyPrecisionBfloat16:
      options->config.precision = deputy::Precision::kBfloat16;
      break;
    case kDeputyPrecisionFloat16:
      options->config.precision = deputy::Precision::kFloat16;
      break;
    default:
      return kTfLiteError;
  }
  options->precision_set = true;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterOptionsSetDelegatePolicy(TfLiteInterpreterOptions* options,
                                                       DeputyDelegatePolicy policy) {
  const bool known = policy == kDeputyPolicyTfLite || policy == kDeputyPolicyHot;
  if (options == nullptr || !known) return kTfLiteError;
  options->config.hot = policy == kDeputyPolicyHot;
  options->policy_set = true;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterOptionsSetDelegateRetry(TfLiteInterpreterOptions* options,
                                                      int32_t inferences) {
  if (options == nullptr || inferences < -1) return kTfLiteError;
  options->config.delegate_retry = inferences;
  return kTfLiteOk;
}

DeputyThreadPool* DeputyThreadPoolCreate(int32_t threads) {
  return Guard(nullptr, [&] {
    return new DeputyThreadPool{std::make_shared<deputy::ThreadPool>(std::max(threads, 1))};
  });
}

void DeputyThreadPoolDelete(DeputyThreadPool* pool) { delete pool; }

TfLiteStatus DeputyInterpreterOptionsSetThreadPool(TfLiteInterpreterOptions* options,
                                                   DeputyThreadPool* pool) {
  if (options == nullptr) return kTfLiteError;
  options->config.pool = pool == nullptr ? nullptr : pool->impl;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterOptionsSetLimits(TfLiteInterpreterOptions* options,
                                               const DeputyLimits* limits) {
  if (options == nullptr || !ReadLimits(limits, &options->config.limits)) return kTfLiteError;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterOptionsSetMemoryBudget(TfLiteInterpreterOptions* options,
                                                     size_t bytes) {
  if (options == nullptr) return kTfLiteError;
  options->config.memory_budget = bytes == 0 ? std::numeric_limits<size_t>::max() : bytes;
  return kTfLiteOk;
}

TfLiteStatus DeputyInterpreterOptionsSetWeightCache(TfLiteInterpreterOptions* options,
                                                    const char* path) {
  if (options == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    options->config.weight_file = path == nullptr ? "" : path;
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterGetWeightCache(const TfLiteInterpreter* interpreter,
                                             DeputyWeightCache* cache) {
  if (interpreter == nullptr) return kTfLiteError;
  const deputy::WeightFileUse use = interpreter->impl->packed_constants().file_use();
  DeputyWeightCache full{};
  full.state = static_cast<DeputyWeightCacheState>(use.state);
  full.reused = use.reused;
  full.packed = use.packed;
  full.mapped_bytes = use.mapped_bytes;
  return WriteStruct(full, cache);
}

// ---- Failures of delegates ----------------------------------------------------------------------

TfLiteStatus DeputyInterpreterGetDelegationStatus(const TfLiteInterpreter* interpreter,
                                                  DeputyDelegationStatus* status) {
  if (interpreter == nullptr) return kTfLiteError;
  deputy::Interpreter& impl = *interpreter->impl->running();
  DeputyDelegationStatus full{};
  full.policy = impl.hot() ? kDeputyPolicyHot : kDeputyPolicyTfLite;
  for (int i = 0; i < impl.subgraph_count(); ++i) {
    const deputy::HotFallback& fallback = deputy::HotFallbackOf(impl.subgraph(i));
    const deputy::FallbackStatistics& part = fallback.statistics();
    full.degraded |= fallback.degraded();
    full.recomputed_nodes += part.recomputed;
    full.restarts += part.restarts;
    full.reserved_bytes += part.reserved_bytes;
    full.saving_ns += part.saving_ns;
  }
  full.delegates_skipped = impl.skipped_delegates();
  full.degraded |= full.delegates_skipped > 0;
  return WriteStruct(full, status);
}

uint64_t DeputyInterpreterGetGraphDigest(const TfLiteInterpreter* interpreter) {
  if (interpreter == nullptr) return 0;
  uint64_t digest = 0;
  for (int i = 0; i < interpreter->impl->subgraph_count(); ++i) {
    const deputy::Subgraph* subgraph = FindRunning(interpreter, i);
    digest = digest * 31 + deputy::DelegationOf(subgraph).Digest();
  }
  return digest;
}

TfLiteStatus DeputyInterpreterInvokeNode(TfLiteInterpreter* interpreter, int32_t subgraph_index,
                                         int32_t node_index) {
  deputy::Subgraph* const subgraph = FindSubgraph(interpreter, subgraph_index);
  if (subgraph == nullptr) return kTfLiteError;
  return Guard(kTfLiteError,
               [&] { return interpreter->impl->InvokeDelegateNode(subgraph, node_index); });
}

// ---- Contents of an interpreter -----------------------------------------------------------------

int32_t DeputyInterpreterGetSubgraphCount(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr ? 0 : interpreter->impl->subgraph_count();
}

const char* DeputyInterpreterGetSubgraphName(const TfLiteInterpreter* interpreter,
                                             int32_t subgraph_index) {
  const deputy::Subgraph* subgraph = FindSubgraph(interpreter, subgraph_index);
  return subgraph == nullptr ? nullptr : subgraph->name();
}

int32_t DeputyInterpreterGetTensorCount(const TfLiteInterpreter* interpreter,
                                        int32_t subgraph_index) {
  const deputy::Subgraph* subgraph = FindSubgraph(interpreter, subgraph_index);
  if (subgraph == nullptr) return 0;
  return std::max(subgraph->graph().tensor_count(),
                  FindRunning(interpreter, subgraph_index)->graph().tensor_count());
}

const TfLiteTensor* DeputyInterpreterGetTensor(const TfLiteInterpreter* interpreter,
                                               int32_t subgraph_index, int32_t tensor_index) {
  deputy::Subgraph* subgraph = FindSubgraph(interpreter, subgraph_index);
  if (subgraph == nullptr) return nullptr;
  // Tensors that delegates in the background have added exist in the plan that runs only.
  const TfLiteTensor* const tensor = subgraph->graph().tensor(tensor_index);
  return tensor != nullptr ? tensor
                           : FindRunning(interpreter, subgraph_index)->graph().tensor(tensor_index);
}

TfLiteStatus DeputySignatureRunnerResizeInputTensor(TfLiteSignatureRunner* signature_runner,
                                                    const char* input_name, const int* input_dims,
                                                    int32_t input_dims_size) {
  if (signature_runner == nullptr || input_dims_size < 0 ||
      (input_dims == nullptr && input_dims_size > 0)) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    return signature_runner->impl->ResizeInputTensor(
        input_name, {input_dims, static_cast<size_t>(input_dims_size)}, false);
  });
}

int32_t DeputyInterpreterGetNodeCount(const TfLiteInterpreter* interpreter,
                                      int32_t subgraph_index) {
  const deputy::Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  return subgraph == nullptr ? 0 : subgraph->graph().node_count();
}

TfLiteStatus DeputyInterpreterGetNodeInfo(const TfLiteInterpreter* interpreter,
                                          int32_t subgraph_index, int32_t node_index,
                                          DeputyNodeInfo* info) {
  deputy::Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr || node_index < 0 || node_index >= subgraph->graph().node_count()) {
    return kTfLiteError;
  }
  return Guard(kTfLiteError, [&] {
    const TfLiteNode& node = *subgraph->graph().node(node_index);
    const TfLiteRegistration& registration = *subgraph->graph().registration(node_index);
    DeputyNodeInfo full{};
    full.subgraph_index = subgraph_index;
    full.node_index = node_index;
    full.plan_position = subgraph->graph_index().position(node_index);
    full.builtin_code = registration.builtin_code;
    full.version = registration.version;
    full.operator_name = deputy::OperatorName(registration);
    full.owner = node.delegate == nullptr ? "CPU" : full.operator_name;
    full.inputs = node.inputs->data;
    full.input_count = node.inputs->size;
    full.outputs = node.outputs->data;
    full.output_count = node.outputs->size;
    return WriteStruct(full, info);
  });
}

// ---- Memory map ---------------------------------------------------------------------------------

TfLiteStatus DeputyInterpreterGetMemoryMap(const TfLiteInterpreter* interpreter,
                                           int32_t subgraph_index, DeputyMemoryMap* map) {
  const deputy::Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    DeputyMemoryMap full{};
    full.arena_bytes = subgraph->execution_plan().memory().arena().bytes();
    full.persistent_bytes = subgraph->execution_plan().memory().persistent().bytes();
    full.tensor_count = subgraph->execution_plan().memory().placed_count();
    full.scratch_bytes = subgraph->interpreter()->scratch().bytes();
    full.packed_bytes = subgraph->interpreter()->packed_constants().bytes();
    full.idle_bytes = subgraph->plans().idle_bytes();
    full.preparations = subgraph->plans().preparations();
    full.resource_bytes = subgraph->interpreter()->resources().bytes();
    full.released_packed_bytes = subgraph->interpreter()->released_constants().packed_bytes;
    full.released_file_bytes = subgraph->interpreter()->released_constants().file_bytes;
    return WriteStruct(full, map);
  });
}

TfLiteStatus DeputyInterpreterGetTensorMemory(const TfLiteInterpreter* interpreter,
                                              int32_t subgraph_index, size_t entry_index,
                                              DeputyTensorMemory* memory) {
  const deputy::Subgraph* subgraph = FindRunning(interpreter, subgraph_index);
  if (subgraph == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    if (entry_index >= subgraph->execution_plan().memory().placed_count()) return kTfLiteError;
    const deputy::TensorMemory entry = subgraph->execution_plan().memory().placed(entry_index);
    DeputyTensorMemory full{};
    full.tensor_index = entry.tensor;
    full.persistent = entry.persistent ? 1 : 0;
    full.offset = entry.offset;
    full.bytes = entry.bytes;
    full.first_use = entry.lifetime.first;
    full.last_use = entry.lifetime.last;
    full.owner = entry.owner;
    return WriteStruct(full, memory);
  });
}

// ---- Profiling ----------------------------------------------------------------------------------

TfLiteStatus DeputyInterpreterSetProfileCallback(TfLiteInterpreter* interpreter,
                                                 DeputyProfileCallback callback, void* user_data) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    interpreter->profile.Set(interpreter->impl.get(), callback, user_data);
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyInterpreterSetWorkerCallback(TfLiteInterpreter* interpreter,
                                                DeputyWorkerCallback callback, void* user_data) {
  if (interpreter == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    interpreter->workers.Set(interpreter->impl.get(), callback, user_data);
    return kTfLiteOk;
  });
}
