// SPDX-License-Identifier: Apache-2.0
//
// Small models around one operator, for the life cycle cases (lifecycle.h). The operators that a
// delegate under test claims are unknown, so there is a list to choose from.
#ifndef DEPUTY_TESTS_CONFORMANCE_SUBJECT_H_
#define DEPUTY_TESTS_CONFORMANCE_SUBJECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/agreement.h"

namespace deputy::conformance {

struct Subject {
  std::string name;  // "CONV_2D float32"
  // The operator three times in sequence; one input and one output of shape kSubjectShape.
  std::vector<uint8_t> model;
  // The operator in control flow. `branches`: an IF with the operator once in one branch and twice
  // in the other (inputs: bool [1], and the tensor). `loop`: a WHILE that runs the operator five
  // times. Empty if there is none.
  std::vector<uint8_t> branches, loop;
  // The operator before and after custom operators that no delegate supports. Empty if there is
  // none.
  std::vector<uint8_t> with_refused = {};
  // The input may have any shape with four dimensions of which the last is kSubjectChannels.
  bool is_resizable = true;
};

inline constexpr int kSubjectChannels = 4;
inline constexpr int kSubjectNodes = 3;

// All subjects; those that many delegates support are first.
std::vector<Subject> Subjects();

// Wraps a model of the caller, which is run unchanged.
Subject SubjectOf(const std::string& name, std::vector<uint8_t> model);

// A model with one node, a custom operator that has no kernel unless the client adds one:
// "DeputyNobodysOwn", float32 [1, 8, 8, 4] to the same shape.
inline constexpr char kUnknownOperator[] = "DeputyNobodysOwn";
std::vector<uint8_t> UnknownOperatorModel();

// Tolerance between a delegate's and the CPU's results of a subject's model: the rule for small
// graphs of docs/design/agreement.md.
Agreement SubjectAgreement(TfLiteType type);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_SUBJECT_H_
