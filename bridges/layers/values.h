// SPDX-License-Identifier: Apache-2.0
//
// Values in the texts of layers.
#ifndef DEPUTY_BRIDGES_LAYERS_VALUES_H_
#define DEPUTY_BRIDGES_LAYERS_VALUES_H_

#include <chrono>
#include <optional>
#include <string>

#include "bridges/layers/layer.h"

namespace deputy::layers {

// Returns the call with this name of NameOf(CallKind); nothing for other texts.
std::optional<CallKind> ParseCallKind(const std::string& name);

// Returns the duration of a text such as "50ms" or "2s", from 1 ms to 1 000 000 s; nothing for
// other texts.
std::optional<std::chrono::milliseconds> ParseMilliseconds(const std::string& text);

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_VALUES_H_
