// SPDX-License-Identifier: Apache-2.0
#include "tools/certify/rows.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include "tests/cases/case.h"
#include "tests/conformance/check.h"
#include "tests/conformance/lifecycle.h"
#include "tests/conformance/plugin_target.h"
#include "tools/user_file.h"

namespace deputy::certify {
namespace {

using conformance::CaseContext;
using conformance::Judgement;
using conformance::LifecycleCase;
using conformance::Subject;

constexpr size_t kMaxSubjects = 3;
constexpr size_t kShown = 3;  // maximum number of differing cases in a text
constexpr char kSpeed[] = "speed";
constexpr char kCreated[] = "created";

// All cases of an operator, as indices into Cases().
struct OperatorGroup {
  std::string name;
  std::vector<size_t> cases;
};

// Returns the operator cases, created once in the parent before the children that run them.
const std::vector<OpCase>& Cases() {
  static const std::vector<OpCase> kCases = AllCases();
  return kCases;
}

std::vector<OperatorGroup> OperatorGroups() {
  std::vector<OperatorGroup> groups;
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < Cases().size(); ++i) {
    const std::string name = Cases()[i].name.substr(0, Cases()[i].name.find(' '));
    const auto [place, is_new] = places.emplace(name, groups.size());
    if (is_new) groups.push_back({name, {}});
    groups[place->second].cases.push_back(i);
  }
  return groups;
}

Status StatusOf(Judgement::Kind kind) {
  switch (kind) {
    case Judgement::Kind::kPasses:
      return Status::kPass;
    case Judgement::Kind::kRemark:
      return Status::kRemark;
    case Judgement::Kind::kSkipped:
      return Status::kSkipped;
    case Judgement::Kind::kFails:
      break;
  }
  return Status::kFail;
}

// ---- Lifecycle ----------------------------------------------------------------------------------

// Runs a lifecycle test in the child: the library is loaded there and never in the parent.
void RunLife(const Settings& settings, const LifecycleCase& which, const Subject* subject,
             Child* child) {
  conformance::PluginLibrary library(settings.library, settings.options);
  CaseContext context(&library, subject, [child](const std::string& what) { child->Note(what); });
  const Judgement judgement = conformance::RunLifecycleCase(which, &context);
  Status status = StatusOf(judgement.kind);
  // The text of a speed measurement begins with the factor, optionally after "slow: ".
  if (which.name == std::string(kSpeed) && settings.max_slowdown > 0 && !IsBad(status)) {
    double factor = 0;
    const size_t at = judgement.text.find_first_of("0123456789");
    if (at != std::string::npos) std::sscanf(judgement.text.c_str() + at, "%lf", &factor);
    if (factor > settings.max_slowdown) status = Status::kFail;
  }
  child->End(status, judgement.text);
}

Row LifeRow(const Settings& settings, const LifecycleCase& which,
            std::shared_ptr<const Subject> subject) {
  Row row;
  const bool is_speed = which.name == std::string(kSpeed);
  row.group = subject == nullptr ? "library" : is_speed ? "speed" : "life";
  row.name = row.group + "/" + (subject == nullptr ? "" : subject->name + "/") + which.name;
  row.expects = which.expects;
  row.work.seconds = settings.seconds;
  row.work.alone = is_speed;
  row.work.run = [settings, &which, subject](Child* child) {
    RunLife(settings, which, subject.get(), child);
  };
  return row;
}

// Tests that a program that has used the delegate can exit.
Row EndRow(const Settings& settings) {
  Row row = LifeRow(settings, conformance::LibraryCases()[1], nullptr);
  row.name = "library/ends";
  row.expects = "A program that has used it exits normally.";
  row.work.ends_as_programs_do = true;
  return row;
}

// ---- Operators ----------------------------------------------------------------------------------

std::string AnyReason(const conformance::NodeLeft& node) {
  return node.delegate_reason.empty() ? "no reason given" : node.delegate_reason;
}

// Returns the target for the library. `out_left` receives the operators of nodes that the delegate
// leaves to the CPU.
conformance::Target OnLibrary(const Settings& settings, conformance::Findings* findings,
                              std::set<std::string>* out_left) {
  conformance::Target target =
      conformance::PluginTarget("it", settings.library, settings.options, AnyReason);
  target.may_refuse = [out_left](const conformance::NodeLeft& node) {
    out_left->insert(node.op);
    return AnyReason(node);
  };
  target.configure = [findings](TfLiteInterpreterOptions* options, conformance::KeepAlive*) {
    findings->Observe(options);
    return std::string();
  };
  return target;
}

void RunOperator(const Settings& settings, const OperatorGroup& group, Child* child) {
  std::vector<OpCase> cases;
  for (const size_t number : group.cases) cases.push_back(Cases()[number]);
  conformance::Target cpu;
  cpu.name = conformance::kReferenceTarget;
  conformance::CaseChecker checker(std::move(cases), {{conformance::kReferenceTarget, cpu}});
  CaseCounts counts;
  std::string first_left, differ;
  for (size_t i = 0; i < checker.cases().size(); ++i) {
    child->Note(checker.cases()[i].name);
    conformance::Findings findings;
    std::set<std::string> left;
    conformance::Verdict verdict =
        checker.Check(i, OnLibrary(settings, &findings, &left), kDeputyArithmeticDefault);
    if (const std::string errors = findings.errors(); !errors.empty()) {
      verdict.kind = conformance::Kind::kDiffers;
      verdict.message = checker.cases()[i].name + ": " + errors;
    }
    if (verdict.kind == conformance::Kind::kDiffers) {
      if (static_cast<size_t>(++counts.differ) <= kShown) differ += verdict.message + "; ";
    } else if (verdict.kind == conformance::Kind::kAgrees) {
      ++counts.ran;
      counts.claimed += left.count(group.name) == 0 ? 1 : 0;
    } else {
      ++counts.left;
      if (first_left.empty()) first_left = verdict.message;
    }
  }
  child->AddResult(std::to_string(counts.ran) + " " + std::to_string(counts.left) + " " +
                   std::to_string(counts.differ) + " " + std::to_string(counts.claimed));
  if (counts.differ > 0) {
    child->End(Status::kFail, std::to_string(counts.differ) + " of " +
                                  std::to_string(checker.cases().size()) + " cases: " + differ);
  } else if (counts.ran == 0) {
    child->End(Status::kSkipped, "not claimed: " + first_left);
  } else {
    child->End(Status::kPass, std::to_string(counts.ran) + " cases in the delegate, " +
                                  std::to_string(counts.left) + " left to the CPU");
  }
}

Row OperatorRow(const Settings& settings, const OperatorGroup& group) {
  Row row;
  row.group = "operators";
  row.name = "operators/" + group.name;
  row.expects = "All cases of the operator agree with the reference code, or are left to the CPU.";
  row.work.seconds = settings.seconds;
  row.work.run = [settings, group](Child* child) { RunOperator(settings, group, child); };
  return row;
}

// ---- Subjects -----------------------------------------------------------------------------------

std::vector<Subject> SubjectsToTry(const Settings& settings) {
  if (settings.models.empty()) return conformance::Subjects();
  std::vector<Subject> subjects;
  for (const std::string& path : settings.models) {
    constexpr uint64_t kMaxModelBytes = uint64_t{1} << 31;
    const std::vector<char> file = tools::ReadFile(path, kMaxModelBytes);
    subjects.push_back(conformance::SubjectOf(path.substr(path.rfind('/') + 1),
                                              std::vector<uint8_t>(file.begin(), file.end())));
  }
  return subjects;
}

// Reports to the parent which models the delegate claims: a line if a delegate can be created, then
// the index of each subject of which it claims a node.
void FindClaimed(const Settings& settings, const std::vector<Subject>& subjects, Child* child) {
  conformance::PluginLibrary library(settings.library, settings.options);
  size_t claimed = 0;
  CaseContext(&library, nullptr, [](const std::string&) {}).CreateDelegate();
  child->AddResult(kCreated);
  for (size_t i = 0; i < subjects.size(); ++i) {
    child->Note("applied to three nodes of " + subjects[i].name);
    CaseContext context(&library, &subjects[i], [](const std::string&) {});
    if (!conformance::ClaimsNode(&context)) continue;
    child->AddResult(std::to_string(i));
    ++claimed;
  }
  if (claimed == 0) {
    child->End(Status::kFail,
               "it claims none of the tested operators: add a suitable model with --model");
  } else {
    child->End(Status::kPass,
               std::to_string(claimed) + " of " + std::to_string(subjects.size()) + " models");
  }
}

bool IsChosen(const Settings& settings, const std::string& name) {
  return settings.only.empty() || name.find(settings.only) != std::string::npos;
}

}  // namespace

std::vector<Row> MakeRows(const Settings& settings, const Doing& doing) {
  std::vector<Row> rows;
  for (const LifecycleCase& which : conformance::LibraryCases()) {
    rows.push_back(LifeRow(settings, which, nullptr));
  }
  rows.push_back(EndRow(settings));

  const std::vector<Subject> subjects = SubjectsToTry(settings);
  Row takes;
  takes.group = "library";
  takes.name = "library/takes";
  takes.expects = "It claims nodes of a model.";
  takes.work.seconds = settings.seconds;
  takes.work.run = [&](Child* child) { FindClaimed(settings, subjects, child); };
  RunAll({takes.work}, 1,
         {[&](size_t, const std::string& note) { doing(takes.name, note); },
          [&](size_t, const Outcome& outcome) { takes.outcome = outcome; }});
  takes.work.run = nullptr;  // already finished
  rows.push_back(takes);

  const std::vector<std::string>& claimed = takes.outcome.results;
  const bool has_delegate = !claimed.empty() && claimed[0] == kCreated;
  for (size_t i = 1; i < std::min(claimed.size(), kMaxSubjects + 1); ++i) {
    const auto subject = std::make_shared<const Subject>(subjects[std::stoul(claimed[i])]);
    for (const LifecycleCase& which : conformance::SubjectCases()) {
      rows.push_back(LifeRow(settings, which, subject));
    }
  }
  if (has_delegate) {
    for (const OperatorGroup& group : OperatorGroups()) {
      rows.push_back(OperatorRow(settings, group));
    }
  }
  std::erase_if(rows, [&](const Row& row) { return !IsChosen(settings, row.name); });
  return rows;
}

CaseCounts CountsOf(const Outcome& outcome) {
  CaseCounts counts;
  if (!outcome.results.empty()) {
    std::sscanf(outcome.results[0].c_str(), "%d %d %d %d", &counts.ran, &counts.left,
                &counts.differ, &counts.claimed);
  }
  return counts;
}

}  // namespace deputy::certify
