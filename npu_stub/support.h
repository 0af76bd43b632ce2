/* SPDX-License-Identifier: Apache-2.0
 *
 * The operators that the NPU supports, in one table with versions, types and import functions.
 * Some operators of MindSpore Lite's NPU delegate have no row, because TensorFlow Lite does not
 * have them: Eltwise, Reciprocal, FusedBatchNorm, InstanceNorm, ScaleFusion, CropAndResize. Its
 * Unsqueeze and Flatten correspond to EXPAND_DIMS and RESHAPE.
 */
#ifndef DEPUTY_NPU_STUB_SUPPORT_H_
#define DEPUTY_NPU_STUB_SUPPORT_H_

#include <stdbool.h>
#include <stddef.h>

#include "npu_stub/import.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds a node to `import->builder`; all members of `import` must be set. Returns false after a
 * refusal or if out of memory (NpuBuilder.failed). */
bool NpuImportNode(NpuImport* import);

/* Checks whether a node can be claimed: imports it into a temporary graph and validates the
 * graph. `tensors` must have an entry of -1 for each tensor of the model, which is restored on
 * return. */
bool NpuCheckNode(TfLiteContext* context, const TfLiteNode* node,
                  const TfLiteRegistration* registration, int32_t* tensors, NpuRefusal* refusal);

/* Returns row `i` of the table, for documentation and tests: the builtin code, its name and the
 * latest version; -1 if out of range. */
int32_t NpuSupportedOperator(size_t i, const char** out_name, int32_t* out_max_version);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DEPUTY_NPU_STUB_SUPPORT_H_ */
