// SPDX-License-Identifier: Apache-2.0
//
// Inline versions of functions of common.h. The headers for authors of delegates use them instead
// of the exported ones, so that a plug-in needs no symbol of the library that loads it. Memory is
// compatible with that library's: arrays, quantisation and dynamic contents are malloc blocks.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_C_COMMON_INLINE_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_C_COMMON_INLINE_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tensorflow/lite/core/c/common.h"

namespace tflite {
namespace inline_c {

// Returns a malloc block with uninitialised elements; null if `size` is negative or if out of
// memory.
inline TfLiteIntArray* CreateIntArray(int size) {
  if (size < 0) return nullptr;
  const std::size_t bytes = sizeof(int) + static_cast<std::size_t>(size) * sizeof(int);
  auto* array = static_cast<TfLiteIntArray*>(std::malloc(bytes));
  if (array != nullptr) array->size = size;
  return array;
}

inline TfLiteFloatArray* CreateFloatArray(int size) {
  if (size < 0) return nullptr;
  const std::size_t bytes = sizeof(int) + static_cast<std::size_t>(size) * sizeof(float);
  auto* array = static_cast<TfLiteFloatArray*>(std::malloc(bytes));
  if (array != nullptr) array->size = size;
  return array;
}

inline TfLiteIntArray* CopyIntArray(const TfLiteIntArray* source) {
  if (source == nullptr) return nullptr;
  TfLiteIntArray* copy = CreateIntArray(source->size);
  if (copy == nullptr) return nullptr;
  std::memcpy(copy->data, source->data, static_cast<std::size_t>(source->size) * sizeof(int));
  return copy;
}

// True if both have the same elements, or both are null.
inline bool EqualIntArrays(const TfLiteIntArray* a, const TfLiteIntArray* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->size != b->size) return false;
  return std::memcmp(a->data, b->data, static_cast<std::size_t>(a->size) * sizeof(int)) == 0;
}

inline void FreeIntArray(TfLiteIntArray* array) { std::free(array); }

// True if the contents of a kTfLitePersistentRo tensor are in memory that interpreters of Deputy
// share. `allocation` then has the same address; in TensorFlow Lite it is null for such tensors.
inline bool BorrowsContents(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLitePersistentRo && tensor.data.raw != nullptr &&
         tensor.allocation == tensor.data.raw;
}

// Frees the contents of a tensor that owns them; `data` is null afterwards.
inline void FreeTensorData(TfLiteTensor* tensor) {
  if (tensor->allocation_type == kTfLiteVariantObject) {
    delete static_cast<VariantData*>(tensor->data.data);
  } else if (BorrowsContents(*tensor)) {
    tensor->allocation = nullptr;
  } else if (tensor->allocation_type == kTfLiteDynamic ||
             tensor->allocation_type == kTfLitePersistentRo) {
    std::free(tensor->data.raw);
  }
  tensor->data.raw = nullptr;
}

inline void FreeQuantization(TfLiteQuantization* quantization) {
  if (quantization->params != nullptr && quantization->type == kTfLiteAffineQuantization) {
    auto* affine = static_cast<TfLiteAffineQuantization*>(quantization->params);
    std::free(affine->scale);
    std::free(affine->zero_point);
  } else if (quantization->params != nullptr &&
             quantization->type == kTfLiteMultiAxisQuantization) {
    std::free(
        static_cast<TfLiteMultiAxisQuantization*>(quantization->params)->quantized_dimensions);
  }
  std::free(quantization->params);
  quantization->type = kTfLiteNoQuantization;
  quantization->params = nullptr;
}

inline void FreeSparsity(TfLiteSparsity* sparsity) {
  if (sparsity == nullptr) return;
  std::free(sparsity->traversal_order);
  std::free(sparsity->block_map);
  for (int i = 0; sparsity->dim_metadata != nullptr && i < sparsity->dim_metadata_size; ++i) {
    // The arrays of dense dimensions may be uninitialised.
    if (sparsity->dim_metadata[i].format != kTfLiteDimSparseCSR) continue;
    std::free(sparsity->dim_metadata[i].array_segments);
    std::free(sparsity->dim_metadata[i].array_indices);
  }
  std::free(sparsity->dim_metadata);
  std::free(sparsity);
}

// Frees everything that a tensor owns, but not the struct.
inline void FreeTensor(TfLiteTensor* tensor) {
  FreeTensorData(tensor);
  std::free(tensor->dims);
  tensor->dims = nullptr;
  std::free(const_cast<TfLiteIntArray*>(tensor->dims_signature));
  tensor->dims_signature = nullptr;
  FreeQuantization(&tensor->quantization);
  FreeSparsity(tensor->sparsity);
  tensor->sparsity = nullptr;
}

// Resizes the contents of a kTfLiteDynamic or kTfLitePersistentRo tensor and preserves them; other
// tensors are unchanged. Shrinking only lowers `bytes`. kTfLiteError, with the old contents kept,
// if out of memory.
inline TfLiteStatus ReallocTensor(std::size_t bytes, TfLiteTensor* tensor) {
  if (tensor->allocation_type != kTfLiteDynamic && tensor->allocation_type != kTfLitePersistentRo) {
    return kTfLiteOk;
  }
  const bool borrowed = BorrowsContents(*tensor);
  if (tensor->data.raw == nullptr || borrowed || bytes > tensor->bytes) {
    // Vector kernels may read past the last element, within this padding.
    constexpr std::size_t kPadding = 16;
    if (bytes > SIZE_MAX - kPadding) return kTfLiteError;
    void* contents = std::realloc(borrowed ? nullptr : tensor->data.raw, bytes + kPadding);
    if (contents == nullptr) return kTfLiteError;
    if (borrowed) {
      std::memcpy(contents, tensor->data.raw, bytes < tensor->bytes ? bytes : tensor->bytes);
      tensor->allocation = nullptr;
    }
    tensor->data.data = contents;
  }
  tensor->bytes = bytes;
  return kTfLiteOk;
}

// Name of a type in capitals, e.g. "FLOAT32"; "Unknown type" for other values.
inline const char* TypeName(TfLiteType type) {
  switch (type) {
    case kTfLiteNoType:
      return "NOTYPE";
    case kTfLiteFloat32:
      return "FLOAT32";
    case kTfLiteInt32:
      return "INT32";
    case kTfLiteUInt8:
      return "UINT8";
    case kTfLiteInt64:
      return "INT64";
    case kTfLiteString:
      return "STRING";
    case kTfLiteBool:
      return "BOOL";
    case kTfLiteInt16:
      return "INT16";
    case kTfLiteComplex64:
      return "COMPLEX64";
    case kTfLiteInt8:
      return "INT8";
    case kTfLiteFloat16:
      return "FLOAT16";
    case kTfLiteFloat64:
      return "FLOAT64";
    case kTfLiteComplex128:
      return "COMPLEX128";
    case kTfLiteUInt64:
      return "UINT64";
    case kTfLiteResource:
      return "RESOURCE";
    case kTfLiteVariant:
      return "VARIANT";
    case kTfLiteUInt32:
      return "UINT32";
    case kTfLiteUInt16:
      return "UINT16";
    case kTfLiteInt4:
      return "INT4";
    case kTfLiteBFloat16:
      return "BFLOAT16";
    case kTfLiteInt2:
      return "INT2";
    case kTfLiteUInt4:
      return "UINT4";
    case kTfLiteFloat8E4M3FN:
      return "FLOAT8_E4M3FN";
    case kTfLiteFloat8E5M2:
      return "FLOAT8_E5M2";
  }
  return "Unknown type";
}

// Value by which a kernel's init reports a failure.
inline void* KernelInitFailed() { return reinterpret_cast<void*>(-1); }

}  // namespace inline_c
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_C_COMMON_INLINE_H_
