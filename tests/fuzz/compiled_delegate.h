// SPDX-License-Identifier: Apache-2.0
//
// Applies the delegate of tests/plugins/compiled.cc, which runs the compiler's import and passes,
// to untrusted graphs.
#ifndef DEPUTY_TESTS_FUZZ_COMPILED_DELEGATE_H_
#define DEPUTY_TESTS_FUZZ_COMPILED_DELEGATE_H_

#include <memory>

#include "c_api/include/deputy.h"

namespace deputy::fuzz {

struct CompiledDeleter {
  void operator()(TfLiteDelegate* delegate) const { DeputyPluginDeleteDelegate(delegate); }
};
using CompiledDelegate = std::unique_ptr<TfLiteDelegate, CompiledDeleter>;

// Creates the delegate with or without the passes. Ends the process if the library is missing.
CompiledDelegate MakeCompiledDelegate(bool passes);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_COMPILED_DELEGATE_H_
