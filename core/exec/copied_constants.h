// SPDX-License-Identifier: Apache-2.0
//
// Release of constants that only delegates read, if the delegates have copies of them.
#ifndef DEPUTY_CORE_EXEC_COPIED_CONSTANTS_H_
#define DEPUTY_CORE_EXEC_COPIED_CONSTANTS_H_

#include <memory>
#include <vector>

#include "core/exec/interpreter_state.h"

namespace deputy {

class Subgraph;

// Releases such constants: pages of the model's file, packed values and dequantised values. The
// nodes that delegates have replaced must be prepared again before they run.
InterpreterState::ReleasedConstants ReleaseCopiedConstants(
    const std::vector<std::unique_ptr<Subgraph>>& subgraphs);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_COPIED_CONSTANTS_H_
