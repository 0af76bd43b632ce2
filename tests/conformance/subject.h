// SPDX-License-Identifier: Apache-2.0
//
// Small models around one operator, on which the life of a delegate is tried (lifecycle.h). Which
// operators a stranger's delegate takes is unknown, so there is a list to choose from.
#ifndef DEPUTY_TESTS_CONFORMANCE_SUBJECT_H_
#define DEPUTY_TESTS_CONFORMANCE_SUBJECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/agreement.h"

namespace deputy::conformance {

struct Subject {
  std::string name;  // "CONV_2D float32"
  // The operator three times in a row; one input and one output of shape kSubjectShape.
  std::vector<uint8_t> model;
  // With the operator inside: a branch that has it once beside one that has it twice (inputs: bool
  // [1], and the tensor), and a loop that runs it five times. Empty: there are none.
  std::vector<uint8_t> branches, loop;
  // The operator before and behind a few custom operators that no delegate has. Empty: there is
  // none.
  std::vector<uint8_t> with_refused = {};
  // Whether the input may have any shape of four dimensions with kSubjectChannels at the end.
  bool is_resizable = true;
};

inline constexpr int kSubjectChannels = 4;
inline constexpr int kSubjectNodes = 3;

// All of them, those first that many delegates take.
std::vector<Subject> Subjects();

// A model of the caller's, which is run as it is.
Subject SubjectOf(const std::string& name, std::vector<uint8_t> model);

// A model whose only node is a custom operator that nobody has but who adds it: "DeputyNobodysOwn",
// float32 [1, 8, 8, 4] to the same.
inline constexpr char kNobodysOperator[] = "DeputyNobodysOwn";
std::vector<uint8_t> NobodysModel();

// How close what a subject's model computes has to be to the CPU: the rule for small graphs of
// docs/design/agreement.md.
Agreement SubjectAgreement(TfLiteType type);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_SUBJECT_H_
