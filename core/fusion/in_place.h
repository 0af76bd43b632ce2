// SPDX-License-Identifier: Apache-2.0
//
// Decides which outputs reuse the memory of an input, and which parts alias their whole. Kernels
// declare what they support (TfLiteInPlaceOp mask, ViewOffer); this pure pass over the plan
// decides, before memory is planned, where it is legal.
#ifndef DEPUTY_CORE_FUSION_IN_PLACE_H_
#define DEPUTY_CORE_FUSION_IN_PLACE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/arena.h"
#include "core/kernel_api/fusion_types.h"

namespace deputy {

// A node of the plan at `position`; tensor indices, negative if absent.
struct InPlaceNode {
  int position = 0;
  std::span<const int> inputs, outputs;
  uint64_t mask = 0;  // combination of TfLiteInPlaceOp bits
  ViewOffer views = {};
  // Position at which the node's outputs are first written; in a fusion group
  // (core/kernel_api/fusion.h) it may be before `position`.
  int first = position;
  // Tensors that other nodes, of the group or between its position and this node, may still read
  // while or after this node writes.
  std::vector<int> kept = {};
};

// Returns true if the mask permits the node's output `output` to use the memory of its input
// `input`.
bool MaskAllows(uint64_t mask, int input, int output);

// Sets the owner of outputs that reuse an input's memory. An owner has no owner itself; its
// lifetime is extended to cover all tensors in its memory. Owners set before are kept. `unshared`
// tensors, and those without bytes, neither get an owner nor become one.
//
// An output reuses an input of the same size if the input's memory is not used after the node, and
// if no other input of the node overlaps it at a different offset or with a different size. If the
// node leaves the bytes unchanged (kTfLiteInplaceOpDataUnmodified), the input may be used later.
//
// Parts of an output that are computed at `first_new` or later are written directly into the
// output; parts of an input are read inside it. Both only where the parts have the alignment of
// tensors.
void ShareInPlace(std::span<const InPlaceNode> nodes, const std::vector<bool>& unshared,
                  int first_new, std::vector<Arena::Slot>* slots);

}  // namespace deputy

#endif  // DEPUTY_CORE_FUSION_IN_PLACE_H_
