// SPDX-License-Identifier: Apache-2.0
//
// A program that runs a model with LiteRT's C API, for the test of the headers, which compiles it
// only: loads and inspects a model, registers a custom operator, compiles, runs synchronously and
// asynchronously, reads the outputs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litert/c/internal/litert_accelerator.h"
#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_event.h"
#include "litert/c/litert_metrics.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_op_options.h"
#include "litert/c/litert_opaque_options.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_platform_support.h"
#include "litert/c/litert_profiler.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/c/litert_tensor_buffer_requirements.h"

_Static_assert(sizeof(LiteRtLayout) == 68 && offsetof(LiteRtLayout, strides) == 36, "LiteRtLayout");
_Static_assert(sizeof(LiteRtRankedTensorType) == 72, "LiteRtRankedTensorType");
_Static_assert(sizeof(LiteRtQuantizationPerTensor) == 16, "LiteRtQuantizationPerTensor");
_Static_assert(sizeof(LiteRtQuantizationPerChannel) == 32, "LiteRtQuantizationPerChannel");
_Static_assert(sizeof(LiteRtQuantizationBlockWise) == 24, "LiteRtQuantizationBlockWise");
_Static_assert(sizeof(LiteRtAny) == 16 && sizeof(LiteRtEnvOption) == 24, "LiteRtEnvOption");
_Static_assert(sizeof(LiteRtSchedulingInfo) == 40, "LiteRtSchedulingInfo");
_Static_assert(sizeof(LiteRtMagicNumberConfigs) == 8, "LiteRtMagicNumberConfigs");

enum { kMaxTensors = 16 };

// Prints the status of a failed call and returns whether the call succeeded.
static bool Check(LiteRtStatus status, const char* call) {
  if (status != kLiteRtStatusOk) fprintf(stderr, "%s: status %d\n", call, (int)status);
  return status == kLiteRtStatusOk;
}
#define CHECK(call) Check((call), #call)

// ---- A custom operator that copies its input ---------------------------------------------------

static LiteRtStatus InitCopy(void* user_data, const void* init_data, size_t init_data_size) {
  (void)user_data;
  (void)init_data;
  return init_data_size == 0 ? kLiteRtStatusOk : kLiteRtStatusErrorInvalidArgument;
}

static LiteRtStatus CopyLayouts(void* user_data, size_t num_inputs,
                                const LiteRtLayout* input_layouts, size_t num_outputs,
                                LiteRtLayout* output_layouts) {
  (void)user_data;
  if (num_inputs != 1 || num_outputs != 1) return kLiteRtStatusErrorInvalidArgument;
  output_layouts[0] = input_layouts[0];
  return kLiteRtStatusOk;
}

static LiteRtStatus RunCopy(void* user_data, size_t num_inputs, const LiteRtTensorBuffer* inputs,
                            size_t num_outputs, LiteRtTensorBuffer* outputs) {
  (void)user_data;
  if (num_inputs != 1 || num_outputs != 1) return kLiteRtStatusErrorInvalidArgument;
  void *from = NULL, *to = NULL;
  size_t size = 0;
  LiteRtStatus status = LiteRtGetTensorBufferPackedSize(inputs[0], &size);
  if (status != kLiteRtStatusOk) return status;
  status = LiteRtLockTensorBuffer(inputs[0], &from, kLiteRtTensorBufferLockModeRead);
  if (status != kLiteRtStatusOk) return status;
  status = LiteRtLockTensorBuffer(outputs[0], &to, kLiteRtTensorBufferLockModeWrite);
  if (status == kLiteRtStatusOk) {
    memcpy(to, from, size);
    LiteRtUnlockTensorBuffer(outputs[0]);
  }
  LiteRtUnlockTensorBuffer(inputs[0]);
  return status;
}

static LiteRtStatus DestroyCopy(void* user_data) {
  (void)user_data;
  return kLiteRtStatusOk;
}

static const LiteRtCustomOpKernel kCopy = {InitCopy, CopyLayouts, RunCopy, DestroyCopy};

// ---- Inspection --------------------------------------------------------------------------------

static bool PrintTensor(LiteRtTensor tensor) {
  const char* name = NULL;
  LiteRtTensorTypeId kind = kLiteRtUnrankedTensorType;
  LiteRtQuantizationTypeId quantization = kLiteRtQuantizationNone;
  if (!CHECK(LiteRtGetTensorName(tensor, &name)) || !CHECK(LiteRtGetTensorTypeId(tensor, &kind)) ||
      !CHECK(LiteRtGetQuantizationTypeId(tensor, &quantization))) {
    return false;
  }
  printf("%s:", name);
  if (kind == kLiteRtRankedTensorType) {
    LiteRtRankedTensorType type;
    if (!CHECK(LiteRtGetRankedTensorType(tensor, &type))) return false;
    printf(" type %d,", (int)type.element_type);
    for (unsigned i = 0; i < type.layout.rank; ++i) printf(" %d", (int)type.layout.dimensions[i]);
  }
  if (quantization == kLiteRtQuantizationPerTensor) {
    LiteRtQuantizationPerTensor parameters;
    if (!CHECK(LiteRtGetPerTensorQuantization(tensor, &parameters))) return false;
    printf(", scale %g, zero point %lld", (double)parameters.scale,
           (long long)parameters.zero_point);
  }
  putchar('\n');
  return true;
}

static bool PrintModel(LiteRtModel model) {
  LiteRtParamIndex index = 0, num_ops = 0, num_inputs = 0;
  LiteRtSubgraph subgraph = NULL;
  if (!CHECK(LiteRtGetMainModelSubgraphIndex(model, &index)) ||
      !CHECK(LiteRtGetModelSubgraph(model, index, &subgraph)) ||
      !CHECK(LiteRtGetNumSubgraphOps(subgraph, &num_ops))) {
    return false;
  }
  for (LiteRtParamIndex i = 0; i < num_ops; ++i) {
    LiteRtOp op = NULL;
    LiteRtOpCode code = kLiteRtOpCodeTflCustom;
    if (!CHECK(LiteRtGetSubgraphOp(subgraph, i, &op)) || !CHECK(LiteRtGetOpCode(op, &code)) ||
        !CHECK(LiteRtGetNumOpInputs(op, &num_inputs))) {
      return false;
    }
    if (code == kLiteRtOpCodeTflConv2d) {
      uint32_t padding = 0;
      int32_t stride = 0;
      if (!CHECK(LiteRtGetConv2dPaddingOption(op, &padding)) ||
          !CHECK(LiteRtGetConv2dStrideHOption(op, &stride))) {
        return false;
      }
      printf("convolution, padding %u, stride %d\n", (unsigned)padding, (int)stride);
    }
    for (LiteRtParamIndex k = 0; k < num_inputs; ++k) {
      LiteRtTensor input = NULL;
      LiteRtWeights weights = NULL;
      const void* bytes = NULL;
      size_t size = 0;
      if (!CHECK(LiteRtGetOpInput(op, k, &input)) ||
          !CHECK(LiteRtGetTensorWeights(input, &weights)) ||
          !CHECK(LiteRtGetWeightsBytes(weights, &bytes, &size)) || !PrintTensor(input)) {
        return false;
      }
    }
  }
  return true;
}

// ---- Running -----------------------------------------------------------------------------------

static bool NeverCancelled(void* data) { return data != NULL && *(const bool*)data; }

static bool MakeBuffers(LiteRtEnvironment environment, LiteRtCompiledModel compiled,
                        LiteRtSignature signature, bool inputs, LiteRtParamIndex count,
                        LiteRtTensorBuffer* buffers) {
  for (LiteRtParamIndex i = 0; i < count; ++i) {
    LiteRtTensor tensor = NULL;
    LiteRtRankedTensorType type;
    LiteRtTensorBufferRequirements requirements = NULL;
    int num_types = 0;
    if (!CHECK(inputs ? LiteRtGetSignatureInputTensorByIndex(signature, i, &tensor)
                      : LiteRtGetSignatureOutputTensorByIndex(signature, i, &tensor)) ||
        !CHECK(LiteRtGetRankedTensorType(tensor, &type)) ||
        !CHECK(inputs ? LiteRtGetCompiledModelInputBufferRequirements(compiled, 0, i, &requirements)
                      : LiteRtGetCompiledModelOutputBufferRequirements(compiled, 0, i,
                                                                       &requirements)) ||
        !CHECK(
            LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes(requirements, &num_types)) ||
        !CHECK(LiteRtCreateManagedTensorBufferFromRequirements(environment, &type, requirements,
                                                               &buffers[i]))) {
      return false;
    }
  }
  return true;
}

static bool WaitFor(LiteRtTensorBuffer buffer) {
  bool has_event = false, signaled = false;
  LiteRtEvent event = NULL;
  if (!CHECK(LiteRtHasTensorBufferEvent(buffer, &has_event))) return false;
  if (!has_event) return true;
  return CHECK(LiteRtGetTensorBufferEvent(buffer, &event)) &&
         CHECK(LiteRtIsEventSignaled(event, &signaled)) &&
         (signaled || CHECK(LiteRtWaitEvent(event, -1)));
}

static bool Run(LiteRtEnvironment environment, LiteRtModel model, LiteRtCompiledModel compiled) {
  LiteRtSignature signature = NULL;
  LiteRtParamIndex num_inputs = 0, num_outputs = 0;
  LiteRtTensorBuffer inputs[kMaxTensors], outputs[kMaxTensors];
  LiteRtLayout layouts[kMaxTensors];
  LiteRtMetrics metrics = NULL;
  bool cancelled = false, async = false, accelerated = false;
  if (!CHECK(LiteRtGetModelSignature(model, 0, &signature)) ||
      !CHECK(LiteRtGetNumSignatureInputs(signature, &num_inputs)) ||
      !CHECK(LiteRtGetNumSignatureOutputs(signature, &num_outputs)) || num_inputs > kMaxTensors ||
      num_outputs > kMaxTensors ||
      !MakeBuffers(environment, compiled, signature, true, num_inputs, inputs) ||
      !MakeBuffers(environment, compiled, signature, false, num_outputs, outputs)) {
    return false;
  }
  bool ok =
      CHECK(LiteRtCompiledModelIsFullyAccelerated(compiled, &accelerated)) &&
      CHECK(LiteRtSetCompiledModelCancellationFunction(compiled, &cancelled, NeverCancelled)) &&
      CHECK(LiteRtGetCompiledModelOutputTensorLayouts(compiled, 0, num_outputs, layouts, false)) &&
      CHECK(LiteRtCompiledModelStartMetricsCollection(compiled, 0)) &&
      CHECK(LiteRtRunCompiledModel(compiled, 0, num_inputs, inputs, num_outputs, outputs)) &&
      CHECK(LiteRtRunCompiledModelAsync(compiled, 0, num_inputs, inputs, num_outputs, outputs,
                                        &async)) &&
      CHECK(LiteRtCreateMetrics(&metrics)) &&
      CHECK(LiteRtCompiledModelStopMetricsCollection(compiled, metrics));
  LiteRtDestroyMetrics(metrics);
  for (LiteRtParamIndex i = 0; ok && i < num_outputs; ++i) {
    void* data = NULL;
    LiteRtTensorBufferType type = kLiteRtTensorBufferTypeUnknown;
    ok = WaitFor(outputs[i]) && CHECK(LiteRtGetTensorBufferType(outputs[i], &type)) &&
         CHECK(LiteRtLockTensorBuffer(outputs[i], &data, kLiteRtTensorBufferLockModeRead));
    if (ok) {
      printf("output of %s memory: first byte %u\n", IsGpuBuffer(type) ? "GPU" : "other",
             *(const unsigned char*)data);
      ok = CHECK(LiteRtUnlockTensorBuffer(outputs[i]));
    }
  }
  for (LiteRtParamIndex i = 0; i < num_inputs; ++i) LiteRtDestroyTensorBuffer(inputs[i]);
  for (LiteRtParamIndex i = 0; i < num_outputs; ++i) LiteRtDestroyTensorBuffer(outputs[i]);
  return ok;
}

// ---- Options -----------------------------------------------------------------------------------

static LiteRtOptions MakeOptions(void) {
  LiteRtOptions options = NULL;
  LiteRtOpaqueOptions opaque = NULL;
  if (!CHECK(LiteRtCreateOptions(&options))) return NULL;
  char* payload = malloc(sizeof("num_threads = 2\n"));
  if (payload != NULL) memcpy(payload, "num_threads = 2\n", sizeof("num_threads = 2\n"));
  bool ok = CHECK(LiteRtSetOptionsHardwareAccelerators(
                options, kLiteRtHwAcceleratorCpu | kLiteRtHwAcceleratorNpu)) &&
            CHECK(LiteRtAddCustomOpKernelOption(options, "Copy", 1, &kCopy, NULL)) &&
            CHECK(LiteRtCreateOpaqueOptions("xnnpack", payload, free, &opaque)) &&
            CHECK(LiteRtAddOpaqueOptions(options, opaque));
  if (ok) return options;
  LiteRtDestroyOptions(options);
  return NULL;
}

int main(int argc, char** argv) {
  LiteRtEnvOption folder;
  folder.tag = kLiteRtEnvOptionTagDispatchLibraryDir;
  folder.value.type = kLiteRtAnyTypeString;
  folder.value.str_value = argc > 2 ? argv[2] : ".";
  LiteRtEnvironment environment = NULL;
  LiteRtModel model = NULL;
  LiteRtCompiledModel compiled = NULL;
  LiteRtParamIndex num_accelerators = 0;
  LiteRtOptions options = MakeOptions();
  bool ok = argc > 1 && options != NULL &&
            CHECK(LiteRtCreateEnvironment(1, &folder, &environment)) &&
            CHECK(LiteRtGetNumAccelerators(environment, &num_accelerators)) &&
            CHECK(LiteRtCreateModelFromFile(environment, argv[1], &model)) && PrintModel(model) &&
            CHECK(LiteRtCreateCompiledModel(environment, model, options, &compiled)) &&
            Run(environment, model, compiled);
  printf("OpenCL %d, option type %s\n", LiteRtHasOpenClSupport(),
         LiteRtAnyTypeToString(folder.value.type));
  LiteRtDestroyOptions(options);
  LiteRtDestroyCompiledModel(compiled);
  LiteRtDestroyModel(model);
  LiteRtDestroyEnvironment(environment);
  return ok ? 0 : 1;
}
