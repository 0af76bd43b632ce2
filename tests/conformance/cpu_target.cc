// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/cpu_target.h"

#include "kernels/cpu/cpu.h"

namespace deputy::conformance {

Target CpuTarget(const std::string& table, int threads) {
  Target target;
  target.name = table;
  if (threads > 1) {
    target.name += " with " + std::to_string(threads) + " threads";
    target.same_bits_as = table;  // bits must not depend on the number of threads
  }
  target.configure = [table, threads](TfLiteInterpreterOptions* options,
                                      KeepAlive* keep_alive) -> std::string {
    const CpuKernels* kernels = FindCpu(table.c_str());
    if (kernels == nullptr) return "this machine cannot run the table " + table;
    OverrideCpu(kernels);
    keep_alive->Add(std::shared_ptr<void>(nullptr, [](void*) { OverrideCpu(nullptr); }));
    TfLiteInterpreterOptionsSetNumThreads(options, threads);
    return "";
  };
  return target;
}

bool HasCpuTable(const std::string& table) { return FindCpu(table.c_str()) != nullptr; }

std::vector<const char*> CpuTableNames() {
  std::vector<const char*> names;
  for (const CpuSet& set : CpuSets()) names.push_back(set.name);
  return names;
}

}  // namespace deputy::conformance
