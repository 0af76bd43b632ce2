// SPDX-License-Identifier: Apache-2.0
//
// Loops over elements, block by block: a block has so many elements that they are whole vectors of
// every instruction set. What is left over at the end is copied into a block of its own, so that a
// loop needs no other code for it.
#ifndef DEPUTY_KERNELS_VECTOR_BLOCKS_H_
#define DEPUTY_KERNELS_VECTOR_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace deputy {

// An input of a loop. One that does not move has a single element, which all others are like.
struct BlockInput {
  const void* elements;
  int bytes;  // of an element
  bool moves;
};

// Blocks of an input, one after the other; or, where it does not move, its element.
struct BlockStream {
  const void* first;
  bool moves;
};

// Computes whole blocks, as `function` says.
using BlockLoop = void (*)(const void* function, const BlockStream* inputs, char* out,
                           int64_t blocks);

inline constexpr int kBlockBytes = 64;  // of the narrowest elements
inline constexpr int kMostInputs = 3;

// Of a block of which an element has so many bytes, 1, 2, 4 or 8, or more: see RunBlocks.
constexpr int BlockShift(size_t narrowest_bytes) {
  return narrowest_bytes == 1 ? 6 : narrowest_bytes == 2 ? 5 : narrowest_bytes == 4 ? 4 : 3;
}

// `loop` for `count` elements of up to kMostInputs inputs and of an output, which may be one of
// them; 2^block_shift of them are a block. Elements have 8 bytes or less.
void RunBlocks(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
               int block_shift, const void* function, BlockLoop loop);

// The same for a loop whose inputs always move: the element of one that does not is repeated in
// memory. Takes up to twice as long.
void RunRepeating(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
                  int block_shift, const void* function, BlockLoop loop);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_VECTOR_BLOCKS_H_
