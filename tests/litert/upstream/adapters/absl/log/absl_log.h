// SPDX-License-Identifier: Apache-2.0
//
// Abseil of Debian 12 has no log library: lines go to stderr.
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_ABSL_LOG_ABSL_LOG_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_ABSL_LOG_ABSL_LOG_H_

#include <iostream>

class LogLine {
 public:
  ~LogLine() { std::cerr << '\n'; }
  template <typename T>
  LogLine& operator<<(const T& value) {
    std::cerr << value;
    return *this;
  }
};

#define ABSL_LOG(severity) LogLine()

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_ABSL_LOG_ABSL_LOG_H_
