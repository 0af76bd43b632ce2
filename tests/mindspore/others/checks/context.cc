// SPDX-License-Identifier: Apache-2.0
//
// Contexts of documents and examples: the settings that the text announces arrive in the context,
// and a model is built with it.
#include <iostream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "include/api/context.h"
#include "include/api/delegate.h"
#include "include/api/model.h"

namespace {

using ContextPtr = std::shared_ptr<mindspore::Context>;
using mindspore::CoreMLDelegate;

bool Builds(const ContextPtr& context) {
  return mindspore::Model().Build("mobilenetv2.ms", mindspore::kMindIR_Lite, context).IsOk();
}

template <class Device>
std::shared_ptr<Device> DeviceAt(const ContextPtr& context, size_t index) {
  const auto& devices = context->MutableDeviceInfo();
  return index < devices.size() ? devices[index]->Cast<Device>() : nullptr;
}

ContextPtr CpuWithHalf() {
#include "infer_cpu.inc"
  return context;
}
ContextPtr GpuAndCpu() {
#include "infer_gpu.inc"
  return context;
}
ContextPtr NpuAndCpu() {
#include "infer_npu.inc"
  return context;
}
ContextPtr AscendAndCpu() {
#include "infer_ascend.inc"
  return context;
}
ContextPtr CoreMl() {
#include "infer_coreml.inc"
  return context;
}
ContextPtr Empty() {
#include "mindir_context.inc"
  EXPECT_TRUE(device_list.empty());
  return context;
}
ContextPtr Cpu() {
#include "mindir_cpu.inc"
  return context;
}
ContextPtr Gpu() {
#include "mindir_gpu.inc"
  return context;
}
ContextPtr Ascend(uint32_t device_id) {
#include "mindir_ascend.inc"
#include "mindir_ge.inc"
  return context;
}
int QuickStart(ContextPtr* result) {
#include "quick_start_context.inc"
  *result = context;
  return 0;
}

namespace example {
#include "example_cpu.inc"
#include "example_gpu.inc"
#include "example_npu.inc"
}  // namespace example

namespace cloud {
#include "cloud_ascend.inc"
#include "cloud_cpu.inc"
#include "cloud_gpu.inc"
}  // namespace cloud

TEST(ContextCheck, devices_of_documents) {
  EXPECT_TRUE(DeviceAt<mindspore::CPUDeviceInfo>(CpuWithHalf(), 0)->GetEnableFP16());
  EXPECT_TRUE(Builds(CpuWithHalf()));
  EXPECT_TRUE(DeviceAt<mindspore::GPUDeviceInfo>(GpuAndCpu(), 0)->GetEnableFP16());
  EXPECT_EQ(DeviceAt<mindspore::GPUDeviceInfo>(GpuAndCpu(), 0)->GetDeviceID(), 0u);
  EXPECT_NE(DeviceAt<mindspore::CPUDeviceInfo>(GpuAndCpu(), 1), nullptr);
  EXPECT_TRUE(Builds(GpuAndCpu()));
  EXPECT_EQ(DeviceAt<mindspore::KirinNPUDeviceInfo>(NpuAndCpu(), 0)->GetFrequency(), 3);
  EXPECT_TRUE(Builds(NpuAndCpu()));
  EXPECT_EQ(DeviceAt<mindspore::AscendDeviceInfo>(AscendAndCpu(), 0)->GetDeviceID(), 0u);
  EXPECT_TRUE(Builds(AscendAndCpu()));
  EXPECT_NE(CoreMl()->GetDelegate(), nullptr);
  EXPECT_TRUE(Builds(CoreMl()));
}

TEST(ContextCheck, devices_of_the_document_on_servers) {
  EXPECT_TRUE(Empty()->MutableDeviceInfo().empty());
  EXPECT_FALSE(Builds(Empty()));
  EXPECT_FALSE(DeviceAt<mindspore::CPUDeviceInfo>(Cpu(), 0)->GetEnableFP16());
  EXPECT_TRUE(Builds(Cpu()));
  EXPECT_NE(DeviceAt<mindspore::GPUDeviceInfo>(Gpu(), 0), nullptr);
  EXPECT_EQ(DeviceAt<mindspore::AscendDeviceInfo>(Ascend(4), 0)->GetDeviceID(), 4u);
  EXPECT_EQ(DeviceAt<mindspore::AscendDeviceInfo>(Ascend(4), 0)->GetProvider(), "ge");
  EXPECT_FALSE(Builds(Ascend(4)));
  ContextPtr context;
  EXPECT_EQ(QuickStart(&context), 0);
  EXPECT_TRUE(Builds(context));
}

TEST(ContextCheck, settings_of_threads) {
  ContextPtr context = Cpu();
  {
#include "infer_affinity.inc"
#include "infer_parallel.inc"
#include "infer_threads.inc"
  } EXPECT_EQ(context->GetThreadNum(), 2);
  EXPECT_EQ(context->GetThreadAffinityMode(), 1);
  EXPECT_TRUE(context->GetEnableParallel());
  EXPECT_TRUE(Builds(context));
  context = Cpu();
  {
#include "mindir_affinity.inc"
#include "mindir_parallel.inc"
#include "mindir_threads.inc"
  } EXPECT_EQ(context->GetThreadNum(), 2);
  EXPECT_EQ(context->GetThreadAffinityCoreList(), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(context->GetInterOpParallelNum(), 2);
}

TEST(ContextCheck, functions_of_examples) {
  EXPECT_TRUE(example::CreateCPUDeviceInfo()->GetEnableFP16());
  EXPECT_TRUE(example::CreateGPUDeviceInfo()->GetEnableFP16());
  EXPECT_EQ(example::CreateNPUDeviceInfo()->GetFrequency(), 3);
  EXPECT_FALSE(cloud::CreateCPUDeviceInfo()->GetEnableFP16());
  EXPECT_EQ(cloud::CreateGPUDeviceInfo(2)->GetDeviceID(), 2u);
  EXPECT_EQ(cloud::CreateAscendDeviceInfo(3)->GetDeviceID(), 3u);
}

}  // namespace
