// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of functions of one quantised tensor: element-wise functions, and SOFTMAX and
// related functions by rows.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/quantized_accuracy.h"

namespace deputy {
namespace {

struct UnaryRow {
  const char* name;
  TfLiteBuiltinOperator code;
  double (*truth)(double x);
  float reach;  // largest magnitude of the input
  std::vector<TfLiteType> types;
  int version = 1;
  bool positive = false;  // true if inputs are positive
  // Fixed range of the output: [0, extent), or [-extent, extent) if `signed_output`; 0: not fixed.
  float output_extent = 0;
  bool signed_output = false;
};

double Gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

const std::vector<TfLiteType> kAll = {kTfLiteInt8, kTfLiteUInt8, kTfLiteInt16};
const std::vector<TfLiteType> kSigned = {kTfLiteInt8, kTfLiteInt16};
const std::vector<TfLiteType> kBytes = {kTfLiteInt8, kTfLiteUInt8};
const std::vector<TfLiteType> kInt8 = {kTfLiteInt8};

const UnaryRow kRows[] = {
    {"ABS", kTfLiteBuiltinAbs, [](double x) { return std::fabs(x); }, 4, kSigned},
    {"NEG", kTfLiteBuiltinNeg, [](double x) { return -x; }, 4, kSigned},
    {"EXP", kTfLiteBuiltinExp, [](double x) { return std::exp(x); }, 2, kSigned, 2},
    {"LOG", kTfLiteBuiltinLog, [](double x) { return std::log(x); }, 6, kSigned, 2, true},
    {"SQRT", kTfLiteBuiltinSqrt, [](double x) { return std::sqrt(x); }, 6, kSigned, 2, true},
    {"RSQRT", kTfLiteBuiltinRsqrt, [](double x) { return 1 / std::sqrt(x); }, 6, kSigned, 3, true},
    {"RELU", kTfLiteBuiltinRelu, [](double x) { return std::max(x, 0.0); }, 5, kAll, 2},
    {"RELU6", kTfLiteBuiltinRelu6, [](double x) { return std::clamp(x, 0.0, 6.0); }, 9, kAll, 2},
    {"RELU_N1_TO_1", kTfLiteBuiltinReluN1To1, [](double x) { return std::clamp(x, -1.0, 1.0); }, 3,
     kBytes},
    {"RELU_0_TO_1", kTfLiteBuiltinRelu0To1, [](double x) { return std::clamp(x, 0.0, 1.0); }, 3,
     kBytes},
    {"LEAKY_RELU", kTfLiteBuiltinLeakyRelu, [](double x) { return x < 0 ? 0.3f * x : x; }, 5, kAll,
     2},
    {"LOGISTIC", kTfLiteBuiltinLogistic, [](double x) { return 1 / (1 + std::exp(-x)); }, 7, kAll,
     3, false, 1},
    {"TANH", kTfLiteBuiltinTanh, [](double x) { return std::tanh(x); }, 4, kAll, 3, false, 1, true},
    {"ELU", kTfLiteBuiltinElu, [](double x) { return x < 0 ? std::expm1(x) : x; }, 4, kInt8},
    {"GELU", kTfLiteBuiltinGelu, &Gelu, 4, kBytes, 2},
    {"HARD_SWISH", kTfLiteBuiltinHardSwish,
     [](double x) { return x * std::clamp(x + 3.0, 0.0, 6.0) / 6.0; }, 5, kBytes},
};

void AddUnary(AccuracyModel* a, const UnaryRow& row, int input, int output) {
  ModelBuilder& m = a->m();
  if (row.code == kTfLiteBuiltinLeakyRelu) {
    m.AddOp(row.code, {input}, {output}, schema::CreateLeakyReluOptions(m.fbb(), 0.3f),
            row.version);
  } else if (row.code == kTfLiteBuiltinGelu) {
    m.AddOp(row.code, {input}, {output}, schema::CreateGeluOptions(m.fbb(), false), row.version);
  } else {
    m.AddOp(row.code, {input}, {output}, row.version);
  }
}

AccuracyCase UnaryCase(const UnaryRow& row, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const Dims4 shape = {4, 37, 17};
  const bool wide = type == kTfLiteInt16;
  Affine in = a.RandomAffine(type, row.reach / (wide ? 65536.0f : 256.0f));
  if (row.positive) in.zero = LowestStep(type);
  int low = row.positive ? in.zero + 8 : 0;
  if (row.positive && wide) {
    in.zero = 0;
    low = 2000;
  }
  const Steps input = a.Input(type, shape, in, low, row.positive ? HighestStep(type) : 0);
  Reals truth = input.real();
  for (double& x : truth) x = row.truth(x);
  int output = 0;
  if (row.output_extent == 0) {
    output = a.OutputFor(type, shape, truth);
  } else {
    const float levels = wide ? 32768.0f : row.signed_output ? 128.0f : 256.0f;
    const int zero = wide ? 0 : LowestStep(type) + (row.signed_output ? 128 : 0);
    output = a.Output(type, shape, {row.output_extent / levels, zero}, truth);
  }
  AddUnary(&a, row, input.tensor, output);
  return a.Finish(row.name, type, seed);
}

// ---- By rows ----------------------------------------------------------------------------------

using RowTruth = void (*)(const double* in, int count, double* out);

void SoftmaxTruth(const double* in, int count, double* out) {
  const double most = *std::max_element(in, in + count);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += out[i] = std::exp(in[i] - most);
  for (int i = 0; i < count; ++i) out[i] /= sum;
}

void LogSoftmaxTruth(const double* in, int count, double* out) {
  SoftmaxTruth(in, count, out);
  for (int i = 0; i < count; ++i) out[i] = std::log(out[i]);
}

void L2Truth(const double* in, int count, double* out) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += in[i] * in[i];
  for (int i = 0; i < count; ++i) out[i] = in[i] / std::sqrt(sum);
}

struct ByRows {
  const char* name;
  TfLiteBuiltinOperator code;
  RowTruth truth;
  std::vector<TfLiteType> types;
  int version;
  float reach;
};

const ByRows kByRows[] = {
    {"SOFTMAX", kTfLiteBuiltinSoftmax, &SoftmaxTruth, kAll, 3, 8},
    {"LOG_SOFTMAX", kTfLiteBuiltinLogSoftmax, &LogSoftmaxTruth, kBytes, 2, 8},
    {"L2_NORMALIZATION", kTfLiteBuiltinL2Normalization, &L2Truth, kBytes, 2, 8},
};

Affine RowOutput(TfLiteBuiltinOperator code, TfLiteType type) {
  if (type == kTfLiteInt16) return {1.0f / 32768, 0};
  if (code == kTfLiteBuiltinSoftmax) return {1.0f / 256, LowestStep(type)};
  if (code == kTfLiteBuiltinLogSoftmax) return {16.0f / 256, HighestStep(type)};
  return {1.0f / 128, type == kTfLiteInt8 ? 0 : 128};
}

AccuracyCase RowCase(const ByRows& row, TfLiteType type, uint32_t seed) {
  AccuracyModel a(seed);
  const int columns = seed == 1 ? 10 : seed == 2 ? 67 : 3;
  const Dims4 shape = {50, columns};
  const Affine in = a.RandomAffine(type, row.reach / (type == kTfLiteInt16 ? 65536.0f : 256.0f));
  const Steps input = a.Input(type, shape, in);
  const Reals real = input.real();
  Reals truth(real.size());
  for (int r = 0; r < 50; ++r)
    row.truth(&real[static_cast<size_t>(r * columns)], columns,
              &truth[static_cast<size_t>(r * columns)]);
  const int output = a.Output(type, shape, RowOutput(row.code, type), truth);
  ModelBuilder& m = a.m();
  if (row.code == kTfLiteBuiltinSoftmax) {
    m.AddOp(row.code, {input.tensor}, {output}, schema::CreateSoftmaxOptions(m.fbb(), 1.0f),
            row.version);
  } else if (row.code == kTfLiteBuiltinL2Normalization) {
    m.AddOp(row.code, {input.tensor}, {output}, schema::CreateL2NormOptions(m.fbb()), row.version);
  } else {
    m.AddOp(row.code, {input.tensor}, {output}, schema::CreateLogSoftmaxOptions(m.fbb()),
            row.version);
  }
  return a.Finish(row.name, type, seed);
}

}  // namespace

std::vector<AccuracyCase> UnaryAccuracy() {
  std::vector<AccuracyCase> cases;
  for (uint32_t seed = 1; seed <= 3; ++seed) {
    for (const UnaryRow& row : kRows) {
      for (TfLiteType type : row.types) cases.push_back(UnaryCase(row, type, seed));
    }
    for (const ByRows& row : kByRows) {
      for (TfLiteType type : row.types) cases.push_back(RowCase(row, type, seed));
    }
  }
  return cases;
}

}  // namespace deputy
