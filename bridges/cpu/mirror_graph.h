// SPDX-License-Identifier: Apache-2.0
//
// A graph of our own that stands for nodes of a host's graph: Deputy's interpreter and kernels
// inside another runtime. Tensors and nodes are copies of the host's descriptions; constants are
// read where they lie.
//
// The structs of the host are those of the C ABI, so what the host has parsed for a builtin (its
// builtin_data) is what our kernels read.
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
  // `host` outlives it, and so do its tensors' constants and names. Of `config` counts what an
  // InterpreterState reads.
  MirrorGraph(TfLiteContext* host, const InterpreterConfig& config);
  ~MirrorGraph();

  Subgraph& graph() { return *graph_; }

  // The graph's own tensor for one of the host's, which is made at the first call; -1 for -1. The
  // n-th that is made has the number n as long as no node has been prepared.
  int Mirror(int host_tensor);
  // What Mirror has made before.
  int Find(int host_tensor) const { return mirrors_.at(host_tensor); }
  // Gives a tensor the host's shape again, and no memory, whatever a kernel has made of it.
  void Reset(int host_tensor);

  // Adds a copy of the host's node, for which FindKernel has a row. Its number is that of the nodes
  // before it.
  TfLiteStatus AddNode(const TfLiteNode& node, const TfLiteRegistration& registration);

  // ---- InterpreterState ------------------------------------------------------------------------
  TfLiteStatus AllocateTensors(Subgraph* subgraph) override { return subgraph->AllocateTensors(); }
  TfLiteStatus Invoke(Subgraph* subgraph, bool allow_stale_outputs) override;
  CallObserver* call_observer() override { return nullptr; }
  TileObserver* tile_observer() override { return nullptr; }
  bool wants_each_node() const override { return false; }
  PackedConstants* PackedConstantsOf(const void* data) override;

 private:
  const char* AlignedConstant(const TfLiteTensor& constant);
  std::vector<int> MirrorAll(const TfLiteIntArray* host_tensors);

  TfLiteContext* const host_;
  std::map<int, int> mirrors_;  // by the host's tensor
  // Constants of the graph, by their first byte, with how many there are.
  std::map<const char*, size_t> constants_;
  std::deque<Block> copies_;  // of constants that are not aligned to their elements
  PackedConstants packed_;
  const SubgraphDesc desc_;
  std::unique_ptr<Subgraph> graph_;
};

// The kernel's row for a node of the host, null where this library has none of that version.
const OpDef* FindKernel(const TfLiteRegistration& registration);

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_MIRROR_GRAPH_H_
