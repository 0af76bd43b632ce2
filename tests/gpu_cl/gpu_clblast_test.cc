// SPDX-License-Identifier: Apache-2.0
//
// Compares matrix products of the delegate with those of CLBlast on the same device, if CLBlast is
// installed: it is an implementation that is independent of ours.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gpu_cl/run/exec.h"
#include "tests/compiler/graph_builder.h"

namespace deputy::gpu_cl::gpu_clblast_test {
namespace {

using compiler::GraphBuilder;
using compiler::ValueId;

// Type of CLBlastSgemm in clblast_c.h, whose enumerations are ints.
using Sgemm = int (*)(int layout, int a_transpose, int b_transpose, size_t m, size_t n, size_t k,
                      float alpha, cl_mem a, size_t a_offset, size_t a_ld, cl_mem b,
                      size_t b_offset, size_t b_ld, float beta, cl_mem c, size_t c_offset,
                      size_t c_ld, cl_command_queue* queue, cl_event* event);
constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

class GpuClblast : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "CLBlast keeps its programs to the end of the process";
#endif
    loaded_ = LoadCl();
    if (loaded_.api == nullptr) GTEST_SKIP() << loaded_.tried;
    std::vector<Device> devices;
    Device device;
    ClStatus status = ListDevices(*loaded_.api, &devices);
    if (status.ok()) status = ChooseDevice(devices, "", &device);
    if (!status.ok()) GTEST_SKIP() << status.text;
    // The library is not unloaded, because drivers register functions that run at the end of the
    // process.
    void* library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) GTEST_SKIP() << dlerror();
    sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "CLBlastSgemm"));
    ASSERT_NE(sgemm_, nullptr);
    context_ = SharedContext::Create(loaded_.api, device, &status);
    ASSERT_NE(context_, nullptr) << status.text;
    cl_int code = CL_SUCCESS;
    queue_ = ClQueue(loaded_.api.get(),
                     loaded_.api->CreateCommandQueue(context_->context(), device.id, 0, &code));
    ASSERT_EQ(code, CL_SUCCESS);
  }

  ClMemory NewBuffer(std::vector<float>* contents) const {
    cl_int code = CL_SUCCESS;
    return {loaded_.api.get(),
            loaded_.api->CreateBuffer(context_->context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                      contents->size() * sizeof(float), contents->data(), &code)};
  }

  // Multiplies `a`, which is [m, k], by `b`, which is [n, k] if transposed, otherwise [k, n].
  std::vector<float> Product(std::vector<float> a, std::vector<float> b, size_t m, size_t n,
                             size_t k, bool transposed) {
    std::vector<float> c(m * n, NAN);
    const ClMemory a_buffer = NewBuffer(&a), b_buffer = NewBuffer(&b), c_buffer = NewBuffer(&c);
    cl_command_queue queue = queue_.get();
    EXPECT_EQ(sgemm_(kRowMajor, kNoTranspose, transposed ? kTranspose : kNoTranspose, m, n, k, 1.0f,
                     a_buffer.get(), 0, k, b_buffer.get(), 0, transposed ? k : n, 0.0f,
                     c_buffer.get(), 0, n, &queue, nullptr),
              0);
    EXPECT_EQ(
        loaded_.api->EnqueueReadBuffer(queue, c_buffer.get(), CL_TRUE, 0, c.size() * sizeof(float),
                                       c.data(), 0, nullptr, nullptr),
        CL_SUCCESS);
    return c;
  }

  LoadedCl loaded_;
  Sgemm sgemm_ = nullptr;
  std::shared_ptr<SharedContext> context_;
  ClQueue queue_;
};

std::vector<float> Random(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> numbers(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = numbers(random);
  return values;
}

TEST_F(GpuClblast, products_agree) {
  constexpr int kM = 50, kK = 133;
  for (const int n : {10, 100}) {
    for (const bool transposed : {false, true}) {
      const auto columns = static_cast<size_t>(n);
      const std::vector<float> a = Random(size_t{kM} * kK, 1), b = Random(columns * kK, 2);
      const std::vector<float> expected = Product(a, b, kM, columns, kK, transposed);

      GraphBuilder g;
      const ValueId filter =
          g.Constant(transposed ? compiler::Shape{n, kK} : compiler::Shape{kK, n}, b);
      g.Output(g.Add(compiler::MatMul{false, transposed}, {g.Input({kM, kK}), filter}, {kM, n}));
      for (const auto device_class : {DeviceClass::kCpu, DeviceClass::kDesktop}) {
        ExecutorOptions options;
        options.device_class = device_class;
        options.optimize = false;
        ClStatus status;
        const auto executor = Executor::Create(context_, g.graph, options, &status);
        ASSERT_NE(executor, nullptr) << status.text;
        std::vector<float> found(expected.size(), NAN);
        const InputLocation input = {a.data(), nullptr};
        const OutputLocation output = {found.data(), nullptr};
        ASSERT_TRUE(executor->Run({&input, 1}, {&output, 1}).ok());
        for (size_t i = 0; i < found.size(); ++i) {
          ASSERT_NEAR(found[i], expected[i], 1e-4)
              << ClassName(device_class) << " " << n << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_clblast_test
