// SPDX-License-Identifier: Apache-2.0
#include "core/exec/row_steps.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace deputy {
namespace {

// Nodes that may make a step: the first `ends` of them do, if there are two or more.
struct Group {
  int64_t rows = 0;
  std::vector<int> nodes;
  size_t ends = 0;
  int head = -1;  // of those
};

class RowPass {
 public:
  RowPass(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
          const std::vector<Step>& steps)
      : nodes_(nodes),
        tensors_(tensors),
        maker_(MakersOf(nodes, tensors.size())),
        taken_(nodes.size()) {
    for (const Step& step : steps) Take(step.nodes);
  }

  void Run(std::vector<Step>* out) {
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n) {
      if (!CanJoin(n) || RowsFrom(n) <= 0) continue;
      Group group = Grow(n);
      group.nodes.resize(group.ends);
      if (group.nodes.size() < 2) continue;
      Step step = StepOf(group);
      if (step.run.rows.ops.size() < 2 || RowBytes(step.run.rows) > kMaxRowBytes) continue;
      Take(group.nodes);
      out->push_back(std::move(step));
    }
  }

 private:
  const StepNode& NodeAt(int n) const { return nodes_[static_cast<size_t>(n)]; }
  const StepTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }
  const RowOffer& OfferOf(int n) const { return NodeAt(n).offer->by_rows; }
  bool IsProduct(int n) const { return OfferOf(n).kind == RowKind::kProduct; }
  int OutputOf(int n) const { return NodeAt(n).outputs[0]; }

  void Take(std::span<const int> nodes) {
    for (int n : nodes) taken_[static_cast<size_t>(n)] = true;
  }

  bool CanJoin(int n) const {
    const StepNode& node = NodeAt(n);
    if (taken_[static_cast<size_t>(n)] || node.offer == nullptr ||
        node.offer->by_rows.kernel == nullptr || node.inputs.empty() || node.inputs[0] < 0 ||
        node.outputs.size() != 1 || OutputOf(n) < 0) {
      return false;
    }
    const StepTensor& output = TensorAt(OutputOf(n));
    const auto can_be_read = [this](int tensor) { return tensor < 0 || !TensorAt(tensor).fixed; };
    return !output.fixed && !output.lasting && output.elements > 0 &&
           std::all_of(node.inputs.begin(), node.inputs.end(), can_be_read);
  }

  // The rows of a step that begins with the node; 0 if none does.
  int64_t RowsFrom(int n) const {
    const StepTensor& output = TensorAt(OutputOf(n));
    if (OfferOf(n).kind == RowKind::kFold) return output.elements;
    return IsProduct(n) && output.channels > 0 ? output.elements / output.channels : 0;
  }

  // What the node's output has in each of so many rows; 0 if it has no such rows.
  int64_t ColumnsOf(int tensor, int64_t rows) const {
    const int64_t elements = TensorAt(tensor).elements;
    return elements % rows == 0 ? elements / rows : 0;
  }

  // Nodes from the first on, as far as they can be computed together.
  Group Grow(int first) const {
    Group group = {.rows = RowsFrom(first), .nodes = {first}, .ends = 1};
    // Readers to come of what the step makes.
    std::map<int, int> readers = {{OutputOf(first), TensorAt(OutputOf(first)).readers}};
    const int end = static_cast<int>(
        std::min<size_t>(nodes_.size(), static_cast<size_t>(first + kMaxStepSpan)));
    int head = IsProduct(first) ? first : -1;
    bool waits = false;  // for what is made behind the head
    for (int n = first + 1; n < end; ++n) {
      if (!CanJoin(n) || !Follows(n, group.rows, readers)) continue;
      if (IsProduct(n)) {
        head = n;
        waits = false;
      }
      for (int tensor : NodeAt(n).inputs) {
        const auto made = readers.find(tensor);
        if (made != readers.end()) {
          --made->second;
        } else {
          waits = waits || !IsThereFor(head, tensor);
        }
      }
      group.nodes.push_back(n);
      readers[OutputOf(n)] = TensorAt(OutputOf(n)).readers;
      if (head >= 0 && !waits && LeavesOne(readers, OutputOf(n))) {
        group.ends = group.nodes.size();
        group.head = head;
      }
    }
    return group;
  }

  // Without a head yet, the node will run at its place or behind it.
  bool IsThereFor(int head, int tensor) const {
    return head < 0 || tensor < 0 || maker_[static_cast<size_t>(tensor)] < head;
  }

  // Whether the node computes rows from those that have been made.
  bool Follows(int n, int64_t rows, const std::map<int, int>& made) const {
    const std::span<const int> inputs = NodeAt(n).inputs;
    bool any = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (made.count(inputs[i]) == 0) continue;
      if (i >= kMaxMadeInputs || !Reads(n, i, rows)) return false;
      any = true;
    }
    return any;
  }

  // Whether those rows of its i-th input are the ones that the node needs for its output's.
  bool Reads(int n, size_t i, int64_t rows) const {
    const RowOffer& offer = OfferOf(n);
    const int input = NodeAt(n).inputs[i], output = OutputOf(n);
    const int64_t columns = ColumnsOf(input, rows), out_columns = ColumnsOf(output, rows);
    if (columns == 0 || out_columns == 0 || out_columns > INT32_MAX) return false;
    const auto has = [i](uint32_t bits) { return (bits >> i & 1) != 0; };
    switch (offer.kind) {
      case RowKind::kElements:
        return has(offer.made_inputs) ||
               (has(offer.row_values) && columns == 1 && out_columns == TensorAt(output).channels);
      case RowKind::kFold:
        return has(offer.made_inputs) && columns == TensorAt(input).channels && out_columns == 1;
      default:
        return has(offer.made_inputs) && columns == TensorAt(input).channels &&
               out_columns == TensorAt(output).channels;
    }
  }

  static bool LeavesOne(const std::map<int, int>& readers, int newest) {
    return std::all_of(readers.begin(), readers.end(), [newest](const auto& value) {
      return value.first == newest || value.second == 0;
    });
  }

  Step StepOf(const Group& group) const {
    Step step = {.head = group.head, .nodes = group.nodes, .run = {}};
    step.run.output = OutputOf(group.nodes.back());
    step.run.rows = ProgramOf(group);
    return step;
  }

  // ---- Slots ------------------------------------------------------------------------------------

  // What the step makes, under the names of all tensors that have these rows.
  struct Value {
    int slot = -1;
    int columns = 0;
    int left = 0;  // readers to come
  };

  // Where rows stay rows, there is nothing to compute.
  bool Renames(int n) const { return OfferOf(n).kernel->rows == nullptr; }

  // Empty where the nodes compute too little together.
  RowProgram ProgramOf(const Group& group) const {
    const std::vector<int>& nodes = group.nodes;
    RowProgram program;
    program.rows = group.rows;
    std::vector<Value> values;
    std::map<int, size_t> value_of;  // by tensor
    std::vector<bool> used;
    int last = nodes.front();
    for (int n : nodes) {
      if (!Renames(n)) last = n;
    }
    for (int n : nodes) {
      const int output = OutputOf(n), readers = TensorAt(output).readers;
      if (Renames(n)) {
        const size_t value = value_of.at(NodeAt(n).inputs[0]);
        values[value].left += readers - 1;
        value_of[output] = value;
        continue;
      }
      RowOp op = {.node = n, .kernel = OfferOf(n).kernel, .is_product = IsProduct(n)};
      op.out_columns = static_cast<int>(ColumnsOf(output, group.rows));
      std::vector<int> freed;
      for (size_t i = 0; i < NodeAt(n).inputs.size(); ++i) {
        const auto made = value_of.find(NodeAt(n).inputs[i]);
        if (made == value_of.end()) continue;
        Value& value = values[made->second];
        op.made[i] = value.slot;
        op.made_columns[i] = value.columns;
        if (--value.left == 0) freed.push_back(value.slot);
      }
      // Where an input was, unless that is still needed.
      if (!op.is_product) Free(freed, &used);
      if (n != last) op.out = PlaceFor(op.out_columns, &used, &program.slot_columns);
      if (op.is_product) Free(freed, &used);
      value_of[output] = values.size();
      values.push_back({op.out, op.out_columns, readers});
      program.ops.push_back(op);
    }
    // The last that computes makes the output, unless nobody reads what it makes.
    const bool is_output = values[value_of.at(OutputOf(nodes.back()))].slot < 0;
    return is_output ? program : RowProgram();
  }

  static void Free(const std::vector<int>& slots, std::vector<bool>* used) {
    for (int slot : slots) (*used)[static_cast<size_t>(slot)] = false;
  }

  // A slot for rows of so many columns. Others' do not fit: some rows of a value may be made while
  // others of an earlier one are still to come.
  static int PlaceFor(int columns, std::vector<bool>* used, std::vector<int>* slot_columns) {
    size_t slot = 0;
    while (slot < used->size() && ((*used)[slot] || (*slot_columns)[slot] != columns)) ++slot;
    if (slot == used->size()) {
      used->push_back(false);
      slot_columns->push_back(columns);
    }
    (*used)[slot] = true;
    return static_cast<int>(slot);
  }

  static int64_t RowBytes(const RowProgram& program) {
    int64_t bytes = 0;
    for (int columns : program.slot_columns) bytes += int64_t{columns} * int64_t{sizeof(float)};
    return bytes;
  }

  std::span<const StepNode> nodes_;
  std::span<const StepTensor> tensors_;
  std::vector<int> maker_;   // by tensor: the last node that makes it
  std::vector<bool> taken_;  // by node: in a step
};

}  // namespace

void AddRowSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
                 std::vector<Step>* steps) {
  RowPass(nodes, tensors, *steps).Run(steps);
  std::sort(steps->begin(), steps->end(),
            [](const Step& a, const Step& b) { return a.head < b.head; });
}

std::vector<StepRead> RowReadsOf(const RowProgram& rows, std::span<const StepNode> nodes) {
  std::vector<StepRead> reads;
  for (const RowOp& op : rows.ops) {
    const std::span<const int> inputs = nodes[static_cast<size_t>(op.node)].inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_made = i < kMaxMadeInputs && op.made[i] >= 0;
      if (inputs[i] >= 0 && !is_made) reads.push_back({inputs[i], false});
    }
  }
  return reads;
}

}  // namespace deputy
