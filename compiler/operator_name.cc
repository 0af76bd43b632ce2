// SPDX-License-Identifier: Apache-2.0
#include "compiler/operator_name.h"

#include "core/support/op_names.h"

namespace deputy::compiler {

std::string OperatorName(int builtin_code) {
  const char* name = FindBuiltinName(builtin_code);
  return name == nullptr ? std::to_string(builtin_code) : name;
}

}  // namespace deputy::compiler
