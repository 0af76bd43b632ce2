// SPDX-License-Identifier: Apache-2.0
//
// Contents of PersistentRo tensors in memory that the tensor does not own, because interpreters
// share it. The field `allocation`, which the ABI does not use for such tensors, then contains the
// address of the contents.
#ifndef DEPUTY_C_API_ABI_BORROWED_DATA_H_
#define DEPUTY_C_API_ABI_BORROWED_DATA_H_

#include "c_api/include/common.h"

namespace deputy {

// Returns true if the tensor does not own its contents. The functions of common.h do not free them;
// functions that resize such a tensor allocate a block for it.
inline bool BorrowsData(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLitePersistentRo && tensor.data.raw != nullptr &&
         tensor.allocation == tensor.data.raw;
}

// Frees the contents of the PersistentRo tensor and makes it use `data`, which must outlive the
// tensor and must not be written through it.
inline void BorrowData(const char* data, TfLiteTensor* tensor) {
  TfLiteTensorDataFree(tensor);
  tensor->data.raw_const = data;
  tensor->allocation = data;
}

// Replaces borrowed contents by a copy that the tensor owns, before they are written. kTfLiteError
// if out of memory; the tensor is then unchanged.
inline TfLiteStatus OwnData(TfLiteTensor* tensor) {
  return BorrowsData(*tensor) ? TfLiteTensorRealloc(tensor->bytes, tensor) : kTfLiteOk;
}

}  // namespace deputy

#endif  // DEPUTY_C_API_ABI_BORROWED_DATA_H_
