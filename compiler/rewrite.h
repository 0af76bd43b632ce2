// SPDX-License-Identifier: Apache-2.0
//
// How a pass changes a graph: it takes the operations out one after the other, in their order, and
// adds each again, another in its place, or none. Producers and uses are kept up to date, so that a
// pass is linear in the graph.
#ifndef DEPUTY_COMPILER_REWRITE_H_
#define DEPUTY_COMPILER_REWRITE_H_

#include <cstddef>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

class Rewrite {
 public:
  // Borrows the graph, which has no operations until Finish.
  explicit Rewrite(Graph* graph);

  // Takes the next operation out; false behind the last.
  bool Next(Operation* out_operation);
  void Add(Operation operation);
  // Adds an operation whose one output is a new value.
  ValueId Add(OperationKind kind, std::vector<ValueId> inputs, TfLiteType type, Shape shape,
              int node);
  // In all operations that are still to come, `by` takes the place of a value, which is no output
  // of the graph.
  void Replace(ValueId id, ValueId by);
  // The operation that makes a value makes another one in its place.
  void RenameOutput(ValueId from, ValueId to);
  // Takes back the operation that makes a value and was added before.
  Operation TakeBack(ValueId id);

  // The added operation that makes a value; null for inputs and constants. Valid until the next
  // Add.
  const Operation* Producer(ValueId id) const;
  // How many operations other than those taken out read a value; one more for an output of the
  // graph.
  int uses(ValueId id) const { return uses_[static_cast<size_t>(id)]; }
  bool IsOutput(ValueId id) const { return is_output_[static_cast<size_t>(id)]; }
  // Nobody else needs a value that the operation taken out reads.
  bool OnlyHere(ValueId id) const { return uses(id) == 0; }

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  const Value& value(ValueId id) const { return graph_->value(id); }

  void CountChange() { ++changes_; }
  // Puts the operations back, without those whose results nobody needs. Returns the changes
  // counted.
  int Finish();

 private:
  void Grow();
  void Resolve(std::vector<ValueId>* ids) const;
  void Count(const Operation& operation, int by);

  Graph* const graph_;
  std::vector<Operation> taken_;  // the operations as they were
  size_t next_ = 0;
  std::vector<Operation> added_;  // without outputs: taken back
  // By value.
  std::vector<int> producers_;  // in added_
  std::vector<int> uses_;
  std::vector<bool> is_output_;
  std::vector<ValueId> replaced_by_;
  int changes_ = 0;
};

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_REWRITE_H_
