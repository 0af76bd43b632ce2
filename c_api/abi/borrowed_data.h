// SPDX-License-Identifier: Apache-2.0
//
// Contents of a PersistentRo tensor in memory that the tensor does not own, because interpreters
// share it. The field `allocation`, which the ABI leaves unused for such tensors, then has the
// address of the data.
#ifndef DEPUTY_C_API_ABI_BORROWED_DATA_H_
#define DEPUTY_C_API_ABI_BORROWED_DATA_H_

#include "c_api/include/common.h"

namespace deputy {

// The functions of common.h do not free such data; those that resize a tensor give it a block of
// its own.
inline bool BorrowsData(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLitePersistentRo && tensor.data.raw != nullptr &&
         tensor.allocation == tensor.data.raw;
}

// Frees what the PersistentRo tensor has and points it at `data`, which must outlive the tensor and
// must not be written through it.
inline void BorrowData(const char* data, TfLiteTensor* tensor) {
  TfLiteTensorDataFree(tensor);
  tensor->data.raw_const = data;
  tensor->allocation = data;
}

// For a tensor that is going to be written: borrowed data become a copy that the tensor owns.
// kTfLiteError when memory is refused; the tensor is then unchanged.
inline TfLiteStatus OwnData(TfLiteTensor* tensor) {
  return BorrowsData(*tensor) ? TfLiteTensorRealloc(tensor->bytes, tensor) : kTfLiteOk;
}

}  // namespace deputy

#endif  // DEPUTY_C_API_ABI_BORROWED_DATA_H_
