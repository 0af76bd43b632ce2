// SPDX-License-Identifier: Apache-2.0
#include "litert/src/metrics.h"

#include <utility>

#include "litert/src/log.h"

using deputy::litert::Guard;

namespace {

bool HasText(const LiteRtAny& value) {
  return value.type == kLiteRtAnyTypeString && value.str_value != nullptr;
}

}  // namespace

LiteRtStatus LiteRtCreateMetrics(LiteRtMetrics* metrics) {
  if (metrics == nullptr) return kLiteRtStatusErrorInvalidArgument;
  return Guard([&] {
    *metrics = new LiteRtMetricsT();
    return kLiteRtStatusOk;
  });
}

LiteRtStatus LiteRtGetNumMetrics(LiteRtMetrics metrics, int* num_metrics) {
  if (metrics == nullptr || num_metrics == nullptr) return kLiteRtStatusErrorInvalidArgument;
  *num_metrics = static_cast<int>(metrics->metrics.size());
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtGetMetric(LiteRtMetrics metrics, int metric_index, LiteRtMetric* metric) {
  if (metrics == nullptr || metric == nullptr) return kLiteRtStatusErrorInvalidArgument;
  if (metric_index < 0 || static_cast<size_t>(metric_index) >= metrics->metrics.size()) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  const LiteRtMetricsT::Metric& found = metrics->metrics[static_cast<size_t>(metric_index)];
  metric->name = found.name.c_str();
  metric->value = found.value;
  if (HasText(found.value)) metric->value.str_value = found.text.c_str();
  return kLiteRtStatusOk;
}

LiteRtStatus LiteRtAppendMetric(LiteRtMetrics metrics, const LiteRtMetric* metric) {
  if (metrics == nullptr || metric == nullptr || metric->name == nullptr) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Guard([&] {
    LiteRtMetricsT::Metric added = {.name = metric->name, .text = {}, .value = metric->value};
    if (HasText(added.value)) added.text = added.value.str_value;
    metrics->metrics.push_back(std::move(added));
    return kLiteRtStatusOk;
  });
}

void LiteRtDestroyMetrics(LiteRtMetrics metrics) { delete metrics; }
