// SPDX-License-Identifier: Apache-2.0
//
// The parts of tensors and nodes that init and prepare set, of a preparation that is not current:
// shapes and contents of tensors, user data and temporaries of nodes.
#ifndef DEPUTY_CORE_EXEC_PREPARED_STATE_H_
#define DEPUTY_CORE_EXEC_PREPARED_STATE_H_

#include <vector>

#include "c_api/include/common.h"

namespace deputy {

struct SubgraphParts;

class PreparedState {
 public:
  // Creates a state for kernels that have not been initialised. The first `model_tensors` tensors
  // get the shapes of the graph; the others, temporaries of another preparation, are empty.
  // `parts` must outlive this object.
  PreparedState(SubgraphParts* parts, int model_tensors);
  // Calls the kernels' free and frees the tensors' memory.
  ~PreparedState();
  PreparedState(const PreparedState&) = delete;
  PreparedState& operator=(const PreparedState&) = delete;

  // Exchanges this state and that of the graph. Tensors that were added to the graph later are
  // empty in this state. Strong exception guarantee.
  void Swap();
  // Sets the shape of a tensor, which is not a constant of the model, in this state. Takes
  // ownership of `dims`.
  void SetShape(int tensor, TfLiteIntArray* dims, size_t bytes) noexcept;

 private:
  struct Tensor {
    TfLiteType type = kTfLiteNoType;
    TfLiteAllocationType allocation_type = kTfLiteArenaRw;
    TfLiteIntArray* dims = nullptr;
    TfLitePtrUnion data{};
    size_t bytes = 0;
    const void* allocation = nullptr;  // the tensor's `allocation` field; see borrowed_data.h
  };
  struct Node {
    void* user_data = nullptr;
    TfLiteIntArray* temporaries = nullptr;
  };

  SubgraphParts* const parts_;
  // State of each tensor, by index; entries of the model's constants are unused.
  std::vector<Tensor> tensors_;
  std::vector<Node> nodes_;  // state of each node, by index
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_PREPARED_STATE_H_
