// SPDX-License-Identifier: Apache-2.0
//
// One function per builtin operator, tflite::ops::builtin::Register_ADD() and so on, which returns
// the library's kernel; null for operators of which the library has none. The kernels are static
// and must not be changed. A program that uses few operators adds them to a MutableOpResolver.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_KERNELS_BUILTIN_OP_KERNELS_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_KERNELS_BUILTIN_OP_KERNELS_H_

#include "deputy/deputy_graph.h"
#include "tensorflow/lite/builtin_ops.h"
#include "tensorflow/lite/core/c/common.h"

// clang-format off
#define DEPUTY_FOR_EACH_BUILTIN_KERNEL(X)\
  X(ADD, kTfLiteBuiltinAdd)                                                                       \
  X(AVERAGE_POOL_2D, kTfLiteBuiltinAveragePool2d)                                                 \
  X(CONCATENATION, kTfLiteBuiltinConcatenation)                                                   \
  X(CONV_2D, kTfLiteBuiltinConv2d)                                                                \
  X(DEPTHWISE_CONV_2D, kTfLiteBuiltinDepthwiseConv2d)                                             \
  X(DEPTH_TO_SPACE, kTfLiteBuiltinDepthToSpace)                                                   \
  X(DEQUANTIZE, kTfLiteBuiltinDequantize)                                                         \
  X(EMBEDDING_LOOKUP, kTfLiteBuiltinEmbeddingLookup)                                              \
  X(FLOOR, kTfLiteBuiltinFloor)                                                                   \
  X(FULLY_CONNECTED, kTfLiteBuiltinFullyConnected)                                                \
  X(HASHTABLE_LOOKUP, kTfLiteBuiltinHashtableLookup)                                              \
  X(L2_NORMALIZATION, kTfLiteBuiltinL2Normalization)                                              \
  X(L2_POOL_2D, kTfLiteBuiltinL2Pool2d)                                                           \
  X(LOCAL_RESPONSE_NORMALIZATION, kTfLiteBuiltinLocalResponseNormalization)                       \
  X(LOGISTIC, kTfLiteBuiltinLogistic)                                                             \
  X(LSH_PROJECTION, kTfLiteBuiltinLshProjection)                                                  \
  X(LSTM, kTfLiteBuiltinLstm)                                                                     \
  X(MAX_POOL_2D, kTfLiteBuiltinMaxPool2d)                                                         \
  X(MUL, kTfLiteBuiltinMul)                                                                       \
  X(RELU, kTfLiteBuiltinRelu)                                                                     \
  X(RELU_N1_TO_1, kTfLiteBuiltinReluN1To1)                                                        \
  X(RELU6, kTfLiteBuiltinRelu6)                                                                   \
  X(RESHAPE, kTfLiteBuiltinReshape)                                                               \
  X(RESIZE_BILINEAR, kTfLiteBuiltinResizeBilinear)                                                \
  X(RNN, kTfLiteBuiltinRnn)                                                                       \
  X(SOFTMAX, kTfLiteBuiltinSoftmax)                                                               \
  X(SPACE_TO_DEPTH, kTfLiteBuiltinSpaceToDepth)                                                   \
  X(SVDF, kTfLiteBuiltinSvdf)                                                                     \
  X(TANH, kTfLiteBuiltinTanh)                                                                     \
  X(SKIP_GRAM, kTfLiteBuiltinSkipGram)                                                            \
  X(EMBEDDING_LOOKUP_SPARSE, kTfLiteBuiltinEmbeddingLookupSparse)                                 \
  X(PAD, kTfLiteBuiltinPad)                                                                       \
  X(UNIDIRECTIONAL_SEQUENCE_RNN, kTfLiteBuiltinUnidirectionalSequenceRnn)                         \
  X(GATHER, kTfLiteBuiltinGather)                                                                 \
  X(BATCH_TO_SPACE_ND, kTfLiteBuiltinBatchToSpaceNd)                                              \
  X(SPACE_TO_BATCH_ND, kTfLiteBuiltinSpaceToBatchNd)                                              \
  X(TRANSPOSE, kTfLiteBuiltinTranspose)                                                           \
  X(MEAN, kTfLiteBuiltinMean)                                                                     \
  X(SUB, kTfLiteBuiltinSub)                                                                       \
  X(DIV, kTfLiteBuiltinDiv)                                                                       \
  X(SQUEEZE, kTfLiteBuiltinSqueeze)                                                               \
  X(UNIDIRECTIONAL_SEQUENCE_LSTM, kTfLiteBuiltinUnidirectionalSequenceLstm)                       \
  X(STRIDED_SLICE, kTfLiteBuiltinStridedSlice)                                                    \
  X(BIDIRECTIONAL_SEQUENCE_RNN, kTfLiteBuiltinBidirectionalSequenceRnn)                           \
  X(EXP, kTfLiteBuiltinExp)                                                                       \
  X(TOPK_V2, kTfLiteBuiltinTopkV2)                                                                \
  X(SPLIT, kTfLiteBuiltinSplit)                                                                   \
  X(LOG_SOFTMAX, kTfLiteBuiltinLogSoftmax)                                                        \
  X(BIDIRECTIONAL_SEQUENCE_LSTM, kTfLiteBuiltinBidirectionalSequenceLstm)                         \
  X(CAST, kTfLiteBuiltinCast)                                                                     \
  X(PRELU, kTfLiteBuiltinPrelu)                                                                   \
  X(MAXIMUM, kTfLiteBuiltinMaximum)                                                               \
  X(ARG_MAX, kTfLiteBuiltinArgMax)                                                                \
  X(MINIMUM, kTfLiteBuiltinMinimum)                                                               \
  X(LESS, kTfLiteBuiltinLess)                                                                     \
  X(NEG, kTfLiteBuiltinNeg)                                                                       \
  X(PADV2, kTfLiteBuiltinPadv2)                                                                   \
  X(GREATER, kTfLiteBuiltinGreater)                                                               \
  X(GREATER_EQUAL, kTfLiteBuiltinGreaterEqual)                                                    \
  X(LESS_EQUAL, kTfLiteBuiltinLessEqual)                                                          \
  X(SELECT, kTfLiteBuiltinSelect)                                                                 \
  X(SLICE, kTfLiteBuiltinSlice)                                                                   \
  X(SIN, kTfLiteBuiltinSin)                                                                       \
  X(TRANSPOSE_CONV, kTfLiteBuiltinTransposeConv)                                                  \
  X(SPARSE_TO_DENSE, kTfLiteBuiltinSparseToDense)                                                 \
  X(TILE, kTfLiteBuiltinTile)                                                                     \
  X(EXPAND_DIMS, kTfLiteBuiltinExpandDims)                                                        \
  X(EQUAL, kTfLiteBuiltinEqual)                                                                   \
  X(NOT_EQUAL, kTfLiteBuiltinNotEqual)                                                            \
  X(LOG, kTfLiteBuiltinLog)                                                                       \
  X(SUM, kTfLiteBuiltinSum)                                                                       \
  X(SQRT, kTfLiteBuiltinSqrt)                                                                     \
  X(RSQRT, kTfLiteBuiltinRsqrt)                                                                   \
  X(SHAPE, kTfLiteBuiltinShape)                                                                   \
  X(POW, kTfLiteBuiltinPow)                                                                       \
  X(ARG_MIN, kTfLiteBuiltinArgMin)                                                                \
  X(FAKE_QUANT, kTfLiteBuiltinFakeQuant)                                                          \
  X(REDUCE_PROD, kTfLiteBuiltinReduceProd)                                                        \
  X(REDUCE_MAX, kTfLiteBuiltinReduceMax)                                                          \
  X(PACK, kTfLiteBuiltinPack)                                                                     \
  X(LOGICAL_OR, kTfLiteBuiltinLogicalOr)                                                          \
  X(ONE_HOT, kTfLiteBuiltinOneHot)                                                                \
  X(LOGICAL_AND, kTfLiteBuiltinLogicalAnd)                                                        \
  X(LOGICAL_NOT, kTfLiteBuiltinLogicalNot)                                                        \
  X(UNPACK, kTfLiteBuiltinUnpack)                                                                 \
  X(REDUCE_MIN, kTfLiteBuiltinReduceMin)                                                          \
  X(FLOOR_DIV, kTfLiteBuiltinFloorDiv)                                                            \
  X(REDUCE_ANY, kTfLiteBuiltinReduceAny)                                                          \
  X(SQUARE, kTfLiteBuiltinSquare)                                                                 \
  X(ZEROS_LIKE, kTfLiteBuiltinZerosLike)                                                          \
  X(FILL, kTfLiteBuiltinFill)                                                                     \
  X(FLOOR_MOD, kTfLiteBuiltinFloorMod)                                                            \
  X(RANGE, kTfLiteBuiltinRange)                                                                   \
  X(RESIZE_NEAREST_NEIGHBOR, kTfLiteBuiltinResizeNearestNeighbor)                                 \
  X(LEAKY_RELU, kTfLiteBuiltinLeakyRelu)                                                          \
  X(SQUARED_DIFFERENCE, kTfLiteBuiltinSquaredDifference)                                          \
  X(MIRROR_PAD, kTfLiteBuiltinMirrorPad)                                                          \
  X(ABS, kTfLiteBuiltinAbs)                                                                       \
  X(SPLIT_V, kTfLiteBuiltinSplitV)                                                                \
  X(UNIQUE, kTfLiteBuiltinUnique)                                                                 \
  X(CEIL, kTfLiteBuiltinCeil)                                                                     \
  X(REVERSE_V2, kTfLiteBuiltinReverseV2)                                                          \
  X(ADD_N, kTfLiteBuiltinAddN)                                                                    \
  X(GATHER_ND, kTfLiteBuiltinGatherNd)                                                            \
  X(COS, kTfLiteBuiltinCos)                                                                       \
  X(WHERE, kTfLiteBuiltinWhere)                                                                   \
  X(RANK, kTfLiteBuiltinRank)                                                                     \
  X(ELU, kTfLiteBuiltinElu)                                                                       \
  X(REVERSE_SEQUENCE, kTfLiteBuiltinReverseSequence)                                              \
  X(MATRIX_DIAG, kTfLiteBuiltinMatrixDiag)                                                        \
  X(QUANTIZE, kTfLiteBuiltinQuantize)                                                             \
  X(MATRIX_SET_DIAG, kTfLiteBuiltinMatrixSetDiag)                                                 \
  X(ROUND, kTfLiteBuiltinRound)                                                                   \
  X(HARD_SWISH, kTfLiteBuiltinHardSwish)                                                          \
  X(IF, kTfLiteBuiltinIf)                                                                         \
  X(WHILE, kTfLiteBuiltinWhile)                                                                   \
  X(NON_MAX_SUPPRESSION_V4, kTfLiteBuiltinNonMaxSuppressionV4)                                    \
  X(NON_MAX_SUPPRESSION_V5, kTfLiteBuiltinNonMaxSuppressionV5)                                    \
  X(SCATTER_ND, kTfLiteBuiltinScatterNd)                                                          \
  X(SELECT_V2, kTfLiteBuiltinSelectV2)                                                            \
  X(DENSIFY, kTfLiteBuiltinDensify)                                                               \
  X(SEGMENT_SUM, kTfLiteBuiltinSegmentSum)                                                        \
  X(BATCH_MATMUL, kTfLiteBuiltinBatchMatmul)                                                      \
  X(CUMSUM, kTfLiteBuiltinCumsum)                                                                 \
  X(CALL_ONCE, kTfLiteBuiltinCallOnce)                                                            \
  X(BROADCAST_TO, kTfLiteBuiltinBroadcastTo)                                                      \
  X(RFFT2D, kTfLiteBuiltinRfft2d)                                                                 \
  X(CONV_3D, kTfLiteBuiltinConv3d)                                                                \
  X(IMAG, kTfLiteBuiltinImag)                                                                     \
  X(REAL, kTfLiteBuiltinReal)                                                                     \
  X(COMPLEX_ABS, kTfLiteBuiltinComplexAbs)                                                        \
  X(HASHTABLE, kTfLiteBuiltinHashtable)                                                           \
  X(HASHTABLE_FIND, kTfLiteBuiltinHashtableFind)                                                  \
  X(HASHTABLE_IMPORT, kTfLiteBuiltinHashtableImport)                                              \
  X(HASHTABLE_SIZE, kTfLiteBuiltinHashtableSize)                                                  \
  X(REDUCE_ALL, kTfLiteBuiltinReduceAll)                                                          \
  X(CONV_3D_TRANSPOSE, kTfLiteBuiltinConv3dTranspose)                                             \
  X(VAR_HANDLE, kTfLiteBuiltinVarHandle)                                                          \
  X(READ_VARIABLE, kTfLiteBuiltinReadVariable)                                                    \
  X(ASSIGN_VARIABLE, kTfLiteBuiltinAssignVariable)                                                \
  X(BROADCAST_ARGS, kTfLiteBuiltinBroadcastArgs)                                                  \
  X(RANDOM_STANDARD_NORMAL, kTfLiteBuiltinRandomStandardNormal)                                   \
  X(BUCKETIZE, kTfLiteBuiltinBucketize)                                                           \
  X(RANDOM_UNIFORM, kTfLiteBuiltinRandomUniform)                                                  \
  X(MULTINOMIAL, kTfLiteBuiltinMultinomial)                                                       \
  X(GELU, kTfLiteBuiltinGelu)                                                                     \
  X(DYNAMIC_UPDATE_SLICE, kTfLiteBuiltinDynamicUpdateSlice)                                       \
  X(RELU_0_TO_1, kTfLiteBuiltinRelu0To1)                                                          \
  X(UNSORTED_SEGMENT_PROD, kTfLiteBuiltinUnsortedSegmentProd)                                     \
  X(UNSORTED_SEGMENT_MAX, kTfLiteBuiltinUnsortedSegmentMax)                                       \
  X(UNSORTED_SEGMENT_SUM, kTfLiteBuiltinUnsortedSegmentSum)                                       \
  X(ATAN2, kTfLiteBuiltinAtan2)                                                                   \
  X(UNSORTED_SEGMENT_MIN, kTfLiteBuiltinUnsortedSegmentMin)                                       \
  X(SIGN, kTfLiteBuiltinSign)                                                                     \
  X(BITCAST, kTfLiteBuiltinBitcast)                                                               \
  X(BITWISE_XOR, kTfLiteBuiltinBitwiseXor)                                                        \
  X(RIGHT_SHIFT, kTfLiteBuiltinRightShift)                                                        \
  X(STABLEHLO_LOGISTIC, kTfLiteBuiltinStablehloLogistic)                                          \
  X(STABLEHLO_ADD, kTfLiteBuiltinStablehloAdd)                                                    \
  X(STABLEHLO_DIVIDE, kTfLiteBuiltinStablehloDivide)                                              \
  X(STABLEHLO_MULTIPLY, kTfLiteBuiltinStablehloMultiply)                                          \
  X(STABLEHLO_MAXIMUM, kTfLiteBuiltinStablehloMaximum)                                            \
  X(STABLEHLO_RESHAPE, kTfLiteBuiltinStablehloReshape)                                            \
  X(STABLEHLO_CLAMP, kTfLiteBuiltinStablehloClamp)                                                \
  X(STABLEHLO_CONCATENATE, kTfLiteBuiltinStablehloConcatenate)                                    \
  X(STABLEHLO_BROADCAST_IN_DIM, kTfLiteBuiltinStablehloBroadcastInDim)                            \
  X(STABLEHLO_CONVOLUTION, kTfLiteBuiltinStablehloConvolution)                                    \
  X(STABLEHLO_SLICE, kTfLiteBuiltinStablehloSlice)                                                \
  X(STABLEHLO_CUSTOM_CALL, kTfLiteBuiltinStablehloCustomCall)                                     \
  X(STABLEHLO_REDUCE, kTfLiteBuiltinStablehloReduce)                                              \
  X(STABLEHLO_ABS, kTfLiteBuiltinStablehloAbs)                                                    \
  X(STABLEHLO_AND, kTfLiteBuiltinStablehloAnd)                                                    \
  X(STABLEHLO_COSINE, kTfLiteBuiltinStablehloCosine)                                              \
  X(STABLEHLO_EXPONENTIAL, kTfLiteBuiltinStablehloExponential)                                    \
  X(STABLEHLO_FLOOR, kTfLiteBuiltinStablehloFloor)                                                \
  X(STABLEHLO_LOG, kTfLiteBuiltinStablehloLog)                                                    \
  X(STABLEHLO_MINIMUM, kTfLiteBuiltinStablehloMinimum)                                            \
  X(STABLEHLO_NEGATE, kTfLiteBuiltinStablehloNegate)                                              \
  X(STABLEHLO_OR, kTfLiteBuiltinStablehloOr)                                                      \
  X(STABLEHLO_POWER, kTfLiteBuiltinStablehloPower)                                                \
  X(STABLEHLO_REMAINDER, kTfLiteBuiltinStablehloRemainder)                                        \
  X(STABLEHLO_RSQRT, kTfLiteBuiltinStablehloRsqrt)                                                \
  X(STABLEHLO_SELECT, kTfLiteBuiltinStablehloSelect)                                              \
  X(STABLEHLO_SUBTRACT, kTfLiteBuiltinStablehloSubtract)                                          \
  X(STABLEHLO_TANH, kTfLiteBuiltinStablehloTanh)                                                  \
  X(STABLEHLO_SCATTER, kTfLiteBuiltinStablehloScatter)                                            \
  X(STABLEHLO_COMPARE, kTfLiteBuiltinStablehloCompare)                                            \
  X(STABLEHLO_CONVERT, kTfLiteBuiltinStablehloConvert)                                            \
  X(STABLEHLO_DYNAMIC_SLICE, kTfLiteBuiltinStablehloDynamicSlice)                                 \
  X(STABLEHLO_DYNAMIC_UPDATE_SLICE, kTfLiteBuiltinStablehloDynamicUpdateSlice)                    \
  X(STABLEHLO_PAD, kTfLiteBuiltinStablehloPad)                                                    \
  X(STABLEHLO_IOTA, kTfLiteBuiltinStablehloIota)                                                  \
  X(STABLEHLO_DOT_GENERAL, kTfLiteBuiltinStablehloDotGeneral)                                     \
  X(STABLEHLO_REDUCE_WINDOW, kTfLiteBuiltinStablehloReduceWindow)                                 \
  X(STABLEHLO_SORT, kTfLiteBuiltinStablehloSort)                                                  \
  X(STABLEHLO_WHILE, kTfLiteBuiltinStablehloWhile)                                                \
  X(STABLEHLO_GATHER, kTfLiteBuiltinStablehloGather)                                              \
  X(STABLEHLO_TRANSPOSE, kTfLiteBuiltinStablehloTranspose)                                        \
  X(DILATE, kTfLiteBuiltinDilate)                                                                 \
  X(STABLEHLO_RNG_BIT_GENERATOR, kTfLiteBuiltinStablehloRngBitGenerator)                          \
  X(REDUCE_WINDOW, kTfLiteBuiltinReduceWindow)                                                    \
  X(STABLEHLO_COMPOSITE, kTfLiteBuiltinStablehloComposite)                                        \
  X(STABLEHLO_SHIFT_LEFT, kTfLiteBuiltinStablehloShiftLeft)                                       \
  X(STABLEHLO_CBRT, kTfLiteBuiltinStablehloCbrt)                                                  \
  X(STABLEHLO_CASE, kTfLiteBuiltinStablehloCase)
// clang-format on

namespace tflite {
namespace ops {
namespace builtin {

#define DEPUTY_DEFINE_REGISTER(name, op)                                    \
  inline TfLiteRegistration* Register_##name() {                            \
    return const_cast<TfLiteRegistration*>(DeputyFindBuiltinKernel(op, 1)); \
  }
DEPUTY_FOR_EACH_BUILTIN_KERNEL(DEPUTY_DEFINE_REGISTER)
#undef DEPUTY_DEFINE_REGISTER

}  // namespace builtin
}  // namespace ops
}  // namespace tflite

#undef DEPUTY_FOR_EACH_BUILTIN_KERNEL

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_CORE_KERNELS_BUILTIN_OP_KERNELS_H_
