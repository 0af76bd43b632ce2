/* SPDX-License-Identifier: Apache-2.0
 *
 * The operators that the NPU has: one table, with the versions, the types and the function that
 * imports each. What the original's table names and TensorFlow Lite does not have (Eltwise,
 * Reciprocal, FusedBatchNorm, InstanceNorm, ScaleFusion, CropAndResize) has no row; Unsqueeze and
 * Flatten are EXPAND_DIMS and RESHAPE.
 */
#ifndef DEPUTY_NPU_STUB_SUPPORT_H_
#define DEPUTY_NPU_STUB_SUPPORT_H_

#include <stdbool.h>
#include <stddef.h>

#include "npu_stub/import.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds a node to `import->builder`, whose members all are set. False with a refusal, or if memory
 * is short (NpuBuilder.failed). */
bool NpuImportNode(NpuImport* import);

/* Whether a node can be claimed: a throw-away import of it alone, and the device's own check.
 * `tensors` has an entry -1 for each of the model's tensors, and has so again afterwards. */
bool NpuCheckNode(TfLiteContext* context, const TfLiteNode* node,
                  const TfLiteRegistration* registration, int32_t* tensors, NpuRefusal* refusal);

/* The table for people and tests: the builtin code of row `i`, its name and the last version; -1
 * beyond the end. */
int32_t NpuSupportedOperator(size_t i, const char** out_name, int32_t* out_max_version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_SUPPORT_H_ */
