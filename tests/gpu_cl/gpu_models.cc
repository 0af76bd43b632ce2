// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_cl/gpu_models.h"

#include "tests/support/model_builder.h"

namespace deputy::gpu_cl {
namespace {

using Padding = schema::Padding;
constexpr TfLiteType kFloat = kTfLiteFloat32;

// A model of DEPTHWISE_CONV_2D, AVERAGE_POOL_2D, RELU6.
std::vector<uint8_t> DepthwiseModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kFloat, {1, 3, 3, 2}, "x");
  const int filter = m.AddConstant<float>(kFloat, {1, 2, 2, 2}, {1, -1, 2, 0, 0.5f, 1, -2, 3});
  const int bias = m.AddConstant<float>(kFloat, {2}, {0.5f, 0});
  const int filtered = m.AddTensor(kFloat, {1, 3, 3, 2});
  m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {x, filter, bias}, {filtered},
          schema::CreateDepthwiseConv2DOptions(m.fbb(), Padding::SAME, 1, 1, 1));
  const int pooled = m.AddTensor(kFloat, {1, 1, 1, 2}), y = m.AddTensor(kFloat, {1, 1, 1, 2}, "y");
  m.AddOp(kTfLiteBuiltinAveragePool2d, {filtered}, {pooled},
          schema::CreatePool2DOptions(m.fbb(), Padding::VALID, 1, 1, 3, 3));
  m.AddOp(kTfLiteBuiltinRelu6, {pooled}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A model of TRANSPOSE, CONCATENATION with the original, PAD.
std::vector<uint8_t> MovingModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kFloat, {2, 2}, "x");
  const int order = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 0});
  const int pads = m.AddConstant<int32_t>(kTfLiteInt32, {2, 2}, {1, 0, 0, 2});
  const int turned = m.AddTensor(kFloat, {2, 2}), both = m.AddTensor(kFloat, {2, 4});
  const int y = m.AddTensor(kFloat, {3, 6}, "y");
  m.AddOp(kTfLiteBuiltinTranspose, {x, order}, {turned}, schema::CreateTransposeOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinConcatenation, {x, turned}, {both},
          schema::CreateConcatenationOptions(m.fbb(), 1));
  m.AddOp(kTfLiteBuiltinPad, {both, pads}, {y}, schema::CreatePadOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// A model of MEAN over an axis and its squares, with two outputs.
std::vector<uint8_t> MeanModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kFloat, {3, 4}, "x");
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
  const int mean = m.AddTensor(kFloat, {3}, "mean"), square = m.AddTensor(kFloat, {3}, "square");
  m.AddOp(kTfLiteBuiltinMean, {x, axis}, {mean}, schema::CreateReducerOptions(m.fbb(), false));
  m.AddOp(kTfLiteBuiltinSquare, {mean}, {square}, schema::CreateSquareOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({mean, square});
  return m.Finish();
}

// A model of BATCH_MATMUL of two inputs, SUB.
std::vector<uint8_t> ProductModel() {
  ModelBuilder m;
  const int a = m.AddTensor(kFloat, {2, 2, 3}, "a"), b = m.AddTensor(kFloat, {2, 3, 2}, "b");
  const int product = m.AddTensor(kFloat, {2, 2, 2}), y = m.AddTensor(kFloat, {2, 2, 2}, "y");
  const int one = m.AddConstant<float>(kFloat, {1}, {1});
  m.AddOp(kTfLiteBuiltinBatchMatmul, {a, b}, {product}, schema::CreateBatchMatMulOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinSub, {product, one}, {y}, schema::CreateSubOptions(m.fbb()));
  m.SetInputs({a, b});
  m.SetOutputs({y});
  return m.Finish();
}

// A model of GATHER of rows of integers by an input, ADD.
std::vector<uint8_t> LookupModel() {
  ModelBuilder m;
  const int table = m.AddConstant<int32_t>(kTfLiteInt32, {3, 2}, {1, 2, 3, 4, 5, 6});
  const int indices = m.AddTensor(kTfLiteInt32, {4}, "indices");
  const int rows = m.AddTensor(kTfLiteInt32, {4, 2}), y = m.AddTensor(kTfLiteInt32, {4, 2}, "y");
  m.AddOp(kTfLiteBuiltinGather, {table, indices}, {rows}, schema::CreateGatherOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAdd, {rows, rows}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({indices});
  m.SetOutputs({y});
  return m.Finish();
}

// A model of LOGISTIC, Backwards on the CPU, TANH, ABS, with partitions before and after Backwards.
std::vector<uint8_t> CurvesModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kFloat, {4}, "x");
  const int curve = m.AddTensor(kFloat, {4}), turned = m.AddTensor(kFloat, {4});
  const int t = m.AddTensor(kFloat, {4}), y = m.AddTensor(kFloat, {4}, "y");
  m.AddOp(kTfLiteBuiltinLogistic, {x}, {curve});
  m.AddCustomOp("Backwards", {curve}, {turned});
  m.AddOp(kTfLiteBuiltinTanh, {turned}, {t});
  m.AddOp(kTfLiteBuiltinAbs, {t}, {y}, schema::CreateAbsOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

}  // namespace

std::vector<uint8_t> ImageModel() {
  ModelBuilder m;
  auto& fbb = m.fbb();
  constexpr auto kSame = schema::Padding::SAME;
  const int image = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 1}, "image");
  const int indices = m.AddTensor(kTfLiteInt32, {3}, "indices");
  const int filter = m.AddConstant<float>(
      kTfLiteFloat32, {2, 3, 3, 1}, {1, 0, -1, 2, 0, -2, 1, 0, -1, 0, 1, 0, 1, -4, 1, 0, 1, 0});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {2}, {0.5f, -0.25f});
  const int filtered = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 2}, "filtered");
  m.AddOp(kTfLiteBuiltinConv2d, {image, filter, bias}, {filtered},
          schema::CreateConv2DOptions(fbb, kSame, 1, 1, schema::ActivationFunctionType::RELU));
  const int pooled = m.AddTensor(kTfLiteFloat32, {1, 2, 2, 2}, "pooled");
  m.AddOp(kTfLiteBuiltinMaxPool2d, {filtered}, {pooled},
          schema::CreatePool2DOptions(fbb, kSame, 2, 2, 2, 2));
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {4, 2});
  const int rows = m.AddTensor(kTfLiteFloat32, {4, 2}, "rows");
  m.AddOp(kTfLiteBuiltinReshape, {pooled, shape}, {rows}, schema::CreateReshapeOptions(fbb));
  const int chosen = m.AddTensor(kTfLiteFloat32, {3, 2}, "chosen");
  m.AddOp(kTfLiteBuiltinGather, {rows, indices}, {chosen}, schema::CreateGatherOptions(fbb));
  const int weights =
      m.AddConstant<float>(kTfLiteFloat32, {3, 2}, {0.5f, -1, 0.25f, 0.75f, -0.5f, 0.125f});
  const int scores = m.AddTensor(kTfLiteFloat32, {3, 3}, "scores");
  m.AddOp(kTfLiteBuiltinFullyConnected, {chosen, weights, -1}, {scores},
          schema::CreateFullyConnectedOptions(fbb));
  const int probabilities = m.AddTensor(kTfLiteFloat32, {3, 3}, "probabilities");
  m.AddOp(kTfLiteBuiltinSoftmax, {scores}, {probabilities},
          schema::CreateSoftmaxOptions(fbb, 1.0f));
  m.SetInputs({image, indices});
  m.SetOutputs({probabilities});
  return m.Finish();
}

std::vector<uint8_t> SmallModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int c = m.AddConstant<float>(kTfLiteFloat32, {4}, {1, 2, -1, 0.5f});
  const int two = m.AddConstant<float>(kTfLiteFloat32, {1}, {2});
  const int sum = m.AddTensor(kTfLiteFloat32, {1, 4}), y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddOp(kTfLiteBuiltinAdd, {x, c}, {sum},
          schema::CreateAddOptions(m.fbb(), schema::ActivationFunctionType::RELU));
  m.AddOp(kTfLiteBuiltinMul, {sum, two}, {y}, schema::CreateMulOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> DividedModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  std::vector<int> t;
  for (int i = 0; i < 4; ++i) t.push_back(m.AddTensor(kTfLiteFloat32, {1, 4}));
  m.AddOp(kTfLiteBuiltinNeg, {x}, {t[0]}, schema::CreateNegOptions(m.fbb()));
  m.AddOp(kTfLiteBuiltinAbs, {t[0]}, {t[1]}, schema::CreateAbsOptions(m.fbb()));
  m.AddCustomOp("Backwards", {t[1]}, {t[2]});
  m.AddOp(kTfLiteBuiltinNeg, {t[2]}, {t[3]}, schema::CreateNegOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({t[3]});
  return m.Finish();
}

std::vector<uint8_t> BatchModel() {
  ModelBuilder m;
  constexpr auto kSame = schema::Padding::SAME;
  const int image = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 1}, "image");
  const int filter = m.AddConstant<float>(
      kTfLiteFloat32, {2, 3, 3, 1}, {1, 0, -1, 2, 0, -2, 1, 0, -1, 0, 1, 0, 1, -4, 1, 0, 1, 0});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {2}, {0.5f, -0.25f});
  const int filtered = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 2}, "filtered");
  m.AddOp(kTfLiteBuiltinConv2d, {image, filter, bias}, {filtered},
          schema::CreateConv2DOptions(m.fbb(), kSame, 1, 1));
  const int pooled = m.AddTensor(kTfLiteFloat32, {1, 2, 2, 2}, "pooled");
  m.AddOp(kTfLiteBuiltinMaxPool2d, {filtered}, {pooled},
          schema::CreatePool2DOptions(m.fbb(), kSame, 2, 2, 2, 2));
  const int row = m.AddConstant<float>(kTfLiteFloat32, {2, 2}, {1, 2, 3, 4});
  const int sum = m.AddTensor(kTfLiteFloat32, {1, 2, 2, 2}, "sum");
  m.AddOp(kTfLiteBuiltinAdd, {pooled, row}, {sum}, schema::CreateAddOptions(m.fbb()));
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2, 2, 2}, "y");
  m.AddOp(kTfLiteBuiltinSoftmax, {sum}, {y}, schema::CreateSoftmaxOptions(m.fbb(), 1.0f));
  m.SetInputs({image});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> IntegerModel(TfLiteType type) {
  ModelBuilder m;
  const TensorExtras scaled = {.scale = {0.5f}, .zero_point = {0}};
  const int x = m.AddTensor(type, {1, 2}, "x", scaled);
  const int w = m.AddConstant<int8_t>(kTfLiteInt8, {1, 2}, {2, 4}, "w", scaled);
  const int y = m.AddTensor(type, {1, 1}, "y", scaled);
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> BridgedModel() {
  ModelBuilder b;
  const int x = b.AddTensor(kTfLiteFloat32, {4}, "x");
  const int m = b.AddTensor(kTfLiteFloat32, {4}, "m"), n = b.AddTensor(kTfLiteFloat32, {4}, "n");
  const int g = b.AddTensor(kTfLiteFloat32, {4}, "g"), y = b.AddTensor(kTfLiteFloat32, {4}, "y");
  b.AddOp(kTfLiteBuiltinAbs, {x}, {m}, schema::CreateAbsOptions(b.fbb()));
  b.AddOp(kTfLiteBuiltinNeg, {x}, {n}, schema::CreateNegOptions(b.fbb()));
  b.AddCustomOp("Backwards", {n}, {g});
  b.AddOp(kTfLiteBuiltinAdd, {m, g}, {y}, schema::CreateAddOptions(b.fbb()));
  b.SetInputs({x});
  b.SetOutputs({y});
  return b.Finish();
}

std::vector<NamedModel> TwelveModels() {
  return {{"image", ImageModel()},
          {"small", SmallModel()},
          {"divided", DividedModel()},
          {"batch", BatchModel()},
          {"whole", IntegerModel(kTfLiteInt8)},
          {"bridged", BridgedModel()},
          {"depthwise", DepthwiseModel()},
          {"moving", MovingModel()},
          {"mean", MeanModel()},
          {"product", ProductModel()},
          {"lookup", LookupModel()},
          {"curves", CurvesModel()}};
}

}  // namespace deputy::gpu_cl
