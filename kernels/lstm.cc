// SPDX-License-Identifier: Apache-2.0
//
// LSTM and its two sequence forms: no kernels yet; their options are read for a client's kernel or
// a delegate.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillLstm(const OpOptions& options, TfLiteLSTMParams* params) {
  const int8_t kernel = options.Byte(3);
  if (kernel != kTfLiteLSTMFullKernel && kernel != kTfLiteLSTMBasicKernel) return false;
  params->activation = options.Activation(0);
  params->cell_clip = options.Float(1);
  params->proj_clip = options.Float(2);
  params->kernel_type = static_cast<TfLiteLSTMKernelType>(kernel);
  params->asymmetric_quantize_inputs = options.Bool(4);
  return true;
}

bool FillUnidirectional(const OpOptions& options, TfLiteUnidirectionalSequenceLSTMParams* params) {
  params->activation = options.Activation(0);
  params->cell_clip = options.Float(1);
  params->proj_clip = options.Float(2);
  params->time_major = options.Bool(3);
  params->asymmetric_quantize_inputs = options.Bool(4);
  params->diagonal_recurrent_tensors = options.Bool(5);
  return true;
}

bool FillBidirectional(const OpOptions& options, TfLiteBidirectionalSequenceLSTMParams* params) {
  params->activation = options.Activation(0);
  params->cell_clip = options.Float(1);
  params->proj_clip = options.Float(2);
  params->merge_outputs = options.Bool(3);
  params->time_major = options.Bool(4, true);
  params->asymmetric_quantize_inputs = options.Bool(5);
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("LSTM", kTfLiteBuiltinLstm, {1, 14}, sizeof(TfLiteLSTMParams),
              &ParseOptions<14, TfLiteLSTMParams, &FillLstm>),
    ParserRow("UNIDIRECTIONAL_SEQUENCE_LSTM", kTfLiteBuiltinUnidirectionalSequenceLstm, {1, 71},
              sizeof(TfLiteUnidirectionalSequenceLSTMParams),
              &ParseOptions<71, TfLiteUnidirectionalSequenceLSTMParams, &FillUnidirectional>),
    ParserRow("BIDIRECTIONAL_SEQUENCE_LSTM", kTfLiteBuiltinBidirectionalSequenceLstm, {1, 69},
              sizeof(TfLiteBidirectionalSequenceLSTMParams),
              &ParseOptions<69, TfLiteBidirectionalSequenceLSTMParams, &FillBidirectional>),
};

}  // namespace

constexpr std::span<const OpDef> kLstmOps = kTable;

}  // namespace deputy
