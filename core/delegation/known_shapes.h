// SPDX-License-Identifier: Apache-2.0
//
// The shapes that replaced nodes give to the outputs of a delegate's node, as far as they are known
// before the nodes run.
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

  // In all of these, tensors may be "absent".

  // Takes the shapes that the tensors have now.
  void Note(std::span<const int> tensors);
  void Forget(std::span<const int> tensors);
  void Clear() { shapes_.clear(); }

  // Null when it is not known.
  const std::vector<int>* Find(int tensor) const;
  // The first of the tensors that has another shape than is known of it; -1: none has.
  int FindChanged(std::span<const int> tensors) const;
  // Planned tensors whose shape is not known get it when the replaced nodes run.
  void LeaveOthersOpen(std::span<const int> tensors);

 private:
  Graph* const graph_;
  std::map<int, std::vector<int>> shapes_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_DELEGATION_KNOWN_SHAPES_H_
