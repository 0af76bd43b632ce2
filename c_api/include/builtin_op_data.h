// SPDX-License-Identifier: Apache-2.0
//
// The parameters of the builtin operators: what `TfLiteNode.builtin_data` points to.
//
// Each struct is a zeroed malloc block, made by the loader, one per node, and freed with the node.
// It is there even when the model has no options for the operator; then all fields are zero. The
// comment of a struct names the operators that carry it; an operator that none of them names has
// NULL. Fields that say so were appended by a later release: a delegate that may meet an older
// runtime must not read them.
#ifndef DEPUTY_C_API_INCLUDE_BUILTIN_OP_DATA_H_
#define DEPUTY_C_API_INCLUDE_BUILTIN_OP_DATA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"

#ifdef __cplusplus
extern "C" {
#endif

// Room for a shape in RESHAPE.
#define TFLITE_RESHAPE_PARAMS_MAX_DIMENSION_COUNT 8
// Room for dimensions in STABLEHLO_SCATTER.
#define TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT 8
// Room for dimensions in STABLEHLO_GATHER.
#define TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT 8
// Room for dimensions in STABLEHLO_REDUCE_WINDOW.
#define TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT 8
// Room for dimensions in STABLEHLO_PAD.
#define TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT 8
// Room for branches in STABLEHLO_CASE.
#define TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT 20

// How the border of an image is padded.
typedef enum {
  // Not a valid choice.
  kTfLitePaddingUnknown = 0,
  // Zeros around, so that the output has ceil(input / stride) positions.
  kTfLitePaddingSame = 1,
  // None: only windows inside the input.
  kTfLitePaddingValid = 2,
} TfLitePadding;

// How a border is mirrored.
typedef enum {
  // Not a valid choice.
  kTfLiteMirrorPaddingUnknown = 0,
  // The border element is not repeated.
  kTfLiteMirrorPaddingReflect = 1,
  // The border element is repeated.
  kTfLiteMirrorPaddingSymmetric = 2,
} TfLiteMirrorPaddingMode;

// Applied to each output element.
typedef enum {
  // Nothing.
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
  // Rows of outputs.
  kTfLiteFullyConnectedWeightsFormatDefault = 0,
  // Blocks of 4 x 16 bytes.
  kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8 = 1,
} TfLiteFullyConnectedWeightsFormat;

// Result of LSH_PROJECTION.
typedef enum {
  // Not a valid choice.
  kTfLiteLshProjectionUnknown = 0,
  // One number per hash.
  kTfLiteLshProjectionSparse = 1,
  // One bit per element.
  kTfLiteLshProjectionDense = 2,
} TfLiteLSHProjectionType;

// Which inputs an LSTM node has.
typedef enum {
  // 20 or 24 inputs, optional ones among them.
  kTfLiteLSTMFullKernel = 0,
  // 5 inputs.
  kTfLiteLSTMBasicKernel = 1,
} TfLiteLSTMKernelType;

// How embedding rows are combined.
typedef enum {
  // Their sum.
  kTfLiteCombinerTypeSum = 0,
  // Their mean.
  kTfLiteCombinerTypeMean = 1,
  // The sum over the root of the sum of squared weights.
  kTfLiteCombinerTypeSqrtn = 2,
} TfLiteCombinerType;

// Random number generator.
typedef enum TfLiteRngAlgorithm {
  // Not a valid choice.
  kTfLiteRngAlgorithmUnknown = 0,
  // The implementation chooses.
  kTfLiteRngAlgorithmDefault = 1,
  // Philox.
  kTfLiteRngAlgorithmPhilox = 2,
  // Threefry.
  kTfLiteRngAlgorithmThreefry = 3,
} TfLiteRngAlgorithm;

// What REDUCE_WINDOW computes over each window.
typedef enum TfLiteReduceWindowFunction {
  // Not a valid choice.
  TfLiteReduceWindowFunctionUnsupported = 0,
  // Sum.
  TfLiteReduceWindowFunctionAdd = 1,
  // Product.
  TfLiteReduceWindowFunctionMul = 2,
  // Smallest.
  TfLiteReduceWindowFunctionMin = 3,
  // Greatest.
  TfLiteReduceWindowFunctionMax = 4,
  // Logical and.
  TfLiteReduceWindowFunctionAll = 5,
  // Logical or.
  TfLiteReduceWindowFunctionAny = 6,
} TfLiteReduceWindowFunction;

// Keeps a struct without parameters one byte long in C and in C++ alike.
typedef struct {
  // Not used.
  char dummy;
} EmptyStructPlaceholder;

// Padding in elements. The offsets are the odd element that goes to the far side.
typedef struct TfLitePaddingValues {
  // Elements before the first column.
  int width;
  // Elements before the first row.
  int height;
  // The odd element in width: 1 if the total is odd.
  int width_offset;
  // The odd element in height: 1 if the total is odd.
  int height_offset;
} TfLitePaddingValues;

// MIRROR_PAD.
typedef struct TfLiteMirrorPaddingParams {
  // How the border is mirrored.
  TfLiteMirrorPaddingMode mode;
} TfLiteMirrorPaddingParams;

// CONV_2D. 24 bytes before TensorFlow 2.15.
typedef struct TfLiteConvParams {
  // How the border is padded.
  TfLitePadding padding;
  // Steps in width.
  int stride_width;
  // Steps in height.
  int stride_height;
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Distance of filter taps in width, 1 for none.
  int dilation_width_factor;
  // Distance of filter taps in height, 1 for none.
  int dilation_height_factor;
  // Bias type of quantised filters; kTfLiteNoType when not said.
  TfLiteType quantized_bias_type;
} TfLiteConvParams;

// CONV_3D and CONV_3D_TRANSPOSE.
typedef struct TfLiteConv3DParams {
  // How the border is padded.
  TfLitePadding padding;
  // Steps in width.
  int stride_width;
  // Steps in height.
  int stride_height;
  // Steps in depth.
  int stride_depth;
  // Distance of filter taps in width, 1 for none.
  int dilation_width_factor;
  // Distance of filter taps in height, 1 for none.
  int dilation_height_factor;
  // Distance of filter taps in depth, 1 for none.
  int dilation_depth_factor;
  // Applied to the output.
  TfLiteFusedActivation activation;
} TfLiteConv3DParams;

// CONV_3D_TRANSPOSE carries the same struct.
typedef TfLiteConv3DParams TfLiteConv3DTransposeParams;

// AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D.
typedef struct TfLitePoolParams {
  // How the border is padded.
  TfLitePadding padding;
  // Steps in width.
  int stride_width;
  // Steps in height.
  int stride_height;
  // Window width.
  int filter_width;
  // Window height.
  int filter_height;
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Written by the kernel's prepare.
  struct {
    TfLitePaddingValues padding;
  } computed;
} TfLitePoolParams;

// DEPTHWISE_CONV_2D.
typedef struct TfLiteDepthwiseConvParams {
  // How the border is padded.
  TfLitePadding padding;
  // Steps in width.
  int stride_width;
  // Steps in height.
  int stride_height;
  // Output channels per input channel. The kernel derives it from the shapes.
  int depth_multiplier;
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Distance of filter taps in width, 1 for none.
  int dilation_width_factor;
  // Distance of filter taps in height, 1 for none.
  int dilation_height_factor;
} TfLiteDepthwiseConvParams;

// SVDF.
typedef struct TfLiteSVDFParams {
  // Filters per output unit.
  int rank;
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteSVDFParams;

// RNN.
typedef struct TfLiteRNNParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteRNNParams;

// UNIDIRECTIONAL_SEQUENCE_RNN.
typedef struct TfLiteSequenceRNNParams {
  // Dimension 0 is time, not batch.
  bool time_major;
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteSequenceRNNParams;

// BIDIRECTIONAL_SEQUENCE_RNN.
typedef struct TfLiteBidirectionalSequenceRNNParams {
  // Dimension 0 is time, not batch.
  bool time_major;
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Both directions go to one output.
  bool merge_outputs;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteBidirectionalSequenceRNNParams;

// FULLY_CONNECTED. 12 bytes before TensorFlow 2.15.
typedef struct TfLiteFullyConnectedParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
  // How the weights are laid out.
  TfLiteFullyConnectedWeightsFormat weights_format;
  // The output keeps the rank of the input.
  bool keep_num_dims;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
  // Bias type of quantised filters; kTfLiteNoType when not said.
  TfLiteType quantized_bias_type;
} TfLiteFullyConnectedParams;

// LSH_PROJECTION.
typedef struct TfLiteLSHProjectionParams {
  // How the result is written.
  TfLiteLSHProjectionType type;
} TfLiteLSHProjectionParams;

// SOFTMAX.
typedef struct TfLiteSoftmaxParams {
  // Factor in the exponent.
  float beta;
} TfLiteSoftmaxParams;

// CONCATENATION.
typedef struct TfLiteConcatenationParams {
  // The dimension, counted from the end if negative.
  int axis;
  // Applied to the output.
  TfLiteFusedActivation activation;
} TfLiteConcatenationParams;

// ADD.
typedef struct TfLiteAddParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
  // int16 scales are powers of two.
  bool pot_scale_int16;
} TfLiteAddParams;

// Never produced: SPACE_TO_BATCH_ND has no builtin data.
typedef struct TfLiteSpaceToBatchNDParams {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLiteSpaceToBatchNDParams;

// Never produced: BATCH_TO_SPACE_ND has no builtin data.
typedef struct TfLiteBatchToSpaceNDParams {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLiteBatchToSpaceNDParams;

// BATCH_MATMUL.
typedef struct TfLiteBatchMatMulParams {
  // The left matrices are transposed.
  bool adj_x;
  // The right matrices are transposed.
  bool adj_y;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteBatchMatMulParams;

// MUL.
typedef struct TfLiteMulParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
} TfLiteMulParams;

// SUB.
typedef struct TfLiteSubParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
  // int16 scales are powers of two.
  bool pot_scale_int16;
} TfLiteSubParams;

// DIV.
typedef struct TfLiteDivParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
} TfLiteDivParams;

// L2_NORMALIZATION.
typedef struct TfLiteL2NormParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
} TfLiteL2NormParams;

// LOCAL_RESPONSE_NORMALIZATION.
typedef struct TfLiteLocalResponseNormParams {
  // Half window over the channels.
  int radius;
  // Added before the power.
  float bias;
  // Factor of the sum of squares.
  float alpha;
  // The power.
  float beta;
} TfLiteLocalResponseNormParams;

// LSTM.
typedef struct TfLiteLSTMParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Bound of the cell state, 0 for none.
  float cell_clip;
  // Bound of the projection, 0 for none.
  float proj_clip;
  // Which set of inputs the node has.
  TfLiteLSTMKernelType kernel_type;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteLSTMParams;

// UNIDIRECTIONAL_SEQUENCE_LSTM.
typedef struct TfLiteUnidirectionalSequenceLSTMParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Bound of the cell state, 0 for none.
  float cell_clip;
  // Bound of the projection, 0 for none.
  float proj_clip;
  // Dimension 0 is time, not batch.
  bool time_major;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
  // The recurrent weights are diagonals, stored as vectors.
  bool diagonal_recurrent_tensors;
} TfLiteUnidirectionalSequenceLSTMParams;

// BIDIRECTIONAL_SEQUENCE_LSTM.
typedef struct TfLiteBidirectionalSequenceLSTMParams {
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Bound of the cell state, 0 for none.
  float cell_clip;
  // Bound of the projection, 0 for none.
  float proj_clip;
  // Both directions go to one output.
  bool merge_outputs;
  // Dimension 0 is time, not batch.
  bool time_major;
  // Hybrid kernels quantise their inputs with a zero point.
  bool asymmetric_quantize_inputs;
} TfLiteBidirectionalSequenceLSTMParams;

// RESIZE_BILINEAR.
typedef struct TfLiteResizeBilinearParams {
  // The corner pixels of input and output coincide.
  bool align_corners;
  // Pixels are areas whose centre is at one half.
  bool half_pixel_centers;
} TfLiteResizeBilinearParams;

// RESIZE_NEAREST_NEIGHBOR.
typedef struct TfLiteResizeNearestNeighborParams {
  // The corner pixels of input and output coincide.
  bool align_corners;
  // Pixels are areas whose centre is at one half.
  bool half_pixel_centers;
} TfLiteResizeNearestNeighborParams;

// Never produced: PAD has no builtin data.
typedef struct TfLitePadParams {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLitePadParams;

// Never produced: PADV2 has no builtin data.
typedef struct TfLitePadV2Params {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLitePadV2Params;

// RESHAPE.
typedef struct TfLiteReshapeParams {
  // The new shape; -1 for the one dimension to be derived.
  int32_t shape[TFLITE_RESHAPE_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries of `shape`.
  int num_dimensions;
} TfLiteReshapeParams;

// SKIP_GRAM.
typedef struct TfLiteSkipGramParams {
  // Words per n-gram.
  int ngram_size;
  // Words that may be skipped between two.
  int max_skip_size;
  // Shorter n-grams count, too.
  bool include_all_ngrams;
} TfLiteSkipGramParams;

// SPACE_TO_DEPTH.
typedef struct TfLiteSpaceToDepthParams {
  // Edge of the block.
  int block_size;
} TfLiteSpaceToDepthParams;

// DEPTH_TO_SPACE.
typedef struct TfLiteDepthToSpaceParams {
  // Edge of the block.
  int block_size;
} TfLiteDepthToSpaceParams;

// CAST.
typedef struct TfLiteCastParams {
  // Type to convert from.
  TfLiteType in_data_type;
  // Type to convert to.
  TfLiteType out_data_type;
} TfLiteCastParams;

// EMBEDDING_LOOKUP_SPARSE.
typedef struct TfLiteEmbeddingLookupSparseParams {
  // How the rows are combined.
  TfLiteCombinerType combiner;
} TfLiteEmbeddingLookupSparseParams;

// GATHER.
typedef struct TfLiteGatherParams {
  // The dimension, counted from the end if negative.
  int axis;
  // Leading dimensions that index and data share.
  int batch_dims;
} TfLiteGatherParams;

// Never produced: TRANSPOSE has no builtin data.
typedef struct TfLiteTransposeParams {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLiteTransposeParams;

// MEAN, SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY and REDUCE_ALL.
typedef struct TfLiteReducerParams {
  // Reduced dimensions stay with length 1.
  bool keep_dims;
} TfLiteReducerParams;

// SPLIT.
typedef struct TfLiteSplitParams {
  // Number of outputs.
  int num_splits;
} TfLiteSplitParams;

// SPLIT_V.
typedef struct TfLiteSplitVParams {
  // Number of outputs.
  int num_splits;
} TfLiteSplitVParams;

// SQUEEZE.
typedef struct TfLiteSqueezeParams {
  // Dimensions to drop; all of length 1 if there are none.
  int32_t squeeze_dims[8];
  // Used entries of `squeeze_dims`.
  int num_squeeze_dims;
} TfLiteSqueezeParams;

// STRIDED_SLICE. Bit i of a mask is about dimension i. 20 bytes before TensorFlow 2.14.
typedef struct TfLiteStridedSliceParams {
  // Dimensions that start at their beginning.
  int begin_mask;
  // Dimensions that run to their end.
  int end_mask;
  // The entry that stands for all missing dimensions.
  int ellipsis_mask;
  // Entries that insert a dimension of length 1.
  int new_axis_mask;
  // Dimensions of which one element is taken and that disappear.
  int shrink_axis_mask;
  // `end` counts from `begin`.
  bool offset;
} TfLiteStridedSliceParams;

// ARG_MAX.
typedef struct TfLiteArgMaxParams {
  // Type of the indices.
  TfLiteType output_type;
} TfLiteArgMaxParams;

// ARG_MIN.
typedef struct TfLiteArgMinParams {
  // Type of the indices.
  TfLiteType output_type;
} TfLiteArgMinParams;

// TRANSPOSE_CONV. 12 bytes before TensorFlow 2.12, 16 before 2.15.
typedef struct TfLiteTransposeConvParams {
  // How the border is padded.
  TfLitePadding padding;
  // Steps in width.
  int stride_width;
  // Steps in height.
  int stride_height;
  // Applied to the output.
  TfLiteFusedActivation activation;
  // Bias type of quantised filters; kTfLiteNoType when not said.
  TfLiteType quantized_bias_type;
} TfLiteTransposeConvParams;

// SPARSE_TO_DENSE.
typedef struct TfLiteSparseToDenseParams {
  // Indices must be sorted and in range.
  bool validate_indices;
} TfLiteSparseToDenseParams;

// SHAPE.
typedef struct TfLiteShapeParams {
  // Type of the output.
  TfLiteType out_type;
} TfLiteShapeParams;

// Never produced: RANK has no builtin data.
typedef struct TfLiteRankParams {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLiteRankParams;

// FAKE_QUANT.
typedef struct TfLiteFakeQuantParams {
  // Real value of the lowest step.
  float min;
  // Real value of the highest step.
  float max;
  // Width of the stored number.
  int num_bits;
  // The lowest stored value is not used.
  bool narrow_range;
} TfLiteFakeQuantParams;

// PACK.
typedef struct TfLitePackParams {
  // Number of inputs.
  int values_count;
  // The dimension, counted from the end if negative.
  int axis;
} TfLitePackParams;

// ONE_HOT.
typedef struct TfLiteOneHotParams {
  // The dimension, counted from the end if negative.
  int axis;
} TfLiteOneHotParams;

// UNPACK.
typedef struct TfLiteUnpackParams {
  // Number of outputs.
  int num;
  // The dimension, counted from the end if negative.
  int axis;
} TfLiteUnpackParams;

// LEAKY_RELU.
typedef struct TfLiteLeakyReluParams {
  // Slope of the negative part.
  float alpha;
} TfLiteLeakyReluParams;

// UNIQUE.
typedef struct TfLiteUniqueParams {
  // Type of the index output.
  TfLiteType index_out_type;
} TfLiteUniqueParams;

// REVERSE_SEQUENCE.
typedef struct TfLiteReverseSequenceParams {
  // The dimension that is reversed.
  int seq_dim;
  // The dimension that selects the length.
  int batch_dim;
} TfLiteReverseSequenceParams;

// Never produced: MATRIX_DIAG has no builtin data.
typedef struct TfLiteMatrixDiagParams {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLiteMatrixDiagParams;

// Never produced: MATRIX_SET_DIAG has no builtin data.
typedef struct TfLiteMatrixSetDiagParams {
  // Not used.
  EmptyStructPlaceholder placeholder;
} TfLiteMatrixSetDiagParams;

// IF.
typedef struct TfLiteIfParams {
  // Run if the condition holds.
  int then_subgraph_index;
  // Run if it does not.
  int else_subgraph_index;
} TfLiteIfParams;

// WHILE.
typedef struct TfLiteWhileParams {
  // Says whether to go on.
  int cond_subgraph_index;
  // The subgraph to run.
  int body_subgraph_index;
} TfLiteWhileParams;

// CUMSUM.
typedef struct TfLiteCumsumParams {
  // Each sum leaves out its own element.
  bool exclusive;
  // Sums run from the end.
  bool reverse;
} TfLiteCumsumParams;

// CALL_ONCE.
typedef struct TfLiteCallOnceParams {
  // Run once per interpreter.
  int init_subgraph_index;
} TfLiteCallOnceParams;

// HASHTABLE.
typedef struct TfLiteHashtableParams {
  // Which table of the model.
  int table_id;
  // Type of the keys.
  TfLiteType key_dtype;
  // Type of the values.
  TfLiteType value_dtype;
} TfLiteHashtableParams;

// VAR_HANDLE. The strings point into the model.
typedef struct TfLiteVarHandleParams {
  // Name space of the variable.
  const char* container;
  // Name of the variable.
  const char* shared_name;
} TfLiteVarHandleParams;

// RANDOM_STANDARD_NORMAL, RANDOM_UNIFORM and MULTINOMIAL.
typedef struct TfLiteRandomParams {
  // First seed; 0 and 0 for any.
  int seed;
  // Second seed.
  int seed2;
} TfLiteRandomParams;

// BUCKETIZE. The boundaries point into the model.
typedef struct TfLiteBucketizeParams {
  // Length of `boundaries`.
  int num_boundaries;
  // Ascending bounds.
  const float* boundaries;
} TfLiteBucketizeParams;

// GELU.
typedef struct TfLiteGeluParams {
  // Use the tanh formula.
  bool approximate;
} TfLiteGeluParams;

// Never produced: STABLEHLO_CONCATENATE has no builtin data.
typedef struct TfLiteStablehloConcatenateParams {
  // The dimension to join.
  int64_t dimension;
} TfLiteStablehloConcatenateParams;

// STABLEHLO_SCATTER.
typedef struct TfLiteStablehloScatterParams {
  // A promise of the model.
  bool indices_are_sorted;
  // Window dimensions of the updates.
  int64_t update_window_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries.
  int num_update_window_dims;
  // Operand dimensions the windows lack.
  int64_t inserted_window_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries.
  int num_inserted_window_dims;
  // Operand dimension of each index component.
  int64_t scatter_dims_to_operand_dims[TFLITE_STABLEHLO_SCATTER_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries.
  int num_scatter_dims_to_operand_dims;
  // Dimension of the indices that holds one index.
  int64_t index_vector_dim;
  // A promise of the model.
  bool unique_indices;
  // Combines old value and update.
  int update_computation_subgraph_index;
} TfLiteStablehloScatterParams;

// STABLEHLO_RNG_BIT_GENERATOR.
typedef struct TfLiteStablehloRngBitGeneratorParams {
  // The generator.
  TfLiteRngAlgorithm algorithm;
} TfLiteStablehloRngBitGeneratorParams;

// STABLEHLO_GATHER.
typedef struct TfLiteStablehloGatherParams {
  // Output dimensions that walk a slice.
  int64_t offset_dims[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries.
  int num_offset_dims;
  // Slice dimensions that disappear.
  int64_t collapsed_slice_dims[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries.
  int num_collapsed_slice_dims;
  // Operand dimension of each index component.
  int64_t start_index_map[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries.
  int num_start_index_map;
  // Dimension of the indices that holds one index.
  int64_t index_vector_dim;
  // Extent of a slice.
  int64_t slice_sizes[TFLITE_STABLEHLO_GATHER_PARAMS_MAX_DIMENSION_COUNT];
  // Used entries.
  int num_slice_sizes;
  // A promise of the model.
  bool indices_are_sorted;
} TfLiteStablehloGatherParams;

// STABLEHLO_REDUCE_WINDOW.
typedef struct TfLiteStablehloReduceWindowParams {
  // Extent of the window.
  int64_t window_dimensions[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Steps of the window.
  int64_t window_strides[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Dilation of the input.
  int64_t base_dilations[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Dilation of the window.
  int64_t window_dilations[TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // Low and high padding of each dimension.
  int64_t padding[2 * TFLITE_STABLEHLO_REDUCE_WINDOW_PARAMS_MAX_DIMENSION_COUNT];
  // The subgraph to run.
  int body_subgraph_index;
} TfLiteStablehloReduceWindowParams;

// REDUCE_WINDOW.
typedef struct TfLiteReduceWindowParams {
  // What is computed.
  enum TfLiteReduceWindowFunction reduce_function;
} TfLiteReduceWindowParams;

// STABLEHLO_PAD.
typedef struct TfLiteStablehloPadParams {
  // Before the first element; may be negative.
  int64_t edge_padding_low[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
  // After the last element; may be negative.
  int64_t edge_padding_high[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
  // Between elements.
  int64_t interior_padding[TFLITE_STABLEHLO_PAD_PARAMS_MAX_DIMENSION_COUNT];
} TfLiteStablehloPadParams;

// STABLEHLO_COMPOSITE. Name and attributes point into the model.
typedef struct TfLiteStablehloCompositeParams {
  // Name of the composite.
  const char* name;
  // Its decomposition.
  int32_t subgraph_index;
  // Version of the composite.
  int32_t version;
  // FlexBuffer map of attributes.
  const uint8_t* attributes;
  // Size in bytes.
  size_t attributes_size;
} TfLiteStablehloCompositeParams;

// STABLEHLO_CASE.
typedef struct TfLiteStablehloCaseParams {
  // The branches.
  int32_t branch_subgraph_indices[TFLITE_STABLEHLO_CASE_PARAMS_MAX_BRANCHES_COUNT];
  // Used entries.
  uint32_t num_branches;
} TfLiteStablehloCaseParams;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DEPUTY_C_API_INCLUDE_BUILTIN_OP_DATA_H_
