// SPDX-License-Identifier: Apache-2.0
//
// The text form of `deputy explain`, for terminals of 80 columns: the outcome of each delegate, the
// reasons for nodes on the CPU, the nodes in execution order, and possible improvements.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "deputy/deputy_plugin.h"
#include "tools/delegate_facts.h"
#include "tools/device_choice.h"
#include "tools/explain/report.h"
#include "tools/measured_placement.h"
#include "tools/session.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

constexpr size_t kColumns = 80;
constexpr size_t kMaxReasons = 12, kMaxChanges = 8;

// Shortens a text at its end, because the beginning of a sentence is the most informative.
std::string Cut(const std::string& text, size_t width) {
  std::string line = OneLine(text);
  if (line.size() <= width) return line;
  return width < 3 ? line.substr(0, width) : line.substr(0, width - 2) + "..";
}

// ---- The header ---------------------------------------------------------------------------------

void PrintDelegates(const Json& report) {
  PrintChoice(report["device_choice"]);
  for (const Json& delegate : report["delegates"]) {
    const std::string number = "[" + JsonText(delegate["index"]) + "] ";
    PrintWrapped("delegate   ",
                 number + DelegateText(delegate) + ", " + delegate["path"].get<std::string>());
    if (!delegate["applied"].get<bool>()) {
      PrintWrapped("           ", "not applied: " + delegate["failure"].get<std::string>());
    } else {
      std::printf("           runs %zu of %s in %s\n", delegate["nodes"].get<size_t>(),
                  PluralText(report["nodes"], "node", "nodes").c_str(),
                  PluralText(delegate["partitions"], "partition", "partitions").c_str());
    }
    PrintDelegateFacts(delegate["facts"]);
  }
  for (const Json& absent : report["absent"]) {
    PrintWrapped("delegate   ", "not available, " + absent["flag"].get<std::string>() + ": " +
                                    absent["problem"].get<std::string>());
  }
  if (report["delegates"].empty() && report["absent"].empty())
    std::printf("delegate   none (use --delegate)\n");
}

void PrintStatus(const Json& report) {
  const Json& status = report["status"];
  if (!status["degraded"].get<bool>() && status["recomputed_nodes"] == 0) return;
  PrintWrapped("degraded   ", "yes: " + JsonText(status["delegates_skipped"]) + " left out, " +
                                  JsonText(status["recomputed_nodes"]) +
                                  " nodes of delegates computed on the CPU, " +
                                  JsonText(status["restarts"]) + " inferences restarted");
}

// Prints the findings of the validation layer, which are null if the layer was disabled.
void PrintFindings(const Json& report) {
  const Json& findings = report["findings"];
  if (findings.is_null()) return;
  if (findings.empty()) std::printf("findings   none\n");
  for (const Json& finding : findings) {
    const std::string times =
        finding["count"] == 1 ? "" : " (" + JsonText(finding["count"]) + " times)";
    PrintWrapped("finding    ", finding["text"].get<std::string>() + times);
  }
}

// Prints the tensors that pass between delegates or between a delegate and the client.
void PrintBuffers(const Json& edges) {
  for (const Json& edge : edges) {
    std::string text = "tensor " + JsonText(edge["tensor"]) + " from node " +
                       JsonText(edge["producer"]) + " to node " + JsonText(edge["consumer"]) +
                       ": " + edge["memory"].get<std::string>() + " memory, " +
                       BytesText(edge["copied_bytes"]) + " copied in " +
                       PluralText(edge["copied_runs"], "run", "runs") + ", shared in " +
                       JsonText(edge["shared_runs"]);
    const std::string reason = edge["reason"].get<std::string>();
    if (!reason.empty()) text += " (" + reason + ")";
    PrintWrapped("buffer     ", text);
  }
}

// Prints the memory that was released because delegates have copies of constants.
void PrintConstants(const Json& constants) {
  if (constants.is_null()) return;
  const size_t before = constants["packed_bytes_before"], after = constants["packed_bytes"];
  const size_t file = constants["released_file_bytes"];
  if (before == after && file == 0) return;
  std::string text = "copied by delegates: " + BytesText(file) + " of the file released";
  if (before != after) {
    text += ", " + BytesText(before) + " of packed values reduced to " + BytesText(after);
  }
  PrintWrapped("constants  ", text);
}

// Prints the transpositions that the runtime has inserted for delegates in NCHW.
void PrintLayout(const Json& report) {
  std::map<std::string, size_t> counts;
  double cost_ns = 0;
  bool is_measured = false;
  for (const Json& subgraph : report["subgraphs"]) {
    for (const Json& node : subgraph["nodes"]) {
      if (!node.contains("inserted")) continue;
      ++counts[node["inserted"]];
      is_measured = is_measured || node["cost_ns"].is_number();
      if (node["cost_ns"].is_number()) cost_ns += node["cost_ns"].get<double>();
    }
  }
  if (counts.empty()) return;
  std::string text = "inserted transpositions:";
  for (const auto& [direction, count] : counts) text += Format(" %zu ", count) + direction + ",";
  text.pop_back();
  if (is_measured) text += "; " + NanosecondsText(cost_ns);
  PrintWrapped("layout     ", text);
}

void PrintHead(const Json& report) {
  PrintWrapped("model      ", report["model"]);
  PrintDelegates(report);
  const size_t all = report["nodes"], delegated = report["delegated"];
  size_t partitions = 0;
  for (const Json& subgraph : report["subgraphs"]) partitions += subgraph["partitions"].size();
  std::printf("delegated  %zu of %s, %.0f %%, in %s; policy %s\n", delegated,
              PluralText(all, "node", "nodes").c_str(),
              all == 0 ? 0.0 : 100.0 * static_cast<double>(delegated) / static_cast<double>(all),
              PluralText(partitions, "partition", "partitions").c_str(),
              report["policy"].get<std::string>().c_str());
  const std::string precision = report["precision"];
  if (!precision.empty()) PrintWrapped("precision  ", precision);
  const Json& boundary = report["boundary"];
  std::printf("boundary   %s cross it: %s in, %s out\n",
              PluralText(boundary["tensors"], "tensor", "tensors").c_str(),
              BytesText(boundary["input_bytes"]).c_str(),
              BytesText(boundary["output_bytes"]).c_str());
  PrintConstants(report["constants"]);
  PrintBuffers(report["buffers"]);
  PrintLayout(report);
  if (report["inferences"] != 0) {
    std::printf("time       %s on the CPU, %s in delegates (mean of %s)\n",
                NanosecondsText(report["cpu_ns"]).c_str(),
                NanosecondsText(report["delegated_ns"]).c_str(),
                PluralText(report["inferences"], "inference", "inferences").c_str());
  }
  if (report.contains("placement")) PrintPlacement(report["placement"]);
  if (report.contains("weight_cache")) PrintWrapped("weights    ", report["weight_cache"]);
  if (report.contains("background")) PrintWrapped("background ", report["background"]["text"]);
  PrintStatus(report);
  PrintFindings(report);
}

// ---- Reasons ------------------------------------------------------------------------------------

struct Reason {
  std::string heading, text;
  std::map<std::string, size_t> operators;
  size_t nodes = 0;
};

// Returns the distinct reasons for the nodes that the CPU runs, most frequent first.
std::vector<Reason> ReasonsLeft(const Json& report) {
  std::vector<Reason> reasons;
  for (const Json& subgraph : report["subgraphs"]) {
    for (const Json& node : subgraph["nodes"]) {
      for (const Json& support : node["support"]) {
        if (node.contains("inserted") || node["owner"] != -1 || support["delegated"].get<bool>())
          continue;
        const std::string heading =
            "[" + JsonText(support["delegate"]) + "] " + support["reason_name"].get<std::string>();
        const std::string text = support["text"];
        auto known = std::find_if(reasons.begin(), reasons.end(), [&](const Reason& reason) {
          return reason.heading == heading && reason.text == text;
        });
        if (known == reasons.end()) known = reasons.insert(known, {heading, text, {}, 0});
        ++known->nodes;
        ++known->operators[node["operator"]];
      }
    }
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.nodes > b.nodes; });
  return reasons;
}

void PrintReasons(const Json& report) {
  const std::vector<Reason> reasons = ReasonsLeft(report);
  if (reasons.empty()) return;
  std::printf("\nwhy nodes stay on the CPU\n");
  for (size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i) {
    const Reason& reason = reasons[i];
    std::string operators;
    for (const auto& [name, count] : reason.operators) {
      operators += (operators.empty() ? "" : ", ") + std::to_string(count) + " " + name;
    }
    const std::string text = reason.text.empty() ? "" : ": " + reason.text;
    PrintWrapped(Format("%4zu  ", reason.nodes), reason.heading + text + " (" + operators + ")");
  }
  if (reasons.size() > kMaxReasons) {
    std::printf("      and %zu more reasons\n", reasons.size() - kMaxReasons);
  }
}

// ---- The nodes ----------------------------------------------------------------------------------

// Returns true if a delegate's query result is shown: it has not claimed the node and, unless the
// CPU runs the node, it has read the node and did not find it claimed.
bool IsShown(const Json& node, const Json& support) {
  const int reason = support["reason"];
  if (support["delegate"] == node["owner"] || support["delegated"].get<bool>()) return false;
  return node["owner"] == -1 ||
         (reason != kDeputyReasonClaimedByOther && reason != kDeputyReasonNotQueried);
}

// Returns "NOT_CLAIMED: no reason given; the delegate claimed no node of this operator".
std::string SupportText(const Json& support) {
  const std::string name = support["reason_name"], text = support["text"];
  // The library's texts repeat the name at their beginning.
  const bool repeats = text.rfind("not claimed", 0) == 0 && text.size() > 13;
  const std::string rest = repeats ? text.substr(13) : text;
  return rest.empty() ? name : name + ": " + rest;
}

std::string CpuOwner(const Json& node) {
  const std::string_view precision = ReducedPrecision(node["implementation"].get<std::string>());
  return precision.empty() ? "CPU" : "CPU " + std::string(precision);
}

class NodeTable {
 public:
  NodeTable(const Json& report, const Json& subgraph)
      : timed_(report["inferences"] != 0), numbered_(report["delegates"].size() > 1) {
    for (const Json& node : subgraph["nodes"]) {
      const std::string name = OneLine(node["operator"]);
      operator_width_ = std::max(operator_width_, std::min<size_t>(name.size(), 24));
      owner_width_ = std::max(owner_width_, CpuOwner(node).size());
    }
  }

  void PrintHeading() const {
    PrintRow("node", ' ', "operator", "run by", timed_ ? "time" : "", "why not a delegate");
  }

  void PrintPartition(const Json& partition) const {
    const Json& delegate = partition["delegate"];
    std::string text = "partition " + JsonText(partition["index"]) + " in [" + JsonText(delegate) +
                       "]: " + PluralText(partition["nodes"].size(), "node", "nodes") + ", in " +
                       BytesText(partition["input_bytes"]) + ", out " +
                       BytesText(partition["output_bytes"]);
    if (partition["cost_ns"].is_number()) text += ", " + NanosecondsText(partition["cost_ns"]);
    if (partition.contains("layout")) text += ", in " + partition["layout"].get<std::string>();
    if (partition["recomputed"] != 0) {
      text += ", computed on the CPU " + JsonText(partition["recomputed"]) + " times";
    }
    std::printf("%s\n", Cut("      " + text, kColumns).c_str());
  }

  void Print(const Json& node) const {
    const bool delegated = node["owner"] != -1;
    std::string owner = CpuOwner(node);
    if (delegated) owner = "[" + JsonText(node["owner"]) + "]";
    if (node["runner"] == -1) owner = "-";
    if (node.contains("missing")) owner = "none";
    const std::string time = TimeText(node);
    std::vector<std::string> why;
    if (FollowsInGroup(node)) why.push_back("fused into node " + JsonText(node["group_head"]));
    if (node.contains("inserted")) {
      why.push_back("inserted by the runtime, " + node["inserted"].get<std::string>());
    }
    for (const Json& support : node["support"]) {
      if (!IsShown(node, support) || node.contains("inserted")) continue;
      const std::string number = numbered_ ? "[" + JsonText(support["delegate"]) + "] " : "";
      why.push_back(number + SupportText(support));
    }
    if (why.empty() && node.contains("missing")) {
      why.push_back("no kernel for version " + JsonText(node["version"]));
    }
    const char mark = delegated ? '|' : ' ';
    PrintRow(JsonText(node["index"]), mark, node["operator"], owner, time,
             why.empty() ? "" : why[0]);
    for (size_t i = 1; i < why.size(); ++i) PrintRow("", mark, "", "", "", why[i]);
  }

 private:
  void PrintRow(const std::string& node, char mark, const std::string& name,
                const std::string& owner, const std::string& time, const std::string& why) const {
    std::string line =
        Format("%5s %c %-*s  %-*s", node.c_str(), mark, static_cast<int>(operator_width_),
               Shorten(OneLine(name), operator_width_).c_str(), static_cast<int>(owner_width_),
               owner.c_str());
    if (timed_) line += Format("  %9s", time.c_str());
    line += "  ";
    line += Cut(why, kColumns - std::min(line.size(), kColumns));
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }

  bool timed_, numbered_;
  size_t operator_width_ = 8, owner_width_ = 6;
};

void PrintSubgraph(const Json& report, const Json& subgraph) {
  const std::string name = OneLine(subgraph["name"]);
  std::printf("\n");
  if (report["subgraphs"].size() > 1) {
    std::printf(
        "%s\n",
        Cut("subgraph " + JsonText(subgraph["index"]) + " '" + name + "'", kColumns).c_str());
  }
  const NodeTable table(report, subgraph);
  table.PrintHeading();
  Json open = nullptr;  // the partition of the preceding rows
  for (const Json& node : subgraph["nodes"]) {
    if (node["partition"] != open && node["partition"].is_number()) {
      table.PrintPartition(subgraph["partitions"][node["partition"].get<size_t>()]);
    }
    open = node["partition"];
    table.Print(node);
  }
}

// ---- Possible improvements ----------------------------------------------------------------------

std::string ArrowText(const Json& change, const char* field, bool as_bytes) {
  const size_t before = change["before"][field], after = change["after"][field];
  if (as_bytes) return BytesText(before) + " -> " + BytesText(after);
  return std::to_string(before) + " -> " + std::to_string(after);
}

// Returns the cells that describe the effect of a change; they follow its name.
std::vector<std::string> ChangeCells(const Json& report, const Json& change) {
  std::vector<std::string> cells = {"[" + JsonText(change["delegate"]) + "]",
                                    ArrowText(change, "partitions", false),
                                    ArrowText(change, "bytes", true)};
  if (report["inferences"] == 0) return cells;
  cells.emplace_back();
  if (change["cpu_ns"].is_number()) {
    const double total = report["cpu_ns"].get<double>() + report["delegated_ns"].get<double>();
    const double ns = change["cpu_ns"];
    cells.back() = NanosecondsText(ns) + Format(", %.0f %%", total > 0 ? 100 * ns / total : 0);
  }
  return cells;
}

void PrintChanges(const Json& report) {
  const Json& changes = report["what_if"]["changes"];
  if (changes.empty()) return;
  const size_t untried = report["what_if"]["untried"];
  std::vector<std::vector<std::string>> rows = {{"by", "partitions", "boundary", "time now"}};
  const size_t shown = std::min(changes.size(), kMaxChanges);
  for (size_t i = 0; i < shown; ++i) rows.push_back(ChangeCells(report, changes[i]));
  rows[0].resize(rows[1].size());
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size() + 2);
  }
  const size_t rest = std::accumulate(widths.begin(), widths.end(), size_t{2});
  const size_t name_width = std::max<size_t>(kColumns - std::min(rest, kColumns), 12);

  std::printf("\npossible improvements\n");
  rows[0].insert(rows[0].begin(), "  if claimed");
  Table table(std::string(rows[0].size(), '<'), rows[0]);
  for (size_t i = 1; i <= shown; ++i) {
    const std::string name = ChangeText(changes[i - 1], report["subgraphs"].size() > 1);
    rows[i].insert(rows[i].begin(), "  " + Shorten(OneLine(name), name_width));
    table.Add(rows[i]);
  }
  table.Print();
  if (changes.size() > shown) std::printf("  and %zu more, see --json\n", changes.size() - shown);
  if (untried > 0) std::printf("  %zu were not tried: the graph is too large\n", untried);
}

void PrintPartitionTexts(const Json& report) {
  if (!report.contains("partition_texts")) return;
  const Json& texts = report["partition_texts"];
  if (texts.empty()) std::printf("\nno delegate can show its partitions\n");
  for (const Json& entry : texts) {
    std::printf("\npartition of [%zu] at node %d, %s\n", entry["delegate"].get<size_t>(),
                entry["first_node"].get<int>(), OneLine(entry["stage"]).c_str());
    std::istringstream lines(entry["text"].get<std::string>());
    for (std::string line; std::getline(lines, line);) {
      std::printf("  %s\n", OneLine(line).c_str());
    }
  }
}

}  // namespace

std::string NanosecondsText(double nanoseconds) {
  if (nanoseconds < 1e6) return Format("%.1f us", nanoseconds / 1e3);
  return Format("%.3f ms", nanoseconds / 1e6);
}

std::string DelegateText(const Json& delegate) {
  const std::string name = OneLine(delegate["name"]), version = OneLine(delegate["version"]);
  return name + (version.empty() ? "" : " " + version);
}

std::string ChangeText(const Json& change, bool several_subgraphs) {
  const std::string name = change["operator"];
  const std::string where = several_subgraphs ? JsonText(change["subgraph"]) + "#" : "#";
  if (!change["whole_operator"].get<bool>())
    return where + JsonText(change["nodes"].front()) + " " + name;
  return "all " + std::to_string(change["nodes"].size()) + " " + name +
         (several_subgraphs ? " in " + JsonText(change["subgraph"]) : "");
}

void PrintExplanation(const Json& report) {
  PrintHead(report);
  PrintReasons(report);
  for (const Json& subgraph : report["subgraphs"]) PrintSubgraph(report, subgraph);
  PrintChanges(report);
  PrintPartitionTexts(report);
}

}  // namespace deputy::tools
