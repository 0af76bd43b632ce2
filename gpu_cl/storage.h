// SPDX-License-Identifier: Apache-2.0
//
// Where filters lie on a device: in buffers, or in images of texels of four numbers, which some
// GPUs read through a cache of their own. What other values' vectors of four are read from, too:
// images over the memory of their buffers.
#ifndef DEPUTY_GPU_CL_STORAGE_H_
#define DEPUTY_GPU_CL_STORAGE_H_

#include <cstdint>

namespace deputy::gpu_cl {

enum class Storage { kBuffer, kImageBuffer, kImage2d, kImage2dArray, kImage3d };

// In texels; zeros where a device has no images.
struct ImageLimits {
  uint64_t buffer_width = 0;
  uint64_t width_2d = 0, height_2d = 0, layers_2d = 0;
  uint64_t width_3d = 0, height_3d = 0, depth_3d = 0;

  friend bool operator==(const ImageLimits&, const ImageLimits&) = default;
};

// Of an image; what its kind does not have is 1.
struct ImageExtent {
  uint64_t width = 1, height = 1, depth = 1;
};

inline constexpr int kTexelWidth = 4;

bool Fits(const ImageExtent& extent, Storage storage, const ImageLimits& limits);

// The type of such an image in OpenCL C.
const char* ImageType(Storage storage);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_STORAGE_H_
