// SPDX-License-Identifier: Apache-2.0
//
// The page of `deputy explain --html`: the graph coloured by owner, with the report below it. It
// fetches nothing and says so to the browser; names from the model reach it through Escape only,
// and the script holds none of them.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "explain_report.h"
#include "graph_layout.h"
#include "text.h"

namespace deputy::tools {
namespace {

// Light enough for black text; more delegates than these start over.
constexpr const char* kColours[] = {"#a8ddb5", "#a9ccf5", "#fdc086", "#d5c0eb",
                                    "#f2e394", "#f4b6c2", "#9fe0dc", "#d9c7a8"};
constexpr const char* kCpuColour = "#e3e3e3";
constexpr LayoutSizes kSizes = {196, 40, 18, 34};
constexpr double kMargin = 12;
constexpr size_t kBoxCharacters = 27;

constexpr const char* kStyle = R"(
body { font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 1.5rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .15rem .6rem; text-align: left;
  border-bottom: 1px solid #ddd; vertical-align: top; } th { background: #f4f4f4; }
td.number, th.number { text-align: right; white-space: nowrap; }
.swatch { display: inline-block; width: 1em; height: 1em; border: 1px solid #555;
  vertical-align: -.15em; margin-right: .4em; }
.panes { display: flex; gap: 1rem; align-items: flex-start; }
.nodes, .partitions { margin-top: 1rem; }
.graph { overflow: auto; max-height: 85vh; border: 1px solid #ccc; flex: 1 1 auto; }
aside { flex: 0 0 20rem; max-height: 85vh; overflow: auto; overflow-wrap: anywhere; }
aside h3 { font-size: 1rem; margin: 0 0 .4rem; } dt { font-weight: 600; } dd { margin: 0 0 .4rem; }
svg { display: block; } svg text { font: 12px ui-monospace, monospace; fill: #1a1a1a; }
svg .small { font-size: 10.5px; }
.node { cursor: pointer; } .node rect { stroke: #555; stroke-width: 1; }
.node:hover rect, .node:focus rect, .node.chosen rect { stroke: #000; stroke-width: 2.5; }
.node:focus { outline: none; }
.end rect { fill: #fff; stroke: #777; stroke-dasharray: 4 3; }
.edge { fill: none; stroke: #8a8a8a; stroke-width: 1.2; }
.edge.boundary { stroke: #c0392b; stroke-width: 2.2; }
tr.chosen td { background: #fff6cc; } tr[data-node] { cursor: pointer; }
.muted { color: #555; }
)";

constexpr const char* kScript = R"(
const choose = (key, fromTable) => {
  for (const old of document.querySelectorAll('.chosen')) old.classList.remove('chosen');
  for (const text of document.querySelectorAll('.details')) text.hidden = true;
  const hint = document.getElementById('hint');
  if (hint) hint.hidden = true;
  const node = document.getElementById('n' + key), row = document.getElementById('r' + key);
  const details = document.getElementById('d' + key);
  if (node) node.classList.add('chosen');
  if (row) row.classList.add('chosen');
  if (details) details.hidden = false;
  if (node && fromTable) node.scrollIntoView({block: 'center', inline: 'center'});
};
for (const each of document.querySelectorAll('[data-node]')) {
  const fromTable = each.tagName.toLowerCase() === 'tr';
  each.addEventListener('click', () => choose(each.dataset.node, fromTable));
  each.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') choose(each.dataset.node, fromTable);
  });
}
if (location.hash) choose(location.hash.slice(1), true);
)";

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : OneLine(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Escape(const Json& text) { return Escape(text.get<std::string>()); }

std::string OwnerClass(const Json& owner) {
  return owner == -1 ? "own-cpu" : "own-" + JsonText(owner);
}

// "0-12": subgraph and node.
std::string KeyOf(const Json& subgraph, const Json& node) {
  return JsonText(subgraph["index"]) + "-" + JsonText(node["index"]);
}

std::string OwnerText(const Json& report, const Json& owner) {
  if (owner == -1) return "CPU";
  const Json& delegate = report["delegates"][owner.get<size_t>()];
  return "[" + JsonText(owner) + "] " + DelegateText(delegate);
}

std::string RunnerText(const Json& report, const Json& node) {
  return node.contains("missing") ? "nobody: no kernel here" : OwnerText(report, node["owner"]);
}

std::string Row(const char* kind, const std::vector<std::string>& cells) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) {
    row += std::string("<") + kind + ">" + cell + "</" + kind + ">";
  }
  return row + "</tr>\n";
}

// ---- The head -----------------------------------------------------------------------------------

std::string ColourRules(const Json& report) {
  std::string rules =
      std::string(".own-cpu { fill: ") + kCpuColour + "; background: " + kCpuColour + "; }\n";
  for (size_t i = 0; i < report["delegates"].size(); ++i) {
    const std::string colour = kColours[i % std::size(kColours)];
    rules +=
        ".own-" + std::to_string(i) + " { fill: " + colour + "; background: " + colour + "; }\n";
  }
  return rules;
}

std::string Legend(const Json& report) {
  std::string html = "<table id=\"legend\">\n" +
                     Row("th", {"who", "nodes", "partitions", "from", "what came of it"});
  const size_t cpu = report["nodes"].get<size_t>() - report["delegated"].get<size_t>();
  html += Row("td", {"<span class=\"swatch own-cpu\"></span>CPU", std::to_string(cpu), "", "", ""});
  for (const Json& delegate : report["delegates"]) {
    const std::string swatch =
        "<span class=\"swatch " + OwnerClass(delegate["index"]) + "\"></span>";
    html += Row("td",
                {swatch + Escape(OwnerText(report, delegate["index"])), JsonText(delegate["nodes"]),
                 JsonText(delegate["partitions"]), Escape(delegate["path"]),
                 delegate["applied"].get<bool>() ? "applied" : Escape(delegate["failure"])});
  }
  return html + "</table>\n";
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

// ---- The graph ----------------------------------------------------------------------------------

// A node, or a tensor with which the graph begins or ends.
struct Box {
  const Json* node = nullptr;
  const Json* tensor = nullptr;
  bool is_input = false;
};

// A line from a producer to a reader.
struct Line {
  size_t from = 0, to = 0;
  const Json* tensor = nullptr;
};

class Drawing {
 public:
  Drawing(const Json& report, const Json& subgraph) : report_(report), subgraph_(subgraph) {
    AddInputs();
    for (const Json& node : subgraph["nodes"]) AddNode(node);
    AddOutputs();
    // What comes from constants alone, as a DEQUANTIZE of weights, stands beside the rest.
    std::vector<bool> beside(boxes_.size(), true);
    for (size_t i = 0; i < boxes_.size(); ++i) beside[i] = boxes_[i].node != nullptr;
    for (const Line& line : lines_) {
      pairs_.emplace_back(line.from, line.to);
      if (!beside[line.from]) beside[line.to] = false;
    }
    layout_ = LayOut(beside, pairs_, kSizes);
  }

  std::string Svg() const {
    const int width = static_cast<int>(layout_.width + 2 * kMargin + 1);
    const int height = static_cast<int>(layout_.height + 2 * kMargin + 1);
    std::string svg = Format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"%g %g %d %d\">\n",
        width, height, -kMargin, -kMargin, width, height);
    for (size_t i = 0; i < lines_.size(); ++i) svg += Edge(i);
    for (size_t i = 0; i < boxes_.size(); ++i) svg += BoxText(i);
    return svg + "</svg>\n";
  }

 private:
  // Null for an index that is none, and for the model's constants.
  const Json* Tensor(const Json& index) const {
    const Json& tensors = subgraph_["tensors"];
    const int number = index;
    if (number < 0 || static_cast<size_t>(number) >= tensors.size()) return nullptr;
    const Json& tensor = tensors[static_cast<size_t>(number)];
    return tensor["constant"].get<bool>() && given_out_.count(number) == 0 ? nullptr : &tensor;
  }

  // Tensors that nodes read and none gives out.
  void AddInputs() {
    for (const Json& node : subgraph_["nodes"]) {
      for (const Json& index : node["outputs"]) given_out_.insert(index.get<int>());
    }
    for (const Json& node : subgraph_["nodes"]) {
      for (const Json& index : node["inputs"]) {
        const Json* tensor = Tensor(index);
        const int number = index;
        if (tensor == nullptr || given_out_.count(number) != 0 || producers_.count(number) != 0)
          continue;
        producers_[number] = boxes_.size();
        boxes_.push_back({nullptr, tensor, true});
      }
    }
  }

  void AddNode(const Json& node) {
    const size_t self = boxes_.size();
    boxes_.push_back({&node, nullptr, false});
    for (const Json& index : node["inputs"]) AddLine(index, self);
    for (const Json& index : node["outputs"]) {
      if (index != -1) producers_[index] = self;
    }
  }

  void AddLine(const Json& index, size_t reader) {
    const auto producer = producers_.find(index.get<int>());
    const Json* tensor = Tensor(index);
    if (tensor == nullptr || producer == producers_.end()) return;
    lines_.push_back({producer->second, reader, tensor});
    is_read_[index] = true;
  }

  // Tensors that nodes give out and none reads.
  void AddOutputs() {
    for (const Json& node : subgraph_["nodes"]) {
      for (const Json& index : node["outputs"]) {
        const Json* tensor = Tensor(index);
        if (tensor == nullptr || is_read_[index]) continue;
        const size_t self = boxes_.size();
        boxes_.push_back({nullptr, tensor, false});
        AddLine(index, self);
      }
    }
  }

  // Whether a tensor leaves or enters a partition on this line.
  bool IsBoundary(const Line& line) const {
    const auto partition = [&](size_t box) {
      return boxes_[box].node == nullptr ? Json(nullptr) : (*boxes_[box].node)["partition"];
    };
    return partition(line.from) != partition(line.to);
  }

  std::string Edge(size_t index) const {
    const auto& points = layout_.lines[index];
    if (points.empty()) return "";
    const Json& tensor = *lines_[index].tensor;
    std::string path = Format("M%.1f %.1f", points[0].x, points[0].y);
    for (size_t i = 1; i < points.size(); ++i) {
      const double middle = (points[i - 1].y + points[i].y) / 2;
      path += Format(" C%.1f %.1f %.1f %.1f %.1f %.1f", points[i - 1].x, middle, points[i].x,
                     middle, points[i].x, points[i].y);
    }
    return "<path class=\"edge" + std::string(IsBoundary(lines_[index]) ? " boundary" : "") +
           "\" d=\"" + path + "\"><title>" + Escape(tensor["name"]) + ", " +
           Escape(tensor["type"]) + " " + ShapeText(tensor["shape"].get<std::vector<int>>()) +
           ", " + BytesText(tensor["bytes"]) + "</title></path>\n";
  }

  std::string BoxText(size_t index) const {
    const Box& box = boxes_[index];
    const GraphLayout::Point top = layout_.boxes[index];
    const std::string place =
        Format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\" rx=\"4\"",
               top.x - kSizes.box_width / 2, top.y, kSizes.box_width, kSizes.box_height);
    const auto text = [&](double y, const char* style, const std::string& words) {
      return Format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>", top.x, top.y + y,
                    style) +
             Escape(ShortenCharacters(words)) + "</text>";
    };
    if (box.node == nullptr) {
      return "<g class=\"end\">" + place + "/>" + text(16, "", box.is_input ? "input" : "output") +
             text(31, " class=\"small\"", (*box.tensor)["name"]) + "</g>\n";
    }
    const Json& node = *box.node;
    const std::string key = KeyOf(subgraph_, node);
    return "<g class=\"node\" tabindex=\"0\" id=\"n" + key + "\" data-node=\"" + key + "\">" +
           "<title>" + Escape(Hover(node)) + "</title>" + place + " class=\"" +
           OwnerClass(node["owner"]) + "\"/>" +
           text(16, "", JsonText(node["index"]) + " " + node["operator"].get<std::string>()) +
           text(31, " class=\"small\"", Caption(node)) + "</g>\n";
  }

  // Shorten counts bytes; a cut through a character must not stay.
  static std::string ShortenCharacters(const std::string& text) {
    return WithoutInvalidUtf8(Shorten(OneLine(text), kBoxCharacters));
  }

  // The second line in a box.
  std::string Caption(const Json& node) const {
    std::string text = "CPU";
    if (node["owner"] != -1) {
      text = "[" + JsonText(node["owner"]) + "] partition " + JsonText(node["partition"]);
    } else if (node.contains("missing")) {
      text = "no kernel here";
    } else if (node["runner"] == -1) {
      text = "does not run";
    } else if (!node["answers"].empty()) {
      text = "CPU, " + node["answers"].back()["reason_name"].get<std::string>();
    }
    if (node["cost_ns"].is_number()) text += ", " + NanosecondsText(node["cost_ns"]);
    if (FollowsInStep(node)) text += ", with " + JsonText(node["step"]);
    return text;
  }

  std::string Hover(const Json& node) const {
    std::string text = JsonText(node["index"]) + " " + node["operator"].get<std::string>() + ": " +
                       RunnerText(report_, node);
    for (const Json& answer : node["answers"]) {
      if (answer["taken"].get<bool>()) continue;
      text += "; [" + JsonText(answer["delegate"]) + "] " +
              answer["reason_name"].get<std::string>() + " " + answer["text"].get<std::string>();
    }
    return text;
  }

  const Json& report_;
  const Json& subgraph_;
  std::vector<Box> boxes_;
  std::vector<Line> lines_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  std::set<int> given_out_;
  std::map<int, size_t> producers_;  // tensor -> box
  std::map<int, bool> is_read_;
  GraphLayout layout_;
};

// ---- The nodes in words -------------------------------------------------------------------------

std::string TensorList(const Json& subgraph, const Json& indices) {
  std::string html;
  for (const Json& index : indices) {
    const int number = index;
    if (number < 0 || static_cast<size_t>(number) >= subgraph["tensors"].size()) continue;
    const Json& tensor = subgraph["tensors"][static_cast<size_t>(number)];
    html += "<dd>" + JsonText(index) + " " + Escape(tensor["name"]) + " <span class=\"muted\">" +
            Escape(tensor["type"]) + " " + ShapeText(tensor["shape"].get<std::vector<int>>()) +
            (tensor["constant"].get<bool>() ? ", constant" : "") + "</span></dd>";
  }
  return html;
}

std::string AnswerHtml(const Json& answer) {
  std::string html = "[" + JsonText(answer["delegate"]) + "] ";
  if (answer["taken"].get<bool>()) {
    html += "takes it";
  } else {
    html += Escape(answer["reason_name"]);
    if (!answer["text"].get<std::string>().empty()) html += ": " + Escape(answer["text"]);
  }
  if (answer["group"] != -1) html += ", group " + JsonText(answer["group"]);
  if (answer["cost_ns"].is_number()) {
    html += ", expects " + NanosecondsText(answer["cost_ns"].get<double>());
  }
  return html;
}

std::string Details(const Json& report, const Json& subgraph, const Json& node) {
  std::string html = "<section class=\"details\" id=\"d" + KeyOf(subgraph, node) +
                     "\" hidden><h3>" + JsonText(node["index"]) + " " + Escape(node["operator"]) +
                     "</h3><dl><dt>run by</dt><dd>" + Escape(RunnerText(report, node)) + "</dd>";
  if (node["cost_ns"].is_number()) {
    html += "<dt>time</dt><dd>" + NanosecondsText(node["cost_ns"]) + "</dd>";
  }
  if (FollowsInStep(node)) {
    html += "<dt>time</dt><dd>in the step of node " + JsonText(node["step"]) + "</dd>";
  }
  if (!node["answers"].empty()) html += "<dt>answers</dt>";
  for (const Json& answer : node["answers"]) html += "<dd>" + AnswerHtml(answer) + "</dd>";
  html += "<dt>reads</dt>" + TensorList(subgraph, node["inputs"]);
  html += "<dt>gives out</dt>" + TensorList(subgraph, node["outputs"]);
  return html + "</dl></section>\n";
}

std::string NodeRow(const Json& report, const Json& subgraph, const Json& node) {
  const std::string key = KeyOf(subgraph, node);
  std::string answers;
  for (const Json& answer : node["answers"]) {
    answers += (answers.empty() ? "" : "<br>") + AnswerHtml(answer);
  }
  const std::string partition = node["partition"].is_number() ? JsonText(node["partition"]) : "";
  std::string row = "<tr id=\"r" + key + "\" data-node=\"" + key + "\" tabindex=\"0\">" +
                    "<td class=\"number\">" + JsonText(node["index"]) + "</td><td>" +
                    Escape(node["operator"]) + "</td><td><span class=\"swatch " +
                    OwnerClass(node["owner"]) + "\"></span>" + Escape(RunnerText(report, node)) +
                    "</td><td class=\"number\">" + partition + "</td>";
  if (report["inferences"] != 0) {
    row += "<td class=\"number\">" +
           (node["cost_ns"].is_number() ? NanosecondsText(node["cost_ns"]) : "") + "</td>";
  }
  return row + "<td>" + answers + "</td></tr>\n";
}

std::string NodeTable(const Json& report, const Json& subgraph) {
  std::string html =
      "<table class=\"nodes\">\n<tr><th class=\"number\">node</th><th>operator</th><th>run "
      "by</th><th class=\"number\">partition</th>";
  if (report["inferences"] != 0) html += "<th class=\"number\">time</th>";
  html += "<th>answers</th></tr>\n";
  for (const Json& node : subgraph["nodes"]) html += NodeRow(report, subgraph, node);
  return html + "</table>\n";
}

std::string PartitionTable(const Json& report, const Json& subgraph) {
  if (subgraph["partitions"].empty()) return "";
  std::string html = "<table class=\"partitions\">\n" +
                     Row("th", {"partition", "run by", "nodes", "in", "out", "constants", "time"});
  for (const Json& partition : subgraph["partitions"]) {
    const auto size = [&](const char* count, const char* bytes) {
      return JsonText(partition[count]) + ", " + BytesText(partition[bytes]);
    };
    const Json& cost = partition["cost_ns"];
    html +=
        Row("td", {JsonText(partition["index"]), Escape(OwnerText(report, partition["delegate"])),
                   std::to_string(partition["nodes"].size()), size("input_count", "input_bytes"),
                   size("output_count", "output_bytes"), BytesText(partition["constant_bytes"]),
                   cost.is_number() ? NanosecondsText(cost) : ""});
  }
  return html + "</table>\n";
}

std::string ChangeTable(const Json& report) {
  const Json& changes = report["what_if"]["changes"];
  if (changes.empty()) return "";
  std::string html = "<h2>What would help</h2>\n<table id=\"what-if\">\n" +
                     Row("th", {"if it took", "delegate", "partitions", "boundary", "time now"});
  for (const Json& change : changes) {
    const auto arrow = [&](const std::string& before, const std::string& after) {
      return before + " → " + after;
    };
    const Json &before = change["before"], &after = change["after"];
    html += Row("td", {Escape(ChangeText(change, report["subgraphs"].size() > 1)),
                       Escape(OwnerText(report, change["delegate"])),
                       arrow(JsonText(before["partitions"]), JsonText(after["partitions"])),
                       arrow(BytesText(before["bytes"]), BytesText(after["bytes"])),
                       change["cpu_ns"].is_number() ? NanosecondsText(change["cpu_ns"]) : ""});
  }
  return html + "</table>\n";
}

std::string SubgraphHtml(const Json& report, const Json& subgraph) {
  std::string html = "<h2>Subgraph " + JsonText(subgraph["index"]);
  if (!subgraph["name"].get<std::string>().empty()) html += ", " + Escape(subgraph["name"]);
  html += "</h2>\n<div class=\"panes\"><div class=\"graph\">\n" + Drawing(report, subgraph).Svg() +
          "</div>\n<aside>";
  if (subgraph["index"] == 0) {
    html +=
        "<p id=\"hint\" class=\"muted\">Click a node for its details. Red lines cross the "
        "boundary of a partition.</p>\n";
  }
  for (const Json& node : subgraph["nodes"]) html += Details(report, subgraph, node);
  return html + "</aside></div>\n" + PartitionTable(report, subgraph) + NodeTable(report, subgraph);
}

}  // namespace

std::string ExplanationPage(const Json& raw) {
  // What is no UTF-8 becomes U+FFFD, as in --json.
  const Json report = ValidUtf8(raw);
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>" +
      Escape(report["model"]) + " - deputy explain</title>\n<style>" + kStyle +
      ColourRules(report) + "</style>\n</head>\n<body>\n<h1>" + Escape(report["model"]) +
      "</h1>\n" + Summary(report) + Legend(report);
  for (const Json& subgraph : report["subgraphs"]) html += SubgraphHtml(report, subgraph);
  html += ChangeTable(report);
  return html + "<script>" + kScript + "</script>\n</body>\n</html>\n";
}

}  // namespace deputy::tools
