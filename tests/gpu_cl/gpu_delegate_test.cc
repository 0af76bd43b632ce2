// SPDX-License-Identifier: Apache-2.0
//
// Tests the OpenCL delegate as a whole, on a device if there is one: the nodes it claims and
// refuses, its results, and that no objects leak. The conformance kit tests single operators.
#include "gpu_cl/delegate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/deputy.h"
#include "gpu_cl/options.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_fake_cl.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/model_builder.h"
#include "tests/support/scoped_environment.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_delegate_test {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

// A model of x times a matrix in which each column sums to 3 * factor.
std::vector<uint8_t> ScaledModel(float factor) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x"), y = m.AddTensor(kTfLiteFloat32, {1, 2});
  const int filter =
      m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {factor, 2 * factor, 2 * factor, factor});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, filter, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

class GpuDelegateTest : public SpiedDeviceTest {
 protected:
  // Runs a model with several batch sizes in sequence, and compares the results with the CPU's.
  void ResizeAndCheck(const OptionTexts& options, const std::vector<int>& batches);
};

// ---- Claimed nodes ------------------------------------------------------------------------------

TEST_F(GpuDelegateTest, claims_and_computes_all_nodes) {
  const TestDelegate gpu(spy_->api());
  ASSERT_NE(gpu.get(), nullptr) << gpu.error();
  TestInterpreter t(SmallModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FirstDelegate(t).partition_count, 1);
  EXPECT_EQ(FirstDelegate(t).node_count, 2);
  for (int run = 1; run <= 3; ++run) {
    t.Set<float>(0, {1, -3, 4, static_cast<float>(run)});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 0, 6, 2 * static_cast<float>(run) + 1));
    // Both operators are fused into one kernel, which runs once per inference.
    EXPECT_EQ(Calls("EnqueueNDRangeKernel"), run);
  }
}

TEST_F(GpuDelegateTest, agrees_with_the_cpu_for_every_device_class) {
  const std::vector<float> expected = ImageResultOnCpu();
  const bool device_is_cpu = NewContext()->device().profile.device_class == DeviceClass::kCpu;
  for (const char* name : {"auto", "cpu", "desktop", "mobile"}) {
    const TestDelegate gpu(spy_->api(), {{"device_class", name}});
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(ImageModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 6);
    const int64_t before = Calls("EnqueueNDRangeKernel");
    SetImage(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), expected)) << name;
    // The RESHAPE runs no kernel; for CPUs an additional kernel adds a border to the image.
    const bool is_cpu =
        std::string(name) == "cpu" || (std::string(name) == "auto" && device_is_cpu);
    EXPECT_EQ(Calls("EnqueueNDRangeKernel") - before, is_cpu ? 6 : 5) << name;
  }
}

// With fp16 the delegate uses less memory, and results are less precise; with "auto" a CPU uses
// float32.
TEST_F(GpuDelegateTest, half_precision_halves_the_memory) {
  std::vector<float> thirds;
  for (int i = 0; i < 16; ++i) thirds.push_back(static_cast<float>(i) / 3);
  std::map<std::string, size_t> bytes;
  std::map<std::string, std::vector<float>> found;
  for (const char* name : {"none", "fp32", "fp16", "auto"}) {
    const bool on_cpu = std::string(name) == "none";
    const TestDelegate gpu(spy_->api(),
                           {{"device_class", "cpu"}, {"precision", on_cpu ? "fp32" : name}});
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(ImageModel());
    if (!on_cpu) {
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
      EXPECT_EQ(FirstDelegate(t).node_count, 6);
    }
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    SetImage(&t);
    t.Set<float>(0, thirds);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    found[name] = t.Get<float>(0);
    bytes[name] = DeviceBytes(gpu.get());
  }
  EXPECT_THAT(found["fp16"], Pointwise(FloatNear(2e-3F), found["none"]));
  EXPECT_NE(found["fp16"], found["fp32"]);
  EXPECT_EQ(found["auto"], found["fp32"]);
  EXPECT_LT(bytes["fp16"], bytes["fp32"]);
  EXPECT_EQ(bytes["auto"], bytes["fp32"]);
}

TEST_F(GpuDelegateTest, unsupported_nodes_stay_on_the_cpu) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(DividedModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FirstDelegate(t).partition_count, 2);
  EXPECT_EQ(FirstDelegate(t).node_count, 3);
  t.Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(-4, -3, -2, -1));
  EXPECT_EQ(Calls("EnqueueNDRangeKernel"), 2);
}

TEST_F(GpuDelegateTest, partition_limit_selects_the_largest) {
  const TestDelegate gpu(spy_->api(), {{"max_partitions", "1"}});
  TestInterpreter t(DividedModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(FirstDelegate(t).partition_count, 1);
  EXPECT_EQ(FirstDelegate(t).node_count, 2);
  t.Set<float>(0, {1, -2, 3, -4});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(-4, -3, -2, -1));
}

// A model of two nodes that move no data, on many elements; Backwards, which the CPU runs; and a
// node that keeps four elements.
std::vector<uint8_t> LopsidedModel() {
  ModelBuilder m;
  constexpr int kSide = 1024;
  const int x = m.AddTensor(kTfLiteFloat32, {kSide, kSide}, "x");
  const int low = m.AddTensor(kTfLiteFloat32, {kSide / 2, kSide * 2});
  const int flat = m.AddTensor(kTfLiteFloat32, {kSide * kSide});
  const int back = m.AddTensor(kTfLiteFloat32, {kSide * kSide});
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  const auto ints = [&](const std::vector<int32_t>& values) {
    return m.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(values.size())}, values);
  };
  m.AddOp(kTfLiteBuiltinReshape, {x, ints({kSide / 2, kSide * 2})}, {low});
  m.AddOp(kTfLiteBuiltinReshape, {low, ints({kSide * kSide})}, {flat});
  m.AddCustomOp("Backwards", {flat}, {back});
  m.AddOp(kTfLiteBuiltinSlice, {back, ints({1}), ints({4})}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// With a limit of one partition the delegate prefers the single node, which moves little data, to
// the two nodes whose data would be copied to the device and back.
TEST_F(GpuDelegateTest, partition_limit_selects_the_largest_gain) {
  for (const char* most : {"0", "1", "2"}) {
    const TestDelegate gpu(spy_->api(), {{"max_partitions", most}});
    TestInterpreter t(LopsidedModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    const bool one = std::string(most) == "1";
    EXPECT_EQ(FirstDelegate(t).partition_count, one ? 1 : 2);
    EXPECT_EQ(FirstDelegate(t).node_count, one ? 1 : 3);
    std::vector<float> x(size_t{1} << 20);
    std::iota(x.begin(), x.end(), 0.0f);
    const auto last = x.back();
    const int64_t before = Calls("EnqueueNDRangeKernel");
    t.Set<float>(0, x);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(last - 1, last - 2, last - 3, last - 4));
    EXPECT_GE(Calls("EnqueueNDRangeKernel"), before + 1);
  }
}

TEST_F(GpuDelegateTest, quantised_models_can_be_disabled) {
  for (const bool quantized : {true, false}) {
    const TestDelegate gpu(spy_->api(), {{"quantized", quantized ? "true" : "false"}});
    TestInterpreter t(IntegerModel(kTfLiteInt8));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, quantized ? 1 : 0);
    t.Set<int8_t>(0, {3, -7});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    // The sum is 1.5 * 1 - 3.5 * 2 = -5.5, which is -11 at the output's scale.
    EXPECT_THAT(t.Get<int8_t>(0), ElementsAre(-11));
  }
}

struct Support {
  bool supported = false;
  int32_t reason = 0;
  std::string text;
  double cost_ns = -1;
};

// Returns the support status of each node of a model.
std::vector<Support> QuerySupport(TfLiteDelegate* gpu, const std::vector<uint8_t>& model) {
  std::vector<Support> support;
  Programmed querying([&](TfLiteContext* context, TfLiteDelegate*) {
    TfLiteIntArray* plan;
    EXPECT_EQ(context->GetExecutionPlan(context, &plan), kTfLiteOk);
    const auto count = static_cast<size_t>(plan->size);
    std::vector<uint8_t> supported(count);
    std::vector<int32_t> reasons(count), groups(count, -1);
    std::vector<const char*> texts(count);
    std::vector<double> costs(count, -1);
    DeputySupportResult result = {sizeof result,  count,        plan->data,    supported.data(),
                                  reasons.data(), texts.data(), groups.data(), costs.data()};
    EXPECT_EQ(GetSupport(gpu, context, &result), kTfLiteOk);
    for (size_t i = 0; i < count; ++i) {
      support.push_back(
          {supported[i] != 0, reasons[i], texts[i] == nullptr ? "" : texts[i], costs[i]});
    }
    return kTfLiteOk;
  });
  TestInterpreter t(model);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &querying.base), kTfLiteOk)
      << t.log();
  return support;
}

TEST_F(GpuDelegateTest, reports_reasons_for_unclaimed_nodes) {
  const TestDelegate gpu(spy_->api(), {{"quantized", "false"}});
  const std::vector<Support> divided = QuerySupport(gpu.get(), DividedModel());
  ASSERT_EQ(divided.size(), 4u);
  for (const size_t taken : {0, 1, 3}) {
    EXPECT_TRUE(divided[taken].supported);
    EXPECT_EQ(divided[taken].reason, kDeputyReasonNone);
    EXPECT_EQ(divided[taken].text, "");
  }
  EXPECT_FALSE(divided[2].supported);
  EXPECT_EQ(divided[2].reason, kDeputyReasonOperator);
  EXPECT_EQ(divided[2].text, "custom operator 'Backwards'");
  const std::vector<Support> bytes = QuerySupport(gpu.get(), IntegerModel(kTfLiteInt8));
  EXPECT_EQ(bytes[0].reason, kDeputyReasonQuantization);
  EXPECT_EQ(bytes[0].text, "quantised operators are disabled by the option 'quantized'");
  const TestDelegate all(spy_->api());
  const std::vector<Support> shorts = QuerySupport(all.get(), IntegerModel(kTfLiteInt16));
  EXPECT_EQ(shorts[0].reason, kDeputyReasonType);
  EXPECT_EQ(shorts[0].text, "INT16 is not supported (its sums exceed float32's precision)");
}

// ---- Gain ---------------------------------------------------------------------------------------

int NodesClaimed(const std::shared_ptr<const ClApi>& api, const OptionTexts& options,
                 const std::vector<uint8_t>& model) {
  const TestDelegate gpu(api, options);
  TestInterpreter t(model);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  return FirstDelegate(t).node_count;
}

// The gain of models as small as these is always negative; by default there is no minimum.
TEST_F(GpuDelegateTest, partitions_with_too_little_gain_stay_on_the_cpu) {
  const auto api = spy_->api();
  EXPECT_EQ(NodesClaimed(api, {}, DividedModel()), 3);
  EXPECT_EQ(NodesClaimed(api, {{"min_gain_us", "0"}}, DividedModel()), 0);
  EXPECT_EQ(NodesClaimed(api, {{"min_gain_us", "1e6"}}, ImageModel()), 0);
  EXPECT_EQ(NodesClaimed(api, {{"min_gain_us", "-1e6"}}, DividedModel()), 3);
  EXPECT_EQ(NodesClaimed(api, {{"min_gain_us", "1e6"}, {"force", "true"}}, DividedModel()), 3);
}

TEST_F(GpuDelegateTest, reports_the_gain_of_partitions) {
  const TestDelegate gpu(spy_->api(), {{"min_gain_us", "1000"}});
  const std::vector<Support> support = QuerySupport(gpu.get(), DividedModel());
  ASSERT_EQ(support.size(), 4u);
  for (const size_t node : {0, 1, 3}) {
    EXPECT_FALSE(support[node].supported);
    EXPECT_EQ(support[node].reason, kDeputyReasonCost);
    EXPECT_THAT(support[node].text,
                testing::MatchesRegex(node == 3 ? "partition of 1 nodes: gain -[0-9.]+ us below "
                                                  "min_gain_us=1000"
                                                : "partition of 2 nodes: gain -[0-9.]+ us below "
                                                  "min_gain_us=1000"));
  }
  EXPECT_EQ(support[2].reason, kDeputyReasonOperator);
}

TEST_F(GpuDelegateTest, reports_the_cost_of_nodes) {
  const TestDelegate gpu(spy_->api());
  const std::vector<Support> support = QuerySupport(gpu.get(), ImageModel());
  ASSERT_EQ(support.size(), 6u);
  for (const size_t node : {0, 1, 3, 4, 5}) EXPECT_GT(support[node].cost_ns, 0) << node;
  EXPECT_EQ(support[2].cost_ns, 0);  // RESHAPE costs nothing
  EXPECT_EQ(QuerySupport(gpu.get(), DividedModel())[2].cost_ns, -1);
}

// ---- Life ---------------------------------------------------------------------------------------

TEST_F(GpuDelegateTest, is_rebuilt_when_inputs_are_resized) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(SmallModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (const int rows : {3, 1, 2}) {
    ASSERT_EQ(t.Resize(0, {rows, 4}), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 2);
    std::vector<float> x, expected;
    for (int row = 0; row < rows; ++row) {
      const float r = static_cast<float>(row);
      x.insert(x.end(), {r, -9, 1, 2});
      expected.insert(expected.end(), {2 * r + 2, 0, 0, 5});
    }
    const int64_t before = Calls("EnqueueNDRangeKernel");
    t.Set<float>(0, x);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), expected);
    EXPECT_EQ(Calls("EnqueueNDRangeKernel"), before + 1);
  }
}

void GpuDelegateTest::ResizeAndCheck(const OptionTexts& options, const std::vector<int>& batches) {
  const TestDelegate gpu(spy_->api(), options);
  TestInterpreter t(BatchModel()), cpu(BatchModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  for (const int batch : batches) {
    std::vector<float> images(static_cast<size_t>(16 * batch));
    for (size_t i = 0; i < images.size(); ++i) {
      images[i] = static_cast<float>(i * 7 % 11) / 4 - 1;
    }
    for (TestInterpreter* each : {&t, &cpu}) {
      ASSERT_EQ(each->Resize(0, {batch, 4, 4, 1}), kTfLiteOk) << each->log();
      ASSERT_EQ(each->Allocate(), kTfLiteOk) << each->log();
      each->Set<float>(0, images);
      ASSERT_EQ(each->Invoke(), kTfLiteOk) << each->log();
    }
    EXPECT_EQ(FirstDelegate(t).node_count, 4);
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), cpu.Get<float>(0))) << batch;
  }
}

// Programs compiled for one size are reused. Sizes are arguments of kernels, so another size uses
// the same programs, unless its products run in tiles of another shape.
TEST_F(GpuDelegateTest, resize_compiles_only_new_kernels) {
  for (const char* name : {"cpu", "desktop"}) {
    SCOPED_TRACE(name);
    const TestDelegate keeps_the_context(spy_->api(), {{"device_class", name}});
    const int64_t before = Calls("BuildProgram");
    ResizeAndCheck({{"device_class", name}}, {1, 2, 3});
    const int64_t compiled = Calls("BuildProgram") - before;
    EXPECT_EQ(compiled, std::string(name) == "desktop" ? 1 : 2);
    ResizeAndCheck({{"device_class", name}}, {2, 1, 3, 1});
    EXPECT_EQ(Calls("BuildProgram") - before, compiled);
  }
}

// Plans are kept for as many shapes as the option says, and reused, from the second resize on, when
// a shape occurs again; the least recently used plan is dropped first. The test counts kernels,
// which are created only for new plans.
TEST_F(GpuDelegateTest, previous_shapes_are_still_bound) {
  const TestDelegate gpu(spy_->api(), {{"kept_plans", "3"}});
  TestInterpreter t(BatchModel()), cpu(BatchModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  const auto run = [&](int batch) {
    std::vector<float> images(static_cast<size_t>(16 * batch));
    for (size_t i = 0; i < images.size(); ++i) {
      images[i] = static_cast<float>((i * 7 + static_cast<size_t>(batch)) % 11) / 4 - 1;
    }
    const int64_t kernels = Calls("CreateKernel"), buffers = Calls("CreateBuffer");
    for (TestInterpreter* each : {&t, &cpu}) {
      EXPECT_EQ(each->Resize(0, {batch, 4, 4, 1}), kTfLiteOk) << each->log();
      EXPECT_EQ(each->Allocate(), kTfLiteOk) << each->log();
    }
    const bool made = Calls("CreateKernel") > kernels;
    EXPECT_EQ(Calls("CreateBuffer") > buffers, made);
    for (TestInterpreter* each : {&t, &cpu}) {
      each->Set<float>(0, images);
      EXPECT_EQ(each->Invoke(), kTfLiteOk) << each->log();
    }
    EXPECT_EQ(FirstDelegate(t).node_count, 4);
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), cpu.Get<float>(0))) << batch;
    return made;
  };
  for (const int batch : {1, 2, 3, 1}) run(batch);
  EXPECT_FALSE(run(2));
  EXPECT_FALSE(run(1));
  EXPECT_FALSE(run(3));
  EXPECT_TRUE(run(4));  // now the plans of 3, 1 and 2 are kept
  EXPECT_FALSE(run(3));
  EXPECT_TRUE(run(2));  // the plan of 2 was dropped for that of 4
  const size_t bytes = DeviceBytes(gpu.get());
  for (const int batch : {1, 2, 3, 4, 1, 2, 4, 3, 2}) run(batch);
  EXPECT_LE(DeviceBytes(gpu.get()), 2 * bytes) << "what is kept is bounded";
}

// When the device is out of memory, kept plans are released and the failed operation is retried at
// once, without the CPU.
TEST_F(GpuDelegateTest, cached_shapes_are_evicted_when_out_of_memory) {
  for (const char* function : {"CreateBuffer", "CreateSubBuffer", "EnqueueNDRangeKernel"}) {
    for (const cl_int code : {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES}) {
      SCOPED_TRACE(std::string(function) + " " + std::to_string(code));
      const TestDelegate gpu(spy_->api());
      TestInterpreter t(SmallModel());
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk);
      const auto run = [&](int rows) {
        EXPECT_EQ(t.Resize(0, {rows, 4}), kTfLiteOk) << t.log();
        EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
        t.Set<float>(0, std::vector<float>(static_cast<size_t>(4 * rows), 1.0f));
        EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
        EXPECT_EQ(t.Get<float>(0)[1], 6.0f);
        EXPECT_EQ(FirstDelegate(t).node_count, 2);
      };
      for (const int rows : {2, 3, 4}) run(rows);
      spy_->Fail(function, 0, code);
      run(5);
      EXPECT_TRUE(spy_->failed());
      spy_->Fail("", -1, CL_SUCCESS);
      const int64_t kernels = Calls("CreateKernel");
      run(3);
      EXPECT_GT(Calls("CreateKernel"), kernels) << "it was not kept";
    }
  }
}

// If a driver refuses a work-group size within its limits, the driver chooses the size.
TEST_F(GpuDelegateTest, refused_group_sizes_fall_back_to_the_drivers) {
  for (const cl_int code : {CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE}) {
    const TestDelegate gpu(spy_->api(), {{"device_class", "cpu"}});
    TestInterpreter t(ImageModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    SetImage(&t);
    spy_->Fail("EnqueueNDRangeKernel", 2, code);
    int64_t before = Calls("EnqueueNDRangeKernel");
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_TRUE(spy_->failed());
    EXPECT_EQ(Calls("EnqueueNDRangeKernel") - before, 7);  // six kernels, one of them twice
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), ImageResultOnCpu()));
    // The next inference does not try the refused size again.
    before = Calls("EnqueueNDRangeKernel");
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(Calls("EnqueueNDRangeKernel") - before, 6);
    spy_->Fail("EnqueueNDRangeKernel", 2, code);
    ASSERT_EQ(t.Invoke(), kTfLiteError) << "there is nothing left to try";
    spy_->Fail("", -1, CL_SUCCESS);
  }
}

TEST_F(GpuDelegateTest, caching_of_shapes_can_be_disabled) {
  const TestDelegate gpu(spy_->api(), {{"kept_plans", "0"}});
  TestInterpreter t(BatchModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  int64_t kernels = 0;
  for (const int batch : {2, 1, 2, 1}) {
    kernels = Calls("CreateKernel");
    ASSERT_EQ(t.Resize(0, {batch, 4, 4, 1}), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_GT(Calls("CreateKernel"), kernels);
  }
}

// Another model with the same shapes has other constants, so it must not use the kept plans.
TEST_F(GpuDelegateTest, cached_shapes_are_distinguished_by_constants) {
  const TestDelegate gpu(spy_->api());
  for (const float factor : {1.0f, 2.0f, 1.0f}) {
    TestInterpreter t(ScaledModel(factor));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    for (const int rows : {1, 2, 1, 2}) {
      ASSERT_EQ(t.Resize(0, {rows, 2}), kTfLiteOk) << t.log();
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      t.Set<float>(0, std::vector<float>(static_cast<size_t>(2 * rows), 3.0f));
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_EQ(t.Get<float>(0), std::vector<float>(static_cast<size_t>(2 * rows), 9 * factor));
    }
  }
}

TEST_F(GpuDelegateTest, device_bytes_are_allocated_and_released) {
  const TestDelegate gpu(spy_->api());
  EXPECT_EQ(DeviceBytes(gpu.get()), 0u);
  {
    TestInterpreter t(SmallModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    // The device holds at least the input, the output and the addend.
    EXPECT_GE(DeviceBytes(gpu.get()), 48u);
  }
  EXPECT_EQ(DeviceBytes(gpu.get()), 0u);
}

TEST_F(GpuDelegateTest, indices_out_of_range_are_a_temporary_error) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(ImageModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (const int wrong : {4, -1}) {
    SetImage(&t, {3, wrong, 2});
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("node 3: expected indices from 0 to 3, found one out of range"));
    t.ClearLog();
    SetImage(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), ImageResultOnCpu()));
  }
}

// Programs are compiled and memory is allocated before the first run.
TEST_F(GpuDelegateTest, runs_compile_and_allocate_nothing) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(ImageModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  const char* const kMaking[] = {"CreateProgramWithSource",
                                 "CreateProgramWithBinary",
                                 "BuildProgram",
                                 "CreateKernel",
                                 "SetKernelArg",
                                 "CreateBuffer",
                                 "CreateSubBuffer",
                                 "CreateCommandQueue"};
  std::vector<int64_t> before, after;
  for (const char* function : kMaking) before.push_back(Calls(function));
  EXPECT_EQ(before[2], 1);
  for (int run = 0; run < 100; ++run) {
    SetImage(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  }
  for (const char* function : kMaking) after.push_back(Calls(function));
  EXPECT_EQ(after, before);
}

// The delegate is created, applied, prepared, run and deleted, each on another thread.
TEST_F(GpuDelegateTest, any_thread_may_make_the_next_call) {
  auto gpu = std::make_unique<TestDelegate>(spy_->api());
  std::unique_ptr<TestInterpreter> t;
  const auto on_a_thread = [](const auto& work) { std::thread(work).join(); };
  on_a_thread([&] {
    t = std::make_unique<TestInterpreter>(ImageModel());
    EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), gpu->get()), kTfLiteOk);
  });
  on_a_thread([&] { EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log(); });
  for (int run = 0; run < 2; ++run) {
    on_a_thread([&] {
      SetImage(t.get());
      EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    });
  }
  EXPECT_EQ(FirstDelegate(*t).node_count, 6);
  EXPECT_THAT(t->Get<float>(0), Pointwise(FloatNear(1e-6f), ImageResultOnCpu()));
  on_a_thread([&] { t.reset(); });
  on_a_thread([&] { gpu.reset(); });
}

TEST_F(GpuDelegateTest, interpreters_of_one_delegate_run_on_threads) {
  const std::vector<float> expected = ImageResultOnCpu();
  const TestDelegate gpu(spy_->api());
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int life = 0; life < 2; ++life) {
        TestInterpreter t(ImageModel());
        ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk);
        ASSERT_EQ(t.Allocate(), kTfLiteOk);
        for (int run = 0; run < 20; ++run) {
          SetImage(&t);
          ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
          ASSERT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), expected));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GpuDelegateTest, many_life_cycles_do_not_leak) {
  for (int life = 0; life < 100; ++life) {
    const TestDelegate gpu(spy_->api());
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(SmallModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, {1, 1, 1, 1});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    ASSERT_THAT(t.Get<float>(0), ElementsAre(4, 6, 0, 3));
  }
  EXPECT_EQ(spy_->Unbalanced(), "");
}

// ---- No device ----------------------------------------------------------------------------------

// Checks that the model runs although there is no delegate.
void ExpectCpuResults() {
  TestInterpreter t(SmallModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 1, 1, 1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 6, 0, 3));
}

TEST(GpuDelegateCreationTest, no_library_creates_no_delegate) {
  const ScopedEnvironment without_opencl("DEPUTY_OPENCL_LIBRARY", "none");
  std::string error;
  EXPECT_EQ(CreateDelegate({}, &error), nullptr);
  EXPECT_EQ(error, "no OpenCL: disabled by DEPUTY_OPENCL_LIBRARY=none");
  ExpectCpuResults();
}

TEST(GpuDelegateCreationTest, no_platform_creates_no_delegate) {
  SetFakePlatforms({});
  const TestDelegate none(FakeCl());
  EXPECT_EQ(none.get(), nullptr);
  EXPECT_THAT(none.error(), HasSubstr("OpenCL has no platform"));
  SetFakePlatforms({}, -1001);
  const TestDelegate not_found(FakeCl());
  EXPECT_EQ(not_found.get(), nullptr);
  EXPECT_THAT(not_found.error(), HasSubstr("CL_PLATFORM_NOT_FOUND_KHR"));
  SetFakePlatforms({{"Empty", {}}});
  const TestDelegate empty(FakeCl());
  EXPECT_EQ(empty.get(), nullptr);
  EXPECT_THAT(empty.error(), HasSubstr("OpenCL has no device"));
  ExpectCpuResults();
}

TEST(GpuDelegateCreationTest, unknown_device_creates_no_delegate) {
  SetFakePlatforms({{"One", {{"H200", "NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0x10de}}}});
  const TestDelegate gpu(FakeCl(), {{"device", "Adreno"}});
  EXPECT_EQ(gpu.get(), nullptr);
  EXPECT_THAT(gpu.error(), HasSubstr("adreno"));
  EXPECT_THAT(gpu.error(), HasSubstr("H200"));
  ExpectCpuResults();
}

TEST(GpuDelegateCreationTest, nothing_is_destroyed_without_a_delegate) { DestroyDelegate(nullptr); }

}  // namespace
}  // namespace deputy::gpu_cl::gpu_delegate_test
