// SPDX-License-Identifier: Apache-2.0
#include "bridges/triton/error.h"

namespace deputy::triton {

void Log(LogLevel level, const std::string& text) {
  // A failure to log cannot be reported anywhere.
  const Error ignored(TRITONSERVER_LogMessage(level, "deputy", 0, text.c_str()));
}

void LogIfError(Error error, const char* action) {
  if (error == nullptr) return;
  const char* const text = TRITONSERVER_ErrorMessage(error.get());
  Log(kLogError, std::string(action) + ": " + (text == nullptr ? "" : text));
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace deputy::triton
