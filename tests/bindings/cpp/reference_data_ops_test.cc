// SPDX-License-Identifier: Apache-2.0
//
// Tests the reference functions that move, select and search elements with literal values.
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "tensorflow/lite/kernels/internal/reference/reference_ops.h"
#include "tensorflow/lite/kernels/internal/tensor.h"

namespace deputy::reference_data_ops_test {
namespace {

using tflite::RuntimeShape;
namespace ops = tflite::reference_ops;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

// Returns 0, 1, 2, ...
Ints Count(int count) {
  Ints values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(ReferenceDataOpsTest, pad_adds_elements_on_all_sides) {
  tflite::PadParams params = {};
  params.left_padding_count = 2;
  params.left_padding[0] = 1;
  params.right_padding_count = 2;
  params.right_padding[1] = 2;
  const int32_t value = 9;
  Ints result(12);
  ops::Pad(params, RuntimeShape({2, 2}), Count(4).data(), &value, RuntimeShape({3, 4}),
           result.data());
  EXPECT_EQ(result, (Ints{9, 9, 9, 9, 0, 1, 9, 9, 2, 3, 9, 9}));
}

TEST(ReferenceDataOpsTest, slice_and_strided_slice) {
  Ints result(4);
  tflite::SliceParams slice = {};
  slice.begin_count = 2;
  slice.begin[0] = 1;
  slice.begin[1] = 1;
  slice.size_count = 2;
  slice.size[0] = 2;
  slice.size[1] = -1;
  ops::Slice(slice, RuntimeShape({3, 3}), Count(9).data(), RuntimeShape({2, 2}), result.data());
  EXPECT_EQ(result, (Ints{4, 5, 7, 8}));
  ops::Slice(std::vector<int>{0, 1}, RuntimeShape({3, 3}), Count(9).data(), RuntimeShape({2, 2}),
             result.data());
  EXPECT_EQ(result, (Ints{1, 2, 4, 5}));
  const auto strided =
      tflite::strided_slice::BuildStridedSliceParams(1, 0, 0, {0, -1}, {3, 0}, {2, -1});
  ops::StridedSlice(strided, RuntimeShape({3, 3}), Count(9).data(), RuntimeShape({2, 2}),
                    result.data());
  EXPECT_EQ(result, (Ints{2, 1, 8, 7}));
  ops::DynamicStridedSliceParams dynamic;
  dynamic.start_indices = {0, 1};
  dynamic.stop_indices = {3, 3};
  dynamic.strides = {2, 1};
  ops::StridedSlice(dynamic, RuntimeShape({3, 3}), Count(9).data(), RuntimeShape({2, 2}),
                    result.data());
  EXPECT_EQ(result, (Ints{1, 2, 7, 8}));
}

TEST(ReferenceDataOpsTest, transpose_of_four_dimensions) {
  Ints result(24);
  tflite::TransposeParams params = {4, {0, 3, 1, 2}};
  ops::Transpose(params, RuntimeShape({1, 2, 3, 4}), Count(24).data(), RuntimeShape({1, 4, 2, 3}),
                 result.data());
  EXPECT_EQ(Ints(result.begin(), result.begin() + 8), (Ints{0, 4, 8, 12, 16, 20, 1, 5}));
}

TEST(ReferenceDataOpsTest, concatenation_split_pack_and_unpack) {
  const Ints a = {1, 2, 3, 4};
  const Ints b = {5, 6};
  const RuntimeShape a_shape({2, 2});
  const RuntimeShape b_shape({2, 1});
  const int32_t* data[] = {a.data(), b.data()};
  const RuntimeShape* shapes[] = {&a_shape, &b_shape};
  tflite::ConcatenationParams params = {};
  params.axis = 1;
  params.inputs_count = 2;
  Ints result(6);
  ops::Concatenation(params, shapes, data, RuntimeShape({2, 3}), result.data());
  EXPECT_EQ(result, (Ints{1, 2, 5, 3, 4, 6}));
  Ints part_a(4);
  Ints part_b(2);
  int32_t* parts[] = {part_a.data(), part_b.data()};
  ops::Split(tflite::SplitParams{2, 1}, RuntimeShape({2, 3}), result.data(), shapes, parts);
  EXPECT_EQ(part_a, a);
  EXPECT_EQ(part_b, b);

  const int32_t* rows[] = {a.data(), a.data() + 2};
  tflite::PackParams pack = {};
  pack.axis = 1;
  pack.inputs_count = 2;
  Ints packed(4);
  ops::Pack(pack, shapes, rows, RuntimeShape({2, 2}), packed.data());
  EXPECT_EQ(packed, (Ints{1, 3, 2, 4}));
  Ints columns[] = {Ints(2), Ints(2)};
  int32_t* outputs[] = {columns[0].data(), columns[1].data()};
  ops::Unpack(tflite::UnpackParams{2, 1}, RuntimeShape({2, 2}), packed.data(), RuntimeShape({2}),
              outputs);
  EXPECT_EQ(columns[0], (Ints{1, 2}));
  EXPECT_EQ(columns[1], (Ints{3, 4}));
}

TEST(ReferenceDataOpsTest, resize_bilinear_and_nearest_neighbor) {
  const Floats in = {0, 10, 20, 30};
  const int32_t size[] = {2, 4};
  Floats result(8);
  const RuntimeShape in_shape({1, 2, 2, 1});
  const RuntimeShape out_shape({1, 2, 4, 1});
  tflite::ResizeBilinearParams half_pixels = {false, true};
  ops::ResizeBilinear(half_pixels, in_shape, in.data(), RuntimeShape({2}), size, out_shape,
                      result.data());
  EXPECT_EQ(result, (Floats{0, 2.5f, 7.5f, 10, 20, 22.5f, 27.5f, 30}));
  const std::vector<int8_t> bytes = {0, 10, 20, 30};
  std::vector<int8_t> resized(8);
  ops::ResizeBilinearInteger(tflite::ResizeBilinearParams{true, false}, in_shape, bytes.data(),
                             RuntimeShape({2}), size, out_shape, resized.data());
  EXPECT_EQ(resized, (std::vector<int8_t>{0, 3, 7, 10, 20, 23, 27, 30}));
  ops::ResizeNearestNeighbor(tflite::ResizeNearestNeighborParams{}, in_shape, in.data(),
                             RuntimeShape({2}), size, out_shape, result.data());
  EXPECT_EQ(result, (Floats{0, 0, 10, 10, 20, 20, 30, 30}));
}

TEST(ReferenceDataOpsTest, blocks_move_between_batch_space_and_depth) {
  const Ints in = Count(16);
  const int32_t block[] = {2, 2};
  const int32_t none[] = {0, 0, 0, 0};
  Ints batches(16);
  ops::SpaceToBatchND(tflite::SpaceToBatchParams{0}, RuntimeShape({1, 4, 4, 1}), in.data(),
                      RuntimeShape({2}), block, RuntimeShape({2, 2}), none,
                      RuntimeShape({4, 2, 2, 1}), batches.data());
  EXPECT_EQ(batches, (Ints{0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15}));
  Ints restored(16);
  ops::BatchToSpaceND(RuntimeShape({4, 2, 2, 1}), batches.data(), RuntimeShape({2}), block,
                      RuntimeShape({2, 2}), none, RuntimeShape({1, 4, 4, 1}), restored.data());
  EXPECT_EQ(restored, in);
  Ints deep(16);
  ops::SpaceToDepth(tflite::SpaceToDepthParams{2}, RuntimeShape({1, 4, 4, 1}), in.data(),
                    RuntimeShape({1, 2, 2, 4}), deep.data());
  EXPECT_EQ(deep, (Ints{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
  ops::DepthToSpace(tflite::DepthToSpaceParams{2}, RuntimeShape({1, 2, 2, 4}), deep.data(),
                    RuntimeShape({1, 4, 4, 1}), restored.data());
  EXPECT_EQ(restored, in);
}

TEST(ReferenceDataOpsTest, gather_select_and_arg_max) {
  const Ints indices = {2, 0};
  Ints result(4);
  EXPECT_EQ(ops::Gather(tflite::GatherParams{1, 0}, RuntimeShape({2, 3}), Count(6).data(),
                        RuntimeShape({2}), indices.data(), RuntimeShape({2, 2}), result.data()),
            kTfLiteOk);
  EXPECT_EQ(result, (Ints{2, 0, 5, 3}));
  const Ints invalid = {3};
  EXPECT_EQ(ops::Gather(tflite::GatherParams{1, 0}, RuntimeShape({2, 3}), Count(6).data(),
                        RuntimeShape({1}), invalid.data(), RuntimeShape({2, 1}), result.data()),
            kTfLiteError);
  const bool rows[] = {true, false};
  const Ints ones = {1, 1, 1, 1};
  ops::RankOneSelect(RuntimeShape({2}), rows, RuntimeShape({2, 2}), Count(4).data(),
                     RuntimeShape({2, 2}), ones.data(), RuntimeShape({2, 2}), result.data());
  EXPECT_EQ(result, (Ints{0, 1, 1, 1}));
  ops::BroadcastSelect5DSlow(RuntimeShape({2}), rows, RuntimeShape({2, 2}), Count(4).data(),
                             RuntimeShape({1}), ones.data(), RuntimeShape({2, 2}), result.data());
  EXPECT_EQ(result, (Ints{0, 1, 2, 1}));
  const Floats values = {1, NAN, 7, 7, 3, -1};
  const int32_t axis = -1;
  Ints best(2);
  ops::ArgMax(RuntimeShape({2, 3}), values.data(), &axis, RuntimeShape({2}), best.data());
  EXPECT_EQ(best, (Ints{2, 0}));
  ops::ArgMinMax(RuntimeShape({2, 3}), values.data(), &axis, RuntimeShape({2}), best.data(), false);
  EXPECT_EQ(best, (Ints{0, 2}));
}

TEST(ReferenceDataOpsTest, batch_matmul_of_transposed_right_sides) {
  const Floats left = {1, 2, 3, 4};
  const Floats right = {1, 0, 1, 1};
  Floats result(4);
  ops::BatchMatMul(RuntimeShape({2, 2}), left.data(), RuntimeShape({2, 2}), right.data(),
                   RuntimeShape({2, 2}), result.data());
  EXPECT_EQ(result, (Floats{1, 3, 3, 7}));
}

TEST(ReferenceDataOpsTest, reductions) {
  const int dims[] = {2, 3};
  const int output_dims[] = {3};
  const int axes[] = {-2, 0};
  int index[2];
  int resolved[2];
  Ints result(3);
  EXPECT_TRUE(ops::ReduceGeneric<int32_t>(
      Count(6).data(), dims, 2, result.data(), output_dims, 1, axes, 2, false, index, resolved, 1,
      [](int32_t product, int32_t value) { return product * (value + 1); }));
  EXPECT_EQ(result, (Ints{4, 10, 18}));
  Floats sums(3);
  Floats means(3);
  const Floats real = {0, 1, 2, 3, 4, 5};
  EXPECT_TRUE(ops::Mean(real.data(), dims, 2, means.data(), output_dims, 1, axes, 2, false, index,
                        resolved, sums.data()));
  EXPECT_EQ(means, (Floats{1.5f, 2.5f, 3.5f}));
}

TEST(ReferenceDataOpsTest, small_functions) {
  EXPECT_EQ(ops::FloorDiv(-7, 2), -4);
  EXPECT_EQ(ops::FloorMod(-7, 2), 1);
  EXPECT_EQ(ops::FloorMod(7.5f, -2.0f), -0.5f);
  EXPECT_EQ(ops::RoundToNearest(2.5f), 2.0f);
  EXPECT_EQ(ops::SaturatingLeftShift(20000, 2), 32767);
  tflite::ArithmeticParams params;
  EXPECT_TRUE(
      tflite::ProcessBroadcastShapes(RuntimeShape({2, 1, 5}), RuntimeShape({3, 5}), &params));
  EXPECT_EQ(params.broadcast_category, tflite::BroadcastableOpCategory::kFirstInputBroadcastsFast);
  EXPECT_EQ(params.broadcast_shape[4], 5);
  EXPECT_EQ(params.broadcast_shape[3], 3);
  EXPECT_EQ(params.broadcast_shape[1], 2);
  EXPECT_FALSE(tflite::ProcessBroadcastShapes(RuntimeShape({5}), RuntimeShape({1, 5}), &params));
  std::vector<tflite::half> halves = {1.5f, -0.1f};
  Floats real(2);
  ops::Dequantize(RuntimeShape({2}), halves.data(), RuntimeShape({2}), real.data());
  EXPECT_EQ(real, (Floats{1.5f, -0.0999755859375f}));
}

}  // namespace
}  // namespace deputy::reference_data_ops_test
