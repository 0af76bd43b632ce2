// SPDX-License-Identifier: Apache-2.0
#include "litert/src/log.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace deputy::litert {
namespace {

std::atomic<LiteRtLogSeverity> min_severity{kLiteRtLogSeverityInfo};
thread_local KeptMessages* kept_messages = nullptr;  // null: messages are written

void Write(LiteRtLogSeverity severity, const char* format, va_list arguments) {
  if (severity < MinSeverity()) return;
  std::array<char, 1024> text;
  std::vsnprintf(text.data(), text.size(), format, arguments);
  if (kept_messages != nullptr) {
    if (severity >= kLiteRtLogSeverityWarning) kept_messages->Add(text.data());
    return;
  }
  std::fprintf(stderr, "%s: LiteRt: %s\n", LiteRtGetLogSeverityName(severity), text.data());
}

}  // namespace

LiteRtLogSeverity MinSeverity() { return min_severity.load(std::memory_order_relaxed); }
void SetMinSeverity(LiteRtLogSeverity severity) {
  min_severity.store(severity, std::memory_order_relaxed);
}

KeptMessages::KeptMessages() : outer_(kept_messages) { kept_messages = this; }
KeptMessages::~KeptMessages() { kept_messages = outer_; }

void KeptMessages::Add(const char* message) {
  const size_t used = std::strlen(text_.data());
  std::snprintf(text_.data() + used, text_.size() - used, "%s%s", used == 0 ? "" : "; ", message);
}

void Log(LiteRtLogSeverity severity, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Write(severity, format, arguments);
  va_end(arguments);
}

LiteRtStatus Fail(LiteRtStatus status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Write(kLiteRtLogSeverityError, format, arguments);
  va_end(arguments);
  return status;
}

std::string ShapeText(std::span<const int> shape) {
  std::string text = "[";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += std::to_string(shape[axis]);
  }
  return text + "]";
}

}  // namespace deputy::litert
