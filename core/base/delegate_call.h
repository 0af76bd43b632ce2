// SPDX-License-Identifier: Apache-2.0
//
// How a delegate's callbacks are called, for plain and opaque delegates. A delegate built
// with old headers is 48 bytes long: its builder may be read only when Prepare is NULL.
#ifndef DEPUTY_CORE_BASE_DELEGATE_CALL_H_
#define DEPUTY_CORE_BASE_DELEGATE_CALL_H_

#include "c_api/include/common.h"

namespace deputy {

// The builder of an opaque delegate, null for a plain one.
const TfLiteOpaqueDelegateBuilder* BuilderOf(const TfLiteDelegate* delegate);

// The delegate's Prepare. A delegate without one fails.
TfLiteStatus CallDelegatePrepare(TfLiteContext* context, TfLiteDelegate* delegate);

// Fills the tensor's CPU memory from its handle. Error when the delegate has no such function.
TfLiteStatus CallCopyFromBufferHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                                      TfLiteTensor* tensor);

// False when the delegate has no such function. `*handle` may be changed by the delegate.
bool CallFreeBufferHandle(TfLiteContext* context, TfLiteDelegate* delegate,
                          TfLiteBufferHandle* handle);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_DELEGATE_CALL_H_
