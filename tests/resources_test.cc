// SPDX-License-Identifier: Apache-2.0
//
// Variables that operators share by name: what the interpreter keeps of them, from one inference to
// the next and from one subgraph to another, and what starting over makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "core/base/resources.h"
#include "tests/delegate_support.h"
#include "tests/model_builder.h"
#include "tests/test_interpreter.h"

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- What is kept -------------------------------------------------------------------------------

bool Assign(Resources* resources, int id, const std::string& text,
            const Limits& limits = Limits()) {
  const std::vector<int> dims = {static_cast<int>(text.size())};
  return resources->Assign(id, kTfLiteInt8, dims, {text.data(), text.size()}, limits);
}

std::string TextOf(const Resources& resources, int id) {
  const Resources::Variable* variable = resources.FindVariable(id);
  return variable == nullptr ? "nothing" : std::string(variable->data.data(), variable->bytes);
}

TEST(Resources, one_number_for_one_pair_of_names) {
  Resources resources;
  EXPECT_EQ(resources.Id("", "a"), 0);
  EXPECT_EQ(resources.Id("", "b"), 1);
  EXPECT_EQ(resources.Id("b", ""), 2);
  EXPECT_EQ(resources.Id("", "a"), 0);
}

TEST(Resources, keeps_a_copy_of_the_newest_value) {
  Resources resources;
  EXPECT_EQ(resources.FindVariable(0), nullptr);
  std::string text = "first";
  ASSERT_TRUE(Assign(&resources, 0, text));
  text = "other";
  EXPECT_EQ(TextOf(resources, 0), "first");
  EXPECT_EQ(resources.bytes(), 5u);
  ASSERT_TRUE(Assign(&resources, 0, "longer than before"));
  ASSERT_TRUE(Assign(&resources, 7, "x"));
  EXPECT_EQ(TextOf(resources, 0), "longer than before");
  EXPECT_THAT(resources.FindVariable(0)->dims, ElementsAre(18));
  EXPECT_EQ(resources.bytes(), 19u);
  ASSERT_TRUE(Assign(&resources, 0, ""));
  EXPECT_EQ(TextOf(resources, 0), "");
  EXPECT_EQ(resources.bytes(), 1u);
}

TEST(Resources, a_snapshot_is_not_what_is_assigned_later) {
  Resources resources;
  ASSERT_TRUE(Assign(&resources, 0, "then"));
  const Resources::Snapshot before = resources.Save();
  for (const char* text : {"now", "later"}) ASSERT_TRUE(Assign(&resources, 0, text));
  ASSERT_TRUE(Assign(&resources, 1, "new"));
  EXPECT_EQ(TextOf(resources, 0), "later");
  for (int time = 0; time < 2; ++time) {
    resources.Restore(before);
    EXPECT_EQ(TextOf(resources, 0), "then");
    EXPECT_EQ(TextOf(resources, 1), "nothing");
    EXPECT_EQ(resources.bytes(), 4u);
    ASSERT_TRUE(Assign(&resources, 0, "again"));
  }
}

TEST(Resources, what_the_limits_refuse_changes_nothing) {
  Resources resources;
  Limits limits;
  limits.max_block_bytes = 8;
  limits.max_tensors = 2;
  ASSERT_TRUE(Assign(&resources, 0, "12345", limits));
  ASSERT_TRUE(Assign(&resources, 1, "678", limits));
  EXPECT_FALSE(Assign(&resources, 1, "6789", limits));
  EXPECT_FALSE(Assign(&resources, 2, "", limits));
  EXPECT_EQ(TextOf(resources, 1), "678");
  EXPECT_EQ(resources.bytes(), 8u);
  EXPECT_TRUE(Assign(&resources, 0, "abcde", limits));
}

// ---- In models ----------------------------------------------------------------------------------

struct Names {
  const char* container = "";
  const char* name = "state";
};

int AddHandle(ModelBuilder* m, Names names = {}) {
  const int handle = m->AddTensor(kTfLiteResource, {});
  m->AddOp(kTfLiteBuiltinVarHandle, {}, {handle},
           schema::CreateVarHandleOptionsDirect(m->fbb(), names.container, names.name));
  return handle;
}

// y = (x + 0.5) * w: the sum by node 0, which a delegate may have; w is the state, which a branch
// sets to x when `first` is true, and another one raises by x when not.
std::vector<uint8_t> StateOfTwoBranches() {
  ModelBuilder m;
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, {1}); };
  const int half = m.AddConstant<float>(kTfLiteFloat32, {1}, {0.5f});
  const int x = tensor(), sum = tensor(), w = tensor(), y = tensor();
  const int first = m.AddTensor(kTfLiteBool, {1});
  m.AddOp(kTfLiteBuiltinAdd, {x, half}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinIf, {first, x}, {w}, schema::CreateIfOptions(m.fbb(), 1, 2));
  m.AddOp(kTfLiteBuiltinMul, {sum, w}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x, first});
  m.SetOutputs({y});
  for (const bool set : {true, false}) {
    m.AddSubgraph(set ? "set" : "raise");
    const int in = tensor(), out = tensor();
    const int handle = AddHandle(&m);
    int value = in;
    if (!set) {
      const int before = tensor();
      m.AddOp(kTfLiteBuiltinReadVariable, {handle}, {before});
      m.AddOp(kTfLiteBuiltinAdd, {before, in}, {value = tensor()},
              schema::CreateAddOptions(m.fbb()));
    }
    m.AddOp(kTfLiteBuiltinAssignVariable, {handle, value}, {});
    m.AddOp(kTfLiteBuiltinReadVariable, {handle}, {out});
    m.SetInputs({in});
    m.SetOutputs({out});
  }
  return m.Finish();
}

// The state after one inference.
float StateAfter(TestInterpreter* t, float x, bool first) {
  t->Set<float>(0, {x});
  t->Set<uint8_t>(1, {first});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0)[0] / (x + 0.5f);
}

size_t ResourceBytes(const TestInterpreter& t) {
  DeputyMemoryMap map{};
  map.struct_size = sizeof map;
  EXPECT_EQ(DeputyInterpreterGetMemoryMap(t.get(), 0, &map), kTfLiteOk);
  return map.resource_bytes;
}

TEST(Variables, last_from_inference_to_inference_in_all_subgraphs) {
  TestInterpreter t(StateOfTwoBranches()), other(StateOfTwoBranches());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(ResourceBytes(t), 0u);
  EXPECT_EQ(StateAfter(&t, 2, true), 2);
  EXPECT_EQ(StateAfter(&t, 3, false), 5);
  EXPECT_EQ(StateAfter(&t, 3, false), 8);
  EXPECT_EQ(ResourceBytes(t), sizeof(float));
  // Like TensorFlow Lite's: allocating resets tensors that are variables, and no resource.
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(StateAfter(&t, 1, false), 9);
  EXPECT_EQ(StateAfter(&t, 4, true), 4);
  // They are the interpreter's, not the model's.
  ASSERT_EQ(other.Allocate(), kTfLiteOk);
  other.Set<uint8_t>(1, {0});
  EXPECT_EQ(other.Invoke(), kTfLiteError);
  EXPECT_THAT(other.log(), HasSubstr("no value was assigned to variable 0"));
}

TEST(Variables, starting_over_finds_them_as_they_were) {
  for (const int lost_in : {-1, 0, 1, 2}) {  // the inference in which the device fails
    Scripted delegate({0});
    delegate->outputs_on_device = true;
    if (lost_in >= 0) delegate.FailAt(kScriptedCopyFrom, lost_in);
    TestInterpreter t(StateOfTwoBranches(), [&](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
    });
    ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
    ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
    EXPECT_EQ(StateAfter(&t, 2, true), 2) << lost_in;
    EXPECT_EQ(StateAfter(&t, 3, false), 5) << lost_in;
    EXPECT_EQ(StateAfter(&t, 3, false), 8) << lost_in;
    DeputyDelegationStatus status{};
    status.struct_size = sizeof status;
    ASSERT_EQ(DeputyInterpreterGetDelegationStatus(t.get(), &status), kTfLiteOk);
    EXPECT_EQ(status.restarts, lost_in >= 0 ? 1 : 0);
  }
}

// TensorFlow Lite copies as many bytes as the tensor has, from a variable that has fewer.
TEST(Variables, a_value_of_another_size_is_refused) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x"), y = m.AddTensor(kTfLiteFloat32, {9}, "y");
  const int handle = AddHandle(&m);
  m.AddOp(kTfLiteBuiltinAssignVariable, {handle, x}, {});
  m.AddOp(kTfLiteBuiltinReadVariable, {handle}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter t(m.Finish());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(),
              HasSubstr("tensor 1 'y': expected the 8 bytes of variable 0, found room for 36"));
}

}  // namespace
}  // namespace deputy
