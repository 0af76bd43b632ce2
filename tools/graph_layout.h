// SPDX-License-Identifier: Apache-2.0
//
// Where boxes and the lines between them go: layers from top to bottom, every line downwards. A
// deep graph is cut into columns from left to right, which lines leave at the foot and enter at the
// head. Plain numbers in and out, so that it knows nothing of models.
#ifndef DEPUTY_TOOLS_GRAPH_LAYOUT_H_
#define DEPUTY_TOOLS_GRAPH_LAYOUT_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace deputy::tools {

struct GraphLayout {
  struct Point {
    double x, y;
  };
  // By box: the middle of its top edge.
  std::vector<Point> boxes;
  // By line: where it bends, from the bottom of one box to the top of another.
  std::vector<std::vector<Point>> lines;
  double width = 0, height = 0;
};

struct LayoutSizes {
  double box_width, box_height;
  double gap_x, gap_y;
};

// `lines` go from a lower to a higher box number, as in an order of execution; others are ignored
// and get no points. Boxes that are `beside` stand near what reads them, out of the others' way;
// lines into them come from such boxes only. Boxes do not overlap, and a line that passes layers
// passes between boxes, unless the graph is so large that lines are drawn straight.
GraphLayout LayOut(const std::vector<bool>& beside,
                   const std::vector<std::pair<size_t, size_t>>& lines, const LayoutSizes& sizes);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_GRAPH_LAYOUT_H_
