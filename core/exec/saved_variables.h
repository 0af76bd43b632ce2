// SPDX-License-Identifier: Apache-2.0
//
// Saves the variables of subgraphs, so that an inference can restart.
#ifndef DEPUTY_CORE_EXEC_SAVED_VARIABLES_H_
#define DEPUTY_CORE_EXEC_SAVED_VARIABLES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/saved_contents.h"

namespace deputy {

class Subgraph;

class SavedVariables {
 public:
  void Clear() { ++round_; }

  // Saves the subgraph's variables unless they were saved since Clear.
  void Save(Subgraph* subgraph);

  // Restores every saved variable. A call with other shapes reallocates a subgraph, which resets
  // its variables; so the former input shapes are restored, too. A failure is reported before it is
  // returned.
  TfLiteStatus Restore();

 private:
  struct Shape {
    TfLiteType type;
    std::vector<int> dims;
  };
  struct Entry {
    // Number of the round of the entry; older entries are invalid, their memory is reused.
    int64_t round = 0;
    Subgraph* subgraph = nullptr;
    bool ready = false;  // false: the variables had no memory yet
    std::vector<Shape> inputs;
    SavedContents variables;
  };

  std::map<int, Entry> entries_;  // saved variables of each subgraph, by index
  int64_t round_ = 1;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SAVED_VARIABLES_H_
