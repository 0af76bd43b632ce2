// SPDX-License-Identifier: Apache-2.0
#include "mindspore/src/affinity.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "mindspore/src/log.h"

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif

namespace deputy::ms_api {
namespace {

#if defined(__linux__)

int64_t CoreCount() { return std::clamp<int64_t>(sysconf(_SC_NPROCESSORS_CONF), 1, CPU_SETSIZE); }

// Returns the maximum frequency of a core in kHz; 0 if it is unknown.
int64_t FrequencyOf(int64_t core) {
  const std::string path =
      "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/cpuinfo_max_freq";
  FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return 0;
  long long frequency = 0;
  if (std::fscanf(file, "%lld", &frequency) != 1) frequency = 0;
  std::fclose(file);
  return frequency;
}

#endif

}  // namespace

#if defined(__linux__)

MSStatus FindCores(const Context& context, std::vector<int32_t>* out_cores) {
  out_cores->clear();
  for (const int32_t core : context.cores) {
    if (core < 0 || core >= CoreCount()) {
      return Fail(kMSStatusLiteParamInvalid,
                  "the context: SetThreadAffinity: expected cores 0 to %lld, found %d",
                  static_cast<long long>(CoreCount() - 1), core);
    }
  }
  *out_cores = context.cores;
  if (!out_cores->empty() || context.affinity_mode == 0) return kMSStatusSuccess;
  std::vector<int64_t> frequencies;
  for (int64_t core = 0; core < CoreCount(); ++core) frequencies.push_back(FrequencyOf(core));
  *out_cores = CoresOfMode(context.affinity_mode, context.ThreadCount(), frequencies);
  return kMSStatusSuccess;
}

AffinityScope::AffinityScope(const std::vector<int32_t>& cores) {
  if (cores.empty()) return;
  cpu_set_t mask, wanted;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) {
    ok_ = false;
    return;
  }
  CPU_ZERO(&wanted);
  for (const int32_t core : cores) CPU_SET(static_cast<size_t>(core), &wanted);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&mask);
  previous_.assign(bytes, bytes + sizeof mask);
  ok_ = sched_setaffinity(0, sizeof wanted, &wanted) == 0;
  if (!ok_) previous_.clear();
}

AffinityScope::~AffinityScope() {
  if (previous_.empty()) return;
  cpu_set_t mask;
  std::copy(previous_.begin(), previous_.end(), reinterpret_cast<unsigned char*>(&mask));
  sched_setaffinity(0, sizeof mask, &mask);
}

#else

MSStatus FindCores(const Context& context, std::vector<int32_t>* out_cores) {
  out_cores->clear();
  if (!context.cores.empty() || context.affinity_mode != 0) {
    Log(kDeputyMSLogWarning,
        "the context: SetThreadAffinity has no effect: the system has no masks of cores");
  }
  return kMSStatusSuccess;
}

AffinityScope::AffinityScope(const std::vector<int32_t>& /*cores*/) {}
AffinityScope::~AffinityScope() = default;

#endif

}  // namespace deputy::ms_api
