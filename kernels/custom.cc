// SPDX-License-Identifier: Apache-2.0
//
// Two custom operators of this library; mediapipe.cc and audio.cc contain the others.
//
// Convolution2DTransposeBias is MediaPipe's float32 transposed convolution with bias, used by
// models from before TRANSPOSE_CONV had a bias. Its options are the first bytes of a
// TfLiteTransposeConvParams in C layout: padding and both strides. They determine the output's
// size.
//
// TFLite_Detection_PostProcess, which TensorFlow Lite also provides, is in post_process.cc.
#include <cstring>

#include "kernels/common/custom_op.h"
#include "kernels/common/families.h"
#include "kernels/common/kernel.h"
#include "kernels/conv/conv_transpose.h"
#include "kernels/post_process.h"

namespace deputy {
namespace {

struct BiasedTransposeData {
  size_t options_size = 0;
  TfLiteTransposeConvParams params = {};
  TransposeConv conv;
};

constexpr size_t kOptionsSize = offsetof(TfLiteTransposeConvParams, activation);

void* Init(TfLiteContext*, const char* options, size_t length) {
  auto* data = new BiasedTransposeData();
  data->options_size = options == nullptr ? 0 : length;
  if (data->options_size >= kOptionsSize) std::memcpy(&data->params, options, kOptionsSize);
  // Padding as an int: the model's bytes may have any value, which would be undefined in an enum.
  int padding = 0;
  std::memcpy(&padding, &data->params.padding, sizeof padding);
  if (padding != kTfLitePaddingSame && padding != kTfLitePaddingValid) {
    data->params.padding = kTfLitePaddingUnknown;
  }
  return data;
}

TransposeConv::Tensors TensorsOf(TfLiteContext* context, const TfLiteNode* node) {
  return {Input(context, node, 0), Input(context, node, 1), Input(context, node, 2),
          Output(context, node, 0)};
}

int64_t OutputExtent(TfLitePadding padding, int input, int filter, int stride) {
  return padding == kTfLitePaddingSame ? int64_t{input} * stride
                                       : int64_t{input - 1} * stride + filter;
}

TfLiteStatus Pack(TfLiteContext* context, TfLiteNode* node) {
  return DataOf<BiasedTransposeData>(node).conv.Pack(context, TensorsOf(context, node));
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 3, 3, 1));
  BiasedTransposeData& data = DataOf<BiasedTransposeData>(node);
  if (data.options_size < kOptionsSize) {
    return KernelError(context, "options: expected %zu bytes or more, found %zu", kOptionsSize,
                       data.options_size);
  }
  const TransposeConv::Tensors tensors = TensorsOf(context, node);
  DEPUTY_TRY(CheckType(context, tensors.input, kFloat32Bit));
  DEPUTY_TRY(CheckType(context, tensors.weights, kFloat32Bit));
  DEPUTY_TRY(data.conv.Prepare(context, tensors, data.params));
  const int64_t height = OutputExtent(data.params.padding, Dim(tensors.input, 1),
                                      Dim(tensors.weights, 1), data.params.stride_height);
  const int64_t width = OutputExtent(data.params.padding, Dim(tensors.input, 2),
                                     Dim(tensors.weights, 2), data.params.stride_width);
  if (height > (1 << 30) || width > (1 << 30)) {
    return TensorError(context, tensors.output, "its height and width would be %lld x %lld",
                       static_cast<long long>(height), static_cast<long long>(width));
  }
  const int dims[] = {Dim(tensors.input, 0), static_cast<int>(height), static_cast<int>(width),
                      Dim(tensors.weights, 0)};
  RequestPacking(context, node, &Guarded<&Pack>);
  return data.conv.SetOutput(context, tensors, data.params, dims);
}

TfLiteStatus Eval(TfLiteContext* context, TfLiteNode* node) {
  return DataOf<BiasedTransposeData>(node).conv.Run(context, TensorsOf(context, node));
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    CustomRow<&Prepare, &Eval>("Convolution2DTransposeBias", kFloat32Bit, &GuardedInit<&Init>,
                               &DeleteData<BiasedTransposeData>),
    CustomRow<&PreparePostProcess, &EvalPostProcess>(
        "TFLite_Detection_PostProcess", kFloat32Bit | kUInt8Bit, &GuardedInit<&InitPostProcess>,
        &FreePostProcess),
};

}  // namespace

constexpr std::span<const OpDef> kCustomOps = kTable;

}  // namespace deputy
