// SPDX-License-Identifier: Apache-2.0
//
// The generated schema has the only list of operator names; this file makes it accessible.
#include "core/model/op_names.h"

#include "core/model/model_desc.h"
#include "schema_generated.h"

namespace deputy {

const char* BuiltinOperatorName(int builtin_code) {
  if (builtin_code < 0 || builtin_code > static_cast<int>(schema::BuiltinOperator::MAX)) {
    return "UNKNOWN";
  }
  const char* name =
      schema::EnumNameBuiltinOperator(static_cast<schema::BuiltinOperator>(builtin_code));
  return *name == '\0' ? "UNKNOWN" : name;
}

const char* OperatorName(const TfLiteRegistration& registration) {
  return registration.custom_name != nullptr ? registration.custom_name
                                             : BuiltinOperatorName(registration.builtin_code);
}

const char* OperatorName(const OperatorCodeDesc& code) {
  return code.custom_name != nullptr ? code.custom_name : BuiltinOperatorName(code.code);
}

}  // namespace deputy
