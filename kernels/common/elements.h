// SPDX-License-Identifier: Apache-2.0
//
// Access to elements for operators that only move them. Such operators are templates on the element
// type and are instantiated for the unsigned integer of the element's size (1, 2, 4 or 8 bytes) and
// for string views. ElementAccess provides the arrays: for strings it parses the tensor (whose
// bytes are untrusted) into views, and writes views back to a tensor. 2-bit and 4-bit elements are
// unpacked to a byte each and packed again.
#ifndef DEPUTY_KERNELS_COMMON_ELEMENTS_H_
#define DEPUTY_KERNELS_COMMON_ELEMENTS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/support/type_size.h"
#include "kernels/common/kernel.h"
#include "kernels/common/packed_ints.h"

namespace deputy {

inline constexpr uint32_t kStringBit = TypeBit(kTfLiteString);

// Element types supported by several kernels, without and with strings.
inline constexpr uint32_t kNumberBits = kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit |
                                        kInt16Bit | kInt32Bit | kInt64Bit | kUInt32Bit | kBoolBit;
inline constexpr uint32_t kAnyBits = kNumberBits | kStringBit;
// Element types supported by operators that only move elements, without and with strings.
inline constexpr uint32_t kMovedNumberBits = kNumberBits | kBFloat16Bit |
                                             TypeBit(kTfLiteComplex64) | TypeBit(kTfLiteFloat64) |
                                             TypeBit(kTfLiteUInt64) | TypeBit(kTfLiteUInt16);
inline constexpr uint32_t kMovedBits = kMovedNumberBits | kStringBit;
inline constexpr uint32_t kInt4Bit = TypeBit(kTfLiteInt4);
inline constexpr uint32_t kPackedBits = TypeBit(kTfLiteInt2) | kInt4Bit | TypeBit(kTfLiteUInt4);

// Bytes per element of number types of up to 8 bytes, which WithElements supports; 0 for other
// types.
constexpr int ElementBytes(TfLiteType type) {
  return static_cast<int>(TypeBytesIfIn(kMovedNumberBits, type));
}

// Returns the strings of a tensor as views into it, one per element of its shape. Fails if the
// number of strings is different or if offsets are out of range.
TfLiteStatus ReadStrings(TfLiteContext* context, const TfLiteTensor* tensor,
                         std::vector<std::string_view>* out);
// Writes strings to a tensor. The views must not point into `tensor`.
TfLiteStatus WriteStrings(TfLiteContext* context, TfLiteTensor* tensor,
                          const std::vector<std::string_view>& strings);
// Resizes `out` to `count` string views after checking the limits.
TfLiteStatus ReserveStrings(TfLiteContext* context, const TfLiteTensor* tensor, int64_t count,
                            std::vector<std::string_view>* out);

// Owns the element arrays of a node's tensors during an invoke: unpacked elements and parsed
// strings.
class ElementArrays {
 public:
  explicit ElementArrays(TfLiteContext* context) : context_(context) {}
  ~ElementArrays();
  ElementArrays(const ElementArrays&) = delete;
  ElementArrays& operator=(const ElementArrays&) = delete;
  TfLiteStatus Read(const TfLiteTensor* tensor, const void** out);
  // Returns an array for the tensor's new elements; arrays of packed integers begin as the tensor's
  // contents.
  TfLiteStatus Write(TfLiteTensor* tensor, void** out);
  // Writes strings and packed elements back to their tensors.
  TfLiteStatus Finish();

 private:
  struct Held {
    TfLiteTensor* written = nullptr;  // tensor that Finish writes; null if it is only read
    std::vector<std::string_view> strings;
    std::vector<int8_t> unpacked;
  };

  TfLiteContext* context_;
  // Arrays of strings and packed elements; other arrays are the tensors' memory.
  std::list<Held> held_;
};

// Typed access to the arrays of tensors whose elements are T.
template <typename T>
class ElementAccess {
 public:
  using Element = T;
  explicit ElementAccess(ElementArrays* arrays) : arrays_(arrays) {}
  TfLiteStatus Read(const TfLiteTensor* tensor, const T** out) {
    const void* elements = nullptr;
    DEPUTY_TRY(arrays_->Read(tensor, &elements));
    *out = static_cast<const T*>(elements);
    return kTfLiteOk;
  }
  TfLiteStatus Write(TfLiteTensor* tensor, T** out) {
    void* elements = nullptr;
    DEPUTY_TRY(arrays_->Write(tensor, &elements));
    *out = static_cast<T*>(elements);
    return kTfLiteOk;
  }

 private:
  ElementArrays* arrays_;
};

// Calls function(access) with the ElementAccess for tensors of `like`'s type, then writes strings
// and packed elements back (Finish).
template <typename Function>
TfLiteStatus WithElements(TfLiteContext* context, const TfLiteTensor* like, Function&& function) {
  ElementArrays arrays(context);
  const auto run = [&](auto access) -> TfLiteStatus {
    DEPUTY_TRY(function(access));
    return arrays.Finish();
  };
  if (like->type == kTfLiteString) return run(ElementAccess<std::string_view>(&arrays));
  switch (PackedBits(like->type) != 0 ? 1 : ElementBytes(like->type)) {
    case 1:
      return run(ElementAccess<uint8_t>(&arrays));
    case 2:
      return run(ElementAccess<uint16_t>(&arrays));
    case 4:
      return run(ElementAccess<uint32_t>(&arrays));
    case 8:
      return run(ElementAccess<uint64_t>(&arrays));
    default:
      return UnexpectedType(context, like);
  }
}

// Calls move(in, out) with the elements of one input and one output, unless the output is empty.
template <typename Function>
TfLiteStatus MoveElements(TfLiteContext* context, const TfLiteTensor* from, TfLiteTensor* to,
                          Function&& move) {
  return WithElements(context, from, [&](auto& access) -> TfLiteStatus {
    using T = typename std::remove_reference_t<decltype(access)>::Element;
    const T* in = nullptr;
    T* out = nullptr;
    DEPUTY_TRY(access.Read(from, &in));
    DEPUTY_TRY(access.Write(to, &out));
    if (ElementCount(to) > 0) move(in, out);
    return kTfLiteOk;
  });
}

// Checks that both tensors have the same scale and the same zero point. Some operators require this
// (others ignore the quantisation) unless values are rescaled (kernels/common/rescale.h).
TfLiteStatus CheckExactQuantization(TfLiteContext* context, const TfLiteTensor* tensor,
                                    const TfLiteTensor* like);

// Copies the contents of a tensor of any type; strings may change its size.
TfLiteStatus CopyTensor(TfLiteContext* context, const TfLiteTensor* from, TfLiteTensor* to);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_ELEMENTS_H_
