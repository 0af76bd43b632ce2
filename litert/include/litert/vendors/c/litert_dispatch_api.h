// SPDX-License-Identifier: Apache-2.0
//
// Function tables of dispatch plug-ins. The functions are described in litert_dispatch.h; optional
// ones may be NULL, and their tables, too.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_DISPATCH_API_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_DISPATCH_API_H_

#include <stddef.h>

#include "litert/c/internal/litert_abi_header.h"
#include "litert/c/internal/litert_custom_tensor_buffer_handlers_def.h"
#include "litert/c/internal/litert_scheduling_info.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_model_types.h"
#include "litert/c/litert_profiler_types.h"
#include "litert/vendors/c/litert_dispatch.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Types of the functions ---------------------------------------------------------------------

typedef LiteRtStatus (*LiteRtDispatchInitializeT)(const LiteRtRuntimeContext* runtime_context,
                                                  LiteRtEnvironment environment,
                                                  LiteRtOptions options);
typedef LiteRtStatus (*LiteRtDispatchGetVendorIdT)(const char** vendor_id);
typedef LiteRtStatus (*LiteRtDispatchGetBuildIdT)(const char** build_id);
typedef LiteRtStatus (*LiteRtDispatchGetCapabilitiesT)(int* capabilities);
typedef LiteRtStatus (*LiteRtDispatchDeviceContextCreateT)(
    const LiteRtRuntimeContext* runtime_context, LiteRtOptions options,
    LiteRtDispatchDeviceContext* device_context);
typedef LiteRtStatus (*LiteRtDispatchDeviceContextDestroyT)(
    LiteRtDispatchDeviceContext device_context);
typedef LiteRtStatus (*LiteRtDispatchGetInputRequirementsT)(
    LiteRtDispatchInvocationContext invocation_context, int input_index,
    const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferRequirements* tensor_buffer_requirements);
typedef LiteRtStatus (*LiteRtDispatchGetOutputRequirementsT)(
    LiteRtDispatchInvocationContext invocation_context, int output_index,
    const LiteRtRankedTensorType* tensor_type,
    LiteRtTensorBufferRequirements* tensor_buffer_requirements);
typedef LiteRtStatus (*LiteRtDispatchRegisterTensorBufferT)(
    LiteRtDispatchDeviceContext device_context, LiteRtTensorBuffer tensor_buffer,
    LiteRtTensorBufferHandle* tensor_buffer_handle);
typedef LiteRtStatus (*LiteRtDispatchUnregisterTensorBufferT)(
    LiteRtDispatchDeviceContext device_context, LiteRtTensorBufferHandle handle);
typedef LiteRtStatus (*LiteRtDispatchInvocationContextCreateT)(
    const LiteRtRuntimeContext* runtime_context, LiteRtDispatchDeviceContext device_context,
    LiteRtDispatchExecutableType exec_type, const LiteRtMemBuffer* exec_bytecode_buffer,
    const char* function_name, int num_inputs, int num_outputs,
    LiteRtDispatchInvocationContext* invocation_context);
typedef LiteRtStatus (*LiteRtDispatchInvocationContextDestroyT)(
    LiteRtDispatchInvocationContext invocation_context);
typedef LiteRtStatus (*LiteRtDispatchInvocationContextSetOptionsT)(
    LiteRtDispatchInvocationContext invocation_context, LiteRtOptions options);
typedef LiteRtStatus (*LiteRtDispatchInvocationContextSetSchedulingInfoT)(
    LiteRtDispatchInvocationContext invocation_context,
    const LiteRtSchedulingInfo* scheduling_info);
typedef LiteRtStatus (*LiteRtDispatchAttachInputT)(
    LiteRtDispatchInvocationContext invocation_context, int graph_input_index,
    LiteRtTensorBufferHandle tensor_buffer_handle);
typedef LiteRtStatus (*LiteRtDispatchAttachOutputT)(
    LiteRtDispatchInvocationContext invocation_context, int graph_output_index,
    LiteRtTensorBufferHandle tensor_buffer_handle);
typedef LiteRtStatus (*LiteRtDispatchDetachInputT)(
    LiteRtDispatchInvocationContext invocation_context, int graph_input_index,
    LiteRtTensorBufferHandle tensor_buffer_handle);
typedef LiteRtStatus (*LiteRtDispatchDetachOutputT)(
    LiteRtDispatchInvocationContext invocation_context, int graph_output_index,
    LiteRtTensorBufferHandle tensor_buffer_handle);
#if defined(LITERT_ENABLE_FABRIC_INTEGRATION)
typedef LiteRtStatus (*LiteRtDispatchAttachEdgeBufferT)(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchEdgeId edge_id,
    LiteRtTensorBufferHandle tensor_buffer_handle);
typedef LiteRtStatus (*LiteRtDispatchDetachEdgeBufferT)(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchEdgeId edge_id,
    LiteRtTensorBufferHandle tensor_buffer_handle);
#endif
typedef LiteRtStatus (*LiteRtDispatchInvokeT)(LiteRtDispatchInvocationContext invocation_context);
typedef LiteRtStatus (*LiteRtDispatchStartMetricsCollectionT)(
    LiteRtDispatchInvocationContext invocation_context, int detail_level);
typedef LiteRtStatus (*LiteRtDispatchStopMetricsCollectionT)(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchMetrics* metrics);
typedef LiteRtStatus (*LiteRtDispatchGetNumMetricsT)(LiteRtDispatchMetrics metrics,
                                                     int* num_metrics);
typedef LiteRtStatus (*LiteRtDispatchGetMetricT)(LiteRtDispatchMetrics metrics, int metric_index,
                                                 LiteRtMetric* metric);
typedef LiteRtStatus (*LiteRtDispatchDestroyMetricsT)(LiteRtDispatchMetrics metrics);
typedef LiteRtStatus (*LiteRtDispatchCheckRuntimeCompatibilityT)(LiteRtApiVersion api_version,
                                                                 LiteRtEnvironmentOptions env,
                                                                 LiteRtOptions options);
typedef LiteRtStatus (*LiteRtDispatchGetHooksT)(LiteRtDispatchDeviceContext device_context,
                                                LiteRtHook* hook, void** user_data);
typedef LiteRtStatus (*LiteRtDispatchAttachInputEventT)(
    LiteRtDispatchInvocationContext invocation_context, int graph_input_index,
    LiteRtEvent input_event);
typedef LiteRtStatus (*LiteRtDispatchInvokeAsyncT)(
    LiteRtDispatchInvocationContext invocation_context, int num_output_events,
    LiteRtEvent* output_events);
typedef LiteRtStatus (*LiteRtDispatchGraphCreateT)(LiteRtDispatchDeviceContext device_context,
                                                   LiteRtDispatchGraph* graph);
typedef LiteRtStatus (*LiteRtDispatchGraphDestroyT)(LiteRtDispatchGraph graph);
typedef LiteRtStatus (*LiteRtDispatchAddNodeT)(LiteRtDispatchGraph graph,
                                               LiteRtDispatchNodeId node_id,
                                               LiteRtDispatchNodeType node_type);
typedef LiteRtStatus (*LiteRtDispatchAddEdgeT)(LiteRtDispatchGraph graph,
                                               LiteRtDispatchEdgeId edge_id);
typedef LiteRtStatus (*LiteRtDispatchConnectNodeInputT)(LiteRtDispatchGraph graph,
                                                        LiteRtDispatchNodeId node_id,
                                                        int input_index,
                                                        LiteRtDispatchEdgeId edge_id);
typedef LiteRtStatus (*LiteRtDispatchConnectNodeOutputT)(LiteRtDispatchGraph graph,
                                                         LiteRtDispatchNodeId node_id,
                                                         int output_index,
                                                         LiteRtDispatchEdgeId edge_id);
typedef LiteRtStatus (*LiteRtDispatchConnectGraphInputT)(LiteRtDispatchGraph graph, int input_index,
                                                         LiteRtDispatchEdgeId edge_id);
typedef LiteRtStatus (*LiteRtDispatchConnectGraphOutputT)(LiteRtDispatchGraph graph,
                                                          int output_index,
                                                          LiteRtDispatchEdgeId edge_id);
typedef LiteRtStatus (*LiteRtDispatchLoadExecutableT)(LiteRtDispatchDeviceContext device_context,
                                                      LiteRtDispatchExecutableType type,
                                                      const LiteRtMemBuffer* bytecode_buffer,
                                                      LiteRtDispatchExecutableHandle* exec_handle);
typedef LiteRtStatus (*LiteRtDispatchUnloadExecutableT)(LiteRtDispatchDeviceContext device_context,
                                                        LiteRtDispatchExecutableHandle exec_handle);
#if defined(LITERT_ENABLE_FABRIC_INTEGRATION)
typedef LiteRtStatus (*LiteRtDispatchGetScratchpadRequirementsT)(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchExecutableHandle exec_handle,
    const char* function_name, LiteRtTensorBufferRequirements* scratchpad_requirements);
typedef LiteRtStatus (*LiteRtDispatchAttachScratchpadBufferT)(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchExecutableHandle exec_handle,
    const char* function_name, LiteRtTensorBufferHandle scratchpad_buffer_handle);
#endif
typedef LiteRtStatus (*LiteRtDispatchAssignNodeFunctionT)(
    LiteRtDispatchGraph graph, LiteRtDispatchNodeId node_id,
    LiteRtDispatchExecutableHandle exec_handle, const char* function_name);
typedef LiteRtStatus (*LiteRtDispatchInvocationContextCreateFromGraphT)(
    LiteRtDispatchDeviceContext device_context, LiteRtDispatchGraph graph,
    LiteRtDispatchInvocationContext* invocation_context);
typedef LiteRtStatus (*LiteRtDispatchInvocationContextGetGraphT)(
    LiteRtDispatchInvocationContext invocation_context, LiteRtDispatchGraph* graph);
typedef LiteRtStatus (*LiteRtDispatchAnnotateGraphT)(LiteRtDispatchGraph graph, const char* key,
                                                     const char* value);
typedef LiteRtStatus (*LiteRtDispatchAnnotateNodeT)(LiteRtDispatchGraph graph,
                                                    LiteRtDispatchNodeId node_id, const char* key,
                                                    const char* value);
typedef LiteRtStatus (*LiteRtDispatchAnnotateEdgeT)(LiteRtDispatchGraph graph,
                                                    LiteRtDispatchEdgeId edge_id, const char* key,
                                                    const char* value);

// ---- Tables -------------------------------------------------------------------------------------

// Devices, buffers, synchronous runs and measurements.
typedef struct LiteRtDispatchInterface {
  LiteRtDispatchInitializeT initialize;
  LiteRtDispatchGetVendorIdT get_vendor_id;
  LiteRtDispatchGetBuildIdT get_build_id;
  LiteRtDispatchGetCapabilitiesT get_capabilities;
  LiteRtDispatchDeviceContextCreateT device_context_create;
  LiteRtDispatchDeviceContextDestroyT device_context_destroy;
  LiteRtDispatchGetInputRequirementsT get_input_requirements;
  LiteRtDispatchGetOutputRequirementsT get_output_requirements;
  LiteRtDispatchRegisterTensorBufferT register_tensor_buffer;
  LiteRtDispatchUnregisterTensorBufferT unregister_tensor_buffer;
  LiteRtDispatchInvocationContextCreateT invocation_context_create;
  LiteRtDispatchInvocationContextDestroyT invocation_context_destroy;
  // Optional.
  LiteRtDispatchInvocationContextSetSchedulingInfoT invocation_context_set_scheduling_info;
  LiteRtDispatchAttachInputT attach_input;
  LiteRtDispatchAttachOutputT attach_output;
  LiteRtDispatchDetachInputT detach_input;
  LiteRtDispatchDetachOutputT detach_output;
  LiteRtDispatchInvokeT invoke;
  // Optional: measurements.
  LiteRtDispatchStartMetricsCollectionT start_metrics_collection;
  LiteRtDispatchStopMetricsCollectionT stop_metrics_collection;
  LiteRtDispatchGetNumMetricsT get_num_metrics;
  LiteRtDispatchGetMetricT get_metric;
  LiteRtDispatchDestroyMetricsT destroy_metrics;
  LiteRtDispatchCheckRuntimeCompatibilityT check_runtime_compatibility;
  // Optional.
  LiteRtDispatchInvocationContextSetOptionsT invocation_context_set_options;
  // Optional, and absent from tables of older plug-ins.
  LiteRtDispatchGetHooksT get_hooks;
#if defined(LITERT_ENABLE_FABRIC_INTEGRATION)
  LiteRtDispatchAttachEdgeBufferT attach_edge_buffer;
  LiteRtDispatchDetachEdgeBufferT detach_edge_buffer;
#endif
} LiteRtDispatchInterface;

// Asynchronous runs.
typedef struct LiteRtDispatchAsyncInterface {
  LiteRtDispatchAttachInputEventT attach_input_event;
  LiteRtDispatchInvokeAsyncT invoke_async;
} LiteRtDispatchAsyncInterface;

// Graphs.
typedef struct LiteRtDispatchGraphInterface {
  LiteRtDispatchGraphCreateT graph_create;
  LiteRtDispatchGraphDestroyT graph_destroy;
  LiteRtDispatchAddNodeT add_node;
  LiteRtDispatchAddEdgeT add_edge;
  LiteRtDispatchConnectNodeInputT connect_node_input;
  LiteRtDispatchConnectNodeOutputT connect_node_output;
  LiteRtDispatchConnectGraphInputT connect_graph_input;
  LiteRtDispatchConnectGraphOutputT connect_graph_output;
  LiteRtDispatchLoadExecutableT load_executable;
  LiteRtDispatchUnloadExecutableT unload_executable;
  LiteRtDispatchAssignNodeFunctionT assign_node_function;
  LiteRtDispatchAnnotateGraphT annotate_graph;
  LiteRtDispatchAnnotateNodeT annotate_node;
  LiteRtDispatchAnnotateEdgeT annotate_edge;
  LiteRtDispatchInvocationContextCreateFromGraphT invocation_context_create_from_graph;
  LiteRtDispatchInvocationContextGetGraphT invocation_context_get_graph;
#if defined(LITERT_ENABLE_FABRIC_INTEGRATION)
  LiteRtDispatchGetScratchpadRequirementsT get_scratchpad_requirements;
  LiteRtDispatchAttachScratchpadBufferT attach_scratchpad_buffer;
#endif
} LiteRtDispatchGraphInterface;

// Function tables of a plug-in. They belong to the plug-in and are valid as long as its library is
// loaded. The layout is frozen (56 bytes).
typedef struct LiteRtDispatchApi {
  // Set by the host before it calls the plug-in.
  LiteRtAbiHeader abi_header;
  // Version of the API that the plug-in was compiled with. The host requires its own.
  LiteRtApiVersion version;
  LiteRtDispatchInterface* interface;
  // NULL without kLiteRtDispatchCapabilitiesAsync.
  LiteRtDispatchAsyncInterface* async_interface;
  // NULL without kLiteRtDispatchCapabilitiesGraph.
  LiteRtDispatchGraphInterface* graph_interface;
  // Memory of the plug-in's own kind; may be NULL.
  LiteRtCustomTensorBufferHandlersDef* tensor_buffer_handlers_def;
} LiteRtDispatchApi;

// ---- Entry point --------------------------------------------------------------------------------

// Fills all members of `api` except `abi_header`. The only function that a plug-in exports.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtDispatchGetApi(LiteRtDispatchApi* api);

// Entry point of a plug-in that is linked into the program; NULL if there is none. The program sets
// it before it creates an environment.
extern LITERT_CAPI_EXPORT LiteRtStatus (*LiteRtStaticLinkedDispatchGetApi)(LiteRtDispatchApi*);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_VENDORS_C_LITERT_DISPATCH_API_H_
