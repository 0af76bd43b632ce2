// SPDX-License-Identifier: Apache-2.0
#include "compiler/node_import.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>

#include "compiler/copy.h"
#include "compiler/fold.h"
#include "compiler/sparse.h"

namespace deputy::compiler {
namespace {

std::string Format(const char* format, va_list args) {
  char text[400];
  // The analyzer reports `args` as uninitialised when it inlines two callers.
  vsnprintf(text, sizeof text, format, args);  // NOLINT(clang-analyzer-valist.Uninitialized)
  return text;
}

Shape ShapeOf(const TfLiteTensor& tensor) {
  if (tensor.dims == nullptr) return {};
  return {tensor.dims->data, tensor.dims->data + tensor.dims->size};
}

// Returns true for a constant with elements. An empty filter, shape or list of axes has rules of
// its own in each operator, so it does not count as a constant, and operators that require one
// refuse the node.
bool IsConstantTensor(const TfLiteTensor& tensor) {
  return tensor.allocation_type == kTfLiteMmapRo && tensor.data.raw != nullptr && tensor.bytes > 0;
}

int Clamped(int64_t number) {
  return static_cast<int>(std::clamp<int64_t>(number, INT32_MIN, INT32_MAX));
}

// Reads a PersistentRo tensor of integers with contents: a shape that the runtime has computed in
// its prepare. Other PersistentRo tensors have no contents before the first inference. Returns
// false for all tensors but such a shape.
bool ReadComputedShape(const TfLiteTensor& tensor, std::vector<int>* out_values) {
  const bool wide = tensor.type == kTfLiteInt64;
  if (tensor.allocation_type != kTfLitePersistentRo || tensor.data.raw == nullptr ||
      (!wide && tensor.type != kTfLiteInt32)) {
    return false;
  }
  const size_t count = tensor.bytes / (wide ? sizeof(int64_t) : sizeof(int32_t));
  for (size_t i = 0; i < count; ++i) {
    out_values->push_back(wide ? Clamped(tensor.data.i64[i]) : tensor.data.i32[i]);
  }
  return true;
}

const TfLiteAffineQuantization* AffineOf(const TfLiteTensor& tensor) {
  if (tensor.quantization.type != kTfLiteAffineQuantization) return nullptr;
  const auto* affine = static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
  if (affine == nullptr || affine->scale == nullptr || affine->scale->size == 0) return nullptr;
  return affine;
}

bool IsQuantizedType(TfLiteType type) {
  return type == kTfLiteInt8 || type == kTfLiteUInt8 || type == kTfLiteInt16;
}

const char* NameOf(const TfLiteTensor& tensor) { return tensor.name == nullptr ? "" : tensor.name; }

// Describes how a shape exceeds the limits, for a refusal.
std::string Limits(const Shape& shape) {
  if (shape.size() > kMaxAxes) {
    return "expected at most " + std::to_string(kMaxAxes) + " axes, found " +
           std::to_string(shape.size());
  }
  return "expected at most " + std::to_string(kMaxElements) + " elements, found " + ToText(shape);
}

// Returns the index along `axis` of the element `index` of a tensor of that shape.
size_t IndexAlong(const Shape& shape, int axis, int64_t index) {
  const int64_t stride = Strides(shape)[static_cast<size_t>(axis)];
  return static_cast<size_t>(index / stride % shape[static_cast<size_t>(axis)]);
}

}  // namespace

// ---- Checks -------------------------------------------------------------------------------------

bool NodeImport::RefuseText(DeputyReason reason, std::string text) {
  if (!refusal_) refusal_ = {reason, std::string(name_) + ": " + std::move(text)};
  return false;
}

std::string NodeImport::OfTensor(int index) const {
  return "tensor " + std::to_string(index) + " '" + NameOf(tensor(index)) + "': ";
}

bool NodeImport::Refuse(DeputyReason reason, const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = Format(format, args);
  va_end(args);
  return RefuseText(reason, std::move(text));
}

bool NodeImport::RefuseInput(int n, DeputyReason reason, const char* format, ...) {
  va_list args;
  va_start(args, format);
  std::string text = Format(format, args);
  va_end(args);
  return RefuseText(reason, OfTensor(node_.inputs->data[n]) + text);
}

bool NodeImport::CheckInputs(int min, int max) {
  if (input_count() > max) {
    return Refuse(kDeputyReasonOther, "expected at most %d inputs, found %d", max, input_count());
  }
  for (int n = 0; n < min; ++n) {
    if (!has_input(n)) return Refuse(kDeputyReasonOther, "input %d is missing", n);
  }
  for (int n = 0; n < input_count(); ++n) {
    if (!has_input(n)) continue;
    const TfLiteTensor& input = input_tensor(n);
    if (input.sparsity != nullptr)
      return RefuseInput(n, kDeputyReasonOther, "sparse tensors are not supported");
    if (input.dims == nullptr || input.allocation_type == kTfLiteDynamic) {
      return RefuseInput(n, kDeputyReasonDynamicShape, "dynamic shapes are not supported");
    }
    if (ElementBytes(input.type) == 0) {
      return RefuseInput(n, kDeputyReasonType, "unsupported type %s", TypeName(input.type));
    }
    // Reading an input numbers its value, so that values are in the order of the inputs.
    const Value& stored = value(Input(n));
    if (!FitsIndex(stored.shape)) {
      return RefuseInput(n, kDeputyReasonShape, "%s", Limits(stored.shape).c_str());
    }
    if (IsConstantTensor(input) && input.bytes < stored.bytes()) {
      return RefuseInput(n, kDeputyReasonOther, "expected %zu bytes, found %zu", stored.bytes(),
                         input.bytes);
    }
  }
  return true;
}

bool NodeImport::CheckKept(size_t bytes) {
  if (CanKeep(*state_->graph, bytes)) return true;
  return Refuse(kDeputyReasonOther, "constants exceed the limit: %zu bytes, and %zu more",
                state_->graph->kept_bytes, bytes);
}

bool NodeImport::CheckResult(const Shape& shape) {
  if (FitsIndex(shape)) return true;
  return RefuseText(kDeputyReasonShape, OfTensor(node_.outputs->data[0]) + Limits(shape));
}

bool NodeImport::CheckType(int n, std::initializer_list<TfLiteType> types) {
  const TfLiteType found = input_tensor(n).type;
  if (std::find(types.begin(), types.end(), found) != types.end()) return true;
  std::string expected;
  for (TfLiteType type : types) {
    expected += (expected.empty() ? "" : " or ") + std::string(TypeName(type));
  }
  return RefuseInput(n, kDeputyReasonType, "expected %s, found %s", expected.c_str(),
                     TypeName(found));
}

bool NodeImport::CheckReal(int n) {
  const TfLiteTensor& input = input_tensor(n);
  if (input.type == kTfLiteFloat32 || input.type == kTfLiteFloat16) return true;
  if (!IsQuantizedType(input.type)) {
    return RefuseInput(n, kDeputyReasonType, "expected real or quantised values, found %s",
                       TypeName(input.type));
  }
  const TfLiteAffineQuantization* affine = AffineOf(input);
  if (affine == nullptr || !(affine->scale->data[0] > 0)) {
    return RefuseInput(n, kDeputyReasonQuantization, "expected a scale for %s, found none",
                       TypeName(input.type));
  }
  if (affine->scale->size == 1) return true;
  if (!IsConstantTensor(input)) {
    return RefuseInput(n, kDeputyReasonQuantization,
                       "a scale per channel is supported for constants only");
  }
  const int axis = affine->quantized_dimension;
  const int channels = axis >= 0 && axis < input.dims->size ? input.dims->data[axis] : 0;
  if (affine->scale->size == channels) return true;
  return RefuseInput(n, kDeputyReasonQuantization,
                     "expected one scale or one per channel, found %d scales for %d channels",
                     affine->scale->size, channels);
}

bool NodeImport::CheckScaleAxis(int n, int axis) {
  int found = 0;
  const size_t count = Scales(n, &found).size();
  if (count == 1 || found == axis) return true;
  return RefuseInput(n, kDeputyReasonQuantization,
                     "unsupported axis of scales: %zu scales along axis %d", count, found);
}

bool NodeImport::CheckSameScale() {
  if (InputQuantization(0) == OutputQuantization(0)) return true;
  return Refuse(kDeputyReasonQuantization, "the scales of input and output differ");
}

bool NodeImport::CheckOneScale() {
  const TfLiteTensor& first = output_tensor(0);
  if (!IsQuantizedType(first.type)) return true;
  const auto differs = [&](const TfLiteTensor& other) {
    return other.type == first.type && other.params.scale > 0 && first.params.scale > 0 &&
           QuantizationOf(other) != QuantizationOf(first);
  };
  for (int n = 0; n < input_count(); ++n) {
    if (has_input(n) && differs(input_tensor(n))) {
      return RefuseInput(n, kDeputyReasonQuantization, "the scale differs from the output's");
    }
  }
  for (int n = 1; n < output_count(); ++n) {
    if (differs(output_tensor(n))) {
      return Refuse(kDeputyReasonQuantization, "the outputs have different scales");
    }
  }
  return true;
}

bool NodeImport::CheckRank(int n, int min, int max) {
  const int rank = input_tensor(n).dims->size;
  if (rank >= min && rank <= max) return true;
  return RefuseInput(n, kDeputyReasonShape, "expected %d to %d axes, found %d", min, max, rank);
}

bool NodeImport::CheckBias(int n, bool quantized, int channels) {
  if (!has_input(n)) return true;
  if (quantized ? !CheckType(n, {kTfLiteInt32, kTfLiteInt64}) : !CheckReal(n)) return false;
  if (quantized && !value(Input(n)).constant()) {
    return RefuseInput(n, kDeputyReasonNotConstant, "expected a constant");
  }
  if (ElementCount(shape(Input(n))) == channels) return true;
  return RefuseInput(n, kDeputyReasonShape, "expected %d values", channels);
}

bool NodeImport::ReadInts(int n, std::vector<int>* out_values) {
  if (!CheckType(n, {kTfLiteInt32, kTfLiteInt64})) return false;
  out_values->clear();
  if (ReadComputedShape(input_tensor(n), out_values)) return true;
  const Value& constant = value(Input(n));
  if (!constant.constant()) return RefuseInput(n, kDeputyReasonNotConstant, "expected a constant");
  for (int64_t i = 0; i < ElementCount(constant.shape); ++i) {
    out_values->push_back(Clamped(constant.At(i).integer));
  }
  return true;
}

bool NodeImport::ReadAxis(int64_t axis, size_t rank, int* out_axis) {
  const auto axes = static_cast<int64_t>(rank);
  if (axis < -axes || axis >= axes) {
    return Refuse(kDeputyReasonParameter, "axis %lld is out of range for rank %lld",
                  static_cast<long long>(axis), static_cast<long long>(axes));
  }
  *out_axis = static_cast<int>(axis < 0 ? axis + axes : axis);
  return true;
}

Shape NodeImport::OutputShape(int n) const { return ShapeOf(output_tensor(n)); }

// ---- Values -------------------------------------------------------------------------------------

Quantization NodeImport::QuantizationOf(const TfLiteTensor& tensor) {
  if (!IsQuantizedType(tensor.type)) return {};
  return {tensor.params.scale, tensor.params.zero_point};
}

ValueId NodeImport::ValueOf(int tensor_index) {
  const auto found = state_->values.find(tensor_index);
  if (found != state_->values.end()) return found->second;
  const TfLiteTensor& from = tensor(tensor_index);
  const ValueId id = state_->graph->AddValue(from.type, ShapeOf(from), NameOf(from));
  Value& value = state_->graph->value(id);
  value.tensor = tensor_index;
  value.quantization = QuantizationOf(from);
  if (IsConstantTensor(from)) {
    value.data = reinterpret_cast<const std::byte*>(from.data.raw_const);
    state_->graph->model_bytes += std::min(value.bytes(), from.bytes);
  }
  state_->values[tensor_index] = id;
  return id;
}

ValueId NodeImport::Input(int n) {
  return has_input(n) ? ValueOf(node_.inputs->data[n]) : kNoValue;
}

std::vector<double> NodeImport::Scales(int n, int* out_axis) const {
  const TfLiteTensor& from = input_tensor(n);
  *out_axis = 0;
  if (!IsQuantizedType(from.type)) return {1};
  const TfLiteAffineQuantization* affine = AffineOf(from);
  if (affine == nullptr) return {from.params.scale};
  *out_axis = affine->quantized_dimension;
  return {affine->scale->data, affine->scale->data + affine->scale->size};
}

std::optional<int> NodeImport::ZeroPoint(int n) const {
  const TfLiteTensor& from = input_tensor(n);
  const TfLiteAffineQuantization* affine = AffineOf(from);
  if (affine == nullptr || affine->zero_point == nullptr || affine->zero_point->size == 0) return 0;
  const std::span<const int> zeros(affine->zero_point->data,
                                   static_cast<size_t>(affine->zero_point->size));
  const bool same = std::all_of(zeros.begin(), zeros.end(), [&](int z) { return z == zeros[0]; });
  return same ? std::optional<int>(zeros[0]) : std::nullopt;
}

ValueId NodeImport::RealConstant(int n) {
  const Value from = value(Input(n));
  const int64_t count = ElementCount(from.shape);
  if (state_->check_only || !CheckKept(static_cast<size_t>(count) * sizeof(float)))
    return state_->graph->AddValue(kTfLiteFloat32, from.shape, from.name);
  const TfLiteAffineQuantization* affine =
      IsQuantizedType(from.type) ? AffineOf(input_tensor(n)) : nullptr;
  std::vector<float> reals(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const Number number = from.At(i);
    if (affine == nullptr) {
      reals[static_cast<size_t>(i)] = static_cast<float>(number.real);
      continue;
    }
    const bool each = affine->scale->size > 1;
    const size_t channel = each ? IndexAlong(from.shape, affine->quantized_dimension, i) : 0;
    const bool zero_each = affine->zero_point != nullptr && affine->zero_point->size > 1;
    const int zero = affine->zero_point == nullptr || affine->zero_point->size == 0
                         ? 0
                         : affine->zero_point->data[zero_each ? channel : 0];
    reals[static_cast<size_t>(i)] =
        affine->scale->data[channel] * static_cast<float>(number.integer - zero);
  }
  const ValueId id = state_->graph->AddConstantOf<float>(kTfLiteFloat32, from.shape,
                                                         std::span<const float>(reals));
  state_->graph->value(id).name = from.name;
  return id;
}

ValueId NodeImport::Dequantized(int n, ValueId stored) {
  Expression expression;
  expression.SetResult(AppendDequantize(&expression, expression.Operand(0, value(stored).type),
                                        InputQuantization(n)));
  return AddElementwise(expression, {stored});
}

ValueId NodeImport::Real(int n) {
  const ValueId stored = Input(n);
  if (value(stored).type == kTfLiteFloat32) return stored;
  const int index = node_.inputs->data[n];
  const auto found = state_->reals.find(index);
  if (found != state_->reals.end()) return found->second;
  ValueId id;
  if (value(stored).constant()) {
    id = RealConstant(n);
  } else if (value(stored).type == kTfLiteFloat16) {
    id = AddCast(stored, kTfLiteFloat32);
  } else {
    id = Dequantized(n, stored);
  }
  state_->reals[index] = id;
  return id;
}

ValueId NodeImport::RealBias(int n, std::span<const double> scales) {
  const ValueId stored = Input(n);
  if (stored == kNoValue) return kNoValue;
  if (value(stored).type != kTfLiteInt32 && value(stored).type != kTfLiteInt64) return Real(n);
  const Value from = value(stored);
  const size_t bytes = static_cast<size_t>(ElementCount(from.shape)) * sizeof(float);
  if (state_->check_only || !CheckKept(bytes))
    return state_->graph->AddValue(kTfLiteFloat32, from.shape, from.name);
  std::vector<double> reals;
  for (int64_t i = 0; i < ElementCount(from.shape); ++i) {
    const double scale = scales[scales.size() == 1 ? 0 : static_cast<size_t>(i)];
    reals.push_back(static_cast<double>(from.At(i).integer) * scale);
  }
  return Constant(kTfLiteFloat32, from.shape, reals);
}

ValueId NodeImport::Constant(TfLiteType type, Shape shape, std::span<const double> numbers) {
  const size_t bytes = numbers.size() * ElementBytes(type);
  if (!CheckKept(bytes)) return AddUnknown(type, shape.size());
  std::vector<std::byte> contents(bytes);
  for (size_t i = 0; i < numbers.size(); ++i) {
    StoreElement(type, NumberOf(type, numbers[i]), contents.data(), static_cast<int64_t>(i));
  }
  return state_->graph->AddConstant(type, std::move(shape), std::move(contents));
}

ValueId NodeImport::Dense(int n) {
  const auto refused = [](bool) { return kNoValue; };
  if (!has_input(n)) return refused(Refuse(kDeputyReasonOther, "input %d is missing", n));
  const TfLiteTensor& from = input_tensor(n);
  const Shape shape = ShapeOf(from);
  const size_t each = ElementBytes(from.type);
  if (from.sparsity == nullptr || !IsConstantTensor(from) || each == 0) {
    return refused(RefuseInput(n, kDeputyReasonNotConstant, "expected a sparse constant"));
  }
  if (!FitsIndex(shape)) {
    return refused(RefuseInput(n, kDeputyReasonShape, "%s", Limits(shape).c_str()));
  }
  std::vector<int64_t> positions;
  std::string problem = FindSparsePositions(*from.sparsity, shape, &positions);
  if (problem.empty() && from.bytes < positions.size() * each) {
    problem = "sparsity: expected " + std::to_string(positions.size()) + " values, found " +
              std::to_string(from.bytes) + " bytes";
  }
  if (!problem.empty()) return refused(RefuseInput(n, kDeputyReasonOther, "%s", problem.c_str()));
  if (state_->check_only) return state_->graph->AddValue(from.type, shape);
  state_->graph->model_bytes += from.bytes;
  const size_t bytes = static_cast<size_t>(ElementCount(shape)) * each;
  if (!CheckKept(bytes)) return kNoValue;
  std::vector<std::byte> contents(bytes);
  for (size_t i = 0; i < positions.size(); ++i) {
    memcpy(contents.data() + static_cast<size_t>(positions[i]) * each,
           from.data.raw_const + i * each, each);
  }
  return state_->graph->AddConstant(from.type, shape, std::move(contents));
}

// ---- Adding operations --------------------------------------------------------------------------

ValueId NodeImport::Add(OperationKind kind, std::vector<ValueId> inputs, TfLiteType type,
                        Shape shape) {
  if (refusal_ || !CheckResult(shape)) return AddUnknown(type, shape.size());
  Graph& graph = *state_->graph;
  const ValueId id = graph.AddValue(type, std::move(shape));
  Operation operation;
  operation.kind = std::move(kind);
  operation.inputs = std::move(inputs);
  operation.outputs = {id};
  operation.node = node_index_;
  std::vector<std::vector<std::byte>> contents;
  if (!state_->check_only && Fold(&graph, operation, &contents)) {
    return graph.AddConstant(type, value(id).shape, std::move(contents[0]));
  }
  graph.operations.push_back(std::move(operation));
  return id;
}

ValueId NodeImport::AddUnknown(TfLiteType type, size_t axes) {
  return state_->graph->AddValue(type, Shape(axes, 1));
}

std::vector<ValueId> NodeImport::AddMany(OperationKind kind, std::vector<ValueId> inputs,
                                         const std::vector<std::pair<TfLiteType, Shape>>& outputs) {
  Operation operation;
  operation.kind = std::move(kind);
  operation.inputs = std::move(inputs);
  for (const auto& [type, shape] : outputs) {
    const bool known = !refusal_ && CheckResult(shape);
    operation.outputs.push_back(known ? state_->graph->AddValue(type, shape)
                                      : AddUnknown(type, shape.size()));
  }
  operation.node = node_index_;
  if (!refusal_) state_->graph->operations.push_back(operation);
  return operation.outputs;
}

ValueId NodeImport::AddElementwise(Expression expression, const std::vector<ValueId>& inputs) {
  Shape result;
  for (ValueId id : inputs) {
    if (BroadcastShapes(result, shape(id), &result)) continue;
    Refuse(kDeputyReasonShape, "the shapes cannot be broadcast");
    return kNoValue;
  }
  const TfLiteType type = expression.result_type();
  return Add(Elementwise{std::move(expression)}, inputs, type, std::move(result));
}

ValueId NodeImport::AddUnary(ScalarOp op, ValueId a) {
  Expression expression;
  expression.Apply(op, expression.Operand(0, value(a).type));
  return AddElementwise(std::move(expression), {a});
}

ValueId NodeImport::AddBinary(ScalarOp op, ValueId a, ValueId b) {
  Expression expression;
  const int left = expression.Operand(0, value(a).type);
  expression.Apply(op, left, expression.Operand(1, value(b).type));
  return AddElementwise(std::move(expression), {a, b});
}

ValueId NodeImport::AddCast(ValueId a, TfLiteType type) {
  if (value(a).type == type) return a;
  Expression expression;
  expression.Cast(expression.Operand(0, value(a).type), type);
  return AddElementwise(std::move(expression), {a});
}

ValueId NodeImport::AddView(ValueId a, Shape shape) {
  if (value(a).shape == shape) return a;
  return Add(View{}, {a}, value(a).type, std::move(shape));
}

ValueId NodeImport::AddBroadcast(ValueId a, const Shape& shape) {
  if (value(a).shape == shape) return a;
  if (!CheckResult(shape)) return AddUnknown(value(a).type, shape.size());
  const Shape from = value(a).shape;
  const std::vector<int64_t> from_strides = Strides(from), to_strides = Strides(shape);
  CopyRegion region;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool own = axis + from.size() >= shape.size();
    const size_t from_axis = own ? axis + from.size() - shape.size() : 0;
    const bool repeats = !own || from[from_axis] == 1;
    region.loops.push_back({shape[axis], repeats ? 0 : from_strides[from_axis], to_strides[axis]});
  }
  return Add(Copy{{Simplify(std::move(region))}, {}}, {a}, value(a).type, shape);
}

ValueId NodeImport::AddActivation(ValueId a, TfLiteFusedActivation activation) {
  if (activation == kTfLiteActNone) return a;
  Expression expression;
  const int result =
      AppendActivation(&expression, expression.Operand(0, kTfLiteFloat32), activation);
  if (result < 0) {
    Refuse(kDeputyReasonParameter, "unsupported fused activation %d", activation);
    return kNoValue;
  }
  expression.SetResult(result);
  return AddElementwise(std::move(expression), {a});
}

// ---- Outputs ------------------------------------------------------------------------------------

bool NodeImport::SetOutput(int n, ValueId id) {
  if (id == kNoValue) return false;
  const int index = node_.outputs->data[n];
  const TfLiteTensor& to = tensor(index);
  if (value(id).type != to.type) {
    return Refuse(kDeputyReasonType, "tensor %d '%s': expected %s, found %s", index, NameOf(to),
                  TypeName(value(id).type), TypeName(to.type));
  }
  // One value may be held by several tensors; it keeps the name of the first one.
  Value& value = state_->graph->value(id);
  if (value.tensor < 0) {
    value.tensor = index;
    value.name = NameOf(to);
    value.quantization = QuantizationOf(to);
  }
  state_->values[index] = id;
  ++outputs_set_;
  return true;
}

bool NodeImport::SetRealOutput(int n, ValueId id) {
  if (id == kNoValue) return false;
  const TfLiteTensor& to = output_tensor(n);
  if (to.type == kTfLiteFloat32) return SetOutput(n, id);
  if (to.type == kTfLiteFloat16) return SetOutput(n, AddCast(id, kTfLiteFloat16));
  if (!IsQuantizedType(to.type) || !(to.params.scale > 0)) {
    return Refuse(kDeputyReasonType, "tensor %d '%s': expected real or quantised values, found %s",
                  node_.outputs->data[n], NameOf(to), TypeName(to.type));
  }
  Expression expression;
  expression.SetResult(AppendQuantize(&expression, expression.Operand(0, kTfLiteFloat32), to.type,
                                      OutputQuantization(n)));
  return SetOutput(n, AddElementwise(std::move(expression), {id}));
}

}  // namespace deputy::compiler
