// SPDX-License-Identifier: Apache-2.0
//
// SKIP_GRAM, LSH_PROJECTION and HASHTABLE_LOOKUP: no kernels yet; their options are read for a
// client's kernel or a delegate. So are CONCAT_EMBEDDINGS and CALL, two operators that upstream has
// retired without ever having had kernels for them: they carry no parameters.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillSkipGram(const OpOptions& options, TfLiteSkipGramParams* params) {
  params->ngram_size = options.Int(0);
  params->max_skip_size = options.Int(1);
  params->include_all_ngrams = options.Bool(2);
  return true;
}

bool FillLshProjection(const OpOptions& options, TfLiteLSHProjectionParams* params) {
  const int8_t type = options.Byte(0);
  const bool known = type == kTfLiteLshProjectionSparse || type == kTfLiteLshProjectionDense;
  params->type = known ? static_cast<TfLiteLSHProjectionType>(type) : kTfLiteLshProjectionUnknown;
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("SKIP_GRAM", kTfLiteBuiltinSkipGram, {1, 18}, sizeof(TfLiteSkipGramParams),
              &ParseOptions<18, TfLiteSkipGramParams, &FillSkipGram>),
    ParserRow("LSH_PROJECTION", kTfLiteBuiltinLshProjection, {1, 4},
              sizeof(TfLiteLSHProjectionParams),
              &ParseOptions<4, TfLiteLSHProjectionParams, &FillLshProjection>),
    ParserRow("HASHTABLE_LOOKUP", kTfLiteBuiltinHashtableLookup),
    ParserRow("CONCAT_EMBEDDINGS", kTfLiteBuiltinConcatEmbeddings),
    ParserRow("CALL", kTfLiteBuiltinCall),
};

}  // namespace

constexpr std::span<const OpDef> kTextOps = kTable;

}  // namespace deputy
