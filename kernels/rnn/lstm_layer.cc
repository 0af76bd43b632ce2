// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/lstm_layer.h"

#include <algorithm>
#include <cmath>

#include "kernels/rnn/activate.h"

namespace deputy {
namespace {

bool IsDiagonal(const TfLiteTensor* recurrent) { return Rank(recurrent) == 1; }

// Computes sums[b][c] += weights[c] * values[b][c].
void AddDiagonal(const float* weights, const float* values, int batches, int cells, float* sums) {
  for (int b = 0; b < batches; ++b, values += cells, sums += cells) {
    for (int c = 0; c < cells; ++c) sums[c] += weights[c] * values[c];
  }
}

// Computes sums[b][c] += weights[c] * values[b][c] for the peephole weights of hybrid cells: int8
// with one scale.
void AddScaledDiagonal(const TfLiteTensor* weights, const float* values, int batches, int cells,
                       float* sums) {
  const int8_t* bytes = Data<int8_t>(weights);
  const float scale = weights->params.scale;
  for (int b = 0; b < batches; ++b, values += cells, sums += cells) {
    for (int c = 0; c < cells; ++c) sums[c] += scale * static_cast<float>(bytes[c]) * values[c];
  }
}

// Initialises the sums with the bias, or with 0 if layer normalisation adds the bias later.
void StartSums(const LstmGate& gate, int cells, float* sums) {
  if (gate.norm != nullptr) {
    std::fill_n(sums, cells, 0.0f);
  } else {
    std::copy_n(Data<float>(gate.bias), cells, sums);
  }
}

void Clip(float bound, int64_t count, float* values) {
  if (!(bound > 0.0f)) return;
  for (int64_t i = 0; i < count; ++i) values[i] = std::clamp(values[i], -bound, bound);
}

}  // namespace

// ---- Prepare ----------------------------------------------------------------------------------

TfLiteStatus LstmLayer::Prepare(TfLiteContext* context, const LstmCell& cell,
                                const LstmSizes& sizes, const LstmOptions& options) {
  sizes_ = sizes;
  options_ = options;
  hybrid_ = IsHybridWeight(cell.gates[kOutputGate].input);
  DEPUTY_TRY(CheckRecurrentActivation(context, options.activation));
  if (!(options.cell_clip >= 0.0f) || !(options.projection_clip >= 0.0f)) {
    return KernelError(context, "cell_clip and proj_clip: expected 0 or more, found %g and %g",
                       static_cast<double>(options.cell_clip),
                       static_cast<double>(options.projection_clip));
  }
  for (int g = 0; g < kLstmGates; ++g) {
    const LstmGate& gate = cell.gates[g];
    if (gate.input == nullptr) continue;
    DEPUTY_TRY(gates_[g].input.Prepare(context, gate.input, sizes.batches));
    if (gate.auxiliary != nullptr) {
      DEPUTY_TRY(gates_[g].auxiliary.Prepare(context, gate.auxiliary, sizes.batches));
    }
    if (!IsDiagonal(gate.recurrent)) {
      DEPUTY_TRY(gates_[g].recurrent.Prepare(context, gate.recurrent, sizes.batches));
    }
  }
  return cell.projection == nullptr ? kTfLiteOk
                                    : projection_.Prepare(context, cell.projection, sizes.batches);
}

TfLiteStatus LstmLayer::Pack(TfLiteContext* context, const LstmCell& cell) {
  for (int g = 0; g < kLstmGates; ++g) {
    const LstmGate& gate = cell.gates[g];
    if (gate.input == nullptr) continue;
    DEPUTY_TRY(gates_[g].input.Pack(context, gate.input));
    if (gate.auxiliary != nullptr) {
      DEPUTY_TRY(gates_[g].auxiliary.Pack(context, gate.auxiliary));
    }
    if (!IsDiagonal(gate.recurrent)) {
      DEPUTY_TRY(gates_[g].recurrent.Pack(context, gate.recurrent));
    }
  }
  return cell.projection == nullptr ? kTfLiteOk : projection_.Pack(context, cell.projection);
}

// ---- Scratch ----------------------------------------------------------------------------------

struct LstmLayer::Buffers {
  float* gates[kLstmGates];  // each of shape [batches][cells]
  float* product;            // [batches][cells] or [outputs], whichever is larger
  float *input, *auxiliary;  // contiguous copies of a step's vectors
};

// Returns the number of floats in scratch memory, or 0 on overflow.
size_t LstmLayer::ValuesOfScratch() const {
  const size_t widest = static_cast<size_t>(std::max(sizes_.cells, sizes_.outputs));
  const size_t row = static_cast<size_t>(kLstmGates) * static_cast<size_t>(sizes_.cells) + widest +
                     static_cast<size_t>(sizes_.inputs) +
                     static_cast<size_t>(sizes_.auxiliary_inputs);
  size_t values = 0, bytes = 0;
  const bool fits = MultiplySizes(row, static_cast<size_t>(sizes_.batches), &values) &&
                    MultiplySizes(values, sizeof(float), &bytes);
  return fits ? values : 0;
}

LstmLayer::Buffers LstmLayer::CutScratch(float* scratch) const {
  const int64_t batches = sizes_.batches;
  const auto take = [&](int64_t depth) {
    float* const taken = scratch;
    scratch += batches * depth;
    return taken;
  };
  Buffers buffers;
  for (float*& gate : buffers.gates) gate = take(sizes_.cells);
  buffers.product = take(std::max(sizes_.cells, sizes_.outputs));
  buffers.input = take(sizes_.inputs);
  buffers.auxiliary = take(sizes_.auxiliary_inputs);
  return buffers;
}

size_t LstmLayer::ScratchBytes(int workers) const {
  size_t max_bytes = projection_.ScratchBytes(workers);
  for (const GateMatrices& gate : gates_) {
    for (const RecurrentMatrix* matrix : {&gate.input, &gate.auxiliary, &gate.recurrent}) {
      max_bytes = std::max(max_bytes, matrix->ScratchBytes(workers));
    }
  }
  size_t quantized = 0;
  if (hybrid_) {
    for (int depth : {sizes_.inputs, sizes_.auxiliary_inputs, sizes_.outputs, sizes_.cells}) {
      quantized += HybridRows::ScratchBytes(sizes_.batches, depth) + kTensorAlignment;
    }
  }
  return ValuesOfScratch() * sizeof(float) + kTensorAlignment + quantized + max_bytes;
}

// ---- Steps ------------------------------------------------------------------------------------

struct LstmLayer::Step {
  StepVectors input, auxiliary, state;
};

// Normalises a gate's values to mean 0 and standard deviation 1, then multiplies by coefficients
// and adds the bias.
void LstmLayer::Normalize(const LstmGate& gate, float* values) const {
  constexpr float kMinVariance = 1e-8f;
  const int cells = sizes_.cells;
  const float *coefficients = Data<float>(gate.norm), *bias = Data<float>(gate.bias);
  for (int b = 0; b < sizes_.batches; ++b, values += cells) {
    float sum = 0.0f, squares = 0.0f;
    for (int c = 0; c < cells; ++c) sum += values[c];
    const float mean = sum / static_cast<float>(cells);
    for (int c = 0; c < cells; ++c) squares += (values[c] - mean) * (values[c] - mean);
    const float variance = squares / static_cast<float>(cells);
    const float inverse = 1.0f / std::sqrt(variance + kMinVariance);
    for (int c = 0; c < cells; ++c) {
      values[c] = (values[c] - mean) * inverse * coefficients[c] + bias[c];
    }
  }
}

TfLiteStatus LstmLayer::ComputeGate(TfLiteContext* context, const LstmCell& cell, int number,
                                    const Step& step, const Buffers& buffers) {
  const LstmGate& gate = cell.gates[number];
  GateMatrices& matrices = gates_[number];
  float* const sums = buffers.gates[number];
  const int batches = sizes_.batches, cells = sizes_.cells;
  for (int b = 0; b < batches; ++b) StartSums(gate, cells, sums + int64_t{b} * cells);
  DEPUTY_TRY(matrices.input.AddTo(context, gate.input, step.input, buffers.product, sums));
  if (gate.auxiliary != nullptr) {
    DEPUTY_TRY(
        matrices.auxiliary.AddTo(context, gate.auxiliary, step.auxiliary, buffers.product, sums));
  }
  if (IsDiagonal(gate.recurrent)) {
    AddDiagonal(Data<float>(gate.recurrent), step.state.values, batches, cells, sums);
  } else {
    DEPUTY_TRY(
        matrices.recurrent.AddTo(context, gate.recurrent, step.state, buffers.product, sums));
  }
  if (number != kCellGate && cell.has_peephole()) {
    const float* state = Data<float>(cell.cell_state);
    hybrid_ ? AddScaledDiagonal(gate.peephole, state, batches, cells, sums)
            : AddDiagonal(Data<float>(gate.peephole), state, batches, cells, sums);
  }
  if (gate.norm != nullptr) Normalize(gate, sums);
  Activate(CpuOf(context).vector, number == kCellGate ? options_.activation : kTfLiteActSigmoid,
           sums, int64_t{batches} * cells, sums);
  return kTfLiteOk;
}

void LstmLayer::UpdateCell(const LstmCell& cell, const Buffers& buffers) const {
  const int64_t count = int64_t{sizes_.batches} * sizes_.cells;
  const float *forget = buffers.gates[kForgetGate], *input = buffers.gates[kInputGate],
              *update = buffers.gates[kCellGate];
  float* state = Data<float>(cell.cell_state);
  if (cell.couples_input()) {
    for (int64_t i = 0; i < count; ++i) {
      state[i] = forget[i] * state[i] + update[i] * (1.0f - forget[i]);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) state[i] = forget[i] * state[i] + update[i] * input[i];
  }
  Clip(options_.cell_clip, count, state);
}

// Computes the output and the output state from the cell state. Without an activation, Activate
// leaves the cell gate in the buffer in place of the cell state, as in TensorFlow Lite.
TfLiteStatus LstmLayer::UpdateOutput(TfLiteContext* context, const LstmCell& cell,
                                     const Buffers& buffers) {
  const int64_t count = int64_t{sizes_.batches} * sizes_.cells;
  const int64_t outputs = int64_t{sizes_.batches} * sizes_.outputs;
  float* const hidden = buffers.gates[kCellGate];
  const float* gate = buffers.gates[kOutputGate];
  float* state = Data<float>(cell.output_state);
  Activate(CpuOf(context).vector, options_.activation, Data<float>(cell.cell_state), count, hidden);
  for (int64_t i = 0; i < count; ++i) hidden[i] *= gate[i];
  if (cell.projection == nullptr) {
    std::copy_n(hidden, count, state);
    return kTfLiteOk;
  }
  for (int64_t i = 0; i < outputs; ++i) {
    state[i] = cell.projection_bias == nullptr
                   ? 0.0f
                   : Data<float>(cell.projection_bias)[i % sizes_.outputs];
  }
  HybridRows quantized;
  StepVectors vectors;
  DEPUTY_TRY(MakeStepVectors(context, cell.cell_state, hidden, sizes_.batches, sizes_.cells,
                             hybrid_, options_.asymmetric, &quantized, &vectors));
  DEPUTY_TRY(projection_.AddTo(context, cell.projection, vectors, buffers.product, state));
  Clip(options_.projection_clip, outputs, state);
  return kTfLiteOk;
}

// Quantised vectors of a step, shared by all matrices.
struct LstmLayer::QuantizedStep {
  HybridRows input, auxiliary, state;
};

TfLiteStatus LstmLayer::MakeStep(TfLiteContext* context, const LstmCell& cell,
                                 const LstmSequence& sequence, int number, const Buffers& buffers,
                                 QuantizedStep* quantized, Step* out) const {
  const auto make = [&](const TfLiteTensor* what, const float* values, int depth, HybridRows* rows,
                        StepVectors* vectors) {
    return MakeStepVectors(context, what, values, sizes_.batches, depth, hybrid_,
                           options_.asymmetric, rows, vectors);
  };
  const int batches = sizes_.batches, depth = sizes_.inputs, more = sizes_.auxiliary_inputs;
  const LstmGate& gate = cell.gates[kOutputGate];
  const float* input = GatherStep(sequence.input, batches, depth, number, buffers.input);
  DEPUTY_TRY(make(gate.input, input, depth, &quantized->input, &out->input));
  out->input.all_zero = AreZeros(input, int64_t{batches} * depth);
  if (sequence.auxiliary.first != nullptr) {
    const float* values = GatherStep(sequence.auxiliary, batches, more, number, buffers.auxiliary);
    DEPUTY_TRY(make(gate.auxiliary, values, more, &quantized->auxiliary, &out->auxiliary));
    out->auxiliary.all_zero = AreZeros(values, int64_t{batches} * more);
  }
  DEPUTY_TRY(make(cell.output_state, Data<float>(cell.output_state), sizes_.outputs,
                  &quantized->state, &out->state));
  // TensorFlow Lite scales the state by the input's scales if the recurrent weights are sparse.
  if (gate.recurrent->sparsity != nullptr && out->input.quantized != nullptr) {
    quantized->state.UseScales(quantized->input);
  }
  return kTfLiteOk;
}

TfLiteStatus LstmLayer::RunStep(TfLiteContext* context, const LstmCell& cell,
                                const LstmSequence& sequence, int number, const Buffers& buffers) {
  QuantizedStep quantized;
  Step step;
  DEPUTY_TRY(MakeStep(context, cell, sequence, number, buffers, &quantized, &step));
  for (int gate : {kInputGate, kForgetGate, kCellGate}) {
    if (gate == kInputGate && cell.couples_input()) continue;
    DEPUTY_TRY(ComputeGate(context, cell, gate, step, buffers));
  }
  UpdateCell(cell, buffers);
  DEPUTY_TRY(ComputeGate(context, cell, kOutputGate, step, buffers));
  DEPUTY_TRY(UpdateOutput(context, cell, buffers));
  ScatterStep(Data<const float>(cell.output_state), sizes_.batches, sizes_.outputs, number,
              sequence.output);
  return kTfLiteOk;
}

TfLiteStatus LstmLayer::Run(TfLiteContext* context, const LstmCell& cell,
                            const LstmSequence& sequence) {
  const size_t values = ValuesOfScratch();
  if (values == 0) return kTfLiteOk;  // no batches or values: sizes that overflow have no tensors
  Scratch scratch;
  if (!scratch.Acquire(context, values * sizeof(float))) {
    return KernelError(context, "out of memory for %zu values of the gates", values);
  }
  const Buffers buffers = CutScratch(scratch.as<float>());
  for (int t = 0; t < sequence.steps; ++t) {
    const int step = sequence.backward ? sequence.steps - 1 - t : t;
    DEPUTY_TRY(RunStep(context, cell, sequence, step, buffers));
  }
  return kTfLiteOk;
}

}  // namespace deputy
