// SPDX-License-Identifier: Apache-2.0
//
// DEPUTY_ISOLATE: delegates of plug-ins run in processes of their own, through the plug-in
// `sandbox`.
#ifndef DEPUTY_CORE_PLUGIN_ISOLATION_H_
#define DEPUTY_CORE_PLUGIN_ISOLATION_H_

#include <string>
#include <string_view>

#include "core/plugin/plugin_options.h"

namespace deputy {

// Name and file of the plug-in.
inline constexpr const char* kSandbox = "sandbox";
inline constexpr const char* kSandboxFile = "libdeputy_sandbox.so";

// Returns the value of DEPUTY_ISOLATE: a profile of the plug-in, "device" for 1, or an invalid
// value as it is. "" if the variable is not set or 0.
std::string IsolationProfile();

// Returns true for a profile of the plug-in.
bool IsIsolationProfile(std::string_view text);

// Returns the options with which the plug-in runs a delegate of the library at `path` that would be
// created with `options`.
GivenOptions SandboxOptions(const std::string& path, const std::string& profile,
                            const PluginOptions& options);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_ISOLATION_H_
