// SPDX-License-Identifier: Apache-2.0
#ifndef DEPUTY_LITERT_SRC_METRICS_H_
#define DEPUTY_LITERT_SRC_METRICS_H_

#include <string>
#include <vector>

#include "litert/c/litert_metrics.h"

class LiteRtMetricsT {
 public:
  struct Metric {
    std::string name, text;  // `text`: the contents of a string value
    LiteRtAny value = {};
  };

  std::vector<Metric> metrics;
};

#endif  // DEPUTY_LITERT_SRC_METRICS_H_
