// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library of the delegate that replays records.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "bridges/layers/record/record_file.h"
#include "bridges/replay/delegate.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"

namespace deputy::replay {
namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"record", kDeputyOptionString, 0, "", "File of the layer 'record'."},
    {"crash", kDeputyOptionBool, 0, "0",
     "1: a call that has not returned in the record raises SIGSEGV; 0: it is an error."},
};

struct Options {
  std::string record;
  bool crashes = false;
};

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  for (size_t i = 0; i < count; ++i) {
    if (keys[i] == nullptr || values[i] == nullptr) {
      return "option " + std::to_string(i) + ": expected a key and a value, found NULL";
    }
    const std::string_view key = keys[i], value = values[i];
    if (key == "record") {
      options->record = value;
    } else if (key == "crash" && (value == "0" || value == "false")) {
      options->crashes = false;
    } else if (key == "crash" && (value == "1" || value == "true")) {
      options->crashes = true;
    } else if (key == "crash") {
      return "option 'crash': expected true or false, found '" + std::string(value) + "'";
    } else {
      return "unknown option '" + std::string(key) + "'";
    }
  }
  if (options->record.empty()) return "option 'record': expected the path of a file, found ''";
  return "";
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  *error = ParseOptions(keys, values, count, &options);
  if (!error->empty()) return nullptr;
  record::Record record;
  const std::string problem = record::ReadRecordFile(options.record, &record);
  if (!problem.empty()) {
    *error = "record '" + options.record + "': " + problem;
    return nullptr;
  }
  return CreateDelegate(std::move(record), options.crashes);
}

TfLiteStatus ListDevices(DeputyDeviceCallback, void*, plugin_entry::ReportError report_error) {
  if (report_error != nullptr) report_error("a record has no device");
  return kTfLiteError;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = plugin_entry::Describe("replay", DEPUTY_REPLAY_VERSION, "Deputy");
    plugin.preferred_layout = kDeputyLayoutAny;
    plugin.options = kOptions;
    plugin.option_count = sizeof kOptions / sizeof kOptions[0];
    plugin.create = &plugin_entry::Create<&Create>;
    plugin.list_devices = &ListDevices;
    plugin.destroy = &DestroyDelegate;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::replay

DEPUTY_PLUGIN_EXPORTS(deputy::replay::Describe())
