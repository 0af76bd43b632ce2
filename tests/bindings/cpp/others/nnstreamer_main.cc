// SPDX-License-Identifier: Apache-2.0
//
// Runs nnstreamer's TensorFlow Lite filter by its callbacks, as a pipeline does:
//
//     nnstreamer MODEL IMAGE [CUSTOM_PROPERTIES]
//
// MODEL is the float or the int8 model of the digits, IMAGE a file of 784 bytes, the pixels of a
// digit. Prints the ten scores of each of three frames, one per line.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "nnstreamer_double.h"

namespace {

constexpr size_t kPixels = 784;

bool HasShape(const GstTensorsInfo& info, std::vector<uint32_t> innermost_first) {
  if (info.num_tensors != 1) return false;
  for (size_t i = 0; i < innermost_first.size(); ++i) {
    if (info.info[0].dimension[i] != innermost_first[i]) return false;
  }
  return true;
}

std::vector<char> EncodePixels(const unsigned char* pixels, tensor_type type) {
  std::vector<char> frame;
  for (size_t i = 0; i < kPixels; ++i) {
    const float value = static_cast<float>(pixels[i]) / 255;
    const auto* bytes = reinterpret_cast<const char*>(&value);
    if (type == _NNS_FLOAT32) frame.insert(frame.end(), bytes, bytes + sizeof(value));
    if (type == _NNS_INT8) frame.push_back(static_cast<char>(pixels[i] - 128));
  }
  return frame;
}

void PrintScores(const std::vector<char>& scores, tensor_type type) {
  for (size_t i = 0; i < 10; ++i) {
    float value = 0;
    if (type == _NNS_FLOAT32) std::memcpy(&value, &scores[i * sizeof(value)], sizeof(value));
    if (type == _NNS_INT8) value = static_cast<float>(static_cast<int8_t>(scores[i]) + 128) / 256;
    std::printf("%.6f\n", static_cast<double>(value));
  }
}

int RunFrames(const GstTensorFilterProperties& properties, void** filter,
              const unsigned char* pixels) {
  GstTensorsInfo in, out;
  if (registered_filter->v0.getInputDimension(&properties, filter, &in) != 0 ||
      registered_filter->v0.getOutputDimension(&properties, filter, &out) != 0 ||
      !HasShape(in, {1, 28, 28, 1}) || !HasShape(out, {10, 1})) {
    return 4;
  }
  for (int frame = 0; frame < 3; ++frame) {
    // Each frame has buffers of its own, as in a pipeline.
    std::vector<char> from = EncodePixels(pixels, in.info[0].type);
    std::vector<char> to(gst_tensor_info_get_size(&out.info[0]));
    const GstTensorMemory input = {from.data(), from.size()};
    GstTensorMemory output = {to.data(), to.size()};
    if (registered_filter->v0.invoke_NN(&properties, filter, &input, &output) != 0) return 5;
    PrintScores(to, out.info[0].type);
  }
  gst_tensors_info_free(&in);
  gst_tensors_info_free(&out);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (registered_filter == nullptr ||
      std::strcmp(registered_filter->v0.name, "tensorflow2-lite") != 0) {
    return 1;
  }
  unsigned char pixels[kPixels];
  std::ifstream image(arguments[2], std::ios::binary);
  if (!image.read(reinterpret_cast<char*>(pixels), kPixels)) return 2;
  GstTensorFilterProperties properties;
  std::memset(&properties, 0, sizeof(properties));
  const char* files[] = {arguments[1]};
  properties.model_files = files;
  properties.num_models = 1;
  properties.custom_properties = count > 3 ? arguments[3] : nullptr;
  void* filter = nullptr;
  if (registered_filter->open(&properties, &filter) != 0) return 3;
  const int code = RunFrames(properties, &filter, pixels);
  registered_filter->close(&properties, &filter);
  return code;
}
