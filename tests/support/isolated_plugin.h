// SPDX-License-Identifier: Apache-2.0
//
// Delegates in a process of their own, by the options of the plug-in `sandbox`.
#ifndef DEPUTY_TESTS_SUPPORT_ISOLATED_PLUGIN_H_
#define DEPUTY_TESTS_SUPPORT_ISOLATED_PLUGIN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "c_api/include/c_api.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy {

// A delegate of `library` in a process of its own. The model is written to a file, which the
// destructor removes, as clients other than Deputy pass it.
class IsolatedPlugin {
 public:
  // `options` are those of the delegate, KEY=VALUE;KEY=VALUE, and `settings` those of `sandbox`.
  IsolatedPlugin(const std::vector<uint8_t>& model, const std::string& library,
                 const std::string& options, const Options& settings = {});
  ~IsolatedPlugin();
  IsolatedPlugin(const IsolatedPlugin&) = delete;
  IsolatedPlugin& operator=(const IsolatedPlugin&) = delete;
  TfLiteDelegate* get() const { return delegate_; }

 private:
  const std::string file_;
  TfLiteDelegate* delegate_ = nullptr;
};

// Sets the policy Hot.
void UseHot(TfLiteInterpreterOptions* options);

// Returns the number of replaced nodes that the CPU has computed after failures.
int64_t RecomputedNodes(const TestInterpreter& t);

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_ISOLATED_PLUGIN_H_
