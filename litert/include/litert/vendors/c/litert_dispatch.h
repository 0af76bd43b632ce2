// SPDX-License-Identifier: Apache-2.0
//
// Types of dispatch plug-ins, and the functions of the host that call the loaded plug-in. A
// dispatch plug-in runs bytecode of a compiler plug-in on its device. It is the library
// libLiteRtDispatch_<name>.so, exports LiteRtDispatchGetApi (litert_dispatch_api.h) and implements
// the functions of this header under the names of that table.
//
// A run: create a device context, create an invocation context from bytecode, register tensor
// buffers with the device, attach them to inputs and outputs, invoke. A device context and the
// objects of it are used by one thread at a time.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_DISPATCH_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_DISPATCH_H_

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "litert/c/internal/litert_scheduling_info.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_profiler_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Types --------------------------------------------------------------------------------------

// Connection to a device.
LITERT_DEFINE_HANDLE(LiteRtDispatchDeviceContext);

// A function of an executable, or a graph, that is ready to run.
LITERT_DEFINE_HANDLE(LiteRtDispatchInvocationContext);

// Values that a plug-in has measured.
LITERT_DEFINE_HANDLE(LiteRtDispatchMetrics);

// Several executables that run as one.
LITERT_DEFINE_HANDLE(LiteRtDispatchGraph);

// Functions of the host (c/internal/litert_runtime_context.h).
typedef struct LiteRtRuntimeContext LiteRtRuntimeContext;

// Identifies a tensor buffer that is registered with a device context.
typedef uint64_t LiteRtTensorBufferHandle;

// Identify nodes and edges of a graph; the caller chooses the numbers.
typedef uint64_t LiteRtDispatchNodeId;
typedef uint64_t LiteRtDispatchEdgeId;

// Identifies an executable that is loaded on a device.
typedef uint64_t LiteRtDispatchExecutableHandle;

// Groups of functions that a plug-in implements, as bits.
typedef enum LiteRtDispatchCapabilities {
  kLiteRtDispatchCapabilitiesNone = 0,
  // Synchronous runs of bytecode.
  kLiteRtDispatchCapabilitiesBasic = 1,
  // Asynchronous runs.
  kLiteRtDispatchCapabilitiesAsync = 2,
  // Graphs.
  kLiteRtDispatchCapabilitiesGraph = 4,
#if defined(LITERT_ENABLE_FABRIC_INTEGRATION)
  // Buffers of edges inside of a graph.
  kLiteRtDispatchCapabilitiesEdgeBufferBinding = 8,
  // Scratchpad buffers.
  kLiteRtDispatchCapabilitiesScratchpad = 16,
#endif
} LiteRtDispatchCapabilities;

// Kind of an executable.
typedef enum LiteRtDispatchExecutableType {
  kLiteRtDispatchExecutableTypeUnknown = 0,
  // Library for a DSP.
  kLiteRtDispatchExecutableTypeDspLibrary = 1,
  // Bytecode of the vendor's compiler plug-in.
  kLiteRtDispatchExecutableTypeMlModel = 2,
  // A LiteRtJitExecutable.
  kLiteRtDispatchExecutableTypeJitHandle = 3,
  // A .tflite model.
  kLiteRtDispatchExecutableTypeTfliteModel = 4,
} LiteRtDispatchExecutableType;

// Kind of a graph's node: the processor that runs it.
typedef enum LiteRtDispatchNodeType {
  kLiteRtDispatchNodeTypeUnknown = 0,
  // Runs models and DSP libraries.
  kLiteRtDispatchNodeTypeDsp = 1,
  // Runs models.
  kLiteRtDispatchNodeTypeNpu = 2,
  // Runs .tflite models.
  kLiteRtDispatchNodeTypeCpu = 3,
} LiteRtDispatchNodeType;

// Bytes of an executable: `size` bytes at `base_addr + offset`. They are valid as long as the
// invocation context or executable that was made from them.
typedef struct LiteRtMemBuffer {
  // File that the bytes are mapped from; -1 if there is none.
  int fd;
  const void* base_addr;
  size_t offset;
  size_t size;
  // Offset in the file at which `base_addr` is mapped. The executable is at `alloc_base_file_offset
  // + offset`.
  size_t alloc_base_file_offset;
} LiteRtMemBuffer;

// ---- The plug-in --------------------------------------------------------------------------------

// Initialises the plug-in. Called once, before any other function; the arguments outlive the
// plug-in's use.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchInitialize(const LiteRtRuntimeContext* runtime_context, LiteRtEnvironment environment,
                         LiteRtOptions options);

// Returns the version of this API that the plug-in was compiled with.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetApiVersion(LiteRtApiVersion* api_version);

// The following functions return the vendor's name and the identifier of the plug-in's build.
// Constant strings.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetVendorId(const char** vendor_id);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetBuildId(const char** build_id);

// Returns bits of LiteRtDispatchCapabilities.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetCapabilities(int* capabilities);

// Returns kLiteRtStatusOk if the plug-in works with this version of the API on this device,
// kLiteRtStatusErrorUnsupportedRuntimeVersion or another error otherwise.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchCheckRuntimeCompatibility(
    LiteRtApiVersion api_version, LiteRtEnvironmentOptions env, LiteRtOptions options);

// ---- Devices and buffers ------------------------------------------------------------------------

// Opens the device. `options` are those of the compiled model, valid as long as the context.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchDeviceContextCreate(
    const LiteRtRuntimeContext* runtime_context, LiteRtOptions options,
    LiteRtDispatchDeviceContext* device_context);

// Closes the device; all objects of the context have been destroyed before.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchDeviceContextDestroy(LiteRtDispatchDeviceContext device_context);

// Optional. Returns a hook of the vendor's profiler and the argument with which it is called.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetHooks(LiteRtDispatchDeviceContext device_context,
                                                       LiteRtHook* hook, void** user_data);

// Registers a tensor buffer, whose memory stays valid until it is unregistered.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchRegisterTensorBuffer(
    LiteRtDispatchDeviceContext device_context, LiteRtTensorBuffer tensor_buffer,
    LiteRtTensorBufferHandle* tensor_buffer_handle);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchUnregisterTensorBuffer(
    LiteRtDispatchDeviceContext device_context, LiteRtTensorBufferHandle tensor_buffer_handle);

// ---- Synchronous runs ---------------------------------------------------------------------------

// Prepares a function of an executable. `function_name` may be NULL if the executable has only one.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchInvocationContextCreate(
    const LiteRtRuntimeContext* runtime_context, LiteRtDispatchDeviceContext device_context,
    LiteRtDispatchExecutableType exec_type, const LiteRtMemBuffer* exec_bytecode_buffer,
    const char* function_name, int num_inputs, int num_outputs,
    LiteRtDispatchInvocationContext* invocation_context);

// Destroys an invocation context.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchInvocationContextDestroy(LiteRtDispatchInvocationContext invocation_context);

// The following functions return the memory that an input or output of this type accepts. The
// caller owns the requirements.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchGetInputRequirements(LiteRtDispatchInvocationContext invocation_context,
                                   int input_index, const LiteRtRankedTensorType* tensor_type,
                                   LiteRtTensorBufferRequirements* tensor_buffer_requirements);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchGetOutputRequirements(LiteRtDispatchInvocationContext invocation_context,
                                    int output_index, const LiteRtRankedTensorType* tensor_type,
                                    LiteRtTensorBufferRequirements* tensor_buffer_requirements);

// Sets options for the next run; NULL: none. kLiteRtStatusErrorUnsupported if the plug-in does not
// implement the function.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchInvocationContextSetOptions(
    LiteRtDispatchInvocationContext invocation_context, LiteRtOptions options);

// Sets information for the device's scheduler for all later runs; NULL restores the default.
// kLiteRtStatusErrorUnsupported if the device has no such scheduler.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchInvocationContextSetSchedulingInfo(LiteRtDispatchInvocationContext invocation_context,
                                                 const LiteRtSchedulingInfo* scheduling_info);

// The following functions attach registered buffers to inputs and outputs, and detach them.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchAttachInput(LiteRtDispatchInvocationContext invocation_context, int graph_input_index,
                          LiteRtTensorBufferHandle tensor_buffer_handle);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchAttachOutput(LiteRtDispatchInvocationContext invocation_context,
                           int graph_output_index, LiteRtTensorBufferHandle tensor_buffer_handle);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchDetachInput(LiteRtDispatchInvocationContext invocation_context, int graph_input_index,
                          LiteRtTensorBufferHandle tensor_buffer_handle);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchDetachOutput(LiteRtDispatchInvocationContext invocation_context,
                           int graph_output_index, LiteRtTensorBufferHandle tensor_buffer_handle);

// Runs the function with the attached buffers and waits for the outputs.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchInvoke(LiteRtDispatchInvocationContext invocation_context);

// ---- Measurements -------------------------------------------------------------------------------

// Starts the collection of measured values. A higher `detail_level`, from 0 on, yields more of
// them.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchStartMetricsCollection(
    LiteRtDispatchInvocationContext invocation_context, int detail_level);

// Ends the collection. The caller owns the values.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchStopMetricsCollection(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchMetrics* metrics);

// The following functions enumerate the values, which belong to the metrics object.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetNumMetrics(LiteRtDispatchMetrics metrics,
                                                            int* num_metrics);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetMetric(LiteRtDispatchMetrics metrics,
                                                        int metric_index, LiteRtMetric* metric);

// Destroys measured values.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchDestroyMetrics(LiteRtDispatchMetrics metrics);

// ---- Asynchronous runs --------------------------------------------------------------------------

// Attaches an event to an input. The run waits for it; it stays with the caller.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchAttachInputEvent(LiteRtDispatchInvocationContext invocation_context,
                               int graph_input_index, LiteRtEvent input_event);

// Starts a run. `output_events` receives one event per output, owned by the caller, which are
// signalled when the outputs are complete.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchInvokeAsync(LiteRtDispatchInvocationContext invocation_context, int num_output_events,
                          LiteRtEvent* output_events);

// ---- Graphs -------------------------------------------------------------------------------------

// Creates an empty graph.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtDispatchGraphCreate(LiteRtDispatchDeviceContext device_context, LiteRtDispatchGraph* graph);

// Destroys a graph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGraphDestroy(LiteRtDispatchGraph graph);

// The following functions add a node and an edge; each number is used once per graph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAddNode(LiteRtDispatchGraph graph,
                                                      LiteRtDispatchNodeId node_id,
                                                      LiteRtDispatchNodeType node_type);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAddEdge(LiteRtDispatchGraph graph,
                                                      LiteRtDispatchEdgeId edge_id);

// The following functions connect edges to inputs and outputs of nodes and of the graph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchConnectNodeInput(LiteRtDispatchGraph graph,
                                                               LiteRtDispatchNodeId node_id,
                                                               int input_index,
                                                               LiteRtDispatchEdgeId edge_id);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchConnectNodeOutput(LiteRtDispatchGraph graph,
                                                                LiteRtDispatchNodeId node_id,
                                                                int output_index,
                                                                LiteRtDispatchEdgeId edge_id);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchConnectGraphInput(LiteRtDispatchGraph graph,
                                                                int input_index,
                                                                LiteRtDispatchEdgeId edge_id);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchConnectGraphOutput(LiteRtDispatchGraph graph,
                                                                 int output_index,
                                                                 LiteRtDispatchEdgeId edge_id);

// Loads an executable on the device, and unloads it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchLoadExecutable(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchExecutableType type,
    const LiteRtMemBuffer* bytecode_buffer, LiteRtDispatchExecutableHandle* exec_handle);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchUnloadExecutable(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchExecutableHandle exec_handle);

// Assigns a function of an executable to a node. `function_name` may be NULL if the executable has
// only one.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAssignNodeFunction(
    LiteRtDispatchGraph graph, LiteRtDispatchNodeId node_id,
    LiteRtDispatchExecutableHandle exec_handle, const char* function_name);

// The following functions add annotations. Plug-ins ignore keys that they do not know.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAnnotateGraph(LiteRtDispatchGraph graph,
                                                            const char* key, const char* value);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAnnotateNode(LiteRtDispatchGraph graph,
                                                           LiteRtDispatchNodeId node_id,
                                                           const char* key, const char* value);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAnnotateEdge(LiteRtDispatchGraph graph,
                                                           LiteRtDispatchEdgeId edge_id,
                                                           const char* key, const char* value);

// Prepares a graph.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchInvocationContextCreateFromGraph(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchGraph graph,
    LiteRtDispatchInvocationContext* invocation_context);

// Returns the graph of an invocation context, which belongs to it; NULL if it was made from an
// executable.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchInvocationContextGetGraph(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchGraph* graph);

// Returns the requirements of a function's scratchpad buffer, which the caller owns.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetScratchpadRequirements(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchExecutableHandle exec_handle,
    const char* function_name, LiteRtTensorBufferRequirements* scratchpad_requirements);

// Attaches a registered buffer as scratchpad of a function.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAttachScratchpadBuffer(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchExecutableHandle exec_handle,
    const char* function_name, LiteRtTensorBufferHandle scratchpad_buffer_handle);

#if defined(LITERT_ENABLE_FABRIC_INTEGRATION)
// The following functions attach a registered buffer to an edge inside of a graph, and detach it.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchAttachEdgeBuffer(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchEdgeId edge_id,
    LiteRtTensorBufferHandle tensor_buffer_handle);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchDetachEdgeBuffer(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchEdgeId edge_id,
    LiteRtTensorBufferHandle tensor_buffer_handle);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_DISPATCH_H_
