// SPDX-License-Identifier: Apache-2.0
//
// A graph of the DSP's in the making. Nodes are collected first and handed over as a whole;
// constants of equal shape and bytes are one node.
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

// Batch, height, width, depth: every tensor of the DSP's has four dimensions.
using Dims = std::array<int, 4>;

inline constexpr Dims kScalar = {1, 1, 1, 1};

// The real values of 0 and 255.
struct Range {
  float min = 0, max = 0;
  bool operator==(const Range&) const = default;
};

// A tensor of 8 bits with where the DSP has its range.
struct Quantized {
  NnInput data, min, max;
};

class GraphBuilder {
 public:
  // The bytes are copied.
  NnInput AddConstant(const Dims& dims, const void* data, size_t bytes);
  NnInput AddFloat(float value) { return AddConstant(kScalar, &value, sizeof value); }
  NnInput AddInt(int32_t value) { return AddConstant(kScalar, &value, sizeof value); }
  // A constant that is there for its shape.
  NnInput AddShape(const Dims& dims);
  NnInput AddInts(const Dims& dims, const std::vector<int32_t>& values) {
    return AddConstant(dims, values.data(), values.size() * sizeof(int32_t));
  }

  // A node of one output; its number is that of the output's NnInput.
  NnInput AddNode(NnOperation operation, NnPadding padding, std::vector<NnInput> inputs,
                  const Dims& dims, size_t element_size);
  // A node of a quantised output with its range; `element_size` 4 is int32 with a range for all of
  // its values.
  Quantized AddQuantized(NnOperation operation, NnPadding padding, std::vector<NnInput> inputs,
                         const Dims& dims, size_t element_size = 1);
  // Brings a result, of 8 or 32 bits, into a range.
  NnInput AddRequantize(NnOperation operation, const Quantized& from, const Range& to,
                        const Dims& dims);

  // The node of all inputs, bytes each, which comes first; and the one of all outputs.
  std::vector<NnInput> AddInputs(const std::vector<Dims>& dims);
  void AddOutputs(const std::vector<NnInput>& outputs);

  // Hands the nodes over. "" or what went wrong.
  std::string Build(const NnFunctions& nn, NnGraph graph) const;

  size_t node_count() const { return nodes_.size(); }

 private:
  struct Node {
    uint32_t number;
    NnOperation operation;
    NnPadding padding;
    std::vector<NnInput> inputs;
    std::vector<NnOutput> outputs;
    // Of a constant.
    Dims dims;
    std::string bytes;
  };

  Node* NewNode(NnOperation operation, NnPadding padding, std::vector<NnInput> inputs);

  std::vector<Node> nodes_;
  std::map<std::pair<Dims, std::string>, uint32_t> constants_;
};

}  // namespace deputy::hexagon

#endif  // DEPUTY_BRIDGES_HEXAGON_GRAPH_H_
