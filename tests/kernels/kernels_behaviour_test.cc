// SPDX-License-Identifier: Apache-2.0
//
// Tests the behaviour of operators apart from arithmetic: results small enough to check by hand,
// constants unpacked once, shapes that are known only at run time, repeated preparation, and the
// operator tables themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "c_api/include/deputy.h"
#include "kernels/registry.h"
#include "tests/cases/case.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::kernels_behaviour_test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TfLiteInterpreterOptions* Exact(TfLiteInterpreterOptions* options) {
  DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  return options;
}

// WHERE writes several results at once, for few axes and for many; it must not write beyond the
// last result.
TEST(Where, returns_the_positions_of_nonzero_elements) {
  for (const std::vector<int>& shape : {std::vector<int>{50},
                                        {7, 9},
                                        {3, 4, 9},
                                        {2, 3, 4, 5},
                                        {2, 3, 2, 3, 4},
                                        {1, 2},
                                        {2, 1, 1}}) {
    for (const int every : {1, 2, 3, 1000}) {
      ModelBuilder m;
      const int input = m.AddTensor(kTfLiteInt32, shape, "input");
      const int output = m.AddTensor(kTfLiteInt64, {1}, "output");
      m.AddOp(kTfLiteBuiltinWhere, {input}, {output}, schema::CreateWhereOptions(m.fbb()));
      m.SetInputs({input});
      m.SetOutputs({output});
      TestInterpreter interpreter(m.Finish());
      ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
      int count = 1;
      for (const int extent : shape) count *= extent;
      std::vector<int32_t> values(static_cast<size_t>(count));
      std::vector<int64_t> expected;
      for (int i = 0; i < count; ++i) {
        if (i % every != every - 1) continue;
        values[static_cast<size_t>(i)] = -5;
        int remainder = i, divisor = count;
        for (const int extent : shape) {
          divisor /= extent;
          expected.push_back(remainder / divisor);
          remainder %= divisor;
        }
      }
      interpreter.Set(0, values);
      ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
      EXPECT_EQ(interpreter.Get<int64_t>(0), expected) << shape.size() << " axes, " << every;
    }
  }
}

// Rows have a margin at the end, columns have margins on both sides, some of them greater than a
// block; cropped elements are omitted, and padding is 0.
TEST(SpaceAndBatch, elements_are_placed_by_blocks_and_margins) {
  for (const bool to_batch : {true, false}) {
    for (const int before : {0, 1, 2, 3, 5}) {
      for (const int block : {1, 2, 3}) {
        SCOPED_TRACE(testing::Message() << to_batch << " " << before << " " << block);
        // The spatial form: with margins its width is seven blocks, its height five.
        constexpr int kBatches = 2, kRows = 5, kColumns = 7, kDepth = 3;
        const int after = 1, height = kRows * block - after, width = kColumns * block - before - 1;
        if (width < 1) continue;
        const std::vector<int> space = {kBatches, height, width, kDepth};
        const std::vector<int> batch = {kBatches * block * block, kRows, kColumns, kDepth};
        ModelBuilder m;
        const int input = m.AddTensor(kTfLiteInt32, to_batch ? space : batch, "input");
        const int size = m.AddConstant<int>(kTfLiteInt32, {2}, {block, block});
        const int margins = m.AddConstant<int>(kTfLiteInt32, {2, 2}, {0, after, before, 1});
        const int output = m.AddTensor(kTfLiteInt32, {1}, "output");
        if (to_batch) {
          m.AddOp(kTfLiteBuiltinSpaceToBatchNd, {input, size, margins}, {output},
                  schema::CreateSpaceToBatchNDOptions(m.fbb()));
        } else {
          m.AddOp(kTfLiteBuiltinBatchToSpaceNd, {input, size, margins}, {output},
                  schema::CreateBatchToSpaceNDOptions(m.fbb()));
        }
        m.SetInputs({input});
        m.SetOutputs({output});
        TestInterpreter interpreter(m.Finish());
        ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
        const auto count = [](const std::vector<int>& shape) {
          return static_cast<size_t>(shape[0] * shape[1] * shape[2] * shape[3]);
        };
        std::vector<int32_t> values(count(to_batch ? space : batch));
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i) + 1;
        std::vector<int32_t> expected(count(to_batch ? batch : space));
        for (int b = 0; b < batch[0]; ++b) {
          for (int i = 0; i < kRows * kColumns * kDepth; ++i) {
            const int place = b / kBatches, row = i / (kColumns * kDepth);
            const int y = row * block + place / block;
            const int x = i / kDepth % kColumns * block + place % block - before;
            if (y >= height || x < 0 || x >= width) continue;
            const auto in_batch = static_cast<size_t>(b * kRows * kColumns * kDepth + i);
            const auto in_space = static_cast<size_t>(
                ((b % kBatches * height + y) * width + x) * kDepth + i % kDepth);
            (to_batch ? expected[in_batch] : expected[in_space]) =
                to_batch ? values[in_space] : values[in_batch];
          }
        }
        interpreter.Set(0, values);
        ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
        EXPECT_EQ(interpreter.Get<int32_t>(0), expected);
      }
    }
  }
}

TEST(Registry, every_builtin_is_listed_once_with_versions_types_and_a_parser) {
  std::set<int> codes;
  std::set<std::string> names;
  for (std::span<const OpDef> family : AllFamilies()) {
    EXPECT_FALSE(family.empty());
    for (const OpDef& op : family) {
      SCOPED_TRACE(op.name);
      EXPECT_TRUE(codes.insert(op.code).second || op.code == kTfLiteBuiltinCustom);
      EXPECT_TRUE(names.insert(op.name).second);
      EXPECT_GE(op.min_version, 1);
      if (op.invoke == nullptr) {
        // Deputy only parses the options of this operator: its row claims no type, and no version
        // is found.
        EXPECT_EQ(op.types, 0u);
        EXPECT_EQ(op.prepare, nullptr);
        EXPECT_EQ(FindBuiltin(op.code, op.min_version), nullptr);
        continue;
      }
      EXPECT_LE(op.min_version, op.max_version);
      EXPECT_NE(op.types, 0u);
      if (op.code == kTfLiteBuiltinCustom) {
        EXPECT_EQ(FindCustomOp(op.name, op.min_version), &op);
        continue;
      }
      EXPECT_EQ(op.params_size > 0, op.parse != nullptr);
      EXPECT_EQ(op.params_size > 0, op.options.set != 0);
      EXPECT_EQ(op.init == nullptr, op.free == nullptr);
      EXPECT_NE(op.prepare, nullptr);
      EXPECT_NE(op.invoke, nullptr);
      EXPECT_EQ(FindBuiltin(op.code, op.min_version), &op);
      EXPECT_EQ(FindBuiltin(op.code, op.max_version), &op);
      EXPECT_EQ(FindBuiltin(op.code, op.max_version + 1), nullptr);
      EXPECT_EQ(FindBuiltin(op.code, op.min_version - 1), nullptr);
      EXPECT_EQ(FindBuiltinAnyVersion(op.code), &op);
    }
  }
  EXPECT_GE(codes.size(), 11u);
  EXPECT_EQ(FindBuiltinAnyVersion(kTfLiteBuiltinCustom), nullptr);
}

// Compares the list with the operators that LiteRT 2.3's resolver supports; CALL and
// CONCAT_EMBEDDINGS are not among them.
TEST(Registry, every_builtin_operator_but_stablehlo_has_a_kernel) {
  int kernels = 0;
  for (std::span<const OpDef> family : AllFamilies()) {
    for (const OpDef& op : family) {
      if (op.code == kTfLiteBuiltinCustom || std::string(op.name).starts_with("STABLEHLO_"))
        continue;
      const bool nowhere =
          op.code == kTfLiteBuiltinCall || op.code == kTfLiteBuiltinConcatEmbeddings;
      EXPECT_EQ(op.invoke == nullptr, nowhere) << op.name;
      kernels += op.invoke != nullptr ? 1 : 0;
    }
  }
  EXPECT_EQ(kernels, 159);
}

TEST(Registry, absent_options_leave_zeroed_parameters) {
  TfLiteConvParams params = {};
  EXPECT_TRUE(FindBuiltinAnyVersion(kTfLiteBuiltinConv2d)->parse(OpOptions(), &params));
  EXPECT_EQ(params.stride_width, 0);
  EXPECT_EQ(params.dilation_width_factor, 0);
}

// A model of one ADD of two vectors of four float32.
std::vector<uint8_t> AddModel(schema::ActivationFunctionType activation) {
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat32, {4}), b = m.AddTensor(kTfLiteFloat32, {4});
  const int out = m.AddTensor(kTfLiteFloat32, {4});
  m.AddOp(kTfLiteBuiltinAdd, {a, b}, {out}, schema::CreateAddOptions(m.fbb(), activation));
  m.SetInputs({a, b});
  m.SetOutputs({out});
  return m.Finish();
}

TEST(Add, clamps_infinity_to_the_largest_number_and_propagates_nan) {
  TestInterpreter interpreter(AddModel(schema::ActivationFunctionType::NONE));
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {kInfinity, -kInfinity, NAN, 1.5f});
  interpreter.Set<float>(1, {0, 0, 0, 2});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  const std::vector<float> out = interpreter.Get<float>(0);
  EXPECT_EQ(out[0], std::numeric_limits<float>::max());
  EXPECT_EQ(out[1], std::numeric_limits<float>::lowest());
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], 3.5f);
}

TEST(Add, prepares_again_after_a_resize) {
  TestInterpreter interpreter(AddModel(schema::ActivationFunctionType::RELU6));
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  ASSERT_EQ(interpreter.Resize(0, {2, 1}), kTfLiteOk);
  EXPECT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {1, -20});
  interpreter.Set<float>(1, {1, 2, 3, 9});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{2, 3, 4, 6, 0, 0, 0, 0}));
  // A shape that cannot be broadcast is refused, and the interpreter can still be used.
  ASSERT_EQ(interpreter.Resize(0, {3}), kTfLiteOk);
  EXPECT_EQ(interpreter.Allocate(), kTfLiteError);
  ASSERT_EQ(interpreter.Resize(0, {1}), kTfLiteOk);
  EXPECT_EQ(interpreter.Allocate(), kTfLiteOk);
}

// A dynamic output would keep its old shape until the next inference, and exclude static delegates.
TEST(Slice, has_a_static_output_after_a_resize) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {3}, "x");
  const int begin = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
  const int size = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {-1});
  const int y = m.AddTensor(kTfLiteFloat32, {2}, "y");
  m.AddOp(kTfLiteBuiltinSlice, {x, begin, size}, {y});
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {1, 2, 3});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  ASSERT_EQ(interpreter.Resize(0, {4}), kTfLiteOk);
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  const TfLiteTensor* const output = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
  EXPECT_EQ(output->allocation_type, kTfLiteArenaRw);
  EXPECT_EQ(TfLiteTensorDim(output, 0), 3);
  interpreter.Set<float>(0, {1, 2, 3, 4});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{2, 3, 4}));
}

TEST(Conv, equals_hand_computed_sums) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, {1, 2, 2, 1});
  const int filter = m.AddConstant<float>(kTfLiteFloat32, {1, 2, 2, 1}, {1, 2, 3, 4});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {1}, {0.5f});
  const int out = m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinConv2d, {input, filter, bias}, {out},
          schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
  m.SetInputs({input});
  m.SetOutputs({out});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {1, 10, 100, 1000});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  // With an even filter the extra padding is at the end.
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{4321.5f, 3010.5f, 2100.5f, 1000.5f}));
}

TEST(Conv, refuses_a_missing_bias) {
  for (const std::vector<int32_t>& inputs : {std::vector<int32_t>{0, 1}, {0, 1, -1}}) {
    for (TfLiteBuiltinOperator code : {kTfLiteBuiltinConv2d, kTfLiteBuiltinDepthwiseConv2d}) {
      ModelBuilder m;
      m.AddTensor(kTfLiteFloat32, {1, 2, 2, 1});
      m.AddConstant<float>(kTfLiteFloat32, {1, 1, 1, 1}, {1});
      const int out = m.AddTensor(kTfLiteFloat32, {1});
      if (code == kTfLiteBuiltinConv2d) {
        m.AddOp(code, inputs, {out},
                schema::CreateConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1));
      } else {
        m.AddOp(code, inputs, {out},
                schema::CreateDepthwiseConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 1));
      }
      m.SetInputs({0});
      m.SetOutputs({out});
      TestInterpreter interpreter(m.Finish());
      EXPECT_EQ(interpreter.Allocate(), kTfLiteError);
      EXPECT_NE(interpreter.log().find("input"), std::string::npos) << interpreter.log();
    }
  }
}

// A model as converters write it for half-precision weights: constants pass through DEQUANTIZE.
std::vector<uint8_t> HalfWeightsModel(bool bias_is_read) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, {1, 2});
  // The float16 bits of 1, 2, -2 and 0.5.
  const int half =
      m.AddConstant<uint16_t>(kTfLiteFloat16, {2, 2}, {0x3c00, 0x4000, 0xc000, 0x3800});
  const int half_bias = m.AddConstant<uint16_t>(kTfLiteFloat16, {2}, {0x3c00, 0x4400});
  const int weights = m.AddTensor(kTfLiteFloat32, {2, 2});
  const int bias = m.AddTensor(kTfLiteFloat32, {2});
  const int out = m.AddTensor(kTfLiteFloat32, {1, 2});
  m.AddOp(kTfLiteBuiltinDequantize, {half}, {weights});
  m.AddOp(kTfLiteBuiltinDequantize, {half_bias}, {bias});
  m.AddOp(kTfLiteBuiltinFullyConnected,
          bias_is_read ? std::vector<int32_t>{input, weights, bias}
                       : std::vector<int32_t>{input, weights},
          {out}, schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({input});
  m.SetOutputs({out});
  return m.Finish();
}

TEST(Dequantize, unpacks_constants_once_and_keeps_them_over_a_resize) {
  TestInterpreter interpreter(HalfWeightsModel(true));
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {10, 100});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{211, 34}));
  TfLiteTensor* weights = interpreter.Tensor(3);
  EXPECT_EQ(weights->allocation_type, kTfLitePersistentRo);
  const void* data = TfLiteTensorData(weights);
  // The DEQUANTIZE would overwrite this value if it ran again.
  static_cast<float*>(TfLiteTensorData(interpreter.Tensor(4)))[0] = 1000;
  ASSERT_EQ(interpreter.Resize(0, {2, 2}), kTfLiteOk);
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {10, 100, 1, 2});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(TfLiteTensorData(interpreter.Tensor(3)), data);
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{1210, 34, 1005, 3}));
}

TEST(Dequantize, skips_unread_constants) {
  TestInterpreter interpreter(HalfWeightsModel(false));
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  float* bias = static_cast<float*>(TfLiteTensorData(interpreter.Tensor(4)));
  bias[0] = 77;
  interpreter.Set<float>(0, {10, 100});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{210, 30}));
  EXPECT_EQ(bias[0], 77);
}

TEST(FullyConnected, uses_weights_that_change_between_inferences) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, {1, 2}),
            weights = m.AddTensor(kTfLiteFloat32, {1, 2});
  const int out = m.AddTensor(kTfLiteFloat32, {1, 1});
  m.AddOp(kTfLiteBuiltinFullyConnected, {input, weights, -1}, {out},
          schema::CreateFullyConnectedOptions(m.fbb()));
  m.SetInputs({input, weights});
  m.SetOutputs({out});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {1, 10});
  for (float w : {2.0f, 3.0f}) {
    interpreter.Set<float>(1, {w, 1});
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
    EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{w + 10}));
  }
}

TEST(Reshape, reads_its_shape_from_a_tensor_during_invoke) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, {2, 3}), shape = m.AddTensor(kTfLiteInt32, {2});
  const int out = m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinReshape, {input, shape}, {out});
  m.SetInputs({input, shape});
  m.SetOutputs({out});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<float>(0, {1, 2, 3, 4, 5, 6});
  interpreter.Set<int32_t>(1, {3, -1});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  const TfLiteTensor* output = TfLiteInterpreterGetOutputTensor(interpreter.get(), 0);
  EXPECT_EQ(TestInterpreter::Shape(output), (std::vector<int>{3, 2}));
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  interpreter.Set<int32_t>(1, {4, 2});
  EXPECT_EQ(interpreter.Invoke(), kTfLiteError);
  EXPECT_NE(interpreter.log().find("6 elements"), std::string::npos) << interpreter.log();
  interpreter.Set<int32_t>(1, {6, 1});
  EXPECT_EQ(interpreter.Invoke(), kTfLiteOk);
}

TEST(Quantize, saturates_and_rounds_by_mode) {
  for (bool exact : {false, true}) {
    ModelBuilder m;
    const int input = m.AddTensor(kTfLiteFloat32, {8});
    const int out = m.AddTensor(kTfLiteInt8, {8}, "", PerTensor(1.0f, 0));
    m.AddOp(kTfLiteBuiltinQuantize, {input}, {out});
    m.SetInputs({input});
    m.SetOutputs({out});
    TestInterpreter interpreter(m.Finish(), [&](TfLiteInterpreterOptions* options) {
      if (exact) Exact(options);
    });
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
    interpreter.Set<float>(0, {0.5f, 1.5f, -0.5f, 2.5f, 1e30f, -kInfinity, kInfinity, NAN});
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
    // Ties are rounded to even by default, and away from zero in reference mode.
    const std::vector<int8_t> expected =
        exact ? std::vector<int8_t>{1, 2, -1, 3, 127, -128, 127, -128}
              : std::vector<int8_t>{0, 2, 0, 2, 127, -128, 127, -128};
    EXPECT_EQ(interpreter.Get<int8_t>(0), expected);
  }
}

// Requantises to half the scale, through int32 in blocks: more than one block, and a remainder.
TEST(Quantize, requantises_more_steps_than_a_block_holds) {
  constexpr int kCount = 2500;
  for (bool exact : {false, true}) {
    ModelBuilder m;
    const int input = m.AddTensor(kTfLiteUInt8, {kCount}, "", PerTensor(1.0f, 100));
    const int out = m.AddTensor(kTfLiteInt16, {kCount}, "", PerTensor(0.5f, 0));
    m.AddOp(kTfLiteBuiltinQuantize, {input}, {out});
    m.SetInputs({input});
    m.SetOutputs({out});
    TestInterpreter interpreter(m.Finish(), [&](TfLiteInterpreterOptions* options) {
      if (exact) Exact(options);
    });
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
    std::vector<uint8_t> steps(kCount);
    for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<uint8_t>(i % 251);
    interpreter.Set<uint8_t>(0, steps);
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
    const std::vector<int16_t> halves = interpreter.Get<int16_t>(0);
    for (size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(halves[i], 2 * (steps[i] - 100)) << i;
  }
}

// EXP of int16: the exponentials of the two largest inputs overflow float32. Their results are the
// maximum, like those of smaller inputs whose exponentials are beyond the output's range.
TEST(Exp, saturates_if_the_exponential_is_infinite) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteInt16, {6}, "", PerTensor(0.003f, 0));
  const int out = m.AddTensor(kTfLiteInt16, {6}, "", PerTensor(0.001f, 0));
  m.AddOp(kTfLiteBuiltinExp, {input}, {out});
  m.SetInputs({input});
  m.SetOutputs({out});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<int16_t>(0, {-32768, 0, 20000, 29500, 29700, 32767});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  const std::vector<int16_t> found = interpreter.Get<int16_t>(0);
  EXPECT_EQ(found[0], 0);
  EXPECT_NEAR(found[1], 1000, 20);
  for (size_t i = 2; i < found.size(); ++i) EXPECT_EQ(found[i], 32767) << i;
}

// Computes float32 times int8; the batches of the left operand have the shape `lead`.
std::vector<float> HybridProduct(const Shape& lead, bool asymmetric) {
  constexpr int kRows = 3, kDepth = 4, kColumns = 5;
  ModelBuilder m;
  Shape shape = lead;
  shape.insert(shape.end(), {kRows, kDepth});
  const int left = m.AddTensor(kTfLiteFloat32, shape);
  const int right = m.AddConstant<int8_t>(
      kTfLiteInt8, {kDepth, kColumns}, RandomInt8(kDepth * kColumns, 3), "", PerTensor(0.02f, 0));
  const int out = m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinBatchMatmul, {left, right}, {out},
          schema::CreateBatchMatMulOptions(m.fbb(), false, false, asymmetric));
  m.SetInputs({left});
  m.SetOutputs({out});
  TestInterpreter interpreter(m.Finish());
  EXPECT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  std::vector<float> values = RandomFloats(CountOf(shape), 5);
  // The magnitude differs per row, so that a wrong row's scale would be detected.
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / kDepth;
    values[i] *= static_cast<float>(row + 1);
  }
  interpreter.Set<float>(0, values);
  EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  return interpreter.Get<float>(0);
}

// TensorFlow Lite confuses the scales here (docs/differences.md), so no golden row can test this.
// Compares real values, with enough elements that tables of all bytes are used. The scales cause no
// rounding.
TEST(Less, compares_large_int8_tensors_by_value) {
  constexpr int kCount = 5000;
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteInt8, {kCount}, "a", {.scale = {0.5f}, .zero_point = {3}});
  const int b = m.AddTensor(kTfLiteInt8, {kCount}, "b", {.scale = {0.25f}, .zero_point = {-7}});
  const int less = m.AddTensor(kTfLiteBool, {kCount}, "less");
  m.AddOp(kTfLiteBuiltinLess, {a, b}, {less}, schema::CreateLessOptions(m.fbb()));
  m.SetInputs({a, b});
  m.SetOutputs({less});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  std::vector<int8_t> left(kCount), right(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    left[i] = static_cast<int8_t>(i * 37);
    right[i] = static_cast<int8_t>(i / 3);
  }
  interpreter.Set(0, left);
  interpreter.Set(1, right);
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  const auto result = interpreter.Get<uint8_t>(0);
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(result[i] != 0, (left[i] - 3) * 0.5 < (right[i] + 7) * 0.25) << i;
  }
}

TEST(BatchMatMul, scales_each_batch_of_several_axes_separately) {
  for (bool asymmetric : {false, true}) {
    const std::vector<float> expected = HybridProduct({12}, asymmetric);
    ASSERT_EQ(expected.size(), 12u * 3 * 5);
    EXPECT_EQ(HybridProduct({3, 4}, asymmetric), expected);
    EXPECT_EQ(HybridProduct({2, 3, 2}, asymmetric), expected);
  }
}

// Adds a body of STABLEHLO_REDUCE_WINDOW that adds its two inputs.
void AddSumBody(ModelBuilder* m) {
  m->SelectSubgraph(m->AddSubgraph("body"));
  const int a = m->AddTensor(kTfLiteFloat32, {}, "a"), b = m->AddTensor(kTfLiteFloat32, {}, "b");
  const int sum = m->AddTensor(kTfLiteFloat32, {}, "sum");
  m->AddOp(kTfLiteBuiltinAdd, {a, b}, {sum}, schema::CreateAddOptions(m->fbb()));
  m->SetInputs({a, b});
  m->SetOutputs({sum});
  m->SelectSubgraph(0);
}

// A dilation of 2 makes {1, 0, 2, 0, 3} of {1, 2, 3}; the negative padding leaves as many elements
// as the input has.
TEST(StablehloReduceWindow, gaps_are_kept_if_the_extent_is_that_of_the_input) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, {3}, "input");
  const int start = m.AddConstant<float>(kTfLiteFloat32, {}, {0}, "start");
  const int output = m.AddTensor(kTfLiteFloat32, {3}, "output");
  AddSumBody(&m);
  const std::vector<int64_t> one = {1}, two = {2}, padding = {0, -2};
  m.AddOp(
      kTfLiteBuiltinStablehloReduceWindow, {input, start}, {output},
      schema::CreateStablehloReduceWindowOptionsDirect(m.fbb(), &one, &one, &two, &one, &padding,
                                                       /*body_subgraph_index=*/1));
  m.SetInputs({input});
  m.SetOutputs({output});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  interpreter.Set<float>(0, {1, 2, 3});
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(interpreter.Get<float>(0), (std::vector<float>{1, 0, 2}));
}

TEST(Softmax, long_flat_int8_rows_become_zero) {
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteInt8, {1, 2000}, "", PerTensor(0.001f, 0));
  const int out = m.AddTensor(kTfLiteInt8, {1, 2000}, "", PerTensor(1.0f / 256, -128));
  m.AddOp(kTfLiteBuiltinSoftmax, {input}, {out}, schema::CreateSoftmaxOptions(m.fbb(), 1.0f));
  m.SetInputs({input});
  m.SetOutputs({out});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk);
  interpreter.Set<int8_t>(0, std::vector<int8_t>(2000, 5));
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk);
  EXPECT_EQ(interpreter.Get<int8_t>(0), std::vector<int8_t>(2000, -128));
}

// A mean over many elements is computed in the same pieces whatever the number of images.
TEST(Mean, of_a_batch_has_the_bits_of_its_images) {
  constexpr int kBatches = 24;
  struct Case {
    std::vector<int> image, axes;  // shape of an image; reduced axes of the batch
  };
  const Case cases[] = {{{39, 36, 1}, {1, 2}}, {{39, 36, 8}, {1, 2}}, {{39, 36, 24}, {1, 2}},
                        {{1, 1, 13}, {3}},     {{1, 3, 5}, {3}},      {{3, 2, 2}, {1, 2}},
                        {{1, 4, 4096}, {3}},   {{1, 1, 40000}, {3}}};
  for (const Case& each : cases) {
    const auto shape = [&](int batch) {
      return std::vector<int>{batch, each.image[0], each.image[1], each.image[2]};
    };
    ModelBuilder m;
    const int input = m.AddTensor(kTfLiteFloat32, shape(1), "input");
    const int axes = m.AddConstant<int32_t>(kTfLiteInt32, {static_cast<int>(each.axes.size())},
                                            std::vector<int32_t>(each.axes));
    const int output = m.AddTensor(kTfLiteFloat32, {1}, "output");
    m.AddOp(kTfLiteBuiltinMean, {input, axes}, {output}, schema::CreateReducerOptions(m.fbb()));
    m.SetInputs({input});
    m.SetOutputs({output});
    TestInterpreter one(m.Finish());
    ASSERT_EQ(one.Allocate(), kTfLiteOk) << one.log();
    const auto size = static_cast<size_t>(each.image[0] * each.image[1] * each.image[2]);
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    std::vector<float> values(size * kBatches), expected;
    for (float& value : values) value = normal(random);
    for (auto first = values.begin(); first != values.end(); first += static_cast<int>(size)) {
      one.Set(0, std::vector<float>(first, first + static_cast<int>(size)));
      ASSERT_EQ(one.Invoke(), kTfLiteOk);
      const std::vector<float> found = one.Get<float>(0);
      expected.insert(expected.end(), found.begin(), found.end());
    }
    ASSERT_EQ(one.Resize(0, shape(kBatches)), kTfLiteOk);
    ASSERT_EQ(one.Allocate(), kTfLiteOk) << one.log();
    one.Set(0, values);
    ASSERT_EQ(one.Invoke(), kTfLiteOk);
    EXPECT_EQ(one.Get<float>(0), expected) << testing::PrintToString(each.image);
  }
}

// A window over a whole image of many rows is averaged in blocks of rows, here of two and three.
TEST(AveragePool, averages_a_window_over_a_whole_image) {
  constexpr int kBatches = 2, kHeight = 37, kWidth = 61, kChannels = 40;
  ModelBuilder m;
  const int input = m.AddTensor(kTfLiteFloat32, {kBatches, kHeight, kWidth, kChannels}, "input");
  const int output = m.AddTensor(kTfLiteFloat32, {kBatches, 1, 1, kChannels}, "output");
  m.AddOp(kTfLiteBuiltinAveragePool2d, {input}, {output},
          schema::CreatePool2DOptions(m.fbb(), schema::Padding::VALID, 1, 1, kWidth, kHeight,
                                      schema::ActivationFunctionType::RELU6));
  m.SetInputs({input});
  m.SetOutputs({output});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  std::mt19937 random(1);
  std::normal_distribution<float> normal(3, 40);
  std::vector<float> values(size_t{kBatches} * kHeight * kWidth * kChannels);
  for (float& value : values) value = normal(random);
  // A channel above the range of the activation, and one whose rows differ by a trend.
  for (size_t i = 0; i < values.size(); i += kChannels) {
    values[i] += 100;
    values[i + 1] = static_cast<float>(i / (kWidth * kChannels) % kHeight) * 0.1f;
  }
  interpreter.Set(0, values);
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  const std::vector<float> found = interpreter.Get<float>(0);
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int c = 0; c < kChannels; ++c) {
      double sum = 0;
      for (int pixel = 0; pixel < kHeight * kWidth; ++pixel) {
        sum += values[(size_t{1} * batch * kHeight * kWidth + pixel) * kChannels + c];
      }
      const double expected = std::clamp(sum / (kHeight * kWidth), 0.0, 6.0);
      EXPECT_NEAR(found[static_cast<size_t>(batch * kChannels + c)], expected, 2e-5) << c;
    }
  }
  EXPECT_EQ(found[0], 6.0f);
}

TEST(HardSwish, requires_an_output_scale_above_a_128th_of_the_input_scale) {
  const struct {
    float output_scale;
    TfLiteStatus status;
  } cases[] = {{0.0625f, kTfLiteError}, {0.0626f, kTfLiteOk}};
  for (const auto& c : cases) {
    ModelBuilder m;
    const int a = m.AddTensor(kTfLiteInt8, {2}, "a", PerTensor(8.0f, 0));
    const int out = m.AddTensor(kTfLiteInt8, {2}, "out", PerTensor(c.output_scale, 0));
    m.AddOp(kTfLiteBuiltinHardSwish, {a}, {out}, schema::CreateHardSwishOptions(m.fbb()));
    m.SetInputs({a});
    m.SetOutputs({out});
    TestInterpreter interpreter(m.Finish());
    EXPECT_EQ(interpreter.Allocate(), c.status) << c.output_scale;
    const bool reported = interpreter.log().find(
                              "expected a scale greater than 0.0625, found "
                              "0.0625") != std::string::npos;
    EXPECT_EQ(reported, c.status == kTfLiteError) << interpreter.log();
  }
}

TEST(Quantisation, invalid_parameters_are_refused) {
  const TensorExtras bad[] = {PerTensor(0.0f, 0),      PerTensor(-1.0f, 0),  PerTensor(NAN, 0),
                              PerTensor(kInfinity, 0), PerTensor(0.1f, 300), TensorExtras()};
  for (const TensorExtras& extras : bad) {
    ModelBuilder m;
    const int a = m.AddTensor(kTfLiteInt8, {2}, "a", PerTensor(0.1f, 0));
    const int out = m.AddTensor(kTfLiteInt8, {2}, "out", extras);
    m.AddOp(kTfLiteBuiltinAdd, {a, a}, {out}, schema::CreateAddOptions(m.fbb()));
    m.SetInputs({a});
    m.SetOutputs({out});
    TestInterpreter interpreter(m.Finish());
    // The model is refused when it is loaded, or when it is prepared.
    if (interpreter.get() == nullptr) continue;
    EXPECT_EQ(interpreter.Allocate(), kTfLiteError);
    EXPECT_NE(interpreter.log().find("tensor 1 'out'"), std::string::npos) << interpreter.log();
  }
}

}  // namespace
}  // namespace deputy::kernels_behaviour_test
