// SPDX-License-Identifier: Apache-2.0
//
// Caches the output shapes of calls of one subgraph during one allocation pass. A pass prepares
// nodes and, through control flow operators, the subgraphs that they call. Several nodes may call
// one subgraph with different shapes, and each needs the shapes of its results. Without the cache
// the subgraph would be prepared again for each call, and nested calls would prepare it 2^depth
// times.
#ifndef DEPUTY_CORE_EXEC_CALL_SHAPES_H_
#define DEPUTY_CORE_EXEC_CALL_SHAPES_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/kernel_api/runtime.h"

namespace deputy {

class CallShapes {
 public:
  // Maximum number of different input shapes per pass. Models have one or two. Outputs of calls
  // with further shapes are treated as dynamic, so that a pass stays linear in the model.
  static constexpr size_t kMaxShapes = 32;

  // Returns the outputs of a call with these inputs, or null if they are not cached. A new pass
  // discards the entries of the previous one.
  const std::vector<CallOutput>* Find(int64_t pass, std::span<const CallInput> inputs) {
    if (pass != pass_) entries_.clear();
    pass_ = pass;
    for (const Entry& entry : entries_) {
      if (std::equal(inputs.begin(), inputs.end(), entry.inputs.begin(), entry.inputs.end(),
                     &Matches)) {
        return &entry.outputs;
      }
    }
    return nullptr;
  }

  // Returns true if no further shapes may be inferred in this pass.
  bool full() const { return entries_.size() >= kMaxShapes; }

  void Add(std::span<const CallInput> inputs, std::vector<CallOutput> outputs) {
    Entry entry;
    for (const CallInput& input : inputs) {
      entry.inputs.push_back({input.type, {input.dims.begin(), input.dims.end()}});
    }
    entry.outputs = std::move(outputs);
    entries_.push_back(std::move(entry));
  }

 private:
  struct InputShape {
    TfLiteType type;
    std::vector<int> dims;
  };
  struct Entry {
    std::vector<InputShape> inputs;
    std::vector<CallOutput> outputs;
  };

  static bool Matches(const CallInput& input, const InputShape& known) {
    return input.type == known.type &&
           std::equal(input.dims.begin(), input.dims.end(), known.dims.begin(), known.dims.end());
  }

  int64_t pass_ = -1;
  std::vector<Entry> entries_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_CALL_SHAPES_H_
