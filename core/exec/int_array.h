// SPDX-License-Identifier: Apache-2.0
//
// Owning pointer for the ABI's arrays of integers.
#ifndef DEPUTY_CORE_EXEC_INT_ARRAY_H_
#define DEPUTY_CORE_EXEC_INT_ARRAY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "c_api/include/common.h"

namespace deputy {

struct FreeIntArray {
  void operator()(TfLiteIntArray* array) const { TfLiteIntArrayFree(array); }
};
using IntArray = std::unique_ptr<TfLiteIntArray, FreeIntArray>;

// Returns a copy of the values. Throws bad_alloc if out of memory.
inline IntArray MakeArray(std::span<const int32_t> values) {
  IntArray array(TfLiteIntArrayCreate(static_cast<int>(values.size())));
  if (array == nullptr) throw std::bad_alloc();
  std::copy(values.begin(), values.end(), array->data);
  return array;
}

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_INT_ARRAY_H_
