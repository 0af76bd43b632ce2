// SPDX-License-Identifier: Apache-2.0
//
// --validate: prints the findings of the validation layer as they occur.
#ifndef DEPUTY_TOOLS_FINDINGS_H_
#define DEPUTY_TOOLS_FINDINGS_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "json.h"

namespace deputy::tools {

// Prints and counts the findings of interpreters. Must outlive the observed interpreters: delegates
// may break rules while an interpreter is deleted.
class Findings {
 public:
  // Borrows `report`, in which the command collects the library's error reports. The library also
  // reports each finding; Findings removes those from `report`, because a finding is not the cause
  // of a failure.
  explicit Findings(std::string* report) : report_(report) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  // Enables validation for interpreters created with these options.
  void Watch(TfLiteInterpreterOptions* options);

  // Returns the number of different findings so far.
  size_t count() const { return count_; }

 private:
  static void OnFinding(void* findings, const DeputyFinding* finding);

  std::string* const report_;
  std::atomic<size_t> count_ = 0;
};

// Returns true if DEPUTY_VALIDATION enables validation.
bool ValidationIsInEnvironment();

// Returns the findings of an interpreter's validation so far, as an array.
Json FindingsJson(const TfLiteInterpreter* interpreter);

// Ends the command with kExitFailed if there were findings.
void FailOnFindings(size_t count);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_FINDINGS_H_
