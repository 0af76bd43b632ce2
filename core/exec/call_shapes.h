// SPDX-License-Identifier: Apache-2.0
//
// What calls of one subgraph return, remembered for one allocation pass: a walk that prepares nodes
// and, through IF and WHILE, the subgraphs they call. Where several nodes call one subgraph with
// different shapes, each of them needs to know what comes back; without a memory the subgraph would
// be prepared anew for each of them, and subgraphs that call each other twice would be prepared
// 2^depth times.
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
  // As many different shapes of inputs are looked into per pass. Models have one or two; what lies
  // beyond is left open until it is called, so that a pass stays linear in the model.
  static constexpr size_t kMostShapes = 32;

  // What a call with such inputs returns, null when it is not known. Another pass than that of the
  // last call drops what is known.
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

  // No more shapes are to be looked into in this pass.
  bool full() const { return entries_.size() >= kMostShapes; }

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
