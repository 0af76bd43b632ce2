// SPDX-License-Identifier: Apache-2.0
//
// Tests deputy_gpu.h from a client's view: its functions, loaded from the built library, and
// contexts and queues provided by clients.
#include "c_api/include/deputy_gpu.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/gpu_delegate.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/device/cl_api.h"
#include "gpu_cl/device/device.h"
#include "gpu_cl/gpu_delegate.h"
#include "gpu_cl/options.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/paths.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_public_test {
namespace {

using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

// ---- Options ------------------------------------------------------------------------------------

std::string Problem(const DeputyGpuOptions& given) {
  Options options;
  return FromPublic(given, &options);
}

TEST(GpuPublicOptionsTest, defaults_equal_those_of_text_options) {
  const DeputyGpuOptions defaults = PublicDefaults();
  EXPECT_EQ(defaults.struct_size, sizeof(DeputyGpuOptions));
  EXPECT_STREQ(defaults.device, "");
  EXPECT_EQ(defaults.device_class, kDeputyGpuDeviceClassAuto);
  EXPECT_EQ(defaults.precision, kDeputyGpuPrecisionFp32);
  EXPECT_EQ(defaults.quantized, 1);
  EXPECT_EQ(defaults.quantized_arithmetic, kDeputyGpuQuantizedArithmeticAuto);
  EXPECT_EQ(defaults.force, 0);
  EXPECT_EQ(defaults.max_partitions, 0);
  EXPECT_EQ(defaults.min_gain_us, -1e9);
  EXPECT_EQ(defaults.preference, kDeputyGpuPreferenceSingleAnswer);
  EXPECT_EQ(defaults.tuning, kDeputyGpuTuningNone);
  EXPECT_STREQ(defaults.cache_dir, "");
  EXPECT_STREQ(defaults.cache_token, "");
  EXPECT_EQ(defaults.cache_max_mb, 256);
  EXPECT_EQ(defaults.profiling, 0);
  EXPECT_EQ(defaults.describe, 0);
  EXPECT_EQ(defaults.keep_outputs, 0);
  EXPECT_EQ(defaults.optimize, 1);
  EXPECT_EQ(defaults.kept_plans, 4);
  EXPECT_EQ(defaults.overlapped_tasks, -1);
  EXPECT_EQ(defaults.storage, kDeputyGpuStorageAuto);
  EXPECT_EQ(defaults.cl_context, nullptr);
  EXPECT_EQ(defaults.cl_command_queue, nullptr);
}

TEST(GpuPublicOptionsTest, every_field_is_read) {
  DeputyGpuOptions given = PublicDefaults();
  int context, queue;
  given.device = "NVIDIA";
  given.device_class = kDeputyGpuDeviceClassMobile;
  given.precision = kDeputyGpuPrecisionFp16;
  given.quantized = 0;
  given.quantized_arithmetic = kDeputyGpuQuantizedArithmeticFloat;
  given.force = 7;
  given.max_partitions = 3;
  given.min_gain_us = -2.5;
  given.preference = kDeputyGpuPreferenceBalanced;
  given.tuning = kDeputyGpuTuningFast;
  given.cache_dir = "/tmp/x";
  given.cache_token = "net";
  given.cache_max_mb = 1;
  given.profiling = 1;
  given.describe = 1;
  given.keep_outputs = 1;
  given.optimize = 0;
  given.kept_plans = 7;
  given.overlapped_tasks = 16;
  given.storage = kDeputyGpuStorageImage3d;
  given.cl_context = &context;
  given.cl_command_queue = &queue;
  Options options;
  ASSERT_EQ(FromPublic(given, &options), "");
  EXPECT_EQ(options.device, "NVIDIA");
  EXPECT_EQ(options.device_class, ClassChoice::kMobile);
  EXPECT_EQ(options.precision, Precision::kFp16);
  EXPECT_FALSE(options.quantized);
  EXPECT_EQ(options.quantized_arithmetic, QuantizedArithmetic::kFloat);
  EXPECT_TRUE(options.force);
  EXPECT_EQ(options.max_partitions, 3);
  EXPECT_EQ(options.min_gain_us, -2.5);
  EXPECT_EQ(options.preference, Preference::kBalanced);
  EXPECT_EQ(options.tuning, Tuning::kFast);
  EXPECT_EQ(options.cache_dir, "/tmp/x");
  EXPECT_EQ(options.cache_token, "net");
  EXPECT_EQ(options.cache_max_mb, 1);
  EXPECT_TRUE(options.profiling);
  EXPECT_TRUE(options.describe);
  EXPECT_TRUE(options.keep_outputs);
  EXPECT_FALSE(options.optimize);
  EXPECT_EQ(options.kept_plans, 7);
  EXPECT_EQ(options.overlapped_tasks, 16);
  EXPECT_EQ(options.storage, StorageChoice::kImage3d);
  EXPECT_EQ(options.context, &context);
  EXPECT_EQ(options.queue, &queue);
}

TEST(GpuPublicOptionsTest, null_texts_are_the_defaults) {
  DeputyGpuOptions given = PublicDefaults();
  given.device = given.cache_dir = given.cache_token = nullptr;
  Options options;
  EXPECT_EQ(FromPublic(given, &options), "");
  EXPECT_EQ(options.device, "");
}

TEST(GpuPublicOptionsTest, wrong_fields_are_reported_and_change_nothing) {
  DeputyGpuOptions given = PublicDefaults();
  given.precision = 3;
  EXPECT_EQ(Problem(given),
            "option 'precision': expected a number of fp32, fp16 or auto, found '3'");
  given.precision = -1;
  EXPECT_EQ(Problem(given),
            "option 'precision': expected a number of fp32, fp16 or auto, found '-1'");
  given = PublicDefaults();
  given.cache_max_mb = 0;
  Options options;
  options.device = "kept";
  EXPECT_EQ(FromPublic(given, &options),
            "option 'cache_max_mb': expected a whole number from 1 to 1000000, found '0'");
  EXPECT_EQ(options.device, "kept");
}

TEST(GpuPublicOptionsTest, struct_of_another_size_is_read_up_to_its_known_fields) {
  DeputyGpuOptions given = PublicDefaults();
  given.struct_size = offsetof(DeputyGpuOptions, kept_plans) - 1;
  EXPECT_THAT(Problem(given), HasSubstr("expected a struct_size of at least"));
  // With this size the struct ends before kept_plans; members from there on have their default
  // values.
  given.struct_size = offsetof(DeputyGpuOptions, kept_plans);
  given.kept_plans = -1;
  EXPECT_EQ(Problem(given), "");
  given.struct_size = sizeof given;
  EXPECT_THAT(Problem(given), HasSubstr("option 'kept_plans'"));
  struct {
    DeputyGpuOptions known = PublicDefaults();
    int64_t newer = -1;
  } larger;
  larger.known.struct_size = sizeof larger;
  EXPECT_EQ(Problem(larger.known), "");
}

TEST(GpuPublicDeviceTest, device_has_its_known_properties) {
  Device device;
  device.index = 3;
  device.profile.name = "H200";
  device.profile.vendor = "NVIDIA";
  device.profile.platform_name = "CUDA";
  device.profile.platform_version = "OpenCL 3.0";
  device.profile.device_version = "OpenCL 3.0 CUDA";
  device.profile.driver_version = "550";
  device.profile.extensions = "cl_khr_fp16";
  device.profile.kind = DeviceKind::kDiscreteGpu;
  device.profile.device_class = DeviceClass::kDesktop;
  device.profile.usable = device.profile.lists_fp16 = true;
  device.profile.global_bytes = uint64_t{140} << 30;
  device.profile.max_allocation = uint64_t{35} << 30;
  device.profile.compute_units = 132;
  const DeputyDeviceInfo info = PublicInfo(device);
  EXPECT_EQ(info.struct_size, sizeof info);
  EXPECT_EQ(info.index, 3);
  EXPECT_EQ(info.usable, 1);
  EXPECT_STREQ(info.platform, "CUDA");
  EXPECT_STREQ(info.platform_version, "OpenCL 3.0");
  EXPECT_STREQ(info.name, "H200");
  EXPECT_STREQ(info.vendor, "NVIDIA");
  EXPECT_STREQ(info.type, "discrete GPU");
  EXPECT_STREQ(info.device_class, "desktop");
  EXPECT_STREQ(info.version, "OpenCL 3.0 CUDA");
  EXPECT_STREQ(info.driver_version, "550");
  EXPECT_STREQ(info.extensions, "cl_khr_fp16");
  EXPECT_EQ(info.memory_bytes, uint64_t{140} << 30);
  EXPECT_EQ(info.max_buffer_bytes, uint64_t{35} << 30);
  EXPECT_EQ(info.compute_units, 132u);
  EXPECT_EQ(info.fp16, 1);
  EXPECT_EQ(info.power_class, kDeputyPowerHigh);
  EXPECT_EQ(info.preferred_layout, kDeputyLayoutNhwc);
  EXPECT_STREQ(info.preferred_precision, "fp16");
  EXPECT_STREQ(info.options, "");
}

TEST(GpuPublicDeviceTest, power_class_and_precision_depend_on_the_kind) {
  Device device;
  DeviceProfile& profile = device.profile;
  profile.lists_fp16 = true;
  profile.kind = DeviceKind::kIntegratedGpu;
  EXPECT_EQ(PublicInfo(device).power_class, kDeputyPowerMedium);
  profile.device_class = DeviceClass::kMobile;
  EXPECT_EQ(PublicInfo(device).power_class, kDeputyPowerLow);
  profile.kind = DeviceKind::kAccelerator;
  EXPECT_EQ(PublicInfo(device).power_class, kDeputyPowerUnknown);
  EXPECT_STREQ(PublicInfo(device).preferred_precision, "fp16");
  profile.kind = DeviceKind::kCpu;
  EXPECT_EQ(PublicInfo(device).power_class, kDeputyPowerMedium);
  EXPECT_STREQ(PublicInfo(device).preferred_precision, "fp32");
}

// ---- The library --------------------------------------------------------------------------------

template <typename Function>
Function* Find(const char* name) {
  static void* const library = dlopen(BuildPath("libdeputy_gpu.so").c_str(), RTLD_NOW);
  EXPECT_NE(library, nullptr) << dlerror();
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  EXPECT_NE(found, nullptr) << name;
  return reinterpret_cast<Function*>(found);
}

std::string LastError() { return Find<decltype(DeputyGpuLastError)>("DeputyGpuLastError")(); }

TEST(GpuLibraryTest, lists_the_available_devices) {
  if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
  std::vector<Device> expected;
  ASSERT_TRUE(ListDevices(*RealCl().api, &expected).ok());
  std::vector<std::string> names;
  const auto list = Find<decltype(DeputyGpuListDevices)>("DeputyGpuListDevices");
  const auto note = [](void* data, const DeputyDeviceInfo* device) {
    auto* to = static_cast<std::vector<std::string>*>(data);
    EXPECT_EQ(device->index, static_cast<int32_t>(to->size()));
    EXPECT_EQ(device->struct_size, sizeof *device);
    to->emplace_back(device->name);
  };
  EXPECT_EQ(list(note, &names), kTfLiteOk);
  ASSERT_EQ(names.size(), expected.size());
  for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[i], expected[i].profile.name);
  EXPECT_EQ(list(nullptr, nullptr), kTfLiteOk);
}

TEST(GpuLibraryTest, missing_opencl_is_reported_on_the_calling_thread) {
  const ScopedEnvironment none("DEPUTY_OPENCL_LIBRARY", "none");
  const auto list = Find<decltype(DeputyGpuListDevices)>("DeputyGpuListDevices");
  std::thread([&] {
    EXPECT_EQ(LastError(), "");
    EXPECT_EQ(list(nullptr, nullptr), kTfLiteError);
    EXPECT_EQ(LastError(), "no OpenCL: disabled by DEPUTY_OPENCL_LIBRARY=none");
  }).join();
  const auto create = Find<decltype(DeputyGpuDelegateCreate)>("DeputyGpuDelegateCreate");
  EXPECT_EQ(create(nullptr), nullptr);
  EXPECT_EQ(LastError(), "no OpenCL: disabled by DEPUTY_OPENCL_LIBRARY=none");
  DeputyGpuOptions wrong = Find<decltype(DeputyGpuOptionsDefault)>("DeputyGpuOptionsDefault")();
  wrong.struct_size = 8;
  EXPECT_EQ(create(&wrong), nullptr);
  EXPECT_THAT(LastError(), HasSubstr("found 8"));
  Find<decltype(DeputyGpuDelegateDelete)>("DeputyGpuDelegateDelete")(nullptr);
}

void ExpectItComputes(TfLiteDelegate* gpu) {
  TestInterpreter t(ImageModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FirstDelegate(t).node_count, 6);
  SetImage(&t);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), ImageResultOnCpu()));
}

TEST(GpuLibraryTest, creates_a_delegate_that_computes) {
  if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
  const auto create = Find<decltype(DeputyGpuDelegateCreate)>("DeputyGpuDelegateCreate");
  TfLiteDelegate* gpu = create(nullptr);
  ASSERT_NE(gpu, nullptr) << LastError();
  ExpectItComputes(gpu);
  Find<decltype(DeputyGpuDelegateDelete)>("DeputyGpuDelegateDelete")(gpu);
}

// SmallModel computes max(x + [1, 2, -1, 0.5], 0) * 2.
TEST(GpuLibraryTest, host_memory_is_allocated_for_tensors) {
  if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
  const auto allocate = Find<decltype(DeputyGpuAllocateHostMemory)>("DeputyGpuAllocateHostMemory");
  const auto release = Find<decltype(DeputyGpuFreeHostMemory)>("DeputyGpuFreeHostMemory");
  TfLiteDelegate* gpu = Find<decltype(DeputyGpuDelegateCreate)>("DeputyGpuDelegateCreate")(nullptr);
  ASSERT_NE(gpu, nullptr) << LastError();
  auto* const x = static_cast<float*>(allocate(gpu, 16));
  auto* const y = static_cast<float*>(allocate(gpu, 16));
  ASSERT_TRUE(x != nullptr && y != nullptr) << LastError();
  {
    TestInterpreter t(SmallModel());
    const TfLiteCustomAllocation input = {x, 16}, output = {y, 16};
    const int first = TfLiteInterpreterInputTensorIndices(t.get())[0];
    const int last = TfLiteInterpreterOutputTensorIndices(t.get())[0];
    EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), first, &input, 0), kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu), kTfLiteOk) << t.log();
    EXPECT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), last, &output, 0), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 2);
    const float values[] = {1, -3, 4, 7};
    std::copy_n(values, 4, x);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{4, 0, 6, 15}));
  }
  EXPECT_EQ(release(x), kTfLiteOk);
  Find<decltype(DeputyGpuDelegateDelete)>("DeputyGpuDelegateDelete")(gpu);
  EXPECT_EQ(release(y), kTfLiteOk) << "after the delegate";
  EXPECT_EQ(release(y), kTfLiteError);
  EXPECT_EQ(LastError(), "expected memory of DeputyGpuAllocateHostMemory");
  EXPECT_EQ(allocate(nullptr, 16), nullptr);
  EXPECT_THAT(LastError(), HasSubstr("expected a delegate"));
}

// ---- Upstream's functions -----------------------------------------------------------------------

// The literals are the values of TensorFlow Lite's delegate_options.cc.
TEST(GpuLibraryTest, v2_defaults_equal_upstreams) {
  const TfLiteGpuDelegateOptionsV2 options =
      Find<decltype(TfLiteGpuDelegateOptionsV2Default)>("TfLiteGpuDelegateOptionsV2Default")();
  EXPECT_EQ(options.is_precision_loss_allowed, -1);
  EXPECT_EQ(options.inference_preference, 0);  // FAST_SINGLE_ANSWER
  EXPECT_EQ(options.inference_priority1, 1);   // MAX_PRECISION
  EXPECT_EQ(options.inference_priority2, 0);   // AUTO
  EXPECT_EQ(options.inference_priority3, 0);
  EXPECT_EQ(options.experimental_flags, 1);  // ENABLE_QUANT
  EXPECT_EQ(options.max_delegated_partitions, 1);
  EXPECT_EQ(options.serialization_dir, nullptr);
  EXPECT_EQ(options.model_token, nullptr);
}

// Returns {partitions, nodes} of a delegate made by TfLiteGpuDelegateV2Create; null `options`
// select the defaults.
std::pair<int, int> ClaimedByV2(const TfLiteGpuDelegateOptionsV2* options,
                                const std::vector<uint8_t>& model) {
  TfLiteDelegate* gpu =
      Find<decltype(TfLiteGpuDelegateV2Create)>("TfLiteGpuDelegateV2Create")(options);
  std::pair<int, int> taken;
  {
    TestInterpreter t(model);
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu), kTfLiteOk) << t.log();
    taken = {FirstDelegate(t).partition_count, FirstDelegate(t).node_count};
  }
  Find<decltype(TfLiteGpuDelegateV2Delete)>("TfLiteGpuDelegateV2Delete")(gpu);
  return taken;
}

TEST(GpuLibraryTest, v2_options_change_claims_and_cache_files) {
  if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
  const auto defaults =
      Find<decltype(TfLiteGpuDelegateOptionsV2Default)>("TfLiteGpuDelegateOptionsV2Default");
  EXPECT_EQ(ClaimedByV2(nullptr, DividedModel()), std::pair(1, 2));
  TfLiteGpuDelegateOptionsV2 options = defaults();
  EXPECT_EQ(ClaimedByV2(&options, DividedModel()), std::pair(1, 2));
  options.max_delegated_partitions = 2;
  EXPECT_EQ(ClaimedByV2(&options, DividedModel()), std::pair(2, 3));
  options = defaults();
  EXPECT_EQ(ClaimedByV2(&options, IntegerModel(kTfLiteInt8)).second, 1);
  options.experimental_flags = TFLITE_GPU_EXPERIMENTAL_FLAGS_NONE;
  EXPECT_EQ(ClaimedByV2(&options, IntegerModel(kTfLiteInt8)).second, 0);
  const std::string folder = testing::TempDir() + "gpu_v2_" + std::to_string(getpid());
  for (const int64_t flag : {int64_t{TFLITE_GPU_EXPERIMENTAL_FLAGS_NONE},
                             int64_t{TFLITE_GPU_EXPERIMENTAL_FLAGS_ENABLE_SERIALIZATION}}) {
    options = defaults();
    options.experimental_flags |= flag;
    options.serialization_dir = folder.c_str();
    options.model_token = "small";
    EXPECT_EQ(ClaimedByV2(&options, SmallModel()), std::pair(1, 2));
    EXPECT_EQ(std::filesystem::exists(folder), flag != TFLITE_GPU_EXPERIMENTAL_FLAGS_NONE);
  }
  std::filesystem::remove_all(folder);
}

// ---- Contexts and queues of the client ----------------------------------------------------------

class GpuClientObjectsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
    std::vector<Device> devices;
    ASSERT_TRUE(ListDevices(*RealCl().api, &devices).ok());
    ASSERT_TRUE(ChooseDevice(devices, "", &device_).ok());
    context_ = NewContext();
    queue_ = NewQueue(context_.get(), 0);
    spy_ = std::make_unique<ClSpy>(*RealCl().api);
  }
  void TearDown() override {
    if (spy_ != nullptr) {
      EXPECT_EQ(spy_->Unbalanced(), "");
    }
  }
  ClContext NewContext() const {
    cl_int code = CL_SUCCESS;
    ClContext context(RealCl().api.get(), RealCl().api->CreateContext(nullptr, 1, &device_.id,
                                                                      nullptr, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return context;
  }
  ClQueue NewQueue(cl_context context, cl_command_queue_properties properties) const {
    cl_int code = CL_SUCCESS;
    ClQueue queue(RealCl().api.get(),
                  RealCl().api->CreateCommandQueue(context, device_.id, properties, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return queue;
  }
  // Creates a delegate on OpenCL objects of the client; returns null, with the message in error_,
  // on failure.
  TfLiteDelegate* Create(cl_context context, cl_command_queue queue, bool profiling = false) {
    Options options;
    options.context = context;
    options.queue = queue;
    options.profiling = profiling;
    error_.clear();
    return CreateDelegateOn(spy_->api(), options, &error_);
  }

  Device device_;
  ClContext context_;
  ClQueue queue_;
  std::unique_ptr<ClSpy> spy_;
  std::string error_;
};

// SmallModel computes max(x + [1, 2, -1, 0.5], 0) * 2.
TEST_F(GpuClientObjectsTest, buffers_are_bound_and_unbound_by_exported_functions) {
  const auto bind = Find<decltype(DeputyGpuBindBuffer)>("DeputyGpuBindBuffer");
  const auto unbind = Find<decltype(DeputyGpuUnbindBuffer)>("DeputyGpuUnbindBuffer");
  DeputyGpuOptions options = Find<decltype(DeputyGpuOptionsDefault)>("DeputyGpuOptionsDefault")();
  options.cl_context = context_.get();
  TfLiteDelegate* gpu =
      Find<decltype(DeputyGpuDelegateCreate)>("DeputyGpuDelegateCreate")(&options);
  ASSERT_NE(gpu, nullptr) << LastError();
  std::vector<float> contents = {1, -3, 4, 7};
  cl_int code = CL_SUCCESS;
  cl_mem buffer = RealCl().api->CreateBuffer(
      context_.get(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 16, contents.data(), &code);
  ASSERT_EQ(code, CL_SUCCESS);
  {
    TestInterpreter t(SmallModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    TfLiteTensor* input = TfLiteInterpreterGetInputTensor(t.get(), 0);
    t.Set<float>(0, {0, 0, 0, 0});
    ASSERT_EQ(bind(gpu, input, buffer, 0), kTfLiteOk) << LastError();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), testing::ElementsAre(4, 0, 6, 15));
    EXPECT_EQ(unbind(gpu, input), kTfLiteOk) << LastError();
    t.Set<float>(0, {0, 0, 0, 0});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), testing::ElementsAre(2, 4, 0, 1));
    EXPECT_EQ(unbind(gpu, input), kTfLiteError);
    EXPECT_NE(LastError(), "");
    EXPECT_EQ(bind(gpu, input, buffer, 4), kTfLiteError) << "it is too small from there on";
    EXPECT_EQ(bind(gpu, input, nullptr, 0), kTfLiteError);
  }
  RealCl().api->ReleaseMemObject(buffer);
  Find<decltype(DeputyGpuDelegateDelete)>("DeputyGpuDelegateDelete")(gpu);
}

TEST_F(GpuClientObjectsTest, are_used_and_not_released) {
  for (const bool with_queue : {false, true}) {
    TfLiteDelegate* gpu = Create(context_.get(), with_queue ? queue_.get() : nullptr);
    ASSERT_NE(gpu, nullptr) << error_;
    const int64_t queues = spy_->calls()["CreateCommandQueue"];
    ExpectItComputes(gpu);
    EXPECT_EQ(spy_->calls()["CreateContext"], 0);
    EXPECT_EQ(spy_->calls()["CreateCommandQueue"] - queues, with_queue ? 0 : 1);
    DestroyDelegate(gpu);
    EXPECT_EQ(spy_->Unbalanced(), "");
  }
  EXPECT_EQ(RealCl().api->Finish(queue_.get()), CL_SUCCESS);
}

TEST_F(GpuClientObjectsTest, queue_receives_all_commands) {
  Options options;
  options.queue = queue_.get();
  options.overlapped_tasks = 3;
  TfLiteDelegate* gpu = CreateDelegateOn(spy_->api(), options, &error_);
  ASSERT_NE(gpu, nullptr) << error_;
  EXPECT_EQ(OverlappedTasks(Of(gpu)), 0u);
  std::string ignored;
  const auto add = [](void* data, const DeputyOptionUse* use) {
    if (use->name == std::string("overlapped_tasks")) *static_cast<std::string*>(data) = use->text;
  };
  DeputyDelegateReport report{};
  EXPECT_EQ(ReportDelegate(gpu, &report, add, &ignored), kTfLiteOk);
  EXPECT_EQ(ignored, "cl_command_queue receives all commands");
  DestroyDelegate(gpu);
}

TEST_F(GpuClientObjectsTest, queue_implies_its_context) {
  TfLiteDelegate* gpu = Create(nullptr, queue_.get());
  ASSERT_NE(gpu, nullptr) << error_;
  ExpectItComputes(gpu);
  EXPECT_EQ(spy_->calls()["CreateContext"], 0);
  DestroyDelegate(gpu);
}

TEST_F(GpuClientObjectsTest, mismatched_objects_are_refused) {
  const ClContext other = NewContext();
  EXPECT_EQ(Create(other.get(), queue_.get()), nullptr);
  EXPECT_EQ(error_,
            "cl_command_queue: expected a queue of cl_context, found one of another context");
  EXPECT_EQ(Create(nullptr, queue_.get(), true), nullptr);
  EXPECT_THAT(error_, HasSubstr("expected a queue with profiling"));
  const ClQueue unordered = NewQueue(context_.get(), CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  EXPECT_EQ(Create(nullptr, unordered.get()), nullptr);
  EXPECT_EQ(error_, "cl_command_queue: expected an in-order queue");
}

TEST_F(GpuClientObjectsTest, failed_calls_do_not_leak) {
  for (const char* function : {"GetCommandQueueInfo", "RetainContext", "RetainCommandQueue"}) {
    spy_->Fail(function, 0, CL_OUT_OF_RESOURCES);
    EXPECT_EQ(Create(context_.get(), queue_.get()), nullptr);
    EXPECT_EQ(error_, "cl" + std::string(function) + ": CL_OUT_OF_RESOURCES (-5)");
    EXPECT_EQ(spy_->Unbalanced(), "");
  }
  spy_->Fail("GetContextInfo", 0, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(Create(context_.get(), nullptr), nullptr);
  EXPECT_EQ(error_, "clGetContextInfo: CL_OUT_OF_RESOURCES (-5)");
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_public_test
