// SPDX-License-Identifier: Apache-2.0
#include "mindspore/ms/shapes.h"

#include <algorithm>

namespace deputy::ms {
namespace {

int NewShape(Mapping& m) { return m.Temp({.type = Type::kInt32}); }

bool AllEqual(const std::vector<int32_t>& values, int32_t value) {
  return std::all_of(values.begin(), values.end(), [value](int32_t each) { return each == value; });
}

}  // namespace

int ShapeOf(Mapping& m, int tensor) {
  const int shape = NewShape(m);
  m.Op(Builtin::SHAPE, {tensor}, {shape},
       schema::CreateShapeOptions(m.fbb(), schema::TensorType::INT32));
  return shape;
}

int ShapeOfRank(Mapping& m, int tensor, int rank) {
  const int shape = NewShape(m);
  m.Reshape(ShapeOf(m, tensor), {rank}, shape);
  return shape;
}

int DimsOf(Mapping& m, int shape, int first, int count) {
  const int dims = NewShape(m);
  m.Op(Builtin::SLICE, {shape, m.ConstInts({first}), m.ConstInts({count})}, {dims},
       schema::CreateSliceOptions(m.fbb()));
  return dims;
}

int ScaledShape(Mapping& m, int shape, const std::vector<int32_t>& factors,
                const std::vector<int32_t>& offsets) {
  const auto apply = [&](Builtin code, const std::vector<int32_t>& values) {
    const int result = NewShape(m);
    m.Apply(code, {shape, m.ConstInts(values)}, result);
    shape = result;
  };
  if (!AllEqual(factors, 1)) apply(Builtin::MUL, factors);
  if (!AllEqual(offsets, 0)) apply(Builtin::ADD, offsets);
  return shape;
}

int DividedShape(Mapping& m, int shape, int32_t divisor) {
  const int result = NewShape(m);
  m.Apply(Builtin::FLOOR_DIV, {shape, m.ConstInts({divisor})}, result);
  return result;
}

int ProductOf(Mapping& m, int shape) {
  const int product = NewShape(m);
  m.Op(Builtin::REDUCE_PROD, {shape, m.ConstInts({0})}, {product},
       schema::CreateReducerOptions(m.fbb(), true));
  return product;
}

int JoinShapes(Mapping& m, const std::vector<int>& shapes) {
  const int joined = NewShape(m);
  m.Op(Builtin::CONCATENATION, shapes, {joined}, schema::CreateConcatenationOptions(m.fbb(), 0));
  return joined;
}

void ReshapeTo(Mapping& m, int input, int shape, int output) {
  m.Op(Builtin::RESHAPE, {input, shape}, {output}, schema::CreateReshapeOptions(m.fbb()));
}

}  // namespace deputy::ms
