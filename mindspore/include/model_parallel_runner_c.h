// SPDX-License-Identifier: Apache-2.0
//
// Parallel inference in C: several workers over one model. Deputy's own functions, because
// MindSpore Lite has this interface in C++ only (model_parallel_runner.h, which is built on them).
// DeputyMSLastError() (delegate_c.h) returns the message of a failure.
#ifndef DEPUTY_MINDSPORE_INCLUDE_MODEL_PARALLEL_RUNNER_C_H_
#define DEPUTY_MINDSPORE_INCLUDE_MODEL_PARALLEL_RUNNER_C_H_

#include "delegate_c.h"

#ifdef __cplusplus
extern "C" {
#endif

// A model with one interpreter per worker. The workers share the model's constants. A request runs
// on the calling thread with an idle worker; if there is none, it waits, and requests get workers
// in the order of their calls. All functions but the last one may be called from several threads at
// the same time.
typedef struct DeputyMSRunner DeputyMSRunner;

enum {
  // Upper limits on the workers of a runner and on its waiting requests.
  DEPUTY_MS_RUNNER_MAX_WORKERS = 256,
  DEPUTY_MS_RUNNER_MAX_WAITING = 1000
};

// Creates a runner without a model. Returns NULL if out of memory.
MS_API DeputyMSRunner* DeputyMSRunnerCreate(void);

// Load a .tflite or .ms model from memory, which may be freed afterwards, or from a file, and build
// the workers. The runner takes ownership of the context, also if the call fails; NULL: a context
// with a CPU. Its number of threads is that of one worker; if it leaves the number to the runtime,
// the processors are divided among the workers. A delegate in the context is shared by the workers:
// its `init` and `build` are called once per worker, and each worker has its own kernels.
// TensorFlow Lite delegates in the context require one worker. A core list with as many cores as
// all workers have threads is divided among the workers; another list applies to each worker.
//
// `workers` is 1 to DEPUTY_MS_RUNNER_MAX_WORKERS, or 0 for the number of processors divided by the
// threads of a worker. If the runner has a model, the call logs a warning, returns success, and
// leaves the context with the caller. After a failure the runner has no model, and the call may be
// repeated.
MS_API MSStatus DeputyMSRunnerInit(DeputyMSRunner* runner, const void* model_data, size_t data_size,
                                   MSContextHandle context, int32_t workers);
MS_API MSStatus DeputyMSRunnerInitFromFile(DeputyMSRunner* runner, const char* model_path,
                                           MSContextHandle context, int32_t workers);

// Sets the configuration of the workers that the next Init builds: a copy of that of `model`
// (DeputyMSModelLoadConfig and DeputyMSModelUpdateConfig in extensions_c.h), which need not be
// built.
MS_API MSStatus DeputyMSRunnerSetConfig(DeputyMSRunner* runner, const MSModelHandle model);

// Return the number of workers, inputs and outputs; 0 without a model.
MS_API size_t DeputyMSRunnerWorkerCount(DeputyMSRunner* runner);
MS_API size_t DeputyMSRunnerInputCount(DeputyMSRunner* runner);
MS_API size_t DeputyMSRunnerOutputCount(DeputyMSRunner* runner);

// Create a tensor with name, type, shape, layout and quantisation of an input or output of the
// model, and without data. The caller frees it with MSTensorDestroy. NULL if out of range.
MS_API MSTensorHandle DeputyMSRunnerCreateInput(DeputyMSRunner* runner, size_t index);
MS_API MSTensorHandle DeputyMSRunnerCreateOutput(DeputyMSRunner* runner, size_t index);

// Runs one inference. `inputs` are tensors of the caller in the model's order; if their shapes
// differ from those of the worker, the worker is resized first. `outputs` has `output_num` entries,
// one per output of the model. A NULL entry receives a new tensor, which the caller frees with
// MSTensorDestroy. Otherwise the result's shape and data are written to the tensor of the entry,
// which must have the model's type: to the memory of MSTensorSetData, whose size is that of the
// tensor's shape and must suffice, or else to memory of the tensor. After a failure NULL entries
// are still NULL.
//
// A callback must not destroy the runner; Predict in a callback returns
// kMSStatusLiteReentrantError. If DEPUTY_MS_RUNNER_MAX_WAITING requests are waiting, or if the
// runner is destroyed, a request returns kMSStatusLiteServiceDeny.
MS_API MSStatus DeputyMSRunnerPredict(DeputyMSRunner* runner, const MSTensorHandleArray inputs,
                                      MSTensorHandle* outputs, size_t output_num,
                                      DeputyMSKernelCallBack before, DeputyMSKernelCallBack after,
                                      void* user_data);

// Frees a runner, and sets the pointer to NULL. Requests that are waiting fail; the call returns
// when all requests have returned. No request may begin once the call has begun.
MS_API void DeputyMSRunnerDestroy(DeputyMSRunner** runner);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_MODEL_PARALLEL_RUNNER_C_H_
