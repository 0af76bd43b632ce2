// SPDX-License-Identifier: Apache-2.0
//
// What the system is told of the pages of a Block (memory.h). All of it is advice: a system that
// does not follow it costs time or memory, nothing else.
#ifndef DEPUTY_CORE_BASE_PAGES_H_
#define DEPUTY_CORE_BASE_PAGES_H_

#include <cstddef>

namespace deputy {

class ThreadPool;

// This part of a block, which asks for large pages where it is large, is to be in small ones: what
// is not touched is then not resident.
void UseSmallPages(char* data, size_t bytes);

// This part of a block is about to be written: its pages are made resident at once, in place of one
// page fault each, by all threads of the pool (null: by the caller). Contents stay as they are.
void MakeResident(char* data, size_t bytes, ThreadPool* pool);

// The same for what the next inference will write. Does nothing for more than kMaxResidentBytes,
// where an inference takes so long that page faults hardly count, and memory that nobody may come
// to use does.
void MakeResidentForInference(char* data, size_t bytes, ThreadPool* pool);

inline constexpr size_t kMaxResidentBytes = size_t{8} << 20;

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PAGES_H_
