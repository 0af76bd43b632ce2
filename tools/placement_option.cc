// SPDX-License-Identifier: Apache-2.0
#include "placement_option.h"

#include "deputy/deputy.h"
#include "text.h"

namespace deputy::tools {
namespace {

// Parses a selector. `name_text` owns the string to which the placement's name points.
DeputyPlacement Parse(const std::string& selector, std::string* name_text) {
  DeputyPlacement placement = {};
  placement.struct_size = sizeof(placement);
  placement.subgraph_index = -1;
  const size_t hash = selector.find('#');
  std::string& name = *name_text;
  bool readable = true;
  if (selector.rfind("op:", 0) == 0) {
    placement.selector = kDeputySelectOperator;
    name = selector.substr(3);
    readable = !name.empty();
  } else if (selector.rfind("tensor:", 0) == 0) {
    placement.selector = kDeputySelectOutputTensor;
    name = selector.substr(7);
  } else {
    placement.selector = kDeputySelectIndex;
    readable = hash != std::string::npos &&
               (hash == 0 || ParseNumber(selector.substr(0, hash), &placement.subgraph_index)) &&
               ParseNumber(selector.substr(hash + 1), &placement.node_index);
  }
  if (!readable) {
    FailUsage("'%s': expected #NODE, SUBGRAPH#NODE, op:OPERATOR or tensor:NAME", selector.c_str());
  }
  placement.name = name.c_str();
  return placement;
}

void AddPlacement(const std::string& selector, const TfLiteDelegate* delegate,
                  TfLiteInterpreterOptions* options) {
  std::string name;
  DeputyPlacement placement = Parse(selector, &name);
  placement.delegate = delegate;
  if (DeputyInterpreterOptionsAddPlacement(options, &placement) != kTfLiteOk) {
    FailWork("'%s': the library rejects this placement", selector.c_str());
  }
}

bool Selects(const DeputyPlacement& placement, const TfLiteInterpreter* interpreter, int subgraph,
             int node) {
  if (placement.subgraph_index >= 0 && placement.subgraph_index != subgraph) return false;
  if (placement.selector == kDeputySelectIndex) return placement.node_index == node;
  DeputyNodeInfo info = {};
  info.struct_size = sizeof(info);
  if (DeputyInterpreterGetNodeInfo(interpreter, subgraph, node, &info) != kTfLiteOk) return false;
  const std::string name = placement.name;
  if (placement.selector == kDeputySelectOperator) return name == info.operator_name;
  for (int i = 0; i < info.output_count; ++i) {
    const TfLiteTensor* tensor = DeputyInterpreterGetTensor(interpreter, subgraph, info.outputs[i]);
    if (tensor != nullptr && tensor->name != nullptr && name == tensor->name) return true;
  }
  return false;
}

void CheckSelector(const std::string& selector, const TfLiteInterpreter* interpreter) {
  std::string name;
  const DeputyPlacement placement = Parse(selector, &name);
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter); ++s) {
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter, s); ++n) {
      if (Selects(placement, interpreter, s, n)) return;
    }
  }
  FailUsage("'%s': matches no node of the model", selector.c_str());
}

}  // namespace

void CheckSelectors(const std::vector<std::string>& pins, const std::vector<std::string>& excludes,
                    const TfLiteInterpreter* interpreter) {
  for (const std::string& pin : pins) CheckSelector(pin.substr(0, pin.rfind('=')), interpreter);
  for (const std::string& exclude : excludes) CheckSelector(exclude, interpreter);
}

void AddExclusion(const std::string& selector, TfLiteInterpreterOptions* options) {
  AddPlacement(selector, nullptr, options);
}

void AddPin(const std::string& pin, const std::vector<LoadedDelegate>& delegates,
            TfLiteInterpreterOptions* options) {
  const size_t equals = pin.rfind('=');
  int index = 0;
  if (equals == std::string::npos || !ParseNumber(pin.substr(equals + 1), &index)) {
    FailUsage("--pin %s: expected SELECTOR=DELEGATE, the delegate's number from 0", pin.c_str());
  }
  if (static_cast<size_t>(index) >= delegates.size()) {
    FailUsage("--pin %s: no delegate %d, there are %zu", pin.c_str(), index, delegates.size());
  }
  AddPlacement(pin.substr(0, equals), delegates[static_cast<size_t>(index)].handle.get(), options);
}

}  // namespace deputy::tools
