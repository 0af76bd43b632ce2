// SPDX-License-Identifier: Apache-2.0
//
// Rows for cases of operators with few inputs of different kinds: a row lists the tensors of one
// node, with random contents or given values.
#ifndef DEPUTY_TESTS_CASES_NODE_H_
#define DEPUTY_TESTS_CASES_NODE_H_

#include <functional>
#include <span>

#include "tests/cases/case.h"

namespace deputy {

struct NodeTensor {
  TfLiteType type = kTfLiteFloat32;
  Shape shape = {};
  std::vector<double> values = {};  // contents of the tensor; empty: random
  // True for a constant with random contents, even with Known::kAtRunTime; float32 and types of at
  // most 8 bits only. Has no effect on a tensor with `values`.
  bool constant = false;
};

struct NodeRow {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<NodeTensor> inputs;
  std::vector<TfLiteType> outputs;
  const char* refusal = "";
  bool late = false;  // refused by Invoke even if the values are constants
  std::vector<int32_t> options = {};
  Rule rule = Rule::kElement;
};

// Adds the row's operator to the builder, with its options.
using AddNodeOperator =
    std::function<void(ModelBuilder* builder, const NodeRow& row,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs)>;

// Adds an operator without options.
void AddPlainNode(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                  const std::vector<int32_t>& outputs);

// Makes cases of every row with its values as constants and, if it has values, a second case in
// which they are inputs.
std::vector<OpCase> NodeCases(std::span<const NodeRow> rows,
                              const AddNodeOperator& add = AddPlainNode);

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_NODE_H_
