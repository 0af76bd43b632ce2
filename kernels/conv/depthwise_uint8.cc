// SPDX-License-Identifier: Apache-2.0
//
// uint8 DEPTHWISE_CONV_2D with the int8 implementation: input and output are offset by -128, and
// the filter less its zero point, from -255 to 255, is split into a sum of int8 filters.
#include "kernels/conv/depthwise.h"

namespace deputy {
namespace {

// Object whose address distinguishes this kind of packed data in PackedKey.
constexpr char kForm = 0;

// Returns true for uint8 layers that this implementation supports. The number of taps must fit in
// an int, as the kernels require.
bool IsUInt8(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu) {
  return data.form == WeightsForm::kUInt8 && IsOneToOne(tensors.shape) &&
         cpu.depthwise_s8.pixel != nullptr && DepthwiseTaps(tensors.shape) <= (1 << 30);
}

// Number of values in one part of the filter.
size_t PartValues(const ConvShape& shape) {
  return DepthwiseTaps(shape) / static_cast<size_t>(shape.filter_parts) *
         static_cast<size_t>(shape.output_channels);
}

size_t PartsBytes(const ConvShape& shape) {
  return PartValues(shape) * static_cast<size_t>(shape.filter_parts);
}

size_t InputBytes(const ConvShape& shape) {
  return static_cast<size_t>(shape.batches) * static_cast<size_t>(shape.y.input) *
         static_cast<size_t>(shape.x.input) * static_cast<size_t>(shape.input_channels);
}

// Splits the weights into int8 filters: each takes the remainder that earlier ones have left,
// clamped to int8.
void SplitWeights(const uint8_t* weights, int32_t zero_point, const ConvShape& shape, char* out) {
  const size_t values = PartValues(shape);
  for (size_t i = 0; i < values; ++i) {
    int32_t left = weights[i] - zero_point;
    for (int part = 0; part < shape.filter_parts; ++part) {
      const int32_t value = std::clamp(left, -128, 127);
      out[static_cast<size_t>(part) * values + i] = static_cast<char>(value);
      left -= value;
    }
  }
}

// Replaces the filter by an int8 filter in `copy`.
TfLiteStatus ReplaceFilter(TfLiteContext* context, ConvData* data, ConvTensors* tensors,
                           TfLiteTensor* copy) {
  const ConvShape& shape = data->shape;
  const TfLiteTensor* const filter = tensors->filter;
  const int32_t zero_point = filter->params.zero_point;
  const PackedKey key = {filter->data.data,
                         &kForm,
                         {static_cast<int64_t>(PartValues(shape)), shape.filter_parts, zero_point}};
  if (!data->int8_parts.Ensure(context, key, IsConstant(filter), PartsBytes(shape), [&](char* out) {
        SplitWeights(Data<uint8_t>(filter), zero_point, shape, out);
      })) {
    return TensorError(context, filter, "out of memory for its copy of int8");
  }
  *copy = *filter;
  copy->type = kTfLiteInt8;
  copy->bytes = PartsBytes(shape);
  copy->data.data = const_cast<char*>(data->int8_parts.data());  // TfLiteTensor's data is not const
  tensors->filter = copy;
  return kTfLiteOk;
}

TfLiteStatus PackUInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                       const CpuKernels& cpu) {
  if (!IsReadableConstant(tensors.filter)) return kTfLiteOk;
  ConvTensors of_int8 = tensors;
  TfLiteTensor filter;
  DEPUTY_TRY(ReplaceFilter(context, data, &of_int8, &filter));
  return kDepthwiseInt8.pack(context, data, of_int8, cpu);
}

size_t UInt8Scratch(const ConvData& data, const ConvTensors& tensors, const CpuKernels& cpu,
                    int workers) {
  return AlignedBytes(InputBytes(tensors.shape)) +
         kDepthwiseInt8.scratch(data, tensors, cpu, workers);
}

TfLiteStatus RunUInt8(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  ConvTensors of_int8 = tensors;
  TfLiteTensor filter;
  DEPUTY_TRY(ReplaceFilter(context, data, &of_int8, &filter));
  const size_t bytes = InputBytes(tensors.shape);
  Scratch scratch;
  if (!scratch.Acquire(context, bytes)) {
    return TensorError(context, tensors.input, "out of memory for its copy of int8");
  }
  auto* const values = scratch.as<int8_t>();
  ParallelRanges(context, static_cast<int64_t>(bytes), kElementsPerTask,
                 [&](int64_t first, int64_t last) {
                   std::copy(Data<int8_t>(tensors.input) + first,
                             Data<int8_t>(tensors.input) + last, values + first);
                   FlipSigns(values + first, last - first);
                 });
  TfLiteTensor input = *tensors.input;
  input.data.raw = scratch.data();
  of_int8.input = &input;
  return kDepthwiseInt8.run(context, data, of_int8, cpu);
}

}  // namespace

int FilterPartsOf(int32_t zero_point) {
  int parts = 1;
  while (parts < 3 && (zero_point > 128 * parts || 255 - zero_point > 127 * parts)) ++parts;
  return parts;
}

constexpr ConvImplementation kDepthwiseUInt8 = {.name = "columns_uint8",
                                                .accepts = &IsUInt8,
                                                .pack = &PackUInt8,
                                                .scratch = &UInt8Scratch,
                                                .run = &RunUInt8};

}  // namespace deputy
