// SPDX-License-Identifier: Apache-2.0
//
// Messages of the library, which are written to stderr, and statuses for failures.
#ifndef DEPUTY_LITERT_SRC_LOG_H_
#define DEPUTY_LITERT_SRC_LOG_H_

#include <array>
#include <new>
#include <span>
#include <string>

#include "litert/c/internal/litert_logging.h"
#include "litert/c/litert_common.h"

namespace deputy::litert {

// Writes a message unless its severity is below the minimum; parameters as for printf.
void Log(LiteRtLogSeverity severity, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Logs an error and returns `status`.
LiteRtStatus Fail(LiteRtStatus status, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Returns a shape as text, for example "[1, -1, 3]".
std::string ShapeText(std::span<const int> shape);

// Minimum severity of messages.
LiteRtLogSeverity MinSeverity();
void SetMinSeverity(LiteRtLogSeverity severity);

// RAII guard: as long as it exists, the messages of the thread are kept instead of written. Those
// below a warning are dropped.
class KeptMessages {
 public:
  KeptMessages();
  ~KeptMessages();
  KeptMessages(const KeptMessages&) = delete;
  KeptMessages& operator=(const KeptMessages&) = delete;

  // Returns the messages, separated by "; ", cut after 1023 bytes.
  const char* text() const { return text_.data(); }
  void Add(const char* message);

 private:
  KeptMessages* const outer_;
  std::array<char, 1024> text_ = {};
};

// Calls `function`, which returns a status, and converts exceptions to a status.
template <typename Function>
LiteRtStatus Guard(Function&& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Fail(kLiteRtStatusErrorMemoryAllocationFailure, "out of memory");
  } catch (...) {
    return Fail(kLiteRtStatusErrorUnknown, "a callback threw an exception");
  }
}

}  // namespace deputy::litert

// Returns the status of an expression unless it is kLiteRtStatusOk.
#define LITERT_TRY(expression)                                                         \
  do {                                                                                 \
    if (const LiteRtStatus try_status = (expression); try_status != kLiteRtStatusOk) { \
      return try_status;                                                               \
    }                                                                                  \
  } while (false)

#endif  // DEPUTY_LITERT_SRC_LOG_H_
