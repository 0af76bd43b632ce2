// SPDX-License-Identifier: Apache-2.0
//
// Targets that are delegates from libraries, loaded as any client loads them.
#ifndef DEPUTY_TESTS_CONFORMANCE_PLUGIN_TARGET_H_
#define DEPUTY_TESTS_CONFORMANCE_PLUGIN_TARGET_H_

#include <string>

#include "tests/conformance/plugin_library.h"
#include "tests/conformance/target.h"

namespace deputy::conformance {

using MayRefuse = std::string (*)(const NodeLeft& node);

// The delegate of the library at `path`, made anew for every interpreter. Quantised results may lie
// one step from the reference code's.
Target PluginTarget(const std::string& name, const std::string& path, const PluginOptions& options,
                    MayRefuse may_refuse);

// Why the library gives no such delegate on this machine; "" if it does.
std::string WhyNotHere(const std::string& path, const PluginOptions& options);

// For delegates that say why (deputy_plugin): their own reason.
std::string WhatItTells(const NodeLeft& node);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_PLUGIN_TARGET_H_
