// SPDX-License-Identifier: Apache-2.0
//
// Tests loading OpenCL's library, and the resulting table of functions.
#include "gpu_cl/device/cl_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu_cl/gpu_fake_cl.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/scoped_environment.h"

namespace deputy::gpu_cl::gpu_cl_api_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

LoadedCl LoadFrom(const std::vector<std::string>& names) { return LoadCl(names); }

TEST(LoadClTest, missing_library_is_reported_with_a_reason) {
  const LoadedCl loaded = LoadFrom({"/nowhere/libOpenCL.so.1"});
  EXPECT_EQ(loaded.api, nullptr);
  EXPECT_THAT(loaded.tried, StartsWith("/nowhere/libOpenCL.so.1: "));
  EXPECT_THAT(loaded.tried, HasSubstr("No such file or directory"));
}

TEST(LoadClTest, library_without_functions_is_refused_naming_the_first) {
  const LoadedCl loaded = LoadFrom({"libm.so.6"});
  EXPECT_EQ(loaded.api, nullptr);
  EXPECT_EQ(loaded.tried, "libm.so.6: missing function clGetPlatformIDs");
}

TEST(LoadClTest, all_attempts_are_reported) {
  const LoadedCl loaded = LoadFrom({"/nowhere/a.so", "libm.so.6", "/nowhere/b.so"});
  EXPECT_EQ(loaded.api, nullptr);
  EXPECT_THAT(loaded.tried, HasSubstr("/nowhere/a.so: "));
  EXPECT_THAT(loaded.tried, HasSubstr("; libm.so.6: "));
  EXPECT_THAT(loaded.tried, HasSubstr("; /nowhere/b.so: "));
}

TEST(LoadClTest, environment_has_priority) {
  const ScopedEnvironment variable("DEPUTY_OPENCL_LIBRARY", "/nowhere/mine.so");
  const std::vector<std::string> names = ClLibraryNames();
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0], "/nowhere/mine.so");
  EXPECT_EQ(names[1], "libOpenCL.so.1");
  EXPECT_EQ(names[2], "libOpenCL.so");
}

TEST(LoadClTest, environment_can_disable_the_library) {
  const ScopedEnvironment variable("DEPUTY_OPENCL_LIBRARY", "none");
  const LoadedCl loaded = LoadCl();
  EXPECT_EQ(loaded.api, nullptr);
  EXPECT_EQ(loaded.tried, "disabled by DEPUTY_OPENCL_LIBRARY=none");
}

TEST(LoadClTest, available_library_fills_the_table) {
  if (RealCl().api == nullptr) GTEST_SKIP() << RealCl().tried;
#define DEPUTY_CL_THERE(name) EXPECT_NE(RealCl().api->name, nullptr) << #name;
  DEPUTY_CL_REQUIRED(DEPUTY_CL_THERE)
#undef DEPUTY_CL_THERE
  EXPECT_THAT(RealCl().library, HasSubstr("OpenCL"));
  EXPECT_EQ(*LoadCl().api, *RealCl().api) << "the same library has the same functions";
}

TEST(ClErrorTest, codes_have_names) {
  EXPECT_EQ(ClErrorName(-1), "CL_DEVICE_NOT_FOUND (-1)");
  EXPECT_EQ(ClErrorName(-5), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(ClErrorName(-14), "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14)");
  EXPECT_EQ(ClErrorName(-42), "CL_INVALID_BINARY (-42)");
  EXPECT_EQ(ClErrorName(-54), "CL_INVALID_WORK_GROUP_SIZE (-54)");
  EXPECT_EQ(ClErrorName(-68), "CL_INVALID_DEVICE_PARTITION_COUNT (-68)");
  EXPECT_EQ(ClErrorName(-1001), "CL_PLATFORM_NOT_FOUND_KHR (-1001)");
  EXPECT_EQ(ClErrorName(-777), "OpenCL error -777");
  // OpenCL 1.2 defines the error codes from 0 to -19 and from -30 to -68.
  for (int code = 0; code >= -68; --code) {
    if (code < -19 && code > -30) continue;
    EXPECT_THAT(ClErrorName(code), StartsWith("CL_")) << code;
  }
}

TEST(ClErrorTest, four_codes_mean_that_the_device_is_lost) {
  for (const int code : {-14, -34, -36, -9999}) EXPECT_TRUE(IsDeviceLost(code)) << code;
  for (const int code : {0, -4, -5, -42, -54}) EXPECT_FALSE(IsDeviceLost(code)) << code;
}

TEST(ClErrorTest, failed_call_is_reported_by_name) {
  EXPECT_TRUE(ClCall("clFinish", CL_SUCCESS).ok());
  const ClStatus status = ClCall("clFinish", -36);
  EXPECT_EQ(status.code, -36);
  EXPECT_EQ(status.text, "clFinish: CL_INVALID_COMMAND_QUEUE (-36)");
}

ClContext NewContext(const ClApi& api) {
  cl_int code = CL_SUCCESS;
  return {&api, api.CreateContext(nullptr, 0, nullptr, nullptr, nullptr, &code)};
}

TEST(ClObjectTest, reference_is_released_once_after_moves) {
  const ClSpy spy(*FakeCl());
  const ClApi& api = *spy.api();
  {
    ClContext first = NewContext(api);
    ClContext second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): tests the moved-from object
    EXPECT_TRUE(second);
    ClContext third = NewContext(api);
    EXPECT_EQ(spy.objects().at("Context"), 2);
    third = std::move(second);
    EXPECT_EQ(spy.objects().at("Context"), 1);
    cl_context handle = third.Release();
    EXPECT_FALSE(third);
    EXPECT_EQ(spy.objects().at("Context"), 1);
    first = ClContext(&api, handle);
  }
  EXPECT_EQ(spy.Unbalanced(), "");
}

TEST(ClSpyTest, selected_call_fails_and_creates_no_object) {
  ClSpy spy(*FakeCl());
  const ClApi& api = *spy.api();
  spy.Fail("CreateContext", 1, -5);
  const ClContext first = NewContext(api);
  EXPECT_FALSE(spy.failed());
  cl_int code = CL_SUCCESS;
  EXPECT_EQ(api.CreateContext(nullptr, 0, nullptr, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, -5);
  EXPECT_TRUE(spy.failed());
  EXPECT_EQ(spy.calls().at("CreateContext"), 2);
  EXPECT_EQ(spy.Unbalanced(), "Context: 1; ");
  spy.Fail("RetainContext", 0, -34);
  EXPECT_EQ(api.RetainContext(first.get()), -34);
  EXPECT_EQ(spy.Unbalanced(), "Context: 1; ");
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_cl_api_test
