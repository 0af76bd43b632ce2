// SPDX-License-Identifier: Apache-2.0
//
// Packed filters (packing.h) in images.
#ifndef DEPUTY_GPU_CL_EMIT_FILTER_IMAGE_H_
#define DEPUTY_GPU_CL_EMIT_FILTER_IMAGE_H_

#include <cstdint>
#include <string>

#include "gpu_cl/device/storage.h"
#include "gpu_cl/emit/packing.h"

namespace deputy::gpu_cl {

// Returns the extent of the image for a filter whose panels have a width divisible by four. Texel v
// of row d of panel p is at
// - kImageBuffer: the same linear position as in a buffer,
// - kImage2d: column p * (texels per row) + v, row d,
// - kImage2dArray and kImage3d: column v, row d, layer p.
ImageExtent ExtentOf(const Packing& packing, Storage storage);

// Returns the storage of a filter: `wanted` if the device's images are large enough, else an image
// over a buffer, else a buffer.
Storage StorageFor(const Packing& packing, Storage wanted, const ImageLimits& limits);

// PanelFactor returns the factor by which the number of a panel is multiplied to get the argument
// `panel` of FilterTexel. FilterTexel returns the OpenCL C expression of texel `v` in row `row` of
// the panel.
int64_t PanelFactor(const Packing& packing);
std::string FilterTexel(const Packing& packing, const std::string& image, const std::string& panel,
                        const std::string& row, int v);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_EMIT_FILTER_IMAGE_H_
