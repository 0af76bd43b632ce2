// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/plugin_delegate.h"

#include <utility>
#include <vector>

#include "c_api/include/deputy_plugin_layout.h"
#include "core/base/delegate_call.h"
#include "core/base/guard.h"
#include "core/plugin/delegate_proxy.h"
#include "core/support/option_list.h"

namespace deputy {
namespace {

TfLiteOpaqueDelegate* Opaque(TfLiteDelegate* delegate) {
  return reinterpret_cast<TfLiteOpaqueDelegate*>(delegate);
}

DelegateProxy::Functions FunctionsOf(const TfLiteDelegate& delegate) {
  if (const TfLiteOpaqueDelegateBuilder* const builder = BuilderOf(&delegate)) {
    return {builder->CopyFromBufferHandle != nullptr, builder->CopyToBufferHandle != nullptr,
            builder->FreeBufferHandle != nullptr};
  }
  return {delegate.CopyFromBufferHandle != nullptr, delegate.CopyToBufferHandle != nullptr,
          delegate.FreeBufferHandle != nullptr};
}

int64_t FlagsOf(const TfLiteDelegate& delegate) {
  const TfLiteOpaqueDelegateBuilder* const builder = BuilderOf(&delegate);
  return builder != nullptr ? builder->flags : delegate.flags;
}

thread_local bool prepares_nchw = false;

// Wraps a delegate of a plug-in: shares the description of its library and passes the plug-in its
// own delegate. (Upstream's wrapper passes itself, which the plug-in cannot use.) The runtime calls
// the functions through CallForeign; CopyToBufferHandle is called directly by clients.
class PluginProxy final : public DelegateProxy {
 public:
  PluginProxy(TfLiteDelegate* inner, std::shared_ptr<const PluginLibrary> library,
              std::shared_ptr<const GivenOptions> options)
      : DelegateProxy(FlagsOf(*inner), FunctionsOf(*inner), BuilderOf(inner) != nullptr),
        inner_(inner),
        library_(std::move(library)),
        options_(std::move(options)) {}

  TfLiteDelegate* inner() const { return inner_; }
  const std::shared_ptr<const PluginLibrary>& library() const { return library_; }
  const std::shared_ptr<const GivenOptions>& options() const { return options_; }
  std::recursive_mutex& support_mutex() const { return support_mutex_; }
  void set_options(std::shared_ptr<const GivenOptions> options) { options_ = std::move(options); }

  TfLiteStatus Prepare(TfLiteContext* context) override {
    const DeputyDelegatePlugin* const plugin = library_->plugin();
    if (plugin != nullptr && (plugin->flags & kDeputyPluginNchw) != 0 && !prepares_nchw) {
      context->ReportError(context,
                           "a delegate with images in NCHW cannot be wrapped by another delegate");
      return kTfLiteDelegateError;
    }
    return ForwardDelegatePrepare(context, inner_);
  }
  TfLiteStatus CopyFromBufferHandle(TfLiteContext* context, TfLiteBufferHandle handle,
                                    TfLiteTensor* tensor) override {
    if (const TfLiteOpaqueDelegateBuilder* const builder = BuilderOf(inner_)) {
      return builder->CopyFromBufferHandle(reinterpret_cast<TfLiteOpaqueContext*>(context),
                                           Opaque(inner_), builder->data, handle,
                                           reinterpret_cast<TfLiteOpaqueTensor*>(tensor));
    }
    return inner_->CopyFromBufferHandle(context, inner_, handle, tensor);
  }
  TfLiteStatus CopyToBufferHandle(TfLiteContext* context, TfLiteBufferHandle handle,
                                  TfLiteTensor* tensor) override {
    const ForeignCall call = {
        .callback = Callback::kCopyTo, .context = context, .delegate = inner_};
    const auto copy = [&](CallResult* out) { out->status = CopyTo(context, handle, tensor); };
    return CallForeign(nullptr, call, copy).status;
  }
  void FreeBufferHandle(TfLiteContext* context, TfLiteBufferHandle* handle) override {
    ForwardFreeBufferHandle(context, inner_, handle);
  }

 private:
  TfLiteStatus CopyTo(TfLiteContext* context, TfLiteBufferHandle handle, TfLiteTensor* tensor) {
    if (const TfLiteOpaqueDelegateBuilder* const builder = BuilderOf(inner_)) {
      return builder->CopyToBufferHandle(reinterpret_cast<TfLiteOpaqueContext*>(context),
                                         Opaque(inner_), builder->data, handle,
                                         reinterpret_cast<TfLiteOpaqueTensor*>(tensor));
    }
    return inner_->CopyToBufferHandle(context, inner_, handle, tensor);
  }

  TfLiteDelegate* const inner_;
  const std::shared_ptr<const PluginLibrary> library_;
  mutable std::recursive_mutex support_mutex_;  // the mutex that LockSupport locks
  // Options that the client has given, at creation or later; null: none.
  std::shared_ptr<const GivenOptions> options_;
};

// Destination of a plug-in's messages during a call of one of its functions. Thread-local, because
// the callback has no user data.
thread_local std::string* current_report = nullptr;

constexpr size_t kMaxReport = 600;

void CollectReport(const char* text) {
  if (current_report == nullptr || text == nullptr) return;
  // If out of memory, the message is truncated.
  Guard(Ignore, [&] {
    if (!current_report->empty()) *current_report += "; ";
    current_report->append(text);
    if (current_report->size() > kMaxReport) current_report->resize(kMaxReport);
  });
}

// Calls `function`; messages that the plug-in reports meanwhile are stored in `*out_report`.
template <typename Function>
CallResult CallReporting(CallObserver* observer, Callback callback, Function&& function,
                         std::string* out_report) {
  std::string* outer = std::exchange(current_report, out_report);
  const CallResult result = CallForeign(observer, {.callback = callback}, function);
  current_report = outer;
  return result;
}

// Calls the plug-in; if it returns no delegate, `*out_problem` contains the reason.
template <typename Create>
TfLiteDelegate* CallCreate(CallObserver* observer, Create&& create, std::string* out_problem) {
  std::string report;
  TfLiteDelegate* delegate = nullptr;
  const CallResult result = CallReporting(
      observer, Callback::kCreate, [&](CallResult*) { delegate = create(); }, &report);
  if (delegate == nullptr) {
    *out_problem = result.exception != nullptr ? "the plug-in threw an exception"
                                               : "the plug-in returned NULL";
    *out_problem += report.empty() ? " and gave no reason" : ": " + report;
  }
  return delegate;
}

TfLiteDelegate* Refuse(const PluginLibrary& library, const std::string& problem,
                       ErrorReporter* reporter) {
  reporter->Report("Unable to create external delegate from : %s (%s)", library.path().c_str(),
                   problem.c_str());
  return nullptr;
}

// Calls the library's destroy function. The delegate counts as destroyed even if that throws.
void CallDestroy(CallObserver* observer, TfLiteDelegate* delegate, const PluginLibrary& library) {
  const ForeignCall call = {.callback = Callback::kDestroy, .delegate = delegate};
  CallForeign(observer, call, [&](CallResult*) {
    if (const TfLiteStableDelegate* stable = library.stable()) {
      stable->delegate_plugin->destroy(Opaque(delegate));
    } else {
      library.destroy()(delegate);
    }
  });
}

template <typename Create>
TfLiteDelegate* MakeProxy(std::shared_ptr<const PluginLibrary> library,
                          std::shared_ptr<const GivenOptions> options, Create&& create,
                          ErrorReporter* reporter, CallObserver* observer) {
  std::string problem;
  TfLiteDelegate* const inner = CallCreate(observer, create, &problem);
  if (inner == nullptr) return Refuse(*library, problem, reporter);
  try {
    return (new PluginProxy(inner, library, std::move(options)))->handle();
  } catch (...) {
    CallDestroy(observer, inner, *library);
    throw;
  }
}

// Returns the proxy of a plug-in's delegate; null for any other delegate. Other kinds of proxies
// have no library.
PluginProxy* PluginProxyOf(const TfLiteDelegate* delegate) {
  return dynamic_cast<PluginProxy*>(DelegateProxy::Of(delegate));
}
// Returns the proxy of a plug-in's delegate for its handle or a copy of the handle's struct; null
// for other delegates.
const PluginProxy* PluginProxyBehind(const TfLiteDelegate* delegate) {
  return delegate == nullptr ? nullptr
                             : dynamic_cast<const PluginProxy*>(DelegateProxy::Behind(*delegate));
}

const DeputyDelegatePlugin* PluginOf(const PluginDelegate& delegate) {
  return delegate.library == nullptr ? nullptr : delegate.library->plugin();
}

std::string PathOf(const PluginDelegate& delegate) {
  return delegate.library == nullptr ? "a delegate without a plug-in" : delegate.library->path();
}

// Calls an optional function of a plug-in; reports the reason of a failure.
template <typename Function>
TfLiteStatus CallOptional(const std::string& subject, const char* what, bool has_function,
                          bool has_callback, const Function& function, ErrorReporter* reporter) {
  if (!has_function || !has_callback) {
    return Fail(reporter, kTfLiteError, "%s: expected %s", subject.c_str(),
                has_callback ? std::string("a plug-in that can ").append(what).c_str()
                             : "a callback, found NULL");
  }
  std::string report;
  const CallResult result = CallReporting(
      nullptr, Callback::kDescribe, [&](CallResult* out) { out->status = function(); }, &report);
  if (result.status == kTfLiteOk) return kTfLiteOk;
  if (result.exception != nullptr) report = "the plug-in threw an exception";
  if (report.empty()) report = "the plug-in gave no reason";
  return Fail(reporter, kTfLiteError, "%s: cannot %s: %s", subject.c_str(), what, report.c_str());
}

}  // namespace

namespace {

// Creates a delegate of the plug-in that wraps those of the library.
TfLiteDelegate* CreateWrapped(const PluginLibrary& library, const PluginOptions& options,
                              void (*report_error)(const char* text)) {
  const GivenOptions given = library.WrapperOptions(options);
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : given) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return library.create()(keys.data(), values.data(), keys.size(), report_error);
}

}  // namespace

TfLiteDelegate* CreatePluginDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const PluginOptions& options, ErrorReporter* reporter,
                                     CallObserver* observer) {
  const std::string problem = CheckPluginOptions(library->plugin(), options);
  if (!problem.empty()) return Refuse(*library, problem, reporter);
  const auto create = [&, &library = *library] {
    if (library.is_wrapped()) return CreateWrapped(library, options, &CollectReport);
    return library.create()(options.keys, options.values, options.count, &CollectReport);
  };
  auto given = std::make_shared<GivenOptions>();
  for (size_t i = 0; i < options.count; ++i) {
    given->emplace_back(options.keys[i], options.values[i]);
  }
  return MakeProxy(std::move(library), std::move(given), create, reporter, observer);
}

TfLiteDelegate* CreateStableDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const void* settings, ErrorReporter* reporter,
                                     CallObserver* observer) {
  const auto function = library->stable()->delegate_plugin->create;
  const auto create = [&] { return reinterpret_cast<TfLiteDelegate*>(function(settings)); };
  return MakeProxy(std::move(library), nullptr, create, reporter, observer);
}

void DeletePluginDelegate(TfLiteDelegate* delegate, ErrorReporter* reporter,
                          CallObserver* observer) {
  if (delegate == nullptr) return;
  const PluginProxy* const proxy = PluginProxyOf(delegate);
  if (proxy == nullptr) {
    reporter->Report(
        "Cannot delete a delegate that was not created from a plug-in by this library.");
    return;
  }
  CallDestroy(observer, proxy->inner(), *proxy->library());
  delete proxy;
}

NchwPreparation::NchwPreparation(bool is_nchw) : former_(prepares_nchw) { prepares_nchw = is_nchw; }

NchwPreparation::~NchwPreparation() { prepares_nchw = former_; }

TfLiteStatus ListPluginDevices(const PluginLibrary& library, DeputyDeviceCallback callback,
                               void* user_data, ErrorReporter* reporter) {
  const auto list = library.plugin() == nullptr ? nullptr : library.plugin()->list_devices;
  return CallOptional(
      library.path(), "list its devices", list != nullptr, callback != nullptr,
      [&] { return list(callback, user_data, &CollectReport); }, reporter);
}

TfLiteStatus ListPluginOperators(const PluginLibrary& library,
                                 DeputyDelegateOperatorCallback callback, void* user_data,
                                 ErrorReporter* reporter) {
  const auto list = library.plugin() == nullptr ? nullptr : library.plugin()->list_operators;
  return CallOptional(
      library.path(), "list its operators", list != nullptr, callback != nullptr,
      [&] { return list(callback, user_data); }, reporter);
}

TfLiteStatus DescribePluginPartitions(TfLiteDelegate* delegate,
                                      DeputyPartitionTextCallback callback, void* user_data,
                                      ErrorReporter* reporter) {
  const PluginDelegate parts = Unwrap(delegate);
  const DeputyDelegatePlugin* plugin = PluginOf(parts);
  const auto describe = plugin == nullptr ? nullptr : plugin->describe_partitions;
  return CallOptional(
      PathOf(parts), "describe its partitions", describe != nullptr, callback != nullptr,
      [&] { return describe(parts.inner, callback, user_data); }, reporter);
}

TfLiteStatus TakePluginEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                              void* user_data, ErrorReporter* reporter) {
  const PluginDelegate parts = Unwrap(delegate);
  const DeputyDelegatePlugin* plugin = PluginOf(parts);
  const auto take = plugin == nullptr ? nullptr : plugin->take_events;
  return CallOptional(
      PathOf(parts), "take times", take != nullptr, callback != nullptr,
      [&] { return take(parts.inner, callback, user_data); }, reporter);
}

namespace {

// Calls set_options of the plug-in; reports the reason of a failure.
TfLiteStatus CallSetOptions(const PluginDelegate& parts, const PluginOptions& options,
                            ErrorReporter* reporter) {
  const DeputyDelegatePlugin* const plugin = PluginOf(parts);
  const auto set = plugin == nullptr ? nullptr : plugin->set_options;
  return CallOptional(
      PathOf(parts), "change options of its delegates", set != nullptr, true,
      [&] { return set(parts.inner, options.keys, options.values, options.count, &CollectReport); },
      reporter);
}

// Likewise for a plug-in that wraps the delegates of the library: passes the options as one text,
// the value of the option `options`.
TfLiteStatus CallSetOptionsOfWrapper(const PluginDelegate& parts, const PluginOptions& options,
                                     ErrorReporter* reporter) {
  const std::string list = JoinOptions(options);
  const char* const key = "options";
  const char* const value = list.c_str();
  return CallSetOptions(parts, {&key, &value, 1}, reporter);
}

// Returns `given` with changed options.
GivenOptions Changed(GivenOptions given, const PluginOptions& changes) {
  for (size_t i = 0; i < changes.count; ++i) SetOption(changes.keys[i], changes.values[i], &given);
  return given;
}

}  // namespace

TfLiteStatus SetPluginOptions(TfLiteDelegate* delegate, const PluginOptions& options,
                              ErrorReporter* reporter) {
  PluginProxy* const proxy = PluginProxyOf(delegate);
  const PluginDelegate parts = Unwrap(delegate);
  const std::string problem = proxy == nullptr ? "expected a delegate that was created by a plug-in"
                                               : CheckLiveOptions(PluginOf(parts), options);
  if (!problem.empty()) {
    return Fail(reporter, kTfLiteError, "%s: %s", PathOf(parts).c_str(), problem.c_str());
  }
  auto changed = std::make_shared<const GivenOptions>(
      Changed(parts.options == nullptr ? GivenOptions() : *parts.options, options));
  const auto call = parts.library->is_wrapped() ? &CallSetOptionsOfWrapper : &CallSetOptions;
  TF_LITE_ENSURE_STATUS(call(parts, options, reporter));
  proxy->set_options(std::move(changed));
  return kTfLiteOk;
}

void PassModel(TfLiteContext* context, TfLiteDelegate* delegate, std::span<const uint8_t> model,
               int file, CallObserver* observer) {
  const PluginDelegate parts = Unwrap(delegate);
  const DeputyDelegatePlugin* const plugin = PluginOf(parts);
  if (model.empty() || plugin == nullptr || plugin->set_model == nullptr) return;
  const ForeignCall call = {
      .callback = Callback::kSetModel, .context = context, .delegate = delegate};
  CallForeign(observer, call, [&](CallResult*) {
    plugin->set_model(parts.inner, model.data(), model.size(), file);
  });
}

void PassCancellation(TfLiteContext* context, TfLiteDelegate* delegate,
                      bool (*is_cancelled)(TfLiteContext* context), CallObserver* observer) {
  const PluginDelegate parts = Unwrap(delegate);
  const DeputyDelegatePlugin* const plugin = PluginOf(parts);
  if (plugin == nullptr || plugin->set_cancellation == nullptr) return;
  const ForeignCall call = {
      .callback = Callback::kSetCancellation, .context = context, .delegate = delegate};
  CallForeign(observer, call,
              [&](CallResult*) { plugin->set_cancellation(parts.inner, is_cancelled); });
}

void PassMemoryProvider(TfLiteContext* context, TfLiteDelegate* delegate,
                        TfLiteStatus (*provide)(TfLiteContext* context, int32_t tensor,
                                                const DeputyInputMemory* memory),
                        CallObserver* observer) {
  const PluginDelegate parts = Unwrap(delegate);
  const DeputyDelegatePlugin* const plugin = PluginOf(parts);
  if (plugin == nullptr || plugin->set_memory_provider == nullptr) return;
  const ForeignCall call = {
      .callback = Callback::kSetMemoryProvider, .context = context, .delegate = delegate};
  CallForeign(observer, call,
              [&](CallResult*) { plugin->set_memory_provider(parts.inner, provide); });
}

PluginDelegate Unwrap(TfLiteDelegate* delegate) {
  const PluginProxy* const proxy = PluginProxyBehind(delegate);
  if (proxy == nullptr) return {delegate, nullptr, nullptr};
  return {proxy->inner(), proxy->library(), proxy->options()};
}

std::unique_lock<std::recursive_mutex> LockSupport(TfLiteDelegate* delegate) {
  const PluginProxy* const proxy = PluginProxyBehind(delegate);
  if (proxy == nullptr) return {};
  return std::unique_lock(proxy->support_mutex());
}

}  // namespace deputy
