// SPDX-License-Identifier: Apache-2.0
//
// Every operator against every hostile variant (hostile.h) of a few of its cases: whoever refuses
// one says so, and names an operator.
#ifndef DEPUTY_TESTS_FUZZ_SWEEP_H_
#define DEPUTY_TESTS_FUZZ_SWEEP_H_

#include <string>
#include <vector>

#include "core/kernel_api/op_def.h"
#include "tests/cases/case.h"

namespace deputy::fuzz {

class Sweep {
 public:
  // Up to `cases` small ones of each operator that has a kernel, of different types where there
  // are such, with `filter` in their names.
  Sweep(const std::string& filter, size_t cases);

  size_t size() const { return models_.size(); }
  const std::string& name(size_t number) const { return models_[number].name; }
  // Names of operators without a case.
  const std::vector<std::string>& missing() const { return missing_; }
  // All variants of a model. False, after lines that say which, when a refusal says too little.
  // `verbose`: a line in front of each, so that the last one before a death is known.
  bool Run(size_t number, bool verbose) const;

 private:
  void Choose(const OpDef& op, const std::vector<OpCase>& all, size_t cases);

  std::vector<OpCase> models_;
  std::vector<std::string> missing_;
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_SWEEP_H_
