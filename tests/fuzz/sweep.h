// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator with every hostile variant (hostile.h) of a few of its cases. Every refusal
// must have a message. A refusal after the model was loaded must also name an operator, unless it
// concerns the whole graph.
#ifndef DEPUTY_TESTS_FUZZ_SWEEP_H_
#define DEPUTY_TESTS_FUZZ_SWEEP_H_

#include <string>
#include <vector>

#include "core/kernel_api/op_def.h"
#include "tests/cases/case.h"

namespace deputy::fuzz {

class Sweep {
 public:
  // Selects up to `cases` small cases, with different types of inputs, of each operator that has a
  // kernel; drops those whose own name does not contain `filter`.
  Sweep(const std::string& filter, size_t cases);

  size_t size() const { return models_.size(); }
  const std::string& name(size_t number) const { return models_[number].name; }
  // Returns the names of operators without a case.
  const std::vector<std::string>& missing() const { return missing_; }
  // Runs all variants of a model. Returns false, after printing the variants, if a refusal has no
  // sufficient message. `verbose` prints a line before each variant, which identifies the last one
  // before a crash.
  bool Run(size_t number, bool verbose) const;

 private:
  void Choose(const OpDef& op, const std::vector<OpCase>& all, size_t cases);

  std::vector<OpCase> models_;
  std::vector<std::string> missing_;
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_SWEEP_H_
