// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of LSTM, UNIDIRECTIONAL_SEQUENCE_LSTM and BIDIRECTIONAL_SEQUENCE_LSTM: float32,
// hybrid and int8, with and without the optional parts of a cell. Two nodes share their states, so
// that the second begins with the final state of the first.
#include "tests/cases/case.h"

namespace deputy {
namespace {

constexpr auto kTanh = schema::ActivationFunctionType::TANH;

enum Op { kStep, kSequence, kBoth };

struct LstmRow {
  Op op;
  int batches, steps, inputs, cells;
  int outputs = 0;  // size of the projection; 0: none
  bool couples_input = false, peephole = false, norm = false;
  bool time_major = true, merge = false;
  int auxiliary = 0;
};

const LstmRow kLstmRows[] = {
    {kStep, 1, 1, 1, 1},
    {kStep, 3, 1, 33, 20},
    {kStep, 2, 1, 17, 31, 9, false, true, true},
    {kStep, 2, 1, 8, 16, 0, true, true},
    {kSequence, 1, 5, 64, 48},
    {kSequence, 4, 3, 7, 19, 6, true, false, true},
    {kSequence, 4, 3, 7, 19, 0, false, true, false, false},
    {kSequence, 1, 6, 130, 70, 33, false, true, true, false},
    {kSequence, 0, 3, 4, 4},
    {kSequence, 2, 0, 4, 4},
    {kBoth, 2, 3, 9, 12},
    {kBoth, 2, 3, 9, 12, 5, true, true, false, false},
    {kBoth, 3, 2, 21, 18, 0, false, true, false, true, true, 6},
};

// Type of a cell: float32; int8 weights with float32 vectors, without or with zero points of the
// vectors; float32 vectors with sparse int8 weights.
enum Form { kFloat, kHybrid, kAsymmetric, kSparse };
constexpr const char* kFormNames[] = {"FLOAT32", "hybrid", "hybrid asymmetric", "hybrid sparse"};

class LstmBuilder {
 public:
  LstmBuilder(Form form, const LstmRow& row) : form_(form), row_(row) {}

  OpCase Make();

 private:
  int Matrix(const Shape& shape);
  int Vector(int count, float scale);
  void AddGates(std::vector<int32_t>* places, int input, int recurrent, int peephole, int bias);
  void AddProjection(std::vector<int32_t>* places, int number);
  void AddStates(std::vector<int32_t>* places, int first);
  std::vector<int32_t> Places();
  Shape VectorsOf(int depth) const;
  void AddNode(std::vector<int32_t> places, std::vector<int32_t>* inputs,
               std::vector<int32_t>* outputs);
  template <typename Options>
  void AddOp(TfLiteBuiltinOperator code, const std::vector<int32_t>& places,
             const std::vector<int32_t>& outputs, flatbuffers::Offset<Options> options) {
    m_.AddOp(code, places, outputs, options);
  }

  Form form_;
  LstmRow row_;
  ModelBuilder m_;
  uint32_t seed_ = 1;
};

int LstmBuilder::Matrix(const Shape& shape) {
  if (form_ == kFloat) {
    std::vector<float> values = RandomFloats(CountOf(shape), ++seed_);
    for (float& value : values) value *= 0.3f;
    return m_.AddConstant<float>(kTfLiteFloat32, shape, values);
  }
  TensorExtras extras = PerTensor(0.004f, 0);
  if (form_ != kSparse || shape.size() != 2) {
    return AddRandomConstant(&m_, kTfLiteInt8, shape, ++seed_, extras);
  }
  // Elements per block. Each row stores only its first block; the last row stores none and is zero.
  constexpr int kBlock = 16;
  std::vector<int32_t> segments;
  for (int row = 0; row < shape[0]; ++row) segments.push_back(row);
  segments.push_back(shape[0] - 1);
  const auto blocks = static_cast<size_t>(shape[0]) - 1;
  extras.sparsity = SparseRows(&m_, shape, kBlock, segments, std::vector<int32_t>(blocks));
  return m_.AddConstant<int8_t>(kTfLiteInt8, shape, RandomInt8(blocks * kBlock, ++seed_), "w",
                                extras);
}

int LstmBuilder::Vector(int count, float scale) {
  std::vector<float> values = RandomFloats(static_cast<size_t>(count), ++seed_);
  for (float& value : values) value *= scale;
  return m_.AddConstant<float>(kTfLiteFloat32, {count}, values);
}

void LstmBuilder::AddGates(std::vector<int32_t>* places, int input, int recurrent, int peephole,
                           int bias) {
  const int outputs = row_.outputs == 0 ? row_.cells : row_.outputs;
  const auto set = [&](int place, int tensor) { (*places)[static_cast<size_t>(place)] = tensor; };
  for (int gate = row_.couples_input ? 1 : 0; gate < 4; ++gate) {
    set(input + gate, Matrix({row_.cells, row_.inputs}));
    set(recurrent + gate, Matrix({row_.cells, outputs}));
    set(bias + gate, Vector(row_.cells, 0.3f));
    if (row_.peephole && gate != 2) set(peephole + (gate == 3 ? 2 : gate), Matrix({row_.cells}));
  }
}

void LstmBuilder::AddProjection(std::vector<int32_t>* places, int number) {
  if (row_.outputs == 0) return;
  (*places)[static_cast<size_t>(number)] = Matrix({row_.outputs, row_.cells});
  (*places)[static_cast<size_t>(number) + 1] = Vector(row_.outputs, 0.2f);
}

void LstmBuilder::AddStates(std::vector<int32_t>* places, int first) {
  const int outputs = row_.outputs == 0 ? row_.cells : row_.outputs;
  TensorExtras variable;
  variable.is_variable = true;
  for (int extent : {outputs, row_.cells}) {
    (*places)[static_cast<size_t>(first++)] =
        m_.AddTensor(kTfLiteFloat32, {row_.batches, extent}, "state", variable);
  }
}

std::vector<int32_t> LstmBuilder::Places() {
  std::vector<int32_t> places(row_.op == kBoth ? 48 : 24, -1);
  AddGates(&places, 1, 5, 9, 12);
  AddProjection(&places, 16);
  if (row_.op != kBoth) {
    AddStates(&places, 18);
    for (int gate = row_.couples_input ? 1 : 0; row_.norm && gate < 4; ++gate) {
      places[20 + static_cast<size_t>(gate)] = Vector(row_.cells, 0.8f);
    }
    return places;
  }
  AddGates(&places, 18, 22, 26, 29);
  AddProjection(&places, 33);
  AddStates(&places, 35);
  AddStates(&places, 37);
  for (int gate = row_.couples_input ? 1 : 0; row_.auxiliary > 0 && gate < 4; ++gate) {
    places[40 + static_cast<size_t>(gate)] = Matrix({row_.cells, row_.auxiliary});
    places[44 + static_cast<size_t>(gate)] = Matrix({row_.cells, row_.auxiliary});
  }
  return places;
}

Shape LstmBuilder::VectorsOf(int depth) const {
  if (row_.op == kStep) return {row_.batches, depth};
  if (row_.time_major) return {row_.steps, row_.batches, depth};
  return {row_.batches, row_.steps, depth};
}

void LstmBuilder::AddNode(std::vector<int32_t> places, std::vector<int32_t>* inputs,
                          std::vector<int32_t>* outputs) {
  const bool asymmetric = form_ == kAsymmetric;
  inputs->push_back(places[0] = m_.AddTensor(kTfLiteFloat32, VectorsOf(row_.inputs), "x"));
  if (row_.auxiliary > 0) {
    inputs->push_back(places[39] = m_.AddTensor(kTfLiteFloat32, VectorsOf(row_.auxiliary), "a"));
  }
  std::vector<int32_t> made = {m_.AddTensor(kTfLiteFloat32, {1}, "y")};
  if (row_.op == kBoth && !row_.merge) made.push_back(m_.AddTensor(kTfLiteFloat32, {1}, "z"));
  outputs->insert(outputs->end(), made.begin(), made.end());
  auto& fbb = m_.fbb();
  if (row_.op == kStep) {
    AddOp(kTfLiteBuiltinLstm, places, made,
          schema::CreateLSTMOptions(fbb, kTanh, 0.9f, 0.8f, schema::LSTMKernelType::FULL,
                                    asymmetric));
  } else if (row_.op == kSequence) {
    AddOp(kTfLiteBuiltinUnidirectionalSequenceLstm, places, made,
          schema::CreateUnidirectionalSequenceLSTMOptions(fbb, kTanh, 0.9f, 0.8f, row_.time_major,
                                                          asymmetric));
  } else {
    AddOp(kTfLiteBuiltinBidirectionalSequenceLstm, places, made,
          schema::CreateBidirectionalSequenceLSTMOptions(fbb, kTanh, 0.9f, 0.8f, row_.merge,
                                                         row_.time_major, asymmetric));
  }
}

OpCase LstmBuilder::Make() {
  constexpr const char* kNames[] = {"LSTM", "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                    "BIDIRECTIONAL_SEQUENCE_LSTM"};
  const std::vector<int32_t> places = Places();
  std::vector<int32_t> inputs, outputs;
  AddNode(places, &inputs, &outputs);
  AddNode(places, &inputs, &outputs);
  m_.SetInputs(inputs);
  m_.SetOutputs(outputs);
  return {std::string(kNames[row_.op]) + " " + kFormNames[form_] + " " +
              Text(VectorsOf(row_.inputs)) + " cells " + std::to_string(row_.cells) +
              (row_.outputs > 0 ? " projected" : "") + (row_.couples_input ? " cifg" : "") +
              (row_.peephole ? " peephole" : "") + (row_.norm ? " norm" : "") +
              (row_.time_major ? "" : " batch major") + (row_.merge ? " merged" : ""),
          Rule::kSum, m_.Finish(), ""};
}

// ---- int8 ---------------------------------------------------------------------------------------

struct IntegerRow {
  int batches, steps, inputs, cells;
  int outputs = 0;  // size of the projection; 0: none
  bool couples_input = false, norm = false, time_major = true;
};

const IntegerRow kIntegerRows[] = {
    {1, 2, 1, 1},
    {3, 3, 33, 20},
    {2, 2, 17, 31, 9, true, true},
    {4, 2, 64, 48, 0, false, true, false},
    {0, 2, 4, 4},
};

OpCase MakeInteger(const IntegerRow& row) {
  ModelBuilder m;
  std::vector<int32_t> places(24, -1);
  const int outputs = row.outputs == 0 ? row.cells : row.outputs;
  const TensorExtras weights = PerTensor(0.004f, 0), out = PerTensor(1.0f / 128, -5);
  for (size_t gate = row.couples_input ? 1 : 0; gate < 4; ++gate) {
    const auto seed = static_cast<uint32_t>(3 * gate + 1);
    places[1 + gate] = AddRandomConstant(&m, kTfLiteInt8, {row.cells, row.inputs}, seed, weights);
    places[5 + gate] = AddRandomConstant(&m, kTfLiteInt8, {row.cells, outputs}, seed + 1, weights);
    places[12 + gate] = AddRandomBias(&m, kTfLiteInt32, row.cells, seed + 2);
    std::vector<int16_t> coefficients(static_cast<size_t>(row.cells), 21000);
    if (!row.norm) continue;
    places[20 + gate] =
        m.AddConstant<int16_t>(kTfLiteInt16, {row.cells}, coefficients, "", PerTensor(0x1p-15f, 0));
  }
  if (row.outputs > 0) {
    places[16] = AddRandomConstant(&m, kTfLiteInt8, {outputs, row.cells}, 20, weights);
  }
  TensorExtras state = out, cells = PerTensor(0x1p-11f, 0);
  state.is_variable = cells.is_variable = true;
  places[18] = m.AddTensor(kTfLiteInt8, {row.batches, outputs}, "state", state);
  places[19] = m.AddTensor(kTfLiteInt16, {row.batches, row.cells}, "cells", cells);
  std::vector<int32_t> between;
  for (int i = 0; i < 5; ++i) {
    between.push_back(m.AddTensor(i < 4 ? kTfLiteInt16 : kTfLiteInt8, {1}, "intermediate",
                                  PerTensor(i < 4 ? 0x1p-10f : 1.0f / 128, i < 4 ? 0 : -5)));
  }
  const Shape shape = row.time_major ? Shape{row.steps, row.batches, row.inputs}
                                     : Shape{row.batches, row.steps, row.inputs};
  std::vector<int32_t> inputs, made;
  for (int node = 0; node < 2; ++node) {
    inputs.push_back(places[0] = m.AddTensor(kTfLiteInt8, shape, "x", PerTensor(0.02f, 3)));
    made.push_back(m.AddTensor(kTfLiteInt8, {1}, "y", out));
    m.AddOp(
        kTfLiteBuiltinUnidirectionalSequenceLstm, places, {made.back()},
        schema::CreateUnidirectionalSequenceLSTMOptions(m.fbb(), kTanh, 0.9f, 0.8f, row.time_major),
        1, between);
  }
  m.SetInputs(inputs);
  m.SetOutputs(made);
  return {"UNIDIRECTIONAL_SEQUENCE_LSTM INT8 " + Text(shape) + " cells " +
              std::to_string(row.cells) + (row.outputs > 0 ? " projected" : ""),
          Rule::kSum, m.Finish(), ""};
}

// ---- The basic kernel ---------------------------------------------------------------------------

OpCase MakeBasic(bool bytes, int batches, int inputs, int cells) {
  ModelBuilder m;
  const TfLiteType type = bytes ? kTfLiteUInt8 : kTfLiteFloat32;
  const TfLiteType state_type = bytes ? kTfLiteInt16 : kTfLiteFloat32;
  TensorExtras vector, state, weights;
  if (bytes) {
    vector = PerTensor(1.0f / 128, 128);
    state = PerTensor(0x1p-11f, 0);
    weights = PerTensor(0.01f, 121);
  }
  const Shape shape = {4 * cells, inputs + cells};
  const int w = AddRandomConstant(&m, type, shape, 1, weights);
  const int b = AddRandomBias(&m, bytes ? kTfLiteInt32 : kTfLiteFloat32, 4 * cells, 2,
                              bytes ? PerTensor(1e-4f, 0) : TensorExtras());
  vector.is_variable = state.is_variable = true;
  const int held = m.AddTensor(type, {batches, cells}, "activation", vector);
  const int kept = m.AddTensor(state_type, {batches, cells}, "state", state);
  vector.is_variable = state.is_variable = false;
  std::vector<int32_t> feeds, outputs;
  for (int node = 0; node < 2; ++node) {
    feeds.push_back(m.AddTensor(type, {batches, inputs}, "x", vector));
    const int y = m.AddTensor(type, {1}, "y", vector), s = m.AddTensor(state_type, {1}, "s", state);
    const int joined = m.AddTensor(type, {1}, "joined", vector);
    const int sums = m.AddTensor(state_type, {1}, "sums", state);
    m.AddOp(kTfLiteBuiltinLstm, {feeds.back(), held, w, b, kept}, {y, s, joined, sums},
            schema::CreateLSTMOptions(m.fbb(), kTanh, 0, 0, schema::LSTMKernelType::BASIC));
    outputs.insert(outputs.end(), {y, s, joined, sums});
  }
  m.SetInputs(feeds);
  m.SetOutputs(outputs);
  return {std::string("LSTM basic ") + TfLiteTypeGetName(type) + " " + Text({batches, inputs}) +
              " cells " + std::to_string(cells),
          Rule::kSum, m.Finish(), ""};
}

// ---- Refusals -----------------------------------------------------------------------------------

struct Refusal {
  int place;    // index of the input that is replaced
  Shape shape;  // shape of the new input; empty: the input is absent
  TfLiteType type;
  const char* refusal;
};

const Refusal kRefusals[] = {
    {4, {}, kTfLiteFloat32, "output gate: expected input weights, found none"},
    {6, {}, kTfLiteFloat32, "forget gate: expected recurrent weights, found none"},
    {12, {}, kTfLiteFloat32, "input gate: expected a bias, found none"},
    {18, {}, kTfLiteFloat32, "expected tensors for output state and cell state"},
    {2, {4, 6}, kTfLiteFloat32, "expected dimension 1 to be 5, found 6"},
    {7, {4}, kTfLiteFloat32, "expected 2 dimensions, found 1"},
    {14, {4}, kTfLiteInt32, "expected type FLOAT32, found INT32"},
    {9, {4}, kTfLiteFloat32, "forget gate: expected peephole weights, found none"},
    {17, {4}, kTfLiteFloat32, "expected no bias without projection weights"},
    {19, {2, 4}, kTfLiteFloat32, "expected a variable tensor"},
    {21, {4}, kTfLiteFloat32, "input gate: expected coefficients of layer normalisation"},
};

OpCase MakeRefusal(const Refusal& row) {
  ModelBuilder m;
  const Shape weights = {4, 5}, recurrent = {4, 4};
  std::vector<int32_t> places(24, -1);
  TensorExtras variable;
  variable.is_variable = true;
  const int x = places[0] = m.AddTensor(kTfLiteFloat32, {2, 5}, "x");
  for (size_t gate = 0; gate < 4; ++gate) {
    places[1 + gate] = m.AddTensor(kTfLiteFloat32, weights, "input weights");
    places[5 + gate] = m.AddTensor(kTfLiteFloat32, recurrent, "recurrent weights");
    places[12 + gate] = m.AddTensor(kTfLiteFloat32, {4}, "bias");
  }
  for (size_t place : {18, 19}) {
    places[place] = m.AddTensor(kTfLiteFloat32, {2, 4}, "state", variable);
  }
  places[static_cast<size_t>(row.place)] =
      row.shape.empty() ? -1 : m.AddTensor(row.type, row.shape, "other");
  const int y = m.AddTensor(kTfLiteFloat32, {1}, "y");
  m.AddOp(kTfLiteBuiltinLstm, places, {y}, schema::CreateLSTMOptions(m.fbb(), kTanh));
  m.SetInputs({x});
  m.SetOutputs({y});
  return {"LSTM refused " + std::to_string(row.place) + " " + Text(row.shape), Rule::kSum,
          m.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> LstmCases() {
  std::vector<OpCase> cases;
  for (const LstmRow& row : kLstmRows) {
    for (Form form : {kFloat, kHybrid, kAsymmetric}) {
      cases.push_back(LstmBuilder(form, row).Make());
    }
  }
  cases.push_back(LstmBuilder(kSparse, {kStep, 2, 1, 32, 16, 16}).Make());
  cases.push_back(LstmBuilder(kSparse, {kStep, 3, 1, 48, 32, 16, true, true, true}).Make());
  for (const IntegerRow& row : kIntegerRows) cases.push_back(MakeInteger(row));
  for (bool bytes : {false, true}) {
    cases.push_back(MakeBasic(bytes, 1, 1, 1));
    cases.push_back(MakeBasic(bytes, 3, 33, 17));
    cases.push_back(MakeBasic(bytes, 0, 3, 4));
  }
  for (const Refusal& row : kRefusals) cases.push_back(MakeRefusal(row));
  return cases;
}

}  // namespace deputy
