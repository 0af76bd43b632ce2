// SPDX-License-Identifier: Apache-2.0
//
// Operators that only move elements do not care what these are. They are written once, as a
// template on the element, and run on the smallest type of the right size: 1, 2, 4 or 8 bytes, or
// a view of a string. Around them, ElementAccess hands out the arrays: for strings it reads the
// tensor (whose bytes anybody may have written) into views and writes views into a tensor. Elements
// of 2 and 4 bits are unpacked to a byte each and packed again.
#ifndef DEPUTY_KERNELS_COMMON_ELEMENTS_H_
#define DEPUTY_KERNELS_COMMON_ELEMENTS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/common/kernel.h"
#include "kernels/common/packed_ints.h"

namespace deputy {

inline constexpr uint32_t kStringBit = TypeBit(kTfLiteString);

// The element types of this library, without and with strings.
inline constexpr uint32_t kNumberBits = kFloat32Bit | kFloat16Bit | kInt8Bit | kUInt8Bit |
                                        kInt16Bit | kInt32Bit | kInt64Bit | kUInt32Bit | kBoolBit;
inline constexpr uint32_t kAnyBits = kNumberBits | kStringBit;
// And what more those operators take that do no more than put elements into another order, without
// and with strings.
inline constexpr uint32_t kMovedNumberBits = kNumberBits | kBFloat16Bit |
                                             TypeBit(kTfLiteComplex64) | TypeBit(kTfLiteFloat64) |
                                             TypeBit(kTfLiteUInt64) | TypeBit(kTfLiteUInt16);
inline constexpr uint32_t kMovedBits = kMovedNumberBits | kStringBit;
inline constexpr uint32_t kInt4Bit = TypeBit(kTfLiteInt4);
inline constexpr uint32_t kPackedBits = TypeBit(kTfLiteInt2) | kInt4Bit | TypeBit(kTfLiteUInt4);

// Bytes of one element of a type that WithElements runs on: numbers of up to 8 bytes. 0 for others.
constexpr int ElementBytes(TfLiteType type) {
  switch (type) {
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteBool:
      return 1;
    case kTfLiteInt16:
    case kTfLiteUInt16:
    case kTfLiteFloat16:
    case kTfLiteBFloat16:
      return 2;
    case kTfLiteFloat32:
    case kTfLiteInt32:
    case kTfLiteUInt32:
      return 4;
    case kTfLiteInt64:
    case kTfLiteUInt64:
    case kTfLiteFloat64:
    case kTfLiteComplex64:
      return 8;
    default:
      return 0;
  }
}

// The strings of a tensor as views into it, as many as its shape has elements. An element count
// that the bytes do not bear out, or offsets outside them, are an error.
TfLiteStatus ReadStrings(TfLiteContext* context, const TfLiteTensor* tensor,
                         std::vector<std::string_view>* out);
// The reverse. The views may not point into `tensor`.
TfLiteStatus WriteStrings(TfLiteContext* context, TfLiteTensor* tensor,
                          const std::vector<std::string_view>& strings);
// Room for `count` views, held against the limits.
TfLiteStatus ReserveStrings(TfLiteContext* context, const TfLiteTensor* tensor, int64_t count,
                            std::vector<std::string_view>* out);

// Arrays of one node's tensors while it runs, by the tensors' types.
class ElementArrays {
 public:
  explicit ElementArrays(TfLiteContext* context) : context_(context) {}
  ~ElementArrays();
  ElementArrays(const ElementArrays&) = delete;
  ElementArrays& operator=(const ElementArrays&) = delete;
  TfLiteStatus Read(const TfLiteTensor* tensor, const void** out);
  // What is packed begins with what the tensor holds.
  TfLiteStatus Write(TfLiteTensor* tensor, void** out);
  // Puts strings that were written into the tensors, and packs what is packed.
  TfLiteStatus Finish();

 private:
  struct Held {
    TfLiteTensor* written = nullptr;  // null: what was read
    std::vector<std::string_view> strings;
    std::vector<int8_t> unpacked;
  };

  TfLiteContext* context_;
  std::list<Held> held_;  // of strings and packed elements: others are where the tensor has them
};

// The same for tensors whose elements are T.
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

// function(access) with the ElementAccess for tensors of `like`'s type, then Finish.
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

// The usual form: move(in, out) from one tensor to one other, skipped when nothing is written.
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

// Exactly one scale and one zero point for both, which some operators insist on (others ignore
// them), unless values are rescaled (kernels/common/rescale.h).
TfLiteStatus CheckExactQuantization(TfLiteContext* context, const TfLiteTensor* tensor,
                                    const TfLiteTensor* like);

// Copies the whole of a tensor, of any type with a payload of its own size.
TfLiteStatus CopyTensor(TfLiteContext* context, const TfLiteTensor* from, TfLiteTensor* to);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_COMMON_ELEMENTS_H_
