// SPDX-License-Identifier: Apache-2.0
//
// A test double of a vendor's compiler plug-in, for the dispatch plug-in in dispatch.c. It selects
// ADD of two tensors, and MUL by a constant whose first element is the factor. Each operator is a
// partition, and has byte code of 12 bytes: "DLRT", a number and a float. A transformation replaces
// NEG by MUL with -1. Each call writes its name to stderr.
//
// The environment variable LITERT_COMPILER selects a fault or property, `key=value`:
//   fail=FUNCTION   the function returns kLiteRtStatusErrorRuntimeFailure
//   hang=FUNCTION, crash=FUNCTION  the function does not return
//   null=FUNCTION   the function returns kLiteRtStatusOk and NULL, or no bytes
//   version=N, hardware=N, models=N, calls=N, modules=N, count=N (of transformations)
//   module=N        module of each call
//   size=N, name=N  sizes of byte code and of names
//   bad=FUNCTION    the function returns the address 64, with a size if it has one
//   handles=N       handles replace byte code; 2: all calls have the name of the first one.
//                   3: the same, and only the first module has a handle.
//                   The variable LITERT_COMPILER_HANDLES enables handles, too
//   select=WHAT     twice: the first operator again; foreign: an address without an operator;
//                   all: every operator; none: none
//   transform=WHAT  cycle: a change that breaks the graph; forever: NEG becomes NEG;
//                   empty: no function; code: a function that is no code; text: a name that is
//                   not readable
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litert/c/internal/litert_compiler_context.h"
#include "litert/vendors/c/litert_compiler_plugin.h"

enum { kMaxModules = 16, kCodeBytes = 12 };

struct LiteRtCompilerPluginT {
  const LiteRtCompilerContext* context;
  char model[16];
};

struct LiteRtCompiledResultT {
  LiteRtParamIndex count;
  char code[kMaxModules][kCodeBytes];
};

static const char* Setting(const char* key) {
  const char* const text = getenv("LITERT_COMPILER");
  const size_t length = strlen(key);
  if (text == NULL || strncmp(text, key, length) != 0 || text[length] != '=') return NULL;
  return text + length + 1;
}

static bool Is(const char* key, const char* value) {
  const char* const setting = Setting(key);
  return setting != NULL && strcmp(setting, value) == 0;
}

// Returns the text that a function returns.
static const char* TextOf(const char* function, const char* text) {
  if (Is("bad", function)) return (const char*)(uintptr_t)64;
  return Is("null", function) ? NULL : text;
}

static size_t Number(const char* key, size_t otherwise) {
  const char* const setting = Setting(key);
  return setting == NULL ? otherwise : (size_t)strtoull(setting, NULL, 10);
}

static bool HasHandles(void) {
  return Setting("handles") != NULL || getenv("LITERT_COMPILER_HANDLES") != NULL;
}

// Records a call and returns its status: an error if two threads call functions at once.
static LiteRtStatus Record(const char* name) {
  static int callers;
  const int others = __atomic_fetch_add(&callers, 1, __ATOMIC_SEQ_CST);
  (void)poll(NULL, 0, 1);  // a millisecond
  __atomic_fetch_sub(&callers, 1, __ATOMIC_SEQ_CST);
  if (others != 0) return kLiteRtStatusErrorUnknown;
  fprintf(stderr, "double: %s\n", name);
  if (Is("crash", name)) raise(SIGSEGV);
  while (Is("hang", name)) (void)poll(NULL, 0, -1);
  return Is("fail", name) ? kLiteRtStatusErrorRuntimeFailure : kLiteRtStatusOk;
}

static const LiteRtCompilerContext* last_context;

// Returns the context that the newest plug-in has received.
LITERT_CAPI_EXPORT const LiteRtCompilerContext* LitertDoubleContext(void);

const LiteRtCompilerContext* LitertDoubleContext(void) { return last_context; }

// ---- The plug-in --------------------------------------------------------------------------------

LiteRtStatus LiteRtGetCompilerPluginVersion(LiteRtApiVersion* version) {
  version->major = LITERT_API_VERSION_MAJOR;
  version->minor = (int)Number("version", LITERT_API_VERSION_MINOR);
  version->patch = LITERT_API_VERSION_PATCH;
  return Record("GetCompilerPluginVersion");
}

const char* LiteRtGetCompilerPluginSocManufacturer(void) {
  return TextOf("GetCompilerPluginSocManufacturer", "Double");
}

LiteRtStatus LiteRtCreateCompilerPlugin(const LiteRtCompilerContext* context,
                                        LiteRtCompilerPlugin* plugin, LiteRtEnvironmentOptions env,
                                        LiteRtOptions options) {
  (void)env;
  (void)options;
  const LiteRtStatus status = Record("CreateCompilerPlugin");
  *plugin = NULL;
  last_context = context;
  if (status != kLiteRtStatusOk || Is("null", "CreateCompilerPlugin")) return status;
  *plugin = calloc(1, sizeof(**plugin));
  (*plugin)->context = context;
  return status;
}

void LiteRtDestroyCompilerPlugin(LiteRtCompilerPlugin plugin) {
  (void)Record("DestroyCompilerPlugin");
  free(plugin);
}

LiteRtStatus LiteRtGetCompilerPluginSupportedHardware(LiteRtCompilerPlugin plugin,
                                                      LiteRtHwAccelerators* hardware) {
  (void)plugin;
  *hardware = (LiteRtHwAccelerators)Number("hardware", kLiteRtHwAcceleratorNpu);
  return Record("GetCompilerPluginSupportedHardware");
}

LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(LiteRtCompilerPlugin plugin,
                                                          LiteRtParamIndex* count) {
  (void)plugin;
  *count = Number("models", 2);
  return Record("GetNumCompilerPluginSupportedSocModels");
}

LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(LiteRtCompilerPlugin plugin,
                                                      LiteRtParamIndex index, const char** model) {
  snprintf(plugin->model, sizeof(plugin->model), "D%u", (unsigned)index % 100);
  *model = TextOf("GetCompilerPluginSupportedSocModel", plugin->model);
  return Record("GetCompilerPluginSupportedSocModel");
}

LiteRtStatus LiteRtGetCompilerPluginSDKVersion(LiteRtCompilerPlugin plugin, const char** version) {
  (void)plugin;
  *version = TextOf("GetCompilerPluginSDKVersion", getenv("LITERT_COMPILER_SDK"));
  return Record("GetCompilerPluginSDKVersion");
}

LiteRtStatus LiteRtCompilerPluginCheckCompilerCompatibility(LiteRtApiVersion version,
                                                            LiteRtCompilerPlugin plugin,
                                                            LiteRtEnvironmentOptions env,
                                                            LiteRtOptions options,
                                                            const char* soc_model) {
  (void)version;
  (void)plugin;
  (void)env;
  (void)options;
  fprintf(stderr, "double: SoC model %s\n", soc_model == NULL ? "NULL" : soc_model);
  return Record("CompilerPluginCheckCompilerCompatibility");
}

// ---- Transformations ----------------------------------------------------------------------------

// Replaces NEG by MUL with -1.
static LiteRtStatus MultiplyInsteadOfNegate(const LiteRtCompilerContext* context,
                                            LiteRtBuilder builder, LiteRtOp op) {
  LiteRtOpCode code = kLiteRtOpCodeTflCustom;
  LiteRtTensor input = NULL, output = NULL, factor = NULL;
  LiteRtRankedTensorType type;
  context->get_op_code(op, &code);
  if (code != kLiteRtOpCodeTflNeg) return kLiteRtStatusPatternNoMatch;
  if (Record("Pattern") != kLiteRtStatusOk) return kLiteRtStatusErrorRuntimeFailure;
  context->get_op_input(op, 0, &input);
  context->get_op_output(op, 0, &output);
  context->get_ranked_tensor_type(input, &type);
  if (Is("transform", "cycle")) input = output;
  LiteRtOp added = NULL;
  if (Is("transform", "forever")) {
    context->build_op(builder, kLiteRtOpCodeTflNeg, 1, &input, 1, &output, &added);
    return context->erase_op(builder, op);
  }
  const float value[4] = {-1, -1, -1, -1};
  const LiteRtUnrankedTensorType unranked = {kLiteRtElementTypeFloat32};
  const LiteRtQuantizationPerTensor per_tensor = {0, 0};
  const LiteRtQuantizationPerChannel per_channel = {0, 0, NULL, NULL};
  const LiteRtQuantizationBlockWise block_wise = {NULL, NULL, 0};
  LiteRtWeights weights = NULL;
  context->build_tensor(builder, kLiteRtRankedTensorType, type, unranked, NULL,
                        kLiteRtQuantizationNone, per_tensor, per_channel, block_wise, "factor",
                        &factor);
  context->build_weights(builder, (const uint8_t*)value, sizeof(value), factor, &weights);
  LiteRtTensor inputs[] = {input, factor};
  uint32_t activation = 0;
  context->build_op(builder, kLiteRtOpCodeTflMul, 2, inputs, 1, &output, &added);
  context->build_mul_op_option(builder, added, &activation);
  return context->erase_op(builder, op);
}

static LiteRtStatus MatchNothing(const LiteRtCompilerContext* context, LiteRtBuilder builder,
                                 LiteRtOp op) {
  (void)context;
  (void)builder;
  (void)op;
  (void)Record("MatchNothing");
  return kLiteRtStatusPatternNoMatch;
}

// The first one is registered with count=2 only.
static LiteRtTransformation transformations[] = {{MatchNothing, "nothing", 0},
                                                 {MultiplyInsteadOfNegate, "multiply", 1}};

LiteRtStatus LiteRtCompilerPluginRegisterAllTransformations(LiteRtCompilerPlugin plugin,
                                                            LiteRtTransformation** registered,
                                                            LiteRtParamIndex* count) {
  (void)plugin;
  static LiteRtTransformation empty = {NULL, "empty", 0};
  *count = Number("count", 1);
  *registered = *count == 2 ? transformations : transformations + 1;
  if (Is("null", "CompilerPluginRegisterAllTransformations")) *registered = NULL;
  if (Is("bad", "CompilerPluginRegisterAllTransformations")) {
    *registered = (LiteRtTransformation*)(uintptr_t)64;
  }
  if (Is("transform", "empty")) *registered = &empty;
  if (Is("transform", "code")) {
    const uintptr_t address = 64;
    memcpy(&empty.pattern, &address, sizeof(address));
    *registered = &empty;
  }
  if (Is("transform", "text")) {
    transformations[1].name = (const char*)(uintptr_t)64;
  }
  return Record("CompilerPluginRegisterAllTransformations");
}

// ---- Compilation --------------------------------------------------------------------------------

// Returns the address of a constant's contents; NULL for other tensors.
static const float* ContentsOf(LiteRtCompilerPlugin plugin, LiteRtTensor tensor) {
  LiteRtWeights weights = NULL;
  const void* data = NULL;
  size_t bytes = 0;
  plugin->context->get_tensor_weights(tensor, &weights);
  plugin->context->get_weights_bytes(weights, &data, &bytes);
  return bytes < sizeof(float) ? NULL : data;
}

// Writes the byte code of an operator. Returns false if the double does not select it.
static bool WriteCode(LiteRtCompilerPlugin plugin, LiteRtOp op, char* code) {
  LiteRtOpCode kind = kLiteRtOpCodeTflCustom;
  LiteRtTensor second = NULL;
  plugin->context->get_op_code(op, &kind);
  if (kind != kLiteRtOpCodeTflAdd && kind != kLiteRtOpCodeTflMul) return false;
  plugin->context->get_op_input(op, 1, &second);
  const float* const constant = ContentsOf(plugin, second);
  if ((kind == kLiteRtOpCodeTflMul) != (constant != NULL)) return false;
  const uint32_t number = kind == kLiteRtOpCodeTflAdd;
  const float factor = constant == NULL ? 0 : *constant;
  memcpy(code, "DLRT", 4);
  memcpy(code + 4, &number, sizeof(number));
  memcpy(code + 8, &factor, sizeof(factor));
  return true;
}

LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin plugin, const char* soc_model,
                                           LiteRtSubgraph subgraph, LiteRtOpList selected) {
  (void)soc_model;
  const LiteRtStatus status = Record("CompilerPluginPartition");
  LiteRtParamIndex count = 0;
  LiteRtOp op = NULL;
  char code[kCodeBytes];
  plugin->context->get_num_subgraph_ops(subgraph, &count);
  for (LiteRtParamIndex i = 0; i < count && !Is("select", "none"); ++i) {
    plugin->context->get_subgraph_op(subgraph, i, &op);
    if (!WriteCode(plugin, op, code) && !Is("select", "all")) continue;
    plugin->context->push_op(selected, op, i);
    if (Is("select", "twice")) plugin->context->push_op(selected, op, 7 * i);
  }
  if (Is("select", "foreign")) plugin->context->push_op(selected, (LiteRtOp)(uintptr_t)64, 0);
  if (plugin->context->push_op(NULL, op, 0) == kLiteRtStatusOk ||
      plugin->context->push_op(selected, NULL, 0) == kLiteRtStatusOk) {
    return kLiteRtStatusErrorUnknown;
  }
  return status;
}

LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin plugin, const char* soc_model,
                                         LiteRtModel partitions, LiteRtCompiledResult* result) {
  (void)soc_model;
  const LiteRtStatus status = Record("CompilerPluginCompile");
  *result = NULL;
  if (status != kLiteRtStatusOk || Is("null", "CompilerPluginCompile")) return status;
  LiteRtParamIndex count = 0, ops = 0;
  plugin->context->get_num_model_subgraphs(partitions, &count);
  if (count > kMaxModules) return kLiteRtStatusErrorUnsupported;
  LiteRtCompiledResult created = calloc(1, sizeof(*created));
  created->count = count;
  for (LiteRtParamIndex i = 0; i < count; ++i) {
    LiteRtSubgraph subgraph = NULL;
    LiteRtOp op = NULL;
    plugin->context->get_model_subgraph(partitions, i, &subgraph);
    plugin->context->get_num_subgraph_ops(subgraph, &ops);
    plugin->context->get_subgraph_op(subgraph, 0, &op);
    if (ops == 1 && WriteCode(plugin, op, created->code[i])) continue;
    fprintf(stderr, "double: expected one operator in partition %u\n", (unsigned)i);
    free(created);
    return kLiteRtStatusErrorUnsupported;
  }
  *result = created;
  return kLiteRtStatusOk;
}

// ---- Results ------------------------------------------------------------------------------------

// With handles, byte code is changed in place of being freed: a late use has wrong results.
void LiteRtDestroyCompiledResult(LiteRtCompiledResult result) {
  (void)Record("DestroyCompiledResult");
  memset(result->code, 0, sizeof(result->code));
  if (!HasHandles()) free(result);
}

LiteRtStatus LiteRtGetCompiledResultHandle(LiteRtCompiledResult result, LiteRtParamIndex index,
                                           LiteRtJitExecutable* handle) {
  if (!HasHandles()) return kLiteRtStatusErrorUnsupported;
  const bool has_handle = index < result->count && !(Is("handles", "3") && index > 0);
  *handle = has_handle ? (LiteRtJitExecutable)result->code[index] : NULL;
  return Record("GetCompiledResultHandle");
}

LiteRtStatus LiteRtCompiledResultNumByteCodeModules(LiteRtCompiledResult result,
                                                    LiteRtParamIndex* count) {
  *count = Number("modules", result->count);
  return Record("CompiledResultNumByteCodeModules");
}

LiteRtStatus LiteRtGetCompiledResultByteCode(LiteRtCompiledResult result, LiteRtParamIndex index,
                                             const void** code, size_t* bytes) {
  const char* const name = "GetCompiledResultByteCode";
  *code = index < result->count ? result->code[index] : NULL;
  if (Is("null", name)) *code = NULL;
  if (Is("bad", name)) *code = (const void*)(uintptr_t)64;
  *bytes = Number("size", kCodeBytes);
  return Record(name);
}

LiteRtStatus LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult result, LiteRtParamIndex* count) {
  *count = Number("calls", result->count);
  return Record("GetNumCompiledResultCalls");
}

LiteRtStatus LiteRtGetCompiledResultCallInfo(LiteRtCompiledResult result, LiteRtParamIndex call,
                                             const void** info, size_t* bytes,
                                             LiteRtParamIndex* module) {
  (void)result;
  const char* const name = "GetCompiledResultCallInfo";
  static const char* const kNames[] = {"entry", "entr1", "entr2", "entr3"};
  const bool has_own_name = Is("handles", "1") && call < 4;
  *info = Is("null", name) ? NULL : kNames[has_own_name ? call : 0];
  if (Is("bad", name)) *info = (const void*)(uintptr_t)64;
  *bytes = Number("name", strlen("entry"));
  *module = Number("module", call);
  return Record(name);
}
