// SPDX-License-Identifier: Apache-2.0
//
// `deputy plugins`: lists the delegate libraries found, with their descriptions or the reason why
// they cannot be loaded. The text is written from the JSON document, so that both agree.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "deputy/deputy.h"
#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

using List = std::unique_ptr<DeputyPluginList, void (*)(DeputyPluginList*)>;

const char* KindText(int32_t kind) {
  switch (kind) {
    case kDeputyPluginExternal:
      return "external";
    case kDeputyPluginStable:
      return "stable";
    case kDeputyPluginDeputy:
      return "deputy";
    default:
      return "other";
  }
}

const char* LayoutText(int32_t layout) {
  switch (layout) {
    case kDeputyLayoutNhwc:
      return "NHWC";
    case kDeputyLayoutNchw:
      return "NCHW";
    default:
      return "any";
  }
}

const char* TypeText(int32_t type) {
  switch (type) {
    case kDeputyOptionBool:
      return "bool";
    case kDeputyOptionInt:
      return "int";
    case kDeputyOptionFloat:
      return "float";
    default:
      return "text";
  }
}

std::string OrEmpty(const char* text) { return text == nullptr ? "" : text; }

Json EntryJson(const DeputyPluginList* list, size_t index) {
  Json json = {{"path", OrEmpty(DeputyPluginListGetPath(list, index))}};
  const DeputyPlugin* plugin = DeputyPluginListGetPlugin(list, index);
  DeputyPluginInfo info = {};
  info.struct_size = sizeof info;
  if (plugin == nullptr || DeputyPluginDescribe(plugin, &info) != kTfLiteOk) {
    json["error"] = OrEmpty(DeputyPluginListGetError(list, index));
    return json;
  }
  Json options = Json::array();
  for (size_t i = 0; i < info.option_count; ++i) {
    const DeputyPluginOption& option = info.options[i];
    options.push_back({{"name", OrEmpty(option.name)},
                       {"type", TypeText(option.type)},
                       {"default", OrEmpty(option.default_value)},
                       {"live", option.live != 0},
                       {"help", OrEmpty(option.help)}});
  }
  json.update({{"kind", KindText(info.kind)},
               {"name", info.name},
               {"version", info.version},
               {"vendor", info.vendor},
               {"layout", LayoutText(info.preferred_layout)},
               {"options", options}});
  return json;
}

std::string Field(const Json& json, const char* name) {
  return OneLine(json[name].get<std::string>());
}

void PrintEntry(const Json& entry) {
  if (entry.contains("error")) {
    std::printf("%s\n  cannot be loaded: %s\n", Field(entry, "path").c_str(),
                Field(entry, "error").c_str());
    return;
  }
  const std::string version = Field(entry, "version"), vendor = Field(entry, "vendor");
  std::printf("%s%s%s\n", Field(entry, "name").c_str(),
              version.empty() ? "" : (" " + version).c_str(),
              vendor.empty() ? "" : (", " + vendor).c_str());
  std::printf("  path    %s\n  kind    %s\n  layout  %s\n", Field(entry, "path").c_str(),
              Field(entry, "kind").c_str(), Field(entry, "layout").c_str());
  for (const Json& option : entry["options"]) {
    std::printf("  option  %s=%s (%s%s) %s\n", Field(option, "name").c_str(),
                Field(option, "default").c_str(), Field(option, "type").c_str(),
                option["live"] ? ", live" : "", Field(option, "help").c_str());
  }
}

}  // namespace

void ListPlugins(const PluginsOptions& options) {
  // With this variable, a library that ends the process while it is loaded becomes an entry with an
  // error.
  setenv("DEPUTY_PLUGIN_PROBE", "1", /*replace=*/0);
  std::vector<List> lists;
  if (options.paths.empty()) {
    lists.emplace_back(DeputyPluginListCreate(nullptr), &DeputyPluginListDelete);
  }
  for (const std::string& path : options.paths) {
    lists.emplace_back(DeputyPluginListCreate(path.c_str()), &DeputyPluginListDelete);
  }
  Json entries = Json::array();
  for (const List& list : lists) {
    for (size_t i = 0; i < DeputyPluginListGetCount(list.get()); ++i) {
      entries.push_back(EntryJson(list.get(), i));
    }
  }
  if (options.json) {
    std::printf("%s\n", JsonText(entries, 2).c_str());
  } else if (entries.empty()) {
    std::printf("no plug-ins: name files or folders, or set DEPUTY_PLUGIN_PATH\n");
  } else {
    for (const Json& entry : entries) PrintEntry(entry);
  }
  const auto is_error = [](const Json& entry) { return entry.contains("error"); };
  const auto errors = std::count_if(entries.begin(), entries.end(), is_error);
  if (errors > 0) {
    FailWork("%zu of %s cannot be loaded", static_cast<size_t>(errors),
             PluralText(entries.size(), "file", "files").c_str());
  }
}

}  // namespace deputy::tools
