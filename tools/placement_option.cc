// SPDX-License-Identifier: Apache-2.0
#include "placement_option.h"

#include "deputy/deputy.h"
#include "text.h"

namespace deputy::tools {
namespace {

void AddPlacement(const std::string& selector, const TfLiteDelegate* delegate,
                  TfLiteInterpreterOptions* options) {
  DeputyPlacement placement = {};
  placement.struct_size = sizeof(placement);
  placement.subgraph_index = -1;
  placement.delegate = delegate;
  const size_t hash = selector.find('#');
  std::string name;
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
  if (DeputyInterpreterOptionsAddPlacement(options, &placement) != kTfLiteOk) {
    FailWork("'%s': the library refuses this placement", selector.c_str());
  }
}

}  // namespace

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
