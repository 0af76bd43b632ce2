// SPDX-License-Identifier: Apache-2.0
//
// The output shapes of delegate nodes, as inferred from the nodes that they replaced. Some may be
// unknown before the nodes run.
#ifndef DEPUTY_CORE_DELEGATION_KNOWN_SHAPES_H_
#define DEPUTY_CORE_DELEGATION_KNOWN_SHAPES_H_

#include <map>
#include <span>
#include <vector>

namespace deputy {

class Graph;

class KnownShapes {
 public:
  explicit KnownShapes(Graph* graph) : graph_(graph) {}

  // Tensor indices may be kTfLiteOptionalTensor in all functions.

  // Stores the current shapes of the tensors.
  void Note(std::span<const int> tensors);
  void Forget(std::span<const int> tensors);
  void Clear() { shapes_.clear(); }

  // Returns the stored shape of a tensor; null if it is unknown.
  const std::vector<int>* Find(int tensor) const;
  // Returns the first of the tensors whose shape differs from the stored one; -1: none.
  int FindChanged(std::span<const int> tensors) const;
  // Makes those of the tensors dynamic that are in the arena and have no stored shape, so that the
  // replaced nodes can size them.
  void MakeOthersDynamic(std::span<const int> tensors);

 private:
  Graph* const graph_;
  std::map<int, std::vector<int>> shapes_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_KNOWN_SHAPES_H_
