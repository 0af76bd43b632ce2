// SPDX-License-Identifier: Apache-2.0
//
// Support for importing one operator. The import_<family>.cc of each operator family has a table of
// operators and their import functions. A function reads a node, checks it, adds operations and
// sets the node's outputs; or it refuses the node, and the import is discarded.
#ifndef DEPUTY_COMPILER_NODE_IMPORT_H_
#define DEPUTY_COMPILER_NODE_IMPORT_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/graph.h"
#include "core/support/refusal.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::compiler {

class NodeImport;

struct ImportRow {
  const char* name;
  TfLiteBuiltinOperator code;
  int max_version;
  bool (*import)(NodeImport*);  // returns false after a refusal
  bool moves = false;           // moves stored values, so all tensors must have the same scale
};

// Tables of the operator families.
std::span<const ImportRow> ConvRows();
std::span<const ImportRow> ElementwiseRows();
std::span<const ImportRow> LookupRows();
std::span<const ImportRow> MatmulRows();
std::span<const ImportRow> MovementRows();
std::span<const ImportRow> QuantizeRows();
std::span<const ImportRow> ReduceRows();
std::span<const ImportRow> ShapeRows();
std::span<const ImportRow> SliceRows();

// State of an import, shared by all nodes of a partition.
struct ImportState {
  TfLiteContext* context = nullptr;
  Graph* graph = nullptr;
  // True to check support only: contents of constants are not converted.
  bool check_only = false;
  // True to import products of quantised values as products of integers where possible.
  bool integer_products = false;
  std::map<int, ValueId> values;  // values as stored, by tensor
  std::map<int, ValueId> reals;   // float32 conversions of values of other types, by tensor
};

// Inputs of a product of quantised values: their numbers, and the axis of the output channels in
// the filter.
struct ProductInputs {
  int left, filter, bias, axis;
};

class NodeImport {
 public:
  NodeImport(ImportState* state, const char* name, int node_index, const TfLiteNode& node)
      : state_(state), name_(name), node_index_(node_index), node_(node) {}

  // ---- Properties of the node ----

  int input_count() const { return node_.inputs->size; }
  int output_count() const { return node_.outputs->size; }
  // Returns false for an optional input that is omitted, by index -1 or by a shorter list.
  bool has_input(int n) const { return n < input_count() && node_.inputs->data[n] >= 0; }
  const TfLiteTensor& input_tensor(int n) const { return tensor(node_.inputs->data[n]); }
  const TfLiteTensor& output_tensor(int n) const { return tensor(node_.outputs->data[n]); }
  // Returns the shape that the runtime's tensor of an output has at present.
  Shape OutputShape(int n) const;
  // Returns the options of a builtin operator. If the node has none, refuses it and returns zeros.
  template <typename Params>
  const Params& params() {
    static constexpr Params kNone = {};
    if (node_.builtin_data != nullptr) return *static_cast<const Params*>(node_.builtin_data);
    Refuse(kDeputyReasonParameter, "expected options, found none");
    return kNone;
  }

  // Returns the options of a custom operator.
  std::span<const char> options() const {
    if (node_.custom_initial_data == nullptr || node_.custom_initial_data_size <= 0) return {};
    return {static_cast<const char*>(node_.custom_initial_data),
            static_cast<size_t>(node_.custom_initial_data_size)};
  }

  // ---- Checks: each returns false after a refusal; the first refusal is kept ----

  bool Refuse(DeputyReason reason, const char* format, ...) __attribute__((format(printf, 3, 4)));
  // Refuses the node; the text names the tensor of input `n`.
  bool RefuseInput(int n, DeputyReason reason, const char* format, ...)
      __attribute__((format(printf, 4, 5)));
  // Checks that there are `min` to `max` inputs, the first `min` of them present; that no input is
  // sparse, dynamic or of an unsupported type; that every shape is within the limits (FitsIndex);
  // and that constants have at least as many bytes as their shape requires.
  bool CheckInputs(int min, int max);
  // Checks that the type of an input is one of `types`.
  bool CheckType(int n, std::initializer_list<TfLiteType> types);
  // Checks that Real can read an input: float32, float16, or int8, uint8 or int16 with one scale
  // or, for a constant, with one scale per channel.
  bool CheckReal(int n);
  // Checks that an input has one scale, or one per slice along `axis`, as biases require. An axis
  // of -1 requires one scale.
  bool CheckScaleAxis(int n, int axis);
  // Checks that the first output has the scale and zero point of the first input, for operators
  // that keep them.
  bool CheckSameScale();
  // Checks that every quantised tensor with the first output's type has the same scale and zero
  // point.
  bool CheckOneScale();
  // Checks that an input has `min` to `max` axes.
  bool CheckRank(int n, int min, int max);
  // Reads an input, which must be a constant of int32 or int64, or a shape that the runtime has
  // computed.
  bool ReadInts(int n, std::vector<int>* out_values);
  // Checks a bias of `channels` elements: real (CheckReal), or a constant of int32 or int64 if
  // `quantized`. An omitted bias is valid.
  bool CheckBias(int n, bool quantized, int channels);
  // Checks that a result's shape is within the limits. Must be called before strides of the shape
  // are computed; Add checks the shapes of the values that it adds.
  bool CheckResult(const Shape& shape);
  // Resolves an axis, where negative ones count from the end; refuses one out of range.
  bool ReadAxis(int64_t axis, size_t rank, int* out_axis);

  // ---- Values ----

  const Value& value(ValueId id) const { return state_->graph->value(id); }
  const Shape& shape(ValueId id) const { return value(id).shape; }
  // Returns an input's value as it is stored; kNoValue if the input is omitted.
  ValueId Input(int n);
  // Returns the numbers that an input represents as float32: the input itself, cast, or
  // dequantised.
  ValueId Real(int n);
  // Returns an int32 or int64 constant as float32, each element multiplied by the scale of its
  // channel. A bias of another type is returned as by Real; kNoValue if it is omitted.
  ValueId RealBias(int n, std::span<const double> scales);
  // Returns scale and zero point of a tensor with one scale; none for types other than int8, uint8
  // and int16.
  Quantization InputQuantization(int n) const { return QuantizationOf(input_tensor(n)); }
  Quantization OutputQuantization(int n) const { return QuantizationOf(output_tensor(n)); }
  // Returns the scales of an input: one, or one per slice along `*out_axis`.
  std::vector<double> Scales(int n, int* out_axis) const;
  // Returns the zero point that an input's channels share; nullopt if they have different ones.
  std::optional<int> ZeroPoint(int n) const;
  ValueId Constant(TfLiteType type, Shape shape, std::span<const double> numbers);
  // Expands a sparse constant. Returns kNoValue, after a refusal, for any other input, and if the
  // sparsity is invalid or a limit is exceeded.
  ValueId Dense(int n);

  // ---- Products of integers (import_integers.cc) ----

  // Returns the inputs of a product of integers; nothing if reals have to be computed: because of
  // the import's options, types, an activation that is not a range, a filter whose numbers less
  // their zero point exceed int8, or sums that may overflow.
  std::vector<ValueId> IntegerInputs(const ProductInputs& inputs, TfLiteFusedActivation activation);
  // Returns the sums of a product of integers, scaled, limited by the activation and rounded to the
  // output's type.
  ValueId AddRequantize(ValueId sums, const ProductInputs& inputs,
                        TfLiteFusedActivation activation);

  // ---- Adding operations ----

  // Adds an operation with one output. Operations on constants are folded immediately if Fold
  // allows it, except with check_only. After a refusal, or if the shape is beyond the limits, which
  // refuses the node, nothing is added: the result is a value of the same rank with extents of 1.
  ValueId Add(OperationKind kind, std::vector<ValueId> inputs, TfLiteType type, Shape shape);
  // Adds an operation with several outputs; it is not folded.
  std::vector<ValueId> AddMany(OperationKind kind, std::vector<ValueId> inputs,
                               const std::vector<std::pair<TfLiteType, Shape>>& outputs);
  // Adds an element-wise operation; the inputs are broadcast. Returns kNoValue, after a refusal, if
  // their shapes are incompatible.
  ValueId AddElementwise(Expression expression, const std::vector<ValueId>& inputs);
  ValueId AddUnary(ScalarOp op, ValueId a);
  ValueId AddBinary(ScalarOp op, ValueId a, ValueId b);
  ValueId AddCast(ValueId a, TfLiteType type);
  // Adds a view with another shape of the same element count.
  ValueId AddView(ValueId a, Shape shape);
  // Repeats a value to a shape that it can be broadcast to.
  ValueId AddBroadcast(ValueId a, const Shape& shape);
  // Applies an activation to float32. Returns kNoValue, after a refusal, if it is not supported.
  ValueId AddActivation(ValueId a, TfLiteFusedActivation activation);

  // ---- Outputs ----

  // Sets an output to a value as stored; the value must have the tensor's type.
  bool SetOutput(int n, ValueId id);
  // Sets an output to a float32 value, which is quantised or cast to the tensor's type.
  bool SetRealOutput(int n, ValueId id);

  // Returns the first refusal; nullopt if there is none.
  const std::optional<Refusal>& refusal() const { return refusal_; }
  // Returns the number of calls that set an output.
  int outputs_set() const { return outputs_set_; }

 private:
  static Quantization QuantizationOf(const TfLiteTensor& tensor);
  const TfLiteTensor& tensor(int index) const { return state_->context->tensors[index]; }
  bool RefuseText(DeputyReason reason, std::string text);
  std::string OfTensor(int index) const;
  ValueId ValueOf(int tensor_index);
  ValueId RealConstant(int n);
  // Returns the filter less its zero point as an int8 constant; kNoValue if it exceeds int8.
  ValueId SignedFilter(int n);
  ValueId Dequantized(int n, ValueId stored);
  // Checks that `bytes` of contents may be added to those that the graph keeps.
  bool CheckKept(size_t bytes);
  ValueId AddUnknown(TfLiteType type, size_t axes);

  ImportState* const state_;
  const char* const name_;
  const int node_index_;
  const TfLiteNode& node_;
  std::optional<Refusal> refusal_;
  int outputs_set_ = 0;
};

// Computes the shape that both shapes are broadcast to; returns false if they are incompatible.
bool BroadcastShapes(const Shape& a, const Shape& b, Shape* out_shape);

// Appends the quantisation of a float32 node to `type`: divides by the scale, rounds halves away
// from zero, adds the zero point and clamps. The result has the type `type`.
int AppendQuantize(Expression* expression, int node, TfLiteType type, Quantization quantization);
// Appends the dequantisation of a stored number to float32.
int AppendDequantize(Expression* expression, int node, Quantization quantization);
// Appends a fused activation; returns -1 if it is not supported.
int AppendActivation(Expression* expression, int node, TfLiteFusedActivation activation);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_NODE_IMPORT_H_
