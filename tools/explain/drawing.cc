// SPDX-License-Identifier: Apache-2.0
//
// Draws the graph of a subgraph as SVG. The outline of a partition is drawn twice, first wide in
// its colour, then slightly narrower in its tint: the visible part of the first is a line around
// all of its boxes and arrows.
#include "tools/explain/drawing.h"

#include <algorithm>
#include <cmath>

#include "tools/explain/markup.h"
#include "tools/explain/report.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

constexpr LayoutSizes kSizes = {196, 52, 26, 56};
constexpr double kMargin = 16;
constexpr double kLabelSpace = 80;  // width for the labels to the right of the last boxes
constexpr size_t kBoxCharacters = 27;
constexpr size_t kMaxLabels = 3;  // maximum number of labels for the outputs of a node

constexpr const char* kStyle = R"(
.graph-text, .node text, .end text { font: 12px ui-monospace, monospace; fill: #1a1a1a; }
.node .small, .end .small { font-size: 10.5px; }
.label { font: 10px ui-monospace, monospace; fill: #444; paint-order: stroke; stroke: #fff;
  stroke-width: 3px; stroke-linejoin: round; }
.node rect { stroke: #555; stroke-width: 1; }
.end rect { fill: #fff; stroke: #777; stroke-dasharray: 4 3; }
.edge { fill: none; stroke: #8a8a8a; stroke-width: 1.3; }
.edge.boundary { stroke: #c0392b; stroke-width: 2.2; }
.arrow { fill: #8a8a8a; } .arrow.boundary { fill: #c0392b; }
.outline path { fill: none; stroke-linecap: round; }
.outline .line path { stroke-width: 20px; } .outline .inner path { stroke-width: 15px; }
)";

// Shortens a text to whole characters. Shorten() counts bytes, so that the remains of a character
// that it cut are removed.
std::string ShortenCharacters(const std::string& text) {
  return WithoutInvalidUtf8(Shorten(OneLine(text), kBoxCharacters));
}

std::string Rectangle(GraphLayout::Point top, double grown) {
  return Format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%g\" height=\"%g\" rx=\"%g\"",
                top.x - kSizes.box_width / 2 - grown, top.y - grown, kSizes.box_width + 2 * grown,
                kSizes.box_height + 2 * grown, 4 + grown);
}

size_t PartitionCount(const Json& report) {
  size_t count = 0;
  for (const Json& subgraph : report["subgraphs"]) {
    count = std::max(count, subgraph["partitions"].size());
  }
  return count;
}

}  // namespace

Drawing::Drawing(const Json& report, const Json& subgraph)
    : report_(report), subgraph_(subgraph), folding_(subgraph) {
  FindTimes();
  AddInputs();
  for (const Json& node : subgraph["nodes"]) {
    if (folding_.ConsumerOf(node) == nullptr) AddNode(node);
  }
  AddOutputs();
  // Nodes that depend on no input and are not folded, such as random numbers, are laid out apart
  // from the others.
  std::vector<bool> beside(boxes_.size(), true);
  for (size_t i = 0; i < boxes_.size(); ++i) beside[i] = boxes_[i].node != nullptr;
  for (const Line& line : lines_) {
    pairs_.emplace_back(line.from, line.to);
    if (!beside[line.from]) beside[line.to] = false;
  }
  layout_ = LayOut(beside, pairs_, kSizes);
}

double Drawing::width() const { return layout_.width + 2 * kMargin + kLabelSpace; }
double Drawing::height() const { return layout_.height + 2 * kMargin; }

std::string Drawing::Content() const {
  std::string svg = Format("<g transform=\"translate(%g %g)\">\n", kMargin, kMargin);
  for (size_t p = 0; p < subgraph_["partitions"].size(); ++p) svg += Outline(p);
  for (size_t i = 0; i < lines_.size(); ++i) svg += Edge(i);
  std::map<size_t, std::set<const Json*>> labelled;
  std::string labels;
  for (size_t i = 0; i < lines_.size(); ++i) {
    std::set<const Json*>& of_box = labelled[lines_[i].from];
    if (of_box.size() >= kMaxLabels || !of_box.insert(lines_[i].tensor).second) continue;
    labels += EdgeLabel(i, of_box.size() - 1);
  }
  for (size_t i = 0; i < boxes_.size(); ++i) svg += BoxText(i);
  return svg + "<g class=\"labels\">\n" + labels + "</g></g>\n";
}

std::string Drawing::Overview() const {
  std::map<std::string, std::string> paths;  // path data by CSS class
  for (size_t i = 0; i < boxes_.size(); ++i) {
    const std::string name =
        boxes_[i].node == nullptr ? "" : OwnerClass((*boxes_[i].node)["owner"]);
    if (name.empty()) continue;
    const GraphLayout::Point top = layout_.boxes[i];
    paths[name] += Format("M%.0f %.0fh%gv%gh-%gz", top.x - kSizes.box_width / 2 + kMargin,
                          top.y + kMargin, kSizes.box_width, kSizes.box_height, kSizes.box_width);
  }
  std::string svg;
  for (const auto& [name, path] : paths) {
    svg += "<path class=\"" + name + "\" d=\"" + path + "\"/>\n";
  }
  return svg;
}

// ---- Contents -----------------------------------------------------------------------------------

// Returns null for an invalid index, and for constants of the model, which are drawn as a line of
// text in their node.
const Json* Drawing::Tensor(const Json& index) const {
  const Json& tensors = subgraph_["tensors"];
  const int number = index;
  if (number < 0 || static_cast<size_t>(number) >= tensors.size()) return nullptr;
  const Json& tensor = tensors[static_cast<size_t>(number)];
  return tensor["constant"].get<bool>() && produced_.count(number) == 0 ? nullptr : &tensor;
}

// Adds tensors that nodes consume and none produces.
void Drawing::AddInputs() {
  for (const Json& node : subgraph_["nodes"]) {
    for (const Json& index : node["outputs"]) produced_.insert(index.get<int>());
  }
  for (const Json& node : subgraph_["nodes"]) {
    for (const Json& index : node["inputs"]) {
      const Json* tensor = Tensor(index);
      const int number = index;
      if (tensor == nullptr || produced_.count(number) != 0 || producers_.count(number) != 0) {
        continue;
      }
      producers_[number] = boxes_.size();
      boxes_.push_back({nullptr, tensor, true});
    }
  }
}

void Drawing::AddNode(const Json& node) {
  const size_t self = boxes_.size();
  boxes_.push_back({&node, nullptr, false});
  for (const Json& index : node["inputs"]) AddLine(index, self);
  for (const Json& index : node["outputs"]) {
    if (index != -1) producers_[index] = self;
  }
}

void Drawing::AddLine(const Json& index, size_t consumer) {
  const auto producer = producers_.find(index.get<int>());
  const Json* tensor = Tensor(index);
  if (tensor == nullptr || producer == producers_.end()) return;
  lines_.push_back({producer->second, consumer, tensor});
}

// Adds the outputs of the subgraph that a drawn node produces.
void Drawing::AddOutputs() {
  for (const Json& index : subgraph_["outputs"]) {
    const Json* tensor = Tensor(index);
    if (tensor == nullptr || producers_.count(index.get<int>()) == 0) continue;
    const size_t self = boxes_.size();
    boxes_.push_back({nullptr, tensor, false});
    AddLine(index, self);
  }
}

// Finds the largest time of a node or a partition, to which the heat levels are relative.
void Drawing::FindTimes() {
  for (const char* kind : {"nodes", "partitions"}) {
    for (const Json& each : subgraph_[kind]) {
      if (each["cost_ns"].is_number()) max_ns_ = std::max(max_ns_, each["cost_ns"].get<double>());
    }
  }
}

// Returns " heat-0" to " heat-9" for a time; "" without one.
std::string Drawing::HeatClass(const Json& cost) const {
  if (!cost.is_number() || max_ns_ <= 0) return "";
  const double heat = 10 * std::sqrt(cost.get<double>() / max_ns_);
  return Format(" heat-%d", static_cast<int>(std::min(9.0, heat)));
}

// Returns the classes of a node's box. The outline of a partition has the partition's heat; its
// nodes have one of their own only if the delegate reports their times.
std::string Drawing::BoxClass(const Json& node) const {
  const bool is_delegated = node["partition"].is_number();
  const std::string heat = HeatClass(node[is_delegated ? "reported_ns" : "cost_ns"]);
  return OwnerClass(node["owner"]) + (is_delegated && heat.empty() ? " in-partition" : heat);
}

Json Drawing::PartitionOf(size_t box) const {
  return boxes_[box].node == nullptr ? Json(nullptr) : (*boxes_[box].node)["partition"];
}

// ---- Strokes ------------------------------------------------------------------------------------

std::string Drawing::PathOf(size_t line) const {
  const auto& points = layout_.lines[line];
  if (points.empty()) return "";
  std::string path = Format("M%.1f %.1f", points[0].x, points[0].y);
  for (size_t i = 1; i < points.size(); ++i) {
    const double middle = (points[i - 1].y + points[i].y) / 2;
    path += Format(" C%.1f %.1f %.1f %.1f %.1f %.1f", points[i - 1].x, middle, points[i].x, middle,
                   points[i].x, points[i].y);
  }
  return path;
}

std::string Drawing::Outline(size_t partition) const {
  std::string line, inner;
  for (size_t i = 0; i < boxes_.size(); ++i) {
    if (!(PartitionOf(i) == partition)) continue;
    line += Rectangle(layout_.boxes[i], 9) + "/>\n";
    inner += Rectangle(layout_.boxes[i], 6.5) + "/>\n";
  }
  for (size_t i = 0; i < lines_.size(); ++i) {
    if (!(PartitionOf(lines_[i].from) == partition) || !(PartitionOf(lines_[i].to) == partition)) {
      continue;
    }
    const std::string path = "<path d=\"" + PathOf(i) + "\"/>\n";
    line += path;
    inner += path;
  }
  const std::string title = Format("partition %zu: ", partition) +
                            OwnerText(report_, subgraph_["partitions"][partition]["delegate"]);
  return Format("<g class=\"outline part-%zu", partition) +
         HeatClass(subgraph_["partitions"][partition]["cost_ns"]) + "\"><title>" + Escape(title) +
         "</title><g class=\"line\">\n" + line + "</g><g class=\"inner\">\n" + inner + "</g></g>\n";
}

std::string Drawing::Edge(size_t index) const {
  const std::string path = PathOf(index);
  if (path.empty()) return "";
  const Line& line = lines_[index];
  const Json& tensor = *line.tensor;
  const bool boundary = PartitionOf(line.from) != PartitionOf(line.to);
  return "<path class=\"edge" + std::string(boundary ? " boundary" : "") + "\" d=\"" + path +
         "\" marker-end=\"url(#" + (boundary ? "arrow-boundary" : "arrow") + ")\"><title>" +
         Escape(tensor["name"]) + ", " + Escape(tensor["type"]) + " " +
         ShapeText(tensor["shape"].get<std::vector<int>>()) + ", " + BytesText(tensor["bytes"]) +
         "</title></path>\n";
}

// Returns the text of a label, placed next to the arrow, outside of outlines; several labels are
// placed one below the other.
std::string Drawing::EdgeLabel(size_t index, size_t place) const {
  const Line& line = lines_[index];
  const GraphLayout::Point top = layout_.boxes[line.from];
  const double y = top.y + kSizes.box_height + 22 + 11 * static_cast<double>(place);
  const std::string text = PlainShape(*line.tensor) + ", " + BytesText((*line.tensor)["bytes"]);
  return Format("<text class=\"label\" x=\"%.1f\" y=\"%.1f\">", top.x + 12, y) +
         Escape(ShortenCharacters(text)) + "</text>\n";
}

std::string Drawing::BoxText(size_t index) const {
  const Box& box = boxes_[index];
  const GraphLayout::Point top = layout_.boxes[index];
  const auto text = [&](double y, const char* style, const std::string& words) {
    if (words.empty()) return std::string();
    return Format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>", top.x, top.y + y,
                  style) +
           Escape(ShortenCharacters(words)) + "</text>";
  };
  constexpr const char* kSmall = " class=\"small\"";
  const std::string place = Rectangle(top, 0);
  if (box.node == nullptr) {
    return "<g class=\"end\">" + place + "/>" + text(17, "", box.is_input ? "input" : "output") +
           text(31, kSmall, (*box.tensor)["name"]) +
           text(45, kSmall,
                (*box.tensor)["type"].get<std::string>() + " " + PlainShape(*box.tensor)) +
           "</g>\n";
  }
  const Json& node = *box.node;
  const std::string key = KeyOf(subgraph_, node);
  return "<g class=\"node\" tabindex=\"0\" id=\"n" + key + "\" data-node=\"" + key + "\">" +
         "<title>" + Escape(Hover(node)) + "</title>" + place + " class=\"" + BoxClass(node) +
         "\"/>" +
         text(17, "", JsonText(node["index"]) + " " + node["operator"].get<std::string>()) +
         text(31, kSmall, CaptionText(node)) + text(45, kSmall, folding_.ConstantsText(node)) +
         "</g>\n";
}

std::string Drawing::Hover(const Json& node) const {
  std::string text = JsonText(node["index"]) + " " + node["operator"].get<std::string>() + ": " +
                     RunnerText(report_, node);
  const std::string folded = folding_.FoldedText(node);
  if (!folded.empty()) text += "; with " + folded + " of constants";
  for (const Json& support : node["support"]) {
    if (support["delegated"].get<bool>()) continue;
    text += "; [" + JsonText(support["delegate"]) + "] " +
            support["reason_name"].get<std::string>() + " " + support["text"].get<std::string>();
  }
  return text;
}

// ---- Style --------------------------------------------------------------------------------------

std::string DrawingStyle(const Json& report) {
  std::string rules = kStyle;
  const int delegates = static_cast<int>(report["delegates"].size());
  for (int owner = -1; owner < delegates; ++owner) {
    const std::string colour = OwnerColour(owner);
    rules += "." + OwnerClass(owner) + " { fill: " + colour + "; background: " + colour + "; }\n";
  }
  for (size_t p = 0; p < PartitionCount(report); ++p) {
    const std::string name = Format(".part-%zu", p);
    const auto rule = [&](const char* what, const std::string& colour) {
      rules += name + " ." + what + " rect { fill: " + colour + "; } " + name + " ." + what +
               " path { stroke: " + colour + "; }\n";
    };
    rule("line", PartitionColour(p));
    rule("inner", PartitionTint(p));
  }
  return rules;
}

std::string DrawingDefinitions() {
  const auto arrow = [](const char* id, const char* style) {
    return std::string("<marker id=\"") + id +
           "\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" "
           "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"arrow" +
           style + "\" d=\"M0 0L8 4L0 8z\"/></marker>\n";
  };
  return "<defs>\n" + arrow("arrow", "") + arrow("arrow-boundary", " boundary") + "</defs>\n";
}

}  // namespace deputy::tools
