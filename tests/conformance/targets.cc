// SPDX-License-Identifier: Apache-2.0
//
// To add a target, add a row to DelegateRows. A delegate needs a function that returns which nodes
// it may leave to the CPU; use `ReportedReason` if it exports deputy_plugin and reports reasons
// itself. The counts of cases and rows that a delegate runs are lower bounds, recorded when the row
// was added.
#include "tests/conformance/targets.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "c_api/include/builtin_ops.h"
#include "tests/conformance/cpu_target.h"

namespace deputy::conformance {
namespace {

TargetRow OnCpu(const char* table, int threads) {
  return {table, table, threads, "", {}, {}, 0, 0, {}, false};
}

TargetRow Plugin(const char* name, const char* library, const PluginOptions& options,
                 MayRefuse may_refuse, int min_cases, int min_rows,
                 const std::map<std::string, std::string>& known_differences = {}) {
  return {name, "", 0, library, options, may_refuse, min_cases, min_rows, known_differences, false};
}

TargetRow OnDevice(TargetRow row) {
  row.on_device = true;
  return row;
}

TargetRow Optional(TargetRow row) {
  row.optional = true;
  return row;
}

TargetRow Needs(const char* variable, TargetRow row) {
  row.variable = variable;
  return row;
}

TargetRow AllListed(TargetRow row) {
  row.all_listed = true;
  return row;
}

// Adds options that select the CPU device, whose driver optimises slowly, unless the environment
// names another device.
PluginOptions OnOpenCl(PluginOptions options = {}) {
  const char* const device = std::getenv("DEPUTY_OPENCL_DEVICE");
  options.emplace_back("device", device != nullptr ? device : "cpu");
  options.emplace_back("optimize", device != nullptr ? "true" : "false");
  return options;
}

// A target with the OpenCL delegate's kernels for a device class other than that of the CPU on
// which it runs. The CPU's driver does not compile these kernels well, so only a sample of the
// cases runs.
TargetRow GpuFor(const char* name, const char* device_class, const char* storage,
                 const std::map<std::string, std::string>& known_differences,
                 const char* quantized_arithmetic = "auto") {
  TargetRow row = OnDevice(Plugin(name, "libdeputy_gpu.so",
                                  OnOpenCl({{"device_class", device_class},
                                            {"storage", storage},
                                            {"quantized_arithmetic", quantized_arithmetic}}),
                                  ReportedReason, 1933, 16500, known_differences));
  row.sampled = true;
  return row;
}

// Returns the known differences of operators whose result TensorFlow Lite clamps to the finite
// numbers even without a fused activation.
std::map<std::string, std::string> ClampedByTflite(const std::vector<std::string>& operators) {
  std::map<std::string, std::string> differences;
  for (const std::string& op : operators) {
    differences[op + " v1 FLOAT32 f32_special_values"] =
        "infinite results are not clamped to finite numbers";
  }
  return differences;
}

// Returns the known differences of compiled graphs.
std::map<std::string, std::string> CompiledDifferences() {
  std::map<std::string, std::string> differences =
      ClampedByTflite({"ADD", "SUB", "MUL", "DIV", "L2_POOL_2D", "MAX_POOL_2D", "CONV_2D",
                       "FULLY_CONNECTED", "DEPTHWISE_CONV_2D"});
  for (const char* op : {"CONV_2D", "DEPTHWISE_CONV_2D"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values_relu")] =
        "infinite results are not clamped to finite numbers";
  }
  differences["L2_NORMALIZATION v1 FLOAT32 f32_huge"] = "sums in double precision";
  for (const char* op : {"MEAN", "SUM"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values")] = "sums in double precision";
  }
  differences["MUL v1 INT16 i16_scales_3"] = "a product beyond int32 does not wrap";
  return differences;
}

// Returns the known differences of the NPU.
std::map<std::string, std::string> NpuDifferences() {
  std::map<std::string, std::string> differences =
      ClampedByTflite({"ADD", "SUB", "MUL", "DIV", "MAX_POOL_2D", "CONV_2D", "FULLY_CONNECTED",
                       "DEPTHWISE_CONV_2D"});
  for (const char* op : {"CONV_2D", "DEPTHWISE_CONV_2D"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values_relu")] =
        "infinite results are not clamped to finite numbers";
  }
  return differences;
}

#if defined(__ARM_NEON)
// The minimum and maximum of NEON are NaN if an operand is.
constexpr bool kBoundsKeepNan = true;
#else
constexpr bool kBoundsKeepNan = false;
#endif

// Returns the known differences of XNNPACK.
std::map<std::string, std::string> XnnpackDifferences() {
  std::map<std::string, std::string> differences =
      ClampedByTflite({"ADD", "SUB", "MUL", "DIV", "MAX_POOL_2D", "CONV_2D", "FULLY_CONNECTED",
                       "DEPTHWISE_CONV_2D"});
  for (const char* op : {"CONV_2D", "DEPTHWISE_CONV_2D"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values_relu")] =
        "infinite results are not clamped to finite numbers";
  }
  differences["AVERAGE_POOL_2D v1 FLOAT32 f32_special_values"] =
      "infinite results are not clamped to finite numbers";
  if (kBoundsKeepNan) {
    for (const char* op : {"MAXIMUM", "MINIMUM"}) {
      differences[op + std::string(" v1 FLOAT32 f32_special_values")] =
          "the result is NaN if one operand is NaN";
    }
    return differences;
  }
  for (const char* op : {"RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values")] = "a bound takes NaN's place";
  }
  for (const char* op : {"ADD", "SUB", "MUL", "DIV", "FULLY_CONNECTED"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values_relu6")] =
        "a bound takes NaN's place";
  }
  differences["SOFTMAX v1 FLOAT32 f32_infinite"] = "infinities do not become NaN";
  return differences;
}

// Returns the known differences of the NNAPI test double.
std::map<std::string, std::string> NnapiDifferences() {
  std::map<std::string, std::string> differences = CompiledDifferences();
  differences.erase("MUL v1 INT16 i16_scales_3");
  return differences;
}

// Returns the known differences of the OpenCL delegate with PoCL's math functions.
std::map<std::string, std::string> GpuDifferences() {
  std::map<std::string, std::string> differences = CompiledDifferences();
  for (const char* op : {"MEAN", "SUM"}) {
    differences.erase(op + std::string(" v1 FLOAT32 f32_special_values"));
  }
  differences["GELU v1 FLOAT32 f32_approximate_special_values"] =
      "the driver's tanh of -infinity is above -1 by a rounding";
  return differences;
}

// Returns the known differences of ONNX Runtime.
std::map<std::string, std::string> OnnxRuntimeDifferences() {
  std::map<std::string, std::string> differences =
      ClampedByTflite({"ADD", "SUB", "MUL", "DIV", "L2_POOL_2D", "MAX_POOL_2D", "CONV_2D",
                       "FULLY_CONNECTED", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D"});
  for (const char* op : {"CONV_2D", "DEPTHWISE_CONV_2D"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values_relu")] =
        "infinite results are not clamped to finite numbers";
  }
  for (const char* op : {"MAXIMUM", "MINIMUM"}) {
    differences[op + std::string(" v1 FLOAT32 f32_special_values")] =
        "the result is NaN if one operand is NaN";
  }
  return differences;
}

// ---- Nodes that the delegates of tests/plugins and examples leave to the CPU --------------------

// Returns true if the first `count` inputs (0: all inputs) and all outputs are of the type.
bool AreAll(const NodeLeft& node, TfLiteType type, size_t count = 0) {
  const auto is_other = [type](const TfLiteTensor* tensor) {
    return tensor == nullptr || tensor->type != type;
  };
  const size_t inspected = count == 0 ? node.inputs.size() : std::min(count, node.inputs.size());
  return std::none_of(node.inputs.begin(), node.inputs.begin() + static_cast<ptrdiff_t>(inspected),
                      is_other) &&
         std::none_of(node.outputs.begin(), node.outputs.end(), is_other);
}

bool HaveShape(const std::vector<const TfLiteTensor*>& tensors, const TfLiteTensor* like) {
  return std::all_of(tensors.begin(), tensors.end(), [like](const TfLiteTensor* tensor) {
    return TfLiteIntArrayEqual(tensor->dims, like->dims) != 0;
  });
}

std::string Nothing(const NodeLeft&) { return ""; }

// Returns the number of operands of an operator that elementwise.c supports; 0 for other operators.
size_t OperandsOf(int32_t builtin_code) {
  switch (builtin_code) {
    case kTfLiteBuiltinAdd:
    case kTfLiteBuiltinSub:
    case kTfLiteBuiltinMul:
    case kTfLiteBuiltinMaximum:
    case kTfLiteBuiltinMinimum:
      return 2;
    case kTfLiteBuiltinRelu:
    case kTfLiteBuiltinRelu6:
    case kTfLiteBuiltinAbs:
    case kTfLiteBuiltinNeg:
    case kTfLiteBuiltinSquare:
    case kTfLiteBuiltinHardSwish:
    case kTfLiteBuiltinReshape:
      return 1;
    default:
      return 0;
  }
}

// Returns why elementwise.c may refuse the node. A fused activation is visible only to the
// delegate, whose own reason is therefore accepted.
std::string Elementwise(const NodeLeft& node) {
  const size_t operands = OperandsOf(node.builtin_code);
  if (operands == 0) return "only twelve operators";
  if (!AreAll(node, kTfLiteFloat32, operands)) return "only float32";
  for (size_t i = 0; i < operands; ++i) {
    const size_t bytes = node.inputs[i]->bytes;
    const bool is_scalar = operands == 2 && bytes == sizeof(float);
    if (!is_scalar && bytes != node.outputs[0]->bytes) return "only equal shapes and scalars";
  }
  return node.delegate_reason == "activation" ? "only ReLU and ReLU6 fused" : "";
}

// Returns why element_delegate.c may refuse the node. This delegate reports no reason for a fused
// activation.
std::string Element(const NodeLeft& node) {
  if (node.builtin_code != kTfLiteBuiltinAdd && node.builtin_code != kTfLiteBuiltinMul) {
    return "only ADD and MUL";
  }
  if (!AreAll(node, kTfLiteFloat32)) return "only float32";
  return HaveShape(node.inputs, node.outputs[0]) ? "only ReLU fused" : "only equal shapes";
}

std::string OpaqueAdd(const NodeLeft& node) {
  if (node.builtin_code != kTfLiteBuiltinAdd) return "only ADD";
  if (!AreAll(node, kTfLiteFloat32)) return "only float32";
  return HaveShape(node.inputs, node.outputs[0]) ? "nothing fused" : "only equal shapes";
}

std::string Softmax(const NodeLeft& node) {
  if (node.builtin_code != kTfLiteBuiltinSoftmax) return "only SOFTMAX";
  if (!AreAll(node, kTfLiteFloat32)) return "only float32";
  return node.inputs[0]->dims->size == 0 ? "only tensors with a dimension" : "";
}

// Returns one row for every set of CPU features and each of several numbers of threads.
std::vector<TargetRow> CpuRows() {
  std::vector<TargetRow> rows;
  for (const char* set : CpuTableNames()) {
    if (std::string_view(set) == "reference") {
      rows.insert(rows.end(), {OnCpu(set, 1), OnCpu(set, 3)});
    } else {
      rows.insert(rows.end(), {OnCpu(set, 1), OnCpu(set, 2), OnCpu(set, 4)});
    }
  }
  return rows;
}

std::vector<TargetRow> DelegateRows() {
  return {
      Plugin("relay", "tests/plugins/librelay.so", {}, Nothing, 4431, 30436),
      Plugin("elementwise", "tests/plugins/libdescribed0.so", {}, Elementwise, 92, 537,
             ClampedByTflite({"ADD", "SUB", "MUL"})),
      Plugin("compiled", "tests/plugins/libcompiled.so", {}, ReportedReason, 2305, 18111,
             CompiledDifferences()),
      Plugin("compiled_passes", "tests/plugins/libcompiled.so", {{"passes", "1"}}, ReportedReason,
             2305, 18111, CompiledDifferences()),
      Plugin("compiled_integers", "tests/plugins/libcompiled.so",
             {{"passes", "1"}, {"integers", "1"}}, ReportedReason, 2305, 18111,
             CompiledDifferences()),
      OnDevice(Plugin("gpu", "libdeputy_gpu.so", OnOpenCl(), ReportedReason, 1933, 16500,
                      GpuDifferences())),
      GpuFor("gpu_desktop", "desktop", "buffer", GpuDifferences()),
      GpuFor("gpu_desktop_int8", "desktop", "buffer", GpuDifferences(), "int8"),
      GpuFor("gpu_mobile", "mobile", "image_buffer", GpuDifferences()),
      GpuFor("gpu_image_2d", "mobile", "image_2d", GpuDifferences()),
      Plugin("cpu", "libdeputy_cpu.so", {}, ReportedReason, 3403, 25950),
      AllListed(Plugin("npu_stub", "libdeputy_npu_stub.so", {}, ReportedReason, 503, 3366,
                       NpuDifferences())),
      AllListed(Optional(Plugin("xnnpack", "libdeputy_xnnpack.so", {}, ReportedReason, 422, 2767,
                                XnnpackDifferences()))),
      AllListed(Plugin("nnapi", "libdeputy_nnapi.so",
                       {{"library", "tests/doubles/libneuralnetworks.so"}}, ReportedReason, 981,
                       5414, NnapiDifferences())),
      AllListed(Needs("DEPUTY_ONNXRUNTIME_LIBRARY",
                      Plugin("onnxruntime", "libdeputy_onnxruntime.so", {}, ReportedReason, 1325,
                             8085, OnnxRuntimeDifferences()))),
      Plugin("element", "tests/plugins/libelement.so", {}, Element, 25, 229,
             ClampedByTflite({"ADD", "MUL"})),
      Plugin("element_half", "tests/plugins/libelement.so", {{"half", "1"}}, Element, 25, 242,
             ClampedByTflite({"ADD", "MUL"})),
      Plugin("element_added", "tests/plugins/libelement.so", {{"added", "1"}}, Element, 25, 229,
             ClampedByTflite({"ADD", "MUL"})),
      Plugin("element_dynamic", "tests/plugins/libelement.so", {{"dynamic", "1"}}, Element, 25, 227,
             ClampedByTflite({"ADD", "MUL"})),
      Plugin("opaque", "tests/plugins/libopaque.so", {}, OpaqueAdd, 10, 169,
             ClampedByTflite({"ADD"})),
      Plugin("softmax", "examples/libsoftmax_delegate.so", {}, Softmax, 7, 40),
  };
}

}  // namespace

const std::vector<TargetRow>& TargetRows() {
  static const std::vector<TargetRow> kRows = [] {
    std::vector<TargetRow> rows = CpuRows();
    const std::vector<TargetRow> delegates = DelegateRows();
    rows.insert(rows.end(), delegates.begin(), delegates.end());
    return rows;
  }();
  return kRows;
}

bool IsAvailable(const TargetRow& row, const std::string& build_folder) {
  std::error_code error;
  if (row.variable[0] != '\0' && std::getenv(row.variable) == nullptr) return false;
  if (row.optional) return std::filesystem::exists(build_folder + "/" + row.library, error);
  return row.table[0] == '\0' || HasCpuTable(row.table);
}

Target MakeTarget(const TargetRow& row, const std::string& build_folder) {
  if (row.table[0] != '\0') return CpuTarget(row.table, row.threads);
  PluginOptions options = row.options;
  for (auto& [key, value] : options) {
    if (key == "library") value.insert(0, "/").insert(0, build_folder);
  }
  Target target = PluginTarget(row.name, build_folder + "/" + row.library, options, row.may_refuse);
  target.known_differences = row.known_differences;
  return target;
}

}  // namespace deputy::conformance
