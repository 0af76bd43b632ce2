// SPDX-License-Identifier: Apache-2.0
//
// Targets on the CPU. The one part of this library that reaches below the public API: a program
// that links libdeputy.so leaves it out.
#ifndef DEPUTY_TESTS_CONFORMANCE_CPU_TARGET_H_
#define DEPUTY_TESTS_CONFORMANCE_CPU_TARGET_H_

#include <string>

#include "tests/conformance/target.h"

namespace deputy::conformance {

// The kernels of a CPU table (kernels/cpu.h) with a number of threads. What is in use is the
// process's: one such target runs at a time.
Target CpuTarget(const std::string& table, int threads);

// Whether this machine can run the table.
bool HasCpuTable(const std::string& table);

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_CPU_TARGET_H_
