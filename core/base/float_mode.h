// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's floating-point control word: rounding, flushing of denormals, exception
// masks. Results must be bit-equal for every thread count, so workers adopt the mode of the calling
// thread. The sticky exception flags are excluded.
#ifndef DEPUTY_CORE_BASE_FLOAT_MODE_H_
#define DEPUTY_CORE_BASE_FLOAT_MODE_H_

#include <cstdint>

namespace deputy {

using FloatMode = uint64_t;

#if defined(__x86_64__)
inline constexpr FloatMode kFloatStickyFlags = 0x3f;
inline constexpr FloatMode kFloatFlushDenormals = 0x8040;  // bits FTZ and DAZ of MXCSR
inline FloatMode GetFloatMode() { return __builtin_ia32_stmxcsr() & ~kFloatStickyFlags; }
inline void SetFloatMode(FloatMode mode) {
  __builtin_ia32_ldmxcsr(static_cast<unsigned>(mode) |
                         (__builtin_ia32_stmxcsr() & static_cast<unsigned>(kFloatStickyFlags)));
}
#elif defined(__aarch64__)
inline constexpr FloatMode kFloatFlushDenormals = 1u << 24;  // bit FZ of FPCR
inline FloatMode GetFloatMode() {
  FloatMode mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void SetFloatMode(FloatMode mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
inline constexpr FloatMode kFloatFlushDenormals = 0;
inline FloatMode GetFloatMode() { return 0; }
inline void SetFloatMode(FloatMode) {}
#endif

// RAII guard: flushes denormals to zero on the calling thread. Without it, a network whose
// activations become very small would run a hundred times slower on x86.
class ScopedFlushDenormals {
 public:
  ScopedFlushDenormals() : saved_(GetFloatMode()) { SetFloatMode(saved_ | kFloatFlushDenormals); }
  ~ScopedFlushDenormals() { SetFloatMode(saved_); }
  ScopedFlushDenormals(const ScopedFlushDenormals&) = delete;
  ScopedFlushDenormals& operator=(const ScopedFlushDenormals&) = delete;

 private:
  FloatMode saved_;
};

}  // namespace deputy

#endif  // DEPUTY_CORE_BASE_FLOAT_MODE_H_
