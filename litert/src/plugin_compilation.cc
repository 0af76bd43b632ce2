// SPDX-License-Identifier: Apache-2.0
#include "litert/src/plugin_compilation.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "litert/src/compile_cache.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/environment.h"
#include "litert/src/model_serialize.h"
#include "litert/src/options.h"
#include "litert/src/partition.h"
#include "litert/src/payload.h"
#include "litert/src/plugin_files.h"
#include "litert/src/transformation.h"

namespace deputy::litert {
namespace {

constexpr size_t kByteCodeAlignment = 64;
constexpr size_t kMaxNameBytes = 4096;

// The result of a compilation.
class CompiledResult {
 public:
  explicit CompiledResult(std::shared_ptr<const CompilerPlugin> plugin)
      : owner_(std::move(plugin)), plugin_(*owner_) {}
  ~CompiledResult() {
    if (handle_ == nullptr) return;
    const std::scoped_lock lock(CompilerPluginMutex());
    (void)Guard([&] {
      plugin_.api().destroy_compiled_result(handle_);
      return kLiteRtStatusOk;
    });
  }
  CompiledResult(const CompiledResult&) = delete;
  CompiledResult& operator=(const CompiledResult&) = delete;

  // Compiles a model with one subgraph per partition.
  LiteRtStatus Compile(const char* soc_model, LiteRtModelT* model, size_t partitions) {
    const LiteRtCompilerPluginApi& api = plugin_.api();
    LITERT_TRY(plugin_.Call("LiteRtCompilerPluginCompile", api.compiler_plugin_compile,
                            plugin_.handle(), soc_model, model, &handle_));
    if (handle_ == nullptr) return Refuse("LiteRtCompilerPluginCompile returned no result");
    LITERT_TRY(plugin_.Call("LiteRtCompiledResultNumByteCodeModules",
                            api.get_compiled_result_num_byte_code, handle_, &modules_));
    LiteRtParamIndex calls = 0;
    LITERT_TRY(plugin_.Call("LiteRtGetNumCompiledResultCalls", api.get_compiled_result_num_calls,
                            handle_, &calls));
    if (calls == partitions) return kLiteRtStatusOk;
    return Refuse("expected " + std::to_string(partitions) +
                  " calls, one for each partition, found " + std::to_string(calls));
  }

  // Stores the byte code and the entry point of a call in its operator. With `programs`, a handle
  // can replace the byte code.
  LiteRtStatus Store(LiteRtParamIndex call, LiteRtOp op, JitHandles* programs) {
    const void* info = nullptr;
    size_t bytes = 0;
    LiteRtParamIndex module = 0;
    LITERT_TRY(plugin_.Call("LiteRtGetCompiledResultCallInfo",
                            plugin_.api().get_compiled_result_call_info, handle_, call, &info,
                            &bytes, &module));
    std::vector<uint8_t> name;
    if (bytes > kMaxNameBytes || !CopyReadable(info, bytes, &name)) {
      return Refuse("expected a name of at most " + std::to_string(kMaxNameBytes) +
                    " bytes for call " + std::to_string(call) + ", found " + std::to_string(bytes) +
                    " bytes at " + TextOf(info));
    }
    if (module >= modules_) {
      return Refuse("call " + std::to_string(call) + ": expected a module below " +
                    std::to_string(modules_) + ", found " + std::to_string(module));
    }
    op->entry_point.assign(name.begin(), name.end());
    const LiteRtJitExecutable handle = programs == nullptr ? nullptr : HandleOf(module);
    if (programs != nullptr && programs->emplace(op->entry_point, handle).first->second != handle) {
      return Refuse("two programs have the name '" + op->entry_point + "'");
    }
    if (handle != nullptr) {
      // An operator without byte code has no options.
      op->owned_byte_code = std::make_shared<const std::vector<uint8_t>>(1);
      op->byte_code = *op->owned_byte_code;
      return kLiteRtStatusOk;
    }
    LITERT_TRY(Load(module));
    op->owned_byte_code = loaded_[module];
    op->byte_code = *op->owned_byte_code;
    return kLiteRtStatusOk;
  }

 private:
  static std::string TextOf(const void* address) {
    return address == nullptr ? "NULL" : "an address";
  }

  LiteRtStatus Refuse(const std::string& reason) const {
    return plugin_.Refuse(kLiteRtStatusErrorCompilation, reason);
  }

  // Returns the handle of a module's program, or null.
  LiteRtJitExecutable HandleOf(LiteRtParamIndex module) const {
    const auto get = plugin_.api().get_compiled_result_handle;
    LiteRtJitExecutable found = nullptr;
    if (get == nullptr || Guard([&] { return get(handle_, module, &found); }) != kLiteRtStatusOk) {
      return nullptr;
    }
    return found;
  }

  // Copies the byte code of a module.
  LiteRtStatus Load(LiteRtParamIndex module) {
    if (loaded_.count(module) > 0) return kLiteRtStatusOk;
    const void* address = nullptr;
    size_t bytes = 0;
    LITERT_TRY(plugin_.Call("LiteRtGetCompiledResultByteCode",
                            plugin_.api().get_compiled_result_byte_code, handle_, module, &address,
                            &bytes));
    auto copy = std::make_shared<std::vector<uint8_t>>();
    if (bytes == 0 || !CopyReadable(address, bytes, copy.get())) {
      return Refuse("module " + std::to_string(module) + ": expected byte code, found " +
                    std::to_string(bytes) + " bytes at " + TextOf(address));
    }
    loaded_.emplace(module, std::move(copy));
    return kLiteRtStatusOk;
  }

  const std::shared_ptr<const CompilerPlugin> owner_;
  const CompilerPlugin& plugin_;
  LiteRtCompiledResult handle_ = nullptr;
  LiteRtParamIndex modules_ = 0;
  std::map<LiteRtParamIndex, std::shared_ptr<const std::vector<uint8_t>>> loaded_;
};

// Marks a model as compiled.
LiteRtStatus Stamp(const CompilerPlugin& plugin, const char* soc_model, LiteRtModelT* model) {
  if (model->metadata.count(kBuildStampKey) > 0) return kLiteRtStatusOk;
  return WriteBuildStamp(
      {.manufacturer = plugin.manufacturer(), .soc_model = soc_model == nullptr ? "" : soc_model},
      &model->metadata[kBuildStampKey]);
}

LiteRtStatus CheckCompatibility(const CompilerPlugin& plugin, LiteRtEnvironment environment,
                                LiteRtOptions options, const char* soc_model) {
  return plugin.Call("LiteRtCompilerPluginCheckCompilerCompatibility",
                     plugin.api().check_compiler_compatibility, kPluginVersion, plugin.handle(),
                     &environment->options(), options, soc_model);
}

// Compiles a model with one plug-in. The result does not change if it selects no operator.
LiteRtStatus CompileWith(const std::shared_ptr<CompilerPlugin>& owner,
                         LiteRtEnvironment environment, LiteRtOptions options,
                         const LiteRtModelT& model, const char* soc_model, bool is_for_file,
                         PluginCompilation* out_compilation) {
  const CompilerPlugin& plugin = *owner;
  LITERT_TRY(CheckCompatibility(plugin, environment, options, soc_model));
  LiteRtModelT changed;
  LITERT_TRY(changed.Load(model.bytes));
  LITERT_TRY(ApplyTransformations(plugin, &changed));
  Partitions partitions;
  LITERT_TRY(
      PartitionModel(plugin, ReadCompilerSettings(*options), soc_model, &changed, &partitions));
  if (partitions.calls.empty()) {
    Log(kLiteRtLogSeverityInfo, "compiler plug-in '%s' selects none of %zu operators",
        plugin.manufacturer().c_str(), partitions.total);
    return kLiteRtStatusOk;
  }
  auto result = std::make_shared<CompiledResult>(owner);
  JitHandles programs = out_compilation->programs;
  LITERT_TRY(result->Compile(soc_model, &partitions.model, partitions.calls.size()));
  for (size_t i = 0; i < partitions.calls.size(); ++i) {
    LITERT_TRY(result->Store(i, partitions.calls[i], is_for_file ? nullptr : &programs));
  }
  LITERT_TRY(Stamp(plugin, soc_model, &changed));
  SerializedModel file;
  LITERT_TRY(SerializeModel(changed, {}, kByteCodeAlignment, &file));
  auto compiled = std::make_unique<LiteRtModelT>();
  compiled->owned_block.reset(file.block);
  LITERT_TRY(compiled->Load({file.block, file.size}));
  Log(kLiteRtLogSeverityInfo,
      "compiler plug-in '%s' (%s) has compiled %zu of %zu operators in %zu partitions",
      plugin.manufacturer().c_str(), plugin.path().c_str(), partitions.selected, partitions.total,
      partitions.calls.size());
  const size_t handles = out_compilation->handles.size();
  for (const auto& [name, handle] : programs) {
    if (handle != nullptr) out_compilation->handles.emplace(name, handle);
  }
  const bool has_handles = out_compilation->handles.size() > handles;
  if (has_handles) out_compilation->results.push_back(std::move(result));
  out_compilation->programs = std::move(programs);
  out_compilation->model = std::move(compiled);
  return kLiteRtStatusOk;
}

}  // namespace

LiteRtStatus CompileWithPlugins(LiteRtEnvironment environment, LiteRtOptions options,
                                const LiteRtModelT& model, const char* soc_model, bool is_for_file,
                                PluginCompilation* out_compilation) {
  const char* const folder = environment->TextOption(kLiteRtEnvOptionTagCompilerPluginLibraryDir);
  if (folder == nullptr) return kLiteRtStatusOk;
  if (model.metadata.count(kBuildStampKey) > 0) {
    Log(kLiteRtLogSeverityWarning, "compiler plug-ins: the model is compiled already");
    return kLiteRtStatusOk;
  }
  const std::scoped_lock lock(CompilerPluginMutex());
  out_compilation->plugins = OpenCompilerPlugins(folder, &environment->options(), options);
  if (out_compilation->plugins.empty()) return kLiteRtStatusOk;
  const CompileCache cache(environment, *options, model, soc_model, out_compilation->plugins);
  out_compilation->model = cache.Load();
  if (out_compilation->model != nullptr) return kLiteRtStatusOk;
  for (const auto& plugin : out_compilation->plugins) {
    if ((plugin->hardware() & options->accelerators) == 0) continue;
    const LiteRtModelT& current =
        out_compilation->model == nullptr ? model : *out_compilation->model;
    const LiteRtStatus status = Guard([&] {
      return CompileWith(plugin, environment, options, current, soc_model, is_for_file,
                         out_compilation);
    });
    if (status != kLiteRtStatusOk) {
      if (out_compilation->failure == kLiteRtStatusOk) out_compilation->failure = status;
      Log(kLiteRtLogSeverityWarning, "compiler plug-in '%s' (%s): the model is used without it: %s",
          plugin->manufacturer().c_str(), plugin->path().c_str(), LiteRtGetStatusString(status));
    }
  }
  const bool can_be_stored =
      out_compilation->failure == kLiteRtStatusOk && out_compilation->handles.empty();
  if (out_compilation->model != nullptr && can_be_stored) {
    cache.Store(*out_compilation->model);
  }
  return kLiteRtStatusOk;
}

LiteRtStatus CompileGroups(LiteRtEnvironment environment, LiteRtOptions options,
                           const LiteRtModelT& model, LiteRtSubgraph subgraph,
                           const std::vector<bool>& is_usable, const char* soc_model,
                           bool selects_only, GroupCompilation* out_compilation) {
  const char* const folder = environment->TextOption(kLiteRtEnvOptionTagCompilerPluginLibraryDir);
  if (folder == nullptr) return kLiteRtStatusOk;
  const std::scoped_lock lock(CompilerPluginMutex());
  const CompilerPlugins plugins = OpenCompilerPlugins(folder, &environment->options(), options);
  if (plugins.empty()) {
    return Fail(kLiteRtStatusErrorNotFound, "no compiler plug-in below %s fits", folder);
  }
  out_compilation->refusal = "no compiler plug-in selects it";
  for (const auto& plugin : plugins) {
    if ((plugin->hardware() & options->accelerators) == 0) continue;
    LITERT_TRY(CheckCompatibility(*plugin, environment, options, soc_model));
    LiteRtModelT copies;
    std::vector<OpGroup> groups;
    LITERT_TRY(CopyGroups(*plugin, soc_model, model, subgraph, is_usable, &copies, &groups));
    if (groups.empty()) continue;
    out_compilation->refusal =
        "compiler plug-in '" + plugin->manufacturer() + "' does not select it";
    out_compilation->groups = std::move(groups);
    if (selects_only) return kLiteRtStatusOk;
    auto result = std::make_shared<CompiledResult>(plugin);
    LITERT_TRY(result->Compile(soc_model, &copies, out_compilation->groups.size()));
    for (size_t i = 0; i < out_compilation->groups.size(); ++i) {
      out_compilation->calls.push_back(std::make_unique<LiteRtOpT>());
      LITERT_TRY(result->Store(i, out_compilation->calls.back().get(), &out_compilation->programs));
    }
    out_compilation->result = std::move(result);
    return kLiteRtStatusOk;
  }
  return kLiteRtStatusOk;
}

}  // namespace deputy::litert
