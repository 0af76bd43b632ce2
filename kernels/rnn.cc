// SPDX-License-Identifier: Apache-2.0
//
// RNN, its two sequence forms, and SVDF: no kernels yet; their options are read for a client's
// kernel or a delegate.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillRnn(const OpOptions& options, TfLiteRNNParams* params) {
  params->activation = options.Activation(0);
  params->asymmetric_quantize_inputs = options.Bool(1);
  return true;
}

bool FillSequenceRnn(const OpOptions& options, TfLiteSequenceRNNParams* params) {
  params->time_major = options.Bool(0);
  params->activation = options.Activation(1);
  params->asymmetric_quantize_inputs = options.Bool(2);
  return true;
}

bool FillBidirectional(const OpOptions& options, TfLiteBidirectionalSequenceRNNParams* params) {
  params->time_major = options.Bool(0);
  params->activation = options.Activation(1);
  params->merge_outputs = options.Bool(2);
  params->asymmetric_quantize_inputs = options.Bool(3);
  return true;
}

bool FillSvdf(const OpOptions& options, TfLiteSVDFParams* params) {
  params->rank = options.Int(0);
  params->activation = options.Activation(1);
  params->asymmetric_quantize_inputs = options.Bool(2);
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("RNN", kTfLiteBuiltinRnn, {1, 7}, sizeof(TfLiteRNNParams),
              &ParseOptions<7, TfLiteRNNParams, &FillRnn>),
    ParserRow("UNIDIRECTIONAL_SEQUENCE_RNN", kTfLiteBuiltinUnidirectionalSequenceRnn, {1, 31},
              sizeof(TfLiteSequenceRNNParams),
              &ParseOptions<31, TfLiteSequenceRNNParams, &FillSequenceRnn>),
    ParserRow("BIDIRECTIONAL_SEQUENCE_RNN", kTfLiteBuiltinBidirectionalSequenceRnn, {1, 70},
              sizeof(TfLiteBidirectionalSequenceRNNParams),
              &ParseOptions<70, TfLiteBidirectionalSequenceRNNParams, &FillBidirectional>),
    ParserRow("SVDF", kTfLiteBuiltinSvdf, {1, 6}, sizeof(TfLiteSVDFParams),
              &ParseOptions<6, TfLiteSVDFParams, &FillSvdf>),
};

}  // namespace

constexpr std::span<const OpDef> kRnnOps = kTable;

}  // namespace deputy
