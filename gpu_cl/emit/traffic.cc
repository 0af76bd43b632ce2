// SPDX-License-Identifier: Apache-2.0
#include "gpu_cl/emit/traffic.h"

#include <algorithm>
#include <variant>

namespace deputy::gpu_cl {

using compiler::Graph;
using compiler::Operation;
using compiler::ValueId;

namespace {

const Operation& OperationOf(const Graph& graph, const Step& step) {
  return graph.operations[static_cast<size_t>(step.operation)];
}

// Returns the value whose memory an argument refers to; kNoValue for other arguments.
ValueId ValueOf(const Argument& argument) {
  if (const auto* buffer = std::get_if<ValueBuffer>(&argument)) return buffer->value;
  const auto* image = std::get_if<ValueImage>(&argument);
  return image != nullptr ? image->value : compiler::kNoValue;
}

std::string Text(const Traffic& traffic) {
  return "reads " + std::to_string(traffic.read) + " bytes, writes " +
         std::to_string(traffic.written) + "\n";
}

}  // namespace

Traffic TrafficOf(const Graph& graph, const Plan& plan, const Step& step) {
  const std::vector<ValueId>& outputs = OperationOf(graph, step).outputs;
  Traffic traffic;
  std::vector<ValueId> counted;  // a value may be several arguments
  for (const Argument& argument : step.arguments) {
    if (const auto* packed = std::get_if<PackedBuffer>(&argument)) {
      const Packing& packing = plan.packings[static_cast<size_t>(packed->packing)];
      traffic.read +=
          static_cast<size_t>(packing.elements()) * compiler::ElementBytes(packing.type);
    }
    const ValueId id = ValueOf(argument);
    if (id == compiler::kNoValue ||
        std::find(counted.begin(), counted.end(), id) != counted.end()) {
      continue;
    }
    counted.push_back(id);
    const bool is_output = std::find(outputs.begin(), outputs.end(), id) != outputs.end();
    (is_output ? traffic.written : traffic.read) += graph.value(id).bytes();
  }
  return traffic;
}

Traffic TrafficOf(const Graph& graph, const Plan& plan) {
  Traffic all;
  for (const Step& step : plan.steps) {
    const Traffic traffic = TrafficOf(graph, plan, step);
    all.read += traffic.read;
    all.written += traffic.written;
  }
  return all;
}

std::string TrafficText(const Graph& graph, const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    const Operation& operation = OperationOf(graph, step);
    text += "node " + std::to_string(operation.node) + ", " + compiler::KindName(operation.kind) +
            ", " + (step.clblast ? "CLBlast" : Plan::KernelName(step.kernel)) + ": " +
            Text(TrafficOf(graph, plan, step));
  }
  return text + "all kernels: " + Text(TrafficOf(graph, plan));
}

}  // namespace deputy::gpu_cl
