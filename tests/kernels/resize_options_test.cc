// SPDX-License-Identifier: Apache-2.0
//
// Tests RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR with both align_corners and half_pixel_centers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "c_api/include/deputy.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy::resize_options_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<uint8_t> Resize(bool bilinear, int columns, int to) {
  ModelBuilder m;
  const int x = m.AddTensor(kTfLiteFloat32, {1, 1, columns, 1}, "x");
  const int size = m.AddConstant<int32_t>(kTfLiteInt32, {2}, {1, to}, "size");
  const int y = m.AddTensor(kTfLiteFloat32, {1, 1, to, 1}, "y");
  if (bilinear) {
    m.AddOp(kTfLiteBuiltinResizeBilinear, {x, size}, {y},
            schema::CreateResizeBilinearOptions(m.fbb(), true, true), 3);
  } else {
    m.AddOp(kTfLiteBuiltinResizeNearestNeighbor, {x, size}, {y},
            schema::CreateResizeNearestNeighborOptions(m.fbb(), true, true), 3);
  }
  m.SetInputs({x});
  m.SetOutputs({y});
  return m.Finish();
}

std::vector<float> Infer(TestInterpreter* interpreter, const std::vector<float>& input) {
  EXPECT_EQ(interpreter->Allocate(), kTfLiteOk) << interpreter->log();
  interpreter->Set<float>(0, input);
  EXPECT_EQ(interpreter->Invoke(), kTfLiteOk) << interpreter->log();
  return interpreter->Get<float>(0);
}

// Expected values are results of LiteRT with XNNPACK.
TEST(ResizeWithBothOptions, aligns_the_corners) {
  TestInterpreter wider(Resize(true, 3, 5));
  EXPECT_THAT(Infer(&wider, {0, 10, 30}), ElementsAre(0, 5, 10, 20, 30));
  TestInterpreter narrower(Resize(true, 5, 2));
  EXPECT_THAT(Infer(&narrower, {1, 2, 3, 4, 9}), ElementsAre(1, 9));
  TestInterpreter one(Resize(true, 5, 1));
  EXPECT_THAT(Infer(&one, {1, 2, 3, 4, 9}), ElementsAre(1));
}

TEST(ResizeWithBothOptions, is_refused_in_the_reference_arithmetic) {
  TestInterpreter interpreter(Resize(true, 3, 5), [](TfLiteInterpreterOptions* options) {
    DeputyInterpreterOptionsSetArithmetic(options, kDeputyArithmeticReference);
  });
  EXPECT_EQ(interpreter.Allocate(), kTfLiteError);
  EXPECT_THAT(interpreter.log(), HasSubstr("expected align_corners or half_pixel_centers"));
}

// RESIZE_NEAREST_NEIGHBOR uses both options, as TensorFlow Lite does: round((i + 0.5) * 2 / 4).
TEST(ResizeWithBothOptions, selects_the_neighbours_of_tflite) {
  TestInterpreter interpreter(Resize(false, 3, 5));
  EXPECT_THAT(Infer(&interpreter, {1, 2, 3}), ElementsAre(1, 2, 2, 3, 3));
}

}  // namespace
}  // namespace deputy::resize_options_test
