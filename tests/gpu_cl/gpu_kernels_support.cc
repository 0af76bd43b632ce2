// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_cl/gpu_kernels_support.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>

#include "compiler/passes.h"
#include "gpu_cl/run/exec.h"
#include "tests/gpu_cl/gpu_matrix_units.h"

namespace deputy::gpu_cl {

using compiler::ElementCount;
using compiler::Graph;
using compiler::GraphBuilder;
using compiler::Shape;
using compiler::Value;
using compiler::ValueId;
using compiler::Window;

namespace {

using Contents = std::vector<std::vector<std::byte>>;

// Returns the graph with all its reals except constants stored as float16, including inputs and
// outputs, and with the filters that fit.
Graph InHalf(Graph graph) {
  compiler::UseHalfStorage(&graph);
  for (Value& value : graph.values) {
    if (value.type == kTfLiteFloat32 && !value.constant()) value.type = kTfLiteFloat16;
  }
  return graph;
}

Contents RandomInputs(const Graph& graph) {
  std::mt19937 random(7);
  Contents contents;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    contents.emplace_back(value.bytes() + 1);
    for (int64_t i = 0; i < ElementCount(value.shape); ++i) {
      const int number = static_cast<int>(random() % 65) - 32;
      compiler::StoreElement(value.type, {number / 4.0, number}, contents.back().data(), i);
    }
  }
  return contents;
}

double NumberAt(TfLiteType type, const std::byte* contents, int64_t index) {
  const compiler::Number number = compiler::LoadElement(type, contents, index);
  return compiler::IsFloat(type) ? number.real : static_cast<double>(number.integer);
}

void ExpectSame(const Value& value, const std::byte* found, const std::byte* expected,
                double tolerance) {
  int shown = 0;
  for (int64_t i = 0; i < ElementCount(value.shape) && shown < 3; ++i) {
    const double a = NumberAt(value.type, found, i), b = NumberAt(value.type, expected, i);
    const bool same = std::isfinite(b) ? std::fabs(a - b) <= tolerance * (1 + std::fabs(b))
                                       : a == b || (std::isnan(a) && std::isnan(b));
    if (same) continue;
    ADD_FAILURE() << "element " << i << ": expected " << b << ", found " << a;
    ++shown;
  }
}

int OutputExtent(int extent, int size, const ConvRow& row) {
  return (extent + 2 * row.padding - (size - 1) * row.dilation - 1) / row.stride + 1;
}

}  // namespace

void KernelTest::SetUp() {
  loaded_ = LoadCl();
  if (loaded_.api == nullptr) GTEST_SKIP() << loaded_.tried;
  std::vector<Device> devices;
  Device device;
  ClStatus status = ListDevices(*loaded_.api, &devices);
  if (status.ok()) status = ChooseDevice(devices, "cpu", &device);
  if (!status.ok()) GTEST_SKIP() << status.text;
  device.profile.float_width = GetParam().width;
  if (GetParam().units > 0) device.profile.compute_units = GetParam().units;
  if (GetParam().nvidia) ReportAsNvidia(&device.profile);
  if (!GetParam().vnni) device.profile.host_vnni = false;
  context_ = SharedContext::Create(GetParam().nvidia ? WithMatrixUnits(*loaded_.api) : loaded_.api,
                                   device, &status);
  ASSERT_NE(context_, nullptr) << status.text;
}

void KernelTest::ExpectAgreement(const Graph& given, double tolerance) {
  const Graph graph = GetParam().half ? InHalf(given) : given;
  // Results that differ slightly may be rounded to neighbouring float16 numbers.
  if (GetParam().half && tolerance > 0) tolerance = std::max(tolerance, 1e-3);
  ASSERT_EQ(FindFault(graph), "");
  const Contents inputs = RandomInputs(graph);
  std::vector<const std::byte*> plain_inputs;
  std::vector<InputLocation> device_inputs;
  for (const auto& input : inputs) {
    plain_inputs.push_back(input.data());
    device_inputs.push_back({input.data(), nullptr});
  }
  Contents expected;
  std::string error;
  ASSERT_TRUE(ComputeGraph(graph, plain_inputs, &expected, &error)) << error;

  ClStatus status;
  ExecutorOptions options;
  options.device_class = GetParam().device_class;
  options.optimize = optimizes_;
  const auto executor = Executor::Create(context_, graph, options, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  EXPECT_EQ(executor->BuildLog().find("warning"), std::string::npos) << executor->BuildLog();
  kernels_ = executor->plan().Source();
  Contents found;
  std::vector<OutputLocation> outputs;
  for (const auto& output : expected) found.emplace_back(output.size() + 1, std::byte{0x7f});
  for (auto& output : found) outputs.push_back({output.data(), nullptr});
  status = executor->Run(device_inputs, outputs);
  ASSERT_TRUE(status.ok()) << status.text;
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE("output " + std::to_string(i));
    ExpectSame(graph.value(graph.outputs[i]), found[i].data(), expected[i].data(), tolerance);
  }
}

std::vector<KernelTarget> PlainKernelTargets() {
  return {{DeviceClass::kCpu, 8},        {DeviceClass::kCpu, 16},
          {DeviceClass::kDesktop, 1},    {DeviceClass::kDesktop, 1, false, 4096},
          {DeviceClass::kCpu, 16, true}, {DeviceClass::kDesktop, 1, true}};
}

std::vector<KernelTarget> AllKernelTargets() {
  std::vector<KernelTarget> targets = PlainKernelTargets();
  targets.push_back({DeviceClass::kDesktop, 1, false, 4096, true});
  targets.push_back({DeviceClass::kDesktop, 1, true, 4096, true});
  return targets;
}

std::string KernelTargetName(const testing::TestParamInfo<KernelTarget>& info) {
  const KernelTarget& target = info.param;
  return ClassName(target.device_class) + std::to_string(target.width) +
         (target.nvidia      ? "_with_matrix_units"
          : target.units > 0 ? "_of_many_units"
                             : "") +
         (target.vnni ? "" : "_without_vnni") + (target.half ? "_half" : "");
}

Window WindowOf(const ConvRow& row) {
  Window window;
  window.height = row.height;
  window.width = row.width;
  window.stride_y = window.stride_x = row.stride;
  window.dilation_y = window.dilation_x = row.dilation;
  window.top = window.left = window.bottom = window.right = row.padding;
  return window;
}

Shape OutputShape(const ConvRow& row) {
  return {row.image[0], OutputExtent(row.image[1], row.height, row),
          OutputExtent(row.image[2], row.width, row), row.channels};
}

ValueId Conv(GraphBuilder* g, const ConvRow& row, bool bias) {
  std::vector<ValueId> inputs = {
      g->Input(row.image),
      g->Weights({row.channels, row.height, row.width, row.image[3] / row.groups})};
  if (bias) inputs.push_back(g->Weights({row.channels}));
  return g->Add(compiler::Conv2d{WindowOf(row), row.groups}, inputs, OutputShape(row));
}

}  // namespace deputy::gpu_cl
