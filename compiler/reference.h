// SPDX-License-Identifier: Apache-2.0
//
// Computes a graph the plain way, element by element. What constants are folded with, and what
// every pass and every back end is compared with; nothing here is fast.
#ifndef DEPUTY_COMPILER_REFERENCE_H_
#define DEPUTY_COMPILER_REFERENCE_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/graph.h"

namespace deputy::compiler {

// The contents of a value while a graph is computed.
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
  // For values of type float32.
  float* floats() const { return reinterpret_cast<float*>(data_); }
  std::byte* bytes() const { return data_; }

 private:
  TfLiteType type_ = kTfLiteNoType;
  const Shape* shape_ = nullptr;
  std::byte* data_ = nullptr;
};

// What an operation reads and writes. Inputs that are left out are not present.
struct Operands {
  std::vector<Contents> inputs;
  std::vector<Contents> outputs;
};

// One operation, without its epilogue. False if a value that it reads makes no sense (an index out
// of range); `*out_error` then says what.
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

// Index of the element of a value of shape `from` that is used for element `index` of `to`, to
// which it is broadcast.
int64_t BroadcastIndex(const Shape& from, const Shape& to, int64_t index);

// Computes all operations in their order, those on float16 with float32 in between. `inputs` are
// the contents of the graph's inputs;
// `*out_outputs` get those of its outputs. False with a text as above.
bool ComputeGraph(const Graph& graph, std::span<const std::byte* const> inputs,
                  std::vector<std::vector<std::byte>>* out_outputs, std::string* out_error);

// One operation whose inputs are all constants, epilogue included: the contents of its outputs.
bool ComputeConstant(const Graph& graph, const Operation& operation,
                     std::vector<std::vector<std::byte>>* out_outputs, std::string* out_error);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_REFERENCE_H_
