// SPDX-License-Identifier: Apache-2.0
//
// The tensors of one LSTM cell, as its three operators list them, and their checks. Without weights
// for the input gate, that gate is 1 less the forget gate ("CIFG"). Peephole weights add the cell
// state to the gates. Layer normalisation and projection are used if their tensors are present.
#ifndef DEPUTY_KERNELS_RNN_LSTM_CELL_H_
#define DEPUTY_KERNELS_RNN_LSTM_CELL_H_

#include "kernels/common/kernel.h"

namespace deputy {

enum LstmGateNumber { kInputGate, kForgetGate, kCellGate, kOutputGate, kLstmGates };

// Tensors of a gate; each is null if the gate does not have it. `input`, `auxiliary` and
// `recurrent` are weights [cells][depth]; `recurrent` may also be a diagonal, [cells]. The other
// tensors are [cells].
struct LstmGate {
  const TfLiteTensor* input = nullptr;
  const TfLiteTensor* auxiliary = nullptr;
  const TfLiteTensor* recurrent = nullptr;
  const TfLiteTensor* peephole = nullptr;
  const TfLiteTensor* norm = nullptr;
  const TfLiteTensor* bias = nullptr;
};

struct LstmCell {
  LstmGate gates[kLstmGates];
  const TfLiteTensor* projection = nullptr;       // shape [outputs][cells]
  const TfLiteTensor* projection_bias = nullptr;  // shape [outputs]
  TfLiteTensor* output_state = nullptr;           // variable with batches x outputs values
  TfLiteTensor* cell_state = nullptr;             // variable with batches x cells values

  bool couples_input() const { return gates[kInputGate].input == nullptr; }
  bool has_auxiliary() const {
    return gates[kForgetGate].auxiliary != nullptr || gates[kCellGate].auxiliary != nullptr ||
           gates[kOutputGate].auxiliary != nullptr;
  }
  bool has_norm() const { return gates[kForgetGate].norm != nullptr; }
  bool has_peephole() const {
    return gates[kForgetGate].peephole != nullptr || gates[kOutputGate].peephole != nullptr ||
           (!couples_input() && gates[kInputGate].peephole != nullptr);
  }
};

struct LstmSizes {
  int batches = 0, inputs = 0, auxiliary_inputs = 0, cells = 0, outputs = 0;
};

// Index of the first input of each group of a cell's tensors: the gates' input weights (in the
// order of LstmGateNumber), recurrent weights, peephole weights (without the cell gate) and biases;
// projection weights, followed by their bias; both states; the gates' auxiliary weights and
// normalisation coefficients. The index is -1 if the operator does not have the group.
struct LstmInputs {
  int input, recurrent, peephole, bias, projection, output_state, cell_state;
  int auxiliary, norm;
  // If true, normalisation coefficients are ignored unless the forget gate has some. If false, each
  // gate that has coefficients is normalised.
  bool norm_needs_forget;
};

inline constexpr LstmInputs kLstmInputs = {1, 5, 9, 12, 16, 18, 19, -1, 20, false};
inline constexpr LstmInputs kUnidirectionalInputs = {1, 5, 9, 12, 16, 18, 19, -1, 20, true};
inline constexpr LstmInputs kForwardInputs = {1, 5, 9, 12, 16, 35, 36, 40, -1, true};
inline constexpr LstmInputs kBackwardInputs = {18, 22, 26, 29, 33, 37, 38, 44, -1, true};

// Reads the cell's tensors without checking them.
LstmCell ReadLstmCell(TfLiteContext* context, const TfLiteNode* node, const LstmInputs& inputs);

// States whether an operator supports a diagonal as recurrent weights.
enum class Diagonals { kRefused, kAllowed };

// Determines the sizes of a cell for `batches` vectors of `inputs` and of `auxiliary_inputs`
// values. Checks every tensor's shape and type, and that tensors which require each other are
// present. The cell is float32, hybrid (8-bit weights) or, if `integer`, int8.
TfLiteStatus CheckLstmCell(TfLiteContext* context, const LstmCell& cell, bool integer,
                           Diagonals diagonals, LstmSizes* sizes);

}  // namespace deputy

#endif  // DEPUTY_KERNELS_RNN_LSTM_CELL_H_
