// SPDX-License-Identifier: Apache-2.0
//
// State that the signatures of an interpreter share: memory of the interpreter for an input and an
// output of several subgraphs.
#ifndef DEPUTY_CORE_EXEC_SHARED_STATES_H_
#define DEPUTY_CORE_EXEC_SHARED_STATES_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "c_api/include/common.h"
#include "core/base/memory.h"

namespace deputy {

class InterpreterState;
class Subgraph;

// The tensors of a state in one subgraph.
struct StatePlace {
  Subgraph* subgraph = nullptr;
  int input = -1, output = -1;
};

struct SharedState {
  std::string input, output;  // names in the signatures
  std::vector<StatePlace> places;
  size_t bytes = 0;
  std::array<Block, 2> blocks;  // the second one is empty until a run needs it
  size_t current = 0;           // index of the block with the current state
  bool in_place = false;        // true: the newest run used one block

  char* data() const { return blocks[current].data(); }
  size_t memory_bytes() const { return blocks[0].size() + blocks[1].size(); }
};

class SharedStates {
 public:
  explicit SharedStates(InterpreterState* interpreter) : interpreter_(interpreter) {}

  bool empty() const { return states_.empty(); }
  const std::vector<SharedState>& states() const { return states_; }
  size_t bytes() const;

  // Adds a state with the tensors of these places. Reports an error and changes nothing if they
  // cannot share memory.
  TfLiteStatus Add(std::string input, std::string output, std::vector<StatePlace> places);
  // Sets the addresses of a subgraph's tensors before a run.
  TfLiteStatus BeginRun(Subgraph* subgraph);
  // Returns true if the tensor belongs to a state.
  bool Has(const Subgraph* subgraph, int tensor) const;
  // Places the tensors of a subgraph after its custom allocations were removed.
  TfLiteStatus PlaceAgain(Subgraph* subgraph);
  // Makes the outputs of a successful run the current state.
  void EndRun(Subgraph* subgraph);
  // Sets all states to zero.
  void Reset();

 private:
  TfLiteStatus Refuse(const char* input, const std::string& problem) const;
  std::string FindProblem(const std::vector<StatePlace>& places) const;
  TfLiteStatus CheckSize(const StatePlace& place, const SharedState& state) const;
  TfLiteStatus PlaceOutput(const StatePlace& place, SharedState* state) const;

  InterpreterState* const interpreter_;
  std::vector<SharedState> states_;
};

// Returns for each place of this subgraph whether the output can use the memory of the input.
std::vector<bool> FindInPlace(const Subgraph& subgraph, std::span<const StatePlace> places);

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SHARED_STATES_H_
