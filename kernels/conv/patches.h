// SPDX-License-Identifier: Apache-2.0
//
// im2col patches: the input values under the filter, as rows of a matrix.
#ifndef DEPUTY_KERNELS_CONV_PATCHES_H_
#define DEPUTY_KERNELS_CONV_PATCHES_H_

#include <algorithm>
#include <cstring>

#include "kernels/conv/conv.h"

namespace deputy {

struct PatchSource {
  const ConvShape* shape;
  const void* input;
  const int32_t* zero_points;  // zero points as int8, one per batch, `zero_stride` apart
  int zero_stride;
  const CpuKernels* cpu;

  void Copy(const float* from, int64_t count, float* to) const {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  }
  void Copy(const int16_t* from, int64_t count, int16_t* to) const { std::copy_n(from, count, to); }
  void Copy(const int8_t* from, int64_t count, void* to) const {
    cpu->gemm_s8.left_from_s8(from, static_cast<size_t>(count), to);
  }
  void Copy(const uint8_t* from, int64_t count, void* to) const {
    cpu->gemm_s8.left_from_u8(from, static_cast<size_t>(count), to);
  }
};

// Writes the patch under the filter at one output pixel; taps outside the input are zero points.
template <typename T, typename Out>
void FillPatch(const void* source_pointer, int64_t row, int group, Out* out) {
  const PatchSource& source = *static_cast<const PatchSource*>(source_pointer);
  const ConvShape& shape = *source.shape;
  const T* input = static_cast<const T*>(source.input);
  const int ox = static_cast<int>(row % shape.x.output);
  const int oy = static_cast<int>(row / shape.x.output % shape.y.output);
  const int64_t b = row / shape.x.output / shape.y.output;
  const int64_t depth = shape.depth;
  const int first_y = shape.y.FirstTap(oy), last_y = shape.y.LastTap(oy);
  const int first_x = shape.x.FirstTap(ox), last_x = std::max(first_x, shape.x.LastTap(ox));
  int32_t zero_point = source.zero_points[b * source.zero_stride];
  if constexpr (sizeof(T) == 1) zero_point += source.cpu->gemm_s8.left_offset();
  const Out outside = static_cast<Out>(zero_point);
  // Taps that are contiguous in memory are copied as one run.
  const bool one_run = shape.x.dilation == 1 && shape.groups == 1;
  for (int ky = 0; ky < shape.y.filter; ++ky, out += shape.x.filter * depth) {
    if (ky < first_y || ky >= last_y || first_x == last_x) {
      std::fill_n(out, shape.x.filter * depth, outside);
      continue;
    }
    const int64_t iy = shape.y.Start(oy) + int64_t{ky} * shape.y.dilation;
    const auto pixel = [&](int kx) {
      const int64_t ix = shape.x.Start(ox) + int64_t{kx} * shape.x.dilation;
      return shape.Pixel(input, b, iy, ix) + group * depth;
    };
    std::fill_n(out, first_x * depth, outside);
    if (one_run) {
      source.Copy(pixel(first_x), (last_x - first_x) * depth, out + first_x * depth);
    } else {
      for (int kx = first_x; kx < last_x; ++kx) source.Copy(pixel(kx), depth, out + kx * depth);
    }
    std::fill_n(out + last_x * depth, (shape.x.filter - last_x) * depth, outside);
  }
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CONV_PATCHES_H_
