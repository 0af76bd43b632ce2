// SPDX-License-Identifier: Apache-2.0
#include "core/exec/in_place.h"

#include <algorithm>

#include "c_api/include/common.h"

namespace deputy {
namespace {

constexpr uint64_t kSharedBits[kTfLiteMaxSharableOpInputs] = {
    kTfLiteInplaceOpInput0Shared, kTfLiteInplaceOpInput1Shared, kTfLiteInplaceOpInput2Shared};

// The tensor whose memory `tensor` uses.
InPlaceTensor* BlockOf(int tensor, std::vector<InPlaceTensor>* tensors) {
  InPlaceTensor* const own = &(*tensors)[static_cast<size_t>(tensor)];
  return own->owner < 0 ? own : &(*tensors)[static_cast<size_t>(own->owner)];
}

bool CanTakeOver(const InPlaceNode& node, const InPlaceTensor& input, const InPlaceTensor& block,
                 const InPlaceTensor& output) {
  if (!input.may_share || !output.may_share || output.owner >= 0) return false;
  if (input.bytes == 0 || input.bytes != output.bytes || block.bytes < output.bytes) return false;
  // Made here, and not kept for the caller.
  if (output.lifetime.first != node.position || block.lifetime.last == kForever) return false;
  const bool reads_only = (node.mask & kTfLiteInplaceOpDataUnmodified) != 0;
  return block.lifetime.last == node.position || (reads_only && block.lifetime.used());
}

// Gives one output the memory of the first input that it can take over.
void ShareOutput(const InPlaceNode& node, int output, std::vector<InPlaceTensor>* tensors) {
  const int to = node.outputs[static_cast<size_t>(output)];
  if (to < 0) return;
  InPlaceTensor* const taker = &(*tensors)[static_cast<size_t>(to)];
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int from = node.inputs[i];
    if (from < 0 || from == to || !MaskAllows(node.mask, static_cast<int>(i), output)) continue;
    InPlaceTensor* const block = BlockOf(from, tensors);
    if (!CanTakeOver(node, (*tensors)[static_cast<size_t>(from)], *block, *taker)) continue;
    taker->owner = static_cast<int>(block - tensors->data());
    block->lifetime.Include(taker->lifetime.last);
    return;
  }
}

}  // namespace

bool MaskAllows(uint64_t mask, int input, int output) {
  if (output == 0 && input < kTfLiteMaxSharableOpInputs && (mask & kSharedBits[input]) != 0) {
    return true;
  }
  if (output == 0 && input == 0 && (mask & kTfLiteInplaceOpDataUnmodified) != 0) return true;
  return input == output && (mask & kTfLiteInplaceInputCanBeSharedWithCorrespondingOutput) != 0;
}

void ShareInPlace(std::span<const InPlaceNode> nodes, std::vector<InPlaceTensor>* tensors) {
  for (const InPlaceNode& node : nodes) {
    for (size_t output = 0; node.mask != 0 && output < node.outputs.size(); ++output) {
      ShareOutput(node, static_cast<int>(output), tensors);
    }
  }
}

}  // namespace deputy
