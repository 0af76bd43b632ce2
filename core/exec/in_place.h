// SPDX-License-Identifier: Apache-2.0
//
// Which outputs take over the memory of an input, and which parts lie in the memory of their whole:
// a pure pass over the plan, before memory is laid out. A kernel says in its TfLiteInPlaceOp mask
// and its ViewOffer what it can do; here is decided what may be done.
#ifndef DEPUTY_CORE_EXEC_IN_PLACE_H_
#define DEPUTY_CORE_EXEC_IN_PLACE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/arena.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

// A node of the plan at `position`; indices of tensors, negative where one is absent.
struct InPlaceNode {
  int position = 0;
  std::span<const int> inputs, outputs;
  uint64_t mask = 0;  // TfLiteInPlaceOp
  ViewOffer views = {};
  // When its outputs come to life: before `position` in a step (core/kernel_api/step.h).
  int first = position;
  // What other nodes of the step may read while or after this one writes.
  std::vector<int> kept = {};
};

// Whether output number `output` of a node may use the memory of input number `input`, which ends
// its life there, as far as the mask goes.
bool MaskAllows(uint64_t mask, int input, int output);

// Sets the owner of outputs that take over an input's memory. An owner has none itself, and its
// lifetime becomes that of all who use its memory. Owners set before are kept; `unshared` tensors,
// and those without bytes, neither get one nor become one.
//
// An output takes over an input of the same size if the input's memory is used by nobody after the
// node, and by no other input of the node that begins or ends elsewhere in it. Where the node
// leaves the bytes as they are (kTfLiteInplaceOpDataUnmodified), the input may live on.
//
// Parts of an output that are made at `first_new` or later are made where the output will be; parts
// of an input stay where they are. Either only where they are aligned as tensors are.
void ShareInPlace(std::span<const InPlaceNode> nodes, const std::vector<bool>& unshared,
                  int first_new, std::vector<Arena::Slot>* slots);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_IN_PLACE_H_
