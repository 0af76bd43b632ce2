// SPDX-License-Identifier: Apache-2.0
//
// Enums of the options of Google Tensor.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GOOGLE_TENSOR_OPTIONS_TYPE_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GOOGLE_TENSOR_OPTIONS_TYPE_H_

#ifdef __cplusplus
extern "C" {
#endif

// Type to which float32 values are truncated.
typedef enum LrtGoogleTensorOptionsTruncationType {
  // The compiler decides.
  kLiteRtGoogleTensorFloatTruncationTypeAuto = 0,
  kLiteRtGoogleTensorFloatTruncationTypeNoTruncation = 1,
  kLiteRtGoogleTensorFloatTruncationTypeBfloat16 = 2,
  kLiteRtGoogleTensorFloatTruncationTypeHalf = 3,
} LrtGoogleTensorOptionsTruncationType;

// Extent to which a model is divided among cores.
typedef enum LrtGoogleTensorOptionsShardingIntensity {
  kLiteRtGoogleTensorShardingIntensityUnspecified = -1,
  kLiteRtGoogleTensorShardingIntensityMinimal = 0,
  kLiteRtGoogleTensorShardingIntensityModerate = 1,
  kLiteRtGoogleTensorShardingIntensityExtensive = 2,
  kLiteRtGoogleTensorShardingIntensityMaximum = 3,
} LrtGoogleTensorOptionsShardingIntensity;

// Trade-off between power and speed.
typedef enum LiteRtGoogleTensorOptionsPerformanceMode {
  // Lowest power.
  kLiteRtGoogleTensorOptionsPerformanceModeExtremePowerSaver = 0,
  // Low power, for work in the background.
  kLiteRtGoogleTensorOptionsPerformanceModePowerSaver = 1,
  // The default.
  kLiteRtGoogleTensorOptionsPerformanceModeBalanced = 2,
  // High clock rates, for interactive work.
  kLiteRtGoogleTensorOptionsPerformanceModeHighPerformance = 3,
  // Highest speed that does not lead to throttling.
  kLiteRtGoogleTensorOptionsPerformanceModeSustainedPerformance = 4,
  // Highest speed for a short time.
  kLiteRtGoogleTensorOptionsPerformanceModeBurst = 5,
} LiteRtGoogleTensorOptionsPerformanceMode;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_OPTIONS_LITERT_GOOGLE_TENSOR_OPTIONS_TYPE_H_
