// SPDX-License-Identifier: Apache-2.0
//
// Pictures as model inputs: PNG and JPEG, stretched to the input's size, grey or colour as the
// input asks, pixels scaled to the values the model was trained on.
#ifndef DEPUTY_TOOLS_IMAGE_H_
#define DEPUTY_TOOLS_IMAGE_H_

#include <string>
#include <vector>

#include "deputy/c_api.h"

namespace deputy::tools {

// value = (pixel / 255) * (high - low) + low, or, when `scale` is not empty,
// value = (pixel - mean) * scale, each with one number or one per channel.
struct PixelScaling {
  float low = 0, high = 1;
  std::vector<float> mean, scale;
};

// The picture files of a folder by name, or just `path` when it is a file. Ends the command with
// kExitUsage when there is nothing to read.
std::vector<std::string> FindPictures(const std::string& path);

// Decodes, stretches and scales the picture into the tensor, whose shape decides size, channels
// (1 grey, 3 colour, 4 with alpha) and layout (channels last, or first after the batch). Ends the
// command with kExitUsage when the file is no picture or the tensor cannot hold one.
void WritePicture(const std::string& path, const PixelScaling& scaling, TfLiteTensor* tensor);

}  // namespace deputy::tools

#endif  // DEPUTY_TOOLS_IMAGE_H_
