// SPDX-License-Identifier: Apache-2.0
// Precision of single nodes, and plans of such precisions in files.
//
//     DeputyInterpreterOptionsSetPrecisionPlan(options, model, "model.precision");
//     TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
//
// `deputy precision MODEL --bound 1e-2 -o FILE` makes a plan: nodes multiply in bfloat16 or float16
// where that is faster, while the error of the model's outputs stays below a bound.
// docs/precision-plans.md describes the method.
#ifndef DEPUTY_C_API_INCLUDE_DEPUTY_PRECISION_H_
#define DEPUTY_C_API_INCLUDE_DEPUTY_PRECISION_H_

#include <stdint.h>

#include "c_api.h"
#include "deputy.h"

#ifdef __cplusplus
extern "C" {
#endif

// Sets the precision of one node in interpreters created with these options; that of other nodes is
// set by DeputyInterpreterOptionsSetPrecision. An index that a model does not have is ignored.
// kTfLiteError for NULL options, a negative index, and a value that is not in the enum.
TFL_CAPI_EXPORT TfLiteStatus
DeputyInterpreterOptionsSetNodePrecision(TfLiteInterpreterOptions* options, int32_t subgraph_index,
                                         int32_t node_index, DeputyPrecision precision);

// Reads a plan from a file and sets the precision of its nodes in addition to those that are set.
// The file is not trusted: it must be a plan for exactly the bytes of `model`, and name nodes of
// it. Otherwise returns kTfLiteError, after a report and with unchanged options. kTfLiteError for
// NULL.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsSetPrecisionPlan(
    TfLiteInterpreterOptions* options, const TfLiteModel* model, const char* path);

// Writes the precisions of nodes that are set in these options as a plan for `model`, replacing the
// file. kTfLiteError, after a report, if it cannot be written or the model lacks one of the nodes,
// and for NULL.
TFL_CAPI_EXPORT TfLiteStatus DeputyInterpreterOptionsWritePrecisionPlan(
    const TfLiteInterpreterOptions* options, const TfLiteModel* model, const char* path);

#ifdef __cplusplus
}
#endif

#endif  // DEPUTY_C_API_INCLUDE_DEPUTY_PRECISION_H_
