// SPDX-License-Identifier: Apache-2.0
//
// The NNAPI delegate's C functions. The delegate claims no node; see noop_delegate.h.
#include <new>

#include "c_api/include/nnapi_delegate_c_api.h"
#include "c_api/src/noop_delegate.h"

extern "C" {

TfLiteNnapiDelegateOptions TfLiteNnapiDelegateOptionsDefault(void) {
  TfLiteNnapiDelegateOptions options{};
  options.execution_preference = TfLiteNnapiDelegateOptions::kUndefined;
  options.disallow_nnapi_cpu = 1;
  options.max_number_delegated_partitions = 3;
  return options;
}

TfLiteDelegate* TfLiteNnapiDelegateCreate(const TfLiteNnapiDelegateOptions*) {
  auto* delegate = new (std::nothrow) TfLiteDelegate();
  if (delegate != nullptr) delegate->Prepare = deputy::NoOpPrepare;
  return delegate;
}

void TfLiteNnapiDelegateDelete(TfLiteDelegate* delegate) { delete delegate; }

}  // extern "C"
