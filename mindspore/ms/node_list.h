// SPDX-License-Identifier: Apache-2.0
//
// The nodes of a .ms file whose primitives one operator of the converted model represents. They are
// stored in the converted model as metadata, so that each delegate of MindSpore's API sees the
// file's own primitives, whatever program loads the model. The metadata is a MetaGraph without
// tensors: the input index of each node is its index in the file, the output index that of the
// operator.
#ifndef DEPUTY_MINDSPORE_MS_NODE_LIST_H_
#define DEPUTY_MINDSPORE_MS_NODE_LIST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "mindspore/ms/attributes.h"
#include "mindspore/ms/read.h"

namespace deputy::ms {

// Name of the metadata.
inline constexpr char kNodeListName[] = "mindspore.nodes";

class NodeListWriter {
 public:
  // Adds a node of the file with these attributes, and the index of its operator.
  void Add(const Node& node, const std::vector<Attribute>& attributes, int op);
  // Returns the number of bytes so far.
  size_t size() const { return fbb_.GetSize(); }
  // Returns the metadata; empty if no node was added. The writer cannot be used afterwards.
  std::vector<uint8_t> Finish();

 private:
  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<file::CNode>> nodes_;
};

struct ListedNode {
  int op = 0;  // index of the operator; may be out of range
  const file::Primitive* primitive = nullptr;
};

// Reads metadata of any model, which points into `bytes`. Returns false if it is not valid.
// `bytes` must be aligned to 16 bytes.
bool ReadNodeList(std::span<const uint8_t> bytes, std::vector<ListedNode>* out_nodes);

// Returns the number of inputs that nodes of this type in a .ms file have at least; 0 if it is
// unknown. Defined in convert.cc, which has the table.
size_t MinInputs(int type);

}  // namespace deputy::ms

#endif  // DEPUTY_MINDSPORE_MS_NODE_LIST_H_
