// SPDX-License-Identifier: Apache-2.0
//
// Tests the backend that the options of TfLiteGpuDelegateV2 select, and its effect on SPLIT and
// SPLIT_V, which upstream supports in OpenCL only: in Deputy every node needs OpenCL, these two as
// well.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "c_api/include/gpu_delegate.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_backend_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A model that splits six numbers into two halves, or, by sizes, into the first four and the last
// two.
std::vector<uint8_t> SplitModel(bool by_sizes) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {6}, "x");
  const int a = m.AddTensor(kTfLiteFloat32, {by_sizes ? 4 : 3}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {by_sizes ? 2 : 3}, "b");
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {}, {0}, "axis");
  if (by_sizes) {
    const int sizes = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {4, 2}, "sizes");
    m.AddOp(kTfLiteBuiltinSplitV, {x, sizes, axis}, {a, b},
            schema::CreateSplitVOptions(m.fbb(), 2));
  } else {
    m.AddOp(kTfLiteBuiltinSplit, {axis, x}, {a, b}, schema::CreateSplitOptions(m.fbb(), 2));
  }
  m.SetInputs({x});
  m.SetOutputs({a, b});
  return m.Finish();
}

// The library's functions, loaded as clients do.
struct Library {
  Library() {
    void* handle = dlopen(BuildPath("libdeputy_gpu.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    defaults =
        reinterpret_cast<decltype(defaults)>(dlsym(handle, "TfLiteGpuDelegateOptionsV2Default"));
    create = reinterpret_cast<decltype(create)>(dlsym(handle, "TfLiteGpuDelegateV2Create"));
    destroy = reinterpret_cast<decltype(destroy)>(dlsym(handle, "TfLiteGpuDelegateV2Delete"));
  }
  decltype(&TfLiteGpuDelegateOptionsV2Default) defaults = nullptr;
  decltype(&TfLiteGpuDelegateV2Create) create = nullptr;
  decltype(&TfLiteGpuDelegateV2Delete) destroy = nullptr;
};

struct Case {
  const char* name;
  int64_t flags;
  bool has_opencl;
  const char* reason;  // reason of the refusal; "": the node is claimed
};

constexpr Case kCases[] = {
    {"any backend", 0, true, ""},
    {"OpenCL", TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY, true, ""},
    {"OpenGL", TFLITE_GPU_EXPERIMENTAL_FLAGS_GL_ONLY, true, "OpenGL is not supported, only OpenCL"},
    {"any backend without OpenCL", 0, false, "no OpenCL"},
    {"OpenCL without OpenCL", TFLITE_GPU_EXPERIMENTAL_FLAGS_CL_ONLY, false, "no OpenCL"},
};

class GpuBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!NoDeviceReason().empty()) GTEST_SKIP() << NoDeviceReason();
    ASSERT_NE(library_.create, nullptr);
  }

  void Check(const Case& c, bool by_sizes) {
    std::optional<ScopedEnvironment> without_opencl;
    if (!c.has_opencl) without_opencl.emplace("DEPUTY_OPENCL_LIBRARY", "none");
    TfLiteGpuDelegateOptionsV2 options = library_.defaults();
    options.experimental_flags |= c.flags;
    TfLiteDelegate* gpu = library_.create(&options);
    without_opencl.reset();
    ASSERT_NE(gpu, nullptr);
    Apply(gpu, c, by_sizes);
    library_.destroy(gpu);
  }

  static void Apply(TfLiteDelegate* gpu, const Case& c, bool by_sizes) {
    TestInterpreter t(SplitModel(by_sizes));
    const bool taken = c.reason[0] == '\0';
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu) == kTfLiteOk, taken);
    EXPECT_THAT(t.log(), HasSubstr(c.reason));
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    if (taken) {
      EXPECT_EQ(FirstDelegate(t).node_count, 1);
    }
    t.Set<float>(0, {1, 2, 3, 4, 5, 6});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    if (by_sizes) {
      EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 2, 3, 4));
      EXPECT_THAT(t.Get<float>(1), ElementsAre(5, 6));
    } else {
      EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 2, 3));
      EXPECT_THAT(t.Get<float>(1), ElementsAre(4, 5, 6));
    }
  }

  const Library library_;
};

TEST_F(GpuBackendTest, splits_are_claimed_with_opencl_only) {
  for (const Case& c : kCases) {
    for (const bool by_sizes : {false, true}) {
      SCOPED_TRACE(std::string(c.name) + (by_sizes ? ": SPLIT_V" : ": SPLIT"));
      Check(c, by_sizes);
    }
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_backend_test
