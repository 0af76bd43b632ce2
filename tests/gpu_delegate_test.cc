// SPDX-License-Identifier: Apache-2.0
//
// The OpenCL delegate as a whole, on a device where there is one: what it takes and what not, what
// comes out, and that nothing stays behind. Operators one by one are the conformance kit's subject.
#include "gpu_cl/delegate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/deputy.h"
#include "gpu_cl/options.h"
#include "tests/delegate_support.h"
#include "tests/gpu_delegate_support.h"
#include "tests/gpu_fake_cl.h"
#include "tests/gpu_spy.h"
#include "tests/test_interpreter.h"

namespace deputy::gpu_cl {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<float> PictureOnTheCpu() {
  TestInterpreter t(PictureModel());
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  SetPicture(&t);
  EXPECT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  return t.Get<float>(0);
}

class GpuDelegateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!WhyNoDevice().empty()) GTEST_SKIP() << WhyNoDevice();
    spy_ = std::make_unique<ClSpy>(*RealCl().api);
  }
  void TearDown() override {
    if (spy_ == nullptr) return;
    EXPECT_EQ(spy_->Unbalanced(), "");
  }
  int64_t Calls(const std::string& function) const { return spy_->calls()[function]; }
  // Runs a model with one batch after the other, and compares it with the CPU.
  void ResizeAndCheck(const OptionTexts& options, const std::vector<int>& batches);

  std::unique_ptr<ClSpy> spy_;
};

// ---- What it takes ------------------------------------------------------------------------------

TEST_F(GpuDelegateTest, takes_all_nodes_and_computes_them) {
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
    // Both operators are one step.
    EXPECT_EQ(Calls("EnqueueNDRangeKernel"), run);
  }
}

TEST_F(GpuDelegateTest, computes_what_the_cpu_computes_for_every_class_of_devices) {
  const std::vector<float> expected = PictureOnTheCpu();
  for (const char* name : {"auto", "cpu", "desktop", "mobile"}) {
    const TestDelegate gpu(spy_->api(), {{"device_class", name}});
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(PictureModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, 6);
    const int64_t before = Calls("EnqueueNDRangeKernel");
    SetPicture(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), expected)) << name;
    // The reshape has no step; for processors the picture gets a border beforehand.
    const bool is_cpu = std::string(name) == "auto" || std::string(name) == "cpu";
    EXPECT_EQ(Calls("EnqueueNDRangeKernel") - before, is_cpu ? 6 : 5) << name;
  }
}

// Half the memory, and digits of which the last ones are gone. Left to the delegate, a processor
// computes as ever.
TEST_F(GpuDelegateTest, half_precision_halves_what_is_stored) {
  std::vector<float> thirds;
  for (int i = 0; i < 16; ++i) thirds.push_back(static_cast<float>(i) / 3);
  std::map<std::string, size_t> bytes;
  std::map<std::string, std::vector<float>> found;
  for (const char* name : {"none", "fp32", "fp16", "auto"}) {
    const bool on_cpu = std::string(name) == "none";
    const TestDelegate gpu(spy_->api(),
                           {{"device_class", "cpu"}, {"precision", on_cpu ? "fp32" : name}});
    ASSERT_NE(gpu.get(), nullptr) << gpu.error();
    TestInterpreter t(PictureModel());
    if (!on_cpu) {
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
      EXPECT_EQ(FirstDelegate(t).node_count, 6);
    }
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    SetPicture(&t);
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

TEST_F(GpuDelegateTest, what_it_lacks_stays_on_the_cpu) {
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

TEST_F(GpuDelegateTest, of_few_partitions_the_largest_is_taken) {
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

TEST_F(GpuDelegateTest, quantised_models_can_be_switched_off) {
  for (const bool quantized : {true, false}) {
    const TestDelegate gpu(spy_->api(), {{"quantized", quantized ? "true" : "false"}});
    TestInterpreter t(WholeModel(kTfLiteInt8));
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(FirstDelegate(t).node_count, quantized ? 1 : 0);
    t.Set<int8_t>(0, {3, -7});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    // 1.5 * 1 - 3.5 * 2 = -5.5
    EXPECT_THAT(t.Get<int8_t>(0), ElementsAre(-11));
  }
}

struct Answer {
  bool supported = false;
  int32_t reason = 0;
  std::string text;
  double cost_ns = -1;
};

// What the delegate says of each node of a model.
std::vector<Answer> Ask(TfLiteDelegate* gpu, const std::vector<uint8_t>& model) {
  std::vector<Answer> answers;
  Programmed asking([&](TfLiteContext* context, TfLiteDelegate*) {
    TfLiteIntArray* plan;
    EXPECT_EQ(context->GetExecutionPlan(context, &plan), kTfLiteOk);
    const auto count = static_cast<size_t>(plan->size);
    std::vector<uint8_t> supported(count);
    std::vector<int32_t> reasons(count), groups(count, -1);
    std::vector<const char*> texts(count);
    std::vector<double> costs(count, -1);
    DeputySupportAnswer answer = {sizeof answer,  count,        plan->data,    supported.data(),
                                  reasons.data(), texts.data(), groups.data(), costs.data()};
    EXPECT_EQ(GetSupport(gpu, context, &answer), kTfLiteOk);
    for (size_t i = 0; i < count; ++i) {
      answers.push_back(
          {supported[i] != 0, reasons[i], texts[i] == nullptr ? "" : texts[i], costs[i]});
    }
    return kTfLiteOk;
  });
  TestInterpreter t(model);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), &asking.base), kTfLiteOk) << t.log();
  return answers;
}

TEST_F(GpuDelegateTest, says_why_it_leaves_nodes) {
  const TestDelegate gpu(spy_->api(), {{"quantized", "false"}});
  const std::vector<Answer> divided = Ask(gpu.get(), DividedModel());
  ASSERT_EQ(divided.size(), 4u);
  for (const size_t taken : {0, 1, 3}) {
    EXPECT_TRUE(divided[taken].supported);
    EXPECT_EQ(divided[taken].reason, kDeputyReasonNone);
    EXPECT_EQ(divided[taken].text, "");
  }
  EXPECT_FALSE(divided[2].supported);
  EXPECT_EQ(divided[2].reason, kDeputyReasonOperator);
  EXPECT_EQ(divided[2].text, "custom operator 'Backwards'");
  const std::vector<Answer> bytes = Ask(gpu.get(), WholeModel(kTfLiteInt8));
  EXPECT_EQ(bytes[0].reason, kDeputyReasonQuantization);
  EXPECT_EQ(bytes[0].text, "quantised models are switched off");
  const TestDelegate all(spy_->api());
  const std::vector<Answer> shorts = Ask(all.get(), WholeModel(kTfLiteInt16));
  EXPECT_EQ(shorts[0].reason, kDeputyReasonType);
  EXPECT_EQ(shorts[0].text, "INT16, whose sums are more exact than float32");
}

// ---- What it is worth ---------------------------------------------------------------------------

int NodesTaken(const std::shared_ptr<const ClApi>& api, const OptionTexts& options,
               const std::vector<uint8_t>& model) {
  const TestDelegate gpu(api, options);
  TestInterpreter t(model);
  EXPECT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  return FirstDelegate(t).node_count;
}

// Models as small as these are never worth it, which is what 0 is about.
TEST_F(GpuDelegateTest, partitions_that_gain_too_little_stay_on_the_cpu) {
  const auto api = spy_->api();
  EXPECT_EQ(NodesTaken(api, {}, DividedModel()), 3);
  EXPECT_EQ(NodesTaken(api, {{"min_gain_us", "0"}}, DividedModel()), 0);
  EXPECT_EQ(NodesTaken(api, {{"min_gain_us", "1e6"}}, PictureModel()), 0);
  EXPECT_EQ(NodesTaken(api, {{"min_gain_us", "-1e6"}}, DividedModel()), 3);
  EXPECT_EQ(NodesTaken(api, {{"min_gain_us", "1e6"}, {"force", "true"}}, DividedModel()), 3);
}

TEST_F(GpuDelegateTest, says_what_partitions_would_gain) {
  const TestDelegate gpu(spy_->api(), {{"min_gain_us", "1000"}});
  const std::vector<Answer> answers = Ask(gpu.get(), DividedModel());
  ASSERT_EQ(answers.size(), 4u);
  for (const size_t node : {0, 1, 3}) {
    EXPECT_FALSE(answers[node].supported);
    EXPECT_EQ(answers[node].reason, kDeputyReasonCost);
    EXPECT_THAT(answers[node].text,
                testing::MatchesRegex(node == 3 ? "partition of 1 nodes: gain -[0-9.]+ us below "
                                                  "min_gain_us=1000"
                                                : "partition of 2 nodes: gain -[0-9.]+ us below "
                                                  "min_gain_us=1000"));
  }
  EXPECT_EQ(answers[2].reason, kDeputyReasonOperator);
}

TEST_F(GpuDelegateTest, says_how_long_nodes_take) {
  const TestDelegate gpu(spy_->api());
  const std::vector<Answer> answers = Ask(gpu.get(), PictureModel());
  ASSERT_EQ(answers.size(), 6u);
  for (const size_t node : {0, 1, 3, 4, 5}) EXPECT_GT(answers[node].cost_ns, 0) << node;
  EXPECT_EQ(answers[2].cost_ns, 0);  // RESHAPE
  EXPECT_EQ(Ask(gpu.get(), DividedModel())[2].cost_ns, -1);
}

// ---- Life ---------------------------------------------------------------------------------------

TEST_F(GpuDelegateTest, follows_when_inputs_are_resized) {
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
    std::vector<float> pictures(static_cast<size_t>(16 * batch));
    for (size_t i = 0; i < pictures.size(); ++i) {
      pictures[i] = static_cast<float>(i * 7 % 11) / 4 - 1;
    }
    for (TestInterpreter* each : {&t, &cpu}) {
      ASSERT_EQ(each->Resize(0, {batch, 4, 4, 1}), kTfLiteOk) << each->log();
      ASSERT_EQ(each->Allocate(), kTfLiteOk) << each->log();
      each->Set<float>(0, pictures);
      ASSERT_EQ(each->Invoke(), kTfLiteOk) << each->log();
    }
    EXPECT_EQ(FirstDelegate(t).node_count, 4);
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), cpu.Get<float>(0))) << batch;
  }
}

// What was compiled for a size is found again. Sizes are arguments of kernels, so that it serves
// others as well, unless their products run in tiles of another shape.
TEST_F(GpuDelegateTest, resize_compiles_what_is_new_alone) {
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

TEST_F(GpuDelegateTest, device_bytes_come_and_go) {
  const TestDelegate gpu(spy_->api());
  EXPECT_EQ(DeviceBytes(gpu.get()), 0u);
  {
    TestInterpreter t(SmallModel());
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
    // Input, output, and what is added.
    EXPECT_GE(DeviceBytes(gpu.get()), 48u);
  }
  EXPECT_EQ(DeviceBytes(gpu.get()), 0u);
}

TEST_F(GpuDelegateTest, indices_out_of_range_are_an_error_that_passes) {
  const TestDelegate gpu(spy_->api());
  TestInterpreter t(PictureModel());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (const int wrong : {4, -1}) {
    SetPicture(&t, {3, wrong, 2});
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("node 3: expected indices from 0 to 3, found another"));
    t.ClearLog();
    SetPicture(&t);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), PictureOnTheCpu()));
  }
}

TEST_F(GpuDelegateTest, interpreters_of_one_delegate_run_on_threads) {
  const std::vector<float> expected = PictureOnTheCpu();
  const TestDelegate gpu(spy_->api());
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int life = 0; life < 2; ++life) {
        TestInterpreter t(PictureModel());
        ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), gpu.get()), kTfLiteOk);
        ASSERT_EQ(t.Allocate(), kTfLiteOk);
        for (int run = 0; run < 20; ++run) {
          SetPicture(&t);
          ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
          ASSERT_THAT(t.Get<float>(0), Pointwise(FloatNear(1e-6f), expected));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GpuDelegateTest, many_lives_leave_nothing) {
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

// The model runs without the delegate that there is not.
void ExpectTheCpuComputes() {
  TestInterpreter t(SmallModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, {1, 1, 1, 1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 6, 0, 3));
}

TEST(GpuDelegateAloneTest, no_library_is_no_delegate) {
  const char* chosen = std::getenv("DEPUTY_OPENCL_LIBRARY");
  const std::string before = chosen == nullptr ? "" : chosen;
  setenv("DEPUTY_OPENCL_LIBRARY", "none", 1);
  std::string error;
  EXPECT_EQ(CreateDelegate({}, &error), nullptr);
  setenv("DEPUTY_OPENCL_LIBRARY", before.c_str(), 1);  // empty is as good as unset
  EXPECT_EQ(error, "no OpenCL: DEPUTY_OPENCL_LIBRARY asks for none");
  ExpectTheCpuComputes();
}

TEST(GpuDelegateAloneTest, no_platform_is_no_delegate) {
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
  ExpectTheCpuComputes();
}

TEST(GpuDelegateAloneTest, no_such_device_is_no_delegate) {
  SetFakePlatforms({{"One", {{"H200", "NVIDIA Corporation", CL_DEVICE_TYPE_GPU, 0x10de}}}});
  const TestDelegate gpu(FakeCl(), {{"device", "Adreno"}});
  EXPECT_EQ(gpu.get(), nullptr);
  EXPECT_THAT(gpu.error(), HasSubstr("adreno"));
  EXPECT_THAT(gpu.error(), HasSubstr("H200"));
  ExpectTheCpuComputes();
}

TEST(GpuDelegateAloneTest, nothing_is_destroyed_without_a_delegate) { DestroyDelegate(nullptr); }

}  // namespace
}  // namespace deputy::gpu_cl
