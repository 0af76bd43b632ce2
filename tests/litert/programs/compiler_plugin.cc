// SPDX-License-Identifier: Apache-2.0
//
// Skeleton of a compiler plug-in in C++, for the test of the headers, which compiles it only. It
// selects ADD without an activation, and its bytecode is the number of operators of a partition as
// text.
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "litert/c/internal/litert_compiler_context.h"
#include "litert/c/internal/litert_options_helper.h"
#include "litert/vendors/c/litert_compiler_plugin.h"
#include "litert/vendors/c/litert_compiler_plugin_api.h"

static_assert(sizeof(LiteRtCompilerContext) == 1408, "LiteRtCompilerContext");
static_assert(offsetof(LiteRtCompilerContext, push_op) == 264, "LiteRtCompilerContext");
static_assert(offsetof(LiteRtCompilerContext, get_squeeze_dims_option) == 1024,
              "LiteRtCompilerContext");
static_assert(offsetof(LiteRtCompilerContext, build_tensor) == 1048, "LiteRtCompilerContext");
static_assert(sizeof(LiteRtCompilerPluginApi) == 18 * sizeof(void*), "LiteRtCompilerPluginApi");
static_assert(sizeof(LiteRtTransformation) == 24, "LiteRtTransformation");

// A host's table, from the functions of this file: their types must be those of the table.
static const LiteRtCompilerPluginApi kApi = {
    LiteRtGetCompilerPluginVersion,
    LiteRtGetCompilerPluginSocManufacturer,
    LiteRtCreateCompilerPlugin,
    LiteRtDestroyCompilerPlugin,
    LiteRtGetCompilerPluginSupportedHardware,
    LiteRtGetNumCompilerPluginSupportedSocModels,
    LiteRtGetCompilerPluginSupportedSocModel,
    LiteRtGetCompilerPluginSDKVersion,
    LiteRtCompilerPluginPartition,
    LiteRtCompilerPluginCompile,
    LiteRtDestroyCompiledResult,
    LiteRtGetCompiledResultByteCode,
    LiteRtGetCompiledResultHandle,
    LiteRtCompiledResultNumByteCodeModules,
    LiteRtGetCompiledResultCallInfo,
    LiteRtGetNumCompiledResultCalls,
    LiteRtCompilerPluginRegisterAllTransformations,
    LiteRtCompilerPluginCheckCompilerCompatibility,
};
static_assert(kLiteRtCompilerPluginCompile == "LiteRtCompilerPluginCompile", "names");

class LiteRtCompilerPluginT {
 public:
  const LiteRtCompilerContext* context;
  LiteRtTransformation transformation;
};

class LiteRtCompiledResultT {
 public:
  std::vector<std::string> modules;
};

namespace {

constexpr const char* kSocModel = "Deputy";

bool IsPlainAdd(const LiteRtCompilerContext* context, LiteRtOp op) {
  LiteRtOpCode code = kLiteRtOpCodeTflCustom;
  uint32_t activation = 1;
  return context->get_op_code(op, &code) == kLiteRtStatusOk && code == kLiteRtOpCodeTflAdd &&
         context->get_add_fused_activation_option(op, &activation) == kLiteRtStatusOk &&
         activation == 0;
}

// Replaces x + x by 2 * x.
LiteRtStatus DoubleInsteadOfSum(const LiteRtCompilerContext* context, LiteRtBuilder builder,
                                LiteRtOp op) {
  if (!IsPlainAdd(context, op) || !LITERT_ABI_HAS_API(context, 1, build_op)) {
    return kLiteRtStatusPatternNoMatch;
  }
  LiteRtTensor left = nullptr, right = nullptr, output = nullptr, two = nullptr;
  LiteRtRankedTensorType type = {};
  if (context->get_op_input(op, 0, &left) != kLiteRtStatusOk ||
      context->get_op_input(op, 1, &right) != kLiteRtStatusOk ||
      context->get_op_output(op, 0, &output) != kLiteRtStatusOk || left != right ||
      context->get_ranked_tensor_type(left, &type) != kLiteRtStatusOk ||
      type.element_type != kLiteRtElementTypeFloat32) {
    return kLiteRtStatusPatternNoMatch;
  }
  type.layout.rank = 0;
  const float value = 2;
  LiteRtWeights weights = nullptr;
  LiteRtStatus status = context->build_tensor(builder, kLiteRtRankedTensorType, type, {}, nullptr,
                                              kLiteRtQuantizationNone, {}, {}, {}, "two", &two);
  if (status != kLiteRtStatusOk) return status;
  status = context->build_weights(builder, reinterpret_cast<const uint8_t*>(&value), sizeof(value),
                                  two, &weights);
  if (status != kLiteRtStatusOk) return status;
  LiteRtTensor inputs[] = {left, two};
  LiteRtOp product = nullptr;
  status = context->build_op(builder, kLiteRtOpCodeTflMul, 2, inputs, 1, &output, &product);
  return status != kLiteRtStatusOk ? status : context->erase_op(builder, op);
}

}  // namespace

LiteRtStatus LiteRtGetCompilerPluginVersion(LiteRtApiVersion* api_version) {
  *api_version = {LITERT_API_VERSION_MAJOR, LITERT_API_VERSION_MINOR, LITERT_API_VERSION_PATCH};
  return kLiteRtStatusOk;
}

const char* LiteRtGetCompilerPluginSocManufacturer() { return "Deputy"; }

LiteRtStatus LiteRtCreateCompilerPlugin(const LiteRtCompilerContext* compiler_context,
                                        LiteRtCompilerPlugin* compiler_plugin,
                                        LiteRtEnvironmentOptions env, LiteRtOptions options) {
  LiteRtAny folder = {};
  LiteRtOpaqueOptions opaque = nullptr;
  if (compiler_context == nullptr || !LITERT_ABI_IS_COMPATIBLE(compiler_context, 1, 0)) {
    return kLiteRtStatusErrorUnsupportedCompilerVersion;
  }
  if (env != nullptr) {
    compiler_context->get_environment_options_value(env, kLiteRtEnvOptionTagCompilerCacheDir,
                                                    &folder);
  }
  if (options != nullptr) compiler_context->get_opaque_options(options, &opaque);
  *compiler_plugin = new (std::nothrow)
      LiteRtCompilerPluginT{compiler_context, {DoubleInsteadOfSum, "DoubleInsteadOfSum", 1}};
  return *compiler_plugin != nullptr ? kLiteRtStatusOk : kLiteRtStatusErrorMemoryAllocationFailure;
}

void LiteRtDestroyCompilerPlugin(LiteRtCompilerPlugin compiler_plugin) { delete compiler_plugin; }

LiteRtStatus LiteRtGetCompilerPluginSupportedHardware(LiteRtCompilerPlugin,
                                                      LiteRtHwAccelerators* supported_hardware) {
  *supported_hardware = kLiteRtHwAcceleratorNpu;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompilerPluginSupportedSocModels(LiteRtCompilerPlugin,
                                                          LiteRtParamIndex* count) {
  *count = 1;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompilerPluginSupportedSocModel(LiteRtCompilerPlugin, LiteRtParamIndex index,
                                                      const char** soc_model_name) {
  if (index != 0) return kLiteRtStatusErrorIndexOOB;
  *soc_model_name = kSocModel;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompilerPluginSDKVersion(LiteRtCompilerPlugin, const char** sdk_version) {
  *sdk_version = "1.0";
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompilerPluginPartition(LiteRtCompilerPlugin compiler_plugin, const char*,
                                           LiteRtSubgraph subgraph, LiteRtOpList selected_ops) {
  const LiteRtCompilerContext* context = compiler_plugin->context;
  LiteRtParamIndex count = 0;
  LiteRtStatus status = context->get_num_subgraph_ops(subgraph, &count);
  for (LiteRtParamIndex i = 0; status == kLiteRtStatusOk && i < count; ++i) {
    LiteRtOp op = nullptr;
    status = context->get_subgraph_op(subgraph, i, &op);
    if (status == kLiteRtStatusOk && IsPlainAdd(context, op)) {
      status = context->push_op(selected_ops, op, 0);
    }
  }
  return status;
}

LiteRtStatus LiteRtCompilerPluginCompile(LiteRtCompilerPlugin compiler_plugin, const char*,
                                         LiteRtModel partitions,
                                         LiteRtCompiledResult* compiled_result) {
  const LiteRtCompilerContext* context = compiler_plugin->context;
  auto result = std::make_unique<LiteRtCompiledResultT>();
  LiteRtParamIndex count = 0;
  LiteRtStatus status = context->get_num_model_subgraphs(partitions, &count);
  for (LiteRtParamIndex i = 0; status == kLiteRtStatusOk && i < count; ++i) {
    LiteRtSubgraph subgraph = nullptr;
    LiteRtParamIndex num_ops = 0;
    status = context->get_model_subgraph(partitions, i, &subgraph);
    if (status == kLiteRtStatusOk) status = context->get_num_subgraph_ops(subgraph, &num_ops);
    result->modules.push_back(std::to_string(num_ops));
  }
  if (status == kLiteRtStatusOk) *compiled_result = result.release();
  return status;
}

void LiteRtDestroyCompiledResult(LiteRtCompiledResult result) { delete result; }

LiteRtStatus LiteRtGetCompiledResultByteCode(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex index, const void** byte_code,
                                             size_t* byte_code_size) {
  if (index >= compiled_result->modules.size()) return kLiteRtStatusErrorIndexOOB;
  *byte_code = compiled_result->modules[index].data();
  *byte_code_size = compiled_result->modules[index].size();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompiledResultNumByteCodeModules(LiteRtCompiledResult compiled_result,
                                                    LiteRtParamIndex* num_byte_code) {
  *num_byte_code = compiled_result->modules.size();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetCompiledResultHandle(LiteRtCompiledResult, LiteRtParamIndex,
                                           LiteRtJitExecutable*) {
  return kLiteRtStatusErrorUnsupported;
}

LiteRtStatus LiteRtGetCompiledResultCallInfo(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex call_idx, const void** call_info,
                                             size_t* call_info_size,
                                             LiteRtParamIndex* byte_code_idx) {
  if (call_idx >= compiled_result->modules.size()) return kLiteRtStatusErrorIndexOOB;
  *call_info = nullptr;
  *call_info_size = 0;
  *byte_code_idx = call_idx;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetNumCompiledResultCalls(LiteRtCompiledResult compiled_result,
                                             LiteRtParamIndex* num_calls) {
  return kApi.get_compiled_result_num_byte_code(compiled_result, num_calls);
}

LiteRtStatus LiteRtCompilerPluginRegisterAllTransformations(LiteRtCompilerPlugin compiler_plugin,
                                                            LiteRtTransformation** transformations,
                                                            LiteRtParamIndex* num_patterns) {
  *transformations = &compiler_plugin->transformation;
  *num_patterns = 1;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtCompilerPluginCheckCompilerCompatibility(LiteRtApiVersion api_version,
                                                            LiteRtCompilerPlugin,
                                                            LiteRtEnvironmentOptions, LiteRtOptions,
                                                            const char*) {
  return api_version.major == LITERT_API_VERSION_MAJOR
             ? kLiteRtStatusOk
             : kLiteRtStatusErrorUnsupportedCompilerVersion;
}
