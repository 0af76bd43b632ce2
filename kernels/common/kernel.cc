// SPDX-License-Identifier: Apache-2.0
//
// Kernels receive pointers into context->tensors; messages need the tensor's index, which is found
// by address.
#include "kernels/common/kernel.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <limits>

namespace deputy {
namespace {

TfLiteTensor* TensorAt(TfLiteContext* context, const TfLiteIntArray* indices, int position) {
  if (indices == nullptr || position < 0 || position >= indices->size) return nullptr;
  const int tensor = indices->data[position];
  if (tensor < 0 || static_cast<size_t>(tensor) >= context->tensors_size) return nullptr;
  return &context->tensors[tensor];
}

// Returns the index of a tensor; -1 if it is not found. A kernel may hold a copy of a tensor's
// struct (e.g. with converted weights), which has the name of the original.
int NumberOf(const TfLiteContext* context, const TfLiteTensor* tensor) {
  const TfLiteTensor* first = context->tensors;
  const TfLiteTensor* last = first + context->tensors_size;
  if (std::less_equal<>()(first, tensor) && std::less<>()(tensor, last)) {
    return static_cast<int>(tensor - first);
  }
  for (const TfLiteTensor* one = first; one != last; ++one) {
    if (one->name == tensor->name) return static_cast<int>(one - first);
  }
  return -1;
}

// Returns true if the product of every subset of the extents, times 8 bytes, fits in 63 bits:
// kernels multiply parts of shapes, so zero extents must not hide an overflow of the others.
bool IsAddressable(std::span<const int> dims) {
  constexpr size_t kMaxElements =
      static_cast<size_t>(std::numeric_limits<int64_t>::max()) / sizeof(double);
  size_t product = 1;
  for (const int extent : dims) {
    if (extent == 0) continue;
    if (!MultiplySizes(product, static_cast<size_t>(extent), &product) || product > kMaxElements) {
      return false;
    }
  }
  return true;
}

TfLiteStatus CheckShape(TfLiteContext* context, const TfLiteTensor* tensor) {
  if (Rank(tensor) > kMaxRank) {
    return TensorError(context, tensor, "expected at most %d dimensions, found %d", kMaxRank,
                       Rank(tensor));
  }
  for (const int extent : Dims(tensor)) {
    if (extent < 0) {
      return TensorError(context, tensor, "expected dimensions of 0 or more, found %d", extent);
    }
  }
  if (!IsAddressable(Dims(tensor))) {
    return TensorError(context, tensor, "expected an addressable size, found an overflow");
  }
  return kTfLiteOk;
}

}  // namespace

TfLiteTensor* Input(TfLiteContext* context, const TfLiteNode* node, int index) {
  return TensorAt(context, node->inputs, index);
}

TfLiteTensor* Output(TfLiteContext* context, const TfLiteNode* node, int index) {
  return TensorAt(context, node->outputs, index);
}

int64_t ElementCount(std::span<const int> dims) {
  int64_t count = 1;
  for (int extent : dims) count *= extent;
  return count;
}

TfLiteStatus TensorError(TfLiteContext* context, const TfLiteTensor* tensor, const char* format,
                         ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  const char* name = tensor->name == nullptr ? "" : tensor->name;
  return KernelError(context, "tensor %d '%.100s': %s", NumberOf(context, tensor), name, text);
}

TfLiteStatus CheckNode(TfLiteContext* context, const TfLiteNode* node, int min_inputs,
                       int max_inputs, int outputs, Sparse sparse) {
  const int input_count = node->inputs == nullptr ? 0 : node->inputs->size;
  const int output_count = node->outputs == nullptr ? 0 : node->outputs->size;
  if (input_count < min_inputs || input_count > max_inputs) {
    return KernelError(context, "inputs: expected %d to %d, found %d", min_inputs, max_inputs,
                       input_count);
  }
  if (output_count != outputs) {
    return KernelError(context, "outputs: expected %d, found %d", outputs, output_count);
  }
  for (int i = 0; i < input_count; ++i) {
    const TfLiteTensor* input = Input(context, node, i);
    if (input != nullptr) {
      DEPUTY_TRY(CheckShape(context, input));
      if (input->sparsity != nullptr && sparse == Sparse::kRefused) {
        return TensorError(context, input, "expected a dense tensor, found a sparse one");
      }
    } else if (i < min_inputs) {
      return KernelError(context, "input %d: expected a tensor, found none", i);
    }
  }
  for (int i = 0; i < output_count; ++i) {
    if (Output(context, node, i) == nullptr) {
      return KernelError(context, "output %d: expected a tensor, found none", i);
    }
  }
  return kTfLiteOk;
}

TfLiteStatus CheckType(TfLiteContext* context, const TfLiteTensor* tensor, uint32_t types) {
  const auto number = static_cast<unsigned>(tensor->type);
  if (number < 32 && (types & (uint32_t{1} << number)) != 0) return kTfLiteOk;
  char expected[160] = "";
  size_t length = 0;
  for (int type = 0; type < 32; ++type) {
    if ((types & (uint32_t{1} << type)) == 0 || length + 24 > sizeof expected) continue;
    length += static_cast<size_t>(snprintf(expected + length, sizeof expected - length, "%s%s",
                                           length == 0 ? "" : " or ",
                                           TfLiteTypeGetName(static_cast<TfLiteType>(type))));
  }
  return TensorError(context, tensor, "expected type %s, found %s", expected,
                     TfLiteTypeGetName(tensor->type));
}

TfLiteStatus CheckSameType(TfLiteContext* context, const TfLiteTensor* tensor,
                           const TfLiteTensor* like) {
  if (tensor->type == like->type) return kTfLiteOk;
  return TensorError(context, tensor, "expected type %s like tensor %d, found %s",
                     TfLiteTypeGetName(like->type), static_cast<int>(like - context->tensors),
                     TfLiteTypeGetName(tensor->type));
}

TfLiteStatus CheckRank(TfLiteContext* context, const TfLiteTensor* tensor, int rank) {
  if (Rank(tensor) == rank) return kTfLiteOk;
  return TensorError(context, tensor, "expected %d dimensions, found %d", rank, Rank(tensor));
}

TfLiteStatus CheckDim(TfLiteContext* context, const TfLiteTensor* tensor, int axis, int expected) {
  if (Dim(tensor, axis) == expected) return kTfLiteOk;
  return TensorError(context, tensor, "expected dimension %d to be %d, found %d", axis, expected,
                     Dim(tensor, axis));
}

TfLiteStatus CheckElementCount(TfLiteContext* context, const TfLiteTensor* tensor,
                               int64_t expected) {
  if (ElementCount(tensor) == expected) return kTfLiteOk;
  return TensorError(context, tensor, "expected %lld elements, found %lld",
                     static_cast<long long>(expected),
                     static_cast<long long>(ElementCount(tensor)));
}

TfLiteStatus CheckQuantized(TfLiteContext* context, const TfLiteTensor* tensor) {
  const float scale = tensor->params.scale;
  if (!(scale > 0.0f) || !std::isfinite(scale)) {
    return TensorError(context, tensor, "expected a positive scale, found %g",
                       static_cast<double>(scale));
  }
  return CheckZeroPoint(context, tensor);
}

TfLiteStatus CheckZeroPoint(TfLiteContext* context, const TfLiteTensor* tensor) {
  int32_t low, high;
  const int32_t zero_point = tensor->params.zero_point;
  if (QuantizedLimits(tensor->type, &low, &high) && (zero_point < low || zero_point > high)) {
    return TensorError(context, tensor, "expected a zero point from %d to %d, found %d", low, high,
                       zero_point);
  }
  return kTfLiteOk;
}

TfLiteStatus CheckNoZeroPoint(TfLiteContext* context, const TfLiteTensor* tensor) {
  if (tensor->params.zero_point == 0) return kTfLiteOk;
  return TensorError(context, tensor, "expected zero point 0, found %d", tensor->params.zero_point);
}

TfLiteStatus CheckSymmetric(TfLiteContext* context, const TfLiteTensor* tensor) {
  return tensor->type == kTfLiteInt16 ? CheckNoZeroPoint(context, tensor) : kTfLiteOk;
}

TfLiteStatus CheckSameQuantization(TfLiteContext* context, const TfLiteTensor* tensor,
                                   const TfLiteTensor* like) {
  if (std::fabs(tensor->params.scale - like->params.scale) <= 1e-6f &&
      tensor->params.zero_point == like->params.zero_point) {
    return kTfLiteOk;
  }
  return TensorError(context, tensor,
                     "expected scale %g and zero point %d like tensor %d, found %g and %d",
                     static_cast<double>(like->params.scale), like->params.zero_point,
                     static_cast<int>(like - context->tensors),
                     static_cast<double>(tensor->params.scale), tensor->params.zero_point);
}

TfLiteStatus CheckContainerSize(TfLiteContext* context, const TfLiteTensor* tensor, int64_t count,
                                size_t bytes, const char* what) {
  size_t total;
  if (MultiplySizes(static_cast<size_t>(count), bytes, &total) &&
      total <= LimitsOf(context).max_block_bytes) {
    return kTfLiteOk;
  }
  return TensorError(context, tensor, "out of memory for %lld %s", static_cast<long long>(count),
                     what);
}

bool QuantizedLimits(TfLiteType type, int32_t* out_min, int32_t* out_max) {
  switch (type) {
    case kTfLiteInt8:
      *out_min = std::numeric_limits<int8_t>::min();
      *out_max = std::numeric_limits<int8_t>::max();
      return true;
    case kTfLiteUInt8:
      *out_min = 0;
      *out_max = std::numeric_limits<uint8_t>::max();
      return true;
    case kTfLiteInt16:
      *out_min = std::numeric_limits<int16_t>::min();
      *out_max = std::numeric_limits<int16_t>::max();
      return true;
    default:
      return false;
  }
}

TfLiteStatus UnexpectedType(TfLiteContext* context, const TfLiteTensor* tensor) {
  return TensorError(context, tensor, "found type %s, which this operator does not support",
                     TfLiteTypeGetName(tensor->type));
}

TfLiteStatus MakePersistent(TfLiteContext* context, TfLiteTensor* tensor) {
  if (tensor->allocation_type == kTfLitePersistentRo) return kTfLiteOk;
  if (tensor->allocation_type == kTfLiteMmapRo) {
    return TensorError(context, tensor, "expected a tensor to write to, found a constant");
  }
  TfLiteTensorDataFree(tensor);
  tensor->allocation_type = kTfLitePersistentRo;
  return kTfLiteOk;
}

void MakeDynamic(TfLiteTensor* tensor) {
  if (IsDynamic(tensor)) return;
  TfLiteTensorDataFree(tensor);
  tensor->allocation_type = kTfLiteDynamic;
}

TfLiteStatus ResizeTo(TfLiteContext* context, TfLiteTensor* tensor, std::span<const int> dims) {
  for (int extent : dims) {
    if (extent < 0) {
      return TensorError(context, tensor, "its computed dimensions would be negative (%d)", extent);
    }
  }
  if (!IsAddressable(dims)) {
    return TensorError(context, tensor, "its computed size would overflow");
  }
  TfLiteIntArray* array = TfLiteIntArrayCreate(static_cast<int>(dims.size()));
  if (array == nullptr) return TensorError(context, tensor, "out of memory for its dimensions");
  for (size_t i = 0; i < dims.size(); ++i) array->data[i] = dims[i];
  // ResizeTensor takes ownership of the array, whatever it returns.
  return context->ResizeTensor(context, tensor, array);
}

}  // namespace deputy
