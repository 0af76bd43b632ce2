// SPDX-License-Identifier: Apache-2.0
//
// Lists the CPU's tables of kernels, for tests that compare all of them.
#ifndef DEPUTY_TESTS_KERNELS_CPU_CPU_TABLES_H_
#define DEPUTY_TESTS_KERNELS_CPU_CPU_TABLES_H_

#include <vector>

#include "kernels/cpu/cpu.h"

namespace deputy {

// Returns the names of all sets of this build, "reference" first.
inline std::vector<const char*> CpuSetNames() {
  std::vector<const char*> names;
  for (const CpuSet& set : CpuSets()) names.push_back(set.name);
  return names;
}

// Returns the tables of all sets that this machine can run, "reference" first.
inline std::vector<const CpuKernels*> CpuTablesAndReference() {
  std::vector<const CpuKernels*> tables;
  for (const CpuSet& set : CpuSets()) {
    if (const CpuKernels* table = FindCpu(set.name)) tables.push_back(table);
  }
  return tables;
}

// Returns the tables of all sets that this machine can run, without "reference", which has no
// kernels.
inline std::vector<const CpuKernels*> CpuTables() {
  std::vector<const CpuKernels*> tables = CpuTablesAndReference();
  tables.erase(tables.begin());
  return tables;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_KERNELS_CPU_CPU_TABLES_H_
