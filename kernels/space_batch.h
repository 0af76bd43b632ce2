// SPDX-License-Identifier: Apache-2.0
//
// Functions of the operators SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, listed in
// kernels/rearrange.cc.
#ifndef DEPUTY_KERNELS_SPACE_BATCH_H_
#define DEPUTY_KERNELS_SPACE_BATCH_H_

#include "c_api/include/common.h"

namespace deputy {

TfLiteStatus PrepareSpaceToBatch(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalSpaceToBatch(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus PrepareBatchToSpace(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalBatchToSpace(TfLiteContext* context, TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_SPACE_BATCH_H_
