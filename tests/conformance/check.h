// SPDX-License-Identifier: Apache-2.0
//
// Runs operator cases and golden rows on a target and compares the results.
#ifndef DEPUTY_TESTS_CONFORMANCE_CHECK_H_
#define DEPUTY_TESTS_CONFORMANCE_CHECK_H_

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/cases/case.h"
#include "tests/conformance/agreement.h"
#include "tests/conformance/golden_reader.h"
#include "tests/conformance/run.h"
#include "tests/conformance/target.h"

namespace deputy::conformance {

// Verdict on a case on a target.
enum class Kind {
  kAgrees,   // the results agree; the delegate, if any, ran at least one node
  kLeft,     // the delegate gave a reason for every node; the CPU's results agree
  kRefused,  // the model was refused, as expected
  kKnown,    // the results differ, and this difference is listed
  kSkipped,  // there is nothing to compare with
  kDiffers,
};

struct Verdict {
  Kind kind = Kind::kAgrees;
  // Reason why the result differs, was refused by the delegate or skipped: operator, target,
  // output, …
  std::string message;
  std::string output;     // the output that differs, as "output 0 'y'"
  Difference difference;  // difference of the first differing element
};

// Runs operator cases and caches the expected results, so that each case runs once on the reference
// code for all targets.
class CaseChecker {
 public:
  // `measures` maps names to the targets that others are compared with: the reference code, and
  // those in same_bits_as.
  CaseChecker(std::vector<OpCase> cases, std::map<std::string, Target> measures)
      : cases_(std::move(cases)), measures_(std::move(measures)) {}

  const std::vector<OpCase>& cases() const { return cases_; }
  Verdict Check(size_t number, const Target& target, DeputyArithmetic arithmetic);

 private:
  const Result& Measure(size_t number, const std::string& target, DeputyArithmetic arithmetic);

  const std::vector<OpCase> cases_;
  const std::map<std::string, Target> measures_;
  std::map<std::tuple<size_t, std::string, DeputyArithmetic>, Result> results_;
};

// Name of the target, required in every CaseChecker, that computes the expected results.
inline constexpr char kReferenceTarget[] = "reference";

// Runs two inferences on one interpreter, because data that is packed during the first one must be
// valid in the second one. Inputs without values in the case are random. `job` holds further
// settings of the run, and a `feed` that is called after the inputs are set; may be null.
Result RunCase(const OpCase& op_case, const Target& target, DeputyArithmetic arithmetic,
               const Job* job = nullptr);

// RunRow runs a golden row. CheckRow also compares the result with TensorFlow Lite's and, if
// `measure` is not null, its bits with the result on that target. JudgeRow compares a result of
// RunRow.
Result RunRow(const golden::Row& row, const Target& target, DeputyArithmetic arithmetic);
Verdict CheckRow(const golden::Row& row, const Target& target, DeputyArithmetic arithmetic,
                 const Target* measure = nullptr);
Verdict JudgeRow(const golden::Row& row, const Result& found, const Target& target,
                 DeputyArithmetic arithmetic);

// Returns the key of a row in messages and Target::known_differences: "ADD v1 FLOAT32 f32_plain".
std::string NameOf(const golden::Row& row);

// Returns "" if the outputs of two runs have the same bytes, otherwise the first difference.
std::string CompareBytes(const Result& expected, const Result& found);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_CHECK_H_
