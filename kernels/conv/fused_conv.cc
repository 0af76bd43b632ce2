// SPDX-License-Identifier: Apache-2.0
//
// Applies the operations of a fusion group (core/kernel_api/fusion.h) to a convolution, for its
// implementations.
#include <cstring>

#include "kernels/conv/conv.h"

namespace deputy {
namespace {

EpilogueF32 EpilogueOf(const TfLiteContext* context, const LayerRun& group) {
  EpilogueF32 epilogue;
  if (group.addend >= 0) {
    const TfLiteTensor* const addend = &context->tensors[group.addend];
    epilogue.addend = Data<float>(addend);
    epilogue.addend_columns = addend->dims->data[addend->dims->size - 1];
    epilogue.addend_stride = static_cast<size_t>(epilogue.addend_columns);
    epilogue.low = group.sum_low;
    epilogue.high = group.sum_high;
  }
  if (group.activation == LayerRun::Activation::kPrelu) {
    epilogue.activation = EpilogueF32::Activation::kPrelu;
    epilogue.slopes = Data<float>(&context->tensors[group.slopes]);
  } else if (group.activation == LayerRun::Activation::kHardSwish) {
    epilogue.activation = EpilogueF32::Activation::kHardSwish;
  }
  return epilogue;
}

AddendS8 AddendOf(const TfLiteContext* context, const LayerRun& group) {
  if (group.addend < 0) return {};
  const SumScales& scales = group.scales;
  return {Data<int8_t>(&context->tensors[group.addend]),
          {scales.factors[0],
           scales.factors[1],
           scales.offset,
           {group.sum_low, group.sum_high},
           scales.zero_point}};
}

// Copies the addends of a subsampled output to the positions of the output's pixels and returns
// their address, `first`. The addend may begin at `first`, too: no pixel moves to a higher address.
template <typename T>
const T* GatherAddend(const ConvShape& shape, const PixelStride& stride, const T* addend,
                      T* const first) {
  T* out = first;
  const auto channels = static_cast<size_t>(shape.output_channels);
  const auto width = static_cast<size_t>(shape.x.output);
  const auto rows = static_cast<size_t>(shape.y.output);
  for (size_t batch = 0; batch < static_cast<size_t>(shape.batches); ++batch) {
    for (size_t y = 0; y < rows; y += static_cast<size_t>(stride.y)) {
      const T* const row = addend + (batch * rows + y) * width * channels;
      for (size_t x = 0; x < width; x += static_cast<size_t>(stride.x), out += channels) {
        std::memmove(out, row + x * channels, channels * sizeof(T));
      }
    }
  }
  return first;
}

void RemoveMargins(int before, int after, WindowAxis* axis) {
  axis->input -= before + after;
  axis->before += before;
}

void Subsample(const LayerRun& group, ConvShape* shape) {
  shape->y.input = group.input_stride.rows(shape->y.input);
  shape->x.input = group.input_stride.columns(shape->x.input);
  shape->y.output = group.output_stride.rows(shape->y.output);
  shape->x.output = group.output_stride.columns(shape->x.output);
  shape->y.stride = shape->y.stride * group.output_stride.y / group.input_stride.y;
  shape->x.stride = shape->x.stride * group.output_stride.x / group.input_stride.x;
}

}  // namespace

FusedConv::FusedConv(const TfLiteContext* context, const LayerRun& group, const ConvData& data,
                     const ConvTensors& tensors)
    : tensors_(tensors) {
  ConvShape& shape = tensors_.shape;
  if (group.input >= 0) {
    tensors_.input = &context->tensors[group.input];
    RemoveMargins(group.margins.top, group.margins.bottom, &shape.y);
    RemoveMargins(group.margins.left, group.margins.right, &shape.x);
  }
  if (group.factors >= 0) tensors_.factors = Data<float>(&context->tensors[group.factors]);
  const FloatRange also = {group.low, group.high};
  tensors_.float_range = {Clamp(tensors.float_range.low, also),
                          Clamp(tensors.float_range.high, also)};
  tensors_.output = &context->tensors[group.output];
  if (data.form == WeightsForm::kFloat) {
    epilogue_ = EpilogueOf(context, group);
    Gather(group, &epilogue_.addend);
    const bool any =
        epilogue_.addend != nullptr || epilogue_.activation != EpilogueF32::Activation::kNone;
    tensors_.epilogue = any ? &epilogue_ : nullptr;
  } else {
    addend_ = AddendOf(context, group);
    Gather(group, &addend_.values);
    tensors_.addend = addend_.values != nullptr ? &addend_ : nullptr;
  }
  Subsample(group, &shape);
}

template <typename T>
void FusedConv::Gather(const LayerRun& group, const T** addend) const {
  if (!group.output_stride.any() || *addend == nullptr) return;
  *addend = GatherAddend(tensors_.shape, group.output_stride, *addend, Data<T>(tensors_.output));
}

}  // namespace deputy
