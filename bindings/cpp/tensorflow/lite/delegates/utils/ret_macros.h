// SPDX-License-Identifier: Apache-2.0
//
// Checks that print a message and return or abort.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_RET_MACROS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_RET_MACROS_H_

#include <cstddef>
#include <cstdlib>
#include <utility>

#include "tensorflow/lite/core/c/c_api_types.h"
#include "tensorflow/lite/minimal_logging.h"

namespace tflite {
namespace delegates {
namespace utils {

inline void TfLiteCheckLog(const char* kind, const char* file, std::size_t line, const char* cond,
                           const char* message) {
  TFLITE_LOG_PROD(::tflite::TFLITE_LOG_ERROR, "%s failure (%s:%zu) %s \"%s\"", kind, file, line,
                  cond, message);
}

}  // namespace utils
}  // namespace delegates
}  // namespace tflite

// Evaluates an expression of type std::optional: assigns its value to `declaration`, or returns
// `err` if there is none.
#define TFLITE_ASSIGN_OR_RETURN(declaration, expr, err)                                          \
  TFLITE_INTERNAL_ASSIGN_OR_RETURN_(TFLITE_INTERNAL_CONCAT_(tflite_internal_maybe, __COUNTER__), \
                                    declaration, expr, err);
#define TFLITE_INTERNAL_ASSIGN_OR_RETURN_(maybe, declaration, expr, err) \
  auto maybe = (expr);                                                   \
  if (!maybe.has_value()) return (err);                                  \
  declaration = *std::move(maybe)
#define TFLITE_INTERNAL_CONCAT_(x, y) TFLITE_INTERNAL_CONCAT_NOW_(x, y)
#define TFLITE_INTERNAL_CONCAT_NOW_(x, y) x##y

// Prints message `m` and returns `r` unless `c` is true.
#define TFLITE_RET_CHECK(c, m, r)                                                                \
  do {                                                                                           \
    if (!(c)) {                                                                                  \
      ::tflite::delegates::utils::TfLiteCheckLog("TFLITE_RET_CHECK", __FILE__, __LINE__, #c, m); \
      return (r);                                                                                \
    }                                                                                            \
  } while (false)

#define TFLITE_RET_CHECK_STATUS(c, m) TFLITE_RET_CHECK(c, m, kTfLiteDelegateError)

// Prints message `m` and aborts unless `c` is true.
#define TFLITE_ABORT_CHECK(c, m)                                                                   \
  do {                                                                                             \
    if (!(c)) {                                                                                    \
      ::tflite::delegates::utils::TfLiteCheckLog("TFLITE_ABORT_CHECK", __FILE__, __LINE__, #c, m); \
      std::abort();                                                                                \
    }                                                                                              \
  } while (false)

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_DELEGATES_UTILS_RET_MACROS_H_
