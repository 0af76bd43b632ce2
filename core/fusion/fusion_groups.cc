// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fusion_groups.h"

#include <algorithm>
#include <utility>

namespace deputy {
namespace {

// Composes two clamps into one.
void ComposeClamp(float low, float high, float* out_low, float* out_high) {
  *out_low = std::min(std::max(*out_low, low), high);
  *out_high = std::min(std::max(*out_high, low), high);
}

class Pass {
 public:
  Pass(std::span<const GroupNode> nodes, std::span<const PlanTensor> tensors)
      : nodes_(nodes),
        tensors_(tensors),
        producer_(ProducersOf(nodes, tensors.size())),
        consumer_(tensors.size(), -1),
        grouped_(nodes.size()) {
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (int tensor : nodes[n].inputs) {
        if (tensor >= 0) consumer_[static_cast<size_t>(tensor)] = static_cast<int>(n);
      }
    }
  }

  std::vector<FusionGroup> Run() {
    std::vector<FusionGroup> groups;
    for (const bool delayed : {false, true}) {
      delayed_ = delayed;
      AddGroups(&groups);
    }
    std::sort(groups.begin(), groups.end(),
              [](const FusionGroup& a, const FusionGroup& b) { return a.head < b.head; });
    return groups;
  }

 private:
  // Adds the groups of heads that are in no group yet.
  void AddGroups(std::vector<FusionGroup>* groups) {
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n) {
      if (RoleOf<HeadRole>(n) == nullptr) continue;
      FusionGroup group = BuildGroup(n);
      if (group.nodes.size() < 2) continue;
      std::sort(group.nodes.begin(), group.nodes.end());
      for (int node : group.nodes) grouped_[static_cast<size_t>(node)] = true;
      groups->push_back(std::move(group));
    }
  }

  const GroupNode& NodeAt(int n) const { return nodes_[static_cast<size_t>(n)]; }
  const PlanTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }

  // Returns the node's role of that kind; null if the node has another role, is in a group, has no
  // inputs, or does not have exactly one output that a group may write.
  template <typename Role>
  const Role* RoleOf(int n) const {
    if (n < 0 || grouped_[static_cast<size_t>(n)]) return nullptr;
    const GroupNode& node = NodeAt(n);
    if (node.inputs.empty() || node.outputs.size() != 1 || node.outputs[0] < 0 ||
        TensorAt(node.outputs[0]).fixed || TensorAt(node.outputs[0]).computed_once) {
      return nullptr;
    }
    return node.role<Role>();
  }

  // Returns true if only the next node of the group reads the tensor, so that it need not be
  // stored.
  bool HasSingleConsumer(int tensor) const {
    return tensor >= 0 && !TensorAt(tensor).fixed && TensorAt(tensor).use_count == 1;
  }

  bool IsAvailableAt(int position, int tensor) const {
    if (tensor < 0 || TensorAt(tensor).fixed) return false;
    return TensorAt(tensor).computed_once || producer_[static_cast<size_t>(tensor)] < position;
  }

  // Returns false if the head reads a fixed tensor, which a later node may change.
  bool CanBeDelayed(int head) const {
    return std::none_of(NodeAt(head).inputs.begin(), NodeAt(head).inputs.end(),
                        [this](int tensor) { return tensor >= 0 && TensorAt(tensor).fixed; });
  }

  // Returns the PAD that computes the tensor, if a group that runs at `position` can absorb it;
  // else -1.
  int FindPad(int tensor, int position) const {
    if (!HasSingleConsumer(tensor)) return -1;
    const int pad = producer_[static_cast<size_t>(tensor)];
    const bool near = std::abs(position - pad) <= kMaxGroupSpan;
    return RoleOf<PadRole>(pad) != nullptr && near && IsAvailableAt(position, NodeAt(pad).inputs[0])
               ? pad
               : -1;
  }

  FusionGroup BuildGroup(int head) {
    FusionGroup group = {.head = head, .nodes = {head}, .run = LayerRun()};
    group.layer().output = NodeAt(head).outputs[0];
    AbsorbPad(&group);
    AbsorbFactors(&group);
    while (AppendFollower(&group)) {
    }
    return group;
  }

  void AbsorbPad(FusionGroup* group) const {
    const GroupNode& head = NodeAt(group->head);
    if (!head.role<HeadRole>()->absorbs_padding) return;
    const int pad = FindPad(head.inputs[0], group->head);
    if (pad < 0 || MarginsOf(pad).channels != 0) return;
    group->layer().input = NodeAt(pad).inputs[0];
    group->layer().margins = MarginsOf(pad);
    group->nodes.push_back(pad);
  }
  const ImagePadding& MarginsOf(int pad) const { return NodeAt(pad).role<PadRole>()->margins; }

  // Absorbs a MUL by factors whose only consumer is the head.
  void AbsorbFactors(FusionGroup* group) const {
    const GroupNode& head = NodeAt(group->head);
    if (!head.role<HeadRole>()->absorbs_factors || !HasSingleConsumer(head.inputs[0])) return;
    const int n = producer_[static_cast<size_t>(head.inputs[0])];
    const ScaleRole* const scale = RoleOf<ScaleRole>(n);
    if (scale == nullptr || group->head - n > kMaxGroupSpan) return;
    const std::span<const int> inputs = NodeAt(n).inputs;
    const int channels = TensorAt(head.inputs[0]).channels;
    for (const size_t image : {0, 1}) {
      const int values = inputs[image], factors = inputs[1 - image];
      if ((scale->matching_inputs >> image & 1) == 0 || !IsAvailableAt(group->head, values) ||
          !IsAvailableAt(group->head, factors) || TensorAt(factors).elements != channels ||
          TensorAt(factors).channels != channels) {
        continue;
      }
      group->layer().input = values;
      group->layer().factors = factors;
      group->nodes.push_back(n);
      return;
    }
  }

  // Adds the consumer of the group's output, if the group can compute it.
  bool AppendFollower(FusionGroup* group) {
    const int output = group->layer().output;
    if (!HasSingleConsumer(output)) return false;
    const int n = consumer_[static_cast<size_t>(output)];
    if (n < 0 || n - group->head > kMaxGroupSpan) return false;
    const int out = NodeAt(n).outputs.size() == 1 ? NodeAt(n).outputs[0] : -1;
    if (out < 0 || TensorAt(out).elements != TensorAt(output).elements ||
        TensorAt(out).channels != TensorAt(output).channels ||
        group->layer().activation != LayerRun::Activation::kNone || !AppendOperation(n, group)) {
      return false;
    }
    group->nodes.push_back(n);
    group->layer().output = out;
    return true;
  }

  bool AppendOperation(int n, FusionGroup* group) const {
    LayerRun& run = group->layer();
    if (const auto* const clamp = RoleOf<ClampRole>(n)) {
      const bool has_sum = run.addend >= 0;
      ComposeClamp(clamp->low, clamp->high, has_sum ? &run.sum_low : &run.low,
                   has_sum ? &run.sum_high : &run.high);
      return true;
    }
    if (const auto* const sum = RoleOf<SumRole>(n)) return AppendSum(n, *sum, group);
    if (RoleOf<PreluRole>(n) != nullptr) return AppendPrelu(n, group);
    if (RoleOf<HardSwishRole>(n) == nullptr) return false;
    run.activation = LayerRun::Activation::kHardSwish;
    return true;
  }

  bool AppendPrelu(int n, FusionGroup* group) const {
    const std::span<const int> inputs = NodeAt(n).inputs;
    LayerRun& run = group->layer();
    if (inputs.size() != 2 || inputs[0] != run.output) return false;
    const int channels = TensorAt(run.output).channels;
    if (!IsAvailableAt(group->position(), inputs[1]) || TensorAt(inputs[1]).elements != channels ||
        TensorAt(inputs[1]).channels != channels) {
      return false;
    }
    run.slopes = inputs[1];
    run.activation = LayerRun::Activation::kPrelu;
    return true;
  }

  bool AppendSum(int n, const SumRole& sum, FusionGroup* group) const {
    const GroupNode& node = NodeAt(n);
    const int position = delayed_ && CanBeDelayed(group->head) ? n : group->position();
    LayerRun& run = group->layer();
    if (run.addend >= 0 || node.inputs.size() != 2 || sum.matching_inputs != 3) return false;
    const bool output_first = node.inputs[0] == run.output;
    const int other = node.inputs[output_first ? 1 : 0];
    if (other < 0 || TensorAt(other).channels != TensorAt(run.output).channels) return false;
    const int pad = FindPad(other, position);
    if (pad >= 0 && !MarginsOf(pad).pads_image()) {
      run.addend = NodeAt(pad).inputs[0];
      group->nodes.push_back(pad);
    } else if (IsAvailableAt(position, other)) {
      run.addend = other;
    } else {
      return false;
    }
    group->delay = position - group->head;
    run.sum_low = sum.low;
    run.sum_high = sum.high;
    run.scales = sum.scales;
    if (!output_first) std::swap(run.scales.factors[0], run.scales.factors[1]);
    return true;
  }

  std::span<const GroupNode> nodes_;
  std::span<const PlanTensor> tensors_;
  std::vector<int> producer_, consumer_;  // by tensor: the last node that writes or reads it
  std::vector<bool> grouped_;             // by node: true if it is already in a group
  bool delayed_ = false;                  // true if groups may be delayed
};

bool Overlap(const MemoryRange& a, const MemoryRange& b) {
  const auto start_a = reinterpret_cast<uintptr_t>(a.data);
  const auto start_b = reinterpret_cast<uintptr_t>(b.data);
  return start_a < start_b + b.bytes && start_b < start_a + a.bytes;
}

}  // namespace

std::vector<int> ProducersOf(std::span<const GroupNode> nodes, size_t tensors) {
  std::vector<int> producers(tensors, -1);
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (int output : nodes[n].outputs) {
      if (output >= 0) producers[static_cast<size_t>(output)] = static_cast<int>(n);
    }
  }
  return producers;
}

std::vector<FusionGroup> FindFusionGroups(std::span<const GroupNode> nodes,
                                          std::span<const PlanTensor> tensors) {
  return Pass(nodes, tensors).Run();
}

std::vector<GroupRead> ReadsOf(const LayerRun& run, const GroupNode& head,
                               std::span<const PlanTensor> tensors) {
  std::vector<GroupRead> reads;
  for (size_t i = 0; i < head.inputs.size(); ++i) {
    reads.push_back({i == 0 && run.input >= 0 ? run.input : head.inputs[i], false});
  }
  reads.push_back({run.factors, false});
  reads.push_back({run.slopes, false});
  if (run.addend >= 0) {
    const bool whole = tensors[static_cast<size_t>(run.addend)].elements ==
                       tensors[static_cast<size_t>(run.output)].elements;
    reads.push_back({run.addend, whole});
  }
  std::erase_if(reads, [](const GroupRead& read) { return read.tensor < 0; });
  return reads;
}

bool IsAliasFree(std::span<const GroupRead> reads, int output,
                 const std::function<MemoryRange(int tensor)>& memory) {
  const MemoryRange out = memory(output);
  return std::all_of(reads.begin(), reads.end(), [&](const GroupRead& read) {
    const MemoryRange in = memory(read.tensor);
    const bool same = in.data == out.data && in.bytes == out.bytes;
    return !Overlap(in, out) || (same && read.in_place);
  });
}

void PlanGroups::ForgetFrom(int position) {
  std::erase_if(groups_,
                [position](const FusionGroup& group) { return group.nodes.back() >= position; });
  std::fill(entries_.begin(), entries_.end(), Entry());
  for (size_t i = 0; i < groups_.size(); ++i) MarkEntries(i);
}

// Adds a group. Strong exception guarantee, since resizing comes first.
void PlanGroups::Add(PlannedGroup group, size_t plan_size) {
  if (entries_.size() < plan_size) entries_.resize(plan_size);
  groups_.push_back(std::move(group));
  MarkEntries(groups_.size() - 1);
}

void PlanGroups::MarkEntries(size_t number) {
  for (int node : groups_[number].nodes) {
    entries_[static_cast<size_t>(node)] = {static_cast<int>(number), State::kOpen};
  }
}

const PlannedGroup* PlanGroups::At(int position) const {
  if (static_cast<size_t>(position) >= entries_.size()) return nullptr;
  const int group = entries_[static_cast<size_t>(position)].group;
  return group < 0 ? nullptr : &groups_[static_cast<size_t>(group)];
}

PlannedGroup* PlanGroups::RunningAt(int position) {
  const PlannedGroup* const group = At(position);
  return group == nullptr || group->position() != position
             ? nullptr
             : &groups_[static_cast<size_t>(entries_[static_cast<size_t>(position)].group)];
}

}  // namespace deputy
