// SPDX-License-Identifier: Apache-2.0
//
// Test cases for a delegate's life cycle: creation, deletion, apply, resize, inference, threads,
// loops and branches, leaks. Run each in a process of its own, because a delegate under
// test may crash or hang; other failures are reported by the verdict.
#ifndef DEPUTY_TESTS_CONFORMANCE_LIFECYCLE_H_
#define DEPUTY_TESTS_CONFORMANCE_LIFECYCLE_H_

#include <string>
#include <vector>

#include "tests/conformance/trial.h"

namespace deputy::conformance {

struct Judgement {
  enum class Kind {
    kPasses,
    kRemark,   // passed, with something that users of the delegate should know
    kSkipped,  // not applicable
    kFails,
  };
  Kind kind = Kind::kPasses;
  std::string text;  // reason of the failure, the remark, or a short summary of the measurement
};

struct LifecycleCase {
  const char* name;     // name of the case, as "resize"
  const char* expects;  // the requirement, as a sentence
  Judgement (*run)(CaseContext* context);
};

// Returns the cases that need the library only.
const std::vector<LifecycleCase>& LibraryCases();
// Returns the cases that run a model with an operator that the delegate claims.
const std::vector<LifecycleCase>& SubjectCases();

// Runs the case; the verdict combines the case's own checks and the findings of the validation
// layer.
Judgement RunLifecycleCase(const LifecycleCase& which, CaseContext* context);

// Returns true if the delegate claims a node of the subject's model; fails the case if it cannot be
// applied.
bool ClaimsNode(CaseContext* context);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_LIFECYCLE_H_
