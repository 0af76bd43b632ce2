// SPDX-License-Identifier: Apache-2.0
//
// Rows for cases of data movement operators: some tensors, some int32 values (axes, shapes,
// indices) and a few values for the options.
#ifndef DEPUTY_TESTS_CASES_MOVEMENT_H_
#define DEPUTY_TESTS_CASES_MOVEMENT_H_

#include <functional>
#include <span>

#include "tests/cases/case.h"

namespace deputy {

struct Indices {
  Shape shape;
  std::vector<int32_t> values;
};

// Returns a tensor of one dimension with the given indices.
inline Indices Vector(const std::vector<int32_t>& values) {
  return {{static_cast<int32_t>(values.size())}, values};
}
inline Indices Scalar(int32_t value) { return {{}, {value}}; }
// Returns a matrix with two columns, for the margins of a padding.
inline Indices Pairs(const std::vector<int32_t>& values) {
  return {{static_cast<int32_t>(values.size() / 2), 2}, values};
}

struct MoveRow {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<Shape> tensors;
  std::vector<Indices> indices;
  std::vector<int32_t> options;  // options of the operator, whose meaning the family defines
  const char* refusal = "";
  int outputs = 1;
  bool indices_first = false;
  bool late = false;  // refused by Invoke even if the indices are constants
};

// Adds the row's operator to the builder, with its options.
using AddRowOperator =
    std::function<void(ModelBuilder* builder, const MoveRow& row,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs)>;

// Additional element types of an operator.
struct MoveTypes {
  TfLiteBuiltinOperator code;
  std::vector<TfLiteType> types;
};

// Makes cases of every row with float32 and int8, and, unless the row is refused, with the
// operator's additional types; each with constant indices and with indices that are inputs.
std::vector<OpCase> MoveCases(std::span<const MoveRow> rows, const AddRowOperator& add,
                              std::span<const MoveTypes> further = {});

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_MOVEMENT_H_
