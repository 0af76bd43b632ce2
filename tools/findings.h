// SPDX-License-Identifier: Apache-2.0
//
// --validate: what the validation layer finds while the command works, printed when it is found.
#ifndef DEPUTY_TOOLS_FINDINGS_H_
#define DEPUTY_TOOLS_FINDINGS_H_

#include <atomic>
#include <cstddef>
#include <string>

#include "deputy/c_api.h"
#include "deputy/deputy.h"
#include "json.h"

namespace deputy::tools {

// Outlives the interpreters that it watches: some rules are broken while these are deleted.
class Findings {
 public:
  // `report`, which is borrowed, is where the command collects what the library reports. A finding
  // is reported, too; it is removed from there, since it is not why something failed.
  explicit Findings(std::string* report) : report_(report) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  // Switches validation on for interpreters made with these options.
  void Watch(TfLiteInterpreterOptions* options);

  // Different ones so far.
  size_t count() const { return count_; }

 private:
  static void OnFinding(void* findings, const DeputyFinding* finding);

  std::string* const report_;
  std::atomic<size_t> count_ = 0;
};

// Whether DEPUTY_VALIDATION switches validation on.
bool ValidationIsInEnvironment();

// What an interpreter's validation has found so far, an array.
Json FindingsJson(const TfLiteInterpreter* interpreter);

// Ends the command with kExitFailed if there were any.
void FailOnFindings(size_t count);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_FINDINGS_H_
