// SPDX-License-Identifier: Apache-2.0
//
// Variables and hash tables: no kernels yet; their options are read for a client's kernel or a
// delegate. Names of variables point into the model.
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"

namespace deputy {
namespace {

// ---- Parameters -------------------------------------------------------------------------------

bool FillVarHandle(const OpOptions& options, TfLiteVarHandleParams* params) {
  params->container = options.String(0);
  params->shared_name = options.String(1);
  return true;
}

bool FillHashtable(const OpOptions& options, TfLiteHashtableParams* params) {
  params->table_id = options.Int(0);
  params->key_dtype = options.Type(1);
  params->value_dtype = options.Type(2);
  return true;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    ParserRow("VAR_HANDLE", kTfLiteBuiltinVarHandle, {1, 111}, sizeof(TfLiteVarHandleParams),
              &ParseOptions<111, TfLiteVarHandleParams, &FillVarHandle>),
    ParserRow("READ_VARIABLE", kTfLiteBuiltinReadVariable),
    ParserRow("ASSIGN_VARIABLE", kTfLiteBuiltinAssignVariable),
    ParserRow("HASHTABLE", kTfLiteBuiltinHashtable, {1, 107}, sizeof(TfLiteHashtableParams),
              &ParseOptions<107, TfLiteHashtableParams, &FillHashtable>),
    ParserRow("HASHTABLE_FIND", kTfLiteBuiltinHashtableFind),
    ParserRow("HASHTABLE_IMPORT", kTfLiteBuiltinHashtableImport),
    ParserRow("HASHTABLE_SIZE", kTfLiteBuiltinHashtableSize),
};

}  // namespace

constexpr std::span<const OpDef> kResourceOps = kTable;

}  // namespace deputy
