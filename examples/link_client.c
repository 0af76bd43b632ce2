// SPDX-License-Identifier: Apache-2.0
//
// A minimal client that links the library: an unmodified TensorFlow Lite program, built with
//
//     cc link_client.c $(pkg-config --cflags --libs tensorflowlite_c)
//
//     link_client MODEL
//
// Prints the library's version, every input and output, and runs the model once on zeros. With the
// original library of the same version the output is the same.
#include <stdio.h>
#include <string.h>

#include "tensorflow/lite/c/c_api.h"

static void PrintTensor(const char* role, const TfLiteTensor* tensor) {
  printf("%s %s %s [", role, TfLiteTensorName(tensor), TfLiteTypeGetName(TfLiteTensorType(tensor)));
  for (int i = 0; i < TfLiteTensorNumDims(tensor); ++i) {
    printf("%s%d", i > 0 ? ", " : "", TfLiteTensorDim(tensor, i));
  }
  printf("]\n");
}

static int RunOnZeros(TfLiteInterpreter* interpreter) {
  if (TfLiteInterpreterAllocateTensors(interpreter) != kTfLiteOk) return 0;
  for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    TfLiteTensor* input = TfLiteInterpreterGetInputTensor(interpreter, i);
    PrintTensor("input", input);
    memset(TfLiteTensorData(input), 0, TfLiteTensorByteSize(input));
  }
  if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return 0;
  for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter); ++i) {
    PrintTensor("output", TfLiteInterpreterGetOutputTensor(interpreter, i));
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL\n", argv[0]);
    return 2;
  }
  printf("TensorFlow Lite %s\n", TfLiteVersion());
  TfLiteModel* model = TfLiteModelCreateFromFile(argv[1]);
  if (model == NULL) return 1;
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  TfLiteInterpreterOptionsSetNumThreads(options, 2);
  TfLiteInterpreter* interpreter = TfLiteInterpreterCreate(model, options);
  // Options and model are not needed any more: the interpreter owns everything that it uses.
  TfLiteInterpreterOptionsDelete(options);
  TfLiteModelDelete(model);
  const int fine = interpreter != NULL && RunOnZeros(interpreter);
  if (interpreter != NULL) TfLiteInterpreterDelete(interpreter);
  return fine ? 0 : 1;
}
