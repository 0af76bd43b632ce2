// SPDX-License-Identifier: Apache-2.0
//
// What the import of one operator works with. Each import_<family>.cc is a table of operators with
// a function each, which reads a node, checks it, adds operations, and sets the node's outputs; or
// refuses, in which case what it has added counts for nothing.
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
#include "compiler/refusal.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"
#include "tensorflow/lite/c/common.h"

namespace deputy::compiler {

class NodeImport;

struct ImportRow {
  const char* name;
  TfLiteBuiltinOperator code;
  int max_version;
  bool (*import)(NodeImport*);  // false: refused
  bool moves = false;           // stored values: all of its tensors need one scale
};

// The tables.
std::span<const ImportRow> ConvRows();
std::span<const ImportRow> ElementwiseRows();
std::span<const ImportRow> LookupRows();
std::span<const ImportRow> MatmulRows();
std::span<const ImportRow> MovementRows();
std::span<const ImportRow> QuantizeRows();
std::span<const ImportRow> ReduceRows();
std::span<const ImportRow> ShapeRows();
std::span<const ImportRow> SliceRows();

// The state of an import, for all nodes of a partition.
struct ImportState {
  TfLiteContext* context = nullptr;
  Graph* graph = nullptr;
  // Only to find out whether it works: contents of constants are not converted.
  bool check_only = false;
  std::map<int, ValueId> values;  // by tensor
  std::map<int, ValueId> reals;   // by tensor: its values as float32
};

class NodeImport {
 public:
  NodeImport(ImportState* state, const char* name, int node_index, const TfLiteNode& node)
      : state_(state), name_(name), node_index_(node_index), node_(node) {}

  // ---- The node ----

  int input_count() const { return node_.inputs->size; }
  int output_count() const { return node_.outputs->size; }
  // An optional one may be left out, or not be there at all.
  bool has_input(int n) const { return n < input_count() && node_.inputs->data[n] >= 0; }
  const TfLiteTensor& input_tensor(int n) const { return tensor(node_.inputs->data[n]); }
  const TfLiteTensor& output_tensor(int n) const { return tensor(node_.outputs->data[n]); }
  // The shape that an output's tensor has so far: what the file says.
  Shape OutputShape(int n) const;
  // Its options. Of a node that has none, which is refused then, zeros.
  template <typename Params>
  const Params& params() {
    static constexpr Params kNone = {};
    if (node_.builtin_data != nullptr) return *static_cast<const Params*>(node_.builtin_data);
    Refuse(kDeputyReasonParameter, "expected options, found none");
    return kNone;
  }

  // Of a custom operator.
  std::span<const char> options() const {
    if (node_.custom_initial_data == nullptr || node_.custom_initial_data_size <= 0) return {};
    return {static_cast<const char*>(node_.custom_initial_data),
            static_cast<size_t>(node_.custom_initial_data_size)};
  }

  // ---- Checks, which refuse: the first one counts ----

  bool Refuse(DeputyReason reason, const char* format, ...) __attribute__((format(printf, 3, 4)));
  // A refusal that names the tensor of an input.
  bool RefuseInput(int n, DeputyReason reason, const char* format, ...)
      __attribute__((format(printf, 4, 5)));
  // The first `least` inputs are there, and no more than `most`; every tensor has a shape within
  // the limits (FitsIndex), and a constant has its contents.
  bool CheckInputs(int least, int most);
  // The type of an input is one of those.
  bool CheckType(int n, std::initializer_list<TfLiteType> types);
  // An input has values that Real can read: float32, float16, or integers with one scale.
  bool CheckReal(int n);
  // An input has one scale, or one for each slice along `axis`: what a bias counts on. -1: one.
  bool CheckScaleAxis(int n, int axis);
  // The first output has the scale of the first input, which operators count on that move values.
  bool CheckSameScale();
  // Every tensor with the first output's type and a scale has the same one.
  bool CheckOneScale();
  // So many axes.
  bool CheckRank(int n, int least, int most);
  // The input is a constant of int32 or int64.
  bool ReadInts(int n, std::vector<int>* out_values);
  // A bias of float32 or, where the other inputs are quantised, a constant of int32 or int64; of so
  // many values. One that is left out is fine.
  bool CheckBias(int n, bool quantized, int channels);
  // A shape that is about to be made is within the limits. To be called before strides are computed
  // of it; that values are is seen to by Add.
  bool CheckResult(const Shape& shape);
  // A negative axis counts from the end; out of range is refused.
  bool ReadAxis(int64_t axis, size_t rank, int* out_axis);

  // ---- Values ----

  const Value& value(ValueId id) const { return state_->graph->value(id); }
  const Shape& shape(ValueId id) const { return value(id).shape; }
  // The value of an input as it is stored; kNoValue where it is left out.
  ValueId Input(int n);
  // The values that an input means, as float32: the input itself, cast, or dequantised.
  ValueId Real(int n);
  // An int32 or int64 constant as float32, each element times the scale for its place; float32 as
  // it is.
  ValueId RealBias(int n, std::span<const double> scales);
  // Of a tensor with one scale; none for other types than int8, uint8 and int16.
  Quantization InputQuantization(int n) const { return QuantizationOf(input_tensor(n)); }
  Quantization OutputQuantization(int n) const { return QuantizationOf(output_tensor(n)); }
  // The scales of an input: one, or one for each slice along `*out_axis`.
  std::vector<double> Scales(int n, int* out_axis) const;
  ValueId Constant(TfLiteType type, Shape shape, std::span<const double> numbers);
  // A sparse constant as a dense one; kNoValue, after a refusal, for any other input.
  ValueId Dense(int n);

  // ---- Adding operations ----

  // With one output. Constants alone are computed at once. After a refusal, or for a shape beyond
  // the limits, which is one, nothing is added: the value has as many axes, of extent 1.
  ValueId Add(OperationKind kind, std::vector<ValueId> inputs, TfLiteType type, Shape shape);
  // With several; nothing is computed now.
  std::vector<ValueId> AddMany(OperationKind kind, std::vector<ValueId> inputs,
                               const std::vector<std::pair<TfLiteType, Shape>>& outputs);
  // The shape is what those of the inputs are broadcast to; kNoValue, after a refusal, if they do
  // not fit.
  ValueId AddElementwise(Expression expression, const std::vector<ValueId>& inputs);
  ValueId AddUnary(ScalarOp op, ValueId a);
  ValueId AddBinary(ScalarOp op, ValueId a, ValueId b);
  ValueId AddCast(ValueId a, TfLiteType type);
  // The same contents in another shape, which has as many elements.
  ValueId AddView(ValueId a, Shape shape);
  // Repeated to a shape that it can be broadcast to.
  ValueId AddBroadcast(ValueId a, const Shape& shape);
  // float32 -> float32. kNoValue, after a refusal, for an activation that there is not.
  ValueId AddActivation(ValueId a, TfLiteFusedActivation activation);

  // ---- Outputs ----

  // The value is what the tensor stores; its type is the tensor's.
  bool SetOutput(int n, ValueId id);
  // The float32 value is what the tensor means: it is quantised or cast to the tensor's type.
  bool SetRealOutput(int n, ValueId id);

  // Nothing: none so far.
  const std::optional<Refusal>& refusal() const { return refusal_; }
  // How many times an output was set.
  int outputs_set() const { return outputs_set_; }

 private:
  static Quantization QuantizationOf(const TfLiteTensor& tensor);
  const TfLiteTensor& tensor(int index) const { return state_->context->tensors[index]; }
  bool RefuseText(DeputyReason reason, std::string text);
  std::string OfTensor(int index) const;
  ValueId ValueOf(int tensor_index);
  ValueId RealConstant(int n);
  ValueId Dequantized(int n, ValueId stored);
  // So many bytes may be added to the contents that the graph keeps.
  bool CheckKept(size_t bytes);
  ValueId AddUnknown(TfLiteType type, size_t axes);

  ImportState* const state_;
  const char* const name_;
  const int node_index_;
  const TfLiteNode& node_;
  std::optional<Refusal> refusal_;
  int outputs_set_ = 0;
};

// What shapes are broadcast to; false if they do not fit.
bool BroadcastShapes(const Shape& a, const Shape& b, Shape* out_shape);

// Appends what turns a float32 node into a stored number of the type: divided by the scale, halves
// rounded away from zero, plus the zero point, clamped. The type of the result is `type`.
int AppendQuantize(Expression* expression, int node, TfLiteType type, Quantization quantization);
// Appends what turns a stored number into the float32 that it means.
int AppendDequantize(Expression* expression, int node, Quantization quantization);
// Appends a fused activation; -1 for one that there is not.
int AppendActivation(Expression* expression, int node, TfLiteFusedActivation activation);

}  // namespace deputy::compiler

#endif  // DEPUTY_COMPILER_NODE_IMPORT_H_
