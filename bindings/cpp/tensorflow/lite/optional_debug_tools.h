// SPDX-License-Identifier: Apache-2.0
//
// Prints the state of an interpreter, for debugging.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_OPTIONAL_DEBUG_TOOLS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_OPTIONAL_DEBUG_TOOLS_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "deputy/deputy.h"
#include "tensorflow/lite/core/interpreter.h"
#include "tensorflow/lite/core/subgraph.h"

namespace tflite {

inline const char* AllocTypeName(TfLiteAllocationType type) {
  switch (type) {
    case kTfLiteMemNone:
      return "kTfLiteMemNone";
    case kTfLiteMmapRo:
      return "kTfLiteMmapRo";
    case kTfLiteArenaRw:
      return "kTfLiteArenaRw";
    case kTfLiteArenaRwPersistent:
      return "kTfLiteArenaRwPersistent";
    case kTfLiteDynamic:
      return "kTfLiteDynamic";
    case kTfLitePersistentRo:
      return "kTfLitePersistentRo";
    case kTfLiteCustom:
      return "kTfLiteCustom";
    default:
      return "(unknown)";
  }
}

// Nodes that delegates run.
struct SubgraphDelegationMetadata {
  // For each node: true if a delegate replaced it, and the index of the delegate's node, or -1.
  std::vector<bool> is_node_delegated;
  std::vector<int> replaced_by_node;
  bool has_delegate_applied = false;
};

namespace debug_internal {

inline std::string List(const TfLiteIntArray* list) {
  std::string text = "[";
  for (int i = 0; list != nullptr && i < list->size; ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(list->data[i]);
  }
  return text + "]";
}

inline std::string List(const std::vector<int>& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(list[i]);
  return text + "]";
}

// Returns the name, shortened at its beginning to `width` characters, at least 4.
inline std::string Fit(const char* name, int32_t width) {
  const std::string text = name == nullptr ? "(null)" : name;
  const size_t limit = width < 4 ? 4 : static_cast<size_t>(width);
  return text.size() <= limit ? text : "..." + text.substr(text.size() - (limit - 3));
}

inline void PrintTensors(const Subgraph& subgraph, int32_t name_width, int32_t type_width,
                         int32_t alloc_width) {
  printf("%6s %-*s %-*s %-*s %12s  %s\n", "Tensor", name_width, "Name", type_width, "Type",
         alloc_width, "AllocType", "Bytes", "Shape");
  for (size_t i = 0; i < subgraph.tensors_size(); ++i) {
    const TfLiteTensor* const tensor = subgraph.tensor(static_cast<int>(i));
    printf("%6zu %-*s %-*s %-*s %12zu  %s\n", i, name_width, Fit(tensor->name, name_width).c_str(),
           type_width, Fit(TfLiteTypeGetName(tensor->type), type_width).c_str(), alloc_width,
           Fit(AllocTypeName(tensor->allocation_type), alloc_width).c_str(), tensor->bytes,
           List(tensor->dims).c_str());
  }
}

inline void PrintNodes(const Subgraph& subgraph, const SubgraphDelegationMetadata& delegation) {
  for (size_t i = 0; i < subgraph.nodes_size(); ++i) {
    const int index = static_cast<int>(i);
    const TfLiteNode& node = subgraph.node_and_registration(index)->first;
    DeputyNodeInfo info{};
    info.struct_size = sizeof info;
    DeputyInterpreterGetNodeInfo(subgraph.c_interpreter(), subgraph.GetSubgraphIndex(), index,
                                 &info);
    printf("Node %3zu %s", i, info.operator_name == nullptr ? "?" : info.operator_name);
    if (delegation.is_node_delegated[i]) {
      printf(" (delegated by node %d)", delegation.replaced_by_node[i]);
    } else if (node.delegate != nullptr) {
      printf(" (delegate node)");
    }
    printf("\n  Inputs: %s\n  Outputs: %s\n", List(node.inputs).c_str(),
           List(node.outputs).c_str());
    if (node.temporaries != nullptr && node.temporaries->size != 0) {
      printf("  Temporaries: %s\n", List(node.temporaries).c_str());
    }
  }
}

}  // namespace debug_internal

inline SubgraphDelegationMetadata GetNodeDelegationMetadata(const Subgraph& subgraph) {
  SubgraphDelegationMetadata metadata;
  metadata.is_node_delegated.resize(subgraph.nodes_size());
  metadata.replaced_by_node.assign(subgraph.nodes_size(), -1);
  const TfLiteInterpreter* const interpreter = subgraph.c_interpreter();
  const int32_t index = subgraph.GetSubgraphIndex();
  const int32_t count = DeputyInterpreterGetPartitionCount(interpreter, index);
  metadata.has_delegate_applied = count != 0;
  for (int32_t i = 0; i < count; ++i) {
    DeputyPartition partition{};
    partition.struct_size = sizeof partition;
    DeputyInterpreterGetPartition(interpreter, index, i, &partition);
    for (int32_t k = 0; k < partition.node_count; ++k) {
      const size_t node = static_cast<size_t>(partition.nodes[k]);
      metadata.is_node_delegated[node] = true;
      metadata.replaced_by_node[node] = partition.node_index;
    }
  }
  return metadata;
}

// Prints tensors, nodes and memory of all subgraphs to stdout. The arguments are the widths of
// columns, in characters.
inline void PrintInterpreterState(const impl::Interpreter* interpreter,
                                  int32_t tensor_name_display_length = 25,
                                  int32_t tensor_type_display_length = 15,
                                  int32_t alloc_type_display_length = 18) {
  printf("Interpreter has %zu subgraphs.\n", interpreter->subgraphs_size());
  for (size_t i = 0; i < interpreter->subgraphs_size(); ++i) {
    const Subgraph& subgraph = *interpreter->subgraph(static_cast<int>(i));
    printf("\nSubgraph-%zu '%s' has %zu tensors and %zu nodes\n", i, subgraph.GetName().c_str(),
           subgraph.tensors_size(), subgraph.nodes_size());
    printf("Inputs: %s\nOutputs: %s\nVariables: %s\n",
           debug_internal::List(subgraph.inputs()).c_str(),
           debug_internal::List(subgraph.outputs()).c_str(),
           debug_internal::List(subgraph.variables()).c_str());
    debug_internal::PrintTensors(subgraph, tensor_name_display_length, tensor_type_display_length,
                                 alloc_type_display_length);
    debug_internal::PrintNodes(subgraph, GetNodeDelegationMetadata(subgraph));
    printf("Execution plan: %s\n", debug_internal::List(subgraph.execution_plan()).c_str());
    Subgraph::SubgraphAllocInfo memory;
    subgraph.GetMemoryAllocInfo(&memory);
    printf("Memory in bytes: arena %zu, persistent arena %zu, dynamic %zu, resources %zu\n",
           memory.arena_size, memory.arena_persist_size, memory.dynamic_size, memory.resource_size);
  }
}

}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_OPTIONAL_DEBUG_TOOLS_H_
