// SPDX-License-Identifier: Apache-2.0
//
// Delegates of an instance.
#ifndef DEPUTY_BRIDGES_TRITON_DELEGATES_H_
#define DEPUTY_BRIDGES_TRITON_DELEGATES_H_

#include <memory>
#include <string>
#include <vector>

#include "bridges/triton/config.h"
#include "bridges/triton/error.h"
#include "deputy/deputy.h"

namespace deputy::triton {

struct DelegateDeleter {
  void operator()(TfLiteDelegate* delegate) const { DeputyPluginDeleteDelegate(delegate); }
};
using Delegate = std::unique_ptr<TfLiteDelegate, DelegateDeleter>;

// Creates the delegates of the settings. Those that have an option num_threads get the number of
// threads of the settings. The error for an unknown name lists the installed ones.
Error CreateDelegates(const Settings& settings, std::vector<Delegate>* delegates);

}  // namespace deputy::triton

#endif  // DEPUTY_BRIDGES_TRITON_DELEGATES_H_
