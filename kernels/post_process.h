// SPDX-License-Identifier: Apache-2.0
//
// Functions of TFLite_Detection_PostProcess for its row in custom.cc.
#ifndef DEPUTY_KERNELS_POST_PROCESS_H_
#define DEPUTY_KERNELS_POST_PROCESS_H_

#include <cstddef>

#include "c_api/include/common.h"

namespace deputy {

void* InitPostProcess(TfLiteContext* context, const char* options, size_t length);
void FreePostProcess(TfLiteContext* context, void* user_data);
TfLiteStatus PreparePostProcess(TfLiteContext* context, TfLiteNode* node);
TfLiteStatus EvalPostProcess(TfLiteContext* context, TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_POST_PROCESS_H_
