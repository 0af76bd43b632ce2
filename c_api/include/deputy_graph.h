// SPDX-License-Identifier: Apache-2.0
//
// Subgraphs of an interpreter, graphs that are built in code, and the builtin kernels: the
// functions on which bindings/cpp, TensorFlow Lite's C++ API, is built.
//
// A subgraph is identified by its index, 0 to DeputyInterpreterGetSubgraphCount() - 1; subgraph 0
// is the one that the functions of c_api.h refer to. Functions with a status return kTfLiteError,
// after a report, for a NULL argument that is required, for an index out of range, and for a call
// by a callback of a kernel, delegate or profiler while the interpreter runs, unless a comment
// permits such calls; the interpreter stays usable. The rules of deputy.h on `struct_size`, threads
// and failures apply.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_GRAPH_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_GRAPH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "c_api.h"
#include "c_api_experimental.h"
#include "common.h"
#include "deputy_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------------------------------------
// Subgraphs
// ------------------------------------------------------------------------------------------------

// Returns the context that kernels and delegates of the subgraph receive; its tensor array, its
// callbacks and its settings are those of common.h. NULL if the index is out of range. Valid as
// long as the interpreter.
//
// `impl_` points to an object that begins with a pointer of the library. A client may set it to an
// object of its own that begins with a copy of this pointer and outlives the interpreter.
TFL_CAPI_EXPORT TfLiteContext* DeputyInterpreterGetContext(TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index);

// Lists of tensors and nodes of a subgraph. Store the number of entries in `count` and return the
// entries; NULL with a count of 0 for an empty list or an index out of range. Valid until the list
// changes. Variables are the listed ones and every tensor with `is_variable`. The execution plan
// has the indices of the nodes that run, in their order.
TFL_CAPI_EXPORT const int32_t* DeputyInterpreterGetInputs(const TfLiteInterpreter* interpreter,
                                                          int32_t subgraph_index, int32_t* count);
TFL_CAPI_EXPORT const int32_t* DeputyInterpreterGetOutputs(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index, int32_t* count);
TFL_CAPI_EXPORT const int32_t* DeputyInterpreterGetVariables(const TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index,
                                                             int32_t* count);
TFL_CAPI_EXPORT const int32_t* DeputyInterpreterGetExecutionPlan(
    const TfLiteInterpreter* interpreter, int32_t subgraph_index, int32_t* count);

// A node and its kernel.
typedef struct DeputyNode {
  TfLiteNode node;
  TfLiteRegistration registration;
} DeputyNode;

// Returns a node of the node table, which includes nodes that delegates replaced; NULL if an index
// is out of range. Valid until nodes are added or removed.
TFL_CAPI_EXPORT DeputyNode* DeputyInterpreterGetNode(const TfLiteInterpreter* interpreter,
                                                     int32_t subgraph_index, int32_t node_index);

// Names a subgraph; the name is copied. DeputyInterpreterGetSubgraphName returns it. As in
// TensorFlow Lite, no delegate is applied to a subgraph whose name begins with "VALIDATION:".
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetSubgraphName(TfLiteInterpreter* interpreter,
                                                              int32_t subgraph_index,
                                                              const char* name);

// Operations of c_api.h and c_api_experimental.h on any subgraph. A resize with `strict` may only
// change dimensions that the shape signature leaves open. A callback may call the functions, except
// ClearCustomAllocations, on subgraphs that do not run, and EnsureReadable on all;
// TfLiteInterpreterCancel ends such a call together with the inference.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterResizeInput(TfLiteInterpreter* interpreter,
                                                          int32_t subgraph_index,
                                                          int32_t tensor_index, const int32_t* dims,
                                                          int32_t rank, bool strict);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterAllocateSubgraph(TfLiteInterpreter* interpreter,
                                                               int32_t subgraph_index);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterInvokeSubgraph(TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterResetVariables(TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetCustomAllocation(
    TfLiteInterpreter* interpreter, int32_t subgraph_index, int32_t tensor_index,
    const TfLiteCustomAllocation* allocation, int64_t flags);
// Returns the tensors with custom allocations to memory that AllocateTensors plans, which must
// follow before the next Invoke.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterClearCustomAllocations(TfLiteInterpreter* interpreter,
                                                                     int32_t subgraph_index);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterEnsureReadable(TfLiteInterpreter* interpreter,
                                                             int32_t subgraph_index,
                                                             int32_t tensor_index);

// Frees the memory of tensors that AllocateTensors plans, in all subgraphs. Variables, constants
// and memory of the client stay. AllocateTensors must follow before the next Invoke.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterReleaseNonPersistentMemory(TfLiteInterpreter* interpreter);

// Releases memory of an interpreter that is idle for a while; the next run provides it again, takes
// longer and has the same results. The interpreter stays allocated, all addresses stay valid, and
// inputs, outputs and variables keep their contents; those of other tensors are undefined until the
// next run. The function releases the arena pages of these tensors, scratch memory, plans for other
// input shapes, and constants packed for the CPU if all interpreters of the model have released
// them. Packed constants stay if the interpreter has operators that keep state or call subgraphs,
// or kernels of the client. Delegates keep their memory; their nodes are prepared again.
// kTfLiteError while the interpreter runs.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterReleaseMemory(TfLiteInterpreter* interpreter);

// ------------------------------------------------------------------------------------------------
// Settings of an interpreter that exists
// ------------------------------------------------------------------------------------------------

// Sets the number of threads: 0 and 1 are one thread, -1 the default. kTfLiteError below -1. A
// pool that interpreters share keeps its threads. An allocated interpreter stays allocated.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetNumThreads(TfLiteInterpreter* interpreter,
                                                            int32_t num_threads);

// Permits TfLiteInterpreterCancel, as TfLiteInterpreterOptionsEnableCancellation does. May be
// called by a callback and by any thread.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterEnableCancellation(TfLiteInterpreter* interpreter);

// Sets a function that Invoke calls with `data` before each node or fusion group; if it returns
// true, Invoke ends with kTfLiteError. NULL removes it. `data` must stay valid until then. May be
// called by a callback.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetCancellationFunction(
    TfLiteInterpreter* interpreter, void* data, bool (*is_cancelled)(void* data));

// Sets the telemetry callbacks (telemetry_profiler.h), which are borrowed; NULL removes them. They
// receive events from then on, but no settings. May be called by a callback.
struct TfLiteTelemetryProfilerStruct;
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetTelemetryProfiler(
    TfLiteInterpreter* interpreter, struct TfLiteTelemetryProfilerStruct* profiler);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

// Applies a delegate, as TfLiteInterpreterModifyGraphWithDelegate does, but only to the listed
// subgraphs, in ascending order. kTfLiteApplicationError, before the delegate is called, for an
// empty list and for an index out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterModifySubgraphs(TfLiteInterpreter* interpreter,
                                                              TfLiteDelegate* delegate,
                                                              const int32_t* subgraphs,
                                                              int32_t count);

// Returns 1 for a subgraph that a delegate has excluded from delegation, as a part of its caller
// (TfLiteOpaqueContextMarkSubgraphAsDelegationSkippable); otherwise, and for an index out of range,
// 0.
TFL_CAPI_EXPORT int32_t DeputyInterpreterIsDelegationSkippable(const TfLiteInterpreter* interpreter,
                                                               int32_t subgraph_index);

// Removes all delegates from all subgraphs; the nodes that they replaced run on the CPU again.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterRemoveDelegates(TfLiteInterpreter* interpreter);

// ------------------------------------------------------------------------------------------------
// Buffers outside of host memory
// ------------------------------------------------------------------------------------------------

// A tensor that is passed from a node of one delegate to a node of another one, or between a node
// and a buffer of the client.
typedef struct DeputyBufferEdge {
  // sizeof(DeputyBufferEdge).
  size_t struct_size;
  // Indices of the tensor and of the nodes that write and read it; -1: the client.
  int32_t tensor_index;
  int32_t producer;
  int32_t consumer;
  // The DeputyMemoryType of the buffer.
  int32_t memory_type;
  // Size of the tensor in bytes.
  size_t bytes;
  // Number of runs in which the tensor was passed in a shared buffer, and number of runs in which
  // it passed through host memory.
  int64_t shared_runs;
  int64_t copied_runs;
  // Reason why the tensor passes through host memory; "" if it does not. Valid until the next call
  // with this interpreter.
  const char* reason;
} DeputyBufferEdge;

// Returns the number of edges that the newest AllocateTensors and DeputyInterpreterBindBuffer have
// added; 0 if the index is out of range.
TFL_CAPI_EXPORT size_t DeputyInterpreterGetBufferEdgeCount(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index);
// Fills `edge`, whose struct_size the caller has set.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterGetBufferEdge(const TfLiteInterpreter* interpreter,
                                                            int32_t subgraph_index, size_t index,
                                                            DeputyBufferEdge* edge);

// Calls `callback` for each type of memory in which all nodes of delegates that use an input or
// output of the subgraph can access it.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterListMemoryTypes(TfLiteInterpreter* interpreter,
                                                              int32_t subgraph_index,
                                                              int32_t tensor_index,
                                                              DeputyMemoryTypeCallback callback,
                                                              void* user_data);

// Makes an input or output of the subgraph use a buffer of the client. The buffer must exist until
// NULL unbinds it, another buffer replaces it, or the interpreter is deleted. If a buffer is
// refused, the former one stays. The field `bytes` is ignored. A node of a delegate imports the
// buffer: each run reads the input from it, or leaves the output in it. A run does not copy the
// output to host memory; call TfLiteInterpreterEnsureTensorDataIsReadable for that. Tensors must be
// allocated. The binding stays when they are allocated again; runs fail while no node of a delegate
// can use the buffer.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterBindBuffer(TfLiteInterpreter* interpreter,
                                                         int32_t subgraph_index,
                                                         int32_t tensor_index,
                                                         const DeputyBuffer* buffer);

// Replaces an applied delegate by another one between two inferences, for example by a delegate of
// a newer library. Other delegates stay applied, in the same order; inputs and variables keep their
// contents. If the new delegate cannot be applied, the former delegates are applied again and its
// status is returned. If a variable cannot be read from a device, nothing changes and the failure
// is returned. Afterwards the delegate that is not applied may be deleted. Returns
// kTfLiteApplicationError without any change unless `old_delegate` is applied and `new_delegate` is
// not NULL.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterReplaceDelegate(TfLiteInterpreter* interpreter,
                                                              TfLiteDelegate* old_delegate,
                                                              TfLiteDelegate* new_delegate);

// ------------------------------------------------------------------------------------------------
// Signatures
// ------------------------------------------------------------------------------------------------

// Index of the subgraph that a signature runs; -1 if the index is out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSignatureSubgraph(const TfLiteInterpreter* interpreter,
                                                              int32_t signature_index);

// Number of inputs or outputs of a signature; 0 if the index is out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSignatureInputCount(
    const TfLiteInterpreter* interpreter, int32_t signature_index);
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSignatureOutputCount(
    const TfLiteInterpreter* interpreter, int32_t signature_index);

// Store the name of an input or output, which the interpreter owns, and the index of its tensor.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterGetSignatureInput(const TfLiteInterpreter* interpreter, int32_t signature_index,
                                   int32_t input_index, const char** name, int32_t* tensor_index);
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterGetSignatureOutput(const TfLiteInterpreter* interpreter, int32_t signature_index,
                                    int32_t output_index, const char** name, int32_t* tensor_index);

// ------------------------------------------------------------------------------------------------
// Outputs of subgraphs
// ------------------------------------------------------------------------------------------------

// Number of outputs of a subgraph; 0 if the index is out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSubgraphOutputCount(
    const TfLiteInterpreter* interpreter, int32_t subgraph_index);

// Index of the tensor of an output of a subgraph; -1 if an index is out of range.
TFL_CAPI_EXPORT int32_t DeputyInterpreterGetSubgraphOutput(const TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index,
                                                           int32_t output_index);

// ------------------------------------------------------------------------------------------------
// Graphs built in code
//
// An empty interpreter has one subgraph without tensors. A client adds tensors, describes each of
// them, adds nodes in the order in which they run, and sets inputs, outputs and variables. Then
// AllocateTensors and Invoke work as for a model. The functions are for every interpreter, also for
// that of a model. While a delegate is applied, AddNode and SetExecutionPlan fail; SetTensor fails
// while one is applied that does not support dynamic tensors.
// ------------------------------------------------------------------------------------------------

// Creates an interpreter with one empty subgraph; see TfLiteInterpreterCreate for the options.
// Operators, delegates, placements and required delegation have no effect. NULL after a report on
// failure.
TFL_CAPI_EXPORT TfLiteInterpreter* DeputyInterpreterCreateEmpty(
    const TfLiteInterpreterOptions* optional_options);

// Adds empty subgraphs. `first_index`, which may be NULL, receives the index of the first.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterAddSubgraphs(TfLiteInterpreter* interpreter,
                                                           int32_t count, int32_t* first_index);

// Adds tensors of type kTfLiteNoType. `first_index`, which may be NULL, receives the index of the
// first. Pointers to tensors may become invalid.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterAddTensors(TfLiteInterpreter* interpreter,
                                                         int32_t subgraph_index, int32_t count,
                                                         int32_t* first_index);

typedef struct DeputyTensorParameters {
  size_t struct_size;
  TfLiteType type;
  const char* name;     // borrowed: must outlive the tensor; NULL: no name
  const int32_t* dims;  // copied
  int32_t rank;
  // Shape with -1 for each dimension that a resize may change, copied; rank 0: none.
  const int32_t* signature_dims;
  int32_t signature_rank;
  // The tensor takes ownership of params and sparsity (malloc), also if the call fails.
  TfLiteQuantization quantization;
  TfLiteSparsity* sparsity;
  // Contents of a constant, borrowed: must outlive the tensor. Copied if they are not aligned to
  // the elements. NULL: not a constant, unless `is_constant`.
  const void* data;
  size_t bytes;
  int32_t is_constant;  // 1: a constant, which may be empty: NULL with 0 bytes
  int32_t is_variable;  // 1: keeps its value between inferences; not for constants
} DeputyTensorParameters;

// Sets type, shape, quantisation and contents of a tensor. kTfLiteError, with the tensor unchanged,
// if a constant has fewer bytes than its type and shape require (not checked for strings and sparse
// tensors), for a variable of a type without fixed size, and for quantisation that does not agree
// with the shape. AllocateTensors must follow before the next Invoke, unless a constant replaces
// the contents of a tensor of the same type and shape.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetTensor(TfLiteInterpreter* interpreter,
                                                        int32_t subgraph_index,
                                                        int32_t tensor_index,
                                                        const DeputyTensorParameters* parameters);

typedef struct DeputyNodeParameters {
  size_t struct_size;
  const int32_t* inputs;  // copied; -1: an optional input that is absent
  int32_t input_count;
  const int32_t* outputs;  // copied
  int32_t output_count;
  const int32_t* intermediates;  // copied
  int32_t intermediate_count;
  // Options of a custom operator, given to init and, as custom_initial_data, to the node; borrowed.
  const void* init_data;
  size_t init_data_size;
  // Options of a builtin (malloc); the node takes ownership, also if the call fails. NULL: zeros,
  // if the kernel is one of this library's.
  void* builtin_data;
  const TfLiteRegistration* registration;  // copied
} DeputyNodeParameters;

// Appends a node to the node table and the execution plan, and calls its init. `node_index`, which
// may be NULL, receives its index. Fails while a delegate is applied. An invalid tensor index, and
// a builtin whose input is its output, make the subgraph inconsistent: AllocateTensors and Invoke
// fail from then on, as in TensorFlow Lite. AllocateTensors must follow before the next Invoke.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterAddNode(TfLiteInterpreter* interpreter,
                                                      int32_t subgraph_index,
                                                      const DeputyNodeParameters* parameters,
                                                      int32_t* node_index);

// Set the inputs, outputs and variables of a subgraph and its execution plan; the arrays are
// copied. An input may be -1: absent. kTfLiteError, with the list unchanged, if an index is out of
// range; an invalid tensor index makes the subgraph inconsistent. The plan may omit nodes and
// change their order, but has none twice; it cannot be set while a delegate is applied. An
// allocated subgraph without delegates stays allocated; inputs and variables keep their contents.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetInputs(TfLiteInterpreter* interpreter,
                                                        int32_t subgraph_index,
                                                        const int32_t* tensors, int32_t count);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetOutputs(TfLiteInterpreter* interpreter,
                                                         int32_t subgraph_index,
                                                         const int32_t* tensors, int32_t count);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetVariables(TfLiteInterpreter* interpreter,
                                                           int32_t subgraph_index,
                                                           const int32_t* tensors, int32_t count);
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterSetExecutionPlan(TfLiteInterpreter* interpreter,
                                                               int32_t subgraph_index,
                                                               const int32_t* nodes, int32_t count);

typedef struct DeputySignature {
  size_t struct_size;
  const char* key;
  int32_t subgraph_index;
  int32_t input_count;
  int32_t output_count;
  int32_t reserved;  // 0
  const char* const* input_names;
  const int32_t* input_tensors;
  const char* const* output_names;
  const int32_t* output_tensors;
} DeputySignature;

// Adds a signature, whose key must be new. The arrays and texts are copied. The tensors may be
// added later.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterAddSignature(TfLiteInterpreter* interpreter,
                                                           const DeputySignature* signature);

// ------------------------------------------------------------------------------------------------
// Builtin kernels
// ------------------------------------------------------------------------------------------------

// Returns this library's kernel of a builtin operator and version, or of one of TensorFlow Lite's
// custom operators; NULL if there is none. Valid until the process ends. Any thread.
TFL_CAPI_EXPORT const TfLiteRegistration* DeputyFindBuiltinKernel(TfLiteBuiltinOperator op,
                                                                  int32_t version);
TFL_CAPI_EXPORT const TfLiteRegistration* DeputyFindCustomKernel(const char* name, int32_t version);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_GRAPH_H_
