// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/basic_lstm.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/linalg/dot.h"
#include "kernels/rnn/activate.h"
#include "kernels/rnn/fixed16.h"

namespace deputy {
namespace {

// Indices of the inputs. Their shapes in this order: [batches][inputs], [batches][cells], [4 *
// cells][inputs + cells], [4 * cells], [batches][cells].
enum BasicInput { kValues, kOldActivation, kWeights, kBias, kOldState, kBasicInputs };
// Indices of the outputs. kJoined is the concatenation of inputs and old activation, kSums the sums
// of the gates.
enum BasicOutput { kActivation, kState, kJoined, kSums, kBasicOutputs };

// Index of each gate's sums in a row of kSums.
enum BasicGate { kInputAt, kUpdateAt, kForgetAt, kOutputAt, kBasicGates };

// Scale of a quantised state, which has 4 integer bits; the gates' sums have 3.
constexpr float kStateScale = 1.0f / 2048;

template <typename T>
void Join(const T* input, const T* activation, int batches, int inputs, int cells, T* out) {
  for (int b = 0; b < batches; ++b) {
    out = std::copy_n(input + int64_t{b} * inputs, inputs, out);
    out = std::copy_n(activation + int64_t{b} * cells, cells, out);
  }
}

// Rescales a sum to int16 as Multiply() does, but the second rounding rounds ties upwards, as
// TensorFlow Lite's product does on x86 with both resolvers.
int16_t ToGate(int32_t sum, FixedMultiplier by) {
  const int left = std::max(by.shift, 0), right = std::max(-by.shift, 0);
  const int64_t high = DoublingHighMultiply(WrappingShiftLeft(sum, left), by.mantissa);
  const int64_t half = right == 0 ? 0 : int64_t{1} << (right - 1);
  return static_cast<int16_t>(std::clamp<int64_t>((high + half) >> right, -32768, 32767));
}

void Copy(const TfLiteTensor* from, TfLiteTensor* to) {
  if (from->bytes > 0) std::memmove(to->data.raw, from->data.raw, from->bytes);
}

}  // namespace

TfLiteStatus BasicLstm::CheckTypes(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, kValues);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kUInt8Bit));
  quantized_ = input->type == kTfLiteUInt8;
  const uint32_t bias = quantized_ ? kInt32Bit : kFloat32Bit;
  const uint32_t state = quantized_ ? kInt16Bit : kFloat32Bit;
  DEPUTY_TRY(CheckSameType(context, Input(context, node, kOldActivation), input));
  DEPUTY_TRY(CheckSameType(context, Input(context, node, kWeights), input));
  DEPUTY_TRY(CheckType(context, Input(context, node, kBias), bias));
  DEPUTY_TRY(CheckType(context, Input(context, node, kOldState), state));
  DEPUTY_TRY(CheckSameType(context, Output(context, node, kActivation), input));
  DEPUTY_TRY(CheckType(context, Output(context, node, kState), state));
  DEPUTY_TRY(CheckSameType(context, Output(context, node, kJoined), input));
  return CheckType(context, Output(context, node, kSums), state);
}

TfLiteStatus BasicLstm::CheckShapes(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, kValues);
  const TfLiteTensor* activation = Input(context, node, kOldActivation);
  const TfLiteTensor* weights = Input(context, node, kWeights);
  const TfLiteTensor* bias = Input(context, node, kBias);
  const TfLiteTensor* state = Input(context, node, kOldState);
  for (const TfLiteTensor* tensor : {input, activation, weights, state}) {
    DEPUTY_TRY(CheckRank(context, tensor, 2));
  }
  batches_ = Dim(input, 0);
  inputs_ = Dim(input, 1);
  cells_ = Dim(activation, 1);
  const int64_t depth = int64_t{inputs_} + cells_, sums = int64_t{kBasicGates} * cells_;
  if (depth > 1 << 30 || sums > 1 << 30) {
    return TensorError(context, activation, "expected fewer than 2^28 cells, found %d", cells_);
  }
  DEPUTY_TRY(CheckDim(context, activation, 0, batches_));
  DEPUTY_TRY(CheckDim(context, weights, 0, static_cast<int>(sums)));
  DEPUTY_TRY(CheckDim(context, weights, 1, static_cast<int>(depth)));
  DEPUTY_TRY(CheckRank(context, bias, 1));
  DEPUTY_TRY(CheckDim(context, bias, 0, static_cast<int>(sums)));
  DEPUTY_TRY(CheckDim(context, state, 0, batches_));
  return CheckDim(context, state, 1, cells_);
}

TfLiteStatus BasicLstm::PrepareScales(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* bias = Input(context, node, kBias);
  const TfLiteTensor* state = Output(context, node, kState);
  DEPUTY_TRY(CheckQuantized(context, Input(context, node, kWeights)));
  DEPUTY_TRY(CheckQuantized(context, bias));
  if (!(std::fabs(std::log2(state->params.scale / kStateScale)) < 1e-3f)) {
    return TensorError(context, state, "expected the scale 2^-11, found %g",
                       static_cast<double>(state->params.scale));
  }
  to_gate_ = ToFixedMultiplier(static_cast<double>(4096 * bias->params.scale));
  return kTfLiteOk;
}

// Makes both states persistent between inferences, whether or not they are variables.
TfLiteStatus BasicLstm::KeepStates(TfLiteContext* context, const TfLiteNode* node) const {
  for (int number : {kOldActivation, kOldState}) {
    TfLiteTensor* tensor = Input(context, node, number);
    if (tensor->allocation_type != kTfLiteArenaRw &&
        tensor->allocation_type != kTfLiteArenaRwPersistent &&
        tensor->allocation_type != kTfLiteCustom) {
      return TensorError(context, tensor, "expected a tensor to write to, found a constant");
    }
    if (tensor->allocation_type == kTfLiteArenaRw) {
      tensor->allocation_type = kTfLiteArenaRwPersistent;
    }
  }
  return kTfLiteOk;
}

TfLiteStatus BasicLstm::Prepare(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, kBasicInputs, kBasicInputs, kBasicOutputs));
  DEPUTY_TRY(CheckTypes(context, node));
  DEPUTY_TRY(CheckShapes(context, node));
  if (quantized_) {
    DEPUTY_TRY(PrepareScales(context, node));
  } else {
    DEPUTY_TRY(gates_.Prepare(context, Input(context, node, kWeights), batches_));
    const size_t sums = static_cast<size_t>(batches_) * static_cast<size_t>(cells_) * kBasicGates;
    AnnounceScratch(context, sums * sizeof(float) + kTensorAlignment +
                                 gates_.ScratchBytes(ThreadCount(context)));
  }
  DEPUTY_TRY(KeepStates(context, node));
  const int widths[] = {cells_, cells_, inputs_ + cells_, kBasicGates * cells_};
  for (int i = 0; i < kBasicOutputs; ++i) {
    const int dims[] = {batches_, widths[i]};
    DEPUTY_TRY(ResizeTo(context, Output(context, node, i), dims));
  }
  return kTfLiteOk;
}

TfLiteStatus BasicLstm::Pack(TfLiteContext* context, const TfLiteNode* node) {
  return quantized_ ? kTfLiteOk : gates_.Pack(context, Input(context, node, kWeights));
}

TfLiteStatus BasicLstm::RunFloat(TfLiteContext* context, const TfLiteNode* node) {
  const TfLiteTensor* weights = Input(context, node, kWeights);
  const int width = kBasicGates * cells_;
  float* const joined = Data<float>(Output(context, node, kJoined));
  float* sums = Data<float>(Output(context, node, kSums));
  Join(Data<const float>(Input(context, node, kValues)),
       Data<const float>(Input(context, node, kOldActivation)), batches_, inputs_, cells_, joined);
  for (int b = 0; b < batches_; ++b) {
    std::copy_n(Data<const float>(Input(context, node, kBias)), width, sums + int64_t{b} * width);
  }
  Scratch scratch;
  if (!scratch.Acquire(context, Output(context, node, kSums)->bytes)) {
    return TensorError(context, weights, "out of memory for its products");
  }
  StepVectors vectors;
  DEPUTY_TRY(MakeStepVectors(context, weights, joined, batches_, inputs_ + cells_, false, false,
                             nullptr, &vectors));
  DEPUTY_TRY(gates_.AddTo(context, weights, vectors, scratch.as<float>(), sums));
  const float* old = Data<const float>(Input(context, node, kOldState));
  float* state = Data<float>(Output(context, node, kState));
  float* out = Data<float>(Output(context, node, kActivation));
  // The sums are an output and stay unmodified: gates are computed in scratch memory.
  float* const gates = scratch.as<float>();
  const VectorKernels& vector = CpuOf(context).vector;
  for (int b = 0; b < batches_; ++b, sums += width) {
    std::copy_n(sums, width, gates);
    for (int gate : {kInputAt, kForgetAt, kOutputAt}) {
      Activate(vector, kTfLiteActSigmoid, gates + gate * cells_, cells_, gates + gate * cells_);
    }
    Activate(vector, kTfLiteActTanh, gates + kUpdateAt * cells_, cells_,
             gates + kUpdateAt * cells_);
    for (int c = 0; c < cells_; ++c) {
      *state++ = gates[c] * gates[kUpdateAt * cells_ + c] + gates[kForgetAt * cells_ + c] * *old++;
    }
    Activate(vector, kTfLiteActTanh, state - cells_, cells_, out);
    for (int c = 0; c < cells_; ++c) *out++ *= gates[kOutputAt * cells_ + c];
  }
  return kTfLiteOk;
}

// Computes a uint8 node, whose activations have scale 1/128 and zero point 128.
void BasicLstm::RunBytes(TfLiteContext* context, const TfLiteNode* node) const {
  const TfLiteTensor* weights = Input(context, node, kWeights);
  const int depth = inputs_ + cells_, width = kBasicGates * cells_;
  uint8_t* joined = Data<uint8_t>(Output(context, node, kJoined));
  int16_t* sums = Data<int16_t>(Output(context, node, kSums));
  const int32_t* bias = Data<const int32_t>(Input(context, node, kBias));
  const int16_t* old = Data<const int16_t>(Input(context, node, kOldState));
  int16_t* state = Data<int16_t>(Output(context, node, kState));
  uint8_t* out = Data<uint8_t>(Output(context, node, kActivation));
  Join(Data<const uint8_t>(Input(context, node, kValues)),
       Data<const uint8_t>(Input(context, node, kOldActivation)), batches_, inputs_, cells_,
       joined);
  for (int b = 0; b < batches_; ++b, joined += depth, sums += width) {
    for (int i = 0; i < width; ++i) {
      int32_t sum = Dot(joined, Data<const uint8_t>(weights) + int64_t{i} * depth, depth, 128,
                        weights->params.zero_point);
      Accumulate(&sum, bias[i]);
      sums[i] = ToGate(sum, to_gate_);
    }
    for (int c = 0; c < cells_; ++c) {
      const int16_t added = Multiply16(LogisticOfQ3(sums[kInputAt * cells_ + c]),
                                       Tanh16(sums[kUpdateAt * cells_ + c], 3));
      const int16_t kept = Multiply16(LogisticOfQ3(sums[kForgetAt * cells_ + c]), *old++);
      *state = Saturate16(RoundingShiftRight(added, 4) + kept);
      const int16_t bounded = Saturate16(*state++ * 2);
      const int16_t activation =
          Multiply16(LogisticOfQ3(sums[kOutputAt * cells_ + c]), Tanh16(bounded, 3));
      *out++ = static_cast<uint8_t>(128 + std::clamp(RoundingShiftRight(activation, 8), -128, 127));
    }
  }
}

TfLiteStatus BasicLstm::Run(TfLiteContext* context, const TfLiteNode* node) {
  if (batches_ == 0 || cells_ == 0) return kTfLiteOk;
  for (int i = 0; i < kBasicOutputs; ++i) {
    const TfLiteTensor* output = Output(context, node, i);
    // An output without consumers has no memory if a delegate runs this kernel.
    if (output->data.raw == nullptr)
      return TensorError(context, output, "expected an allocated tensor, found no memory");
  }
  if (quantized_) {
    RunBytes(context, node);
  } else {
    DEPUTY_TRY(RunFloat(context, node));
  }
  Copy(Output(context, node, kActivation), Input(context, node, kOldActivation));
  Copy(Output(context, node, kState), Input(context, node, kOldState));
  return kTfLiteOk;
}

}  // namespace deputy
