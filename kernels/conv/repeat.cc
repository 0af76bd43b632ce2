// SPDX-License-Identifier: Apache-2.0
//
// DEPTHWISE_CONV_2D with several outputs per input channel: a copy of the input with repeated
// channels costs little compared with a filter that reads every value many times.
#include "kernels/conv/conv.h"

namespace deputy {
namespace {

template <int repeats, typename T>
void RepeatEach(const T* in, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < repeats; ++k) out[i * repeats + k] = in[i];
  }
}

template <typename T>
void Repeat(const T* in, int64_t count, int repeats, T* out) {
  if (repeats == 2) return RepeatEach<2>(in, count, out);
  if (repeats == 4) return RepeatEach<4>(in, count, out);
  for (int64_t i = 0; i < count; ++i, out += repeats) std::fill_n(out, repeats, in[i]);
}

}  // namespace

size_t RepeatedChannels::ScratchBytes(const ConvData& data, const TfLiteTensor* input) {
  size_t bytes;
  return MultiplySizes(input->bytes, static_cast<size_t>(data.repeats), &bytes) ? bytes : 0;
}

TfLiteStatus RepeatedChannels::Replace(TfLiteContext* context, const ConvData& data,
                                       ConvTensors* tensors) {
  const TfLiteTensor* const input = tensors->input;
  const size_t bytes = ScratchBytes(data, input);
  if (bytes < input->bytes || !scratch_.Acquire(context, bytes)) {
    return TensorError(context, input, "out of memory for a copy");
  }
  const int repeats = data.repeats;
  ParallelRanges(context, ElementCount(input), kElementsPerTask / repeats + 1,
                 [&](int64_t first, int64_t last) {
                   if (input->type == kTfLiteFloat32) {
                     Repeat(Data<float>(input) + first, last - first, repeats,
                            scratch_.as<float>() + first * repeats);
                   } else {
                     Repeat(Data<int8_t>(input) + first, last - first, repeats,
                            scratch_.as<int8_t>() + first * repeats);
                   }
                 });
  copy_ = *input;
  copy_.data.raw = scratch_.data();
  tensors->input = &copy_;
  return kTfLiteOk;
}

}  // namespace deputy
