// SPDX-License-Identifier: Apache-2.0
//
// A kernel's memory with the lifetime of one invoke. All nodes of an interpreter share it; its
// contents do not survive the invoke.
#ifndef DEPUTY_CORE_KERNEL_API_SCRATCH_H_
#define DEPUTY_CORE_KERNEL_API_SCRATCH_H_

#include "core/kernel_api/runtime.h"

namespace deputy {

// For prepare: announces the number of bytes that one invoke of this node acquires at once. If they
// are not announced, only the first two invokes are slower.
void AnnounceScratch(const TfLiteContext* context, size_t bytes);

// RAII guard: releases the memory that it acquired. Guards nest: they must be destroyed in the
// reverse order of their Acquire calls. A kernel that calls a subgraph must hold none: the
// subgraph's kernels use the same memory (they would not overwrite it, but two copies would be
// needed).
class Scratch {
 public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Acquires at least `bytes`, aligned for tensors, uninitialised. May be called once per object.
  // Returns false if a limit is exceeded or memory is exhausted.
  bool Acquire(const TfLiteContext* context, size_t bytes);
  // Acquires `bytes_each` for each of `workers`; see worker().
  bool AcquireForWorkers(const TfLiteContext* context, size_t bytes_each, int workers);

  char* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  // Returns the worker's part of the memory that AcquireForWorkers acquired, aligned for tensors.
  char* worker(int number) const { return data_ + static_cast<size_t>(number) * bytes_each_; }

 private:
  ScratchArena* arena_ = nullptr;  // owner of the memory; null under a foreign context
  Block own_;
  char* data_ = nullptr;
  size_t bytes_each_ = 0;
};

// Computes the rounded size per worker and the total of AcquireForWorkers; false on overflow.
bool ScratchForWorkers(size_t bytes_each, int workers, size_t* out_each, size_t* out_total);

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_SCRATCH_H_
