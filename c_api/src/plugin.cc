// SPDX-License-Identifier: Apache-2.0
//
// Registry of plug-ins. It keeps no state between calls: a list is the result of one search.
// Libraries stay loaded, see core/plugin/plugin.h.
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/src/plugin_handle.h"
#include "c_api/src/struct_io.h"
#include "core/plugin/delegate_report.h"
#include "core/plugin/plugin_delegate.h"
#include "core/plugin/plugin_folders.h"

using deputy::ErrorReporter;
using deputy::Guard;
using deputy::PluginKind;
using deputy::PluginLibrary;

struct DeputyPluginList {
  struct Entry {
    std::string path;
    std::string error;
    DeputyPlugin* plugin = nullptr;  // null if loading failed; `error` then has the reason
  };
  ~DeputyPluginList() {
    for (const Entry& entry : entries) DeputyPluginRelease(entry.plugin);
  }
  std::vector<Entry> entries;
};

namespace {

DeputyPlugin* Load(const char* path, ErrorReporter* reporter) {
  auto plugin = std::make_unique<DeputyPlugin>();
  plugin->library = PluginLibrary::Load(path, true, reporter);
  if (plugin->library == nullptr) return nullptr;
  plugin->name = plugin->library->name();
  return plugin.release();
}

// Reporter that discards messages: the entries of a list of plug-ins contain the errors, and
// DeputyLastError has those of options.
void DiscardMessage(void*, const char*, va_list) {}

class Search {
 public:
  explicit Search(DeputyPluginList* list) : list_(list) {}

  // Adds a file, or the files of a directory.
  void Add(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      AddDirectory(path);
    } else {
      AddFile(path);
    }
  }

 private:
  void AddDirectory(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      if (deputy::IsLibraryName(at->path().filename().string()))
        paths.push_back(at->path().string());
    }
    if (error) list_->entries.push_back({folder, "cannot be read: " + error.message()});
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      if (!std::filesystem::is_directory(path, error)) AddFile(path);
    }
  }

  // Adds a file, unless it is another name of a file that was added before.
  void AddFile(const std::string& path) {
    struct stat file_status = {};
    if (stat(path.c_str(), &file_status) == 0 &&
        !seen_.insert({file_status.st_dev, file_status.st_ino}).second) {
      return;
    }
    list_->entries.push_back({path, ""});
    DeputyPluginList::Entry& entry = list_->entries.back();
    ErrorReporter reporter(DiscardMessage, nullptr);
    entry.plugin = Load(path.c_str(), &reporter);
    if (entry.plugin == nullptr) entry.error = reporter.last_error();
  }

  DeputyPluginList* list_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

const DeputyPluginList::Entry* EntryOf(const DeputyPluginList* list, size_t index) {
  const bool exists = list != nullptr && index < list->entries.size();
  return exists ? &list->entries[index] : nullptr;
}

const char* EmptyIfNull(const char* text) { return text == nullptr ? "" : text; }

DeputyPluginInfo InfoOf(const DeputyPlugin& plugin) {
  DeputyPluginInfo info{};
  info.path = plugin.library->path().c_str();
  info.kind = kDeputyPluginExternal;
  info.name = plugin.name.c_str();
  info.version = info.vendor = "";
  if (const TfLiteStableDelegate* stable = plugin.library->stable()) {
    info.kind = kDeputyPluginStable;
    info.version = EmptyIfNull(stable->delegate_version);
  }
  if (const DeputyDelegatePlugin* own = plugin.library->plugin()) {
    info.kind = kDeputyPluginDeputy;
    info.version = EmptyIfNull(own->version);
    info.vendor = EmptyIfNull(own->vendor);
    info.preferred_layout = own->preferred_layout;
    info.options = own->options;
    info.option_count = own->option_count;
  }
  return info;
}

// Reports an error and returns false unless the plug-in has the kind that the caller expects.
bool CheckKind(const DeputyPlugin* plugin, bool stable, ErrorReporter* reporter) {
  if (plugin != nullptr && (plugin->library->kind() == PluginKind::kStable) == stable) return true;
  reporter->Report(
      "Unable to create external delegate from : %s (expected %s, found %s)",
      plugin == nullptr ? "" : plugin->library->path().c_str(),
      stable ? "a stable delegate, which takes settings" : "a delegate that takes options",
      plugin == nullptr ? "NULL" : (stable ? "one that takes options" : "a stable delegate"));
  return false;
}

}  // namespace

// ---- Plug-ins -----------------------------------------------------------------------------------

DeputyPlugin* DeputyPluginLoad(const char* path) {
  return DeputyPluginLoadWithErrorReporter(path, nullptr, nullptr);
}

DeputyPlugin* DeputyPluginLoadWithErrorReporter(const char* path,
                                                void (*report)(void* user_data, const char* format,
                                                               va_list args),
                                                void* user_data) {
  return Guard(nullptr, [&] {
    ErrorReporter reporter(report, user_data);
    return Load(path, &reporter);
  });
}

DeputyPlugin* DeputyPluginRetain(DeputyPlugin* plugin) {
  if (plugin != nullptr) plugin->references.fetch_add(1, std::memory_order_relaxed);
  return plugin;
}

void DeputyPluginRelease(DeputyPlugin* plugin) {
  if (plugin != nullptr && plugin->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete plugin;
  }
}

TfLiteStatus DeputyPluginDescribe(const DeputyPlugin* plugin, DeputyPluginInfo* info) {
  return plugin == nullptr ? kTfLiteError : deputy::WriteStruct(InfoOf(*plugin), info);
}

TfLiteStatus DeputyPluginListDevices(const DeputyPlugin* plugin, DeputyDeviceCallback callback,
                                     void* user_data) {
  return Guard(kTfLiteError, [&] {
    ErrorReporter reporter;
    if (plugin == nullptr) {
      reporter.Report("DeputyPluginListDevices: expected a plug-in, found NULL");
      return kTfLiteError;
    }
    return deputy::ListPluginDevices(*plugin->library, callback, user_data, &reporter);
  });
}

TfLiteStatus DeputyPluginListOperators(const DeputyPlugin* plugin,
                                       DeputyDelegateOperatorCallback callback, void* user_data) {
  return Guard(kTfLiteError, [&] {
    ErrorReporter reporter;
    if (plugin == nullptr) {
      reporter.Report("DeputyPluginListOperators: expected a plug-in, found NULL");
      return kTfLiteError;
    }
    return deputy::ListPluginOperators(*plugin->library, callback, user_data, &reporter);
  });
}

// ---- Lists --------------------------------------------------------------------------------------

DeputyPluginList* DeputyPluginListCreate(const char* paths) {
  return Guard(nullptr, [&] {
    auto list = std::make_unique<DeputyPluginList>();
    Search search(list.get());
    const std::vector<std::string> all =
        paths == nullptr ? deputy::PluginPaths() : deputy::SplitPluginPaths(paths);
    for (const std::string& path : all) search.Add(path);
    return list.release();
  });
}

void DeputyPluginListDelete(DeputyPluginList* list) { delete list; }

size_t DeputyPluginListGetCount(const DeputyPluginList* list) {
  return list == nullptr ? 0 : list->entries.size();
}

DeputyPlugin* DeputyPluginListGetPlugin(const DeputyPluginList* list, size_t index) {
  const auto* entry = EntryOf(list, index);
  return entry == nullptr ? nullptr : entry->plugin;
}

const char* DeputyPluginListGetPath(const DeputyPluginList* list, size_t index) {
  const auto* entry = EntryOf(list, index);
  return entry == nullptr ? nullptr : entry->path.c_str();
}

const char* DeputyPluginListGetError(const DeputyPluginList* list, size_t index) {
  const auto* entry = EntryOf(list, index);
  return entry == nullptr ? nullptr : entry->error.c_str();
}

// ---- Delegates ----------------------------------------------------------------------------------

TfLiteDelegate* DeputyPluginCreateDelegate(DeputyPlugin* plugin, const char* const* keys,
                                           const char* const* values, size_t count) {
  return DeputyPluginCreateDelegateWithErrorReporter(plugin, keys, values, count, nullptr, nullptr);
}

TfLiteDelegate* DeputyPluginCreateDelegateWithErrorReporter(
    DeputyPlugin* plugin, const char* const* keys, const char* const* values, size_t count,
    void (*report)(void* user_data, const char* format, va_list args), void* user_data) {
  return Guard(nullptr, [&]() -> TfLiteDelegate* {
    ErrorReporter reporter(report, user_data);
    if (!CheckKind(plugin, false, &reporter)) return nullptr;
    return deputy::CreatePluginDelegate(plugin->library, {keys, values, count}, &reporter);
  });
}

TfLiteDelegate* DeputyPluginCreateStableDelegate(DeputyPlugin* plugin, const void* settings) {
  return Guard(nullptr, [&]() -> TfLiteDelegate* {
    ErrorReporter reporter;
    if (!CheckKind(plugin, true, &reporter)) return nullptr;
    return deputy::CreateStableDelegate(plugin->library, settings, &reporter);
  });
}

void DeputyPluginDeleteDelegate(TfLiteDelegate* delegate) {
  ErrorReporter reporter;
  deputy::DeletePluginDelegate(delegate, &reporter);
}

TfLiteStatus DeputyPluginDescribePartitions(TfLiteDelegate* delegate,
                                            DeputyPartitionTextCallback callback, void* user_data) {
  return Guard(kTfLiteError, [&] {
    ErrorReporter reporter;
    return deputy::DescribePluginPartitions(delegate, callback, user_data, &reporter);
  });
}

TfLiteStatus DeputyPluginTakeEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                                    void* user_data) {
  return Guard(kTfLiteError, [&] {
    ErrorReporter reporter;
    return deputy::TakePluginEvents(delegate, callback, user_data, &reporter);
  });
}

TfLiteStatus DeputyPluginReportDelegate(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                                        DeputyOptionUseCallback callback, void* user_data) {
  return Guard(kTfLiteError, [&] {
    ErrorReporter reporter;
    DeputyDelegateReport full;
    std::vector<deputy::OptionUse> uses;
    const TfLiteStatus status = deputy::ReportPluginDelegate(delegate, &full, &uses, &reporter);
    if (status != kTfLiteOk) return status;
    if (deputy::WriteStruct(full, report) != kTfLiteOk) {
      return deputy::Fail(&reporter, kTfLiteError,
                          "DeputyPluginReportDelegate: expected a DeputyDelegateReport with its "
                          "size in struct_size");
    }
    for (const deputy::OptionUse& use : uses) {
      const DeputyOptionUse each = {sizeof each, use.name.c_str(), use.value.c_str(), use.state,
                                    0,           use.text.c_str()};
      if (callback != nullptr) callback(user_data, &each);
    }
    return kTfLiteOk;
  });
}

TfLiteStatus DeputyPluginSetDelegateOptions(TfLiteDelegate* delegate, const char* const* keys,
                                            const char* const* values, size_t count) {
  return Guard(kTfLiteError, [&] {
    ErrorReporter reporter(DiscardMessage, nullptr);
    return deputy::SetPluginOptions(delegate, {keys, values, count}, &reporter);
  });
}

TfLiteStatus DeputyPluginGetDelegateOption(TfLiteDelegate* delegate, const char* key,
                                           DeputyOptionUseCallback callback, void* user_data) {
  struct Wanted {
    const char* key;
    DeputyOptionUseCallback callback;
    void* user_data;
    bool found;
  } wanted = {key, callback, user_data, false};
  const auto pass = [](void* data, const DeputyOptionUse* use) {
    auto* const option = static_cast<Wanted*>(data);
    if (option->found || std::strcmp(use->name, option->key) != 0) return;
    option->found = true;
    option->callback(option->user_data, use);
  };
  ErrorReporter reporter(DiscardMessage, nullptr);
  if (key == nullptr || callback == nullptr) {
    return deputy::Fail(&reporter, kTfLiteError,
                        "DeputyPluginGetDelegateOption: expected a key and a callback, found NULL");
  }
  DeputyDelegateReport report = {};
  report.struct_size = sizeof report;
  const TfLiteStatus status = DeputyPluginReportDelegate(delegate, &report, pass, &wanted);
  if (status != kTfLiteOk || wanted.found) return status;
  return deputy::Fail(
      &reporter, kTfLiteError,
      "DeputyPluginGetDelegateOption: expected an option of the delegate, found '%s'", key);
}
