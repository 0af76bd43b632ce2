// SPDX-License-Identifier: Apache-2.0
//
// How a delegate's callbacks are called, for plain and opaque delegates. A delegate built
// with old headers is 48 bytes long: its builder may be read only when Prepare is NULL.
#ifndef DEPUTY_CORE_BASE_DELEGATE_CALL_H_
#define DEPUTY_CORE_BASE_DELEGATE_CALL_H_

#include "c_api/include/common.h"
#include "core/base/foreign_call.h"

namespace deputy {

// The builder of an opaque delegate, null for a plain one.
const TfLiteOpaqueDelegateBuilder* BuilderOf(const TfLiteDelegate* delegate);

// Each makes the call that `call`, with its delegate, describes; `observer` may be null.

// The delegate's Prepare. A delegate without one fails.
CallResult CallDelegatePrepare(CallObserver* observer, const ForeignCall& call);

// Fills the tensor's CPU memory from its handle. Error when the delegate has no such function.
CallResult CallCopyFromBufferHandle(CallObserver* observer, const ForeignCall& call,
                                    TfLiteTensor* tensor);

// False when the delegate has no such function. `*handle` may be changed by the delegate.
bool CallFreeBufferHandle(CallObserver* observer, const ForeignCall& call,
                          TfLiteBufferHandle* handle);

// The same calls inside one that is observed and guarded already, such as those of a delegate that
// forwards to another one. They throw what the callback throws.
TfLiteStatus ForwardDelegatePrepare(TfLiteContext* context, TfLiteDelegate* delegate);
bool ForwardFreeBufferHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                             TfLiteBufferHandle* handle);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_DELEGATE_CALL_H_
