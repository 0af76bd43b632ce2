// SPDX-License-Identifier: Apache-2.0
//
// The variable DEPUTY_LAYERS: the plug-in `layers` passes the calls of other plug-ins' delegates
// through layers.
#ifndef DEPUTY_CORE_PLUGIN_LAYERS_H_
#define DEPUTY_CORE_PLUGIN_LAYERS_H_

#include <optional>
#include <string>

#include "core/plugin/plugin_options.h"

namespace deputy {

// Name and file of the plug-in.
inline constexpr const char* kLayers = "layers";
inline constexpr const char* kLayersFile = "libdeputy_layers.so";

// Returns the layers of DEPUTY_LAYERS that the plug-in implements, with the layer `isolate` for the
// value of DEPUTY_ISOLATE at their end, unless they contain it; "" if there are none.
std::string LayersFromEnvironment();

// Returns the value of a layer of DEPUTY_LAYERS that the interpreter implements, `validate` or
// `verify`; nothing if the variable does not contain it.
std::optional<std::string> InterpreterLayer(const std::string& name);

// Returns true if the list contains the layer `isolate`.
bool HasIsolation(const std::string& layers);

// Returns the options with which the plug-in wraps a delegate of the library at `path` that would
// be created with `options`.
GivenOptions LayersOptions(const std::string& path, const std::string& layers,
                           const PluginOptions& options);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_LAYERS_H_
