// SPDX-License-Identifier: Apache-2.0
#include "core/exec/steps.h"

#include <algorithm>
#include <utility>

namespace deputy {
namespace {

// Composes two clamps into one.
void ClampAlso(float low, float high, float* out_low, float* out_high) {
  *out_low = std::min(std::max(*out_low, low), high);
  *out_high = std::min(std::max(*out_high, low), high);
}

class Pass {
 public:
  Pass(std::span<const StepNode> nodes, std::span<const StepTensor> tensors)
      : nodes_(nodes),
        tensors_(tensors),
        maker_(MakersOf(nodes, tensors.size())),
        reader_(tensors.size(), -1),
        taken_(nodes.size()) {
    for (size_t n = 0; n < nodes.size(); ++n) {
      for (int tensor : nodes[n].inputs) {
        if (tensor >= 0) reader_[static_cast<size_t>(tensor)] = static_cast<int>(n);
      }
    }
  }

  std::vector<Step> Run() {
    std::vector<Step> steps;
    for (const bool late : {false, true}) {
      late_ = late;
      AddSteps(&steps);
    }
    std::sort(steps.begin(), steps.end(),
              [](const Step& a, const Step& b) { return a.head < b.head; });
    return steps;
  }

 private:
  // Adds the groups of heads that are in none yet.
  void AddSteps(std::vector<Step>* steps) {
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n) {
      if (RoleOf(n) != StepRole::kHead) continue;
      Step step = StepOf(n);
      if (step.nodes.size() < 2) continue;
      std::sort(step.nodes.begin(), step.nodes.end());
      for (int node : step.nodes) taken_[static_cast<size_t>(node)] = true;
      steps->push_back(std::move(step));
    }
  }

  const StepNode& NodeAt(int n) const { return nodes_[static_cast<size_t>(n)]; }
  const StepTensor& TensorAt(int index) const { return tensors_[static_cast<size_t>(index)]; }

  // Returns the node's role; kNone unless it has exactly one output that a group may write.
  StepRole RoleOf(int n) const {
    if (n < 0 || taken_[static_cast<size_t>(n)]) return StepRole::kNone;
    const StepNode& node = NodeAt(n);
    if (node.offer == nullptr || node.inputs.empty() || node.outputs.size() != 1 ||
        node.outputs[0] < 0 || TensorAt(node.outputs[0]).fixed ||
        TensorAt(node.outputs[0]).lasting) {
      return StepRole::kNone;
    }
    return node.offer->role;
  }

  // Only the next node of the group reads it, so it need not be stored.
  bool CanVanish(int tensor) const {
    return tensor >= 0 && !TensorAt(tensor).fixed && TensorAt(tensor).readers == 1;
  }

  bool IsThereFor(int turn, int tensor) const {
    if (tensor < 0 || TensorAt(tensor).fixed) return false;
    return TensorAt(tensor).lasting || maker_[static_cast<size_t>(tensor)] < turn;
  }

  // Returns the PAD that computes the tensor, if that has a single consumer; or -1.
  int PadBehind(int tensor, int turn) const {
    if (!CanVanish(tensor)) return -1;
    const int pad = maker_[static_cast<size_t>(tensor)];
    const bool near = std::abs(turn - pad) <= kMaxStepSpan;
    return RoleOf(pad) == StepRole::kPad && near && IsThereFor(turn, NodeAt(pad).inputs[0]) ? pad
                                                                                            : -1;
  }

  Step StepOf(int head) {
    Step step = {.head = head, .nodes = {head}, .run = {}};
    step.run.output = NodeAt(head).outputs[0];
    TakeMargins(&step);
    TakeFactors(&step);
    while (TakeFollower(&step)) {
    }
    return step;
  }

  void TakeMargins(Step* step) const {
    const StepNode& head = NodeAt(step->head);
    if (!head.offer->takes_margins) return;
    const int pad = PadBehind(head.inputs[0], step->head);
    if (pad < 0 || NodeAt(pad).offer->margins.channels != 0) return;
    step->run.input = NodeAt(pad).inputs[0];
    step->run.margins = NodeAt(pad).offer->margins;
    step->nodes.push_back(pad);
  }

  // Absorbs a MUL by factors whose only consumer is the head.
  void TakeFactors(Step* step) const {
    const StepNode& head = NodeAt(step->head);
    if (!head.offer->takes_factors || !CanVanish(head.inputs[0])) return;
    const int n = maker_[static_cast<size_t>(head.inputs[0])];
    if (RoleOf(n) != StepRole::kScale || step->head - n > kMaxStepSpan) return;
    const StepNode& scale = NodeAt(n);
    const int channels = TensorAt(head.inputs[0]).channels;
    for (const size_t image : {0, 1}) {
      const int values = scale.inputs[image], factors = scale.inputs[1 - image];
      if ((scale.offer->matching_inputs >> image & 1) == 0 || !IsThereFor(step->head, values) ||
          !IsThereFor(step->head, factors) || TensorAt(factors).elements != channels ||
          TensorAt(factors).channels != channels) {
        continue;
      }
      step->run.input = values;
      step->run.factors = factors;
      step->nodes.push_back(n);
      return;
    }
  }

  // Adds the consumer of the group's output, if the group can compute it.
  bool TakeFollower(Step* step) {
    const int made = step->run.output;
    if (!CanVanish(made)) return false;
    const int n = reader_[static_cast<size_t>(made)];
    const StepRole role = RoleOf(n);
    if (role == StepRole::kNone || n - step->head > kMaxStepSpan) return false;
    const int out = NodeAt(n).outputs[0];
    if (TensorAt(out).elements != TensorAt(made).elements ||
        TensorAt(out).channels != TensorAt(made).channels || step->run.curve != StepRole::kNone ||
        !Compute(n, role, made, step)) {
      return false;
    }
    step->nodes.push_back(n);
    step->run.output = out;
    return true;
  }

  bool Compute(int n, StepRole role, int made, Step* step) const {
    const StepNode& node = NodeAt(n);
    StepRun& run = step->run;
    switch (role) {
      case StepRole::kClamp:
        if (run.addend < 0) {
          ClampAlso(node.offer->low, node.offer->high, &run.low, &run.high);
        } else {
          ClampAlso(node.offer->low, node.offer->high, &run.sum_low, &run.sum_high);
        }
        return true;
      case StepRole::kSum:
        return AddUp(n, made, step);
      case StepRole::kPrelu:
        run.slopes = node.inputs.size() == 2 && node.inputs[0] == made ? node.inputs[1] : -1;
        if (!IsThereFor(step->turn(), run.slopes) ||
            TensorAt(run.slopes).elements != TensorAt(made).channels ||
            TensorAt(run.slopes).channels != TensorAt(made).channels) {
          run.slopes = -1;
          return false;
        }
        run.curve = role;
        return true;
      case StepRole::kHardSwish:
        run.curve = role;
        return true;
      default:
        return false;
    }
  }

  bool AddUp(int n, int made, Step* step) const {
    const StepNode& node = NodeAt(n);
    const int turn = late_ ? n : step->turn();
    StepRun& run = step->run;
    if (run.addend >= 0 || node.inputs.size() != 2 || node.offer->matching_inputs != 3)
      return false;
    const bool made_first = node.inputs[0] == made;
    const int other = node.inputs[made_first ? 1 : 0];
    if (other < 0 || TensorAt(other).channels != TensorAt(made).channels) return false;
    const int pad = PadBehind(other, turn);
    if (pad >= 0 && !NodeAt(pad).offer->margins.any_around()) {
      run.addend = NodeAt(pad).inputs[0];
      step->nodes.push_back(pad);
    } else if (IsThereFor(turn, other)) {
      run.addend = other;
    } else {
      return false;
    }
    step->wait = turn - step->head;
    run.sum_low = node.offer->low;
    run.sum_high = node.offer->high;
    run.scales = node.offer->scales;
    if (!made_first) std::swap(run.scales.factors[0], run.scales.factors[1]);
    return true;
  }

  std::span<const StepNode> nodes_;
  std::span<const StepTensor> tensors_;
  std::vector<int> maker_, reader_;  // by tensor: the last node that writes or reads it
  std::vector<bool> taken_;          // by node: already in a group
  bool late_ = false;                // groups may be delayed
};

bool Overlap(const StepMemory& a, const StepMemory& b) {
  const auto start_a = reinterpret_cast<uintptr_t>(a.data);
  const auto start_b = reinterpret_cast<uintptr_t>(b.data);
  return start_a < start_b + b.bytes && start_b < start_a + a.bytes;
}

}  // namespace

std::vector<int> MakersOf(std::span<const StepNode> nodes, size_t tensors) {
  std::vector<int> makers(tensors, -1);
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (int output : nodes[n].outputs) {
      if (output >= 0) makers[static_cast<size_t>(output)] = static_cast<int>(n);
    }
  }
  return makers;
}

std::vector<Step> FindSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors) {
  return Pass(nodes, tensors).Run();
}

std::vector<StepRead> ReadsOf(const StepRun& run, const StepNode& head,
                              std::span<const StepTensor> tensors) {
  std::vector<StepRead> reads;
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
  std::erase_if(reads, [](const StepRead& read) { return read.tensor < 0; });
  return reads;
}

bool StepFits(std::span<const StepRead> reads, int output,
              const std::function<StepMemory(int tensor)>& memory) {
  const StepMemory out = memory(output);
  return std::all_of(reads.begin(), reads.end(), [&](const StepRead& read) {
    const StepMemory in = memory(read.tensor);
    const bool same = in.data == out.data && in.bytes == out.bytes;
    return !Overlap(in, out) || (same && read.in_place);
  });
}

void PlanSteps::ForgetFrom(int position) {
  std::erase_if(steps_, [position](const Step& step) { return step.nodes.back() >= position; });
  std::fill(places_.begin(), places_.end(), Place());
  for (size_t i = 0; i < steps_.size(); ++i) MarkPlaces(i);
}

// Strong exception guarantee: resizing comes first.
void PlanSteps::Add(PlannedStep step, size_t plan_size) {
  if (places_.size() < plan_size) places_.resize(plan_size);
  steps_.push_back(std::move(step));
  MarkPlaces(steps_.size() - 1);
}

void PlanSteps::MarkPlaces(size_t number) {
  for (int node : steps_[number].nodes) {
    places_[static_cast<size_t>(node)] = {static_cast<int>(number), State::kOpen};
  }
}

const PlannedStep* PlanSteps::At(int position) const {
  if (static_cast<size_t>(position) >= places_.size()) return nullptr;
  const int step = places_[static_cast<size_t>(position)].step;
  return step < 0 ? nullptr : &steps_[static_cast<size_t>(step)];
}

PlannedStep* PlanSteps::WithTurn(int position) {
  const PlannedStep* const step = At(position);
  return step == nullptr || step->turn() != position
             ? nullptr
             : &steps_[static_cast<size_t>(places_[static_cast<size_t>(position)].step)];
}

}  // namespace deputy
