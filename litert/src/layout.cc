// SPDX-License-Identifier: Apache-2.0
#include "litert/src/layout.h"

#include <algorithm>

namespace deputy::litert {
namespace {

// Returns the number of bits of an element; 0 for types without a fixed size.
size_t ElementBits(int type) {
  switch (type) {
    case kLiteRtElementTypeInt2:
      return 2;
    case kLiteRtElementTypeInt4:
    case kLiteRtElementTypeUInt4:
      return 4;
    case kLiteRtElementTypeBool:
    case kLiteRtElementTypeInt8:
    case kLiteRtElementTypeUInt8:
    case kLiteRtElementTypeFloat8E4M3FN:
    case kLiteRtElementTypeFloat8E5M2:
      return 8;
    case kLiteRtElementTypeInt16:
    case kLiteRtElementTypeUInt16:
    case kLiteRtElementTypeFloat16:
    case kLiteRtElementTypeBFloat16:
      return 16;
    case kLiteRtElementTypeInt32:
    case kLiteRtElementTypeUInt32:
    case kLiteRtElementTypeFloat32:
      return 32;
    case kLiteRtElementTypeInt64:
    case kLiteRtElementTypeUInt64:
    case kLiteRtElementTypeFloat64:
    case kLiteRtElementTypeComplex64:
      return 64;
    case kLiteRtElementTypeComplex128:
      return 128;
    case kLiteRtElementTypeNone:
    case kLiteRtElementTypeTfResource:
    case kLiteRtElementTypeTfString:
    case kLiteRtElementTypeTfVariant:
      return 0;
  }
  return 0;
}

}  // namespace

std::optional<size_t> ElementCount(const LiteRtLayout& layout) {
  if (layout.rank > LITERT_TENSOR_MAX_RANK) return std::nullopt;
  size_t count = 1;
  for (unsigned axis = 0; axis < layout.rank; ++axis) {
    const int32_t extent = layout.dimensions[axis];
    if (extent < 0 || __builtin_mul_overflow(count, static_cast<size_t>(extent), &count)) {
      return std::nullopt;
    }
  }
  return count;
}

std::optional<size_t> PackedBytes(const LiteRtRankedTensorType& type) {
  const size_t bits = ElementBits(NumberOf(type.element_type));
  std::optional<size_t> count = ElementCount(type.layout);
  if (bits == 0 || !count) return std::nullopt;
  size_t all = 0;
  if (__builtin_mul_overflow(*count, bits, &all)) return std::nullopt;
  return all / 8 + (all % 8 != 0 ? 1 : 0);
}

}  // namespace deputy::litert

LiteRtStatus LiteRtGetNumLayoutElements(const LiteRtLayout* layout, size_t* num_elements) {
  if (layout == nullptr || num_elements == nullptr) return kLiteRtStatusErrorInvalidArgument;
  const std::optional<size_t> count = deputy::litert::ElementCount(*layout);
  if (!count) return kLiteRtStatusErrorInvalidArgument;
  *num_elements = *count;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtIsSameLayout(const LiteRtLayout* layout1, const LiteRtLayout* layout2,
                                bool* result) {
  if (layout1 == nullptr || layout2 == nullptr || result == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const unsigned rank = layout1->rank;
  if (std::max<unsigned>(rank, layout2->rank) > LITERT_TENSOR_MAX_RANK) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *result = rank == layout2->rank && layout1->has_strides == layout2->has_strides &&
            std::equal(layout1->dimensions, layout1->dimensions + rank, layout2->dimensions) &&
            (!layout1->has_strides ||
             std::equal(layout1->strides, layout1->strides + rank, layout2->strides));
  return kLiteRtStatusOk;
}
