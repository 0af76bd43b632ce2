// SPDX-License-Identifier: Apache-2.0
//
// Operator cases and golden rows on a target, judged: what every client of this library calls.
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

// What became of a case on a target.
enum class Kind {
  kAgrees,   // it ran there, by a delegate at least in part
  kLeft,     // the delegate had a reason for each node that it left, which are all; the CPU agrees
  kRefused,  // there is no result, and there must be none
  kKnown,    // it differs, as the target says it does
  kSkipped,  // there is nothing to compare with
  kDiffers,
};

struct Verdict {
  Kind kind = Kind::kAgrees;
  std::string message;    // why it differs, was left or skipped: operator, target, output, …
  std::string output;     // where values differ: "output 0 'y'"
  Difference difference;  // and how
};

// Runs operator cases and keeps what they are measured against, so that each case runs once on the
// reference code, however many targets there are.
class CaseChecker {
 public:
  // `measures` are targets by name: the reference code, and those that targets name in
  // same_bits_as.
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

// The name of the measure that every checker has.
inline constexpr char kReferenceTarget[] = "reference";

// Runs a case: two inferences with random inputs on one interpreter, since what is packed at the
// first one must serve the second as well. `job` says more about the run; null: nothing.
Result RunCase(const OpCase& op_case, const Target& target, DeputyArithmetic arithmetic,
               const Job* job = nullptr);

// Runs a golden row, and judges it against what TensorFlow Lite did; with a measure, the one that
// the target names in same_bits_as, against that one's bits as well.
Result RunRow(const golden::Row& row, const Target& target, DeputyArithmetic arithmetic);
Verdict CheckRow(const golden::Row& row, const Target& target, DeputyArithmetic arithmetic,
                 const Target* measure = nullptr);
Verdict JudgeRow(const golden::Row& row, const Result& found, const Target& target,
                 DeputyArithmetic arithmetic);

// "ADD v1 FLOAT32 f32_plain", as messages and Target::known_differences have it.
std::string NameOf(const golden::Row& row);

// "", or where the outputs of two runs are not the same bytes.
std::string CompareBytes(const Result& expected, const Result& found);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_CHECK_H_
