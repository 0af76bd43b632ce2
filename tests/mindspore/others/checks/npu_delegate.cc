// SPDX-License-Identifier: Apache-2.0
//
// MindSpore Lite's delegate for NPUs, with a double of the NPU: the operators are computed here.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "include/api/context.h"
#include "include/api/delegate.h"
#include "include/api/model.h"
#include "include/errorcode.h"
#include "src/common/log_adapter.h"
#include "src/litert/delegate/delegate_utils.h"

namespace ge {
class Operator;
}

// ---- Doubles of the NPU's library, and MindSpore Lite's classes around it
// -------------------------

namespace mindspore::lite {

constexpr int NPU_SHAPE_SIZE = 4;
constexpr int NHWC_N = 0, NHWC_H = 1, NHWC_W = 2, NHWC_C = 3;
constexpr int NCHW_N = 0, NCHW_C = 1, NCHW_H = 2, NCHW_W = 3;
const std::vector<int> NHWC2NCHW_PERM = {0, 3, 1, 2};
const std::vector<int> NCHW2NHWC_PERM = {0, 2, 3, 1};

struct NpuDeviceInfo {
  int frequency_;
};

const char* PrimitiveCurVersionTypeName(int type) {
  return schema::EnumNamePrimitiveType(static_cast<schema::PrimitiveType>(type));
}

// Events of the device, which the tests read.
struct Device {
  bool exists = true;
  bool takes_full_connection = true;
  int frequency = 0, loads = 0, passes = 0, live_managers = 0, executions = 0, transposes = 0;
  std::string cache;
} device;

class NPUManager {
 public:
  explicit NPUManager(int frequency) {
    device.frequency = frequency;
    ++device.live_managers;
  }
  ~NPUManager() { --device.live_managers; }
  bool IsSupportNPU() { return device.exists; }
  void SetGraphCacheDir(const std::string& folder) { device.cache = folder; }
  int LoadOMModel() { return ++device.loads > 0 ? RET_OK : RET_ERROR; }
  void Reset() {}
};

void PackNHWCToNCHWFp32(const void* src, void* dst, int batches, int plane, int channel) {
  ++device.transposes;
  const auto* const from = static_cast<const float*>(src);
  auto* const to = static_cast<float*>(dst);
  for (int b = 0; b < batches; ++b) {
    for (int c = 0; c < channel; ++c) {
      for (int p = 0; p < plane; ++p) {
        to[(b * channel + c) * plane + p] = from[(b * plane + p) * channel + c];
      }
    }
  }
}

void PackNCHWToNHWCFp32(const void* src, void* dst, int batch, int plane, int channel) {
  PackNHWCToNCHWFp32(src, dst, batch, channel, plane);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "npu_op.inc"
#pragma GCC diagnostic pop
#include "npu_get_op.inc"

// An operator that the device supports.
class DeviceOp : public NPUOp {
 public:
  DeviceOp(const schema::Primitive* primitive, const std::vector<MSTensor>& inputs,
           const std::vector<MSTensor>& outputs, const std::string& name)
      : NPUOp(primitive, inputs, outputs, name) {}
  int IsSupport(const schema::Primitive* /*primitive*/, const std::vector<MSTensor>& /*inputs*/,
                const std::vector<MSTensor>& /*outputs*/) override {
    return RET_OK;
  }
  int Init(const schema::Primitive* /*primitive*/, const std::vector<MSTensor>& /*inputs*/,
           const std::vector<MSTensor>& /*outputs*/) override {
    return RET_OK;
  }

  void Compute() {
    const auto* const x = static_cast<const float*>(inputs_[0].Data().get());
    auto* const y = static_cast<float*>(outputs_[0].MutableData());
    const auto count = static_cast<size_t>(outputs_[0].ElementNum());
    if (type_ == schema::PrimitiveType_Activation) {
      for (size_t i = 0; i < count; ++i) y[i] = std::max(x[i], 0.0F);
    } else if (type_ == schema::PrimitiveType_AddFusion) {
      const auto* const z = static_cast<const float*>(inputs_[1].Data().get());
      for (size_t i = 0; i < count; ++i) y[i] = x[i] + z[i];
    } else if (type_ == schema::PrimitiveType_ReduceFusion) {
      const auto plane = static_cast<size_t>(inputs_[0].ElementNum()) / count;
      for (size_t i = 0; i < count; ++i) {
        double sum = 0;
        for (size_t p = 0; p < plane; ++p) sum += x[p * count + i];
        y[i] = static_cast<float>(sum / static_cast<double>(plane));
      }
    } else {
      double sum = 0;
      for (size_t i = 0; i < count; ++i) sum += std::exp(x[i]);
      for (size_t i = 0; i < count; ++i) y[i] = static_cast<float>(std::exp(x[i]) / sum);
    }
  }
};

class TransposeNPUOp : public DeviceOp {
 public:
  using DeviceOp::DeviceOp;
  std::vector<int> GetPerm() const {
    const auto* const values = static_cast<const int*>(inputs_[1].Data().get());
    return {values, values + inputs_[1].ElementNum()};
  }
};

using AbsNPUOp = DeviceOp;
using ActivationNPUOp = DeviceOp;
using ArgmaxNPUOp = DeviceOp;
using ArithmeticNPUOp = DeviceOp;
using ArithmeticSelfNPUOp = DeviceOp;
using AvgPoolingNPUOp = DeviceOp;
using BatchnormNPUOp = DeviceOp;
using BroadcastToNPUOp = DeviceOp;
using CastNPUOp = DeviceOp;
using ConcatNPUOp = DeviceOp;
using CropAndResizeNPUOp = DeviceOp;
using DeconvolutionNPUOp = DeviceOp;
using EltwiseNPUOp = DeviceOp;
using ExpandDimsNPUOp = DeviceOp;
using FlattenNPUOp = DeviceOp;
using FullconnectionNPUOp = DeviceOp;
using GatherNPUOp = DeviceOp;
using InstanceNormNPUOp = DeviceOp;
using MatMulNPUOp = DeviceOp;
using MaxPoolingNPUOp = DeviceOp;
using PadNPUOp = DeviceOp;
using ReduceNPUOp = DeviceOp;
using ReshapeNPUOp = DeviceOp;
using ResizeNPUOp = DeviceOp;
using ScaleNPUOp = DeviceOp;
using SliceNPUOp = DeviceOp;
using SoftmaxNPUOp = DeviceOp;
using SplitNPUOp = DeviceOp;
using SqueezeNPUOp = DeviceOp;
using StridedSliceNPUOp = DeviceOp;
using TileNPUOp = DeviceOp;
using UnpackNPUOp = DeviceOp;
using UnsqueezeNPUOp = DeviceOp;

NPUOp* GetNPUConvOp(const schema::Primitive* /*primitive*/, const std::vector<MSTensor>& /*inputs*/,
                    const std::vector<MSTensor>& /*outputs*/, const std::string& /*name*/) {
  return nullptr;
}
NPUOp* GetNPUFCOp(const schema::Primitive* /*primitive*/, const std::vector<MSTensor>& /*inputs*/,
                  const std::vector<MSTensor>& /*outputs*/, const std::string& /*name*/) {
  return nullptr;  // runs on the CPU
}

// The operators of one model of the device.
class NPUSubGraph : public kernel::Kernel {
 public:
  NPUSubGraph(std::vector<NPUOp*> ops, NPUManager* /*manager*/) : ops_(std::move(ops)) {}
  void UpdateInputMappingRelationShip(const std::vector<size_t>& /*index*/) {}
  int Init() { return RET_OK; }
  int Prepare() override { return RET_OK; }
  int ReSize() override { return RET_ERROR; }
  int Execute() override {
    ++device.executions;
    for (NPUOp* op : ops_) static_cast<DeviceOp*>(op)->Compute();
    return RET_OK;
  }

 private:
  const std::vector<NPUOp*> ops_;
};

#include "npu_graph_class.inc"

#include "npu_transpose_kernel.inc"

#include "npu_transpose_execute.inc"

#include "npu_base_pass.inc"

#include "npu_pass_manager_class.inc"

#include "npu_pass_manager.inc"

struct CountingPass : NPUBasePass {
  int Run(NPUGraph* subgraph) override {
    device.passes += subgraph->GetOps()->empty() ? 0 : 1;
    // Replacing a tensor by itself changes nothing.
    subgraph->set_input(subgraph->inputs()[0], 0);
    subgraph->set_output(subgraph->outputs()[0], 0);
    return RET_OK;
  }
};
using NPUTransformPass = CountingPass;
using NPUInsertTransformPass = CountingPass;
using NPUFusionPass = CountingPass;

#include "npu_graph_free.inc"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"  // their loops and assertions
#include "npu_graph_set_tensors.inc"
#pragma GCC diagnostic pop
#include "npu_graph.inc"

#include "npu_delegate_class.inc"

#include "npu_delegate.inc"

#include "npu_delegate_create.inc"
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#include "npu_delegate_get_op.inc"

#include "npu_graph_run.inc"
#pragma GCC diagnostic pop

}  // namespace mindspore::lite

namespace {

using mindspore::lite::device;
using mindspore::lite::Device;
using mindspore::lite::NPUDelegate;

std::shared_ptr<mindspore::Context> NpuContext() {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  context->SetDelegate(
      std::make_shared<NPUDelegate>(mindspore::lite::NpuDeviceInfo{2}, "/some/folder"));
  return context;
}

// Fills the input with (i % 7) - 3 and returns the output of an inference.
std::vector<float> Infer(mindspore::Model* model) {
  auto inputs = model->GetInputs(), outputs = model->GetOutputs();
  auto* const values = static_cast<float*>(inputs[0].MutableData());
  for (int64_t i = 0; i < inputs[0].ElementNum(); ++i) values[i] = static_cast<float>(i % 7) - 3;
  EXPECT_EQ(model->Predict(inputs, &outputs), mindspore::kSuccess);
  const auto* const found = static_cast<const float*>(outputs[0].Data().get());
  return {found, found + outputs[0].ElementNum()};
}

TEST(NpuDelegate, takes_a_whole_model_with_transposes) {
  device = Device();
  {
    mindspore::Model model;
    ASSERT_EQ(model.Build("transposes.ms", mindspore::kMindIR_Lite, NpuContext()),
              mindspore::kSuccess);
    EXPECT_EQ(device.frequency, 2);
    EXPECT_EQ(device.cache, "/some/folder");
    EXPECT_EQ(device.loads, 1);
    EXPECT_EQ(device.passes, 3);
    EXPECT_EQ(Infer(&model), (std::vector<float>{0, 0, 0, 0, 2, 4, 6, 0, 0, 0, 0, 2}));
    EXPECT_EQ(device.executions, 2);
    EXPECT_EQ(device.transposes, 2);
    EXPECT_NE(model.Resize(model.GetInputs(), {{2, 2, 2, 3}}), mindspore::kSuccess);
  }
  EXPECT_EQ(device.live_managers, 0);
}

TEST(NpuDelegate, takes_the_operators_around_one_of_the_cpu) {
  device = Device();
  auto cpu = std::make_shared<mindspore::Context>();
  cpu->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model, reference;
  ASSERT_EQ(model.Build("mobilenetv2.ms", mindspore::kMindIR_Lite, NpuContext()),
            mindspore::kSuccess);
  ASSERT_EQ(reference.Build("mobilenetv2.ms", mindspore::kMindIR_Lite, cpu), mindspore::kSuccess);
  EXPECT_EQ(device.passes, 6);
  const std::vector<float> found = Infer(&model), expected = Infer(&reference);
  EXPECT_EQ(device.executions, 2);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(NpuDelegate, declines_without_a_device) {
  device = Device();
  device.exists = false;
  mindspore::Model model;
  ASSERT_EQ(model.Build("transposes.ms", mindspore::kMindIR_Lite, NpuContext()),
            mindspore::kSuccess);
  EXPECT_EQ(Infer(&model), (std::vector<float>{0, 0, 0, 0, 2, 4, 6, 0, 0, 0, 0, 2}));
  EXPECT_EQ(device.executions, 0);
}

}  // namespace
