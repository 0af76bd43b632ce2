// SPDX-License-Identifier: Apache-2.0
//
// Callbacks of training loops. Deputy does not train: Model::Train and Model::Evaluate return
// kLiteNotSupport and call none of them. The header lets programs compile that also train.
#ifndef DEPUTY_MINDSPORE_INCLUDE_CALLBACK_H_
#define DEPUTY_MINDSPORE_INCLUDE_CALLBACK_H_

#include <climits>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "metrics.h"

namespace mindspore {

class Model;

// Number of an epoch, and the value of a curve there.
using GraphPoint = std::pair<int, float>;

struct TrainCallBackData {
  TrainCallBackData(bool train_mode, int epoch, int step, Model* model)
      : train_mode_(train_mode),
        epoch_(static_cast<unsigned int>(epoch)),
        step_(static_cast<unsigned int>(step)),
        model_(model) {}

  bool train_mode_;
  unsigned int epoch_;
  unsigned int step_;
  Model* model_;
};

enum CallbackRetValue : uint32_t {
  kContinue = 0,
  kStopTraining = 1,
  kExit = 2,
  kUnknownRetValue = 0xFFFFFFFF,
};

class TrainCallBack {
 public:
  virtual ~TrainCallBack() = default;

  virtual void Begin(const TrainCallBackData& /*data*/) {}
  virtual void End(const TrainCallBackData& /*data*/) {}
  virtual void EpochBegin(const TrainCallBackData& /*data*/) {}
  virtual CallbackRetValue EpochEnd(const TrainCallBackData& /*data*/) { return kContinue; }
  virtual void StepBegin(const TrainCallBackData& /*data*/) {}
  virtual void StepEnd(const TrainCallBackData& /*data*/) {}
};

// Saves the model every `steps` steps.
class CkptSaver : public TrainCallBack {
 public:
  CkptSaver(int /*steps*/, const std::string& /*filename_prefix*/) {}
};

// Records the loss, and prints it every `steps` steps.
class LossMonitor : public TrainCallBack {
 public:
  explicit LossMonitor(int /*steps*/ = INT_MAX) {}
  const std::vector<GraphPoint>& GetLossPoints() { return points_; }

 private:
  std::vector<GraphPoint> points_;
};

// Prints the duration of each epoch.
class TimeMonitor : public TrainCallBack {};

// Records the accuracy of the training data, and prints it every `steps` steps.
class TrainAccuracy : public TrainCallBack {
 public:
  explicit TrainAccuracy(int /*steps*/ = INT_MAX, int /*accuracy_metrics*/ = METRICS_CLASSIFICATION,
                         const std::vector<int>& /*input_indexes*/ = {1},
                         const std::vector<int>& /*output_indexes*/ = {0}) {}
  const std::vector<GraphPoint>& GetAccuracyPoints() { return points_; }

 private:
  std::vector<GraphPoint> points_;
};

constexpr int DONT_UPDATE_LR = 0;
constexpr int UPDATE_LR = 1;

// Changes the learning rate after an epoch; returns UPDATE_LR if it did.
using LR_Lambda = std::function<int(float* rate, int epoch, void* data)>;

// Multiplies the learning rate by the float at `factor`.
inline int MultiplicativeLRLambda(float* rate, int /*epoch*/, void* factor) {
  if (rate == nullptr || factor == nullptr) return DONT_UPDATE_LR;
  *rate *= *static_cast<float*>(factor);
  return UPDATE_LR;
}

namespace detail {

struct RateStep {
  int step_size;
  float gamma;
};

}  // namespace detail

// Multiplies the learning rate by `gamma` every `step_size` epochs; `data` is a struct
// StepLRLambda.
inline int StepLRLambda(float* rate, int epoch, void* data) {
  const auto* const step = static_cast<detail::RateStep*>(data);
  if (rate == nullptr || step == nullptr || step->step_size <= 0) return DONT_UPDATE_LR;
  if ((epoch + 1) % step->step_size != 0) return DONT_UPDATE_LR;
  *rate *= step->gamma;
  return UPDATE_LR;
}

struct StepLRLambda : detail::RateStep {
  StepLRLambda(int step, float g) : RateStep{step, g} {}
};

// Applies a function to the learning rate every `step` epochs.
class LRScheduler : public TrainCallBack {
 public:
  explicit LRScheduler(const LR_Lambda& /*function*/, void* /*data*/ = nullptr, int /*step*/ = 1) {}
};

}  // namespace mindspore

#endif  // DEPUTY_MINDSPORE_INCLUDE_CALLBACK_H_
