// SPDX-License-Identifier: Apache-2.0
//
// Builder for a graph of the DSP. It collects nodes and then passes all of them to the library.
// Constants with equal shape and bytes share one node.
#ifndef DEPUTY_BRIDGES_HEXAGON_GRAPH_H_
#define DEPUTY_BRIDGES_HEXAGON_GRAPH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bridges/hexagon/hexagon_nn.h"

namespace deputy::hexagon {

// Extents of batch, height, width and depth: all tensors of the DSP have four dimensions.
using Dims = std::array<int, 4>;

inline constexpr Dims kScalar = {1, 1, 1, 1};

// The real values that the lowest and the highest quantised value represent: 0 and 255 of uint8.
struct Range {
  float min = 0, max = 0;
  bool operator==(const Range&) const = default;
};

// A quantised tensor, of 8 bits or int32, and the two tensors that have its range.
struct Quantized {
  NnInput data, min, max;
};

class GraphBuilder {
 public:
  // Adds a constant; the bytes are copied.
  NnInput AddConstant(const Dims& dims, const void* data, size_t bytes);
  NnInput AddFloat(float value) { return AddConstant(kScalar, &value, sizeof value); }
  NnInput AddInt(int32_t value) { return AddConstant(kScalar, &value, sizeof value); }
  // Adds a constant of which only the shape is used.
  NnInput AddShape(const Dims& dims);
  NnInput AddInts(const Dims& dims, const std::vector<int32_t>& values) {
    return AddConstant(dims, values.data(), values.size() * sizeof(int32_t));
  }

  // Adds a node with one output and returns that output.
  NnInput AddNode(NnOperation operation, NnPadding padding, std::vector<NnInput> inputs,
                  const Dims& dims, size_t element_size);
  // Adds a node with a quantised output and its range. An `element_size` of 4 denotes int32, whose
  // range covers all int32 values.
  Quantized AddQuantized(NnOperation operation, NnPadding padding, std::vector<NnInput> inputs,
                         const Dims& dims, size_t element_size = 1);
  // Adds a conversion of a result of 8 or 32 bits to the range `to`.
  NnInput AddRequantize(NnOperation operation, const Quantized& from, const Range& to,
                        const Dims& dims);

  // AddInputs adds the node of all inputs, which must be the first node and has 8-bit tensors.
  // AddOutputs adds the node of all outputs.
  std::vector<NnInput> AddInputs(const std::vector<Dims>& dims);
  void AddOutputs(const std::vector<NnInput>& outputs);

  // Passes the nodes to the library. Returns "" or an error message.
  std::string Build(const NnFunctions& nn, NnGraph graph) const;

  size_t node_count() const { return nodes_.size(); }

 private:
  struct Node {
    uint32_t number;
    NnOperation operation;
    NnPadding padding;
    std::vector<NnInput> inputs;
    std::vector<NnOutput> outputs;
    // Shape and contents, for constants only.
    Dims dims;
    std::string bytes;
  };

  Node* NewNode(NnOperation operation, NnPadding padding, std::vector<NnInput> inputs);

  std::vector<Node> nodes_;
  std::map<std::pair<Dims, std::string>, uint32_t> constants_;
};

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_GRAPH_H_
