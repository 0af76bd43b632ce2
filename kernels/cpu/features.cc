// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if (defined(__aarch64__) || defined(__arm__)) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace deputy {
namespace {

#if defined(__x86_64__)
// Registers of a CPUID leaf, which the processor must have. Not __get_cpuid_count, which executes
// CPUID twice.
struct Cpuid {
  unsigned eax, ebx, ecx, edx;

  explicit Cpuid(unsigned leaf) { __cpuid_count(leaf, 0, eax, ebx, ecx, edx); }
};

// Detects the processor's features. The builtins also check that the operating system saves the
// registers. CPUID is read for features whose names not every compiler accepts.
CpuFeatures Detect() {
  const Cpuid basic(1);
  // AVX2 is reported in leaf 7, so a processor with AVX2 has that leaf.
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  const unsigned extended = avx2 ? Cpuid(7).edx : 0;
  const bool intel = __builtin_cpu_is("intel") != 0;
  const bool bf16 = __builtin_cpu_supports("avx512bf16") != 0;
  const struct {
    CpuFeature feature;
    bool is_supported;
  } rows[] = {
      {CpuFeature::kAvx2, avx2},
      {CpuFeature::kFma, __builtin_cpu_supports("fma") != 0},
      {CpuFeature::kF16c, (basic.ecx & (1u << 29)) != 0},
      {CpuFeature::kAvx512F, __builtin_cpu_supports("avx512f") != 0},
      {CpuFeature::kAvx512Bw, __builtin_cpu_supports("avx512bw") != 0},
      {CpuFeature::kAvx512Dq, __builtin_cpu_supports("avx512dq") != 0},
      {CpuFeature::kAvx512Vl, __builtin_cpu_supports("avx512vl") != 0},
      {CpuFeature::kAvx512Vnni, __builtin_cpu_supports("avx512vnni") != 0},
      {CpuFeature::kAvx512Bf16, bf16},
      // VDPBF16PS is not fast on a Xeon with AMX: it takes four times as long as a float32
      // multiply-add and computes only twice as many products.
      {CpuFeature::kFastAvx512Bf16, bf16 && !intel},
      {CpuFeature::kAvx512Fp16,
       __builtin_cpu_supports("avx512bw") != 0 && (extended & (1u << 23)) != 0},
      {CpuFeature::kAmxBf16, (extended & (1u << 22)) != 0},
      {CpuFeature::kAmxTile, (extended & (1u << 24)) != 0},
      {CpuFeature::kAmxInt8, (extended & (1u << 25)) != 0},
  };
  CpuFeatures features = kPortableSet;
  for (const auto& row : rows) {
    if (row.is_supported) features = features | CpuFeatures{row.feature};
  }
  return features;
}
#elif defined(__aarch64__)
// Detects the processor's features, which Linux reports in the auxiliary vector.
CpuFeatures Detect() {
  CpuFeatures features = kPortableSet | kNeonSet;
#if defined(__linux__)
  // Bits of <asm/hwcap.h>, which older headers lack.
  constexpr unsigned long kHwcapDot = 1ul << 20, kHwcapHalf = 1ul << 10, kHwcap2I8mm = 1ul << 13,
                          kHwcap2Bf16 = 1ul << 14;
  const unsigned long hwcap = getauxval(AT_HWCAP), hwcap2 = getauxval(AT_HWCAP2);
  if ((hwcap & kHwcapDot) != 0) features = features | kNeonDotSet;
  if ((hwcap & kHwcapHalf) != 0) features = features | CpuFeatures{CpuFeature::kNeonFp16};
  if ((hwcap2 & kHwcap2I8mm) != 0) features = features | CpuFeatures{CpuFeature::kNeonI8mm};
  if ((hwcap2 & kHwcap2Bf16) != 0) features = features | CpuFeatures{CpuFeature::kNeonBf16};
#endif
  return features;
}
#elif defined(__arm__) && defined(__linux__)
CpuFeatures Detect() {
  constexpr unsigned long kHwcapNeon = 1ul << 12;
  const bool has_neon = (getauxval(AT_HWCAP) & kHwcapNeon) != 0;
  return has_neon ? kPortableSet | kNeon32Set : kPortableSet;
}
#else
CpuFeatures Detect() { return kPortableSet; }
#endif

}  // namespace

// The result is cached, because under a hypervisor CPUID takes microseconds.
CpuFeatures DetectCpuFeatures() {
  static const CpuFeatures features = Detect();
  return features;
}

bool RequestTilePermission() {
#if defined(__x86_64__) && defined(__linux__)
  // ARCH_REQ_XCOMP_PERM of <asm/prctl.h>, since Linux 5.16, and the number of the tile data's state
  // component.
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

}  // namespace deputy
