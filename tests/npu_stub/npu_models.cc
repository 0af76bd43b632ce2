// SPDX-License-Identifier: Apache-2.0
#include "tests/npu_stub/npu_models.h"

#include <random>

#include "tests/support/model_builder.h"

namespace deputy {
namespace {

using schema::Padding;

constexpr auto kNoActivation = schema::ActivationFunctionType::NONE;
constexpr auto kRelu = schema::ActivationFunctionType::RELU;

// Returns numbers between -0.5 and 0.5.
std::vector<float> Weights(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 1001) / 1000.0f - 0.5f;
  return values;
}

int AddConv(ModelBuilder* m, int x, int from, const std::vector<float>& weights, int to, int height,
            int stride, schema::ActivationFunctionType activation) {
  const int w = m->AddConstant<float>(kTfLiteFloat32, {to, 3, 3, from}, weights);
  const int b = m->AddConstant<float>(kTfLiteFloat32, {to}, Weights(static_cast<size_t>(to), 5));
  const int y = m->AddTensor(kTfLiteFloat32, {1, height, height, to});
  m->AddOp(kTfLiteBuiltinConv2d, {x, w, b}, {y},
           schema::CreateConv2DOptions(m->fbb(), Padding::SAME, stride, stride, activation));
  return y;
}

}  // namespace

std::vector<uint8_t> ConvModel(const ConvChanges& changes) {
  ModelBuilder m;
  const int size = changes.size, first = (size + changes.stride - 1) / changes.stride;
  const int half = first / 2;
  std::vector<float> weights = Weights(4 * 9 * 2, 1);
  weights[0] = changes.weight;
  const int x = m.AddTensor(kTfLiteFloat32, {1, size, size, 2}, "x");
  const int conv = AddConv(&m, x, 2, weights, 4, first, changes.stride, kRelu);
  const int pooled = m.AddTensor(kTfLiteFloat32, {1, half, half, 4});
  m.AddOp(kTfLiteBuiltinMaxPool2d, {conv}, {pooled},
          schema::CreatePool2DOptions(m.fbb(), Padding::VALID, 2, 2, 2, 2, kNoActivation));
  const int second = AddConv(&m, pooled, 4, Weights(4 * 9 * 4, 2), 4, half, 1, kNoActivation);
  const int features = half * half * 4;
  const int shape = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, features});
  const int flat = m.AddTensor(kTfLiteFloat32, {1, features});
  m.AddOp(kTfLiteBuiltinReshape, {second, shape}, {flat});
  const int w = m.AddConstant<float>(kTfLiteFloat32, {3, features},
                                     Weights(static_cast<size_t>(3 * features), 3));
  const int logits = m.AddTensor(kTfLiteFloat32, {1, 3});
  m.AddOp(kTfLiteBuiltinFullyConnected, {flat, w, -1}, {logits},
          schema::CreateFullyConnectedOptions(m.fbb(), kNoActivation));
  const int y = m.AddTensor(kTfLiteFloat32, {1, 3}, "y");
  m.AddOp(kTfLiteBuiltinSoftmax, {logits}, {y}, schema::CreateSoftmaxOptions(m.fbb(), 1.0f));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> ResizableModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 8, 8, 2}, "x");
  const int conv = AddConv(&m, x, 2, Weights(4 * 9 * 2, 1), 4, 8, 1, kRelu);
  const int axes = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 4}, "y");
  m.AddOp(kTfLiteBuiltinMean, {conv, axes}, {y}, schema::CreateReducerOptions(m.fbb(), false));
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> MixedChain(int length, const std::set<int>& taken) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, {1, 4}, "x");
  const int slopes = m.AddConstant<float>(kTfLiteFloat32, {4}, {0.9f, 0.8f, 0.95f, 0.7f});
  int x = input;
  for (int i = 0; i < length; ++i) {
    const int y = m.AddTensor(kTfLiteFloat32, {1, 4});
    if (taken.count(i) != 0) {
      m.AddOp(kTfLiteBuiltinNeg, {x}, {y});
    } else {
      m.AddOp(kTfLiteBuiltinPrelu, {x, slopes}, {y});
    }
    x = y;
  }
  m.SetInputs({input});
  m.SetOutputs({x});
  return m.Finish();
}

std::vector<uint8_t> TwoInputsModel() {
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat32, {1, 4}, "a");
  const int b = m.AddTensor(kTfLiteFloat32, {3, 4}, "b");
  const int two = m.AddConstant<float>(kTfLiteFloat32, {}, {2.0f});
  const int product = m.AddTensor(kTfLiteFloat32, {3, 4});
  const int c = m.AddTensor(kTfLiteFloat32, {3, 4}, "c");
  m.AddOp(kTfLiteBuiltinMul, {b, two}, {product}, schema::CreateMulOptions(m.fbb(), kNoActivation));
  m.AddOp(kTfLiteBuiltinAdd, {a, product}, {c}, schema::CreateAddOptions(m.fbb(), kNoActivation));
  m.SetInputs({a, b});
  m.SetOutputs({c});
  return m.Finish();
}

std::vector<uint8_t> EarlyHalfModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  const int positive = m.AddTensor(kTfLiteFloat32, {1, 2});
  m.AddOp(kTfLiteBuiltinAbs, {x}, {positive});
  // The float16 bits of 1, -2, 0.5 and 4.
  const int half =
      m.AddConstant<uint16_t>(kTfLiteFloat16, {2, 2}, {0x3c00, 0xc000, 0x3800, 0x4400});
  const int wide = m.AddTensor(kTfLiteFloat32, {2, 2});
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {wide});
  const int sums = m.AddTensor(kTfLiteFloat32, {1, 2});
  m.AddOp(kTfLiteBuiltinFullyConnected, {positive, wide, -1}, {sums},
          schema::CreateFullyConnectedOptions(m.fbb(), kNoActivation));
  const int slopes = m.AddConstant<float>(kTfLiteFloat32, {2}, {0.9f, 0.8f});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  m.AddOp(kTfLiteBuiltinPrelu, {sums, slopes}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<uint8_t> HalfModel() {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2}, "x");
  // The float16 bits of 1, -2, 0.5 and 4.
  const int half =
      m.AddConstant<uint16_t>(kTfLiteFloat16, {2, 2}, {0x3c00, 0xc000, 0x3800, 0x4400});
  const int wide = m.AddTensor(kTfLiteFloat32, {2, 2});
  const int sums = m.AddTensor(kTfLiteFloat32, {1, 2});
  const int y = m.AddTensor(kTfLiteFloat32, {1, 2}, "y");
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {wide});
  m.AddOp(kTfLiteBuiltinFullyConnected, {x, wide, -1}, {sums},
          schema::CreateFullyConnectedOptions(m.fbb(), kNoActivation));
  m.AddOp(kTfLiteBuiltinTanh, {sums}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// ---- Random graphs ------------------------------------------------------------------------------

namespace {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  std::vector<uint8_t> Make() {
    const int x = Image("x");
    images_.push_back(x);
    const uint32_t length = 2 + random_() % 13;
    for (uint32_t i = 0; i < length; ++i) {
      if (rows_.empty() || random_() % 4 != 0) {
        images_.push_back(AddImageOp());
      } else {
        rows_.push_back(AddRowOp());
      }
      if (random_() % 5 == 0) rows_.push_back(AddMean());
    }
    if (images_.size() == 1) images_.push_back(AddImageOp());
    m_.SetInputs({x});
    std::vector<int32_t> outputs = {images_.back()};
    if (!rows_.empty()) outputs.push_back(rows_.back());
    m_.SetOutputs(outputs);
    return m_.Finish();
  }

 private:
  int Image(const char* name = "") { return m_.AddTensor(kTfLiteFloat32, {1, 6, 6, 4}, name); }
  int Row() { return m_.AddTensor(kTfLiteFloat32, {1, 4}); }
  int PickImage() { return images_[random_() % images_.size()]; }
  int PickRow() { return rows_[random_() % rows_.size()]; }

  int AddMean() {
    const int axes = m_.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, 2});
    const int y = Row();
    m_.AddOp(kTfLiteBuiltinMean, {PickImage(), axes}, {y},
             schema::CreateReducerOptions(m_.fbb(), false));
    return y;
  }

  int Unary(TfLiteBuiltinOperator op, int x, int y) {
    m_.AddOp(op, {x}, {y});
    return y;
  }

  // Adds SQUARED_DIFFERENCE, which the NPU does not support, and TANH.
  int Distance(int a, int b, int y) {
    m_.AddOp(kTfLiteBuiltinSquaredDifference, {a, b}, {y});
    return Unary(kTfLiteBuiltinTanh, y, m_.AddTensor(kTfLiteFloat32, dims_));
  }

  int AddImageOp() {
    dims_ = {1, 6, 6, 4};
    const int x = PickImage();
    switch (random_() % 9) {
      case 0:
      case 1:
        return AddConv(&m_, x, 4, Weights(4 * 9 * 4, random_()), 4, 6, 1,
                       random_() % 2 == 0 ? kRelu : kNoActivation);
      case 2: {
        const int y = Image();
        m_.AddOp(kTfLiteBuiltinAveragePool2d, {x}, {y},
                 schema::CreatePool2DOptions(m_.fbb(), Padding::SAME, 1, 1, 3, 3, kNoActivation));
        return y;
      }
      case 3:
        return Unary(kTfLiteBuiltinLogistic, x, Image());
      case 4: {
        const int y = Image();
        m_.AddOp(kTfLiteBuiltinAdd, {x, PickImage()}, {y},
                 schema::CreateAddOptions(m_.fbb(), kRelu));
        return y;
      }
      case 5: {
        const int both = m_.AddTensor(kTfLiteFloat32, {1, 6, 6, 8});
        m_.AddOp(kTfLiteBuiltinConcatenation, {x, PickImage()}, {both},
                 schema::CreateConcatenationOptions(m_.fbb(), 3, kNoActivation));
        const int begin = m_.AddConstant<int32_t>(kTfLiteInt32, {4}, {0, 0, 0, 2});
        const int size = m_.AddConstant<int32_t>(kTfLiteInt32, {4}, {1, 6, 6, 4});
        const int y = Image();
        m_.AddOp(kTfLiteBuiltinSlice, {both, begin, size}, {y});
        return y;
      }
      case 6:
        return Distance(x, PickImage(), Image());
      case 7: {
        const int y = Image();
        m_.AddOp(kTfLiteBuiltinSoftmax, {x}, {y}, schema::CreateSoftmaxOptions(m_.fbb(), 1.0f));
        return y;
      }
      default: {
        if (rows_.empty()) return Unary(kTfLiteBuiltinTanh, x, Image());
        const int y = Image();
        m_.AddOp(kTfLiteBuiltinMul, {x, PickRow()}, {y},
                 schema::CreateMulOptions(m_.fbb(), kNoActivation));
        return y;
      }
    }
  }

  int AddRowOp() {
    dims_ = {1, 4};
    const int x = PickRow();
    switch (random_() % 3) {
      case 0:
        return Unary(kTfLiteBuiltinCos, x, Row());
      case 1:
        return Distance(x, PickRow(), Row());
      default: {
        const int w = m_.AddConstant<float>(kTfLiteFloat32, {4, 4}, Weights(16, random_()));
        const int y = Row();
        m_.AddOp(kTfLiteBuiltinFullyConnected, {x, w, -1}, {y},
                 schema::CreateFullyConnectedOptions(m_.fbb(), kNoActivation));
        return y;
      }
    }
  }

  std::mt19937 random_;
  ModelBuilder m_;
  std::vector<int> dims_;  // shape of the tensors being built
  std::vector<int> images_, rows_;
};

}  // namespace

std::vector<uint8_t> RandomModel(uint32_t seed) { return RandomGraph(seed).Make(); }

}  // namespace deputy
