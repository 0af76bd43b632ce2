// SPDX-License-Identifier: Apache-2.0
//
// Images as model inputs: PNG and JPEG, resized to the input's size, converted to grey or colour as
// the input requires, with pixels scaled to the value range of the model.
#ifndef DEPUTY_TOOLS_IMAGE_H_
#define DEPUTY_TOOLS_IMAGE_H_

#include <string>
#include <vector>

#include "deputy/c_api.h"

namespace deputy::tools {

// Conversion of pixels to input values: value = (pixel / 255) * (high - low) + low, or, if `mean`
// or `scale` is not empty, value = (pixel - mean) * scale, each with one number or one per channel.
struct PixelScaling {
  float low = 0, high = 1;
  std::vector<float> mean, scale;
};

// Returns the image files of a directory sorted by name, or only `path` if it is a file. Ends the
// command with kExitUsage if there is none.
std::vector<std::string> FindImages(const std::string& path);

// Decodes, resizes and scales the image into the tensor, whose shape determines size, channels (1
// grey, 3 colour, 4 with alpha) and layout (channels last, or first after the batch). Ends the
// command with kExitUsage if the file is not an image or the tensor cannot hold one.
void WriteImage(const std::string& path, const PixelScaling& scaling, TfLiteTensor* tensor);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_IMAGE_H_
