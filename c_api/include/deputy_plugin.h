// SPDX-License-Identifier: Apache-2.0
//
// What a delegate may say of itself beyond TensorFlow Lite's ABI: its options with their types, and
// for each node whether it would take it, and why not. A plug-in exports one function,
//
//     const DeputyDelegatePlugin* deputy_plugin(void);
//
// Everything here is optional for a delegate: without it, it loads and runs all the same, and
// reports say "not claimed" where a reason would stand. Hosts other than Deputy do not look at it,
// so a plug-in that has to load elsewhere exports tflite_plugin_create_delegate and
// tflite_plugin_destroy_delegate too (external_delegate_interface.h).
//
// Structs start with their size in bytes as their maker compiled them and only grow at their end. A
// reader takes what both sides know: fields beyond the maker's size count as zero, fields that the
// reader does not know are ignored.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// The version of this ABI, for DeputyDelegatePlugin.abi_version: 65536 * major + minor. A plug-in
// with another major number is refused; every minor number is accepted.
#define DEPUTY_PLUGIN_ABI_VERSION 0x10000u

// The reason why a delegate does not run a node. Delegates return values below 100; the runtime
// finds the others.
typedef enum DeputyReason {
  // No reason is needed: the delegate runs the node.
  kDeputyReasonNone = 0,
  // The delegate does not support the operator.
  kDeputyReasonOperator = 1,
  // The operator is supported, but not in this version.
  kDeputyReasonVersion = 2,
  // The operator is supported, but not with these tensor types.
  kDeputyReasonType = 3,
  // The operator is supported, but not with this rank or these dimensions.
  kDeputyReasonShape = 4,
  // A shape is known only after other nodes have run.
  kDeputyReasonDynamicShape = 5,
  // A parameter of the operator is not supported: a stride, a padding, a fused activation.
  kDeputyReasonParameter = 6,
  // Scales or zero points are not supported.
  kDeputyReasonQuantization = 7,
  // An input has to be constant and is not.
  kDeputyReasonNotConstant = 8,
  // The device has too little memory for the node.
  kDeputyReasonMemory = 9,
  // The delegate supports the node, but expects the CPU to be faster.
  kDeputyReasonCost = 10,
  // Another reason, which the text states.
  kDeputyReasonOther = 99,

  // The delegate did not claim the node and gave no reason.
  kDeputyReasonNotClaimed = 100,
  // The delegate never read the node.
  kDeputyReasonNotQueried = 101,
  // The node runs in another delegate, which was applied earlier.
  kDeputyReasonClaimedByOther = 102,
  // The caller pinned the node to the CPU or to another delegate.
  kDeputyReasonPinned = 103,
  // The caller excluded the node from delegation.
  kDeputyReasonExcluded = 104,
  // The delegate previewed the partition that the node would be in and did not claim it.
  kDeputyReasonPartitionTooSmall = 105,
  // The node belongs to an atomic group, another node of which is not delegated.
  kDeputyReasonGroup = 106,
  // The delegate rejected the whole graph or failed on it.
  kDeputyReasonGraph = 107,
  // The delegate claimed the node and failed; the claim was rolled back.
  kDeputyReasonFailed = 108,
  // The delegate ran the node until its removal or a resize; the text states which.
  kDeputyReasonRemoved = 109,
} DeputyReason;

// Type of an option's value. Values travel as text; this says which texts are right.
typedef enum DeputyOptionType {
  // Any text.
  kDeputyOptionString = 0,
  // "true", "false", "1" or "0".
  kDeputyOptionBool = 1,
  // A decimal integer of 64 bits.
  kDeputyOptionInt = 2,
  // A decimal number.
  kDeputyOptionFloat = 3,
} DeputyOptionType;

// One option that a plug-in understands.
typedef struct DeputyPluginOption {
  // Its key.
  const char* name;
  // A DeputyOptionType.
  int32_t type;
  // 0; room for what may come.
  int32_t reserved;
  // What it is when nobody sets it, as text.
  const char* default_value;
  // One sentence for users.
  const char* help;
} DeputyPluginOption;

// The layout of 4-D image tensors that a delegate prefers.
typedef enum DeputyLayout {
  // No preference.
  kDeputyLayoutAny = 0,
  // Batch, height, width, channels, as models have them.
  kDeputyLayoutNhwc = 1,
  // Batch, channels, height, width.
  kDeputyLayoutNchw = 2,
} DeputyLayout;

// The result of a query which nodes a delegate supports. All arrays have node_count entries and
// belong to the runtime, which initialises them to "not supported, no reason, no group, cost
// unknown"; the delegate fills them.
typedef struct DeputySupportResult {
  // The size of the struct in the runtime's version of this header.
  size_t struct_size;
  // The number of nodes: all nodes of the execution plan.
  size_t node_count;
  // Their indices, in order of execution.
  const int32_t* nodes;
  // Not 0: the delegate supports the node.
  uint8_t* supported;
  // A DeputyReason below 100 for each node that is not supported.
  int32_t* reason_of_node;
  // The explanation of the reason, or NULL. The plug-in owns the text; the runtime copies it before
  // it calls the plug-in again on this thread, or get_support of this delegate on another thread.
  const char** text_of_node;
  // Nodes with the same number, at least 0, run in one partition of this delegate or not at all; -1
  // is no group. The runtime refuses groups that cannot stay in one partition.
  int32_t* group_of_node;
  // The expected time of the node on the device in nanoseconds, negative if unknown.
  double* cost_ns_of_node;
} DeputySupportResult;

// One device that a plug-in's delegates can work on. The plug-in owns it and its strings, which
// hold during the callback; strings that it does not know are "".
typedef struct DeputyDeviceInfo {
  // sizeof(DeputyDeviceInfo).
  size_t struct_size;
  // Its place in the list, from 0: what the plug-in's option for a device takes.
  int32_t index;
  // Not 0: a delegate can be made on it.
  int32_t usable;
  // The driver that has it, with its version.
  const char* platform;
  const char* platform_version;
  // The device's own name, and who made it.
  const char* name;
  const char* vendor;
  // What it is: "discrete GPU", "integrated GPU", "accelerator", "CPU" or "other".
  const char* type;
  // What kernels are written for: "cpu", "desktop" or "mobile".
  const char* device_class;
  // Of the device and of its driver.
  const char* version;
  const char* driver_version;
  // Names with spaces between.
  const char* extensions;
  // Bytes of memory, and of the largest buffer in it.
  uint64_t memory_bytes;
  uint64_t max_buffer_bytes;
  uint32_t compute_units;
  // Not 0: it lists half precision.
  int32_t fp16;
} DeputyDeviceInfo;

// Called for one device after the other.
typedef void (*DeputyDeviceCallback)(void* user_data, const DeputyDeviceInfo* device);

// Called with texts for people about the partitions of a delegate, in the order in which they were
// made: `first_node` is the first of the nodes that the partition replaces, `stage` says what the
// text shows ("imported"). Both texts hold during the call.
typedef void (*DeputyPartitionTextCallback)(void* user_data, int32_t first_node, const char* stage,
                                            const char* text);

// A piece of work that a delegate had its device do: a kernel, a copy. The plug-in owns it and its
// strings, which hold during the callback.
typedef struct DeputyDeviceEvent {
  // sizeof(DeputyDeviceEvent).
  size_t struct_size;
  // The first of the nodes that the partition replaces, and the one of them that this was for; -1
  // if it was for none in particular.
  int32_t first_node;
  int32_t node;
  // What was done ("conv"), and what did it: the name of a kernel, or "".
  const char* name;
  const char* kernel;
  // When it was handed to the device and when it started, on the clock of DeputyOpEvent.begin_ns
  // (CLOCK_MONOTONIC), and how long it took, in nanoseconds.
  int64_t queued_ns;
  int64_t begin_ns;
  int64_t duration_ns;
} DeputyDeviceEvent;

// Called for one event after the other.
typedef void (*DeputyDeviceEventCallback)(void* user_data, const DeputyDeviceEvent* event);

// The time that a delegate spent on one operator of a partition, or on several that it computed as
// one, in the newest run of the partition. The plug-in owns it and its text; both hold during the
// callback.
typedef struct DeputyNodeEvent {
  // sizeof(DeputyNodeEvent).
  size_t struct_size;
  // One of the nodes that the partition replaces: the one that the work is for, or the first of
  // those that were computed as one. -1 for work of the partition as a whole, such as copies.
  int32_t node;
  // 0; for later use.
  int32_t reserved;
  // Name of the work ("conv_2d"), or NULL. The runtime copies at most 255 bytes of it.
  const char* name;
  // When it began, on the clock of DeputyOpEvent.begin_ns (CLOCK_MONOTONIC), and how long it took,
  // in nanoseconds; neither is negative.
  int64_t begin_ns;
  int64_t duration_ns;
} DeputyNodeEvent;

// Called for one event after the other, on the thread and during the call of node_events.
typedef void (*DeputyNodeEventCallback)(void* user_data, const DeputyNodeEvent* event);

// An operator that a plug-in's delegates take in some form: not every node of it, since types,
// shapes and options count as well. The plug-in owns it and its text, which hold during the
// callback.
typedef struct DeputyDelegateOperator {
  // sizeof(DeputyDelegateOperator).
  size_t struct_size;
  // A TfLiteBuiltinOperator, and the last version that is taken.
  int32_t builtin_code;
  int32_t max_version;
  // The name of a custom operator; NULL for others.
  const char* custom_name;
} DeputyDelegateOperator;

// Called for one operator after the other.
typedef void (*DeputyDelegateOperatorCallback)(void* user_data, const DeputyDelegateOperator* op);

// State of an option of a delegate.
typedef enum DeputyOptionState {
  // It was not given and has its default value.
  kDeputyOptionDefault = 0,
  // It was given and is used.
  kDeputyOptionGiven = 1,
  // It was given and has no effect.
  kDeputyOptionIgnored = 2,
} DeputyOptionState;

// One option of a delegate with the value in use. Strings are valid during the callback.
typedef struct DeputyOptionUse {
  // sizeof(DeputyOptionUse).
  size_t struct_size;
  // Its key and value.
  const char* name;
  const char* value;
  // A DeputyOptionState.
  int32_t state;
  // 0; for later use.
  int32_t reserved;
  // Why it has no effect; "" otherwise.
  const char* text;
} DeputyOptionUse;

// Called for one option after the other.
typedef void (*DeputyOptionUseCallback)(void* user_data, const DeputyOptionUse* use);

// The device of a delegate, and what its partitions have cost so far. Strings belong to the
// delegate and hold until its next report.
typedef struct DeputyDelegateReport {
  // sizeof(DeputyDelegateReport).
  size_t struct_size;
  // Name of the device; "" if unknown.
  const char* device;
  // Type in which results are stored and computed, e.g. "fp16"; "" if unknown.
  const char* precision;
  // Nanoseconds spent on compiling partitions, and on trying out variants of kernels; -1 if
  // unknown.
  int64_t compile_ns;
  int64_t tune_ns;
  // Partitions that were loaded from a cache of compiled programs, and those that were not found in
  // it; -1 without a cache.
  int64_t cache_hits;
  int64_t cache_misses;
} DeputyDelegateReport;

// A delegate's description of itself. It and all it points to lives as long as the process: a
// plug-in that was loaded is never unloaded.
typedef struct DeputyDelegatePlugin {
  // sizeof(DeputyDelegatePlugin).
  size_t struct_size;
  // DEPUTY_PLUGIN_ABI_VERSION.
  uint32_t abi_version;
  // A DeputyLayout.
  int32_t preferred_layout;
  // Short name, as users see it in reports.
  const char* name;
  // The plug-in's own version.
  const char* version;
  // Who makes it.
  const char* vendor;
  // The options, and how many.
  const DeputyPluginOption* options;
  size_t option_count;
  // As tflite_plugin_create_delegate and tflite_plugin_destroy_delegate.
  TfLiteDelegate* (*create)(const char* const* keys, const char* const* values, size_t count,
                            void (*report_error)(const char* text));
  void (*destroy)(TfLiteDelegate* delegate);
  // Fills `result` for the plan of `context`, in delegate mode, before the delegate's Prepare; must
  // not replace nodes. Called for one interpreter at a time; the delegate's other functions may run
  // on other threads meanwhile. NULL, or a status other than kTfLiteOk: the delegate does not say.
  TfLiteStatus (*get_support)(TfLiteDelegate* delegate, TfLiteContext* context,
                              DeputySupportResult* result);
  // Bytes that the delegate holds on its device at the moment, for reports. NULL: it does not say.
  size_t (*device_bytes)(TfLiteDelegate* delegate);
  // Since the second release of the struct: calls `callback` for each device that delegates can be
  // made on. Where there is none that is an error, and `report_error`, if it is not NULL, gets the
  // reason. NULL: the plug-in has no devices to choose from.
  TfLiteStatus (*list_devices)(DeputyDeviceCallback callback, void* user_data,
                               void (*report_error)(const char* text));
  // Calls `callback` with texts about the partitions that the delegate has at the moment, if it was
  // made to keep them. NULL: it never does.
  TfLiteStatus (*describe_partitions)(TfLiteDelegate* delegate,
                                      DeputyPartitionTextCallback callback, void* user_data);
  // Calls `callback` with the events since the last call, in the order in which they were handed to
  // the device, if it was made to take times, and forgets them. No interpreter that uses the
  // delegate may run meanwhile. NULL: it never takes times.
  TfLiteStatus (*take_events)(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                              void* user_data);
  // Calls `callback` for each operator that the plug-in's delegates take, for tables of support.
  // NULL: it does not say.
  TfLiteStatus (*list_operators)(DeputyDelegateOperatorCallback callback, void* user_data);
  // Fills those fields of `report` that the delegate knows; the runtime has set struct_size and
  // unknown values. Calls `callback` for options that have no effect as they are set, with a state
  // of kDeputyOptionIgnored, and for options that work with another value than the given one. It
  // may name options that were not given: the runtime leaves out those. NULL: it does not say.
  TfLiteStatus (*report)(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                         DeputyOptionUseCallback callback, void* user_data);
  // Calls `callback` with the events of the newest run of `node`, which is a node of the delegate's
  // own, in the order in which they began. Events of earlier runs are not reported again, and
  // take_events still reports the same work. Needed for kTfLiteDelegateFlagsPerOperatorProfiling:
  // the runtime calls it only for a delegate with that flag, while a profile, worker or telemetry
  // callback is set, on the thread that invokes, after an invoke of the node that succeeded and
  // before the next one. Calls for one delegate come one at a time; invokes of other interpreters
  // may run meanwhile. It must not use the functions of `context`. The events replace the event of
  // the node itself; without any, the node's own event is reported.
  //
  // A status other than kTfLiteOk, an exception, more than 65536 events in a call, or an event
  // with another node, a negative time or no struct_size is reported as an error. All events of
  // that call are then discarded, the node's own event is reported, and the delegate is not queried
  // again until it is applied anew. NULL: it has no such events.
  TfLiteStatus (*node_events)(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                              DeputyNodeEventCallback callback, void* user_data);
} DeputyDelegatePlugin;

// The type of the function that a plug-in exports under the name deputy_plugin. NULL is "nothing to
// say".
// NOLINTNEXTLINE(modernize-redundant-void-arg): this is C
typedef const DeputyDelegatePlugin* (*DeputyPluginFunction)(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_H_
