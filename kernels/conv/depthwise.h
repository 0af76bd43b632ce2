// SPDX-License-Identifier: Apache-2.0
//
// What the implementations of DEPTHWISE_CONV_2D share. They take one output per input channel;
// several are rare and stay with the reference, as uint8, int16 and hybrid do.
#ifndef DEPUTY_KERNELS_CONV_DEPTHWISE_H_
#define DEPUTY_KERNELS_CONV_DEPTHWISE_H_

#include <numeric>

#include "kernels/conv/conv.h"

namespace deputy {

inline bool IsOneToOne(const ConvShape& shape) {
  return shape.input_channels == shape.output_channels;
}

inline size_t DepthwiseTaps(const ConvShape& shape) {
  return static_cast<size_t>(shape.y.filter) * static_cast<size_t>(shape.x.filter);
}

inline int64_t DepthwiseRowValues(const ConvShape& shape) {
  return int64_t{shape.x.output} * shape.output_channels;
}

// With stride 1 the interior of a row is one run of values, and what a value is multiplied by
// depends on its channel alone: vectors of `lanes` may span pixels. Returns the number of values
// after which a vector begins with the first channel again; 0 where pixels fill vectors without,
// and where weights would have to be repeated too often.
inline int FlatPeriod(const ConvShape& shape, int lanes, int max_channels) {
  const int channels = shape.output_channels;
  if (shape.x.stride != 1 || channels % lanes == 0 || channels > max_channels) return 0;
  const int period = std::lcm(channels, lanes);
  return Interior(shape.x).columns() / 2 < period / channels ? 0 : period;
}

// Bytes for all workers; 0 when they do not fit.
inline size_t WorkerScratch(size_t bytes, int workers) {
  size_t each, total;
  return ScratchForWorkers(bytes, workers, &each, &total) ? total : 0;
}

inline TfLiteStatus AcquireDepthwiseScratch(TfLiteContext* context, size_t bytes,
                                            const ConvTensors& tensors, Scratch* out) {
  return out->AcquireForWorkers(context, bytes, ThreadCount(context))
             ? kTfLiteOk
             : TensorError(context, tensors.filter, "out of memory for its taps");
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_DEPTHWISE_H_
