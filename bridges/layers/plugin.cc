// SPDX-License-Identifier: Apache-2.0
//
// Exported functions of the library of layers.
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bridges/layers/interposer.h"
#include "bridges/layers/library.h"
#include "bridges/layers/stack.h"
#include "core/support/option_list.h"
#include "deputy/deputy_layers.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"
#include "deputy/deputy_plugin_layout.h"

namespace deputy::layers {
namespace {

constexpr DeputyPluginOption kOptions[] = {
    {"library", kDeputyOptionString, 0, "", "Library of the delegate."},
    {"options", kDeputyOptionString, 1, "",
     "Options of the delegate, KEY=VALUE;KEY=VALUE; a backslash precedes a literal ; or \\. An "
     "option ?KEY=VALUE is dropped if the delegate does not declare it."},
    {"layers", kDeputyOptionString, 0, "",
     "Layers, NAME=VALUE;NAME=VALUE, the outermost first; a backslash precedes a literal ; or \\."},
};

struct Options {
  std::string library, options, layers;
};

std::string ParseOptions(const char* const* keys, const char* const* values, size_t count,
                         Options* options) {
  for (size_t i = 0; i < count; ++i) {
    if (keys[i] == nullptr || values[i] == nullptr) {
      return "option " + std::to_string(i) + ": expected a key and a value, found NULL";
    }
    const std::string_view key = keys[i];
    if (key == "library") {
      options->library = values[i];
    } else if (key == "options") {
      options->options = values[i];
    } else if (key == "layers") {
      options->layers = values[i];
    } else {
      return "unknown option '" + std::string(key) + "'";
    }
  }
  if (options->library.empty()) return "option 'library': expected the path of a library, found ''";
  return "";
}

// A delegate of this library. It owns its inner delegate if that was created from `library`.
class Layered final : public Interposer {
 public:
  Layered(const Library& library, TfLiteDelegate* inner, Stack* stack, std::string options)
      : Interposer(inner, library.plugin.node_events != nullptr, std::move(stack->layers)),
        options_(std::move(options)),
        library_(library),
        isolates_(stack->isolates),
        has_layers_inside_(!stack->inside.empty()) {}
  ~Layered() override {
    if (library_.destroy != nullptr) library_.destroy(inner());
  }
  Layered(const Layered&) = delete;
  Layered& operator=(const Layered&) = delete;

  const DeputyDelegatePlugin& plugin() const { return library_.plugin; }
  // Return true if the inner delegate is one of the plug-in `sandbox`, and if its process has
  // further layers.
  bool isolates() const { return isolates_; }
  bool has_layers_inside() const { return has_layers_inside_; }
  // Options of the inner delegate, as a list.
  const std::string& options() const { return options_; }
  void set_options(std::string options) { options_ = std::move(options); }

 private:
  std::string options_;
  const Library library_;
  const bool isolates_, has_layers_inside_;
};

Layered& Of(const TfLiteDelegate* delegate) {
  return static_cast<Layered&>(Interposer::Of(delegate));
}

// ---- Creation -----------------------------------------------------------------------------------

// Returns the path of this library, or of another one in its folder.
std::string PathOf(const char* other) {
  Dl_info info;
  if (dladdr(kOptions, &info) == 0 || info.dli_fname == nullptr) return "";
  std::string path = info.dli_fname;
  return other == nullptr ? path : path.substr(0, path.rfind('/') + 1) + other;
}

void AddDeadline(const char* key, const std::chrono::milliseconds& time, DelegateOptions* options) {
  if (time.count() > 0) options->emplace_back(key, std::to_string(time.count()));
}

// Returns the options of the plug-in `sandbox` for a delegate with the layers inside of `isolate`.
DelegateOptions SandboxOptions(const Options& options, const Stack& stack) {
  DelegateOptions sandbox = {{"profile", stack.profile}};
  if (stack.inside.empty()) {
    sandbox.emplace_back("library", options.library);
    sandbox.emplace_back("options", options.options);
  } else {
    std::string list;
    AppendOption("library=" + options.library, &list);
    AppendOption("options=" + options.options, &list);
    AppendOption("layers=" + stack.inside, &list);
    sandbox.emplace_back("library", PathOf(nullptr));
    sandbox.emplace_back("options", list);
  }
  AddDeadline("prepare_ms", stack.deadlines[static_cast<size_t>(CallKind::kDelegatePrepare)],
              &sandbox);
  AddDeadline("invoke_ms", stack.deadlines[static_cast<size_t>(CallKind::kInvoke)], &sandbox);
  return sandbox;
}

// Returns the options of the inner delegate. Like the plug-in `sandbox`, it drops an option
// ?KEY=VALUE that the library does not declare.
DelegateOptions InnerOptions(const std::string& list, const DeputyDelegatePlugin& plugin) {
  DelegateOptions options;
  for (const std::string& option : SplitOptions(list)) {
    std::pair<std::string, std::string> given = SplitOption(option);
    if (given.first.starts_with('?')) {
      given.first.erase(0, 1);
      const auto is_named = [&](const DeputyPluginOption& declared) {
        return given.first == declared.name;
      };
      if (std::none_of(plugin.options, plugin.options + plugin.option_count, is_named)) continue;
    }
    options.push_back(std::move(given));
  }
  return options;
}

TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                       std::string* error) {
  Options options;
  Stack stack;
  *error = ParseOptions(keys, values, count, &options);
  if (error->empty()) *error = MakeStack(options.layers, &stack);
  if (!error->empty()) return nullptr;
  for (const auto& layer : stack.layers) layer->SetLibrary(options.library, options.options);
  Library library;
  *error = LoadLibrary(stack.isolates ? PathOf("libdeputy_sandbox.so") : options.library, &library);
  if (!error->empty()) return nullptr;
  if ((library.plugin.flags & kDeputyPluginNchw) != 0) {
    *error = "a delegate with images in NCHW cannot be used with layers";
    return nullptr;
  }
  TfLiteDelegate* const inner =
      CreateDelegate(library,
                     stack.isolates ? SandboxOptions(options, stack)
                                    : InnerOptions(options.options, library.plugin),
                     error);
  if (inner == nullptr) return nullptr;
  try {
    return (new Layered(library, inner, &stack, options.options))->table();
  } catch (...) {
    library.destroy(inner);
    throw;
  }
}

void Destroy(TfLiteDelegate* delegate) {
  if (delegate != nullptr) delete &Of(delegate);
}

// ---- Functions of the inner delegate's plug-in --------------------------------------------------

TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                        DeputySupportResult* result) {
  const Layered& layered = Of(delegate);
  if (layered.plugin().get_support == nullptr) return kTfLiteError;
  return layered.plugin().get_support(layered.inner(), context, result);
}

size_t DeviceBytes(TfLiteDelegate* delegate) {
  const Layered& layered = Of(delegate);
  if (layered.plugin().device_bytes == nullptr) return 0;
  return layered.plugin().device_bytes(layered.inner());
}

TfLiteStatus DescribePartitions(TfLiteDelegate* delegate, DeputyPartitionTextCallback callback,
                                void* user_data) {
  const Layered& layered = Of(delegate);
  if (layered.plugin().describe_partitions == nullptr) return kTfLiteError;
  return layered.plugin().describe_partitions(layered.inner(), callback, user_data);
}

TfLiteStatus TakeEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                        void* user_data) {
  const Layered& layered = Of(delegate);
  if (layered.plugin().take_events == nullptr) return kTfLiteError;
  return layered.plugin().take_events(layered.inner(), callback, user_data);
}

TfLiteStatus Report(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                    DeputyOptionUseCallback callback, void* user_data) {
  const Layered& layered = Of(delegate);
  const DeputyOptionUse use = {sizeof use,         "options", layered.options().c_str(),
                               kDeputyOptionGiven, 0,         ""};
  if (!layered.options().empty()) callback(user_data, &use);
  if (layered.plugin().report == nullptr) return kTfLiteOk;
  return layered.plugin().report(layered.inner(), report, callback, user_data);
}

TfLiteStatus NodeEvents(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                        DeputyNodeEventCallback callback, void* user_data) {
  const Layered& layered = Of(delegate);
  if (layered.plugin().node_events == nullptr) return kTfLiteError;
  return layered.NodeEvents(layered.plugin(), context, node, callback, user_data);
}

TfLiteAsyncKernel* NewAsyncKernel(TfLiteDelegate* delegate, TfLiteContext* context,
                                  TfLiteNode* node, const DeputyAsyncRuntime* runtime) {
  const Layered& layered = Of(delegate);
  return plugin_entry::Contain<TfLiteAsyncKernel*>(nullptr, nullptr, [&](std::string*) {
    return layered.NewAsyncKernel(layered.plugin(), context, node, runtime);
  });
}

void SetModel(TfLiteDelegate* delegate, const void* data, size_t size, int32_t file) {
  const Layered& layered = Of(delegate);
  layered.SetModel(data, size);
  if (layered.plugin().set_model == nullptr) return;
  layered.plugin().set_model(layered.inner(), data, size, file);
}

void SetCancellation(TfLiteDelegate* delegate, bool (*is_cancelled)(TfLiteContext* context)) {
  const Layered& layered = Of(delegate);
  if (layered.plugin().set_cancellation == nullptr) return;
  layered.plugin().set_cancellation(layered.inner(), is_cancelled);
}

void SetMemoryProvider(TfLiteDelegate* delegate,
                       TfLiteStatus (*provide)(TfLiteContext* context, int32_t tensor,
                                               const DeputyInputMemory* memory)) {
  const Layered& layered = Of(delegate);
  if (layered.plugin().set_memory_provider == nullptr) return;
  layered.plugin().set_memory_provider(layered.inner(), provide);
}

// Returns the names of the options that can change.
std::string LiveNames(const DeputyDelegatePlugin& plugin) {
  std::string names;
  for (size_t i = 0; i < plugin.option_count; ++i) {
    if (plugin.options[i].live == 0) continue;
    names += std::string(names.empty() ? "'" : ", '") + plugin.options[i].name + "'";
  }
  return names;
}

// Splits a list of changed options for the inner delegate. Returns "" or the problem with a key.
std::string ChangesFor(const Layered& layered, const std::string& list, DelegateOptions* changes) {
  if (layered.isolates()) {
    std::string passed = list;
    if (layered.has_layers_inside()) AppendOption("options=" + list, &(passed = ""));
    changes->emplace_back("options", std::move(passed));
    return "";
  }
  const DeputyDelegatePlugin& plugin = layered.plugin();
  for (const std::string& option : SplitOptions(list)) {
    const std::string& key = changes->emplace_back(SplitOption(option)).first;
    const auto is_named = [&key](const DeputyPluginOption& declared) {
      return key == declared.name && declared.live != 0;
    };
    if (plugin.option_count > 0 &&
        std::none_of(plugin.options, plugin.options + plugin.option_count, is_named)) {
      const std::string names = LiveNames(plugin);
      return "option '" + key + "': " +
             (names.empty() ? "the delegate has no option that can be changed"
                            : "expected one of " + names);
    }
  }
  return "";
}

// Returns the options of `list` with the new values of `changes`.
std::string Changed(const std::string& list, const std::string& changes) {
  DelegateOptions options;
  for (const std::string& each : {list, changes}) {
    for (const std::string& option : SplitOptions(each)) {
      const auto [key, value] = SplitOption(option);
      SetOption(key, value, &options);
    }
  }
  std::string changed;
  for (const auto& [key, value] : options) {
    AppendOption(std::string(key).append("=").append(value), &changed);
  }
  return changed;
}

TfLiteStatus ChangeOptions(Layered* layered, const std::string& list,
                           plugin_entry::ReportError report_error, std::string* error) {
  const auto set_options = layered->plugin().set_options;
  if (set_options == nullptr) {
    *error = "expected a library that can change options of its delegates";
    return kTfLiteError;
  }
  DelegateOptions changes;
  *error = ChangesFor(*layered, list, &changes);
  if (!error->empty()) return kTfLiteError;
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : changes) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  std::string changed = Changed(layered->options(), list);
  const TfLiteStatus status =
      set_options(layered->inner(), keys.data(), values.data(), keys.size(), report_error);
  if (status == kTfLiteOk) layered->set_options(std::move(changed));
  return status;
}

TfLiteStatus SetOptions(TfLiteDelegate* delegate, const char* const* keys,
                        const char* const* values, size_t count,
                        plugin_entry::ReportError report_error) {
  return plugin_entry::Contain(kTfLiteError, report_error, [&](std::string* error) {
    TfLiteStatus status = kTfLiteOk;
    for (size_t i = 0; i < count && status == kTfLiteOk; ++i) {
      if (std::string_view(keys[i]) == "options") {
        status = ChangeOptions(&Of(delegate), values[i], report_error, error);
      } else {
        *error = "unknown option '" + std::string(keys[i]) + "'";
        status = kTfLiteError;
      }
    }
    return status;
  });
}

TfLiteStatus RunStart(TfLiteDelegate* delegate, TfLiteContext* context) {
  const Layered& layered = Of(delegate);
  const auto start = layered.plugin().run_start;
  return start == nullptr ? kTfLiteOk : start(layered.inner(), context);
}

TfLiteStatus RunEnd(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteStatus status) {
  const Layered& layered = Of(delegate);
  const auto end = layered.plugin().run_end;
  return end == nullptr ? kTfLiteOk : end(layered.inner(), context, status);
}

// Wraps a delegate that the program has created.
TfLiteDelegate* Wrap(TfLiteDelegate* delegate, const char* layers, std::string* error) {
  if (delegate == nullptr || layers == nullptr) {
    *error =
        delegate == nullptr ? "expected a delegate, found NULL" : "expected layers, found NULL";
    return nullptr;
  }
  Stack stack;
  *error = MakeStack(layers, &stack);
  if (error->empty() && stack.isolates) {
    *error = "layer 'isolate': expected the library of the delegate, found a delegate";
  }
  return error->empty() ? (new Layered(Library(), delegate, &stack, ""))->table() : nullptr;
}

TfLiteStatus ListDevices(DeputyDeviceCallback, void*, plugin_entry::ReportError report_error) {
  if (report_error != nullptr)
    report_error("the devices are those of the library that a delegate wraps");
  return kTfLiteError;
}

const DeputyDelegatePlugin* Describe() {
  static const DeputyDelegatePlugin kPlugin = [] {
    DeputyDelegatePlugin plugin = plugin_entry::Describe("layers", DEPUTY_LAYERS_VERSION, "Deputy");
    plugin.preferred_layout = kDeputyLayoutAny;
    plugin.options = kOptions;
    plugin.option_count = sizeof kOptions / sizeof kOptions[0];
    plugin.create = &plugin_entry::Create<&Create>;
    plugin.list_devices = &ListDevices;
    plugin.destroy = &Destroy;
    plugin.get_support = &GetSupport;
    plugin.device_bytes = &DeviceBytes;
    plugin.describe_partitions = &DescribePartitions;
    plugin.take_events = &TakeEvents;
    plugin.report = &Report;
    plugin.node_events = &NodeEvents;
    plugin.set_model = &SetModel;
    plugin.set_cancellation = &SetCancellation;
    plugin.set_memory_provider = &SetMemoryProvider;
    plugin.set_options = &SetOptions;
    plugin.run_start = &RunStart;
    plugin.run_end = &RunEnd;
    plugin.async_kernel = &NewAsyncKernel;
    return plugin;
  }();
  return &kPlugin;
}

}  // namespace
}  // namespace deputy::layers

TfLiteDelegate* DeputyLayersCreateDelegate(TfLiteDelegate* delegate, const char* layers,
                                           void (*report_error)(const char* text)) {
  return deputy::plugin_entry::Contain<TfLiteDelegate*>(
      nullptr, report_error,
      [&](std::string* error) { return deputy::layers::Wrap(delegate, layers, error); });
}

void DeputyLayersDeleteDelegate(TfLiteDelegate* delegate) { deputy::layers::Destroy(delegate); }

DEPUTY_PLUGIN_EXPORTS(deputy::layers::Describe())
