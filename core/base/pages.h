// SPDX-License-Identifier: Apache-2.0
//
// Page advice for a Block (memory.h). A system that does not follow it only costs time or memory.
#ifndef DEPUTY_CORE_BASE_PAGES_H_
#define DEPUTY_CORE_BASE_PAGES_H_

#include <cstddef>

namespace deputy {

class ThreadPool;

// Disables huge pages for a part of a block, so that untouched memory does not become resident.
void UseSmallPages(char* data, size_t bytes);

// Prefaults a part of a block that will be written soon, by all threads of the pool (null: the
// calling thread). Contents are unchanged.
void MakeResident(char* data, size_t bytes, ThreadPool* pool);

// Prefaults memory that the next inference will write. No effect above kMaxResidentBytes: the page
// faults are then negligible compared with the inference, while unused resident memory is not.
void MakeResidentForInference(char* data, size_t bytes, ThreadPool* pool);

// Releases the pages that are completely inside a part of a block: their contents become 0, and the
// system provides them again when they are accessed.
void DiscardPages(char* data, size_t bytes);

inline constexpr size_t kMaxResidentBytes = size_t{8} << 20;

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PAGES_H_
