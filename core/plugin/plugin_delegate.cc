// SPDX-License-Identifier: Apache-2.0
//
// A wrapper is recognized by its Prepare function, so no list of our delegates is needed.
#include "core/plugin/plugin_delegate.h"

#include <utility>

#include "core/base/delegate_call.h"
#include "core/base/guard.h"

namespace deputy {
namespace {

// `base` must be the first member: clients get its address.
struct Wrapper {
  TfLiteDelegate base = {};
  TfLiteOpaqueDelegateBuilder builder = {};  // used if the inner delegate is opaque
  TfLiteDelegate* inner = nullptr;
  std::shared_ptr<const PluginLibrary> library;
  mutable std::recursive_mutex support_mutex;   // LockSupport
  std::shared_ptr<const GivenOptions> options;  // options of its creation; null: none
};

// ---- Forwarding ---------------------------------------------------------------------------------
// The runtime calls these through CallForeign; CopyTo is called directly by clients.

TfLiteDelegate* Inner(TfLiteDelegate* delegate) {
  return static_cast<Wrapper*>(delegate->data_)->inner;
}

TfLiteStatus ForwardPrepare(TfLiteContext* context, TfLiteDelegate* delegate) {
  return ForwardDelegatePrepare(context, Inner(delegate));
}

// Upstream's wrapper passes itself where the plug-in expects its own delegate, which the plug-in
// cannot use.
TfLiteStatus ForwardCopyFrom(TfLiteContext* context, TfLiteDelegate* delegate,
                             TfLiteBufferHandle handle, TfLiteTensor* tensor) {
  TfLiteDelegate* inner = Inner(delegate);
  return inner->CopyFromBufferHandle(context, inner, handle, tensor);
}

TfLiteStatus ForwardCopyTo(TfLiteContext* context, TfLiteDelegate* delegate,
                           TfLiteBufferHandle handle, TfLiteTensor* tensor) {
  TfLiteDelegate* inner = Inner(delegate);
  const ForeignCall call = {.callback = Callback::kCopyTo, .context = context, .delegate = inner};
  return CallForeign(nullptr, call,
                     [&](CallResult* out) {
                       out->status = inner->CopyToBufferHandle(context, inner, handle, tensor);
                     })
      .status;
}

void ForwardFree(TfLiteContext* context, TfLiteDelegate* delegate, TfLiteBufferHandle* handle) {
  ForwardFreeBufferHandle(context, Inner(delegate), handle);
}

TfLiteOpaqueDelegate* Opaque(TfLiteDelegate* delegate) {
  return reinterpret_cast<TfLiteOpaqueDelegate*>(delegate);
}

TfLiteDelegate* InnerOf(void* wrapper) { return static_cast<Wrapper*>(wrapper)->inner; }

TfLiteStatus ForwardOpaquePrepare(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*,
                                  void* wrapper) {
  return ForwardDelegatePrepare(reinterpret_cast<TfLiteContext*>(context), InnerOf(wrapper));
}

TfLiteStatus ForwardOpaqueCopyFrom(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*,
                                   void* wrapper, TfLiteBufferHandle handle,
                                   TfLiteOpaqueTensor* tensor) {
  TfLiteDelegate* inner = InnerOf(wrapper);
  const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(inner);
  return builder->CopyFromBufferHandle(context, Opaque(inner), builder->data, handle, tensor);
}

TfLiteStatus ForwardOpaqueCopyTo(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*, void* wrapper,
                                 TfLiteBufferHandle handle, TfLiteOpaqueTensor* tensor) {
  TfLiteDelegate* inner = InnerOf(wrapper);
  const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(inner);
  const ForeignCall call = {.callback = Callback::kCopyTo,
                            .context = reinterpret_cast<TfLiteContext*>(context),
                            .delegate = inner};
  return CallForeign(nullptr, call,
                     [&](CallResult* out) {
                       out->status = builder->CopyToBufferHandle(context, Opaque(inner),
                                                                 builder->data, handle, tensor);
                     })
      .status;
}

void ForwardOpaqueFree(TfLiteOpaqueContext* context, TfLiteOpaqueDelegate*, void* wrapper,
                       TfLiteBufferHandle* handle) {
  ForwardFreeBufferHandle(reinterpret_cast<TfLiteContext*>(context), InnerOf(wrapper), handle);
}

// ---- Creation -----------------------------------------------------------------------------------

void WrapPlain(Wrapper* wrapper) {
  const TfLiteDelegate& inner = *wrapper->inner;
  wrapper->base.flags = inner.flags;
  wrapper->base.Prepare = ForwardPrepare;
  if (inner.CopyFromBufferHandle != nullptr) wrapper->base.CopyFromBufferHandle = ForwardCopyFrom;
  if (inner.CopyToBufferHandle != nullptr) wrapper->base.CopyToBufferHandle = ForwardCopyTo;
  if (inner.FreeBufferHandle != nullptr) wrapper->base.FreeBufferHandle = ForwardFree;
}

void WrapOpaque(const TfLiteOpaqueDelegateBuilder& inner, Wrapper* wrapper) {
  TfLiteOpaqueDelegateBuilder* outer = &wrapper->builder;
  outer->data = wrapper;
  outer->flags = inner.flags;
  outer->Prepare = ForwardOpaquePrepare;
  if (inner.CopyFromBufferHandle != nullptr) outer->CopyFromBufferHandle = ForwardOpaqueCopyFrom;
  if (inner.CopyToBufferHandle != nullptr) outer->CopyToBufferHandle = ForwardOpaqueCopyTo;
  if (inner.FreeBufferHandle != nullptr) outer->FreeBufferHandle = ForwardOpaqueFree;
  wrapper->base.opaque_delegate_builder = outer;
}

// Destination of a plug-in's messages during a call of one of its functions. Thread-local, because
// the callback has no user data.
thread_local std::string* current_report = nullptr;

constexpr size_t kMaxReport = 600;

void CollectReport(const char* text) {
  if (current_report == nullptr || text == nullptr) return;
  // Out of memory: the message is truncated.
  Guard(Ignore, [&] {
    if (!current_report->empty()) *current_report += "; ";
    current_report->append(text);
    if (current_report->size() > kMaxReport) current_report->resize(kMaxReport);
  });
}

// Makes the call; messages that the plug-in reports meanwhile are stored in `*out_report`.
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

// The wrapper is allocated first, so that running out of memory does not leak the plug-in's
// delegate.
template <typename Create>
TfLiteDelegate* MakeWrapper(std::shared_ptr<const PluginLibrary> library,
                            std::shared_ptr<const GivenOptions> options, Create&& create,
                            ErrorReporter* reporter, CallObserver* observer) {
  auto wrapper = std::make_unique<Wrapper>();
  wrapper->base.data_ = wrapper.get();
  wrapper->library = std::move(library);
  wrapper->options = std::move(options);
  std::string problem;
  wrapper->inner = CallCreate(observer, create, &problem);
  if (wrapper->inner == nullptr) return Refuse(*wrapper->library, problem, reporter);
  if (const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(wrapper->inner)) {
    WrapOpaque(*builder, wrapper.get());
  } else {
    WrapPlain(wrapper.get());
  }
  return &wrapper.release()->base;
}

const Wrapper* WrapperOf(const TfLiteDelegate* delegate) {
  if (delegate == nullptr) return nullptr;
  if (delegate->Prepare == ForwardPrepare) return static_cast<const Wrapper*>(delegate->data_);
  const TfLiteOpaqueDelegateBuilder* builder = BuilderOf(delegate);
  const bool is_ours = builder != nullptr && builder->Prepare == ForwardOpaquePrepare;
  return is_ours ? static_cast<const Wrapper*>(builder->data) : nullptr;
}

// The delegate counts as destroyed even if this throws.
void CallDestroy(CallObserver* observer, const Wrapper& wrapper) {
  const ForeignCall call = {.callback = Callback::kDestroy, .delegate = wrapper.inner};
  CallForeign(observer, call, [&](CallResult*) {
    if (const TfLiteStableDelegate* stable = wrapper.library->stable()) {
      stable->delegate_plugin->destroy(Opaque(wrapper.inner));
    } else {
      wrapper.library->destroy()(wrapper.inner);
    }
  });
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

TfLiteDelegate* CreatePluginDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const PluginOptions& options, ErrorReporter* reporter,
                                     CallObserver* observer) {
  const std::string problem = CheckPluginOptions(library->plugin(), options);
  if (!problem.empty()) return Refuse(*library, problem, reporter);
  const PluginLibrary::CreateFunction function = library->create();
  const auto create = [&] {
    return function(options.keys, options.values, options.count, &CollectReport);
  };
  auto given = std::make_shared<GivenOptions>();
  for (size_t i = 0; i < options.count; ++i) {
    given->emplace_back(options.keys[i], options.values[i]);
  }
  return MakeWrapper(std::move(library), std::move(given), create, reporter, observer);
}

TfLiteDelegate* CreateStableDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const void* settings, ErrorReporter* reporter,
                                     CallObserver* observer) {
  const auto function = library->stable()->delegate_plugin->create;
  const auto create = [&] { return reinterpret_cast<TfLiteDelegate*>(function(settings)); };
  return MakeWrapper(std::move(library), nullptr, create, reporter, observer);
}

void DeletePluginDelegate(TfLiteDelegate* delegate, ErrorReporter* reporter,
                          CallObserver* observer) {
  if (delegate == nullptr) return;
  const Wrapper* wrapper = WrapperOf(delegate);
  if (wrapper == nullptr) {
    reporter->Report(
        "Cannot delete a delegate that was not created from a plug-in by this library.");
    return;
  }
  CallDestroy(observer, *wrapper);
  delete wrapper;
}

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

PluginDelegate Unwrap(TfLiteDelegate* delegate) {
  const Wrapper* wrapper = WrapperOf(delegate);
  if (wrapper == nullptr) return {delegate, nullptr, nullptr};
  return {wrapper->inner, wrapper->library, wrapper->options};
}

std::unique_lock<std::recursive_mutex> LockSupport(TfLiteDelegate* delegate) {
  const Wrapper* wrapper = WrapperOf(delegate);
  if (wrapper == nullptr) return {};
  return std::unique_lock(wrapper->support_mutex);
}

}  // namespace deputy
