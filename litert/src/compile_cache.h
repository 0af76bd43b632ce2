// SPDX-License-Identifier: Apache-2.0
//
// Compiled models in the folder kLiteRtEnvOptionTagCompilerCacheDir. An entry is valid for one
// model, its options, and the plug-ins that compiled it.
#ifndef DEPUTY_LITERT_SRC_COMPILE_CACHE_H_
#define DEPUTY_LITERT_SRC_COMPILE_CACHE_H_

#include <memory>
#include <string>

#include "deputy/delegate_serialization.h"
#include "litert/src/compiler_plugin.h"
#include "litert/src/model.h"
#include "litert/src/options.h"

namespace deputy::litert {

class CompileCache {
 public:
  // Finds the entry of a model. Without the option of the environment, and with opaque options that
  // have no hash, nothing is cached.
  CompileCache(LiteRtEnvironment environment, const LiteRtOptionsT& options,
               const LiteRtModelT& model, const char* soc_model, const CompilerPlugins& plugins);

  // Returns the compiled model; null if there is no valid entry. A damaged one is removed.
  std::unique_ptr<LiteRtModelT> Load() const;
  // Stores the compiled model and removes the oldest entries beyond the limits of the environment
  // (kLiteRtEnvOptionTagCompilerCacheMaxConfigsPerModel, ...MaxTotalSize). A failure is logged.
  void Store(const LiteRtModelT& compiled) const;

 private:
  DeputySerialization store() const {
    return {.folder = folder_.c_str(), .model_token = token_.c_str()};
  }
  void RemoveOldest() const;

  std::string folder_;  // "": nothing is cached
  std::string token_;   // hash of the model, "-" and its name
  DeputyFingerprint key_ = {};
  size_t max_configs_ = 1;  // as in LiteRT
  uint64_t max_bytes_ = 0;  // 0: no limit
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_COMPILE_CACHE_H_
