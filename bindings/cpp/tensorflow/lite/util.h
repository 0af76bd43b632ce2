// SPDX-License-Identifier: Apache-2.0
//
// Helper functions for arrays, sizes, operators and tensors. They call no function of the library
// that loads a plug-in, and report through a context's callback only.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_UTIL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_UTIL_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/lite/array.h"  // IWYU pragma: export
#include "tensorflow/lite/builtin_op_sizes.h"
#include "tensorflow/lite/checked_int.h"  // IWYU pragma: export
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/common_inline.h"
#include "tensorflow/lite/schema/builtin_operator.h"
#if __has_include("flatbuffers/flatbuffers.h")
#include "tensorflow/lite/schema/schema_generated.h"  // IWYU pragma: export
#endif

namespace tflite {

// Alignment of tensors in the arena, in bytes.
constexpr int kDefaultTensorAlignment = 64;

// First letters of the names of TensorFlow's own operators.
constexpr char kFlexCustomCodePrefix[] = "Flex";

// First letters of the names of subgraphs that validate a model.
constexpr char kValidationSubgraphNamePrefix[] = "VALIDATION:";

// True for names of TensorFlow's own operators; false for null.
inline bool IsFlexOp(const char* custom_name) {
  return custom_name != nullptr &&
         std::strncmp(custom_name, kFlexCustomCodePrefix, sizeof kFlexCustomCodePrefix - 1) == 0;
}

// Return arrays that the caller owns and frees with TfLiteIntArrayFree or free; null if out of
// memory.
inline TfLiteIntArray* ConvertVectorToTfLiteIntArray(const std::vector<int>& input) {
  return BuildTfLiteArray(input).release();
}
inline TfLiteIntArray* ConvertArrayToTfLiteIntArray(int ndims, const int* dims) {
  return BuildTfLiteArray(ndims, dims).release();
}

// True if `a` consists of exactly the `b_size` ints at `b`. False for null.
inline bool EqualArrayAndTfLiteIntArray(const TfLiteIntArray* a, int b_size, const int* b) {
  if (a == nullptr || a->size != b_size) return false;
  for (int i = 0; i < b_size; ++i) {
    if (a->data[i] != b[i]) return false;
  }
  return true;
}

// Hash of a sequence of hashes. Equal to TensorFlow Lite's.
inline std::size_t CombineHashes(std::initializer_list<std::size_t> hashes) {
  std::size_t combined = 0;
  for (const std::size_t hash : hashes) {
    combined ^= hash + 0x9e3779b97f4a7800ULL + (combined << 10) + (combined >> 4);
  }
  return combined;
}

// ---- Operators ----

namespace util_internal {

inline TfLiteStatus InvokeUnresolvedOp(TfLiteContext* context, TfLiteNode* /*node*/) {
  TF_LITE_KERNEL_LOG(context,
                     "Encountered an unresolved custom op. Did you miss a custom op or delegate?");
  return kTfLiteError;
}

}  // namespace util_internal

// Operator that fails when it runs; a delegate may replace it. The name is borrowed.
inline TfLiteRegistration CreateUnresolvedCustomOp(const char* custom_op_name) {
  TfLiteRegistration registration{};
  registration.invoke = &util_internal::InvokeUnresolvedOp;
  registration.builtin_code = BuiltinOperator_CUSTOM;
  registration.custom_name = custom_op_name;
  registration.version = 1;
  return registration;
}

// True for results of CreateUnresolvedCustomOp in the same executable or library.
inline bool IsUnresolvedCustomOp(const TfLiteRegistration& registration) {
  return registration.builtin_code == BuiltinOperator_CUSTOM &&
         registration.invoke == &util_internal::InvokeUnresolvedOp;
}

// Name of the operator in capitals; custom operators and delegates' kernels have their own name
// after "CUSTOM " or "DELEGATE ". "" for unknown numbers.
inline std::string GetOpNameByRegistration(const TfLiteRegistration& registration) {
  std::string name =
      EnumNameBuiltinOperator(static_cast<BuiltinOperator>(registration.builtin_code));
  if ((registration.builtin_code == BuiltinOperator_CUSTOM ||
       registration.builtin_code == BuiltinOperator_DELEGATE) &&
      registration.custom_name != nullptr) {
    name.append(" ").append(registration.custom_name);
  }
  return name;
}

// True for names of subgraphs that validate a model; false for null.
inline bool IsValidationSubgraph(const char* name) {
  return name != nullptr && std::strncmp(name, kValidationSubgraphNamePrefix,
                                         sizeof kValidationSubgraphNamePrefix - 1) == 0;
}

// Size of the options struct of an operator in bytes; 0 if it has none.
inline int GetBuiltinDataSize(BuiltinOperator op) {
  return builtin_op_sizes_internal::SizeOfOptions(static_cast<int>(op));
}

// ---- Sizes ----

// Stores the size of an element in bytes, 1 for types of less than a byte. kTfLiteError after a
// report for types without fixed size. `context` may be null.
inline TfLiteStatus GetSizeOfType(TfLiteContext* context, const TfLiteType type,
                                  std::size_t* bytes) {
  switch (type) {
    case kTfLiteInt2:
    case kTfLiteInt4:
    case kTfLiteUInt4:
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteFloat8E4M3FN:
    case kTfLiteFloat8E5M2:
    case kTfLiteBool:
      *bytes = 1;
      return kTfLiteOk;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16:
      *bytes = 2;
      return kTfLiteOk;
    case kTfLiteInt32:
    case kTfLiteUInt32:
    case kTfLiteFloat32:
      *bytes = 4;
      return kTfLiteOk;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64:
      *bytes = 8;
      return kTfLiteOk;
    case kTfLiteComplex128:
      *bytes = 16;
      return kTfLiteOk;
    default:
      TF_LITE_MAYBE_KERNEL_LOG(
          context,
          "Type %d is unsupported. Only float16, float32, float64, int2, int4, int8, int16, int32, "
          "int64, uint8, uint64, bool, complex64 and complex128 supported currently.",
          type);
      return kTfLiteError;
  }
}

// Stores a * b modulo 2^64; kTfLiteError if the product overflows.
inline TfLiteStatus MultiplyAndCheckOverflow(std::size_t a, std::size_t b, std::size_t* product) {
  return __builtin_mul_overflow(a, b, product) ? kTfLiteError : kTfLiteOk;
}

namespace util_internal {

inline TfLiteStatus CountElements(const int* dims, std::size_t rank, std::size_t& count) {
  std::size_t product = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0 ||
        __builtin_mul_overflow(product, static_cast<std::size_t>(dims[i]), &product)) {
      return kTfLiteError;
    }
  }
  count = product;
  return kTfLiteOk;
}

inline TfLiteStatus CountElements(const int* dims, std::size_t rank, int& count) {
  std::size_t product = 0;
  TF_LITE_ENSURE_STATUS(CountElements(dims, rank, product));
  if (product > static_cast<std::size_t>(std::numeric_limits<int>::max())) return kTfLiteError;
  count = static_cast<int>(product);
  return kTfLiteOk;
}

}  // namespace util_internal

// Store the product of the dimensions; kTfLiteError, with `count` unchanged, for a negative
// dimension, on overflow and for null. `Count` is size_t or int; dimensions are a container of ints
// with data() and size(), a list, an array or those of a tensor.
template <class Dims, class Count, class = decltype(std::declval<const Dims&>().data())>
TfLiteStatus CheckedNumElements(const Dims& dims, Count& count) {
  return util_internal::CountElements(dims.data(), dims.size(), count);
}
template <class Count>
TfLiteStatus CheckedNumElements(std::initializer_list<int> dims, Count& count) {
  return util_internal::CountElements(dims.begin(), dims.size(), count);
}
template <class Count>
TfLiteStatus CheckedNumElements(const TfLiteIntArray* dims, Count& count) {
  if (dims == nullptr || dims->size < 0) return kTfLiteError;
  return util_internal::CountElements(dims->data, static_cast<std::size_t>(dims->size), count);
}
template <class Count>
TfLiteStatus CheckedNumElements(const TfLiteTensor* tensor, Count& count) {
  return tensor == nullptr ? kTfLiteError : CheckedNumElements(tensor->dims, count);
}

// Stores the size of a tensor in bytes; elements of less than a byte are packed. Failures are
// reported; `context` may be null.
inline TfLiteStatus BytesRequired(TfLiteType type, const int* dims, std::size_t dims_size,
                                  std::size_t* bytes, TfLiteContext* context) {
  if (bytes == nullptr) {
    TF_LITE_MAYBE_KERNEL_LOG(context, "BytesRequired: bytes is null.");
    return kTfLiteError;
  }
  std::size_t count = 0;
  std::size_t size = 0;
  if (util_internal::CountElements(dims, dims_size, count) != kTfLiteOk) {
    TF_LITE_MAYBE_KERNEL_LOG(context, "BytesRequired number of elements overflowed.\n");
    return kTfLiteError;
  }
  TF_LITE_ENSURE_STATUS(GetSizeOfType(context, type, &size));
  if (MultiplyAndCheckOverflow(size, count, bytes) != kTfLiteOk) {
    TF_LITE_MAYBE_KERNEL_LOG(context, "BytesRequired number of bytes overflowed.\n");
    return kTfLiteError;
  }
  if (type == kTfLiteInt4 || type == kTfLiteUInt4) *bytes = *bytes / 2 + *bytes % 2;
  if (type == kTfLiteInt2) *bytes = *bytes / 4 + (*bytes % 4 != 0);
  return kTfLiteOk;
}

inline bool IsResourceOrVariant(const TfLiteTensor* tensor) {
  return tensor->type == kTfLiteResource || tensor->type == kTfLiteVariant;
}

// ---- Tensors outside a graph ----

struct TfLiteTensorDeleter {
  void operator()(TfLiteTensor* tensor) {
    if (tensor != nullptr) inline_c::FreeTensor(tensor);
    std::free(tensor);
  }
};
using TensorUniquePtr = std::unique_ptr<TfLiteTensor, TfLiteTensorDeleter>;

// A tensor of type kTfLiteNoType without shape and contents; null if out of memory.
inline TensorUniquePtr BuildTfLiteTensor() {
  TensorUniquePtr tensor(static_cast<TfLiteTensor*>(std::calloc(1, sizeof(TfLiteTensor))));
  if (tensor != nullptr) tensor->buffer_handle = kTfLiteNullBufferHandle;
  return tensor;
}

// A tensor with a shape; contents are allocated for kTfLiteDynamic and kTfLitePersistentRo. The
// allocation type must not be that of an arena. Null for types without fixed size, for a null or
// negative shape, on overflow and if out of memory.
inline TensorUniquePtr BuildTfLiteTensor(TfLiteType type, IntArrayUniquePtr dims,
                                         TfLiteAllocationType allocation_type) {
  std::size_t bytes = 0;
  if (dims == nullptr || dims->size < 0 ||
      BytesRequired(type, dims->data, static_cast<std::size_t>(dims->size), &bytes, nullptr) !=
          kTfLiteOk) {
    return nullptr;
  }
  TensorUniquePtr tensor = BuildTfLiteTensor();
  if (tensor == nullptr) return nullptr;
  tensor->type = type;
  tensor->dims = dims.release();
  tensor->allocation_type = allocation_type;
  if (inline_c::ReallocTensor(bytes, tensor.get()) != kTfLiteOk) return nullptr;
  tensor->bytes = bytes;
  return tensor;
}
inline TensorUniquePtr BuildTfLiteTensor(TfLiteType type, const std::vector<int>& dims,
                                         TfLiteAllocationType allocation_type) {
  return BuildTfLiteTensor(type, BuildTfLiteArray(dims), allocation_type);
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_UTIL_H_
