// SPDX-License-Identifier: Apache-2.0
//
// Selection among several implementations of an operator. The list is ordered from the fastest to
// the plain reference, which accepts everything. Prepare selects an implementation; invoke runs it.
#ifndef DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_
#define DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_

#include <span>

#include "core/kernel_api/scratch.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// One implementation of an operator. Data is the type of the kernel's data of a node, Tensors that
// of the node's tensors.
template <typename Data, typename Tensors>
struct Implementation {
  const char* name;
  // Returns true if the implementation supports these types and shapes with the kernels of `cpu`.
  bool (*accepts)(const Data& data, const Tensors& tensors, const CpuKernels& cpu);
  // Packs the constants that are already available; `run` packs the others. Null if there is
  // nothing to pack.
  TfLiteStatus (*pack)(TfLiteContext* context, Data* data, const Tensors& tensors,
                       const CpuKernels& cpu);
  // Returns the bytes of scratch memory that `run` uses at once with that number of workers; null
  // if it uses none.
  size_t (*scratch)(const Data& data, const Tensors& tensors, const CpuKernels& cpu, int workers);
  TfLiteStatus (*run)(TfLiteContext* context, Data* data, const Tensors& tensors,
                      const CpuKernels& cpu);
  // True if `run` supports fusion groups (core/kernel_api/fusion.h).
  bool fuses = false;
  // True if `run` of a convolution supports strides set after prepare, with the same packed
  // constants.
  bool subsamples = false;
  // Name if the table's 16-bit products are float16 (GemmBf16Kernels::is_float16); null: `name`.
  const char* float16_name = nullptr;
};

// The implementation selected for a node.
template <typename Data, typename Tensors>
class Choice {
 public:
  using Row = Implementation<Data, Tensors>;

  // Selects the first implementation of the list that accepts the node, or the last one, and
  // declares its scratch memory; called in prepare, after `data` is complete. The node keeps the
  // table: constants are packed for its kernels.
  void Make(TfLiteContext* context, const CpuKernels& cpu, std::span<const Row* const> list,
            const Data& data, const Tensors& tensors) {
    cpu_ = &cpu;
    for (const Row* candidate : list) {
      chosen_ = candidate;
      if (candidate->accepts(data, tensors, *cpu_)) break;
    }
    if (Runtime* runtime = RuntimeOf(context)) runtime->NoteImplementation(name());
    if (chosen_->scratch != nullptr) {
      AnnounceScratch(context, chosen_->scratch(data, tensors, *cpu_, ThreadCount(context)));
    }
  }

  const char* name() const {
    const bool is_float16 = chosen_->float16_name != nullptr && cpu_->gemm_bf16.is_float16;
    return is_float16 ? chosen_->float16_name : chosen_->name;
  }
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

// Implementation::accepts of an implementation without restrictions.
template <typename Data, typename Tensors>
bool AcceptsAll(const Data&, const Tensors&, const CpuKernels&) {
  return true;
}

// Requests, in prepare, that the interpreter calls `pack` when it has allocated memory. Has no
// effect under a foreign context.
inline void RequestPacking(TfLiteContext* context, const TfLiteNode* node,
                           TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->RequestPacking(node, pack);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_
