// SPDX-License-Identifier: Apache-2.0
//
// Tests MindSpore Lite's C API from C: calls every function that MindSpore declares, checks the
// ownership stated in the headers (with the address sanitizer), and applies a delegate in plain C
// that claims the SOFTMAX of a model.
//
//     mindspore_c_test examples/conv_mean.tflite
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "mindspore/context_c.h"
#include "mindspore/delegate_c.h"
#include "mindspore/model_c.h"
#include "mindspore/model_parallel_runner_c.h"

static const char* model_path;

static MSContextHandle CpuContext(void) {
  MSContextHandle context = MSContextCreate();
  assert_non_null(context);
  MSContextAddDeviceInfo(context, MSDeviceInfoCreate(kMSDeviceTypeCPU));
  return context;
}

static void FillInput(MSTensorHandle input) {
  float* values = MSTensorGetMutableData(input);
  assert_non_null(values);
  for (int64_t i = 0; i < MSTensorGetElementNum(input); ++i) {
    values[i] = (float)sin((double)i * 0.37);
  }
}

// ---- Contexts -----------------------------------------------------------------------------------

static void ContextKeepsItsSettings(void** state) {
  (void)state;
  MSContextHandle context = MSContextCreate();
  assert_int_equal(MSContextGetThreadNum(context), 0);
  MSContextSetThreadNum(context, 3);
  assert_int_equal(MSContextGetThreadNum(context), 3);
  MSContextSetThreadAffinityMode(context, 2);
  assert_int_equal(MSContextGetThreadAffinityMode(context), 2);
  MSContextSetThreadAffinityMode(context, 9);
  assert_int_equal(MSContextGetThreadAffinityMode(context), 0);
  const int32_t cores[] = {1, 5};
  MSContextSetThreadAffinityCoreList(context, cores, 2);
  size_t count = 0;
  const int32_t* copy = MSContextGetThreadAffinityCoreList(context, &count);
  assert_int_equal(count, 2);
  assert_memory_equal(copy, cores, sizeof cores);
  free((void*)copy);  // the caller owns the copied list
  MSContextSetEnableParallel(context, true);
  assert_true(MSContextGetEnableParallel(context));
  MSContextDestroy(&context);
  assert_null(context);
  MSContextDestroy(&context);
  MSContextDestroy(NULL);
  assert_int_equal(MSContextGetThreadNum(NULL), 0);
}

static void DeviceKeepsItsSettings(void** state) {
  (void)state;
  MSDeviceInfoHandle npu = MSDeviceInfoCreate(kMSDeviceTypeKirinNPU);
  assert_int_equal(MSDeviceInfoGetDeviceType(npu), kMSDeviceTypeKirinNPU);
  assert_int_equal(MSDeviceInfoGetFrequency(npu), 3);
  MSDeviceInfoSetFrequency(npu, 1);
  assert_int_equal(MSDeviceInfoGetFrequency(npu), 1);
  MSDeviceInfoSetEnableFP16(npu, true);
  assert_false(MSDeviceInfoGetEnableFP16(npu));
  MSDeviceInfoSetProvider(npu, "vendor");
  MSDeviceInfoSetProviderDevice(npu, "device");
  char* provider = MSDeviceInfoGetProvider(npu);
  char* device = MSDeviceInfoGetProviderDevice(npu);
  assert_string_equal(provider, "vendor");
  assert_string_equal(device, "device");
  free(provider);
  free(device);

  MSDeviceInfoHandle gpu = MSDeviceInfoCreate(kMSDeviceTypeGPU);
  MSDeviceInfoSetEnableFP16(gpu, true);
  assert_true(MSDeviceInfoGetEnableFP16(gpu));
  MSDeviceInfoSetFrequency(gpu, 2);
  assert_int_equal(MSDeviceInfoGetFrequency(gpu), -1);
  MSDeviceInfoDestroy(&gpu);
  assert_null(gpu);
  assert_null(MSDeviceInfoCreate(kMSDeviceTypeInvalid));
  assert_int_equal(MSDeviceInfoGetDeviceType(NULL), kMSDeviceTypeInvalid);

  // The context owns the added device info; adding or destroying it again does nothing.
  MSContextHandle context = MSContextCreate();
  MSContextAddDeviceInfo(context, npu);
  MSContextAddDeviceInfo(context, npu);
  MSDeviceInfoHandle again = npu;
  MSDeviceInfoDestroy(&again);
  assert_null(again);
  MSContextDestroy(&context);
}

// ---- Tensors ------------------------------------------------------------------------------------

static void TensorKeepsItsSettings(void** state) {
  (void)state;
  const int64_t shape[] = {2, 3};
  const float values[6] = {1, 2, 3, 4, 5, 6};
  MSTensorHandle tensor =
      MSTensorCreate("t", kMSDataTypeNumberTypeFloat32, shape, 2, values, sizeof values);
  assert_non_null(tensor);
  assert_string_equal(MSTensorGetName(tensor), "t");
  MSTensorSetName(tensor, "renamed");
  assert_string_equal(MSTensorGetName(tensor), "renamed");
  assert_int_equal(MSTensorGetDataType(tensor), kMSDataTypeNumberTypeFloat32);
  assert_int_equal(MSTensorGetElementNum(tensor), 6);
  assert_int_equal(MSTensorGetDataSize(tensor), 24);
  size_t rank = 0;
  assert_memory_equal(MSTensorGetShape(tensor, &rank), shape, sizeof shape);
  assert_int_equal(rank, 2);
  assert_int_equal(MSTensorGetFormat(tensor), kMSFormatNHWC);
  MSTensorSetFormat(tensor, kMSFormatNCHW);
  assert_int_equal(MSTensorGetFormat(tensor), kMSFormatNCHW);
  assert_memory_equal(MSTensorGetData(tensor), values, sizeof values);

  MSTensorHandle clone = MSTensorClone(tensor);
  MSTensorDestroy(&tensor);
  assert_null(tensor);
  assert_memory_equal(MSTensorGetData(clone), values, sizeof values);
  float own[6] = {0};
  MSTensorSetData(clone, own);
  assert_ptr_equal(MSTensorGetMutableData(clone), own);
  MSTensorSetDataType(clone, kMSDataTypeNumberTypeInt8);
  MSTensorSetShape(clone, shape, 1);
  assert_int_equal(MSTensorGetDataSize(clone), 2);
  MSTensorDestroy(&clone);
  MSTensorDestroy(&clone);

  assert_null(MSTensorCreate(NULL, kMSDataTypeNumberTypeInt8, shape, 2, NULL, 0));
  assert_null(MSTensorCreate("t", kMSDataTypeNumberTypeInt8, NULL, 2, NULL, 0));
  assert_null(MSTensorCreate("t", kMSDataTypeNumberTypeInt8, shape, 2, values, 24));
  assert_null(MSTensorGetData(NULL));
  assert_int_equal(MSTensorGetElementNum(NULL), 0);
}

// ---- Models -------------------------------------------------------------------------------------

static int callbacks;
static size_t output_count_in_callback;

static bool Before(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs,
                   const MSCallBackParamC info) {
  assert_true(inputs.handle_num > 0);
  assert_non_null(MSTensorGetName(outputs.handle_list[0]));
  assert_true(strlen(info.node_name) > 0 && strlen(info.node_type) > 0);
  ++callbacks;
  return true;
}

static bool After(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs,
                  const MSCallBackParamC info) {
  (void)inputs;
  (void)info;
  assert_non_null(MSTensorGetData(outputs.handle_list[0]));
  ++callbacks;
  output_count_in_callback += outputs.handle_num;
  return false;
}

static void ModelRuns(void** state) {
  (void)state;
  MSModelHandle model = MSModelCreate();
  MSContextHandle context = CpuContext();
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, context),
                   kMSStatusSuccess);
  // The model owns the context from here on. Programs that nevertheless destroy the context, and
  // those that do not, both work.
  MSContextHandle copy = context;
  MSContextDestroy(&copy);
  assert_null(copy);

  MSTensorHandleArray inputs = MSModelGetInputs(model), outputs = MSModelGetOutputs(model);
  assert_int_equal(inputs.handle_num, 1);
  assert_int_equal(outputs.handle_num, 1);
  const char* name = MSTensorGetName(inputs.handle_list[0]);
  assert_ptr_equal(MSModelGetInputByTensorName(model, name), inputs.handle_list[0]);
  name = MSTensorGetName(outputs.handle_list[0]);
  assert_ptr_equal(MSModelGetOutputByTensorName(model, name), outputs.handle_list[0]);
  assert_null(MSModelGetOutputByTensorName(model, "nothing"));
  assert_null(MSModelGetOutputByTensorName(model, NULL));

  FillInput(inputs.handle_list[0]);
  MSTensorHandleArray results = {0, NULL};
  assert_int_equal(MSModelPredict(model, inputs, &results, Before, After), kMSStatusSuccess);
  assert_int_equal(callbacks, 10);
  assert_int_equal(output_count_in_callback, 5);
  assert_ptr_equal(results.handle_list[0], outputs.handle_list[0]);
  const float* values = MSTensorGetData(results.handle_list[0]);
  float sum = 0;
  for (int64_t i = 0; i < MSTensorGetElementNum(results.handle_list[0]); ++i) sum += values[i];
  assert_true(fabsf(sum - 1) < 1e-5F);  // the outputs of a SOFTMAX add up to 1
  assert_int_equal(MSModelPredict(model, inputs, NULL, NULL, NULL), kMSStatusSuccess);
  assert_int_equal(callbacks, 10);

  // The model owns its tensors.
  MSTensorHandle handle = inputs.handle_list[0];
  MSTensorDestroy(&handle);
  assert_null(handle);
  const int64_t shape[] = {1};
  MSTensorSetShape(inputs.handle_list[0], shape, 1);
  MSTensorSetDataType(inputs.handle_list[0], kMSDataTypeNumberTypeInt8);
  assert_int_equal(MSTensorGetDataType(inputs.handle_list[0]), kMSDataTypeNumberTypeFloat32);
  assert_true(MSTensorGetElementNum(inputs.handle_list[0]) > 1);
  MSModelDestroy(&model);
  assert_null(model);
  MSModelDestroy(&model);
}

// MSModelRunStep and MSRunStep compute what MSModelPredict computes for the contents of the inputs.
static void StepIsAnInference(void** state) {
  (void)state;
  MSModelHandle model = MSModelCreate();
  assert_int_equal(MSModelRunStep(model, NULL, NULL), kMSStatusLiteUninitializedObj);
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, CpuContext()),
                   kMSStatusSuccess);
  FillInput(MSModelGetInputs(model).handle_list[0]);
  assert_int_equal(MSModelPredict(model, MSModelGetInputs(model), NULL, NULL, NULL),
                   kMSStatusSuccess);
  const MSTensorHandle output = MSModelGetOutputs(model).handle_list[0];
  const size_t size = MSTensorGetDataSize(output);
  void* const expected = malloc(size);
  assert_non_null(expected);
  memcpy(expected, MSTensorGetData(output), size);
  MSStatus (*const steps[])(MSModelHandle, const MSKernelCallBackC, const MSKernelCallBackC) = {
      MSModelRunStep, MSRunStep};
  for (size_t i = 0; i < 2; ++i) {
    memset(MSTensorGetMutableData(output), 0, size);
    callbacks = 0;
    assert_int_equal(steps[i](model, Before, After), kMSStatusSuccess);
    assert_int_equal(callbacks, 10);
    assert_memory_equal(MSTensorGetData(output), expected, size);
    assert_int_equal(steps[i](model, NULL, NULL), kMSStatusSuccess);
    assert_int_equal(steps[i](NULL, NULL, NULL), kMSStatusLiteNullptr);
  }
  free(expected);
  MSModelDestroy(&model);
}

static void ModelResizes(void** state) {
  (void)state;
  MSModelHandle model = MSModelCreate();
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, CpuContext()),
                   kMSStatusSuccess);
  MSTensorHandleArray inputs = MSModelGetInputs(model);
  size_t rank = 0;
  const int64_t* dims = MSTensorGetShape(inputs.handle_list[0], &rank);
  MSShapeInfo shape = {rank, {0}};
  memcpy(shape.shape, dims, rank * sizeof *dims);
  shape.shape[0] = 3;
  assert_int_equal(MSModelResize(model, inputs, &shape, 1), kMSStatusSuccess);
  assert_int_equal(MSTensorGetShape(inputs.handle_list[0], &rank)[0], 3);
  FillInput(inputs.handle_list[0]);
  assert_int_equal(MSModelPredict(model, inputs, NULL, NULL, NULL), kMSStatusSuccess);
  shape.shape[0] = -1;
  assert_int_equal(MSModelResize(model, inputs, &shape, 1), kMSStatusLiteInputParamInvalid);
  shape.shape[0] = (int64_t)INT32_MAX + 1;
  assert_int_equal(MSModelResize(model, inputs, &shape, 1), kMSStatusLiteInputParamInvalid);
  assert_int_equal(MSModelResize(model, inputs, NULL, 1), kMSStatusLiteInputParamInvalid);
  assert_int_equal(MSModelPredict(model, inputs, NULL, NULL, NULL), kMSStatusSuccess);
  MSModelDestroy(&model);
}

static void ModelRefusesInvalidArguments(void** state) {
  (void)state;
  MSModelHandle model = MSModelCreate();
  const char bytes[64] = "not a model";
  assert_int_equal(MSModelBuild(model, bytes, sizeof bytes, kMSModelTypeMindIR, NULL),
                   kMSStatusLiteNullptr);
  assert_int_equal(MSModelBuild(model, bytes, sizeof bytes, kMSModelTypeInvalid, CpuContext()),
                   kMSStatusLiteParamInvalid);
  assert_int_equal(MSModelBuild(model, NULL, 3, kMSModelTypeMindIR, CpuContext()),
                   kMSStatusLiteNullptr);
  assert_int_equal(MSModelBuild(model, bytes, 0, kMSModelTypeMindIR, CpuContext()),
                   kMSStatusLiteInputParamInvalid);
  assert_int_equal(MSModelBuild(model, bytes, sizeof bytes, kMSModelTypeMindIR, CpuContext()),
                   kMSStatusLiteGraphFileError);
  assert_true(strlen(DeputyMSLastError()) > 0);
  assert_int_equal(MSModelBuildFromFile(model, "/no/such/file", kMSModelTypeMindIR, CpuContext()),
                   kMSStatusLiteFileError);
  assert_int_equal(MSModelBuildFromFile(model, NULL, kMSModelTypeMindIR, CpuContext()),
                   kMSStatusLiteNullptr);
  assert_null(DeputyMSModelGetInterpreter(model));

  // A context may be passed again after a failure, and to two models.
  MSContextHandle shared = CpuContext();
  MSModelHandle other = MSModelCreate();
  assert_int_equal(MSModelBuild(model, bytes, sizeof bytes, kMSModelTypeMindIR, shared),
                   kMSStatusLiteGraphFileError);
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, shared),
                   kMSStatusSuccess);
  assert_int_equal(MSModelBuildFromFile(other, model_path, kMSModelTypeMindIR, shared),
                   kMSStatusSuccess);
  MSContextHandle unused = CpuContext();
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, unused),
                   kMSStatusLiteModelRebuild);
  MSContextDestroy(&unused);  // the model has not taken ownership
  MSModelDestroy(&model);
  assert_int_equal(MSModelPredict(other, MSModelGetInputs(other), NULL, NULL, NULL),
                   kMSStatusSuccess);
  MSModelDestroy(&other);
  assert_int_equal(MSModelBuild(NULL, bytes, 1, kMSModelTypeMindIR, NULL), kMSStatusLiteNullptr);
  assert_int_equal(MSModelGetInputs(NULL).handle_num, 0);
}

static void TrainingIsNotSupported(void** state) {
  (void)state;
  MSModelHandle model = MSModelCreate();
  const MSStatus no = kMSStatusLiteNotSupport;
  MSModelSetWorkspace(model, NULL, 0);
  assert_int_equal(MSModelCalcWorkspaceSize(model), 0);
  assert_int_equal(MSModelSetTrainMode(model, true), no);
  assert_int_equal(MSModelSetTrainMode(model, false), kMSStatusSuccess);
  assert_int_equal(MSModelExportWeight(model, "x"), no);
  MSTrainCfgHandle cfg = MSTrainCfgCreate();
  assert_null(cfg);
  size_t count = 7;
  assert_null(MSTrainCfgGetLossName(cfg, &count));
  assert_int_equal(count, 0);
  const char* names[] = {"loss"};
  MSTrainCfgSetLossName(cfg, names, 1);
  assert_int_equal(MSTrainCfgGetOptimizationLevel(cfg), kMSKO0);
  MSTrainCfgSetOptimizationLevel(cfg, kMSKAUTO);
  MSContextHandle context = CpuContext();
  assert_int_equal(MSTrainModelBuild(model, "x", 1, kMSModelTypeMindIR, context, cfg), no);
  assert_int_equal(MSTrainModelBuildFromFile(model, "x", kMSModelTypeMindIR, context, cfg), no);
  MSContextDestroy(&context);
  MSTrainCfgDestroy(&cfg);
  assert_int_equal(MSModelSetLearningRate(model, 0.1F), no);
  assert_true(MSModelGetLearningRate(model) == 0);
  const MSTensorHandleArray weights = MSModelGetWeights(model);
  assert_int_equal(weights.handle_num, 0);
  assert_int_equal(MSModelUpdateWeights(model, weights), no);
  assert_false(MSModelGetTrainMode(model));
  assert_int_equal(MSModelSetupVirtualBatch(model, 2, 0, 0), no);
  assert_int_equal(MSExportModel(model, kMSModelTypeMindIR, "x", kMSNO_QUANT, true, NULL, 0), no);
  char* data = NULL;
  assert_int_equal(
      MSExportModelBuffer(model, kMSModelTypeMindIR, &data, &count, kMSNO_QUANT, true, NULL, 0),
      no);
  assert_int_equal(
      MSExportWeightsCollaborateWithMicro(model, kMSModelTypeMindIR, "x", true, false, NULL, 0),
      no);
  MSModelDestroy(&model);
}

// ---- A delegate in C ----------------------------------------------------------------------------

typedef struct Softmax {
  MSTensorHandle input, output;
  float beta;
  int* live;
  int* executed;
} Softmax;

typedef struct SoftmaxDelegate {
  int live, executed, released, init_code;
  int32_t threads;
} SoftmaxDelegate;

static int ExecuteSoftmax(void* user_data) {
  Softmax* softmax = user_data;
  ++*softmax->executed;
  const float* in = MSTensorGetData(softmax->input);
  float* out = MSTensorGetMutableData(softmax->output);
  size_t rank = 0;
  const int64_t* shape = MSTensorGetShape(softmax->input, &rank);
  const int64_t columns = shape[rank - 1];
  for (int64_t row = 0; row < MSTensorGetElementNum(softmax->input); row += columns) {
    float sum = 0;
    for (int64_t i = row; i < row + columns; ++i) sum += out[i] = expf(softmax->beta * in[i]);
    for (int64_t i = row; i < row + columns; ++i) out[i] /= sum;
  }
  return 0;
}

static void ReleaseSoftmax(void* user_data) {
  Softmax* softmax = user_data;
  --*softmax->live;
  free(softmax);
}

static int InitDelegate(void* user_data, MSContextHandle context) {
  SoftmaxDelegate* delegate = user_data;
  if (context != NULL) delegate->threads = MSContextGetThreadNum(context);
  return delegate->init_code;
}

static int BuildDelegate(void* user_data, DeputyMSGraph* graph) {
  SoftmaxDelegate* delegate = user_data;
  const DeputyMSKernelFunctions functions = {
      .struct_size = sizeof functions, .execute = ExecuteSoftmax, .release = ReleaseSoftmax};
  assert_int_equal(DeputyMSGraphSchemaVersion(graph), 0);
  assert_int_equal(DeputyMSGraphInputs(graph).handle_num, 1);
  assert_int_equal(DeputyMSGraphOutputs(graph).handle_num, 1);
  for (size_t i = 0; i < DeputyMSGraphKernelCount(graph); ++i) {
    const DeputyMSKernel* kernel = DeputyMSGraphKernelAt(graph, i);
    const DeputyMSPrimitive* primitive = DeputyMSGraphGetPrimitive(graph, kernel);
    if (DeputyMSPrimitiveType(primitive) != 138) continue;
    assert_string_equal(DeputyMSKernelTypeName(kernel), "Softmax");
    Softmax* softmax = calloc(1, sizeof *softmax);
    softmax->input = DeputyMSKernelInputs(kernel).handle_list[0];
    softmax->output = DeputyMSKernelOutputs(kernel).handle_list[0];
    softmax->live = &delegate->live;
    softmax->executed = &delegate->executed;
    ++delegate->live;
    assert_int_equal(DeputyMSPrimitiveGetFloat(primitive, "beta", &softmax->beta), 0);
    int64_t number = 5;
    assert_int_equal(DeputyMSPrimitiveGetInt(primitive, "nothing", &number),
                     kMSStatusLiteInvalidOpAttr);
    assert_int_equal(number, 5);
    size_t next = 0;
    assert_int_equal(DeputyMSGraphReplace(graph, i, i + 1, &functions, softmax, "CSoftmax", &next),
                     0);
    assert_int_equal(next, i + 1);
    assert_null(DeputyMSGraphGetPrimitive(graph, DeputyMSGraphKernelAt(graph, i)));
    assert_string_equal(DeputyMSKernelName(DeputyMSGraphKernelAt(graph, i)), "CSoftmax");
  }
  return 0;
}

static void ReleaseDelegate(void* user_data) {
  SoftmaxDelegate* delegate = user_data;
  assert_int_equal(delegate->live, 0);  // all kernels were released before
  ++delegate->released;
}

static DeputyMSDelegate DelegateOf(SoftmaxDelegate* delegate) {
  const DeputyMSDelegate c = {.struct_size = sizeof c,
                              .abi_version = DEPUTY_MS_DELEGATE_ABI_VERSION,
                              .user_data = delegate,
                              .init = InitDelegate,
                              .build = BuildDelegate,
                              .release = ReleaseDelegate};
  return c;
}

static void Run(MSContextHandle context, float* out, size_t count) {
  MSModelHandle model = MSModelCreate();
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, context),
                   kMSStatusSuccess);
  FillInput(MSModelGetInputs(model).handle_list[0]);
  MSTensorHandleArray outputs;
  assert_int_equal(MSModelPredict(model, MSModelGetInputs(model), &outputs, NULL, NULL),
                   kMSStatusSuccess);
  assert_true(MSTensorGetDataSize(outputs.handle_list[0]) <= count * sizeof *out);
  memcpy(out, MSTensorGetData(outputs.handle_list[0]), MSTensorGetDataSize(outputs.handle_list[0]));
  MSModelDestroy(&model);
}

static void DelegateInC(void** state) {
  (void)state;
  float plain[64] = {0}, delegated[64] = {0};
  Run(CpuContext(), plain, 64);
  SoftmaxDelegate delegate = {0};
  DeputyMSDelegate c = DelegateOf(&delegate);
  MSContextHandle context = CpuContext();
  MSContextSetThreadNum(context, 2);
  assert_int_equal(DeputyMSContextSetDelegate(context, &c), kMSStatusSuccess);
  Run(context, delegated, 64);
  for (int i = 0; i < 64; ++i) assert_true(fabsf(plain[i] - delegated[i]) < 1e-6F);
  assert_int_equal(delegate.executed, 1);
  assert_int_equal(delegate.threads, 2);
  assert_int_equal(delegate.released, 1);

  SoftmaxDelegate declines = {.init_code = -7};
  c = DelegateOf(&declines);
  context = CpuContext();
  assert_int_equal(DeputyMSContextSetDelegate(context, &c), kMSStatusSuccess);
  Run(context, delegated, 64);
  assert_memory_equal(plain, delegated, sizeof plain);
  assert_int_equal(declines.executed, 0);
}

// A build function that calls Replace with an invalid range, and continues as if that had
// succeeded.
static int BuildWithAWrongRange(void* user_data, DeputyMSGraph* graph) {
  SoftmaxDelegate* delegate = user_data;
  const DeputyMSKernelFunctions functions = {
      .struct_size = sizeof functions, .execute = ExecuteSoftmax, .release = ReleaseSoftmax};
  const size_t count = DeputyMSGraphKernelCount(graph);
  const size_t ranges[][2] = {{1, 1}, {2, 1}, {count, count + 1}, {0, count + 1}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
    Softmax* softmax = calloc(1, sizeof *softmax);
    softmax->live = &delegate->live;
    ++delegate->live;
    size_t next = 77;
    assert_int_equal(DeputyMSGraphReplace(graph, ranges[i][0], ranges[i][1], &functions, softmax,
                                          "wrong", &next),
                     kMSStatusLiteParamInvalid);
    assert_int_equal(next, 77);
    assert_int_equal(delegate->live, 0);
    assert_int_equal(DeputyMSGraphKernelCount(graph), count);
  }
  return 0;
}

static void WrongRangeFailsTheBuild(void** state) {
  (void)state;
  SoftmaxDelegate delegate = {0};
  DeputyMSDelegate c = DelegateOf(&delegate);
  c.build = BuildWithAWrongRange;
  MSContextHandle context = CpuContext();
  assert_int_equal(DeputyMSContextSetDelegate(context, &c), kMSStatusSuccess);
  MSModelHandle model = MSModelCreate();
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, context),
                   kMSStatusLiteParamInvalid);
  assert_non_null(strstr(DeputyMSLastError(), "expected a range"));
  MSModelDestroy(&model);
  assert_int_equal(delegate.released, 1);
}

static void DelegateStructsAreChecked(void** state) {
  (void)state;
  SoftmaxDelegate delegate = {0};
  MSContextHandle context = CpuContext();
  DeputyMSDelegate c = DelegateOf(&delegate);
  c.struct_size = 8;
  assert_int_equal(DeputyMSContextSetDelegate(context, &c), kMSStatusLiteParamInvalid);
  c = DelegateOf(&delegate);
  c.abi_version = 99;
  assert_int_equal(DeputyMSContextSetDelegate(context, &c), kMSStatusLiteParamInvalid);
  c = DelegateOf(&delegate);
  c.build = NULL;
  assert_int_equal(DeputyMSContextSetDelegate(context, &c), kMSStatusLiteNullptr);
  assert_null(DeputyMSDelegateCreateTfLite(&c));
  assert_null(DeputyMSDelegateCreateTfLite(NULL));
  assert_int_equal(DeputyMSContextSetDelegate(NULL, &c), kMSStatusLiteNullptr);
  assert_int_equal(DeputyMSContextAddTfLiteDelegate(context, NULL), kMSStatusLiteNullptr);
  assert_int_equal(delegate.released, 0);
  c = DelegateOf(&delegate);
  assert_int_equal(DeputyMSContextSetDelegate(context, &c), kMSStatusSuccess);
  assert_int_equal(DeputyMSContextSetDelegate(context, NULL), kMSStatusSuccess);
  assert_int_equal(delegate.released, 1);
  MSContextDestroy(&context);
}

// ---- Parallel inference -------------------------------------------------------------------------

static void RunnerEqualsAModel(void** state) {
  (void)state;
  MSModelHandle model = MSModelCreate();
  assert_int_equal(MSModelBuildFromFile(model, model_path, kMSModelTypeMindIR, CpuContext()),
                   kMSStatusSuccess);
  MSTensorHandleArray own = MSModelGetInputs(model);
  FillInput(own.handle_list[0]);
  assert_int_equal(MSModelPredict(model, own, NULL, NULL, NULL), kMSStatusSuccess);
  MSTensorHandle expected = MSModelGetOutputs(model).handle_list[0];

  DeputyMSRunner* runner = DeputyMSRunnerCreate();
  assert_int_equal(DeputyMSRunnerInputCount(runner), 0);
  assert_null(DeputyMSRunnerCreateInput(runner, 0));
  assert_int_equal(DeputyMSRunnerSetConfig(runner, NULL), kMSStatusLiteNullptr);
  assert_int_equal(DeputyMSRunnerSetConfig(runner, model), kMSStatusSuccess);
  assert_int_equal(DeputyMSRunnerInit(runner, NULL, 1, NULL, 2), kMSStatusLiteNullptr);
  MSContextHandle context = CpuContext();
  assert_int_equal(DeputyMSRunnerInitFromFile(runner, NULL, context, 2), kMSStatusLiteFileError);
  MSContextDestroy(&context);  // the runner owns the context
  assert_int_equal(DeputyMSRunnerInitFromFile(runner, model_path, NULL, 2), kMSStatusSuccess);
  assert_int_equal(DeputyMSRunnerWorkerCount(runner), 2);
  assert_int_equal(DeputyMSRunnerInputCount(runner), 1);
  assert_int_equal(DeputyMSRunnerOutputCount(runner), 1);
  assert_null(DeputyMSRunnerCreateOutput(runner, 1));

  MSTensorHandle input = DeputyMSRunnerCreateInput(runner, 0);
  MSTensorHandle outputs[] = {NULL, NULL};
  FillInput(input);
  const MSTensorHandleArray inputs = {1, &input};
  assert_int_equal(DeputyMSRunnerPredict(runner, inputs, outputs, 2, NULL, NULL, NULL),
                   kMSStatusLiteParamInvalid);
  assert_int_equal(DeputyMSRunnerPredict(runner, inputs, NULL, 1, NULL, NULL, NULL),
                   kMSStatusLiteNullptr);
  assert_null(outputs[0]);
  assert_int_equal(DeputyMSRunnerPredict(runner, inputs, outputs, 1, NULL, NULL, NULL),
                   kMSStatusSuccess);
  assert_int_equal(MSTensorGetDataSize(outputs[0]), MSTensorGetDataSize(expected));
  assert_memory_equal(MSTensorGetData(outputs[0]), MSTensorGetData(expected),
                      MSTensorGetDataSize(expected));
  MSTensorHandle empty = DeputyMSRunnerCreateOutput(runner, 0);
  assert_int_equal(DeputyMSRunnerPredict(runner, inputs, &empty, 1, NULL, NULL, NULL),
                   kMSStatusSuccess);
  assert_memory_equal(MSTensorGetData(empty), MSTensorGetData(expected),
                      MSTensorGetDataSize(expected));
  DeputyMSRunnerDestroy(&runner);
  assert_null(runner);
  DeputyMSRunnerDestroy(&runner);
  DeputyMSRunnerDestroy(NULL);
  assert_int_equal(DeputyMSRunnerInit(NULL, NULL, 0, NULL, 1), kMSStatusLiteNullptr);
  MSTensorDestroy(&input);
  MSTensorDestroy(&outputs[0]);
  MSTensorDestroy(&empty);
  MSModelDestroy(&model);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: mindspore_c_test MODEL\n");
    return 2;
  }
  model_path = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ContextKeepsItsSettings),
      cmocka_unit_test(DeviceKeepsItsSettings),
      cmocka_unit_test(TensorKeepsItsSettings),
      cmocka_unit_test(ModelRuns),
      cmocka_unit_test(StepIsAnInference),
      cmocka_unit_test(ModelResizes),
      cmocka_unit_test(ModelRefusesInvalidArguments),
      cmocka_unit_test(TrainingIsNotSupported),
      cmocka_unit_test(DelegateInC),
      cmocka_unit_test(WrongRangeFailsTheBuild),
      cmocka_unit_test(DelegateStructsAreChecked),
      cmocka_unit_test(RunnerEqualsAModel),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
