// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyInterpreterOptionsSetMemoryBudget: an interpreter works if the budget is the memory
// that it needs; with less, calls fail with a report and the interpreter stays usable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::memory_budget_test {
namespace {

using testing::HasSubstr;

class MemoryBudget : public QuietTest {};

constexpr int kSize = 64;

// y = SOFTMAX(W x) in each of the subgraphs.
std::vector<uint8_t> Model(int subgraphs = 1) {
  ModelBuilder m;
  for (int i = 0; i < subgraphs; ++i) {
    if (i > 0) m.AddSubgraph("another");
    const std::vector<float> weights(size_t{kSize} * kSize, 0.5f);
    const int x = m.AddTensor(kTfLiteFloat32, {kSize, kSize}, "x");
    const int w = m.AddConstant<float>(kTfLiteFloat32, {kSize, kSize}, weights, "w");
    const int t = m.AddTensor(kTfLiteFloat32, {kSize, kSize}, "t");
    const int y = m.AddTensor(kTfLiteFloat32, {kSize, kSize}, "y");
    m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {t},
            schema::CreateFullyConnectedOptions(m.fbb()));
    m.AddOp(kTfLiteBuiltinSoftmax, {t}, {y}, schema::CreateSoftmaxOptions(m.fbb(), 1.0f));
    m.SetInputs({x});
    m.SetOutputs({y});
  }
  return m.Finish();
}

// y = CONV_2D(x), whose weights are packed with scratch memory.
std::vector<uint8_t> ConvModel() {
  constexpr int kChannels = 64;
  ModelBuilder m;
  const std::vector<float> weights(size_t{9} * kChannels * kChannels, 0.5f);
  const int x = m.AddTensor(kTfLiteFloat32, {1, 16, 16, kChannels}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kChannels, 3, 3, kChannels}, weights, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 16, 16, kChannels}, "y");
  const int b =
      m.AddConstant<float>(kTfLiteFloat32, {kChannels}, std::vector<float>(kChannels), "b");
  m.AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {y},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TestInterpreter::Configure Budget(size_t bytes) {
  return [bytes](TfLiteInterpreterOptions* options) {
    ASSERT_EQ(DeputyInterpreterOptionsSetMemoryBudget(options, bytes), kTfLiteOk);
  };
}

DeputyMemoryMap MapOf(const TestInterpreter& t, int subgraph = 0) {
  DeputyMemoryMap map = {};
  map.struct_size = sizeof map;
  EXPECT_EQ(DeputyInterpreterGetMemoryMap(t.get(), subgraph, &map), kTfLiteOk);
  return map;
}

// Returns the size of the memory that an interpreter has, in bytes.
size_t Needed(const TestInterpreter& t) {
  const DeputyMemoryMap map = MapOf(t);
  return map.arena_bytes + map.persistent_bytes + map.scratch_bytes + map.packed_bytes;
}

// Returns the status of the allocation, or if that succeeds, of an inference.
TfLiteStatus AllocateAndInvoke(TestInterpreter* t) {
  const TfLiteStatus status = t->Allocate();
  return status == kTfLiteOk ? t->Invoke() : status;
}

TEST_F(MemoryBudget, scratch_memory_for_packing_is_bounded_too) {
  TestInterpreter enough(ConvModel(), Budget(size_t{1} << 30));
  EXPECT_EQ(enough.Allocate(), kTfLiteOk) << enough.log();
  TestInterpreter little(ConvModel(), Budget(1000));
  EXPECT_EQ(little.Allocate(), kTfLiteError);
  EXPECT_THAT(little.log(), HasSubstr("1000"));
}

TEST_F(MemoryBudget, an_interpreter_works_with_its_memory) {
  TestInterpreter free(Model());
  // The first inference acquires scratch memory in addition to the block, which then grows.
  ASSERT_EQ(AllocateAndInvoke(&free), kTfLiteOk);
  ASSERT_EQ(free.Invoke(), kTfLiteOk);
  const size_t needed = Needed(free);
  EXPECT_GE(needed, 3u * kSize * kSize * sizeof(float));
  // Scratch memory that grows during the inference is limited as if the former block stayed.
  TestInterpreter exact(Model(), Budget(needed + MapOf(free).scratch_bytes)),
      none(Model(), Budget(0));
  EXPECT_EQ(AllocateAndInvoke(&exact), kTfLiteOk) << exact.log();
  EXPECT_EQ(exact.Invoke(), kTfLiteOk) << exact.log();
  EXPECT_EQ(Needed(exact), needed);
  EXPECT_EQ(AllocateAndInvoke(&none), kTfLiteOk) << none.log();
}

TEST_F(MemoryBudget, every_smaller_budget_is_refused_and_fits_smaller_shapes) {
  TestInterpreter free(Model());
  ASSERT_EQ(AllocateAndInvoke(&free), kTfLiteOk);
  const size_t needed = Needed(free), packed = MapOf(free).packed_bytes;
  for (size_t budget = packed + 4096; budget < needed; budget += 1024) {
    TestInterpreter t(Model(), Budget(budget));
    EXPECT_EQ(AllocateAndInvoke(&t), kTfLiteError) << budget;
    EXPECT_NE(t.log(), "") << budget;
    EXPECT_LE(Needed(t), budget);
    ASSERT_EQ(t.Resize(0, {1, kSize}), kTfLiteOk);
    EXPECT_EQ(AllocateAndInvoke(&t), kTfLiteOk) << budget << ": " << t.log();
  }
  TestInterpreter t(Model(), Budget(needed - 1));
  EXPECT_EQ(AllocateAndInvoke(&t), kTfLiteError);
}

TEST_F(MemoryBudget, reports_name_the_arena_and_the_bytes) {
  TestInterpreter t(Model(), Budget(1000));
  EXPECT_EQ(t.Allocate(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("no memory for the tensor arena: expected at most 1000 bytes"));
  EXPECT_EQ(DeputyInterpreterOptionsSetMemoryBudget(nullptr, 1), kTfLiteError);
}

TEST_F(MemoryBudget, packed_constants_that_others_share_count) {
  TestInterpreter free(Model());
  ASSERT_EQ(AllocateAndInvoke(&free), kTfLiteOk);
  TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
  const DeputyMemoryMap map = MapOf(free);
  ASSERT_EQ(
      DeputyInterpreterOptionsSetMemoryBudget(options, map.arena_bytes + map.packed_bytes / 2),
      kTfLiteOk);
  const auto allocate_another = [&] {
    const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> another(
        TfLiteInterpreterCreate(free.model(), options), TfLiteInterpreterDelete);
    const TfLiteStatus status = TfLiteInterpreterAllocateTensors(another.get());
    return status == kTfLiteOk ? "" : std::string(DeputyInterpreterLastError(another.get()));
  };
  EXPECT_THAT(allocate_another(), HasSubstr("no memory for the tensor arena"));
  // Constants that were released count when they are packed again.
  ASSERT_EQ(DeputyInterpreterReleaseMemory(free.get()), kTfLiteOk);
  EXPECT_THAT(allocate_another(), HasSubstr("bytes of memory (budget), found "));
  TfLiteInterpreterOptionsDelete(options);
}

TEST_F(MemoryBudget, an_arena_that_grows_replaces_the_former_one) {
  TestInterpreter free(Model());
  ASSERT_EQ(free.Allocate(), kTfLiteOk);
  TestInterpreter t(Model(), Budget(Needed(free)));
  for (const int rows : {kSize / 2, kSize}) {
    ASSERT_EQ(t.Resize(0, {rows, kSize}), kTfLiteOk);
    EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  }
}

TEST_F(MemoryBudget, variables_count) {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {kSize, kSize}, "x");
  const int h = m.AddTensor(kTfLiteFloat32, {kSize, kSize}, "h", variable);
  const int y = m.AddTensor(kTfLiteFloat32, {kSize, kSize}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, h}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  const std::vector<uint8_t> model = m.Finish();
  TestInterpreter free(model);
  ASSERT_EQ(AllocateAndInvoke(&free), kTfLiteOk);
  ASSERT_EQ(MapOf(free).persistent_bytes, size_t{kSize} * kSize * sizeof(float));
  TestInterpreter exact(model, Budget(Needed(free))), less(model, Budget(Needed(free) - 1));
  EXPECT_EQ(AllocateAndInvoke(&exact), kTfLiteOk) << exact.log();
  EXPECT_EQ(less.Allocate(), kTfLiteError);
}

TEST_F(MemoryBudget, subgraphs_count_together) {
  TestInterpreter free(Model(2));
  for (const int subgraph : {0, 1}) {
    ASSERT_EQ(DeputyInterpreterAllocateSubgraph(free.get(), subgraph), kTfLiteOk);
    ASSERT_EQ(DeputyInterpreterInvokeSubgraph(free.get(), subgraph), kTfLiteOk);
  }
  const DeputyMemoryMap map = MapOf(free);
  const size_t allocated = map.arena_bytes + MapOf(free, 1).arena_bytes + map.packed_bytes;
  TestInterpreter exact(Model(2), Budget(allocated + 2 * map.scratch_bytes)),
      less(Model(2), Budget(allocated - 1));
  ASSERT_EQ(DeputyInterpreterAllocateSubgraph(less.get(), 0), kTfLiteOk) << less.log();
  EXPECT_EQ(DeputyInterpreterAllocateSubgraph(less.get(), 1), kTfLiteError);
  for (const int subgraph : {0, 1}) {
    ASSERT_EQ(DeputyInterpreterAllocateSubgraph(exact.get(), subgraph), kTfLiteOk) << exact.log();
    EXPECT_EQ(DeputyInterpreterInvokeSubgraph(exact.get(), subgraph), kTfLiteOk) << exact.log();
  }
}

}  // namespace
}  // namespace deputy::memory_budget_test
