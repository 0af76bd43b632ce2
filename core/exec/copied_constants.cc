// SPDX-License-Identifier: Apache-2.0
#include "core/exec/copied_constants.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "c_api/abi/borrowed_data.h"
#include "core/base/delegate_params.h"
#include "core/base/packed_constants.h"
#include "core/exec/subgraph.h"

namespace deputy {
namespace {

// Collects the constants in the model's file, and which nodes read them.
class Constants {
 public:
  void Add(const Subgraph& subgraph) {
    const Graph& graph = subgraph.graph();
    for (const int index : graph.outputs()) AddTensor(graph, index, true);
    for (const int node : graph.plan()) {
      if (graph.node(node)->delegate == nullptr) {
        AddInputs(graph, node, !IsIdle(subgraph, node));
        continue;
      }
      const bool is_read = !subgraph.delegation().CopiesConstants(node);
      for (const int replaced : IndicesOf(ReplacedNodes(*graph.node(node)))) {
        AddInputs(graph, replaced, is_read);
      }
    }
  }

  // Returns the constants that only nodes with copies of them have read.
  std::vector<std::span<const char>> Copied() const {
    std::vector<std::span<const char>> copied;
    for (const auto& [data, bytes] : copied_) {
      if (read_.count(data) == 0) copied.emplace_back(data, bytes);
    }
    return copied;
  }

 private:
  // Returns true if no node of the plan reads the outputs of a node, all of which are constants.
  static bool IsIdle(const Subgraph& subgraph, int node) {
    const std::span<const int> outputs = IndicesOf(subgraph.graph().node(node)->outputs);
    const auto is_unread = [&](int index) {
      const TfLiteTensor* const output = subgraph.graph().tensor(index);
      return output != nullptr && output->allocation_type == kTfLitePersistentRo &&
             !subgraph.execution_plan().TensorIsRead(index);
    };
    return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), is_unread);
  }

  void AddInputs(const Graph& graph, int node, bool is_read) {
    for (const int index : IndicesOf(graph.node(node)->inputs)) AddTensor(graph, index, is_read);
  }

  void AddTensor(const Graph& graph, int index, bool is_read) {
    const TfLiteTensor* const tensor = graph.tensor(index);
    if (tensor == nullptr || tensor->allocation_type != kTfLiteMmapRo) return;
    if (is_read) {
      read_.insert(tensor->data.raw_const);
    } else if (tensor->bytes > 0) {
      size_t& bytes = copied_[tensor->data.raw_const];
      bytes = std::max(bytes, tensor->bytes);
    }
  }

  std::set<const char*> read_;
  std::map<const char*, size_t> copied_;  // size of each constant, by address
};

// Frees the tensors that borrow discarded values, so that the next prepare of the nodes that
// compute them computes the values again.
void ForgetValues(const std::vector<const char*>& values, Graph* graph) {
  for (TfLiteTensor& tensor : graph->tensors()) {
    const bool is_discarded =
        BorrowsData(tensor) &&
        std::binary_search(values.begin(), values.end(), tensor.data.raw_const);
    if (is_discarded) TfLiteTensorDataFree(&tensor);
  }
}

}  // namespace

InterpreterState::ReleasedConstants ReleaseCopiedConstants(
    const std::vector<std::unique_ptr<Subgraph>>& subgraphs) {
  Constants constants;
  for (const auto& subgraph : subgraphs) constants.Add(*subgraph);
  std::vector<std::span<const char>> copied = constants.Copied();
  InterpreterState::ReleasedConstants released;
  if (copied.empty()) return released;
  const InterpreterState& interpreter = *subgraphs[0]->interpreter();
  for (const std::span<const char> constant : copied) {
    released.file_bytes += interpreter.model().ReleasePages(constant.data(), constant.size());
  }
  const PackedConstants::Discarded discarded =
      interpreter.packed_constants().Discard(std::move(copied));
  released.packed_bytes = discarded.bytes;
  for (const auto& subgraph : subgraphs) ForgetValues(discarded.values, &subgraph->graph());
  return released;
}

}  // namespace deputy
