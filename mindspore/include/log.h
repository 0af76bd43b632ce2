// SPDX-License-Identifier: Apache-2.0
//
// The macro MS_LOG: MS_LOG(WARNING) << "text" logs one message through the sink of
// DeputyMSSetLogSink (delegate_c.h).
#ifndef DEPUTY_MINDSPORE_INCLUDE_LOG_H_
#define DEPUTY_MINDSPORE_INCLUDE_LOG_H_

#include <sstream>

#include "delegate_c.h"

namespace mindspore::detail {

// Collects a message and logs it in the destructor.
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
