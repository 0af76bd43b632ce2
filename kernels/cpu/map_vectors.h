// SPDX-License-Identifier: Apache-2.0
//
// Float operators of one input that have a vector loop.
#ifndef DEPUTY_KERNELS_CPU_MAP_VECTORS_H_
#define DEPUTY_KERNELS_CPU_MAP_VECTORS_H_

#include "kernels/common/elementwise.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// output[i] = function(input[i]) on all threads: by the loop of the table in use, or, where it has
// none, by `reference`.
template <typename Function>
TfLiteStatus MapVectors(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                        MapF32 VectorKernels::*loop, float parameter, const Function& reference) {
  const MapF32 map = Cpu().vector.*loop;
  if (map == nullptr) return MapElements<float>(context, input, output, reference);
  const float* values = Data<float>(input);
  float* out = Data<float>(output);
  ParallelRanges(context, ElementCount(input), kElementsPerTask, [&](int64_t first, int64_t last) {
    map(values + first, last - first, parameter, out + first);
  });
  return kTfLiteOk;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_MAP_VECTORS_H_
