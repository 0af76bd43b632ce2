// SPDX-License-Identifier: Apache-2.0
//
// The models that mutants are made from: every operator case, the models that ship with the
// examples, the shared ones where they are, and a few graphs of this file's own.
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
  bool large = false;  // mutants are made from parts of it
};

class Seeds {
 public:
  // Only models whose names contain `filter`.
  explicit Seeds(const std::string& filter);

  size_t size() const { return seeds_.size(); }
  // Names of operators with a kernel that are in no seed.
  std::vector<std::string> MissingOperators() const;
  // Mutant `number` of a run; the same in every process and on every machine that has the same
  // models. `name` is that of the model it was made from.
  std::vector<uint8_t> Mutant(Random* random, std::string* name) const;

 private:
  void Add(const std::string& name, const std::vector<uint8_t>& bytes);
  void AddFolder(const std::string& path);
  const Seed& Pick(Random* random) const;

  const std::string filter_;
  std::vector<Seed> seeds_;
  // Seeds by the first word of their names, which is the operator for operator cases: each group
  // has the same chance, however many seeds it has.
  std::vector<std::vector<size_t>> groups_;
  std::map<std::string, size_t> group_numbers_;
};

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_SEEDS_H_
