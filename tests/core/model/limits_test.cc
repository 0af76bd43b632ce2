// SPDX-License-Identifier: Apache-2.0
//
// Tests the limits of models: the defaults on loading, those of a caller, and those of an
// interpreter. A model beyond them is refused with a message before memory is allocated for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "c_api/include/c_api.h"
#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/test_interpreter.h"

namespace deputy::limits_test {
namespace {

using testing::HasSubstr;

DeputyLimits LimitsOf(int32_t DeputyLimits::*field, int32_t value) {
  DeputyLimits limits{};
  limits.struct_size = sizeof limits;
  if (field != nullptr) limits.*field = value;
  return limits;
}

// A model whose file refers to one subgraph table `count` times. The subgraph is y = x + x, two
// tensors and one node, or empty.
std::vector<uint8_t> Repeated(size_t count, bool empty = false) {
  flatbuffers::FlatBufferBuilder fbb;
  const std::vector<int32_t> shape = {1}, x = {0}, xx = {0, 0}, y = {1};
  const std::vector<flatbuffers::Offset<schema::Tensor>> tensors = {
      schema::CreateTensorDirect(fbb, &shape), schema::CreateTensorDirect(fbb, &shape)};
  const std::vector<flatbuffers::Offset<schema::Operator>> operators = {
      schema::CreateOperatorDirect(fbb, 0, &xx, &y)};
  const std::vector<flatbuffers::Offset<schema::Tensor>> no_tensors;
  const std::vector<flatbuffers::Offset<schema::Operator>> no_operators;
  const auto subgraph =
      empty ? schema::CreateSubGraphDirect(fbb, &no_tensors, nullptr, nullptr, &no_operators)
            : schema::CreateSubGraphDirect(fbb, &tensors, &x, &y, &operators);
  const std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs(count, subgraph);
  const std::vector<flatbuffers::Offset<schema::OperatorCode>> codes = {
      schema::CreateOperatorCode(fbb, 0, 0, 1, schema::BuiltinOperator::ADD)};
  const std::vector<flatbuffers::Offset<schema::Buffer>> buffers = {schema::CreateBuffer(fbb)};
  schema::FinishModelBuffer(
      fbb, schema::CreateModelDirect(fbb, 3, &codes, &subgraphs, nullptr, &buffers));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

// A model in which each subgraph i except the last one calls subgraph i + 1 or the last one, which
// does nothing.
std::vector<uint8_t> Nested(int calls) {
  ModelBuilder m;
  for (int i = 0; i <= calls; ++i) {
    if (i != 0) m.AddSubgraph();
    const int condition = m.AddTensor(kTfLiteBool, {1});
    const int result = m.AddTensor(kTfLiteBool, {1});
    m.SetInputs({condition});
    m.SetOutputs({i == calls ? condition : result});
    if (i == calls) break;
    m.AddOp(kTfLiteBuiltinIf, {condition, condition}, {result},
            schema::CreateIfOptions(m.fbb(), i + 1, calls));
  }
  return m.Finish();
}

// ---- Loading ------------------------------------------------------------------------------------

TEST(Loading, a_million_subgraphs_of_one_table_are_refused) {
  const std::vector<uint8_t> bytes = Repeated(1'000'000, true);
  EXPECT_EQ(TfLiteModelCreate(bytes.data(), bytes.size()), nullptr);
  EXPECT_THAT(DeputyLastError(),
              HasSubstr("Invalid model; subgraphs: expected at most 100000, found 1000000"));
}

TEST(Loading, respects_the_callers_limits) {
  const struct {
    int32_t DeputyLimits::*field;
    int32_t enough;
    const char* text;
  } rows[] = {
      {&DeputyLimits::max_subgraphs, 5, "subgraphs: expected at most 4, found 5"},
      {&DeputyLimits::max_tensors, 10, "tensors: expected at most 9, found 10"},
      {&DeputyLimits::max_nodes, 5, "operators: expected at most 4, found 5"},
  };
  const std::vector<uint8_t> bytes = Repeated(5);
  for (const auto& row : rows) {
    const DeputyLimits fitting = LimitsOf(row.field, row.enough);
    TfLiteModel* model = DeputyModelCreateWithLimits(bytes.data(), bytes.size(), &fitting);
    EXPECT_NE(model, nullptr) << DeputyLastError();
    TfLiteModelDelete(model);
    const DeputyLimits tight = LimitsOf(row.field, row.enough - 1);
    EXPECT_EQ(DeputyModelCreateWithLimits(bytes.data(), bytes.size(), &tight), nullptr);
    EXPECT_THAT(DeputyLastError(), HasSubstr(row.text));
  }
}

TEST(Loading, of_files_respects_the_callers_limits) {
  const std::string path = SourcePath("examples/conv_mean.tflite");
  const DeputyLimits fitting = LimitsOf(nullptr, 0), tight = LimitsOf(&DeputyLimits::max_nodes, 4);
  TfLiteModel* model = DeputyModelCreateFromFileWithLimits(path.c_str(), &fitting);
  EXPECT_NE(model, nullptr) << DeputyLastError();
  TfLiteModelDelete(model);
  EXPECT_EQ(DeputyModelCreateFromFileWithLimits(path.c_str(), &tight), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("operators: expected at most 4, found 5"));
}

// Models beyond the default limits can be loaded with larger ones.
TEST(Loading, can_exceed_the_default_limits) {
  const std::vector<uint8_t> bytes = Repeated(100'001, true);
  EXPECT_EQ(TfLiteModelCreate(bytes.data(), bytes.size()), nullptr);
  const DeputyLimits more = LimitsOf(&DeputyLimits::max_subgraphs, 100'001);
  TfLiteModel* model = DeputyModelCreateWithLimits(bytes.data(), bytes.size(), &more);
  ASSERT_NE(model, nullptr) << DeputyLastError();
  EXPECT_EQ(TfLiteInterpreterCreate(model, nullptr), nullptr);
  EXPECT_THAT(DeputyLastError(), HasSubstr("The model exceeds the limits of the interpreter; "
                                           "subgraphs: expected at most 100000, found 100001"));
  TfLiteModelDelete(model);
}

TEST(Loading, with_invalid_limits_fails) {
  const std::vector<uint8_t> bytes = Repeated(1);
  DeputyLimits negative = LimitsOf(&DeputyLimits::max_subgraphs, -1);
  DeputyLimits unknown = LimitsOf(nullptr, 0);
  unknown.struct_size = 8;
  for (const DeputyLimits* limits :
       {static_cast<const DeputyLimits*>(nullptr), static_cast<const DeputyLimits*>(&negative),
        static_cast<const DeputyLimits*>(&unknown)}) {
    EXPECT_EQ(DeputyModelCreateWithLimits(bytes.data(), bytes.size(), limits), nullptr);
    EXPECT_THAT(DeputyLastError(), HasSubstr("expected a DeputyLimits"));
  }
}

// ---- Interpreters -------------------------------------------------------------------------------

// Returns whether the interpreter is created with these limits; the log has the reason if not.
bool IsCreated(const std::vector<uint8_t>& bytes, const DeputyLimits& limits, std::string* log) {
  TestInterpreter t(bytes, [&](TfLiteInterpreterOptions* options) {
    ASSERT_EQ(DeputyInterpreterOptionsSetLimits(options, &limits), kTfLiteOk);
  });
  *log = t.log();
  return t.get() != nullptr;
}

TEST(LimitedInterpreter, refuses_a_model_beyond_the_limits_of_its_options) {
  const struct {
    int32_t DeputyLimits::*field;
    int32_t enough;
    const char* text;
  } rows[] = {
      {&DeputyLimits::max_subgraphs, 4, "subgraphs: expected at most 3, found 4"},
      {&DeputyLimits::max_tensors, 8, "tensors: expected at most 7, found 8"},
      {&DeputyLimits::max_nodes, 3, "operators: expected at most 2, found 3"},
      {&DeputyLimits::max_call_depth, 3, "nested subgraph calls: expected at most 2, found 3"},
  };
  const std::vector<uint8_t> bytes = Nested(3);
  for (const auto& row : rows) {
    std::string log;
    EXPECT_TRUE(IsCreated(bytes, LimitsOf(row.field, row.enough), &log)) << log;
    EXPECT_FALSE(IsCreated(bytes, LimitsOf(row.field, row.enough - 1), &log));
    EXPECT_THAT(log, HasSubstr("The model exceeds the limits of the interpreter; "));
    EXPECT_THAT(log, HasSubstr(row.text));
  }
}

TEST(LimitedInterpreter, runs_calls_up_to_its_depth_limit) {
  TestInterpreter t(Nested(64));
  ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
  t.Set<uint8_t>(0, {1});
  ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
  EXPECT_EQ(t.Get<uint8_t>(0), std::vector<uint8_t>{1});
}

// With a high limit on the call depth, memory is allocated only for the calls that are made.
TEST(Limits, of_call_depth_may_be_int32_max) {
  const DeputyLimits limits = LimitsOf(&DeputyLimits::max_call_depth, INT32_MAX);
  TestInterpreter t(Repeated(1), [&](TfLiteInterpreterOptions* options) {
    EXPECT_EQ(DeputyInterpreterOptionsSetLimits(options, &limits), kTfLiteOk);
  });
  ASSERT_NE(t.get(), nullptr) << t.log();
  EXPECT_EQ(t.Allocate(), kTfLiteOk) << t.log();
}

}  // namespace
}  // namespace deputy::limits_test
