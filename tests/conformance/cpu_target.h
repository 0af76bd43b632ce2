// SPDX-License-Identifier: Apache-2.0
//
// Targets that run on the CPU. This is the only part of the conformance library that calls internal
// functions of the library; programs that link libdeputy.so omit it.
#ifndef DEPUTY_TESTS_CONFORMANCE_CPU_TARGET_H_
#define DEPUTY_TESTS_CONFORMANCE_CPU_TARGET_H_

#include <string>
#include <vector>

#include "tests/conformance/target.h"

namespace deputy::conformance {

// Returns a target that runs the kernels of a CPU table (kernels/cpu/cpu.h) with a number of
// threads. The table in use is global to the process: run one such target at a time.
Target CpuTarget(const std::string& table, int threads);

// Returns true if this machine supports the table's instructions.
bool HasCpuTable(const std::string& table);

// Returns the names of all tables of this build.
std::vector<const char*> CpuTableNames();

}  // namespace deputy::conformance

#endif  // DEPUTY_TESTS_CONFORMANCE_CPU_TARGET_H_
