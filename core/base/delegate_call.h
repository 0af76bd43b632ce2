// SPDX-License-Identifier: Apache-2.0
//
// Calls of a delegate's callbacks, for plain and opaque delegates. A delegate built with old
// headers has 48 bytes, so its builder may be read only if Prepare, CopyFromBufferHandle and
// FreeBufferHandle are NULL.
#ifndef DEPUTY_CORE_BASE_DELEGATE_CALL_H_
#define DEPUTY_CORE_BASE_DELEGATE_CALL_H_

#include "c_api/include/common.h"
#include "core/base/foreign_call.h"

namespace deputy {

// Returns the builder of an opaque delegate, null for a plain one.
const TfLiteOpaqueDelegateBuilder* BuilderOf(const TfLiteDelegate* delegate);

// Every Call… function here calls the delegate of `call` and reports to `observer`, which may be
// null.

// Calls the delegate's Prepare. Fails if there is none.
CallResult CallDelegatePrepare(CallObserver* observer, const ForeignCall& call);

// Fills the tensor's CPU memory from its handle. Fails if the delegate has no such function.
CallResult CallCopyFromBufferHandle(CallObserver* observer, const ForeignCall& call,
                                    TfLiteTensor* tensor);

// Frees the tensor's buffer handle. Returns false if the delegate has no such function. The
// delegate may change `*handle`.
bool CallFreeBufferHandle(CallObserver* observer, const ForeignCall& call,
                          TfLiteBufferHandle* handle);

// Unobserved and unguarded variants of CallDelegatePrepare and CallFreeBufferHandle, for use inside
// a call that is observed and guarded, such as the calls of a delegate that forwards to another
// one. They propagate the callback's exceptions.
TfLiteStatus ForwardDelegatePrepare(TfLiteContext* context, TfLiteDelegate* delegate);
bool ForwardFreeBufferHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                             TfLiteBufferHandle* handle);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_DELEGATE_CALL_H_
