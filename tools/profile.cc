// SPDX-License-Identifier: Apache-2.0
//
// Measures the times of nodes through a profile callback. The callback may not use the interpreter,
// so names are looked up in advance and the callback only adds numbers.
#include "profile.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <utility>

#include "json.h"
#include "text.h"

namespace deputy::tools {
namespace {

constexpr size_t kMaxEvents = 1000000;

std::string MsText(double nanoseconds, size_t inferences) {
  return Format("%.4f", nanoseconds / 1e6 / static_cast<double>(std::max<size_t>(1, inferences)));
}

std::string ShareText(double part, double total) {
  return Format("%.1f %%", total > 0 ? 100 * part / total : 0.0);
}

// Returns a field of a CSV file: quoted if necessary (RFC 4180), without line breaks.
std::string CsvText(const std::string& text) {
  std::string line = OneLine(text);
  if (line.find_first_of(",\"") == std::string::npos) return line;
  std::string quoted = "\"";
  for (const char c : line) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

Profile::Profile(const Session& session, bool keep_events)
    : interpreter_(session.interpreter()), keep_events_(keep_events) {
  rows_.resize(static_cast<size_t>(DeputyInterpreterGetSubgraphCount(interpreter_)));
  for (int s = 0; s < static_cast<int>(rows_.size()); ++s) {
    rows_[s].resize(static_cast<size_t>(DeputyInterpreterGetNodeCount(interpreter_, s)));
    for (int n = 0; n < static_cast<int>(rows_[s].size()); ++n) {
      DeputyNodeInfo info = {};
      info.struct_size = sizeof(info);
      if (DeputyInterpreterGetNodeInfo(interpreter_, s, n, &info) != kTfLiteOk) continue;
      Row& row = rows_[s][n];
      std::vector<int> followers = std::move(row.followers);
      row = MakeRow(info);
      row.followers = std::move(followers);
      if (row.head < 0) continue;
      rows_[s][static_cast<size_t>(row.head)].followers.push_back(n);
      ++followers_;
    }
  }
  DeputyInterpreterSetProfileCallback(interpreter_, &OnEvent, this);
  if (keep_events) DeputyInterpreterSetWorkerCallback(interpreter_, &OnWorkerEvent, this);
}

Profile::~Profile() {
  DeputyInterpreterSetProfileCallback(interpreter_, nullptr, nullptr);
  DeputyInterpreterSetWorkerCallback(interpreter_, nullptr, nullptr);
}

// Returns the row of a node, without followers and without measurements.
Profile::Row Profile::MakeRow(const DeputyNodeInfo& info) const {
  Row row;
  row.subgraph = info.subgraph_index;
  row.node = info.node_index;
  row.position = info.plan_position;
  row.operator_name = info.operator_name;
  row.owner = info.owner;
  DeputyNodeRun run = {};
  run.struct_size = sizeof(run);
  if (DeputyInterpreterGetNodeRun(interpreter_, row.subgraph, row.node, &run) != kTfLiteOk) {
    return row;
  }
  DeputyNodeInfo runner = {};
  runner.struct_size = sizeof(runner);
  // Operators in a delegate's partition are listed at the position of the delegate's node.
  if (run.runner != row.node &&
      DeputyInterpreterGetNodeInfo(interpreter_, row.subgraph, run.runner, &runner) == kTfLiteOk) {
    row.position = runner.plan_position;
    row.owner = runner.owner;
  }
  const std::string_view precision = ReducedPrecision(run);
  if (!precision.empty()) row.owner += " " + std::string(precision);
  if (run.group_head >= 0 && run.group_head != row.node) row.head = run.group_head;
  DeputyDelegateInfo delegate = {};
  delegate.struct_size = sizeof(delegate);
  if (run.delegate_index >= 0 &&
      DeputyInterpreterGetDelegateInfo(interpreter_, run.delegate_index, &delegate) == kTfLiteOk) {
    row.delegate = delegate.delegate;
  }
  return row;
}

const Profile::Row* Profile::FindRow(int subgraph, int node) const {
  const auto s = static_cast<size_t>(subgraph), n = static_cast<size_t>(node);
  return s < rows_.size() && n < rows_[s].size() ? &rows_[s][n] : nullptr;
}

void Profile::Add(const Event& event) {
  Row& row = rows_[static_cast<size_t>(event.subgraph)][static_cast<size_t>(event.node)];
  ++row.calls;
  row.nanoseconds += event.duration_ns;
  if (keep_events_ && events_.size() < kMaxEvents) events_.push_back(event);
}

// Adds the time that a delegate reports for an operator, and subtracts it from the delegate's node,
// so that the times of all rows add up to that of the inference. The remainder of the node is
// negative where a device works on several operators at once.
void Profile::AddReported(const DeputyOpEvent& event) {
  if (FindRow(event.subgraph_index, event.delegate_node) == nullptr) return;
  auto& rows = rows_[static_cast<size_t>(event.subgraph_index)];
  Row& whole = rows[static_cast<size_t>(event.delegate_node)];
  if (whole.last_begin_ns != event.node_begin_ns) {
    Add({event.subgraph_index, event.delegate_node, event.node_begin_ns, event.node_duration_ns});
    whole.last_begin_ns = event.node_begin_ns;
  }
  if (event.node_index != event.delegate_node) {
    Row& row = rows[static_cast<size_t>(event.node_index)];
    ++row.calls;
    row.nanoseconds += event.duration_ns;
    whole.nanoseconds -= event.duration_ns;
  }
  if (!keep_events_ || reported_.size() >= kMaxEvents) return;
  reported_.push_back(
      {{event.subgraph_index, event.node_index, event.begin_ns, event.duration_ns}, event.detail});
}

void Profile::OnEvent(void* profile, const DeputyOpEvent* event) {
  auto& self = *static_cast<Profile*>(profile);
  if (self.FindRow(event->subgraph_index, event->node_index) == nullptr) return;
  if (event->delegate_node >= 0) return self.AddReported(*event);
  self.Add({event->subgraph_index, event->node_index, event->begin_ns, event->duration_ns});
}

void Profile::OnWorkerEvent(void* profile, const DeputyWorkerEvent* event) {
  auto& self = *static_cast<Profile*>(profile);
  if (self.FindRow(event->subgraph_index, event->node_index) == nullptr) return;
  if (self.worker_events_.size() >= kMaxEvents) return;
  self.worker_events_.push_back(
      {{event->subgraph_index, event->node_index, event->begin_ns, event->duration_ns},
       event->worker,
       event->tiles});
}

// Returns the nodes that have run, most expensive first.
std::vector<Profile::Row> Profile::Nodes() const {
  std::vector<Row> nodes;
  for (const auto& subgraph : rows_) {
    for (const Row& row : subgraph) {
      if (row.calls == 0) continue;
      nodes.push_back(row);
      nodes.back().nanoseconds = std::max<int64_t>(row.nanoseconds, 0);
    }
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const Row& a, const Row& b) { return a.nanoseconds > b.nanoseconds; });
  return nodes;
}

// Returns all nodes that have run, in execution order, including those that are fused into others.
std::vector<Profile::Row> Profile::InOrder() const {
  std::vector<Row> nodes = Nodes();
  for (const auto& subgraph : rows_) {
    for (Row row : subgraph) {
      if (row.head < 0 || row.calls > 0) continue;
      row.calls = subgraph[static_cast<size_t>(row.head)].calls;
      if (row.calls > 0) nodes.push_back(std::move(row));
    }
  }
  std::sort(nodes.begin(), nodes.end(), [](const Row& a, const Row& b) {
    return std::tuple(a.subgraph, a.position, a.node) < std::tuple(b.subgraph, b.position, b.node);
  });
  return nodes;
}

std::string Profile::OperatorsOf(const Row& row) const {
  std::vector<int> nodes = row.followers;
  nodes.push_back(row.node);
  std::sort(nodes.begin(), nodes.end());
  std::string operators;
  for (const int node : nodes) {
    const auto& rows = rows_[static_cast<size_t>(row.subgraph)];
    operators += (operators.empty() ? "" : " + ") + rows[static_cast<size_t>(node)].operator_name;
  }
  return operators;
}

// Returns a node's index, with that of its subgraph if there are several.
std::string Profile::Where(const Row& row) const {
  return rows_.size() > 1 ? Format("%d.%d", row.subgraph, row.node) : std::to_string(row.node);
}

std::vector<Profile::Row> Profile::Operators() const {
  std::map<std::pair<std::string, std::string>, Row> groups;
  for (const Row& node : Nodes()) {
    Row& group = groups[{node.operator_name, node.owner}];
    group.nodes = group.calls == 0 ? 1 : group.nodes + 1;
    group.operator_name = node.operator_name;
    group.owner = node.owner;
    group.calls += node.calls;
    group.nanoseconds += node.nanoseconds;
  }
  std::vector<Row> operators;
  operators.reserve(groups.size());
  for (auto& [key, row] : groups) operators.push_back(std::move(row));
  std::stable_sort(operators.begin(), operators.end(),
                   [](const Row& a, const Row& b) { return a.nanoseconds > b.nanoseconds; });
  return operators;
}

double Profile::TotalNanoseconds() const {
  double total = 0;
  for (const Row& node : Nodes()) total += static_cast<double>(node.nanoseconds);
  return total;
}

void Profile::PrintByOperator(size_t inferences) const {
  const double total = TotalNanoseconds();
  Table table("<<>>>", {"operator", "run by", "nodes", "ms", "share"});
  for (const Row& row : Operators()) {
    const double ns = static_cast<double>(row.nanoseconds);
    table.Add({Shorten(row.operator_name, 32), Shorten(row.owner, 20), std::to_string(row.nodes),
               MsText(ns, inferences), ShareText(ns, total)});
  }
  table.Print();
  if (followers_ > 0) {
    std::printf("and %d nodes fused with these, included in their time\n", followers_);
  }
}

void Profile::PrintByNode(size_t inferences, size_t limit) const {
  const double total = TotalNanoseconds();
  Table table("><<>>", {"node", "operator", "run by", "ms", "share"});
  const std::vector<Row> nodes = Nodes();
  for (size_t i = 0; i < std::min(limit, nodes.size()); ++i) {
    const Row& row = nodes[i];
    const double ns = static_cast<double>(row.nanoseconds);
    table.Add({Where(row), Shorten(OperatorsOf(row), 32), Shorten(row.owner, 20),
               MsText(ns, inferences), ShareText(ns, total)});
  }
  table.Print();
  if (nodes.size() > limit) std::printf("and %zu cheaper ones\n", nodes.size() - limit);
}

void Profile::PrintInOrder(size_t inferences) const {
  const double total = TotalNanoseconds();
  Table table("><<>>", {"node", "operator", "run by", "ms", "share"});
  for (const Row& row : InOrder()) {
    const double ns = static_cast<double>(row.nanoseconds);
    const std::string ms =
        row.nanoseconds > 0 || row.head < 0 ? MsText(ns, inferences) : Format("with %d", row.head);
    table.Add({Where(row), Shorten(row.operator_name, 32), Shorten(row.owner, 20), ms,
               ShareText(ns, total)});
  }
  table.Print();
}

void Profile::WriteCsv(size_t inferences, FILE* file) const {
  const double total = TotalNanoseconds();
  const double runs = static_cast<double>(std::max<size_t>(1, inferences));
  std::fprintf(file, "subgraph,node,operator,run by,calls,ms,share\n");
  for (const Row& row : InOrder()) {
    const double ns = static_cast<double>(row.nanoseconds);
    std::fprintf(file, "%d,%d,%s,%s,%lld,%.6f,%.6f\n", row.subgraph, row.node,
                 CsvText(row.operator_name).c_str(), CsvText(row.owner).c_str(),
                 static_cast<long long>(row.calls), ns / 1e6 / runs, total > 0 ? ns / total : 0);
  }
}

Json Profile::ToJson(size_t inferences) const {
  const double scale = 1e-6 / static_cast<double>(std::max<size_t>(1, inferences));
  Json operators = Json::array(), nodes = operators;
  for (const Row& row : Operators()) {
    operators.push_back({{"operator", row.operator_name},
                         {"owner", row.owner},
                         {"nodes", row.nodes},
                         {"ms", static_cast<double>(row.nanoseconds) * scale}});
  }
  for (const Row& row : Nodes()) {
    nodes.push_back({{"subgraph", row.subgraph},
                     {"node", row.node},
                     {"operator", row.operator_name},
                     {"owner", row.owner},
                     {"followers", row.followers},
                     {"ms", static_cast<double>(row.nanoseconds) * scale}});
  }
  return {{"operators", operators}, {"nodes", nodes}};
}

}  // namespace deputy::tools
