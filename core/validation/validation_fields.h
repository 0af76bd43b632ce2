// SPDX-License-Identifier: Apache-2.0
//
// Snapshot of the structs that foreign code can access: the context, the tensors, the nodes. A
// comparison finds fields that were changed by other code than the runtime.
#ifndef DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_
#define DEPUTY_CORE_VALIDATION_VALIDATION_FIELDS_H_

#include <functional>
#include <vector>

#include "c_api/include/common.h"
#include "core/graph/graph_fields.h"

namespace deputy {

class Graph;

enum class StructOf { kContext, kTensor, kNode };

// A field that has changed, with its name, e.g. "dims".
struct FieldChange {
  StructOf of;
  int index;  // index of the tensor or node
  const char* name;
};

class SavedFields {
 public:
  // Takes a snapshot. The arguments must outlive this object. Functions that copy throw if out of
  // memory.
  SavedFields(const Graph* graph, const TfLiteContext* context)
      : graph_(graph), now_(context), context_(*context) {
    Refresh();
  }

  // Updates the snapshot after a change by the runtime.
  void Refresh();
  void RefreshTensor(int index);
  // Updates the snapshot after tensors were added at the end; the array may have moved.
  void RefreshAddedTensors();

  // Calls `found` for each compared field that differs between the snapshot and now.
  void Compare(const std::function<void(const FieldChange&)>& found) const;

  // tensor() returns a tensor of the snapshot, inputs() the inputs of a node. The arrays of these
  // structs are copies; their other pointers must not be dereferenced.
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
