// SPDX-License-Identifier: Apache-2.0
//
// Lists of nodes for the functions of a context, without functions of the runtime: a delegate that
// uses them can be loaded by any runtime.
#ifndef DEPUTY_CORE_SUPPORT_NODE_ARRAY_H_
#define DEPUTY_CORE_SUPPORT_NODE_ARRAY_H_

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

struct FreeNodeArray {
  void operator()(TfLiteIntArray* array) const { std::free(array); }
};
using NodeArray = std::unique_ptr<TfLiteIntArray, FreeNodeArray>;

// Returns a copy of the indices. Throws bad_alloc if out of memory.
inline NodeArray MakeNodeArray(std::span<const int> nodes) {
  NodeArray array(static_cast<TfLiteIntArray*>(
      std::malloc(sizeof(TfLiteIntArray) + nodes.size() * sizeof(int))));
  if (array == nullptr) throw std::bad_alloc();
  array->size = static_cast<int>(nodes.size());
  std::copy(nodes.begin(), nodes.end(), array->data);
  return array;
}

// Stores the partitions that claiming these nodes would create. The runtime owns them; they are
// valid until the next preview. Returns the runtime's status.
inline TfLiteStatus PreviewPartitions(TfLiteContext* context, std::span<const int> nodes,
                                      std::span<const TfLiteDelegateParams>* out_partitions) {
  TfLiteDelegateParams* partitions = nullptr;
  int count = 0;
  const NodeArray array = MakeNodeArray(nodes);
  const TfLiteStatus status =
      context->PreviewDelegatePartitioning(context, array.get(), &partitions, &count);
  if (status == kTfLiteOk) *out_partitions = {partitions, static_cast<size_t>(count)};
  return status;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_SUPPORT_NODE_ARRAY_H_
