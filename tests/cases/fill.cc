// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of FILL, ZEROS_LIKE, RANGE, ONE_HOT, MATRIX_DIAG, MATRIX_SET_DIAG and
// SPARSE_TO_DENSE. Shapes, numbers and depths are constants or given inputs, never random: most
// random values would be refused.
#include <cstdint>

#include "tests/cases/node.h"

namespace deputy {
namespace {

OpCase MakeFill(TfLiteType type, Known known, const Shape& shape, const char* refusal = "") {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int dims =
      graph.AddNumbers(kTfLiteInt32, {static_cast<int32_t>(shape.size())}, shape, "dims");
  const int value = graph.Add(builder.AddTensor(type, {}, "value"));
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinFill, {dims, value}, {output});
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string("FILL ") + TfLiteTypeGetName(type) + " " + Text(shape) + graph.suffix(),
          Rule::kEqual, builder.Finish(), refusal, feeds};
}

OpCase MakeZerosLike(TfLiteType type, const Shape& shape, const char* refusal = "") {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, shape, "input");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinZerosLike, {input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("ZEROS_LIKE ") + TfLiteTypeGetName(type) + " " + Text(shape), Rule::kEqual,
          builder.Finish(), refusal};
}

struct Numbers {
  float start, limit, step;
  const char* refusal = "";
};

const Numbers kNumbers[] = {
    {0, 5, 1},
    {10, -3, -4},
    {0.5f, 7.25f, 0.375f},
    {3, 3, 1},
    {0, 1000, 1},
    {0, 5, 0, "expected a step"},
    {0, 5, -1, "expected a step"},
    {-3e9f, 3e9f, 0.5f, "it would have more than 2147483647 elements"},
};

template <typename T>
OpCase MakeRange(TfLiteType type, Known known, const Numbers& row) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  // The operator needs no graph input; this one exists because the harness feeds one.
  const int input = graph.Add(builder.AddTensor(type, {1}, "input"));
  std::vector<int32_t> numbers;
  for (float value : {row.start, row.limit, row.step}) {
    numbers.push_back(graph.AddNumbers<T>(type, {}, {static_cast<T>(value)}, "number"));
  }
  const int range = builder.AddTensor(type, {1}, "range");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinRange, numbers, {range});
  builder.AddOp(kTfLiteBuiltinMaximum, {range, input}, {output});
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string("RANGE ") + TfLiteTypeGetName(type) + " " + std::to_string(row.start) + " " +
              std::to_string(row.limit) + " " + std::to_string(row.step) + graph.suffix(),
          Rule::kEqual, builder.Finish(), row.refusal, feeds};
}

struct OneHot {
  Shape indices;
  int32_t depth;
  int axis;
  const char* refusal = "";
};

const OneHot kOneHots[] = {
    {{5}, 4, -1},
    {{2, 3}, 4, 0},
    {{2, 3}, 4, 1},
    {{}, 3, -1},
    {{0, 2}, 3, 1},
    {{2}, 0, -1},
    {{2}, -1, -1, "its dimension"},
#if SIZE_MAX > UINT32_MAX  // else the size of a tensor overflows
    {{0, 65536, 32768}, INT32_MAX, -1, "overflow"},
#endif
    {{2}, 3, 2, "expected an axis"},
};

OpCase MakeOneHot(TfLiteType type, Known known, const OneHot& row) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int indices = graph.Add(builder.AddTensor(kTfLiteInt32, row.indices, "indices"));
  const int depth = graph.AddNumbers<int32_t>(kTfLiteInt32, {}, {row.depth}, "depth");
  const int on = graph.Add(builder.AddTensor(type, {}, "on"));
  const int off = graph.Add(builder.AddTensor(type, {}, "off"));
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinOneHot, {indices, depth, on, off}, {output},
                schema::CreateOneHotOptions(builder.fbb(), row.axis));
  const auto feeds = graph.Finish();
  builder.SetOutputs({output});
  return {std::string("ONE_HOT ") + TfLiteTypeGetName(type) + " " + Text(row.indices) + " depth " +
              std::to_string(row.depth) + " axis " + std::to_string(row.axis) + graph.suffix(),
          Rule::kEqual, builder.Finish(), row.refusal, feeds};
}

NodeRow Diagonal(TfLiteType type, const Shape& shape, const char* refusal = "") {
  return {kTfLiteBuiltinMatrixDiag, "MATRIX_DIAG", {{type, shape}}, {type}, refusal};
}

NodeRow SetDiagonal(TfLiteType type, const Shape& shape, const Shape& diagonal,
                    const char* refusal = "") {
  return {kTfLiteBuiltinMatrixSetDiag,
          "MATRIX_SET_DIAG",
          {{type, shape}, {type, diagonal}},
          {type},
          refusal};
}

NodeRow Sparse(TfLiteType type, const NodeTensor& indices, const std::vector<double>& shape,
               const Shape& values, const char* refusal = "", bool late = false) {
  return {kTfLiteBuiltinSparseToDense,
          "SPARSE_TO_DENSE",
          {indices,
           {kTfLiteInt64, {static_cast<int32_t>(shape.size())}, shape},
           {type, values},
           {type, {}}},
          {type},
          refusal,
          late};
}

NodeTensor At(const Shape& shape, const std::vector<double>& values) {
  return {kTfLiteInt64, shape, values};
}

const NodeRow kDiagonalRows[] = {
    Diagonal(kTfLiteFloat32, {3}),
    Diagonal(kTfLiteInt8, {2, 0}),
    Diagonal(kTfLiteInt64, {2, 1, 3}),
    Diagonal(kTfLiteFloat32, {}, "expected 1 to 7 dimensions, found 0"),
    Diagonal(kTfLiteFloat32, {1, 1, 1, 1, 1, 1, 1, 1}, "expected 1 to 7 dimensions, found 8"),
    Diagonal(kTfLiteFloat16, {3}, "expected type"),
    SetDiagonal(kTfLiteFloat32, {2, 3, 4}, {2, 3}),
    SetDiagonal(kTfLiteInt16, {5, 2}, {2}),
    SetDiagonal(kTfLiteFloat32, {3, 3}, {2}, "expected dimension 0 to be 3, found 2"),
    SetDiagonal(kTfLiteFloat32, {2, 3, 3}, {3}, "expected 2 dimensions, found 1"),
    SetDiagonal(kTfLiteFloat32, {3}, {3}, "expected 2 dimensions or more"),
    Sparse(kTfLiteFloat32, At({2, 2}, {0, 1, 2, 0}), {3, 2}, {2}),
    Sparse(kTfLiteInt8, At({3}, {4, 0, 4}), {5}, {}),
    Sparse(kTfLiteFloat32, At({1, 2}, {0, 2}), {2, 2}, {1}, "from 0 to 1, found 2", true),
    Sparse(kTfLiteFloat32, At({1, 2}, {-1, 0}), {2, 2}, {1}, "from 0 to 1, found -1", true),
    Sparse(kTfLiteFloat32, At({1, 2}, {9e18, 0}), {2, 2}, {1}, "from 0 to 1", true),
    Sparse(kTfLiteFloat32, At({1, 2}, {0, 0}), {2, -2}, {1}, "its dimension 1 would be -2"),
    Sparse(kTfLiteFloat32, At({1, 2}, {0, 0}), {2, 9e18}, {1}, "its dimension 1 would be"),
    Sparse(kTfLiteFloat32, At({1, 4}, {0, 0, 0, 0}), {2147483647, 2147483647, 2147483647, 3}, {1},
           "overflow"),
    Sparse(kTfLiteFloat32, At({1, 5}, {0, 0, 0, 0, 0}), {1, 1, 1, 1, 1}, {1}, "at most 4"),
    Sparse(kTfLiteFloat32, At({1, 2}, {0, 0}), {2, 2}, {2}, "expected 1 elements, found 2"),
    Sparse(kTfLiteFloat32, At({1, 2}, {0, 0}), {2}, {1}, "expected dimension 0 to be 2"),
};

}  // namespace

std::vector<OpCase> FillCases() {
  std::vector<OpCase> cases;
  for (Known known : {Known::kBefore, Known::kAtRunTime}) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16,
                            kTfLiteInt32, kTfLiteInt64, kTfLiteUInt32, kTfLiteBool, kTfLiteBFloat16,
                            kTfLiteComplex64, kTfLiteUInt16}) {
      for (const Shape& shape : {Shape{}, Shape{67}, Shape{2, 3, 5}, Shape{2, 0}}) {
        cases.push_back(MakeFill(type, known, shape));
      }
    }
    cases.push_back(MakeFill(kTfLiteFloat32, known, {2, -3}, "its dimension 1 would be -3"));
    cases.push_back(MakeFill(kTfLiteFloat32, known, {INT32_MAX, INT32_MAX, INT32_MAX}, "overflow"));
    for (const Numbers& row : kNumbers) {
      cases.push_back(MakeRange<float>(kTfLiteFloat32, known, row));
      if (row.step != 0.375f && row.step != 0.5f) {
        cases.push_back(MakeRange<int32_t>(kTfLiteInt32, known, row));
        cases.push_back(MakeRange<int64_t>(kTfLiteInt64, known, row));
      }
    }
    for (const OneHot& row : kOneHots) {
      for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt64}) {
        cases.push_back(MakeOneHot(type, known, row));
      }
    }
  }
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt32, kTfLiteInt64}) {
    for (const Shape& shape : {Shape{}, Shape{2, 3, 5}, Shape{2, 0}}) {
      cases.push_back(MakeZerosLike(type, shape));
    }
  }
  cases.push_back(MakeZerosLike(kTfLiteBool, {2}, "expected type"));
  for (OpCase& one : NodeCases(kDiagonalRows)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
