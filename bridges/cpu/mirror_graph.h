// SPDX-License-Identifier: Apache-2.0
//
// A copy of nodes of a host's graph in a graph of this library, which runs them with Deputy's
// interpreter and kernels inside another runtime. Tensors and nodes are copies of the host's
// descriptions; constants are used in place if they are aligned to their elements, and are
// otherwise copied.
//
// The host's structs are those of the C ABI, so that Deputy's kernels can read the builtin_data
// that the host has parsed.
#ifndef DEPUTY_BRIDGES_CPU_MIRROR_GRAPH_H_
#define DEPUTY_BRIDGES_CPU_MIRROR_GRAPH_H_

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/exec/interpreter_state.h"
#include "core/exec/subgraph.h"
#include "core/kernel_api/op_def.h"

namespace deputy::cpu {

class MirrorGraph final : public InterpreterState {
 public:
  // Creates an empty copy of a host's graph. `host` and its tensors' constants and names must
  // outlive the object. Only the fields of `config` that InterpreterState reads are used.
  MirrorGraph(TfLiteContext* host, const InterpreterConfig& config);
  ~MirrorGraph();

  Subgraph& graph() { return *graph_; }

  // Returns the mirror of one of the host's tensors, which the first call creates; -1 for -1. Until
  // the first node is prepared, the n-th tensor that is created has the index n.
  int Mirror(int host_tensor);
  // Returns the index of a tensor that Mirror has created.
  int Find(int host_tensor) const { return mirrors_.at(host_tensor); }
  // Restores the host's shape of a tensor, but not its type, and frees its memory. Has no effect on
  // constants.
  void Reset(int host_tensor);

  // Appends a copy of the host's node, which must have a kernel (FindKernel). The index of the copy
  // is the number of nodes added before.
  TfLiteStatus AddNode(const TfLiteNode& node, const TfLiteRegistration& registration);

  // ---- InterpreterState ------------------------------------------------------------------------
  TfLiteStatus AllocateTensors(Subgraph* subgraph) override { return subgraph->AllocateTensors(); }
  TfLiteStatus Invoke(Subgraph* subgraph, bool allow_stale_outputs) override;
  PackedConstants* PackedConstantsOf(const void* data) override;

 private:
  const char* AlignedConstant(const TfLiteTensor& constant);
  std::vector<int> MirrorAll(const TfLiteIntArray* host_tensors);

  TfLiteContext* const host_;
  std::map<int, int> mirrors_;  // index of the mirror, by tensor of the host
  // Sizes in bytes of the graph's constants, by address.
  std::map<const char*, size_t> constants_;
  std::deque<Block> copies_;  // copies of constants that are not aligned to their elements
  PackedConstants packed_;
  const SubgraphDesc desc_;
  std::unique_ptr<Subgraph> graph_;
};

// Returns the kernel for a node of the host; null if this library has none for the version.
const OpDef* FindKernel(const TfLiteRegistration& registration);

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_MIRROR_GRAPH_H_
