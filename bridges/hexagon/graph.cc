// SPDX-License-Identifier: Apache-2.0
#include "bridges/hexagon/graph.h"

namespace deputy::hexagon {
namespace {

NnOutput OutputOf(const Dims& dims, size_t element_size) {
  NnOutput output{};
  output.rank = 4;
  for (size_t i = 0; i < dims.size(); ++i) output.max_sizes[i] = static_cast<uint32_t>(dims[i]);
  output.element_size = static_cast<uint32_t>(element_size);
  return output;
}

}  // namespace

GraphBuilder::Node* GraphBuilder::NewNode(NnOperation operation, NnPadding padding,
                                          std::vector<NnInput> inputs) {
  const auto number = static_cast<uint32_t>(nodes_.size() + 1);
  return &nodes_.emplace_back(Node{number, operation, padding, std::move(inputs), {}, {}, {}});
}

NnInput GraphBuilder::AddConstant(const Dims& dims, const void* data, size_t bytes) {
  std::pair<Dims, std::string> key(dims, std::string(static_cast<const char*>(data), bytes));
  if (const auto known = constants_.find(key); known != constants_.end()) {
    return {known->second, 0};
  }
  Node* const node = NewNode(kNnConst, kNnPadNone, {});
  node->dims = dims;
  node->bytes = key.second;
  constants_.emplace(std::move(key), node->number);
  return {node->number, 0};
}

NnInput GraphBuilder::AddShape(const Dims& dims) {
  constexpr int32_t kNothing = 0;
  return AddConstant(dims, &kNothing, sizeof kNothing);
}

NnInput GraphBuilder::AddNode(NnOperation operation, NnPadding padding, std::vector<NnInput> inputs,
                              const Dims& dims, size_t element_size) {
  Node* const node = NewNode(operation, padding, std::move(inputs));
  node->outputs.push_back(OutputOf(dims, element_size));
  return {node->number, 0};
}

Quantized GraphBuilder::AddQuantized(NnOperation operation, NnPadding padding,
                                     std::vector<NnInput> inputs, const Dims& dims,
                                     size_t element_size) {
  Node* const node = NewNode(operation, padding, std::move(inputs));
  node->outputs = {OutputOf(dims, element_size), OutputOf(kScalar, sizeof(float)),
                   OutputOf(kScalar, sizeof(float))};
  return {{node->number, 0}, {node->number, 1}, {node->number, 2}};
}

NnInput GraphBuilder::AddRequantize(NnOperation operation, const Quantized& from, const Range& to,
                                    const Dims& dims) {
  const NnInput min = AddFloat(to.min), max = AddFloat(to.max);
  return AddQuantized(operation, kNnPadNone, {from.data, from.min, from.max, min, max}, dims).data;
}

std::vector<NnInput> GraphBuilder::AddInputs(const std::vector<Dims>& dims) {
  Node* const node = NewNode(kNnInput, kNnPadNone, {});
  std::vector<NnInput> inputs;
  for (const Dims& each : dims) {
    inputs.push_back({node->number, static_cast<uint32_t>(inputs.size())});
    node->outputs.push_back(OutputOf(each, 1));
  }
  return inputs;
}

void GraphBuilder::AddOutputs(const std::vector<NnInput>& outputs) {
  NewNode(kNnOutput, kNnPadNone, outputs);
}

std::string GraphBuilder::Build(const NnFunctions& nn, NnGraph graph) const {
  for (const Node& node : nodes_) {
    int status = 0;
    if (node.operation == kNnConst) {
      const auto dim = [&](size_t i) { return static_cast<uint32_t>(node.dims[i]); };
      status = nn.append_const_node(graph, node.number, dim(0), dim(1), dim(2), dim(3),
                                    reinterpret_cast<const uint8_t*>(node.bytes.data()),
                                    static_cast<int>(node.bytes.size()));
    } else {
      status = nn.append_node(graph, node.number, node.operation, node.padding, node.inputs.data(),
                              static_cast<int>(node.inputs.size()), node.outputs.data(),
                              static_cast<int>(node.outputs.size()));
    }
    if (status == 0) continue;
    return std::string(node.operation == kNnConst ? "hexagon_nn_append_const_node"
                                                  : "hexagon_nn_append_node") +
           " failed with " + std::to_string(status);
  }
  return "";
}

}  // namespace deputy::hexagon
