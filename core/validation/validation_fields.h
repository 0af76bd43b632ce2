// SPDX-License-Identifier: Apache-2.0
//
// The structs that foreign code can reach, as they were before it ran: the context, the tensors,
// the nodes. What has changed since then without the runtime's doing is found by comparing.
#ifndef DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_
#define DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_

#include <functional>
#include <vector>

#include "c_api/include/common.h"
#include "core/graph/graph_fields.h"

namespace deputy {

class Graph;

enum class StructOf { kContext, kTensor, kNode };

// One field that has changed. `name` is the field's, "dims".
struct FieldChange {
  StructOf of;
  int index;  // of the tensor or node
  const char* name;
};

class SavedFields {
 public:
  // Both outlive it. Throws when memory is refused, as do the functions that take copies.
  SavedFields(const Graph* graph, const TfLiteContext* context)
      : graph_(graph), now_(context), context_(*context) {
    Refresh();
  }

  // Takes what is there now: the runtime has changed it itself.
  void Refresh();
  void RefreshTensor(int index);
  // Tensors were added at the end, and the array may have moved.
  void RefreshAddedTensors();

  // Calls `found` for every difference between then and now.
  void Compare(const std::function<void(const FieldChange&)>& found) const;

  // A tensor as it was, and the inputs of a node. Only arrays in it may be followed.
  const TfLiteTensor& tensor(int index) const {
    return tensors_[static_cast<size_t>(index)].fields();
  }
  const TfLiteIntArray* inputs(int node) const {
    return nodes_[static_cast<size_t>(node)].node.fields().inputs;
  }

 private:
  using Found = std::function<void(const FieldChange&)>;
  struct Node {
    Node(const TfLiteNode& now, const TfLiteRegistration& registration_now)
        : node(now), registration(registration_now) {}
    StructCopy<TfLiteNode> node;
    StructCopy<TfLiteRegistration> registration;
  };

  void CompareContext(const Found& found) const;
  void CompareNode(int index, const Found& found) const;

  const Graph* const graph_;
  const TfLiteContext* const now_;
  TfLiteContext context_;
  std::vector<StructCopy<TfLiteTensor>> tensors_;
  std::vector<Node> nodes_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_
