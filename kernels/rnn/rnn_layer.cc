// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/rnn_layer.h"

#include "kernels/rnn/activate.h"

namespace deputy {
namespace {

TfLiteStatus CheckWeights(TfLiteContext* context, const TfLiteTensor* weights, int units, int depth,
                          const TfLiteTensor* like) {
  DEPUTY_TRY(CheckSameType(context, weights, like));
  DEPUTY_TRY(CheckRank(context, weights, 2));
  DEPUTY_TRY(CheckDim(context, weights, 0, units));
  return CheckDim(context, weights, 1, depth);
}

TfLiteStatus CheckCell(TfLiteContext* context, const RnnCell& cell, const RnnSizes& sizes,
                       int units) {
  DEPUTY_TRY(CheckWeights(context, cell.input, units, sizes.inputs, cell.input));
  DEPUTY_TRY(CheckWeights(context, cell.recurrent, units, units, cell.input));
  if (cell.auxiliary != nullptr) {
    DEPUTY_TRY(CheckWeights(context, cell.auxiliary, units, sizes.auxiliary_inputs, cell.input));
  }
  DEPUTY_TRY(CheckType(context, cell.bias, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, cell.bias, 1));
  DEPUTY_TRY(CheckDim(context, cell.bias, 0, units));
  if (!cell.state->is_variable) {
    return TensorError(context, cell.state, "expected a variable tensor");
  }
  DEPUTY_TRY(CheckType(context, cell.state, kFloat32Bit));
  DEPUTY_TRY(CheckRank(context, cell.state, 2));
  DEPUTY_TRY(CheckDim(context, cell.state, 0, sizes.batches));
  return CheckDim(context, cell.state, 1, units);
}

}  // namespace

// ---- Prepare ----------------------------------------------------------------------------------

TfLiteStatus RnnLayer::Prepare(TfLiteContext* context, const RnnCell& cell, const RnnSizes& sizes,
                               TfLiteFusedActivation activation, bool asymmetric) {
  DEPUTY_TRY(CheckType(context, cell.input, kRecurrentWeights));
  DEPUTY_TRY(CheckRank(context, cell.input, 2));
  sizes_ = sizes;
  units_ = Dim(cell.input, 0);
  activation_ = activation;
  hybrid_ = IsHybridWeight(cell.input);
  asymmetric_ = asymmetric;
  DEPUTY_TRY(CheckCell(context, cell, sizes, units_));
  DEPUTY_TRY(CheckRecurrentActivation(context, activation));
  DEPUTY_TRY(input_.Prepare(context, cell.input, sizes.batches));
  DEPUTY_TRY(recurrent_.Prepare(context, cell.recurrent, sizes.batches));
  return cell.auxiliary == nullptr ? kTfLiteOk
                                   : auxiliary_.Prepare(context, cell.auxiliary, sizes.batches);
}

TfLiteStatus RnnLayer::Pack(TfLiteContext* context, const RnnCell& cell) {
  DEPUTY_TRY(input_.Pack(context, cell.input));
  DEPUTY_TRY(recurrent_.Pack(context, cell.recurrent));
  return cell.auxiliary == nullptr ? kTfLiteOk : auxiliary_.Pack(context, cell.auxiliary);
}

// ---- Scratch ----------------------------------------------------------------------------------

struct RnnLayer::Buffers {
  float *sums, *product;     // each of shape [batches][units]
  float *input, *auxiliary;  // contiguous copies of a step's vectors
};

// Returns the number of floats in scratch memory, or 0 on overflow.
size_t RnnLayer::ValuesOfScratch() const {
  const size_t row = 2 * static_cast<size_t>(units_) + static_cast<size_t>(sizes_.inputs) +
                     static_cast<size_t>(sizes_.auxiliary_inputs);
  size_t values = 0, bytes = 0;
  const bool fits = MultiplySizes(row, static_cast<size_t>(sizes_.batches), &values) &&
                    MultiplySizes(values, sizeof(float), &bytes);
  return fits ? values : 0;
}

size_t RnnLayer::ScratchBytes(int workers) const {
  size_t max_bytes = 0, quantized = 0;
  for (const RecurrentMatrix* matrix : {&input_, &auxiliary_, &recurrent_}) {
    max_bytes = std::max(max_bytes, matrix->ScratchBytes(workers));
  }
  if (hybrid_) {
    for (int depth : {sizes_.inputs, sizes_.auxiliary_inputs, units_}) {
      quantized = std::max(quantized, HybridRows::ScratchBytes(sizes_.batches, depth));
    }
  }
  return ValuesOfScratch() * sizeof(float) + quantized + max_bytes + 2 * kTensorAlignment;
}

// ---- Steps ------------------------------------------------------------------------------------

TfLiteStatus RnnLayer::AddVectors(TfLiteContext* context, RecurrentMatrix* matrix,
                                  const TfLiteTensor* weights, const float* values, int depth,
                                  const Buffers& buffers) const {
  HybridRows quantized;
  StepVectors vectors;
  DEPUTY_TRY(MakeStepVectors(context, weights, values, sizes_.batches, depth, hybrid_, asymmetric_,
                             &quantized, &vectors));
  return matrix->AddTo(context, weights, vectors, buffers.product, buffers.sums);
}

TfLiteStatus RnnLayer::RunStep(TfLiteContext* context, const RnnCell& cell,
                               const RnnSequence& sequence, int step, const Buffers& buffers) {
  const int batches = sizes_.batches, inputs = sizes_.inputs, more = sizes_.auxiliary_inputs;
  float* const state = Data<float>(cell.state);
  for (int b = 0; b < batches; ++b) {
    std::copy_n(Data<float>(cell.bias), units_, buffers.sums + int64_t{b} * units_);
  }
  const float* input = GatherStep(sequence.input, batches, inputs, step, buffers.input);
  DEPUTY_TRY(AddVectors(context, &input_, cell.input, input, inputs, buffers));
  if (sequence.auxiliary.first != nullptr) {
    const float* values = GatherStep(sequence.auxiliary, batches, more, step, buffers.auxiliary);
    DEPUTY_TRY(AddVectors(context, &auxiliary_, cell.auxiliary, values, more, buffers));
  }
  DEPUTY_TRY(AddVectors(context, &recurrent_, cell.recurrent, state, units_, buffers));
  const int64_t count = int64_t{batches} * units_;
  Activate(CpuOf(context).vector, activation_, buffers.sums, count, buffers.sums);
  std::copy_n(buffers.sums, count, state);
  ScatterStep(state, batches, units_, step, sequence.output);
  return kTfLiteOk;
}

TfLiteStatus RnnLayer::Run(TfLiteContext* context, const RnnCell& cell,
                           const RnnSequence& sequence) {
  const size_t values = ValuesOfScratch();
  if (values == 0) return kTfLiteOk;  // no batches or values: sizes that overflow have no tensors
  Scratch scratch;
  if (!scratch.Acquire(context, values * sizeof(float))) {
    return KernelError(context, "out of memory for %zu values of a step", values);
  }
  const int64_t batches = sizes_.batches;
  float* const first = scratch.as<float>();
  const Buffers buffers = {first, first + batches * units_, first + batches * units_ * 2,
                           first + batches * (int64_t{units_} * 2 + sizes_.inputs)};
  for (int t = 0; t < sequence.steps; ++t) {
    const int step = sequence.backward ? sequence.steps - 1 - t : t;
    DEPUTY_TRY(RunStep(context, cell, sequence, step, buffers));
  }
  return kTfLiteOk;
}

}  // namespace deputy
