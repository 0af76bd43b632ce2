// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of IF, WHILE, CALL_ONCE, STABLEHLO_CASE and STABLEHLO_COMPOSITE: all branches,
// loops with several iterations and with none, invalid conditions and incompatible subgraphs.
#include "tests/cases/case.h"

namespace deputy {
namespace {

// Adds a subgraph that adds its input to itself, or multiplies it by itself.
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

// A loop: x = x + x while x < limit. With more than one element the comparison is not a valid
// condition.
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

// A case of y = x + x or y = x * x, selected by an index; an index out of range selects the last
// branch.
OpCase MakeCase(const std::vector<int32_t>& number, Known known, const Shape& shape,
                const char* refusal = "") {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const std::vector<int32_t> branches = {AddBranch(&builder, kTfLiteFloat32, shape, true),
                                         AddBranch(&builder, kTfLiteFloat32, shape, false)};
  const Shape numbers = {static_cast<int32_t>(number.size())};
  const int choice = graph.AddNumbers(kTfLiteInt32, numbers, number, "choice");
  const int x = graph.Add(builder.AddTensor(kTfLiteFloat32, shape, "x"));
  const int y = builder.AddTensor(kTfLiteFloat32, {1}, "y");
  builder.AddOp(kTfLiteBuiltinStablehloCase, {choice, x}, {y},
                schema::CreateStablehloCaseOptionsDirect(builder.fbb(), &branches));
  const auto feeds = graph.Finish();
  builder.SetOutputs({y});
  return {
      "STABLEHLO_CASE " + Text(Shape(number.begin(), number.end())) + Text(shape) + graph.suffix(),
      Rule::kElement, builder.Finish(), refusal, feeds};
}

OpCase MakeComposite(const Shape& shape, int inputs, const char* refusal = "") {
  ModelBuilder builder;
  const int body = AddBranch(&builder, kTfLiteFloat32, shape, true);
  const int x = builder.AddTensor(kTfLiteFloat32, shape, "x");
  const int y = builder.AddTensor(kTfLiteFloat32, {1}, "y");
  builder.AddOp(kTfLiteBuiltinStablehloComposite,
                std::vector<int32_t>(static_cast<size_t>(inputs), x), {y},
                schema::CreateStableHLOCompositeOptionsDirect(builder.fbb(), "deputy.sum", body));
  builder.SetInputs({x});
  builder.SetOutputs({y});
  return {"STABLEHLO_COMPOSITE " + Text(shape) + std::to_string(inputs), Rule::kElement,
          builder.Finish(), refusal};
}

// A case of y = x * v, where v = 2 is assigned in a subgraph that runs once.
OpCase MakeOnce(bool with_output, const char* refusal = "") {
  ModelBuilder builder;
  const auto add_handle = [&] {
    const int handle = builder.AddTensor(kTfLiteResource, {}, "handle");
    builder.AddOp(kTfLiteBuiltinVarHandle, {}, {handle},
                  schema::CreateVarHandleOptionsDirect(builder.fbb(), "", "v"));
    return handle;
  };
  const int start = builder.AddSubgraph("start");
  builder.SelectSubgraph(start);
  const int two = builder.AddConstant<float>(kTfLiteFloat32, {1}, {2}, "two");
  builder.AddOp(kTfLiteBuiltinAssignVariable, {add_handle(), two}, {});
  if (with_output) builder.SetOutputs({two});
  builder.SelectSubgraph(0);
  builder.AddOp(kTfLiteBuiltinCallOnce, {}, {},
                schema::CreateCallOnceOptions(builder.fbb(), start));
  const int x = builder.AddTensor(kTfLiteFloat32, {2, 3}, "x");
  const int v = builder.AddTensor(kTfLiteFloat32, {1}, "v");
  const int y = builder.AddTensor(kTfLiteFloat32, {1}, "y");
  builder.AddOp(kTfLiteBuiltinReadVariable, {add_handle()}, {v});
  builder.AddOp(kTfLiteBuiltinMul, {x, v}, {y}, schema::CreateMulOptions(builder.fbb()));
  builder.SetInputs({x});
  builder.SetOutputs({y});
  return {std::string("CALL_ONCE ") + (with_output ? "with an output" : "plain"), Rule::kElement,
          builder.Finish(), refusal};
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
    for (const int32_t number : {0, 1, 2, -1}) cases.push_back(MakeCase({number}, known, {2, 3}));
    cases.push_back(MakeCase({1, 0}, known, {2}, "expected 1 elements, found 2"));
    cases.push_back(MakeWhile({3}, 100, known));
    cases.push_back(MakeWhile({3}, 3, known));
    cases.push_back(MakeWhile({3, 4}, 100, known, "expected 1 elements, found 2"));
  }
  cases.push_back(MakeOnce(false));
  cases.push_back(MakeOnce(true, "expected 0 inputs and 0 outputs, found 0 and 1"));
  cases.push_back(MakeComposite({2, 3}, 1));
  cases.push_back(MakeComposite({2, 3}, 2, "expected 2 inputs and 1 outputs, found 1 and 1"));
  return cases;
}

}  // namespace deputy
