// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/lstm_cell.h"

#include "kernels/rnn/recurrent_matrix.h"

namespace deputy {
namespace {

constexpr const char* kGateNames[kLstmGates] = {"input", "forget", "cell", "output"};

// Returns input `first + offset` of the node; null if `first` is negative, because the operator
// does not have that group of inputs.
const TfLiteTensor* InputAt(TfLiteContext* context, const TfLiteNode* node, int first, int offset) {
  return first < 0 ? nullptr : Input(context, node, first + offset);
}

TfLiteStatus Missing(TfLiteContext* context, int gate, const char* what) {
  return KernelError(context, "%s gate: expected %s, found none", kGateNames[gate], what);
}

TfLiteStatus Unexpected(TfLiteContext* context, int gate, const TfLiteTensor* tensor,
                        const char* without) {
  return TensorError(context, tensor, "expected nothing for the %s gate %s, found a tensor",
                     kGateNames[gate], without);
}

TfLiteStatus CheckMatrix(TfLiteContext* context, const TfLiteTensor* tensor, int rows, int columns,
                         TfLiteType type) {
  DEPUTY_TRY(CheckType(context, tensor, TypeBit(type)));
  DEPUTY_TRY(CheckRank(context, tensor, 2));
  DEPUTY_TRY(CheckDim(context, tensor, 0, rows));
  return CheckDim(context, tensor, 1, columns);
}

TfLiteStatus CheckVector(TfLiteContext* context, const TfLiteTensor* tensor, int count,
                         TfLiteType type) {
  DEPUTY_TRY(CheckType(context, tensor, TypeBit(type)));
  DEPUTY_TRY(CheckRank(context, tensor, 1));
  return CheckDim(context, tensor, 0, count);
}

// Expected types of a cell's tensors.
struct CellTypes {
  TfLiteType weights, peephole, norm, bias, output_state, cell_state;
};

CellTypes TypesOf(TfLiteType weights, bool integer) {
  if (integer) {
    return {kTfLiteInt8, kTfLiteInt16, kTfLiteInt16, kTfLiteInt32, kTfLiteInt8, kTfLiteInt16};
  }
  return {weights, weights, kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32, kTfLiteFloat32};
}

struct CellCheck {
  TfLiteContext* context;
  const LstmCell& cell;
  const LstmSizes& sizes;
  CellTypes types;
  Diagonals diagonals;

  TfLiteStatus CheckRecurrent(const TfLiteTensor* weights) const;
  TfLiteStatus CheckWeights(int gate) const;
  TfLiteStatus CheckVectors(int gate) const;
  TfLiteStatus CheckProjection() const;
  TfLiteStatus CheckState(const TfLiteTensor* state, int depth, TfLiteType type) const;
};

// Checks recurrent weights: a matrix, or a diagonal, which is multiplied in float32 also in hybrid
// cells.
TfLiteStatus CellCheck::CheckRecurrent(const TfLiteTensor* weights) const {
  if (diagonals == Diagonals::kRefused || Rank(weights) != 1) {
    return CheckMatrix(context, weights, sizes.cells, sizes.outputs, types.weights);
  }
  DEPUTY_TRY(CheckVector(context, weights, sizes.cells, kTfLiteFloat32));
  if (sizes.cells == sizes.outputs) return kTfLiteOk;
  return TensorError(context, weights, "expected as many values as outputs, %d, found %d",
                     sizes.outputs, sizes.cells);
}

TfLiteStatus CellCheck::CheckWeights(int gate) const {
  const LstmGate& g = cell.gates[gate];
  if (gate == kInputGate && cell.couples_input()) {
    if (g.recurrent != nullptr) {
      return Unexpected(context, gate, g.recurrent, "without input weights");
    }
    return kTfLiteOk;
  }
  if (g.input == nullptr) return Missing(context, gate, "input weights");
  if (g.recurrent == nullptr) return Missing(context, gate, "recurrent weights");
  DEPUTY_TRY(CheckMatrix(context, g.input, sizes.cells, sizes.inputs, types.weights));
  DEPUTY_TRY(CheckRecurrent(g.recurrent));
  if (!cell.has_auxiliary()) return kTfLiteOk;
  if (g.auxiliary == nullptr) return Missing(context, gate, "weights of the auxiliary input");
  return CheckMatrix(context, g.auxiliary, sizes.cells, sizes.auxiliary_inputs, types.weights);
}

TfLiteStatus CellCheck::CheckVectors(int gate) const {
  const LstmGate& g = cell.gates[gate];
  const bool is_there = gate != kInputGate || !cell.couples_input();
  if (!is_there) {
    for (const TfLiteTensor* tensor : {g.norm, g.bias}) {
      if (tensor != nullptr) return Unexpected(context, gate, tensor, "without input weights");
    }
    return kTfLiteOk;
  }
  if (g.bias == nullptr) return Missing(context, gate, "a bias");
  DEPUTY_TRY(CheckVector(context, g.bias, sizes.cells, types.bias));
  if (cell.has_norm() && g.norm == nullptr) {
    return Missing(context, gate, "coefficients of layer normalisation");
  }
  if (g.norm != nullptr) DEPUTY_TRY(CheckVector(context, g.norm, sizes.cells, types.norm));
  if (gate == kCellGate || !cell.has_peephole()) return kTfLiteOk;
  if (g.peephole == nullptr) return Missing(context, gate, "peephole weights");
  return CheckVector(context, g.peephole, sizes.cells, types.peephole);
}

TfLiteStatus CellCheck::CheckProjection() const {
  if (cell.projection != nullptr) {
    DEPUTY_TRY(CheckMatrix(context, cell.projection, sizes.outputs, sizes.cells, types.weights));
    return cell.projection_bias == nullptr
               ? kTfLiteOk
               : CheckVector(context, cell.projection_bias, sizes.outputs, types.bias);
  }
  if (cell.projection_bias != nullptr) {
    return TensorError(context, cell.projection_bias,
                       "expected no bias without projection weights");
  }
  if (sizes.outputs == sizes.cells) return kTfLiteOk;
  return KernelError(context, "without projection: expected as many outputs as cells, %d, found %d",
                     sizes.cells, sizes.outputs);
}

// Checks a state, which may have any rank if its number of values is right.
TfLiteStatus CellCheck::CheckState(const TfLiteTensor* state, int depth, TfLiteType type) const {
  if (!state->is_variable) return TensorError(context, state, "expected a variable tensor");
  DEPUTY_TRY(CheckType(context, state, TypeBit(type)));
  return CheckElementCount(context, state, int64_t{sizes.batches} * depth);
}

}  // namespace

LstmCell ReadLstmCell(TfLiteContext* context, const TfLiteNode* node, const LstmInputs& inputs) {
  LstmCell cell;
  for (int g = 0; g < kLstmGates; ++g) {
    LstmGate& gate = cell.gates[g];
    gate.input = InputAt(context, node, inputs.input, g);
    gate.auxiliary = InputAt(context, node, inputs.auxiliary, g);
    gate.recurrent = InputAt(context, node, inputs.recurrent, g);
    gate.bias = InputAt(context, node, inputs.bias, g);
    gate.norm = InputAt(context, node, inputs.norm, g);
    if (g != kCellGate) {
      gate.peephole = InputAt(context, node, inputs.peephole, g < kCellGate ? g : g - 1);
    }
  }
  if (inputs.norm_needs_forget && !cell.has_norm()) {
    for (LstmGate& gate : cell.gates) gate.norm = nullptr;
  }
  cell.projection = InputAt(context, node, inputs.projection, 0);
  cell.projection_bias = InputAt(context, node, inputs.projection, 1);
  cell.output_state = Input(context, node, inputs.output_state);
  cell.cell_state = Input(context, node, inputs.cell_state);
  return cell;
}

TfLiteStatus CheckLstmCell(TfLiteContext* context, const LstmCell& cell, bool integer,
                           Diagonals diagonals, LstmSizes* sizes) {
  const LstmGate& output_gate = cell.gates[kOutputGate];
  if (output_gate.input == nullptr) return Missing(context, kOutputGate, "input weights");
  if (output_gate.recurrent == nullptr) return Missing(context, kOutputGate, "recurrent weights");
  if (cell.output_state == nullptr || cell.cell_state == nullptr) {
    return KernelError(context, "expected tensors for output state and cell state, found none");
  }
  DEPUTY_TRY(CheckRank(context, output_gate.input, 2));
  const bool diagonal = diagonals == Diagonals::kAllowed && Rank(output_gate.recurrent) == 1;
  if (!diagonal) DEPUTY_TRY(CheckRank(context, output_gate.recurrent, 2));
  sizes->cells = Dim(output_gate.input, 0);
  sizes->outputs = Dim(output_gate.recurrent, diagonal ? 0 : 1);
  DEPUTY_TRY(CheckType(context, output_gate.input, integer ? kInt8Bit : kRecurrentWeights));
  const CellTypes types = TypesOf(output_gate.input->type, integer);
  const CellCheck check = {context, cell, *sizes, types, diagonals};
  for (int gate = 0; gate < kLstmGates; ++gate) DEPUTY_TRY(check.CheckWeights(gate));
  for (int gate = 0; gate < kLstmGates; ++gate) DEPUTY_TRY(check.CheckVectors(gate));
  DEPUTY_TRY(check.CheckProjection());
  DEPUTY_TRY(check.CheckState(cell.output_state, sizes->outputs, types.output_state));
  return check.CheckState(cell.cell_state, sizes->cells, types.cell_state);
}

}  // namespace deputy
