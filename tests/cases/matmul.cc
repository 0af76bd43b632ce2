// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of FULLY_CONNECTED: one row and many, widths around the tiles, with and without
// bias and constant weights, weights with a zero point, of 4 bits, of 4 bits in blocks, and sparse;
// and of BATCH_MATMUL: broadcasting, either operand transposed.
#include "tests/cases/weights_form.h"

namespace deputy {
namespace {

struct MatmulRow {
  Shape input;
  Shape weights;  // [units, depth]
  bool bias = true;
  bool constant_weights = true;
  bool keep_num_dims = false;
  schema::ActivationFunctionType activation = schema::ActivationFunctionType::NONE;
  const char* refusal = "";
};

constexpr auto kNoActivation = schema::ActivationFunctionType::NONE;

const MatmulRow kMatmulRows[] = {
    {{1, 1}, {1, 1}},
    {{1, 7}, {5, 7}},
    {{1, 64}, {10, 64}},
    {{1, 33}, {200, 33}},
    {{1, 256}, {65, 256}, false},
    {{5, 12}, {16, 12}, true, false},
    {{7, 12}, {17, 12}, false, false},
    {{13, 31}, {31, 31}, true, true, false, schema::ActivationFunctionType::RELU},
    {{2, 3, 4, 5}, {6, 5}},
    {{2, 3, 4, 5}, {6, 5}, true, true, true},
    {{2, 6}, {3, 4}},
    {{8}, {3, 8}},
    {{0, 8}, {3, 8}},
    {{2, 8}, {0, 8}},
    {{64, 100}, {120, 100}},
    {{1, 1000}, {1000, 1000}},
    {{2, 5}, {3, 4}, true, true, false, kNoActivation, "expected rows of 4 values"},
    {{2, 6}, {3, 4}, true, true, true, kNoActivation, "expected the last dimension to be 4"},
    {{2, 4}, {3, 4, 1}, true, true, false, kNoActivation, "expected 2 dimensions, found 3"},
    {{2, 4}, {3, 4}, true, true, false, schema::ActivationFunctionType::TANH, "fused activation"},
};

OpCase MakeCase(CaseForm form, bool weights_zero_point, const MatmulRow& row) {
  ModelBuilder builder;
  const int units = row.weights[0];
  FormTensors t = TensorsOf(form, units, 0, static_cast<size_t>(row.weights[1]));
  if (weights_zero_point) t.weights_extras.zero_point = {-6};
  const int input = builder.AddTensor(t.data, row.input, "input", t.input_extras);
  const int weights = row.constant_weights
                          ? AddRandomConstant(&builder, t.weights, row.weights, 3, t.weights_extras)
                          : builder.AddTensor(t.weights, row.weights, "weights", t.weights_extras);
  std::vector<int32_t> inputs = {input, weights};
  if (row.bias) inputs.push_back(AddFormBias(&builder, t, units, 4));
  const int output = builder.AddTensor(t.data, {1}, "output", t.output_extras);
  builder.AddOp(kTfLiteBuiltinFullyConnected, inputs, {output},
                schema::CreateFullyConnectedOptions(
                    builder.fbb(), row.activation,
                    schema::FullyConnectedOptionsWeightsFormat::DEFAULT, row.keep_num_dims));
  builder.SetInputs(row.constant_weights ? std::vector<int32_t>{input} : inputs);
  if (!row.constant_weights) builder.SetInputs({input, weights});
  builder.SetOutputs({output});
  return {std::string("FULLY_CONNECTED ") + t.name + (weights_zero_point ? " zero point" : "") +
              " " + Text(row.input) + Text(row.weights) + (row.bias ? " bias" : "") +
              (row.constant_weights ? "" : " live weights") +
              (row.keep_num_dims ? " keep dims" : ""),
          Rule::kSum, builder.Finish(), row.refusal};
}

// ---- Weights in blocks ------------------------------------------------------------------------

struct BlockRow {
  int rows, units, depth, block;
  int scales = 0;  // number of scales beyond the required number; negative: missing ones
  TfLiteType scales_type = kTfLiteFloat16;
  int scales_tensor = 0;  // offset to the index of the correct scales tensor
  const char* refusal = "";
};

const BlockRow kBlockRows[] = {
    {1, 4, 32, 32},
    {5, 7, 96, 32},
    {3, 2, 24, 4},
    {1, 1, 7, 1},
    {2, 3, 30, 4, 0, kTfLiteFloat16, 0, "expected blocks that divide a row of 30, found 4"},
    {2, 3, 30, 0, 0, kTfLiteFloat16, 0, "expected blocks that divide a row of 30, found 0"},
    {2, 3, 30, -5, 0, kTfLiteFloat16, 0, "expected blocks that divide a row of 30, found -5"},
    {2, 3, 30, 5, -1, kTfLiteFloat16, 0, "expected 18 elements, found 17"},
    {2, 3, 30, 5, 1, kTfLiteFloat16, 0, "expected 18 elements, found 19"},
    {2, 3, 30, 5, 0, kTfLiteFloat32, 0, "expected type FLOAT16"},
    {2, 3, 32, 32, 0, kTfLiteFloat16, 2, "expected type FLOAT16, found FLOAT32"},
};

OpCase MakeBlockCase(const BlockRow& row) {
  ModelBuilder builder;
  auto& fbb = builder.fbb();
  const int input = builder.AddTensor(kTfLiteFloat32, {row.rows, row.depth}, "input");
  const int count = row.units * (row.block < 1 ? 1 : row.depth / row.block) + row.scales;
  // Scales from 0.0625 upward as float16. If the scales' type is FLOAT32, each pair of these values
  // is the bits of one scale.
  std::vector<uint16_t> halves;
  const int bytes_per_scale = row.scales_type == kTfLiteFloat16 ? 1 : 2;
  for (int i = 0; i < count * bytes_per_scale; ++i) {
    halves.push_back(static_cast<uint16_t>(0x2c00 + i % 7 * 64));
  }
  const int scales = builder.AddConstant<uint16_t>(row.scales_type, {count}, halves, "scales");
  TensorExtras extras;
  extras.quantization = schema::CreateQuantizationParameters(
      fbb, 0, 0, 0, 0, schema::QuantizationDetails::BlockwiseQuantization,
      schema::CreateBlockwiseQuantization(fbb, scales + row.scales_tensor, -1, row.block).Union());
  const int weights = AddRandomConstant(&builder, kTfLiteInt4, {row.units, row.depth}, 3, extras);
  const int bias = AddRandomBias(&builder, kTfLiteFloat32, row.units, 4);
  const int output = builder.AddTensor(kTfLiteFloat32, {1}, "output");
  builder.AddOp(kTfLiteBuiltinFullyConnected, {input, weights, bias}, {output},
                schema::CreateFullyConnectedOptions(fbb, schema::ActivationFunctionType::RELU));
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {"FULLY_CONNECTED in blocks " + Text({row.rows, row.units, row.depth, row.block}) + " " +
              std::to_string(count) + TfLiteTypeGetName(row.scales_type) + " of tensor " +
              std::to_string(row.scales_tensor),
          Rule::kSum, builder.Finish(), row.refusal};
}

// ---- Sparse weights ---------------------------------------------------------------------------

struct SparseRow {
  CaseForm form = CaseForm::kFloat;
  int rows = 3, units = 5, depth = 64;
  int block = 1;
  enum SparseOperand { kWeights, kBias, kInput } sparse_operand = kWeights;
  int zero_point = 0;
  const char* refusal = "";
};

const SparseRow kSparseRows[] = {
    {CaseForm::kFloat, 3, 5, 64, 1},
    {CaseForm::kFloat, 1, 1, 4, 4},
    {CaseForm::kFloat, 9, 33, 40, 4},
    {CaseForm::kFloat, 2, 7, 30, 5},
    {CaseForm::kInt8, 3, 5, 64, 16},
    {CaseForm::kInt8PerChannel, 3, 17, 64, 1},
    {CaseForm::kHybrid, 3, 5, 64, 16},
    {CaseForm::kHybrid, 3, 5, 60, 4},
    {CaseForm::kUInt8, 3, 5, 64, 16, SparseRow::kWeights, 0, "expected type FLOAT32 or INT8"},
    {CaseForm::kInt16, 3, 5, 64, 16, SparseRow::kWeights, 0, "expected a dense tensor"},
    {CaseForm::kInt8Packed, 3, 5, 64, 16, SparseRow::kWeights, 0, "expected type FLOAT32 or INT8"},
    {CaseForm::kInt8, 3, 5, 64, 16, SparseRow::kWeights, 3, "expected zero point 0, found 3"},
    {CaseForm::kFloat, 3, 5, 64, 1, SparseRow::kBias, 0, "expected a dense tensor"},
    {CaseForm::kFloat, 3, 5, 64, 1, SparseRow::kInput, 0, "expected a dense tensor"},
};

// A case whose weights, bias or constant input (row.sparse_operand) are sparse: every third block
// is stored, and no block of every fourth row.
OpCase MakeSparseCase(const SparseRow& row) {
  ModelBuilder builder;
  FormTensors t = TensorsOf(row.form, row.units, 0, static_cast<size_t>(row.depth) / 3);
  if (row.zero_point != 0) t.weights_extras.zero_point = {row.zero_point};
  const auto sparse = [&](const Shape& shape, int block, TensorExtras* extras) {
    std::vector<int32_t> segments = {0}, indices;
    for (int r = 0; r < shape[0]; ++r) {
      const int last = r % 4 == 3 ? 0 : shape[1] / block;
      for (int i = r % 3; i < last; i += 3) indices.push_back(i);
      segments.push_back(static_cast<int32_t>(indices.size()));
    }
    extras->sparsity = SparseRows(&builder, shape, block, segments, indices);
  };
  if (row.sparse_operand == SparseRow::kWeights)
    sparse({row.units, row.depth}, row.block, &t.weights_extras);
  TensorExtras bias_extras = t.bias_extras, input_extras = t.input_extras;
  if (row.sparse_operand == SparseRow::kBias) sparse({1, row.units}, 1, &bias_extras);
  if (row.sparse_operand == SparseRow::kInput) sparse({row.rows, row.depth}, 1, &input_extras);
  const Shape input_shape = {row.rows, row.depth};
  const int live = builder.AddTensor(t.data, input_shape, "input", t.input_extras);
  const int input = row.sparse_operand == SparseRow::kInput
                        ? AddRandomConstant(&builder, t.data, input_shape, 2, input_extras)
                        : live;
  const int weights =
      AddRandomConstant(&builder, t.weights, {row.units, row.depth}, 3, t.weights_extras);
  const int bias = row.sparse_operand == SparseRow::kBias
                       ? AddRandomConstant(&builder, t.data, {1, row.units}, 4, bias_extras)
                       : AddFormBias(&builder, t, row.units, 4);
  const int output = builder.AddTensor(t.data, {1}, "output", t.output_extras);
  builder.AddOp(kTfLiteBuiltinFullyConnected, {input, weights, bias}, {output},
                schema::CreateFullyConnectedOptions(builder.fbb()));
  builder.SetInputs({live});
  builder.SetOutputs({output});
  return {std::string("FULLY_CONNECTED sparse ") + t.name + " " +
              Text({row.rows, row.units, row.depth, row.block, row.sparse_operand, row.zero_point}),
          Rule::kSum, builder.Finish(), row.refusal};
}

// ---- BATCH_MATMUL -----------------------------------------------------------------------------

struct BatchRow {
  Shape x, y;
  bool adj_x = false, adj_y = false;
  const char* refusal = "";
};

const BatchRow kBatchRows[] = {
    {{1, 1}, {1, 1}},
    {{3, 4}, {4, 5}},
    {{2, 17, 33}, {2, 33, 65}},
    {{2, 33, 17}, {2, 65, 33}, true, true},
    {{2, 1, 5, 7}, {3, 7, 9}},
    {{7, 5}, {3, 9, 7}, true, true},
    {{2, 1, 2, 3, 4}, {3, 1, 5, 4}, false, true},
    {{0, 3, 4}, {1, 4, 5}},
    {{2, 3, 0}, {2, 0, 5}},
    {{1, 120, 200}, {1, 200, 150}},
    {{2, 3, 4}, {3, 4, 5}, false, false, "batches: expected 2 or 1, found 3"},
    {{2, 3, 4}, {2, 5, 4}, false, false, "expected dimension 1 to be 4, found 5"},
    {{4}, {4, 5}, false, false, "expected 2 to 5 dimensions, found 1"},
    {{1, 1, 1, 1, 3, 4}, {4, 5}, false, false, "expected 2 to 5 dimensions, found 6"},
};

struct BatchTypes {
  const char* name;
  TfLiteType x, y, output;
};

const BatchTypes kBatchTypes[] = {
    {"FLOAT32", kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32},
    {"INT8", kTfLiteInt8, kTfLiteInt8, kTfLiteInt8},
    {"INT8 into INT32", kTfLiteInt8, kTfLiteInt8, kTfLiteInt32},
    {"INT16", kTfLiteInt16, kTfLiteInt16, kTfLiteInt16},
    {"INT16 with INT8", kTfLiteInt16, kTfLiteInt8, kTfLiteInt16},
    {"hybrid", kTfLiteFloat32, kTfLiteInt8, kTfLiteFloat32},
};

TensorExtras BatchExtras(TfLiteType type, float scale, int zero_point) {
  if (type == kTfLiteFloat32 || type == kTfLiteInt32) return {};
  return PerTensor(scale, type == kTfLiteInt8 ? zero_point : 0);
}

OpCase MakeBatchCase(const BatchTypes& types, const BatchRow& row, bool asymmetric) {
  ModelBuilder builder;
  const bool same = types.x == types.y;
  const int x = builder.AddTensor(types.x, row.x, "x", BatchExtras(types.x, 0.03f, 7));
  const int y = builder.AddTensor(types.y, row.y, "y", BatchExtras(types.y, 0.02f, same ? -9 : 0));
  const int output =
      builder.AddTensor(types.output, {1}, "output", BatchExtras(types.output, 0.4f, 3));
  builder.AddOp(kTfLiteBuiltinBatchMatmul, {x, y}, {output},
                schema::CreateBatchMatMulOptions(builder.fbb(), row.adj_x, row.adj_y, asymmetric));
  builder.SetInputs({x, y});
  builder.SetOutputs({output});
  return {std::string("BATCH_MATMUL ") + types.name + (asymmetric ? " asymmetric " : " ") +
              Text(row.x) + Text(row.y) + (row.adj_x ? " adj x" : "") + (row.adj_y ? " adj y" : ""),
          Rule::kSum, builder.Finish(), row.refusal};
}

}  // namespace

std::vector<OpCase> MatmulCases() {
  std::vector<OpCase> cases;
  for (const MatmulRow& row : kMatmulRows) {
    for (CaseForm form : kAllForms) {
      // Quantisation per unit requires at least one unit.
      const bool several =
          form != CaseForm::kFloat && form != CaseForm::kInt8 && form != CaseForm::kUInt8;
      if (row.weights[0] == 0 && several) continue;
      if (form == CaseForm::kHybrid && row.activation == schema::ActivationFunctionType::TANH) {
        continue;  // only the hybrid form supports TANH, so no refusal is expected
      }
      cases.push_back(MakeCase(form, false, row));
    }
    cases.push_back(MakeCase(CaseForm::kInt8, true, row));
    if (row.weights[0] == 0) continue;
    for (CaseForm form : kPackedForms) {
      if (form == CaseForm::kHybridPacked &&
          row.activation == schema::ActivationFunctionType::TANH) {
        continue;
      }
      if (row.constant_weights) cases.push_back(MakeCase(form, false, row));
    }
  }
  for (const BlockRow& row : kBlockRows) cases.push_back(MakeBlockCase(row));
  for (const SparseRow& row : kSparseRows) cases.push_back(MakeSparseCase(row));
  for (const BatchRow& row : kBatchRows) {
    for (const BatchTypes& types : kBatchTypes) cases.push_back(MakeBatchCase(types, row, false));
    cases.push_back(MakeBatchCase(kBatchTypes[5], row, true));
  }
  return cases;
}

}  // namespace deputy
