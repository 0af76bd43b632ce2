// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/lstm_integer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/fixed_point.h"
#include "kernels/linalg/dot.h"
#include "kernels/rnn/fixed16.h"

namespace deputy {
namespace {

constexpr int kIntermediates = 5, kHiddenIntermediate = 4;

struct ByteRows {
  const int8_t* values;
  int depth;
  const CpuKernels* cpu;
};

void FillRow(const void* source, int64_t row, int, uint8_t* out) {
  const ByteRows& rows = *static_cast<const ByteRows*>(source);
  rows.cpu->gemm_s8.left_from_s8(rows.values + row * rows.depth, static_cast<size_t>(rows.depth),
                                 out);
}

template <typename Out>
void AddSaturating(int32_t sum, FixedMultiplier factor, int32_t zero, Out* out) {
  const int64_t value = int64_t{Multiply(sum, factor)} + zero + *out;
  *out = static_cast<Out>(
      std::clamp<int64_t>(value, std::numeric_limits<Out>::min(), std::numeric_limits<Out>::max()));
}

bool IsEmpty(const MatrixShape& shape) { return shape.rows == 0 || shape.columns == 0; }

// Returns the intermediate tensor `number` of the node, whose scale is required, or null after
// reporting an error.
const TfLiteTensor* Intermediate(TfLiteContext* context, const TfLiteNode* node, int number) {
  const TfLiteIntArray* numbers = node->intermediates;
  const int index = numbers == nullptr || number >= numbers->size ? -1 : numbers->data[number];
  if (index < 0 || static_cast<size_t>(index) >= context->tensors_size) {
    KernelError(context, "intermediate %d: expected a tensor, found none", number);
    return nullptr;
  }
  const TfLiteTensor* tensor = &context->tensors[index];
  if (tensor->params.scale > 0.0f && std::isfinite(tensor->params.scale)) return tensor;
  TensorError(context, tensor, "intermediate %d: expected a positive scale, found %g", number,
              static_cast<double>(tensor->params.scale));
  return nullptr;
}

TfLiteStatus CheckScale(TfLiteContext* context, const TfLiteTensor* tensor) {
  return tensor == nullptr ? kTfLiteOk : CheckQuantized(context, tensor);
}

}  // namespace

// ---- Matrices -----------------------------------------------------------------------------------

void IntegerMatrix::Prepare(const CpuKernels& cpu, const TfLiteTensor* weights, int rows,
                            int32_t zero_point, double factor) {
  shape_ = {.rows = rows, .groups = 1, .columns = Dim(weights, 0), .depth = Dim(weights, 1)};
  zero_point_ = zero_point;
  factor_ = ToFixedMultiplier(factor);
  cpu_ = &cpu;
  layer_.Reset();
}

TfLiteStatus IntegerMatrix::Pack(TfLiteContext* context, const TfLiteTensor* weights) {
  if (IsEmpty(shape_) || shape_.depth == 0 || cpu_->gemm_s8.tile == nullptr) return kTfLiteOk;
  return layer_.PackInt8(context, *cpu_, shape_, {weights, false, 0});
}

size_t IntegerMatrix::ScratchBytes(int workers) const {
  if (IsEmpty(shape_) || cpu_->gemm_s8.tile == nullptr) return 0;
  return MatrixLayer::Int8Scratch(*cpu_, shape_, workers);
}

template <typename Out>
TfLiteStatus IntegerMatrix::AddTo(TfLiteContext* context, const TfLiteTensor* weights,
                                  const TfLiteTensor* bias, const int8_t* vectors, int32_t out_zero,
                                  Out* out) {
  if (IsEmpty(shape_)) return kTfLiteOk;
  const int columns = shape_.columns, depth = shape_.depth;
  if (cpu_->gemm_s8.tile != nullptr && depth > 0) {
    const ByteRows source = {vectors, depth, cpu_};
    MatrixLayer::Rows<uint8_t> rows;
    rows.fill = &FillRow;
    rows.source = &source;
    return layer_.RunSums(context, *cpu_, shape_, rows, zero_point_, {weights, false, 0}, bias,
                          [&](int, int64_t row, int count, int column, int width,
                              const int32_t* sums, size_t stride) {
                            for (int r = 0; r < count; ++r, sums += stride) {
                              Out* to = out + (row + r) * columns + column;
                              for (int c = 0; c < width; ++c)
                                AddSaturating(sums[c], factor_, out_zero, to + c);
                            }
                          });
  }
  for (int64_t r = 0; r < shape_.rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      int32_t sum = Dot(vectors + r * depth, Data<int8_t>(weights) + int64_t{c} * depth, depth,
                        zero_point_, 0);
      if (bias != nullptr) Accumulate(&sum, Data<int32_t>(bias)[c]);
      AddSaturating(sum, factor_, out_zero, out++);
    }
  }
  return kTfLiteOk;
}

// ---- Prepare ----------------------------------------------------------------------------------

// Prepares a gate. Its sums have the scale of the gate's intermediate tensor if they are
// normalised, otherwise they are in Q3.
TfLiteStatus IntegerLstm::PrepareGate(TfLiteContext* context, const TfLiteNode* node,
                                      const LstmCell& cell, int number) {
  const LstmGate& gate = cell.gates[number];
  Gate& to = gates_[number];
  for (const TfLiteTensor* tensor : {gate.input, gate.recurrent, gate.norm}) {
    DEPUTY_TRY(CheckScale(context, tensor));
  }
  float step = 1.0f / 4096;
  if (cell.has_norm()) {
    const TfLiteTensor* intermediate = Intermediate(context, node, number);
    if (intermediate == nullptr) return kTfLiteError;
    step = intermediate->params.scale;
    to.norm = ToFixedMultiplier(static_cast<double>(gate.norm->params.scale));
    to.norm.shift += 12;
    if (to.norm.shift > 30) {
      return TensorError(context, gate.norm, "expected a scale below 2^18, found %g",
                         static_cast<double>(gate.norm->params.scale));
    }
    const float least = std::min(10000.0f * gate.norm->params.scale, 2e9f);
    to.least_variance = std::max(1, static_cast<int32_t>(least));
  }
  const auto factor = [&](const TfLiteTensor* weights, float scale) {
    return static_cast<double>(weights->params.scale * scale / step);
  };
  const CpuKernels& cpu = CpuOf(context);
  to.input.Prepare(cpu, gate.input, sizes_.batches, input_zero_, factor(gate.input, input_scale_));
  to.recurrent.Prepare(cpu, gate.recurrent, sizes_.batches, output_zero_,
                       factor(gate.recurrent, output_scale_));
  if (number == kCellGate || !cell.has_peephole()) return kTfLiteOk;
  DEPUTY_TRY(CheckScale(context, gate.peephole));
  const double peephole = std::ldexp(1.0, cell_exponent_) *
                          static_cast<double>(gate.peephole->params.scale) /
                          static_cast<double>(step);
  to.peephole = ToFixedMultiplier(static_cast<double>(static_cast<float>(peephole)));
  return kTfLiteOk;
}

TfLiteStatus IntegerLstm::PrepareHidden(TfLiteContext* context, const TfLiteNode* node,
                                        const LstmCell& cell) {
  const TfLiteTensor* hidden = Intermediate(context, node, kHiddenIntermediate);
  if (hidden == nullptr) return kTfLiteError;
  DEPUTY_TRY(CheckScale(context, hidden));
  const double scale = static_cast<double>(hidden->params.scale);
  hidden_ = ToFixedMultiplier(
      static_cast<double>(static_cast<float>(std::ldexp(1.0, -15) / scale * std::ldexp(1.0, -15))));
  hidden_zero_ = hidden->params.zero_point;
  if (cell.projection == nullptr) return kTfLiteOk;
  DEPUTY_TRY(CheckScale(context, cell.projection));
  const float factor = cell.projection->params.scale * hidden->params.scale / output_scale_;
  // The algorithm subtracts the zero point from the hidden values and adds it here, hence its sign.
  projection_.Prepare(CpuOf(context), cell.projection, sizes_.batches, -hidden_zero_,
                      static_cast<double>(factor));
  return kTfLiteOk;
}

TfLiteStatus IntegerLstm::Prepare(TfLiteContext* context, const TfLiteNode* node,
                                  const LstmCell& cell, const LstmSizes& sizes, bool time_major,
                                  float cell_clip, float projection_clip) {
  const TfLiteTensor* input = Input(context, node, 0);
  const TfLiteTensor* output = Output(context, node, 0);
  const int count = node->intermediates == nullptr ? 0 : node->intermediates->size;
  if (count != kIntermediates) {
    return KernelError(context, "expected %d intermediate tensors for int8, found %d",
                       kIntermediates, count);
  }
  const TfLiteTensor *state = cell.output_state, *cells = cell.cell_state;
  for (const TfLiteTensor* tensor : {input, output, state, cells}) {
    DEPUTY_TRY(CheckQuantized(context, tensor));
  }
  if (!(cell_clip >= 0.0f) || !(projection_clip >= 0.0f)) {
    return KernelError(context, "cell_clip and proj_clip: expected 0 or more, found %g and %g",
                       static_cast<double>(cell_clip), static_cast<double>(projection_clip));
  }
  const float exponent = std::log2(cell.cell_state->params.scale);
  cell_exponent_ = static_cast<int>(std::round(exponent));
  if (std::fabs(exponent - std::round(exponent)) >= 1e-3f || cell_exponent_ < -15 ||
      cell_exponent_ > -9) {
    return TensorError(context, cell.cell_state,
                       "expected a power of two from 2^-15 to 2^-9 as scale, found %g",
                       static_cast<double>(cell.cell_state->params.scale));
  }
  if (cell.has_peephole() && sizes.outputs > sizes.cells) {
    return KernelError(context, "peephole weights of int8: expected at most %d outputs, found %d",
                       sizes.cells, sizes.outputs);
  }
  sizes_ = sizes;
  time_major_ = time_major;
  input_zero_ = input->params.zero_point;
  input_scale_ = input->params.scale;
  output_zero_ = cell.output_state->params.zero_point;
  output_scale_ = cell.output_state->params.scale;
  cell_clip_ = static_cast<int16_t>(std::min(cell_clip / cell.cell_state->params.scale, 32767.0f));
  projection_clip_ = static_cast<int8_t>(std::min(projection_clip / output->params.scale, 127.0f));
  for (int gate = 0; gate < kLstmGates; ++gate) {
    if (cell.gates[gate].input != nullptr) {
      DEPUTY_TRY(PrepareGate(context, node, cell, gate));
    }
  }
  return PrepareHidden(context, node, cell);
}

TfLiteStatus IntegerLstm::Pack(TfLiteContext* context, const LstmCell& cell) {
  for (int g = 0; g < kLstmGates; ++g) {
    const LstmGate& gate = cell.gates[g];
    if (gate.input == nullptr) continue;
    DEPUTY_TRY(gates_[g].input.Pack(context, gate.input));
    DEPUTY_TRY(gates_[g].recurrent.Pack(context, gate.recurrent));
  }
  return cell.projection == nullptr ? kTfLiteOk : projection_.Pack(context, cell.projection);
}

// Returns the bytes of scratch memory, or 0 on overflow.
size_t IntegerLstm::BytesOfScratch() const {
  const size_t row = static_cast<size_t>(sizes_.cells) * (kLstmGates * sizeof(int16_t) + 1) +
                     static_cast<size_t>(sizes_.inputs);
  size_t bytes = 0;
  return MultiplySizes(row, static_cast<size_t>(sizes_.batches), &bytes) ? bytes : 0;
}

size_t IntegerLstm::ScratchBytes(int workers) const {
  size_t max_bytes = projection_.ScratchBytes(workers);
  for (const Gate& gate : gates_) {
    max_bytes = std::max(
        {max_bytes, gate.input.ScratchBytes(workers), gate.recurrent.ScratchBytes(workers)});
  }
  return BytesOfScratch() + max_bytes + kTensorAlignment;
}

// ---- Steps ------------------------------------------------------------------------------------

// Adds the peephole weights times the cell state to a gate. As in TensorFlow Lite, rows of the
// state are assumed to have the length of the outputs, even if the cell has a projection: in
// time-major sequences, whose batches are computed together, rows after the first begin too early.
void IntegerLstm::AddPeephole(const LstmGate& gate, const int16_t* state, FixedMultiplier factor,
                              int16_t* sums) const {
  const int16_t* weights = Data<int16_t>(gate.peephole);
  for (int64_t b = 0; b < sizes_.batches; ++b) {
    const int64_t first = b * (time_major_ ? sizes_.outputs : sizes_.cells);
    for (int i = 0; i < sizes_.outputs; ++i) {
      AddSaturating(int32_t{weights[i]} * state[first + i], factor, 0, sums + first + i);
    }
  }
}

void IntegerLstm::Normalize(const LstmGate& gate, const Gate& scales, int16_t* values) const {
  constexpr int32_t kTwoToTwenty = 1 << 20;
  const int cells = sizes_.cells;
  const int16_t* coefficients = Data<int16_t>(gate.norm);
  const int32_t* bias = Data<int32_t>(gate.bias);
  for (int b = 0; b < sizes_.batches; ++b, values += cells) {
    int64_t sum = 0, squares = 0;
    for (int c = 0; c < cells; ++c) {
      sum += values[c];
      squares += int32_t{values[c]} * values[c];
    }
    const int64_t mean = sum * 1024 / cells;
    const int64_t variance = (squares * (kTwoToTwenty / cells) - mean * mean) / kTwoToTwenty;
    const auto rounded = static_cast<int32_t>(variance);
    const FixedMultiplier inverse = InverseSqrt(rounded < 1 ? scales.least_variance : rounded);
    for (int c = 0; c < cells; ++c) {
      const auto shifted = static_cast<int32_t>(1024 * values[c] - mean);
      const auto scaled = static_cast<uint32_t>(Multiply(shifted, inverse)) *
                          static_cast<uint32_t>(int32_t{coefficients[c]});
      const int64_t biased = static_cast<int32_t>(scaled + static_cast<uint32_t>(bias[c]));
      const auto steps = static_cast<int32_t>((biased + (biased > 0 ? 512 : -512)) / 1024);
      values[c] = Saturate16(Multiply(steps, scales.norm));
    }
  }
}

TfLiteStatus IntegerLstm::ComputeGate(TfLiteContext* context, const LstmCell& cell, int number,
                                      const int8_t* input, int16_t* sums) {
  const LstmGate& gate = cell.gates[number];
  Gate& scales = gates_[number];
  const int64_t count = int64_t{sizes_.batches} * sizes_.cells;
  const bool normalized = cell.has_norm();
  std::fill_n(sums, count, int16_t{0});
  DEPUTY_TRY(
      scales.input.AddTo(context, gate.input, normalized ? nullptr : gate.bias, input, 0, sums));
  DEPUTY_TRY(scales.recurrent.AddTo(context, gate.recurrent, nullptr,
                                    Data<const int8_t>(cell.output_state), 0, sums));
  if (number != kCellGate && cell.has_peephole()) {
    AddPeephole(gate, Data<const int16_t>(cell.cell_state), scales.peephole, sums);
  }
  if (normalized) Normalize(gate, scales, sums);
  for (int64_t i = 0; i < count; ++i) {
    sums[i] = number == kCellGate ? Tanh16(sums[i], 3) : LogisticOfQ3(sums[i]);
  }
  return kTfLiteOk;
}

void IntegerLstm::UpdateCell(const LstmCell& cell, const Buffers& buffers) const {
  const int64_t count = int64_t{sizes_.batches} * sizes_.cells;
  const int16_t *forget = buffers.gates[kForgetGate], *update = buffers.gates[kCellGate];
  int16_t* state = Data<int16_t>(cell.cell_state);
  for (int64_t i = 0; i < count; ++i) {
    const int16_t input = cell.couples_input() ? static_cast<int16_t>(32767 - forget[i])
                                               : buffers.gates[kInputGate][i];
    const int32_t kept = RoundingShiftRight(int32_t{forget[i]} * state[i], 15);
    const int32_t added = RoundingShiftRight(int32_t{input} * update[i], 30 + cell_exponent_);
    state[i] = Saturate16(static_cast<int16_t>(kept) + static_cast<int16_t>(added));
    if (cell_clip_ > 0) {
      state[i] = std::clamp(state[i], static_cast<int16_t>(-cell_clip_), cell_clip_);
    }
  }
}

TfLiteStatus IntegerLstm::UpdateOutput(TfLiteContext* context, const LstmCell& cell,
                                       const Buffers& buffers) {
  const bool projects = cell.projection != nullptr;
  const int64_t count = int64_t{sizes_.batches} * sizes_.cells;
  const int16_t* gate = buffers.gates[kOutputGate];
  const int16_t* state = Data<int16_t>(cell.cell_state);
  int8_t* const output = Data<int8_t>(cell.output_state);
  int8_t* const hidden = projects ? buffers.hidden : output;
  const int32_t zero = projects ? -hidden_zero_ : hidden_zero_;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t product = int32_t{gate[i]} * Tanh16(state[i], 15 + cell_exponent_);
    hidden[i] = static_cast<int8_t>(
        std::clamp<int64_t>(int64_t{Multiply(product, hidden_)} + zero, -128, 127));
  }
  if (!projects) return kTfLiteOk;
  const int64_t outputs = int64_t{sizes_.batches} * sizes_.outputs;
  std::fill_n(output, outputs, int8_t{0});
  DEPUTY_TRY(projection_.AddTo(context, cell.projection, cell.projection_bias, hidden, output_zero_,
                               output));
  if (projection_clip_ <= 0) return kTfLiteOk;
  for (int64_t i = 0; i < outputs; ++i) {
    output[i] = std::clamp(output[i], static_cast<int8_t>(-projection_clip_), projection_clip_);
  }
  return kTfLiteOk;
}

TfLiteStatus IntegerLstm::Run(TfLiteContext* context, const LstmCell& cell,
                              const IntegerLstmSequence& sequence) {
  const size_t bytes = BytesOfScratch();
  if (bytes == 0 || sizes_.cells == 0) return kTfLiteOk;  // no batches or no cells
  Scratch scratch;
  if (!scratch.Acquire(context, bytes)) {
    return KernelError(context, "out of memory for %zu bytes of the gates", bytes);
  }
  const int64_t count = int64_t{sizes_.batches} * sizes_.cells;
  Buffers buffers;
  for (int g = 0; g < kLstmGates; ++g) buffers.gates[g] = scratch.as<int16_t>() + g * count;
  buffers.hidden = reinterpret_cast<int8_t*>(scratch.as<int16_t>() + kLstmGates * count);
  buffers.input = buffers.hidden + count;
  for (int t = 0; t < sequence.steps; ++t) {
    const int8_t* input =
        GatherStep(sequence.input, sizes_.batches, sizes_.inputs, t, buffers.input);
    for (int gate : {kInputGate, kForgetGate, kCellGate}) {
      if (gate == kInputGate && cell.couples_input()) continue;
      DEPUTY_TRY(ComputeGate(context, cell, gate, input, buffers.gates[gate]));
    }
    UpdateCell(cell, buffers);
    DEPUTY_TRY(ComputeGate(context, cell, kOutputGate, input, buffers.gates[kOutputGate]));
    DEPUTY_TRY(UpdateOutput(context, cell, buffers));
    ScatterStep(Data<const int8_t>(cell.output_state), sizes_.batches, sizes_.outputs, t,
                sequence.output);
  }
  return kTfLiteOk;
}

}  // namespace deputy
