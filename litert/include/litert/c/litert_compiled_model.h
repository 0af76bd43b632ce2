// SPDX-License-Identifier: Apache-2.0
//
// Compiled models: a model with the accelerators and plug-ins that run it. A program creates a
// compiled model, queries the requirements of its inputs and outputs, creates tensor buffers for
// them, fills the inputs and runs the model.
//
// `signature_index` selects a signature of the model (LiteRtGetModelSignature); inputs and outputs
// are numbered as in the signature. An index that is out of range is an error.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_COMPILED_MODEL_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_COMPILED_MODEL_H_

#include <stdbool.h>
#include <stddef.h>

#include "litert/c/internal/litert_scheduling_info.h"
#include "litert/c/litert_common.h"
#include "litert/c/litert_layout.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Creation -----------------------------------------------------------------------------------

// Compiles a model. `compilation_options` must request at least one accelerator.
// kLiteRtStatusErrorCompilation if operators remain that no requested accelerator runs.
// The environment and the options must outlive the compiled model, which keeps the model. A buffer
// from which the model was created must outlive both.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCreateCompiledModel(LiteRtEnvironment environment,
                                                          LiteRtModel model,
                                                          LiteRtOptions compilation_options,
                                                          LiteRtCompiledModel* compiled_model);

// Destroys a compiled model; NULL is allowed. No run may be in progress.
LITERT_CAPI_EXPORT void LiteRtDestroyCompiledModel(LiteRtCompiledModel compiled_model);

// Returns the environment that the model was compiled in.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelEnvironment(
    LiteRtCompiledModel compiled_model, LiteRtEnvironment* environment);

// Sets the result to whether accelerators run all operators; the second function does not count the
// CPU as an accelerator.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtCompiledModelIsFullyAccelerated(LiteRtCompiledModel compiled_model, bool* fully_accelerated);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelIsNonCpuFullyAccelerated(
    LiteRtCompiledModel compiled_model, bool* non_cpu_fully_accelerated);

// ---- Inputs and outputs -------------------------------------------------------------------------

// The following functions return the memory that an input or output accepts. The requirements
// belong to the compiled model and are valid until the tensor is resized.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelInputBufferRequirements(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
    LiteRtParamIndex input_index, LiteRtTensorBufferRequirements* buffer_requirements);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelOutputBufferRequirements(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
    LiteRtParamIndex output_index, LiteRtTensorBufferRequirements* buffer_requirements);

// Returns the current layout of an input.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelInputTensorLayout(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
    LiteRtParamIndex input_index, LiteRtLayout* layout);

// Writes the layouts of all outputs to an array of the caller with `num_layouts` elements, the
// number of outputs. `update_allocation` first applies pending resizes.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtGetCompiledModelOutputTensorLayouts(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_layouts,
    LiteRtLayout* layouts, bool update_allocation);

// Changes the shape of an input that has dynamic dimensions; the static ones must keep their size.
// Requirements have to be queried again.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelResizeInputTensor(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
    LiteRtParamIndex input_index, const int* dims, size_t dims_size);

// Changes the shape of any input.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelResizeInputTensorNonStrict(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index,
    LiteRtParamIndex input_index, const int* dims, size_t dims_size);

// ---- Runs ---------------------------------------------------------------------------------------

// Runs a signature and waits for the outputs. The arrays have one buffer per input and output; the
// buffers stay with the caller. Events of inputs are waited for; outputs must not have an event.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModel(LiteRtCompiledModel compiled_model,
                                                       LiteRtParamIndex signature_index,
                                                       size_t num_input_buffers,
                                                       LiteRtTensorBuffer* input_buffers,
                                                       size_t num_output_buffers,
                                                       LiteRtTensorBuffer* output_buffers);

// Runs a signature with options for this run only; `options` may be NULL.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModelWithOptions(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, LiteRtOptions options);

// Starts a run that returns before its outputs are complete, if the accelerators can do so.
// `async`, which may be NULL, receives whether they can; if not, the run is complete. Outputs that
// are not complete have an event.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModelAsync(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, bool* async);

// Starts a run with options for this run only; `options` may be NULL.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModelAsyncWithOptions(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, bool* async, LiteRtOptions options);

// Sets information for the scheduler of the accelerators for all later runs; NULL restores the
// default. The struct is copied.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelSetSchedulingInfo(
    LiteRtCompiledModel compiled_model, const LiteRtSchedulingInfo* scheduling_info);

// The following functions run a signature with information for this run only; NULL: that of
// LiteRtCompiledModelSetSchedulingInfo.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModelWithSchedulingInfo(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, const LiteRtSchedulingInfo* scheduling_info);
LITERT_CAPI_EXPORT LiteRtStatus LiteRtRunCompiledModelAsyncWithSchedulingInfo(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, size_t num_input_buffers,
    LiteRtTensorBuffer* input_buffers, size_t num_output_buffers,
    LiteRtTensorBuffer* output_buffers, bool* async, const LiteRtSchedulingInfo* scheduling_info);

// Sets a function that is called between operators, on the thread that runs the model; when it
// returns true, the run ends with an error. It receives `data`, which the client keeps.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtSetCompiledModelCancellationFunction(
    LiteRtCompiledModel compiled_model, void* data, bool (*check_cancelled_func)(void*));

// ---- Annotations for dispatch plug-ins ----------------------------------------------------------

// Sets an annotation, which is passed to dispatch plug-ins when they create the graph of a
// signature.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelSetDispatchAnnotation(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, const char* key,
    const char* value);

// Returns an annotation, which belongs to the compiled model; NULL if the key is unknown.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelGetDispatchAnnotation(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, const char* key,
    const char** value);

// Removes an annotation. An unknown key is not an error.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelRemoveDispatchAnnotation(
    LiteRtCompiledModel compiled_model, LiteRtParamIndex signature_index, const char* key);

// ---- Measurements -------------------------------------------------------------------------------

// Starts the collection of measured values by the accelerators. A higher `detail_level`, from 0 on,
// yields more of them.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtCompiledModelStartMetricsCollection(LiteRtCompiledModel compiled_model, int detail_level);

// Ends the collection and writes the values to `metrics`.
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtCompiledModelStopMetricsCollection(LiteRtCompiledModel compiled_model, LiteRtMetrics metrics);

// Returns the profiler of a model that was compiled with profiling
// (options/litert_runtime_options.h). It belongs to the compiled model.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelGetProfiler(LiteRtCompiledModel compiled_model,
                                                               LiteRtProfiler* profiler);

// ---- Error messages -----------------------------------------------------------------------------

// Reports an error of the client to the error reporter, with a format and arguments as for printf.
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelReportError(LiteRtCompiledModel compiled_model,
                                                               const char* format, ...);

// The following functions clear and return the collected messages; errors unless the reporter is
// kLiteRtErrorReporterModeBuffer. The caller releases the text with free().
LITERT_CAPI_EXPORT LiteRtStatus LiteRtCompiledModelClearErrors(LiteRtCompiledModel compiled_model);
LITERT_CAPI_EXPORT LiteRtStatus
LiteRtCompiledModelGetErrorMessages(LiteRtCompiledModel compiled_model, char** error_messages);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_LITERT_COMPILED_MODEL_H_
