// SPDX-License-Identifier: Apache-2.0
#include "compiler/half_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/facts.h"

namespace deputy::compiler {
namespace {

using enum ScalarOp;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Maximum factor by which an ordinary value may be scaled, up or down, and still be ordinary.
constexpr double kMaxGain = 0x1p10;
// Assumed magnitude of an ordinary value. Constants of up to kMaxGain times this, 2^16, may be
// added to one.
constexpr double kOrdinary = 0x1p6;
// Largest integer up to which float16 represents every integer.
constexpr double kMaxWhole = 0x1p11;

// The magnitude of a result. `gain` is its ratio to an ordinary value and means nothing where a
// bound is known or the magnitude is unknown.
struct Range {
  double gain = 1;
  double bound = kInfinity;  // upper bound on the magnitude
  double steps = 0;          // largest magnitude of the integer, for a scaled integer; else 0
  bool is_unknown = false;   // may be much larger than an ordinary value
  bool is_reciprocal = false;
  bool is_constant = false;

  bool is_bounded() const { return std::isfinite(bound); }
};

Range Bounded(double bound) {
  Range range;
  range.bound = bound;
  return range;
}

Range Unknown() {
  Range range;
  range.is_unknown = true;
  return range;
}

Range Reciprocal() {
  Range range;
  range.is_reciprocal = true;
  return range;
}

bool FitsHalf(const Range& range) {
  if (range.is_unknown || range.is_reciprocal || range.steps > kMaxWhole) return false;
  if (!range.is_bounded()) return range.gain <= kMaxGain && range.gain >= 1 / kMaxGain;
  return range.bound == 0 || (range.bound <= kLargestHalf && range.bound >= kSmallestNormalHalf);
}

// ---- Expressions --------------------------------------------------------------------------------

Range Scaled(const Range& range, double factor) {
  Range scaled = range;
  if (factor == 0) return Bounded(0);
  scaled.gain *= factor;
  scaled.bound *= factor;
  scaled.is_constant = false;
  return scaled;
}

Range OfProduct(const Range& a, const Range& b) {
  if (a.is_bounded() || b.is_bounded()) {
    const Range &factor = b.is_constant || !a.is_bounded() ? b : a, &other = &factor == &b ? a : b;
    Range range = Scaled(other, factor.bound);
    if (!factor.is_constant) range.steps = 0;
    range.is_constant = a.is_constant && b.is_constant;
    return range;
  }
  if (a.is_reciprocal != b.is_reciprocal) return {};
  return Unknown();
}

// Returns the range of a quotient; `min` is a lower bound on the divisor.
Range OfQuotient(const Range& a, const Range& b, double min) {
  if (b.is_constant) return b.bound == 0 ? Unknown() : Scaled(a, 1 / b.bound);
  if (min > 0 && std::isfinite(min)) return Scaled(a, 1 / min);
  if (a.is_bounded()) return Reciprocal();
  return a.is_unknown && b.is_reciprocal ? Unknown() : Range();
}

// Returns the range of a sum, or of a value that equals either operand. Small bounded terms do not
// change a magnitude.
Range OfEither(const Range& a, const Range& b, bool is_sum) {
  const auto gain = [](const Range& of) {
    if (!of.is_bounded()) return of.gain;
    return of.bound / kOrdinary > kMaxGain ? of.bound / kOrdinary : 0;
  };
  Range range;
  range.gain = std::max(gain(a), gain(b));
  range.bound = is_sum ? a.bound + b.bound : std::max(a.bound, b.bound);
  range.is_unknown = a.is_unknown || b.is_unknown;
  range.is_reciprocal = a.is_reciprocal || b.is_reciprocal;
  range.is_constant = a.is_constant && b.is_constant;
  if (a.is_constant || b.is_constant || !is_sum) range.steps = std::max(a.steps, b.steps);
  return range;
}

Range OfPower(const Range& base, const Range& exponent, const ScalarNode& number) {
  if (base.is_unknown || number.op != kConstant) return Unknown();
  const double power = number.constant.real;
  if (power >= 0 && power <= 1) return {};
  return exponent.is_constant && power < 0 ? Reciprocal() : Unknown();
}

Range OfRoot(const Range& a) {
  if (a.is_reciprocal) return a;
  Range range;
  if (a.is_bounded()) range.bound = std::sqrt(a.bound);
  if (!a.is_unknown) range.gain = std::sqrt(a.gain);
  return range;
}

// Computes the ranges of an expression's nodes, given those of its operands.
class Expressions {
 public:
  Range Of(const Expression& expression, const std::vector<Range>& operands) {
    nodes_ = expression.nodes();
    for (const ScalarNode& node : nodes_) {
      facts_.push_back(FactsOf(node, facts_));
      ranges_.push_back(WithFacts(node, OfNode(node, operands)));
    }
    return ranges_.back();
  }

 private:
  const Range& Argument(const ScalarNode& node, int i) const {
    return ranges_[static_cast<size_t>(node.arguments[i])];
  }

  Range WithFacts(const ScalarNode& node, Range range) const {
    const Facts& facts = facts_.back();
    const double bound = std::max(std::fabs(facts.min), std::fabs(facts.max));
    if (!IsFloat(node.type) || !(bound < range.bound)) return range;
    range.bound = bound;
    range.is_unknown = range.is_reciprocal = false;
    return range;
  }

  Range OfCast(const ScalarNode& node) const {
    const auto argument = static_cast<size_t>(node.arguments[0]);
    if (IsFloat(nodes_[argument].type)) return ranges_[argument];
    const Facts& facts = facts_[argument];
    Range range = Bounded(std::max(std::fabs(facts.min), std::fabs(facts.max)));
    range.steps = range.bound;
    return range;
  }

  Range OfNode(const ScalarNode& node, const std::vector<Range>& operands) const {
    const auto facts = [&](int i) { return facts_[static_cast<size_t>(node.arguments[i])]; };
    switch (node.op) {
      case kOperand:
        return operands[static_cast<size_t>(node.operand)];
      case kConstant: {
        Range range = Bounded(IsFloat(node.type) && std::isfinite(node.constant.real)
                                  ? std::fabs(node.constant.real)
                                  : 0);
        range.is_constant = true;
        return range;
      }
      case kCast:
        return OfCast(node);
      case kAdd:
      case kSub:
        return OfEither(Argument(node, 0), Argument(node, 1), true);
      case kMax:
      case kMin:
        return OfEither(Argument(node, 0), Argument(node, 1), false);
      case kSelect:
        return OfEither(Argument(node, 1), Argument(node, 2), false);
      case kMul:
        return OfProduct(Argument(node, 0), Argument(node, 1));
      case kDiv:
        return OfQuotient(Argument(node, 0), Argument(node, 1), facts(1).min);
      case kPow:
        return OfPower(Argument(node, 0), Argument(node, 1),
                       nodes_[static_cast<size_t>(node.arguments[1])]);
      case kAbs:
      case kNeg:
      case kFloor:
      case kCeil:
      case kRoundEven:
      case kRoundAway:
        return Argument(node, 0);
      default:
        return OfTranscendental(node);
    }
  }

  Range OfTranscendental(const ScalarNode& node) const {
    switch (node.op) {
      case kSqrt:
        return OfRoot(Argument(node, 0));
      case kRsqrt:
        return Reciprocal();
      case kExp: {
        const double max = facts_[static_cast<size_t>(node.arguments[0])].max;
        return std::isfinite(max) ? Bounded(std::exp(max)) : Unknown();
      }
      case kSign:
      case kSin:
      case kCos:
      case kTanh:
      case kLogistic:
      case kErf:
        return Bounded(1);
      default:
        return {};
    }
  }

  std::span<const ScalarNode> nodes_;
  std::vector<Facts> facts_;
  std::vector<Range> ranges_;
};

// ---- Operations ---------------------------------------------------------------------------------

Range OfConstant(const Value& value) {
  double bound = 0;
  for (int64_t i = 0; IsFloat(value.type) && i < ElementCount(value.shape); ++i) {
    const double number = std::fabs(value.At(i).real);
    if (std::isfinite(number)) bound = std::max(bound, number);
  }
  Range range = Bounded(bound);
  range.is_constant = true;
  return range;
}

bool IsStatistic(const Operation& operation) {
  if (std::holds_alternative<CumulativeSum>(operation.kind)) return true;
  const auto* reduce = std::get_if<Reduce>(&operation.kind);
  return reduce != nullptr && reduce->kind != ReduceKind::kMax && reduce->kind != ReduceKind::kMin;
}

constexpr size_t kFilter = 1;

bool HasFilter(const Operation& operation) {
  return std::holds_alternative<Conv2d>(operation.kind) ||
         std::holds_alternative<DepthwiseConv2d>(operation.kind) ||
         std::holds_alternative<TransposedConv2d>(operation.kind) ||
         std::holds_alternative<MatMul>(operation.kind);
}

// Returns true for operations that select, move or combine elements, so that results have the
// magnitude of the inputs. OfKind corrects sums and products along axes.
bool KeepsMagnitude(const Operation& operation) {
  return std::visit(
      []<typename Kind>(const Kind&) {
        return std::is_same_v<Kind, View> || std::is_same_v<Kind, Copy> ||
               std::is_same_v<Kind, Pool2d> || std::is_same_v<Kind, Gather> ||
               std::is_same_v<Kind, TopK> || std::is_same_v<Kind, OneHot> ||
               std::is_same_v<Kind, Resize> || std::is_same_v<Kind, Reduce> ||
               std::is_same_v<Kind, CumulativeSum>;
      },
      operation.kind);
}

class Analysis {
 public:
  explicit Analysis(const Graph& graph)
      : graph_(graph),
        ranges_(graph.values.size()),
        wide_(graph.values.size(), false),
        demanded_(graph.values.size(), false) {}

  std::vector<bool> Run() {
    for (const Operation& operation : graph_.operations) Derive(operation);
    for (auto at = graph_.operations.rbegin(); at != graph_.operations.rend(); ++at) Demand(*at);
    // A view shares the memory of its source, so both are wide or neither is.
    for (const Operation& operation : graph_.operations) {
      if (!std::holds_alternative<View>(operation.kind)) continue;
      wide_[At(operation.output())] = wide_[At(operation.inputs[0])];
    }
    return std::move(wide_);
  }

 private:
  static size_t At(ValueId id) { return static_cast<size_t>(id); }

  Range RangeOf(ValueId id) {
    const Value& value = graph_.value(id);
    if (value.constant() && !ranges_[At(id)].is_constant) ranges_[At(id)] = OfConstant(value);
    return ranges_[At(id)];
  }

  std::vector<Range> RangesOf(const std::vector<ValueId>& ids) {
    std::vector<Range> ranges;
    ranges.reserve(ids.size());
    for (ValueId id : ids) ranges.push_back(RangeOf(id));
    return ranges;
  }

  // Merges the ranges of all inputs, except the indices of Gather; a Copy's fill value counts as
  // another input.
  Range OfInputs(const Operation& operation) {
    Range range = RangeOf(operation.inputs[0]);
    // The second input of Gather holds indices.
    const bool has_one = std::holds_alternative<Gather>(operation.kind);
    for (size_t i = 1; i < operation.inputs.size() && !has_one; ++i) {
      range = OfEither(range, RangeOf(operation.inputs[i]), false);
    }
    if (const auto* copy = std::get_if<Copy>(&operation.kind)) {
      range = OfEither(range, Bounded(std::fabs(copy->fill.real)), false);
    }
    range.is_constant = false;
    return range;
  }

  // Returns the number of input elements that are summed per output element.
  double SummedBy(const Operation& operation) const {
    const Shape& from = graph_.value(operation.inputs[0]).shape;
    if (const auto* sum = std::get_if<CumulativeSum>(&operation.kind)) return from[At(sum->axis)];
    const auto outputs = ElementCount(graph_.value(operation.output()).shape);
    return static_cast<double>(ElementCount(from)) /
           static_cast<double>(std::max<int64_t>(outputs, 1));
  }

  // Returns the range of the results before the epilogue.
  Range OfKind(const Operation& operation) {
    if (const auto* kind = std::get_if<Elementwise>(&operation.kind)) {
      return Expressions().Of(kind->expression, RangesOf(operation.inputs));
    }
    if (const auto* softmax = std::get_if<Softmax>(&operation.kind)) {
      return softmax->log ? Range() : Bounded(1);
    }
    if (!KeepsMagnitude(operation)) return {};
    const Range range = OfInputs(operation);
    const auto* reduce = std::get_if<Reduce>(&operation.kind);
    if (reduce != nullptr && reduce->kind == ReduceKind::kProd) return Unknown();
    const bool sums = std::holds_alternative<CumulativeSum>(operation.kind) ||
                      (reduce != nullptr && reduce->kind == ReduceKind::kSum);
    return sums ? Scaled(range, SummedBy(operation)) : range;
  }

  void Derive(const Operation& operation) {
    Range range = OfKind(operation);
    if (!operation.epilogue.empty()) {
      std::vector<Range> operands = RangesOf(operation.epilogue_inputs);
      operands.insert(operands.begin(), range);
      range = Expressions().Of(operation.epilogue, operands);
    }
    for (ValueId id : operation.outputs) {
      ranges_[At(id)] = range;
      wide_[At(id)] = IsStatistic(operation) || !FitsHalf(range);
    }
  }

  void Demand(ValueId id) {
    if (id != kNoValue) demanded_[At(id)] = wide_[At(id)] = true;
  }

  // Marks as wide the operands that an expression scales to or from unusual magnitudes, or all
  // operands if `all`. An entry of `inputs` is kNoValue for an operand that is not stored.
  void DemandOperands(const Expression& expression, const std::vector<ValueId>& inputs, bool all) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == kNoValue || graph_.value(inputs[i]).constant()) continue;
      if (all || Rescales(expression, inputs, i)) Demand(inputs[i]);
    }
  }

  bool Rescales(const Expression& expression, const std::vector<ValueId>& inputs, size_t operand) {
    if (expression.empty()) return false;
    std::vector<Range> operands;
    for (ValueId id : inputs) {
      const bool is_constant = id != kNoValue && graph_.value(id).constant();
      operands.push_back(is_constant ? RangeOf(id) : Bounded(1));
    }
    operands[operand] = Range();
    const Range range = Expressions().Of(expression, operands);
    return !range.is_unknown && !range.is_reciprocal && !range.is_bounded() && !FitsHalf(range);
  }

  // Marks the inputs of an operation as wide if the model relies on their unusual magnitudes.
  void Demand(const Operation& operation) {
    const bool all = demanded_[At(operation.output())];
    if (const auto* kind = std::get_if<Elementwise>(&operation.kind)) {
      return DemandOperands(kind->expression, operation.inputs, all);
    }
    const bool keeps = KeepsMagnitude(operation);
    std::vector<ValueId> operands = operation.epilogue_inputs;
    operands.insert(operands.begin(), keeps ? operation.inputs[0] : kNoValue);
    DemandOperands(operation.epilogue, operands, all);
    if (keeps && demanded_[At(operation.inputs[0])]) {
      for (ValueId id : operation.inputs) Demand(id);
    }
    if (!HasFilter(operation)) return;
    const Value& filter = graph_.value(operation.inputs[kFilter]);
    if (filter.constant() && filter.type == kTfLiteFloat32 && !HoldsInHalf(filter)) {
      Demand(operation.inputs[0]);
    }
  }

  const Graph& graph_;
  std::vector<Range> ranges_;   // estimated magnitude, by value
  std::vector<bool> wide_;      // result of FindWideValues, by value
  std::vector<bool> demanded_;  // by value: a consumer relies on its unusual magnitude
};

}  // namespace

bool HoldsInHalf(const Value& constant) {
  double largest = 0;
  for (int64_t i = 0; i < ElementCount(constant.shape); ++i) {
    const double magnitude = std::fabs(constant.At(i).real);
    if (!(magnitude <= kLargestHalf)) return false;
    largest = std::max(largest, magnitude);
  }
  return largest == 0 || largest >= kSmallestNormalHalf;
}

std::vector<bool> FindWideValues(const Graph& graph) { return Analysis(graph).Run(); }

}  // namespace deputy::compiler
