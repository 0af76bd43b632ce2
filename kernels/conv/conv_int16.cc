// SPDX-License-Identifier: Apache-2.0
//
// int16 CONV_2D: dot products of im2col patches and weights that are widened to int16 once. Sums
// are exact, so results equal those of the plain loops.
#include "kernels/conv/conv.h"
#include "kernels/conv/patches.h"
#include "kernels/linalg/dots_int16.h"

namespace deputy {
namespace {

constexpr char kForm = 0;  // its address distinguishes the key of widened weights from others

bool IsInt16(const ConvData& data, const ConvTensors&, const CpuKernels& cpu) {
  return data.form == WeightsForm::kInt16 && cpu.dots_s16.of_columns != nullptr;
}

int PatchValues(const ConvShape& shape) { return shape.y.filter * shape.x.filter * shape.depth; }

TfLiteStatus EnsureWidened(TfLiteContext* context, ConvData* data, const ConvTensors& tensors) {
  const int8_t* const weights = Data<int8_t>(tensors.filter);
  const int64_t count = ElementCount(tensors.filter);
  const bool done = data->packed_filter.Ensure(
      context, {weights, &kForm, {count}}, IsConstant(tensors.filter),
      static_cast<size_t>(count) * sizeof(int16_t),
      [&](char* out) { std::copy_n(weights, count, reinterpret_cast<int16_t*>(out)); });
  return done ? kTfLiteOk
              : TensorError(context, tensors.filter, "out of memory for a copy in int16");
}

TfLiteStatus PackInt16(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                       const CpuKernels&) {
  return IsReadableConstant(tensors.filter) ? EnsureWidened(context, data, tensors) : kTfLiteOk;
}

size_t PatchBytes(const ConvShape& shape) {
  return static_cast<size_t>(PatchValues(shape)) * kDotRowsAtOnce * sizeof(int16_t);
}

size_t Int16Scratch(const ConvData&, const ConvTensors& tensors, const CpuKernels&, int workers) {
  size_t each, total;
  return ScratchForWorkers(PatchBytes(tensors.shape), workers, &each, &total) ? total : 0;
}

TfLiteStatus RunInt16(TfLiteContext* context, ConvData* data, const ConvTensors& tensors,
                      const CpuKernels& cpu) {
  DEPUTY_TRY(EnsureWidened(context, data, tensors));
  const ConvShape& shape = tensors.shape;
  Scratch patches;
  if (!patches.AcquireForWorkers(context, PatchBytes(shape), ThreadCount(context))) {
    return TensorError(context, tensors.input, "out of memory for its patches");
  }
  const int32_t zero = 0;
  const PatchSource source = {&shape, tensors.input->data.data, &zero, 0, &cpu};
  const int depth = PatchValues(shape), columns = shape.output_channels / shape.groups;
  const auto* const weights = reinterpret_cast<const int16_t*>(data->packed_filter.data());
  int16_t* const out = Data<int16_t>(tensors.output);
  ForEachOutputRow(context, shape, [&](int64_t row, int worker) {
    auto* const patch = reinterpret_cast<int16_t*>(patches.worker(worker));
    for (int ox = 0; ox < shape.x.output; ox += kDotRowsAtOnce) {
      const int count = std::min(kDotRowsAtOnce, shape.x.output - ox);
      const int64_t pixel = row * shape.x.output + ox;
      for (int group = 0; group < shape.groups; ++group) {
        for (int i = 0; i < count; ++i) {
          FillPatch<int16_t>(&source, pixel + i, group, patch + int64_t{i} * depth);
        }
        const int first = group * columns;
        const DotBlockInt16 block = {patch, count,   weights + int64_t{first} * depth,
                                     true,  columns, depth};
        block.ForEachSum(cpu, [&](int64_t sum, int r, int c) {
          const int channel = first + c;
          out[(pixel + r) * shape.output_channels + channel] = data->scaling.RequantizeInt16(
              AddInt16Bias(sum, tensors.bias, channel), data->wide_sums, channel);
        });
      }
    }
  });
  return kTfLiteOk;
}

}  // namespace

constexpr ConvImplementation kDotsInt16Conv = {.name = "dots_int16",
                                               .accepts = &IsInt16,
                                               .pack = &PackInt16,
                                               .scratch = &Int16Scratch,
                                               .run = &RunInt16};

}  // namespace deputy
