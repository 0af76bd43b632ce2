// SPDX-License-Identifier: Apache-2.0
//
// Tests tensors that stay on the device: between two partitions, as outputs, and in buffers of the
// client. The spy counts the copies.
#include "gpu_cl/handles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "gpu_cl/delegate.h"
#include "gpu_cl/device/buffer_table.h"
#include "gpu_cl/gpu_delegate.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_handles_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- The table ----------------------------------------------------------------------------------

std::shared_ptr<const DeviceBuffer> Bytes(size_t bytes) {
  auto buffer = std::make_shared<DeviceBuffer>();
  buffer->bytes = bytes;
  return buffer;
}

TEST(BufferTableTest, handles_identify_added_buffers) {
  BufferTable table;
  const auto a = table.Add(Bytes(1)), b = table.Add(Bytes(2));
  EXPECT_NE(a, b);
  EXPECT_EQ(table.Find(a)->bytes, 1u);
  EXPECT_EQ(table.Find(b)->bytes, 2u);
  EXPECT_TRUE(table.Replace(a, Bytes(3)));
  EXPECT_EQ(table.Find(a)->bytes, 3u);
  const auto last = Bytes(4);
  EXPECT_TRUE(table.Replace(b, last));
  table.Forget(last.get());
  EXPECT_EQ(table.Find(b), nullptr);
  EXPECT_TRUE(table.Replace(b, Bytes(5)));
  EXPECT_EQ(table.Find(b)->bytes, 5u);
}

TEST(BufferTableTest, freed_handle_is_detected) {
  BufferTable table;
  const auto first = table.Add(Bytes(1));
  table.Remove(first);
  table.Remove(first);
  EXPECT_EQ(table.Find(first), nullptr);
  EXPECT_FALSE(table.Replace(first, Bytes(2)));
  std::set<TfLiteBufferHandle> seen = {first};
  for (int i = 1; i < 32768; ++i) {
    const auto next = table.Add(Bytes(1));
    EXPECT_GE(next, 0);
    EXPECT_TRUE(seen.insert(next).second) << i;
    EXPECT_EQ(table.Find(first), nullptr);
    table.Remove(next);
  }
  for (const TfLiteBufferHandle wrong : {-1, -7, 1, 65536, 2147483647}) {
    EXPECT_EQ(table.Find(wrong), nullptr);
    EXPECT_FALSE(table.Replace(wrong, Bytes(2)));
    table.Remove(wrong);
  }
}

TEST(BufferTableTest, number_of_handles_is_limited) {
  BufferTable table;
  TfLiteBufferHandle last = 0;
  for (int i = 0; i < 65536; ++i) last = table.Add(nullptr);
  EXPECT_EQ(table.Add(nullptr), kTfLiteNullBufferHandle);
  table.Remove(last);
  EXPECT_GE(table.Add(nullptr), 0);
}

// ---- Between partitions -------------------------------------------------------------------------

constexpr int kX = 0, kM = 1;  // indices of tensors of BridgedModel

class GpuHandlesTest : public SpiedDeviceTest {
 protected:
  // Returns the number of calls of a function since the last query.
  int64_t New(const std::string& function) {
    const int64_t now = spy_->calls()[function];
    const int64_t before = std::exchange(counted_[function], now);
    return now - before;
  }
  // Returns the numbers of copies {written by the host, read by the host, on the device} since the
  // last query.
  std::vector<int64_t> NewCopies() {
    return {New("EnqueueWriteBuffer"), New("EnqueueReadBuffer"), New("EnqueueCopyBuffer")};
  }
  static TfLiteTensor* Tensor(const TestInterpreter& t, int index) {
    return TfLiteInterpreterGetTensor(t.get(), index);
  }

  std::map<std::string, int64_t> counted_;
};

void ApplyTo(TestInterpreter* t, TfLiteDelegate* gpu) {
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), gpu), kTfLiteOk) << t->log();
  ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
}

TEST_F(GpuHandlesTest, tensor_between_two_partitions_stays_on_the_device) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu.get());
  EXPECT_EQ(FirstDelegate(t).partition_count, 2);
  NewCopies();
  for (int run = 1; run <= 3; ++run) {
    const auto r = static_cast<float>(run);
    t.Set<float>(0, {r, -2, 3, -4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(r + 4, 2 - 3, 3 + 2, 4 - r));
    // x and g are uploaded, n and y downloaded; m stays on the device.
    EXPECT_THAT(NewCopies(), ElementsAre(2, 2, 1));
    const TfLiteTensor* m = Tensor(t, kM);
    EXPECT_EQ(m->delegate, gpu.get());
    EXPECT_TRUE(m->data_is_stale);
  }
  // The client requests m after all.
  ASSERT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), kM), kTfLiteOk) << t.log();
  const TfLiteTensor* m = Tensor(t, kM);
  EXPECT_EQ(std::vector<float>(m->data.f, m->data.f + 4), (std::vector<float>{3, 2, 3, 4}));
  EXPECT_THAT(NewCopies(), ElementsAre(0, 1, 0));
}

TEST_F(GpuHandlesTest, cpu_fallback_reads_it_from_the_device) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(BridgedModel(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ApplyTo(&t, gpu.get());
  t.Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  New("EnqueueNDRangeKernel");
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const int64_t steps = New("EnqueueNDRangeKernel");
  spy_->Fail("EnqueueNDRangeKernel", steps - 1, CL_OUT_OF_RESOURCES);
  t.Set<float>(0, {5, -6, 7, -8});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_TRUE(spy_->failed());
  EXPECT_THAT(t.Get<float>(0), ElementsAre(5 + 8, 6 - 7, 7 + 6, 8 - 5));
  DeputyDelegationStatus status{};
  status.struct_size = sizeof status;
  ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
  EXPECT_EQ(status.recomputed_nodes, 1);
}

// The handle of the previous run still exists, but its data is older than the host's copy.
TEST_F(GpuHandlesTest, cpu_results_override_an_old_handle) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(BridgedModel(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ApplyTo(&t, gpu.get());
  t.Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_TRUE(Tensor(t, kM)->data_is_stale);
  NewCopies();
  spy_->Fail("EnqueueNDRangeKernel", 0, CL_OUT_OF_RESOURCES);
  t.Set<float>(0, {5, -6, 7, -8});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_TRUE(spy_->failed());
  EXPECT_FALSE(Tensor(t, kM)->data_is_stale);
  EXPECT_THAT(t.Get<float>(0), ElementsAre(5 + 8, 6 - 7, 7 + 6, 8 - 5));
  EXPECT_THAT(NewCopies(), ElementsAre(3, 1, 0));  // uploads x, m and g; downloads y
}

TEST_F(GpuHandlesTest, tensor_that_cannot_be_read_back_restarts_the_inference) {
  const TestDelegate gpu(spy_->api(), {{"keep_outputs", "true"}});
  TestInterpreter t(BridgedModel(), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ApplyTo(&t, gpu.get());
  t.Set<float>(0, {1, -2, 3, -4});
  // The second read from the device, that of y for the client, fails; the first one reads n.
  spy_->Fail("EnqueueReadBuffer", 1, CL_OUT_OF_RESOURCES);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_TRUE(spy_->failed());
  EXPECT_THAT(t.log(), HasSubstr("tensor 'y', buffer handle"));
  EXPECT_THAT(t.log(), HasSubstr("clEnqueueReadBuffer: CL_OUT_OF_RESOURCES (-5)"));
  EXPECT_THAT(t.Get<float>(0), ElementsAre(5, -1, 5, 3));
}

TEST_F(GpuHandlesTest, handles_survive_resizes) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu.get());
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(t.Resize(0, {4}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    NewCopies();
    for (int run = 0; run < 2; ++run) {
      t.Set<float>(0, {1, -2, 3, -4});
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_THAT(t.Get<float>(0), ElementsAre(5, -1, 5, 3));
    }
    EXPECT_THAT(NewCopies(), ElementsAre(4, 4, 2));
  }
}

TEST_F(GpuHandlesTest, stale_handle_is_reported_and_not_used) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu.get());
  t.Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  TfLiteTensor* m = Tensor(t, kM);
  TfLiteBufferHandle freed = m->buffer_handle;
  gpu.get()->FreeBufferHandle(nullptr, gpu.get(), &freed);
  EXPECT_EQ(freed, kTfLiteNullBufferHandle);
  EXPECT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), kM), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("tensor 'm', buffer handle " + std::to_string(m->buffer_handle) +
                                 ": the handle is not valid (its buffer was released)"));
  // The next run creates a new handle.
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), kM), kTfLiteOk);
}

// ---- Outputs ------------------------------------------------------------------------------------

TEST_F(GpuHandlesTest, outputs_stay_on_the_device_if_delegate_and_client_allow_it) {
  for (const bool allowed : {false, true}) {
    const TestDelegate gpu(spy_->api(), {{"keep_outputs", "true"}});
    TestInterpreter t(BridgedModel());
    ApplyTo(&t, gpu.get());
    TfLiteSetAllowBufferHandleOutput(t.get(), allowed);
    NewCopies();
    t.Set<float>(0, {1, -2, 3, -4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(NewCopies(), ElementsAre(2, allowed ? 1 : 2, 1));
    const TfLiteTensor* y = TfLiteInterpreterGetOutputTensor(t.get(), 0);
    EXPECT_EQ(y->data_is_stale, allowed);
    const int index = TfLiteInterpreterOutputTensorIndices(t.get())[0];
    ASSERT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), index), kTfLiteOk);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(5, -1, 5, 3));
  }
}

// ---- Buffers of the client ----------------------------------------------------------------------

class GpuBindTest : public GpuHandlesTest {
 protected:
  ClMemory NewBuffer(cl_context context, const std::vector<float>& contents) {
    cl_int code = CL_SUCCESS;
    auto* bytes = const_cast<float*>(contents.data());
    ClMemory memory(RealCl().api.get(),
                    RealCl().api->CreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                               contents.size() * sizeof(float), bytes, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return memory;
  }
  std::vector<float> Read(cl_mem memory, size_t count) {
    std::vector<float> found(count);
    const SharedContext& context = *Of(gpu_->get()).context;
    cl_int code = CL_SUCCESS;
    const ClApi* api = RealCl().api.get();
    const ClQueue queue(api,
                        api->CreateCommandQueue(context.context(), context.device().id, 0, &code));
    EXPECT_EQ(api->EnqueueReadBuffer(queue.get(), memory, CL_TRUE, 0, count * sizeof(float),
                                     found.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return found;
  }
  void Write(cl_mem memory, const std::vector<float>& contents) {
    const SharedContext& context = *Of(gpu_->get()).context;
    cl_int code = CL_SUCCESS;
    const ClApi* api = RealCl().api.get();
    const ClQueue queue(api,
                        api->CreateCommandQueue(context.context(), context.device().id, 0, &code));
    EXPECT_EQ(
        api->EnqueueWriteBuffer(queue.get(), memory, CL_TRUE, 0, contents.size() * sizeof(float),
                                contents.data(), 0, nullptr, nullptr),
        CL_SUCCESS);
  }
  void SetUp() override {
    GpuHandlesTest::SetUp();
    if (spy_ == nullptr) return;
    gpu_ = std::make_unique<TestDelegate>(spy_->api());
    ASSERT_NE(gpu_->get(), nullptr) << gpu_->error();
    context_ = Of(gpu_->get()).context->context();
  }
  void TearDown() override {
    gpu_.reset();
    GpuHandlesTest::TearDown();
  }

  std::unique_ptr<TestDelegate> gpu_;
  cl_context context_ = nullptr;
};

TEST_F(GpuBindTest, bound_tensors_are_not_copied_through_the_host) {
  const ClMemory in = NewBuffer(context_, {9, 1, -2, 3, -4});
  const ClMemory out = NewBuffer(context_, {0, 0, 0, 0, 0, 0});
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu_->get());
  TfLiteTensor* y = const_cast<TfLiteTensor*>(TfLiteInterpreterGetOutputTensor(t.get(), 0));
  TfLiteSetAllowBufferHandleOutput(t.get(), true);
  EXPECT_EQ(BindBuffer(gpu_->get(), Tensor(t, kX), in.get(), 4), "");
  EXPECT_EQ(BindBuffer(gpu_->get(), y, out.get(), 8), "");
  NewCopies();
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    // g is uploaded and n downloaded, for the CPU; x, m and y are copied on the device.
    EXPECT_THAT(NewCopies(), ElementsAre(1, 1, 3));
    EXPECT_THAT(Read(out.get(), 6), ElementsAre(0, 0, 5, -1, 5, 3));
  }
  // Tensors that are no longer bound are copied through the host again.
  EXPECT_EQ(UnbindBuffer(gpu_->get(), Tensor(t, kX)), "");
  EXPECT_EQ(UnbindBuffer(gpu_->get(), y), "");
  t.Set<float>(0, {2, 2, 2, 2});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(NewCopies(), ElementsAre(2, 2, 1));
}

// A model in which x is read by a NEG and an ADD of the delegate and by Backwards on the CPU; the
// ADD also reads the result of Backwards.
std::vector<uint8_t> SharedInputModel() {
  ModelBuilder b;
  const int x = b.AddTensor(kTfLiteFloat32, {4}, "x");
  const int n = b.AddTensor(kTfLiteFloat32, {4}, "n"), g = b.AddTensor(kTfLiteFloat32, {4}, "g");
  const int y = b.AddTensor(kTfLiteFloat32, {4}, "y"), z = b.AddTensor(kTfLiteFloat32, {4}, "z");
  b.AddOp(kTfLiteBuiltinNeg, {x}, {n}, schema::CreateNegOptions(b.fbb()));
  b.AddCustomOp("Backwards", {x}, {g});
  b.AddOp(kTfLiteBuiltinAdd, {x, g}, {y}, schema::CreateAddOptions(b.fbb()));
  b.AddOp(kTfLiteBuiltinAdd, {y, n}, {z}, schema::CreateAddOptions(b.fbb()));
  b.SetInputs({x});
  b.SetOutputs({z, n});
  return b.Finish();
}

TEST_F(GpuBindTest, bound_input_is_read_again_after_a_copy_to_the_cpu) {
  const ClMemory buffer = NewBuffer(context_, {1, 2, 3, 4});
  TestInterpreter t(SharedInputModel());
  ApplyTo(&t, gpu_->get());
  EXPECT_EQ(FirstDelegate(t).partition_count, 2);
  ASSERT_EQ(BindBuffer(gpu_->get(), Tensor(t, 0), buffer.get(), 0), "");
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(t.Get<float>(1), ElementsAre(-1, -2, -3, -4));
  Write(buffer.get(), {5, 6, 7, 9});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(9, 7, 6, 5));
  EXPECT_THAT(t.Get<float>(1), ElementsAre(-5, -6, -7, -9));
}

TEST_F(GpuBindTest, host_and_device_are_copied_on_demand) {
  const ClMemory buffer = NewBuffer(context_, {1, 2, 3, 4});
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu_->get());
  TfLiteTensor* x = Tensor(t, kX);
  ASSERT_EQ(BindBuffer(gpu_->get(), x, buffer.get(), 0), "");
  ASSERT_EQ(TfLiteInterpreterEnsureTensorDataIsReadable(t.get(), kX), kTfLiteOk) << t.log();
  EXPECT_EQ(std::vector<float>(x->data.f, x->data.f + 4), (std::vector<float>{1, 2, 3, 4}));
  x->data.f[2] = 7;
  TfLiteDelegate* gpu = gpu_->get();
  ASSERT_EQ(gpu->CopyToBufferHandle(nullptr, gpu, x->buffer_handle, x), kTfLiteOk);
  EXPECT_THAT(Read(buffer.get(), 4), ElementsAre(1, 2, 7, 4));
}

TEST_F(GpuBindTest, output_is_also_on_the_host_unless_the_client_opts_out) {
  const ClMemory out = NewBuffer(context_, {0, 0, 0, 0});
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu_->get());
  TfLiteTensor* y = const_cast<TfLiteTensor*>(TfLiteInterpreterGetOutputTensor(t.get(), 0));
  ASSERT_EQ(BindBuffer(gpu_->get(), y, out.get(), 0), "");
  t.Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(5, -1, 5, 3));
  EXPECT_THAT(Read(out.get(), 4), ElementsAre(5, -1, 5, 3));
}

TEST_F(GpuBindTest, unsuitable_buffers_are_refused_and_change_nothing) {
  const ClMemory small = NewBuffer(context_, {0, 0, 0, 0});
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu_->get());
  TfLiteTensor* x = Tensor(t, kX);
  EXPECT_EQ(BindBuffer(gpu_->get(), x, small.get(), 1),
            "tensor 'x', buffer handle -1: expected a buffer of 16 bytes from offset 1 on, found "
            "one of 16");
  EXPECT_THAT(BindBuffer(gpu_->get(), x, small.get(), SIZE_MAX), HasSubstr("found one of 16"));
  EXPECT_THAT(BindBuffer(gpu_->get(), x, nullptr, 0), HasSubstr("found NULL"));
  EXPECT_THAT(BindBuffer(gpu_->get(), nullptr, small.get(), 0), HasSubstr("found NULL"));
  TfLiteDelegate other = TfLiteDelegateCreate();
  EXPECT_THAT(BindBuffer(&other, x, small.get(), 0), HasSubstr("expected a delegate created by"));
  EXPECT_THAT(BindBuffer(nullptr, x, small.get(), 0), HasSubstr("expected a delegate created by"));
  EXPECT_THAT(UnbindBuffer(gpu_->get(), x), HasSubstr("no buffer is bound"));
  x->delegate = &other;
  EXPECT_THAT(BindBuffer(gpu_->get(), x, small.get(), 0), HasSubstr("belongs to another delegate"));
  x->delegate = nullptr;
  for (const char* function : {"GetMemObjectInfo", "RetainMemObject"}) {
    spy_->Fail(function, 0, CL_INVALID_MEM_OBJECT);
    EXPECT_THAT(BindBuffer(gpu_->get(), x, small.get(), 0),
                HasSubstr(std::string(function) + ": CL_INVALID_MEM_OBJECT"));
  }
  EXPECT_EQ(x->buffer_handle, kTfLiteNullBufferHandle);
  EXPECT_EQ(x->delegate, nullptr);
  EXPECT_FALSE(x->data_is_stale);
}

TEST_F(GpuBindTest, buffer_of_another_context_is_refused) {
  cl_int code = CL_SUCCESS;
  cl_device_id device = Of(gpu_->get()).context->device().id;
  const ClContext other(RealCl().api.get(),
                        RealCl().api->CreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  const ClMemory buffer = NewBuffer(other.get(), {0, 0, 0, 0});
  TestInterpreter t(BridgedModel());
  ApplyTo(&t, gpu_->get());
  EXPECT_THAT(BindBuffer(gpu_->get(), Tensor(t, kX), buffer.get(), 0),
              HasSubstr("belongs to a different context"));
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_handles_test
