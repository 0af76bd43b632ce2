// SPDX-License-Identifier: Apache-2.0
//
// Runs a model with the C API of LiteRT 2 (CompiledModel): sets the bytes of a file as the first
// input and prints the largest value of the first output.
//
//   litert_client MODEL INPUT_FILE
#include <stdio.h>
#include <stdlib.h>

#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/c/litert_tensor_buffer_requirements.h"

static void Check(LiteRtStatus status, const char* call) {
  if (status == kLiteRtStatusOk) return;
  fprintf(stderr, "%s: status %d\n", call, (int)status);
  exit(1);
}
#define CHECK(call) Check(call, #call)

// Creates a buffer for the first input or output of the first signature.
static LiteRtTensorBuffer CreateBuffer(LiteRtEnvironment environment, LiteRtModel model,
                                       LiteRtCompiledModel compiled, bool is_input,
                                       LiteRtRankedTensorType* type) {
  LiteRtSignature signature = NULL;
  LiteRtTensor tensor = NULL;
  LiteRtTensorBufferRequirements requirements = NULL;
  LiteRtTensorBuffer buffer = NULL;
  CHECK(LiteRtGetModelSignature(model, 0, &signature));
  if (is_input) {
    CHECK(LiteRtGetSignatureInputTensorByIndex(signature, 0, &tensor));
    CHECK(LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, 0, &requirements));
  } else {
    CHECK(LiteRtGetSignatureOutputTensorByIndex(signature, 0, &tensor));
    CHECK(LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, 0, &requirements));
  }
  CHECK(LiteRtGetRankedTensorType(tensor, type));
  CHECK(LiteRtCreateManagedTensorBufferFromRequirements(environment, type, requirements, &buffer));
  return buffer;
}

static void ReadInput(LiteRtTensorBuffer buffer, const char* path) {
  size_t bytes = 0;
  void* memory = NULL;
  FILE* file = fopen(path, "rb");
  CHECK(LiteRtGetTensorBufferPackedSize(buffer, &bytes));
  CHECK(LiteRtLockTensorBuffer(buffer, &memory, kLiteRtTensorBufferLockModeWrite));
  if (file == NULL || fread(memory, 1, bytes, file) != bytes) {
    fprintf(stderr, "%s: expected %zu bytes\n", path, bytes);
    exit(1);
  }
  fclose(file);
  CHECK(LiteRtUnlockTensorBuffer(buffer));
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: litert_client MODEL INPUT_FILE\n");
    return 2;
  }
  LiteRtEnvironment environment = NULL;
  LiteRtModel model = NULL;
  LiteRtOptions options = NULL;
  LiteRtCompiledModel compiled = NULL;
  CHECK(LiteRtCreateEnvironment(0, NULL, &environment));
  CHECK(LiteRtCreateModelFromFile(environment, argv[1], &model));
  CHECK(LiteRtCreateOptions(&options));
  CHECK(LiteRtSetOptionsHardwareAccelerators(options, kLiteRtHwAcceleratorCpu));
  CHECK(LiteRtCreateCompiledModel(environment, model, options, &compiled));

  LiteRtRankedTensorType input_type, output_type;
  LiteRtTensorBuffer input = CreateBuffer(environment, model, compiled, true, &input_type);
  LiteRtTensorBuffer output = CreateBuffer(environment, model, compiled, false, &output_type);
  ReadInput(input, argv[2]);
  CHECK(LiteRtRunCompiledModel(compiled, 0, 1, &input, 1, &output));

  size_t bytes = 0;
  void* memory = NULL;
  CHECK(LiteRtGetTensorBufferPackedSize(output, &bytes));
  CHECK(LiteRtLockTensorBuffer(output, &memory, kLiteRtTensorBufferLockModeRead));
  if (output_type.element_type != kLiteRtElementTypeFloat32) {
    fprintf(stderr, "expected an output of type float32\n");
    return 1;
  }
  const float* values = memory;
  size_t best = 0;
  for (size_t i = 1; i < bytes / sizeof(float); ++i) {
    if (values[i] > values[best]) best = i;
  }
  printf("%zu %.6f\n", best, (double)values[best]);
  CHECK(LiteRtUnlockTensorBuffer(output));

  LiteRtDestroyTensorBuffer(output);
  LiteRtDestroyTensorBuffer(input);
  LiteRtDestroyCompiledModel(compiled);
  LiteRtDestroyOptions(options);
  LiteRtDestroyModel(model);
  LiteRtDestroyEnvironment(environment);
  return 0;
}
