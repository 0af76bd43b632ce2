// SPDX-License-Identifier: Apache-2.0
//
// Changes of one subgraph by a transformation. They are recorded, and applied as a whole or not at
// all: a transformation that fails leaves the model unchanged.
#ifndef DEPUTY_LITERT_SRC_BUILDER_H_
#define DEPUTY_LITERT_SRC_BUILDER_H_

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "litert/c/litert_builder.h"
#include "litert/src/model.h"

class LiteRtBuilderT {
 public:
  // Both must outlive the builder.
  LiteRtBuilderT(LiteRtModelT* model, LiteRtSubgraphT* subgraph)
      : model_(model), subgraph_(subgraph) {}

  LiteRtTensor AddTensor(std::unique_ptr<LiteRtTensorT> tensor);

  // Sets the data of a tensor that the builder has added; the bytes are copied.
  LiteRtStatus SetWeights(LiteRtTensor tensor, deputy::litert::Bytes bytes);

  // Adds an operator. An output that the builder has added has no other producer.
  LiteRtStatus AddOp(LiteRtOpCode code, const std::vector<LiteRtTensor>& inputs,
                     const std::vector<LiteRtTensor>& outputs, LiteRtOp* out_op);

  // Gives a new operator the position of an erased one.
  void PlaceAt(LiteRtOp op, const LiteRtOpT* erased) { placed_[erased].push_back(op); }

  // Records that an operator is removed, which may be one that the builder has added.
  void EraseOp(LiteRtOp op) { erased_.insert(op); }

  // Returns whether the builder has added an object.
  bool Owns(const LiteRtOpT* op) const { return own_ops_.count(op) > 0; }
  bool Owns(const LiteRtTensorT* tensor) const { return own_tensors_.count(tensor) > 0; }

  // Moves the new objects to the subgraph and removes the erased operators. New operators without a
  // position take that of the first erased one, and operators are moved after the producers of
  // their inputs. Tensors that only erased operators use are removed. After an error the subgraph
  // is unchanged.
  LiteRtStatus Apply();

 private:
  using Ops = std::vector<LiteRtOp>;

  bool IsErased(const LiteRtOpT* op) const { return erased_.count(op) > 0; }
  LiteRtStatus Check(const Ops& ops) const;
  Ops ListOps() const;
  static LiteRtStatus Sort(Ops* ops);
  void Detach();
  void Attach(const Ops& ops);
  std::unordered_set<const LiteRtTensorT*> FindUnused() const;
  void MoveTensors();
  void MoveOps(const Ops& ops);

  LiteRtModelT* const model_;
  LiteRtSubgraphT* const subgraph_;
  std::vector<std::unique_ptr<LiteRtTensorT>> tensors_;
  std::vector<std::unique_ptr<LiteRtOpT>> ops_;
  std::unordered_set<const LiteRtTensorT*> own_tensors_;
  std::unordered_set<const LiteRtOpT*> own_ops_;
  std::unordered_set<const LiteRtOpT*> erased_;
  std::unordered_map<const LiteRtOpT*, Ops> placed_;  // by the erased operator
};

#endif  // DEPUTY_LITERT_SRC_BUILDER_H_
