// SPDX-License-Identifier: Apache-2.0
#include "core/exec/node_calls.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/kernel_call.h"
#include "core/exec/int_array.h"
#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph_parts.h"
#include "core/model/op_names.h"

namespace deputy {

TfLiteStatus CheckNodeIndices(SubgraphParts* parts, int node_index) {
  TfLiteNode& node = *parts->graph.node(node_index);
  const std::pair<const char*, TfLiteIntArray**> lists[] = {
      {"inputs", &node.inputs}, {"outputs", &node.outputs}, {"temporaries", &node.temporaries}};
  TfLiteStatus status = kTfLiteOk;
  for (const auto& [what, list] : lists) {
    if (*list == nullptr) *list = MakeArray({}).release();
    for (int i = 0; i < (*list)->size; ++i) {
      int& index = (*list)->data[i];
      if (index >= kTfLiteOptionalTensor && index < parts->graph.tensor_count()) continue;
      status = Fail(parts->interpreter->reporter(), kTfLiteError,
                    "Invalid tensor index %d in %s; subgraph %d node %d: expected below %d", index,
                    what, parts->index, node_index, parts->graph.tensor_count());
      index = kTfLiteOptionalTensor;  // the kernel's value was out of range
    }
  }
  return status;
}

ForeignCall CallOf(SubgraphParts* parts, Callback callback, int node_index) {
  return {.callback = callback,
          .context = &parts->context,
          .node = node_index,
          .delegate = parts->graph.node(node_index)->delegate};
}

TfLiteStatus InitNode(SubgraphParts* parts, int node_index,
                      std::span<const uint8_t> custom_options) {
  const CallDepth depth(parts->interpreter);
  const SubgraphRun run(parts);
  // A delegate's init may be the first call that accesses nodes, which reallocates the array.
  const TfLiteRegistration registration = *parts->graph.registration(node_index);
  TfLiteNode& node = *parts->graph.node(node_index);
  const char* buffer = static_cast<const char*>(node.builtin_data);
  size_t length = 0;
  if (custom_options.data() != nullptr) {
    buffer = reinterpret_cast<const char*>(custom_options.data());
    length = custom_options.size();
  }
  if (registration.builtin_code == kTfLiteBuiltinCustom) {
    node.custom_initial_data = custom_options.data();
    node.custom_initial_data_size = static_cast<int>(custom_options.size());
  }
  parts->interpreter->failure_note().Clear();
  const CallResult result =
      CallInit(parts->interpreter->call_observer(), CallOf(parts, Callback::kInit, node_index),
               registration, buffer, length);
  if (result.user_data != TfLiteKernelInitFailed()) {
    parts->graph.node(node_index)->user_data = result.user_data;
    return kTfLiteOk;
  }
  if (result.exception != nullptr) parts->interpreter->failure_note().Set(result.exception);
  const std::string reason = parts->interpreter->failure_note().Take();
  return Fail(parts->interpreter->reporter(), kTfLiteError,
              "Failed to initialize kernel.; subgraph %d node %d %s%s%s", parts->index, node_index,
              OperatorName(registration), reason.empty() ? "" : ": ", reason.c_str());
}

void FreeNode(SubgraphParts* parts, int node_index) {
  const CallDepth depth(parts->interpreter);
  const SubgraphRun run(parts);
  TfLiteNode& node = *parts->graph.node(node_index);
  const TfLiteRegistration& registration = *parts->graph.registration(node_index);
  // The kernel's free is called last; by contract neither arrays nor builtin data exist then.
  TfLiteIntArrayFree(node.inputs);
  TfLiteIntArrayFree(node.outputs);
  TfLiteIntArrayFree(node.intermediates);
  TfLiteIntArrayFree(node.temporaries);
  free(node.builtin_data);
  node.inputs = node.outputs = node.intermediates = node.temporaries = nullptr;
  node.builtin_data = nullptr;
  if (node.user_data != nullptr) {
    CallFree(parts->interpreter->call_observer(), CallOf(parts, Callback::kFree, node_index),
             registration, node.user_data);
  }
  if (Observer* observer = parts->interpreter->observer()) {
    observer->NodeFreed(parts->subgraph, node_index, registration, node.user_data);
  }
  node.user_data = nullptr;
}

TfLiteStatus ReportNodeFailure(SubgraphParts* parts, int node_index, TfLiteStatus status,
                               const char* phase) {
  const TfLiteRegistration& failed = *parts->graph.registration(node_index);
  const char* name = OperatorName(failed);
  const std::string reason = parts->interpreter->failure_note().Take();
  ErrorReporter* reporter = parts->interpreter->reporter();
  if (IsUnresolvedCustomOp(failed)) {
    const char* hint = strncmp(name, "Flex", 4) == 0
                           ? "Select TensorFlow op(s), included in the given model, is(are) not "
                             "supported by this interpreter."
                           : "Register it, or apply a delegate that supports it.";
    return Fail(reporter, status, "Encountered unresolved custom op: %s.\n%s; subgraph %d node %d",
                name, hint, parts->index, node_index);
  }
  const std::string detail = reason.empty()
                                 ? ""
                                 : "; subgraph " + std::to_string(parts->index) + " node " +
                                       std::to_string(node_index) + " " + name + ": " + reason;
  return Fail(reporter, status, "Node number %d (%s) %s%s", node_index, name, phase,
              detail.c_str());
}

}  // namespace deputy
