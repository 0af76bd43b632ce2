// SPDX-License-Identifier: Apache-2.0
//
// Filters in panels (packing.h) in images.
#ifndef DEPUTY_GPU_CL_FILTER_IMAGE_H_
#define DEPUTY_GPU_CL_FILTER_IMAGE_H_

#include <cstdint>
#include <string>

#include "gpu_cl/packing.h"
#include "gpu_cl/storage.h"

namespace deputy::gpu_cl {

// The image that holds a filter's panels, which are a multiple of four wide: texel v of row d of
// panel p is at
// - kImageBuffer: the place that it has in a buffer,
// - kImage2d: column p * (texels of a row) + v, row d,
// - kImage2dArray and kImage3d: column v, row d, layer p.
ImageExtent ExtentOf(const Packing& packing, Storage storage);

// Where a filter lies that is wanted in `wanted`: there if the device's images are large enough,
// else in an image over a buffer, or in a buffer.
Storage StorageFor(const Packing& packing, Storage wanted, const ImageLimits& limits);

// In OpenCL C: what a panel's number is multiplied with before FilterTexel is given it, and texel
// `v` of row `row` of a panel.
int64_t PanelFactor(const Packing& packing);
std::string FilterTexel(const Packing& packing, const std::string& image, const std::string& panel,
                        const std::string& row, int v);

}  // namespace deputy::gpu_cl

#endif  // DEPUTY_GPU_CL_FILTER_IMAGE_H_
