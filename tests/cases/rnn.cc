// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of RNN, UNIDIRECTIONAL_SEQUENCE_RNN, BIDIRECTIONAL_SEQUENCE_RNN and SVDF: float32
// and hybrid, SVDF also int8. Two nodes share their states, so that the second begins with the
// final state of the first.
#include "tests/cases/case.h"

namespace deputy {
namespace {

constexpr auto kTanh = schema::ActivationFunctionType::TANH;
constexpr auto kRelu = schema::ActivationFunctionType::RELU;

// Type of a cell: float32; int8 weights with float32 vectors, without or with zero points of the
// vectors; all int8.
enum Form { kFloat, kHybrid, kAsymmetric, kInteger };
constexpr const char* kFormNames[] = {"FLOAT32", "hybrid", "hybrid asymmetric", "INT8"};

int AddWeights(ModelBuilder* m, Form form, const Shape& shape, uint32_t seed) {
  if (form == kFloat) {
    std::vector<float> values = RandomFloats(CountOf(shape), seed);
    for (float& value : values) value *= 0.1f;
    return m->AddConstant<float>(kTfLiteFloat32, shape, values);
  }
  return AddRandomConstant(m, kTfLiteInt8, shape, seed, PerTensor(0.002f, 0));
}

int AddVector(ModelBuilder* m, int count, uint32_t seed) {
  std::vector<float> values = RandomFloats(static_cast<size_t>(count), seed);
  for (float& value : values) value *= 0.2f;
  return m->AddConstant<float>(kTfLiteFloat32, {count}, values);
}

int AddState(ModelBuilder* m, TfLiteType type, const Shape& shape, TensorExtras extras = {}) {
  extras.is_variable = true;
  return m->AddTensor(type, shape, "state", extras);
}

// ---- Recurrent cells --------------------------------------------------------------------------

enum Op { kStep, kSequence, kBoth };

struct RnnRow {
  Op op;
  int batches, steps, inputs, units;
  bool time_major = true, merge = false;
  int auxiliary = 0;
};

const RnnRow kRnnRows[] = {
    {kStep, 1, 1, 1, 1},
    {kStep, 3, 1, 33, 20},
    {kSequence, 1, 5, 64, 48},
    {kSequence, 4, 3, 7, 19, false},
    {kSequence, 0, 3, 4, 4},
    {kSequence, 2, 0, 4, 4},
    {kBoth, 2, 3, 9, 12},
    {kBoth, 2, 3, 9, 12, false, true},
    {kBoth, 3, 2, 21, 18, true, true, 21},
};

class RnnBuilder {
 public:
  RnnBuilder(Form form, const RnnRow& row) : form_(form), row_(row) {}
  OpCase Make();

 private:
  Shape VectorsOf(int depth) const;
  void AddCell(std::vector<int32_t>* places);
  void AddNode(std::vector<int32_t> places);

  Form form_;
  RnnRow row_;
  ModelBuilder m_;
  uint32_t seed_ = 1;
  std::vector<int32_t> inputs_, outputs_;
};

Shape RnnBuilder::VectorsOf(int depth) const {
  if (row_.op == kStep) return {row_.batches, depth};
  if (row_.time_major) return {row_.steps, row_.batches, depth};
  return {row_.batches, row_.steps, depth};
}

void RnnBuilder::AddCell(std::vector<int32_t>* places) {
  places->push_back(AddWeights(&m_, form_, {row_.units, row_.inputs}, ++seed_));
  places->push_back(AddWeights(&m_, form_, {row_.units, row_.units}, ++seed_));
  places->push_back(AddVector(&m_, row_.units, ++seed_));
  places->push_back(AddState(&m_, kTfLiteFloat32, {row_.batches, row_.units}));
}

void RnnBuilder::AddNode(std::vector<int32_t> places) {
  const bool asymmetric = form_ == kAsymmetric;
  inputs_.push_back(places[0] = m_.AddTensor(kTfLiteFloat32, VectorsOf(row_.inputs), "x"));
  if (row_.auxiliary > 0) {
    inputs_.push_back(places[9] = m_.AddTensor(kTfLiteFloat32, VectorsOf(row_.auxiliary), "a"));
  }
  std::vector<int32_t> made = {m_.AddTensor(kTfLiteFloat32, {1}, "y")};
  if (row_.op == kBoth && !row_.merge) made.push_back(m_.AddTensor(kTfLiteFloat32, {1}, "z"));
  outputs_.insert(outputs_.end(), made.begin(), made.end());
  auto& fbb = m_.fbb();
  if (row_.op == kStep) {
    m_.AddOp(kTfLiteBuiltinRnn, places, made, schema::CreateRNNOptions(fbb, kTanh, asymmetric));
  } else if (row_.op == kSequence) {
    m_.AddOp(kTfLiteBuiltinUnidirectionalSequenceRnn, places, made,
             schema::CreateSequenceRNNOptions(fbb, row_.time_major, kTanh, asymmetric));
  } else {
    m_.AddOp(kTfLiteBuiltinBidirectionalSequenceRnn, places, made,
             schema::CreateBidirectionalSequenceRNNOptions(fbb, row_.time_major, kTanh, row_.merge,
                                                           asymmetric));
  }
}

OpCase RnnBuilder::Make() {
  constexpr const char* kNames[] = {"RNN", "UNIDIRECTIONAL_SEQUENCE_RNN",
                                    "BIDIRECTIONAL_SEQUENCE_RNN"};
  std::vector<int32_t> places = {-1};
  AddCell(&places);
  if (row_.op == kBoth) {
    AddCell(&places);
    places.push_back(-1);
    for (int i = 0; i < 2; ++i) {
      places.push_back(
          row_.auxiliary == 0 ? -1 : AddWeights(&m_, form_, {row_.units, row_.auxiliary}, ++seed_));
    }
  }
  AddNode(places);
  AddNode(places);
  m_.SetInputs(inputs_);
  m_.SetOutputs(outputs_);
  return {std::string(kNames[row_.op]) + " " + kFormNames[form_] + " " +
              Text(VectorsOf(row_.inputs)) + " units " + std::to_string(row_.units) +
              (row_.time_major ? "" : " batch major") + (row_.merge ? " merged" : ""),
          Rule::kSum, m_.Finish(), ""};
}

// ---- SVDF ---------------------------------------------------------------------------------------

struct SvdfRow {
  int batches, inputs, units, rank, memory;
  bool bias = true;
  const char* refusal = "";
};

const SvdfRow kSvdfRows[] = {
    {1, 1, 1, 1, 1},
    {2, 40, 32, 1, 10},
    {3, 33, 17, 2, 7, false},
    {0, 4, 4, 1, 4},
    {2, 64, 5, 4, 20},
    {1, 4, 4, 0, 4, true, "rank: expected a divisor of the 4 filters, found 0"},
};

OpCase MakeSvdf(Form form, const SvdfRow& row) {
  ModelBuilder m;
  const int filters = row.units * std::max(1, row.rank);
  const bool integer = form == kInteger;
  const TfLiteType type = integer ? kTfLiteInt8 : kTfLiteFloat32;
  const TensorExtras in = integer ? PerTensor(0.02f, 5) : TensorExtras();
  const TensorExtras out = integer ? PerTensor(0.05f, -7) : TensorExtras();
  std::vector<int32_t> places = {-1, AddWeights(&m, form, {filters, row.inputs}, 1)};
  const Shape time = {filters, row.memory};
  if (integer) {
    std::vector<int16_t> values(CountOf(time));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<int16_t>(i * 977 % 4001) - 2000;
    places.push_back(m.AddConstant<int16_t>(kTfLiteInt16, time, values, "", PerTensor(0.001f, 0)));
  } else {
    places.push_back(AddWeights(&m, form, time, 2));
  }
  places.push_back(!row.bias ? -1
                   : integer ? AddRandomBias(&m, kTfLiteInt32, row.units, 3)
                             : AddVector(&m, row.units, 3));
  places.push_back(AddState(&m, integer ? kTfLiteInt16 : kTfLiteFloat32,
                            {row.batches, row.memory * filters},
                            integer ? PerTensor(0.0005f, 0) : TensorExtras()));
  std::vector<int32_t> inputs, outputs;
  for (int node = 0; node < 2; ++node) {
    inputs.push_back(places[0] = m.AddTensor(type, {row.batches, row.inputs}, "x", in));
    outputs.push_back(m.AddTensor(type, {1}, "y", out));
    m.AddOp(kTfLiteBuiltinSvdf, places, {outputs.back()},
            schema::CreateSVDFOptions(m.fbb(), row.rank, kRelu, form == kAsymmetric));
  }
  m.SetInputs(inputs);
  m.SetOutputs(outputs);
  return {std::string("SVDF ") + kFormNames[form] + " " + Text({row.batches, row.inputs}) +
              " units " + std::to_string(row.units) + " rank " + std::to_string(row.rank),
          Rule::kSum, m.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> RnnCases() {
  std::vector<OpCase> cases;
  for (Form form : {kFloat, kHybrid, kAsymmetric, kInteger}) {
    for (const SvdfRow& row : kSvdfRows) cases.push_back(MakeSvdf(form, row));
    if (form == kInteger) continue;
    for (const RnnRow& row : kRnnRows) cases.push_back(RnnBuilder(form, row).Make());
  }
  return cases;
}

}  // namespace deputy
