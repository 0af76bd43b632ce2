// SPDX-License-Identifier: Apache-2.0
//
// Sizes of the options structs of builtin operators. util.h includes it.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_BUILTIN_OP_SIZES_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_BUILTIN_OP_SIZES_H_

#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"

namespace tflite {
namespace builtin_op_sizes_internal {

// Size in bytes of the options struct of the operator with this number; 0 if it has none.
inline int SizeOfOptions(int op) {
  switch (op) {
    case kTfLiteBuiltinAdd:
      return static_cast<int>(sizeof(TfLiteAddParams));
    case kTfLiteBuiltinArgMax:
      return static_cast<int>(sizeof(TfLiteArgMaxParams));
    case kTfLiteBuiltinArgMin:
      return static_cast<int>(sizeof(TfLiteArgMinParams));
    case kTfLiteBuiltinBatchMatmul:
      return static_cast<int>(sizeof(TfLiteBatchMatMulParams));
    case kTfLiteBuiltinBatchToSpaceNd:
      return static_cast<int>(sizeof(TfLiteBatchToSpaceNDParams));
    case kTfLiteBuiltinBidirectionalSequenceLstm:
      return static_cast<int>(sizeof(TfLiteBidirectionalSequenceLSTMParams));
    case kTfLiteBuiltinBidirectionalSequenceRnn:
      return static_cast<int>(sizeof(TfLiteBidirectionalSequenceRNNParams));
    case kTfLiteBuiltinBucketize:
      return static_cast<int>(sizeof(TfLiteBucketizeParams));
    case kTfLiteBuiltinCall:
    case kTfLiteBuiltinCallOnce:
      return static_cast<int>(sizeof(TfLiteCallOnceParams));
    case kTfLiteBuiltinCast:
      return static_cast<int>(sizeof(TfLiteCastParams));
    case kTfLiteBuiltinConcatenation:
      return static_cast<int>(sizeof(TfLiteConcatenationParams));
    case kTfLiteBuiltinConv3d:
    case kTfLiteBuiltinConv3dTranspose:
      return static_cast<int>(sizeof(TfLiteConv3DParams));
    case kTfLiteBuiltinConv2d:
      return static_cast<int>(sizeof(TfLiteConvParams));
    case kTfLiteBuiltinCumsum:
      return static_cast<int>(sizeof(TfLiteCumsumParams));
    case kTfLiteBuiltinDelegate:
      return static_cast<int>(sizeof(TfLiteDelegateParams));
    case kTfLiteBuiltinDepthToSpace:
      return static_cast<int>(sizeof(TfLiteDepthToSpaceParams));
    case kTfLiteBuiltinDepthwiseConv2d:
      return static_cast<int>(sizeof(TfLiteDepthwiseConvParams));
    case kTfLiteBuiltinDiv:
      return static_cast<int>(sizeof(TfLiteDivParams));
    case kTfLiteBuiltinEmbeddingLookupSparse:
      return static_cast<int>(sizeof(TfLiteEmbeddingLookupSparseParams));
    case kTfLiteBuiltinFakeQuant:
      return static_cast<int>(sizeof(TfLiteFakeQuantParams));
    case kTfLiteBuiltinFullyConnected:
      return static_cast<int>(sizeof(TfLiteFullyConnectedParams));
    case kTfLiteBuiltinGather:
      return static_cast<int>(sizeof(TfLiteGatherParams));
    case kTfLiteBuiltinGelu:
      return static_cast<int>(sizeof(TfLiteGeluParams));
    case kTfLiteBuiltinHashtable:
      return static_cast<int>(sizeof(TfLiteHashtableParams));
    case kTfLiteBuiltinIf:
      return static_cast<int>(sizeof(TfLiteIfParams));
    case kTfLiteBuiltinL2Normalization:
      return static_cast<int>(sizeof(TfLiteL2NormParams));
    case kTfLiteBuiltinLshProjection:
      return static_cast<int>(sizeof(TfLiteLSHProjectionParams));
    case kTfLiteBuiltinLstm:
      return static_cast<int>(sizeof(TfLiteLSTMParams));
    case kTfLiteBuiltinLeakyRelu:
      return static_cast<int>(sizeof(TfLiteLeakyReluParams));
    case kTfLiteBuiltinLocalResponseNormalization:
      return static_cast<int>(sizeof(TfLiteLocalResponseNormParams));
    case kTfLiteBuiltinMatrixDiag:
      return static_cast<int>(sizeof(TfLiteMatrixDiagParams));
    case kTfLiteBuiltinMatrixSetDiag:
      return static_cast<int>(sizeof(TfLiteMatrixSetDiagParams));
    case kTfLiteBuiltinMirrorPad:
      return static_cast<int>(sizeof(TfLiteMirrorPaddingParams));
    case kTfLiteBuiltinMul:
      return static_cast<int>(sizeof(TfLiteMulParams));
    case kTfLiteBuiltinOneHot:
      return static_cast<int>(sizeof(TfLiteOneHotParams));
    case kTfLiteBuiltinPack:
      return static_cast<int>(sizeof(TfLitePackParams));
    case kTfLiteBuiltinPad:
      return static_cast<int>(sizeof(TfLitePadParams));
    case kTfLiteBuiltinPadv2:
      return static_cast<int>(sizeof(TfLitePadV2Params));
    case kTfLiteBuiltinAveragePool2d:
    case kTfLiteBuiltinL2Pool2d:
    case kTfLiteBuiltinMaxPool2d:
      return static_cast<int>(sizeof(TfLitePoolParams));
    case kTfLiteBuiltinRnn:
      return static_cast<int>(sizeof(TfLiteRNNParams));
    case kTfLiteBuiltinRandomStandardNormal:
    case kTfLiteBuiltinRandomUniform:
    case kTfLiteBuiltinMultinomial:
      return static_cast<int>(sizeof(TfLiteRandomParams));
    case kTfLiteBuiltinRank:
      return static_cast<int>(sizeof(TfLiteRankParams));
    case kTfLiteBuiltinReduceWindow:
      return static_cast<int>(sizeof(TfLiteReduceWindowParams));
    case kTfLiteBuiltinMean:
    case kTfLiteBuiltinSum:
    case kTfLiteBuiltinReduceProd:
    case kTfLiteBuiltinReduceMax:
    case kTfLiteBuiltinReduceMin:
    case kTfLiteBuiltinReduceAny:
    case kTfLiteBuiltinReduceAll:
      return static_cast<int>(sizeof(TfLiteReducerParams));
    case kTfLiteBuiltinReshape:
      return static_cast<int>(sizeof(TfLiteReshapeParams));
    case kTfLiteBuiltinResizeBilinear:
      return static_cast<int>(sizeof(TfLiteResizeBilinearParams));
    case kTfLiteBuiltinResizeNearestNeighbor:
      return static_cast<int>(sizeof(TfLiteResizeNearestNeighborParams));
    case kTfLiteBuiltinReverseSequence:
      return static_cast<int>(sizeof(TfLiteReverseSequenceParams));
    case kTfLiteBuiltinSvdf:
      return static_cast<int>(sizeof(TfLiteSVDFParams));
    case kTfLiteBuiltinUnidirectionalSequenceRnn:
      return static_cast<int>(sizeof(TfLiteSequenceRNNParams));
    case kTfLiteBuiltinShape:
      return static_cast<int>(sizeof(TfLiteShapeParams));
    case kTfLiteBuiltinSkipGram:
      return static_cast<int>(sizeof(TfLiteSkipGramParams));
    case kTfLiteBuiltinSoftmax:
      return static_cast<int>(sizeof(TfLiteSoftmaxParams));
    case kTfLiteBuiltinSpaceToBatchNd:
      return static_cast<int>(sizeof(TfLiteSpaceToBatchNDParams));
    case kTfLiteBuiltinSpaceToDepth:
      return static_cast<int>(sizeof(TfLiteSpaceToDepthParams));
    case kTfLiteBuiltinSparseToDense:
      return static_cast<int>(sizeof(TfLiteSparseToDenseParams));
    case kTfLiteBuiltinSplit:
      return static_cast<int>(sizeof(TfLiteSplitParams));
    case kTfLiteBuiltinSplitV:
      return static_cast<int>(sizeof(TfLiteSplitVParams));
    case kTfLiteBuiltinSqueeze:
      return static_cast<int>(sizeof(TfLiteSqueezeParams));
    case kTfLiteBuiltinStablehloCase:
      return static_cast<int>(sizeof(TfLiteStablehloCaseParams));
    case kTfLiteBuiltinStablehloComposite:
      return static_cast<int>(sizeof(TfLiteStablehloCompositeParams));
    case kTfLiteBuiltinStablehloGather:
      return static_cast<int>(sizeof(TfLiteStablehloGatherParams));
    case kTfLiteBuiltinStablehloPad:
      return static_cast<int>(sizeof(TfLiteStablehloPadParams));
    case kTfLiteBuiltinStablehloReduceWindow:
      return static_cast<int>(sizeof(TfLiteStablehloReduceWindowParams));
    case kTfLiteBuiltinStablehloRngBitGenerator:
      return static_cast<int>(sizeof(TfLiteStablehloRngBitGeneratorParams));
    case kTfLiteBuiltinStablehloScatter:
      return static_cast<int>(sizeof(TfLiteStablehloScatterParams));
    case kTfLiteBuiltinStridedSlice:
      return static_cast<int>(sizeof(TfLiteStridedSliceParams));
    case kTfLiteBuiltinSub:
      return static_cast<int>(sizeof(TfLiteSubParams));
    case kTfLiteBuiltinTransposeConv:
      return static_cast<int>(sizeof(TfLiteTransposeConvParams));
    case kTfLiteBuiltinTranspose:
      return static_cast<int>(sizeof(TfLiteTransposeParams));
    case kTfLiteBuiltinUnidirectionalSequenceLstm:
      return static_cast<int>(sizeof(TfLiteUnidirectionalSequenceLSTMParams));
    case kTfLiteBuiltinUnique:
      return static_cast<int>(sizeof(TfLiteUniqueParams));
    case kTfLiteBuiltinUnpack:
      return static_cast<int>(sizeof(TfLiteUnpackParams));
    case kTfLiteBuiltinVarHandle:
      return static_cast<int>(sizeof(TfLiteVarHandleParams));
    case kTfLiteBuiltinWhile:
      return static_cast<int>(sizeof(TfLiteWhileParams));
    default:
      return 0;
  }
}

}  // namespace builtin_op_sizes_internal
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_BUILTIN_OP_SIZES_H_
