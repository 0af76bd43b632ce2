// SPDX-License-Identifier: Apache-2.0
#include "kernels/vector/blocks.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace deputy {
namespace {

// Maximum bytes of a block: elements of 8 bytes, as many as the narrowest elements have in a block.
constexpr int kMaxBlock = 8 * kBlockBytes;

// Copies few bytes, for which a memcpy call would take longer.
inline void CopyFew(const char* in, int bytes, char* out) {
  for (; bytes >= 16; bytes -= 16, in += 16, out += 16) std::memcpy(out, in, 16);
  if ((bytes & 8) != 0) std::memcpy(out, in, 8), in += 8, out += 8;
  if ((bytes & 4) != 0) std::memcpy(out, in, 4), in += 4, out += 4;
  if ((bytes & 2) != 0) std::memcpy(out, in, 2), in += 2, out += 2;
  if ((bytes & 1) != 0) *out = *in;
}

}  // namespace

void RunBlocks(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
               int block_shift, const void* function, BlockLoop loop) {
  if (count <= 0) return;  // pointers may be null if there are no elements
  BlockStream streams[kMaxInputs];
  for (size_t i = 0; i < inputs.size(); ++i) {
    streams[i] = {inputs[i].elements, inputs[i].moves || count == 1};
  }
  const int64_t blocks = count >> block_shift, elements = blocks << block_shift;
  char* to = static_cast<char*>(out);
  if (blocks > 0) loop(function, streams, to, blocks);
  const int remainder = static_cast<int>(count - elements), block = 1 << block_shift;
  if (remainder == 0) return;
  alignas(kBlockBytes) char own[kMaxInputs][kMaxBlock];
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!streams[i].moves) continue;
    for (int zero = 0; zero < block * inputs[i].bytes; zero += kBlockBytes) {
      std::memset(own[i] + zero, 0, kBlockBytes);
    }
    CopyFew(static_cast<const char*>(streams[i].first) + elements * inputs[i].bytes,
            remainder * inputs[i].bytes, own[i]);
    streams[i].first = own[i];
  }
  to += elements * out_bytes;
  alignas(kBlockBytes) char result[kMaxBlock];
  loop(function, streams, result, 1);
  CopyFew(result, remainder * out_bytes, to);
}

void RunRepeating(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
                  int block_shift, const void* function, BlockLoop loop) {
  if (count <= 0) return;  // pointers may be null if there are no elements
  constexpr int kBlocks = 8;
  const int64_t chunk = std::min<int64_t>(count, int64_t{kBlocks} << block_shift);
  alignas(kBlockBytes) char repeated[kMaxInputs][kBlocks * kMaxBlock];
  BlockInput here[kMaxInputs];
  for (size_t i = 0; i < inputs.size(); ++i) {
    here[i] = inputs[i];
    if (inputs[i].moves) continue;
    const int64_t bytes = chunk * inputs[i].bytes;
    std::memcpy(repeated[i], inputs[i].elements, static_cast<size_t>(inputs[i].bytes));
    for (int64_t filled = inputs[i].bytes; filled < bytes; filled *= 2) {
      std::memcpy(repeated[i] + filled, repeated[i],
                  static_cast<size_t>(std::min(filled, bytes - filled)));
    }
    here[i] = {repeated[i], inputs[i].bytes, true};
  }
  for (int64_t first = 0; first < count; first += chunk) {
    RunBlocks({here, inputs.size()}, static_cast<char*>(out) + first * out_bytes, out_bytes,
              std::min(chunk, count - first), block_shift, function, loop);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].moves) continue;
      here[i].elements = static_cast<const char*>(here[i].elements) + chunk * inputs[i].bytes;
    }
  }
}

}  // namespace deputy
