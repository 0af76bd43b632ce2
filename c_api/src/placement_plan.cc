// SPDX-License-Identifier: Apache-2.0
//
// Placement by measured times (deputy_placement.h). A search measures the CPU, each delegate alone,
// and all delegates in their order. Then it divides the nodes of each delegate into 2, 4, 8 and 16
// segments and times first those with even indices, then the others, to obtain the time of each
// segment and the cost of an additional partition. From these times it solves the problem of
// placement_problem.h, measures the solution, and repeats that with the costs of its partitions.
// The costs of a delegate that the budget does not permit to measure are those that earlier models
// predict (placement_rates.h).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c_api/include/deputy_placement.h"
#include "c_api/src/placement_file.h"
#include "c_api/src/placement_measurement.h"
#include "c_api/src/placement_objects.h"
#include "c_api/src/placement_rates.h"
#include "c_api/src/struct_io.h"
#include "core/delegation/placement_problem.h"

using deputy::Assignment;
using deputy::DelegateCosts;
using deputy::DelegateRates;
using deputy::ErrorReporter;
using deputy::Guard;
using deputy::kCpuOwner;
using deputy::Measurement;
using deputy::PlacementAlternative;
using deputy::PlacementProblem;
using deputy::Prediction;

namespace {

constexpr int kDefaultBudgetMs = 10000;
constexpr int kMaxSegments = 16;
// Estimates of a delegate are ignored if one of them is not below this time.
constexpr double kMaxDeclaredNs = 1e15;
constexpr int kMaxSolutions = 8;
// Maximum part of a predicted time that is estimated, for an assignment that is chosen without
// a measurement.
constexpr double kMaxEstimated = 0.1;
// Minimum fraction by which the prediction of such an assignment must be below measured times.
constexpr double kMinPredictedGain = 0.05;
// Minimum fraction if the prediction uses costs of earlier models.
constexpr double kMinLearnedGain = 0.3;

size_t At(int index) { return static_cast<size_t>(index); }

// A delegate with its costs.
struct KnownDelegate {
  bool is_tried = false;             // true: the search has tried to measure it
  bool works = false;                // true: it was measured alone
  bool is_learned = false;           // true: earlier models predict its costs
  std::vector<int> nodes;            // nodes that it claims alone, in the order of the plan
  double alone_ns = 0;               // time of its partitions then
  size_t alone_count = 0;            // number of its partitions then
  std::vector<double> weights;       // declared or CPU time by node index
  std::vector<double> launch_costs;  // cost of an additional partition, one value per division
};

class PlacementSearch {
 public:
  // `rates` has the learned rates of each delegate.
  PlacementSearch(deputy::PlacementMeter* meter, std::vector<DelegateRates> rates, int budget_ms)
      : meter_(meter),
        rates_(std::move(rates)),
        delegates_(rates_.size()),
        began_(meter->Now()),
        budget_ns_(int64_t{budget_ms > 0 ? budget_ms : kDefaultBudgetMs} * 1000000) {}

  // Returns false if the model does not run on the CPU.
  bool Run(DeputyPlacementPlan* plan) {
    Measurement cpu;
    if (!meter_->MeasureCpu(&problem_, &cpu)) return false;
    on_cpu_.assign(problem_.cpu_ns.size(), kCpuOwner);
    Add("CPU", on_cpu_, cpu.total_ns);
    for (const DelegateRates& rates : rates_) {
      problem_.delegates.push_back(deputy::CostsByRates(problem_, meter_->operators(), rates));
    }
    for (const int d : OrderOfMeasurements()) {
      if (HasTime()) MeasureAlone(d);
    }
    UseLearnedCosts();
    if (delegates_.size() > 1 && HasTime()) MeasureInOrder();
    for (int segments = 2; segments <= kMaxSegments; segments *= 2) {
      for (size_t d = 0; d < delegates_.size(); ++d) Divide(static_cast<int>(d), segments);
    }
    Combine();
    Choose(plan);
    plan->status.measurements = meter_->measurements();
    plan->status.spent_ns = meter_->NsSince(began_);
    return true;
  }

  // Returns true if a node is assigned to a delegate whose costs are predicted by its rates.
  bool UsesLearnedCosts(const Assignment& assignment) const {
    return std::any_of(assignment.begin(), assignment.end(), [this](int owner) {
      return owner >= 0 && delegates_[At(owner)].is_learned;
    });
  }

  // Adds the measurements to the rates of a delegate and returns them; null if it was not measured.
  const DelegateRates* LearnRates(size_t d) {
    if (!delegates_[d].works) return nullptr;
    AddRates(problem_, problem_.delegates[d], meter_->operators(), &rates_[d]);
    return &rates_[d];
  }

 private:
  bool HasTime() const { return meter_->NsSince(began_) < budget_ns_; }

  PlacementAlternative* Find(const Assignment& assignment) {
    const auto found = std::find_if(alternatives_.begin(), alternatives_.end(),
                                    [&](const auto& a) { return a.assignment == assignment; });
    return found == alternatives_.end() ? nullptr : &*found;
  }

  void Add(std::string name, const Assignment& assignment, double measured_ns) {
    if (Find(assignment) != nullptr) return;
    alternatives_.push_back({.name = std::move(name), .assignment = assignment});
    alternatives_.back().measured_ns = measured_ns;
  }

  // Returns false if a partition contains the node of an earlier delegate, which the problem lacks.
  bool IsKnown(const deputy::MeasuredPartition& partition) const {
    return !partition.nodes.empty() && At(partition.nodes.back()) < on_cpu_.size();
  }

  // Stores the costs of partitions. The lower one of two costs of the same partition counts.
  void Learn(const Measurement& measured) {
    for (const deputy::MeasuredPartition& partition : measured.partitions) {
      if (!IsKnown(partition)) continue;
      auto& known = problem_.delegates[At(partition.delegate)].measured;
      const auto [entry, is_new] = known.try_emplace(partition.nodes, partition.ns);
      if (!is_new) entry->second = std::min(entry->second, partition.ns);
    }
  }

  Assignment AssignmentOf(const Measurement& measured) const {
    Assignment assignment = on_cpu_;
    for (const deputy::MeasuredPartition& partition : measured.partitions) {
      for (const int node : partition.nodes) {
        if (At(node) < assignment.size()) assignment[At(node)] = partition.delegate;
      }
    }
    return assignment;
  }

  // Returns the delegates in descending order of the time that they save according to their rates,
  // because the budget may end.
  std::vector<int> OrderOfMeasurements() const {
    std::vector<std::pair<double, int>> gains;
    for (size_t d = 0; d < delegates_.size(); ++d) {
      const DelegateCosts& costs = problem_.delegates[d];
      double gain = rates_[d].empty() ? 0 : -costs.launch_ns;
      for (size_t i = 0; i < costs.node_ns.size(); ++i) {
        if (costs.node_ns[i] >= 0) gain += problem_.cpu_ns[i] - costs.node_ns[i];
      }
      gains.emplace_back(-gain, static_cast<int>(d));
    }
    std::sort(gains.begin(), gains.end());
    std::vector<int> order;
    order.reserve(gains.size());
    for (const auto& [gain, d] : gains) order.push_back(d);
    return order;
  }

  // Adds the predicted assignments of delegates that were not tried, and removes the predicted
  // costs of the others.
  void UseLearnedCosts() {
    for (size_t d = 0; d < delegates_.size(); ++d) {
      DelegateCosts& costs = problem_.delegates[d];
      if (delegates_[d].is_tried) {
        costs.node_ns.assign(on_cpu_.size(), -1);
        continue;
      }
      Assignment assignment = on_cpu_;
      for (size_t i = 0; i < assignment.size(); ++i) {
        if (costs.node_ns[i] >= 0) assignment[i] = static_cast<int>(d);
      }
      if (assignment == on_cpu_) continue;
      delegates_[d].is_learned = true;
      Add("delegate " + std::to_string(d), assignment, -1);
    }
  }

  void MeasureAlone(int d) {
    Measurement measured;
    KnownDelegate& delegate = delegates_[At(d)];
    delegate.is_tried = true;
    if (!meter_->Measure({d}, nullptr, &measured)) return;
    Learn(measured);
    delegate.works = true;
    delegate.alone_count = measured.partitions.size();
    for (const auto& partition : measured.partitions) delegate.alone_ns += partition.ns;
    const Assignment assignment = AssignmentOf(measured);
    bool are_declared = true;
    const std::vector<double>& declared = measured.declared_ns[At(d)];
    for (const int node : problem_.graph.plan) {
      if (assignment[At(node)] != d) continue;
      delegate.nodes.push_back(node);
      are_declared &= At(node) < declared.size() && declared[At(node)] >= 0 &&
                      declared[At(node)] < kMaxDeclaredNs;
    }
    delegate.weights = are_declared ? declared : problem_.cpu_ns;
    delegate.weights.resize(on_cpu_.size(), 0);
    Add("delegate " + std::to_string(d), assignment, measured.total_ns);
  }

  void MeasureInOrder() {
    std::vector<int> working;
    for (size_t d = 0; d < delegates_.size(); ++d) {
      if (delegates_[d].works) working.push_back(static_cast<int>(d));
    }
    Measurement measured;
    if (working.size() < 2 || !meter_->Measure(working, nullptr, &measured)) return;
    Learn(measured);
    // Placements cannot repeat that a delegate claims the node of another one.
    const auto is_nested = [this](const auto& partition) { return !IsKnown(partition); };
    const auto& partitions = measured.partitions;
    if (std::any_of(partitions.begin(), partitions.end(), is_nested)) return;
    Add("in order", AssignmentOf(measured), measured.total_ns);
  }

  // Measures the nodes of a delegate in segments of about equal weight, or each node alone if there
  // are no more nodes than segments: first the segments with even indices, then the others.
  void Divide(int d, int segments) {
    KnownDelegate& delegate = delegates_[At(d)];
    const size_t count = delegate.nodes.size();
    if (!delegate.works || count < 2 || count <= At(segments) / 2) return;
    double all = 0;
    for (const int node : delegate.nodes) all += delegate.weights[At(node)];
    double ns = 0;
    size_t partitions = 0;
    for (int parity = 0; parity < 2; ++parity) {
      if (!HasTime()) return;
      Assignment assignment = on_cpu_;
      double before = 0;
      for (size_t i = 0; i < count; ++i) {
        const int node = delegate.nodes[i];
        // Without weights every node is in the first segment.
        const double part = all > 0 ? std::clamp(before / all, 0.0, 1.0) : 0;
        const int by_weight = std::min(segments - 1, static_cast<int>(part * segments));
        const int segment = count <= At(segments) ? static_cast<int>(i) : by_weight;
        if (segment % 2 == parity) assignment[At(node)] = d;
        before += delegate.weights[At(node)];
      }
      Measurement measured;
      if (!meter_->Measure({d}, &assignment, &measured)) return;
      Learn(measured);
      partitions += measured.partitions.size();
      for (const auto& partition : measured.partitions) ns += partition.ns;
    }
    if (partitions <= delegate.alone_count) return;
    delegate.launch_costs.push_back(std::max(
        0.0, (ns - delegate.alone_ns) / static_cast<double>(partitions - delegate.alone_count)));
  }

  // Estimates the costs of nodes and partitions from the measured partitions.
  void Estimate() {
    for (size_t d = 0; d < delegates_.size(); ++d) {
      KnownDelegate& delegate = delegates_[d];
      DelegateCosts& costs = problem_.delegates[d];
      if (delegate.is_learned) continue;
      std::vector<double> launches = delegate.launch_costs;
      std::sort(launches.begin(), launches.end());
      costs.launch_ns = launches.empty() ? 0 : launches[launches.size() / 2];
      // The smallest measured partition that contains a node determines its time.
      std::vector<size_t> sizes(on_cpu_.size(), SIZE_MAX);
      for (const auto& [nodes, ns] : costs.measured) {
        double weight = 0;
        for (const int node : nodes) weight += delegate.weights[At(node)];
        for (const int node : nodes) {
          if (nodes.size() >= sizes[At(node)]) continue;
          sizes[At(node)] = nodes.size();
          const double part = weight > 0 ? delegate.weights[At(node)] / weight
                                         : 1 / static_cast<double>(nodes.size());
          costs.node_ns[At(node)] = std::max(0.0, ns - costs.launch_ns) * part;
        }
      }
    }
  }

  std::vector<int> DelegatesOf(const Assignment& assignment) const {
    std::vector<int> used;
    for (size_t d = 0; d < delegates_.size(); ++d) {
      const int index = static_cast<int>(d);
      if (std::count(assignment.begin(), assignment.end(), index) > 0) used.push_back(index);
    }
    return used;
  }

  // Solves the problem and measures the solution, until the solution is a known assignment.
  void Combine() {
    for (int i = 0; i < kMaxSolutions; ++i) {
      Estimate();
      std::vector<Assignment> starts;
      for (const PlacementAlternative& each : alternatives_) starts.push_back(each.assignment);
      const Assignment solution = deputy::Solve(problem_, starts, [this] { return HasTime(); });
      if (Find(solution) != nullptr) return;
      if (!HasTime()) return Add("combination", solution, -1);
      Measurement measured;
      if (!meter_->Measure(DelegatesOf(solution), &solution, &measured)) return;
      Learn(measured);
      // A delegate may have refused nodes without their neighbours.
      const Assignment actual = AssignmentOf(measured);
      const bool is_new = Find(actual) == nullptr;
      Add("combination", actual, measured.total_ns);
      if (!is_new) return;
    }
  }

  // Sorts the alternatives by their time, the chosen one first.
  void Choose(DeputyPlacementPlan* plan) {
    Estimate();
    for (PlacementAlternative& each : alternatives_) {
      Prediction prediction;
      if (!deputy::Predict(problem_, each.assignment, &prediction)) continue;
      each.predicted_ns = prediction.total_ns + meter_->overhead_ns();
      each.estimated_ns = prediction.estimated_ns;
      each.partitions = static_cast<int32_t>(prediction.partitions.size());
      each.delegated = static_cast<int32_t>(std::count_if(
          each.assignment.begin(), each.assignment.end(), [](int owner) { return owner >= 0; }));
    }
    const auto time = [this](const PlacementAlternative& each) {
      if (each.measured_ns >= 0) return each.measured_ns;
      if (UsesLearnedCosts(each.assignment)) return each.predicted_ns / (1 - kMinLearnedGain);
      const bool is_known = each.estimated_ns <= kMaxEstimated * each.predicted_ns;
      return is_known ? each.predicted_ns / (1 - kMinPredictedGain)
                      : std::numeric_limits<double>::infinity();
    };
    std::stable_sort(alternatives_.begin(), alternatives_.end(),
                     [&](const auto& a, const auto& b) { return time(a) < time(b); });
    // Rates do not show whether a delegate can run the model. Index 0 is the CPU at the latest.
    while (UsesLearnedCosts(alternatives_.front().assignment)) {
      const Assignment& first = alternatives_.front().assignment;
      if (meter_->Try(DelegatesOf(first), first)) break;
      alternatives_.erase(alternatives_.begin());
    }
    plan->owners = alternatives_.front().assignment;
    plan->alternatives = std::move(alternatives_);
  }

  deputy::PlacementMeter* const meter_;
  std::vector<DelegateRates> rates_;
  std::vector<KnownDelegate> delegates_;
  const int64_t began_;
  const int64_t budget_ns_;
  PlacementProblem problem_;
  Assignment on_cpu_;
  std::vector<PlacementAlternative> alternatives_;
};

bool ReadSettings(const DeputyPlacementSettings* settings, DeputyPlacementSettings* out) {
  *out = {};
  out->struct_size = sizeof *out;
  if (settings == nullptr) return true;
  return deputy::ReadStruct(settings, out) && out->budget_ms >= 0 && out->runs >= 0;
}

}  // namespace

DeputyPlacementPlan* DeputyPlacementPlanCreate(const TfLiteModel* model,
                                               const TfLiteInterpreterOptions* options,
                                               const DeputyPlacementSettings* settings) {
  const auto refuse = [](const char* expected) -> DeputyPlacementPlan* {
    ErrorReporter().Report("DeputyPlacementPlanCreate: expected %s", expected);
    return nullptr;
  };
  DeputyPlacementSettings given;
  if (model == nullptr || options == nullptr) return refuse("a model and options, found NULL");
  if (!ReadSettings(settings, &given)) {
    return refuse("settings with their size in struct_size and no negative number");
  }
  if (!options->placements.empty()) return refuse("options without placements");
  return Guard(nullptr, [&]() -> DeputyPlacementPlan* {
    auto plan = std::make_unique<DeputyPlacementPlan>();
    plan->delegates = options->delegates;
    const deputy::PlacementFile file(model, *options, given);
    if (file.Read(plan.get())) return plan.release();
    deputy::PlacementMeter meter(model, options, given);
    std::vector<DelegateRates> rates;
    for (size_t d = 0; d < options->delegates.size(); ++d) rates.push_back(file.RatesOf(d));
    PlacementSearch search(&meter, std::move(rates), given.budget_ms);
    if (!search.Run(plan.get())) return refuse("a model that runs on the CPU alone");
    // A choice by learned rates is not stored, so that a later search can measure.
    if (!search.UsesLearnedCosts(plan->owners)) file.Write(*plan);
    for (size_t d = 0; d < options->delegates.size(); ++d) {
      const DelegateRates* const learned = search.LearnRates(d);
      if (learned != nullptr) file.WriteRatesOf(d, *learned);
    }
    return plan.release();
  });
}

void DeputyPlacementPlanDelete(DeputyPlacementPlan* plan) { delete plan; }

TfLiteStatus DeputyInterpreterOptionsSetPlacementPlan(TfLiteInterpreterOptions* options,
                                                      const DeputyPlacementPlan* plan) {
  if (options == nullptr || plan == nullptr || !options->placements.empty()) return kTfLiteError;
  return Guard(kTfLiteError, [&] {
    std::vector<TfLiteDelegate*> used;
    for (size_t d = 0; d < plan->delegates.size(); ++d) {
      TfLiteDelegate* const delegate = plan->delegates[d];
      const std::vector<TfLiteDelegate*>& given = options->delegates;
      if (std::find(given.begin(), given.end(), delegate) == given.end()) return kTfLiteError;
      const auto count = std::count(plan->owners.begin(), plan->owners.end(), static_cast<int>(d));
      if (count > 0) used.push_back(delegate);
    }
    std::vector<deputy::Placement> placements;
    for (size_t i = 0; i < plan->owners.size(); ++i) {
      const int owner = plan->owners[i];
      const TfLiteDelegate* delegate = owner == kCpuOwner ? nullptr : plan->delegates[At(owner)];
      placements.push_back(
          {deputy::Placement::Selector::kIndex, 0, static_cast<int>(i), "", delegate});
    }
    options->delegates = std::move(used);
    options->placements = std::move(placements);
    return kTfLiteOk;
  });
}

int32_t DeputyPlacementPlanGetOwner(const DeputyPlacementPlan* plan, int32_t node_index) {
  if (plan == nullptr || node_index < 0 || At(node_index) >= plan->owners.size()) return -2;
  return plan->owners[At(node_index)];
}

size_t DeputyPlacementPlanGetAlternativeCount(const DeputyPlacementPlan* plan) {
  return plan == nullptr ? 0 : plan->alternatives.size();
}

TfLiteStatus DeputyPlacementPlanGetAlternative(const DeputyPlacementPlan* plan, size_t index,
                                               DeputyPlacementAlternative* alternative) {
  if (index >= DeputyPlacementPlanGetAlternativeCount(plan)) return kTfLiteError;
  const PlacementAlternative& each = plan->alternatives[index];
  DeputyPlacementAlternative full{};
  full.name = each.name.c_str();
  full.partition_count = each.partitions;
  full.delegated_count = each.delegated;
  full.predicted_ns = each.predicted_ns;
  full.estimated_ns = each.estimated_ns;
  full.measured_ns = each.measured_ns;
  return deputy::WriteStruct(full, alternative);
}

TfLiteStatus DeputyPlacementPlanGetStatus(const DeputyPlacementPlan* plan,
                                          DeputyPlacementStatus* status) {
  return plan == nullptr ? kTfLiteError : deputy::WriteStruct(plan->status, status);
}
