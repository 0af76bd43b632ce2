// SPDX-License-Identifier: Apache-2.0
#include "core/model/control_edges.h"

#include <utility>

namespace deputy {
namespace {

// Reads protobuf varints: seven bits per byte, lowest first; the top bit is set if more bytes
// follow.
class VarintReader {
 public:
  explicit VarintReader(std::span<const uint8_t> data) : data_(data) {}

  bool Read(uint32_t* out_value) {
    uint32_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      if (next_ >= data_.size()) return false;
      const uint8_t byte = data_[next_++];
      if (shift == 28 && byte > 0x0f) return false;
      value |= static_cast<uint32_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) {
        *out_value = value;
        return true;
      }
    }
    return false;
  }

  // Reads an integer in zig-zag encoding: 0, -1, 1, -2, ... are stored as 0, 1, 2, 3, ...
  bool ReadSigned(int* out_value) {
    uint32_t value;
    if (!Read(&value)) return false;
    *out_value = static_cast<int>((value >> 1) ^ (0u - (value & 1)));
    return true;
  }

  bool AtEnd() const { return next_ == data_.size(); }
  size_t left() const { return data_.size() - next_; }

 private:
  std::span<const uint8_t> data_;
  size_t next_ = 0;
};

constexpr uint32_t kVersion = 1;

}  // namespace

bool ParseControlEdges(std::span<const uint8_t> data, size_t subgraph_count,
                       std::vector<std::vector<PartitionGraph::ControlEdge>>* out_edges) {
  VarintReader reader(data);
  uint32_t version, subgraphs;
  if (!reader.Read(&version) || version != kVersion || !reader.Read(&subgraphs) ||
      subgraphs != subgraph_count) {
    return false;
  }
  std::vector<std::vector<PartitionGraph::ControlEdge>> edges(subgraph_count);
  for (auto& of_subgraph : edges) {
    uint32_t count;
    // An edge has at least two bytes; a count that exceeds the remaining bytes is invalid.
    if (!reader.Read(&count) || count > reader.left() / 2) return false;
    of_subgraph.resize(count);
    for (auto& [from, to] : of_subgraph) {
      if (!reader.ReadSigned(&from) || !reader.ReadSigned(&to)) return false;
    }
  }
  if (!reader.AtEnd()) return false;
  *out_edges = std::move(edges);
  return true;
}

}  // namespace deputy
