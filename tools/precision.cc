// SPDX-License-Identifier: Apache-2.0
//
// `deputy precision`: chooses the precision of each node, so that the model is as fast as possible
// while the error of its outputs stays below a bound, and writes the choice as a plan
// (deputy/deputy_precision.h). docs/precision-plans.md describes the method.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "commands.h"
#include "deputy/deputy_precision.h"
#include "difference.h"
#include "json.h"
#include "run_items.h"
#include "session.h"
#include "tensor_data.h"
#include "text.h"

namespace deputy::tools {
namespace {

// Precisions of nodes of the first subgraph; others multiply in float32.
using Assignment = std::map<int, DeputyPrecision>;

// Nodes that change their precision together: those of one fusion group, and of groups that share
// nodes with it.
struct Candidate {
  Assignment nodes;
  double gain_ms = 0;  // time that the lower precision saves
  double error = 0;    // error of the outputs if only these nodes have the lower precision
};

constexpr DeputyPrecision kLower[] = {kDeputyPrecisionFloat16, kDeputyPrecisionBfloat16};

const char* TextOf(DeputyPrecision precision) {
  return precision == kDeputyPrecisionFloat16 ? "fp16" : "bf16";
}

// Shortest time of each node, or fusion group by its head, in milliseconds.
class NodeTimes {
 public:
  explicit NodeTimes(Session* session) : session_(*session) {
    const auto nodes =
        static_cast<size_t>(DeputyInterpreterGetNodeCount(session_.interpreter(), 0));
    times_.assign(nodes, std::numeric_limits<double>::infinity());
    current_.resize(nodes);
    DeputyInterpreterSetProfileCallback(session_.interpreter(), &OnEvent, this);
  }
  ~NodeTimes() { DeputyInterpreterSetProfileCallback(session_.interpreter(), nullptr, nullptr); }
  NodeTimes(const NodeTimes&) = delete;
  NodeTimes& operator=(const NodeTimes&) = delete;

  // Runs and measures an inference. A node that runs in micro-batches has an event for each.
  void Invoke() {
    std::fill(current_.begin(), current_.end(), 0.0);
    session_.Invoke();
    for (size_t node = 0; node < count(); ++node) {
      if (current_[node] > 0) times_[node] = std::min(times_[node], current_[node]);
    }
  }

  size_t count() const { return times_.size(); }
  // Returns 0 for a node that runs as a part of another node's group.
  double Of(size_t node) const { return std::isfinite(times_[node]) ? times_[node] : 0; }
  double Sum() const {
    double sum = 0;
    for (size_t node = 0; node < count(); ++node) sum += Of(node);
    return sum;
  }

 private:
  static void OnEvent(void* self, const DeputyOpEvent* event) {
    if (event->subgraph_index != 0) return;
    static_cast<NodeTimes*>(self)->current_[static_cast<size_t>(event->node_index)] +=
        static_cast<double>(event->duration_ns) / 1e6;
  }

  Session& session_;
  std::vector<double> times_, current_;
};

DeputyNodeRun RunOf(const Session& session, size_t node) {
  DeputyNodeRun run = {};
  run.struct_size = sizeof run;
  DeputyInterpreterGetNodeRun(session.interpreter(), 0, static_cast<int>(node), &run);
  return run;
}

// Returns for each node the first node of the set of nodes that are fused with it, directly or
// indirectly, in one of the sessions.
std::vector<size_t> FusedSets(const Session& a, const Session& b, size_t nodes) {
  std::vector<size_t> parent(nodes);
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto find = [&](size_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (const Session* session : {&a, &b}) {
    for (size_t node = 0; node < nodes; ++node) {
      const int head = RunOf(*session, node).group_head;
      if (head < 0) continue;
      const size_t x = find(node), y = find(static_cast<size_t>(head));
      parent[std::max(x, y)] = std::min(x, y);
    }
  }
  for (size_t node = 0; node < nodes; ++node) parent[node] = find(node);
  return parent;
}

class Search {
 public:
  explicit Search(const PrecisionOptions& options)
      : options_(options), items_(options.inputs), exact_(With({})) {
    const int item_input = items_.count() == 0 ? -1 : FindItemInput();
    item_input_ = item_input;
    count_ = items_.count() == 0 ? static_cast<size_t>(options.random_inputs) : items_.count();
    if (count_ < 2) FailUsage("expected at least two inputs, since every second one is held out");
    for (size_t i = 0; i < count_; ++i) {
      (i % 2 == 0 ? calibration_ : held_out_).push_back(i);
      expected_.push_back(OutputsFor(i, &exact_));
    }
  }

  void Run() {
    for (const DeputyPrecision precision : kLower) Measure(precision);
    const size_t considered = candidates_.size();
    if (considered == 0) FailWork("no node is faster in bf16 or fp16 on this CPU");
    MeasureErrors();
    Choose();
    if (chosen_.empty()) {
      FailWork("all nodes stay in float32: each of %zu candidates would exceed the bound %g",
               considered, options_.bound);
    }
    CompareTimes();
    Write();
    options_.json ? PrintJson() : PrintText();
  }

 private:
  SessionOptions OptionsWith(const Assignment& nodes) const {
    SessionOptions options = options_.inputs.session;
    options.precision = "float32";
    options.node_precisions = {nodes.begin(), nodes.end()};
    return options;
  }
  Session With(const Assignment& nodes) const { return Session(OptionsWith(nodes)); }
  std::unique_ptr<Session> Shared(const Assignment& nodes) const {
    SessionOptions options = OptionsWith(nodes);
    options.shares_model_of = &exact_;
    return std::make_unique<Session>(options);
  }

  int FindItemInput() const {
    const std::string& name =
        items_.are_rows() ? options_.inputs.rows_input : options_.inputs.image_input;
    return name.empty() ? 0 : exact_.FindInput(name);
  }

  void WriteInputs(size_t index, Session* session) const {
    for (int i = 0; i < session->input_count(); ++i) {
      if (i == item_input_) {
        items_.Write(index, session->input(i));
        continue;
      }
      const auto number = index * static_cast<size_t>(session->input_count()) + i;
      WriteRandom(options_.inputs.seed + static_cast<uint32_t>(number), session->input(i));
    }
  }

  std::vector<std::vector<double>> OutputsFor(size_t index, Session* session) const {
    WriteInputs(index, session);
    session->Invoke();
    std::vector<std::vector<double>> outputs;
    for (int i = 0; i < session->output_count(); ++i) {
      const TfLiteTensor* output = session->output(i);
      outputs.push_back(IsNumeric(TfLiteTensorType(output)) ? ReadReals(output)
                                                            : std::vector<double>());
    }
    return outputs;
  }

  // Returns the largest error of an output over the inputs: the largest difference from float32, as
  // a fraction of the largest magnitude in float32. Infinite if a value is NaN on one side only, or
  // if a shape differs.
  double ErrorOf(const Assignment& nodes, const std::vector<size_t>& inputs) const {
    const std::unique_ptr<Session> session = Shared(nodes);
    double error = 0;
    for (const size_t index : inputs) {
      const std::vector<std::vector<double>> found = OutputsFor(index, session.get());
      for (size_t i = 0; i < found.size(); ++i) {
        const auto difference = Compare(found[i], expected_[index][i]);
        if (!difference || difference->lone_nans > 0 || !std::isfinite(difference->relative())) {
          return std::numeric_limits<double>::infinity();
        }
        error = std::max(error, difference->relative());
      }
    }
    return error;
  }

  // Runs both in turn. Returns the number of rounds.
  int Alternate(NodeTimes* a, NodeTimes* b) const {
    const double start = NowMs();
    int rounds = 0;
    for (; rounds < kMinRounds || NowMs() - start < options_.measure_ms; ++rounds) {
      a->Invoke();
      b->Invoke();
    }
    return rounds;
  }

  // Returns true if a node multiplies in exactly this precision: fp16 selects products of bfloat16
  // on CPUs without those of float16.
  static bool HasNodesIn(DeputyPrecision precision, const Session& session, size_t nodes) {
    for (size_t node = 0; node < nodes; ++node) {
      if (ReducedPrecision(RunOf(session, node)) == TextOf(precision)) return true;
    }
    return false;
  }

  // Appends the candidates of a precision: sets of fused nodes that are faster with it.
  void Measure(DeputyPrecision precision) {
    const auto nodes = static_cast<size_t>(DeputyInterpreterGetNodeCount(exact_.interpreter(), 0));
    Assignment all;
    for (size_t node = 0; node < nodes; ++node) all[static_cast<int>(node)] = precision;
    const std::unique_ptr<Session> full = Shared({}), lower = Shared(all);
    if (!HasNodesIn(precision, *lower, nodes)) return;
    WriteInputs(0, full.get());
    WriteInputs(0, lower.get());
    NodeTimes full_times(full.get()), lower_times(lower.get());
    Alternate(&full_times, &lower_times);
    const std::vector<size_t> sets = FusedSets(*full, *lower, nodes);
    std::map<size_t, Candidate> candidates;
    for (size_t node = 0; node < nodes; ++node) {
      Candidate& candidate = candidates[sets[node]];
      candidate.gain_ms += full_times.Of(node) - lower_times.Of(node);
      if (ReducedPrecision(RunOf(*lower, node)) == TextOf(precision)) {
        candidate.nodes[static_cast<int>(node)] = precision;
      }
    }
    for (auto& [set, candidate] : candidates) {
      if (!candidate.nodes.empty() && candidate.gain_ms > 0) candidates_.push_back(candidate);
    }
  }

  // Measures the error of each candidate alone, on two inputs. A set of nodes that exceeds the
  // bound is replaced by its nodes, which share its gain; a node that exceeds it is no candidate.
  void MeasureErrors() {
    const std::vector<size_t> few(calibration_.begin(),
                                  calibration_.begin() + std::min<long>(2, calibration_.size()));
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate whole = candidates_[i];
      candidates_[i].error = ErrorOf(whole.nodes, few);
      if (candidates_[i].error <= options_.bound || whole.nodes.size() == 1) continue;
      for (const auto& [node, precision] : whole.nodes) {
        candidates_.push_back({{{node, precision}}, whole.gain_ms / whole.nodes.size()});
      }
    }
    std::erase_if(candidates_, [&](const Candidate& each) { return each.error > options_.bound; });
    // The errors of different nodes are independent, so their squares add up.
    const auto merit = [](const Candidate& each) {
      return each.gain_ms / (each.error * each.error + 1e-18);
    };
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [&](const Candidate& a, const Candidate& b) { return merit(a) > merit(b); });
  }

  // Returns the nodes of candidates. A node has the precision of the first candidate with it.
  static Assignment NodesOf(const std::vector<Candidate>& candidates) {
    Assignment nodes;
    for (const Candidate& each : candidates) nodes.insert(each.nodes.begin(), each.nodes.end());
    return nodes;
  }
  std::vector<Candidate> First(size_t count) const {
    return {candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  bool IsWithin(const std::vector<Candidate>& candidates, double bound) const {
    return ErrorOf(NodesOf(candidates), calibration_) <= bound;
  }

  // Finds the longest list of first candidates within the bound on the calibration inputs, and adds
  // those of the next ones that stay within it. Then shortens the list until it is within the bound
  // on all inputs: the error of fewer nodes can be larger.
  void Choose() {
    constexpr size_t kMaxTrials = 32;
    const double bound = kMargin * options_.bound;
    size_t good = 0, bad = candidates_.size() + 1;
    for (size_t next = candidates_.size(); bad - good > 1; next = good + (bad - good) / 2) {
      (IsWithin(First(next), bound) ? good : bad) = next;
    }
    std::vector<Candidate> chosen = First(good);
    for (size_t i = bad; i < std::min(candidates_.size(), bad + kMaxTrials); ++i) {
      chosen.push_back(candidates_[i]);
      if (!IsWithin(chosen, bound)) chosen.pop_back();
    }
    for (; !chosen.empty(); chosen.resize(chosen.size() - 1 - chosen.size() / 16)) {
      calibration_error_ = ErrorOf(NodesOf(chosen), calibration_);
      held_out_error_ = ErrorOf(NodesOf(chosen), held_out_);
      if (std::max(calibration_error_, held_out_error_) <= options_.bound) break;
    }
    chosen_ = NodesOf(chosen);
  }

  void CompareTimes() {
    const std::unique_ptr<Session> full = Shared({}), plan = Shared(chosen_);
    WriteInputs(0, full.get());
    WriteInputs(0, plan.get());
    NodeTimes full_times(full.get()), plan_times(plan.get());
    rounds_ = Alternate(&full_times, &plan_times);
    full_ms_ = full_times.Sum();
    plan_ms_ = plan_times.Sum();
  }

  void Write() const {
    const std::unique_ptr<TfLiteInterpreterOptions, void (*)(TfLiteInterpreterOptions*)> options(
        TfLiteInterpreterOptionsCreate(), &TfLiteInterpreterOptionsDelete);
    for (const auto& [node, precision] : chosen_) {
      DeputyInterpreterOptionsSetNodePrecision(options.get(), 0, node, precision);
    }
    const QuietReports quiet;
    if (DeputyInterpreterOptionsWritePrecisionPlan(options.get(), exact_.model(),
                                                   options_.output.c_str()) != kTfLiteOk) {
      FailUsage("%s", OneLine(DeputyLastError()).c_str());
    }
  }

  size_t CountOf(DeputyPrecision precision) const {
    return static_cast<size_t>(std::count_if(chosen_.begin(), chosen_.end(), [&](const auto& each) {
      return each.second == precision;
    }));
  }

  void PrintText() const {
    std::printf("nodes    ");
    for (const DeputyPrecision precision : kLower) {
      std::printf("%zu in %s, ", CountOf(precision), TextOf(precision));
    }
    std::printf("the others in float32\n");
    std::printf("error    %.3g on %zu calibration inputs, %.3g on %zu held-out inputs; bound %g\n",
                calibration_error_, calibration_.size(), held_out_error_, held_out_.size(),
                options_.bound);
    std::printf("time     %.3f ms in float32, %.3f ms with the plan: %.2f times as fast\n",
                full_ms_, plan_ms_, full_ms_ / plan_ms_);
    std::printf("written  %s\n", OneLine(options_.output).c_str());
  }

  void PrintJson() const {
    Json nodes = Json::array(), candidates = Json::array();
    for (const Candidate& each : candidates_) {
      Json indices = Json::array();
      for (const auto& [node, precision] : each.nodes) indices.push_back(node);
      candidates.push_back({{"nodes", indices},
                            {"precision", TextOf(each.nodes.begin()->second)},
                            {"gain_ms", each.gain_ms},
                            {"error", each.error}});
    }
    for (const auto& [node, precision] : chosen_) {
      nodes.push_back({{"node", node}, {"precision", TextOf(precision)}});
    }
    const Json report = {{"model", options_.inputs.session.model},
                         {"bound", options_.bound},
                         {"plan", options_.output},
                         {"nodes", nodes},
                         {"candidates", candidates},
                         {"calibration_inputs", calibration_.size()},
                         {"held_out_inputs", held_out_.size()},
                         {"rounds", rounds_},
                         {"calibration_error", calibration_error_},
                         {"held_out_error", held_out_error_},
                         {"float32_ms", full_ms_},
                         {"plan_ms", plan_ms_}};
    std::printf("%s\n", JsonText(report, 2).c_str());
  }

  static constexpr int kMinRounds = 4;
  // Part of the bound that the calibration inputs may use; other inputs may have larger errors.
  static constexpr double kMargin = 0.7;

  const PrecisionOptions& options_;
  const Items items_;
  Session exact_;
  int item_input_ = -1;  // input that receives images or rows; negative: none
  size_t count_ = 0;
  std::vector<size_t> calibration_, held_out_;
  std::vector<std::vector<std::vector<double>>> expected_;  // outputs by input and output
  std::vector<Candidate> candidates_;
  Assignment chosen_;
  double calibration_error_ = 0, held_out_error_ = 0, full_ms_ = 0, plan_ms_ = 0;
  int rounds_ = 0;  // number of inferences with which full_ms_ and plan_ms_ were measured
};

}  // namespace

void ChoosePrecision(const PrecisionOptions& options) {
  const SessionOptions& session = options.inputs.session;
  if (options.output.empty()) FailUsage("no file for the plan given: -o FILE");
  if (!std::isfinite(options.bound)) FailUsage("--bound: expected a finite number");
  std::error_code error;
  if (std::filesystem::equivalent(options.output, session.model, error)) {
    FailUsage("the plan would replace the model: -o %s", options.output.c_str());
  }
  if (!session.precision.empty() || !session.precision_plan.empty() || session.reference) {
    FailUsage("this command excludes --precision, --precision-plan and --reference");
  }
  Search(options).Run();
}

}  // namespace deputy::tools
