// SPDX-License-Identifier: Apache-2.0
//
// RFFT2D, REAL, IMAG and COMPLEX_ABS: no kernels yet, and no options; a client or a delegate may
// bring the kernels.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("RFFT2D", kTfLiteBuiltinRfft2d),
    ParserRow("REAL", kTfLiteBuiltinReal),
    ParserRow("IMAG", kTfLiteBuiltinImag),
    ParserRow("COMPLEX_ABS", kTfLiteBuiltinComplexAbs),
};

}  // namespace

constexpr std::span<const OpDef> kSignalOps = kTable;

}  // namespace deputy
