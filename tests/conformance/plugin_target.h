// SPDX-License-Identifier: Apache-2.0
//
// Targets with delegates from libraries, loaded through the public API.
#ifndef DEPUTY_TESTS_CONFORMANCE_PLUGIN_TARGET_H_
#define DEPUTY_TESTS_CONFORMANCE_PLUGIN_TARGET_H_

#include <string>

#include "tests/conformance/plugin_library.h"
#include "tests/conformance/target.h"

namespace deputy::conformance {

using MayRefuse = std::string (*)(const NodeLeft& node);

// Returns a target that creates a new delegate of the library at `path` for every interpreter. Its
// quantised results may differ from the reference code's by one step.
Target PluginTarget(const std::string& name, const std::string& path, const PluginOptions& options,
                    MayRefuse may_refuse);

// Returns the reason why the library provides no such delegate on this machine; "" if it does.
std::string UnavailableReason(const std::string& path, const PluginOptions& options);

// Returns the delegate's own reason for leaving the node, for libraries that export deputy_plugin.
std::string ReportedReason(const NodeLeft& node);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_PLUGIN_TARGET_H_
