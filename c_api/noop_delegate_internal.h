// SPDX-License-Identifier: Apache-2.0
//
// Delegates that programs expect to exist and that claim no node here: XNNPACK, because the CPU
// kernels need no help, and NNAPI, because there is none. Until others can be applied, these are
// also the only ones that an interpreter accepts.
#ifndef DEPUTY_C_API_NOOP_DELEGATE_INTERNAL_H_
#define DEPUTY_C_API_NOOP_DELEGATE_INTERNAL_H_

#include "c_api/common.h"
#include "core/interpreter.h"

namespace deputy {

// The Prepare of such a delegate, and what it is recognised by.
TfLiteStatus NoOpPrepare(TfLiteContext* context, TfLiteDelegate* delegate);

// Applies a delegate: Ok for one that claims no node, DelegateError for null, Error for any other,
// each failure with one report.
TfLiteStatus ApplyDelegate(Interpreter* interpreter, TfLiteDelegate* delegate);

}  // namespace deputy

#endif  // DEPUTY_C_API_NOOP_DELEGATE_INTERNAL_H_
