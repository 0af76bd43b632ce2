// SPDX-License-Identifier: Apache-2.0
//
// Computes positions of boxes and of the lines between them: layers from top to bottom, every line
// downwards. A deep graph is cut into columns from left to right; lines leave a column at its foot
// and enter the next at its head. Input and output are plain numbers, without any dependency on
// models.
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
  // Centre of the top edge of each box.
  std::vector<Point> boxes;
  // Corners of each line, from the bottom of one box to the top of another.
  std::vector<std::vector<Point>> lines;
  double width = 0, height = 0;
};

struct LayoutSizes {
  double box_width, box_height;
  double gap_x, gap_y;
};

// Computes a layout. `lines` go from a lower to a higher box number, as in an execution order;
// others are ignored and get no points. Boxes marked in the first argument are placed near their
// consumer, apart from the other boxes; lines into them may come from such boxes only. Boxes do not
// overlap, and a line that crosses layers passes between boxes, unless the graph is so large that
// lines are drawn straight.
GraphLayout LayOut(const std::vector<bool>& beside,
                   const std::vector<std::pair<size_t, size_t>>& lines, const LayoutSizes& sizes);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_GRAPH_LAYOUT_H_
