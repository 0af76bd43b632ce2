// SPDX-License-Identifier: Apache-2.0
//
// Delegates created by plug-ins. The client gets a DelegateProxy that keeps the library's
// description alive and forwards every call to the plug-in's own delegate, the inner one. The proxy
// is plain or opaque as the inner delegate is. Nodes and tensors that the plug-in claims refer to
// the inner delegate, as in TensorFlow Lite.
#ifndef DEPUTY_CORE_PLUGIN_PLUGIN_DELEGATE_H_
#define DEPUTY_CORE_PLUGIN_PLUGIN_DELEGATE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "core/base/foreign_call.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_options.h"

namespace deputy {

// Functions of this header that call the plug-in use CallForeign. Those with a parameter
// `observer`, which may be null, notify it.

// Creates a delegate of the library; options are checked against its declarations. Returns null on
// failure, after a report; may throw bad_alloc. Must be deleted with DeletePluginDelegate.
TfLiteDelegate* CreatePluginDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const PluginOptions& options, ErrorReporter* reporter,
                                     CallObserver* observer = nullptr);

// Creates a delegate of a library of kind kStable; `settings` may be null if the library permits
// it.
TfLiteDelegate* CreateStableDelegate(std::shared_ptr<const PluginLibrary> library,
                                     const void* settings, ErrorReporter* reporter,
                                     CallObserver* observer = nullptr);

// Deletes a plug-in's delegate; null is ignored. Any other delegate is reported and left unchanged.
void DeletePluginDelegate(TfLiteDelegate* delegate, ErrorReporter* reporter,
                          CallObserver* observer = nullptr);

// Calls `callback` for each device of the library. Returns an error after a report if the library
// has no function for that or the function fails.
TfLiteStatus ListPluginDevices(const PluginLibrary& library, DeputyDeviceCallback callback,
                               void* user_data, ErrorReporter* reporter);

// Calls `callback` for each operator that the library's delegates support.
TfLiteStatus ListPluginOperators(const PluginLibrary& library,
                                 DeputyDelegateOperatorCallback callback, void* user_data,
                                 ErrorReporter* reporter);

// DescribePluginPartitions calls `callback` for the texts about the partitions of a delegate,
// TakePluginEvents for the events of its device; see deputy.h.
TfLiteStatus DescribePluginPartitions(TfLiteDelegate* delegate,
                                      DeputyPartitionTextCallback callback, void* user_data,
                                      ErrorReporter* reporter);
TfLiteStatus TakePluginEvents(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                              void* user_data, ErrorReporter* reporter);

// Changes options of a delegate; see DeputyPluginSetDelegateOptions. Throws bad_alloc if out of
// memory; the options are then unchanged.
TfLiteStatus SetPluginOptions(TfLiteDelegate* delegate, const PluginOptions& options,
                              ErrorReporter* reporter);

// Calls set_model of the delegate's plug-in, if it has the function and the model has bytes.
// `context` is that of the subgraph to which the delegate is about to be applied.
void PassModel(TfLiteContext* context, TfLiteDelegate* delegate, std::span<const uint8_t> model,
               int file, CallObserver* observer);

// While it exists, states whether the calling thread prepares a delegate whose partitions will be
// in NCHW. Without that, a delegate with kDeputyPluginNchw refuses to prepare: a wrapper that hides
// the plug-in would pass it images in NHWC.
class NchwPreparation {
 public:
  explicit NchwPreparation(bool is_nchw);
  ~NchwPreparation();
  NchwPreparation(const NchwPreparation&) = delete;
  NchwPreparation& operator=(const NchwPreparation&) = delete;

 private:
  const bool former_;
};

// Calls set_cancellation of the delegate's plug-in with the function, if it has set_cancellation.
void PassCancellation(TfLiteContext* context, TfLiteDelegate* delegate,
                      bool (*is_cancelled)(TfLiteContext* context), CallObserver* observer);

// Calls set_memory_provider of the delegate's plug-in, if it has that function, with `provide`.
void PassMemoryProvider(TfLiteContext* context, TfLiteDelegate* delegate,
                        TfLiteStatus (*provide)(TfLiteContext* context, int32_t tensor,
                                                const DeputyInputMemory* memory),
                        CallObserver* observer);

// The parts of a delegate. A delegate of no plug-in is its own inner delegate and has no library.
struct PluginDelegate {
  TfLiteDelegate* inner = nullptr;
  std::shared_ptr<const PluginLibrary> library;
  // Options that the client has given, at creation or later; null: none.
  std::shared_ptr<const GivenOptions> options;
};
PluginDelegate Unwrap(TfLiteDelegate* delegate);

// Returns a lock of the delegate's mutex. It must be held while get_support or node_events of the
// delegate's plug-in runs and while its texts are copied, so that interpreters on several threads
// can share a delegate. The mutex is recursive, because the plug-in may create an interpreter with
// the same delegate meanwhile. Returns no lock for a delegate of no plug-in.
std::unique_lock<std::recursive_mutex> LockSupport(TfLiteDelegate* delegate);

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_PLUGIN_DELEGATE_H_
