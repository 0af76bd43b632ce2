// SPDX-License-Identifier: Apache-2.0
//
// Loops of convolutions over tensors [batch, height, width, channels]. `term(input, filter)`
// returns a product; `store(position, channel, sum)` stores an output.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONV_LOOPS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONV_LOOPS_H_

#include <algorithm>
#include <cstdint>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace tflite {
namespace conv_loops {

// Converts a sum with the multiplier and shift of its channel, adds the zero point and clamps.
template <typename Output, typename Params, typename Sum>
inline Output Requantize(const Params& params, Sum sum, int32_t multiplier, int shift) {
  const int32_t value =
      MultiplyByQuantizedMultiplier(sum, multiplier, shift) + params.output_offset;
  return static_cast<Output>(
      std::min(std::max(value, params.quantized_activation_min), params.quantized_activation_max));
}

// Calls visit(filter_y, filter_x, input_y, input_x) for the taps of an output that are in the
// image.
template <typename Params, typename Visit>
inline void ForEachTap(const Params& params, const RuntimeShape& input_shape,
                       const RuntimeShape& filter_shape, int out_y, int out_x, const Visit& visit) {
  const int origin_y = out_y * params.stride_height - params.padding_values.height;
  const int origin_x = out_x * params.stride_width - params.padding_values.width;
  for (int filter_y = 0; filter_y < filter_shape.Dims(1); ++filter_y) {
    const int y = origin_y + params.dilation_height_factor * filter_y;
    if (y < 0 || y >= input_shape.Dims(1)) continue;
    for (int filter_x = 0; filter_x < filter_shape.Dims(2); ++filter_x) {
      const int x = origin_x + params.dilation_width_factor * filter_x;
      if (x >= 0 && x < input_shape.Dims(2)) visit(filter_y, filter_x, y, x);
    }
  }
}

// CONV_2D with filters [outputs, height, width, inputs of a group].
template <typename Sum, typename Input, typename Filter, typename Term, typename Store>
inline void Conv(const ConvParams& params, const RuntimeShape& input_shape, const Input* input_data,
                 const RuntimeShape& filter_shape, const Filter* filter_data,
                 const RuntimeShape& output_shape, const Term& term, const Store& store) {
  const int batches = MatchingDim(input_shape, 0, output_shape, 0);
  const int output_depth = MatchingDim(filter_shape, 0, output_shape, 3);
  const int depth = filter_shape.Dims(3);
  const int groups = input_shape.Dims(3) / depth;
  TFLITE_DCHECK_EQ(input_shape.Dims(3) % depth, 0);
  TFLITE_DCHECK_EQ(output_depth % groups, 0);
  const int outputs_per_group = output_depth / groups;
  for (int batch = 0; batch < batches; ++batch) {
    for (int out_y = 0; out_y < output_shape.Dims(1); ++out_y) {
      for (int out_x = 0; out_x < output_shape.Dims(2); ++out_x) {
        for (int channel = 0; channel < output_depth; ++channel) {
          const int first_input = channel / outputs_per_group * depth;
          Sum sum = 0;
          ForEachTap(params, input_shape, filter_shape, out_y, out_x,
                     [&](int filter_y, int filter_x, int y, int x) {
                       const Input* in = input_data + Offset(input_shape, batch, y, x, first_input);
                       const Filter* filter =
                           filter_data + Offset(filter_shape, channel, filter_y, filter_x, 0);
                       for (int i = 0; i < depth; ++i) sum += term(in[i], filter[i]);
                     });
          store(Offset(output_shape, batch, out_y, out_x, channel), channel, sum);
        }
      }
    }
  }
}

// DEPTHWISE_CONV_2D with a filter [1, height, width, outputs].
template <typename Sum, typename Input, typename Filter, typename Term, typename Store>
inline void DepthwiseConv(const DepthwiseParams& params, const RuntimeShape& input_shape,
                          const Input* input_data, const RuntimeShape& filter_shape,
                          const Filter* filter_data, const RuntimeShape& output_shape,
                          const Term& term, const Store& store) {
  const int batches = MatchingDim(input_shape, 0, output_shape, 0);
  const int output_depth = MatchingDim(filter_shape, 3, output_shape, 3);
  TFLITE_DCHECK_EQ(output_depth, input_shape.Dims(3) * params.depth_multiplier);
  for (int batch = 0; batch < batches; ++batch) {
    for (int out_y = 0; out_y < output_shape.Dims(1); ++out_y) {
      for (int out_x = 0; out_x < output_shape.Dims(2); ++out_x) {
        for (int channel = 0; channel < output_depth; ++channel) {
          const int input = channel / params.depth_multiplier;
          Sum sum = 0;
          ForEachTap(params, input_shape, filter_shape, out_y, out_x,
                     [&](int filter_y, int filter_x, int y, int x) {
                       sum +=
                           term(input_data[Offset(input_shape, batch, y, x, input)],
                                filter_data[Offset(filter_shape, 0, filter_y, filter_x, channel)]);
                     });
          store(Offset(output_shape, batch, out_y, out_x, channel), channel, sum);
        }
      }
    }
  }
}

// TRANSPOSE_CONV with filters [outputs, height, width, inputs]: adds the products to `sums`, which
// has the output's shape and is cleared first.
template <typename Sum, typename Input, typename Filter, typename Term>
inline void TransposeConv(const ConvParams& params, const RuntimeShape& input_shape,
                          const Input* input_data, const RuntimeShape& filter_shape,
                          const Filter* filter_data, const RuntimeShape& output_shape, Sum* sums,
                          const Term& term) {
  const int batches = MatchingDim(input_shape, 0, output_shape, 0);
  const int depth = MatchingDim(input_shape, 3, filter_shape, 3);
  const int output_depth = MatchingDim(filter_shape, 0, output_shape, 3);
  std::fill(sums, sums + output_shape.FlatSize(), Sum{0});
  // Input and output are exchanged: ForEachTap visits the outputs to which an input contributes.
  ConvParams scatter = params;
  scatter.dilation_width_factor = 1;
  scatter.dilation_height_factor = 1;
  for (int batch = 0; batch < batches; ++batch) {
    for (int y = 0; y < input_shape.Dims(1); ++y) {
      for (int x = 0; x < input_shape.Dims(2); ++x) {
        for (int i = 0; i < depth; ++i) {
          const Input value = input_data[Offset(input_shape, batch, y, x, i)];
          ForEachTap(scatter, output_shape, filter_shape, y, x,
                     [&](int filter_y, int filter_x, int out_y, int out_x) {
                       for (int channel = 0; channel < output_depth; ++channel) {
                         sums[Offset(output_shape, batch, out_y, out_x, channel)] += term(
                             value,
                             filter_data[Offset(filter_shape, channel, filter_y, filter_x, i)]);
                       }
                     });
        }
      }
    }
  }
}

// FULLY_CONNECTED with filters whose last two dimensions are [outputs, inputs].
template <typename Sum, typename Input, typename Filter, typename Term, typename Store>
inline void FullyConnected(const Input* input_data, const RuntimeShape& filter_shape,
                           const Filter* filter_data, const RuntimeShape& output_shape,
                           const Term& term, const Store& store) {
  const int filter_rank = filter_shape.DimensionsCount();
  const int output_rank = output_shape.DimensionsCount();
  const int batches = FlatSizeSkipDim(output_shape, output_rank - 1);
  const int output_depth =
      MatchingDim(filter_shape, filter_rank - 2, output_shape, output_rank - 1);
  const int depth = filter_shape.Dims(filter_rank - 1);
  for (int batch = 0; batch < batches; ++batch) {
    for (int channel = 0; channel < output_depth; ++channel) {
      Sum sum = 0;
      for (int i = 0; i < depth; ++i) {
        sum += term(input_data[batch * depth + i], filter_data[channel * depth + i]);
      }
      store(batch * output_depth + channel, channel, sum);
    }
  }
}

}  // namespace conv_loops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_INTERNAL_REFERENCE_CONV_LOOPS_H_
