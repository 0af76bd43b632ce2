// SPDX-License-Identifier: Apache-2.0
//
// Tests operators that compute their result once and keep it: DEQUANTIZE of a constant, SHAPE. They
// allocate separate memory for their output, whatever memory it had before; DEQUANTIZE copies its
// result to memory of the client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/common/kernel.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::cached_results_test {
namespace {

using testing::ElementsAre;

// y = DEQUANTIZE(constant), z = SHAPE(x); both are outputs.
std::vector<uint8_t> KeepingModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 3}, "x");
  const int q = m.AddConstant<int8_t>(kTfLiteInt8, {4}, {-2, 0, 1, 4}, "q",
                                      {.scale = {0.5f}, .zero_point = {0}});
  const int y = m.AddTensor(kTfLiteFloat32, {4}, "y");
  const int z = m.AddTensor(kTfLiteInt32, {2}, "z");
  m.AddOp(kTfLiteBuiltinDequantize, {q}, {y});
  m.AddOp(kTfLiteBuiltinShape, {x}, {z},
          schema::CreateShapeOptions(m.fbb(), schema::TensorType::INT32));
  m.SetInputs({x});
  m.SetOutputs({y, z});
  return m.Finish();
}

TEST(CachedResult, of_dequantize_is_copied_to_client_memory) {
  TestInterpreter t(KeepingModel());
  alignas(64) float memory[16] = {};
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  const int y = TfLiteInterpreterGetOutputTensorIndex(t.get(), 0);
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), y, &allocation, 0), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int run = 0; run < 2; ++run) {
    memory[1] = 100;
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(TfLiteTensorData(t.Tensor(y)), memory);
    EXPECT_THAT(t.Get<float>(0), ElementsAre(-1, 0, 0.5f, 2));
  }
}

TEST(CachedResult, of_shape_does_not_write_client_memory) {
  TestInterpreter t(KeepingModel());
  alignas(64) int memory[16] = {};
  const TfLiteCustomAllocation allocation = {memory, sizeof memory};
  const int z = TfLiteInterpreterGetOutputTensorIndex(t.get(), 1);
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), z, &allocation, 0), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_THAT(t.Get<int>(1), ElementsAre(2, 3));
}

void IgnoreReport(TfLiteContext*, const char*, ...) {}

TEST(CachedResult, does_not_own_constants_of_the_model) {
  static const char bytes[16] = "the model's own";
  TfLiteTensor constant{};
  constant.allocation_type = kTfLiteMmapRo;
  constant.data.raw_const = bytes;
  constant.bytes = sizeof bytes;
  TfLiteContext context{};
  context.ReportError = &IgnoreReport;
  EXPECT_EQ(MakePersistent(&context, &constant), kTfLiteError);
  EXPECT_EQ(constant.allocation_type, kTfLiteMmapRo);
  EXPECT_EQ(constant.data.raw_const, bytes);
}

TEST(CachedResult, ignores_memory_that_it_does_not_own) {
  char arena[16] = {};
  TfLiteContext context{};
  for (const TfLiteAllocationType type :
       {kTfLiteArenaRw, kTfLiteArenaRwPersistent, kTfLiteCustom, kTfLiteNonCpu}) {
    TfLiteTensor tensor{};
    tensor.allocation_type = type;
    tensor.data.raw = arena;
    tensor.bytes = sizeof arena;
    EXPECT_EQ(MakePersistent(&context, &tensor), kTfLiteOk);
    EXPECT_EQ(tensor.allocation_type, kTfLitePersistentRo);
    EXPECT_EQ(tensor.data.raw, nullptr);
  }
}

}  // namespace
}  // namespace deputy::cached_results_test
