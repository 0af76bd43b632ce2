// SPDX-License-Identifier: Apache-2.0
//
// Tensor accessors of c_api.h. They accept any TfLiteTensor, including those of clients.
#include <cstring>

#include "c_api/abi/borrowed_data.h"
#include "c_api/include/c_api.h"

TfLiteType TfLiteTensorType(const TfLiteTensor* tensor) {
  return tensor == nullptr ? kTfLiteNoType : tensor->type;
}

int32_t TfLiteTensorNumDims(const TfLiteTensor* tensor) {
  return tensor == nullptr || tensor->dims == nullptr ? -1 : tensor->dims->size;
}

int32_t TfLiteTensorDim(const TfLiteTensor* tensor, int32_t dim_index) {
  return dim_index < 0 || dim_index >= TfLiteTensorNumDims(tensor) ? -1
                                                                   : tensor->dims->data[dim_index];
}

size_t TfLiteTensorByteSize(const TfLiteTensor* tensor) {
  return tensor == nullptr ? 0 : tensor->bytes;
}

void* TfLiteTensorData(const TfLiteTensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->data.raw;
}

const char* TfLiteTensorName(const TfLiteTensor* tensor) {
  return tensor == nullptr ? nullptr : tensor->name;
}

TfLiteQuantizationParams TfLiteTensorQuantizationParams(const TfLiteTensor* tensor) {
  return tensor == nullptr ? TfLiteQuantizationParams{} : tensor->params;
}

TfLiteStatus TfLiteTensorCopyFromBuffer(TfLiteTensor* tensor, const void* input_data,
                                        size_t input_data_size) {
  if (tensor == nullptr || tensor->bytes != input_data_size) return kTfLiteError;
  if (input_data_size == 0) return kTfLiteOk;
  if (tensor->data.raw == nullptr || input_data == nullptr) return kTfLiteError;
  if (deputy::OwnData(tensor) != kTfLiteOk) return kTfLiteError;
  memcpy(tensor->data.raw, input_data, input_data_size);
  return kTfLiteOk;
}

TfLiteStatus TfLiteTensorCopyToBuffer(const TfLiteTensor* output_tensor, void* output_data,
                                      size_t output_data_size) {
  if (output_tensor == nullptr || output_tensor->bytes != output_data_size) return kTfLiteError;
  if (output_data_size == 0) return kTfLiteOk;
  if (output_tensor->data.raw == nullptr || output_data == nullptr) return kTfLiteError;
  memcpy(output_data, output_tensor->data.raw, output_data_size);
  return kTfLiteOk;
}
