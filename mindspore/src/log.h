// SPDX-License-Identifier: Apache-2.0
//
// Error messages and log of the library: the latest failure of each thread, and messages for the
// client's sink. Nothing is written to stdout or stderr.
#ifndef DEPUTY_MINDSPORE_SRC_LOG_H_
#define DEPUTY_MINDSPORE_SRC_LOG_H_

#include <new>

#include "mindspore/include/delegate_c.h"

namespace deputy::ms_api {

// Sends a message to the sink; parameters as for printf.
void Log(DeputyMSLogLevel level, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Reports a failure: sets the thread's latest error message and logs it. Returns `code`.
MSStatus Fail(MSStatus code, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Convert between the int that a delegate returns and a status; the bits are the same.
inline MSStatus StatusOf(int code) { return static_cast<MSStatus>(static_cast<uint32_t>(code)); }
inline int CodeOf(MSStatus status) { return static_cast<int>(static_cast<uint32_t>(status)); }

// Calls `function` and catches all exceptions: returns `out_of_memory` after std::bad_alloc and
// `otherwise` after any other exception.
template <typename Result, typename Function>
Result Contain(Result out_of_memory, Result otherwise, Function&& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return out_of_memory;
  } catch (...) {
    return otherwise;
  }
}

// Calls `function`, which returns a status, and converts exceptions to a status and an error
// message.
template <typename Function>
MSStatus Guard(Function&& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Fail(kMSStatusLiteMemoryFailed, "out of memory");
  } catch (...) {
    return Fail(kMSStatusLiteError, "a callback threw an exception");
  }
}

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_LOG_H_
