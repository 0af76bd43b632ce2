// SPDX-License-Identifier: Apache-2.0
//
// Tests variables that operators share by name: their lifetime in the interpreter, across
// inferences and subgraphs, and their values after a restarted inference. Tests CALL_ONCE and hash
// tables, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c_api/include/deputy.h"
#include "core/base/resources.h"
#include "tests/support/delegate_support.h"
#include "tests/support/interpreter_queries.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::resources_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// ---- Stored values ------------------------------------------------------------------------------

bool Assign(Resources* resources, int id, const std::string& text,
            const Limits& limits = Limits()) {
  const std::vector<int> dims = {static_cast<int>(text.size())};
  return resources->Assign(id, kTfLiteInt8, dims, {text.data(), text.size()}, limits);
}

std::string TextOf(const Resources& resources, int id) {
  const Resources::Variable* variable = resources.FindVariable(id);
  return variable == nullptr ? "nothing" : std::string(variable->data.data(), variable->bytes);
}

TEST(Resources, equal_names_have_equal_numbers) {
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

TEST(Resources, snapshots_are_unaffected_by_later_assignments) {
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

TEST(Resources, exceeding_the_limits_changes_nothing) {
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

Resources::Table TableOf(const std::map<std::string, int64_t>& entries) {
  Resources::Table table;
  table.key_type = kTfLiteString;
  table.value_type = kTfLiteInt64;
  table.filled = true;
  table.numbers = {entries.begin(), entries.end()};
  for (const auto& [key, value] : entries) table.bytes += key.size() + sizeof value;
  return table;
}

TEST(Resources, a_table_is_created_once_and_filled) {
  Resources resources;
  EXPECT_EQ(resources.FindTable(3), nullptr);
  ASSERT_TRUE(resources.CreateTable(3, kTfLiteString, kTfLiteInt64, Limits()));
  EXPECT_FALSE(resources.FindTable(3)->filled);
  ASSERT_TRUE(resources.FillTable(3, TableOf({{"a", 1}, {"bc", 2}}), Limits()));
  ASSERT_TRUE(resources.CreateTable(3, kTfLiteInt64, kTfLiteString, Limits()));
  EXPECT_EQ(resources.FindTable(3)->numbers.at("bc"), 2);
  EXPECT_EQ(resources.bytes(), 19u);
}

TEST(Resources, snapshots_contain_tables_and_initialized_subgraphs) {
  Resources resources;
  ASSERT_TRUE(resources.CreateTable(0, kTfLiteString, kTfLiteInt64, Limits()));
  const Resources::Snapshot before = resources.Save();
  ASSERT_TRUE(resources.FillTable(0, TableOf({{"a", 1}}), Limits()));
  resources.SetInitialized(2);
  const Resources::Snapshot after = resources.Save();
  resources.Restore(before);
  EXPECT_FALSE(resources.FindTable(0)->filled);
  EXPECT_FALSE(resources.initialized(2));
  EXPECT_EQ(resources.bytes(), 0u);
  resources.Restore(after);
  EXPECT_TRUE(resources.FindTable(0)->filled);
  EXPECT_TRUE(resources.initialized(2));
  EXPECT_EQ(resources.bytes(), 9u);
}

TEST(Resources, a_table_beyond_the_limits_is_unchanged) {
  Resources resources;
  Limits limits;
  limits.max_block_bytes = 12;
  limits.max_tensors = 1;
  ASSERT_TRUE(resources.CreateTable(0, kTfLiteString, kTfLiteInt64, limits));
  EXPECT_FALSE(resources.CreateTable(1, kTfLiteString, kTfLiteInt64, limits));
  EXPECT_FALSE(resources.FillTable(0, TableOf({{"abcde", 1}}), limits));
  EXPECT_FALSE(resources.FindTable(0)->filled);
  ASSERT_TRUE(Assign(&resources, 0, "1234", limits));
  EXPECT_TRUE(resources.FillTable(0, TableOf({{"", 1}}), limits));
  EXPECT_FALSE(Assign(&resources, 0, "12345", limits));
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

// y = (x + 0.5) * w, where w is the state: one branch sets it to x if `first` is true, the other
// branch adds x to it. A delegate may claim node 0, the sum.
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

// Returns the state after one inference.
float StateAfter(TestInterpreter* t, float x, bool first) {
  t->Set<float>(0, {x});
  t->Set<uint8_t>(1, {first});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0)[0] / (x + 0.5f);
}

size_t ResourceBytes(const TestInterpreter& t) {
  const DeputyMemoryMap map = MemoryMapOf(t.get());
  return map.resource_bytes;
}

TEST(Variables, persist_between_inferences_in_all_subgraphs) {
  TestInterpreter t(StateOfTwoBranches()), other(StateOfTwoBranches());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(ResourceBytes(t), 0u);
  EXPECT_EQ(StateAfter(&t, 2, true), 2);
  EXPECT_EQ(StateAfter(&t, 3, false), 5);
  EXPECT_EQ(StateAfter(&t, 3, false), 8);
  EXPECT_EQ(ResourceBytes(t), sizeof(float));
  // Allocating resets variable tensors but not resource variables, as in TensorFlow Lite.
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  EXPECT_EQ(StateAfter(&t, 1, false), 9);
  EXPECT_EQ(StateAfter(&t, 4, true), 4);
  // Resource variables belong to the interpreter, not to the model.
  ASSERT_EQ(other.Allocate(), kTfLiteOk);
  other.Set<uint8_t>(1, {0});
  EXPECT_EQ(other.Invoke(), kTfLiteError);
  EXPECT_THAT(other.log(), HasSubstr("no value was assigned to variable 0"));
}

TEST(Variables, restart_restores_them) {
  for (const int lost_in : {-1, 0, 1, 2}) {  // inference of the failure; -1: none
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

// TensorFlow Lite copies the tensor's number of bytes even from a smaller variable; Deputy refuses.
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
              HasSubstr("tensor 1 'y': expected space for the 8 bytes of variable 0, found 36"));
}

// ---- CALL_ONCE ---------------------------------------------------------------------------------

// Subgraph 1 sets v = 3 once; subgraph 0 computes v = v + x and y = v. With `broken`, subgraph 1
// reads an unknown variable first.
std::vector<uint8_t> StartingAtThree(bool broken = false) {
  ModelBuilder m;
  const auto tensor = [&] { return m.AddTensor(kTfLiteFloat32, {1}); };
  const int x = tensor(), before = tensor(), after = tensor(), y = tensor();
  const int v = AddHandle(&m);
  m.AddOp(kTfLiteBuiltinCallOnce, {}, {}, schema::CreateCallOnceOptions(m.fbb(), 1));
  m.AddOp(kTfLiteBuiltinReadVariable, {v}, {before});
  m.AddOp(kTfLiteBuiltinAdd, {before, x}, {after}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAssignVariable, {v, after}, {});
  m.AddOp(kTfLiteBuiltinReadVariable, {v}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  m.AddSubgraph("start");
  if (broken) {
    m.AddOp(kTfLiteBuiltinReadVariable, {AddHandle(&m, {"", "unknown"})}, {tensor()});
  }
  const int three = m.AddConstant<float>(kTfLiteFloat32, {1}, {3});
  m.AddOp(kTfLiteBuiltinAssignVariable, {AddHandle(&m), three}, {});
  return m.Finish();
}

float Next(TestInterpreter* t, float x) {
  t->Set<float>(0, {x});
  EXPECT_EQ(t->Invoke(), kTfLiteOk) << t->log();
  return t->Get<float>(0)[0];
}

TEST(CallOnce, runs_once_for_each_interpreter) {
  TestInterpreter t(StartingAtThree()), other(StartingAtThree());
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  ASSERT_EQ(other.Allocate(), kTfLiteOk) << other.log();
  EXPECT_EQ(Next(&t, 1), 4);
  EXPECT_EQ(Next(&t, 1), 5);
  EXPECT_EQ(Next(&other, 2), 5);
  // Neither allocating nor resetting variable tensors runs the CALL_ONCE again.
  ASSERT_EQ(t.Allocate(), kTfLiteOk);
  ASSERT_EQ(TfLiteInterpreterResetVariableTensors(t.get()), kTfLiteOk);
  EXPECT_EQ(Next(&t, 1), 6);
}

TEST(CallOnce, is_repeated_after_a_failure) {
  TestInterpreter t(StartingAtThree(true));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int time = 0; time < 2; ++time) {
    t.ClearLog();
    EXPECT_EQ(t.Invoke(), kTfLiteError);
    EXPECT_THAT(t.log(), HasSubstr("no value was assigned to variable 1"));
  }
}

TEST(CallOnce, restart_runs_it_again) {
  Scripted delegate({2});
  delegate->outputs_on_device = true;
  delegate.FailAt(kScriptedCopyFrom, 0);
  TestInterpreter t(StartingAtThree(), [&](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetDelegatePolicy(options, kDeputyPolicyHot);
  });
  ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(Next(&t, 1), 4);
  EXPECT_EQ(Next(&t, 1), 5);
}

// ---- Hash tables -------------------------------------------------------------------------------

// y = table[x]; an operator fills the table in every inference if `filled`, otherwise never.
std::vector<uint8_t> NumberedTable(bool filled) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt64, {3}), y = m.AddTensor(kTfLiteString, {3});
  const int table = m.AddTensor(kTfLiteResource, {1});
  const int otherwise = m.AddStringConstant({}, {"none"});
  m.AddOp(kTfLiteBuiltinHashtable, {}, {table},
          schema::CreateHashtableOptions(m.fbb(), 5, schema::TensorType::INT64,
                                         schema::TensorType::STRING));
  if (filled) {
    const int keys = m.AddConstant<int64_t>(kTfLiteInt64, {2}, {4, -9});
    const int values = m.AddStringConstant({2}, {"four", "minus nine"});
    m.AddOp(kTfLiteBuiltinHashtableImport, {table, keys, values}, {});
  }
  m.AddOp(kTfLiteBuiltinHashtableFind, {table, x, otherwise}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

TEST(HashTables, are_filled_once_and_counted) {
  TestInterpreter t(NumberedTable(true));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  for (int time = 0; time < 3; ++time) {
    t.Set<int64_t>(0, {-9, 5, 4});
    ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
    EXPECT_EQ(t.Get<uint8_t>(0), StringTensorBytes({"minus nine", "none", "four"}));
    EXPECT_EQ(ResourceBytes(t), 2 * sizeof(int64_t) + 4 + 10);
  }
}

TEST(HashTables, an_empty_one_is_refused_by_number) {
  TestInterpreter t(NumberedTable(false));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Invoke(), kTfLiteError);
  EXPECT_THAT(t.log(), HasSubstr("nothing was imported into table 5"));
}

}  // namespace
}  // namespace deputy::resources_test
