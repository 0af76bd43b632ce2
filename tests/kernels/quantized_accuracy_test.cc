// SPDX-License-Identifier: Apache-2.0
//
// Compares quantised operators with float64 on the dequantised values: in the default arithmetic
// the error of a result is at most half a step plus float32 rounding, or, for exceptions, at most
// the bounds of their row on the maximum and the mean error. Operators without cases are listed
// with the reason.
#include "tests/kernels/quantized_accuracy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/kernel_api/op_def.h"
#include "kernels/registry.h"
#include "tests/conformance/run.h"
#include "tests/conformance/targets.h"
#include "tests/support/paths.h"

namespace deputy::quantized_accuracy_test {
namespace {

constexpr double kRoundedOnce = 0.51;

struct Exception {
  const char* name;    // prefix of the names of the exception's cases
  double bound, mean;  // bounds on the maximum and the mean error, in steps
  const char* reason;
};

// Operators with a larger error. Golden rows limit the default arithmetic to one step from
// TensorFlow Lite's kernels, which all of its users run for these operators: XNNPACK has none of
// them, or uses the same arithmetic.
const Exception kExceptions[] = {
    {"EXP int16", 45, 0.6, "interpolates in a table of 513 entries"},
    {"LOG int16", 14.5, 1.1, "interpolates in a table of 513 entries"},
    {"RSQRT int16", 230, 1.1, "interpolates in a table of 513 entries"},
    {"SOFTMAX int16", 8, 0.8, "interpolates in tables of 513 entries"},
    {"LOGISTIC int16", 1.5, 0.35, "interpolates in a table of 256 entries"},
    {"TANH int16", 3, 0.55, "interpolates in a table of 256 entries"},
    {"SQRT", 1.001, 0.6, "cuts fractions of a step off"},
    {"LEAKY_RELU int16", 0.76, 0.3, "rounds twice"},
    {"HARD_SWISH", 0.53, 0.3, "computes with 16 bits"},
    {"L2_NORMALIZATION uint8", 0.6, 0.3, "computes with 16 bits"},
    {"REDUCE_PROD int8", 0.6, 0.3, "rounds each product of two factors"},
    {"REDUCE_PROD int16", 3, 0.8, "rounds each product of two factors"},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM int8", 0.7, 0.3, "feeds rounded outputs back"},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM normalized", 0.55, 0.3, "feeds rounded outputs back"},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM projected", 1.2, 0.4,
     "projects rounded values, feeds outputs back"},
    {"LSTM projected", 0.8, 0.3, "projects rounded values"},
    {"LSTM uint8", 0.55, 0.3, "computes with 16 bits"},
};

const Exception* ExceptionFor(const std::string& name) {
  for (const Exception& exception : kExceptions) {
    if (name.rfind(exception.name, 0) == 0) return &exception;
  }
  return nullptr;
}

std::vector<int32_t> StepsOf(const std::vector<uint8_t>& bytes, TfLiteType type) {
  const size_t size = type == kTfLiteInt16 ? 2 : 1;
  std::vector<int32_t> steps;
  for (size_t i = 0; i + size <= bytes.size(); i += size) {
    const int low = bytes[i], high = size == 2 ? bytes[i + 1] : 0;
    steps.push_back(type == kTfLiteInt16  ? static_cast<int16_t>(low | high << 8)
                    : type == kTfLiteInt8 ? static_cast<int8_t>(low)
                                          : low);
  }
  return steps;
}

struct Error {
  double worst = 0, mean = 0;
  size_t at = 0;
};

// Returns the error of the results, in steps. NaN in the exact result is not compared.
Error Distance(const std::vector<int32_t>& steps, const AccuracyCase& one, size_t output) {
  Error error;
  const Affine affine = one.affine[output];
  for (size_t i = 0; i < steps.size(); ++i) {
    const double truth = one.truth[output][i];
    if (std::isnan(truth)) continue;
    const double exact = std::clamp(truth / static_cast<double>(affine.scale) + affine.zero,
                                    static_cast<double>(LowestStep(one.type)),
                                    static_cast<double>(HighestStep(one.type)));
    const double distance = std::fabs(steps[i] - exact);
    if (distance > error.worst) error.at = i;
    error.worst = std::max(error.worst, distance);
    error.mean += distance / static_cast<double>(steps.size());
  }
  return error;
}

// Measures the errors of all outputs, on the CPU or on another target.
std::vector<Error> Measure(const AccuracyCase& one, const conformance::Target& target) {
  conformance::Job job;
  job.model = one.model;
  job.feed = [&](TfLiteInterpreter* interpreter, int) {
    for (size_t i = 0; i < one.feeds.size(); ++i) {
      TF_LITE_ENSURE_STATUS(conformance::SetInput(
          TfLiteInterpreterGetInputTensor(interpreter, static_cast<int32_t>(i)), one.feeds[i]));
    }
    return kTfLiteOk;
  };
  const conformance::Result result = conformance::Run(job, target);
  EXPECT_EQ(result.outcome, conformance::Outcome::kInvoked) << one.name << ": " << result.log;
  EXPECT_EQ(result.complaint, "") << one.name;
  std::vector<Error> errors;
  for (size_t i = 0; i < one.truth.size() && !result.passes.empty(); ++i) {
    const std::vector<int32_t> steps = StepsOf(result.passes[0][i].data, one.type);
    EXPECT_EQ(steps.size(), one.truth[i].size()) << one.name;
    if (steps.size() == one.truth[i].size()) errors.push_back(Distance(steps, one, i));
  }
  return errors;
}

// Checks the errors of all cases; returns the exceptions that at least one case needs.
std::set<std::string> CheckCases(const std::vector<AccuracyCase>& cases) {
  std::set<std::string> needed;
  for (const AccuracyCase& one : cases) {
    const Exception* exception = ExceptionFor(one.name);
    const double bound = exception == nullptr ? kRoundedOnce : exception->bound;
    const double mean = exception == nullptr ? kRoundedOnce : exception->mean;
    for (const Error& error : Measure(one, {})) {
      EXPECT_LE(error.worst, bound) << one.name << " at " << error.at << ", mean " << error.mean;
      EXPECT_LE(error.mean, mean) << one.name;
      if (error.worst > kRoundedOnce && exception != nullptr) needed.insert(exception->name);
    }
  }
  return needed;
}

TEST(QuantizedAccuracy, functions_of_one_tensor) { CheckCases(UnaryAccuracy()); }
TEST(QuantizedAccuracy, functions_of_two_tensors) { CheckCases(BinaryAccuracy()); }
TEST(QuantizedAccuracy, layers) { CheckCases(LayerAccuracy()); }
TEST(QuantizedAccuracy, reductions) { CheckCases(ReductionAccuracy()); }
TEST(QuantizedAccuracy, resized_images) { CheckCases(ResizeAccuracy()); }
TEST(QuantizedAccuracy, recurrent_layers) { CheckCases(RecurrentAccuracy()); }
TEST(QuantizedAccuracy, moves_between_scales) { CheckCases(MoveAccuracy()); }

// A delegate must also rescale, or leave the node to the CPU.
TEST(QuantizedAccuracy, moves_between_scales_with_a_delegate) {
  for (const conformance::TargetRow& row : conformance::TargetRows()) {
    // Delegates with few cases support only two or three operators.
    if (row.table[0] != '\0' || row.on_device || row.sampled || row.min_cases < 400) continue;
    if (!conformance::IsAvailable(row, BuildPath(""))) continue;
    const conformance::Target target = conformance::MakeTarget(row, BuildPath(""));
    SCOPED_TRACE(target.name);
    for (const AccuracyCase& one : MoveAccuracy()) {
      for (const Error& error : Measure(one, target)) {
        EXPECT_LE(error.worst, kRoundedOnce) << one.name << " at " << error.at;
      }
    }
  }
}

// Reasons why operators of int8, uint8 or int16 have no cases here.
constexpr const char* kIntegers = "computes with integers, whatever their scale";
constexpr const char* kStableHlo = "has no quantised form in StableHLO";
constexpr const char* kNoValues = "its results are no quantised values";
constexpr const char* kBytes = "keeps the bytes of a tensor, whose scale is not its own";
const std::map<std::string, std::string> kNotHere = {
    {"ARG_MAX", kNoValues},
    {"ARG_MIN", kNoValues},
    {"ASSIGN_VARIABLE", kBytes},
    {"BITCAST", kIntegers},
    {"BITWISE_XOR", kIntegers},
    {"CAST", kIntegers},
    {"DENSIFY", kBytes},
    {"DEQUANTIZE", kNoValues},
    {"FLOOR_DIV", kIntegers},
    {"FLOOR_MOD", kIntegers},
    {"LSH_PROJECTION", kNoValues},
    {"RANK", kNoValues},
    {"READ_VARIABLE", kBytes},
    {"REDUCE_WINDOW", kIntegers},
    {"RIGHT_SHIFT", kIntegers},
    {"SHAPE", kNoValues},
    {"STABLEHLO_ADD", kStableHlo},
    {"STABLEHLO_AND", kStableHlo},
    {"STABLEHLO_GATHER", kStableHlo},
    {"STABLEHLO_MAXIMUM", kStableHlo},
    {"STABLEHLO_MINIMUM", kStableHlo},
    {"STABLEHLO_MULTIPLY", kStableHlo},
    {"STABLEHLO_PAD", kStableHlo},
    {"STABLEHLO_REDUCE_WINDOW", kStableHlo},
    {"STABLEHLO_SCATTER", kStableHlo},
    {"STABLEHLO_SHIFT_LEFT", kStableHlo},
    {"TFLite_Detection_PostProcess", kNoValues},
    {"WHERE", kNoValues},
};

TEST(QuantizedAccuracy, has_cases_of_every_quantised_operator) {
  std::set<std::string> covered;
  for (auto* family : {&UnaryAccuracy, &BinaryAccuracy, &LayerAccuracy, &ReductionAccuracy,
                       &ResizeAccuracy, &MoveAccuracy, &RecurrentAccuracy}) {
    for (const AccuracyCase& one : family()) covered.insert(one.name.substr(0, one.name.find(' ')));
  }
  constexpr uint32_t kQuantized =
      TypeBit(kTfLiteInt8) | TypeBit(kTfLiteUInt8) | TypeBit(kTfLiteInt16);
  for (const auto family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.invoke == nullptr || (op.types & kQuantized) == 0) continue;
      EXPECT_NE(covered.contains(op.name), kNotHere.contains(op.name)) << op.name;
    }
  }
}

TEST(QuantizedAccuracy, has_no_unnecessary_exceptions) {
  std::set<std::string> needed = CheckCases(UnaryAccuracy());
  needed.merge(CheckCases(ReductionAccuracy()));
  needed.merge(CheckCases(RecurrentAccuracy()));
  for (const Exception& exception : kExceptions) {
    EXPECT_TRUE(needed.contains(exception.name)) << exception.name << ": " << exception.reason;
  }
}

}  // namespace
}  // namespace deputy::quantized_accuracy_test
