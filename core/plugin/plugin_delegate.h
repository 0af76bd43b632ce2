// SPDX-License-Identifier: Apache-2.0
//
// Delegates made by plug-ins. What a client holds is a wrapper that keeps the library's description
// and forwards every call to the plug-in's own delegate, the inner one: plain if that is plain,
// opaque if that is opaque. Nodes and tensors that the plug-in claims carry the inner delegate, as
// in TensorFlow Lite.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_DELEGATE_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_DELEGATE_H_

#include <memory>
#include <mutex>

#include "core/base/foreign_call.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_options.h"

namespace deputy {

// Each calls the plug-in through the funnel; `observer`, which may be null, is told.

// Has the library create a delegate; options are checked against those that it declares. Null on
// failure, with the reason reported; may throw bad_alloc. To be deleted with DeletePluginDelegate.
TfLiteDelegate* CreatePluginDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const PluginOptions& options, ErrorReporter* reporter,
                                     CallObserver* observer = nullptr);

// The same for a library of kind kStable; `settings` may be null if the library can do without.
TfLiteDelegate* CreateStableDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const void* settings, ErrorReporter* reporter,
                                     CallObserver* observer = nullptr);

// Null is fine; anything that is no wrapper is reported and left alone.
void DeletePluginDelegate(TfLiteDelegate* delegate, ErrorReporter* reporter,
                          CallObserver* observer = nullptr);

// Calls `callback` for each device of the library's. An error, reported, where it does not say or
// has none.
TfLiteStatus ListPluginDevices(const PluginLibrary& library, DeputyDeviceCallback callback,
                               void* user_data, ErrorReporter* reporter);

// The same for the operators that the library's delegates take.
TfLiteStatus ListPluginOperators(const PluginLibrary& library,
                                 DeputyDelegateOperatorCallback callback, void* user_data,
                                 ErrorReporter* reporter);

// The same for the texts about the partitions of a delegate, and for the events of its device; see
// deputy.h.
TfLiteStatus DescribePluginPartitions(TfLiteDelegate* delegate,
                                      DeputyPartitionTextCallback callback, void* user_data,
                                      ErrorReporter* reporter);
TfLiteStatus TakePluginEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                              void* user_data, ErrorReporter* reporter);

// What is behind any delegate. One that is no wrapper is its own inner delegate and comes from no
// library.
struct PluginDelegate {
  TfLiteDelegate* inner = nullptr;
  std::shared_ptr<const PluginLibrary> library;
  std::shared_ptr<const GivenOptions> options;  // that it was made with; null: none
};
PluginDelegate Unwrap(TfLiteDelegate* delegate);

// Held while get_support of the wrapper's plug-in runs and while its texts are copied, so that
// interpreters on several threads can share a delegate. Recursive: a plug-in may create an
// interpreter with the same delegate meanwhile. Not locked for a delegate that is no wrapper.
std::unique_lock<std::recursive_mutex> LockSupport(TfLiteDelegate* delegate);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_DELEGATE_H_
