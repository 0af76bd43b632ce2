// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

// Instruction sets for which this build has vector code; see DEPUTY_MAX_CPU in
// tools/cmake/kernel_options.cmake.
#if defined(__x86_64__)
#define DEPUTY_HAS_AVX2 (DEPUTY_MAX_CPU_LEVEL >= 1)
#define DEPUTY_HAS_AVX512 (DEPUTY_MAX_CPU_LEVEL >= 2)
#define DEPUTY_HAS_AMX (DEPUTY_MAX_CPU_LEVEL >= 3)
#else
#define DEPUTY_HAS_AVX2 0
#define DEPUTY_HAS_AVX512 0
#define DEPUTY_HAS_AMX 0
#endif

#if DEPUTY_HAS_AVX2
#include <cpuid.h>
#endif
#if DEPUTY_HAS_AMX && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "core/base/environment.h"

namespace deputy {
namespace {

bool Always() { return true; }

#if DEPUTY_HAS_AVX2
// Not every compiler's __builtin_cpu_supports accepts "f16c", so CPUID leaf 1 is read. The result
// is cached: under a hypervisor the instruction takes microseconds.
bool HasF16c() {
  static const bool has = [] {
    unsigned eax, ebx, ecx, edx;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 29)) != 0;
  }();
  return has;
}

// The builtin also checks that the operating system saves the AVX registers.
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && HasF16c();
}
#endif

#if DEPUTY_HAS_AVX512
bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

bool HasAvx512Bf16() { return HasAvx512() && __builtin_cpu_supports("avx512bf16"); }

// On a Xeon with AMX, VDPBF16PS takes four times as long as a float32 multiply-add and computes
// only twice as many products.
bool HasFastAvx512Bf16() { return HasAvx512Bf16() && __builtin_cpu_is("intel") == 0; }

bool HasAvx512Vnni() { return HasAvx512() && __builtin_cpu_supports("avx512vnni"); }
#endif

#if DEPUTY_HAS_AMX
// Feature bits in edx of CPUID leaf 7.
enum AmxFeature : unsigned { kAmxBf16 = 1u << 22, kAmxTile = 1u << 24, kAmxInt8 = 1u << 25 };

bool CpuHas(unsigned features) {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & features) == features;
}

bool HasAmx() {
  static const bool has =
      HasAvx512Vnni() && HasAvx512Bf16() && CpuHas(kAmxTile | kAmxInt8 | kAmxBf16);
  return has;
}
#endif

// ---- Levels -----------------------------------------------------------------------------------

// Levels that DEPUTY_CPU can name, in ascending order.
enum Level { kReference, kGeneric, kAvx2, kAvx512, kAmx };

struct LevelRow {
  const char* name;
  bool (*is_supported)();
};
constexpr LevelRow kLevels[] = {
    {"reference", &Always}, {"generic", &Always},
#if DEPUTY_HAS_AVX2
    {"avx2", &HasAvx2},
#endif
#if DEPUTY_HAS_AVX512
    {"avx512", &HasAvx512},
#endif
#if DEPUTY_HAS_AMX
    {"amx", &HasAmx},
#endif
};
constexpr int kLevelCount = static_cast<int>(std::size(kLevels));

// Requests permission to use AMX tile data from Linux (arch_prctl). Only done when AMX will be
// used, because from then on signal stacks must be large enough for the tiles; the kernel refuses
// if one is too small.
bool RequestTilePermission() {
#if DEPUTY_HAS_AMX && defined(__linux__)
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // of <asm/prctl.h> since Linux 5.16
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

// Returns true if the machine can run a level. For AMX this requests the tile data permission.
bool CanRun(int level) {
  return kLevels[level].is_supported() && (level != kAmx || RequestTilePermission());
}

// ---- Groups, the best candidate first ---------------------------------------------------------

template <typename Group>
struct Candidate {
  const Group* group;
  Level level;  // lowest level that may use it
  bool (*is_supported)();
};

constexpr Candidate<GemmF32Kernels> kGemmF32[] = {
#if DEPUTY_HAS_AVX512
    {&kGemmF32Avx512, kAvx512, &HasAvx512},
#endif
#if DEPUTY_HAS_AVX2
    {&kGemmF32Avx2, kAvx2, &HasAvx2},
#endif
    {&kGemmF32Generic, kGeneric, &Always},
};
// Levels without bfloat16 kernels fall back to float32.
constexpr GemmBf16Kernels kNoGemmBf16 = {};
constexpr Candidate<GemmBf16Kernels> kGemmBf16[] = {
#if DEPUTY_HAS_AMX
    {&kGemmBf16Amx, kAmx, &HasAmx},
#endif
#if DEPUTY_HAS_AVX512
    {&kGemmBf16Avx512, kAvx512, &HasFastAvx512Bf16},
#endif
    {&kNoGemmBf16, kGeneric, &Always},
};
constexpr Candidate<GemmS8Kernels> kGemmS8[] = {
#if DEPUTY_HAS_AMX
    {&kGemmS8Amx, kAmx, &HasAmx},
#endif
#if DEPUTY_HAS_AVX512
    {&kGemmS8Avx512Vnni, kAvx512, &HasAvx512Vnni},
#endif
#if DEPUTY_HAS_AVX2
    {&kGemmS8Avx2, kAvx2, &HasAvx2},
#endif
    {&kGemmS8Generic, kGeneric, &Always},
};
constexpr DotsS16Kernels kNoDotsS16 = {};
constexpr Candidate<DotsS16Kernels> kDotsS16[] = {
#if DEPUTY_HAS_AVX2
    {&kDotsS16Avx2, kAvx2, &HasAvx2},
#endif
    {&kNoDotsS16, kGeneric, &Always},
};
constexpr Candidate<RequantizeKernels> kRequantize[] = {
#if DEPUTY_HAS_AVX512
    {&kRequantizeAvx512, kAvx512, &HasAvx512},
#endif
#if DEPUTY_HAS_AVX2
    {&kRequantizeAvx2, kAvx2, &HasAvx2},
#endif
    {&kRequantizeGeneric, kGeneric, &Always},
};
constexpr Candidate<WinogradF32Kernels> kWinogradF32[] = {
#if DEPUTY_HAS_AVX512
    {&kWinogradF32Avx512, kAvx512, &HasAvx512},
#endif
#if DEPUTY_HAS_AVX2
    {&kWinogradF32Avx2, kAvx2, &HasAvx2},
#endif
    {&kWinogradF32Generic, kGeneric, &Always},
};
constexpr Candidate<DepthwiseF32Kernels> kDepthwiseF32[] = {
#if DEPUTY_HAS_AVX512
    {&kDepthwiseF32Avx512, kAvx512, &HasAvx512},
#endif
#if DEPUTY_HAS_AVX2
    {&kDepthwiseF32Avx2, kAvx2, &HasAvx2},
#endif
    {&kDepthwiseF32Generic, kGeneric, &Always},
};
constexpr Candidate<DepthwiseS8Kernels> kDepthwiseS8[] = {
#if DEPUTY_HAS_AVX512
    {&kDepthwiseS8Avx512Vnni, kAvx512, &HasAvx512Vnni},
#endif
#if DEPUTY_HAS_AVX2
    {&kDepthwiseS8Avx2, kAvx2, &HasAvx2},
#endif
    {&kDepthwiseS8Generic, kGeneric, &Always},
};
constexpr Candidate<HalfKernels> kHalf[] = {
#if DEPUTY_HAS_AVX512
    {&kHalfAvx512, kAvx512, &HasAvx512},
#endif
#if DEPUTY_HAS_AVX2
    {&kHalfAvx2, kAvx2, &HasAvx2},
#endif
    {&kHalfGeneric, kGeneric, &Always},
};
// Without the AVX-512 table, which VectorOf adds.
constexpr Candidate<VectorKernels> kVector[] = {
#if DEPUTY_HAS_AVX2
    {&kVectorAvx2, kAvx2, &HasAvx2},
#endif
    {&kVectorGeneric, kGeneric, &Always},
};
// Levels without these kernels fall back to VectorKernels::sum_s8.
constexpr StepSumKernels kNoStepSum = {};
constexpr Candidate<StepSumKernels> kStepSum[] = {
#if DEPUTY_HAS_AVX512
    {&kNoStepSum, kAvx512, &HasAvx512},
#endif
#if DEPUTY_HAS_AVX2
    {&kStepSumAvx2, kAvx2, &HasAvx2},
#endif
    {&kNoStepSum, kGeneric, &Always},
};

// ---- Choice -----------------------------------------------------------------------------------

template <typename Group, size_t count>
Group BestOf(const Candidate<Group> (&candidates)[count], int level) {
  for (const Candidate<Group>& candidate : candidates) {
    if (candidate.level <= level && candidate.is_supported()) return *candidate.group;
  }
  return {};
}

// Fills the null entries of a table of vector loops with those of another one, which is as fast
// there.
[[maybe_unused]] VectorKernels Completed(const VectorKernels& table, const VectorKernels& other) {
  // The struct consists of pointers only.
  using Pointers = std::array<const void*, sizeof(VectorKernels) / sizeof(void*)>;
  auto pointers = std::bit_cast<Pointers>(table);
  const auto others = std::bit_cast<Pointers>(other);
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (pointers[i] == nullptr) pointers[i] = others[i];
  }
  return std::bit_cast<VectorKernels>(pointers);
}

VectorKernels VectorOf(int level) {
#if DEPUTY_HAS_AVX512
  if (level >= kAvx512 && HasAvx512()) return Completed(kVectorAvx512, kVectorAvx2);
#endif
  return BestOf(kVector, level);
}

CpuKernels TableOf(int level) {
  return {.name = kLevels[level].name,
          .gemm_f32 = BestOf(kGemmF32, level),
          .gemm_bf16 = BestOf(kGemmBf16, level),
          .gemm_s8 = BestOf(kGemmS8, level),
          .dots_s16 = BestOf(kDotsS16, level),
          .requantize = BestOf(kRequantize, level),
          .winograd_f32 = BestOf(kWinogradF32, level),
          .depthwise_f32 = BestOf(kDepthwiseF32, level),
          .depthwise_s8 = BestOf(kDepthwiseS8, level),
          .half = BestOf(kHalf, level),
          .vector = VectorOf(level),
          .step_sum = BestOf(kStepSum, level)};
}

const CpuKernels* Tables() {
  static const std::array<CpuKernels, kLevelCount> tables = [] {
    std::array<CpuKernels, kLevelCount> made;
    for (int level = 0; level < kLevelCount; ++level) made[level] = TableOf(level);
    return made;
  }();
  return tables.data();
}

const CpuKernels& Choose() {
  std::vector<std::string> names;
  for (const LevelRow& level : kLevels) {
    if (level.is_supported()) names.emplace_back(level.name);
  }
  const std::string name = EnvironmentChoice("DEPUTY_CPU", names);
  if (const CpuKernels* found = FindCpu(name.c_str())) return *found;
  int best = kLevelCount - 1;
  while (!CanRun(best)) --best;
  return Tables()[best];
}

std::atomic<const CpuKernels*> override_kernels{nullptr};

}  // namespace

const CpuKernels* FindCpu(const char* name) {
  for (int level = 0; level < kLevelCount; ++level) {
    if (std::strcmp(name, kLevels[level].name) == 0) {
      return CanRun(level) ? &Tables()[level] : nullptr;
    }
  }
  return nullptr;
}

const CpuKernels& Cpu() {
  static const CpuKernels& chosen = Choose();
  const CpuKernels* forced = override_kernels.load(std::memory_order_relaxed);
  return forced == nullptr ? chosen : *forced;
}

void OverrideCpu(const CpuKernels* kernels) {
  override_kernels.store(kernels, std::memory_order_relaxed);
}

}  // namespace deputy
