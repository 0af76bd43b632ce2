// SPDX-License-Identifier: Apache-2.0
//
// Compiler plug-ins: libraries of vendors that select operators and compile them to byte code.
#ifndef DEPUTY_LITERT_SRC_COMPILER_PLUGIN_H_
#define DEPUTY_LITERT_SRC_COMPILER_PLUGIN_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "litert/c/litert_common.h"
#include "litert/src/log.h"
#include "litert/vendors/c/litert_compiler_plugin_api.h"

namespace deputy::litert {

class CompilerPlugin {
 public:
  explicit CompilerPlugin(std::string path) : path_(std::move(path)) {}
  ~CompilerPlugin();
  CompilerPlugin(const CompilerPlugin&) = delete;
  CompilerPlugin& operator=(const CompilerPlugin&) = delete;

  // Loads and creates the plug-in. The environment's options and `options` must outlive it. Returns
  // the reason why the plug-in does not fit, or "".
  std::string Open(LiteRtEnvironmentOptions environment, LiteRtOptions options);

  const std::string& path() const { return path_; }
  const std::string& manufacturer() const { return manufacturer_; }
  const std::string& sdk_version() const { return sdk_version_; }
  const std::vector<std::string>& soc_models() const { return soc_models_; }
  LiteRtHwAcceleratorSet hardware() const { return hardware_; }
  const LiteRtCompilerPluginApi& api() const { return api_; }
  LiteRtCompilerPlugin handle() const { return handle_; }

  // Logs an error that begins with the plug-in's name and file, and returns `status`.
  LiteRtStatus Refuse(LiteRtStatus status, const std::string& reason) const {
    return Fail(status, "compiler plug-in '%s' (%s): %s", manufacturer_.c_str(), path_.c_str(),
                reason.c_str());
  }

  // Calls a function of the plug-in; a failure is logged with the function's name.
  template <typename Function, typename... Arguments>
  LiteRtStatus Call(const char* name, Function function, Arguments... arguments) const {
    const LiteRtStatus status = Guard([&] { return function(arguments...); });
    if (status == kLiteRtStatusOk) return status;
    return Refuse(status, std::string(name) + " failed: " + LiteRtGetStatusString(status));
  }

 private:
  std::string Load();
  std::string Inspect();

  const std::string path_;
  std::string manufacturer_, sdk_version_;
  std::vector<std::string> soc_models_;
  LiteRtHwAcceleratorSet hardware_ = kLiteRtHwAcceleratorNone;
  LiteRtCompilerPluginApi api_ = {};
  LiteRtCompilerPlugin handle_ = nullptr;
};

// Held during calls of plug-ins, whose functions are called by one thread at a time.
std::recursive_mutex& CompilerPluginMutex();

using CompilerPlugins = std::vector<std::shared_ptr<CompilerPlugin>>;

// Opens the plug-ins below a folder, those for NPUs first, then those for GPUs. One that does not
// fit is left out with a warning.
CompilerPlugins OpenCompilerPlugins(const std::string& folder, LiteRtEnvironmentOptions environment,
                                    LiteRtOptions options);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_COMPILER_PLUGIN_H_
