// SPDX-License-Identifier: Apache-2.0
//
// Subgraphs that a delegate has absorbed with their caller: they are not offered to delegates. The
// marks are kept in order, so that the newest can be undone.
#ifndef DEPUTY_CORE_EXEC_SKIPPABLE_SUBGRAPHS_H_
#define DEPUTY_CORE_EXEC_SKIPPABLE_SUBGRAPHS_H_

#include <cstddef>
#include <vector>

namespace deputy {

class SkippableSubgraphs {
 public:
  // Marks one of `subgraph_count` subgraphs. Strong exception guarantee.
  void Mark(int subgraph, int subgraph_count) {
    if (Has(subgraph)) return;
    is_marked_.resize(static_cast<size_t>(subgraph_count));
    marks_.push_back(subgraph);
    is_marked_[static_cast<size_t>(subgraph)] = true;
  }
  bool Has(int subgraph) const {
    const size_t index = static_cast<size_t>(subgraph);
    return index < is_marked_.size() && is_marked_[index];
  }
  size_t count() const { return marks_.size(); }
  // Undoes all marks except the first `count`.
  void KeepFirst(size_t count) {
    for (; marks_.size() > count; marks_.pop_back()) {
      is_marked_[static_cast<size_t>(marks_.back())] = false;
    }
  }

 private:
  std::vector<int> marks_;       // marked subgraphs in the order of marking
  std::vector<bool> is_marked_;  // by subgraph: true if it is marked; those after the end are not
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SKIPPABLE_SUBGRAPHS_H_
