// SPDX-License-Identifier: Apache-2.0
//
// The bytes around a delegate's call: copies of what it must not write, patterns between the
// tensors of the arena, patterns in the outputs that it should overwrite.
#ifndef DEPUTY_CORE_VALIDATION_VALIDATION_CONTENTS_H_
#define DEPUTY_CORE_VALIDATION_VALIDATION_CONTENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

class Arena;
class Graph;

// How far apart tensors of the arena lie under validation.
inline constexpr size_t kGuardBytes = 64;

// What a tensor is to the node or delegate that is called.
enum class Role : uint8_t {
  kOther,
  kInput,
  kVariable,  // an input that it may write
  kOutput,
  kOwn,  // inside its partition, a temporary of its own, or added by the delegate
};

class GuardedContents {
 public:
  // All outlive it. The arenas are those of the graph's tensors.
  GuardedContents(const Graph* graph, const Arena* arena, const Arena* persistent)
      : graph_(graph), arena_(arena), persistent_(persistent) {}

  // Lays out patterns between tensors and copies what `self` must not write. `position` is the
  // node's in the plan; -1 stands for the time between nodes, when only what lasts the whole
  // inference is sure to be alive, and the tensor `about_to_be_read` if that is not -1.
  void Take(const std::vector<Role>& roles, const TfLiteDelegate* self, int position,
            int about_to_be_read);

  // Overwrites one tensor with a pattern, for TakeUntouched to find; not if it is short or has no
  // memory that outlasts the call.
  void Fill(int tensor);

  struct Damage {
    enum class Kind { kBefore, kBehind, kInside } kind;
    int tensor;
    size_t offset;  // of the first changed byte: in the tensor, or from its end or beginning
    size_t bytes;   // how many bytes changed
  };
  void FindDamage(const std::function<void(const Damage&)>& found) const;

  // Tensors that were filled and still hold nothing but the pattern. They get back what they held
  // before, so that the layer changes no result.
  std::vector<int> TakeUntouched();

 private:
  struct Zone {
    int tensor;
    Damage::Kind kind;
    const char* address;
    size_t bytes;
    size_t copy;  // offset in copies_; zones of guards have none
  };
  void GuardArena(const Arena& arena);
  void Copy(int tensor, Zone* zone);
  bool IsAlive(int tensor) const;

  const Graph* const graph_;
  const Arena* const arena_;
  const Arena* const persistent_;
  int position_ = -1;
  int about_to_be_read_ = -1;
  std::vector<Zone> guards_, kept_, filled_;
  std::vector<char> copies_;
};

// Checksums of the constants of one graph.
class ConstantSums {
 public:
  // Returns the constants that have changed since the last time; the first time none have.
  std::vector<int> Update(const Graph& graph);

 private:
  struct Sum {
    const void* data;
    size_t bytes;
    uint64_t value;
  };
  std::map<int, Sum> sums_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_VALIDATION_CONTENTS_H_
