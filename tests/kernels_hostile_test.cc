// SPDX-License-Identifier: Apache-2.0
//
// Constants, quantisation, options and shapes that no converter writes, given to kernels: each is
// refused in words or does nothing, and no arithmetic on the way overflows (which the sanitizer
// runs see). What a model may say at all is tested in validate_test.cc.
#include <gtest/gtest.h>

#include "tests/cases/case.h"
#include "tests/test_interpreter.h"

namespace deputy {
namespace {

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

}  // namespace
}  // namespace deputy
