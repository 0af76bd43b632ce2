// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/delegates.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "deputy/builtin_ops.h"
#include "deputy/c_api_experimental.h"
#include "deputy/deputy.h"
#include "tools/provide.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

struct PlanNode {
  int subgraph, node;
  auto operator<=>(const PlanNode&) const = default;
};

// Returns the nodes of all plans with their infos. A delegate's node has kTfLiteBuiltinDelegate.
std::vector<std::pair<PlanNode, DeputyNodeInfo>> PlanOf(const Session& session) {
  std::vector<std::pair<PlanNode, DeputyNodeInfo>> nodes;
  TfLiteInterpreter* interpreter = session.interpreter();
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
      DeputyNodeInfo info = {};
      info.struct_size = sizeof(info);
      const TfLiteStatus status = DeputyInterpreterGetNodeInfo(interpreter, s, n, &info);
      if (status == kTfLiteOk && info.plan_position >= 0) nodes.push_back({{s, n}, info});
    }
  }
  return nodes;
}

std::set<PlanNode> NodesOfDelegates(const Session& session, bool of_delegates) {
  std::set<PlanNode> nodes;
  for (const auto& [node, info] : PlanOf(session)) {
    if ((info.builtin_code == kTfLiteBuiltinDelegate) == of_delegates) nodes.insert(node);
  }
  return nodes;
}

}  // namespace

BenchDelegates::BenchDelegates(const std::vector<DelegateRequest>& requests,
                               const PartitionLimits& limits) {
  std::set<std::string> declared;
  for (const DelegateRequest& request : requests) {
    LoadedDelegate loaded = Provide(request);
    // A delegate that rejects a limit's value still declares the option, so it is not "ignored".
    declared.insert(loaded.declared.begin(), loaded.declared.end());
    DelegateReport report;
    report.name = NameOf(request);
    report.flag = FlagOf(request);
    report.undeclared = loaded.undeclared;
    report.available = loaded.handle != nullptr;
    if (!report.available) report.problem = OneLine(loaded.problem);
    delegates_.push_back(std::move(loaded.handle));
    reports_.push_back(std::move(report));
  }
  if (!requests.empty()) WarnOfIgnoredLimits(limits, declared);
}

void BenchDelegates::WarnOfAbsent(bool required) const {
  for (const DelegateReport& report : reports_) {
    if (report.available) continue;
    if (required) {
      FailWork("--require_delegate: %s is not available: %s", report.flag.c_str(),
               report.problem.c_str());
    }
    WarnOfAbsence(report.flag, report.problem);
  }
}

void BenchDelegates::Apply(const Session& session) {
  node_count_ = PlanOf(session).size();
  const double start = NowMs();
  for (size_t i = 0; i < delegates_.size(); ++i) {
    if (delegates_[i] == nullptr || !session.uses_delegate(i)) continue;
    const size_t cpu_before = NodesOfDelegates(session, false).size();
    const std::set<PlanNode> before = NodesOfDelegates(session, true);
    if (TfLiteInterpreterModifyGraphWithDelegate(session.interpreter(), delegates_[i].get()) !=
        kTfLiteOk) {
      if (session.delegation_status().policy == kDeputyPolicyHot) {
        reports_[i].available = false;
        reports_[i].problem = OneLine(DeputyInterpreterLastError(session.interpreter()));
        continue;  // the graph is unchanged
      }
      FailWork("%s: the delegate %s cannot be applied: %s", reports_[i].flag.c_str(),
               reports_[i].name.c_str(), DeputyInterpreterLastError(session.interpreter()));
    }
    reports_[i].nodes = cpu_before - NodesOfDelegates(session, false).size();
    for (const PlanNode& node : NodesOfDelegates(session, true)) {
      reports_[i].partitions += before.count(node) == 0 ? 1 : 0;
    }
  }
  apply_ms_ = NowMs() - start;
  ListCpuNodes(session);
}

void BenchDelegates::ListCpuNodes(const Session& session) {
  for (const auto& [node, info] : PlanOf(session)) {
    if (info.builtin_code == kTfLiteBuiltinDelegate) continue;
    cpu_nodes_.push_back({node.subgraph, node.node, info.operator_name});
  }
}

void BenchDelegates::ApplyInBackground(Session* session) {
  node_count_ = PlanOf(*session).size();
  const double start = NowMs();
  std::vector<TfLiteDelegate*> available = handles();
  std::erase(available, nullptr);
  session->ApplyInBackground(available);
  apply_ms_ = NowMs() - start;
}

void BenchDelegates::FinishBackground(Session* session) {
  session->WaitForBackground();
  const bool active = session->background_status().state == kDeputyBackgroundActive;
  for (size_t i = 0; i < delegates_.size(); ++i) {
    if (delegates_[i] == nullptr || active) continue;
    reports_[i].available = false;
    reports_[i].problem = OneLine(session->BackgroundText());
  }
  for (int n = 0; n < DeputyInterpreterGetDelegateCount(session->interpreter()); ++n) {
    DeputyDelegateInfo info = {};
    info.struct_size = sizeof(info);
    if (DeputyInterpreterGetDelegateInfo(session->interpreter(), n, &info) != kTfLiteOk) continue;
    for (size_t i = 0; i < delegates_.size(); ++i) {
      if (delegates_[i].get() != info.delegate) continue;
      reports_[i].nodes = static_cast<size_t>(info.node_count);
      reports_[i].partitions = static_cast<size_t>(info.partition_count);
    }
  }
  ListCpuNodes(*session);
}

std::vector<TfLiteDelegate*> BenchDelegates::handles() const {
  std::vector<TfLiteDelegate*> handles;
  handles.reserve(delegates_.size());
  for (const DelegateHandle& delegate : delegates_) handles.push_back(delegate.get());
  return handles;
}

void BenchDelegates::CheckRequirements(const BenchOptions& options) const {
  for (const DelegateReport& report : reports_) {
    if (!options.require_delegate) break;
    if (report.nodes == 0) {
      FailWork("--require_delegate: %s claimed none of %zu nodes", report.name.c_str(),
               node_count_);
    }
  }
  if (options.require_full_delegation && !cpu_nodes_.empty()) {
    FailWork("--require_full_delegation: %zu of %zu nodes run on the CPU, the first is node %d %s",
             cpu_nodes_.size(), node_count_, cpu_nodes_[0].node,
             cpu_nodes_[0].operator_name.c_str());
  }
}

std::string BenchDelegates::Summary() const {
  std::string text;
  for (const DelegateReport& report : reports_) {
    if (report.nodes == 0) continue;
    text += PluralText(report.nodes, "node", "nodes") + " in " + report.name + ", ";
  }
  const bool used = !text.empty();
  text += used ? std::to_string(cpu_nodes_.size()) : PluralText(cpu_nodes_.size(), "node", "nodes");
  return text + (used ? " on the CPU" : " on the CPU, no delegate used");
}

}  // namespace deputy::tools
