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

// Maps all pages of a part of a mapped file at once. Returns false if the system cannot do that, or
// if it cannot read the file; then no page may be mapped.
bool MapPages(const void* data, size_t bytes);

// Returns true if a large constant of a mapped file should be read in its pages, false if copies of
// parts are faster. Measured for prepare of MobileNetV2 float32: on a Xeon (Sapphire Rapids) 4.5 ms
// in its pages, 6.2 ms with copies; on an EPYC (Zen 5) copies are 1 ms faster.
bool ReadsPagesFast();

// Releases the pages that are completely inside a part of a block: their contents become 0, and the
// system provides them again when they are accessed.
void DiscardPages(char* data, size_t bytes);

inline constexpr size_t kMaxResidentBytes = size_t{8} << 20;

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_PAGES_H_
