// SPDX-License-Identifier: Apache-2.0
//
// Tests the parameters in node->builtin_data: for every builtin operator the size of its struct,
// and for every field of the options the member of the struct that receives it. The models are
// written through the schema, so that a wrong union member is also detected. The sizes are literals
// from the ABI, not sizeof.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "c_api/include/builtin_op_data.h"
#include "core/base/flatbuffers_access.h"
#include "core/kernel_api/op_def.h"
#include "kernels/registry.h"
#include "tests/support/model_builder.h"
#include "tests/support/test_interpreter.h"

namespace deputy {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr auto kRelu6 = schema::ActivationFunctionType::RELU6;
constexpr auto kValid = schema::Padding::VALID;

// One operator with options, and the expected parameters.
struct Row {
  TfLiteBuiltinOperator code;
  size_t size;
  std::function<void(ModelBuilder*)> add;   // adds the operator, with options, to a model
  std::function<void(const void*)> expect;  // checks the parameters
};

template <typename Params, typename Build, typename Expect>
Row MakeRow(TfLiteBuiltinOperator code, size_t size, Build build, Expect expect) {
  return {code, size, [=](ModelBuilder* m) { m->AddOp(code, {0}, {1}, build(m->fbb())); },
          [=](const void* params) { expect(*static_cast<const Params*>(params)); }};
}

std::vector<uint8_t> ModelOf(const std::function<void(ModelBuilder*)>& add) {
  ModelBuilder m;
  m.AddTensor(kTfLiteFloat32, {2}, "x");
  m.AddTensor(kTfLiteFloat32, {2}, "y");
  add(&m);
  m.SetInputs({0});
  m.SetOutputs({1});
  return m.Finish();
}

// Returns the options of the model's only operator, as core/model/model.cc passes them to a parser.
OpOptions OptionsOf(const std::vector<uint8_t>& model) {
  const schema::Operator& op =
      *schema::GetModel(model.data())->subgraphs()->Get(0)->operators()->Get(0);
  if (op.builtin_options() != nullptr) {
    return OpOptions({1, static_cast<uint8_t>(op.builtin_options_type())}, op.builtin_options());
  }
  if (op.builtin_options_2() != nullptr) {
    return OpOptions({2, static_cast<uint8_t>(op.builtin_options_2_type())},
                     op.builtin_options_2());
  }
  return OpOptions();
}

using Bytes = std::unique_ptr<void, decltype(&free)>;

// Returns zeroed memory of exactly the operator's size, so that AddressSanitizer detects writes
// beyond it.
Bytes ZeroedParams(const OpDef& op) { return Bytes(calloc(1, op.params_size), &free); }

void AddActivationRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteAddParams>(
      kTfLiteBuiltinAdd, 8, [](auto& f) { return schema::CreateAddOptions(f, kRelu6, false); },
      [](const auto& p) {
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_FALSE(p.pot_scale_int16);
      }));
  rows->push_back(MakeRow<TfLiteSubParams>(
      kTfLiteBuiltinSub, 8, [](auto& f) { return schema::CreateSubOptions(f, kRelu6); },
      [](const auto& p) {
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_TRUE(p.pot_scale_int16);  // the schema's default
      }));
  rows->push_back(MakeRow<TfLiteMulParams>(
      kTfLiteBuiltinMul, 4, [](auto& f) { return schema::CreateMulOptions(f, kRelu6); },
      [](const auto& p) { EXPECT_EQ(p.activation, kTfLiteActRelu6); }));
  rows->push_back(MakeRow<TfLiteDivParams>(
      kTfLiteBuiltinDiv, 4, [](auto& f) { return schema::CreateDivOptions(f, kRelu6); },
      [](const auto& p) { EXPECT_EQ(p.activation, kTfLiteActRelu6); }));
  rows->push_back(MakeRow<TfLiteL2NormParams>(
      kTfLiteBuiltinL2Normalization, 4,
      [](auto& f) { return schema::CreateL2NormOptions(f, kRelu6); },
      [](const auto& p) { EXPECT_EQ(p.activation, kTfLiteActRelu6); }));
  rows->push_back(MakeRow<TfLiteConcatenationParams>(
      kTfLiteBuiltinConcatenation, 8,
      [](auto& f) { return schema::CreateConcatenationOptions(f, -2, kRelu6); },
      [](const auto& p) {
        EXPECT_EQ(p.axis, -2);
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
      }));
  rows->push_back(MakeRow<TfLiteSoftmaxParams>(
      kTfLiteBuiltinSoftmax, 4, [](auto& f) { return schema::CreateSoftmaxOptions(f, 0.5f); },
      [](const auto& p) { EXPECT_EQ(p.beta, 0.5f); }));
  rows->push_back(MakeRow<TfLiteLeakyReluParams>(
      kTfLiteBuiltinLeakyRelu, 4, [](auto& f) { return schema::CreateLeakyReluOptions(f, 0.25f); },
      [](const auto& p) { EXPECT_EQ(p.alpha, 0.25f); }));
  rows->push_back(MakeRow<TfLiteGeluParams>(
      kTfLiteBuiltinGelu, 1, [](auto& f) { return schema::CreateGeluOptions(f, true); },
      [](const auto& p) { EXPECT_TRUE(p.approximate); }));
  rows->push_back(MakeRow<TfLiteLocalResponseNormParams>(
      kTfLiteBuiltinLocalResponseNormalization, 16,
      [](auto& f) {
        return schema::CreateLocalResponseNormalizationOptions(f, 5, 1.5f, 2.5f, 3.5f);
      },
      [](const auto& p) {
        EXPECT_EQ(p.radius, 5);
        EXPECT_EQ(p.bias, 1.5f);
        EXPECT_EQ(p.alpha, 2.5f);
        EXPECT_EQ(p.beta, 3.5f);
      }));
}

void AddConvolutionRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteConvParams>(
      kTfLiteBuiltinConv2d, 28,
      [](auto& f) {
        return schema::CreateConv2DOptions(f, kValid, 2, 3, kRelu6, 4, 5,
                                           schema::TensorType::INT64);
      },
      [](const auto& p) {
        EXPECT_EQ(p.padding, kTfLitePaddingValid);
        EXPECT_EQ(p.stride_width, 2);
        EXPECT_EQ(p.stride_height, 3);
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_EQ(p.dilation_width_factor, 4);
        EXPECT_EQ(p.dilation_height_factor, 5);
        EXPECT_EQ(p.quantized_bias_type, kTfLiteInt64);
      }));
  rows->push_back(MakeRow<TfLiteDepthwiseConvParams>(
      kTfLiteBuiltinDepthwiseConv2d, 28,
      [](auto& f) {
        return schema::CreateDepthwiseConv2DOptions(f, kValid, 2, 3, 6, kRelu6, 4, 5);
      },
      [](const auto& p) {
        EXPECT_EQ(p.padding, kTfLitePaddingValid);
        EXPECT_EQ(p.stride_width, 2);
        EXPECT_EQ(p.stride_height, 3);
        EXPECT_EQ(p.depth_multiplier, 6);
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_EQ(p.dilation_width_factor, 4);
        EXPECT_EQ(p.dilation_height_factor, 5);
      }));
  rows->push_back(MakeRow<TfLiteTransposeConvParams>(
      kTfLiteBuiltinTransposeConv, 20,
      [](auto& f) {
        return schema::CreateTransposeConvOptions(f, kValid, 2, 3, kRelu6,
                                                  schema::TensorType::INT64);
      },
      [](const auto& p) {
        EXPECT_EQ(p.padding, kTfLitePaddingValid);
        EXPECT_EQ(p.stride_width, 2);
        EXPECT_EQ(p.stride_height, 3);
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_EQ(p.quantized_bias_type, kTfLiteInt64);
      }));
  for (auto code : {kTfLiteBuiltinConv3d, kTfLiteBuiltinConv3dTranspose}) {
    rows->push_back(MakeRow<TfLiteConv3DParams>(
        code, 32,
        [](auto& f) { return schema::CreateConv3DOptions(f, kValid, 2, 3, 4, kRelu6, 5, 6, 7); },
        [](const auto& p) {
          EXPECT_EQ(p.padding, kTfLitePaddingValid);
          EXPECT_EQ(p.stride_depth, 2);
          EXPECT_EQ(p.stride_width, 3);
          EXPECT_EQ(p.stride_height, 4);
          EXPECT_EQ(p.activation, kTfLiteActRelu6);
          EXPECT_EQ(p.dilation_depth_factor, 5);
          EXPECT_EQ(p.dilation_width_factor, 6);
          EXPECT_EQ(p.dilation_height_factor, 7);
        }));
  }
  for (auto code : {kTfLiteBuiltinAveragePool2d, kTfLiteBuiltinMaxPool2d, kTfLiteBuiltinL2Pool2d}) {
    rows->push_back(MakeRow<TfLitePoolParams>(
        code, 40,
        [](auto& f) { return schema::CreatePool2DOptions(f, kValid, 2, 3, 4, 5, kRelu6); },
        [](const auto& p) {
          EXPECT_EQ(p.padding, kTfLitePaddingValid);
          EXPECT_EQ(p.stride_width, 2);
          EXPECT_EQ(p.stride_height, 3);
          EXPECT_EQ(p.filter_width, 4);
          EXPECT_EQ(p.filter_height, 5);
          EXPECT_EQ(p.activation, kTfLiteActRelu6);
          EXPECT_EQ(p.computed.padding.width, 0);
        }));
  }
  rows->push_back(MakeRow<TfLiteFullyConnectedParams>(
      kTfLiteBuiltinFullyConnected, 16,
      [](auto& f) {
        return schema::CreateFullyConnectedOptions(
            f, kRelu6, schema::FullyConnectedOptionsWeightsFormat::SHUFFLED4x16INT8, true, true,
            schema::TensorType::INT64);
      },
      [](const auto& p) {
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_EQ(p.weights_format, kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8);
        EXPECT_TRUE(p.keep_num_dims);
        EXPECT_TRUE(p.asymmetric_quantize_inputs);
        EXPECT_EQ(p.quantized_bias_type, kTfLiteInt64);
      }));
  rows->push_back(MakeRow<TfLiteBatchMatMulParams>(
      kTfLiteBuiltinBatchMatmul, 3,
      [](auto& f) { return schema::CreateBatchMatMulOptions(f, true, false, true); },
      [](const auto& p) {
        EXPECT_TRUE(p.adj_x);
        EXPECT_FALSE(p.adj_y);
        EXPECT_TRUE(p.asymmetric_quantize_inputs);
      }));
}

void AddSequenceRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteSVDFParams>(
      kTfLiteBuiltinSvdf, 12, [](auto& f) { return schema::CreateSVDFOptions(f, 3, kRelu6, true); },
      [](const auto& p) {
        EXPECT_EQ(p.rank, 3);
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_TRUE(p.asymmetric_quantize_inputs);
      }));
  rows->push_back(MakeRow<TfLiteRNNParams>(
      kTfLiteBuiltinRnn, 8, [](auto& f) { return schema::CreateRNNOptions(f, kRelu6, true); },
      [](const auto& p) {
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_TRUE(p.asymmetric_quantize_inputs);
      }));
  rows->push_back(MakeRow<TfLiteSequenceRNNParams>(
      kTfLiteBuiltinUnidirectionalSequenceRnn, 12,
      [](auto& f) { return schema::CreateSequenceRNNOptions(f, true, kRelu6, false); },
      [](const auto& p) {
        EXPECT_TRUE(p.time_major);
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_FALSE(p.asymmetric_quantize_inputs);
      }));
  rows->push_back(MakeRow<TfLiteBidirectionalSequenceRNNParams>(
      kTfLiteBuiltinBidirectionalSequenceRnn, 12,
      [](auto& f) {
        return schema::CreateBidirectionalSequenceRNNOptions(f, false, kRelu6, true, false);
      },
      [](const auto& p) {
        EXPECT_FALSE(p.time_major);
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_TRUE(p.merge_outputs);
        EXPECT_FALSE(p.asymmetric_quantize_inputs);
      }));
  rows->push_back(MakeRow<TfLiteLSTMParams>(
      kTfLiteBuiltinLstm, 20,
      [](auto& f) {
        return schema::CreateLSTMOptions(f, kRelu6, 1.5f, 2.5f, schema::LSTMKernelType::BASIC,
                                         true);
      },
      [](const auto& p) {
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_EQ(p.cell_clip, 1.5f);
        EXPECT_EQ(p.proj_clip, 2.5f);
        EXPECT_EQ(p.kernel_type, kTfLiteLSTMBasicKernel);
        EXPECT_TRUE(p.asymmetric_quantize_inputs);
      }));
  rows->push_back(MakeRow<TfLiteUnidirectionalSequenceLSTMParams>(
      kTfLiteBuiltinUnidirectionalSequenceLstm, 16,
      [](auto& f) {
        return schema::CreateUnidirectionalSequenceLSTMOptions(f, kRelu6, 1.5f, 2.5f, true, false,
                                                               true);
      },
      [](const auto& p) {
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_EQ(p.cell_clip, 1.5f);
        EXPECT_EQ(p.proj_clip, 2.5f);
        EXPECT_TRUE(p.time_major);
        EXPECT_FALSE(p.asymmetric_quantize_inputs);
        EXPECT_TRUE(p.diagonal_recurrent_tensors);
      }));
  rows->push_back(MakeRow<TfLiteBidirectionalSequenceLSTMParams>(
      kTfLiteBuiltinBidirectionalSequenceLstm, 16,
      [](auto& f) {
        return schema::CreateBidirectionalSequenceLSTMOptions(f, kRelu6, 1.5f, 2.5f, true, false,
                                                              true);
      },
      [](const auto& p) {
        EXPECT_EQ(p.activation, kTfLiteActRelu6);
        EXPECT_EQ(p.cell_clip, 1.5f);
        EXPECT_EQ(p.proj_clip, 2.5f);
        EXPECT_TRUE(p.merge_outputs);
        EXPECT_FALSE(p.time_major);
        EXPECT_TRUE(p.asymmetric_quantize_inputs);
      }));
}

void AddShapeRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteReshapeParams>(
      kTfLiteBuiltinReshape, 36,
      [](auto& f) {
        const std::vector<int32_t> shape = {2, -1, 7};
        return schema::CreateReshapeOptionsDirect(f, &shape);
      },
      [](const auto& p) {
        EXPECT_THAT(p.shape, ElementsAre(2, -1, 7, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_dimensions, 3);
      }));
  rows->push_back(MakeRow<TfLiteSqueezeParams>(
      kTfLiteBuiltinSqueeze, 36,
      [](auto& f) {
        const std::vector<int32_t> dims = {1, -2};
        return schema::CreateSqueezeOptionsDirect(f, &dims);
      },
      [](const auto& p) {
        EXPECT_THAT(p.squeeze_dims, ElementsAre(1, -2, 0, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_squeeze_dims, 2);
      }));
  rows->push_back(MakeRow<TfLiteShapeParams>(
      kTfLiteBuiltinShape, 4,
      [](auto& f) { return schema::CreateShapeOptions(f, schema::TensorType::INT64); },
      [](const auto& p) { EXPECT_EQ(p.out_type, kTfLiteInt64); }));
  rows->push_back(MakeRow<TfLiteSpaceToDepthParams>(
      kTfLiteBuiltinSpaceToDepth, 4,
      [](auto& f) { return schema::CreateSpaceToDepthOptions(f, 3); },
      [](const auto& p) { EXPECT_EQ(p.block_size, 3); }));
  rows->push_back(MakeRow<TfLiteDepthToSpaceParams>(
      kTfLiteBuiltinDepthToSpace, 4,
      [](auto& f) { return schema::CreateDepthToSpaceOptions(f, 3); },
      [](const auto& p) { EXPECT_EQ(p.block_size, 3); }));
  rows->push_back(MakeRow<TfLiteGatherParams>(
      kTfLiteBuiltinGather, 8, [](auto& f) { return schema::CreateGatherOptions(f, -1, 2); },
      [](const auto& p) {
        EXPECT_EQ(p.axis, -1);
        EXPECT_EQ(p.batch_dims, 2);
      }));
  rows->push_back(MakeRow<TfLiteSplitParams>(
      kTfLiteBuiltinSplit, 4, [](auto& f) { return schema::CreateSplitOptions(f, 3); },
      [](const auto& p) { EXPECT_EQ(p.num_splits, 3); }));
  rows->push_back(MakeRow<TfLiteSplitVParams>(
      kTfLiteBuiltinSplitV, 4, [](auto& f) { return schema::CreateSplitVOptions(f, 3); },
      [](const auto& p) { EXPECT_EQ(p.num_splits, 3); }));
  rows->push_back(MakeRow<TfLiteStridedSliceParams>(
      kTfLiteBuiltinStridedSlice, 24,
      [](auto& f) { return schema::CreateStridedSliceOptions(f, 1, 2, 3, 4, 5, true); },
      [](const auto& p) {
        EXPECT_EQ(p.begin_mask, 1);
        EXPECT_EQ(p.end_mask, 2);
        EXPECT_EQ(p.ellipsis_mask, 3);
        EXPECT_EQ(p.new_axis_mask, 4);
        EXPECT_EQ(p.shrink_axis_mask, 5);
        EXPECT_TRUE(p.offset);
      }));
  rows->push_back(MakeRow<TfLitePackParams>(
      kTfLiteBuiltinPack, 8, [](auto& f) { return schema::CreatePackOptions(f, 3, -1); },
      [](const auto& p) {
        EXPECT_EQ(p.values_count, 3);
        EXPECT_EQ(p.axis, -1);
      }));
  rows->push_back(MakeRow<TfLiteUnpackParams>(
      kTfLiteBuiltinUnpack, 8, [](auto& f) { return schema::CreateUnpackOptions(f, 3, -1); },
      [](const auto& p) {
        EXPECT_EQ(p.num, 3);
        EXPECT_EQ(p.axis, -1);
      }));
  rows->push_back(MakeRow<TfLiteOneHotParams>(
      kTfLiteBuiltinOneHot, 4, [](auto& f) { return schema::CreateOneHotOptions(f, -1); },
      [](const auto& p) { EXPECT_EQ(p.axis, -1); }));
  rows->push_back(MakeRow<TfLiteMirrorPaddingParams>(
      kTfLiteBuiltinMirrorPad, 4,
      [](auto& f) { return schema::CreateMirrorPadOptions(f, schema::MirrorPadMode::SYMMETRIC); },
      [](const auto& p) { EXPECT_EQ(p.mode, kTfLiteMirrorPaddingSymmetric); }));
  rows->push_back(MakeRow<TfLiteReverseSequenceParams>(
      kTfLiteBuiltinReverseSequence, 8,
      [](auto& f) { return schema::CreateReverseSequenceOptions(f, 2, 1); },
      [](const auto& p) {
        EXPECT_EQ(p.seq_dim, 2);
        EXPECT_EQ(p.batch_dim, 1);
      }));
  rows->push_back(MakeRow<TfLiteResizeBilinearParams>(
      kTfLiteBuiltinResizeBilinear, 2,
      [](auto& f) { return schema::CreateResizeBilinearOptions(f, true, false); },
      [](const auto& p) {
        EXPECT_TRUE(p.align_corners);
        EXPECT_FALSE(p.half_pixel_centers);
      }));
  rows->push_back(MakeRow<TfLiteResizeNearestNeighborParams>(
      kTfLiteBuiltinResizeNearestNeighbor, 2,
      [](auto& f) { return schema::CreateResizeNearestNeighborOptions(f, false, true); },
      [](const auto& p) {
        EXPECT_FALSE(p.align_corners);
        EXPECT_TRUE(p.half_pixel_centers);
      }));
}

void AddReductionRows(std::vector<Row>* rows) {
  for (auto code :
       {kTfLiteBuiltinMean, kTfLiteBuiltinSum, kTfLiteBuiltinReduceProd, kTfLiteBuiltinReduceMax,
        kTfLiteBuiltinReduceMin, kTfLiteBuiltinReduceAny, kTfLiteBuiltinReduceAll}) {
    rows->push_back(MakeRow<TfLiteReducerParams>(
        code, 1, [](auto& f) { return schema::CreateReducerOptions(f, true); },
        [](const auto& p) { EXPECT_TRUE(p.keep_dims); }));
  }
  rows->push_back(MakeRow<TfLiteCumsumParams>(
      kTfLiteBuiltinCumsum, 2, [](auto& f) { return schema::CreateCumsumOptions(f, false, true); },
      [](const auto& p) {
        EXPECT_FALSE(p.exclusive);
        EXPECT_TRUE(p.reverse);
      }));
  rows->push_back(MakeRow<TfLiteArgMaxParams>(
      kTfLiteBuiltinArgMax, 4,
      [](auto& f) { return schema::CreateArgMaxOptions(f, schema::TensorType::INT64); },
      [](const auto& p) { EXPECT_EQ(p.output_type, kTfLiteInt64); }));
  rows->push_back(MakeRow<TfLiteArgMinParams>(
      kTfLiteBuiltinArgMin, 4,
      [](auto& f) { return schema::CreateArgMinOptions(f, schema::TensorType::INT32); },
      [](const auto& p) { EXPECT_EQ(p.output_type, kTfLiteInt32); }));
  rows->push_back(MakeRow<TfLiteUniqueParams>(
      kTfLiteBuiltinUnique, 4,
      [](auto& f) { return schema::CreateUniqueOptions(f, schema::TensorType::INT64); },
      [](const auto& p) { EXPECT_EQ(p.index_out_type, kTfLiteInt64); }));
  rows->push_back(MakeRow<TfLiteBucketizeParams>(
      kTfLiteBuiltinBucketize, 16,
      [](auto& f) {
        const std::vector<float> boundaries = {-1.5f, 2.5f, 9.0f};
        return schema::CreateBucketizeOptionsDirect(f, &boundaries);
      },
      [](const auto& p) {
        ASSERT_EQ(p.num_boundaries, 3);
        EXPECT_THAT(std::vector<float>(p.boundaries, p.boundaries + 3),
                    ElementsAre(-1.5f, 2.5f, 9.0f));
      }));
  rows->push_back(MakeRow<TfLiteReduceWindowParams>(
      kTfLiteBuiltinReduceWindow, 4,
      [](auto& f) {
        return schema::CreateReduceWindowOptions(f, schema::ReduceWindowFunction::MAXIMUM);
      },
      [](const auto& p) { EXPECT_EQ(p.reduce_function, TfLiteReduceWindowFunctionMax); }));
}

void AddConversionRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteCastParams>(
      kTfLiteBuiltinCast, 8,
      [](auto& f) {
        return schema::CreateCastOptions(f, schema::TensorType::INT8, schema::TensorType::BOOL);
      },
      [](const auto& p) {
        EXPECT_EQ(p.in_data_type, kTfLiteInt8);
        EXPECT_EQ(p.out_data_type, kTfLiteBool);
      }));
  rows->push_back(MakeRow<TfLiteFakeQuantParams>(
      kTfLiteBuiltinFakeQuant, 16,
      [](auto& f) { return schema::CreateFakeQuantOptions(f, -1.5f, 2.5f, 7, true); },
      [](const auto& p) {
        EXPECT_EQ(p.min, -1.5f);
        EXPECT_EQ(p.max, 2.5f);
        EXPECT_EQ(p.num_bits, 7);
        EXPECT_TRUE(p.narrow_range);
      }));
  rows->push_back(MakeRow<TfLiteSparseToDenseParams>(
      kTfLiteBuiltinSparseToDense, 1,
      [](auto& f) { return schema::CreateSparseToDenseOptions(f, true); },
      [](const auto& p) { EXPECT_TRUE(p.validate_indices); }));
  for (auto code : {kTfLiteBuiltinRandomStandardNormal, kTfLiteBuiltinRandomUniform,
                    kTfLiteBuiltinMultinomial}) {
    rows->push_back(MakeRow<TfLiteRandomParams>(
        code, 8, [](auto& f) { return schema::CreateRandomOptions(f, 11, -22); },
        [](const auto& p) {
          EXPECT_EQ(p.seed, 11);
          EXPECT_EQ(p.seed2, -22);
        }));
  }
}

void AddTextAndResourceRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteLSHProjectionParams>(
      kTfLiteBuiltinLshProjection, 4,
      [](auto& f) {
        return schema::CreateLSHProjectionOptions(f, schema::LSHProjectionType::DENSE);
      },
      [](const auto& p) { EXPECT_EQ(p.type, kTfLiteLshProjectionDense); }));
  rows->push_back(MakeRow<TfLiteSkipGramParams>(
      kTfLiteBuiltinSkipGram, 12,
      [](auto& f) { return schema::CreateSkipGramOptions(f, 3, 2, true); },
      [](const auto& p) {
        EXPECT_EQ(p.ngram_size, 3);
        EXPECT_EQ(p.max_skip_size, 2);
        EXPECT_TRUE(p.include_all_ngrams);
      }));
  rows->push_back(MakeRow<TfLiteEmbeddingLookupSparseParams>(
      kTfLiteBuiltinEmbeddingLookupSparse, 4,
      [](auto& f) {
        return schema::CreateEmbeddingLookupSparseOptions(f, schema::CombinerType::SQRTN);
      },
      [](const auto& p) { EXPECT_EQ(p.combiner, kTfLiteCombinerTypeSqrtn); }));
  rows->push_back(MakeRow<TfLiteIfParams>(
      kTfLiteBuiltinIf, 8, [](auto& f) { return schema::CreateIfOptions(f, 1, 2); },
      [](const auto& p) {
        EXPECT_EQ(p.then_subgraph_index, 1);
        EXPECT_EQ(p.else_subgraph_index, 2);
      }));
  rows->push_back(MakeRow<TfLiteWhileParams>(
      kTfLiteBuiltinWhile, 8, [](auto& f) { return schema::CreateWhileOptions(f, 1, 2); },
      [](const auto& p) {
        EXPECT_EQ(p.cond_subgraph_index, 1);
        EXPECT_EQ(p.body_subgraph_index, 2);
      }));
  rows->push_back(MakeRow<TfLiteCallOnceParams>(
      kTfLiteBuiltinCallOnce, 4, [](auto& f) { return schema::CreateCallOnceOptions(f, 3); },
      [](const auto& p) { EXPECT_EQ(p.init_subgraph_index, 3); }));
  rows->push_back(MakeRow<TfLiteHashtableParams>(
      kTfLiteBuiltinHashtable, 12,
      [](auto& f) {
        return schema::CreateHashtableOptions(f, 4, schema::TensorType::STRING,
                                              schema::TensorType::INT64);
      },
      [](const auto& p) {
        EXPECT_EQ(p.table_id, 4);
        EXPECT_EQ(p.key_dtype, kTfLiteString);
        EXPECT_EQ(p.value_dtype, kTfLiteInt64);
      }));
  rows->push_back(MakeRow<TfLiteVarHandleParams>(
      kTfLiteBuiltinVarHandle, 16,
      [](auto& f) { return schema::CreateVarHandleOptionsDirect(f, "jar", "cookie"); },
      [](const auto& p) {
        EXPECT_STREQ(p.container, "jar");
        EXPECT_STREQ(p.shared_name, "cookie");
      }));
}

void AddStablehloIndexRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteStablehloScatterParams>(
      kTfLiteBuiltinStablehloScatter, 240,
      [](auto& f) {
        const std::vector<int64_t> window = {1, 2}, inserted = {3}, scattered = {4, 5, 6};
        return schema::CreateStablehloScatterOptionsDirect(f, true, &window, &inserted, &scattered,
                                                           7, true, 8);
      },
      [](const auto& p) {
        EXPECT_TRUE(p.indices_are_sorted);
        EXPECT_THAT(p.update_window_dims, ElementsAre(1, 2, 0, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_update_window_dims, 2);
        EXPECT_THAT(p.inserted_window_dims, ElementsAre(3, 0, 0, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_inserted_window_dims, 1);
        EXPECT_THAT(p.scatter_dims_to_operand_dims, ElementsAre(4, 5, 6, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_scatter_dims_to_operand_dims, 3);
        EXPECT_EQ(p.index_vector_dim, 7);
        EXPECT_TRUE(p.unique_indices);
        EXPECT_EQ(p.update_computation_subgraph_index, 8);
      }));
  rows->push_back(MakeRow<TfLiteStablehloGatherParams>(
      kTfLiteBuiltinStablehloGather, 296,
      [](auto& f) {
        const std::vector<int64_t> offset = {1, 2}, collapsed = {3}, start = {4}, sizes = {5, 6, 7};
        return schema::CreateStablehloGatherOptionsDirect(f, &offset, &collapsed, &start, 8, &sizes,
                                                          true);
      },
      [](const auto& p) {
        EXPECT_THAT(p.offset_dims, ElementsAre(1, 2, 0, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_offset_dims, 2);
        EXPECT_THAT(p.collapsed_slice_dims, ElementsAre(3, 0, 0, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_collapsed_slice_dims, 1);
        EXPECT_THAT(p.start_index_map, ElementsAre(4, 0, 0, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_start_index_map, 1);
        EXPECT_EQ(p.index_vector_dim, 8);
        EXPECT_THAT(p.slice_sizes, ElementsAre(5, 6, 7, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.num_slice_sizes, 3);
        EXPECT_TRUE(p.indices_are_sorted);
      }));
  rows->push_back(MakeRow<TfLiteStablehloRngBitGeneratorParams>(
      kTfLiteBuiltinStablehloRngBitGenerator, 4,
      [](auto& f) {
        return schema::CreateStablehloRngBitGeneratorOptions(f, schema::RngAlgorithm::PHILOX);
      },
      [](const auto& p) { EXPECT_EQ(p.algorithm, kTfLiteRngAlgorithmPhilox); }));
}

void AddStablehloRows(std::vector<Row>* rows) {
  rows->push_back(MakeRow<TfLiteStablehloReduceWindowParams>(
      kTfLiteBuiltinStablehloReduceWindow, 392,
      [](auto& f) {
        const std::vector<int64_t> window = {2, 3}, strides = {4, 5}, dilations = {6, 7},
                                   padding = {8, 9, 10, 11};
        return schema::CreateStablehloReduceWindowOptionsDirect(f, &window, &strides, nullptr,
                                                                &dilations, &padding, 12);
      },
      [](const auto& p) {
        EXPECT_THAT(p.window_dimensions, ElementsAre(2, 3, 0, 0, 0, 0, 0, 0));
        EXPECT_THAT(p.window_strides, ElementsAre(4, 5, 0, 0, 0, 0, 0, 0));
        // The options have no base dilations, which are 1 by default.
        EXPECT_THAT(p.base_dilations, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1));
        EXPECT_THAT(p.window_dilations, ElementsAre(6, 7, 0, 0, 0, 0, 0, 0));
        EXPECT_THAT(p.padding, ElementsAre(8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        EXPECT_EQ(p.body_subgraph_index, 12);
      }));
  rows->push_back(MakeRow<TfLiteStablehloPadParams>(
      kTfLiteBuiltinStablehloPad, 192,
      [](auto& f) {
        const std::vector<int64_t> low = {1, -2}, high = {3, 4}, interior = {5, 6};
        return schema::CreateStablehloPadOptionsDirect(f, &low, &high, &interior);
      },
      [](const auto& p) {
        EXPECT_THAT(p.edge_padding_low, ElementsAre(1, -2, 0, 0, 0, 0, 0, 0));
        EXPECT_THAT(p.edge_padding_high, ElementsAre(3, 4, 0, 0, 0, 0, 0, 0));
        EXPECT_THAT(p.interior_padding, ElementsAre(5, 6, 0, 0, 0, 0, 0, 0));
      }));
  rows->push_back(MakeRow<TfLiteStablehloCompositeParams>(
      kTfLiteBuiltinStablehloComposite, 32,
      [](auto& f) {
        const std::vector<uint8_t> attributes = {9, 8, 7};
        return schema::CreateStableHLOCompositeOptionsDirect(
            f, "attention", 2, &attributes, schema::CustomOptionsFormat::FLEXBUFFERS, 5);
      },
      [](const auto& p) {
        EXPECT_STREQ(p.name, "attention");
        EXPECT_EQ(p.subgraph_index, 2);
        EXPECT_EQ(p.version, 5);
        ASSERT_EQ(p.attributes_size, 3u);
        EXPECT_THAT(std::vector<uint8_t>(p.attributes, p.attributes + 3), ElementsAre(9, 8, 7));
      }));
  rows->push_back(MakeRow<TfLiteStablehloCaseParams>(
      kTfLiteBuiltinStablehloCase, 84,
      [](auto& f) {
        const std::vector<int32_t> branches = {3, 1, 2};
        return schema::CreateStablehloCaseOptionsDirect(f, &branches);
      },
      [](const auto& p) {
        std::vector<int32_t> expected = {3, 1, 2};
        expected.resize(20);
        EXPECT_THAT(p.branch_subgraph_indices, ElementsAreArray(expected));
        EXPECT_EQ(p.num_branches, 3u);
      }));
}

std::vector<Row> AllRows() {
  std::vector<Row> rows;
  AddActivationRows(&rows);
  AddConvolutionRows(&rows);
  AddSequenceRows(&rows);
  AddShapeRows(&rows);
  AddReductionRows(&rows);
  AddConversionRows(&rows);
  AddTextAndResourceRows(&rows);
  AddStablehloIndexRows(&rows);
  AddStablehloRows(&rows);
  return rows;
}

TEST(Params, every_option_is_stored_in_its_field) {
  for (const Row& row : AllRows()) {
    const OpDef* op = FindBuiltinAnyVersion(row.code);
    ASSERT_NE(op, nullptr) << row.code;
    SCOPED_TRACE(op->name);
    ASSERT_EQ(op->params_size, row.size);
    const std::vector<uint8_t> model = ModelOf(row.add);
    const OpOptions options = OptionsOf(model);
    EXPECT_EQ(options.kind(), op->options);
    const Bytes params = ZeroedParams(*op);
    ASSERT_NE(op->parse, nullptr);
    EXPECT_TRUE(op->parse(options.As(op->options), params.get()));
    row.expect(params.get());
  }
}

TEST(Params, operators_outside_the_table_have_none) {
  std::set<int> in_table;
  for (const Row& row : AllRows()) EXPECT_TRUE(in_table.insert(row.code).second) << row.code;
  for (int code = 0; code <= kTfLiteBuiltinStablehloCase; ++code) {
    if (code == kTfLiteBuiltinCustom || code == kTfLiteBuiltinDelegate ||
        code == kTfLiteBuiltinPlaceholderForGreaterOpCodes) {
      continue;
    }
    const OpDef* op = FindBuiltinAnyVersion(static_cast<TfLiteBuiltinOperator>(code));
    ASSERT_NE(op, nullptr) << "no parser for operator " << code;
    EXPECT_EQ(op->params_size != 0, in_table.contains(code)) << op->name;
  }
}

TEST(Params, absent_options_are_zero_unless_required) {
  const std::set<int> needed = {kTfLiteBuiltinLstm, kTfLiteBuiltinStablehloPad,
                                kTfLiteBuiltinStablehloReduceWindow,
                                kTfLiteBuiltinStablehloComposite, kTfLiteBuiltinStablehloCase};
  for (const Row& row : AllRows()) {
    const OpDef* op = FindBuiltinAnyVersion(row.code);
    SCOPED_TRACE(op->name);
    const Bytes params = ZeroedParams(*op);
    EXPECT_EQ(op->parse(OpOptions(), params.get()), !needed.contains(row.code));
    const auto* bytes = static_cast<const uint8_t*>(params.get());
    EXPECT_TRUE(std::all_of(bytes, bytes + op->params_size, [](uint8_t b) { return b == 0; }));
  }
}

// Passes the options made by `build` to the operator's parser; returns whether they are valid.
template <typename Build>
bool Parses(TfLiteBuiltinOperator code, Build build) {
  const OpDef& op = *FindBuiltinAnyVersion(code);
  const std::vector<uint8_t> model =
      ModelOf([&](ModelBuilder* m) { m->AddOp(code, {0}, {1}, build(m->fbb())); });
  const Bytes params = ZeroedParams(op);
  return op.parse(OptionsOf(model).As(op.options), params.get());
}

TEST(Params, too_long_lists_are_refused) {
  const std::vector<int32_t> nine(9), many(21);
  const std::vector<int64_t> nine_longs(9), two(2), one(1);
  EXPECT_FALSE(Parses(kTfLiteBuiltinReshape,
                      [&](auto& f) { return schema::CreateReshapeOptionsDirect(f, &nine); }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinSqueeze,
                      [&](auto& f) { return schema::CreateSqueezeOptionsDirect(f, &nine); }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinStablehloCase,
                      [&](auto& f) { return schema::CreateStablehloCaseOptionsDirect(f, &many); }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinStablehloGather, [&](auto& f) {
    return schema::CreateStablehloGatherOptionsDirect(f, &nine_longs);
  }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinStablehloPad, [&](auto& f) {
    return schema::CreateStablehloPadOptionsDirect(f, &nine_longs, &nine_longs, &nine_longs);
  }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinStablehloPad, [&](auto& f) {
    return schema::CreateStablehloPadOptionsDirect(f, &one, &two, &one);
  }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinStablehloReduceWindow, [&](auto& f) {
    return schema::CreateStablehloReduceWindowOptionsDirect(f, &two, &one);
  }));
}

TEST(Params, options_without_required_fields_are_refused) {
  EXPECT_FALSE(
      Parses(kTfLiteBuiltinBucketize, [](auto& f) { return schema::CreateBucketizeOptions(f); }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinStablehloComposite,
                      [](auto& f) { return schema::CreateStableHLOCompositeOptions(f); }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinReduceWindow,
                      [](auto& f) { return schema::CreateReduceWindowOptions(f); }));
  EXPECT_FALSE(Parses(kTfLiteBuiltinLstm, [](auto& f) {
    return schema::CreateLSTMOptions(f, kRelu6, 0, 0, static_cast<schema::LSTMKernelType>(5));
  }));
}

// The schema's enumerations are open: a file may contain any value.
TEST(Params, unknown_weights_formats_are_refused) {
  for (const int format : {2, 127, -1}) {
    EXPECT_FALSE(Parses(kTfLiteBuiltinFullyConnected, [format](auto& f) {
      return schema::CreateFullyConnectedOptions(
          f, kRelu6, static_cast<schema::FullyConnectedOptionsWeightsFormat>(format));
    })) << format;
  }
}

// ---- Through the C API --------------------------------------------------------------------------

int seen_ngram_size = 0;

TfLiteRegistration NgramKernel() {
  TfLiteRegistration registration = {};
  registration.prepare = [](TfLiteContext*, TfLiteNode* node) {
    seen_ngram_size = static_cast<const TfLiteSkipGramParams*>(node->builtin_data)->ngram_size;
    return kTfLiteOk;
  };
  registration.invoke = [](TfLiteContext*, TfLiteNode*) { return kTfLiteOk; };
  return registration;
}

std::vector<uint8_t> NgramModel() {
  return ModelOf([](ModelBuilder* m) {
    m->AddOp(kTfLiteBuiltinSkipGram, {0}, {1}, schema::CreateSkipGramOptions(m->fbb(), 3));
  });
}

TEST(Params, clients_can_add_kernels_of_unsupported_operators) {
  const TfLiteRegistration kernel = NgramKernel();
  TestInterpreter interpreter(NgramModel(), [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddBuiltinOp(options, kTfLiteBuiltinSkipGram, &kernel, 1, 1);
  });
  ASSERT_NE(interpreter.get(), nullptr) << interpreter.log();
  seen_ngram_size = 0;
  EXPECT_EQ(interpreter.Allocate(), kTfLiteOk) << interpreter.log();
  EXPECT_EQ(seen_ngram_size, 3);
}

TEST(Params, operators_without_a_kernel_are_refused_by_name) {
  const std::vector<uint8_t> model =
      ModelOf([](ModelBuilder* m) { m->AddOp(kTfLiteBuiltinConcatEmbeddings, {0}, {1}); });
  TestInterpreter interpreter(model);
  EXPECT_EQ(interpreter.get(), nullptr);
  EXPECT_NE(interpreter.log().find("'CONCAT_EMBEDDINGS'"), std::string::npos) << interpreter.log();
}

TEST(Params, a_model_whose_options_do_not_parse_is_refused_at_create) {
  TfLiteRegistration kernel = NgramKernel();
  kernel.prepare = nullptr;
  const std::vector<uint8_t> model =
      ModelOf([](ModelBuilder* m) { m->AddOp(kTfLiteBuiltinStablehloPad, {0}, {1}); });
  TestInterpreter interpreter(model, [&](TfLiteInterpreterOptions* options) {
    TfLiteInterpreterOptionsAddBuiltinOp(options, kTfLiteBuiltinStablehloPad, &kernel, 1, 1);
  });
  EXPECT_EQ(interpreter.get(), nullptr);
  EXPECT_NE(interpreter.log().find("STABLEHLO_PAD"), std::string::npos) << interpreter.log();
}

}  // namespace
}  // namespace deputy
