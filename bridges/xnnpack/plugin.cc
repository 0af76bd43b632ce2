// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the XNNPACK delegate's library.
#include "mindspore/plugin.h"

#include <iterator>
#include <memory>
#include <string>

#include "bridges/xnnpack/delegate.h"
#include "bridges/xnnpack/operators.h"
#include "core/support/host_device.h"
#include "deputy/deputy_plugin_entry.h"

namespace {

using deputy::xnnpack::XnnpackDelegate;

constexpr int64_t kMaxThreads = 1024;

const DeputyPluginOption kOptions[] = {
    {"num_threads", kDeputyOptionInt, 0, "1", "Number of threads that XNNPACK uses."},
    {"cache_dir", kDeputyOptionString, 0, "", "Directory in which packed weights are stored."},
};
// The last option exists only if this version of XNNPACK can store packed weights.
constexpr size_t kOptionCount = std::size(kOptions) - (deputy::xnnpack::kCanStoreWeights ? 0 : 1);

std::shared_ptr<mindspore::Delegate> Make(const mindspore::PluginOptions& options,
                                          std::string* error) {
  const int64_t threads = options.Int("num_threads");
  if (threads < 1 || threads > kMaxThreads) {
    *error = "option 'num_threads': expected 1 to " + std::to_string(kMaxThreads) + ", found " +
             std::to_string(threads);
    return nullptr;
  }
  return std::make_shared<XnnpackDelegate>(static_cast<size_t>(threads), options.Text("cache_dir"));
}

void Report(mindspore::Delegate* delegate, DeputyDelegateReport* report) {
  static_cast<const XnnpackDelegate*>(delegate)->Report(report);
}

TfLiteStatus ListDevices(DeputyDeviceCallback callback, void* user_data,
                         deputy::plugin_entry::ReportError report_error) {
  return deputy::plugin_entry::Contain(kTfLiteError, report_error, [&](std::string*) {
    deputy::ListHostDevice("XNNPACK", "", callback, user_data);
    return kTfLiteOk;
  });
}

constexpr mindspore::PluginDescription kPlugin = {
    "xnnpack", DEPUTY_XNNPACK_VERSION,         "Deputy", kOptions,          kOptionCount,
    Make,      deputy::xnnpack::ListOperators, "CPU",    "as in the model", ListDevices,
    Report};

}  // namespace

MINDSPORE_DELEGATE_PLUGIN(kPlugin)
