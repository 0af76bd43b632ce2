// SPDX-License-Identifier: Apache-2.0
//
// Information for a scheduler of NPU jobs, passed from programs to dispatch plug-ins.
#ifndef DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_SCHEDULING_INFO_H_
#define DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_SCHEDULING_INFO_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bits of LiteRtSchedulingInfo.fields_mask: the member is set.
typedef enum LiteRtSchedulingInfoField {
  kLiteRtSchedulingInfoFieldOriginalUid = 1u << 0,
  kLiteRtSchedulingInfoFieldDebugFeatureId = 1u << 1,
  kLiteRtSchedulingInfoFieldJobPriority = 1u << 2,
  kLiteRtSchedulingInfoFieldGroupId = 1u << 3,
} LiteRtSchedulingInfoField;

enum {
  // Size of a group identifier, a UUID, in bytes.
  kLiteRtSchedulingInfoGroupIdSize = 16,
};

// Range of priorities; smaller values are more urgent.
typedef enum LiteRtSchedulingJobPriority {
  kLiteRtSchedulingInfoJobPriorityHighest = 0,
  kLiteRtSchedulingInfoJobPriorityLowest = 1000,
} LiteRtSchedulingJobPriority;

// Information about one run or all runs of a model. The layout is frozen (40 bytes).
typedef struct LiteRtSchedulingInfo {
  // Bits of LiteRtSchedulingInfoField.
  uint32_t fields_mask;
  // User for which a service runs the model.
  int32_t original_uid;
  // Name of the feature that runs the model, for logs. Borrowed.
  const char* debug_feature_id;
  // Value between kLiteRtSchedulingInfoJobPriorityHighest and
  // kLiteRtSchedulingInfoJobPriorityLowest.
  int32_t job_priority;
  // UUID of the group of related jobs.
  uint8_t group_id[kLiteRtSchedulingInfoGroupIdSize];
} LiteRtSchedulingInfo;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_LITERT_INCLUDE_LITERT_C_INTERNAL_LITERT_SCHEDULING_INFO_H_
