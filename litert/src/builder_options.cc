// SPDX-License-Identifier: Apache-2.0
//
// Options of operators that a builder has added. They are written as a FlatBuffer with an operator,
// so that they are read in the same way as those of a file.
#include "litert/c/litert_op_options.h"

#include <limits>

#include "litert/src/builder.h"
#include "litert/src/log.h"
#include "schema_generated.h"

using deputy::litert::Fail;
using deputy::litert::Guard;
using flatbuffers::FlatBufferBuilder;
using namespace deputy::schema;

// Exported by LiteRT 2.3.0, but in none of its headers.
extern "C" LITERT_CAPI_EXPORT LiteRtStatus LiteRtBuilderBuildShloCompositeOpOption(
    LiteRtBuilder builder, LiteRtOp op, const char* name, int32_t* decomposition_subgraph_index,
    int32_t* version, const uint8_t* attributes, size_t size);

namespace {

// Writes an operator with options, in the first or the second union.
template <typename Options>
void WriteOperator(FlatBufferBuilder& file, flatbuffers::Offset<Options> options) {
  constexpr BuiltinOptions kType = BuiltinOptionsTraits<Options>::enum_value;
  constexpr bool kIsFirst = kType != BuiltinOptions::NONE;
  const flatbuffers::Offset<void> none = 0;
  file.Finish(CreateOperator(
      file, 0, 0, 0, kType, kIsFirst ? options.Union() : none, 0, CustomOptionsFormat::FLEXBUFFERS,
      0, 0, 0, 0, BuiltinOptions2Traits<Options>::enum_value, kIsFirst ? none : options.Union()));
}

// Calls `create`, which writes the options, for an operator that the builder has added.
template <typename Create>
LiteRtStatus Write(LiteRtBuilder builder, LiteRtOp op, LiteRtOpCode code, const Create& create) {
  return Guard([&] {
    if (!builder->Owns(op) || op->code != code) {
      return Fail(kLiteRtStatusErrorInvalidArgument,
                  "builder: expected an operator with code %d that the builder has added",
                  static_cast<int>(code));
    }
    FlatBufferBuilder file;
    WriteOperator(file, create(file));
    op->owned_options.assign(file.GetBufferPointer(), file.GetBufferPointer() + file.GetSize());
    op->options = flatbuffers::GetRoot<Operator>(op->owned_options.data());
    return kLiteRtStatusOk;
  });
}

// Argument with the number of an enumerator.
template <typename Enum>
struct Choice {
  const uint32_t* number;
};

template <typename T>
bool IsValid(const T* value) {
  return value != nullptr;
}
template <typename Enum>
bool IsValid(const Choice<Enum>& choice) {
  return choice.number != nullptr && *choice.number <= static_cast<uint32_t>(Enum::MAX);
}

template <typename T>
T ValueOf(const T* value) {
  return *value;
}
template <typename Enum>
Enum ValueOf(const Choice<Enum>& choice) {
  return static_cast<Enum>(*choice.number);
}

// Writes options with the values of the arguments.
template <typename Create, typename... Args>
LiteRtStatus Set(LiteRtBuilder builder, LiteRtOp op, LiteRtOpCode code, const Create& create,
                 Args... args) {
  if (builder == nullptr || op == nullptr || !(IsValid(args) && ...)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Write(builder, op, code,
               [&](FlatBufferBuilder& file) { return create(file, ValueOf(args)...); });
}

// Writes options with a list.
template <typename Create>
LiteRtStatus SetList(LiteRtBuilder builder, LiteRtOp op, LiteRtOpCode code, const Create& create,
                     const int32_t* list, int32_t size) {
  if (builder == nullptr || op == nullptr || size < 0 || (size > 0 && list == nullptr)) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Write(builder, op, code, [&](FlatBufferBuilder& file) {
    return create(file, file.CreateVector(list, static_cast<size_t>(size)));
  });
}

using Activation = Choice<ActivationFunctionType>;

// Writes the options of an operator with a fused activation only.
template <typename Create>
LiteRtStatus SetActivation(LiteRtBuilder builder, LiteRtOp op, LiteRtOpCode code,
                           const Create& create, const uint32_t* activation) {
  return Set(
      builder, op, code,
      [&](FlatBufferBuilder& file, ActivationFunctionType value) { return create(file, value); },
      Activation{activation});
}

LiteRtStatus SetReducer(LiteRtBuilder builder, LiteRtOp op, LiteRtOpCode code,
                        const bool* keepdims) {
  return Set(builder, op, code, CreateReducerOptions, keepdims);
}

LiteRtStatus SetPool(LiteRtBuilder builder, LiteRtOp op, LiteRtOpCode code, const uint32_t* padding,
                     const int32_t* stride_w, const int32_t* stride_h, const int32_t* filter_width,
                     const int32_t* filter_height, const uint32_t* activation) {
  return Set(builder, op, code, CreatePool2DOptions, Choice<Padding>{padding}, stride_w, stride_h,
             filter_width, filter_height, Activation{activation});
}

}  // namespace

LiteRtStatus LiteRtBuilderBuildAddOpOption(LiteRtBuilder builder, LiteRtOp op,
                                           uint32_t* fused_activation) {
  return SetActivation(
      builder, op, kLiteRtOpCodeTflAdd,
      [](auto& file, auto value) { return CreateAddOptions(file, value); }, fused_activation);
}

LiteRtStatus LiteRtBuilderBuildSubOpOption(LiteRtBuilder builder, LiteRtOp op,
                                           uint32_t* fused_activation) {
  return SetActivation(
      builder, op, kLiteRtOpCodeTflSub,
      [](auto& file, auto value) { return CreateSubOptions(file, value); }, fused_activation);
}

LiteRtStatus LiteRtBuilderBuildMulOpOption(LiteRtBuilder builder, LiteRtOp op,
                                           uint32_t* fused_activation) {
  return SetActivation(
      builder, op, kLiteRtOpCodeTflMul,
      [](auto& file, auto value) { return CreateMulOptions(file, value); }, fused_activation);
}

LiteRtStatus LiteRtBuilderBuildDivOpOption(LiteRtBuilder builder, LiteRtOp op,
                                           uint32_t* fused_activation) {
  return SetActivation(
      builder, op, kLiteRtOpCodeTflDiv,
      [](auto& file, auto value) { return CreateDivOptions(file, value); }, fused_activation);
}

LiteRtStatus LiteRtBuilderBuildLeakyReluOpOption(LiteRtBuilder builder, LiteRtOp op, float* alpha) {
  return Set(builder, op, kLiteRtOpCodeTflLeakyRelu, CreateLeakyReluOptions, alpha);
}

LiteRtStatus LiteRtBuilderBuildGeluOpOption(LiteRtBuilder builder, LiteRtOp op, bool* approximate) {
  return Set(builder, op, kLiteRtOpCodeTflGelu, CreateGeluOptions, approximate);
}

LiteRtStatus LiteRtBuilderBuildSoftmaxOpOption(LiteRtBuilder builder, LiteRtOp op, float* beta) {
  return Set(builder, op, kLiteRtOpCodeTflSoftmax, CreateSoftmaxOptions, beta);
}

LiteRtStatus LiteRtBuilderBuildCumsumOpOption(LiteRtBuilder builder, LiteRtOp op, bool* exclusive,
                                              bool* reverse) {
  return Set(builder, op, kLiteRtOpCodeTflCumsum, CreateCumsumOptions, exclusive, reverse);
}

LiteRtStatus LiteRtBuilderBuildBatchMatmulOpOption(LiteRtBuilder builder, LiteRtOp op, bool* adj_x,
                                                   bool* adj_y, bool* asymmetric_quantize_input) {
  return Set(builder, op, kLiteRtOpCodeTflBatchMatmul, CreateBatchMatMulOptions, adj_x, adj_y,
             asymmetric_quantize_input);
}

LiteRtStatus LiteRtBuilderBuildFullyConnectedOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                      uint32_t* fused_activation,
                                                      uint32_t* weights_format, bool* keep_num_dims,
                                                      uint32_t* quantized_bias_type,
                                                      bool* asymmetric_quantize_input) {
  return Set(
      builder, op, kLiteRtOpCodeTflFullyConnected,
      [](FlatBufferBuilder& file, auto activation, auto format, bool keeps, TensorType bias,
         bool asymmetric) {
        return CreateFullyConnectedOptions(file, activation, format, keeps, asymmetric, bias);
      },
      Activation{fused_activation}, Choice<FullyConnectedOptionsWeightsFormat>{weights_format},
      keep_num_dims, Choice<TensorType>{quantized_bias_type}, asymmetric_quantize_input);
}

LiteRtStatus LiteRtBuilderBuildConv2dOpOption(LiteRtBuilder builder, LiteRtOp op, uint32_t* padding,
                                              int32_t* stride_w, int32_t* stride_h,
                                              int32_t* dilation_w_factor,
                                              int32_t* dilation_h_factor,
                                              uint32_t* fused_activation_function) {
  return Set(
      builder, op, kLiteRtOpCodeTflConv2d,
      [](FlatBufferBuilder& file, Padding p, int32_t w, int32_t h, int32_t dilation_w,
         int32_t dilation_h, ActivationFunctionType activation) {
        return CreateConv2DOptions(file, p, w, h, activation, dilation_w, dilation_h);
      },
      Choice<Padding>{padding}, stride_w, stride_h, dilation_w_factor, dilation_h_factor,
      Activation{fused_activation_function});
}

LiteRtStatus LiteRtBuilderBuildConv3dOpOption(LiteRtBuilder builder, LiteRtOp op, uint32_t* padding,
                                              int32_t* stride_w, int32_t* stride_h,
                                              int32_t* stride_d, int32_t* dilation_w_factor,
                                              int32_t* dilation_h_factor,
                                              int32_t* dilation_d_factor,
                                              uint32_t* fused_activation_function) {
  return Set(
      builder, op, kLiteRtOpCodeTflConv3d,
      [](FlatBufferBuilder& file, Padding p, int32_t w, int32_t h, int32_t d, int32_t dilation_w,
         int32_t dilation_h, int32_t dilation_d, ActivationFunctionType activation) {
        return CreateConv3DOptions(file, p, d, w, h, activation, dilation_d, dilation_w,
                                   dilation_h);
      },
      Choice<Padding>{padding}, stride_w, stride_h, stride_d, dilation_w_factor, dilation_h_factor,
      dilation_d_factor, Activation{fused_activation_function});
}

LiteRtStatus LiteRtBuilderBuildDepthwiseConv2dOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                       uint32_t* padding, int32_t* stride_w,
                                                       int32_t* stride_h, int32_t* depth_multiplier,
                                                       uint32_t* fused_activation_function,
                                                       int32_t* dilation_w_factor,
                                                       int32_t* dilation_h_factor) {
  return Set(builder, op, kLiteRtOpCodeTflDepthwiseConv2d, CreateDepthwiseConv2DOptions,
             Choice<Padding>{padding}, stride_w, stride_h, depth_multiplier,
             Activation{fused_activation_function}, dilation_w_factor, dilation_h_factor);
}

LiteRtStatus LiteRtBuilderBuildTransposeConvOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                     uint32_t* padding, int32_t* stride_w,
                                                     int32_t* stride_h,
                                                     uint32_t* fused_activation_function) {
  return Set(
      builder, op, kLiteRtOpCodeTflTransposeConv,
      [](FlatBufferBuilder& file, Padding p, int32_t w, int32_t h,
         ActivationFunctionType activation) {
        return CreateTransposeConvOptions(file, p, w, h, activation);
      },
      Choice<Padding>{padding}, stride_w, stride_h, Activation{fused_activation_function});
}

LiteRtStatus LiteRtBuilderBuildAveragePool2dOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                     uint32_t* padding, int32_t* stride_w,
                                                     int32_t* stride_h, int32_t* filter_width,
                                                     int32_t* filter_height,
                                                     uint32_t* fused_activation_function) {
  return SetPool(builder, op, kLiteRtOpCodeTflAveragePool2d, padding, stride_w, stride_h,
                 filter_width, filter_height, fused_activation_function);
}

LiteRtStatus LiteRtBuilderBuildMaxPool2dOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                 uint32_t* padding, int32_t* stride_w,
                                                 int32_t* stride_h, int32_t* filter_width,
                                                 int32_t* filter_height,
                                                 uint32_t* fused_activation_function) {
  return SetPool(builder, op, kLiteRtOpCodeTflMaxPool2d, padding, stride_w, stride_h, filter_width,
                 filter_height, fused_activation_function);
}

LiteRtStatus LiteRtBuilderBuildL2Pool2dOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                uint32_t* padding, int32_t* stride_w,
                                                int32_t* stride_h, int32_t* filter_width,
                                                int32_t* filter_height,
                                                uint32_t* fused_activation_function) {
  return SetPool(builder, op, kLiteRtOpCodeTflL2Pool2d, padding, stride_w, stride_h, filter_width,
                 filter_height, fused_activation_function);
}

LiteRtStatus LiteRtBuilderBuildSumOpOption(LiteRtBuilder builder, LiteRtOp op, bool* keepdims) {
  return SetReducer(builder, op, kLiteRtOpCodeTflSum, keepdims);
}

LiteRtStatus LiteRtBuilderBuildMeanOpOption(LiteRtBuilder builder, LiteRtOp op, bool* keepdims) {
  return SetReducer(builder, op, kLiteRtOpCodeTflMean, keepdims);
}

LiteRtStatus LiteRtBuilderBuildReduceMaxOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                 bool* keepdims) {
  return SetReducer(builder, op, kLiteRtOpCodeTflReduceMax, keepdims);
}

LiteRtStatus LiteRtBuilderBuildReduceMinOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                 bool* keepdims) {
  return SetReducer(builder, op, kLiteRtOpCodeTflReduceMin, keepdims);
}

LiteRtStatus LiteRtBuilderBuildReduceAnyOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                 bool* keepdims) {
  return SetReducer(builder, op, kLiteRtOpCodeTflReduceAny, keepdims);
}

LiteRtStatus LiteRtBuilderBuildReduceAllOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                 bool* keepdims) {
  return SetReducer(builder, op, kLiteRtOpCodeTflReduceAll, keepdims);
}

LiteRtStatus LiteRtBuilderBuildReshapeOpOption(LiteRtBuilder builder, LiteRtOp op,
                                               int32_t* new_shape, int32_t new_shape_size) {
  return SetList(builder, op, kLiteRtOpCodeTflReshape, CreateReshapeOptions, new_shape,
                 new_shape_size);
}

LiteRtStatus LiteRtBuilderBuildSqueezeOpOption(LiteRtBuilder builder, LiteRtOp op,
                                               const int32_t* squeeze_dims,
                                               int32_t num_squeeze_dims) {
  return SetList(builder, op, kLiteRtOpCodeTflSqueeze, CreateSqueezeOptions, squeeze_dims,
                 num_squeeze_dims);
}

LiteRtStatus LiteRtBuilderBuildConcatenationOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                     uint32_t* fused_activation, int32_t* axis) {
  return Set(builder, op, kLiteRtOpCodeTflConcatenation, CreateConcatenationOptions, axis,
             Activation{fused_activation});
}

LiteRtStatus LiteRtBuilderBuildSplitOpOption(LiteRtBuilder builder, LiteRtOp op,
                                             int32_t* num_splits) {
  return Set(builder, op, kLiteRtOpCodeTflSplit, CreateSplitOptions, num_splits);
}

LiteRtStatus LiteRtBuilderBuildSplitVOpOption(LiteRtBuilder builder, LiteRtOp op,
                                              int32_t* num_splits) {
  return Set(builder, op, kLiteRtOpCodeTflSplitV, CreateSplitVOptions, num_splits);
}

LiteRtStatus LiteRtBuilderBuildPackOpOption(LiteRtBuilder builder, LiteRtOp op, int32_t* axis,
                                            int32_t* values_count) {
  return Set(builder, op, kLiteRtOpCodeTflPack, CreatePackOptions, values_count, axis);
}

LiteRtStatus LiteRtBuilderBuildUnpackOpOption(LiteRtBuilder builder, LiteRtOp op, int32_t* axis,
                                              int32_t* num) {
  return Set(builder, op, kLiteRtOpCodeTflUnpack, CreateUnpackOptions, num, axis);
}

LiteRtStatus LiteRtBuilderBuildGatherOpOption(LiteRtBuilder builder, LiteRtOp op, int32_t* axis,
                                              int32_t* batch_dims) {
  return Set(builder, op, kLiteRtOpCodeTflGather, CreateGatherOptions, axis, batch_dims);
}

LiteRtStatus LiteRtBuilderBuildOneHotOpOption(LiteRtBuilder builder, LiteRtOp op, int32_t* axis) {
  return Set(builder, op, kLiteRtOpCodeTflOneHot, CreateOneHotOptions, axis);
}

LiteRtStatus LiteRtBuilderBuildStridedSliceOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                    int32_t* begin_mask, int32_t* end_mask,
                                                    int32_t* ellipsis_mask, int32_t* new_axis_mask,
                                                    int32_t* shrink_axis_mask, bool* offset) {
  return Set(builder, op, kLiteRtOpCodeTflStridedSlice, CreateStridedSliceOptions, begin_mask,
             end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask, offset);
}

LiteRtStatus LiteRtBuilderBuildMirrorPadOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                 uint32_t* mode) {
  return Set(builder, op, kLiteRtOpCodeTflMirrorPad, CreateMirrorPadOptions,
             Choice<MirrorPadMode>{mode});
}

LiteRtStatus LiteRtBuilderBuildDepthToSpaceOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                    int32_t* block_size) {
  return Set(builder, op, kLiteRtOpCodeTflDepthToSpace, CreateDepthToSpaceOptions, block_size);
}

LiteRtStatus LiteRtBuilderBuildSpaceToDepthOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                    int32_t* block_size) {
  return Set(builder, op, kLiteRtOpCodeTflSpaceToDepth, CreateSpaceToDepthOptions, block_size);
}

LiteRtStatus LiteRtBuilderBuildResizeBilinearOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                      bool* align_corners,
                                                      bool* half_pixel_centers) {
  return Set(builder, op, kLiteRtOpCodeTflResizeBilinear, CreateResizeBilinearOptions,
             align_corners, half_pixel_centers);
}

LiteRtStatus LiteRtBuilderBuildResizeNearestNeighborOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                             bool* align_corners,
                                                             bool* half_pixel_centers) {
  return Set(builder, op, kLiteRtOpCodeTflResizeNearestNeighbor, CreateResizeNearestNeighborOptions,
             align_corners, half_pixel_centers);
}

LiteRtStatus LiteRtBuilderBuildShloCompositeOpOption(LiteRtBuilder builder, LiteRtOp op,
                                                     const char* name,
                                                     int32_t* decomposition_subgraph_index,
                                                     int32_t* version, const uint8_t* attributes,
                                                     size_t size) {
  if (builder == nullptr || op == nullptr || name == nullptr ||
      decomposition_subgraph_index == nullptr || version == nullptr ||
      (attributes == nullptr && size > 0) || size > std::numeric_limits<int32_t>::max() / 2) {
    return kLiteRtStatusErrorInvalidArgument;
  }
  return Write(builder, op, kLiteRtOpCodeShloComposite, [&](FlatBufferBuilder& file) {
    const auto name_text = file.CreateString(name);
    const auto bytes = file.CreateVector(attributes, size);
    return CreateStableHLOCompositeOptions(file, name_text, *decomposition_subgraph_index, bytes,
                                           CustomOptionsFormat::FLEXBUFFERS, *version);
  });
}
