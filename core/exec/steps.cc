// SPDX-License-Identifier: Apache-2.0
#include "core/exec/steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace deputy {
namespace {

bool Matches(const StepNode& node, size_t input) {
  return node.offer != nullptr && input < 32 && (node.offer->matching_inputs >> input & 1) != 0;
}

class Pass {
 public:
  Pass(std::span<const StepNode> nodes, std::span<const StepTensor> tensors)
      : nodes_(nodes),
        tensors_(tensors),
        maker_(tensors.size(), -1),
        heads_(nodes.size()),
        followers_(nodes.size(), 0) {
    std::iota(heads_.begin(), heads_.end(), 0);
  }

  std::vector<int> Run() {
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const int head = HeadFor(static_cast<int>(n));
      if (head >= 0) {
        heads_[n] = head;
        ++followers_[static_cast<size_t>(head)];
      }
      for (int output : nodes_[n].outputs) {
        if (output >= 0) maker_[static_cast<size_t>(output)] = static_cast<int>(n);
      }
    }
    return std::move(heads_);
  }

 private:
  const StepTensor& TensorOf(int index) const { return tensors_[static_cast<size_t>(index)]; }

  // The node that makes the tensor in an inference, or -1.
  int MakerOf(int tensor) const {
    return TensorOf(tensor).lasting ? -1 : maker_[static_cast<size_t>(tensor)];
  }

  // The head of that node's step, or -1.
  int StepOf(int tensor) const {
    const int maker = MakerOf(tensor);
    return maker < 0 ? -1 : heads_[static_cast<size_t>(maker)];
  }

  bool CanBeHead(int n) const {
    const StepNode& head = nodes_[static_cast<size_t>(n)];
    return head.offer != nullptr && head.offer->finishes && head.outputs.size() == 1 &&
           head.outputs[0] >= 0 && !TensorOf(head.outputs[0]).fixed &&
           followers_[static_cast<size_t>(n)] < kMaxFollowers;
  }

  // The head of the step that the node can join, or -1.
  int HeadFor(int n) const {
    const StepNode& node = nodes_[static_cast<size_t>(n)];
    if (node.offer == nullptr || node.offer->run_range == nullptr || node.outputs.size() != 1 ||
        node.outputs[0] < 0 || TensorOf(node.outputs[0]).fixed) {
      return -1;
    }
    // Of several steps, that which begins last: what the others make may be complete by then.
    int head = -1;
    for (int input : node.inputs) {
      if (input >= 0) head = std::max(head, StepOf(input));
    }
    if (head < 0 || n - head > kMaxStepSpan || !CanBeHead(head)) return -1;
    const int made = nodes_[static_cast<size_t>(head)].outputs[0];
    if (TensorOf(node.outputs[0]).elements != TensorOf(made).elements) return -1;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int input = node.inputs[i];
      if (input < 0) continue;
      if (TensorOf(input).fixed) return -1;
      const bool in_step = StepOf(input) == head;
      // A step may also run node by node: followers of another are complete in their own time.
      if (in_step ? !Matches(node, i) : MakerOf(input) >= head) return -1;
    }
    return head;
  }

  std::span<const StepNode> nodes_;
  std::span<const StepTensor> tensors_;
  std::vector<int> maker_;      // by tensor: the last node so far that makes it
  std::vector<int> heads_;      // by node
  std::vector<int> followers_;  // by head
};

bool Same(const StepMemory& a, const StepMemory& b) {
  return a.data == b.data && a.bytes == b.bytes;
}

bool Overlap(const StepMemory& a, const StepMemory& b) {
  const auto start_a = reinterpret_cast<uintptr_t>(a.data);
  const auto start_b = reinterpret_cast<uintptr_t>(b.data);
  return start_a < start_b + b.bytes && start_b < start_a + a.bytes;
}

// fine(reader, input number) for all inputs of all nodes but those that are `made`.
template <typename Fine>
bool AllReads(std::span<const StepNode> step, int made, const Fine& fine) {
  for (size_t reader = 0; reader < step.size(); ++reader) {
    for (size_t i = 0; i < step[reader].inputs.size(); ++i) {
      const int input = step[reader].inputs[i];
      if (input >= 0 && input != made && !fine(reader, i)) return false;
    }
  }
  return true;
}

bool IsMadeBehind(std::span<const StepNode> step, size_t writer, int tensor) {
  for (size_t n = writer + 1; n < step.size(); ++n) {
    if (step[n].outputs[0] == tensor) return true;
  }
  return false;
}

}  // namespace

std::vector<int> KeptInStep(std::span<const StepNode> step, size_t writer) {
  std::vector<int> kept;
  AllReads(step, step[writer].outputs[0], [&](size_t reader, size_t i) {
    // Element by element, a node may write over what it or one before it has read.
    const bool done = Matches(step[reader], i) && reader <= writer;
    if (!done) kept.push_back(step[reader].inputs[i]);
    return true;
  });
  return kept;
}

bool StepFits(std::span<const StepNode> step, const std::function<StepMemory(int tensor)>& memory) {
  for (size_t writer = 0; writer < step.size(); ++writer) {
    const StepMemory out = memory(step[writer].outputs[0]);
    const bool reads = AllReads(step, step[writer].outputs[0], [&](size_t reader, size_t i) {
      const int input = step[reader].inputs[i];
      const StepMemory in = memory(input);
      if (!Overlap(in, out)) return true;
      // What is read was written after this, or is not needed any more.
      const bool in_turn =
          IsMadeBehind(step, writer, input) || (Matches(step[reader], i) && reader <= writer);
      return Same(in, out) && in_turn;
    });
    if (!reads) return false;
    for (size_t other = 0; other < writer; ++other) {
      const StepMemory before = memory(step[other].outputs[0]);
      if (Overlap(before, out) && !Same(before, out)) return false;
    }
  }
  return true;
}

void PlanSteps::ForgetFrom(int position) {
  while (!steps_.empty() && steps_.back().positions.front() >= position) {
    for (int member : steps_.back().positions) places_[static_cast<size_t>(member)] = {};
    steps_.pop_back();
  }
  if (steps_.empty()) places_.clear();
}

// Throws before anything that counts has changed.
void PlanSteps::Add(StepPositions step, size_t plan_size, StepMemo memo) {
  if (places_.size() < plan_size) places_.resize(plan_size);
  steps_.push_back({std::move(step), std::move(memo)});
  for (int member : steps_.back().positions) {
    places_[static_cast<size_t>(member)] = {static_cast<int>(steps_.size()) - 1, false};
  }
}

const StepPositions* PlanSteps::Beginning(int position) const {
  return HeadOf(position) == position
             ? &steps_[static_cast<size_t>(places_[static_cast<size_t>(position)].step)].positions
             : nullptr;
}

int PlanSteps::HeadOf(int position) const {
  if (static_cast<size_t>(position) >= places_.size()) return -1;
  const int step = places_[static_cast<size_t>(position)].step;
  return step < 0 ? -1 : steps_[static_cast<size_t>(step)].positions.front();
}

void PlanSteps::SetDone(const StepPositions& step, bool done) {
  for (size_t i = 1; i < step.size(); ++i) places_[static_cast<size_t>(step[i])].done = done;
}

std::vector<int> FindSteps(std::span<const StepNode> nodes, std::span<const StepTensor> tensors) {
  return Pass(nodes, tensors).Run();
}

}  // namespace deputy
