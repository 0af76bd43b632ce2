// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernels/registry.h"
#include "tests/cases/case.h"
#include "tests/fuzz/graphs.h"
#include "tests/support/paths.h"
#include "tests/support/sample_model.h"

namespace deputy::fuzz {
namespace {

// Numbers of nodes and bytes above which a model counts as large. Large models would take most of
// the running time.
constexpr size_t kLargeNodes = 16;
constexpr size_t kLargeBytes = 1 << 16;

std::vector<uint8_t> ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool Has(const ModelT& model, const OpDef& op) {
  return std::any_of(model.operator_codes.begin(), model.operator_codes.end(),
                     [&op](const auto& code) {
                       if (op.code == kTfLiteBuiltinCustom) return code->custom_code == op.name;
                       return static_cast<int>(code->builtin_code) == op.code ||
                              static_cast<int>(code->deprecated_builtin_code) == op.code;
                     });
}

}  // namespace

Seeds::Seeds(const std::string& filter) : filter_(filter) {
  for (const OpCase& op_case : AllCases()) Add(op_case.name, op_case.model);
  Add("sample", SampleModel());
  for (const auto& [name, bytes] : Graphs()) Add(name, bytes);
  AddFolder(SourcePath("examples/digits"));
  const char* shared = getenv("DEPUTY_SHARED");
  AddFolder((shared != nullptr ? std::string(shared) : SourcePath("../shared")) + "/models");
}

void Seeds::Add(const std::string& name, const std::vector<uint8_t>& bytes) {
  if (name.find(filter_) == std::string::npos) return;
  Seed seed = {name, objects::UnPackModel(bytes.data())};
  for (const auto& graph : seed.model->subgraphs) {
    seed.large |= graph->operators.size() > kLargeNodes;
  }
  seed.large |= bytes.size() > kLargeBytes;
  const std::string group = name.substr(0, name.find(' '));
  const auto [place, added] = group_numbers_.try_emplace(group, groups_.size());
  if (added) groups_.emplace_back();
  groups_[place->second].push_back(seeds_.size());
  seeds_.push_back(std::move(seed));
}

void Seeds::AddFolder(const std::string& path) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() == ".tflite") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) Add(file.filename(), ReadFile(file));
}

std::vector<std::string> Seeds::MissingOperators() const {
  std::vector<std::string> missing;
  for (std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.invoke == nullptr) continue;
      const bool found = std::any_of(seeds_.begin(), seeds_.end(),
                                     [&op](const Seed& seed) { return Has(*seed.model, op); });
      if (!found) missing.emplace_back(op.name);
    }
  }
  return missing;
}

const Seed& Seeds::Pick(Random* random) const {
  return seeds_[random->Pick(groups_[random->Below(groups_.size())])];
}

std::vector<uint8_t> Seeds::Mutant(Random* random, std::string* name) const {
  const Seed& seed = Pick(random);
  const Seed* other = &Pick(random);
  for (int tries = 0; other->large && tries < 8; ++tries) other = &Pick(random);
  *name = seed.name;
  if (!seed.large || random->OneIn(64)) return fuzz::Mutant(*seed.model, *other->model, random);
  return fuzz::Mutant(*CutOut(*seed.model, random), *other->model, random);
}

}  // namespace deputy::fuzz
