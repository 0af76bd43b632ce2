// SPDX-License-Identifier: Apache-2.0
//
// Accuracy cases of LSTM cells and SVDF, compared with their formulas in float64, whose states are
// never rounded.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/kernels/quantized_accuracy.h"

namespace deputy {
namespace {

constexpr auto kTanh = schema::ActivationFunctionType::TANH;

double Logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }

// Returns the product of row `row` of a matrix and a vector.
double RowTimes(const Reals& matrix, size_t row, const Reals& vector) {
  double sum = 0;
  for (size_t i = 0; i < vector.size(); ++i) sum += matrix[row * vector.size() + i] * vector[i];
  return sum;
}

Reals Part(const Reals& values, size_t first, size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

int Variable(AccuracyModel* a, TfLiteType type, const Dims4& shape, Affine affine) {
  return a->m().AddTensor(
      type, shape, "state",
      {.scale = {affine.scale}, .zero_point = {affine.zero}, .is_variable = true});
}

// ---- One cell in real numbers -----------------------------------------------------------------

enum Gate : size_t { kInput, kForget, kUpdate, kOutput, kGates };

// A gate of a cell in real numbers. Each member is empty if the gate does not have it.
struct RealGate {
  Reals input, recurrent, peephole, norm, bias;
};

struct RealCell {
  std::array<RealGate, kGates> gates;
  Reals projection;
  size_t cells = 0, outputs = 0;

  bool couples_input() const { return gates[kInput].input.empty(); }

  // Computes one step of one batch element: returns the output and updates the states.
  Reals Step(const Reals& x, Reals* hidden, Reals* state) const {
    const Reals forget = Sums(kForget, x, *hidden, *state);
    const Reals update = Sums(kUpdate, x, *hidden, *state);
    const Reals input = couples_input() ? Reals() : Sums(kInput, x, *hidden, *state);
    for (size_t c = 0; c < cells; ++c) {
      const double kept = Logistic(forget[c]);
      const double taken = couples_input() ? 1.0 - kept : Logistic(input[c]);
      (*state)[c] = kept * (*state)[c] + taken * std::tanh(update[c]);
    }
    const Reals output = Sums(kOutput, x, *hidden, *state);
    Reals made(cells);
    for (size_t c = 0; c < cells; ++c) made[c] = Logistic(output[c]) * std::tanh((*state)[c]);
    if (!projection.empty()) {
      hidden->resize(outputs);
      for (size_t i = 0; i < outputs; ++i) (*hidden)[i] = RowTimes(projection, i, made);
    } else {
      *hidden = made;
    }
    return *hidden;
  }

 private:
  Reals Sums(size_t number, const Reals& x, const Reals& hidden, const Reals& state) const {
    const RealGate& gate = gates[number];
    Reals sums(cells);
    for (size_t c = 0; c < cells; ++c) {
      sums[c] = RowTimes(gate.input, c, x) + RowTimes(gate.recurrent, c, hidden);
      if (!gate.peephole.empty()) sums[c] += gate.peephole[c] * state[c];
      if (gate.norm.empty()) sums[c] += gate.bias[c];
    }
    if (!gate.norm.empty()) Normalize(gate, &sums);
    return sums;
  }

  void Normalize(const RealGate& gate, Reals* sums) const {
    double mean = 0, variance = 0;
    for (double sum : *sums) mean += sum / static_cast<double>(cells);
    for (double sum : *sums) variance += (sum - mean) * (sum - mean) / static_cast<double>(cells);
    for (size_t c = 0; c < cells; ++c) {
      double& sum = (*sums)[c];
      sum = (sum - mean) / std::sqrt(variance) * gate.norm[c] + gate.bias[c];
    }
  }
};

// ---- int8 -------------------------------------------------------------------------------------

struct LstmRow {
  int batches, steps, inputs, cells;
  int outputs = 0;  // size of the projection; 0: none
  bool couples_input = false, norm = false, peephole = false, time_major = true;

  int hidden() const { return outputs == 0 ? cells : outputs; }
};

constexpr LstmRow kSequences[] = {
    {2, 6, 20, 17},
    {3, 5, 9, 24, 0, true, false, true},
    {1, 8, 33, 30, 0, false, true, false, false},
    {2, 4, 16, 20, 11, false, false, false, false},
};

class LstmBuilder {
 public:
  LstmBuilder(uint32_t seed, const LstmRow& row)
      : a_(seed), seed_(seed), row_(row), x_affine_(a_.RandomAffine(kTfLiteInt8, 0.015f)) {}

  // Makes a case of UNIDIRECTIONAL_SEQUENCE_LSTM, or of LSTM, which computes one step and whose
  // input and output have two dimensions.
  AccuracyCase Make(bool sequence) {
    const Dims4 shape = !sequence         ? Dims4{row_.batches, row_.inputs}
                        : row_.time_major ? Dims4{row_.steps, row_.batches, row_.inputs}
                                          : Dims4{row_.batches, row_.steps, row_.inputs};
    const Steps x = a_.Input(kTfLiteInt8, shape, x_affine_);
    tensors_[0] = x.tensor;
    AddWeights();
    Dims4 out_shape = shape;
    out_shape.back() = row_.hidden();
    const Reals truth = Truth(x.real(), sequence);
    const int y = a_.Output(kTfLiteInt8, out_shape, kHidden, truth);
    tensors_[18] = Variable(&a_, kTfLiteInt8, {row_.batches, row_.hidden()}, kHidden);
    tensors_[19] = Variable(&a_, kTfLiteInt16, {row_.batches, row_.cells}, {0x1p-11f, 0});
    if (sequence) {
      a_.m().AddOp(kTfLiteBuiltinUnidirectionalSequenceLstm, tensors_, {y},
                   schema::CreateUnidirectionalSequenceLSTMOptions(a_.m().fbb(), kTanh, 0, 0,
                                                                   row_.time_major),
                   3, Intermediates());
    } else {
      a_.m().AddOp(
          kTfLiteBuiltinLstm, tensors_, {y},
          schema::CreateLSTMOptions(a_.m().fbb(), kTanh, 0, 0, schema::LSTMKernelType::FULL, false),
          4, Intermediates());
    }
    const std::string name = sequence ? "UNIDIRECTIONAL_SEQUENCE_LSTM" : "LSTM";
    const char* const kind = row_.norm ? " normalized" : row_.outputs > 0 ? " projected" : "";
    return a_.Finish(name + kind, kTfLiteInt8, seed_);
  }

 private:
  // Quantisation of the cell's outputs, which are between -1 and 1.
  static constexpr Affine kHidden = {1.0f / 127, -3};
  static constexpr float kWeightScale = 0.004f, kNormScale = 0x1p-15f;

  Reals Add(size_t input, TfLiteType type, const Dims4& shape, float scale, int low, int high) {
    const Steps steps = a_.Constant(type, shape, {scale, 0}, low, high);
    tensors_[input] = steps.tensor;
    return steps.real();
  }

  void AddWeights() {
    cell_.cells = static_cast<size_t>(row_.cells);
    cell_.outputs = static_cast<size_t>(row_.hidden());
    const float bias = row_.norm ? kNormScale / 1024 : x_affine_.scale * kWeightScale;
    const int most = row_.norm ? 10000000 : 4000;
    for (size_t g = row_.couples_input ? 1 : 0; g < kGates; ++g) {
      RealGate& gate = cell_.gates[g];
      gate.input = Add(1 + g, kTfLiteInt8, {row_.cells, row_.inputs}, kWeightScale, -127, 127);
      gate.recurrent =
          Add(5 + g, kTfLiteInt8, {row_.cells, row_.hidden()}, kWeightScale, -127, 127);
      gate.bias = Add(12 + g, kTfLiteInt32, {row_.cells}, bias, -most, most);
      if (row_.norm) {
        gate.norm = Add(20 + g, kTfLiteInt16, {row_.cells}, kNormScale, 10000, 32767);
      }
      // Peephole weights are inputs 9, 10 and 11: the cell gate has none, so those of the output
      // gate are the third.
      if (row_.peephole && g != kUpdate) {
        gate.peephole =
            Add(g == kOutput ? 11 : 9 + g, kTfLiteInt16, {row_.cells}, 0x1p-15f, -32767, 32767);
      }
    }
    if (row_.outputs > 0) {
      cell_.projection = Add(16, kTfLiteInt8, {row_.outputs, row_.cells}, kWeightScale, -127, 127);
    }
  }

  std::vector<int32_t> Intermediates() {
    std::vector<int32_t> tensors;
    for (size_t g = 0; g < kGates; ++g) {
      tensors.push_back(
          a_.m().AddTensor(kTfLiteInt16, {1}, "sums", {.scale = {0x1p-10f}, .zero_point = {0}}));
    }
    tensors.push_back(a_.m().AddTensor(kTfLiteInt8, {1}, "hidden",
                                       {.scale = {kHidden.scale}, .zero_point = {kHidden.zero}}));
    return tensors;
  }

  Reals Truth(const Reals& x, bool sequence) const {
    const auto batches = static_cast<size_t>(row_.batches), outputs = cell_.outputs;
    const auto steps = static_cast<size_t>(sequence ? row_.steps : 1);
    const auto inputs = static_cast<size_t>(row_.inputs);
    Reals truth(batches * steps * outputs);
    for (size_t b = 0; b < batches; ++b) {
      Reals hidden(outputs), state(cell_.cells);
      for (size_t t = 0; t < steps; ++t) {
        const size_t at = row_.time_major ? t * batches + b : b * steps + t;
        const Reals made = cell_.Step(Part(x, at * inputs, inputs), &hidden, &state);
        std::copy(made.begin(), made.end(),
                  truth.begin() + static_cast<std::ptrdiff_t>(at * outputs));
      }
    }
    return truth;
  }

  AccuracyModel a_;
  const uint32_t seed_;
  const LstmRow row_;
  const Affine x_affine_;
  RealCell cell_;
  std::vector<int32_t> tensors_ = std::vector<int32_t>(24, -1);
};

// ---- uint8, the basic kernel ------------------------------------------------------------------

// A case of the basic form of LSTM, whose states are inputs. Rows of weights are ordered by gate:
// input, update, forget, output; columns are those of the input, then of the activation.
AccuracyCase BasicLstmCase(uint32_t seed) {
  AccuracyModel a(seed);
  const int batches = 3, inputs = 11 + static_cast<int>(seed), cells = 13, depth = inputs + cells;
  constexpr Affine kActivation = {1.0f / 128, 128}, kState = {0x1p-11f, 0};
  const Steps x = a.Input(kTfLiteUInt8, {batches, inputs}, kActivation);
  const Steps held = a.Input(kTfLiteUInt8, {batches, cells}, kActivation);
  const Steps kept = a.Input(kTfLiteInt16, {batches, cells}, kState, -8000, 8000);
  const Steps w =
      a.Constant(kTfLiteUInt8, {4 * cells, depth}, {0.005f, 100 + static_cast<int>(seed) * 9});
  const Steps b = a.Constant(kTfLiteInt32, {4 * cells}, {0.005f / 128, 0}, -9000, 9000);
  const Reals xs = x.real(), hs = held.real(), cs = kept.real(), ws = w.real(), bs = b.real();
  Reals truth;
  for (size_t batch = 0; batch < 3; ++batch) {
    Reals joined = Part(xs, batch * static_cast<size_t>(inputs), static_cast<size_t>(inputs));
    const Reals hidden = Part(hs, batch * static_cast<size_t>(cells), static_cast<size_t>(cells));
    joined.insert(joined.end(), hidden.begin(), hidden.end());
    const auto sum = [&](size_t gate, size_t c) {
      const size_t row = gate * static_cast<size_t>(cells) + c;
      return RowTimes(ws, row, joined) + bs[row];
    };
    for (size_t c = 0; c < static_cast<size_t>(cells); ++c) {
      const double state = Logistic(sum(0, c)) * std::tanh(sum(1, c)) +
                           Logistic(sum(2, c)) * cs[batch * static_cast<size_t>(cells) + c];
      truth.push_back(Logistic(sum(3, c)) * std::tanh(state));
    }
  }
  const int y = a.Output(kTfLiteUInt8, {batches, cells}, kActivation, truth);
  const TensorExtras steps = {.scale = {kState.scale}, .zero_point = {0}};
  const int state = a.m().AddTensor(kTfLiteInt16, {batches, cells}, "cells", steps);
  const int joined = a.m().AddTensor(kTfLiteUInt8, {batches, depth}, "joined",
                                     {.scale = {kActivation.scale}, .zero_point = {128}});
  const int sums = a.m().AddTensor(kTfLiteInt16, {batches, 4 * cells}, "sums", steps);
  a.m().AddOp(kTfLiteBuiltinLstm, {x.tensor, held.tensor, w.tensor, b.tensor, kept.tensor},
              {y, state, joined, sums},
              schema::CreateLSTMOptions(a.m().fbb(), kTanh, 0, 0, schema::LSTMKernelType::BASIC),
              2);
  return a.Finish("LSTM", kTfLiteUInt8, seed);
}

// ---- SVDF -------------------------------------------------------------------------------------

// A case of SVDF, in which three nodes with one state replace three inferences.
AccuracyCase SvdfCase(uint32_t seed) {
  AccuracyModel a(seed);
  const int batches = 2, inputs = 19, units = 7, memory = 4;
  const int rank = static_cast<int>(seed), filters = units * rank;
  const Affine in = a.RandomAffine(kTfLiteInt8, 0.02f);
  constexpr float kFeatureScale = 0.006f, kTimeScale = 0x1p-14f, kStateScale = 0x1p-10f;
  const Steps w = a.Constant(kTfLiteInt8, {filters, inputs}, {kFeatureScale, 0}, -127, 127);
  const Steps time = a.Constant(kTfLiteInt16, {filters, memory}, {kTimeScale, 0});
  const Steps b =
      a.Constant(kTfLiteInt32, {units}, {kTimeScale * kStateScale, 0}, -20000000, 20000000);
  const int state = Variable(&a, kTfLiteInt16, {batches, memory * filters}, {kStateScale, 0});
  const Reals ws = w.real(), ts = time.real(), bs = b.real();
  std::vector<Reals> remembered(static_cast<size_t>(batches * filters),
                                Reals(static_cast<size_t>(memory)));
  for (int node = 0; node < 3; ++node) {
    const Steps x = a.Input(kTfLiteInt8, {batches, inputs}, in);
    const Reals xs = x.real();
    Reals truth;
    for (size_t batch = 0; batch < static_cast<size_t>(batches); ++batch) {
      const Reals vector =
          Part(xs, batch * static_cast<size_t>(inputs), static_cast<size_t>(inputs));
      for (size_t unit = 0; unit < static_cast<size_t>(units); ++unit) {
        double sum = bs[unit];
        for (size_t r = 0; r < static_cast<size_t>(rank); ++r) {
          const size_t filter = unit * static_cast<size_t>(rank) + r;
          Reals& past = remembered[batch * static_cast<size_t>(filters) + filter];
          past.erase(past.begin());
          past.push_back(RowTimes(ws, filter, vector));
          sum += RowTimes(ts, filter, past);
        }
        truth.push_back(sum);
      }
    }
    // The zero point is the minimum, so that saturation acts as RELU.
    const int y = a.Output(kTfLiteInt8, {batches, units}, {0.08f, -128}, truth);
    a.m().AddOp(
        kTfLiteBuiltinSvdf, {x.tensor, w.tensor, time.tensor, b.tensor, state}, {y},
        schema::CreateSVDFOptions(a.m().fbb(), rank, schema::ActivationFunctionType::RELU, false),
        3);
  }
  return a.Finish("SVDF", kTfLiteInt8, seed);
}

}  // namespace

std::vector<AccuracyCase> RecurrentAccuracy() {
  std::vector<AccuracyCase> cases;
  uint32_t seed = 0;
  for (const LstmRow& row : kSequences) {
    cases.push_back(LstmBuilder(++seed, row).Make(true));
    cases.push_back(LstmBuilder(seed, row).Make(false));
  }
  for (seed = 1; seed <= 3; ++seed) {
    cases.push_back(BasicLstmCase(seed));
    cases.push_back(SvdfCase(seed));
  }
  return cases;
}

}  // namespace deputy
