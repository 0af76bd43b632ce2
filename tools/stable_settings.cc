// SPDX-License-Identifier: Apache-2.0
//
// Creates stable delegates, which receive their settings as a FlatBuffer table of TensorFlow Lite.
// Only the fields common to all delegates are written here, by field number.
#include "stable_settings.h"

#include <flatbuffers/flatbuffers.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "delegate_option.h"
#include "text.h"
#include "user_file.h"

namespace deputy::tools {
namespace {

using Library = nlohmann::json;

constexpr const char* kOption = "--stable_delegate_settings_file";
constexpr const char* kLoader = "stable_delegate_loader_settings";
constexpr const char* kPartitions = "max_delegated_partitions";

// Fields of the tables, as vtable offsets: 4 for the first field, plus 2 for each further one.
constexpr flatbuffers::voffset_t kPartitionsField = 18,
                                 kLoaderField = 28;               // fields of TFLiteSettings
constexpr flatbuffers::voffset_t kPathField = 4, kNameField = 6;  // fields of the loader's settings

struct StableSettings {
  std::string library, name;
  int max_partitions = 0;
};

void WarnOfKey(const std::string& key) {
  std::fprintf(stderr, "deputy: warning: %s: %s is ignored: only %s and %s are passed on\n",
               kOption, OneLine(key).c_str(), kLoader, kPartitions);
}

std::string StringOf(const Library& table, const char* key) {
  const auto found = table.find(key);
  return found != table.end() && found->is_string() ? found->get<std::string>() : "";
}

StableSettings ReadSettings(const std::string& path) {
  const Library json = Library::parse(ReadFile(path, kMaxSettingsBytes), nullptr, false, true);
  StableSettings settings;
  if (json.is_object() && json.contains(kLoader) && json[kLoader].is_object()) {
    settings.library = StringOf(json[kLoader], "delegate_path");
    settings.name = StringOf(json[kLoader], "delegate_name");
  }
  if (settings.library.empty()) {
    FailUsage("%s %s: expected JSON with %s.delegate_path", kOption, path.c_str(), kLoader);
  }
  for (const auto& [key, value] : json.items()) {
    if (key == kPartitions && value.is_number_integer()) {
      settings.max_partitions = value.get<int>();
    } else if (key != kLoader) {
      WarnOfKey(key);
    }
  }
  return settings;
}

flatbuffers::DetachedBuffer WriteTable(const StableSettings& settings) {
  flatbuffers::FlatBufferBuilder builder;
  const auto path = builder.CreateString(settings.library);
  const auto name = builder.CreateString(settings.name);
  auto start = builder.StartTable();
  builder.AddOffset(kPathField, path);
  if (!settings.name.empty()) builder.AddOffset(kNameField, name);
  const flatbuffers::Offset<flatbuffers::Table> loader(builder.EndTable(start));
  start = builder.StartTable();
  builder.AddOffset(kLoaderField, loader);
  builder.AddElement<int32_t>(kPartitionsField, settings.max_partitions, 0);
  builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start)));
  return builder.Release();
}

}  // namespace

TfLiteDelegate* MakeStableDelegate(const std::string& path, std::string* out_problem) {
  const StableSettings settings = ReadSettings(path);
  const std::unique_ptr<DeputyPlugin, void (*)(DeputyPlugin*)> plugin(
      DeputyPluginLoad(LibraryPath(settings.library).c_str()), &DeputyPluginRelease);
  const flatbuffers::DetachedBuffer buffer = WriteTable(settings);
  TfLiteDelegate* delegate = nullptr;
  if (plugin != nullptr) {
    delegate = DeputyPluginCreateStableDelegate(
        plugin.get(), flatbuffers::GetRoot<flatbuffers::Table>(buffer.data()));
  }
  if (delegate == nullptr) *out_problem = DeputyLastError();
  return delegate;
}

}  // namespace deputy::tools
