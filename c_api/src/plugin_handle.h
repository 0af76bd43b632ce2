// SPDX-License-Identifier: Apache-2.0
//
// The object that a DeputyPlugin points to.
#ifndef DEPUTY_C_API_SRC_PLUGIN_HANDLE_H_
#define DEPUTY_C_API_SRC_PLUGIN_HANDLE_H_

#include <atomic>
#include <memory>
#include <string>

#include "c_api/include/deputy.h"
#include "core/plugin/plugin.h"

struct DeputyPlugin {
  std::atomic<int> references{1};
  std::shared_ptr<const deputy::PluginLibrary> library;
  std::string name;
};

#endif  // DEPUTY_C_API_SRC_PLUGIN_HANDLE_H_
