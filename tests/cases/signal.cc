// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of RFFT2D, REAL, IMAG and COMPLEX_ABS.
#include "tests/cases/node.h"

namespace deputy {
namespace {

NodeRow Transform(const Shape& shape, const std::vector<double>& lengths,
                  const char* refusal = "") {
  return {
      kTfLiteBuiltinRfft2d,
      "RFFT2D",
      {{kTfLiteFloat32, shape}, {kTfLiteInt32, {static_cast<int32_t>(lengths.size())}, lengths}},
      {kTfLiteComplex64},
      refusal,
      false,
      {},
      Rule::kSum};
}

const NodeRow kTransformRows[] = {
    Transform({2, 7, 9}, {8, 16}),
    Transform({3, 5}, {1, 1}),
    Transform({3, 5}, {8, 1}),
    Transform({0, 4, 4}, {4, 4}),
    Transform({4, 4}, {3, 4}, "expected powers of two, found 3"),
    Transform({4, 4}, {4, 0}, "expected powers of two, found 0"),
    Transform({4, 4}, {INT32_MIN, 4}, "expected powers of two, found -2147483648"),
    Transform({4, 4}, {4}, "expected dimension 0 to be 2, found 1"),
    Transform({4}, {4, 4}, "expected 2 dimensions or more, found 1"),
};

NodeRow Part(TfLiteBuiltinOperator code, const char* name, TfLiteType from, TfLiteType to,
             const Shape& shape, const char* refusal = "") {
  return {code, name, {{from, shape}}, {to}, refusal};
}

}  // namespace

std::vector<OpCase> SignalCases() {
  std::vector<NodeRow> rows(std::begin(kTransformRows), std::end(kTransformRows));
  for (const auto& [code, name] :
       {std::pair{kTfLiteBuiltinReal, "REAL"}, std::pair{kTfLiteBuiltinImag, "IMAG"},
        std::pair{kTfLiteBuiltinComplexAbs, "COMPLEX_ABS"}}) {
    rows.push_back(Part(code, name, kTfLiteComplex64, kTfLiteFloat32, {3, 70}));
    rows.push_back(Part(code, name, kTfLiteComplex64, kTfLiteFloat32, {0}));
    rows.push_back(
        Part(code, name, kTfLiteFloat32, kTfLiteFloat32, {3}, "expected type COMPLEX64"));
    rows.push_back(Part(code, name, kTfLiteComplex64, kTfLiteInt32, {3}, "expected type FLOAT32"));
  }
  return NodeCases(rows);
}

}  // namespace deputy
