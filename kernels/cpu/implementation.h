// SPDX-License-Identifier: Apache-2.0
//
// The ways to compute an operator, for operators that have several: a list, the best first and the
// plain reference, which takes everything, last. Prepare chooses; invoke runs what was chosen.
#ifndef DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_
#define DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_

#include <span>

#include "core/kernel_api/scratch.h"
#include "kernels/common/kernel.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// Data is what the kernel keeps of a node, Tensors the node's tensors.
template <typename Data, typename Tensors>
struct Implementation {
  const char* name;
  // Whether it computes these types and shapes with that table.
  bool (*accepts)(const Data& data, const Tensors& tensors, const CpuKernels& cpu);
  // Brings constants that can be read already into the form that `run` reads; null: there are none.
  // `run` packs what was not.
  TfLiteStatus (*pack)(TfLiteContext* context, Data* data, const Tensors& tensors,
                       const CpuKernels& cpu);
  // Bytes of scratch that `run` has at once, with so many workers; null: none.
  size_t (*scratch)(const Data& data, const Tensors& tensors, const CpuKernels& cpu, int workers);
  TfLiteStatus (*run)(TfLiteContext* context, Data* data, const Tensors& tensors,
                      const CpuKernels& cpu);
  // Whether `run` computes what follows the node in a step (core/kernel_api/step.h).
  bool fuses = false;
  // Convolutions: whether `run` takes strides that prepare did not know, with the same constants.
  bool subsamples = false;
};

// What a node keeps of the choice.
template <typename Data, typename Tensors>
class Choice {
 public:
  using Row = Implementation<Data, Tensors>;

  // For prepare, once everything else is in `data`: takes the first of the list that accepts, the
  // last if none does. Its scratch is announced.
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

// Accepts of an implementation that computes everything.
template <typename Data, typename Tensors>
bool AcceptsAll(const Data&, const Tensors&, const CpuKernels&) {
  return true;
}

// For prepare: has `pack` called when memory is laid out, under our interpreter.
inline void RequestPacking(TfLiteContext* context, const TfLiteNode* node,
                           TfLiteStatus (*pack)(TfLiteContext*, TfLiteNode*)) {
  if (Runtime* runtime = RuntimeOf(context)) runtime->RequestPacking(node, pack);
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_IMPLEMENTATION_H_
