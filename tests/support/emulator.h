// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_TESTS_SUPPORT_EMULATOR_H_
#define DEPUTY_TESTS_SUPPORT_EMULATOR_H_

#include <sys/resource.h>

namespace deputy {

// Returns true in QEMU's emulation of Linux, which ignores limits of memory, has no seccomp
// filters, does not report resident pages and needs memory of its own for each process that it
// starts.
inline bool IsEmulated() {
  rlimit before, now;
  if (getrlimit(RLIMIT_DATA, &before) != 0) return false;
  rlimit lower = before;
  lower.rlim_cur = (before.rlim_max == RLIM_INFINITY ? rlim_t{1} << 40 : before.rlim_max) - 1;
  if (lower.rlim_cur == before.rlim_cur) --lower.rlim_cur;
  if (setrlimit(RLIMIT_DATA, &lower) != 0) return false;
  const bool is_set = getrlimit(RLIMIT_DATA, &now) == 0 && now.rlim_cur == lower.rlim_cur;
  setrlimit(RLIMIT_DATA, &before);
  return !is_set;
}

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_EMULATOR_H_
