// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of QUANTIZE and DEQUANTIZE, with one scale and with one per slice; CAST, BITCAST
// and FAKE_QUANT; and DENSIFY of a constant.
#include "tests/cases/node.h"

namespace deputy {
namespace {

struct QuantizeRow {
  TfLiteBuiltinOperator code;
  TfLiteType from, to;
  Shape shape;
  int per_channel_axis = -1;  // axis of the quantised tensor; -1: one scale
  const char* refusal = "";
};

const QuantizeRow kQuantizeRows[] = {
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {1}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {0, 3}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteUInt8, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt16, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {5, 6}, 0},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {2, 5, 6}, 1},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt8, {5, 6}, 1},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt4, {7, 31}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteUInt4, {3, 3, 3}},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt4, {5, 3}, 0, "expected one scale"},
    {kTfLiteBuiltinQuantize, kTfLiteFloat32, kTfLiteInt4, {}},
    {kTfLiteBuiltinQuantize, kTfLiteInt8, kTfLiteInt4, {4}, -1, "found INT4"},
    {kTfLiteBuiltinQuantize, kTfLiteInt8, kTfLiteInt8, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteInt8, kTfLiteUInt8, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteUInt8, kTfLiteInt8, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteInt8, kTfLiteInt16, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteInt16, kTfLiteInt8, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteInt16, kTfLiteInt16, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteInt16, kTfLiteInt32, {7, 301}},
    {kTfLiteBuiltinQuantize, kTfLiteInt32, kTfLiteInt16, {7, 301}},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {1}},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {7, 301}},
    {kTfLiteBuiltinDequantize, kTfLiteUInt8, kTfLiteFloat32, {7, 301}},
    {kTfLiteBuiltinDequantize, kTfLiteInt16, kTfLiteFloat32, {7, 301}},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {5, 6}, 0},
    {kTfLiteBuiltinDequantize, kTfLiteInt8, kTfLiteFloat32, {2, 5, 6}, 1},
    {kTfLiteBuiltinDequantize, kTfLiteInt4, kTfLiteFloat32, {7, 31}},
    {kTfLiteBuiltinDequantize, kTfLiteUInt4, kTfLiteFloat32, {}},
    {kTfLiteBuiltinDequantize, kTfLiteInt2, kTfLiteFloat32, {2, 5, 6}, 1},
    {kTfLiteBuiltinDequantize, kTfLiteFloat16, kTfLiteFloat32, {1}},
    {kTfLiteBuiltinDequantize, kTfLiteFloat16, kTfLiteFloat32, {0}},
    {kTfLiteBuiltinDequantize, kTfLiteFloat16, kTfLiteFloat32, {65, 1031}},
    {kTfLiteBuiltinCast, kTfLiteFloat32, kTfLiteInt8, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteFloat32, kTfLiteInt32, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteInt32, kTfLiteFloat32, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteFloat16, kTfLiteInt32, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteInt32, kTfLiteFloat16, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteInt64, kTfLiteBool, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteFloat32, kTfLiteBFloat16, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteBFloat16, kTfLiteInt16, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteBFloat16, kTfLiteInt4, {4}, -1, "found INT4"},
    {kTfLiteBuiltinCast, kTfLiteUInt8, kTfLiteInt64, {}},
    {kTfLiteBuiltinCast, kTfLiteInt16, kTfLiteComplex64, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteComplex64, kTfLiteInt16, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteFloat32, kTfLiteInt4, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteInt4, kTfLiteFloat32, {7, 31}},
    {kTfLiteBuiltinCast, kTfLiteFloat32, kTfLiteUInt4, {}},
    {kTfLiteBuiltinCast, kTfLiteFloat32, kTfLiteInt2, {3, 3, 3}},
    {kTfLiteBuiltinCast, kTfLiteInt2, kTfLiteFloat32, {3, 3, 3}},
    {kTfLiteBuiltinCast, kTfLiteInt4, kTfLiteInt8, {4}, -1, "expected type FLOAT32, found INT8"},
    {kTfLiteBuiltinCast, kTfLiteInt8, kTfLiteInt4, {4}, -1, "found INT4"},
    {kTfLiteBuiltinQuantize,
     kTfLiteFloat32,
     kTfLiteFloat32,
     {4},
     -1,
     "expected type UINT8 or INT16 or INT8"},
    {kTfLiteBuiltinQuantize, kTfLiteInt64, kTfLiteInt8, {4}, -1, "expected type FLOAT32"},
    {kTfLiteBuiltinQuantize, kTfLiteInt32, kTfLiteUInt8, {4}, -1, "expected type INT16 or INT8"},
    {kTfLiteBuiltinDequantize,
     kTfLiteInt32,
     kTfLiteFloat32,
     {4},
     -1,
     "expected type UINT8 or INT16 or INT8 or FLOAT16"},
    {kTfLiteBuiltinCast, kTfLiteFloat32, kTfLiteString, {4}, -1, "expected type"},
};

NodeRow Bitcast(TfLiteType from, TfLiteType to, const Shape& shape, const char* refusal = "") {
  return {kTfLiteBuiltinBitcast, "BITCAST", {{from, shape}}, {to}, refusal};
}

const NodeRow kBitcastRows[] = {
    Bitcast(kTfLiteInt32, kTfLiteInt8, {3, 7}),
    Bitcast(kTfLiteInt8, kTfLiteInt32, {3, 4}),
    Bitcast(kTfLiteInt64, kTfLiteComplex64, {}),
    Bitcast(kTfLiteInt8, kTfLiteInt16, {0, 2}),
    Bitcast(kTfLiteBFloat16, kTfLiteInt16, {3, 7}),
    Bitcast(kTfLiteBFloat16, kTfLiteFloat32, {5, 2}),
    Bitcast(kTfLiteFloat64, kTfLiteBFloat16, {3}),
    Bitcast(kTfLiteBFloat16, kTfLiteUInt8, {}),
    Bitcast(kTfLiteBFloat16, kTfLiteFloat32, {2, 3}, "expected dimension 1 to be 2"),
    Bitcast(kTfLiteInt8, kTfLiteInt32, {4, 3}, "expected dimension 1 to be 4"),
    Bitcast(kTfLiteInt8, kTfLiteInt32, {}, "expected 1 dimension or more"),
    Bitcast(kTfLiteInt32, kTfLiteInt8, {1, 1, 1, 1, 1, 1, 1, 1}, "expected at most 8 dimensions"),
    Bitcast(kTfLiteInt8, kTfLiteString, {4}, "does not support"),
};

// A row of FAKE_QUANT. Its options are the number of bits, whether the range is narrow, and the
// limits of the range in tenths.
NodeRow Fake(TfLiteType type, const std::vector<int32_t>& options, const char* refusal = "") {
  return {
      kTfLiteBuiltinFakeQuant, "FAKE_QUANT", {{type, {3, 70}}}, {type}, refusal, false, options};
}

const NodeRow kFakeQuantRows[] = {
    Fake(kTfLiteFloat32, {8, 0, -13, 12}),
    Fake(kTfLiteFloat32, {1, 0, 2, 12}),
    Fake(kTfLiteFloat32, {16, 0, -13, -2}),
    Fake(kTfLiteFloat32, {8, 1, -13, 12}, "narrow_range: expected false"),
    Fake(kTfLiteFloat32, {0, 0, -13, 12}, "num_bits: expected 1 to 16, found 0"),
    Fake(kTfLiteFloat32, {17, 0, -13, 12}, "num_bits: expected 1 to 16, found 17"),
    Fake(kTfLiteFloat32, {INT32_MIN, 0, -13, 12}, "num_bits: expected 1 to 16"),
    Fake(kTfLiteFloat32, {8, 0, 5, 5}, "expected a range of real numbers, found 0.5 to 0.5"),
    Fake(kTfLiteInt8, {8, 0, -13, 12}, "expected type FLOAT32"),
};

void AddFakeQuant(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
                  const std::vector<int32_t>& outputs) {
  const auto tenths = [&](size_t i) { return static_cast<float>(row.options[i]) / 10; };
  builder->AddOp(row.code, inputs, outputs,
                 schema::CreateFakeQuantOptions(builder->fbb(), tenths(2), tenths(3),
                                                row.options[0], row.options[1] != 0));
}

const char* NameOf(TfLiteBuiltinOperator code) {
  switch (code) {
    case kTfLiteBuiltinQuantize:
      return "QUANTIZE ";
    case kTfLiteBuiltinDequantize:
      return "DEQUANTIZE ";
    default:
      return "CAST ";
  }
}

OpCase MakeCase(const QuantizeRow& row) {
  ModelBuilder builder;
  const auto extras = [&](TfLiteType type, float scale, int zero_point) {
    if (type == kTfLiteInt16 || type == kTfLiteInt32) return PerTensor(scale, 0);
    const bool packed = type == kTfLiteInt4 || type == kTfLiteInt2 || type == kTfLiteUInt4;
    if (type != kTfLiteInt8 && type != kTfLiteUInt8 && !packed) return TensorExtras();
    if (row.per_channel_axis < 0) {
      return PerTensor(scale, packed ? 1 : zero_point + (type == kTfLiteUInt8 ? 128 : 0));
    }
    return PerChannel(scale, row.shape[static_cast<size_t>(row.per_channel_axis)],
                      row.per_channel_axis);
  };
  const int input = builder.AddTensor(row.from, row.shape, "input", extras(row.from, 0.03f, 8));
  const int output = builder.AddTensor(row.to, row.shape, "output", extras(row.to, 0.011f, -9));
  builder.AddOp(row.code, {input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {NameOf(row.code) + std::string(TfLiteTypeGetName(row.from)) + " to " +
              TfLiteTypeGetName(row.to) + " " + Text(row.shape) +
              (row.per_channel_axis < 0 ? "" : " axis " + std::to_string(row.per_channel_axis)),
          Rule::kElement, builder.Finish(), row.refusal};
}

// A case of DENSIFY of a 4 x 8 constant; if `sparse`, half of it is stored, in blocks of 1 x 4. A
// MAXIMUM reads the result.
OpCase MakeDensify(bool sparse) {
  ModelBuilder builder;
  TensorExtras extras;
  if (sparse) extras.sparsity = SparseRows(&builder, {4, 8}, 4, {0, 1, 1, 2, 4}, {1, 0, 0, 1});
  const int constant = builder.AddConstant<float>(kTfLiteFloat32, {4, 8},
                                                  RandomFloats(sparse ? 16 : 32, 7), "c", extras);
  const int wide = builder.AddTensor(kTfLiteFloat32, {4, 8}, "wide");
  const int input = builder.AddTensor(kTfLiteFloat32, {4, 8}, "input");
  const int output = builder.AddTensor(kTfLiteFloat32, {4, 8}, "output");
  builder.AddOp(kTfLiteBuiltinDensify, {constant}, {wide});
  builder.AddOp(kTfLiteBuiltinMaximum, {wide, input}, {output});
  builder.SetInputs({input});
  builder.SetOutputs({output});
  return {std::string("DENSIFY of a ") + (sparse ? "sparse" : "dense") + " constant", Rule::kEqual,
          builder.Finish(), sparse ? "" : "expected a sparse constant"};
}

}  // namespace

std::vector<OpCase> QuantizeCases() {
  std::vector<OpCase> cases;
  for (const QuantizeRow& row : kQuantizeRows) cases.push_back(MakeCase(row));
  cases.push_back(MakeDensify(true));
  cases.push_back(MakeDensify(false));
  for (OpCase& one : NodeCases(kBitcastRows)) cases.push_back(std::move(one));
  for (OpCase& one : NodeCases(kFakeQuantRows, AddFakeQuant)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace deputy
