// SPDX-License-Identifier: Apache-2.0
//
// A list of layers, NAME=VALUE;NAME=VALUE, the outermost one first. The layer `isolate` separates
// the layers of this process from those of the delegate's process.
#ifndef DEPUTY_BRIDGES_LAYERS_STACK_H_
#define DEPUTY_BRIDGES_LAYERS_STACK_H_

#include <memory>
#include <string>
#include <vector>

#include "bridges/layers/deadline.h"
#include "bridges/layers/layer.h"

namespace deputy::layers {

struct Stack {
  std::vector<std::unique_ptr<Layer>> layers;  // the layers outside of `isolate`, or all
  bool isolates = false;
  std::string profile;    // value of `isolate`
  std::string inside;     // list of the layers inside of `isolate`
  Deadlines deadlines{};  // of the layers outside
};

// Creates the layers of a list. Returns "" or an error message. May throw std::system_error.
std::string MakeStack(const std::string& list, Stack* stack);

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_STACK_H_
