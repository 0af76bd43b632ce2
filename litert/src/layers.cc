// SPDX-License-Identifier: Apache-2.0
#include "litert/src/layers.h"

#include <dlfcn.h>

#include <cstdlib>

#include "core/support/option_list.h"
#include "deputy/deputy.h"
#include "deputy/deputy_layers.h"
#include "litert/src/log.h"

namespace deputy::litert {
namespace {

// Functions of libdeputy_layers.so, which is never unloaded.
struct LayersLibrary {
  decltype(&DeputyLayersCreateDelegate) create = nullptr;
  decltype(&DeputyLayersDeleteDelegate) remove = nullptr;
  std::string problem;  // "" if both functions exist
};

LayersLibrary OpenLayersLibrary() {
  LayersLibrary library;
  DeputyPlugin* const plugin = DeputyPluginLoad("layers");
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (plugin == nullptr || DeputyPluginDescribe(plugin, &info) != kTfLiteOk) {
    library.problem = DeputyLastError();
  } else if (void* const handle = dlopen(info.path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE)) {
    library.create = reinterpret_cast<decltype(&DeputyLayersCreateDelegate)>(
        dlsym(handle, "DeputyLayersCreateDelegate"));
    library.remove = reinterpret_cast<decltype(&DeputyLayersDeleteDelegate)>(
        dlsym(handle, "DeputyLayersDeleteDelegate"));
    if (library.create == nullptr || library.remove == nullptr) {
      library.problem = std::string(info.path) + " has no function DeputyLayersCreateDelegate";
    }
  } else {
    library.problem = dlerror();
  }
  DeputyPluginRelease(plugin);
  return library;
}

const LayersLibrary& Library() {
  static const LayersLibrary library = OpenLayersLibrary();
  return library;
}

void LogProblem(const char* text) { Log(kLiteRtLogSeverityError, "DEPUTY_LAYERS: %s", text); }

}  // namespace

void DeleteLayered::operator()(TfLiteDelegate* delegate) const { Library().remove(delegate); }

std::string DelegateLayers() {
  std::string layers;
  const char* const value = std::getenv("DEPUTY_LAYERS");
  if (value == nullptr) return layers;
  for (const std::string& layer : SplitOptions(value)) {
    const std::string name = SplitOption(layer).first;
    if (name != "validate" && name != "verify") AppendOption(layer, &layers);
  }
  return layers;
}

LiteRtStatus WrapInLayers(TfLiteDelegate* delegate, LayeredDelegate* out_layered) {
  const std::string layers = DelegateLayers();
  if (layers.empty()) return kLiteRtStatusOk;
  const LayersLibrary& library = Library();
  if (!library.problem.empty()) {
    LogProblem(library.problem.c_str());
    return kLiteRtStatusErrorNotFound;
  }
  out_layered->reset(library.create(delegate, layers.c_str(), &LogProblem));
  return *out_layered == nullptr ? kLiteRtStatusErrorInvalidArgument : kLiteRtStatusOk;
}

}  // namespace deputy::litert
