// SPDX-License-Identifier: Apache-2.0
//
// Models of the tests of Triton's back end.
#ifndef DEPUTY_TESTS_BRIDGES_TRITON_MODELS_H_
#define DEPUTY_TESTS_BRIDGES_TRITON_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/model_builder.h"

namespace deputy::triton_models {

// y = x + (1, 2, 3, 4), with x of a shape that ends in 4.
inline std::vector<uint8_t> AddModel(const std::vector<int32_t>& shape = {1, 4},
                                     const std::vector<int32_t>& signature = {}) {
  ModelBuilder m;
  TensorExtras extras;
  extras.signature = signature;
  const int x = m.AddTensor(kTfLiteFloat32, shape, "x", extras);
  const int w = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, 3, 4}, "w");
  const int y = m.AddTensor(kTfLiteFloat32, shape, "y", extras);
  m.AddOp(kTfLiteBuiltinAdd, {x, w}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// Two outputs: sum = a + b and product = a * b, all of shape [1,2].
inline std::vector<uint8_t> TwoInputsModel(const std::string& sum_name = "sum") {
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat32, {1, 2}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {1, 2}, "b");
  const int sum = m.AddTensor(kTfLiteFloat32, {1, 2}, sum_name);
  const int product = m.AddTensor(kTfLiteFloat32, {1, 2}, "product");
  m.AddOp(kTfLiteBuiltinAdd, {a, b}, {sum}, schema::CreateAddOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinMul, {a, b}, {product}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({a, b});
  m.SetOutputs({sum, product});
  return m.Finish();
}

// The output is the input, reshaped to one dimension.
inline std::vector<uint8_t> ReshapeModel(TfLiteType type, const std::vector<int32_t>& shape,
                                         int32_t elements) {
  ModelBuilder m;
  const int x = m.AddTensor(type, shape, "x");
  const int to = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {elements}, "to");
  const int y = m.AddTensor(type, {elements}, "y");
  m.AddOp(kTfLiteBuiltinReshape, {x, to}, {y},
          schema::CreateReshapeOptions(m.fbb(), m.fbb().CreateVector<int32_t>({elements})));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// y = x + y of the previous inference, in a variable.
inline std::vector<uint8_t> AccumulatorModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 1}, "x");
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {1, 1}, {1}, "weights");
  const int recurrent = m.AddConstant<float>(kTfLiteFloat32, {1, 1}, {1}, "recurrent");
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {1}, {0}, "bias");
  TensorExtras variable;
  variable.is_variable = true;
  const int state = m.AddTensor(kTfLiteFloat32, {1, 1}, "state", variable);
  const int y = m.AddTensor(kTfLiteFloat32, {1, 1}, "y");
  m.AddOp(kTfLiteBuiltinRnn, {x, weights, recurrent, bias, state}, {y},
          schema::CreateRNNOptions(m.fbb(), schema::ActivationFunctionType::NONE));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A configuration with one parameter.
inline std::string Parameter(const std::string& key, const std::string& value) {
  return R"({"parameters":{")" + key + R"(":{"string_value":")" + value + R"("}}})";
}

}  // namespace deputy::triton_models

#endif  // DEPUTY_TESTS_BRIDGES_TRITON_MODELS_H_
