// SPDX-License-Identifier: Apache-2.0
//
// Error texts for options that TensorFlow Lite's parsers reject (OpDef::refusal), letter by letter
// as in TensorFlow Lite. Two messages are separated by a newline.
#ifndef DEPUTY_KERNELS_COMMON_REFUSED_OPTIONS_H_
#define DEPUTY_KERNELS_COMMON_REFUSED_OPTIONS_H_

#include <string>

#include "core/kernel_api/op_def.h"

namespace deputy {

// Each function returns the error text for options that the operator's `parse` has rejected.
std::string RefusedReshape(const OpOptions& options);
std::string RefusedSqueeze(const OpOptions& options);
std::string RefusedBucketize(const OpOptions& options);
std::string RefusedLstm(const OpOptions& options);
std::string RefusedFullyConnected(const OpOptions& options);
std::string RefusedStablehloPad(const OpOptions& options);
std::string RefusedStablehloReduceWindow(const OpOptions& options);
std::string RefusedStablehloComposite(const OpOptions& options);
std::string RefusedStablehloCase(const OpOptions& options);

// Returns the row with `refusal` as the function that returns the text for rejected options.
constexpr OpDef WithRefusal(OpDef row, std::string (*refusal)(const OpOptions& options)) {
  row.refusal = refusal;
  return row;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_REFUSED_OPTIONS_H_
