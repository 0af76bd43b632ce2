// SPDX-License-Identifier: Apache-2.0
//
// Abseil of Debian 12 has no log library: a check that fails ends the process.
#ifndef DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_ABSL_LOG_ABSL_CHECK_H_
#define DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_ABSL_LOG_ABSL_CHECK_H_

#include <cstdlib>

#include "absl/log/absl_log.h"

#define ABSL_CHECK(condition) \
  while (!(condition) && (std::abort(), true)) LogLine()
#define ABSL_CHECK_EQ(a, b) ABSL_CHECK((a) == (b))
#define ABSL_CHECK_NE(a, b) ABSL_CHECK((a) != (b))
#define ABSL_CHECK_LT(a, b) ABSL_CHECK((a) < (b))
#define ABSL_CHECK_LE(a, b) ABSL_CHECK((a) <= (b))
#define ABSL_CHECK_GT(a, b) ABSL_CHECK((a) > (b))
#define ABSL_CHECK_GE(a, b) ABSL_CHECK((a) >= (b))
#define ABSL_DCHECK(condition) ABSL_CHECK(condition)
#define ABSL_DCHECK_EQ(a, b) ABSL_CHECK_EQ(a, b)
#define ABSL_DCHECK_LE(a, b) ABSL_CHECK_LE(a, b)

#endif  // DEPUTY_TESTS_LITERT_UPSTREAM_ADAPTERS_ABSL_LOG_ABSL_CHECK_H_
