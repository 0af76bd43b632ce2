// SPDX-License-Identifier: Apache-2.0
#include "litert/src/partition.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "litert/src/builder.h"
#include "litert/src/composite.h"
#include "litert/src/dispatch_op.h"
#include "litert/src/op_list.h"

namespace deputy::litert {
namespace {

using Ops = std::vector<LiteRtOp>;
// Number of the partition of each selected operator.
using Selection = std::unordered_map<const LiteRtOpT*, LiteRtParamIndex>;

// ---- Selection ----------------------------------------------------------------------------------

// Returns the reason why an operator cannot be compiled whatever the plug-in selects, or null.
const char* FindObstacle(const LiteRtModelT& model, LiteRtOp op) {
  if (op->code == kLiteRtOpCodeTflCustom && op->custom_code == kDispatchOpCode) {
    return "it is compiled already";
  }
  const auto is_variable = [](const LiteRtTensorT* tensor) { return tensor->is_variable; };
  if (std::any_of(op->inputs.begin(), op->inputs.end(), is_variable)) {
    return "it has a variable tensor";
  }
  Composite composite;
  if (!ReadComposite(model, op, &composite)) return nullptr;
  if (composite.name == kCpuComposite) return "it is a composite for the CPU";
  if (composite.name == kNpuComposite) return "it is a partition of its own";
  return nullptr;
}

// Stores the operators of a subgraph that the plug-in selects.
LiteRtStatus Select(const CompilerPlugin& plugin, const char* soc_model, const LiteRtModelT& model,
                    LiteRtSubgraph subgraph, Selection* out_selection) {
  out_selection->clear();
  LiteRtOpListT list;
  LITERT_TRY(plugin.Call("LiteRtCompilerPluginPartition", plugin.api().compiler_plugin_partition,
                         plugin.handle(), soc_model, subgraph, &list));
  std::unordered_map<const LiteRtOpT*, size_t> index_of;
  for (size_t i = 0; i < subgraph->ops.size(); ++i) index_of.emplace(subgraph->ops[i].get(), i);
  for (const LiteRtOpListT::Entry& entry : list.entries) {
    const auto found = index_of.find(entry.op);
    if (found == index_of.end()) {
      return plugin.Refuse(kLiteRtStatusErrorInvalidGraphInvariant,
                           "LiteRtCompilerPluginPartition selected an operator that is not in the "
                           "subgraph");
    }
    const std::string name = "operator " + std::to_string(found->second) + " with code " +
                             std::to_string(entry.op->code);
    if (const char* const obstacle = FindObstacle(model, entry.op)) {
      Log(kLiteRtLogSeverityInfo, "compiler plug-in '%s': %s is not compiled: %s",
          plugin.manufacturer().c_str(), name.c_str(), obstacle);
      continue;
    }
    if (!out_selection->insert_or_assign(entry.op, entry.partition).second) {
      Log(kLiteRtLogSeverityWarning, "compiler plug-in '%s': %s is selected twice",
          plugin.manufacturer().c_str(), name.c_str());
    }
  }
  return kLiteRtStatusOk;
}

// ---- Groups -------------------------------------------------------------------------------------

// Returns groups of operators that follow each other and have the same number.
std::vector<Ops> GroupInOrder(const LiteRtSubgraphT& subgraph, const Selection& selection) {
  std::vector<Ops> groups;
  const LiteRtParamIndex* previous = nullptr;  // null: the previous operator is not selected
  for (const auto& op : subgraph.ops) {
    const auto found = selection.find(op.get());
    const LiteRtParamIndex* const number = found == selection.end() ? nullptr : &found->second;
    if (number != nullptr) {
      if (previous == nullptr || *previous != *number) groups.emplace_back();
      groups.back().push_back(op.get());
    }
    previous = number;
  }
  return groups;
}

// Returns the connected groups of operators with the same number.
std::vector<Ops> GroupConnected(const LiteRtSubgraphT& subgraph, const Selection& selection) {
  Ops ops;
  std::unordered_map<const LiteRtOpT*, size_t> index_of;
  for (const auto& op : subgraph.ops) {
    if (selection.count(op.get()) == 0) continue;
    index_of.emplace(op.get(), ops.size());
    ops.push_back(op.get());
  }
  std::vector<size_t> parent(ops.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto root_of = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    for (const LiteRtTensor input : ops[i]->inputs) {
      const auto producer = index_of.find(input->producer);
      if (producer == index_of.end()) continue;
      if (selection.at(input->producer) != selection.at(ops[i])) continue;
      parent[root_of(i)] = root_of(producer->second);
    }
  }
  std::vector<Ops> groups;
  std::unordered_map<size_t, size_t> group_of_root;
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto [group, is_new] = group_of_root.try_emplace(root_of(i), groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(ops[i]);
  }
  return groups;
}

// ---- Copies -------------------------------------------------------------------------------------

using TensorSet = std::unordered_set<const LiteRtTensorT*>;

// Copies the operators of a group to a subgraph of its own.
class Slice {
 public:
  // `inputs` are those of the original subgraph.
  Slice(const TensorSet& inputs, LiteRtSubgraphT* copy) : graph_inputs_(inputs), copy_(copy) {}

  // Adds an operator. Operators are added in the order of execution.
  void AddOp(const LiteRtOpT& from) {
    copy_->ops.push_back(std::make_unique<LiteRtOpT>());
    LiteRtOpT& to = *copy_->ops.back();
    to.code = from.code;
    to.CopyOptions(from);
    to.inputs = from.inputs;
    to.outputs = from.outputs;
    for (size_t i = 0; i < to.inputs.size(); ++i) {
      to.inputs[i] = Read(from.inputs[i]);
      to.inputs[i]->uses.push_back({&to, i});
    }
    for (size_t i = 0; i < to.outputs.size(); ++i) {
      to.outputs[i] = Copy(from.outputs[i]);
      to.outputs[i]->producer = &to;
      to.outputs[i]->producer_output = i;
    }
  }

  // Adds an input before the operators, whether they read it or not.
  void AddInput(LiteRtTensor tensor) { (void)Read(tensor); }
  void AddOutput(LiteRtTensor tensor) { copy_->outputs.push_back(Copy(tensor)); }

  // Tensors of the original subgraph that the copy reads.
  const std::vector<LiteRtTensor>& inputs() const { return inputs_; }

 private:
  // Returns the copy of a tensor that an operator reads: an input of the copy unless the copy
  // computes it or it is constant.
  LiteRtTensor Read(LiteRtTensor from) {
    const bool is_known = copy_of_.count(from) > 0;
    const LiteRtTensor to = Copy(from);
    const bool is_constant =
        from->producer == nullptr && !from->weights.bytes.empty() && graph_inputs_.count(from) == 0;
    if (!is_known && !is_constant) {
      inputs_.push_back(from);
      copy_->inputs.push_back(to);
    }
    return to;
  }

  // Returns the copy of a tensor. Copies the tensors with the scales of its blocks, too.
  LiteRtTensor Copy(LiteRtTensor from) {
    size_t next = copy_->tensors.size();
    const LiteRtTensor to = CopyOne(from);
    for (; next < copy_->tensors.size(); ++next) {
      LiteRtTensorT& added = *copy_->tensors[next];
      if (added.quantization != kLiteRtQuantizationBlockWise) continue;
      added.block_wise.scales = CopyOne(added.block_wise.scales);
      if (added.block_wise.zero_points == nullptr) continue;
      added.block_wise.zero_points = CopyOne(added.block_wise.zero_points);
    }
    return to;
  }

  LiteRtTensor CopyOne(LiteRtTensor from) {
    const auto [entry, is_new] = copy_of_.try_emplace(from, nullptr);
    if (!is_new) return entry->second;
    copy_->tensors.push_back(std::make_unique<LiteRtTensorT>(*from));
    const LiteRtTensor to = copy_->tensors.back().get();
    to->index = static_cast<uint32_t>(copy_->tensors.size() - 1);
    to->producer = nullptr;
    to->uses.clear();
    to->per_channel.scales = to->scales.data();
    to->per_channel.zero_points = to->zero_points.data();
    return entry->second = to;
  }

  const TensorSet& graph_inputs_;
  LiteRtSubgraphT* const copy_;
  std::unordered_map<const LiteRtTensorT*, LiteRtTensor> copy_of_;
  std::vector<LiteRtTensor> inputs_;
};

// ---- Replacement --------------------------------------------------------------------------------

// Records that a call replaces operators of a subgraph, at the position of the last one.
LiteRtStatus AddCall(const Ops& replaced, const std::vector<LiteRtTensor>& inputs,
                     const std::vector<LiteRtTensor>& outputs, LiteRtBuilderT* builder,
                     Partitions* partitions) {
  LiteRtOp call = nullptr;
  LITERT_TRY(builder->AddOp(kLiteRtOpCodeTflCustom, inputs, outputs, &call));
  call->custom_code = kDispatchOpCode;
  builder->PlaceAt(call, replaced.back());
  for (const LiteRtOp op : replaced) builder->EraseOp(op);
  partitions->calls.push_back(call);
  partitions->selected += replaced.size();
  return kLiteRtStatusOk;
}

// Returns a new subgraph for a partition.
LiteRtSubgraphT* AddSubgraph(LiteRtModelT* model) {
  model->subgraphs.push_back(std::make_unique<LiteRtSubgraphT>());
  return model->subgraphs.back().get();
}

// Copies groups of a subgraph to subgraphs of their own.
class GroupCopier {
 public:
  GroupCopier(const std::vector<Ops>& groups, const LiteRtSubgraphT& subgraph)
      : inputs_(subgraph.inputs.begin(), subgraph.inputs.end()),
        results_(subgraph.outputs.begin(), subgraph.outputs.end()) {
    for (const Ops& group : groups) {
      for (const LiteRtOpT* op : group) group_of_.emplace(op, &group);
    }
  }

  // Returns false if nothing reads the group's results, which is not copied then.
  bool Copy(const Ops& group, LiteRtModelT* model, std::vector<LiteRtTensor>* out_inputs,
            std::vector<LiteRtTensor>* out_outputs) const {
    for (const LiteRtOpT* op : group) {
      for (const LiteRtTensor output : op->outputs) {
        if (IsUsedOutside(output, group)) out_outputs->push_back(output);
      }
    }
    if (out_outputs->empty()) return false;
    Slice slice(inputs_, AddSubgraph(model));
    for (const LiteRtOpT* op : group) slice.AddOp(*op);
    for (const LiteRtTensor output : *out_outputs) slice.AddOutput(output);
    *out_inputs = slice.inputs();
    return true;
  }

 private:
  bool IsUsedOutside(const LiteRtTensorT* tensor, const Ops& group) const {
    return results_.count(tensor) > 0 ||
           std::any_of(tensor->uses.begin(), tensor->uses.end(), [&](const auto& use) {
             const auto found = group_of_.find(use.op);
             return found == group_of_.end() || found->second != &group;
           });
  }

  const TensorSet inputs_, results_;
  std::unordered_map<const LiteRtOpT*, const Ops*> group_of_;
};

// Replaces each group of a subgraph by a call.
LiteRtStatus ReplaceGroups(const std::vector<Ops>& groups, const LiteRtSubgraphT& subgraph,
                           LiteRtBuilderT* builder, Partitions* partitions) {
  const GroupCopier copier(groups, subgraph);
  for (const Ops& group : groups) {
    std::vector<LiteRtTensor> inputs, outputs;
    if (!copier.Copy(group, &partitions->model, &inputs, &outputs)) continue;
    LITERT_TRY(AddCall(group, inputs, outputs, builder, partitions));
  }
  return kLiteRtStatusOk;
}

// Replaces composites for the NPU by calls; their bodies become partitions.
LiteRtStatus ReplaceComposites(const LiteRtModelT& model, const LiteRtSubgraphT& subgraph,
                               LiteRtBuilderT* builder, Partitions* partitions) {
  for (const auto& op : subgraph.ops) {
    Composite composite;
    if (!ReadComposite(model, op.get(), &composite) || composite.name != kNpuComposite ||
        !IsPureBody(*composite.body)) {
      continue;
    }
    const LiteRtSubgraphT& body = *composite.body;
    const TensorSet inputs(body.inputs.begin(), body.inputs.end());
    Slice slice(inputs, AddSubgraph(&partitions->model));
    for (const LiteRtTensor input : body.inputs) slice.AddInput(input);
    for (const auto& inner : body.ops) slice.AddOp(*inner);
    for (const LiteRtTensor output : body.outputs) slice.AddOutput(output);
    LITERT_TRY(AddCall({op.get()}, op->inputs, op->outputs, builder, partitions));
  }
  return kLiteRtStatusOk;
}

// Returns the composites that the plug-in does not select, without those for the NPU and the CPU.
Ops FindUnselected(const LiteRtModelT& model, const LiteRtSubgraphT& subgraph,
                   const Selection& selection) {
  Ops composites;
  for (const auto& op : subgraph.ops) {
    Composite composite;
    if (selection.count(op.get()) == 0 && ReadComposite(model, op.get(), &composite) &&
        composite.name != kNpuComposite && composite.name != kCpuComposite) {
      composites.push_back(op.get());
    }
  }
  return composites;
}

LiteRtStatus PartitionSubgraph(const CompilerPlugin& plugin, const CompilerSettings& settings,
                               const char* soc_model, LiteRtModelT* model,
                               LiteRtSubgraphT* subgraph, Partitions* partitions) {
  Selection selection;
  LITERT_TRY(Select(plugin, soc_model, *model, subgraph, &selection));
  // The plug-in may support operators of a composite that it does not select.
  const Ops composites = FindUnselected(*model, *subgraph, selection);
  bool has_changed = false;
  if (!composites.empty()) {
    LITERT_TRY(InlineComposites(composites, model, subgraph, &has_changed));
  }
  if (has_changed) LITERT_TRY(Select(plugin, soc_model, *model, subgraph, &selection));
  partitions->total += subgraph->ops.size();
  const std::vector<Ops> groups =
      settings.connects ? GroupConnected(*subgraph, selection) : GroupInOrder(*subgraph, selection);
  if (settings.max_partitions > 0 && groups.size() > settings.max_partitions) {
    return plugin.Refuse(kLiteRtStatusErrorRuntimeFailure,
                         "expected at most " + std::to_string(settings.max_partitions) +
                             " partitions of a subgraph, found " + std::to_string(groups.size()));
  }
  const size_t calls = partitions->calls.size();
  LiteRtBuilderT builder(model, subgraph);
  LITERT_TRY(ReplaceGroups(groups, *subgraph, &builder, partitions));
  LITERT_TRY(ReplaceComposites(*model, *subgraph, &builder, partitions));
  return partitions->calls.size() == calls ? kLiteRtStatusOk : builder.Apply();
}

}  // namespace

LiteRtStatus PartitionModel(const CompilerPlugin& plugin, const CompilerSettings& settings,
                            const char* soc_model, LiteRtModelT* model,
                            Partitions* out_partitions) {
  out_partitions->model.bytes = model->bytes;
  const std::vector<bool> bodies = FindBodies(*model);
  for (size_t i = 0; i < model->subgraphs.size(); ++i) {
    if (bodies[i]) continue;
    LITERT_TRY(PartitionSubgraph(plugin, settings, soc_model, model, model->subgraphs[i].get(),
                                 out_partitions));
  }
  ClearUnusedBodies(bodies, model);
  return kLiteRtStatusOk;
}

LiteRtStatus CopyGroups(const CompilerPlugin& plugin, const char* soc_model,
                        const LiteRtModelT& model, LiteRtSubgraph subgraph,
                        const std::vector<bool>& is_usable, LiteRtModelT* out_model,
                        std::vector<OpGroup>* out_groups) {
  Selection selection;
  LITERT_TRY(Select(plugin, soc_model, model, subgraph, &selection));
  std::unordered_map<const LiteRtOpT*, int> index_of;
  for (size_t i = 0; i < subgraph->ops.size(); ++i) {
    index_of.emplace(subgraph->ops[i].get(), static_cast<int>(i));
    if (!is_usable[i]) selection.erase(subgraph->ops[i].get());
  }
  out_model->bytes = model.bytes;
  const std::vector<Ops> groups = GroupInOrder(*subgraph, selection);
  const GroupCopier copier(groups, *subgraph);
  for (const Ops& group : groups) {
    std::vector<LiteRtTensor> inputs, outputs;
    if (!copier.Copy(group, out_model, &inputs, &outputs)) continue;
    OpGroup& added = out_groups->emplace_back();
    for (const LiteRtOpT* op : group) added.ops.push_back(index_of.at(op));
    for (const LiteRtTensorT* tensor : inputs) {
      added.inputs.push_back(static_cast<int>(tensor->index));
    }
    for (const LiteRtTensorT* tensor : outputs) {
      added.outputs.push_back(static_cast<int>(tensor->index));
    }
  }
  return kLiteRtStatusOk;
}

}  // namespace deputy::litert
