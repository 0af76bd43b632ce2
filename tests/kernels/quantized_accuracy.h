// SPDX-License-Identifier: Apache-2.0
//
// Models of one quantised operator with random contents, and the results in real numbers: float64
// on the dequantised inputs, by plain code that shares nothing with the kernels.
#ifndef DEPUTY_TESTS_KERNELS_QUANTIZED_ACCURACY_H_
#define DEPUTY_TESTS_KERNELS_QUANTIZED_ACCURACY_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/model_builder.h"

namespace deputy {

using Dims4 = std::vector<int32_t>;
using Reals = std::vector<double>;

// Quantisation parameters of a tensor: scale and zero point.
struct Affine {
  float scale = 1.0f;
  int zero = 0;
};

// A quantised tensor of the model with its contents.
struct Steps {
  int tensor = -1;
  TfLiteType type = kTfLiteInt8;
  Dims4 shape;
  std::vector<float> scales;  // one scale, or several along `axis`
  int zero = 0;
  int axis = 0;
  std::vector<int32_t> values;

  Reals real() const;
};

struct AccuracyCase {
  std::string name;  // name as "MEAN int8 1"
  std::vector<uint8_t> model;
  std::vector<std::vector<uint8_t>> feeds;
  TfLiteType type = kTfLiteInt8;  // type of the outputs
  std::vector<Affine> affine;     // quantisation of each output
  std::vector<Reals> truth;       // exact values of each output
};

// Returns the smallest value of a quantised type; HighestStep returns the largest.
int LowestStep(TfLiteType type);
int HighestStep(TfLiteType type);
const char* TypeText(TfLiteType type);
int64_t CountOfDims(const Dims4& shape);

class AccuracyModel {
 public:
  explicit AccuracyModel(uint32_t seed) : engine_(seed) {}

  ModelBuilder& m() { return m_; }
  uint32_t Random(uint32_t below) { return static_cast<uint32_t>(engine_()) % below; }
  // Returns a scale between `least` and twice that, and any valid zero point of the type.
  Affine RandomAffine(TfLiteType type, float least);

  // Adds a tensor with steps between `low` and `high`, or the whole range of the type if both are
  // 0.
  Steps Input(TfLiteType type, const Dims4& shape, Affine affine, int low = 0, int high = 0);
  Steps Constant(TfLiteType type, const Dims4& shape, Affine affine, int low = 0, int high = 0);
  Steps PerChannelConstant(TfLiteType type, const Dims4& shape, float scale, int axis, int low = 0,
                           int high = 0);
  // Adds a bias in steps of input scale times weight scale.
  Steps Bias(TfLiteType type, int count, const Steps& input, const Steps& weights);
  // Adds an int32 constant with these contents; returns its tensor.
  int Numbers(const Dims4& shape, const std::vector<int32_t>& values);
  // Adds a float32 input with these contents.
  int Floats(const Dims4& shape, const std::vector<float>& values);

  int Output(TfLiteType type, const Dims4& shape, Affine affine, const Reals& truth);
  // Adds an output with the scale for which the true results fill the type's range.
  int OutputFor(TfLiteType type, const Dims4& shape, const Reals& truth);
  // Adds another output after the quantised ones, for example of indices, which is not compared.
  int UncomparedOutput(const Dims4& shape, TfLiteType type = kTfLiteInt32);

  // Returns the case "NAME type number", whose outputs have that type.
  AccuracyCase Finish(const std::string& name, TfLiteType type, uint32_t number);

 private:
  Steps Make(TfLiteType type, const Dims4& shape, std::vector<float> scales, int zero, int axis,
             int low, int high);
  int Add(const Steps& steps, bool constant);

  ModelBuilder m_;
  std::mt19937 engine_;
  std::vector<int32_t> inputs_, outputs_;
  std::vector<std::vector<uint8_t>> feeds_;
  AccuracyCase made_;
};

// Each of these functions returns the cases of one family of operators.
std::vector<AccuracyCase> UnaryAccuracy();
std::vector<AccuracyCase> BinaryAccuracy();
std::vector<AccuracyCase> LayerAccuracy();
std::vector<AccuracyCase> ReductionAccuracy();
std::vector<AccuracyCase> ResizeAccuracy();
std::vector<AccuracyCase> MoveAccuracy();
std::vector<AccuracyCase> RecurrentAccuracy();

}  // namespace deputy

#endif  // DEPUTY_TESTS_KERNELS_QUANTIZED_ACCURACY_H_
