// SPDX-License-Identifier: Apache-2.0
//
// Options of the GPU delegate, which lives in a library of its own, libdeputy_gpu.so.
#ifndef DEPUTY_C_API_INCLUDE_GPU_DELEGATE_OPTIONS_H_
#define DEPUTY_C_API_INCLUDE_GPU_DELEGATE_OPTIONS_H_

#include <stdint.h>

#include "c_api_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the delegate is used for.
enum TfLiteGpuInferenceUsage {
  // One answer now and then, each as soon as possible.
  TFLITE_GPU_INFERENCE_PREFERENCE_FAST_SINGLE_ANSWER = 0,
  // Many answers in a row; more time for setting up is fine.
  TFLITE_GPU_INFERENCE_PREFERENCE_SUSTAINED_SPEED = 1,
  // In between.
  TFLITE_GPU_INFERENCE_PREFERENCE_BALANCED = 2,
};

// What matters most. AUTO may only be followed by AUTO, and the others may appear once each.
enum TfLiteGpuInferencePriority {
  // The delegate chooses.
  TFLITE_GPU_INFERENCE_PRIORITY_AUTO = 0,
  // Full precision.
  TFLITE_GPU_INFERENCE_PRIORITY_MAX_PRECISION = 1,
  // A quick answer.
  TFLITE_GPU_INFERENCE_PRIORITY_MIN_LATENCY = 2,
  // Little memory.
  TFLITE_GPU_INFERENCE_PRIORITY_MIN_MEMORY_USAGE = 3,
};

// Bits for experimental_flags.
enum TfLiteGpuExperimentalFlags {
  // Nothing.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_NONE = 0,
  // Take quantised models, too.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_QUANT = 1,
  // Only OpenCL.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY = 2,
  // Only OpenGL.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY = 4,
  // Keep compiled programs in `serialization_dir`.
  TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION = 8,
};

// Options of the delegate. Start from TfLiteGpuDelegateOptionsV2Default.
typedef struct {
  // 1: half precision is fine, 0: it is not, -1: the priorities decide.
  int32_t is_precision_loss_allowed;
  // A TfLiteGpuInferenceUsage.
  int32_t inference_preference;
  // The first TfLiteGpuInferencePriority.
  int32_t inference_priority1;
  // The second.
  int32_t inference_priority2;
  // The third.
  int32_t inference_priority3;
  // TfLiteGpuExperimentalFlags bits.
  int64_t experimental_flags;
  // At most this many partitions.
  int32_t max_delegated_partitions;
  // Where compiled programs are kept, or NULL. Copied when the delegate is made.
  const char* serialization_dir;
  // Names the model there, or NULL. Copied when the delegate is made.
  const char* model_token;
} TfLiteGpuDelegateOptionsV2;

// The defaults by value: precision decided by the priorities, full precision first, quantised
// models taken, one partition. Any thread.
TFL_CAPI_EXPORT TfLiteGpuDelegateOptionsV2 TfLiteGpuDelegateOptionsV2Default(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_GPU_DELEGATE_OPTIONS_H_
