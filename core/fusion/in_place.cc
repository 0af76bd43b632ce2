// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/in_place.h"

#include <algorithm>
#include <utility>

#include "c_api/include/common.h"

namespace deputy {
namespace {

constexpr uint64_t kSharedBits[kTfLiteMaxSharableOpInputs] = {
    kTfLiteInplaceOpInput0Shared, kTfLiteInplaceOpInput1Shared, kTfLiteInplaceOpInput2Shared};

class InPlacePass {
 public:
  InPlacePass(const std::vector<bool>& unshared, int first_new, std::vector<Arena::Slot>* slots)
      : unshared_(unshared), first_new_(first_new), slots_(*slots), owns_(slots->size()) {
    for (const Arena::Slot& slot : slots_) {
      if (slot.owner >= 0) owns_[static_cast<size_t>(slot.owner)] = true;
    }
  }

  // Assigns one output the memory of the first input that it can reuse.
  void ShareOutput(const InPlaceNode& node, int output) {
    const int to = node.outputs[static_cast<size_t>(output)];
    if (to < 0) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int from = node.inputs[i];
      if (from < 0 || from == to || !MaskAllows(node.mask, static_cast<int>(i), output)) continue;
      const int block = BlockOf(from);
      if (!CanReuse(node, from, block, to)) continue;
      Put(to, block, SlotOf(from).owner_offset);
      return;
    }
  }

  // Places outputs inside the input that contains them.
  void ViewOutputs(const InPlaceNode& node) {
    const int from = At(node.inputs, node.views.whole);
    if (from < 0 || unshared_[static_cast<size_t>(from)]) return;
    size_t owner_offset = node.views.offset;
    for (const int to : node.outputs) {
      // The size of an output outside the arena is unknown.
      const size_t bytes = to < 0 ? 0 : SlotOf(to).bytes;
      if (bytes == 0 || !Fits(owner_offset, bytes, SlotOf(from).bytes)) return;
      const int block = BlockOf(from);
      if (CanView(node, block, to, owner_offset))
        Put(to, block, SlotOf(from).owner_offset + owner_offset);
      owner_offset += bytes;
    }
  }

  // Places inputs inside the output that contains them.
  void ViewInputs(const InPlaceNode& node) {
    const int to = At(node.outputs, node.views.whole);
    if (to < 0 || unshared_[static_cast<size_t>(to)] || SlotOf(to).owner >= 0) return;
    if (!SlotOf(to).lifetime.used()) return;
    size_t owner_offset = node.views.offset;
    for (const int from : node.inputs) {
      const size_t bytes = from < 0 ? 0 : SlotOf(from).bytes;
      if (bytes == 0 || !Fits(owner_offset, bytes, SlotOf(to).bytes)) return;
      if (CanMove(from, to, owner_offset)) Move(from, to, owner_offset);
      owner_offset += bytes;
    }
  }

  // Makes every owner a tensor that has no owner itself.
  void Finish() {
    for (size_t tensor = 0; tensor < slots_.size(); ++tensor) BlockOf(static_cast<int>(tensor));
  }

 private:
  static int At(std::span<const int> indices, int number) {
    return static_cast<size_t>(number) < indices.size() ? indices[static_cast<size_t>(number)] : -1;
  }
  static bool Fits(size_t owner_offset, size_t bytes, size_t whole) {
    return owner_offset <= whole && bytes <= whole - owner_offset;
  }

  void Put(int tensor, int block, size_t owner_offset) {
    SlotOf(tensor).owner = block;
    SlotOf(tensor).owner_offset = owner_offset;
    owns_[static_cast<size_t>(block)] = true;
    SlotOf(block).lifetime.Include(SlotOf(tensor).lifetime.last);
  }

  bool CanView(const InPlaceNode& node, int block, int to, size_t owner_offset) {
    if (unshared_[static_cast<size_t>(to)] || owner_offset % kTensorAlignment != 0) return false;
    const Arena::Slot &output = SlotOf(to), &memory = SlotOf(block);
    return output.owner < 0 && !owns_[static_cast<size_t>(to)] &&
           output.lifetime.first == node.first && memory.lifetime.used() &&
           memory.lifetime.last != kForever;
  }

  // Returns true if the tensor occupies the whole memory of its owner, and that may be moved into
  // `to`.
  bool CanMove(int from, int to, size_t owner_offset) {
    if (unshared_[static_cast<size_t>(from)] || owner_offset % kTensorAlignment != 0) return false;
    const int block = BlockOf(from);
    const Arena::Slot& memory = SlotOf(block);
    if (block == to || unshared_[static_cast<size_t>(block)]) return false;
    return SlotOf(from).owner_offset == 0 && memory.bytes == SlotOf(from).bytes &&
           memory.lifetime.first >= first_new_ && memory.lifetime.used() &&
           memory.lifetime.last != kForever;
  }

  // Moves the tensor, with all tensors in its memory, into `to`.
  void Move(int from, int to, size_t owner_offset) {
    const int block = BlockOf(from);
    SlotOf(to).lifetime.Include(SlotOf(block).lifetime.first);
    Put(block, to, owner_offset);
  }

  Arena::Slot& SlotOf(int tensor) { return slots_[static_cast<size_t>(tensor)]; }

  // Returns the tensor whose memory a tensor uses. Since memory may become part of other memory,
  // owners form chains; path compression keeps the search short.
  int BlockOf(int tensor) {
    int block = tensor;
    size_t owner_offset = 0;
    while (SlotOf(block).owner >= 0) {
      owner_offset += SlotOf(block).owner_offset;
      block = SlotOf(block).owner;
    }
    while (tensor != block) {
      Arena::Slot& slot = SlotOf(tensor);
      const size_t own = std::exchange(slot.owner_offset, owner_offset);
      owner_offset -= own;
      tensor = std::exchange(slot.owner, block);
    }
    return block;
  }

  // Returns true if output `to` can reuse the memory of input `from`, which is in the memory of
  // `block`.
  bool CanReuse(const InPlaceNode& node, int from, int block, int to) {
    if (unshared_[static_cast<size_t>(from)] || unshared_[static_cast<size_t>(to)]) return false;
    const Arena::Slot &input = SlotOf(from), &memory = SlotOf(block), &output = SlotOf(to);
    if (output.owner >= 0 || owns_[static_cast<size_t>(to)]) return false;
    if (input.bytes == 0 || input.bytes != output.bytes) return false;
    if (memory.bytes < output.bytes) return false;
    // The output must be written here first, and the memory must not be kept for the caller.
    if (output.lifetime.first != node.first || memory.lifetime.last == kForever) return false;
    for (int kept : node.kept) {
      if (kept >= 0 && BlockOf(kept) == block) return false;
    }
    const bool reads_only = (node.mask & kTfLiteInplaceOpDataUnmodified) != 0;
    if (reads_only && memory.lifetime.used()) return true;
    return memory.lifetime.last == node.position && !ReadsPartsOf(node, from, block);
  }

  // Returns true if another input overlaps the input at a different offset or with a different
  // size: the node would then read bytes that it has already overwritten.
  bool ReadsPartsOf(const InPlaceNode& node, int from, int block) {
    const Arena::Slot& input = SlotOf(from);
    const auto overlaps = [&](int other) {
      if (other < 0 || other == from || BlockOf(other) != block) return false;
      const Arena::Slot& part = SlotOf(other);
      const bool is_same = part.owner_offset == input.owner_offset && part.bytes == input.bytes;
      return !is_same && part.owner_offset < input.owner_offset + input.bytes &&
             input.owner_offset < part.owner_offset + part.bytes;
    };
    return std::any_of(node.inputs.begin(), node.inputs.end(), overlaps);
  }

  const std::vector<bool>& unshared_;
  const int first_new_;
  std::vector<Arena::Slot>& slots_;
  std::vector<bool> owns_;  // by tensor: true if other tensors use its memory
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
                  int first_new, std::vector<Arena::Slot>* slots) {
  InPlacePass pass(unshared, first_new, slots);
  for (const InPlaceNode& node : nodes) {
    if (node.views.kind == ViewOffer::Kind::kOutputsInInput) pass.ViewOutputs(node);
    if (node.views.kind == ViewOffer::Kind::kInputsInOutput) pass.ViewInputs(node);
    for (size_t output = 0; node.mask != 0 && output < node.outputs.size(); ++output) {
      pass.ShareOutput(node, static_cast<int>(output));
    }
  }
  pass.Finish();
}

}  // namespace deputy
