// SPDX-License-Identifier: Apache-2.0
//
// Intermediate representation of a partition: values and operations. It has fewer kinds of
// operations than TensorFlow Lite has operators, each with all of its parameters resolved. Contents
// are dense, in row-major order; images are [batch, height, width, channels].
//
// A graph is plain, copyable data and independent of any device. The importer creates it, passes
// transform it, and a back end translates it.
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

// Returns the number of elements of a shape; saturates at INT64_MAX.
int64_t ElementCount(const Shape& shape);
// Converts an extent to int; one that is too large becomes a value that FitsIndex rejects.
int ClampedExtent(int64_t extent);

// Limits of every value of a graph. An element's index, and the sum of two indices, fit in an int,
// the index type of devices.
inline constexpr int64_t kMaxElements = int64_t{1} << 30;
inline constexpr size_t kMaxAxes = 32;
// Returns whether a shape is within the limits: it has at most kMaxAxes axes, no extent is
// negative, and the product of the extents, with 1 in place of 0, is at most kMaxElements.
bool FitsIndex(const Shape& shape);
// Formats a shape, for example "[2,3]".
std::string ToText(const Shape& shape);
// Returns the distance, in elements, between neighbours along each axis.
std::vector<int64_t> Strides(const Shape& shape);

// ---- Values -------------------------------------------------------------------------------------

// Parameters of quantisation: real = scale * (stored - zero_point). A scale of 0 means not
// quantised.
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
  std::string name;                 // name of the model's tensor, for dumps and reports
  int tensor = -1;                  // index of the model's tensor; -1: none
  const std::byte* data = nullptr;  // contents of a constant, else null
  std::shared_ptr<const std::vector<std::byte>> owned;  // storage of `data` if the graph owns it

  bool constant() const { return data != nullptr; }
  size_t bytes() const { return static_cast<size_t>(ElementCount(shape)) * ElementBytes(type); }
  // Returns an element of a constant.
  Number At(int64_t index) const { return LoadElement(type, data, index); }
};

// ---- Operations ---------------------------------------------------------------------------------

// Evaluates an expression whose operands are the inputs. Inputs are broadcast to the output's
// shape: axes are aligned at the last one, and an extent of 1 is repeated.
struct Elementwise {
  Expression expression;
};

// Reinterprets the input's contents in another shape.
struct View {};

// One loop of a nest that copies elements of an input to the output. For all i_d below extent_d,
//   output[to + sum i_d * to_stride_d] = input[from + sum i_d * from_stride_d].
struct CopyLoop {
  int64_t extent = 1;
  int64_t from_stride = 0;
  int64_t to_stride = 0;

  friend bool operator==(const CopyLoop&, const CopyLoop&) = default;
};
struct CopyRegion {
  int input = 0;  // index among the operation's inputs
  int64_t from = 0;
  int64_t to = 0;
  std::vector<CopyLoop> loops;  // outermost first

  friend bool operator==(const CopyRegion&, const CopyRegion&) = default;
};

// Copies regions of the inputs; no element is written twice. Elements that no region writes are set
// to `fill`.
struct Copy {
  std::vector<CopyRegion> regions;
  Number fill;
};

// A window that moves over height and width. top, left, bottom and right are the padding before the
// first and after the last row or column.
struct Window {
  int height = 1, width = 1;
  int stride_y = 1, stride_x = 1;
  int dilation_y = 1, dilation_x = 1;
  int top = 0, left = 0, bottom = 0, right = 0;
};

// Products are of reals or of integers. A product of integers has an int8 or uint8 image (or left
// factor), from whose elements it subtracts `zero_point`; an int8 filter (or right factor); an
// optional int32 bias; and int32 sums. Filter and bias are constants with which no sum overflows.

// Convolution. Inputs: image, filter [out channels, height, width, channels / groups], optional
// bias [out channels].
struct Conv2d {
  Window window;
  int groups = 1;
  int zero_point = 0;
};

// Convolution of each channel alone. Inputs: image, filter [1, height, width, channels *
// multiplier], optional bias. Output channel c * multiplier + m is computed from channel c.
struct DepthwiseConv2d {
  Window window;
  int multiplier = 1;
  int zero_point = 0;
};

// Transposed convolution. Inputs: image, filter [out channels, height, width, channels], optional
// bias. Each pixel of the image is added to a window of the output; the window's top and left are
// the rows and columns cropped from the output.
struct TransposedConv2d {
  Window window;
};

enum class PoolKind : uint8_t { kMax, kAverage, kL2 };

// Pooling of each channel. Padding is ignored: an average is over the pixels within the image.
struct Pool2d {
  PoolKind kind = PoolKind::kMax;
  Window window;
};

// Matrix product. Inputs: a [..., m, k], b [..., k, n], optional bias [n]. Transposed factors have
// their last two axes exchanged. The leading axes are broadcast.
struct MatMul {
  bool transpose_a = false;
  bool transpose_b = false;
  int zero_point = 0;
};

enum class ReduceKind : uint8_t { kSum, kMean, kProd, kMax, kMin, kAny, kAll };

// Reduces the axes in the mask (bit 0: the first axis); they keep an extent of 1.
struct Reduce {
  ReduceKind kind = ReduceKind::kSum;
  uint32_t axes = 0;
};

// Computes exp(beta * x), divided by its sum over the last axis; with `log`, the logarithm of the
// result.
struct Softmax {
  float beta = 1;
  bool log = false;
};

// Computes the index of the largest or smallest value along an axis, which is removed. Of equal
// values the first one counts.
struct ArgReduce {
  bool largest = true;
  int axis = 0;
};

// Computes the running sum along an axis.
struct CumulativeSum {
  int axis = 0;
  bool exclusive = false;
  bool reverse = false;
};

// Computes two outputs: the k largest elements along the last axis, in descending order, and their
// indices.
struct TopK {};

// Selects slices by index. Inputs: values, indices (int32 or int64). The axes of the indices
// replace axis `axis` of the values, except for the first batch_axes axes, which values and indices
// share. An index out of range is an error of the model.
struct Gather {
  int axis = 0;
  int batch_axes = 0;
};

// Encodes indices as one-hot vectors. Inputs: indices, on value, off value. The output has one more
// axis than the indices.
struct OneHot {
  int axis = 0;
};

// Resizes an image by sampling it at scaled coordinates.
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
  std::vector<ValueId> inputs;  // kNoValue for an omitted optional input
  std::vector<ValueId> outputs;
  // Expression applied to each element of the first output before it is stored. Operand 0 is the
  // element, operand n is epilogue_inputs[n - 1], broadcast to the output's shape. Empty: no
  // epilogue.
  Expression epilogue;
  std::vector<ValueId> epilogue_inputs;
  int node = -1;  // index of the model's node; the last one if several were fused

  ValueId output() const { return outputs.front(); }
};

// Returns the name of the kind, for example "conv_2d".
const char* KindName(const OperationKind& kind);

// ---- The graph ----------------------------------------------------------------------------------

struct Graph {
  std::deque<Value> values;  // a deque, so that references stay valid when values are added
  std::vector<Operation> operations;  // in topological order
  std::vector<ValueId> inputs;        // in the order of the partition's inputs
  std::vector<ValueId> outputs;
  // Storage type of the real values that the graph computes and of its filters. Passes keep numbers
  // in its range. If it is float16, the caller runs UseHalfStorage after the passes.
  TfLiteType real_storage = kTfLiteFloat32;
  size_t model_bytes = 0;  // total bytes of the constants of the model that the import reads
  size_t kept_bytes = 0;   // contents that were added, in use or not
  int64_t fold_steps = 0;  // steps spent on constant folding so far (StepsOf)

  const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }

  ValueId AddValue(TfLiteType type, Shape shape, std::string name = "");
  // Adds a constant whose contents the graph owns.
  ValueId AddConstant(TfLiteType type, Shape shape, std::vector<std::byte> contents,
                      std::string name = "");
  template <typename T>
  ValueId AddConstantOf(TfLiteType type, Shape shape, std::span<const T> values_of_it) {
    const auto bytes = std::as_bytes(values_of_it);
    return AddConstant(type, std::move(shape), {bytes.begin(), bytes.end()});
  }
};

// Returns the zero point of a product of integers; 0 for any other operation.
int ZeroPointOf(const OperationKind& kind);

// Returns every value that an operation reads: inputs and epilogue inputs that are present.
std::vector<ValueId> ReadValues(const Operation& operation);

// Returns the producer of each value as an operation index; -1 for inputs and constants.
std::vector<int> Producers(const Graph& graph);
// Returns the number of uses of each value: one per operation input that reads it, and one if it is
// a graph output.
std::vector<int> UseCounts(const Graph& graph);

// Validates a graph. Returns "" or a description of the first fault, for example an id out of
// range, a value used before it is computed or computed twice, a shape beyond the limits
// (FitsIndex), an expression with an operand that is not an input, or contents or a view whose size
// differs from the shape's. Every pass must leave a valid graph.
std::string FindFault(const Graph& graph);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_GRAPH_H_
