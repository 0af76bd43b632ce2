// SPDX-License-Identifier: Apache-2.0
//
// Classifies images with a library that is opened by path at run time: the drop-in, libdeputy.so.1
// or TensorFlow Lite's own libtensorflowlite_c.so; the program works with each of them.
//
//     classify LIBRARY MODEL LABELS IMAGE.png...
//
// Prints one line per image, "name label probability". classify.py in this directory does the same
// in Python and prints the same bytes. Models: input of one greyscale image, output of one row of
// probabilities, float32 or int8. Exit status: 0 success, 1 the model or an image failed, 2 wrong
// usage, an unusable library or no labels.
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/lite/c/c_api.h"

#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#include <stb/stb_image.h>

enum { kMaxLabels = 1000, kMaxLabelLength = 64 };

// The functions of the library that this program calls.
#define EACH_FUNCTION(X)              \
  X(TfLiteModelCreateFromFile)        \
  X(TfLiteModelDelete)                \
  X(TfLiteInterpreterCreate)          \
  X(TfLiteInterpreterDelete)          \
  X(TfLiteInterpreterAllocateTensors) \
  X(TfLiteInterpreterInvoke)          \
  X(TfLiteInterpreterGetInputTensor)  \
  X(TfLiteInterpreterGetOutputTensor) \
  X(TfLiteTensorType)                 \
  X(TfLiteTensorNumDims)              \
  X(TfLiteTensorDim)                  \
  X(TfLiteTensorByteSize)             \
  X(TfLiteTensorData)                 \
  X(TfLiteTensorQuantizationParams)   \
  X(TfLiteTensorCopyFromBuffer)

// Pointers to the library's functions, with the types of the header's declarations.
typedef struct Api {
#define FIELD(name) __typeof__(&name) name;
  EACH_FUNCTION(FIELD)
#undef FIELD
} Api;

typedef struct Labels {
  int count;
  char text[kMaxLabels][kMaxLabelLength];
} Labels;

// Fills `api` from the library at `path`; returns 0 after a message if the library cannot be opened
// or lacks a function.
static int OpenApi(const char* path, Api* api) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  // POSIX guarantees that a void* can hold a function's address; ISO C does not define the
  // conversion, hence the copy.
#define LOAD(name)                                          \
  {                                                         \
    void* address = dlsym(library, #name);                  \
    if (address == NULL) {                                  \
      fprintf(stderr, "%s: no function %s\n", path, #name); \
      return 0;                                             \
    }                                                       \
    memcpy(&api->name, &address, sizeof(address));          \
  }
  EACH_FUNCTION(LOAD)
#undef LOAD
  return 1;
}

static int ReadLabels(const char* path, Labels* labels) {
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  labels->count = 0;
  while (labels->count < kMaxLabels &&
         fgets(labels->text[labels->count], kMaxLabelLength, file) != NULL) {
    char* line = labels->text[labels->count];
    line[strcspn(line, "\r\n")] = '\0';
    ++labels->count;
  }
  fclose(file);
  return labels->count > 0;
}

// Scales pixels 0..255 to 0..1 and, for an int8 input, quantises with the tensor's scale and zero
// point.
static TfLiteStatus FillInput(const Api* api, TfLiteTensor* input, const unsigned char* pixels,
                              size_t count) {
  TfLiteStatus status = kTfLiteError;
  if (api->TfLiteTensorType(input) == kTfLiteFloat32) {
    float* values = malloc(count * sizeof(float));
    if (values == NULL) return kTfLiteError;
    for (size_t i = 0; i < count; ++i) values[i] = (float)pixels[i] / 255.0f;
    status = api->TfLiteTensorCopyFromBuffer(input, values, count * sizeof(float));
    free(values);
  } else if (api->TfLiteTensorType(input) == kTfLiteInt8) {
    const TfLiteQuantizationParams quantization = api->TfLiteTensorQuantizationParams(input);
    int8_t* values = malloc(count);
    if (values == NULL) return kTfLiteError;
    for (size_t i = 0; i < count; ++i) {
      const double scaled = pixels[i] / 255.0 / quantization.scale;
      const double value = floor(scaled + 0.5) + quantization.zero_point;
      values[i] = (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
    }
    status = api->TfLiteTensorCopyFromBuffer(input, values, count);
    free(values);
  }
  return status;
}

// Returns the i-th probability as a double, for any supported output type.
static double Probability(const Api* api, const TfLiteTensor* output, int i) {
  const void* data = api->TfLiteTensorData(output);
  if (api->TfLiteTensorType(output) == kTfLiteFloat32) return ((const float*)data)[i];
  const TfLiteQuantizationParams quantization = api->TfLiteTensorQuantizationParams(output);
  return (((const int8_t*)data)[i] - quantization.zero_point) * (double)quantization.scale;
}

static int Classify(const Api* api, TfLiteInterpreter* interpreter, const Labels* labels,
                    const char* path) {
  TfLiteTensor* input = api->TfLiteInterpreterGetInputTensor(interpreter, 0);
  const int height = api->TfLiteTensorDim(input, 1);
  const int width = api->TfLiteTensorDim(input, 2);
  int image_width = 0, image_height = 0, channels = 0;
  unsigned char* pixels = stbi_load(path, &image_width, &image_height, &channels, 1);
  if (pixels == NULL) {
    fprintf(stderr, "%s: %s\n", path, stbi_failure_reason());
    return 0;
  }
  TfLiteStatus status = kTfLiteError;
  if (image_width == width && image_height == height) {
    status = FillInput(api, input, pixels, (size_t)width * (size_t)height);
  } else {
    fprintf(stderr, "%s: expected %dx%d, found %dx%d\n", path, width, height, image_width,
            image_height);
  }
  stbi_image_free(pixels);
  if (status != kTfLiteOk || api->TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return 0;

  const TfLiteTensor* output = api->TfLiteInterpreterGetOutputTensor(interpreter, 0);
  int best = 0;
  for (int i = 1; i < labels->count; ++i) {
    if (Probability(api, output, i) > Probability(api, output, best)) best = i;
  }
  const char* slash = strrchr(path, '/');
  printf("%s %s %.4f\n", slash != NULL ? slash + 1 : path, labels->text[best],
         Probability(api, output, best));
  return 1;
}

// Returns 1 if the input has four dimensions and the output has one float32 or int8 value per
// label.
static int Fits(const Api* api, const TfLiteInterpreter* interpreter, const Labels* labels) {
  const TfLiteTensor* input = api->TfLiteInterpreterGetInputTensor(interpreter, 0);
  const TfLiteTensor* output = api->TfLiteInterpreterGetOutputTensor(interpreter, 0);
  if (input == NULL || output == NULL || api->TfLiteTensorNumDims(input) != 4) return 0;
  const TfLiteType type = api->TfLiteTensorType(output);
  const size_t element = type == kTfLiteFloat32 ? sizeof(float) : sizeof(int8_t);
  return (type == kTfLiteFloat32 || type == kTfLiteInt8) &&
         api->TfLiteTensorByteSize(output) == (size_t)labels->count * element;
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: %s LIBRARY MODEL LABELS IMAGE.png...\n", argv[0]);
    return 2;
  }
  Api api;
  static Labels labels;
  if (!OpenApi(argv[1], &api)) return 2;
  if (!ReadLabels(argv[3], &labels)) {
    fprintf(stderr, "%s: no labels\n", argv[3]);
    return 2;
  }
  TfLiteModel* model = api.TfLiteModelCreateFromFile(argv[2]);
  if (model == NULL) return 1;
  TfLiteInterpreter* interpreter = api.TfLiteInterpreterCreate(model, NULL);
  int fine = interpreter != NULL && api.TfLiteInterpreterAllocateTensors(interpreter) == kTfLiteOk;
  if (fine && !Fits(&api, interpreter, &labels)) {
    fprintf(stderr, "%s: not an image classifier with %d labels\n", argv[2], labels.count);
    fine = 0;
  }
  for (int i = 4; fine && i < argc; ++i) fine = Classify(&api, interpreter, &labels, argv[i]);
  if (interpreter != NULL) api.TfLiteInterpreterDelete(interpreter);
  api.TfLiteModelDelete(model);
  return fine ? 0 : 1;
}
