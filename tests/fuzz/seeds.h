// SPDX-License-Identifier: Apache-2.0
//
// The models from which mutants are made: every operator case, SampleModel(), the graphs of
// graphs.h, the models of examples/digits, and the shared models if present.
#ifndef DEPUTY_TESTS_FUZZ_SEEDS_H_
#define DEPUTY_TESTS_FUZZ_SEEDS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/fuzz/mutate.h"

namespace deputy::fuzz {

struct Seed {
  std::string name;
  std::unique_ptr<ModelT> model;
  bool large = false;  // most mutants use only a part of the model
};

class Seeds {
 public:
  // Uses only models whose names contain `filter`.
  explicit Seeds(const std::string& filter);

  size_t size() const { return seeds_.size(); }
  // Returns the names of operators that have a kernel but occur in no seed.
  std::vector<std::string> MissingOperators() const;
  // Returns a mutant; it is the same in every process and on every machine that has the same
  // models. `name` receives the name of the original model.
  std::vector<uint8_t> Mutant(Random* random, std::string* name) const;

 private:
  void Add(const std::string& name, const std::vector<uint8_t>& bytes);
  void AddFolder(const std::string& path);
  const Seed& Pick(Random* random) const;

  const std::string filter_;
  std::vector<Seed> seeds_;
  // Indices of seeds, grouped by the first word of their names, which is the operator for operator
  // cases. All groups have the same probability, independent of their size.
  std::vector<std::vector<size_t>> groups_;
  std::map<std::string, size_t> group_numbers_;
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_SEEDS_H_
