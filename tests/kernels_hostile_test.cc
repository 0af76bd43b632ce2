// SPDX-License-Identifier: Apache-2.0
//
// Constants, quantisation, options and shapes that no converter writes, given to kernels: each is
// refused in words or does nothing, and no arithmetic on the way overflows (which the sanitizer
// runs see). What a model may say at all is tested in validate_test.cc.
#include <gtest/gtest.h>

#include <limits>

#include "tests/cases/case.h"
#include "tests/test_interpreter.h"

namespace deputy {
namespace {

constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();

// The model is refused by AllocateTensors with a message that has `part` in it.
void ExpectRefused(ModelBuilder* m, const std::string& part) {
  TestInterpreter interpreter(m->Finish());
  ASSERT_NE(interpreter.get(), nullptr) << interpreter.log();
  EXPECT_EQ(interpreter.Allocate(), kTfLiteError);
  EXPECT_NE(interpreter.log().find(part), std::string::npos) << interpreter.log();
}

// ---- Sparse constants ---------------------------------------------------------------------------

// Extras for a constant of `levels` dimensions of which one element each is written down.
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

// A sparse constant has fewer values than its shape says; only DENSIFY knows where they belong.
TEST(SparseConstant, is_no_operand_of_arithmetic) {
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

TEST(SparseConstant, gives_no_margins) {
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

// No elements at all, but extents whose product does not fit.
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

TEST(StridedSlice, of_no_elements_takes_any_stride) {
  for (const int32_t stride : {kMost, kLeast}) {
    ModelBuilder m;
    const int x = m.AddTensor(kTfLiteFloat32, {2, 0, 1 << 30, 1 << 26});
    const int zeros = m.AddConstant<int32_t>(kTfLiteInt32, {4}, {0, 0, 0, 0});
    const int strides = m.AddConstant<int32_t>(kTfLiteInt32, {4}, {stride, stride, stride, stride});
    const int y = m.AddTensor(kTfLiteFloat32, {0});
    // Begin and end are masked: everything, in steps of `stride`.
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

}  // namespace
}  // namespace deputy
