// SPDX-License-Identifier: Apache-2.0
#include "bridges/sandbox/node_options.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/c/builtin_op_data.h"

namespace deputy::sandbox {
namespace {

void AddField(float value, Digest* digest) { digest->AddInt(std::bit_cast<int32_t>(value)); }

template <typename Field>
requires(std::is_integral_v<Field> || std::is_enum_v<Field>) void AddField(Field value,
                                                                           Digest* digest) {
  digest->AddInt(static_cast<int64_t>(value));
}

// Adds these fields of the options, which may be null.
template <typename Params, typename... Fields>
void Add(const void* data, Digest* digest, Fields Params::*... fields) {
  if (data == nullptr) return;
  const auto& params = *static_cast<const Params*>(data);
  (AddField(params.*fields, digest), ...);
}

// Adds the first `count` of the dimensions in an array.
template <size_t size>
void AddDims(const int32_t (&dims)[size], int count, Digest* digest) {
  digest->AddInt(count);
  const int valid = std::clamp(count, 0, static_cast<int>(size));
  for (int i = 0; i < valid; ++i) digest->AddInt(dims[i]);
}

// Each function adds the options of some operators, and returns false for all others.

bool AddConvolution(int code, const void* data, Digest* digest) {
  switch (code) {
    case kTfLiteBuiltinConv2d:
      using Conv = TfLiteConvParams;
      Add(data, digest, &Conv::padding, &Conv::stride_width, &Conv::stride_height,
          &Conv::activation, &Conv::dilation_width_factor, &Conv::dilation_height_factor);
      return true;
    case kTfLiteBuiltinConv3d:
    case kTfLiteBuiltinConv3dTranspose:
      using Conv3D = TfLiteConv3DParams;
      Add(data, digest, &Conv3D::padding, &Conv3D::stride_width, &Conv3D::stride_height,
          &Conv3D::stride_depth, &Conv3D::dilation_width_factor, &Conv3D::dilation_height_factor,
          &Conv3D::dilation_depth_factor, &Conv3D::activation);
      return true;
    case kTfLiteBuiltinDepthwiseConv2d:
      using Depthwise = TfLiteDepthwiseConvParams;
      Add(data, digest, &Depthwise::padding, &Depthwise::stride_width, &Depthwise::stride_height,
          &Depthwise::depth_multiplier, &Depthwise::activation, &Depthwise::dilation_width_factor,
          &Depthwise::dilation_height_factor);
      return true;
    case kTfLiteBuiltinTransposeConv:
      using Transpose = TfLiteTransposeConvParams;
      Add(data, digest, &Transpose::padding, &Transpose::stride_width, &Transpose::stride_height,
          &Transpose::activation);
      return true;
    case kTfLiteBuiltinAveragePool2d:
    case kTfLiteBuiltinMaxPool2d:
    case kTfLiteBuiltinL2Pool2d:
      using Pool = TfLitePoolParams;
      Add(data, digest, &Pool::padding, &Pool::stride_width, &Pool::stride_height,
          &Pool::filter_width, &Pool::filter_height, &Pool::activation);
      return true;
    default:
      return false;
  }
}

bool AddRecurrent(int code, const void* data, Digest* digest) {
  switch (code) {
    case kTfLiteBuiltinSvdf:
      Add(data, digest, &TfLiteSVDFParams::rank, &TfLiteSVDFParams::activation,
          &TfLiteSVDFParams::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinRnn:
      Add(data, digest, &TfLiteRNNParams::activation, &TfLiteRNNParams::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinUnidirectionalSequenceRnn:
      Add(data, digest, &TfLiteSequenceRNNParams::time_major, &TfLiteSequenceRNNParams::activation,
          &TfLiteSequenceRNNParams::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinBidirectionalSequenceRnn:
      using Both = TfLiteBidirectionalSequenceRNNParams;
      Add(data, digest, &Both::time_major, &Both::activation, &Both::merge_outputs,
          &Both::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinLstm:
      using Lstm = TfLiteLSTMParams;
      Add(data, digest, &Lstm::activation, &Lstm::cell_clip, &Lstm::proj_clip, &Lstm::kernel_type,
          &Lstm::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinUnidirectionalSequenceLstm:
      using Sequence = TfLiteUnidirectionalSequenceLSTMParams;
      Add(data, digest, &Sequence::activation, &Sequence::cell_clip, &Sequence::proj_clip,
          &Sequence::time_major, &Sequence::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinBidirectionalSequenceLstm:
      using BothLstm = TfLiteBidirectionalSequenceLSTMParams;
      Add(data, digest, &BothLstm::activation, &BothLstm::cell_clip, &BothLstm::proj_clip,
          &BothLstm::merge_outputs, &BothLstm::time_major, &BothLstm::asymmetric_quantize_inputs);
      return true;
    default:
      return false;
  }
}

bool AddArithmetic(int code, const void* data, Digest* digest) {
  switch (code) {
    case kTfLiteBuiltinFullyConnected:
      using Dense = TfLiteFullyConnectedParams;
      Add(data, digest, &Dense::activation, &Dense::weights_format, &Dense::keep_num_dims,
          &Dense::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinBatchMatmul:
      Add(data, digest, &TfLiteBatchMatMulParams::adj_x, &TfLiteBatchMatMulParams::adj_y,
          &TfLiteBatchMatMulParams::asymmetric_quantize_inputs);
      return true;
    case kTfLiteBuiltinAdd:
      Add(data, digest, &TfLiteAddParams::activation);
      return true;
    case kTfLiteBuiltinSub:
      Add(data, digest, &TfLiteSubParams::activation);
      return true;
    case kTfLiteBuiltinMul:
      Add(data, digest, &TfLiteMulParams::activation);
      return true;
    case kTfLiteBuiltinDiv:
      Add(data, digest, &TfLiteDivParams::activation);
      return true;
    case kTfLiteBuiltinL2Normalization:
      Add(data, digest, &TfLiteL2NormParams::activation);
      return true;
    case kTfLiteBuiltinLocalResponseNormalization:
      using Lrn = TfLiteLocalResponseNormParams;
      Add(data, digest, &Lrn::radius, &Lrn::bias, &Lrn::alpha, &Lrn::beta);
      return true;
    case kTfLiteBuiltinSoftmax:
      Add(data, digest, &TfLiteSoftmaxParams::beta);
      return true;
    case kTfLiteBuiltinLeakyRelu:
      Add(data, digest, &TfLiteLeakyReluParams::alpha);
      return true;
    case kTfLiteBuiltinGelu:
      Add(data, digest, &TfLiteGeluParams::approximate);
      return true;
    case kTfLiteBuiltinFakeQuant:
      using Fake = TfLiteFakeQuantParams;
      Add(data, digest, &Fake::min, &Fake::max, &Fake::num_bits, &Fake::narrow_range);
      return true;
    case kTfLiteBuiltinCumsum:
      Add(data, digest, &TfLiteCumsumParams::exclusive, &TfLiteCumsumParams::reverse);
      return true;
    default:
      return false;
  }
}

bool AddReduction(int code, const void* data, Digest* digest) {
  switch (code) {
    case kTfLiteBuiltinMean:
    case kTfLiteBuiltinSum:
    case kTfLiteBuiltinReduceProd:
    case kTfLiteBuiltinReduceMax:
    case kTfLiteBuiltinReduceMin:
    case kTfLiteBuiltinReduceAny:
    case kTfLiteBuiltinReduceAll:
      Add(data, digest, &TfLiteReducerParams::keep_dims);
      return true;
    case kTfLiteBuiltinArgMax:
      Add(data, digest, &TfLiteArgMaxParams::output_type);
      return true;
    case kTfLiteBuiltinArgMin:
      Add(data, digest, &TfLiteArgMinParams::output_type);
      return true;
    default:
      return false;
  }
}

bool AddShapeChange(int code, const void* data, Digest* digest) {
  switch (code) {
    case kTfLiteBuiltinReshape:
      if (data == nullptr) return true;
      AddDims(static_cast<const TfLiteReshapeParams*>(data)->shape,
              static_cast<const TfLiteReshapeParams*>(data)->num_dimensions, digest);
      return true;
    case kTfLiteBuiltinSqueeze:
      if (data == nullptr) return true;
      AddDims(static_cast<const TfLiteSqueezeParams*>(data)->squeeze_dims,
              static_cast<const TfLiteSqueezeParams*>(data)->num_squeeze_dims, digest);
      return true;
    case kTfLiteBuiltinConcatenation:
      using Concat = TfLiteConcatenationParams;
      Add(data, digest, &Concat::axis, &Concat::activation);
      return true;
    case kTfLiteBuiltinSplit:
      Add(data, digest, &TfLiteSplitParams::num_splits);
      return true;
    case kTfLiteBuiltinSplitV:
      Add(data, digest, &TfLiteSplitVParams::num_splits);
      return true;
    case kTfLiteBuiltinPack:
      Add(data, digest, &TfLitePackParams::values_count, &TfLitePackParams::axis);
      return true;
    case kTfLiteBuiltinUnpack:
      Add(data, digest, &TfLiteUnpackParams::num, &TfLiteUnpackParams::axis);
      return true;
    case kTfLiteBuiltinSpaceToDepth:
      Add(data, digest, &TfLiteSpaceToDepthParams::block_size);
      return true;
    case kTfLiteBuiltinDepthToSpace:
      Add(data, digest, &TfLiteDepthToSpaceParams::block_size);
      return true;
    default:
      return false;
  }
}

bool AddSelection(int code, const void* data, Digest* digest) {
  switch (code) {
    case kTfLiteBuiltinStridedSlice:
      using Slice = TfLiteStridedSliceParams;
      Add(data, digest, &Slice::begin_mask, &Slice::end_mask, &Slice::ellipsis_mask,
          &Slice::new_axis_mask, &Slice::shrink_axis_mask, &Slice::offset);
      return true;
    case kTfLiteBuiltinGather:
      Add(data, digest, &TfLiteGatherParams::axis, &TfLiteGatherParams::batch_dims);
      return true;
    case kTfLiteBuiltinOneHot:
      Add(data, digest, &TfLiteOneHotParams::axis);
      return true;
    case kTfLiteBuiltinReverseSequence:
      using Reverse = TfLiteReverseSequenceParams;
      Add(data, digest, &Reverse::seq_dim, &Reverse::batch_dim);
      return true;
    case kTfLiteBuiltinMirrorPad:
      Add(data, digest, &TfLiteMirrorPaddingParams::mode);
      return true;
    case kTfLiteBuiltinResizeBilinear:
      using Bilinear = TfLiteResizeBilinearParams;
      Add(data, digest, &Bilinear::align_corners, &Bilinear::half_pixel_centers);
      return true;
    case kTfLiteBuiltinResizeNearestNeighbor:
      using Nearest = TfLiteResizeNearestNeighborParams;
      Add(data, digest, &Nearest::align_corners, &Nearest::half_pixel_centers);
      return true;
    case kTfLiteBuiltinEmbeddingLookupSparse:
      Add(data, digest, &TfLiteEmbeddingLookupSparseParams::combiner);
      return true;
    default:
      return false;
  }
}

constexpr bool (*kGroups[])(int, const void*, Digest*) = {
    AddConvolution, AddRecurrent, AddArithmetic, AddReduction, AddShapeChange, AddSelection};

}  // namespace

void AddOptions(int builtin_code, const TfLiteNode& node, Digest* digest) {
  if (builtin_code == kTfLiteBuiltinCustom) {
    const bool has_options = node.custom_initial_data != nullptr;
    digest->AddBytes(node.custom_initial_data,
                     has_options ? static_cast<size_t>(node.custom_initial_data_size) : 0);
    return;
  }
  digest->AddInt(node.builtin_data == nullptr ? 0 : 1);
  (void)std::any_of(std::begin(kGroups), std::end(kGroups),
                    [&](const auto add) { return add(builtin_code, node.builtin_data, digest); });
}

}  // namespace deputy::sandbox
