// SPDX-License-Identifier: Apache-2.0
//
// Records tensors in a profile callback. The callback may not use the interpreter; it reads the
// tensors directly, whose addresses were looked up in advance.
#include "recorder.h"

#include "tensor_data.h"

namespace deputy::tools {

Recorder::Recorder(const Session& session) : interpreter_(session.interpreter()) {
  for (int s = 0; s < DeputyInterpreterGetSubgraphCount(interpreter_); ++s) {
    for (int t = 0; t < DeputyInterpreterGetTensorCount(interpreter_, s); ++t) {
      memory_[{s, t}] = DeputyInterpreterGetTensor(interpreter_, s, t);
    }
    for (int n = 0; n < DeputyInterpreterGetNodeCount(interpreter_, s); ++n) {
      DeputyNodeInfo info = {};
      info.struct_size = sizeof(info);
      if (DeputyInterpreterGetNodeInfo(interpreter_, s, n, &info) != kTfLiteOk) continue;
      nodes_[{s, n}] = {info.operator_name, info.owner,
                        std::vector<int>(info.outputs, info.outputs + info.output_count)};
      DeputyNodeRun run = {};
      run.struct_size = sizeof(run);
      if (DeputyInterpreterGetNodeRun(interpreter_, s, n, &run) != kTfLiteOk) continue;
      if (run.group_head >= 0) groups_[{s, run.group_head}].push_back(n);
    }
  }
  DeputyInterpreterSetProfileCallback(interpreter_, &OnEvent, this);
}

Recorder::~Recorder() { DeputyInterpreterSetProfileCallback(interpreter_, nullptr, nullptr); }

void Recorder::OnEvent(void* recorder, const DeputyOpEvent* event) {
  auto* self = static_cast<Recorder*>(recorder);
  // Tensors inside a delegate's partition are not in memory; the outputs of its node are.
  if (event->delegate_node >= 0) {
    self->Keep(event->subgraph_index, event->delegate_node);
    return;
  }
  // The event of a fusion group's head covers all fused nodes: only the output of the last one is
  // in memory, intermediate tensors are not.
  const auto group = self->groups_.find({event->subgraph_index, event->node_index});
  self->Keep(event->subgraph_index,
             group == self->groups_.end() ? event->node_index : group->second.back());
}

void Recorder::Keep(int subgraph, int node_index) {
  const auto node = nodes_.find({subgraph, node_index});
  if (node == nodes_.end()) return;
  for (const int index : node->second.outputs) {
    const auto found = memory_.find({subgraph, index});
    if (found == memory_.end() || found->second == nullptr) continue;
    const TfLiteTensor& tensor = *found->second;
    if (tensor.data.raw == nullptr || tensor.data_is_stale || !IsNumeric(tensor.type)) continue;
    const auto [place, fresh] = indices_.try_emplace({subgraph, index}, tensors_.size());
    if (fresh) tensors_.emplace_back();
    tensors_[place->second] = {subgraph,
                               index,
                               node_index,
                               NameOf(&tensor),
                               node->second.operator_name,
                               node->second.owner,
                               tensor.type,
                               tensor.params,
                               ShapeOf(&tensor),
                               std::vector<char>(tensor.data.raw, tensor.data.raw + tensor.bytes)};
  }
}

}  // namespace deputy::tools
