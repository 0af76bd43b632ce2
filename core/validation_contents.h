// SPDX-License-Identifier: Apache-2.0
//
// The bytes around a delegate's call: copies of what it must not write, patterns between the
// tensors of the arena, patterns in the outputs that it should overwrite.
#ifndef DEPUTY_CORE_VALIDATION_CONTENTS_H_
#define DEPUTY_CORE_VALIDATION_CONTENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "c_api/common.h"

namespace deputy {

class Arena;
class Subgraph;

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
  explicit GuardedContents(Subgraph* subgraph) : subgraph_(subgraph) {}

  // Lays out patterns and copies. `position` is the node's in the plan; -1 stands for the time
  // between nodes, when only what lasts the whole inference is sure to be alive. With
  // `fill_outputs` outputs are overwritten with a pattern.
  void Take(const std::vector<Role>& roles, const TfLiteDelegate* self, int position,
            bool fill_outputs);

  // Overwrites one tensor with a pattern, for Untouched to find.
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
  void GuardArena(const Arena& arena, int position);
  void Copy(int tensor, Zone* zone);
  bool IsAlive(int tensor, int position) const;

  Subgraph* const subgraph_;
  std::vector<Zone> guards_, kept_, filled_;
  std::vector<char> copies_;
};

// Checksums of the constants of one subgraph.
class ConstantSums {
 public:
  // Answers the constants that have changed since the last time; the first time none have.
  std::vector<int> Update(Subgraph* subgraph);

 private:
  struct Sum {
    const void* data;
    size_t bytes;
    uint64_t value;
  };
  std::map<int, Sum> sums_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_CONTENTS_H_
