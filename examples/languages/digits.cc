// SPDX-License-Identifier: Apache-2.0
//
// Classifies handwritten digits in C++, as digits.c does in C. The CMakeLists.txt of this program:
//
//     find_package(Deputy REQUIRED)
//     add_executable(digits digits.cc)
//     target_link_libraries(digits PRIVATE Deputy::deputy)
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>

#include "deputy/deputy.h"

int main(int argc, char** argv) {
  std::ifstream images(argc == 3 ? argv[2] : "", std::ios::binary);
  if (!images) {
    std::cerr << "usage: digits MODEL IMAGES\n";
    return 2;
  }
  const std::unique_ptr<TfLiteModel, void (*)(TfLiteModel*)> model(
      TfLiteModelCreateFromFile(argv[1]), &TfLiteModelDelete);
  const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter(
      TfLiteInterpreterCreate(model.get(), nullptr), &TfLiteInterpreterDelete);
  if (!interpreter || TfLiteInterpreterAllocateTensors(interpreter.get()) != kTfLiteOk) {
    std::cerr << DeputyLastError() << "\n";
    return 1;
  }
  TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter.get(), 0);
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
  std::array<char, 28 * 28> pixels;
  std::array<float, 28 * 28> values;
  std::array<float, 10> scores;
  while (images.read(pixels.data(), pixels.size())) {
    std::transform(pixels.begin(), pixels.end(), values.begin(),
                   [](char pixel) { return static_cast<unsigned char>(pixel) / 255.0F; });
    TfLiteTensorCopyFromBuffer(input, values.data(), sizeof values);
    if (TfLiteInterpreterInvoke(interpreter.get()) != kTfLiteOk) return 1;
    TfLiteTensorCopyToBuffer(output, scores.data(), sizeof scores);
    const auto best = std::max_element(scores.begin(), scores.end());
    std::printf("%d %.4f\n", static_cast<int>(best - scores.begin()), *best);
  }
  return 0;
}
