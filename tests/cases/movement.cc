// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/movement.h"

namespace deputy {
namespace {

std::string NameOf(const MoveRow& row, TfLiteType type) {
  std::string name = std::string(row.name) + " " + TfLiteTypeGetName(type) + " ";
  for (const Shape& shape : row.tensors) name += Text(shape);
  for (const Indices& indices : row.indices) name += " " + Text(indices.values);
  return row.options.empty() ? name : name + " options " + Text(row.options);
}

OpCase MakeCase(const MoveRow& row, TfLiteType type, Known known, const AddRowOperator& add) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  const TensorExtras extras = type == kTfLiteInt8 ? PerTensor(0.05f, 3) : TensorExtras();
  std::vector<int32_t> tensors, inputs, outputs;
  for (const Shape& shape : row.tensors) {
    tensors.push_back(graph.Add(builder.AddTensor(type, shape, "input", extras)));
  }
  for (const Indices& indices : row.indices) {
    inputs.push_back(graph.AddNumbers(kTfLiteInt32, indices.shape, indices.values, "indices"));
  }
  inputs.insert(row.indices_first ? inputs.end() : inputs.begin(), tensors.begin(), tensors.end());
  for (int i = 0; i < row.outputs; ++i) {
    outputs.push_back(builder.AddTensor(type, {1}, "output", extras));
  }
  add(&builder, row, inputs, outputs);
  const auto feeds = graph.Finish();
  builder.SetOutputs(outputs);
  return {NameOf(row, type) + graph.suffix(),
          Rule::kEqual,
          builder.Finish(),
          row.refusal,
          feeds,
          row.late};
}

std::vector<TfLiteType> TypesOf(const MoveRow& row, std::span<const MoveTypes> further) {
  std::vector<TfLiteType> types = {kTfLiteFloat32, kTfLiteInt8};
  for (const MoveTypes& more : further) {
    if (more.code != row.code || *row.refusal != 0) continue;
    types.insert(types.end(), more.types.begin(), more.types.end());
  }
  return types;
}

}  // namespace

std::vector<OpCase> MoveCases(std::span<const MoveRow> rows, const AddRowOperator& add,
                              std::span<const MoveTypes> further) {
  std::vector<OpCase> cases;
  for (const MoveRow& row : rows) {
    for (const TfLiteType type : TypesOf(row, further)) {
      cases.push_back(MakeCase(row, type, Known::kBefore, add));
      if (!row.indices.empty()) cases.push_back(MakeCase(row, type, Known::kAtRunTime, add));
    }
  }
  return cases;
}

}  // namespace deputy
