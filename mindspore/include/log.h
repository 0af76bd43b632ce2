// SPDX-License-Identifier: Apache-2.0
//
// MS_LOG(WARNING) << "text": one line for the log of delegate_c.h (DeputyMSSetLogSink).
#ifndef DEPUTY_MINDSPORE_INCLUDE_LOG_H_
#define DEPUTY_MINDSPORE_INCLUDE_LOG_H_

#include <sstream>

#include "delegate_c.h"

namespace mindspore::detail {

// Collects a line, and writes it when it is destroyed.
class LogLine {
 public:
  explicit LogLine(DeputyMSLogLevel level) : level_(level) {}
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;
  ~LogLine() { DeputyMSLog(level_, text_.str().c_str()); }

  template <typename T>
  LogLine& operator<<(const T& value) {
    text_ << value;
    return *this;
  }

 private:
  DeputyMSLogLevel level_;
  std::ostringstream text_;
};

constexpr DeputyMSLogLevel kLogDEBUG = kDeputyMSLogDebug;
constexpr DeputyMSLogLevel kLogINFO = kDeputyMSLogInfo;
constexpr DeputyMSLogLevel kLogWARNING = kDeputyMSLogWarning;
constexpr DeputyMSLogLevel kLogERROR = kDeputyMSLogError;

}  // namespace mindspore::detail

#ifndef MS_LOG
#define MS_LOG(level) ::mindspore::detail::LogLine(::mindspore::detail::kLog##level)
#endif

#endif  // DEPUTY_MINDSPORE_INCLUDE_LOG_H_
