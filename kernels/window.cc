// SPDX-License-Identifier: Apache-2.0
//
// REDUCE_WINDOW and DILATE: no kernels yet; their options are read for a client's kernel or a
// delegate. A window function that the schema does not know is refused, as upstream refuses it.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

constexpr OptionsKind kReduceWindow = {2, 20};

bool ParseReduceWindow(const OpOptions& options, void* out) {
  if (!options.As(kReduceWindow).present()) return true;
  const int32_t function = options.Int(0);
  if (function < TfLiteReduceWindowFunctionAdd || function > TfLiteReduceWindowFunctionAny) {
    return false;
  }
  static_cast<TfLiteReduceWindowParams*>(out)->reduce_function =
      static_cast<TfLiteReduceWindowFunction>(function);
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("REDUCE_WINDOW", kTfLiteBuiltinReduceWindow, kReduceWindow,
              sizeof(TfLiteReduceWindowParams), &ParseReduceWindow),
    ParserRow("DILATE", kTfLiteBuiltinDilate),
};

}  // namespace

constexpr std::span<const OpDef> kWindowOps = kTable;

}  // namespace deputy
