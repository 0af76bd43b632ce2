// SPDX-License-Identifier: Apache-2.0
//
// Tests that delegates of the OpenCL library pass tensors to each other and use buffers of the
// client without copies through host memory. Events of the library count its copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_exchange_test {
namespace {

using Values = std::vector<float>;

// y = x + x, z = y + y.
constexpr int kX = 0, kY = 1, kZ = 2;

std::vector<uint8_t> TwoAdditions() {
  ModelBuilder m;
  for (const char* name : {"x", "y", "z"}) m.AddTensor(kTfLiteFloat32, {4}, name);
  m.AddOp(kTfLiteBuiltinAdd, {kX, kX}, {kY}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {kY, kY}, {kZ}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({kX});
  m.SetOutputs({kZ});
  return m.Finish();
}

Handle Gpu(const std::string& library) {
  return {CreateExternal(library, {{"profiling", "true"}}), TfLiteExternalDelegateDelete};
}

class GpuExchangeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = NoDeviceReason(); !reason.empty()) GTEST_SKIP() << reason;
  }
  void TearDown() override {
    t_.reset();
    delegates_.clear();
  }

  // Creates an interpreter in which each node is a partition of another delegate. If `reversed`,
  // the second delegate is applied first. The delegate that is applied first supports both nodes
  // and therefore keeps the tensor between them on the device.
  void Start(const std::string& first, const std::string& second, bool reversed = false) {
    t_.reset();
    delegates_.clear();
    for (const std::string& library : {first, second}) {
      delegates_.push_back(Gpu(library));
      ASSERT_NE(delegates_.back(), nullptr) << DeputyLastError();
    }
    t_ = std::make_unique<TestInterpreter>(TwoAdditions(), [&](TfLiteInterpreterOptions* options) {
      for (int node = 0; node < 2; ++node) {
        DeputyPlacement placement{};
        placement.struct_size = sizeof placement;
        placement.node_index = node;
        placement.delegate = delegates_[static_cast<size_t>(node)].get();
        EXPECT_EQ(DeputyInterpreterOptionsAddPlacement(options, &placement), kTfLiteOk);
      }
    });
    ASSERT_NE(t_->get(), nullptr) << t_->log();
    for (const size_t i : {size_t{reversed}, size_t{!reversed}}) {
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t_->get(), delegates_[i].get()), kTfLiteOk)
          << t_->log();
    }
    ASSERT_EQ(t_->Allocate(), kTfLiteOk) << t_->log();
    int32_t delegated = 0;
    DeputyInterpreterCheckDelegation(t_->get(), kDeputyRequireNothing, &delegated, nullptr);
    EXPECT_EQ(delegated, 2);
  }
  void Run(float x) {
    t_->Set<float>(0, {x, -2, 3, -4});
    ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
    EXPECT_EQ(t_->Get<float>(0), (Values{4 * x, -8, 12, -16}));
  }
  // Returns the number of copies between host and device by both delegates since the last call.
  int HostCopies() {
    int copies = 0;
    for (const Handle& delegate : delegates_) {
      const auto count = [](void* data, const DeputyDeviceEvent* event) {
        const std::string name = event->name;
        if (name == "upload" || name == "download") ++*static_cast<int*>(data);
      };
      EXPECT_EQ(DeputyPluginTakeEvents(delegate.get(), count, &copies), kTfLiteOk);
    }
    return copies;
  }
  DeputyBufferEdge Edge(size_t index) {
    DeputyBufferEdge edge{};
    edge.struct_size = sizeof edge;
    EXPECT_EQ(DeputyInterpreterGetBufferEdge(t_->get(), 0, index, &edge), kTfLiteOk) << index;
    return edge;
  }

  const std::string library_ = BuildPath("libdeputy_gpu.so");
  std::vector<Handle> delegates_;
  std::unique_ptr<TestInterpreter> t_;
};

TEST_F(GpuExchangeTest, two_delegates_of_a_library_pass_a_tensor_on_the_device) {
  for (const bool reversed : {false, true}) {
    Start(library_, library_, reversed);
    HostCopies();
    for (const float x : {1.0f, 5.0f, 7.0f}) {
      Run(x);
      EXPECT_EQ(HostCopies(), 2) << "x to the device, z to the host";
      EXPECT_TRUE(t_->Tensor(kY)->data_is_stale) << "y was never read to the host";
    }
    ASSERT_EQ(DeputyInterpreterGetBufferEdgeCount(t_->get(), 0), 1u);
    EXPECT_EQ(Edge(0).memory_type, kDeputyMemoryOpenCl);
    EXPECT_EQ(Edge(0).shared_runs, 3);
    EXPECT_EQ(Edge(0).copied_runs, 0);
  }
}

// Each library has an OpenCL context of its own.
TEST_F(GpuExchangeTest, delegates_of_two_libraries_pass_a_tensor_through_the_host) {
  const std::string copy = ScratchFile("libdeputy_gpu_copy.so");
  std::filesystem::copy_file(library_, copy, std::filesystem::copy_options::overwrite_existing);
  for (const bool reversed : {false, true}) {
    Start(library_, copy, reversed);
    HostCopies();
    Run(1), Run(2);
    // Each run uploads x and y and downloads z. The partition downloads y, unless the first
    // delegate has kept it on the device: then CopyFromBufferHandle copies it, without an event.
    EXPECT_EQ(HostCopies(), reversed ? 8 : 6);
    EXPECT_FALSE(t_->Tensor(kY)->data_is_stale);
    EXPECT_EQ(Edge(0).memory_type, kDeputyMemoryHost);
    EXPECT_EQ(Edge(0).copied_runs, 2);
  }
  std::remove(copy.c_str());
}

TEST_F(GpuExchangeTest, buffers_of_the_client_are_used_without_host_copies) {
  Start(library_, library_);
  uint64_t domain = 0;
  const auto add = [](void* data, const DeputyMemoryRequirements* type) {
    if (type->type == kDeputyMemoryOpenCl) *static_cast<uint64_t*>(data) = type->domain;
  };
  ASSERT_EQ(DeputyInterpreterListMemoryTypes(t_->get(), 0, kX, add, &domain), kTfLiteOk);
  ASSERT_NE(domain, 0u);
  const ClApi* const api = RealCl().api.get();
  auto* const context = reinterpret_cast<cl_context>(static_cast<uintptr_t>(domain));
  std::vector<Device> devices;
  Device device;
  ASSERT_TRUE(ListDevices(*api, &devices).ok());
  ASSERT_TRUE(ChooseDevice(devices, "", &device).ok());
  cl_int code = CL_SUCCESS;
  const ClQueue queue(api, api->CreateCommandQueue(context, device.id, 0, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const auto buffer_of = [&](const ClMemory& memory) {
    DeputyBuffer buffer{};
    buffer.struct_size = sizeof buffer;
    buffer.type = kDeputyMemoryOpenCl;
    buffer.file = -1;
    buffer.object = memory.get();
    buffer.domain = domain;
    buffer.offset = 4;
    buffer.size = 20;
    return buffer;
  };
  const ClMemory in(api, api->CreateBuffer(context, CL_MEM_READ_WRITE, 20, nullptr, &code));
  const ClMemory out(api, api->CreateBuffer(context, CL_MEM_READ_WRITE, 20, nullptr, &code));
  DeputyBuffer x = buffer_of(in), z = buffer_of(out);
  ASSERT_EQ(DeputyInterpreterBindBuffer(t_->get(), 0, kX, &x), kTfLiteOk) << t_->log();
  ASSERT_EQ(DeputyInterpreterBindBuffer(t_->get(), 0, kZ, &z), kTfLiteOk) << t_->log();
  HostCopies();
  const auto run = [&](float first) {
    const Values given = {first, 2, -3, 4};
    ASSERT_EQ(api->EnqueueWriteBuffer(queue.get(), in.get(), CL_TRUE, 4, 16, given.data(), 0,
                                      nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(t_->Invoke(), kTfLiteOk) << t_->log();
    Values found(4);
    ASSERT_EQ(api->EnqueueReadBuffer(queue.get(), out.get(), CL_TRUE, 4, 16, found.data(), 0,
                                     nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(found, (Values{4 * first, 8, -12, 16}));
    EXPECT_EQ(HostCopies(), 0);
  };
  run(1), run(3);
  // A buffer of another context is refused; the former one stays bound.
  z.domain = 1;
  EXPECT_EQ(DeputyInterpreterBindBuffer(t_->get(), 0, kZ, &z), kTfLiteError);
  EXPECT_THAT(t_->log(), testing::HasSubstr("found type 2 in domain 1"));
  run(5);
  for (const int tensor : {kX, kZ}) {
    ASSERT_EQ(DeputyInterpreterBindBuffer(t_->get(), 0, tensor, nullptr), kTfLiteOk);
  }
  Run(2);
  EXPECT_EQ(HostCopies(), 2);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_exchange_test
