// SPDX-License-Identifier: Apache-2.0
//
// Rewriting of a graph by a pass: the pass takes operations out in their order, and adds each
// again, another one in its place, or none. Producers and use counts are kept up to date, so a pass
// takes linear time.
#ifndef DEPUTY_COMPILER_REWRITE_H_
#define DEPUTY_COMPILER_REWRITE_H_

#include <cstddef>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

class Rewrite {
 public:
  // Borrows the graph, whose list of operations is empty until Finish.
  explicit Rewrite(Graph* graph);

  // Takes the next operation out; returns false at the end.
  bool Next(Operation* out_operation);
  void Add(Operation operation);
  // Adds an operation with one output, a new value, and returns that value.
  ValueId Add(OperationKind kind, std::vector<ValueId> inputs, TfLiteType type, Shape shape,
              int node);
  // Replaces a value by another one in all operations that Next has not yet returned. The value
  // must not be an output of the graph.
  void Replace(ValueId id, ValueId by);
  // Renames the output `from` of an added operation to `to`.
  void RenameOutput(ValueId from, ValueId to);
  // Removes the added operation that produces a value and returns it.
  Operation RemoveProducer(ValueId id);

  // Returns the added operation that produces a value; null for inputs and constants. Valid until
  // the next Add.
  const Operation* Producer(ValueId id) const;
  // Returns the number of uses of a value by operations that are not taken out at present; an
  // output of the graph counts as one more.
  int uses(ValueId id) const { return uses_[static_cast<size_t>(id)]; }
  bool IsOutput(ValueId id) const { return is_output_[static_cast<size_t>(id)]; }
  // Returns whether the operation taken out is the only consumer of a value that it reads.
  bool HasNoOtherUse(ValueId id) const { return uses(id) == 0; }

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  const Value& value(ValueId id) const { return graph_->value(id); }

  void CountChange() { ++changes_; }
  // Puts the operations back, without those whose results are unused. Returns the number of
  // changes.
  int Finish();

 private:
  void Grow();
  void Resolve(std::vector<ValueId>* ids) const;
  void Count(const Operation& operation, int by);

  Graph* const graph_;
  std::vector<Operation> originals_;  // the original operations
  size_t next_ = 0;
  std::vector<Operation> added_;  // operations added; one without outputs has been removed again
  std::vector<int> producers_;    // index in added_, by value
  std::vector<int> uses_;
  std::vector<bool> is_output_;
  std::vector<ValueId> replaced_by_;
  int changes_ = 0;
};

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_REWRITE_H_
