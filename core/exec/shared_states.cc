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

bool CanUpdateInPlace(Subgraph* subgraph, int input, int output) {
  const Graph& graph = subgraph->graph();
  const std::vector<int>& plan = graph.plan();
  const auto has = [](std::span<const int> indices, int index) {
    return std::find(indices.begin(), indices.end(), index) != indices.end();
  };
  int writer = -1, last_reader = -1;
  for (int position = 0; position < static_cast<int>(plan.size()); ++position) {
    const TfLiteNode& node = *graph.node(plan[static_cast<size_t>(position)]);
    // Delegates may read inputs after they have written outputs. The policy Hot may compute nodes
    // again.
    if (node.delegate != nullptr) return false;
    const PlannedGroup* const group = subgraph->execution_plan().groups().At(position);
    const bool writes = has(IndicesOf(node.outputs), output);
    if (writes && (writer >= 0 || group != nullptr)) return false;
    if (writes) writer = position;
    if (writes || !has(IndicesOf(node.inputs), input)) continue;
    last_reader = std::max({last_reader, position, group == nullptr ? 0 : group->position()});
  }
  return writer > last_reader && WritesInPlace(graph, writer, input, output);
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
  if (!state.blocks[0].Reserve(state.bytes, 0, interpreter_->LimitsFor(bytes()))) {
    return Refuse(input.c_str(), "no memory for " + std::to_string(state.bytes) + " bytes");
  }
  std::memset(state.blocks[0].data(), 0, state.bytes);
  state.input = std::move(input);
  state.output = std::move(output);
  state.places = std::move(places);
  states_.push_back(std::move(state));
  for (const StatePlace& place : states_.back().places) {
    TF_LITE_ENSURE_STATUS(Point(place, place.input, states_.back(), 0));
    TF_LITE_ENSURE_STATUS(Point(place, place.output, states_.back(), 0));
  }
  return kTfLiteOk;
}

TfLiteStatus SharedStates::PlaceOutput(const StatePlace& place, SharedState* state) const {
  state->in_place = CanUpdateInPlace(place.subgraph, place.input, place.output);
  if (state->in_place) return Point(place, place.output, *state, state->current);
  const size_t other = 1 - state->current;
  if (!state->blocks[other].Reserve(state->bytes, 0, interpreter_->LimitsFor(bytes()))) {
    return Refuse(state->input.c_str(),
                  "no memory for " + std::to_string(state->bytes) + " bytes of the output");
  }
  return Point(place, place.output, *state, other);
}

TfLiteStatus SharedStates::BeginRun(Subgraph* subgraph) {
  for (SharedState& state : states_) {
    for (const StatePlace& place : state.places) {
      if (place.subgraph != subgraph) continue;
      for (const int index : {place.input, place.output}) {
        const size_t found = TensorAt(*subgraph, index).bytes;
        if (found == state.bytes) continue;
        return Refuse(state.input.c_str(), "subgraph " + std::to_string(subgraph->index()) +
                                               ": tensor " + std::to_string(index) + ": expected " +
                                               std::to_string(state.bytes) + " bytes, found " +
                                               std::to_string(found));
      }
      TF_LITE_ENSURE_STATUS(Point(place, place.input, state, state.current));
      TF_LITE_ENSURE_STATUS(PlaceOutput(place, &state));
    }
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
