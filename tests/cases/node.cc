// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/node.h"

#include <algorithm>
#include <sstream>

namespace deputy {
namespace {

template <typename T>
int AddAs(CaseInputs* graph, const NodeTensor& tensor, const std::string& name) {
  std::vector<T> values;
  for (const double value : tensor.values) values.push_back(static_cast<T>(value));
  return graph->AddNumbers<T>(tensor.type, tensor.shape, values, name);
}

int AddNumbers(CaseInputs* graph, const NodeTensor& tensor, const std::string& name) {
  switch (tensor.type) {
    case kTfLiteFloat32:
    case kTfLiteComplex64:
      return AddAs<float>(graph, tensor, name);
    case kTfLiteFloat64:
      return AddAs<double>(graph, tensor, name);
    case kTfLiteInt64:
      return AddAs<int64_t>(graph, tensor, name);
    case kTfLiteInt32:
      return AddAs<int32_t>(graph, tensor, name);
    case kTfLiteUInt32:
      return AddAs<uint32_t>(graph, tensor, name);
    case kTfLiteInt16:
      return AddAs<int16_t>(graph, tensor, name);
    case kTfLiteUInt8:
    case kTfLiteBool:
      return AddAs<uint8_t>(graph, tensor, name);
    default:
      return AddAs<int8_t>(graph, tensor, name);
  }
}

std::string NameOf(const NodeRow& row) {
  std::ostringstream name;
  name << row.name;
  for (const NodeTensor& input : row.inputs) {
    name << " " << TfLiteTypeGetName(input.type) << Text(input.shape);
    for (size_t i = 0; i < std::min<size_t>(input.values.size(), 16); ++i) {
      name << (i == 0 ? " of " : ",") << input.values[i];
    }
  }
  for (const TfLiteType type : row.outputs) name << " to " << TfLiteTypeGetName(type);
  if (!row.options.empty()) name << " options " << Text(row.options);
  return name.str();
}

OpCase MakeCase(const NodeRow& row, Known known, const AddNodeOperator& add) {
  ModelBuilder builder;
  CaseInputs graph(&builder, known);
  std::vector<int32_t> inputs, outputs;
  for (const NodeTensor& tensor : row.inputs) {
    const std::string name = "input" + std::to_string(inputs.size());
    if (!tensor.values.empty()) {
      inputs.push_back(AddNumbers(&graph, tensor, name));
    } else if (tensor.constant) {
      inputs.push_back(AddRandomConstant(&builder, tensor.type, tensor.shape, 3));
    } else {
      inputs.push_back(graph.Add(builder.AddTensor(tensor.type, tensor.shape, name)));
    }
  }
  for (const TfLiteType type : row.outputs) {
    outputs.push_back(builder.AddTensor(type, {1}, "output" + std::to_string(outputs.size())));
  }
  add(&builder, row, inputs, outputs);
  const auto feeds = graph.Finish();
  builder.SetOutputs(outputs);
  return {NameOf(row) + graph.suffix(), row.rule, builder.Finish(), row.refusal, feeds, row.late};
}

}  // namespace

void AddPlainNode(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                  const std::vector<int32_t>& outputs) {
  builder->AddOp(row.code, inputs, outputs);
}

std::vector<OpCase> NodeCases(std::span<const NodeRow> rows, const AddNodeOperator& add) {
  std::vector<OpCase> cases;
  for (const NodeRow& row : rows) {
    cases.push_back(MakeCase(row, Known::kBefore, add));
    const bool has_numbers =
        std::any_of(row.inputs.begin(), row.inputs.end(),
                    [](const NodeTensor& tensor) { return !tensor.values.empty(); });
    if (has_numbers) cases.push_back(MakeCase(row, Known::kAtRunTime, add));
  }
  return cases;
}

}  // namespace deputy
