// SPDX-License-Identifier: Apache-2.0
//
// The process that runs, for whoever has to notice a fork(): getpid() is a system call, which takes
// as long as a small operator.
#ifndef DEPUTY_CORE_BASE_PROCESS_ID_H_
#define DEPUTY_CORE_BASE_PROCESS_ID_H_

#include <sys/types.h>

namespace deputy {

// As getpid(), from memory that the kernel clears in a forked child. Where it cannot, that is
// older than Linux 4.14 or refuses the memory, it is getpid().
pid_t ProcessId();

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PROCESS_ID_H_
