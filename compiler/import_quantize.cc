// SPDX-License-Identifier: Apache-2.0
//
// Imports QUANTIZE and DEQUANTIZE, whose conversions follow from the tensors' types, and DENSIFY.
#include "compiler/node_import.h"

namespace deputy::compiler {
namespace {

bool ImportConversion(NodeImport* node) {
  if (!node->CheckInputs(1, 1) || !node->CheckReal(0)) return false;
  return node->SetRealOutput(0, node->Real(0));
}

// Imports DENSIFY of a constant, which is expanded at import; other inputs are refused.
bool ImportDensify(NodeImport* node) {
  if (node->input_count() > 1) return node->Refuse(kDeputyReasonOther, "expected one input");
  return node->SetOutput(0, node->Dense(0));
}

constexpr ImportRow kQuantizeRows[] = {
    {"DENSIFY", kTfLiteBuiltinDensify, 1, &ImportDensify},
    {"DEQUANTIZE", kTfLiteBuiltinDequantize, 9, &ImportConversion},
    {"QUANTIZE", kTfLiteBuiltinQuantize, 6, &ImportConversion},
};

}  // namespace

std::span<const ImportRow> QuantizeRows() { return kQuantizeRows; }

}  // namespace deputy::compiler
