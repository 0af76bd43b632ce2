// SPDX-License-Identifier: Apache-2.0
//
// Semantic check of a decoded model: every index, count, shape product, buffer size, quantisation
// array, sparsity description and subgraph call is bounded before memory is allocated from the
// model's numbers.
#ifndef DEPUTY_CORE_MODEL_MODEL_CHECK_H_
#define DEPUTY_CORE_MODEL_MODEL_CHECK_H_

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/model/model_desc.h"

namespace deputy {

// Checks a model. Returns kTfLiteError after one report if the model is unsafe to read. Structural
// errors that upstream accepts at load and rejects later are recorded in
// SubgraphDesc::inconsistency instead.
TfLiteStatus CheckModel(ModelDesc* desc, const Limits& limits, ErrorReporter* reporter);

}  // namespace deputy

#endif  // DEPUTY_CORE_MODEL_MODEL_CHECK_H_
