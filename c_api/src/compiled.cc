// SPDX-License-Identifier: Apache-2.0
#include "c_api/include/deputy_compiled.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <string>

#include "c_api/src/plugin_handle.h"
#include "c_api/src/struct_io.h"
#include "core/base/new_file.h"
#include "core/base/packed_constants.h"
#include "core/model/model.h"
#include "core/model/model_bytes.h"
#include "core/plugin/plugin_delegate.h"
#include "core/support/compiled_model.h"
#include "kernels/cpu/cpu.h"

namespace deputy {
namespace {

void IgnoreReport(void*, const char*, va_list) {}

// A mapped file and its description if it is a compiled model.
struct CompiledFile {
  ModelBytes bytes;
  CompiledModel model;

  std::span<const char> all() const {
    return {reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size()};
  }
  // Returns the reason why the file cannot be opened, or "".
  std::string Open(const char* path, CompiledModelState* out_state) {
    ErrorReporter problem(&IgnoreReport, nullptr);
    if (!bytes.Map(path, &problem)) return problem.last_error();
    *out_state = ParseCompiledModel(all(), &model);
    return "";
  }
};

// Returns why the packed constants cannot be used, or "".
std::string CheckPackedConstants(const Model& model) {
  if (model.packed_weights().empty()) return "it has no packed constants";
  PackedConstants constants;
  if (!constants.UseFile("", {model.bytes(), -1, Cpu().name}, model.packed_weights())) {
    return "this library has no build ID";
  }
  switch (constants.file_use().state) {
    case WeightFileState::kUsable:
      return "";
    case WeightFileState::kOtherCode:
      return "its constants were packed by another build of Deputy or for another processor; this "
             "one has the kernels " +
             std::string(Cpu().name);
    default:
      return "its packed constants are damaged or of another model";
  }
}

std::string CheckTarget(const CompiledModel& model, const PluginLibrary& library) {
  const std::string owner = OwnerOfLibrary(library.path());
  const CompiledTarget* const target = model.FindTarget(owner);
  if (target == nullptr) return "it was not compiled for " + owner;
  const DeputyDelegatePlugin* const plugin = library.plugin();
  const std::string version =
      plugin == nullptr || plugin->version == nullptr ? "" : plugin->version;
  if (target->version != version) {
    return owner + ": expected version '" + version + "', found '" + target->version + "'";
  }
  std::string devices;
  ErrorReporter ignored(&IgnoreReport, nullptr);
  ListPluginDevices(
      library,
      [](void* to, const DeputyDeviceInfo* device) {
        AddDeviceText(*device, static_cast<std::string*>(to));
      },
      &devices, &ignored);
  if (target->device == devices) return "";
  return owner + ": expected the devices '" + devices + "', found '" + target->device + "'";
}

// Fills the status of a model that can be opened.
std::string CheckSections(const CompiledFile& file, const Model& model, const DeputyPlugin* plugin,
                          DeputyCompiledStatus* status) {
  if (!IsModelIntact(file.all(), file.model)) return "its model was changed after the compilation";
  const std::string owner = plugin == nullptr ? kCpuOwner : OwnerOfLibrary(plugin->library->path());
  for (const CompiledSection& section : file.model.sections) {
    if (section.owner != owner) continue;
    ++status->section_count;
    if (!IsIntact(file.all(), section)) return "its section '" + section.name + "' is damaged";
  }
  return plugin == nullptr ? CheckPackedConstants(model)
                           : CheckTarget(file.model, *plugin->library);
}

DeputyCompiledStatus StatusOf(const char* path, const DeputyPlugin* plugin) {
  DeputyCompiledStatus status = {};
  CompiledFile file;
  CompiledModelState state = CompiledModelState::kPlain;
  std::string reason = file.Open(path, &state);
  std::shared_ptr<const Model> model;
  if (reason.empty() && state == CompiledModelState::kDamaged)
    reason = "its description is damaged";
  if (reason.empty()) {
    ErrorReporter problem(&IgnoreReport, nullptr);
    model = Model::FromFile(path, &problem);
    if (model == nullptr) reason = problem.last_error();
  }
  status.compatibility = kDeputyCompiledUnusable;
  if (model != nullptr) {
    reason = state == CompiledModelState::kPlain ? "it is a model that was not compiled"
                                                 : CheckSections(file, *model, plugin, &status);
    status.compatibility = reason.empty() ? kDeputyCompiledUsable : kDeputyCompiledRecompile;
  }
  snprintf(status.reason, sizeof status.reason, "%s", reason.c_str());
  return status;
}

std::string Unpack(const char* path, const std::string& owner, const std::string& directory) {
  CompiledFile file;
  CompiledModelState state = CompiledModelState::kPlain;
  std::string problem = file.Open(path, &state);
  if (!problem.empty()) return problem;
  if (state != CompiledModelState::kCompiled) return "expected a compiled model";
  mkdir(directory.c_str(), 0700);  // a failure is detected when files are written
  int count = 0;
  for (const CompiledSection& section : file.model.sections) {
    if (section.owner != owner) continue;
    if (!IsIntact(file.all(), section)) return "section '" + section.name + "' is damaged";
    if (!WriteNewFile((directory + "/" + section.name).c_str(),
                      file.all().subspan(section.offset, section.bytes))) {
      return "'" + directory + "/" + section.name + "' cannot be written";
    }
    ++count;
  }
  return count > 0 ? "" : "expected files for '" + owner + "', found none";
}

}  // namespace
}  // namespace deputy

using deputy::ErrorReporter;
using deputy::Guard;

TfLiteStatus DeputyCompiledModelCheck(const char* path, const DeputyPlugin* plugin,
                                      DeputyCompiledStatus* status) {
  if (path == nullptr) return kTfLiteError;
  return Guard(kTfLiteError,
               [&] { return deputy::WriteStruct(deputy::StatusOf(path, plugin), status); });
}

TfLiteStatus DeputyCompiledModelUnpack(const char* path, const char* owner, const char* directory) {
  if (path == nullptr || owner == nullptr || directory == nullptr) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    const std::string problem = deputy::Unpack(path, owner, directory);
    if (problem.empty()) return kTfLiteOk;
    ErrorReporter().Report("DeputyCompiledModelUnpack '%s': %s", path, problem.c_str());
    return kTfLiteError;
  });
}
