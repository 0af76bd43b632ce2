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
  int bytes;  // element size
  bool moves;
};

// Contiguous blocks of an input or, if it does not move, its single element.
struct BlockStream {
  const void* first;
  bool moves;
};

// Computes whole blocks; `function` is the loop's parameter.
using BlockLoop = void (*)(const void* function, const BlockStream* inputs, char* out,
                           int64_t blocks);

inline constexpr int kBlockBytes = 64;  // bytes of the narrowest elements in a block
inline constexpr int kMaxInputs = 3;

// log2 of the number of elements per block, for narrowest elements of 1, 2, 4 or more bytes; see
// RunBlocks.
constexpr int BlockShift(size_t narrowest_bytes) {
  return narrowest_bytes == 1 ? 6 : narrowest_bytes == 2 ? 5 : narrowest_bytes == 4 ? 4 : 3;
}

// Runs `loop` for `count` elements of up to kMaxInputs inputs and an output, which may be one of
// them. Blocks have 2^block_shift elements; elements have at most 8 bytes.
void RunBlocks(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
               int block_shift, const void* function, BlockLoop loop);

// Like RunBlocks, for a loop whose inputs always move: the element of an input that does not is
// repeated in memory. Takes up to twice as long.
void RunRepeating(std::span<const BlockInput> inputs, void* out, int out_bytes, int64_t count,
                  int block_shift, const void* function, BlockLoop loop);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_VECTOR_BLOCKS_H_
