// SPDX-License-Identifier: Apache-2.0
//
// Cases of operators that move data: some tensors, some numbers of int32 (axes, shapes, indices)
// and a few for the options.
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

// A vector of indices.
inline Indices Vector(const std::vector<int32_t>& values) {
  return {{static_cast<int32_t>(values.size())}, values};
}
inline Indices Scalar(int32_t value) { return {{}, {value}}; }
// Rows of two: margins.
inline Indices Pairs(const std::vector<int32_t>& values) {
  return {{static_cast<int32_t>(values.size() / 2), 2}, values};
}

struct MoveRow {
  TfLiteBuiltinOperator code;
  const char* name;
  std::vector<Shape> tensors;
  std::vector<Indices> indices;
  std::vector<int32_t> options;  // whatever the family's function makes of them
  const char* refusal = "";
  int outputs = 1;
  bool indices_first = false;
  bool late = false;  // refused by Invoke even where the indices are constants
};

// Adds the row's operator to the builder, with its options.
using AddRowOperator =
    std::function<void(ModelBuilder* builder, const MoveRow& row,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs)>;

// Further types of an operator's elements.
struct MoveTypes {
  TfLiteBuiltinOperator code;
  std::vector<TfLiteType> types;
};

// Every row as float32 and as int8, and those that are not refused as the operator's further types;
// with constant indices and with indices that are fed.
std::vector<OpCase> MoveCases(std::span<const MoveRow> rows, const AddRowOperator& add,
                              std::span<const MoveTypes> further = {});

}  // namespace deputy

#endif  // DEPUTY_TESTS_CASES_MOVEMENT_H_
