// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE (float32 to int8, int8 to int8 of another scale) and DEQUANTIZE (int8 and float16 to
// float32), with one scale or one per slice of the quantised dimension.
//
// DEQUANTIZE of a constant is worked out once per interpreter, at the first invoke, and only if
// some CPU node reads the result: a delegate may have taken all readers. The node stays in the plan
// and does nothing afterwards.
//
// What upstream leaves to chance is defined here: numbers too large for the output saturate with
// their sign (upstream's +infinity becomes the smallest step), NaN becomes the smallest step.
#include <cmath>

#include "kernels/activation_range.h"
#include "kernels/cpu.h"
#include "kernels/kernel.h"
#include "kernels/registry.h"
#include "kernels/requantize.h"

namespace deputy {
namespace {

// ---- Scales -----------------------------------------------------------------------------------

// The scales of a tensor as kernels loop over it: `outer` times `slices` times `inner` elements,
// where each slice has a scale and a zero point of its own.
struct Slices {
  int64_t outer = 1, slices = 1, inner = 1;
  const TfLiteAffineQuantization* affine = nullptr;  // null: one scale, in `params`
  TfLiteQuantizationParams params;

  float Scale(int64_t slice) const {
    return affine == nullptr ? params.scale : affine->scale->data[slice];
  }
  int32_t ZeroPoint(int64_t slice) const {
    if (affine == nullptr) return params.zero_point;
    const TfLiteIntArray* zero_points = affine->zero_point;
    if (zero_points == nullptr || zero_points->size == 0) return 0;
    return zero_points->data[zero_points->size == 1 ? 0 : slice];
  }
  // function(slice, first element, count) for all runs of elements with one scale.
  template <typename Function>
  void ForEachRun(const Function& function) const {
    int64_t first = 0;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t s = 0; s < slices; ++s, first += inner) function(s, first, inner);
    }
  }
};

// Reads the scales of `tensor`, whose shape is (or will be) that of `shaped`.
TfLiteStatus ReadSlices(TfLiteContext* context, const TfLiteTensor* tensor,
                        const TfLiteTensor* shaped, Slices* out_slices) {
  Slices slices;
  slices.params = tensor->params;
  slices.inner = ElementCount(shaped);
  const auto* affine = tensor->quantization.type == kTfLiteAffineQuantization
                           ? static_cast<const TfLiteAffineQuantization*>(
                                 tensor->quantization.params)
                           : nullptr;
  if (affine != nullptr && affine->scale != nullptr && affine->scale->size > 1) {
    const int axis = affine->quantized_dimension;
    if (axis < 0 || axis >= Rank(shaped) || Dim(shaped, axis) != affine->scale->size) {
      return TensorError(context, tensor, "its %d scales do not fit dimension %d",
                         affine->scale->size, axis);
    }
    slices.affine = affine;
    slices.outer = ElementCount(Dims(shaped).first(static_cast<size_t>(axis)));
    slices.slices = Dim(shaped, axis);
    slices.inner = ElementCount(Dims(shaped).subspan(static_cast<size_t>(axis) + 1));
    const TfLiteIntArray* zero_points = affine->zero_point;
    if (zero_points != nullptr && zero_points->size > 1 && zero_points->size != slices.slices) {
      return TensorError(context, tensor, "expected %d zero points, found %d",
                         affine->scale->size, zero_points->size);
    }
  }
  *out_slices = slices;
  return kTfLiteOk;
}

TfLiteStatus CheckScales(TfLiteContext* context, const TfLiteTensor* tensor,
                         const Slices& slices) {
  for (int64_t s = 0; s < slices.slices; ++s) {
    if (!(slices.Scale(s) > 0.0f) || !std::isfinite(slices.Scale(s)) ||
        slices.ZeroPoint(s) < -128 || slices.ZeroPoint(s) > 127) {
      return TensorError(context, tensor,
                         "expected a positive scale and a zero point from -128 to 127, found "
                         "%g and %d", static_cast<double>(slices.Scale(s)), slices.ZeroPoint(s));
    }
  }
  return kTfLiteOk;
}

// ---- Prepare ----------------------------------------------------------------------------------

struct QuantizeData {
  Slices slices;      // of the quantised side
  bool done = false;  // the constant result is there
};

TfLiteStatus PrepareQuantize(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kFloat32Bit | kInt8Bit));
  DEPUTY_TRY(CheckType(context, output, kInt8Bit));
  if (input->type == kTfLiteInt8) {
    DEPUTY_TRY(CheckQuantized(context, input));
    DEPUTY_TRY(CheckQuantized(context, output));
  } else {
    Slices& slices = DataOf<QuantizeData>(node).slices;
    DEPUTY_TRY(ReadSlices(context, output, input, &slices));
    DEPUTY_TRY(CheckScales(context, output, slices));
  }
  return ResizeLike(context, output, input);
}

TfLiteStatus PrepareDequantize(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  QuantizeData& data = DataOf<QuantizeData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kInt8Bit | kFloat16Bit));
  if (input->type == kTfLiteInt8) DEPUTY_TRY(ReadSlices(context, input, input, &data.slices));
  output->type = kTfLiteFloat32;
  if (!IsReadableConstant(input)) {
    data.done = false;
    return ResizeLike(context, output, input);
  }
  // Resizing gives such a tensor new memory at once; what was worked out stays if it still fits.
  const bool fits = output->allocation_type == kTfLitePersistentRo &&
                    output->data.data != nullptr && output->dims != nullptr &&
                    TfLiteIntArrayEqual(output->dims, input->dims) != 0 &&
                    output->bytes == static_cast<size_t>(ElementCount(input)) * sizeof(float);
  if (fits) return kTfLiteOk;
  data.done = false;
  output->allocation_type = kTfLitePersistentRo;
  return ResizeLike(context, output, input);
}

// ---- Reference --------------------------------------------------------------------------------

float HalfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float mantissa = static_cast<float>(half & 0x3ff);
  float value = 0.0f;
  if (exponent == 31) {
    value = mantissa == 0.0f ? std::numeric_limits<float>::infinity()
                             : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else {
    value = std::ldexp(mantissa + 1024.0f, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

// A real number in steps. The exact mode rounds ties away from zero, the default to even.
int8_t ToStep(float value, float scale, int32_t zero_point, Arithmetic arithmetic) {
  const float steps = value / scale;
  const float rounded =
      arithmetic == Arithmetic::kReference ? std::round(steps) : std::nearbyint(steps);
  const float shifted = rounded + static_cast<float>(zero_point);
  if (!(shifted > -128.0f)) return -128;
  return static_cast<int8_t>(std::min(shifted, 127.0f));
}

// ---- Eval -------------------------------------------------------------------------------------

template <typename Requantizer>
void Requantize(const TfLiteTensor* input, TfLiteTensor* output) {
  const double factor = static_cast<double>(input->params.scale) /
                        static_cast<double>(output->params.scale);
  const Requantizer requantize(factor, output->params.zero_point, IntRange{-128, 127});
  const int32_t zero_point = input->params.zero_point;
  const int8_t* values = Data<int8_t>(input);
  int8_t* out = Data<int8_t>(output);
  const int64_t count = ElementCount(input);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<int8_t>(requantize(values[i] - zero_point));
  }
}

TfLiteStatus EvalQuantize(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const Arithmetic arithmetic = ArithmeticOf(context);
  if (input->type == kTfLiteInt8) {
    if (arithmetic == Arithmetic::kReference) Requantize<ExactRequantizer>(input, output);
    if (arithmetic == Arithmetic::kDefault) Requantize<FloatRequantizer>(input, output);
    return kTfLiteOk;
  }
  const Slices& slices = DataOf<QuantizeData>(node).slices;
  const float* values = Data<float>(input);
  int8_t* out = Data<int8_t>(output);
  slices.ForEachRun([&](int64_t slice, int64_t first, int64_t count) {
    const float scale = slices.Scale(slice);
    const int32_t zero_point = slices.ZeroPoint(slice);
    for (int64_t i = first; i < first + count; ++i) {
      out[i] = ToStep(values[i], scale, zero_point, arithmetic);
    }
  });
  return kTfLiteOk;
}

void DequantizeInt8(const Slices& slices, const int8_t* values, float* out) {
  slices.ForEachRun([&](int64_t slice, int64_t first, int64_t count) {
    const float scale = slices.Scale(slice);
    const int64_t zero_point = slices.ZeroPoint(slice);
    for (int64_t i = first; i < first + count; ++i) {
      out[i] = scale * static_cast<float>(values[i] - zero_point);
    }
  });
}

void DequantizeHalf(const uint16_t* values, int64_t count, float* out) {
  if (Cpu().half_to_float != nullptr) {
    Cpu().half_to_float(values, static_cast<size_t>(count), out);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = HalfToFloat(values[i]);
  }
}

TfLiteStatus EvalDequantize(TfLiteContext* context, TfLiteNode* node) {
  QuantizeData& data = DataOf<QuantizeData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (output->allocation_type == kTfLitePersistentRo) {
    const Runtime* runtime = RuntimeOf(context);
    if (data.done || (runtime != nullptr && !runtime->TensorIsRead(node->outputs->data[0]))) {
      return kTfLiteOk;
    }
  }
  switch (input->type) {
    case kTfLiteInt8:
      DequantizeInt8(data.slices, Data<int8_t>(input), Data<float>(output));
      break;
    case kTfLiteFloat16:
      DequantizeHalf(Data<uint16_t>(input), ElementCount(input), Data<float>(output));
      break;
    default:
      return UnexpectedType(context, input);
  }
  data.done = output->allocation_type == kTfLitePersistentRo;
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    {.name = "QUANTIZE",
     .code = kTfLiteBuiltinQuantize,
     .min_version = 1,
     .max_version = 6,
     .types = kFloat32Bit | kInt8Bit,
     .options = {},
     .params_size = 0,
     .parse = nullptr,
     .init = &GuardedInit<&NewData<QuantizeData>>,
     .free = &DeleteData<QuantizeData>,
     .prepare = &Guarded<&PrepareQuantize>,
     .invoke = &Guarded<&EvalQuantize>,
     .inplace = kTfLiteInplaceOpNone},
    {.name = "DEQUANTIZE",
     .code = kTfLiteBuiltinDequantize,
     .min_version = 1,
     .max_version = 9,
     .types = kInt8Bit | kFloat16Bit,
     .options = {},
     .params_size = 0,
     .parse = nullptr,
     .init = &GuardedInit<&NewData<QuantizeData>>,
     .free = &DeleteData<QuantizeData>,
     .prepare = &Guarded<&PrepareDequantize>,
     .invoke = &Guarded<&EvalDequantize>,
     .inplace = kTfLiteInplaceOpNone},
};

}  // namespace

constexpr std::span<const OpDef> kQuantizeOps = kTable;

}  // namespace deputy
