// SPDX-License-Identifier: Apache-2.0
//
// Allocators for the memory of tensors that belong to the caller (MSTensor::SetAllocator).
#ifndef DEPUTY_MINDSPORE_INCLUDE_ALLOCATOR_H_
#define DEPUTY_MINDSPORE_INCLUDE_ALLOCATOR_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "data_type.h"

namespace mindspore {

class Allocator {
 public:
  Allocator() = default;
  virtual ~Allocator() = default;

  // Returns `size` bytes; null if out of memory. May be called from any thread that uses a tensor
  // with this allocator.
  virtual void* Malloc(size_t size) = 0;
  // Returns memory for an image of a device; null if the allocator has none. Deputy does not call
  // it.
  virtual void* Malloc(size_t /*width*/, size_t /*height*/, enum DataType /*type*/) {
    return nullptr;
  }
  // Frees memory of Malloc.
  virtual void Free(void* pointer) = 0;

  // Access the reference count of a block, which starts at 0. RefCount returns the count, the
  // others return the new one. Deputy does not call them.
  virtual int RefCount(void* pointer) = 0;
  virtual int SetRefCount(void* pointer, int count) = 0;
  virtual int DecRefCount(void* pointer, int count) = 0;
  virtual int IncRefCount(void* pointer, int count) = 0;

  // Makes memory of Malloc accessible, and returns the pointer to use. Deputy does not call it.
  virtual void* Prepare(void* pointer) { return pointer; }

  // Returns an allocator whose blocks are aligned to 64 bytes. Calls from several threads are safe.
  static std::shared_ptr<Allocator> Create();

 protected:
  // Alignment of blocks in bytes.
  size_t aligned_size_ = 32;
};

namespace detail {

// The allocator of Allocator::Create. The reference count is in front of each block.
class HeapAllocator : public Allocator {
 public:
  HeapAllocator() { aligned_size_ = kAlignment; }
  using Allocator::Malloc;
  void* Malloc(size_t size) override {
    if (size > SIZE_MAX - kAlignment) return nullptr;
    void* block = ::operator new(size + kAlignment, std::align_val_t(kAlignment), std::nothrow);
    if (block == nullptr) return nullptr;
    new (block) std::atomic<int>(0);
    return static_cast<char*>(block) + kAlignment;
  }
  void Free(void* pointer) override {
    if (pointer == nullptr) return;
    ::operator delete(static_cast<char*>(pointer) - kAlignment, std::align_val_t(kAlignment));
  }
  int RefCount(void* pointer) override { return pointer == nullptr ? -1 : Count(pointer)->load(); }
  int SetRefCount(void* pointer, int count) override {
    if (pointer == nullptr) return -1;
    Count(pointer)->store(count);
    return count;
  }
  int DecRefCount(void* pointer, int count) override { return IncRefCount(pointer, -count); }
  int IncRefCount(void* pointer, int count) override {
    return pointer == nullptr ? -1 : Count(pointer)->fetch_add(count) + count;
  }

 private:
  static constexpr size_t kAlignment = 64;
  static std::atomic<int>* Count(void* pointer) {
    return reinterpret_cast<std::atomic<int>*>(static_cast<char*>(pointer) - kAlignment);
  }
};

}  // namespace detail

inline std::shared_ptr<Allocator> Allocator::Create() {
  return std::make_shared<detail::HeapAllocator>();
}

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_ALLOCATOR_H_
