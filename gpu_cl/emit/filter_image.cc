// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/filter_image.h"

namespace deputy::gpu_cl {
namespace {

int64_t TexelsOfRow(const Packing& packing) { return packing.panel / kTexelWidth; }

}  // namespace

ImageExtent ExtentOf(const Packing& packing, Storage storage) {
  const auto of = [](int64_t number) { return static_cast<uint64_t>(number); };
  const uint64_t texels = of(TexelsOfRow(packing)), rows = of(packing.depth + 1);
  const uint64_t panels = of(packing.groups * packing.panels());
  switch (storage) {
    case Storage::kImage2d:
      return {panels * texels, rows, 1};
    case Storage::kImage2dArray:
    case Storage::kImage3d:
      return {texels, rows, panels};
    default:
      return {panels * rows * texels, 1, 1};
  }
}

Storage StorageFor(const Packing& packing, Storage wanted, const ImageLimits& limits) {
  if (packing.panel % kTexelWidth != 0 || packing.elements() == 0) return Storage::kBuffer;
  for (const Storage storage : {wanted, Storage::kImageBuffer}) {
    if (wanted == Storage::kBuffer) break;
    if (Fits(ExtentOf(packing, storage), storage, limits)) return storage;
  }
  return Storage::kBuffer;
}

int64_t PanelFactor(const Packing& packing) {
  switch (packing.storage) {
    case Storage::kImageBuffer:
      return packing.panel_elements() / kTexelWidth;
    case Storage::kImage2d:
      return TexelsOfRow(packing);
    default:
      return 1;
  }
}

std::string FilterTexel(const Packing& packing, const std::string& image, const std::string& panel,
                        const std::string& row, int v) {
  const std::string column = std::to_string(v), texels = std::to_string(TexelsOfRow(packing));
  std::string coordinates;
  switch (packing.storage) {
    case Storage::kImage2d:
      coordinates = "(int2)(" + panel + " + " + column + ", " + row + ")";
      break;
    case Storage::kImage2dArray:
    case Storage::kImage3d:
      coordinates = "(int4)(" + column + ", " + row + ", " + panel + ", 0)";
      break;
    default:
      coordinates = panel + " + " + row + " * " + texels + " + " + column;
  }
  return "read_imagef(" + image + ", " + coordinates + ")";
}

}  // namespace deputy::gpu_cl
