// SPDX-License-Identifier: Apache-2.0
//
// Parameters of the builtin operators: the structs that `TfLiteNode.builtin_data` points to.
//
// Each struct is a zeroed malloc block, created by the loader, one per node, and freed with the
// node. If the model has no options for the operator all fields are zero. The comment of a struct
// lists the operators that use it; all other operators have NULL. A struct whose comment states
// an older size was extended at its end by that release: a delegate that may run with an older
// runtime must not read the new fields.
#ifndef DEPUTY_C_API_INCLUDE_BUILTIN_OP_DATA_H_
#define DEPUTY_C_API_INCLUDE_BUILTIN_OP_DATA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Maximum rank of `shape` in TfLiteReshapeParams.
#define TFLITE_RESHAPE_PARAMS_MAX_DIMENSION_COUNT 8
// Maximum number of dimensions in TfLiteStablehloScatterParams.
#define TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT 8
// Maximum number of dimensions in TfLiteStablehloGatherParams.
#define TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT 8
// Maximum number of dimensions in TfLiteStablehloReduceWindowParams.
#define TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT 8
// Maximum number of dimensions in TfLiteStablehloPadParams.
#define TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT 8
// Maximum number of branches in TfLiteStablehloCaseParams.
#define TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT 20

// Padding scheme of convolutions and poolings.
typedef enum {
  // Invalid value.
  kTfLitePaddingUnknown = 0,
  // Padded on both sides so that the output size is ceil(input size / stride).
  kTfLitePaddingSame = 1,
  // No padding: only windows that are inside the input.
  kTfLitePaddingValid = 2,
} TfLitePadding;

// Mirroring scheme of MIRROR_PAD.
typedef enum {
  // Invalid value.
  kTfLiteMirrorPaddingUnknown = 0,
  // The border element is not repeated.
  kTfLiteMirrorPaddingReflect = 1,
  // The border element is repeated.
  kTfLiteMirrorPaddingSymmetric = 2,
} TfLiteMirrorPaddingMode;

// Activation function, applied to each output element.
typedef enum {
  // No activation.
  kTfLiteActNone = 0,
  // max(0, x).
  kTfLiteActRelu = 1,
  // min(max(-1, x), 1).
  kTfLiteActReluN1To1 = 2,
  // min(max(0, x), 6).
  kTfLiteActRelu6 = 3,
  // tanh(x).
  kTfLiteActTanh = 4,
  // The sign bit.
  kTfLiteActSignBit = 5,
  // 1 / (1 + exp(-x)).
  kTfLiteActSigmoid = 6,
} TfLiteFusedActivation;

// Layout of the weights of FULLY_CONNECTED.
typedef enum {
  // One row per output unit.
  kTfLiteFullyConnectedWeightsFormatDefault = 0,
  // Shuffled blocks of 4 x 16 int8 values.
  kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8 = 1,
} TfLiteFullyConnectedWeightsFormat;

// Output format of LSH_PROJECTION.
typedef enum {
  // Invalid value.
  kTfLiteLshProjectionUnknown = 0,
  // One number per hash.
  kTfLiteLshProjectionSparse = 1,
  // One bit per element.
  kTfLiteLshProjectionDense = 2,
} TfLiteLSHProjectionType;

// Set of inputs of an LSTM node.
typedef enum {
  // The node has 20 or 24 inputs, some of them optional.
  kTfLiteLSTMFullKernel = 0,
  // The node has 5 inputs.
  kTfLiteLSTMBasicKernel = 1,
} TfLiteLSTMKernelType;

// Combination of embedding rows.
typedef enum {
  // Weighted sum.
  kTfLiteCombinerTypeSum = 0,
  // Weighted sum, divided by the sum of weights.
  kTfLiteCombinerTypeMean = 1,
  // Weighted sum, divided by the square root of the sum of squared weights.
  kTfLiteCombinerTypeSqrtn = 2,
} TfLiteCombinerType;

// Random number generator.
typedef enum TfLiteRngAlgorithm {
  // Invalid value.
  kTfLiteRngAlgorithmUnknown = 0,
  // The implementation chooses.
  kTfLiteRngAlgorithmDefault = 1,
  // The Philox generator.
  kTfLiteRngAlgorithmPhilox = 2,
  // Threefry.
  kTfLiteRngAlgorithmThreefry = 3,
} TfLiteRngAlgorithm;

// Reduction of REDUCE_WINDOW over each window.
typedef enum TfLiteReduceWindowFunction {
  // Invalid value.
  TfLiteReduceWindowFunctionUnsupported = 0,
  // Sum.
  TfLiteReduceWindowFunctionAdd = 1,
  // Product.
  TfLiteReduceWindowFunctionMul = 2,
  // Minimum.
  TfLiteReduceWindowFunctionMin = 3,
  // Maximum.
  TfLiteReduceWindowFunctionMax = 4,
  // Logical AND.
  TfLiteReduceWindowFunctionAll = 5,
  // Logical OR.
  TfLiteReduceWindowFunctionAny = 6,
} TfLiteReduceWindowFunction;

// Member of structs without parameters: makes their size one byte in C and in C++.
typedef struct {
  // Unused.
  char dummy;
} EmptyStructPlaceholder;

// Padding in elements. If the total is odd, the additional element is after the last row or column.
typedef struct TfLitePaddingValues {
  // Elements before the first column.
  int width;
  // Elements before the first row.
  int height;
  // Additional elements after the last column: 1 if the total width is odd.
  int width_offset;
  // Additional elements after the last row: 1 if the total height is odd.
  int height_offset;
} TfLitePaddingValues;

// Parameters of MIRROR_PAD.
typedef struct TfLiteMirrorPaddingParams {
  // Mirroring scheme.
  TfLiteMirrorPaddingMode mode;
} TfLiteMirrorPaddingParams;

// Parameters of CONV_2D. The struct had 24 bytes before TensorFlow 2.15.
typedef struct TfLiteConvParams {
  // Padding scheme.
  TfLitePadding padding;
  // Stride in width.
  int stride_width;
  // Stride in height.
  int stride_height;
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Dilation in width, 1 for none.
  int dilation_width_factor;
  // Dilation in height, 1 for none.
  int dilation_height_factor;
  // Bias type if the filter is quantised; kTfLiteNoType if unspecified.
  TfLiteType quantized_bias_type;
} TfLiteConvParams;

// Parameters of CONV_3D and CONV_3D_TRANSPOSE.
typedef struct TfLiteConv3DParams {
  // Padding scheme.
  TfLitePadding padding;
  // Stride in width.
  int stride_width;
  // Stride in height.
  int stride_height;
  // Stride in depth.
  int stride_depth;
  // Dilation in width, 1 for none.
  int dilation_width_factor;
  // Dilation in height, 1 for none.
  int dilation_height_factor;
  // Dilation in depth, 1 for none.
  int dilation_depth_factor;
  // Activation function of the output.
  TfLiteFusedActivation activation;
} TfLiteConv3DParams;

// Parameters of CONV_3D_TRANSPOSE, the same struct as that of CONV_3D.
typedef TfLiteConv3DParams TfLiteConv3DTransposeParams;

// Parameters of AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D.
typedef struct TfLitePoolParams {
  // Padding scheme.
  TfLitePadding padding;
  // Stride in width.
  int stride_width;
  // Stride in height.
  int stride_height;
  // Window width.
  int filter_width;
  // Window height.
  int filter_height;
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Values that the kernel's prepare computes.
  struct {
    TfLitePaddingValues padding;
  } computed;
} TfLitePoolParams;

// Parameters of DEPTHWISE_CONV_2D.
typedef struct TfLiteDepthwiseConvParams {
  // Padding scheme.
  TfLitePadding padding;
  // Stride in width.
  int stride_width;
  // Stride in height.
  int stride_height;
  // Number of output channels per input channel. The kernel computes it from the shapes and ignores
  // this field.
  int depth_multiplier;
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Dilation in width, 1 for none.
  int dilation_width_factor;
  // Dilation in height, 1 for none.
  int dilation_height_factor;
} TfLiteDepthwiseConvParams;

// Parameters of SVDF.
typedef struct TfLiteSVDFParams {
  // Number of filters per output unit.
  int rank;
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteSVDFParams;

// Parameters of RNN.
typedef struct TfLiteRNNParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteRNNParams;

// Parameters of UNIDIRECTIONAL_SEQUENCE_RNN.
typedef struct TfLiteSequenceRNNParams {
  // True if dimension 0 is time, false if it is the batch.
  bool time_major;
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteSequenceRNNParams;

// Parameters of BIDIRECTIONAL_SEQUENCE_RNN.
typedef struct TfLiteBidirectionalSequenceRNNParams {
  // True if dimension 0 is time, false if it is the batch.
  bool time_major;
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // True if the outputs of both directions are concatenated in one tensor.
  bool merge_outputs;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteBidirectionalSequenceRNNParams;

// Parameters of FULLY_CONNECTED. The struct had 12 bytes before TensorFlow 2.15.
typedef struct TfLiteFullyConnectedParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Layout of the weights.
  TfLiteFullyConnectedWeightsFormat weights_format;
  // True if the output has the rank of the input.
  bool keep_num_dims;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
  // Bias type if the filter is quantised; kTfLiteNoType if unspecified.
  TfLiteType quantized_bias_type;
} TfLiteFullyConnectedParams;

// Parameters of LSH_PROJECTION.
typedef struct TfLiteLSHProjectionParams {
  // Output format.
  TfLiteLSHProjectionType type;
} TfLiteLSHProjectionParams;

// Parameters of SOFTMAX.
typedef struct TfLiteSoftmaxParams {
  // Factor of the logits.
  float beta;
} TfLiteSoftmaxParams;

// Parameters of CONCATENATION.
typedef struct TfLiteConcatenationParams {
  // Index of the dimension, counted from the end if negative.
  int axis;
  // Activation function of the output.
  TfLiteFusedActivation activation;
} TfLiteConcatenationParams;

// Parameters of ADD.
typedef struct TfLiteAddParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // True if the scales of int16 tensors are powers of two.
  bool pot_scale_int16;
} TfLiteAddParams;

// Struct that is never created: SPACE_TO_BATCH_ND has no builtin data.
typedef struct TfLiteSpaceToBatchNDParams {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLiteSpaceToBatchNDParams;

// Struct that is never created: BATCH_TO_SPACE_ND has no builtin data.
typedef struct TfLiteBatchToSpaceNDParams {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLiteBatchToSpaceNDParams;

// Parameters of BATCH_MATMUL.
typedef struct TfLiteBatchMatMulParams {
  // True if the left matrices are transposed.
  bool adj_x;
  // True if the right matrices are transposed.
  bool adj_y;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteBatchMatMulParams;

// Parameters of MUL.
typedef struct TfLiteMulParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
} TfLiteMulParams;

// Parameters of SUB.
typedef struct TfLiteSubParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // True if the scales of int16 tensors are powers of two.
  bool pot_scale_int16;
} TfLiteSubParams;

// Parameters of DIV.
typedef struct TfLiteDivParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
} TfLiteDivParams;

// Parameters of L2_NORMALIZATION.
typedef struct TfLiteL2NormParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
} TfLiteL2NormParams;

// Parameters of LOCAL_RESPONSE_NORMALIZATION.
typedef struct TfLiteLocalResponseNormParams {
  // Radius of the window over the channels.
  int radius;
  // Bias, added to the scaled sum before the power.
  float bias;
  // Factor of the sum of squares.
  float alpha;
  // Exponent of the biased sum.
  float beta;
} TfLiteLocalResponseNormParams;

// Parameters of LSTM.
typedef struct TfLiteLSTMParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Clipping bound of the cell state, 0 for none.
  float cell_clip;
  // Clipping bound of the projection, 0 for none.
  float proj_clip;
  // Set of inputs of the node.
  TfLiteLSTMKernelType kernel_type;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteLSTMParams;

// Parameters of UNIDIRECTIONAL_SEQUENCE_LSTM.
typedef struct TfLiteUnidirectionalSequenceLSTMParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Clipping bound of the cell state, 0 for none.
  float cell_clip;
  // Clipping bound of the projection, 0 for none.
  float proj_clip;
  // True if dimension 0 is time, false if it is the batch.
  bool time_major;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
  // True if the recurrent weights are diagonal matrices, stored as vectors.
  bool diagonal_recurrent_tensors;
} TfLiteUnidirectionalSequenceLSTMParams;

// Parameters of BIDIRECTIONAL_SEQUENCE_LSTM.
typedef struct TfLiteBidirectionalSequenceLSTMParams {
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Clipping bound of the cell state, 0 for none.
  float cell_clip;
  // Clipping bound of the projection, 0 for none.
  float proj_clip;
  // True if the outputs of both directions are concatenated in one tensor.
  bool merge_outputs;
  // True if dimension 0 is time, false if it is the batch.
  bool time_major;
  // True if hybrid kernels quantise their inputs asymmetrically, with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteBidirectionalSequenceLSTMParams;

// Parameters of RESIZE_BILINEAR.
typedef struct TfLiteResizeBilinearParams {
  // True if the centers of the corner pixels of input and output coincide.
  bool align_corners;
  // True if the center of pixel i is at i + 0.5.
  bool half_pixel_centers;
} TfLiteResizeBilinearParams;

// Parameters of RESIZE_NEAREST_NEIGHBOR.
typedef struct TfLiteResizeNearestNeighborParams {
  // True if the centers of the corner pixels of input and output coincide.
  bool align_corners;
  // True if the center of pixel i is at i + 0.5.
  bool half_pixel_centers;
} TfLiteResizeNearestNeighborParams;

// Struct that is never created: PAD has no builtin data.
typedef struct TfLitePadParams {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLitePadParams;

// Struct that is never created: PADV2 has no builtin data.
typedef struct TfLitePadV2Params {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLitePadV2Params;

// Parameters of RESHAPE.
typedef struct TfLiteReshapeParams {
  // New shape; -1 for at most one dimension that is computed from the others.
  int32_t shape[TFLITE_RESHAPE_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `shape`.
  int num_dimensions;
} TfLiteReshapeParams;

// Parameters of SKIP_GRAM.
typedef struct TfLiteSkipGramParams {
  // Number of words per n-gram.
  int ngram_size;
  // Maximum number of skipped words between two words of an n-gram.
  int max_skip_size;
  // True if n-grams with fewer words are included, too.
  bool include_all_ngrams;
} TfLiteSkipGramParams;

// Parameters of SPACE_TO_DEPTH.
typedef struct TfLiteSpaceToDepthParams {
  // Edge length of the blocks.
  int block_size;
} TfLiteSpaceToDepthParams;

// Parameters of DEPTH_TO_SPACE.
typedef struct TfLiteDepthToSpaceParams {
  // Edge length of the blocks.
  int block_size;
} TfLiteDepthToSpaceParams;

// Parameters of CAST.
typedef struct TfLiteCastParams {
  // Type to convert from.
  TfLiteType in_data_type;
  // Type to convert to.
  TfLiteType out_data_type;
} TfLiteCastParams;

// Parameters of EMBEDDING_LOOKUP_SPARSE.
typedef struct TfLiteEmbeddingLookupSparseParams {
  // Combination of the rows.
  TfLiteCombinerType combiner;
} TfLiteEmbeddingLookupSparseParams;

// Parameters of GATHER.
typedef struct TfLiteGatherParams {
  // Index of the dimension, counted from the end if negative.
  int axis;
  // Number of leading batch dimensions of both data and indices.
  int batch_dims;
} TfLiteGatherParams;

// Struct that is never created: TRANSPOSE has no builtin data.
typedef struct TfLiteTransposeParams {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLiteTransposeParams;

// Parameters of MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY and REDUCE_ALL.
typedef struct TfLiteReducerParams {
  // True if reduced dimensions are kept, with size 1.
  bool keep_dims;
} TfLiteReducerParams;

// Parameters of SPLIT.
typedef struct TfLiteSplitParams {
  // Number of outputs.
  int num_splits;
} TfLiteSplitParams;

// Parameters of SPLIT_V.
typedef struct TfLiteSplitVParams {
  // Number of outputs.
  int num_splits;
} TfLiteSplitVParams;

// Parameters of SQUEEZE.
typedef struct TfLiteSqueezeParams {
  // Dimensions to remove; if empty, all dimensions of size 1.
  int32_t squeeze_dims[8];
  // Number of valid entries of `squeeze_dims`.
  int num_squeeze_dims;
} TfLiteSqueezeParams;

// Parameters of STRIDED_SLICE. Bit i of a mask refers to entry i of begin, end and strides. The
// struct had 20 bytes before TensorFlow 2.14.
typedef struct TfLiteStridedSliceParams {
  // Mask of entries whose `begin` is ignored: the slice starts at the first element, or at the last
  // one if the stride is negative.
  int begin_mask;
  // Mask of entries whose `end` is ignored: the slice extends to the last element, or to the first
  // one if the stride is negative.
  int end_mask;
  // Mask of the entry that represents all unspecified dimensions.
  int ellipsis_mask;
  // Mask of entries that insert a dimension of size 1.
  int new_axis_mask;
  // Mask of entries that select one element and remove the dimension.
  int shrink_axis_mask;
  // True if `end` is relative to `begin`.
  bool offset;
} TfLiteStridedSliceParams;

// Parameters of ARG_MAX.
typedef struct TfLiteArgMaxParams {
  // Type of the indices.
  TfLiteType output_type;
} TfLiteArgMaxParams;

// Parameters of ARG_MIN.
typedef struct TfLiteArgMinParams {
  // Type of the indices.
  TfLiteType output_type;
} TfLiteArgMinParams;

// Parameters of TRANSPOSE_CONV. The struct had 12 bytes before TensorFlow 2.12, 16 before 2.15.
typedef struct TfLiteTransposeConvParams {
  // Padding scheme.
  TfLitePadding padding;
  // Stride in width.
  int stride_width;
  // Stride in height.
  int stride_height;
  // Activation function of the output.
  TfLiteFusedActivation activation;
  // Bias type if the filter is quantised; kTfLiteNoType if unspecified.
  TfLiteType quantized_bias_type;
} TfLiteTransposeConvParams;

// Parameters of SPARSE_TO_DENSE.
typedef struct TfLiteSparseToDenseParams {
  // True to request the check that the indices are sorted and in range.
  bool validate_indices;
} TfLiteSparseToDenseParams;

// Parameters of SHAPE.
typedef struct TfLiteShapeParams {
  // Type of the output.
  TfLiteType out_type;
} TfLiteShapeParams;

// Struct that is never created: RANK has no builtin data.
typedef struct TfLiteRankParams {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLiteRankParams;

// Parameters of FAKE_QUANT.
typedef struct TfLiteFakeQuantParams {
  // Smallest representable real value.
  float min;
  // Largest representable real value.
  float max;
  // Number of bits of the quantised values.
  int num_bits;
  // True if the smallest quantised value is not used.
  bool narrow_range;
} TfLiteFakeQuantParams;

// Parameters of PACK.
typedef struct TfLitePackParams {
  // Number of inputs.
  int values_count;
  // Index of the dimension, counted from the end if negative.
  int axis;
} TfLitePackParams;

// Parameters of ONE_HOT.
typedef struct TfLiteOneHotParams {
  // Index of the dimension, counted from the end if negative.
  int axis;
} TfLiteOneHotParams;

// Parameters of UNPACK.
typedef struct TfLiteUnpackParams {
  // Number of outputs.
  int num;
  // Index of the dimension, counted from the end if negative.
  int axis;
} TfLiteUnpackParams;

// Parameters of LEAKY_RELU.
typedef struct TfLiteLeakyReluParams {
  // Slope for negative inputs.
  float alpha;
} TfLiteLeakyReluParams;

// Parameters of UNIQUE.
typedef struct TfLiteUniqueParams {
  // Type of the index output.
  TfLiteType index_out_type;
} TfLiteUniqueParams;

// Parameters of REVERSE_SEQUENCE.
typedef struct TfLiteReverseSequenceParams {
  // Index of the dimension that is reversed.
  int seq_dim;
  // Index of the batch dimension, which has one length per element.
  int batch_dim;
} TfLiteReverseSequenceParams;

// Struct that is never created: MATRIX_DIAG has no builtin data.
typedef struct TfLiteMatrixDiagParams {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLiteMatrixDiagParams;

// Struct that is never created: MATRIX_SET_DIAG has no builtin data.
typedef struct TfLiteMatrixSetDiagParams {
  // Unused; the struct needs a member.
  EmptyStructPlaceholder placeholder;
} TfLiteMatrixSetDiagParams;

// Parameters of IF.
typedef struct TfLiteIfParams {
  // Index of the subgraph that runs if the condition is true.
  int then_subgraph_index;
  // Index of the subgraph that runs if the condition is false.
  int else_subgraph_index;
} TfLiteIfParams;

// Parameters of WHILE.
typedef struct TfLiteWhileParams {
  // Index of the subgraph that computes the condition.
  int cond_subgraph_index;
  // Index of the subgraph of the loop body.
  int body_subgraph_index;
} TfLiteWhileParams;

// Parameters of CUMSUM.
typedef struct TfLiteCumsumParams {
  // True if sum i excludes element i.
  bool exclusive;
  // True if sums start at the last element.
  bool reverse;
} TfLiteCumsumParams;

// Parameters of CALL_ONCE.
typedef struct TfLiteCallOnceParams {
  // Index of the subgraph that runs once per interpreter.
  int init_subgraph_index;
} TfLiteCallOnceParams;

// Parameters of HASHTABLE.
typedef struct TfLiteHashtableParams {
  // Number of the table in the model.
  int table_id;
  // Type of the keys.
  TfLiteType key_dtype;
  // Type of the values.
  TfLiteType value_dtype;
} TfLiteHashtableParams;

// Parameters of VAR_HANDLE. The strings point into the model.
typedef struct TfLiteVarHandleParams {
  // Namespace of the variable.
  const char* container;
  // Name of the variable.
  const char* shared_name;
} TfLiteVarHandleParams;

// Parameters of RANDOM_STANDARD_NORMAL, RANDOM_UNIFORM and MULTINOMIAL.
typedef struct TfLiteRandomParams {
  // First seed; if both seeds are 0, the kernel chooses unpredictable ones.
  int seed;
  // Second seed; see `seed`.
  int seed2;
} TfLiteRandomParams;

// Parameters of BUCKETIZE. The boundaries point into the model.
typedef struct TfLiteBucketizeParams {
  // Size of `boundaries`.
  int num_boundaries;
  // Bounds of the buckets, in ascending order.
  const float* boundaries;
} TfLiteBucketizeParams;

// Parameters of GELU.
typedef struct TfLiteGeluParams {
  // True if the approximation by tanh is used instead of erf.
  bool approximate;
} TfLiteGeluParams;

// Struct that is never created: STABLEHLO_CONCATENATE has no builtin data.
typedef struct TfLiteStablehloConcatenateParams {
  // Index of the dimension that is concatenated.
  int64_t dimension;
} TfLiteStablehloConcatenateParams;

// Parameters of STABLEHLO_SCATTER.
typedef struct TfLiteStablehloScatterParams {
  // True if the model promises that the indices are sorted; the kernel does not check it.
  bool indices_are_sorted;
  // Window dimensions of the updates.
  int64_t update_window_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `update_window_dims`.
  int num_update_window_dims;
  // Operand dimensions that the windows do not have.
  int64_t inserted_window_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `inserted_window_dims`.
  int num_inserted_window_dims;
  // Operand dimension of each index component.
  int64_t scatter_dims_to_operand_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `scatter_dims_to_operand_dims`.
  int num_scatter_dims_to_operand_dims;
  // Dimension of the indices tensor that contains the components of one index.
  int64_t index_vector_dim;
  // True if the model promises that no index occurs twice; the kernel does not check it.
  bool unique_indices;
  // Index of the subgraph that combines the old value and the update.
  int update_computation_subgraph_index;
} TfLiteStablehloScatterParams;

// Parameters of STABLEHLO_RNG_BIT_GENERATOR.
typedef struct TfLiteStablehloRngBitGeneratorParams {
  // Random number generator.
  TfLiteRngAlgorithm algorithm;
} TfLiteStablehloRngBitGeneratorParams;

// Parameters of STABLEHLO_GATHER.
typedef struct TfLiteStablehloGatherParams {
  // Output dimensions that are dimensions of a slice.
  int64_t offset_dims[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `offset_dims`.
  int num_offset_dims;
  // Operand dimensions that are removed from slices.
  int64_t collapsed_slice_dims[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `collapsed_slice_dims`.
  int num_collapsed_slice_dims;
  // Operand dimension of each index component.
  int64_t start_index_map[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `start_index_map`.
  int num_start_index_map;
  // Dimension of the indices tensor that contains the components of one index.
  int64_t index_vector_dim;
  // Size of a slice in each operand dimension.
  int64_t slice_sizes[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Number of valid entries of `slice_sizes`.
  int num_slice_sizes;
  // True if the model promises that the indices are sorted; the kernel does not check it.
  bool indices_are_sorted;
} TfLiteStablehloGatherParams;

// Parameters of STABLEHLO_REDUCE_WINDOW.
typedef struct TfLiteStablehloReduceWindowParams {
  // Size of the window in each dimension.
  int64_t window_dimensions[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Stride of the window in each dimension.
  int64_t window_strides[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Dilation of the input in each dimension.
  int64_t base_dilations[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Dilation of the window in each dimension.
  int64_t window_dilations[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Padding before and after each dimension.
  int64_t padding[2 * TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Index of the subgraph that combines two values.
  int body_subgraph_index;
} TfLiteStablehloReduceWindowParams;

// Parameters of REDUCE_WINDOW.
typedef struct TfLiteReduceWindowParams {
  // Reduction over each window.
  enum TfLiteReduceWindowFunction reduce_function;
} TfLiteReduceWindowParams;

// Parameters of STABLEHLO_PAD.
typedef struct TfLiteStablehloPadParams {
  // Padding before the first element; may be negative.
  int64_t edge_padding_low[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
  // Padding after the last element; may be negative.
  int64_t edge_padding_high[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
  // Padding between adjacent elements.
  int64_t interior_padding[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
} TfLiteStablehloPadParams;

// Parameters of STABLEHLO_COMPOSITE. Name and attributes point into the model.
typedef struct TfLiteStablehloCompositeParams {
  // Name of the composite.
  const char* name;
  // Index of the subgraph with the decomposition.
  int32_t subgraph_index;
  // Version of the composite.
  int32_t version;
  // Attributes, a FlexBuffer map.
  const uint8_t* attributes;
  // Size of `attributes` in bytes.
  size_t attributes_size;
} TfLiteStablehloCompositeParams;

// Parameters of STABLEHLO_CASE.
typedef struct TfLiteStablehloCaseParams {
  // Indices of the branches' subgraphs.
  int32_t branch_subgraph_indices[TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT];
  // Number of valid entries of `branch_subgraph_indices`.
  uint32_t num_branches;
} TfLiteStablehloCaseParams;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_BUILTIN_OP_DATA_H_
