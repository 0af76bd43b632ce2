// SPDX-License-Identifier: Apache-2.0
#include "tests/support/add_mul_add.h"

#include "tests/support/model_builder.h"

namespace deputy {
namespace {

std::vector<uint8_t> Build(float factor, bool adds_product_twice) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {2}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {2}, {factor, factor}, "c");
  const int two_x = m.AddTensor(kTfLiteFloat32, {2}, "two_x");
  const int product = m.AddTensor(kTfLiteFloat32, {2}, "product");
  const int z = m.AddTensor(kTfLiteFloat32, {2}, "z");
  m.AddOp(kTfLiteBuiltinAdd, {x, x}, {two_x}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {two_x, c}, {product}, schema::CreateMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {product, adds_product_twice ? product : two_x}, {z},
          schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({z});
  return m.Finish();
}

}  // namespace

std::vector<uint8_t> AddMulAdd(float factor) { return Build(factor, false); }
std::vector<uint8_t> AddMulDouble() { return Build(3, true); }

}  // namespace deputy
