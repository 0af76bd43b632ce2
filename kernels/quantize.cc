// SPDX-License-Identifier: Apache-2.0
//
// QUANTIZE (float32 to 4, 8 and 16 bits, and integers from one scale to another), DEQUANTIZE to
// float32, DENSIFY (sparse constants to dense ones) and BITCAST; CAST and FAKE_QUANT are in
// separate files. There is one scale per tensor or, between float32 and integers, one per slice
// along the quantised dimension. QUANTIZE converts float32 to 4-bit integers; DEQUANTIZE converts
// 2-bit and 4-bit integers to float32.
//
// DEQUANTIZE and DENSIFY of a constant are computed when constants are packed, and only if some CPU
// node reads the result: a delegate may have claimed all consumers. The interpreters of a model
// share the result. The node stays in the plan and does nothing afterwards.
//
// Behaviour that upstream leaves undefined is defined here: QUANTIZE of values too large for the
// output saturates with their sign (upstream's +infinity becomes the minimum), and NaN becomes the
// minimum.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "c_api/abi/borrowed_data.h"
#include "kernels/common/activation_range.h"
#include "kernels/common/element_type.h"
#include "kernels/common/elements.h"
#include "kernels/common/families.h"
#include "kernels/common/fold.h"
#include "kernels/common/half.h"
#include "kernels/common/kernel.h"
#include "kernels/common/packed_ints.h"
#include "kernels/common/requantize.h"
#include "kernels/common/sparse.h"
#include "kernels/cpu/implementation.h"
#include "kernels/cpu/map_vectors.h"
#include "kernels/quantize.h"

namespace deputy {
namespace {

constexpr uint32_t kStepTypes = kInt8Bit | kUInt8Bit | kInt16Bit;
constexpr uint32_t kQuantizeTypes = kFloat32Bit | kStepTypes | kInt32Bit;
constexpr uint32_t kDequantizeTypes = kStepTypes | kFloat16Bit | kPackedBits;
constexpr uint32_t kDensifyTypes = kFloat32Bit | kFloat16Bit | kInt8Bit;

// ---- Scales -----------------------------------------------------------------------------------

// Division of a tensor into `outer` times `slices` times `inner` elements; each slice has its own
// scale and zero point.
struct Slices {
  int64_t outer = 1, slices = 1, inner = 1;
  // Scales of the slices; null if there is one scale, which is in `params`.
  const TfLiteAffineQuantization* affine = nullptr;
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
  // Calls function(slice, first element, count) for runs of elements with one scale, which together
  // cover all elements, on all threads.
  template <typename Function>
  void ForEachRun(TfLiteContext* context, const Function& function) const {
    if (outer * slices == 1) {
      ParallelRanges(context, inner, kElementsPerTask, [&](int64_t first, int64_t last) {
        function(int64_t{0}, first, last - first);
      });
    } else if (inner > 0) {
      ParallelRanges(context, outer * slices, kElementsPerTask / inner + 1,
                     [&](int64_t first, int64_t last) {
                       for (int64_t run = first; run < last; ++run) {
                         function(run % slices, run * inner, inner);
                       }
                     });
    }
  }
};

// Reads the scales of `tensor`, whose shape is (or will be) that of `shaped`.
TfLiteStatus ReadSlices(TfLiteContext* context, const TfLiteTensor* tensor,
                        const TfLiteTensor* shaped, Slices* out_slices) {
  Slices slices;
  slices.params = tensor->params;
  slices.inner = ElementCount(shaped);
  const auto* affine =
      tensor->quantization.type == kTfLiteAffineQuantization
          ? static_cast<const TfLiteAffineQuantization*>(tensor->quantization.params)
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
      return TensorError(context, tensor, "expected %d zero points, found %d", affine->scale->size,
                         zero_points->size);
    }
  }
  *out_slices = slices;
  return kTfLiteOk;
}

TfLiteStatus CheckScales(TfLiteContext* context, const TfLiteTensor* tensor, const Slices& slices) {
  int32_t low = 0, high = 0;
  if (PackedBits(tensor->type) != 0) {
    const PackedRange range = RangeOf(tensor->type);
    low = range.low, high = range.high;
  } else if (!QuantizedLimits(tensor->type, &low, &high)) {
    return UnexpectedType(context, tensor);
  }
  for (int64_t s = 0; s < slices.slices; ++s) {
    if (!(slices.Scale(s) > 0.0f) || !std::isfinite(slices.Scale(s)) || slices.ZeroPoint(s) < low ||
        slices.ZeroPoint(s) > high) {
      return TensorError(context, tensor,
                         "expected a positive scale and a zero point from %d to %d, found %g "
                         "and %d",
                         low, high, static_cast<double>(slices.Scale(s)), slices.ZeroPoint(s));
    }
  }
  return kTfLiteOk;
}

// ---- Prepare ----------------------------------------------------------------------------------

struct QuantizeData {
  Slices slices;           // scales of the quantised tensor
  bool done = false;       // true if the result of a constant input is available
  bool is_shared = false;  // true if the interpreters of the model share the result
};

// Returns a mask of the types to which QUANTIZE can convert `type`.
uint32_t TargetsOf(TfLiteType type) {
  switch (type) {
    case kTfLiteInt16:
      return kInt8Bit | kInt16Bit | kInt32Bit;
    case kTfLiteInt32:
      return kInt8Bit | kInt16Bit;
    case kTfLiteFloat32:
      return kStepTypes | kInt4Bit | TypeBit(kTfLiteUInt4);
    default:
      return kStepTypes;
  }
}

TfLiteStatus PrepareQuantize(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kQuantizeTypes));
  DEPUTY_TRY(CheckType(context, output, TargetsOf(input->type)));
  if (input->type == kTfLiteFloat32) {
    Slices& slices = DataOf<QuantizeData>(node).slices;
    DEPUTY_TRY(ReadSlices(context, output, input, &slices));
    DEPUTY_TRY(CheckScales(context, output, slices));
    if (PackedBits(output->type) != 0 && slices.affine != nullptr) {
      return TensorError(context, output, "expected one scale for %s, found %d",
                         TfLiteTypeGetName(output->type), slices.affine->scale->size);
    }
  } else {
    DEPUTY_TRY(CheckQuantized(context, input));
    DEPUTY_TRY(CheckQuantized(context, output));
    if (input->type == kTfLiteInt16 && output->type == kTfLiteInt16) {
      DEPUTY_TRY(CheckNoZeroPoint(context, input));
      DEPUTY_TRY(CheckNoZeroPoint(context, output));
    }
  }
  return ResizeLike(context, output, input);
}

// Gives the output of a constant node the input's shape. A result that is already computed is kept
// if it fits, because resizing such a tensor allocates new memory. An output in client memory is
// computed in every inference, since the client may have changed it.
TfLiteStatus ResizeConstant(TfLiteContext* context, const TfLiteTensor* input, size_t element_bytes,
                            TfLiteTensor* output, bool* done) {
  const bool fits = output->allocation_type == kTfLitePersistentRo &&
                    output->data.data != nullptr && output->dims != nullptr &&
                    TfLiteIntArrayEqual(output->dims, input->dims) != 0 &&
                    output->bytes == static_cast<size_t>(ElementCount(input)) * element_bytes;
  if (fits) return kTfLiteOk;
  *done = false;
  if (output->allocation_type != kTfLiteCustom) DEPUTY_TRY(MakePersistent(context, output));
  return ResizeLike(context, output, input);
}

// Returns true if a constant node has nothing to compute: its result is available, or no CPU node
// reads it.
bool IsIdle(TfLiteContext* context, const TfLiteNode* node, bool done) {
  if (Output(context, node, 0)->allocation_type != kTfLitePersistentRo) return false;
  const Runtime* runtime = RuntimeOf(context);
  return done || (runtime != nullptr && !runtime->TensorIsRead(node->outputs->data[0]));
}

// Function that computes the output of DEQUANTIZE or DENSIFY from the input.
using ComputeFunction = TfLiteStatus(TfLiteContext*, const QuantizeData&, const TfLiteTensor* input,
                                     TfLiteTensor* output);
ComputeFunction Dequantize, Densify;

// Serialises the parameters of the input that the operators use, other than its values, type and
// shape.
std::string ParametersOf(const TfLiteTensor* input, const Slices& slices) {
  if (input->sparsity != nullptr) return SparsityBytes(*input->sparsity);
  std::string bytes;
  if (input->type == kTfLiteFloat16) return bytes;
  const auto add = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  add(slices.inner);
  for (int64_t slice = 0; slice < slices.slices; ++slice) {
    add(slices.Scale(slice));
    add(slices.ZeroPoint(slice));
  }
  return bytes;
}

// Sets the output's data to a result that the model's interpreters share. Returns false if none is
// shared or if out of memory.
bool ShareConstant(TfLiteContext* context, const QuantizeData& data, const TfLiteTensor* input,
                   TfLiteTensor* output, ComputeFunction* compute) {
  Runtime* const runtime = RuntimeOf(context);
  PackedConstants* const constants = runtime->PackedConstantsOf(input->data.data);
  if (constants == nullptr || output->bytes == 0) return false;
  PackedKey key = {input->data.data, reinterpret_cast<const void*>(compute), {input->type}};
  std::copy(Dims(input).begin(), Dims(input).end(), key.layout.begin() + 1);
  const char* const contents = constants->FindOrMake(
      key, output->bytes, runtime->limits(), &runtime->pool(),
      [&](char* out) {
        TfLiteTensor shared = *output;
        shared.data.raw = out;
        compute(context, data, input, &shared);
      },
      ParametersOf(input, data.slices));
  if (contents == nullptr) return false;
  BorrowData(contents, output);
  return true;
}

// Computes the result of a constant input; a `pack` function, so that the `pack` functions of other
// nodes can read the result before the first invoke.
template <ComputeFunction* compute>
TfLiteStatus ComputeConstant(TfLiteContext* context, TfLiteNode* node) {
  TfLiteTensor* const output = Output(context, node, 0);
  if (output->allocation_type != kTfLitePersistentRo) return kTfLiteOk;
  QuantizeData& data = DataOf<QuantizeData>(node);
  // A shared result may have been discarded since it was computed.
  if (data.is_shared || !IsIdle(context, node, data.done)) {
    const TfLiteTensor* const input = Input(context, node, 0);
    data.is_shared = ShareConstant(context, data, input, output, compute);
    if (!data.is_shared) DEPUTY_TRY(compute(context, data, input, output));
    data.done = true;
  }
  if (data.done) RuntimeOf(context)->NoteContents(node->outputs->data[0]);
  return kTfLiteOk;
}

// Computes the result unless it is available; an `invoke` function.
template <ComputeFunction* compute>
TfLiteStatus EvalUnlessDone(TfLiteContext* context, TfLiteNode* node) {
  QuantizeData& data = DataOf<QuantizeData>(node);
  if (IsIdle(context, node, data.done)) return kTfLiteOk;
  TfLiteTensor* const output = Output(context, node, 0);
  DEPUTY_TRY(compute(context, data, Input(context, node, 0), output));
  data.done = output->allocation_type == kTfLitePersistentRo;
  return kTfLiteOk;
}

TfLiteStatus PrepareDequantize(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  QuantizeData& data = DataOf<QuantizeData>(node);
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kDequantizeTypes));
  if (input->type == kTfLiteInt16) DEPUTY_TRY(CheckNoZeroPoint(context, input));
  if (input->type != kTfLiteFloat16) DEPUTY_TRY(ReadSlices(context, input, input, &data.slices));
  output->type = kTfLiteFloat32;
  if (IsReadableConstant(input)) {
    RequestPacking(context, node, &Guarded<&ComputeConstant<&Dequantize>>);
    return ResizeConstant(context, input, sizeof(float), output, &data.done);
  }
  data.done = false;
  return ResizeLike(context, output, input);
}

TfLiteStatus PrepareDensify(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1, Sparse::kAllowed));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  DEPUTY_TRY(CheckType(context, input, kDensifyTypes));
  if (!IsReadableConstant(input) || input->sparsity == nullptr) {
    return TensorError(context, input, "expected a sparse constant, found %s",
                       input->sparsity == nullptr ? "a dense tensor" : "no constant");
  }
  output->type = input->type;
  RequestPacking(context, node, &Guarded<&ComputeConstant<&Densify>>);
  return ResizeConstant(context, input, static_cast<size_t>(ElementBytes(input->type)), output,
                        &DataOf<QuantizeData>(node).done);
}

// ---- QUANTIZE ---------------------------------------------------------------------------------

// Quantises a real number and clamps it to [low, high]. Reference arithmetic rounds ties away from
// zero, default arithmetic to even.
template <typename T>
T ToStep(float value, float scale, int32_t zero_point, T low, T high, Arithmetic arithmetic) {
  const float steps = value / scale;
  const float rounded =
      arithmetic == Arithmetic::kReference ? std::round(steps) : std::nearbyint(steps);
  const float shifted = rounded + static_cast<float>(zero_point);
  if (!(shifted > static_cast<float>(low))) return low;
  return static_cast<T>(std::min(shifted, static_cast<float>(high)));
}

// Minimum number of elements for which a call of a vector loop pays off.
constexpr int64_t kMinLoopElements = 16;

template <typename T>
void QuantizeFloats(TfLiteContext* context, const Slices& slices, const float* values, T* out) {
  const Arithmetic arithmetic = ArithmeticOf(context);
  const QuantizeLoop<T> loop =
      arithmetic == Arithmetic::kReference ? nullptr : CpuOf(context).vector.quantize.of<T>();
  slices.ForEachRun(context, [&](int64_t slice, int64_t first, int64_t count) {
    const float scale = slices.Scale(slice);
    const int32_t zero_point = slices.ZeroPoint(slice);
    if (loop != nullptr && count >= kMinLoopElements) {
      return loop(values + first, count, {scale, zero_point}, out + first);
    }
    for (int64_t i = first; i < first + count; ++i) {
      out[i] = ToStep<T>(values[i], scale, zero_point, std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max(), arithmetic);
    }
  });
}

// Quantises to 4-bit integers. Rounds ties away from zero in both modes, as both of TensorFlow
// Lite's kernels do.
TfLiteStatus QuantizeToPacked(TfLiteContext* context, const Slices& slices, const float* values,
                              TfLiteTensor* output) {
  const PackedRange range = RangeOf(output->type);
  ElementArrays arrays(context);
  ElementAccess<uint8_t> access(&arrays);
  uint8_t* steps = nullptr;
  DEPUTY_TRY(access.Write(output, &steps));
  slices.ForEachRun(context, [&](int64_t slice, int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) {
      steps[i] = static_cast<uint8_t>(ToStep<int8_t>(values[i], slices.Scale(slice),
                                                     slices.ZeroPoint(slice), range.low, range.high,
                                                     Arithmetic::kReference));
    }
  });
  return arrays.Finish();
}

// Widens quantised values to int32.
template <typename In>
void Widen(const VectorKernels& vector, const void* values, int64_t count, int32_t* out) {
  const In* in = static_cast<const In*>(values);
  if (const auto loop = vector.cast.of<FromTo<In, int32_t>>()) return loop(in, count, out);
  std::copy_n(in, count, out);
}

// Calls run(values, count, out) for ranges of the input widened to int32, on all threads.
template <typename Out, typename RunFunction>
TfLiteStatus MapWidened(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                        const RunFunction& run) {
  void (*widen)(const VectorKernels&, const void*, int64_t, int32_t*) = nullptr;
  DEPUTY_TRY(DispatchType<kStepTypes | kInt32Bit>(context, input, [&](auto tag) {
    widen = &Widen<typename decltype(tag)::type>;
    return kTfLiteOk;
  }));
  const VectorKernels& vector = CpuOf(context).vector;
  const char* values = Data<char>(input);
  const int64_t bytes = ElementBytes(input->type);
  Out* out = Data<Out>(output);
  ParallelRanges(context, ElementCount(input), kElementsPerTask, [&](int64_t first, int64_t last) {
    int32_t wide[kWidenedCount];
    for (; first < last; first += kWidenedCount) {
      const int64_t count = std::min(last - first, kWidenedCount);
      widen(vector, values + first * bytes, count, wide);
      run(wide, count, out + first);
    }
  });
  return kTfLiteOk;
}

template <typename Out, typename Requantizer>
void RequantizeWide(const int32_t* values, int64_t count, int32_t zero_in,
                    const Requantizer& requantize, Out* out) {
  for (int64_t i = 0; i < count; ++i) {
    // The difference is computed in unsigned arithmetic, because it may wrap.
    const uint32_t difference = static_cast<uint32_t>(values[i]) - static_cast<uint32_t>(zero_in);
    out[i] = static_cast<Out>(requantize(static_cast<int32_t>(difference)));
  }
}

double FactorOf(const TfLiteTensor* input, const TfLiteTensor* output) {
  return static_cast<double>(input->params.scale) / static_cast<double>(output->params.scale);
}

template <typename Out>
constexpr IntRange kStepRange = {std::numeric_limits<Out>::min(), std::numeric_limits<Out>::max()};

template <typename Out>
TfLiteStatus RequantizeExactly(TfLiteContext* context, const TfLiteTensor* input,
                               TfLiteTensor* output) {
  const ExactRequantizer requantize(FactorOf(input, output), output->params.zero_point,
                                    kStepRange<Out>);
  const int32_t zero_in = input->params.zero_point;
  return MapWidened<Out>(context, input, output,
                         [&](const int32_t* values, int64_t count, Out* out) {
                           RequantizeWide(values, count, zero_in, requantize, out);
                         });
}

// Requantises with the vector loop for the pair of types or, if there is none, with the loop for
// int32 inputs.
template <typename Out>
TfLiteStatus Requantize(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output) {
  const FloatRequantizer requantize(FactorOf(input, output), output->params.zero_point,
                                    kStepRange<Out>);
  const StepRescaling rescaling = {input->params.zero_point,
                                   requantize.factor(),
                                   {requantize.bounds().low, requantize.bounds().high},
                                   requantize.zero_point()};
  return DispatchType<kStepTypes | kInt32Bit>(context, input, [&](auto tag) {
    using In = typename decltype(tag)::type;
    if (const auto loop = CpuOf(context).vector.rescale.of<FromTo<In, Out>>()) {
      return MapRuns<In, Out>(
          context, input, output,
          [&](const In* values, int64_t count, Out* out) { loop(values, count, rescaling, out); });
    }
    const auto wide_loop = CpuOf(context).vector.rescale.of<FromTo<int32_t, Out>>();
    return MapWidened<Out>(context, input, output,
                           [&](const int32_t* values, int64_t count, Out* out) {
                             if (wide_loop != nullptr)
                               return wide_loop(values, count, rescaling, out);
                             RequantizeWide(values, count, rescaling.zero_in, requantize, out);
                           });
  });
}

TfLiteStatus EvalQuantize(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  if (input->type == kTfLiteFloat32) {
    const Slices& slices = DataOf<QuantizeData>(node).slices;
    if (PackedBits(output->type) != 0) {
      return QuantizeToPacked(context, slices, Data<float>(input), output);
    }
    return DispatchType<kStepTypes>(context, output, [&](auto out_tag) {
      QuantizeFloats(context, slices, Data<float>(input),
                     Data<typename decltype(out_tag)::type>(output));
      return kTfLiteOk;
    });
  }
  return DispatchType<kStepTypes | kInt32Bit>(context, output, [&](auto tag) {
    using Out = typename decltype(tag)::type;
    // 32-bit outputs use the exact algorithm, because float cannot represent their values exactly.
    if constexpr (sizeof(Out) < 4) {
      if (ArithmeticOf(context) != Arithmetic::kReference) {
        return Requantize<Out>(context, input, output);
      }
    }
    return RequantizeExactly<Out>(context, input, output);
  });
}

// ---- DEQUANTIZE -------------------------------------------------------------------------------

template <typename T>
void DequantizeSteps(TfLiteContext* context, const Slices& slices, const T* values, float* out) {
  // Maximum magnitude of zero points for the vector loops, which subtract in 32 bits. Zero points
  // have not been checked before.
  constexpr int32_t kMaxZeroPoint = 1 << 16;
  const DequantizeLoop<T> loop = CpuOf(context).vector.dequantize.of<T>();
  slices.ForEachRun(context, [&](int64_t slice, int64_t first, int64_t count) {
    const float scale = slices.Scale(slice);
    const int32_t zero_point = slices.ZeroPoint(slice);
    if (loop != nullptr && count >= kMinLoopElements && zero_point >= -kMaxZeroPoint &&
        zero_point <= kMaxZeroPoint) {
      return loop(values + first, count, {scale, zero_point}, out + first);
    }
    for (int64_t i = first; i < first + count; ++i) {
      out[i] = scale * static_cast<float>(int64_t{values[i]} - zero_point);
    }
  });
}

void DequantizePacked(TfLiteContext* context, const Slices& slices, const TfLiteTensor* input,
                      float* out) {
  const TfLiteType type = input->type;
  const uint8_t* values = Data<uint8_t>(input);
  slices.ForEachRun(context, [&](int64_t slice, int64_t first, int64_t count) {
    const float scale = slices.Scale(slice);
    const int64_t zero_point = slices.ZeroPoint(slice);
    for (int64_t i = first; i < first + count; ++i) {
      out[i] = scale * static_cast<float>(UnpackedAt(type, values, i) - zero_point);
    }
  });
}

TfLiteStatus DequantizeHalves(TfLiteContext* context, const TfLiteTensor* input,
                              TfLiteTensor* output) {
  const auto loop = CpuOf(context).half.to_float;
  return MapRuns<uint16_t, float>(context, input, output,
                                  [loop](const uint16_t* values, int64_t count, float* out) {
                                    if (loop != nullptr)
                                      return loop(values, static_cast<size_t>(count), out);
                                    for (int64_t i = 0; i < count; ++i)
                                      out[i] = HalfToFloat(values[i]);
                                  });
}

TfLiteStatus Dequantize(TfLiteContext* context, const QuantizeData& data, const TfLiteTensor* input,
                        TfLiteTensor* output) {
  if (input->type == kTfLiteFloat16) return DequantizeHalves(context, input, output);
  if (PackedBits(input->type) != 0) {
    DequantizePacked(context, data.slices, input, Data<float>(output));
    return kTfLiteOk;
  }
  return DispatchType<kStepTypes>(context, input, [&](auto tag) {
    DequantizeSteps(context, data.slices, Data<typename decltype(tag)::type>(input),
                    Data<float>(output));
    return kTfLiteOk;
  });
}

// ---- DENSIFY ----------------------------------------------------------------------------------

TfLiteStatus Densify(TfLiteContext* context, const QuantizeData&, const TfLiteTensor* input,
                     TfLiteTensor* output) {
  std::memset(output->data.data, 0, output->bytes);
  return DispatchType<kDensifyTypes>(context, input, [&](auto tag) {
    SparseExpansion(input, Data<typename decltype(tag)::type>(output)).Write();
    return kTfLiteOk;
  });
}

// ---- BITCAST ----------------------------------------------------------------------------------

constexpr uint32_t kBitcastTypes =
    kWholeCastTypes | TypeBit(kTfLiteUInt64) | TypeBit(kTfLiteComplex64);

// Bytes per element of a type that BITCAST supports; 0 for other types.
int BitcastBytes(TfLiteType type) { return type == kTfLiteComplex128 ? 16 : ElementBytes(type); }

// Resizes the output of BITCAST. Elements converted to several smaller elements give an additional
// dimension; smaller elements combined to one element remove the last dimension.
TfLiteStatus PrepareBitcast(TfLiteContext* context, TfLiteNode* node) {
  DEPUTY_TRY(CheckNode(context, node, 1, 1, 1));
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const int from = BitcastBytes(input->type), to = BitcastBytes(output->type);
  if (from == 0 || to == 0) return UnexpectedType(context, from == 0 ? input : output);
  int dims[kMaxRank + 1];
  auto rank = static_cast<size_t>(Rank(input));
  std::copy_n(Dims(input).data(), rank, dims);
  if (from > to) {
    dims[rank++] = from / to;
  } else if (from < to) {
    if (rank == 0) return TensorError(context, input, "expected 1 dimension or more, found 0");
    DEPUTY_TRY(CheckDim(context, input, static_cast<int>(rank) - 1, to / from));
    --rank;
  }
  if (rank > kMaxRank) {
    return TensorError(context, output, "expected at most %d dimensions, found %d", kMaxRank,
                       static_cast<int>(rank));
  }
  return ResizeTo(context, output, {dims, rank});
}

TfLiteStatus EvalBitcast(TfLiteContext* context, TfLiteNode* node) {
  const TfLiteTensor* input = Input(context, node, 0);
  TfLiteTensor* output = Output(context, node, 0);
  const size_t bytes = std::min(input->bytes, output->bytes);
  if (bytes > 0 && output->data.data != input->data.data) {
    std::memcpy(output->data.data, input->data.data, bytes);
  }
  return kTfLiteOk;
}

// ---- Table ------------------------------------------------------------------------------------

constexpr OpDef kTable[] = {
    KernelRow<QuantizeData>("QUANTIZE", kTfLiteBuiltinQuantize, 6, kQuantizeTypes,
                            &Guarded<&PrepareQuantize>, &Guarded<&EvalQuantize>),
    KernelRow<QuantizeData>("DEQUANTIZE", kTfLiteBuiltinDequantize, 9, kDequantizeTypes,
                            &Guarded<&PrepareDequantize>, &Guarded<&EvalUnlessDone<&Dequantize>>),
    KernelRow<QuantizeData>("DENSIFY", kTfLiteBuiltinDensify, 1, kDensifyTypes,
                            &Guarded<&PrepareDensify>, &Guarded<&EvalUnlessDone<&Densify>>),
    {.name = "CAST",
     .code = kTfLiteBuiltinCast,
     .min_version = 1,
     .max_version = 9,
     .types = kCastTypes,
     .options = {1, 37},
     .params_size = sizeof(TfLiteCastParams),
     .parse = &ParseOptions<37, TfLiteCastParams, &FillCast>,
     .init = nullptr,
     .free = nullptr,
     .prepare = kFoldingPrepare<&PrepareCast, &EvalCast>,
     .invoke = kFoldedInvoke<&EvalCast>,
     .inplace = kTfLiteInplaceOpNone},
    WithOptions<58, TfLiteFakeQuantParams, &FillFakeQuant>(
        KernelRow<void>("FAKE_QUANT", kTfLiteBuiltinFakeQuant, 2, kFloat32Bit,
                        &Guarded<&PrepareFakeQuant>, &Guarded<&EvalFakeQuant>)),
    KernelRow<void>("BITCAST", kTfLiteBuiltinBitcast, 1, kBitcastTypes, &Guarded<&PrepareBitcast>,
                    &Guarded<&EvalBitcast>),
};

}  // namespace

constexpr std::span<const OpDef> kQuantizeOps = kTable;

}  // namespace deputy
