// SPDX-License-Identifier: Apache-2.0
//
// Partitions: groups of operators that a compiler plug-in compiles together. In the model each
// becomes one operator DISPATCH_OP.
#ifndef DEPUTY_LITERT_SRC_PARTITION_H_
#define DEPUTY_LITERT_SRC_PARTITION_H_

#include <cstddef>
#include <vector>

#include "litert/src/compiler_plugin.h"
#include "litert/src/model.h"
#include "litert/src/payload.h"

namespace deputy::litert {

struct Partitions {
  LiteRtModelT model;              // copies of the operators, a subgraph for each partition
  std::vector<LiteRtOp> calls;     // DISPATCH_OP of each partition, without byte code
  size_t selected = 0, total = 0;  // numbers of operators
};

// Lets the plug-in select operators and replaces them. `soc_model` may be null. On failure the
// model may be changed in part.
LiteRtStatus PartitionModel(const CompilerPlugin& plugin, const CompilerSettings& settings,
                            const char* soc_model, LiteRtModelT* model, Partitions* out_partitions);

// Operators of a subgraph that a plug-in compiles together, by their index, and the tensors that
// they read and compute.
struct OpGroup {
  std::vector<int> ops, inputs, outputs;
};

// Lets the plug-in select operators of a subgraph, without those for which `is_usable` is false,
// and copies each group of selected ones to a subgraph of `out_model`. Nothing is replaced.
LiteRtStatus CopyGroups(const CompilerPlugin& plugin, const char* soc_model,
                        const LiteRtModelT& model, LiteRtSubgraph subgraph,
                        const std::vector<bool>& is_usable, LiteRtModelT* out_model,
                        std::vector<OpGroup>* out_groups);

}  // namespace deputy::litert

#endif  // DEPUTY_LITERT_SRC_PARTITION_H_
