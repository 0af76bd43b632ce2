// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow Lite's error texts for options that its parsers reject (OpDef::refusal), letter by
// letter. Where it reports two texts, they are two lines.
#ifndef DEPUTY_KERNELS_COMMON_REFUSED_OPTIONS_H_
#define DEPUTY_KERNELS_COMMON_REFUSED_OPTIONS_H_

#include <string>

#include "core/kernel_api/op_def.h"

namespace deputy {

// Each takes the options that the operator's `parse` has rejected.
std::string RefusedReshape(const OpOptions& options);
std::string RefusedSqueeze(const OpOptions& options);
std::string RefusedBucketize(const OpOptions& options);
std::string RefusedLstm(const OpOptions& options);
std::string RefusedFullyConnected(const OpOptions& options);
std::string RefusedStablehloPad(const OpOptions& options);
std::string RefusedStablehloReduceWindow(const OpOptions& options);
std::string RefusedStablehloComposite(const OpOptions& options);
std::string RefusedStablehloCase(const OpOptions& options);

// Adds that function to a row.
constexpr OpDef WithRefusal(OpDef row, std::string (*refusal)(const OpOptions& options)) {
  row.refusal = refusal;
  return row;
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_REFUSED_OPTIONS_H_
