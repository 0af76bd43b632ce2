// SPDX-License-Identifier: Apache-2.0
//
// Runs a model COUNT times on one thread through the C API and prints the mean magnitude of each
// output tensor. infer_litert.py does the same with LiteRT's Python package and the same inputs.
//
//     infer MODEL COUNT

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/c/c_api.h"

static void Require(int condition, const char* message) {
  if (condition) return;
  fprintf(stderr, "infer: %s\n", message);
  exit(1);
}

// Multiplicative hash of the index of an element: its upper bits look random.
static uint32_t Hash(size_t index) { return (uint32_t)index * 2654435761u; }

// Fills a float32 input with values in [-1, 1) and an 8-bit input with values of its whole range.
// Inputs of other types may contain indices and are set to zero.
static void FillInput(TfLiteTensor* tensor) {
  const size_t bytes = TfLiteTensorByteSize(tensor);
  void* data = TfLiteTensorData(tensor);
  memset(data, 0, bytes);
  switch (TfLiteTensorType(tensor)) {
    case kTfLiteFloat32:
      for (size_t i = 0; i < bytes / sizeof(float); ++i)
        ((float*)data)[i] = (float)(Hash(i) >> 16) / 32768.0f - 1.0f;
      break;
    case kTfLiteInt8:
    case kTfLiteUInt8:
      for (size_t i = 0; i < bytes; ++i) ((uint8_t*)data)[i] = (uint8_t)(Hash(i) >> 24);
      break;
    default:
      break;
  }
}

static double ElementOf(const TfLiteTensor* tensor, size_t index) {
  const void* data = TfLiteTensorData(tensor);
  switch (TfLiteTensorType(tensor)) {
    case kTfLiteFloat32:
      return ((const float*)data)[index];
    case kTfLiteInt8:
      return ((const int8_t*)data)[index];
    case kTfLiteUInt8:
      return ((const uint8_t*)data)[index];
    default:
      return 0;
  }
}

static double MeanMagnitude(const TfLiteTensor* tensor) {
  size_t count = TfLiteTensorByteSize(tensor);
  if (TfLiteTensorType(tensor) == kTfLiteFloat32) count /= sizeof(float);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += fabs(ElementOf(tensor, i));
  return count == 0 ? 0 : sum / (double)count;
}

int main(int argc, char** argv) {
  Require(argc == 3, "usage: infer MODEL COUNT");
  TfLiteModel* model = TfLiteModelCreateFromFile(argv[1]);
  Require(model != NULL, "the model cannot be loaded");
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetNumThreads(options, 1);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
  Require(interpreter != NULL, "the interpreter cannot be created");
  Require(TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk,
          "the tensors cannot be allocated");
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    FillInput(TfLiteInterpreterGetInputTensor(interpreter, i));
  }
  for (int i = 0; i < atoi(argv[2]); ++i) {
    Require(TfLiteInterpreterInvoke(interpreter) == kTfLiteOk, "an inference failed");
  }
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    printf("%.9g\n", MeanMagnitude(TfLiteInterpreterGetOutputTensor(interpreter, i)));
  }
  TfLiteInterpreterDelete(interpreter);
  TfLiteInterpreterOptionsDelete(options);
  TfLiteModelDelete(model);
  return 0;
}
