// SPDX-License-Identifier: Apache-2.0
//
// Tests the list of devices, the choice of one, and shared contexts: on fictitious devices, and on
// those of the machine.
#include "gpu_cl/device/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpu_cl/device/half_probe.h"
#include "tests/gpu_cl/gpu_fake_cl.h"
#include "tests/gpu_cl/gpu_spy.h"

namespace deputy::gpu_cl::gpu_device_test {
namespace {

using testing::HasSubstr;

const FakeDevice kCpuDevice = {"pthread-server", "GenuineIntel", CL_DEVICE_TYPE_CPU,
                               0x8086,           CL_TRUE,        CL_GLOBAL};
const FakeDevice kIntegrated = {"Iris Xe Graphics", "Intel(R) Corporation", CL_DEVICE_TYPE_GPU,
                                0x8086, CL_TRUE};
const FakeDevice kDiscrete = {"H200", "NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0x10de};
const FakeDevice kMali = {"Mali-G78", "ARM", CL_DEVICE_TYPE_GPU, 0x92020010, CL_TRUE, CL_GLOBAL};
const FakeDevice kAccelerator = {"FPGA board", "Some Vendor", CL_DEVICE_TYPE_ACCELERATOR, 0x1234};

class DeviceChoiceTest : public testing::Test {
 protected:
  void SetUp() override { unsetenv("DEPUTY_OPENCL_DEVICE"); }
  void TearDown() override { unsetenv("DEPUTY_OPENCL_DEVICE"); }

  void List(std::vector<FakePlatform> platforms) {
    SetFakePlatforms(std::move(platforms));
    status_ = ListDevices(*FakeCl(), &devices_);
  }

  void ListAll() {
    List({{"Portable Computing Language", {kCpuDevice}},
          {"Vendor One", {kAccelerator, kIntegrated}},
          {"Vendor Two", {kMali, kDiscrete}}});
  }

  // Returns the name of the chosen device, or the reason why there is none.
  std::string Chosen(const std::string& selection) const {
    Device device;
    const ClStatus status = ChooseDevice(devices_, selection, &device);
    return status.ok() ? device.profile.name : status.text;
  }

  std::vector<Device> devices_;
  ClStatus status_;
};

TEST_F(DeviceChoiceTest, devices_are_numbered_over_all_platforms) {
  ListAll();
  ASSERT_TRUE(status_.ok()) << status_.text;
  ASSERT_EQ(devices_.size(), 5u);
  for (size_t i = 0; i < devices_.size(); ++i) EXPECT_EQ(devices_[i].index, i);
  EXPECT_EQ(devices_[4].profile.name, "H200");
  EXPECT_EQ(devices_[4].profile.platform_name, "Vendor Two");
  EXPECT_EQ(devices_[4].profile.base_alignment, 512u);
  EXPECT_EQ(devices_[4].profile.max_item_sizes[1], 512u);
}

TEST_F(DeviceChoiceTest, default_is_the_discrete_gpu_then_integrated_then_accelerator_then_cpu) {
  ListAll();
  EXPECT_EQ(Chosen(""), "H200");
  List({{"One", {kCpuDevice, kAccelerator, kIntegrated}}});
  EXPECT_EQ(Chosen(""), "Iris Xe Graphics");
  List({{"One", {kCpuDevice, kAccelerator}}});
  EXPECT_EQ(Chosen(""), "FPGA board");
  List({{"One", {kCpuDevice}}});
  EXPECT_EQ(Chosen(""), "pthread-server");
}

TEST_F(DeviceChoiceTest, device_is_selected_by_index_type_or_part_of_a_name) {
  ListAll();
  EXPECT_EQ(Chosen("0"), "pthread-server");
  EXPECT_EQ(Chosen("3"), "Mali-G78");
  EXPECT_EQ(Chosen("gpu"), "H200");
  EXPECT_EQ(Chosen("CPU"), "pthread-server");
  EXPECT_EQ(Chosen("accelerator"), "FPGA board");
  EXPECT_EQ(Chosen("iris"), "Iris Xe Graphics");
  EXPECT_EQ(Chosen("Corporation"), "H200") << "the vendor of two devices; the better one is taken";
  EXPECT_EQ(Chosen("portable"), "pthread-server");
}

TEST_F(DeviceChoiceTest, unknown_selection_is_reported_with_the_available_devices) {
  ListAll();
  const std::string text = Chosen("voodoo");
  EXPECT_THAT(text, HasSubstr("OpenCL device 'voodoo': expected an index, gpu, accelerator, cpu"));
  EXPECT_THAT(text,
              HasSubstr("0: pthread-server (CPU, Portable Computing Language), 1: FPGA board"));
  EXPECT_THAT(Chosen("5"), HasSubstr("OpenCL device '5'"));
  List({{"One", {kCpuDevice}}});
  EXPECT_THAT(Chosen("gpu"), HasSubstr("OpenCL device 'gpu'"));
}

TEST_F(DeviceChoiceTest, environment_is_used_if_the_option_is_empty) {
  ListAll();
  setenv("DEPUTY_OPENCL_DEVICE", "mali", 1);
  EXPECT_EQ(Chosen(""), "Mali-G78");
  EXPECT_EQ(Chosen("cpu"), "pthread-server");
}

TEST_F(DeviceChoiceTest, unusable_device_is_listed_but_not_selected) {
  FakeDevice away = kDiscrete;
  away.available = CL_FALSE;
  FakeDevice without_compiler = kIntegrated;
  without_compiler.compiler_available = CL_FALSE;
  List({{"One", {away, without_compiler, kCpuDevice}}});
  EXPECT_EQ(Chosen(""), "pthread-server");
  EXPECT_THAT(Chosen("0"), HasSubstr("0: H200 (discrete GPU, One, not usable)"));
  EXPECT_THAT(Chosen("1"), HasSubstr("is not available, or has no compiler"));
  List({{"One", {away}}});
  EXPECT_THAT(Chosen(""), HasSubstr("no usable OpenCL device; found 0: H200"));
}

TEST_F(DeviceChoiceTest, classes_follow_type_vendor_and_memory) {
  FakeDevice unknown = {"Mystery", "Unknown", CL_DEVICE_TYPE_GPU, 0x4711};
  FakeDevice jetson = kDiscrete;
  jetson.unified_memory = CL_TRUE;
  FakeDevice adreno = {"QUALCOMM Adreno(TM)", "QUALCOMM", CL_DEVICE_TYPE_GPU, 0x5143, CL_TRUE};
  List({{"One", {kCpuDevice, kIntegrated, kDiscrete, kMali, adreno, unknown, jetson}}});
  std::vector<std::string> classes;
  std::vector<bool> known;
  for (const Device& device : devices_) {
    classes.emplace_back(ClassName(device.profile.device_class));
    known.push_back(device.profile.known);
  }
  EXPECT_THAT(classes, testing::ElementsAre("cpu", "desktop", "desktop", "mobile", "mobile",
                                            "desktop", "desktop"));
  EXPECT_THAT(known, testing::ElementsAre(true, true, true, true, true, false, false));
}

TEST_F(DeviceChoiceTest, half_precision_is_matched_as_a_whole_extension_name) {
  FakeDevice with = kDiscrete;
  with.extensions = "cl_khr_fp64 cl_khr_fp16 cl_khr_icd";
  FakeDevice without = kDiscrete;
  without.extensions = "cl_khr_fp64 cl_khr_fp16_like";
  List({{"One", {with, without}}});
  EXPECT_TRUE(devices_[0].profile.lists_fp16);
  EXPECT_FALSE(devices_[1].profile.lists_fp16);
}

TEST_F(DeviceChoiceTest, no_platform_and_no_device_are_distinguished) {
  List({});
  EXPECT_EQ(status_.code, CL_DEVICE_NOT_FOUND);
  EXPECT_THAT(status_.text, HasSubstr("OpenCL has no platform"));
  SetFakePlatforms({}, -1001);
  status_ = ListDevices(*FakeCl(), &devices_);
  EXPECT_EQ(status_.code, -1001);
  EXPECT_THAT(status_.text, HasSubstr("CL_PLATFORM_NOT_FOUND_KHR"));
  List({{"Empty", {}}, {"Hollow", {}}});
  EXPECT_EQ(status_.code, CL_DEVICE_NOT_FOUND);
  EXPECT_EQ(status_.text,
            "OpenCL has no device: platform 'Empty': CL_DEVICE_NOT_FOUND (-1); platform 'Hollow': "
            "CL_DEVICE_NOT_FOUND (-1)");
  List({{"Empty", {}}, {"Full", {kCpuDevice}}});
  EXPECT_TRUE(status_.ok());
}

class RegistryTest : public testing::Test {
 protected:
  void SetUp() override {
    SetFakePlatforms({{"One", {kDiscrete, kCpuDevice}}});
    ASSERT_TRUE(ListDevices(*FakeCl(), &devices_).ok());
  }

  std::shared_ptr<SharedContext> Acquire(size_t device) {
    ClStatus status;
    return registry_.Acquire(spy_.api(), devices_[device], &status);
  }

  ClSpy spy_{*FakeCl()};
  std::vector<Device> devices_;
  ContextRegistry registry_;
};

TEST_F(RegistryTest, context_is_shared_per_device_and_released_with_its_last_owner) {
  auto first = Acquire(0);
  auto second = Acquire(0);
  auto other = Acquire(1);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
  EXPECT_EQ(spy_.calls().at("CreateContext"), 2);
  first.reset();
  EXPECT_EQ(spy_.objects().at("Context"), 2);
  second.reset();
  EXPECT_EQ(spy_.objects().at("Context"), 1);
  other.reset();
  EXPECT_EQ(spy_.Unbalanced(), "");
  first = Acquire(0);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(spy_.calls().at("CreateContext"), 3);
}

TEST_F(RegistryTest, lost_context_is_replaced_by_a_shared_one) {
  const auto lost = Acquire(0);
  lost->Poison();
  EXPECT_TRUE(lost->lost());
  const auto fresh = Acquire(0);
  EXPECT_NE(fresh, lost);
  EXPECT_FALSE(fresh->lost());
  EXPECT_EQ(Acquire(0), fresh);
  EXPECT_EQ(spy_.calls().at("CreateContext"), 2);
}

TEST_F(RegistryTest, failure_to_create_is_reported_and_leaks_nothing) {
  spy_.Fail("CreateContext", 0, CL_OUT_OF_HOST_MEMORY);
  ClStatus status;
  EXPECT_EQ(registry_.Acquire(spy_.api(), devices_[0], &status), nullptr);
  EXPECT_EQ(status.text, "clCreateContext: CL_OUT_OF_HOST_MEMORY (-6)");
  EXPECT_EQ(spy_.Unbalanced(), "");
  EXPECT_NE(Acquire(0), nullptr);
}

TEST_F(RegistryTest, different_function_tables_share_no_context) {
  const auto spied = Acquire(0);
  ClStatus status;
  const auto direct = registry_.Acquire(FakeCl(), devices_[0], &status);
  EXPECT_NE(spied, direct);
  EXPECT_EQ(registry_.Acquire(FakeCl(), devices_[0], &status), direct);
}

TEST_F(RegistryTest, adopted_context_retains_the_clients_reference) {
  cl_int code = CL_SUCCESS;
  const ClContext own(spy_.api().get(),
                      spy_.api()->CreateContext(nullptr, 0, nullptr, nullptr, nullptr, &code));
  {
    ClStatus status;
    const auto adopted = SharedContext::Adopt(spy_.api(), devices_[0], own.get(), &status);
    ASSERT_NE(adopted, nullptr) << status.text;
    EXPECT_EQ(adopted->context(), own.get());
    EXPECT_EQ(spy_.objects().at("Context"), 2);
  }
  EXPECT_EQ(spy_.objects().at("Context"), 1);
}

// Checks the message of the system's loader if no driver is registered. Runs in a child process,
// because loaders search for drivers only once.
TEST(NoDriverDeathTest, is_reported) {
  if (RealCl().api == nullptr) GTEST_SKIP() << RealCl().tried;
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto list = [] {
    setenv("OCL_ICD_VENDORS", "/nowhere", 1);
    std::vector<Device> devices;
    const ClStatus status = ListDevices(*RealCl().api, &devices);
    std::fprintf(stderr, "%zu devices; %s\n", devices.size(), status.text.c_str());
    _exit(0);
  };
  EXPECT_EXIT(list(), testing::ExitedWithCode(0), "0 devices; OpenCL has no platform: no driver");
}

class RealDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why_not = NoDeviceReason();
    if (!why_not.empty()) GTEST_SKIP() << why_not;
    ASSERT_TRUE(ListDevices(*RealCl().api, &devices_).ok());
  }

  std::vector<Device> devices_;
};

TEST_F(RealDeviceTest, profiles_are_filled) {
  for (const Device& device : devices_) {
    const DeviceProfile& profile = device.profile;
    EXPECT_NE(profile.name, "");
    EXPECT_NE(profile.platform_name, "");
    EXPECT_THAT(profile.platform_version, testing::StartsWith("OpenCL "));
    EXPECT_THAT(profile.device_version, testing::StartsWith("OpenCL "));
    EXPECT_NE(profile.driver_version, "");
    EXPECT_GT(profile.compute_units, 0u);
    EXPECT_GT(profile.float_width, 0u);
    EXPECT_GT(profile.max_group_size, 0u);
    EXPECT_GT(profile.max_item_sizes[2], 0u);
    EXPECT_GT(profile.local_bytes, 0u);
    EXPECT_GE(profile.global_bytes, profile.max_allocation);
    EXPECT_GT(profile.max_allocation, 0u);
    EXPECT_GE(profile.base_alignment, 4u);
    EXPECT_EQ(profile.pointer_bits, 64u);
  }
}

// PoCL (https://portablecl.org) runs OpenCL on a CPU. Its local memory is ordinary memory.
TEST_F(RealDeviceTest, pocl_has_the_cpu_class) {
  for (const Device& device : devices_) {
    if (device.profile.kind != DeviceKind::kCpu) continue;
    EXPECT_EQ(device.profile.device_class, DeviceClass::kCpu);
    EXPECT_TRUE(device.profile.known);
    EXPECT_TRUE(device.profile.unified_memory);
    EXPECT_FALSE(device.profile.local_memory_is_dedicated);
  }
}

// Sub-buffers may start at multiples of the profile's alignment. PoCL refuses other offsets;
// NVIDIA's driver accepts them.
TEST_F(RealDeviceTest, base_alignment_is_sufficient_for_sub_buffers) {
  const ClApi& api = *RealCl().api;
  ClStatus status;
  const auto context = SharedContext::Create(RealCl().api, devices_[0], &status);
  ASSERT_NE(context, nullptr) << status.text;
  const size_t alignment = devices_[0].profile.base_alignment;
  cl_int code = CL_SUCCESS;
  const ClMemory parent(
      &api, api.CreateBuffer(context->context(), CL_MEM_READ_WRITE, 4 * alignment, nullptr, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  const auto code_at = [&](size_t origin) {
    const cl_buffer_region region = {origin, alignment};
    cl_int result = CL_SUCCESS;
    const ClMemory sub(
        &api, api.CreateSubBuffer(parent.get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &result));
    return result;
  };
  EXPECT_EQ(code_at(alignment), CL_SUCCESS);
  EXPECT_THAT(code_at(alignment / 2), testing::AnyOf(CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_SUCCESS));
}

// The probe of half precision releases all objects, whatever its result is.
TEST_F(RealDeviceTest, half_probe_releases_its_objects) {
  const ClSpy spy(*RealCl().api);
  for (const Device& device : devices_) {
    ClStatus status;
    const auto context = SharedContext::Create(spy.api(), device, &status);
    ASSERT_NE(context, nullptr) << status.text;
    if (ProbeHalf(*spy.api(), context->context(), device.id)) {
      EXPECT_EQ(spy.calls().at("EnqueueReadBuffer"), 1);
    }
    EXPECT_EQ(spy.calls().at("BuildProgram"), 1);
  }
  EXPECT_EQ(spy.Unbalanced(), "");
}

// A driver that compiles half as float is detected by its rounding.
cl_int BuildWithFloatForHalf(cl_program program, cl_uint count, const cl_device_id* devices,
                             const char*, void (*)(cl_program, void*), void*) {
  return RealCl().api->BuildProgram(program, count, devices, "-Dhalf8=float8 -Dhalf=float", nullptr,
                                    nullptr);
}

// Half precision as every device supports it: only a conversion for storing, which rounds to
// nearest even.
cl_program CreateWithStoredHalf(cl_context context, cl_uint, const char**, const size_t*,
                                cl_int* out_code) {
  const char* source = R"(
float round_to_half(float x) {
  ushort bits[1];
  vstore_half_rte(x, 0, (half*)bits);
  return vload_half(0, (const half*)bits);
}
__kernel void half_probe(__global const float* a, __global const float* b, __global float* out) {
  for (int i = 0; i < 8; ++i) out[i] = round_to_half(round_to_half(a[i] * b[i]) + a[i]);
}
)";
  return RealCl().api->CreateProgramWithSource(context, 1, &source, nullptr, out_code);
}

TEST_F(RealDeviceTest, half_probe_requires_rounding_to_half) {
  ClStatus status;
  const auto context = SharedContext::Create(RealCl().api, devices_[0], &status);
  ASSERT_NE(context, nullptr) << status.text;
  ClApi with_float = *RealCl().api;
  with_float.BuildProgram = &BuildWithFloatForHalf;
  EXPECT_FALSE(ProbeHalf(with_float, context->context(), devices_[0].id));
  ClApi with_half = *RealCl().api;
  with_half.CreateProgramWithSource = &CreateWithStoredHalf;
  EXPECT_TRUE(ProbeHalf(with_half, context->context(), devices_[0].id));
}

TEST_F(RealDeviceTest, half_precision_is_queried_once) {
  const ClSpy spy(*RealCl().api);
  ClStatus status;
  const auto context = SharedContext::Create(spy.api(), devices_[0], &status);
  ASSERT_NE(context, nullptr) << status.text;
  const bool computes = context->ComputesInHalf();
  const auto calls = spy.calls();
  EXPECT_EQ(context->ComputesInHalf(), computes);
  EXPECT_EQ(spy.calls(), calls);
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_device_test
