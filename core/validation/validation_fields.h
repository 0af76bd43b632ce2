// SPDX-License-Identifier: Apache-2.0
//
// The structs that foreign code can reach, as they were before it ran: the context, the tensors,
// the nodes. What has changed since then without the runtime's doing is found by comparing.
#ifndef DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_
#define DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_

#include <functional>
#include <vector>

#include "c_api/include/common.h"

namespace deputy {

class Subgraph;

enum class StructOf { kContext, kTensor, kNode };

// One field that has changed. `name` is the field's, "dims".
struct FieldChange {
  StructOf of;
  int index;  // of the tensor or node
  const char* name;
};

class GraphFields {
 public:
  explicit GraphFields(Subgraph* subgraph) : subgraph_(subgraph) { Refresh(); }

  // Takes what is there now: the runtime has changed it itself.
  void Refresh();
  void RefreshTensor(int index);
  // Tensors were added at the end, and the array may have moved.
  void RefreshAddedTensors();

  // Calls `found` for every difference between then and now.
  void Compare(const std::function<void(const FieldChange&)>& found) const;

  // A tensor as it was. Pointers in it are to be compared, never followed.
  const TfLiteTensor& tensor(int index) const {
    return tensors_[static_cast<size_t>(index)].fields;
  }
  const std::vector<int>& dims(int index) const {
    return tensors_[static_cast<size_t>(index)].dims;
  }
  // Inputs of a node as they were.
  const std::vector<int>& inputs(int node) const {
    return nodes_[static_cast<size_t>(node)].inputs;
  }
  int tensor_count() const { return static_cast<int>(tensors_.size()); }

 private:
  using Found = std::function<void(const FieldChange&)>;
  struct Tensor {
    TfLiteTensor fields;
    std::vector<int> dims, signature;
  };
  struct Node {
    TfLiteNode fields;
    TfLiteRegistration registration;
    std::vector<int> inputs, outputs, intermediates, temporaries;
  };

  void CompareContext(const Found& found) const;
  void CompareTensor(int index, const Found& found) const;
  void CompareNode(int index, const Found& found) const;

  Subgraph* const subgraph_;
  TfLiteContext context_{};
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_
