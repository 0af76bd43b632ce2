// SPDX-License-Identifier: Apache-2.0
//
// The layer `deadline`: reports calls that take too long.
#ifndef DEPUTY_BRIDGES_LAYERS_DEADLINE_H_
#define DEPUTY_BRIDGES_LAYERS_DEADLINE_H_

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "bridges/layers/layer.h"

namespace deputy::layers {

// Maximum duration of the calls of each kind; 0: none.
using Deadlines = std::array<std::chrono::milliseconds, kCallKinds>;

// Parses TIME for all kinds of calls, or CALL:TIME for one, several of them separated by commas:
// "50ms", "invoke:50ms,prepare:2s". Returns "" or an error message.
std::string ParseDeadlines(const std::string& text, Deadlines* deadlines);

// Creates the layer. A call that takes longer is reported to standard error while it runs, and
// through the context when it returns. Its status is unchanged: only a call in another process can
// be abandoned. May throw std::system_error.
std::unique_ptr<Layer> MakeDeadline(const Deadlines& deadlines);

}  // namespace deputy::layers

#endif  // DEPUTY_BRIDGES_LAYERS_DEADLINE_H_
