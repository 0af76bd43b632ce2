// SPDX-License-Identifier: Apache-2.0
//
// Selection among several implementations of an operator: a list, ordered from the fastest to the
// plain reference, which accepts everything. Prepare selects one; invoke runs it.
#ifndef DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_
#define DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_

#include <span>

#include "core/kernel_api/scratch.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// Data is the node's data of the kernel, Tensors the node's tensors.
template <typename Data, typename Tensors>
struct Implementation {
  const char* name;
  // Returns true if it supports these types and shapes with the kernels of `cpu`.
  bool (*accepts)(const Data& data, const Tensors& tensors, const CpuKernels& cpu);
  // Packs the constants that are already available; null if there are none. `run` packs the others.
  TfLiteStatus (*pack)(TfLiteContext* context, Data* data, const Tensors& tensors,
                       const CpuKernels& cpu);
  // Bytes of scratch memory that `run` uses at once with that number of workers; null: none.
  size_t (*scratch)(const Data& data, const Tensors& tensors, const CpuKernels& cpu, int workers);
  TfLiteStatus (*run)(TfLiteContext* context, Data* data, const Tensors& tensors,
                      const CpuKernels& cpu);
  // `run` supports fusion groups (core/kernel_api/fusion.h).
  bool fuses = false;
  // Convolutions: `run` supports strides set after prepare, with the same packed constants.
  bool subsamples = false;
};

// The implementation selected for a node.
template <typename Data, typename Tensors>
class Choice {
 public:
  using Row = Implementation<Data, Tensors>;

  // For prepare, after `data` is complete: selects the first implementation of the list that
  // accepts the node, or the last one, and declares its scratch memory.
  void Make(TfLiteContext* context, std::span<const Row* const> list, const Data& data,
            const Tensors& tensors) {
    cpu_ = &Cpu();
    for (const Row* candidate : list) {
      chosen_ = candidate;
      if (candidate->accepts(data, tensors, *cpu_)) break;
    }
    if (Runtime* runtime = RuntimeOf(context)) runtime->NoteImplementation(chosen_->name);
    if (chosen_->scratch != nullptr) {
      AnnounceScratch(context, chosen_->scratch(data, tensors, *cpu_, ThreadCount(context)));
    }
  }

  const char* name() const { return chosen_->name; }
  bool Is(const Row& row) const { return chosen_ == &row; }
  const CpuKernels& cpu() const { return *cpu_; }
  bool fuses() const { return chosen_->fuses; }
  bool subsamples() const { return chosen_->subsamples; }
  TfLiteStatus Pack(TfLiteContext* context, Data* data, const Tensors& tensors) const {
    return chosen_->pack == nullptr ? kTfLiteOk : chosen_->pack(context, data, tensors, *cpu_);
  }
  TfLiteStatus Run(TfLiteContext* context, Data* data, const Tensors& tensors) const {
    return chosen_->run(context, data, tensors, *cpu_);
  }

 private:
  const Row* chosen_ = nullptr;
  const CpuKernels* cpu_ = nullptr;
};

// `accepts` of an implementation without restrictions.
template <typename Data, typename Tensors>
bool AcceptsAll(const Data&, const Tensors&, const CpuKernels&) {
  return true;
}

// For prepare: requests that our interpreter calls `pack` when it has allocated memory.
inline void RequestPacking(TfLiteContext* context, const TfLiteNode* node,
                           TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->RequestPacking(node, pack);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_
