// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE and DEQUANTIZE: the tensors' types say what becomes of the values.
#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

bool ImportConversion(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0)) return false;
  return node->SetRealOutput(0, node->Real(0));
}

constexpr ImportRow kRows[] = {
    {"DEQUANTIZE", kTfLiteBuiltinDequantize, 5, &ImportConversion},
    {"QUANTIZE", kTfLiteBuiltinQuantize, 3, &ImportConversion},
};

}  // namespace

std::span<const ImportRow> QuantizeRows() { return kRows; }

}  // namespace deputy::compiler
