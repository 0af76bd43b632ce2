// SPDX-License-Identifier: Apache-2.0
//
// BATCH_MATMUL, listed in kernels/linalg/matmul.cc.
#ifndef DEPUTY_KERNELS_LINALG_BATCH_MATMUL_H_
#define DEPUTY_KERNELS_LINALG_BATCH_MATMUL_H_

#include "c_api/include/common.h"

namespace deputy {

// Data of a node: OpDef::init and OpDef::free.
void* NewBatchMatMul(TfLiteContext* context, const char* buffer, size_t length);
void DeleteBatchMatMul(TfLiteContext* context, void* user_data);
TfLiteStatus PrepareBatchMatMul(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalBatchMatMul(TfLiteContext* context, TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_BATCH_MATMUL_H_
