// SPDX-License-Identifier: Apache-2.0
//
// Changes that a client makes to a subgraph in code, with upstream's rules: tensors and nodes are
// added, inputs, outputs, variables and the plan are set. An invalid tensor index in a node or a
// list, or a builtin node whose input is its output, makes the subgraph inconsistent permanently;
// other invalid arguments leave tensors, nodes and lists unchanged.
#ifndef DEPUTY_CORE_EXEC_GRAPH_BUILDER_H_
#define DEPUTY_CORE_EXEC_GRAPH_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c_api/include/common.h"
#include "core/exec/subgraph.h"

namespace deputy {

// Description of a tensor. Pointers are borrowed, `data` and `name` for the tensor's lifetime.
struct NewTensor {
  TfLiteType type = kTfLiteNoType;
  const char* name = nullptr;
  std::span<const int> dims, signature;
  const void* data = nullptr;  // contents of a constant
  size_t bytes = 0;
  bool is_constant = false;
  bool is_variable = false;
};

// Memory (malloc) that becomes the tensor's; freed here if the tensor does not take it.
struct TensorAttachments {
  TensorAttachments() = default;
  ~TensorAttachments();
  TensorAttachments(const TensorAttachments&) = delete;
  TensorAttachments& operator=(const TensorAttachments&) = delete;

  TfLiteQuantization quantization{};
  TfLiteSparsity* sparsity = nullptr;
};

class GraphBuilder {
 public:
  // Creates a builder, which has no state of its own, so that a subgraph may have several.
  // `subgraph` must outlive it, and must not run when another function than SetName and AddTensors
  // is called.
  explicit GraphBuilder(Subgraph* subgraph);

  // Reserves memory in a new, empty subgraph: as in upstream, the first tensors do not move.
  void Begin();
  // Names the subgraph; the name is copied.
  void SetName(const char* name);

  // Adds tensors of type kTfLiteNoType.
  TfLiteStatus AddTensors(int count, int* out_first_index);
  // Sets type, shape and contents of a tensor. If a constant replaces contents of the same type and
  // shape, a subgraph that is ready stays ready; otherwise tensors must be allocated again.
  TfLiteStatus SetTensor(int tensor_index, const NewTensor& tensor, TensorAttachments* attachments);

  // Appends a node to the table and the plan and calls its init. Fails while a delegate is applied.
  // Takes ownership of `node.builtin_data` (malloc) in every case.
  TfLiteStatus AddNode(const Subgraph::NewNode& node, int* out_node_index);

  // Set the lists and the plan. A subgraph that is ready stays ready, unless a delegate is applied.
  // SetPlan fails while a delegate is applied.
  TfLiteStatus SetInputs(std::span<const int> tensors);
  TfLiteStatus SetOutputs(std::span<const int> tensors);
  TfLiteStatus SetVariables(std::span<const int> tensors);
  TfLiteStatus SetPlan(std::span<const int> nodes);

 private:
  BuiltGraph& Built();
  TfLiteStatus CheckNoDelegate(const char* function);
  TfLiteStatus CheckIndices(const char* what, std::span<const int> indices, bool allow_absent);
  TfLiteStatus CheckNoOverlap(const Subgraph::NewNode& node);
  // CheckTensor and CheckShape compute the size of the tensor.
  TfLiteStatus CheckTensor(int tensor_index, const NewTensor& tensor, bool is_sparse,
                           size_t* out_bytes);
  TfLiteStatus CheckShape(int tensor_index, const NewTensor& tensor, bool is_sparse,
                          size_t* out_bytes);
  TfLiteStatus CheckQuantization(int tensor_index, const NewTensor& tensor,
                                 TfLiteQuantization* quantization);
  const void* ContentsOf(const NewTensor& tensor, size_t bytes, Block* out_copy);
  void NoteVariable(int tensor_index);
  void DescribeTensors(std::span<const int> indices);
  TfLiteStatus FinishList();

  Subgraph* const subgraph_;
  SubgraphParts* const parts_;
  Graph* const graph_;
  ErrorReporter* const reporter_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_GRAPH_BUILDER_H_
