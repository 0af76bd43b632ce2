// SPDX-License-Identifier: Apache-2.0
//
// RANDOM_STANDARD_NORMAL, RANDOM_UNIFORM and MULTINOMIAL: no kernels yet; their options are read
// for a client's kernel or a delegate. The seeds are 64 bits wide in the file and cut to 32, as
// upstream's.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillRandom(const OpOptions& options, TfLiteRandomParams* params) {
  params->seed = static_cast<int>(options.Long(0));
  params->seed2 = static_cast<int>(options.Long(1));
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("RANDOM_STANDARD_NORMAL", kTfLiteBuiltinRandomStandardNormal, {1, 114},
              sizeof(TfLiteRandomParams), &ParseOptions<114, TfLiteRandomParams, &FillRandom>),
    ParserRow("RANDOM_UNIFORM", kTfLiteBuiltinRandomUniform, {1, 114}, sizeof(TfLiteRandomParams),
              &ParseOptions<114, TfLiteRandomParams, &FillRandom>),
    ParserRow("MULTINOMIAL", kTfLiteBuiltinMultinomial, {1, 114}, sizeof(TfLiteRandomParams),
              &ParseOptions<114, TfLiteRandomParams, &FillRandom>),
};

}  // namespace

constexpr std::span<const OpDef> kRandomOps = kTable;

}  // namespace deputy
