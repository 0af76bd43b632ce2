// SPDX-License-Identifier: Apache-2.0
//
// CAST. Conversions of floating-point numbers to integers saturate, and NaN becomes the maximum, as
// in upstream's; integers wrap. 2-bit and 4-bit integers convert only from and to float32.
#include <algorithm>
#include <type_traits>

#include "core/support/int_math.h"
#include "kernels/common/cast.h"
#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/half.h"
#include "kernels/common/kernel.h"
#include "kernels/common/packed_ints.h"
#include "kernels/cpu/map_vectors.h"
#include "kernels/quantize.h"

namespace deputy {

bool FillCast(const OpOptions& options, TfLiteCastParams* params) {
  params->in_data_type = options.Type(0);
  params->out_data_type = options.Type(1);
  return true;
}

TfLiteStatus PrepareCast(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kCastTypes));
  // Packed integers convert only from and to float32.
  const uint32_t others = input->type == kTfLiteFloat32 ? kCastTypes : kWholeCastTypes;
  DEPUTY_TRY(CheckType(context, output, PackedBits(input->type) != 0 ? kFloat32Bit : others));
  return ResizeLike(context, output, input);
}

namespace {

// Function that casts `count` contiguous elements.
using CastPiece = void (*)(const VectorKernels& vector, const void* values, int64_t count,
                           void* out);

// Cast for pairs of types whose vector loop the CPU table lacks. Marked cold so that it is compiled
// for size.
template <typename From, typename To>
[[gnu::cold]] void CastPlainly(const From* from, int64_t count, To* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = CastNumber<To>(from[i]);
}

template <typename From, typename To>
void CastElements([[maybe_unused]] const VectorKernels& vector, const void* values, int64_t count,
                  void* out) {
  const From* from = static_cast<const From*>(values);
  To* to = static_cast<To*>(out);
  using Key = FromTo<From, To>;
  if constexpr (std::is_base_of_v<KeyedLoop<ConvertLoop, Key>, CastLoops>) {
    const auto loop = vector.cast.of<Key>();
    return loop != nullptr ? loop(from, count, to) : CastPlainly(from, count, to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = CastNumber<To>(from[i]);
  }
}

// Casts to bool: nonzero values, including NaN, are true.
template <typename From>
void CastToBool(const VectorKernels& vector, const void* values, int64_t count, void* out) {
  const From* from = static_cast<const From*>(values);
  uint8_t* to = static_cast<uint8_t*>(out);
  if (const auto loop = vector.to_bool.of<From>()) return loop(from, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] != 0;
}

void TakeRealParts(const VectorKernels&, const void* values, int64_t count, void* out) {
  const float* from = static_cast<const float*>(values);
  float* to = static_cast<float*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = from[2 * i];
}

void MakeComplex(const VectorKernels&, const void* values, int64_t count, void* out) {
  const float* from = static_cast<const float*>(values);
  float* to = static_cast<float*>(out);
  for (int64_t i = 0; i < count; ++i) {
    to[2 * i] = from[i];
    to[2 * i + 1] = 0.0f;
  }
}

// Signed integer of the size of T. Signed and unsigned integers of one size convert to the same
// bits and are truncated alike, so they share loops.
template <typename T>
using Signed = typename std::conditional_t<std::is_integral_v<T>, std::make_signed<T>,
                                           std::type_identity<T>>::type;
template <typename FromType, typename ToType>
struct CastTypes {
  static constexpr bool kIntegers = std::is_integral_v<FromType> && std::is_integral_v<ToType>;
  using From = std::conditional_t<kIntegers && sizeof(ToType) <= sizeof(FromType), Signed<FromType>,
                                  FromType>;
  using To = std::conditional_t<kIntegers, Signed<ToType>, ToType>;
};

template <typename FromType, typename ToType>
constexpr CastPiece PieceOf() {
  using Types = CastTypes<FromType, ToType>;
  if constexpr (std::is_same_v<typename Types::From, typename Types::To>) {
    return nullptr;
  } else {
    return &CastElements<typename Types::From, typename Types::To>;
  }
}

// Sequence of one or two loops that casts between a pair of types. A separate loop for each pair
// would be mostly unused code: pairs without a vector loop go through float, double or int32.
class Casting {
 public:
  TfLiteStatus Plan(TfLiteContext* context, const TfLiteTensor* input, const TfLiteTensor* output) {
    in_bytes_ = BytesOf(input);
    out_bytes_ = BytesOf(output);
    if (output->type == kTfLiteBool) return PlanBool(context, input);
    if (input->type == kTfLiteComplex64) {
      Add(&TakeRealParts);
      return AddFromHub<float, kRealTypes>(context, output);
    }
    if (output->type == kTfLiteComplex64) {
      DEPUTY_TRY((AddToHub<float, kRealTypes>(context, input)));
      Add(&MakeComplex);
      return kTfLiteOk;
    }
    if (FindLoop(input->type, output->type)) return kTfLiteOk;
    constexpr uint32_t kDouble = TypeBit(kTfLiteFloat64);
    constexpr uint32_t kShort = kBFloat16Bit | kFloat16Bit;
    const uint32_t types = TypeBit(input->type) | TypeBit(output->type);
    if ((types & kShort) != 0 || (types & (kDouble | kFloat32Bit)) == kFloat32Bit) {
      return PlanBy<float, kRealTypes>(context, input, output);
    }
    if ((types & kDouble) != 0) return PlanBy<double, kRealTypes & ~kShort>(context, input, output);
    constexpr uint32_t kIntegers = kRealTypes & ~(kShort | kDouble | kFloat32Bit);
    if (in_bytes_ == out_bytes_) return kTfLiteOk;
    if (input->type == kTfLiteUInt32 && out_bytes_ == 8) {
      Add(PieceOf<uint32_t, int64_t>());
      return kTfLiteOk;
    }
    return PlanBy<int32_t, kIntegers>(context, input, output);
  }

  // Returns true if the cast is a copy.
  bool is_copy() const { return first_ == nullptr; }

  void Run(const VectorKernels& vector, const char* values, int64_t first, int64_t last,
           char* out) const {
    values += first * in_bytes_;
    out += first * out_bytes_;
    if (second_ == nullptr) return first_(vector, values, last - first, out);
    alignas(kTensorAlignment) char between[kWidenedCount * sizeof(double)];
    for (; first < last; first += kWidenedCount) {
      const int64_t count = std::min(last - first, kWidenedCount);
      first_(vector, values, count, between);
      second_(vector, between, count, out);
      values += count * in_bytes_;
      out += count * out_bytes_;
    }
  }

 private:
  static int64_t BytesOf(const TfLiteTensor* tensor) {
    return tensor->type == kTfLiteComplex64 ? 2 * static_cast<int64_t>(sizeof(float))
                                            : ElementBytes(tensor->type);
  }

  void Add(CastPiece piece) { (first_ == nullptr ? first_ : second_) = piece; }

  template <typename Hub, uint32_t types>
  TfLiteStatus AddToHub(TfLiteContext* context, const TfLiteTensor* input) {
    return DispatchType<types>(context, input, [&](auto tag) {
      Add(PieceOf<typename decltype(tag)::type, Hub>());
      return kTfLiteOk;
    });
  }
  template <typename Hub, uint32_t types>
  TfLiteStatus AddFromHub(TfLiteContext* context, const TfLiteTensor* output) {
    return DispatchType<types>(context, output, [&](auto tag) {
      Add(PieceOf<Hub, typename decltype(tag)::type>());
      return kTfLiteOk;
    });
  }
  template <typename Hub, uint32_t types>
  TfLiteStatus PlanBy(TfLiteContext* context, const TfLiteTensor* input,
                      const TfLiteTensor* output) {
    DEPUTY_TRY((AddToHub<Hub, types>(context, input)));
    return AddFromHub<Hub, types>(context, output);
  }

  TfLiteStatus PlanBool(TfLiteContext* context, const TfLiteTensor* input) {
    if (input->type == kTfLiteComplex64) {
      Add(&TakeRealParts);
      Add(&CastToBool<float>);
      return kTfLiteOk;
    }
    return DispatchType<kRealTypes>(context, input, [&](auto tag) {
      // The loop for the signed type is used, because the sign bit does not affect whether a value
      // is 0.
      Add(&CastToBool<Signed<typename decltype(tag)::type>>);
      return kTfLiteOk;
    });
  }

  // Returns true, and selects the loop, if there is a vector loop for these types or for integers
  // of the same sizes whose conversion gives the same bits.
  bool FindLoop(TfLiteType from, TfLiteType to) {
    return [&]<typename... Keys>(const Loops<ConvertLoop, Keys...>&) {
      return (IsLoop<typename Keys::From, typename Keys::To>(from, to) || ...);
    }(CastLoops());
  }
  template <typename From, typename To>
  bool IsLoop(TfLiteType from, TfLiteType to) {
    const bool narrows =
        std::is_integral_v<From> && std::is_integral_v<To> && sizeof(To) <= sizeof(From);
    if (!IsOf<From>(from, narrows) || !IsOf<To>(to, std::is_integral_v<From>)) return false;
    first_ = PieceOf<From, To>();
    return true;
  }
  template <typename T, typename Element>
  static bool IsSame(bool either) {
    return std::is_same_v<T, Element> || (either && std::is_same_v<Signed<T>, Signed<Element>>);
  }
  // Returns true if elements of the type are T or, with `either`, integers of T's size, signed or
  // unsigned.
  template <typename T>
  static bool IsOf(TfLiteType type, bool either) {
    switch (type) {
#define DEPUTY_CAST_CASE(tflite_type, cpp_type) \
  case tflite_type:                             \
    return IsSame<T, cpp_type>(either);
      DEPUTY_CAST_CASE(kTfLiteFloat32, float)
      DEPUTY_CAST_CASE(kTfLiteFloat16, Half)
      DEPUTY_CAST_CASE(kTfLiteInt8, int8_t)
      DEPUTY_CAST_CASE(kTfLiteInt16, int16_t)
      DEPUTY_CAST_CASE(kTfLiteUInt16, uint16_t)
      DEPUTY_CAST_CASE(kTfLiteInt32, int32_t)
      DEPUTY_CAST_CASE(kTfLiteUInt32, uint32_t)
      DEPUTY_CAST_CASE(kTfLiteInt64, int64_t)
      case kTfLiteBool:
        DEPUTY_CAST_CASE(kTfLiteUInt8, uint8_t)
#undef DEPUTY_CAST_CASE
      default:
        return false;
    }
  }

  CastPiece first_ = nullptr, second_ = nullptr;
  int64_t in_bytes_ = 0, out_bytes_ = 0;
};

TfLiteStatus CastFromPacked(TfLiteContext* context, const TfLiteTensor* input,
                            TfLiteTensor* output) {
  ParallelRanges(context, ElementCount(input), kElementsPerTask, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Data<float>(output)[i] = UnpackedAt(input->type, Data<uint8_t>(input), i);
    }
  });
  return kTfLiteOk;
}

// Casts float32 to 2-bit or 4-bit integers. Out-of-range values saturate, and NaN becomes the
// maximum; fractions are truncated.
TfLiteStatus CastToPacked(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output) {
  const PackedRange range = RangeOf(output->type);
  const int64_t count = ElementCount(input), per_byte = 8 / PackedBits(output->type);
  const int64_t bytes = CeilDiv(count, per_byte);
  const float* values = Data<float>(input);
  ParallelRanges(context, bytes, kElementsPerTask, [&](int64_t first, int64_t last) {
    for (int64_t byte = first; byte < last; ++byte) {
      const int64_t begin = byte * per_byte, here = std::min(per_byte, count - begin);
      int8_t steps[4];
      for (int64_t i = 0; i < here; ++i) {
        steps[i] = std::max(range.low, std::min(range.high, CastNumber<int8_t>(values[begin + i])));
      }
      Pack(output->type, steps, here, Data<uint8_t>(output) + byte);
    }
  });
  return kTfLiteOk;
}

}  // namespace

TfLiteStatus EvalCast(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (PackedBits(input->type) != 0) return CastFromPacked(context, input, output);
  if (PackedBits(output->type) != 0) return CastToPacked(context, input, output);
  Casting casting;
  if (input->type != output->type || input->type == kTfLiteBool) {
    DEPUTY_TRY(casting.Plan(context, input, output));
  }
  if (casting.is_copy()) return CopyTensor(context, input, output);
  const char* values = Data<char>(input);
  char* out = Data<char>(output);
  const VectorKernels& vector = CpuOf(context).vector;
  ParallelRanges(context, ElementCount(input), kElementsPerTask, [&](int64_t first, int64_t last) {
    casting.Run(vector, values, first, last, out);
  });
  return kTfLiteOk;
}

}  // namespace deputy
