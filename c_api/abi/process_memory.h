// SPDX-License-Identifier: Apache-2.0
//
// How much memory this process can have at most.
#ifndef DEPUTY_C_API_ABI_PROCESS_MEMORY_H_
#define DEPUTY_C_API_ABI_PROCESS_MEMORY_H_

#include <cstddef>

namespace deputy {

// The smaller of the machine's memory and RLIMIT_AS, in bytes. Some allocators end the process when
// they are asked for more.
size_t ProcessMemoryLimit();

}  // namespace deputy

#endif  // DEPUTY_C_API_ABI_PROCESS_MEMORY_H_
