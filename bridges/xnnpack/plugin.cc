// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the XNNPACK delegate's library.
#include "mindspore/plugin.h"

#include <memory>
#include <string>

#include "bridges/xnnpack/delegate.h"
#include "bridges/xnnpack/operators.h"
#include "core/support/host_device.h"
#include "deputy/deputy_plugin_entry.h"

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

TfLiteStatus ListDevices(DeputyDeviceCallback callback, void* user_data,
                         deputy::plugin_entry::ReportError report_error) {
  return deputy::plugin_entry::Contain(kTfLiteError, report_error, [&](std::string*) {
    deputy::ListHostDevice("XNNPACK", "", callback, user_data);
    return kTfLiteOk;
  });
}

constexpr mindspore::PluginDescription kPlugin = {
    "xnnpack", DEPUTY_XNNPACK_VERSION,         "Deputy", kOptions,          1,
    Make,      deputy::xnnpack::ListOperators, "CPU",    "as in the model", ListDevices};

}  // namespace

MINDSPORE_DELEGATE_PLUGIN(kPlugin)
