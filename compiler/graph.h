// SPDX-License-Identifier: Apache-2.0
//
// A partition of a model as values and operations of our own: fewer kinds of operations than
// TensorFlow Lite has operators, each with all of its parameters resolved. Contents are dense, in
// row-major order; images are [batch, height, width, channels].
//
// A graph is plain data, copyable, and knows no device. Import makes it, passes change it, a back
// end reads it.
#ifndef DEPUTY_COMPILER_GRAPH_H_
#define DEPUTY_COMPILER_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "compiler/expression.h"
#include "compiler/number.h"

namespace deputy::compiler {

using Shape = std::vector<int>;

// INT64_MAX where it would be more.
int64_t ElementCount(const Shape& shape);
// An extent as a shape can hold it: what is too large becomes one that does not fit.
int ClampedExtent(int64_t extent);

// Limits of every value of a graph. An element's number and the sum of two fit an int, which is
// what devices count with.
inline constexpr int64_t kMaxElements = int64_t{1} << 30;
inline constexpr size_t kMaxAxes = 32;
// Whether a shape stays below them: no extent is negative, and with 1 in place of 0 the product is
// no more than kMaxElements.
bool FitsIndex(const Shape& shape);
// "[2,3]"
std::string ToText(const Shape& shape);
// How many elements lie between neighbours along each axis.
std::vector<int64_t> Strides(const Shape& shape);

// ---- Values -------------------------------------------------------------------------------------

// real = scale * (stored - zero_point). A scale of 0: not quantised.
struct Quantization {
  float scale = 0;
  int zero_point = 0;

  friend bool operator==(const Quantization&, const Quantization&) = default;
};

using ValueId = int;
inline constexpr ValueId kNoValue = -1;

struct Value {
  TfLiteType type = kTfLiteNoType;
  Shape shape;
  Quantization quantization;
  std::string name;                 // of the tensor it was, for dumps and reports
  int tensor = -1;                  // the model's tensor; -1: made by a pass
  const std::byte* data = nullptr;  // contents of a constant, else null
  std::shared_ptr<const std::vector<std::byte>> owned;  // what `data` points into, if the graph's

  bool constant() const { return data != nullptr; }
  size_t bytes() const { return static_cast<size_t>(ElementCount(shape)) * ElementBytes(type); }
  // An element of a constant.
  Number At(int64_t index) const { return LoadElement(type, data, index); }
};

// ---- Operations ---------------------------------------------------------------------------------

// The result of an expression whose operands are the inputs; each is broadcast to the output's
// shape: axes are matched from the last, and an extent of 1 repeats.
struct Elementwise {
  Expression expression;
};

// The input's contents in another shape.
struct View {};

// A nest of loops that copies elements of one input to the output: for all i_d below extent_d,
//   output[to + sum i_d * to_stride_d] = input[from + sum i_d * from_stride_d].
struct CopyLoop {
  int64_t extent = 1;
  int64_t from_stride = 0;
  int64_t to_stride = 0;

  friend bool operator==(const CopyLoop&, const CopyLoop&) = default;
};
struct CopyRegion {
  int input = 0;  // which of the operation's inputs
  int64_t from = 0;
  int64_t to = 0;
  std::vector<CopyLoop> loops;  // outermost first

  friend bool operator==(const CopyRegion&, const CopyRegion&) = default;
};

// Regions of inputs; no element is written twice. What no region writes is `fill`.
struct Copy {
  std::vector<CopyRegion> regions;
  Number fill;
};

// A window that moves over height and width. Padding is what lies before the first and behind the
// last row or column.
struct Window {
  int height = 1, width = 1;
  int stride_y = 1, stride_x = 1;
  int dilation_y = 1, dilation_x = 1;
  int top = 0, left = 0, bottom = 0, right = 0;
};

// Inputs: image, filter [out channels, height, width, channels / groups], bias [out channels] or
// none.
struct Conv2d {
  Window window;
  int groups = 1;
};

// Inputs: image, filter [1, height, width, channels * multiplier], bias or none. Output channel
// c * multiplier + m comes from channel c.
struct DepthwiseConv2d {
  Window window;
  int multiplier = 1;
};

// Inputs: image, filter [out channels, height, width, channels], bias or none. Each pixel of the
// image spreads over a window of the output; top and left are cut off there.
struct TransposedConv2d {
  Window window;
};

enum class PoolKind : uint8_t { kMax, kAverage, kL2 };

// Padding counts for none of them: an average is over the pixels that are there.
struct Pool2d {
  PoolKind kind = PoolKind::kMax;
  Window window;
};

// Inputs: a [..., m, k], b [..., k, n], bias [n] or none; transposed ones have their last two axes
// exchanged. The leading axes are broadcast.
struct MatMul {
  bool transpose_a = false;
  bool transpose_b = false;
};

enum class ReduceKind : uint8_t { kSum, kMean, kProd, kMax, kMin, kAny, kAll };

// Over the axes in the mask (bit 0: the first axis), which keep an extent of 1.
struct Reduce {
  ReduceKind kind = ReduceKind::kSum;
  uint32_t axes = 0;
};

// Over the last axis: exp(beta * x) / sum, or its logarithm.
struct Softmax {
  float beta = 1;
  bool log = false;
};

// The index of the largest or smallest value along an axis, which goes; the first among equals.
struct ArgReduce {
  bool largest = true;
  int axis = 0;
};

// Sums of all elements along an axis up to each.
struct CumulativeSum {
  int axis = 0;
  bool exclusive = false;
  bool reverse = false;
};

// Two outputs: the k largest along the last axis, in falling order, and their int32 indices.
struct TopK {};

// Inputs: values, indices (int32 or int64). An index takes the place of an axis behind the first
// batch_axes, which values and indices share. An index out of range is an error of the model.
struct Gather {
  int axis = 0;
  int batch_axes = 0;
};

// Inputs: indices, the value where it is on, the value where it is off. The output has one axis
// more.
struct OneHot {
  int axis = 0;
};

// Pixels of the input at scaled coordinates.
struct Resize {
  bool bilinear = false;
  bool align_corners = false;
  bool half_pixel_centers = false;
};

using OperationKind =
    std::variant<Elementwise, View, Copy, Conv2d, DepthwiseConv2d, TransposedConv2d, Pool2d, MatMul,
                 Reduce, Softmax, ArgReduce, CumulativeSum, TopK, Gather, OneHot, Resize>;

struct Operation {
  OperationKind kind;
  std::vector<ValueId> inputs;  // kNoValue where an optional one is left out
  std::vector<ValueId> outputs;
  // What becomes of each element of the first output before it is stored: operand 0 is the element,
  // operand n is epilogue_inputs[n - 1], broadcast to the output's shape. Empty: nothing.
  Expression epilogue;
  std::vector<ValueId> epilogue_inputs;
  int node = -1;  // the model's node that it came from, the last one where several were fused

  ValueId output() const { return outputs.front(); }
};

// "conv_2d" and the like.
const char* KindName(const OperationKind& kind);

// ---- The graph ----------------------------------------------------------------------------------

struct Graph {
  std::deque<Value> values;           // references to them hold while others are added
  std::vector<Operation> operations;  // each after those that make its inputs
  std::vector<ValueId> inputs;        // in the order of the partition
  std::vector<ValueId> outputs;
  // In which type the reals that the graph makes and its filters will be stored: passes keep them
  // in its range. float16: UseHalfStorage follows.
  TfLiteType real_storage = kTfLiteFloat32;
  size_t model_bytes = 0;  // contents of constants that are the model's
  size_t kept_bytes = 0;   // contents that were added, whether or not they are still needed
  int64_t fold_steps = 0;  // what has been computed of constants

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }

  ValueId AddValue(TfLiteType type, Shape shape, std::string name = "");
  // A constant whose contents the graph keeps.
  ValueId AddConstant(TfLiteType type, Shape shape, std::vector<std::byte> contents,
                      std::string name = "");
  template <typename T>
  ValueId AddConstantOf(TfLiteType type, Shape shape, std::span<const T> values_of_it) {
    const auto bytes = std::as_bytes(values_of_it);
    return AddConstant(type, std::move(shape), {bytes.begin(), bytes.end()});
  }
};

// Every value that an operation reads: inputs and epilogue inputs that are not left out.
std::vector<ValueId> ReadValues(const Operation& operation);

// By value: the operation that makes it, -1 for inputs and constants.
std::vector<int> Producers(const Graph& graph);
// By value: how many operations read it (twice if as two inputs), graph outputs counted as one.
std::vector<int> UseCounts(const Graph& graph);

// What is wrong with a graph: an id out of range, a value used before it is made or made twice, a
// shape that does not fit (FitsIndex), an expression with an operand too many, contents or a view
// of another size than the shape's. Empty: nothing. Every pass leaves a graph of which this says
// nothing.
std::string FindFault(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_GRAPH_H_
