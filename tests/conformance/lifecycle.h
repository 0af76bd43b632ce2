// SPDX-License-Identifier: Apache-2.0
//
// Cases of a delegate's life: made and deleted, applied, resized, run, undone, on threads, in loops
// and branches, and what it leaves behind. Each is meant to run in a process of its own, since a
// stranger's delegate may end it or never come back; what cannot go wrong that way is said by the
// verdict.
#ifndef DEPUTY_TESTS_CONFORMANCE_LIFECYCLE_H_
#define DEPUTY_TESTS_CONFORMANCE_LIFECYCLE_H_

#include <string>
#include <vector>

#include "tests/conformance/trial.h"

namespace deputy::conformance {

struct Judgement {
  enum class Kind {
    kPasses,
    kRemark,   // right, with something that its users should know
    kSkipped,  // there is nothing to try
    kFails,
  };
  Kind kind = Kind::kPasses;
  std::string text;  // why it fails, what to know, or a few words about what was seen
};

struct LifecycleCase {
  const char* name;     // "resize"
  const char* expects;  // what must hold, in a sentence
  Judgement (*run)(Scene* scene);
};

// Of the library alone.
const std::vector<LifecycleCase>& LibraryCases();
// On a subject whose operator the delegate takes.
const std::vector<LifecycleCase>& SubjectCases();

// Runs the case and judges what it does and what the validation layer found meanwhile.
Judgement RunLifecycleCase(const LifecycleCase& which, Scene* scene);

// Whether the delegate takes a node of the subject's model; ends the case if it cannot be applied.
bool Takes(Scene* scene);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_LIFECYCLE_H_
