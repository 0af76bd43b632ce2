// SPDX-License-Identifier: Apache-2.0
//
// Tests memory that delegates provide for inputs of their nodes: its use, its release, and
// refusals.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy.h"
#include "c_api/include/deputy_graph.h"
#include "core/exec/provided_memory.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::provided_memory_test {
namespace {

using Floats = std::vector<float>;

// y = -x, z = y + y. The delegate claims one of the nodes and doubles its input.
std::vector<uint8_t> Model() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

class ProvidedMemory : public QuietTest {
 protected:
  ~ProvidedMemory() override { std::filesystem::remove(log_); }

  Handle Delegate(const char* node, Options options = {}) {
    options.insert(options.end(), {{"node", node}, {"log", log_}});
    return External("providing", options);
  }
  // Returns the events in the log and clears it.
  std::string Events() {
    std::string events = std::filesystem::exists(log_) ? ReadText(log_) : "";
    std::filesystem::remove(log_);
    return events;
  }
  static void Apply(const Handle& delegate, TestInterpreter* t) {
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t->get(), delegate.get()), kTfLiteOk)
        << t->log();
    ASSERT_EQ(t->Allocate(), kTfLiteOk) << t->log();
  }
  static Floats Run(const Floats& x, TestInterpreter* t) {
    t->Set<float>(0, x);
    EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
    return t->Get<float>(0);
  }

  const std::string log_ = ScratchFile("providing");
};

TEST_F(ProvidedMemory, nodes_on_the_cpu_write_into_it_until_the_interpreter_is_deleted) {
  const Handle delegate = Delegate("1");
  {
    TestInterpreter t(Model());
    Apply(delegate, &t);
    EXPECT_EQ(Run({1, 2}, &t), (Floats{-2, -4}));
    EXPECT_EQ(Run({3, 4}, &t), (Floats{-6, -8}));
    EXPECT_EQ(Events(), "provided; shared; shared; ");
  }
  EXPECT_EQ(Events(), "released; ");
}

TEST_F(ProvidedMemory, an_input_of_the_graph_is_in_it) {
  const Handle delegate = Delegate("0");
  TestInterpreter t(Model());
  Apply(delegate, &t);
  EXPECT_EQ(Run({1, 2}, &t), (Floats{4, 8}));
  EXPECT_EQ(Events(), "provided; shared; ");
  ASSERT_EQ(t.Resize(0, {3}), kTfLiteOk);
  // The tensor has no data between the resize and the allocation.
  EXPECT_EQ(TfLiteTensorData(t.Tensor(0)), nullptr);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Events(), "provided; released; ");
  EXPECT_EQ(Run({1, 2, 3}, &t), (Floats{4, 8, 12}));
  EXPECT_EQ(Events(), "shared; ");
  ASSERT_EQ(DeputyInterpreterReleaseMemory(t.get()), kTfLiteOk) << t.log();
  EXPECT_EQ(Run({1, 2, 3}, &t), (Floats{4, 8, 12}));
}

TEST_F(ProvidedMemory, memory_of_another_size_or_alignment_is_refused) {
  for (const Options& options :
       {Options{{"bytes", "4"}}, Options{{"bytes", "-4"}}, Options{{"offset", "32"}}}) {
    SCOPED_TRACE(options[0].first + "=" + options[0].second);
    const Handle delegate = Delegate("1", options);
    TestInterpreter t(Model());
    Apply(delegate, &t);
    EXPECT_EQ(Run({1, 2}, &t), (Floats{-2, -4}));
    EXPECT_EQ(Events(), "refused; other; ");
  }
}

TEST(ProvidedMemoryList, finds_memory_of_the_same_size_only) {
  int releases = 0;
  alignas(64) char data[8];
  const DeputyInputMemory memory = {data, 8, &releases,
                                    [](void* count) { ++*static_cast<int*>(count); }};
  TfLiteTensor tensor{};
  tensor.allocation_type = kTfLiteArenaRw;
  tensor.bytes = 8;
  {
    deputy::ProvidedMemory list;
    ASSERT_EQ(list.Provide(tensor, 3, memory), kTfLiteOk);
    EXPECT_EQ(list.Find(3, 8), data);
    EXPECT_EQ(list.Find(3, 4), nullptr);
    EXPECT_EQ(list.Find(3, 12), nullptr);
    EXPECT_EQ(list.Find(2, 8), nullptr);
    ASSERT_EQ(list.Provide(tensor, 3, memory), kTfLiteOk);
    EXPECT_EQ(releases, 0);
    list.ReleaseUnused();
    EXPECT_EQ(releases, 1);
    list.Clear();
    EXPECT_EQ(list.Find(3, 8), nullptr);
    EXPECT_EQ(releases, 1);
    tensor.allocation_type = kTfLiteDynamic;
    EXPECT_EQ(list.Provide(tensor, 3, memory), kTfLiteError);
  }
  EXPECT_EQ(releases, 2);
}

TEST_F(ProvidedMemory, memory_of_the_client_takes_precedence) {
  const Handle delegate = Delegate("0");
  TestInterpreter t(Model());
  Apply(delegate, &t);
  alignas(64) float own[2] = {5, 6};
  const TfLiteCustomAllocation allocation = {own, sizeof own};
  ASSERT_EQ(TfLiteInterpreterSetCustomAllocationForTensor(t.get(), 0, &allocation, 0), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<float>(0), (Floats{10 * 2, 12 * 2}));
  EXPECT_NE(Events().find("other; "), std::string::npos);
}

// A node after a dynamic tensor is prepared when its input has been computed.
TEST_F(ProvidedMemory, memory_is_refused_during_an_inference) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int shape = m.AddTensor(kTfLiteInt32, {1}, "shape");
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  const int r = m.AddTensor(kTfLiteFloat32, {2}, "r");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
  m.AddOp(kTfLiteBuiltinReshape, {y, shape}, {r});
  m.AddOp(kTfLiteBuiltinAdd, {y, y}, {z}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x, shape});
  m.SetOutputs({z, r});
  const Handle delegate = Delegate("2", {{"dynamic", "true"}});
  TestInterpreter t(m.Finish());
  Apply(delegate, &t);
  (void)Events();
  t.Set<int32_t>(1, {2});
  EXPECT_EQ(Run({1, 2}, &t), (Floats{-2, -4}));
  EXPECT_EQ(t.Get<float>(1), (Floats{-1, -2}));
  EXPECT_EQ(Events(), "refused; other; ");
}

TEST_F(ProvidedMemory, validation_keeps_tensors_between_its_guard_bytes) {
  const Handle delegate = Delegate("1");
  TestInterpreter t(Model(), [](TfLiteInterpreterOptions* options) {
    DeputyValidationOptions validation = {};
    validation.struct_size = sizeof validation;
    validation.enabled = 1;
    DeputyInterpreterOptionsSetValidation(options, &validation);
  });
  Apply(delegate, &t);
  EXPECT_EQ(Run({1, 2}, &t), (Floats{-2, -4}));
  EXPECT_EQ(Events(), "provided; other; ");
  EXPECT_EQ(DeputyInterpreterGetFindingCount(t.get()), 0u) << t.log();
}

TEST_F(ProvidedMemory, is_released_when_the_delegate_has_been_removed) {
  const Handle delegate = Delegate("0");
  TestInterpreter t(Model());
  Apply(delegate, &t);
  EXPECT_EQ(Run({1, 2}, &t), (Floats{4, 8}));
  (void)Events();
  ASSERT_EQ(DeputyInterpreterRemoveDelegates(t.get()), kTfLiteOk) << t.log();
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Events(), "released; ");
  EXPECT_EQ(Run({1, 2}, &t), (Floats{-2, -4}));
}

}  // namespace
}  // namespace deputy::provided_memory_test
