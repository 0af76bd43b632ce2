// SPDX-License-Identifier: Apache-2.0
//
// Options for a plug-in, and their check against those that it declares.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_OPTIONS_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_OPTIONS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy_plugin.h"

namespace deputy {

// Options for a plug-in: `count` strings in each array.
struct PluginOptions {
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
};

// Keys and values as the client passed them.
using GivenOptions = std::vector<std::pair<std::string, std::string>>;

// Checks options; returns "" or the problem. If `plugin` is null or declares no options, all keys
// and values are valid unless null.
std::string CheckPluginOptions(const DeputyDelegatePlugin* plugin, const PluginOptions& options);

// Checks new values for options of an existing delegate: like CheckPluginOptions, and that declared
// options are `live`.
std::string CheckLiveOptions(const DeputyDelegatePlugin* plugin, const PluginOptions& options);

// Returns the options as one text, KEY=VALUE;KEY=VALUE (core/support/option_list.h).
std::string JoinOptions(const PluginOptions& options);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_OPTIONS_H_
