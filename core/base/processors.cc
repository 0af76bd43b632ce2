// SPDX-License-Identifier: Apache-2.0
#include "core/base/processors.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "core/base/cpu_quota.h"
#include "core/base/small_file.h"

namespace deputy {
namespace {

struct Processor {
  int capacity = 0;  // 0 if unknown
  bool in_order = false;
};

struct Machine {
  explicit Machine(const char* root_directory);

  bool ReadText(int processor, const char* name, char (&out_text)[64]) const;
  bool SharesCache(int processor, size_t* out_bytes, cpu_set_t* out_sharing) const;

  const char* root;
  // True if Linux reports types, as on Arm, or different capacities.
  bool is_described = false;
  Processor processors[CPU_SETSIZE];
};

// Parses a list of Linux like "0-3,6".
cpu_set_t ParseList(const char* text) {
  cpu_set_t set;
  CPU_ZERO(&set);
  while (std::isdigit(static_cast<unsigned char>(*text)) != 0) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(text, &end, 10);
    const unsigned long last = *end == '-' ? std::strtoul(end + 1, &end, 10) : first;
    for (unsigned long n = first; n <= last && n < CPU_SETSIZE; ++n) CPU_SET(n, &set);
    text = *end == ',' ? end + 1 : end;
  }
  return set;
}

// Returns true for the types of Arm and Qualcomm that execute instructions in order. `midr` is the
// main ID register: the implementer in bits 24 to 31, the part in bits 4 to 15.
bool IsInOrder(uint64_t midr) {
  constexpr uint32_t kTypes[] = {
      0x41d01, 0x41d02, 0x41d03, 0x41d04,  // Cortex-A32, A34, A53, A35
      0x41d05, 0x41d46, 0x41d80,           // Cortex-A55, A510, A520
      0x51801, 0x51803, 0x51805,           // Kryo 2xx, 3xx and 4xx Silver
  };
  const auto type = static_cast<uint32_t>((midr >> 24 & 0xff) << 12 | (midr >> 4 & 0xfff));
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

Machine::Machine(const char* root_directory) : root(root_directory) {
#if defined(__x86_64__)
  // All processors count as equal: reading the files of many would delay each start of a program.
  if (*root == '\0') return;
#endif
  char path[256], text[64];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/possible", root);
  if (!ReadSmallFile(path, text)) return;
  const cpu_set_t possible = ParseList(text);
  bool any = false;
  int first_capacity = 0;
  for (int n = 0; n < CPU_SETSIZE; ++n) {
    if (!CPU_ISSET(static_cast<size_t>(n), &possible)) continue;
    const bool has_capacity = ReadText(n, "cpu_capacity", text);
    if (has_capacity) processors[n].capacity = std::atoi(text);
    const bool has_type = ReadText(n, "regs/identification/midr_el1", text);
    if (has_type) processors[n].in_order = IsInOrder(std::strtoull(text, nullptr, 16));
    any |= has_capacity || has_type;
    if (!any) return;
    if (first_capacity == 0) first_capacity = processors[n].capacity;
    is_described |= has_type || (has_capacity && processors[n].capacity != first_capacity);
  }
}

bool Machine::ReadText(int processor, const char* name, char (&out_text)[64]) const {
  char path[256];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/%s", root, processor, name);
  return ReadSmallFile(path, out_text);
}

// Returns the size of a processor's second-level cache and the processors that share it; false if
// Linux does not report them.
bool Machine::SharesCache(int processor, size_t* out_bytes, cpu_set_t* out_sharing) const {
  char text[64];
  if (!ReadText(processor, "cache/index2/level", text) || std::atoi(text) != 2) return false;
  if (!ReadText(processor, "cache/index2/shared_cpu_list", text)) return false;
  *out_sharing = ParseList(text);
  if (!ReadText(processor, "cache/index2/size", text)) return false;
  *out_bytes = std::strtoul(text, nullptr, 10) << (std::strchr(text, 'M') != nullptr ? 20 : 10);
  return *out_bytes > 0;
}

Machine& ThisMachine() {
  static Machine machine("");
  return machine;
}

cpu_set_t AffinityOfThisThread() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return allowed;
  CPU_ZERO(&allowed);
  const long online = std::min<long>(sysconf(_SC_NPROCESSORS_ONLN), CPU_SETSIZE);
  for (long n = 0; n < online; ++n) CPU_SET(static_cast<size_t>(n), &allowed);
  return allowed;
}

std::atomic<size_t> overridden_bytes{0};

size_t ReportedCacheBytes() {
  constexpr size_t kDefault = size_t{512} << 10;
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<size_t>(bytes) : kDefault;
#else
  return kDefault;
#endif
}

// Returns 0 if Linux does not report the cache of a fast processor.
size_t SmallestShare(const Machine& machine, const cpu_set_t& fast) {
  size_t smallest = 0;
  for (size_t n = 0; n < CPU_SETSIZE; ++n) {
    if (!CPU_ISSET(n, &fast)) continue;
    size_t bytes = 0;
    cpu_set_t sharing;
    if (!machine.SharesCache(static_cast<int>(n), &bytes, &sharing)) return 0;
    CPU_AND(&sharing, &sharing, &fast);
    const size_t share = bytes / static_cast<size_t>(std::max(1, CPU_COUNT(&sharing)));
    smallest = smallest == 0 ? share : std::min(smallest, share);
  }
  return smallest;
}

}  // namespace

UsableProcessors DivideProcessors(const cpu_set_t& allowed) {
  const Machine& machine = ThisMachine();
  int greatest = 0;
  bool any_out_of_order = false;
  for (size_t n = 0; n < CPU_SETSIZE; ++n) {
    if (!CPU_ISSET(n, &allowed)) continue;
    greatest = std::max(greatest, machine.processors[n].capacity);
    any_out_of_order |= !machine.processors[n].in_order;
  }
  UsableProcessors divided;
  CPU_ZERO(&divided.fast);
  divided.fast_count = 0;
  for (size_t n = 0; n < CPU_SETSIZE; ++n) {
    if (!CPU_ISSET(n, &allowed)) continue;
    const Processor& processor = machine.processors[n];
    const bool has_low_capacity = processor.capacity > 0 && processor.capacity <= greatest / 2;
    if (has_low_capacity || (processor.in_order && any_out_of_order)) {
      ++divided.slow_count;
    } else {
      CPU_SET(n, &divided.fast);
      ++divided.fast_count;
    }
  }
  if (divided.fast_count > 0) return divided;
  divided.fast = allowed;
  divided.fast_count = std::max(1, CPU_COUNT(&allowed));
  divided.slow_count = 0;
  return divided;
}

UsableProcessors ProcessorsOfThisThread() { return DivideProcessors(AffinityOfThisThread()); }

int MaxUsefulThreads() {
  return std::min(ProcessorsOfThisThread().fast_count, QuotaOfProcessors(ThisMachine().root));
}

void AvoidSlowProcessors(int threads) {
  const UsableProcessors processors = ProcessorsOfThisThread();
  if (processors.slow_count == 0 || processors.fast_count < threads) return;
  sched_setaffinity(0, sizeof processors.fast, &processors.fast);
}

size_t SecondLevelCacheBytes() {
  const size_t overridden = overridden_bytes.load(std::memory_order_relaxed);
  if (overridden != 0) return overridden;
  static const size_t reported_bytes = ReportedCacheBytes();
  const Machine& machine = ThisMachine();
  if (!machine.is_described) return reported_bytes;
  const size_t share = SmallestShare(machine, ProcessorsOfThisThread().fast);
  return share > 0 ? share : reported_bytes;
}

void OverrideSecondLevelCache(size_t bytes) {
  overridden_bytes.store(bytes, std::memory_order_relaxed);
}

void OverrideMachine(const char* root) { ThisMachine() = Machine(root); }

}  // namespace deputy
