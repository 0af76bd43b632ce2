// SPDX-License-Identifier: Apache-2.0
//
// Libraries that contain delegates. The file is checked before dlopen reads it, so that each defect
// of its tables gets its own message and does not crash the process.
//
// A library is never unloaded: its own or a driver's threads may still run its code, and so may
// destructors of thread-local data, which cannot be detected. The system recognizes a file that is
// loaded again and does not use memory twice.
//
// The object that describes a library is shared by the loading code and every delegate of the
// library.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_H_

#include <memory>
#include <string>
#include <utility>

#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"
#include "c_api/include/stable_delegate.h"
#include "core/base/error.h"
#include "core/plugin/plugin_options.h"

namespace deputy {

enum class PluginKind {
  kExternal,  // exports tflite_plugin_create_delegate and tflite_plugin_destroy_delegate
  kStable,    // exports TFL_TheStableDelegate
  kDeputy,    // exports deputy_plugin; its create and destroy, if any, replace those of kExternal
};

class PluginLibrary {
 public:
  using CreateFunction = TfLiteDelegate* (*)(const char* const* keys, const char* const* values,
                                             size_t count, void (*report_error)(const char* text));
  using DestroyFunction = void (*)(TfLiteDelegate* delegate);

  // Loads the library at `path`, and the plug-in that wraps its delegates if DEPUTY_ISOLATE or
  // DEPUTY_LAYERS is set; a name without a slash may be the name of a plug-in (plugin_folders.h). A
  // stable delegate needs settings, which not every caller can pass; without `allow_stable` it is
  // rejected. Returns null on failure, after a report.
  static std::shared_ptr<const PluginLibrary> Load(const char* path, bool allow_stable,
                                                   ErrorReporter* reporter);
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  const std::string& path() const { return path_; }
  PluginKind kind() const { return kind_; }
  // The plug-in's description, as far as both versions of the struct define it; null unless the
  // kind is kDeputy.
  const DeputyDelegatePlugin* plugin() const {
    return kind_ == PluginKind::kDeputy ? &plugin_ : nullptr;
  }
  // Returns the stable delegate's struct; null unless the kind is kStable.
  const TfLiteStableDelegate* stable() const { return stable_; }
  // Returns the plug-in's own name, else the name of its file.
  std::string name() const;
  // Returns the function that creates delegates; null if the kind is kStable.
  CreateFunction create() const { return create_; }
  DestroyFunction destroy() const { return destroy_; }
  // Returns true if another plug-in wraps the library's delegates: `sandbox` (isolation.h), or
  // `layers` (layers.h). The functions of the library are then those of that plug-in, and
  // create() requires WrapperOptions.
  bool is_wrapped() const { return !isolation_.empty() || !layers_.empty(); }
  GivenOptions WrapperOptions(const PluginOptions& options) const;

 private:
  explicit PluginLibrary(std::string path) : path_(std::move(path)) {}

  // The steps of Load. They return "" or the problem, as the end of a sentence about the library.
  std::string Open(bool allow_stable);
  std::string OpenProbed(int flags, bool allow_stable);
  std::string OpenInProcess(const std::string& path, int flags, bool allow_stable);
  std::string OpenSandbox();
  std::string OpenLayers();
  void AdoptLayers(const PluginLibrary& layers);
  std::string FindFunctions(bool allow_stable);
  std::string AdoptPlugin(DeputyPluginFunction function);
  std::string AdoptStable(const TfLiteStableDelegate* stable);

  std::string path_;
  void* handle_ = nullptr;  // handle from dlopen, never closed
  PluginKind kind_ = PluginKind::kExternal;
  DeputyDelegatePlugin plugin_ = {};
  const TfLiteStableDelegate* stable_ = nullptr;
  CreateFunction create_ = nullptr;
  DestroyFunction destroy_ = nullptr;
  std::string isolation_;  // profile of the process in which delegates run; "": none
  std::string layers_;     // layers of the delegates; "": none
};

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_H_
