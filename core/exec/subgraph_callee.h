// SPDX-License-Identifier: Apache-2.0
//
// A subgraph as control flow nodes of other subgraphs call it.
#ifndef DEPUTY_CORE_EXEC_SUBGRAPH_CALLEE_H_
#define DEPUTY_CORE_EXEC_SUBGRAPH_CALLEE_H_

#include <span>
#include <vector>

#include "core/exec/call_shapes.h"
#include "core/kernel_api/runtime.h"

namespace deputy {

class Subgraph;

class SubgraphCallee final : public CallableSubgraph {
 public:
  // Creates the interface of a subgraph, which must outlive this object.
  explicit SubgraphCallee(Subgraph* subgraph) : subgraph_(subgraph) {}

  size_t input_count() const override;
  size_t output_count() const override;
  size_t operator_count() const override;
  TfLiteBuiltinOperator operator_code(size_t n) const override;
  TfLiteStatus InferOutputs(std::span<const CallInput> inputs,
                            std::vector<CallOutput>* out_outputs) override;
  TfLiteStatus Call(std::span<const CallInput> inputs) override;
  const TfLiteTensor* output(size_t n) override;

 private:
  bool IsBuiltInCode() const;
  TfLiteStatus CheckCallable() const;
  TfLiteStatus CopyInput(const CallInput& from, TfLiteTensor* input);
  TfLiteStatus DescribeOutputs(bool shapes_known, std::vector<CallOutput>* out_outputs);

  Subgraph* const subgraph_;
  CallShapes shapes_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_EXEC_SUBGRAPH_CALLEE_H_
