// SPDX-License-Identifier: Apache-2.0
//
// Delegates that programs expect to exist and that claim no node: XNNPACK's, because the CPU
// kernels are faster, and NNAPI's, if the environment does not select a plug-in that can be loaded
// in its place. Reports on nodes contain the reason.
#ifndef DEPUTY_CORE_PLUGIN_NOOP_DELEGATE_H_
#define DEPUTY_CORE_PLUGIN_NOOP_DELEGATE_H_

#include "c_api/include/common.h"

namespace deputy {

// `base` is the first member, because clients and interpreters have a pointer to it.
struct NoOpDelegate {
  TfLiteDelegate base;
  const char* name;    // static
  const char* reason;  // why it claims no node; static
};

inline TfLiteStatus NoOpPrepare(TfLiteContext*, TfLiteDelegate*) { return kTfLiteOk; }

// Returns the delegate with its name and reason; null for every other delegate.
inline const NoOpDelegate* AsNoOp(const TfLiteDelegate* delegate) {
  const bool is_one = delegate != nullptr && delegate->Prepare == NoOpPrepare;
  return is_one ? reinterpret_cast<const NoOpDelegate*>(delegate) : nullptr;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_PLUGIN_NOOP_DELEGATE_H_
