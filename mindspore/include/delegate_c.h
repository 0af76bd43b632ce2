// SPDX-License-Identifier: Apache-2.0
//
// Functions that Deputy adds to MindSpore Lite's C API: delegates with MindSpore's interface in
// plain C, error messages, and access to the interpreter. The C++ layer (delegate.h) is built on
// them.
//
// Structs with functions start with their size, like those of deputy/deputy.h. The caller sets it;
// optional fields beyond it are treated as zero, and a struct without its required fields is
// refused. Functions of a delegate return a status as int: 0, or a negative code of status_c.h,
// such as -7 for "not supported". An exception that leaves such a function is treated as -1, or as
// -6 if it is std::bad_alloc.
#ifndef DEPUTY_MINDSPORE_INCLUDE_DELEGATE_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_DELEGATE_C_H_

#include "model_c.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DeputySupportResult;
struct TfLiteContext;
struct TfLiteDelegate;
struct TfLiteInterpreter;

// ------------------------------------------------------------------------------------------------
// Error messages and log
// ------------------------------------------------------------------------------------------------

// Returns the message of the latest failure on the calling thread, "" if there was none. The
// pointer is valid until the next failure on this thread.
MS_API const char* DeputyMSLastError(void);

// Severity of a log message.
typedef enum DeputyMSLogLevel {
  kDeputyMSLogDebug = 0,
  kDeputyMSLogInfo = 1,
  kDeputyMSLogWarning = 2,
  kDeputyMSLogError = 3,
  kDeputyMSLogNone = 4
} DeputyMSLogLevel;

// Set the function that receives log messages (the sink), and the lowest level of the messages that
// it receives; the default level is Warning. NULL, the default, discards messages. `user_data` must
// stay valid until the sink is replaced. The sink may be called from any thread, one call at a
// time. Messages that a call of the sink logs on its thread are discarded. Both functions may be
// called from any thread, also by the sink.
MS_API void DeputyMSSetLogSink(void (*sink)(void* user_data, DeputyMSLogLevel level,
                                            const char* text),
                               void* user_data);
MS_API void DeputyMSSetLogLevel(DeputyMSLogLevel level);

// Logs a message through the same sink as the library. Intended for delegates.
MS_API void DeputyMSLog(DeputyMSLogLevel level, const char* text);

// Returns a description of the status, such as "not supported" for kMSStatusLiteNotSupport. The
// string is static.
MS_API const char* DeputyMSStatusText(MSStatus status);

// ------------------------------------------------------------------------------------------------
// Tensors
// ------------------------------------------------------------------------------------------------

// Quantisation parameters. A tensor has one entry, or one per channel.
typedef struct DeputyMSQuantParam {
  int32_t bit_num;
  int32_t zero_point;
  double scale;
  double min;
  double max;
} DeputyMSQuantParam;

// DeputyMSTensorRetain adds a reference and returns the handle. DeputyMSTensorRelease removes one;
// removing the last reference frees the tensor. A graph holds a reference to each of its tensors.
MS_API MSTensorHandle DeputyMSTensorRetain(MSTensorHandle tensor);
MS_API void DeputyMSTensorRelease(MSTensorHandle tensor);

// Returns true for a constant of the model.
MS_API bool DeputyMSTensorIsConst(MSTensorHandle tensor);

// Writes at most `capacity` entries and returns the number of entries that exist.
MS_API size_t DeputyMSTensorGetQuantParams(MSTensorHandle tensor, DeputyMSQuantParam* params,
                                           size_t capacity);

// ------------------------------------------------------------------------------------------------
// The graph, as presented to a delegate during `build`
// ------------------------------------------------------------------------------------------------

// A subgraph, the main one for a delegate of a context: a list of kernels in execution order. The
// graph, its kernels and its primitives are valid only during the call (`build`, `explain`) that
// receives the graph. Tensors are valid while at least one kernel of the delegate exists.
typedef struct DeputyMSGraph DeputyMSGraph;
// A kernel of a graph's list.
typedef struct DeputyMSKernel DeputyMSKernel;
// The operator of a kernel and its attributes, with MindSpore's names and values.
typedef struct DeputyMSPrimitive DeputyMSPrimitive;

// Functions of a delegate's kernel, which the runtime calls with the kernel's `user_data`. A
// function is required unless its comment says that it may be NULL.
typedef struct DeputyMSKernelFunctions {
  // Size of the struct: sizeof(DeputyMSKernelFunctions).
  size_t struct_size;
  // Prepares the kernel. Called after all replacements, until it succeeds. Constants have data,
  // other tensors have none yet. Status -501 means success, with the shapes of the outputs
  // postponed to `execute`. May be NULL.
  int (*prepare)(void* user_data);
  // Computes the outputs. Called once per inference. Inputs have data; outputs that other kernels
  // or the caller of the model read have memory, unless their shapes were postponed.
  int (*execute)(void* user_data);
  // Sets the shapes of the outputs with MSTensorSetShape. Called when shapes of inputs have
  // changed, and after `prepare` if the shapes were not known when the kernel was built. Status
  // -501 postpones this to `execute`. If NULL, `infer_shape` is called instead; if both are NULL,
  // the shapes of the outputs do not change.
  int (*resize)(void* user_data);
  // Sets the shapes of the outputs as `resize` does; used only if `resize` is NULL. May be NULL.
  int (*infer_shape)(void* user_data);
  // Replace a tensor that the kernel reads or writes. They exist for runtimes that move kernels
  // between graphs; Deputy does not call them. May be NULL.
  int (*set_input)(void* user_data, MSTensorHandle tensor, size_t index);
  int (*set_output)(void* user_data, MSTensorHandle tensor, size_t index);
  // Frees the kernel. Called exactly once, also if the replacement fails. May be NULL.
  void (*release)(void* user_data);
} DeputyMSKernelFunctions;

// Returns the number of kernels in the list, or one of them; NULL if out of range. A replacement
// changes both.
MS_API size_t DeputyMSGraphKernelCount(const DeputyMSGraph* graph);
MS_API const DeputyMSKernel* DeputyMSGraphKernelAt(const DeputyMSGraph* graph, size_t index);

// Return the inputs and outputs of the graph.
MS_API MSTensorHandleArray DeputyMSGraphInputs(const DeputyMSGraph* graph);
MS_API MSTensorHandleArray DeputyMSGraphOutputs(const DeputyMSGraph* graph);

// Returns the generation of the schema: 0, the current one; -1 for NULL.
MS_API int32_t DeputyMSGraphSchemaVersion(const DeputyMSGraph* graph);

// Return name, type and tensors of a kernel. The type is MindSpore's ("Conv2DFusion"), or "NONE"
// for a delegate's kernel. The arrays omit absent optional inputs, and are empty for a new kernel
// of this delegate. The graph owns all results.
MS_API const char* DeputyMSKernelName(const DeputyMSKernel* kernel);
MS_API const char* DeputyMSKernelTypeName(const DeputyMSKernel* kernel);
MS_API MSTensorHandleArray DeputyMSKernelInputs(const DeputyMSKernel* kernel);
MS_API MSTensorHandleArray DeputyMSKernelOutputs(const DeputyMSKernel* kernel);

// Returns the operator of one of the model's kernels; NULL for a delegate's kernel.
MS_API const DeputyMSPrimitive* DeputyMSGraphGetPrimitive(const DeputyMSGraph* graph,
                                                          const DeputyMSKernel* kernel);

// Returns the primitive that Deputy derives from the TensorFlow Lite operator that it would run. It
// differs from DeputyMSGraphGetPrimitive for models of .ms files, whose primitives are presented as
// the file has them.
MS_API const DeputyMSPrimitive* DeputyMSGraphGetDerivedPrimitive(const DeputyMSGraph* graph,
                                                                 const DeputyMSKernel* kernel);

// Return properties of an operator. Type and TypeName: its value and name in MindSpore's schema,
// 191 and "Custom" if it is not in that schema. BuiltinCode and Version: code and version in
// TensorFlow Lite's schema. CustomName: name of a custom operator, otherwise "".
MS_API int32_t DeputyMSPrimitiveType(const DeputyMSPrimitive* primitive);
MS_API const char* DeputyMSPrimitiveTypeName(const DeputyMSPrimitive* primitive);
MS_API int32_t DeputyMSPrimitiveBuiltinCode(const DeputyMSPrimitive* primitive);
MS_API int32_t DeputyMSPrimitiveVersion(const DeputyMSPrimitive* primitive);
MS_API const char* DeputyMSPrimitiveCustomName(const DeputyMSPrimitive* primitive);

// Returns the operator as a FlatBuffer, whose root is a mindspore::schema::Primitive of
// schema/model_generated.h. It is valid, so that it may be read without verification. The primitive
// owns it.
MS_API MSStatus DeputyMSPrimitiveGetBuffer(const DeputyMSPrimitive* primitive,
                                           const void** out_data, size_t* out_size);

// Types of attributes. Enumerations are integers, strings are bytes.
typedef enum DeputyMSAttributeKind {
  kDeputyMSAttributeInt = 0,    // one value or several
  kDeputyMSAttributeFloat = 1,  // one value or several
  kDeputyMSAttributeBool = 2,
  kDeputyMSAttributeBytes = 3
} DeputyMSAttributeKind;

// Access to the attributes by index, for dumps: all attributes that MindSpore's schema has for the
// type, with defaults for those that are not set. The entries of a Custom's `attr` follow, and then
// options of TensorFlow Lite's operator that MindSpore's primitive does not have. Out of range, the
// name is NULL and the kind is -1.
MS_API size_t DeputyMSPrimitiveAttributeCount(const DeputyMSPrimitive* primitive);
MS_API const char* DeputyMSPrimitiveAttributeName(const DeputyMSPrimitive* primitive, size_t index);
MS_API int32_t DeputyMSPrimitiveAttributeKindOf(const DeputyMSPrimitive* primitive, size_t index);

// Return an attribute by name. The rows of a list of lists follow one another. The status is -302
// (invalid attribute) if no attribute has this name and kind, if GetInt or GetFloat finds a list
// that does not have exactly one value, or if a pointer is NULL; the out-parameters are then
// unchanged. The primitive owns returned arrays.
MS_API MSStatus DeputyMSPrimitiveGetInt(const DeputyMSPrimitive* primitive, const char* name,
                                        int64_t* out_value);
MS_API MSStatus DeputyMSPrimitiveGetInts(const DeputyMSPrimitive* primitive, const char* name,
                                         const int64_t** out_values, size_t* out_count);
MS_API MSStatus DeputyMSPrimitiveGetFloat(const DeputyMSPrimitive* primitive, const char* name,
                                          float* out_value);
MS_API MSStatus DeputyMSPrimitiveGetFloats(const DeputyMSPrimitive* primitive, const char* name,
                                           const float** out_values, size_t* out_count);
MS_API MSStatus DeputyMSPrimitiveGetBool(const DeputyMSPrimitive* primitive, const char* name,
                                         bool* out_value);
MS_API MSStatus DeputyMSPrimitiveGetBytes(const DeputyMSPrimitive* primitive, const char* name,
                                          const void** out_bytes, size_t* out_size);

// Replaces the kernels [from, end) by one kernel of the delegate. The runtime owns the new kernel,
// also after a failure, unless the graph is NULL or `functions` has no `release`. `name` is copied.
// `next`, which may be NULL, receives the position after the new kernel: from + 1. A range that is
// empty, out of bounds, or contains a node of another delegate, and invalid functions, leave the
// list unchanged, free the kernel and return -3; the build then fails.
MS_API MSStatus DeputyMSGraphReplace(DeputyMSGraph* graph, size_t from, size_t end,
                                     const DeputyMSKernelFunctions* functions, void* user_data,
                                     const char* name, size_t* next);

// An entry of a list for DeputyMSGraphSetKernels: a kernel that stays, or a new one.
typedef struct DeputyMSKernelEntry {
  // Size of the struct: sizeof(DeputyMSKernelEntry). It is the same in all entries of a list, and
  // the distance between them.
  size_t struct_size;
  // A kernel of the model that stays. If it is set, the fields below are ignored.
  const DeputyMSKernel* original;
  // A new kernel, with the parameters of DeputyMSGraphReplace.
  const DeputyMSKernelFunctions* functions;
  void* user_data;
  const char* name;
  // The kernels that the new kernel replaces. If the array is empty, they are found by following
  // the producers from `outputs` back to `inputs`.
  const DeputyMSKernel* const* replaced;
  size_t replaced_count;
  MSTensorHandleArray inputs;
  MSTensorHandleArray outputs;
} DeputyMSKernelEntry;

// Replaces the whole list. Each kernel of the model must occur in it once or be replaced by exactly
// one new kernel, and each entry must come after the producers of its inputs. Otherwise the list is
// unchanged, -3 is returned, and the build fails. The runtime owns the new kernels as in
// DeputyMSGraphReplace, also those of valid entries if another entry is invalid. It cannot free the
// kernel of an entry whose size does not cover `functions` and `user_data`.
MS_API MSStatus DeputyMSGraphSetKernels(DeputyMSGraph* graph, const DeputyMSKernelEntry* entries,
                                        size_t count);

// States, in `explain`, that the delegate does not support a kernel of the model. `reason` is a
// DeputyReason of deputy/deputy_plugin.h from 1 to 99; `text` may be NULL and is copied. A later
// call for the same kernel overrides an earlier one.
MS_API MSStatus DeputyMSGraphRefuse(DeputyMSGraph* graph, const DeputyMSKernel* kernel,
                                    int32_t reason, const char* text);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

enum { DEPUTY_MS_DELEGATE_ABI_VERSION = 1 };

// Values of DeputyMSDelegate.flags.
enum {
  // The delegate's kernels cannot be resized: a resize frees them, and `build` is called again.
  kDeputyMSDelegateStaticShapes = 1
};

// A delegate. The struct is copied, and all functions receive `user_data`. Calls of `init`, `build`
// and `explain` of one delegate are serialised, but may come from any thread that builds a model
// with it (see `identity`). Kernels of different models may run concurrently.
typedef struct DeputyMSDelegate {
  // Size of the struct: sizeof(DeputyMSDelegate).
  size_t struct_size;
  // Version of the ABI: DEPUTY_MS_DELEGATE_ABI_VERSION.
  uint32_t abi_version;
  // Properties of the delegate: bits of kDeputyMSDelegate*.
  uint32_t flags;
  // Pointer that is passed to all functions; the runtime does not access it.
  void* user_data;
  // Initialises the delegate. Called once per MSModelBuild, before the model is parsed. After -7
  // the model runs without the delegate; other failures make the build fail. `context` may be NULL.
  // The function may be NULL.
  int (*init)(void* user_data, MSContextHandle context);
  // Reads the graph and replaces kernels. A status other than 0 makes the build fail.
  int (*build)(void* user_data, DeputyMSGraph* graph);
  // Frees the delegate, after the last of its kernels. May be NULL.
  void (*release)(void* user_data);
  // For reports, called before `build`: calls DeputyMSGraphRefuse for each kernel that the delegate
  // does not support, and does not change the list. If the function is NULL or returns -7, the
  // delegate does not report its support.
  int (*explain)(void* user_data, DeputyMSGraph* graph);
  // Address that identifies the delegate: calls of structs with the same address are serialised.
  // The runtime does not access it. NULL serialises the calls of this struct only.
  const void* identity;
} DeputyMSDelegate;

// Sets the delegate of models that are built with this context; NULL removes it. A context has at
// most one, and a second call replaces it. After a failure (-2, -3) `release` is not called.
MS_API MSStatus DeputyMSContextSetDelegate(MSContextHandle context,
                                           const DeputyMSDelegate* delegate);

// Adds a TensorFlow Lite delegate, which is applied after that of DeputyMSContextSetDelegate. The
// caller owns it and must delete it after the models.
MS_API MSStatus DeputyMSContextAddTfLiteDelegate(MSContextHandle context,
                                                 struct TfLiteDelegate* delegate);

// Creates a TensorFlow Lite delegate for an interpreter of libdeputy. `init` is called when it is
// applied or queried for the first time, and again after a failure; `build` is called for each
// subgraph, each time it is applied. Returns NULL if the struct is invalid. The caller owns the
// result and deletes it after the interpreter; the deletion calls `release`.
MS_API struct TfLiteDelegate* DeputyMSDelegateCreateTfLite(const DeputyMSDelegate* delegate);
MS_API void DeputyMSDelegateDeleteTfLite(struct TfLiteDelegate* delegate);

// Sets `nanoseconds` to the time spent so far in the delegate's `build` and in the Prepare of its
// kernels. May be called from any thread. Returns kMSStatusLiteParamInvalid if an argument is NULL
// or the delegate was not created by DeputyMSDelegateCreateTfLite.
MS_API MSStatus DeputyMSDelegateGetCompileTime(const struct TfLiteDelegate* delegate,
                                               int64_t* nanoseconds);

// Returns `user_data` of the struct from which the delegate was created; NULL if it was not created
// by DeputyMSDelegateCreateTfLite.
MS_API void* DeputyMSDelegateGetUserData(const struct TfLiteDelegate* delegate);

// Queries the support status of the nodes of `context`, as get_support of DeputyDelegatePlugin
// does, through the delegate's `explain`. The texts are valid until the next call on the calling
// thread. Returns -7 if the delegate does not report its support or declines, -3 if an argument is
// NULL or the delegate was not created by DeputyMSDelegateCreateTfLite, -1 if the graph cannot be
// read; other codes come from `init` and `explain`.
MS_API MSStatus DeputyMSDelegateGetSupport(struct TfLiteDelegate* delegate,
                                           struct TfLiteContext* context,
                                           struct DeputySupportResult* result);

// ------------------------------------------------------------------------------------------------
// Models
// ------------------------------------------------------------------------------------------------

// Called before or after a node, as MSKernelCallBackC is, but also receives a pointer of the
// caller.
typedef bool (*DeputyMSKernelCallBack)(void* user_data, const MSTensorHandleArray inputs,
                                       const MSTensorHandleArray outputs,
                                       const MSCallBackParamC kernel_info);
MS_API MSStatus DeputyMSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs,
                                     MSTensorHandleArray* outputs, DeputyMSKernelCallBack before,
                                     DeputyMSKernelCallBack after, void* user_data);

// Returns the interpreter of a model that is built, for the functions of deputy/deputy.h that
// report which delegate runs which node; otherwise NULL. The model owns it, and callers must not
// modify it.
MS_API const struct TfLiteInterpreter* DeputyMSModelGetInterpreter(const MSModelHandle model);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_DELEGATE_C_H_
