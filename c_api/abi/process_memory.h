// SPDX-License-Identifier: Apache-2.0
//
// Upper limit of the process's memory.
#ifndef DEPUTY_C_API_ABI_PROCESS_MEMORY_H_
#define DEPUTY_C_API_ABI_PROCESS_MEMORY_H_

#include <cstddef>

namespace deputy {

// Returns the smaller of the machine's memory and RLIMIT_AS, in bytes. Some allocators abort the
// process if a request exceeds it.
size_t ProcessMemoryLimit();

}  // namespace deputy

#endif  // DEPUTY_C_API_ABI_PROCESS_MEMORY_H_
