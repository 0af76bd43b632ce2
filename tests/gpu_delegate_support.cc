// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_delegate_support.h"

#include "gpu_cl/delegate.h"
#include "gpu_cl/options.h"
#include "tests/model_builder.h"

namespace deputy::gpu_cl {

TestDelegate::TestDelegate(std::shared_ptr<const ClApi> api, const OptionTexts& options) {
  Options parsed;
  for (const auto& [key, value] : options) {
    error_ = ParseOptions(&key, &value, 1, &parsed);
    if (!error_.empty()) return;
  }
  delegate_ = CreateDelegateOn(std::move(api), parsed, &error_);
}

TestDelegate::~TestDelegate() { DestroyDelegate(delegate_); }

DeputyDelegateInfo FirstDelegate(const TestInterpreter& t) {
  DeputyDelegateInfo info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(DeputyInterpreterGetDelegateInfo(t.get(), 0, &info), kTfLiteOk);
  return info;
}

std::vector<uint8_t> PictureModel() {
  ModelBuilder m;
  auto& fbb = m.fbb();
  constexpr auto kSame = schema::Padding::SAME;
  const int picture = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 1}, "picture");
  const int indices = m.AddTensor(kTfLiteInt32, {3}, "indices");
  const int filter = m.AddConstant<float>(
      kTfLiteFloat32, {2, 3, 3, 1}, {1, 0, -1, 2, 0, -2, 1, 0, -1, 0, 1, 0, 1, -4, 1, 0, 1, 0});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {2}, {0.5f, -0.25f});
  const int filtered = m.AddTensor(kTfLiteFloat32, {1, 4, 4, 2}, "filtered");
  m.AddOp(kTfLiteBuiltinConv2d, {picture, filter, bias}, {filtered},
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
  m.SetInputs({picture, indices});
  m.SetOutputs({probabilities});
  return m.Finish();
}

void SetPicture(TestInterpreter* t, const std::vector<int32_t>& indices) {
  std::vector<float> picture(16);
  for (size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<float>(i * 7 % 11) / 4 - 1;
  t->Set<float>(0, picture);
  t->Set<int32_t>(1, indices);
}

}  // namespace deputy::gpu_cl
