// SPDX-License-Identifier: Apache-2.0
//
// IF and WHILE: both branches, loops of several and of no rounds, and conditions and subgraphs that
// do not fit.
#include "tests/cases/case.h"

namespace deputy {
namespace {

// A subgraph that adds its input to itself, or multiplies it by itself.
int AddBranch(ModelBuilder* builder, TfLiteType type, const Shape& shape, bool sum) {
  const int index = builder->AddSubgraph(sum ? "sum" : "product");
  builder->SelectSubgraph(index);
  const int x = builder->AddTensor(type, shape, "x"), y = builder->AddTensor(type, {1}, "y");
  if (sum) {
    builder->AddOp(kTfLiteBuiltinAdd, {x, x}, {y}, schema::CreateAddOptions(builder->fbb()));
  } else {
    builder->AddOp(kTfLiteBuiltinMul, {x, x}, {y}, schema::CreateMulOptions(builder->fbb()));
  }
  builder->SetInputs({x});
  builder->SetOutputs({y});
  builder->SelectSubgraph(0);
  return index;
}

OpCase MakeIf(const std::vector<uint8_t>& conditions, Known known, const Shape& shape,
              const char* refusal = "") {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const int then_branch = AddBranch(&builder, kTfLiteFloat32, shape, true);
  const int else_branch = AddBranch(&builder, kTfLiteFloat32, shape, false);
  const Shape truths = {static_cast<int32_t>(conditions.size())};
  const int condition = graph.AddNumbers(kTfLiteBool, truths, conditions, "condition");
  const int x = graph.Add(builder.AddTensor(kTfLiteFloat32, shape, "x"));
  const int y = builder.AddTensor(kTfLiteFloat32, {1}, "y");
  builder.AddOp(kTfLiteBuiltinIf, {condition, x}, {y},
                schema::CreateIfOptions(builder.fbb(), then_branch, else_branch));
  const auto feeds = graph.Finish();
  builder.SetOutputs({y});
  return {"IF " + Text(Shape(conditions.begin(), conditions.end())) + Text(shape) + graph.suffix(),
          Rule::kElement, builder.Finish(), refusal, feeds};
}

// x = x + x while x < limit; the comparison of more than one element is no condition.
OpCase MakeWhile(const std::vector<int32_t>& start, int32_t limit, Known known,
                 const char* refusal = "") {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const Shape shape = {static_cast<int32_t>(start.size())};
  const int body = AddBranch(&builder, kTfLiteInt32, shape, true);
  const int condition = builder.AddSubgraph("condition");
  builder.SelectSubgraph(condition);
  const int x = builder.AddTensor(kTfLiteInt32, shape, "x");
  const int bound = builder.AddConstant<int32_t>(kTfLiteInt32, {1}, {limit}, "limit");
  const int below = builder.AddTensor(kTfLiteBool, {1}, "below");
  builder.AddOp(kTfLiteBuiltinLess, {x, bound}, {below});
  builder.SetInputs({x});
  builder.SetOutputs({below});
  builder.SelectSubgraph(0);
  const int first = graph.AddNumbers(kTfLiteInt32, shape, start, "first");
  const int last = builder.AddTensor(kTfLiteInt32, {1}, "last");
  builder.AddOp(kTfLiteBuiltinWhile, {first}, {last},
                schema::CreateWhileOptions(builder.fbb(), condition, body));
  const auto feeds = graph.Finish();
  builder.SetOutputs({last});
  return {"WHILE " + Text(start) + " below " + std::to_string(limit) + graph.suffix(), Rule::kEqual,
          builder.Finish(), refusal, feeds};
}

}  // namespace

std::vector<OpCase> ControlCases() {
  std::vector<OpCase> cases;
  for (Known known : {Known::kBefore, Known::kAtRunTime}) {
    for (uint8_t condition : {0, 1}) {
      cases.push_back(MakeIf({condition}, known, {2, 3}));
      cases.push_back(MakeIf({condition}, known, {0, 3}));
    }
    cases.push_back(MakeIf({1, 0}, known, {2}, "expected 1 elements, found 2"));
    cases.push_back(MakeIf({}, known, {2}, "expected 1 elements, found 0"));
    cases.push_back(MakeWhile({3}, 100, known));
    cases.push_back(MakeWhile({3}, 3, known));
    cases.push_back(MakeWhile({3, 4}, 100, known, "expected 1 elements, found 2"));
  }
  return cases;
}

}  // namespace deputy
