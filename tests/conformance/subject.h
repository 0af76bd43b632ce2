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
  std::string name;  // name of the operator and its type: "CONV_2D float32"
  // A model of the operator three times in sequence, with one input and one output. Both have the
  // shape [1, 8, 8, kSubjectChannels].
  std::vector<uint8_t> model;
  // Models with the operator in control flow. `branches`: an IF with the operator once in one
  // branch and twice in the other (inputs: bool [1], and the tensor). `loop`: a WHILE that runs the
  // operator five times. Empty if the subject has no such model.
  std::vector<uint8_t> branches, loop;
  // A model of the operator before and after custom operators that no delegate supports. Empty if
  // the subject has no such model.
  std::vector<uint8_t> with_refused = {};
  // True if the input may have any shape of four dimensions whose last one is kSubjectChannels.
  bool is_resizable = true;
};

inline constexpr int kSubjectChannels = 4;
inline constexpr int kSubjectNodes = 3;

// Returns all subjects; the first ones are supported by many delegates.
std::vector<Subject> Subjects();

// Returns a subject for a model of the caller, which is run unchanged.
Subject SubjectOf(const std::string& name, std::vector<uint8_t> model);

// A model with one node, a custom operator that has no kernel unless the client adds one:
// "DeputyUnknownOperator", float32 [1, 8, 8, 4] to the same shape.
inline constexpr char kUnknownOperator[] = "DeputyUnknownOperator";
std::vector<uint8_t> UnknownOperatorModel();

// Returns the tolerance between a delegate's and the CPU's results of a subject's model: the rule
// for small graphs of docs/design/agreement.md.
Agreement SubjectAgreement(TfLiteType type);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_SUBJECT_H_
