// SPDX-License-Identifier: Apache-2.0
//
// Features of the processor as a set: kernels name those that they require, and the named sets of
// DEPUTY_CPU those that they allow.
#ifndef DEPUTY_KERNELS_CPU_FEATURES_H_
#define DEPUTY_KERNELS_CPU_FEATURES_H_

#include <cstdint>
#include <initializer_list>

namespace deputy {

enum class CpuFeature {
  kPortable,  // vector code without intrinsics: every processor has it
  // Features of x86-64 processors.
  kAvx2,
  kFma,
  kF16c,
  kAvx512F,
  kAvx512Bw,
  kAvx512Dq,
  kAvx512Vl,
  kAvx512Vnni,
  kAvx512Bf16,
  kFastAvx512Bf16,  // VDPBF16PS computes more products per cycle than float32 instructions
  kAvx512Fp16,
  kAmxTile,
  kAmxInt8,
  kAmxBf16,
  // Features of AArch64 processors.
  kNeon,  // every AArch64 processor has it
  kNeonDot,
  kNeonFp16,
  kNeonI8mm,
  kNeonBf16,
  // Features of 32-bit ARM processors.
  kNeon32,
};

class CpuFeatures {
 public:
  constexpr CpuFeatures() = default;
  constexpr CpuFeatures(std::initializer_list<CpuFeature> features) {
    for (const CpuFeature feature : features) bits_ |= uint64_t{1} << static_cast<int>(feature);
  }

  constexpr bool Includes(CpuFeatures others) const { return (others.bits_ & ~bits_) == 0; }
  constexpr CpuFeatures operator|(CpuFeatures other) const { return FromBits(bits_ | other.bits_); }
  constexpr CpuFeatures operator&(CpuFeatures other) const { return FromBits(bits_ & other.bits_); }
  constexpr CpuFeatures Without(CpuFeatures other) const { return FromBits(bits_ & ~other.bits_); }
  constexpr bool operator==(CpuFeatures other) const { return bits_ == other.bits_; }

 private:
  static constexpr CpuFeatures FromBits(uint64_t bits) {
    CpuFeatures features;
    features.bits_ = bits;
    return features;
  }

  uint64_t bits_ = 0;
};

// ---- Sets that kernels require ----------------------------------------------------------------

inline constexpr CpuFeatures kPortableSet = {CpuFeature::kPortable};
inline constexpr CpuFeatures kAvx2Set = {CpuFeature::kAvx2, CpuFeature::kFma, CpuFeature::kF16c};
inline constexpr CpuFeatures kAvx512Set =
    kAvx2Set | CpuFeatures{CpuFeature::kAvx512F, CpuFeature::kAvx512Bw, CpuFeature::kAvx512Dq,
                           CpuFeature::kAvx512Vl};
inline constexpr CpuFeatures kAvx512VnniSet = kAvx512Set | CpuFeatures{CpuFeature::kAvx512Vnni};
inline constexpr CpuFeatures kAvx512Bf16Set = kAvx512Set | CpuFeatures{CpuFeature::kAvx512Bf16};
inline constexpr CpuFeatures kFastAvx512Bf16Set =
    kAvx512Bf16Set | CpuFeatures{CpuFeature::kFastAvx512Bf16};
inline constexpr CpuFeatures kAvx512Fp16Set = kAvx512Set | CpuFeatures{CpuFeature::kAvx512Fp16};
inline constexpr CpuFeatures kAmxSet =
    kAvx512VnniSet | kAvx512Bf16Set |
    CpuFeatures{CpuFeature::kAmxTile, CpuFeature::kAmxInt8, CpuFeature::kAmxBf16};

inline constexpr CpuFeatures kNeonSet = {CpuFeature::kNeon};
inline constexpr CpuFeatures kNeonDotSet = kNeonSet | CpuFeatures{CpuFeature::kNeonDot};
inline constexpr CpuFeatures kNeonFp16Set = kNeonDotSet | CpuFeatures{CpuFeature::kNeonFp16};
inline constexpr CpuFeatures kNeonI8mmSet = kNeonDotSet | CpuFeatures{CpuFeature::kNeonI8mm};
inline constexpr CpuFeatures kNeonBf16Set = kNeonI8mmSet | CpuFeatures{CpuFeature::kNeonBf16};

inline constexpr CpuFeatures kNeon32Set = {CpuFeature::kNeon32};

// ---- Detection --------------------------------------------------------------------------------

// Returns the features of this processor that the operating system supports. Determined once per
// process. AMX also requires RequestTilePermission.
CpuFeatures DetectCpuFeatures();

// Requests permission to use AMX tile data from Linux (arch_prctl); returns false if it is refused.
// Called only when AMX will be used, because from then on signal stacks must be large enough for
// the tiles; Linux refuses the request if a signal stack is too small.
bool RequestTilePermission();

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_FEATURES_H_
