// SPDX-License-Identifier: Apache-2.0
#include "core/exec/in_place.h"

#include "c_api/include/common.h"

namespace deputy {
namespace {

constexpr uint64_t kSharedBits[kTfLiteMaxSharableOpInputs] = {
    kTfLiteInplaceOpInput0Shared, kTfLiteInplaceOpInput1Shared, kTfLiteInplaceOpInput2Shared};

class InPlacePass {
 public:
  InPlacePass(const std::vector<bool>& unshared, std::vector<Arena::Slot>* slots)
      : unshared_(unshared), slots_(*slots) {}

  // Gives one output the memory of the first input that it can take over.
  void ShareOutput(const InPlaceNode& node, int output) {
    const int to = node.outputs[static_cast<size_t>(output)];
    if (to < 0) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int from = node.inputs[i];
      if (from < 0 || from == to || !MaskAllows(node.mask, static_cast<int>(i), output)) continue;
      const int block = BlockOf(from);
      if (!CanTakeOver(node, from, block, to)) continue;
      SlotOf(to).owner = block;
      SlotOf(block).lifetime.Include(SlotOf(to).lifetime.last);
      return;
    }
  }

 private:
  Arena::Slot& SlotOf(int tensor) { return slots_[static_cast<size_t>(tensor)]; }

  // The tensor whose memory a tensor uses.
  int BlockOf(int tensor) { return SlotOf(tensor).owner < 0 ? tensor : SlotOf(tensor).owner; }

  // `block`: the tensor whose memory `from` uses.
  bool CanTakeOver(const InPlaceNode& node, int from, int block, int to) {
    if (unshared_[static_cast<size_t>(from)] || unshared_[static_cast<size_t>(to)]) return false;
    const Arena::Slot &input = SlotOf(from), &memory = SlotOf(block), &output = SlotOf(to);
    if (output.owner >= 0 || input.bytes == 0 || input.bytes != output.bytes) return false;
    if (memory.bytes < output.bytes) return false;
    // Made here, and not kept for the caller.
    if (output.lifetime.first != node.first || memory.lifetime.last == kForever) return false;
    for (int kept : node.kept) {
      if (kept >= 0 && BlockOf(kept) == block) return false;
    }
    const bool reads_only = (node.mask & kTfLiteInplaceOpDataUnmodified) != 0;
    return memory.lifetime.last == node.position || (reads_only && memory.lifetime.used());
  }

  const std::vector<bool>& unshared_;
  std::vector<Arena::Slot>& slots_;
};

}  // namespace

bool MaskAllows(uint64_t mask, int input, int output) {
  if (output == 0 && input < kTfLiteMaxSharableOpInputs && (mask & kSharedBits[input]) != 0) {
    return true;
  }
  if (output == 0 && input == 0 && (mask & kTfLiteInplaceOpDataUnmodified) != 0) return true;
  return input == output && (mask & kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput) != 0;
}

void ShareInPlace(std::span<const InPlaceNode> nodes, const std::vector<bool>& unshared,
                  std::vector<Arena::Slot>* slots) {
  InPlacePass pass(unshared, slots);
  for (const InPlaceNode& node : nodes) {
    for (size_t output = 0; node.mask != 0 && output < node.outputs.size(); ++output) {
      pass.ShareOutput(node, static_cast<int>(output));
    }
  }
}

}  // namespace deputy
