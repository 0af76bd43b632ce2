// SPDX-License-Identifier: Apache-2.0
//
// Models that are small files and large graphs, because one table or one string is referenced very
// often; long models; and a delegate that splits a graph into the maximum number of partitions.
#ifndef DEPUTY_TESTS_SUPPORT_LARGE_MODELS_H_
#define DEPUTY_TESTS_SUPPORT_LARGE_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"

namespace deputy {

// Registers "Idle", a custom operator that does nothing, for graphs whose nodes are irrelevant.
void AddIdleOperator(TfLiteInterpreterOptions* options);

// A model of `count` Idle nodes without outputs, which share one table in the file.
std::vector<uint8_t> IdleNodes(int count);
// A model of `count` Idle nodes, each of which reads the output of the previous one.
std::vector<uint8_t> IdleChain(int count);
// A model of `nodes` Idle nodes, each with its own output and the same `inputs` inputs, which share
// one list in the file.
std::vector<uint8_t> NodesOverSharedInputs(int nodes, int inputs);
// A model without nodes, with `count` inputs of four bytes.
std::vector<uint8_t> ManyInputs(int count);
// A model whose file refers `count` times to one table of a subgraph with one node, RELU.
std::vector<uint8_t> OneSubgraphOften(int count);
// A model with the signatures k0, k1, ..., whose input and output have the same name of
// `name_bytes` bytes, which share one string in the file.
std::vector<uint8_t> SignaturesOfOneName(int count, int name_bytes);

// A delegate that inspects every node of the plan and claims every second one.
class Halving {
 public:
  Halving();
  TfLiteDelegate* get() { return &delegate_; }
  int inits = 0;  // number of kernels initialised
  TfLiteStatus invoke_status = kTfLiteOk;

 private:
  TfLiteDelegate delegate_ = TfLiteDelegateCreate();
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_SUPPORT_LARGE_MODELS_H_
