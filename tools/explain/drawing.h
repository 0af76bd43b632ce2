// SPDX-License-Identifier: Apache-2.0
//
// Draws the graph of one subgraph as SVG: boxes in the colours of the delegates that run them,
// outlines around partitions, arrows labelled with the shapes and sizes of tensors.
#ifndef DEPUTY_TOOLS_EXPLAIN_DRAWING_H_
#define DEPUTY_TOOLS_EXPLAIN_DRAWING_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/explain/folding.h"
#include "tools/graph_layout.h"
#include "tools/json.h"

namespace deputy::tools {

class Drawing {
 public:
  // Borrows a report of ExplainSession, and one of its subgraphs.
  Drawing(const Json& report, const Json& subgraph);

  double width() const;
  double height() const;
  // Returns the contents of an <svg> element of this width and height.
  std::string Content() const;
  // Returns a simplified Content() for an overview: no text and no arrows.
  std::string Overview() const;

 private:
  // A node, or an input or output tensor of the graph.
  struct Box {
    const Json* node = nullptr;
    const Json* tensor = nullptr;
    bool is_input = false;
  };
  // An arrow from a producer to a consumer.
  struct Line {
    size_t from = 0, to = 0;
    const Json* tensor = nullptr;
  };

  const Json* Tensor(const Json& index) const;
  void AddInputs();
  void AddNode(const Json& node);
  void AddLine(const Json& index, size_t consumer);
  void AddOutputs();
  void FindTimes();
  Json PartitionOf(size_t box) const;
  std::string PathOf(size_t line) const;
  std::string Outline(size_t partition) const;
  std::string Edge(size_t line) const;
  std::string EdgeLabel(size_t line, size_t place) const;
  std::string BoxText(size_t box) const;
  std::string Hover(const Json& node) const;
  std::string HeatClass(const Json& cost) const;
  std::string BoxClass(const Json& node) const;

  const Json& report_;
  const Json& subgraph_;
  const Folding folding_;
  std::vector<Box> boxes_;
  std::vector<Line> lines_;
  std::vector<std::pair<size_t, size_t>> pairs_;
  std::set<int> produced_;
  std::map<int, size_t> producers_;  // box that produces a tensor, by tensor
  double max_ns_ = 0;
  GraphLayout layout_;
};

// Returns the style sheet for drawings, with the colours of the owners and partitions of `report`.
std::string DrawingStyle(const Json& report);

// Returns the definitions that the <svg> of a drawing requires.
std::string DrawingDefinitions();

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_EXPLAIN_DRAWING_H_
