// SPDX-License-Identifier: Apache-2.0
#include "core/exec/row_steps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace deputy {
namespace {

// Rows that are not those of a product are to be worth a function's call.
constexpr int64_t kFewestColumns = 8;

// A value that a step makes: rows in whose memory the elements of a tensor lie like this.
struct MadeRows {
  int readers = 0;  // to come
  StridedShape shape;
};

// Nodes that may make a step: the first `ends` of them do, if there are several.
struct Group {
  int64_t rows = 0;
  // Rows are those of the input of the TRANSPOSE that it begins with, which so moves nothing.
  bool keeps_order = false;
  // It is worth nothing unless two TRANSPOSEs in it undo each other.
  bool needs_pair = false;
  std::vector<int> nodes = {};
  size_t ends = 0;
  int head = -1;                      // of those
  int stores = -1;                    // the product whose rows the last TRANSPOSE would move
  std::map<int, MadeRows> made = {};  // by tensor
};

// What TRANSPOSEs make for a product, which reads from where it was.
struct Strided {
  StridedInput input;
  std::vector<int> nodes;
};

class RowPass {
 public:
  RowPass(std::span<const StepNode> nodes, std::span<const StepTensor> tensors,
          const std::vector<Step>& steps)
      : nodes_(nodes),
        tensors_(tensors),
        maker_(MakersOf(nodes, tensors.size())),
        reader_(tensors.size(), -1),
        taken_(nodes.size()) {
    for (const Step& step : steps) Take(step.nodes);
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (int tensor : nodes[n].inputs) {
        if (tensor >= 0) reader_[static_cast<size_t>(tensor)] = static_cast<int>(n);
      }
    }
  }

  void Run(std::vector<Step>* out) {
    const int count = static_cast<int>(nodes_.size());
    for (int n = 0; n < count; ++n) {
      if (CanJoin(n) && IsProduct(n)) FindStrided(n);
      if (CanJoin(n) && IsMove(n)) moves_.push_back(n);
    }
    for (int n = 0; n < count; ++n) {
      if (!CanJoin(n)) continue;
      if (AddStep(GroupInOrder(n), out) || AddStep(GroupOfRows(n), out)) continue;
      // What would be read in steps is not there for a product that runs alone.
      if (strided_.count(n) != 0) AddStep(GroupOf(n), out);
    }
  }

 private:
  bool AddStep(Group group, std::vector<Step>* out) {
    group.nodes.resize(group.ends);
    if (group.nodes.empty()) return false;
    Step step = StepOf(group);
    if (step.run.rows.ops.empty() || step.nodes.size() < 2 ||
        RowBytes(step.run.rows) > kMaxRowBytes) {
      return false;
    }
    // One that computes gains by what it need not move.
    const auto moves = std::count_if(step.nodes.begin(), step.nodes.end(),
                                     [this](int node) { return IsMove(node); });
    if (step.run.rows.ops.size() < 2 && moves < (IsProduct(step.head) ? 1 : 2)) return false;
    Take(step.nodes);
    out->push_back(std::move(step));
    return true;
  }

  const StepNode& NodeAt(int n) const { return nodes_[static_cast<size_t>(n)]; }
  const StepTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }
  const RowOffer& OfferOf(int n) const { return NodeAt(n).offer->by_rows; }
  bool IsProduct(int n) const { return OfferOf(n).kind == RowKind::kProduct; }
  bool IsMove(int n) const { return OfferOf(n).kind == RowKind::kMoves; }
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

  // ---- What products read in steps --------------------------------------------------------------

  void FindStrided(int n) {
    for (int i = 0; i < kMaxMadeInputs; ++i) {
      if ((OfferOf(n).strided_inputs >> i & 1) == 0) continue;
      Strided strided = StridedBehind(n, NodeAt(n).inputs[static_cast<size_t>(i)]);
      if (strided.nodes.empty()) continue;
      Take(strided.nodes);
      strided_[n][i] = std::move(strided);
    }
  }

  // From the tensor back through TRANSPOSEs and RESHAPEs that only this product reads.
  Strided StridedBehind(int n, int tensor) const {
    std::vector<int> chain;
    int from = tensor;
    while (from >= 0 && TensorAt(from).readers == 1) {
      const int maker = maker_[static_cast<size_t>(from)];
      if (maker < 0 || maker > n || n - maker > kMaxStepSpan || !CanJoin(maker) ||
          !(IsMove(maker) || IsReshape(maker))) {
        break;
      }
      chain.push_back(maker);
      from = NodeAt(maker).inputs[0];
    }
    // As many of them as can be undone, those next to the product first.
    for (; !chain.empty(); chain.pop_back()) {
      if (!IsMove(chain.back())) continue;
      from = NodeAt(chain.back()).inputs[0];
      std::optional<StridedShape> shape = StridedShape::Dense(TensorAt(from).dims);
      for (size_t i = chain.size(); shape && i-- > 0;) {
        shape = IsMove(chain[i]) ? shape->Transposed(OfferOf(chain[i]).axes)
                                 : shape->Reshaped(TensorAt(OutputOf(chain[i])).dims);
      }
      if (shape) return {{from, *shape}, chain};
    }
    return {};
  }

  // ---- Growth -----------------------------------------------------------------------------------

  // The rows of a step that begins with the node; 0 if none does.
  int64_t RowsFrom(int n) const {
    const StepTensor& output = TensorAt(OutputOf(n));
    if (OfferOf(n).kind == RowKind::kFold) return output.elements;
    if (IsMove(n)) return RowsBehind(n);
    return IsProduct(n) ? RowsOf(OutputOf(n)) : 0;
  }

  int64_t RowsOf(int tensor) const {
    const StepTensor& value = TensorAt(tensor);
    return value.channels > 0 ? value.elements / value.channels : 0;
  }

  // Those of what RESHAPEs make of a TRANSPOSE's output, if they are rows of that, too.
  int64_t RowsBehind(int n) const {
    int tensor = OutputOf(n);
    for (int hops = 0; hops < kMaxStepSpan && TensorAt(tensor).readers == 1; ++hops) {
      const int reader = reader_[static_cast<size_t>(tensor)];
      if (reader < 0 || !CanJoin(reader) || !IsReshape(reader)) break;
      tensor = OutputOf(reader);
    }
    const int64_t rows = RowsOf(tensor);
    if (TensorAt(tensor).channels < kFewestColumns) return 0;
    return rows > 0 && GathersRows(GatheredBy(n), ShapeOf(OutputOf(n)), rows) ? rows : 0;
  }

  // The node alone, which makes rows of its output.
  Group GroupOf(int n) const {
    Group group = {.rows = RowsFrom(n)};
    if (group.rows <= 0) return group;
    group.nodes = {n};
    group.ends = 1;
    group.head = IsProduct(n) || IsMove(n) ? n : -1;
    return group;
  }

  // From a product, a MEAN, or a TRANSPOSE that gathers rows.
  Group GroupOfRows(int n) const {
    Group group = GroupOf(n);
    if (group.nodes.empty()) return group;
    group.made[OutputOf(n)] = {TensorAt(OutputOf(n)).readers, ShapeOf(OutputOf(n))};
    Grow(&group);
    if (group.ends < 2 && strided_.count(n) == 0) group.ends = 0;
    return group;
  }

  // From a node that computes elements, or a TRANSPOSE, where elements that have been moved return
  // to their places: they stay there.
  Group GroupInOrder(int n) const {
    Group group = {.keeps_order = IsMove(n), .needs_pair = true};
    if (!IsMove(n) && (OfferOf(n).kind != RowKind::kElements || IsReshape(n))) return group;
    // Most have no two of them in reach.
    const auto next = std::lower_bound(moves_.begin(), moves_.end(), n);
    if (moves_.end() - next < 2 || next[1] - n >= kMaxStepSpan) return group;
    const int rows_of = IsMove(n) ? NodeAt(n).inputs[0] : OutputOf(n);
    group.rows = RowsOf(rows_of);
    if (group.rows <= 0 || TensorAt(rows_of).channels < kFewestColumns) return group;
    const StridedShape shape = IsMove(n) ? GatheredBy(n) : ShapeOf(rows_of);
    if (IsMove(n) && shape.IsDense()) return group;
    group.nodes = {n};
    group.head = IsMove(n) ? n : -1;
    group.made[OutputOf(n)] = {TensorAt(OutputOf(n)).readers, shape};
    Grow(&group);
    return group;
  }

  // Where the elements of its output come from, in their order.
  StridedShape GatheredBy(int n) const {
    return ShapeOf(NodeAt(n).inputs[0]).Transposed(OfferOf(n).axes);
  }

  // Whether so many rows of a dense tensor are whole axes, whose elements lie elsewhere side by
  // side: along rows, or along several that are gathered together.
  static bool GathersRows(const StridedShape& lies, const StridedShape& dense, int64_t rows) {
    constexpr int64_t kMaxTurnedColumns = 192;
    int64_t elements = 1;
    for (int axis = 0; axis < dense.rank; ++axis) elements *= dense.dims[axis];
    const int64_t columns = elements / rows;
    if (dense.AxesBeforeRows(columns) < 0) return false;
    int last = lies.rank - 1;
    while (last >= 0 && lies.dims[last] == 1) --last;
    return last < 0 || lies.steps[last] == 1 || columns <= kMaxTurnedColumns;
  }

  // Elements one behind the other.
  StridedShape ShapeOf(int tensor) const {
    return StridedShape::Dense(TensorAt(tensor).dims).value_or(StridedShape());
  }

  // What the node's output has in each of so many rows; 0 if it has no such rows.
  int64_t ColumnsOf(int tensor, int64_t rows) const {
    const int64_t elements = TensorAt(tensor).elements;
    return elements % rows == 0 ? elements / rows : 0;
  }

  // Adds nodes behind those of the group, as far as they can be computed together.
  void Grow(Group* group) const {
    const int first = group->nodes.front();
    const int end = static_cast<int>(
        std::min<size_t>(nodes_.size(), static_cast<size_t>(first + kMaxStepSpan)));
    int head = group->head, moves = IsMove(first) && group->keeps_order ? 1 : 0;
    bool waits = false;  // for what is made behind the head
    for (int n = first + 1; n < end; ++n) {
      if (!CanJoin(n)) continue;
      const std::optional<StridedShape> shape = ShapeBehind(n, *group);
      if (!shape) continue;
      if (IsProduct(n) || (IsMove(n) && (head < 0 || !IsProduct(head)))) {
        head = n;
        waits = false;
      }
      for (int tensor : NodeAt(n).inputs) {
        const auto made = group->made.find(tensor);
        if (made != group->made.end()) {
          --made->second.readers;
        } else {
          waits = waits || !IsThereFor(head, tensor);
        }
      }
      group->nodes.push_back(n);
      group->made[OutputOf(n)] = {TensorAt(OutputOf(n)).readers, *shape};
      moves += IsMove(n) ? 1 : 0;
      if (head < 0 || waits || !LeavesOne(group->made, OutputOf(n))) continue;
      const int stores = shape->IsDense() || group->needs_pair ? -1 : StoreOf(*group);
      if ((!shape->IsDense() && stores < 0) || (group->needs_pair && moves < 2)) continue;
      group->ends = group->nodes.size();
      group->head = head;
      group->stores = stores;
    }
  }

  // Without a head yet, the node will run at its place or behind it.
  bool IsThereFor(int head, int tensor) const {
    return head < 0 || tensor < 0 || maker_[static_cast<size_t>(tensor)] < head;
  }

  // Where the elements of the node's output are if it computes rows from those that have been made;
  // none if it does not.
  std::optional<StridedShape> ShapeBehind(int n, const Group& group) const {
    const std::span<const int> inputs = NodeAt(n).inputs;
    std::optional<StridedShape> shape;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto made = group.made.find(inputs[i]);
      if (made == group.made.end()) continue;
      if (i >= kMaxMadeInputs) return std::nullopt;
      shape = made->second.shape.IsDense() || IsMove(n) || OfferOf(n).kind == RowKind::kPart
                  ? ShapeOfRows(n, i, group.rows, made->second.shape)
                  : ShapeOfMoved(n, made->second.shape, group);
      if (!shape) return std::nullopt;
    }
    return shape;
  }

  // If those rows of its i-th input are the ones that the node needs for its output's.
  std::optional<StridedShape> ShapeOfRows(int n, size_t i, int64_t rows,
                                          const StridedShape& shape) const {
    const RowOffer& offer = OfferOf(n);
    const int input = NodeAt(n).inputs[i], output = OutputOf(n);
    const int64_t columns = ColumnsOf(input, rows), out_columns = ColumnsOf(output, rows);
    if (columns == 0 || out_columns == 0 || out_columns > INT32_MAX) return std::nullopt;
    const auto has = [i](uint32_t bits) { return (bits >> i & 1) != 0; };
    bool reads = has(offer.made_inputs);
    switch (offer.kind) {
      case RowKind::kMoves:
        if (!reads || !IsWhole(input, shape)) return std::nullopt;
        return shape.Transposed(offer.axes);
      case RowKind::kPart:
        if (!reads || !IsWhole(input, shape) || shape.dims[offer.part_axis] != columns) {
          return std::nullopt;
        }
        return shape.WithPartOfRows(offer.part_axis, static_cast<int>(out_columns));
      case RowKind::kElements:
        reads = reads ||
                (has(offer.row_values) && columns == 1 && out_columns == TensorAt(output).channels);
        break;
      case RowKind::kFold:
        reads = reads && columns == TensorAt(input).channels && out_columns == 1;
        break;
      default:
        reads = reads && columns == TensorAt(input).channels &&
                out_columns == TensorAt(output).channels;
    }
    return reads ? std::optional(ShapeOf(output)) : std::nullopt;
  }

  // If the node computes each element from those in the same places, wherever they are.
  std::optional<StridedShape> ShapeOfMoved(int n, const StridedShape& shape,
                                           const Group& group) const {
    const RowOffer& offer = OfferOf(n);
    if (offer.kind != RowKind::kElements) return std::nullopt;
    if (IsReshape(n)) return shape.Reshaped(TensorAt(OutputOf(n)).dims);
    const std::span<const int> inputs = NodeAt(n).inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto made = group.made.find(inputs[i]);
      const bool same = made != group.made.end() && (offer.made_inputs >> i & 1) != 0 &&
                        made->second.shape == shape;
      const bool one =
          made == group.made.end() && (inputs[i] < 0 || TensorAt(inputs[i]).elements == 1);
      if (!same && !one) return std::nullopt;
    }
    return shape.Reshaped(TensorAt(OutputOf(n)).dims);
  }

  bool IsWhole(int tensor, const StridedShape& shape) const {
    return static_cast<size_t>(shape.rank) == TensorAt(tensor).dims.size();
  }

  static bool LeavesOne(const std::map<int, MadeRows>& made, int newest) {
    return std::all_of(made.begin(), made.end(), [newest](const auto& value) {
      return value.first == newest || value.second.readers == 0;
    });
  }

  // Where the elements of its input go, in their order.
  StridedShape ScatteredBy(int n) const {
    const StridedShape output = ShapeOf(OutputOf(n));
    int8_t back[kMaxStridedRank] = {};
    for (int axis = 0; axis < output.rank; ++axis) {
      back[OfferOf(n).axes[axis]] = static_cast<int8_t>(axis);
    }
    return output.Transposed(back);
  }

  // The product that can put its rows where a TRANSPOSE at the end of the group would put them; -1:
  // none.
  int StoreOf(const Group& group) const {
    const int last = group.nodes.back();
    if (!IsMove(last)) return -1;
    int tensor = NodeAt(last).inputs[0];
    while (TensorAt(tensor).readers == 1) {
      const int maker = maker_[static_cast<size_t>(tensor)];
      if (std::find(group.nodes.begin(), group.nodes.end(), maker) == group.nodes.end()) break;
      if (IsProduct(maker)) {
        return OfferOf(maker).scatters && StoredBy(maker, last) ? maker : -1;
      }
      if (!IsReshape(maker)) break;
      tensor = NodeAt(maker).inputs[0];
    }
    return -1;
  }

  // Where the product's rows go with that TRANSPOSE; none if its columns do not stay together.
  std::optional<StridedShape> StoredBy(int product, int move) const {
    const std::span<const int> dims = TensorAt(OutputOf(product)).dims;
    const std::optional<StridedShape> shape = ScatteredBy(move).Reshaped(dims);
    if (dims.size() < 2 || !shape) return std::nullopt;
    const size_t last = dims.size() - 1;
    return dims[last] == 1 || shape->steps[last] == 1 ? shape : std::nullopt;
  }

  Step StepOf(const Group& group) const {
    Step step = {.head = group.head, .nodes = group.nodes, .run = {}};
    for (int n : group.nodes) {
      const auto strided = strided_.find(n);
      if (strided == strided_.end()) continue;
      for (const Strided& input : strided->second) {
        step.nodes.insert(step.nodes.end(), input.nodes.begin(), input.nodes.end());
      }
    }
    std::sort(step.nodes.begin(), step.nodes.end());
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

  bool IsReshape(int n) const { return OfferOf(n).kernel->rows == nullptr; }

  // Where rows stay rows, or elements where they are, there is nothing to compute.
  bool Renames(int n, const Group& group) const {
    return IsMove(n) ? n != group.nodes.front() : IsReshape(n);
  }

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
      if (!Renames(n, group)) last = n;
    }
    for (int n : nodes) {
      const int output = OutputOf(n), readers = TensorAt(output).readers;
      if (Renames(n, group)) {
        const size_t value = value_of.at(NodeAt(n).inputs[0]);
        values[value].left += readers - 1;
        value_of[output] = value;
        continue;
      }
      RowOp op = {.node = n, .kernel = OfferOf(n).kernel, .is_product = IsProduct(n)};
      op.out_columns = static_cast<int>(ColumnsOf(output, group.rows));
      DescribeMoves(n, group, &op);
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

  void DescribeMoves(int n, const Group& group, RowOp* op) const {
    op->part_begin = OfferOf(n).part_begin;
    const auto strided = strided_.find(n);
    for (size_t i = 0; strided != strided_.end() && i < kMaxMadeInputs; ++i) {
      op->strided[i] = strided->second[i].input;
    }
    if (n == group.stores) op->scattered = *StoredBy(n, group.nodes.back());
    if (!IsMove(n)) return;
    const int input = NodeAt(n).inputs[0];
    op->strided[0] = {input, group.keeps_order ? ShapeOf(input) : GatheredBy(n)};
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
  std::vector<int> maker_, reader_;  // by tensor: the last node that makes or reads it
  std::vector<bool> taken_;          // by node: in a step
  std::vector<int> moves_;           // nodes
  // By product.
  std::map<int, std::array<Strided, kMaxMadeInputs>> strided_;
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
      const bool may_be_made = i < kMaxMadeInputs;
      const int strided = may_be_made ? op.strided[i].tensor : -1;
      const int tensor = strided >= 0 ? strided : inputs[i];
      if (tensor >= 0 && !(may_be_made && op.made[i] >= 0)) reads.push_back({tensor, false});
    }
  }
  return reads;
}

}  // namespace deputy
