// SPDX-License-Identifier: Apache-2.0
//
// Collects the results of `deputy explain` in one JSON document. Delegates are numbered in the
// order of the command line here, without absent ones; the library numbers only those that were
// applied.
#include "tools/explain/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "deputy/builtin_ops.h"
#include "deputy/deputy.h"
#include "deputy/deputy_graph.h"
#include "deputy/deputy_layout.h"
#include "tools/delegate_facts.h"
#include "tools/tensor_data.h"
#include "tools/text.h"
#include "tools/what_if.h"

namespace deputy::tools {
namespace {

std::string Text(const char* text) { return text == nullptr ? "" : text; }

bool IsConstant(const TfLiteTensor* tensor) {
  return tensor->allocation_type == kTfLiteMmapRo || tensor->allocation_type == kTfLitePersistentRo;
}

class Report {
 public:
  Report(const Session& session, size_t inferences)
      : session_(session), interpreter_(session.interpreter()), inferences_(inferences) {}

  Json Build(const std::string& model) {
    NumberDelegates();
    Json delegates = DelegatesJson();
    Json subgraphs = Json::array();
    for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter_); ++s) {
      subgraphs.push_back(SubgraphJson(s));
    }
    int32_t delegated = 0, total = 0;
    DeputyInterpreterCheckDelegation(interpreter_, kDeputyRequireNothing, &delegated, &total);
    return {{"model", model},
            {"policy", session_.delegation_status().policy == kDeputyPolicyHot ? "hot" : "tflite"},
            {"precision", session_.PrecisionText()},
            {"nodes", total},
            {"delegated", delegated},
            {"inferences", inferences_},
            {"cpu_ns", cpu_ns_},
            {"delegated_ns", delegated_ns_},
            {"status", StatusJson()},
            {"delegates", delegates},
            {"absent", AbsentJson()},
            {"boundary", BoundaryJson(subgraphs)},
            {"constants", ConstantsJson()},
            {"buffers", BuffersJson()},
            {"findings", session_.validates() ? FindingsJson(interpreter_) : Json(nullptr)},
            {"subgraphs", subgraphs},
            {"what_if", WhatIfJson(subgraphs)}};
  }

 private:
  void NumberDelegates();
  Json StatusJson() const;
  Json DelegatesJson() const;
  Json AbsentJson() const;
  Json SubgraphJson(int subgraph);
  int LayoutOf(int subgraph, int node) const {
    return DeputyInterpreterGetNodeLayout(interpreter_, subgraph, node);
  }
  Json PartitionsJson(int subgraph);
  Json NodeJson(int subgraph, int node);
  Json SupportJson(int subgraph, int node);
  Json TensorsJson(int subgraph) const;
  Json OutputsJson(int subgraph) const;
  Json CostJson(const DeputyNodeRun& run) const;
  Json ReportedJson(const DeputyNodeRun& run) const;
  Json BoundaryJson(const Json& subgraphs) const;
  Json ConstantsJson() const;
  Json BuffersJson() const;
  std::vector<WhatIf> Changes(const Json& subgraphs) const;
  Json WhatIfJson(const Json& subgraphs) const;
  DeputyNodeRun RunOf(int subgraph, int node) const;
  // Converts the library's index of a delegate to the command line's; -1 for the CPU.
  int Own(int index) const {
    const auto known = own_.find(index);
    return known == own_.end() ? -1 : known->second;
  }

  const Session& session_;
  TfLiteInterpreter* const interpreter_;
  const size_t inferences_;
  std::map<int, int> own_;      // command line's number of a delegate, by the library's number
  std::map<int, int> library_;  // inverse of own_; delegates that were never applied are missing
  NodesOfDelegate claims_;
  // Totals of the first subgraph, including the subgraphs that it calls.
  double cpu_ns_ = 0, delegated_ns_ = 0;
};

void Report::NumberDelegates() {
  for (int i = 0; i < DeputyInterpreterGetDelegateCount(interpreter_); ++i) {
    DeputyDelegateInfo info = {};
    info.struct_size = sizeof(info);
    if (DeputyInterpreterGetDelegateInfo(interpreter_, i, &info) != kTfLiteOk) continue;
    for (size_t own = 0; own < session_.delegates().size(); ++own) {
      if (session_.delegates()[own].handle.get() != info.delegate) continue;
      own_[i] = static_cast<int>(own);
      library_[static_cast<int>(own)] = i;
    }
  }
}

Json Report::StatusJson() const {
  const DeputyDelegationStatus status = session_.delegation_status();
  return {{"degraded", status.degraded != 0},
          {"delegates_skipped", status.delegates_skipped},
          {"recomputed_nodes", status.recomputed_nodes},
          {"restarts", status.restarts},
          {"reserved_bytes", status.reserved_bytes},
          {"saving_ns", status.saving_ns}};
}

Json Report::AbsentJson() const {
  Json absent = Json::array();
  for (const auto& [flag, problem] : session_.absent()) {
    absent.push_back({{"flag", flag}, {"problem", problem}});
  }
  return absent;
}

Json Report::DelegatesJson() const {
  Json delegates = Json::array();
  for (size_t own = 0; own < session_.delegates().size(); ++own) {
    const LoadedDelegate& delegate = session_.delegates()[own];
    DeputyDelegateInfo info = {};
    info.struct_size = sizeof(info);
    const auto known_index = library_.find(static_cast<int>(own));
    const bool known =
        known_index != library_.end() &&
        DeputyInterpreterGetDelegateInfo(interpreter_, known_index->second, &info) == kTfLiteOk;
    const bool is_placed = !session_.placement().is_null();
    const char* const reason = is_placed ? "the placement does not use it" : "it was not applied";
    delegates.push_back({{"index", own},
                         {"name", delegate.name},
                         {"version", delegate.version},
                         {"vendor", delegate.vendor},
                         {"path", delegate.library},
                         {"applied", known && info.applied != 0},
                         {"failure", known ? Text(info.failure) : reason},
                         {"nodes", info.node_count},
                         {"partitions", info.partition_count},
                         {"facts", DelegateFacts(delegate.handle.get(), delegate.undeclared)}});
  }
  return delegates;
}

DeputyNodeRun Report::RunOf(int subgraph, int node) const {
  DeputyNodeRun run = {};
  run.struct_size = sizeof(run);
  if (DeputyInterpreterGetNodeRun(interpreter_, subgraph, node, &run) != kTfLiteOk) {
    run.runner = run.delegate_index = run.group_head = -1;
    run.row_stride = run.column_stride = 1;
  }
  return run;
}

Json Report::CostJson(const DeputyNodeRun& run) const {
  if (inferences_ == 0 || run.runs == 0) return nullptr;
  return static_cast<double>(run.total_ns) / static_cast<double>(inferences_);
}

// Returns the time that the delegate has reported for a node of a partition.
Json Report::ReportedJson(const DeputyNodeRun& run) const {
  if (inferences_ == 0 || run.reported_ns == 0) return nullptr;
  return static_cast<double>(run.reported_ns) / static_cast<double>(inferences_);
}

Json Report::PartitionsJson(int subgraph) {
  Json partitions = Json::array();
  for (int p = 0; p < DeputyInterpreterGetPartitionCount(interpreter_, subgraph); ++p) {
    DeputyPartition found = {};
    found.struct_size = sizeof(found);
    if (DeputyInterpreterGetPartition(interpreter_, subgraph, p, &found) != kTfLiteOk) break;
    const DeputyNodeRun run = RunOf(subgraph, found.node_index);
    partitions.push_back({{"index", p},
                          {"delegate", Own(found.delegate_index)},
                          {"node", found.node_index},
                          {"plan_position", found.plan_position},
                          {"nodes", std::vector<int>(found.nodes, found.nodes + found.node_count)},
                          {"input_count", found.input_count},
                          {"input_bytes", found.input_bytes},
                          {"output_count", found.output_count},
                          {"output_bytes", found.output_bytes},
                          {"constant_bytes", found.constant_bytes},
                          {"cost_ns", CostJson(run)},
                          {"recomputed", run.recomputed}});
    if (LayoutOf(subgraph, found.node_index) == kDeputyNodeInNchw)
      partitions.back()["layout"] = "NCHW";
  }
  return partitions;
}

Json Report::SupportJson(int subgraph, int node) {
  Json rows = Json::array();
  for (const auto& [own, library] : library_) {
    DeputyNodeSupport support = {};
    support.struct_size = sizeof(support);
    if (DeputyInterpreterGetNodeSupport(interpreter_, subgraph, node, library, &support) !=
        kTfLiteOk) {
      continue;
    }
    if (support.delegated != 0) claims_[{own, subgraph}].push_back(node);
    rows.push_back({{"delegate", own},
                    {"delegated", support.delegated != 0},
                    {"reason", support.reason},
                    {"reason_name", Text(support.reason_name)},
                    {"text", Text(support.text)},
                    {"group", support.group},
                    {"cost_ns", support.cost_ns < 0 ? Json(nullptr) : Json(support.cost_ns)}});
  }
  return rows;
}

// Returns the description of a node; null for an index that is not a node of the model.
Json Report::NodeJson(int subgraph, int node) {
  DeputyNodeInfo info = {};
  info.struct_size = sizeof(info);
  if (DeputyInterpreterGetNodeInfo(interpreter_, subgraph, node, &info) != kTfLiteOk) {
    return nullptr;
  }
  Json support = SupportJson(subgraph, node);
  const int layout = LayoutOf(subgraph, node);
  if (info.builtin_code == kTfLiteBuiltinDelegate || layout == kDeputyNodeAuxiliary) return nullptr;
  const DeputyNodeRun run = RunOf(subgraph, node);
  Json json = {{"index", node},
               {"operator", Text(info.operator_name)},
               {"version", info.version},
               {"owner", Own(run.delegate_index)},
               {"runner", run.runner},
               {"implementation", Text(run.implementation)},
               {"group_head", run.group_head >= 0 ? Json(run.group_head) : Json(nullptr)},
               {"row_stride", run.row_stride},
               {"column_stride", run.column_stride},
               {"partition", nullptr},
               {"inputs", std::vector<int>(info.inputs, info.inputs + info.input_count)},
               {"outputs", std::vector<int>(info.outputs, info.outputs + info.output_count)},
               {"cost_ns", run.runner == node ? CostJson(run) : Json(nullptr)},
               {"reported_ns", ReportedJson(run)},
               {"support", support}};
  if (IsMissing(session_.missing(), interpreter_, subgraph, node)) json["missing"] = true;
  if (layout == kDeputyNodeToNchw) json["inserted"] = "to NCHW";
  if (layout == kDeputyNodeToNhwc) json["inserted"] = "to NHWC";
  return json;
}

// Returns the tensor indices of the subgraph's outputs.
Json Report::OutputsJson(int subgraph) const {
  Json outputs = Json::array();
  const int count = DeputyInterpreterGetSubgraphOutputCount(interpreter_, subgraph);
  for (int i = 0; i < count; ++i) {
    outputs.push_back(DeputyInterpreterGetSubgraphOutput(interpreter_, subgraph, i));
  }
  return outputs;
}

Json Report::TensorsJson(int subgraph) const {
  Json tensors = Json::array();
  for (int t = 0; t < DeputyInterpreterGetTensorCount(interpreter_, subgraph); ++t) {
    const TfLiteTensor* tensor = DeputyInterpreterGetTensor(interpreter_, subgraph, t);
    if (tensor == nullptr) continue;
    tensors.push_back({{"index", t},
                       {"name", Text(tensor->name)},
                       {"type", TfLiteTypeGetName(tensor->type)},
                       {"shape", ShapeOf(tensor)},
                       {"bytes", tensor->bytes},
                       {"constant", IsConstant(tensor)}});
  }
  return tensors;
}

// Returns the description of a subgraph, with nodes in execution order; those of a partition are
// adjacent.
Json Report::SubgraphJson(int subgraph) {
  Json partitions = PartitionsJson(subgraph);
  std::map<int, int> partition_of;  // partition by node of a delegate
  // Position in the plan and position in the partition, by node.
  std::map<int, std::pair<int, int>> position_of;
  for (const Json& partition : partitions) {
    partition_of[partition["node"]] = partition["index"];
    if (subgraph == 0 && partition["cost_ns"].is_number()) {
      delegated_ns_ += partition["cost_ns"].get<double>();
    }
  }
  std::vector<Json> nodes;
  for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter_, subgraph); ++n) {
    Json node = NodeJson(subgraph, n);
    if (node.is_null()) continue;
    const int runner = node["runner"];
    if (const auto known = partition_of.find(runner); known != partition_of.end()) {
      node["partition"] = known->second;
      const int position = partitions[static_cast<size_t>(known->second)]["plan_position"];
      position_of[n] = {position, n};
    } else {
      DeputyNodeInfo info = {};
      info.struct_size = sizeof(info);
      DeputyInterpreterGetNodeInfo(interpreter_, subgraph, n, &info);
      position_of[n] = {runner < 0 ? INT32_MAX : info.plan_position, 0};
    }
    if (subgraph == 0 && node["cost_ns"].is_number()) cpu_ns_ += node["cost_ns"].get<double>();
    nodes.push_back(std::move(node));
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](const Json& a, const Json& b) {
    return position_of[a["index"]] < position_of[b["index"]];
  });
  return {{"index", subgraph},
          {"name", Text(DeputyInterpreterGetSubgraphName(interpreter_, subgraph))},
          {"nodes", nodes},
          {"partitions", partitions},
          {"tensors", TensorsJson(subgraph)},
          {"outputs", OutputsJson(subgraph)}};
}

Json Report::BoundaryJson(const Json& subgraphs) const {
  size_t tensors = 0, in = 0, out = 0;
  for (const Json& subgraph : subgraphs) {
    for (const Json& partition : subgraph["partitions"]) {
      tensors += partition["input_count"].get<size_t>() + partition["output_count"].get<size_t>();
      in += partition["input_bytes"].get<size_t>();
      out += partition["output_bytes"].get<size_t>();
    }
  }
  return {{"tensors", tensors}, {"input_bytes", in}, {"output_bytes", out}};
}

// Returns the size of values that are computed from constants, before and after the release of
// those that delegates have copied, and the size of the released pages of the model's file.
Json Report::ConstantsJson() const {
  DeputyMemoryMap map = {};
  map.struct_size = sizeof(map);
  if (DeputyInterpreterGetMemoryMap(interpreter_, 0, &map) != kTfLiteOk) return nullptr;
  return {{"packed_bytes_before", map.packed_bytes + map.released_packed_bytes},
          {"packed_bytes", map.packed_bytes},
          {"released_file_bytes", map.released_file_bytes}};
}

// Returns the tensors that pass between two delegates, or between a delegate and the client.
Json Report::BuffersJson() const {
  static const char* const kTypes[] = {"host", "dma-buf", "OpenCL", "shared", "opaque"};
  Json edges = Json::array();
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter_); ++s) {
    for (size_t i = 0; i < DeputyInterpreterGetBufferEdgeCount(interpreter_, s); ++i) {
      DeputyBufferEdge edge = {};
      edge.struct_size = sizeof(edge);
      if (DeputyInterpreterGetBufferEdge(interpreter_, s, i, &edge) != kTfLiteOk) break;
      const auto copied = static_cast<size_t>(edge.copied_runs);
      edges.push_back({{"subgraph", s},
                       {"tensor", edge.tensor_index},
                       {"producer", edge.producer},
                       {"consumer", edge.consumer},
                       {"memory", kTypes[edge.memory_type]},
                       {"bytes", edge.bytes},
                       {"shared_runs", edge.shared_runs},
                       {"copied_runs", edge.copied_runs},
                       {"copied_bytes", copied * edge.bytes},
                       {"reason", Text(edge.reason)}});
    }
  }
  return edges;
}

// ---- Possible improvements ----------------------------------------------------------------------

// Returns true for a node that a delegate could gain: the CPU runs it, and no pin or exclusion of
// the user requires that.
bool IsLeft(const Json& node, const Json& support) {
  const int reason = support["reason"];
  return node["owner"] == -1 && node["runner"] != -1 && !support["delegated"].get<bool>() &&
         reason != kDeputyReasonPinned && reason != kDeputyReasonExcluded;
}

std::vector<WhatIf> Report::Changes(const Json& subgraphs) const {
  std::vector<WhatIf> single;
  std::map<std::tuple<int, int, std::string>, WhatIf> whole;
  for (const Json& subgraph : subgraphs) {
    for (const Json& node : subgraph["nodes"]) {
      for (const Json& support : node["support"]) {
        if (!IsLeft(node, support)) continue;
        WhatIf change;
        change.delegate = support["delegate"];
        change.subgraph = subgraph["index"];
        change.operator_name = node["operator"].get<std::string>();
        change.nodes = {node["index"].get<int>()};
        if (node["cost_ns"].is_number()) change.cpu_ns = node["cost_ns"].get<int64_t>();
        auto [all, fresh] =
            whole.try_emplace({change.delegate, change.subgraph, change.operator_name}, change);
        if (!fresh) {
          all->second.whole_operator = true;
          all->second.nodes.push_back(change.nodes[0]);
          if (change.cpu_ns >= 0) all->second.cpu_ns += change.cpu_ns;
        }
        single.push_back(std::move(change));
      }
    }
  }
  // Changes of whole operators are tried first, because the number of trials is limited.
  std::vector<WhatIf> changes;
  for (auto& [key, change] : whole) {
    if (change.whole_operator) changes.push_back(std::move(change));
  }
  changes.insert(changes.end(), single.begin(), single.end());
  return changes;
}

// Returns true if a change saves time, partitions or bytes. Times below 0.5 % of the total are
// ignored.
bool Helps(const WhatIf& change, double total_ns) {
  const bool saves_time = change.cpu_ns > 0 && static_cast<double>(change.cpu_ns) >= total_ns / 200;
  return change.previewed && (change.after.partitions < change.before.partitions ||
                              change.after.bytes < change.before.bytes || saves_time);
}

// Orders by time if measured, then by fewer partitions, fewer bytes, and fewer changed nodes.
bool IsBetter(const WhatIf& a, const WhatIf& b) {
  const auto rank = [](const WhatIf& w) {
    const auto gain = [](size_t before, size_t after) {
      return static_cast<int64_t>(after) - static_cast<int64_t>(before);
    };
    return std::make_tuple(-w.cpu_ns, gain(w.before.partitions, w.after.partitions),
                           gain(w.before.bytes, w.after.bytes), w.nodes.size(), w.delegate);
  };
  return rank(a) < rank(b);
}

Json BoundariesJson(const Boundaries& boundaries) {
  return {{"partitions", boundaries.partitions},
          {"tensors", boundaries.tensors},
          {"bytes", boundaries.bytes}};
}

Json Report::WhatIfJson(const Json& subgraphs) const {
  std::vector<WhatIf> changes = Changes(subgraphs);
  const auto bytes_of = [&](int subgraph, int index) -> int64_t {
    const TfLiteTensor* tensor =
        index < 0 ? nullptr : DeputyInterpreterGetTensor(interpreter_, subgraph, index);
    if (tensor == nullptr || IsConstant(tensor)) return -1;
    return static_cast<int64_t>(tensor->bytes);
  };
  PreviewChanges(session_.model(), static_cast<int>(session_.delegates().size()), claims_, bytes_of,
                 &changes);
  const auto untried =
      std::count_if(changes.begin(), changes.end(), [](const WhatIf& w) { return !w.previewed; });
  const double total_ns = cpu_ns_ + delegated_ns_;
  std::erase_if(changes, [&](const WhatIf& change) { return !Helps(change, total_ns); });
  std::stable_sort(changes.begin(), changes.end(), IsBetter);
  Json list = Json::array();
  for (const WhatIf& change : changes) {
    list.push_back({{"delegate", change.delegate},
                    {"subgraph", change.subgraph},
                    {"operator", change.operator_name},
                    {"nodes", change.nodes},
                    {"whole_operator", change.whole_operator},
                    {"cpu_ns", change.cpu_ns < 0 ? Json(nullptr) : Json(change.cpu_ns)},
                    {"before", BoundariesJson(change.before)},
                    {"after", BoundariesJson(change.after)}});
  }
  return {{"changes", list}, {"untried", untried}};
}

}  // namespace

Json ExplainSession(const Session& session, const std::string& model, size_t inferences) {
  return Report(session, inferences).Build(model);
}

bool FollowsInGroup(const Json& node) {
  return node["group_head"].is_number() && node["group_head"] != node["index"];
}

std::string TimeText(const Json& node) {
  const Json& time = node[node["cost_ns"].is_number() ? "cost_ns" : "reported_ns"];
  return time.is_number() ? NanosecondsText(time) : "";
}

}  // namespace deputy::tools
