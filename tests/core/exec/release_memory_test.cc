// SPDX-License-Identifier: Apache-2.0
//
// Tests DeputyInterpreterReleaseMemory: resident memory falls, the next run provides the memory
// again at the same addresses, and results, inputs, outputs and variables are unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "core/base/packed_constants.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/plugin_support.h"
#include "tests/support/run_case.h"
#include "tests/support/test_interpreter.h"

namespace deputy::release_memory_test {
namespace {

class ReleaseMemory : public QuietTest {};

constexpr int kRows = 1024, kDepth = 1024, kColumns = 1024;

// z = SUM(CUMSUM(SOFTMAX(W x))), with 4 MiB of weights and tensors of 4 KiB in each row.
std::vector<uint8_t> LargeModel(int rows = kRows) {
  ModelBuilder m;
  std::vector<float> weights(size_t{kColumns} * kDepth);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
  const int x = m.AddTensor(kTfLiteFloat32, {rows, kDepth}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {kColumns, kDepth}, weights, "w");
  const int y = m.AddTensor(kTfLiteFloat32, {rows, kColumns}, "y");
  const int t = m.AddTensor(kTfLiteFloat32, {rows, kColumns}, "t");
  const int s = m.AddTensor(kTfLiteFloat32, {rows, kColumns}, "s");
  const int z = m.AddTensor(kTfLiteFloat32, {rows, 1}, "z");
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1}, "axis");
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSoftmax, {y}, {t}, schema::CreateSoftmaxOptions(m.fbb(), 0.01f));
  m.AddOp(kTfLiteBuiltinCumsum, {t, axis}, {s}, schema::CreateCumsumOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSum, {s, axis}, {z}, schema::CreateReducerOptions(m.fbb(), true));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

std::vector<float> LargeInput(int rows = kRows) {
  std::vector<float> x(static_cast<size_t>(rows) * kDepth);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) - 6;
  return x;
}

// Returns the resident kilobytes of the process, without those of files.
long ResidentKilobytes() {
  long resident = 0;
  std::istringstream status(ReadText("/proc/self/status"));
  for (std::string line; std::getline(status, line);) {
    if (std::sscanf(line.c_str(), "RssAnon: %ld kB", &resident) == 1) break;
  }
  return resident;
}

TEST_F(ReleaseMemory, resident_memory_falls_and_comes_back_with_equal_results) {
  TestInterpreter t(LargeModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, LargeInput());
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const std::vector<float> expected = t.Get<float>(0);
  const void* const input = TfLiteTensorData(t.Tensor(0));
  const long before = ResidentKilobytes();
  const size_t packed = MemoryMapOf(t.get()).packed_bytes;
  EXPECT_GE(packed, size_t{kColumns} * kDepth * sizeof(float));

  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk) << t.log();
  const long released = ResidentKilobytes();
  // The packed weights and at least one intermediate tensor, of 4 MiB each; less a few pages.
  EXPECT_LT(released, before - 2 * 4096 + 256);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
  EXPECT_EQ(MemoryMapOf(t.get()).scratch_bytes, 0u);
  EXPECT_EQ(t.Get<float>(0), expected);
  EXPECT_EQ(TestInterpreter::Values<float>(t.Tensor(0)), LargeInput());

  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), expected);
  EXPECT_EQ(TfLiteTensorData(t.Tensor(0)), input);
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, packed);
  EXPECT_GT(ResidentKilobytes(), released + 4096);
}

// y = tanh(W x) * s, where W and s are dequantised from float16 or int8. W has several pages.
std::vector<uint8_t> DequantizingModel(TfLiteType type) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2, 64}, "x");
  const TensorExtras extras = {.scale = {0.5f}, .zero_point = {3}};
  const auto constant = [&](const std::vector<int32_t>& shape) {
    const size_t size = shape.size() == 1 ? 64 : 64 * 64;
    std::vector<uint16_t> halves(size);
    std::vector<int8_t> bytes(size);
    for (size_t i = 0; i < size; ++i) {
      halves[i] = static_cast<uint16_t>(0x3c00 + i % 1024);  // from 1 to 2
      bytes[i] = static_cast<int8_t>(i * 3 % 256);
    }
    const int stored = type == kTfLiteFloat16 ? m.AddConstant(type, shape, halves)
                                              : m.AddConstant(type, shape, bytes, "", extras);
    const int values = m.AddTensor(kTfLiteFloat32, shape);
    m.AddOp(kTfLiteBuiltinDequantize, {stored}, {values});
    return values;
  };
  const int w = constant({64, 64}), s = constant({64});
  const int y = m.AddTensor(kTfLiteFloat32, {2, 64}), t = m.AddTensor(kTfLiteFloat32, {2, 64}),
            z = m.AddTensor(kTfLiteFloat32, {2, 64});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinTanh, {y}, {t});
  m.AddOp(kTfLiteBuiltinMul, {t, s}, {z}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

// The interpreter is the only one of its model, so that each release discards the constants.
TEST_F(ReleaseMemory, dequantised_constants_come_back) {
  for (const TfLiteType type : {kTfLiteFloat16, kTfLiteInt8}) {
    TestInterpreter t(DequantizingModel(type));
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    std::vector<float> x(128);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 5) / 512.0f;
    t.Set<float>(0, x);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    const std::vector<float> expected = t.Get<float>(0);
    EXPECT_THAT(expected, testing::Contains(testing::Gt(0.01f)));
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk) << t.log();
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_EQ(t.Get<float>(0), expected) << TfLiteTypeGetName(type) << " " << round;
    }
  }
}

// The constant that the delegate's node reads is dequantised by a node of the CPU.
TEST_F(ReleaseMemory, a_single_node_reads_dequantised_constants) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {4}, "x");
  const int stored = m.AddConstant<uint16_t>(kTfLiteFloat16, {4}, {0x3c00, 0x4000, 0x4200, 0x4400});
  const int s = m.AddTensor(kTfLiteFloat32, {4}), z = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinDequantize, {stored}, {s});
  m.AddOp(kTfLiteBuiltinMul, {x, s}, {z}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  Scripted delegate({1});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  DeputyPartition partition = {};
  partition.struct_size = sizeof partition;
  ASSERT_EQ(DeputyInterpreterGetPartition(t.get(), 0, 0, &partition), kTfLiteOk);
  t.Set<float>(0, {1, 1, 1, 1});
  PackedConstants::OverwriteDiscarded(true);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk) << t.log();
  PackedConstants::OverwriteDiscarded(false);
  ASSERT_EQ(DeputyInterpreterInvokeNode(t.get(), 0, partition.node_index), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_GT(delegate->nodes_computed, 0);
}

TEST_F(ReleaseMemory, packed_constants_leave_the_resident_memory) {
  TestInterpreter t(LargeModel(1));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, LargeInput(1));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const std::vector<float> expected = t.Get<float>(0);
  const long before = ResidentKilobytes();
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk) << t.log();
  EXPECT_LT(ResidentKilobytes(), before - 4096 + 256);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), expected);
}

TEST_F(ReleaseMemory, a_plan_that_was_prepared_in_the_background_releases_too) {
  const Handle hooks = External("hooks", {{"node", "3"}, {"factor", "3"}});
  TfLiteDelegate* delegate = hooks.get();
  TestInterpreter t(LargeModel(1));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(DeputyInterpreterApplyInBackground(t.get(), &delegate, 1, nullptr), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterWaitForBackground(t.get(), -1), kTfLiteOk) << t.log();
  t.Set<float>(0, LargeInput(1));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const std::vector<float> expected = t.Get<float>(0);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(MemoryMapOf(t.get()).packed_bytes, 0u);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), expected);
}

TEST_F(ReleaseMemory, kernels_of_the_client_are_not_prepared_again) {
  ModelBuilder m;
  const std::vector<float> weights(64 * 64, 0.5f);
  const int x = m.AddTensor(kTfLiteFloat32, {1, 64}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {64, 64}, weights, "w");
  const int t = m.AddTensor(kTfLiteFloat32, {1, 64}, "t");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 64}, "y");
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {t},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.AddCustomOp("Backwards", {t}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter own(m.Finish());
  ASSERT_EQ(own.Allocate(), kTfLiteOk) << own.log();
  own.Set<float>(0, std::vector<float>(64, 1));
  ASSERT_EQ(own.Invoke(), kTfLiteOk) << own.log();
  const int64_t preparations = MemoryMapOf(own.get()).preparations;
  ASSERT_EQ(DeputyInterpreterReleaseMemory(own.get()), kTfLiteOk);
  EXPECT_GT(MemoryMapOf(own.get()).packed_bytes, 0u);
  ASSERT_EQ(own.Invoke(), kTfLiteOk) << own.log();
  EXPECT_EQ(own.Get<float>(0), std::vector<float>(64, 32));
  EXPECT_EQ(MemoryMapOf(own.get()).preparations, preparations);
}

TEST_F(ReleaseMemory, a_cancelled_run_leaves_the_interpreter_ready) {
  TestInterpreter t(LargeModel(1));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<float>(0, LargeInput(1));
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  const std::vector<float> expected = t.Get<float>(0);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
  const auto always = [](void*) { return true; };
  ASSERT_EQ(DeputyInterpreterSetCancellationFunction(t.get(), nullptr, always), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(DeputyInterpreterSetCancellationFunction(t.get(), nullptr, nullptr), kTfLiteOk);
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), expected);
}

TEST_F(ReleaseMemory, constants_stay_until_all_interpreters_of_a_model_release_them) {
  TestInterpreter first(LargeModel());
  const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> second(
      TfLiteInterpreterCreate(first.model(), nullptr), TfLiteInterpreterDelete);
  const std::vector<float> x = LargeInput();
  std::vector<float> expected(kRows), found(kRows);
  const auto run = [&](TfLiteInterpreter* interpreter, std::vector<float>* z) {
    ASSERT_EQ(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter, 0), x.data(),
                                         x.size() * sizeof(float)),
              kTfLiteOk);
    ASSERT_EQ(TfLiteInterpreterInvoke(interpreter), kTfLiteOk);
    ASSERT_EQ(TfLiteTensorCopyToBuffer(TfLiteInterpreterGetOutputTensor(interpreter, 0), z->data(),
                                       z->size() * sizeof(float)),
              kTfLiteOk);
  };
  ASSERT_EQ(first.Allocate(), kTfLiteOk);
  ASSERT_EQ(TfLiteInterpreterAllocateTensors(second.get()), kTfLiteOk);
  run(first.get(), &expected);
  const size_t packed = MemoryMapOf(first.get()).packed_bytes;
  ASSERT_EQ(DeputyInterpreterReleaseMemory(first.get()), kTfLiteOk);
  EXPECT_EQ(MemoryMapOf(first.get()).packed_bytes, packed);
  run(second.get(), &found);
  EXPECT_EQ(found, expected);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(second.get()), kTfLiteOk);
  EXPECT_EQ(MemoryMapOf(first.get()).packed_bytes, 0u);
  run(first.get(), &found);
  EXPECT_EQ(found, expected);
  run(second.get(), &found);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(MemoryMapOf(first.get()).packed_bytes, packed);
}

// y = UNIDIRECTIONAL_SEQUENCE_RNN(x) with the variable h.
std::vector<uint8_t> StatefulModel() {
  ModelBuilder m;
  TensorExtras variable;
  variable.is_variable = true;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 1, 2}, "x");
  const int w = m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 2, 3, 4}, "w");
  const int r = m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 0, 0, 1}, "r");
  const int b = m.AddConstant<float>(kTfLiteFloat32, {2}, {0, 0}, "b");
  const int h = m.AddTensor(kTfLiteFloat32, {1, 2}, "h", variable);
  const int y = m.AddTensor(kTfLiteFloat32, {1, 1, 2}, "y");
  m.AddOp(kTfLiteBuiltinUnidirectionalSequenceRnn, {x, w, r, b, h}, {y},
          schema::CreateSequenceRNNOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST_F(ReleaseMemory, variables_keep_their_contents) {
  TestInterpreter t(StatefulModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  // h = W x + h in every run.
  t.Set<float>(0, {1, 1});
  std::vector<float> expected = {0, 0};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    expected = {expected[0] + 3, expected[1] + 7};
    EXPECT_EQ(t.Get<float>(0), expected);
  }
}

TEST_F(ReleaseMemory, calls_in_any_order_work_afterwards) {
  TestInterpreter fresh(LargeModel()), t(LargeModel());
  EXPECT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterSetNumThreads(t.get(), 2), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
  ASSERT_EQ(t.Resize(0, {2, kDepth}), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(fresh.Resize(0, {2, kDepth}), kTfLiteOk);
  ASSERT_EQ(fresh.Allocate(), kTfLiteOk);
  const std::vector<float> x(2 * kDepth, 0.5f);
  for (TestInterpreter* each : {&fresh, &t}) {
    each->Set<float>(0, x);
    ASSERT_EQ(each->Invoke(), kTfLiteOk) << each->log();
  }
  EXPECT_EQ(t.Get<float>(0), fresh.Get<float>(0));
}

TEST_F(ReleaseMemory, a_delegate_that_holds_addresses_reads_and_writes_the_same_tensors) {
  const Handle delegate = External("hooks", {{"node", "0"}, {"factor", "3"}});
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1 << 16}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {1 << 16}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {1 << 16}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinNeg, {y}, {z}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(DeputyInterpreterGetPartitionCount(t.get(), 0), 1);
  t.Set<float>(0, std::vector<float>(1 << 16, 2));
  std::vector<const void*> addresses;
  for (int tensor : {x, y, z}) addresses.push_back(TfLiteTensorData(t.Tensor(tensor)));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk);
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<float>(0), std::vector<float>(1 << 16, -6));
    for (int tensor : {x, y, z}) {
      EXPECT_EQ(TfLiteTensorData(t.Tensor(tensor)), addresses[static_cast<size_t>(tensor)]);
    }
  }
}

TEST_F(ReleaseMemory, a_running_interpreter_is_refused) {
  EXPECT_EQ(DeputyInterpreterReleaseMemory(nullptr), kTfLiteError);
  TestInterpreter t(LargeModel());
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  // The run is in flight while its inputs are copied.
  run_case::TestRun run({}, {kRows});
  TfLiteStatus status = kTfLiteOk;
  run.copy_in = [&](int, float* data, size_t count) {
    std::fill(data, data + count, 0.0f);
    status = DeputyInterpreterReleaseMemory(t.get());
    return kTfLiteOk;
  };
  ASSERT_EQ(run.Start(t.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(run.Wait(), kTfLiteOk) << t.log();
  EXPECT_EQ(status, kTfLiteError);
}

TEST_F(ReleaseMemory, interpreters_of_a_model_release_on_several_threads) {
  TestInterpreter owner(LargeModel());
  const std::vector<float> x(2 * kDepth, 0.5f);
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&] {
      const std::unique_ptr<TfLiteInterpreter, void (*)(TfLiteInterpreter*)> interpreter(
          TfLiteInterpreterCreate(owner.model(), nullptr), TfLiteInterpreterDelete);
      const int dims[] = {2, kDepth};
      ASSERT_EQ(TfLiteInterpreterResizeInputTensor(interpreter.get(), 0, dims, 2), kTfLiteOk);
      ASSERT_EQ(TfLiteInterpreterAllocateTensors(interpreter.get()), kTfLiteOk);
      for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(TfLiteTensorCopyFromBuffer(TfLiteInterpreterGetInputTensor(interpreter.get(), 0),
                                             x.data(), x.size() * sizeof(float)),
                  kTfLiteOk);
        ASSERT_EQ(TfLiteInterpreterInvoke(interpreter.get()), kTfLiteOk);
        const TfLiteTensor* const z = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
        const std::vector<float> found = TestInterpreter::Values<float>(z);
        ASSERT_TRUE(i == 0 || found == result) << i;
        result = found;
        ASSERT_EQ(DeputyInterpreterReleaseMemory(interpreter.get()), kTfLiteOk);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

}  // namespace
}  // namespace deputy::release_memory_test
