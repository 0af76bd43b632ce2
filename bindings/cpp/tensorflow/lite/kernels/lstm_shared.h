// SPDX-License-Identifier: Apache-2.0
//
// Positions of the tensors of an LSTM node with 20 inputs, or 24 with layer normalisation. Absent
// optional inputs have the tensor index -1 or lie beyond the node's list.
#ifndef DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_LSTM_SHARED_H_
#define DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_LSTM_SHARED_H_

namespace tflite {
namespace ops {
namespace builtin {
namespace lstm {
namespace full {

inline constexpr int kInputTensor = 0;
inline constexpr int kOutputTensor = 0;  // in the list of outputs

// Weights of the gates. Those of the input gate are absent if it is coupled to the forget gate.
inline constexpr int kInputToInputWeightsTensor = 1;
inline constexpr int kInputToForgetWeightsTensor = 2;
inline constexpr int kInputToCellWeightsTensor = 3;
inline constexpr int kInputToOutputWeightsTensor = 4;
inline constexpr int kRecurrentToInputWeightsTensor = 5;
inline constexpr int kRecurrentToForgetWeightsTensor = 6;
inline constexpr int kRecurrentToCellWeightsTensor = 7;
inline constexpr int kRecurrentToOutputWeightsTensor = 8;

// Peephole weights, all optional.
inline constexpr int kCellToInputWeightsTensor = 9;
inline constexpr int kCellToForgetWeightsTensor = 10;
inline constexpr int kCellToOutputWeightsTensor = 11;

inline constexpr int kInputGateBiasTensor = 12;
inline constexpr int kForgetGateBiasTensor = 13;
inline constexpr int kCellGateBiasTensor = 14;
inline constexpr int kOutputGateBiasTensor = 15;

// Projection of the output, optional.
inline constexpr int kProjectionWeightsTensor = 16;
inline constexpr int kProjectionBiasTensor = 17;

// Variables that persist from one inference to the next.
inline constexpr int kOutputStateTensor = 18;
inline constexpr int kCellStateTensor = 19;

// Layer normalisation, optional.
inline constexpr int kInputLayerNormCoefficientsTensor = 20;
inline constexpr int kForgetLayerNormCoefficientsTensor = 21;
inline constexpr int kCellLayerNormCoefficientsTensor = 22;
inline constexpr int kOutputLayerNormCoefficientsTensor = 23;

}  // namespace full
}  // namespace lstm
}  // namespace builtin
}  // namespace ops
}  // namespace tflite

#endif  // DEPUTY_BINDINGS_CPP_TENSORFLOW_LITE_KERNELS_LSTM_SHARED_H_
