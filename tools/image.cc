// SPDX-License-Identifier: Apache-2.0
//
// Decodes images and writes them to tensors. This is the only file that compiles stb. Images are
// untrusted like models: only the two required formats are compiled in, and the size is checked
// before decoding.
#include "image.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>

#include "tensor_data.h"
#include "text.h"
#include "user_file.h"

// stb allocates with calloc, so that tables that a file does not define are zero instead of
// uninitialised memory. A failed assertion in stb means that the file is invalid; it must not
// abort.
#define STBI_MALLOC(bytes) std::calloc(1, bytes)
#define STBI_REALLOC(block, bytes) std::realloc(block, bytes)
#define STBI_FREE(block) std::free(block)
#define STBI_ASSERT(condition) \
  ((condition) ? (void)0 : deputy::tools::FailUsage("an image is damaged"))
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_MAX_DIMENSIONS 16384
#include <stb/stb_image.h>

#define STB_IMAGE_RESIZE_IMPLEMENTATION
#define STB_IMAGE_RESIZE_STATIC
#include <stb/stb_image_resize.h>

namespace deputy::tools {
namespace {

// The image format that an input tensor requires.
struct Geometry {
  int height = 0, width = 0, channels = 1;
  bool channels_first = false;
};

bool IsChannelCount(int n) { return n == 1 || n == 3 || n == 4; }

// Returns the format for a tensor of shape [1, H, W, C], [H, W, C], [1, C, H, W], [C, H, W], [1, H,
// W] or [H, W].
Geometry GeometryOf(const TfLiteTensor* tensor) {
  const std::vector<int> shape = ShapeOf(tensor);
  std::vector<int> dims = shape;
  if (dims.size() >= 3 && dims[0] == 1 && !(dims.size() == 3 && IsChannelCount(dims[2]))) {
    dims.erase(dims.begin());
  }
  Geometry geometry;
  if (dims.size() == 2) {
    geometry = {dims[0], dims[1], 1, false};
  } else if (dims.size() == 3 && IsChannelCount(dims[2])) {
    geometry = {dims[0], dims[1], dims[2], false};
  } else if (dims.size() == 3 && IsChannelCount(dims[0])) {
    geometry = {dims[1], dims[2], dims[0], true};
  }
  if (geometry.height <= 0 || geometry.width <= 0) {
    const char* name = TfLiteTensorName(tensor);
    FailUsage("input '%s' of shape %s cannot hold an image: expected [1, height, width, channels]",
              name == nullptr ? "" : name, ShapeText(shape).c_str());
  }
  return geometry;
}

// Returns false if a Huffman table of a JPEG does not fit into stb's buffers; true for other files.
// stb (as in Debian 12; found by fuzzing) does not validate the tables: one with more than 256
// codes overflows its buffer, and code number 255 is taken for "no code". Real tables have at most
// 162 codes, so files with more than 255 are rejected. stb finds tables by the marker bytes FF C4,
// so checking every occurrence of these two bytes misses none. Only metadata at the beginning of a
// file may contain them by chance; it is skipped by its length, as stb does.
bool HuffmanTablesFit(std::span<const uint8_t> file) {
  if (file.size() < 4 || file[0] != 0xff) return true;  // not a JPEG
  const auto length_at = [&](size_t at) {
    return static_cast<size_t>(file[at] << 8 | file[at + 1]);
  };
  size_t at = 0;
  if (file[1] == 0xd8) {  // stb also accepts FF FF D8
    at = 2;
    while (at + 4 <= file.size() && file[at] == 0xff &&
           ((file[at + 1] & 0xf0) == 0xe0 || file[at + 1] == 0xfe)) {
      at += 2 + std::max<size_t>(2, length_at(at + 2));
    }
  }
  for (; at + 4 <= file.size(); ++at) {
    if (file[at] != 0xff || file[at + 1] != 0xc4) continue;
    const size_t end = at + 2 + length_at(at + 2);
    for (size_t table = at + 4; table < end;) {
      if (table + 17 > file.size()) return false;
      const size_t codes =
          std::accumulate(file.begin() + table + 1, file.begin() + table + 17, size_t{0});
      if (codes > 255) return false;
      table += 17 + codes;
    }
  }
  return true;
}

// Returns the file's pixels, interleaved, resized and converted to the geometry.
std::vector<uint8_t> LoadPixels(const std::string& path, const Geometry& geometry) {
  const std::vector<char> file = ReadFile(path, kMaxImageBytes);
  int width = 0, height = 0, channels_in_file = 0;
  const auto* bytes_of_file = reinterpret_cast<const stbi_uc*>(file.data());
  const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
      file.size() > INT32_MAX || !HuffmanTablesFit({bytes_of_file, file.size()})
          ? nullptr
          : stbi_load_from_memory(bytes_of_file, static_cast<int>(file.size()), &width, &height,
                                  &channels_in_file, geometry.channels),
      &stbi_image_free);
  if (decoded == nullptr) FailUsage("%s: cannot be read as a PNG or JPEG image", path.c_str());
  const size_t bytes = static_cast<size_t>(geometry.height) * static_cast<size_t>(geometry.width) *
                       static_cast<size_t>(geometry.channels);
  std::vector<uint8_t> pixels(bytes);
  if (width == geometry.width && height == geometry.height) {
    std::memcpy(pixels.data(), decoded.get(), bytes);
  } else if (!stbir_resize_uint8(decoded.get(), width, height, 0, pixels.data(), geometry.width,
                                 geometry.height, 0, geometry.channels)) {
    FailWork("%s: cannot resize %dx%d to %dx%d", path.c_str(), width, height, geometry.width,
             geometry.height);
  }
  return pixels;
}

float OfChannel(const std::vector<float>& numbers, int channel, float otherwise) {
  if (numbers.empty()) return otherwise;
  return numbers.size() == 1 ? numbers[0] : numbers[static_cast<size_t>(channel)];
}

void CheckScaling(const PixelScaling& scaling, const Geometry& geometry) {
  for (const auto* numbers : {&scaling.mean, &scaling.scale}) {
    if (numbers->size() > 1 && numbers->size() != static_cast<size_t>(geometry.channels)) {
      FailUsage("--mean and --scale: expected 1 or %d numbers, found %zu", geometry.channels,
                numbers->size());
    }
  }
}

}  // namespace

std::vector<std::string> FindImages(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> images;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::string extension = it->path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (extension == ".png" || extension == ".jpg" || extension == ".jpeg") {
      images.push_back(it->path().string());
    }
  }
  if (error) FailUsage("%s: %s", path.c_str(), error.message().c_str());
  if (images.empty()) FailUsage("%s: contains no .png, .jpg or .jpeg files", path.c_str());
  std::sort(images.begin(), images.end());
  return images;
}

void WriteImage(const std::string& path, const PixelScaling& scaling, TfLiteTensor* tensor) {
  const Geometry geometry = GeometryOf(tensor);
  CheckScaling(scaling, geometry);
  const std::vector<uint8_t> pixels = LoadPixels(path, geometry);
  const size_t channels = static_cast<size_t>(geometry.channels);
  const size_t plane = pixels.size() / channels;
  std::vector<float> values(pixels.size());
  for (size_t i = 0; i < pixels.size(); ++i) {
    const int channel = static_cast<int>(i % channels);
    const float pixel = static_cast<float>(pixels[i]);
    float value = pixel / 255.0f * (scaling.high - scaling.low) + scaling.low;
    if (!scaling.scale.empty() || !scaling.mean.empty()) {
      value = (pixel - OfChannel(scaling.mean, channel, 0)) * OfChannel(scaling.scale, channel, 1);
    }
    const size_t at =
        geometry.channels_first ? static_cast<size_t>(channel) * plane + i / channels : i;
    values[at] = value;
  }
  WriteReals(values, tensor);
}

}  // namespace deputy::tools
