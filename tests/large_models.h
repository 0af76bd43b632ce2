// SPDX-License-Identifier: Apache-2.0
//
// Models that are small files and large graphs, because one table or one string is said very often,
// or because they are simply long; and a delegate that cuts a graph into as many parts as it can.
#ifndef DEPUTY_TESTS_LARGE_MODELS_H_
#define DEPUTY_TESTS_LARGE_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "c_api/include/c_api_experimental.h"

namespace deputy {

// Registers "Idle", a custom operator that does nothing, for graphs whose nodes do not matter.
void AddIdleOperator(TfLiteInterpreterOptions* options);

// `count` Idle nodes, one table in the file. They make nothing.
std::vector<uint8_t> IdleNodes(int count);
// `count` Idle nodes, each of which reads what the one before it makes.
std::vector<uint8_t> IdleChain(int count);
// `nodes` Idle nodes with an output each and the same `inputs` inputs, one list in the file.
std::vector<uint8_t> NodesOverSharedInputs(int nodes, int inputs);
// No node and `count` inputs of four bytes.
std::vector<uint8_t> ManyInputs(int count);
// One table of a subgraph with one node, RELU, `count` times.
std::vector<uint8_t> OneSubgraphOften(int count);
// Signatures k0, k1, ... whose input and output have the same name of `name_bytes` bytes, one
// string in the file.
std::vector<uint8_t> SignaturesOfOneName(int count, int name_bytes);

// A delegate that looks at every node of the plan and takes each second one.
class Halving {
 public:
  Halving();
  TfLiteDelegate* get() { return &delegate_; }
  int inits = 0;  // of its kernels
  TfLiteStatus invoke_status = kTfLiteOk;

 private:
  TfLiteDelegate delegate_ = TfLiteDelegateCreate();
};

}  // namespace deputy

#endif  // DEPUTY_TESTS_LARGE_MODELS_H_
