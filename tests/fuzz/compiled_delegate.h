// SPDX-License-Identifier: Apache-2.0
//
// The delegate of tests/plugins/compiled.cc: the compiler's import and passes, for graphs that
// nobody vouches for.
#ifndef DEPUTY_TESTS_FUZZ_COMPILED_DELEGATE_H_
#define DEPUTY_TESTS_FUZZ_COMPILED_DELEGATE_H_

#include <memory>

#include "c_api/include/deputy.h"

namespace deputy::fuzz {

struct CompiledDeleter {
  void operator()(TfLiteDelegate* delegate) const { DeputyPluginDeleteDelegate(delegate); }
};
using CompiledDelegate = std::unique_ptr<TfLiteDelegate, CompiledDeleter>;

// With the passes or without. Ends the process where the library is missing.
CompiledDelegate MakeCompiledDelegate(bool passes);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_COMPILED_DELEGATE_H_
