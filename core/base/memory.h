// SPDX-License-Identifier: Apache-2.0
//
// Memory whose size depends on the model. Sizes are checked against limits before the allocation,
// and functions return false on failure; they never throw or abort. (Under AddressSanitizer an
// excessive `operator new` aborts the process in any case, so sizes must be checked before any
// allocator is called.)
#ifndef DEPUTY_CORE_BASE_MEMORY_H_
#define DEPUTY_CORE_BASE_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace deputy {

// Alignment of tensor data that Deputy allocates, and that clients must provide for custom
// allocations.
inline constexpr size_t kTensorAlignment = 64;

// Limits of one model and one interpreter. In a client's struct, 0 selects the default.
struct Limits {
  // Size of any one block, and of all values in Resources together; default min(physical memory,
  // RLIMIT_AS).
  size_t max_block_bytes;
  // Number of tensors of a model's subgraphs together, and at run time of each subgraph; also of
  // variables and of tables in Resources.
  int max_tensors = 1'000'000;
  // Number of nodes of a model's subgraphs together, and at run time of each subgraph; also of a
  // model's operator codes, signatures and metadata entries.
  int max_nodes = 1'000'000;
  int max_call_depth = 64;  // maximum depth of nested calls of subgraphs
  // Number of subgraphs, limited because a file may refer to one table many times, and each
  // reference becomes a subgraph of a kilobyte or more.
  int max_subgraphs = 100'000;

  Limits();
};

// MultiplySizes and AddSizes compute a * b and a + b. They return false, with `*out` unchanged, on
// overflow.
bool MultiplySizes(size_t a, size_t b, size_t* out);
bool AddSizes(size_t a, size_t b, size_t* out);

// Rounds a block's size up to whole huge pages if its last one would be at least half full:
// faulting in a huge page is faster than faulting in half of it in small pages.
size_t InLargePages(size_t bytes);

// An owned block of kTensorAlignment-aligned memory.
class Block {
 public:
  Block() = default;
  ~Block();
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Grows the block to at least `bytes`, keeping the first `keep_bytes` of its contents; new bytes
  // are uninitialised. A block that is large enough is unchanged. Returns false, with the block
  // unchanged, if `bytes` exceeds the limits or memory is exhausted.
  bool Reserve(size_t bytes, size_t keep_bytes, const Limits& limits);
  void Free();

  char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_MEMORY_H_
