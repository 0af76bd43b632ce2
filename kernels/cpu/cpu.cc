// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace deputy {
namespace {

#if defined(__x86_64__)
bool HasAvx2() {
  // The builtin also asks whether the operating system keeps the registers. Half-precision
  // conversion is no name that every compiler knows; leaf 1 tells.
  unsigned eax, ebx, ecx, edx;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1u << 29)) != 0;
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}
#endif

const CpuKernels& Best() {
#if defined(__x86_64__)
  if (HasAvx512()) return kAvx512Kernels;
  if (HasAvx2()) return kAvx2Kernels;
#endif
  return kGenericKernels;
}

const CpuKernels& Choose() {
  const char* name = std::getenv("DEPUTY_CPU");
  const CpuKernels* found = name == nullptr ? nullptr : FindCpu(name);
  return found == nullptr ? Best() : *found;
}

std::atomic<const CpuKernels*> override_kernels{nullptr};

}  // namespace

constexpr CpuKernels kReferenceKernels = {.name = "reference"};

const CpuKernels* FindCpu(const char* name) {
  if (std::strcmp(name, "reference") == 0) return &kReferenceKernels;
  if (std::strcmp(name, "generic") == 0) return &kGenericKernels;
#if defined(__x86_64__)
  if (std::strcmp(name, "avx2") == 0 && HasAvx2()) return &kAvx2Kernels;
  if (std::strcmp(name, "avx512") == 0 && HasAvx512()) return &kAvx512Kernels;
#endif
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
