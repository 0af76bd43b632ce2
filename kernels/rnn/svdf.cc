// SPDX-License-Identifier: Apache-2.0
#include "kernels/rnn/svdf.h"

#include <algorithm>
#include <cstring>

#include "kernels/common/requantize.h"
#include "kernels/cpu/implementation.h"
#include "kernels/linalg/dot.h"
#include "kernels/rnn/activate.h"
#include "kernels/rnn/recurrent_matrix.h"

namespace deputy {
namespace {

enum SvdfInput { kValues, kFeatureWeights, kTimeWeights, kBias, kState, kInputs };

struct SvdfData {
  int batches = 0, inputs = 0, filters = 0, units = 0, rank = 1, memory = 0;
  bool integer = false;
  bool asymmetric = false;  // true if a hybrid node quantises its vectors with zero points
  TfLiteFusedActivation activation = kTfLiteActNone;
  RecurrentMatrix features;  // feature weights of float32 and hybrid nodes
  // Factors of an int8 node: of the sums of features, and of the sums over time.
  FixedMultiplier to_state, to_output;
  int32_t input_zero = 0, output_zero = 0;
};

// ---- Prepare ----------------------------------------------------------------------------------

// Types of the weights over time, the bias and the state, determined by input and weights.
struct SvdfTypes {
  TfLiteType time, bias, state;
};

SvdfTypes TypesOf(const SvdfData& data, const TfLiteTensor* weights) {
  if (data.integer) return {kTfLiteInt16, kTfLiteInt32, kTfLiteInt16};
  return {weights->type, kTfLiteFloat32, kTfLiteFloat32};
}

TfLiteStatus CheckTypes(TfLiteContext* context, const TfLiteNode* node, const SvdfData& data) {
  const TfLiteTensor* weights = Input(context, node, kFeatureWeights);
  const TfLiteTensor* bias = Input(context, node, kBias);
  const TfLiteTensor* state = Input(context, node, kState);
  DEPUTY_TRY(CheckType(context, weights, data.integer ? kInt8Bit : kRecurrentWeights));
  const SvdfTypes types = TypesOf(data, weights);
  DEPUTY_TRY(CheckType(context, Input(context, node, kTimeWeights), TypeBit(types.time)));
  if (bias != nullptr) DEPUTY_TRY(CheckType(context, bias, TypeBit(types.bias)));
  DEPUTY_TRY(CheckType(context, state, TypeBit(types.state)));
  if (!state->is_variable) return TensorError(context, state, "expected a variable tensor");
  return CheckSameType(context, Output(context, node, 0), Input(context, node, kValues));
}

TfLiteStatus CheckShapes(TfLiteContext* context, const TfLiteNode* node, SvdfData* data) {
  const TfLiteTensor* input = Input(context, node, kValues);
  const TfLiteTensor* weights = Input(context, node, kFeatureWeights);
  const TfLiteTensor* time = Input(context, node, kTimeWeights);
  const TfLiteTensor* bias = Input(context, node, kBias);
  const TfLiteTensor* state = Input(context, node, kState);
  for (const TfLiteTensor* tensor : {input, weights, time, state}) {
    DEPUTY_TRY(CheckRank(context, tensor, 2));
  }
  data->batches = Dim(input, 0);
  data->inputs = Dim(input, 1);
  data->filters = Dim(weights, 0);
  data->memory = Dim(time, 1);
  if (data->rank <= 0 || data->filters % data->rank != 0) {
    return KernelError(context, "rank: expected a divisor of the %d filters, found %d",
                       data->filters, data->rank);
  }
  data->units = data->filters / data->rank;
  DEPUTY_TRY(CheckDim(context, weights, 1, data->inputs));
  DEPUTY_TRY(CheckDim(context, time, 0, data->filters));
  DEPUTY_TRY(CheckDim(context, state, 0, data->batches));
  if (int64_t{Dim(state, 1)} != int64_t{data->memory} * data->filters) {
    return TensorError(context, state, "expected %lld values for each batch, found %d",
                       static_cast<long long>(data->memory) * data->filters, Dim(state, 1));
  }
  if (bias == nullptr) return kTfLiteOk;
  DEPUTY_TRY(CheckRank(context, bias, 1));
  return CheckDim(context, bias, 0, data->units);
}

TfLiteStatus PrepareScales(TfLiteContext* context, const TfLiteNode* node, SvdfData* data) {
  const TfLiteTensor* input = Input(context, node, kValues);
  const TfLiteTensor* weights = Input(context, node, kFeatureWeights);
  const TfLiteTensor* time = Input(context, node, kTimeWeights);
  const TfLiteTensor* state = Input(context, node, kState);
  const TfLiteTensor* output = Output(context, node, 0);
  for (const TfLiteTensor* tensor : {input, weights, time, state, output}) {
    DEPUTY_TRY(CheckQuantized(context, tensor));
  }
  if (data->activation != kTfLiteActRelu) {
    return KernelError(context, "fused activation: expected RELU for int8, found %d",
                       static_cast<int>(data->activation));
  }
  // The factors are computed in float32, as in TensorFlow Lite.
  const float to_state = input->params.scale * weights->params.scale / state->params.scale;
  const float to_output = state->params.scale * time->params.scale / output->params.scale;
  data->to_state = ToFixedMultiplier(static_cast<double>(to_state));
  data->to_output = ToFixedMultiplier(static_cast<double>(to_output));
  data->input_zero = input->params.zero_point;
  data->output_zero = output->params.zero_point;
  return kTfLiteOk;
}

TfLiteStatus PrepareFloat(TfLiteContext* context, const TfLiteNode* node, SvdfData* data) {
  DEPUTY_TRY(CheckRecurrentActivation(context, data->activation));
  const TfLiteTensor* time = Input(context, node, kTimeWeights);
  if (IsHybridWeight(time)) DEPUTY_TRY(CheckQuantized(context, time));
  return data->features.Prepare(context, Input(context, node, kFeatureWeights), data->batches);
}

// Bytes of two arrays of features: sums, and products before they are added.
size_t FeatureBytes(const SvdfData& data) {
  size_t count = 0, bytes = 0;
  const bool fits =
      MultiplySizes(static_cast<size_t>(data.batches), static_cast<size_t>(data.filters), &count) &&
      MultiplySizes(count, 2 * sizeof(float), &bytes);
  return fits ? bytes : 0;
}

TfLiteStatus PackSvdf(TfLiteContext* context, TfLiteNode* node) {
  SvdfData& data = DataOf<SvdfData>(node);
  return data.integer ? kTfLiteOk
                      : data.features.Pack(context, Input(context, node, kFeatureWeights));
}

// ---- Evaluation ---------------------------------------------------------------------------------

// Drops the oldest feature of every filter and appends a new one. The state is [rows][memory], the
// new features are [rows].
template <typename T>
void AppendFeatures(const T* features, int64_t rows, int memory, T* state) {
  if (memory == 0) return;
  for (int64_t row = 0; row < rows; ++row, state += memory) {
    std::memmove(state, state + 1, static_cast<size_t>(memory - 1) * sizeof(T));
    state[memory - 1] = features[row];
  }
}

// Returns the dot product of a filter's weights over time, as floats, and its stored features.
float OverTime(const TfLiteTensor* weights, int64_t at, const float* state, int memory) {
  if (!IsHybridWeight(weights)) {
    return Dot(Data<float>(weights) + at, state, memory, 0.0f, 0.0f);
  }
  float sum = 0.0f;
  for (int m = 0; m < memory; ++m) {
    const auto step = static_cast<float>(Data<int8_t>(weights)[at + m]);
    sum += step * weights->params.scale * state[m];
  }
  return sum;
}

TfLiteStatus EvalFloat(TfLiteContext* context, TfLiteNode* node, SvdfData* data) {
  const TfLiteTensor* weights = Input(context, node, kFeatureWeights);
  const TfLiteTensor* time = Input(context, node, kTimeWeights);
  const TfLiteTensor* bias = Input(context, node, kBias);
  const int64_t features = int64_t{data->batches} * data->filters;
  Scratch scratch;
  if (!scratch.Acquire(context, FeatureBytes(*data))) {
    return TensorError(context, weights, "out of memory for its features");
  }
  float* const sums = scratch.as<float>();
  std::fill_n(sums, features, 0.0f);
  HybridRows quantized;
  StepVectors vectors;
  DEPUTY_TRY(MakeStepVectors(context, weights, Data<float>(Input(context, node, kValues)),
                             data->batches, data->inputs, IsHybridWeight(weights), data->asymmetric,
                             &quantized, &vectors));
  DEPUTY_TRY(data->features.AddTo(context, weights, vectors, sums + features, sums));
  float* state = Data<float>(Input(context, node, kState));
  AppendFeatures(sums, features, data->memory, state);
  float* out = Data<float>(Output(context, node, 0));
  for (int64_t i = 0; i < int64_t{data->batches} * data->units; ++i) {
    const int64_t unit = i % data->units;
    float sum = 0.0f;
    for (int r = 0; r < data->rank; ++r, state += data->memory) {
      sum += OverTime(time, (unit * data->rank + r) * data->memory, state, data->memory);
    }
    out[i] = sum + (bias == nullptr ? 0.0f : Data<float>(bias)[unit]);
  }
  Activate(CpuOf(context).vector, data->activation, out, int64_t{data->batches} * data->units, out);
  return kTfLiteOk;
}

// Computes the new features of a batch, quantised like the state.
void ComputeFeatures(const SvdfData& data, const int8_t* input, const int8_t* weights,
                     int16_t* out) {
  for (int f = 0; f < data.filters; ++f, weights += data.inputs) {
    const int32_t sum = Dot(input, weights, data.inputs, data.input_zero, 0);
    out[f] = static_cast<int16_t>(std::clamp(Multiply(sum, data.to_state), -32768, 32767));
  }
}

TfLiteStatus EvalInteger(TfLiteContext* context, TfLiteNode* node, SvdfData* data) {
  const TfLiteTensor* weights = Input(context, node, kFeatureWeights);
  const int16_t* time = Data<int16_t>(Input(context, node, kTimeWeights));
  const TfLiteTensor* bias = Input(context, node, kBias);
  Scratch scratch;
  if (!scratch.Acquire(context, FeatureBytes(*data))) {
    return TensorError(context, weights, "out of memory for its features");
  }
  const int8_t* input = Data<int8_t>(Input(context, node, kValues));
  int16_t* state = Data<int16_t>(Input(context, node, kState));
  int8_t* out = Data<int8_t>(Output(context, node, 0));
  for (int b = 0; b < data->batches; ++b, input += data->inputs) {
    ComputeFeatures(*data, input, Data<int8_t>(weights), scratch.as<int16_t>());
    AppendFeatures(scratch.as<int16_t>(), data->filters, data->memory, state);
    for (int64_t unit = 0; unit < data->units; ++unit) {
      int32_t sum = bias == nullptr ? 0 : Data<int32_t>(bias)[unit];
      for (int r = 0; r < data->rank; ++r, state += data->memory) {
        const int16_t* filter = time + (unit * data->rank + r) * data->memory;
        Accumulate(&sum, static_cast<int32_t>(Dot(filter, state, data->memory, 0, 0)));
      }
      const int64_t steps = int64_t{Multiply(sum, data->to_output)} + data->output_zero;
      *out++ = static_cast<int8_t>(std::clamp<int64_t>(steps, -128, 127));
    }
  }
  return kTfLiteOk;
}

}  // namespace

void* NewSvdf(TfLiteContext*, const char*, size_t) { return new SvdfData(); }
void DeleteSvdf(TfLiteContext*, void* user_data) { delete static_cast<SvdfData*>(user_data); }

TfLiteStatus PrepareSvdf(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, kBias, kInputs, 1));
  if (node->inputs->size != kInputs || Input(context, node, kState) == nullptr) {
    return KernelError(context, "expected %d inputs, the last of them the state", kInputs);
  }
  const auto& params = ParamsOf<TfLiteSVDFParams>(node);
  SvdfData& data = DataOf<SvdfData>(node);
  const TfLiteTensor* input = Input(context, node, kValues);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kInt8Bit));
  data.integer = input->type == kTfLiteInt8;
  data.rank = params.rank;
  data.activation = params.activation;
  data.asymmetric = params.asymmetric_quantize_inputs;
  DEPUTY_TRY(CheckTypes(context, node, data));
  DEPUTY_TRY(CheckShapes(context, node, &data));
  DEPUTY_TRY(data.integer ? PrepareScales(context, node, &data)
                          : PrepareFloat(context, node, &data));
  AnnounceScratch(context, FeatureBytes(data) + 2 * kTensorAlignment +
                               HybridRows::ScratchBytes(data.batches, data.inputs) +
                               data.features.ScratchBytes(ThreadCount(context)));
  RequestPacking(context, node, &Guarded<&PackSvdf>);
  const int dims[] = {data.batches, data.units};
  return ResizeTo(context, Output(context, node, 0), dims);
}

TfLiteStatus EvalSvdf(TfLiteContext* context, TfLiteNode* node) {
  SvdfData& data = DataOf<SvdfData>(node);
  if (data.batches == 0 || data.filters == 0) return kTfLiteOk;
  return data.integer ? EvalInteger(context, node, &data) : EvalFloat(context, node, &data);
}

}  // namespace deputy
