// SPDX-License-Identifier: Apache-2.0
#include "core/exec/shared_states.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/fusion/in_place.h"

namespace deputy {
namespace {

const TfLiteTensor& TensorAt(const Subgraph& subgraph, int index) {
  return subgraph.graph().tensors()[static_cast<size_t>(index)];
}

bool IsMovable(const TfLiteTensor& tensor) {
  switch (tensor.type) {
    case kTfLiteNoType:
    case kTfLiteString:
    case kTfLiteResource:
    case kTfLiteVariant:
      return false;
    default:
      break;
  }
  return tensor.bytes > 0 &&
         (tensor.allocation_type == kTfLiteArenaRw || tensor.allocation_type == kTfLiteCustom);
}

TfLiteStatus Point(const StatePlace& place, int tensor, const SharedState& state, size_t block) {
  const TfLiteCustomAllocation allocation = {state.blocks[block].data(), state.bytes};
  return place.subgraph->SetCustomAllocation(tensor, allocation, kTfLiteCustomAllocationFlagsNone);
}

// Returns true if the node at this position of the plan may write the output into the memory of the
// input.
bool WritesInPlace(const Graph& graph, int position, int input, int output) {
  const int node_index = graph.plan()[static_cast<size_t>(position)];
  const TfLiteNode& node = *graph.node(node_index);
  const std::span<const int> inputs = IndicesOf(node.inputs), outputs = IndicesOf(node.outputs);
  const auto from = std::find(inputs.begin(), inputs.end(), input);
  const auto to = std::find(outputs.begin(), outputs.end(), output);
  return from != inputs.end() && std::count(inputs.begin(), inputs.end(), input) == 1 &&
         MaskAllows(graph.registration(node_index)->inplace_operator,
                    static_cast<int>(from - inputs.begin()),
                    static_cast<int>(to - outputs.begin()));
}

}  // namespace

std::vector<bool> FindInPlace(const Subgraph& subgraph, std::span<const StatePlace> places) {
  const Graph& graph = subgraph.graph();
  const std::vector<int>& plan = graph.plan();
  struct Use {
    int writer = -1, last_reader = -1;  // positions in the plan
    bool is_refused = false;
  };
  std::vector<Use> uses(places.size());
  std::vector<int> by_input(graph.tensors().size(), -1), by_output = by_input;
  for (size_t i = 0; i < places.size(); ++i) {
    by_input[static_cast<size_t>(places[i].input)] = static_cast<int>(i);
    by_output[static_cast<size_t>(places[i].output)] = static_cast<int>(i);
  }
  const auto use_of = [&uses](const std::vector<int>& by_tensor, int tensor) -> Use* {
    const int place = tensor < 0 ? -1 : by_tensor[static_cast<size_t>(tensor)];
    return place < 0 ? nullptr : &uses[static_cast<size_t>(place)];
  };
  for (int position = 0; position < static_cast<int>(plan.size()); ++position) {
    const TfLiteNode& node = *graph.node(plan[static_cast<size_t>(position)]);
    // Delegates may read inputs after they have written outputs, and Hot computes nodes again.
    if (node.delegate != nullptr) return std::vector<bool>(places.size());
    const PlannedGroup* const group = subgraph.execution_plan().groups().At(position);
    for (const int index : IndicesOf(node.outputs)) {
      Use* const use = use_of(by_output, index);
      if (use == nullptr) continue;
      use->is_refused = use->is_refused || use->writer >= 0 || group != nullptr;
      use->writer = position;
    }
    for (const int index : IndicesOf(node.inputs)) {
      Use* const use = use_of(by_input, index);
      if (use == nullptr || use->writer == position) continue;
      const int read_at = group == nullptr ? position : std::max(position, group->position());
      use->last_reader = std::max(use->last_reader, read_at);
    }
  }
  std::vector<bool> in_place(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    in_place[i] = !uses[i].is_refused && uses[i].writer > uses[i].last_reader &&
                  WritesInPlace(graph, uses[i].writer, places[i].input, places[i].output);
  }
  return in_place;
}

size_t SharedStates::bytes() const {
  size_t total = 0;
  for (const SharedState& state : states_) total += state.memory_bytes();
  return total;
}

TfLiteStatus SharedStates::Refuse(const char* input, const std::string& problem) const {
  return Fail(interpreter_->reporter(), kTfLiteError, "state '%s': %s", input, problem.c_str());
}

std::string SharedStates::FindProblem(const std::vector<StatePlace>& places) const {
  if (places.empty()) return "expected a signature with this input and output";
  const TfLiteTensor& first = TensorAt(*places[0].subgraph, places[0].input);
  for (const StatePlace& place : places) {
    if (std::count_if(places.begin(), places.end(), [&](const StatePlace& other) {
          return other.subgraph == place.subgraph;
        }) > 1) {
      return "expected the same tensors in all signatures of subgraph " +
             std::to_string(place.subgraph->index());
    }
    const auto has = [](const std::vector<int>& indices, int index) {
      return std::find(indices.begin(), indices.end(), index) != indices.end();
    };
    const Graph& graph = place.subgraph->graph();
    if (!has(graph.inputs(), place.input) || !has(graph.outputs(), place.output)) {
      return "expected an input and an output of subgraph " +
             std::to_string(place.subgraph->index());
    }
    if (has(graph.outputs(), place.input)) {
      return "expected an input that is no output of subgraph " +
             std::to_string(place.subgraph->index());
    }
    for (const int index : {place.input, place.output}) {
      const std::string where = "subgraph " + std::to_string(place.subgraph->index()) +
                                ": tensor " + std::to_string(index) + " '" +
                                NameOf(TensorAt(*place.subgraph, index)) + "': ";
      const TfLiteTensor& tensor = TensorAt(*place.subgraph, index);
      if (!IsMovable(tensor)) return where + "expected memory of a fixed size";
      if (tensor.type != first.type || TfLiteIntArrayEqual(tensor.dims, first.dims) == 0) {
        return where + "expected the type and shape of the first input";
      }
    }
    for (const SharedState& state : states_) {
      const bool is_used =
          std::any_of(state.places.begin(), state.places.end(), [&](const StatePlace& other) {
            return other.subgraph == place.subgraph &&
                   (other.input == place.input || other.output == place.output);
          });
      if (is_used)
        return "expected tensors of no other state, found those of '" + state.input + "'";
    }
  }
  return "";
}

TfLiteStatus SharedStates::Add(std::string input, std::string output,
                               std::vector<StatePlace> places) {
  const std::string problem = FindProblem(places);
  if (!problem.empty()) return Refuse(input.c_str(), problem);
  SharedState state;
  state.bytes = TensorAt(*places[0].subgraph, places[0].input).bytes;
  if (!state.blocks[0].Reserve(state.bytes, 0, interpreter_->LimitsFor(0))) {
    return Refuse(input.c_str(), "no memory for " + std::to_string(state.bytes) + " bytes");
  }
  std::memset(state.blocks[0].data(), 0, state.bytes);
  state.input = std::move(input);
  state.output = std::move(output);
  state.places = std::move(places);
  states_.push_back(std::move(state));
  for (const StatePlace& place : states_.back().places) {
    place.subgraph->parts().has_shared_states = true;
    TF_LITE_ENSURE_STATUS(Point(place, place.input, states_.back(), 0));
    TF_LITE_ENSURE_STATUS(Point(place, place.output, states_.back(), 0));
  }
  return kTfLiteOk;
}

bool SharedStates::Has(const Subgraph* subgraph, int tensor) const {
  for (const SharedState& state : states_) {
    for (const StatePlace& place : state.places) {
      const bool is_tensor = place.input == tensor || place.output == tensor;
      if (place.subgraph == subgraph && is_tensor) return true;
    }
  }
  return false;
}

TfLiteStatus SharedStates::PlaceAgain(Subgraph* subgraph) {
  for (const SharedState& state : states_) {
    for (const StatePlace& place : state.places) {
      if (place.subgraph != subgraph) continue;
      TF_LITE_ENSURE_STATUS(Point(place, place.input, state, state.current));
      TF_LITE_ENSURE_STATUS(Point(place, place.output, state, state.current));
    }
  }
  return kTfLiteOk;
}

TfLiteStatus SharedStates::PlaceOutput(const StatePlace& place, SharedState* state) const {
  if (state->in_place) return Point(place, place.output, *state, state->current);
  const size_t other = 1 - state->current;
  if (!state->blocks[other].Reserve(state->bytes, 0, interpreter_->LimitsFor(0))) {
    return Refuse(state->input.c_str(),
                  "no memory for " + std::to_string(state->bytes) + " bytes of the output");
  }
  return Point(place, place.output, *state, other);
}

TfLiteStatus SharedStates::BeginRun(Subgraph* subgraph) {
  std::vector<SharedState*> used;
  std::vector<StatePlace> places;
  for (SharedState& state : states_) {
    for (const StatePlace& place : state.places) {
      if (place.subgraph != subgraph) continue;
      TF_LITE_ENSURE_STATUS(CheckSize(place, state));
      used.push_back(&state);
      places.push_back(place);
    }
  }
  if (used.empty()) return kTfLiteOk;
  const std::vector<bool> in_place = FindInPlace(*subgraph, places);
  for (size_t i = 0; i < used.size(); ++i) {
    used[i]->in_place = in_place[i];
    TF_LITE_ENSURE_STATUS(Point(places[i], places[i].input, *used[i], used[i]->current));
    TF_LITE_ENSURE_STATUS(PlaceOutput(places[i], used[i]));
  }
  return kTfLiteOk;
}

TfLiteStatus SharedStates::CheckSize(const StatePlace& place, const SharedState& state) const {
  for (const int index : {place.input, place.output}) {
    const size_t found = TensorAt(*place.subgraph, index).bytes;
    if (found == state.bytes) continue;
    return Refuse(state.input.c_str(), "subgraph " + std::to_string(place.subgraph->index()) +
                                           ": tensor " + std::to_string(index) + ": expected " +
                                           std::to_string(state.bytes) + " bytes, found " +
                                           std::to_string(found));
  }
  return kTfLiteOk;
}

void SharedStates::EndRun(Subgraph* subgraph) {
  for (SharedState& state : states_) {
    const bool has_run = std::any_of(state.places.begin(), state.places.end(),
                                     [&](const auto& at) { return at.subgraph == subgraph; });
    if (!has_run || state.in_place) continue;
    state.current = 1 - state.current;
    for (const StatePlace& place : state.places) {
      (void)Point(place, place.input, state, state.current);
    }
  }
}

void SharedStates::Reset() {
  for (SharedState& state : states_) std::memset(state.data(), 0, state.bytes);
}

}  // namespace deputy
