// SPDX-License-Identifier: Apache-2.0
#include "c_api/src/placement_measurement.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>

#include "c_api/include/c_api_experimental.h"
#include "core/base/delegate_params.h"
#include "core/delegation/delegate_record.h"
#include "core/exec/op_listener.h"
#include "core/model/op_names.h"

namespace deputy {
namespace {

constexpr int kDefaultRuns = 5;

struct InterpreterDeleter {
  void operator()(TfLiteInterpreter* interpreter) const { TfLiteInterpreterDelete(interpreter); }
};
using InterpreterPointer = std::unique_ptr<TfLiteInterpreter, InterpreterDeleter>;

// Sums the time of each node of subgraph 0 in one inference.
class NodeTimer final : public OpListener {
 public:
  NodeTimer(const PlacementMeter* meter, size_t nodes) : meter_(meter), times_(nodes, 0) {}

  void BeginOp(int, int, const char*) override {
    if (depth_++ == 0) began_ = meter_->Now();
  }
  void EndOp(const OpEvent& event) override {
    if (--depth_ != 0 || event.subgraph != 0) return;
    const auto node = static_cast<size_t>(event.node);
    if (node < times_.size()) times_[node] += static_cast<double>(meter_->NsSince(began_));
  }

  std::vector<double> Take() {
    depth_ = 0;
    std::vector<double> times(times_.size(), 0);
    std::swap(times, times_);
    return times;
  }

 private:
  const PlacementMeter* const meter_;
  std::vector<double> times_;
  int depth_ = 0;
  int64_t began_ = 0;
};

void FillInputs(TfLiteInterpreter* interpreter) {
  for (int32_t i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter); ++i) {
    TfLiteTensor* const tensor = TfLiteInterpreterGetInputTensor(interpreter, i);
    if (tensor == nullptr || tensor->data.raw == nullptr || tensor->type == kTfLiteString) continue;
    memset(tensor->data.raw, 0, tensor->bytes);
    if (tensor->type != kTfLiteFloat32) continue;
    for (size_t k = 0; k < tensor->bytes / sizeof(float); ++k) {
      tensor->data.f[k] = static_cast<float>(k * 37 % 65) / 32.0f - 1.0f;
    }
  }
}

bool IsConstant(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo || tensor.allocation_type == kTfLitePersistentRo;
}

double ElementsOf(const TfLiteTensor& tensor) {
  double elements = 1;
  for (const int extent : IndicesOf(tensor.dims)) elements *= extent;
  return elements;
}

// Returns an estimate of a node's work: the elements of its outputs, and their products with the
// largest constant, as in a convolution or a matrix product.
double RoughWork(const Graph& graph, const TfLiteNode& node) {
  double outputs = 1, channels = 1, factors = 0;
  for (const int index : IndicesOf(node.outputs)) {
    const TfLiteTensor* const tensor = graph.tensor(index);
    if (tensor == nullptr || tensor->dims == nullptr) continue;
    outputs += ElementsOf(*tensor);
    if (tensor->dims->size > 0) channels = std::max(1, tensor->dims->data[tensor->dims->size - 1]);
  }
  for (const int index : IndicesOf(node.inputs)) {
    const TfLiteTensor* const tensor = graph.tensor(index);
    if (tensor == nullptr || !IsConstant(*tensor)) continue;
    factors = std::max(factors, ElementsOf(*tensor));
  }
  return outputs + factors * outputs / channels;
}

// Divides the time of each fusion group among its nodes.
void DivideGroups(const TfLiteInterpreter* interpreter, std::vector<double>* times) {
  Subgraph& subgraph = interpreter->impl->primary();
  const Graph& graph = subgraph.graph();
  std::vector<std::vector<int>> groups(times->size());
  for (const int node : graph.plan()) {
    int size = 0;
    const int head =
        subgraph.execution_plan().group_head(subgraph.graph_index().position(node), &size);
    if (head >= 0) groups[static_cast<size_t>(head)].push_back(node);
  }
  for (const std::vector<int>& group : groups) {
    double work = 0, ns = 0;
    for (const int node : group) {
      work += RoughWork(graph, *graph.node(node));
      ns += (*times)[static_cast<size_t>(node)];
    }
    for (const int node : group) {
      (*times)[static_cast<size_t>(node)] = ns * RoughWork(graph, *graph.node(node)) / work;
    }
  }
}

}  // namespace

PlacementMeter::PlacementMeter(const TfLiteModel* model, const TfLiteInterpreterOptions* options,
                               const DeputyPlacementSettings& settings)
    : model_(model), options_(*options), delegates_(options->delegates), settings_(settings) {
  options_.delegates.clear();
  options_.config.hot = false;
  options_.policy_set = true;
  options_.delegate_fallback = false;
  options_.requirement = 0;
  options_.telemetry = nullptr;
}

int64_t PlacementMeter::Now() const {
  if (settings_.clock != nullptr) return settings_.clock(settings_.user_data);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int64_t PlacementMeter::NsSince(int64_t begin) const {
  // The difference of two times of a client's clock may overflow.
  return static_cast<int64_t>(static_cast<uint64_t>(Now()) - static_cast<uint64_t>(begin));
}

TfLiteInterpreter* PlacementMeter::Prepare(const std::vector<int>& delegates,
                                           const Assignment* assignment) {
  TfLiteInterpreterOptions options = options_;
  for (const int delegate : delegates) {
    options.delegates.push_back(delegates_[static_cast<size_t>(delegate)]);
  }
  for (size_t i = 0; assignment != nullptr && i < assignment->size(); ++i) {
    const int owner = (*assignment)[i];
    const TfLiteDelegate* const delegate =
        owner == kCpuOwner ? nullptr : delegates_[static_cast<size_t>(owner)];
    options.placements.push_back(
        {Placement::Selector::kIndex, 0, static_cast<int>(i), "", delegate});
  }
  InterpreterPointer interpreter(TfLiteInterpreterCreate(model_, &options));
  if (interpreter == nullptr) return nullptr;
  if (settings_.prepare != nullptr) {
    if (settings_.prepare(settings_.user_data, interpreter.get()) != kTfLiteOk) return nullptr;
    return interpreter.release();
  }
  if (TfLiteInterpreterAllocateTensors(interpreter.get()) != kTfLiteOk) return nullptr;
  FillInputs(interpreter.get());
  return interpreter.release();
}

bool PlacementMeter::Time(TfLiteInterpreter* interpreter, Measurement* out) {
  ++measurements_;
  const Subgraph& subgraph = interpreter->impl->primary();
  NodeTimer timer(this, static_cast<size_t>(subgraph.graph().node_count()));
  if (TfLiteInterpreterInvoke(interpreter) != kTfLiteOk) return false;
  interpreter->impl->AddOpListener(&timer);
  struct Run {
    double total_ns;
    std::vector<double> nodes;
  };
  std::vector<Run> runs;
  bool is_ok = true;
  for (int i = 0; is_ok && i < (settings_.runs > 0 ? settings_.runs : kDefaultRuns); ++i) {
    const int64_t began = Now();
    is_ok = TfLiteInterpreterInvoke(interpreter) == kTfLiteOk;
    for (const int output : subgraph.graph().outputs()) {
      if (is_ok && output >= 0) {
        is_ok = TfLiteInterpreterEnsureTensorDataIsReadable(interpreter, output) == kTfLiteOk;
      }
    }
    runs.push_back({static_cast<double>(NsSince(began)), timer.Take()});
  }
  interpreter->impl->RemoveOpListener(&timer);
  if (!is_ok) return false;
  std::sort(runs.begin(), runs.end(),
            [](const Run& a, const Run& b) { return a.total_ns < b.total_ns; });
  Run& median = runs[runs.size() / 2];
  out->total_ns = median.total_ns;
  out->cpu_ns = std::move(median.nodes);
  return true;
}

void PlacementMeter::Describe(const Subgraph& subgraph, PlacementProblem* out) {
  const Graph& graph = subgraph.graph();
  const auto keep = [this](const TfLiteIntArray* array) -> std::span<const int> {
    const std::span<const int> tensors = IndicesOf(array);
    node_tensors_.emplace_back(tensors.begin(), tensors.end());
    return node_tensors_.back();
  };
  for (int i = 0; i < graph.node_count(); ++i) {
    const TfLiteNode& node = *graph.node(i);
    out->graph.nodes.push_back({keep(node.inputs), keep(node.outputs)});
    const TfLiteTensor* const input =
        node.inputs->size > 0 ? graph.tensor(node.inputs->data[0]) : nullptr;
    operators_.push_back(std::string(OperatorName(*graph.registration(i))) + " " +
                         TfLiteTypeGetName(input == nullptr ? kTfLiteNoType : input->type));
  }
  out->graph.tensor_count = graph.tensor_count();
  out->graph.plan = graph.plan();
  out->graph.outputs = graph.outputs();
  out->graph.control_edges = subgraph.ControlEdges();
  for (int i = 0; i < graph.tensor_count(); ++i) {
    const TfLiteTensor& tensor = *graph.tensor(i);
    out->tensor_bytes.push_back(IsConstant(tensor) ? 0 : static_cast<double>(tensor.bytes));
  }
}

bool PlacementMeter::MeasureCpu(PlacementProblem* out_problem, Measurement* out) {
  const InterpreterPointer interpreter(Prepare({}, nullptr));
  if (interpreter == nullptr || !Time(interpreter.get(), out)) return false;
  Describe(interpreter->impl->primary(), out_problem);
  DivideGroups(interpreter.get(), &out->cpu_ns);
  out_problem->cpu_ns = out->cpu_ns;
  overhead_ns_ = out->total_ns - std::accumulate(out->cpu_ns.begin(), out->cpu_ns.end(), 0.0);
  return true;
}

bool PlacementMeter::Try(const std::vector<int>& delegates, const Assignment& assignment) {
  const InterpreterPointer interpreter(Prepare(delegates, &assignment));
  return interpreter != nullptr && TfLiteInterpreterInvoke(interpreter.get()) == kTfLiteOk;
}

bool PlacementMeter::Measure(const std::vector<int>& delegates, const Assignment* assignment,
                             Measurement* out) {
  const InterpreterPointer interpreter(Prepare(delegates, assignment));
  if (interpreter == nullptr || !Time(interpreter.get(), out)) return false;
  Subgraph& subgraph = interpreter->impl->primary();
  const double all = std::accumulate(out->cpu_ns.begin(), out->cpu_ns.end(), 0.0);
  const std::vector<int>& partitions = subgraph.graph_index().partitions();
  // Copies of a delegate's tensors occur outside its node, too.
  const double copies_ns = std::max(0.0, out->total_ns - overhead_ns_ - all) /
                           static_cast<double>(std::max<size_t>(1, partitions.size()));
  for (const int position : partitions) {
    const int index = subgraph.graph().plan()[static_cast<size_t>(position)];
    const TfLiteNode& node = *subgraph.graph().node(index);
    MeasuredPartition partition;
    for (const int delegate : delegates) {
      const auto* applied =
          DelegationOf(&subgraph).delegates().Find(delegates_[static_cast<size_t>(delegate)]);
      if (applied != nullptr && applied->Is(node.delegate)) partition.delegate = delegate;
    }
    const std::span<const int> nodes = IndicesOf(ReplacedNodes(node));
    partition.nodes.assign(nodes.begin(), nodes.end());
    std::sort(partition.nodes.begin(), partition.nodes.end());
    partition.ns = out->cpu_ns[static_cast<size_t>(index)] + copies_ns;
    out->cpu_ns[static_cast<size_t>(index)] = 0;
    out->partitions.push_back(std::move(partition));
  }
  DivideGroups(interpreter.get(), &out->cpu_ns);
  out->declared_ns.resize(delegates_.size());
  for (const int delegate : delegates) {
    const auto* applied =
        DelegationOf(&subgraph).delegates().Find(delegates_[static_cast<size_t>(delegate)]);
    if (applied == nullptr) continue;
    for (const NodeSupport& support : applied->record.nodes) {
      out->declared_ns[static_cast<size_t>(delegate)].push_back(support.cost_ns);
    }
  }
  return true;
}

}  // namespace deputy
