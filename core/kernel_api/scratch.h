// SPDX-License-Identifier: Apache-2.0
//
// Memory of a kernel for the time of one invoke. All nodes of an interpreter share it; nothing in
// it survives the invoke.
#ifndef DEPUTY_CORE_KERNEL_API_SCRATCH_H_
#define DEPUTY_CORE_KERNEL_API_SCRATCH_H_

#include "core/kernel_api/runtime.h"

namespace deputy {

// For prepare: an invoke of this node will have so many bytes at once. Not having said so costs
// time at the first invoke, nothing else.
void AnnounceScratch(const TfLiteContext* context, size_t bytes);

// RAII guard: gives back what it acquired. Several nest, so they must go in the reverse order of
// their Acquire. A kernel that calls a subgraph must hold none: the subgraph's kernels use the same
// memory (they would not overwrite it, but two copies would be needed).
class Scratch {
 public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // At least `bytes`, aligned for tensors, uninitialised. Once per object. False when memory is
  // refused.
  bool Acquire(const TfLiteContext* context, size_t bytes);
  // `bytes_each` for each of `workers`; see worker().
  bool AcquireForWorkers(const TfLiteContext* context, size_t bytes_each, int workers);

  char* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  // What belongs to one worker, aligned.
  char* worker(int number) const { return data_ + static_cast<size_t>(number) * bytes_each_; }

 private:
  ScratchArena* arena_ = nullptr;  // whose memory it is; null under a foreign context
  Block own_;
  char* data_ = nullptr;
  size_t bytes_each_ = 0;
};

// What AcquireForWorkers takes in all; false when it does not fit.
bool ScratchForWorkers(size_t bytes_each, int workers, size_t* out_each, size_t* out_total);

}  // namespace deputy

#endif  // DEPUTY_CORE_KERNEL_API_SCRATCH_H_
