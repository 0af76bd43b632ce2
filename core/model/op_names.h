// SPDX-License-Identifier: Apache-2.0
//
// Operator names for messages, profiles and reports.
#ifndef DEPUTY_CORE_MODEL_OP_NAMES_H_
#define DEPUTY_CORE_MODEL_OP_NAMES_H_

#include "c_api/include/common.h"

namespace deputy {

struct OperatorCodeDesc;

// Returns the schema's name in capitals ("CONV_2D"), "UNKNOWN" for an unknown number.
const char* BuiltinOperatorName(int builtin_code);

// Returns the operator's name for messages: the custom name if there is one, else the schema's.
const char* OperatorName(const TfLiteRegistration& registration);
const char* OperatorName(const OperatorCodeDesc& code);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_OP_NAMES_H_
