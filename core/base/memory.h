// SPDX-License-Identifier: Apache-2.0
//
// Memory whose size a model decides. Every such block comes from here: the size is held against
// the limits first, and a refusal is a null pointer, never an exception and never an abort.
// (Under AddressSanitizer an over-large `operator new` ends the process whatever the options say;
// this is why sizes are checked before any allocator sees them.)
#ifndef DEPUTY_CORE_BASE_MEMORY_H_
#define DEPUTY_CORE_BASE_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace deputy {

// Alignment of tensor data that we allocate, and that clients must honour for custom allocations.
inline constexpr size_t kTensorAlignment = 64;

// What one model and one interpreter may take. Zero in a client's struct means "keep the default".
struct Limits {
  size_t max_block_bytes;       // arena or any one block; default min(physical memory, RLIMIT_AS)
  int max_tensors = 1'000'000;  // of all subgraphs
  int max_nodes = 1'000'000;    // of all subgraphs
  int max_call_depth = 64;      // subgraph calls inside each other
  // A file may name one table many times over, and each becomes a subgraph of a kilobyte or more.
  int max_subgraphs = 100'000;

  Limits();
};

// a * b and a + b in 64 bits; false when the result does not fit, `*out` is then untouched.
bool MultiplySizes(size_t a, size_t b, size_t* out);
bool AddSizes(size_t a, size_t b, size_t* out);

// What a block of so many bytes takes in large pages, where these are worth having: one that is
// half full is there sooner than its half in small ones.
size_t InLargePages(size_t bytes);

// An owned block of kTensorAlignment-aligned memory that a model's numbers size.
class Block {
 public:
  Block() = default;
  ~Block();
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Makes room for `bytes`, keeping the first `keep_bytes` of the old contents; new bytes are
  // uninitialised. A block that is large enough is kept as it is. False when `bytes` exceeds the
  // limits or memory is refused: the old block is then untouched.
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
