// SPDX-License-Identifier: Apache-2.0
//
// Options of the GPU delegate, which is in the separate library libdeputy_gpu.so.
#ifndef DEPUTY_C_API_INCLUDE_GPU_DELEGATE_OPTIONS_H_
#define DEPUTY_C_API_INCLUDE_GPU_DELEGATE_OPTIONS_H_

#include <stdint.h>

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Usage of the delegate.
enum TfLiteGpuInferenceUsage {
  // Single inferences with low latency.
  TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER = 0,
  // Many inferences in a row; a longer preparation is acceptable.
  TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED = 1,
  // Compromise between single inferences and many inferences in a row.
  TFLITE_GPU_INFERENCE_PREFERENCE_BALANCED = 2,
};

// Optimisation goal. AUTO may be followed by AUTO only; the other goals may appear once each.
enum TfLiteGpuInferencePriority {
  // The delegate chooses.
  TFLITE_GPU_INFERENCE_PRIORITY_AUTO = 0,
  // Full precision.
  TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION = 1,
  // Low latency.
  TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY = 2,
  // Low memory use.
  TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE = 3,
};

// Flags for the option experimental_flags.
enum TfLiteGpuExperimentalFlags {
  // No flag.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_NONE = 0,
  // The delegate claims quantised models, too.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT = 1,
  // The delegate uses OpenCL only.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY = 2,
  // The delegate uses OpenGL only; not supported here: the delegate then fails when it is applied.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY = 4,
  // The delegate stores compiled programs in `serialization_dir`.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION = 8,
};

// Options of the delegate. Initialise them with TfLiteGpuDelegateOptionsV2Default.
typedef struct {
  // 1: half precision is permitted, 0: it is not, -1: the priorities decide.
  int32_t is_precision_loss_allowed;
  // A TfLiteGpuInferenceUsage.
  int32_t inference_preference;
  // The goal with the highest priority, a TfLiteGpuInferencePriority.
  int32_t inference_priority1;
  // The goal with the second priority, a TfLiteGpuInferencePriority.
  int32_t inference_priority2;
  // The goal with the third priority, a TfLiteGpuInferencePriority.
  int32_t inference_priority3;
  // Flags of TfLiteGpuExperimentalFlags.
  int64_t experimental_flags;
  // Maximum number of partitions; values below 1 mean 1.
  int32_t max_delegated_partitions;
  // Directory for compiled programs, or NULL. Copied when the delegate is created.
  const char* serialization_dir;
  // Key of the model in `serialization_dir`, or NULL. Copied when the delegate is created.
  const char* model_token;
} TfLiteGpuDelegateOptionsV2;

// Returns the defaults: precision decided by the priorities with MAX_PRECISION first, quantised
// models claimed, one partition. Any thread.
TFL_CAPI_EXPORT TfLiteGpuDelegateOptionsV2 TfLiteGpuDelegateOptionsV2Default(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_GPU_DELEGATE_OPTIONS_H_
