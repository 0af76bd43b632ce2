// SPDX-License-Identifier: Apache-2.0
//
// Alignment of vectors of int64 in a model file. FlatBuffers' verifier checks the alignment of
// their lengths only, and FlatBuffers' object API reads their elements as aligned numbers.
#ifndef DEPUTY_LITERT_SRC_TABLE_ALIGNMENT_H_
#define DEPUTY_LITERT_SRC_TABLE_ALIGNMENT_H_

#include "schema_generated.h"

namespace deputy::litert {

// Return true if all vectors of int64 below a table are aligned.
bool HasAlignedLongs(const schema::Tensor& tensor);
bool HasAlignedLongs(const schema::Operator& op);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_TABLE_ALIGNMENT_H_
