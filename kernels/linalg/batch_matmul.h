// SPDX-License-Identifier: Apache-2.0
//
// Functions of the operator BATCH_MATMUL, listed in kernels/linalg/matmul.cc.
#ifndef DEPUTY_KERNELS_LINALG_BATCH_MATMUL_H_
#define DEPUTY_KERNELS_LINALG_BATCH_MATMUL_H_

#include "c_api/include/common.h"

namespace deputy {

// OpDef::init, free, prepare and invoke of BATCH_MATMUL.
void* NewBatchMatMul(TfLiteContext* context, const char* buffer, size_t length);
void DeleteBatchMatMul(TfLiteContext* context, void* user_data);
TfLiteStatus PrepareBatchMatMul(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalBatchMatMul(TfLiteContext* context, TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_LINALG_BATCH_MATMUL_H_
