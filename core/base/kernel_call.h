// SPDX-License-Identifier: Apache-2.0
//
// Calls of the four functions of a registration in all its variants: plain registrations,
// operators, and operators with user data (abi.md 4.8).
#ifndef DEPUTY_CORE_BASE_KERNEL_CALL_H_
#define DEPUTY_CORE_BASE_KERNEL_CALL_H_

#include "c_api/include/common.h"
#include "core/base/foreign_call.h"

namespace deputy {

// Returns true for the placeholder of a custom operator without an implementation.
bool IsUnresolvedCustomOp(const TfLiteRegistration& registration);
// Returns the placeholder of a missing operator; its prepare and invoke always fail. `name` is
// borrowed.
TfLiteRegistration UnresolvedCustomOp(const char* name, int version);

// Every Call… function here makes the call that `call` describes; `observer` may be null.

// Calls the kernel's init. The result's user data becomes node->user_data; TfLiteKernelInitFailed()
// means failure.
CallResult CallInit(CallObserver* observer, const ForeignCall& call,
                    const TfLiteRegistration& registration, const char* buffer, size_t length);
// Calls the kernel's free with `user_data`, which must not be null.
CallResult CallFree(CallObserver* observer, const ForeignCall& call,
                    const TfLiteRegistration& registration, void* user_data);
// CallPrepare and CallInvoke call the kernel's functions. A missing prepare counts as kTfLiteOk,
// except for UnresolvedCustomOp; a missing invoke counts as kTfLiteError.
CallResult CallPrepare(CallObserver* observer, const ForeignCall& call,
                       const TfLiteRegistration& registration, TfLiteNode* node);
CallResult CallInvoke(CallObserver* observer, const ForeignCall& call,
                      const TfLiteRegistration& registration, TfLiteNode* node);

// Returns true if CallInvoke would call this function of a plain registration.
bool InvokesPlain(const TfLiteRegistration& registration,
                  TfLiteStatus (*invoke)(TfLiteContext*, TfLiteNode*));

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_KERNEL_CALL_H_
