// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/compiled_delegate.h"

#include <cstdio>
#include <cstdlib>

#include "tests/support/paths.h"

namespace deputy::fuzz {
namespace {

// Maximum number of steps of a graph. The compiler's reference code cannot be cancelled, so graphs
// that take more steps are not compiled.
constexpr const char* kMaxSteps = "200000";

}  // namespace

CompiledDelegate MakeCompiledDelegate(bool passes) {
  static DeputyPlugin* const kPlugin =
      DeputyPluginLoad(BuildPath("tests/plugins/libcompiled.so").c_str());
  const char* const keys[] = {"passes", "most_steps"};
  const char* const values[] = {passes ? "1" : "0", kMaxSteps};
  CompiledDelegate delegate(
      kPlugin == nullptr ? nullptr : DeputyPluginCreateDelegate(kPlugin, keys, values, 2));
  if (delegate == nullptr) {
    fprintf(stderr, "%s\n", DeputyLastError());
    exit(2);
  }
  return delegate;
}

}  // namespace deputy::fuzz
