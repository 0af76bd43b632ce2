// SPDX-License-Identifier: Apache-2.0
//
// Reference implementation: computes a graph element by element. Used for constant folding, and as
// the expected result for passes and back ends; not optimised.
#ifndef DEPUTY_COMPILER_REFERENCE_H_
#define DEPUTY_COMPILER_REFERENCE_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// The contents of a value during the evaluation of a graph.
class Contents {
 public:
  Contents() = default;
  Contents(const Value& value, const std::byte* data)
      : type_(value.type), shape_(&value.shape), data_(const_cast<std::byte*>(data)) {}

  bool present() const { return shape_ != nullptr; }
  TfLiteType type() const { return type_; }
  const Shape& shape() const { return *shape_; }
  int extent(size_t axis) const { return (*shape_)[axis]; }
  int64_t count() const { return ElementCount(*shape_); }

  Number At(int64_t index) const { return LoadElement(type_, data_, index); }
  void Set(int64_t index, Number number) const { StoreElement(type_, number, data_, index); }
  // Returns the elements as floats; requires the type float32.
  float* floats() const { return reinterpret_cast<float*>(data_); }
  std::byte* bytes() const { return data_; }

 private:
  TfLiteType type_ = kTfLiteNoType;
  const Shape* shape_ = nullptr;
  std::byte* data_ = nullptr;
};

// Inputs and outputs of an operation. Omitted inputs are not present().
struct Operands {
  std::vector<Contents> inputs;
  std::vector<Contents> outputs;
};

// Computes one operation without its epilogue. Returns false if a value that it reads is invalid
// (an index out of range), and sets `*out_error`.
bool Compute(const Elementwise& kind, const Operands& operands, std::string* out_error);
bool Compute(const View& kind, const Operands& operands, std::string* out_error);
bool Compute(const Copy& kind, const Operands& operands, std::string* out_error);
bool Compute(const Conv2d& kind, const Operands& operands, std::string* out_error);
bool Compute(const DepthwiseConv2d& kind, const Operands& operands, std::string* out_error);
bool Compute(const TransposedConv2d& kind, const Operands& operands, std::string* out_error);
bool Compute(const Pool2d& kind, const Operands& operands, std::string* out_error);
bool Compute(const MatMul& kind, const Operands& operands, std::string* out_error);
bool Compute(const Reduce& kind, const Operands& operands, std::string* out_error);
bool Compute(const Softmax& kind, const Operands& operands, std::string* out_error);
bool Compute(const ArgReduce& kind, const Operands& operands, std::string* out_error);
bool Compute(const CumulativeSum& kind, const Operands& operands, std::string* out_error);
bool Compute(const TopK& kind, const Operands& operands, std::string* out_error);
bool Compute(const Gather& kind, const Operands& operands, std::string* out_error);
bool Compute(const OneHot& kind, const Operands& operands, std::string* out_error);
bool Compute(const Resize& kind, const Operands& operands, std::string* out_error);

// Returns the index of the element of a value of shape `from` that broadcasting reads for element
// `index` of a value of shape `to`.
int64_t BroadcastIndex(const Shape& from, const Shape& to, int64_t index);

// Computes all operations in their order; those on float16 are computed in float32. `inputs` are
// the contents of the graph's inputs, `*out_outputs` receives those of its outputs. Returns false
// and sets `*out_error` as Compute does.
bool ComputeGraph(const Graph& graph, std::span<const std::byte* const> inputs,
                  std::vector<std::vector<std::byte>>* out_outputs, std::string* out_error);

// Computes one operation, epilogue included, whose inputs are all constants. `*out_outputs`
// receives the contents of its outputs. Returns false and sets `*out_error` as Compute does.
bool ComputeConstant(const Graph& graph, const Operation& operation,
                     std::vector<std::vector<std::byte>>* out_outputs, std::string* out_error);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_REFERENCE_H_
