// SPDX-License-Identifier: Apache-2.0
//
// State that signatures share: the functions of deputy_state.h.
#include "c_api/include/deputy_state.h"

#include <algorithm>
#include <string>
#include <vector>

#include "c_api/src/graph_access.h"
#include "c_api/src/struct_io.h"

using deputy::Guard;
using deputy::IdleInterpreter;
using deputy::Interpreter;
using deputy::RefuseArgument;
using deputy::SharedState;
using deputy::StatePlace;

namespace {

// Returns the index of the tensor with this name, -1 if there is none.
int FindTensor(const std::vector<deputy::SignatureTensorDesc>& tensors, const char* name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [name](const auto& tensor) {
    return tensor.name == std::string(name);
  });
  return found == tensors.end() ? -1 : static_cast<int>(found->tensor_index);
}

// Returns the tensors of each signature that has both names, without duplicates.
std::vector<StatePlace> FindPlaces(Interpreter* interpreter, const char* input,
                                   const char* output) {
  std::vector<StatePlace> places;
  for (size_t i = 0; i < interpreter->signatures().count(); ++i) {
    const deputy::SignatureDesc& signature = interpreter->signatures().at(i);
    const auto index = static_cast<int>(signature.subgraph_index);
    if (index >= interpreter->subgraph_count()) continue;
    deputy::Subgraph* const subgraph = interpreter->subgraph(index);
    const StatePlace place = {subgraph, FindTensor(signature.inputs, input),
                              FindTensor(signature.outputs, output)};
    const bool is_known = std::any_of(places.begin(), places.end(), [&](const StatePlace& other) {
      return other.subgraph == subgraph && other.input == place.input &&
             other.output == place.output;
    });
    if (place.input >= 0 && place.output >= 0 && !is_known) places.push_back(place);
  }
  return places;
}

}  // namespace

TfLiteStatus DeputyInterpreterShareState(TfLiteInterpreter* interpreter, const char* input_name,
                                         const char* output_name) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    if (impl == nullptr) return kTfLiteError;
    if (input_name == nullptr || output_name == nullptr) {
      return RefuseArgument(impl->primary(), function, "two names, found NULL");
    }
    if (impl->background_plans() != nullptr) {
      return RefuseArgument(impl->primary(), function,
                            "no delegates that are prepared in the background");
    }
    return impl->shared_states().Add(input_name, output_name,
                                     FindPlaces(impl, input_name, output_name));
  });
}

int32_t DeputyInterpreterGetSharedStateCount(const TfLiteInterpreter* interpreter) {
  return interpreter == nullptr
             ? 0
             : static_cast<int32_t>(interpreter->impl->shared_states().states().size());
}

TfLiteStatus DeputyInterpreterGetSharedState(const TfLiteInterpreter* interpreter, int32_t index,
                                             DeputySharedState* state) {
  if (index < 0 || index >= DeputyInterpreterGetSharedStateCount(interpreter)) return kTfLiteError;
  const SharedState& found =
      interpreter->impl->shared_states().states()[static_cast<size_t>(index)];
  DeputySharedState full{};
  full.input_name = found.input.c_str();
  full.output_name = found.output.c_str();
  full.data = found.data();
  full.bytes = found.bytes;
  full.memory_bytes = found.memory_bytes();
  full.subgraph_count = static_cast<int32_t>(found.places.size());
  full.in_place = found.in_place ? 1 : 0;
  return deputy::WriteStruct(full, state);
}

TfLiteStatus DeputyInterpreterResetSharedStates(TfLiteInterpreter* interpreter) {
  const char* const function = __func__;
  return Guard(kTfLiteError, [&] {
    Interpreter* const impl = IdleInterpreter(interpreter, function);
    if (impl == nullptr) return kTfLiteError;
    impl->shared_states().Reset();
    return kTfLiteOk;
  });
}
