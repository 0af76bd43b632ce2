// SPDX-License-Identifier: Apache-2.0
//
// Metrics of training loops. Deputy does not train: Model::InitMetrics and Model::Evaluate return
// kLiteNotSupport, and the value of a metric is 0.
#ifndef DEPUTY_MINDSPORE_INCLUDE_METRICS_H_
#define DEPUTY_MINDSPORE_INCLUDE_METRICS_H_

#include <vector>

namespace mindspore {

class MSTensor;

constexpr int METRICS_CLASSIFICATION = 0;
constexpr int METRICS_MULTILABEL = 1;

class Metrics {
 public:
  virtual ~Metrics() = default;
  virtual void Clear() {}
  virtual float Eval() { return 0; }
  virtual void Update(std::vector<MSTensor*> /*inputs*/, std::vector<MSTensor*> /*outputs*/) {}
};

class AccuracyMetrics : public Metrics {
 public:
  explicit AccuracyMetrics(int /*accuracy_metrics*/ = METRICS_CLASSIFICATION,
                           const std::vector<int>& /*input_indexes*/ = {1},
                           const std::vector<int>& /*output_indexes*/ = {0}) {}
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_METRICS_H_
