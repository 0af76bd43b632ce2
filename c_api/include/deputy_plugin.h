// SPDX-License-Identifier: Apache-2.0
//
// Interface through which a delegate describes itself beyond TensorFlow Lite's ABI: its options
// with their types, and for each node of a graph whether the delegate supports it, or the reason
// why not. A plug-in exports one function,
//
//     const DeputyDelegatePlugin* deputy_plugin(void);
//
// The interface is optional: a delegate without it can be loaded and applied as well, and reports
// show "not claimed" instead of a reason. Hosts other than Deputy do not call it, so a plug-in for
// other hosts also exports tflite_plugin_create_delegate and tflite_plugin_destroy_delegate
// (external_delegate_interface.h).
//
// Structs begin with their size in bytes in the producer's version of this header, and only grow at
// their end. A consumer uses the fields that both sides have: fields beyond the producer's size
// count as zero, fields beyond the consumer's size are ignored.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DeputyAsyncRuntime;
struct TfLiteAsyncKernel;

// Version of this ABI, for DeputyDelegatePlugin.abi_version: 65536 * major + minor. A plug-in with
// another major number is rejected; every minor number is accepted.
#define DEPUTY_PLUGIN_ABI_VERSION 0x10000u

// Reason why a delegate does not run a node. Delegates return values below 100; the runtime
// determines the values from 100 on.
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
  // The node belongs to another delegate, which was applied earlier.
  kDeputyReasonClaimedByOther = 102,
  // The caller pinned the node to another delegate.
  kDeputyReasonPinned = 103,
  // The caller excluded the node from delegation.
  kDeputyReasonExcluded = 104,
  // The delegate previewed the partition that the node would be in and did not claim it.
  kDeputyReasonPartitionTooSmall = 105,
  // The node belongs to an atomic group that does not fit into one partition.
  kDeputyReasonGroup = 106,
  // The delegate rejected the whole graph or failed on it.
  kDeputyReasonGraph = 107,
  // The delegate claimed the node and failed; the claim was rolled back.
  kDeputyReasonFailed = 108,
  // The delegate ran the node until its removal or a resize; the text states which.
  kDeputyReasonRemoved = 109,
} DeputyReason;

// Type of an option's value. Values are passed as text; the type defines which texts are valid.
typedef enum DeputyOptionType {
  // Any text.
  kDeputyOptionString = 0,
  // A boolean: "true", "false", "1" or "0".
  kDeputyOptionBool = 1,
  // A decimal integer of 64 bits.
  kDeputyOptionInt = 2,
  // A decimal number.
  kDeputyOptionFloat = 3,
} DeputyOptionType;

// One option that a plug-in accepts.
typedef struct DeputyPluginOption {
  // Key of the option.
  const char* name;
  // A DeputyOptionType.
  int32_t type;
  // Not 0: `set_options` of DeputyDelegatePlugin can change the option of an existing delegate.
  int32_t live;
  // Default value, as text.
  const char* default_value;
  // Help text for users, one sentence.
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

// Result of the query for the nodes that a delegate supports. All arrays have node_count entries
// and belong to the runtime, which initialises them to "not supported, no reason, no group, cost
// unknown"; the delegate fills them.
typedef struct DeputySupportResult {
  // Size of the struct in the runtime's version of this header.
  size_t struct_size;
  // Number of entries: all nodes of the execution plan.
  size_t node_count;
  // Indices of the nodes, in execution order.
  const int32_t* nodes;
  // Not 0: the delegate supports the node.
  uint8_t* supported;
  // A DeputyReason below 100 for each node that is not supported.
  int32_t* reason_of_node;
  // Explanation of the reason for each node, or NULL. The plug-in owns the text; the runtime copies
  // it before it calls the plug-in again on this thread, or get_support of this delegate on another
  // thread.
  const char** text_of_node;
  // Group of each node. Nodes with the same number, at least 0, run in one partition of this
  // delegate or not at all; -1 means no group. The runtime rejects groups that cannot be in one
  // partition.
  int32_t* group_of_node;
  // Expected time of each node on the device in nanoseconds, negative if unknown.
  double* cost_ns_of_node;
} DeputySupportResult;

// Power that a device draws under load, compared with other devices that run models.
typedef enum DeputyPowerClass {
  kDeputyPowerUnknown = 0,
  // A block of a mobile chip, such as an NPU or a DSP.
  kDeputyPowerLow = 1,
  // Shares the power budget of the processor, such as an integrated GPU.
  kDeputyPowerMedium = 2,
  // A card or module with a power budget of its own.
  kDeputyPowerHigh = 3,
} DeputyPowerClass;

// A device that a plug-in's delegates can use. The plug-in owns the struct and its strings, which
// are valid during the callback; unknown strings are "".
typedef struct DeputyDeviceInfo {
  // sizeof(DeputyDeviceInfo).
  size_t struct_size;
  // Index in the list of devices, from 0; the value of the plug-in's device option.
  int32_t index;
  // Not 0: delegates can be created on the device.
  int32_t usable;
  // Name and version of the driver that provides the device.
  const char* platform;
  const char* platform_version;
  // Name of the device, and its vendor.
  const char* name;
  const char* vendor;
  // Type of the device: "discrete GPU", "integrated GPU", "NPU", "accelerator", "CPU", or another
  // text for a device of another type.
  const char* type;
  // Device class that kernels are generated for: "cpu", "desktop" or "mobile".
  const char* device_class;
  // Version of the device's interface, and version of the driver.
  const char* version;
  const char* driver_version;
  // Names of the supported extensions, separated by spaces.
  const char* extensions;
  // Size of the memory, and of the largest buffer in it, in bytes.
  uint64_t memory_bytes;
  uint64_t max_buffer_bytes;
  uint32_t compute_units;
  // Not 0: the device supports half precision.
  int32_t fp16;
  // Since the second release of the struct: a DeputyPowerClass.
  int32_t power_class;
  // Preferences of the device: a DeputyLayout, the number of images or sequences of an inference
  // (0: none), and the type in which it computes, e.g. "fp16" or "int8".
  int32_t preferred_layout;
  int32_t preferred_batch;
  // Reserved; 0.
  int32_t reserved;
  const char* preferred_precision;
  // Options that create a delegate on this device: KEY=VALUE;KEY=VALUE, with a backslash before a
  // literal ; or \\. "" or NULL: the option `device` with the index if the plug-in declares that
  // option, else no options.
  const char* options;
} DeputyDeviceInfo;

// Called once for each device of a plug-in.
typedef void (*DeputyDeviceCallback)(void* user_data, const DeputyDeviceInfo* device);

// Called with readable texts about the partitions of a delegate, in the order of the partitions'
// creation: `first_node` is the index of the first node that the partition replaces, `stage` names
// the compiler stage whose result `text` shows ("imported"). Both strings are valid during the
// call.
typedef void (*DeputyPartitionTextCallback)(void* user_data, int32_t first_node, const char* stage,
                                            const char* text);

// A command that a delegate's device executed: a kernel, a copy. The plug-in owns the struct and
// its strings, which are valid during the callback.
typedef struct DeputyDeviceEvent {
  // sizeof(DeputyDeviceEvent).
  size_t struct_size;
  // Index of the first node that the partition replaces, and of the replaced node that the command
  // is for; -1 if it is not for a single node.
  int32_t first_node;
  int32_t node;
  // Name of the work ("conv"), and name of the kernel that did it, or "".
  const char* name;
  const char* kernel;
  // Time of submission to the device and of the begin, on the clock of DeputyOpEvent.begin_ns
  // (CLOCK_MONOTONIC), and duration, in nanoseconds.
  int64_t queued_ns;
  int64_t begin_ns;
  int64_t duration_ns;
} DeputyDeviceEvent;

// Called once for each event of a device.
typedef void (*DeputyDeviceEventCallback)(void* user_data, const DeputyDeviceEvent* event);

// Time that a delegate spent on one operator of a partition, or on several that it computed as one,
// in the newest run of the partition. The plug-in owns the struct and its text; both are valid
// during the callback.
typedef struct DeputyNodeEvent {
  // sizeof(DeputyNodeEvent).
  size_t struct_size;
  // Index of the replaced node that the work is for, or of the first of those that were computed as
  // one. -1 for work of the partition as a whole, such as copies.
  int32_t node;
  // Reserved; 0.
  int32_t reserved;
  // Name of the work ("conv_2d"), or NULL. The runtime copies at most 255 bytes of it.
  const char* name;
  // Begin of the work, on the clock of DeputyOpEvent.begin_ns (CLOCK_MONOTONIC), and its duration,
  // in nanoseconds; neither is negative.
  int64_t begin_ns;
  int64_t duration_ns;
} DeputyNodeEvent;

// Called once for each node event, on the thread that called node_events, before that call returns.
typedef void (*DeputyNodeEventCallback)(void* user_data, const DeputyNodeEvent* event);

// An operator of which a plug-in's delegates support at least some nodes; support also depends on
// types, shapes and options. The plug-in owns the struct and its text, which are valid during the
// callback.
typedef struct DeputyDelegateOperator {
  // sizeof(DeputyDelegateOperator).
  size_t struct_size;
  // A TfLiteBuiltinOperator, and the last version that is supported.
  int32_t builtin_code;
  int32_t max_version;
  // Name of the custom operator; NULL for builtin operators.
  const char* custom_name;
} DeputyDelegateOperator;

// Called once for each operator of a plug-in.
typedef void (*DeputyDelegateOperatorCallback)(void* user_data, const DeputyDelegateOperator* op);

// State of an option of a delegate.
typedef enum DeputyOptionState {
  // The option was not given and has its default value.
  kDeputyOptionDefault = 0,
  // The option was given and is used.
  kDeputyOptionGiven = 1,
  // The option was given and has no effect.
  kDeputyOptionIgnored = 2,
} DeputyOptionState;

// One option of a delegate with the value in use. Strings are valid during the callback.
typedef struct DeputyOptionUse {
  // sizeof(DeputyOptionUse).
  size_t struct_size;
  // Key of the option, and its value in use.
  const char* name;
  const char* value;
  // A DeputyOptionState.
  int32_t state;
  // Reserved; 0.
  int32_t reserved;
  // Reason why the option has no effect; "" otherwise.
  const char* text;
} DeputyOptionUse;

// Called once for each option of a delegate.
typedef void (*DeputyOptionUseCallback)(void* user_data, const DeputyOptionUse* use);

// Device of a delegate, and the costs of its partitions so far. Strings belong to the delegate and
// are valid until its next report.
typedef struct DeputyDelegateReport {
  // sizeof(DeputyDelegateReport).
  size_t struct_size;
  // Name of the device; "" if unknown.
  const char* device;
  // Type in which results are stored and computed, e.g. "fp16"; "" if unknown.
  const char* precision;
  // Time spent on compiling partitions, and on tuning variants of kernels, in nanoseconds; -1 if
  // unknown.
  int64_t compile_ns;
  int64_t tune_ns;
  // Number of partitions that were loaded from a cache of compiled programs, and of those that were
  // not found in it; -1 without a cache.
  int64_t cache_hits;
  int64_t cache_misses;
} DeputyDelegateReport;

// Properties of a plug-in's delegates; bits of DeputyDelegatePlugin.flags.
typedef enum DeputyPluginFlags {
  // The nodes copy the contents of their constant inputs in `init`. Later, the delegate reads
  // neither constants nor values that the runtime computes from them, and calls no kernels of the
  // nodes that it replaced. The runtime then releases constants that only such nodes read: pages of
  // the model's file, packed values of the CPU kernels, and dequantised copies. It provides them
  // again when the delegate is removed or its nodes run on the CPU.
  kDeputyPluginCopiesConstants = 1,
} DeputyPluginFlags;

// Memory that a delegate provides for a tensor. The memory must exist until `release`, which is
// called exactly once with `owner` when no tensor uses the memory any longer, on a thread that
// prepares or deletes the interpreter. If the runtime refuses the memory, it does not call
// `release`.
typedef struct DeputyInputMemory {
  void* data;
  size_t bytes;
  void* owner;
  void (*release)(void* owner);
} DeputyInputMemory;

// Types of memory in which delegates and clients pass tensors.
typedef enum DeputyMemoryType {
  // The tensor's own memory in the process.
  kDeputyMemoryHost = 0,
  // A dma-buf, by its file descriptor.
  kDeputyMemoryDmaBuf = 1,
  // A cl_mem. Its domain is the address of the cl_context.
  kDeputyMemoryOpenCl = 2,
  // A file in memory that processes can map (memfd_create, shm_open), by its file descriptor.
  kDeputyMemoryShared = 3,
  // Another object. Its domain is a number on which both sides have agreed.
  kDeputyMemoryOpaque = 4,
} DeputyMemoryType;

// Memory in which a delegate's node can read or write a tensor. Tensors have the layout and type
// that they have in host memory.
typedef struct DeputyMemoryRequirements {
  // sizeof(DeputyMemoryRequirements).
  size_t struct_size;
  // A DeputyMemoryType.
  int32_t type;
  // Reserved; 0.
  int32_t reserved;
  // Both sides must have the same domain: objects of another domain cannot be used. 0 for types
  // with file descriptors.
  uint64_t domain;
  // The tensor's offset in the buffer must be a multiple of this power of two; 0 means 1.
  size_t alignment;
  // Number of bytes that must exist after the tensor.
  size_t padding;
} DeputyMemoryRequirements;

// Called once for each type of memory. The struct is valid during the call.
typedef void (*DeputyMemoryTypeCallback)(void* user_data, const DeputyMemoryRequirements* type);

// A buffer that contains a tensor.
typedef struct DeputyBuffer {
  // sizeof(DeputyBuffer).
  size_t struct_size;
  // A DeputyMemoryType.
  int32_t type;
  // File descriptor of a dma-buf or shared memory, which the owner of the struct closes; else -1.
  int32_t file;
  // The cl_mem or opaque object; else NULL.
  void* object;
  // Domain of the object; else 0.
  uint64_t domain;
  // Offset and size of the tensor, and size of the buffer, in bytes.
  size_t offset;
  size_t bytes;
  size_t size;
} DeputyBuffer;

// A delegate's description of itself. It and everything that it points to is valid until the
// process ends: a loaded plug-in is never unloaded.
typedef struct DeputyDelegatePlugin {
  // sizeof(DeputyDelegatePlugin).
  size_t struct_size;
  // DEPUTY_PLUGIN_ABI_VERSION.
  uint32_t abi_version;
  // A DeputyLayout.
  int32_t preferred_layout;
  // Short name of the delegate for reports.
  const char* name;
  // Version of the plug-in.
  const char* version;
  // Vendor of the plug-in.
  const char* vendor;
  // Options that the plug-in accepts, and their number.
  const DeputyPluginOption* options;
  size_t option_count;
  // `create` and `destroy` are the functions that the plug-in also exports as
  // tflite_plugin_create_delegate and tflite_plugin_destroy_delegate.
  TfLiteDelegate* (*create)(const char* const* keys, const char* const* values, size_t count,
                            void (*report_error)(const char* text));
  void (*destroy)(TfLiteDelegate* delegate);
  // Fills `result` for the execution plan of `context`, before the delegate's Prepare and with the
  // functions of `context` that a Prepare may call, except that it must not replace nodes. Called
  // for one interpreter at a time; the delegate's other functions may run on other threads at the
  // same time. NULL, or a status other than kTfLiteOk: support is unknown.
  TfLiteStatus (*get_support)(TfLiteDelegate* delegate, TfLiteContext* context,
                              DeputySupportResult* result);
  // Returns the memory that the delegate holds on its device at the moment, in bytes, for reports.
  // NULL: the memory is unknown.
  size_t (*device_bytes)(TfLiteDelegate* delegate);
  // Since the second release of the struct: calls `callback` for each device that delegates can be
  // created on. If there is none it returns an error, and `report_error`, if it is not NULL, is
  // called with the reason. NULL: the plug-in has no selectable devices.
  TfLiteStatus (*list_devices)(DeputyDeviceCallback callback, void* user_data,
                               void (*report_error)(const char* text));
  // Calls `callback` with texts about the delegate's present partitions, if the delegate was
  // created with the option to keep them. NULL: the delegate never keeps texts.
  TfLiteStatus (*describe_partitions)(TfLiteDelegate* delegate,
                                      DeputyPartitionTextCallback callback, void* user_data);
  // Calls `callback` with the events since the last call, in the order of their submission to the
  // device, if the delegate was created with profiling, and discards the events. No interpreter
  // that uses the delegate may run at the same time. NULL: the delegate never has events.
  TfLiteStatus (*take_events)(TfLiteDelegate* delegate, DeputyDeviceEventCallback callback,
                              void* user_data);
  // Calls `callback` for each operator that the plug-in's delegates support, for tables of support.
  // NULL: the operators are unknown.
  TfLiteStatus (*list_operators)(DeputyDelegateOperatorCallback callback, void* user_data);
  // Fills the fields of `report` whose values are known; the runtime has set struct_size and the
  // values for "unknown". Calls `callback` for options that have no effect as they are set, with
  // the state kDeputyOptionIgnored, and for options that work with another value than the given
  // one. The function may name options that were not given; the runtime ignores those. NULL: no
  // report.
  TfLiteStatus (*report)(TfLiteDelegate* delegate, DeputyDelegateReport* report,
                         DeputyOptionUseCallback callback, void* user_data);
  // Calls `callback` with the events of the newest run of `node`, a node of the delegate, in the
  // order of their begin. Events of earlier runs are not reported again, and take_events still
  // reports the same work. Required for kTfLiteDelegateFlagsPerOperatorProfiling: the runtime calls
  // it only for a delegate with that flag, while a profile, worker or telemetry callback is set, on
  // the thread that invokes, after a successful invoke of the node and before the next one. Calls
  // for one delegate are serialised; invokes of other interpreters may run at the same time. It
  // must not use the functions of `context`. The events replace the event of the node itself; if
  // there are none, the node's own event is reported.
  //
  // A status other than kTfLiteOk, an exception, more than 65536 events in a call, or an event with
  // another node, a negative time or no struct_size is reported as an error. All events of that
  // call are then discarded, the node's own event is reported, and the function is not called again
  // until the delegate is applied anew. NULL: the delegate has no such events.
  TfLiteStatus (*node_events)(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                              DeputyNodeEventCallback callback, void* user_data);
  // Passes the model of the interpreter that applies or queries the delegate, on the thread that
  // afterwards calls get_support and, unless it only queries, the delegate's Prepare. `data` has
  // `size` bytes; `file` is the descriptor of a file with these contents, or -1, and must not be
  // closed. Both are valid until the last of these calls returns. Not called for graphs that are
  // built in code. NULL: the delegate does not need the model's bytes.
  void (*set_model)(TfLiteDelegate* delegate, const void* data, size_t size, int32_t file);
  // Passes a function that returns true when the client has cancelled the inference in progress
  // (TfLiteInterpreterCancel). The invoke of the delegate's nodes may call it with its own context,
  // on the thread of the invoke; a node that ends early for that reason returns kTfLiteCancelled,
  // and its outputs are undefined. Called on the thread that applies the delegate before each
  // Prepare, always with the same function. NULL: the delegate's nodes run to their end.
  void (*set_cancellation)(TfLiteDelegate* delegate, bool (*is_cancelled)(TfLiteContext* context));
  // Returns the asynchronous kernel of a node, for the signatures of a graph that consists of this
  // node alone; NULL: it has none. Each call may return another kernel, whose buffers are numbered
  // from 0. The kernel belongs to the node and must exist until the node is freed. `runtime` is
  // valid as long. Called when a client creates a TfLiteAsyncSignatureRunner.
  // deputy_plugin_async.h has the structs. NULL: the delegate has no asynchronous kernels, except
  // for those of the operators of an opaque delegate.
  struct TfLiteAsyncKernel* (*async_kernel)(TfLiteDelegate* delegate, TfLiteContext* context,
                                            TfLiteNode* node,
                                            const struct DeputyAsyncRuntime* runtime);
  // Changes options of an existing delegate; the next run uses the new values, also if the delegate
  // is applied. The keys are declared and `live`, unless the plug-in declares no options; values
  // are checked as by `create`. Returns an error and changes nothing if one is invalid;
  // `report_error`, if it is not NULL, is called with the reason. Not called while an interpreter
  // applies or runs the delegate. NULL: no option can be changed.
  TfLiteStatus (*set_options)(TfLiteDelegate* delegate, const char* const* keys,
                              const char* const* values, size_t count,
                              void (*report_error)(const char* text));
  // Called before and after each run of an interpreter to which the delegate is applied, on the
  // thread of the run, with the context of the subgraph that the client runs; subgraphs called by
  // nodes belong to the run. `status` is that of the run, which did not begin if a run_start
  // failed. run_end is called in the reverse order of run_start, and not for a delegate whose
  // run_start failed. Outputs must be complete when the delegate's nodes return; data on the device
  // may be read after the run. DeputyInterpreterInvokeNode is a run, tasks of asynchronous kernels
  // are none. Only ReportError of `context` may be called. Interpreters on several threads may call
  // the functions concurrently.
  //
  // An error of run_start fails the inference; under kDeputyPolicyHot, the delegate's nodes run on
  // the CPU as after an error of their own. An error of run_end fails an inference that has
  // succeeded; under kDeputyPolicyHot it is only reported. NULL: nothing to do.
  TfLiteStatus (*run_start)(TfLiteDelegate* delegate, TfLiteContext* context);
  TfLiteStatus (*run_end)(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteStatus status);
  // Bits of DeputyPluginFlags; unknown bits are ignored.
  uint64_t flags;
  // Passes a function with which the prepare of the delegate's nodes may provide memory for their
  // inputs, so that the producers of these tensors write directly into it. The node passes the
  // context of its prepare. The function returns an error and changes nothing during an inference,
  // and unless the tensor is an arena tensor of `memory->bytes` bytes and the address is aligned to
  // 64 bytes. The tensor's data pointer may still differ at an invoke: if the client has set
  // memory of its own, during validation, and after a resize. The memory is used until the next
  // prepare of the node, and released later; a node that provides the same address again keeps the
  // tensor's address; `memory` is copied. Called at the same times as set_cancellation. NULL: the
  // inputs are in the runtime's memory.
  void (*set_memory_provider)(TfLiteDelegate* delegate,
                              TfLiteStatus (*provide)(TfLiteContext* context, int32_t tensor,
                                                      const DeputyInputMemory* memory));
  // The next four functions let a tensor between nodes of two delegates, or of a delegate and the
  // client, stay in a buffer outside of host memory. They are called on the threads that prepare
  // and run interpreters, for several interpreters concurrently. NULL memory_types: tensors pass
  // through host memory.
  //
  // Calls `callback` for each type of memory, except for host memory, in which a prepared node can
  // read its input or write its output `tensor`, in order of preference; at most 16 times.
  TfLiteStatus (*memory_types)(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                               int32_t tensor, DeputyMemoryTypeCallback callback, void* user_data);
  // From its next run on, the node leaves the output `tensor` in a buffer that meets the
  // requirements: the run sets the tensor's delegate, buffer_handle and data_is_stale. NULL
  // requirements: the node leaves the output in host memory again. Called after each preparation.
  TfLiteStatus (*share_output)(TfLiteDelegate* delegate, TfLiteContext* context, TfLiteNode* node,
                               int32_t tensor, const DeputyMemoryRequirements* requirements);
  // Describes the buffer of a handle that a run has set. The run must have written all contents.
  // The handle must refer to the same buffer until the node is prepared again.
  TfLiteStatus (*export_buffer)(TfLiteDelegate* delegate, TfLiteContext* context,
                                TfLiteBufferHandle handle,
                                const DeputyMemoryRequirements* requirements, DeputyBuffer* buffer);
  // Sets `*handle` to a handle of the delegate for a buffer. The delegate keeps a reference to the
  // buffer until FreeBufferHandle; the file descriptor is valid during the call only. A node reads
  // a stale input with the handle from the buffer. A node writes an output with the handle to the
  // buffer and sets data_is_stale.
  TfLiteStatus (*import_buffer)(TfLiteDelegate* delegate, TfLiteContext* context,
                                const DeputyBuffer* buffer, TfLiteBufferHandle* handle);
} DeputyDelegatePlugin;

// Type of the function that a plug-in exports under the name deputy_plugin. Returns NULL if the
// plug-in has no description.
// NOLINTNEXTLINE(modernize-redundant-void-arg): this is C.
typedef const DeputyDelegatePlugin* (*DeputyPluginFunction)(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PLUGIN_H_
