// SPDX-License-Identifier: Apache-2.0
//
// Layered graph drawing (Sugiyama) with an additional step for deep graphs: layers by longest path,
// a slot in every layer that a line crosses, an order in each layer by the mean position of the
// neighbours above or below, positions as close to that mean as order and widths permit, then
// columns.
#include "graph_layout.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <tuple>

#include "core/support/int_math.h"

namespace deputy::tools {
namespace {

// Maximum number of slots for crossing lines; graphs with more are drawn with straight lines.
constexpr size_t kMaxSlots = 20'000;
constexpr double kSlotWidth = 10;
constexpr size_t kAlonePerLayer = 4;
// Graphs of at least kDeep layers are cut into at most kMaxColumns columns of at least kMinRows
// rows.
constexpr size_t kDeep = 48, kMaxColumns = 64, kMinRows = 12;
// Target ratio of width to height, and the spacing between columns with the lines in it.
constexpr double kAspect = 1.5, kGutter = 110, kCorner = 22, kLane = 5;
constexpr size_t kMaxLanes = 12;

// A box, or the point at which a line crosses a layer.
struct Slot {
  size_t layer = 0;
  double width = 0, x = 0;
  bool beside = false;
  std::vector<size_t> above, below;
};

class Layout {
 public:
  Layout(const std::vector<bool>& beside, const std::vector<std::pair<size_t, size_t>>& lines,
         const LayoutSizes& sizes)
      : box_count_(beside.size()), lines_(lines), sizes_(sizes), slots_(beside.size()) {
    for (size_t i = 0; i < box_count_; ++i) {
      slots_[i].width = sizes.box_width;
      slots_[i].beside = beside[i];
    }
  }

  GraphLayout Run() {
    FindLayers();
    AddPassingSlots();
    Place();
    return Result();
  }

 private:
  bool Goes(const std::pair<size_t, size_t>& line) const {
    return line.first < line.second && line.second < box_count_;
  }

  void FindLayers() {
    std::vector<std::pair<size_t, size_t>> sorted;
    std::copy_if(lines_.begin(), lines_.end(), std::back_inserter(sorted),
                 [&](const auto& line) { return Goes(line); });
    std::sort(sorted.begin(), sorted.end());
    // Lines are sorted by the upper end: when a box is visited, all lines into it have been.
    std::vector<bool> has_above(box_count_, false), has_below(box_count_, false);
    for (const auto& [above, below] : sorted) {
      slots_[below].layer = std::max(slots_[below].layer, slots_[above].layer + 1);
      has_above[below] = has_below[above] = true;
    }
    // Boxes without inputs are placed directly above their first consumer.
    std::vector<size_t> first_consumer(box_count_, SIZE_MAX);
    for (auto line = sorted.rbegin(); line != sorted.rend(); ++line) {
      const auto& [above, below] = *line;
      first_consumer[above] = std::min(first_consumer[above], slots_[below].layer);
      const bool is_last = line + 1 == sorted.rend() || (line + 1)->first != above;
      const bool moves = slots_[above].beside || !has_above[above];
      if (is_last && moves) slots_[above].layer = first_consumer[above] - 1;
    }
    // Boxes without any line are spread over layers, to bound the width of the first one.
    size_t alone = 0;
    for (size_t i = 0; i < box_count_; ++i) {
      if (!has_above[i] && !has_below[i]) slots_[i].layer = alone++ / kAlonePerLayer;
    }
  }

  void AddPassingSlots() {
    size_t needed = 0;
    for (const auto& line : lines_) {
      if (Goes(line)) needed += slots_[line.second].layer - slots_[line.first].layer - 1;
    }
    paths_.resize(lines_.size());
    for (size_t i = 0; i < lines_.size(); ++i) {
      const auto& line = lines_[i];
      if (!Goes(line)) continue;
      std::vector<size_t>& path = paths_[i];
      path.push_back(line.first);
      for (size_t layer = slots_[line.first].layer + 1;
           needed <= kMaxSlots && layer < slots_[line.second].layer; ++layer) {
        path.push_back(slots_.size());
        slots_.push_back({layer, kSlotWidth, 0, slots_[line.first].beside, {}, {}});
      }
      path.push_back(line.second);
      for (size_t step = 1; step < path.size(); ++step) {
        slots_[path[step - 1]].below.push_back(path[step]);
        slots_[path[step]].above.push_back(path[step - 1]);
      }
    }
  }

  // Returns true for slots outside of the main flow: marked by the caller, or at an end of the
  // graph.
  bool IsAside(const Slot& slot) const {
    return slot.beside || slot.above.empty() || slot.below.empty();
  }

  // Returns the preferred position of a slot: above or below the centre of its neighbours on one
  // side. Slots outside of the main flow follow their neighbours on the side on which they have
  // any, and do not influence the positions of others.
  double PreferredX(const Slot& slot, bool look_up) const {
    const bool none = (look_up ? slot.above : slot.below).empty() || slot.beside;
    const bool up = slot.beside ? false : look_up != none;
    const std::vector<size_t>& others = up ? slot.above : slot.below;
    double sum = 0, pull = 0, pull_count = 0;
    for (size_t other : others) {
      sum += slots_[other].x;
      if (none || IsAside(slots_[other])) continue;
      pull += slots_[other].x;
      ++pull_count;
    }
    if (pull_count > 0) return pull / pull_count;
    return others.empty() ? slot.x : sum / static_cast<double>(others.size());
  }

  // Positions one layer: sorts by preference, separates overlapping slots, then shifts all so that
  // the mean displacement of those in the main flow is zero. Slots at the graph's ends go to the
  // right of these: between them they would push lines further apart with every layer.
  void PlaceLayer(std::vector<size_t>* layer, bool look_up) {
    std::vector<std::tuple<bool, double, size_t>> preferences;
    for (size_t slot : *layer) {
      preferences.emplace_back(IsAside(slots_[slot]), PreferredX(slots_[slot], look_up), slot);
    }
    std::sort(preferences.begin(), preferences.end());
    double shift = 0, all_shift = 0, middle_count = 0;
    for (size_t i = 0; i < preferences.size(); ++i) {
      const auto& [aside, preferred, number] = preferences[i];
      Slot& slot = slots_[number];
      slot.x = preferred;
      if (i > 0) {
        const Slot& left = slots_[(*layer)[i - 1]];
        slot.x = std::max(slot.x, left.x + (left.width + slot.width) / 2 + sizes_.gap_x);
      }
      all_shift += preferred - slot.x;
      if (!aside) shift += preferred - slot.x;
      middle_count += aside ? 0 : 1;
      (*layer)[i] = number;
    }
    shift =
        middle_count > 0 ? shift / middle_count : all_shift / static_cast<double>(layer->size());
    for (size_t slot : *layer) slots_[slot].x += shift;
  }

  void Place() {
    for (const Slot& slot : slots_) layer_count_ = std::max(layer_count_, slot.layer + 1);
    std::vector<std::vector<size_t>> layers(layer_count_);
    for (size_t i = 0; i < slots_.size(); ++i) layers[slots_[i].layer].push_back(i);
    for (int pass = 0; pass < 4; ++pass) {
      for (auto& layer : layers) PlaceLayer(&layer, true);
      if (pass == 3) break;  // the last pass is downwards
      for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
        PlaceLayer(&*layer, false);
    }
  }

  // A range of layers whose slots cover `left` to `right` and are drawn `shift` further to the
  // right. Lines to other columns go up in the gutter to its right.
  struct Column {
    double left = 0, right = 0, shift = 0;
    size_t lanes = 0;
  };

  size_t ColumnOf(size_t slot) const { return slots_[slot].layer / rows_; }
  double Step() const { return sizes_.box_height + sizes_.gap_y; }

  // Chooses the number of columns for which the width is about 1.5 times the height. The width is
  // only known after cutting, since graphs drift to one side.
  void CutIntoColumns() {
    const size_t max_count =
        layer_count_ < kDeep ? 1 : std::min(kMaxColumns, layer_count_ / kMinRows);
    for (size_t count = 1; count <= max_count; ++count) {
      Cut(count);
      const Column& last = columns_.back();
      const double height = static_cast<double>(rows_) * Step() + 2 * Margin();
      if (last.right + last.shift >= kAspect * height) return;
    }
  }

  void Cut(size_t count) {
    rows_ = std::max<size_t>(1, CeilDiv(layer_count_, count));
    columns_.assign(layer_count_ == 0 ? 1 : (layer_count_ - 1) / rows_ + 1, Column());
    std::vector<bool> begun(columns_.size(), false);
    for (size_t i = 0; i < slots_.size(); ++i) {
      Column& column = columns_[ColumnOf(i)];
      const double edge = slots_[i].x - slots_[i].width / 2;
      const double other = edge + slots_[i].width;
      column.left = begun[ColumnOf(i)] ? std::min(column.left, edge) : edge;
      column.right = begun[ColumnOf(i)] ? std::max(column.right, other) : other;
      begun[ColumnOf(i)] = true;
    }
    for (const std::vector<size_t>& path : paths_) {
      for (size_t i = 1; i < path.size(); ++i) {
        Column& column = columns_[ColumnOf(path[i - 1])];
        if (ColumnOf(path[i - 1]) != ColumnOf(path[i])) ++column.lanes;
      }
    }
    double at = 0;
    for (Column& column : columns_) {
      column.shift = at - column.left;
      const auto lanes = static_cast<double>(std::min(column.lanes, kMaxLanes));
      at += column.right - column.left + kGutter + kLane * lanes;
    }
  }

  // Returns the space above and below the columns for the lines between them.
  double Margin() const {
    return columns_.size() == 1 ? 0 : kCorner + kLane * static_cast<double>(kMaxLanes);
  }

  GraphLayout::Point Top(size_t slot) const {
    return {slots_[slot].x + columns_[ColumnOf(slot)].shift,
            Margin() + static_cast<double>(slots_[slot].layer % rows_) * Step()};
  }

  // Routes a line down to the foot of the column, up in the gutter to its right, and down into the
  // next column.
  void RouteToColumn(size_t above, size_t below, size_t lane,
                     std::vector<GraphLayout::Point>* points) const {
    const Column& column = columns_[ColumnOf(above)];
    const double aside = kCorner + kLane * static_cast<double>(lane % kMaxLanes);
    const double gutter = column.right + column.shift + aside;
    const double foot = Margin() + static_cast<double>(rows_) * Step() - sizes_.gap_y + aside;
    const double head = Margin() - aside;
    points->push_back({Top(above).x, foot});
    points->push_back({gutter, foot});
    points->push_back({gutter, head});
    points->push_back({Top(below).x, head});
  }

  GraphLayout Result() {
    CutIntoColumns();
    GraphLayout result;
    for (size_t i = 0; i < box_count_; ++i) result.boxes.push_back(Top(i));
    std::vector<size_t> lanes(columns_.size(), 0);
    for (const std::vector<size_t>& path : paths_) {
      std::vector<GraphLayout::Point> points;
      for (size_t i = 0; i < path.size(); ++i) {
        GraphLayout::Point point = Top(path[i]);
        if (i > 0) points.push_back(point);
        point.y += sizes_.box_height;
        if (i + 1 == path.size()) continue;
        points.push_back(point);
        const size_t column = ColumnOf(path[i]);
        if (column != ColumnOf(path[i + 1]))
          RouteToColumn(path[i], path[i + 1], lanes[column]++, &points);
      }
      result.lines.push_back(std::move(points));
    }
    const Column& last = columns_.back();
    result.width = last.right + last.shift;
    result.height =
        layer_count_ == 0 ? 0 : static_cast<double>(rows_) * Step() - sizes_.gap_y + 2 * Margin();
    return result;
  }

  const size_t box_count_;
  const std::vector<std::pair<size_t, size_t>>& lines_;
  const LayoutSizes sizes_;
  std::vector<Slot> slots_;  // all boxes, then the slots of lines
  std::vector<std::vector<size_t>> paths_;
  size_t layer_count_ = 0;
  size_t rows_ = 1;  // layers per column
  std::vector<Column> columns_;
};

}  // namespace

GraphLayout LayOut(const std::vector<bool>& beside,
                   const std::vector<std::pair<size_t, size_t>>& lines, const LayoutSizes& sizes) {
  return Layout(beside, lines, sizes).Run();
}

}  // namespace deputy::tools
