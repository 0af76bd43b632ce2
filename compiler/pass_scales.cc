// SPDX-License-Identifier: Apache-2.0
//
// Folds multiplications and additions of constants per channel into convolutions and products. With
// constants c and d per channel, c * conv(x) + d is a convolution with other weights and another
// bias, and so is conv(c * x + d), unless d is not 0 and the image is padded: padding is 0 and not
// d. Neither is applied if a product of a constant and a weight overflows or loses digits in the
// type in which weights are stored. The latter is not applied if x would be stored as float16 and
// is not known to fit, since float16 may hold c * x but not x.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/facts.h"
#include "compiler/fold.h"
#include "compiler/half_ranges.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

namespace deputy::compiler {
namespace {

// An affine function, scale * x + offset, with one scale and offset per channel (the last axis of
// x).
struct Affine {
  std::vector<double> scale, offset;

  bool IsConstant() const {
    return std::all_of(scale.begin(), scale.end(), [](double s) { return s == 0; });
  }
  bool HasOffset() const {
    return std::any_of(offset.begin(), offset.end(), [](double o) { return o != 0; });
  }
  bool IsFinite() const {
    const auto is_finite = [](double number) { return std::isfinite(number); };
    return std::all_of(scale.begin(), scale.end(), is_finite) &&
           std::all_of(offset.begin(), offset.end(), is_finite);
  }
};
using MaybeAffine = std::optional<Affine>;

MaybeAffine Combine(ScalarOp op, const Affine& a, const Affine& b) {
  Affine result = a;
  for (size_t c = 0; c < a.scale.size(); ++c) {
    switch (op) {
      case ScalarOp::kAdd:
      case ScalarOp::kSub: {
        const double sign = op == ScalarOp::kAdd ? 1 : -1;
        result.scale[c] = a.scale[c] + sign * b.scale[c];
        result.offset[c] = a.offset[c] + sign * b.offset[c];
        break;
      }
      case ScalarOp::kMul:
        if (!a.IsConstant() && !b.IsConstant()) return std::nullopt;
        result.scale[c] = a.scale[c] * b.offset[c] + a.offset[c] * b.scale[c];
        result.offset[c] = a.offset[c] * b.offset[c];
        break;
      default:
        if (op != ScalarOp::kDiv || !b.IsConstant()) return std::nullopt;
        result.scale[c] = a.scale[c] / b.offset[c];
        result.offset[c] = a.offset[c] / b.offset[c];
    }
  }
  return result;
}

// Returns operand `id` as an affine function of the value `x`; nullopt if it is neither x nor a
// float32 constant, a scalar or one number per channel.
MaybeAffine AffineOfOperand(const Rewrite& rewrite, ValueId id, ValueId x, size_t channels) {
  if (id == x) return Affine{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};
  const Value& value = rewrite.value(id);
  const int64_t count = ElementCount(value.shape);
  const bool by_channel =
      !value.shape.empty() && count == value.shape.back() && static_cast<size_t>(count) == channels;
  if (!value.constant() || value.type != kTfLiteFloat32 || (count != 1 && !by_channel)) return {};
  Affine result{std::vector<double>(channels, 0), {}};
  for (size_t c = 0; c < channels; ++c) {
    result.offset.push_back(value.At(count == 1 ? 0 : static_cast<int64_t>(c)).real);
  }
  return result;
}

// Returns an element-wise operation as an affine function of the value `x`.
MaybeAffine AffineOf(const Rewrite& rewrite, const Operation& operation, ValueId x) {
  const auto channels = static_cast<size_t>(rewrite.value(x).shape.back());
  std::vector<Affine> nodes;
  for (const ScalarNode& node : std::get<Elementwise>(operation.kind).expression.nodes()) {
    MaybeAffine result;
    if (node.type != kTfLiteFloat32) return std::nullopt;
    if (node.op == ScalarOp::kOperand) {
      const ValueId id = operation.inputs[static_cast<size_t>(node.operand)];
      result = AffineOfOperand(rewrite, id, x, channels);
    } else if (node.op == ScalarOp::kConstant) {
      result = Affine{std::vector<double>(channels, 0),
                      std::vector<double>(channels, node.constant.real)};
    } else if (ArgumentCount(node.op) == 2) {
      result = Combine(node.op, nodes[static_cast<size_t>(node.arguments[0])],
                       nodes[static_cast<size_t>(node.arguments[1])]);
    }
    if (!result) return std::nullopt;
    nodes.push_back(std::move(*result));
  }
  return nodes.back().IsFinite() ? MaybeAffine(nodes.back()) : std::nullopt;
}

// Returns the only non-constant input of an element-wise operation from float32 to float32 that
// keeps its shape; kNoValue if there is none.
ValueId VariableInput(const Rewrite& rewrite, const Operation& operation) {
  if (!std::holds_alternative<Elementwise>(operation.kind)) return kNoValue;
  ValueId variable = kNoValue;
  for (ValueId id : operation.inputs) {
    if (rewrite.value(id).constant()) continue;
    if (variable != kNoValue && variable != id) return kNoValue;
    variable = id;
  }
  if (variable == kNoValue) return kNoValue;
  const Value &from = rewrite.value(variable), &to = rewrite.value(operation.output());
  const bool fits = from.shape == to.shape && !from.shape.empty() && from.type == kTfLiteFloat32 &&
                    to.type == kTfLiteFloat32;
  return fits ? variable : kNoValue;
}

// ---- Weights ------------------------------------------------------------------------------------

// The input and output channel that an element of the weights connects.
struct Channels {
  size_t in, out;
};
using ChannelsOf = std::function<Channels(size_t index)>;

size_t Extent(const Value& value, size_t axis) { return static_cast<size_t>(value.shape[axis]); }

ChannelsOf OfConv(const Value& filter, size_t groups) {
  const size_t outs = Extent(filter, 0), ins = Extent(filter, 3);
  const size_t each = Extent(filter, 1) * Extent(filter, 2) * ins;
  return [=](size_t index) {
    const size_t out = index / each;
    return Channels{out / (outs / groups) * ins + index % ins, out};
  };
}

ChannelsOf OfDepthwise(const Value& filter, size_t multiplier) {
  const size_t outs = Extent(filter, 3);
  return [=](size_t index) { return Channels{index % outs / multiplier, index % outs}; };
}

ChannelsOf OfProduct(const Value& b, bool transposed) {
  const size_t rank = b.shape.size();
  const size_t rows = Extent(b, rank - 2), columns = Extent(b, rank - 1);
  return [=](size_t index) {
    const size_t row = index / columns % rows, column = index % columns;
    return transposed ? Channels{column, row} : Channels{row, column};
  };
}

// Returns the function that maps an element of the weights to its channels; null if the operation
// has no weights, if the weights are not a float32 constant or the bias is not constant, or if the
// graph may not keep more contents.
ChannelsOf WeightsOf(const Rewrite& rewrite, const Operation& operation) {
  if (operation.inputs.size() < 2 || operation.inputs[1] == kNoValue) return nullptr;
  const Value& weights = rewrite.value(operation.inputs[1]);
  if (!weights.constant() || weights.type != kTfLiteFloat32) return nullptr;
  if (!CanKeep(rewrite.graph(), weights.bytes())) return nullptr;
  const bool biased = operation.inputs.size() > 2 && operation.inputs[2] != kNoValue;
  if (biased && !rewrite.value(operation.inputs[2]).constant()) return nullptr;
  if (const auto* conv = std::get_if<Conv2d>(&operation.kind)) {
    return OfConv(weights, static_cast<size_t>(conv->groups));
  }
  if (std::holds_alternative<TransposedConv2d>(operation.kind)) return OfConv(weights, 1);
  if (const auto* depthwise = std::get_if<DepthwiseConv2d>(&operation.kind)) {
    return OfDepthwise(weights, static_cast<size_t>(depthwise->multiplier));
  }
  const auto* product = std::get_if<MatMul>(&operation.kind);
  return product == nullptr ? nullptr : OfProduct(weights, product->transpose_b);
}

std::vector<double> NumbersOf(const Value& value) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < ElementCount(value.shape); ++i) numbers.push_back(value.At(i).real);
  return numbers;
}

// Returns the bias of an operation by channel; zeros if there is none.
std::vector<double> BiasOf(const Rewrite& rewrite, const Operation& operation) {
  if (operation.inputs.size() > 2 && operation.inputs[2] != kNoValue) {
    return NumbersOf(rewrite.value(operation.inputs[2]));
  }
  return std::vector<double>(static_cast<size_t>(rewrite.value(operation.output()).shape.back()));
}

ValueId AddFloats(Rewrite* rewrite, const Shape& shape, const std::vector<double>& numbers,
                  const std::string& name) {
  const std::vector<float> floats(numbers.begin(), numbers.end());
  const ValueId id =
      rewrite->graph().AddConstantOf<float>(kTfLiteFloat32, shape, std::span<const float>(floats));
  rewrite->graph().value(id).name = name;
  return id;
}

// Range of normal numbers of the type in which weights are stored, and the largest magnitude that
// the type rounds to zero.
struct WeightRange {
  explicit WeightRange(TfLiteType type) {
    if (type != kTfLiteFloat16) return;
    min = kSmallestNormalHalf;
    max = kLargestHalf;
    vanishing = 0x1p-25;
  }

  // Returns true if scaling a weight before it is stored loses no more digits than scaling its
  // products.
  bool Holds(double weight, double scale) const {
    const double scaled = std::fabs(weight * scale);
    if (!(scaled <= max)) return false;
    return scaled >= min || weight == 0 || scale == 0 || std::fabs(scale) >= 0.5 ||
           std::fabs(weight) <= vanishing;
  }

  double min = std::numeric_limits<float>::min(), max = std::numeric_limits<float>::max();
  double vanishing = 0x1p-150;
};

// Weights and bias of an operation with the constants of each channel folded in.
class FoldedWeights {
 public:
  FoldedWeights(const Rewrite& rewrite, const Operation& operation)
      : range_(rewrite.graph().real_storage),
        weights_(NumbersOf(rewrite.value(operation.inputs[1]))),
        bias_(BiasOf(rewrite, operation)) {}

  bool ScaleOutputs(const ChannelsOf& channels_of, const Affine& affine) {
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (!ScaleWeight(i, affine.scale[channels_of(i).out])) return false;
    }
    for (size_t c = 0; c < bias_.size(); ++c) {
      bias_[c] = bias_[c] * affine.scale[c] + affine.offset[c];
    }
    return BiasFits();
  }

  bool ScaleInputs(const ChannelsOf& channels_of, const Affine& affine) {
    for (size_t i = 0; i < weights_.size(); ++i) {
      const Channels channels = channels_of(i);
      bias_[channels.out] += weights_[i] * affine.offset[channels.in];
      if (!ScaleWeight(i, affine.scale[channels.in])) return false;
    }
    return BiasFits();
  }

  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& bias() const { return bias_; }

 private:
  bool ScaleWeight(size_t index, double scale) {
    if (!range_.Holds(weights_[index], scale)) return false;
    weights_[index] *= scale;
    return true;
  }

  // Returns whether all biases are finite as float32, the type in which they are stored.
  bool BiasFits() const {
    return std::all_of(bias_.begin(), bias_.end(), [](double bias) {
      return std::fabs(bias) <= std::numeric_limits<float>::max();
    });
  }

  const WeightRange range_;
  std::vector<double> weights_, bias_;
};

void SetWeights(const FoldedWeights& folded, Rewrite* rewrite, Operation* operation) {
  const std::vector<double>&weights = folded.weights(), &bias = folded.bias();
  const Shape shape = rewrite->value(operation->inputs[1]).shape;
  const std::string name = rewrite->value(operation->inputs[1]).name;
  operation->inputs[1] = AddFloats(rewrite, shape, weights, name);
  operation->inputs.resize(3, kNoValue);
  const bool has_bias = operation->inputs[2] != kNoValue ||
                        std::any_of(bias.begin(), bias.end(), [](double b) { return b != 0; });
  if (!has_bias) return;
  operation->inputs[2] = AddFloats(rewrite, {static_cast<int>(bias.size())}, bias, name);
}

// ---- After the operation ------------------------------------------------------------------------

bool FoldAfter(Rewrite* rewrite, const Operation& elementwise) {
  const ValueId x = VariableInput(*rewrite, elementwise);
  const Operation* producer = rewrite->Producer(x);
  if (producer == nullptr || !producer->epilogue.empty() || !rewrite->HasNoOtherUse(x))
    return false;
  const ChannelsOf channels_of = WeightsOf(*rewrite, *producer);
  if (!channels_of) return false;
  const MaybeAffine affine = AffineOf(*rewrite, elementwise, x);
  if (!affine) return false;
  FoldedWeights weights(*rewrite, *producer);
  if (!weights.ScaleOutputs(channels_of, *affine)) return false;
  Operation folded = rewrite->RemoveProducer(x);
  SetWeights(weights, rewrite, &folded);
  folded.outputs = elementwise.outputs;
  folded.node = elementwise.node;
  rewrite->Add(std::move(folded));
  return true;
}

// ---- Before the operation -----------------------------------------------------------------------

bool StaysInside(int extent, int before, int window, int dilation, int stride, int outputs) {
  return before <= 0 && (outputs - 1) * stride - before + (window - 1) * dilation < extent;
}

// Returns whether the channels' offsets add the same number to all outputs that share a bias, so
// that they fold into the bias: windows must not reach into the padding, and the right factor must
// not have batches.
bool CanFoldOffsets(const Rewrite& rewrite, const Operation& operation) {
  const Shape& in = rewrite.value(operation.inputs[0]).shape;
  const Shape& out = rewrite.value(operation.output()).shape;
  const Window* w = nullptr;
  if (const auto* conv = std::get_if<Conv2d>(&operation.kind)) w = &conv->window;
  if (const auto* depthwise = std::get_if<DepthwiseConv2d>(&operation.kind)) w = &depthwise->window;
  if (w == nullptr) {
    const Shape& b = rewrite.value(operation.inputs[1]).shape;
    return ElementCount(b) == int64_t{b[b.size() - 2]} * b[b.size() - 1];
  }
  return StaysInside(in[1], w->top, w->height, w->dilation_y, w->stride_y, out[1]) &&
         StaysInside(in[2], w->left, w->width, w->dilation_x, w->stride_x, out[2]);
}

// Returns whether an element of the weights multiplies one channel, an index along the last axis of
// the image or of the left factor. Transposed convolutions are excluded.
bool SumsOverChannels(const Operation& operation) {
  if (std::holds_alternative<TransposedConv2d>(operation.kind)) return false;
  const auto* product = std::get_if<MatMul>(&operation.kind);
  return product == nullptr || !product->transpose_a;
}

// Returns true if storing x in place of affine(x) loses no precision: x is stored as float32, or
// lies within known bounds, is not scaled up, and gets no offset.
bool CanStoreUnscaled(const Rewrite& rewrite, ValueId x, const Affine& affine) {
  const Operation* producer = rewrite.Producer(x);
  if (rewrite.graph().real_storage != kTfLiteFloat16 || producer == nullptr) return true;
  const auto* kind = std::get_if<Elementwise>(&producer->kind);
  const Expression& expression = kind == nullptr ? producer->epilogue : kind->expression;
  if (expression.empty() || affine.HasOffset()) return false;
  const Facts facts = FactsOf(expression);
  return facts.min >= -kLargestHalf && facts.max <= kLargestHalf &&
         std::all_of(affine.scale.begin(), affine.scale.end(),
                     [](double scale) { return std::fabs(scale) <= 1; });
}

bool FoldBefore(Rewrite* rewrite, Operation* operation) {
  const ChannelsOf channels_of = WeightsOf(*rewrite, *operation);
  if (!channels_of || !SumsOverChannels(*operation)) return false;
  const ValueId scaled = operation->inputs[0];
  const Operation* producer = rewrite->Producer(scaled);
  if (producer == nullptr || !rewrite->HasNoOtherUse(scaled)) return false;
  const ValueId x = VariableInput(*rewrite, *producer);
  if (x == kNoValue) return false;
  const MaybeAffine affine = AffineOf(*rewrite, *producer, x);
  if (!affine || (affine->HasOffset() && !CanFoldOffsets(*rewrite, *operation))) return false;
  if (!CanStoreUnscaled(*rewrite, x, *affine)) return false;
  FoldedWeights weights(*rewrite, *operation);
  if (!weights.ScaleInputs(channels_of, *affine)) return false;
  SetWeights(weights, rewrite, operation);
  operation->inputs[0] = x;
  return true;
}

}  // namespace

int FoldScales(Graph* graph) {
  Rewrite rewrite(graph);
  Operation operation;
  while (rewrite.Next(&operation)) {
    if (FoldAfter(&rewrite, operation)) {
      rewrite.CountChange();
      continue;
    }
    if (FoldBefore(&rewrite, &operation)) rewrite.CountChange();
    rewrite.Add(std::move(operation));
  }
  return rewrite.Finish();
}

}  // namespace deputy::compiler
