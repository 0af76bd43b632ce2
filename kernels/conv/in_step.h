// SPDX-License-Identifier: Apache-2.0
//
// What a convolution computes in a step (core/kernel_api/step.h), for its implementations.
#ifndef DEPUTY_KERNELS_CONV_IN_STEP_H_
#define DEPUTY_KERNELS_CONV_IN_STEP_H_

#include "kernels/conv/conv.h"

namespace deputy {

// RAII guard: the node's data and tensors are those of its step.
class InStep {
 public:
  InStep(const TfLiteContext* context, const StepRun& step, ConvData* data, ConvTensors* tensors);
  ~InStep();
  InStep(const InStep&) = delete;
  InStep& operator=(const InStep&) = delete;

 private:
  template <typename T>
  void Gather(const StepRun& step, TfLiteTensor* output, const T** addend) const;

  ConvData* const data_;
  const WindowAxis y_, x_;
  const FloatRange range_;
  EpilogueF32 epilogue_;
  AddendS8 addend_ = {};
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_IN_STEP_H_
