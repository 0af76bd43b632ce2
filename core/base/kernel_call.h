// SPDX-License-Identifier: Apache-2.0
//
// How the four functions of a registration are called, whatever spelling they come in: plain
// registrations, operators, and operators with user data (abi.md 4.8). Foreign code may throw;
// nothing that it throws passes through here.
#ifndef DEPUTY_CORE_BASE_KERNEL_CALL_H_
#define DEPUTY_CORE_BASE_KERNEL_CALL_H_

#include "c_api/include/common.h"

namespace deputy {

// True for the placeholder of a custom operator that nobody provides.
bool IsUnresolvedCustomOp(const TfLiteRegistration& registration);
// That placeholder; its prepare and invoke never succeed. `name` is borrowed.
TfLiteRegistration UnresolvedCustomOp(const char* name, int version);

// The value becomes node->user_data. TfLiteKernelInitFailed() means failure.
void* CallInit(TfLiteContext* context, const TfLiteRegistration& registration, const char* buffer,
               size_t length);
// Called only with non-null user data.
void CallFree(TfLiteContext* context, const TfLiteRegistration& registration, void* user_data);
// A missing prepare counts as Ok, a missing invoke as Error.
TfLiteStatus CallPrepare(TfLiteContext* context, const TfLiteRegistration& registration,
                         TfLiteNode* node);
TfLiteStatus CallInvoke(TfLiteContext* context, const TfLiteRegistration& registration,
                        TfLiteNode* node);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_KERNEL_CALL_H_
