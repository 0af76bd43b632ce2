// SPDX-License-Identifier: Apache-2.0
//
// What a delegate's kernel is told about its node: one malloc block with a struct and its arrays.
#ifndef DEPUTY_CORE_BASE_DELEGATE_PARAMS_H_
#define DEPUTY_CORE_BASE_DELEGATE_PARAMS_H_

#include "c_api/include/common.h"
#include "core/base/partition.h"

namespace deputy {

// A TfLiteDelegateParams, or a TfLiteOpaqueDelegateParams when there is a builder. One `free` frees
// struct and arrays. Null when memory is refused.
void* MakeDelegateParams(TfLiteDelegate* delegate, const TfLiteOpaqueDelegateBuilder* builder,
                         const NodeSubset& subset);

// The nodes that a delegate's node stands for.
const TfLiteIntArray* ReplacedNodes(const TfLiteNode& node);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_DELEGATE_PARAMS_H_
