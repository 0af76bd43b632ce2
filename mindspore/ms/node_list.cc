// SPDX-License-Identifier: Apache-2.0
#include "mindspore/ms/node_list.h"

#include "mindspore/schema/model_generated.h"

namespace deputy::ms {

void NodeListWriter::Add(const Node& node, const std::vector<Attribute>& attributes, int op) {
  const auto primitive = WritePrimitive(node.primitive->value_type(), attributes, &fbb_);
  const auto name = fbb_.CreateString(node.name.data(), node.name.size());
  const auto in = fbb_.CreateVector(std::vector{node.index});
  const auto out = fbb_.CreateVector(std::vector{static_cast<uint32_t>(op)});
  nodes_.push_back(file::CreateCNode(fbb_, name, primitive, in, out));
}

std::vector<uint8_t> NodeListWriter::Finish() {
  if (nodes_.empty()) return {};
  const auto nodes = fbb_.CreateVector(nodes_);
  file::MetaGraphBuilder graph(fbb_);
  graph.add_nodes(nodes);
  fbb_.Finish(graph.Finish());
  return {fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize()};
}

bool ReadNodeList(std::span<const uint8_t> bytes, std::vector<ListedNode>* out_nodes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kMaxDepth, kMaxTables);
  if (!verifier.VerifyBuffer<file::MetaGraph>(nullptr)) return false;
  const auto* graph = flatbuffers::GetRoot<file::MetaGraph>(bytes.data());
  if (graph->nodes() == nullptr) return false;
  for (const file::CNode* node : *graph->nodes()) {
    const auto* op = node->outputIndex();
    if (node->primitive() == nullptr || op == nullptr || op->size() != 1) return false;
    out_nodes->push_back({static_cast<int>(op->Get(0)), node->primitive()});
  }
  return true;
}

}  // namespace deputy::ms
