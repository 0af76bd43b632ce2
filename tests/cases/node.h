// SPDX-License-Identifier: Apache-2.0
//
// Cases of operators of few and different inputs: rows that list the tensors of one node, with
// random contents or with numbers.
#ifndef DEPUTY_TESTS_CASES_NODE_H_
#define DEPUTY_TESTS_CASES_NODE_H_

#include <functional>
#include <span>

#include "tests/cases/case.h"

namespace deputy {

struct NodeTensor {
  TfLiteType type = kTfLiteFloat32;
  Shape shape = {};
  std::vector<double> values = {};  // empty: random contents
  bool constant = false;            // whatever Known says; random contents only of float32 and int8
};

struct NodeRow {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<NodeTensor> inputs;
  std::vector<TfLiteType> outputs;
  const char* refusal = "";
  bool late = false;  // refused by Invoke even where the numbers are constants
  std::vector<int32_t> options = {};
  Rule rule = Rule::kElement;
};

// Adds the row's operator to the builder, with its options.
using AddNodeOperator =
    std::function<void(ModelBuilder* builder, const NodeRow& row,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs)>;

// An operator without options.
void AddPlainNode(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                  const std::vector<int32_t>& outputs);

// Every row with its numbers as constants and, where it has numbers, with numbers that are fed.
std::vector<OpCase> NodeCases(std::span<const NodeRow> rows,
                              const AddNodeOperator& add = AddPlainNode);

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_NODE_H_
