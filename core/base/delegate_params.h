// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a delegate kernel's init: one malloc block with a struct and its arrays.
#ifndef DEPUTY_CORE_BASE_DELEGATE_PARAMS_H_
#define DEPUTY_CORE_BASE_DELEGATE_PARAMS_H_

#include "c_api/include/common.h"
#include "core/base/partition.h"

namespace deputy {

// Returns a TfLiteDelegateParams, or a TfLiteOpaqueDelegateParams if there is a builder. One `free`
// releases struct and arrays. Null if out of memory.
void* MakeDelegateParams(TfLiteDelegate* delegate, const TfLiteOpaqueDelegateBuilder* builder,
                         const NodeSubset& subset);

// Return nodes of a delegate node: the model's nodes that it replaces; the nodes with which its
// init was called, in the same order; and the nodes that the CPU runs in its place. They are the
// same nodes, except in NCHW.
const TfLiteIntArray* ReplacedNodes(const TfLiteNode& node);
const TfLiteIntArray* DescribedNodes(const TfLiteNode& node);
const TfLiteIntArray* CpuNodes(const TfLiteNode& node);
// Returns true for a node of a delegate in NCHW, also if none of its tensors is in NCHW.
bool ComputesInNchw(const TfLiteNode& node);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_DELEGATE_PARAMS_H_
