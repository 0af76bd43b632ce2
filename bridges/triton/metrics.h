// SPDX-License-Identifier: Apache-2.0
//
// Metrics of the back end in the server's list (http://SERVER:8002/metrics):
//   deputy_nodes{model,version,runner}           nodes of the model that the CPU or a delegate runs
//   deputy_runs_total{model,version}             inferences
//   deputy_degraded_runs_total{model,version}    inferences in which the CPU replaced a delegate
// A server without metrics returns errors for the families; the back end then works without them.
#ifndef DEPUTY_BRIDGES_TRITON_METRICS_H_
#define DEPUTY_BRIDGES_TRITON_METRICS_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "bridges/triton/error.h"

namespace deputy::triton {

struct FamilyDeleter {
  void operator()(TRITONSERVER_MetricFamily* family) const;
};
using Family = std::unique_ptr<TRITONSERVER_MetricFamily, FamilyDeleter>;

struct MetricDeleter {
  void operator()(TRITONSERVER_Metric* metric) const;
};
using Metric = std::unique_ptr<TRITONSERVER_Metric, MetricDeleter>;

// Families of all models; null if the server has no metrics.
struct MetricFamilies {
  MetricFamilies();
  Family nodes, runs, degraded_runs;
};

// Metrics of one model. The families must outlive it.
class ModelMetrics {
 public:
  ModelMetrics(const MetricFamilies* families, const std::string& model, uint64_t version);

  // Sets the number of nodes that `runner` runs in one instance. Thread-safe.
  void SetNodes(const std::string& runner, int count);
  // Thread-safe.
  void CountRuns(int64_t runs, int64_t degraded_runs);

 private:
  Metric NewMetric(TRITONSERVER_MetricFamily* family, const char* runner) const;

  const MetricFamilies* const families_;
  const std::string model_, version_;
  Metric runs_, degraded_runs_;
  std::mutex mutex_;
  std::map<std::string, Metric> nodes_;
};

}  // namespace deputy::triton

#endif  // DEPUTY_BRIDGES_TRITON_METRICS_H_
