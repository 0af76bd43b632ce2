// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_SUPPORT_SCOPED_CPU_H_
#define DEPUTY_TESTS_SUPPORT_SCOPED_CPU_H_

#include "kernels/cpu/cpu.h"

namespace deputy {

// RAII guard: selects the table of kernels of interpreters that are created within its scope.
// Guards may nest.
class ScopedCpu {
 public:
  explicit ScopedCpu(const CpuKernels* kernels) { OverrideCpu(kernels); }
  ~ScopedCpu() { OverrideCpu(former_); }
  ScopedCpu(const ScopedCpu&) = delete;
  ScopedCpu& operator=(const ScopedCpu&) = delete;

 private:
  const CpuKernels* const former_ = &Cpu();
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_SCOPED_CPU_H_
