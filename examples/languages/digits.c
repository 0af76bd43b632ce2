// SPDX-License-Identifier: Apache-2.0
//
// Classifies handwritten digits: digits MODEL IMAGES; IMAGES contains greyscale images of 28 x 28
// pixels, one byte per pixel, without headers. Prints the digit and its probability for each image.
// The programs in this directory do the same in other languages, and print the same bytes.
//
//     cc digits.c -o digits $(pkg-config --cflags --libs deputy)
#include <stdio.h>
#include <stdlib.h>

#include "deputy/deputy.h"

int main(int argc, char** argv) {
  FILE* images = argc == 3 ? fopen(argv[2], "rb") : NULL;
  if (images == NULL) {
    fprintf(stderr, "usage: digits MODEL IMAGES\n");
    return 2;
  }
  TfLiteModel* model = TfLiteModelCreateFromFile(argv[1]);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, NULL);
  if (interpreter == NULL || TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) {
    return 1;  // the library has printed the reason on stderr
  }
  float* input = TfLiteTensorData(TfLiteInterpreterGetInputTensor(interpreter, 0));
  const float* output = TfLiteTensorData(TfLiteInterpreterGetOutputTensor(interpreter, 0));
  unsigned char pixels[28 * 28];
  while (fread(pixels, sizeof pixels, 1, images) == 1) {
    for (size_t i = 0; i < sizeof pixels; ++i) input[i] = (float)pixels[i] / 255.0f;
    if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return 1;
    int best = 0;
    for (int i = 1; i < 10; ++i) best = output[i] > output[best] ? i : best;
    printf("%d %.4f\n", best, output[best]);
  }
  TfLiteInterpreterDelete(interpreter);
  TfLiteModelDelete(model);
  fclose(images);
  return 0;
}
