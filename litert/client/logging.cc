// SPDX-License-Identifier: Apache-2.0
#include "litert/c/internal/litert_logging.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "litert/client/settings.h"

using deputy::litert_client::Guard;

class LiteRtLoggerT {
 public:
  // A sink stores its messages, the other loggers print them and share one severity.
  enum class Kind { kPrinter, kSink };
  using Severity = std::atomic<LiteRtLogSeverity>;

  explicit LiteRtLoggerT(Kind kind) : kind_(kind) {}

  bool is_sink() const { return kind_ == Kind::kSink; }
  Severity& min_severity() {
    static Severity of_printers = kLiteRtLogSeverityInfo;
    return is_sink() ? min_severity_ : of_printers;
  }
  std::vector<std::string>& messages() { return messages_; }

  LiteRtStatus Log(LiteRtLogSeverity severity, const char* format, va_list arguments);

 private:
  const Kind kind_;
  Severity min_severity_ = kLiteRtLogSeverityInfo;
  std::vector<std::string> messages_;
};

using Kind = LiteRtLoggerT::Kind;

namespace {

std::string Format(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size < 0) return "";
  std::string text(static_cast<size_t>(size), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  return text;
}

LiteRtLoggerT& Printer() {
  static LiteRtLoggerT printer(Kind::kPrinter);
  return printer;
}

std::atomic<LiteRtLogger>& DefaultLogger() {
  static std::atomic<LiteRtLogger> logger = &Printer();
  return logger;
}

LiteRtStatus Create(Kind kind, LiteRtLogger* out_logger) {
  if (out_logger == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *out_logger = new (std::nothrow) LiteRtLoggerT(kind);
  return *out_logger == nullptr ? kLiteRtStatusErrorMemoryAllocationFailure : kLiteRtStatusOk;
}

}  // namespace

// A sink stores messages of every severity.
LiteRtStatus LiteRtLoggerT::Log(LiteRtLogSeverity severity, const char* format, va_list arguments) {
  if (!is_sink() && severity < min_severity()) return kLiteRtStatusOk;
  return Guard([&] {
    std::string text =
        std::string(LiteRtGetLogSeverityName(severity)) + ": " + Format(format, arguments);
    if (is_sink()) {
      messages_.push_back(std::move(text));
    } else {
      std::fprintf(stderr, "%s\n", text.c_str());
    }
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtCreateLogger(LiteRtLogger* logger) { return Create(Kind::kPrinter, logger); }
LiteRtStatus LiteRtCreateSinkLogger(LiteRtLogger* logger) { return Create(Kind::kSink, logger); }

void LiteRtDestroyLogger(LiteRtLogger logger) { delete logger; }

LiteRtStatus LiteRtGetLoggerIdentifier(LiteRtLoggerConst logger, const char** identifier) {
  if (logger == nullptr || identifier == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *identifier = logger->is_sink() ? "LiteRtSinkLogger" : "LiteRtDefaultLogger";
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetMinLoggerSeverity(LiteRtLogger logger, LiteRtLogSeverity* min_severity) {
  if (logger == nullptr || min_severity == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *min_severity = logger->min_severity();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtSetMinLoggerSeverity(LiteRtLogger logger, LiteRtLogSeverity min_severity) {
  if (logger == nullptr) return kLiteRtStatusErrorInvalidArgument;
  logger->min_severity() = min_severity;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtLoggerLog(LiteRtLogger logger, LiteRtLogSeverity severity, const char* format,
                             ...) {
  if (logger == nullptr || format == nullptr) return kLiteRtStatusErrorInvalidArgument;
  va_list arguments;
  va_start(arguments, format);
  const LiteRtStatus status = logger->Log(severity, format, arguments);
  va_end(arguments);
  return status;
}

LiteRtStatus LiteRtGetSinkLoggerSize(LiteRtLogger logger, size_t* size) {
  if (logger == nullptr || !logger->is_sink() || size == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  *size = logger->messages().size();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetSinkLoggerMessage(LiteRtLogger logger, size_t idx, const char** message) {
  if (logger == nullptr || !logger->is_sink() || message == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  if (idx >= logger->messages().size()) return kLiteRtStatusErrorNotFound;
  *message = logger->messages()[idx].c_str();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtClearSinkLogger(LiteRtLogger logger) {
  if (logger == nullptr || !logger->is_sink()) return kLiteRtStatusErrorInvalidArgument;
  logger->messages().clear();
  return kLiteRtStatusOk;
}

LiteRtLogger LiteRtGetDefaultLogger() { return DefaultLogger(); }

LiteRtStatus LiteRtSetDefaultLogger(LiteRtLogger logger) {
  if (logger == nullptr) return kLiteRtStatusErrorInvalidArgument;
  DefaultLogger() = logger;
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtDefaultLoggerLog(LiteRtLogSeverity severity, const char* format, ...) {
  if (format == nullptr) return kLiteRtStatusErrorInvalidArgument;
  va_list arguments;
  va_start(arguments, format);
  const LiteRtStatus status = DefaultLogger().load()->Log(severity, format, arguments);
  va_end(arguments);
  return status;
}

LiteRtStatus LiteRtUseStandardLogger() { return LiteRtSetDefaultLogger(&Printer()); }

LiteRtStatus LiteRtUseSinkLogger() {
  static LiteRtLoggerT sink(Kind::kSink);
  return LiteRtSetDefaultLogger(&sink);
}
