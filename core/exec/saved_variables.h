// SPDX-License-Identifier: Apache-2.0
//
// The variables of subgraphs, kept so that an inference can start over.
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

  // Keeps the subgraph's variables as they are now, unless they were kept since Clear.
  void Save(Subgraph* subgraph);

  // Every subgraph's variables are what they were when they were saved. A call with other shapes
  // allocates a subgraph anew, which resets its variables; so its inputs get their former shapes,
  // too. A failure has been reported.
  TfLiteStatus PutBack();

 private:
  struct Shape {
    TfLiteType type;
    std::vector<int> dims;
  };
  struct Entry {
    int64_t round = 0;  // what was saved in an earlier one is void; its memory is used again
    Subgraph* subgraph = nullptr;
    bool ready = false;  // false: its variables had no memory yet
    std::vector<Shape> inputs;
    SavedContents variables;
  };

  std::map<int, Entry> entries_;  // by index of the subgraph
  int64_t round_ = 1;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SAVED_VARIABLES_H_
