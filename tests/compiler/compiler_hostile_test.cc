// SPDX-License-Identifier: Apache-2.0
//
// Passes nodes that no converter writes to the import, without a runtime that would refuse them
// first: each is refused with a message, and no arithmetic overflows (which is detected in
// sanitizer builds).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "compiler/import.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

namespace deputy::compiler::compiler_hostile_test {
namespace {

using testing::HasSubstr;

constexpr int kMost = std::numeric_limits<int>::max();
constexpr int kLeast = std::numeric_limits<int>::min();

// A node and its tensors, with a context for them alone.
class HandNode {
 public:
  explicit HandNode(TfLiteBuiltinOperator code) {
    registration_.builtin_code = code;
    registration_.version = 1;
    context_.impl_ = this;
    context_.GetNodeAndRegistration = [](TfLiteContext* context, int, TfLiteNode** node,
                                         TfLiteRegistration** registration) {
      auto* self = static_cast<HandNode*>(context->impl_);
      *node = &self->node_;
      *registration = &self->registration_;
      return kTfLiteOk;
    };
  }
  HandNode(const HandNode&) = delete;
  HandNode& operator=(const HandNode&) = delete;
  ~HandNode() {
    for (TfLiteIntArray* array : arrays_) free(array);
  }

  HandNode& Input(TfLiteType type, const std::vector<int>& shape) {
    AddTensor(type, shape);
    inputs_.push_back(static_cast<int>(tensors_.size()) - 1);
    return *this;
  }
  HandNode& Ints(const std::vector<int>& numbers) {
    return Constant(kTfLiteInt32, {static_cast<int>(numbers.size())}, numbers);
  }
  template <typename T>
  HandNode& Constant(TfLiteType type, const std::vector<int>& shape,
                     const std::vector<T>& contents) {
    Input(type, shape);
    std::vector<char>& kept = contents_.emplace_back(contents.size() * sizeof(T) + 1);
    if (!contents.empty()) memcpy(kept.data(), contents.data(), contents.size() * sizeof(T));
    TfLiteTensor& tensor = tensors_.back();
    tensor.allocation_type = kTfLiteMmapRo;
    tensor.data.raw = kept.data();
    tensor.bytes = contents.size() * sizeof(T);
    return *this;
  }
  HandNode& Output(TfLiteType type) {
    AddTensor(type, {});
    tensors_.back().name = "result";
    outputs_.push_back(static_cast<int>(tensors_.size()) - 1);
    return *this;
  }
  // Sets the last tensor's scales along an axis.
  HandNode& Scales(const std::vector<float>& scales, int axis) {
    auto* array = static_cast<TfLiteFloatArray*>(
        malloc(sizeof(TfLiteFloatArray) + scales.size() * sizeof(float)));
    array->size = static_cast<int>(scales.size());
    memcpy(array->data, scales.data(), scales.size() * sizeof(float));
    arrays_.push_back(reinterpret_cast<TfLiteIntArray*>(array));
    affine_.push_back({array, nullptr, axis});
    tensors_.back().quantization = {kTfLiteAffineQuantization, &affine_.back()};
    tensors_.back().params = {scales[0], 0};
    return *this;
  }
  HandNode& Custom(const char* name, const std::string& options) {
    registration_.custom_name = name;
    options_ = options;
    node_.custom_initial_data = options_.data();
    node_.custom_initial_data_size = static_cast<int>(options_.size());
    return *this;
  }
  template <typename Params>
  HandNode& With(Params params) {
    static_assert(sizeof params <= sizeof params_);
    memcpy(params_, &params, sizeof params);
    return *this;
  }

  HandNode& WithoutOptions() {
    has_options_ = false;
    return *this;
  }

  std::string Checked() {
    Finish();
    const auto refusal = CheckNode(&context_, 0, node_, registration_);
    return refusal ? std::to_string(refusal->reason) + " " + refusal->text : "";
  }
  std::string Imported() {
    Finish();
    TfLiteDelegateParams params{};
    params.nodes_to_replace = Array({0});
    params.input_tensors = node_.inputs;
    params.output_tensors = node_.outputs;
    const auto refusal = Import(&context_, params, &graph);
    return refusal ? std::to_string(refusal->reason) + " " + refusal->text : "";
  }

  Graph graph;

 private:
  void AddTensor(TfLiteType type, const std::vector<int>& shape) {
    TfLiteTensor tensor{};
    tensor.type = type;
    tensor.name = "x";
    tensor.dims = Array(shape);
    tensor.allocation_type = kTfLiteArenaRw;
    tensors_.push_back(tensor);
  }
  TfLiteIntArray* Array(const std::vector<int>& numbers) {
    auto* array =
        static_cast<TfLiteIntArray*>(malloc(sizeof(TfLiteIntArray) + numbers.size() * sizeof(int)));
    array->size = static_cast<int>(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) array->data[i] = numbers[i];
    arrays_.push_back(array);
    return array;
  }
  void Finish() {
    context_.tensors = tensors_.data();
    context_.tensors_size = tensors_.size();
    node_.inputs = Array(inputs_);
    node_.outputs = Array(outputs_);
    node_.builtin_data = has_options_ ? params_ : nullptr;
  }

  TfLiteContext context_{};
  TfLiteRegistration registration_{};
  TfLiteNode node_{};
  std::vector<TfLiteTensor> tensors_;
  std::vector<int> inputs_, outputs_;
  std::deque<std::vector<char>> contents_;
  std::deque<TfLiteAffineQuantization> affine_;
  std::vector<TfLiteIntArray*> arrays_;
  std::string options_;
  alignas(8) char params_[256] = {};
  bool has_options_ = true;
};

// Expects the same refusal from the support query and from the import.
void ExpectRefused(HandNode* node, const std::string& text) {
  EXPECT_THAT(node->Checked(), HasSubstr(text));
  EXPECT_THAT(node->Imported(), HasSubstr(text));
}

// ---- Inputs -------------------------------------------------------------------------------------

TEST(HostileInputs, with_too_many_elements_are_refused) {
  HandNode node(kTfLiteBuiltinAbs);
  node.Input(kTfLiteFloat32, {65536, 65536}).Output(kTfLiteFloat32);
  ExpectRefused(&node,
                "4 ABS: tensor 0 'x': expected at most 1073741824 elements, found "
                "[65536,65536]");
  HandNode negative(kTfLiteBuiltinAbs);
  negative.Input(kTfLiteFloat32, {2, -1}).Output(kTfLiteFloat32);
  ExpectRefused(&negative, "found [2,-1]");
  // A tensor without elements, whose strides would nevertheless overflow.
  HandNode empty(kTfLiteBuiltinAbs);
  empty.Input(kTfLiteFloat32, {0, kMost, kMost, kMost, kMost}).Output(kTfLiteFloat32);
  ExpectRefused(&empty, "expected at most 1073741824 elements");
  HandNode deep(kTfLiteBuiltinAbs);
  deep.Input(kTfLiteFloat32, std::vector<int>(33, 1)).Output(kTfLiteFloat32);
  ExpectRefused(&deep, "expected at most 32 axes, found 33");
  HandNode largest(kTfLiteBuiltinAbs);
  largest.Input(kTfLiteFloat32, {32768, 32768}).Output(kTfLiteFloat32);
  EXPECT_EQ(largest.Checked(), "");
  EXPECT_EQ(largest.Imported(), "");
}

TEST(HostileInputs, with_missing_contents_are_refused) {
  HandNode node(kTfLiteBuiltinAbs);
  node.Constant<float>(kTfLiteFloat32, {4}, {1, 2}).Output(kTfLiteFloat32);
  ExpectRefused(&node, "ABS: tensor 0 'x': expected 16 bytes, found 8");
}

TEST(HostileInputs, without_a_scale_per_channel_are_refused) {
  for (const int axis : {-1, 0, 1, 4}) {
    HandNode node(kTfLiteBuiltinDequantize);
    node.Constant<int8_t>(kTfLiteInt8, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}).Scales({1, 2, 3}, axis);
    node.Output(kTfLiteFloat32);
    ExpectRefused(
        &node,
        "DEQUANTIZE: tensor 0 'x': expected one scale or one per channel, found 3 scales for ");
  }
  // The filter of four output channels has two scales along its last axis: for the bias, the import
  // would read beyond these scales.
  HandNode conv(kTfLiteBuiltinConv2d);
  conv.Input(kTfLiteInt8, {1, 2, 2, 2}).Scales({1}, 0);
  conv.Constant<int8_t>(kTfLiteInt8, {4, 1, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}).Scales({1, 2}, 3);
  conv.Ints({1, 2, 3, 4}).Output(kTfLiteInt8).Scales({1}, 0);
  conv.With(TfLiteConvParams{kTfLitePaddingSame, 1, 1, kTfLiteActNone, 1, 1, kTfLiteNoType});
  ExpectRefused(&conv, "CONV_2D: tensor 1 'x': unsupported axis of scales: 2 scales along axis 3");
}

TEST(HostileNodes, with_wrong_inputs_or_outputs_are_refused) {
  HandNode none(kTfLiteBuiltinAbs);
  none.Input(kTfLiteFloat32, {2});
  ExpectRefused(&none, "ABS: expected an output, found none");
  HandNode two(kTfLiteBuiltinAbs);
  two.Input(kTfLiteFloat32, {2}).Output(kTfLiteFloat32).Output(kTfLiteFloat32);
  ExpectRefused(&two, "ABS: expected 1 outputs, found 2");
  for (const auto code : {kTfLiteBuiltinAddN, kTfLiteBuiltinPack, kTfLiteBuiltinConcatenation}) {
    HandNode lonely(code);
    lonely.Output(kTfLiteFloat32);
    EXPECT_NE(lonely.Checked(), "");
    EXPECT_NE(lonely.Imported(), "");
  }
}

TEST(HostileNodes, without_options_are_refused) {
  HandNode conv(kTfLiteBuiltinConv2d);
  conv.Input(kTfLiteFloat32, {1, 2, 2, 2}).Constant<float>(kTfLiteFloat32, {1, 1, 1, 2}, {1, 2});
  conv.Output(kTfLiteFloat32).WithoutOptions();
  ExpectRefused(&conv, "6 CONV_2D: expected options, found none");
  for (const auto code : {kTfLiteBuiltinAdd, kTfLiteBuiltinDiv, kTfLiteBuiltinConcatenation}) {
    HandNode two(code);
    two.Input(kTfLiteFloat32, {2, 2}).Input(kTfLiteFloat32, {2, 2}).Output(kTfLiteFloat32);
    two.WithoutOptions();
    ExpectRefused(&two, "expected options, found none");
  }
  for (const auto code : {kTfLiteBuiltinMaxPool2d, kTfLiteBuiltinSoftmax, kTfLiteBuiltinSqueeze,
                          kTfLiteBuiltinReshape, kTfLiteBuiltinGelu, kTfLiteBuiltinDepthToSpace}) {
    HandNode one(code);
    one.Input(kTfLiteFloat32, {1, 2, 2, 4}).Output(kTfLiteFloat32).WithoutOptions();
    ExpectRefused(&one, "expected options, found none");
  }
  // For every operator and number of inputs, only existing tensors are read.
  for (const ImportedOperator& op : ImportedOperators()) {
    for (int inputs = 1; inputs <= 4; ++inputs) {
      HandNode node(op.code);
      for (int i = 0; i < inputs; ++i) {
        if (i == 1) {
          node.Ints({1, 2, 2, 1});
        } else {
          node.Input(kTfLiteFloat32, {1, 2, 2, 1});
        }
      }
      node.Output(kTfLiteFloat32).WithoutOptions();
      EXPECT_EQ(node.Checked(), node.Imported()) << op.name;
    }
  }
}

// ---- Growing shapes -----------------------------------------------------------------------------

// A size beyond the limits is reported with the tensor that would have it.
constexpr const char* kTooLarge = "'result': expected at most 1073741824 elements, found [";

TEST(HostileShapes, of_tile_are_refused) {
  for (const std::vector<int>& times :
       std::vector<std::vector<int>>{{65536, 65536}, {kMost, kMost}, {1 << 30, 1}}) {
    HandNode node(kTfLiteBuiltinTile);
    node.Input(kTfLiteFloat32, {2, 2}).Ints(times).Output(kTfLiteFloat32);
    ExpectRefused(&node, "TILE: tensor 2 " + std::string(kTooLarge));
  }
  HandNode empty(kTfLiteBuiltinTile);
  empty.Input(kTfLiteFloat32, {0, 0}).Ints({kMost, kMost}).Output(kTfLiteFloat32);
  ExpectRefused(&empty, kTooLarge);
  HandNode fill(kTfLiteBuiltinFill);
  fill.Ints({kMost, kMost, kMost}).Constant<float>(kTfLiteFloat32, {}, {1}).Output(kTfLiteFloat32);
  ExpectRefused(&fill, kTooLarge);
  HandNode to(kTfLiteBuiltinBroadcastTo);
  to.Input(kTfLiteFloat32, {1}).Ints({kMost, kMost, kMost}).Output(kTfLiteFloat32);
  ExpectRefused(&to, kTooLarge);
}

TEST(HostileShapes, of_padding_are_refused) {
  for (const auto code : {kTfLiteBuiltinPad, kTfLiteBuiltinMirrorPad}) {
    HandNode node(code);
    node.Input(kTfLiteFloat32, {2, 2})
        .Constant<int>(kTfLiteInt32, {2, 2}, {kMost, kMost, 1, kMost});
    node.Output(kTfLiteFloat32);
    ExpectRefused(&node, kTooLarge);
  }
  // The copy would have 3^19 regions.
  HandNode mirror(kTfLiteBuiltinMirrorPad);
  mirror.Input(kTfLiteFloat32, std::vector<int>(19, 1)).Ints(std::vector<int>(38, 1));
  mirror.Output(kTfLiteFloat32);
  ExpectRefused(&mirror, "expected 0 to 8 axes, found 19");
}

TEST(HostileShapes, of_concatenation_and_pack_are_refused) {
  HandNode node(kTfLiteBuiltinConcatenation);
  for (int n = 0; n < 4; ++n) node.Input(kTfLiteInt8, {1 << 29, 2});
  node.Output(kTfLiteInt8).With(TfLiteConcatenationParams{0, kTfLiteActNone});
  ExpectRefused(&node, "CONCATENATION: tensor 4 " + std::string(kTooLarge));
  HandNode pack(kTfLiteBuiltinPack);
  for (int n = 0; n < 4; ++n) pack.Input(kTfLiteInt8, {1 << 29, 2});
  pack.Output(kTfLiteInt8).With(TfLitePackParams{4, 1});
  ExpectRefused(&pack, kTooLarge);
}

TEST(HostileShapes, of_space_to_depth_and_batch_are_refused) {
  HandNode to_depth(kTfLiteBuiltinSpaceToDepth);
  to_depth.Input(kTfLiteFloat32, {1, 0, 0, 2}).Output(kTfLiteFloat32);
  to_depth.With(TfLiteSpaceToDepthParams{65536});
  ExpectRefused(&to_depth, kTooLarge);
  HandNode to_space(kTfLiteBuiltinDepthToSpace);
  to_space.Input(kTfLiteFloat32, {1, 1 << 28, 1, 0}).Output(kTfLiteFloat32);
  to_space.With(TfLiteDepthToSpaceParams{1024});
  ExpectRefused(&to_space, kTooLarge);
  for (const int border : {0, kMost}) {
    HandNode to_batch(kTfLiteBuiltinSpaceToBatchNd);
    to_batch.Input(kTfLiteFloat32, {2, 0, 0, 1}).Ints({1 << 29, 1 << 29});
    to_batch.Constant<int>(kTfLiteInt32, {2, 2}, {border, 1, 0, 0}).Output(kTfLiteFloat32);
    EXPECT_NE(to_batch.Checked(), "");
    EXPECT_NE(to_batch.Imported(), "");
  }
  HandNode from_batch(kTfLiteBuiltinBatchToSpaceNd);
  from_batch.Input(kTfLiteFloat32, {0, 4, 4, 1}).Ints({65536, 65536});
  from_batch.Constant<int>(kTfLiteInt32, {2, 2}, {kMost, kMost, 0, 0}).Output(kTfLiteFloat32);
  ExpectRefused(&from_batch, "BATCH_TO_SPACE_ND: ");
}

TEST(HostileShapes, of_broadcasts_and_products_are_refused) {
  HandNode sum(kTfLiteBuiltinAdd);
  sum.Input(kTfLiteFloat32, {65536, 1}).Input(kTfLiteFloat32, {1, 65536}).Output(kTfLiteFloat32);
  ExpectRefused(&sum, "ADD: tensor 2 " + std::string(kTooLarge));
  HandNode choice(kTfLiteBuiltinSelectV2);
  choice.Input(kTfLiteBool, {1 << 30, 1, 1, 1}).Input(kTfLiteFloat32, {1, 1 << 30, 1, 1});
  choice.Input(kTfLiteFloat32, {1, 1, 1 << 30, 1 << 0}).Output(kTfLiteFloat32);
  ExpectRefused(&choice, kTooLarge);
  HandNode product(kTfLiteBuiltinBatchMatmul);
  product.Input(kTfLiteFloat32, {65536, 1}).Input(kTfLiteFloat32, {1, 65536});
  product.Output(kTfLiteFloat32);
  ExpectRefused(&product, kTooLarge);
  HandNode row(kTfLiteBuiltinBatchMatmul);
  row.Input(kTfLiteFloat32, {2, 3}).Input(kTfLiteFloat32, {3}).Output(kTfLiteFloat32);
  row.With(TfLiteBatchMatMulParams{});
  ExpectRefused(&row, "expected 2 to 8 axes, found 1");
  HandNode connected(kTfLiteBuiltinFullyConnected);
  connected.Input(kTfLiteFloat32, {1 << 20, 1}).Input(kTfLiteFloat32, {1 << 20, 1});
  connected.Output(kTfLiteFloat32).With(TfLiteFullyConnectedParams{});
  ExpectRefused(&connected, kTooLarge);
  HandNode hot(kTfLiteBuiltinOneHot);
  hot.Input(kTfLiteInt32, {1 << 20}).Ints({kMost}).Constant<float>(kTfLiteFloat32, {}, {1});
  hot.Constant<float>(kTfLiteFloat32, {}, {0}).Output(kTfLiteFloat32);
  hot.With(TfLiteOneHotParams{-1});
  ExpectRefused(&hot, kTooLarge);
  HandNode resized(kTfLiteBuiltinResizeNearestNeighbor);
  resized.Input(kTfLiteFloat32, {1, 1, 1, 1}).Ints({kMost, kMost}).Output(kTfLiteFloat32);
  ExpectRefused(&resized, kTooLarge);
}

TEST(HostileShapes, of_shape_operands_are_refused) {
  const std::vector<int> kHuge(20, kMost);
  HandNode reshaped(kTfLiteBuiltinReshape);
  reshaped.Input(kTfLiteFloat32, {2}).Ints(kHuge).Output(kTfLiteFloat32);
  ExpectRefused(&reshaped, "RESHAPE: the element count differs from the input's");
  HandNode deep(kTfLiteBuiltinReshape);
  deep.Input(kTfLiteFloat32, {2}).Ints(std::vector<int>(1000, 1)).Output(kTfLiteFloat32);
  EXPECT_NE(deep.Checked(), "");
  HandNode slice(kTfLiteBuiltinSlice);
  slice.Input(kTfLiteFloat32, {2}).Ints({kLeast}).Ints({-1}).Output(kTfLiteFloat32);
  ExpectRefused(&slice, "SLICE: the slice exceeds axis 0");
  HandNode split(kTfLiteBuiltinSplitV);
  split.Input(kTfLiteFloat32, {2}).Ints({kMost, kMost, -1}).Ints({0});
  split.Output(kTfLiteFloat32).Output(kTfLiteFloat32).Output(kTfLiteFloat32);
  ExpectRefused(&split, "the sizes of the parts do not add up to the extent of the axis");
}

// ---- Windows ------------------------------------------------------------------------------------

TfLiteConvParams Strides(int stride, int dilation) {
  return {kTfLitePaddingSame, stride, stride, kTfLiteActNone, dilation, dilation, kTfLiteNoType};
}

TEST(HostileWindows, with_too_large_extents_are_refused) {
  for (const auto& [stride, dilation] :
       std::vector<std::pair<int, int>>{{kMost, 1}, {1, kMost}, {kMost, kMost}}) {
    HandNode conv(kTfLiteBuiltinConv2d);
    conv.Input(kTfLiteFloat32, {1, 4, 4, 1}).Input(kTfLiteFloat32, {1, 3, 3, 1});
    conv.Output(kTfLiteFloat32).With(Strides(stride, dilation));
    ExpectRefused(&conv,
                  "4 CONV_2D: expected image, window, stride and dilation within 268435456 "
                  "pixels, found an image of 4x4, a window of 3x3");
  }
  HandNode spread(kTfLiteBuiltinTransposeConv);
  spread.Ints({1, kMost, kMost, 1}).Input(kTfLiteFloat32, {1, 3, 3, 1});
  spread.Input(kTfLiteFloat32, {1, 1, 1, 1}).Output(kTfLiteFloat32);
  spread.With(
      TfLiteTransposeConvParams{kTfLitePaddingSame, kMost, kMost, kTfLiteActNone, kTfLiteNoType});
  ExpectRefused(&spread, "TRANSPOSE_CONV: ");
  HandNode pool(kTfLiteBuiltinMaxPool2d);
  pool.Input(kTfLiteFloat32, {1, 4, 4, 1}).Output(kTfLiteFloat32);
  pool.With(TfLitePoolParams{kTfLitePaddingSame, 1, 1, kMost, kMost, kTfLiteActNone, {}});
  ExpectRefused(&pool, "a window of 2147483647x2147483647");
}

TEST(HostileWindows, of_a_custom_operator_are_checked) {
  const std::string kOptions[] = {"", std::string(11, '\1'), std::string(12, '\x7f')};
  for (const std::string& options : kOptions) {
    HandNode node(kTfLiteBuiltinCustom);
    node.Custom("Convolution2DTransposeBias", options);
    node.Input(kTfLiteFloat32, {1, 4, 4, 2}).Input(kTfLiteFloat32, {3, 2, 2, 2});
    node.Input(kTfLiteFloat32, {3}).Output(kTfLiteFloat32);
    ExpectRefused(&node, "Convolution2DTransposeBias: ");
  }
  const int kFar[] = {kTfLitePaddingSame, kMost, kMost};
  HandNode far(kTfLiteBuiltinCustom);
  far.Custom("Convolution2DTransposeBias", {reinterpret_cast<const char*>(kFar), sizeof kFar});
  far.Input(kTfLiteFloat32, {1, 4, 4, 2}).Input(kTfLiteFloat32, {3, 2, 2, 2});
  far.Input(kTfLiteFloat32, {3}).Output(kTfLiteFloat32);
  ExpectRefused(&far, "expected image, window, stride and dilation within 268435456 pixels");
}

// A window that extends far beyond the image is reduced to its overlap: 3 rows before and 3 after
// each position cover the whole image of 4 rows.
TEST(HostileWindows, of_pools_are_clipped_to_the_image) {
  HandNode pool(kTfLiteBuiltinAveragePool2d);
  pool.Input(kTfLiteFloat32, {1, 4, 4, 1}).Output(kTfLiteFloat32);
  pool.With(TfLitePoolParams{kTfLitePaddingSame, 1, 1, 1, 100001, kTfLiteActNone, {}});
  ASSERT_EQ(pool.Imported(), "");
  const auto& window = std::get<Pool2d>(pool.graph.operations[0].kind).window;
  EXPECT_EQ(window.width, 1);
  EXPECT_EQ(window.height, 7);
  EXPECT_EQ(window.top, 3);
}

}  // namespace
}  // namespace deputy::compiler::compiler_hostile_test
