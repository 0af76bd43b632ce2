// SPDX-License-Identifier: Apache-2.0
//
// Tests OpenCL tensor buffers and events, and runs of the GPU accelerator with them. Results are
// compared with runs on buffers in host memory. The GPU delegate and the library open an OpenCL
// library that counts transfers.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "litert/c/internal/litert_tensor_buffer_registry.h"
#include "litert/c/litert_compiled_model.h"
#include "litert/c/litert_environment.h"
#include "litert/c/litert_event.h"
#include "litert/c/litert_model.h"
#include "litert/c/litert_options.h"
#include "litert/c/litert_tensor_buffer.h"
#include "litert/c/litert_tensor_buffer_requirements.h"
#include "tests/support/paths.h"
#include "tests/support/scoped_environment.h"

namespace deputy::litert::litert_opencl_test {
namespace {

using gpu_cl::ClApi;
using gpu_cl::ClContext;
using gpu_cl::ClEvent;
using gpu_cl::ClMemory;
using gpu_cl::ClQueue;
using testing::Each;
using testing::HasSubstr;

constexpr LiteRtTensorBufferType kDense = kLiteRtTensorBufferTypeOpenClBufferPacked;
constexpr size_t kPixels = 28 * 28, kScores = 10;

template <typename Handle, auto kDestroy>
struct Deleter {
  using pointer = Handle;
  void operator()(Handle handle) const { kDestroy(handle); }
};
template <typename Handle, auto kDestroy>
using Owned = std::unique_ptr<Handle, Deleter<Handle, kDestroy>>;
using Environment = Owned<LiteRtEnvironment, &LiteRtDestroyEnvironment>;
using Model = Owned<LiteRtModel, &LiteRtDestroyModel>;
using Compiled = Owned<LiteRtCompiledModel, &LiteRtDestroyCompiledModel>;
using Buffer = Owned<LiteRtTensorBuffer, &LiteRtDestroyTensorBuffer>;
using Event = Owned<LiteRtEvent, &LiteRtDestroyEvent>;

LiteRtRankedTensorType TypeOf(std::vector<int> dims) {
  LiteRtRankedTensorType type = {};
  type.element_type = kLiteRtElementTypeFloat32;
  type.layout.rank = static_cast<unsigned>(dims.size()) & 0x7f;
  std::copy(dims.begin(), dims.end(), type.layout.dimensions);
  return type;
}

const LiteRtRankedTensorType kImageType = TypeOf({1, 28, 28, 1}), kScoresType = TypeOf({1, 10});

std::vector<float> Image(int seed) {
  std::vector<float> pixels(kPixels);
  for (size_t i = 0; i < kPixels; ++i) {
    pixels[i] = static_cast<float>((i * 7 + static_cast<size_t>(seed) * 131) % 255) / 255;
  }
  return pixels;
}

Buffer NewBuffer(LiteRtEnvironment env, LiteRtTensorBufferType type,
                 const LiteRtRankedTensorType& tensor, size_t bytes) {
  LiteRtTensorBuffer buffer = nullptr;
  EXPECT_EQ(LiteRtCreateManagedTensorBuffer(env, type, &tensor, bytes, &buffer), kLiteRtStatusOk);
  return Buffer(buffer);
}

Buffer NewImage(LiteRtEnvironment env, LiteRtTensorBufferType type) {
  return NewBuffer(env, type, kImageType, kPixels * sizeof(float));
}

Buffer NewScores(LiteRtEnvironment env, LiteRtTensorBufferType type) {
  return NewBuffer(env, type, kScoresType, kScores * sizeof(float));
}

void Write(const Buffer& buffer, const std::vector<float>& values) {
  void* address = nullptr;
  ASSERT_EQ(LiteRtLockTensorBuffer(buffer.get(), &address, kLiteRtTensorBufferLockModeWrite),
            kLiteRtStatusOk);
  std::memcpy(address, values.data(), values.size() * sizeof(float));
  ASSERT_EQ(LiteRtUnlockTensorBuffer(buffer.get()), kLiteRtStatusOk);
}

std::vector<float> Read(const Buffer& buffer, size_t count) {
  void* address = nullptr;
  std::vector<float> values(count);
  EXPECT_EQ(LiteRtLockTensorBuffer(buffer.get(), &address, kLiteRtTensorBufferLockModeRead),
            kLiteRtStatusOk);
  if (address == nullptr) return {};
  std::memcpy(values.data(), address, count * sizeof(float));
  EXPECT_EQ(LiteRtUnlockTensorBuffer(buffer.get()), kLiteRtStatusOk);
  return values;
}

LiteRtClMem MemoryOf(const Buffer& buffer) {
  LiteRtClMem memory = nullptr;
  EXPECT_EQ(LiteRtGetTensorBufferOpenClMemory(buffer.get(), &memory), kLiteRtStatusOk);
  return memory;
}

LiteRtEnvOption Option(LiteRtEnvOptionTag tag, const void* object) {
  LiteRtEnvOption option = {};
  option.tag = tag;
  option.value.type = kLiteRtAnyTypeInt;
  option.value.int_value = static_cast<int64_t>(reinterpret_cast<intptr_t>(object));
  return option;
}

Environment NewEnvironment(const std::vector<LiteRtEnvOption>& options = {}) {
  LiteRtEnvironment env = nullptr;
  EXPECT_EQ(LiteRtCreateEnvironment(static_cast<int>(options.size()), options.data(), &env),
            kLiteRtStatusOk);
  return Environment(env);
}

// Returns the object that an option of the environment has, as a number.
void* ObjectOf(const Environment& env, LiteRtEnvOptionTag tag) {
  LiteRtEnvironmentOptions options = nullptr;
  EXPECT_EQ(LiteRtGetEnvironmentOptions(env.get(), &options), kLiteRtStatusOk);
  LiteRtAny value = {};
  if (LiteRtGetEnvironmentOptionsValue(options, tag, &value) != kLiteRtStatusOk) return nullptr;
  EXPECT_EQ(value.type, kLiteRtAnyTypeInt);
  return reinterpret_cast<void*>(static_cast<intptr_t>(value.int_value));
}

// The digits model on an accelerator.
struct Session {
  Session(LiteRtEnvironment env, LiteRtHwAcceleratorSet accelerators) {
    LiteRtModel loaded = nullptr;
    const std::string path = SourcePath("examples/digits/digits_float.tflite");
    EXPECT_EQ(LiteRtCreateModelFromFile(env, path.c_str(), &loaded), kLiteRtStatusOk);
    model.reset(loaded);
    LiteRtOptions options = nullptr;
    LiteRtCreateOptions(&options);
    LiteRtSetOptionsHardwareAccelerators(options, accelerators);
    LiteRtCompiledModel made = nullptr;
    EXPECT_EQ(LiteRtCreateCompiledModel(env, loaded, options, &made), kLiteRtStatusOk);
    LiteRtDestroyOptions(options);
    compiled.reset(made);
  }
  LiteRtStatus Run(const Buffer& in, const Buffer& out) {
    LiteRtTensorBuffer inputs[] = {in.get()}, outputs[] = {out.get()};
    return LiteRtRunCompiledModel(compiled.get(), 0, 1, inputs, 1, outputs);
  }
  std::vector<LiteRtTensorBufferType> Types(bool of_input) {
    LiteRtTensorBufferRequirements found = nullptr;
    const auto get = of_input ? &LiteRtGetCompiledModelInputBufferRequirements
                              : &LiteRtGetCompiledModelOutputBufferRequirements;
    EXPECT_EQ(get(compiled.get(), 0, 0, &found), kLiteRtStatusOk);
    int count = 0;
    LiteRtGetNumTensorBufferRequirementsSupportedBufferTypes(found, &count);
    std::vector<LiteRtTensorBufferType> types(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      LiteRtGetTensorBufferRequirementsSupportedTensorBufferType(found, i,
                                                                 &types[static_cast<size_t>(i)]);
    }
    return types;
  }

  Model model;
  Compiled compiled;
};

class OpenClTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("DEPUTY_OPENCL_DEVICE");
    const gpu_cl::LoadedCl loaded = gpu_cl::LoadCl();
    std::vector<gpu_cl::Device> devices;
    if (loaded.api == nullptr || !gpu_cl::ListDevices(*loaded.api, &devices).ok()) {
      GTEST_SKIP() << "no OpenCL device: " << loaded.tried;
    }
    api_ = loaded.api;
    ASSERT_TRUE(gpu_cl::ChooseDevice(devices, "", &device_).ok());
    void* const counter = dlopen(library_.c_str(), RTLD_NOW);
    ASSERT_NE(counter, nullptr) << dlerror();
    const auto count = [&](const char* name) {
      return reinterpret_cast<int (*)()>(dlsym(counter, name));
    };
    transfers_ = count("opencl_counter_transfers");
    contexts_ = count("opencl_counter_contexts");
    builds_ = count("opencl_counter_builds");
  }

  // Returns the client's context on the device.
  ClContext NewContext() {
    cl_int code = CL_SUCCESS;
    ClContext context(api_.get(),
                      api_->CreateContext(nullptr, 1, &device_.id, nullptr, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return context;
  }
  ClQueue NewQueue(cl_context context, cl_command_queue_properties properties = 0) {
    cl_int code = CL_SUCCESS;
    ClQueue queue(api_.get(), api_->CreateCommandQueue(context, device_.id, properties, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return queue;
  }
  ClMemory NewMemory(cl_context context, size_t bytes) {
    cl_int code = CL_SUCCESS;
    ClMemory memory(api_.get(),
                    api_->CreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return memory;
  }
  std::vector<float> ReadMemory(cl_context context, cl_mem memory, size_t count) {
    const ClQueue queue = NewQueue(context);
    std::vector<float> values(count);
    EXPECT_EQ(api_->EnqueueReadBuffer(queue.get(), memory, CL_TRUE, 0, count * sizeof(float),
                                      values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  LiteRtStatus Wrap(LiteRtEnvironment env, LiteRtTensorBufferType type, cl_mem memory, size_t bytes,
                    Buffer* out_buffer, LiteRtOpenClDeallocator deallocator = nullptr) {
    LiteRtTensorBuffer buffer = nullptr;
    const LiteRtStatus status = LiteRtCreateTensorBufferFromOpenClMemory(
        env, &kImageType, type, memory, bytes, deallocator, &buffer);
    EXPECT_EQ(buffer != nullptr, status == kLiteRtStatusOk);
    out_buffer->reset(buffer);
    return status;
  }
  std::vector<float> Expected(int seed) {
    const Environment env = NewEnvironment();
    Session session(env.get(), kLiteRtHwAcceleratorGpu);
    const Buffer in = NewImage(env.get(), kLiteRtTensorBufferTypeHostMemory);
    const Buffer out = NewScores(env.get(), kLiteRtTensorBufferTypeHostMemory);
    Write(in, Image(seed));
    EXPECT_EQ(session.Run(in, out), kLiteRtStatusOk);
    return Read(out, kScores);
  }

  const std::string library_ = BuildPath("tests/plugins/libopencl_counter.so");
  const ScopedEnvironment plugins_{"DEPUTY_PLUGIN_PATH", BuildPath("libdeputy_gpu.so").c_str()};
  const ScopedEnvironment opencl_{"DEPUTY_OPENCL_LIBRARY", library_.c_str()};
  std::shared_ptr<const ClApi> api_;
  gpu_cl::Device device_;
  int (*transfers_)() = nullptr;
  int (*contexts_)() = nullptr;
  int (*builds_)() = nullptr;
};

// ---- Environments -------------------------------------------------------------------------------

TEST_F(OpenClTest, AnEnvironmentUsesTheObjectsOfTheClient) {
  const ClContext context = NewContext();
  const ClQueue queue = NewQueue(context.get());
  const Environment env =
      NewEnvironment({Option(kLiteRtEnvOptionTagOpenClContext, context.get()),
                      Option(kLiteRtEnvOptionTagOpenClCommandQueue, queue.get())});
  bool has_gpu = false;
  LiteRtEnvironmentHasGpuEnvironment(env.get(), &has_gpu);
  EXPECT_TRUE(has_gpu);
  const int contexts = contexts_();
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  const Buffer in = NewImage(env.get(), kDense), out = NewScores(env.get(), kDense);
  cl_context found = nullptr;
  ASSERT_EQ(api_->GetMemObjectInfo(MemoryOf(in), CL_MEM_CONTEXT, sizeof found, &found, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(found, context.get());
  EXPECT_EQ(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext), context.get());
  EXPECT_EQ(ObjectOf(env, kLiteRtEnvOptionTagOpenClCommandQueue), queue.get());
  EXPECT_EQ(ObjectOf(env, kLiteRtEnvOptionTagOpenClDeviceId), device_.id);
  Write(in, Image(1));
  EXPECT_EQ(session.Run(in, out), kLiteRtStatusOk);
  EXPECT_EQ(contexts_(), contexts) << "the delegate works in the client's context";
  EXPECT_EQ(Read(out, kScores), Expected(1));
}

TEST_F(OpenClTest, AnEnvironmentCreatesObjectsWhenTheyAreNeeded) {
  const Environment env = NewEnvironment();
  bool has_gpu = true;
  LiteRtEnvironmentHasGpuEnvironment(env.get(), &has_gpu);
  EXPECT_FALSE(has_gpu);
  EXPECT_EQ(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext), nullptr);
  const Buffer buffer = NewImage(env.get(), kDense);
  LiteRtEnvironmentHasGpuEnvironment(env.get(), &has_gpu);
  EXPECT_TRUE(has_gpu);
  EXPECT_EQ(ObjectOf(env, kLiteRtEnvOptionTagOpenClDeviceId), device_.id);
  EXPECT_EQ(ObjectOf(env, kLiteRtEnvOptionTagOpenClPlatformId), device_.platform);
  // A client's memory belongs to the environment's context.
  auto* const context = static_cast<cl_context>(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext));
  const ClMemory memory = NewMemory(context, kPixels * sizeof(float));
  Buffer wrapped;
  EXPECT_EQ(Wrap(env.get(), kDense, memory.get(), kPixels * sizeof(float), &wrapped),
            kLiteRtStatusOk);
}

TEST_F(OpenClTest, GpuEnvironmentCreateTakesTheObjectsOfTheClient) {
  const ClContext context = NewContext();
  LiteRtEnvOption cpu = {};
  cpu.tag = kLiteRtEnvOptionTagAutoRegisterAccelerators;
  cpu.value.type = kLiteRtAnyTypeInt;
  cpu.value.int_value = kLiteRtHwAcceleratorCpu;
  const Environment env = NewEnvironment({cpu});
  LiteRtTensorBuffer refused = nullptr;
  EXPECT_EQ(LiteRtCreateManagedTensorBuffer(env.get(), kDense, &kImageType, 3136, &refused),
            kLiteRtStatusErrorRuntimeFailure)
      << "an environment without a GPU";
  const LiteRtEnvOption options[] = {Option(kLiteRtEnvOptionTagOpenClContext, context.get()),
                                     Option(kLiteRtEnvOptionTagOpenClDeviceId, device_.id)};
  ASSERT_EQ(LiteRtGpuEnvironmentCreate(env.get(), 2, options), kLiteRtStatusOk);
  EXPECT_EQ(LiteRtGpuEnvironmentCreate(env.get(), 0, nullptr), kLiteRtStatusErrorRuntimeFailure);
  NewImage(env.get(), kDense);
  EXPECT_EQ(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext), context.get());
}

TEST_F(OpenClTest, UnusableObjectsOfTheClientAreErrorsOfTheCallsThatNeedThem) {
  const ClContext context = NewContext(), other = NewContext();
  const ClQueue queue = NewQueue(other.get());
  const ClQueue unordered = NewQueue(context.get(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (const cl_command_queue refused : {queue.get(), unordered.get()}) {
    const Environment env =
        NewEnvironment({Option(kLiteRtEnvOptionTagOpenClContext, context.get()),
                        Option(kLiteRtEnvOptionTagOpenClCommandQueue, refused)});
    LiteRtTensorBuffer buffer = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_EQ(LiteRtCreateManagedTensorBuffer(env.get(), kDense, &kImageType, 3136, &buffer),
              kLiteRtStatusErrorRuntimeFailure);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("tensor buffer: OpenCL is not available: cl_command_queue: expected"));
  }
}

TEST_F(OpenClTest, WithoutOpenClCallsFailWithTheReason) {
  const ScopedEnvironment none("DEPUTY_OPENCL_LIBRARY", "none");
  const Environment env = NewEnvironment();
  LiteRtTensorBuffer buffer = nullptr;
  LiteRtEvent event = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(LiteRtCreateManagedTensorBuffer(env.get(), kDense, &kImageType, 3136, &buffer),
            kLiteRtStatusErrorRuntimeFailure);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("tensor buffer: OpenCL is not available: no OpenCL"));
  EXPECT_EQ(LiteRtCreateManagedEvent(env.get(), LiteRtEventTypeOpenCl, &event),
            kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(
      LiteRtCreateEventFromOpenClEvent(env.get(), reinterpret_cast<LiteRtClEvent>(&event), &event),
      kLiteRtStatusErrorRuntimeFailure);
  Session session(env.get(), kLiteRtHwAcceleratorGpu | kLiteRtHwAcceleratorCpu);
  const Buffer in = NewImage(env.get(), kLiteRtTensorBufferTypeHostMemory);
  const Buffer out = NewScores(env.get(), kLiteRtTensorBufferTypeHostMemory);
  EXPECT_EQ(session.Run(in, out), kLiteRtStatusOk) << "the CPU runs the model";
}

// ---- Buffers ------------------------------------------------------------------------------------

TEST_F(OpenClTest, AManagedBufferIsMapped) {
  const Environment env = NewEnvironment();
  const Buffer buffer = NewImage(env.get(), kDense);
  LiteRtTensorBufferType type = kLiteRtTensorBufferTypeUnknown;
  LiteRtGetTensorBufferType(buffer.get(), &type);
  EXPECT_EQ(type, kDense);
  size_t bytes = 0;
  LiteRtGetTensorBufferSize(buffer.get(), &bytes);
  EXPECT_EQ(bytes, kPixels * sizeof(float));
  auto* const context = static_cast<cl_context>(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext));
  Write(buffer, Image(3));
  EXPECT_EQ(ReadMemory(context, MemoryOf(buffer), kPixels), Image(3));
  EXPECT_EQ(Read(buffer, kPixels), Image(3));
  // A lock for reading and writing keeps what is not written.
  void* address = nullptr;
  ASSERT_EQ(LiteRtLockTensorBuffer(buffer.get(), &address, kLiteRtTensorBufferLockModeReadWrite),
            kLiteRtStatusOk);
  static_cast<float*>(address)[0] = 42;
  EXPECT_EQ(LiteRtLockTensorBuffer(buffer.get(), &address, kLiteRtTensorBufferLockModeRead),
            kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(LiteRtClearTensorBuffer(buffer.get()), kLiteRtStatusErrorRuntimeFailure);
  ASSERT_EQ(LiteRtUnlockTensorBuffer(buffer.get()), kLiteRtStatusOk);
  EXPECT_EQ(LiteRtUnlockTensorBuffer(buffer.get()), kLiteRtStatusErrorRuntimeFailure);
  std::vector<float> expected = Image(3);
  expected[0] = 42;
  EXPECT_EQ(ReadMemory(context, MemoryOf(buffer), kPixels), expected);
  EXPECT_EQ(LiteRtClearTensorBuffer(buffer.get()), kLiteRtStatusOk);
  EXPECT_THAT(Read(buffer, kPixels), Each(0));
}

TEST_F(OpenClTest, HostileSizesAndTypesAreRefused) {
  const Environment env = NewEnvironment();
  LiteRtTensorBuffer buffer = nullptr;
  const auto create = [&](LiteRtTensorBufferType type, size_t bytes) {
    return LiteRtCreateManagedTensorBuffer(env.get(), type, &kImageType, bytes, &buffer);
  };
  EXPECT_EQ(create(kDense, 3135), kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(create(kDense, SIZE_MAX), kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(create(kDense, SIZE_MAX / 4), kLiteRtStatusErrorRuntimeFailure);
  for (const LiteRtTensorBufferType type :
       {kLiteRtTensorBufferTypeOpenClBuffer, kLiteRtTensorBufferTypeOpenClBufferFp16,
        kLiteRtTensorBufferTypeOpenClTexture, kLiteRtTensorBufferTypeOpenClTextureFp16,
        kLiteRtTensorBufferTypeOpenClImageBuffer, kLiteRtTensorBufferTypeOpenClImageBufferFp16}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(create(type, 3136), kLiteRtStatusErrorNotFound);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("expected dense OpenCL memory"));
  }
  const Buffer kept = NewImage(env.get(), kDense);
  auto* const context = static_cast<cl_context>(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext));
  const ClMemory memory = NewMemory(context, 3136), small = NewMemory(context, 3000);
  const ClContext other = NewContext();
  const ClMemory foreign = NewMemory(other.get(), 3136);
  Buffer wrapped;
  EXPECT_EQ(Wrap(env.get(), kDense, small.get(), 3136, &wrapped), kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(Wrap(env.get(), kDense, memory.get(), 3000, &wrapped),
            kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(Wrap(env.get(), kDense, foreign.get(), 3136, &wrapped),
            kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(Wrap(env.get(), kDense, nullptr, 3136, &wrapped), kLiteRtStatusErrorInvalidArgument);
  EXPECT_EQ(Wrap(nullptr, kDense, memory.get(), 3136, &wrapped), kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(Wrap(env.get(), kLiteRtTensorBufferTypeHostMemory, memory.get(), 3136, &wrapped),
            kLiteRtStatusErrorInvalidArgument);
  EXPECT_EQ(Wrap(env.get(), kLiteRtTensorBufferTypeOpenClTexture, memory.get(), 3136, &wrapped),
            kLiteRtStatusErrorUnsupported);
  LiteRtClMem found = nullptr;
  EXPECT_EQ(LiteRtGetTensorBufferOpenClMemory(
                NewImage(env.get(), kLiteRtTensorBufferTypeHostMemory).get(), &found),
            kLiteRtStatusErrorRuntimeFailure);
}

TEST_F(OpenClTest, MemoryOfTheClientMayBeReleasedBeforeTheBuffer) {
  static int deallocated;
  deallocated = 0;
  const Environment env = NewEnvironment();
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  auto* const context = static_cast<cl_context>(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext));
  ClMemory memory = NewMemory(context, kPixels * sizeof(float));
  Buffer in;
  ASSERT_EQ(Wrap(env.get(), kDense, memory.get(), kPixels * sizeof(float), &in,
                 [](void*) { ++deallocated; }),
            kLiteRtStatusOk);
  EXPECT_EQ(MemoryOf(in), memory.get());
  memory.Reset();
  const Buffer out = NewScores(env.get(), kDense);
  Write(in, Image(5));
  EXPECT_EQ(session.Run(in, out), kLiteRtStatusOk);
  EXPECT_EQ(Read(out, kScores), Expected(5));
  LiteRtDuplicateTensorBuffer(in.get());
  LiteRtDestroyTensorBuffer(in.get());
  EXPECT_EQ(deallocated, 0);
  in.reset();
  EXPECT_EQ(deallocated, 1);
  // The model still uses the memory of the buffer, which is gone; another one replaces it.
  const Buffer next = NewImage(env.get(), kDense);
  Write(next, Image(6));
  EXPECT_EQ(session.Run(next, out), kLiteRtStatusOk);
  EXPECT_EQ(Read(out, kScores), Expected(6));
}

TEST_F(OpenClTest, BuffersAndEventsMayOutliveTheEnvironment) {
  Environment env = NewEnvironment();
  const Buffer buffer = NewImage(env.get(), kDense);
  LiteRtEvent made = nullptr;
  ASSERT_EQ(LiteRtCreateManagedEvent(env.get(), LiteRtEventTypeOpenCl, &made), kLiteRtStatusOk);
  const Event event(made);
  env.reset();
  Write(buffer, Image(2));
  EXPECT_EQ(Read(buffer, kPixels), Image(2));
  EXPECT_EQ(LiteRtSignalEvent(event.get()), kLiteRtStatusOk);
  EXPECT_EQ(LiteRtWaitEvent(event.get(), -1), kLiteRtStatusOk);
}

// A client's functions for a type of memory replace the library's.
TEST_F(OpenClTest, FunctionsOfTheClientHavePrecedence) {
  static int created;
  static HwMemoryInfo info;
  static void* device;
  created = 0;
  const ClContext context = NewContext();
  const Environment env = NewEnvironment({Option(kLiteRtEnvOptionTagOpenClContext, context.get())});
  const auto create = [](LiteRtGpuDeviceId given, LiteRtGpuQueueId, const LiteRtRankedTensorType*,
                         LiteRtTensorBufferType, size_t, size_t, HwMemoryInfoPtr* memory) {
    ++created;
    device = given;
    *memory = &info;
    return kLiteRtStatusOk;
  };
  const auto import = [](LiteRtGpuDeviceId, LiteRtGpuQueueId, const LiteRtRankedTensorType*,
                         LiteRtTensorBufferType, HwMemoryHandle handle, size_t, size_t,
                         HwMemoryInfoPtr* memory) {
    ++created;
    info.raw_handle = handle;
    *memory = &info;
    return kLiteRtStatusOk;
  };
  const auto destroy = [](HwMemoryInfoPtr) { return kLiteRtStatusOk; };
  ASSERT_EQ(LiteRtRegisterTensorBufferHandlers(
                env.get(), kLiteRtTensorBufferTypeOpenClTexture, create, destroy, nullptr, nullptr,
                nullptr, import, kLiteRtEnvOptionTagOpenClContext, kLiteRtEnvOptionTagNull),
            kLiteRtStatusOk);
  NewImage(env.get(), kLiteRtTensorBufferTypeOpenClTexture);
  EXPECT_EQ(created, 1);
  EXPECT_EQ(device, context.get());
  const ClMemory memory = NewMemory(context.get(), 3136);
  Buffer wrapped;
  ASSERT_EQ(Wrap(env.get(), kLiteRtTensorBufferTypeOpenClTexture, memory.get(), 3136, &wrapped),
            kLiteRtStatusOk);
  EXPECT_EQ(created, 2);
  EXPECT_EQ(MemoryOf(wrapped), memory.get());
}

// ---- Runs ---------------------------------------------------------------------------------------

TEST_F(OpenClTest, RunsReadAndWriteTheBuffersWithoutTransfers) {
  const Environment env = NewEnvironment();
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  const std::vector<LiteRtTensorBufferType> types = {kDense, kLiteRtTensorBufferTypeHostMemory};
  EXPECT_EQ(session.Types(true), types);
  EXPECT_EQ(session.Types(false), types);
  const Buffer in[] = {NewImage(env.get(), kDense), NewImage(env.get(), kDense)};
  const Buffer out = NewScores(env.get(), kDense);
  for (int run = 0; run < 4; ++run) {
    Write(in[run % 2], Image(run));
    const int before = transfers_();
    ASSERT_EQ(session.Run(in[run % 2], out), kLiteRtStatusOk);
    EXPECT_EQ(transfers_(), before) << "run " << run;
    EXPECT_EQ(Read(out, kScores), Expected(run)) << "run " << run;
  }
  const Buffer host_in = NewImage(env.get(), kLiteRtTensorBufferTypeHostMemory);
  const Buffer host_out = NewScores(env.get(), kLiteRtTensorBufferTypeHostMemory);
  Write(host_in, Image(9));
  const int before = transfers_();
  ASSERT_EQ(session.Run(host_in, host_out), kLiteRtStatusOk);
  EXPECT_EQ(transfers_(), before + 2) << "buffers in host memory are written and read";
}

TEST_F(OpenClTest, RunsMayMixAndExchangeBuffersOnHostAndDevice) {
  const Environment env = NewEnvironment();
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  int seed = 20;
  for (const int pattern : {0, 3, 0, 1, 2, 3, 2, 0, 1}) {
    const auto type = [](bool on_device) {
      return on_device ? kDense : kLiteRtTensorBufferTypeHostMemory;
    };
    // The buffers of earlier runs are gone.
    const Buffer in = NewImage(env.get(), type(pattern & 1));
    const Buffer out = NewScores(env.get(), type(pattern & 2));
    Write(in, Image(++seed));
    ASSERT_EQ(session.Run(in, out), kLiteRtStatusOk) << pattern;
    EXPECT_EQ(Read(out, kScores), Expected(seed)) << pattern;
  }
}

TEST_F(OpenClTest, BuffersThatARunCannotUseAreRefused) {
  const Environment env = NewEnvironment();
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  const Buffer in = NewImage(env.get(), kDense), out = NewScores(env.get(), kDense);
  Write(in, Image(1));
  void* address = nullptr;
  ASSERT_EQ(LiteRtLockTensorBuffer(in.get(), &address, kLiteRtTensorBufferLockModeRead),
            kLiteRtStatusOk);
  EXPECT_EQ(session.Run(in, out), kLiteRtStatusErrorRuntimeFailure) << "the input is locked";
  ASSERT_EQ(LiteRtUnlockTensorBuffer(in.get()), kLiteRtStatusOk);
  EXPECT_EQ(session.Run(in, in), kLiteRtStatusErrorInvalidArgument) << "one buffer for both";
  const Buffer small = NewBuffer(env.get(), kDense, TypeOf({1, 9}), 36);
  EXPECT_EQ(session.Run(in, small), kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(session.Run(in, out), kLiteRtStatusOk);
  EXPECT_EQ(Read(out, kScores), Expected(1));
}

TEST_F(OpenClTest, OtherContextsAndTheCpuUseMappedBuffers) {
  const Environment env = NewEnvironment();
  const ClContext context = NewContext();
  const Environment other =
      NewEnvironment({Option(kLiteRtEnvOptionTagOpenClContext, context.get())});
  const Buffer in = NewImage(other.get(), kDense), out = NewScores(other.get(), kDense);
  Write(in, Image(8));
  Session gpu(env.get(), kLiteRtHwAcceleratorGpu), cpu(env.get(), kLiteRtHwAcceleratorCpu);
  ASSERT_EQ(gpu.Run(in, out), kLiteRtStatusOk);
  EXPECT_EQ(Read(out, kScores), Expected(8));
  EXPECT_EQ(cpu.Types(true),
            std::vector<LiteRtTensorBufferType>{kLiteRtTensorBufferTypeHostMemory});
  ASSERT_EQ(cpu.Run(in, out), kLiteRtStatusOk);
  const std::vector<float> found = Read(out, kScores);
  const Buffer host_in = NewImage(env.get(), kLiteRtTensorBufferTypeHostMemory);
  const Buffer host_out = NewScores(env.get(), kLiteRtTensorBufferTypeHostMemory);
  Write(host_in, Image(8));
  ASSERT_EQ(cpu.Run(host_in, host_out), kLiteRtStatusOk);
  EXPECT_EQ(found, Read(host_out, kScores));
}

// A delegate in another process cannot use the environment's context.
TEST_F(OpenClTest, AnIsolatedDelegateUsesMappedBuffers) {
  const ScopedEnvironment isolate("DEPUTY_ISOLATE", "1");
  const Environment env = NewEnvironment();
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  EXPECT_EQ(session.Types(true),
            std::vector<LiteRtTensorBufferType>{kLiteRtTensorBufferTypeHostMemory});
  const Buffer in = NewImage(env.get(), kDense), out = NewScores(env.get(), kDense);
  Write(in, Image(4));
  ASSERT_EQ(session.Run(in, out), kLiteRtStatusOk);
  EXPECT_EQ(Read(out, kScores), Expected(4));
}

TEST_F(OpenClTest, CompiledModelsOfAnEnvironmentShareTheirPrograms) {
  const ClContext context = NewContext();
  const Environment env = NewEnvironment({Option(kLiteRtEnvOptionTagOpenClContext, context.get())});
  const Session first(env.get(), kLiteRtHwAcceleratorGpu);
  const int builds = builds_();
  const Session second(env.get(), kLiteRtHwAcceleratorGpu);
  EXPECT_EQ(builds_(), builds);
}

TEST_F(OpenClTest, ModelsRunInThreadsOfOneEnvironment) {
  for (const bool with_queue : {false, true}) {
    const ClContext context = NewContext();
    const ClQueue queue = NewQueue(context.get());
    std::vector<LiteRtEnvOption> options = {
        Option(kLiteRtEnvOptionTagOpenClContext, context.get())};
    if (with_queue) options.push_back(Option(kLiteRtEnvOptionTagOpenClCommandQueue, queue.get()));
    const Environment env = NewEnvironment(options);
    std::vector<std::vector<float>> expected;
    for (int seed = 0; seed < 4; ++seed) expected.push_back(Expected(seed));
    std::vector<std::thread> threads;
    std::vector<int> errors(4);
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        Session session(env.get(), kLiteRtHwAcceleratorGpu);
        const Buffer in = NewImage(env.get(), kDense), out = NewScores(env.get(), kDense);
        for (int run = 0; run < 10; ++run) {
          const int seed = (run + thread) % 4;
          Write(in, Image(seed));
          const bool is_right = session.Run(in, out) == kLiteRtStatusOk &&
                                Read(out, kScores) == expected[static_cast<size_t>(seed)];
          errors[static_cast<size_t>(thread)] += !is_right;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_THAT(errors, Each(0)) << with_queue;
  }
}

// ---- Events -------------------------------------------------------------------------------------

TEST_F(OpenClTest, AUserEventIsSignalledByTheClient) {
  const Environment env = NewEnvironment();
  LiteRtEvent made = nullptr;
  ASSERT_EQ(LiteRtCreateManagedEvent(env.get(), LiteRtEventTypeOpenCl, &made), kLiteRtStatusOk);
  const Event event(made);
  LiteRtEventType type = LiteRtEventTypeUnknown;
  LiteRtGetEventEventType(made, &type);
  EXPECT_EQ(type, LiteRtEventTypeOpenCl);
  bool is_signaled = true;
  EXPECT_EQ(LiteRtIsEventSignaled(made, &is_signaled), kLiteRtStatusOk);
  EXPECT_FALSE(is_signaled);
  EXPECT_EQ(LiteRtWaitEvent(made, 0), kLiteRtStatusErrorTimeoutExpired);
  EXPECT_EQ(LiteRtWaitEvent(made, 5), kLiteRtStatusErrorTimeoutExpired);
  std::thread signals([&] { LiteRtSignalEvent(made); });
  EXPECT_EQ(LiteRtWaitEvent(made, -1), kLiteRtStatusOk);
  signals.join();
  EXPECT_EQ(LiteRtIsEventSignaled(made, &is_signaled), kLiteRtStatusOk);
  EXPECT_TRUE(is_signaled);
  EXPECT_EQ(LiteRtWaitEvent(made, INT64_MAX), kLiteRtStatusOk);
  EXPECT_EQ(LiteRtSignalEvent(made), kLiteRtStatusErrorRuntimeFailure) << "it is signalled already";
  int file = -1;
  EXPECT_EQ(LiteRtGetEventSyncFenceFd(made, &file), kLiteRtStatusErrorUnsupported);
  EXPECT_EQ(LiteRtDupFdEvent(made, &file), kLiteRtStatusErrorInvalidArgument);
}

TEST_F(OpenClTest, AnEventOfTheClientIsRetained) {
  const Environment env = NewEnvironment();
  const ClContext context = NewContext();
  const ClQueue queue = NewQueue(context.get());
  cl_int code = CL_SUCCESS;
  ClEvent gate(api_.get(), api_->CreateUserEvent(context.get(), &code));
  cl_event raw = gate.get();
  cl_event marker = nullptr;
  ASSERT_EQ(api_->EnqueueMarkerWithWaitList(queue.get(), 1, &raw, &marker), CL_SUCCESS);
  ClEvent own(api_.get(), marker);
  LiteRtEvent made = nullptr;
  ASSERT_EQ(LiteRtCreateEventFromOpenClEvent(env.get(), marker, &made), kLiteRtStatusOk);
  const Event event(made);
  LiteRtClEvent found = nullptr;
  ASSERT_EQ(LiteRtGetEventOpenClEvent(made, &found), kLiteRtStatusOk);
  EXPECT_EQ(found, marker);
  own.Reset();
  EXPECT_EQ(LiteRtWaitEvent(made, 1), kLiteRtStatusErrorTimeoutExpired);
  ASSERT_EQ(api_->SetUserEventStatus(gate.get(), CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(LiteRtWaitEvent(made, INT64_MAX), kLiteRtStatusOk)
      << "waiting flushes the client's queue";
  EXPECT_EQ(LiteRtSignalEvent(made), kLiteRtStatusErrorRuntimeFailure) << "no user event";
  EXPECT_EQ(LiteRtCreateEventFromOpenClEvent(env.get(), nullptr, &made),
            kLiteRtStatusErrorRuntimeFailure);
  LiteRtEvent custom = nullptr;
  LiteRtCreateManagedEvent(env.get(), LiteRtEventTypeCustom, &custom);
  EXPECT_EQ(LiteRtGetEventOpenClEvent(custom, &found), kLiteRtStatusErrorUnsupported);
  LiteRtDestroyEvent(custom);
}

TEST_F(OpenClTest, AFailedCommandIsAnError) {
  const Environment env = NewEnvironment();
  const ClContext context = NewContext();
  cl_int code = CL_SUCCESS;
  const ClEvent failed(api_.get(), api_->CreateUserEvent(context.get(), &code));
  ASSERT_EQ(api_->SetUserEventStatus(failed.get(), CL_OUT_OF_RESOURCES), CL_SUCCESS);
  LiteRtEvent made = nullptr;
  ASSERT_EQ(LiteRtCreateEventFromOpenClEvent(env.get(), failed.get(), &made), kLiteRtStatusOk);
  bool is_signaled = false;
  EXPECT_EQ(LiteRtIsEventSignaled(made, &is_signaled), kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(LiteRtWaitEvent(made, 1), kLiteRtStatusErrorRuntimeFailure);
  EXPECT_EQ(LiteRtWaitEvent(made, -1), kLiteRtStatusErrorRuntimeFailure);
  // The buffer owns the event; a run that waits for it fails.
  const Buffer in = NewImage(env.get(), kDense), out = NewScores(env.get(), kDense);
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  ASSERT_EQ(LiteRtSetTensorBufferEvent(in.get(), made), kLiteRtStatusOk);
  EXPECT_EQ(session.Run(in, out), kLiteRtStatusErrorRuntimeFailure);
}

TEST_F(OpenClTest, ARunWaitsForTheEventOfAnInput) {
  const Environment env = NewEnvironment();
  Session session(env.get(), kLiteRtHwAcceleratorGpu);
  auto* const context = static_cast<cl_context>(ObjectOf(env, kLiteRtEnvOptionTagOpenClContext));
  const Buffer in = NewImage(env.get(), kDense), out = NewScores(env.get(), kDense);
  Write(in, Image(0));
  // The client's queue writes another image once the gate opens.
  const ClQueue queue = NewQueue(context);
  cl_int code = CL_SUCCESS;
  const ClEvent gate(api_.get(), api_->CreateUserEvent(context, &code));
  cl_event raw = gate.get(), written = nullptr;
  const std::vector<float> image = Image(7);
  ASSERT_EQ(api_->EnqueueWriteBuffer(queue.get(), MemoryOf(in), CL_FALSE, 0,
                                     kPixels * sizeof(float), image.data(), 1, &raw, &written),
            CL_SUCCESS);
  LiteRtEvent event = nullptr;
  ASSERT_EQ(LiteRtCreateEventFromOpenClEvent(env.get(), written, &event), kLiteRtStatusOk);
  api_->ReleaseEvent(written);
  ASSERT_EQ(LiteRtSetTensorBufferEvent(in.get(), event), kLiteRtStatusOk);
  std::thread opens([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    api_->SetUserEventStatus(gate.get(), CL_COMPLETE);
  });
  EXPECT_EQ(session.Run(in, out), kLiteRtStatusOk);
  opens.join();
  EXPECT_EQ(Read(out, kScores), Expected(7));
}

}  // namespace
}  // namespace deputy::litert::litert_opencl_test
