// SPDX-License-Identifier: Apache-2.0
//
// Operator cases of CONV_3D and CONV_3D_TRANSPOSE. The options of a row are padding, strides and
// dilations along depth, height and width.
#include "tests/cases/node.h"

namespace deputy {
namespace {

using Options = std::vector<int32_t>;

constexpr int32_t kConv3dSame = 0, kConv3dValid = 1;
constexpr TfLiteType kFloat = kTfLiteFloat32;

NodeRow Conv(const Shape& input, const Shape& filter, const Options& options,
             const char* refusal = "") {
  return {kTfLiteBuiltinConv3d,
          "CONV_3D",
          {{kFloat, input}, {kFloat, filter, {}, true}, {kFloat, {filter[4]}, {}, true}},
          {kFloat},
          refusal,
          false,
          options,
          Rule::kSum};
}

NodeRow Transpose(const std::vector<double>& shape, const Shape& filter, const Shape& input,
                  const Options& options, const char* refusal = "") {
  return {kTfLiteBuiltinConv3dTranspose,
          "CONV_3D_TRANSPOSE",
          {{kTfLiteInt32, {static_cast<int32_t>(shape.size())}, shape},
           {kFloat, filter, {}, true},
           {kFloat, input},
           {kFloat, {filter[3]}, {}, true}},
          {kFloat},
          refusal,
          false,
          options,
          Rule::kSum};
}

const Options kPlain = {kConv3dValid, 1, 1, 1, 1, 1, 1};

const NodeRow kConv3dRows[] = {
    Conv({2, 3, 4, 5, 3}, {2, 2, 3, 3, 7}, kPlain),
    Conv({1, 5, 6, 7, 2}, {3, 2, 1, 2, 4}, {kConv3dSame, 2, 1, 3, 1, 2, 1}),
    Conv({1, 2, 2, 2, 2}, {4, 4, 4, 2, 1}, kPlain, "expected an input of 4 or more"),
    Conv({1, 3, 4, 5, 3}, {2, 2, 3, 3, 7}, {kConv3dSame, 0, 1, 1, 1, 1, 1},
         "depth: expected filter"),
    Conv({1, 3, 4, 5, 3}, {2, 2, 3, 3, 7}, {kConv3dSame, 1, 1, -1, 1, 1, 1},
         "width: expected filter"),
    Conv({1, 3, 4, 5, 3}, {2, 2, 3, 3, 7}, {kConv3dSame, 1, 1, 1, 1, 0, 1},
         "height: expected filter"),
    Conv({1, 3, 4, 5, 3}, {2, 2, 3, 2, 7}, kPlain, "expected dimension 3 to be 3, found 2"),
    Conv({1, 3, 0, 5, 3}, {2, 2, 3, 3, 7}, kPlain, "expected dimension 2 to be 1 or more"),
    Conv({3, 4, 5, 3}, {2, 2, 3, 3, 7}, kPlain, "expected 5 dimensions, found 4"),
    Transpose({2, 4, 5, 6, 3}, {2, 2, 3, 3, 5}, {2, 3, 4, 4, 5}, kPlain),
    Transpose({1, 5, 7, 6, 3}, {3, 1, 2, 3, 2}, {1, 3, 7, 2, 2}, {kConv3dSame, 2, 1, 3, 1, 1, 1}),
    Transpose({1, 5, 7, 6, 3}, {2, 2, 2, 3, 2}, {1, 3, 5, 4, 2}, {kConv3dValid, 1, 1, 1, 2, 2, 2}),
    Transpose({1, 4, 5, 6, 3}, {2, 2, 3, 3, 5}, {1, 3, 4, 5, 5}, kPlain, "dimension 3 to be 4"),
    Transpose({2, 4, 5, 6, 3}, {2, 2, 3, 3, 5}, {1, 3, 4, 4, 5}, kPlain, "expected 1 batches"),
    Transpose({1, 4, 5, 6, 2}, {2, 2, 3, 3, 5}, {1, 3, 4, 4, 5}, kPlain, "and 3 channels"),
    Transpose({1, -4, 5, 6, 3}, {2, 2, 3, 3, 5}, {1, 3, 4, 4, 5}, kPlain, "would be -4"),
    Transpose({1, INT32_MAX, 5, 6, 3}, {2, 2, 3, 3, 5}, {1, 3, 4, 4, 5}, kPlain, "dimension 1"),
    Transpose({1, 4, 5, 6}, {2, 2, 3, 3, 5}, {1, 3, 4, 4, 5}, kPlain, "expected 5 elements"),
    Transpose({1, 4, 5, 6, 3}, {2, 2, 3, 3, 5}, {1, 3, 4, 4, 5}, {kConv3dSame, 0, 1, 1, 1, 1, 1},
              "depth: expected filter"),
};

void AddConv(ModelBuilder* builder, const NodeRow& row, const std::vector<int32_t>& inputs,
             const std::vector<int32_t>& outputs) {
  const Options& o = row.options;
  builder->AddOp(
      row.code, inputs, outputs,
      schema::CreateConv3DOptions(builder->fbb(), static_cast<schema::Padding>(o[0]), o[1], o[3],
                                  o[2], schema::ActivationFunctionType::RELU6, o[4], o[6], o[5]));
}

}  // namespace

std::vector<OpCase> Conv3dCases() { return NodeCases(kConv3dRows, AddConv); }

}  // namespace deputy
