// SPDX-License-Identifier: Apache-2.0
//
// The programs that a dispatch delegate runs.
#ifndef DEPUTY_LITERT_SRC_DISPATCH_SOURCE_H_
#define DEPUTY_LITERT_SRC_DISPATCH_SOURCE_H_

#include <memory>
#include <string>
#include <vector>

#include "litert/c/litert_common.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/model.h"

namespace deputy::litert {

// A program that replaces nodes of an interpreter. The numbers are those of its nodes and tensors.
struct DispatchProgram {
  std::vector<int> nodes, inputs, outputs;
  std::string name;                      // entry point
  Bytes byte_code;                       // empty if there is a handle
  LiteRtJitExecutable handle = nullptr;  // null: none
};

struct DispatchSource {
  Bytes file;                             // with the byte code of operators DISPATCH_OP
  const JitHandles* handles = nullptr;    // programs of these operators that have handles; or null
  std::vector<DispatchProgram> programs;  // for other operators
  std::vector<std::shared_ptr<const void>> owned;  // what the other members refer to
};

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_DISPATCH_SOURCE_H_
