// SPDX-License-Identifier: Apache-2.0
#include "core/model/op_names.h"

#include "core/model/model_desc.h"
#include "core/support/op_names.h"

namespace deputy {

const char* BuiltinOperatorName(int builtin_code) {
  const char* name = FindBuiltinName(builtin_code);
  return name == nullptr ? "UNKNOWN" : name;
}

const char* OperatorName(const TfLiteRegistration& registration) {
  return registration.custom_name != nullptr ? registration.custom_name
                                             : BuiltinOperatorName(registration.builtin_code);
}

const char* OperatorName(const OperatorCodeDesc& code) {
  return code.custom_name != nullptr ? code.custom_name : BuiltinOperatorName(code.code);
}

}  // namespace deputy
