// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of functions of two quantised tensors, whose scales differ from each other and
// from the output's, with and without broadcasting; and of PRELU, QUANTIZE and comparisons.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/quantized_accuracy.h"

namespace deputy {
namespace {

struct BinaryRow {
  const char* name;
  TfLiteBuiltinOperator code;
  double (*truth)(double a, double b);
  std::vector<TfLiteType> types;
  bool positive_divisor = false;
};

const std::vector<TfLiteType> kAll = {kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16};

const BinaryRow kRows[] = {
    {"ADD", kTfLiteBuiltinAdd, [](double a, double b) { return a + b; }, kAll},
    {"SUB", kTfLiteBuiltinSub, [](double a, double b) { return a - b; }, kAll},
    {"MUL", kTfLiteBuiltinMul, [](double a, double b) { return a * b; }, kAll},
    {"DIV", kTfLiteBuiltinDiv, [](double a, double b) { return a / b; }, kAll, true},
    {"SQUARED_DIFFERENCE",
     kTfLiteBuiltinSquaredDifference,
     [](double a, double b) { return (a - b) * (a - b); },
     {kTfLiteInt8}},
    {"MAXIMUM", kTfLiteBuiltinMaximum, [](double a, double b) { return std::max(a, b); }, kAll},
    {"MINIMUM", kTfLiteBuiltinMinimum, [](double a, double b) { return std::min(a, b); }, kAll},
};

void AddBinary(ModelBuilder* m, TfLiteBuiltinOperator code, bool relu, int a, int b, int output) {
  const auto activation =
      relu ? schema::ActivationFunctionType::RELU : schema::ActivationFunctionType::NONE;
  switch (code) {
    case kTfLiteBuiltinAdd:
      m->AddOp(code, {a, b}, {output}, schema::CreateAddOptions(m->fbb(), activation, false), 2);
      return;
    case kTfLiteBuiltinSub:
      m->AddOp(code, {a, b}, {output}, schema::CreateSubOptions(m->fbb(), activation, false), 2);
      return;
    case kTfLiteBuiltinMul:
      m->AddOp(code, {a, b}, {output}, schema::CreateMulOptions(m->fbb(), activation), 2);
      return;
    case kTfLiteBuiltinDiv:
      m->AddOp(code, {a, b}, {output}, schema::CreateDivOptions(m->fbb(), activation), 2);
      return;
    default:
      m->AddOp(code, {a, b}, {output}, 2);
  }
}

// Adds a divisor of positive values: from 9000 steps on for int16, from 60 on for other types.
Steps Divisor(AccuracyModel* a, TfLiteType type, const Dims4& shape, Affine affine) {
  if (type == kTfLiteInt16) return a->Input(type, shape, affine, 9000, 32767);
  affine.zero = LowestStep(type);
  return a->Input(type, shape, affine, LowestStep(type) + 60, HighestStep(type));
}

// A case of a function of two tensors. The remainder of the seed divided by 3 selects the
// broadcasting of the second one: 1 none, 2 a scalar, 0 a value per channel.
AccuracyCase BinaryCase(const BinaryRow& row, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Dims4 shape = {2, 13, 19}, few = seed % 3 == 1   ? shape
                                         : seed % 3 == 2 ? Dims4{1}
                                                         : Dims4{19};
  const float reach = type == kTfLiteInt16 ? 0.0001f : 0.02f;
  const Steps x = a.Input(type, shape, a.RandomAffine(type, reach));
  const Affine second = a.RandomAffine(type, reach * 0.7f);
  const Steps y =
      row.positive_divisor ? Divisor(&a, type, few, second) : a.Input(type, few, second);
  const Reals left = x.real(), right = y.real();
  const bool relu = seed > 3 && row.code != kTfLiteBuiltinMaximum &&
                    row.code != kTfLiteBuiltinMinimum &&
                    row.code != kTfLiteBuiltinSquaredDifference;
  Reals truth(left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    truth[i] = row.truth(left[i], right[i % right.size()]);
    if (relu) truth[i] = std::max(truth[i], 0.0);
  }
  const int output = a.OutputFor(type, shape, truth);
  AddBinary(&a.m(), row.code, relu, x.tensor, y.tensor, output);
  return a.Finish(row.name, type, seed);
}

AccuracyCase PreluCase(TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Dims4 shape = {1, 9, 11, 7};
  const bool wide = type == kTfLiteInt16;
  const TfLiteType alpha_type = wide ? kTfLiteInt8 : type;
  const Steps x = a.Input(type, shape, a.RandomAffine(type, wide ? 0.0001f : 0.02f));
  Affine alpha = a.RandomAffine(alpha_type, 0.004f);
  if (wide) alpha.zero = 0;
  const Steps slopes = a.Constant(alpha_type, {1, 1, 7}, alpha);
  const Reals real = x.real(), slope = slopes.real();
  Reals truth(real.size());
  for (size_t i = 0; i < real.size(); ++i) {
    truth[i] = real[i] < 0 ? real[i] * slope[i % 7] : real[i];
  }
  const int output = a.OutputFor(type, shape, truth);
  a.m().AddOp(kTfLiteBuiltinPrelu, {x.tensor, slopes.tensor}, {output}, 1);
  return a.Finish("PRELU", type, seed);
}

// A case of QUANTIZE from one quantised type to another, or to another scale.
AccuracyCase RequantizeCase(TfLiteType from, TfLiteType to, uint32_t seed) {
  AccuracyModel a(seed);
  const Dims4 shape = {3, 700};
  const Steps x =
      a.Input(from, shape, a.RandomAffine(from, from == kTfLiteInt16 ? 0.0001f : 0.02f));
  const Reals truth = x.real();
  const int output = a.OutputFor(to, shape, truth);
  a.m().AddOp(kTfLiteBuiltinQuantize, {x.tensor}, {output}, 3);
  return a.Finish(std::string("QUANTIZE ") + TypeText(from) + " to", to, seed);
}

AccuracyCase QuantizeCase(TfLiteType to, uint32_t seed) {
  AccuracyModel a(seed);
  const Dims4 shape = {3, 700};
  std::vector<float> values(2100);
  for (float& value : values) value = static_cast<float>(a.Random(1000001)) * 1e-5f - 4.0f;
  const int input = a.Floats(shape, values);
  const Reals truth(values.begin(), values.end());
  const int output = a.OutputFor(to, shape, truth);
  a.m().AddOp(kTfLiteBuiltinQuantize, {input}, {output}, 2);
  return a.Finish("QUANTIZE float32 to", to, seed);
}

// ---- Comparisons ------------------------------------------------------------------------------

struct CompareRow {
  const char* name;
  TfLiteBuiltinOperator code;
  bool (*truth)(double a, double b);
};

const CompareRow kComparisons[] = {
    {"LESS", kTfLiteBuiltinLess, [](double a, double b) { return a < b; }},
    {"LESS_EQUAL", kTfLiteBuiltinLessEqual, [](double a, double b) { return a <= b; }},
    {"GREATER", kTfLiteBuiltinGreater, [](double a, double b) { return a > b; }},
    {"EQUAL", kTfLiteBuiltinEqual, [](double a, double b) { return a == b; }},
    {"NOT_EQUAL", kTfLiteBuiltinNotEqual, [](double a, double b) { return a != b; }},
    {"GREATER_EQUAL", kTfLiteBuiltinGreaterEqual, [](double a, double b) { return a >= b; }},
};

// A case of a comparison. TensorFlow Lite compares in units of 2^-8: differences of less than two
// units are not tested here.
AccuracyCase CompareCase(const CompareRow& row, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Dims4 shape = {3, 700};
  const Affine first = a.RandomAffine(type, 0.02f), second = a.RandomAffine(type, 0.03f);
  const Steps x = a.Input(type, shape, first), y = a.Input(type, shape, second);
  const Reals left = x.real(), right = y.real();
  Reals truth(left.size());
  for (size_t i = 0; i < left.size(); ++i) {
    truth[i] = std::fabs(left[i] - right[i]) < 0x1p-7
                   ? std::nan("")
                   : static_cast<double>(row.truth(left[i], right[i]));
  }
  const int output = a.Output(kTfLiteBool, shape, {}, truth);
  a.m().AddOp(row.code, {x.tensor, y.tensor}, {output}, 2);
  return a.Finish(std::string(row.name) + " of " + TypeText(type), kTfLiteBool, seed);
}

}  // namespace

std::vector<AccuracyCase> BinaryAccuracy() {
  std::vector<AccuracyCase> cases;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    for (const BinaryRow& row : kRows) {
      for (TfLiteType type : row.types) cases.push_back(BinaryCase(row, type, seed));
    }
    for (TfLiteType type : kAll) cases.push_back(PreluCase(type, seed));
    for (TfLiteType from : kAll) {
      for (TfLiteType to : kAll) {
        if ((from == kTfLiteInt16 && to == kTfLiteUInt8) ||
            (from == kTfLiteUInt8 && to == kTfLiteInt16)) {
          continue;  // TensorFlow Lite does not support this conversion
        }
        cases.push_back(RequantizeCase(from, to, seed));
      }
      cases.push_back(QuantizeCase(from, seed));
    }
    for (const CompareRow& row : kComparisons) {
      for (TfLiteType type : {kTfLiteInt8, kTfLiteUInt8}) {
        cases.push_back(CompareCase(row, type, seed));
      }
    }
  }
  return cases;
}

}  // namespace deputy
