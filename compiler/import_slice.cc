// SPDX-License-Identifier: Apache-2.0
//
// Imports SLICE, STRIDED_SLICE and DYNAMIC_UPDATE_SLICE.
#include <algorithm>
#include <optional>

#include "compiler/copy.h"
#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

using Ints = std::vector<int>;

bool ImportSlice(NodeImport* node) {
  Ints begin, size;
  if (!node->CheckInputs(3, 3) || !node->ReadInts(1, &begin) || !node->ReadInts(2, &size)) {
    return false;
  }
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  if (begin.size() != shape.size() || size.size() != shape.size()) {
    return node->Refuse(kDeputyReasonParameter, "expected a number per axis");
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (size[axis] == -1 && begin[axis] >= 0) size[axis] = shape[axis] - begin[axis];
    if (begin[axis] < 0 || size[axis] < 0 || begin[axis] > shape[axis] - size[axis]) {
      return node->Refuse(kDeputyReasonParameter, "the slice exceeds axis %zu", axis);
    }
  }
  const Ints zeros(shape.size(), 0);
  const CopyRegion region = RegionOf({0, size, begin, zeros, {}, {}}, shape, size);
  return node->SetOutput(0, node->Add(Copy{{region}, {}}, {from}, node->value(from).type, size));
}

// ---- STRIDED_SLICE ------------------------------------------------------------------------------

bool Bit(int mask, size_t n) { return n < 31 && (mask >> n & 1) != 0; }

// Selected elements along one axis of the input: first index, step, and count.
struct AxisRange {
  int start = 0, step = 1, extent = 0;
};

// One entry of the begin, end and strides vectors. `begin` and `end` are nullopt if the entry's
// mask bit is set, which disables them.
struct Entry {
  std::optional<int64_t> begin, end;
  int64_t step = 1;
  bool end_is_length = false;  // `end` is relative to the start
};

AxisRange Resolve(const Entry& entry, int64_t extent) {
  const bool up = entry.step > 0;
  const int64_t lowest = up ? 0 : -1, highest = up ? extent : extent - 1;
  const auto clamped = [&](int64_t index) {
    return std::clamp(index < 0 ? index + extent : index, lowest, highest);
  };
  const int64_t start = entry.begin ? clamped(*entry.begin) : (up ? lowest : highest);
  const int64_t stop =
      entry.end ? clamped(*entry.end + (entry.end_is_length ? start : 0)) : (up ? highest : lowest);
  const int64_t count = (stop - start + entry.step + (up ? -1 : 1)) / entry.step;
  // With at most one element the step is irrelevant.
  return {static_cast<int>(start), count > 1 ? static_cast<int>(entry.step) : 1,
          static_cast<int>(std::max<int64_t>(count, 0))};
}

// Evaluates the options of STRIDED_SLICE from the first axis to the last.
class StridedSlice {
 public:
  StridedSlice(NodeImport* node, Shape shape, Ints begin, Ints end, Ints steps)
      : node_(node),
        params_(node->params<TfLiteStridedSliceParams>()),
        shape_(std::move(shape)),
        begin_(std::move(begin)),
        end_(std::move(end)),
        steps_(std::move(steps)) {}

  bool Read() {
    for (size_t n = 0; n < begin_.size(); ++n) {
      if (Bit(params_.ellipsis_mask, n) && !ellipsis_) {
        ellipsis_ = true;
        AddWholeAxes(RemainingAxes(n));
      } else if (Bit(params_.new_axis_mask, n)) {
        result_.push_back(1);
      } else if (!ReadAxis(n)) {
        return false;
      }
    }
    AddWholeAxes(0);
    return true;
  }

  // Return the selected box of the input, and the shape of the output, which is that of the box
  // with axes removed and added.
  const Box& box() const { return box_; }
  const Shape& result() const { return result_; }

 private:
  // Returns the number of input axes that the entries after the n-th refer to.
  size_t RemainingAxes(size_t n) const {
    size_t count = 0;
    for (size_t i = n + 1; i < begin_.size(); ++i) {
      if (!Bit(params_.new_axis_mask, i)) ++count;
    }
    return count;
  }

  void AddWholeAxes(size_t except) {
    while (box_.extents.size() + except < shape_.size()) {
      const int extent = shape_[box_.extents.size()];
      AddAxis({0, 1, extent});
      result_.push_back(extent);
    }
  }

  void AddAxis(const AxisRange& range) {
    box_.extents.push_back(range.extent);
    box_.from_start.push_back(range.start);
    box_.from_steps.push_back(range.step);
    box_.to_start.push_back(0);
  }

  bool ReadAxis(size_t n) {
    const size_t axis = box_.extents.size();
    if (axis >= shape_.size())
      return node_->Refuse(kDeputyReasonParameter, "more entries than the input has axes");
    const int extent = shape_[axis];
    if (steps_[n] == 0)
      return node_->Refuse(kDeputyReasonParameter, "expected strides other than 0");
    Entry entry;
    entry.step = steps_[n];
    entry.end_is_length = params_.offset;
    if (!Bit(params_.begin_mask, n)) entry.begin = begin_[n];
    if (!Bit(params_.end_mask, n)) entry.end = end_[n];
    const AxisRange range = Resolve(entry, extent);
    if (Bit(params_.shrink_axis_mask, n)) {
      if (extent == 0 || entry.begin.value_or(0) >= extent) {
        return node_->Refuse(kDeputyReasonParameter, "index %d is out of range for axis %zu",
                             begin_[n], axis);
      }
      // An index before the first element selects the first, as in TensorFlow Lite.
      AddAxis({std::max(range.start, 0), 1, 1});
      return true;
    }
    AddAxis(range);
    result_.push_back(range.extent);
    return true;
  }

  NodeImport* const node_;
  const TfLiteStridedSliceParams& params_;
  const Shape shape_;
  const Ints begin_, end_, steps_;
  bool ellipsis_ = false;  // an ellipsis occurred; a further one is an ordinary entry
  Box box_;
  Shape result_;
};

bool ImportStridedSlice(NodeImport* node) {
  Ints begin, end, steps;
  if (!node->CheckInputs(4, 4) || !node->ReadInts(1, &begin) || !node->ReadInts(2, &end) ||
      !node->ReadInts(3, &steps)) {
    return false;
  }
  if (end.size() != begin.size() || steps.size() != begin.size()) {
    return node->Refuse(kDeputyReasonParameter, "the lengths of begin, end and strides differ");
  }
  const ValueId from = node->Input(0);
  const Shape shape = node->shape(from);
  StridedSlice slice(node, shape, begin, end, steps);
  if (!slice.Read()) return false;
  const Shape& extents = slice.box().extents;
  const CopyRegion region = RegionOf(slice.box(), shape, extents);
  const ValueId box = node->Add(Copy{{region}, {}}, {from}, node->value(from).type, extents);
  return node->SetOutput(0, node->AddView(box, slice.result()));
}

// ---- DYNAMIC_UPDATE_SLICE -----------------------------------------------------------------------

// Partitions the space around a box into boxes: along each axis the parts before and after the box,
// with the box's extents along the earlier axes.
std::vector<CopyRegion> Around(const Ints& start, const Shape& extents, const Shape& outer) {
  std::vector<CopyRegion> regions;
  Ints corner(outer.size(), 0);
  Shape size = outer;
  const auto add = [&](size_t axis, int first, int extent) {
    if (extent <= 0) return;
    Ints from = corner;
    Shape part = size;
    from[axis] = first;
    part[axis] = extent;
    regions.push_back(RegionOf({0, part, from, from, {}, {}}, outer, outer));
  };
  for (size_t axis = 0; axis < outer.size(); ++axis) {
    const int after = start[axis] + extents[axis];
    add(axis, 0, start[axis]);
    add(axis, after, outer[axis] - after);
    corner[axis] = start[axis];
    size[axis] = extents[axis];
  }
  return regions;
}

bool ImportDynamicUpdateSlice(NodeImport* node) {
  Ints start;
  if (!node->CheckInputs(3, 3) || !node->ReadInts(2, &start)) return false;
  const ValueId base = node->Input(0), update = node->Input(1);
  const Shape to = node->shape(base), from = node->shape(update);
  if (!node->CheckType(1, {node->input_tensor(0).type})) return false;
  if (from.size() != to.size() || start.size() != to.size()) {
    return node->Refuse(kDeputyReasonShape, "the numbers of axes differ");
  }
  for (size_t axis = 0; axis < to.size(); ++axis) {
    if (from[axis] > to[axis])
      return node->RefuseInput(1, kDeputyReasonShape, "the update is larger than the input");
    start[axis] = std::clamp(start[axis], 0, to[axis] - from[axis]);
  }
  Copy copy;
  copy.regions = Around(start, from, to);
  copy.regions.push_back(RegionOf({1, from, Ints(to.size(), 0), start, {}, {}}, from, to));
  return node->SetOutput(0, node->Add(std::move(copy), {base, update}, node->value(base).type, to));
}

constexpr ImportRow kSliceRows[] = {
    {"DYNAMIC_UPDATE_SLICE", kTfLiteBuiltinDynamicUpdateSlice, 6, &ImportDynamicUpdateSlice, true},
    {"SLICE", kTfLiteBuiltinSlice, 8, &ImportSlice, true},
    {"STRIDED_SLICE", kTfLiteBuiltinStridedSlice, 8, &ImportStridedSlice, true},
};

}  // namespace

std::span<const ImportRow> SliceRows() { return kSliceRows; }

}  // namespace deputy::compiler
