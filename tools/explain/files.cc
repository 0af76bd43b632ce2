// SPDX-License-Identifier: Apache-2.0
//
// Writes the graph for other programs: SVG for images and documents, DOT for Graphviz.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/accuracy.h"
#include "tools/explain/drawing.h"
#include "tools/explain/folding.h"
#include "tools/explain/markup.h"
#include "tools/explain/report.h"
#include "tools/text.h"

namespace deputy::tools {
namespace {

constexpr double kHeading = 28, kLetter = 7.4;

// ---- DOT ----------------------------------------------------------------------------------------

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : OneLine(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Joins the lines of a label, each given as a separate text.
std::string Label(const std::vector<std::string>& lines) {
  std::string label;
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    const std::string quoted = Quoted(line);
    label += (label.empty() ? "" : "\\n") + quoted.substr(1, quoted.size() - 2);
  }
  return "\"" + label + "\"";
}

class Dot {
 public:
  Dot(const Json& report, const Json& subgraph)
      : report_(report),
        subgraph_(subgraph),
        folding_(subgraph),
        prefix_("s" + JsonText(subgraph["index"])) {}

  std::string Text() {
    std::string text =
        "  subgraph cluster_" + prefix_ + " {\n    label=" +
        Label({"subgraph " + JsonText(subgraph_["index"]), subgraph_["name"].get<std::string>()}) +
        ";\n";
    for (const Json& partition : subgraph_["partitions"]) text += Partition(partition);
    for (const Json& node : subgraph_["nodes"]) {
      if (HasBox(node) && !node["partition"].is_number()) text += "    " + Node(node);
    }
    return text + Edges() + "  }\n";
  }

 private:
  bool HasBox(const Json& node) const { return folding_.ConsumerOf(node) == nullptr; }
  std::string NameOf(const Json& node) const { return prefix_ + "n" + JsonText(node["index"]); }

  std::string Node(const Json& node) const {
    return NameOf(node) + " [label=" +
           Label({JsonText(node["index"]) + " " + node["operator"].get<std::string>(),
                  CaptionText(node), folding_.ConstantsText(node)}) +
           ", fillcolor=\"" + OwnerColour(node["owner"].get<int>()) + "\"];\n";
  }

  std::string Partition(const Json& partition) const {
    const size_t index = partition["index"];
    std::string text =
        "    subgraph cluster_" + prefix_ + Format("p%zu {\n", index) + "      label=" +
        Label({Format("partition %zu", index), OwnerText(report_, partition["delegate"])}) +
        "; color=\"" + PartitionColour(index) + "\"; penwidth=2;\n";
    for (const Json& node : subgraph_["nodes"]) {
      if (HasBox(node) && node["partition"] == index) text += "      " + Node(node);
    }
    return text + "    }\n";
  }

  // Returns the edges of the graph. Tensors that no node produces become graph nodes of their own;
  // constants are drawn in their consumer.
  std::string Edges() {
    std::map<int, std::string> producers;
    std::set<int> folded;
    for (const Json& node : subgraph_["nodes"]) {
      for (const Json& index : node["outputs"]) {
        producers[index.get<int>()] = NameOf(node);
        if (!HasBox(node)) folded.insert(index.get<int>());
      }
    }
    std::string text;
    for (const Json& node : subgraph_["nodes"]) {
      for (const Json& index : node["inputs"]) {
        const int number = index;
        if (!IsTensor(number) || !HasBox(node) || folded.count(number) != 0) continue;
        const Json& tensor = TensorAt(number);
        if (producers.count(number) == 0) {
          if (tensor["constant"].get<bool>()) continue;
          producers[number] = prefix_ + "t" + std::to_string(number);
          text += End(producers[number], number, "input");
        }
        text += Edge(producers[number], NameOf(node), tensor);
      }
    }
    int output = 0;
    for (const Json& index : subgraph_["outputs"]) {
      const int number = index;
      if (!IsTensor(number) || folded.count(number) != 0 || producers.count(number) == 0) continue;
      const std::string name = prefix_ + "o" + std::to_string(output++);
      text += End(name, number, "output") + Edge(producers[number], name, TensorAt(number));
    }
    return text;
  }

  bool IsTensor(int number) const {
    return number >= 0 && static_cast<size_t>(number) < subgraph_["tensors"].size();
  }
  const Json& TensorAt(int number) const {
    return subgraph_["tensors"][static_cast<size_t>(number)];
  }

  std::string End(const std::string& name, int number, const char* what) const {
    return "    " + name + " [label=" + Label({what, TensorAt(number)["name"].get<std::string>()}) +
           ", style=\"rounded,dashed\"];\n";
  }

  std::string Edge(const std::string& from, const std::string& to, const Json& tensor) const {
    return "    " + from + " -> " + to +
           " [label=" + Label({PlainShape(tensor), BytesText(tensor["bytes"])}) + "];\n";
  }

  const Json& report_;
  const Json& subgraph_;
  const Folding folding_;
  const std::string prefix_;
};

}  // namespace

std::string ExplanationDot(const Json& raw) {
  const Json report = ValidUtf8(raw);
  std::string text = "digraph " + Quoted(FileNameOf(report["model"])) +
                     " {\n  node [shape=box, style=\"rounded,filled\", fontname=\"monospace\", "
                     "fontsize=11];\n  edge [fontname=\"monospace\", fontsize=9];\n";
  for (const Json& subgraph : report["subgraphs"]) text += Dot(report, subgraph).Text();
  return text + "}\n";
}

std::string ExplanationSvg(const Json& raw) {
  const Json report = ValidUtf8(raw);
  double width = 0, height = 0;
  std::string content;
  for (const Json& subgraph : report["subgraphs"]) {
    const Drawing drawing(report, subgraph);
    std::string heading = FileNameOf(report["model"]);
    if (report["subgraphs"].size() > 1) heading += ", subgraph " + JsonText(subgraph["index"]);
    content += Format("<g transform=\"translate(0 %g)\">\n", height) +
               "<text class=\"graph-text\" x=\"16\" y=\"20\">" + Escape(heading) +
               Format("</text>\n<g transform=\"translate(0 %g)\">\n", kHeading) +
               drawing.Content() + "</g></g>\n";
    const double letters = static_cast<double>(heading.size());
    width = std::max({width, drawing.width(), 32 + kLetter * letters});
    height += drawing.height() + kHeading;
  }
  return Format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "viewBox=\"0 0 %.0f %.0f\">\n",
             width, height, width, height) +
         "<style>" + DrawingStyle(report) +
         "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" + DrawingDefinitions() +
         content + "</svg>\n";
}

}  // namespace deputy::tools
