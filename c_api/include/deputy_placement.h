// SPDX-License-Identifier: Apache-2.0
// Placement by measured times: which delegate, or the CPU, runs each node of a model.
//
// A placement plan is made once for a model and a list of delegates. Each delegate's partitions are
// timed in interpreters of their own, with the copies at their borders. From these times the plan
// predicts the times of other assignments, times the best ones, and chooses the fastest.
//
//     TfLiteInterpreterOptionsAddDelegate(options, first);
//     TfLiteInterpreterOptionsAddDelegate(options, second);
//     DeputyPlacementPlan* plan = DeputyPlacementPlanCreate(model, options, NULL);
//     DeputyInterpreterOptionsSetPlacementPlan(options, plan);
//     TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
//     DeputyPlacementPlanDelete(plan);
//
// Threads: a plan must not be used by several threads at the same time. docs/placement.md describes
// the method.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PLACEMENT_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PLACEMENT_H_

#include <stddef.h>
#include <stdint.h>

#include "c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Settings of DeputyPlacementPlanCreate.
typedef struct DeputyPlacementSettings {
  // sizeof(DeputyPlacementSettings).
  size_t struct_size;
  // Time in milliseconds after which no measurement begins; 0 means 10000. The CPU alone is always
  // measured.
  int32_t budget_ms;
  // Number of timed inferences of a measurement; 0 means 5. One inference precedes them.
  int32_t runs;
  // Directory in which the plan is stored and from which it is read again for the same model,
  // delegates with the same options and devices, kernels, processor, number of threads, arithmetic,
  // precision and version of this library; NULL: none. Other combinations have files of their own.
  // Nothing is stored if a delegate comes from no plug-in with a description (deputy_plugin.h). A
  // missing directory is created, but not its parents; a damaged file is replaced. The directory
  // also has the times of each delegate relative to the CPU by operator, which predict the times of
  // other models if the budget ends before a delegate has been measured.
  const char* cache_directory;
  // Passed to the functions below.
  void* user_data;
  // Prepares an interpreter for the measurement: resizes inputs, allocates tensors, and fills the
  // inputs. A failure ends the measurement. NULL: tensors have the model's shapes; float32 inputs
  // have values from -1 to 1, others are zero. A plan with this function is not stored.
  TfLiteStatus (*prepare)(void* user_data, TfLiteInterpreter* interpreter);
  // Returns the time in nanoseconds; NULL: a steady clock.
  int64_t (*clock)(void* user_data);
} DeputyPlacementSettings;

// An assignment of the nodes of subgraph 0 to delegates and the CPU, and the times of the
// inferences with it.
typedef struct DeputyPlacementPlan DeputyPlacementPlan;

// Makes a plan for the delegates of `options`, which may be copied and deleted afterwards; the
// delegates must outlive the plan. They are applied to interpreters of their own, one after the
// other, and must allow that. A delegate that fails is not used, and the reason is reported.
// `settings` may be NULL. The caller owns the plan. NULL, after a report, if out of memory, for
// NULL arguments and wrong settings, for options with placements, and if the model does not run on
// the CPU alone.
TFL_CAPI_EXPORT DeputyPlacementPlan* DeputyPlacementPlanCreate(
    const TfLiteModel* model, const TfLiteInterpreterOptions* options,
    const DeputyPlacementSettings* settings);

// Deletes a plan; NULL is ignored. Options to which it was applied stay valid.
TFL_CAPI_EXPORT void DeputyPlacementPlanDelete(DeputyPlacementPlan* plan);

// Makes interpreters created with these options place their nodes as the plan does: removes the
// delegates that the plan does not use, and adds a placement for each node of subgraph 0.
// kTfLiteError, with unchanged options, for NULL, if the options do not have all delegates of the
// plan, and if they have placements.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetPlacementPlan(
    TfLiteInterpreterOptions* options, const DeputyPlacementPlan* plan);

// Index in the list of the options' delegates of the delegate that runs a node of subgraph 0; -1
// for the CPU; -2 if the index is out of range.
TFL_CAPI_EXPORT int32_t DeputyPlacementPlanGetOwner(const DeputyPlacementPlan* plan,
                                                    int32_t node_index);

// An assignment that was considered. Times are those of one inference, in nanoseconds.
typedef struct DeputyPlacementAlternative {
  // sizeof(DeputyPlacementAlternative).
  size_t struct_size;
  // "CPU", "in order" for all delegates in their order, "delegate N" for one of them alone, or
  // "combination". Valid until the plan is deleted.
  const char* name;
  // Number of partitions, and number of nodes in them.
  int32_t partition_count;
  int32_t delegated_count;
  // Predicted time, and the part of it that no measurement supports.
  double predicted_ns;
  double estimated_ns;
  // Measured time, the median; negative if the budget ended before the measurement.
  double measured_ns;
} DeputyPlacementAlternative;

// Number of alternatives; 0 for NULL.
TFL_CAPI_EXPORT size_t DeputyPlacementPlanGetAlternativeCount(const DeputyPlacementPlan* plan);

// Fills `alternative`, whose struct_size the caller has set. Index 0 is the chosen one; the others
// follow in ascending order of their times. kTfLiteError if the index is out of range.
TFL_CAPI_EXPORT TfLiteStatus DeputyPlacementPlanGetAlternative(
    const DeputyPlacementPlan* plan, size_t index, DeputyPlacementAlternative* alternative);

// Description of how a plan was made.
typedef struct DeputyPlacementStatus {
  // sizeof(DeputyPlacementStatus).
  size_t struct_size;
  // Number of measurements; 0 for a plan that was read from a file.
  int32_t measurements;
  // Not 0: the plan was read from a file.
  int32_t from_cache;
  // Time of the measurements and the search in nanoseconds; 0 for a plan that was read from a file.
  int64_t spent_ns;
} DeputyPlacementStatus;

// Fills `status`, whose struct_size the caller has set. kTfLiteError for NULL.
TFL_CAPI_EXPORT TfLiteStatus DeputyPlacementPlanGetStatus(const DeputyPlacementPlan* plan,
                                                          DeputyPlacementStatus* status);

#ifdef __cplusplus
}
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PLACEMENT_H_
