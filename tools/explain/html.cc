// SPDX-License-Identifier: Apache-2.0
//
// The page of `deputy explain --html`: the graph coloured by owner or by time, with the report
// below it. It loads nothing from the network, and its content security policy forbids it. Names
// from the model are inserted only through Escape, and the script contains none. Style and script
// are in page.cc.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/accuracy.h"
#include "tools/explain/drawing.h"
#include "tools/explain/folding.h"
#include "tools/explain/markup.h"
#include "tools/explain/page.h"
#include "tools/explain/report.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

constexpr size_t kMaxLinks = 40;  // maximum number of links to nodes per reason

std::string RowHtml(const char* kind, const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) {
    row += std::string("<") + kind + ">" + cell + "</" + kind + ">";
  }
  return row + "</tr>\n";
}

// Wraps tables in a scrollable element, since they may be wider than the window.
std::string Scrolled(const std::string& table) {
  return "<div class=\"wide\">\n" + table + "</div>\n";
}

// ---- The header ---------------------------------------------------------------------------------

std::string Legend(const Json& report) {
  std::string html = "<table id=\"legend\">\n" +
                     RowHtml("th", {"owner", "nodes", "partitions", "library", "result"});
  const size_t cpu = report["nodes"].get<size_t>() - report["delegated"].get<size_t>();
  html +=
      RowHtml("td", {"<span class=\"swatch own-cpu\"></span>CPU", std::to_string(cpu), "", "", ""});
  for (const Json& delegate : report["delegates"]) {
    const std::string swatch =
        "<span class=\"swatch " + OwnerClass(delegate["index"]) + "\"></span>";
    html += RowHtml(
        "td", {swatch + Escape(OwnerText(report, delegate["index"])), JsonText(delegate["nodes"]),
               JsonText(delegate["partitions"]), Escape(delegate["path"]),
               delegate["applied"].get<bool>() ? "applied" : Escape(delegate["failure"])});
  }
  return Scrolled(html + "</table>\n");
}

std::string Summary(const Json& report) {
  size_t partitions = 0;
  for (const Json& subgraph : report["subgraphs"]) partitions += subgraph["partitions"].size();
  const Json& boundary = report["boundary"];
  std::string html = "<p>" + JsonText(report["delegated"]) + " of " +
                     PluralText(report["nodes"], "node", "nodes") + " delegated, in " +
                     PluralText(partitions, "partition", "partitions") + "; " +
                     PluralText(boundary["tensors"], "tensor", "tensors") + " cross a boundary, " +
                     BytesText(boundary["input_bytes"]) + " in, " +
                     BytesText(boundary["output_bytes"]) + " out; policy " +
                     Escape(report["policy"]) + ".";
  if (report["inferences"] != 0) {
    html += " " + NanosecondsText(report["cpu_ns"]) + " on the CPU, " +
            NanosecondsText(report["delegated_ns"]) + " in delegates (mean of " +
            PluralText(report["inferences"], "inference", "inferences") + ").";
  }
  if (report["status"]["degraded"].get<bool>()) html += " <strong>Degraded.</strong>";
  return html + "</p>\n";
}

std::string FindingsTable(const Json& report) {
  const Json& findings = report["findings"];
  if (findings.is_null()) return "";
  if (findings.empty()) return "<p>The validation layer has no findings.</p>\n";
  std::string html = "<h2>Findings of the validation layer</h2>\n";
  std::string table = "<table id=\"findings\">\n" + RowHtml("th", {"times", "severity", "finding"});
  for (const Json& finding : findings) {
    table += RowHtml(
        "td", {JsonText(finding["count"]), Escape(finding["severity"]), Escape(finding["text"])});
  }
  return html + Scrolled(table + "</table>\n");
}

// ---- Reasons ------------------------------------------------------------------------------------

// Nodes with the same result of the same delegate.
struct StatedReason {
  std::string text;  // reason as HTML
  std::vector<const Json*> nodes;
};

// The reasons of a subgraph, and the reason of each node.
class Reasons {
 public:
  explicit Reasons(const Json& subgraph) : subgraph_(subgraph) {
    std::map<std::string, size_t> places;
    for (const Json& node : subgraph["nodes"]) {
      for (const Json& support : node["support"]) {
        if (support["delegated"].get<bool>()) continue;
        const std::string text = TextOf(support);
        const auto [place, fresh] = places.try_emplace(text, reasons_.size());
        if (fresh) reasons_.push_back({text, {}});
        reasons_[place->second].nodes.push_back(&node);
        of_[{&node, &support}] = place->second;
      }
    }
  }

  // Returns "[0] TYPE" and the number of the reason's row in the table, or "[0] claims it".
  std::string Brief(const Json& node, const Json& support) const {
    std::string text = "[" + JsonText(support["delegate"]) + "] ";
    if (support["delegated"].get<bool>()) return text + "claims it";
    text += Escape(support["reason_name"]);
    return text + Format(" <span class=\"muted\">reason %zu</span>", of_.at({&node, &support}) + 1);
  }

  std::string TableHtml() const {
    if (reasons_.empty()) return "";
    std::string html =
        "<h3>Why nodes stay on the CPU</h3>\n<table class=\"reasons\">\n<tr><th "
        "class=\"number\">reason</th><th class=\"number\">nodes</th><th>delegate and "
        "reason</th><th>nodes</th></tr>\n";
    for (size_t i = 0; i < reasons_.size(); ++i) {
      html += Format("<tr><td class=\"number\">%zu</td><td class=\"number\">%zu</td><td>", i + 1,
                     reasons_[i].nodes.size()) +
              reasons_[i].text + "</td><td>" + LinksHtml(reasons_[i]) + "</td></tr>\n";
    }
    return html + "</table>\n";
  }

 private:
  static std::string TextOf(const Json& support) {
    std::string text = "[" + JsonText(support["delegate"]) + "] " + Escape(support["reason_name"]);
    if (!support["text"].get<std::string>().empty()) text += ": " + Escape(support["text"]);
    return text;
  }

  std::string LinksHtml(const StatedReason& reason) const {
    std::string html;
    for (size_t i = 0; i < reason.nodes.size() && i < kMaxLinks; ++i) {
      const Json& node = *reason.nodes[i];
      html += "<button type=\"button\" data-go=\"" + KeyOf(subgraph_, node) + "\">" +
              JsonText(node["index"]) + " " + Escape(node["operator"]) + "</button> ";
    }
    if (reason.nodes.size() > kMaxLinks) {
      html += Format("and %zu more", reason.nodes.size() - kMaxLinks);
    }
    return html;
  }

  const Json& subgraph_;
  std::vector<StatedReason> reasons_;
  std::map<std::pair<const Json*, const Json*>, size_t>
      of_;  // index of the reason, by node and result
};

// ---- Table of nodes -----------------------------------------------------------------------------

std::string TensorList(const Json& subgraph, const Json& indices) {
  std::string html;
  for (const Json& index : indices) {
    const int number = index;
    if (number < 0 || static_cast<size_t>(number) >= subgraph["tensors"].size()) continue;
    const Json& tensor = subgraph["tensors"][static_cast<size_t>(number)];
    html += "<dd>" + JsonText(index) + " " + Escape(tensor["name"]) + " <span class=\"muted\">" +
            Escape(tensor["type"]) + " " + ShapeText(tensor["shape"].get<std::vector<int>>()) +
            ", " + BytesText(tensor["bytes"]) +
            (tensor["constant"].get<bool>() ? ", constant" : "") + "</span></dd>";
  }
  return html;
}

std::string SupportHtml(const Json& support) {
  std::string html = "[" + JsonText(support["delegate"]) + "] ";
  if (support["delegated"].get<bool>()) {
    html += "claims it";
  } else {
    html += Escape(support["reason_name"]);
    if (!support["text"].get<std::string>().empty()) html += ": " + Escape(support["text"]);
  }
  if (support["group"] != -1) html += ", group " + JsonText(support["group"]);
  if (support["cost_ns"].is_number()) {
    html += ", expects " + NanosecondsText(support["cost_ns"].get<double>());
  }
  return html;
}

std::string Details(const Json& report, const Json& subgraph, const Folding& folding,
                    const Json& node) {
  std::string html = "<section class=\"details\" id=\"d" + KeyOf(subgraph, node) +
                     "\" hidden><h3>" + JsonText(node["index"]) + " " + Escape(node["operator"]) +
                     "</h3><dl><dt>run by</dt><dd>" + Escape(RunnerText(report, node)) + "</dd>";
  if (const std::string time = TimeText(node); !time.empty()) {
    html += "<dt>time</dt><dd>" + time + "</dd>";
  }
  if (FollowsInGroup(node)) {
    html += "<dt>time</dt><dd>fused into node " + JsonText(node["group_head"]) + "</dd>";
  }
  if (!node["support"].empty()) html += "<dt>delegates</dt>";
  for (const Json& support : node["support"]) html += "<dd>" + SupportHtml(support) + "</dd>";
  if (const Json* consumer = folding.ConsumerOf(node)) {
    html += "<dt>drawn in</dt><dd>" + JsonText((*consumer)["index"]) + " " +
            Escape((*consumer)["operator"]) + "</dd>";
  }
  const std::string folded = folding.FoldedText(node);
  if (!folded.empty()) html += "<dt>constant nodes</dt><dd>" + Escape(folded) + "</dd>";
  html += "<dt>inputs</dt>" + TensorList(subgraph, node["inputs"]);
  html += "<dt>outputs</dt>" + TensorList(subgraph, node["outputs"]);
  return html + "</dl></section>\n";
}

std::string NodeRow(const Json& report, const Json& subgraph, const Reasons& reasons,
                    const Folding& folding, const Json& node) {
  const std::string key = KeyOf(subgraph, node);
  std::string rows;
  for (const Json& support : node["support"]) {
    rows += (rows.empty() ? "" : "<br>") + reasons.Brief(node, support);
  }
  const std::string partition = node["partition"].is_number() ? JsonText(node["partition"]) : "";
  const Json* consumer = folding.ConsumerOf(node);
  const std::string box =
      consumer == nullptr ? "" : " data-in=\"" + KeyOf(subgraph, *consumer) + "\"";
  std::string row = "<tr id=\"r" + key + "\" data-node=\"" + key + "\"" + box + " tabindex=\"0\">" +
                    "<td class=\"number\">" + JsonText(node["index"]) + "</td><td>" +
                    Escape(node["operator"]) + "</td><td><span class=\"swatch " +
                    OwnerClass(node["owner"]) + "\"></span>" + Escape(RunnerText(report, node)) +
                    "</td><td class=\"number\">" + partition + "</td>";
  if (report["inferences"] != 0) {
    row += "<td class=\"number\">" + TimeText(node) + "</td>";
  }
  return row + "<td>" + rows + "</td></tr>\n";
}

std::string NodeTableHtml(const Json& report, const Json& subgraph, const Reasons& reasons,
                          const Folding& folding) {
  std::string html =
      "<table class=\"nodes\">\n<tr><th class=\"number\">node</th><th>operator</th><th>run "
      "by</th><th class=\"number\">partition</th>";
  if (report["inferences"] != 0) html += "<th class=\"number\">time</th>";
  html += "<th>delegates</th></tr>\n";
  for (const Json& node : subgraph["nodes"]) {
    html += NodeRow(report, subgraph, reasons, folding, node);
  }
  return html + "</table>\n";
}

std::string PartitionTable(const Json& report, const Json& subgraph) {
  if (subgraph["partitions"].empty()) return "";
  std::string html =
      "<table class=\"partitions\">\n" +
      RowHtml("th", {"partition", "run by", "nodes", "in", "out", "constants", "time"});
  for (const Json& partition : subgraph["partitions"]) {
    const auto size = [&](const char* count, const char* bytes) {
      return JsonText(partition[count]) + ", " + BytesText(partition[bytes]);
    };
    const Json& cost = partition["cost_ns"];
    const std::string swatch =
        "<span class=\"swatch part-" + JsonText(partition["index"]) + "-swatch\"></span>";
    html += RowHtml(
        "td",
        {swatch + JsonText(partition["index"]), Escape(OwnerText(report, partition["delegate"])),
         std::to_string(partition["nodes"].size()), size("input_count", "input_bytes"),
         size("output_count", "output_bytes"), BytesText(partition["constant_bytes"]),
         cost.is_number() ? NanosecondsText(cost) : ""});
  }
  return html + "</table>\n";
}

std::string ChangeTable(const Json& report) {
  const Json& changes = report["what_if"]["changes"];
  if (changes.empty()) return "";
  std::string html =
      "<h2>Possible improvements</h2>\n<div class=\"wide\"><table id=\"what-if\">\n" +
      RowHtml("th", {"if claimed", "delegate", "partitions", "boundary", "time now"});
  for (const Json& change : changes) {
    const auto arrow = [&](const std::string& before, const std::string& after) {
      return before + " → " + after;
    };
    const Json &before = change["before"], &after = change["after"];
    html += RowHtml("td", {Escape(ChangeText(change, report["subgraphs"].size() > 1)),
                           Escape(OwnerText(report, change["delegate"])),
                           arrow(JsonText(before["partitions"]), JsonText(after["partitions"])),
                           arrow(BytesText(before["bytes"]), BytesText(after["bytes"])),
                           change["cpu_ns"].is_number() ? NanosecondsText(change["cpu_ns"]) : ""});
  }
  return html + "</table></div>\n";
}

// ---- The page -----------------------------------------------------------------------------------

std::string Toolbar(const Json& report) {
  std::string html =
      "<div class=\"bar\"><input type=\"search\" placeholder=\"Find a node or tensor\" "
      "aria-label=\"Find\"><span class=\"found muted\"></span>"
      "<button type=\"button\" data-do=\"in\" title=\"Zoom in (+)\">+</button>"
      "<button type=\"button\" data-do=\"out\" title=\"Zoom out (-)\">&#8722;</button>"
      "<button type=\"button\" data-do=\"fit\" title=\"The whole graph (0)\">Fit</button>"
      "<button type=\"button\" data-do=\"plain\" title=\"Readable size (1)\">1:1</button>";
  if (report["inferences"] != 0) {
    html +=
        "<button type=\"button\" data-do=\"heat\" aria-pressed=\"false\" title=\"Colour by "
        "time\">Time</button><span class=\"scale\" hidden>low ";
    for (size_t i = 0; i < HeatColours().size(); ++i) {
      html += Format("<i class=\"heat-%zu\"></i>", i);
    }
    html += " high</span>";
  }
  return html + "</div>\n";
}

std::string GraphHtml(const Json& report, const Json& subgraph) {
  const Drawing drawing(report, subgraph);
  const std::string box = Format("viewBox=\"0 0 %.0f %.0f\"", drawing.width(), drawing.height());
  const std::string size =
      Format("data-width=\"%.0f\" data-height=\"%.0f\"", drawing.width(), drawing.height());
  constexpr const char* kOpen = "<svg xmlns=\"http://www.w3.org/2000/svg\" ";
  return Toolbar(report) + "<div class=\"graph\">\n" + kOpen + "class=\"main\" tabindex=\"0\" " +
         box + " " + size + ">\n" + DrawingDefinitions() + drawing.Content() + "</svg>\n" + kOpen +
         "class=\"overview\" preserveAspectRatio=\"none\" " + box + ">\n" + drawing.Overview() +
         "<rect class=\"window\"/></svg></div>\n";
}

std::string SubgraphHtml(const Json& report, const Json& subgraph) {
  std::string html = "<section class=\"subgraph\"><h2>Subgraph " + JsonText(subgraph["index"]);
  if (!subgraph["name"].get<std::string>().empty()) html += ", " + Escape(subgraph["name"]);
  html += "</h2>\n<div class=\"panes\"><div class=\"view\">\n" + GraphHtml(report, subgraph) +
          "</div>\n<aside>";
  if (subgraph["index"] == 0) {
    html +=
        "<p id=\"hint\" class=\"muted\">Click a node for its details. Drag to move, Ctrl and the "
        "wheel or two fingers to zoom. Each partition has an outline in its own colour; red "
        "arrows cross a partition boundary.</p>\n";
  }
  const Reasons reasons(subgraph);
  const Folding folding(subgraph);
  for (const Json& node : subgraph["nodes"]) html += Details(report, subgraph, folding, node);
  return html + "</aside></div>\n" + Scrolled(PartitionTable(report, subgraph)) +
         Scrolled(reasons.TableHtml()) +
         Scrolled(NodeTableHtml(report, subgraph, reasons, folding)) + "</section>\n";
}

std::string PageRules(const Json& report) {
  std::string rules = DrawingStyle(report);
  size_t partitions = 0;
  for (const Json& subgraph : report["subgraphs"]) {
    partitions = std::max(partitions, subgraph["partitions"].size());
  }
  for (size_t p = 0; p < partitions; ++p) {
    rules += Format(".part-%zu-swatch { background: ", p) + PartitionColour(p) + "; }\n";
  }
  rules += ".by-time .node .in-partition { fill: none; }\n";
  const std::vector<std::string> heat = HeatColours();
  for (size_t i = 0; i < heat.size(); ++i) {
    rules +=
        Format(".by-time .node .heat-%zu, .by-time .outline.heat-%zu .inner rect { fill: ", i, i) +
        heat[i] + Format("; } .by-time .outline.heat-%zu .inner path { stroke: ", i) + heat[i] +
        Format("; } i.heat-%zu { background: ", i) + heat[i] + "; }\n";
  }
  return rules;
}

}  // namespace

std::string ExplanationPage(const Json& raw) {
  // Invalid UTF-8 becomes U+FFFD, as in --json.
  const Json report = ValidUtf8(raw);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>" +
      Escape(FileNameOf(report["model"])) + " - deputy explain</title>\n<style>" +
      PageRules(report) + kPageStyle + "</style>\n</head>\n<body>\n<h1 title=\"" +
      Escape(report["model"]) + "\">" + Escape(FileNameOf(report["model"])) + "</h1>\n" +
      Summary(report) + FindingsTable(report) + Legend(report);
  for (const Json& subgraph : report["subgraphs"]) html += SubgraphHtml(report, subgraph);
  html += ChangeTable(report);
  return html + "<script>" + kPageScript + "</script>\n</body>\n</html>\n";
}

}  // namespace deputy::tools
