// SPDX-License-Identifier: Apache-2.0
#include "compiler/reference.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <type_traits>

namespace deputy::compiler {
namespace {

void RunLoops(const CopyRegion& region, size_t depth, int64_t from, int64_t to,
              const Contents& input, const Contents& output) {
  const auto bytes = static_cast<int64_t>(ElementBytes(output.type()));
  if (depth == region.loops.size()) {
    memcpy(output.bytes() + to * bytes, input.bytes() + from * bytes, static_cast<size_t>(bytes));
    return;
  }
  const CopyLoop& loop = region.loops[depth];
  for (int64_t i = 0; i < loop.extent; ++i) {
    RunLoops(region, depth + 1, from + i * loop.from_stride, to + i * loop.to_stride, input,
             output);
  }
}

void ApplyEpilogue(const Expression& epilogue, const std::vector<Contents>& extra,
                   const Contents& result, const Contents& output) {
  std::vector<Number> operands(extra.size() + 1);
  for (int64_t i = 0; i < output.count(); ++i) {
    operands[0] = result.At(i);
    for (size_t n = 0; n < extra.size(); ++n) {
      operands[n + 1] = extra[n].At(BroadcastIndex(extra[n].shape(), output.shape(), i));
    }
    output.Set(i, Evaluate(epilogue, operands));
  }
}

bool IsHalf(const Contents& contents) { return contents.type() == kTfLiteFloat16; }

// Returns whether the operation can be computed without widening: it is element-wise, no operand is
// float16, or it moves elements of one type without interpreting them.
template <typename Kind>
bool SupportsHalf(const Kind&, const Operands& operands) {
  constexpr bool kMoves =
      std::is_same_v<Kind, View> || std::is_same_v<Kind, Copy> || std::is_same_v<Kind, Gather>;
  const Contents& output = operands.outputs[0];
  if constexpr (std::is_same_v<Kind, Elementwise>) return true;
  if (kMoves && !operands.inputs.empty() && operands.inputs[0].type() == output.type()) return true;
  return std::none_of(operands.inputs.begin(), operands.inputs.end(), IsHalf) &&
         std::none_of(operands.outputs.begin(), operands.outputs.end(), IsHalf);
}

// A float32 copy of contents in float16.
class Widened {
 public:
  explicit Widened(const Contents& half) : half_(half) {
    value_.type = kTfLiteFloat32;
    value_.shape = half.shape();
    bytes_.resize(value_.bytes() + 1);
  }
  Contents contents() const { return {value_, bytes_.data()}; }
  void Read() const {
    for (int64_t i = 0; i < half_.count(); ++i) contents().Set(i, half_.At(i));
  }
  void WriteBack() const {
    for (int64_t i = 0; i < half_.count(); ++i) half_.Set(i, contents().At(i));
  }

 private:
  const Contents half_;
  Value value_;
  std::vector<std::byte> bytes_;
};

// Computes with float32 copies of the float16 operands.
template <typename Kind>
bool ComputeWidened(const Kind& kind, Operands operands, std::string* out_error) {
  std::deque<Widened> inputs, outputs;
  for (Contents& input : operands.inputs) {
    if (!IsHalf(input)) continue;
    inputs.emplace_back(input).Read();
    input = inputs.back().contents();
  }
  for (Contents& output : operands.outputs) {
    if (IsHalf(output)) output = outputs.emplace_back(output).contents();
  }
  if (!Compute(kind, operands, out_error)) return false;
  for (const Widened& output : outputs) output.WriteBack();
  return true;
}

// Contents of all values during the evaluation of a graph.
class Run {
 public:
  explicit Run(const Graph& graph) : graph_(graph), storage_(graph.values.size()) {
    for (const Value& value : graph.values) data_.push_back(value.data);
  }

  void SetInput(ValueId id, const std::byte* data) { data_[static_cast<size_t>(id)] = data; }

  bool Compute(const Operation& operation, std::string* out_error) {
    Operands operands;
    for (ValueId id : operation.inputs) operands.inputs.push_back(ContentsOf(id));
    for (ValueId id : operation.outputs) operands.outputs.push_back(Make(id));
    Value before;
    std::vector<std::byte> result;
    const Contents output = operands.outputs[0];
    if (!operation.epilogue.empty()) {
      before = graph_.value(operation.output());
      before.type = TypeBefore(operation);
      result.resize(before.bytes() + 1);
      operands.outputs[0] = Contents(before, result.data());
    }
    const auto compute = [&](const auto& kind) {
      if (SupportsHalf(kind, operands)) return compiler::Compute(kind, operands, out_error);
      return ComputeWidened(kind, operands, out_error);
    };
    if (!std::visit(compute, operation.kind)) return false;
    if (operation.epilogue.empty()) return true;
    std::vector<Contents> extra;
    for (ValueId id : operation.epilogue_inputs) extra.push_back(ContentsOf(id));
    ApplyEpilogue(operation.epilogue, extra, operands.outputs[0], output);
    return true;
  }

  std::vector<std::byte> Take(ValueId id) const {
    const std::byte* data = data_[static_cast<size_t>(id)];
    return {data, data + graph_.value(id).bytes()};
  }

 private:
  // Returns the type of the operation's result before the epilogue, which may change it.
  static TfLiteType TypeBefore(const Operation& operation) {
    for (const ScalarNode& node : operation.epilogue.nodes()) {
      if (node.op == ScalarOp::kOperand && node.operand == 0) return node.type;
    }
    return operation.epilogue.result_type();
  }

  Contents ContentsOf(ValueId id) const {
    if (id == kNoValue) return {};
    return {graph_.value(id), data_[static_cast<size_t>(id)]};
  }

  Contents Make(ValueId id) {
    std::vector<std::byte>& contents = storage_[static_cast<size_t>(id)];
    contents.resize(graph_.value(id).bytes() + 1);
    data_[static_cast<size_t>(id)] = contents.data();
    return ContentsOf(id);
  }

  const Graph& graph_;
  std::vector<const std::byte*> data_;  // contents by value
  // Memory of computed values, by value. It is one byte longer than the value, so that data() is
  // not null.
  std::vector<std::vector<std::byte>> storage_;
};

}  // namespace

int64_t BroadcastIndex(const Shape& from, const Shape& to, int64_t index) {
  int64_t result = 0, stride = 1;
  for (size_t back = 1; back <= to.size(); ++back) {
    const int extent = to[to.size() - back];
    const int64_t position = index % extent;
    index /= extent;
    if (back > from.size()) continue;
    const int own = from[from.size() - back];
    if (own != 1) result += position * stride;
    stride *= own;
  }
  return result;
}

bool Compute(const Elementwise& kind, const Operands& operands, std::string*) {
  const Contents& output = operands.outputs[0];
  std::vector<Number> numbers(operands.inputs.size());
  for (int64_t i = 0; i < output.count(); ++i) {
    for (size_t n = 0; n < numbers.size(); ++n) {
      const Contents& input = operands.inputs[n];
      numbers[n] = input.At(BroadcastIndex(input.shape(), output.shape(), i));
    }
    output.Set(i, Evaluate(kind.expression, numbers));
  }
  return true;
}

bool Compute(const View&, const Operands& operands, std::string*) {
  const Contents& output = operands.outputs[0];
  // An empty input may have a null address, which memcpy must not get.
  if (output.count() == 0) return true;
  memcpy(output.bytes(), operands.inputs[0].bytes(),
         static_cast<size_t>(output.count()) * ElementBytes(output.type()));
  return true;
}

bool Compute(const Copy& kind, const Operands& operands, std::string*) {
  const Contents& output = operands.outputs[0];
  for (int64_t i = 0; i < output.count(); ++i) output.Set(i, kind.fill);
  for (const CopyRegion& region : kind.regions) {
    RunLoops(region, 0, region.from, region.to, operands.inputs[static_cast<size_t>(region.input)],
             output);
  }
  return true;
}

bool ComputeGraph(const Graph& graph, std::span<const std::byte* const> inputs,
                  std::vector<std::vector<std::byte>>* out_outputs, std::string* out_error) {
  Run run(graph);
  for (size_t i = 0; i < inputs.size(); ++i) run.SetInput(graph.inputs[i], inputs[i]);
  for (const Operation& operation : graph.operations) {
    if (!run.Compute(operation, out_error)) return false;
  }
  out_outputs->clear();
  for (ValueId id : graph.outputs) out_outputs->push_back(run.Take(id));
  return true;
}

bool ComputeConstant(const Graph& graph, const Operation& operation,
                     std::vector<std::vector<std::byte>>* out_outputs, std::string* out_error) {
  // The operation is computed in a graph of its own, so that the cost is independent of the rest of
  // the graph.
  Graph alone;
  Operation copy = operation;
  for (auto* ids : {&copy.inputs, &copy.epilogue_inputs, &copy.outputs}) {
    for (ValueId& id : *ids) {
      if (id == kNoValue) continue;
      alone.values.push_back(graph.value(id));
      id = static_cast<ValueId>(alone.values.size()) - 1;
    }
  }
  Run run(alone);
  if (!run.Compute(copy, out_error)) return false;
  out_outputs->clear();
  for (ValueId id : copy.outputs) out_outputs->push_back(run.Take(id));
  return true;
}

}  // namespace deputy::compiler
