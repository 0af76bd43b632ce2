// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/device/storage.h"

namespace deputy::gpu_cl {

bool Fits(const ImageExtent& extent, Storage storage, const ImageLimits& limits) {
  const auto within = [&](uint64_t width, uint64_t height, uint64_t depth) {
    return extent.width <= width && extent.height <= height && extent.depth <= depth;
  };
  switch (storage) {
    case Storage::kImageBuffer:
      return within(limits.buffer_width, 1, 1);
    case Storage::kImage2d:
      return within(limits.width_2d, limits.height_2d, 1);
    case Storage::kImage2dArray:
      return within(limits.width_2d, limits.height_2d, limits.layers_2d);
    case Storage::kImage3d:
      return within(limits.width_3d, limits.height_3d, limits.depth_3d);
    default:
      return true;
  }
}

const char* ImageType(Storage storage) {
  switch (storage) {
    case Storage::kImage2d:
      return "image2d_t";
    case Storage::kImage2dArray:
      return "image2d_array_t";
    case Storage::kImage3d:
      return "image3d_t";
    default:
      return "image1d_buffer_t";
  }
}

}  // namespace deputy::gpu_cl
