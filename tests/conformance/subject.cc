// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/subject.h"

#include <utility>

#include "tests/cases/case.h"

namespace deputy::conformance {
namespace {

const Shape kShape = {1, 8, 8, kSubjectChannels};

struct Operator {
  const char* name;
  TfLiteBuiltinOperator code;
  TfLiteType type;
};

const Operator kOperators[] = {
    {"CONV_2D float32", kTfLiteBuiltinConv2d, kTfLiteFloat32},
    {"ADD float32", kTfLiteBuiltinAdd, kTfLiteFloat32},
    {"CONV_2D int8", kTfLiteBuiltinConv2d, kTfLiteInt8},
    {"SOFTMAX float32", kTfLiteBuiltinSoftmax, kTfLiteFloat32},
    {"RELU float32", kTfLiteBuiltinRelu, kTfLiteFloat32},
    {"ADD int8", kTfLiteBuiltinAdd, kTfLiteInt8},
    {"FULLY_CONNECTED float32", kTfLiteBuiltinFullyConnected, kTfLiteFloat32},
    {"MUL float32", kTfLiteBuiltinMul, kTfLiteFloat32},
    {"DEPTHWISE_CONV_2D float32", kTfLiteBuiltinDepthwiseConv2d, kTfLiteFloat32},
    {"AVERAGE_POOL_2D float32", kTfLiteBuiltinAveragePool2d, kTfLiteFloat32},
    {"MAX_POOL_2D float32", kTfLiteBuiltinMaxPool2d, kTfLiteFloat32},
    {"TANH float32", kTfLiteBuiltinTanh, kTfLiteFloat32},
    {"ABS float32", kTfLiteBuiltinAbs, kTfLiteFloat32},
};

TensorExtras Quantisation(TfLiteType type) {
  return type == kTfLiteInt8 ? PerTensor(0.05f, 3) : TensorExtras();
}

int AddData(ModelBuilder* builder, TfLiteType type, const std::string& name) {
  return builder->AddTensor(type, kShape, name, Quantisation(type));
}

// Adds a filter with small weights, so that the values stay small after five iterations of a loop.
int AddFilter(ModelBuilder* builder, TfLiteType type, const Shape& shape, bool is_depthwise) {
  if (type == kTfLiteInt8) {
    return AddRandomConstant(builder, type, shape, 7, PerChannel(0.002f, shape[0], 0));
  }
  std::vector<float> values = RandomFloats(CountOf(shape), 7);
  for (float& value : values) value *= is_depthwise ? 0.25f : 0.1f;
  return builder->AddConstant<float>(type, shape, values, "filter");
}

int AddBias(ModelBuilder* builder, TfLiteType type) {
  TensorExtras extras;
  if (type == kTfLiteInt8) {
    extras = PerChannel(0.002f, kSubjectChannels, 0);
    for (float& scale : extras.scale) scale *= 0.05f;
  }
  return AddRandomBias(builder, type, kSubjectChannels, 9, extras);
}

// Adds y = operator(x); both have the same shape.
void AddOperator(ModelBuilder* builder, const Operator& op, int x, int y) {
  auto& fbb = builder->fbb();
  constexpr auto kNone = schema::ActivationFunctionType::NONE;
  constexpr auto kSame = schema::Padding::SAME;
  switch (op.code) {
    case kTfLiteBuiltinAdd:
      builder->AddOp(op.code, {x, x}, {y}, schema::CreateAddOptions(fbb));
      break;
    case kTfLiteBuiltinMul:
      builder->AddOp(op.code, {x, x}, {y}, schema::CreateMulOptions(fbb));
      break;
    case kTfLiteBuiltinSoftmax:
      builder->AddOp(op.code, {x}, {y}, schema::CreateSoftmaxOptions(fbb, 1.0f));
      break;
    case kTfLiteBuiltinAveragePool2d:
    case kTfLiteBuiltinMaxPool2d:
      builder->AddOp(op.code, {x}, {y}, schema::CreatePool2DOptions(fbb, kSame, 1, 1, 3, 3, kNone));
      break;
    case kTfLiteBuiltinConv2d: {
      const int filter =
          AddFilter(builder, op.type, {kSubjectChannels, 3, 3, kSubjectChannels}, false);
      builder->AddOp(op.code, {x, filter, AddBias(builder, op.type)}, {y},
                     schema::CreateConv2DOptions(fbb, kSame, 1, 1, kNone), 3);
      break;
    }
    case kTfLiteBuiltinDepthwiseConv2d: {
      const int filter = AddFilter(builder, op.type, {1, 3, 3, kSubjectChannels}, true);
      builder->AddOp(op.code, {x, filter, AddBias(builder, op.type)}, {y},
                     schema::CreateDepthwiseConv2DOptions(fbb, kSame, 1, 1, 1, kNone));
      break;
    }
    case kTfLiteBuiltinFullyConnected: {
      const int filter = AddFilter(builder, op.type, {kSubjectChannels, kSubjectChannels}, true);
      builder->AddOp(op.code, {x, filter, AddBias(builder, op.type)}, {y},
                     schema::CreateFullyConnectedOptions(
                         fbb, kNone, schema::FullyConnectedOptionsWeightsFormat::DEFAULT, true));
      break;
    }
    default:
      builder->AddOp(op.code, {x}, {y});
  }
}

// Adds the operator `count` times in sequence, starting at `x`; returns the last tensor.
int AddChain(ModelBuilder* builder, const Operator& op, int x, int count) {
  for (int i = 0; i < count; ++i) {
    const int y = AddData(builder, op.type, "y" + std::to_string(i));
    AddOperator(builder, op, x, y);
    x = y;
  }
  return x;
}

std::vector<uint8_t> MakeChain(const Operator& op) {
  ModelBuilder builder;
  const int x = AddData(&builder, op.type, "x");
  builder.SetInputs({x});
  builder.SetOutputs({AddChain(&builder, op, x, kSubjectNodes)});
  return builder.Finish();
}

// Returns a model of operator(x), six nodes of kUnknownOperator, and the operator again.
std::vector<uint8_t> MakeWithRefused(const Operator& op) {
  constexpr int kRefused = 6;
  ModelBuilder builder;
  const int x = AddData(&builder, op.type, "x");
  int middle = AddChain(&builder, op, x, 1);
  for (int i = 0; i < kRefused; ++i) {
    const int next = AddData(&builder, op.type, "z" + std::to_string(i));
    builder.AddCustomOp(kUnknownOperator, {middle}, {next});
    middle = next;
  }
  builder.SetInputs({x});
  builder.SetOutputs({AddChain(&builder, op, middle, 1)});
  return builder.Finish();
}

int AddBody(ModelBuilder* builder, const Operator& op, int count) {
  const int index = builder->AddSubgraph("body " + std::to_string(count));
  builder->SelectSubgraph(index);
  const int x = AddData(builder, op.type, "x");
  builder->SetInputs({x});
  builder->SetOutputs({AddChain(builder, op, x, count)});
  builder->SelectSubgraph(0);
  return index;
}

std::vector<uint8_t> MakeBranches(const Operator& op) {
  ModelBuilder builder;
  const int once = AddBody(&builder, op, 1), twice = AddBody(&builder, op, 2);
  const int condition = builder.AddTensor(kTfLiteBool, {1}, "condition");
  const int x = AddData(&builder, op.type, "x"), y = AddData(&builder, op.type, "y");
  builder.AddOp(kTfLiteBuiltinIf, {condition, x}, {y},
                schema::CreateIfOptions(builder.fbb(), once, twice));
  builder.SetInputs({condition, x});
  builder.SetOutputs({y});
  return builder.Finish();
}

// Returns a model of i = 0; while i < 5: i = i + 1, x = operator(x).
std::vector<uint8_t> MakeLoop(const Operator& op) {
  ModelBuilder builder;
  const int condition = builder.AddSubgraph("condition");
  builder.SelectSubgraph(condition);
  int i = builder.AddTensor(kTfLiteInt32, {1}, "i"), x = AddData(&builder, op.type, "x");
  const int limit = builder.AddConstant<int32_t>(kTfLiteInt32, {1}, {5}, "limit");
  const int below = builder.AddTensor(kTfLiteBool, {1}, "below");
  builder.AddOp(kTfLiteBuiltinLess, {i, limit}, {below});
  builder.SetInputs({i, x});
  builder.SetOutputs({below});

  const int body = builder.AddSubgraph("body");
  builder.SelectSubgraph(body);
  i = builder.AddTensor(kTfLiteInt32, {1}, "i"), x = AddData(&builder, op.type, "x");
  const int one = builder.AddConstant<int32_t>(kTfLiteInt32, {1}, {1}, "one");
  const int next = builder.AddTensor(kTfLiteInt32, {1}, "next");
  builder.AddOp(kTfLiteBuiltinAdd, {i, one}, {next}, schema::CreateAddOptions(builder.fbb()));
  builder.SetInputs({i, x});
  builder.SetOutputs({next, AddChain(&builder, op, x, 1)});

  builder.SelectSubgraph(0);
  const int start = builder.AddConstant<int32_t>(kTfLiteInt32, {1}, {0}, "start");
  const int rounds = builder.AddTensor(kTfLiteInt32, {1}, "rounds");
  x = AddData(&builder, op.type, "x");
  const int y = AddData(&builder, op.type, "y");
  builder.AddOp(kTfLiteBuiltinWhile, {start, x}, {rounds, y},
                schema::CreateWhileOptions(builder.fbb(), condition, body));
  builder.SetInputs({x});
  builder.SetOutputs({y});
  return builder.Finish();
}

}  // namespace

std::vector<Subject> Subjects() {
  std::vector<Subject> subjects;
  for (const Operator& op : kOperators) {
    subjects.push_back(
        {op.name, MakeChain(op), MakeBranches(op), MakeLoop(op), MakeWithRefused(op), true});
  }
  return subjects;
}

Subject SubjectOf(const std::string& name, std::vector<uint8_t> model) {
  return {name, std::move(model), {}, {}, {}, false};
}

std::vector<uint8_t> UnknownOperatorModel() {
  ModelBuilder builder;
  const int x = builder.AddTensor(kTfLiteFloat32, kShape, "x");
  const int y = builder.AddTensor(kTfLiteFloat32, kShape, "y");
  builder.AddCustomOp(kUnknownOperator, {x}, {y});
  builder.SetInputs({x});
  builder.SetOutputs({y});
  return builder.Finish();
}

Agreement SubjectAgreement(TfLiteType type) {
  switch (type) {
    case kTfLiteFloat32:
      return {Rule::kSum, 10};
    case kTfLiteFloat16:
      return {Rule::kHalf, 10};
    case kTfLiteInt8:
    case kTfLiteUInt8:
    case kTfLiteInt16:
      return {Rule::kSteps, 1, 3 + static_cast<double>(kSubjectNodes) / 2};
    default:
      return {};
  }
}

}  // namespace deputy::conformance
