// SPDX-License-Identifier: Apache-2.0
//
// Loops over float32 elements for which g++ emits needless instructions from kernels/vector: clamps
// by comparisons, and arrays on the stack. Results are bit-identical to those of the generic table,
// which provides the other loops. Compiled with -ffp-contract=off.
#include "kernels/vector/vector.h"
#include "kernels/common/float_math.h"
#include "kernels/cpu/aarch64/neon/neon.inc"

namespace deputy {
namespace {

// ---- Elementary functions -----------------------------------------------------------------------

// Four vectors, as an argument of the functions of float_math.h.
struct Quad {
  float32x4_t a, b, c, d;

  template <typename Function>
  [[gnu::always_inline]] static inline Quad Of(const Function& function, Quad x, Quad y) {
    return {function(x.a, y.a), function(x.b, y.b), function(x.c, y.c), function(x.d, y.d)};
  }
  [[gnu::always_inline]] static inline Quad All(float value) {
    const float32x4_t all = vdupq_n_f32(value);
    return {all, all, all, all};
  }
  [[gnu::always_inline]] static inline Quad Load(const float* values) {
    return {vld1q_f32(values), vld1q_f32(values + 4), vld1q_f32(values + 8),
            vld1q_f32(values + 12)};
  }
  [[gnu::always_inline]] inline void Store(float* out) const {
    vst1q_f32(out, a);
    vst1q_f32(out + 4, b);
    vst1q_f32(out + 8, c);
    vst1q_f32(out + 12, d);
  }
};
constexpr int kQuadFloats = 16;

[[gnu::always_inline]] inline Quad operator+(Quad x, Quad y) {
  return Quad::Of([](float32x4_t p, float32x4_t q) { return vaddq_f32(p, q); }, x, y);
}
[[gnu::always_inline]] inline Quad operator-(Quad x, Quad y) {
  return Quad::Of([](float32x4_t p, float32x4_t q) { return vsubq_f32(p, q); }, x, y);
}
[[gnu::always_inline]] inline Quad operator*(Quad x, Quad y) {
  return Quad::Of([](float32x4_t p, float32x4_t q) { return vmulq_f32(p, q); }, x, y);
}
[[gnu::always_inline]] inline Quad operator/(Quad x, Quad y) {
  return Quad::Of([](float32x4_t p, float32x4_t q) { return vdivq_f32(p, q); }, x, y);
}
[[gnu::always_inline]] inline Quad operator+(Quad x, float y) { return x + Quad::All(y); }
[[gnu::always_inline]] inline Quad operator-(Quad x, float y) { return x - Quad::All(y); }
[[gnu::always_inline]] inline Quad operator*(Quad x, float y) { return x * Quad::All(y); }
[[gnu::always_inline]] inline Quad operator-(float x, Quad y) { return Quad::All(x) - y; }
[[gnu::always_inline]] inline Quad operator/(float x, Quad y) { return Quad::All(x) / y; }

// FMAX and FMIN propagate NaN. The bounds of float_math.h are not zero, so that the sign of a zero
// does not change.
[[gnu::always_inline]] inline Quad RaisedTo(Quad x, float low) {
  return Quad::Of([](float32x4_t p, float32x4_t q) { return vmaxq_f32(p, q); }, x, Quad::All(low));
}
[[gnu::always_inline]] inline Quad LoweredTo(Quad x, float high) {
  return Quad::Of([](float32x4_t p, float32x4_t q) { return vminq_f32(p, q); }, x, Quad::All(high));
}
[[gnu::always_inline]] inline float32x4_t ChooseBelow(float32x4_t x, float bound, float32x4_t below,
                                                      float32x4_t other) {
  return vbslq_f32(vcltq_f32(x, vdupq_n_f32(bound)), below, other);
}
[[gnu::always_inline]] inline Quad ChooseBelow(Quad x, float bound, Quad below, Quad other) {
  return {ChooseBelow(x.a, bound, below.a, other.a), ChooseBelow(x.b, bound, below.b, other.b),
          ChooseBelow(x.c, bound, below.c, other.c), ChooseBelow(x.d, bound, below.d, other.d)};
}
[[gnu::always_inline]] inline float32x4_t PowerOf(float32x4_t rounded) {
  return vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(rounded), 23));
}
[[gnu::always_inline]] inline Quad PowerOf(Quad x) {
  return {PowerOf(x.a), PowerOf(x.b), PowerOf(x.c), PowerOf(x.d)};
}

// Computes out[i] = function(in[i]); `out` may alias `in`.
template <typename Function>
[[gnu::always_inline]] inline void MapQuads(const float* in, int64_t count, float* out,
                                            const Function& function) {
  float values[kQuadFloats] = {};
  for (; count >= kQuadFloats; count -= kQuadFloats, in += kQuadFloats, out += kQuadFloats) {
    function(Quad::Load(in)).Store(out);
  }
  if (count <= 0) return;  // pointers may be null if there are no elements
  const auto bytes = static_cast<size_t>(count) * sizeof(float);
  std::memcpy(values, in, bytes);
  function(Quad::Load(values)).Store(values);
  std::memcpy(out, values, bytes);
}

void Logistic(const float* in, int64_t count, float, float* out) {
  MapQuads(
      in, count, out, [](Quad x) __attribute__((always_inline)) { return FastLogistic(x); });
}

void Tanh(const float* in, int64_t count, float, float* out) {
  MapQuads(
      in, count, out, [](Quad x) __attribute__((always_inline)) { return FastTanh(x); });
}

// ---- Two inputs ---------------------------------------------------------------------------------

struct Sum {
  float32x4_t operator()(float32x4_t x, float32x4_t y) const { return vaddq_f32(x, y); }
};
struct Difference {
  float32x4_t operator()(float32x4_t x, float32x4_t y) const { return vsubq_f32(x, y); }
};
struct Product {
  float32x4_t operator()(float32x4_t x, float32x4_t y) const { return vmulq_f32(x, y); }
};

// Clamps as ClampTo does. FMAX and FMIN are exact unless a bound is zero.
template <bool kExact>
[[gnu::always_inline]] inline float32x4_t Bounded(float32x4_t x, float32x4_t low,
                                                  float32x4_t high) {
  return kExact ? vminq_f32(vmaxq_f32(x, low), high) : ClampTo(x, low, high);
}

// Returns the address of the input of a loop in steps of kQuadFloats elements, and the step by
// which it moves. An input that does not move is repeated in `repeated`.
inline const float* InputOf(const float* values, bool moves, float* repeated, int64_t* out_step) {
  *out_step = moves ? kQuadFloats : 0;
  if (moves) return values;
  Quad::All(*values).Store(repeated);
  return repeated;
}

template <typename Function, bool kExact>
[[gnu::always_inline]] inline void CombineAll(const BinaryRun<float>& run,
                                              const FloatBounds& bounds) {
  const float32x4_t low = vdupq_n_f32(bounds.low), high = vdupq_n_f32(bounds.high);
  const auto bounded = [&](float32x4_t x, float32x4_t y) __attribute__((always_inline)) {
    return Bounded<kExact>(Function()(x, y), low, high);
  };
  float repeated_a[kQuadFloats], repeated_b[kQuadFloats];
  int64_t a_step, b_step;
  const float* a = InputOf(run.a, run.a_moves, repeated_a, &a_step);
  const float* b = InputOf(run.b, run.b_moves, repeated_b, &b_step);
  float* out = run.out;
  int64_t left = run.count;
  for (; left >= kQuadFloats; left -= kQuadFloats, a += a_step, b += b_step, out += kQuadFloats) {
    Quad::Of(bounded, Quad::Load(a), Quad::Load(b)).Store(out);
  }
  for (int i = 0; i < static_cast<int>(left); i += 4) {
    const int count = Min(4, static_cast<int>(left) - i);
    StoreLanes(bounded(LoadLanes(a + i, count), LoadLanes(b + i, count)), out + i, count);
  }
}

template <typename Function>
void Combine(const BinaryRun<float>& run, const FloatBounds& bounds) {
  if (run.count <= 0) return;  // pointers may be null if there are no elements
  if (bounds.low == 0.0f || bounds.high == 0.0f) {
    CombineAll<Function, false>(run, bounds);
  } else {
    CombineAll<Function, true>(run, bounds);
  }
}

// ---- Chains -------------------------------------------------------------------------------------

constexpr int kBlockVectors = 8, kBlockFloats = 4 * kBlockVectors;
constexpr float kLargest = 3.402823466e38f;

using Vectors = float32x4_t[kBlockVectors];

template <typename Function>
[[gnu::always_inline]] inline void ForAll(const Function& function) {
#pragma GCC unroll 8
  for (int v = 0; v < kBlockVectors; ++v) function(v);
}

[[gnu::always_inline]] inline void LoadBlock(const float* values, Vectors& x) {
  ForAll([&](int v) { x[v] = vld1q_f32(values + 4 * v); });
}

// Applies an operation to a block without clamping the results. other(v) returns the operands of
// vector v.
template <typename Other>
[[gnu::always_inline]] inline void Apply(ElementOpKind kind, const Other& other, Vectors& x) {
  switch (kind) {
    case ElementOpKind::kAdd:
      return ForAll([&](int v) { x[v] = vaddq_f32(x[v], other(v)); });
    case ElementOpKind::kSub:
      return ForAll([&](int v) { x[v] = vsubq_f32(x[v], other(v)); });
    case ElementOpKind::kReverseSub:
      return ForAll([&](int v) { x[v] = vsubq_f32(other(v), x[v]); });
    default:
      return ForAll([&](int v) { x[v] = vmulq_f32(x[v], other(v)); });
  }
}

// Applies operations to a block; `first` has the elements with which the chain begins.
template <bool kClamps>
[[gnu::always_inline]] inline void ApplyAll(const float* first, const ElementOp* ops, int op_count,
                                            Vectors& x) {
  for (const ElementOp* op = ops; op != ops + op_count; ++op) {
    if (op->uses_first) {
      Apply(
          op->kind, [=](int v) { return vld1q_f32(first + 4 * v); }, x);
    } else {
      const float32x4_t scalar = vdupq_n_f32(op->other);
      Apply(
          op->kind, [=](int) { return scalar; }, x);
    }
    if (!kClamps) continue;
    const float32x4_t low = vdupq_n_f32(op->low), high = vdupq_n_f32(op->high);
    ForAll([&](int v) { x[v] = ClampTo(x[v], low, high); });
  }
}

[[gnu::noinline]] void CombineClamped(const float* first, const float* in, const ElementOp* ops,
                                      int op_count, float* out) {
  Vectors x;
  LoadBlock(in, x);
  ApplyAll<true>(first, ops, op_count, x);
  ForAll([&](int v) { vst1q_f32(out + 4 * v, x[v]); });
}

// Returns true if all elements are finite: only then are their products with zero not NaN.
[[gnu::always_inline]] inline bool AllFinite(const Vectors& x) {
  const float32x4_t zero = vdupq_n_f32(0.0f);
  float32x4_t even = vmulq_f32(x[0], zero), odd = vmulq_f32(x[1], zero);
#pragma GCC unroll 8
  for (int v = 2; v < kBlockVectors; v += 2) {
    even = vfmaq_f32(even, x[v], zero);
    odd = vfmaq_f32(odd, x[v + 1], zero);
  }
  return vmaxvq_f32(vaddq_f32(even, odd)) == 0.0f;
}

// Applies operations whose bounds are the largest finite floats. A sum, difference or product with
// an infinite or NaN operand is infinite or NaN, so that finite results show that no clamp would
// have changed a value.
[[gnu::always_inline]] inline void CombineBlock(const float* first, const float* in,
                                                const ElementOp* ops, int op_count,
                                                bool is_unbounded, float* out) {
  Vectors x;
  if (__builtin_expect(is_unbounded, 1)) {
    LoadBlock(in, x);
    ApplyAll<false>(first, ops, op_count, x);
    if (__builtin_expect(AllFinite(x), 1)) {
      ForAll([&](int v) { vst1q_f32(out + 4 * v, x[v]); });
      return;
    }
  }
  CombineClamped(first, in, ops, op_count, out);
}

inline bool IsUnbounded(const ElementOp* ops, int op_count) {
  for (int i = 0; i < op_count; ++i) {
    if (ops[i].low != -kLargest || ops[i].high != kLargest) return false;
  }
  return true;
}

// Applies operations that combine two elements.
void CombineRun(const float* first, const float* in, int64_t count, const ElementOp* ops,
                int op_count, float* out) {
  const bool is_unbounded = IsUnbounded(ops, op_count);
  int64_t i = 0;
  for (; i + kBlockFloats <= count; i += kBlockFloats) {
    CombineBlock(first + i, in + i, ops, op_count, is_unbounded, out + i);
  }
  if (i >= count) return;
  float first_values[kBlockFloats] = {}, remainder[kBlockFloats] = {};
  const auto bytes = static_cast<size_t>(count - i) * sizeof(float);
  std::memcpy(first_values, first + i, bytes);
  std::memcpy(remainder, in + i, bytes);
  CombineClamped(first_values, remainder, ops, op_count, remainder);
  std::memcpy(out + i, remainder, bytes);
}

inline bool IsCurve(const ElementOp& op) {
  return op.kind == ElementOpKind::kTanh || op.kind == ElementOpKind::kLogistic;
}

// Applies a chain of operations to a part that fits in the first-level cache.
void ChainPart(const float* first, int64_t count, const ElementOp* ops, int op_count, float* buffer,
               float* out) {
  const float* in = first;
  for (int done = 0; done < op_count;) {
    int end = done + 1;
    while (!IsCurve(ops[done]) && end < op_count && !IsCurve(ops[end])) ++end;
    float* const to = end == op_count ? out : buffer;
    if (ops[done].kind == ElementOpKind::kTanh) {
      Tanh(in, count, 0.0f, to);
    } else if (ops[done].kind == ElementOpKind::kLogistic) {
      Logistic(in, count, 0.0f, to);
    } else {
      CombineRun(first, in, count, ops + done, end - done, to);
    }
    in = to;
    done = end;
  }
}

void Chain(const float* in, int64_t count, const ElementOp* ops, int op_count, float* out) {
  constexpr int64_t kPart = 2048;
  float buffer[kPart];
  for (int64_t i = 0; i < count; i += kPart) {
    const int64_t here = count - i < kPart ? count - i : kPart;
    ChainPart(in + i, here, ops, op_count, buffer, out + i);
  }
}

// ---- Images -------------------------------------------------------------------------------------

// Weights of the four neighbours of an output pixel.
struct PixelWeights {
  float low_row, high_row, low_column, high_column;
};

// Interpolates four channels, in the order of Blend() of blend.h.
[[gnu::always_inline]] inline float32x4_t BlendFour(const float* const corners[4], int64_t channel,
                                                    const PixelWeights& w) {
  const float32x4_t low_left = vmulq_n_f32(vld1q_f32(corners[0] + channel), w.low_row);
  const float32x4_t high_left = vmulq_n_f32(vld1q_f32(corners[1] + channel), w.high_row);
  const float32x4_t low_right = vmulq_n_f32(vld1q_f32(corners[2] + channel), w.low_row);
  const float32x4_t high_right = vmulq_n_f32(vld1q_f32(corners[3] + channel), w.high_row);
  const float32x4_t left =
      vaddq_f32(vmulq_n_f32(low_left, w.low_column), vmulq_n_f32(high_left, w.low_column));
  return vaddq_f32(vaddq_f32(left, vmulq_n_f32(low_right, w.high_column)),
                   vmulq_n_f32(high_right, w.high_column));
}

void BlendFloats(const BlendedRow<float, float>& row) {
  const float* const low = row.in + row.y.low;
  const float* const high = row.in + row.y.high;
  const Interpolation<float> y = row.y;
  const int64_t depth = row.depth;
  float* out = row.out;
  for (int64_t i = 0; i < row.count; ++i, out += depth) {
    const Interpolation<float> x = row.x[i];
    const float* const corners[4] = {low + x.low, high + x.low, low + x.high, high + x.high};
    const PixelWeights weights = {y.low_weight, y.high_weight, x.low_weight, x.high_weight};
    int64_t c = 0;
    for (; c + 16 <= depth; c += 16) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) {
        vst1q_f32(out + c + 4 * v, BlendFour(corners, c + 4 * v, weights));
      }
    }
    for (; c + 4 <= depth; c += 4) vst1q_f32(out + c, BlendFour(corners, c, weights));
    for (; c < depth; ++c) {
      out[c] =
          Blend(Corners<float>{corners[0][c], corners[1][c], corners[2][c], corners[3][c]}, y, x);
    }
  }
}

constexpr VectorKernels FloatLoops() {
  VectorKernels loops;
  loops.name = "neon";
  static_cast<KeyedLoop<BlendLoop, FromTo<float>>&>(loops.blend).loop = &BlendFloats;
  loops.logistic = &Logistic;
  loops.tanh = &Tanh;
  loops.chain = &Chain;
  static_cast<KeyedLoop<BoundedLoop, float>&>(loops.plain_sum).loop = &Combine<Sum>;
  static_cast<KeyedLoop<BoundedLoop, float>&>(loops.plain_difference).loop = &Combine<Difference>;
  static_cast<KeyedLoop<BoundedLoop, float>&>(loops.plain_product).loop = &Combine<Product>;
  return loops;
}

}  // namespace

constexpr VectorKernels kVectorNeon = FloatLoops();

}  // namespace deputy
