// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph.h"

#include <algorithm>
#include <utility>

namespace deputy::compiler {
namespace {

// Names of the kinds of operations, in the order of OperationKind.
constexpr const char* kKindNames[] = {
    "elementwise", "view",   "copy",    "conv_2d", "depthwise_conv_2d", "transposed_conv_2d",
    "pool_2d",     "matmul", "reduce",  "softmax", "arg_reduce",        "cumulative_sum",
    "top_k",       "gather", "one_hot", "resize",
};
static_assert(std::size(kKindNames) == std::variant_size_v<OperationKind>);

std::string OfOperation(size_t number, const Operation& operation, const std::string& text) {
  return "operation " + std::to_string(number) + " (" + KindName(operation.kind) + "): " + text;
}

bool Exists(const Graph& graph, ValueId id) {
  return id >= 0 && id < static_cast<int>(graph.values.size());
}

std::string FindValueFault(const Graph& graph) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (!FitsIndex(value.shape)) {
      return "value " + std::to_string(i) +
             " has a shape beyond the limits: " + ToText(value.shape);
    }
    if (ElementBytes(value.type) == 0) return "value " + std::to_string(i) + " has no type";
    if (value.owned != nullptr && value.owned->size() != value.bytes()) {
      return "value " + std::to_string(i) + " has contents whose size differs from its shape";
    }
  }
  return "";
}

// Returns whether a value of type `type` can store results of type `computed`: float32 may be
// rounded to float16.
bool CanStore(TfLiteType type, TfLiteType computed) {
  return type == computed || (type == kTfLiteFloat16 && computed == kTfLiteFloat32);
}

std::string FindExpressionFault(const Graph& graph, const Operation& operation) {
  if (const auto* kind = std::get_if<Elementwise>(&operation.kind)) {
    if (kind->expression.empty()) return "an empty expression";
    if (kind->expression.operand_count() > static_cast<int>(operation.inputs.size())) {
      return "an operand that is not an input";
    }
  }
  if (operation.epilogue.empty()) return "";
  const auto operands = static_cast<int>(operation.epilogue_inputs.size()) + 1;
  if (operation.epilogue.operand_count() > operands)
    return "an operand of the epilogue that is not an input";
  if (!CanStore(graph.value(operation.output()).type, operation.epilogue.result_type())) {
    return "the types of epilogue and output differ";
  }
  return "";
}

std::string FindOperationFault(const Graph& graph, const Operation& operation,
                               std::vector<bool>* computed) {
  if (operation.outputs.empty()) return "no output";
  for (ValueId id : operation.outputs) {
    if (!Exists(graph, id)) return "an output that does not exist";
  }
  for (ValueId id : ReadValues(operation)) {
    if (!Exists(graph, id)) return "an input that does not exist";
    if (!(*computed)[static_cast<size_t>(id)]) {
      return "value " + std::to_string(id) + " is used before it is computed";
    }
  }
  std::string fault = FindExpressionFault(graph, operation);
  if (!fault.empty()) return fault;
  if (std::holds_alternative<View>(operation.kind) &&
      (operation.inputs.size() != 1 || operation.inputs[0] == kNoValue ||
       ElementCount(graph.value(operation.inputs[0]).shape) !=
           ElementCount(graph.value(operation.output()).shape))) {
    return "the element counts of a view and its source differ";
  }
  for (ValueId id : operation.outputs) {
    if ((*computed)[static_cast<size_t>(id)])
      return "value " + std::to_string(id) + " is computed twice";
    (*computed)[static_cast<size_t>(id)] = true;
  }
  return "";
}

}  // namespace

int64_t ElementCount(const Shape& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (int extent : shape) {
    if (__builtin_mul_overflow(count, extent, &count)) return INT64_MAX;
  }
  return count;
}

int ClampedExtent(int64_t extent) {
  return static_cast<int>(std::clamp<int64_t>(extent, INT32_MIN, INT32_MAX));
}

bool FitsIndex(const Shape& shape) {
  if (shape.size() > kMaxAxes) return false;
  int64_t count = 1;
  for (int extent : shape) {
    if (extent < 0) return false;
    count *= std::max(extent, 1);
    if (count > kMaxElements) return false;
  }
  return true;
}

std::string ToText(const Shape& shape) {
  std::string text;
  for (int extent : shape) text += (text.empty() ? "" : ",") + std::to_string(extent);
  return "[" + text + "]";
}

std::vector<int64_t> Strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

const char* KindName(const OperationKind& kind) { return kKindNames[kind.index()]; }

int ZeroPointOf(const OperationKind& kind) {
  if (const auto* conv = std::get_if<Conv2d>(&kind)) return conv->zero_point;
  if (const auto* depthwise = std::get_if<DepthwiseConv2d>(&kind)) return depthwise->zero_point;
  const auto* product = std::get_if<MatMul>(&kind);
  return product == nullptr ? 0 : product->zero_point;
}

ValueId Graph::AddValue(TfLiteType type, Shape shape, std::string name) {
  Value value;
  value.type = type;
  value.shape = std::move(shape);
  value.name = std::move(name);
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size()) - 1;
}

ValueId Graph::AddConstant(TfLiteType type, Shape shape, std::vector<std::byte> contents,
                           std::string name) {
  const ValueId id = AddValue(type, std::move(shape), std::move(name));
  // A non-null address identifies a constant, so empty contents need one, too.
  if (contents.empty()) contents.reserve(1);
  kept_bytes += contents.size();
  value(id).owned = std::make_shared<const std::vector<std::byte>>(std::move(contents));
  value(id).data = value(id).owned->data();
  return id;
}

std::vector<ValueId> ReadValues(const Operation& operation) {
  std::vector<ValueId> read;
  for (const auto* inputs : {&operation.inputs, &operation.epilogue_inputs}) {
    std::copy_if(inputs->begin(), inputs->end(), std::back_inserter(read),
                 [](ValueId id) { return id != kNoValue; });
  }
  return read;
}

std::vector<int> Producers(const Graph& graph) {
  std::vector<int> producers(graph.values.size(), -1);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    for (ValueId id : graph.operations[i].outputs) {
      producers[static_cast<size_t>(id)] = static_cast<int>(i);
    }
  }
  return producers;
}

std::vector<int> UseCounts(const Graph& graph) {
  std::vector<int> uses(graph.values.size(), 0);
  for (const Operation& operation : graph.operations) {
    for (ValueId id : ReadValues(operation)) ++uses[static_cast<size_t>(id)];
  }
  for (ValueId id : graph.outputs) ++uses[static_cast<size_t>(id)];
  return uses;
}

std::string FindFault(const Graph& graph) {
  std::string fault = FindValueFault(graph);
  if (!fault.empty()) return fault;
  std::vector<bool> computed;
  for (const Value& value : graph.values) computed.push_back(value.constant());
  for (ValueId id : graph.inputs) {
    if (!Exists(graph, id)) return "an input of the graph that does not exist";
    computed[static_cast<size_t>(id)] = true;
  }
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    fault = FindOperationFault(graph, graph.operations[i], &computed);
    if (!fault.empty()) return OfOperation(i, graph.operations[i], fault);
  }
  for (ValueId id : graph.outputs) {
    if (!Exists(graph, id)) return "an output of the graph that does not exist";
    if (!computed[static_cast<size_t>(id)])
      return "value " + std::to_string(id) + " is not computed by any operation";
  }
  return "";
}

}  // namespace deputy::compiler
