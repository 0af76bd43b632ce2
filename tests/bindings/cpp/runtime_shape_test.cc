// SPDX-License-Identifier: Apache-2.0
//
// Tests RuntimeShape, the functions on matching shapes, float16, lookup tables and counts of bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tensorflow/lite/kernels/internal/common.h"
#include "tensorflow/lite/kernels/internal/tensor_ctypes.h"
#include "tensorflow/lite/kernels/internal/types.h"

namespace deputy::runtime_shape_test {
namespace {

using tflite::RuntimeShape;

TEST(RuntimeShapeTest, keeps_dimensions_when_its_storage_changes) {
  RuntimeShape shape({1, 2, 3});
  shape.Resize(9);
  for (int i = 3; i < 9; ++i) shape.SetDim(i, i + 1);
  shape.Resize(8);
  RuntimeShape copy(shape);
  EXPECT_EQ(copy, RuntimeShape({1, 2, 3, 4, 5, 6, 7, 8}));
  shape.Resize(2);
  EXPECT_EQ(shape, RuntimeShape({1, 2}));
  shape = copy;
  EXPECT_EQ(shape.Dims(7), 8);
  EXPECT_EQ(copy.FlatSize(), 40320);
}

TEST(RuntimeShapeTest, has_the_layout_that_upstream_publishes) {
  struct Layout {
    int32_t size;
    union {
      int32_t dims[6];
      int32_t* pointer;
    };
  };
  EXPECT_EQ(sizeof(RuntimeShape), sizeof(Layout));
  RuntimeShape shape({7, 5});
  EXPECT_EQ(*reinterpret_cast<int32_t*>(&shape), 2);
  EXPECT_EQ(static_cast<void*>(shape.DimsData()), reinterpret_cast<Layout*>(&shape)->dims);
}

TEST(RuntimeShapeTest, checks_products) {
  const RuntimeShape shape({1 << 20, 1 << 20, 1 << 20, 1 << 20});
  size_t size = 7;
  int count = 7;
  EXPECT_FALSE(shape.CheckedFlatSize(size));
  EXPECT_FALSE(shape.CheckedSizeToDimension(2, count));
  EXPECT_EQ(count, 7);
  EXPECT_TRUE(shape.CheckedSizeFromDimension(3, count));
  EXPECT_EQ(count, 1 << 20);
  EXPECT_TRUE(shape.CheckedFlatSizeSkipDim(1, size));
  EXPECT_EQ(size, size_t{1} << 60);
  EXPECT_FALSE(RuntimeShape({-1}).CheckedFlatSize(size));
  EXPECT_FALSE(shape.CheckedNumElementsInRange(3, 5, size));
}

TEST(RuntimeShapeTest, matching_functions_return_the_first_size) {
  const RuntimeShape shape({2, 3, 4});
  EXPECT_EQ(MatchingFlatSize(shape, shape, shape, shape), 24);
  EXPECT_EQ(MatchingFlatSizeSkipDim(shape, 1, RuntimeShape({2, 9, 4})), 8);
  EXPECT_EQ(MatchingDim(shape, 0, shape, 0, shape, 0), 2);
  EXPECT_EQ(MatchingExtendedShapeFlatSize(shape, RuntimeShape({1, 1, 2, 3, 4})), 24);
  EXPECT_EQ(MatchingElementsSize(shape, RuntimeShape({24}), RuntimeShape({4, 6})), 24);
  EXPECT_EQ(Offset(RuntimeShape({2, 3, 4, 5}), 1, 2, 3, 4), 119);
  const tflite::Dims<4> dims = tflite::ToRuntimeDims(shape);
  EXPECT_EQ(dims.sizes[0], 4);
  EXPECT_EQ(dims.strides[2], 12);
  EXPECT_EQ(tflite::DimsToShape(dims), RuntimeShape({1, 2, 3, 4}));
}

TEST(RuntimeShapeTest, a_tensor_has_the_shape_of_its_dimensions) {
  EXPECT_EQ(tflite::GetTensorShape(nullptr).DimensionsCount(), 0);
  struct {
    int size = 2;
    int data[2] = {3, 4};
  } dims;
  TfLiteTensor tensor = {};
  tensor.dims = reinterpret_cast<TfLiteIntArray*>(&dims);
  EXPECT_EQ(tflite::GetTensorShape(&tensor), RuntimeShape({3, 4}));
  EXPECT_EQ(tflite::GetTensorData<float>(static_cast<TfLiteTensor*>(nullptr)), nullptr);
}

// Converts every finite float16, and the midpoint of every two neighbours, which rounds to the even
// one.
TEST(HalfTest, converts_all_values_and_rounds_to_nearest_even) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = tflite::half::from_bits(half);
    EXPECT_EQ(tflite::half(value).to_bits(), half);
    EXPECT_EQ(tflite::half(-value).to_bits(), half | 0x8000);
    if (bits + 1 == 0x7c00) break;
    const float next = tflite::half::from_bits(static_cast<uint16_t>(bits + 1));
    EXPECT_EQ(tflite::half((value + next) / 2).to_bits(), bits + bits % 2);
  }
  EXPECT_EQ(tflite::half(65520.0f).to_bits(), 0x7c00);
  EXPECT_EQ(tflite::half(65519.0f).to_bits(), 0x7bff);
  EXPECT_EQ(tflite::half(std::ldexp(1.0f, -25)).to_bits(), 0);
  EXPECT_EQ(tflite::half(std::ldexp(1.1f, -25)).to_bits(), 1);
  EXPECT_EQ(tflite::half(1e-30f).to_bits(), 0);
  EXPECT_EQ(tflite::half(std::nanf("")).to_bits(), 0x7e00);
  EXPECT_TRUE(std::isinf(static_cast<float>(tflite::half::infinity())));
  EXPECT_EQ(std::numeric_limits<tflite::half>::max().to_bits(), 0x7bff);
}

TEST(LookupTableTest, int8_and_int16_tables_follow_the_function) {
  std::vector<int8_t> bytes(static_cast<size_t>(tflite::LUTSize<int8_t>()));
  float (*square)(float) = [](float x) { return x * x; };
  tflite::LUTPopulate<int8_t>(0.1f, 0, 0.5f, -10, square, bytes.data());
  EXPECT_EQ(tflite::LUTLookup(int8_t{-20}, bytes.data()), -2);
  EXPECT_EQ(tflite::LUTLookup(int8_t{127}, bytes.data()), 127);
  std::vector<int16_t> shorts(static_cast<size_t>(tflite::LUTSize<int16_t>()));
  float (*half)(float) = [](float x) { return x / 2; };
  tflite::LUTPopulate<int16_t>(1.0f, 0, 1.0f, 0, half, shorts.data());
  EXPECT_NEAR(tflite::LUTLookup(int16_t{12345}, shorts.data()), 6172, 1);
}

TEST(BitsTest, count_zeros_and_signs) {
  EXPECT_EQ(tflite::CountLeadingZeros(uint32_t{1}), 31);
  EXPECT_EQ(tflite::CountLeadingZeros(uint64_t{0}), 64);
  EXPECT_EQ(tflite::CountLeadingSignBits(int32_t{-1}), 31);
  EXPECT_EQ(tflite::CountLeadingSignBits(int32_t{1}), 30);
  EXPECT_EQ(tflite::FloorLog2(int64_t{1} << 40), 40);
}

}  // namespace
}  // namespace deputy::runtime_shape_test
