// SPDX-License-Identifier: Apache-2.0
//
// Applies the vector loops to whole tensors, for unary operators and for binary operators that
// broadcast.
#ifndef DEPUTY_KERNELS_CPU_MAP_VECTORS_H_
#define DEPUTY_KERNELS_CPU_MAP_VECTORS_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/elementwise.h"
#include "kernels/cpu/cpu.h"

namespace deputy {

// Calls run(values, count, out) for ranges of an input and an output of the same shape, on all
// threads.
template <typename In, typename Out, typename RunFunction>
TfLiteStatus MapRuns(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                     const RunFunction& run) {
  const In* values = Data<In>(input);
  Out* out = Data<Out>(output);
  ParallelRanges(context, ElementCount(input), kElementsPerTask, [&](int64_t first, int64_t last) {
    run(values + first, last - first, out + first);
  });
  return kTfLiteOk;
}

// Computes output[i] = function(input[i]) for float32 on all threads, with the CPU table's loop or,
// if that is null, with `reference`.
template <typename Function>
TfLiteStatus MapVectors(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                        MapF32 VectorKernels::*loop, float parameter, const Function& reference) {
  const MapF32 map = CpuOf(context).vector.*loop;
  if (map == nullptr) return MapElements<float>(context, input, output, reference);
  return MapRuns<float, float>(
      context, input, output,
      [=](const float* values, int64_t count, float* out) { map(values, count, parameter, out); });
}

// Computes output[i] = function(input[i]) for float16 on all threads. Elements are converted to
// float and computed with the CPU table's loop or, if that is null, with `reference`.
template <typename Function>
TfLiteStatus MapHalfVectors(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                            MapF32 VectorKernels::*loop, float parameter,
                            const Function& reference) {
  const VectorKernels& vector = CpuOf(context).vector;
  const auto to_float = vector.cast.of<FromTo<Half, float>>();
  const auto to_half = vector.cast.of<FromTo<float, Half>>();
  const MapF32 map = loop == nullptr ? nullptr : vector.*loop;
  if (to_float == nullptr || to_half == nullptr) {
    return MapHalves(context, input, output, reference);
  }
  return MapRuns<Half, Half>(context, input, output, [=](const Half* in, int64_t count, Half* out) {
    constexpr int64_t kChunk = 1024;
    float values[kChunk];
    for (int64_t first = 0; first < count; first += kChunk) {
      const int64_t here = std::min(count - first, kChunk);
      to_float(in + first, here, values);
      if (map != nullptr) {
        map(values, here, parameter, values);
      } else {
        MapRange(values, here, reference, values);
      }
      to_half(values, here, out + first);
    }
  });
}

// Maps int16 by a piecewise linear function of two segments; `reference` maps a single value.
template <typename Function>
TfLiteStatus MapPiecewise(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                          const FixedPiecewise& function, const Function& reference) {
  const auto loop = CpuOf(context).vector.piecewise_s16;
  if (loop == nullptr) {
    return MapElements<int16_t>(context, input, output,
                                [&](int16_t x) { return static_cast<int16_t>(reference(x)); });
  }
  return MapRuns<int16_t, int16_t>(context, input, output,
                                   [&](const int16_t* values, int64_t count, int16_t* out) {
                                     loop(values, count, function, out);
                                   });
}

// Maps bytes by a look-up table.
inline TfLiteStatus MapBytes(TfLiteContext* context, const ByteTable& table,
                             const TfLiteTensor* input, TfLiteTensor* output) {
  const uint8_t* const bytes = table.bytes();
  const auto loop = CpuOf(context).vector.look_up_bytes;
  return MapRuns<uint8_t, uint8_t>(
      context, input, output, [=](const uint8_t* values, int64_t count, uint8_t* out) {
        if (loop != nullptr) return loop(values, count, bytes, out);
        MapRange(
            values, count, [bytes](uint8_t x) { return bytes[x]; }, out);
      });
}

// Maps int16 by a look-up table.
template <typename Real>
TfLiteStatus MapShorts(TfLiteContext* context, const TfLiteTensor* input, TfLiteTensor* output,
                       const ShortTable<Real>& table) {
  const MapS16 loop = CpuOf(context).vector.look_up_s16;
  if (loop == nullptr) return MapElements<int16_t>(context, input, output, table);
  return MapRuns<int16_t, int16_t>(context, input, output,
                                   [&](const int16_t* values, int64_t count, int16_t* out) {
                                     loop(values, count, table.entries(), out);
                                   });
}

// Calls run(BinaryRun) for runs of the node's two inputs that together cover its output, on all
// threads.
template <typename T, typename Out = T, typename Second = T, typename RunFunction>
TfLiteStatus RunVectors(TfLiteContext* context, TfLiteNode* node, const BroadcastPlan& plan,
                        const RunFunction& run) {
  plan.RunByRuns(
      context, Data<T>(Input(context, node, 0)), Data<Second>(Input(context, node, 1)),
      Data<Out>(Output(context, node, 0)),
      [&run](const T* a, const Second* b, Out* out, int64_t count, bool a_moves, bool b_moves) {
        run(BinaryRun<T, Out, Second>{a, b, out, count, a_moves, b_moves});
      });
  return kTfLiteOk;
}

inline constexpr int64_t kWidenedCount = 1024;

// Calls run(BinaryRun) for ranges of at most kWidenedCount elements of the node's two inputs,
// converted to another type by widen_a(in, count, wide) and widen_b.
template <typename T, typename Wide, typename Out, typename WidenA, typename WidenB,
          typename RunFunction>
TfLiteStatus RunWidened(TfLiteContext* context, TfLiteNode* node, const BroadcastPlan& plan,
                        const WidenA& widen_a, const WidenB& widen_b, const RunFunction& run) {
  return RunVectors<T, Out>(context, node, plan, [&](const BinaryRun<T, Out>& whole) {
    Wide a[kWidenedCount], b[kWidenedCount];
    const bool a_moves = whole.a_moves, b_moves = whole.b_moves;
    for (int64_t first = 0; first < whole.count; first += kWidenedCount) {
      const int64_t count = std::min(whole.count - first, kWidenedCount);
      widen_a(whole.a + (a_moves ? first : 0), a_moves ? count : 1, a);
      widen_b(whole.b + (b_moves ? first : 0), b_moves ? count : 1, b);
      run(BinaryRun<Wide, Out>{a, b, whole.out + first, count, a_moves, b_moves});
    }
  });
}

// Calls run(BinaryRun) for ranges of the node's two float16 inputs, converted to float; the float
// results are converted back. Requires cast loops in both directions.
template <typename RunFunction>
TfLiteStatus RunHalves(TfLiteContext* context, TfLiteNode* node, const BroadcastPlan& plan,
                       const RunFunction& run) {
  const CastLoops& cast = CpuOf(context).vector.cast;
  const auto to_float = cast.of<FromTo<Half, float>>();
  const auto to_half = cast.of<FromTo<float, Half>>();
  return RunWidened<Half, float, Half>(
      context, node, plan, to_float, to_float, [&](const BinaryRun<float, Half>& piece) {
        float out[kWidenedCount];
        run(BinaryRun<float>{piece.a, piece.b, out, piece.count, piece.a_moves, piece.b_moves});
        to_half(out, piece.count, piece.out);
      });
}

}  // namespace deputy

#endif  // DEPUTY_KERNELS_CPU_MAP_VECTORS_H_
