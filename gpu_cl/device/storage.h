// SPDX-License-Identifier: Apache-2.0
//
// Storage of filters on a device: buffers, or images of four-element texels, which some GPUs read
// through a separate cache. If filters are images, kernels read other values, too, through images
// over the memory of their buffers.
#ifndef DEPUTY_GPU_CL_DEVICE_STORAGE_H_
#define DEPUTY_GPU_CL_DEVICE_STORAGE_H_

#include <cstdint>

namespace deputy::gpu_cl {

enum class Storage { kBuffer, kImageBuffer, kImage2d, kImage2dArray, kImage3d };

// Maximum extents of images, in texels; zeros if the device has no images.
struct ImageLimits {
  uint64_t buffer_width = 0;
  uint64_t width_2d = 0, height_2d = 0, layers_2d = 0;
  uint64_t width_3d = 0, height_3d = 0, depth_3d = 0;

  friend bool operator==(const ImageLimits&, const ImageLimits&) = default;
};

// Extent of an image; dimensions that its kind does not have are 1.
struct ImageExtent {
  uint64_t width = 1, height = 1, depth = 1;
};

inline constexpr int kTexelWidth = 4;

bool Fits(const ImageExtent& extent, Storage storage, const ImageLimits& limits);

// Returns the type, in OpenCL C, of images with this storage.
const char* ImageType(Storage storage);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_DEVICE_STORAGE_H_
