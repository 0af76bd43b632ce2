// SPDX-License-Identifier: Apache-2.0
//
// The main C API: load a model, create an interpreter, set inputs, invoke, read outputs.
//
//     TfLiteModel* model = TfLiteModelCreateFromFile("digits.tflite");
//     TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
//     TfLiteInterpreterOptionsSetNumThreads(options, 2);
//     TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
//     TfLiteInterpreterOptionsDelete(options);
//     TfLiteModelDelete(model);
//     TfLiteInterpreterAllocateTensors(interpreter);
//     TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), in, in_bytes);
//     TfLiteInterpreterInvoke(interpreter);
//     TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), out, out_bytes);
//     TfLiteInterpreterDelete(interpreter);
//
// Threads: an object must not be used by several threads at the same time; different interpreters,
// also of the same model, may run concurrently. While Invoke runs on another thread, only
// TfLiteInterpreterCancel, TfLiteSignatureRunnerCancel and DeputyInterpreterEnableCancellation may
// be called with its interpreter. Functions may change an interpreter that is `const`.
//
// Failures: functions that return a pointer return NULL, functions that return a status return a
// value other than kTfLiteOk, and the error reporter receives at least one message. A NULL object
// or an index out of range is a failure, too, mostly without a message, and does not crash. Every
// Delete function ignores NULL.
#ifndef DEPUTY_C_API_INCLUDE_C_API_H_
#define DEPUTY_C_API_INCLUDE_C_API_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "builtin_ops.h"
#include "c_api_types.h"
#include "common.h"
#include "operator.h"
#include "registration_external.h"

#ifdef __cplusplus
extern "C" {
#endif

// A verified model. Interpreters share it and hold references to it.
typedef struct TfLiteModel TfLiteModel;

// Settings of new interpreters; not needed after the interpreters are created.
typedef struct TfLiteInterpreterOptions TfLiteInterpreterOptions;

// Executable instance of a model, with its own tensors and memory.
typedef struct TfLiteInterpreter TfLiteInterpreter;

// Runner of a signature: access to its inputs and outputs by name.
typedef struct TfLiteSignatureRunner TfLiteSignatureRunner;

// ------------------------------------------------------------------------------------------------
// Versions
// ------------------------------------------------------------------------------------------------

// The TensorFlow release whose behaviour this library implements, as "major.minor.patch". Static
// string. Any thread.
TFL_CAPI_EXPORT const char* TfLiteVersion(void);

// Version of the interface between the runtime and its extensions. Static string. Any thread.
TFL_CAPI_EXPORT const char* TfLiteExtensionApisVersion(void);

// Supported version of the model format: 3. Any thread.
TFL_CAPI_EXPORT int TfLiteSchemaVersion(void);

// ------------------------------------------------------------------------------------------------
// Models
// ------------------------------------------------------------------------------------------------

// Verifies `model_data` and creates a model that refers to it: the caller owns the bytes and keeps
// them until the model and every interpreter of it are deleted. (Bytes that are not aligned to 16
// bytes are copied.) NULL, with a message to the default reporter, if the bytes are not a valid
// model.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreate(const void* model_data, size_t model_size);

// Creates a model like TfLiteModelCreate, with an error reporter that is used only during this
// call. It receives a printf format and its arguments, like that of
// TfLiteInterpreterOptionsSetErrorReporter. NULL means the default reporter.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreateWithErrorReporter(
    const void* model_data, size_t model_size,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Maps a file, verifies it and creates a model. The file must not be truncated or overwritten in
// place while the model exists; see DeputyModelCreateFromFileByCopy for files that may be. NULL,
// with a message to the default reporter, if the file cannot be read or is not a valid model.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreateFromFile(const char* model_path);

// Creates a model like TfLiteModelCreateFromFile, with an error reporter; see
// TfLiteModelCreateWithErrorReporter.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreateFromFileWithErrorReporter(
    const char* model_path, void (*reporter)(void* user_data, const char* format, va_list args),
    void* user_data);

// Deletes the client's reference to a model. Interpreters of the model remain valid.
TFL_CAPI_EXPORT void TfLiteModelDelete(TfLiteModel* model);

// ------------------------------------------------------------------------------------------------
// Options
// ------------------------------------------------------------------------------------------------

// Creates options with default values. The caller owns them. NULL if out of memory.
TFL_CAPI_EXPORT TfLiteInterpreterOptions* TfLiteInterpreterOptionsCreate(void);

// Returns a copy that the caller owns; delegates and operators in it are borrowed. NULL for NULL
// and if out of memory.
TFL_CAPI_EXPORT TfLiteInterpreterOptions* TfLiteInterpreterOptionsCopy(
    const TfLiteInterpreterOptions* from);

// Deletes options. They are not needed after an interpreter has been created with them.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions* options);

// Sets the number of threads that kernels may use. -1, the default, and 0 mean 1; a value below -1
// is reported and ignored when an interpreter is created. The number is limited to that of the fast
// processors (docs/arm.md) in the affinity of the thread that prepares the interpreter, and to the
// quota of control groups (docs/containers.md). Results do not depend on it.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetNumThreads(TfLiteInterpreterOptions* options,
                                                           int32_t num_threads);

// Adds a delegate; delegates are applied in the order of these calls when an interpreter is
// created. The delegate is borrowed and must outlive the interpreter. A NULL delegate counts as a
// delegate that fails, see TfLiteInterpreterCreate.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddDelegate(TfLiteInterpreterOptions* options,
                                                         TfLiteOpaqueDelegate* delegate);

// Sends the messages of an interpreter, from its creation to its deletion, to `reporter`, which
// receives a printf format and its arguments. The format is the complete text, with every %
// doubled, and has no arguments, for clients that cannot read a va_list. `user_data` must outlive
// the interpreter. NULL means the default reporter, which writes to stderr. Messages about
// environment variables, and some about memory, always go to the default reporter.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetErrorReporter(
    TfLiteInterpreterOptions* options,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Adds a custom operator, which is found by its custom name and version whatever its builtin code.
// The operator is borrowed and must outlive the interpreter. Ignored if it has no custom name or if
// a resolver callback is set.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddOperator(TfLiteInterpreterOptions* options,
                                                         TfLiteOperator* registration);

// Name before TensorFlow 2.17 of TfLiteInterpreterOptionsAddOperator.
#define TfLiteInterpreterOptionsAddRegistrationExternal TfLiteInterpreterOptionsAddOperator

// Enables TfLiteInterpreterCancel. kTfLiteError for NULL options, else kTfLiteOk.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteInterpreterOptionsEnableCancellation(TfLiteInterpreterOptions* options, bool enable);

// ------------------------------------------------------------------------------------------------
// Interpreters
// ------------------------------------------------------------------------------------------------

// Creates an interpreter of a model; the caller owns it. The model and the options, which may be
// NULL, may be deleted afterwards. Initialises kernels and applies delegates. NULL if an operator
// is unknown (unknown custom operators are errors only when tensors are allocated), the model's
// structure is not supported, a delegate fails (except under kDeputyPolicyHot of deputy.h), or if
// out of memory; DeputyLastError() in deputy.h has the text.
TFL_CAPI_EXPORT TfLiteInterpreter* TfLiteInterpreterCreate(
    const TfLiteModel* model, const TfLiteInterpreterOptions* optional_options);

// Deletes an interpreter with its tensors. Delegates, operators and the reporter's user_data must
// still exist.
TFL_CAPI_EXPORT void TfLiteInterpreterDelete(TfLiteInterpreter* interpreter);

// Number of inputs of the main subgraph; 0 for NULL.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetInputTensorCount(const TfLiteInterpreter* interpreter);

// Tensor indices of the inputs; owned by the interpreter and constant during its life, unless
// DeputyInterpreterSetInputs changes them. NULL for NULL.
TFL_CAPI_EXPORT const int* TfLiteInterpreterInputTensorIndices(
    const TfLiteInterpreter* interpreter);

// Returns an input. Type, shape and name are available immediately, the contents after
// AllocateTensors. Owned by the interpreter; the pointer may change, so fetch it again after
// AllocateTensors and after applying a delegate. NULL if the index is out of range.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteInterpreterGetInputTensor(const TfLiteInterpreter* interpreter,
                                                              int32_t input_index);

// Changes the shape of an input, including its rank. `input_dims` is copied. AllocateTensors must
// follow, unless the shape is unchanged. Delegates that need static shapes are undone;
// AllocateTensors applies them again. kTfLiteError for an invalid index or shape.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterResizeInputTensor(TfLiteInterpreter* interpreter,
                                                                int32_t input_index,
                                                                const int* input_dims,
                                                                int32_t input_dims_size);

// Prepares all kernels and allocates memory for all tensors with a known shape. Required before the
// first Invoke and after each resize; otherwise without effect. A failure returns the status of the
// kernel that failed, or kTfLiteCancelled after a Cancel; the call may be repeated.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterAllocateTensors(TfLiteInterpreter* interpreter);

// Runs the model once, on the calling thread and the threads of the pool. Fails before
// AllocateTensors, if a kernel fails, and with kTfLiteCancelled after a Cancel.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter);

// Number of outputs of the main subgraph; 0 for NULL.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetOutputTensorCount(const TfLiteInterpreter* interpreter);

// Tensor indices of the outputs; owned by the interpreter and constant during its life, unless
// DeputyInterpreterSetOutputs changes them. NULL for NULL.
TFL_CAPI_EXPORT const int* TfLiteInterpreterOutputTensorIndices(
    const TfLiteInterpreter* interpreter);

// Returns an output. A static shape is available after AllocateTensors, a dynamic one and the
// contents after Invoke. Owned by the interpreter; the pointer may change, see
// TfLiteInterpreterGetInputTensor. NULL if the index is out of range.
TFL_CAPI_EXPORT const TfLiteTensor* TfLiteInterpreterGetOutputTensor(
    const TfLiteInterpreter* interpreter, int32_t output_index);

// Returns any tensor of the main subgraph by its index. Only inputs, outputs, variables and
// constants have valid contents after Invoke, since other tensors share memory. NULL if the index
// is out of range.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteInterpreterGetTensor(const TfLiteInterpreter* interpreter,
                                                         int index);

// Stops a running Invoke or AllocateTensors before its next node. Any thread. Without effect if
// nothing runs. kTfLiteError if cancellation is not enabled in the options.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterCancel(const TfLiteInterpreter* interpreter);

// ------------------------------------------------------------------------------------------------
// Signatures
// ------------------------------------------------------------------------------------------------

// Number of signatures of the model; 0 for NULL.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetSignatureCount(const TfLiteInterpreter* interpreter);

// Key of a signature, in the model's order; owned by the interpreter. NULL if the index is out of
// range.
TFL_CAPI_EXPORT const char* TfLiteInterpreterGetSignatureKey(const TfLiteInterpreter* interpreter,
                                                             int32_t signature_index);

// Creates a runner for a signature; the caller deletes it, before or after the interpreter, but may
// use it only while the interpreter exists. Runners of one key share tensors. A NULL key selects
// the main subgraph: with the names of the first signature that uses it or, in a model without
// signatures, with the names of its tensors. NULL if the key is unknown, or if no signature of a
// model with signatures uses the main subgraph.
TFL_CAPI_EXPORT TfLiteSignatureRunner* TfLiteInterpreterGetSignatureRunner(
    const TfLiteInterpreter* interpreter, const char* signature_key);

// Number of inputs of a signature; 0 for NULL.
TFL_CAPI_EXPORT size_t
TfLiteSignatureRunnerGetInputCount(const TfLiteSignatureRunner* signature_runner);

// Name of an input of a signature; inputs are sorted by the bytes of their names. Owned by the
// interpreter. NULL if the index is out of range.
TFL_CAPI_EXPORT const char* TfLiteSignatureRunnerGetInputName(
    const TfLiteSignatureRunner* signature_runner, int32_t input_index);

// Changes the shape of a signature's input in the strict mode: the rank is fixed, and only
// dimensions that are unknown in the model may change. `input_dims` is copied. kTfLiteError for an
// unknown name and a shape that is not permitted.
TFL_CAPI_EXPORT TfLiteStatus TfLiteSignatureRunnerResizeInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name, const int* input_dims,
    int32_t input_dims_size);

// Allocates tensors like TfLiteInterpreterAllocateTensors, for the signature's subgraph only.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteSignatureRunnerAllocateTensors(TfLiteSignatureRunner* signature_runner);

// Returns the signature's input of that name, owned by the interpreter. NULL, with a message, if
// the name is unknown.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteSignatureRunnerGetInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name);

// Runs the signature's subgraph, like TfLiteInterpreterInvoke.
TFL_CAPI_EXPORT TfLiteStatus TfLiteSignatureRunnerInvoke(TfLiteSignatureRunner* signature_runner);

// Number of outputs of a signature; 0 for NULL.
TFL_CAPI_EXPORT size_t
TfLiteSignatureRunnerGetOutputCount(const TfLiteSignatureRunner* signature_runner);

// Name of an output of a signature; outputs are sorted by the bytes of their names. NULL if the
// index is out of range.
TFL_CAPI_EXPORT const char* TfLiteSignatureRunnerGetOutputName(
    const TfLiteSignatureRunner* signature_runner, int32_t output_index);

// Returns the signature's output of that name, owned by the interpreter. NULL, with a message, if
// the name is unknown.
TFL_CAPI_EXPORT const TfLiteTensor* TfLiteSignatureRunnerGetOutputTensor(
    const TfLiteSignatureRunner* signature_runner, const char* output_name);

// Deletes the runner; the tensors belong to the interpreter and remain valid.
TFL_CAPI_EXPORT void TfLiteSignatureRunnerDelete(TfLiteSignatureRunner* signature_runner);

// ------------------------------------------------------------------------------------------------
// Tensors. The functions accept tensors of interpreters and of clients.
// ------------------------------------------------------------------------------------------------

// Element type of a tensor; kTfLiteNoType for NULL.
TFL_CAPI_EXPORT TfLiteType TfLiteTensorType(const TfLiteTensor* tensor);

// Number of dimensions of a tensor: 0 for a scalar, -1 for NULL and if the tensor has no shape.
TFL_CAPI_EXPORT int32_t TfLiteTensorNumDims(const TfLiteTensor* tensor);

// Size of one dimension of a tensor; -1 if the index is out of range.
TFL_CAPI_EXPORT int32_t TfLiteTensorDim(const TfLiteTensor* tensor, int32_t dim_index);

// Size of a tensor's contents in bytes; 0 for NULL.
TFL_CAPI_EXPORT size_t TfLiteTensorByteSize(const TfLiteTensor* tensor);

// Address of a tensor's contents, owned by the interpreter. NULL for NULL, before allocation and
// for tensors that exist only in a delegate's memory. The address may change with each
// AllocateTensors and, for dynamic tensors, with each Invoke.
TFL_CAPI_EXPORT void* TfLiteTensorData(const TfLiteTensor* tensor);

// Name of a tensor, owned by the interpreter; "" if the model has none. May be NULL for tensors
// that kernels or delegates added.
TFL_CAPI_EXPORT const char* TfLiteTensorName(const TfLiteTensor* tensor);

// Per-tensor quantisation by value; zeros if the tensor has none.
TFL_CAPI_EXPORT TfLiteQuantizationParams TfLiteTensorQuantizationParams(const TfLiteTensor* tensor);

// Copies bytes to a tensor. kTfLiteError, with nothing written, unless the tensor has memory of
// exactly that size. Not for strings. Does not change data_is_stale.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorCopyFromBuffer(TfLiteTensor* tensor,
                                                        const void* input_data,
                                                        size_t input_data_size);

// Copies the contents of a tensor in host memory, even if data_is_stale is set. kTfLiteError, with
// nothing written, unless the tensor has memory of exactly that size.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorCopyToBuffer(const TfLiteTensor* output_tensor,
                                                      void* output_data, size_t output_data_size);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_C_API_H_
