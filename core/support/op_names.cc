// SPDX-License-Identifier: Apache-2.0
//
// Makes the operator names of the generated schema accessible.
#include "core/support/op_names.h"

#include "schema_generated.h"

namespace deputy {

const char* FindBuiltinName(int builtin_code) {
  if (builtin_code < 0 || builtin_code > static_cast<int>(schema::BuiltinOperator::MAX)) {
    return nullptr;
  }
  const char* name =
      schema::EnumNameBuiltinOperator(static_cast<schema::BuiltinOperator>(builtin_code));
  return *name == '\0' ? nullptr : name;
}

}  // namespace deputy
