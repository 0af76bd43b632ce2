// SPDX-License-Identifier: Apache-2.0
//
// Tests pinned host memory that clients allocate: ranges of blocks, lifetime, transfers without
// staging, and failing calls.
#include "gpu_cl/host_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/device/pinned.h"
#include "gpu_cl/device/staging.h"
#include "gpu_cl/gpu_delegate.h"
#include "tests/compiler/graph_builder.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_host_memory_test {
namespace {

using compiler::GraphBuilder;
using compiler::ScalarOp;
using testing::HasSubstr;

// More than the 8 MB from which inputs of discrete GPUs are staged, in pieces of 2 MB.
constexpr int kCount = (9 << 20) / sizeof(float) + 16;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr int64_t kStagedWrites = 5;

// The device as a discrete GPU, which OpenCL tells from other GPUs by its memory.
std::shared_ptr<const ClApi> DiscreteGpu(const ClApi& api) {
  ClApi changed = api;
  changed.GetDeviceInfo = [](cl_device_id id, cl_device_info what, size_t size, void* value,
                             size_t* out_size) -> cl_int {
    const cl_int code = RealCl().api->GetDeviceInfo(id, what, size, value, out_size);
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_bool unified = CL_FALSE;
    if (value != nullptr && what == CL_DEVICE_TYPE) memcpy(value, &type, sizeof type);
    if (value != nullptr && what == CL_DEVICE_HOST_UNIFIED_MEMORY) {
      memcpy(value, &unified, sizeof unified);
    }
    return code;
  };
  return std::make_shared<const ClApi>(changed);
}

bool IsStaged() {
  DeviceProfile profile;
  profile.kind = DeviceKind::kDiscreteGpu;
  return Staging::IsFaster(profile, kBytes);
}

// ---- Blocks -------------------------------------------------------------------------------------

class GpuHostMemoryTest : public SpiedDeviceTest {};

TEST_F(GpuHostMemoryTest, a_block_contains_its_ranges) {
  const auto context = NewContext(), other = NewContext();
  HostBlocks& blocks = HostBlocks::Process();
  ClStatus status;
  auto* const a = static_cast<char*>(blocks.Allocate(context, 100, &status));
  auto* const b = static_cast<char*>(blocks.Allocate(context, 1, &status));
  ASSERT_TRUE(a != nullptr && b != nullptr) << status.text;
  for (const char* block : {a, b}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % HostBlocks::kAlignment, 0u);
  }
  memset(a, 1, 100);
  EXPECT_TRUE(blocks.Contain(*context, a, 100));
  EXPECT_TRUE(blocks.Contain(*context, a + 40, 60));
  EXPECT_TRUE(blocks.Contain(*context, b, 1));
  EXPECT_FALSE(blocks.Contain(*context, a + 40, 61)) << "ends after the block";
  EXPECT_FALSE(blocks.Contain(*context, a - 1, 2)) << "begins before the block";
  EXPECT_FALSE(blocks.Contain(*context, a + 101, 0));
  EXPECT_FALSE(blocks.Contain(*context, a, SIZE_MAX));
  EXPECT_FALSE(blocks.Contain(*context, nullptr, 1));
  EXPECT_FALSE(blocks.Contain(*other, a, 1));
  EXPECT_THAT(blocks.Free(a + 1), HasSubstr("expected memory of DeputyGpuAllocateHostMemory"));
  EXPECT_EQ(blocks.Free(a), "");
  EXPECT_FALSE(blocks.Contain(*context, a, 1)) << "the block was freed";
  EXPECT_TRUE(blocks.Contain(*context, b, 1));
  EXPECT_THAT(blocks.Free(a), HasSubstr("expected memory"));
  EXPECT_EQ(blocks.Free(b), "");
}

TEST_F(GpuHostMemoryTest, invalid_sizes_are_refused) {
  const auto context = NewContext();
  for (const size_t bytes : {size_t{0}, SIZE_MAX}) {
    ClStatus status;
    EXPECT_EQ(HostBlocks::Process().Allocate(context, bytes, &status), nullptr);
    EXPECT_THAT(status.text, HasSubstr("found " + std::to_string(bytes)));
  }
}

TEST_F(GpuHostMemoryTest, each_failing_call_is_an_error) {
  const auto context = NewContext();
  HostBlocks& blocks = HostBlocks::Process();
  for (const char* function : {"CreateCommandQueue", "CreateBuffer", "EnqueueMapBuffer"}) {
    for (const cl_int code : kFaultCodes) {
      const auto before = spy_->objects();
      spy_->Fail(function, 0, code);
      ClStatus status;
      EXPECT_EQ(blocks.Allocate(context, 4096, &status), nullptr) << function;
      EXPECT_EQ(status.text, "cl" + std::string(function) + ": " + ClErrorName(code) +
                                 ": 4096 bytes of pinned host memory");
      auto now = spy_->objects();
      for (const auto& [kind, count] : before) EXPECT_EQ(now[kind], count) << function << kind;
    }
  }
  ClStatus status;
  void* const block = blocks.Allocate(context, 4096, &status);
  ASSERT_NE(block, nullptr) << status.text;
  spy_->Fail("EnqueueUnmapMemObject", 0, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(blocks.Free(block), "") << "the memory is released nevertheless";
  EXPECT_TRUE(spy_->failed());
}

// ---- Delegates ----------------------------------------------------------------------------------

TEST_F(GpuHostMemoryTest, memory_outlives_its_delegate) {
  std::string error;
  char* memory = nullptr;
  {
    const TestDelegate gpu(spy_->api());
    memory = static_cast<char*>(AllocateHostMemory(gpu.get(), 64, &error));
    ASSERT_NE(memory, nullptr) << error;
  }
  memset(memory, 7, 64);
  EXPECT_EQ(spy_->objects()["Context"], 1);
  EXPECT_EQ(FreeHostMemory(memory), "");
  EXPECT_EQ(FreeHostMemory(nullptr), "");
}

TEST_F(GpuHostMemoryTest, a_lost_device_keeps_the_memory) {
  std::string error;
  const TestDelegate gpu(spy_->api());
  auto* const memory = static_cast<char*>(AllocateHostMemory(gpu.get(), 64, &error));
  ASSERT_NE(memory, nullptr) << error;
  spy_->Fail("CreateBuffer", 0, CL_INVALID_CONTEXT);
  EXPECT_EQ(AllocateHostMemory(gpu.get(), 64, &error), nullptr);
  EXPECT_TRUE(Of(gpu.get()).context->lost());
  const int64_t calls = Calls("CreateCommandQueue");
  EXPECT_EQ(AllocateHostMemory(gpu.get(), 64, &error), nullptr);
  EXPECT_THAT(error, HasSubstr("the device was lost"));
  EXPECT_EQ(Calls("CreateCommandQueue"), calls);
  memset(memory, 7, 64);
  EXPECT_EQ(FreeHostMemory(memory), "");
}

TEST_F(GpuHostMemoryTest, delegates_of_other_libraries_are_refused) {
  std::string error;
  TfLiteDelegate other{};
  EXPECT_EQ(AllocateHostMemory(&other, 64, &error), nullptr);
  EXPECT_THAT(error, HasSubstr("expected a delegate created by DeputyGpuDelegateCreate"));
  EXPECT_EQ(AllocateHostMemory(nullptr, 64, &error), nullptr);
  TfLiteDelegate* const failing = CreateFailingDelegate("no device");
  EXPECT_EQ(AllocateHostMemory(failing, 64, &error), nullptr);
  DestroyDelegate(failing);
}

// A model of y = -x.
std::vector<uint8_t> NegativeModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {kCount}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {kCount}, "y");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

void UseFor(int tensor, void* memory, TestInterpreter* t) {
  const TfLiteCustomAllocation allocation = {memory, kBytes};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t->get(), tensor, &allocation, 0),
            kTfLiteOk)
      << t->log();
}

// Tensors in pinned memory have one transfer each; others are staged. The memory is set before or
// after the delegate is applied, and comes from this delegate or from another one.
TEST_F(GpuHostMemoryTest, pinned_tensors_are_not_staged) {
  if (!IsStaged()) GTEST_SKIP() << "the machine has too few threads";
  const auto api = DiscreteGpu(*spy_->api());
  const TestDelegate gpu(api), other(api);
  ASSERT_NE(gpu.get(), nullptr) << gpu.error();
  for (const bool is_first : {false, true}) {
    TestInterpreter t(NegativeModel());
    std::string error;
    TfLiteDelegate* const owner = is_first ? other.get() : gpu.get();
    auto* const x = static_cast<float*>(AllocateHostMemory(owner, kBytes, &error));
    auto* const y = static_cast<float*>(AllocateHostMemory(owner, kBytes, &error));
    ASSERT_TRUE(x != nullptr && y != nullptr) << error;
    if (is_first) UseFor(0, x, &t), UseFor(1, y, &t);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 1);
    const auto run = [&](float first) {
      auto* const in =
          static_cast<float*>(TfLiteTensorData(TfLiteInterpreterGetInputTensor(t.get(), 0)));
      const auto* const out =
          static_cast<const float*>(TfLiteTensorData(TfLiteInterpreterGetOutputTensor(t.get(), 0)));
      for (int i = 0; i < kCount; ++i) in[i] = first + static_cast<float>(i % 100);
      const int64_t writes = Calls("EnqueueWriteBuffer"), reads = Calls("EnqueueReadBuffer");
      EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      for (int i = 0; i < kCount; ++i) {
        if (out[i] == -in[i]) continue;
        ADD_FAILURE() << "element " << i;
        break;
      }
      return std::pair(Calls("EnqueueWriteBuffer") - writes, Calls("EnqueueReadBuffer") - reads);
    };
    if (!is_first) {
      EXPECT_EQ(run(1), std::pair(kStagedWrites, int64_t{1}));
      UseFor(0, x, &t), UseFor(1, y, &t);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    }
    const int64_t maps = Calls("EnqueueMapBuffer");
    EXPECT_EQ(run(2), std::pair(int64_t{1}, int64_t{1}));
    EXPECT_EQ(run(3), std::pair(int64_t{1}, int64_t{1}));
    EXPECT_EQ(Calls("EnqueueMapBuffer"), maps);
    EXPECT_EQ(static_cast<void*>(x), TfLiteTensorData(TfLiteInterpreterGetInputTensor(t.get(), 0)));
    // Other memory replaces the pinned memory, which may then be freed.
    std::vector<float> memory(2 * kCount + 64);
    auto* const aligned =
        reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
    UseFor(0, aligned, &t), UseFor(1, aligned + kBytes, &t);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FreeHostMemory(x), "");
    EXPECT_EQ(FreeHostMemory(y), "");
    EXPECT_EQ(run(4), std::pair(kStagedWrites, int64_t{1}));
  }
}

// ---- Memory that is pinned in part --------------------------------------------------------------

// Memory of the test that the next mapping returns.
char* mapped = nullptr;

TEST_F(GpuHostMemoryTest, a_tensor_that_is_pinned_in_part_is_staged) {
  if (!IsStaged()) GTEST_SKIP() << "the machine has too few threads";
  ClApi changed = *spy_->api();
  static decltype(ClApi::EnqueueMapBuffer) map;
  map = changed.EnqueueMapBuffer;
  changed.EnqueueMapBuffer = [](cl_command_queue queue, cl_mem memory, cl_bool blocks,
                                cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                const cl_event* events, cl_event* event, cl_int* code) -> void* {
    if (mapped == nullptr) {
      return map(queue, memory, blocks, flags, offset, size, waits, events, event, code);
    }
    *code = CL_SUCCESS;
    return std::exchange(mapped, nullptr);
  };
  Device device = NewContext()->device();
  device.profile.kind = DeviceKind::kDiscreteGpu;
  ClStatus status;
  auto context = SharedContext::Create(std::make_shared<const ClApi>(changed), device, &status);
  ASSERT_NE(context, nullptr) << status.text;
  GraphBuilder g;
  g.Output(g.Unary(ScalarOp::kNeg, g.Input({kCount})));
  const auto executor = Executor::Create(context, g.graph, {}, &status);
  ASSERT_NE(executor, nullptr) << status.text;
  std::vector<float> memory(3 * kCount, 2), out(kCount);
  mapped = reinterpret_cast<char*>(memory.data() + kCount);
  auto* const block = static_cast<float*>(HostBlocks::Process().Allocate(context, kBytes, &status));
  ASSERT_NE(block, nullptr) << status.text;
  const auto writes = [&](const float* from) {
    const int64_t before = Calls("EnqueueWriteBuffer");
    const InputLocation input = {from, nullptr};
    const OutputLocation output = {out.data(), nullptr};
    EXPECT_TRUE(executor->Run({&input, 1}, {&output, 1}).ok());
    EXPECT_EQ(std::count(out.begin(), out.end(), -2.0F), kCount);
    return Calls("EnqueueWriteBuffer") - before;
  };
  EXPECT_EQ(writes(block), 1);
  EXPECT_EQ(writes(block - 1), kStagedWrites);
  EXPECT_EQ(writes(block + 1), kStagedWrites);
  EXPECT_EQ(HostBlocks::Process().Free(block), "");
  EXPECT_EQ(writes(block), kStagedWrites) << "the memory belongs to the test again";
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_host_memory_test
