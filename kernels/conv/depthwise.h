// SPDX-License-Identifier: Apache-2.0
//
// Data shared by the implementations of DEPTHWISE_CONV_2D. They compute one output per input
// channel; with a multiplier, float32, int8 and uint8 use a copy of the input (repeat.cc), int16
// and hybrid the reference.
#ifndef DEPUTY_KERNELS_CONV_DEPTHWISE_H_
#define DEPUTY_KERNELS_CONV_DEPTHWISE_H_

#include <numeric>

#include "kernels/conv/conv.h"

namespace deputy {

inline bool IsOneToOne(const ConvShape& shape) {
  return shape.input_channels == shape.output_channels;
}

// Number of taps of a filter, counting all of its filter_parts.
inline size_t DepthwiseTaps(const ConvShape& shape) {
  return static_cast<size_t>(shape.y.filter) * static_cast<size_t>(shape.x.filter) *
         static_cast<size_t>(shape.filter_parts);
}

inline int64_t DepthwiseRowValues(const ConvShape& shape) {
  return int64_t{shape.x.output} * shape.output_channels;
}

// With stride 1 the interior of a row is one run of values, and a value's factor depends only on
// its channel: vectors of `lanes` may span pixels. Returns the number of values after which a
// vector begins with the first channel again. Returns 0 for other strides, if pixels are whole
// vectors anyway or have more than `max_channels` channels, or if the interior is shorter than two
// periods.
inline int FlatPeriod(const ConvShape& shape, int lanes, int max_channels) {
  const int channels = shape.output_channels;
  if (shape.x.stride != 1 || channels % lanes == 0 || channels > max_channels) return 0;
  const int period = std::lcm(channels, lanes);
  return Interior(shape.x).columns() / 2 < period / channels ? 0 : period;
}

// Returns the total of `bytes` bytes per worker, each aligned; 0 on overflow.
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

// Computes, for every channel of an int8 layer, the bias less the input's zero point, in the
// kernel's encoding, times the sum of the channel's weights. Valid because all taps are summed,
// padding included.
void FoldZeroPoint(const ConvData& data, const CpuKernels& cpu, const ConvTensors& tensors,
                   int32_t* folded);

// ---- float32 ----------------------------------------------------------------------------------

// Weights and bias repeated so that vectors may span pixels; see FlatPeriod.
struct FlatWeights {
  // Number of lanes of the widest vectors.
  static constexpr int kLanes = 16;

  static int Period(const ConvShape& shape) { return FlatPeriod(shape, kLanes, 4 * kLanes); }
  static size_t Values(const ConvShape& shape) {
    return static_cast<size_t>(Period(shape)) * (DepthwiseTaps(shape) + 1);
  }

  int period;
  const float* weights;  // shape [taps][period]
  const float* bias;     // shape [period]

  // Writes weights and bias to `buffer`, which has space for Values() values.
  FlatWeights(const ConvShape& shape, const float* from, const float* from_bias, float* buffer)
      : period(Period(shape)), weights(buffer), bias(buffer) {
    if (period == 0) return;
    const size_t taps = DepthwiseTaps(shape), channels = static_cast<size_t>(shape.output_channels);
    for (size_t tap = 0; tap < taps; ++tap, buffer += period) {
      Repeat(from + tap * channels, channels, buffer);
    }
    Repeat(from_bias, channels, buffer);
    bias = buffer;
  }

 private:
  void Repeat(const float* values, size_t count, float* out) const {
    for (int i = 0; i < period; i += static_cast<int>(count)) std::copy_n(values, count, out + i);
  }
};

// Data shared by the rows of a float32 depthwise convolution.
struct DepthwiseRows {
  const ConvShape& shape;
  const CpuKernels& cpu;
  const float* weights;
  const float* bias;
  FloatRange range;
  Interior interior;
  FlatWeights flat;
  const EpilogueF32* epilogue;  // null if there is none

  // Number of output rows computed together, so that shared input is read from the first-level
  // cache.
  static constexpr int kMaxLines = 4;

  // Bytes of scratch memory of a worker: a pointer to inputs for each of kMaxLines output rows and
  // each filter row, and a pointer to weights for each filter row.
  static size_t ScratchBytes(const ConvShape& shape) {
    return AlignedBytes((kMaxLines + 1) *
                        static_cast<size_t>(std::min(shape.y.filter, shape.y.input)) *
                        sizeof(void*));
  }

  // Output columns [first, last).
  struct Columns {
    int first, last;
  };

  // Computes some columns of an output row of batch `batch`, whose input is `input`. `out` is the
  // whole row. May be called from several threads.
  void RunPart(const RowRing<const float>& input, int64_t batch, int row, Columns columns,
               char* scratch, float* out) const;
  // Computes output rows [first, last) of batch `batch`, whose input is `input`. May be called from
  // several threads.
  void Run(const RowRing<const float>& input, int64_t batch, int64_t first, int64_t last,
           char* scratch, const RowRing<float>& out) const;
};

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_DEPTHWISE_H_
