// SPDX-License-Identifier: Apache-2.0
//
// Access to the tensors of a node, and checks of shapes and quantisation, for kernels and
// delegates. Every function works inside a plug-in: it needs only the context.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_KERNEL_UTIL_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_KERNEL_UTIL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "tensorflow/lite/array.h"
#include "tensorflow/lite/context_util.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"
#include "tensorflow/lite/core/c/common_inline.h"
#include "tensorflow/lite/kernels/kernel_quantization.h"  // IWYU pragma: export

namespace tflite {
namespace kernel_util_internal {

inline TfLiteTensor* TensorAt(const TfLiteContext* context, int tensor_index) {
  if (context->tensors != nullptr) return &context->tensors[tensor_index];
  return context->GetTensor(context, tensor_index);
}

// Returns null for an index out of range and for an absent optional tensor.
inline TfLiteTensor* Find(const TfLiteContext* context, const TfLiteIntArray* tensors, int index) {
  if (index < 0 || index >= tensors->size || tensors->data[index] < 0) return nullptr;
  return TensorAt(context, tensors->data[index]);
}

// Reports the cases in which Find returns null, with kTfLiteError and `tensor` unchanged.
template <class Tensor>
TfLiteStatus FindOrReport(const TfLiteContext* context, const TfLiteIntArray* tensors, int index,
                          Tensor** tensor) {
  auto* reporter = const_cast<TfLiteContext*>(context);
  if (index < 0 || index >= tensors->size) {
    TF_LITE_KERNEL_LOG(reporter, "Invalid tensor index %d (not in [0, %d))\n", index,
                       tensors->size);
    return kTfLiteError;
  }
  if (tensors->data[index] < 0) {  // kTfLiteOptionalTensor
    TF_LITE_KERNEL_LOG(reporter, "Tensor at index %d was optional but was expected\n", index);
    return kTfLiteError;
  }
  *tensor = TensorAt(context, tensors->data[index]);
  return kTfLiteOk;
}

}  // namespace kernel_util_internal

// ------------------------------------------------------------------------------------------------
// Tensors of a node. Pointers are valid until tensors are added. The functions without "Safe"
// return null for an index out of range and for an optional tensor that is absent; the others
// report it and return kTfLiteError, with `tensor` unchanged.
// ------------------------------------------------------------------------------------------------

inline const TfLiteTensor* GetInput(const TfLiteContext* context, const TfLiteNode* node,
                                    int index) {
  return kernel_util_internal::Find(context, node->inputs, index);
}
inline TfLiteStatus GetInputSafe(const TfLiteContext* context, const TfLiteNode* node, int index,
                                 const TfLiteTensor** tensor) {
  return kernel_util_internal::FindOrReport(context, node->inputs, index, tensor);
}

// Also returns null for an input that is not a variable.
inline TfLiteTensor* GetVariableInput(TfLiteContext* context, const TfLiteNode* node, int index) {
  TfLiteTensor* tensor = kernel_util_internal::Find(context, node->inputs, index);
  return tensor != nullptr && tensor->is_variable ? tensor : nullptr;
}

inline const TfLiteTensor* GetOptionalInputTensor(const TfLiteContext* context,
                                                  const TfLiteNode* node, int index) {
  return GetInput(context, node, index);
}

inline TfLiteTensor* GetOutput(TfLiteContext* context, const TfLiteNode* node, int index) {
  return kernel_util_internal::Find(context, node->outputs, index);
}
inline TfLiteStatus GetOutputSafe(const TfLiteContext* context, const TfLiteNode* node, int index,
                                  TfLiteTensor** tensor) {
  return kernel_util_internal::FindOrReport(context, node->outputs, index, tensor);
}

inline TfLiteTensor* GetTemporary(TfLiteContext* context, const TfLiteNode* node, int index) {
  return kernel_util_internal::Find(context, node->temporaries, index);
}
inline TfLiteStatus GetTemporarySafe(const TfLiteContext* context, const TfLiteNode* node,
                                     int index, TfLiteTensor** tensor) {
  return kernel_util_internal::FindOrReport(context, node->temporaries, index, tensor);
}

inline const TfLiteTensor* GetIntermediates(TfLiteContext* context, const TfLiteNode* node,
                                            int index) {
  return kernel_util_internal::Find(context, node->intermediates, index);
}
inline TfLiteStatus GetIntermediatesSafe(const TfLiteContext* context, const TfLiteNode* node,
                                         int index, TfLiteTensor** tensor) {
  return kernel_util_internal::FindOrReport(context, node->intermediates, index, tensor);
}

inline int NumInputs(const TfLiteNode* node) {
  return node->inputs == nullptr ? 0 : node->inputs->size;
}
inline int NumOutputs(const TfLiteNode* node) {
  return node->outputs == nullptr ? 0 : node->outputs->size;
}
inline int NumIntermediates(const TfLiteNode* node) {
  return node->intermediates == nullptr ? 0 : node->intermediates->size;
}

// ------------------------------------------------------------------------------------------------
// Shapes and memory
// ------------------------------------------------------------------------------------------------

inline int NumDimensions(const TfLiteTensor* t) { return t->dims->size; }
inline int SizeOfDimension(const TfLiteTensor* t, int dim) { return t->dims->data[dim]; }

// Products of dimensions, without a check for overflow; 1 for scalars.
inline std::int64_t NumElements(const int* dims, int num_dims) {
  std::int64_t count = 1;
  for (int i = 0; i < num_dims; ++i) count *= dims[i];
  return count;
}
inline std::int64_t NumElements(const TfLiteIntArray* dims) {
  return NumElements(dims->data, dims->size);
}
inline std::int64_t NumElements(const TfLiteTensor* t) { return NumElements(t->dims); }

// True for constants of the model. IsConstantOrPersistentTensor is also true for tensors that are
// computed once.
inline bool IsConstantTensor(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteMmapRo;
}
inline bool IsConstantOrPersistentTensor(const TfLiteTensor* tensor) {
  return IsConstantTensor(tensor) || tensor->allocation_type == kTfLitePersistentRo;
}

inline bool IsDynamicTensor(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteDynamic;
}

// Change the allocation type; the contents are lost unless the tensor already has this type.
inline void SetTensorToDynamic(TfLiteTensor* tensor) {
  if (tensor->allocation_type == kTfLiteDynamic) return;
  inline_c::FreeTensorData(tensor);
  tensor->allocation_type = kTfLiteDynamic;
}
inline void SetTensorToPersistentRo(TfLiteTensor* tensor) {
  if (tensor->allocation_type == kTfLitePersistentRo) return;
  inline_c::FreeTensorData(tensor);
  tensor->allocation_type = kTfLitePersistentRo;
}

inline bool HaveSameShapes(const TfLiteTensor* input1, const TfLiteTensor* input2) {
  return inline_c::EqualIntArrays(input1->dims, input2->dims);
}

// True if the shape signature leaves a dimension open.
inline bool HasUnspecifiedDimension(const TfLiteTensor* tensor) {
  if (tensor->dims_signature == nullptr) return false;
  const TfLiteIntArrayView dims(tensor->dims_signature);
  return std::find(dims.begin(), dims.end(), -1) != dims.end();
}

// Size of an element in bits; 0 for types without fixed size.
inline int TfLiteTypeGetSizeBits(TfLiteType type) {
  switch (type) {
    case kTfLiteInt2:
      return 2;
    case kTfLiteInt4:
    case kTfLiteUInt4:
      return 4;
    case kTfLiteBool:
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteFloat8E4M3FN:
    case kTfLiteFloat8E5M2:
      return 8;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16:
      return 16;
    case kTfLiteInt32:
    case kTfLiteUInt32:
    case kTfLiteFloat32:
      return 32;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64:
      return 64;
    case kTfLiteComplex128:
      return 128;
    default:
      return 0;
  }
}

// Size of an element in bytes; 0 for types without fixed size or of less than a byte.
inline int TfLiteTypeGetSize(TfLiteType type) {
  const int bits = TfLiteTypeGetSizeBits(type);
  return bits % 8 == 0 ? bits / 8 : 0;
}

// Shape as text, e.g. "[1,224,224,3]".
inline std::string GetShapeDebugString(const TfLiteIntArray* shape) {
  std::string text = "[";
  for (int i = 0; i < shape->size; ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape->data[i]);
  }
  return text + "]";
}

// Type and shape of a tensor as text of several lines.
inline std::string GetTensorDebugString(const TfLiteTensor* tensor) {
  return std::string("{\n  type: ") + inline_c::TypeName(tensor->type) +
         "\n  data: {...}\n  dims: " + GetShapeDebugString(tensor->dims) + "\n}";
}

// Stores the shape that a vector of int32 contains; the caller owns the stored array.
inline TfLiteStatus GetOutputShapeFromInput(TfLiteContext* context, const TfLiteTensor* input,
                                            TfLiteIntArray** output_shape) {
  if (NumDimensions(input) != 1) {
    TF_LITE_KERNEL_LOG(context, "Invalid %dD input tensor (must be a 1D tensor).",
                       NumDimensions(input));
    return kTfLiteError;
  }
  IntArrayUniquePtr shape = BuildTfLiteArray<int>(SizeOfDimension(input, 0), input->data.i32);
  TF_LITE_ENSURE(context, shape != nullptr);
  *output_shape = shape.release();
  return kTfLiteOk;
}

namespace kernel_util_internal {

// Stores the common shape of tensors by the rules of broadcasting; returns false if there is none.
inline bool Broadcast(std::initializer_list<const TfLiteTensor*> inputs, TfLiteIntArray* shape) {
  for (int i = 0; i < shape->size; ++i) {
    int size = 1;
    bool has_zero = false;
    for (const TfLiteTensor* input : inputs) {
      const int axis = NumDimensions(input) - shape->size + i;
      const int input_size = axis < 0 ? 1 : SizeOfDimension(input, axis);
      has_zero = has_zero || input_size == 0;
      size = std::max(size, input_size);
    }
    if (has_zero) size = 0;
    for (const TfLiteTensor* input : inputs) {
      const int axis = NumDimensions(input) - shape->size + i;
      if (axis >= 0 && SizeOfDimension(input, axis) != 1 && SizeOfDimension(input, axis) != size) {
        return false;
      }
    }
    shape->data[i] = size;
  }
  return true;
}

}  // namespace kernel_util_internal

// Store the shape of the result of an operator that broadcasts its inputs; the caller owns it.
inline TfLiteStatus CalculateShapeForBroadcast(TfLiteContext* context, const TfLiteTensor* input1,
                                               const TfLiteTensor* input2,
                                               TfLiteIntArray** output_shape) {
  IntArrayUniquePtr shape =
      BuildTfLiteArray<int>(std::max(NumDimensions(input1), NumDimensions(input2)));
  TF_LITE_ENSURE(context, shape != nullptr);
  if (!kernel_util_internal::Broadcast({input1, input2}, shape.get())) {
    TF_LITE_KERNEL_LOG(context, "Given shapes, %s and %s, are not broadcastable.",
                       GetShapeDebugString(input1->dims).c_str(),
                       GetShapeDebugString(input2->dims).c_str());
    return kTfLiteError;
  }
  *output_shape = shape.release();
  return kTfLiteOk;
}
inline TfLiteStatus CalculateShapeForBroadcast(TfLiteContext* context, const TfLiteTensor* input1,
                                               const TfLiteTensor* input2,
                                               const TfLiteTensor* input3,
                                               TfLiteIntArray** output_shape) {
  IntArrayUniquePtr shape = BuildTfLiteArray<int>(
      std::max({NumDimensions(input1), NumDimensions(input2), NumDimensions(input3)}));
  TF_LITE_ENSURE(context, shape != nullptr);
  if (!kernel_util_internal::Broadcast({input1, input2, input3}, shape.get())) {
    TF_LITE_KERNEL_LOG(context, "Given shapes, %s, %s and %s, are not broadcastable.",
                       GetShapeDebugString(input1->dims).c_str(),
                       GetShapeDebugString(input2->dims).c_str(),
                       GetShapeDebugString(input3->dims).c_str());
    return kTfLiteError;
  }
  *output_shape = shape.release();
  return kTfLiteOk;
}

// Store the product of dimensions. Report and return kTfLiteError for a negative dimension and,
// with the text `error_message`, for an overflow.
inline TfLiteStatus CheckedShapeProduct(TfLiteContext* context, const int* dims, int count,
                                        const char* error_message, std::size_t& product) {
  TF_LITE_ENSURE(context, count >= 0);
  TF_LITE_ENSURE(context, dims != nullptr || count == 0);
  std::size_t result = 1;
  for (int i = 0; i < count; ++i) {
    TF_LITE_ENSURE_MSG(context, dims[i] >= 0, "Encountered a negative dimension.");
    TF_LITE_ENSURE_MSG(context,
                       !__builtin_mul_overflow(result, static_cast<std::size_t>(dims[i]), &result),
                       "%s", error_message);
  }
  product = result;
  return kTfLiteOk;
}
inline TfLiteStatus CheckedShapeProduct(TfLiteContext* context, std::initializer_list<int> dims,
                                        const char* error_message, std::size_t& product) {
  return CheckedShapeProduct(context, dims.begin(), static_cast<int>(dims.size()), error_message,
                             product);
}
inline TfLiteStatus CheckedShapeProductToInt(TfLiteContext* context,
                                             std::initializer_list<int> dims,
                                             const char* error_message, int& product) {
  std::size_t result = 0;
  TF_LITE_ENSURE_STATUS(CheckedShapeProduct(context, dims, error_message, result));
  TF_LITE_ENSURE_MSG(context, result <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
                     "%s", error_message);
  product = static_cast<int>(result);
  return kTfLiteOk;
}

// True on Android.
inline bool IsMobilePlatform() {
#if defined(__ANDROID__) || defined(ANDROID)
  return true;
#else
  return false;
#endif
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_KERNEL_UTIL_H_
