// SPDX-License-Identifier: Apache-2.0
//
// Builds a delegate plug-in, a library that Deputy and other hosts of TensorFlow Lite's external
// delegates load at run time, from a delegate with MindSpore's interface. The library links
// libdeputy_mindspore, and one of its sources contains
//
//     static std::shared_ptr<mindspore::Delegate> Make(const mindspore::PluginOptions& options,
//                                                      std::string* error) {
//       return std::make_shared<MyDelegate>(options.Int("threads"));
//     }
//     static const DeputyPluginOption kOptions[] = {
//         {"threads", kDeputyOptionInt, 0, "1", "Number of threads."}};
//     static const mindspore::PluginDescription kPlugin = {"mine", "1.0", "Me", kOptions, 1, Make};
//     MINDSPORE_DELEGATE_PLUGIN(kPlugin)
//
// examples/mindspore_plugin.cc is a complete example.
#ifndef DEPUTY_MINDSPORE_INCLUDE_PLUGIN_H_
#define DEPUTY_MINDSPORE_INCLUDE_PLUGIN_H_

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <string>

#include "delegate.h"
#include "deputy/deputy_plugin.h"
#include "deputy/deputy_plugin_entry.h"

namespace mindspore {

// The options that the host passes, and the defaults of the others. Each value conforms to the type
// of its option.
class PluginOptions {
 public:
  // Return an option of the description by name; "" or 0 for an unknown name.
  std::string Text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }
  int64_t Int(const std::string& name) const {
    return std::strtoll(Text(name).c_str(), nullptr, 10);
  }
  double Float(const std::string& name) const { return std::strtod(Text(name).c_str(), nullptr); }
  bool Bool(const std::string& name) const { return Text(name) == "true" || Text(name) == "1"; }

  // Sets an option to a value. Returns "" or the reason why the value is invalid. Called by the
  // runtime.
  std::string Set(const DeputyPluginOption& option, const std::string& value) {
    values_[option.name] = value;
    if (option.type == kDeputyOptionString) return "";
    char* end = nullptr;
    errno = 0;
    const char* type = "true, false, 1 or 0";
    bool right = value == "true" || value == "false" || value == "1" || value == "0";
    if (option.type == kDeputyOptionInt) {
      std::strtoll(value.c_str(), &end, 10);
      type = "a whole number";
    } else if (option.type == kDeputyOptionFloat) {
      std::strtod(value.c_str(), &end);
      type = "a number";
    }
    if (end != nullptr) right = !value.empty() && *end == '\0' && errno == 0;
    if (right) return "";
    return "option '" + std::string(option.name) + "': expected " + type + ", found '" + value +
           "'";
  }

 private:
  std::map<std::string, std::string> values_;
};

// Description of a plug-in library. It must be valid for the lifetime of the process.
struct PluginDescription {
  // Short name, version and vendor, as shown to users.
  const char* name;
  const char* version;
  const char* vendor;
  const DeputyPluginOption* options;
  size_t option_count;
  // Creates a delegate. Returns null on failure, with the reason in `error`. May throw.
  std::shared_ptr<Delegate> (*create)(const PluginOptions& options, std::string* error);
  // Calls `callback` for each operator that the delegates support, for support tables. Null if the
  // plug-in does not provide the list. May throw.
  void (*list_operators)(DeputyDelegateOperatorCallback callback, void* user_data) = nullptr;
  // Name of the device and precision of the computation, for reports. Null if unknown.
  const char* device = nullptr;
  const char* precision = nullptr;
  // Implements DeputyDelegatePlugin::list_devices; must not throw. Null if the plug-in does not
  // list its devices.
  TfLiteStatus (*list_devices)(DeputyDeviceCallback callback, void* user_data,
                               void (*report_error)(const char* text)) = nullptr;
  // Adds to the report of a delegate that `create` has returned. May be called from any thread,
  // also while the delegate builds a model; must not throw. Null if there is nothing to add.
  void (*report)(Delegate* delegate, DeputyDelegateReport* report) = nullptr;
};

namespace detail {

// The functions that a library exports for its description.
template <const PluginDescription& kDescription>
struct PluginExports {
  static TfLiteDelegate* Create(const char* const* keys, const char* const* values, size_t count,
                                void (*report_error)(const char* text)) {
    std::string error = "out of memory";
    TfLiteDelegate* delegate = nullptr;
    try {
      delegate = Make(keys, values, count, &error);
    } catch (const std::exception& exception) {
      if (report_error != nullptr) report_error(exception.what());
      return nullptr;
    } catch (...) {
      error = "the library threw an exception";
    }
    if (delegate == nullptr && report_error != nullptr) report_error(error.c_str());
    return delegate;
  }

  static TfLiteDelegate* Make(const char* const* keys, const char* const* values, size_t count,
                              std::string* error) {
    PluginOptions options;
    for (size_t i = 0; i < kDescription.option_count; ++i) {
      options.Set(kDescription.options[i], kDescription.options[i].default_value);
    }
    for (size_t k = 0; k < count; ++k) {
      const DeputyPluginOption* option = Find(keys[k]);
      *error = option == nullptr ? "unknown option '" + std::string(keys[k]) + "'"
                                 : options.Set(*option, values[k]);
      if (!error->empty()) return nullptr;
    }
    *error = "the library returned no delegate";
    const std::shared_ptr<Delegate> delegate = kDescription.create(options, error);
    return delegate == nullptr ? nullptr : ToTfLiteDelegate(delegate);
  }

  static const DeputyPluginOption* Find(const std::string& name) {
    for (size_t i = 0; i < kDescription.option_count; ++i) {
      if (name == kDescription.options[i].name) return &kDescription.options[i];
    }
    return nullptr;
  }

  static void Destroy(TfLiteDelegate* delegate) { DeputyMSDelegateDeleteTfLite(delegate); }

  static TfLiteStatus GetSupport(TfLiteDelegate* delegate, TfLiteContext* context,
                                 DeputySupportResult* result) {
    return DeputyMSDelegateGetSupport(delegate, context, result) == kMSStatusSuccess ? kTfLiteOk
                                                                                     : kTfLiteError;
  }

  static TfLiteStatus ListOperators(DeputyDelegateOperatorCallback callback, void* user_data) {
    try {
      if (callback != nullptr) kDescription.list_operators(callback, user_data);
    } catch (...) {
      return kTfLiteError;
    }
    return kTfLiteOk;
  }

  static TfLiteStatus Report(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                             DeputyOptionUseCallback, void*) {
    report->device = kDescription.device;
    report->precision = kDescription.precision;
    void* const state = DeputyMSDelegateGetUserData(delegate);
    if (kDescription.report != nullptr && state != nullptr) {
      kDescription.report(static_cast<DelegateState*>(state)->delegate.get(), report);
    }
    return DeputyMSDelegateGetCompileTime(delegate, &report->compile_ns) == kMSStatusSuccess
               ? kTfLiteOk
               : kTfLiteError;
  }

  static const DeputyDelegatePlugin* Describe() {
    static const DeputyDelegatePlugin plugin = [] {
      DeputyDelegatePlugin p = {};
      p.struct_size = sizeof p;
      p.abi_version = DEPUTY_PLUGIN_ABI_VERSION;
      p.preferred_layout = kDeputyLayoutNhwc;
      p.name = kDescription.name;
      p.version = kDescription.version;
      p.vendor = kDescription.vendor;
      p.options = kDescription.options;
      p.option_count = kDescription.option_count;
      p.create = Create;
      p.destroy = Destroy;
      p.get_support = GetSupport;
      if (kDescription.list_operators != nullptr) p.list_operators = ListOperators;
      p.report = Report;
      p.list_devices = kDescription.list_devices;
      return p;
    }();
    return &plugin;
  }
};

}  // namespace detail

}  // namespace mindspore

// Defines the library's exported functions. `description` is a static const
// mindspore::PluginDescription.
#define MINDSPORE_DELEGATE_PLUGIN(description) \
  DEPUTY_PLUGIN_EXPORTS(mindspore::detail::PluginExports<description>::Describe())

#endif  // DEPUTY_MINDSPORE_INCLUDE_PLUGIN_H_
