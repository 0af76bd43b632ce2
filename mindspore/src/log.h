// SPDX-License-Identifier: Apache-2.0
//
// The library's texts: the newest failure of each thread, and lines for a sink of the client's.
// Nothing goes to stdout or stderr.
#ifndef DEPUTY_MINDSPORE_SRC_LOG_H_
#define DEPUTY_MINDSPORE_SRC_LOG_H_

#include <new>

#include "mindspore/include/delegate_c.h"

namespace deputy::ms_api {

// One line for the sink, as printf.
void Log(DeputyMSLogLevel level, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Where a failure is born: becomes the thread's newest text and a line of the log. Returns `code`.
MSStatus Fail(MSStatus code, const char* format, ...) __attribute__((format(printf, 2, 3)));

// The status of a code that a delegate has returned, and back: the same bits.
inline MSStatus StatusOf(int code) { return static_cast<MSStatus>(static_cast<uint32_t>(code)); }
inline int CodeOf(MSStatus status) { return static_cast<int>(static_cast<uint32_t>(status)); }

// Runs `function` with no exception leaving it: memory that is short becomes `out_of_memory`, other
// exceptions `otherwise`.
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

// As Contain, for functions that return a status.
template <typename Function>
MSStatus Guard(Function&& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Fail(kMSStatusLiteMemoryFailed, "out of memory");
  } catch (...) {
    return Fail(kMSStatusLiteError, "an exception left a callback");
  }
}

}  // namespace deputy::ms_api

#endif  // DEPUTY_MINDSPORE_SRC_LOG_H_
