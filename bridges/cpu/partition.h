// SPDX-License-Identifier: Apache-2.0
//
// The nodes that one node of the delegate replaces, as a graph of this library that reads the
// host's inputs and writes the host's outputs in place.
#ifndef DEPUTY_BRIDGES_CPU_PARTITION_H_
#define DEPUTY_BRIDGES_CPU_PARTITION_H_

#include <memory>
#include <vector>

#include "bridges/cpu/mirror_graph.h"
#include "bridges/cpu/options.h"
#include "c_api/include/common.h"
#include "core/base/thread_pool.h"

namespace deputy::cpu {

class Partition {
 public:
  // Creates the graph of a partition. Returns null and reports to the host if a node cannot be
  // built. `context` must be in delegate mode.
  static std::unique_ptr<Partition> Create(TfLiteContext* context,
                                           const TfLiteDelegateParams& params,
                                           const Options& options,
                                           std::shared_ptr<ThreadPool> pool);

  // Implement the delegate's node. `context` must be the one that was passed to Create.
  TfLiteStatus Prepare(TfLiteContext* context);
  TfLiteStatus Invoke(TfLiteContext* context);

 private:
  // A tensor of the host and its mirror.
  struct TensorPair {
    int host;
    int mirror;
  };

  Partition(TfLiteContext* context, const InterpreterConfig& config) : graph_(context, config) {}
  TfLiteStatus Build(TfLiteContext* context, const TfLiteDelegateParams& params);
  TfLiteTensor* MirrorOf(const TensorPair& pair) {
    return graph_.graph().graph().tensor(pair.mirror);
  }

  MirrorGraph graph_;
  std::vector<TensorPair> inputs_, outputs_;  // boundary of the partition, without constants
};

}  // namespace deputy::cpu

#endif  // DEPUTY_BRIDGES_CPU_PARTITION_H_
