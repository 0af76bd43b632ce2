// SPDX-License-Identifier: Apache-2.0
//
// Libraries that delegates come from. The file is read before dlopen sees it, so that each thing
// that can be wrong with its tables has a message of its own and does not end the process.
//
// A library is never unloaded: threads of its own or of a driver that it brought along may still
// run its code, and so may destructors of thread-local data, and that cannot be seen. A file that
// is loaded again is the same library to the system, and takes no memory again.
//
// The object that describes a library is shared: by whoever loaded it and by every delegate made
// from it.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_H_

#include <memory>
#include <string>
#include <utility>

#include "c_api/include/common.h"
#include "c_api/include/deputy_plugin.h"
#include "c_api/include/stable_delegate.h"
#include "core/base/error.h"

namespace deputy {

enum class PluginKind {
  kExternal,  // tflite_plugin_create_delegate and tflite_plugin_destroy_delegate
  kStable,    // TFL_TheStableDelegate
  kDeputy,    // external, and deputy_plugin says more
};

class PluginLibrary {
 public:
  using CreateFunction = TfLiteDelegate* (*)(const char* const* keys, const char* const* values,
                                             size_t count, void (*report_error)(const char* text));
  using DestroyFunction = void (*)(TfLiteDelegate* delegate);

  // Loads the library at `path`; a name without a slash may be that of a plug-in
  // (plugin_folders.h). A stable delegate needs settings, which not every caller can give; without
  // `stable_too` it is refused. Null on failure, with the reason reported.
  static std::shared_ptr<const PluginLibrary> Load(const char* path, bool stable_too,
                                                   ErrorReporter* reporter);
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  const std::string& path() const { return path_; }
  PluginKind kind() const { return kind_; }
  // What the plug-in says of itself, as far as both sides know it; null unless the kind is kDeputy.
  const DeputyDelegatePlugin* plugin() const {
    return kind_ == PluginKind::kDeputy ? &plugin_ : nullptr;
  }
  // Null unless the kind is kStable.
  const TfLiteStableDelegate* stable() const { return stable_; }
  // The plug-in's own name, else that of its file.
  std::string name() const;
  // Null when the kind is kStable.
  CreateFunction create() const { return create_; }
  DestroyFunction destroy() const { return destroy_; }

 private:
  explicit PluginLibrary(std::string path) : path_(std::move(path)) {}

  // Each returns "" or what is wrong, as the end of a sentence about the library.
  std::string Open(bool stable_too);
  std::string OpenHere(int flags, bool stable_too);
  std::string FindFunctions(bool stable_too);
  std::string AdoptPlugin(DeputyPluginFunction function);
  std::string AdoptStable(const TfLiteStableDelegate* stable);

  std::string path_;
  void* handle_ = nullptr;  // dlopen's, never closed
  PluginKind kind_ = PluginKind::kExternal;
  DeputyDelegatePlugin plugin_ = {};
  const TfLiteStableDelegate* stable_ = nullptr;
  CreateFunction create_ = nullptr;
  DestroyFunction destroy_ = nullptr;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_H_
