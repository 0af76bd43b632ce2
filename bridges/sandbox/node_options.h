// SPDX-License-Identifier: Apache-2.0
//
// Options of a node for its digest (digest.h).
#ifndef DEPUTY_BRIDGES_SANDBOX_NODE_OPTIONS_H_
#define DEPUTY_BRIDGES_SANDBOX_NODE_OPTIONS_H_

#include "bridges/sandbox/digest.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::sandbox {

// Adds the options of a node: all bytes of a custom operator, and the fields of the structs in
// builtin_op_data.h. Excludes control flow, strings, types of results other than those of ARG_MAX
// and ARG_MIN, StableHLO, and the fields pot_scale_int16, quantized_bias_type and
// diagonal_recurrent_tensors, whose values depend on the version of the runtime.
void AddOptions(int builtin_code, const TfLiteNode& node, Digest* digest);

}  // namespace deputy::sandbox

#endif  // DEPUTY_BRIDGES_SANDBOX_NODE_OPTIONS_H_
