// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the XNNPACK delegate's library.
#include "mindspore/plugin.h"

#include <memory>
#include <string>

#include "bridges/xnnpack/delegate.h"
#include "bridges/xnnpack/operators.h"

namespace {

constexpr int64_t kMaxThreads = 1024;

const DeputyPluginOption kOptions[] = {
    {"num_threads", kDeputyOptionInt, 0, "1", "Number of threads that XNNPACK uses."},
};

std::shared_ptr<mindspore::Delegate> Make(const mindspore::PluginOptions& options,
                                          std::string* error) {
  const int64_t threads = options.Int("num_threads");
  if (threads < 1 || threads > kMaxThreads) {
    *error = "option 'num_threads': expected 1 to " + std::to_string(kMaxThreads) + ", found " +
             std::to_string(threads);
    return nullptr;
  }
  return std::make_shared<deputy::xnnpack::XnnpackDelegate>(static_cast<size_t>(threads));
}

constexpr mindspore::PluginDescription kPlugin = {
    "xnnpack", DEPUTY_XNNPACK_VERSION,         "Deputy", kOptions,         1,
    Make,      deputy::xnnpack::ListOperators, "CPU",    "as in the model"};

}  // namespace

MINDSPORE_DELEGATE_PLUGIN(kPlugin)
