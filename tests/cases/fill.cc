// SPDX-License-Identifier: Apache-2.0
//
// FILL, ZEROS_LIKE, RANGE and ONE_HOT. Shapes, numbers and depths are constants here: random ones
// would be refused. The golden rows have them as inputs.
#include "tests/cases/case.h"

namespace deputy {
namespace {

OpCase MakeFill(TfLiteType type, const Shape& shape, const char* refusal = "") {
  ModelBuilder builder;
  const int dims = builder.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int32_t>(shape.size())},
                                                shape, "dims");
  const int value = builder.AddTensor(type, {}, "value");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinFill, {dims, value}, {output});
  builder.SetInputs({value});
  builder.SetOutputs({output});
  return {std::string("FILL ") + TfLiteTypeGetName(type) + " " + Text(shape), Closeness::kEqual,
          builder.Finish(), refusal};
}

OpCase MakeZerosLike(TfLiteType type, const Shape& shape, const char* refusal = "") {
  ModelBuilder builder;
  const int input = builder.AddTensor(type, shape, "input");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinZerosLike, {input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("ZEROS_LIKE ") + TfLiteTypeGetName(type) + " " + Text(shape),
          Closeness::kEqual, builder.Finish(), refusal};
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
};

template <typename T>
OpCase MakeRange(TfLiteType type, const Numbers& row) {
  ModelBuilder builder;
  const auto constant = [&](float value) {
    return builder.AddConstant<T>(type, {}, {static_cast<T>(value)}, "number");
  };
  // An operator without inputs of the graph would do, but a client feeds something.
  const int input = builder.AddTensor(type, {1}, "input");
  const int range = builder.AddTensor(type, {1}, "range");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinRange, {constant(row.start), constant(row.limit), constant(row.step)},
                {range});
  builder.AddOp(kTfLiteBuiltinMaximum, {range, input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("RANGE ") + TfLiteTypeGetName(type) + " " + std::to_string(row.start) + " " +
              std::to_string(row.limit) + " " + std::to_string(row.step),
          Closeness::kEqual, builder.Finish(), row.refusal};
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
    {{2}, 3, 2, "expected an axis"},
};

OpCase MakeOneHot(TfLiteType type, const OneHot& row) {
  ModelBuilder builder;
  const int indices = builder.AddTensor(kTfLiteInt32, row.indices, "indices");
  const int depth = builder.AddConstant<int32_t>(kTfLiteInt32, {}, {row.depth}, "depth");
  const int on = builder.AddTensor(type, {}, "on");
  const int off = builder.AddTensor(type, {}, "off");
  const int output = builder.AddTensor(type, {1}, "output");
  builder.AddOp(kTfLiteBuiltinOneHot, {indices, depth, on, off}, {output},
                schema::CreateOneHotOptions(builder.fbb(), row.axis));
  builder.SetInputs({indices, on, off});
  builder.SetOutputs({output});
  return {std::string("ONE_HOT ") + TfLiteTypeGetName(type) + " " + Text(row.indices) + " depth " +
              std::to_string(row.depth) + " axis " + std::to_string(row.axis),
          Closeness::kEqual, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> FillCases() {
  std::vector<OpCase> cases;
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteFloat16, kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16,
                          kTfLiteInt32, kTfLiteInt64, kTfLiteUInt32, kTfLiteBool}) {
    for (const Shape& shape : {Shape{}, Shape{67}, Shape{2, 3, 5}, Shape{2, 0}}) {
      cases.push_back(MakeFill(type, shape));
    }
  }
  cases.push_back(MakeFill(kTfLiteFloat32, {2, -3}, "its dimension 1 would be -3"));
  for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt32, kTfLiteInt64}) {
    for (const Shape& shape : {Shape{}, Shape{2, 3, 5}, Shape{2, 0}}) {
      cases.push_back(MakeZerosLike(type, shape));
    }
  }
  cases.push_back(MakeZerosLike(kTfLiteBool, {2}, "expected type"));
  for (const Numbers& row : kNumbers) {
    cases.push_back(MakeRange<float>(kTfLiteFloat32, row));
    if (row.start != 0.5f) {
      cases.push_back(MakeRange<int32_t>(kTfLiteInt32, row));
      cases.push_back(MakeRange<int64_t>(kTfLiteInt64, row));
    }
  }
  for (const OneHot& row : kOneHots) {
    for (TfLiteType type : {kTfLiteFloat32, kTfLiteInt8, kTfLiteInt64}) {
      cases.push_back(MakeOneHot(type, row));
    }
  }
  return cases;
}

}  // namespace deputy
