/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiler plug-in for LiteRT: compiles partitions of a model to blobs of the NPU stub's device.
 * Byte code is one blob per partition, which dispatch_plugin.c runs. The file includes public
 * headers of LiteRT and the headers of the device; the library loads into any host of LiteRT's
 * plug-ins.
 *
 * Operators: ADD, SUB, MUL, FULLY_CONNECTED, LOGISTIC, RELU, RELU6, RELU_N1_TO_1 and TANH of
 * float32 tensors with at most 4 dimensions, all of which are known.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litert/c/internal/litert_compiler_context.h"
#include "litert/vendors/c/litert_compiler_plugin.h"
#include "npu_stub/device_check.h"
#include "npu_stub/graph.h"
#include "npu_stub/npu_device.h"

#define SOC_MODEL "NpuStub1"

enum { kErrorBytes = 160, kMaxInputs = 3 };

struct LiteRtCompilerPluginT {
  const LiteRtCompilerContext* context;
  const NpuDeviceApi* api;
  NpuDevice* device;
};

/* The byte code of a partition. */
typedef struct Module {
  void* blob;
  size_t bytes;
  char name[32];
} Module;

struct LiteRtCompiledResultT {
  LiteRtCompilerPlugin plugin;
  LiteRtParamIndex count;
  Module modules[];
};

/* ---- Import of operators --------------------------------------------------------------------- */

/* A tensor of the model and its index in the device's graph. */
typedef struct Slot {
  LiteRtTensor tensor;
  int32_t index;
} Slot;

/* A graph that is being built. */
typedef struct Import {
  const LiteRtCompilerContext* context;
  NpuBuilder builder;
  Slot* slots;
  size_t slot_count;
} Import;

static void InitImport(Import* import, const LiteRtCompilerContext* context) {
  memset(import, 0, sizeof *import);
  import->context = context;
  NpuBuilderInit(&import->builder);
}

static void FreeImport(Import* import) {
  NpuBuilderFree(&import->builder);
  free(import->slots);
}

/* Reads the shape of a tensor. Returns false if the device has no such tensors. */
static bool ReadShape(const LiteRtCompilerContext* context, LiteRtTensor tensor, int32_t* out_rank,
                      int32_t* out_dims) {
  LiteRtTensorTypeId kind = kLiteRtUnrankedTensorType;
  LiteRtRankedTensorType type;
  LiteRtQuantizationTypeId quantization = kLiteRtQuantizationPerTensor;
  memset(&type, 0, sizeof type);
  if (context->get_tensor_type_id(tensor, &kind) != kLiteRtStatusOk ||
      kind != kLiteRtRankedTensorType ||
      context->get_ranked_tensor_type(tensor, &type) != kLiteRtStatusOk ||
      type.element_type != kLiteRtElementTypeFloat32 || type.layout.rank > NPU_MAX_RANK ||
      type.layout.has_strides ||
      context->get_quantization_type_id(tensor, &quantization) != kLiteRtStatusOk ||
      quantization != kLiteRtQuantizationNone) {
    return false;
  }
  *out_rank = (int32_t)type.layout.rank;
  for (int32_t i = 0; i < *out_rank; ++i) {
    if (type.layout.dimensions[i] < 1) return false;
    out_dims[i] = type.layout.dimensions[i];
  }
  return true;
}

/* Stores the contents of a constant; NULL for other tensors. Returns false if they do not fit. */
static bool ReadContents(Import* import, LiteRtTensor tensor, int32_t index) {
  bool has_producer = false;
  LiteRtTensorDefiningOp producer;
  LiteRtWeights weights = NULL;
  const void* data = NULL;
  size_t bytes = 0;
  if (import->context->get_tensor_defining_op(tensor, &has_producer, &producer) !=
      kLiteRtStatusOk) {
    return false;
  }
  if (has_producer || import->context->get_tensor_weights(tensor, &weights) != kLiteRtStatusOk ||
      import->context->get_weights_bytes(weights, &data, &bytes) != kLiteRtStatusOk || bytes == 0) {
    return true;
  }
  const size_t expected = NpuTensorBytes(NpuTensorAt(&import->builder, index));
  void* copy = bytes == expected ? NpuBuilderOwn(&import->builder, bytes) : NULL;
  if (copy == NULL) return false;
  memcpy(copy, data, bytes);
  NpuTensorAt(&import->builder, index)->data = copy;
  return true;
}

/* Returns the index of a tensor in the graph; -1 if the device has no such tensors. */
static int32_t TensorOf(Import* import, LiteRtTensor tensor) {
  for (size_t i = 0; i < import->slot_count; ++i) {
    if (import->slots[i].tensor == tensor) return import->slots[i].index;
  }
  int32_t rank = 0, dims[NPU_MAX_RANK] = {0};
  if (!ReadShape(import->context, tensor, &rank, dims)) return -1;
  Slot* grown = realloc(import->slots, (import->slot_count + 1) * sizeof *grown);
  if (grown == NULL) return -1;
  import->slots = grown;
  const int32_t index = NpuAddTensor(&import->builder, kNpuFloat32, rank, dims);
  if (index < 0 || !ReadContents(import, tensor, index)) return -1;
  grown[import->slot_count].tensor = tensor;
  grown[import->slot_count++].index = index;
  return index;
}

/* Stores the device's function for a fused activation, 0 for none. Returns false if there is no
 * such function. */
static bool ReadActivation(const LiteRtCompilerContext* context, LiteRtOp op, LiteRtOpCode code,
                           int32_t* out_function) {
  static const int32_t kFunctions[] = {0, kNpuRelu, kNpuReluN1To1, kNpuRelu6, kNpuTanh};
  uint32_t activation = 0;
  if (code == kLiteRtOpCodeTflAdd) {
    (void)context->get_add_fused_activation_option(op, &activation);
  } else if (code == kLiteRtOpCodeTflSub) {
    (void)context->get_sub_fused_activation_option(op, &activation);
  } else if (code == kLiteRtOpCodeTflMul) {
    (void)context->get_mul_fused_activation_option(op, &activation);
  } else if (code == kLiteRtOpCodeTflFullyConnected) {
    (void)context->get_fully_connected_fused_activation_option(op, &activation);
  }
  if (activation >= sizeof kFunctions / sizeof kFunctions[0]) return false;
  *out_function = kFunctions[activation];
  return true;
}

/* Adds an operation that computes `output`, followed by an activation if `activation` is not 0. */
static void AddActivated(Import* import, int32_t kind, int32_t function, const int32_t* inputs,
                         int32_t input_count, int32_t activation, int32_t output) {
  NpuBuilder* builder = &import->builder;
  if (activation == 0) {
    NpuAddOp(builder, kind, function, inputs, input_count, output);
    return;
  }
  const int32_t inner = NpuAddTensorLike(builder, output);
  NpuAddOp(builder, kind, function, inputs, input_count, inner);
  NpuAddOp(builder, kNpuUnary, activation, &inner, 1, output);
}

/* Rows of x times the transposed weights, plus the bias. */
static bool ImportFullyConnected(Import* import, LiteRtOp op, const int32_t* inputs,
                                 int32_t input_count, int32_t activation, int32_t output) {
  NpuBuilder* builder = &import->builder;
  uint32_t format = 0;
  (void)import->context->get_fully_connected_weights_format_option(op, &format);
  const NpuTensor weights = *NpuTensorAt(builder, inputs[1]);
  const NpuTensor x = *NpuTensorAt(builder, inputs[0]);
  if (format != 0 || weights.rank != 2 || weights.data == NULL ||
      NpuElementCount(&x) % (size_t)weights.dims[1] != 0) {
    return false;
  }
  const int32_t rows = (int32_t)(NpuElementCount(&x) / (size_t)weights.dims[1]);
  const int32_t matrix_dims[2] = {rows, weights.dims[1]};
  const int32_t product_dims[2] = {rows, weights.dims[0]};
  const int32_t matrix = NpuAddTensor(builder, kNpuFloat32, 2, matrix_dims);
  const int32_t product = NpuAddTensor(builder, kNpuFloat32, 2, product_dims);
  NpuAddOp(builder, kNpuReshape, 0, inputs, 1, matrix);
  const int32_t operands[kMaxInputs] = {matrix, inputs[1], input_count == 3 ? inputs[2] : -1};
  const int32_t added = NpuAddOp(builder, kNpuMatMul, 0, operands, input_count, product);
  NpuOpAt(builder, added)->attributes[kNpuMatMulTransposeB] = 1;
  AddActivated(import, kNpuReshape, 0, &product, 1, activation, output);
  return true;
}

/* Kind and function of the device for an operator. */
typedef struct Row {
  LiteRtOpCode code;
  int32_t inputs; /* number of inputs */
  int32_t kind;   /* NpuKind */
  int32_t function;
} Row;

static const Row kRows[] = {
    {kLiteRtOpCodeTflAdd, 2, kNpuBinary, kNpuAdd},
    {kLiteRtOpCodeTflSub, 2, kNpuBinary, kNpuSub},
    {kLiteRtOpCodeTflMul, 2, kNpuBinary, kNpuMul},
    {kLiteRtOpCodeTflFullyConnected, 3, kNpuMatMul, 0},
    {kLiteRtOpCodeTflLogistic, 1, kNpuUnary, kNpuSigmoid},
    {kLiteRtOpCodeTflRelu, 1, kNpuUnary, kNpuRelu},
    {kLiteRtOpCodeTflRelu6, 1, kNpuUnary, kNpuRelu6},
    {kLiteRtOpCodeTflReluN1To1, 1, kNpuUnary, kNpuReluN1To1},
    {kLiteRtOpCodeTflTanh, 1, kNpuUnary, kNpuTanh},
};

static const Row* FindRow(LiteRtOpCode code) {
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; ++i) {
    if (kRows[i].code == code) return &kRows[i];
  }
  return NULL;
}

/* Adds the operations of an operator. Returns false if the device cannot compute it; the graph is
 * then unusable. */
static bool ImportOp(Import* import, LiteRtOp op) {
  const LiteRtCompilerContext* context = import->context;
  LiteRtOpCode code = kLiteRtOpCodeTflCustom;
  LiteRtParamIndex input_count = 0, output_count = 0;
  if (context->get_op_code(op, &code) != kLiteRtStatusOk ||
      context->get_num_op_inputs(op, &input_count) != kLiteRtStatusOk ||
      context->get_num_op_outputs(op, &output_count) != kLiteRtStatusOk) {
    return false;
  }
  const Row* row = FindRow(code);
  if (row == NULL || output_count != 1) return false;
  /* The bias of FULLY_CONNECTED may be absent. */
  const bool lacks_bias = row->kind == kNpuMatMul && input_count == 2;
  if (input_count != (LiteRtParamIndex)row->inputs && !lacks_bias) return false;
  int32_t inputs[kMaxInputs] = {-1, -1, -1}, activation = 0;
  for (LiteRtParamIndex i = 0; i < input_count; ++i) {
    LiteRtTensor tensor = NULL;
    if (context->get_op_input(op, i, &tensor) != kLiteRtStatusOk) return false;
    inputs[i] = TensorOf(import, tensor);
    if (inputs[i] < 0) return false;
  }
  LiteRtTensor result = NULL;
  if (context->get_op_output(op, 0, &result) != kLiteRtStatusOk) return false;
  const int32_t output = TensorOf(import, result);
  if (output < 0 || !ReadActivation(context, op, code, &activation)) return false;
  if (row->kind == kNpuMatMul) {
    return ImportFullyConnected(import, op, inputs, (int32_t)input_count, activation, output);
  }
  AddActivated(import, row->kind, row->function, inputs, row->inputs, activation, output);
  return true;
}

/* Returns true if the device can compute an operator: a graph with it alone is valid. */
static bool IsSupported(const LiteRtCompilerContext* context, LiteRtOp op) {
  Import import;
  LiteRtTensor result = NULL;
  InitImport(&import, context);
  bool is_supported =
      ImportOp(&import, op) && context->get_op_output(op, 0, &result) == kLiteRtStatusOk;
  if (is_supported) {
    const int32_t output = TensorOf(&import, result);
    for (size_t i = 0; i < import.slot_count; ++i) {
      const int32_t index = import.slots[i].index;
      const bool is_constant = NpuTensorAt(&import.builder, index)->data != NULL;
      if (index != output && !is_constant) NpuAddInput(&import.builder, index);
    }
    NpuAddOutput(&import.builder, output);
    is_supported = !import.builder.failed && NpuCheckGraph(&import.builder.graph, NULL, 0);
  }
  FreeImport(&import);
  return is_supported;
}

/* Builds the graph of a partition. */
static bool ImportSubgraph(Import* import, LiteRtSubgraph subgraph) {
  const LiteRtCompilerContext* context = import->context;
  LiteRtParamIndex inputs = 0, outputs = 0, ops = 0;
  if (context->get_num_subgraph_inputs(subgraph, &inputs) != kLiteRtStatusOk ||
      context->get_num_subgraph_outputs(subgraph, &outputs) != kLiteRtStatusOk ||
      context->get_num_subgraph_ops(subgraph, &ops) != kLiteRtStatusOk) {
    return false;
  }
  LiteRtTensor tensor = NULL;
  for (LiteRtParamIndex i = 0; i < inputs; ++i) {
    if (context->get_subgraph_input(subgraph, i, &tensor) != kLiteRtStatusOk) return false;
    const int32_t index = TensorOf(import, tensor);
    if (index < 0) return false;
    NpuAddInput(&import->builder, index);
  }
  for (LiteRtParamIndex i = 0; i < ops; ++i) {
    LiteRtOp op = NULL;
    if (context->get_subgraph_op(subgraph, i, &op) != kLiteRtStatusOk || !ImportOp(import, op)) {
      return false;
    }
  }
  for (LiteRtParamIndex i = 0; i < outputs; ++i) {
    if (context->get_subgraph_output(subgraph, i, &tensor) != kLiteRtStatusOk) return false;
    NpuAddOutput(&import->builder, TensorOf(import, tensor));
  }
  return !import->builder.failed;
}

/* ---- Transformations ------------------------------------------------------------------------- */

/* RELU6 of RELU is RELU6. */
static LiteRtStatus DropReluBeforeRelu6(const LiteRtCompilerContext* context, LiteRtBuilder builder,
                                        LiteRtOp op) {
  LiteRtOpCode code = kLiteRtOpCodeTflCustom;
  LiteRtTensor inner = NULL, x = NULL, output = NULL;
  LiteRtTensorDefiningOp producer;
  LiteRtParamIndex uses = 0;
  LiteRtOp replacement = NULL;
  bool has_producer = false;
  if (!LITERT_ABI_HAS_API(context, 1, erase_op) ||
      context->get_op_code(op, &code) != kLiteRtStatusOk || code != kLiteRtOpCodeTflRelu6 ||
      context->get_op_input(op, 0, &inner) != kLiteRtStatusOk ||
      context->get_op_output(op, 0, &output) != kLiteRtStatusOk ||
      context->get_num_tensor_uses(inner, &uses) != kLiteRtStatusOk || uses != 1 ||
      context->get_tensor_defining_op(inner, &has_producer, &producer) != kLiteRtStatusOk ||
      !has_producer || context->get_op_code(producer.op, &code) != kLiteRtStatusOk ||
      code != kLiteRtOpCodeTflRelu ||
      context->get_op_input(producer.op, 0, &x) != kLiteRtStatusOk) {
    return kLiteRtStatusPatternNoMatch;
  }
  LiteRtStatus status =
      context->build_op(builder, kLiteRtOpCodeTflRelu6, 1, &x, 1, &output, &replacement);
  if (status == kLiteRtStatusOk) status = context->erase_op(builder, op);
  return status == kLiteRtStatusOk ? context->erase_op(builder, producer.op) : status;
}

static LiteRtTransformation transformations[] = {
    {.pattern = DropReluBeforeRelu6, .name = "relu6_of_relu", .benefit = 1},
};

LiteRtStatus LiteRtCompilerPluginRegisterAllTransformations(LiteRtCompilerPlugin compiler_plugin,
                                                            LiteRtTransformation** registered,
                                                            LiteRtParamIndex* num_patterns) {
  if (compiler_plugin == NULL || registered == NULL || num_patterns == NULL) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *registered = transformations;
  *num_patterns = sizeof transformations / sizeof transformations[0];
  return kLiteRtStatusOk;
}

/* ---- The plug-in ----------------------------------------------------------------------------- */

LiteRtStatus LiteRtGetCompilerPluginVersion(LiteRtApiVersion* api_version) {
  if (api_version == NULL) return kLiteRtStatusErrorInvalidArgument;
  api_version->major = LITERT_API_VERSION_MAJOR;
  api_version->minor = LITERT_API_VERSION_MINOR;
  api_version->patch = LITERT_API_VERSION_PATCH;
  return kLiteRtStatusOk;
}

const char* LiteRtGetCompilerPluginSocManufacturer(void) { return "DeputyNpuStub"; }

LiteRtStatus LiteRtCreateCompilerPlugin(const LiteRtCompilerContext* compiler_context,
                                        LiteRtCompilerPlugin* compiler_plugin,
                                        LiteRtEnvironmentOptions env, LiteRtOptions options) {
  (void)env;
  (void)options;
  if (compiler_context == NULL || compiler_plugin == NULL) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (!LITERT_ABI_IS_COMPATIBLE(compiler_context, 1, 0)) return kLiteRtStatusErrorWrongVersion;
  LiteRtCompilerPlugin created = calloc(1, sizeof *created);
  if (created == NULL) return kLiteRtStatusErrorMemoryAllocationFailure;
  const NpuDeviceConfig config = {.struct_size = sizeof config};
  char error[kErrorBytes] = "";
  created->context = compiler_context;
  created->api = npu_device_api();
  if (created->api->open(&config, &created->device, error, sizeof error) != kNpuOk) {
    fprintf(stderr, "NPU stub: the device cannot be opened: %s\n", error);
    free(created);
    return kLiteRtStatusErrorRuntimeFailure;
  }
  *compiler_plugin = created;
  return kLiteRtStatusOk;
}

void LiteRtDestroyCompilerPlugin(LiteRtCompilerPlugin compiler_plugin) {
  if (compiler_plugin == NULL) return;
  compiler_plugin->api->close(compiler_plugin->device);
  free(compiler_plugin);
}

LiteRtStatus LiteRtGetCompilerPluginSupportedHardware(LiteRtCompilerPlugin compiler_plugin,
                                                      LiteRtHwAccelerators* supported_hardware) {
  if (compiler_plugin == NULL || supported_hardware == NULL) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *supported_hardware = kLiteRtHwAcceleratorNpu;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(
    LiteRtCompilerPlugin compiler_plugin, LiteRtParamIndex* num_supported_soc_models) {
  if (compiler_plugin == NULL || num_supported_soc_models == NULL) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *num_supported_soc_models = 1;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(LiteRtCompilerPlugin compiler_plugin,
                                                      LiteRtParamIndex soc_model_idx,
                                                      const char** soc_model_name) {
  if (compiler_plugin == NULL || soc_model_name == NULL || soc_model_idx != 0) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *soc_model_name = SOC_MODEL;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompilerPluginSDKVersion(LiteRtCompilerPlugin compiler_plugin,
                                               const char** sdk_version) {
  if (compiler_plugin == NULL || sdk_version == NULL) return kLiteRtStatusErrorInvalidArgument;
  *sdk_version = compiler_plugin->api->version(compiler_plugin->device);
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompilerPluginCheckCompilerCompatibility(LiteRtApiVersion api_version,
                                                            LiteRtCompilerPlugin compiler_plugin,
                                                            LiteRtEnvironmentOptions env,
                                                            LiteRtOptions options,
                                                            const char* soc_model_name) {
  (void)env;
  (void)options;
  if (compiler_plugin == NULL) return kLiteRtStatusErrorInvalidArgument;
  const bool is_known = soc_model_name == NULL || strcmp(soc_model_name, SOC_MODEL) == 0;
  return is_known && api_version.major == LITERT_API_VERSION_MAJOR
             ? kLiteRtStatusOk
             : kLiteRtStatusErrorUnsupportedCompilerVersion;
}

LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin compiler_plugin,
                                           const char* soc_model, LiteRtSubgraph subgraph,
                                           LiteRtOpList selected_ops) {
  (void)soc_model;
  if (compiler_plugin == NULL || subgraph == NULL || selected_ops == NULL) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const LiteRtCompilerContext* context = compiler_plugin->context;
  LiteRtParamIndex count = 0;
  LiteRtStatus status = context->get_num_subgraph_ops(subgraph, &count);
  for (LiteRtParamIndex i = 0; status == kLiteRtStatusOk && i < count; ++i) {
    LiteRtOp op = NULL;
    status = context->get_subgraph_op(subgraph, i, &op);
    if (status == kLiteRtStatusOk && IsSupported(context, op)) {
      status = context->push_op(selected_ops, op, 0);
    }
  }
  return status;
}

/* Compiles a partition. */
static LiteRtStatus CompileModule(LiteRtCompilerPlugin plugin, LiteRtSubgraph subgraph,
                                  Module* module) {
  Import import;
  char error[kErrorBytes] = "an operator is not supported";
  InitImport(&import, plugin->context);
  const bool is_compiled =
      ImportSubgraph(&import, subgraph) &&
      plugin->api->compile(plugin->device, &import.builder.graph, &module->blob, &module->bytes,
                           error, sizeof error) == kNpuOk;
  FreeImport(&import);
  if (is_compiled) return kLiteRtStatusOk;
  fprintf(stderr, "NPU stub: %s cannot be compiled: %s\n", module->name, error);
  return kLiteRtStatusErrorCompilation;
}

LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin compiler_plugin,
                                         const char* soc_model, LiteRtModel partitions,
                                         LiteRtCompiledResult* compiled_result) {
  (void)soc_model;
  if (compiler_plugin == NULL || partitions == NULL || compiled_result == NULL) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  LiteRtParamIndex count = 0;
  LiteRtStatus status = compiler_plugin->context->get_num_model_subgraphs(partitions, &count);
  if (status != kLiteRtStatusOk) return status;
  LiteRtCompiledResult result = calloc(1, sizeof *result + count * sizeof(Module));
  if (result == NULL) return kLiteRtStatusErrorMemoryAllocationFailure;
  result->plugin = compiler_plugin;
  result->count = count;
  for (LiteRtParamIndex i = 0; status == kLiteRtStatusOk && i < count; ++i) {
    LiteRtSubgraph subgraph = NULL;
    snprintf(result->modules[i].name, sizeof result->modules[i].name, "partition%zu", i);
    status = compiler_plugin->context->get_model_subgraph(partitions, i, &subgraph);
    if (status == kLiteRtStatusOk) {
      status = CompileModule(compiler_plugin, subgraph, &result->modules[i]);
    }
  }
  if (status == kLiteRtStatusOk) {
    *compiled_result = result;
  } else {
    LiteRtDestroyCompiledResult(result);
  }
  return status;
}

/* ---- Results --------------------------------------------------------------------------------- */

void LiteRtDestroyCompiledResult(LiteRtCompiledResult result) {
  if (result == NULL) return;
  for (LiteRtParamIndex i = 0; i < result->count; ++i) {
    result->plugin->api->free_blob(result->plugin->device, result->modules[i].blob);
  }
  free(result);
}

LiteRtStatus LiteRtCompiledResultNumByteCodeModules(LiteRtCompiledResult compiled_result,
                                                    LiteRtParamIndex* num_byte_code) {
  if (compiled_result == NULL || num_byte_code == NULL) return kLiteRtStatusErrorInvalidArgument;
  *num_byte_code = compiled_result->count;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompiledResultByteCode(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex byte_code_idx, const void** byte_code,
                                             size_t* byte_code_size) {
  if (compiled_result == NULL || byte_code == NULL || byte_code_size == NULL ||
      byte_code_idx >= compiled_result->count) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *byte_code = compiled_result->modules[byte_code_idx].blob;
  *byte_code_size = compiled_result->modules[byte_code_idx].bytes;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex* num_calls) {
  return LiteRtCompiledResultNumByteCodeModules(compiled_result, num_calls);
}

LiteRtStatus LiteRtGetCompiledResultCallInfo(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex call_idx, const void** call_info,
                                             size_t* call_info_size,
                                             LiteRtParamIndex* byte_code_idx) {
  if (compiled_result == NULL || call_info == NULL || call_info_size == NULL ||
      byte_code_idx == NULL || call_idx >= compiled_result->count) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *call_info = compiled_result->modules[call_idx].name;
  *call_info_size = strlen(compiled_result->modules[call_idx].name);
  *byte_code_idx = call_idx;
  return kLiteRtStatusOk;
}
