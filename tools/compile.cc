// SPDX-License-Identifier: Apache-2.0
//
// `deputy compile`: runs a model once with caches in a temporary directory, and writes one file
// with the model and the files of the caches. With --check, reports whether such a file can be
// used.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "compile_litert.h"
#include "core/support/compiled_model.h"
#include "deputy/deputy_compiled.h"
#include "provide.h"
#include "temporary_directory.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {
namespace {

using Plugin = std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)>;

constexpr uint64_t kMaxBytes = uint64_t{1} << 36;

// Writes a file under a temporary name and renames it.
void WriteNewFile(const std::string& path, const std::string& bytes) {
  const std::string draft = path + "." + std::to_string(getpid()) + ".tmp";
  std::ofstream file(draft, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(draft, path, error);
  if (file && !error) return;
  std::filesystem::remove(draft, error);
  FailUsage("%s: cannot be written", path.c_str());
}

// Returns the paths of the regular files in a directory, sorted; empty if it does not exist.
std::vector<std::filesystem::path> FilesIn(const std::string& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const bool is_hidden = entry.path().filename().string().starts_with(".");
    if (entry.is_regular_file() && !is_hidden) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

CompiledTarget TargetOf(const std::string& owner, const std::string& library) {
  CompiledTarget target = {owner, "", ""};
  const Plugin plugin(DeputyPluginLoad(library.c_str()), &DeputyPluginRelease);
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (plugin == nullptr || DeputyPluginDescribe(plugin.get(), &info) != kTfLiteOk) return target;
  target.version = info.version == nullptr ? "" : info.version;
  const QuietReports quiet;
  DeputyPluginListDevices(
      plugin.get(),
      [](void* to, const DeputyDeviceInfo* device) {
        AddDeviceText(*device, static_cast<std::string*>(to));
      },
      &target.device);
  return target;
}

// Appends the files of each delegate. Returns the number of files.
size_t AddDelegates(const Session& session, const std::string& root, CompiledModel* model,
                    std::string* file) {
  size_t count = 0;
  for (const LoadedDelegate& loaded : session.delegates()) {
    const std::string owner = OwnerOfLibrary(loaded.library);
    const std::vector<std::filesystem::path> paths = FilesIn(root + "/" + owner);
    if (paths.empty()) {
      std::fprintf(stderr, "deputy: warning: %s stores nothing: %s\n", owner.c_str(),
                   std::find(loaded.declared.begin(), loaded.declared.end(), "cache_dir") ==
                           loaded.declared.end()
                       ? "it has no option cache_dir"
                       : "it has compiled nothing");
      continue;
    }
    if (model->FindTarget(owner) != nullptr) continue;
    model->targets.push_back(TargetOf(owner, loaded.library));
    for (const std::filesystem::path& path : paths) {
      AppendSection(owner, path.filename().string(), ReadFile(path.string(), kMaxBytes), model,
                    file);
    }
    count += paths.size();
  }
  return count;
}

DeputyCompiledStatus StatusOf(const std::string& path, const DeputyPlugin* plugin) {
  DeputyCompiledStatus status = {};
  status.struct_size = sizeof status;
  DeputyCompiledModelCheck(path.c_str(), plugin, &status);
  return status;
}

// Prints the status for the CPU or a delegate. Returns true if the file is usable.
bool PrintCheck(const std::string& owner, const DeputyCompiledStatus& status) {
  static constexpr const char* kNames[] = {"usable", "recompile", "unusable"};
  std::printf("%-10s %s%s%s\n", owner.c_str(), kNames[status.compatibility],
              status.reason[0] == '\0' ? "" : ": ", OneLine(status.reason).c_str());
  return status.compatibility == kDeputyCompiledUsable;
}

// ---- Plug-ins of LiteRT -------------------------------------------------------------------------

// Returns the status of a file for a compiler plug-in and the reason.
DeputyCompiledStatus StatusOf(const std::string& file, const CompiledTarget& plugin) {
  DeputyCompiledStatus status = {};
  CompiledModel model;
  std::string reason;
  const CompiledModelState state = ParseCompiledModel(file, &model);
  const CompiledTarget* const target = model.FindTarget(plugin.owner);
  status.compatibility = kDeputyCompiledRecompile;
  if (state == CompiledModelState::kDamaged) {
    status.compatibility = kDeputyCompiledUnusable;
    reason = "its description is damaged";
  } else if (target == nullptr) {
    reason = "it was not compiled by this plug-in";
  } else if (!IsModelIntact(file, model)) {
    reason = "the model was changed after the compilation";
  } else if (target->version != plugin.version || target->device != plugin.device) {
    reason = "it was compiled by '" + target->version + "' for '" + target->device + "', found '" +
             plugin.version + "' for '" + plugin.device + "'";
  } else {
    status.compatibility = kDeputyCompiledUsable;
  }
  std::snprintf(status.reason, sizeof status.reason, "%s", reason.c_str());
  return status;
}

void CheckForPlugins(const CompileOptions& options) {
  if (options.timeout > 0) ContinueInChild(options.plugins, options.timeout);
  const std::vector<char> bytes = ReadFile(options.session.model, kMaxBytes);
  const std::string file(bytes.begin(), bytes.end());
  bool usable = true;
  for (const CompiledTarget& plugin : ListCompilerPlugins(options.plugins)) {
    usable = PrintCheck(plugin.owner, StatusOf(file, plugin)) && usable;
  }
  if (!usable) FailWork("%s: not usable as it is", options.session.model.c_str());
}

// Returns the model in a file, which may be a compiled model, without further bytes.
std::vector<char> ReadModelOnly(const std::string& path) {
  std::vector<char> bytes = ReadFile(path, kMaxBytes);
  CompiledModel model;
  if (ParseCompiledModel(bytes, &model) == CompiledModelState::kCompiled) {
    bytes.resize(model.model_bytes);
  }
  return bytes;
}

// Writes a model with byte code, the original model if it is kept, and the description of a
// compiled model.
void CompileForPlugins(const CompileOptions& options) {
  if (!options.session.delegates.empty()) {
    FailUsage("--plugin: delegates do not run byte code; compile for them separately");
  }
  if (options.timeout > 0) ContinueInChild(options.plugins, options.timeout);
  CompiledModel model;
  model.targets = ListCompilerPlugins(options.plugins);
  std::string file = CompileWithPlugins(options.plugins, options.soc, options.session.model);
  model.model_bytes = file.size();
  if (options.keep_original) {
    AppendSection(kOriginalOwner, "model.tflite", ReadModelOnly(options.session.model), &model,
                  &file);
  }
  FinishCompiledModel(model, &file);
  WriteNewFile(options.output, file);
  std::printf("%s: %zu bytes, with byte code%s\n", options.output.c_str(), file.size(),
              options.keep_original ? " and the original model" : "");
}

// ---- Delegates ----------------------------------------------------------------------------------

void CheckCompiled(const CompileOptions& options) {
  const std::string& path = options.session.model;
  CheckReadable(path);
  if (!options.plugins.empty()) return CheckForPlugins(options);
  bool usable = true;
  // A model whose nodes all run in delegates has no packed constants.
  const DeputyCompiledStatus cpu = StatusOf(path, nullptr);
  if (options.session.delegates.empty() || cpu.section_count > 0) {
    usable = PrintCheck(kCpuOwner, cpu);
  }
  for (const DelegateRequest& request : options.session.delegates) {
    const std::string library = LibraryPath(request.path.empty() ? request.provider : request.path);
    const Plugin plugin(DeputyPluginLoad(library.c_str()), &DeputyPluginRelease);
    if (plugin == nullptr) FailUsage("%s: %s", FlagOf(request).c_str(), DeputyLastError());
    usable = PrintCheck(OwnerOfLibrary(library), StatusOf(path, plugin.get())) && usable;
  }
  if (!usable) FailWork("%s: not usable as it is", path.c_str());
}

}  // namespace

void CompileModel(const CompileOptions& options) {
  if (options.check) return CheckCompiled(options);
  if (options.output.empty()) FailUsage("expected --output FILE or --check");
  if (!options.plugins.empty()) return CompileForPlugins(options);
  const TemporaryDirectory work;
  SessionOptions session_options = options.session;
  session_options.cache_root = work.path();
  session_options.weight_cache = work.path() + "/packed";
  const std::vector<char> bytes = ReadFile(options.session.model, kMaxBytes);
  std::string file(bytes.begin(), bytes.end());
  if (file.size() < 8 || file.compare(4, 4, "TFL3") != 0) {
    FailWork("%s: expected a .tflite file", options.session.model.c_str());
  }
  CompiledModel model;
  if (ParseCompiledModel(file, &model) == CompiledModelState::kCompiled) {
    file.resize(model.model_bytes);  // removes the sections
    model = {};
  }
  model.model_bytes = file.size();
  // The session must not use the sections of the input file.
  session_options.model = work.path() + "/model";
  WriteNewFile(session_options.model, file);
  size_t count = 0;
  {
    Session session(session_options);
    session.Invoke();
    if (std::filesystem::exists(session_options.weight_cache)) {
      AppendSection(kCpuOwner, "packed", ReadFile(session_options.weight_cache, kMaxBytes), &model,
                    &file);
      ++count;
    }
    count += AddDelegates(session, work.path(), &model, &file);
  }
  FinishCompiledModel(model, &file);
  WriteNewFile(options.output, file);
  std::printf("%s: %zu bytes, %s after the model\n", options.output.c_str(), file.size(),
              PluralText(count, "file", "files").c_str());
}

}  // namespace deputy::tools
