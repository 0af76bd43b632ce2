// SPDX-License-Identifier: Apache-2.0
//
// Runs every operator case and every golden row on every target of tests/conformance/targets.cc:
// the CPU in both arithmetic modes, delegates in the default mode. tests/conformance decides how a
// result has to agree, and what a delegate may refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/check.h"
#include "tests/conformance/golden_reader.h"
#include "tests/conformance/plugin_target.h"
#include "tests/conformance/targets.h"
#include "tests/support/paths.h"

namespace deputy::conformance {

static void PrintTo(const TargetRow& row, std::ostream* out) { *out << row.name; }

namespace conformance_test {
namespace {

// Maximum number of printed failures per target; the others are only counted.
constexpr int kShown = 10;

// DEPUTY_ALL_ROWS=1 (`make test-all`) runs every case and every golden row on every target. Without
// it some targets run every n-th row, always the same ones.
bool RunsAll() { return std::getenv("DEPUTY_ALL_ROWS") != nullptr; }

// OpenCL drivers compile a program for each case, so targets with kernels for device classes other
// than this machine's run a sample.
size_t StepOfCases(const TargetRow& row) { return row.sampled && !RunsAll() ? 32 : 1; }

// With a sanitizer, delegates and CPU tables with more than one thread run every eighth golden row,
// and all operator cases: the kernels are already checked with one thread, and the rows exercise
// few different paths of a delegate.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kFewRows = 8;
#else
constexpr size_t kFewRows = 1;
#endif

size_t StepOfRows(const TargetRow& row, const Target& target) {
  if (RunsAll()) return 1;
  if (row.on_device) return row.sampled ? 1024 : 256;
  return target.has_delegate() || row.threads > 1 ? kFewRows : 1;
}

// Returns the number of cases that must at least run in a sample of every `step`-th case, if
// `least` cases run without sampling. The factor 3/4 allows for a sample with fewer than its share.
int FloorOfSample(int least, size_t step) {
  return step == 1 ? least : least * 3 / 4 / static_cast<int>(step);
}

std::map<std::string, Target> Targets() {
  std::map<std::string, Target> targets;
  for (const TargetRow& row : TargetRows()) {
    Target target = MakeTarget(row, BuildPath(""));
    targets[target.name] = target;
  }
  return targets;
}

// Returns the checker that all targets of this process share, so that the reference results of the
// cases are computed once.
CaseChecker& Cases() {
  static CaseChecker checker(AllCases(), Targets());
  return checker;
}

const std::vector<golden::Row>& GoldenRows() {
  static const std::vector<golden::Row> kRows = [] {
    std::vector<golden::Row> all;
    for (const auto& entry : std::filesystem::directory_iterator(TestDataPath("golden"))) {
      std::vector<golden::Row> rows;
      std::string error;
      EXPECT_TRUE(golden::ReadGolden(entry.path().string(), &rows, &error)) << error;
      std::move(rows.begin(), rows.end(), std::back_inserter(all));
    }
    return all;
  }();
  return kRows;
}

// Returns the arithmetic modes that are tested on a target. Delegates have only one mode, and a
// target compared with another target by bits does not depend on the mode.
std::vector<DeputyArithmetic> ArithmeticsOf(const Target& target) {
  if (target.has_delegate() || !target.same_bits_as.empty()) return {kDeputyArithmeticDefault};
  return {kDeputyArithmeticDefault, kDeputyArithmeticReference};
}

class Tally {
 public:
  void Add(const Verdict& verdict) {
    ++counts_[verdict.kind];
    if (verdict.kind == Kind::kDiffers && counts_[verdict.kind] <= kShown) {
      ADD_FAILURE() << verdict.message;
    }
  }
  int count(Kind kind) { return counts_[kind]; }
  void Print(const char* what) {
    std::printf(
        "%6d %s ran on the target, %d were left to the CPU with a reason, %d refused as they must "
        "be, %d skipped, %d known to differ, %d differ\n",
        counts_[Kind::kAgrees], what, counts_[Kind::kLeft], counts_[Kind::kRefused],
        counts_[Kind::kSkipped], counts_[Kind::kKnown], counts_[Kind::kDiffers]);
  }

 private:
  std::map<Kind, int> counts_;
};

// Returns the operators that the delegate of a library lists.
std::set<std::string> ListedOperators(const std::string& library) {
  std::set<std::string> listed;
  DeputyPlugin* const plugin = DeputyPluginLoad(library.c_str());
  const auto add = [](void* names, const DeputyDelegateOperator* op) {
    const auto code = static_cast<schema::BuiltinOperator>(op->builtin_code);
    static_cast<std::set<std::string>*>(names)->insert(schema::EnumNameBuiltinOperator(code));
  };
  EXPECT_EQ(DeputyPluginListOperators(plugin, add, &listed), kTfLiteOk);
  DeputyPluginRelease(plugin);
  return listed;
}

// Returns the reason why a target does not run here; "" if it does.
std::string SkipReason(const TargetRow& row) {
  if (!IsAvailable(row, BuildPath(""))) return std::string("this machine cannot run ") + row.name;
#ifdef __SANITIZE_ADDRESS__
  if (row.threads > 2) return "takes long; two threads run";
  if (row.name == std::string("nnapi")) return "its test double takes minutes; nnapi_test runs it";
  if (row.on_device) {
    return "takes too long under a sanitizer, where the delegate's own tests run";
  }
#endif
  if (!row.on_device) return "";
  return conformance::UnavailableReason(BuildPath(row.library), row.options);
}

// The operator cases of one target. The cases of a target that compiles a program for each of them
// are split into several tests, which ctest runs in parallel.
struct CasesOfTarget {
  TargetRow row;
  size_t part, parts;
};

void PrintTo(const CasesOfTarget& cases, std::ostream* out) { *out << cases.row.name; }

std::vector<CasesOfTarget> CasesOfTargets() {
  std::vector<CasesOfTarget> all;
  for (const TargetRow& row : TargetRows()) {
    const size_t parts = row.on_device && !row.sampled ? 4 : 1;
    for (size_t part = 0; part < parts; ++part) all.push_back({row, part, parts});
  }
  return all;
}

std::string NameOfCases(const testing::TestParamInfo<CasesOfTarget>& info) {
  const auto& [row, part, parts] = info.param;
  std::string name = row.name;
  if (row.threads > 1) name += "_on_" + std::to_string(row.threads) + "_threads";
  if (parts > 1) name += "_" + std::to_string(part + 1) + "of" + std::to_string(parts);
  return name;
}

class ConformanceOfCases : public testing::TestWithParam<CasesOfTarget> {
 protected:
  void SetUp() override {
    const std::string reason = SkipReason(GetParam().row);
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_P(ConformanceOfCases, every_operator_case_agrees) {
  const auto& [row, part, parts] = GetParam();
  const Target target = MakeTarget(row, BuildPath(""));
  const size_t step = StepOfCases(row) * parts;
  Tally tally;
  std::set<std::string> ran;  // operators that the delegate has run
  for (const DeputyArithmetic arithmetic : ArithmeticsOf(target)) {
    for (size_t i = part; i < Cases().cases().size(); i += step) {
      const Verdict verdict = Cases().Check(i, target, arithmetic);
      const std::string& name = Cases().cases()[i].name;
      if (verdict.kind == Kind::kAgrees) ran.insert(name.substr(0, name.find(' ')));
      tally.Add(verdict);
    }
  }
  tally.Print("cases");
  EXPECT_EQ(tally.count(Kind::kDiffers), 0);
  EXPECT_GE(tally.count(Kind::kAgrees), FloorOfSample(row.min_cases, step));
  if (row.all_listed) {
    EXPECT_THAT(ran, testing::IsSupersetOf(ListedOperators(BuildPath(row.library))));
  }
}

INSTANTIATE_TEST_SUITE_P(On, ConformanceOfCases, testing::ValuesIn(CasesOfTargets()), NameOfCases);

class Conformance : public testing::TestWithParam<TargetRow> {
 protected:
  void SetUp() override {
    const std::string reason = SkipReason(GetParam());
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  const Target target_ = MakeTarget(GetParam(), BuildPath(""));
};

TEST_P(Conformance, every_golden_row_agrees) {
  const std::map<std::string, Target> targets = Targets();
  const Target* measure =
      target_.same_bits_as.empty() ? nullptr : &targets.at(target_.same_bits_as);
  const size_t step = StepOfRows(GetParam(), target_);
  Tally tally;
  for (const DeputyArithmetic arithmetic : ArithmeticsOf(target_)) {
    for (size_t i = 0; i < GoldenRows().size(); i += step) {
      tally.Add(CheckRow(GoldenRows()[i], target_, arithmetic, measure));
    }
  }
  tally.Print("rows");
  EXPECT_EQ(tally.count(Kind::kDiffers), 0);
  EXPECT_GE(tally.count(Kind::kAgrees), FloorOfSample(GetParam().min_rows, step));
}

std::string ParameterName(const testing::TestParamInfo<TargetRow>& info) {
  const TargetRow& row = info.param;
  return row.threads > 1 ? std::string(row.name) + "_on_" + std::to_string(row.threads) + "_threads"
                         : row.name;
}

INSTANTIATE_TEST_SUITE_P(On, Conformance, testing::ValuesIn(TargetRows()), ParameterName);

TEST(Targets, known_differences_name_existing_cases_and_rows) {
  std::set<std::string> names;
  for (const OpCase& op_case : Cases().cases()) names.insert(op_case.name);
  for (const golden::Row& row : GoldenRows()) names.insert(NameOf(row));
  for (const TargetRow& row : TargetRows()) {
    for (const auto& [name, reason] : row.known_differences) {
      EXPECT_TRUE(names.contains(name)) << row.name << ": " << name;
      EXPECT_NE(reason, "") << row.name << ": " << name;
    }
  }
}

TEST(OperatorCases, have_unique_names) {
  std::set<std::string> names;
  for (const OpCase& op_case : Cases().cases()) {
    EXPECT_TRUE(names.insert(op_case.name).second) << op_case.name;
  }
}

}  // namespace
}  // namespace conformance_test
}  // namespace deputy::conformance
