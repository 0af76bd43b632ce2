// SPDX-License-Identifier: Apache-2.0
//
// How the four functions of a registration are called, whatever spelling they come in: plain
// registrations, operators, and operators with user data (abi.md 4.8).
#ifndef DEPUTY_CORE_BASE_KERNEL_CALL_H_
#define DEPUTY_CORE_BASE_KERNEL_CALL_H_

#include "c_api/include/common.h"
#include "core/base/foreign_call.h"

namespace deputy {

// True for the placeholder of a custom operator that is not provided.
bool IsUnresolvedCustomOp(const TfLiteRegistration& registration);
// That placeholder; its prepare and invoke never succeed. `name` is borrowed.
TfLiteRegistration UnresolvedCustomOp(const char* name, int version);

// Each makes the call that `call` describes; `observer` may be null.

// The result's user data becomes node->user_data; TfLiteKernelInitFailed() means failure.
CallResult CallInit(CallObserver* observer, const ForeignCall& call,
                    const TfLiteRegistration& registration, const char* buffer, size_t length);
// To be called only with user data that is not null.
CallResult CallFree(CallObserver* observer, const ForeignCall& call,
                    const TfLiteRegistration& registration, void* user_data);
// A missing prepare counts as Ok, a missing invoke as Error.
CallResult CallPrepare(CallObserver* observer, const ForeignCall& call,
                       const TfLiteRegistration& registration, TfLiteNode* node);
CallResult CallInvoke(CallObserver* observer, const ForeignCall& call,
                      const TfLiteRegistration& registration, TfLiteNode* node);

// Whether CallInvoke calls that function of a plain registration.
bool InvokesPlain(const TfLiteRegistration& registration,
                  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*));

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_KERNEL_CALL_H_
