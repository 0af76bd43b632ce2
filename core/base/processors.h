// SPDX-License-Identifier: Apache-2.0
//
// The processors that a thread may run on. On a machine with fast and slow processors (big.LITTLE)
// workers run on the fast ones only, because an operator ends with its slowest thread.
#ifndef DEPUTY_CORE_BASE_PROCESSORS_H_
#define DEPUTY_CORE_BASE_PROCESSORS_H_

#include <sched.h>

#include <cstddef>

namespace deputy {

struct UsableProcessors {
  cpu_set_t fast;      // all allowed processors if none is slow
  int fast_count = 1;  // at least 1
  int slow_count = 0;
};

// Divides the processors of `allowed`. A processor is slow if Linux reports at most half of the
// greatest capacity for it, or if it executes instructions in order and another one does not. On
// x86-64 none is slow.
UsableProcessors DivideProcessors(const cpu_set_t& allowed);

// Divides the processors of the calling thread's affinity. The files of Linux are read once per
// process.
UsableProcessors ProcessorsOfThisThread();

// Returns the number of threads that the calling thread and its workers should have at most: its
// fast processors, or fewer if the control groups of the process allow less time (cpu_quota.h),
// which is read at each call.
int MaxUsefulThreads();

// Restricts the calling thread to its fast processors, if there are at least `threads` of them.
void AvoidSlowProcessors(int threads);

// Returns the bytes of the second-level cache for each fast processor of the calling thread: the
// smallest cache, divided by the number of fast processors that share it; 512 KiB if the system
// does not report it. If Linux reports neither types nor different capacities, as on most x86-64
// machines, the size is that of sysconf, which is not divided.
size_t SecondLevelCacheBytes();

// For tests: overrides the size in all threads; 0 restores the machine's value.
void OverrideSecondLevelCache(size_t bytes);

// For tests: reads the files of Linux below the directory `root`; "" restores the machine's files.
// Not thread-safe.
void OverrideMachine(const char* root);

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PROCESSORS_H_
