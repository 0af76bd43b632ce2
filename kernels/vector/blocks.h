// SPDX-License-Identifier: Apache-2.0
//
// Loops over elements in blocks. The size of a block is a multiple of the vector length of every
// instruction set. The remainder is copied to a padded block, so that loops need no code for it.
#ifndef DEPUTY_KERNELS_VECTOR_BLOCKS_H_
#define DEPUTY_KERNELS_VECTOR_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace deputy {

// An input of a loop. An input that does not move provides a single element for all iterations.
struct BlockInput {
  const void* elements;
  int bytes;  // bytes per element
  bool moves;
};

// Contiguous blocks of an input or, if it does not move, its single element.
struct BlockStream {
  const void* first;
  bool moves;
};

// Function that computes whole blocks; its parameter `function` is the argument of RunBlocks.
using BlockLoop = void (*)(const void* function, const BlockStream* inputs, char* out,
                           int64_t blocks);

inline constexpr int kBlockBytes = 64;  // size of a block of the narrowest elements
inline constexpr int kMaxInputs = 3;

// Returns log2 of the number of elements per block, for narrowest elements of 1, 2, 4 or more
// bytes; see RunBlocks.
constexpr int BlockShift(size_t narrowest_bytes) {
  return narrowest_bytes == 1 ? 6 : narrowest_bytes == 2 ? 5 : narrowest_bytes == 4 ? 4 : 3;
}

// Runs `loop` for `count` elements of up to kMaxInputs inputs and an output, which may be one of
// the inputs. Blocks have 2^block_shift elements; elements have at most 8 bytes.
void RunBlocks(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
               int block_shift, const void* function, BlockLoop loop);

// Runs `loop` as RunBlocks does, for a loop whose inputs always move: the element of an input that
// does not move is repeated in memory. Takes up to twice as long.
void RunRepeating(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
                  int block_shift, const void* function, BlockLoop loop);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_VECTOR_BLOCKS_H_
