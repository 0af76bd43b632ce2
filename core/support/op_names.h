// SPDX-License-Identifier: Apache-2.0
//
// Names of builtin operators.
#ifndef DEPUTY_CORE_SUPPORT_OP_NAMES_H_
#define DEPUTY_CORE_SUPPORT_OP_NAMES_H_

namespace deputy {

// Returns the schema's name in capitals ("CONV_2D"), null for an unknown number.
const char* FindBuiltinName(int builtin_code);

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_OP_NAMES_H_
