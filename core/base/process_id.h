// SPDX-License-Identifier: Apache-2.0
//
// The id of the current process, to detect a fork(). getpid() is a system call, which takes as long
// as a small operator.
#ifndef DEPUTY_CORE_BASE_PROCESS_ID_H_
#define DEPUTY_CORE_BASE_PROCESS_ID_H_

#include <sys/types.h>

namespace deputy {

// Returns the value of getpid(), but reads it from memory that the kernel zeroes in a forked child.
// Falls back to getpid() on Linux before 4.14, in QEMU's emulation of Linux, or if the memory
// cannot be mapped.
pid_t ProcessId();

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PROCESS_ID_H_
