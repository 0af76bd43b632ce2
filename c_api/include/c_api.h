// SPDX-License-Identifier: Apache-2.0
//
// The main C API: load a model, make an interpreter, fill inputs, invoke, read outputs.
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
// Threads: one object is used by one thread at a time; different interpreters, even over the same
// model, may run at the same time. TfLiteInterpreterCancel is the only call meant for another
// thread while Invoke runs. `const` on an interpreter does not promise that nothing changes.
//
// Failure: calls that return a pointer return NULL, calls that return a status anything but
// kTfLiteOk, and one message goes to the error reporter. A NULL object or an index out of range is
// a failure, too, never a crash. Every Delete accepts NULL.
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

// A verified model. Interpreters share it and hold references of their own.
typedef struct TfLiteModel TfLiteModel;

// What an interpreter is made with; only needed until it is made.
typedef struct TfLiteInterpreterOptions TfLiteInterpreterOptions;

// A model ready to run, with tensors and memory of its own.
typedef struct TfLiteInterpreter TfLiteInterpreter;

// Inputs and outputs of an interpreter by name.
typedef struct TfLiteSignatureRunner TfLiteSignatureRunner;

// ------------------------------------------------------------------------------------------------
// Versions
// ------------------------------------------------------------------------------------------------

// The TensorFlow release whose behaviour this library has, as "major.minor.patch". Static string.
// Any thread.
TFL_CAPI_EXPORT const char* TfLiteVersion(void);

// The version of the interface between the runtime and its extensions. Static string. Any thread.
TFL_CAPI_EXPORT const char* TfLiteExtensionApisVersion(void);

// The version of the model format that can be loaded: 3. Any thread.
TFL_CAPI_EXPORT int TfLiteSchemaVersion(void);

// ------------------------------------------------------------------------------------------------
// Models
// ------------------------------------------------------------------------------------------------

// Verifies `model_data` and wraps it without copying: the bytes stay the caller's and must live
// until the model and every interpreter made from it are gone. (Bytes that are not 16-byte aligned
// are copied once.) NULL, with a message on the default reporter, if the bytes are not a model that
// is safe to read.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreate(const void* model_data, size_t model_size);

// The same with an error reporter, which is used only during this call. It gets a printf format and
// its arguments, as the one of TfLiteInterpreterOptionsSetErrorReporter. NULL means the default
// one.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreateWithErrorReporter(
    const void* model_data, size_t model_size,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Maps a file, verifies and wraps it. The file must not be truncated or overwritten in place while
// the model lives; see DeputyModelCreateFromFileByCopy for files that may be. NULL, with a message
// on the default reporter, if the file cannot be read or is not a model that is safe to read.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreateFromFile(const char* model_path);

// The same with an error reporter; see TfLiteModelCreateWithErrorReporter.
TFL_CAPI_EXPORT TfLiteModel* TfLiteModelCreateFromFileWithErrorReporter(
    const char* model_path, void (*reporter)(void* user_data, const char* format, va_list args),
    void* user_data);

// Drops the client's reference. Legal while interpreters made from it live.
TFL_CAPI_EXPORT void TfLiteModelDelete(TfLiteModel* model);

// ------------------------------------------------------------------------------------------------
// Options
// ------------------------------------------------------------------------------------------------

// Makes options with all defaults. The caller owns them. NULL if memory is short.
TFL_CAPI_EXPORT TfLiteInterpreterOptions* TfLiteInterpreterOptionsCreate(void);

// An independent copy that the caller owns; delegates and operators in it stay borrowed. NULL for
// NULL and if memory is short.
TFL_CAPI_EXPORT TfLiteInterpreterOptions* TfLiteInterpreterOptionsCopy(
    const TfLiteInterpreterOptions* from);

// Frees options. Legal as soon as the interpreter exists.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsDelete(TfLiteInterpreterOptions* options);

// How many threads kernels may use. -1 lets the library choose, 0 means 1, anything below -1 is
// ignored with a message when the interpreter is made. Results do not depend on the number.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetNumThreads(TfLiteInterpreterOptions* options,
                                                           int32_t num_threads);

// Adds a delegate; they are applied in this order when the interpreter is made. The delegate is
// borrowed and must outlive the interpreter. A NULL delegate makes that creation fail.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddDelegate(TfLiteInterpreterOptions* options,
                                                         TfLiteOpaqueDelegate* delegate);

// Sends everything the interpreter says, from its creation to its end, to `reporter`, which gets a
// printf format and its arguments. The format is the whole text, with every % doubled, and has no
// arguments, for clients that cannot read a va_list. `user_data` must outlive the interpreter. NULL
// is the default reporter, which writes to stderr.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsSetErrorReporter(
    TfLiteInterpreterOptions* options,
    void (*reporter)(void* user_data, const char* format, va_list args), void* user_data);

// Adds a custom operator, found by its custom name and version whatever its builtin code. It is
// borrowed and must outlive the interpreter. Ignored when a resolver callback is set.
TFL_CAPI_EXPORT void TfLiteInterpreterOptionsAddOperator(TfLiteInterpreterOptions* options,
                                                         TfLiteOperator* registration);

// The name that TfLiteInterpreterOptionsAddOperator had before TensorFlow 2.17.
#define TfLiteInterpreterOptionsAddRegistrationExternal TfLiteInterpreterOptionsAddOperator

// Allows TfLiteInterpreterCancel. kTfLiteError for NULL options, else kTfLiteOk.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteInterpreterOptionsEnableCancellation(TfLiteInterpreterOptions* options, bool enable);

// ------------------------------------------------------------------------------------------------
// Interpreters
// ------------------------------------------------------------------------------------------------

// Makes an interpreter over a model; the caller owns it. The model may be deleted afterwards, as
// may the options, which may be NULL. Kernels are initialised and delegates applied here. NULL if
// an operator is unknown (an unknown custom one is accepted until tensors are allocated), the
// model's structure cannot be used, a delegate fails or memory is short; DeputyLastError() in
// deputy.h has the text.
TFL_CAPI_EXPORT TfLiteInterpreter* TfLiteInterpreterCreate(
    const TfLiteModel* model, const TfLiteInterpreterOptions* optional_options);

// Frees an interpreter with all its tensors. Delegates, operators and reporter data must still be
// alive.
TFL_CAPI_EXPORT void TfLiteInterpreterDelete(TfLiteInterpreter* interpreter);

// Number of inputs of the main subgraph; 0 for NULL.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetInputTensorCount(const TfLiteInterpreter* interpreter);

// That many tensor indices, owned by the interpreter and stable for its life. NULL for NULL.
TFL_CAPI_EXPORT const int* TfLiteInterpreterInputTensorIndices(
    const TfLiteInterpreter* interpreter);

// The n-th input. Type, shape and name are there at once, the bytes only after AllocateTensors.
// Owned by the interpreter; fetch it again after AllocateTensors and after applying a delegate,
// because it may move. NULL if the index is out of range.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteInterpreterGetInputTensor(const TfLiteInterpreter* interpreter,
                                                              int32_t input_index);

// Changes the shape of the n-th input, also its rank. `input_dims` is copied. Unless nothing
// changed, AllocateTensors must follow. kTfLiteError for a bad index or shape and for a graph that
// a delegate has frozen.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterResizeInputTensor(TfLiteInterpreter* interpreter,
                                                                int32_t input_index,
                                                                const int* input_dims,
                                                                int32_t input_dims_size);

// Prepares all kernels and gives memory to all tensors whose shape is known. Needed before the
// first Invoke and after each resize; otherwise it does nothing. On failure the status of the
// kernel that refused, or kTfLiteCancelled after a Cancel; the call may be repeated.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterAllocateTensors(TfLiteInterpreter* interpreter);

// Runs the model once, on the calling thread and the pool's. Fails before AllocateTensors, when a
// kernel fails, and with kTfLiteCancelled after a Cancel.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterInvoke(TfLiteInterpreter* interpreter);

// Number of outputs of the main subgraph; 0 for NULL.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetOutputTensorCount(const TfLiteInterpreter* interpreter);

// That many tensor indices, owned by the interpreter and stable for its life. NULL for NULL.
TFL_CAPI_EXPORT const int* TfLiteInterpreterOutputTensorIndices(
    const TfLiteInterpreter* interpreter);

// The n-th output. A static shape is there after AllocateTensors, a dynamic one and the bytes after
// Invoke. Owned by the interpreter; may move, see GetInputTensor. NULL if the index is out of
// range.
TFL_CAPI_EXPORT const TfLiteTensor* TfLiteInterpreterGetOutputTensor(
    const TfLiteInterpreter* interpreter, int32_t output_index);

// Any tensor of the main subgraph by its index. Only inputs, outputs and variables hold meaningful
// bytes after Invoke, since the memory of the others is shared. NULL if the index is out of range.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteInterpreterGetTensor(const TfLiteInterpreter* interpreter,
                                                         int index);

// Makes a running Invoke or AllocateTensors stop before its next node. Any thread. A request made
// while nothing runs is forgotten. kTfLiteError if cancellation was not enabled in the options.
TFL_CAPI_EXPORT TfLiteStatus TfLiteInterpreterCancel(const TfLiteInterpreter* interpreter);

// ------------------------------------------------------------------------------------------------
// Signatures
// ------------------------------------------------------------------------------------------------

// Number of signatures of the model.
TFL_CAPI_EXPORT int32_t TfLiteInterpreterGetSignatureCount(const TfLiteInterpreter* interpreter);

// Key of the n-th signature in the model's order, owned by the interpreter. NULL if out of range.
TFL_CAPI_EXPORT const char* TfLiteInterpreterGetSignatureKey(const TfLiteInterpreter* interpreter,
                                                             int32_t signature_index);

// Makes a runner for a signature; the caller deletes it, before or after the interpreter, but may
// use it only while the interpreter lives. Runners of one key share tensors. A NULL key means the
// main subgraph: by the first signature that uses it or, in a model without signatures, by the
// names of its tensors. NULL if the key is unknown.
TFL_CAPI_EXPORT TfLiteSignatureRunner* TfLiteInterpreterGetSignatureRunner(
    const TfLiteInterpreter* interpreter, const char* signature_key);

// Number of inputs; 0 for NULL.
TFL_CAPI_EXPORT size_t
TfLiteSignatureRunnerGetInputCount(const TfLiteSignatureRunner* signature_runner);

// Name of the n-th input in the order of the bytes of the names. Owned by the interpreter. NULL if
// out of range.
TFL_CAPI_EXPORT const char* TfLiteSignatureRunnerGetInputName(
    const TfLiteSignatureRunner* signature_runner, int32_t input_index);

// Changes the shape of an input, strictly: the rank stays, and only dimensions that the model left
// open may change. `input_dims` is copied. kTfLiteError for an unknown name and a shape that is not
// allowed.
TFL_CAPI_EXPORT TfLiteStatus TfLiteSignatureRunnerResizeInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name, const int* input_dims,
    int32_t input_dims_size);

// As TfLiteInterpreterAllocateTensors, for the signature's subgraph only.
TFL_CAPI_EXPORT TfLiteStatus
TfLiteSignatureRunnerAllocateTensors(TfLiteSignatureRunner* signature_runner);

// The input of that name, owned by the interpreter. NULL, with a message, if it is unknown.
TFL_CAPI_EXPORT TfLiteTensor* TfLiteSignatureRunnerGetInputTensor(
    TfLiteSignatureRunner* signature_runner, const char* input_name);

// As TfLiteInterpreterInvoke, for the signature's subgraph.
TFL_CAPI_EXPORT TfLiteStatus TfLiteSignatureRunnerInvoke(TfLiteSignatureRunner* signature_runner);

// Number of outputs; 0 for NULL.
TFL_CAPI_EXPORT size_t
TfLiteSignatureRunnerGetOutputCount(const TfLiteSignatureRunner* signature_runner);

// Name of the n-th output in the order of the bytes of the names. NULL if out of range.
TFL_CAPI_EXPORT const char* TfLiteSignatureRunnerGetOutputName(
    const TfLiteSignatureRunner* signature_runner, int32_t output_index);

// The output of that name, owned by the interpreter. NULL, with a message, if it is unknown.
TFL_CAPI_EXPORT const TfLiteTensor* TfLiteSignatureRunnerGetOutputTensor(
    const TfLiteSignatureRunner* signature_runner, const char* output_name);

// Deletes the runner; what it refers to belongs to the interpreter and stays.
TFL_CAPI_EXPORT void TfLiteSignatureRunnerDelete(TfLiteSignatureRunner* signature_runner);

// ------------------------------------------------------------------------------------------------
// Tensors. These work on any tensor that the client holds.
// ------------------------------------------------------------------------------------------------

// Element type; kTfLiteNoType for NULL.
TFL_CAPI_EXPORT TfLiteType TfLiteTensorType(const TfLiteTensor* tensor);

// Number of dimensions: 0 for a scalar, -1 if the tensor has no shape.
TFL_CAPI_EXPORT int32_t TfLiteTensorNumDims(const TfLiteTensor* tensor);

// Length of one dimension; -1 if the index is out of range.
TFL_CAPI_EXPORT int32_t TfLiteTensorDim(const TfLiteTensor* tensor, int32_t dim_index);

// Size in bytes.
TFL_CAPI_EXPORT size_t TfLiteTensorByteSize(const TfLiteTensor* tensor);

// The bytes, owned by the interpreter. NULL before allocation and for tensors that live only in a
// delegate. The address may change with each AllocateTensors and, for dynamic tensors, each Invoke.
TFL_CAPI_EXPORT void* TfLiteTensorData(const TfLiteTensor* tensor);

// Name, owned by the interpreter; "" if the model has none.
TFL_CAPI_EXPORT const char* TfLiteTensorName(const TfLiteTensor* tensor);

// Per-tensor quantisation by value; zeros if there is none.
TFL_CAPI_EXPORT TfLiteQuantizationParams TfLiteTensorQuantizationParams(const TfLiteTensor* tensor);

// Copies bytes into a tensor. kTfLiteError, and nothing is written, unless the tensor has memory of
// exactly that size. Not for strings. Does not clear the stale bit.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorCopyFromBuffer(TfLiteTensor* tensor,
                                                        const void* input_data,
                                                        size_t input_data_size);

// Copies the bytes of a tensor out, stale or not. kTfLiteError, and nothing is written, unless the
// tensor has memory of exactly that size.
TFL_CAPI_EXPORT TfLiteStatus TfLiteTensorCopyToBuffer(const TfLiteTensor* output_tensor,
                                                      void* output_data, size_t output_data_size);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_C_API_H_
