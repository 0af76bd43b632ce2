// SPDX-License-Identifier: Apache-2.0
//
// Guards for memory during a delegate's call: copies of tensors that it must not write, patterns
// between the tensors of the arena, and patterns in the outputs that it must overwrite.
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

// Number of guard bytes before and after each tensor with planned memory under validation.
inline constexpr size_t kGuardBytes = 64;

// Relation of a tensor to the node or delegate that is called.
enum class Role : uint8_t {
  kOther,
  kInput,
  kVariable,  // an input that is a variable and may be written
  kOutput,
  kOwn,  // a tensor inside the partition, or one that the delegate has added
};

class GuardedContents {
 public:
  // Creates an empty object. All arguments must outlive it. The arenas contain the graph's tensors.
  GuardedContents(const Graph* graph, const Arena* arena, const Arena* persistent)
      : graph_(graph), arena_(arena), persistent_(persistent) {}

  // Writes patterns between tensors and copies the tensors that `self` must not write. `position`
  // is the node's in the plan. -1 means between nodes, when only tensors that live for the whole
  // inference are valid, and the tensor `about_to_be_read` unless it is -1.
  void Take(const std::vector<Role>& roles, const TfLiteDelegate* self, int position,
            int about_to_be_read);

  // Overwrites one tensor with a pattern, to be checked by TakeUntouched. No effect on a variable,
  // if the tensor has less than 4 bytes, or if its memory may be freed during the call.
  void Fill(int tensor);

  struct Damage {
    enum class Kind { kBefore, kAfter, kInside } kind;
    int tensor;
    size_t offset;  // kInside: offset of the first changed byte; else distance of the nearest one
                    // from the tensor
    size_t bytes;   // number of changed bytes
  };
  void FindDamage(const std::function<void(const Damage&)>& found) const;

  // Returns the filled tensors that still contain only the pattern, and restores their former
  // contents, so that the layer changes no result.
  std::vector<int> TakeUntouched();

 private:
  struct Zone {
    int tensor;
    Damage::Kind kind;
    const char* address;
    size_t bytes;
    size_t copy;  // offset of the copy in copies_; unused for guards
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
  // Returns the constants that have changed since the previous call; none at the first call.
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
