// SPDX-License-Identifier: Apache-2.0
//
// Tests the conversion of constants and quantised dimensions from NHWC to NCHW, compared with loops
// over all indices.
#include "core/delegation/layout_rules.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "c_api/include/builtin_ops.h"
#include "kernels/registry.h"
#include "tests/support/hand_graph.h"

namespace deputy::layout_rules_test {
namespace {

using Dims = std::vector<int>;

// A constant whose byte i is 7 i modulo 256.
struct Constant {
  Constant(TfLiteType type, const Dims& dims, size_t element_bytes) : array(IntArrayOf(dims)) {
    size_t bytes = element_bytes;
    for (const int dim : dims) bytes *= static_cast<size_t>(dim);
    for (size_t i = 0; i < bytes; ++i) contents.push_back(static_cast<char>(i * 7));
    tensor.type = type;
    tensor.dims = array;
    tensor.bytes = bytes;
    tensor.allocation_type = kTfLiteMmapRo;
    tensor.data.raw = contents.data();
  }
  ~Constant() { TfLiteIntArrayFree(array); }
  Constant(const Constant&) = delete;
  Constant& operator=(const Constant&) = delete;

  TfLiteIntArray* const array;
  std::vector<char> contents;
  TfLiteTensor tensor{};
};

TEST(LayoutRules, constants_are_transposed) {
  struct Type {
    TfLiteType type;
    size_t bytes;
  };
  for (const Type type :
       {Type{kTfLiteInt8, 1}, {kTfLiteFloat16, 2}, {kTfLiteFloat32, 4}, {kTfLiteInt64, 8}}) {
    for (const Dims& dims : {Dims{2, 3, 4, 5},
                             {1, 1, 1, 5},
                             {1, 3, 2, 1},
                             {3, 4, 5},
                             {4, 5},
                             {5},
                             {2, 1, 4, 3},
                             {0, 3, 4, 5}}) {
      const Constant source(type.type, dims, type.bytes);
      Dims found;
      Block data;
      ASSERT_TRUE(ConvertConstant(source.tensor, InputChange::kConstant, Limits(), &found, &data));
      Dims nhwc(4 - dims.size(), 1);
      nhwc.insert(nhwc.end(), dims.begin(), dims.end());
      EXPECT_EQ(found, (Dims{nhwc[0], nhwc[3], nhwc[1], nhwc[2]}));
      const char* const bytes = data.data() == nullptr ? source.contents.data() : data.data();
      size_t at = 0;
      for (int n = 0; n < nhwc[0]; ++n) {
        for (int y = 0; y < nhwc[1]; ++y) {
          for (int x = 0; x < nhwc[2]; ++x) {
            for (int c = 0; c < nhwc[3]; ++c, ++at) {
              const auto to = static_cast<size_t>(((n * nhwc[3] + c) * nhwc[1] + y) * nhwc[2] + x);
              ASSERT_EQ(
                  memcmp(bytes + to * type.bytes, &source.contents[at * type.bytes], type.bytes), 0)
                  << at;
            }
          }
        }
      }
    }
  }
}

TEST(LayoutRules, entries_per_dimension_are_permuted) {
  for (const Dims& dims : {Dims{4}, Dims{4, 2}}) {
    for (const size_t size : {sizeof(int32_t), sizeof(int64_t)}) {
      const Constant source(size == 4 ? kTfLiteInt32 : kTfLiteInt64, dims, size);
      Dims found;
      Block data;
      ASSERT_TRUE(
          ConvertConstant(source.tensor, InputChange::kPerDimension, Limits(), &found, &data));
      EXPECT_EQ(found, dims);
      const size_t group = source.tensor.bytes / 4;
      const size_t from[] = {0, 3, 1, 2};
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(memcmp(data.data() + i * group, &source.contents[from[i] * group], group), 0);
      }
    }
  }
}

TEST(LayoutRules, axes_are_mapped) {
  Constant source(kTfLiteInt32, {8}, 4);
  const int32_t axes[] = {0, 1, 2, 3, -4, -3, -2, -1}, expected[] = {0, 2, 3, 1, 0, 2, 3, 1};
  memcpy(source.contents.data(), axes, sizeof axes);
  Dims found;
  Block data;
  ASSERT_TRUE(ConvertConstant(source.tensor, InputChange::kAxes, Limits(), &found, &data));
  EXPECT_EQ(memcmp(data.data(), expected, sizeof expected), 0);
}

TEST(LayoutRules, a_refused_allocation_is_reported) {
  const Constant source(kTfLiteFloat32, {2, 3, 4, 5}, 4);
  Dims found;
  Block data;
  Limits limits;
  limits.max_block_bytes = 479;
  EXPECT_FALSE(ConvertConstant(source.tensor, InputChange::kConstant, limits, &found, &data));
}

TEST(LayoutRules, masks_and_axes_of_parameters_are_converted) {
  TfLiteStridedSliceParams slice{};
  slice.begin_mask = 0b1010;
  slice.end_mask = 0b0100;
  slice.offset = true;
  TfLiteNode node{};
  node.builtin_data = &slice;
  auto* const sliced = static_cast<TfLiteStridedSliceParams*>(
      ConvertParams(node, *FindLayoutRule(kTfLiteBuiltinStridedSlice)));
  EXPECT_EQ(sliced->begin_mask, 0b0110);
  EXPECT_EQ(sliced->end_mask, 0b1000);
  EXPECT_TRUE(sliced->offset);
  free(sliced);
  const int expected[] = {0, 2, 3, 1, 0, 2, 3, 1};
  for (int axis = -4; axis < 4; ++axis) {
    TfLiteConcatenationParams params{axis, kTfLiteActRelu};
    node.builtin_data = &params;
    auto* const found = static_cast<TfLiteConcatenationParams*>(
        ConvertParams(node, *FindLayoutRule(kTfLiteBuiltinConcatenation)));
    EXPECT_EQ(found->axis, expected[axis + 4]) << axis;
    EXPECT_EQ(found->activation, kTfLiteActRelu);
    free(found);
  }
}

// The copy of the parameters is as large as the struct that the operator's parser fills.
TEST(LayoutRules, sizes_of_parameters_are_those_of_the_kernels) {
  int rules = 0;
  for (int code = 0; code <= 210; ++code) {
    const LayoutRule* const rule = FindLayoutRule(code);
    if (rule == nullptr) continue;
    ++rules;
    const OpDef* const def = FindBuiltinAnyVersion(static_cast<TfLiteBuiltinOperator>(code));
    ASSERT_NE(def, nullptr) << code;
    EXPECT_EQ(rule->params_size, def->params_size) << def->name;
  }
  EXPECT_EQ(rules, 79);
}

}  // namespace
}  // namespace deputy::layout_rules_test
