// SPDX-License-Identifier: Apache-2.0
//
// Errors of the server as owned objects, and messages to its log.
#ifndef DEPUTY_BRIDGES_TRITON_ERROR_H_
#define DEPUTY_BRIDGES_TRITON_ERROR_H_

#include <memory>
#include <string>
#include <vector>

#include "bridges/triton/triton_api.h"

namespace deputy::triton {

struct ErrorDeleter {
  void operator()(TRITONSERVER_Error* error) const { TRITONSERVER_ErrorDelete(error); }
};

// An error of the server; null is success.
using Error = std::unique_ptr<TRITONSERVER_Error, ErrorDeleter>;

// Returns the error of a call, which returns an Error or one of the server's pointers.
#define DEPUTY_TRY(call)                                                     \
  do {                                                                       \
    if (::deputy::triton::Error error{call}; error != nullptr) return error; \
  } while (false)

inline Error MakeError(ErrorCode code, const std::string& text) {
  return Error(TRITONSERVER_ErrorNew(code, text.c_str()));
}

// An error of the client or of the configuration; HTTP status 400.
inline Error Invalid(const std::string& text) { return MakeError(kErrorInvalidArgument, text); }

// Writes a line to the server's log.
void Log(LogLevel level, const std::string& text);

// Logs a failure of a server's function that has no other consequence.
void LogIfError(Error error, const char* action);

// Returns "[1,4]".
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace deputy::triton

#endif  // DEPUTY_BRIDGES_TRITON_ERROR_H_
