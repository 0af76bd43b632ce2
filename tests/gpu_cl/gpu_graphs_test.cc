// SPDX-License-Identifier: Apache-2.0
//
// Tests the OpenCL delegate in several graphs, and several delegates in one graph: conditions,
// bodies and branches that run on the device, and two delegates that share a model. Results are
// literals, or the CPU's; nodes are counted per delegate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "c_api/include/deputy.h"
#include "tests/gpu_cl/gpu_delegate_support.h"
#include "tests/gpu_cl/gpu_spy.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::gpu_cl::gpu_graphs_test {
namespace {

using testing::ElementsAre;

class GpuGraphsTest : public SpiedDeviceTest {
 protected:
  int64_t Launches() const { return Calls("EnqueueNDRangeKernel"); }
};

void ApplyTo(TestInterpreter* t, const TestDelegate& gpu) {
  ASSERT_NE(gpu.get(), nullptr) << gpu.error();
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), gpu.get()), kTfLiteOk) << t->log();
}

int Row(ModelBuilder* m, const char* name = "") { return m->AddTensor(kTfLiteFloat32, {2}, name); }
int Number(ModelBuilder* m, float value) {
  return m->AddConstant<float>(kTfLiteFloat32, {1}, {value});
}

// Adds y = 2 x + 1 to the current subgraph.
int DoubledPlusOne(ModelBuilder* m, int x) {
  const int product = Row(m), y = Row(m);
  m->AddOp(kTfLiteBuiltinMul, {x, Number(m, 2)}, {product}, schema::CreateMulOptions(m->fbb()));
  m->AddOp(kTfLiteBuiltinAdd, {product, Number(m, 1)}, {y}, schema::CreateAddOptions(m->fbb()));
  return y;
}

// A model of z = -x; while the sum of z is below 100: z = 2 z + 1; |z| is the result. Subgraph 1 is
// the condition (SUM, LESS), subgraph 2 the body.
std::vector<uint8_t> LoopModel() {
  ModelBuilder m;
  const int x = Row(&m, "x"), start = Row(&m), end = Row(&m), y = Row(&m, "y");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {start}, schema::CreateNegOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinWhile, {start}, {end}, schema::CreateWhileOptions(m.fbb(), 1, 2));
  m.AddOp(kTfLiteBuiltinAbs, {end}, {y}, schema::CreateAbsOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("condition");
  const int seen = Row(&m), axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {0});
  const int sum = m.AddTensor(kTfLiteFloat32, {1}), less = m.AddTensor(kTfLiteBool, {1});
  m.AddOp(kTfLiteBuiltinSum, {seen, axis}, {sum}, schema::CreateReducerOptions(m.fbb(), true));
  m.AddOp(kTfLiteBuiltinLess, {sum, Number(&m, 100)}, {less});
  m.SetInputs({seen});
  m.SetOutputs({less});
  m.AddSubgraph("body");
  const int from = Row(&m);
  m.SetInputs({from});
  m.SetOutputs({DoubledPlusOne(&m, from)});
  return m.Finish();
}

// A model of the absolute value of 2 x + 1 or -x, selected by an input.
std::vector<uint8_t> BranchModel() {
  ModelBuilder m;
  const int choice = m.AddTensor(kTfLiteBool, {1}, "choice");
  const int x = Row(&m, "x"), chosen = Row(&m), y = Row(&m, "y");
  m.AddOp(kTfLiteBuiltinIf, {choice, x}, {chosen}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.AddOp(kTfLiteBuiltinAbs, {chosen}, {y}, schema::CreateAbsOptions(m.fbb()));
  m.SetInputs({choice, x});
  m.SetOutputs({y});
  m.AddSubgraph("then");
  const int a = Row(&m);
  m.SetInputs({a});
  m.SetOutputs({DoubledPlusOne(&m, a)});
  m.AddSubgraph("else");
  const int b = Row(&m), negative = Row(&m);
  m.AddOp(kTfLiteBuiltinNeg, {b}, {negative}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({b});
  m.SetOutputs({negative});
  return m.Finish();
}

// ---- Several subgraphs --------------------------------------------------------------------------

// With keep_outputs the results of the condition and the body are on the device when the loop reads
// them.
TEST_F(GpuGraphsTest, condition_and_body_of_a_loop_run_on_the_device) {
  for (const char* keep_outputs : {"false", "true"}) {
    SCOPED_TRACE(keep_outputs);
    const TestDelegate gpu(spy_->api(), {{"keep_outputs", keep_outputs}});
    TestInterpreter t(LoopModel());
    ApplyTo(&t, gpu);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    // The partitions are NEG, ABS, {SUM, LESS} and {MUL, ADD}.
    EXPECT_EQ(DelegateInfoOf(t.get(), 0).partition_count, 4);
    EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 6);
    const int64_t before = Launches();
    t.Set<float>(0, {-1, -3});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    // The loop computes (1, 3), (3, 7), (7, 15), (15, 31), (31, 63), (63, 127).
    EXPECT_THAT(t.Get<float>(0), ElementsAre(63, 127));
    // The condition is evaluated six times, the body five times.
    EXPECT_GE(Launches() - before, 2 + 6 + 5);
    t.Set<float>(0, {-60, -40});  // the loop runs no iteration
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(60, 40));
  }
}

TEST_F(GpuGraphsTest, branches_run_on_the_device) {
  for (const char* keep_outputs : {"false", "true"}) {
    SCOPED_TRACE(keep_outputs);
    const TestDelegate gpu(spy_->api(), {{"keep_outputs", keep_outputs}});
    TestInterpreter t(BranchModel());
    ApplyTo(&t, gpu);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(DelegateInfoOf(t.get(), 0).partition_count, 3);
    EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 4);
    t.Set<float>(1, {3, -4});
    for (const bool choice : {true, false, true}) {
      t.Set<uint8_t>(0, {choice ? uint8_t{1} : uint8_t{0}});
      const int64_t before = Launches();
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_THAT(t.Get<float>(0), choice ? ElementsAre(7, 7) : ElementsAre(3, 4));
      EXPECT_EQ(Launches() - before, 2);
    }
  }
}

// ---- Two delegates ------------------------------------------------------------------------------

// A model of w = x + x in int8 and y = |w|^2 in float32.
std::vector<uint8_t> MixedModel() {
  ModelBuilder m;
  const TensorExtras scaled = {.scale = {0.5f}, .zero_point = {0}};
  const int x = m.AddTensor(kTfLiteInt8, {1, 3}, "x", scaled);
  const int w = m.AddTensor(kTfLiteInt8, {1, 3}, "w", scaled);
  const int reals = m.AddTensor(kTfLiteFloat32, {1, 3});
  const int a = m.AddTensor(kTfLiteFloat32, {1, 3}), y = m.AddTensor(kTfLiteFloat32, {1, 3}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {w}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinDequantize, {w}, {reals}, schema::CreateDequantizeOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAbs, {reals}, {a}, schema::CreateAbsOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSquare, {a}, {y}, schema::CreateSquareOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// The first delegate refuses quantised nodes, which the second one claims. The two use different
// device classes.
TEST_F(GpuGraphsTest, two_delegates_share_a_model_by_supported_types) {
  const TestDelegate reals(spy_->api(), {{"quantized", "false"}, {"device_class", "desktop"}});
  const TestDelegate others(spy_->api(), {{"device_class", "cpu"}});
  TestInterpreter t(MixedModel());
  ApplyTo(&t, reals);
  ApplyTo(&t, others);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 2);  // ABS, SQUARE
  EXPECT_EQ(DelegateInfoOf(t.get(), 1).node_count, 2);  // ADD, DEQUANTIZE
  for (const int8_t third : {int8_t{4}, int8_t{-5}}) {
    t.Set<int8_t>(0, {1, -3, third});
    const int64_t before = Launches();
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_THAT(t.Get<float>(0), ElementsAre(1, 9, third * third));
    EXPECT_EQ(Launches() - before, 2);
  }
}

// The first delegate gets the partition with the greater gain, the second delegate the other one;
// between them is a node on the CPU. Values are passed between the delegates with and without
// keep_outputs.
TEST_F(GpuGraphsTest, two_delegates_share_a_model_by_partitions) {
  for (const char* keep_outputs : {"false", "true"}) {
    SCOPED_TRACE(keep_outputs);
    const TestDelegate first(spy_->api(),
                             {{"max_partitions", "1"}, {"keep_outputs", keep_outputs}});
    const TestDelegate second(spy_->api(), {{"optimize", "false"}, {"keep_outputs", keep_outputs}});
    TestInterpreter t(BridgedModel()), cpu(BridgedModel());
    ApplyTo(&t, first);
    ApplyTo(&t, second);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    ASSERT_EQ(cpu.Allocate(), kTfLiteOk) << cpu.log();
    EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 1);  // ADD
    EXPECT_EQ(DelegateInfoOf(t.get(), 1).node_count, 2);  // ABS, NEG
    for (const float number : {1.0f, -2.5f}) {
      for (TestInterpreter* each : {&t, &cpu}) {
        each->Set<float>(0, {number, 2, -3, 4});
        ASSERT_EQ(each->Invoke(), kTfLiteOk) << each->log();
      }
      EXPECT_EQ(t.Get<float>(0), cpu.Get<float>(0));
    }
  }
}

// The second delegate cannot claim the nodes of the first one.
TEST_F(GpuGraphsTest, second_delegate_claims_nothing_after_the_first_claims_all) {
  const TestDelegate first(spy_->api()), second(spy_->api(), {{"device_class", "mobile"}});
  TestInterpreter t(SmallModel());
  ApplyTo(&t, first);
  ApplyTo(&t, second);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(DelegateInfoOf(t.get(), 0).node_count, 2);
  EXPECT_EQ(DelegateInfoOf(t.get(), 1).node_count, 0);
  t.Set<float>(0, {1, 1, 1, 1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<float>(0), ElementsAre(4, 6, 0, 3));
}

}  // namespace
}  // namespace deputy::gpu_cl::gpu_graphs_test
