// SPDX-License-Identifier: Apache-2.0
#include "bridges/triton/metrics.h"

#include <vector>

namespace deputy::triton {
namespace {

struct ParameterDeleter {
  void operator()(TRITONSERVER_Parameter* parameter) const {
    TRITONSERVER_ParameterDelete(parameter);
  }
};
using OwnedParameter = std::unique_ptr<TRITONSERVER_Parameter, ParameterDeleter>;

Family NewFamily(MetricKind kind, const char* name, const char* description) {
  TRITONSERVER_MetricFamily* family = nullptr;
  // The only failure of a correct call is that metrics are disabled.
  const Error ignored(TRITONSERVER_MetricFamilyNew(&family, kind, name, description));
  return Family(ignored == nullptr ? family : nullptr);
}

void Increment(const Metric& metric, int64_t value) {
  if (metric == nullptr || value == 0) return;
  LogIfError(Error(TRITONSERVER_MetricIncrement(metric.get(), static_cast<double>(value))),
             "a metric cannot be changed");
}

}  // namespace

void FamilyDeleter::operator()(TRITONSERVER_MetricFamily* family) const {
  LogIfError(Error(TRITONSERVER_MetricFamilyDelete(family)), "metrics cannot be deleted");
}

void MetricDeleter::operator()(TRITONSERVER_Metric* metric) const {
  LogIfError(Error(TRITONSERVER_MetricDelete(metric)), "a metric cannot be deleted");
}

MetricFamilies::MetricFamilies()
    : nodes(NewFamily(kMetricGauge, "deputy_nodes",
                      "Number of nodes of the model that the CPU or a delegate runs")),
      runs(NewFamily(kMetricCounter, "deputy_runs_total", "Number of inferences")),
      degraded_runs(NewFamily(kMetricCounter, "deputy_degraded_runs_total",
                              "Number of inferences in which the CPU replaced a delegate")) {}

ModelMetrics::ModelMetrics(const MetricFamilies* families, const std::string& model,
                           uint64_t version)
    : families_(families),
      model_(model),
      version_(std::to_string(version)),
      runs_(NewMetric(families->runs.get(), nullptr)),
      degraded_runs_(NewMetric(families->degraded_runs.get(), nullptr)) {}

Metric ModelMetrics::NewMetric(TRITONSERVER_MetricFamily* family, const char* runner) const {
  if (family == nullptr) return nullptr;
  std::vector<OwnedParameter> owned;
  owned.emplace_back(TRITONSERVER_ParameterNew("model", kParameterString, model_.c_str()));
  owned.emplace_back(TRITONSERVER_ParameterNew("version", kParameterString, version_.c_str()));
  if (runner != nullptr) {
    owned.emplace_back(TRITONSERVER_ParameterNew("runner", kParameterString, runner));
  }
  std::vector<const TRITONSERVER_Parameter*> labels;
  for (const OwnedParameter& label : owned) {
    if (label == nullptr) return nullptr;
    labels.push_back(label.get());
  }
  TRITONSERVER_Metric* metric = nullptr;
  Error error(TRITONSERVER_MetricNew(&metric, family, labels.data(), labels.size()));
  const bool is_made = error == nullptr;
  LogIfError(std::move(error), "a metric cannot be created");
  return Metric(is_made ? metric : nullptr);
}

void ModelMetrics::SetNodes(const std::string& runner, int count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Metric& metric = nodes_[runner];
  if (metric == nullptr) metric = NewMetric(families_->nodes.get(), runner.c_str());
  if (metric == nullptr) return;
  LogIfError(Error(TRITONSERVER_MetricSet(metric.get(), count)), "a metric cannot be changed");
}

void ModelMetrics::CountRuns(int64_t runs, int64_t degraded_runs) {
  Increment(runs_, runs);
  Increment(degraded_runs_, degraded_runs);
}

}  // namespace deputy::triton
