// SPDX-License-Identifier: Apache-2.0
//
// Classifies images with TensorFlow Lite's C++ API:
//
//     classify_cpp MODEL LABELS IMAGE.png...
//
// Prints one line per image, "name label probability", as classify.c does. Models: input of one
// greyscale image, output of one row of probabilities, float32 or int8. Exit status: 0 success, 1
// the model or an image failed, 2 wrong usage. Its CMakeLists.txt:
//
//     cmake_minimum_required(VERSION 3.21)
//     project(classify LANGUAGES CXX)
//     find_package(TensorFlowLite REQUIRED)
//     add_executable(classify classify.cc)
//     target_link_libraries(classify PRIVATE tensorflow-lite::tensorflow-lite)
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/interpreter.h"
#include "tensorflow/lite/kernels/register.h"
#include "tensorflow/lite/model.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#include <stb/stb_image.h>

namespace {

std::vector<std::string> ReadLines(const char* path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Scales a pixel to 0..1 and quantises it with the tensor's scale and zero point.
int8_t Quantize(unsigned char pixel, const TfLiteQuantizationParams& params) {
  const double value = std::floor(pixel / 255.0 / params.scale + 0.5) + params.zero_point;
  return static_cast<int8_t>(std::clamp(value, -128.0, 127.0));
}

// Writes an image into the model's input; returns false after a message if the image cannot be read
// or has another size.
bool SetInput(tflite::Interpreter* interpreter, const char* path) {
  const TfLiteTensor* input = interpreter->input_tensor(0);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<unsigned char, void (*)(void*)> pixels(
      stbi_load(path, &width, &height, &channels, 1), stbi_image_free);
  if (pixels == nullptr) {
    std::fprintf(stderr, "%s: %s\n", path, stbi_failure_reason());
    return false;
  }
  if (height != input->dims->data[1] || width != input->dims->data[2]) {
    std::fprintf(stderr, "%s: expected %dx%d, found %dx%d\n", path, input->dims->data[2],
                 input->dims->data[1], width, height);
    return false;
  }
  const int count = width * height;
  if (float* values = interpreter->typed_input_tensor<float>(0)) {
    std::transform(pixels.get(), pixels.get() + count, values,
                   [](unsigned char pixel) { return static_cast<float>(pixel) / 255.0F; });
  } else {
    std::transform(pixels.get(), pixels.get() + count, interpreter->typed_input_tensor<int8_t>(0),
                   [&](unsigned char pixel) { return Quantize(pixel, input->params); });
  }
  return true;
}

std::vector<double> Probabilities(const tflite::Interpreter& interpreter, size_t count) {
  if (const float* values = interpreter.typed_output_tensor<float>(0)) {
    return {values, values + count};
  }
  const TfLiteQuantizationParams& params = interpreter.output_tensor(0)->params;
  const int8_t* values = interpreter.typed_output_tensor<int8_t>(0);
  std::vector<double> probabilities(count);
  std::transform(values, values + count, probabilities.begin(), [&](int8_t value) {
    return (value - params.zero_point) * static_cast<double>(params.scale);
  });
  return probabilities;
}

// Returns true if the program supports the model's input and output.
bool Fits(const tflite::Interpreter& interpreter, size_t labels) {
  if (interpreter.inputs().size() != 1 || interpreter.outputs().size() != 1) return false;
  const TfLiteTensor& input = *interpreter.input_tensor(0);
  const TfLiteTensor& output = *interpreter.output_tensor(0);
  const size_t size = output.type == kTfLiteFloat32 ? sizeof(float) : sizeof(int8_t);
  return input.dims->size == 4 && input.type == output.type &&
         (output.type == kTfLiteFloat32 || output.type == kTfLiteInt8) &&
         output.bytes == labels * size;
}

bool Classify(tflite::Interpreter* interpreter, const std::vector<std::string>& labels,
              const char* path) {
  if (!SetInput(interpreter, path) || interpreter->Invoke() != kTfLiteOk) return false;
  const std::vector<double> probabilities = Probabilities(*interpreter, labels.size());
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  const std::string name(path);
  std::printf("%s %s %.4f\n", name.substr(name.rfind('/') + 1).c_str(),
              labels[static_cast<size_t>(best - probabilities.begin())].c_str(), *best);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL LABELS IMAGE.png...\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> labels = ReadLines(argv[2]);
  const auto model = tflite::FlatBufferModel::BuildFromFile(argv[1]);
  if (model == nullptr) return 1;
  const tflite::ops::builtin::BuiltinOpResolver resolver;
  std::unique_ptr<tflite::Interpreter> interpreter;
  if (tflite::InterpreterBuilder(*model, resolver)(&interpreter) != kTfLiteOk ||
      interpreter->AllocateTensors() != kTfLiteOk) {
    return 1;
  }
  if (!Fits(*interpreter, labels.size())) {
    std::fprintf(stderr, "%s: not an image classifier with %zu labels\n", argv[1], labels.size());
    return 1;
  }
  for (int i = 3; i < argc; ++i) {
    if (!Classify(interpreter.get(), labels, argv[i])) return 1;
  }
  return 0;
}
