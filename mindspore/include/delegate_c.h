// SPDX-License-Identifier: Apache-2.0
//
// What MindSpore Lite's C API lacks and Deputy adds: delegates of MindSpore's shape in plain C, the
// texts of failures, and a door to the interpreter. The C++ layer (delegate.h) stands on it.
//
// Structs start with their size, as those of deputy/deputy.h: the caller sets it, and fields that
// it does not have count as zero. Functions of a delegate return a status as int: 0, or a negative
// code of status_c.h, such as -7 for "not supported". Exceptions that leave them count as -1.
#ifndef DEPUTY_MINDSPORE_INCLUDE_DELEGATE_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_DELEGATE_C_H_

#include "model_c.h"

#ifdef __cplusplus
extern "C" {
#endif

struct DeputySupportAnswer;
struct TfLiteContext;
struct TfLiteDelegate;
struct TfLiteInterpreter;

// ------------------------------------------------------------------------------------------------
// Texts
// ------------------------------------------------------------------------------------------------

// The text of the newest failure on the calling thread, "" if there was none. It holds until the
// next one.
MS_API const char* DeputyMSLastError(void);

// How bad a line of the log is.
typedef enum DeputyMSLogLevel {
  kDeputyMSLogDebug = 0,
  kDeputyMSLogInfo = 1,
  kDeputyMSLogWarning = 2,
  kDeputyMSLogError = 3,
  kDeputyMSLogNone = 4
} DeputyMSLogLevel;

// Sends lines of the log to `sink`, which may be called from any thread; NULL, the default, drops
// them. `user_data` must live until then. Lines below the level are not made; the default level is
// Warning. Any thread.
MS_API void DeputyMSSetLogSink(void (*sink)(void* user_data, DeputyMSLogLevel level,
                                            const char* text),
                               void* user_data);
MS_API void DeputyMSSetLogLevel(DeputyMSLogLevel level);

// Writes a line, as the library does. For delegates.
MS_API void DeputyMSLog(DeputyMSLogLevel level, const char* text);

// "not supported" for kMSStatusLiteNotSupport, and so on. Static string.
MS_API const char* DeputyMSStatusText(MSStatus status);

// ------------------------------------------------------------------------------------------------
// Tensors
// ------------------------------------------------------------------------------------------------

// Quantisation. One entry is for the whole tensor, several are for its channels.
typedef struct DeputyMSQuantParam {
  int32_t bit_num;
  int32_t zero_point;
  double scale;
  double min;
  double max;
} DeputyMSQuantParam;

// Adds a reference and returns the handle; a tensor of the caller's is freed with its last one.
MS_API MSTensorHandle DeputyMSTensorRetain(MSTensorHandle tensor);
MS_API void DeputyMSTensorRelease(MSTensorHandle tensor);

// True for a constant of the model.
MS_API bool DeputyMSTensorIsConst(MSTensorHandle tensor);

// Writes at most `capacity` entries and returns how many there are.
MS_API size_t DeputyMSTensorGetQuantParams(MSTensorHandle tensor, DeputyMSQuantParam* params,
                                           size_t capacity);

// ------------------------------------------------------------------------------------------------
// What a delegate sees while it builds
// ------------------------------------------------------------------------------------------------

// The main graph: a list of kernels in the order of execution. It is valid during `build` only, and
// so are kernels and primitives. Tensors hold as long as one kernel of the delegate's.
typedef struct DeputyMSGraph DeputyMSGraph;
// One kernel of the list.
typedef struct DeputyMSKernel DeputyMSKernel;
// The operator of a kernel and its attributes, as MindSpore names and numbers them.
typedef struct DeputyMSPrimitive DeputyMSPrimitive;

// What the runtime calls of a delegate's kernel. All get the kernel's `user_data`. Those that may
// be NULL say so.
typedef struct DeputyMSKernelFunctions {
  // sizeof(DeputyMSKernelFunctions).
  size_t struct_size;
  // Once, after all replacements: constants have data, other tensors have none yet. May be NULL.
  int (*prepare)(void* user_data);
  // Once per inference: inputs have data, and so have outputs that others read.
  int (*execute)(void* user_data);
  // When shapes of inputs have changed: sets those of the outputs with MSTensorSetShape. The code
  // -501 postpones that to `execute`. NULL: `infer_shape` is called, and without that, shapes of
  // outputs do not change.
  int (*resize)(void* user_data);
  // As `resize`, where that is NULL. May be NULL.
  int (*infer_shape)(void* user_data);
  // The kernel reads or writes another tensor from now on. For runtimes that move kernels between
  // graphs; Deputy does not call them. May be NULL.
  int (*set_input)(void* user_data, MSTensorHandle tensor, size_t index);
  int (*set_output)(void* user_data, MSTensorHandle tensor, size_t index);
  // Frees the kernel. Called once, in every case. May be NULL.
  void (*release)(void* user_data);
} DeputyMSKernelFunctions;

// Number of kernels in the list, and one of them; NULL if out of range. A Replace changes both.
MS_API size_t DeputyMSGraphKernelCount(const DeputyMSGraph* graph);
MS_API const DeputyMSKernel* DeputyMSGraphKernelAt(const DeputyMSGraph* graph, size_t index);

// Inputs and outputs of the graph.
MS_API MSTensorHandleArray DeputyMSGraphInputs(const DeputyMSGraph* graph);
MS_API MSTensorHandleArray DeputyMSGraphOutputs(const DeputyMSGraph* graph);

// Generation of the schema: 0, the current one.
MS_API int32_t DeputyMSGraphSchemaVersion(const DeputyMSGraph* graph);

// Name of a kernel, its type ("Conv2DFusion"; "NONE" for delegates' kernels), its tensors; absent
// optional inputs are left out. The graph owns them.
MS_API const char* DeputyMSKernelName(const DeputyMSKernel* kernel);
MS_API const char* DeputyMSKernelTypeName(const DeputyMSKernel* kernel);
MS_API MSTensorHandleArray DeputyMSKernelInputs(const DeputyMSKernel* kernel);
MS_API MSTensorHandleArray DeputyMSKernelOutputs(const DeputyMSKernel* kernel);

// The operator of a kernel of the model; NULL for kernels of delegates.
MS_API const DeputyMSPrimitive* DeputyMSGraphGetPrimitive(const DeputyMSGraph* graph,
                                                          const DeputyMSKernel* kernel);

// Number of the operator in MindSpore's schema, 191 (Custom) for one that it does not have; its
// name; the number and the version in TensorFlow Lite's, and the custom operator's name or "".
MS_API int32_t DeputyMSPrimitiveType(const DeputyMSPrimitive* primitive);
MS_API const char* DeputyMSPrimitiveTypeName(const DeputyMSPrimitive* primitive);
MS_API int32_t DeputyMSPrimitiveBuiltinCode(const DeputyMSPrimitive* primitive);
MS_API int32_t DeputyMSPrimitiveVersion(const DeputyMSPrimitive* primitive);
MS_API const char* DeputyMSPrimitiveCustomName(const DeputyMSPrimitive* primitive);

// Kinds of attributes.
typedef enum DeputyMSAttributeKind {
  kDeputyMSAttributeInt = 0,  // one or several
  kDeputyMSAttributeFloat = 1,
  kDeputyMSAttributeBool = 2,
  kDeputyMSAttributeBytes = 3
} DeputyMSAttributeKind;

// The attributes by number, for dumps. NULL and -1 if out of range.
MS_API size_t DeputyMSPrimitiveAttributeCount(const DeputyMSPrimitive* primitive);
MS_API const char* DeputyMSPrimitiveAttributeName(const DeputyMSPrimitive* primitive, size_t index);
MS_API int32_t DeputyMSPrimitiveAttributeKindOf(const DeputyMSPrimitive* primitive, size_t index);

// An attribute by name. -302 (invalid attribute) if there is none of that name and kind; the
// out-parameters are then unchanged. Arrays belong to the primitive.
MS_API MSStatus DeputyMSPrimitiveGetInt(const DeputyMSPrimitive* primitive, const char* name,
                                        int64_t* out_value);
MS_API MSStatus DeputyMSPrimitiveGetInts(const DeputyMSPrimitive* primitive, const char* name,
                                         const int64_t** out_values, size_t* out_count);
MS_API MSStatus DeputyMSPrimitiveGetFloat(const DeputyMSPrimitive* primitive, const char* name,
                                          float* out_value);
MS_API MSStatus DeputyMSPrimitiveGetBool(const DeputyMSPrimitive* primitive, const char* name,
                                         bool* out_value);
MS_API MSStatus DeputyMSPrimitiveGetBytes(const DeputyMSPrimitive* primitive, const char* name,
                                          const void** out_bytes, size_t* out_size);

// Replaces the kernels [from, end) by one kernel of the delegate's, which the runtime owns from now
// on, whatever happens. `name` is copied. `next`, which may be NULL, gets the position behind the
// new kernel: from + 1. A range that is empty or out of bounds, or holds another delegate's node,
// leaves the list as it is, frees the kernel and returns -3; and then the build fails.
MS_API MSStatus DeputyMSGraphReplace(DeputyMSGraph* graph, size_t from, size_t end,
                                     const DeputyMSKernelFunctions* functions, void* user_data,
                                     const char* name, size_t* next);

// An entry of a list that is written afresh: a kernel that stays, or a new one.
typedef struct DeputyMSKernelEntry {
  // sizeof(DeputyMSKernelEntry).
  size_t struct_size;
  // A kernel of the list that stays. Then the rest is not read.
  const DeputyMSKernel* original;
  // A new kernel, as for DeputyMSGraphReplace.
  const DeputyMSKernelFunctions* functions;
  void* user_data;
  const char* name;
  // The kernels it stands for. None: they are found from the tensors below, from the outputs back
  // to the inputs.
  const DeputyMSKernel* const* replaced;
  size_t replaced_count;
  MSTensorHandleArray inputs;
  MSTensorHandleArray outputs;
} DeputyMSKernelEntry;

// Writes the whole list afresh. Every kernel of the model must be in it once, or be replaced by
// exactly one new kernel, and each entry must come behind those whose outputs it reads; else the
// list stays as it is, -3 is returned, and the build fails. New kernels belong to the runtime from
// now on, in every case.
MS_API MSStatus DeputyMSGraphSetKernels(DeputyMSGraph* graph, const DeputyMSKernelEntry* entries,
                                        size_t count);

// Says that the delegate does not take a kernel of the model, and why, for `explain`: a
// DeputyReason of deputy/deputy_plugin.h from 1 to 99 and a text, which may be NULL and is copied.
// The last word on a kernel counts.
MS_API MSStatus DeputyMSGraphRefuse(DeputyMSGraph* graph, const DeputyMSKernel* kernel,
                                    int32_t reason, const char* text);

// ------------------------------------------------------------------------------------------------
// Delegates
// ------------------------------------------------------------------------------------------------

enum { DEPUTY_MS_DELEGATE_ABI_VERSION = 1 };

// Flags of a delegate.
enum {
  // Its kernels cannot be resized: a resize frees them, and `build` is called again.
  kDeputyMSDelegateStaticShapes = 1
};

// A delegate. The struct is copied; all functions get `user_data`. `init`, `build` and `explain` of
// one delegate are called one at a time, from any thread that builds a model with it; kernels of
// different models may run on several threads meanwhile.
typedef struct DeputyMSDelegate {
  // sizeof(DeputyMSDelegate).
  size_t struct_size;
  // DEPUTY_MS_DELEGATE_ABI_VERSION.
  uint32_t abi_version;
  // Flags.
  uint32_t flags;
  // The delegate's own.
  void* user_data;
  // Called once per MSModelBuild, before the model is read. -7: the model runs without the
  // delegate. Other codes fail the build. `context` may be NULL. May be NULL.
  int (*init)(void* user_data, MSContextHandle context);
  // Looks at the graph and replaces kernels. A code other than 0 fails the build.
  int (*build)(void* user_data, DeputyMSGraph* graph);
  // Frees the delegate, after the last of its kernels. May be NULL.
  void (*release)(void* user_data);
  // For reports, before `build`: calls DeputyMSGraphRefuse for each kernel that the delegate does
  // not take, and replaces none. -7, or NULL: it does not say.
  int (*explain)(void* user_data, DeputyMSGraph* graph);
} DeputyMSDelegate;

// The delegate of models built with this context; NULL: none. A context has one at most: another
// one replaces it. On failure (-2, -3) `release` is not called.
MS_API MSStatus DeputyMSContextSetDelegate(MSContextHandle context,
                                           const DeputyMSDelegate* delegate);

// Adds a delegate of TensorFlow Lite's, applied behind the one above, in the same plan. The caller
// owns it and deletes it after the models.
MS_API MSStatus DeputyMSContextAddTfLiteDelegate(MSContextHandle context,
                                                 struct TfLiteDelegate* delegate);

// The same delegate for an interpreter of libdeputy: `init` is called once, when it is applied
// first; `build` for each subgraph, each time that it is applied. The inputs and outputs of a graph
// are in the order of their numbers here. NULL for a struct that is not one. The caller owns it and
// deletes it after the interpreter, which calls `release`.
MS_API struct TfLiteDelegate* DeputyMSDelegateCreateTfLite(const DeputyMSDelegate* delegate);
MS_API void DeputyMSDelegateDeleteTfLite(struct TfLiteDelegate* delegate);

// What such a delegate says of the nodes of `context`, as get_support of DeputyDelegatePlugin, by
// its `explain`. The texts are valid until the calling thread's next call. -7 if it does not say;
// other codes are those of `init` and `explain`.
MS_API MSStatus DeputyMSDelegateGetSupport(struct TfLiteDelegate* delegate,
                                           struct TfLiteContext* context,
                                           struct DeputySupportAnswer* answer);

// ------------------------------------------------------------------------------------------------
// Models
// ------------------------------------------------------------------------------------------------

// As MSKernelCallBackC, with the caller's own pointer.
typedef bool (*DeputyMSKernelCallBack)(void* user_data, const MSTensorHandleArray inputs,
                                       const MSTensorHandleArray outputs,
                                       const MSCallBackParamC kernel_info);
MS_API MSStatus DeputyMSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs,
                                     MSTensorHandleArray* outputs, DeputyMSKernelCallBack before,
                                     DeputyMSKernelCallBack after, void* user_data);

// The interpreter of a model that is built, for the functions of deputy/deputy.h that tell who runs
// what; NULL otherwise. It belongs to the model and must not be changed.
MS_API const struct TfLiteInterpreter* DeputyMSModelGetInterpreter(const MSModelHandle model);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_DELEGATE_C_H_
