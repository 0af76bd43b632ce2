// SPDX-License-Identifier: Apache-2.0
//
// Tests outputs that no node reads. They are not outputs of a delegate's partition (abi.md 4.9), so
// the runtime allocates no memory for them there, and a delegate must not write them unless it has
// its own memory.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/support/model_builder.h"
#include "tests/support/paths.h"
#include "tests/support/plugin_support.h"
#include "tests/support/test_interpreter.h"

namespace deputy::unread_outputs_test {
namespace {

struct Operator {
  const char* name;
  // Adds the operator and its input; returns its outputs.
  std::function<std::vector<int>(ModelBuilder* m, int* input)> add;
  // Values of the input, and expected values of each output.
  std::vector<int32_t> input;
  std::vector<std::vector<int32_t>> outputs;
  bool is_dynamic = false;
};

int Scalar(ModelBuilder* m, int32_t value) {
  return m->AddConstant<int32_t>(kTfLiteInt32, {}, {value});
}

std::vector<int> Tensors(ModelBuilder* m, const std::vector<std::vector<int32_t>>& shapes) {
  std::vector<int> tensors;
  for (const std::vector<int32_t>& shape : shapes) {
    tensors.push_back(m->AddTensor(kTfLiteInt32, shape));
  }
  return tensors;
}

std::vector<int> AddTop(ModelBuilder* m, int* input) {
  *input = m->AddTensor(kTfLiteInt32, {2, 3});
  const std::vector<int> outputs = Tensors(m, {{2, 2}, {2, 2}});
  m->AddOp(kTfLiteBuiltinTopkV2, {*input, Scalar(m, 2)}, outputs);
  return outputs;
}

std::vector<int> AddSplit(ModelBuilder* m, int* input) {
  *input = m->AddTensor(kTfLiteInt32, {2, 3});
  const std::vector<int> outputs = Tensors(m, {{2, 1}, {2, 1}, {2, 1}});
  m->AddOp(kTfLiteBuiltinSplit, {Scalar(m, 1), *input}, outputs,
           schema::CreateSplitOptions(m->fbb(), 3));
  return outputs;
}

std::vector<int> AddSplitV(ModelBuilder* m, int* input) {
  *input = m->AddTensor(kTfLiteInt32, {2, 3});
  const std::vector<int> outputs = Tensors(m, {{2, 1}, {2, 2}});
  const int sizes = m->AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2});
  m->AddOp(kTfLiteBuiltinSplitV, {*input, sizes, Scalar(m, 1)}, outputs,
           schema::CreateSplitVOptions(m->fbb(), 2));
  return outputs;
}

std::vector<int> AddUnpack(ModelBuilder* m, int* input) {
  *input = m->AddTensor(kTfLiteInt32, {2, 3});
  const std::vector<int> outputs = Tensors(m, {{3}, {3}});
  m->AddOp(kTfLiteBuiltinUnpack, {*input}, outputs, schema::CreateUnpackOptions(m->fbb(), 2, 0));
  return outputs;
}

std::vector<int> AddUnique(ModelBuilder* m, int* input) {
  *input = m->AddTensor(kTfLiteInt32, {6});
  const std::vector<int> outputs = Tensors(m, {{1}, {6}});
  m->AddOp(kTfLiteBuiltinUnique, {*input}, outputs,
           schema::CreateUniqueOptions(m->fbb(), schema::TensorType::INT32));
  return outputs;
}

const std::vector<int32_t> kInput = {3, 1, 2, 4, 6, 5};

const Operator kOperators[] = {
    {"TOPK_V2", &AddTop, kInput, {{3, 2, 6, 5}, {0, 2, 1, 2}}},
    {"SPLIT", &AddSplit, kInput, {{3, 4}, {1, 6}, {2, 5}}},
    {"SPLIT_V", &AddSplitV, kInput, {{3, 4}, {1, 2, 6, 5}}},
    {"UNPACK", &AddUnpack, kInput, {{3, 1, 2}, {4, 6, 5}}},
    {"UNIQUE", &AddUnique, {7, 7, 9, 8, 9, 7}, {{7, 9, 8}, {0, 0, 1, 2, 1, 0}}, true},
};

// A model of the operator in which only output `read` is used: as an output of the graph, or, if
// `chained`, as the input of another node. If `read` is negative no output is used, and the model
// returns the absolute value of a second input.
std::vector<uint8_t> Model(const Operator& op, int read, bool chained) {
  ModelBuilder m;
  int input = 0;
  const std::vector<int> outputs = op.add(&m, &input);
  int output = read < 0 ? m.AddTensor(kTfLiteInt32, {2}) : outputs[static_cast<size_t>(read)];
  m.SetInputs({input});
  if (read < 0) m.SetInputs({input, output});
  if (read < 0 || chained) {
    const int result = m.AddTensor(kTfLiteInt32, {1});
    m.AddOp(kTfLiteBuiltinAbs, {output}, {result});
    output = result;
  }
  m.SetOutputs({output});
  return m.Finish();
}

void Check(const Operator& op, const std::string& library) {
  for (int read = -1; read < static_cast<int>(op.outputs.size()); ++read) {
    for (const bool chained : {false, true}) {
      SCOPED_TRACE(std::string(op.name) + " in " + library + ", output " + std::to_string(read) +
                   (chained ? ", chained" : ""));
      const Handle delegate(CreateExternal(library), &TfLiteExternalDelegateDelete);
      ASSERT_NE(delegate, nullptr);
      TestInterpreter t(Model(op, read, chained));
      ASSERT_EQ(TfLiteInterpreterModifyGraphWithDelegate(t.get(), delegate.get()), kTfLiteOk);
      ASSERT_EQ(t.Allocate(), kTfLiteOk) << t.log();
      t.Set<int32_t>(0, op.input);
      if (read < 0) t.Set<int32_t>(1, {-5, 6});
      ASSERT_EQ(t.Invoke(), kTfLiteOk) << t.log();
      EXPECT_EQ(t.Get<int32_t>(0),
                read < 0 ? std::vector<int32_t>({5, 6}) : op.outputs[static_cast<size_t>(read)]);
    }
  }
}

class UnreadOutputs : public QuietTest {};

TEST_F(UnreadOutputs, of_delegated_nodes_have_no_runtime_memory) {
  for (const Operator& op : kOperators) {
    Check(op, Library("relay"));
    Check(op, BuildPath("libdeputy_cpu.so"));
    if (op.is_dynamic) continue;
    Check(op, Library("compiled"));
    Check(op, BuildPath("libdeputy_npu_stub.so"));
  }
}

}  // namespace
}  // namespace deputy::unread_outputs_test
