// SPDX-License-Identifier: Apache-2.0
//
// Passes constants, quantisation, options and shapes that no converter writes to kernels: each is
// refused with a message or has no effect, and no arithmetic overflows (which is detected in
// sanitizer builds). model_check_test.cc tests the checks of models.
#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "c_api/include/deputy.h"
#include "kernels/conv/depthwise.h"
#include "tests/cases/case.h"
#include "tests/kernels/cpu/cpu_tables.h"
#include "tests/support/scoped_cpu.h"
#include "tests/support/test_interpreter.h"

namespace deputy::kernels_hostile_test {
namespace {

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();

// Expects that AllocateTensors refuses the model with a message that contains `part`.
void ExpectRefused(ModelBuilder* m, const std::string& part) {
  TestInterpreter interpreter(m->Finish());
  ASSERT_NE(interpreter.get(), nullptr) << interpreter.log();
  EXPECT_EQ(interpreter.Allocate(), kTfLiteError);
  EXPECT_NE(interpreter.log().find(part), std::string::npos) << interpreter.log();
}

// ---- Sparse constants ---------------------------------------------------------------------------

// Returns extras for a sparse constant of `levels` dimensions, each with one stored element.
TensorExtras OneElement(ModelBuilder* m, size_t levels) {
  std::vector<int32_t> order(levels);
  std::vector<flatbuffers::Offset<schema::DimensionMetadata>> metadata(levels);
  for (size_t i = 0; i < levels; ++i) {
    order[i] = static_cast<int32_t>(i);
    metadata[i] = schema::CreateDimensionMetadata(m->fbb(), schema::DimensionType::DENSE, 1);
  }
  TensorExtras extras;
  extras.sparsity = schema::CreateSparsityParametersDirect(m->fbb(), &order, nullptr, &metadata);
  return extras;
}

// A sparse constant stores fewer values than its shape has elements; ADD does not interpret it.
TEST(SparseConstant, is_refused_by_arithmetic) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {64, 64});
  const int sparse =
      m.AddConstant<float>(kTfLiteFloat32, {64, 64}, {1.0f}, "few", OneElement(&m, 2));
  const int y = m.AddTensor(kTfLiteFloat32, {64, 64});
  m.AddOp(kTfLiteBuiltinAdd, {x, sparse}, {y}, schema::CreateAddOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  ExpectRefused(&m, "tensor 1 'few': expected a dense tensor, found a sparse one");
}

TEST(SparseConstant, is_refused_as_paddings) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {8, 8});
  const int margins = m.AddConstant<int32_t>(kTfLiteInt32, {2, 2}, {1}, "few", OneElement(&m, 2));
  const int y = m.AddTensor(kTfLiteFloat32, {8, 8});
  m.AddOp(kTfLiteBuiltinMirrorPad, {x, margins}, {y},
          schema::CreateMirrorPadOptions(m.fbb(), schema::MirrorPadMode::SYMMETRIC));
  m.SetInputs({x});
  m.SetOutputs({y});
  ExpectRefused(&m, "tensor 1 'few': expected a dense tensor, found a sparse one");
}

// ---- Shapes -------------------------------------------------------------------------------------

// Tensors without elements, the product of whose other extents overflows.
TEST(EmptyTensors, broadcast_without_an_overflow) {
  ModelBuilder m;
  const int a = m.AddTensor(kTfLiteFloat32, {0, 1 << 30, 1 << 28, 1, 1});
  const int b = m.AddTensor(kTfLiteFloat32, {0, 1, 1, 1 << 30, 1 << 28});
  const int y = m.AddTensor(kTfLiteFloat32, {0});
  m.AddOp(kTfLiteBuiltinMaximum, {a, b}, {y});
  m.SetInputs({a, b});
  m.SetOutputs({y});
  ExpectRefused(&m, "its computed size would overflow");
}

TEST(EmptyTensors, of_strings_tile_without_an_overflow) {
  ModelBuilder m;
  const int texts = m.AddTensor(kTfLiteString, {1, 1, 0});
  const int times = m.AddConstant<int32_t>(kTfLiteInt32, {3}, {kMost, kMost, kMost});
  const int y = m.AddTensor(kTfLiteString, {0});
  m.AddOp(kTfLiteBuiltinTile, {texts, times}, {y});
  m.SetInputs({texts});
  m.SetOutputs({y});
  ExpectRefused(&m, "its computed size would overflow");
}

// Tensors without channels, in DEPTH_TO_SPACE with blocks of 2147483647 x 2147483647 elements.
TEST(EmptyTensors, batch_to_space_without_an_overflow) {
  for (const std::vector<int>& dims : {std::vector<int>{8, 0, 1, 0}, {kMost, 1, 1, 0}}) {
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 0});
    const int y = m.AddTensor(kTfLiteFloat32, {0});
    m.AddOp(kTfLiteBuiltinDepthToSpace, {x}, {y},
            schema::CreateDepthToSpaceOptions(m.fbb(), kMost));
    m.SetInputs({x});
    m.SetOutputs({y});
    TestInterpreter interpreter(m.Finish());
    ASSERT_EQ(interpreter.Resize(0, dims), kTfLiteOk) << interpreter.log();
    if (interpreter.Allocate() == kTfLiteOk) {
      EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
    }
  }
}

TEST(StridedSlice, of_no_elements_accepts_any_stride) {
  for (const int32_t stride : {kMost, kLeast}) {
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteFloat32, {2, 0, 1 << 30, 1 << 26});
    const int zeros = m.AddConstant<int32_t>(kTfLiteInt32, {4}, {0, 0, 0, 0});
    const int strides = m.AddConstant<int32_t>(kTfLiteInt32, {4}, {stride, stride, stride, stride});
    const int y = m.AddTensor(kTfLiteFloat32, {0});
    // Begin and end are masked, so the whole axis is selected, in steps of `stride`.
    m.AddOp(kTfLiteBuiltinStridedSlice, {x, zeros, zeros, strides}, {y},
            schema::CreateStridedSliceOptions(m.fbb(), 15, 15));
    m.SetInputs({x});
    m.SetOutputs({y});
    TestInterpreter interpreter(m.Finish());
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
    EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
    EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0)),
              (std::vector<int>{1, 0, 1, 1}));
  }
}

// Tensors without elements whose other extents would take years to traverse.
TEST(EmptyTensors, are_computed_quickly) {
  const Shape empty = {1 << 30, 1 << 28, 0, 1};
  for (const auto code : {kTfLiteBuiltinMaxPool2d, kTfLiteBuiltinAveragePool2d,
                          kTfLiteBuiltinCumsum, kTfLiteBuiltinDequantize}) {
    ModelBuilder m;
    TensorExtras slices;
    slices.scale = {0.5f, 0.25f};
    slices.zero_point = {0, 0};
    slices.quantized_dimension = 2;
    const bool quantized = code == kTfLiteBuiltinDequantize;
    const int x = quantized ? m.AddTensor(kTfLiteInt8, {1 << 30, 1 << 26, 2, 0}, "x", slices)
                            : m.AddTensor(kTfLiteFloat32, empty, "x");
    const int zero = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {0});
    const int y = m.AddTensor(kTfLiteFloat32, empty, "y");
    if (quantized) {
      m.AddOp(code, {x}, {y});
    } else if (code == kTfLiteBuiltinCumsum) {
      m.AddOp(code, {x, zero}, {y}, schema::CreateCumsumOptions(m.fbb()));
    } else {
      m.AddOp(code, {x}, {y},
              schema::CreatePool2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 1, 1));
    }
    m.SetInputs({x});
    m.SetOutputs({y});
    TestInterpreter interpreter(m.Finish());
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
    EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  }
}

// Expects that a custom operator on empty tensors returns quickly; `inputs` and `outputs` are the
// shapes.
void ExpectQuick(const char* name, const std::vector<Shape>& inputs,
                 const std::vector<Shape>& outputs, const std::vector<uint8_t>& options,
                 int version = 1) {
  SCOPED_TRACE(name);
  ModelBuilder m;
  std::vector<int32_t> in, out;
  for (const Shape& shape : inputs) in.push_back(m.AddTensor(kTfLiteFloat32, shape));
  for (const Shape& shape : outputs) out.push_back(m.AddTensor(kTfLiteFloat32, shape));
  m.AddCustomOp(name, in, out, options, version);
  m.SetInputs(in);
  m.SetOutputs(out);
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
}

TEST(EmptyTensors, are_computed_quickly_by_custom_operators) {
  // Options of a TfLitePoolParams: padding, strides, filter sizes and the activation.
  const std::vector<int32_t> pool = {kTfLitePaddingSame, 1, 1, 1, 1, kTfLiteActNone};
  std::vector<uint8_t> options(pool.size() * sizeof(int32_t));
  std::memcpy(options.data(), pool.data(), options.size());
  const Shape empty = {1 << 30, 1 << 28, 1, 0};
  ExpectQuick("MaxPoolingWithArgmax2D", {empty}, {empty, empty}, options);
  ExpectQuick("MaxUnpooling2D", {empty, empty}, {empty}, options);
  const Shape picture = {1, 1 << 30, 1 << 28, 0};
  ExpectQuick("TransformTensorBilinear", {picture, {1, 4, 4}}, {picture}, {}, 2);
}

// A TFLite_Detection_PostProcess with INT_MAX classes, but no boxes.
TEST(EmptyTensors, are_computed_quickly_by_detection) {
  for (const bool regular : {false, true}) {
    flexbuffers::Builder map;
    map.Map([&] {
      map.Int("max_detections", 1);
      map.Int("max_classes_per_detection", 1);
      map.Int("num_classes", kMost);
      map.Bool("use_regular_nms", regular);
      map.Float("nms_iou_threshold", 0.5f);
      for (const char* scale : {"y_scale", "x_scale", "h_scale", "w_scale"}) map.Float(scale, 1);
    });
    map.Finish();
    ExpectQuick("TFLite_Detection_PostProcess", {{1, 0, 4}, {1, 0, kMost}, {0, 4}},
                {{1, 1, 4}, {1, 1}, {1, 1}, {1}}, map.GetBuffer());
  }
}

// LSH_PROJECTION of items of zero bytes, which all have the same fingerprint.
TEST(EmptyTensors, are_computed_quickly_by_projection) {
  ModelBuilder m;
  const int hash = m.AddConstant<float>(kTfLiteFloat32, {8, 32}, std::vector<float>(256, 0.5f));
  const int x = m.AddTensor(kTfLiteInt32, {kMost, 0});
  const int y = m.AddTensor(kTfLiteInt32, {1});
  m.AddOp(kTfLiteBuiltinLshProjection, {hash, x}, {y},
          schema::CreateLSHProjectionOptions(m.fbb(), schema::LSHProjectionType::SPARSE));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
}

// The input has no images, and the layer would repeat each of its channels.
TEST(EmptyTensors, do_not_divide_by_zero_channels) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {0, 4, 4, 2});
  const int filter = m.AddConstant<float>(kTfLiteFloat32, {1, 1, 1, 4}, {1, 2, 3, 4});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {4}, {0, 0, 0, 0});
  const int y = m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {x, filter, bias}, {y},
          schema::CreateDepthwiseConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 2));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0)),
            (std::vector<int>{0, 4, 4, 4}));
}

// ---- Sizes --------------------------------------------------------------------------------------

// The filter has 2^15 * (2^15 + 1) weights per channel, which is just above the limit of 2^30.
TEST(DepthwiseConv, refuses_more_than_a_billion_taps) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 1, 1, 1});
  const int filter = m.AddTensor(kTfLiteFloat32, {1, 1 << 15, (1 << 15) + 1, 1});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {1}, {0});
  const int y = m.AddTensor(kTfLiteFloat32, {1});
  m.AddOp(kTfLiteBuiltinDepthwiseConv2d, {x, filter, bias}, {y},
          schema::CreateDepthwiseConv2DOptions(m.fbb(), schema::Padding::SAME, 1, 1, 1));
  m.SetInputs({x, filter});
  m.SetOutputs({y});
  ExpectRefused(&m, "expected at most 2^30 weights per channel, found more");
}

int64_t requested_values = 0;

// The image has rows of more than 2^31 values, which are computed in vectors that span pixels.
TEST(DepthwiseConv, counts_the_values_of_long_rows) {
  constexpr int kWidth = 1 << 26, kChannels = 33;
  CpuKernels cpu;
  cpu.depthwise_f32.columns = [](const DepthwiseColumnsF32& in) {
    requested_values += int64_t{in.columns} * in.channels;
  };
  ConvShape shape;
  shape.y = {.input = 1, .filter = 1, .stride = 1, .output = 1};
  shape.x = {.input = kWidth, .filter = 3, .stride = 1, .before = 1, .output = kWidth};
  shape.batches = shape.depth = 1;
  shape.input_channels = shape.output_channels = shape.groups = kChannels;
  std::vector<float> numbers(4 * kChannels), room(FlatWeights::Values(shape));
  std::vector<char*> scratch(DepthwiseRows::ScratchBytes(shape) / sizeof(char*));
  const float *weights = numbers.data(), *bias = weights + ptrdiff_t{3} * kChannels;
  const DepthwiseRows rows = {
      shape,  cpu, weights, bias, {}, Interior(shape.x), {shape, weights, bias, room.data()},
      nullptr};
  requested_values = 0;
  const int64_t row_values = int64_t{kWidth} * kChannels;
  rows.Run({weights, 1, row_values}, 0, 0, 1, reinterpret_cast<char*>(scratch.data()),
           {room.data(), 1, row_values});
  EXPECT_EQ(requested_values, row_values);
}

// ---- Memory -------------------------------------------------------------------------------------

std::vector<uint8_t> ResizeModel(TfLiteBuiltinOperator code, int32_t width) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteUInt8, {1, 1, 1, 1});
  const int size = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, width});
  const int y = m.AddTensor(kTfLiteUInt8, {1});
  if (code == kTfLiteBuiltinResizeBilinear) {
    m.AddOp(code, {x, size}, {y}, schema::CreateResizeBilinearOptions(m.fbb()));
  } else {
    m.AddOp(code, {x, size}, {y}, schema::CreateResizeNearestNeighborOptions(m.fbb()));
  }
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

// The table of source positions takes more memory than the image: with kLimit / 2 columns the image
// is within the limit, but the table is not.
TEST(Resize, keeps_its_tables_within_the_limits) {
  constexpr size_t kLimit = 1 << 16;
  for (const auto code : {kTfLiteBuiltinResizeBilinear, kTfLiteBuiltinResizeNearestNeighbor}) {
    for (const bool fits : {true, false}) {
      TestInterpreter interpreter(ResizeModel(code, fits ? kLimit / 64 : kLimit / 2),
                                  [](TfLiteInterpreterOptions* options) {
                                    DeputyLimits limits = {};
                                    limits.struct_size = sizeof limits;
                                    limits.max_block_bytes = kLimit;
                                    DeputyInterpreterOptionsSetLimits(options, &limits);
                                  });
      ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
      EXPECT_EQ(interpreter.Invoke(), fits ? kTfLiteOk : kTfLiteError);
      EXPECT_EQ(interpreter.log().find("out of memory for 32768 columns") == std::string::npos,
                fits)
          << interpreter.log();
    }
  }
}

// ---- Quantisation -------------------------------------------------------------------------------

TEST(L2Normalization, refuses_a_zero_point_outside_of_the_type) {
  for (const int zero_point : {kLeast, kMost, 128}) {
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteInt8, {2, 4}, "x", PerTensor(0.5f, zero_point));
    const int y = m.AddTensor(kTfLiteInt8, {2, 4}, "y", PerTensor(1.0f / 128, 0));
    m.AddOp(kTfLiteBuiltinL2Normalization, {x}, {y}, schema::CreateL2NormOptions(m.fbb()));
    m.SetInputs({x});
    m.SetOutputs({y});
    ExpectRefused(&m, "tensor 0 'x': expected a zero point from -128 to 127");
  }
}

// The sum of the exponentials, 2^20 times 2^12, is one more than 32 bits can hold.
TEST(HostileSoftmax, of_a_million_equal_values_rounds_to_zero) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {1 << 20}, "x", PerTensor(0.5f, 0));
  const int y = m.AddTensor(kTfLiteInt8, {1 << 20}, "y", PerTensor(1.0f / 256, -128));
  m.AddOp(kTfLiteBuiltinSoftmax, {x}, {y}, schema::CreateSoftmaxOptions(m.fbb(), 1.0f));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  interpreter.Set<int8_t>(0, std::vector<int8_t>(1 << 20));
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(interpreter.Get<int8_t>(0), std::vector<int8_t>(1 << 20, -128));
}

// With a negative beta the exponentials of values below the maximum overflow to infinity.
TEST(HostileSoftmax, of_a_negative_beta_equals_the_reference) {
  for (const CpuKernels* cpu : CpuTablesAndReference()) {
    for (const int depth : {3, 70}) {
      ModelBuilder m;
      const int x = m.AddTensor(kTfLiteFloat32, {1, depth});
      const int y = m.AddTensor(kTfLiteFloat32, {1, depth});
      m.AddOp(kTfLiteBuiltinSoftmax, {x}, {y}, schema::CreateSoftmaxOptions(m.fbb(), -1.0f));
      m.SetInputs({x});
      m.SetOutputs({y});
      const ScopedCpu guard(cpu);
      TestInterpreter interpreter(m.Finish());
      ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
      std::vector<float> values(static_cast<size_t>(depth), 300.0f);
      values[1] = 0.0f;
      interpreter.Set<float>(0, values);
      ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
      const std::vector<float> shares = interpreter.Get<float>(0);
      for (size_t i = 0; i < shares.size(); ++i) {
        // Infinity divided by infinity is NaN, and other numbers divided by infinity are 0.
        EXPECT_TRUE(i == 1 ? std::isnan(shares[i]) : shares[i] == 0.0f)
            << cpu->name << " " << depth << " " << i << ": " << shares[i];
      }
    }
  }
}

TEST(Concatenation, refuses_a_zero_point_outside_of_the_type) {
  for (const int zero_point : {kLeast, kMost, -1}) {
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteUInt8, {2}, "x", PerTensor(0.5f, zero_point));
    const int y = m.AddTensor(kTfLiteUInt8, {4}, "y", PerTensor(1.0f, 0));
    m.AddOp(kTfLiteBuiltinConcatenation, {x, x}, {y},
            schema::CreateConcatenationOptions(m.fbb(), 0));
    m.SetInputs({x});
    m.SetOutputs({y});
    ExpectRefused(&m, "tensor 0 'x': expected a zero point from 0 to 255");
  }
}

// The quotient of the scales is not a finite float: values saturate.
TEST(Mul, saturates_if_the_scales_overflow_float) {
  for (const DeputyArithmetic arithmetic : {kDeputyArithmeticDefault, kDeputyArithmeticReference}) {
    ModelBuilder m;
    const int a = m.AddTensor(kTfLiteInt8, {4}, "a", PerTensor(3e38f, 0));
    const int y = m.AddTensor(kTfLiteInt8, {4}, "y", PerTensor(1e-38f, -5));
    m.AddOp(kTfLiteBuiltinMul, {a, a}, {y}, schema::CreateMulOptions(m.fbb()));
    m.SetInputs({a});
    m.SetOutputs({y});
    TestInterpreter interpreter(m.Finish(), [arithmetic](TfLiteInterpreterOptions* options) {
      DeputyInterpreterOptionsSetArithmetic(options, arithmetic);
    });
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
    interpreter.Set<int8_t>(0, {0, 1, -1, 127});
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
    EXPECT_EQ(interpreter.Get<int8_t>(0)[0], -5);
    EXPECT_EQ(interpreter.Get<int8_t>(0)[1], 127);
  }
}

// The maximum of negative infinities is infinite; that of no elements is the lowest finite number.
// The minimum behaves likewise.
TEST(ReduceMaxAndMin, of_infinities_are_infinite) {
  for (const bool max : {true, false}) {
    const float infinity = std::numeric_limits<float>::infinity() * (max ? -1.0f : 1.0f);
    const float last = std::numeric_limits<float>::max() * (max ? -1.0f : 1.0f);
    for (const Shape& shape : {Shape{2, 5}, Shape{20, 5}, Shape{2, 70}, Shape{2, 0}}) {
      ModelBuilder m;
      const int x = m.AddTensor(kTfLiteFloat32, shape), y = m.AddTensor(kTfLiteFloat32, {1});
      const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
      m.AddOp(max ? kTfLiteBuiltinReduceMax : kTfLiteBuiltinReduceMin, {x, axis}, {y},
              schema::CreateReducerOptions(m.fbb()));
      m.SetInputs({x});
      m.SetOutputs({y});
      TestInterpreter interpreter(m.Finish());
      ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
      if (shape[1] > 0) interpreter.Set<float>(0, std::vector<float>(CountOf(shape), infinity));
      ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
      EXPECT_EQ(interpreter.Get<float>(0),
                std::vector<float>(static_cast<size_t>(shape[0]), shape[1] > 0 ? infinity : last));
    }
  }
}

TEST(ReduceProd, of_no_elements_saturates_at_the_smallest_scale) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteInt8, {2, 0}, "x", PerTensor(1.0f, 0));
  const int axis = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {1});
  const int y = m.AddTensor(kTfLiteInt8, {2}, "y", PerTensor(1e-45f, 0));
  m.AddOp(kTfLiteBuiltinReduceProd, {x, axis}, {y}, schema::CreateReducerOptions(m.fbb()));
  m.SetInputs({x});
  m.SetOutputs({y});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(interpreter.Get<int8_t>(0), (std::vector<int8_t>{127, 127}));
}

// ---- Invalid values of a type ------------------------------------------------------------------

TEST(HostileCustomOp, refuses_invalid_padding) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 2, 2, 1});
  const int weights = m.AddConstant<float>(kTfLiteFloat32, {1, 1, 1, 1}, {1});
  const int bias = m.AddConstant<float>(kTfLiteFloat32, {1}, {0});
  const int y = m.AddTensor(kTfLiteFloat32, {1});
  // The options are padding, stride_width and stride_height in the layout of the C struct.
  std::vector<uint8_t> options = {77, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
  m.AddCustomOp("Convolution2DTransposeBias", {x, weights, bias}, {y}, options);
  m.SetInputs({x});
  m.SetOutputs({y});
  ExpectRefused(&m, "expected SAME or VALID");
}

// TensorFlow Lite treats every nonzero byte as true on all platforms.
TEST(If, treats_any_nonzero_byte_as_true) {
  for (const uint8_t byte : {0, 1, 3, 255}) {
    ModelBuilder m;
    for (const int step : {1, 2}) {
      m.SelectSubgraph(m.AddSubgraph());
      const int in = m.AddTensor(kTfLiteInt32, {1}), out = m.AddTensor(kTfLiteInt32, {1});
      const int added = m.AddConstant<int32_t>(kTfLiteInt32, {1}, {step});
      m.AddOp(kTfLiteBuiltinAdd, {in, added}, {out}, schema::CreateAddOptions(m.fbb()));
      m.SetInputs({in});
      m.SetOutputs({out});
    }
    m.SelectSubgraph(0);
    const int condition = m.AddConstant<uint8_t>(kTfLiteBool, {1}, {byte});
    const int x = m.AddTensor(kTfLiteInt32, {1}), y = m.AddTensor(kTfLiteInt32, {1});
    m.AddOp(kTfLiteBuiltinIf, {condition, x}, {y}, schema::CreateIfOptions(m.fbb(), 1, 2));
    m.SetInputs({x});
    m.SetOutputs({y});
    TestInterpreter interpreter(m.Finish());
    ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
    interpreter.Set<int32_t>(0, {10});
    ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
    EXPECT_EQ(interpreter.Get<int32_t>(0), (std::vector<int32_t>{byte != 0 ? 11 : 12})) << byte;
  }
}

// ---- Combinatorial explosion --------------------------------------------------------------------

// There are 2^40 partial skip-grams, of which 40 have enough words left.
TEST(SkipGram, skips_starts_with_too_few_words_left) {
  std::string text = "a";
  for (int i = 1; i < 40; ++i) text += " a";
  ModelBuilder m;
  const int x = m.AddStringConstant({1}, {text}), y = m.AddTensor(kTfLiteString, {1});
  m.AddOp(kTfLiteBuiltinSkipGram, {x}, {y}, schema::CreateSkipGramOptions(m.fbb(), 39, 40));
  m.SetOutputs({y});
  TestInterpreter interpreter(m.Finish());
  ASSERT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  ASSERT_EQ(interpreter.Invoke(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(TestInterpreter::Shape(TfLiteInterpreterGetOutputTensor(interpreter.get(), 0)),
            (std::vector<int>{40}));
}

// ---- Ranks of outputs ---------------------------------------------------------------------------

TEST(StablehloGather, refuses_too_many_dimensions) {
  ModelBuilder m;
  const Shape ones(8, 1);
  const std::vector<int64_t> window = {0, 1, 2, 3, 4, 5, 6, 7}, none, first = {0}, sizes(8, 1);
  const int x = m.AddTensor(kTfLiteFloat32, ones), indices = m.AddTensor(kTfLiteInt32, ones);
  const int y = m.AddTensor(kTfLiteFloat32, Shape(15, 1));
  m.AddOp(kTfLiteBuiltinStablehloGather, {x, indices}, {y},
          schema::CreateStablehloGatherOptionsDirect(m.fbb(), &window, &none, &first, 7, &sizes));
  m.SetInputs({x, indices});
  m.SetOutputs({y});
  ExpectRefused(&m, "expected at most 8 dimensions, found 15");
}

}  // namespace
}  // namespace deputy::kernels_hostile_test
