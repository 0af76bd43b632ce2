// SPDX-License-Identifier: Apache-2.0
//
// Tests interpreters that stay prepared for several shapes of their inputs
// (DeputyInterpreterOptionsSetPreparedShapes): alternating shapes prepares nothing, results have
// the bits of an interpreter that prepares every shape, and graphs whose preparation can be
// observed are prepared every time.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"
#include "c_api/include/deputy.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::prepared_shapes_test {
namespace {

TestInterpreter::Configure Shapes(int count, const TestInterpreter::Configure& more = {}) {
  return [=](TfLiteInterpreterOptions* options) {
    EXPECT_EQ(DeputyInterpreterOptionsSetPreparedShapes(options, count), kTfLiteOk);
    if (more) more(options);
  };
}

// A model of y = x + [1, 2, 3, 4].
std::vector<uint8_t> AddModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4}, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, w}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> Ramp(size_t count, float step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = step * static_cast<float>(i % 23) - 1.0f;
  return values;
}

// A fused CONV_2D, a residual sum, and a RESHAPE to a shape that prepare computes from the shape of
// the input: [n, h, w, 4] to [n * h, w * 4].
std::vector<uint8_t> ImageModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 4}, "x");
  const int filter = m.AddConstant<float>(kTfLiteFloat32, {4, 3, 3, 4}, Ramp(144, 0.05f), "filter");
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {4}, {0.5f, -0.5f, 1, 0}, "bias");
  const int conv = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 4}, "conv");
  m.AddOp(kTfLiteBuiltinConv2d, {x, filter, bias}, {conv},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1,
                                      schema::ActivationFunctionType::RELU));
  const int sum = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 4}, "sum");
  m.AddOp(kTfLiteBuiltinAdd, {conv, x}, {sum}, schema::CreateAddOptions(m.fbb()));
  const int shape = m.AddTensor(kTfLiteInt32, {4}, "shape");
  m.AddOp(kTfLiteBuiltinShape, {sum}, {shape},
          schema::CreateShapeOptions(m.fbb(), schema::TensorType::INT32));
  const int pairs = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {2, 2}, "pairs");
  const int grid = m.AddTensor(kTfLiteInt32, {2, 2}, "grid");
  m.AddOp(kTfLiteBuiltinReshape, {shape, pairs}, {grid});
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1}, "axis");
  const int flat_shape = m.AddTensor(kTfLiteInt32, {2}, "flat_shape");
  m.AddOp(kTfLiteBuiltinReduceProd, {grid, axis}, {flat_shape},
          schema::CreateReducerOptions(m.fbb(), false));
  const int y = m.AddTensor(kTfLiteFloat32, {4, 16}, "y");
  m.AddOp(kTfLiteBuiltinReshape, {sum, flat_shape}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Allocates for the shape, fills the input and returns the output.
std::vector<float> RunWith(TestInterpreter* t, const std::vector<int>& dims, float step) {
  EXPECT_EQ(t->Resize(0, dims), kTfLiteOk);
  EXPECT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  const auto count = std::accumulate(dims.begin(), dims.end(), size_t{1},
                                     [](size_t a, int b) { return a * static_cast<size_t>(b); });
  t->Set<float>(0, Ramp(count, step));
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0);
}

TEST(PreparedShapes, two_shapes_100_times_are_two_preparations) {
  TestInterpreter t(AddModel(), Shapes(2));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(t.Resize(0, {1, 4}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, {1, 1, 1, static_cast<float>(i)});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    ASSERT_EQ(t.Get<float>(0), (std::vector<float>{2, 3, 4, static_cast<float>(i + 4)}));
    ASSERT_EQ(t.Resize(0, {2, 4}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk);
    t.Set<float>(0, {0, 0, 0, 0, static_cast<float>(i), 5, 5, 5});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    ASSERT_EQ(t.Get<float>(0),
              (std::vector<float>{1, 2, 3, 4, static_cast<float>(i + 1), 7, 8, 9}));
  }
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 2);
  EXPECT_GE(MemoryMapOf(t.get()).idle_bytes, 32u);
}

TEST(PreparedShapes, one_shape_is_the_default) {
  TestInterpreter t(AddModel());
  for (int i = 0; i < 5; ++i) {
    RunWith(&t, {1, 4}, 1);
    RunWith(&t, {2, 4}, 1);
  }
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 10);
  EXPECT_EQ(MemoryMapOf(t.get()).idle_bytes, 0u);
}

TEST(PreparedShapes, the_least_recently_used_shape_is_discarded) {
  TestInterpreter t(AddModel(), Shapes(2));
  RunWith(&t, {1, 4}, 1);
  RunWith(&t, {2, 4}, 1);
  RunWith(&t, {1, 4}, 1);
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 2);
  RunWith(&t, {3, 4}, 1);  // discards the preparation for {2, 4}
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 3);
  RunWith(&t, {1, 4}, 1);
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 3);
  RunWith(&t, {2, 4}, 1);
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 4);
}

TEST(PreparedShapes, a_resize_back_before_allocation_keeps_the_plan) {
  TestInterpreter t(AddModel(), Shapes(2));
  RunWith(&t, {2, 4}, 1);
  ASSERT_EQ(t.Resize(0, {3, 4}), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(RunWith(&t, {2, 4}, 1).size(), 8u);
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 1);
}

TEST(PreparedShapes, results_have_the_bits_of_a_single_preparation) {
  TestInterpreter t(ImageModel(), Shapes(3));
  const std::vector<std::vector<int>> shapes = {
      {1, 4, 4, 4}, {2, 7, 3, 4}, {1, 9, 12, 4}, {1, 1, 1, 4}};
  for (int i = 0; i < 40; ++i) {
    const std::vector<int>& dims = shapes[static_cast<size_t>(i * i + i / 3) % shapes.size()];
    const float step = 0.01f * static_cast<float>(i + 1);
    TestInterpreter fresh(ImageModel());
    const std::vector<float> found = RunWith(&t, dims, step);
    EXPECT_EQ(found, RunWith(&fresh, dims, step)) << i;
    EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(t.get(), 0)),
              (std::vector<int>{dims[0] * dims[1], dims[2] * dims[3]}));
  }
  EXPECT_LT(MemoryMapOf(t.get()).preparations, 25);
  EXPECT_GT(MemoryMapOf(t.get()).preparations, 4);
}

TEST(PreparedShapes, a_refused_shape_leaves_the_interpreter_usable) {
  TestInterpreter t(AddModel(), Shapes(2));
  const std::vector<float> before = RunWith(&t, {2, 4}, 1);
  ASSERT_EQ(t.Resize(0, {2, 3}), kTfLiteOk);
  EXPECT_EQ(t.Allocate(), kTfLiteError);  // shapes [2, 3] + [4] are incompatible
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_EQ(RunWith(&t, {2, 4}, 1), before);
}

TEST(PreparedShapes, variables_are_reset_by_every_allocation) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 0, 0, 1}, "weights");
  const int recurrent = m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 0, 0, 1}, "recurrent");
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {2}, {0, 0}, "bias");
  TensorExtras variable;
  variable.is_variable = true;
  const int state = m.AddTensor(kTfLiteFloat32, {1, 2}, "state", variable);
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  m.AddOp(kTfLiteBuiltinRnn, {x, weights, recurrent, bias, state}, {y},
          schema::CreateRNNOptions(m.fbb(), schema::ActivationFunctionType::RELU));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish(), Shapes(2));
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(t.Resize(0, {1, 2}), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    t.Set<float>(0, {1, 2});
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    ASSERT_EQ(t.Invoke(), kTfLiteOk);
    EXPECT_EQ(t.Get<float>(0), (std::vector<float>{2, 4}));
    ASSERT_EQ(t.Resize(0, {2, 2}), kTfLiteOk);
    // The state has one row. Whether this is refused or not, the next allocation starts from
    // scratch.
    t.Allocate();
  }
}

// A signature may name an output, or a variable, as an input: its shape does not identify a plan.
TEST(PreparedShapes, a_resize_of_another_tensor_prepares_again) {
  for (const bool is_variable : {false, true}) {
    ModelBuilder m;
    TensorExtras open;
    open.signature = {-1, 4};
    const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x", open);
    open.is_variable = is_variable;
    const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y", open);
    const int z = m.AddTensor(kTfLiteFloat32, {1, 4}, "z");
    const int out = is_variable ? z : y;
    m.AddOp(kTfLiteBuiltinAdd, {x, is_variable ? y : x}, {out}, schema::CreateAddOptions(m.fbb()));
    m.SetInputs({x});
    m.SetOutputs({out});
    m.AddSignature("s", {{"x", static_cast<uint32_t>(x)}, {"y", static_cast<uint32_t>(y)}},
                   {{"out", static_cast<uint32_t>(out)}});
    TestInterpreter t(m.Finish(), Shapes(2));
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    TfLiteSignatureRunner* const runner = TfLiteInterpreterGetSignatureRunner(t.get(), "s");
    ASSERT_NE(runner, nullptr);
    for (const char* input : {"x", "y"}) {
      // The kernel sets the shape of an output again.
      const int dims[] = {input[0] == 'y' && !is_variable ? 1 << 13 : 1 << 12, 4};
      ASSERT_EQ(TfLiteSignatureRunnerResizeInputTensor(runner, input, dims, 2), kTfLiteOk);
      if (input[0] == 'x' && !is_variable) {
        // The first preparation stays in the cache.
        ASSERT_EQ(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteOk);
      }
    }
    ASSERT_EQ(TfLiteSignatureRunnerAllocateTensors(runner), kTfLiteOk) << t.log();
    EXPECT_EQ(MemoryMapOf(t.get()).idle_bytes, 0u);
    EXPECT_EQ(MemoryMapOf(t.get()).preparations, is_variable ? 2 : 3);
    const TfLiteTensor* const tensor = t.Tensor(y);
    std::vector<char> bytes(TfLiteTensorByteSize(tensor));
    EXPECT_EQ(bytes.size(), (1u << 12) * 16);
    EXPECT_EQ(TfLiteTensorCopyToBuffer(tensor, bytes.data(), bytes.size()), kTfLiteOk);
    TfLiteSignatureRunnerDelete(runner);
  }
}

// Alternates between two shapes three times, and returns the number of preparations.
int64_t PreparationsOf(TestInterpreter* t) {
  for (int i = 0; i < 3; ++i) {
    RunWith(t, {1, 4}, 1);
    RunWith(t, {2, 4}, 1);
  }
  return MemoryMapOf(t->get()).preparations;
}

TEST(PreparedShapes, random_sequences_restart_with_every_allocation) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {2}, "shape");
  m.AddOp(kTfLiteBuiltinShape, {x}, {shape},
          schema::CreateShapeOptions(m.fbb(), schema::TensorType::INT32));
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddOp(kTfLiteBuiltinRandomUniform, {shape}, {y}, schema::CreateRandomOptions(m.fbb(), 7, 9));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish(), Shapes(2));
  const std::vector<float> first = RunWith(&t, {1, 4}, 1);
  RunWith(&t, {2, 4}, 1);
  EXPECT_EQ(RunWith(&t, {1, 4}, 1), first);
  EXPECT_EQ(MemoryMapOf(t.get()).preparations, 3);
}

TEST(PreparedShapes, client_kernels_are_prepared_every_time) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddCustomOp("Backwards", {x}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish(), Shapes(2));
  EXPECT_EQ(PreparationsOf(&t), 6);
}

TEST(PreparedShapes, client_memory_is_prepared_every_time) {
  TestInterpreter t(AddModel(), Shapes(2));
  alignas(64) static float memory[64];
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 2, &allocation, 0), kTfLiteOk);
  EXPECT_EQ(PreparationsOf(&t), 6);
}

TEST(PreparedShapes, delegates_are_prepared_every_time) {
  Scripted delegate({0}, kTfLiteDelegateFlagsAllowDynamicTensors);
  TestInterpreter t(AddModel(), Shapes(2));
  RunWith(&t, {1, 4}, 1);
  RunWith(&t, {2, 4}, 1);
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  const int64_t before = MemoryMapOf(t.get()).preparations;
  EXPECT_EQ(MemoryMapOf(t.get()).idle_bytes, 0u);
  EXPECT_EQ(PreparationsOf(&t), before + 6);
}

TEST(PreparedShapes, a_number_below_one_is_refused) {
  TfLiteInterpreterOptions* options = TfLiteInterpreterOptionsCreate();
  EXPECT_EQ(DeputyInterpreterOptionsSetPreparedShapes(options, 0), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPreparedShapes(options, -1), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPreparedShapes(nullptr, 2), kTfLiteError);
  EXPECT_EQ(DeputyInterpreterOptionsSetPreparedShapes(options, 1), kTfLiteOk);
  TfLiteInterpreterOptionsDelete(options);
}

}  // namespace
}  // namespace deputy::prepared_shapes_test
